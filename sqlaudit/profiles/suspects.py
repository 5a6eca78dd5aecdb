"""Columns of a release that look as if they said who somebody is; they are not written unless somebody says so.

Every remedy asks here before any work, so that all of them mean the same by a suspected identifier: what an audit warns
of (`sqlaudit.profiles.warnings`), by the name of a column or by the texts of its first rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlaudit.base.columns_of import Resolved, columns_read, find_column, unknown_column
from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import ColumnInfo, Kind, Relation, Statement
from sqlaudit.base.words import about, spelled
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.names import concept_of
from sqlaudit.profiles.result import Role
from sqlaudit.profiles.warnings import MOST_OTHERS, audit_warnings, warning_statements
from sqlaudit.reports.figures import listing

SUSPECTED = "possible_direct_identifier"
_NOTHING_NAMED = ResolvedRoles((), (), (), None)


@dataclass(frozen=True)
class Written:
    """What a release holds besides coarsened quasi-identifiers.

    Args:
        relation: the table. columns: those that are written as they are. keep: what the user said may be written
            though it looks like an identifier.
    """

    relation: Relation
    columns: tuple[ColumnInfo, ...]
    keep: tuple[str, ...] = ()


def written_as_they_are(
    engine: Engine, relation: Relation, left_out: Sequence[Resolved], keep: Sequence[str] = ()
) -> Written:
    """The columns of a table that a release takes over.

    Args:
        relation: the table. left_out: the roles whose columns are rewritten or not published. keep: columns that may be
            written whatever they look like.

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
                f"{about('keep_column')}: {found.name} has a role that does not let it into the release as it "
                "is; name it once."
            )
    return Written(relation, tuple(column for column in relation.columns if column.name not in read), tuple(keep))


def refuse_suspected(engine: Engine, written: Written) -> None:
    """Nothing when no column that is written looks like a direct identifier, but those that may be kept.

    Raises:
        UsageError: some do.
    """
    kept = {column.name for name in written.keep if (column := find_column(name, written.relation))}
    found = [name for name in suspected(engine, written) if name not in kept]
    if not found:
        return
    listed = listing(found, None)
    verb, they = (
        ("looks like a direct identifier", "it") if len(found) == 1 else ("look like direct identifiers", "they")
    )
    raise UsageError(
        f"Nothing was written: {listed} would be in the release, and {verb} by name or values. Leave out what "
        f"identifies with {spelled('identifier', *found)}; if {they} may be published, say so with "
        f"{spelled('keep_column', *found)}."
    )


def suspected(engine: Engine, written: Written) -> list[str]:
    """The columns that look like direct identifiers, in the table's order; at most the first rows are read."""
    found = {column.name for column in written.columns if _named_so(column)}
    for part in _parts(written):
        for warning in audit_warnings(engine, part, _NOTHING_NAMED):
            found |= set(warning.columns) if warning.code == SUSPECTED else set()
    return [column.name for column in written.columns if column.name in found]


def suspect_statements(engine: Engine, written: Written) -> list[Statement]:
    """The statements that `suspected` runs."""
    return [one for part in _parts(written) for one in warning_statements(engine, part, _NOTHING_NAMED)]


def _parts(written: Written) -> Iterator[Relation]:
    """The relation, some of its columns at a time: an audit looks into the first texts alone, a release at all."""
    for start in range(0, len(written.columns), MOST_OTHERS):
        yield replace(written.relation, columns=written.columns[start : start + MOST_OTHERS])


def _named_so(column: ColumnInfo) -> bool:
    """Whether a column of a kind without texts (UUIDs, lists, structures) is called like an identifier."""
    concept = concept_of(column.name) if column.kind is Kind.OTHER else None
    return concept is not None and concept.role is Role.DIRECT_IDENTIFIER
