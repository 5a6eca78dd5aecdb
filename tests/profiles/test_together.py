"""Columns that together pick people out: what a profile searches, says and proposes, and what an audit suggests."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import sqlaudit
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles import run as profiling
from sqlaudit.profiles.result import Role
from tests.audit_values import values_query
from tests.cli.runner import patients, run, write_csv
from tests.column_sets import oracle
from tests.reports.schemas import validator

KINDS = {"age": "int", "shift": "int", "ward": "text", "badge": "text", "diagnosis": "text", "site": "text"}
ROWS = [(30 + i % 3, i % 5, "ABCD"[i % 4], "ABCD"[i % 4] + "x", "flu" if i % 7 else "cold", "s") for i in range(48)]


def profiled(engine: Engine, **options: Any) -> sqlaudit.ProfileResult:
    query = values_query([dict(zip(KINDS, row, strict=True)) for row in ROWS], KINDS)
    return sqlaudit.profile(query=query, db=engine, **options)


def test_minimal_sets_are_those_of_brute_force(engine: Engine) -> None:
    result = profiled(engine)
    found = result.column_sets
    assert found is not None
    assert (found.k, found.tolerance, found.max_size, found.complete) == (5, Fraction(1, 100), 3, True)
    assert sorted(found.columns) == ["age", "shift", "ward"]  # no constant, no sensitive one, no copy of another
    names = list(KINDS)
    violating = [
        chosen
        for size in range(1, 4)
        for chosen in combinations(range(3), size)
        if oracle.violates(ROWS, chosen, 5, Fraction(1, 100), "equal")
    ]
    minimal = {frozenset(names[i] for i in c) for c in violating if not any(set(o) < set(c) for o in violating)}
    assert {frozenset(one.columns) for one in found.sets} == minimal
    assert minimal == {frozenset(["age", "shift"]), frozenset(["shift", "ward"]), frozenset(["age", "ward"])}
    for one in found.sets:
        figures = oracle.figures(ROWS, tuple(names.index(name) for name in one.columns), 5)
        assert (one.classes, one.rows_at_risk, one.unique_rows) == (
            figures["classes"],
            figures["at_risk"],
            figures["unique"],
        )


def test_who_is_decisive_becomes_a_quasi_identifier(engine: Engine) -> None:
    result = profiled(engine)
    assert result.column_sets is not None
    repair = result.column_sets.repair
    assert repair is not None
    assert len(repair) == 2
    for name in ("shift", "ward"):
        proposal = result.column(name).proposal
        assert proposal.by_sets is (name in repair)
        assert proposal.role is (Role.QUASI_IDENTIFIER if name in repair else Role.OTHER)
        assert any("% of rows at risk with " in reason for reason in proposal.reasons)
    assert result.column("badge").role is result.column("ward").role
    assert result.column("age").proposal.by_sets is False
    assert result.column("diagnosis").role is Role.SENSITIVE
    without = profiled(engine, sets=False)
    assert (without.column_sets, without.not_searched) == (None, "")
    assert without.named(Role.QUASI_IDENTIFIER) == ("age",)


def test_what_is_too_much_for_a_first_look_is_said(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiling, "MOST_ROWS_READ", 300)
    monkeypatch.setattr(profiling, "MOST_ROWS_READ_IN_PLACE", 300)
    result = profiled(engine)
    assert result.column_sets is None
    assert result.not_searched == (
        "Sets of columns were not searched: 3 columns and 48 rows are too many for a profile. `sqlaudit.columns()` "
        "searches them."
    )
    monkeypatch.setattr(profiling, "MOST_ROWS_READ", 48 * 7)
    monkeypatch.setattr(profiling, "MOST_ROWS_READ_IN_PLACE", 48 * 7)
    found = profiled(engine).column_sets
    assert found is not None
    assert found.max_size == 2


def test_sizes_follow_from_rows_and_columns() -> None:
    assert [profiling.largest_size(rows, 20, True) for rows in (1, 10**6, 5 * 10**6, 10**7)] == [3, 3, 2, 0]
    assert [profiling.largest_size(rows, 20, False) for rows in (1, 10**5, 10**6)] == [3, 2, 0]
    assert [profiling.largest_size(1000, columns, True) for columns in (26, 27, 76, 77)] == [3, 2, 2, 0]


def test_a_search_that_ran_out_of_time_says_what_is_decided(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(profiling, "SECONDS", 0.0)
    found = profiled(engine).column_sets
    assert found is not None
    assert (found.complete, found.sets) == (False, ())
    said = run("profile", patients(tmp_path)).said
    assert "Time limit reached: only sets of at most 0 columns were decided." in said


def test_where_there_is_little_to_do_the_search_is_patient(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a busy machine proposes the roles that an idle one proposes."""
    given: list[float | None] = []
    search = profiling.search_columns

    def noted(on: Engine, relation: Any, request: Any, *rest: Any) -> Any:
        given.append(request.time_budget)
        return search(on, relation, request, *rest)

    monkeypatch.setattr(profiling, "search_columns", noted)
    profiled(engine)
    assert given == [profiling.SECONDS * profiling.PATIENCE]


