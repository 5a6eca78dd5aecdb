"""Synthetic data on the command line: the report, the JSON, exit codes, refusals, and how far the intervals hold."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import pairwise
from math import comb
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.release.synthetic.interval import at_least, means_apart, proven, shares_apart
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.text import render_text
from tests.cli.runner import run as command
from tests.cli.runner import write_csv
from tests.reports.schemas import validator

PEOPLE = ["30,f,flu", "31,m,cold", "32,f,flu", "33,m,secret"]
MADE = ["30,f,flu", "31,m,flu", "32,f,flu", "34,m,cold"]
OTHERS = ["30,f,flu", "41,m,cold", "42,f,flu", "43,m,flu"]
ASKED = ("raw.csv", "made.csv", "--synthetic", "--qi", "age,sex", "--sensitive", "ill")


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, rows in (("raw", PEOPLE), ("made", MADE), ("others", OTHERS)):
        write_csv(tmp_path / f"{name}.csv", "age,sex,ill", *rows)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("tables")
def test_the_report_and_the_json_have_the_same_figures() -> None:
    asked = (*ASKED, "--holdout", "others.csv", "--require", "exact_copies=1")
    ran = command("compare", *asked, "--known", "1", "--format", "json")
    assert ran.code == 1
    found = json.loads(ran.out)
    validator("synthetic").validate(found)
    assert found["schema"] == "sqlaudit-synthetic/1"
    synthetic = found["synthetic"]
    assert synthetic["rows"] == {"original": 4, "synthetic": 4, "holdout": 4}
    assert synthetic["identity"] == {"uio": 1, "uis": 1, "uiois": 0.75, "rep_u": 0.75}
    assert synthetic["attributes"][0]["disco"] == 0.5
    assert synthetic["attributes"][0]["most_common"] == {"share": 0.5, "of_disclosed": 1}
    assert (synthetic["copies"]["rows"], synthetic["copies"]["all_but_one_column"]) == (2, 2)
    assert synthetic["holdout"]["shared"] == 1
    assert {one["measure"]: one["excess"] for one in synthetic["holdout"]["excess"]}["disco"] == 0.25
    assert {tuple(one["keys"]) for one in synthetic["known"]} == {("age",), ("sex",)}
    ran = command("compare", *asked)
    assert ran.code == 1
    assert "for 50.0% of people inside and for 25.0% of people outside. The excess is +25.0 points" in ran.said
    assert "flu" not in ran.out
    assert "secret" not in ran.out
    shown = command("compare", *ASKED, "--show-values").out
    assert "Guessing the most common value (flu) is right for 50.0% of people." in " ".join(shown.split())
    assert "Without a holdout" in shown


@pytest.mark.usefixtures("tables")
def test_the_exit_code_is_that_of_the_verdict() -> None:
    for requirement, code in (("exact_copies=2", 0), ("disco=49%", 1), ("rep_u=0.75", 0), ("rep_u=0.74", 1)):
        assert command("compare", *ASKED, "--require", requirement).code == code
    assert command("compare", *ASKED).code == 0
    excess = ("--holdout", "others.csv", "--require", "excess_disclosure=50%")
    assert command("compare", *ASKED, *excess).code == 1  # undetermined: four people prove nothing


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (("--workload", "9"), "--workload does not apply to synthetic data, whose rows are not people. Leave it out."),
        (("--key", "age"), "--key does not apply to synthetic data"),
        (("--measures", "entropy"), "--measures does not apply to synthetic data"),
        (("--other-release", "others.csv"), "does not apply to synthetic data"),
        (("--nulls", "wildcard"), "--nulls wildcard does not apply to synthetic data"),
        (("--known", "4"), "--known must be at least 0 and at most 3, not 4."),
        (("--require", "k=5"), "'k=5' is about a table alone."),
        (("--require", "excess_disclosure=1%"), "needs people who were not used for the synthetic table"),
        (("--sensitive", "weight"), "raw.csv has no column 'weight'"),
        (("--sensitive", "age"), "A column is named twice in --qi and --sensitive."),
        (("--hierarchies", "levels.yml"), "lists its values, which other tables may not have"),
    ],
)
def test_what_makes_no_sense_is_refused(more: tuple[str, ...], sentence: str) -> None:
    Path("levels.yml").write_text("hierarchies:\n  sex: {values: {f: [x], m: [x]}}\n", encoding="utf-8")
    ran = command("compare", *ASKED, *more)
    assert ran.code == 2
    assert sentence in " ".join(ran.err.split())


@pytest.mark.usefixtures("tables")
def test_options_of_synthetic_data_need_it() -> None:
    usual = ("raw.csv", "made.csv", "--qi", "age,sex", "--sensitive", "ill")
    for more in (("--holdout", "others.csv"), ("--known", "2"), ("--nulls", "distinct"), ("--require", "disco=1%")):
        ran = command("compare", *usual, *more)
        assert ran.code == 2
        assert "--synthetic" in ran.err
    assert "No quasi-identifiers are named" in command("compare", "raw.csv", "made.csv", "--synthetic").err
    assert (
        "'disco' is about a synthetic table and its original" in command("audit", "raw.csv", "--require", "disco=1").err
    )


@pytest.mark.usefixtures("tables")
def test_a_plan_has_the_statements() -> None:
    ran = command("compare", *ASKED, "--known", "1", "--dry-run")
    assert ran.code == 0
    for step in ("groups of age and sex: ill", "groups of sex: ill", "copies", "values in both tables"):
        assert f"/* sqlaudit: {step} */" in ran.out


def test_without_sensitive_columns_there_is_identity_alone() -> None:
    frame = pd.DataFrame({"age": [1, 2, 3], "kind": pd.Categorical(["a", "b", "a"]), "tags": [["x"], ["y"], None]})
    found = sqlaudit.compare(frame, frame, qi=["age", "kind"], synthetic=True, holdout=frame, known=1)
    assert (found.synthetic.identity.rep_u, found.synthetic.copies.rows, found.synthetic.attributes) == (1, 3, ())
    text = render_text(document_of(found), colour=False, width=100)
    assert "100% of people are unique in both tables" in text


def test_one_column_has_no_copies_but_one() -> None:
    found = sqlaudit.compare(*[pd.DataFrame({"age": [1, 2, 3]})] * 2, qi="age", synthetic=True).synthetic
    assert (found.copies.rows, found.copies.all_but_one_column) == (3, None)


def test_a_number_of_single_precision_equals_what_it_was_rounded_from() -> None:
    numbers = [0.1, 0.2, 0.3, 0.5]
    single, double = (pd.DataFrame({"x": pd.Series(numbers, dtype=kind)}) for kind in ("float32", "float64"))
    for one, other in ((single, double), (double, single), (single, single)):
        assert sqlaudit.compare(one, other, qi="x", synthetic=True).synthetic.identity.rep_u == 1


@pytest.mark.parametrize("role", ["a", "s", "n"])
def test_texts_that_a_collation_takes_for_equal_are_refused_or_hide_no_copy(role: str, tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        kinds = {"a": "VARCHAR", "s": "VARCHAR", "n": "VARCHAR", role: "VARCHAR COLLATE NOCASE"}
        for name, rows in (("raw", "('x', 'x', 'x'), ('X', 'X', 'X')"), ("made", "('x', 'x', 'X'), ('X', 'X', 'x')")):
            connection.execute(f"CREATE TABLE {name} ({', '.join(f'{n} {k}' for n, k in kinds.items())})")
            connection.execute(f"INSERT INTO {name} VALUES {rows}")
    asked = {"db": str(tmp_path / "t.duckdb"), "qi": "a", "sensitive": "s", "synthetic": True}
    if role == "n":
        found = sqlaudit.compare("raw", "made", values="exact", **asked)
        assert (found.synthetic.copies.rows, found.compared) == (2, ("a", "s"))
    else:
        with pytest.raises(UsageError, match=f"{role} of raw treats differently written texts as equal"):
            sqlaudit.compare("raw", "made", **asked)


# The intervals.


def test_the_chance_of_a_tail_is_that_of_the_sum() -> None:
    for rows in (1, 2, 7, 40):
        for found in range(rows + 2):
            for share in (0.0, 0.001, 0.3, 0.5, 0.97, 1.0):
                terms = (comb(rows, n) * share**n * (1 - share) ** (rows - n) for n in range(found, rows + 1))
                assert at_least(found, rows, share) == pytest.approx(sum(terms), abs=1e-12)


def test_an_interval_of_one_share_holds_it_as_often_as_it_says() -> None:
    """By all outcomes: the chance of those whose interval holds the share is 95% at least, whatever the share is."""
    for rows in (3, 20):
        ends = [proven(found, rows, 0.05) for found in range(rows + 1)]
        for share in (n / 50 for n in range(1, 50)):
            chances = (comb(rows, n) * share**n * (1 - share) ** (rows - n) for n in range(rows + 1))
            held = sum(chance for chance, (low, high) in zip(chances, ends, strict=True) if low <= share <= high)
            assert held >= 0.95


def disclosed(people: list[tuple[int, str]], made: list[tuple[int, str]]) -> tuple[int, float]:
    """DiSCO rows, and the sum of DCAP, in the plainest way."""
    groups: dict[int, Counter[str]] = {}
    for key, value in made:
        groups.setdefault(key, Counter())[value] += 1
    there = [groups.get(key, Counter()) for key, _ in people]
    own = [(values[value], len(values), values.total()) for (_, value), values in zip(people, there, strict=True)]
    return sum(count > 0 and kinds == 1 for count, kinds, _ in own), sum(
        count / total for count, _, total in own if total
    )


def test_an_honest_table_has_no_excess_in_the_promised_share_of_draws() -> None:
    """Original, holdout and synthetic table drawn from one population, each by itself: 1,000 times."""
    generator, held = random.Random(5), Counter[str]()
    keys = [n * n // 40 for n in range(60)]

    def people(rows: int) -> list[tuple[int, str]]:
        found = generator.choices(keys, k=rows)
        return [(key, "b" if generator.random() < (0.05, 0.5, 0.9)[key % 3] else "a") for key in found]

    for _ in range(1000):
        rows, others = generator.choice([(60, 60), (150, 50)])
        inside, outside, made = people(rows), people(others), people(100)
        (own, own_sum), (other, other_sum) = disclosed(inside, made), disclosed(outside, made)
        low, high = shares_apart(own, rows, other, others)
        held["disco"] += low <= 0 <= high
        low, high = means_apart(own_sum / rows - other_sum / others, rows, others)
        held["dcap"] += low <= 0 <= high
    assert min(held["disco"], held["dcap"]) >= 950


def test_copies_and_excess_grow_with_the_share_of_copied_rows() -> None:
    generator = random.Random(7)

    def people(rows: int) -> pd.DataFrame:
        drawn = [[generator.randrange(n) for n in (60, 20, 2)] for _ in range(rows)]
        return pd.DataFrame(
            [{"age": a, "zip": z, "sex": s, "ill": generator.choice("aaab"[a % 2 :] + "cd")} for a, z, s in drawn]
        )

    inside, outside, honest = people(1500), people(1500), people(1500)
    figures = []
    for share in (0, 0.05, 0.2, 0.5, 1):
        copied = int(1500 * share)
        made = pd.concat([inside[:copied], honest[copied:]])
        found: Any = sqlaudit.compare(
            inside, made, qi=["age", "zip", "sex"], sensitive="ill", synthetic=True, holdout=outside
        ).synthetic
        copies, excess = found.copies.copied, found.holdout.of("disco")
        assert copies >= copied
        assert excess.low <= excess.excess <= excess.high
        figures.append((copies, float(excess.excess), float(found.holdout.of("copies").excess)))
    assert all(before < now for one in zip(*figures, strict=True) for before, now in pairwise(one))
    assert abs(figures[0][1]) < 0.03
    assert figures[-1][1] > 0.3


def test_columns_are_refused_in_one_sentence() -> None:
    frame = pd.DataFrame({"age": [1, 2], "ill": ["a", "b"]})
    with pytest.raises(UsageError, match=r"ill is of type text in original, integer in release, so its values cannot"):
        sqlaudit.compare(frame, pd.DataFrame({"age": [1], "ill": [3]}), qi="age", sensitive="ill", synthetic=True)
    with pytest.raises(UsageError, match="holdout is for synthetic data: add synthetic=True"):
        sqlaudit.compare(frame, frame, qi="age", holdout=frame)
