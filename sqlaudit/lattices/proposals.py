"""Three proposals for a release that differ for its readers, from the safe nodes of a lattice.

The rule, so that the same table always gets the same proposals:

1. The safe node with the least loss (the finest levels win a tie).
2. For each column that it coarsens, those that it removes first, then by the share of their levels: the safe node with
   the least loss that keeps this column at least one level finer, if its loss is at most 5 points larger. A point is a
   hundredth of what the coarsest node loses. The first such column that gives another node makes a proposal.
3. The safe node with the least loss that leaves out no row.

Where the first leaves out no row, or the third does not exist, the next columns of the second step take its place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from sqlaudit.lattices.search.loss import round_loss
from sqlaudit.lattices.verdicts import Node

POINTS = 5
"""How much more a proposal may lose than the best node, in hundredths of the loss of the coarsest node."""
MOST = 3
LEAST, NO_ONE = "Least detail lost", "Leave out no one"


class Priced(Protocol):
    """A safe node with its loss."""

    @property
    def levels(self) -> Node: ...

    @property
    def loss(self) -> float | None: ...

    @property
    def failing_rows(self) -> int:
        """Rows that its release leaves out."""


@dataclass(frozen=True)
class PricedNode:
    """A safe node with its loss, and the rows that its release leaves out."""

    levels: Node
    loss: float
    failing_rows: int


N = TypeVar("N", bound=Priced)
N_co = TypeVar("N_co", bound=Priced, covariant=True)
Accepts = Callable[[Node], bool]


@dataclass(frozen=True)
class Named(Generic[N]):
    """A node with the name of its proposal: what it keeps that others do not."""

    name: str
    node: N


class Least(Protocol[N_co]):
    """Finds the safe node of least loss among those that are accepted; the finest levels win a tie."""

    def __call__(self, accepts: Accepts, most: float = math.inf, *, complete: bool = False) -> N_co | None:
        """Return the node; None if there is none.

        Args:
            accepts: takes the levels of a node.
            most: the largest loss that it may have, rounded.
            complete: True if it may leave out no row.
        """


def least_of(nodes: Iterable[N]) -> Least[N]:
    """Return what finds nodes among safe ones that are all known with their losses."""
    ranked = sorted((node for node in nodes if node.loss is not None), key=rank_of)

    def least(accepts: Accepts, most: float = math.inf, *, complete: bool = False) -> N | None:
        near = (node for node in ranked if rank_of(node)[0] <= most and not (complete and node.failing_rows))
        return next((node for node in near if accepts(node.levels)), None)

    return least


def propose(best: N, least: Least[N], columns: Sequence[tuple[str, int]], coarsest: float) -> list[Named[N]]:
    """Return at most three proposals, that of least loss first.

    Args:
        best: the safe node of least loss.
        least: finds other ones.
        columns: the name of each column and its highest level.
        coarsest: the loss of the coarsest node.
    """
    most = round_loss((best.loss or 0.0) + POINTS / 100 * coarsest)
    no_one = least(lambda _: True, complete=True) if best.failing_rows else None
    room = MOST - 1 - (no_one is not None)
    others: dict[int, N] = {}
    coarsened = [place for place, level in enumerate(best.levels) if level]
    for place in sorted(coarsened, key=lambda place: -best.levels[place] / columns[place][1]):  # removed ones first
        if len(others) == room:
            break
        node = least(lambda levels, place=place: levels[place] < best.levels[place], most)  # type: ignore[misc]
        taken = [other.levels for other in (*others.values(), no_one) if other is not None]
        if node is not None and node.levels not in taken:
            others[place] = node
    named = [Named(_name(columns[place], best.levels[place]), node) for place, node in others.items()]
    first = _name_beside(best.levels, next(iter(others.values())).levels, columns) if others else LEAST
    named.insert(0, Named(first if all(first != other.name for other in named) else LEAST, best))
    return [*named, Named(NO_ONE, no_one)] if no_one is not None else named


def rank_of(node: Priced) -> tuple[float, Node]:
    """Return what nodes are ordered by: their loss, then their levels."""
    return round_loss(node.loss or 0.0), node.levels


def _name(column: tuple[str, int], replaced: int) -> str:
    """Return the name of a proposal by the column of which it keeps more than a node with this level does."""
    name, height = column
    return f"Keep {name}" if replaced == height else f"More detail of {name}"


def _name_beside(levels: Node, other: Node, columns: Sequence[tuple[str, int]]) -> str:
    """Return the name of a node by the column in which it is finest beside another node."""
    finer = [place for place, level in enumerate(levels) if level < other[place]]
    if not finer:
        return LEAST

    def gain(place: int) -> tuple[bool, float, int]:
        height = columns[place][1]
        return other[place] == height, (other[place] - levels[place]) / height, -place

    place = max(finer, key=gain)
    return _name(columns[place], other[place])
