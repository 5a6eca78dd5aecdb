"""The maximum disclosure: against every world and every set of implications, and against the plain recursion."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sqlaudit.audits.disclosure.attribute import Disclosure
from sqlaudit.base.errors import UsageError
from sqlaudit.classes.facts import Signatures
from sqlaudit.models.disclosure.program import maximum_disclosure
from tests.strategies import fewer

from . import oracle
from .strategies import bucketizations, cases, small


def curve(classes: list[list[int]], k: int) -> tuple[list[Fraction], list[Fraction]]:
    points = maximum_disclosure(Signatures.from_classes(classes, k), k).points
    assert [point.k for point in points] == list(range(k + 1))
    return [point.maximum for point in points], [point.negated for point in points]


def fractions(text: str) -> list[Fraction]:
    return [Fraction(word) for word in text.split()]


@pytest.mark.parametrize(
    ("classes", "maximum", "negated"),
    [
        ([[2, 2, 1], [2, 1, 1, 1]], "2/5 2/3 1", "2/5 2/3 1"),
        ([[2, 1, 1]], "1/2 3/4 1", "1/2 2/3 1"),
        ([[3, 3, 2, 2, 1, 1], [4, 2, 2, 1, 1]], "2/5 6/11 12/17 28/33 1", "2/5 1/2 2/3 4/5 1"),
        ([[5, 5, 5, 5], [6, 5, 5, 4], [9, 1, 1, 1, 1, 1]], "9/14 117/137 117/122 1", "9/14 9/13 3/4 1"),
        ([[2, 2, 1], [2, 1, 1, 1]] * 5, "2/5 2/3 1", "2/5 2/3 1"),
        ([[7]], "1 1", "1 1"),
        ([[1, 1]], "1/2 1 1 1", "1/2 1 1 1"),
    ],
)
def test_worked_examples(classes: list[list[int]], maximum: str, negated: str) -> None:
    assert curve(classes, len(maximum.split()) - 1) == (fractions(maximum), fractions(negated))


@cases(150)
@given(small(worlds=60, classes=3), st.integers(0, 1))
def test_every_set_of_simple_implications_in_every_world(classes: list[list[int]], k: int) -> None:
    truth = oracle.atoms(classes)
    found = max(oracle.largest(truth, oracle.simple_implications(truth), k))
    assert curve(classes, k)[0][k] == found


@cases(60)
@given(small(worlds=24, values=4, fewest=3))
def test_every_pair_of_simple_implications_in_every_world(classes: list[list[int]]) -> None:
    truth = oracle.atoms(classes)
    found = max(oracle.largest(truth, oracle.simple_implications(truth), 2))
    assert curve(classes, 2)[0][2] == found


@pytest.mark.parametrize(
    ("classes", "expected"), [([[1, 1, 1, 1]], "1/2"), ([[2, 1, 1, 1]], "4/5"), ([[1, 1, 1, 1, 1]], "1/3")]
)
def test_pairs_of_simple_implications_that_leave_a_doubt(classes: list[list[int]], expected: str) -> None:
    """Random small cases with k = 2 are mostly certain: these are not."""
    truth = oracle.atoms(classes)
    assert max(oracle.largest(truth, oracle.simple_implications(truth), 2)) == Fraction(expected)
    assert curve(classes, 2)[0][2] == Fraction(expected)


@cases(120)
@given(small(worlds=9, classes=3, values=3), st.integers(0, 2))
def test_conjunctions_and_disjunctions_add_nothing(classes: list[list[int]], k: int) -> None:
    truth = oracle.atoms(classes)
    knowledge = oracle.basic_implications(truth)
    assume(len(knowledge) <= 520)
    assert curve(classes, k)[0][k] == max(oracle.largest(truth, knowledge, k))


@cases(150)
@given(small(worlds=60, classes=2, values=4), st.integers(0, 2))
def test_every_set_of_negated_atoms_in_every_world(classes: list[list[int]], k: int) -> None:
    truth = oracle.atoms(classes)
    assert curve(classes, k)[1][k] == max(oracle.largest(truth, oracle.negations(truth), k))


@cases(200)
@given(bucketizations(), st.integers(0, 9))
def test_the_program_equals_the_recursion_without_signatures(classes: list[list[int]], k: int) -> None:
    maximum, negated = curve(classes, k)
    assert maximum == [oracle.maximum(classes, level) for level in range(k + 1)]
    assert negated == [oracle.negated(classes, level) for level in range(k + 1)]


def test_candidates_lose_nothing() -> None:
    """Many classes with many values and small k: most classes are left out, and the answer is that of all of them."""
    rng = random.Random(42)
    mismatches = 0
    for _ in range(fewer(1500, some=150)):
        k = rng.randint(0, 4)
        classes = [
            [rng.randint(1, rng.choice([2, 5, 30])) for _ in range(rng.randint(k + 2, k + 4))]
            for _ in range(rng.randint(4, 12))
        ]
        point = maximum_disclosure(Signatures.from_classes(classes, k), k)[k]
        mismatches += point.maximum != oracle.maximum(classes, k)
        assert point.maximum < 1
    assert mismatches == 0


@cases(120)
@given(bucketizations(classes=5, values=5), st.integers(0, 6), st.data())
def test_merging_classes_never_discloses_more(classes: list[list[int]], k: int, data: st.DataObject) -> None:
    assume(len(classes) > 1)
    width = max(map(len, classes))
    permuted = [data.draw(st.permutations(counts + [0] * (width - len(counts)))) for counts in classes]
    merged = [[left + right for left, right in zip(permuted[0], permuted[1], strict=True)], *permuted[2:]]
    assert all(coarse <= fine for coarse, fine in zip(curve(merged, k)[0], curve(permuted, k)[0], strict=True))


@cases(120)
@given(bucketizations(), st.integers(0, 6))
def test_somebody_is_certain_exactly_if_a_class_has_at_most_k_plus_one_values(classes: list[list[int]], k: int) -> None:
    signatures = Signatures.from_classes(classes, k)
    found, fewest = maximum_disclosure(signatures, k), min(map(len, classes))
    assert (found[k].maximum == 1) == (fewest <= k + 1)
    assert Disclosure("s", k, signatures).smallest_certain_k == (fewest - 1 if fewest <= k + 1 else None)


@cases(200)
@given(bucketizations(), st.integers(0, 5), st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20))
def test_negated_disclosure_is_recursive_diversity(classes: list[list[int]], k: int, c: Fraction) -> None:
    assert (curve(classes, k)[1][k] < c) == oracle.recursive_diversity(classes, c / (1 - c), k + 2)


@cases(100)
@given(bucketizations(), st.integers(1, 8))
def test_more_knowledge_discloses_more_and_implications_no_less_than_negations(
    classes: list[list[int]], k: int
) -> None:
    maximum, negated = curve(classes, k)
    assert maximum == sorted(maximum)
    assert all(above >= below for above, below in zip(maximum, negated, strict=True))


def test_fifty_pieces_of_knowledge_are_exact() -> None:
    classes = [[3] * 55, [20, *[1] * 70]]
    maximum, negated = curve(classes, 50)
    for k in (1, 20, 50):
        assert maximum[k] == oracle.maximum(classes, k)
        assert negated[k] == oracle.negated(classes, k)
    assert maximum[50] < 1


def test_values_below_the_reach_of_floats_are_exact() -> None:
    n = 10**9
    classes = [[n - 51 - step, *[1] * 51] for step in range(2)]
    maximum = curve(classes, 49)[0]
    for k in (25, 49):
        assert maximum[k] == oracle.maximum(classes, k)
    assert 0 < 1 - maximum[49] < Fraction(1, 10**330)


def test_negated_atoms_in_classes_too_large_for_floats_to_tell_apart() -> None:
    large = 2**52
    classes = [[large, large - 1], [large - 1, large - 2]]
    expected = max(Fraction(large, 2 * large - 1), Fraction(large - 1, 2 * large - 3))
    assert large / (2 * large - 1) == (large - 1) / (2 * large - 3)  # the floats are equal, the fractions are not
    for order in (classes, classes[::-1]):
        assert curve(order, 0)[1] == [expected]


def test_int32_and_any_memory_layout_give_the_same_curve() -> None:
    rng = np.random.default_rng(2)
    counts = -np.sort(-rng.integers(1, 60, size=(200, 6)), axis=1)
    n = counts.sum(axis=1) + rng.integers(1, 9, 200)
    once = np.ones(200, np.int64)
    expected = maximum_disclosure(Signatures(n, counts, once), 5)
    narrow = Signatures(n.astype(np.int32), np.asfortranarray(counts.astype(np.int32)), once.astype(np.int16))
    assert maximum_disclosure(narrow, 5) == expected
    assert expected[5].maximum == oracle.maximum(counts_with_rest(n, counts), 5)


def counts_with_rest(n: np.ndarray, counts: np.ndarray) -> list[list[int]]:  # type: ignore[type-arg]
    """The same classes with the rows beyond the largest counts as values that occur once."""
    return [[*row, *[1] * (size - sum(row))] for size, row in zip(n.tolist(), counts.tolist(), strict=True)]


def test_thresholds_are_exact() -> None:
    found = Disclosure("s", 2, Signatures.from_classes([[2, 2, 1], [2, 1, 1, 1]], k=2))
    assert [found.smallest_k_reaching(Decimal(limit)) for limit in ("0", "0.4", "0.401", "0.67", "1")] == [
        *(0, 0, 1, 2, 2)
    ]
    assert Disclosure("s", 1, Signatures.from_classes([[1, 1, 1]], k=1)).smallest_k_reaching(1) is None


def test_what_cannot_be_asked_is_refused() -> None:
    signatures = Signatures.from_classes([[2, 2, 1]], k=1)
    found, told = maximum_disclosure(signatures, 1), Disclosure("s", 1, signatures)
    with pytest.raises(UsageError, match=r"the threshold 0\.7 is a float"):
        told.smallest_k_reaching(0.7)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"the threshold is 1\.5, it must be from 0 to 1"):
        told.smallest_k_reaching(Decimal("1.5"))
    with pytest.raises(UsageError, match="the curve was computed for k = 0 to 1, k = 2 was asked for"):
        found[2]
    with pytest.raises(UsageError, match="k is 2, these signatures answer for 0 to 1"):
        maximum_disclosure(signatures, 2)
    with pytest.raises(UsageError, match="the table has no rows"):
        maximum_disclosure(Signatures.from_classes([], k=1), 1)
