"""The local optimum of every strategy of generalization, many strategies at once.

A strategy goes from the finest node to the coarsest, one level of one column at every step; its local optimum is the
safe node on it that loses least, the finest of equal ones. There are far more strategies than nodes, so they are
counted by their local optimum. (El Emam et al.: A Globally Optimal k-Anonymity Method, JAMIA 2009; Barriers, section
4.2.)
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from sqlaudit.lattices.search.loss import rounded
from sqlaudit.lattices.verdicts import Node

MOST_STEPS = 300_000
"""Nodes that are looked at, each time that one is, where neither safety nor losses are inherited."""


@dataclass(frozen=True)
class LocalOptima:
    """The strategies by their local optimum.

    Args:
        strategies: how many there are. without: how many of them have no safe node.
        falls: steps from a safe node to a next coarser safe one that loses less.
        optima: of how many strategies each local optimum is one, those of the smallest loss first; None where counting
            them takes too long.
    """

    strategies: int
    without: int
    falls: int
    optima: tuple[tuple[Node, int], ...] | None


def local_optima(heights: Sequence[int], losses: Mapping[Node, float]) -> LocalOptima:
    """The local optima of all strategies.

    Args:
        heights: of the columns. losses: of all safe nodes.

    Example:
        >>> found = local_optima((1, 2), {(0, 2): 2.0, (1, 1): 1.5, (1, 2): 3.0})
        >>> found.strategies, found.optima
        (3, (((1, 1), 2), ((0, 2), 1)))
    """
    top = tuple(heights)
    keys = {node: (rounded(loss), node) for node, loss in losses.items()}
    steps = [(node, coarser) for node in keys for coarser in _next(node, top)]
    falls = sum(coarser in keys and keys[coarser][0] < keys[node][0] for node, coarser in steps)
    strategies = _paths(top)
    counted: dict[Node, int] = {}
    if not falls and all(coarser in keys for _, coarser in steps):
        counted = {node: _entering(node, keys) * _paths(_less(top, node)) for node in keys}
    elif sum(_volume(node) + _volume(_less(top, node)) for node in keys) > MOST_STEPS:
        return LocalOptima(strategies, 0, falls, None)
    else:
        bottom = (0,) * len(top)
        for node, own in keys.items():
            better = {other for other, key in keys.items() if key < own}
            counted[node] = _avoiding(bottom, node, better) * _avoiding(node, top, better)
    found = tuple((node, counted[node]) for node in sorted(keys, key=keys.__getitem__) if counted[node])
    return LocalOptima(strategies, strategies - sum(counted.values()), falls, found)


def _next(node: Node, top: Node) -> Iterator[Node]:
    """The nodes one step coarser."""
    for at, level in enumerate(node):
        if level < top[at]:
            yield (*node[:at], level + 1, *node[at + 1 :])


def _before(node: Node) -> Iterator[Node]:
    """The nodes one step finer."""
    for at, level in enumerate(node):
        if level:
            yield (*node[:at], level - 1, *node[at + 1 :])


def _less(node: Node, other: Node) -> Node:
    return tuple(a - b for a, b in zip(node, other, strict=True))


def _volume(node: Node) -> int:
    return math.prod(level + 1 for level in node)


def _paths(steps: Node) -> int:
    """In how many orders so many steps of each column can be made."""
    found, total = 1, 0
    for step in steps:
        total += step
        found *= math.comb(total, step)
    return found


def _entering(node: Node, safe: Collection[Node]) -> int:
    """The ways to a node whose nodes before are not safe, where everything coarser than a safe one is."""
    if not any(node):
        return 1
    return sum(_paths(finer) for finer in _before(node) if finer not in safe)


def _avoiding(low: Node, high: Node, avoided: Collection[Node]) -> int:
    """The ways from one node to a coarser one past all of these."""
    ways: dict[Node, int] = {}
    for node in product(*(range(a, b + 1) for a, b in zip(low, high, strict=True))):
        if node in avoided:
            ways[node] = 0
        else:
            ways[node] = sum(ways.get(finer, 0) for finer in _before(node)) if node != low else 1
    return ways[high]
