"""What suppressing cells costs and yields. Frozen; reports read it, `to_dict` gives the documented JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from sqlaudit.base.documents import plain
from sqlaudit.base.result import Timing
from sqlaudit.remedies.result import Release
from sqlaudit.reports.notebook import Shown

SCHEMA = "sqlaudit-suppress/1"


@dataclass(frozen=True)
class SuppressedColumn:
    """A quasi-identifier: its name, what a cell of it weighs, and how many of its cells are suppressed."""

    name: str
    weight: Fraction
    cells: int

    def to_dict(self) -> dict[str, Any]:
        """The column as the JSON has it."""
        return {"name": self.name, "weight": plain(self.weight), "cells": self.cells}


@dataclass(frozen=True)
class Effort:
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
    stopped: str = ""
    variables: int = 0
    patterns: int = 0
    fast_cost: Fraction = Fraction(0)

    def to_dict(self) -> dict[str, Any]:
        """The effort as the JSON has it."""
        return {
            "how": self.how,
            "method": self.method,
            "stopped": self.stopped or None,
            "variables": self.variables,
            "patterns": self.patterns,
            "fast_cost": plain(self.fast_cost),
        }


@dataclass(frozen=True)
class SuppressResult(Shown):
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

    shown_by: ClassVar = "sqlaudit.remedies.suppress.report:suppress_document"

    target: str
    rows: int
    patterns: int
    roles: Mapping[str, Any]
    requirements: tuple[str, ...]
    whole_rows: str
    columns: tuple[SuppressedColumn, ...]
    cost: Fraction
    bound: Fraction
    touched: int
    effort: Effort
    engine: str
    time: str
    release: Release | None = None
    warn_only: tuple[str, ...] = ()
    statements: tuple[Timing, ...] = field(default=(), repr=False)
    versions: Mapping[str, str] = field(default_factory=dict)
    access: str = ""

    @property
    def cells(self) -> int:
        """Suppressed cells."""
        return sum(column.cells for column in self.columns)

    @property
    def all_cells(self) -> int:
        """Cells of the quasi-identifiers."""
        return self.rows * len(self.columns)

    @property
    def optimal(self) -> bool:
        """Whether no solution costs less."""
        return self.cost == self.bound

    @property
    def gap(self) -> Fraction:
        """What the best solution may cost less, as a share of the cost: 0 when this is the best one."""
        return (self.cost - self.bound) / self.cost if self.cost else Fraction(0)

    @property
    def complete(self) -> bool:
        """Whether the question was answered: a proven optimum when an exact answer was asked for."""
        return self.optimal or (self.effort.how != "exact" and self.effort.stopped != "interrupted")

    def to_dict(self) -> dict[str, Any]:
        """The result as the documented JSON (`sqlaudit/remedies/suppress/schema.json`)."""
        return {
            "schema": SCHEMA,
            "versions": dict(self.versions),
            "time": self.time,
            "access": self.access,
            "target": {"name": self.target, "rows": self.rows, "patterns": self.patterns, "engine": self.engine},
            "roles": dict(self.roles),
            "requirements": list(self.requirements),
            "warn_only": list(self.warn_only),
            "whole_rows": self.whole_rows or None,
            "columns": [column.to_dict() for column in self.columns],
            "cost": plain(self.cost),
            "bound": plain(self.bound),
            "gap": plain(self.gap),
            "optimal": self.optimal,
            "complete": self.complete,
            "cells": self.cells,
            "all_cells": self.all_cells,
            "touched_rows": self.touched,
            "effort": self.effort.to_dict(),
            "release": self.release.to_dict() if self.release else None,
            "statements": [timing.to_dict() for timing in self.statements],
        }
