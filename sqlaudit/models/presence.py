"""Which groups of sensitive values occur in a class, as numbers whose bits are the groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlaudit.base.frozen import dataclass
from sqlaudit.classes.facts import Fact
from sqlaudit.models.base import Judgement, expression

WORD = 60
"""Groups that one number of the database tells apart."""
MAX_LISTED = 20_000
"""Up to this many combinations are listed in the condition that finds the failing classes again."""
TOO_MANY = f"has classes of more than {MAX_LISTED:,} kinds that fall short, too many to find again"


@dataclass(frozen=True)
class Combination:
    """Groups that occur together: the numbers as the database has them, all bits in one, and where they occur."""

    words: tuple[int, ...]
    mask: int
    classes: int
    rows: int


def presence_facts(name: str, groups: Sequence[Sequence[int]]) -> tuple[Fact, ...]:
    """Facts that tell which of the groups of lanes occur, 60 groups a fact."""
    return tuple(
        Fact(
            f"{name}_{start // WORD}",
            "presence",
            {"groups": [(list(lanes), 2**bit) for bit, lanes in enumerate(groups[start : start + WORD])]},
        )
        for start in range(0, max(1, len(groups)), WORD)
    )


def combinations(rows: Sequence[tuple[Any, ...]]) -> list[Combination]:
    """The combinations in (words…, classes, rows) tuples."""
    found = []
    for *words, classes, table_rows in rows:
        numbers = tuple(int(word) for word in words)
        mask = sum(word << WORD * position for position, word in enumerate(numbers))
        found.append(Combination(numbers, mask, int(classes), int(table_rows)))
    return found


def decide(found: Sequence[tuple[Combination, int]], facts: Sequence[Fact], limit: int | None, main: str) -> Judgement:
    """At least `limit` for every combination: the lowest number, and what falls short."""
    levels = {main: min((number for _, number in found), default=None)}
    if limit is None:
        return Judgement(levels)
    short = [combination for combination, number in found if number < limit]
    return Judgement(
        levels,
        sum(combination.classes for combination in short),
        sum(combination.rows for combination in short),
        at_limit=_condition(short, facts),
        unnamed=TOO_MANY if len(short) > MAX_LISTED else "",
    )


def _condition(short: Sequence[Combination], facts: Sequence[Fact]) -> str:
    """SQL over facts: one of the combinations; empty when there are too many to list."""
    if not short or len(short) > MAX_LISTED:
        return ""
    if len(facts) == 1:
        return expression("one_of", fact=facts[0].name, values=[combination.words[0] for combination in short])
    return expression("one_of_rows", facts=[fact.name for fact in facts], rows=[c.words for c in short])
