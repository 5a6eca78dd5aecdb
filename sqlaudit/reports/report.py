"""The parts of a report on a result, the document that they make, and what computed the result at its end."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Generic, Protocol, TypeVar

from sqlaudit.base.result import MEANING, Timing
from sqlaudit.reports import document as doc

_MOST_STATEMENTS = 60


class Finished(Protocol):
    """A result with the time when it was found."""

    @property
    def time(self) -> str:
        """The time, ISO 8601."""


class Measured(Finished, Protocol):
    """A result that statements over one connection found."""

    @property
    def engine(self) -> str:
        """The engine that computed it, with its version."""

    @property
    def access(self) -> str:
        """The role that read the database."""

    @property
    def versions(self) -> Mapping[str, str]:
        """The versions of sqlaudit and of the engine."""

    @property
    def statements(self) -> tuple[Timing, ...]:
        """The statements that ran."""


def finished(time: str, statements: Sequence[Timing]) -> str:
    """Return when a result was finished: `2026-05-04 10:15 UTC; 5 statements took 0.3 s in the database`.

    Args:
        time: an ISO 8601 time. Any other text is taken as it stands.
        statements: what ran.
    """
    seconds = [timing.seconds for timing in statements if timing.seconds is not None]
    took = f"; {doc.plural(len(seconds), 'statement')} took {doc.figure(round(sum(seconds), 2))} s in the database"
    return moment(time) + (took if seconds else "")


def computed_by(result: Measured) -> tuple[tuple[str, str], ...]:
    """Return what computed a result, as which role and when, as facts for the end of a report."""
    return (
        ("computed by", f"sqlaudit {result.versions.get('sqlaudit', '')}".rstrip() + f" on {result.engine}"),
        *([("access", result.access)] if result.access else []),
        ("finished", finished(result.time, result.statements)),
    )


def sql_section(result: Measured) -> tuple[doc.Section, ...]:
    """Return the section with the SQL that ran, one folded block a statement. It holds no cell value.

    A long search shows its first statements.
    """
    return doc.section("The SQL that ran", *_codes(result.statements))


def _codes(statements: tuple[Timing, ...]) -> Iterator[doc.Code]:
    for position, timing in enumerate(statements[:_MOST_STATEMENTS], 1):
        took = "" if timing.seconds is None else f", {doc.figure(round(timing.seconds, 3))} s"
        yield doc.Code(f"{position}. {timing.name}{took}", timing.sql.strip())
    if len(statements) > _MOST_STATEMENTS:
        left = statements[_MOST_STATEMENTS:]
        yield doc.Code(f"{doc.count(len(left))} more", "\n".join(timing.name for timing in left))


def moment(time: str) -> str:
    """Return a time as people write it, in UTC."""
    try:
        return f"{datetime.datetime.fromisoformat(time).astimezone(datetime.UTC):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return time


Found = TypeVar("Found", bound=Finished)
Computed = TypeVar("Computed", bound=Measured)


class Report(Generic[Found]):
    """The report on one kind of result. A subclass fills in the parts, and `document` puts them together.

    Example:
        >>> from sqlaudit.base.result import Result
        >>> class RowsReport(Report[Result]):
        ...     def headline(self, result):
        ...         return "a.csv: 9 rows"
        >>> RowsReport().document(Result()).headline
        'a.csv: 9 rows'
    """

    kind: ClassVar[str] = ""
    """The kind of report, for the first line of a page."""

    def headline(self, result: Found) -> doc.Words:
        """Return the verdict, or the main finding, in a few words."""
        raise NotImplementedError

    def key_figures(self, result: Found) -> Iterable[doc.KeyFigure]:
        """Return at most three figures, which are shown large under the headline."""
        return ()

    def opening(self, result: Found) -> Iterable[doc.Content]:
        """Return what was examined, then a line for each requirement."""
        return ()

    def lead(self, result: Found) -> Iterable[doc.Words]:
        """Return the findings for a reader who reads nothing else, one sentence each."""
        return ()

    def notices(self, result: Found) -> Iterable[doc.Block]:
        """Return what the verdict does not cover."""
        return ()

    def sections(self, result: Found) -> Iterable[tuple[doc.Section, ...]]:
        """Return the details, the most important first."""
        return ()

    def closing(self, result: Found) -> Iterable[tuple[doc.Section, ...]]:
        """Return the last sections: how the result was computed, and its limits."""
        return ()

    def about(self, result: Found) -> doc.About:
        """Return what was examined and when, for the head and foot of a page."""
        return doc.About(getattr(result, "target", ""), result.time)

    def document(self, result: Found) -> doc.Document:
        """Return the whole report. How the tables were read stands under the lead."""
        remarks = [remark for remark in getattr(result, "remarks", ()) if remark not in getattr(result, "warnings", ())]
        return doc.compose(
            self.headline(result),
            (*self.opening(result), self.lead(result), *self.notices(result), *doc.notices_block(remarks)),
            *self.sections(result),
            *self.closing(result),
            figures=self.key_figures(result),
            about=replace(self.about(result), kind=self.kind),
        )


class MeasuredReport(Report[Computed]):
    """The report on a result that statements in a database gave. Its method, its limits and the SQL end it."""

    method_title: ClassVar[str] = "Method"
    limits_title: ClassVar[str] = "Limits of this audit"
    limits_last: ClassVar[bool] = False
    """Whether the limits stand behind the SQL."""

    def method(self, result: Computed) -> Iterable[tuple[str, doc.Cell]]:
        """Return what was examined and how, as labels with their values. What computed it is added."""
        return ()

    def limits(self, result: Computed) -> Iterable[str]:
        """Return what the report does not cover, one sentence each."""
        return (MEANING,)

    def closing(self, result: Computed) -> Iterable[tuple[doc.Section, ...]]:
        """Return the method, the limits and the SQL."""
        yield doc.section(self.method_title, doc.facts(*self.method(result), *computed_by(result)), folded=True)
        limits, statements = doc.section(self.limits_title, self.limits(result)), sql_section(result)
        yield from (statements, limits) if self.limits_last else (limits, statements)
