"""Requirements on the population of a sample: in audits, lattices, policies and the console."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from math import isclose
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.cli.console.workspace import Workspace
from sqlaudit.gates.standalone.recipes import NotCarried, recipe_of
from sqlaudit.models.registry import parse_requirement
from sqlaudit.population.bounds import most_uniques
from sqlaudit.population.estimators import estimate
from sqlaudit.population.sample import Sample, individual_risk
from tests.audits.unwarned import unwarned  # noqa: F401
from tests.cli.console.helpers import console, people_csv
from tests.cli.runner import run
from tests.conftest import AuditOn
from tests.places import REPOSITORY

COLUMNS = {"zip": "int", "w": "int"}
SIZES = ((1, 12), (2, 4), (3, 2), (5, 1))
"""12 classes of one, 4 of two, 2 of three, 1 of five: 31 rows."""


def rows_of(weights: tuple[int, ...] = (10,)) -> list[dict[str, Any]]:
    rows, place = [], 0
    for size, classes in SIZES:
        for _ in range(classes):
            place += 1
            rows += [{"zip": place, "w": weights[(place + i) % len(weights)]} for i in range(size)]
    return rows


@pytest.mark.parametrize("said", [{"sampling_fraction": "10%"}, {"population_size": 310}, {"weights": "w"}])
def test_three_ways_to_say_the_population(audit_on: AuditOn, said: dict[str, Any]) -> None:
    wanted = ["population_uniqueness=5%", "population_k=11", "expected_reidentifications=2", "sample_uniqueness=1"]
    result = audit_on(rows_of(), COLUMNS, qi=["zip"], require=wanted, **said)
    by_model = {check.model: check for check in result.checks}
    unique, people, expected, sample = (by_model[text.partition("=")[0]] for text in wanted)
    by_pitman = estimate(Sample(SIZES, 310), "pitman")
    bound = None if "weights" in said else most_uniques(12, 0.1) / 310
    assert unique.levels == {"share": by_pitman.share, "unique_people": by_pitman.uniques, "upper_bound": bound}
    assert unique.details["estimator"] == "pitman"  # the rule of Dankar, at a tenth
    assert (unique.status, people.status) == ("undetermined", "undetermined" if "weights" in said else "fail")
    # of 31 classes of 10 people some shows 4 rows in 31·C(10,4)/10⁴ = 0.65 of the samples at most, and 5 in 0.08
    failing = (None, None) if "weights" in said else (19, 31)
    assert (people.level, people.failing_classes, people.failing_rows) == (1, *failing)
    journalist = sum(size * classes * individual_risk(size, 0.1) for size, classes in SIZES)
    assert isclose(float(expected.levels["journalist"] or 0), journalist, rel_tol=1e-12)
    assert isclose(float(expected.levels["marketer"] or 0), 1.9, rel_tol=1e-12)
    assert (expected.levels["prosecutor"], expected.status) == (19, "fail")
    assert (sample.level, sample.status) == (Fraction(12, 31), "pass")  # of the sample, as ever
    assert {name: result.roles[name] for name in said} in ({"sampling_fraction": 0.1}, said)


def test_weights_that_differ(audit_on: AuditOn) -> None:
    """Nothing bounds the people of a class whose rows had different chances: only its rows are certain."""
    rows = [{"zip": z, "w": w} for z, w in [(1, 30), (2, 2), (2, 3), (3, 4), (3, 4), (3, 4), (None, 6), (None, 1)]]
    wanted = ["population_k=2", "expected_reidentifications=number:1,attacker:marketer"]
    result = audit_on(rows, COLUMNS, qi=["zip"], weights="w", require=wanted)
    people, expected = (check for check in result.checks if check.status is not None)
    assert (people.level, people.status, people.failing_classes) == (1, "undetermined", None)
    assert people.note.startswith(
        "weights prove nothing about a class with fewer than k rows. With a table of the popul"
    )
    assert isclose(float(expected.level or 0), 1 / 30 + 2 / 5 + 3 / 12 + 2 / 7, rel_tol=1e-12)
    assert expected.status == "undetermined"  # 0.97 is estimated, and up to 4 are possible
    loose = "expected_reidentifications=number:4,attacker:marketer"
    (expected,) = audit_on(rows, COLUMNS, qi=["zip"], weights="w", require=[loose]).required
    assert expected.status == "pass"
    assert audit_on(rows[1:], COLUMNS, qi=["zip"], weights="w", require=["population_k=2"]).passed
    assert not audit_on(rows[1:], COLUMNS, qi=["zip"], weights="w", require=["population_k=3"]).passed


def test_a_sample_in_which_everybody_is_alone_has_no_k() -> None:
    """Ten people a row on average say nothing of somebody who is alone: k = 5 held for every table of a tenth."""
    frame = pd.DataFrame({"zip": range(500), "w": [10] * 500})
    for said in ({"sampling_fraction": "10%"}, {"population_size": 5000}, {"weights": "w"}):
        (check,) = sqlaudit.audit(frame, qi=["zip"], require=["population_k=2"], **said).required
        told = ("undetermined", None) if "weights" in said else ("fail", 500)
        assert (check.level, check.status, check.failing_rows) == (1, *told)


@pytest.mark.parametrize("weight", [None, 0, -1])
def test_weights_that_are_none(audit_on: AuditOn, weight: int | None) -> None:
    with pytest.raises(UsageError) as error:
        audit_on([*rows_of(), {"zip": 1, "w": weight}], COLUMNS, qi=["zip"], weights="w")
    assert "w is missing, 0 or negative in 1 of 32 rows" in str(error.value)


def test_what_is_said_of_the_population_must_make_sense(audit_on: AuditOn) -> None:
    def refused(text: str, **said: Any) -> None:
        with pytest.raises(UsageError) as error:
            audit_on(rows_of((1,)), COLUMNS, qi=["zip"], require=["population_k=2"], **said)
        assert text in str(error.value)

    refused("is about a population of which the table is a sample. State the sampling fraction")
    refused("sampling_fraction= and weights= both set the size of the population", sampling_fraction=0.1, weights="w")
    refused("sampling_fraction= must be", sampling_fraction=0)
    refused("sampling_fraction= must be", sampling_fraction="1.5")
    refused("population_size= is 30, but the sample has 31 people", population_size=30)
    refused("Column 'zip' is named as quasi-identifier and as sampling weights", weights="zip")


def test_no_estimate_is_no_pass() -> None:
    """All rows are alone: Pitman's likelihood rises for ever, and 0% would be a lie."""
    frame = pd.DataFrame({"zip": range(40)})
    result = sqlaudit.audit(
        frame, qi=["zip"], sampling_fraction=0.1, require=["population_uniqueness=limit:1,estimator:pitman"]
    )
    (check,) = result.required
    assert (check.level, check.status, result.passed) == (None, "undetermined", False)
    assert check.note.startswith("no estimate by pitman: its likelihood has no maximum")
    by_rule = sqlaudit.audit(frame, qi=["zip"], sampling_fraction=0.1, require=["population_uniqueness=99%"])
    assert (by_rule.checks[0].level, by_rule.checks[0].status) == (1.0, "fail")


