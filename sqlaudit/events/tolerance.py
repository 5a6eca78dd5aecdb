"""How far from the true value a known one may be."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.numbers import exact_number
from sqlaudit.base.options import several
from sqlaudit.base.relation import Kind
from sqlaudit.base.words import spelled

if TYPE_CHECKING:
    from sqlaudit.column_sets.selection import Chosen

_TIME = re.compile(r"(\d{1,9})\s*(s|min|h|d|w)")
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
            scaled = floor(
                self._number(column) * 10**digits
            )  # values have no more decimals: what is between is nothing
            from sqlaudit.base.sql import Raw

            within = Raw(f"{scaled // 10**digits}.{scaled % 10**digits:0{digits}d}" if digits else str(scaled))
            return {"unit": "whole" if whole else "decimal", "within": within, "digits": digits}
        raise UsageError(
            f"{self._said()}: {column.name!r} is {column.kind.value}, and near is said of columns that hold dates, "
            "times, whole numbers or decimals; cast it in a view or a query."
        )

    def _seconds(self, column: Chosen) -> int:
        found = _TIME.fullmatch(self.within.strip())
        if found is None:
            raise UsageError(f"{self._said()}: {column.name!r} holds times; say how far as 30min, 12h, 7d or 2w.")
        return int(found[1]) * _SECONDS[found[2]]

    def _number(self, column: Chosen) -> Fraction:
        try:
            number = exact_number(self.within)
        except UsageError:
            number = Fraction(-1)
        if number < 0 or number >= 10**15:
            raise UsageError(f"{self._said()}: {column.name!r} holds numbers; say how far with a number of 0 or more.")
        return number

    def _said(self) -> str:
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