def test_the_report_has_a_section(tmp_path: Path) -> None:
    lines = [f"{30 + i % 3},{i % 5},x" for i in range(30)]
    file = write_csv(tmp_path / "work.csv", "age,shift,diagnosis", *lines)
    said = run("profile", file).said
    assert "Others may know age." in said
    assert "Columns that together single people out" in said
    assert "1 minimal set of at most 2 columns puts more than 1.0% of the rows into groups smaller than 5" in said
    assert "age, shift 30 100% 0" in said
    assert "Sets of more than 2 columns were not searched." in said
    assert "| age, shift | 30 | 100% | 0 |" in run("profile", file, "--format", "markdown").out
    data = json.loads(run("profile", file, "--format", "json").out)
    validator("profile").validate(data)
    assert [(one["columns"], one["rows_at_risk"]) for one in data["column_sets"]["sets"]] == [(["age", "shift"], 30)]
    hidden = json.loads(run("profile", file, "--format", "json", "--no-sets").out)
    validator("profile").validate(hidden)
    assert (hidden["column_sets"], hidden["not_searched"]) == (None, None)
    assert "Columns that together" not in run("profile", file, "--no-sets").said
    empty = json.loads(run("profile", write_csv(tmp_path / "e.csv", "age,sex"), "--header", "--format", "json").out)
    assert empty["not_searched"] == "The table has no rows."


def test_an_audit_without_quasi_identifiers_names_what_a_profile_proposes(tmp_path: Path) -> None:
    said = "No quasi-identifiers are given. Name what others may know about a person, "
    file = patients(tmp_path)
    ran = run("audit", file)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"sqlaudit: {said}with --qi. `sqlaudit profile` proposes: sex,age\n"
    assert sqlaudit.profile(file).roles.quasi_identifiers == ("sex", "age")
    assert run("audit", file, "--sensitive", "age").err.endswith("proposes: sex\n")
    plain = f"sqlaudit: {said}for example --qi age,sex.\n"
    assert run("audit", file, "--dry-run").err == plain
    unknown = write_csv(tmp_path / "unknown.csv", "diagnosis", "a", "b")
    assert run("audit", unknown).err == plain
    ran = run("audit", tmp_path / "missing.csv")
    assert (ran.code, ran.err) == (2, plain)


def test_the_command_names_likely_columns_and_asks_of_the_others(tmp_path: Path) -> None:
    lines = [f"{30 + i % 2},{i % 3},{i % 5},{i + 0.5},{i % 2}" for i in range(0, 210, 7)]  # two rows each of age and r
    file = write_csv(tmp_path / "work.csv", "age,q,r,vxq,diagnosis", *lines)
    ran = run("profile", file)
    assert "--qi age --sensitive diagnosis" in ran.said.replace("\\ ", "")
    assert "Others may know age." in ran.said
    assert "Could others know vxq and r? Then add them to --qi." in ran.said
    assert "vxq has a different value in almost every row. Publish it coarsened, or leave it out." in ran.said
    assert run("audit", file).err.endswith("`sqlaudit profile` proposes: age\n")
    assert sqlaudit.profile(file).roles.quasi_identifiers == ("age",)
