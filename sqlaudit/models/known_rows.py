"""Checks for who knows one row of a person, and for who knows all of them: the worse of both is the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlaudit.base.result import Status
from sqlaudit.base.spec import KnownRows
from sqlaudit.models.check import ByKnownRows, Check, OfKnownRows
from sqlaudit.models.judge import compares

_WORST = (Status.FAIL, Status.UNDETERMINED, Status.WARN, Status.PASS, None)


def worse_checks(one: Sequence[Check], every: Sequence[Check]) -> tuple[Check, ...]:
    """The checks of `one`, each with its counterpart in `every`, where it has one; the worse of both stands.

    Args:
        one: for somebody who knows one row of a person. every: for somebody who knows all of them.
    """
    others = {_of(check): check for check in every}
    return tuple(_worse(check, others[_of(check)]) if _of(check) in others else check for check in one)


def _of(check: Check) -> tuple[str, str | None, str, tuple[tuple[str, object], ...]]:
    return check.model, check.sensitive, check.text, tuple(sorted(check.parameters.items()))


def _worse(one: Check, every: Check) -> Check:
    worse = KnownRows.ALL if _is_worse(every, one) else KnownRows.ONE
    both = ByKnownRows(worse, _told(one), _told(every))
    return replace(every if worse is KnownRows.ALL else one, known_rows=both)


def _is_worse(this: Check, other: Check) -> bool:
    """Whether a check is worse than another one of the same requirement: by verdict, then by level."""
    if this.status is not other.status:
        return _WORST.index(this.status) < _WORST.index(other.status)
    if this.level is None or other.level is None or this.level == other.level:
        return this.level is None and other.level is not None
    return not compares(this.level, ">=" if this.operator in (">=", ">") else "<=", other.level)


def _told(check: Check) -> OfKnownRows:
    return OfKnownRows(check.level, check.status, check.failing_classes, check.failing_rows, check.failing_share)
