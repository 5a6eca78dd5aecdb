"""Searches that are cut short say only what is proven; chains; and what is refused."""

from __future__ import annotations

import math
import random

import pytest

from sqlaudit.base.errors import Incomplete, Interrupted, UsageError
from sqlaudit.lattices.search.chain import climb
from sqlaudit.lattices.search.choice import FITS, choose
from sqlaudit.lattices.search.inquiry import Progress, SearchOptions
from sqlaudit.lattices.search.lattice import search_lattice
from sqlaudit.lattices.search.loss import NodeLoss, round_loss
from sqlaudit.lattices.verdicts import Verdict
from tests.few import ALL
from tests.lattices.oracle_search import Lattice, losses_for, mixed_lattice, monotone_lattice

SMALL = SearchOptions(batch=3, width=2)


class Stopper:
    """Says stop from the n-th look at the clock on."""

    def __init__(self, after):
        self.left = after

    def __call__(self):
        self.left -= 1
        return self.left < 0


def losses_of(loss, nodes):
    return {node: (loss.exact or (lambda some: [loss.bound(one) for one in some]))([node])[0] for node in nodes}


def check_partial(lattice, found, loss, safe, minimal, prices):
    """Nothing that is said is wrong."""
    assert set(found.minimal) <= set(minimal)
    assert list(found.minimal) == minimal or not found.all_minimal
    assert set(found.safe_nodes()) <= set(safe)
    known = {node: found.is_safe(node) for node in lattice.nodes()}
    assert all(verdict in (None, node in safe) for node, verdict in known.items())
    best = min(((round_loss(price), node) for node, price in prices.items()), default=None)
    if found.best is not None:
        assert found.best.node in safe
        assert found.best.loss in (None, prices[found.best.node])
    if found.best_proven:
        assert (found.best and (round_loss(found.best.loss), found.best.node)) == best
    if found.lower_bound is not None and best is not None:
        assert round_loss(found.lower_bound) <= best[0]
    if found.counts.unknown is not None:
        assert found.counts.unknown == sum(verdict is None for verdict in known.values())
    assert found.counts.unknown is not None or (found.complete and found.algorithm == "bounds")
    if found.counts.safe is not None:
        assert found.counts.safe == len(safe)
    assert (found.stopped == "") is found.complete
    if found.complete and found.find == "minimal":
        assert list(found.minimal) == minimal


@pytest.mark.parametrize(
    ("find", "algorithm", "make"),
    [
        (find, algorithm, make)
        for find in ("best", "minimal", "all")
        for algorithm in FITS[find]
        for make in (monotone_lattice, mixed_lattice)
        if (find, algorithm, make) != ("minimal", "bounds", mixed_lattice)
    ],
)
def test_cut_at_every_step(find, algorithm, make):
    cuts = 0
    for seed in range(10 if ALL else 5):
        rng = random.Random(seed)
        lattice = make(rng)
        safe, minimal = set(lattice.safe()), lattice.minimal()
        for loss in losses_for(rng, lattice)[seed % 2 :: 2]:
            prices = losses_of(loss, safe)
            for after in [*range(12), *range(12, 400, 9 if ALL else 17)]:
                stop = Stopper(after)
                found = search_lattice(lattice, find, loss=loss, algorithm=algorithm, stop=stop, options=SMALL)
                check_partial(lattice, found, loss, safe, minimal, prices)
                cuts += found.stopped == "budget"
                if stop.left >= 0:
                    assert found.complete
                    break
    assert cuts > 50


