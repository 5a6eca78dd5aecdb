"""Samples of populations whose unique people and classes are known: estimates are off, bounds hold, nothing passes."""

from __future__ import annotations

from fractions import Fraction
from math import comb, isclose

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from benchmarks.population import BOUNDS, ESTIMATED, Table, generated, pooled, rounded
from sqlaudit.population.bounds import (
    FRACTIONS,
    MEASURED,
    bias,
    false_classes,
    fewest_people,
    fewest_rows,
    most_uniques,
)
from tests.places import REPOSITORY
from tests.strategies import run as run_examples

PEOPLE = 5_000
POPULATIONS = dict(generated(PEOPLE))


def hypergeometric(people: int, marked: int, drawn: int, found: int) -> Fraction:
    return Fraction(comb(marked, found) * comb(people - marked, drawn - found), comb(people, drawn))


@run_examples(60)
@given(st.data(), st.integers(2, 80))
def test_more_people_are_unique_in_one_sample_of_twenty_at_most(data: st.DataObject, people: int) -> None:
    """Where all unique rows of the sample are unique people, which is where the bound is lowest."""
    drawn, unique = data.draw(st.integers(1, people)), data.draw(st.integers(0, people))
    wrong = Fraction(0)
    for found in range(max(0, drawn + unique - people), min(drawn, unique) + 1):
        if most_uniques(found, Fraction(drawn, people)) < unique - 1e-9:
            wrong += hypergeometric(people, unique, drawn, found)
    assert wrong <= Fraction(5, 100)


@run_examples(60)
@given(st.data(), st.integers(1, 60), st.integers(1, 9))
def test_some_class_has_fewer_people_in_one_sample_of_twenty_at_most(
    data: st.DataObject, classes: int, size: int
) -> None:
    """The mean number of such classes, where all of a population have one size: no fewer than the chance of one."""
    people = classes * size
    drawn = data.draw(st.integers(1, people))
    told = [shown for shown in range(1, size + 1) if fewest_people(shown, Fraction(drawn, people), drawn) > size]
    wrong = sum((hypergeometric(people, size, drawn, shown) for shown in told if shown <= drawn), Fraction(0))
    assert classes * wrong <= Fraction(5, 100)


@run_examples(60)
@given(st.integers(1, 12), st.integers(1, 12), st.fractions(Fraction(1, 500), 1), st.integers(1, 10_000))
def test_people_are_those_of_exact_products(k: int, size: int, share: Fraction, rows: int) -> None:
    if k > size:
        exact = rows / share / (k - 1) * comb(k - 1, size) * share**size
        assert isclose(false_classes(k, size, float(share), rows), float(exact), rel_tol=1e-9)
        if abs(exact - Fraction(5, 100)) > 1e-9:
            assert (fewest_people(size, share, rows) >= k) is (exact <= Fraction(5, 100))
    assert (size >= fewest_rows(k, share, rows)) is (fewest_people(size, share, rows) >= k)


@pytest.mark.parametrize("fraction", [0.01, 0.1])
def test_no_estimate_is_never_below_the_truth_and_the_bounds_hold(fraction: float) -> None:
    tables = [table for name, table in POPULATIONS.items() if name != "4 columns, independent"]
    found = pooled(tables, fraction, 4)
    for name in ("pitman", "dankar", "journalist", "marketer"):
        assert min(found[name]) < 1, name
    for name in BOUNDS:
        assert sum(found[name]) / len(found[name]) >= 0.95, name


def test_every_estimate_is_below_the_truth_somewhere() -> None:
    """So that a limit above an estimate is no pass, whoever estimated and from whatever fraction."""
    assert set(MEASURED) == set(ESTIMATED)
    for pairs in MEASURED.values():
        assert len(pairs) == len(FRACTIONS)
        assert min(low for low, _ in pairs) < 1
    assert rounded([0.0004, 1.234]) == (0.0, 1.3)
    assert (bias("marketer", 0.3)["lowest"], bias("marketer", 0.3)["highest"]) == (
        min(MEASURED["marketer"][5][0], MEASURED["marketer"][6][0]),
        max(MEASURED["marketer"][5][1], MEASURED["marketer"][6][1]),
    )


def test_the_page_has_what_was_measured() -> None:
    lines = (REPOSITORY / "docs" / "population.md").read_text(encoding="utf-8").splitlines()
    told = {line.split(" | ")[0].strip("| "): line.strip("| ").split(" | ")[1:] for line in lines if "–" in line}
    for name, pairs in MEASURED.items():
        assert [cell.split(" (")[0] for cell in told[name]] == [f"{low:g}–{high:g}" for low, high in pairs], name


def sampled(table: Table, fraction: float, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The population, and a sample of it."""
    frame = pd.DataFrame(table, columns=[f"q{place}" for place in range(table.shape[1])])
    drawn = np.random.default_rng(seed).choice(len(frame), round(fraction * len(frame)), replace=False)
    return frame, frame.iloc[drawn]


@pytest.mark.parametrize("name", POPULATIONS)
def test_what_passes_is_true(name: str) -> None:
    """Limits just below the truth: what passes must not, in more than one sample of twenty."""
    wrong = asked = 0
    for seed, fraction in enumerate((0.01, 0.05, 0.25, 0.5)):
        people, sample = sampled(POPULATIONS[name], fraction, seed)
        keys = list(people)
        there = people.groupby(keys).size()
        here = sample.groupby(keys).size()
        unique = Fraction(int((there == 1).sum()), len(people))
        right = float((here / there.loc[here.index]).sum())
        least = int(there.loc[here.index].min())
        limits = [f"population_uniqueness=limit:{float(unique) * 0.99:.6f},estimator:{one}" for one in ESTIMATED[:4]]
        limits += [f"expected_reidentifications=number:{0.99 * right:.6f},attacker:{one}" for one in ESTIMATED[-2:]]
        limits += [f"population_k={least + 1}"]
        found = sqlaudit.audit(sample, qi=keys, sampling_fraction=fraction, require=limits)
        asked += len(limits)
        wrong += sum(check.status == "pass" for check in found.required)
    assert wrong <= asked / 20


def test_a_table_with_fifteen_percent_unique_people_is_not_said_to_have_none() -> None:
    """Pitman's estimate is 0.0% of the people here, and passed any limit."""
    _, sample = sampled(POPULATIONS["15% unique, else 50 alike"], 0.1, 1)
    wanted = ["population_uniqueness=limit:5%,estimator:pitman", "population_uniqueness=limit:30%,estimator:pitman"]
    strict, loose = sqlaudit.audit(sample, qi=["q0"], sampling_fraction="10%", require=wanted).required
    assert float(strict.level or 0) < 0.02
    assert strict.status == "undetermined"
    assert "An estimate alone cannot pass, and the unique rows of the sample prove only at most 0." in strict.note
    assert "With a table of the population among the inputs, require k_map" in strict.note
    assert 0.15 < float(strict.levels["upper_bound"] or 0) <= 0.3
    assert loose.status == "pass"  # so few rows are unique that no more people can be
