"""Which columns of the target are searched."""

from __future__ import annotations

from collections.abc import Sequence

from sqlaudit.base.columns_of import find_column, resolve, unknown_column
from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import quote
from sqlaudit.base.relation import ColumnInfo, Kind, Relation
from sqlaudit.base.words import about


@dataclass(frozen=True)
class Chosen:
    """A column, or an expression over columns, that takes part.

    Args:
        name: what reports call it: the column's name, or the expression as the user wrote it.
        sql: the quoted column or the checked expression, in the engine's dialect.
        kind: what it holds; `Kind.OTHER` for expressions.
        type: the engine's spelling of its type; empty for expressions.
    """

    name: str
    sql: str
    kind: Kind
    type: str = ""


def choose_columns(
    relation: Relation,
    dialect: str,
    columns: Sequence[str] = (),
    exclude: Sequence[str] = (),
    *,
    field: str = "columns",
) -> tuple[Chosen, ...]:
    """The columns named, or all columns of the relation without the excluded ones.

    Args:
        field: the field of the request that names them, for what is said of a wrong one.

    Raises:
        UsageError: a name is unknown or given twice, or nothing is left.
    """
    left_out = {named_column(relation, name, "exclude").name for name in exclude}
    if columns:
        chosen = [choose_column(relation, dialect, text, field) for text in columns]
        chosen = [one for one in chosen if one.name not in left_out]
    else:
        chosen = [Chosen(one.name, quote(one.name, dialect), one.kind, one.type) for one in relation.columns]
        chosen = [one for one in chosen if one.name not in left_out]
    if not chosen:
        raise UsageError("No column is left to search; exclude fewer.")
    return each_once(chosen)


def each_once(chosen: Sequence[Chosen]) -> tuple[Chosen, ...]:
    """The columns, when none of them is there twice.

    Raises:
        UsageError: one is.
    """
    seen: set[str] = set()
    for one in chosen:
        if one.name in seen:
            raise UsageError(f"Column {one.name!r} is named twice.")
        seen.add(one.name)
    return tuple(chosen)


def choose_column(relation: Relation, dialect: str, text: str, field: str) -> Chosen:
    """One column by name (exact, else without regard to case), or else an expression over columns.

    Raises:
        UsageError: neither.
    """
    found = resolve(text, relation, dialect, about(field))
    return Chosen(found.column or text, found.sql, found.kind, found.type)


def named_column(relation: Relation, name: str, field: str) -> ColumnInfo:
    """A column by name.

    Raises:
        UsageError: there is none.
    """
    found = find_column(name, relation)
    if found is None:
        raise unknown_column(name, relation, about(field))
    return found
