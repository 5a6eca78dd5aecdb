"""What was found about a published table. Frozen; keys of cells only where somebody asked to see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sqlaudit.base.documents import IF_ANY, Documented, key, told
from sqlaudit.base.result import MeasuredResult, Status
from sqlaudit.reports.notebook import Shown


@dataclass(frozen=True)
class RuleFound(Documented):
    """One rule over all cells.

    Args:
        rule: its name. cells: those that are unsafe. parameters: of the rule. text: the requirement as it was written.
        judged: cells that could be decided. undecided: published cells that could not.
        status: the verdict. severity: `error`, or `warn` for a rule that only warns. note: what was missing.
        keys: of unsafe cells, by dimension, only where they are shown.
    """

    rule: str
    cells: int
    parameters: Mapping[str, Any]
    text: str
    judged: int
    undecided: int
    status: Status
    severity: str = "error"
    note: str = field(default="", metadata=IF_ANY)
    keys: tuple[Mapping[str, str | None], ...] = field(default=(), metadata=IF_ANY)


MISSING_TOTALS = "missing_totals"
"""The one thing about a table that is worth knowing and no mistake: no verdict depends on it."""


@dataclass(frozen=True)
class TableProblem(Documented):
    """Something about the table itself: a stable code, how many cells, one sentence without values.

    Args:
        keys: of such cells, only where they are shown.
    """

    code: str
    cells: int
    message: str
    keys: tuple[Mapping[str, str | None], ...] = field(default=(), metadata=IF_ANY)

    @property
    def is_mistake(self) -> bool:
        """Whether nothing that the table says holds for certain."""
        return self.code != MISSING_TOTALS


@dataclass(frozen=True)
class LinkedTable(Documented):
    """One of several tables that were judged together.

    Args:
        target: what was looked at. by: what it is broken down by.
    """

    target: str
    by: tuple[str, ...]


@dataclass(frozen=True)
class ReleaseDifference(Documented):
    """What two releases of a table say together, over cells of what changed between them.

    Args:
        before, after: what was looked at. changed: cells that are not the same in both. unsafe_cells: those among them
            whose change falls short of a rule. unsafe: each rule over the changes.
    """

    before: str
    after: str
    changed: int
    unsafe_cells: int
    unsafe: tuple[RuleFound, ...]


@dataclass(frozen=True)
class CellInterval(Documented):
    """What published cells and totals leave a hidden cell. Only where values are shown.

    Args:
        measure: `count` or `value`. lower, upper: its limits, None where there is none. required: how far apart they
            must be, 0 where nothing was asked. unsafe: whether they are nearer; None where that is not known.
        cell: its key, by dimension. adds, takes: the keys of published cells that are added and taken away to get it.
    """

    measure: str
    lower: int | float | None
    upper: int | float | None
    required: int | float
    unsafe: bool | None
    cell: Mapping[str, str | None] = field(default_factory=dict)
    adds: tuple[Mapping[str, str | None], ...] = field(default=(), metadata=IF_ANY)
    takes: tuple[Mapping[str, str | None], ...] = field(default=(), metadata=IF_ANY)


@dataclass(frozen=True)
class RoundedMeasure(Documented):
    """A measure all of whose published values are multiples of a base, more of them than chance would have it.

    Args:
        measure: `count` or `value`. base: of rounding. deducible: cells whose value before rounding totals give away;
            None where that was not found out.
    """

    measure: str
    base: int | float
    deducible: int | None


@dataclass(frozen=True)
class DrawnTable(Documented):
    """The published table of one or two dimensions as it is read, with marks. Only where values are shown.

    Args:
        rows: the values of the first dimension. columns: those of the second, or none. cells: row by row what stands
            there: a number with `!` where a rule finds it unsafe, `*` where it is hidden, `?` where that can be
            computed, and nothing where there is no cell.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class CellProtection(Documented):
    """Further cells that are hidden, so that totals do not give back unsafe ones.

    Args:
        unsafe: cells that rules find, all hidden. further: other cells that are hidden. cost: of these.
        bound: no answer costs less, as far as is proven. open: unsafe cells that nothing protects.
        safe: whether it is proven that every unsafe cell is open enough. stopped: why the search ended early, or empty.
        file: what was written; empty when nothing was. keys: of the further cells, only where they are shown.
        rounded_to: cells were rounded to multiples of this instead, and nothing is hidden; `cost` is by how much.
    """

    unsafe: int
    further: int
    cost: int
    bound: int
    open: int
    safe: bool
    stopped: str
    file: str
    keys: tuple[Mapping[str, str | None], ...] = field(default=(), metadata=IF_ANY)
    rounded_to: int | None = field(default=None, metadata=IF_ANY)


