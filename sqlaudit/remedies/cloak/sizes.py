"""Lengths and durations as people write them, read exactly."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from sqlaudit.base.errors import UsageError
from sqlaudit.base.numbers import Share, exact_number

GRAIN = Fraction(1, 8)
"""Sizes are multiples of this: halved ten times they still are binary fractions, which floats hold exactly."""
LARGEST = 2**31
"""The largest size, in metres or seconds."""

_METRES = {"": Fraction(1), "m": Fraction(1), "km": Fraction(1000)}
_SECONDS = {
    "": Fraction(1),
    "s": Fraction(1),
    "sec": Fraction(1),
    "min": Fraction(60),
    "h": Fraction(3600),
    "d": Fraction(86400),
}
_WRITTEN = re.compile(r"([0-9./]+)\s*([a-z]*)", re.IGNORECASE)


def metres(text: Share, option: str = "--box") -> Fraction:
    """A length in metres, from a number (metres) or a text such as `500m` or `1.5km`.

    Raises:
        UsageError: it is no length, not above 0, or no multiple of an eighth of a metre.

    Example:
        >>> metres("1.5km"), metres(250)
        (Fraction(1500, 1), Fraction(250, 1))
    """
    return _size(text, option, _METRES, "a length, for instance 500m or 1km", "metre")


def seconds(text: Share, option: str = "--interval") -> Fraction:
    """A duration in seconds, from a number (seconds) or a text such as `30s`, `10min`, `1h` or `2d`.

    Raises:
        UsageError: it is no duration, not above 0, or no multiple of an eighth of a second.

    Example:
        >>> seconds("10min"), seconds("0.5h")
        (Fraction(600, 1), Fraction(1800, 1))
    """
    return _size(text, option, _SECONDS, "a duration, for instance 30s, 10min or 1h", "second")


def _size(text: Share, option: str, units: Mapping[str, Fraction], what: str, unit: str) -> Fraction:
    size = _number(text, units)
    if size is None:
        raise UsageError(f"{option} takes {what}; {str(text)[:40]!r} is none.")
    if not 0 < size <= LARGEST:
        raise UsageError(f"{option} is above 0 and at most {LARGEST:,} {unit}s; it is {str(text)[:40]!r}.")
    if size % GRAIN:
        raise UsageError(f"{option} is a multiple of an eighth of a {unit}, so that its halves are exact numbers.")
    return size


def _number(text: Share, units: Mapping[str, Fraction]) -> Fraction | None:
    try:
        if not isinstance(text, str):
            return exact_number(text)
        found = _WRITTEN.fullmatch(text.strip())
        return exact_number(found[1]) * units[found[2].lower()] if found else None
    except (UsageError, KeyError):
        return None
