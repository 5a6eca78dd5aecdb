"""The sample project: a red build, a green one, and the same counts as `sqlaudit audit` of the same tables."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

import sqlaudit
from sqlaudit.base.result import Status
from tests.dbt.conftest import ROOT, Project, Ran

RED = {"k_anonymity": 77, "column_sets": 1, "linkage": 28, "distinct_l_diversity": 75, "c_k_safety": 77}
MAIN = {"recursive_c_l_diversity": "c", "alpha_k_anonymity": "alpha", "c_k_safety": "c"}


@pytest.fixture(scope="module")
def built(project: Project) -> Ran:
    """One `dbt build` of everything."""
    return project.dbt("build")


def test_the_build_is_red_and_says_how_many_classes(built: Ran) -> None:
    assert built.code == 1
    for test, classes in RED.items():
        result = built.result(f"sqlaudit_{test}_patients_raw")
        assert (result["status"], result["failures"]) == ("fail", classes)
    assert "PASS=17 WARN=0 ERROR=5 SKIP=1" in built.said


def test_what_depends_on_a_failing_model_is_not_built(built: Ran, project: Project) -> None:
    assert built.result("raw_by_region")["status"] == "skipped"
    assert built.result("model.", "patients_safe")["status"] == "success"


def test_the_safe_model_is_green(built: Ran, project: Project) -> None:
    safe = [result for name, result in built.results.items() if "patients_safe" in name and name.startswith("test.")]
    assert len(safe) == 13
    assert {(result["status"], result["failures"]) for result in safe} == {("pass", 0)}
    alone = project.dbt("build", "--select", "+patients_safe")
    assert alone.code == 0, alone.said


def requirements(model: str) -> list[tuple[str | None, str, dict[str, Any]]]:
    """(sensitive, model of privacy, arguments) of every test of a model that an audit knows."""
    schema = yaml.safe_load((ROOT / "examples/dbt/models/schema.yml").read_text(encoding="utf-8"))
    (entry,) = (one for one in schema["models"] if one["name"] == model)
    found = []
    for column in [{"data_tests": entry["data_tests"]}, *entry["columns"]]:
        for test in column["data_tests"]:
            ((name, content),) = test.items()
            found.append((column.get("name"), name.removeprefix("sqlaudit."), dict(content["arguments"])))
    return [one for one in found if one[1] not in ("column_sets", "linkage")]


@pytest.mark.parametrize("model", ["patients_raw", "patients_safe"])
def test_an_audit_counts_the_same_classes(model: str, built: Ran, project: Project) -> None:
    for sensitive, name, arguments in requirements(model):
        qi = arguments.pop("quasi_identifiers")
        population = arguments.pop("population", None)
        inputs = {"population": project.table("patients_safe")} if population else None
        audit = sqlaudit.audit(
            project.table(model),
            db=project.database,
            qi=qi,
            sensitive=[sensitive] if sensitive else [],
            require={name: arguments},
            inputs=inputs,
        )
        (check,) = audit.checks
        result = built.result(f"sqlaudit_{name}_{model}")
        assert result["failures"] == check.failing_classes, (name, check)
        assert (result["status"] == "pass") == (check.status is Status.PASS)


def test_column_sets_are_those_of_the_search(built: Ran, project: Project) -> None:
    found = sqlaudit.columns(
        project.table("patients_raw"),
        db=project.database,
        columns=["age", "sex", "zip"],
        k=3,
        tolerance="10%",
        max_size=2,
    )
    assert [one.columns for one in found.sets] == [("age",)]
    assert built.result("column_sets_patients_raw")["failures"] == 1
