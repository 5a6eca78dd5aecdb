"""Every search over a lattice equals brute force, whatever is inherited, and however it is cut short."""

from __future__ import annotations

import random

import pytest

from sqlaudit.lattices.search.choice import FITS
from sqlaudit.lattices.search.lattice import search_lattice
from sqlaudit.lattices.search.loss import round_loss
from tests.lattices.oracle_search import Lattice, losses_for, mixed_lattice, monotone_lattice
from tests.strategies import fewer

CASES = fewer(120)


def cases(make, number=CASES):
    return [make(random.Random(seed)) for seed in range(number)]


@pytest.mark.parametrize("algorithm", ["exhaustive", "incognito", "ola", "bounds", "auto"])
def test_minimal_nodes_where_safety_is_inherited(algorithm):
    for lattice in cases(monotone_lattice):
        found = search_lattice(lattice, "minimal", algorithm=algorithm)
        assert list(found.minimal) == lattice.minimal()
        assert found.all_minimal
        assert found.complete
        assert found.stopped == ""
        assert len(lattice.asked) == len(set(lattice.asked)) == found.counts.checked <= found.counts.nodes
        assert [one.node for one in found.walk] == lattice.asked
        if algorithm != "bounds":
            assert found.counts.safe == len(lattice.safe()) == len(list(found.safe_nodes()))
            assert found.counts.tagged_safe + found.counts.tagged_unsafe + found.counts.checked == found.counts.nodes


@pytest.mark.parametrize("algorithm", ["exhaustive", "incognito", "ola", "auto"])
def test_minimal_nodes_where_safety_is_not_inherited(algorithm):
    for lattice in cases(mixed_lattice):
        found = search_lattice(lattice, "minimal", algorithm=algorithm)
        assert list(found.minimal) == lattice.minimal()
        assert found.all_minimal
        assert found.complete
        assert len(lattice.asked) == len(set(lattice.asked)) == found.counts.checked <= found.counts.nodes


@pytest.mark.parametrize("algorithm", ["exhaustive", "incognito", "ola", "auto"])
@pytest.mark.parametrize("make", [monotone_lattice, mixed_lattice])
def test_all_verdicts(algorithm, make):
    for lattice in cases(make, fewer(60)):
        found = search_lattice(lattice, "all", algorithm=algorithm)
        assert list(found.safe_nodes()) == lattice.safe()
        assert found.counts.safe == len(lattice.safe())
        assert found.counts.unknown == 0
        assert found.complete
        assert found.all_minimal
        assert list(found.minimal) == lattice.minimal()
        assert all(found.is_safe(node) is lattice.verdict(node).safe for node in lattice.nodes())


@pytest.mark.parametrize("algorithm", [*FITS["best"], "auto"])
@pytest.mark.parametrize("make", [monotone_lattice, mixed_lattice])
def test_best_node(algorithm, make):
    for seed in range(fewer(50)):
        rng = random.Random(seed)
        lattice = make(rng)
        for loss in losses_for(rng, lattice):
            lattice.asked.clear()
            found = search_lattice(lattice, loss=loss, algorithm=algorithm)
            wanted = lattice.best(loss)
            assert found.best_proven
            assert found.complete
            if wanted is None:
                assert found.best is None
                assert found.lower_bound is None
            else:
                assert (round_loss(found.best.loss), found.best.node) == wanted
                assert found.lower_bound == found.best.loss
            assert len(lattice.asked) == len(set(lattice.asked)) == found.counts.checked <= found.counts.nodes


def test_a_node_of_a_subset_has_the_other_columns_at_their_top():
    lattice = Lattice((1, 2, 3), lambda node: node[1] == 2 or node[2] >= 1)
    search_lattice(lattice, "minimal", algorithm="incognito")
    assert lattice.asked[0] == (1, 2, 3)
    sizes = [(node[0] < 1) + (node[1] < 2) + (node[2] < 3) for node in lattice.asked]
    assert sizes == sorted(sizes)
