"""What the disclosure of a table is: the curve of each sensitive attribute, with what stands out and who is concerned.

Frozen dataclasses that reports read; `to_dict` gives the documented JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from sqlaudit.audits.disclosure.attribute import Disclosure, Failing, WeakClasses
from sqlaudit.audits.disclosure.places import WorstPlace
from sqlaudit.base.documents import AS_FLOAT, HERE, LEFT_OUT, Documented, exact_text, key, told
from sqlaudit.base.result import MeasuredResult, Warned, under_verdict
from sqlaudit.models.disclosure.witness import Person, RankedAtom, Witness
from sqlaudit.reports.notebook import Shown


@dataclass(frozen=True)
class ShownWitness(Documented):
    """A witness, and which classes its persons are in, if values were asked for.

    `sizes` and `places` belong to `witness.classes`, in their order; no `places` when values are hidden.
    """

    witness: Witness = field(metadata=LEFT_OUT)
    sizes: tuple[int, ...] = field(metadata=LEFT_OUT)
    places: tuple[WorstPlace, ...] = field(default=(), metadata=LEFT_OUT)

    @property
    @told("_found")
    def sentences(self) -> tuple[str, ...]:
        """The knowledge in plain sentences, one an implication, and last what follows from it."""
        if not self.places:
            return tuple(self.witness.sentences())
        return tuple(self.witness.sentences(value=lambda atom: value_text(self._value(atom))))

    @told("", HERE)
    def _found(self) -> dict[str, Any]:
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
        }

    @told("sentences", key("classes"))
    def _classes(self) -> list[dict[str, Any]]:
        keys: list[Any] = [place.key for place in self.places] or [None] * len(self.sizes)
        return [{"class": number + 1, "size": size, "key": keys[number]} for number, size in enumerate(self.sizes)]

    def _value(self, atom: RankedAtom) -> Any:
        return self.places[self._class(atom.person)].values[atom.rank - 1]

    def _class(self, person: Person) -> int:
        return self.witness.classes.index((person.signature, person.copy))

    def _atom(self, atom: RankedAtom) -> dict[str, Any]:
        said = {"class": self._class(atom.person) + 1, "person": atom.person.number + 1, "rank": atom.rank}
        return said | ({"value": self._value(atom)} if self.places else {})


@dataclass(frozen=True)
class AttributeResult(Documented):
    """What was found for one sensitive attribute.

    Args:
        disclosure: the curve. threshold_k: the smallest k that reaches the threshold, None when none does.
        failing: for each k of the report the classes that reach the threshold; empty without a threshold.
        weakest_k: the k for which `weakest` holds the classes with the highest disclosure, highest first.
        witness: knowledge that reaches the maximum, if one was asked for.
        distinct, null_rows, form: of the attribute, as in an audit.
    """

    disclosure: Disclosure = field(metadata=HERE)
    distinct: int
    null_rows: int
    form: str
    threshold_k: int | None = None
    failing: tuple[Failing, ...] = ()
    weakest_k: int | None = None
    weakest: tuple[WeakClasses, ...] = ()
    witness: ShownWitness | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class DisclosureResult(MeasuredResult, Shown):
    """What one `sqlaudit disclosure` found.

    Args:
        target, rows, engine, time, roles, warnings, statements, versions: as in an audit.
        attributes: one entry a sensitive attribute. threshold: the probability that should not be reached, or None.
        first_k: where the curve is told from; it is computed from 0 on.
    """

    schema: ClassVar = "sqlaudit-disclosure/1"
    shown_by: ClassVar = "sqlaudit.audits.disclosure.report:disclosure_document"

    target: str = field(metadata=key("target.name"))
    rows: int = field(metadata=key("target.rows"))
    columns: tuple[str, ...] = field(default=(), metadata=key("target.columns"))
    engine: str = field(metadata=key("target.engine"))
    roles: Mapping[str, Any]
    threshold: Fraction | None = field(default=None, metadata=AS_FLOAT)
    attributes: tuple[AttributeResult, ...] = field(metadata=LEFT_OUT)
    first_k: int = field(default=0, metadata=LEFT_OUT)
    warnings: tuple[Warned, ...] = ()

    @property
    def disclosure(self) -> Disclosure:
        """The disclosure of the first sensitive attribute."""
        return self.attributes[0].disclosure

    @property
    def disclosures(self) -> tuple[Disclosure, ...]:
        """The disclosure of every sensitive attribute."""
        return tuple(attribute.disclosure for attribute in self.attributes)

    @property
    @told("_listed")
    def notices(self) -> tuple[Warned, ...]:
        """What stands directly under the answer; declared identifiers too, of which no check speaks here."""
        declared = tuple(warned for warned in self.warnings if warned.code == "direct_identifier")
        return declared + under_verdict(self.warnings)

    @told("threshold", HERE)
    def _listed(self) -> dict[str, Any]:
        listed = [self._attribute(attribute) for attribute in self.attributes]
        return {"disclosure": listed[0], "disclosures": listed}

    def rows_of_frame(self) -> list[dict[str, Any]]:
        """The curves, one row a sensitive attribute and number of pieces of knowledge."""
        listed = self._listed()["disclosures"]
        return [{"sensitive": one["sensitive"]} | point for one in listed for point in one["curve"]]

    def _attribute(self, attribute: AttributeResult) -> dict[str, Any]:
        found = attribute.to_dict()
        return found | {"curve": [point for point in found["curve"] if point["k"] >= self.first_k]}


def value_text(value: Any) -> str:
    """A sensitive value in a sentence."""
    return "no value" if value is None else f"'{value}'"
