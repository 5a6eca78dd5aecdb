"""What the disclosure of a table is: the curve of each sensitive attribute, what stands out, and who is concerned."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, NotRequired, TypedDict

from sqlaudit.audits.disclosure.attribute import Disclosure, Failing, WeakClasses, WorstPlace
from sqlaudit.base import result as base
from sqlaudit.models.disclosure.witness import Person, RankedAtom, Witness
from sqlaudit.reports.notebook import Shown

_Place = Annotated[int, base.FROM_1]
_Atom = TypedDict("_Atom", {"class": _Place, "person": _Place, "rank": _Place, "value": NotRequired[Any]})
_Atom.__doc__ = """A person of a class has the rank-th most frequent value of that class.

Args:
    value: only with `--show-values`.
"""
_Implication = TypedDict("_Implication", {"if": _Atom, "then": _Atom})
_Class = TypedDict("_Class", {"class": _Place, "size": _Place, "key": dict[str, Any] | None})
_Class.__doc__ = """A class of which the witness speaks.

Args:
    key: its quasi-identifier values with `--show-values`, else None.
"""


class _WitnessFigures(TypedDict):
    """What a witness is.

    Args:
        checked: the probability was counted again from the implications by another route.
    """

    k: int
    disclosure: Annotated[float, base.FROM_0_TO_1]
    exact: str | None
    checked: Annotated[bool, Literal[True]]
    consequent: _Atom
    implications: list[_Implication]


@dataclass(frozen=True)
class ShownWitness(base.Documented):
    """A witness, and which classes its persons are in, if values were asked for.

    `sizes` and `places` belong to `witness.classes`, in their order; no `places` when values are hidden.
    """

    witness: Witness = field(metadata=base.LEFT_OUT)
    sizes: tuple[int, ...] = field(metadata=base.LEFT_OUT)
    places: tuple[WorstPlace, ...] = field(default=(), metadata=base.LEFT_OUT)

    @property
    @base.told("_found")
    def sentences(self) -> tuple[str, ...]:
        """The knowledge in plain sentences, one an implication, and last what follows from it."""
        if not self.places:
            return tuple(self.witness.sentences())
        return tuple(self.witness.sentences(value=lambda atom: value_text(self._value(atom))))

    @base.told("", base.HERE)
    def _found(self) -> _WitnessFigures:
        """Return the fields of the JSON."""
        witness = self.witness
        return {
            "k": witness.k,
            "disclosure": float(witness.probability),
            "exact": base.exact_text(witness.probability),
            "checked": witness.confirmed == witness.probability,
            "consequent": self._atom(witness.consequent),
            "implications": [
                {"if": self._atom(implication.antecedent), "then": self._atom(implication.consequent)}
                for implication in witness.implications
            ],
        }

    @base.told("sentences", base.key("classes"))
    def _classes(self) -> list[_Class]:
        keys: list[Any] = [place.key for place in self.places] or [None] * len(self.sizes)
        return [{"class": number + 1, "size": size, "key": keys[number]} for number, size in enumerate(self.sizes)]

    def _value(self, atom: RankedAtom) -> object:
        return self.places[self._class(atom.person)].values[atom.rank - 1]

    def _class(self, person: Person) -> int:
        return self.witness.classes.index((person.signature, person.copy))

    def _atom(self, atom: RankedAtom) -> _Atom:
        said: _Atom = {"class": self._class(atom.person) + 1, "person": atom.person.number + 1, "rank": atom.rank}
        if self.places:
            said["value"] = self._value(atom)
        return said


@dataclass(frozen=True)
class AttributeResult(base.Documented):
    """What was found for one sensitive attribute.

    Args:
        disclosure: the curve. threshold_k: the smallest k that reaches the threshold, None when none does.
        failing: for each k of the report the classes that reach the threshold; empty without a threshold.
        weakest_k: the k for which `weakest` holds the classes with the highest disclosure, highest first.
        weakest: classes with the highest disclosure, highest first; alike ones are one entry.
        witness: knowledge that reaches the maximum, if one was asked for.
        distinct: different values; missing counts as one. null_rows: rows without a value.
        form: the physical form that computed the signatures.
    """

    disclosure: Disclosure = field(metadata=base.HERE)
    distinct: int
    null_rows: int
    form: Annotated[str, Literal["packed", "cells"]]
    threshold_k: int | None = None
    failing: tuple[Failing, ...] = ()
    weakest_k: int | None = None
    weakest: tuple[WeakClasses, ...] = ()
    witness: ShownWitness | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class DisclosureResult(base.MeasuredResult, Shown):
    """What one `sqlaudit disclosure` found.

    Args:
        target: the table; a query is named 'query', its text is not kept. columns: columns of the table.
        rows: rows of the table. engine: the engine and its version. roles: the roles of columns as they were given.
        attributes: one entry a sensitive attribute. threshold: the probability that should not be reached, or None.
        first_k: where the curve is told from; it is computed from 0 on.
    """

    schema: ClassVar = "sqlaudit-disclosure/1"
    shown_by: ClassVar = "sqlaudit.audits.disclosure.report:DisclosureReport"

    target: str = field(metadata=base.key("target.name"))
    rows: int = field(metadata=base.key("target.rows"))
    columns: tuple[str, ...] = field(default=(), metadata=base.key("target.columns"))
    engine: str = field(metadata=base.key("target.engine"))
    roles: base.ShownRoles
    threshold: Annotated[Fraction, base.FROM_0_TO_1] | None = field(default=None, metadata=base.AS_FLOAT)
    attributes: tuple[AttributeResult, ...] = field(metadata=base.LEFT_OUT)
    first_k: int = field(default=0, metadata=base.LEFT_OUT)
    warnings: tuple[base.Warned, ...] = ()

    @property
    def disclosure(self) -> Disclosure:
        """The disclosure of the first sensitive attribute."""
        return self.attributes[0].disclosure

    @property
    def disclosures(self) -> tuple[Disclosure, ...]:
        """The disclosure of every sensitive attribute."""
        return tuple(attribute.disclosure for attribute in self.attributes)

    @property
    @base.told("_all")
    def notices(self) -> tuple[base.Warned, ...]:
        """The warnings under the answer, those of declared identifiers included: no check covers them here."""
        declared = tuple(warned for warned in self.warnings if warned.code == "direct_identifier")
        return declared + base.under_verdict(self.warnings)

    @base.told("threshold", base.key("disclosure"))
    def _first(self) -> Annotated[dict[str, object], AttributeResult]:
        """The first sensitive attribute."""
        return self._attribute(self.attributes[0])

    @base.told("_first", base.key("disclosures"))
    def _all(self) -> Annotated[list[dict[str, Any]], list[AttributeResult], base.NOT_EMPTY]:
        """Every sensitive attribute."""
        return [self._attribute(attribute) for attribute in self.attributes]

    def rows_of_frame(self) -> list[dict[str, Any]]:
        """The curves, one row a sensitive attribute and number of pieces of knowledge."""
        return [{"sensitive": one["sensitive"]} | point for one in self._all() for point in one["curve"]]

    def _attribute(self, attribute: AttributeResult) -> dict[str, object]:
        found = attribute.to_dict()
        return found | {"curve": [point for point in found["curve"] if point["k"] >= self.first_k]}


def value_text(value: object) -> str:
    """A sensitive value in a sentence."""
    return "no value" if value is None else f"'{value}'"
