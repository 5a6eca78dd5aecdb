"""Projects whose columns and tables have odd names: a run, compiled statements, the console and an audit agree."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest
import yaml

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import quote
from sqlaudit.gates.nodes import yaml_text
from sqlaudit.gates.proposal import column_scalar
from sqlaudit.gates.reading import load_policy
from sqlaudit.gates.result import GateResult
from tests.cli.runner import run
from tests.gates.standalone.answering import Execute, alike, answers_of, in_duckdb_file, kept

NAMES = (
    *("age-band", "age - band", "Age in Years", "1st_visit", "%fat", "it's", "größe", "Straße 2", "order", "select"),
    *(
        "user",
        "session_user",
        "current_date",
        "q1",
        "q2",
        "s",
        "e",
        "audited",
        "t",
        "a.b",
        "a,b",
        "(old)",
        '"x"',
        'a"b',
    ),
    *(
        "🙂",
        "a🙂b",
        " age",
        "age ",
        "year(birth)",
        "zip + 1",
        "1",
        "1/2",
        "null",
        "true",
        "it`s",
        "[x]",
        "x:y",
        "a;b",
        "--",
        "#x",
    ),
    *("{y}", "*", "&a", "!b", "? ", "- a", "%s", "$1", ":p", "日本", "yes", "0x1F", "1e5", "n\u00e3o", "Ä", "target"),
)
TABLES = ("visits", "Visits of 2020", "visits-2020", "it's", "größe", "order", "2020", "a🙂b")


class Project:
    """A random table with odd names, and a policy for it: the quasi-identifiers are the first two columns."""

    def __init__(self, seed: int, folder: Path) -> None:
        chance = random.Random(seed)
        names, folds = [], set()
        for name in chance.sample(NAMES, len(NAMES)):
            if name.casefold() not in folds:
                names.append(name)
                folds.add(name.casefold())
        self.columns, self.table = names[:5], chance.choice(TABLES)
        domains = [("ab", "xy", "pqr", "mnop", "uv")[place] for place in range(5)]
        self.rows = [[chance.choice(domain) for domain in domains] for _ in range(chance.choice((8, 12, 20)))]
        self.database = folder / "clinic.duckdb"
        with duckdb.connect(str(self.database)) as connection:
            self.create(connection.execute, "duckdb")
            connection.executemany(self.insert("duckdb", "?"), self.rows)
        listed = [column_scalar(name) for name in self.columns]
        self.policy = folder / "sqlaudit.yml"
        self.policy.write_text(
            "version: 1\nconnections: {main: {duckdb: clinic.duckdb}}\ntables:\n"
            f"- table: {yaml_text(quote(self.table, 'duckdb'))}\n  name: people\n"
            f"  quasi_identifiers: [{listed[0]}, {listed[1]}]\n  sensitive: [{listed[2]}, {listed[3]}]\n"
            "  requirements: [k=2, k=3, l=2, t=0.4]\n",
            encoding="utf-8",
        )

    def create(self, execute: Callable[[str], object], dialect: str) -> None:
        kinds = ", ".join(f"{quote(name, dialect)} VARCHAR(9)" for name in self.columns)
        kept = "TEMPORARY " if dialect == "postgres" else ""
        execute(f"CREATE {kept}TABLE {quote(self.table, dialect)} ({kinds})")

    def insert(self, dialect: str, mark: str) -> str:
        return f"INSERT INTO {quote(self.table, dialect)} VALUES ({', '.join([mark] * 5)})"

    def in_sqlite(self) -> Execute:
        connection = sqlite3.connect(":memory:")
        self.create(connection.execute, "sqlite")
        connection.executemany(self.insert("sqlite", "?"), self.rows)
        return executing(connection.execute)

    def in_postgres(self, connection: Any) -> Execute:
        connection.execute(f"DROP TABLE IF EXISTS {quote(self.table, 'postgres')}")
        self.create(connection.execute, "postgres")
        connection.cursor().executemany(self.insert("postgres", "%s"), self.rows)
        return executing(connection.execute)


def executing(execute: Callable[[str], Any]) -> Execute:
    def executed(sql: str) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        found = execute(sql)
        return [column[0] for column in found.description], found.fetchall()

    return executed


def by_results(project: Project, execute: Execute, dialect: str, folder: Path) -> GateResult:
    rows = answers_of(project.policy, execute, dialect)
    assert len(rows) == 6
    return sqlaudit.gate(project.policy, results=[kept(rows, folder / "rows.json")])


SEEDS = range(40)


@pytest.mark.parametrize("seed", SEEDS)
def test_one_verdict_whatever_columns_are_called(seed: int, tmp_path: Path) -> None:
    project = Project(seed, tmp_path)
    found = sqlaudit.gate(project.policy)
    assert all(test.check is not None for test in found.tests), [test.message for test in found.tests]
    audit = sqlaudit.audit(
        quote(project.table, "duckdb"),
        qi=project.columns[:2],
        sensitive=project.columns[2:4],
        require=["k=2", "k=3", "l=2", "t=0.4"],
        db=str(project.database),
    )
    figures = [(check.text, check.sensitive, check.status.value, check.level) for check in audit.checks]
    own = [(test.requirement, test.sensitive, test.check) for test in found.tests]
    named = {column_scalar(name): name for name in project.columns}
    told = [(text, name, check.status.value, check.level) for text, name, check in own if check]
    plain = [(text, named.get(yaml_text(name), name) if name else None, *rest) for text, name, *rest in told]
    assert sorted(map(str, plain)) == sorted(map(str, figures))
    alike(found, by_results(project, in_duckdb_file(project.database), "duckdb", tmp_path))
    alike(found, by_results(project, project.in_sqlite(), "sqlite", tmp_path))


@pytest.mark.postgres
@pytest.mark.parametrize("seed", SEEDS[:8])
def test_one_verdict_on_postgres_whatever_columns_are_called(
    seed: int, postgres_admin_url: str, tmp_path: Path
) -> None:
    project = Project(seed, tmp_path)
    with psycopg.connect(postgres_admin_url, autocommit=True) as connection:
        answered = by_results(project, project.in_postgres(connection), "postgres", tmp_path)
    alike(sqlaudit.gate(project.policy), answered)


@pytest.mark.parametrize("seed", SEEDS[:12])
def test_a_column_that_is_gone_is_an_error_everywhere(seed: int, tmp_path: Path) -> None:
    """A renamed column never passes as a constant, as the alias of another one, or as a function without arguments."""
    project = Project(seed, tmp_path)
    gone = project.columns[0]
    project.columns[0] = "another"
    execute = project.in_sqlite()
    with duckdb.connect(str(project.database)) as connection:
        connection.execute(f"ALTER TABLE {quote(project.table, 'duckdb')} RENAME {quote(gone, 'duckdb')} TO another")
    for test in sqlaudit.gate(project.policy).tests:
        assert test.outcome.value == "error"
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        answers_of(project.policy, execute, "sqlite")
    with pytest.raises(duckdb.Error):
        answers_of(project.policy, in_duckdb_file(project.database), "duckdb")


@pytest.mark.parametrize(
    "more", ["table: t, where: '\"Age in Years\" > 3'", "query: 'SELECT zip, \"Age\" FROM t', name: t"]
)
def test_a_condition_or_query_on_sqlite_never_reads_a_constant(more: str, tmp_path: Path) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (zip TEXT)")
    policy = tmp_path / "p.yml"
    asked = f"{{{more}, quasi_identifiers: [zip], requirements: [k=2]}}"
    policy.write_text(f"version: 1\nconnections: {{main: {{env: X}}}}\ntables: [{asked}]\n", encoding="utf-8")
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        answers_of(policy, executing(connection.execute), "sqlite")


def test_an_exact_name_goes_before_an_expression(tmp_path: Path) -> None:
    """age-band is the column where there is one, else age minus band; the parentheses say that it is an expression."""
    database = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute('CREATE TABLE t AS SELECT i AS age, i AS band, i % 2 AS "age-band" FROM range(8) AS r(i)')
        connection.execute("CREATE TABLE without AS SELECT age, band FROM t")
    head = "version: 1\nconnections: {main: {duckdb: clinic.duckdb}}\ntables:\n"
    texts = ("age-band", '"age-band"', "(age-band)", "{expression: age-band}")
    levels = {}
    for text in texts:
        written = text if text.startswith("{") else yaml_text(text)
        policy = tmp_path / "p.yml"
        policy.write_text(
            f"{head}- {{table: t, quasi_identifiers: [{written}], requirements: [k=2]}}\n", encoding="utf-8"
        )
        (test,) = sqlaudit.gate(policy).tests
        (row,) = answers_of(policy, in_duckdb_file(database), "duckdb")
        assert test.check is not None
        assert row["level"] == test.check.level
        levels[text] = row["level"]
    assert levels == {"age-band": 4, '"age-band"': 4, "(age-band)": 8, "{expression: age-band}": 8}
    policy.write_text(
        f"{head}- {{table: without, quasi_identifiers: [age-band], requirements: [k=2]}}\n", encoding="utf-8"
    )
    (test,) = sqlaudit.gate(policy).tests
    assert test.check is not None
    assert test.check.level == 8
    with pytest.raises(duckdb.Error):
        answers_of(policy, in_duckdb_file(database), "duckdb")
    for literal in ("'zip'", "(1)", "('zip')", "1.5"):
        policy.write_text(
            f"{head}- {{table: without, quasi_identifiers: [{yaml_text(literal)}], requirements: [k=2]}}\n",
            encoding="utf-8",
        )
        assert [test.outcome.value for test in sqlaudit.gate(policy).tests] == ["error"]
    policy.write_text(
        f"{head}- {{table: t, quasi_identifiers: [{{expr: age}}], requirements: [k=2]}}\n", encoding="utf-8"
    )
    assert "expression: year(birth)" in load_policy(policy).tables[0].mistakes[0].message


@pytest.mark.parametrize(
    ("name", "groups"), [("age-band", 2), ('"age-band"', 2), ('"it\'s"', 4), ("%fat", 4), ("(age-band)", 1)]
)
def test_a_name_on_the_command_line_and_in_the_console_is_the_column(name: str, groups: int, tmp_path: Path) -> None:
    database = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(database)) as connection:
        odd = 'i % 2 AS "age-band", i % 4 AS "it\'s", i % 4 AS "%fat"'
        connection.execute(f"CREATE TABLE t AS SELECT i AS age, i AS band, {odd} FROM range(8) AS r(i)")
    for ran in (
        run("console", "--db", database, "-c", f"AUDIT t BY ({name}) REQUIRE k >= 2"),
        run("audit", "t", "--db", database, "--qi", name, "--require", "k=2"),
    ):
        assert f"8 rows in {groups} group" in ran.out


def test_a_proposed_policy_runs_whatever_columns_are_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for seed in range(8):
        Project(seed, tmp_path)
        assert run("init", "--db", "clinic.duckdb", "--force").code == 0
        (table,) = yaml.safe_load(Path("sqlaudit.yml").read_text(encoding="utf-8"))["tables"] or [None]
        if table is not None:
            assert all(test.outcome.value != "error" for test in sqlaudit.gate("sqlaudit.yml").tests)
        (tmp_path / "clinic.duckdb").unlink()


def test_a_requirement_without_a_statement_is_no_success(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    head = "version: 1\nconnections: {main: {env: X}}\ntables:\n- table: Visits of 2020\n  quasi_identifiers: [age]\n"
    Path("sqlaudit.yml").write_text(f"{head}  requirements: [k=2]\n", encoding="utf-8")
    ran = run("compile", "-f", "sqlaudit.yml", "--dialect", "snowflake")
    assert ran.code == 0
    assert 'FROM "Visits of 2020" AS audited' in ran.out
    Path("sqlaudit.yml").write_text(
        f"{head}  requirements: [k=2, {{column_sets: {{max_size: 1}}}}]\n", encoding="utf-8"
    )
    ran = run("compile", "-f", "sqlaudit.yml")
    assert ran.code == 1
    assert "column_sets=max_size:1,k:5,share:0% is not written" in ran.err
    Path("sqlaudit.yml").write_text(f"{head}  requirements: [k=2, l=2]\n", encoding="utf-8")
    assert run("compile", "-f", "sqlaudit.yml").code == 2


def test_a_table_that_no_name_can_be(tmp_path: Path) -> None:
    from sqlaudit.base.spec import Roles, Target
    from sqlaudit.gates.standalone.checks import compile_statements

    for name in ("a..b", "a.b.c.d", '"a'):
        with pytest.raises(UsageError, match="is not a table's name"):
            compile_statements(Target(name), Roles(("age",)), ["k=2"])
