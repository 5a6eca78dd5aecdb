"""The disclosure of tables on every engine: curve, failing and weakest classes, witnesses with and without values."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.audits.disclosure.attribute import Disclosure
from sqlaudit.audits.disclosure.request import DisclosureRequest
from sqlaudit.audits.disclosure.results import DisclosureResult
from sqlaudit.audits.disclosure.run import find_disclosure
from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import request_from
from sqlaudit.base.spec import NullPolicy, Roles, Target
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.models.disclosure.witness import probability_of_none
from tests.audit_values import values_query
from tests.audits.disclosure.tables import CHECKED, COLUMNS, Classes, fractions, rows_of
from tests.models.disclosure import oracle
from tests.models.disclosure.strategies import bucketizations, cases
from tests.reports.schemas import validator

ROLES = Roles(("room",), ("disease",))


def disclosed(
    engine: Engine, rows: list[dict[str, Any]], roles: Roles = ROLES, columns: dict[str, str] = COLUMNS, **asked: Any
) -> DisclosureResult:
    target = Target(query=values_query(rows, columns))
    return find_disclosure(engine, request_from(DisclosureRequest, asked, target=target, roles=roles))


def number_of(value: str) -> int:
    return int(value.rsplit(maxsplit=1)[-1])


@pytest.mark.parametrize(("classes", "maximum", "negated"), CHECKED)
@pytest.mark.parametrize("further", [0, 60], ids=["packed", "cells"])
def test_checked_rows(engine: Engine, classes: Classes, maximum: str, negated: str, further: int) -> None:
    expected = fractions(maximum)
    last = len(expected) - 1
    result = disclosed(engine, rows_of(classes, further), knowledge=last, threshold=Fraction(6, 10), witness="worst")
    [found] = result.attributes
    assert found.form == ("cells" if further else "packed")
    assert result.disclosure.curve == expected
    assert result.disclosure.negation_curve == fractions(negated)
    assert found.threshold_k == next(k for k, value in enumerate(expected) if value >= Fraction(6, 10))
    assert found.witness is not None
    assert found.witness.witness.k == found.threshold_k
    validator("disclosure").validate(result.to_dict())


def test_classes_that_fail_for_every_k(engine: Engine) -> None:
    classes = [[3, 1, 1, 1], [5, 5, 5, 5], [5, 5, 5, 5]]
    result = disclosed(engine, rows_of(classes), knowledge=3, threshold=Fraction(7, 10))
    failing = [(item.k, item.classes, item.rows) for item in result.attributes[0].failing]
    assert failing[:2] == [(0, 0, 0), (1, 1, 6)]
    assert failing[3] == (3, 3, 46)
    by_hand = [result.disclosure.failing(Decimal("0.7"), k) for k in range(4)]
    assert [(item.classes, item.rows) for item in by_hand] == [each[1:] for each in failing]


def test_weakest_classes_are_named_only_when_values_may_be_shown(engine: Engine) -> None:
    rows = rows_of([[3, 1, 1, 1], [5, 5, 5, 5], [1, 1, 1, 3]])
    hidden = disclosed(engine, rows, knowledge=1, weakest=2).attributes[0]
    assert (hidden.weakest_k, [(w.classes, w.size, w.disclosure, w.keys) for w in hidden.weakest]) == (
        1,
        [(2, 6, Fraction(5, 7), ()), (1, 20, hidden.weakest[1].disclosure, ())],
    )
    shown = disclosed(engine, rows, knowledge=1, weakest=1, show_values=True).attributes[0]
    assert shown.weakest[0].keys == ({"room": 0}, {"room": 2})
    assert [values[0] for values in shown.weakest[0].values] == ["disease 000", "disease 003"]


@pytest.mark.parametrize("further", [0, 60], ids=["packed", "cells"])
def test_a_witness_names_persons_and_values_of_the_table(engine: Engine, further: int) -> None:
    rows = rows_of([[2, 2, 1], [1, 2, 1, 1]], further)
    hidden = disclosed(engine, rows, knowledge=1, witness=1).to_dict()["disclosure"]["witness"]
    assert hidden["sentences"] == [
        "Person 1 of group 1 does not have its value of rank 2.",
        "Then person 1 of group 1 has its most frequent value with probability 2/3.",
    ]
    assert hidden["classes"] == [{"class": 1, "size": 5, "key": None}]
    shown = disclosed(engine, rows, knowledge=1, witness=1, show_values=True)
    witness = shown.to_dict()["disclosure"]["witness"]
    assert witness["sentences"] == [
        "Person 1 of group 1 does not have 'disease 001'.",
        "Then person 1 of group 1 has 'disease 000' with probability 2/3.",
    ]
    assert witness["classes"] == [{"class": 1, "size": 5, "key": {"room": 0}}]
    assert witness["consequent"] == {"class": 1, "person": 1, "rank": 1, "value": "disease 000"}
    assert witness["checked"] is True


@given(bucketizations(classes=4, values=5, count=4), st.integers(0, 4))
@cases(25)
def test_a_named_witness_holds_in_the_table_itself(engine: Engine, classes: Classes, k: int) -> None:
    """The probability follows from the rows of the named classes alone: keys and values are the right ones."""
    rows = rows_of([*classes, *classes])
    result = disclosed(engine, rows, knowledge=k, witness=k, show_values=True)
    [found] = result.attributes
    shown = found.witness
    assert shown is not None
    assert result.disclosure.curve[k] == oracle.maximum(classes * 2, k)
    rooms = [place.key["room"] for place in shown.places]
    assert len(set(rooms)) == len(rooms)
    counts = [Counter(number_of(row["disease"]) for row in rows if row["room"] == room) for room in rooms]
    data = shown.to_dict()
    target = data["consequent"]
    denied = {(target["class"], target["person"]): {number_of(target["value"])}}
    for implication in data["implications"]:
        atom = implication["if"]
        denied.setdefault((atom["class"], atom["person"]), set()).add(number_of(atom["value"]))
    none = Fraction(1)
    for number, count in enumerate(counts, 1):
        persons = [frozenset(values) for (where, _), values in denied.items() if where == number]
        none *= probability_of_none(count.total(), dict(count), persons)
    chance = Fraction(counts[target["class"] - 1][number_of(target["value"])], counts[target["class"] - 1].total())
    assert chance / (chance + none) == result.disclosure.curve[k]


def test_classes_with_missing_keys_and_values(engine: Engine) -> None:
    rows = [{"room": room, "disease": value} for room in (1, None) for value in ("a", "a", None)]
    result = disclosed(engine, rows, knowledge=1, witness=0, show_values=True)
    assert result.disclosure.curve == (Fraction(2, 3), 1)
    weak = result.attributes[0].weakest[0]
    assert weak.keys == ({"room": 1}, {"room": None})
    assert weak.values == (("a", None), ("a", None))
    apart = disclosed(engine, rows, Roles(("room",), ("disease",), nulls=NullPolicy.DISTINCT), knowledge=0)
    assert apart.disclosure.curve == (1,)
    assert apart.disclosure.signatures.classes == 4


def test_several_attributes_each_on_its_own(engine: Engine) -> None:
    rows = [row | {"doctor": "x"} for row in rows_of([[2, 1, 1]])]
    columns = COLUMNS | {"doctor": "text"}
    result = disclosed(engine, rows, Roles(("room",), ("disease", "doctor")), columns, knowledge=1)
    assert [found.curve for found in result.disclosures] == [fractions("1/2 3/4"), fractions("1 1")]
    joint = disclosed(engine, rows, Roles(("room",), ("doctor", "disease"), joint=True), columns, knowledge=0)
    assert [found.signatures.classes for found in joint.disclosures] == [3, 1]


def test_persons_are_counted_once(engine: Engine) -> None:
    rows = [{"room": 1, "disease": "ab"[person > 1], "person": person} for person in range(4) for _ in range(2)]
    columns = COLUMNS | {"person": "int"}
    roles = Roles(("room",), ("disease",), entity="person")
    result = disclosed(engine, rows, roles, columns, knowledge=0)
    assert (result.disclosure.curve, result.disclosure.signatures.rows, result.rows) == ((Fraction(1, 2),), 4, 8)
    with pytest.raises(UsageError, match="one group and one value of disease for each person, but 1 person has more"):
        disclosed(engine, [*rows, {"room": 2, "disease": "a", "person": 0}], roles, columns)


def test_an_empty_table_is_undetermined(engine: Engine) -> None:
    result = disclosed(engine, [], knowledge=2, threshold=Fraction(1, 2), witness="worst")
    assert (result.rows, result.disclosure.curve, result.attributes[0].witness) == (0, (), None)
    validator("disclosure").validate(result.to_dict())


def test_more_pieces_than_values(engine: Engine) -> None:
    result = disclosed(engine, rows_of([[2, 1, 1]]), knowledge=50, witness=50)
    assert result.disclosure.curve == fractions("1/2 3/4") + (Fraction(1),) * 49
    assert result.attributes[0].witness is not None
    assert result.attributes[0].witness.witness.k == 50


@pytest.mark.parametrize(
    ("roles", "asked", "said"),
    [
        (Roles((), ("disease",)), {}, "No quasi-identifiers are named"),
        (Roles(("room",)), {}, "No sensitive column is named"),
        (Roles(("room",), ("disease",), nulls=NullPolicy.WILDCARD), {}, "is not defined with nulls='wildcard'"),
        (ROLES, {"knowledge": 201}, "0..201 are out of range. They must ascend"),
        (ROLES, {"knowledge": (4, 3)}, "4..3 are out of range. They must ascend"),
        (ROLES, {"witness": 13}, "for k = 13 is outside the curve, which ends at 12"),
        (ROLES, {"threshold": Fraction(3, 2)}, "the threshold is 3/2, it must be from 0 to 1"),
        (ROLES, {"threshold": 0}, "The threshold 0 is out of range. It must be above 0"),
    ],
)
def test_what_has_no_meaning_is_refused(roles: Roles, asked: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        request_from(DisclosureRequest, asked, target=Target(query="SELECT 1 AS room"), roles=roles)


def test_statements_hold_no_value_of_the_table() -> None:
    target = Target(frame=pa.Table.from_pylist(rows_of([[2, 2, 1], [2, 1, 1, 1]])))
    with connect(None, None, target) as engine:
        find_disclosure(engine, DisclosureRequest(target, ROLES, witness="worst", show_values=True))
        ran = engine.executed
    assert "classes of signatures" in {done.name for done in ran}
    assert [done.name for done in ran if "disease 0" in done.sql] == []


def test_rows_apart_by_missing_keys_are_named(engine: Engine) -> None:
    rows = [{"room": room, "disease": value} for room, value in ((1, "a"), (1, "b"), (None, "c"), (None, "d"))]
    roles = Roles(("room",), ("disease",), nulls=NullPolicy.DISTINCT)
    result = disclosed(engine, rows, roles, knowledge=0, weakest=1, show_values=True)
    [weak] = result.attributes[0].weakest
    assert (weak.classes, weak.keys) == (2, ({"room": None}, {"room": None}))
    assert sorted(weak.values) == [("c",), ("d",)]


def test_persons_in_named_classes(engine: Engine) -> None:
    rows = [{"room": 1, "disease": "ab"[person > 2], "person": person} for person in range(4) for _ in range(2)]
    roles = Roles(("room",), ("disease",), entity="person")
    result = disclosed(engine, rows, roles, COLUMNS | {"person": "int"}, knowledge=0, show_values=True)
    [weak] = result.attributes[0].weakest
    assert (weak.size, weak.largest, weak.values) == (4, (3,), (("a",),))


def test_the_python_call_takes_exact_thresholds_only() -> None:
    table = pa.Table.from_pylist(rows_of([[2, 2, 1], [2, 1, 1, 1]]))
    result = sqlaudit.disclosure_curve(
        table, qi=["room"], sensitive="disease", knowledge=2, threshold=Decimal("0.6"), witness=1
    )
    assert (result.disclosure.curve, result.attributes[0].threshold_k) == (fractions("2/5 2/3 1"), 1)
    assert result.disclosure.witness(2).probability == 1
    with pytest.raises(UsageError, match="is a float"):
        sqlaudit.disclosure_curve(table, qi=["room"], sensitive="disease", threshold=0.6)  # type: ignore[arg-type]


def test_the_index_of_a_table_follows_its_growth() -> None:
    """Rows come with values that the table did not have: the index says what a new question would."""
    rooms = {"a": list("xxy"), "b": list("xyy"), "c": list("xy")}

    def asked() -> Disclosure:
        rows = [(room, value) for room, values in rooms.items() for value in values]
        frame = pd.DataFrame(rows, columns=["room", "disease"])
        return sqlaudit.disclosure_curve(frame, qi=["room"], sensitive="disease", knowledge=4, weakest=0).disclosure

    def counts(room: str) -> list[int]:
        return list(Counter(rooms[room]).values())

    index = asked().index()
    assert index.curve.points == asked().points
    for room, come in (("a", "yzuvwqq"), ("b", "zzuvwq"), ("c", "zuvwq")):
        before = counts(room)
        rooms[room] += come
        index.replace(removed=[before], added=[counts(room)])
        assert index.curve.points == asked().points
    rooms["d"] = list("pqrs")
    index.replace(added=[counts("d")])
    assert tuple(point.maximum for point in index.curve.points) == asked().curve
    assert asked().curve[1] == Fraction(1, 3)
