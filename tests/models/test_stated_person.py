"""What an attacker believes of one person of the population who is stated (Hsu, 3.1.3), with and without values."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from sqlaudit.audits.result import AuditResult
from sqlaudit.base.errors import UsageError
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.text import render_text
from tests.audit_values import values_query
from tests.conftest import AuditOn

KINDS = {"ten": "int", "s": "text"}
PEOPLE_KINDS = {**KINDS, "age": "int", "name": "text"}
ROWS = [{"ten": 3, "s": s} for s in ("flu", "flu", "flu", None)] + [{"ten": 4, "s": "HIV"}]
PEOPLE = [
    {"ten": age // 10, "s": s, "age": age, "name": name}
    for age, name, held in (
        (30, "O'Hara; --", ["flu", "flu", "flu", None, "cold"]),
        (35, None, ["flu", None, None, "HIV"]),
        (40, "Ann", ["HIV"]),
        (41, "Ann", ["flu", "HIV"]),
        (50, "Bob", ["flu"]),
    )
    for s in held
]


def told(audit_on: AuditOn, person: dict[str, Any], require: str = "belief=0.9", **request: Any) -> AuditResult:
    inputs = {
        "population": {"query": values_query(PEOPLE, PEOPLE_KINDS)},
        "original_qi": list(person),
        "person": person,
        **request.pop("inputs", {}),
    }
    return audit_on(ROWS, KINDS, qi=["ten"], sensitive="s", require=[require], inputs=inputs, **request)


def beliefs(result: AuditResult) -> list[tuple[Any, ...]]:
    return [tuple(one.values()) for one in result.checks[0].details["person"]]


def test_prior_and_posterior_exactly(audit_on: AuditOn) -> None:
    """3 rows with flu and 1 with none: 3·3/4 to 1·1/3; a cold, which the table does not know, is believed with 0."""
    wanted = [(1, Fraction(3, 5), Fraction(27, 31)), (3, Fraction(1, 5), Fraction(4, 31))]
    for person in ({"age": "30.0"}, {"name": "O'Hara; --"}, {"name": "O'Hara; --", "age": 30}):
        assert beliefs(told(audit_on, person)) == wanted
    shown = told(audit_on, {"age": 30}, show_values=True)
    assert beliefs(shown) == [(1, "flu", *wanted[0][1:]), (3, None, *wanted[1][1:])]
    missing = [
        (3, Fraction(1, 2), Fraction(8, 17)),
        (1, Fraction(1, 4), Fraction(9, 17)),
        (2, Fraction(1, 4), Fraction(0)),
    ]
    assert sorted(beliefs(told(audit_on, {"name": None}))) == sorted(missing)


def test_the_highest_of_all_persons_is_the_level(audit_on: AuditOn) -> None:
    results = [told(audit_on, {"age": age}) for age in (30, 35, 40, 41)]
    assert max(one[-1] for result in results for one in beliefs(result)) == results[0].checks[0].level == 1
    without = told(audit_on, {"age": 30}, inputs={"alpha": {"flu": 0}})
    assert [one[-1] for one in beliefs(without)] == [1, 0]
    contradicted = told(audit_on, {"age": 30}, "rho_breach=rho1:0.1,rho2:0.9", inputs={"alpha": {"flu": 0, None: 0}})
    assert [one[-1] for one in beliefs(contradicted)] == [None, None]


def test_the_report_names_values_only_when_it_may(audit_on: AuditOn) -> None:
    hidden = render_text(document_of(told(audit_on, {"age": 30})))
    assert "Beliefs about the stated person" in hidden
    assert "value 1" in hidden
    assert "87.1%" in hidden
    assert "flu" not in hidden
    result = told(audit_on, {"age": 30}, show_values=True)
    shown = render_text(document_of(result))
    assert "flu" in shown
    assert "(missing)" in shown
    (first, _) = json.loads(json.dumps(result.to_dict()))["checks"][0]["details"]["person"]
    assert first == {"rank": 1, "value": "flu", "prior": 0.6, "posterior": pytest.approx(27 / 31)}


@pytest.mark.parametrize(
    ("person", "words"),
    [
        ({"age": 99}, "no one in the population who is in a class of the table matches this person"),
        ({"name": "Bob"}, "no one in the population who is in a class of the table matches this person"),
        ({"age": "thirty"}, "age has numbers, and this is not a number"),
        ({"s": "flu"}, "people like this one are in 2 classes"),
    ],
)
def test_who_cannot_be_told_of(audit_on: AuditOn, person: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as raised:
        told(audit_on, person)
    assert words in str(raised.value)
    assert not any(str(value) in str(raised.value) for value in person.values())


def test_a_person_is_named_by_all_original_columns(audit_on: AuditOn) -> None:
    with pytest.raises(UsageError, match="exactly the columns of 'original_qi': age, name"):
        told(audit_on, {"age": 30}, inputs={"original_qi": ["age", "name"]})
