"""From a target to a FROM item of DuckDB: files of every format, tables, frames, and how they are read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields
from itertools import groupby
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import InputError, MissingDriver, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import literal, quote
from sqlaudit.base.relation import MissingCodes, Remark, Row
from sqlaudit.base.spec import ReadOptions, Target
from sqlaudit.base.sql import Raw, expression
from sqlaudit.engines.contract import partition_columns, refuse_same
from sqlaudit.engines.duckdb.csv import csv_source, hive_options, is_sampled, is_time, made_equal, odd_times, write_call
from sqlaudit.engines.duckdb.driver import DUCKDB_1
from sqlaudit.engines.duckdb.paths import Files
from sqlaudit.engines.duckdb.session import DIALECT, DuckDBSession

# How JSON files are read: by DuckDB's own reader, unless that would round a number.
#
# The reader makes a DOUBLE of every number with a point, and of whole numbers from 2^64 on, whatever type is asked for.
# So the file is looked through once for numbers that a DOUBLE changes. Where there is one, every record is read as it
# stands in the file, and columns that their type would change are text; so are dates and times that are written in
# several ways.

_WHOLE = 32_000_000
_NESTED = ("STRUCT(", "MAP(", "JSON", "[")


def json_source(
    session: DuckDBSession, files: Files, options: ReadOptions, folders: Sequence[str] = ()
) -> tuple[str, list[str], str]:
    """A FROM item over the files, the keys of their objects, and a FROM item with the texts of all values.

    Raises:
        InputError: no JSON, or records without keys, of numbers that DuckDB would round.
    """
    step = "open " + files.label
    whole = files.bytes <= _WHOLE
    arguments: dict[str, Any] = {"union_by_name": True, "sample_size": -1 if whole else 20_480}
    plain = write_call("read_json", files.texts, {**arguments, **hive_options(())})
    described = session.describe("SELECT * FROM " + plain, step)
    names = _keys(described)
    if options.all_text:
        arguments["columns"] = {row[0]: "VARCHAR" for row in described}
    records = write_call("read_json_objects", files.texts, hive_options(()))
    written = _exactly(files, options, described, names, folders, [True] * len(names))
    long = session.fetch(expression("engines/duckdb/read_json_long.sql", DIALECT, source=Raw(records)), step)[0][0]
    if long or not whole or any(_is_spelled(row[1]) for row in described):
        changed = _changed(session, files, described, names, records, numbers=bool(long or not whole))
        if any(changed) or (long and (options.all_text or not whole)):
            return _exactly(files, options, described, names, folders, changed), names, written
    return write_call("read_json", files.texts, {**arguments, **hive_options(folders)}), names, written


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
            f"{files.label!r} has numbers with more digits than DuckDB keeps in JSON, so different ones become equal. "
            "Write them in quotation marks, or as values of objects."
        )
    times = [
        (name, f"coalesce(json_extract_string(json, {_key(name)}), json_extract_string(json, '$'))", row[1], "")
        for name, row in zip(names, described, strict=True)
        if is_time(row[1]) or row[1] == "UUID"
    ]
    nested = [
        (name, f"coalesce(json_extract(json, {_key(name)}), json)", row[1], "")
        for name, row in zip(names, described, strict=True)
        if _is_nested(row[1]) and _is_spelled(row[1])
    ]
    step = "open " + files.label
    equal = made_equal(session, records, [*odd_times(session, records, times, step), *nested], step)
    if alone and equal:
        raise InputError(
            f"{files.label!r} has dates or times, or UUIDs, in several formats, so equal ones become one. Write them "
            "in one format, or as values of objects."
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
        columns.append((_key(name), how, kept, quote(column, DIALECT)))
    records = Raw(write_call("read_json_objects", files.texts, hive_options(folders)))
    quoted = [quote(folder, DIALECT) for folder in folders]
    template = "engines/duckdb/read_json_exactly.sql"
    return expression(template, DIALECT, source=records, columns=columns, folders=quoted)


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


def _is_spelled(type_name: str) -> bool:
    """Return True if several texts are one value of a type: dates, times, UUIDs, and numbers inside lists and objects.

    Of numbers that stand alone, the audit warns where both 1 and 1.0 occur.
    """
    spelled_types = ("DATE", "TIME", "UUID", *(("DOUBLE", "JSON") if _is_nested(type_name) else ()))
    return any(kind in type_name for kind in spelled_types)


def _key(name: str) -> str:
    """The pointer to a key of an object, as a literal."""
    return literal("/" + name.replace("~", "~0").replace("/", "~1"), DIALECT)


# What Parquet files say of their columns before a row is read.

_PLAIN = re.compile(r'\w+|"[^"]*"')
"""A name of a column, and no expression that may read others."""
_WITH_NAN = {"can_have_nan": True}
"""The statistics of a Parquet file leave NaN out. Without this argument DuckDB takes the largest number for the
maximum, drops NaN from filters and joins, and replaces `x > 5` and `max(x)` by what the statistics say."""
_ROUNDED = "coalesce(type = 'INT96'" + (
    " OR (logical_type LIKE '%NanoSeconds%' AND (logical_type LIKE 'TimeType%' OR logical_type LIKE '%UTC=1%'))"
    if DUCKDB_1
    else ""
)
"""Times whose nanoseconds DuckDB rounds; 1.x rounds more of them."""
_WANTED = f"file_name, name, num_children, duckdb_type, precision, {_ROUNDED}, FALSE)"
_WHOLE_TYPES = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")


def parquet_names(session: DuckDBSession, files: Files, named: frozenset[str] | None = None) -> list[str]:
    """The names of the top-level columns, which are the same in all files. Those that are named (None = all) have no
    times that DuckDB rounds.

    DuckDB takes the first file's columns and types for all: a column that only another file has would not be read, and
    1.5 would be read as 2 where the first file has whole numbers.

    Raises:
        InputError: files of different columns or types, or a decimal of more than 38 digits or a time in nanoseconds,
            which DuckDB would round.
        MissingDriver: pyarrow is needed to look for nanoseconds, and not installed.
    """
    call = write_call("parquet_schema", files.texts, {})
    rows = session.fetch("SELECT " + _WANTED + " FROM " + call, "open " + files.label)
    grouped = [(Path(file).name, list(group)) for file, group in groupby(rows, key=lambda row: row[0])]
    schemas = [[row[1:] for row in group] for _, group in grouped]
    for (file, _), schema in zip(grouped, schemas, strict=True):
        for name, _, _, precision, _ in schema:
            if precision is not None and precision > 38:
                raise InputError(
                    f"Column {name!r} of {files.label!r} has {precision} digits, more than DuckDB keeps (38)."
                )
        _refuse_other(schema, schemas[0], file, files.label)
    names, at = [], 1
    while at < len(schemas[0]):
        name, end = str(schemas[0][at][0]), _after(schemas[0], at)
        names.append(name)
        if any(row[-1] for schema in schemas for row in schema[at:end]):
            _refuse_nanoseconds(files, name, is_nested=end > at + 1, named=named)
        at = end
    return names


def _refuse_nanoseconds(files: Files, column: str, *, is_nested: bool, named: frozenset[str] | None) -> None:
    """Refuse a column of times with nanoseconds that DuckDB rounds, unless all columns that are named are others.

    Raises:
        InputError: there are nanoseconds, or they are inside lists or structs. MissingDriver: pyarrow is not installed.
    """
    names = {name.strip('"').casefold() for name in named or ()}
    if named is not None and column.casefold() not in names and all(map(_PLAIN.fullmatch, named)):
        return
    try:
        import pyarrow.compute as pc
        import pyarrow.parquet as pq
    except ImportError:
        hint = "pip install 'sqlaudit[frames]'"
        raise MissingDriver(f"Reading Parquet times in nanoseconds needs the package pyarrow: {hint}.") from None

    for path in files.paths if not is_nested else ():
        nanoseconds, micros = (pq.ParquetFile(path, coerce_int96_timestamp_unit=unit) for unit in ("ns", "us"))
        for fine, coarse in zip(*(file.iter_batches(columns=[column]) for file in (nanoseconds, micros)), strict=True):
            numbers = fine.column(0).cast("int64")
            kept = pc.multiply(coarse.column(0).cast("int64"), 1000)  # both wrap around beyond the year 2262
            if coarse.schema.types[0] == fine.schema.types[0]:
                kept = pc.multiply(pc.divide(numbers, 1000), 1000)
            is_nested = is_nested or bool(pc.any(pc.not_equal(numbers, kept)).as_py())
    if is_nested:
        raise InputError(
            f"Column {column!r} of {files.label!r} has times in nanoseconds, which DuckDB would round. Write them in "
            "microseconds, as timestamps without a time zone, or as text."
        )


def _has_float_blooms(session: DuckDBSession, files: Files) -> bool:
    """Return True if Bloom filters say which floats are there: DuckDB 1.x asks them for NaN and zero by their bits."""
    blooms = "SELECT count(bloom_filter_offset) FROM " + write_call("parquet_metadata", files.texts, {})
    return bool(session.fetch(blooms + " WHERE type IN ('FLOAT', 'DOUBLE')", "open " + files.label)[0][0])


def _refuse_other(schema: Sequence[Row], first: Sequence[Row], name: str, label: str) -> None:
    if [_facts(row) for row in schema[1:]] == [_facts(row) for row in first[1:]]:
        return
    known = [{row[0]: _facts(row) for row in rows[1:]} for rows in (first, schema)]
    odd = [column for column in (*known[0], *known[1]) if known[0].get(column) != known[1].get(column)]
    which = f": {odd[0]!r} is missing in one of them, or has another type there" if odd else ""
    raise InputError(
        f"{name!r} of {label!r} does not have the columns of the first file in the same order{which}. Write them with "
        "one schema, or audit them one by one."
    )


def _facts(row: Row) -> tuple[Any, ...]:
    """What must be the same in all files. Whole numbers of other widths are, as those that don't fit are an error."""
    name, children, type_name, precision, _ = row
    return name, children, "whole" if type_name in _WHOLE_TYPES else type_name, precision


