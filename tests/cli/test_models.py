"""`sqlaudit models`: the registry, for people and for programs."""

from __future__ import annotations

import json

from sqlaudit.models.presets import presets
from sqlaudit.models.registry import CELL_RULES, REGISTRY
from sqlaudit.reports.document import markdown
from tests.cli.runner import run
from tests.reports.schemas import validator


def test_every_model_is_listed_with_its_definition() -> None:
    ran = run("models")
    assert (ran.code, ran.err) == (0, "")
    assert "k_anonymity (k) Every equivalence class has at least k rows (people, with an entity column)." in ran.said
    page = run("models", "--format", "markdown").out
    for model in REGISTRY.values():
        assert markdown(model.name) in page
        assert markdown(model.definition) in page
    for name, preset in presets().items():
        assert markdown(name) in page
        assert markdown(preset.title) in page


def test_one_model_by_its_short_form() -> None:
    ran = run("models", "k")
    assert ran.out.startswith("k-anonymity\n  Every equivalence class has at least k rows")
    assert "Name k_anonymity, k" in ran.said
    assert "Option --require k=…" in ran.said
    assert "Met when the level is at least the limit" in ran.said
    assert "Needs quasi-identifiers only" in ran.said
    assert "k smallest class size allowed (integer)" in ran.said


def test_a_model_with_two_parameters_says_how_to_require_it() -> None:
    assert "--require alpha=alpha:…,k:…" in run("models", "alpha").said
    assert "k smallest class size allowed (integer, default 1)" in run("models", "alpha_k_anonymity").said


def test_json_follows_the_schema() -> None:
    data = json.loads(run("models", "--format", "json").out)
    assert [error.message for error in validator("models").iter_errors(data)] == []
    assert [entry["name"] for entry in data["models"]] == list(REGISTRY)
    assert [entry["name"] for entry in data["presets"]] == list(presets())
    one = json.loads(run("models", "t", "--format", "json").out)
    assert [error.message for error in validator("models").iter_errors(one)] == []
    assert [entry["name"] for entry in one["models"]] == ["t_closeness"]
    assert "presets" not in one
    assert "cell_rules" not in one


def test_rules_for_cells_are_listed_apart() -> None:
    data = json.loads(run("models", "--format", "json").out)
    assert [entry["name"] for entry in data["cell_rules"]] == list(CELL_RULES)
    assert {entry["of_cells"] for entry in data["cell_rules"]} == {True}
    said = run("models", "p_percent").said
    assert "Checked by sqlaudit aggregates, cell by cell" in said
    assert "p closest estimate allowed, in percent (decimal)" in said
    assert "dominance" in run("models").said


def test_markdown() -> None:
    page = run("models", "--format", "markdown").out
    assert page.startswith("# Privacy models\n\n")
    assert "- **k\\_anonymity (k)**: Every equivalence class has at least k rows" in page


def test_an_unknown_model() -> None:
    ran = run("models", "kk")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "sqlaudit: There is no privacy model 'kk'. Did you mean 'k'? 'sqlaudit models' lists them.\n"
