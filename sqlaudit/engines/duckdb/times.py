"""Dates and times of text files: texts that differ stay different, as `12:00` and `12:00:00`, or a day in two forms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlaudit.base.names import literal
from sqlaudit.base.sql import Raw, expression
from sqlaudit.engines.duckdb.session import DIALECT, DuckDBSession

_TIMES = ("DATE", "TIME")

Texts = tuple[str, str, str, str]
"""Of a column of texts its name, its SQL, the type that it is read as, and the format of its dates (empty = ISO's)."""


def is_time(type_name: str) -> bool:
    """Whether a type is one of dates or times."""
    return type_name.startswith(_TIMES) and "[" not in type_name


def made_equal(session: DuckDBSession, source: str, columns: Iterable[Texts], step: str) -> set[str]:
    """The names of columns in which several texts become one date or time.

    Texts that are written as DuckDB writes their values are as many as these. Where some are not, all are counted.

    Args:
        source: a FROM item with the texts. columns: those that are read as dates or times. step: what is being done.
    """
    odd = _asked(session, source, list(columns), step, counted=False)
    return {name for name, *_ in _asked(session, source, odd, step, counted=True)}


def _asked(
    session: DuckDBSession, source: str, columns: Sequence[Texts], step: str, *, counted: bool
) -> Sequence[Texts]:
    if not columns:
        return ()
    described = [(text, type_name, literal(form, DIALECT) if form else "") for _, text, type_name, form in columns]
    statement = expression(
        "engines/duckdb/read_times.sql", DIALECT, source=Raw(source), columns=described, counted=counted
    )
    found = session.fetch(statement, step)[0]
    return [column for column, differ in zip(columns, found, strict=True) if differ]
