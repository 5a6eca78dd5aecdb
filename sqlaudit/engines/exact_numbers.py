"""Decimals of Python beside the numbers that databases keep exactly: up to 38 digits on both sides of the point."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Context, Decimal

DIGITS = 38


def fit(values: Iterable[Decimal]) -> bool:
    """Whether one decimal type of a database holds all the values exactly.

    Example:
        >>> fit([Decimal("1e30"), Decimal("0.5")]), fit([Decimal("1e30"), Decimal("1e-30")]), fit([Decimal("Infinity")])
        (True, False, False)
    """
    whole = scale = 0
    for value in values:
        _, digits, power = value.as_tuple()
        if not isinstance(power, int):
            return False
        whole, scale = max(whole, len(digits) + power), max(scale, -power)
    return whole + scale <= DIGITS


def plain(value: Decimal) -> str:
    """A text that equal decimals share: without zeros at the end.

    Example:
        >>> plain(Decimal("1.50")), plain(Decimal("-0.0")), plain(Decimal("1" + "0" * 40))
        ('1.5', '0', '1E+40')
    """
    if not value:
        return "0"
    return str(Context(prec=max(1, len(value.as_tuple().digits))).normalize(value))
