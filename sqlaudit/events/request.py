"""What is asked of persons and their events, and how far from the truth knowledge may be."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.numbers import exact_number
from sqlaudit.base.options import (
    FLAG,
    NAMES,
    SECONDS,
    SHARE,
    TABLE,
    TEXT,
    WHOLE,
    OptionKind,
    check_bounds,
    choice,
    option,
    several,
)
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Kind
from sqlaudit.base.spec import Folding, NullPolicy, Requirement, Target, values_option
from sqlaudit.base.sql import Raw

if TYPE_CHECKING:
    from sqlaudit.column_sets.counting import Chosen

# How far from the true value a known one may be.

_TIME = re.compile(r"(\d{1,9})\s*(s|min|h|d|w)", re.ASCII)
_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_DECIMALS = re.compile(r"\(\s*\d+\s*,\s*(\d+)\s*\)")
_UNSAID_DECIMALS = 15


@dataclass(frozen=True)
class Tolerance:
    """How far from the true value a known one may be, as it was said.

    Args:
        column: whose values. within: `7d`, `12h`, `10`.
    """

    column: str
    within: str

    def span(self, column: Chosen) -> dict[str, Any]:
        """The same for the statement that finds which values are within it.

        Raises:
            UsageError: the column holds nothing that is near something else, or the tolerance is none of its kind.
        """
        if column.kind in (Kind.DATE, Kind.TIMESTAMP):
            seconds = self._seconds(column)
            day = column.kind is Kind.DATE
            return {"unit": "days" if day else "seconds", "within": seconds // 86_400 if day else seconds, "digits": 0}
        if column.kind in (Kind.INTEGER, Kind.DECIMAL):
            whole = column.kind is Kind.INTEGER
            said = _DECIMALS.search(column.type)
            digits = 0 if whole else int(said[1]) if said else _UNSAID_DECIMALS
            scaled = floor(self._number(column) * 10**digits)  # values have no more decimals: between there is nothing
            within = Raw(f"{scaled // 10**digits}.{scaled % 10**digits:0{digits}d}" if digits else str(scaled))
            return {"unit": "whole" if whole else "decimal", "within": within, "digits": digits}
        raise UsageError(
            f"{self._as_given()}: {column.name!r} is {column.kind.value}, and near is said of columns that hold dates, "
            "times, whole numbers or decimals; cast it in a view or a query."
        )

    def _seconds(self, column: Chosen) -> int:
        found = _TIME.fullmatch(self.within.strip())
        if found is None:
            raise UsageError(f"{self._as_given()}: {column.name!r} holds times; say how far as 30min, 12h, 7d or 2w.")
        return int(found[1]) * _SECONDS[found[2]]

    def _number(self, column: Chosen) -> Fraction:
        try:
            number = exact_number(self.within)
        except UsageError:
            number = Fraction(-1)
        if number < 0 or number >= 10**15:
            raise UsageError(
                f"{self._as_given()}: {column.name!r} holds numbers; say how far with a number of 0 or more."
            )
        return number

    def _as_given(self) -> str:
        return f"{spelled('tolerance')} {self.column}={self.within[:40]}"


def read_tolerances(name: str, given: Mapping[str, Any] | Sequence[Any] | str) -> tuple[Tolerance, ...]:
    """Tolerances from a mapping of columns, or texts such as `day=7d`.

    Raises:
        UsageError: a text without a column or a tolerance.
    """
    if isinstance(given, Mapping):
        return tuple(Tolerance(column, str(within)) for column, within in given.items())
    return tuple(one if isinstance(one, Tolerance) else _read(name, str(one)) for one in several(given))


def _read(name: str, text: str) -> Tolerance:
    column, equals, within = (part.strip() for part in text.rpartition("="))
    if not (column and equals and within):
        raise UsageError(
            f"{spelled(name)} is a column and how far, for instance day=7d or amount=10, not {text[:60]!r}."
        )
    return Tolerance(column, within)


def tolerated(chosen: Sequence[Chosen], events: int, given: Sequence[Tolerance]) -> dict[int, Tolerance]:
    """The tolerances by the places of their columns.

    Raises:
        UsageError: one is about no column of events, or two about the same.
    """
    found: dict[int, Tolerance] = {}
    names = [one.name.casefold() for one in chosen[:events]]
    for one in given:
        if one.column.casefold() not in names:
            raise UsageError(f"{spelled('tolerance')} names {one.column!r}, which is not among {spelled('qi')}.")
        place = names.index(one.column.casefold())
        if place in found:
            raise UsageError(f"{spelled('tolerance')} names {one.column!r} twice.")
        one.span(chosen[place])
        found[place] = one
    return found


# What is asked of persons and their events.

MOST_KNOWN = 6
"""Sets of more events are more than anybody counts."""
_WHO, _KNOW, _FAR = "Persons and events", "What is known", "How far"


def _known(name: str, value: Any) -> int:
    """The largest number of a range `1..3`, or a number; every smaller one is told, too."""
    first, _, last = str(value).replace(" ", "").rpartition("..")
    if first in ("", "1") and last.isascii() and last.isdecimal() and len(last) < 7:
        return int(last)
    raise UsageError(f"{spelled(name)} is a number of events, 3 or 1..3, not {str(value)[:60]!r}.")


@dataclass(frozen=True, kw_only=True)
class PersonsRequest:
    """Who has which events, how much an attacker knows of them, and what is too few.

    Args:
        entity: the column that names the person of a row.
        qi: names or expressions whose values together are an event. static: those that stay the same for a person.
        static_from: the table that has the static ones, when that is another one.
        sensitive: columns of values that events must not tell. h: the share of the persons with a known set of events
            who may hold one value. rho: whether sensitive values may be known, too.
        values: whether persons and sensitive values that folding merges are one; None = nobody said.
        known: the largest number of known events, m; every smaller number is told, too.
        k: persons who must share what is known, at least 2.
        multiset: whether repeats of an event count: two visits to one clinic are two events.
        tolerance: columns, and how far from the true value a known one may be; an event then fits all that are near.
        sequence: the column of times in whose order events are known.
        nulls: how a missing value in an event is read.
        random: for how many events drawn at random the share of persons singled out is told; 0 = not at all.
        draws: persons drawn where there are too many sets to count. seed: of the draws.
        effects: whether to count what leaving out or coarsening each column would save, and which values tell most.
        records: so many persons most at risk are told. show_values: with who they are, and which values tell.
        time_budget: seconds for the search, None = no limit.
        requirements: what must hold of persons and their events.

    Raises:
        UsageError: a number out of its range, or a combination that has no meaning.
    """

    entity: str = option("", TEXT, "Which person a row is about.", _WHO, metavar="COLUMN")
    qi: tuple[str, ...] = option(
        (), NAMES, "What makes an event: columns, or expressions over them.", _WHO, metavar="COLUMNS"
    )
    static: tuple[str, ...] = option(
        (), NAMES, "What stays the same for a person, and is known besides.", _WHO, metavar="COLUMNS"
    )
    static_from: Target | None = option(
        None, TABLE, "The table with them, a row a person, joined by the entity.", _WHO, metavar="TABLE"
    )
    sensitive: tuple[str, ...] = option(
        (), NAMES, "Columns of what known events must not tell.", _WHO, metavar="COLUMNS"
    )
    values: Folding | None = values_option(_WHO)
    known: int = option(
        2,
        OptionKind("text", _known, python="int"),
        f"Events of a person that somebody knows, at most {MOST_KNOWN}.",
        _KNOW,
        metavar="1..M",
        shown="1..2",
        least=1,
        most=MOST_KNOWN,
    )
    k: int = option(5, WHOLE, "Persons who must share what is known.", _KNOW, shown="5", least=2)
    h: Fraction = option(
        Fraction(4, 5),
        SHARE,
        "The share of those with the known events who may hold one sensitive value.",
        _KNOW,
        metavar="SHARE",
        shown="0.8",
        least=0,
        most=1,
    )
    rho: bool = option(
        False, FLAG, "Sensitive values of a person may be known, too, and tell others (rho-uncertainty).", _KNOW
    )
    multiset: bool = option(False, FLAG, "Repeats count: two visits to one clinic are two events.", _KNOW)
    tolerance: tuple[Tolerance, ...] = option(
        (),
        OptionKind("names", read_tolerances, python="Mapping[str, Any] | Sequence[str]"),
        "Known values may be so far from the true ones: day=7d,amount=10.",
        _KNOW,
        metavar="COLUMN=HOW FAR",
    )
    sequence: str = option(
        "",
        TEXT,
        "The order of events is known, too: by this column of dates, times or numbers.",
        _KNOW,
        metavar="COLUMN",
    )
    nulls: NullPolicy = option(
        NullPolicy.EQUAL,
        choice(NullPolicy),
        "Missing values are equal to each other, equal to nothing, or match anything.",
        _KNOW,
        shown="equal",
    )
    random: int = option(
        0,
        WHOLE,
        "Also tell whom up to M events drawn at random single out.",
        _KNOW,
        metavar="M",
        least=0,
        most=MOST_KNOWN,
    )
    draws: int = option(
        10_000, WHOLE, "Persons drawn where sets are too many to count.", _FAR, metavar="N", shown="10000", least=1
    )
    seed: int = option(0, WHOLE, "The seed of these draws.", _FAR, metavar="N")
    effects: bool = option(
        False, FLAG, "Count what leaving out or coarsening each column would save, and which values tell most.", _FAR
    )
    records: int = option(
        0, WHOLE, "List so many persons whom the fewest events single out.", _FAR, metavar="N", least=0, most=10_000
    )
    show_values: bool = option(False, FLAG, "Show who they are, and which values tell most; these name persons.", _FAR)
    time_budget: float | None = option(
        None, SECONDS, "Stop after this time and say what is proven.", _FAR, metavar="TIME"
    )
    requirements: tuple[Requirement, ...] = ()

    @property
    def near(self) -> bool:
        """Whether events match when they are near, or may be."""
        return bool(self.tolerance) or self.nulls is NullPolicy.WILDCARD

    @property
    def targets(self) -> tuple[Target, ...]:
        """Further tables that are read."""
        return () if self.static_from is None else (self.static_from,)

    def __post_init__(self) -> None:
        check_bounds(self)
        if not self.entity:
            raise UsageError(f"Name the column of persons with {spelled('entity')}.")
        if not self.qi:
            raise UsageError(f"Name the quasi-identifiers of an event with {spelled('qi')}.")
        if self.near and (self.multiset or self.rho):
            raise UsageError(
                "Repeats, and sensitive values that are known, are counted of events that are equal: ask for them "
                f"without {spelled('tolerance')}, and with missing values equal or distinct."
            )
        if self.sequence and (self.near or self.multiset or self.rho):
            raise UsageError(
                f"{spelled('sequence')} keeps the order of events that are equal, each repeat at its time: ask for it "
                f"without {spelled('multiset')}, {spelled('tolerance')} and {spelled('rho')}, and with missing values "
                "equal or distinct."
            )
        if self.static_from is not None and not self.static:
            raise UsageError(
                f"{spelled('static_from')} is a table of what stays the same of persons: name the columns with "
                f"{spelled('static')}."
            )
        if self.show_values and not (self.records or self.effects):
            raise UsageError(
                f"{spelled('show_values')} shows who is at risk and which values tell most: ask for them with "
                f"{spelled('records')} and {spelled('effects')}."
            )
        if self.rho and not self.sensitive:
            raise UsageError(
                f"{spelled('rho')} is about sensitive values: name their columns with {spelled('sensitive')}."
            )
        if self.multiset and self.random:
            raise UsageError("Random events are drawn from different events: ask for them without repeats.")
