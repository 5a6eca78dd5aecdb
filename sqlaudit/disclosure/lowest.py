"""The few classes with the lowest M(j), out of millions, chosen without a float deciding between two of them.

Why a few are enough: a worst case with t atoms uses at most t classes. If a class takes part with j atoms, at most
t - j others take part. So of any t + 1 - j classes with the lowest M(j) at least one is unused, and can stand in for
it without loss; class after class, all that take part come from these lists. The same holds, with (n / r1) * M(j), for
the class of the consequent. The lists stay sufficient when the class of the consequent is fixed to be any other one:
it has an atom, so it is among the t - j.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sqlaudit.disclosure.products import UNCERTAIN, Block, FloatArray, blocks, exact_products, tolerance
from sqlaudit.disclosure.signatures import Signatures

Positions = NDArray[np.int64]

_PENDING = 4096
_PIVOTS = 128


class LowestClasses:
    """Collects, from a stream of values, signatures that together hold the `need` lowest classes for one j.

    Parameters
    ----------
    signatures:
        What the positions refer to.
    atoms:
        j.
    own:
        Whether the values are (n / r1) * M(j), for the class of the consequent, or M(j).
    need:
        Number of classes wanted; a signature counts as often as its multiplicity.
    """

    def __init__(self, signatures: Signatures, atoms: int, own: bool, need: int) -> None:
        self.atoms, self.own, self.need = atoms, own, need
        self._signatures = signatures
        self._tolerance = tolerance(atoms)
        self._positions: list[Positions] = []
        self._values: list[FloatArray] = []
        self._pending = 0
        self._limit = np.inf

    def offer(self, start: int, values: FloatArray) -> None:
        """The values of the signatures from position `start` on."""
        chosen = np.flatnonzero(values <= self._limit)
        if len(chosen):
            self._positions.append(chosen + start)
            self._values.append(values[chosen])
            self._pending += len(chosen)
        if self._pending > max(_PENDING, 4 * self.need):
            self._shrink()

    def result(self) -> Positions:
        """Positions of the signatures kept, ascending by value (float ties in any order).

        Every signature left out is, exactly, at least as high as `need` of the classes kept.
        """
        self._shrink()
        return self._positions[0]

    def _shrink(self) -> None:
        """Keep what can still be among the lowest; when float ties leave too many, let exact arithmetic decide."""
        positions = np.concatenate([np.empty(0, np.int64), *self._positions])
        values = np.concatenate([np.empty(0), *self._values])
        order = np.argsort(values, kind="stable")
        positions, values = positions[order], values[order]
        reached = np.flatnonzero(np.cumsum(self._signatures.multiplicity[positions]) >= self.need)
        if len(reached):
            boundary = float(values[reached[0]])
            self._limit = _undecided(boundary, self._tolerance)
            keep = reached[0] + 1 if boundary == 0 else int(np.searchsorted(values, self._limit, side="right"))
            positions, values = positions[:keep], values[:keep]
            if boundary == 0:
                self._limit = -1.0  # zeros are exact: nothing is lower, and equals are not needed
            elif keep > 2 * self.need + 16:
                positions, values = self._settle(positions, values, boundary)
        self._positions, self._values, self._pending = [positions], [values], len(positions)

    def _settle(self, positions: Positions, values: FloatArray, boundary: float) -> tuple[Positions, FloatArray]:
        """Exactly the lowest `need` classes, when floats cannot tell those at the boundary apart."""
        certain = (values < boundary * (1 - self._tolerance)) & (values >= UNCERTAIN)
        wanted = self.need - int(self._signatures.multiplicity[positions[certain]].sum())
        tied = self._undominated(positions[~certain], wanted)
        order = np.argsort(self._exact_ranks(tied), kind="stable")
        covered = np.cumsum(self._signatures.multiplicity[tied[order]])
        tied = tied[order[: int(np.searchsorted(covered, wanted)) + 1]]
        value_of = dict(zip(positions.tolist(), values.tolist(), strict=True))
        kept = np.concatenate([positions[certain], tied])
        return kept, np.array([value_of[position] for position in kept.tolist()])

    def _undominated(self, positions: Positions, wanted: int) -> Positions:
        """Without signatures that, by comparing integers alone, are not lower than `wanted` classes among the rest.

        A class with no more rows and no smaller R(1) … R(j) has no larger M(j) and no larger n / r1.
        """
        n = self._signatures.n[positions].astype(np.int64)
        cumulative = np.cumsum(self._signatures.counts[positions, : self.atoms], axis=1, dtype=np.int64)
        order = np.lexsort((positions, *(-cumulative.T[::-1]), n))
        n, cumulative, positions = n[order], cumulative[order], positions[order]
        times = np.zeros(len(positions), np.int64)
        for pivot in range(min(_PIVOTS, len(positions))):
            below = (n[pivot] <= n) & (cumulative[pivot] >= cumulative).all(axis=1)
            below[: pivot + 1] = False  # of equal ones the first goes first, and a pivot is not dropped by itself
            times[below] += int(self._signatures.multiplicity[positions[pivot]])
        times[:_PIVOTS] = 0
        return np.sort(positions[times < wanted])

    def _exact_ranks(self, positions: Positions) -> Positions:
        """The rank of each signature's value among these, by exact comparison."""
        columns = self._signatures.counts[positions, : self.atoms].astype(np.int64)
        table = np.column_stack([self._signatures.n[positions].astype(np.int64), columns])
        different, which = np.unique(table, axis=0, return_inverse=True)
        exact = [self._exact(row[0], tuple(row[1:])) for row in different.tolist()]
        rank = {value: place for place, value in enumerate(sorted(set(exact)))}
        return np.array([rank[value] for value in exact], dtype=np.int64)[which.reshape(-1)]

    def _exact(self, n: int, counts: tuple[int, ...]) -> Fraction:
        value = exact_products(n, counts, self.atoms)[self.atoms].value
        return value * Fraction(n, counts[0]) if self.own else value


