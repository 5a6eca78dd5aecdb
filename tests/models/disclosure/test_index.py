"""A curve kept up to date equals a curve computed anew."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.errors import UsageError
from sqlaudit.classes.facts import Signatures
from sqlaudit.models.disclosure import index as index_module
from sqlaudit.models.disclosure.index import DisclosureIndex
from sqlaudit.models.disclosure.program import maximum_disclosure
from sqlaudit.models.disclosure.witness import find_witness

from .strategies import cases

Class = list[int]


def merged(classes: list[Class]) -> Class:
    width = max(map(len, classes))
    return [sum(column) for column in zip(*(counts + [0] * (width - len(counts)) for counts in classes), strict=True)]


@pytest.mark.parametrize("slack", [0, 3, 64])
@cases(40)
@given(rng=st.randoms(use_true_random=False), k=st.integers(0, 5), fewest=st.sampled_from([1, 2, 4, 6]))
def test_replacing_equals_recomputing(slack: int, rng: random.Random, k: int, fewest: int) -> None:
    def draw() -> Class:
        return [rng.randint(1, rng.choice([2, 9])) for _ in range(rng.randint(fewest, fewest + 4))]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_module, "_SLACK", slack)
        classes = [draw() for _ in range(rng.randint(1, 40))]
        index = DisclosureIndex(Signatures.from_classes(classes, k), k)
        for _ in range(6):
            rng.shuffle(classes)
            taken = rng.randint(0, min(6, len(classes) - 1))
            removed, classes = classes[:taken], classes[taken:]
            added = [merged(removed)] if removed and rng.random() < 0.4 else [draw() for _ in range(rng.randint(0, 3))]
            classes = classes + added
            index.replace(Signatures.from_classes(removed, k), Signatures.from_classes(added, k))
            assert index.curve.points == maximum_disclosure(Signatures.from_classes(classes, k), k).points
            assert find_witness(index.candidates, index.curve, k).confirmed == index.curve[k].maximum


def test_small_changes_of_a_large_table_do_not_read_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    counts = -np.sort(-rng.integers(1, 60, size=(5000, 6)), axis=1)
    table = np.column_stack([counts.sum(axis=1) + rng.integers(1, 9, 5000), counts, np.ones(5000, np.int64)])
    index = DisclosureIndex(Signatures.from_rows(table.tolist(), k=5), 5)
    monkeypatch.setattr(DisclosureIndex, "_rescan", lambda _: pytest.fail("all signatures are read again"))
    for step in range(100):
        two = table[2 * step : 2 * step + 2]
        both = two.sum(axis=0, keepdims=True)
        both[:, -1] = 1
        index.replace(Signatures.from_rows(two.tolist(), 5), Signatures.from_rows(both.tolist(), 5))
        table[2 * step] = both
        table[2 * step + 1] = table[-1 - step]
        index.replace(Signatures.from_rows([], 5), Signatures.from_rows(table[-1 - step :][:1].tolist(), 5))
    rest = Signatures.from_rows(table.tolist(), k=5)
    assert index.curve.points == maximum_disclosure(rest, 5).points


def test_a_class_that_is_not_there_cannot_be_removed_and_nothing_changes() -> None:
    index = DisclosureIndex(Signatures.from_classes([[2, 1, 1], [2, 2, 1]], k=1), 1)
    before = index.curve
    twice = Signatures.from_classes([[2, 2, 1], [2, 1, 1], [2, 1, 1]], k=1)
    with pytest.raises(UsageError, match="signature 1: 2 classes are to be removed, there are 1"):
        index.replace(twice, Signatures.from_classes([[9, 1]], k=1))
    assert index.curve == before
    with pytest.raises(UsageError, match="the signatures answer for k = 0 to 0, the index was made for 1"):
        index.replace(Signatures.from_classes([[2, 1, 1]], k=0), twice)


def test_an_index_can_be_emptied_and_filled_again() -> None:
    first = Signatures.from_classes([[2, 1, 1]], k=2)
    index = DisclosureIndex(first, 2)
    index.replace(first, Signatures.from_classes([], k=2))
    with pytest.raises(UsageError, match="the table has no rows"):
        _ = index.curve
    second = Signatures.from_classes([[3, 2, 2, 2]], k=2)
    index.replace(Signatures.from_classes([], k=2), second)
    assert index.curve.points == maximum_disclosure(second, 2).points
