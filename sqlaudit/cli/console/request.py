"""What was asked of a console when it was started."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlaudit.base.spec import Limits, ReadOptions, Roles
from sqlaudit.cli.options import Demands

FORMATS = ("table", "csv", "json")
"""How results look."""


@dataclass(frozen=True)
class ConsoleRequest:
    """What was asked of a console when it was started.

    Args:
        names: tables and files; commands act on the first. db: what `--db` said. read: how files are read.
        texts: what to run, in order; none = a prompt. roles, demands: what holds until it is changed.
        layout: one of `FORMATS`. file: where all results go. show_values: whether classes show their values.
        limits: the budgets of each statement.
    """

    names: tuple[str, ...]
    db: str | None
    read: ReadOptions
    texts: tuple[str, ...]
    roles: Roles
    demands: Demands
    layout: str
    file: Path | None
    show_values: bool
    limits: Limits