def _undecided(boundary: float, width: float) -> float:
    """The largest float that may stand for a value no larger than `boundary` stands for."""
    return max(boundary * (1 + width), UNCERTAIN)


@dataclass(frozen=True)
class Candidates:
    """The signatures that can take part in a worst case.

    positions: where they stand among the signatures they were chosen from, shape (C,).
    signatures: these alone. copies: how many classes of each may be needed to hold antecedents; 0 if none.
    own: whether one may hold the consequent.
    """

    positions: Positions
    signatures: Signatures
    copies: Positions
    own: NDArray[np.bool_]


def select(signatures: Signatures, atoms: int, see: Callable[[Block], None] | None = None) -> Candidates:
    """The candidates for every number of atoms up to `atoms`, the consequent included, in one pass over the signatures.

    `see` is shown each block of the pass, for whatever else is computed from it.
    """
    lists = [LowestClasses(signatures, j, own, need) for own, j, need in needs(atoms)]
    for block in blocks(signatures, atoms):
        weight = block.n / block.cumulative[0]
        for lowest in lists:
            values = block.products[lowest.atoms]
            lowest.offer(block.start, values * weight if lowest.own else values)
        if see is not None:
            see(block)
    return gather(signatures, [(lowest.own, lowest.need, lowest.result()) for lowest in lists])


def needs(atoms: int) -> list[tuple[bool, int, int]]:
    """The lists for up to `atoms` atoms: (for the consequent?, j, number of classes). The consequent is itself an atom,
    so a class without it has at most atoms - 1."""
    return [(own, j, atoms + 1 - j) for own in (False, True) for j in range(1, atoms + own)]


def gather(signatures: Signatures, lists: Iterable[tuple[bool, int, Positions]]) -> Candidates:
    """The candidates in lists of (for the consequent?, classes needed, positions)."""
    copies: dict[int, int] = {}
    own: set[int] = set()
    for for_consequent, need, positions in lists:
        for position in positions.tolist():
            times = 0 if for_consequent else min(need, int(signatures.multiplicity[position]))
            copies[position] = max(copies.get(position, 0), times)
            if for_consequent:
                own.add(position)
    chosen = np.array(sorted(copies), dtype=np.int64)
    return Candidates(
        chosen,
        signatures.take(chosen),
        np.array([copies[position] for position in chosen.tolist()], dtype=np.int64),
        np.array([position in own for position in chosen.tolist()], dtype=np.bool_),
    )
