"""Maximum disclosure in fractions alone: M(j) of one class, and the curve of a few signatures.

`program.py` says what M(j) is and why it is right, and has both in floats for many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Annotated

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.result import FROM_0_TO_1, Documented, exactly

if TYPE_CHECKING:  # the request of `disclosure` takes its threshold from here, and starts without templates
    from sqlaudit.classes.facts import Signatures


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
            raise UsageError(f"the curve was computed for k = 0 to {len(self.points) - 1}, k = {k} was asked for")
        return self.points[k]


def exact_threshold(threshold: Fraction | Decimal | int) -> Fraction:
    """The threshold as a fraction; a float is refused, because 0.7 as a float is not 7/10."""
    if isinstance(threshold, float):
        raise UsageError(f"the threshold {threshold} is a float; give it as a Decimal, a Fraction or an integer")
    if not 0 <= threshold <= 1:
        raise UsageError(f"the threshold is {threshold}, it must be from 0 to 1")
    return Fraction(threshold)


# The curve of a few signatures: importing numpy costs more than a small table's whole audit.
#
# It is the program of `program` without floats that steer it: of the same lists of lowest classes (`Candidates` says
# why these are enough), class after class either takes no part, holds antecedents, or holds the consequent. Sums of
# atoms and the two states are all that has to be remembered; this is the paper's Minimize2.

MOST_KNOWLEDGE = 6
"""Up to so many pieces of knowledge; each costs more than the one before."""
Least = list[Fraction | None]


def disclosure_points(signatures: Signatures, k: int) -> tuple[DisclosurePoint, ...]:
    """The disclosure for 0 … `k` pieces of knowledge.

    Raises
    ------
    UsageError
        If there is no class, or the signatures hold fewer than k + 1 counts.

    >>> from sqlaudit.classes.facts import Signatures
    >>> signatures = Signatures.from_classes([[2, 2, 1], [2, 1, 1, 1]], k=2)
    >>> [str(point.maximum) for point in disclosure_points(signatures, 2)]
    ['2/5', '2/3', '1']
    """
    rows = signatures.as_rows
    if rows is not None and 0 <= k <= min(MOST_KNOWLEDGE, signatures.k):
        return _points(rows, signatures.fewest_values(), k)
    from sqlaudit.models.disclosure.program import maximum_disclosure

    return maximum_disclosure(signatures, k).points


def _points(rows: tuple[tuple[int, ...], ...], fewest: int, k: int) -> tuple[DisclosurePoint, ...]:
    atoms = min(k + 1, fewest - 1)
    certain = [DisclosurePoint(level, Fraction(1), Fraction(1)) for level in range(atoms, k + 1)]
    if not atoms:
        return tuple(certain)
    ratios = _ratios(rows, atoms)
    shares = [
        max(Fraction(r1, n - sum(more[: level - 1])) for n, r1, *more, _ in rows) for level in range(1, atoms + 1)
    ]
    points = [DisclosurePoint(level, 1 / (1 + ratios[level + 1]), share) for level, share in enumerate(shares)]
    return (*points, *certain)


def _ratios(rows: tuple[tuple[int, ...], ...], atoms: int) -> dict[int, Fraction]:
    """The least ratio for 1 … `atoms` atoms."""
    products = [tuple(product.value for product in exact_products(row[0], row[1 : atoms + 1], atoms)) for row in rows]
    weights = [Fraction(row[0], row[1]) for row in rows]
    copies: dict[int, int] = {}
    own: set[int] = set()
    for j in range(1, atoms + 1):
        wanted = atoms + 1 - j
        values = [product[j] for product in products]
        own.update(_lowest(rows, [value * weight for value, weight in zip(values, weights, strict=True)], wanted))
        if j < atoms:
            for place in _lowest(rows, values, wanted):
                copies[place] = max(copies.get(place, 0), min(wanted, rows[place][-1]))
    without: Least = [Fraction(1), *[None] * atoms]
    holding: Least = [None] * (atoms + 1)
    for place in sorted(own.union(copies)):
        for _ in range(min(rows[place][-1], copies.get(place, 0) + (place in own))):
            taken, holds = products[place], [weights[place] * value for value in products[place]]
            holding = [
                _least(_splits(holding, taken, t, 0) + (_splits(without, holds, t, 1) if place in own else []))
                for t in range(atoms + 1)
            ]
            without = [_least(_splits(without, taken, t, 0)) for t in range(atoms + 1)]
    return {t: ratio for t, ratio in enumerate(holding) if ratio is not None}


def _lowest(rows: tuple[tuple[int, ...], ...], values: Sequence[Fraction], classes: int) -> list[int]:
    """The places of the signatures that hold the so many classes with the lowest value."""
    ordered = sorted(range(len(rows)), key=values.__getitem__)
    covered = accumulate((rows[place][-1] for place in ordered), initial=0)
    return [place for place, before in zip(ordered, covered, strict=False) if before < classes]


def _splits(others: Least, taken: Sequence[Fraction], t: int, fewest: int) -> list[Fraction]:
    """What t atoms reach when one class more takes some of them, at least `fewest`."""
    return [rest * taken[j] for j in range(fewest, t + 1) if (rest := others[t - j]) is not None]


def _least(found: list[Fraction]) -> Fraction | None:
    return min(found, default=None)
