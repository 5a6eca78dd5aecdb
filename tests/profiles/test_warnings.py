"""The warnings of an audit: their codes, columns and counts, on every engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import sqlaudit
from sqlaudit.base.result import Warned
from sqlaudit.base.spec import Roles, Target
from sqlaudit.classes.failing import ClassSizes
from sqlaudit.classes.opening import resolve_roles
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.warnings import audit_warnings, warning_statements
from tests.audit_values import values_query

KINDS = {
    "age": "int",
    "sex": "text",
    "wage": "float",
    "disease": "text",
    "mail": "text",
    "who": "text",
    "patient_id": "int",
}


def warned(
    engine: Engine,
    rows: Sequence[Sequence[Any]],
    roles: Roles,
    kinds: dict[str, str],
    classes: ClassSizes | None = None,
    whole: int | None = None,
) -> list[Warned]:
    """The warnings for rows on an engine."""
    query = values_query([dict(zip(kinds, row, strict=True)) for row in rows], kinds)
    relation = engine.open(Target(query=query))
    return audit_warnings(engine, relation, resolve_roles(roles, relation, engine), classes, whole)


def only(engine: Engine, column: str, kind: str, values: Sequence[Any], **more: Any) -> dict[str, str]:
    """Messages by code for a table of one quasi-identifier."""
    found = warned(engine, [(value,) for value in values], Roles((column,)), {column: kind}, **more)
    assert all(warning.columns == (column,) for warning in found)
    return {warning.code: warning.message for warning in found}


def test_a_plain_table_gives_no_warning(engine: Engine) -> None:
    rows = [(30, "f"), (30, "m"), (40, "f"), (40, "m")] * 3
    assert warned(engine, rows, Roles(("age", "sex")), {"age": "int", "sex": "text"}) == []
    assert warned(engine, [], Roles(("age",), ("sex",)), {"age": "int", "sex": "text"}) == []


def test_values_that_differ_in_case_or_spaces(engine: Engine) -> None:
    said = only(engine, "sex", "text", ["f", "F", "f ", "m", None])
    assert said == {
        "spelling_variants": "sex: 2 values differ from another one only in case or spaces, which splits groups that "
        "belong together."
    }


def test_a_column_of_persons_that_says_who_they_are(engine: Engine) -> None:
    """By its values or its name; a number or a UUID of a person only tells persons apart."""

    def identifying(column: str, kind: str, values: Sequence[Any]) -> list[tuple[str, ...]]:
        rows = [(value, place % 2) for place, value in enumerate(values)]
        found = warned(engine, rows, Roles(("at",), entity=column), {column: kind, "at": "int"})
        return [one.columns for one in found if one.code == "possible_direct_identifier"]

    assert identifying("who", "text", [f"ann{n}@example.org" for n in range(4)]) == [("who",)]
    assert identifying("email", "text", [f"u{n}" for n in range(4)]) == [("email",)]
    assert identifying("ssn", "int", range(4)) == [("ssn",)]
    assert identifying("patient_id", "int", range(4)) == []
    assert identifying("patient_id", "text", [f"p{n}" for n in range(4)]) == []
    assert identifying("who", "text", [f"00000000-0000-4000-8000-{n:012}" for n in range(12)]) == []


def test_a_nearly_unique_quasi_identifier(engine: Engine) -> None:
    values = [*range(100, 127), 100, 101, 102]
    said = only(engine, "zip", "int", values)
    assert said["nearly_unique_quasi_identifier"] == (
        "zip has 27 different values in 30 rows with a value. On its own it singles out almost every row. Round or "
        "group it, or leave it out."
    )
    assert only(engine, "zip", "int", [*values, 103]) == {}
    assert only(engine, "zip", "int", range(9)) == {}


def test_few_classes_prove_that_no_column_is_nearly_unique(engine: Engine) -> None:
    values = range(1000, 1030)
    assert "nearly_unique_quasi_identifier" in only(engine, "zip", "int", values, classes=ClassSizes(((1, 30),)))
    assert only(engine, "zip", "int", values, classes=ClassSizes(((1, 20), (10, 1)))) == {}


def test_a_floating_point_quasi_identifier(engine: Engine) -> None:
    assert list(only(engine, "wage", "float", [1.5, 2.0, 1.5])) == ["float_quasi_identifier"]
    assert only(engine, "wage", "float", [1.0, 2.0, None]) == {}
    assert only(engine, "wage", "decimal", ["1.5", "2"]) == {}


def test_direct_identifiers_among_the_published_columns(engine: Engine) -> None:
    rows = [
        (30 + i % 3, "f", 1.0, "flu", f"p{i}@example.org", f"Ann Miller{'abcdefghijkl'[i]}", 7 * i) for i in range(12)
    ]
    named = Roles(("age", "sex"), ("disease",), identifiers=("mail",))
    found = warned(engine, rows, named, KINDS)
    assert [(w.code, w.columns) for w in found] == [
        ("direct_identifier", ("mail",)),
        ("possible_direct_identifier", ("who", "patient_id")),
        ("columns_without_role", ("wage", "who", "patient_id")),
    ]
    assert found[0].message.startswith("mail is a direct identifier in the table. Leave it out")
    assert found[1].message.startswith("who and patient_id look like direct identifiers. ")
    unnamed = warned(engine, rows, Roles(("age", "mail"), entity="patient_id"), KINDS)
    assert {w.code: w.columns for w in unnamed} == {
        "possible_direct_identifier": ("mail", "who"),
        "columns_without_role": ("sex", "wage", "disease", "who"),
        "nearly_unique_quasi_identifier": ("mail",),
    }
    assert not any("example" in w.message or "Miller" in w.message for w in [*found, *unnamed])


def test_of_large_tables_the_first_rows_are_looked_at(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlaudit.profiles.warnings.FIRST_ROWS", 20)
    said = only(engine, "sex", "text", ["f", "F"] * 15, whole=30)
    assert "1 value differs from another one only in case or spaces (in the first 20 rows)" in said["spelling_variants"]
    unique = only(engine, "zip", "int", range(1, 3001, 100), whole=30)
    assert "zip has about 30 different values in about 30 rows" in unique["nearly_unique_quasi_identifier"]
    # one pair among 20 rows speaks of some two hundred values
    assert only(engine, "zip", "int", [*range(19), 0, *range(1000)], whole=1000000) == {}


def test_expressions_and_strange_names(engine: Engine) -> None:
    kinds = {"select": "text", 'a "b"': "text", "age": "int"}
    found = warned(engine, [("x", "y", 31), ("X", "y", 34)], Roles(("select", 'a "b"', "age / 10.0")), kinds)
    assert [(w.code, w.columns) for w in found] == [
        ("read_by_expressions", ("age",)),
        ("spelling_variants", ("select",)),
    ]


def test_it_takes_one_statement(engine: Engine) -> None:
    relation = engine.open(Target(query=values_query([{"age": 1, "mail": "a"}], {"age": "int", "mail": "text"})))
    roles = resolve_roles(Roles(("age",)), relation, engine)
    before = len(engine.executed)
    audit_warnings(engine, relation, roles)
    ran = [done.sql for done in engine.executed[before:]]
    assert ran == [statement.sql for statement in warning_statements(engine, relation, roles)]
    assert len(ran) == 1


def test_an_audit_carries_its_warnings(engine: Engine) -> None:
    kinds = {"age": "int", "sex": "text", "mail": "text", "disease": "text"}
    rows = [(30, "f" if i else "F", f"p{i}@example.org", "flu") for i in range(12)]
    query = values_query([dict(zip(kinds, row, strict=True)) for row in rows], kinds)
    result = sqlaudit.audit(query=query, db=engine, qi=["age", "sex"], sensitive="disease", require={"k": 2})
    assert [(w.code, w.columns) for w in result.warnings] == [
        ("possible_direct_identifier", ("mail",)),
        ("columns_without_role", ("mail",)),
        ("spelling_variants", ("sex",)),
    ]
    assert [w["code"] for w in result.to_dict()["warnings"]] == [w.code for w in result.warnings]
    assert [statement.name for statement in result.statements].count("warnings") == 1
    assert (result.passed, result.status.value) == (False, "fail")


def test_rows_that_a_condition_leaves_out_are_said_under_the_verdict(engine: Engine) -> None:
    """Of four rows one is alone; without it the table passes, and the report must not pass for one of all rows."""
    rows = [{"age": age, "sex": "m"} for age in (30, 30, 30, 70)]
    query = values_query(rows, {"age": "int", "sex": "text"})
    require = ["k=3"]
    whole = sqlaudit.audit(query=query, qi=["age", "sex"], require=require, db=engine)
    some = sqlaudit.audit(query=query, where="age < 50", qi=["age", "sex"], require=require, db=engine)
    assert [one.status.value for one in (*whole.checks, *some.checks)] == ["fail", "pass"]
    said = "Only rows that meet a condition were read. The verdict does not cover the others."
    assert [one.code for one in whole.notices] == []
    assert [(one.code, one.message) for one in some.notices] == [("selected_rows", said)]
