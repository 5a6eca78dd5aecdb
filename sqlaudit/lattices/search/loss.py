"""What a search knows about the loss of a node: a lower bound from its levels, and the loss itself when asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlaudit.column_sets.budget import BudgetSpent, Stop, never
from sqlaudit.lattices.verdicts import Node

Floats = NDArray[np.float64]
Transform = Callable[[Floats], Any]
Exact = Callable[[Sequence[Node]], Sequence[float]]

_DIGITS = 12
_NOISE = 1e-13
"""Relative: sums of the same numbers in another order differ by less."""
_BATCH = 500


def rounded(loss: float) -> float:
    """The loss to 12 significant digits: losses that agree so far count as equal.

    Example:
        >>> rounded(0.1 + 0.2) == rounded(0.3)
        True
    """
    return float(f"{loss:.{_DIGITS}g}")


def lowered(bound: float) -> float:
    """A lower bound that stays one when the losses that it is compared with carry rounding errors."""
    return rounded(bound - _NOISE * abs(bound))


def identity(total: Floats) -> Floats:
    """The transform of a loss that is the sum itself."""
    return total


@dataclass(frozen=True)
class NodeLoss:
    """The loss of nodes: a bound from below by the levels alone, and the exact loss.

    Args:
        terms: for each column one number a level, from level 0 on. No node loses less than `transform` of the sum over
            the columns of the terms of its levels. All zero where levels say nothing.
        transform: takes an array of sums; increasing.
        exact: the losses of safe nodes, in their order, for measures where classes or suppressed rows matter; None when
            the loss of a node is the bound itself.
        monotone: (of `exact`) no safe node loses less than a finer safe one.

    Raises:
        ValueError: a term that is not a finite number.

    Example:
        >>> NodeLoss(((0, 1, 4), (0, 2))).lower((2, 1))
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
        """Whether coarsening never lowers the loss, so that a best safe node is among the minimal ones."""
        return self.monotone if self.exact is not None else self.rising

    @property
    def rising(self) -> bool:
        """Whether the lower bound never falls from one level to the next."""
        return all(low <= high for column in self.terms for low, high in pairwise(column))

    def lower(self, node: Node) -> float:
        """The lower bound of one node."""
        return self.of_sum(sum((float(column[at]) for column, at in zip(self.terms, node, strict=True)), 0.0))

    def of_sum(self, total: float) -> float:
        """The transform of one sum."""
        return float(self.transform(np.array([total], dtype=np.float64))[0])

    def lower_all(self) -> Floats:
        """The lower bounds of all nodes, in the order of their levels (the last column varies fastest)."""
        total = np.zeros(1, dtype=np.float64)
        for column in self.terms:
            # left to right for every node, so that the sum is the same as that of one node, bit for bit
            total = (total[:, None] + np.asarray(column, dtype=np.float64)[None, :]).reshape(-1)
        bounds: Floats = np.asarray(self.transform(total), dtype=np.float64)
        return bounds


@dataclass(frozen=True)
class BestNode:
    """The best safe node known: its levels, and its loss; None when nobody was asked for it yet."""

    node: Node
    loss: float | None


class Incumbent:
    """The best safe node so far. Of equal losses the lexicographically smallest levels win, so a finer node does.

    Args:
        loss: what is compared. stop: whether the time budget is used up.
    """

    def __init__(self, loss: NodeLoss, stop: Stop = never) -> None:
        self.loss = loss
        self.prices: dict[Node, float] = {}
        self.best: BestNode | None = None
        self.key: tuple[float, Node] = (math.inf, ())
        self._stop = stop

    def offer(self, nodes: Sequence[Node]) -> None:
        """Take safe nodes into account; asks for their losses where the levels do not tell.

        Raises:
            BudgetSpent: the budget ended; the nodes before it count.
        """
        new = [node for node in dict.fromkeys(nodes) if node not in self.prices]
        for start in range(0, len(new), _BATCH):
            if self.loss.exact is not None and self._stop():
                raise BudgetSpent
            self._take(new[start : start + _BATCH])

    def worth(self, nodes: Sequence[Node]) -> list[Node]:
        """Those whose lower bound still leaves room below the best loss."""
        return [node for node in nodes if lowered(self.loss.lower(node)) <= self.key[0]]

    def _take(self, nodes: Sequence[Node]) -> None:
        losses = self.loss.exact(nodes) if self.loss.exact is not None else [self.loss.lower(node) for node in nodes]
        for node, value in zip(nodes, losses, strict=True):
            if (key := (rounded(value), node)) < self.key:
                self.best, self.key = BestNode(node, value), key
            # last, so that whenever the work is interrupted a node that has a price is no better than the best
            self.prices[node] = value
