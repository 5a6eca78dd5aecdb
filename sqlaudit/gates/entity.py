"""Which column names the person of a row, proposed from the data: it repeats, and joins to the key of another table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlaudit.base.names import quote
from sqlaudit.base.relation import Relation
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.gates.proposal import ProposedTable
from sqlaudit.profiles.entity import entity_by, keys, proposed_entity, repeating
from sqlaudit.profiles.names import words_of
from sqlaudit.profiles.result import ColumnFacts

_NUMBER = {"id", "nr", "no", "number", "nummer", "key"}


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
    of_people = ((table, relation) for table, relation in tables if not table.things)
    known = [_Key(table, relation, one.facts) for table, relation in of_people for one in keys(table.profile.columns)]
    return [_with_entity(engine, table, relation, known) for table, relation in tables]


def _with_entity(engine: Engine, table: ProposedTable, relation: Relation, known: Sequence[_Key]) -> ProposedTable:
    found = repeating(table.profile.columns)
    joined = ((one, key) for one in found for key in _joining(engine, relation, one.facts, table, known))
    by_key = (entity_by(one, f"every value is in {key.facts.name} of {key.table.written}") for one, key in joined)
    entity = next(by_key, None) or proposed_entity(table.profile.columns)
    return table if entity is None else replace(table, entity=entity.column, why=entity.reason)


def _joining(
    engine: Engine, relation: Relation, facts: ColumnFacts, table: ProposedTable, known: Sequence[_Key]
) -> Iterator[_Key]:
    """The keys that have every value of a column, those of its own name first."""
    near = [key for key in known if key.table is not table and key.facts.kind == facts.kind and _is_of(facts.name, key)]
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


def _is_of(name: str, key: _Key) -> bool:
    """Whether a name speaks of the same thing as a key or its table: numbers from 1 on are keys of every table."""
    words = {*words_of(name)}
    return words == {*words_of(key.facts.name)} or bool(
        (words - _NUMBER) & {*words_of(key.facts.name), *words_of(key.table.written), *_singular(key.table.written)}
    )


def _singular(table: str) -> Iterator[str]:
    return (word.removesuffix("s") for word in words_of(table))
