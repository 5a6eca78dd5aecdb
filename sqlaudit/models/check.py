"""One requirement or model, judged."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from sqlaudit.base.documents import IF_ANY, LEFT_OUT, Documented, after, key, told
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.result import Number, Status
from sqlaudit.base.spec import KnownRows

WORST_FIRST = (Status.FAIL, Status.UNDETERMINED, Status.WARN, Status.PASS, None)


@dataclass(frozen=True)
class OfKnownRows(Documented):
    """What a check finds for somebody who knows one row of a person, or all: as the check has it."""

    level: Number | None
    status: Status | None
    failing_classes: int | None
    failing_rows: int | None
    failing_share: float | None


@dataclass(frozen=True)
class ByKnownRows(Documented):
    """A check for somebody who knows one row of a person, and for somebody who knows all of them.

    Args:
        worse: which of them the check itself tells. one, all: what is found for each.
    """

    worse: KnownRows
    one: OfKnownRows
    all: OfKnownRows


@dataclass(frozen=True)
class Check(Documented):
    """One model on one sensitive attribute: the level achieved and, when required, the verdict.

    Args:
        model: the model's name. sensitive: the attribute, None for models that need none.
        parameters: the model's parameters. level: the main number; `math.inf` for infinity, None when undefined.
        levels: every number the model reports, by name. operator: how level and limit compare when it holds.
        required: the limit, None when nothing was required.
        status: the verdict, None when nothing was required.
        failing_classes, failing_rows, failing_share: what falls short; None when nothing was required.
        details: further figures of the model. note: which definition was used, or why nothing can be said.
        known_rows: where persons with many rows were judged twice, what was found for whom; the check is the worse.
        text: the requirement as the user wrote it. title: the model's name for people, empty = made from `model`.
    """

    model: str
    sensitive: str | None
    parameters: Mapping[str, Any]
    level: Number | None
    levels: Mapping[str, Number | None]
    operator: str
    required: Number | None = None
    status: Status | None = None
    failing_classes: int | None = None
    failing_rows: int | None = None
    failing_share: float | None = None
    severity: str = "error"
    text: str = field(default="", metadata=LEFT_OUT)
    note: str = field(default="", metadata=IF_ANY | after("title"))
    details: Mapping[str, Any] = field(default_factory=dict, metadata=IF_ANY | after("note"))
    title: str = field(default="", metadata=IF_ANY)
    known_rows: ByKnownRows | None = field(default=None, metadata=IF_ANY)

    @told("severity", key("infinite") | IF_ANY)
    def _infinite(self) -> bool:
        return isinstance(self.level, float) and math.isinf(self.level)


class WithVerdict:
    """A result whose verdict is the worst of its checks."""

    __slots__ = ()

    checks: tuple[Check, ...]

    @property
    @told("checks", IF_ANY)
    def status(self) -> Status | None:
        """The worst verdict among the requirements, None when nothing was required."""
        verdicts = {check.status for check in self.checks}
        return next((one for one in WORST_FIRST if one in verdicts), None)

    @property
    def passed(self) -> bool:
        """True when no requirement failed or stayed undetermined."""
        return self.status in (None, Status.PASS, Status.WARN)
