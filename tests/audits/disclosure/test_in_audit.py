"""The curve that an audit carries, on every engine and in both physical forms."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from sqlaudit.audits.result import AuditResult
from sqlaudit.base.errors import UsageError
from sqlaudit.base.result import Status
from tests.audits.disclosure.tables import CHECKED, COLUMNS, Classes, fractions, rows_of
from tests.reports.schemas import validator

AuditOn = Callable[..., AuditResult]


@pytest.mark.parametrize(("classes", "maximum", "negated"), CHECKED)
@pytest.mark.parametrize("further", [0, 60], ids=["packed", "cells"])
def test_checked_rows(audit_on: AuditOn, classes: Classes, maximum: str, negated: str, further: int) -> None:
    expected = fractions(maximum)
    result = audit_on(
        rows_of(classes, further),
        COLUMNS,
        qi=["room"],
        sensitive="disease",
        require=[f"disclosure@{len(expected) - 1}=0.6"],
    )
    assert result.sensitive[0].form == ("cells" if further else "packed")
    assert result.disclosure is not None
    assert result.disclosure.curve == expected
    assert result.disclosure.negation_curve == fractions(negated)
    assert [result.disclosure.witness(k).confirmed for k in range(len(expected))] == list(expected)


def test_the_curve_reaches_to_the_most_pieces_asked_for(audit_on: AuditOn) -> None:
    result = audit_on(
        rows_of([[2, 1, 1]]), COLUMNS, qi=["room"], sensitive="disease", require=["disclosure@1=0.8", "disclosure@5=1"]
    )
    assert result.disclosure is not None
    assert result.disclosure.curve == fractions("1/2 3/4 1 1 1 1")
    assert [(check.level, check.status) for check in result.checks] == [(Fraction(3, 4), Status.PASS), (1, Status.FAIL)]
    assert result.disclosure.witness(5).probability == 1
    assert result.disclosure.witness(5).k == 5


def test_json_has_the_curve(audit_on: AuditOn) -> None:
    rows = [row | {"doctor": row["disease"][-1]} for row in rows_of([[2, 2, 1], [2, 1, 1, 1]])]
    result = audit_on(
        rows, COLUMNS | {"doctor": "text"}, qi=["room"], sensitive=["disease", "doctor"], require=["disclosure@1=1"]
    )
    data = result.to_dict()
    validator("audit").validate(data)
    assert data["disclosure"]["curve"] == [
        {"k": 0, "maximum": 0.4, "exact": "2/5", "negated": 0.4, "negated_exact": "2/5"},
        {"k": 1, "maximum": 2 / 3, "exact": "2/3", "negated": 2 / 3, "negated_exact": "2/3"},
    ]
    assert [listed["sensitive"] for listed in data["disclosures"]] == ["disease", "doctor"]


def test_without_the_model_there_is_no_curve(audit_on: AuditOn) -> None:
    result = audit_on(rows_of([[2, 1, 1]]), COLUMNS, qi=["room"], sensitive="disease", require=["k=2"])
    assert result.disclosure is None
    assert "disclosure" not in result.to_dict()


def test_nothing_required_reports_three_pieces(audit_on: AuditOn) -> None:
    result = audit_on(rows_of([[2, 1, 1]]), COLUMNS, qi=["room"], sensitive="disease")
    assert result.disclosure is not None
    assert result.disclosure.curve == fractions("1/2 3/4 1 1")


def test_an_empty_table_has_an_empty_curve(audit_on: AuditOn) -> None:
    result = audit_on([], COLUMNS, qi=["room"], sensitive="disease", require=["disclosure@2=0.5"])
    assert result.checks[0].status is Status.UNDETERMINED
    assert result.disclosure is not None
    assert result.disclosure.curve == ()
    assert result.disclosure.smallest_certain_k is None
    with pytest.raises(UsageError, match="no rows"):
        result.disclosure.witness(0)


def test_a_single_value_is_certain_without_any_knowledge(audit_on: AuditOn) -> None:
    result = audit_on(rows_of([[3], [2]]), COLUMNS, qi=["room"], sensitive="disease", require=["disclosure@2=0.5"])
    assert result.disclosure is not None
    assert result.disclosure.curve == (1, 1, 1)
    assert result.disclosure.witness(0).implications == ()
    assert (result.checks[0].failing_classes, result.checks[0].failing_rows) == (2, 5)
