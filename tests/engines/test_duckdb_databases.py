"""DuckDB database files: every way to name a table, queries, conditions, and files that are no databases."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import sqlaudit
from sqlaudit.base.errors import EngineError, InputError, PermissionDenied, UsageError
from sqlaudit.base.relation import Kind, Statement
from sqlaudit.base.spec import ReadOptions, Target
from sqlaudit.engines import connect
from sqlaudit.engines.duckdb.engine import DuckDBEngine
from tests.engines.duckdb_helpers import error_of, read, since_2, written

SETUP = """
CREATE TABLE p AS SELECT 1 AS a;
CREATE SCHEMA s; CREATE TABLE s.p AS SELECT 2 AS a; CREATE TABLE s.visits AS SELECT 3 AS a;
CREATE SCHEMA t; CREATE TABLE t."Visits" AS SELECT 4 AS a;
CREATE SCHEMA "odd.schema"; CREATE TABLE "odd.schema"."a.b" AS SELECT 5 AS a;
CREATE TABLE "Odd ""name""; drop" AS SELECT 6 AS "select";
CREATE TABLE "😀 été" AS SELECT 7 AS "é";
CREATE TABLE "order" AS SELECT 8 AS a;
CREATE VIEW v AS SELECT a + 10 AS a FROM s.p;
CREATE VIEW outside AS SELECT * FROM read_csv('{csv}');
CREATE TABLE gone AS SELECT 1 AS a; CREATE VIEW stale AS SELECT * FROM gone; DROP TABLE gone;
CREATE MACRO plus(x) AS x + 1;
CREATE TABLE people AS SELECT i AS id, 20 + i % 50 AS age, 'x' || i % 3 AS kind FROM range(100) r(i);
"""


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("databases")
    csv = written(folder / "visits.csv", "a\n1\n2\n")
    path = folder / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(SETUP.format(csv=csv))
    return str(path)


@pytest.mark.parametrize(
    ("name", "sql", "row"),
    [
        ("p", '"clinic"."main"."p"', (1,)),
        ("P", '"clinic"."main"."p"', (1,)),
        ("main.p", '"clinic"."main"."p"', (1,)),
        ("s.p", '"clinic"."s"."p"', (2,)),
        ("S.P", '"clinic"."s"."p"', (2,)),
        ("clinic.p", '"clinic"."main"."p"', (1,)),
        ("clinic.s.p", '"clinic"."s"."p"', (2,)),
        ("visits", '"clinic"."s"."visits"', (3,)),
        ("Visits", '"clinic"."t"."Visits"', (4,)),
        ('"odd.schema"."a.b"', '"clinic"."odd.schema"."a.b"', (5,)),
        ("a.b", '"clinic"."odd.schema"."a.b"', (5,)),
        ('Odd "name"; drop', '"clinic"."main"."Odd ""name""; drop"', (6,)),
        ('main."Odd ""name""; drop"', '"clinic"."main"."Odd ""name""; drop"', (6,)),
        ("😀 été", '"clinic"."main"."😀 été"', (7,)),
        ("order", '"clinic"."main"."order"', (8,)),
        ("v", '"clinic"."main"."v"', (12,)),
    ],
)
def test_every_way_to_name_a_table(db: str, name: str, sql: str, row: tuple[int, ...]) -> None:
    relation, rows = read(Target(relation=name), db)
    assert (relation.sql, rows, relation.label) == (sql, [row], name)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("peopel", "There is no table or view 'peopel' in {db}. Did you mean 'people'?"),
        ("x.visits", "There is no table or view 'x.visits' in {db}. Did you mean 't.Visits'?"),
        ("VISITS", "'VISITS' is ambiguous in {db}: it may be 's.visits' or 't.Visits'."),
        ("a.b.c.d", "There is no table or view 'a.b.c.d' in {db}."),
        ('"p', "'\"p' is not a table name. Write schema.table, with double quotes around unusual names."),
        ("stale", "There is no table or view 'gone', which the step 'open stale' reads."),
        ("duckdb_tables", "There is no table or view 'duckdb_tables' in {db}."),
    ],
)
def test_names_that_fit_nothing(db: str, name: str, expected: str) -> None:
    assert error_of(UsageError, Target(relation=name), db) == expected.format(db=repr(db))


@pytest.mark.parametrize(
    ("query", "rows", "tables"),
    [
        ("SELECT a FROM p", [(1,)], ("main.p",)),
        ("SELECT a FROM s.p", [(2,)], ("s.p",)),
        ("SELECT x.a, v.a FROM clinic.s.p x, v", [(2, 12)], ("s.p", "main.v")),
        ("SELECT clinic.main.plus(a) AS a FROM p", [(2,)], ("main.p",)),
        ("WITH p AS (SELECT 9 AS a) SELECT a FROM p", [(9,)], ()),
        ("WITH q AS (SELECT a FROM s.p) SELECT a FROM q", [(2,)], ("s.p",)),
        ("SELECT s.p.a FROM s.p", [(2,)], ("s.p",)),
        ("SELECT P.a FROM P", [(1,)], ("main.p",)),
        (
            "SELECT count(*) AS n FROM people WHERE age < 30 GROUP BY kind ORDER BY n",
            [(6,), (7,), (7,)],
            ("main.people",),
        ),
    ],
)
def test_queries_see_the_tables_of_the_database(
    db: str, query: str, rows: list[tuple[int, ...]], tables: tuple[str, ...]
) -> None:
    relation, found = read(Target(query=query), db)
    assert (sorted(found), relation.tables, relation.label) == (rows, tables, "query")
    assert relation.sql == '"memory"."input"."query"'


def test_a_query_may_join_a_file(db: str) -> None:
    csv = str(Path(db).with_name("visits.csv"))
    relation, rows = read(Target(query=f"SELECT p.a, f.a FROM p JOIN '{csv}' f ON f.a = p.a"), db)
    assert (rows, relation.tables, relation.parsed) == ([(1, 1)], ("main.p", csv), True)


def test_queries_without_a_database_read_the_files_they_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "a.csv", "id,x\n1,?\n2,y\n")
    written(tmp_path / "b.csv", "id,z\n2,5\n")
    monkeypatch.chdir(tmp_path)
    query = 'WITH t AS (FROM \'a.csv\') SELECT t.id, "b.csv".z FROM t JOIN "b.csv" USING (id)'
    relation, rows = read(Target(query=query))
    assert (rows, sorted(relation.tables)) == ([(2, 5)], ["a.csv", "b.csv"])
    options = ReadOptions(null_values=("?",))
    assert read(Target(query="SELECT count(x) AS n FROM 'a.csv'", read=options))[1] == [(1,)]
    assert read(Target(query="SELECT * FROM 'a.csv'", where="id = 2"))[1] == [(2, "y")]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT * FROM 'aa.csv'", "There is no file 'aa.csv'. Did you mean 'a.csv'?"),
        ("SELECT * FROM people", "There is no file 'people'. For a table, name its database with db=."),
        (
            "SELECT * FROM read_csv('a.csv')",
            "A query reads files by name: write FROM 'file.csv' instead of calling a function for it.",
        ),
        (
            "SELECT * FROM read_text('/etc/hostname')",
            "A query reads files by name: write FROM 'file.csv' instead of calling a function for it.",
        ),
        (
            "SELECT * FROM glob('/*')",
            "A query reads files by name: write FROM 'file.csv' instead of calling a function for it.",
        ),
        ("SELECT b FROM 'a.csv'", "There is no column 'b'. Did you mean 'ab'?"),
        ("DROP TABLE a", "query takes one SELECT, not a DROP statement."),
    ],
)
def test_queries_that_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: str, expected: str) -> None:
    written(tmp_path / "a.csv", "ab\n1\n")
    monkeypatch.chdir(tmp_path)
    assert error_of(UsageError, Target(query=query)) == expected


def test_two_result_columns_that_differ_by_case() -> None:
    assert error_of(InputError, Target(query='SELECT 1 AS a, 2 AS "A"')) == (
        "The columns 'a' and 'A' of 'query' differ only in upper and lower case, which DuckDB ignores. Rename one."
    )


def test_conditions_restrict_a_table(db: str) -> None:
    relation, rows = read(Target(relation="people", where="kind = 'x1' AND age < 25 -- young"), db)
    assert rows == [(1, 21, "x1"), (4, 24, "x1"), (52, 22, "x1")]
    assert [column.kind for column in relation.columns] == [Kind.INTEGER, Kind.INTEGER, Kind.TEXT]
    assert relation.sql == '"memory"."input"."people"'


_NO_FUNCTION = (
    'DuckDB has no function \'{0}\'; a macro of the database is called by its full name, "clinic"."main".{0}(…).'
)
_ROW = "where takes an expression over the columns of one row, without subquery, aggregate or window."


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("agee = 1", "There is no column 'agee'. Did you mean 'age'?"),
        ("people.agee = 1", "There is no column 'agee'. Did you mean 'age'?"),
        ("nofunction(age)", _NO_FUNCTION.format("nofunction")),
        ("plus(age) = 1", _NO_FUNCTION.format("plus")),
        ("year(age) = 1", "The function 'year' does not take (BIGINT). Cast its arguments."),
        (
            "age = (SELECT 1)",
            "where takes an expression over the columns of one row, without subquery, aggregate or window.",
        ),
        ("1 = 1) OR (1 = 1", "where could not be read as DuckDB SQL (line 1, column 13)."),
        ("list(age) = 1", _ROW),
        ("entropy(age) = 1", "An expression over the columns of one row must not have an aggregate."),
    ],
)
def test_conditions_that_are_refused(db: str, where: str, expected: str) -> None:
    assert error_of(UsageError, Target(relation="people", where=where), db) == expected


@pytest.mark.parametrize(
    "where", ["CAST(kind AS INTEGER) = 1", pytest.param("id // (id - id) = 1", marks=since_2), "kind = 5"]
)
def test_conditions_that_fail_on_a_value(db: str, where: str) -> None:
    assert error_of(UsageError, Target(relation="people", where=where), db) == (
        "An expression in the step 'rows' meets a value that it can't convert or compute; use TRY_CAST, or leave such "
        "rows out with where=."
    )


def test_a_view_that_reads_a_file_is_refused(db: str) -> None:
    expected = "The step 'open outside' reads a file that is not an input. Only the named files can be read."
    assert error_of(PermissionDenied, Target(relation="outside"), db) == expected


def test_read_options_have_no_meaning_for_tables(db: str) -> None:
    options = ReadOptions(null_values=("?",))
    assert error_of(UsageError, Target(relation="p", read=options), db) == (
        "The option 'null values' applies to files, not to a table of a database."
    )
    assert error_of(UsageError, Target(query="SELECT * FROM p", read=options), db) == (
        "The option 'null values' applies to files, not to a query that reads no file."
    )


def test_with_a_database_a_file_can_be_opened_beside_it(db: str) -> None:
    csv = str(Path(db).with_name("visits.csv"))
    people, visits = Target(relation="people"), Target(relation=csv)
    with connect(db, None, people, visits) as engine:
        first, second = engine.open(people), engine.open(visits)
        sql = "SELECT count(*) FROM " + first.sql + " AS x JOIN " + second.sql + " AS y ON x.id = y.a"
        assert engine.run(Statement("joined", sql)) == [(2,)]


@pytest.mark.parametrize("name", ["main", "memory", "temp", pytest.param("System", marks=since_2), 'x y;"q'])
def test_database_files_with_awkward_names(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE p AS SELECT 1 AS a")
    assert read(Target(relation="p"), str(path))[1] == [(1,)]
    assert read(Target(query="SELECT a FROM main.p"), str(path))[1] == [(1,)]


@since_2
def test_rows_that_are_still_in_the_write_ahead_log(tmp_path: Path) -> None:
    path = str(tmp_path / "crashed.duckdb")
    program = (
        "import duckdb, os, sys; c = duckdb.connect(sys.argv[1]); c.execute('CREATE TABLE p AS SELECT 1 AS a');"
        "c.execute('CHECKPOINT'); c.execute('INSERT INTO p VALUES (2)'); os._exit(1)"
    )
    subprocess.run([sys.executable, "-c", program, path], check=False)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert sorted(before) == ["crashed.duckdb", "crashed.duckdb.wal"]
    assert read(Target(relation="p"), path)[1] == [(1,), (2,)]
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE p AS SELECT 'SECRET' || i AS a FROM range(1000) r(i)")
    return path


def test_files_that_are_no_databases(small: Path) -> None:
    whole = small.read_bytes()
    folder = small.parent
    text = written(folder / "text.duckdb", "SECRET" * 100)
    assert error_of(InputError, Target(relation="p"), text) == f"{text!r} is not a DuckDB database."
    empty = written(folder / "empty.duckdb", "")
    assert error_of(InputError, Target(relation="p"), empty) == f"{empty!r} is not a DuckDB database."
    cut = written(folder / "cut.duckdb", whole[: len(whole) // 2])
    assert error_of(InputError, Target(relation="p"), cut) == f"{cut!r} is damaged or was cut off."
    bent = written(folder / "bent.duckdb", whole[:13_000] + bytes(b ^ 255 for b in whole[13_000:]))
    assert error_of(InputError, Target(relation="p"), bent) == f"{bent!r} is a damaged DuckDB database."
    missing = str(folder / "nope.duckdb")
    assert error_of(UsageError, Target(relation="p"), missing) == f"There is no database file {missing!r}."
    expected = f"The database {str(folder)!r} is a folder, not a file."
    assert error_of(UsageError, Target(relation="p"), str(folder)) == expected
    expected = f"{str(small)!r} is a DuckDB database. Give it with db=, and name one of its tables or views."
    assert error_of(UsageError, Target(relation=str(small))) == expected


def test_a_database_of_a_newer_duckdb(small: Path) -> None:
    blocks = bytearray(small.read_bytes())
    blocks[12:20] = struct.pack("<Q", 9999)
    blocks[0:8] = struct.pack("<Q", _checksum(bytes(blocks[8:4096])))
    path = written(small.with_name("newer.duckdb"), bytes(blocks))
    expected = f"{path!r} was written by a newer DuckDB. Upgrade the duckdb package."
    assert error_of(EngineError, Target(relation="p"), path) == expected


def _checksum(block: bytes) -> int:
    """How DuckDB sums up a header block: the words, multiplied by a constant and joined by XOR."""
    total = 5381
    for (word,) in struct.iter_unpack("<Q", block):
        total ^= word * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
    return total


@pytest.fixture
def writer(small: Path) -> Iterator[None]:
    """Another process that has the database open for writing."""
    program = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", program, str(small)], **pipes) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        yield
        process.communicate()


@pytest.mark.usefixtures("writer")
def test_a_database_that_another_process_writes_to(small: Path) -> None:
    expected = f"{str(small)!r} is open for writing elsewhere. Close it there, or audit a copy."
    assert error_of(EngineError, Target(relation="p"), str(small)) == expected


def test_a_database_that_this_process_has_open(small: Path) -> None:
    expected = f"{str(small)!r} is open for writing elsewhere. Close it there, or audit a copy."
    with duckdb.connect(str(small)):
        assert error_of(EngineError, Target(relation="p"), str(small)) == expected
    with duckdb.connect(str(small), read_only=True):
        assert len(read(Target(relation="p"), str(small))[1]) == 1000


def test_the_engine_follows_from_the_database(small: Path) -> None:
    with connect(str(small)) as engine:
        assert isinstance(engine, DuckDBEngine)
        assert engine.version() == f"DuckDB {duckdb.__version__}"


@pytest.mark.parametrize(
    "target", ["people", "seen", "SELECT * FROM people", "SELECT name COLLATE NOCASE AS name FROM plain"]
)
def test_a_collation_that_folds_case_is_followed_everywhere_and_told(tmp_path: Path, target: str) -> None:
    """One class and one text for what the database finds equal, as on PostgreSQL, and a warning."""
    path = tmp_path / "folded.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute("CREATE TABLE people (name VARCHAR COLLATE NOCASE, age INTEGER)")
        made.execute("INSERT INTO people VALUES ('Anna', 1), ('anna', 1), ('Bert', 2), (NULL, 2)")
        made.execute("CREATE VIEW seen AS FROM people")
        made.execute("CREATE TABLE plain AS SELECT CAST(decode(encode(name)) AS VARCHAR) AS name FROM people")
    asked = {"query": target} if " " in target else {"target": target}
    result = sqlaudit.audit(**asked, db=str(path), qi="name", require="k=1")
    assert (result.classes.count, result.classes.max_size) == (3, 2)
    assert ("equal_but_written_differently", ("name",)) in [(one.code, one.columns) for one in result.warnings]
    relation, found = read(Target(**({"query": target} if " " in target else {"relation": target})), str(path))
    assert relation.respelled == ("name",)
    assert sorted(row[0] or "" for row in found) == ["", "Anna", "Anna", "Bert"]
    assert read(Target(relation="plain"), str(path))[0].respelled == ()
