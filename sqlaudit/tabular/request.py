"""The request for the audit of a published table of counts and sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import UnknownColumn, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import split_at_equals, typed, untyped
from sqlaudit.base.options import (
    COLUMN,
    CONDITION,
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
    one_of,
    option,
    several,
)
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.publication import BYTE_ORDER_MARK, check_file
from sqlaudit.base.spec import Folding, Requirement, Target, tables_option, target_part, values_option
from sqlaudit.models.required import requirements_part
from sqlaudit.tabular.labels import Mark

CELLS, ROWS = "Cells", "Tables made from rows"

PROTECTED = "Protected table"

TOTALS, SHOWN = "Totals and related tables", "Output"

_OF_TABLES = (
    *("count", "contributors", "largest", "hidden", "rate", "insensitive", "total", "hierarchies", "structural"),
)
CODES = "=codes"
"""`geo=codes` instead of hierarchies: a code is part of the code that it extends."""

_OF_ROWS = ("person", "weight", "grouping")


def _labels(_name: str, value: Any) -> tuple[str, ...]:
    """Return `region=Total` from the text, or from a mapping of dimensions to such values in Python."""
    if isinstance(value, Mapping):
        return tuple(f"{typed(dimension)}={'NULL' if label is None else label}" for dimension, label in value.items())
    return several(value)


LABELS = OptionKind("names", _labels, python="Mapping[str, str | None] | Sequence[str]")
"""Values of dimensions: the command line takes `region=Total`."""


class CellPrice(StrEnum):
    """The cost of hiding a cell: its contributors, its value, or 1."""

    COUNT = "count"
    VALUE = "value"
    ONE = "1"


def _with_own_decimal(table: Target) -> Target:
    """Return a table that is refused if it cannot have the decimal sign of all."""
    return replace(table, shared=table.shared - {"decimal"})


@dataclass(frozen=True)
class AggregatesRequest:
    """A published table with its columns and totals, the tables related to it, and the rules for its cells.

    Args:
        target: a table with one row per cell, or rows from which to make one.
        by: names or expressions of the dimensions; empty for the query of one answer.
        count: the column of counts.
        value: the column of sums.
        contributors: the column with the number of contributors, where it is not the count.
        holdings: the column with the number of holdings that they belong to.
        largest: the columns of the largest, second largest … contribution to the value.
        hidden: texts that mark a hidden cell, besides a missing number; `*=1..4` states the limits of its cells.
        zeros: `shown` if no hidden count is 0, `hidden` if some may be; None = shown if a count of 0 is published.
        rate: `rate=count/denominator`, published columns of rates, which limit hidden counts.
        insensitive: further numeric columns that reveal no count.
        total: `dimension=value`, the value that stands for all others; `dimension=NULL` for a missing value, and
            `dimension=` for a dimension without a total.
        hierarchies: for dimensions, which values are part of which others: a YAML file, a folder of CSV files, or a
            mapping.
        structural: a condition that is true for cells that must be empty.
        microdata: whether the rows are contributions from which the table is made; `value` is then the contribution of
            a row, and `holdings` the holding of its person.
        person: the column that identifies the person; all rows of a person are one contribution.
        weight: the column of sampling weights.
        values: whether persons and holdings that folding merges count as one; None = not given.
        negative: `refuse`, or `absolute` to take the absolute value of a person's contribution.
        grouping: the tables to make from rows, `region;region,sector;()`; empty = one by all dimensions.
        protect: whether to hide further cells.
        price: the cost of hiding a cell.
        fast: whether to take the first good answer.
        round_to: round to multiples of this instead.
        time_limit: seconds for the search, None = no limit.
        to: the file for the protected table. bom: whether a CSV file begins with a byte order mark.
        show_values: whether to show the keys of unsafe cells.
        requirements: the rules for cells.
        before: earlier releases, oldest first; a pattern names one in each file. All pairs are compared.
        linked: further tables of the same people, judged together with this one.

    Raises:
        UsageError: nothing to judge, or options that contradict each other.
    """

    target: Target = target_part()
    by: tuple[str, ...] = option((), NAMES, "Dimensions of the table.", CELLS, metavar="COLUMNS")
    count: str = option("", COLUMN, "Number of people or firms in a cell.", CELLS, metavar="COLUMN")
    value: str = option("", COLUMN, "Sum of a cell, for example its turnover.", CELLS, metavar="COLUMN")
    contributors: str = option(
        "", COLUMN, "Number of contributors of a cell, if not the --count.", CELLS, metavar="COLUMN"
    )
    holdings: str = option(
        "", COLUMN, "Number of households or groups of firms that the contributors belong to.", CELLS, metavar="COLUMN"
    )
    largest: tuple[str, ...] = option(
        (), NAMES, "Largest contributions to the value, largest first.", CELLS, metavar="COLUMNS"
    )
    hidden: tuple[str, ...] = option(
        (),
        TEXTS,
        "Marks of hidden cells, for example * or <5; *=1..4 states limits. A missing number always marks one.",
        CELLS,
        metavar="TEXTS",
    )
    zeros: str | None = option(
        None,
        one_of("shown", "hidden"),
        "Whether counts of 0 are published or may be hidden (default: by the table).",
        CELLS,
    )
    rate: tuple[str, ...] = option(
        (), LABELS, "Rates of the count: rate=count/denominator. They limit hidden counts.", CELLS, metavar="RATE=N/D"
    )
    insensitive: tuple[str, ...] = option(
        (), NAMES, "Further numeric columns that reveal no count.", CELLS, metavar="COLUMNS"
    )
    total: tuple[str, ...] = option(
        (),
        LABELS,
        "Value that stands for all others: region=Total, region=NULL; region= for none.",
        TOTALS,
        metavar="COLUMN=VALUE",
    )
    hierarchies: Any = option(
        None,
        SOURCE,
        "Values that are sums of others: a YAML file, a folder with …COLUMN.csv files, or COLUMN=codes.",
        TOTALS,
        metavar="FILE|DIR",
    )
    structural: str = option(
        "", CONDITION, "Condition that is true for cells that must be empty.", TOTALS, metavar="CONDITION"
    )
    microdata: bool = option(
        False, FLAG, "Make the table from TARGET, which has rows of people.", ROWS, flags=("--from",)
    )
    person: str = option(
        "", COLUMN, "Column that identifies the person; without it, each row is a person.", ROWS, metavar="COLUMN"
    )
    values: Folding | None = values_option(ROWS)
    weight: str = option("", COLUMN, "Sampling weight: how many people a person stands for.", ROWS, metavar="COLUMN")
    negative: str = option(
        "refuse", one_of("refuse", "absolute"), "Treatment of negative contributions.", ROWS, shown="refuse"
    )
    grouping: str = option("", TEXT, 'Tables to make: "region;region,sector;()".', ROWS, metavar="SETS")
    protect: bool = option(
        False, FLAG, "Hide unsafe cells, and the cheapest others so that totals do not reveal them.", PROTECTED
    )
    price: CellPrice = option(
        CellPrice.COUNT.value,
        one_of(*(price.value for price in CellPrice)),
        "Cost of hiding a cell: its contributors, its value, or 1.",
        PROTECTED,
        shown="count",
    )
    fast: bool = option(False, FLAG, "Take the first good answer instead of the cheapest.", PROTECTED)
    round_to: int | None = option(
        None,
        WHOLE,
        "Round to multiples of N instead of hiding cells; totals still add up.",
        PROTECTED,
        metavar="N",
        least=2,
    )
    time_limit: float | None = option(
        60.0,
        SECONDS,
        "Time limit of the search; then take the best answer so far and report its gap.",
        PROTECTED,
        metavar="TIME",
        shown="60s",
        least=0,
        or_none=True,
    )
    to: Path | None = option(
        None,
        FILE,
        "Write the protected table to a .parquet, .csv, .xlsx, .sav or .dta file.",
        PROTECTED,
        metavar="FILE",
        writes=True,
    )
    bom: bool = option(False, FLAG, BYTE_ORDER_MARK, PROTECTED)
    show_values: bool = option(False, FLAG, "Show the keys of unsafe cells.", SHOWN)
    requirements: tuple[Requirement, ...] = requirements_part(
        "CELL_RULES",
        "of_cells",
        metavar="RULE=LIMIT",
        help="threshold=5, p_percent=10, dominance=n:2,k:85 ...",
        preset_in_python=True,
        default=(),
    )
    before: tuple[Target, ...] = tables_option(
        "An earlier release to compare with (repeatable, or a pattern of files; all pairs are compared).",
        TOTALS,
        metavar="TABLE",
    )
    linked: tuple[Target, ...] = tables_option(
        "A further table of the same people, judged together with this one; --by names the dimensions of all.",
        TOTALS,
        metavar="TABLE",
    )

    def __post_init__(self) -> None:
        check_bounds(self)
        object.__setattr__(self, "price", CellPrice(self.price or CellPrice.COUNT))
        # The same rows of every table; and one decimal sign, as numbers in texts of all tables are read with it
        for name in ("before", "linked"):
            tables = (replace(table, where=table.where or self.target.where) for table in getattr(self, name))
            object.__setattr__(self, name, tuple(map(_with_own_decimal, tables)))
        object.__setattr__(self, "target", _with_own_decimal(self.target))
        if len({table.read.decimal for table in self.targets}) > 1:
            raise UsageError(f"{spelled('decimal')} must be the same for all tables here. Write them with one sign.")
        self.marks()
        self.rates()
        self._check_protection()
        if self.is_answer:
            self._check_answer()
            return
        if not self.by:
            raise UsageError(f"No dimensions are given. Name the columns with {spelled('by')}.")
        if self.microdata:
            self._check_rows()
        else:
            self._check_cells()
        self._check_related()

    @property
    def targets(self) -> tuple[Target, ...]:
        """Everything that is read: the table, earlier releases, and linked tables."""
        return (self.target, *self.before, *self.linked)

    @property
    def is_answer(self) -> bool:
        """True if the target is a query with GROUP BY whose cells are to be made from its rows."""
        named = (self.microdata, self.by, self.count, self.contributors, self.value, self.largest)
        return bool(self.target.query) and not any(named)

    def _check_answer(self) -> None:
        """Check the options of an answer.

        Raises:
            UsageError: options of a finished table or of rows, which name the columns of one.
        """
        for name in (*_OF_TABLES, "weight", "grouping", "protect", "before", "linked"):
            if getattr(self, name):
                raise UsageError(
                    f"{spelled(name)} does not apply to a query that is read as one answer. Name the dimensions of its "
                    f"result with {spelled('by')}."
                )
        if self.target.where:
            raise UsageError(f"{spelled('where')} does not apply to one answer. Write the condition in the query.")

    @property
    def decimal(self) -> str:
        """The decimal sign of numbers that are texts."""
        return self.target.read.decimal

    def _check_cells(self) -> None:
        """Check the options of a finished table.

        Raises:
            UsageError: options of a table made from rows, or nothing to judge.
        """
        for name in _OF_ROWS:
            if getattr(self, name):
                raise UsageError(f"{spelled(name)} applies to rows of people only: add {spelled('microdata', True)}.")
        if not (self.count or self.contributors or self.value):
            raise UsageError(f"No numbers are given. Name a column with {spelled('count')} or {spelled('value')}.")
        if self.largest and not self.value:
            raise UsageError(f"{spelled('largest')} needs the column of sums: name it with {spelled('value')}.")

    def _check_related(self) -> None:
        """Check the options of linked tables and of earlier releases.

        Raises:
            UsageError: linked tables beside rows, releases or a protected table, or releases without a rule for them.
        """
        if self.linked and self.microdata:
            raise UsageError(
                f"{spelled('linked')} takes finished tables. Name tables made from rows with {spelled('grouping')}."
            )
        if self.linked and self.before:
            raise UsageError(
                f"{spelled('before')} and {spelled('linked')} exclude each other: compare releases table by table."
            )
        if self.linked and self.protect:
            raise UsageError(
                f"Linked tables cannot be protected: join them into one table, without {spelled('linked')}."
            )
        if not self.before:
            return
        from sqlaudit.models.registry import cell_rule

        if not any(cell_rule(requirement).of_changes for requirement in self.requirements):
            raise UsageError(
                f"No rule for changes between releases is given. Name one with {spelled('require', 'threshold=5')}."
            )

    def _check_protection(self) -> None:
        """Check the options of a protected table.

        Raises:
            UsageError: a file without a protected table, or one that cannot be written.
        """
        for name in ("to", "round_to", "bom"):
            if getattr(self, name) not in (None, False) and not self.protect:
                raise UsageError(f"{spelled(name)} applies to a protected table only: add {spelled('protect', True)}.")
        if self.to is not None:
            check_file(self.to, bom=self.bom)
        elif self.bom:
            raise UsageError(f"{spelled('bom', True)} needs a .csv file: {spelled('to', 'table.csv')}.")

    def _check_rows(self) -> None:
        """Check the options of a table made from rows.

        Raises:
            UsageError: options of a finished table, or a weight without a person.
        """
        for name in _OF_TABLES:
            if getattr(self, name):
                raise UsageError(
                    f"{spelled(name)} applies to a finished table; it cannot be used with {spelled('microdata', True)}."
                )
        if self.weight and not self.person:
            raise UsageError(
                f"{spelled('weight')} needs the column that identifies the person: name it with {spelled('person')}."
            )
        self.sets()

    def sets(self) -> tuple[tuple[int, ...], ...]:
        """Return the grouping sets, each as axes in `by`; empty = all dimensions together.

        Raises:
            UsageError: a set names an unknown dimension, or is given twice.
        """
        sets: list[tuple[int, ...]] = []
        for text in self.grouping.split(";") if self.grouping.strip() else ():
            names = [name.strip() for name in text.strip().removeprefix("(").removesuffix(")").split(",")]
            unknown = [name for name in names if name and name not in self.by]
            if unknown:
                raise UnknownColumn(f"{spelled('grouping')} names {unknown[0]!r}, which is not in {spelled('by')}.")
            grouping_set = tuple(index for index, name in enumerate(self.by) if name in names)
            if grouping_set in sets:
                raise UsageError(f"{spelled('grouping')} names a set twice.")
            sets.append(grouping_set)
        left = [
            name
            for index, name in enumerate(self.by)
            if sets and not any(index in grouping_set for grouping_set in sets)
        ]
        if left:
            raise UsageError(f"{left[0]!r} is in no set of {spelled('grouping')}: leave it out of {spelled('by')}.")
        return tuple(sets) if sets != [tuple(range(len(self.by)))] else ()

    def marks(self) -> tuple[Mark, ...]:
        """Return the marks of hidden cells with the limits that they set.

        Raises:
            UsageError: limits that cannot be read.
        """
        return tuple(map(Mark.parse, self.hidden))

    def rates(self) -> tuple[tuple[str, str], ...]:
        """Return each column of rates of the count, with that of its denominator.

        Raises:
            UsageError: another form, or a rate of something else.
        """
        rates = []
        for text in self.rate:
            name, _, ratio = split_at_equals(text)
            count, _, denominator = (untyped(part.strip()) for part in ratio.partition("/"))
            if not (name and denominator) or count != self.count:
                raise UsageError(f"{spelled('rate')} takes rate=n/d, where n is the column of {spelled('count')}.")
            rates.append((name, denominator))
        return tuple(rates)

    def nested(self) -> str:
        """Return the dimension whose codes are parts of the codes that they extend; empty where there is none.

        Raises:
            UsageError: it is not a dimension.
        """
        text = self.hierarchies if isinstance(self.hierarchies, str) else ""
        if isinstance(self.hierarchies, Mapping):
            text = next((f"{name}{CODES}" for name, levels in self.hierarchies.items() if levels == CODES[1:]), "")
        name = text.removesuffix(CODES) if text.endswith(CODES) else ""
        if name and name not in self.by:
            raise UnknownColumn(f"{spelled('hierarchies')} names {name!r}, which is not in {spelled('by')}.")
        return name

    def totals(self) -> dict[str, str]:
        """Return the named value of a total by its dimension.

        Raises:
            UsageError: a text without `=`, or an unknown dimension, or one that is named twice.
        """
        labels: dict[str, str] = {}
        for text in self.total:
            name, equals, label = split_at_equals(text)
            if not equals:
                raise UsageError(f"{spelled('total')} takes column=value, for example region=Total.")
            if name not in self.by or name in labels:
                if name in labels:
                    raise UsageError(f"{spelled('total')} names a dimension twice.")
                raise UnknownColumn(f"{spelled('total')} names {name!r}, which is not in {spelled('by')}.")
            labels[name] = label
        return labels
