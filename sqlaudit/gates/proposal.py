"""`sqlaudit init`: a policy to begin with, from the profiles of tables. Everything in it is for a person to check."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from sqlaudit.base.names import in_quotes, quote
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import ReadOptions
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.gates.nodes import yaml_read, yaml_text
from sqlaudit.profiles.names import find_group_sizes, words_of
from sqlaudit.profiles.result import ColumnFacts, ColumnProfile, CountTable, ProfileResult
from sqlaudit.profiles.run import entity_by, keys, repeating

_LONGEST = 90


@dataclass(frozen=True)
class ProposedTable:
    """A table for the policy: how it is named there (`table` or `file`), and its profile.

    Args:
        things: why the rows seem to be things and not people; empty when they may be people.
        read: how the file is read.
    """

    kind: str
    written: str
    profile: ProfileResult
    things: str = ""
    read: ReadOptions = field(default_factory=ReadOptions)


def tables_of(engine: Engine) -> list[str]:
    """The tables and views of a database, as a policy names them.

    Raises:
        EngineError: the database refused or failed.
    """
    rows = engine.catalog_tables()
    if rows is None:
        found_tables = engine.run(render("gates/tables.sql", engine.dialect, step="tables of the database"))
        rows = [(str(schema), str(name)) for schema, name in found_tables]
    return [_relation(schema, name, engine.own_schema) for schema, name in rows]


def _relation(schema: str, name: str, own_schema: str) -> str:
    parts = [name] if schema in ("", own_schema) else [schema, name]
    return ".".join(
        part if re.fullmatch("[a-z_][a-z0-9_]*", part) else '"' + part.replace('"', '""') + '"' for part in parts
    )


def proposed_policy(connection: tuple[str, str] | None, tables: Sequence[ProposedTable], schema: str = "") -> str:
    """The text of a policy.

    Args:
        connection: what says where the tables are, as (kind, value) of a policy's connection; None for files.
        tables: what was profiled. schema: a file with the JSON Schema for editors, empty = none.
    """
    return "\n".join(_lines(connection, tables, schema)) + "\n"


def column_scalar(name: str) -> str:
    """A column's name as YAML writes it, in SQL's quotes where it might be read as something else than that name.

    Example:
        >>> column_scalar("Age in Years"), column_scalar("(old)")
        ('"Age in Years"', '"\\\\"(old)\\\\""')
    """
    odd = name != name.strip() or name[:1] in ('"', "(")
    return yaml_text(in_quotes(name) if odd else name)


def _lines(connection: tuple[str, str] | None, tables: Sequence[ProposedTable], schema: str) -> Iterator[str]:
    """Yield the lines of a policy: its head, its connection, and its tables."""
    if schema:
        yield f"# yaml-language-server: $schema={schema}"
    yield "# Requirements for the publication of these tables. `sqlaudit test` checks them."
    yield "# `sqlaudit help gate` explains them."
    yield "# The roles are proposals from names and counts of values. Check them."
    yield "version: 1"
    yield ""
    if connection is not None:
        yield "connections:"
        yield "  # Never put a password here: use an environment variable, a service file or ~/.pgpass."
        yield f"  main: {{{connection[0]}: {yaml_text(connection[1])}}}"
        yield ""
    yield "# Defaults of every table."
    yield "defaults:"
    yield "  severity: error # or warn"
    yield "  # owner: data-protection@example.org"
    yield "  # tags: [release]"
    yield ""
    yield "tables:"
    if not any(is_judged(table) for table in tables):
        yield "  [] # no table has columns that others are likely to know; add its roles and remove the #"
    for table in tables:
        lines = [f"  {line}" if line else "" for line in _table(table)]
        yield from lines if is_judged(table) else (f"  # {line.strip()}" if line.strip() else "" for line in lines)


def is_judged(table: ProposedTable) -> bool:
    """Return True if the policy requires something of a table; else it stands there as a comment."""
    return table.profile.cells is not None or (bool(table.profile.roles.quasi_identifiers) and not table.things)


def _table(table: ProposedTable) -> Iterator[str]:
    """Yield the lines of a table: its roles with the reasons for them, and its requirements."""
    yield f"- {table.kind}: {yaml_text(table.written)} # {table.profile.rows:,} rows"
    yield from yaml_read(table.read, "  ")
    if table.profile.cells is not None:
        yield from _cells(table.profile.cells)
        return
    if table.things:
        yield f"  # it does not seem to be about people ({_printable(table.things)}); if it is, remove the #"
    elif not is_judged(table):
        yield "  # no column is likely to be known to others"
    if not table.profile.rows:
        yield "  severity: warn # the table has no rows yet; change to error when it has"
    roles, entity = table.profile.roles, table.profile.entity
    yield "  # What others may know about a person:"
    yield from _role("quasi_identifiers", _of(table, roles.quasi_identifiers))
    if undecided := _of(table, table.profile.undecided):
        yield "    # To decide, because they single people out. If others know them, remove the #:"
        yield from (f"    # - {column_scalar(column.name)}{_why(column)}" for column in undecided)
    if roles.sensitive:
        yield "  # What others should not learn:"
        yield from _role("sensitive", _of(table, roles.sensitive))
    if roles.identifiers:
        yield "  # What identifies a person directly: do not publish it."
        yield from _role("identifiers", _of(table, roles.identifiers))
    if table.profile.unreadable:
        yield f"  # Not checked, because the role may not read them: {_names(table.profile.unreadable)}"
    if entity is not None:
        yield "  # Column that identifies the person; others may know several rows of a person:"
        yield f"  entity: {column_scalar(entity.column)} # {_printable(entity.reason)}"
    else:
        yield "  # entity: patient_id # when a person may have several rows"
    yield "  requirements:"
    yield "    - k: 5 # every group has at least five members"
    if entity is not None:
        yield "    - km@2: 5 # also for attackers who know two rows of a person"
    if roles.sensitive:
        yield "    - l: 2 # every group has at least two values"
        yield "      severity: warn"
    yield "    # - column_sets: {max_size: 3, k: 5, share: 1%} # no three columns single people out"
    yield "    # - disclosure@3: 0.8 # three pieces of knowledge reveal no value with 80% certainty"
    yield "  # exceptions:"
    yield "  #   - {requirement: k=5, until: 2027-06-30, reason: the old regions go away in May, up_to: 12}"
    yield ""


def _cells(count_table: CountTable) -> Iterator[str]:
    yield "  # Every row seems to be a cell of a published table, not a person."
    yield "  requirements:"
    yield "    - aggregates:"
    yield f"        by: [{_names(count_table.by)}]"
    yield f"        count: {_names([count_table.count])}"
    yield "        require: [threshold=5] # every cell has at least five contributors"
    yield "        # before: last_month.csv # also for changes since then"
    yield ""


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(column_scalar, names))


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)


def _of(table: ProposedTable, names: Sequence[str]) -> list[ColumnProfile]:
    return [column for column in table.profile.columns if column.name in names]


def _role(role: str, columns: Sequence[ColumnProfile]) -> Iterator[str]:
    yield f"  {role}:" if columns else f"  {role}: []"
    yield from (f"    - {column_scalar(column.name)}{_why(column)}" for column in columns)


def _why(column: ColumnProfile) -> str:
    label = [f'"{column.facts.label}"'] if column.facts.label else []
    plain = _printable("; ".join([*label, *column.proposal.reasons]))
    if len(plain) > _LONGEST:
        plain = plain[:_LONGEST].rpartition(" ")[0].rstrip(";,") + " ..."
    return f" # {plain}" if plain else ""


# Which column names the person of a row, proposed from the data: it repeats, and joins to the key of another table.

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
    keys_of_people = [
        _Key(table, relation, column.facts) for table, relation in of_people for column in keys(table.profile.columns)
    ]
    return [_with_entity(engine, table, relation, keys_of_people) for table, relation in tables]


def _with_entity(
    engine: Engine, table: ProposedTable, relation: Relation, keys_of_people: Sequence[_Key]
) -> ProposedTable:
    """Return the table with the column that identifies people, if one is found."""
    repeating_columns = repeating(table.profile.columns)
    joined = (
        (column, key)
        for column in repeating_columns
        for key in _joining(engine, relation, column.facts, table, keys_of_people)
    )
    by_key = (entity_by(column, f"every value is in {key.facts.name} of {key.table.written}") for column, key in joined)
    return replace(table, profile=replace(table.profile, entity=next(by_key, None) or table.profile.entity))


def _joining(
    engine: Engine, relation: Relation, facts: ColumnFacts, table: ProposedTable, keys_of_people: Sequence[_Key]
) -> Iterator[_Key]:
    """The keys that have every value of a column, those of its own name first."""
    near = [
        key
        for key in keys_of_people
        if key.table is not table and key.facts.kind == facts.kind and _is_of(facts.name, key)
    ]
    for key in sorted(near, key=lambda candidate: candidate.facts.name.casefold() != facts.name.casefold()):
        statement = render(
            "gates/entity_missing.sql",
            engine.dialect,
            column=Raw(quote(facts.name, engine.dialect)),
            source=relation,
            key=Raw(quote(key.facts.name, engine.dialect)),
            other=key.relation,
        )
        if not engine.run(statement)[0][0]:
            yield key
            return


def _is_of(name: str, key: _Key) -> bool:
    """Return True if a name is about the same thing as a key or its table: numbers from 1 on are keys of every
    table."""
    words, key_words, of_table = {*words_of(name)}, {*words_of(key.facts.name)}, words_of(key.table.written)
    words_of_key = key_words.union(of_table, (word.removesuffix("s") for word in of_table))
    return words == key_words or bool((words - _NUMBER) & words_of_key)


# Tables that count the rows of another one, found among all tables that a policy is written for.


def with_group_sizes(
    engine: Engine, tables: Sequence[tuple[ProposedTable, Relation]]
) -> list[tuple[ProposedTable, Relation]]:
    """The tables; one is cells with counts, too, when a column has the sizes of the groups of another table.

    Raises:
        EngineError: the database refused or failed.
    """
    with_cells = []
    for table, relation in tables:
        fewer = (pair for pair in tables if pair[0].profile.cells is None and pair[0].profile.rows > table.profile.rows)
        sizes = (find_group_sizes(engine, relation, other) for pair, other in fewer if pair is not table)
        cells = None if table.profile.cells is not None else next((size for size in sizes if size is not None), None)
        profile = table.profile if cells is None else replace(table.profile, cells=cells, entity=None)
        with_cells.append((replace(table, profile=profile), relation))
    return with_cells
