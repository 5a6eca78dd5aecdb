"""Messages cloaked as they come, beside a plain loop over all that waits; and what is refused."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.errors import UsageError
from sqlaudit.remedies.cloak.stream import CloakStream, SentBox
from tests.strategies import run

Message = tuple[str, float, float, float, float]
"""User, x, y, time and tolerated delay."""


def loop(messages: Sequence[Message], k: int, side: float) -> list[list[int]]:
    """Which messages leave together, by their numbers."""
    left: list[list[int]] = []
    waiting: list[int] = []

    def cell(number: int) -> tuple[int, int]:
        return math.floor(messages[number][1] / side), math.floor(messages[number][2] / side)

    for number, (_, _, _, now, _) in enumerate(messages):
        waiting = [other for other in waiting if messages[other][3] + messages[other][4] >= now] + [number]
        together = [other for other in waiting if cell(other) == cell(number)]
        if len({messages[other][0] for other in together}) >= k:
            left.append(together)
            waiting = [other for other in waiting if other not in together]
    return left


message = st.tuples(
    st.sampled_from("abcd"),
    st.sampled_from([-0.5, 0.0, 9.5, 10.0]),
    st.sampled_from([0.0, 3.0]),
    st.integers(0, 3).map(float),
    st.sampled_from([0.0, 1.0, 4.0]),
)


@run(60)
@given(st.lists(message, max_size=12), st.integers(1, 3))
def test_a_stream_is_a_plain_loop_over_what_waits(gaps: list[Message], k: int) -> None:
    now, messages = 0.0, list[Message]()
    for user, x, y, gap, delay in gaps:
        now += gap
        messages.append((user, x, y, now, delay))
    stream = CloakStream(k=k, box=10, delay=99, step=Fraction(1, 2))
    sent: list[SentBox] = []
    for number, (user, x, y, time, delay) in enumerate(messages):
        box = stream.send(user, x, y, time, number, delay=delay)
        sent += [box] if box else []
    assert [list(box.messages) for box in sent] == loop(messages, k, 10)
    for box in sent:
        assert box.users == len({messages[number][0] for number in box.messages}) >= k
        for number in box.messages:
            _, x, y, time, delay = messages[number]
            assert box.x_min <= x < box.x_max
            assert box.y_min <= y < box.y_max
            assert box.t_min <= time < box.t_max
            assert messages[box.messages[-1]][3] - time <= delay
        assert (2 * box.t_min).denominator == (2 * box.t_max).denominator == 1
    stream.close()
    assert stream.published == sum(len(box.messages) for box in sent)
    assert (stream.published + stream.dropped, stream.waiting, stream.boxes) == (len(messages), 0, len(sent))


def test_nothing_older_than_the_longest_delay_is_held() -> None:
    stream = CloakStream(k=2, box=1, delay=5, step=1)
    for second in range(100):
        assert stream.send("alone", second, 0, second) is None
        assert stream.waiting <= 6
    assert (stream.published, stream.dropped, stream.waiting) == (0, 94, 6)
    assert len(stream._ends) == len(stream._cells) == 6
    assert stream.pass_to(102) == 3
    assert stream.close() == 3
    assert (stream.dropped, stream.waiting) == (100, 0)


def test_a_delay_ends_after_its_last_moment() -> None:
    for second, users in ((Fraction(5), 2), (Fraction(51, 10), None)):
        stream = CloakStream(k=2, box=1, delay=5, step=1)
        stream.send("ann", 0, 0, 0)
        box = stream.send("bob", 0, 0, second)
        assert (box.users if box else None) == users


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"user": None}, "The message has no user"),
        ({"x": math.nan}, "Place and time must be numbers"),
        ({"y": 2e12}, "Place and time must be numbers"),
        ({"time": 2}, "Messages must be in the order of their time"),
        ({"delay": -1}, "A delay must be a number of at least 0"),
    ],
)
def test_what_cannot_be_cloaked_is_refused_and_changes_nothing(given: dict[str, Any], sentence: str) -> None:
    stream = CloakStream(k=2, box=10, delay=60, step=1)
    stream.send("ann", 1, 1, 3)
    with pytest.raises(UsageError, match=sentence):
        stream.send(**{"user": "bob", "x": 1, "y": 1, "time": 4, **given})
    assert (stream.waiting, stream.published, stream.dropped) == (1, 0, 0)
    box = stream.send("bob", 1, 1, 4)
    assert box is not None
    assert box.users == 2
    with pytest.raises(UsageError, match="The time must not be earlier"):
        stream.pass_to(3)


@pytest.mark.parametrize("given", [{"k": 0}, {"box": 0}, {"step": math.inf}, {"delay": -1}])
def test_lengths_that_have_no_meaning_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"not 0|is a length above 0"):
        CloakStream(**{"k": 2, "box": 10, "delay": 60, "step": 1, **given})
