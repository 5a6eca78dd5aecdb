"""What comes out: the disclosure for every number of pieces of knowledge, and (c, k)-safety."""

from __future__ import annotations

from dataclasses import field
from decimal import Decimal
from fractions import Fraction

from sqlaudit.base.documents import Documented, exactly
from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass


@dataclass(frozen=True)
class Allocation:
    """How the k + 1 atoms of a worst case (the consequent and k antecedents) are spread over the classes.

    own: (signature, atoms) of the class that holds the consequent. others: the same for every other class that takes
    part; a signature that occurs twice stands for two classes.
    """

    own: tuple[int, int]
    others: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class DisclosurePoint(Documented):
    """The disclosure that `k` pieces of knowledge can reach.

    maximum: against any k basic implications. negated: against any k negated atoms ("p does not have s").
    """

    k: int
    maximum: Fraction = field(metadata=exactly("exact"))
    negated: Fraction = field(metadata=exactly("negated_exact"))


@dataclass(frozen=True)
class DisclosureCurve:
    """The disclosure for k = 0 … K, exactly, and for each k an allocation of atoms that reaches the maximum."""

    points: tuple[DisclosurePoint, ...]
    allocations: tuple[Allocation, ...]

    def __getitem__(self, k: int) -> DisclosurePoint:
        """The point at `k`; UsageError if the curve does not reach so far."""
        if not 0 <= k < len(self.points):
            raise UsageError(f"the curve was computed for k = 0 to {len(self.points) - 1}, k = {k} was asked for")
        return self.points[k]

    def smallest_k_reaching(self, threshold: Fraction | Decimal | int) -> int | None:
        """The smallest k whose maximum disclosure is at least `threshold`, or None if none on the curve is."""
        limit = exact_threshold(threshold)
        return next((point.k for point in self.points if point.maximum >= limit), None)

    @property
    def smallest_certain_k(self) -> int | None:
        """The smallest k with which an attacker can be certain about somebody, or None if none on the curve is."""
        return self.smallest_k_reaching(1)


def exact_threshold(threshold: Fraction | Decimal | int) -> Fraction:
    """The threshold as a fraction; a float is refused, because 0.7 as a float is not 7/10."""
    if isinstance(threshold, float):
        raise UsageError(f"the threshold {threshold} is a float; give it as a Decimal, a Fraction or an integer")
    if not 0 <= threshold <= 1:
        raise UsageError(f"the threshold is {threshold}, it must be from 0 to 1")
    return Fraction(threshold)
