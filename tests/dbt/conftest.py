"""Real dbt, against DuckDB and PostgreSQL, in a copy of the sample project. Run in an environment of its own (.ci/run):

pip install -e '.[postgres,demo]' -r tests/dbt/requirements.txt && python -m pytest tests/dbt --dist loadfile
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest
import yaml

from tests.dbt import forked
from tests.places import REPOSITORY
from tests.postgres_server import PostgresServer, new_server

ROOT = REPOSITORY
DBT = Path(sys.executable).parent / "dbt"
TARGETS = ("duckdb", "postgres")
QUIET = {"DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}


VERSION = tuple(int(part) for part in version("dbt-core").split(".")[:3])
ARGUMENTS_APART = (1, 10, 5)
"""Before that version the arguments of a test stand beside its name."""


def in_words_of(dbt: tuple[int, ...], content: Any) -> Any:
    """A project's YAML as a version of dbt reads it."""
    if dbt >= ARGUMENTS_APART or not isinstance(content, dict | list):
        return content
    if isinstance(content, list):
        return [in_words_of(dbt, one) for one in content]
    arguments = content.get("arguments")
    lifted = {**content, **arguments} if isinstance(arguments, dict) else content
    return {key: in_words_of(dbt, one) for key, one in lifted.items() if key != "arguments"}


def run_dbt(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A dbt command as users type it, in a project's folder, with all that it says in stdout."""
    return subprocess.run(
        [str(DBT), "--no-use-colors", *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env={**os.environ, **QUIET, **environment},
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )


@dataclass(frozen=True)
class Ran:
    """What a dbt command left behind: its exit code, what it printed, and its results by the node's unique name."""

    code: int
    said: str
    results: Mapping[str, Mapping[str, Any]]

    def result(self, *words: str) -> Mapping[str, Any]:
        """The one result whose name holds all words."""
        found = [result for name, result in self.results.items() if all(word in name for word in words)]
        assert len(found) == 1, (words, sorted(self.results))
        return found[0]


@dataclass(frozen=True)
class Project:
    """A copy of the sample project, on one target."""

    folder: Path
    target: str
    environment: Mapping[str, str] = field(repr=False)
    database: str = ""
    """What `sqlaudit --db` takes."""

    def dbt(self, *arguments: str) -> Ran:
        """Run a dbt command."""
        results = self.folder / "target" / "run_results.json"
        results.unlink(missing_ok=True)
        given = ("--no-use-colors", *arguments, "--target", self.target)
        code, said = forked.run(self.folder, given, {**os.environ, **QUIET, **self.environment})
        found = json.loads(results.read_text(encoding="utf-8"))["results"] if results.exists() else []
        return Ran(code, said, {one["unique_id"]: one for one in found})

    def models(self, content: Mapping[str, Any], **sql: str) -> None:
        """Replace the project's models by these."""
        shutil.rmtree(self.folder / "models")
        (self.folder / "models").mkdir()
        told = yaml.safe_dump(in_words_of(VERSION, content))
        (self.folder / "models" / "schema.yml").write_text(told, encoding="utf-8")
        for name, text in sql.items():
            (self.folder / "models" / f"{name}.sql").write_text(text, encoding="utf-8")

    def table(self, name: str) -> str:
        """How sqlaudit is told a model of the project."""
        return f"clinic.{name}" if self.target == "postgres" else f"main.{name}"

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What a query finds in the target."""
        if self.target == "duckdb":
            with duckdb.connect(self.database, read_only=True) as connection:
                return connection.execute(query).fetchall()
        with psycopg.connect(self.database) as postgres:
            return postgres.execute(query.encode()).fetchall()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A real server that lives as long as the test run."""
    server = new_server()
    server.start()
    try:
        with psycopg.connect(server.admin_url("postgres"), autocommit=True) as connection:
            connection.execute("CREATE DATABASE clinic")
        yield server
    finally:
        server.delete()


@pytest.fixture(scope="module", params=TARGETS)
def project(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The sample project with its package installed, as `dbt deps` leaves it."""
    folder = tmp_path_factory.mktemp("dbt")
    kept_out = shutil.ignore_patterns("target", "dbt_packages", "logs", "*.duckdb", "package-lock.yml", ".user.yml")
    for part in ("examples/dbt", "sql_templates/dbt"):
        shutil.copytree(ROOT / part, folder / part, ignore=kept_out)
    home = folder / "examples" / "dbt"
    for file in home.glob("models/**/*.yml") if VERSION < ARGUMENTS_APART else ():
        told = in_words_of(VERSION, yaml.safe_load(file.read_text(encoding="utf-8")))
        file.write_text(yaml.safe_dump(told), encoding="utf-8")
    environment = {"CLINIC_DUCKDB": str(home / "clinic.duckdb")}
    database = str(home / "clinic.duckdb")
    if request.param == "postgres":
        database = request.getfixturevalue("postgres").admin_url()
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("DROP SCHEMA IF EXISTS clinic CASCADE")
        info = psycopg.conninfo.conninfo_to_dict(database)
        environment |= {f"CLINIC_PG{key.upper()}": str(info[key]) for key in ("host", "port", "user") if key in info}
        environment["CLINIC_PGDATABASE"] = str(info["dbname"])
    made = Project(home, request.param, environment, database)
    installed = made.dbt("deps")
    assert installed.code == 0, installed.said
    return made
