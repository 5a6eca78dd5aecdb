"""Somebody wants a PASS that is not deserved: whatever table, file and catalog look like, they do not get one."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import SqlauditError, UsageError
from sqlaudit.base.result import Status
from sqlaudit.base.spec import Roles, Target
from sqlaudit.gates.standalone.checks import compile_statements as compile_checks
from tests.postgres_load import Loader
from tests.security import synthetic_leaks as leaking
from tests.security.false_pass import LIES, Drawn, lies, smallest_class, spelled_people, tables, write
from tests.strategies import fewer

EXAMPLES = settings(
    max_examples=fewer(200),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


ALWAYS_READ = ("parquet", "duckdb", "shadowed duckdb", "postgres")
FEW = settings(EXAMPLES, max_examples=fewer(40))


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@EXAMPLES
@given(tables())
def test_a_pass_is_what_the_bytes_say(table: Drawn) -> None:
    with tempfile.TemporaryDirectory(prefix="sqlaudit-") as folder:
        target, db = write(table, Path(folder))
        judge(table, target, db)


@FEW
@given(tables(["postgres"]), st.lists(st.sampled_from(LIES), unique=True, max_size=4))
def test_no_object_of_a_server_makes_a_pass(load: Loader, postgres_url: str, table: Drawn, told: list[str]) -> None:
    """The schema of somebody else stands before everything on the role's path."""
    load("false pass", [list(row) for row in table.rows], list(table.columns), dict.fromkeys(table.columns, "text"))
    load.execute(lies("liars", told))
    try:
        judge(table, '"public"."false pass"', postgres_url + "&options=-csearch_path%3Dliars,public,pg_catalog")
    finally:
        load.execute("DROP SCHEMA liars CASCADE")


@EXAMPLES
@given(spelled_people(), st.integers(1, 4))
def test_no_spelling_of_a_name_is_a_person(people: tuple[list[dict[str, str]], int], k: int) -> None:
    """Neither in an audit nor in a compiled check, with names folded or with nothing said."""
    frame, fewest = pd.DataFrame(people[0]), people[1]
    for values in (None, "fold"):
        try:
            passed = sqlaudit.audit(frame, qi=["class"], entity="who", require={"k": k}, values=values).passed
        except UsageError:
            assert values == "fold"
            continue
        assert not (passed and fewest < k), (values, people)
    with duckdb.connect() as connection:
        connection.register("people", frame)
        for one in compile_checks(Target("people"), Roles(("class",), entity="who"), [f"k={k}"], dialect="duckdb"):
            found = connection.execute(one.sql)
            row = dict(zip([column[0] for column in found.description or ()], found.fetchone() or (), strict=True))
            assert not (row["verdict"] == "pass" and fewest < k), people


@FEW
@given(tables())
def test_no_roles_are_no_pass(table: Drawn) -> None:
    with tempfile.TemporaryDirectory(prefix="sqlaudit-") as folder:
        target, db = write(table, Path(folder))
        with pytest.raises(SqlauditError):
            sqlaudit.audit(target, db=db, require={"k": table.k})


@EXAMPLES
@given(leaking.leaks())
def test_no_disguise_makes_a_synthetic_table_pass(leak: leaking.Leak) -> None:
    """The original in disguise passes no requirement that it fails without, whoever is in the holdout."""
    judge_synthetic(leak, leaking.arrow_table, db=None)


def judge_synthetic(leak: leaking.Leak, table: Callable[[list[leaking.Row]], object], db: str | None) -> None:
    """Compare the tables of a leak; a sentence is no PASS."""
    limits = {"disco": leak.disclosed, "rep_u": leak.replicated, "excess_disclosure": leak.disclosed}
    required = [f"{name}={leaking.LIMIT}" for name, share in limits.items() if share > 3 * leaking.LIMIT]
    if leak.unique > 0.5:
        required.append("exact_copies=0")
    try:
        found = sqlaudit.compare(
            *(table(rows) for rows in (leak.original, leak.synthetic)),
            holdout=table(leak.holdout),
            db=db,
            synthetic=True,
            qi=leaking.KEYS,
            sensitive=leaking.TARGET,
            values="exact",
            require=required,
        )
    except UsageError:
        return
    for check in found.checks:
        assert check.status is not Status.PASS, (check.text, check.level, leak.disguises, len(leak.original))


def judge(table: Drawn, target: str, db: str | None) -> None:
    """A sentence is no PASS; else what was read is what is there, and no class is larger than it is."""
    try:
        result = sqlaudit.audit(target, db=db, qi=[quoted(name) for name in table.columns], require={"k": table.k})
    except SqlauditError as refused:
        if table.form in ALWAYS_READ:
            pytest.fail(f"{table}: {refused}")
        return
    (check,) = [check for check in result.checks if check.model == "k_anonymity"]
    true = smallest_class(table)
    assert result.rows == len(table.rows)
    assert not (result.passed and true < table.k), f"PASS at k = {table.k}, but a class has {true} rows: {table}"
    written = smallest_class(table, as_texts=True)  # a number that a type would change stays a text
    assert written <= check.level <= true, f"k is {check.level}, but the smallest class has {true} rows: {table}"
