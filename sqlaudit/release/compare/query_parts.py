"""Which columns a query is about: its conditions and groups by quasi-identifier, and those of other columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlaudit.base.columns_of import find_column
from sqlaudit.base.errors import UsageError
from sqlaudit.base.words import about
from sqlaudit.release.compare.covers import Covered
from sqlaudit.release.compare.linked import Linked, link
from sqlaudit.release.compare.pairing import Side
from sqlaudit.release.compare.query_text import AggregateQuery


@dataclass(frozen=True)
class QueryParts:
    """A query by columns: conditions by the place of their quasi-identifier and about other columns; groups of both
    kinds; the places of all quasi-identifiers in it; what links columns by OR."""

    conditions: dict[int, list[str]]
    elsewhere: tuple[str, ...]
    grouped: tuple[int, ...]
    further: tuple[str, ...]
    places: tuple[int, ...]
    linked: Linked | None

    @property
    def linked_places(self) -> tuple[int, ...]:
        """The places of the quasi-identifiers in conditions that link columns."""
        return () if self.linked is None else self.linked.places


def parts_of(query: AggregateQuery, covered: Sequence[Covered], original: Side, dialect: str) -> QueryParts:
    """A query by columns.

    Args:
        covered: the quasi-identifiers. original: the table whose columns the query calls by name.

    Raises:
        UsageError: columns that are not there, or conditions that cannot be told apart by column.
    """
    own = {name: place_of(name, covered, original) for name in _all_names(query)}
    if any(own[name] for name in query.summed_columns):
        raise UsageError(f"{query.option}: cells of a quasi-identifier are ranges and cannot be added up.")
    by_place: dict[int, list[str]] = {}
    elsewhere = []
    linking = []
    for condition, columns in zip(query.conditions, query.columns, strict=True):
        places = {own[name] for name in columns}
        if len(places) > 1:
            linking.append(condition)
            continue
        place = places.pop() if places else None
        if place is None:
            elsewhere.append(condition)
        else:
            by_place.setdefault(place, []).append(condition)
    grouped = tuple(place for name in query.groups if (place := own[name]) is not None)
    further = tuple(name for name in query.groups if own[name] is None)
    linked = link(linking, dialect, own.get, query.option)
    places_of = {*by_place, *grouped, *(linked.places if linked else ())}
    return QueryParts(by_place, tuple(elsewhere), grouped, further, tuple(sorted(places_of)), linked)


def place_of(name: str, covered: Sequence[Covered], original: Side) -> int | None:
    """The place of the quasi-identifier that a query calls by a name, None for another column.

    Raises:
        UsageError: a quasi-identifier is an expression, so that it is not known which columns are about it.
    """
    found = find_column(name, original.opened)
    place = None
    for one in covered:
        own = find_column(one.column.label, original.opened)
        if own is None:
            raise UsageError(
                f"{about('queries')}: {one.column.label!r} is no column but an expression; query columns only."
            )
        place = one.column.place if found == own else place
    return place


def _all_names(query: AggregateQuery) -> set[str]:
    return {*query.groups, *query.summed_columns, *(name for names in query.columns for name in names)}
