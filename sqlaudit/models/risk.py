"""Re-identification risks that the sizes of the classes decide (the table alone, no population)."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from sqlaudit.classes.found import ClassSizes
from sqlaudit.models.base import Judgement, Parameter, expression
from sqlaudit.models.kinds import SizeModel

EL_EMAM = "El Emam, Dankar: Protecting Privacy Using k-Anonymity, JAMIA 15(5), 2008; ARX risk analysis"


class ProsecutorRisk(SizeModel):
    """The highest chance to re-identify somebody who is known to be in the table."""

    name: ClassVar[str] = "prosecutor_risk"
    title: ClassVar[str] = "prosecutor risk (highest)"
    definition: ClassVar[str] = "max 1/f over the classes: an attacker who knows that the person is in the table."
    reference: ClassVar[str] = EL_EMAM
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (Parameter("risk", "decimal", "highest risk allowed", Fraction(0), Fraction(1)),)
    figure: ClassVar[str] = "highest_risk"
    main: ClassVar[str] = "risk"
    inherited_with_limit: ClassVar[bool] = True
    wildcard: ClassVar[bool] = True

    def judge_sizes(self, sizes: ClassSizes) -> Judgement:
        """1 over the smallest class; rows in classes that are too small."""
        highest = Fraction(1, sizes.min_size) if sizes.min_size else None
        limit = self.values["risk"]
        if limit is None:
            return Judgement({"risk": highest})
        smallest = sizes.max_size + 1 if limit == 0 and sizes.max_size else _ceiling(1 / Fraction(limit or 1))
        return Judgement({"risk": highest}, *sizes.below(smallest))

    def failing_sizes(self) -> str:
        """1/f above the limit."""
        limit = Fraction(self.values["risk"])
        return expression("reciprocal_above", fact="size", limit=limit)


class AverageRisk(SizeModel):
    """The mean risk over the rows."""

    name: ClassVar[str] = "average_risk"
    title: ClassVar[str] = "average risk (over rows)"
    definition: ClassVar[str] = "classes / rows: the mean over rows of 1/f (not over classes, as pycanon does)."
    reference: ClassVar[str] = EL_EMAM
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (Parameter("risk", "decimal", "highest average allowed", Fraction(0), Fraction(1)),)
    figure: ClassVar[str] = "mean_risk"
    verdict_by_level: ClassVar[bool] = True
    main: ClassVar[str] = "risk"

    def judge_sizes(self, sizes: ClassSizes) -> Judgement:
        """A figure of the whole table; no single class is to blame."""
        return Judgement({"risk": mean_risk(sizes)})


class RowsAtRisk(SizeModel):
    """The share of rows whose risk is above a threshold."""

    name: ClassVar[str] = "rows_at_risk"
    title: ClassVar[str] = "rows at risk"
    definition: ClassVar[str] = "Share of rows with 1/f above the threshold (default 0.2, classes below 5)."
    reference: ClassVar[str] = EL_EMAM
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (
        Parameter("share", "decimal", "largest share of rows allowed", Fraction(0), Fraction(1)),
        Parameter("threshold", "decimal", "risk above which a row counts", Fraction(0), Fraction(1), Fraction(1, 5)),
    )
    verdict_by_level: ClassVar[bool] = True
    main: ClassVar[str] = "share"
    wildcard: ClassVar[bool] = True

    def judge_sizes(self, sizes: ClassSizes) -> Judgement:
        """Rows whose class is smaller than 1/threshold."""
        threshold = Fraction(self.values["threshold"])
        small = [(s, c) for s, c in sizes.sizes if s * threshold < 1]
        rows = sum(c if sizes.per_row else s * c for s, c in small)
        share = Fraction(rows, sizes.members) if sizes.members else None
        return Judgement({"share": share}, sum(c for _, c in small), rows)

    def failing_sizes(self) -> str:
        """1/f above the threshold."""
        return expression("reciprocal_above", fact="size", limit=Fraction(self.values["threshold"]))


class Uniqueness(SizeModel):
    """The share of rows that are alone in their class."""

    name: ClassVar[str] = "sample_uniqueness"
    title: ClassVar[str] = "sample uniqueness"
    definition: ClassVar[str] = "Share of rows whose class has one member."
    reference: ClassVar[str] = "Skinner, Elliot: A Measure of Disclosure Risk for Microdata, JRSS B 64(4), 2002"
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (Parameter("share", "decimal", "largest share allowed", Fraction(0), Fraction(1)),)
    verdict_by_level: ClassVar[bool] = True
    main: ClassVar[str] = "share"
    wildcard: ClassVar[bool] = True

    def judge_sizes(self, sizes: ClassSizes) -> Judgement:
        """Rows in classes of one."""
        classes, rows = sizes.below(2)
        return Judgement({"share": Fraction(rows, sizes.members) if sizes.members else None}, classes, rows)

    def failing_sizes(self) -> str:
        """Alone."""
        return expression("below", fact="size", limit=2)


def mean_risk(sizes: ClassSizes) -> Fraction | None:
    """The mean over rows of 1/f."""
    if not sizes.members:
        return None
    if sizes.per_row:
        return sum((Fraction(c, s) for s, c in sizes.sizes), Fraction(0)) / sizes.members
    return Fraction(sizes.count, sizes.members)


def _ceiling(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)
