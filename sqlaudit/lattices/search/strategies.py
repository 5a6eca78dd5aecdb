"""The local optimum of every strategy of generalization, many strategies at once.

A strategy goes from the finest node to the coarsest, one level of one column at every step; its local optimum is the
safe node on it that loses least, the finest one if several lose the same. There are far more strategies than nodes, so
they are counted by their local optimum. (El Emam et al.: A Globally Optimal k-Anonymity Method, JAMIA 2009; Barriers,
section 4.2.)
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from sqlaudit.lattices.search.loss import round_loss
from sqlaudit.lattices.verdicts import Node, just_above, just_below

MOST_STEPS = 300_000
"""Nodes that are looked at, each time that one is, where neither safety nor losses are inherited."""


@dataclass(frozen=True)
class LocalOptima:
    """The strategies by their local optimum.

    Args:
        strategies: how many there are.
        without: how many of them have no safe node.
        loss_decreases: steps from a safe node to a next coarser safe one that loses less.
        optima: each local optimum with the number of its strategies, those of the smallest loss first; None where
            counting them takes too long.
    """

    strategies: int
    without: int
    loss_decreases: int
    optima: tuple[tuple[Node, int], ...] | None


def count_local_optima(heights: Sequence[int], losses: Mapping[Node, float]) -> LocalOptima:
    """Count all strategies by their local optimum.

    Args:
        heights: the highest level of every column.
        losses: of all safe nodes.

    Example:
        >>> local = count_local_optima((1, 2), {(0, 2): 2.0, (1, 1): 1.5, (1, 2): 3.0})
        >>> local.strategies, local.optima
        (3, (((1, 1), 2), ((0, 2), 1)))
    """
    top = tuple(heights)
    keys = {node: (round_loss(loss), node) for node, loss in losses.items()}
    steps = [(node, coarser) for node in keys for coarser in just_above(node, top)]
    falls = sum(coarser in keys and keys[coarser][0] < keys[node][0] for node, coarser in steps)
    strategies = _count_paths(top)
    counts: dict[Node, int] = {}
    if not falls and all(coarser in keys for _, coarser in steps):
        for node in keys:  # everything coarser than a safe node is safe, so that ways to it lead past unsafe ones
            entering = sum(_count_paths(finer) for finer in just_below(node) if finer not in keys) if any(node) else 1
            counts[node] = entering * _count_paths(_subtract(top, node))
    elif sum(_count_finer(node) + _count_finer(_subtract(top, node)) for node in keys) > MOST_STEPS:
        return LocalOptima(strategies, 0, falls, None)
    else:
        bottom = (0,) * len(top)
        for node, key in keys.items():
            better = {other for other, other_key in keys.items() if other_key < key}
            counts[node] = _count_paths_around(bottom, node, better) * _count_paths_around(node, top, better)
    optima = tuple((node, counts[node]) for node in sorted(keys, key=keys.__getitem__) if counts[node])
    return LocalOptima(strategies, strategies - sum(counts.values()), falls, optima)


def _subtract(node: Node, other: Node) -> Node:
    return tuple(a - b for a, b in zip(node, other, strict=True))


def _count_finer(node: Node) -> int:
    """Return the number of nodes that are finer than a node, itself included."""
    return math.prod(level + 1 for level in node)


def _count_paths(steps: Node) -> int:
    """Return the number of orders in which so many steps of each column can be made."""
    paths, total = 1, 0
    for step in steps:
        total += step
        paths *= math.comb(total, step)
    return paths


def _count_paths_around(low: Node, high: Node, avoided: Collection[Node]) -> int:
    """Return the number of paths from one node to a coarser one that meet none of the avoided nodes."""
    paths: dict[Node, int] = {}
    for node in product(*(range(a, b + 1) for a, b in zip(low, high, strict=True))):
        entering = sum(paths.get(finer, 0) for finer in just_below(node)) if node != low else 1
        paths[node] = 0 if node in avoided else entering
    return paths[high]
