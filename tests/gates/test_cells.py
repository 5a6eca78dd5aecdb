"""Rules for the cells of published tables in a policy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sqlaudit
from sqlaudit.gates.result import GateResult
from tests.cli.runner import run

APRIL = "region,n,x,first,second\nnorth,10,100,50,20\nsouth,9,90,80,9\n"
MAY = "region,n,x,first,second\nnorth,11,130,50,30\nsouth,4,90,80,9\n"


def policy(folder: Path, requirement: str) -> Path:
    (folder / "april.csv").write_text(APRIL, encoding="utf-8")
    (folder / "may.csv").write_text(MAY, encoding="utf-8")
    file = folder / "policy.yml"
    file.write_text(f"tables:\n  - file: may.csv\n    requirements:\n{requirement}", encoding="utf-8")
    return file


def outcomes(found: GateResult) -> list[tuple[str, str, int | None]]:
    return [(one.requirement, one.outcome.value, one.check and one.check.failing_rows) for one in found.tests]


RULES = """      - aggregates:
          by: region
          count: n
          value: x
          largest: [first, second]
          require: [threshold=5, p_percent = 1, "dominance=n:1,k:90"]
"""


def test_each_rule_is_a_test(tmp_path: Path) -> None:
    found = sqlaudit.gate(policy(tmp_path, RULES))
    columns = "by:region,count:n,value:x,largest:first+second"
    assert outcomes(found) == [
        (f"aggregates=threshold=5,{columns}", "fail", 1),
        (f"aggregates=p_percent=1,{columns}", "pass", 0),
        (f"aggregates=dominance=n:1,k:90,{columns}", "pass", 0),
    ]
    assert not found.passed
    assert found.tests[0].rows == 2
    assert found.warnings == ()  # none on quasi-identifiers, nor that such a table should be judged as cells


def test_hierarchies_lie_beside_the_policy(tmp_path: Path) -> None:
    asked = "      - aggregates: {by: [region], count: n, hierarchies: up.yml, require: no_unpickable_cell=2}\n"
    file = policy(tmp_path, asked)
    (tmp_path / "up.yml").write_text("hierarchies: {region: {tree: {all of it: [north, south]}}}", encoding="utf-8")
    (tmp_path / "may.csv").write_text("region,n\nnorth,\nsouth,4\nall of it,9\n", encoding="utf-8")
    found = sqlaudit.gate(file)
    assert outcomes(found) == [("aggregates=no_unpickable_cell=2,by:region,count:n,hierarchies:up.yml", "fail", 1)]


def test_what_changed_since_an_older_release_is_tested(tmp_path: Path) -> None:
    asked = "      - aggregates: {by: [region], count: n, before: april.csv, require: threshold=3}\n"
    asked += "        severity: warn\n"
    found = sqlaudit.gate(policy(tmp_path, asked))
    assert outcomes(found) == [("aggregates=threshold=3,by:region,count:n,before:april.csv", "warn", 1)]
    assert found.tests[0].check is not None
    assert found.tests[0].check.levels == {"unsafe_cells": 0, "unsafe_changes": 1}


def test_what_cannot_be_judged_is_undetermined(tmp_path: Path) -> None:
    found = sqlaudit.gate(
        policy(tmp_path, "      - aggregates: {by: region, count: n, value: x, require: p_percent=10}\n")
    )
    assert [one.outcome.value for one in found.tests] == ["undetermined"]
    assert found.tests[0].message.startswith("The rule p_percent=10 needs the two largest contributions of a cell")


@pytest.mark.parametrize(
    ("requirement", "said"),
    [
        ("      - aggregates: {by: region, count: n}\n", "aggregates needs 'require'"),
        (
            "      - aggregates: {by: region, cuont: n, require: threshold=5}\n",
            "has no key 'cuont'. Did you mean 'count'?",
        ),
        ("      - aggregates: {by: region, count: n, require: k=5}\n", "is about rows of people, not cells"),
        ("      - aggregates: {by: region, require: threshold=5}\n", "No numbers are given"),
        ("      - aggregates: {by: region, count: n, protect: true, require: threshold=5}\n", "has no key 'protect'"),
        ("      - threshold=5\n", "is about the cells of a published table"),
        (
            "      - aggregates: {by: region, count: n, require: threshold=5}\n        error_if: '> 3'\n",
            "a rule for cells counts cells: leave them out",
        ),
    ],
)
def test_mistakes_are_told_at_their_line(tmp_path: Path, requirement: str, said: str) -> None:
    found = sqlaudit.gate(policy(tmp_path, requirement))
    assert [one.outcome.value for one in found.tests] == ["error"]
    assert said in found.tests[0].message
    assert found.tests[0].place.line >= 4


@pytest.mark.parametrize("shown", [False, True])
def test_cells_are_named_only_where_the_policy_allows_it(tmp_path: Path, shown: bool) -> None:
    more = ", show_cells: true" if shown else ""
    asked = f"by: [region], count: n, before: april.csv, require: [threshold=5, threshold=3]{more}"
    file = policy(tmp_path, f"      - aggregates: {{{asked}}}\n")
    found = sqlaudit.gate(file)
    messages = [one.message for one in found.tests]
    assert [message.partition("Cells: ")[2] for message in messages] == (
        ["region=south; region=north.", "region=north."] if shown else ["", ""]
    )
    assert ("south" in json.dumps(found.to_dict())) is shown
    for form in ("text", "junit", "sarif", "html", "github"):
        assert ("south" in run("test", "--file", str(file), "--format", form).out) is shown, form


def test_all_releases_that_are_kept_beside_the_policy_are_compared(tmp_path: Path) -> None:
    """North changed by one between the second and the third alone."""
    asked = "      - aggregates: {by: [region], count: n, before: releases/*.csv, require: threshold=3}\n"
    file = policy(tmp_path, asked)
    (tmp_path / "releases").mkdir()
    for name, north in (("2025", 30), ("2026-01", 20), ("2026-02", 21)):
        (tmp_path / "releases" / f"{name}.csv").write_text(f"region,n\nnorth,{north}\nsouth,9\n", encoding="utf-8")
    (tmp_path / "may.csv").write_text("region,n\nnorth,40\nsouth,9\n", encoding="utf-8")
    expected = "aggregates=threshold=3,by:region,count:n,before:releases/*.csv"
    assert outcomes(sqlaudit.gate(file)) == [(expected, "fail", 1)]
    (tmp_path / "releases" / "2026-02.csv").unlink()
    assert outcomes(sqlaudit.gate(file)) == [(expected, "pass", 0)]
    file.write_text(file.read_text(encoding="utf-8").replace("releases/*", "relases/*"), encoding="utf-8")
    assert [one.outcome.value for one in sqlaudit.gate(file).tests] == ["error"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("north,30\nsouth,9\nsouth,9\n", "north,30\nsouth,9\n"),  # which of both rows is the cell?
        ("a,30\nb,\nc,10\nd,\nall of it,50\n", "a,30\nb,5\nc,10\nd,5\nall of it,50\n"),
    ],
)
def test_nothing_passes_where_no_change_could_be_judged(tmp_path: Path, before: str, after: str) -> None:
    asked = "      - aggregates: {by: [region], count: n, before: april.csv, require: threshold=3}\n"
    file = policy(tmp_path, asked)
    (tmp_path / "april.csv").write_text(f"region,n\n{before}", encoding="utf-8")
    (tmp_path / "may.csv").write_text(f"region,n\n{after}", encoding="utf-8")
    assert [one.outcome.value for one in sqlaudit.gate(file).tests] == ["undetermined"]


def test_a_pass_of_hidden_cells_says_that_it_is_about_outsiders(tmp_path: Path) -> None:
    asked = "      - aggregates: {by: [region], count: n, require: [threshold=3, no_unpickable_cell=4]}\n"
    file = policy(tmp_path, asked)
    (tmp_path / "may.csv").write_text("region,n\nnorth,\nsouth,\nwest,9\nTotal,20\n", encoding="utf-8")
    told = [(one.outcome.value, one.message) for one in sqlaudit.gate(file).tests]
    assert told == [
        ("pass", ""),
        ("pass", "Hidden cells are checked against outsiders only, not against contributors, who know their own part."),
    ]
    asking = ("--by", "region", "--count", "n", "--require", "no_unpickable_cell=4")
    ran = run("aggregates", str(tmp_path / "may.csv"), *asking)
    assert ran.code == 0
    assert "every published cell is safe against outsiders" in ran.out
    assert "against outsiders only" in " ".join(ran.out.split())
