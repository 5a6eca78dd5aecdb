"""Classes in memory: rolled up as counting does it, with keys of one word and of several, whatever is held."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.engines.contract import Engine
from sqlaudit.lattices import sizes
from sqlaudit.lattices.sizes import KeyedSizes, NodeSizes
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
    wide = (1 << 62) - 1  # with its sizes more than a word holds
    for masks in [(0,) * words, (3 << 60,) * words, (1 << 61, *[7 << 59] * (words - 1)), (wide,) * words]:
        expected = Counter()
        for key, count in zip(keys, counts, strict=True):
            expected[tuple(word & mask for word, mask in zip(key, masks, strict=True))] += count
        found = finest.roll_up(masks)
        assert len(found.sizes) == len(expected)
        named = zip(*(word.tolist() for word in found.words), strict=True)
        assert dict(zip(named, found.sizes.tolist(), strict=True)) == expected


@pytest.mark.parametrize("dense", [0, 4, 2**40])
@given(data=st.data())
@run(60, some=20)
def test_keys_are_packed_as_their_bits_lie(dense, data):
    """Added up in an array, or sorted as numbers of 32 or 64 bits, or with the words as they are."""
    width = data.draw(st.sampled_from([3, 12, 20, 31, 62]))
    number = st.integers(0, 2**width - 1)
    keys = data.draw(st.lists(st.tuples(number, number, st.integers(1, 2**20)), min_size=1, max_size=30))
    masks = data.draw(st.tuples(number, number))
    first, second, counts = (np.array(column, dtype=np.int64) for column in zip(*keys, strict=True))
    expected = Counter()
    for one, other, count in keys:
        expected[one & masks[0], other & masks[1]] += count
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sizes, "_DENSE", dense if width < 20 else min(dense, 4))
        found = KeyedSizes((first, second), counts).roll_up(masks)
    assert len(found.sizes) == len(expected)
    assert (
        dict(zip(zip(*(word.tolist() for word in found.words), strict=True), found.sizes.tolist(), strict=True))
        == expected
    )


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


ROWS = """
    SELECT 20 + hash(i) % 40 AS age, hash(i, 2) % 30 AS zip, hash(i, 3) % 3 AS sex, hash(i, 4) % {jobs} AS job
    FROM range(400) AS numbers(i)
"""
LEVELS = {"age": {"widths": [5, 10]}, "zip": {"widths": [5, 10]}, "sex": "keep"}


@pytest.mark.parametrize("find", ["best", "minimal", "all"])
@pytest.mark.parametrize("jobs", [4, 90])
def test_some_classes_show_that_a_node_is_unsafe(find, jobs, monkeypatch):
    """As with millions of classes: nothing else than before is found, or said of why nothing is safe."""

    def found():
        hierarchies = LEVELS if jobs == 4 else {**LEVELS, "job": "keep"}
        return sqlaudit.lattice(
            query=ROWS.format(jobs=jobs),
            qi=["age", "zip", "sex", "job"],
            require={"k": 5},
            hierarchies=hierarchies,
            find=find,
            walk=False,
        )

    every = found()
    asked = []
    monkeypatch.setattr(sizes, "CLASSES", 10)
    monkeypatch.setattr(sizes, "_DRAWN", 20)
    monkeypatch.setattr(NodeSizes, "of_some", lambda self, node: asked.append(of_some(self, node)) or asked[-1])
    some = found()
    assert jobs == 90 or any(one is not None and one.min() < 5 for one in asked)
    assert (every.best is None) == (jobs == 90)
    for name in ("best", "minimal", "safe", "checked", "why", "top", "bound", "verdicts", "safe_nodes"):
        assert getattr(some, name) == getattr(every, name), name


of_some = NodeSizes.of_some
