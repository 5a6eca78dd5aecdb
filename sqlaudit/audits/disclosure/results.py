"""What the disclosure of a table is: the curve of each sensitive attribute, with what stands out and who is concerned.

Frozen dataclasses that reports read; `to_dict` gives the documented JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from sqlaudit.audits.disclosure.attribute import Disclosure, Failing, WeakClasses, exact_text
from sqlaudit.audits.disclosure.places import Place
from sqlaudit.base.result import Timing, Warned, plain, under_verdict
from sqlaudit.models.disclosure.witness import Person, RankedAtom, Witness
from sqlaudit.reports.notebook import Shown

SCHEMA = "sqlaudit-disclosure/1"


@dataclass(frozen=True)
class ShownWitness:
    """A witness, and which classes its persons are in, if values were asked for.

    `sizes` and `places` belong to `witness.classes`, in their order; no `places` when values are hidden.
    """

    witness: Witness
    sizes: tuple[int, ...]
    places: tuple[Place, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """The knowledge in plain sentences, one an implication, and last what follows from it."""
        if not self.places:
            return tuple(self.witness.sentences())
        return tuple(self.witness.sentences(value=lambda atom: value_text(self._value(atom))))

    def to_dict(self) -> dict[str, Any]:
        """The witness as the JSON schema has it."""
        witness = self.witness
        return {
            "k": witness.k,
            "disclosure": float(witness.probability),
            "exact": exact_text(witness.probability),
            "checked": witness.confirmed == witness.probability,
            "consequent": self._atom(witness.consequent),
            "implications": [
                {"if": self._atom(implication.antecedent), "then": self._atom(implication.consequent)}
                for implication in witness.implications
            ],
            "sentences": list(self.sentences),
            "classes": [
                {"class": number, "size": size, "key": self._key(number - 1)}
                for number, size in enumerate(self.sizes, 1)
            ],
        }

    def _key(self, number: int) -> dict[str, Any] | None:
        return {name: plain(value) for name, value in self.places[number].key.items()} if self.places else None

    def _value(self, atom: RankedAtom) -> Any:
        return self.places[self._class(atom.person)].values[atom.rank - 1]

    def _class(self, person: Person) -> int:
        return self.witness.classes.index((person.signature, person.copy))

    def _atom(self, atom: RankedAtom) -> dict[str, Any]:
        said = {"class": self._class(atom.person) + 1, "person": atom.person.number + 1, "rank": atom.rank}
        return said | ({"value": plain(self._value(atom))} if self.places else {})


@dataclass(frozen=True)
class AttributeResult:
    """What was found for one sensitive attribute.

    Args:
        disclosure: the curve. threshold_k: the smallest k that reaches the threshold, None when none does.
        failing: for each k of the report the classes that reach the threshold; empty without a threshold.
        weakest_k: the k for which `weakest` holds the classes with the highest disclosure, highest first.
        witness: knowledge that reaches the maximum, if one was asked for.
        distinct, null_rows, form: of the attribute, as in an audit.
    """

    disclosure: Disclosure
    distinct: int
    null_rows: int
    form: str
    threshold_k: int | None = None
    failing: tuple[Failing, ...] = ()
    weakest_k: int | None = None
    weakest: tuple[WeakClasses, ...] = ()
    witness: ShownWitness | None = None

    def to_dict(self) -> dict[str, Any]:
        """The attribute as the JSON schema has it."""
        return self.disclosure.to_dict() | {
            "distinct": self.distinct,
            "null_rows": self.null_rows,
            "form": self.form,
            "threshold_k": self.threshold_k,
            "failing": [{"k": item.k, "classes": item.classes, "rows": item.rows} for item in self.failing],
            "weakest_k": self.weakest_k,
            "weakest": [classes.to_dict() for classes in self.weakest],
            "witness": None if self.witness is None else self.witness.to_dict(),
        }


@dataclass(frozen=True)
class DisclosureResult(Shown):
    """What one `sqlaudit disclosure` found.

    Args:
        target, rows, engine, time, roles, warnings, statements, versions: as in an audit.
        attributes: one entry a sensitive attribute. threshold: the probability that should not be reached, or None.
        first_k: where the curve is told from; it is computed from 0 on.
    """

    shown_by: ClassVar = "sqlaudit.audits.disclosure.report:disclosure_document"

    target: str
    rows: int
    engine: str
    time: str
    roles: Mapping[str, Any]
    attributes: tuple[AttributeResult, ...]
    threshold: Fraction | None = None
    first_k: int = 0
    warnings: tuple[Warned, ...] = ()
    statements: tuple[Timing, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    access: str = ""
    columns: tuple[str, ...] = ()

    @property
    def disclosure(self) -> Disclosure:
        """The disclosure of the first sensitive attribute."""
        return self.attributes[0].disclosure

    @property
    def disclosures(self) -> tuple[Disclosure, ...]:
        """The disclosure of every sensitive attribute."""
        return tuple(attribute.disclosure for attribute in self.attributes)

    @property
    def notices(self) -> tuple[Warned, ...]:
        """What stands directly under the answer; declared identifiers too, of which no check speaks here."""
        declared = tuple(warned for warned in self.warnings if warned.code == "direct_identifier")
        return declared + under_verdict(self.warnings)

    def to_dict(self) -> dict[str, Any]:
        """The result as the documented JSON."""
        listed = [self._attribute(attribute) for attribute in self.attributes]
        return {
            "schema": SCHEMA,
            "versions": dict(self.versions),
            "time": self.time,
            "access": self.access,
            "target": {"name": self.target, "rows": self.rows, "columns": list(self.columns), "engine": self.engine},
            "roles": dict(self.roles),
            "threshold": None if self.threshold is None else float(self.threshold),
            "disclosure": listed[0],
            "disclosures": listed,
            "notices": [notice.to_dict() for notice in self.notices],
            "warnings": [warning.to_dict() for warning in self.warnings],
            "statements": [timing.to_dict() for timing in self.statements],
        }

    def _attribute(self, attribute: AttributeResult) -> dict[str, Any]:
        found = attribute.to_dict()
        return found | {"curve": [point for point in found["curve"] if point["k"] >= self.first_k]}


def value_text(value: Any) -> str:
    """A sensitive value in a sentence."""
    return "no value" if value is None else f"'{value}'"
