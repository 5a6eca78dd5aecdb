"""M(j) of one class as fractions; `program.py` says what that is and why it is right, and has it in floats for many."""

from __future__ import annotations

from dataclasses import field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Annotated

from sqlaudit.base.errors import OutOfRange, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.result import FROM_0_TO_1, Documented, exactly

MOST_TERMS = 100_000
"""Conjunctions of statements that are expanded at once, unless another number is given."""


@dataclass(frozen=True)
class Product:
    """M(j) as a fraction, and the parts k0 >= k1 >= … of j that lead to it (fewest people among equals)."""

    value: Fraction
    parts: tuple[int, ...]


_Parts = tuple["_Parts | None", int]  # the last part and the link to those before it
_Numerator = tuple[int, "_Parts | None"]


@lru_cache(maxsize=4096)
def exact_products(n: int, counts: tuple[int, ...], atoms: int) -> tuple[Product, ...]:
    """M(0 … atoms) of one signature, exactly.

    >>> [str(product.value) for product in exact_products(5, (2, 2, 1), 3)]
    ['1', '3/5', '1/5', '0']
    """
    # For a given number of people the denominators agree, so products of integers are enough until the end.
    least: list[list[_Numerator | None]] = [[None] * (atoms + 1) for _ in range(atoms + 1)]
    least[0][0] = (1, None)
    for size in range(atoms, 0, -1):
        free = n - sum(counts[:size])
        for person in range(min(atoms // size, n)):
            factor = max(0, free - person)
            for placed in range(person * size, atoms - size + 1):
                source, target = least[person][placed], least[person + 1][placed + size]
                if source is not None and (target is None or source[0] * factor < target[0]):
                    least[person + 1][placed + size] = (source[0] * factor, (source[1], size))
    return tuple(_least_fraction(n, [row[j] for row in least]) for j in range(atoms + 1))


def _least_fraction(n: int, by_people: list[_Numerator | None]) -> Product:
    """The least of the products for 0, 1, 2, … people."""
    best: tuple[Fraction, _Parts | None] | None = None
    ways = 1  # n (n - 1) … over as many people
    for people, found in enumerate(by_people):
        if found is not None:
            value = Fraction(found[0], ways)
            if best is None or value < best[0]:
                best = value, found[1]
        ways *= max(n - people, 1)
    if best is None:
        raise AssertionError("one person can take any number of atoms")
    value, linked = best
    parts = []
    while linked is not None:
        linked, size = linked
        parts.append(size)
    return Product(value, tuple(reversed(parts)))


# What comes out: the disclosure for every number of pieces of knowledge, and (c, k)-safety.


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

    Args:
        k: pieces of knowledge. maximum: maximum disclosure against any k basic implications.
        negated: against any k negated atoms ("p does not have s").
    """

    k: int
    maximum: Annotated[Fraction, FROM_0_TO_1] = field(metadata=exactly("exact"))
    negated: Annotated[Fraction, FROM_0_TO_1] = field(metadata=exactly("negated_exact"))


@dataclass(frozen=True)
class DisclosureCurve:
    """The disclosure for k = 0 … K, exactly, and for each k an allocation of atoms that reaches the maximum."""

    points: tuple[DisclosurePoint, ...]
    allocations: tuple[Allocation, ...]

    def __getitem__(self, k: int) -> DisclosurePoint:
        """The point at `k`; UsageError if the curve does not reach so far."""
        if not 0 <= k < len(self.points):
            raise OutOfRange(f"the curve was computed for k = 0 to {len(self.points) - 1}, k = {k} was asked for")
        return self.points[k]


def exact_threshold(threshold: Fraction | Decimal | int) -> Fraction:
    """The threshold as a fraction; a float is refused, because 0.7 as a float is not 7/10."""
    if isinstance(threshold, float):
        raise UsageError(f"the threshold {threshold} is a float; give it as a Decimal, a Fraction or an integer")
    if not 0 <= threshold <= 1:
        raise OutOfRange(f"the threshold is {threshold}, it must be from 0 to 1")
    return Fraction(threshold)
