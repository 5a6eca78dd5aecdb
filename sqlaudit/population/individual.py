"""Individual risk of Benedetti and Franconi: the mean of 1/F, given a class's members in the sample and its people."""

from __future__ import annotations

from math import log, log1p

_EXACT_TO = 12
_ENOUGH = 1e-17


def individual_risk(members: int, share: float) -> float:
    """E[1/F], where F of the population is negative binomial with f members in the sample, each there with a chance p.

    r(1) = p/q ln(1/p) with q = 1 - p, and r(f+1) = p/q (1/f - r(f)): r(2) = p/q (1 - r(1)), r(3) = p/q (1/2 - r(2)).
    Where p > 1/2, which would lose digits, and for large classes: p/f Σ q^j j!/((f+1)…(f+j)).

    Args:
        members: f, at least 1. share: p, above 0; from 1 on the class is whole, and the risk is 1/f.

    Example:
        >>> round(individual_risk(1, 1 / 17), 6), round(individual_risk(2, 2 / 110), 6)
        (0.177076, 0.017144)
    """
    if share >= 1:
        return 1 / members
    rest = 1 - share
    if members > _EXACT_TO or share > 0.5:
        return share / members * _series(members, rest)
    odds = share / rest
    risk = odds * (-log(share) if share < 0.5 else -log1p(-rest))
    for size in range(1, members):
        risk = odds * (1 / size - risk)
    return risk


def _series(members: int, rest: float) -> float:
    """Σ q^j j!/((f+1)…(f+j)) over j from 0."""
    total, term, place = 0.0, 1.0, 0
    while term > _ENOUGH * total:
        total += term
        place += 1
        term *= rest * place / (members + place)
    return total
