"""Columns of a release that identify people, or may do so; they are not written unless the user allows it.

Every remedy checks this before any work, by one definition of a suspected identifier: what an audit warns of
(`sqlaudit.profiles.warnings`), by the name of a column or by the texts of its first rows; and columns without a role
that have a different value in almost every row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlaudit.base.columns_of import Resolved, columns_read, find_column, unknown_column
from sqlaudit.base.errors import ConflictingRoles, UsageError
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import ColumnInfo, Kind, Relation, Statement
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.columns import Source, query_values, read_facts, values_statement
from sqlaudit.profiles.names import concept_of
from sqlaudit.profiles.result import Role, looks_like
from sqlaudit.profiles.warnings import FIRST_ROWS, is_identifying, source_of
from sqlaudit.reports.document import listed

BATCH = 20
"""Columns in one statement."""


@dataclass(frozen=True)
class ReleaseColumns:
    """The columns that a release publishes unchanged, beside coarsened quasi-identifiers.

    Args:
        relation: the table.
        columns: the columns that are published as they are.
        roleless: the names of those without a role.
        keep: columns that the user allows to be published although they look like identifiers.
    """

    relation: Relation
    columns: tuple[ColumnInfo, ...]
    roleless: frozenset[str]
    keep: tuple[str, ...] = ()


def find_release_columns(
    engine: Engine,
    relation: Relation,
    left_out: Sequence[Resolved],
    keep: Sequence[str] = (),
    published: Sequence[Resolved] = (),
) -> ReleaseColumns:
    """Return the columns of a table that a release publishes unchanged.

    Args:
        relation: the table.
        left_out: the roles whose columns are rewritten or not published.
        keep: columns that may be published although they look like identifiers.
        published: the roles whose columns are published as they are.

    Raises:
        UsageError: a column to keep does not exist, or has a role that keeps it out of the release.
    """
    left_out_columns = {name for role in left_out for name in columns_read(role, relation, engine.dialect)}
    for name in keep:
        column = find_column(name, relation)
        if column is None:
            raise unknown_column(name, relation, about("keep_column"))
        if column.name in left_out_columns:
            raise ConflictingRoles(
                f"{about('keep_column')}: {column.name} has a role, so it is not published as it is. Name it only once."
            )
    columns = tuple(column for column in relation.columns if column.name not in left_out_columns)
    with_role = {name for role in published for name in columns_read(role, relation, engine.dialect)}
    return ReleaseColumns(relation, columns, frozenset(column.name for column in columns) - with_role, tuple(keep))


def refuse_suspected(engine: Engine, release: ReleaseColumns) -> None:
    """Refuse a release with a column that looks like a direct identifier, except those that the user allows.

    Raises:
        UsageError: a column looks like a direct identifier.
    """
    exempt = {column.name for name in release.keep if (column := find_column(name, release.relation))}
    identifiers, unique = ([name for name in names if name not in exempt] for names in find_suspects(engine, release))
    suspects = [*identifiers, *unique]
    if not suspects:
        return
    parts = []
    if identifiers:
        parts.append(
            f"{listed(identifiers, None)}, which {looks_like('direct identifier', identifiers)} by name or values"
        )
    if unique:
        verb = "singles" if len(unique) == 1 else "single"
        parts.append(f"{listed(unique, None)} without a role, which {verb} out almost every row")
    them = "it" if len(suspects) == 1 else "them"
    raise UsageError(
        f"Nothing was written. The release contains {'; and '.join(parts)}. Leave {them} out with "
        f"{spelled('identifier', *suspects)}, or allow {them} with {spelled('keep_column', *suspects)}."
    )


def find_suspects(engine: Engine, release: ReleaseColumns) -> tuple[list[str], list[str]]:
    """Return the columns that look like direct identifiers, and those without a role that are nearly unique.

    Only the first rows are read. Both lists are in the table's order.
    """
    # of a column of lists or structures the name is judged even where its values cannot be read
    concepts = {
        column.name: concept_of(column.name, column.label) for column in release.columns if column.kind is Kind.OTHER
    }
    identifiers = {name for name, concept in concepts.items() if concept and concept.role is Role.DIRECT_IDENTIFIER}
    unique = set()
    for sources in _batch_sources(engine, release):
        rows = query_values(engine, release.relation, sources, first=FIRST_ROWS, step="warnings")
        for position, source in enumerate(sources):
            facts = read_facts(source, rows.get(position))
            if is_identifying(facts) or facts.mentioned:
                identifiers.add(source.name)
            elif facts.nearly_unique or 1 < facts.filled == facts.distinct:
                unique.add(source.name)
    names = [column.name for column in release.columns]
    unique &= release.roleless - identifiers
    return [name for name in names if name in identifiers], [name for name in names if name in unique]


def suspect_statements(engine: Engine, release: ReleaseColumns) -> list[Statement]:
    """Return the statements that `find_suspects` runs, without those on check digits, which only some tables need."""
    return [
        values_statement(engine, release.relation, sources, first=FIRST_ROWS, step="warnings")
        for sources in _batch_sources(engine, release)
    ]


def _batch_sources(engine: Engine, release: ReleaseColumns) -> Iterator[Sequence[Source]]:
    """Return the columns as sources of facts, in batches for one statement each."""
    sources = [source for column in release.columns if (source := source_of(column, engine.dialect))]
    return (sources[start : start + BATCH] for start in range(0, len(sources), BATCH))
