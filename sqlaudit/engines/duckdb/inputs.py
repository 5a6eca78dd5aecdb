"""From a target to a FROM item of DuckDB: files of every format, tables, frames, and how they are read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, fields
from itertools import groupby
from pathlib import Path

from sqlaudit.base.errors import InputError, MissingDriver, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import literal, quote
from sqlaudit.base.relation import MissingCodes, Remark, Row
from sqlaudit.base.spec import FILE_FORMATS, ReadOptions, Target
from sqlaudit.base.sql import Raw, expression
from sqlaudit.engines.contract import partition_columns, refuse_same
from sqlaudit.engines.duckdb.csv import (
    csv_source,
    decoded_files,
    find_times_made_equal,
    find_unusual_times,
    hive_options,
    is_sampled,
    is_time,
    write_call,
)
from sqlaudit.engines.duckdb.driver import DUCKDB_1
from sqlaudit.engines.duckdb.paths import Files
from sqlaudit.engines.duckdb.session import DIALECT, DuckDBSession

# How JSON files are read: by DuckDB's own reader, unless that would round a number.
#
# The reader makes a DOUBLE of every number with a point, and of whole numbers from 2^64 on, whatever type is requested.
# So the file is searched once for numbers that a DOUBLE changes. If there is one, every record is read as it is in the
# file, and columns that their type would change are text; so are dates and times that are written in several ways.

_FULL_SCAN_BYTES = 32_000_000
_NESTED = ("STRUCT(", "MAP(", "JSON", "[")


def json_source(
    session: DuckDBSession, files: Files, options: ReadOptions, folders: Sequence[str] = ()
) -> tuple[str, list[str], str]:
    """Return a FROM item over the files, the keys of their objects, and a FROM item with the texts of all values.

    Raises:
        InputError: the files are not JSON, or have records without keys whose numbers DuckDB would round.
    """
    step = "open " + files.label
    is_small = files.bytes <= _FULL_SCAN_BYTES
    arguments: dict[str, object] = {"union_by_name": True, "sample_size": -1 if is_small else 20_480}
    plain = write_call("read_json", files.texts, {**arguments, **hive_options(())})
    described = session.describe("SELECT * FROM " + plain, step)
    names = _restore_keys(described)
    if options.all_text:
        arguments["columns"] = {row[0]: "VARCHAR" for row in described}
    records = write_call("read_json_objects", files.texts, hive_options(()))
    texts = _select_exactly(files, options, described, names, folders, [True] * len(names))
    has_long = session.fetch(expression("engines/duckdb/read_json_long.sql", DIALECT, source=Raw(records)), step)[0][0]
    if has_long or not is_small or any(_is_spelled(row[1]) for row in described):
        changed = _find_changed(session, files, described, names, records, numbers=bool(has_long or not is_small))
        if any(changed) or (has_long and (options.all_text or not is_small)):
            return _select_exactly(files, options, described, names, folders, changed), names, texts
    return write_call("read_json", files.texts, {**arguments, **hive_options(folders)}), names, texts


def _find_changed(
    session: DuckDBSession, files: Files, described: Sequence[Row], names: Sequence[str], records: str, *, numbers: bool
) -> tuple[bool, ...]:
    """Return for each column whether its type would change a number or a time, or make several texts one date or time.

    Args:
        numbers: True if there may be numbers of more digits than DuckDB keeps.

    Raises:
        InputError: there are such numbers or times in records that are not objects with keys.
    """
    columns = [(_pointer(name), row[1], not _is_nested(row[1])) for name, row in zip(names, described, strict=True)]
    statement = expression("engines/duckdb/read_json_changed.sql", DIALECT, source=Raw(records), columns=columns)
    has_bare_values, *changed = session.fetch(statement, "open " + files.label)[0]
    if has_bare_values and numbers:
        raise InputError(
            f"{files.label!r} has numbers with more digits than DuckDB keeps in JSON, so different ones become equal. "
            "Write them in quotation marks, or as values of objects."
        )
    times = [
        (name, f"coalesce(json_extract_string(json, {_pointer(name)}), json_extract_string(json, '$'))", row[1], "")
        for name, row in zip(names, described, strict=True)
        if is_time(row[1]) or row[1] == "UUID"
    ]
    nested = [
        (name, f"coalesce(json_extract(json, {_pointer(name)}), json)", row[1], "")
        for name, row in zip(names, described, strict=True)
        if _is_nested(row[1]) and _is_spelled(row[1])
    ]
    step = "open " + files.label
    candidates = [*find_unusual_times(session, records, times, step), *nested]
    equal_names = find_times_made_equal(session, records, candidates, step)
    if has_bare_values and equal_names:
        raise InputError(
            f"{files.label!r} has dates or times, or UUIDs, in several formats, so equal ones become one. Write them "
            "in one format, or as values of objects."
        )
    return tuple(is_changed or name in equal_names for name, is_changed in zip(names, changed, strict=True))


def _select_exactly(
    files: Files,
    options: ReadOptions,
    described: Sequence[Row],
    names: Sequence[str],
    folders: Sequence[str],
    changed: Sequence[bool],
) -> str:
    """Return a FROM item that reads every record as it is in the file.

    A list or object of a changed column is text in which every number is a string that begins with `number:`.
    """
    columns = []
    for (column, type_name, *_), name, as_text in zip(described, names, changed, strict=True):
        nested = _is_nested(type_name)
        column_type = "VARCHAR" if as_text or options.all_text else "JSON" if nested else type_name
        form = "simple" if not nested else "marked" if as_text else "nested"
        columns.append((_pointer(name), form, column_type, quote(column, DIALECT)))
    records = Raw(write_call("read_json_objects", files.texts, hive_options(folders)))
    quoted = [quote(folder, DIALECT) for folder in folders]
    template = "engines/duckdb/read_json_exactly.sql"
    return expression(template, DIALECT, source=records, columns=columns, folders=quoted)


def _restore_keys(described: Sequence[Row]) -> list[str]:
    """Return the keys. DuckDB gives the name `A_1` to a key `A` beside `a`, and does not report the keys themselves."""
    names = [row[0] for row in described]
    spelled = {name.lower(): name for name in names}
    keys = []
    for name in names:
        base, _, number = name.rpartition("_")
        first_key = spelled.get(base.lower())
        keys.append(base if number.isdigit() and first_key is not None and first_key != base else name)
    return keys


def _is_nested(type_name: str) -> bool:
    return any(sign in type_name for sign in _NESTED)


def _is_spelled(type_name: str) -> bool:
    """Return True if several texts are one value of a type: dates, times, UUIDs, and numbers inside lists and objects.

    Numbers outside of lists are not among them: the audit itself warns if both 1 and 1.0 occur.
    """
    spelled_types = ("DATE", "TIME", "UUID", *(("DOUBLE", "JSON") if _is_nested(type_name) else ()))
    return any(kind in type_name for kind in spelled_types)


def _pointer(name: str) -> str:
    """Return the JSON pointer to a key of an object, as a literal."""
    return literal("/" + name.replace("~", "~0").replace("/", "~1"), DIALECT)


# The schemas of Parquet files, which are read before any row.

_PLAIN = re.compile(r'\w+|"[^"]*"')
"""A name of a column, and no expression that may read others."""
_WITH_NAN = {"can_have_nan": True}
"""The statistics of a Parquet file leave NaN out. Without this argument DuckDB takes the largest number for the
maximum, drops NaN from filters and joins, and replaces `x > 5` and `max(x)` by the statistics."""
_ROUNDED = "coalesce(type = 'INT96'" + (
    " OR (logical_type LIKE '%NanoSeconds%' AND (logical_type LIKE 'TimeType%' OR logical_type LIKE '%UTC=1%'))"
    if DUCKDB_1
    else ""
)
"""Times whose nanoseconds DuckDB rounds; 1.x rounds more of them."""
_SCHEMA_COLUMNS = f"file_name, name, num_children, duckdb_type, precision, {_ROUNDED}, FALSE)"
_WHOLE_TYPES = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")


def parquet_names(session: DuckDBSession, files: Files, named: frozenset[str] | None = None) -> list[str]:
    """Return the names of the top-level columns, which are the same in all files. Raise InputError if a column in
    `named` (None = all) has times that DuckDB rounds.

    DuckDB takes the first file's columns and types for all: a column that only another file has would not be read, and
    1.5 would be read as 2 where the first file has whole numbers.

    Raises:
        InputError: files of different columns or types, or a decimal of more than 38 digits or a time in nanoseconds,
            which DuckDB would round.
        MissingDriver: pyarrow is needed to look for nanoseconds, and not installed.
    """
    call = write_call("parquet_schema", files.texts, {})
    rows = session.fetch("SELECT " + _SCHEMA_COLUMNS + " FROM " + call, "open " + files.label)
    grouped = [(Path(file).name, list(group)) for file, group in groupby(rows, key=lambda row: row[0])]
    schemas = [[row[1:] for row in group] for _, group in grouped]
    for (file, _), schema in zip(grouped, schemas, strict=True):
        for name, _, _, precision, _ in schema:
            if precision is not None and precision > 38:
                raise InputError(
                    f"Column {name!r} of {files.label!r} has {precision} digits, more than DuckDB keeps (38)."
                )
        _refuse_other_schema(schema, schemas[0], file, files.label)
    names, position = [], 1
    while position < len(schemas[0]):
        name, end = str(schemas[0][position][0]), _skip_element(schemas[0], position)
        names.append(name)
        if any(row[-1] for schema in schemas for row in schema[position:end]):
            _refuse_nanoseconds(files, name, is_nested=end > position + 1, named=named)
        position = end
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
            rounded = pc.multiply(coarse.column(0).cast("int64"), 1000)  # both wrap around beyond the year 2262
            if coarse.schema.types[0] == fine.schema.types[0]:
                rounded = pc.multiply(pc.divide(numbers, 1000), 1000)
            is_nested = is_nested or bool(pc.any(pc.not_equal(numbers, rounded)).as_py())
    if is_nested:
        raise InputError(
            f"Column {column!r} of {files.label!r} has times in nanoseconds, which DuckDB would round. Write them in "
            "microseconds, as timestamps without a time zone, or as text."
        )


def _has_float_blooms(session: DuckDBSession, files: Files) -> bool:
    """Return True if Bloom filters hold floats: DuckDB 1.x looks NaN and zero up in them by their bits."""
    blooms = "SELECT count(bloom_filter_offset) FROM " + write_call("parquet_metadata", files.texts, {})
    return bool(session.fetch(blooms + " WHERE type IN ('FLOAT', 'DOUBLE')", "open " + files.label)[0][0])


def _refuse_other_schema(schema: Sequence[Row], first: Sequence[Row], name: str, label: str) -> None:
    """Raise InputError if a file does not have the columns of the first one, in the same order."""
    if [_schema_facts(row) for row in schema[1:]] == [_schema_facts(row) for row in first[1:]]:
        return
    facts = [{row[0]: _schema_facts(row) for row in rows[1:]} for rows in (first, schema)]
    differing = [column for column in (*facts[0], *facts[1]) if facts[0].get(column) != facts[1].get(column)]
    detail = f": {differing[0]!r} is missing in one of them, or has another type there" if differing else ""
    raise InputError(
        f"{name!r} of {label!r} does not have the columns of the first file in the same order{detail}. Write them with "
        "one schema, or audit them one by one."
    )


def _schema_facts(row: Row) -> tuple[object, ...]:
    """Return the facts of a column that must be the same in all files. The width of whole numbers may differ, since a
    number that does not fit is an error.
    """
    name, children, type_name, precision, _ = row
    return name, children, "whole" if type_name in _WHOLE_TYPES else type_name, precision


def _skip_element(rows: Sequence[Row], position: int) -> int:
    """Return the position after a schema element and everything inside it."""
    end = position + 1
    for _ in range(rows[position][1] or 0):
        end = _skip_element(rows, end)
    return end


# From a target to a FROM item of DuckDB: which files, tables or frames it means, and how they are read.

FORMATS_OF_OPTIONS = {
    "format": FILE_FORMATS,
    "delimiter": ("csv",),
    "encoding": ("csv", "spss", "stata", "sas"),
    "skip": ("csv", "excel"),
    "decimal": ("csv",),
    "date_order": ("csv",),
    "null_values": ("csv", "excel", "spss", "stata", "sas"),
    "header": ("csv", "excel"),
    "all_text": ("csv", "json", "excel"),
    "hive_partitioning": ("csv", "json", "parquet", "arrow"),
    "sheet": ("excel",),
    "labels": ("spss", "stata"),
}
"""The formats that an option of how files are read applies to."""
_FORMAT_NAMES = {"csv": "CSV", "excel": "Excel", "spss": "SPSS or Stata"}
"""The formats of an option as messages call them, by the first of the formats."""


@dataclass(frozen=True)
class InputSource:
    """A FROM item over an input, with its tables, remarks and properties.

    Args:
        sql: a FROM item.
        names: the names that its columns have in the source, before DuckDB made them unique.
        tables: the tables or files that are read.
        parsed: True if every reading parses text again.
        remarks: notes for readers of results on how the input is read.
        written: a FROM item in which numbers are the texts of the file; empty for other inputs.
        sampled, missing: as in `Relation`.
        loses_nan: True if its scan leaves NaN out of filters, and equal zeros of the other sign.
        labels: the variable labels of its columns, by name.
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
    labels: Mapping[str, str] = field(default_factory=dict)


