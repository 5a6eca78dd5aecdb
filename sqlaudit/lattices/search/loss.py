"""The loss of nodes as a search compares it: a bound by the levels, the exact loss, and the best node so far."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlaudit.base.errors import BudgetSpent, Stop, never
from sqlaudit.lattices.verdicts import Node

Floats = NDArray[np.float64]
Transform = Callable[[Floats], Any]
Exact = Callable[[Sequence[Node]], Sequence[float]]

_DIGITS = 12
_NOISE = 1e-13
"""Relative error of a sum: sums of the same numbers in another order differ by less."""
_BATCH = 500
"""Nodes whose exact losses are computed between two looks at the budget."""


def round_loss(loss: float) -> float:
    """Round a loss to 12 significant digits: losses that agree so far count as equal.

    Example:
        >>> round_loss(0.1 + 0.2) == round_loss(0.3)
        True
    """
    return float(f"{loss:.{_DIGITS}g}")


def round_bound(bound: float) -> float:
    """Round a lower bound so that it is still one for losses that carry rounding errors."""
    return round_loss(bound - _NOISE * abs(bound))


def identity(total: Floats) -> Floats:
    """Return the sum itself: the transform of a loss that is the sum of its terms."""
    return total


@dataclass(frozen=True)
class NodeLoss:
    """The loss of nodes: a bound from below by the levels alone, and the exact loss.

    Args:
        terms: for each column one number a level, from level 0 on. No node loses less than `transform` of the sum over
            the columns of the terms of its levels. All zero where levels say nothing.
        transform: takes an array of sums; increasing.
        exact: returns the losses of safe nodes, in their order, for measures where classes or suppressed rows matter;
            None when the loss of a node is the bound itself.
        monotone: (of `exact`) no safe node loses less than a finer safe one.

    Raises:
        ValueError: a term that is not a finite number.

    Example:
        >>> NodeLoss(((0, 1, 4), (0, 2))).bound((2, 1))
        6.0
    """

    terms: Sequence[Sequence[float]]
    transform: Transform = identity
    exact: Exact | None = None
    monotone: bool = False

    def __post_init__(self) -> None:
        if not all(math.isfinite(term) for column in self.terms for term in column):
            raise ValueError("terms of losses are finite numbers")

    @property
    def never_falls(self) -> bool:
        """True if coarsening never lowers the loss, so that a best safe node is among the minimal ones."""
        return self.monotone if self.exact is not None else self.rising

    @property
    def rising(self) -> bool:
        """True if the lower bound never falls from one level to the next."""
        return all(low <= high for column in self.terms for low, high in pairwise(column))

    def bound(self, node: Node) -> float:
        """Return the lower bound of one node."""
        return self.transform_sum(sum((float(column[at]) for column, at in zip(self.terms, node, strict=True)), 0.0))

    def transform_sum(self, total: float) -> float:
        """Return the transform of one sum."""
        return float(self.transform(np.array([total], dtype=np.float64))[0])

    def bounds(self) -> Floats:
        """Return the lower bounds of all nodes, in the order of their levels (the last column varies fastest)."""
        total = np.zeros(1, dtype=np.float64)
        for column in self.terms:
            # left to right for every node, so that the sum is the same as that of one node, bit for bit
            total = (total[:, None] + np.asarray(column, dtype=np.float64)[None, :]).reshape(-1)
        bounds: Floats = np.asarray(self.transform(total), dtype=np.float64)
        return bounds


@dataclass(frozen=True)
class BestNode:
    """The best safe node so far: its levels, and its loss; None when the loss was not computed yet."""

    node: Node
    loss: float | None


class Incumbent:
    """The best safe node so far. For the same loss the lexicographically smallest levels win, so a finer node does.

    Args:
        loss: what is compared.
        stop: returns True when the time budget is used up.
    """

    def __init__(self, loss: NodeLoss, stop: Stop = never) -> None:
        self.loss = loss
        self.losses: dict[Node, float] = {}
        """The losses of the nodes that were offered."""
        self.best: BestNode | None = None
        self.key: tuple[float, Node] = (math.inf, ())
        """The rounded loss and the levels of the best node: what a better node must be below."""
        self._stop = stop

    def offer(self, nodes: Sequence[Node]) -> None:
        """Compare safe nodes with the best one; computes their losses where the levels do not give them.

        Raises:
            BudgetSpent: the budget ended; the nodes before it count.
        """
        new = [node for node in dict.fromkeys(nodes) if node not in self.losses]
        for start in range(0, len(new), _BATCH):
            if self.loss.exact is not None and self._stop():
                raise BudgetSpent
            self._compare(new[start : start + _BATCH])

    def select_candidates(self, nodes: Sequence[Node]) -> list[Node]:
        """Return the nodes whose lower bound is not above the best loss."""
        return [node for node in nodes if round_bound(self.loss.bound(node)) <= self.key[0]]

    def _compare(self, nodes: Sequence[Node]) -> None:
        losses = self.loss.exact(nodes) if self.loss.exact is not None else [self.loss.bound(node) for node in nodes]
        for node, value in zip(nodes, losses, strict=True):
            if (key := (round_loss(value), node)) < self.key:
                self.best, self.key = BestNode(node, value), key
            # last, so that whenever the work is interrupted a node that has a loss is no better than the best
            self.losses[node] = value
