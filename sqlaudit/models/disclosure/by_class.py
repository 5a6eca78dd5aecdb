"""The disclosure of each class by itself: which classes and rows fail (c, k)-safety.

The disclosure of a class is the highest probability that any k basic implications, about anybody in the table, give to
"this person of the class has that value". Theorem 9 holds for a fixed consequent too (its two lemmas never change it),
so with class a fixed

    ratio_a = min over j = 1 … k + 1 of (n_a / r1_a) * M_a(j) * G(k + 1 - j),

where G(t) is the least product that t atoms reach in the other classes. The maximum over all classes is the maximum
disclosure of the table. G is the same for all classes but the few candidates, which must not be counted twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sqlaudit.classes.signatures import Signatures
from sqlaudit.models.disclosure.candidates import gather, wanted_classes
from sqlaudit.models.disclosure.curve import exact_threshold
from sqlaudit.models.disclosure.exact import exact_products
from sqlaudit.models.disclosure.lowest import Purpose, scan
from sqlaudit.models.disclosure.products import SMALLEST, UNCERTAIN, FloatArray, SignatureBlock, blocks, tolerance
from sqlaudit.models.disclosure.program import WorstCase, check_level

if TYPE_CHECKING:
    from sqlaudit.classes.signatures import IntArray

# G(0 … k): the least product that t atoms reach in the other classes, None where they cannot be placed.
Others = tuple[Fraction | None, ...]


@dataclass(frozen=True, eq=False)
class ClassDisclosure:
    """The disclosure of the classes of each signature, for one k.

    approximate: shape (S,), as floats, with a relative error far below 1e-12. `exact` and `failing` are exact.
    """

    signatures: Signatures
    k: int
    approximate: FloatArray
    _ratio: FloatArray = field(repr=False)
    _everyone: Others = field(repr=False)
    _without: Mapping[int, Others] = field(repr=False)

    def exact(self, position: int) -> Fraction:
        """The disclosure of the classes with the signature at `position`."""
        return 1 / (1 + self._exact_ratio(position))

    def failing(self, c: Fraction | Decimal | int) -> NDArray[np.bool_]:
        """Which signatures have a disclosure of at least `c`, exactly; shape (S,)."""
        threshold = exact_threshold(c)
        if threshold == 0:
            return np.ones(len(self._ratio), dtype=np.bool_)
        limit = (1 - threshold) / threshold
        width = tolerance(self.k + 1)
        low, high = float(limit) * (1 - width), float(limit) * (1 + width)
        low, high = (low if low > UNCERTAIN else 0.0), max(high, UNCERTAIN)
        fails = self._ratio <= low
        near = np.flatnonzero(~fails & (self._ratio <= high))
        fails[near] = self._decide(near, limit)
        return fails

    def failing_classes(self, c: Fraction | Decimal | int) -> int:
        """Number of classes whose disclosure is at least `c`."""
        return int(self.signatures.multiplicity[self.failing(c)].sum(dtype=np.int64))

    def failing_rows(self, c: Fraction | Decimal | int) -> int:
        """Number of rows in such classes."""
        fails = self.failing(c)
        rows = self.signatures.n[fails].astype(np.int64) * self.signatures.multiplicity[fails]
        return int(rows.sum(dtype=np.int64))

    def weakest(self, number: int) -> IntArray:
        """Positions of the `number` signatures with the highest disclosure, highest first.

        Float ties go by size and counts and never by position, as a database returns signatures in any order.
        """
        ratio = self._ratio
        if not 0 < number < len(ratio):
            places = np.arange(len(ratio))
        else:
            places = np.flatnonzero(ratio <= np.partition(ratio, number - 1)[number - 1])
        counts = self.signatures.counts[places]
        ranked = np.lexsort((*counts.T[::-1], self.signatures.n[places], ratio[places]))
        return places[ranked][:number]

    def _decide(self, places: IntArray, limit: Fraction) -> NDArray[np.bool_]:
        """Whether the exact ratio is at most `limit`, for signatures that floats cannot decide."""
        known: dict[tuple[object, ...], bool] = {}
        out = np.empty(len(places), dtype=np.bool_)
        for number, position in enumerate(places.tolist()):
            n, counts = self.signatures.signature(position)
            key = (n, counts[: self.k + 1], self._others(position))
            if key not in known:
                known[key] = self._exact_ratio(position) <= limit
            out[number] = known[key]
        return out

    def _others(self, position: int) -> Others:
        return self._without.get(position, self._everyone)

    def _exact_ratio(self, position: int) -> Fraction:
        n, counts = self.signatures.signature(position)
        products = exact_products(n, counts[: self.k + 1], self.k + 1)
        found = [
            product.value * rest
            for product, rest in zip(products[1:], reversed(self._others(position)), strict=True)
            if rest is not None
        ]
        return Fraction(n, counts[0]) * min(found)


def class_disclosure(signatures: Signatures, k: int) -> ClassDisclosure:
    """The disclosure of every class against any `k` basic implications.

    Cost: two passes over the signatures. Raises UsageError as `maximum_disclosure` does.

    >>> result = class_disclosure(Signatures.from_classes([[3, 1, 1, 1], [5, 5, 5, 5]], k=1), 1)
    >>> [str(result.exact(0)), str(result.exact(1))]
    ['5/7', '2/5']
    >>> result.failing_rows(Decimal("0.7"))
    6
    """
    check_level(signatures, k)
    fewest = signatures.fewest_values()
    if fewest <= k:  # k antecedents leave one person of that class no value: everybody else is certain, and so is he
        zero = np.zeros(len(signatures))
        return ClassDisclosure(signatures, k, 1 - zero, zero, (Fraction(0),) * (k + 1), {})
    everyone, without = _others(signatures, k)
    ratio = np.empty(len(signatures))
    for block in blocks(signatures, k + 1):
        ratio[block.start : block.start + len(block.n)] = _least(block, everyone)
    for position, others in without.items():
        (block,) = blocks(signatures.take(np.array([position])), k + 1)
        ratio[position] = _least(block, others)[0]
    return ClassDisclosure(signatures, k, 1 / (1 + ratio), ratio, everyone, without)


def _others(signatures: Signatures, k: int) -> tuple[Others, dict[int, Others]]:
    """G(0 … k) over all classes; and without one class of the signature, for the positions where that differs."""
    if k == 0:
        return (Fraction(1),), {}
    wanted = [want for want in wanted_classes(k + 1) if want.role is Purpose.OTHERS]
    candidates = gather(signatures, zip(wanted, scan(signatures, wanted), strict=True))
    worst = WorstCase(candidates, k)
    without = {}
    for candidate, position in enumerate(candidates.positions.tolist()):
        best = worst.others(candidate)
        if best is not worst.everyone:
            without[position] = worst.values(best)
    return worst.values(worst.everyone), without


def _least(block: SignatureBlock, others: Others) -> FloatArray:
    """The least ratio of the classes in a block, given what the other classes can do."""
    factors = [np.inf if value is None else max(float(value), SMALLEST) for value in reversed(others)]
    return np.asarray((block.products[1:] * np.array(factors)[:, None]).min(axis=0) * block.weight)