def file_source(session: DuckDBSession, files: Files, target: Target, frame_name: str) -> InputSource:
    """Return a FROM item over files.

    Args:
        session: the session that reads them.
        files: the files, from `find_files`.
        target: the target, with the options for reading.
        frame_name: the name for a frame, when the files reach DuckDB as one.

    Raises:
        UsageError: a read option that this format does not have.
        InputError: files that cannot be read in their format.
    """
    options = target.read_as(name for name, formats in FORMATS_OF_OPTIONS.items() if files.format in formats)
    _refuse_options(files, options)
    folders = partition_columns(files.paths, files.label) if options.hive_partitioning else ()
    remarks: tuple[Remark, ...] = ()
    missing: tuple[MissingCodes, ...] = ()
    labels: dict[str, str] = {}
    texts, sampled, loses_nan = "", False, False
    if files.format == "csv":
        files, options = decoded_files(session, files, options)
        named = None if target.where else target.named
        sql, names, remarks, texts = csv_source(session, files, options, folders, named, target.named)
        sampled = is_sampled(files, names, named)
    elif files.format == "json":
        sql, names, texts = json_source(session, files, options, folders)
    elif files.format == "parquet":
        sql = write_call("read_parquet", files.texts, {**_WITH_NAN, **hive_options(folders)})
        names = parquet_names(session, files, None if target.where else target.named)
        loses_nan = DUCKDB_1 and _has_float_blooms(session, files)
    elif files.format != "arrow":
        from sqlaudit.engines.duckdb.office import office_source

        sql, labels, remarks, missing = office_source(session, files, options, frame_name)
        names = [*labels]
    else:
        from sqlaudit.engines.duckdb.frames import arrow_files

        frame, names = arrow_files(files, folders)
        session.register(frame_name, frame)
        sql, loses_nan = frame_name, DUCKDB_1
    refuse_same(names, folders, files.label)
    parsed = files.format in ("csv", "json")
    return InputSource(
        sql, (*names, *folders), (files.label,), parsed, remarks, texts, sampled, missing, loses_nan, labels
    )


