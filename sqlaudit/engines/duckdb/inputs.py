"""From a target to a FROM item of DuckDB: which files, tables or frames it means, and how they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from sqlaudit.base.errors import InputError, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.relation import Remark, Row
from sqlaudit.base.spec import ReadOptions
from sqlaudit.engines.duckdb.calls import called, hive
from sqlaudit.engines.duckdb.csv import csv_source
from sqlaudit.engines.duckdb.frames import Rescanned, arrow_files, scannable
from sqlaudit.engines.duckdb.json import json_source
from sqlaudit.engines.duckdb.parquet import parquet_names
from sqlaudit.engines.duckdb.paths import Files
from sqlaudit.engines.duckdb.session import DuckDBSession
from sqlaudit.engines.hive import partition_columns, refuse_same

_CSV_ONLY = ("delimiter", "encoding", "null_values", "header")
PARSED = ("csv", "json")


@dataclass(frozen=True)
class InputSource:
    """Something to select from.

    Args:
        sql: a FROM item.
        names: the names that its columns have in the source, before DuckDB made them unique.
        tables: the tables or files that are read.
        parsed: whether every reading parses text again.
        remarks: what a reader of results should know of how it is read.
    """

    sql: str
    names: tuple[str, ...]
    tables: tuple[str, ...]
    parsed: bool = False
    remarks: tuple[Remark, ...] = ()


def file_source(session: DuckDBSession, files: Files, options: ReadOptions, frame_name: str) -> InputSource:
    """A FROM item over files.

    Args:
        session: where they are read.
        files: what `find_files` found.
        options: how they are read.
        frame_name: the name for a frame, when the files reach DuckDB as one.

    Raises:
        UsageError: a read option that this format does not have.
        InputError: files that are not what they claim to be.
    """
    _refuse_options(files, options)
    folders = partition_columns(files.paths, files.label) if options.hive_partitioning else ()
    remarks: tuple[Remark, ...] = ()
    if files.format == "csv":
        sql, names, remarks = csv_source(session, files, options, folders)
    elif files.format == "json":
        sql, names = json_source(session, files, options, folders)
    elif files.format == "parquet":
        sql = called("read_parquet", files.texts, hive(folders))
        names = parquet_names(session, files)
    else:
        frame, names = arrow_files(files, folders)
        session.register(frame_name, frame)
        sql = frame_name
    refuse_same(names, folders, files.label)
    return InputSource(sql, (*names, *folders), (files.label,), files.format in PARSED, remarks)


def frame_source(session: DuckDBSession, frame: object, frame_name: str) -> InputSource:
    """A FROM item over a frame.

    Raises:
        UsageError, InputError, MissingDriver: see `scannable`.
    """
    readable, names = scannable(frame)
    session.register(frame_name, readable)
    return InputSource(frame_name, tuple(names), (), isinstance(readable, Rescanned))


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
                f"The columns {twin!r} and {name!r} of {label!r} differ in upper and lower case alone, which DuckDB "
                "can't tell apart; rename one."
            )


def refuse_read_options(options: ReadOptions, what: str) -> None:
    """Refuse options that say how files are read where no file is read.

    Raises:
        UsageError: any option that was given.
    """
    given = [f.name.replace("_", " ") for f in fields(options) if getattr(options, f.name) != f.default]
    if given:
        raise UsageError(f"The option {given[0]!r} says how a file is read; it has no meaning for {what}.")


def _refuse_options(files: Files, options: ReadOptions) -> None:
    for name in (*_CSV_ONLY, "all_text"):
        given = getattr(options, name) not in ((), "", None, False) or (name == "header" and options.header is False)
        if given and files.format != "csv" and not (name == "all_text" and files.format == "json"):
            words = name.replace("_", " ")
            raise UsageError(f"The option {words!r} is for CSV files; {files.label!r} is {files.format}.")
