"""The request for attacks on a release: what the attacker has. Standard library only, apart from specs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import FLAG, NAMES, NUMBER, SHARE, SOURCE, TABLE, WHOLE, OptionKind, check_bounds, option
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import Requirement, Target

Pair = tuple[str, str]
"""A column of the release, and what the same is called in the other table."""

_HOLDS, _FAR = "Attacker's knowledge", "Attacks"


def _pair(option_name: str, name: str | Pair) -> Pair:
    if not isinstance(name, str | tuple | list):
        said = "a column, or a pair of column names"
        raise UsageError(f"{spelled(option_name)} takes {said}, not a value of type {type(name).__name__}.")
    return pair_of(name) if isinstance(name, str) else (name[0], name[1])


_PAIR = OptionKind("column", _pair, python="Name")

_PAIRS = OptionKind("names", lambda name, value: tuple(_pair(name, one) for one in value), python="Sequence[Name]")


@dataclass(frozen=True)
class KnownSearch:
    """The search that made the release: its node is a minimal one for these requirements.

    Args:
        requirements: the requirements of the search.
        node: the level of each quasi-identifier in the release, in order; None = found from the cells.
    """

    requirements: tuple[Requirement, ...]
    node: tuple[int, ...] | None = None


@dataclass(frozen=True)
class AttackRequest:
    """The attacks to try, and their strength.

    Args:
        k: people with fewer than k candidates are reported by linkage.
        pieces: the largest number of values that an attacker rules out, at least 0.
        sure: the probability from which a guess counts as nearly sure, above 0 and at most 1.
        width: the largest distance of similar values in a class (days for dates).
        inputs: categories of sensitive values (`sqlaudit.classes.inputs`).
        hierarchies: hierarchies of the quasi-identifiers by column (`sqlaudit.hierarchies`).
        identified: a table with names; match: columns to link by; key: a column that identifies people in both tables.
        other: another release of the same table; other_qi: its quasi-identifiers, empty = those of the release that it
            has; position: a column that numbers the rows in both, empty = the order of the rows.
        published: the search that made the release, for the minimality attack.
        show_values, top: whether to show classes and values, and how many per attack.
        seed: of random shuffles. only: the attacks to try, by name; empty = all.

    Raises:
        UsageError: a number out of bounds, or an option without the one it needs.
    """

    published: KnownSearch | None = None
    identified: Target | None = option(
        None, TABLE, "A table or file with names, such as a register of voters.", _HOLDS, metavar="TABLE"
    )
    match: tuple[Pair, ...] = option(
        (), _PAIRS, "Columns to link by: zip,age or zip=plz. [default: the --qi]", _HOLDS, metavar="COLUMNS"
    )
    key: Pair | None = option(
        None, _PAIR, "A column in both tables that identifies people, to confirm matches.", _HOLDS, metavar="COLUMN"
    )
    other: Target | None = option(
        None, TABLE, "Another release of the same table.", _HOLDS, name="other_release", metavar="TABLE"
    )
    other_qi: tuple[str, ...] = option(
        (), NAMES, "Its quasi-identifiers. [default: those it shares]", _HOLDS, metavar="COLUMNS"
    )
    position: Pair | None = option(
        None, _PAIR, "Column that numbers the rows of both. [default: the order of a file]", _HOLDS, metavar="COLUMN"
    )
    inputs: Mapping[str, Any] = option(
        {}, SOURCE, "Categories of sensitive values (YAML).", _HOLDS, name="categories", metavar="FILE"
    )
    width: Fraction | None = option(
        None,
        NUMBER,
        "Largest difference of similar sensitive numbers (days for dates).",
        _HOLDS,
        metavar="NUMBER",
        least=0,
    )
    hierarchies: Mapping[str, Any] = option(
        {}, SOURCE, "Hierarchies with the labels in the release.", _HOLDS, metavar="FILE|FOLDER"
    )
    k: int = option(5, WHOLE, "Report people with fewer candidates than this.", _FAR, shown="5", least=1)
    pieces: int = option(
        3, WHOLE, "Largest number of values that the attacker rules out.", _FAR, metavar="M", shown="3", least=0
    )
    sure: Fraction = option(
        Fraction(9, 10),
        SHARE,
        "Probability from which a guess counts as nearly sure.",
        _FAR,
        metavar="SHARE",
        shown="0.9",
        above=0,
        most=1,
    )
    only: tuple[str, ...] = option((), NAMES, "Attacks to try: homogeneity,linkage ...", _FAR, metavar="ATTACKS")
    show_values: bool = option(False, FLAG, "Show exposed classes and values, which may identify people.", _FAR)
    top: int = option(
        10, WHOLE, "Number of classes or values to show per attack.", _FAR, metavar="N", shown="10", least=0
    )
    seed: int = option(0, WHOLE, "Seed of random shuffles.", _FAR, metavar="N")

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.match and self.identified is None:
            raise UsageError(f"{spelled('match')} needs a table to link with: name it with {spelled('identified')}.")
        if self.key is not None and self.identified is None:
            raise UsageError(f"{spelled('key')} needs a table with names: name it with {spelled('identified')}.")
        if (self.other_qi or self.position) and self.other is None:
            raise UsageError(
                f"{spelled('other_qi')} and {spelled('position')} need another release: name it with "
                f"{spelled('other_release')}."
            )

    @property
    def targets(self) -> tuple[Target, ...]:
        """Return what is read besides the release."""
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
        raise UsageError(f"{text!r} is not a pair of columns. Write release_column=other_column.")
    return mine.strip(), theirs.strip()
