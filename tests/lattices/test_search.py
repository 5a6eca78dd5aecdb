"""Every search over a lattice equals brute force, whatever is inherited, and however it is cut short."""

from __future__ import annotations

import random

import pytest

from sqlaudit.lattices.search.choice import FITS
from sqlaudit.lattices.search.lattice import search_lattice
from sqlaudit.lattices.search.loss import round_loss
from sqlaudit.lattices.search.section import LatticeSection
from tests.lattices.oracle_search import Lattice, leq, losses_for, mixed_lattice, monotone_lattice
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


@pytest.mark.parametrize("make", [monotone_lattice, mixed_lattice])
@pytest.mark.parametrize("find", ["best", "minimal", "all"])
def test_a_section_is_searched_as_brute_force_searches_its_nodes(make, find):
    for seed in range(fewer(40)):
        rng = random.Random(seed)
        lattice = make(rng)
        levels = tuple(rng.choice([None, rng.randint(0, height)]) for height in lattice.heights)
        section = LatticeSection(lattice, levels)
        inside = [n for n in lattice.nodes() if all(one in (None, at) for one, at in zip(levels, n, strict=True))]
        assert list(section.nodes()) == inside
        assert section.top == max(inside)
        safe = [node for node in inside if lattice.verdict(node).safe]
        minimal = [node for node in safe if not any(other != node and leq(other, node) for other in safe)]
        for loss in losses_for(rng, lattice):
            price = loss.exact or (lambda nodes, loss=loss: [loss.bound(node) for node in nodes])
            best = min(((round_loss(price([node])[0]), node) for node in safe), default=None)
            for algorithm in FITS[find]:
                if algorithm == "bounds" and find == "minimal" and not lattice.monotone:
                    continue  # refused, in the whole lattice as well
                lattice.asked.clear()
                found = section.search(find, loss=loss, algorithm=algorithm)
                assert found.complete
                assert found.heights == lattice.heights
                if find == "best":
                    assert (found.best and (round_loss(found.best.loss), found.best.node)) == best
                else:
                    assert list(found.minimal) == minimal
                    assert set(found.safe_nodes()) >= set(safe if find == "all" else ())
                for node in lattice.nodes():
                    known = found.is_safe(node)
                    assert known in (None, lattice.verdict(node).safe)
                    if node not in inside:
                        assert known is None