def test_nobody_unique_in_a_small_sample_is_said_to_say_little() -> None:
    frame = pd.DataFrame({"zip": [1, 1, 2, 2, 3, 3]})
    (check,) = sqlaudit.audit(frame, qi=["zip"], sampling_fraction=0.01, require=["population_uniqueness=1%"]).required
    assert check.level == 0
    assert check.note.startswith("no row of the sample is unique, so the estimate is 0. In samples of 0.5% and 1% from")
    # 600 people at 1%: 298 unique ones are in no sample with a chance of 0.99^298 = 5%
    assert (round(600 * float(check.levels["upper_bound"] or 0)), check.status) == (298, "undetermined")


def test_figures_stand_side_by_side() -> None:
    from sqlaudit.reports.notebook import document_of
    from sqlaudit.reports.text import render_text

    result = sqlaudit.audit(pd.DataFrame(rows_of()), qi=["zip"], sampling_fraction="10%")
    text = render_text(document_of(result))
    assert "The table is a sample of 10.0% of its population." in text
    assert re.search(r"unique people +12 \(38.7%\) +9 \(3.0%\) +0 to 70 ×\s+\(estimator: pitman\)", text)
    assert re.search(r"unique people at most +71.1%", text)
    assert {check.model for check in result.checks} >= {"population_uniqueness", "population_k", "sample_uniqueness"}
    alone = sqlaudit.audit(pd.DataFrame(rows_of()), qi=["zip"])
    assert "population_uniqueness" not in {check.model for check in alone.checks}
    assert "sampling_fraction" not in alone.roles


