"""How far a share of the people inside can lie above that of the people outside, whatever the shares are."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, lgamma, log, log1p, sqrt

DOUBT = 0.05
"""How often an interval may miss, at most."""
_SLACK = 1e-6
"""The share of the doubt that rounding may take."""


def shares_apart(inside: int, rows: int, outside: int, others: int) -> tuple[float, float]:
    """The interval of p - q for two shares of independent people, of whom `inside` of `rows` and `outside` of `others`
    were counted: it holds p - q with 95% at least, whatever p and q are.

    Both shares lie in their intervals of Clopper and Pearson at 97.5% together with 95% at least.

    Example:
        >>> [round(end, 3) for end in shares_apart(80, 1000, 50, 1000)]
        [-0.006, 0.066]
    """
    (low, high), (least, most) = proven(inside, rows, DOUBT / 2), proven(outside, others, DOUBT / 2)
    return low - most, high - least


def means_apart(difference: float, rows: int, others: int) -> tuple[float, float]:
    """Return the bound for the means of numbers from 0 to 1, by Hoeffding's inequality, which assumes nothing else.

    Example:
        >>> [round(end, 3) for end in means_apart(0.1, 1000, 1000)]
        [0.039, 0.161]
    """
    reach = sqrt(log(2 / DOUBT) / 2 * (1 / rows + 1 / others))
    return max(-1.0, difference - reach), min(1.0, difference + reach)


def proven(found: int, rows: int, doubt: float) -> tuple[float, float]:
    """The interval of Clopper and Pearson (1934) for a share, of which `found` of `rows` were counted.

    Example:
        >>> [round(end, 4) for end in proven(0, 10, 0.05)], [round(end, 4) for end in proven(3, 10, 0.05)]
        ([0.0, 0.3085], [0.0667, 0.6525])
    """
    tail, rest = doubt * (1 - _SLACK) / 2, rows - found
    low = _crossed(lambda p: at_least(found, rows, p) > tail, found, rows)[0] if found else 0.0
    high = _crossed(lambda p: at_least(rest, rows, 1 - p) <= tail, found, rows)[1] if rest else 1.0
    return low, high


def _crossed(beyond: Callable[[float], bool], found: int, rows: int) -> tuple[float, float]:
    """Return where a condition that holds from some share on begins to hold: the shares just before and behind."""
    at = found / rows
    reach = 20 * sqrt(at * (1 - at) / rows) + 50 / rows
    low, high = max(0.0, at - reach), min(1.0, at + reach)
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if beyond(middle) else (middle, high)
    return low, high


def at_least(found: int, rows: int, share: float) -> float:
    """The chance that `found` or more of so many are drawn: the incomplete beta function, by its continued fraction.

    Example:
        >>> round(at_least(3, 10, 0.5), 4), at_least(1, 2, 0.0)  # 1 - (1 + 10 + 45) / 1024
        (0.9453, 0.0)
    """
    if found <= 0 or (share >= 1 and found <= rows):
        return 1.0
    if share <= 0 or found > rows:
        return 0.0
    a, b = float(found), float(rows - found + 1)
    scale = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(share) + b * log1p(-share))
    if share < (a + 1) / (a + b + 2):
        return scale * _fraction(a, b, share) / a
    return 1 - scale * _fraction(b, a, 1 - share) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Lentz's evaluation, until it stands still."""
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value, step = d, 0
    while True:
        step += 1
        for numerator in (
            step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step)),
            -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1)),
        ):
            d, c = 1 / (1 + numerator * d or 1e-300), 1 + numerator / c or 1e-300
            value *= (change := c * d)
        if abs(change - 1) < 1e-14:
            return value
