"""The few classes with the lowest values, out of millions, chosen without a float deciding between two of them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sqlaudit.base.frozen import dataclass
from sqlaudit.classes.signatures import Signatures
from sqlaudit.models.disclosure.exact import exact_products
from sqlaudit.models.disclosure.products import UNCERTAIN, FloatArray, SignatureBlock, blocks, tolerance

Positions = NDArray[np.int64]

_PENDING = 4096
_PIVOTS = 128

# Two different quotients of integers up to this differ by more than any tolerance, so near floats mean equal quotients.
_QUOTIENTS_DIFFER = 2**20


class Purpose(Enum):
    """What a class with j atoms is wanted for, and so by which value it is chosen.

    OTHERS: antecedents; M(j). OWN: the consequent and j - 1 antecedents; (n / r1) * M(j). NEGATED: a person with
    j - 1 negated atoms; (n - r2 - … - rj) / r1, the reciprocal of the disclosure.
    """

    OTHERS = "others"
    OWN = "own"
    NEGATED = "negated"


@dataclass(frozen=True)
class Wanted:
    """The `classes` classes with the lowest value for a role and a number of atoms."""

    role: Purpose
    atoms: int
    classes: int

    def values(self, block: SignatureBlock) -> FloatArray:
        """The values of the signatures in a block, in floats."""
        if self.role is Purpose.NEGATED:
            quotient: FloatArray = 1 + (block.n - block.cumulative[self.atoms - 1]) / block.cumulative[0]
            return quotient
        products: FloatArray = block.products[self.atoms]
        return products * block.weight if self.role is Purpose.OWN else products

    def exact(self, n: int, counts: tuple[int, ...]) -> Fraction:
        """The value of one signature."""
        if self.role is Purpose.NEGATED:
            return Fraction(n - sum(counts[1 : self.atoms]), counts[0])
        value = exact_products(n, counts[: self.atoms], self.atoms)[self.atoms].value
        return value * Fraction(n, counts[0]) if self.role is Purpose.OWN else value


class LowestClasses:
    """Collects, from a stream of values, signatures that hold the lowest classes for one want.

    A signature counts as often as its multiplicity. The positions in the stream are those in `signatures`.
    """

    def __init__(self, signatures: Signatures, wanted: Wanted) -> None:
        self.wanted = wanted
        self._signatures = signatures
        self._tolerance = tolerance(wanted.atoms)
        self._positions: list[Positions] = []
        self._values: list[FloatArray] = []
        self._pending = 0
        self._limit = np.inf
        simple = wanted.role is Purpose.NEGATED or wanted.atoms == 1
        self._near_is_equal = simple and signatures.n.max(initial=0) <= _QUOTIENTS_DIFFER

    def offer(self, start: int, values: FloatArray) -> None:
        """The values of the signatures from position `start` on."""
        chosen = np.flatnonzero(values <= self._limit)
        if len(chosen):
            self._positions.append(chosen + start)
            self._values.append(values[chosen])
            self._pending += len(chosen)
        if self._pending > max(_PENDING, 4 * self.wanted.classes):
            self._shrink(spare=2 * self.wanted.classes + 16)

    def result(self, spare: int | None = None) -> Positions:
        """Positions of the signatures kept, the lowest first (float ties in any order).

        Every signature left out is, exactly, at least as high as the wanted number of classes among those kept. Up to
        `spare` signatures are kept where floats cannot tell. With spare = 0 only the wanted ones are, the highest last.
        """
        self._shrink(2 * self.wanted.classes + 16 if spare is None else spare)
        return self._positions[0]

    def _shrink(self, spare: int) -> None:
        """Keep what can still be among the lowest; when float ties leave too many, let exact arithmetic decide."""
        positions = np.concatenate([np.empty(0, np.int64), *self._positions])
        values = np.concatenate([np.empty(0), *self._values])
        if len(values) > 4 * self.wanted.classes:  # a signature is at least one class, so most need not be sorted
            highest = np.partition(values, self.wanted.classes - 1)[self.wanted.classes - 1]
            few = values <= max(highest * (1 + self._tolerance), UNCERTAIN)
            positions, values = positions[few], values[few]
        order = np.lexsort((positions, values))
        positions, values = positions[order], values[order]
        reached = np.flatnonzero(np.cumsum(self._signatures.multiplicity[positions]) >= self.wanted.classes)
        if len(reached):
            boundary = float(values[reached[0]])
            if boundary == 0 or self._near_is_equal:  # what is not lower is equal, and equals are not needed
                keep = int(reached[0]) + 1
                self._limit = boundary * (1 - self._tolerance) if boundary else -1.0
            else:
                self._limit = max(boundary * (1 + self._tolerance), UNCERTAIN)
                keep = int(np.searchsorted(values, self._limit, side="right"))
            positions, values = positions[:keep], values[:keep]
            if keep > spare and boundary and not self._near_is_equal:
                positions, values = self._settle(positions, values, boundary)
        self._positions, self._values, self._pending = [positions], [values], len(positions)

    def _settle(self, positions: Positions, values: FloatArray, boundary: float) -> tuple[Positions, FloatArray]:
        """Exactly the lowest classes that are wanted, when floats cannot tell those at the boundary apart."""
        certain = (values < boundary * (1 - self._tolerance)) & (values >= UNCERTAIN)
        missing = self.wanted.classes - int(self._signatures.multiplicity[positions[certain]].sum())
        tied = self._undominated(positions[~certain], missing)
        tied = tied[np.argsort(self._exact_ranks(tied), kind="stable")]
        covered = np.cumsum(self._signatures.multiplicity[tied])
        tied = tied[: int(np.searchsorted(covered, missing)) + 1]
        value_of = dict(zip(positions.tolist(), values.tolist(), strict=True))
        kept = np.concatenate([positions[certain], tied])
        return kept, np.array([value_of[position] for position in kept.tolist()])

    def _undominated(self, positions: Positions, missing: int) -> Positions:
        """Without signatures that, by comparing integers alone, are not lower than `missing` classes among the rest.

        A class with no more rows and no smaller R(1) … R(j) has no higher value, in any role.
        """
        n = self._signatures.n[positions].astype(np.int64)
        cumulative = np.cumsum(self._signatures.counts[positions, : self.wanted.atoms], axis=1, dtype=np.int64)
        order = np.lexsort((positions, *(-cumulative.T[::-1]), n))
        n, cumulative, positions = n[order], cumulative[order], positions[order]
        times = np.zeros(len(positions), np.int64)
        for pivot in range(min(_PIVOTS, len(positions))):
            below = (n[pivot] <= n) & (cumulative[pivot] >= cumulative).all(axis=1)
            times[below] += int(self._signatures.multiplicity[positions[pivot]])
        times[:_PIVOTS] = 0  # the pivots stay
        return np.sort(positions[times < missing])

    def _exact_ranks(self, positions: Positions) -> Positions:
        """The rank of each signature's value among these, by exact comparison."""
        columns = self._signatures.counts[positions, : self.wanted.atoms].astype(np.int64)
        table = np.column_stack([self._signatures.n[positions].astype(np.int64), columns])
        different, which = np.unique(table, axis=0, return_inverse=True)
        exact = [self.wanted.exact(row[0], tuple(row[1:])) for row in different.tolist()]
        rank = {value: place for place, value in enumerate(sorted(set(exact)))}
        return np.array([rank[value] for value in exact], dtype=np.int64)[which.reshape(-1)]


def scan(signatures: Signatures, wanted: Sequence[Wanted], spare: int | None = None) -> list[Positions]:
    """The lowest classes for every want, in one pass over the signatures; see `LowestClasses.result`."""
    lists = [LowestClasses(signatures, want) for want in wanted]
    for block in blocks(signatures, max(want.atoms for want in wanted)):
        for lowest in lists:
            lowest.offer(block.start, lowest.wanted.values(block))
    return [lowest.result(spare) for lowest in lists]
