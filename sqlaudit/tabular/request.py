"""What is asked of a published table of counts and sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import TABLE_SUFFIXES, check_destination
from sqlaudit.base.options import (
    COLUMN,
    FILE,
    FLAG,
    NAMES,
    SECONDS,
    SOURCE,
    TEXT,
    TEXTS,
    WHOLE,
    OptionKind,
    check_bounds,
    choice,
    one_of,
    option,
    several,
)
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import Folding, Requirement, values_option

CELLS, ROWS = "What a cell is", "Rows that a table is to be made from"


# What is asked of a published table of counts and sums.

PROTECTED = "The protected table"

TOTALS, SHOWN = "How cells belong together", "What is shown"

_OF_TABLES = ("count", "contributors", "largest", "hidden", "total", "hierarchies", "structural")

_OF_ROWS = ("person", "weight", "grouping")


def _labels(_name: str, value: Any) -> tuple[str, ...]:
    """`region=Total`, or in Python a mapping of dimensions to such values."""
    if isinstance(value, Mapping):
        return tuple(f"{dimension}={'NULL' if label is None else label}" for dimension, label in value.items())
    return several(value)


LABELS = OptionKind("names", _labels, python="Mapping[str, str | None] | Sequence[str]")
"""Values of dimensions: the command line takes `region=Total`."""


class CellPrice(StrEnum):
    """What it costs to hide a cell: its contributors, its value, or as much as any other."""

    COUNT = "count"
    VALUE = "value"
    ONE = "1"


@dataclass(frozen=True, kw_only=True)
class AggregatesRequest:
    """Which columns say what of a cell, which cells are totals, and what must hold of each.

    Args:
        by: names or expressions of the dimensions. count: the column of counts. value: that of sums.
        contributors: that of the number of contributors, where it is not the count. holdings: that of the number of
            holdings that they belong to.
        largest: the columns of the largest, second largest … contribution to the value.
        hidden: texts that mark a hidden cell, besides a missing number.
        total: `dimension=value`, the values that stand for all others; `dimension=NULL` for a missing value, and
            `dimension=` where none does.
        hierarchies: for dimensions, which values are part of which others: a YAML file, a folder of CSV files, or a
            mapping.
        structural: a condition over the columns that is true for cells in which nobody can be.
        microdata: whether the rows are contributions, of which the table is yet to be made; `value` is then what a row
            contributes, and `holdings` names the holding of its person.
        person: the column of persons, whose rows are one contribution. weight: that of their sampling weights.
        values: whether persons and holdings that folding merges are one; None = nobody said.
        negative: `refuse`, or `absolute` to take the absolute value of a person's contribution.
        grouping: which tables are made of them, `region;region,sector;()`; empty = one by all dimensions.
        protect: whether further cells are hidden. price: what hiding a cell costs. fast: without looking for the
            cheapest. round_to: round to multiples of this instead. time_limit: seconds for that, None = any.
        to: where the protected table goes.
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
    hidden: tuple[str, ...] = option(
        (), TEXTS, "What marks a hidden cell, for instance *; a missing number always does.", CELLS, metavar="TEXTS"
    )
    total: tuple[str, ...] = option(
        (),
        LABELS,
        "Which value stands for all others: region=Total, region=NULL; region= for none.",
        TOTALS,
        metavar="COLUMN=VALUE",
    )
    hierarchies: Any = option(
        None,
        SOURCE,
        "Which values are sums of others: a YAML file, or a folder with …COLUMN.csv files.",
        TOTALS,
        metavar="FILE|DIR",
    )
    structural: str = option("", COLUMN, "True for cells in which nobody can be.", TOTALS, metavar="CONDITION")
    microdata: bool = option(
        False, FLAG, "TARGET has rows of persons, from which a table is to be made.", ROWS, flags=("--from",)
    )
    person: str = option("", COLUMN, "Whose a row is; without it, each row is somebody.", ROWS, metavar="COLUMN")
    values: Folding | None = values_option(ROWS)
    weight: str = option("", COLUMN, "How many a person stands for (sampling weight).", ROWS, metavar="COLUMN")
    negative: str = option(
        "refuse", one_of("refuse", "absolute"), "What to do with negative contributions.", ROWS, shown="refuse"
    )
    grouping: str = option("", TEXT, 'Tables to be made: "region;region,sector;()".', ROWS, metavar="SETS")
    protect: bool = option(
        False, FLAG, "Hide unsafe cells, and the cheapest others that keep totals from telling them.", PROTECTED
    )
    price: CellPrice = option(
        CellPrice.COUNT,
        choice(CellPrice),
        "What hiding a cell costs: its contributors, its value, or 1.",
        PROTECTED,
        shown="count",
    )
    fast: bool = option(False, FLAG, "Take the first good answer, and do not look for the cheapest.", PROTECTED)
    round_to: int | None = option(
        None,
        WHOLE,
        "Round to multiples of this, so that totals still add up, instead of hiding cells.",
        PROTECTED,
        metavar="N",
        least=2,
    )
    time_limit: float | None = option(
        60.0,
        SECONDS,
        "Time to look for the cheapest; then the best so far, with its gap.",
        PROTECTED,
        metavar="TIME",
        shown="60s",
        least=0,
    )
    to: Path | None = option(
        None, FILE, "Write the protected table to a .parquet or .csv file.", PROTECTED, metavar="FILE"
    )
    show_values: bool = option(False, FLAG, "Show the keys of unsafe cells.", SHOWN)
    requirements: tuple[Requirement, ...] = ()

    def __post_init__(self) -> None:
        check_bounds(self)
        self._check_protection()
        if not self.by:
            raise UsageError(f"Name what the table is broken down by with {spelled('by')}.")
        if self.microdata:
            self._check_rows()
            return
        for name in _OF_ROWS:
            if getattr(self, name):
                raise UsageError(f"{spelled(name)} is about rows of persons: say {spelled('microdata', True)}, too.")
        if not (self.count or self.contributors or self.value):
            raise UsageError(
                f"Name the column of counts with {spelled('count')}, or that of sums with {spelled('value')}."
            )
        if self.largest and not self.value:
            raise UsageError(f"{spelled('largest')} are parts of a sum: name its column with {spelled('value')}.")

    def _check_protection(self) -> None:
        """Nothing when what is asked of a protected table has a meaning.

        Raises:
            UsageError: a file without a protected table, or one that cannot be written.
        """
        for name in ("to", "round_to"):
            if getattr(self, name) is not None and not self.protect:
                raise UsageError(f"{spelled(name)} is about a protected table: say {spelled('protect', True)}, too.")
        if self.to is not None:
            check_destination(self.to, TABLE_SUFFIXES)

    def _check_rows(self) -> None:
        for name in _OF_TABLES:
            if getattr(self, name):
                raise UsageError(
                    f"{spelled(name)} is about a finished table, and not with {spelled('microdata', True)}."
                )
        if self.weight and not self.person:
            raise UsageError(f"{spelled('weight')} belongs to persons: name their column with {spelled('person')}.")
        self.sets()

    def sets(self) -> tuple[tuple[int, ...], ...]:
        """The grouping sets, each as places in `by`; none = all dimensions together.

        Raises:
            UsageError: one names what is not a dimension, or is there twice.
        """
        found: list[tuple[int, ...]] = []
        for text in self.grouping.split(";") if self.grouping.strip() else ():
            names = [name.strip() for name in text.strip().removeprefix("(").removesuffix(")").split(",")]
            unknown = [name for name in names if name and name not in self.by]
            if unknown:
                raise UsageError(f"{spelled('grouping')} names {unknown[0]!r}, which is not in {spelled('by')}.")
            one = tuple(place for place, name in enumerate(self.by) if name in names)
            if one in found:
                raise UsageError(f"{spelled('grouping')} names a set twice.")
            found.append(one)
        left = [name for place, name in enumerate(self.by) if found and not any(place in one for one in found)]
        if left:
            raise UsageError(f"{left[0]!r} is in no set of {spelled('grouping')}; leave it out of {spelled('by')}.")
        return tuple(found) if found != [tuple(range(len(self.by)))] else ()

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
