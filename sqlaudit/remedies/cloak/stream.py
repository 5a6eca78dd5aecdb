"""Messages cloaked as they come: temporal cloaking with a tolerated delay (Barriers, section 4.3; Gedik and Liu 2008).

A broker holds each message back until enough users have sent one from the same cell of a fixed grid. A message that
comes at time t with a tolerated delay d waits until t + d, and no longer. As soon as the messages that wait in a cell
come from k different users they all leave at once, with one box: the cell in space, and in time the whole multiples of
a step around the first and the last of them. What has waited too long is dropped and never leaves, so that nothing ever
leaves with fewer than k users. What comes later waits for a box of its own.

This cannot be asked of a database: which messages still wait depends, message by message, on all boxes before, and the
messages are not in a table yet. What is held here is what waits: nothing older than the longest delay, and no more than
the messages of that time.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sqlaudit.base.errors import UsageError

Cell = tuple[int, int]
_FURTHEST = 10**12


@dataclass(frozen=True)
class SentBox:
    """Messages that leave together.

    Args:
        x_min, x_max, y_min, y_max, t_min, t_max: their box; it begins at its lower bounds and ends before its upper.
        messages: what was given with each of them, in the order of coming; users are not among it.
        users: how many different ones sent them. waited: the longest time that one of them was held back.
    """

    x_min: Fraction
    x_max: Fraction
    y_min: Fraction
    y_max: Fraction
    t_min: Fraction
    t_max: Fraction
    messages: tuple[Any, ...]
    users: int
    waited: Fraction


@dataclass
class _Waiting:
    """A message that is held back."""

    user: Hashable
    time: Fraction
    until: Fraction
    message: Any


@dataclass
class CloakStream:
    """A broker that cloaks messages in the order of their time.

    Args:
        k: as many different users at least in every box. box: the side of a cell, in the unit of x and y.
        delay: how long a message may be held back, unless it says so itself. step: bounds of boxes in time are whole
            multiples of it.

    Attributes:
        published, dropped: messages that left, and that waited too long. boxes: that they left in.

    Raises:
        UsageError: k below 1, or a length that is not above 0.

    Example:
        >>> stream = CloakStream(k=2, box=100, delay=60, step=10)
        >>> stream.send("ann", 10, 20, 3, "where is a bakery?")
        >>> stream.send("ann", 12, 20, 8, "and a cinema?")
        >>> left = stream.send("bob", 90, 5, 41, "rain today?")
        >>> left.messages, left.users, [int(one) for one in (left.x_min, left.x_max, left.t_min, left.t_max)]
        (('where is a bakery?', 'and a cinema?', 'rain today?'), 2, [0, 100, 0, 50])
        >>> stream.send("cid", 10, 20, 50, "a doctor?", delay=5)
        >>> stream.send("ann", 10, 20, 56, "a bus?"), stream.published, stream.dropped, stream.waiting
        (None, 3, 1, 1)
    """

    k: int
    box: int | float | Fraction
    delay: int | float | Fraction
    step: int | float | Fraction
    published: int = 0
    dropped: int = 0
    boxes: int = 0
    _cells: dict[Cell, list[_Waiting]] = field(default_factory=dict, repr=False)
    _ends: list[tuple[Fraction, int, Cell, _Waiting]] = field(default_factory=list, repr=False)
    _now: Fraction | None = field(default=None, repr=False)
    _number: int = field(default=0, repr=False)

    def __post_init__(self) -> None:
        if self.k < 1:
            raise UsageError(f"k must be a number of users of at least 1, not {self.k}.")
        for name in ("box", "step", "delay"):
            length = getattr(self, name)
            if not math.isfinite(length) or length < 0 or (name != "delay" and not length):
                raise UsageError(f"{name} is a length above 0; a delay may be 0, too.")

    @property
    def waiting(self) -> int:
        """Messages that are held back now."""
        return sum(map(len, self._cells.values()))

    def send(
        self,
        user: Hashable,
        x: int | float | Fraction,
        y: int | float | Fraction,
        time: int | float | Fraction,
        message: Any = None,
        *,
        delay: int | float | Fraction | None = None,
    ) -> SentBox | None:
        """Take in the next message.

        Args:
            user: who sent it. x, y, time: where and when. message: what leaves with its box.
            delay: how long it may be held back; None = as all others.

        Returns:
            The box that leaves now, this message in it; None while it waits.

        Raises:
            UsageError: no user, a place or time that is not a number, a negative delay, or a time before the last one;
                the message is not taken in.
        """
        place = _checked(user, x, y, time)
        longest = self.delay if delay is None else delay
        if not math.isfinite(longest) or longest < 0:
            raise UsageError("A delay must be a number of at least 0.")
        now = place[2]
        if self._now is not None and now < self._now:
            raise UsageError("Messages must be in the order of their time; this one is earlier than the last.")
        self._now = now
        self._expire(now)
        cell = (math.floor(place[0] / Fraction(self.box)), math.floor(place[1] / Fraction(self.box)))
        waiting = self._cells.setdefault(cell, [])
        one = _Waiting(user, now, now + Fraction(longest), message)
        waiting.append(one)
        if len({other.user for other in waiting}) < self.k:
            self._number += 1
            heapq.heappush(self._ends, (one.until, self._number, cell, one))
            return None
        return self._leave(cell, self._cells.pop(cell))

    def pass_to(self, time: int | float | Fraction) -> int:
        """Let time pass without a message; how many were dropped because they waited too long.

        Raises:
            UsageError: a time before the last one.
        """
        now = Fraction(time)
        if self._now is not None and now < self._now:
            raise UsageError("The time must not be earlier than the last.")
        before, self._now = self.dropped, now
        self._expire(now)
        return self.dropped - before

    def close(self) -> int:
        """Nothing comes any more: drop what waits; how many that were."""
        left = self.waiting
        self.dropped += left
        self._cells.clear()
        self._ends.clear()
        return left

    def _expire(self, now: Fraction) -> None:
        """Drop what could wait until before now only."""
        while self._ends and self._ends[0][0] < now:
            _, _, cell, one = heapq.heappop(self._ends)
            waiting = self._cells.get(cell, [])
            kept = [other for other in waiting if other is not one]
            self.dropped += len(waiting) - len(kept)
            if kept:
                self._cells[cell] = kept
            else:
                self._cells.pop(cell, None)

    def _leave(self, cell: Cell, together: Sequence[_Waiting]) -> SentBox:
        side, step, (column, row) = Fraction(self.box), Fraction(self.step), cell
        first, last = together[0].time, together[-1].time
        self.published += len(together)
        self.boxes += 1
        return SentBox(
            column * side,
            (column + 1) * side,
            row * side,
            (row + 1) * side,
            math.floor(first / step) * step,
            (math.floor(last / step) + 1) * step,
            tuple(one.message for one in together),
            len({one.user for one in together}),
            last - first,
        )


def _checked(user: Hashable, *place: int | float | Fraction) -> list[Fraction]:
    """The place and time as exact numbers."""
    if user is None:
        raise UsageError("The message has no user.")
    if not all(-_FURTHEST <= number <= _FURTHEST for number in place):  # not of NaN
        raise UsageError("Place and time must be numbers of at most 10^12.")
    return [Fraction(number) for number in place]