@pytest.mark.parametrize("error", [Interrupted("stopped"), KeyboardInterrupt(), Incomplete("out of time")])
@pytest.mark.parametrize("algorithm", ["ola", "incognito", "bounds", "best-first", "exhaustive"])
def test_an_interrupted_question_leaves_what_was_known(error, algorithm):
    class Broken(Lattice):
        def decide(self, nodes):
            if self.questions == 2:
                raise error
            return super().decide(nodes)

    lattice = Broken((3, 3, 2), lambda node: sum(node) > 4)
    found = search_lattice(
        lattice, loss=NodeLoss([[0, 1, 2, 3], [0, 2, 4, 6], [0, 1, 5]]), algorithm=algorithm, options=SMALL
    )
    assert found.stopped == ("budget" if isinstance(error, Incomplete) else "interrupted")
    assert found.counts.checked == len(lattice.asked) > 0
    assert not found.complete
    assert found.best is None or sum(found.best.node) > 4
    assert found.lower_bound <= 5


def test_after_the_first_verdict_the_top_is_the_best_so_far():
    lattice = Lattice((4, 4), lambda node: sum(node) > 3)
    loss = NodeLoss([[0, 1, 2, 3, 4]] * 2)
    for algorithm in ("ola", "incognito", "bounds", "best-first"):
        found = search_lattice(lattice, loss=loss, algorithm=algorithm, stop=Stopper(1))
        assert (found.best.node, found.best.loss, found.best_proven) == ((4, 4), 8.0, False)
        assert found.stopped == "budget"
        assert found.minimal == ()


def test_progress_never_falls():
    for algorithm in FITS["best"]:
        for make in (monotone_lattice, mixed_lattice):
            rng = random.Random(5)
            lattice = make(rng)
            told: list[Progress] = []
            loss = losses_for(rng, lattice)[2]
            found = search_lattice(lattice, loss=loss, algorithm=algorithm, on_progress=told.append, options=SMALL)
            assert told[-1].checked == found.counts.checked
            assert {one.total for one in told} == {found.counts.nodes}
            assert [one.decided for one in told] == sorted(one.decided for one in told)
            bests = [one.best for one in told if one.best is not None]
            assert bests == sorted(bests, reverse=True)


def test_the_walk_is_bounded():
    lattice = Lattice((5, 5), lambda node: sum(node) > 4)
    whole = search_lattice(lattice, "all", algorithm="exhaustive")
    part = search_lattice(lattice, "all", algorithm="exhaustive", options=SearchOptions(walk=7))
    assert len(whole.walk) == 36
    assert (part.walk, part.counts.checked) == (whole.walk[:7], 36)


def chain_through(rng, heights):
    node = [0] * len(heights)
    chain = [tuple(node)]
    while any(level < top for level, top in zip(node, heights, strict=True)):
        at = rng.choice([at for at, top in enumerate(heights) if node[at] < top])
        node[at] += rng.randint(1, heights[at] - node[at])
        chain.append(tuple(node))
    return [node for node in chain if rng.random() < 0.8] or chain


@pytest.mark.parametrize("make", [monotone_lattice, mixed_lattice])
def test_finest_safe_node_of_a_chain(make):
    for seed in range(200):
        rng = random.Random(seed)
        lattice = make(rng)
        loss = losses_for(rng, lattice)[seed % 3]
        chain = chain_through(rng, lattice.heights)
        found = search_lattice(lattice, "chain", loss=loss, chain=chain)
        wanted = next((node for node in chain if lattice.verdict(node).safe), None)
        assert found.complete
        assert found.best_proven
        assert (found.best.node if found.best else None) == wanted
        if wanted:
            assert found.best.loss == losses_of(loss, [wanted])[wanted]
        assert found.counts.nodes == len(chain)
        assert len(lattice.asked) == len(set(lattice.asked)) <= len(chain)
        if lattice.monotone:
            assert len(lattice.asked) <= math.ceil(math.log2(len(chain) + 1))
        assert all(found.is_safe(node) in (None, lattice.verdict(node).safe) for node in lattice.nodes())


