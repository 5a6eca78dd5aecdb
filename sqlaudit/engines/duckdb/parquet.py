"""What Parquet files say of their columns before a row is read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from sqlaudit.base.errors import InputError
from sqlaudit.base.relation import Row
from sqlaudit.engines.duckdb.calls import called
from sqlaudit.engines.duckdb.paths import Files
from sqlaudit.engines.duckdb.session import DuckDBSession

_WANTED = "file_name, name, num_children, duckdb_type, precision"
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")


def parquet_names(session: DuckDBSession, files: Files) -> list[str]:
    """The names of the top-level columns, which are the same in all files.

    DuckDB takes the first file's columns and types for all: a column that only another file has would not be read, and
    1.5 would be read as 2 where the first file has whole numbers.

    Raises:
        InputError: files of different columns or types, or a decimal of more than 38 digits, which DuckDB would round.
    """
    call = called("parquet_schema", files.texts, {})
    rows = session.fetch("SELECT " + _WANTED + " FROM " + call, "open " + files.label)
    schemas = [[row[1:] for row in group] for _, group in groupby(rows, key=lambda row: row[0])]
    for schema in schemas:
        _refuse_long(schema, files.label)
        _refuse_other(schema, schemas[0], files.label)
    names, at = [], 1
    while at < len(schemas[0]):
        names.append(str(schemas[0][at][0]))
        at = _after(schemas[0], at)
    return names


def _refuse_long(schema: Sequence[Row], label: str) -> None:
    for name, _, _, precision in schema:
        if precision is not None and precision > 38:
            raise InputError(f"Column {name!r} of {label!r} has {precision} digits, more than DuckDB keeps (38).")


def _refuse_other(schema: Sequence[Row], first: Sequence[Row], label: str) -> None:
    if [_facts(row) for row in schema[1:]] == [_facts(row) for row in first[1:]]:
        return
    names = [{row[0]: _facts(row) for row in rows[1:]} for rows in (first, schema)]
    odd = [name for name in (*names[0], *names[1]) if names[0].get(name) != names[1].get(name)]
    which = f": {odd[0]!r} is missing in one of them, or has another type there" if odd else ""
    raise InputError(
        f"The files of {label!r} do not have the same columns in the same order{which}; write them with one schema, or "
        "audit them one by one."
    )


def _facts(row: Row) -> tuple[Any, ...]:
    """What must be the same in all files. Whole numbers of other widths are, as those that don't fit are an error."""
    name, children, type_name, precision = row
    return name, children, "whole" if type_name in _WHOLE else type_name, precision


def _after(rows: Sequence[Row], at: int) -> int:
    """The position behind a schema element and everything inside it."""
    end = at + 1
    for _ in range(rows[at][1] or 0):
        end = _after(rows, end)
    return end
