"""Recursive diversity where some values are not worth protecting: PD-recursive and NPD-recursive."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

from sqlaudit.base.result import Number
from sqlaudit.classes.facts import Fact, Level
from sqlaudit.models.base import Model, Parameter, expression, number
from sqlaudit.models.diversity import DISTINCT, MACHANAVAJJHALA, head, largest_l

SMALLEST = Fact("smallest", "smallest", shown=True)
THESIS = "Hsu: Database Anonymization and Protections of Sensitive Attributes, Lakehead University 2008"


class PDRecursiveDiversity(Model):
    """The most frequent value that matters is not too frequent against what remains after l−2 others are ruled out."""

    name: ClassVar[str] = "pd_recursive_c_l_diversity"
    title: ClassVar[str] = "PD-recursive (c,l)-diversity"
    definition: ClassVar[str] = (
        "With r the count of the most frequent value outside the don't-care set, r < c (n − the l−2 largest counts − "
        "the smaller of r and the next largest) in every class; l = 1 always holds, and so does a class of don't-care "
        "values alone."
    )
    reference: ClassVar[str] = f"{MACHANAVAJJHALA}, definition 4.3; {THESIS}, 3.3.4 (with the case split put right)"
    note: ClassVar[str] = "The level is what c must exceed: with this l, the requirement holds for every larger c."
    operator: ClassVar[str] = "<"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("c", "decimal", "how many times the tail the largest count must stay below", Fraction(0)),
        Parameter("l", "integer", "from which rank on the tail is summed", Fraction(1), default=2),
    )
    short_forms: ClassVar[tuple[str, ...]] = ("pd_recursive_l", "pd_recursive")
    main: ClassVar[str] = "c"
    needs: ClassVar[tuple[str, ...]] = ("dont_care",)

    def facts(self) -> tuple[Fact, ...]:
        """The largest count outside the don't-care set, and the sums of the largest counts."""
        return (self._top(), DISTINCT, *self._heads(), *self._largest_l())

    def _watched(self) -> list[int]:
        unwatched = set(self.context.inputs["dont_care"])
        return [lane for lane in range(self.table.distinct) if lane not in unwatched]

    def _top(self) -> Fact:
        return Fact("largest_outside", "largest_of", {"lanes": self._watched()})

    def _head(self, count: int) -> Fact:
        return head(min(count, max(1, self.table.distinct)))

    def _heads(self) -> tuple[Fact, ...]:
        size = self.values["l"]
        return tuple(self._head(count) for count in (size - 2, size - 1) if count > 0)

    def _largest_l(self) -> tuple[Fact, ...]:
        limit = self.values[self.main]
        return () if limit is None else (largest_l(Fraction(limit), self._watched(), "pd_largest_l"),)

    def _tail(self) -> str:
        size = self.values["l"]
        before = self._head(size - 2).name if size > 2 else "0"
        return expression("pd_tail", head=before, next_head=self._head(size - 1).name, top=self._top().name)

    def levels(self) -> dict[str, Level]:
        """The infimum of c for the given l; with c given the largest l, ∞ when every l holds."""
        top = self._top().name
        bound = "0.0" if self.values["l"] < 2 else expression("ratio", count=top, rest=self._tail())
        levels = {self.main: Level("MAX", bound)}
        for fact in self._largest_l():
            levels["largest_l"] = Level("MIN", expression("or_infinity", fact=fact.name))
        return levels

    def failing(self) -> str:
        """r ≥ c times the tail, and some value matters; exact in integers."""
        if self.values["l"] < 2:
            return expression("never")
        limit = Fraction(self.values[self.main])
        return expression("reaches", count=self._top().name, rest=self._tail(), limit=limit)

    def conclude(self, levels: dict[str, Any]) -> dict[str, Number | None]:
        """The bound first, whole numbers as such."""
        found = {name: None if value is None else _whole(value) for name, value in levels.items()}
        return {**found, "l": self.values["l"]}


class NPDRecursiveDiversity(PDRecursiveDiversity):
    """PD-recursive, and no value that occurs is so rare that it can be ruled out."""

    name: ClassVar[str] = "npd_recursive_c1_c2_l_diversity"
    title: ClassVar[str] = "NPD-recursive (c1,c2,l)-diversity"
    definition: ClassVar[str] = (
        "PD-recursive (c1,l)-diversity, and every value that occurs in a class has a share of at least c2 there."
    )
    reference: ClassVar[str] = f"{THESIS}, 3.3.5"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("c1", "decimal", "how many times the tail the largest count must stay below", Fraction(0)),
        Parameter("c2", "decimal", "smallest share allowed for a value", Fraction(0), Fraction(1)),
        Parameter("l", "integer", "from which rank on the tail is summed", Fraction(1), default=2),
    )
    short_forms: ClassVar[tuple[str, ...]] = ("npd_recursive_l", "npd_recursive")
    main: ClassVar[str] = "c1"
    inherited: ClassVar[bool] = False

    def rarest(self) -> Fact:
        """The count of the rarest value that the model looks at."""
        return SMALLEST

    def facts(self) -> tuple[Fact, ...]:
        """As PD-recursive, and the rarest value."""
        return (*super().facts(), self.rarest())

    def levels(self) -> dict[str, Level]:
        """As PD-recursive, and the smallest share of a value."""
        return {**super().levels(), "c2": Level("MIN", expression("share", part=self.rarest().name))}

    def failing(self) -> str:
        """PD-recursive fails, or a value is too rare; exact in integers."""
        rare = expression("share_below", part=self.rarest().name, limit=Fraction(self.values["c2"]))
        return expression("either", first=super().failing(), second=rare)


class NPDRecursiveOfSet(NPDRecursiveDiversity):
    """NPD-recursive where given values must be frequent enough in every class, also where they are absent."""

    name: ClassVar[str] = "npd_recursive_c1_c2_l_diversity_of_set"
    title: ClassVar[str] = "NPD-recursive (c1,c2,l)-diversity of a set"
    definition: ClassVar[str] = (
        "PD-recursive (c1,l)-diversity, and every value of a given set has a share of at least c2 in every class; an "
        "absent one has share 0."
    )
    reference: ClassVar[str] = f"{MACHANAVAJJHALA}, definition 4.4"
    short_forms: ClassVar[tuple[str, ...]] = ("npd_recursive_of_set",)
    needs: ClassVar[tuple[str, ...]] = ("dont_care", "must_occur")
    inherited: ClassVar[bool] = True

    def rarest(self) -> Fact:
        """The count of the rarest of the given values; 0 when the table does not hold one of them."""
        required = self.context.inputs["must_occur"]
        if required.absent:
            return Fact("smallest_of_set", "smallest_of", {"lanes": []})
        if not required.lanes:
            return Fact("size_of_class", "members", {"lanes": list(range(self.table.distinct))})
        return Fact("smallest_of_set", "smallest_of", {"lanes": list(required.lanes)})


def _whole(value: Any) -> Number:
    found = number(value)
    return int(found) if isinstance(found, float) and found.is_integer() else found
