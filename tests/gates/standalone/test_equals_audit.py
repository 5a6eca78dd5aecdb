"""Standalone statements, executed on every engine, say what an audit of the same rows says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.relation import Statement
from sqlaudit.base.result import Status
from sqlaudit.base.spec import KnownRows, NullPolicy, Requirement, Roles, Target
from sqlaudit.engines.contract import Engine
from sqlaudit.gates.standalone.checks import Compiled, script
from sqlaudit.gates.standalone.checks import compile_statements as compile_checks
from sqlaudit.models.base import Check
from sqlaudit.models.registry import requirement_from
from tests.audit_values import values_query
from tests.strategies import Case, cases, on_spark, run

TOLERANCE = 1e-12
NEAR = {"entropy_l_diversity", "delta_disclosure_privacy"}
"""Models whose classes at a limit a statement leaves undecided, and an audit decides exactly."""


def executed(engine: Engine, compiled: Compiled) -> dict[str, Any]:
    """The one row of a statement by column name."""
    statement = Statement("standalone", compiled.sql)
    rows = engine.run(statement)
    assert len(rows) == 1, compiled.check
    names = [name.lower() for name in engine.result_names(statement)]
    return dict(zip(names, rows[0], strict=True))


def compiled_of(engine: Engine, query: str, requirements: Sequence[Requirement], **more: Any) -> list[Compiled]:
    """The statements of requirements over a query, in the engine's dialect."""
    roles = Roles(
        tuple(more["qi"]),
        tuple(more.get("sensitive", ())),
        (),
        more.get("entity"),
        nulls=NullPolicy(more.get("nulls", "equal")),
        known_rows=KnownRows(more.get("known_rows", "one" if more.get("entity") else "worse")),
    )
    inputs = dict(more.get("inputs") or {})
    if "population" in inputs:
        inputs["population"] = {"query": told(engine, inputs["population"]["query"])}
    return compile_checks(
        Target(query=told(engine, query)), roles, requirements, dialect=engine.dialect, inputs=inputs, exact_names=True
    )


_AUDITS: dict[str, AuditResult] = {}


def audited(engine: Engine, query: str, **request: Any) -> AuditResult:
    """What an audit says; for PostgreSQL one in DuckDB, as `tests/audits` asks whether both say the same."""
    asked = repr((query, sorted(request.items())))
    if asked not in _AUDITS:
        with patch("sqlaudit.audits.run.audit_warnings", lambda *asked: []):
            _AUDITS[asked] = sqlaudit.audit(query=query, db=None if engine.name == "postgres" else engine, **request)
    return _AUDITS[asked]


def told(engine: Engine, query: str) -> str:
    """A query of these tests in the engine's SQL."""
    if engine.dialect != "spark":
        return query
    from tests.spark_session import in_spark

    return in_spark(query)


def agrees(compiled: Compiled, row: dict[str, Any], check: Check, audit: AuditResult) -> None:
    """Assert that a statement's row says what the check says."""
    told = (compiled.check, row, check)
    assert row["table_rows"] == audit.rows, told
    if "different with values=" in check.note:
        assert (row["verdict"], row["unusable"] > 0) == ("undecided", True), told
        return
    for name, level in check.levels.items():
        if f"level_{name}" in row:
            same_number(row[f"level_{name}"], level, told)
    assert f"level_{next(iter(check.levels))}" in row, told
    if not audit.rows:
        assert row["verdict"] == "undecided", told
        return
    undecided = int(row["undecided_classes"])
    assert not undecided or compiled.model in NEAR, told
    if check.failing_classes is None:
        assert row["failing_classes"] is None, told
    else:
        least = int(row["failing_classes"])
        assert least <= check.failing_classes <= least + undecided, told
        assert undecided or int(row["failing_rows"]) == check.failing_rows, told
    if row["verdict"] == "undecided":
        assert undecided or row["unusable"] > 0, told
    else:
        assert row["verdict"] == ("pass" if check.status is Status.PASS else "fail"), told


def same_number(found: Any, level: Any, told: object) -> None:
    if level is None or found is None:
        assert (found, level) == (None, None), told
    elif math.isinf(level):
        assert float(found) == level, told
    else:
        assert math.isclose(float(found), float(level), rel_tol=TOLERANCE, abs_tol=TOLERANCE), told


def by_text(audit: AuditResult) -> dict[str, Check]:
    return {check.text: check for check in audit.checks}


KINDS = ("int", "decimal", "date", "bool", "text")