def _after(rows: Sequence[Row], at: int) -> int:
    """The position behind a schema element and everything inside it."""
    end = at + 1
    for _ in range(rows[at][1] or 0):
        end = _after(rows, end)
    return end


# From a target to a FROM item of DuckDB: which files, tables or frames it means, and how they are read.

_FOR = {
    "delimiter": ("csv",),
    "encoding": ("csv", "spss", "stata", "sas"),
    "skip": ("csv",),
    "decimal": ("csv",),
    "null_values": ("csv", "excel", "spss", "stata", "sas"),
    "header": ("csv",),
    "all_text": ("csv", "json", "excel"),
    "hive_partitioning": ("csv", "json", "parquet", "arrow"),
    "sheet": ("excel",),
    "labels": ("spss", "stata"),
}
_CALLED = {"csv": "CSV", "excel": "Excel", "spss": "SPSS or Stata"}
"""How a sentence calls the formats of an option, by the first of them."""


@dataclass(frozen=True)
class InputSource:
    """Something to select from.

    Args:
        sql: a FROM item.
        names: the names that its columns have in the source, before DuckDB made them unique.
        tables: the tables or files that are read.
        parsed: whether every reading parses text again.
        remarks: what a reader of results should know of how it is read.
        written: of text files, a FROM item in which numbers are the texts that stand there.
        sampled, missing: as a relation has them.
        loses_nan: whether its scan leaves NaN out of filters, and equal zeros of other signs.
    """

    sql: str
    names: tuple[str, ...]
    tables: tuple[str, ...]
    parsed: bool = False
    remarks: tuple[Remark, ...] = ()
    written: str = ""
    sampled: bool = False
    missing: tuple[MissingCodes, ...] = ()
    loses_nan: bool = False


