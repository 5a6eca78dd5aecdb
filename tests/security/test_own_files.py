"""Files that sqlaudit keeps for itself: what somebody else put into one is neither obeyed, nor shown, nor replaced."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.engines.duckdb.store import open_store
from sqlaudit.gates.result import Drift
from sqlaudit.gates.stored import Baseline
from tests.cli.runner import run
from tests.gates.databases import PATIENTS, in_duckdb, old_baseline

POLICY = "tables: [{table: patients, quasi_identifiers: [age, sex], sensitive: [disease], requirements: [k=5]}]\n"
PLANTED = "planted-7731"


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """A policy whose test fails, beside a file that no command was told of."""
    (tmp_path / "planted.csv").write_text(PLANTED + "\n")
    return in_duckdb(tmp_path, {"patients": PATIENTS}).policy(POLICY)


def _rewritten(file: Path, *statements: str) -> Path:
    with duckdb.connect(str(file)) as connection:
        for statement in statements:
            connection.execute(statement)
    return file


def _view_over(planted: Path) -> tuple[str, str]:
    columns = (
        "1 AS run, name AS table_name, name AS requirement, '' AS sensitive, 'fail' AS outcome, TRUE AS falls_short, "
        "name AS level, 1::BIGINT AS failing_classes, 1::BIGINT AS failing_rows, 1::BIGINT AS table_rows, "
        "'' AS column_sets"
    )
    read = f"read_csv('{planted}', header = FALSE, columns = {{'name': 'VARCHAR'}})"
    return "DROP TABLE results", f"CREATE VIEW results AS SELECT {columns} FROM {read}"


def test_a_view_in_a_baseline_shows_no_other_file(policy: Path, tmp_path: Path) -> None:
    kept = _rewritten(old_baseline(tmp_path / "kept.duckdb", {}), *_view_over(tmp_path / "planted.csv"))
    for ran in (
        run("baseline", "-f", policy, "--baseline", kept),
        run("test", "-f", policy, "--baseline", kept, "--format", "junit"),
    ):
        assert (ran.code, ran.out) == (2, "")
        assert PLANTED not in ran.err
    assert not (tmp_path / "kept.yml").exists()


def test_a_file_of_ours_has_the_walls_of_an_audited_one(tmp_path: Path) -> None:
    (tmp_path / "planted.csv").write_text(PLANTED + "\n")
    kept = _rewritten(tmp_path / "kept.duckdb", "CREATE TABLE one AS SELECT 1 AS one")
    for read_only in (True, False):
        with open_store(kept, read_only=read_only) as store:
            for walled in (
                f"SELECT * FROM read_csv('{tmp_path / 'planted.csv'}')",
                f"ATTACH '{tmp_path / 'new.duckdb'}'",
                f"COPY (SELECT 1) TO '{tmp_path / 'out.csv'}'",
                "SET enable_external_access = TRUE",
                "LOAD httpfs",
            ):
                with pytest.raises(duckdb.Error):
                    store._connection.cursor().execute(walled)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.duckdb", "planted.csv"]


def test_macros_of_a_baseline_stand_for_no_function_of_ours(policy: Path, tmp_path: Path) -> None:
    sqlaudit.gate(policy, baseline=tmp_path / "first.yml", accept=True)
    states = {key: state for key, state in Baseline(tmp_path / "first.yml").accepted().items() if key[1] == "k=5"}
    kept = old_baseline(tmp_path / "kept.duckdb", states)
    _rewritten(kept, "CREATE MACRO max(x) AS 0", "CREATE MACRO coalesce(x, y) AS -5", "CREATE MACRO row_number() AS 7")
    assert run("baseline", "-f", policy, "--baseline", kept).code == 0
    found = sqlaudit.gate(policy, baseline=tmp_path / "kept.yml")
    assert [test.change.drift for test in found.tests if test.change] == [Drift.SAME]


def test_a_baseline_with_other_tables_of_these_names_is_left_alone(policy: Path, tmp_path: Path) -> None:
    kept = _rewritten(tmp_path / "kept.duckdb", "CREATE TABLE runs AS SELECT 26.2 AS miles")
    with pytest.raises(UsageError, match="must end in"):
        sqlaudit.gate(policy, baseline=kept, accept=True)
    assert "without a baseline" in run("baseline", "-f", policy, "--baseline", kept).err
    with duckdb.connect(str(kept)) as connection:
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("runs",)]


@pytest.mark.parametrize(
    ("kind", "statement"),
    [("table", "CREATE TABLE failures AS SELECT 'mine' AS note"), ("view", "CREATE VIEW failures AS SELECT 'mine'")],
)
def test_a_relation_that_is_not_ours_is_never_replaced(policy: Path, tmp_path: Path, kind: str, statement: str) -> None:
    kept = _rewritten(tmp_path / "kept.duckdb", statement)
    ran = run("test", "-f", policy, "--store-failures", kept)
    assert (ran.code, ran.out) == (2, "")
    assert f"holds a {kind} 'failures' that sqlaudit did not make, and that is never replaced" in ran.err
    with duckdb.connect(str(kept)) as connection:
        assert connection.execute("SELECT * FROM failures").fetchall() == [("mine",)]


def test_our_own_failures_are_replaced_and_other_tables_stay(policy: Path, tmp_path: Path) -> None:
    kept = _rewritten(tmp_path / "kept.duckdb", "CREATE TABLE mine AS SELECT 1 AS one")
    for _ in range(2):
        assert run("test", "-f", policy, "--store-failures", kept).code == 1
    with duckdb.connect(str(kept)) as connection:
        assert connection.execute("SELECT one FROM mine").fetchall() == [(1,)]
        assert connection.execute("SELECT sum(class_rows * classes) FROM failures").fetchall() == [(7,)]
