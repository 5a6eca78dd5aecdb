"""Names in a DuckDB database file: how it is called, and which table or view a user's text means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import closest, quote, split_name

Name = tuple[str, str, str]
"""Catalog, schema, table."""

UNNAMED = "source"
"""The name under which a database file is attached whose own name is reserved or must not be shown."""
_RESERVED = {"main", "memory", "system", "temp", "input", "information_schema", "pg_catalog"}
RELATIONS = """
SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = $1 AND NOT internal
UNION ALL
SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = $1 AND NOT internal
ORDER BY ALL
"""
VIEWS = "SELECT lower(view_name), sql FROM duckdb_views() WHERE database_name = $1 AND NOT internal"
MACROS = """
SELECT lower(function_name), macro_definition FROM duckdb_functions()
WHERE database_name = $1 AND function_type IN ('macro', 'table_macro') AND NOT internal AND macro_definition IS NOT NULL
"""
COLLATIONS = """
SELECT count(*) FROM (
    SELECT sql FROM duckdb_tables() WHERE database_name = $1
    UNION ALL
    SELECT sql FROM duckdb_views() WHERE database_name = $1
) WHERE contains(lower(sql), 'collate')
"""


def alias_for(path: Path) -> str:
    """Return the name under which a database file is attached: its own, as in DuckDB, unless that is reserved."""
    return UNNAMED if path.stem.lower() in _RESERVED or not path.stem else path.stem


def quote_name(name: Name) -> str:
    """Return the quoted, fully qualified name."""
    return ".".join(quote(part, "duckdb") for part in name)


def find_table(text: str, relations: Sequence[Name], database: str, *, by_catalog: bool = True) -> Name | None:
    """Return the table or view that a text names; None if there is none.

    The whole text may be a name as it is (`my table`, `a.b`); else its parts are read (`schema."odd name"`). An exact
    match goes before one in other letters, and the schema `main` before others.
    Where not `by_catalog`, a name of two parts is schema and table, and never database and table.

    Raises:
        UsageError: two relations fit equally well.
    """
    for reading in _readings(text):
        for fold in (str, str.lower):
            folded_reading = tuple(map(fold, reading))
            fits = [
                name
                for name in relations
                if len(reading) <= 3 and _names(folded_reading, [fold(part) for part in name], by_catalog)
            ]
            if len(fits) > 1 and len(reading) == 1:
                fits = [name for name in fits if name[1] == "main"] or fits
            if len(fits) > 1:
                both = " or ".join(repr(f"{schema}.{table}") for _, schema, table in fits[:2])
                raise UsageError(f"{text!r} is ambiguous in {database!r}: it may be {both}.")
            if fits:
                return fits[0]
    return None


def unknown_table(text: str, relations: Sequence[Name], database: str) -> UsageError:
    """Return the error for a table or view that does not exist, with the closest name."""
    names = [table if schema == "main" else f"{schema}.{table}" for _, schema, table in relations]
    hint = closest(text, names) or closest(text.rsplit(".", 1)[-1].strip('"'), names)
    return UsageError(f"There is no table or view {text!r} in {database!r}.{hint}")


def _readings(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the ways to read a text as a name: as it is, then as its parts."""
    yield (text,)
    if '"' in text or "." in text:
        yield split_name(text)


def _names(reading: tuple[str, ...], name: Sequence[str], by_catalog: bool) -> bool:
    """Return True if a reading is schema and table, catalog and table (as DuckDB allows), or the table alone."""
    catalog, schema, table = name
    return reading in (
        tuple(name[-len(reading) :]),
        (catalog, table) if schema == "main" and by_catalog else (schema, table),
    )
