"""What an attacker on a release is assumed to hold. Standard library only, apart from specs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import FLAG, NAMES, NUMBER, SHARE, SOURCE, TABLE, WHOLE, OptionKind, check_bounds, option
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import Requirement, Target

# What an attacker on a release is assumed to hold. Standard library only, apart from specs.

Pair = tuple[str, str]
"""A column of the release, and what the same is called in the other table."""

_HOLDS, _FAR = "What the attacker holds", "How far"


def _pair(option_name: str, name: str | Pair) -> Pair:
    if not isinstance(name, str | tuple | list):
        said = "a column, or a pair of what it is called in both tables"
        raise UsageError(f"{spelled(option_name)} takes {said}, not a value of type {type(name).__name__}.")
    return pair_of(name) if isinstance(name, str) else (name[0], name[1])


_PAIR = OptionKind("column", _pair, python="Name")

_PAIRS = OptionKind("names", lambda name, value: tuple(_pair(name, one) for one in value), python="Sequence[Name]")


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

    published: KnownSearch | None = None
    identified: Target | None = option(
        None, TABLE, "A table or file with names: a register of voters, say.", _HOLDS, metavar="TABLE"
    )
    match: tuple[Pair, ...] = option(
        (), _PAIRS, "Link by these: zip,age or zip=plz. [default: the --qi]", _HOLDS, metavar="COLUMNS"
    )
    key: Pair | None = option(
        None, _PAIR, "A column in both that says who is who, to confirm matches.", _HOLDS, metavar="COLUMN"
    )
    other: Target | None = option(
        None, TABLE, "Another release of the same table.", _HOLDS, name="other_release", metavar="TABLE"
    )
    other_qi: tuple[str, ...] = option(
        (), NAMES, "Its quasi-identifiers. [default: those it shares]", _HOLDS, metavar="COLUMNS"
    )
    position: Pair | None = option(
        None, _PAIR, "What numbers the rows of both. [default: the order of a file]", _HOLDS, metavar="COLUMN"
    )
    inputs: Mapping[str, Any] = option(
        {}, SOURCE, "Categories of sensitive values (YAML).", _HOLDS, name="categories", metavar="FILE"
    )
    width: Fraction | None = option(
        None,
        NUMBER,
        "Sensitive numbers this near count as similar (days for dates).",
        _HOLDS,
        metavar="NUMBER",
        least=0,
    )
    hierarchies: Mapping[str, Any] = option(
        {}, SOURCE, "Hierarchies that cells of the release follow.", _HOLDS, metavar="FILE|FOLDER"
    )
    k: int = option(5, WHOLE, "Who hides among fewer counts as found.", _FAR, shown="5", least=1)
    pieces: int = option(3, WHOLE, "The most values ruled out.", _FAR, metavar="M", shown="3", least=0)
    sure: Fraction = option(
        Fraction(9, 10),
        SHARE,
        "When a guess counts as nearly sure.",
        _FAR,
        metavar="SHARE",
        shown="0.9",
        above=0,
        most=1,
    )
    only: tuple[str, ...] = option((), NAMES, "Only these: homogeneity,linkage ...", _FAR, metavar="ATTACKS")
    show_values: bool = option(False, FLAG, "Show exposed classes and values, which may name persons.", _FAR)
    top: int = option(10, WHOLE, "How many of them, for each attack.", _FAR, metavar="N", shown="10", least=0)
    seed: int = option(0, WHOLE, "The seed of random shuffles.", _FAR, metavar="N")

    def __post_init__(self) -> None:
        check_bounds(self)
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
