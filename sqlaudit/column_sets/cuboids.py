"""Wide column sets with few classes, kept so that the many small sets inside them are counted from these classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sqlaudit.base.sql import Raw, render
from sqlaudit.column_sets.agree_sets import Words, as_words
from sqlaudit.column_sets.budget import Stop, never
from sqlaudit.column_sets.coding import Coded
from sqlaudit.column_sets.masks import bits
from sqlaudit.engines.contract import Engine

_SHARE = 4
"""A cuboid may have one class for so many rows; with more classes it saves too little."""
_LEAST_SETS = 8
"""A cuboid is worth building for so many sets."""
_NAME = "sqlaudit_columns_cuboid_"
Classes = Callable[[int], int | None]
Flags = NDArray[np.bool_]


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
        words = as_words(masks, len(self.coded.missing))
        open_sets = np.ones(len(masks), dtype=bool)
        for number in sorted(range(len(masks)), key=lambda n: self._width(masks[n])):
            if stop():
                return
            if open_sets[number]:
                cuboid, inside = self._grow(masks[number], words, open_sets, classes)
                if int(inside.sum()) >= _LEAST_SETS:
                    for member in np.flatnonzero(inside):
                        self._home[masks[int(member)]] = cuboid
                    open_sets &= ~inside
                else:
                    open_sets[number] = False

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

    def _grow(self, mask: int, words: Words, open_sets: Flags, classes: Classes) -> tuple[int, Flags]:
        """A cuboid around a set: as long as it stays small, add the column that takes in most further sets."""
        most = self.coded.rows / _SHARE
        size = self._estimate(mask, classes)
        inside = _inside(words, mask, len(self.coded.missing)) & open_sets
        while size <= most:
            best, gain, wider_size, wider_inside = 0, -1.0, 0.0, inside
            for position in range(len(self.coded.missing)):
                if mask >> position & 1:
                    continue
                wider = mask | 1 << position
                estimate = size * self._branching(mask, position, classes)
                if estimate > most:
                    continue
                taken = _inside(words, wider, len(self.coded.missing)) & open_sets
                score = (float(taken.sum()) - float(inside.sum()) + 0.5) / max(1.0, estimate / size - 0.99)
                if score > gain:
                    best, gain, wider_size, wider_inside = wider, score, estimate, taken
            if not best:
                break
            mask, size, inside = best, wider_size, wider_inside
        return mask, inside

    def _estimate(self, mask: int, classes: Classes) -> float:
        known = classes(mask)
        if known is not None:
            return float(known)
        columns = bits(mask)
        size, grown = float(self.coded.domains[columns[0]]), 1 << columns[0]
        for position in columns[1:]:
            size *= self._branching(grown, position, classes)
            grown |= 1 << position
        return size

    def _branching(self, mask: int, position: int, classes: Classes) -> float:
        """Into how many classes a column splits one, at most: as it does with the column that says most about it."""
        least = float(self.coded.domains[position])
        for other in bits(mask):
            pair, single = classes(1 << other | 1 << position), classes(1 << other)
            if pair and single:
                least = min(least, pair / single)
        return max(1.0, least)


def _inside(words: Words, mask: int, width: int) -> Flags:
    """Which of the sets lie inside one."""
    outside = ~as_words([mask], width)[0]
    flags: Flags = np.logical_not((words & outside).any(axis=1))
    return flags