@given(case=cases(kinds=KINDS, rows=12).filter(lambda case: case.qi and case.sensitive))
@run(20)
def test_every_model_on_random_tables(case: Case, engine: Engine) -> None:
    query = values_query(case.rows, case.columns)
    more = {"qi": case.qi, "sensitive": [case.sensitive], "entity": case.entity, "nulls": case.nulls}
    known: dict[str, Any] = {"known_rows": "one"} if case.entity else {}
    audit = audited(engine, query, require=case.require, **more, **known)
    found = by_text(audit)
    for compiled in compiled_of(engine, query, case.require, **more):
        agrees(compiled, executed(engine, compiled), found[compiled.check], audit)


LIMITS = [Fraction(n, 12) for n in range(13)] + [Fraction(2, 3), Fraction(10, 19), Fraction(6, 11)]


@st.composite
def tables(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Rows with a class and a value, up to five classes of up to seven rows."""
    sizes = draw(st.lists(st.integers(1, 7), min_size=1, max_size=5))
    value = st.integers(0, draw(st.integers(1, 5)))
    return [{"a": place, "s": draw(value)} for place, size in enumerate(sizes) for _ in range(size)]


@given(rows=tables(), k=st.integers(0, 3), c=st.sampled_from(LIMITS))
@run(60)
def test_maximum_disclosure_written_out(rows: list[dict[str, Any]], k: int, c: Fraction, engine: Engine) -> None:
    query = values_query(rows, {"a": "int", "s": "int"})
    require = [requirement_from("c_k_safety", {"c": c, "k": k})]
    audit = audited(engine, query, qi=["a"], sensitive=["s"], require=require)
    (compiled,) = compiled_of(engine, query, require, qi=["a"], sensitive=["s"])
    agrees(compiled, executed(engine, compiled), audit.checks[0], audit)


@pytest.mark.parametrize(
    ("counts", "levels"),
    [
        ([[2, 2, 1], [2, 1, 1, 1]], ["2/5", "2/3", "1", "1"]),
        ([[2, 1, 1]], ["1/2", "3/4", "1", "1"]),
        ([[3, 3, 2, 2, 1, 1], [4, 2, 2, 1, 1]], ["2/5", "6/11", "12/17", "28/33"]),
        ([[5, 5, 5, 5], [6, 5, 5, 4], [9, 1, 1, 1, 1, 1]], ["9/14", "117/137", "117/122", "1"]),
    ],
)
def test_maximum_disclosure_of_the_paper(counts: list[list[int]], levels: list[str], engine: Engine) -> None:
    rows = [
        {"a": place, "s": value}
        for place, group in enumerate(counts)
        for value, times in enumerate(group)
        for _ in range(times)
    ]
    query = values_query(rows, {"a": "int", "s": "int"})
    for k, level in enumerate(levels):
        above = Fraction(level) + Fraction(1, 1000)
        limits = ((Fraction(level), "fail"), *(((above, "pass"),) if level != "1" and not on_spark() else ()))
        for limit, verdict in limits:
            require = [requirement_from("c_k_safety", {"c": limit, "k": k})]
            row = executed(engine, compiled_of(engine, query, require, qi=["a"], sensitive=["s"])[0])
            assert math.isclose(row["level_disclosure"], Fraction(level), rel_tol=TOLERANCE)
            assert row["verdict"] == verdict, (k, limit)


PEOPLE = st.lists(
    st.fixed_dictionaries({"a": st.integers(0, 3), "b": st.sampled_from(["x", None])}), min_size=1, max_size=14
)


@given(people=PEOPLE, data=st.data(), limit=st.sampled_from(LIMITS), k=st.integers(1, 4))
@run(20)
def test_risks_against_a_population(
    people: list[dict[str, Any]], data: st.DataObject, limit: Fraction, k: int, engine: Engine
) -> None:
    sample = [person for person in people if data.draw(st.booleans())]
    kinds = {"a": "int", "b": "text"}
    query, inputs = values_query(sample, kinds), {"population": {"query": values_query(people, kinds)}}
    require = [
        requirement_from("k_map", k),
        requirement_from("journalist_risk", limit),
        requirement_from("marketer_risk", limit),
        requirement_from("delta_presence", {"max": limit, "min": min(limit, Fraction(1, 3))}),
    ]
    audit = audited(engine, query, qi=["a", "b"], require=require, inputs=inputs)
    found = by_text(audit)
    for compiled in compiled_of(engine, query, require, qi=["a", "b"], inputs=inputs):
        row, check = executed(engine, compiled), found[compiled.check]
        if compiled.model == "marketer_risk" and row["verdict"] == "undecided" and sample:
            same_number(row["level_risk"], check.required, row)  # at its limit, where a sum of quotients is not exact
        elif compiled.model == "delta_presence":
            same_number(row["level_max"], check.levels["max"], row)
            same_number(row["level_min"], check.levels["min"], row)
            assert (row["failing_classes"], row["failing_rows"]) == (check.failing_classes, check.failing_rows)
        else:
            agrees(compiled, row, check, audit)


def test_ranges_of_the_values_themselves(engine: Engine) -> None:
    rows = [{"a": a, "s": s} for a, s in [(1, 3), (1, 9), (2, 4), (2, 5), (2, 4), (3, 0), (3, 100)]]
    query, inputs = values_query(rows, {"a": "int", "s": "int"}), {"class_function": "identity"}
    for limit in ("1", "1.5", "6", "6.5"):
        require = [requirement_from("delta_range_control", limit)]
        audit = audited(engine, query, qi=["a"], sensitive=["s"], require=require, inputs=inputs)
        (compiled,) = compiled_of(engine, query, require, qi=["a"], sensitive=["s"], inputs=inputs)
        agrees(compiled, executed(engine, compiled), audit.checks[0], audit)


def test_joint_classes_hold_the_other_sensitive_attributes(engine: Engine) -> None:
    rows = [{"a": i % 2, "s": i % 3, "z": i % 4} for i in range(12)]
    query = values_query(rows, {"a": "int", "s": "int", "z": "int"})
    roles = Roles(("a",), ("s", "z"), joint=True)
    audit = audited(engine, query, qi=["a"], sensitive=["s", "z"], joint=True, require=["k=2", "l=2"])
    compiled = compile_checks(Target(query=told(engine, query)), roles, ["k=2", "l=2"], dialect=engine.dialect)
    expected = {(check.text, check.sensitive): check for check in audit.checks}
    assert len(compiled) == len(expected) == 4
    for one in compiled:
        agrees(one, executed(engine, one), expected[one.check, one.sensitive], audit)


def test_rows_that_cannot_be_judged_leave_a_check_undecided(engine: Engine) -> None:
    rows = [
        {"a": 1, "s": 1, "p": 1},
        {"a": 1, "s": None, "p": None},
        {"a": 2, "s": 2, "p": 2},
        {"a": 1, "s": 2, "p": 2},
    ]
    query = values_query(rows, {"a": "int", "s": "int", "p": "int"})
    require = [requirement_from(*pair) for pair in (("t_ordered", "0.9"), ("l", 1), ("disclosure@1", "1"))]
    found = {
        one.model: executed(engine, one)
        for one in compiled_of(engine, query, require, qi=["a"], sensitive=["s"], entity="p")
    }
    assert found["t_closeness_ordered"]["unusable"] == 2  # a row without a person, and one without a value
    assert found["distinct_l_diversity"]["unusable"] == 1  # a row without a person
    assert found["c_k_safety"]["unusable"] == 2  # and a person with two values
    assert {row["verdict"] for row in found.values()} == {"undecided"}


def test_persons_who_are_named_in_two_ways_leave_a_check_undecided(engine: Engine) -> None:
    rows = [{"a": "1", "s": s, "p": p} for s, p in (("x", "P1"), ("y", "p1 "), ("x", "P2"))]
    query = values_query(rows, {"a": "text", "s": "text", "p": "text"})
    require = [requirement_from(name, 2) for name in ("k", "l", "km@1")]
    found = [
        executed(engine, one) for one in compiled_of(engine, query, require, qi=["a"], sensitive=["s"], entity="p")
    ]
    assert [(row["unusable"], row["verdict"]) for row in found] == [(1, "undecided")] * 3


def test_figures_alone(engine: Engine) -> None:
    rows = [{"a": i % 2, "s": i % 3} for i in range(9)]
    query = values_query(rows, {"a": "int", "s": "int"})
    audit = {c.model: c for c in audited(engine, query, qi=["a"], sensitive=["s"]).checks}
    written = compile_checks(Target(query=told(engine, query)), Roles(("a",), ("s",)), dialect=engine.dialect)
    seen = set()
    for one in written:
        if one.sql:
            row = executed(engine, one)
            assert list(row)[:2] == ["classes", "table_rows"], row
            for name, value in row.items():
                if name.startswith("level_"):
                    same_number(value, audit[one.model].levels[name[6:]], one.model)
            seen.add(one.model)
    assert seen == set(audit), "what an audit reports by itself is written"


def test_a_script_runs_as_it_is(engine: Engine) -> None:
    """Comments, semicolons and all: each statement of the file returns its one row."""
    rows = [{"a": i % 4, "s": i % 3} for i in range(11)]
    target = Target(query=told(engine, values_query(rows, {"a": "int", "s": "int"})))
    written = compile_checks(target, Roles(("a",), ("s",)), ["k=3", "t=0.4", "disclosure@1=1"], dialect=engine.dialect)
    parts = script(written, target, "1").split(";\n")
    assert len(parts) == 4
    assert parts.pop().strip() == ""
    found = [engine.run(Statement("standalone", part))[0] for part in parts]
    assert [row[1] for row in found] == [11, 11, 11]
    assert [row[-1] for row in found] == ["fail", "pass", "fail"]
