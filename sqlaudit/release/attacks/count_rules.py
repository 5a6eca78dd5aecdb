"""Requirements that the counts of a block's values decide, and what its size alone decides already."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlaudit.base.spec import Requirement
from sqlaudit.models.diversity import entropy_at_least

Counts = tuple[int, ...]
"""How often each value occurs, zeros left out, largest first."""
Given = Mapping[str, Any]


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
    """All the requirements together; each must be of a model in `MODELS`.

    Example:
        >>> from sqlaudit.models.requirements import parse_requirement
        >>> rule = rule_of([parse_requirement("k=2"), parse_requirement("l=2")])
        >>> rule.holds((2,)), rule.holds((1, 1)), rule.decided(1, (3, 2)), rule.decided(4, (3, 2))
        (False, True, False, True)
    """
    parts = [(*_RULES[one.model], one.parameters) for one in requirements]

    def decided(size: int, counts: Counts) -> bool | None:
        found = [decides(size, counts, given) for _, decides, given in parts]
        return False if False in found else None if None in found else True

    return Rule(lambda counts: all(holds(counts, given) for holds, _, given in parts), decided)


def _size(size: int, _counts: Counts, given: Given) -> bool | None:
    return bool(size >= given["k"])


def _distinct(size: int, counts: Counts, given: Given) -> bool | None:
    """So many people cannot share fewer than l values; so few cannot have l."""
    l = given["l"]  # noqa: E741
    if min(size, len(counts)) < l:
        return False
    return True if size > sum(counts[: l - 1]) else None


def _alpha(counts: Counts, given: Given) -> bool:
    size = sum(counts)
    return bool(size >= given.get("k", 1) and counts[0] <= given["alpha"] * size)


def _share(size: int, counts: Counts, given: Given) -> bool | None:
    most = given["alpha"] * size
    if size < given.get("k", 1) or -(-size // len(counts)) > most:
        return False
    return True if min(size, counts[0]) <= most else None


def _recursive(counts: Counts, given: Given) -> bool:
    l = given.get("l", 2)  # noqa: E741
    return bool(l == 1 or (len(counts) >= l and counts[0] < given["c"] * sum(counts[l - 1 :])))


def _tail(size: int, counts: Counts, given: Given) -> bool | None:
    l = given.get("l", 2)  # noqa: E741
    return True if l == 1 else False if min(size, len(counts)) < l else None


def _entropy(size: int, counts: Counts, given: Given) -> bool | None:
    """The entropy of m values is at most log m."""
    return False if min(size, len(counts)) < given["l"] else None


_RULES: Mapping[str, tuple[Callable[[Counts, Given], bool], Callable[[int, Counts, Given], bool | None]]] = {
    "k_anonymity": (lambda counts, given: sum(counts) >= given["k"], _size),
    "distinct_l_diversity": (lambda counts, given: len(counts) >= given["l"], _distinct),
    "alpha_k_anonymity": (_alpha, _share),
    "entropy_l_diversity": (lambda counts, given: entropy_at_least(list(counts), Fraction(given["l"])), _entropy),
    "recursive_c_l_diversity": (_recursive, _tail),
}
MODELS = tuple(_RULES)
"""The models that counts alone decide."""
