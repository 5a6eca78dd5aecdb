"""The time budget of a search: who works long asks whether it is used up, and says so with an exception."""

from __future__ import annotations

import time
from collections.abc import Callable

from sqlaudit.base.errors import Interrupted

Stop = Callable[[], bool]
"""Whether the budget is used up."""
NODES = 2000
"""Nodes of an enumeration between two looks at the clock."""


class BudgetSpent(Exception):
    """The budget ended inside a step; the walker that made the step catches it and says what is proven."""


STOPPED = (BudgetSpent, Interrupted, KeyboardInterrupt)
"""What ends a walk before its end: the budget, or somebody. What was proven by then stays so."""


def by_hand(why: BaseException) -> bool:
    """Whether it was somebody."""
    return not isinstance(why, BudgetSpent)


def at_once() -> bool:
    """The budget of what would come after a search that somebody stopped."""
    return True


def never() -> bool:
    """The budget of a search without one."""
    return False


def until(began: float, budget: float | None) -> Stop:
    """The budget of so many seconds from a moment of `time.monotonic()` on; None = no limit.

    Example:
        >>> until(time.monotonic(), 60)(), until(time.monotonic() - 61, 60)(), until(0, None)()
        (False, True, False)
    """
    return never if budget is None else lambda: time.monotonic() - began > budget
