"""Lattices with made-up verdicts, and what brute force says about them: slow and obvious."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

from sqlaudit.lattices.search.loss import NodeLoss, round_loss
from sqlaudit.lattices.verdicts import Node, Verdict


def leq(one: Node, other: Node) -> bool:
    """Whether `one` is `other` or finer."""
    return all(a <= b for a, b in zip(one, other, strict=True))


@dataclass
class Lattice:
    """A lattice whose verdicts follow from two rules; counts what it is asked.

    Args:
        heights: of the columns. passes: the inherited part of the verdict, which must be inherited. holds: the rest.
        monotone: what a search is told.
    """

    heights: tuple[int, ...]
    passes: Callable[[Node], bool]
    holds: Callable[[Node], bool] = lambda node: True
    monotone: bool = True
    asked: list[Node] = field(default_factory=list)
    questions: int = 0

    def decide(self, nodes: Sequence[Node]) -> list[Verdict]:
        """The verdicts; no node may be asked twice, and none outside the lattice."""
        for node in nodes:
            assert len(node) == len(self.heights)
            tops = (max(height, 1) for height in self.heights)
            assert all(0 <= level <= top for level, top in zip(node, tops, strict=True))
        self.asked += nodes
        self.questions += 1
        assert len(set(nodes)) == len(nodes)
        return [self.verdict(node) for node in nodes]

    def verdict(self, node: Node) -> Verdict:
        """The verdict on one node."""
        passes = self.passes(node)
        return Verdict(node, passes and self.holds(node), passes, 1, 0, 1)

    def nodes(self) -> list[Node]:
        """All nodes."""
        return list(itertools.product(*(range(height + 1) for height in self.heights)))

    def safe(self) -> list[Node]:
        """All safe nodes."""
        return [node for node in self.nodes() if self.verdict(node).safe]

    def minimal(self) -> list[Node]:
        """The safe nodes without a finer safe one."""
        safe = self.safe()
        return [node for node in safe if not any(other != node and leq(other, node) for other in safe)]

    def best(self, loss: NodeLoss) -> tuple[float, Node] | None:
        """The safe node of smallest loss, the smallest levels where losses are equal."""
        exact = loss.exact or (lambda nodes: [loss.bound(node) for node in nodes])
        return min(((round_loss(exact([node])[0]), node) for node in self.safe()), default=None)


def random_heights(rng: random.Random, most: int = 2000) -> tuple[int, ...]:
    """Heights of one to six columns, some of them kept, with at most so many nodes."""
    while True:
        heights = tuple(rng.choice((0, 1, 1, 2, 2, 3, 4, 5)) for _ in range(rng.randint(1, 6)))
        nodes = 1
        for height in heights:
            nodes *= height + 1
        if nodes <= most:
            return heights


def upward(rng: random.Random, heights: Sequence[int]) -> Callable[[Node], bool]:
    """Whether a node is above one of some random nodes; sometimes everything passes, or nothing does."""
    count = rng.choice((0, 1, 1, 2, 3, 5, 8, 20))
    corners = [tuple(rng.randint(0, height) for height in heights) for _ in range(count)]
    return cache(lambda node: any(leq(corner, node) for corner in corners))


def monotone_lattice(rng: random.Random) -> Lattice:
    """A random lattice in which safety is inherited."""
    heights = random_heights(rng)
    return Lattice(heights, upward(rng, heights))


def mixed_lattice(rng: random.Random) -> Lattice:
    """A random lattice in which a part of the verdict is not inherited."""
    heights = random_heights(rng, 600)
    share, seed = rng.choice((0.05, 0.3, 0.7)), rng.random()

    @cache
    def holds(node: Node) -> bool:
        return random.Random(f"{seed} {node}").random() < share

    return Lattice(heights, upward(rng, heights), holds, monotone=False)


def random_terms(rng: random.Random, heights: Sequence[int], *, rising: bool = True) -> list[list[float]]:
    """Terms of a loss: whole numbers (many ties) or fractions."""
    whole = rng.random() < 0.5
    terms = []
    for height in heights:
        steps = [float(rng.randint(0, 3)) if whole else rng.random() for _ in range(height + 1)]
        terms.append(list(itertools.accumulate(steps)) if rising else steps)
    return terms


def losses_for(rng: random.Random, lattice: Lattice) -> list[NodeLoss]:
    """Losses of every kind: known from the levels, rising or not; above a bound, rising or not."""
    terms = random_terms(rng, lattice.heights)
    uneven = random_terms(rng, lattice.heights, rising=False)
    seed = rng.random()
    bound, none = NodeLoss(terms), NodeLoss([[0.0] * len(column) for column in terms])

    def extra(nodes: Sequence[Node]) -> list[float]:
        return [bound.bound(node) + random.Random(f"{seed} {node}").choice((0, 0, 1, 4)) for node in nodes]

    def rising(nodes: Sequence[Node]) -> list[float]:
        return [bound.bound(node) * (1 + sum(node)) for node in nodes]

    return [
        bound,
        NodeLoss(uneven),
        NodeLoss(terms, exact=extra),
        NodeLoss(terms, exact=rising, monotone=True),
        NodeLoss(none.terms, exact=rising, monotone=True),
    ]
