"""What an attacker on a release is assumed to hold. Standard library only, apart from specs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Requirement, Target
from sqlaudit.base.words import spelled

Pair = tuple[str, str]
"""A column of the release, and what the same is called in the other table."""


@dataclass(frozen=True)
class KnownSearch:
    """What is known of how the release was made: that its node is a minimal one for these requirements.

    Args:
        requirements: what every node of the search had to satisfy.
        node: the level of each quasi-identifier in the release, in their order; None = found from the cells.
    """

    requirements: tuple[Requirement, ...]
    node: tuple[int, ...] | None = None


@dataclass(frozen=True)
class AttackRequest:
    """Which attacks are tried, and how strong they are.

    Args:
        k: who hides among fewer than k persons counts as exposed by linkage.
        pieces: the most values that an attacker rules out, at least 0.
        sure: from which probability on an attacker counts as nearly sure, above 0 and at most 1.
        width: values of a class that lie no further apart than this count as similar (days for dates).
        inputs: categories of sensitive values (`sqlaudit.classes.inputs`).
        hierarchies: hierarchies of the quasi-identifiers by column (`sqlaudit.hierarchies`).
        identified: a table with names; match: columns to link by; key: a column that says who is who in truth.
        other: another release of the same table; other_qi: its quasi-identifiers, empty = those of the release that it
            has; position: a column that numbers the rows in both, empty = the order of the rows.
        published: how the release was made, for the minimality attack.
        show_values, top: whether classes and values may be shown, and how many at most for each attack.
        seed: of random shuffles. only: the attacks to try, by name; empty = all.

    Raises:
        UsageError: a number without a meaning, or a part that lacks what it needs.
    """

    k: int = 5
    pieces: int = 3
    sure: Fraction = Fraction(9, 10)
    width: Fraction | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict)
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    identified: Target | None = None
    match: tuple[Pair, ...] = ()
    key: Pair | None = None
    other: Target | None = None
    other_qi: tuple[str, ...] = ()
    position: Pair | None = None
    published: KnownSearch | None = None
    show_values: bool = False
    top: int = 10
    seed: int = 0
    only: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._check_numbers()
        if self.match and self.identified is None:
            raise UsageError(
                f"{spelled('match')} names columns to link by; name the table to link with, with "
                f"{spelled('identified')}."
            )
        if self.key is not None and self.identified is None:
            raise UsageError(
                f"{spelled('key')} says who is who in an identified table; name that table with "
                f"{spelled('identified')}."
            )
        if (self.other_qi or self.position) and self.other is None:
            raise UsageError(
                f"{spelled('other_qi')} and {spelled('position')} belong to another release; name it with "
                f"{spelled('other_release')}."
            )

    def _check_numbers(self) -> None:
        if self.k < 1:
            raise UsageError(f"k must be at least 1, it is {self.k}.")
        if self.pieces < 0:
            raise UsageError(f"An attacker rules out at least 0 values, not {self.pieces}.")
        if not 0 < self.sure <= 1:
            raise UsageError(f"{spelled('sure')} is a probability above 0 and at most 1.")
        if self.width is not None and self.width < 0:
            raise UsageError(f"{spelled('width')} is a distance, so at least 0.")
        if self.top < 0:
            raise UsageError(f"{spelled('top')} must be at least 0, it is {self.top}.")

    @property
    def targets(self) -> tuple[Target, ...]:
        """What is read besides the release."""
        return tuple(target for target in (self.identified, self.other) if target is not None)


def pair_of(text: str) -> Pair:
    """Two names from `zip` or `zip=plz`; a name that holds `=` itself can be given as a pair in Python.

    Example:
        >>> pair_of("zip = plz"), pair_of("zip")
        (('zip', 'plz'), ('zip', 'zip'))
    """
    mine, equals, theirs = text.partition("=")
    if not equals:
        return text.strip(), text.strip()
    if not mine.strip() or not theirs.strip():
        raise UsageError(f"{text!r} names no pair of columns; write release_column=other_column.")
    return mine.strip(), theirs.strip()
