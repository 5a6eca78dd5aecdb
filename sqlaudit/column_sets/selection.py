"""Which columns of the target are searched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlaudit.base.division import kinds_of, remark_on, warn
from sqlaudit.base.errors import UsageError
from sqlaudit.base.guard import guard_expression
from sqlaudit.base.names import closest, quote
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
    relation: Relation, dialect: str, columns: Sequence[str] = (), exclude: Sequence[str] = ()
) -> tuple[Chosen, ...]:
    """The columns named, or all columns of the relation without the excluded ones.

    Raises:
        UsageError: a name is unknown or given twice, or nothing is left.
    """
    left_out = {find_column(relation, name).name for name in exclude}
    if columns:
        chosen = [choose_column(relation, dialect, text) for text in columns]
        chosen = [one for one in chosen if one.name not in left_out]
    else:
        chosen = [_plain(info, dialect) for info in relation.columns if info.name not in left_out]
    seen: set[str] = set()
    for one in chosen:
        if one.name in seen:
            raise UsageError(f"Column {one.name!r} is named twice.")
        seen.add(one.name)
    if not chosen:
        raise UsageError("No column is left to search; exclude fewer.")
    return tuple(chosen)


def choose_column(relation: Relation, dialect: str, text: str) -> Chosen:
    """One column by name (exact, else without regard to case), or else an expression."""
    info = _named(relation, text)
    if info is not None:
        return _plain(info, dialect)
    if text.replace("_", "a").replace("-", "a").isalnum():
        raise _unknown(relation, text)
    quoted = _named(relation, text[1:-1].replace('""', '"')) if text[:1] == text[-1:] == '"' else None
    if quoted is not None:  # also where the engine's SQL has texts between double quotes
        return replace(_plain(quoted, dialect), name=text)
    expression = guard_expression(text, dialect, about("columns"))
    if expression.find(exp.Column) is None:  # the same for every row: nobody could be told apart by it
        raise _unknown(relation, text)
    warn(remark_on(expression, kinds_of(relation.columns), dialect, text))
    return Chosen(text, expression.sql(dialect=dialect), Kind.OTHER)


def find_column(relation: Relation, text: str) -> ColumnInfo:
    """A column by name.

    Raises:
        UsageError: there is none.
    """
    info = _named(relation, text)
    if info is None:
        raise _unknown(relation, text)
    return info


def _plain(info: ColumnInfo, dialect: str) -> Chosen:
    return Chosen(info.name, quote(info.name, dialect), info.kind, info.type)


def _named(relation: Relation, text: str) -> ColumnInfo | None:
    exact = [info for info in relation.columns if info.name == text]
    loose = exact or [info for info in relation.columns if info.name.casefold() == text.casefold()]
    return loose[0] if len(loose) == 1 else None


def _unknown(relation: Relation, text: str) -> UsageError:
    hint = closest(text, [info.name for info in relation.columns])
    return UsageError(f"{relation.label} has no column {text!r}.{hint}")
