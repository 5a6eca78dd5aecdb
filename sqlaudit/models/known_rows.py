"""Two checks of one requirement, of which the worse is the verdict: for who knows one row of a person and for who knows
all of them; of values as they are written and however they are spelled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlaudit.base.spec import KnownRows
from sqlaudit.models.base import Model
from sqlaudit.models.check import WORST_FIRST, ByKnownRows, Check, OfKnownRows
from sqlaudit.models.judge import compares


def worse_checks(one: Sequence[Check], every: Sequence[Check]) -> tuple[Check, ...]:
    """The checks of `one`, each with its counterpart in `every`, where it has one; the worse of both stands.

    Args:
        one: for somebody who knows one row of a person. every: for somebody who knows all of them.
    """
    others = {_of(check): check for check in every}
    return tuple(_worse(check, others[_of(check)]) if _of(check) in others else check for check in one)


def worse_of(
    these: Sequence[Check], others: Sequence[Check], told: Callable[[Check, Check], Check]
) -> tuple[Check, ...]:
    """The checks, in place of each whose counterpart has the worse verdict what is told of both."""
    found = {_of(check): check for check in others if check.status is not None}
    return tuple(
        told(check, found[_of(check)]) if _of(check) in found and _worse_verdict(found[_of(check)], check) else check
        for check in these
    )


def of_values_alone(model: Model) -> bool:
    """Whether it is about sensitive values, and users named none of these to it."""
    named = model.needs or model.needs_order
    return model.needs_sensitive and not named and not model.own_statements


def _worse_verdict(this: Check, other: Check) -> bool:
    return WORST_FIRST.index(this.status) < WORST_FIRST.index(other.status)


def _of(check: Check) -> tuple[str, str | None, str, tuple[tuple[str, object], ...]]:
    return check.model, check.sensitive, check.text, tuple(sorted(check.parameters.items()))


def _worse(one: Check, every: Check) -> Check:
    worse = KnownRows.ALL if _is_worse(every, one) else KnownRows.ONE
    both = ByKnownRows(worse, _told(one), _told(every))
    return replace(every if worse is KnownRows.ALL else one, known_rows=both)


def _is_worse(this: Check, other: Check) -> bool:
    """Whether a check is worse than another one of the same requirement: by verdict, then by level."""
    if this.status is not other.status:
        return _worse_verdict(this, other)
    if this.level is None or other.level is None or this.level == other.level:
        return this.level is None and other.level is not None
    return not compares(this.level, ">=" if this.operator in (">=", ">") else "<=", other.level)


def _told(check: Check) -> OfKnownRows:
    return OfKnownRows(check.level, check.status, check.failing_classes, check.failing_rows, check.failing_share)
