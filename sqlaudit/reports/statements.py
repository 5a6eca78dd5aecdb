"""The SQL that ran, as a page shows it."""

from __future__ import annotations

from collections.abc import Iterator

from sqlaudit.base.result import Timing
from sqlaudit.reports.document import Code
from sqlaudit.reports.figures import count, figure

_MOST_STATEMENTS = 60


def statements_code(statements: tuple[Timing, ...]) -> Iterator[Code]:
    """The SQL that ran, a folded block a statement; it holds no cell value. A long search shows its first ones."""
    for position, timing in enumerate(statements[:_MOST_STATEMENTS], 1):
        took = "" if timing.seconds is None else f", {figure(round(timing.seconds, 3))} s"
        yield Code(f"{position}. {timing.name}{took}", timing.sql.strip())
    if len(statements) > _MOST_STATEMENTS:
        left = statements[_MOST_STATEMENTS:]
        yield Code(f"{count(len(left))} more", "\n".join(timing.name for timing in left))
