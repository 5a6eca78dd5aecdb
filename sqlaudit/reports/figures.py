"""Numbers for people: grouped, short, and never rounded into a different verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Context, Decimal
from fractions import Fraction

from sqlaudit.base.result import Number

UNDEFINED = "undefined"
INFINITE = "∞"
_DIGITS = 4
_MOST_DIGITS = 17
_SMALLEST = -7
_DECIMAL = Context(prec=40)
_TIE = 1e-12
"""Floats of the auditor agree to this relative error, so nearer than this is a tie that only the verdict decides."""


def count(number: int) -> str:
    """A count with thousands separators: `1,234`."""
    return f"{number:,}"


def plural(number: int, one: str, many: str = "") -> str:
    """A count with its noun: `1 row`, `1,234 rows`, `2 classes`."""
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def listing(names: Iterable[str], most: int | None = 6) -> str:
    """Names as a sentence has them; past `most` the rest is counted, and None lists all.

    Example:
        >>> listing(["age"]), listing(["age", "sex", "zip"]), listing("abcd", 3)
        ('age', 'age, sex and zip', 'a, b and 2 more')
    """
    known = list(names)
    if most is not None and len(known) > most:
        return ", ".join(known[: most - 1]) + f" and {count(len(known) - most + 1)} more"
    return " and ".join([", ".join(known[:-1]), known[-1]]) if len(known) > 1 else "".join(known)


def percent(share: Number | None) -> str:
    """A share as a percentage; only nothing prints as 0% and only everything as 100%.

    Some losses are below nothing, or above what complete suppression loses.

    Example:
        >>> percent(0.0419), percent(0.00001), percent(1), percent(-2), percent(2.5)
        ('4.2%', 'under 0.1%', '100%', '−200%', '250%')
    """
    if share is None:
        return UNDEFINED
    if share in (0, 1):
        return "100%" if share else "0%"
    if share < 0:
        return f"−{percent(-share)}" if share <= -0.001 else "just below 0%"
    if share > 1:
        return f"{figure(float(share) * 100)}%" if share >= 1.001 else "just over 100%"
    if share < 0.001:
        return "under 0.1%"
    return "over 99.9%" if share > 0.999 else f"{float(share) * 100:.1f}%"


def part(rows: int, whole: int) -> str:
    """A part of a whole as a percentage, empty when there is no whole."""
    return percent(Fraction(rows, whole)) if whole else ""


def figure(value: Number | None, digits: int = _DIGITS) -> str:
    """A figure with `digits` significant digits; a number that is not whole never looks whole.

    Example:
        >>> figure(2.82842712), figure(12345), figure(0.0031), figure(1.99996)
        ('2.828', '12,345', '0.0031', '1.99996')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return UNDEFINED
    if isinstance(value, float) and math.isinf(value):
        return INFINITE if value > 0 else "−" + INFINITE
    exact = _exact(value)
    if exact == exact.to_integral_value():
        return f"{int(exact):,}"
    for precision in range(digits, _MOST_DIGITS + 1):
        text = _rounded(exact, precision)
        if not _looks_whole(text):
            return text
    return text


def limit(value: Number | None) -> str:
    """A limit exactly as required: decimals in full, other fractions as a/b.

    Example:
        >>> limit(Fraction(1, 5)), limit(Fraction(1, 3)), limit(5)
        ('0.2', '1/3', '5')
    """
    if not isinstance(value, Fraction) or value.denominator == 1:
        return figure(value)
    power = _decimals(value.denominator)
    if power is None:
        return f"{value.numerator}/{value.denominator}"
    shown = Decimal(value.numerator) * Decimal(10**power // value.denominator)
    return f"{shown.scaleb(-power).normalize():f}"


def level_against(level: Number | None, required: Number | None, operator: str = "", holds: bool | None = None) -> str:
    """A level with as many digits as it takes to see on which side of the limit it lies.

    Args:
        level: the level achieved. required: its limit, None when nothing was required.
        operator: `>=`, `<=`, `<` or `>`. holds: the exact verdict, which decides when level and limit are closer
            than floats can tell.

    Example:
        >>> level_against(0.2004, Fraction(1, 5)), level_against(0.200000004, Fraction(1, 5))
        ('0.2004', '0.200000004')
    """
    if level is None or required is None or (isinstance(level, float) and not math.isfinite(level)):
        return figure(level)
    side = _side(level, required, operator, holds)
    for digits in range(_DIGITS, _MOST_DIGITS + 1):
        text = figure(level, digits)
        if _sign(_value(text) - Fraction(required)) == side:
            return text
    return {-1: "just under ", 0: "", 1: "just over "}[side] + limit(required)


def _side(level: Number, required: Number, operator: str, holds: bool | None) -> int:
    """-1, 0 or 1: level below, at, or above the limit; a near tie of floats follows the exact verdict."""
    exact, bound = Fraction(level), Fraction(required)
    if not isinstance(level, float) or abs(exact - bound) > _TIE * max(abs(bound), Fraction(1, 10**6)):
        return _sign(exact - bound)
    holding = {">=": 0, "<=": 0, ">": 1, "<": -1}.get(operator, 0)
    failing = {">=": -1, "<=": 1}.get(operator, 0)
    return holding if holds is None or holds else failing


def _exact(value: Number) -> Decimal:
    """The value as a decimal: floats as they print, and whole when they are whole within their error."""
    if isinstance(value, Fraction):
        return _DECIMAL.divide(Decimal(value.numerator), Decimal(value.denominator))
    if isinstance(value, float) and abs(value - round(value)) <= _TIE * abs(value):
        return Decimal(round(value))
    return Decimal(repr(float(value))) if isinstance(value, float) else Decimal(int(value))


def _rounded(value: Decimal, digits: int) -> str:
    exponent = value.adjusted()
    if exponent < _SMALLEST:
        return f"{value:.{digits - 1}e}"
    text = f"{round(value, max(1, digits - 1 - exponent)):,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _looks_whole(text: str) -> bool:
    return "." not in text and "e" not in text


def _value(text: str) -> Fraction:
    return Fraction(text.replace(",", ""))


def _sign(number: Number) -> int:
    return (number > 0) - (number < 0)


def _decimals(denominator: int) -> int | None:
    """How many decimals a fraction with this denominator has, None when it never ends."""
    rest, twos, fives = denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives) if rest == 1 else None
