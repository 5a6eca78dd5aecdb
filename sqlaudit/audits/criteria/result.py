"""An audit by criteria. Frozen; without a value of the table, and in its public version without a small count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sqlaudit.base.documents import Documented, key
from sqlaudit.base.result import Result, Status
from sqlaudit.reports.notebook import Shown


@dataclass(frozen=True)
class ToldFigure(Documented):
    """A figure as it is told: what it is, and its text."""

    name: str
    text: str


@dataclass(frozen=True)
class Criterion(Documented):
    """A criterion, the figures that answer it, and what no figure answers.

    Args:
        name: stable, for programs. title: for people. source: where it stands. question: what it asks.
        figures: the answers, as far as there are figures. open: what people have to answer.
    """

    name: str
    title: str
    source: str
    question: str
    figures: tuple[ToldFigure, ...]
    open: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class CriteriaResult(Result, Shown):
    """What an audit says to each criterion.

    Args:
        version: `internal`, or `public` with rounded counts. rounded_to: what counts are rounded to, 1 = not at all.
        target, engine, roles: as in the audit. rows: how many, as a text. status: the audit's verdict.
        required: the requirements that were judged, with their verdicts.
    """

    schema: ClassVar = "sqlaudit-criteria/1"
    shown_by: ClassVar = "sqlaudit.audits.criteria.report:criteria_document"
    frame_of: ClassVar = "criteria"

    version: str
    rounded_to: int
    target: str = field(metadata=key("target.name"))
    rows: str = field(metadata=key("target.rows"))
    engine: str = field(metadata=key("target.engine"))
    roles: Mapping[str, Any]
    required: tuple[ToldFigure, ...]
    criteria: tuple[Criterion, ...]
    status: Status
