"""Cloak messages as they arrive: temporal cloaking with a tolerated delay (Barriers, section 4.3; Gedik and Liu 2008).

A broker holds each message back until enough users have sent one from the same cell of a fixed grid. A message that
arrives at time t with a tolerated delay d waits until t + d, and no longer. As soon as the waiting messages of a cell
come from k different users, they all leave at once with one box: the cell in space, and in time the whole multiples of
a step around the first and the last of them. A message that has waited too long is dropped, so that no message leaves
with fewer than k users. Later messages wait for a box of their own.

A database cannot do this: which messages still wait depends, message by message, on all boxes before, and the messages
are not in a table yet. Only waiting messages are in memory: none older than the longest delay.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sqlaudit.base.errors import OutOfRange, UsageError

Cell = tuple[int, int]
_LARGEST_NUMBER = 10**12


@dataclass(frozen=True)
class SentBox:
    """Messages that leave together.

    Args:
        x_min, x_max, y_min, y_max, t_min, t_max: their box, which includes its lower bounds but not its upper ones.
        messages: the `message` of each, in the order of arrival, without users.
        users: the number of different users.
        waited: the longest delay of a message, in seconds.
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
class _WaitingMessage:
    """A message that is held back."""

    user: Hashable
    time: Fraction
    until: Fraction
    message: object


@dataclass
class CloakStream:
    """A broker that cloaks messages in the order of their time.

    Args:
        k: the minimum number of different users in every box.
        box: the side of a cell, in the unit of x and y.
        delay: the longest delay of a message that has none of its own.
        step: bounds of boxes in time are whole multiples of it.

    Attributes:
        published: the number of messages that left.
        dropped: the number of messages that waited too long.
        boxes: the number of boxes in which messages left.

    Raises:
        UsageError: k is below 1, or a length is not above 0.

    Example:
        >>> stream = CloakStream(k=2, box=100, delay=60, step=10)
        >>> stream.send("ann", 10, 20, 3, "where is a bakery?")
        >>> stream.send("ann", 12, 20, 8, "and a cinema?")
        >>> sent = stream.send("bob", 90, 5, 41, "rain today?")
        >>> sent.messages, sent.users, [int(bound) for bound in (sent.x_min, sent.x_max, sent.t_min, sent.t_max)]
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
    _cells: dict[Cell, list[_WaitingMessage]] = field(default_factory=dict, repr=False)
    _ends: list[tuple[Fraction, int, Cell, _WaitingMessage]] = field(default_factory=list, repr=False)
    _now: Fraction | None = field(default=None, repr=False)
    _number: int = field(default=0, repr=False)

    def __post_init__(self) -> None:
        if self.k < 1:
            raise OutOfRange(f"k must be a number of users of at least 1, not {self.k}.")
        for name in ("box", "step", "delay"):
            length = getattr(self, name)
            if not math.isfinite(length) or length < 0 or (name != "delay" and not length):
                raise OutOfRange(f"{name} is a length above 0; a delay may be 0, too.")

    @property
    def waiting(self) -> int:
        """Return the number of messages that are held back now."""
        return sum(map(len, self._cells.values()))

    def send(
        self,
        user: Hashable,
        x: int | float | Fraction,
        y: int | float | Fraction,
        time: int | float | Fraction,
        message: object = None,
        *,
        delay: int | float | Fraction | None = None,
    ) -> SentBox | None:
        """Accept the next message.

        Args:
            user: the sender.
            x, y, time: place and time.
            message: the content that leaves with the box.
            delay: the longest delay of this message; None = the stream's.

        Returns:
            The box that leaves now, with this message in it; None while it waits.

        Raises:
            UsageError: there is no user, a place or time is not a number, the delay is negative, or the time is before
                the last one. Then the message is not accepted.
        """
        point = _exact_point(user, x, y, time)
        longest_delay = self.delay if delay is None else delay
        if not math.isfinite(longest_delay) or longest_delay < 0:
            raise OutOfRange("A delay must be a number of at least 0.")
        now = point[2]
        if self._now is not None and now < self._now:
            raise UsageError("Messages must be in the order of their time; this one is earlier than the last.")
        self._now = now
        self._expire(now)
        cell = (math.floor(point[0] / Fraction(self.box)), math.floor(point[1] / Fraction(self.box)))
        waiting = self._cells.setdefault(cell, [])
        held_back = _WaitingMessage(user, now, now + Fraction(longest_delay), message)
        waiting.append(held_back)
        if len({waiting_message.user for waiting_message in waiting}) < self.k:
            self._number += 1
            heapq.heappush(self._ends, (held_back.until, self._number, cell, held_back))
            return None
        return self._leave(cell, self._cells.pop(cell))

    def pass_to(self, time: int | float | Fraction) -> int:
        """Advance the clock without a message. Return the number of messages dropped for exceeding the delay.

        Raises:
            UsageError: the time is before the last one.
        """
        now = Fraction(time)
        if self._now is not None and now < self._now:
            raise UsageError("The time must not be earlier than the last.")
        before, self._now = self.dropped, now
        self._expire(now)
        return self.dropped - before

    def close(self) -> int:
        """End the stream: drop the waiting messages. Return their number."""
        dropped = self.waiting
        self.dropped += dropped
        self._cells.clear()
        self._ends.clear()
        return dropped

    def _expire(self, now: Fraction) -> None:
        """Drop the messages whose delay ended before now."""
        while self._ends and self._ends[0][0] < now:
            _, _, cell, expired = heapq.heappop(self._ends)
            waiting = self._cells.get(cell, [])
            remaining = [message for message in waiting if message is not expired]
            self.dropped += len(waiting) - len(remaining)
            if remaining:
                self._cells[cell] = remaining
            else:
                self._cells.pop(cell, None)

    def _leave(self, cell: Cell, messages: Sequence[_WaitingMessage]) -> SentBox:
        """Return the box of messages that leave together, and count them."""
        side, step, (column, row) = Fraction(self.box), Fraction(self.step), cell
        first, last = messages[0].time, messages[-1].time
        self.published += len(messages)
        self.boxes += 1
        return SentBox(
            column * side,
            (column + 1) * side,
            row * side,
            (row + 1) * side,
            math.floor(first / step) * step,
            (math.floor(last / step) + 1) * step,
            tuple(message.message for message in messages),
            len({message.user for message in messages}),
            last - first,
        )


def _exact_point(user: Hashable, *numbers: int | float | Fraction) -> list[Fraction]:
    """Return place and time as exact numbers.

    Raises:
        UsageError: there is no user, or a number is out of range.
    """
    if user is None:
        raise UsageError("The message has no user.")
    if not all(-_LARGEST_NUMBER <= number <= _LARGEST_NUMBER for number in numbers):  # not of NaN
        raise OutOfRange("Place and time must be numbers of at most 10^12.")
    return [Fraction(number) for number in numbers]
