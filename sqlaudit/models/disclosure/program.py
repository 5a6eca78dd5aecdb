"""Maximum disclosure against k basic implications, for all k at once, exactly.

By Theorem 9 the worst knowledge is k simple implications with one common consequent. Their k antecedents and the
consequent are k + 1 atoms; with M_b(j) for a class b (see `products`),

    ratio = min over j_b >= 0 with sum k + 1, and one class a with j_a >= 1, of (n_a / r1_a) * product of M_b(j_b)
    maximum disclosure = 1 / (1 + ratio).

Source: Martin et al., Worst-Case Background Knowledge, section 3.3. Minimize2 as printed starts with the consequent
already placed and has no way to end; here it starts with nothing placed, and ends when the consequent is placed and no
atom is left.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import numpy as np

from sqlaudit.base.errors import UsageError
from sqlaudit.classes.signatures import Signatures
from sqlaudit.models.disclosure.allocation import Allocator, Best, Way
from sqlaudit.models.disclosure.candidates import Candidates, gather, negated_maxima, wanted_classes
from sqlaudit.models.disclosure.curve import Allocation, DisclosureCurve, DisclosurePoint
from sqlaudit.models.disclosure.lowest import Positions, Wanted, scan
from sqlaudit.models.disclosure.products import blocks


def maximum_disclosure(signatures: Signatures, k: int) -> DisclosureCurve:
    """The disclosure curve for 0 … `k` pieces of knowledge.

    Cost: one pass over the signatures (vectorized, memory for one block), then a program over at most (k + 1)(k + 2)
    candidates; more only where floats cannot tell them apart.

    Raises
    ------
    UsageError
        If there is no class, or the signatures hold fewer than k + 1 counts.

    >>> signatures = Signatures.from_classes([[2, 2, 1], [2, 1, 1, 1]], k=2)
    >>> [str(point.maximum) for point in maximum_disclosure(signatures, 2).points]
    ['2/5', '2/3', '1']
    """
    check_level(signatures, k)
    fewest = signatures.fewest_values()
    atoms = min(k + 1, fewest - 1)
    wanted = wanted_classes(atoms)
    found = list(zip(wanted, scan(signatures, wanted), strict=True)) if atoms else []
    return solve(signatures, found, fewest, k)


def check_level(signatures: Signatures, k: int) -> None:
    """Raise UsageError unless these signatures can answer for `k` pieces of knowledge."""
    if not len(signatures):
        raise UsageError("the table has no rows, so there is nothing that could be disclosed")
    if not 0 <= k <= signatures.k:
        raise UsageError(f"k is {k}, these signatures answer for 0 to {signatures.k}")


def solve(signatures: Signatures, found: list[tuple[Wanted, Positions]], fewest: int, k: int) -> DisclosureCurve:
    """The curve, from the lists of lowest classes among `signatures` and the fewest distinct values of a class.

    Somebody is certain from k = fewest - 1 on, when k antecedents leave one person of that class no other value; lists
    for so many atoms are not used.
    """
    atoms = min(k + 1, fewest - 1)
    found = [(want, positions) for want, positions in found if want.atoms <= atoms]
    points, allocations = [], []
    if atoms:
        ratios = WorstCase(gather(signatures, found), atoms).ratios()
        for level, ((ratio, allocation), share) in enumerate(
            zip(ratios, negated_maxima(signatures, found), strict=True)
        ):
            points.append(DisclosurePoint(level, 1 / (1 + ratio), share))
            allocations.append(allocation)
    for level in range(atoms, k + 1):
        points.append(DisclosurePoint(level, Fraction(1), Fraction(1)))
        allocations.append(Allocation((_with_values(signatures, fewest), fewest), ()))
    return DisclosureCurve(tuple(points), tuple(allocations))


def _with_values(signatures: Signatures, number: int) -> int:
    """The first signature that has exactly `number` distinct values."""
    total = signatures.counts[:, :number].sum(axis=1, dtype=np.int64)
    return int((total == signatures.n).argmax())


class WorstCase:
    """The minima over all classes, and over all classes but one, for 0 … `atoms` atoms.

    Every candidate must have more than `atoms` distinct values, so that no product is 0.
    """

    def __init__(self, candidates: Candidates, atoms: int) -> None:
        self._candidates = candidates
        self._allocator = Allocator(candidates, atoms)
        self._approximate = np.concatenate([block.products for block in blocks(candidates.signatures, atoms)], axis=1)
        self._order = np.repeat(np.arange(len(candidates.positions)), candidates.copies).tolist()
        self._before = self._running(self._order)
        self._after = self._running(self._order[::-1])[::-1]

    def _running(self, order: list[int]) -> list[Best]:
        """The minimum over the first 0, 1, 2, … classes in `order`."""
        return list(accumulate(map(self._single, order), self._allocator.combine, initial=self._allocator.nothing))

    def _single(self, candidate: int, own: bool = False) -> Best:
        return self._allocator.single(candidate, self._approximate[:, candidate], own)

    @property
    def everyone(self) -> Best:
        """Over all classes, none of which holds the consequent."""
        return self._before[-1]

    def others(self, candidate: int) -> Best:
        """Over all classes but one with this candidate's signature."""
        copies = int(self._candidates.copies[candidate])
        if copies == 0 or copies < self._candidates.signatures.multiplicity[candidate]:
            return self.everyone  # as many are left as can be of use
        place = self._order.index(candidate)
        return self._allocator.combine(self._before[place], self._after[place + 1])

    def values(self, best: Best) -> tuple[Fraction | None, ...]:
        """The minima for 0 … `atoms` atoms, exactly; None where they cannot be placed."""
        return tuple(None if way is None else self._allocator.value(way) for way in best.ways)

    def ratios(self) -> list[tuple[Fraction, Allocation]]:
        """The least ratio for 1 … `atoms` atoms, and an allocation that reaches it, by positions of signatures."""
        owners = np.flatnonzero(self._candidates.own).tolist()
        best = self._allocator.lower(
            [self._allocator.combine(self._single(owner, own=True), self.others(owner)) for owner in owners]
        )
        return [(self._allocator.value(way), self._allocation(way)) for way in best.ways[1:] if way is not None]

    def _allocation(self, way: Way) -> Allocation:
        places = [(int(self._candidates.positions[candidate]), atoms, own) for candidate, atoms, own in way]
        (owner,) = [(place, atoms) for place, atoms, own in places if own]
        return Allocation(owner, tuple((place, atoms) for place, atoms, own in places if not own))
