"""Differences of the logarithm of the gamma function and of its derivatives, which stay exact where values cancel.

Every function takes positive arguments.
"""

from __future__ import annotations

from math import log, log1p

_LARGE = 24.0
"""From here on the asymptotic series are exact to the last digit of a float."""
_LOG_GAMMA = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
_DIGAMMA = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760)
_TRIGAMMA = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730)


def log_gamma_difference(upper: float, lower: float) -> float:
    """ln Γ(upper) - ln Γ(lower).

    Example:
        >>> round(log_gamma_difference(6.0, 4.0), 12)  # 5!/3! = 20
        2.995732273554
    """
    low, shifted = min(upper, lower), 0.0
    while low < _LARGE:
        shifted -= log1p((upper - lower) / lower)
        upper, lower, low = upper + 1, lower + 1, low + 1
    gap = upper - lower
    stirling = (lower - 0.5) * log1p(gap / lower) + gap * log(upper) - gap
    return shifted + stirling + _tail(_LOG_GAMMA, upper, 1) - _tail(_LOG_GAMMA, lower, 1)


def digamma_difference(start: float, steps: float) -> float:
    """ψ(start + steps) - ψ(start): the sum of 1/(start + i) for i below `steps`.

    Example:
        >>> digamma_difference(1.0, 3) == 1 + 1 / 2 + 1 / 3
        True
    """
    total, end = 0.0, start + steps
    while start < _LARGE and start + 1 <= end:
        total += 1 / start
        start += 1
    if start == end:
        return total
    while start < _LARGE:
        total += 1 / start - 1 / end
        start, end = start + 1, end + 1
    gap = end - start
    smooth = log1p(gap / start) + gap / (2 * start * end)
    return total + smooth + _tail(_DIGAMMA, end, 2) - _tail(_DIGAMMA, start, 2)


def trigamma_difference(start: float, steps: float) -> float:
    """ψ'(start) - ψ'(start + steps): the sum of 1/(start + i)² for i below `steps`.

    Example:
        >>> trigamma_difference(1.0, 3) == 1 + 1 / 4 + 1 / 9
        True
    """
    total, end = 0.0, start + steps
    while start < _LARGE and start + 1 <= end:
        total += 1 / start**2
        start += 1
    if start == end:
        return total
    while start < _LARGE:
        total += 1 / start**2 - 1 / end**2
        start, end = start + 1, end + 1
    gap = end - start
    smooth = gap / (start * end) + gap * (start + end) / (2 * (start * end) ** 2)
    return total + smooth + _tail(_TRIGAMMA, start, 3) - _tail(_TRIGAMMA, end, 3)


def _tail(coefficients: tuple[float, ...], at: float, power: int) -> float:
    """Σ c_i at^-(power + 2i)."""
    square, total = 1 / at**2, 0.0
    for one in reversed(coefficients):
        total = total * square + one
    return float(total / at**power)
