"""The statements of a policy as dbt models: their rows in dbt's own run_results.json are judged as a run is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

import sqlaudit
from tests.cli.runner import run
from tests.dbt.conftest import Project

ROWS = [(30, "F", "flu"), (30, "F", "flu"), (30, "F", "cold"), (40, "M", "flu"), (40, "M", None), (None, "M", "cold")]
REQUIREMENTS = ["k=1", {"k": 3, "error_if": "> 60%"}, {"l": 2, "severity": "warn"}, "t=0.4", "entropy_l=1.5", "k=2"]


@pytest.fixture
def policy(project: Project, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A policy over a model that dbt has made, and its statements among the models."""
    told = " union all ".join(
        f"select {'null' if age is None else age} as age, '{sex}' as sex, "
        f"{'null' if what is None else repr(what)} as diagnosis"
        for age, sex, what in ROWS
    )
    project.models({}, visits="{{ config(materialized='table') }} " + told)
    monkeypatch.setenv("CLINIC", project.database)
    written = {
        "version": 1,
        "connections": {"main": {"env": "CLINIC"}},
        "tables": [
            {
                "table": project.table("visits"),
                "quasi_identifiers": ["age", "sex"],
                "sensitive": ["diagnosis"],
                "requirements": REQUIREMENTS,
                "exceptions": [{"requirement": "t=0.4", "until": "2999-12-31", "reason": "soon"}],
            }
        ],
    }
    path = project.folder / "policy.yml"
    path.write_text(yaml.safe_dump(written), encoding="utf-8")
    (project.folder / "models" / "privacy").mkdir()
    dialect = project.target
    made = run("compile", "-f", path, "--dialect", dialect, "--each-to", project.folder / "models" / "privacy")
    assert made.code == 0, made.err
    config = project.folder / "dbt_project.yml"
    named = yaml.safe_load(config.read_text(encoding="utf-8"))
    named["models"] = {named["name"]: {"privacy": {"+materialized": "sqlaudit_answer"}}}
    config.write_text(yaml.safe_dump(named), encoding="utf-8")
    return path


def test_dbts_own_artefact_is_judged_as_a_run_is(project: Project, policy: Path) -> None:
    assert project.dbt("run", "--select", "visits").code == 0
    ran = project.dbt("run", "--select", "privacy")
    assert ran.code == 0, ran.said
    artefact = project.folder / "target" / "run_results.json"
    judged, expected = sqlaudit.gate(policy, results=[artefact]), sqlaudit.gate(policy)
    told = [
        [(one.name, one.outcome, one.check and (one.check.level, one.check.failing_rows), one.rows) for one in each]
        for each in (judged.tests, expected.tests)
    ]
    assert told[0] == told[1]
    assert [one.outcome.value for one in judged.tests] == ["pass", "warn", "warn", "excepted", "fail", "fail"]
    found = json.loads(artefact.read_text(encoding="utf-8"))
    assert "flu" not in json.dumps([one["message"] for one in found["results"]])

    (file,) = (project.folder / "models" / "privacy").glob("*__k_2__*.sql")
    file.write_text(file.read_text(encoding="utf-8").replace("FROM judged", "FROM judged WHERE true"), encoding="utf-8")
    assert project.dbt("run", "--select", "privacy").code == 0
    (changed,) = (one for one in sqlaudit.gate(policy, results=[artefact]).tests if one.requirement == "k=2")
    assert (changed.outcome.value, "another statement" in changed.message) == ("error", True)
