"""Requirements that the counts of a block's values decide, and what its size alone decides already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlaudit.base.spec import Requirement
from sqlaudit.models.base import Context
from sqlaudit.models.registry import REGISTRY

Counts = tuple[int, ...]
"""How often each value occurs, zeros left out, largest first."""


@dataclass(frozen=True)
class Rule:
    """A requirement on blocks of people.

    Args:
        holds: whether a block with these counts satisfies it.
        decided: whether every (True) or no (False) block of this size satisfies it whose values are drawn from a class
            with these counts; None when that depends on the draw.
    """

    holds: Callable[[Counts], bool]
    decided: Callable[[int, Counts], bool | None] = lambda _size, _counts: None


def rule_of(requirements: Sequence[Requirement]) -> Rule:
    """All the requirements together; each must be of a model that counts decide (`by_counts`).

    Example:
        >>> from sqlaudit.models.requirements import parse_requirement
        >>> rule = rule_of([parse_requirement("k=2"), parse_requirement("l=2")])
        >>> rule.holds((2,)), rule.holds((1, 1)), rule.decided(1, (3, 2)), rule.decided(4, (3, 2))
        (False, True, False, True)
    """
    models = [REGISTRY[one.model](one.parameters, Context(None, 0)) for one in requirements]

    def holds(counts: Counts) -> bool:
        by_value = dict(enumerate(counts))
        return all(model.holds(by_value) for model in models)

    def decided(size: int, counts: Counts) -> bool | None:
        found = [model.decided(size, counts) for model in models]
        return False if False in found else None if None in found else True

    return Rule(holds, decided)
