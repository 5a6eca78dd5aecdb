"""`--timings`: where the time of a command went, for its user."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence

import click

from sqlaudit.engines.contract import Engine, Executed
from sqlaudit.reports import document as doc
from sqlaudit.reports.text import render_text

_MOST_STEPS = 30


def print_timings(engine: Engine) -> None:
    """Print the steps that ran on stderr, the longest first, then what the whole command took."""
    ran = [executed for executed in engine.executed if executed.seconds is not None]
    document = doc.Document("Where the time went", (*_steps(ran), *_totals(ran, time.monotonic() - engine.started)))
    text = render_text(document, 100, glossary=False)
    click.echo(doc.in_encoding(text, getattr(sys.stderr, "encoding", None)), err=True)


def _steps(ran: Sequence[Executed]) -> Iterator[doc.Block]:
    """Yield the table of steps. Statements of one name are one step."""
    steps: dict[str, list[Executed]] = {}
    for executed in ran:
        steps.setdefault(executed.name.replace("_", " "), []).append(executed)
    longest = sorted(((_seconds(statements), name) for name, statements in steps.items()), reverse=True)
    whole = _seconds(ran)
    rows = [
        (name, len(steps[name]), _rows(steps[name]), f"{seconds:.2f} s", doc.percent(seconds / whole if whole else 0))
        for seconds, name in longest[:_MOST_STEPS]
    ]
    further = longest[_MOST_STEPS:]
    caption = f"{doc.plural(len(further), 'more step')} took {sum(seconds for seconds, _ in further):.2f} s."
    yield doc.table(("step", "statements", "rows", "seconds", "share"), rows, caption if further else "")


def _totals(ran: Sequence[Executed], clock: float) -> Iterator[doc.Block]:
    in_database = _seconds(ran)
    yield doc.facts(
        ("in the database", f"{in_database:.2f} s"),
        ("beside it", f"{max(0.0, clock - in_database):.2f} s, in Python"),
        ("CPU of this process", f"{time.process_time():.2f} s"),
        ("its peak memory", _peak_memory()),
    )


def _seconds(statements: Sequence[Executed]) -> float:
    return sum(executed.seconds or 0.0 for executed in statements)


def _rows(statements: Sequence[Executed]) -> int | None:
    """Return how many rows statements returned or kept together. None if that is unknown of one."""
    rows = [executed.rows for executed in statements]
    known = [number for number in rows if number is not None]
    return sum(known) if len(known) == len(rows) else None


def _peak_memory() -> str:
    """Return the peak memory of this process. Empty on systems that do not tell it."""
    try:
        import resource
    except ImportError:
        return ""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return f"{peak / (1e6 if sys.platform == 'darwin' else 1e3):,.0f} MB"
