"""Agree sets of row pairs, asked from the engine: on which columns are two rows equal?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlaudit.base.spec import NullPolicy
from sqlaudit.base.sql import Raw, render
from sqlaudit.column_sets.coding import Coded
from sqlaudit.column_sets.masks import bits
from sqlaudit.engines.contract import Engine

_WORD_BITS = 62
_SAMPLE_ROWS = 1000
_DISTINCT = "sqlaudit_columns_distinct"
Words = NDArray[np.uint64]


class AgreeSets:
    """Reads agree sets of pairs of different rows; what was read is kept as the maximal ones.

    Args:
        rows: how many rows take part (different ones, where the engine can keep them).
    """

    def __init__(self, engine: Engine, coded: Coded, nulls: NullPolicy, width: int, duplicates: bool) -> None:
        self.engine = engine
        self.coded = coded
        self.width = width
        self.rows = coded.rows
        self.read = 0
        self._source = coded.source
        self._solo = _names(bits(coded.nullable)) if nulls is NullPolicy.DISTINCT else []
        self._loose = [] if coded.coded or self._solo else _names(bits(coded.nullable))
        self._maximal: Words = np.zeros((0, -(-width // _WORD_BITS) or 1), dtype=np.uint64)
        if duplicates and coded.coded:
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

    def close(self) -> None:
        """Release what was kept."""
        if self.coded.coded:
            self.engine.drop(_DISTINCT)

    def maximal(self) -> list[int]:
        """The maximal agree sets read so far."""
        return _as_masks(self._maximal)

    def sample(self) -> None:
        """Read the agree sets of all pairs of some rows."""
        self._read([], stride=max(1, self.rows // _SAMPLE_ROWS), sampled=True)

    def above(self, key: int, stride: int = 1) -> int:
        """Read the agree sets of all pairs (of every n-th row) that are equal on the key columns; how many."""
        return self._read(bits(key), stride, sampled=False)

    def _read(self, key: Sequence[int], stride: int, *, sampled: bool) -> int:
        words = [range(begin, min(begin + _WORD_BITS, self.width)) for begin in range(0, self.width, _WORD_BITS)]
        names = _names(key)
        loose = [] if self.engine.joins_nulls else self._loose
        statement = render(
            "column_sets/columns_agree.sql",
            self.engine.dialect,
            source=self._source,
            columns=self.coded.columns,
            coded=self.coded.coded,
            words=[_names(word) for word in words],
            key=names,
            ranked=[name for name in names if name in loose],
            solo_columns=self._solo,
            loose=self._loose,
            stride=stride,
            sampled=sampled,
            full_words=[(1 << len(word)) - 1 for word in words],
        )
        arrays = self.engine.columns_as_arrays(statement)
        found = _stacked(list(arrays.values()), len(words))
        self.read += len(found)
        self._maximal = keep_maximal(np.concatenate([self._maximal, found]))
        return len(found)


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
