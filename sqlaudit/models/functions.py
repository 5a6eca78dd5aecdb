"""Models on ordered values with a class function: how far apart the values of a class are, not only how many."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from sqlaudit.base.errors import UsageError
from sqlaudit.base.sql import Raw
from sqlaudit.classes.attribute_inputs import ClassFunction
from sqlaudit.classes.facts import Fact
from sqlaudit.classes.failing import ClassFigure, EstimateListing
from sqlaudit.models.base import (
    MAX_LISTED,
    TOO_MANY,
    ClassModel,
    HistogramModel,
    Judgement,
    Parameter,
    QueryModel,
    Question,
    combinations_of,
    decide,
    expression,
    presence_facts,
)
from sqlaudit.models.diversity import THESIS

MAX_POINTS = 240
"""Up to this many different numbers the covers by intervals are computed."""
MOST_TOLD = 20
"""Up to this many values the estimate of each is told of a class that fails."""


class FunctionModel(ClassModel):
    """Base of the models that need a class function."""

    needs: ClassVar[tuple[str, ...]] = ("class_function",)

    @property
    def class_function(self) -> ClassFunction:
        """The class function on lanes."""
        class_function: ClassFunction = self.context.inputs["class_function"]
        return class_function

    def points(self) -> list[Fraction]:
        """The different numbers, ascending."""
        return sorted(set(self.class_function.numbers))

    def places(self) -> list[int]:
        """For every lane the place of its number among the points."""
        index_of_point = {point: index for index, point in enumerate(self.points())}
        return [index_of_point[number] for number in self.class_function.numbers]

    def groups(self) -> list[list[int]]:
        """The lanes of each point."""
        groups: list[list[int]] = [[] for _ in self.points()]
        for lane, index in enumerate(self.places()):
            groups[index].append(lane)
        return groups


class RangeControl(HistogramModel, FunctionModel):
    """The values of every class are spread over at least delta."""

    name: ClassVar[str] = "delta_range_control"
    title: ClassVar[str] = "δ-range control"
    definition: ClassVar[str] = (
        "In every class the values of a class function spread by at least δ: max cf − min cf ≥ δ."
    )
    reference: ClassVar[str] = f"{THESIS}, 3.6.1 and 3.6.2"
    parameters: ClassVar = (Parameter("delta", "decimal", "smallest range allowed", 0),)
    short_forms: ClassVar[tuple[str, ...]] = ("range",)
    recipe: ClassVar[str] = "range"
    inherited_with_limit: ClassVar[bool] = True
    wildcard: ClassVar[bool] = True

    @classmethod
    def why_not_alone(cls, parameters: Mapping[str, object], inputs: Mapping[str, Any]) -> str:
        """Numbers of values would stand in the SQL."""
        numbers = inputs.get("class_function")
        if numbers is not None and numbers.identity:
            return ""
        return "only 'class_function: identity' can be compiled; others map values, which must not appear in SQL."

    def facts(self) -> tuple[Fact, ...]:
        """The lowest and the highest place."""
        arguments = {"places": self.places()}
        return (Fact("first_place", "first_place", arguments), Fact("last_place", "last_place", arguments))

    def class_figures(self) -> tuple[ClassFigure, ...]:
        """The range of the class; where the values themselves are the numbers these stay out of the SQL."""
        points = [float(point) for point in self.points()]
        if self.class_function.of_value or len(points) > MAX_POINTS:
            return ()
        return (
            ClassFigure(
                "range", expression("spread", first="first_place", last="last_place", points=points), self.facts()
            ),
        )

    def judge_histogram(self, rows: Sequence[tuple[Any, ...]]) -> Judgement:
        """The smallest difference, exactly."""
        points = self.points()
        ranges = [(points[int(last)] - points[int(first)], int(classes), int(n)) for first, last, classes, n in rows]
        levels = {"delta": min((difference for difference, _, _ in ranges), default=None)}
        limit = self.values["delta"]
        if limit is None:
            return Judgement(levels)
        short = [(classes, n) for difference, classes, n in ranges if difference < limit]
        condition = self._condition(points, Fraction(limit)) if short else ""
        unnamed = "" if condition else TOO_MANY
        return Judgement(
            levels, sum(c for c, _ in short), sum(n for _, n in short), at_limit=condition, unnamed=unnamed
        )

    def _condition(self, points: Sequence[Fraction], limit: Fraction) -> str:
        if len(points) > MAX_LISTED:
            return ""
        starts = [(index, bisect_left(points, point + limit)) for index, point in enumerate(points)]
        return expression("too_close", first="first_place", last="last_place", starts=starts)


class LinearDiversity(HistogramModel, FunctionModel):
    """The values of every class need at least l intervals of width r to be covered."""

    name: ClassVar[str] = "l_r_linear_diversity"
    title: ClassVar[str] = "(l,r)-linear diversity"
    definition: ClassVar = (
        "At least l closed intervals of width r are needed to cover the class-function values of every class; exact, "
        f"with up to {MAX_POINTS} different numbers."
    )
    reference: ClassVar[str] = f"{THESIS}, 3.6.3 and 3.6.4"
    parameters: ClassVar = (
        Parameter("l", "integer", "fewest intervals allowed", 1),
        Parameter("r", "decimal", "width of an interval", 0),
    )
    short_forms: ClassVar[tuple[str, ...]] = ("linear_l", "linear_diversity")
    by_default: ClassVar[bool] = False
    inherited_with_limit: ClassVar[bool] = True
    wildcard: ClassVar[bool] = True

    def prepare(self) -> None:
        """Refuse more points than presence can be told of."""
        if len(self.points()) > MAX_POINTS:
            raise UsageError(
                f"{self.name} is computed for up to {MAX_POINTS} different numbers; the class function gives "
                f"{len(self.points()):,} for {self.table.name}. Give similar values the same number."
            )

    def facts(self) -> tuple[Fact, ...]:
        """Return which points occur."""
        return presence_facts("points", self.groups())

    def judge_histogram(self, rows: Sequence[tuple[object, ...]]) -> Judgement:
        """The fewest intervals, greedily from the left, which is exact."""
        points, width = self.points(), Fraction(self.values["r"])
        needed = []
        for occurring in combinations_of(rows):
            numbers = [point for index, point in enumerate(points) if occurring.mask >> index & 1]
            needed.append((occurring, intervals_needed(numbers, width)))
        return decide(needed, self.facts(), self.values["l"], "l")


def intervals_needed(numbers: Sequence[Fraction], width: Fraction) -> int:
    """Return how many closed intervals of a width cover the numbers (ascending).

    Example:
        >>> intervals_needed([Fraction(0), Fraction(1), Fraction(3), Fraction(4)], Fraction(1))
        2
    """
    needed, end = 0, None
    for number in numbers:
        if end is None or number > end:
            needed, end = needed + 1, number + width
    return needed


def estimate_at(x: float, places: Sequence[float], width: float, kappa: float = 1) -> float:
    """ψ of one class at any place, as the curve of Hsu's Figure 3.6-3 draws it: for every row the normal density.

    Args:
        x: the place. places: the class function of each row's value. width, kappa: as in the inputs.

    Example:
        >>> round(estimate_at(0, [0, 1], 1), 4)
        0.6409
    """
    around = math.fsum(math.exp(-(((x - number) / width) ** 2) / 2) for number in places)
    return kappa * around / (width * math.sqrt(2 * math.pi))


class SecurityEstimate(QueryModel, FunctionModel):
    """How many prior suspicions, spread like a bell around every row's value, still leave a value standing."""

    name: ClassVar[str] = "psi_security_estimate"
    title: ClassVar[str] = "ψ security estimate (lowest)"
    definition: ClassVar = (
        "ψ(x) = κ Σ over the rows of a class of the normal density with mean cf(s) and the given width, at x = cf(v) "
        "for every value v of the class. Low values are easily ruled out."
    )
    reference: ClassVar[str] = f"{THESIS}, 3.6 (mean and width corrected, errata H12)"
    note: ClassVar[str] = "The level is the lowest ψ of any value in any class, highest is the highest."
    parameters: ClassVar = (Parameter("psi", "decimal", "lowest estimate allowed", 0),)
    short_forms: ClassVar[tuple[str, ...]] = ("psi",)
    needs: ClassVar[tuple[str, ...]] = ("class_function", "width")
    joins_rows: ClassVar[bool] = True
    side: ClassVar[str] = "lowest"

    def judge_query(self, question: Question) -> Judgement:
        """The lowest and the highest estimate, and the classes beyond the limit."""
        limit = self.values["psi"]
        if not self.table.distinct:
            return Judgement({self.side: None}, 0, 0)
        parameters = self._parameters(question)
        statement = question.histogram.statement(
            "models/psi.sql", [], "security estimate", condition=self._beyond(self.side), **parameters
        )
        lowest, highest, classes, rows = question.ask(statement)[0]
        estimates = {"lowest": lowest, "highest": highest}
        levels = {self.side: estimates.pop(self.side), **estimates}
        if limit is None:
            return Judgement(levels)
        column = f"psi_{self.side}"
        values = tuple("NULL" if value is None else str(value) for value in self.table.values)
        shown_values = values if len(values) <= MOST_TOLD else ()
        listing = EstimateListing(
            {**parameters, "each": len(shown_values)}, self._beyond(column), (column,), shown_values
        )
        return Judgement(levels, int(classes), int(rows), listing=listing)

    def _parameters(self, question: Question) -> dict[str, object]:
        """Return what `_estimates.sql` needs."""
        function, width = self.class_function, float(self.context.inputs["width"])
        return {
            "source": Raw(question.frame.source),
            "sensitive": Raw(question.frame.sensitive or ""),
            "entity": None if question.frame.entity is None else Raw(question.frame.entity),
            "text": self.table.text,
            "null_lane": self.table.distinct - 1,
            "lane_count": self.table.distinct,
            "numbers": None if function.of_value else [float(number) for number in function.numbers],
            "curve": None if function.curve is None else function.curve.spelled(),
            "width": width,
            "factor": float(self.context.inputs.get("kappa", 1)) / (width * math.sqrt(2 * math.pi)),
        }

    def _beyond(self, column: str) -> str:
        """SQL: a class's estimate in `column` is beyond the limit; empty without one."""
        limit = self.values["psi"]
        if limit is None:
            return ""
        return expression("lower_than" if self.side == "lowest" else "higher_than", name=column, limit=float(limit))


class PositiveDisclosureEstimate(SecurityEstimate):
    """The same from the other side: values that so many suspicions confirm that they stand out."""

    name: ClassVar[str] = "psi_positive_disclosure"
    title: ClassVar[str] = "ψ security estimate (highest)"
    definition: ClassVar[str] = "The highest ψ of any value in any class. High values mean positive disclosure."
    note: ClassVar[str] = "The level is the highest ψ of any value in any class, lowest is the lowest."
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (Parameter("psi", "decimal", "highest estimate allowed", 0),)
    short_forms: ClassVar[tuple[str, ...]] = ("psi_highest",)
    inherited: ClassVar[bool] = False
    side: ClassVar[str] = "highest"
