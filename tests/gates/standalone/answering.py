"""Runs the statements of a policy as a warehouse would, and keeps the rows that come back."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import duckdb

from sqlaudit.gates.reading import load_policy
from sqlaudit.gates.result import GateResult, GateTest, Outcome
from sqlaudit.gates.standalone.policies import Wording, policy_statements

Row = dict[str, Any]
Execute = Callable[[str], tuple[Sequence[str], Sequence[Sequence[Any]]]]
"""Takes a statement; gives the names of its columns, and its rows."""


def in_duckdb_file(path: Path) -> Execute:
    """Executes in a DuckDB file, as it is when the first statement comes, over one connection."""
    connections: list[duckdb.DuckDBPyConnection] = []

    def execute(sql: str) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        if not connections:  # a copy in memory, so that the file is free for whoever opens it next
            connections.append(duckdb.connect())
            connections[0].execute(f"ATTACH '{path}' AS kept (READ_ONLY)")
            connections[0].execute("COPY FROM DATABASE kept TO memory")
            connections[0].execute("DETACH kept")
        found = connections[0].execute(sql)
        return [column[0] for column in found.description or ()], found.fetchall()

    return execute


def answers_of(policy: Path, execute: Execute, dialect: str = "duckdb", run: str = "") -> list[Row]:
    """The rows that all statements of a policy return."""
    made = policy_statements(load_policy(policy).tables, Wording(dialect, run=run))
    return [row for one in made if one.compiled.sql for row in rows_of(execute, one.compiled.sql)]


def rows_of(execute: Execute, sql: str) -> list[Row]:
    """The rows of a statement by the names of their columns."""
    names, rows = execute(sql)
    return [dict(zip(names, row, strict=True)) for row in rows]


def kept(rows: Sequence[Row], path: Path) -> Path:
    """The rows in a file of JSON."""
    path.write_text(json.dumps(rows, default=str), encoding="utf-8")
    return path


def told(test: GateTest) -> tuple[Any, ...]:
    """What a run and its results must say alike: verdict, level, and what falls short."""
    check = test.check
    assert check is not None, test
    level = None if check.level is None else round(float(check.level), 9)
    return test.name, test.outcome, level, check.failing_rows, test.rows, test.severity


def alike(run: GateResult, results: GateResult, unclear: Collection[str] = ()) -> None:
    """Assert that a run and its results say the same of every test; of `unclear` columns, that results say nothing."""
    for found, expected in zip(results.tests, run.tests, strict=True):
        if found.sensitive in unclear or (found.table == "persons" and "person" in unclear):
            assert (found.name, found.outcome) == (expected.name, Outcome.UNDETERMINED), found
            continue
        assert told(found) == told(expected), found
        classes = found.check and found.check.failing_classes  # a statement on persons counts these, and no classes
        assert classes is None or classes == (expected.check and expected.check.failing_classes), found
    assert unclear or results.passed is run.passed
