"""The request for attacks on a release: what the attacker has."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import split_at_equals, untyped
from sqlaudit.base.options import (
    FLAG,
    NAMES,
    NUMBER,
    SHARE,
    SOURCE,
    WHOLE,
    Given,
    OptionKind,
    all_options_of,
    check_bounds,
    option,
    part,
    request_from,
)
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import Requirement, Roles, Target, roles_from, roles_part, table_option, target_part
from sqlaudit.models.required import requirements_part

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
_LEVELS = OptionKind(
    "levels", lambda name, value: tuple(WHOLE.read(name, level) for level in value), python="Sequence[int]"
)
_CATEGORIES = OptionKind(SOURCE.name, SOURCE.read, python="Mapping[str, Any] | str | Path")
_HIERARCHIES = OptionKind(SOURCE.name, SOURCE.read, python="Hierarchies | Mapping[str, Any] | str | Path")
_SURE = OptionKind(SHARE.name, SHARE.read, python="int | str | float | Fraction")


def _inputs(given: Given, name: str) -> Mapping[str, Any]:
    """Return categories as inputs of sensitive attributes."""
    categories = given.get(name)
    if categories is None:
        return {}
    from sqlaudit.classes.inputs import load_inputs, read_inputs

    return read_inputs(categories) if isinstance(categories, Mapping) else load_inputs(categories)


def _hierarchies(given: Given, name: str) -> Mapping[str, Any]:
    """Return the hierarchies of the quasi-identifiers, by column."""
    hierarchies = given.get(name)
    if hierarchies is None:
        return {}
    from sqlaudit.hierarchies.read import read_hierarchies

    columns = roles_from(given).quasi_identifiers
    return {hierarchy.column: hierarchy for hierarchy in read_hierarchies(hierarchies).for_columns(columns)}


@dataclass(frozen=True)
class KnownSearch:
    """The search that made the release: its node is a minimal one for these requirements.

    Args:
        requirements: the requirements of the search.
        node: the level of each quasi-identifier in the release, in order; None = found from the cells.

    Raises:
        UsageError: levels without a requirement.
    """

    requirements: tuple[Requirement, ...] = requirements_part(
        presets="", help="Requirement of the search that made the release.", section=_HOLDS, default=()
    )
    node: tuple[int, ...] | None = option(
        None,
        _LEVELS,
        "Levels of the release, for example 2,1,0. [default: found from the cells]",
        _HOLDS,
        metavar="LEVELS",
    )

    def __post_init__(self) -> None:
        if self.node is not None and not self.requirements:
            raise UsageError(
                f"{spelled('node')} needs the requirement of the search: name it with {spelled('require')}."
            )


def _published(given: Given, _: str) -> KnownSearch | None:
    """Return the search that made the release, None if its requirements are unknown."""
    search = request_from(KnownSearch, given)
    return search if search.requirements else None


@dataclass(frozen=True)
class AttackRequest:
    """The release, the attacks to try on it, and their strength.

    Args:
        target: the release. roles: its quasi-identifiers and sensitive attributes.
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
        UsageError: a number out of bounds, an unknown attack, or an option without the one it needs.
    """

    target: Target = target_part(buckets=True)
    roles: Roles = roles_part(without=("identifier", "known_rows"))
    identified: Target | None = table_option(
        "A table or file with names, such as a register of voters.", _HOLDS, "the identified table", metavar="TABLE"
    )
    match: tuple[Pair, ...] = option(
        (), _PAIRS, "Columns to link by: zip,age or zip=plz. [default: the --qi]", _HOLDS, metavar="COLUMNS"
    )
    key: Pair | None = option(
        None, _PAIR, "A column in both tables that identifies people, to confirm matches.", _HOLDS, metavar="COLUMN"
    )
    other: Target | None = table_option(
        "Another release of the same table.", _HOLDS, "the other release", name="other_release", metavar="TABLE"
    )
    other_qi: tuple[str, ...] = option(
        (), NAMES, "Its quasi-identifiers. [default: those it shares]", _HOLDS, metavar="COLUMNS"
    )
    position: Pair | None = option(
        None, _PAIR, "Column that numbers the rows of both. [default: the order of a file]", _HOLDS, metavar="COLUMN"
    )
    inputs: Mapping[str, object] = option(
        {}, _CATEGORIES, "Categories of sensitive values (YAML).", _HOLDS, _inputs, name="categories", metavar="FILE"
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
        {}, _HIERARCHIES, "Hierarchies with the labels in the release.", _HOLDS, _hierarchies, metavar="FILE|FOLDER"
    )
    published: KnownSearch | None = part(_published, lambda: all_options_of(KnownSearch), default=None)
    k: int = option(5, WHOLE, "Report people with fewer candidates than this.", _FAR, shown="5", least=1)
    pieces: int = option(
        3, WHOLE, "Largest number of values that the attacker rules out.", _FAR, metavar="M", shown="3", least=0
    )
    sure: Fraction = option(
        Fraction(9, 10),
        _SURE,
        "Probability from which a guess counts as nearly sure.",
        _FAR,
        metavar="SHARE",
        shown="0.9",
        python_default="0.9",
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
        """Everything that is read: the release, and what the attacker has."""
        return tuple(target for target in (self.target, self.identified, self.other) if target is not None)


def pair_of(text: str) -> Pair:
    """Two names from `zip` or `zip=plz`; a name with `=` is in double quotes.

    Example:
        >>> pair_of("zip = plz"), pair_of("zip"), pair_of('"a=b"="PLZ (Ort)"')
        (('zip', 'plz'), ('zip', 'zip'), ('a=b', 'PLZ (Ort)'))
    """
    mine, equals, theirs = split_at_equals(text)
    if not equals:
        return mine, mine
    if not mine or not theirs.strip():
        raise UsageError(f"{text!r} is not a pair of columns. Write release_column=other_column.")
    return mine, untyped(theirs.strip())
