"""A small world with something to lose: tables and files that no one asked for, and what must be as before.

Every value of a cell holds `MARK`, so a value that gets out is seen wherever it turns up. One table and one file hold
`SECRET` besides; who finds that in an output has read what no one named.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
from click.testing import CliRunner

from sqlaudit.cli import cli
from tests.postgres_load import Loader

MARK = "Zq7"
SECRET = "Zq7secret"
FAILED = (0, 1, 2, 3, 4)
"""The exit codes of the command line, without that of an interruption, which no one makes here."""
STEERING = frozenset(chr(code) for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t")
"""What would steer a terminal."""
PEOPLE = """
SELECT CAST(20 + (i * 7) % 35 AS INTEGER) AS age, ['f', 'm'][1 + i % 2] AS sex, 'Zq7-' || (130 + i % 4) AS zip,
       ['Zq7flu', 'Zq7cold', 'Zq7ulcer'][1 + (i * i) % 3] AS disease, (i * 37) % 90 + 0.25 AS income,
       DATE '1950-01-31' + CAST(i * 311 AS INTEGER) AS born, CAST(i AS INTEGER) AS person
FROM range(48) AS numbers (i)
"""
RELEASE = """
SELECT '[' || age // 10 * 10 || ', ' || (age // 10 * 10 + 10) || ')' AS age, '*' AS sex, left(zip, 5) || '**' AS zip,
       disease, income, born, person
FROM people
"""
COLUMNS = ("age", "sex", "zip", "disease", "income", "born", "person")
POLICY = """version: 1
connections:
  main: {duckdb: clinic.duckdb}
tables:
  - table: people
    quasi_identifiers: [age, sex]
    sensitive: [disease]
    tags: [release]
    requirements:
      - k: 5
      - l: 2
        severity: warn
      - column_sets: {max_size: 2, k: 5, share: 1%}
      - loss: {original: people, measure: ncp, of: mean, at_most: 10%}
"""
HIERARCHIES = """hierarchies:
  age: {widths: [5, 10, 20], low: 20, high: 50}
  zip: {mask: [1, 2, 3]}
  born: {dates: [month, year, decade]}
  sex: keep
  disease:
    tree: {lungs: [Zq7flu, Zq7cold], belly: [Zq7ulcer]}
  income: {sql: ["CASE WHEN value < 50 THEN 'little' ELSE 'much' END"]}
"""
INPUTS = """categories:
  lungs: [Zq7flu, Zq7cold]
  belly: [Zq7ulcer]
order: [Zq7flu, Zq7cold, Zq7ulcer]
tree: {lungs: [Zq7flu, Zq7cold], belly: [Zq7ulcer]}
class_function: {Zq7flu: 0, Zq7cold: 1, Zq7ulcer: 2.5}
width: 1.5
alpha: {Zq7flu: 0.5}
population: people.csv
"""
KNOWLEDGE = """- person: {age: 20, sex: f}
  not: Zq7flu
