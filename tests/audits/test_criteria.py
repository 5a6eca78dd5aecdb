"""Audits by criteria: figures that were worked out by hand, and a public version without a small count."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import sqlaudit
from sqlaudit.audits.criteria.criteria import CriteriaResult
from tests.cli.runner import patients, run, write_csv
from tests.reports.schemas import validator


def told(found: CriteriaResult) -> dict[str, dict[str, str]]:
    return {one.name: {figure.name: figure.text for figure in one.figures} for one in found.criteria}


def test_the_figures_of_twelve_patients(tmp_path: Path) -> None:
    """Four classes of 4, 2, 5 and 1 rows; those of 2 and 1 hold one disease. 6 flu, 3 cold … as `patients` has them."""
    result = sqlaudit.audit(patients(tmp_path), qi="age,sex", sensitive="disease", require={"k": 3, "l": 1})
    found = told(result.by_criteria())
    assert found["singling_out"] == {
        "unique rows": "1 (8.3%)",
        "smallest group (k)": "1",
        "rows in groups smaller than 5": "7 (58.3%)",
    }
    assert found["linkability"]["different combinations of the quasi-identifiers"] == "4"
    assert found["linkability"]["highest chance of finding the right record"] == "100%"
    assert found["linkability"]["average chance over all rows"] == "33.3%"
    assert found["inference"] == {"disease: fewest different values in a group (l)": "1"}
    assert found["hipaa_expert"]["rows in groups smaller than 11"] == "12 (100%)"
    assert found["ema_0070"]["every group has at least 11 rows (risk at most 1/11)"] == "no"


def test_the_threshold_of_the_agency(tmp_path: Path) -> None:
    for rows, held in ((11, "yes"), (10, "no")):
        file = write_csv(tmp_path / "t.csv", "age,s", *["30,a"] * rows, *["31,b"] * 20)
        found = told(sqlaudit.audit(file, qi="age").by_criteria())["ema_0070"]
        assert found["every group has at least 11 rows (risk at most 1/11)"] == held
    empty = told(sqlaudit.audit(file, qi="age", where="age > 99").by_criteria())
    assert empty["ema_0070"] == {
        "every group has at least 11 rows (risk at most 1/11)": "no groups",
        "rows above that risk": "no rows",
    }


def test_what_a_criterion_needs_is_computed_besides_the_requirements(tmp_path: Path) -> None:
    asked = ("--qi", "age,sex", "--sensitive", "disease", "--require", "k=3")
    ran = run("audit", patients(tmp_path), *asked, "--criteria", "internal", "--format", "json")
    data = json.loads(ran.out)
    assert (ran.code, data["status"], data["required"]) == (1, "fail", [{"name": "k=3", "text": "fails"}])
    assert [error.message for error in validator("criteria").iter_errors(data)] == []
    inference = {one["name"]: one["text"] for one in data["criteria"][2]["figures"]}
    assert inference["disease: fewest different values in a group (l)"] == "1"
    assert inference["disease: largest share of one value in a group (α)"] == "1"
    assert len(inference) == 3
    assert all(one["open"] for one in data["criteria"])


@pytest.mark.parametrize("format", ["text", "json", "html"])
def test_the_public_version_has_no_small_count(format: str, tmp_path: Path) -> None:
    file = write_csv(tmp_path / "t.csv", "age,s", *["30,a"] * 3, *["31,b"] * 2, *["32,a"] * 17, *["33,b"] * 101)
    ran = run("audit", file, "--qi", "age", "--sensitive", "s", "--criteria", "public", "--format", format)
    words = " ".join(re.sub(r"<[^>]*>|\\u[0-9a-f]{4}", " ", ran.out).split())
    for said in ("about 125", "fewer than 5", "about 5 (4.0%)", "above 20.0%"):
        assert said in words.lower()  # a page begins with it
    for exact in ("123", " 17 ", "33.3", "0.6667", "1.6%", "2.4%"):
        assert exact not in words


def test_public_shares_are_of_rounded_counts(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "t.csv", "id,age", *(f"{n},{n}" for n in range(3)), *(f"{n},9" for n in range(3, 23)))
    found = sqlaudit.audit(file, qi="age").by_criteria(public=True)
    assert (found.rows, found.rounded_to, found.version) == ("about 25", 5, "public")
    assert told(found)["singling_out"]["unique rows"] == "fewer than 5 (under 20%)"
    assert told(found)["inference"] == {"figures": "none (no sensitive columns)"}


def test_persons_and_columns_like_identifiers(tmp_path: Path) -> None:
    rows = [f"p{n // 2},{n // 6},a{n}@example.org" for n in range(12)]
    file = write_csv(tmp_path / "t.csv", "person,age,mail", *rows)
    result = sqlaudit.audit(file, qi="age", entity="person", identifier=["mail"])
    found = told(result.by_criteria())
    assert found["singling_out"]["people in groups smaller than 5"] == "6 (100%)"
    assert found["hipaa_expert"]["direct identifiers in the table"] == "mail"


def test_a_certificate_is_another_run(tmp_path: Path) -> None:
    more = ("--criteria", "public", "--certificate", tmp_path / "a.json")
    assert "exclude each other" in run("audit", patients(tmp_path), "--qi", "age", *more).err
