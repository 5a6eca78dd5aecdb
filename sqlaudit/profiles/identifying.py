"""Columns of a release that identify people, or may do so; they are not written unless the user allows it.

Every remedy checks this before any work, by one definition of a suspected identifier: what an audit warns of
(`sqlaudit.profiles.warnings`), by the name of a column or by the texts of its first rows; and columns without a role
that have a different value in almost every row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlaudit.base.columns_of import Resolved, columns_read, find_column, unknown_column
from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import ColumnInfo, Kind, Relation, Statement
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.columns import Source, facts_of, rows_of_values, values_statement
from sqlaudit.profiles.names import concept_of
from sqlaudit.profiles.result import Role, looks_like
from sqlaudit.profiles.warnings import FIRST_ROWS, identifies, source_of
from sqlaudit.reports.document import listing

AT_ONCE = 20
"""Columns that one statement looks at."""


@dataclass(frozen=True)
class Written:
    """What a release holds besides coarsened quasi-identifiers.

    Args:
        relation: the table. columns: those that are written as they are. roleless: the names of those without a role.
        keep: what the user said may be written though it looks like an identifier.
    """

    relation: Relation
    columns: tuple[ColumnInfo, ...]
    roleless: frozenset[str]
    keep: tuple[str, ...] = ()


def written_as_they_are(
    engine: Engine,
    relation: Relation,
    left_out: Sequence[Resolved],
    keep: Sequence[str] = (),
    published: Sequence[Resolved] = (),
) -> Written:
    """The columns of a table that a release takes over.

    Args:
        relation: the table. left_out: the roles whose columns are rewritten or not published. keep: columns that may be
            written whatever they look like. published: the roles whose columns are published as they are.

    Raises:
        UsageError: a column to keep is not there, or has a role that keeps it out of the release.
    """
    read = {name for role in left_out for name in columns_read(role, relation, engine.dialect)}
    for name in keep:
        found = find_column(name, relation)
        if found is None:
            raise unknown_column(name, relation, about("keep_column"))
        if found.name in read:
            raise UsageError(
                f"{about('keep_column')}: {found.name} has a role, so it is not published as it is. Name it only once."
            )
    columns = tuple(column for column in relation.columns if column.name not in read)
    named = {name for role in published for name in columns_read(role, relation, engine.dialect)}
    return Written(relation, columns, frozenset(column.name for column in columns) - named, tuple(keep))


def refuse_suspected(engine: Engine, written: Written) -> None:
    """Check that no column to write looks like a direct identifier, except those that may be kept.

    Raises:
        UsageError: some do.
    """
    kept = {column.name for name in written.keep if (column := find_column(name, written.relation))}
    looking, unique = ([name for name in names if name not in kept] for names in suspected(engine, written))
    found = [*looking, *unique]
    if not found:
        return
    said = []
    if looking:
        said.append(f"{listing(looking, None)}, which {looks_like('direct identifier', looking)} by name or values")
    if unique:
        verb = "singles" if len(unique) == 1 else "single"
        said.append(f"{listing(unique, None)} without a role, which {verb} out almost every row")
    them = "it" if len(found) == 1 else "them"
    raise UsageError(
        f"Nothing was written. The release contains {'; and '.join(said)}. Leave {them} out with "
        f"{spelled('identifier', *found)}, or allow {them} with {spelled('keep_column', *found)}."
    )


def suspected(engine: Engine, written: Written) -> tuple[list[str], list[str]]:
    """The columns that look like direct identifiers, and those without a role that have a different value in almost
    every row, in the table's order; at most the first rows are read."""
    # of a column of lists or structures the name is judged even where its values cannot be read
    others = {column.name: concept_of(column.name) for column in written.columns if column.kind is Kind.OTHER}
    looking = {name for name, concept in others.items() if concept and concept.role is Role.DIRECT_IDENTIFIER}
    unique = set()
    for sources in _looked_at(engine, written):
        rows = rows_of_values(engine, written.relation, sources, first=FIRST_ROWS, step="warnings")
        for place, source in enumerate(sources):
            facts = facts_of(source, rows.get(place))
            if identifies(facts) or facts.mentioned:
                looking.add(source.name)
            elif facts.nearly_unique or 1 < facts.filled == facts.distinct:
                unique.add(source.name)
    names = [column.name for column in written.columns]
    unique &= written.roleless - looking
    return [name for name in names if name in looking], [name for name in names if name in unique]


def suspect_statements(engine: Engine, written: Written) -> list[Statement]:
    """The statements that `suspected` runs; those on check digits only where many values have the form."""
    return [
        values_statement(engine, written.relation, sources, first=FIRST_ROWS, step="warnings")
        for sources in _looked_at(engine, written)
    ]


def _looked_at(engine: Engine, written: Written) -> Iterator[Sequence[Source]]:
    """The columns, some at a time."""
    sources = [source for column in written.columns if (source := source_of(column, engine.dialect))]
    return (sources[start : start + AT_ONCE] for start in range(0, len(sources), AT_ONCE))
