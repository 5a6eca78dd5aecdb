"""The request on people and their events, and tolerances of what is known."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Any

from sqlaudit.base.errors import UnknownColumn, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import shown, untyped
from sqlaudit.base.numbers import exact_number
from sqlaudit.base.options import (
    FLAG,
    NAMES,
    SECONDS,
    SHARE,
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
from sqlaudit.base.spec import (
    Folding,
    NullPolicy,
    Requirement,
    Target,
    among_roles,
    table_option,
    target_part,
    values_option,
)
from sqlaudit.base.sql import Raw
from sqlaudit.models.required import requirements_part

if TYPE_CHECKING:
    from sqlaudit.column_sets.counting import Chosen

# How far from the true value a known one may be.

_TIME = re.compile(r"(\d{1,9})\s*(s|min|h|d|w)", re.ASCII)
_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_DECIMALS = re.compile(r"\(\s*\d+\s*,\s*(\d+)\s*\)")
_DEFAULT_DECIMALS = 15
"""Decimals of a column whose type does not name a scale."""


@dataclass(frozen=True)
class Tolerance:
    """How far from the true value a known one may be, as given.

    Args:
        column: the column. within: `7d`, `12h`, `10`.
    """

    column: str
    within: str

    def span(self, column: Chosen) -> dict[str, Any]:
        """Return the parameters of the statement that finds the values within the tolerance.

        Raises:
            UsageError: the column has no distances, or the tolerance does not fit its type.
        """
        if column.kind in (Kind.DATE, Kind.TIMESTAMP):
            seconds = self._seconds(column)
            day = column.kind is Kind.DATE
            return {"unit": "days" if day else "seconds", "within": seconds // 86_400 if day else seconds, "digits": 0}
        if column.kind in (Kind.INTEGER, Kind.DECIMAL):
            is_integer = column.kind is Kind.INTEGER
            scale = _DECIMALS.search(column.type)
            digits = 0 if is_integer else int(scale[1]) if scale else _DEFAULT_DECIMALS
            scaled = floor(self._number(column) * 10**digits)  # exact: no two values differ by less than a last digit
            within = Raw(f"{scaled // 10**digits}.{scaled % 10**digits:0{digits}d}" if digits else str(scaled))
            return {"unit": "whole" if is_integer else "decimal", "within": within, "digits": digits}
        raise UsageError(
            f"{self._as_given()}: {shown(column.name)} is {column.kind.value}. A tolerance needs dates, times, whole "
            "numbers or decimals: cast the column in a view or a query."
        )

    def _seconds(self, column: Chosen) -> int:
        duration = _TIME.fullmatch(self.within.strip())
        if duration is None:
            raise UsageError(
                f"{self._as_given()}: {shown(column.name)} has times. Give a duration: 30min, 12h, 7d or 2w."
            )
        return int(duration[1]) * _SECONDS[duration[2]]

    def _number(self, column: Chosen) -> Fraction:
        try:
            number = exact_number(self.within)
        except UsageError:
            number = Fraction(-1)
        if number < 0 or number >= 10**15:
            raise UsageError(f"{self._as_given()}: {shown(column.name)} has numbers. Give a number of at least 0.")
        return number

    def _as_given(self) -> str:
        return f"{spelled('tolerance')} {self.column}={self.within[:40]}"


def read_tolerances(name: str, value: Mapping[str, Any] | Sequence[Any] | str) -> tuple[Tolerance, ...]:
    """Read tolerances from a mapping of columns, or texts such as `day=7d`.

    Args:
        name: the option, for errors. value: its value.

    Raises:
        UsageError: a text without a column or a tolerance.
    """
    if isinstance(value, Mapping):
        return tuple(Tolerance(column, str(within)) for column, within in value.items())
    return tuple(item if isinstance(item, Tolerance) else _parse_tolerance(name, str(item)) for item in several(value))


def _parse_tolerance(name: str, text: str) -> Tolerance:
    """Return the tolerance of a text such as `day=7d`.

    Raises:
        UsageError: the text lacks the column or the distance; the message names the option `name`.
    """
    # The last = is the separator, because a column may be an expression that has one
    column, separator, within = (part.strip() for part in text.rpartition("="))
    if not (column and separator and within):
        raise UsageError(
            f"{spelled(name)} needs a column and a distance, for example day=7d or amount=10, not {text[:60]!r}."
        )
    return Tolerance(untyped(column), within)


def tolerated(chosen: Sequence[Chosen], events: int, tolerances: Sequence[Tolerance]) -> dict[int, Tolerance]:
    """Return the tolerances by the positions of their columns.

    Args:
        chosen: the columns of the search, those of events first. events: number of columns of events.
        tolerances: as the user wrote them.

    Raises:
        UsageError: a column is not a column of events, or is named twice.
    """
    by_position: dict[int, Tolerance] = {}
    names = [column.name.casefold() for column in chosen[:events]]
    for tolerance in tolerances:
        if tolerance.column.casefold() not in names:
            raise UnknownColumn(f"{spelled('tolerance')} names {tolerance.column!r}, which is not in {spelled('qi')}.")
        position = names.index(tolerance.column.casefold())
        if position in by_position:
            raise UsageError(f"{spelled('tolerance')} names {tolerance.column!r} twice.")
        tolerance.span(chosen[position])  # raises if the tolerance does not fit the column's type
        by_position[position] = tolerance
    return by_position


# The request on people and their events.

MOST_KNOWN = 6
"""Sets of more events are too many to count."""
_WHO, _KNOW, _FAR = "People and events", "Attacker's knowledge", "Search"


def _known(name: str, value: object) -> int:
    """Return the number of known events: a number, or the end of a range `1..3`, since smaller numbers are covered.

    Raises:
        UsageError: neither of them; the message names the option `name`.
    """
    first, _, last = str(value).replace(" ", "").rpartition("..")
    if first in ("", "1") and last.isascii() and last.isdecimal() and len(last) < 7:
        return int(last)
    raise UsageError(f"{spelled(name)} takes a number of events, 3 or 1..3, not {str(value)[:60]!r}.")


def _among_roles(role: str) -> dict[str, Any]:
    """Return that an option's value may be among the roles; identifiers play no part here."""
    return among_roles(role, passed_over=("identifiers",))


