"""Cloaking by brute force: exact fractions, plain lists, every cell looked at by itself.

A message is a dictionary with user, x, y, t and what it asks for (k, box, interval, each None for nothing). A box is
(x_min, x_max, y_min, y_max, t_min, t_max) in exact numbers.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

Message = Mapping[str, Any]
Box = tuple[Fraction, ...]
Size = tuple[Fraction, Fraction]
"""Side and length of the cells of a level."""

PUBLISHED, MISSING, NO_PLACE, NO_TOLERANCE, TOO_FEW, GIVEN_UP = range(6)
FURTHEST = 10**12


def sizes(box: Fraction, interval: Fraction, order: str) -> list[Size]:
    """The levels of a grid whose largest cell is halved as `order` says: a letter a step, s in space, t in time."""
    found = [(box, interval)]
    for step in order:
        side, length = found[-1]
        found.append((side / 2, length) if step == "s" else (side, length / 2))
    return found


def cell(message: Message, size: Size) -> Box:
    """The cell of a size around a message."""
    bounds: list[Fraction] = []
    for value, width in zip((message["x"], message["y"], message["t"]), (size[0], size[0], size[1]), strict=True):
        bounds += _between(value, width)
    return tuple(bounds)


@functools.cache
def _between(value: Any, width: Fraction) -> tuple[Fraction, Fraction]:
    """Where a cell of this width begins and ends; messages are asked for theirs again and again."""
    low = math.floor(Fraction(value) / width) * width
    return low, low + width


def tolerates(message: Message, size: Size) -> bool:
    """Whether a message may be published in a cell of this size."""
    asked = (message["box"], message["interval"])
    return all(most is None or size[place] <= Fraction(most) for place, most in enumerate(asked))


def wanted(message: Message, k: int) -> int:
    """As many users as a message asks for: never fewer than everybody gets."""
    return max(k, message["k"] or 0)


def sharing(messages: Sequence[Message], size: Size, k: int) -> list[Message]:
    """The most messages that can share one cell as their box, so that each has the users that it asks for."""
    best: list[Message] = []
    able = [one for one in messages if tolerates(one, size)]
    for most in {wanted(one, k) for one in able}:
        chosen = [one for one in able if wanted(one, k) <= most]
        users = len({one["user"] for one in chosen})
        if all(users >= wanted(one, k) for one in chosen) and len(chosen) > len(best):
            best = chosen
    return best


def groups(messages: Sequence[Message], size: Size) -> list[list[Message]]:
    """Messages by their cell."""
    found: dict[Box, list[Message]] = {}
    for message in messages:
        found.setdefault(cell(message, size), []).append(message)
    return list(found.values())


Chosen = list[tuple[Message, int]]
"""Messages with the level of their box."""


def choose(messages: Sequence[Message], levels: Sequence[Size], k: int, suppress: Fraction, level: int = 0) -> Chosen:
    """The boxes of messages that lie in one cell: finer ones, unless too few are published there."""
    here = [(message, level) for message in sharing(messages, levels[level], k)]
    if level + 1 == len(levels):
        return here
    parts = [choose(part, levels, k, suppress, level + 1) for part in groups(messages, levels[level + 1])]
    finer = list(itertools.chain(*parts))
    return finer if len(finer) >= (1 - suppress) * len(here) else here


def every_choice(messages: Sequence[Message], levels: Sequence[Size], k: int, level: int = 0) -> Iterator[Chosen]:
    """Every way to cover messages in one cell with boxes that do not overlap."""
    yield [(message, level) for message in sharing(messages, levels[level], k)]
    if level + 1 < len(levels):
        parts = [list(every_choice(part, levels, k, level + 1)) for part in groups(messages, levels[level + 1])]
        for chosen in itertools.product(*parts):
            yield list(itertools.chain(*chosen))


def can_be_placed(message: Message) -> bool:
    """Whether the place and the time are finite, and not too far away."""
    return all(math.isfinite(message[name]) and abs(message[name]) <= FURTHEST for name in "xyt")


def cloaked(
    messages: Sequence[Message], levels: Sequence[Size], k: int, suppress: Fraction
) -> list[tuple[int, int | None, Box | None]]:
    """(outcome, level, box) of every message, in order."""
    chosen: dict[int, int] = {}
    usable = []
    for message in messages:
        if all(message[name] is not None for name in ("user", "x", "y", "t")) and can_be_placed(message):
            usable.append(message)
    able = [message for message in usable if any(tolerates(message, size) for size in levels)]
    for part in groups(able, levels[0]):
        chosen |= {id(message): level for message, level in choose(part, levels, k, suppress)}
    found: list[tuple[int, int | None, Box | None]] = []
    for message in messages:
        if id(message) in chosen:
            level = chosen[id(message)]
            found.append((PUBLISHED, level, cell(message, levels[level])))
        else:
            found.append((_why_not(message, usable, levels, k), None, None))
    return found


def _why_not(message: Message, usable: Sequence[Message], levels: Sequence[Size], k: int) -> int:
    if any(message[name] is None for name in ("user", "x", "y", "t")):
        return MISSING
    if not can_be_placed(message):
        return NO_PLACE
    if not any(tolerates(message, size) for size in levels):
        return NO_TOLERANCE
    for size in levels:
        together = [other for other in usable if cell(other, size) == cell(message, size)]
        if any(message is other for other in sharing(together, size, k)):
            return GIVEN_UP
    return TOO_FEW


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes have a place and time in common."""
    return all(one[i] < other[i + 1] and other[i] < one[i + 1] for i in (0, 2, 4))


def holds(box: Sequence[Any], x: Any, y: Any, t: Any) -> bool:
    """Whether a box holds a place and time: it begins at its lower bounds and ends before its upper ones."""
    pairs = ((box[0], x, box[1]), (box[2], y, box[3]), (box[4], t, box[5]))
    return all(low <= value < high or low == value == high for low, value, high in pairs)
