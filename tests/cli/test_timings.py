"""`--timings`: the steps that ran with their rows, on stderr alone, and after Ctrl-C, too."""

from __future__ import annotations

import json
import re
import signal
import time
from pathlib import Path

import duckdb
import pytest

from sqlaudit.base.relation import Statement
from sqlaudit.engines.contract import Engine
from tests.cli.runner import patients, run
from tests.cli.test_session import ENDLESS, started

AUDIT = ("--qi", "age,sex", "--sensitive", "disease")


def steps_in(text: str) -> dict[str, tuple[str, str]]:
    """How many statements and rows each step of the table has."""
    lines = re.findall(r"^  (\S.*?)  +(\d+)  +([\d,]*)  +\d+\.\d\d s ", text, re.MULTILINE)
    return {step: (statements, rows) for step, statements, rows in lines}


def test_every_step_is_in_the_table_with_its_rows(tmp_path: Path) -> None:
    file = patients(tmp_path)
    shown = run("audit", file, *AUDIT, "--show-sql", "--format", "json")
    ran = run("audit", file, *AUDIT, "--timings", "--format", "json")
    json.loads(ran.out)
    steps = steps_in(ran.err)
    names = set(re.findall(r"^-- (.*), \d+\.\d+ s$", shown.err, re.MULTILINE))
    assert steps.keys() == {name.replace("_", " ") for name in names}
    assert steps["equivalence classes"] == ("1", "4")  # of age and sex
    assert "SELECT" not in ran.err
    assert re.search(r"Its peak memory +[\d,]+ MB", ran.err)


def test_rows_are_what_a_statement_returned_or_kept(engine: Engine) -> None:
    already = len(engine.executed)
    three = Statement("three rows", "SELECT a FROM (VALUES (1), (2), (3)) AS t(a)")
    engine.run(three)
    engine.columns_as_arrays(three)
    assert [len(rows) for rows in engine.stream(three, 2)] == [2, 1]
    expected = [3, 3, 3]
    if engine.name == "DuckDB":
        engine.materialize("kept_three", three)
        engine.extend("kept_three", three)
        engine.drop("kept_three")
        expected += [3, 3]
    assert [executed.rows for executed in engine.executed[already:]] == expected


def test_a_policy_and_a_certificate_have_timings_too(tmp_path: Path) -> None:
    file = patients(tmp_path)
    certificate = tmp_path / "audit.cert.json"
    run("audit", file, *AUDIT, "--certificate", certificate)
    assert steps_in(run("verify", certificate, "--timings").err)["equivalence classes"] == ("1", "4")
    with duckdb.connect(str(tmp_path / "people.duckdb")) as connection:
        connection.execute(f"CREATE TABLE people AS FROM '{file}'")
    policy = tmp_path / "sqlaudit.yml"
    policy.write_text(
        "version: 1\nconnections: {main: {duckdb: people.duckdb}}\n"
        "tables: [{table: people, quasi_identifiers: [age, sex], requirements: [k: 1]}]\n",
        encoding="utf-8",
    )
    tested = run("test", "-f", policy, "--timings")
    assert (tested.code, tested.out.count("Where the time went")) == (0, 0)
    assert steps_in(tested.err)["equivalence classes"] == ("1", "4")
    refused = run("test", "-f", policy, "--results", tmp_path / "run_results.json", "--timings")
    assert (refused.code, "leave out" in refused.err) == (2, True)


def test_what_ran_before_ctrl_c_is_told(tmp_path: Path) -> None:
    process = started(
        "audit", "--query", ENDLESS, "--qi", "a", "--output", tmp_path / "r.txt", "--timings", "--show-sql"
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("-- ")  # the first step is done, the endless one begins
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Where the time went\n" in err
    assert err.splitlines()[-1].startswith("sqlaudit: stopped by Ctrl-C; ")


@pytest.mark.parametrize("option", ["--dry-run", "--explain"])
def test_a_plan_has_the_times_of_what_it_asked(tmp_path: Path, option: str) -> None:
    ran = run("audit", patients(tmp_path), *AUDIT, option, "--timings")
    assert ran.code == 0
    assert steps_in(ran.err).keys() <= {"open", "read the columns"}