@dataclass(frozen=True, kw_only=True)
class PersonsRequest:
    """The events, what an attacker knows of them, and how many people must share that.

    Args:
        target: a table with a row for each event.
        entity: the column that identifies the person of a row.
        qi: columns or expressions whose values together are an event. static: those that stay the same for a person.
        static_from: the table with the static columns, when that is another one.
        sensitive: columns of values that events must not reveal. h: the share of the people with a known set of events
            who may have the same value. rho: whether sensitive values may be known, too.
        values: whether people and sensitive values that folding merges are one; None = not given.
        known: the largest number of known events, m; the report covers every smaller number, too.
        k: people who must share the known events, at least 2.
        multiset: whether repeats of an event count: two visits to one clinic are two events.
        tolerance: columns, and how far from the true value a known one may be; an event then fits all that are near.
        sequence: the column of the known order of events.
        nulls: how a missing value in an event is read.
        random: the largest number of random events to compute the share of people singled out for; 0 = none.
        draws: people sampled where there are too many sets to count. seed: of the sampling.
        effects: whether to count the effect of leaving out or coarsening each column, and the most revealing values.
        records: the number of people most at risk to list. show_values: whether to show them and revealing values.
        time_budget: seconds for the search, None = no limit.
        requirements: the requirements on people and their events.

    Raises:
        UsageError: a number out of its range, or a combination that is not defined.
    """

    target: Target = target_part()
    entity: str = option(
        "", TEXT, "Column that identifies the person.", _WHO, metavar="COLUMN", **_among_roles("entity")
    )
    qi: tuple[str, ...] = option(
        (),
        NAMES,
        "Columns or expressions that make up an event.",
        _WHO,
        metavar="COLUMNS",
        **_among_roles("quasi_identifiers"),
    )
    static: tuple[str, ...] = option(
        (), NAMES, "Columns that stay the same for a person, known with every event.", _WHO, metavar="COLUMNS"
    )
    static_from: Target | None = table_option(
        "Table of the static columns, one row per person, joined by the entity.", _WHO, metavar="TABLE"
    )
    sensitive: tuple[str, ...] = option(
        (), NAMES, "Columns that known events must not reveal.", _WHO, metavar="COLUMNS", **_among_roles("sensitive")
    )
    values: Folding | None = values_option(_WHO, **_among_roles("values"))
    known: int = option(
        2,
        OptionKind("text", _known, python="int"),
        f"Number of known events of a person, at most {MOST_KNOWN}.",
        _KNOW,
        metavar="1..M",
        shown="1..2",
        least=1,
        most=MOST_KNOWN,
    )
    k: int = option(5, WHOLE, "People who must share the known events.", _KNOW, shown="5", least=2)
    h: Fraction = option(
        Fraction(4, 5),
        replace(SHARE, python="Fraction | float | str"),
        "Share of the people with the known events who may have the same sensitive value.",
        _KNOW,
        metavar="SHARE",
        shown="0.8",
        least=0,
        most=1,
    )
    rho: bool = option(
        False, FLAG, "Known sensitive values count as events that may reveal others (rho-uncertainty).", _KNOW
    )
    multiset: bool = option(False, FLAG, "Count repeats: two visits to one clinic are two events.", _KNOW)
    tolerance: tuple[Tolerance, ...] = option(
        (),
        OptionKind("names", read_tolerances, python="Mapping[str, Any] | Sequence[str]"),
        "Distance of known values from the true ones: day=7d,amount=10.",
        _KNOW,
        metavar="COLUMN=DISTANCE",
    )
    sequence: str = option(
        "", TEXT, "Known order of events: a column of dates, times or numbers.", _KNOW, metavar="COLUMN"
    )
    nulls: NullPolicy = option(
        NullPolicy.EQUAL,
        choice(NullPolicy),
        "Missing values equal each other, equal nothing, or match anything.",
        _KNOW,
        shown="equal",
        **_among_roles("nulls"),
    )
    random: int = option(
        0, WHOLE, "Share of people singled out by up to M random events.", _KNOW, metavar="M", least=0, most=MOST_KNOWN
    )
    draws: int = option(
        10_000, WHOLE, "People to sample where sets are too many to count.", _FAR, metavar="N", shown="10000", least=1
    )
    seed: int = option(0, WHOLE, "Seed of the sampling.", _FAR, metavar="N")
    effects: bool = option(
        False, FLAG, "Count the effect of dropping or coarsening each column, and the most revealing values.", _FAR
    )
    records: int = option(0, WHOLE, "Number of people most at risk to list.", _FAR, metavar="N", least=0, most=10_000)
    show_values: bool = option(
        False, FLAG, "Show the people most at risk and revealing values, which may identify people.", _FAR
    )
    time_budget: float | None = option(
        None, SECONDS, "Stop after this time and report what is proven.", _FAR, metavar="TIME"
    )
    requirements: tuple[Requirement, ...] = requirements_part(
        "OF_PERSONS", presets="", help="km@2=5, profile_k=5, unicity@4=5%, coherence@2=k:5,h:0.8", default=()
    )

    @property
    def near(self) -> bool:
        """Return True if events match within a tolerance."""
        return bool(self.tolerance) or self.nulls is NullPolicy.WILDCARD

    @property
    def targets(self) -> tuple[Target, ...]:
        """Everything that is read: the events, and the table of static columns if it is another one."""
        return (self.target,) if self.static_from is None else (self.target, self.static_from)

    def __post_init__(self) -> None:
        check_bounds(self)
        if not self.entity:
            raise UsageError(f"The column that identifies people is missing. Name it with {spelled('entity')}.")
        if not self.qi:
            raise UsageError(f"The columns of an event are missing. Name them with {spelled('qi')}.")
        if self.near and (self.multiset or self.rho):
            raise UsageError(
                f"{spelled('multiset')} and {spelled('rho')} cannot be combined with {spelled('tolerance')}, or with "
                "missing values that match anything."
            )
        if self.sequence and (self.near or self.multiset or self.rho):
            raise UsageError(
                f"{spelled('sequence')} cannot be combined with {spelled('multiset')}, {spelled('tolerance')} or "
                f"{spelled('rho')}, or with missing values that match anything."
            )
        if self.static_from is not None and not self.static:
            raise UsageError(f"{spelled('static_from')} needs columns. Name them with {spelled('static')}.")
        if self.show_values and not (self.records or self.effects):
            raise UsageError(f"{spelled('show_values')} needs {spelled('records')} or {spelled('effects')}.")
        if self.rho and not self.sensitive:
            raise UsageError(f"{spelled('rho')} needs sensitive columns. Name them with {spelled('sensitive')}.")
        if self.multiset and self.random:
            raise UsageError(f"{spelled('multiset')} and {spelled('random')} cannot be combined.")
