"""How JSON files are read: by DuckDB's own reader, unless that would round a number.

The reader makes a DOUBLE of every number with a point, and of whole numbers from 2^64 on, whatever type is asked for.
So the file is looked through once for numbers that a DOUBLE changes. Where there is one, every record is read as it
stands in the file, and columns that their type would change are text; so are dates and times that are written in
several ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlaudit.base.errors import InputError
from sqlaudit.base.names import literal, quote
from sqlaudit.base.relation import Row
from sqlaudit.base.spec import ReadOptions
from sqlaudit.base.sql import Raw, expression
from sqlaudit.engines.duckdb.calls import called, hive, is_time
from sqlaudit.engines.duckdb.paths import Files
from sqlaudit.engines.duckdb.session import DIALECT, DuckDBSession

_WHOLE = 32_000_000
_NESTED = ("STRUCT(", "MAP(", "JSON", "[")


def json_source(
    session: DuckDBSession, files: Files, options: ReadOptions, folders: Sequence[str] = ()
) -> tuple[str, list[str]]:
    """A FROM item over the files, and the keys of their objects.

    Raises:
        InputError: no JSON, or records without keys, of numbers that DuckDB would round.
    """
    step = "open " + files.label
    whole = files.bytes <= _WHOLE
    arguments: dict[str, Any] = {"union_by_name": True, "sample_size": -1 if whole else 20_480}
    plain = called("read_json", files.texts, {**arguments, **hive(())})
    described = session.describe("SELECT * FROM " + plain, step)
    names = _keys(described)
    if options.all_text:
        arguments["columns"] = {row[0]: "VARCHAR" for row in described}
    records = called("read_json_objects", files.texts, hive(()))
    long = session.fetch(expression("engines/duckdb/read_json_long.sql", DIALECT, source=Raw(records)), step)[0][0]
    if long or not whole or any(is_time(row[1]) for row in described):
        changed = _changed(session, files, described, names, records, numbers=bool(long or not whole))
        if any(changed) or (long and (options.all_text or not whole)):
            return _exactly(files, options, described, names, folders, changed), names
    return called("read_json", files.texts, {**arguments, **hive(folders)}), names


def _changed(
    session: DuckDBSession, files: Files, described: Sequence[Row], names: Sequence[str], records: str, *, numbers: bool
) -> tuple[bool, ...]:
    """Which columns have a number, or a time, that their type would change, or texts that are one date or time.

    Args:
        numbers: whether there may be numbers of so many digits.

    Raises:
        InputError: there are such numbers or times, and records that are no objects with keys.
    """
    columns = [(_key(name), row[1], not _is_nested(row[1])) for name, row in zip(names, described, strict=True)]
    statement = expression("engines/duckdb/read_json_changed.sql", DIALECT, source=Raw(records), columns=columns)
    alone, *changed = session.fetch(statement, "open " + files.label)[0]
    if alone and numbers:
        raise InputError(
            f"{files.label!r} has numbers with more digits than DuckDB keeps in JSON, so different ones would become "
            "equal; write them in quotation marks, or as values of objects."
        )
    times = [
        (name, f"coalesce(json_extract_string(json, {_key(name)}), json_extract_string(json, '$'))", row[1], "")
        for name, row in zip(names, described, strict=True)
        if is_time(row[1])
    ]
    equal: set[str] = set()
    if times:
        from sqlaudit.engines.duckdb.times import made_equal, odd_times

        step = "open " + files.label
        equal = made_equal(session, records, odd_times(session, records, times, step), step)
    if alone and equal:
        raise InputError(
            f"{files.label!r} has dates or times that are written in several ways, and equal ones would become one; "
            "write them in one way, or as values of objects."
        )
    return tuple(one or name in equal for name, one in zip(names, changed, strict=True))


def _exactly(
    files: Files,
    options: ReadOptions,
    described: Sequence[Row],
    names: Sequence[str],
    folders: Sequence[str],
    changed: Sequence[bool],
) -> str:
    """A FROM item that reads every record as it stands in the file.

    A list or object with such numbers is text in which every number is a string that begins with `number:`.
    """
    columns = []
    for (column, type_name, *_), name, as_text in zip(described, names, changed, strict=True):
        nested = _is_nested(type_name)
        kept = "VARCHAR" if as_text or options.all_text else "JSON" if nested else type_name
        how = "simple" if not nested else "marked" if as_text else "nested"
        columns.append((_key(name), how, kept, _quoted(column)))
    records = called("read_json_objects", files.texts, hive(folders))
    return expression(
        "engines/duckdb/read_json_exactly.sql",
        DIALECT,
        source=Raw(records),
        columns=columns,
        folders=[_quoted(f) for f in folders],
    )


def _keys(described: Sequence[Row]) -> list[str]:
    """The keys; DuckDB gives `A_1` to a key `A` beside `a`, and the keys themselves can't be asked for."""
    names = [row[0] for row in described]
    spelled = {name.lower(): name for name in names}
    result = []
    for name in names:
        base, _, number = name.rpartition("_")
        other = spelled.get(base.lower())
        result.append(base if number.isdigit() and other is not None and other != base else name)
    return result


def _is_nested(type_name: str) -> bool:
    return any(sign in type_name for sign in _NESTED)


def _key(name: str) -> str:
    """The pointer to a key of an object, as a literal."""
    return literal("/" + name.replace("~", "~0").replace("/", "~1"), DIALECT)


def _quoted(name: str) -> str:
    return quote(name, DIALECT)
