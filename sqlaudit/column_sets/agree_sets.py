"""Agree sets of row pairs, asked from the engine: on which columns are two rows equal?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlaudit.base.spec import NullPolicy
from sqlaudit.base.sql import Raw, render
from sqlaudit.column_sets.counting import Figures, SetCounter
from sqlaudit.column_sets.masks import bits

_WORD_BITS = 62
_SAMPLE_ROWS = 1000
_DISTINCT = "sqlaudit_columns_distinct"
_SHARED = "sqlaudit_columns_shared"
Words = NDArray[np.uint64]


class AgreeSets:
    """Reads agree sets of pairs of different rows; what was read is kept as the maximal ones.

    Where rows are codes, the keys that rows share on a column set are kept: they say how many pairs agree on it, and
    its pairs are read from the rows that have one. Rows that are equal everywhere are looked for only once a pair of
    them was read, or too many pairs agree; then each different row stays once.

    Args:
        counter: counts the same rows; it is told what keys that were read say of a set's figures.
    """

    def __init__(self, counter: SetCounter, width: int) -> None:
        self.counter = counter
        self.engine = counter.engine
        self.coded = counter.coded
        self.width = width
        self.rows = self.coded.rows
        self.read = 0
        self.pairs: dict[int, int] = {}
        self._source = self.coded.source
        self._shares, self._kept = 0, self.coded.source
        self._settled = not self.coded.coded
        solo = bits(self.coded.nullable) if counter.nulls is NullPolicy.DISTINCT else []
        self._solo = _names(solo)
        self._loose = [] if self.coded.coded or solo else _names(bits(self.coded.nullable))
        self._words = [range(begin, min(begin + _WORD_BITS, width)) for begin in range(0, width, _WORD_BITS)]
        self._full = np.array([(1 << len(word)) - 1 for word in self._words], dtype=np.uint64)
        self._maximal: Words = np.zeros((0, len(self._words) or 1), dtype=np.uint64)

    @property
    def everything(self) -> int:
        """All columns."""
        return (1 << self.width) - 1

    def settle(self) -> None:
        """Keep every different row once, if that is not known to be so."""
        if self._settled:
            return
        self._settled = True
        if (self.counter.figures([self.everything])[0].classes or 0) < self.rows:
            self._keep_distinct()

    def _keep_distinct(self) -> None:
        statement = render(
            "column_sets/columns_distinct.sql",
            self.engine.dialect,
            source=self.coded.source,
            names=_names(range(self.width)),
            solo_columns=self._solo,
        )
        self._source = Raw(self.engine.materialize(_DISTINCT, statement).sql)
        count = render("base/row_count.sql", self.engine.dialect, source=self._source)
        self.rows = int(self.engine.run(count)[0][0])
        self._shares, self.pairs = 0, {}

    def close(self) -> None:
        """Release what was kept."""
        if self.coded.coded:
            self.engine.drop(_SHARED)
            self.engine.drop(_DISTINCT)

    def maximal(self) -> list[int]:
        """The maximal agree sets read so far."""
        return _as_masks(self._maximal)

    def count(self, key: int) -> int:
        """How many pairs of rows agree on some columns."""
        if key not in self.pairs:
            counts = self._share(key) if self.coded.coded and key else self.counter.figures([key])[0].pairs or 0
            self.pairs[key] = counts // 2
        return self.pairs[key]

    def sample(self) -> None:
        """Read the agree sets of all pairs of some rows."""
        self._read(0, max(1, self.rows // _SAMPLE_ROWS), sampled=True)

    def above(self, key: int, stride: int = 1) -> int:
        """Read the agree sets of all pairs (of every n-th row) that are equal on the key columns; how many."""
        found = self._read(key, stride, sampled=False)
        if stride == 1 and not self._settled:  # equal rows would be among them
            self._settled = True
            self.counter.learn(self.everything, _all_different(self.rows, self.counter.k))
        return found

    def _share(self, key: int) -> int:
        """Keep the keys that rows share; ordered pairs of rows with one key."""
        parameters = {"packed": self.coded.keys(key), "nullable": self._solo_of(key)}
        statement = render("column_sets/columns_shared.sql", self.engine.dialect, source=self._source, set=parameters)
        self._kept = Raw(self.engine.materialize(_SHARED, statement).sql)
        self._shares = key
        totals = render(
            "column_sets/columns_shared_totals.sql", self.engine.dialect, source=self._kept, k=self.counter.k
        )
        shared, members, smallest, at_risk, pairs = (int(number or 0) for number in self.engine.run(totals)[0])
        alone = self.rows - members
        if self.rows == self.coded.rows:
            k = self.counter.k
            risk, least = at_risk + (alone if k > 1 else 0), 1 if alone else smallest
            self.counter.learn(key, Figures(alone + shared, least, risk, alone, pairs))
        return pairs

    def _solo_of(self, key: int) -> list[str]:
        return [name for name in _names(bits(key)) if name in self._solo]

    def _read(self, key: int, stride: int, *, sampled: bool) -> int:
        shared, packed, names = None, self.coded.keys(key) if self.coded.coded else [], _names(bits(key))
        if self.coded.coded and key and stride == 1:
            if self._shares != key:
                self._share(key)
            shared, names = self._kept, [f"k{number}" for number in range(len(packed))]
        loose = [] if self.engine.joins_nulls else self._loose
        statement = render(
            "column_sets/columns_agree.sql",
            self.engine.dialect,
            source=self._source,
            columns=self.coded.columns,
            coded=self.coded.coded,
            words=[_names(word) for word in self._words],
            key=names,
            shared=shared,
            packed=packed,
            ranked=[name for name in names if name in loose],
            solo_columns=self._solo,
            loose=self._loose,
            stride=stride,
            sampled=sampled,
        )
        return self._keep(_stacked(list(self.engine.columns_as_arrays(statement).values()), len(self._words)))

    def _keep(self, words: Words) -> int:
        found = words[(words != self._full).any(axis=1)]
        self.read += len(found)
        self._maximal = keep_maximal(np.concatenate([self._maximal, found]))
        if len(found) < len(words):
            self.settle()
        return len(found)


def _all_different(rows: int, k: int) -> Figures:
    """The figures of a set on which no two rows are alike."""
    return Figures(rows, min(rows, 1), rows if k > 1 else 0, rows, 0)


def keep_maximal(words: Words) -> Words:
    """The rows (sets as words of bits) that lie in no other row, each once."""
    if not len(words):
        return words
    size = np.bitwise_count(words).sum(axis=1)
    left = words[np.argsort(-size.astype(np.int64), kind="stable")]
    kept = []
    while len(left):
        largest = left[0]
        kept.append(largest)
        left = left[(left & ~largest).any(axis=1)]
    return np.array(kept, dtype=np.uint64)


def _stacked(arrays: Sequence[Any], width: int) -> Words:
    if not arrays or not len(arrays[0]):
        return np.zeros((0, width), dtype=np.uint64)
    return np.stack([np.asarray(array).astype(np.int64).astype(np.uint64) for array in arrays], axis=1)


def as_words(masks: Sequence[int], width: int) -> Words:
    """Masks as rows of words, for many comparisons at once."""
    count = -(-width // _WORD_BITS) or 1
    low = (1 << _WORD_BITS) - 1
    listed = [[mask >> (_WORD_BITS * word) & low for word in range(count)] for mask in masks]
    return np.array(listed, dtype=np.uint64).reshape(len(masks), count)


def _as_masks(words: Words) -> list[int]:
    masks = []
    for row in words.tolist():
        mask = 0
        for number, word in enumerate(row):
            mask |= word << (number * _WORD_BITS)
        masks.append(mask)
    return masks


def _names(positions: Iterable[int]) -> list[str]:
    return [f"c{position}" for position in positions]
