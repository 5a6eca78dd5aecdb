"""What suppressing cells costs and yields. Frozen; reports read it, `to_dict` gives the documented JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from sqlaudit.base.documents import OR_NULL, Documented, key, told
from sqlaudit.base.result import MeasuredResult
from sqlaudit.remedies.result import Release
from sqlaudit.reports.notebook import Shown


@dataclass(frozen=True)
class SuppressedColumn(Documented):
    """A quasi-identifier: its name, what a cell of it weighs, and how many of its cells are suppressed."""

    name: str
    weight: Fraction
    cells: int


@dataclass(frozen=True)
class Effort(Documented):
    """How the answer was found.

    Args:
        how: what was asked: `auto`, `exact` or `fast`.
        method: what the bound comes from: `patterns` or `groups` (the exact programs), `relaxed` (the first of them
            without asking for whole numbers), `counting` (what each row pays at least) or `rows` (whole rows, where
            the best answer is known).
        stopped: why the exact program did not end: `time`, `interrupted`, `size`, `solver` (none is there), or empty.
        variables: of the exact program, 0 when there was none. patterns: that it chooses from.
        fast_cost: what the fast way alone found.
    """

    how: str
    method: str
    stopped: str = field(default="", metadata=OR_NULL)
    variables: int = 0
    patterns: int = 0
    fast_cost: Fraction = Fraction(0)


@dataclass(frozen=True, kw_only=True, repr=False)
class SuppressResult(MeasuredResult, Shown):
    """The cheapest suppression that was found.

    Args:
        target: the table's name. rows: its rows. patterns: different rows among the quasi-identifiers.
        roles: of its columns. requirements: what the release must satisfy; warn_only: what it is only warned of.
        whole_rows: what becomes of a suppressed row as a whole: `drop`, `star`, or empty for cells.
        columns: the quasi-identifiers with what is suppressed of them; a row that is left out counts in each.
        cost: the weighted number of suppressed cells. bound: no solution costs less.
        touched: rows of which anything is suppressed, left-out ones included. effort: how it was found.
        release: what comes out, None when the work was interrupted before.
    """

    schema: ClassVar = "sqlaudit-suppress/1"
    shown_by: ClassVar = "sqlaudit.remedies.suppress.report:suppress_document"
    frame_of: ClassVar = "columns"

    target: str = field(metadata=key("target.name"))
    rows: int = field(metadata=key("target.rows"))
    patterns: int = field(metadata=key("target.patterns"))
    engine: str = field(metadata=key("target.engine"))
    roles: Mapping[str, Any]
    requirements: tuple[str, ...]
    warn_only: tuple[str, ...] = ()
    whole_rows: str = field(metadata=OR_NULL)
    columns: tuple[SuppressedColumn, ...]
    cost: Fraction
    bound: Fraction
    touched: int = field(metadata=key("touched_rows"))
    effort: Effort
    release: Release | None = None

    @property
    @told("complete")
    def cells(self) -> int:
        """Suppressed cells."""
        return sum(column.cells for column in self.columns)

    @property
    @told("cells")
    def all_cells(self) -> int:
        """Cells of the quasi-identifiers."""
        return self.rows * len(self.columns)

    @property
    @told("gap")
    def optimal(self) -> bool:
        """Whether no solution costs less."""
        return self.cost == self.bound

    @property
    @told("bound")
    def gap(self) -> Fraction:
        """What the best solution may cost less, as a share of the cost: 0 when this is the best one."""
        return (self.cost - self.bound) / self.cost if self.cost else Fraction(0)

    @property
    @told("optimal")
    def complete(self) -> bool:
        """Whether the question was answered: a proven optimum when an exact answer was asked for."""
        return self.optimal or (self.effort.how != "exact" and self.effort.stopped != "interrupted")
