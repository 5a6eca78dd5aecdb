"""What computed a result, when it was finished, how long it took, and the SQL that ran."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from sqlaudit.base.result import Timing
from sqlaudit.reports.blocks import Code
from sqlaudit.reports.document import Section, section
from sqlaudit.reports.figures import count, figure, plural

_MOST_STATEMENTS = 60


class Measured(Protocol):
    """A result that statements over one connection found."""

    @property
    def engine(self) -> str:
        """What computed it."""

    @property
    def time(self) -> str:
        """When it was finished, ISO 8601."""

    @property
    def access(self) -> str:
        """As whom the database was read."""

    @property
    def versions(self) -> Mapping[str, str]:
        """Of what computed it."""

    @property
    def statements(self) -> tuple[Timing, ...]:
        """What ran."""


def finished(time: str, statements: Sequence[Timing]) -> str:
    """`2026-05-04 10:15 UTC; 5 statements took 0.3 s in the database`.

    Args:
        time: an ISO 8601 time; any other text is taken as it stands. statements: what ran.
    """
    seconds = [timing.seconds for timing in statements if timing.seconds is not None]
    took = f"; {plural(len(seconds), 'statement')} took {figure(round(sum(seconds), 2))} s in the database"
    return moment(time) + (took if seconds else "")


def made(result: Measured) -> tuple[tuple[str, str], ...]:
    """What computed a result, as whom and when, as facts at the end of a report."""
    return (
        ("computed by", f"sqlaudit {result.versions.get('sqlaudit', '')}".rstrip() + f" on {result.engine}"),
        *([("access", result.access)] if result.access else []),
        ("finished", finished(result.time, result.statements)),
    )


def sql_section(result: Measured) -> tuple[Section, ...]:
    """The SQL that ran, a folded block a statement; it holds no cell value. A long search shows its first ones."""
    return section("The SQL that ran", *_codes(result.statements))


def _codes(statements: tuple[Timing, ...]) -> Iterator[Code]:
    for position, timing in enumerate(statements[:_MOST_STATEMENTS], 1):
        took = "" if timing.seconds is None else f", {figure(round(timing.seconds, 3))} s"
        yield Code(f"{position}. {timing.name}{took}", timing.sql.strip())
    if len(statements) > _MOST_STATEMENTS:
        left = statements[_MOST_STATEMENTS:]
        yield Code(f"{count(len(left))} more", "\n".join(timing.name for timing in left))


def moment(time: str) -> str:
    """A time as people write it, in UTC."""
    try:
        return f"{datetime.datetime.fromisoformat(time).astimezone(datetime.UTC):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return time