def test_draws_give_an_interval() -> None:
    frame = pd.DataFrame(rows_of())
    require = ["population_uniqueness=limit:5%,estimator:zayatz,draws:50,seed:3"]
    (check,) = sqlaudit.audit(frame, qi=["zip"], sampling_fraction="10%", require=require).required
    assert float(check.levels["drawn_low"] or 0) < float(check.level or 0) < float(check.levels["drawn_high"] or 0)


@pytest.mark.parametrize("requirement", ["population_uniqueness=limit:3%,estimator:zayatz", "population_k=9"])
def test_every_node_of_a_lattice_is_judged_as_an_audit_does(requirement: str) -> None:
    frame = pd.DataFrame([{"a": row["zip"], "b": row["zip"] % 3} for row in rows_of()])
    found = sqlaudit.lattice(
        frame,
        qi=["a", "b"],
        require=[requirement],
        hierarchies={"a": {"widths": [2, 6]}},
        sampling_fraction="10%",
        find="all",
    )
    safe = {node.levels for node in found.safe_nodes}
    for a in range(4):
        for b in range(2):
            coarse = frame.assign(a=frame["a"] // (1, 2, 6, 1000)[a], b=frame["b"] if b == 0 else 0)
            passed = sqlaudit.audit(coarse, qi=["a", "b"], require=[requirement], sampling_fraction="10%").passed
            assert ((a, b) in safe) is passed, (a, b)


def test_a_node_whose_estimate_proves_nothing_is_not_safe() -> None:
    """Also where nodes are audited one by one, as they are with an entity."""
    frame = pd.DataFrame([{"a": row["zip"], "p": place} for place, row in enumerate(rows_of())])
    require = ["population_uniqueness=limit:5%,estimator:zayatz"]
    hierarchies = {"a": {"widths": [2, 6]}}
    for said in ({}, {"entity": "p"}):
        found = sqlaudit.lattice(
            frame, qi=["a"], require=require, hierarchies=hierarchies, sampling_fraction="25%", find="all", **said
        )
        # where no one is alone, 10 of 124 people may be unique: 0.75^10 = 6% of the samples have none of them
        assert [node.levels for node in found.safe_nodes] == []
    loose = ["population_uniqueness=limit:9%,estimator:zayatz"]
    for said in ({}, {"entity": "p"}):
        found = sqlaudit.lattice(
            frame, qi=["a"], require=loose, hierarchies=hierarchies, sampling_fraction="25%", find="all", **said
        )
        assert (3,) in [node.levels for node in found.safe_nodes]


def test_a_release_is_judged_by_the_rows_of_the_whole_sample() -> None:
    """1,000 classes of two people at 10% show two rows of some ten; alone they are no sample of twenty classes."""
    frame = pd.DataFrame({"a": [*range(960), *(1000 + place // 4 for place in range(40))]})
    require = ["population_k=5"]  # 1,000 rows: 4 rows in 1000/4·C(4,4)·10^-3 = 0.25 samples, alone 40/4·10^-3
    alone = sqlaudit.audit(frame[960:], qi=["a"], require=require, sampling_fraction="10%")
    assert alone.passed
    whole = sqlaudit.audit(frame, qi=["a"], require=require, sampling_fraction="10%")
    assert whole.checks[0].failing_classes == 970
    options = {"suppress": "97%", "sampling_fraction": "10%", "find": "all", "hierarchies": {"a": "*"}}
    found = sqlaudit.lattice(frame, qi=["a"], require=require, **options)
    assert [node.levels for node in found.safe_nodes] == [(1,)]


def test_a_node_without_an_estimate_is_not_safe() -> None:
    frame = pd.DataFrame({"a": range(40), "b": [0] * 40})
    require = ["population_uniqueness=limit:1,estimator:pitman"]
    found = sqlaudit.lattice(frame, qi=["a", "b"], require=require, sampling_fraction="10%", find="all")
    assert found.best is not None
    assert found.best.levels[0] == 1  # everything *, where no one is unique


ESTIMATED = ("population_uniqueness=1%", "population_k=5", "expected_reidentifications=10")
NOT_ALONE = "it is estimated in Python, from the sizes of all classes and the table's share of its population."


@pytest.mark.parametrize("check", ESTIMATED)
def test_one_select_cannot_estimate(check: str) -> None:
    with pytest.raises(NotCarried) as refused:
        sqlaudit.compile_checks("t", qi=["zip"], checks=[check])
    assert str(refused.value) == f"{check}: {NOT_ALONE}"
    ran = run("compile", "--table", "t", "--qi", "zip", "--dialect", "duckdb", check)
    assert (ran.code, f"{check}: {NOT_ALONE}" in " ".join(ran.err.split())) == (2, True)


@pytest.mark.parametrize("check", ESTIMATED)
def test_no_dbt_test_estimates(check: str) -> None:
    """What makes the macros of the dbt package refuses them with the same sentence, and the package has none."""
    asked = parse_requirement(check)
    with pytest.raises(NotCarried, match=re.escape(f"{check}: {NOT_ALONE}")):
        recipe_of(asked, {}, None, entity=False)
    package = REPOSITORY / "sql_templates" / "dbt" / "macros"
    assert not [file for file in package.rglob("*.sql") if asked.model in file.read_text(encoding="utf-8")]


def test_a_policy(tmp_path: Path) -> None:
    pd.DataFrame({"zip": [*range(10)] * 3, "w": [10] * 30}).to_csv(tmp_path / "people.csv", index=False)

    def outcome(**said: Any) -> tuple[list[str], list[str]]:
        table = {"file": "people.csv", "quasi_identifiers": ["zip"], "requirements": ["population_k=4"], **said}
        policy = tmp_path / "policy.yml"
        policy.write_text("version: 1\ntables:\n  - " + json.dumps(table) + "\n", encoding="utf-8")
        result = sqlaudit.gate(policy)
        return [test.outcome.value for test in result.tests], [one.message for one in result.mistakes]

    assert outcome(sampling_fraction="5%")[0] == ["pass"]
    assert outcome(population_size=300)[0] == ["fail"]
    assert outcome(weights="w")[0] == ["undetermined"]
    assert outcome()[0] == ["error"]
    assert "both set the size" in " ".join(outcome(weights="w", population_size=300)[1])


def test_releases_are_judged_by_the_share_of_the_table(tmp_path: Path) -> None:
    """A release leaves rows out, and its rows are still a tenth of those they stand for."""
    frame = pd.DataFrame([{"a": row["zip"] % 7 if row["zip"] < 8 else row["zip"]} for row in rows_of()])
    require = ["population_k=20"]
    for said in ({"sampling_fraction": "10%"}, {"population_size": 310}):
        found = sqlaudit.lattice(frame, qi=["a"], require=require, suppress="80%", to=tmp_path / "release.csv", **said)
        assert found.published is not None
        assert found.published.audit is not None
        assert found.published.audit.status == "pass"
        made = sqlaudit.recode(frame, qi=["a"], require=require, **said)
        assert made.release.audit.status == "pass"


def test_the_console_takes_a_sample(tmp_path: Path) -> None:
    path = people_csv(tmp_path)
    with Workspace() as opened:
        opened.target(str(path))
        asked = console(opened)
        asked.run(f"SELECT * FROM '{path}';")
        asked.run("\\qi age")
        asked.run("\\sample 5%")
        assert "share of its population 0.05" in asked.words("\\sample")
        asked.run("\\require population_k=21")
        assert "Population k 1 at least 21" in asked.words("\\audit")
        asked.run("\\sample 400")
        assert "people in its population 400" in asked.words("\\sample")
        asked.run("\\sample none")
        assert "population" not in asked.words("\\qi").replace("population_k", "")
        with pytest.raises(UsageError, match="State the sampling fraction, with"):
            asked.run("\\audit")
