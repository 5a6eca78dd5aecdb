"""The same curve for a few signatures, in fractions alone: importing numpy costs more than a small table's whole audit.

It is the program of `program` without floats that steer it: of the same lists of lowest classes (`candidates` says why
these are enough), class after class either takes no part, holds antecedents, or holds the consequent. Sums of atoms
and the two states are all that has to be remembered; this is the paper's Minimize2.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

from sqlaudit.classes.facts import Signatures
from sqlaudit.models.disclosure.exact import DisclosurePoint, exact_products

MOST_KNOWLEDGE = 6
"""Up to so many pieces of knowledge; each costs more than the one before."""
Least = list[Fraction | None]


def disclosure_points(signatures: Signatures, k: int) -> tuple[DisclosurePoint, ...]:
    """The disclosure for 0 … `k` pieces of knowledge.

    Raises
    ------
    UsageError
        If there is no class, or the signatures hold fewer than k + 1 counts.

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
    """Return the maximum disclosure for up to k pieces of knowledge, for classes with few values."""
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
    """Return what t atoms reach when one class more takes some of them, at least `fewest`."""
    return [rest * taken[j] for j in range(fewest, t + 1) if (rest := others[t - j]) is not None]


def _least(found: list[Fraction]) -> Fraction | None:
    return min(found, default=None)
