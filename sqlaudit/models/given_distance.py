"""t-closeness where somebody says how far apart values are: by numbers, or by a matrix (Hsu, 2.4.4).

The database tells how often each combination of counts occurs among the classes; distances are computed in Python, in
whole numbers, so that no statement holds a value or a difference of values.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from math import lcm
from typing import Any, ClassVar

from sqlaudit.base.errors import UsageError
from sqlaudit.classes.facts import Fact
from sqlaudit.models.base import TOO_MANY, HistogramModel, Judgement, Parameter, one_of
from sqlaudit.models.diversity import THESIS
from sqlaudit.models.functions import FunctionModel

MOST_VALUES = 100
"""Up to this many different numbers or values the counts of each are asked for."""
MOST_LISTED = 100_000
"""Up to this many counts of failing classes stand in the condition that finds them again."""
MOST_TRANSPORTS = 20_000
"""Up to this many transport problems are solved."""


class GivenDistance(HistogramModel):
    """Base of both: counts of groups of values, and the work between a class and the table."""

    reference: ClassVar[str] = f"{THESIS}, 2.4.4 and 3.4; Li, Li, Venkatasubramanian: t-Closeness, ICDE 2007"
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (Parameter("t", "decimal", "largest distance allowed, in the unit of the distances", 0),)
    by_default: ClassVar[bool] = False

    def groups(self) -> list[list[int]]:
        """The lanes that are counted together."""
        raise NotImplementedError(self.name)

    def work(self, surplus: Sequence[int]) -> Fraction:
        """The work that evens out surpluses of the groups."""
        raise NotImplementedError(self.name)

    def most(self, surplus: Sequence[int]) -> Fraction:
        """No less than this work, quickly."""
        return self.work(surplus)

    def prepare(self) -> None:
        """Refuse more groups than are counted."""
        if "class_function" in self.needs and "class_function" not in self.context.inputs:
            return
        if len(self.groups()) > MOST_VALUES:
            raise UsageError(
                f"{self.name} is computed for up to {MOST_VALUES} different values; {self.table.name} has "
                f"{len(self.groups()):,}. Round them, or give similar values the same number."
            )

    def facts(self) -> tuple[Fact, ...]:
        """The rows of each group."""
        return tuple(
            Fact(f"{self.name}_{index}", "members", {"lanes": lanes})
            for index, lanes in enumerate(self.groups() or [[]])
        )

    def judge_histogram(self, rows: Sequence[tuple[object, ...]]) -> Judgement:
        """The largest distance, exactly; only where it may matter the work is computed."""
        if not self.table.total:
            return Judgement({"t": None}, *(() if self.values["t"] is None else (0, 0)))
        totals = [sum(self.table.totals[lane] for lane in lanes) for lanes in self.groups()]
        limit = self.values["t"]
        largest, short = Fraction(0), []
        bounded = sorted(self._bounded(rows, totals), reverse=True)
        for solved, (most, counts, classes, members) in enumerate(bounded):
            if most <= largest and (limit is None or most <= limit):
                break
            if solved == MOST_TRANSPORTS:
                return Judgement({"t": None}, None, None, note="too many different classes to compute distances of all")
            distance = self.work(_surplus(counts, totals)) / (sum(counts) * sum(totals))
            largest = max(largest, distance)
            if limit is not None and distance > limit:
                short.append((counts, classes, members))
        levels = {"t": largest if rows else None}
        if limit is None:
            return Judgement(levels)
        classes, failing = sum(c for _, c, _ in short), sum(n for _, _, n in short)
        if len(short) * len(totals) > MOST_LISTED:
            return Judgement(levels, classes, failing, unnamed=TOO_MANY)
        return Judgement(levels, classes, failing, at_limit=one_of(self.facts(), [counts for counts, _, _ in short]))

    def _bounded(
        self, rows: Sequence[tuple[Any, ...]], totals: Sequence[int]
    ) -> list[tuple[Fraction, tuple[int, ...], int, int]]:
        """Each combination with what its distance is at most."""
        bounded = []
        for *counts, classes, members in rows:
            numbers = tuple(int(count) for count in counts)
            most = self.most(_surplus(numbers, totals)) / (sum(numbers) * sum(totals))
            bounded.append((most, numbers, int(classes), int(members)))
        return bounded


def _surplus(counts: Sequence[int], totals: Sequence[int]) -> list[int]:
    """Return what a class has of each group beyond its share of the table, times both sizes."""
    n, everybody = sum(counts), sum(totals)
    return [count * everybody - total * n for count, total in zip(counts, totals, strict=True)]


class NumericTCloseness(FunctionModel, GivenDistance):
    """t-closeness over the numbers of a class function."""

    name: ClassVar[str] = "t_closeness_numeric"
    title: ClassVar[str] = "t-closeness (numeric distance)"
    definition: ClassVar = (
        "Earth mover's distance of every class from the table ≤ t, where two values are |cf(s) − cf(s')| apart, cf = a "
        "class function (identity: their numeric gap)."
    )
    note: ClassVar[str] = f"In the unit of the class function, exactly; with up to {MOST_VALUES} different numbers."
    short_forms: ClassVar[tuple[str, ...]] = ("t_numeric",)

    def work(self, surplus: Sequence[int]) -> Fraction:
        """Return what has to cross each gap, times its width."""
        gaps = [right - left for left, right in pairwise(self.points())]
        return sum((gap * abs(over) for gap, over in zip(gaps, accumulate(surplus), strict=False)), Fraction(0))


class MatrixTCloseness(GivenDistance):
    """t-closeness with a distance for each pair of values."""

    name: ClassVar[str] = "t_closeness_matrix"
    title: ClassVar[str] = "t-closeness (given distances)"
    definition: ClassVar = (
        "Earth mover's distance of every class from the table ≤ t, where a matrix gives the distance of two values: "
        "the cheapest solution of the transport problem."
    )
    note: ClassVar[str] = f"In the unit of the matrix, exactly; with up to {MOST_VALUES} values."
    short_forms: ClassVar[tuple[str, ...]] = ("t_matrix",)
    needs: ClassVar[tuple[str, ...]] = ("distances",)

    def prepare(self) -> None:
        """A matrix of whole numbers, and what one of them is."""
        distances = self.context.inputs["distances"] if self.table.distinct else ()
        self.scale = lcm(*(number.denominator for line in distances for number in line)) if distances else 1
        self.matrix = [[int(number * self.scale) for number in line] for line in distances]
        self.furthest = max((number for line in self.matrix for number in line), default=0)
        super().prepare()

    def groups(self) -> list[list[int]]:
        """Every value by itself."""
        return [[lane] for lane in range(self.table.distinct)]

    def work(self, surplus: Sequence[int]) -> Fraction:
        """By the cheapest ways."""

        return Fraction(moved(surplus, self.matrix), self.scale)

    def most(self, surplus: Sequence[int]) -> Fraction:
        """Everything the longest way."""
        return Fraction(sum(map(abs, surplus)) * self.furthest, 2 * self.scale)


# The cheapest way to move one pile of earth to another (Hsu, Problem 2.4.3), in whole numbers.
#
# By shortest paths: as long as something is left, the cheapest way from what is left over to what is missing is found
# with reduced costs, which stay at 0 or above, and as much as it carries is moved along it.

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
    sources = [lane for lane, surplus_of_lane in enumerate(surplus) if surplus_of_lane > 0]
    sinks = [lane for lane, surplus_of_lane in enumerate(surplus) if surplus_of_lane < 0]
    if len(sources) == 1 or len(sinks) == 1:  # there is no choice
        return sum(
            distances[source][sink] * min(abs(surplus[source]), abs(surplus[sink]))
            for source in sources
            for sink in sinks
        )
    return _Flow(
        [surplus[source] for source in sources], [-surplus[source] for source in sinks], sources, sinks, distances
    ).work()


class _Flow:
    """Supplies 0, 1, … and demands after them, with what flows between."""

    def __init__(
        self, supply: list[int], demand: list[int], sources: list[int], sinks: list[int], distances: Matrix
    ) -> None:
        self.supply, self.demand = supply, demand
        self.cost = [[distances[source][sink] for sink in sinks] for source in sources]
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
        far = [0 if node < many and self.supply[node] else None for node in range(nodes)]
        before, done = [-1] * nodes, [False] * nodes
        while True:
            here = min((n for n in range(nodes) if not done[n] and far[n] is not None), key=lambda n: far[n] or 0)
            so_far = far[here] or 0
            if here >= many and self.demand[here - many]:
                self._raise(far, done, so_far)
                return here, before
            done[here] = True
            for neighbour, cost in self._ways(here):
                length = so_far + cost + self.potential[here] - self.potential[neighbour]
                shortest = far[neighbour]
                if not done[neighbour] and (shortest is None or length < shortest):
                    far[neighbour], before[neighbour] = length, here

    def _ways(self, here: int) -> list[tuple[int, int]]:
        many = len(self.supply)
        if here < many:
            return [(many + sink, cost) for sink, cost in enumerate(self.cost[here])]
        return [(source, -self.cost[source][here - many]) for source in range(many) if self.flow[source][here - many]]

    def _raise(self, far: list[int | None], done: list[bool], most: int) -> None:
        for node, length in enumerate(far):
            self.potential[node] += length if done[node] and length is not None else most

    def _push(self, sink: int, before: list[int]) -> None:
        """Push as much flow as possible along the way that ends at a sink."""
        many, way = len(self.supply), [sink]
        while before[way[-1]] >= 0:
            way.append(before[way[-1]])
        way.reverse()
        back = [self.flow[next_node][here - many] for here, next_node in itertools.pairwise(way) if here >= many]
        amount = min(self.supply[way[0]], self.demand[sink - many], *back)
        for here, next_node in itertools.pairwise(way):
            if here < many:
                self.flow[here][next_node - many] += amount
            else:
                self.flow[next_node][here - many] -= amount
        self.supply[way[0]] -= amount
        self.demand[sink - many] -= amount
