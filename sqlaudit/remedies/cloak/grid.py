"""The grid that messages are cloaked in: levels of cells, each of which divides the cells of the level before."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from sqlaudit.base.errors import UsageError

MOST_HALVINGS = 10


class Divide(StrEnum):
    """What is divided first from one level to the next: a cell's sides (into four) or its interval (into two)."""

    ALTERNATELY = "alternately"
    SPACE_FIRST = "space-first"
    TIME_FIRST = "time-first"


@dataclass(frozen=True)
class Level:
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
) -> tuple[Level, ...]:
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
        Level(box / 2**s, interval / 2**t, in_space - s, in_time - t, 2**s) for s, t in _walk(in_space, in_time, divide)
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
        raise UsageError(f"--smallest-{option} is larger than --{option}, the largest that is allowed.")
