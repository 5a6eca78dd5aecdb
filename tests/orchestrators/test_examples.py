"""The examples for Airflow, SQLMesh, Great Expectations and Soda: the commands of their pages, to a FAIL and a PASS.

Each tool is in an environment of its own, beside the others in the folder that SQLAUDIT_ORCHESTRATORS names (.ci/run
makes them from the examples' requirements.txt); sqlaudit is in that of the tests.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

import sqlaudit
from tests.places import REPOSITORY

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
QUIET = {"SQLMESH__DISABLE_ANONYMIZED_ANALYTICS": "true", "GX_ANALYTICS_ENABLED": "false", "NO_COLOR": "1"}
RAW, SAFE = {"k_5": False, "l_2__diagnosis": False}, {"k_5": True, "l_2__diagnosis": True}
"""Which tests hold, by what their statements are called."""


@dataclass(frozen=True)
class Example:
    """A copy of an example with what its commands need."""

    folder: Path
    environment: Path

    @property
    def blocks(self) -> list[str]:
        """The commands of its page; the first block installs."""
        return BLOCK.findall((self.folder / "README.md").read_text(encoding="utf-8"))

    def run(self, commands: str) -> subprocess.CompletedProcess[str]:
        """Commands in its folder: python is that of the tool, sqlaudit that of the tests."""
        path = os.pathsep.join([str(self.environment / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
        return subprocess.run(
            ["bash", "-euc", commands],
            cwd=self.folder,
            env={**os.environ, **QUIET, "PATH": path, "HOME": str(self.folder.parent)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=300,
            check=False,
        )

    def audited(self) -> dict[str, dict[str, bool]]:
        """Which tests hold by `sqlaudit test`, by table and by what statements are called."""
        found: dict[str, dict[str, bool]] = {}
        for test in sqlaudit.gate(self.folder / "sqlaudit.yml").tests:
            about = f"__{test.sensitive}" if test.sensitive else ""
            found.setdefault(test.table, {})[test.requirement.replace("=", "_") + about] = not test.blocks
        return found


@pytest.fixture
def example(request: pytest.FixtureRequest, tmp_path: Path) -> Example:
    """The example that the test is called after, beside the patients that all of them read."""
    name = request.node.name.removeprefix("test_").partition("__")[0]
    environment = Path(os.environ["SQLAUDIT_ORCHESTRATORS"], name)
    kept_out = shutil.ignore_patterns("statements", "audits", "home", "logs", ".cache", "*.sqlite", "*.duckdb")
    shutil.copytree(REPOSITORY / "examples" / name, tmp_path / name, ignore=kept_out)
    seeds = Path("dbt", "seeds")
    shutil.copytree(REPOSITORY / "examples" / seeds, tmp_path / seeds)
    (tmp_path / ".soda").mkdir()
    (tmp_path / ".soda" / "config.yml").write_text("send_anonymous_usage_stats: false\n")
    return Example(tmp_path / name, environment)


def test_airflow__publishes_only_what_passes(example: Example) -> None:
    ran = example.run(example.blocks[1])
    assert ran.returncode == 1, ran.stdout
    with sqlite3.connect(example.folder / "home" / "airflow.db") as home:
        states = dict(home.execute("SELECT task_id, state FROM task_instance").fetchall())
    home.close()
    found: dict[str, dict[str, bool]] = {}
    for task, state in states.items():
        if "__" in task:
            table, _, test = task.rpartition("__")[0].partition("__")
            found.setdefault(table, {})[test] = {"success": True, "failed": False}[state]
    assert found == example.audited() == {"patients_raw": RAW, "patients_safe": SAFE}
    assert (states["publish_patients_raw"], states["publish_patients_safe"]) == ("upstream_failed", "success")
    with sqlite3.connect(example.folder / "clinic.sqlite") as clinic:
        tables = {name for (name,) in clinic.execute("SELECT name FROM sqlite_master").fetchall()}
    clinic.close()
    assert tables == {"patients", "patients_raw", "patients_safe", "published_patients_safe"}


def test_airflow__checks_that_are_not_there_stop_it(example: Example) -> None:
    (example.folder / "statements").mkdir()
    ran = example.run("python dags/release.py")
    assert ran.returncode == 1
    assert "There is no statement for patients_raw" in ran.stdout


def test_sqlmesh__promotes_only_what_passes(example: Example) -> None:
    red = example.run(example.blocks[1])
    assert red.returncode == 1, red.stdout
    assert "'privacy_of_clinic_patients_raw' audit error: 2 rows failed" in red.stdout
    assert promoted(example) == set()
    audited = {"clinic.patients_safe": SAFE}
    green = example.run(example.blocks[2])
    assert green.returncode == 0, green.stdout
    assert promoted(example) == {"patients", "patients_safe"}
    assert {name: tests for name, tests in example.audited().items() if name in audited} == audited
    assert built_raw_fails(example)


def promoted(example: Example) -> set[str]:
    """The views that anybody may see."""
    with duckdb.connect(str(example.folder / "warehouse.duckdb"), read_only=True) as warehouse:
        rows = warehouse.execute("SELECT view_name FROM duckdb_views() WHERE schema_name = 'clinic'").fetchall()
    return {name for (name,) in rows}


def built_raw_fails(example: Example) -> bool:
    """Whether an audit of the table that SQLMesh has built, and shows no one, fails both requirements."""
    database = str(example.folder / "warehouse.duckdb")
    with duckdb.connect(database, read_only=True) as warehouse:
        [(name,)] = warehouse.execute(
            "SELECT table_name FROM duckdb_tables() WHERE starts_with(table_name, 'clinic__patients_raw__')"
        ).fetchall()
    audit = sqlaudit.audit(
        f"sqlmesh__clinic.{name}", db=database, qi=["age", "sex", "zip"], sensitive="diagnosis", require=["k=5", "l=2"]
    )
    return [check.status.value for check in audit.checks] == ["fail", "fail"]


def test_great_expectations__fails_what_falls_short(example: Example) -> None:
    red = example.run(example.blocks[1])
    assert red.returncode == 1, red.stdout
    found: dict[str, dict[str, bool]] = {}
    for line in red.stdout.splitlines():
        if said := re.fullmatch(r"(patients_\w+?) (\w+) (holds|FAILS)", line):
            found.setdefault(said[1], {})[said[2]] = said[3] == "holds"
    assert found == example.audited() == {"patients_raw": RAW, "patients_safe": SAFE}
    green = example.run("rm statements/patients_raw__* && python validate.py statements sqlite:///clinic.sqlite")
    assert green.returncode == 0, green.stdout
    gone = example.run("rm clinic.sqlite && python validate.py statements sqlite:///clinic.sqlite")
    assert gone.returncode == 1


def test_soda__fails_what_falls_short(example: Example) -> None:
    red = example.run(example.blocks[1].replace("soda scan", "soda scan -srf found.json"))
    assert red.returncode == 2, red.stdout
    found: dict[str, dict[str, bool]] = {}
    for check in json.loads((example.folder / "found.json").read_text())["checks"]:
        found.setdefault(check["table"], {})[check["name"]] = {"pass": True, "fail": False}[check["outcome"]]
    assert found == example.audited() == {"patients_raw": RAW, "patients_safe": SAFE}
    again = "python make_checks.py statements checks.yml; soda scan -d clinic -c configuration.yml checks.yml"
    green = example.run(f"rm statements/patients_raw__*; {again}")
    assert green.returncode == 0, green.stdout
    gone = example.run(f"rm clinic.duckdb; {again}")
    assert gone.returncode not in (0, 2)


@pytest.mark.parametrize("name", ["sqlmesh/make_audits.py", "soda/make_checks.py"])
def test_a_folder_without_statements_makes_nothing(name: str, tmp_path: Path) -> None:
    command = [sys.executable, str(REPOSITORY / "examples" / name), str(tmp_path), str(tmp_path / "made")]
    ran = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert (ran.returncode, (tmp_path / "made").exists()) == (1, False)
    assert "contains no statement" in ran.stderr
