"""`sqlaudit compare` as a stranger types it, the report, and the JSON that follows its schema on both engines."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

import sqlaudit
from sqlaudit.base.spec import Target
from sqlaudit.engines.contract import Engine
from sqlaudit.release.compare.result import CompareResult
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.text import render_text
from tests.audit_values import values_query
from tests.cli.runner import Ran, as_parquet, run, write_csv
from tests.places import REPOSITORY
from tests.postgres_load import Loader
from tests.release.alone import without_audit
from tests.reports.schemas import schema, validator

ORIGINAL = ["1,31,f,10115,flu", "2,38,m,10117,flu", "3,52,f,20095,cold", "4,57,m,20097,HIV", "5,33,f,10119,cold"]
RELEASE = ["1,3*,f,101**,flu", "2,3*,m,101**,flu", "3,5*,f,200**,cold", "4,5*,m,200**,HIV", "5,3*,f,101**,cold"]
COARSER = ["1,*,f,101**,flu", "2,*,m,101**,flu", "3,*,f,200**,cold", "4,*,m,200**,HIV", "5,*,f,101**,cold"]
HEAD = "id,age,sex,zip,s"
ONE = ("--measures", "tree", "--workload", "0")
"""For tests that are not about the losses and the random queries, which take most of the time."""
ROLES = ("--qi", "age,sex,zip", "--sensitive", "s")
QUERIES = "SELECT COUNT(*) FROM t WHERE sex = 'f' AND zip = 10115;\nSELECT s, AVG(id) FROM t WHERE age < 40 GROUP BY s;"


def tables(folder: Path, release: list[str] = RELEASE) -> tuple[Path, Path]:
    return write_csv(folder / "people.csv", HEAD, *ORIGINAL), write_csv(folder / "release.csv", HEAD, *release)


def compare(folder: Path, *options: object, release: list[str] = RELEASE) -> Ran:
    return run("compare", *tables(folder, release), *ROLES, "--workload", "6", "--noise-queries", "3", *options)


def loaded(ran: Ran) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(ran.out)
    validator("compare").validate(data)
    validator("audit").validate(data["audit"])
    if data["attacks"] is not None:
        validator("attack").validate(data["attacks"])
    return data


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that read neither the audit nor the attacks."""
    without_audit(monkeypatch)


def test_one_page_says_whether_it_is_safe_what_was_lost_and_what_can_be_done(tmp_path: Path) -> None:
    ran = compare(tmp_path, "--key", "id", "--require", "k=2")
    assert ran.code == 1
    assert "release.csv is a generalization of" in ran.said
    assert "FAIL: the requirement is not met" in ran.said
    assert "every released row was compared with its original" in ran.said.lower()
    for title in ("Is it safe?", "Information loss", "Answers to queries", "Attacks on the release"):
        assert title in ran.said
    assert "4 of 5 rows (80.0%) lie in 4 groups with a single value of s" not in ran.said
    assert "HIV" not in ran.out


def test_json_with_queries(tmp_path: Path) -> None:
    asked = tmp_path / "q.sql"
    asked.write_text(QUERIES)
    ran = compare(tmp_path, *ONE, "--queries", asked, "--format", "json")
    data = loaded(ran)
    assert (ran.code, data["schema"]) == (0, schema("compare")["title"])
    assert (data["pairing"], data["generalization"]["answer"]) == ("containment", "yes")
    # the class (3*, f, 101**) has rows 1 and 5, and one of the two has that postal code
    (count,) = data["queries"][0]["groups"]
    assert (count["truth"], count["answers"]["non-corrected"]) == (1, 2)
    # zip: 1 of 3 rows under 101**; sex is exact; by region: 1 of 2 rows
    assert count["answers"]["conditional"] == pytest.approx(1.0)
    assert count["answers"]["independent"] == pytest.approx(2 / 3)
    assert data["queries"][1]["groups_total"] == 2
    assert all(group["key"] is None for group in data["queries"][1]["groups"])


