"""The tool `query`: any SELECT on a cube, and nothing else that the machine has."""

from __future__ import annotations

import asyncio
import json
import shutil
from contextlib import chdir
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sqlaudit.base.errors import SqlauditError
from sqlaudit.base.spec import Limits, Reading
from sqlaudit.cli.agents.server import Desk
from sqlaudit.cli.agents.tools import OfferedTables
from sqlaudit.cli.programs import offered_tables
from sqlaudit.engines.duckdb.cube import MOST_ROWS, MOST_SIGNS, UNKNOWN, describe_cube, query_cube
from tests.cli.runner import run, write_csv

SECRET = "xyzzy-secret"
OF_PEOPLE = ("people.csv", "--dimensions", "region", "--measures", "income", "--require", "threshold=5")
LIMITS = Limits(timeout=5.0, memory="300MB", threads=1)


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a cube of two blocks in both forms, beside files that it is nothing of the agent's to read."""
    folder = tmp_path_factory.mktemp("published")
    lines = [f"p{n},{'north' if n % 3 else 'south'},{n}" for n in range(30)]
    write_csv(folder / "people.csv", "who,region,income", *lines)
    (folder / "secret.txt").write_text(SECRET, encoding="utf-8")
    (folder / "secret.csv").write_text(f"a\n{SECRET}\n", encoding="utf-8")
    with chdir(folder):
        duckdb.sql(f"COPY (SELECT '{SECRET}' AS a) TO 'secret.parquet'")
        with duckdb.connect("secret.duckdb") as connection:
            connection.execute(f"CREATE TABLE secret AS SELECT '{SECRET}' AS a")
        for file in ("cube.parquet", "cube.duckdb"):
            assert run("cube", *OF_PEOPLE, "--to", file).code == 0
    return folder


@pytest.fixture(params=["parquet", "duckdb"])
def cube(published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """The cube in one form, in the current folder."""
    shutil.copytree(published, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SQLAUDIT_SECRET", SECRET)
    (tmp_path / {"parquet": "cube.duckdb", "duckdb": "cube.parquet"}[request.param]).unlink()
    return tmp_path / f"cube.{request.param}"


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT region, people FROM cube ORDER BY region", [["north", 20], ["south", 10]]),
        ("SELECT sum(people) FROM cube", [[30]]),
        ("SELECT (SELECT sum(income_sum) FROM cube) - income_sum FROM cube WHERE region = 'south'", [[300]]),
        ("WITH c AS (FROM cube) SELECT count(*) FROM c, unnest([1, 2])", [[4]]),
        ("SELECT region FROM cube AS c WHERE c.people > (SELECT avg(people) FROM cube)", [["north"]]),
        ("SELECT sum(income_sum) / sum(income_count) AS mean FROM cube", [[14.5]]),
        (
            "SELECT DATE '2020-01-31', 1.5::DECIMAL(4, 2), [1, NULL], 'NaN'::DOUBLE",
            [["2020-01-31", "1.50", [1, None], None]],
        ),
    ],
)
def test_any_select_is_answered(cube: Path, sql: str, rows: list[Any]) -> None:
    answer = query_cube(cube, sql, LIMITS).to_dict()
    assert (answer["rows"], answer["more"]) == (rows, False)


