"""All minimal identifying sets: walks over the lattice of column sets, and agree sets of row pairs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from sqlaudit.base.errors import NODES, STOPPED, BudgetSpent, Stop, by_hand, never
from sqlaudit.base.spec import NullPolicy
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.matching import count_bits
from sqlaudit.column_sets.counting import Figures, SetCounter, code_names, count_rows
from sqlaudit.column_sets.masks import (
    FoundSets,
    bits,
    drop_each_column,
    mask_of,
    minimal_hitting_sets,
    minimum_hitting_set,
    sort_masks,
)

# Agree sets from the engine: the agree set of two rows are the columns on which they are equal.

_WORD_BITS = 62
_SAMPLE_ROWS = 1000
_DISTINCT = "sqlaudit_columns_distinct"
_SHARED = "sqlaudit_columns_shared"
Words = NDArray[np.uint64]


class AgreeSets:
    """Reads the agree sets of pairs of different rows, and keeps the maximal ones.

    If rows are codes, the keys that several rows share on a column set are stored: they give the number of pairs that
    agree on it, and its pairs are read from the rows with these keys. Rows are deduplicated only once two identical
    rows were read, or too many pairs agree.

    Args:
        counter: counts the same rows; it gets the figures of sets whose shared keys were read.
        width: number of columns.
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
        self._shared_key, self._shared_rows = 0, self.coded.source
        self._is_deduplicated = not self.coded.coded
        nullable = code_names(bits(self.coded.nullable))
        self._singleton_columns = nullable if counter.nulls is NullPolicy.DISTINCT else []
        self._null_equal_columns = [] if self.coded.coded or self._singleton_columns else nullable
        self._words = [range(begin, min(begin + _WORD_BITS, width)) for begin in range(0, width, _WORD_BITS)]
        self._full = np.array([(1 << len(word)) - 1 for word in self._words], dtype=np.uint64)
        self._maximal: Words = np.zeros((0, len(self._words) or 1), dtype=np.uint64)

    @property
    def everything(self) -> int:
        """The mask of all columns."""
        return (1 << self.width) - 1

    def deduplicate(self) -> None:
        """Keep each different row once, if equal rows are still possible."""
        if self._is_deduplicated:
            return
        self._is_deduplicated = True
        if (self.counter.figures([self.everything])[0].classes or 0) >= self.rows:
            return
        statement = render(
            "column_sets/columns_distinct.sql",
            self.engine.dialect,
            source=self.coded.source,
            names=code_names(range(self.width)),
            solo_columns=self._singleton_columns,
        )
        self._source = Raw(self.engine.materialize(_DISTINCT, statement).sql)
        self.rows = count_rows(self.engine, self._source)
        self._shared_key, self.pairs = 0, {}

    def close(self) -> None:
        """Drop the tables of this reader."""
        if self.coded.coded:
            self.engine.drop(_SHARED)
            self.engine.drop(_DISTINCT)

    def maximal_sets(self) -> list[int]:
        """Return the maximal agree sets read so far."""
        return [sum(word << n * _WORD_BITS for n, word in enumerate(row)) for row in self._maximal.tolist()]

    def count_pairs(self, key: int) -> int:
        """Return the number of pairs of rows that agree on the key columns."""
        if key not in self.pairs:
            counts = (
                self._store_shared_keys(key) if self.coded.coded and key else self.counter.figures([key])[0].pairs or 0
            )
            self.pairs[key] = counts // 2
        return self.pairs[key]

    def read_sample(self) -> None:
        """Read the agree sets of all pairs within a sample of rows."""
        self._read(0, max(1, self.rows // _SAMPLE_ROWS), sampled=True)

    def read_pairs(self, key: int, stride: int = 1) -> int:
        """Read the agree sets of the pairs (of every n-th row) that agree on the key columns. Return their number."""
        count = self._read(key, stride, sampled=False)
        if stride == 1 and not self._is_deduplicated:  # equal rows agree on every key, so they would have been read
            self._is_deduplicated = True
            at_risk = self.rows if self.counter.k > 1 else 0
            self.counter.record(self.everything, Figures(self.rows, min(self.rows, 1), at_risk, self.rows, 0))
        return count

    def _store_shared_keys(self, key: int) -> int:
        """Store the keys that several rows share. Return the number of ordered pairs of rows with one key."""
        solo = [name for name in code_names(bits(key)) if name in self._singleton_columns]
        parameters = {"packed": self.coded.keys(key), "nullable": solo}
        statement = render("column_sets/columns_shared.sql", self.engine.dialect, source=self._source, set=parameters)
        self._shared_rows = Raw(self.engine.materialize(_SHARED, statement).sql)
        self._shared_key = key
        totals = render(
            "column_sets/columns_shared_totals.sql", self.engine.dialect, source=self._shared_rows, k=self.counter.k
        )
        shared, members, smallest, at_risk, pairs = (int(number or 0) for number in self.engine.run(totals)[0])
        singletons = self.rows - members
        if self.rows == self.coded.rows:
            k = self.counter.k
            risk, smallest_class = at_risk + (singletons if k > 1 else 0), 1 if singletons else smallest
            self.counter.record(key, Figures(singletons + shared, smallest_class, risk, singletons, pairs))
        return pairs

    def _read(self, key: int, stride: int, *, sampled: bool) -> int:
        """Read the agree sets of pairs that agree on a key, of every n-th row or of a sample. Return their number."""
        shared, packed, names = None, self.coded.keys(key) if self.coded.coded else [], code_names(bits(key))
        if self.coded.coded and key and stride == 1:
            if self._shared_key != key:
                self._store_shared_keys(key)
            shared, names = self._shared_rows, [f"k{number}" for number in range(len(packed))]
        ranked = [] if self.engine.joins_nulls else self._null_equal_columns
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
            ranked=[name for name in names if name in ranked],
            solo_columns=self._singleton_columns,
            loose=self._null_equal_columns,
            stride=stride,
            sampled=sampled,
        )
        columns = [np.asarray(array).astype(np.int64) for array in self.engine.columns_as_arrays(statement).values()]
        has_pairs = bool(columns) and len(columns[0]) > 0
        words = np.stack(columns, axis=1).astype(np.uint64) if has_pairs else np.zeros((0, len(self._words)), np.uint64)
        differing = words[(words != self._full).any(axis=1)]
        self.read += len(differing)
        self._maximal = keep_maximal(np.concatenate([self._maximal, differing]))
        if len(differing) < len(words):
            self.deduplicate()
        return len(differing)


def keep_maximal(words: Words) -> Words:
    """Return the sets (rows of words of bits) that lie in no other set, each once."""
    if not len(words):
        return words
    size = count_bits(words).sum(axis=1)
    remaining = words[np.argsort(-size.astype(np.int64), kind="stable")]
    maximal = []
    while len(remaining):
        largest = remaining[0]
        maximal.append(largest)
        remaining = remaining[(remaining & ~largest).any(axis=1)]
    return np.array(maximal, dtype=np.uint64)


def pack_words(masks: Sequence[int], width: int) -> Words:
    """Return masks as rows of words, to compare many of them at once."""
    count = -(-width // _WORD_BITS) or 1
    low = (1 << _WORD_BITS) - 1
    words = [[mask >> (_WORD_BITS * word) & low for word in range(count)] for mask in masks]
    return np.array(words, dtype=np.uint64).reshape(len(masks), count)


# Walks over the lattice of column sets. They choose the sets to decide; the caller counts.
#
# The property must be inherited by every superset ("breaks k-anonymity", "identifies"). `Decide` decides several sets
# at once, or raises `BudgetSpent`; `Stop` is True when the time budget is used up. What a walk returns when the budget
# ends, or when the user stops it, is proven: its minimal sets are minimal, its safe sets lack the property (and may not
# be maximal yet).

Decide = Callable[[Sequence[int]], list[bool]]
Prepare = Callable[[Sequence[int]], None]
ReportProgress = Callable[[int, int], None]
"""Called with the number of sets decided so far and the size of their border."""

_BATCH = 20
_CHAINS = 8
_ROUND = 400


def skip_preparation(masks: Sequence[int]) -> None:
    """Ignore the sets of a level, for callers that prepare nothing."""


def ignore_progress(decided: int, border: int) -> None:
    """Ignore progress, for callers that show none."""


def find_minimal_set(start: Sequence[int], decide: Decide, stop: Stop = never) -> int | None:
    """Return a minimal set inside the start set: drop columns as long as the property stays (Yuan, section 5.1).

    The paper tries all subsets with one column less, the last column left out first, and starts again after each
    success. A column that could not be left out before cannot be left out later either, so one pass finds the same set.

    Args:
        start: the columns to begin with; the last ones are dropped first.

    Returns:
        The minimal set, or None when the start set itself lacks the property.

    Raises:
        BudgetSpent: the budget ended before the set was minimal.
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
    """A `Decide` that passes on only the sets that do not follow from the border of the decided ones.

    Args:
        seed: of the random orders in which sets are widened.
    """

    def __init__(self, width: int, decide: Decide, stop: Stop, seed: int) -> None:
        self.everything = (1 << width) - 1
        self.positive: list[int] = []
        """Decided sets with the property, the minimal ones."""
        self.negative: list[int] = []
        """Decided sets without the property, the maximal ones."""
        self.decided_count = 0
        self.stop = stop
        self._decide = decide
        self._generator = random.Random(seed)

    def __call__(self, masks: Sequence[int]) -> list[bool]:
        unknown = [mask for mask in dict.fromkeys(masks) if self.lookup(mask) is None]
        if unknown:
            self.decided_count += len(unknown)
            for mask, answer in zip(unknown, self._decide(unknown), strict=True):
                self._add(mask, answer)
        return [bool(self.lookup(mask)) for mask in masks]

    def lookup(self, mask: int) -> bool | None:
        """Return whether a set has the property; None if the border does not decide it."""
        if any(small & mask == small for small in self.positive):
            return True
        return False if any(mask & large == mask for large in self.negative) else None

    def _add(self, mask: int, has_property: bool) -> None:
        if self.lookup(mask) is not None:  # decided by another set of the same batch
            return
        if has_property:
            self.positive = [*(small for small in self.positive if mask & small != mask), mask]
        else:
            self.negative = [*(large for large in self.negative if large & mask != large), mask]

    def edges(self) -> list[int]:
        """Return the edges that every set with the property must hit, as far as the border shows them."""
        return [self.everything & ~negative for negative in self.negative]

    def widen(self, masks: Sequence[int]) -> None:
        """Widen sets without the property until no column can be added, all of them in the same batches."""
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
            chains = [(mask if has_property else wider_set, rest) for (mask, rest), wider_set, has_property in answers]

    def proven(self, max_size: int | None) -> list[int]:
        """Return the sets with the property whose subsets with one column less all lack it."""
        small = [mask for mask in self.positive if max_size is None or mask.bit_count() <= max_size]
        return [mask for mask in small if all(self.lookup(smaller) is False for smaller in drop_each_column(mask))]

    def outcome(
        self,
        minimal: Iterable[int],
        complete: bool,
        decided_size: int | None = None,
        open_sets: int = 0,
        why: BaseException | None = None,
    ) -> FoundSets:
        """Return the outcome of the walk; `why` is the exception that stopped it."""
        stopped = why is not None and by_hand(why)
        safe = sort_masks(self.negative)
        return FoundSets(sort_masks(minimal), safe, complete, self.decided_count, decided_size, open_sets, stopped)


def search_greedily(columns: Sequence[int], restarts: int, seed: int, decide: Decide, stop: Stop = never) -> FoundSets:
    """Walk greedily from this order of columns and from random orders; deterministic for a seed.

    `complete` is never claimed: greedy finds some minimal sets, not all.
    """
    generator = random.Random(seed)
    minimal: set[int] = set()
    walk = _Walk(len(columns), decide, stop, seed)
    order = list(columns)
    for _ in range(restarts + 1):
        try:
            minimal_set = find_minimal_set(order, walk, stop)
        except STOPPED as why:
            return walk.outcome(minimal, False, None, 1, why)
        if minimal_set is None:
            return walk.outcome((), True)
        minimal.add(minimal_set)
        generator.shuffle(order)
    return walk.outcome(minimal, minimal == {0})


def search_levels(
    width: int,
    max_size: int,
    decide: Decide,
    stop: Stop = never,
    report: ReportProgress = ignore_progress,
    *,
    prepare: Prepare = skip_preparation,
) -> FoundSets:
    """Find all minimal sets of at most `max_size` columns, level by level.

    A set is decided only if all its subsets with one column less lack the property, so each set that has it is minimal.
    `prepare` is called with each level before its sets are decided.
    """
    minimal: list[int] = []
    safe: list[int] = []
    lacking: list[int] = []
    level, decided, complete = [0], 0, True
    size = waiting = 0
    try:
        for size in range(min(max_size, width) + 1):
            lacking, waiting = [], len(level)
            prepare(level)
            for begin in range(0, len(level), _BATCH):
                batch = level[begin : begin + _BATCH]
                if stop():
                    raise BudgetSpent
                answers = decide(batch)
                decided += len(batch)
                waiting -= len(batch)
                for mask, has_property in zip(batch, answers, strict=True):
                    (minimal if has_property else lacking).append(mask)
                report(decided, len(minimal) + len(lacking))
            safe = _drop_covered(safe, lacking) + lacking
            if size < min(max_size, width):
                level, complete = _make_next_level(lacking, width, stop)
            if not complete:
                return FoundSets(sort_masks(minimal), sort_masks(safe), False, decided, size, max(1, len(level)))
    except STOPPED as why:
        safe = _drop_covered(safe, lacking) + lacking
        return FoundSets(sort_masks(minimal), sort_masks(safe), False, decided, size - 1, max(1, waiting), by_hand(why))
    return FoundSets(sort_masks(minimal), sort_masks(safe), True, decided, min(max_size, width))


def _drop_covered(older: Sequence[int], newer: Sequence[int]) -> list[int]:
    """Return the older safe sets that no newer one contains. The newer ones have one column more."""
    covered = {smaller for mask in newer for smaller in drop_each_column(mask)}
    return [mask for mask in older if mask not in covered]


def _make_next_level(safe: Sequence[int], width: int, stop: Stop) -> tuple[list[int], bool]:
    """Return the next level: sets all of whose subsets with one column less are safe; and False if the budget ended."""
    safe_sets = set(safe)
    wider_sets: list[int] = []
    for number, mask in enumerate(safe, 1):
        if number % NODES == 0 and stop():
            return wider_sets, False
        for column in range(mask.bit_length(), width):
            wider = mask | 1 << column
            if all(smaller in safe_sets for smaller in drop_each_column(wider)):
                wider_sets.append(wider)
    return wider_sets, True


def search_border(
    width: int,
    max_size: int | None,
    decide: Decide,
    stop: Stop = never,
    report: ReportProgress = ignore_progress,
    *,
    seed: int = 0,
) -> FoundSets:
    """Find all minimal sets by advancing the border from both sides, for tables too wide to walk level by level.

    Every minimal set hits the complement of every set that lacks the property (Mannila and Toivonen's dualization). The
    minimal hitting sets of the complements found so far are decided: those that have the property are minimal and
    proven; the others are widened until they are maximal, which gives new complements. The search ends when all
    hitting sets have the property.
    """
    walk = _Walk(width, decide, stop, seed)
    candidates: list[int] = []
    try:
        while True:
            positive = set(walk.positive)
            hitting = minimal_hitting_sets(walk.edges(), max_size, stop=stop)
            candidates = list(islice((mask for mask in hitting if mask not in positive), _ROUND))
            if not candidates:
                return walk.outcome(walk.proven(max_size), True, max_size)
            _decide_candidates(candidates, walk, report)
    except STOPPED as why:
        waiting = sum(walk.lookup(mask) is None for mask in candidates)
        return walk.outcome(walk.proven(max_size), False, None, max(1, waiting), why)


def _decide_candidates(candidates: Sequence[int], walk: _Walk, report: ReportProgress) -> None:
    """Decide candidates until some lack the property; these are widened."""
    for begin in range(0, len(candidates), _BATCH):
        if walk.stop():
            raise BudgetSpent
        batch = candidates[begin : begin + _BATCH]
        lacking = [mask for mask, has in zip(batch, walk(batch), strict=True) if not has]
        if lacking:
            walk.widen(lacking[:_CHAINS])
        report(walk.decided_count, len(walk.positive) + len(walk.negative))
        if lacking:
            return


def search_minimum(
    width: int,
    max_size: int | None,
    decide: Decide,
    stop: Stop = never,
    report: ReportProgress = ignore_progress,
    *,
    seed: int = 0,
) -> FoundSets:
    """Find a smallest set, with proof, by implicit hitting sets (Moreno-Centeno and Karp, *Operations Research* 2013).

    A smallest set that hits all complements found so far is a lower bound. If it has the property it is the minimum;
    else it is widened to a maximal set without the property, which gives a new complement. `decided_size` is the
    proven bound: no set up to this size has the property (other than the minimum itself).
    """
    walk = _Walk(width, decide, stop, seed)
    proven = -1
    try:
        while True:
            candidate = minimum_hitting_set(walk.edges(), stop)
            if candidate is None:
                return walk.outcome((), True, width)
            proven = max(proven, candidate.bit_count() - 1)
            if max_size is not None and proven >= max_size:
                return walk.outcome((), True, max_size)
            if stop():
                raise BudgetSpent
            if walk([candidate])[0]:
                return walk.outcome((candidate,), True, proven)
            walk.widen([candidate] * _CHAINS)
            report(walk.decided_count, len(walk.positive) + len(walk.negative))
    except STOPPED as why:
        return walk.outcome((), False, proven, 1, why)


# All minimal identifying sets: the agree sets above a few small keys prove or refute many candidates at once.
#
# A set identifies unless two different rows agree on it, so the candidates are the minimal hitting sets of the
# complements of the agree sets read so far. Once *all* agree sets above a key P have been read (one self-join on P),
# every candidate that contains P is proven: a pair that agrees on it would agree on P and would have been read.

_PAIRS = 2_000_000
"""Row pairs that one self-join may produce."""
_KEY_COLUMNS = 12
_KEY_SIZE = 5
_ROWS_A_PAIR = 4
"""Rows that cost a self-join about as much as one pair that it finds."""
_CANDIDATES = 5000
_FEW_CANDIDATES = 500
"""Up to this number, candidates are enumerated again after every key; with more, several keys are read first."""
_KEYS_A_ROUND = 4
_COMPARED_AT_ONCE = 256
"""Candidates that are compared with all keys at once."""


def find_identifying_sets(
    counter: SetCounter, max_size: int | None, stop: Stop = never, report: ReportProgress = ignore_progress
) -> tuple[FoundSets, int]:
    """Find all minimal identifying sets up to a size.

    Returns:
        The sets, with the maximal agree sets as their proof, and the number of agree sets read. When the budget ends,
        the sets proven so far.
    """
    width = len(counter.coded.missing)
    agree = AgreeSets(counter, width)
    try:
        try:
            if stop():
                raise BudgetSpent
            agree.read_sample()
            search = _CoverSearch(counter, agree, width, max_size, stop)
        except STOPPED as why:
            return FoundSets((), sort_masks(agree.maximal_sets()), False, 0, None, 1, by_hand(why)), agree.read
        outcome = search.run(report)
        if outcome.minimal:
            counter.figures([agree.everything])
            counter.copy_figures(outcome.minimal, agree.everything)
        return outcome, agree.read
    finally:
        agree.close()


class _CoverSearch:
    """A search for candidates and for the keys that prove them."""

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
        self.keys = [mask_of(columns) for size in range(1, _KEY_SIZE + 1) for columns in combinations(selective, size)]
        self.words = pack_words(self.keys, width)
        self.pairs = np.array([_estimate_pairs(key, single, self.rows) for key in self.keys])
        """For each key the number of pairs of rows that agree on it, estimated or counted."""
        self.decided = 0

    def run(self, report: ReportProgress) -> FoundSets:
        """Read agree sets until every candidate contains a key that is read."""
        proven: list[int] = []
        waiting: list[int] = []
        try:
            while True:
                candidates, exhausted = self._candidates()
                proven = [mask for mask in candidates if self._is_proven(mask)]
                waiting = [mask for mask in candidates if not self._is_proven(mask)]
                self.decided += len(candidates)
                safe = self.agree.maximal_sets()
                report(len(candidates), len(proven) + len(safe))
                if not waiting and exhausted:
                    return FoundSets(sort_masks(proven), sort_masks(safe), True, self.decided, self.max_size)
                if self.stop():
                    raise BudgetSpent
                self._read_above(waiting or candidates)
        except STOPPED as why:  # waiting is empty if the last candidates were not enumerated
            safe, left = self.agree.maximal_sets(), max(1, len(waiting))
            return FoundSets(sort_masks(proven), sort_masks(safe), False, self.decided, None, left, by_hand(why))

    def _candidates(self) -> tuple[list[int], bool]:
        """Return the minimal hitting sets of the complements, and whether these are all.

        As long as some are not proven, at most `_CANDIDATES` are enumerated.
        """
        candidates: list[int] = []
        is_open = False
        edges = [self.agree.everything & ~safe for safe in self.agree.maximal_sets()]
        try:
            for mask in minimal_hitting_sets(edges, self.max_size, are_minimal=True, stop=self.stop):
                candidates.append(mask)
                is_open = is_open or not self._is_proven(mask)
                if is_open and len(candidates) >= _CANDIDATES:
                    return candidates, False
        except BudgetSpent:
            return candidates, False
        return candidates, True

    def _is_proven(self, mask: int) -> bool:
        return any(key & mask == key for key in self.read)

    def _read_above(self, waiting: list[int]) -> None:
        """Read all agree sets above keys that lie in many waiting candidates."""
        uncovered = pack_words(waiting, self.width)
        for _ in range(1 if len(waiting) <= _FEW_CANDIDATES else _KEYS_A_ROUND):
            if self.stop():
                return
            key, words = self._best_key(uncovered)
            if not key:
                key, words = waiting[0], pack_words(waiting[:1], self.width)[0]
            if not self._read_key(key, is_candidate=key in waiting):
                continue
            uncovered = uncovered[((uncovered & words) != words).any(axis=1)]
            if not len(uncovered):
                return

    def _read_key(self, key: int, *, is_candidate: bool) -> bool:
        """Read the pairs that agree on a key; False if there are too many of them.

        If the key is itself a candidate, a part of too many pairs is read, which may refute it.
        """
        pairs = self.agree.count_pairs(key) if key else 0
        if not key or pairs > _PAIRS:  # rows that are equal everywhere may be among them
            self.agree.deduplicate()
            pairs = self.agree.count_pairs(key)
        if key in self.keys:
            self.pairs[self.keys.index(key)] = pairs
        stride = max(1, -(-pairs // _PAIRS))
        if stride > 1 and not is_candidate:
            return False  # correlated columns
        if stride > 1 and self.agree.read_pairs(key, stride):
            return True
        self.agree.read_pairs(key)
        self.read.append(key)
        return True

    def _best_key(self, waiting: Words) -> tuple[int, Words]:
        """Return the key that lies in most candidates for its cost, 0 if none is cheap enough; and its words."""
        covered = np.zeros(len(self.keys), dtype=np.int64)
        for begin in range(0, len(waiting), _COMPARED_AT_ONCE):
            batch = waiting[begin : begin + _COMPARED_AT_ONCE, None, :]
            covered += ((batch & self.words) == self.words).all(axis=2).sum(axis=0)
        score = np.where(self.pairs <= _PAIRS, covered / (self.rows / _ROWS_A_PAIR + self.pairs + 1), 0.0)
        best = int(score.argmax()) if len(score) else 0
        return (self.keys[best], self.words[best]) if len(score) and score[best] > 0 else (0, waiting[0])


def _estimate_pairs(key: int, single: list[int], rows: int) -> float:
    """Estimate the pairs of rows that agree on a key, as if columns were independent.

    Args:
        single: ordered pairs of rows that agree, for each column.
    """
    all_pairs = max(1.0, float(rows) * (rows - 1))
    share = all_pairs
    for column in bits(key):
        share *= single[column] / all_pairs
    return share / 2
