"""The time budget of a search: who works long asks whether it is used up, and says so with an exception."""

from __future__ import annotations

from collections.abc import Callable

Stop = Callable[[], bool]
"""Whether the budget is used up."""
NODES = 2000
"""Nodes of an enumeration between two looks at the clock."""


class BudgetSpent(Exception):
    """The budget ended inside a step; the walker that made the step catches it and says what is proven."""


def never() -> bool:
    """The budget of a search without one."""
    return False