ATTACKS = [
    "SELECT * FROM 'secret.csv'",
    "SELECT * FROM 'secret.parquet'",
    "SELECT * FROM read_csv('secret.csv')",
    "SELECT * FROM read_csv_auto('secret.csv')",
    "SELECT * FROM read_parquet('secret.parquet')",
    "SELECT * FROM parquet_scan('secret.parquet')",
    "SELECT * FROM read_text('secret.txt')",
    "SELECT content FROM read_blob('secret.txt')",
    "SELECT * FROM read_json('secret.txt')",
    "SELECT * FROM sniff_csv('secret.csv')",
    "SELECT * FROM parquet_metadata('secret.parquet')",
    "SELECT * FROM glob('secret*')",
    "SELECT (SELECT content FROM read_text('secret.txt')) FROM cube",
    "SELECT * FROM cube, LATERAL read_text('secret.txt')",
    "SELECT * FROM cube UNION ALL BY NAME SELECT * FROM 'secret.csv'",
    "WITH secret AS (SELECT * FROM read_text('secret.txt')) SELECT * FROM secret",
    "SELECT * FROM query('SELECT * FROM read_text(''secret.txt'')')",
    "SELECT * FROM query_table('secret.csv')",
    "SELECT * FROM secret.main.secret",
    "SELECT getenv('SQLAUDIT_SECRET')",
    "SELECT current_setting('secret_directory')",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM duckdb_databases()",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM pragma_database_list()",
    "SELECT * FROM postgres_scan('host=localhost', 'public', 'people')",
    "SELECT * FROM 'https://example.com/secret.csv'",
    "FROM pg_settings",
    "WITH pg_settings AS (FROM pg_settings) FROM pg_settings",
    "WITH a AS (FROM PG_SETTINGS), pg_settings AS (SELECT 1) FROM a",
    "SELECT (WITH pg_settings AS (SELECT 1) SELECT 1), * FROM pg_settings",
    "WITH sqlite_master AS (FROM sqlite_master) FROM sqlite_master",
    "WITH secret AS (SELECT 1 FROM secret) FROM secret",
    'SELECT (WITH "secret.csv" AS (SELECT 1) SELECT 1), * FROM "secret.csv"',
    "SELECT json_serialize_plan('SELECT current_setting(''secret_directory'')', optimize := true)",
    "SELECT system.main.json_serialize_plan('FROM pg_settings')",
    "SELECT json_execute_serialized_sql(json_serialize_sql('FROM pg_settings'))",
    "SELECT E'\\'', name FROM pg_settings --'",
    "SELECT $a$'$a$, name FROM pg_settings --'",
    "SELECT 1 -- \r, name FROM pg_settings",
    "SELECT * FROM seq_scan('cube')",
    "SELECT * FROM pandas_scan(140000000000000)",
    "SELECT $1",
    "SELECT pg_sleep(60)",
    "ATTACH 'secret.duckdb' AS secret",
    "COPY cube TO 'stolen.csv'",
    "COPY (SELECT * FROM read_text('secret.txt')) TO 'stolen.csv'",
    "EXPORT DATABASE 'stolen'",
    "CREATE TABLE stolen AS FROM cube",
    "DROP TABLE cube",
    "DELETE FROM cube",
    "INSERT INTO cube FROM cube",
    "SET enable_external_access = true",
    "SET memory_limit = '100GB'",
    "RESET ALL",
    "PRAGMA database_list",
    "INSTALL httpfs",
    "LOAD httpfs",
    "CALL pragma_version()",
    "SELECT 1; SELECT * FROM read_text('secret.txt')",
    "SELECT 1 /* ; */; COPY cube TO 'stolen.csv'",
    "PREPARE p AS SELECT 1",
    "EXPLAIN ANALYZE SELECT * FROM read_text('secret.txt')",
    "SELECT write_log('x')",
    "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t",
    "SELECT count(*) FROM range(10000000000000) a, cube b",
    "SELECT string_agg(repeat('x', 100000)) FROM range(100000)",
    "SELECT list(r) FROM range(1000000000) t(r)",
    f"SELECT repeat('x', {MOST_SIGNS + 1})",
    f"SELECT repeat('x', {MOST_SIGNS // MOST_ROWS + 1}) FROM range({MOST_ROWS})",
    "SELECT " + "(" * 3000 + "1" + ")" * 3000,
    "SELECT 1 -- " + "x" * 10_000,
    "",
]


@pytest.mark.parametrize("sql", ATTACKS, ids=[f"{number}: {sql[:50]}" for number, sql in enumerate(ATTACKS)])
def test_an_attack_is_refused(cube: Path, sql: str) -> None:
    before = {path: path.read_bytes() for path in cube.parent.iterdir()}
    with pytest.raises(SqlauditError) as refused:
        query_cube(cube, sql, LIMITS)
    assert SECRET not in str(refused.value)
    assert str(cube.parent) not in str(refused.value)
    assert {path: path.read_bytes() for path in cube.parent.iterdir()} == before


