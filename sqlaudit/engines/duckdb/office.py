"""Excel sheets and the files of SPSS, Stata and SAS, which are copied into the private DuckDB in batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlaudit.base.errors import InputError, UsageError
from sqlaudit.base.names import literal, quote
from sqlaudit.base.office_files import TITLES, import_package
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import MissingCodes, Remark
from sqlaudit.base.spec import ReadOptions
from sqlaudit.base.sql import Raw, expression
from sqlaudit.engines.duckdb.excel import read_excel
from sqlaudit.engines.duckdb.file_contents import LETTER, LETTERS, Codes, FileColumn
from sqlaudit.engines.duckdb.paths import Files
from sqlaudit.engines.duckdb.session import DIALECT, DuckDBSession
from sqlaudit.engines.duckdb.statistics_files import read_statistics
from sqlaudit.engines.duckdb.types import kind_of

_NAMED = 5
"""Largest number of columns that a remark names."""
_TEMPLATE = "engines/duckdb/read_office"


def office_source(
    session: DuckDBSession, files: Files, options: ReadOptions, name: str
) -> tuple[str, dict[str, str], tuple[Remark, ...], tuple[MissingCodes, ...]]:
    """Return a table of the session with all rows of a file, its columns with their labels, remarks, and its codes.

    Args:
        session: the session. files: one file. options: the sheet, and how values are read. name: name of the table.

    Raises:
        UsageError: several files, or a sheet that is missing or not named. MissingDriver: a package is missing.
        InputError: the file is damaged, has no header, or cannot be read in full.
    """
    if len(files.paths) > 1:
        title = TITLES[files.format].split()[1]
        raise UsageError(f"{files.label!r} names {len(files.paths)} {title} files; name one at a time.")
    pa = import_package(files.format, "pyarrow")
    step, raw, batch = "open " + files.label, name + "_raw", name + "_batch"
    reader = read_excel if files.format == "excel" else read_statistics
    columns, batches, remarks, codes = session.guarded(step, lambda: reader(files, options))
    names = [column.name for column in columns]
    _refuse_same_names(names, files.label)
    labels = {column.name: column.label for column in columns}
    insert = "CREATE TABLE " + quote(raw, DIALECT) + " AS "
    while (values := session.guarded(step, lambda: next(batches, None))) is not None:
        arrays = [pa.array(cells, column.kind) for cells, column in zip(values, columns, strict=True)]
        session.register(batch, pa.table(arrays, names=names))
        session.fetch(insert + "SELECT * FROM " + quote(batch, DIALECT), step)
        session.unregister(batch)
        insert = "INSERT INTO " + quote(raw, DIALECT) + " "
    quoted = [quote(column, DIALECT) for column in names]
    source = Raw(quote(raw, DIALECT))
    if files.format == "excel" and options.header is None and all(column.kind == "string" for column in columns):
        statement = expression("engines/duckdb/read_header_values.sql", DIALECT, source=source, columns=quoted)
        matches = session.fetch(statement, step, names)[0][0]
        if 2 * matches >= len(names):
            raise InputError(
                f"Row {options.skip + 1} of {files.label!r} must have the column names, but {matches} of its "
                f"{len(names)} cells are values of their columns as well, as in a row of data. Use "
                f"{spelled('header', False)} for data, or {spelled('header', True)} for names."
            )
    lettered = [
        (quote(c.name, DIALECT), *LETTERS[c.kind], quote(f"sqlaudit_letter_{i}", DIALECT))
        for i, c in enumerate(columns)
        if c.means and LETTER in codes.get(c.name, {})
    ]
    if lettered:
        source = Raw("(" + expression(_TEMPLATE + "_letters.sql", DIALECT, source=source, columns=lettered) + ")")
    formats = [(sql, c.means, c.unit, literal(c.origin, DIALECT)) for sql, c in zip(quoted, columns, strict=True)]
    statement = expression(_TEMPLATE + "_types.sql", DIALECT, source=source, columns=formats)
    types = session.fetch(statement, step)[0]
    letters = {column: letter for column, *_, letter in lettered}
    typed = [(*form, kind, letters.get(form[0], "")) for form, kind in zip(formats, types, strict=True)]
    select = expression(_TEMPLATE + ".sql", DIALECT, source=source, columns=typed)
    session.fetch("CREATE TABLE " + quote(name, DIALECT) + " AS " + select, step)
    session.fetch("DROP TABLE " + quote(raw, DIALECT), step)
    if not codes:
        return name, labels, remarks, ()
    coded = ", ".join([column for column in names if column in codes][:_NAMED])
    others = f" and {len(codes) - _NAMED} more" if len(codes) > _NAMED else ""
    text = (
        f"Columns of {files.label!r} have codes for missing values: {coded}{others}. In quasi-identifiers each code is "
        f"a value; elsewhere all are one missing value. {spelled('null_values')} names codes to read as missing "
        "everywhere."
    )
    return name, labels, (*remarks, Remark("missing_codes", text)), _keep_codes(session, name, columns, typed, codes)


def _keep_codes(
    session: DuckDBSession, name: str, columns: Sequence[FileColumn], typed: Sequence[tuple[Any, ...]], codes: Codes
) -> tuple[MissingCodes, ...]:
    """Keep a table of the codes for missing values, and return the columns that have some.

    Args:
        typed: the parameters of `read_office.sql` for each column.
    """
    import pyarrow as pa

    table, batch = quote(name + "_codes", DIALECT), name + "_batch"
    cells = {column: sorted(column_codes - {LETTER}, key=str) for column, column_codes in codes.items()}
    arrays = []
    for column in columns:
        values = [
            code if coded_column == column.name else None
            for coded_column, column_codes in cells.items()
            for code in column_codes
        ]
        arrays.append(pa.array(values, column.kind))
    session.register(batch, pa.table(arrays, names=[column.name for column in columns]))
    plain = [(*form[:-1], "") for form in typed]
    select = expression(_TEMPLATE + ".sql", DIALECT, source=Raw(quote(batch, DIALECT)), columns=plain)
    session.fetch("CREATE TABLE " + table + " AS " + select, "open codes")
    session.unregister(batch)
    missing = []
    for column, (quoted, *_, type_name, letter) in zip(columns, typed, strict=True):
        if column.name in codes:
            read = type_name or {"string": "VARCHAR"}.get(column.kind, column.kind.upper())
            sql = expression(
                _TEMPLATE + "_missing.sql", DIALECT, column=quoted, type=read if letter else "", codes=Raw(table)
            )
            missing.append(MissingCodes(column.name, sql, read, kind_of(read)))
    return tuple(missing)


def _refuse_same_names(names: Sequence[str], label: str) -> None:
    """Refuse two columns of one name; DuckDB ignores upper and lower case."""
    first: dict[str, str] = {}
    for name in names:
        if twin := first.get(name.lower()):
            relation = "have the same name" if twin == name else "differ only in upper and lower case"
            raise InputError(f"The columns {twin!r} and {name!r} of {label!r} {relation}; rename one.")
        first[name.lower()] = name
