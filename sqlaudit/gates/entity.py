"""Which column names the person of a row, proposed from the data: it repeats, and joins to the key of another table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlaudit.base.names import quote
from sqlaudit.base.relation import Relation
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.gates.proposal import ProposedTable
from sqlaudit.profiles.result import ColumnFacts, ColumnProfile

_PERSONS = ("record_id", "national_id", "account", "email", "phone")
"""What names a person who may have several rows."""


@dataclass(frozen=True)
class _Key:
    """A column that is different in every row of another table."""

    table: ProposedTable
    relation: Relation
    facts: ColumnFacts


def with_entities(engine: Engine, tables: Sequence[tuple[ProposedTable, Relation]]) -> list[ProposedTable]:
    """The tables, with the column that names persons where one is found.

    It repeats, no row is without it, and its name says that it numbers persons. Of several the one is taken whose
    values all are keys of another table, then the one with the most values.
    """
    keys = [_Key(table, relation, one.facts) for table, relation in tables for one in _keys(table)]
    return [_with_entity(engine, table, relation, keys) for table, relation in tables]


def _with_entity(engine: Engine, table: ProposedTable, relation: Relation, keys: Sequence[_Key]) -> ProposedTable:
    found = sorted(_repeating(table), key=lambda one: -one.facts.distinct)
    joined = [(one, key) for one in found for key in _joining(engine, relation, one.facts, table, keys)]
    if joined:
        column, key = joined[0]
        why = f"every value is in {key.facts.name} of {key.table.written}"
    elif found:
        column, why = found[0], "its name says that it numbers persons"
    else:
        return table
    each = table.profile.rows / column.facts.distinct
    return replace(table, entity=column.name, why=f"it repeats, {each:,.1f} rows each; {why}")


def _repeating(table: ProposedTable) -> Iterator[ColumnProfile]:
    for column in table.profile.columns:
        facts = column.facts
        if column.proposal.concept in _PERSONS and not facts.nulls and facts.exact and 1 < facts.distinct < facts.rows:
            yield column


def _keys(table: ProposedTable) -> Iterator[ColumnProfile]:
    for column in table.profile.columns:
        facts = column.facts
        if column.proposal.concept in _PERSONS and not facts.nulls and facts.exact and facts.distinct == facts.rows > 0:
            yield column


def _joining(
    engine: Engine, relation: Relation, facts: ColumnFacts, table: ProposedTable, keys: Sequence[_Key]
) -> Iterator[_Key]:
    """The keys that have every value of a column, those of its own name first."""
    near = [key for key in keys if key.table is not table and key.facts.kind == facts.kind]
    for key in sorted(near, key=lambda one: one.facts.name.casefold() != facts.name.casefold()):
        statement = render(
            "gates/entity_missing.sql",
            engine.dialect,
            column=Raw(quote(facts.name, engine.dialect)),
            source=Raw(relation.sql),
            key=Raw(quote(key.facts.name, engine.dialect)),
            other=Raw(key.relation.sql),
        )
        if not engine.run(statement)[0][0]:
            yield key
            return
