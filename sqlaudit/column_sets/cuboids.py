"""Wide column sets with few classes, kept so that the many small sets inside them are counted from these classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sqlaudit.base.sql import Raw, render
from sqlaudit.column_sets.budget import Stop, never
from sqlaudit.column_sets.coding import Coded
from sqlaudit.column_sets.masks import bits, mask_of
from sqlaudit.engines.contract import Engine

_SHARE = 4
"""A cuboid may have one class for so many rows; with more classes it saves too little."""
_LEAST_SETS = 8
"""A cuboid is worth building for so many sets."""
_NAME = "sqlaudit_columns_cuboid_"
Classes = Callable[[int], int | None]
Flags = NDArray[np.bool_]
Numbers = NDArray[np.float64]


class Cuboids:
    """Plans, builds and drops cuboids. Counting from one is exact: classes of a subset are unions of its classes."""

    def __init__(self, engine: Engine, coded: Coded) -> None:
        self.engine = engine
        self.coded = coded
        self.built = 0
        self._home: dict[int, int] = {}
        self._tables: dict[int, tuple[str, Raw]] = {}

    def plan(self, masks: Sequence[int], classes: Classes, stop: Stop = never) -> None:
        """Choose cuboids for sets that will be counted; the older ones are dropped."""
        self.close()
        if len(masks) < _LEAST_SETS or masks[0].bit_count() < 2:
            return
        plan = _Plan(masks, classes, self.coded)
        for number in sorted(range(len(masks)), key=lambda n: self._width(masks[n])):
            if stop():
                return
            if plan.waiting[number]:
                cuboid, inside = plan.around(bits(masks[number]))
                plan.waiting[number] = False
                if len(inside) >= _LEAST_SETS:
                    plan.waiting[inside] = False
                    self._home.update((masks[member], cuboid) for member in inside)

    def source(self, mask: int) -> Raw | None:
        """The kept classes to count a set from, None for the rows themselves."""
        cuboid = self._home.get(mask)
        if cuboid is None:
            return None
        if cuboid not in self._tables:
            self._build(cuboid)
        return self._tables[cuboid][1]

    def close(self) -> None:
        """Drop all that is kept; what is asked for later is counted from the rows."""
        self._home = {}
        for name, _ in self._tables.values():
            self.engine.drop(name)
        self._tables = {}

    def _build(self, cuboid: int) -> None:
        name = f"{_NAME}{self.built}"
        names = [f"c{position}" for position in bits(cuboid)]
        statement = render("column_sets/columns_cuboid.sql", self.engine.dialect, source=self.coded.source, names=names)
        self._tables[cuboid] = (name, Raw(self.engine.materialize(name, statement).sql))
        self.built += 1

    def _width(self, mask: int) -> float:
        width = 1.0
        for position in bits(mask):
            width *= self.coded.domains[position]
        return width


class _Plan:
    """Which sets still wait for a cuboid, and how large one becomes, at most."""

    def __init__(self, masks: Sequence[int], classes: Classes, coded: Coded) -> None:
        width = len(coded.missing)
        self.waiting: Flags = np.ones(len(masks), dtype=bool)
        self._members = _membership(masks, width)
        self._having = np.ascontiguousarray(self._members.T)
        self._sizes = np.array([mask.bit_count() for mask in masks], dtype=np.int16)
        self._domains = np.array(coded.domains, dtype=np.float64)
        self._splits = _splits(classes, width)
        self._most = coded.rows / _SHARE

    def around(self, positions: Sequence[int]) -> tuple[int, list[int]]:
        """A cuboid around a set, and the waiting sets inside it: as long as it stays small, the column is added that
        takes in most further sets."""
        size, branching = self._start(positions)
        if size > self._most:
            return 0, []
        chosen = np.zeros(len(self._domains), dtype=bool)
        chosen[positions] = True
        outside = self._sizes - self._having[positions].sum(axis=0, dtype=np.int16)
        while True:
            taken = self._members[self.waiting & (outside == 1)].sum(axis=0)  # by the one column that they lack
            wider = size * branching
            score = (taken + 0.5) / np.maximum(1.0, wider / size - 0.99)
            score[chosen | (wider > self._most)] = -1.0
            best = int(score.argmax())
            if score[best] < 0:
                break
            size, branching = float(wider[best]), np.minimum(branching, self._splits[best])
            chosen[best] = True
            outside -= self._having[best]
        inside = np.flatnonzero(self.waiting & (outside == 0))
        return mask_of(np.flatnonzero(chosen).tolist()), inside.tolist()

    def _start(self, positions: Sequence[int]) -> tuple[float, Numbers]:
        """How many classes a set has, at most, and into how many each further column splits one of them."""
        size, branching = 1.0, self._domains
        for position in positions:
            size *= float(branching[position])
            branching = np.minimum(branching, self._splits[position])
        return size, branching


def _splits(classes: Classes, width: int) -> Numbers:
    """For two columns into how many classes the second splits one of the first on average, where that was counted."""
    table = np.full((width, width), np.inf)
    single = [classes(1 << column) for column in range(width)]
    for one, two in combinations(range(width), 2):
        pair = classes(1 << one | 1 << two)
        for column, other in ((one, two), (two, one)):
            alone = single[column]
            if pair and alone:
                table[column, other] = max(1.0, pair / alone)
    return table


def _membership(masks: Sequence[int], width: int) -> Flags:
    """For every set and every column whether the column is in the set."""
    flags: Flags = np.array([[mask >> position & 1 for position in range(width)] for mask in masks], dtype=bool)
    return flags