@pytest.mark.usefixtures("alone")
def test_values_of_groups_are_shown_when_asked_for(tmp_path: Path) -> None:
    asked = tmp_path / "q.sql"
    asked.write_text(QUERIES)
    data = loaded(compare(tmp_path, *ONE, "--queries", asked, "--show-values", "--format", "json"))
    assert [group["key"] for group in data["queries"][1]["groups"]] == [["cold"], ["flu"]]
    assert [group["truth"] for group in data["queries"][1]["groups"]] == [5.0, 1.5]


@pytest.mark.usefixtures("alone")
def test_chosen_measures_only(tmp_path: Path) -> None:
    data = loaded(
        compare(
            tmp_path,
            "--by-position",
            "--measures",
            "modification-rate,redactions",
            "--workload",
            "0",
            "--format",
            "json",
        )
    )
    found = {(one["measure"], one["column"]): one["value"] for one in data["losses"]}
    assert found == {
        ("modification-rate", None): pytest.approx(10 / 15),
        ("modification-rate", "age"): 1,
        ("modification-rate", "sex"): 0,
        ("modification-rate", "zip"): 1,
        ("redactions", None): 0,
        ("redactions", "age"): 0,
        ("redactions", "sex"): 0,
        ("redactions", "zip"): 0,
    }


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("pairing", [(), ("--key", "id")])
def test_another_release(tmp_path: Path, pairing: tuple[str, ...]) -> None:
    other = write_csv(tmp_path / "other.csv", HEAD, *COARSER)
    data = loaded(compare(tmp_path, *ONE, "--other-release", other, *pairing, "--format", "json"))
    assert (data["coarser"]["relation"], data["coarser"]["compared"]) == ("finer", 5)
    assert (data["coarser"]["not_coarser"], data["coarser"]["not_finer"]) == (5, 0)