@dataclass(frozen=True, kw_only=True, repr=False)
class AggregatesResult(MeasuredResult, Shown):
    """Which cells of a published table say too much of the few behind them.

    Args:
        target: what was looked at. by: what it is broken down by. columns: which column says what of a cell.
        totals: the dimensions in which some cells are the sum of others. subtotals: how many values are that, but
            for those of everything, by dimension.
        cells: how many. contributors: how many are behind all of them, None when nothing says it.
        contributors_added_up: whether that is a sum over cells, as no total of all is published: who is in several
            cells counts in each.
        unsafe_cells: those that fall short of some rule. rules: each by itself. hidden: cells that are not published.
        linked: the tables that were judged together, this one first; none of a table alone.
        differences: what each two releases say together.
        deducible: hidden cells whose value follows from published ones; None when nothing is hidden, or nobody knows.
        intervals: what published cells leave hidden ones, the narrowest first; only where values are shown.
        outsiders_only: whether a rule judged what hidden cells leave open to somebody who is in none of them, and not
            what contributors deduce, who know their own part.
        small_counts_hidden: whether small counts were hidden and totals left that give them back. rounded: measures
            that look rounded. drawn: the table itself with marks, where values are shown and it is small.
        protection: the protected table, None when nobody asked for it. problems: what is wrong with the table itself,
            and totals that it does not have.
        engine, time, statements, versions, access: as in an audit.
    """

    schema: ClassVar = "sqlaudit-aggregates/1"
    shown_by: ClassVar = "sqlaudit.tabular.report:aggregates_document"
    frame_of: ClassVar = "aggregates.unsafe"

    engine: str = ""
    target: str
    by: tuple[str, ...]
    columns: Mapping[str, Any]
    totals: tuple[str, ...]
    contributors_added_up: bool = field(default=False, metadata=IF_ANY)
    subtotals: Mapping[str, int] = field(default_factory=dict, metadata=IF_ANY)
    cells: int = field(metadata=key("aggregates.cells"))
    contributors: int | None = field(metadata=key("aggregates.contributors"))
    unsafe_cells: int = field(metadata=key("aggregates.unsafe_cells"))
    rules: tuple[RuleFound, ...] = field(metadata=key("aggregates.unsafe"))
    hidden: int = field(metadata=key("aggregates.hidden"))
    linked: tuple[LinkedTable, ...] = field(default=(), metadata=IF_ANY | key("aggregates.linked"))
    differences: tuple[ReleaseDifference, ...] = field(default=(), metadata=key("aggregates.differences"))
    deducible: int | None = field(default=None, metadata=key("aggregates.deducible"))
    intervals: tuple[CellInterval, ...] = field(default=(), metadata=key("aggregates.intervals"))
    outsiders_only: bool = field(default=False, metadata=IF_ANY | key("aggregates.outsiders_only"))
    small_counts_hidden: bool = field(default=False, metadata=key("aggregates.small_counts_hidden"))
    rounded: tuple[RoundedMeasure, ...] = field(default=(), metadata=key("aggregates.rounded"))
    drawn: DrawnTable | None = field(default=None, metadata=key("aggregates.drawn"))
    protection: CellProtection | None = field(default=None, metadata=key("aggregates.protection"))
    problems: tuple[TableProblem, ...] = field(metadata=key("aggregates.problems"))

    @property
    @told("problems")
    def status(self) -> Status:
        """The worst verdict: `pass` when nothing was required, `undetermined` when there is no cell."""
        found = {one.status for one in self.rules}
        found |= {one.status for two in self.differences for one in two.unsafe}
        if self.rules and (self.mistakes or not self.cells):
            found.add(Status.UNDETERMINED)
        worst = (Status.FAIL, Status.UNDETERMINED, Status.WARN)
        return next((status for status in worst if status in found), Status.PASS)

    @property
    def mistakes(self) -> tuple[TableProblem, ...]:
        """What is wrong with the table, so that nothing it says holds for certain."""
        return tuple(one for one in self.problems if one.is_mistake)

    @property
    def passed(self) -> bool:
        """Whether everything that was required holds, or only warns."""
        return self.status in (Status.PASS, Status.WARN)
