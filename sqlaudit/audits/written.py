"""Files of a release: written with the labels of the original, and read back before they have their name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import EngineError, SqlauditError
from sqlaudit.base.files import DATABASE, Batches, write_database, write_rows
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import quote
from sqlaudit.base.office_files import FORMATS, Variable, names_in_file, read_variables, refusal, write_office
from sqlaudit.base.relation import Relation, Remark
from sqlaudit.base.spec import ReadOptions, Target
from sqlaudit.base.sql import render
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.duckdb.paths import find_files

_NAMED = 5
"""Largest number of columns that a remark names."""


@dataclass(frozen=True)
class Origin:
    """The table behind a release, for labels.

    Args:
        target: the table; None = no labels. keys: the columns of the release that may be generalized.
        made: those that the table has not.
    """

    target: Target | None
    keys: Collection[str] = ()
    made: Collection[str] = ()


def write_file(
    engine: Engine,
    file: Path,
    names: Sequence[str],
    batches: Batches,
    check: Callable[[Path, Path | None], None] | None = None,
    encoding: str = "utf-8",
    origin: Origin | None = None,
    notes: Mapping[str, str] | None = None,
) -> int:
    """Write the rows of a release into a file; return their number.

    Args:
        engine: has the table, and gets the remark on columns with other names. file: the file. names: its columns.
        batches: its rows.
        check: looks at the file before it has its name; None = files of Excel, SPSS and Stata are compared with the
            rows.
        encoding: of a CSV file. origin: the table, whose labels a file of SPSS or Stata keeps.
        notes: metadata of a Parquet file, by key.

    Raises:
        UsageError: the file cannot be written, or would not keep all values. EngineError: it has other rows.
    """
    format = FORMATS.get(file.suffix.lower(), "")
    variables = _variables_of(engine, origin) if origin is not None and format in ("spss", "stata") else {}
    report = None if engine.progress is None else partial(engine.progress, "write the file")
    office: Callable[[Path, Path], None]
    office = partial(write_office, file=file, names=names, variables=variables, report=report)
    if file.suffix.lower() == DATABASE:
        office = write_database
    compare = partial(_compare, engine, file, names) if format else None
    count = write_rows(file, names, batches, check or compare, encoding=encoding, office=office, notes=notes)
    renamed = [pair for pair in zip(names, names_in_file(file, names), strict=True) if pair[0] != pair[1]]
    if renamed:
        listed = ", ".join(f"{name!r} is {made}" for name, made in renamed[:_NAMED])
        listed += f", and {len(renamed) - _NAMED} more" if len(renamed) > _NAMED else ""
        text = f"Columns of {file.name!r} have other names, because its format does not allow theirs: {listed}."
        engine.note_remarks(Relation("", (), str(file), remarks=(Remark("renamed_columns", text),)))
    return count


def _variables_of(engine: Engine, origin: Origin) -> dict[str, Variable]:
    """Return the labels and formats of the original, if it is one file of SPSS, Stata or SAS; else none."""
    original = origin.target
    if original is None or not (engine.reads_files and original.relation):
        return {}
    try:
        files = find_files(original.relation, original.read.format)
    except SqlauditError:  # a table of a database
        return {}
    if files.format not in ("spss", "stata", "sas"):
        return {}
    variables = read_variables(files.paths[0], files.format, original.read.encoding)
    if original.read.labels:  # then cells are labels, and no code of theirs
        variables = {name: replace(variable, values={}, missing=()) for name, variable in variables.items()}
    return {
        name: replace(variable, is_key=name in origin.keys)
        for name, variable in variables.items()
        if name not in origin.made
    }


def written_target(written: Path, file: Path, **options: Any) -> Target:
    """Return a file that was written as a target, which is called as it will be."""
    suffix = file.suffix.lower()
    format = FORMATS.get(suffix, suffix.removeprefix("."))
    header = True if format in ("csv", "excel") else None
    return Target(relation=str(written), read=ReadOptions(format=format, header=header, **options), label=str(file))


def rows_target(rows: Path | None) -> tuple[Target, ...]:
    """Return the Parquet file of the rows of a file as a target, if there is one."""
    return () if rows is None else (Target(relation=str(rows), read=ReadOptions(format="parquet")),)


def _compare(engine: Engine, file: Path, names: Sequence[str], written: Path, rows: Path | None) -> None:
    """Raise an error if a file that was written does not have the cells of its rows."""
    target = written_target(written, file)
    with connect(None, None, target, *rows_target(rows)) as reader:
        reader.progress = engine.progress
        refuse_changed_cells(reader, reader.open(target), rows, file, names)


def refuse_changed_cells(
    reader: Engine, written: Relation, rows: Path | None, file: Path, names: Sequence[str]
) -> None:
    """Raise an error if a file of Excel, SPSS or Stata does not have the cells of its rows, all of them.

    Args:
        reader: the engine in which both are open. written: the file. rows: its rows; None for other formats.
        file: the file's name, for messages. names: its columns.

    Raises:
        UsageError: a column has other values. EngineError: the file has other names, or other rows.
    """
    if rows is None:
        return
    source = reader.open(*rows_target(rows))
    if [column.name for column in written.columns] != names_in_file(file, names):
        raise EngineError(f"{str(file)!r} could not be read back: its columns have other names. It was not written.")
    is_spss = FORMATS[file.suffix.lower()] == "spss"
    pairs = [
        {"row": quote(row.name, "duckdb"), "cell": quote(cell.name, "duckdb"), "type": row.type}
        for row, cell in zip(source.columns, written.columns, strict=True)
    ]

    def differing(columns: Sequence[dict[str, str]]) -> int:
        given: dict[str, Any] = {"rows": source, "written": written, "columns": columns, "rounded": is_spss}
        statement = render("audits/changed_cells.sql", "duckdb", step="compare cells", **given)
        return int(reader.run(statement)[0][0])

    if not differing(pairs):
        return
    for name, row, pair in zip(names, source.columns, pairs, strict=True):
        if differing([pair]):
            raise refusal(file, name, row.type)
    raise EngineError(f"{str(file)!r} could not be read back: it has other rows. It was not written.")
