"""KACA and Mondrian over rows, slow and obvious, in exact fractions. Nothing here is shared with the package.

A hierarchy is a list of dictionaries: the label of each value at levels 1, 2, …; the last level has one label. A cell
is (level, label); a column that is kept has the hierarchy [].
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

Cell = tuple[int, Any]
Row = dict[str, Any]
Hierarchies = Mapping[str, Sequence[Mapping[Any, Any]]]
FallsShort = Callable[[list[Row]], bool]


def rise(height: int, low: int, high: int, beta: int) -> Fraction:
    """WHD(p, q) of the source: levels from 1 = root to h = leaf, from p down to q."""
    leaf = height + 1
    p, q = leaf - low, leaf - high
    weights = {j: Fraction(1, (j - 1) ** beta) for j in range(2, leaf + 1)}
    return (
        sum((weights[j] for j in range(q + 1, p + 1)), Fraction(0)) / sum(weights.values()) if height else Fraction(0)
    )


def label(hierarchy: Sequence[Mapping[Any, Any]], value: Any, level: int) -> Any:
    return value if level == 0 else hierarchy[level - 1][value]


def common(hierarchy: Sequence[Mapping[Any, Any]], values: set[Any], start: int) -> Cell | None:
    """The lowest level from `start` on at which all values have one label."""
    for level in range(start, len(hierarchy) + 1):
        labels = {label(hierarchy, value, level) for value in values}
        if len(labels) == 1:
            return level, labels.pop()
    return None


class Table:
    """Rows with their cells; rows with equal cells are a class."""

    def __init__(self, rows: Sequence[Row], hierarchies: Hierarchies, beta: int, apart: bool) -> None:
        self.rows, self.hierarchies, self.beta = list(rows), hierarchies, beta
        self.cells: list[dict[str, Cell]] = [
            {name: self._first(name, row[name], apart) for name in hierarchies} for row in self.rows
        ]

    def _first(self, name: str, value: Any, apart: bool) -> Cell:
        hierarchy = self.hierarchies[name]
        if value is None and apart:
            level = next(place for place in range(1, len(hierarchy) + 1) if label(hierarchy, value, place) is not None)
            return level, label(hierarchy, value, level)
        return 0, value

    def classes(self) -> list[list[int]]:
        found: dict[tuple[Cell, ...], list[int]] = {}
        for place in range(len(self.rows)):
            found.setdefault(tuple(self.cells[place].values()), []).append(place)
        return list(found.values())

    def generalized(self, places: Sequence[int]) -> dict[str, Cell] | None:
        """The closest common generalization of some rows; None when a kept column has several values."""
        made: dict[str, Cell] = {}
        for name, hierarchy in self.hierarchies.items():
            start = max(self.cells[place][name][0] for place in places)
            cell = common(hierarchy, {self.rows[place][name] for place in places}, start)
            if cell is None:
                return None
            made[name] = cell
        return made

    def distance(self, one: Sequence[int], two: Sequence[int]) -> Fraction | None:
        above = self.generalized([*one, *two])
        if above is None:
            return None
        total = Fraction(0)
        for places in (one, two):
            own = self.cells[places[0]]
            total += len(places) * sum(
                rise(len(hierarchy), own[name][0], above[name][0], self.beta)
                for name, hierarchy in self.hierarchies.items()
            )
        return total


class Drawn:
    """Every class draws a number, evenly between that of the class chosen last and 1."""

    def __init__(self, seed: int) -> None:
        self.generator, self.last = random.Random(seed), 0.0
        self.known: dict[tuple[int, ...], float] = {}

    def of(self, places: Sequence[int]) -> float:
        key = tuple(sorted(places))
        if key not in self.known:
            self.known[key] = self.last + (1 - self.last) * self.generator.random()
        return self.known[key]


def kaca(
    rows: Sequence[Row],
    hierarchies: Hierarchies,
    phases: Sequence[FallsShort],
    *,
    order: str,
    seed: int = 0,
    beta: int = 0,
    apart: bool = False,
) -> tuple[list[tuple[Cell, ...]], int] | None:
    """The cells of every row and the number of merges; None when a class falls short and cannot be merged."""
    table = Table(rows, hierarchies, beta, apart)
    names = list(hierarchies)
    sort = {name: _ranks([row[name] for row in rows]) for name in names}
    by_values = sorted(range(len(rows)), key=lambda place: [sort[name][rows[place][name]] for name in names])
    first = {place: rank for rank, place in enumerate(by_values)}

    def number(places: Sequence[int]) -> int:
        return min(first[place] for place in places)

    merges = 0
    for short in phases:
        drawn = Drawn(seed)
        for places in sorted(table.classes(), key=number):
            if order == "random":
                drawn.of(places)
        while True:
            classes = table.classes()
            failing = [places for places in classes if short([rows[place] for place in places])]
            if not failing:
                break
            if order == "random":
                chosen = min(failing, key=drawn.of)
                drawn.last = drawn.of(chosen)
            else:
                chosen = min(failing, key=lambda places: (len(places), number(places)))
            others = [(table.distance(chosen, other), number(other), other) for other in classes if other != chosen]
            near = [one for one in others if one[0] is not None]
            if not near:
                return None
            nearest = min(near, key=lambda one: one[:2])[2]
            above = table.generalized([*chosen, *nearest])
            assert above is not None
            for place in [*chosen, *nearest]:
                table.cells[place] = dict(above)
            merges += 1
            if order == "random":
                drawn.of(next(places for places in table.classes() if chosen[0] in places))
    return [tuple(cells.values()) for cells in table.cells], merges


def _ranks(values: Sequence[Any]) -> dict[Any, int]:
    known = sorted({value for value in values if value is not None})
    return {**{value: rank for rank, value in enumerate(known)}, None: len(known)}


def mondrian(
    rows: Sequence[Row], hierarchies: Hierarchies, ordered: Sequence[str], short: FallsShort, *, apart: bool = False
) -> list[list[int]] | None:
    """The groups of rows, by their places; None when a part falls short before it is split.

    Args:
        ordered: columns that are cut at medians; the others are split along their hierarchies.
    """
    table = Table(rows, hierarchies, 0, apart)
    kept = [name for name, hierarchy in hierarchies.items() if not hierarchy]
    begin: dict[tuple[Any, ...], list[int]] = {}
    for place, row in enumerate(rows):
        begin.setdefault(tuple(row[name] for name in kept), []).append(place)
    if any(short([rows[place] for place in part]) for part in begin.values()):
        return None
    found: list[list[int]] = []
    for part in begin.values():
        found += _split(table, part, ordered, short)
    return found


def _split(table: Table, part: list[int], ordered: Sequence[str], short: FallsShort) -> list[list[int]]:
    names = list(table.hierarchies)
    widths = {name: _width(table, part, name, name in ordered) for name in names if table.hierarchies[name]}
    for name in sorted((n for n in widths if widths[n] > 0), key=lambda n: (-widths[n], names.index(n))):
        children = _cut(table, part, name) if name in ordered else _along(table, part, name)
        if not any(short([table.rows[place] for place in child]) for child in children):
            return [group for child in children for group in _split(table, child, ordered, short)]
    return [part]


def _width(table: Table, part: list[int], name: str, ordered: bool) -> Fraction:
    if any(table.cells[place][name][0] for place in part) and (ordered or _sits(table, part, name)):
        return Fraction(0)
    everything = {row[name] for row in table.rows}
    values = {table.rows[place][name] for place in part}
    if not ordered:
        above = common(table.hierarchies[name], values, max(table.cells[place][name][0] for place in part))
        assert above is not None
        if above[0] == 0:
            return Fraction(0)
        under = [one for one in everything if label(table.hierarchies[name], one, above[0]) == above[1]]
        return Fraction(len(under) - 1, max(1, len(everything) - 1))
    if len(values) > 1 and None in values:
        return Fraction(1)
    numbers = sorted(value for value in everything if value is not None)
    return Fraction(max(values) - min(values), numbers[-1] - numbers[0]) if len(values) > 1 else Fraction(0)


def _sits(table: Table, part: list[int], name: str) -> bool:
    """Whether a row is as coarse as the whole part already."""
    above = table.generalized(part)
    assert above is not None
    return any(table.cells[place][name] == above[name] for place in part)


def _cut(table: Table, part: list[int], name: str) -> list[list[int]]:
    """At the median, NULL being the largest value."""
    rank = _ranks([row[name] for row in table.rows])
    values = sorted(rank[table.rows[place][name]] for place in part)
    median = next(value for value in values if 2 * sum(other <= value for other in values) >= len(values))
    if median == values[-1]:
        median = max(value for value in values if value < median)
    return [[place for place in part if (rank[table.rows[place][name]] > median) == above] for above in (False, True)]


def _along(table: Table, part: list[int], name: str) -> list[list[int]]:
    hierarchy = table.hierarchies[name]
    above = table.generalized(part)
    assert above is not None
    children: dict[Any, list[int]] = {}
    for place in part:
        children.setdefault(label(hierarchy, table.rows[place][name], above[name][0] - 1), []).append(place)
    return list(children.values())