def test_default_chain_takes_cheap_steps_first():
    heights, terms = (2, 1, 2), [[0, 5, 6], [0, 1], [0, 2, 9]]
    chain = climb(heights, terms)
    assert chain == ((0, 0, 0), (0, 1, 0), (0, 1, 1), (1, 1, 1), (2, 1, 1), (2, 1, 2))
    lattice = Lattice(heights, lambda node: node[0] > 0)
    found = search_lattice(lattice, "chain", loss=NodeLoss(terms))
    assert (found.best.node, found.best.loss, found.counts.nodes) == ((1, 1, 1), 8.0, 6)
    assert climb((1, 2)) == ((0, 0), (1, 0), (1, 1), (1, 2))


def test_a_chain_that_is_cut_short_gives_its_finest_safe_node_so_far():
    lattice = Lattice((31,), lambda node: node[0] >= 10)
    found = search_lattice(lattice, "chain", stop=Stopper(2))
    assert (found.best.node, found.best.loss, found.best_proven, found.stopped) == ((16,), None, False, "budget")
    assert found.counts.checked == 2


@pytest.mark.parametrize("chain", [[(0, 0), (3, 0)], [(0,)], [(1, 0), (0, 1)], [(1, 1), (1, 1)], [(-1, 0)]])
def test_no_chain_of_the_lattice(chain):
    with pytest.raises(UsageError, match="chain"):
        search_lattice(Lattice((2, 1), lambda node: True), "chain", chain=chain)


def test_what_is_chosen_and_what_is_refused():
    plain, tall, huge = (1, 4, 2), (1, 9, 2), (4,) * 15
    by_levels = NodeLoss([[0.0, 1.0]])
    priced = NodeLoss([[0.0, 1.0]], exact=lambda nodes: [0.0 for _ in nodes])
    assert choose("minimal", "auto", plain, monotone=True, loss=None) == "incognito"
    assert choose("minimal", "auto", tall, monotone=False, loss=None) == "ola"
    assert choose("minimal", "auto", huge, monotone=True, loss=None) == "bounds"
    assert choose("best", "auto", plain, monotone=True, loss=by_levels) == "bounds"
    assert choose("best", "auto", plain, monotone=True, loss=priced) == "best-first"
    assert choose("best", "auto", plain, monotone=False, loss=by_levels) == "best-first"
    assert choose("best", "auto", huge, monotone=False, loss=priced) == "bounds"
    assert choose("all", "auto", plain, monotone=True, loss=None) == "exhaustive"
    assert choose("all", "auto", (9,) * 6, monotone=True, loss=None) == "ola"
    assert choose("chain", "auto", huge, monotone=True, loss=None) == "chain"
    for find, algorithm, heights, monotone, words in (
        ("best", "auto", plain, True, "needs a loss"),
        ("worst", "auto", plain, True, "Cannot find"),
        ("minimal", "chain", plain, True, "cannot find minimal"),
        ("minimal", "bounds", plain, False, "bounds cannot find the minimal nodes"),
        ("minimal", "auto", huge, False, "30,517,578,125 nodes"),
        ("all", "auto", huge, True, "allows at most"),
    ):
        with pytest.raises(UsageError, match=words):
            choose(find, algorithm, heights, monotone=monotone, loss=None)


def test_verdicts_that_contradict_the_promise_are_found_out():
    class Wrong(Lattice):
        def verdict(self, node):
            return Verdict(node, node == (0, 0), node == (0, 0), 1, 0, 1)

    with pytest.raises(ValueError, match="inherited"):
        search_lattice(Wrong((1, 1), lambda node: True), "all", algorithm="exhaustive")


def test_a_lattice_of_one_node():
    loss = NodeLoss([[3.0], [0.5]])
    for passes in (True, False):
        for algorithm in FITS["best"]:
            lattice = Lattice((0, 0), lambda node, passes=passes: passes)
            found = search_lattice(lattice, loss=loss, algorithm=algorithm)
            assert found.best_proven
            assert (found.best.node if found.best else None) == ((0, 0) if passes else None)
            assert found.minimal == (((0, 0),) if passes else ())
            assert found.counts.checked == 1


def test_losses_are_finite_numbers():
    with pytest.raises(ValueError, match="finite"):
        NodeLoss([[0.0, math.inf]])