def frame_source(session: DuckDBSession, frame: object, frame_name: str) -> InputSource:
    """Return a FROM item over a frame.

    Raises:
        UsageError, InputError, MissingDriver: see `make_scannable`.
    """
    from sqlaudit.engines.duckdb.frames import Rescanned, make_scannable

    readable, names = make_scannable(frame)
    session.register(frame_name, readable)
    return InputSource(frame_name, tuple(names), (), isinstance(readable, Rescanned), loses_nan=DUCKDB_1)


def refuse_twins(names: Sequence[str], described: Sequence[Row], label: str) -> None:
    """Refuse columns that differ in upper and lower case alone: DuckDB renames the second and mixes up the two.

    Raises:
        InputError: two such columns, by their names.
    """
    first: dict[str, str] = {}
    described_names = {row[0] for row in described}
    for name in names:
        twin = first.setdefault(name.lower(), name)
        if twin != name and not {twin, name} <= described_names:
            raise InputError(
                f"The columns {twin!r} and {name!r} of {label!r} differ only in upper and lower case, which DuckDB "
                "ignores. Rename one."
            )


def refuse_read_options(options: ReadOptions, what: str) -> None:
    """Refuse options for reading files if no file is read.

    Raises:
        UsageError: an option is set.
    """
    changed_options = [f.name.replace("_", " ") for f in fields(options) if f.name in options.given]
    if changed_options:
        raise UsageError(f"The option {changed_options[0]!r} applies to files, not to {what}.")


def _refuse_options(files: Files, options: ReadOptions) -> None:
    """Raise UsageError if an option is set that does not apply to files of this format."""
    for name, formats in FORMATS_OF_OPTIONS.items():
        if name in options.given and files.format not in formats:
            words = name.replace("_", " ")
            kinds = _FORMAT_NAMES[formats[0]]
            raise UsageError(f"The option {words!r} applies to {kinds} files, but {files.label!r} is {files.format}.")