"""


@dataclass(frozen=True)
class Ran:
    """What a command did: its arguments, its exit code and what it wrote on stdout and stderr."""

    arguments: tuple[str, ...]
    code: int
    out: str
    err: str


@dataclass
class World:
    """A folder with tables and files, of which every example must leave everything as it was.

    Args:
        folder: where everything lies. postgres: a URL for a role that reads the same tables, empty = none.
    """

    folder: Path
    postgres: str = ""
    threads: int = 0
    before: Mapping[str, str] = field(default_factory=dict)

    def build(self) -> World:
        """Make the tables and files, and remember what they are."""
        database = str(self.folder / "clinic.duckdb")
        with duckdb.connect(database) as connection:
            connection.execute("CREATE TABLE people AS " + PEOPLE)
            connection.execute("CREATE TABLE released AS " + RELEASE)
            connection.execute(f"CREATE TABLE planted AS SELECT '{SECRET}' AS word, 1 AS age")
            connection.execute('CREATE TABLE "odd ""name"";--" AS FROM people')
            for name in ("people", "released", "planted"):
                connection.execute(f"COPY {name} TO '{self.folder / name}.csv'")
            connection.execute(f"COPY people TO '{self.folder}/people.parquet'")
        texts = {
            "sqlaudit.yml": POLICY,
            "hierarchies.yml": HIERARCHIES,
            "inputs.yml": INPUTS,
            "knowledge.yml": KNOWLEDGE,
            "queries.sql": "SELECT count(*) FROM data WHERE age < 40;\n",
        }
        for name, text in texts.items():
            (self.folder / name).write_text(text, encoding="utf-8")
        self.before = fingerprints(self.folder)
        self.threads = threading.active_count()
        return self

    def run(self, *arguments: str) -> Ran:
        """Run the command line as a stranger would type it, in this process, and check what must hold for every run."""
        ran = self.run_unchecked(*arguments)
        self.check(ran)
        return ran

    def run_unchecked(self, *arguments: str) -> Ran:
        """The same without any check."""
        done = CliRunner(env={"SQLAUDIT_DEBUG": "1"}).invoke(cli, list(arguments), catch_exceptions=False)
        return Ran(arguments, done.exit_code, done.stdout, done.stderr)

    def check(self, ran: Ran) -> None:
        """What holds for every run.

        Raises:
            AssertionError: an unknown exit code, a traceback, an internal error, a steering sign, a value, a change.
        """
        assert ran.code in FAILED, ran
        if "Traceback" in ran.err or "internal error" in ran.err:
            raise fault(ran)
        assert ran.err or ran.out or not ran.code, ran
        assert not STEERING & {*ran.out, *ran.err}, ran
        given = "\n".join(ran.arguments)
        for word in (SECRET, MARK):
            assert word in given or word not in ran.out + ran.err, ran
        self.check_unchanged()

    def check_unchanged(self) -> None:
        """No file was made, removed or changed.

        Raises:
            AssertionError: the first difference.
        """
        now = fingerprints(self.folder)
        assert now == self.before, sorted(set(now.items()) ^ set(self.before.items()))[:4]

    def remove_new(self) -> None:
        """Remove the files that a command was told to write."""
        for name in set(fingerprints(self.folder)) - set(self.before):
            (self.folder / name).unlink()


def fault(ran: Ran) -> AssertionError:
    """The error for a fault of the program; a class of its own for each place, so that each place is found."""
    places = [line.strip().rpartition("/")[2] for line in ran.err.splitlines() if line.startswith("  /")]
    last = [place for place in places if ".py:" in place][-1:] or ["somewhere"]
    return type("Fault in " + last[0], (AssertionError,), {})(ran.arguments, ran.err[-1500:])


def fingerprints(folder: Path) -> dict[str, str]:
    """Every file below the folder with a hash of its bytes."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        for path in sorted(folder.rglob("*"))
    }


@contextmanager
def at_home(folder: Path) -> Iterator[None]:
    """While it lasts, the folder is the current one and the home of temporary files, and no server is the default."""
    kept = dict(os.environ)
    home = Path.cwd()
    temporary = folder.parent / (folder.name + "-tmp")
    temporary.mkdir()
    quiet = {name: value for name, value in kept.items() if not name.startswith("PG")}
    os.environ.clear()
    os.environ.update({**quiet, "PGHOST": "/nonexistent", "PGCONNECT_TIMEOUT": "2", "TMPDIR": str(temporary)})
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(home)
        os.environ.clear()
        os.environ.update(kept)
        shutil.rmtree(temporary)


def load_postgres(load: Loader, folder: Path, schema: str) -> Callable[[], object]:
    """Load the tables into a schema of a PostgreSQL server; what gives the state of everything there afterwards."""
    kinds = {"age": "integer", "person": "integer", "born": "date", "income": "double precision"}
    load("people", folder / "people.csv", types=kinds, schema=schema)
    load("planted", folder / "planted.csv", schema=schema)

    def state() -> object:
        tables = [
            load.execute(f"SELECT xmin::text, t::text FROM {schema}.{name} AS t") for name in ("people", "planted")
        ]
        catalog = load.execute("SELECT oid, relname, relkind, xmin::text FROM pg_class WHERE relpersistence <> 't'")
        functions = load.execute("SELECT count(*) FROM pg_proc UNION ALL SELECT count(*) FROM pg_roles")
        return tables, sorted(catalog), functions, load.execute("SELECT count(*) FROM pg_largeobject_metadata")

    return state
