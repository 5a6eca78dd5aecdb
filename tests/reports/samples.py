"""Results made by hand, so that reports are tested without a database."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from sqlaudit.audits.result import AuditResult, SensitiveSummary
from sqlaudit.base.result import Status, Timing, Warned
from sqlaudit.classes.failing import ClassSizes, FailingClass
from sqlaudit.models.base import Check

ROLES = {
    "quasi_identifiers": ["age", "sex"],
    "sensitive": ["disease"],
    "identifiers": [],
    "entity": None,
    "joint": False,
    "nulls": "equal",
}
SIZES = ClassSizes(((1, 3), (2, 1), (6, 2), (83, 1)))
"""100 rows in 7 classes; 5 rows in classes below 5."""


def check(model: str = "k_anonymity", **given: Any) -> Check:
    """A check; by default k-anonymity without a requirement."""
    base: dict[str, Any] = {
        "model": model,
        "sensitive": None,
        "parameters": {},
        "level": 1,
        "levels": {"k": 1},
        "operator": ">=",
    }
    return Check(**(base | given))


def failed_k() -> Check:
    """k = 1 where 5 is required."""
    return check(
        required=5,
        status=Status.FAIL,
        failing_classes=4,
        failing_rows=5,
        failing_share=0.05,
        text="k=5",
        title="k-anonymity",
    )


def failed_t() -> Check:
    """t just above its limit."""
    return check(
        "t_closeness",
        sensitive="disease",
        level=0.2004,
        levels={"t": 0.2004},
        operator="<=",
        required=Fraction(1, 5),
        status=Status.FAIL,
        failing_classes=1,
        failing_rows=6,
        failing_share=0.06,
        text="t=0.2",
        title="t-closeness",
    )


def held_l() -> Check:
    """Distinct l-diversity as required."""
    return check(
        "distinct_l_diversity",
        sensitive="disease",
        level=2,
        levels={"l": 2},
        required=2,
        status=Status.PASS,
        failing_classes=0,
        failing_rows=0,
        failing_share=0.0,
        text="l=2",
        title="distinct l-diversity",
    )


def infinite_delta() -> Check:
    """A figure that is infinite, with a second one beside it."""
    return check(
        "delta_disclosure_privacy",
        sensitive="disease",
        level=math.inf,
        operator="<",
        levels={"delta": math.inf, "delta_present": 2.5},
        note="delta_present leaves absent values out",
    )


def result(**given: Any) -> AuditResult:
    """An audit of 100 rows: k fails, t fails narrowly, l holds, δ is only reported."""
    base: dict[str, Any] = {
        "target": "patients.csv",
        "rows": 100,
        "engine": "DuckDB 2.0.0",
        "time": "2026-03-01T02:03:04+00:00",
        "roles": ROLES,
        "classes": SIZES,
        "checks": (failed_k(), failed_t(), held_l(), infinite_delta()),
        "sensitive": (SensitiveSummary("disease", 4, 0, "packed", False),),
        "warnings": (Warned("float_quasi_identifier", ("age",), "Column 'age' holds fractions."),),
        "failing": (FailingClass(1, 1, {"l": 1}, ("k=5",), "disease", None, 3),),
        "failing_total": 5,
        "statements": (Timing("classes", 0.5), Timing("figures", 0.25)),
        "versions": {"sqlaudit": "1.0.0", "engine": "DuckDB 2.0.0"},
        "columns": ("age", "sex", "disease"),
    }
    return AuditResult(**(base | given))


def empty(**given: Any) -> AuditResult:
    """An audit of no row at all."""
    undecided = check(level=None, levels={"k": None}, required=5, status=Status.UNDETERMINED, text="k=5")
    return result(
        **(
            {
                "rows": 0,
                "classes": ClassSizes(()),
                "checks": (undecided,),
                "failing": (),
                "failing_total": 0,
                "sensitive": (SensitiveSummary("disease", 0, 0, "packed", False),),
                "warnings": (),
            }
            | given
        )
    )