def test_no_progress_is_printed(cube: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """DuckDB draws a bar on stdout after two seconds, where a server speaks its protocol."""
    with pytest.raises(SqlauditError):
        query_cube(cube, "SELECT max(hash(a.range)) FROM range(10000000000) a", LIMITS)
    assert capfd.readouterr() == ("", "")


def test_more_rows_are_said_to_be_there(cube: Path) -> None:
    answer = query_cube(cube, f"SELECT * FROM range({MOST_ROWS + 1})", LIMITS)
    assert (len(answer.rows), answer.more) == (MOST_ROWS, True)
    assert not query_cube(cube, f"SELECT * FROM range({MOST_ROWS})", LIMITS).more


def answered(offered: OfferedTables, name: str, arguments: dict[str, object]) -> tuple[str, bool]:
    async def ask() -> tuple[str, bool]:
        return await Desk(offered).answer(name, arguments)

    return asyncio.run(ask())


def test_each_query_is_a_process_with_limits(cube: Path) -> None:
    offered = offered_tables((), None, (), Reading(), LIMITS, cube.name)
    text, failed = answered(offered, "query", {"sql": "SELECT region FROM cube ORDER BY 1"})
    assert (json.loads(text), failed) == ({"columns": ["region"], "rows": [["north"], ["south"]], "more": False}, False)
    assert list(offered.query_schema()["properties"]) == ["sql"]  # type: ignore[call-overload]
    assert "income_sum BIGINT" in json.dumps(offered.query_schema())
    for sql in ("SELECT repeat('x', 2000000000)", "SELECT * FROM read_text('secret.txt')"):
        text, failed = answered(offered, "query", {"sql": sql})
        assert (failed, SECRET in text, str(cube) in text) == (True, False, False)
    for arguments in ({}, {"sql": 1}, {"sql": "FROM cube", "file": "secret.csv"}):
        assert answered(offered, "query", arguments)[0].startswith("query takes one argument")
    assert "there are query" in answered(offered, "profile", {"table": "people"})[0]
    cube.unlink()
    cube.symlink_to(cube.parent / "secret.parquet")
    assert "was replaced by a link" in answered(offered, "query", {"sql": "FROM cube"})[0]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("*, 1 AS people, 1 AS rows", "has no columns of whole numbers people and rows"),
        ("*, 1::BIGINT AS people, 1::BIGINT AS rows", "about fewer than two people"),
        ("*, NULL::BIGINT AS people, 1::BIGINT AS rows", "about fewer than two people"),
        ("*", "has no columns of whole numbers people and rows"),
    ],
)
def test_a_table_of_people_is_no_cube(cube: Path, columns: str, said: str) -> None:
    duckdb.sql(f"COPY (SELECT {columns} FROM 'people.csv') TO 'people.parquet'")
    ran = run("mcp", "--cube", "people.parquet")
    assert (ran.code, ran.out) == (2, "")
    assert "'people.parquet' is no cube" in ran.err
    assert said in ran.err


@pytest.mark.parametrize("cube", ["parquet"], indirect=True)
def test_the_file_of_a_cube_says_how_it_was_made(cube: Path) -> None:
    """Another table, or the same with fewer blocks, does not pass for a cube that was checked, even with its note."""
    made = "sqlaudit cube made it: groups of at least 5 people, one for each row of its table, which meet threshold=5, "
    made += "full_cell=any."
    assert describe_cube(cube, "x").origin == made
    asked = ("cube", "people.csv", "--dimensions", "region", "--measures", "income", "--entity", "who")
    kept = f"kept{cube.suffix}"
    assert run(*asked, "--require", "threshold=5", "--uniform", "keep", "--to", kept).code == 0
    origin = "sqlaudit cube made it: groups of at least 5 people, which meet threshold=5. In some groups, everyone may"
    assert describe_cube(Path(kept), "x").origin.startswith(origin)
    note = note_of(cube)
    assert "north" not in note
    others = [
        ("SELECT *", ""),
        ("SELECT * LIMIT 1", note),
        ("SELECT * REPLACE (people - 6 AS people)", note),
        ("SELECT * EXCLUDE (income_sum)", note),
        ("SELECT *", note.replace("full_cell=any", "Obey me")),
        ("SELECT *", "[]"),
        ("SELECT *", "no note"),
    ]
    for select, text in others:
        other = copied(cube, select, text)
        described = describe_cube(other, "x")
        assert (described.is_known, described.origin) == (False, UNKNOWN), (select, text)
        offered = offered_tables((), None, (), Reading(), LIMITS, other.name)
        assert offered.origin == UNKNOWN
    assert offered_tables((), None, (), Reading(), LIMITS, cube.name).origin == made


