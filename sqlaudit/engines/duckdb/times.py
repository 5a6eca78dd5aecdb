"""Dates and times of text files: texts that differ stay different, as `12:00` and `12:00:00`, or a day in two forms."""

from __future__ import annotations

from collections.abc import Sequence

from sqlaudit.base.names import literal
from sqlaudit.base.sql import Raw, expression
from sqlaudit.engines.duckdb.session import DIALECT, DuckDBSession

Texts = tuple[str, str, str, str]
"""Of a column of texts its name, its SQL, the type that it is read as, and the format of its dates (empty = ISO's)."""


def odd_times(session: DuckDBSession, source: str, columns: Sequence[Texts], step: str) -> Sequence[Texts]:
    """The columns in which a date or time is not written as DuckDB writes it; in others, texts are as many as values.

    Args:
        source: a FROM item with the texts. columns: those that are read as dates or times. step: what is being done.
    """
    return _asked(session, source, columns, step, counted=False)


def made_equal(session: DuckDBSession, source: str, columns: Sequence[Texts], step: str) -> set[str]:
    """The names of columns in which several texts become one date or time; all texts are counted.

    Args:
        source: a FROM item with the texts. columns: those where that may be. step: what is being done.
    """
    return {name for name, *_ in _asked(session, source, columns, step, counted=True)}


def described(columns: Sequence[Texts]) -> list[tuple[str, str, str]]:
    """Columns as the templates take them."""
    return [(text, type_name, literal(form, DIALECT) if form else "") for _, text, type_name, form in columns]


def _asked(
    session: DuckDBSession, source: str, columns: Sequence[Texts], step: str, *, counted: bool
) -> Sequence[Texts]:
    if not columns:
        return ()
    statement = expression(
        "engines/duckdb/read_times.sql", DIALECT, source=Raw(source), columns=described(columns), counted=counted
    )
    found = session.fetch(statement, step)[0]
    return [column for column, differ in zip(columns, found, strict=True) if differ]
