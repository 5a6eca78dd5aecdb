"""M(j), in floats and exactly, against the plain recursion."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.classes.facts import Signatures
from sqlaudit.models.disclosure.exact import exact_products
from sqlaudit.models.disclosure.program import SMALLEST, ProductKernel, blocks, tolerance

from . import oracle
from .strategies import bucketizations, cases


@cases(300)
@given(st.lists(st.integers(1, 7), min_size=1, max_size=7), st.integers(0, 9))
def test_exact_products_equal_the_recursion(counts: list[int], k: int) -> None:
    found = exact_products(*Signatures.from_classes([counts], k).signature(0), k + 1)
    assert [product.value for product in found] == [oracle.minimize1(counts, j) for j in range(k + 2)]


@cases(300)
@given(st.lists(st.integers(1, 7), min_size=1, max_size=7), st.integers(1, 9))
def test_the_parts_are_a_descending_partition_that_reaches_the_value(counts: list[int], atoms: int) -> None:
    n, ranked = sum(counts), tuple(sorted(counts, reverse=True))
    for j, found in enumerate(exact_products(n, ranked, atoms)):
        assert sum(found.parts) == j
        assert list(found.parts) == sorted(found.parts, reverse=True)
        assert len(found.parts) <= n
        value = Fraction(1)
        for person, part in enumerate(found.parts):
            value *= Fraction(max(0, n - person - sum(ranked[:part])), n - person)
        assert value == found.value


@cases(200)
@given(bucketizations(classes=8, count=40, values=12), st.integers(0, 12))
def test_floats_stay_within_the_proven_bound(classes: list[list[int]], k: int) -> None:
    signatures = Signatures.from_classes(classes, k)
    (block,) = blocks(signatures, k + 1)
    for position in range(len(signatures)):
        for j, exact in enumerate(exact_products(*signatures.signature(position), k + 1)):
            approximate = Fraction(float(block.products[j, position]))
            assert abs(approximate - exact.value) <= exact.value * Fraction(tolerance(k + 1)) / 4


def test_blocks_cover_all_signatures_in_order() -> None:
    rng = np.random.default_rng(5)
    counts = -np.sort(-rng.integers(1, 50, size=(20_000, 4)), axis=1)
    signatures = Signatures(counts.sum(axis=1) + rng.integers(0, 2, 20_000), counts, np.ones(20_000, np.int64))
    found = list(blocks(signatures, 4))
    assert [block.start for block in found] == list(range(0, 20_000, ProductKernel(4).block))
    assert sum(len(block.n) for block in found) == 20_000
    products = np.concatenate([block.products for block in found], axis=1)
    for position in (0, 1, 8191, 8192, 19_999):
        exact = exact_products(*signatures.signature(position), 4)
        assert products[:, position].tolist() == pytest.approx([float(product.value) for product in exact], rel=1e-14)


def test_products_too_small_for_a_float_stay_positive() -> None:
    n = 10**9
    counts = [n - 51] + [1] * 50  # fifty people who all lack the common value: about 50! / 10**450
    signatures = Signatures.from_rows([(n, *counts, 1)], k=50)
    (block,) = blocks(signatures, 50)
    exact = exact_products(n, tuple(counts), 50)[50].value
    assert 0 < exact < Fraction(1, 10**300)
    assert block.products[50, 0] == SMALLEST
