"""The grid that messages are cloaked in: levels of cells, each of which divides the cells of the level before.

Lengths and durations as people write them, read exactly.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from sqlaudit.base.errors import UsageError
from sqlaudit.base.numbers import Share, exact_number
from sqlaudit.base.words import spelled

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


def metres(text: Share, field: str = "box") -> Fraction:
    """A length in metres, from a number (metres) or a text such as `500m` or `1.5km`.

    Raises:
        UsageError: it is no length, not above 0, or no multiple of an eighth of a metre.

    Example:
        >>> metres("1.5km"), metres(250)
        (Fraction(1500, 1), Fraction(250, 1))
    """
    return _size(text, field, _METRES, "a length, for instance 500m or 1km", "metre")


def seconds(text: Share, field: str = "interval") -> Fraction:
    """A duration in seconds, from a number (seconds) or a text such as `30s`, `10min`, `1h` or `2d`.

    Raises:
        UsageError: it is no duration, not above 0, or no multiple of an eighth of a second.

    Example:
        >>> seconds("10min"), seconds("0.5h")
        (Fraction(600, 1), Fraction(1800, 1))
    """
    return _size(text, field, _SECONDS, "a duration, for instance 30s, 10min or 1h", "second")


def _size(text: Share, field: str, units: Mapping[str, Fraction], what: str, unit: str) -> Fraction:
    size = _number(text, units)
    if size is None:
        raise UsageError(f"{spelled(field)} takes {what}, not {str(text)[:40]!r}.")
    if not 0 < size <= LARGEST:
        raise UsageError(f"{spelled(field)} is above 0 and at most {LARGEST:,} {unit}s; it is {str(text)[:40]!r}.")
    if size % GRAIN:
        raise UsageError(
            f"{spelled(field)} is a multiple of an eighth of a {unit}, so that its halves are exact numbers."
        )
    return size


def _number(text: Share, units: Mapping[str, Fraction]) -> Fraction | None:
    try:
        if not isinstance(text, str):
            return exact_number(text)
        found = _WRITTEN.fullmatch(text.strip())
        return exact_number(found[1]) * units[found[2].lower()] if found else None
    except (UsageError, KeyError):
        return None


MOST_HALVINGS = 10


class Divide(StrEnum):
    """What is divided first from one level to the next: a cell's sides (into four) or its interval (into two)."""

    ALTERNATELY = "alternately"
    SPACE_FIRST = "space-first"
    TIME_FIRST = "time-first"


@dataclass(frozen=True)
class GridLevel:
    """One level of the grid.

    Args:
        side: the width and height of its cells, in metres. seconds: their length in time.
        space, time: how many binary digits of a place at the finest level a cell of this one leaves out.
        divisions: into how many parts the side of the largest cell is divided.
    """

    side: Fraction
    seconds: Fraction
    space: int
    time: int
    divisions: int


def grid(
    box: Fraction,
    interval: Fraction,
    smallest_box: Fraction,
    smallest_interval: Fraction,
    divide: Divide,
    whole_microseconds: bool,
) -> tuple[GridLevel, ...]:
    """The levels, from the largest cell to the smallest.

    Args:
        box, interval: the largest cell, in metres and seconds. smallest_box, smallest_interval: no cell is smaller.
        divide: what is divided first. whole_microseconds: whether intervals are whole numbers of microseconds.

    Example:
        >>> levels = grid(Fraction(1000), Fraction(600), Fraction(500), Fraction(200), Divide.ALTERNATELY, True)
        >>> [(int(level.side), int(level.seconds)) for level in levels]
        [(1000, 600), (500, 600), (500, 300)]
    """
    in_space = _halvings(box, smallest_box)
    in_time = _halvings(interval, smallest_interval)
    if whole_microseconds:
        in_time = min(in_time, _twos(interval * 1_000_000))
    return tuple(
        GridLevel(box / 2**s, interval / 2**t, in_space - s, in_time - t, 2**s)
        for s, t in _walk(in_space, in_time, divide)
    )


def _halvings(largest: Fraction, smallest: Fraction) -> int:
    return next((n for n in range(MOST_HALVINGS) if largest / 2 ** (n + 1) < smallest), MOST_HALVINGS)


def _twos(number: Fraction) -> int:
    """How often a whole number can be halved."""
    whole = int(number)
    return (whole & -whole).bit_length() - 1


def _walk(space: int, time: int, divide: Divide) -> list[tuple[int, int]]:
    """(halvings in space, halvings in time) of each level."""
    steps = ["space"] * space + ["time"] * time
    if divide is Divide.TIME_FIRST:
        steps = ["time"] * time + ["space"] * space
    elif divide is Divide.ALTERNATELY:
        both = min(space, time)
        steps = ["space", "time"] * both + ["space"] * (space - both) + ["time"] * (time - both)
    done = [(0, 0)]
    for step in steps:
        s, t = done[-1]
        done.append((s + 1, t) if step == "space" else (s, t + 1))
    return done


def check_smallest(largest: Fraction, smallest: Fraction, option: str) -> None:
    """Nothing when the smallest size is not above the largest.

    Raises:
        UsageError: it is.
    """
    if smallest > largest:
        raise UsageError(
            f"{spelled(f'smallest_{option}')} is larger than {spelled(option)}, the largest that is allowed."
        )
