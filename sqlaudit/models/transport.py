"""The cheapest way to move one pile of earth to another (Hsu, Problem 2.4.3), in whole numbers.

By shortest paths: as long as something is left, the cheapest way from what is left over to what is missing is found
with reduced costs, which stay at 0 or above, and as much as it carries is moved along it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

Matrix = Sequence[Sequence[int]]


def moved(surplus: Sequence[int], distances: Matrix) -> int:
    """The least work that evens out surpluses.

    Args:
        surplus: for each place what is there beyond what should be there; they add up to 0.
        distances: from each place to each; 0 from a place to itself, and no way round is shorter.

    Example:
        >>> moved([2, -1, -1], [[0, 1, 3], [1, 0, 2], [3, 2, 0]])
        4
    """
    sources = [place for place, more in enumerate(surplus) if more > 0]
    sinks = [place for place, more in enumerate(surplus) if more < 0]
    if len(sources) == 1 or len(sinks) == 1:  # there is no choice
        return sum(
            distances[one][other] * min(abs(surplus[one]), abs(surplus[other])) for one in sources for other in sinks
        )
    return _Flow([surplus[one] for one in sources], [-surplus[one] for one in sinks], sources, sinks, distances).work()


class _Flow:
    """Supplies 0, 1, … and demands after them, with what flows between."""

    def __init__(
        self, supply: list[int], demand: list[int], sources: list[int], sinks: list[int], distances: Matrix
    ) -> None:
        self.supply, self.demand = supply, demand
        self.cost = [[distances[one][other] for other in sinks] for one in sources]
        self.flow = [[0] * len(sinks) for _ in sources]
        self.potential = [0] * (len(sources) + len(sinks))

    def work(self) -> int:
        """The cost of the cheapest flow."""
        while any(self.supply):
            self._push(*self._cheapest())
        return sum(
            c * f for costs, flows in zip(self.cost, self.flow, strict=True) for c, f in zip(costs, flows, strict=True)
        )

    def _cheapest(self) -> tuple[int, list[int]]:
        """The demand that is reached most cheaply, and from where each node is reached (-1 = a start)."""
        many, nodes = len(self.supply), len(self.potential)
        far = [0 if place < many and self.supply[place] else None for place in range(nodes)]
        before, done = [-1] * nodes, [False] * nodes
        while True:
            here = min((n for n in range(nodes) if not done[n] and far[n] is not None), key=lambda n: far[n] or 0)
            so_far = far[here] or 0
            if here >= many and self.demand[here - many]:
                self._raise(far, done, so_far)
                return here, before
            done[here] = True
            for there, cost in self._ways(here):
                length = so_far + cost + self.potential[here] - self.potential[there]
                known = far[there]
                if not done[there] and (known is None or length < known):
                    far[there], before[there] = length, here

    def _ways(self, here: int) -> list[tuple[int, int]]:
        many = len(self.supply)
        if here < many:
            return [(many + sink, cost) for sink, cost in enumerate(self.cost[here])]
        return [(one, -self.cost[one][here - many]) for one in range(many) if self.flow[one][here - many]]

    def _raise(self, far: list[int | None], done: list[bool], most: int) -> None:
        for node, length in enumerate(far):
            self.potential[node] += length if done[node] and length is not None else most

    def _push(self, sink: int, before: list[int]) -> None:
        many, way = len(self.supply), [sink]
        while before[way[-1]] >= 0:
            way.append(before[way[-1]])
        way.reverse()
        back = [self.flow[there][here - many] for here, there in itertools.pairwise(way) if here >= many]
        amount = min(self.supply[way[0]], self.demand[sink - many], *back)
        for here, there in itertools.pairwise(way):
            if here < many:
                self.flow[here][there - many] += amount
            else:
                self.flow[there][here - many] -= amount
        self.supply[way[0]] -= amount
        self.demand[sink - many] -= amount
