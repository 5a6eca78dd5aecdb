"""When something was finished, and how long it took."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence

from sqlaudit.base.result import Timing
from sqlaudit.reports.figures import figure, plural


def finished(time: str, statements: Sequence[Timing]) -> str:
    """`2026-05-04 10:15 UTC; 5 statements took 0.3 s in the database`.

    Args:
        time: an ISO 8601 time; any other text is taken as it stands. statements: what ran.
    """
    seconds = [timing.seconds for timing in statements if timing.seconds is not None]
    took = f"; {plural(len(seconds), 'statement')} took {figure(round(sum(seconds), 2))} s in the database"
    return moment(time) + (took if seconds else "")


def made(
    engine: str, time: str, statements: Sequence[Timing], versions: Mapping[str, str], access: str
) -> tuple[tuple[str, str], ...]:
    """What computed a result, as whom and when, as facts at the end of a report."""
    return (
        ("computed by", f"sqlaudit {versions.get('sqlaudit', '')}".rstrip() + f" on {engine}"),
        *([("access", access)] if access else []),
        ("finished", finished(time, statements)),
    )


def moment(time: str) -> str:
    """A time as people write it, in UTC."""
    try:
        return f"{datetime.datetime.fromisoformat(time).astimezone(datetime.UTC):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return time