def file_source(session: DuckDBSession, files: Files, target: Target, frame_name: str) -> InputSource:
    """A FROM item over files.

    Args:
        session: where they are read.
        files: what `find_files` found.
        target: how they are read.
        frame_name: the name for a frame, when the files reach DuckDB as one.

    Raises:
        UsageError: a read option that this format does not have.
        InputError: files that are not what they claim to be.
    """
    options = target.read
    _refuse_options(files, options)
    folders = partition_columns(files.paths, files.label) if options.hive_partitioning else ()
    remarks: tuple[Remark, ...] = ()
    missing: tuple[MissingCodes, ...] = ()
    written, sampled, loses_nan = "", False, False
    if files.format == "csv":
        named = None if target.where else target.named
        sql, names, remarks, written = csv_source(session, files, options, folders, named, target.named)
        sampled = is_sampled(files, names, named)
    elif files.format == "json":
        sql, names, written = json_source(session, files, options, folders)
    elif files.format == "parquet":
        sql = write_call("read_parquet", files.texts, {**_WITH_NAN, **hive_options(folders)})
        names = parquet_names(session, files, None if target.where else target.named)
        loses_nan = DUCKDB_1 and _has_float_blooms(session, files)
    elif files.format != "arrow":
        from sqlaudit.engines.duckdb.office import office_source

        sql, names, remarks, missing = office_source(session, files, options, frame_name)
    else:
        from sqlaudit.engines.duckdb.frames import arrow_files

        frame, names = arrow_files(files, folders)
        session.register(frame_name, frame)
        sql, loses_nan = frame_name, DUCKDB_1
    refuse_same(names, folders, files.label)
    parsed = files.format in ("csv", "json")
    return InputSource(sql, (*names, *folders), (files.label,), parsed, remarks, written, sampled, missing, loses_nan)


