"""All minimal identifying sets: agree sets above a few small keys prove or refute many candidates at once.

A set identifies unless two different rows agree on it, so the candidates are the minimal hitting sets of the
complements of the agree sets read so far. Once *all* agree sets above a key P have been read (one self-join on P),
every candidate that contains P is proven: a pair that agrees on it would agree on P and would have been read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from sqlaudit.column_sets.agree_sets import AgreeSets, Words, as_words
from sqlaudit.column_sets.border import FoundSets, ordered
from sqlaudit.column_sets.budget import STOPPED, BudgetSpent, Stop, by_hand, never
from sqlaudit.column_sets.counting import SetCounter
from sqlaudit.column_sets.hitting_sets import minimal_hitting_sets
from sqlaudit.column_sets.masks import bits, mask_of
from sqlaudit.column_sets.walks import Tell, silent

_PAIRS = 2_000_000
"""Row pairs that one self-join may produce."""
_SAMPLED_PAIRS = 100_000
_SAMPLED_COLUMNS = 6
_KEY_COLUMNS = 12
_KEY_SIZE = 5
_ROWS_A_PAIR = 4
"""A self-join costs about as much for so many rows as for one pair that it finds."""
_ROUND = 5000
_KEYS_A_ROUND = 4


def identifying_sets(
    counter: SetCounter, max_size: int | None, stop: Stop = never, tell: Tell = silent
) -> tuple[FoundSets, int]:
    """All minimal identifying sets up to a size, and how many agree sets were read.

    Returns:
        The sets with the maximal agree sets as their proof; when the budget ends first, the sets proven so far.
    """
    width = len(counter.coded.missing)
    whole = counter.figures([(1 << width) - 1])[0]
    agree = AgreeSets(counter.engine, counter.coded, counter.nulls, width, (whole.classes or 0) < counter.coded.rows)
    try:
        try:
            if stop():
                raise BudgetSpent
            agree.sample()
            search = _CoverSearch(counter, agree, width, max_size, stop)
            search.sample_selective()
        except STOPPED as why:
            return FoundSets((), ordered(agree.maximal()), False, 0, None, 1, by_hand(why)), agree.read
        found = search.run(tell)
        counter.identifies_all(found.minimal, (1 << width) - 1)
        return found, agree.read
    finally:
        agree.close()


class _CoverSearch:
    def __init__(self, counter: SetCounter, agree: AgreeSets, width: int, max_size: int | None, stop: Stop) -> None:
        self.counter = counter
        self.agree = agree
        self.width = width
        self.everything = (1 << width) - 1
        self.max_size = max_size
        self.stop = stop
        self.keys: list[int] = []
        self.single = [f.pairs or 0 for f in counter.figures([1 << column for column in range(width)])]
        self.selective = sorted(range(width), key=self.single.__getitem__)[:_KEY_COLUMNS]
        self.decided = 0

    def sample_selective(self) -> None:
        """Read agree sets of some pairs equal on a selective column: the wide ones that a plain sample misses."""
        for column in self.selective[:_SAMPLED_COLUMNS]:
            pairs = self.single[column] // 2
            if pairs and not self.stop():
                self.agree.above(1 << column, max(1, pairs // _SAMPLED_PAIRS))

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
        edges = [self.everything & ~safe for safe in self.agree.maximal()]
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
        return any(key & mask == key for key in self.keys)

    def _read_above(self, waiting: list[int]) -> None:
        """Read all agree sets above keys that together lie in every waiting candidate (or in many of them)."""
        left = as_words(waiting, self.width)
        keys = [(key, as_words([key], self.width)[0]) for key in self._keys()]
        for _ in range(_KEYS_A_ROUND):
            if self.stop():
                return
            key, words = self._best_key(keys, left)
            if not key:
                key, words = waiting[0], as_words(waiting[:1], self.width)[0]
            pairs = (self.counter.figures([key])[0].pairs or 0) // 2
            stride = max(1, pairs // _PAIRS)
            if stride > 1 and key not in waiting:
                continue  # correlated columns; from now on the estimate is the count
            self.agree.above(key, stride)
            if stride == 1:
                self.keys.append(key)
            left = left[((left & words) != words).any(axis=1)]
            if not len(left):
                return

    def _best_key(self, keys: Sequence[tuple[int, Words]], waiting: Words) -> tuple[int, Words]:
        """The key that lies in most candidates for the work it makes; 0 when none is cheap enough."""
        best, gain = (0, waiting[0]), 0.0
        for key, words in keys:
            pairs = self._estimate(key)
            if pairs > _PAIRS:
                continue
            covered = int(((waiting & words) == words).all(axis=1).sum())
            score = covered / (self.counter.coded.rows / _ROWS_A_PAIR + pairs)
            if score > gain:
                best, gain = (key, words), score
        return best

    def _keys(self) -> Iterable[int]:
        for size in range(1, _KEY_SIZE + 1):
            for chosen in combinations(self.selective, size):
                yield mask_of(chosen)

    def _estimate(self, key: int) -> float:
        """Pairs of rows equal on the key as if columns were independent, or as counted."""
        if key in self.counter.known:
            return (self.counter.known[key].pairs or 0) / 2
        rows = self.counter.coded.rows
        every = max(1.0, float(rows) * (rows - 1))
        share = every
        for column in bits(key):
            share *= self.single[column] / every
        return share / 2
