"""What is asked of a published table of counts and sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import COLUMN, FLAG, NAMES, TEXTS, OptionKind, check_bounds, option, several
from sqlaudit.base.spec import Requirement
from sqlaudit.base.words import spelled

CELLS, TOTALS, SHOWN = "What a cell is", "How cells belong together", "What is shown"


def _labels(name: str, value: Any) -> tuple[str, ...]:
    """`region=Total`, or in Python a mapping of dimensions to such values."""
    if isinstance(value, Mapping):
        return tuple(f"{dimension}={'NULL' if label is None else label}" for dimension, label in value.items())
    return several(value)


LABELS = OptionKind("names", _labels)
"""Values of dimensions: the command line takes `region=Total`."""


@dataclass(frozen=True, kw_only=True)
class AggregatesRequest:
    """Which columns say what of a cell, which cells are totals, and what must hold of each.

    Args:
        by: names or expressions of the dimensions. count: the column of counts. value: that of sums.
        contributors: that of the number of contributors, where it is not the count. holdings: that of the number of
            holdings that they belong to.
        largest: the columns of the largest, second largest … contribution to the value.
        hidden: texts that mark a hidden cell, besides a missing number.
        total: `dimension=value`, the values that stand for all others; `dimension=NULL` for a missing value.
        structural: a condition over the columns that is true for cells in which nobody can be.
        show_values: whether the keys of unsafe cells are told.
        requirements: the rules for cells.

    Raises:
        UsageError: nothing to judge, or a combination that has no meaning.
    """

    by: tuple[str, ...] = option((), NAMES, "What the table is broken down by.", CELLS, metavar="COLUMNS")
    count: str = option("", COLUMN, "How many are in a cell.", CELLS, metavar="COLUMN")
    value: str = option("", COLUMN, "The sum of a cell, for instance its turnover.", CELLS, metavar="COLUMN")
    contributors: str = option(
        "", COLUMN, "How many persons or firms are behind a cell, if not the --count.", CELLS, metavar="COLUMN"
    )
    holdings: str = option(
        "", COLUMN, "How many households or groups of firms these belong to.", CELLS, metavar="COLUMN"
    )
    largest: tuple[str, ...] = option(
        (), NAMES, "The largest contributions to the value, largest first.", CELLS, metavar="COLUMNS"
    )
    hidden: tuple[str, ...] = option((), TEXTS, "What stands in hidden cells, besides NULL: *", CELLS, metavar="TEXTS")
    total: tuple[str, ...] = option(
        (), LABELS, "Which value stands for all others: region=Total.", TOTALS, metavar="COLUMN=VALUE"
    )
    structural: str = option("", COLUMN, "True for cells in which nobody can be.", TOTALS, metavar="CONDITION")
    show_values: bool = option(False, FLAG, "Show the keys of unsafe cells.", SHOWN)
    requirements: tuple[Requirement, ...] = ()

    def __post_init__(self) -> None:
        check_bounds(self)
        if not self.by:
            raise UsageError(f"Name what the table is broken down by with {spelled('by')}.")
        if not (self.count or self.contributors or self.value):
            raise UsageError(
                f"Name the column of counts with {spelled('count')}, or that of sums with {spelled('value')}."
            )
        if self.largest and not self.value:
            raise UsageError(f"{spelled('largest')} are parts of a sum: name its column with {spelled('value')}.")

    def totals(self) -> dict[str, str]:
        """The named value of a total by its dimension.

        Raises:
            UsageError: a text without `=`, or a dimension that is not there or named twice.
        """
        found: dict[str, str] = {}
        for text in self.total:
            name, equals, label = text.partition("=")
            if not equals:
                raise UsageError(f"{spelled('total')} takes column=value, for instance region=Total.")
            if name not in self.by or name in found:
                what = (
                    "names a dimension twice"
                    if name in found
                    else f"is about {name!r}, which is not in {spelled('by')}"
                )
                raise UsageError(f"{spelled('total')} {what}.")
            found[name] = label
        return found
