"""Calls as users write them; mypy reads them (`files` in pyproject.toml), and no one runs them.

What is wrong is marked, and mypy says so where such a mark has become needless.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import sqlaudit
from sqlaudit import AuditResult, Limits, ReadOptions, Roles, SqlauditError


def right(frame: Any) -> AuditResult:
    """Everything that a signature takes."""
    found = sqlaudit.audit(frame, qi=["age"], sensitive="ill", require={"k": 5}, limits=Limits(threads=2))
    more = sqlaudit.audit("people.csv", qi="age,sex", require=["k=5"], read=ReadOptions(header=True), entity=None)
    exact = sqlaudit.columns(frame, tolerance=Fraction(1, 100), find="minimum").sets[0].columns
    made = sqlaudit.recode(frame, qi=("age",), require={"k": 2}, to=Path("release.csv"), roles=Roles(), beta="0.5")
    other = sqlaudit.compare(frame, "release.csv", qi=["age"]).losses
    try:
        sqlaudit.suppress(frame, qi="age", require=None, weights={"age": 2})
    except SqlauditError as error:
        print(error, exact, made.groups, other, more.passed, sqlaudit.__version__)
    return found


def wrong(frame: Any) -> None:
    """One thing each that no signature takes."""
    sqlaudit.audit(frame, qi=5)  # type: ignore[arg-type]
    sqlaudit.audit(frame, ["age"])  # type: ignore[call-arg]
    sqlaudit.audit(frame, quasi=["age"])  # type: ignore[call-arg]
    sqlaudit.audit(frame, joint="yes")  # type: ignore[arg-type]
    sqlaudit.recode(frame, seed="1")  # type: ignore[arg-type]
    sqlaudit.compare(frame)  # type: ignore[call-overload]
    print(sqlaudit.audit(frame).no_such_figure)  # type: ignore[attr-defined]
    sqlaudit.audits_of(frame)  # type: ignore[attr-defined]