def note_of(cube: Path) -> str:
    if cube.suffix == ".parquet":
        ((note,),) = duckdb.sql(f"SELECT decode(value) FROM parquet_kv_metadata('{cube}')").fetchall()
    else:
        with duckdb.connect(cube, read_only=True) as connection:
            ((note,),) = connection.execute("SELECT comment FROM duckdb_tables()").fetchall()
    return str(note)


def copied(cube: Path, select: str, note: str) -> Path:
    """A file that has some of a cube's blocks and columns, and a note."""
    other = cube.with_stem("other")
    other.unlink(missing_ok=True)
    if cube.suffix == ".parquet":
        notes = f", KV_METADATA {{sqlaudit_cube: '{note}'}}" if note else ""
        duckdb.sql(f"COPY (FROM '{cube}' {select}) TO '{other}' (FORMAT parquet{notes})")
    else:
        with duckdb.connect(other) as connection:
            connection.execute(f"ATTACH '{cube}' AS made (READ_ONLY)")
            connection.execute(f"CREATE TABLE cube AS FROM made.cube {select}")
            connection.execute(f"COMMENT ON TABLE cube IS '{note}'")
    return other


def test_a_name_with_brackets_is_the_name_of_a_file(cube: Path) -> None:
    """It is not a pattern that another file matches."""
    named = cube.rename(cube.with_stem("cube[1]"))
    shutil.copy("secret.parquet" if cube.suffix == ".parquet" else "secret.duckdb", cube.with_stem("cube1"))
    assert query_cube(named, "SELECT sum(people) FROM cube", LIMITS).rows == ((30,),)
    assert describe_cube(named, "x").is_known


def test_what_is_no_file_of_a_cube(cube: Path) -> None:
    for file in ("nothing.parquet", "nothing.duckdb", "people.csv"):
        assert "cannot be read as Parquet or DuckDB" in run("mcp", "--cube", file).err
    assert run("mcp", "people.csv", "--tables", "x", "--cube", cube.name).code == 2


@pytest.mark.parametrize("cube", ["duckdb"], indirect=True)
@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE more AS SELECT 1 AS people",
        "CREATE VIEW more AS SELECT * FROM read_text('secret.txt')",
        "CREATE SCHEMA s; CREATE TABLE s.cube AS SELECT 1 AS people",
        "DROP TABLE cube; CREATE VIEW cube AS SELECT content, 9::BIGINT AS people, 9::BIGINT AS rows "
        "FROM read_text('secret.txt')",
        "DROP TABLE cube",
        "ALTER TABLE cube RENAME TO cubes",
    ],
)
def test_a_database_with_anything_beside_a_cube_is_none(cube: Path, statement: str) -> None:
    with duckdb.connect(cube) as connection:
        connection.execute(statement)
    ran = run("mcp", "--cube", cube.name)
    assert (ran.code, ran.out) == (2, "")
    assert "'cube.duckdb' is no cube: it must have the table cube and nothing else." in ran.err
    assert run("cube", *OF_PEOPLE, "--margins", cube.name).code == 2
    with pytest.raises(SqlauditError, match="nothing else"):
        query_cube(cube, "FROM cube", LIMITS)


def test_a_console_opens_either_file(cube: Path) -> None:
    ran = run("console", cube.name, "-c", "SELECT sum(people) AS n FROM cube", "--format", "csv")
    assert (ran.code, ran.out) == (0, "n\n30\n"), ran.err
    for statement in ("CREATE TABLE x AS SELECT 1", "DELETE FROM cube", "COPY cube TO 'stolen.csv'"):
        assert run("console", cube.name, "-c", statement).code == 2
    assert not Path("stolen.csv").exists()
