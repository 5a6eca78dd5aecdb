"""The disclosure of single classes, and which of them fail."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.classes.facts import Signatures
from sqlaudit.models.disclosure.program import class_disclosure, maximum_disclosure

from . import oracle
from .strategies import bucketizations, cases, small


def positions(classes: list[list[int]], signatures: Signatures) -> list[int]:
    """The signature of each class."""
    known = [signatures.signature(position) for position in range(len(signatures))]
    alone = [Signatures.from_classes([counts], signatures.k).signature(0) for counts in classes]
    return [known.index(signature) for signature in alone]


@cases(120)
@given(small(worlds=30, classes=3), st.integers(0, 2))
def test_every_set_of_simple_implications_about_a_person_of_the_class(classes: list[list[int]], k: int) -> None:
    truth = oracle.atoms(classes)
    expected = oracle.by_class(classes, oracle.largest(truth, oracle.simple_implications(truth), k))
    signatures = Signatures.from_classes(classes, k)
    found = class_disclosure(signatures, k)
    assert [found.exact(position) for position in positions(classes, signatures)] == expected


@cases(200)
@given(bucketizations(), st.integers(0, 7))
def test_the_recursion_with_the_class_fixed(classes: list[list[int]], k: int) -> None:
    signatures = Signatures.from_classes(classes, k)
    found = class_disclosure(signatures, k)
    places = positions(classes, signatures)
    expected = [oracle.of_class(classes, number, k) for number in range(len(classes))]
    assert [found.exact(place) for place in places] == expected
    assert found.approximate[places].tolist() == pytest.approx([float(value) for value in expected], rel=1e-12)
    assert max(expected) == maximum_disclosure(signatures, k)[k].maximum
    for c in {*expected, Fraction(1, 2), Fraction(0), Fraction(1), max(expected) - Fraction(1, 10**40)}:
        assert found.failing_classes(c) == sum(value >= c for value in expected)
        failing_sizes = [sum(counts) for counts, value in zip(classes, expected, strict=True) if value >= c]
        assert found.failing_rows(c) == sum(failing_sizes)
    assert found.exact(int(found.weakest(1)[0])) == max(expected)


def test_only_the_class_itself_is_certain_when_its_values_run_out_with_its_own_consequent() -> None:
    found = class_disclosure(Signatures.from_classes([[1, 1], [4, 4, 4, 4, 4]], k=1), 1)
    assert [found.exact(0), found.exact(1)] == [Fraction(1), Fraction(1, 3)]
    assert found.failing(1).tolist() == [True, False]
    assert found.weakest(2).tolist() == [0, 1]


def test_everybody_is_certain_once_the_values_of_one_class_are_used_up() -> None:
    found = class_disclosure(Signatures.from_classes([[1, 1], [4, 4, 4, 4, 4]], k=2), 2)
    assert [found.exact(0), found.exact(1)] == [Fraction(1), Fraction(1)]
    assert (found.failing_classes(1), found.failing_rows(Decimal("0.3"))) == (2, 22)


def test_equality_with_the_limit_fails_whatever_the_floats_say() -> None:
    """Many different classes lie exactly at 1/3; a limit a hair above passes them all."""
    rows = [(3 * size, size, size - 1, 1) for size in range(3, 3000)]
    found = class_disclosure(Signatures.from_rows(rows, k=1), 0)
    assert found.failing_classes(Fraction(1, 3)) == 2997
    assert found.failing_classes(Fraction(1, 3) + Fraction(1, 10**30)) == 0


def test_many_blocks_give_what_each_class_gives_alone() -> None:
    rng = np.random.default_rng(8)
    counts = -np.sort(-rng.integers(1, 40, size=(30_000, 5)), axis=1)
    signatures = Signatures(counts.sum(axis=1) + rng.integers(1, 9, 30_000), counts, np.ones(30_000, np.int64))
    found = class_disclosure(signatures, 4)
    for position in (0, 9_999, 10_000, 29_999, *found.weakest(5).tolist()):
        assert found.approximate[position] == pytest.approx(float(found.exact(position)), rel=1e-12)
    assert found.exact(int(found.weakest(1)[0])) == maximum_disclosure(signatures, 4)[4].maximum


def test_equally_weak_classes_stand_in_one_order_however_they_come() -> None:
    """A database returns signatures in any order."""
    classes = [[2, 2, 1, 1], [1, 1, 1], [2, 2, 2], [3, 1], [1, 1], [1, 1, 1, 1, 1, 1]]
    orders = [classes, classes[::-1], classes[3:] + classes[:3]]
    told = []
    for order in orders:
        signatures = Signatures.from_classes(order, 2)
        shuffled = signatures.take(np.argsort([-n for n in range(len(signatures))]))
        for one in (signatures, shuffled):
            found = class_disclosure(one, 0)
            told += [[[one.signature(place) for place in found.weakest(most).tolist()] for most in (2, 4, 6)]]
    assert all(answer == told[0] for answer in told)
    assert [size for size, _ in told[0][1]] == [4, 2, 3, 6]
