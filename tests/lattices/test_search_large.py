"""Lattices of more than ten million nodes: answered exactly, and with few questions."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from sqlaudit.lattices.search.inquiry import SearchOptions
from sqlaudit.lattices.search.lattice import search_lattice
from sqlaudit.lattices.search.loss import NodeLoss
from sqlaudit.lattices.search.tagging import strictly_above
from tests.lattices.oracle_search import Lattice


class Clashes(Lattice):
    """A lattice in which a node is unsafe when some columns are all at or below given levels: pairs, triples ..."""

    def __init__(self, seed, heights, counts):
        rng = random.Random(seed)
        self.clashes = []
        for size, count in counts.items():
            for _ in range(count):
                columns = rng.sample(range(len(heights)), size)
                self.clashes.append([(column, rng.randint(0, heights[column] - 1)) for column in columns])
        super().__init__(tuple(heights), self._passes)
        self.terms = []
        for height in heights:
            steps = [0.0, *(rng.random() for _ in range(height))]
            total = sum(steps)
            self.terms.append([math.log1p(sum(steps[: at + 1]) / total) for at in range(height + 1)])

    def _passes(self, node):
        return not any(all(node[column] <= level for column, level in clash) for clash in self.clashes)

    def loss(self):
        width = len(self.heights)
        return NodeLoss(self.terms, lambda total: np.expm1(total / width))

    def unsafe(self):
        """Which nodes are unsafe, by brute force."""
        cells = np.zeros([height + 1 for height in self.heights], dtype=np.bool_)
        for clash in self.clashes:
            region = [slice(None)] * len(self.heights)
            for column, level in clash:
                region[column] = slice(0, level + 1)
            cells[tuple(region)] = True
        return cells

    def cheapest(self):
        """The best safe node, by brute force."""
        losses = self.loss().bounds()
        losses[self.unsafe().reshape(-1)] = math.inf
        return tuple(int(at) for at in np.unravel_index(int(np.argmin(losses)), [h + 1 for h in self.heights]))


FIFTEEN = (3, 2, 2, 3, 2, 3, 1, 2, 2, 3, 2, 1, 2, 3, 1)


@pytest.mark.parametrize(
    ("counts", "checks"), [({2: 10, 3: 20}, 400), ({2: 30, 3: 30}, 300), ({2: 5, 3: 50, 4: 100}, 1000)]
)
def test_best_of_eighteen_million_nodes(counts, checks):
    lattice = Clashes(1, FIFTEEN, counts)
    found = search_lattice(lattice, loss=lattice.loss())
    assert found.algorithm == "bounds"
    assert found.counts.nodes == 17_915_904
    assert found.best_proven
    assert found.best.node == lattice.cheapest()
    assert found.lower_bound == found.best.loss
    assert found.counts.checked == len(lattice.asked) == len(set(lattice.asked)) < checks


def test_best_of_269_thousand_million_nodes():
    lattice = Clashes(0, (2, 3, 4, 3, 2) * 4, {2: 40, 3: 80})
    found = search_lattice(lattice, loss=lattice.loss())
    assert found.counts.nodes == 720**4 == 268_738_560_000
    assert found.best_proven
    assert found.counts.checked < 1500
    # no constraint can be dropped: the node one step cheaper in any column breaks one
    for at, level in enumerate(found.best.node):
        if level:
            finer = (*found.best.node[:at], level - 1, *found.best.node[at + 1 :])
            assert not lattice.verdict(finer).safe


def test_nothing_is_safe_in_a_huge_lattice():
    lattice = Lattice((4,) * 15, lambda node: False)
    found = search_lattice(lattice, loss=NodeLoss([[0, 1, 2, 3, 4]] * 15))
    assert (found.best, found.best_proven, found.counts.safe, found.counts.checked) == (None, True, 0, 1)
    assert search_lattice(lattice, "minimal").all_minimal


def test_losses_that_are_equal_are_decided_by_the_levels():
    # every node of height 12 that has no pair (0, 1), (2, 3), ... at the bottom is best; the smallest levels win
    lattice = Lattice((3,) * 12, lambda node: all(node[at] + node[at + 1] >= 2 for at in range(0, 12, 2)))
    found = search_lattice(lattice, loss=NodeLoss([[0, 1, 2, 3]] * 12), algorithm="bounds")
    assert (found.best.node, found.best.loss) == ((0, 2) * 6, 12.0)
    assert found.counts.checked < 300


def test_all_minimal_nodes_of_eighteen_million():
    lattice = Clashes(2, FIFTEEN, {2: 12, 3: 12})
    found = search_lattice(lattice, "minimal", algorithm="bounds")
    safe = ~lattice.unsafe()
    wanted = np.argwhere(safe & ~strictly_above(safe))
    assert found.all_minimal
    assert found.minimal == tuple(tuple(node) for node in wanted.tolist())
    assert found.counts.checked < 20 * len(wanted)


def test_minimal_nodes_stop_when_there_are_too_many():
    lattice = Lattice((1,) * 24, lambda node: sum(node) >= 6)
    options = SearchOptions(most_minimal=500)
    found = search_lattice(lattice, "minimal", algorithm="bounds", options=options)
    assert (found.complete, found.all_minimal, found.stopped) == (False, False, "limit")
    assert all(sum(node) == 6 for node in found.minimal)
    assert found.counts.checked < 30 * 500


def test_a_huge_search_that_is_cut_short_says_what_is_proven():
    lattice = Clashes(1, FIFTEEN, {2: 5, 3: 50, 4: 100})
    best = search_lattice(lattice, loss=lattice.loss()).best
    bounds = []
    for most in (1, 5, 20, 200):
        lattice.questions = 0
        found = search_lattice(lattice, loss=lattice.loss(), stop=lambda most=most: lattice.questions >= most)
        assert not found.best_proven
        assert found.stopped == "budget"
        assert found.lower_bound <= best.loss <= found.best.loss
        assert lattice.verdict(found.best.node).safe
        bounds.append(found.lower_bound)
    assert bounds == sorted(bounds)
    assert bounds[-1] > 0.8 * best.loss


@pytest.mark.parametrize("algorithm", ["bounds", "best-first"])
def test_losses_above_their_bound_in_a_large_lattice(algorithm):
    lattice = Clashes(3, (3, 4, 2, 5, 3, 2, 4, 3, 2), {2: 10, 3: 10})
    inner, total = lattice.loss(), sum(lattice.heights)

    def exact(nodes):
        # as with suppressed rows: more is lost than the levels say, and less so in coarser nodes
        return [inner.bound(node) * (1 + 0.3 * (1 - sum(node) / total)) for node in nodes]

    found = search_lattice(lattice, loss=NodeLoss(inner.terms, inner.transform, exact), algorithm=algorithm)
    heights = sum(np.indices([height + 1 for height in lattice.heights]).reshape(len(lattice.heights), -1))
    losses = inner.bounds() * (1 + 0.3 * (1 - heights / total))
    losses[lattice.unsafe().reshape(-1)] = math.inf
    wanted = np.unravel_index(int(np.argmin(losses)), [height + 1 for height in lattice.heights])
    assert found.best_proven
    assert found.best.node == tuple(int(at) for at in wanted)
    assert found.counts.nodes == 259_200
    assert found.counts.checked < 1000


@pytest.mark.parametrize(
    ("heights", "algorithm", "checks"),
    [
        ((20, 30, 20), "ola", 250),
        ((20, 30, 20), "bounds", 150),
        ((8, 10, 12, 8), "ola", 300),
        ((2, 3, 4, 3, 2, 3), "incognito", 300),
        ((2, 3, 4, 3, 2, 3), "ola", 250),
        ((2, 3, 4, 3, 2, 3), "bounds", 150),
    ],
)
def test_few_questions(heights, algorithm, checks):
    lattice = Clashes(4, heights, {2: 6, 3: 8})
    found = search_lattice(lattice, "minimal", algorithm=algorithm)
    safe = ~lattice.unsafe()
    assert list(map(list, found.minimal)) == np.argwhere(safe & ~strictly_above(safe)).tolist()
    assert found.counts.checked < checks
    assert found.counts.nodes > 2800
