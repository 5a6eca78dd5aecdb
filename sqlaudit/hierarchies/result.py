"""What checking a hierarchy found. Frozen; without values unless they were asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from sqlaudit.base.documents import LAST, Documented, told
from sqlaudit.base.result import Result, Timing
from sqlaudit.reports.notebook import Shown


@dataclass(frozen=True)
class CheckedLevel(Documented):
    """What one level makes of the values that occur.

    Args:
        level: its number, 0 = the values themselves. name: what it is: `width 5`, `last 2 masked`, `listed`, …
        groups: different labels; missing values count as one.
        smallest, largest: rows of the smallest and of the largest group.
        nested: whether every group of the level below lies in one group of this level.
        split_groups: groups of the level below that lie in several.
        uncovered_values, uncovered_rows: values that have no label here.
        sql: the label as an expression in the engine's dialect; None for listed levels.
    """

    level: int
    name: str
    groups: int
    smallest: int
    largest: int
    nested: bool = True
    split_groups: int = 0
    uncovered_values: int = 0
    uncovered_rows: int = 0
    sql: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True, repr=False)
class HierarchyResult(Result, Shown):
    """A hierarchy of one column, checked against the values that occur.

    Args:
        target: what was looked at. column: the column or expression.
        holds: what it holds (integer, text, …). form: how the hierarchy was given (widths, mask, csv, …).
        rows, missing_rows: of the table, and those where the column is missing.
        levels: from level 0, the values, to the highest, where every value is `*`.
        problems: one sentence for everything that keeps the hierarchy from being used; empty when nothing does.
        notes: what is worth knowing.
        written: lines of the file that was written; None without one.
        values: (value, label at level 1, …) of the first values, empty unless values may be shown.
        statements: what ran. versions: of sqlaudit and the engine. time: when.
    """

    schema: ClassVar = "sqlaudit-hierarchy/1"
    shown_by: ClassVar = "sqlaudit.hierarchies.report:hierarchy_document"
    frame_of: ClassVar = "levels"

    target: str
    column: str
    holds: str
    form: str
    rows: int
    missing_rows: int
    levels: tuple[CheckedLevel, ...]
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    written: int | None = None
    values: tuple[tuple[str | None, ...], ...] = field(default=(), repr=False)
    statements: tuple[Timing, ...] = field(default=(), repr=False, metadata=LAST)

    @property
    @told("missing_rows")
    def usable(self) -> bool:
        """Whether every value has a label at every level, and the levels are nested."""
        return not self.problems
