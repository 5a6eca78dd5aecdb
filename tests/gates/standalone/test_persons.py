"""Persons with many rows in one SELECT: what an audit says of who knows one row, all rows, one event or two."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Roles, Target
from sqlaudit.engines.contract import Engine
from sqlaudit.gates.standalone.checks import compile_statements as compile_checks
from sqlaudit.gates.standalone.checks import script
from sqlaudit.models.registry import parse_requirements
from tests.audit_values import values_query
from tests.audits.test_known_rows import KINDS, QI, rows
from tests.audits.unwarned import unwarned  # noqa: F401
from tests.gates.standalone.test_equals_audit import agrees, audited, compiled_of, executed
from tests.strategies import run

OF_CLASSES = ["k=2", "l=2", "t=0.25", "alpha=0.6", "recursive_l=c:2,l:2", "prosecutor_risk=0.4"]


@pytest.mark.parametrize("nulls", ["equal", "distinct"])
def test_who_knows_all_rows_in_one_statement(engine: Engine, nulls: str) -> None:
    require = parse_requirements(",".join(OF_CLASSES))

    @run(15 if engine.name == "duckdb" else 3)
    @given(rows)
    def compare(table: list[tuple[Any, ...]]) -> None:
        query = values_query([dict(zip(KINDS, one, strict=True)) for one in table], KINDS)
        more: dict[str, Any] = {"qi": QI, "sensitive": ["ill"], "entity": "person", "nulls": nulls}
        compiled = compiled_of(engine, query, require, known_rows="worse", **more)
        assert [one.known_rows for one in compiled] == ["one", "all"] * len(require)
        for known in ("one", "all"):
            audit = audited(engine, query, require=require, known_rows=known, **more)
            found = {check.text: check for check in audit.checks}
            for one in compiled:
                if one.known_rows == known:
                    agrees(one, executed(engine, one), found[one.check], audit)

    compare()


@pytest.mark.parametrize("nulls", ["equal", "distinct"])
def test_known_events_in_one_statement(engine: Engine, nulls: str) -> None:
    @run(15 if engine.name == "duckdb" else 3)
    @given(rows, st.integers(1, 4))
    def compare(table: list[tuple[Any, ...]], k: int) -> None:
        query = values_query([dict(zip(KINDS, one, strict=True)) for one in table], KINDS)
        more: dict[str, Any] = {"qi": QI, "entity": "person", "nulls": nulls}
        bounds = f"rows_per_person={k},groups_per_person={k}"
        require = parse_requirements(f"km@1={k},km@2={k},profile_k={k},{bounds}")
        checks = {c.text: c for c in audited(engine, query, require=require, **more).checks}
        for one in compiled_of(engine, query, require, **more):
            row, check = executed(engine, one), checks[one.check]
            level = row[f"level_{next(iter(check.levels))}"]
            assert (level, row["failing_rows"]) == (check.level, check.failing_rows)
            assert row["verdict"] == check.status
            assert (row["classes"], row["table_rows"]) == (check.details["persons"], len(table))

    compare()


def test_sums_that_agree_by_chance_make_nobody_alike(engine: Engine) -> None:
    """Two sets of seven events with equal ends and sums of powers: whose persons stand for no one else's."""
    first, second = (1, 2, 6, 10, 18, 19, 21), (1, 3, 4, 12, 16, 20, 21)
    assert [sum(n**power for n in first) - sum(n**power for n in second) for power in (1, 2, 3, 4)] == [0, 0, 0, 0]
    sets = {1: first, 2: second, 3: first, 4: second, 5: second, 6: tuple(range(1, 22))}
    table = [{"who": who, "at": at} for who, events in sets.items() for at in events]
    query = values_query(table, {"who": "int", "at": "int"})
    more: dict[str, Any] = {"qi": ["at"], "entity": "who", "known_rows": "all"}
    require = parse_requirements("profile_k=3,k=3")
    profile, classes = (executed(engine, one) for one in compiled_of(engine, query, require, **more))
    assert (profile["level_k"], profile["failing_rows"], profile["classes"]) == (1, 3, 6)
    assert (classes["classes"], classes["failing_classes"], classes["failing_rows"]) == (3, 2, 2 * 7 + 21)


def test_nobody_and_rows_of_nobody_are_undecided(engine: Engine) -> None:
    table = [{"who": 1, "at": "a"}, {"who": None, "at": "a"}, {"who": 2, "at": "a"}]
    require = parse_requirements("km@2=2,profile_k=2,k=2,rows_per_person=5,groups_per_person=5")
    for some, unusable in ((table, 1), ([], 0)):
        query = values_query(some or table, {"who": "int", "at": "text"})
        query = query if some else f"SELECT * FROM ({query}) AS everybody WHERE 1 = 0"
        for one in compiled_of(engine, query, require, qi=["at"], entity="who", known_rows="worse"):
            row = executed(engine, one)
            assert (row["unusable"], row["verdict"]) == (unusable, "undecided"), one.check


def test_what_one_select_does_not_carry_is_said() -> None:
    roles = Roles(("clinic",), ("ill",), (), "who")
    for check, why in (
        ("km@3=5", r"km@3=5: it joins sets of at most 2 events of a person; `sqlaudit.audit\(\)` takes m = 3."),
        ("unicity@2=5%", "several statements"),
        ("coherence@2=k:2,h:0.5", "several statements"),
    ):
        with pytest.raises(UsageError, match=why):
            compile_checks(Target("visits"), roles, [check])
    with pytest.raises(UsageError, match=r"'km@2=5' is about people with many rows\. Name the column"):
        compile_checks(Target("visits"), Roles(("clinic",)), ["km@2=5"])


def test_a_script_says_for_whom_each_statement_is() -> None:
    compiled = compile_checks(Target("visits"), Roles(("clinic",), (), (), "who"), ["k=5", "km@2=5"])
    text = script(compiled, Target("visits"), "1.0")
    assert "-- k=5, for an attacker who knows one row of a person\n" in text
    assert "-- k=5, for an attacker who knows all rows of a person\n" in text
    assert "-- km@2=5\n" in text


@pytest.mark.parametrize(("known", "written"), [("one", ["one"]), ("all", ["all"]), ("worse", ["one", "all"])])
def test_python_says_how_many_rows_of_a_person_are_known(known: str, written: list[str]) -> None:
    compiled = sqlaudit.compile_checks("visits", qi="clinic", entity="who", checks={"k": 5}, known_rows=known)
    assert [one.known_rows for one in compiled] == written
