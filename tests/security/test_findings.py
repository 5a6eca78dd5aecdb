"""What fuzzing found: every case here once ended in a traceback, a hang or a wrong answer."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from sqlaudit.base.errors import Incomplete, UsageError
from sqlaudit.base.guard import guard_expression, guard_query
from sqlaudit.base.nodes import load_nodes
from sqlaudit.base.spec import Limits
from sqlaudit.engines.duckdb.session import DuckDBSession
from sqlaudit.release.compare.query_text import read_queries
from tests.cli.runner import run, write_csv


@pytest.mark.parametrize(
    "text",
    [
        "(" * 400 + "a" + ")" * 400,
        "(" * 50 + "a" + ")" * 50,
        "NOT " * 400 + "a",
        "- " * 2000 + "a",
        "CASE WHEN a THEN " * 90 + "a" + " END" * 90,
        "[" * 90 + "a" + "]" * 90,
        "a" + "::INT" * 2000,
        "a" + " IS NOT NULL" * 500,
        "a BETWEEN 1 AND " * 900 + "a",
        "a" + ".b" * 2000,
    ],
    ids=["brackets", "some brackets", "not", "minus", "case", "list", "cast", "is", "between", "dots"],
)
def test_sql_that_is_nested_too_deeply_gets_a_sentence(text: str) -> None:
    with pytest.raises(UsageError, match=r"^--where is nested too deeply\.$") as caught:
        guard_expression(text, "duckdb", "--where")
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    with pytest.raises(UsageError, match=r"^query is nested too deeply\.$"):
        guard_query("SELECT " + text + " FROM t", "duckdb")
    with pytest.raises(UsageError, match=r"is nested too deeply\.$"):
        read_queries(["SELECT count(*) FROM t WHERE " + text], "duckdb")


@pytest.mark.parametrize(
    "text", [" AND ".join(["a = 1"] * 900), " + ".join(["a"] * 900), "a IN (" + "1, " * 5000 + "1)"]
)
def test_long_is_not_deep(text: str) -> None:
    assert len(guard_expression(text, "duckdb", "--where").sql(dialect="duckdb")) > len(text) // 2


def test_a_deep_yaml_file_gets_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "deep.yml"
    file.write_text("[" * 1200)
    with pytest.raises(UsageError, match=r"deep\.yml: is nested too deeply\.$"):
        load_nodes(file)
    file.write_text("[" * 150 + "]" * 150)
    with pytest.raises(UsageError, match=r"deep\.yml, line 1: is nested more than 100 deep\.$"):
        load_nodes(file)


def test_aliases_that_unfold_without_end_get_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "laughs.yml"
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 9) + "]" for n in range(1, 10)]
    file.write_text("\n".join(lines))
    with pytest.raises(UsageError, match=r"aliases repeat too much to be read\.$"):
        load_nodes(file)


def test_deep_json_gets_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "deep.json"
    file.write_text("[" * 5000)
    ran = run("report", file)
    assert (ran.code, ran.out) == (2, "")
    assert "is not JSON. Make it with --format json" in ran.err
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "manifest.json").write_text("[" * 5000)
    (tmp_path / "dbt_project.yml").write_text("profile: p\n")
    ran = run("test", "--dbt-project", tmp_path)
    assert (ran.code, "is not a manifest of dbt. Run `dbt parse` to write it again." in ran.err) == (2, True), ran.err
    assert json.dumps(ran.out) == '""'


@pytest.mark.parametrize("raised", [Incomplete("too late"), KeyboardInterrupt()], ids=["time limit", "Ctrl-C"])
def test_a_session_that_does_not_start_leaves_nothing(
    raised: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise raised

    monkeypatch.setattr(DuckDBSession, "fetch", fails)
    before = set(threading.enumerate())
    with pytest.raises(type(raised)):
        DuckDBSession(Limits(timeout=600, temp_directory=str(tmp_path)))
    for thread in set(threading.enumerate()) - before:
        thread.join(timeout=10)
    assert set(threading.enumerate()) <= before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "db", ["x" * 5000, "postgresql://" + "h" * 400 + "/db", "~nobody-of-that-name/a.duckdb", "/proc/1/fd/0/x"]
)
def test_a_name_that_is_no_path_gets_a_sentence(db: str) -> None:
    for arguments in (
        ["audit", "--db", db, "t", "--qi", "a"],
        ["audit", db, "--qi", "a"],
        ["hierarchy", db, "a", "--from", db],
    ):
        ran = run(*arguments, env={"PGCONNECT_TIMEOUT": "2"})
        assert ran.code in (2, 3), ran
        assert ran.err.startswith("sqlaudit: "), ran
        assert "internal error" not in ran.err, ran


@pytest.mark.parametrize("names", [["", "released.csv"], ["people.csv", ""], ["a.csv", "b.csv", "--other-release", ""]])
def test_an_empty_name_of_a_table_to_compare(names: list[str]) -> None:
    ran = run("compare", *names, "--qi", "age")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "sqlaudit: Every table needs a name, but one is empty.\n"


@pytest.mark.parametrize("name", ["a\\0b", "\\ud800"], ids=["nul", "surrogate"])
def test_names_in_yaml_that_no_file_can_have(name: str, tmp_path: Path) -> None:
    people, given = write_csv(tmp_path / "people.csv", "age,s", "20,a", "30,b"), tmp_path / "given.yml"
    roles = ("--qi", "age", "--sensitive", "s", "--require", "k=1")
    for key, option, command in (
        ("tree_csv", "--inputs", "audit"),
        ("population", "--inputs", "audit"),
        ("hierarchies: {age: {csv: %s}}", "--hierarchies", "lattice"),
    ):
        given.write_text(key % f'"{name}.csv"' if "%" in key else f'{key}: "{name}.csv"')
        ran = run(command, people, *roles, option, given)
        assert (ran.code, "internal error" in ran.err) == (2, False), ran
    policy = tmp_path / "policy.yml"
    for entry in (f'file: "{name}.csv"', f'file: people.csv\n  inputs: "{name}.yml"'):
        policy.write_text(f"tables:\n- {entry}\n  quasi_identifiers: [age]\n  requirements: [k=1]\n")
        ran = run("test", "--file", policy)
        assert (ran.code, "internal error" in ran.err + ran.out) == (2, False), ran
    policy.write_text(f'connections: {{main: {{duckdb: "{name}"}}}}\ntables: [{{table: t, requirements: [k=1]}}]\n')
    ran = run("test", "--file", policy)
    assert (ran.code, "internal error" in ran.err + ran.out) == (2, False), ran
