"""All minimal identifying sets: agree sets above a few small keys prove or refute many candidates at once.

A set identifies unless two different rows agree on it, so the candidates are the minimal hitting sets of the
complements of the agree sets read so far. Once *all* agree sets above a key P have been read (one self-join on P),
every candidate that contains P is proven: a pair that agrees on it would agree on P and would have been read.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from sqlaudit.column_sets.agree_sets import AgreeSets, Words, as_words
from sqlaudit.column_sets.border import FoundSets, ordered
from sqlaudit.column_sets.budget import STOPPED, BudgetSpent, Stop, by_hand, never
from sqlaudit.column_sets.counting import SetCounter
from sqlaudit.column_sets.hitting_sets import minimal_hitting_sets
from sqlaudit.column_sets.masks import bits, mask_of
from sqlaudit.column_sets.walks import Tell, silent

_PAIRS = 2_000_000
"""Row pairs that one self-join may produce."""
_KEY_COLUMNS = 12
_KEY_SIZE = 5
_ROWS_A_PAIR = 4
"""A self-join costs about as much for so many rows as for one pair that it finds."""
_ROUND = 5000
_FEW = 500
"""So few open candidates are found again after every key; for more of them several keys are read first."""
_KEYS_A_ROUND = 4
_AT_ONCE = 256
"""Candidates that are compared with all keys at once."""


def identifying_sets(
    counter: SetCounter, max_size: int | None, stop: Stop = never, tell: Tell = silent
) -> tuple[FoundSets, int]:
    """All minimal identifying sets up to a size, and how many agree sets were read.

    Returns:
        The sets with the maximal agree sets as their proof; when the budget ends first, the sets proven so far.
    """
    width = len(counter.coded.missing)
    agree = AgreeSets(counter, width)
    try:
        try:
            if stop():
                raise BudgetSpent
            agree.sample()
            search = _CoverSearch(counter, agree, width, max_size, stop)
        except STOPPED as why:
            return FoundSets((), ordered(agree.maximal()), False, 0, None, 1, by_hand(why)), agree.read
        found = search.run(tell)
        if found.minimal:
            counter.figures([agree.everything])
            counter.identifies_all(found.minimal, agree.everything)
        return found, agree.read
    finally:
        agree.close()


class _CoverSearch:
    def __init__(self, counter: SetCounter, agree: AgreeSets, width: int, max_size: int | None, stop: Stop) -> None:
        self.agree = agree
        self.width = width
        self.max_size = max_size
        self.stop = stop
        self.rows = counter.coded.rows
        self.read: list[int] = []
        """Keys above which all pairs were read."""
        single = [figures.pairs or 0 for figures in counter.figures([1 << column for column in range(width)])]
        selective = sorted(range(width), key=single.__getitem__)[:_KEY_COLUMNS]
        self.keys = [mask_of(some) for size in range(1, _KEY_SIZE + 1) for some in combinations(selective, size)]
        self.words = as_words(self.keys, width)
        self.pairs = np.array([_if_independent(key, single, self.rows) for key in self.keys])
        """Of each key the pairs of rows that agree on it, estimated or counted."""
        self.decided = 0

    def run(self, tell: Tell) -> FoundSets:
        """Read agree sets until every candidate contains a key that is read."""
        proven: list[int] = []
        waiting: list[int] = []
        try:
            while True:
                candidates, exhausted = self._candidates()
                proven = [mask for mask in candidates if self._is_proven(mask)]
                waiting = [mask for mask in candidates if not self._is_proven(mask)]
                self.decided += len(candidates)
                safe = self.agree.maximal()
                tell(len(candidates), len(proven) + len(safe))
                if not waiting and exhausted:
                    return FoundSets(ordered(proven), ordered(safe), True, self.decided, self.max_size)
                if self.stop():
                    raise BudgetSpent
                self._read_above(waiting or candidates)
        except STOPPED as why:  # nothing waits where candidates were not enumerated any more
            safe, left = self.agree.maximal(), max(1, len(waiting))
            return FoundSets(ordered(proven), ordered(safe), False, self.decided, None, left, by_hand(why))

    def _candidates(self) -> tuple[list[int], bool]:
        """Hitting sets of the complements; at most a round's worth as long as some of them are open."""
        found: list[int] = []
        is_open = False
        edges = [self.agree.everything & ~safe for safe in self.agree.maximal()]
        try:
            for mask in minimal_hitting_sets(edges, self.max_size, are_minimal=True, stop=self.stop):
                found.append(mask)
                is_open = is_open or not self._is_proven(mask)
                if is_open and len(found) >= _ROUND:
                    return found, False
        except BudgetSpent:
            return found, False
        return found, True

    def _is_proven(self, mask: int) -> bool:
        return any(key & mask == key for key in self.read)

    def _read_above(self, waiting: list[int]) -> None:
        """Read all agree sets above keys that lie in many waiting candidates."""
        left = as_words(waiting, self.width)
        for _ in range(1 if len(waiting) <= _FEW else _KEYS_A_ROUND):
            if self.stop():
                return
            key, words = self._best_key(left)
            if not key:
                key, words = waiting[0], as_words(waiting[:1], self.width)[0]
            if not self._read_key(key, wanted=key in waiting):
                continue
            left = left[((left & words) != words).any(axis=1)]
            if not len(left):
                return

    def _read_key(self, key: int, *, wanted: bool) -> bool:
        """Read the pairs that agree on a key, or some of them where there are too many and the key is `wanted`; else it
        is left with what was counted."""
        pairs = self.agree.count(key) if key else 0
        if not key or pairs > _PAIRS:  # rows that are equal everywhere may be among them
            self.agree.settle()
            pairs = self.agree.count(key)
        if key in self.keys:
            self.pairs[self.keys.index(key)] = pairs
        stride = max(1, -(-pairs // _PAIRS))
        if stride > 1 and not wanted:
            return False  # correlated columns
        if stride > 1 and self.agree.above(key, stride):
            return True
        self.agree.above(key)
        self.read.append(key)
        return True

    def _best_key(self, waiting: Words) -> tuple[int, Words]:
        """The key that lies in most candidates for the work it makes; 0 when none is cheap enough."""
        covered = np.zeros(len(self.keys), dtype=np.int64)
        for begin in range(0, len(waiting), _AT_ONCE):
            some = waiting[begin : begin + _AT_ONCE, None, :]
            covered += ((some & self.words) == self.words).all(axis=2).sum(axis=0)
        score = np.where(self.pairs <= _PAIRS, covered / (self.rows / _ROWS_A_PAIR + self.pairs + 1), 0.0)
        best = int(score.argmax()) if len(score) else 0
        return (self.keys[best], self.words[best]) if len(score) and score[best] > 0 else (0, waiting[0])


def _if_independent(key: int, single: list[int], rows: int) -> float:
    """Pairs of rows equal on a key if columns were independent; `single` are the ordered pairs of each column."""
    every = max(1.0, float(rows) * (rows - 1))
    share = every
    for column in bits(key):
        share *= single[column] / every
    return share / 2