@pytest.mark.usefixtures("alone")
def test_the_page_has_both_pictures(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert compare(tmp_path, "--output", page).code == 0
    text = page.read_text()
    assert "Loss by column, as a share of suppressing the column" in text
    assert "Relative errors of random counting queries: median, 90% and 95% quantiles" in text
    assert text.count("<svg") >= 2


@pytest.mark.usefixtures("alone")
def test_no_generalization_is_exit_code_1_with_counts(tmp_path: Path) -> None:
    swapped = [RELEASE[0].replace("3*", "5*"), *RELEASE[1:]]
    ran = compare(tmp_path, *ONE, "--key", "id", "--format", "json", release=swapped)
    facts = loaded(ran)["generalization"]
    assert (ran.code, facts["answer"], facts["misfit_rows"]) == (1, "no", 1)
    assert [one["misfits"] for one in facts["columns"]] == [1, 0, 0]


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--key", "id", "--by-position"), "exclude each other"),
        (("--key", "age"), "Give every column one role"),
        (("--measures", "entropi"), "Did you mean 'entropy'?"),
        (("--beta", "x"), "--beta takes a number of at least 0"),
        (("--beta", "-1"), "--beta must be a number of 0 or more"),
        (("--noise-queries", "1"), "--noise-queries must be at least 2 and at most 10,000, not 1."),
        (("--workload", "-1"), "--workload must be at least 0 and at most 10,000, not -1."),
        (("--queries", "absent.sql"), "cannot be read"),
        (("--distance", "hierarchical"), "needs a tree of the values of s"),
    ],
)
def test_what_is_refused(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    ran = compare(tmp_path, *options)
    assert (ran.code, said in ran.err) == (2, True), ran.err


@pytest.mark.usefixtures("alone")
def test_a_key_names_one_row(tmp_path: Path) -> None:
    ran = compare(tmp_path, "--key", "id", release=[RELEASE[0], *RELEASE[:-1]])
    assert (ran.code, "has 5 rows but only 4 different keys. A key must be unique" in ran.err) == (2, True)


def test_the_plan_is_shown_without_comparing(tmp_path: Path) -> None:
    ran = compare(tmp_path, "--dry-run")
    assert (ran.code, "GROUP BY" in ran.out, "cells of age" in ran.out) == (0, True, True)


@pytest.mark.usefixtures("alone")
def test_the_same_json_on_postgres(tmp_path: Path, load: Loader, postgres_url: str) -> None:
    rows = [[line.split(",") for line in lines] for lines in (ORIGINAL, RELEASE)]
    kinds = {"id": "int", "age": "int", "sex": "text", "zip": "text", "s": "text"}
    for name, found, age in (("people", rows[0], int), ("release", rows[1], str)):
        cast = [{"id": int(r[0]), "age": age(r[1]), "sex": r[2], "zip": age(r[3]), "s": r[4]} for r in found]
        load(
            name, cast, types={**kinds, "age": "int" if age is int else "text", "zip": "int" if age is int else "text"}
        )
    options = ("--key", "id", "--workload", "6", "--noise-queries", "3", "--format", "json", *ROLES)
    other = loaded(run("compare", "--db", postgres_url, "people", "release", *options))
    own = loaded(compare(tmp_path, "--key", "id", "--format", "json"))
    assert _figures(own) == _figures(other)


@pytest.mark.spark
@pytest.mark.parametrize("pairing", [(), ("--key", "id")])
def test_the_same_json_on_spark(tmp_path: Path, spark_url: str, pairing: tuple[str, ...]) -> None:
    files = [as_parquet(file) for file in tables(tmp_path)]
    asked = ("compare", *files, *ROLES, "--workload", "6", "--noise-queries", "3")
    own, other = (loaded(run(*asked, *pairing, *db, "--format", "json")) for db in ((), ("--db", spark_url)))
    assert {one["attack"]: one["exposed"] for one in own["attacks"]["attacks"]} == {
        one["attack"]: one["exposed"] for one in other["attacks"]["attacks"]
    }
    assert [check["level"] for check in own["audit"]["checks"]] == [
        check["level"] for check in other["audit"]["checks"]
    ]
    assert _figures(own) == _figures(other)
    refused = run(*asked, "--by-position", "--db", spark_url)
    assert (refused.code, "rows in Spark have no order" in refused.err) == (2, True)


def _figures(data: dict[str, Any]) -> Any:
    """What a comparison says of the tables, without where and when it was made."""
    apart = ("versions", "time", "engine", "access", "statements", "report", "original", "release", "audit", "attacks")
    return _rounded({key: value for key, value in data.items() if key not in apart})


def _rounded(data: Any) -> Any:
    if isinstance(data, float):
        return float(f"{data:.10g}")
    if isinstance(data, dict):
        return {key: _rounded(value) for key, value in data.items()}
    return [_rounded(one) for one in data] if isinstance(data, list) else data


def test_the_page_of_measures_is_what_its_script_makes() -> None:
    script = REPOSITORY / "docs" / "make_measures.py"
    found: dict[str, Any] = runpy.run_path(str(script))
    assert script.with_name("release.md").read_text("utf-8") == found["page"]()


def test_synthetic_rows_are_no_generalization_and_are_not_attacked(engine: Engine) -> None:
    def found(release: list[int]) -> CompareResult:
        tables = [
            Target(query=values_query([{"q": q, "s": s} for q, s in zip(qs, "aabb", strict=True)], kinds), label=name)
            for name, qs, kinds in (
                ("original", [1, 2, 3, 4], {"q": "int", "s": "text"}),
                ("release", release, {"q": "int", "s": "text"}),
            )
        ]
        return sqlaudit.compare(*tables, db=engine, qi=["q"], sensitive=["s"], workload=0, measures=["tree"])

    synthetic, whole = found([9, 10, 11, 12]), found([1, 2, 3, 4])
    assert (synthetic.generalization.answer, synthetic.attacks) == ("no", None)
    assert synthetic.to_dict()["why_no_attacks"].startswith("The release is not a generalization of the original")
    validator("compare").validate(synthetic.to_dict())
    said = " ".join(render_text(document_of(synthetic)).split())
    assert "attacks on it mean nothing and were not tried" in said
    assert "with a single value" not in said
    assert whole.attacks is not None
    assert whole.attacks.exposure("homogeneity").exposed == 4
    assert whole.to_dict()["why_no_attacks"] is None