def frame_source(session: DuckDBSession, frame: object, frame_name: str) -> InputSource:
    """A FROM item over a frame.

    Raises:
        UsageError, InputError, MissingDriver: see `scannable`.
    """
    from sqlaudit.engines.duckdb.frames import Rescanned, scannable

    readable, names = scannable(frame)
    session.register(frame_name, readable)
    return InputSource(frame_name, tuple(names), (), isinstance(readable, Rescanned), loses_nan=DUCKDB_1)


def refuse_twins(names: Sequence[str], described: Sequence[Row], label: str) -> None:
    """Refuse columns that differ in upper and lower case alone: DuckDB renames the second and mixes up the two.

    Raises:
        InputError: two such columns, by their names.
    """
    first: dict[str, str] = {}
    kept = {row[0] for row in described}
    for name in names:
        twin = first.setdefault(name.lower(), name)
        if twin != name and not {twin, name} <= kept:
            raise InputError(
                f"The columns {twin!r} and {name!r} of {label!r} differ only in upper and lower case, which DuckDB "
                "ignores. Rename one."
            )


def refuse_read_options(options: ReadOptions, what: str) -> None:
    """Refuse options that say how files are read where no file is read.

    Raises:
        UsageError: any option that was given.
    """
    given = [f.name.replace("_", " ") for f in fields(options) if getattr(options, f.name) != f.default]
    if given:
        raise UsageError(f"The option {given[0]!r} applies to files, not to {what}.")


def _refuse_options(files: Files, options: ReadOptions) -> None:
    for name, formats in _FOR.items():
        given = getattr(options, name) not in ((), "", None, False, 0, ".") or (
            name == "header" and options.header is False
        )
        if given and files.format not in formats:
            words = name.replace("_", " ")
            called = _CALLED[formats[0]]
            raise UsageError(f"The option {words!r} applies to {called} files, but {files.label!r} is {files.format}.")
