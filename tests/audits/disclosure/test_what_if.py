"""Stated knowledge about named persons, on every engine: answers, refusals, and what never leaves."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.audits.disclosure.knowledge import load_knowledge
from sqlaudit.audits.disclosure.what_if import WhatIfResult
from sqlaudit.base.errors import InputError, UsageError
from sqlaudit.engines.contract import Engine
from sqlaudit.models.disclosure.witness import ContradictoryKnowledge
from tests.audit_values import values_query
from tests.audits.disclosure.tables import COLUMNS, rows_of
from tests.models.disclosure.strategies import cases
from tests.reports.schemas import validator

FIGURE_3 = rows_of([[2, 2, 1], [2, 1, 1, 1]])
PEOPLE = {"Charlie": {"room": 0}, "Ed": {"room": 0}, "Hannah": {"room": 1}}
FLU = "disease 000"
ROLES = {"qi": ["room"], "sensitive": "disease"}


def asked(
    engine: Engine, known: Mapping[str, Any], rows: Any = FIGURE_3, columns: Any = COLUMNS, **roles: Any
) -> WhatIfResult:
    return sqlaudit.what_if(query=values_query(rows, columns), db=engine, given=known, **(ROLES | roles))


def probability(engine: Engine, *knowledge: Mapping[str, Any], **roles: Any) -> Fraction:
    result = asked(engine, {"people": PEOPLE, "knowledge": list(knowledge), "ask": {"Charlie": FLU}}, **roles)
    validator("what-if").validate(result.to_dict())
    return result.answers[0].probability


@pytest.mark.parametrize(
    ("knowledge", "expected"),
    [
        ([], "2/5"),
        ([{"if": {"Hannah": FLU}, "then": {"Charlie": FLU}}], "10/19"),
        ([{"never": {"Charlie": "disease 001"}}], "2/3"),
        ([{"if": {"Charlie": "disease 001"}, "then": {"Charlie": FLU}}], "2/3"),
        ([{"then": {"Charlie": [FLU, "disease 002"]}}], "2/3"),
        ([{"then": [{"Charlie": FLU}, {"Charlie": "disease 002"}]}], "2/3"),
        ([{"if": {"Ed": FLU}, "then": {"Charlie": FLU}}], "4/7"),
        ([{"if": {"Ed": FLU, "Hannah": FLU}, "then": {"Charlie": FLU}}], "5/11"),
    ],
)
def test_answers(engine: Engine, knowledge: list[Mapping[str, Any]], expected: str) -> None:
    assert probability(engine, *knowledge) == Fraction(expected)


def test_the_cells_form_and_more_values(engine: Engine) -> None:
    known = {
        "people": PEOPLE,
        "knowledge": [{"if": {"Hannah": FLU}, "then": {"Charlie": FLU}}],
        "ask": {"Charlie": FLU},
    }
    result = asked(engine, known, rows_of([[2, 2, 1], [2, 1, 1, 1]], 60))
    assert result.answers[0].probability == Fraction(10, 19)
    assert (result.people, result.pieces, result.classes, result.knowledge) == (3, 1, 2, Fraction(19, 25))


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 2), st.integers(0, 2)), max_size=4))
@cases(20)
def test_answers_equal_a_count_of_all_tables(engine: Engine, facts: list[tuple[str, int, int]]) -> None:
    """One class with the values 0, 0, 1, 2 and the persons a, b, c: counted over all 24 orders."""
    from itertools import permutations

    rows = [{"room": 1, "disease": f"disease {value:03}"} for value in (0, 0, 1, 2)]
    people = {name: {"room": 1} for name in "abc"}
    knowledge = [
        {"if": {who: f"disease {left:03}"}, "then": {"c": f"disease {right:03}"}} for who, left, right in facts
    ]
    worlds = [dict(zip("abcd", order, strict=True)) for order in permutations((0, 0, 1, 2))]
    possible = [w for w in worlds if all(w[who] != left or w["c"] == right for who, left, right in facts)]
    if not possible:
        with pytest.raises(ContradictoryKnowledge):
            asked(engine, {"people": people, "knowledge": knowledge, "ask": {"c": "disease 000"}}, rows)
        return
    result = asked(engine, {"people": people, "knowledge": knowledge, "ask": {"c": "disease 000"}}, rows)
    assert result.answers[0].probability == Fraction(sum(w["c"] == 0 for w in possible), len(possible))


def test_persons_by_entity(engine: Engine) -> None:
    rows = [row | {"person": number} for number, row in enumerate(FIGURE_3)]
    columns = COLUMNS | {"person": "int"}
    known = {
        "people": {"Charlie": 4, "Hannah": 5},
        "ask": [{"Charlie": FLU}, {"Hannah": "disease 003"}],
        "knowledge": [{"if": {"Hannah": FLU}, "then": {"Charlie": FLU}}],
    }
    result = asked(engine, known, rows, columns, entity="person")
    assert [answer.probability for answer in result.answers] == [Fraction(10, 19), Fraction(5, 19)]
    assert [answer.prior for answer in result.answers] == [Fraction(2, 5), Fraction(1, 5)]
    with pytest.raises(UsageError, match="no one in the table matches"):
        asked(engine, known | {"people": {"Charlie": 4, "Hannah": 999}}, rows, columns, entity="person")
    with pytest.raises(UsageError, match="is listed under another name"):
        asked(engine, known | {"people": {"Charlie": 4, "Hannah": 4}}, rows, columns, entity="person")
    with pytest.raises(UsageError, match="by quasi-identifiers, or give entity="):
        asked(engine, known, rows, columns)


def test_keys_of_every_kind(engine: Engine) -> None:
    columns = {"n": "int", "x": "float", "d": "decimal", "t": "text", "b": "bool", "day": "date", "disease": "text"}
    one = {"n": 24, "x": 1.5, "d": "2.50", "t": "it's 100%", "b": "true", "day": "2020-02-29"}
    rows = [one | {"disease": value} for value in ("a", "a", "b")]
    rows += [dict.fromkeys(one) | {"disease": value} for value in ("a", "c", None)]
    written = {"n": "24", "x": "1.50", "d": "2.5", "t": "it's 100%", "b": "True", "day": "2020-02-29"}
    known = {"people": {"p": written, "q": dict.fromkeys(one)}, "ask": [{"p": "a"}, {"q": "c"}, {"q": None}]}
    result = asked(engine, known, rows, columns, qi=list(one))
    assert [str(answer.probability) for answer in result.answers] == ["2/3", "1/3", "1/3"]
    for changed, said in (
        ({"n": "abc"}, "has numbers"),
        ({"n": "1e40"}, "this number is not possible"),
        ({"t": "x"}, "no one in the table"),
    ):
        with pytest.raises(UsageError, match=said):
            asked(engine, known | {"people": {"p": written | changed, "q": written}}, rows, columns, qi=list(one))
    with pytest.raises(UsageError, match="exactly the quasi-identifiers: n, x"):
        asked(engine, known | {"people": {"p": {"n": 24}, "q": written}}, rows, columns, qi=list(one))


def test_rows_apart_by_a_missing_key_are_refused(engine: Engine) -> None:
    rows = [{"room": None, "disease": "a"}, {"room": 1, "disease": "b"}]
    known = {"people": {"p": {"room": None}}, "ask": {"p": "a"}}
    with pytest.raises(UsageError, match="a group of its own"):
        asked(engine, known, rows, nulls="distinct")


def test_several_sensitive_attributes(engine: Engine) -> None:
    rows = [row | {"doctor": "x"} for row in FIGURE_3]
    columns = COLUMNS | {"doctor": "text"}
    known = {"people": PEOPLE, "ask": {"Ed": FLU}}
    both = {"sensitive": ["doctor", "disease"]}
    with pytest.raises(UsageError, match="There are 2 sensitive columns"):
        asked(engine, known, rows, columns, **both)
    with pytest.raises(UsageError, match="is not named with sensitive="):
        asked(engine, known | {"sensitive": "age"}, rows, columns, **both)
    assert asked(engine, known | {"sensitive": "Disease"}, rows, columns, **both).answers[0].prior == Fraction(2, 5)


def test_refusals(engine: Engine) -> None:
    with pytest.raises(ContradictoryKnowledge, match="contradicts the table"):
        probability(engine, {"never": {"Ed": FLU}}, {"then": {"Ed": FLU}})
    with pytest.raises(UsageError, match="no row has this value of disease"):
        probability(engine, {"never": {"Ed": "plague"}})
    many = [{"if": {"Ed": f"disease {n:03}"}, "then": {"Charlie": f"disease {n:03}"}} for n in range(3)]
    with pytest.raises(UsageError, match="the limit is 2"):
        probability(engine, *many, terms=2)
    crowd = {f"p{number}": {"room": 0} for number in range(6)}
    with pytest.raises(UsageError, match="6 persons are named in a class that has 5 rows"):
        asked(engine, {"people": crowd, "ask": {"p0": FLU}, "knowledge": [{"never": {name: FLU}} for name in crowd]})


def test_nothing_is_repeated_unless_values_are_shown(engine: Engine) -> None:
    known = {"people": PEOPLE, "knowledge": [{"if": {"Hannah": FLU}, "then": {"Ed": FLU}}], "ask": {"Ed": FLU}}
    hidden = str(asked(engine, known).to_dict())
    assert "Hannah" not in hidden
    assert "disease 0" not in hidden
    shown = asked(engine, known, show_values=True).to_dict()["answers"][0]
    assert (shown["person"], shown["value"], shown["exact"]) == ("Ed", FLU, "10/19")


def test_what_was_written_is_bound_and_never_sql() -> None:
    import pyarrow as pa

    table = pa.Table.from_pylist([{"room": "kitchen", "disease": "flu"}, {"room": "kitchen", "disease": "cold"}])
    known = {"people": {"p": {"room": "kitchen"}}, "knowledge": [{"never": {"p": "cold"}}], "ask": {"p": "flu"}}
    result = sqlaudit.what_if(table, **ROLES, given=known)
    assert result.answers[0].probability == 1
    assert [t.name for t in result.statements if any(word in t.sql for word in ("kitchen", "flu", "cold"))] == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty. It needs 'people' and what to ask."),
        ("people: {a: {room: 0}}", "line 1: 'ask' is missing."),
        ("ask: {a: x}\nperson: {}", "line 2: unknown key 'person'. Known keys: people, knowledge, ask, sensitive."),
        ("people: {a: {room: 0}}\nask: {b: x}", "line 2: this person is not listed under 'people'."),
        ("people: {a: {room: 0}}\nask: []", "line 2: there is nothing to ask."),
        ("people: {a: {room: 0}}\nask: {a: x}\nknowledge:\n- if: {a: x}", "line 4: 'then' is missing. Statements"),
        ("people: {a: {room: 0}}\nask: {a: x}\nknowledge:\n- never: {}", "line 4: 'never' is empty."),
        (
            "people: {a: {room: 0}}\nask: {a: x}\nknowledge:\n- {never: {a: x}, then: {a: y}}",
            "line 4: 'never' cannot be combined",
        ),
        (
            "people: {a: {room: 0}}\nask: {a: x}\nknowledge:\n- never: {a: [x, y]}",
            "line 4: 'never' gives one person two values",
        ),
        ("people: {a: {room: 0}}\nask: {a: x}\nknowledge: {if: 1}", "line 3: 'knowledge' must be a list"),
        ("people: {a: {room: 0}, a: {room: 1}}\nask: {a: x}", "line 1: the same key is here twice."),
        ("people: {a: [1]}\nask: {a: x}", "line 1: a person takes single values here"),
    ],
)
def test_a_file_that_is_wrong_says_where(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "knowledge.yml"
    file.write_text(text)
    with pytest.raises(UsageError) as raised:
        load_knowledge(file)
    assert str(raised.value).startswith(str(file))
    assert said in str(raised.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_knowledge(tmp_path / "nothing.yml")
