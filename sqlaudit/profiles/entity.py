"""Which column says what person a row is about, from its name and from how often its values repeat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlaudit.profiles.result import ColumnProfile, ProposedEntity

_PERSONS = ("record_id", "national_id", "account", "email", "phone")
"""What names a person who may have several rows."""
BY_NAME = "its name says that it numbers persons"


def proposed_entity(columns: Sequence[ColumnProfile]) -> ProposedEntity | None:
    """The column that names persons with several rows, of several the one with the most values; None without one."""
    return next((entity_by(column, BY_NAME) for column in repeating(columns)), None)


def entity_by(column: ColumnProfile, why: str) -> ProposedEntity:
    """The proposal of a column that repeats, with a further reason."""
    each = column.facts.rows / column.facts.distinct
    return ProposedEntity(column.name, f"it repeats, {each:,.1f} rows each; {why}")


def repeating(columns: Sequence[ColumnProfile]) -> list[ColumnProfile]:
    """The columns of persons that repeat, those with the most values first; no row is without one."""
    found = (one for one in _of_persons(columns) if 1 < one.facts.distinct < one.facts.rows)
    return sorted(found, key=lambda one: -one.facts.distinct)


def keys(columns: Sequence[ColumnProfile]) -> list[ColumnProfile]:
    """The columns of persons that are different in every row."""
    return [one for one in _of_persons(columns) if one.facts.distinct == one.facts.rows > 0]


def _of_persons(columns: Sequence[ColumnProfile]) -> Iterator[ColumnProfile]:
    for column in columns:
        if column.proposal.concept in _PERSONS and not column.facts.nulls and column.facts.exact:
            yield column
