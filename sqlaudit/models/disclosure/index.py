"""The curve of a table whose classes change, at a cost that depends on what changed.

The paper (end of 3.3.3) keeps M of all classes and runs Minimize2 again: O(|B| k + x k^3) for x new classes. But only
the candidates matter to Minimize2. So here the lists of lowest classes are kept, longer than needed: a change computes
M of the new signatures, enters those that are low enough, strikes out those that are gone, and the program runs on the
candidates alone. All signatures are read again only when strikes have used up the surplus of a list, which takes more
than `_SLACK` removed classes of the very lowest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from sqlaudit.base.errors import UsageError
from sqlaudit.classes.facts import Signatures
from sqlaudit.models.disclosure.exact import DisclosureCurve
from sqlaudit.models.disclosure.program import (
    UNCERTAIN,
    Positions,
    Wanted,
    blocks,
    check_level,
    scan,
    solve,
    tolerance,
    wanted_classes,
)

_SLACK = 64
_GROWTH = 8

_Key = bytes

Classes = Signatures | Iterable[Sequence[int]]


class DisclosureIndex:
    """The disclosure curve for 0 … k of a set of classes in which classes are replaced by others.

    Parameters
    ----------
    signatures:
        The classes at the start.
    k:
        The largest number of pieces of knowledge.

    >>> index = DisclosureIndex(Signatures.from_classes([[2, 1, 1], [1, 1, 1]], k=1), 1)
    >>> str(index.curve[1].maximum)
    '3/4'
    >>> index.replace(removed=[[2, 1, 1], [1, 1, 1]], added=[[3, 2, 2]])
    >>> str(index.curve[1].maximum)
    '3/5'
    """

    def __init__(self, signatures: Signatures, k: int) -> None:
        check_level(signatures, k)
        self.k = k
        self._times: Counter[_Key] = Counter()
        self._values: Counter[int] = Counter()  # number of classes by number of distinct values, k + 2 for more
        self._lists = [_List(want) for want in wanted_classes(k + 1, _SLACK)]
        self._solved_for: object = None
        self._curve: tuple[DisclosureCurve, Signatures] | None = None
        self._count(signatures, 1)
        self._rescan()

    @property
    def curve(self) -> DisclosureCurve:
        """The curve of the classes as they are now. Its allocations refer to `candidates`.

        Raises UsageError if no class is left.
        """
        return self._solved()[0]

    @property
    def candidates(self) -> Signatures:
        """The signatures that the allocations of `curve` refer to; `find_witness` takes them with it."""
        return self._solved()[1]

    def replace(self, removed: Classes = (), added: Classes = ()) -> None:
        """Take some classes out and put others in: signatures, or each class by the counts of all its values.

        Raises UsageError, and changes nothing, if a class is to be removed that is not there.
        """
        removed, added = self._signatures(removed), self._signatures(added)
        self._check_present(removed)
        self._count(removed, -1)
        self._count(added, 1)
        self._enter(added)
        if any(kept.exhausted(self._times) for kept in self._lists):
            self._rescan()

    def _signatures(self, classes: Classes) -> Signatures:
        signatures = classes if isinstance(classes, Signatures) else Signatures.from_classes(classes, self.k)
        if signatures.k < self.k:
            raise UsageError(f"the signatures answer for k = 0 to {signatures.k}, the index was made for {self.k}")
        return signatures

    def _check_present(self, removed: Signatures) -> None:
        gone: Counter[_Key] = Counter()
        for position, (key, times) in enumerate(
            zip(_keys(removed, self.k), removed.multiplicity.tolist(), strict=True)
        ):
            gone[key] += times
            if gone[key] > self._times[key]:
                there = self._times[key]
                raise UsageError(f"signature {position}: {gone[key]} classes are to be removed, there are {there}")

    def _count(self, signatures: Signatures, sign: int) -> None:
        """Add classes to the counts, or take them away with `sign` -1."""
        distinct = _distinct_values(signatures, self.k).tolist()
        for key, times, values in zip(
            _keys(signatures, self.k), signatures.multiplicity.tolist(), distinct, strict=True
        ):
            self._times[key] += sign * times
            self._values[values] += sign * times
            for kept in self._lists:
                kept.recount(key, self._times[key])
            if not self._times[key]:
                del self._times[key]
            if not self._values[values]:
                del self._values[values]

    def _enter(self, added: Signatures) -> None:
        """Put new signatures into the lists where they are low enough."""
        keys = _keys(added, self.k)
        for block in blocks(added, self.k + 1):
            for kept in self._lists:
                values = kept.want.values(block)
                for place in np.flatnonzero(values <= kept.limit).tolist():
                    position = block.start + place
                    if keys[position] in self._times:
                        kept.enter(keys[position], float(values[place]), added.signature(position))

    def _rescan(self) -> None:
        """Fill the lists from all signatures."""
        keys = list(self._times)
        everything = _decode(keys, self._times, self.k)
        if not keys:
            return
        for kept, positions in zip(self._lists, scan(everything, [kept.want for kept in self._lists], 0), strict=True):
            kept.fill(everything, keys, positions)

    def _solved(self) -> tuple[DisclosureCurve, Signatures]:
        """The curve and the signatures it refers to; the same as before if the same classes matter."""
        fewest = min(self._values, default=0)
        lowest = [kept.lowest(self._times) for kept in self._lists]
        keys = sorted({key for chosen in lowest for key in chosen})
        state = (fewest, lowest, [self._times[key] for key in keys])
        if self._curve is None or self._solved_for != state:
            place = {key: position for position, key in enumerate(keys)}
            candidates = _decode(keys, self._times, self.k)
            check_level(candidates, self.k)
            found = [
                (kept.needed, np.array([place[key] for key in chosen], dtype=np.int64))
                for kept, chosen in zip(self._lists, lowest, strict=True)
            ]
            self._curve = solve(candidates, found, fewest, self.k), candidates
            self._solved_for = state
        return self._curve


class _List:
    """The lowest signatures for one want, a surplus included.

    No signature outside is lower than any inside; `boundary` is the highest value that may be inside, as a float and
    exactly, None if nothing is outside.
    """

    def __init__(self, want: Wanted) -> None:
        self.want = want
        self.needed = Wanted(want.role, want.atoms, want.classes - _SLACK)
        self.values: dict[_Key, float] = {}
        self._boundary: tuple[float, Fraction] | None = None
        self._lowest: tuple[_Key, ...] | None = None  # None after a change
        self._width = tolerance(want.atoms)

    @property
    def limit(self) -> float:
        """No float above this can belong inside."""
        if self._boundary is None:
            return np.inf
        approximate, exact = self._boundary
        return max(approximate * (1 + self._width), UNCERTAIN) if exact else -1.0

    def fill(self, signatures: Signatures, keys: list[_Key], positions: Positions) -> None:
        """Start again with the exactly lowest signatures, in order."""
        chosen = signatures.take(positions)
        self.values, self._lowest = {}, None
        for block in blocks(chosen, self.want.atoms):
            floats = self.want.values(block).tolist()
            self.values.update(zip([keys[place] for place in positions[block.start :].tolist()], floats, strict=False))
        self._boundary = None
        if len(positions) < len(keys):
            last = keys[int(positions[-1])]
            self._boundary = self.values[last], self.want.exact(*chosen.signature(len(chosen) - 1))

    def enter(self, key: _Key, value: float, signature: tuple[int, tuple[int, ...]]) -> None:
        """Take a signature in, unless it is not lower than what may be outside."""
        if self._boundary is not None and key not in self.values:
            approximate, exact = self._boundary
            low = approximate * (1 - self._width)
            if (value >= low or value < UNCERTAIN) and self.want.exact(*signature) >= exact:
                return
        self.values[key], self._lowest = value, None

    def recount(self, key: _Key, times: int) -> None:
        """There are now `times` classes with a signature."""
        if key in self.values:
            self._lowest = None
            if not times:
                del self.values[key]

    def exhausted(self, times: Counter[_Key]) -> bool:
        """Return True if the list has fewer classes than needed while there are more outside, or far more than
        needed."""
        if self._lowest is not None:
            return False
        if len(self.values) > _GROWTH * self.want.classes:
            return True
        return self._boundary is not None and sum(times[key] for key in self.values) < self.needed.classes

    def lowest(self, times: Counter[_Key]) -> tuple[_Key, ...]:
        """The signatures that hold the needed classes; those that floats cannot tell from the last one included."""
        if self._lowest is None:
            self._lowest = tuple(self._choose(times))
        return self._lowest

    def _choose(self, times: Counter[_Key]) -> Iterator[_Key]:
        covered, limit = 0, np.inf
        for key, value in sorted(self.values.items(), key=lambda item: (item[1], item[0])):
            if value > limit:
                return
            yield key
            covered += times[key]
            if limit == np.inf and covered >= self.needed.classes:
                limit = max(value * (1 + self._width), UNCERTAIN) if value else -1.0


def _keys(signatures: Signatures, k: int) -> list[_Key]:
    table = np.column_stack([signatures.n, signatures.counts[:, : k + 1]]).astype(np.int64)
    data, width = table.tobytes(), table.shape[1] * table.itemsize
    return [data[start : start + width] for start in range(0, len(data), width)]


def _decode(keys: list[_Key], times: Counter[_Key], k: int) -> Signatures:
    table = np.frombuffer(b"".join(keys), dtype=np.int64).reshape(len(keys), k + 2)
    return Signatures(table[:, 0], table[:, 1:], np.array([times[key] for key in keys], dtype=np.int64))


def _distinct_values(signatures: Signatures, k: int) -> Positions:
    """The number of distinct values of each class, k + 2 where it is more than k + 1."""
    counts = signatures.counts[:, : k + 1]
    shown = np.count_nonzero(counts, axis=1)
    complete = counts.sum(axis=1, dtype=np.int64) == signatures.n
    return np.where(complete, shown, k + 2)
