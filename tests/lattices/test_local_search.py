"""Local search beside the proof: better nodes for the same number of verdicts, and nothing else is concluded."""

from __future__ import annotations

import numpy as np
import pytest

from sqlaudit.lattices.search import bounds, local
from sqlaudit.lattices.search.lattice import search_lattice
from sqlaudit.lattices.search.loss import NodeLoss
from sqlaudit.lattices.verdicts import Verdict
from tests.lattices import test_search
from tests.lattices.oracle_search import mixed_lattice, monotone_lattice

ROWS, K, LIMIT = 1000, 5, 50


class SmallTable:
    """A random table of twelve columns, skewed, half of which follow from others; 5% of its rows may be suppressed."""

    monotone = True

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.heights = tuple(int(height) for height in rng.integers(2, 5, 12))
        self.asked = []
        self.known = {}
        columns, self.labels = [], []
        for height in self.heights:
            values = np.floor(3**height * rng.random(ROWS) ** rng.choice([2, 4, 8])).astype(np.int64)
            if columns and rng.random() < 0.5:
                values = np.where(rng.random(ROWS) < 0.98, columns[rng.integers(len(columns))] % 3**height, values)
            columns.append(values)
            # a key is a sum of random numbers, one a label
            numbers = rng.integers(1, 2**62, (height, 3**height))
            levels = [row[values // 3**level] for level, row in enumerate(numbers)]
            self.labels.append([*levels, np.zeros(ROWS, dtype=np.int64)])
        self.weights = rng.dirichlet(np.ones(12))

    def suppressed(self, node):
        """The rows in classes that are too small."""
        if node not in self.known:
            keys = sum(labels[level] for labels, level in zip(self.labels, node, strict=True))
            sizes = np.unique(keys, return_counts=True)[1]
            self.known[node] = int(sizes[sizes < K].sum())
        return self.known[node]

    def decide(self, nodes):
        self.asked += nodes
        safe = [(self.suppressed(node) <= LIMIT,) * 2 for node in nodes]
        return [Verdict(node, *both, 1, self.known[node], 1) for node, both in zip(nodes, safe, strict=True)]

    def loss(self):
        """The precision, suppressed cells included."""
        columns = zip(self.weights.tolist(), self.heights, strict=True)
        levels = NodeLoss([[weight * level / height for level in range(height + 1)] for weight, height in columns])

        def price(nodes):
            return [1 - (1 - levels.bound(node)) * (1 - self.suppressed(node) / ROWS) for node in nodes]

        return NodeLoss(levels.terms, exact=price)


def search(seed, most):
    table = SmallTable(seed)
    found = search_lattice(table, loss=table.loss(), algorithm="bounds", stop=lambda: len(table.asked) >= most)
    assert len(table.asked) == len(set(table.asked))
    return found, table


@pytest.mark.parametrize("seed", range(10))
def test_the_best_node_so_far_is_never_worse_for_the_same_number_of_verdicts(seed, monkeypatch):
    for most in (400, 800):
        monkeypatch.setattr(bounds, "TAGGED", 0)
        (found, table), (again, _) = search(seed, most), search(seed, most)
        monkeypatch.setattr(bounds, "TAGGED", 10**12)
        without, _ = search(seed, most)
        assert found.best.loss <= without.best.loss
        assert table.suppressed(found.best.node) <= LIMIT
        assert (found.best, found.walk) == (again.best, again.walk)
        assert found.lower_bound <= without.best.loss


@pytest.mark.parametrize("algorithm", ["bounds", "best-first"])
@pytest.mark.parametrize("make", [monotone_lattice, mixed_lattice])
def test_a_search_that_ends_finds_the_same(make, algorithm, monkeypatch):
    monkeypatch.setattr(bounds, "TAGGED", 0)
    monkeypatch.setattr(local, "_SHARE", 1)
    test_search.test_best_node(algorithm, make)
