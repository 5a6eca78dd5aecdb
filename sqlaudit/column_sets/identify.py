"""All minimal identifying sets: walkers that decide what to ask, and agree sets of row pairs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from sqlaudit.base.errors import NODES, STOPPED, BudgetSpent, Stop, by_hand, never
from sqlaudit.base.spec import NullPolicy
from sqlaudit.base.sql import Raw, render
from sqlaudit.column_sets.counting import Figures, SetCounter, code_names, count_rows
from sqlaudit.column_sets.masks import (
    FoundSets,
    bits,
    mask_of,
    minimal_hitting_sets,
    minimum_hitting_set,
    ordered,
    without_one,
)

# Agree sets of row pairs, asked from the engine: on which columns are two rows equal?

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
        nullable, alone = code_names(bits(self.coded.nullable)), counter.nulls is NullPolicy.DISTINCT
        self._solo = nullable if alone else []
        self._loose = [] if self.coded.coded or self._solo else nullable
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
        if (self.counter.figures([self.everything])[0].classes or 0) >= self.rows:
            return
        statement = render(
            "column_sets/columns_distinct.sql",
            self.engine.dialect,
            source=self.coded.source,
            names=code_names(range(self.width)),
            solo_columns=self._solo,
        )
        self._source = Raw(self.engine.materialize(_DISTINCT, statement).sql)
        self.rows = count_rows(self.engine, self._source)
        self._shares, self.pairs = 0, {}

    def close(self) -> None:
        """Release what was kept."""
        if self.coded.coded:
            self.engine.drop(_SHARED)
            self.engine.drop(_DISTINCT)

    def maximal(self) -> list[int]:
        """The maximal agree sets read so far."""
        return [sum(word << n * _WORD_BITS for n, word in enumerate(row)) for row in self._maximal.tolist()]

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
            at_risk = self.rows if self.counter.k > 1 else 0
            self.counter.learn(self.everything, Figures(self.rows, min(self.rows, 1), at_risk, self.rows, 0))
        return found

    def _share(self, key: int) -> int:
        """Keep the keys that rows share; ordered pairs of rows with one key."""
        solo = [name for name in code_names(bits(key)) if name in self._solo]
        parameters = {"packed": self.coded.keys(key), "nullable": solo}
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

    def _read(self, key: int, stride: int, *, sampled: bool) -> int:
        shared, packed, names = None, self.coded.keys(key) if self.coded.coded else [], code_names(bits(key))
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
            words=[code_names(word) for word in self._words],
            key=names,
            shared=shared,
            packed=packed,
            ranked=[name for name in names if name in loose],
            solo_columns=self._solo,
            loose=self._loose,
            stride=stride,
            sampled=sampled,
        )
        columns = [np.asarray(array).astype(np.int64) for array in self.engine.columns_as_arrays(statement).values()]
        read = bool(columns) and len(columns[0]) > 0
        words = np.stack(columns, axis=1).astype(np.uint64) if read else np.zeros((0, len(self._words)), np.uint64)
        found = words[(words != self._full).any(axis=1)]
        self.read += len(found)
        self._maximal = keep_maximal(np.concatenate([self._maximal, found]))
        if len(found) < len(words):
            self.settle()
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


def as_words(masks: Sequence[int], width: int) -> Words:
    """Masks as rows of words, for many comparisons at once."""
    count = -(-width // _WORD_BITS) or 1
    low = (1 << _WORD_BITS) - 1
    listed = [[mask >> (_WORD_BITS * word) & low for word in range(count)] for mask in masks]
    return np.array(listed, dtype=np.uint64).reshape(len(masks), count)


# Walkers over the lattice of column sets. They decide what to ask; somebody else counts.
#
# The property must be inherited by every superset ("breaks k-anonymity", "identifies"). `Decide` answers for several
# sets at once, or raises `BudgetSpent`; `Stop` says whether the time budget is used up. Whatever a walker returns when
# the budget ends, or when somebody stops it, is proven: its minimal sets are minimal, its safe sets lack the property
# (and may not be maximal yet).

Decide = Callable[[Sequence[int]], list[bool]]
Expect = Callable[[Sequence[int]], None]
Tell = Callable[[int, int], None]
"""Called with the number of sets decided and the size of the border known so far."""

_BATCH = 20
_CHAINS = 8
_ROUND = 400


def unprepared(masks: Sequence[int]) -> None:
    """A level that nobody prepares for."""


def silent(decided: int, border: int) -> None:
    """Progress that nobody watches."""


def greedy(start: Sequence[int], decide: Decide, stop: Stop = never) -> int | None:
    """One minimal set inside the start set: drop columns as long as the property stays (Yuan, section 5.1).

    The paper tries all subsets with one column less, the last column left out first, and starts again after each
    success. A column that could not be left out before cannot be left out later either, so one pass finds the same set.

    Args:
        start: the columns to begin with, in the order that decides which are tried first (the last ones).

    Returns:
        The minimal set, or None when the start set itself lacks the property.

    Raises:
        BudgetSpent: before the set was minimal.
    """
    current = mask_of(start)
    if stop():
        raise BudgetSpent
    if not decide([current])[0]:
        return None
    for column in reversed(start):
        smaller = current & ~(1 << column)
        if stop():
            raise BudgetSpent
        if decide([smaller])[0]:
            current = smaller
    return current


class _Walk:
    """A `Decide` that asks only what follows from nothing that was decided: the border of decided sets is kept.

    Args:
        seed: of the orders in which sets are widened.
    """

    def __init__(self, width: int, decide: Decide, stop: Stop, seed: int) -> None:
        self.everything = (1 << width) - 1
        self.positive: list[int] = []
        """Sets known to have the property; minimal among the known ones."""
        self.negative: list[int] = []
        """Sets known to lack it; maximal among the known ones."""
        self.asked = 0
        self.stop = stop
        self._decide = decide
        self._generator = random.Random(seed)

    def __call__(self, masks: Sequence[int]) -> list[bool]:
        unknown = [mask for mask in dict.fromkeys(masks) if self.lookup(mask) is None]
        if unknown:
            self.asked += len(unknown)
            for mask, answer in zip(unknown, self._decide(unknown), strict=True):
                self._add(mask, answer)
        return [bool(self.lookup(mask)) for mask in masks]

    def lookup(self, mask: int) -> bool | None:
        """True or False where the border decides, None where it does not."""
        if any(small & mask == small for small in self.positive):
            return True
        return False if any(mask & large == mask for large in self.negative) else None

    def _add(self, mask: int, has_property: bool) -> None:
        if self.lookup(mask) is not None:  # by another one that was asked together with it
            return
        if has_property:
            self.positive = [*(small for small in self.positive if mask & small != mask), mask]
        else:
            self.negative = [*(large for large in self.negative if large & mask != large), mask]

    def edges(self) -> list[int]:
        """What every set with the property must hit, as far as it is known."""
        return [self.everything & ~negative for negative in self.negative]

    def widen(self, masks: Sequence[int]) -> None:
        """Widen sets without the property until no column can be added; all of them ask together."""
        chains = []
        for mask in masks:
            rest = bits(self.everything & ~mask)
            self._generator.shuffle(rest)
            chains.append((mask, rest))
        while chains:
            if self.stop():
                raise BudgetSpent
            chains = [(mask, rest) for mask, rest in chains if rest]
            wider = [mask | 1 << rest.pop() for mask, rest in chains]
            answers = zip(chains, wider, self(wider), strict=True)
            chains = [(mask if has_property else more, rest) for (mask, rest), more, has_property in answers]

    def proven(self, max_size: int | None) -> list[int]:
        """The sets with the property whose subsets with one column less are all known to lack it."""
        small = [mask for mask in self.positive if max_size is None or mask.bit_count() <= max_size]
        return [mask for mask in small if all(self.lookup(smaller) is False for smaller in without_one(mask))]

    def found(
        self,
        minimal: Iterable[int],
        complete: bool,
        decided_size: int | None = None,
        open_sets: int = 0,
        why: BaseException | None = None,
    ) -> FoundSets:
        """What the walk came to; `why` it was stopped."""
        stopped = why is not None and by_hand(why)
        safe = ordered(self.negative)
        return FoundSets(ordered(minimal), safe, complete, self.asked, decided_size, open_sets, stopped)


def greedy_restarts(columns: Sequence[int], restarts: int, seed: int, decide: Decide, stop: Stop = never) -> FoundSets:
    """The greedy walk from the given order and from random orders; deterministic for a seed.

    `complete` is never claimed: greedy finds some minimal sets, not all.
    """
    generator = random.Random(seed)
    found: set[int] = set()
    walk = _Walk(len(columns), decide, stop, seed)
    order = list(columns)
    for _ in range(restarts + 1):
        try:
            one = greedy(order, walk, stop)
        except STOPPED as why:
            return walk.found(found, False, None, 1, why)
        if one is None:
            return walk.found((), True)
        found.add(one)
        generator.shuffle(order)
    return walk.found(found, found == {0})


def all_by_levels(
    width: int, max_size: int, decide: Decide, stop: Stop = never, tell: Tell = silent, *, expect: Expect = unprepared
) -> FoundSets:
    """All minimal sets of at most `max_size` columns, level by level; `expect` is told each level before it is decided.

    A set is asked about only when all its subsets with one column less lack the property; so what has it is minimal.
    """
    minimal: list[int] = []
    safe: list[int] = []
    lacking: list[int] = []
    level, asked, complete = [0], 0, True
    size = waiting = 0
    try:
        for size in range(min(max_size, width) + 1):
            lacking, waiting = [], len(level)
            expect(level)
            for begin in range(0, len(level), _BATCH):
                batch = level[begin : begin + _BATCH]
                if stop():
                    raise BudgetSpent
                answers = decide(batch)
                asked += len(batch)
                waiting -= len(batch)
                for mask, has_property in zip(batch, answers, strict=True):
                    (minimal if has_property else lacking).append(mask)
                tell(asked, len(minimal) + len(lacking))
            safe = _uncovered(safe, lacking) + lacking
            if size < min(max_size, width):
                level, complete = _next_level(lacking, width, stop)
            if not complete:
                return FoundSets(ordered(minimal), ordered(safe), False, asked, size, max(1, len(level)))
    except STOPPED as why:
        safe = _uncovered(safe, lacking) + lacking
        return FoundSets(ordered(minimal), ordered(safe), False, asked, size - 1, max(1, waiting), by_hand(why))
    return FoundSets(ordered(minimal), ordered(safe), True, asked, min(max_size, width))


def _uncovered(older: Sequence[int], newer: Sequence[int]) -> list[int]:
    """The older safe sets that no newer one contains; all newer ones are one column larger than the last older ones."""
    covered = {smaller for mask in newer for smaller in without_one(mask)}
    return [mask for mask in older if mask not in covered]


def _next_level(safe: Sequence[int], width: int, stop: Stop) -> tuple[list[int], bool]:
    """Sets of one column more, all of whose subsets with one column less are safe; False when the budget ended."""
    known = set(safe)
    wider_sets: list[int] = []
    for number, mask in enumerate(safe, 1):
        if number % NODES == 0 and stop():
            return wider_sets, False
        for column in range(mask.bit_length(), width):
            wider = mask | 1 << column
            if all(smaller in known for smaller in without_one(wider)):
                wider_sets.append(wider)
    return wider_sets, True


def all_by_border(
    width: int, max_size: int | None, decide: Decide, stop: Stop = never, tell: Tell = silent, *, seed: int = 0
) -> FoundSets:
    """All minimal sets by advancing the border from both sides, for sets too wide to walk level by level.

    Every minimal set hits the complement of every set that lacks the property (Mannila and Toivonen's dualization). The
    minimal hitting sets of the complements known so far are asked about: those that have the property are minimal and
    proven; the others are widened until they are maximal, and join the known ones. Nothing is left when all have it.
    """
    walk = _Walk(width, decide, stop, seed)
    fresh: list[int] = []
    try:
        while True:
            known = set(walk.positive)
            hitting = minimal_hitting_sets(walk.edges(), max_size, stop=stop)
            fresh = list(islice((mask for mask in hitting if mask not in known), _ROUND))
            if not fresh:
                return walk.found(walk.proven(max_size), True, max_size)
            _advance(fresh, walk, tell)
    except STOPPED as why:
        waiting = sum(walk.lookup(mask) is None for mask in fresh)
        return walk.found(walk.proven(max_size), False, None, max(1, waiting), why)


def _advance(fresh: Sequence[int], walk: _Walk, tell: Tell) -> None:
    """Ask about candidates until some lack the property; these are widened."""
    for begin in range(0, len(fresh), _BATCH):
        if walk.stop():
            raise BudgetSpent
        candidates = fresh[begin : begin + _BATCH]
        lacking = [mask for mask, has in zip(candidates, walk(candidates), strict=True) if not has]
        if lacking:
            walk.widen(lacking[:_CHAINS])
        tell(walk.asked, len(walk.positive) + len(walk.negative))
        if lacking:
            return


def minimum(
    width: int, max_size: int | None, decide: Decide, stop: Stop = never, tell: Tell = silent, *, seed: int = 0
) -> FoundSets:
    """A smallest set, proven: implicit hitting sets (Moreno-Centeno and Karp, *Operations Research* 2013).

    A smallest set that hits all known complements is a lower bound. When it has the property it is the minimum;
    else it is widened to a maximal set without the property, which gives a new complement. `decided_size` is the
    proven bound: no set of at most so many columns has the property (other than the minimum itself).
    """
    walk = _Walk(width, decide, stop, seed)
    proven = -1
    try:
        while True:
            candidate = minimum_hitting_set(walk.edges(), stop)
            if candidate is None:
                return walk.found((), True, width)
            proven = max(proven, candidate.bit_count() - 1)
            if max_size is not None and proven >= max_size:
                return walk.found((), True, max_size)
            if stop():
                raise BudgetSpent
            if walk([candidate])[0]:
                return walk.found((candidate,), True, proven)
            walk.widen([candidate] * _CHAINS)
            tell(walk.asked, len(walk.positive) + len(walk.negative))
    except STOPPED as why:
        return walk.found((), False, proven, 1, why)


# All minimal identifying sets: agree sets above a few small keys prove or refute many candidates at once.
#
# A set identifies unless two different rows agree on it, so the candidates are the minimal hitting sets of the
# complements of the agree sets read so far. Once *all* agree sets above a key P have been read (one self-join on P),
# every candidate that contains P is proven: a pair that agrees on it would agree on P and would have been read.

_PAIRS = 2_000_000
"""Row pairs that one self-join may produce."""
_KEY_COLUMNS = 12
_KEY_SIZE = 5
_ROWS_A_PAIR = 4
"""A self-join costs about as much for so many rows as for one pair that it finds."""
_CANDIDATES = 5000
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
                if is_open and len(found) >= _CANDIDATES:
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
