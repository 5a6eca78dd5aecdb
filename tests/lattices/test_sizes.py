"""Classes in memory: rolled up as counting does it, with keys of one word and of several, whatever is held."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.engines.contract import Engine
from sqlaudit.lattices import sizes
from sqlaudit.lattices.sizes import KeyedSizes
from sqlaudit.models.registry import requirement_from
from tests.lattices.lattices import NodeCase, node_cases
from tests.lattices.test_evaluate import ON_DUCKDB, assert_verdicts, decided
from tests.strategies import run


@pytest.mark.parametrize("words", [1, 2, 3])
@pytest.mark.parametrize("mixed", [sizes._MIXED, np.int64(0)])
def test_classes_are_rolled_up_as_counting_does(words, mixed, monkeypatch):
    """With a factor of 0 keys that differ in the first word alone are mixed into one number."""
    monkeypatch.setattr(sizes, "_MIXED", mixed)
    rng = random.Random(words)
    keys = [tuple(rng.randrange(8) << 59 for _ in range(words)) for _ in range(300)]
    counts = [rng.randint(1, 9) for _ in keys]
    finest = KeyedSizes(tuple(np.array(column) for column in zip(*keys, strict=True)), np.array(counts))
    for masks in [(0,) * words, (3 << 60,) * words, (1 << 61, *[7 << 59] * (words - 1))]:
        expected = Counter()
        for key, count in zip(keys, counts, strict=True):
            expected[tuple(word & mask for word, mask in zip(key, masks, strict=True))] += count
        found = finest.rolled_up(masks)
        assert len(found.sizes) == len(expected)
        named = zip(*(word.tolist() for word in found.words), strict=True)
        assert dict(zip(named, found.sizes.tolist(), strict=True)) == expected


@ON_DUCKDB
@given(case=node_cases(), k=st.integers(1, 4), most=st.integers(0, 8))
@run(40, some=10)
def test_nodes_of_k_agree_whatever_is_in_memory(engine: Engine, case: NodeCase, k: int, most: int) -> None:
    """Nothing in memory, some nodes, or all of them but few at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sizes, "CLASSES", most)
        patch.setattr(sizes, "_HELD", 2 * most)
        asked = replace(case, require=[requirement_from("k_anonymity", {"k": k})])
        assert_verdicts(decided(engine, asked), asked)
