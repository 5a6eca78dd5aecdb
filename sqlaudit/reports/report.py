"""The parts that every report on a result has, and the document that they make."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

from sqlaudit.base.result import Result
from sqlaudit.reports.document import About, Block, Content, Document, KeyFigure, Section, Words, compose, notices_block

Reported = TypeVar("Reported", bound=Result)


class Report(Generic[Reported]):
    """The report on one kind of result. A subclass fills in the parts, `document` puts them together.

    Example:
        >>> class RowsReport(Report[Result]):
        ...     def headline(self, result: Result) -> Words:
        ...         return "a.csv: 9 rows"
        >>> RowsReport().document(Result()).headline
        'a.csv: 9 rows'
    """

    def headline(self, result: Reported) -> Words:
        """Return the verdict, or the main finding, in a few words."""
        raise NotImplementedError

    def key_figures(self, result: Reported) -> Iterable[KeyFigure]:
        """Return at most three figures, which are shown large under the headline."""
        return ()

    def opening(self, result: Reported) -> Iterable[Content]:
        """Return what was examined, then a line for each requirement."""
        return ()

    def lead(self, result: Reported) -> Iterable[Words]:
        """Return the findings for a reader who reads nothing else, one sentence each."""
        return ()

    def notices(self, result: Reported) -> Iterable[Block]:
        """Return what the verdict does not cover."""
        return ()

    def sections(self, result: Reported) -> Iterable[tuple[Section, ...]]:
        """Return the details, the most important first, then how they were computed."""
        return ()

    def about(self, result: Reported) -> About:
        """Return what was examined and when, for the foot of a page."""
        return About(getattr(result, "target", ""), result.time)

    def document(self, result: Reported) -> Document:
        """Return the whole report. How the tables were read stands under the lead."""
        remarks = [remark for remark in getattr(result, "remarks", ()) if remark not in getattr(result, "warnings", ())]
        lead = (*self.opening(result), self.lead(result), *self.notices(result), *notices_block(remarks))
        return compose(
            self.headline(result),
            lead,
            *self.sections(result),
            figures=self.key_figures(result),
            about=self.about(result),
        )
