"""A test against its accepted state: worse, better, the same, or new. Pure; levels are compared exactly."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from sqlaudit.base.result import Number
from sqlaudit.gates.result import Change, Drift, GateTest, Outcome

FLOAT_TIE = 1e-9
"""Floats of one table agree between engines to 1e-12, so nearer than this is no drift."""
_FALLS_SHORT = (Outcome.FAIL, Outcome.WARN, Outcome.EXCEPTED, Outcome.ACCEPTED)


@dataclass(frozen=True)
class Accepted:
    """What was accepted of a test: the numbers that may not get worse.

    `level` is an exact text; `sets` are the column sets beyond their limit, with the rows at risk in each.
    """

    falls_short: bool
    level: str | None
    failing_classes: int | None
    failing_rows: int | None
    rows: int | None
    sets: tuple[tuple[tuple[str, ...], int], ...] = ()


def accepted_from(test: GateTest) -> Accepted | None:
    """What a test's result would be as an accepted state; None when it says nothing that could be accepted."""
    if test.check is None or test.outcome in (Outcome.ERROR, Outcome.UNDETERMINED, Outcome.SKIPPED):
        return None
    check = test.check
    short = bool(check.failing_rows) or test.outcome in _FALLS_SHORT
    sets = tuple((one.columns, one.at_risk) for one in test.sets)
    return Accepted(short, exact_text(check.level), check.failing_classes, check.failing_rows, test.rows, sets)


def settled(test: GateTest, before: Accepted | None) -> GateTest:
    """The test with its drift: a failing one that did not get worse is accepted."""
    now = accepted_from(test)
    if now is None:
        return test
    if before is None:
        said = "It has no accepted state." if test.outcome in (Outcome.FAIL, Outcome.WARN) else ""
        return replace(test, change=Change(Drift.NEW, said))
    worse, better = list(_moves(test, before, now, worse=True)), list(_moves(test, before, now, worse=False))
    if test.outcome is Outcome.FAIL and not before.falls_short and not worse:
        worse = ["it held, and does not hold now"]  # whatever its figures say or leave open
    drift = Drift.WORSE if worse else Drift.BETTER if better else Drift.SAME
    said = _sentence(worse or better)
    tolerated = test.outcome in (Outcome.FAIL, Outcome.WARN) and drift is not Drift.WORSE
    outcome = Outcome.ACCEPTED if tolerated else test.outcome
    return replace(test, change=Change(drift, said), outcome=outcome)


def _sentence(moves: list[str]) -> str:
    said = "; ".join(moves)
    return f"{said[0].upper()}{said[1:]}." if said else ""


def _moves(test: GateTest, before: Accepted, now: Accepted, *, worse: bool) -> Iterator[str]:
    """What moved in one direction, in words."""
    assert test.check is not None
    if test.check.model == "column_sets":
        yield from _set_moves(before, now, test.unit, worse=worse)
        return
    sign = 1 if test.check.operator in (">=", ">") else -1
    step = _compared(now.level, before.level) * sign
    if step and (step < 0) is worse:
        yield f"the level was {before.level} and is {now.level}"
    old, new = before.failing_rows, now.failing_rows
    if old is not None and new is not None and old != new and (new > old) is worse:
        yield f"{old:,} rows fell short and {new:,} do"


def _set_moves(before: Accepted, now: Accepted, unit: str, *, worse: bool) -> Iterator[str]:
    """Sets that were not beyond the limit before, and sets that put more (or fewer) people at risk."""
    old, new = dict(before.sets), dict(now.sets)
    if worse:
        for columns in new:
            if not any(set(columns) >= set(known) for known in old):
                yield f"the column set {', '.join(columns)} is beyond the limit now"
    else:
        for columns in old:
            if not any(set(columns) >= set(known) for known in new):
                yield f"the column set {', '.join(columns)} keeps the limit now"
    for columns in new.keys() & old.keys():
        if new[columns] != old[columns] and (new[columns] > old[columns]) is worse:
            yield f"{', '.join(columns)} put {old[columns]:,} {unit} at risk and puts {new[columns]:,}"


def exact_text(level: Number | None) -> str | None:
    """A level as a text that gives it back exactly: `5`, `3/7`, `2.8284271247461903`, `inf`.

    Example:
        >>> exact_text(Fraction(6, 14)), exact_text(5), exact_text(None)
        ('3/7', '5', None)
    """
    if level is None:
        return None
    return repr(level) if isinstance(level, float) else str(Fraction(level))


def number_of(text: str) -> Number:
    """The level of a text."""
    return float(text) if any(c in text for c in ".einf") else Fraction(text)


def _compared(now: str | None, before: str | None) -> int:
    """-1, 0 or 1: now below, as, or above before. An undefined level compares with nothing."""
    if now is None or before is None:
        return 0
    first, second = number_of(now), number_of(before)
    floats = isinstance(first, float) or isinstance(second, float)
    if floats and math.isclose(first, second, rel_tol=FLOAT_TIE, abs_tol=FLOAT_TIE):
        return 0
    return (first > second) - (first < second)


def sets_text(accepted: Accepted) -> str:
    """The column sets as JSON."""
    return json.dumps([[list(columns), rows] for columns, rows in accepted.sets])


def sets_of(text: str) -> tuple[tuple[tuple[str, ...], int], ...]:
    """The column sets of a JSON text."""
    return tuple((tuple(columns), int(rows)) for columns, rows in json.loads(text))
