"""Excel sheets and the files of SPSS, Stata and SAS, which are copied into the private DuckDB in batches.

Python's readers of these files silently drop content: a cell with an error, a formula that was never computed and the
rest of merged cells are empty for them. These are looked for in the XML of the sheet, and refused.
"""

from __future__ import annotations

import functools
import importlib
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from itertools import islice
from typing import IO, Any
from xml.etree import ElementTree

from sqlaudit.base.errors import InputError, MissingDriver, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import closest, literal, quote
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import MissingCodes, Remark
from sqlaudit.base.spec import ReadOptions
from sqlaudit.base.sql import Raw, expression
from sqlaudit.engines.duckdb.csv import blank_rows
from sqlaudit.engines.duckdb.paths import Files
from sqlaudit.engines.duckdb.session import DIALECT, DuckDBSession
from sqlaudit.engines.duckdb.types import kind_of

OFFICE = ("excel", "spss", "stata", "sas")
"""The formats that are read here."""
_TITLES = {"excel": "an Excel", "spss": "an SPSS", "stata": "a Stata", "sas": "a SAS"}
_CELLS = 2_000_000
"""Cells of a batch, all of which are objects of Python at one time."""
_NAMED = 5
"""Largest number of columns that a remark names."""
_WHOLE = 2**53
"""The largest number up to which a DOUBLE holds every whole number."""
_TEMPLATE = "engines/duckdb/read_office"
_LETTER = "a letter"
_LETTERS = {"double": (1.7e308, 1e304), "float": (3e38, 1e35)}
"""Numbers that stand for letters in a column of numbers: minus the first, less the letter's code times the second.
Stata has no numbers there."""
_DAY, _SECOND, _MILLISECOND = 86_400_000_000, 1_000_000, 1_000

Batch = list[list[Any]]
"""Values by column."""


@dataclass(frozen=True)
class _Column:
    """A column, and the meaning of its numbers.

    Args:
        name: the name in the file. kind: the name of its Arrow type. means: number, date, timestamp or time if the
            numbers are to be typed; empty = as they are. unit: microseconds of 1. origin: the moment of 0.
    """

    name: str
    kind: str
    means: str = ""
    unit: int = 1
    origin: str = "1970-01-01"


_Codes = dict[str, set[Any]]
"""The codes for missing values that the cells of each column have. All letters in a column of numbers are `_LETTER`."""
_Contents = tuple[Sequence[_Column], Iterator[Batch], tuple[Remark, ...], _Codes]
"""The columns of a file, its rows in batches (at least one, which may be empty), its remarks, and its codes for missing
values, which are complete after the last batch."""


def office_source(
    session: DuckDBSession, files: Files, options: ReadOptions, name: str
) -> tuple[str, list[str], tuple[Remark, ...], tuple[MissingCodes, ...]]:
    """Return a table of the session with all rows of a file, the names of its columns, remarks, and its codes.

    Args:
        session: the session. files: one file. options: the sheet, and how values are read. name: name of the table.

    Raises:
        UsageError: several files, or a sheet that is missing or not named. MissingDriver: a package is missing.
        InputError: the file is damaged, has no header, or cannot be read in full.
    """
    if len(files.paths) > 1:
        title = _TITLES[files.format].split()[1]
        raise UsageError(f"{files.label!r} names {len(files.paths)} {title} files; name one at a time.")
    pa = _import_package(files.format, "pyarrow")
    step, raw, batch = "open " + files.label, name + "_raw", name + "_batch"
    reader = _read_excel if files.format == "excel" else _read_statistics
    columns, batches, remarks, codes = session.guarded(step, lambda: reader(files, options))
    names = [column.name for column in columns]
    _refuse_same_names(names, files.label)
    insert = "CREATE TABLE " + quote(raw, DIALECT) + " AS "
    while (values := session.guarded(step, lambda: next(batches, None))) is not None:
        arrays = [pa.array(cells, column.kind) for cells, column in zip(values, columns, strict=True)]
        session.register(batch, pa.table(arrays, names=names))
        session.fetch(insert + "SELECT * FROM " + quote(batch, DIALECT), step)
        session.unregister(batch)
        insert = "INSERT INTO " + quote(raw, DIALECT) + " "
    quoted = [quote(column, DIALECT) for column in names]
    source = Raw(quote(raw, DIALECT))
    if files.format == "excel" and all(column.kind == "string" for column in columns):
        statement = expression("engines/duckdb/read_header_values.sql", DIALECT, source=source, columns=quoted)
        matches = session.fetch(statement, step, names)[0][0]
        if 2 * matches >= len(names):
            raise InputError(
                f"Row 1 of {files.label!r} must have the column names, but {matches} of its {len(names)} cells are "
                "values of their columns as well, as in a row of data. Insert a row with names."
            )
    lettered = [
        (quote(c.name, DIALECT), *_LETTERS[c.kind], quote(f"sqlaudit_letter_{i}", DIALECT))
        for i, c in enumerate(columns)
        if c.means and _LETTER in codes.get(c.name, {})
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
        return name, names, remarks, ()
    coded = ", ".join([column for column in names if column in codes][:_NAMED])
    others = f" and {len(codes) - _NAMED} more" if len(codes) > _NAMED else ""
    text = (
        f"Columns of {files.label!r} have codes for missing values: {coded}{others}. In quasi-identifiers each code is "
        f"a value; elsewhere all are one missing value. {spelled('null_values')} names codes to read as missing "
        "everywhere."
    )
    return name, names, (*remarks, Remark("missing_codes", text)), _keep_codes(session, name, columns, typed, codes)


def _keep_codes(
    session: DuckDBSession, name: str, columns: Sequence[_Column], typed: Sequence[tuple[Any, ...]], codes: _Codes
) -> tuple[MissingCodes, ...]:
    """Keep a table of the codes for missing values, and return the columns that have some.

    Args:
        typed: the parameters of `read_office.sql` for each column.
    """
    import pyarrow as pa

    table, batch = quote(name + "_codes", DIALECT), name + "_batch"
    cells = {column: sorted(column_codes - {_LETTER}, key=str) for column, column_codes in codes.items()}
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


def _import_package(format: str, name: str) -> Any:
    """Return a package that reads files of a format; raise MissingDriver if it is not installed."""
    try:
        return importlib.import_module(name.replace("-", "_"))
    except ImportError:
        hint = "pip install 'sqlaudit[files]'"
        raise MissingDriver(f"Reading {_TITLES[format]} file needs the package {name}: {hint}.") from None


def _refuse_same_names(names: Sequence[str], label: str) -> None:
    """Refuse two columns of one name; DuckDB ignores upper and lower case."""
    first: dict[str, str] = {}
    for name in names:
        if twin := first.get(name.lower()):
            relation = "have the same name" if twin == name else "differ only in upper and lower case"
            raise InputError(f"The columns {twin!r} and {name!r} of {label!r} {relation}; rename one.")
        first[name.lower()] = name


@contextmanager
def _translating(files: Files, *reader_errors: type[Exception]) -> Iterator[None]:
    """Raise errors of a reader as ours. Its messages may quote values, so none of them is passed on."""
    errors: tuple[type[Exception], ...] = (
        *reader_errors,
        ValueError,
        ArithmeticError,
        OSError,
        LookupError,
        TypeError,
        StopIteration,
    )
    try:
        yield
    except errors:
        raise InputError(f"{files.label!r} is not {_TITLES[files.format]} file, or is damaged or encrypted.") from None


# The files of SPSS, Stata and SAS: numbers, which a format makes dates or times, and texts.

_DATES = {
    "spss": re.compile(r"(?:(?P<date>[AEJS]?DATE)|(?P<timestamp>DATETIME|YMDHMS)|(?P<time>D?TIME))[\d.]*"),
    "stata": re.compile(r"%-?(?:(?P<date>td|d).*|(?P<timestamp>tc).*)"),
    "sas": re.compile(
        r"(?:(?P<date>DATE|WEEKDAT[EX]|(?:YYMMDD|DDMMYY|MMDDYY)[BCDNPS]?|(?:IS|E|B)8601DA)"
        r"|(?P<timestamp>DATETIME|(?:IS|E|B)8601D[TN]|DATEAMPM|MDYAMPM)"
        r"|(?P<time>TIME|HHMM|TOD|TIMEAMPM|(?:IS|E|B)8601TM))[\d.]*"
    ),
}
_UNITS = {
    "spss": {"date": _SECOND, "timestamp": _SECOND, "time": _SECOND},
    "stata": {"date": _DAY, "timestamp": _MILLISECOND},
    "sas": {"date": _DAY, "timestamp": _SECOND, "time": _SECOND},
}
_ORIGINS = {"spss": "1582-10-14", "stata": "1960-01-01", "sas": "1960-01-01"}
_XPORT, _STATA, _STATA_END = b"HEADER RECORD", b"<stata_dta>", b"</stata_dta>"
_CARD = 80
"""Bytes of a record of SAS's transport format; a file is a number of complete records."""
_LETTER_BYTES = list(b"_ABCDEFGHIJKLMNOPQRSTUVWXYZ")


def _read_statistics(files: Files, options: ReadOptions) -> _Contents:
    """Return the contents of a file of SPSS, Stata or SAS."""
    pyreadstat = _import_package(files.format, "pyreadstat")
    path = files.paths[0]
    with path.open("rb") as file:
        start = file.read(len(_XPORT))
        file.seek(max(files.bytes - len(_STATA_END), 0))
        end = file.read()
    is_xport = start == _XPORT
    sas = pyreadstat.read_xport if is_xport else pyreadstat.read_sas7bdat
    reader = {"spss": pyreadstat.read_sav, "stata": pyreadstat.read_dta}.get(files.format, sas)
    if (is_xport and files.bytes % _CARD) or (start.startswith(_STATA) and end != _STATA_END):
        raise InputError(f"{files.label!r} is cut off, so rows may be missing.")

    def read(**arguments: Any) -> tuple[dict[str, list[object]], Any]:
        with _translating(files, pyreadstat.ReadstatError, pyreadstat.PyreadstatError):
            arguments |= {"encoding": options.encoding or None, "disable_datetime_conversion": True}
            if not is_xport:  # there the reader has no codes, only missing values
                arguments["user_missing"] = True
            contents: tuple[dict[str, list[object]], object] = reader(str(path), output_format="dict", **arguments)
            return contents

    about = read(metadataonly=True)[1]
    names: list[str] = about.column_names
    if not names:
        raise InputError(f"{files.label!r} has no columns.")
    types, formats = about.readstat_variable_types, about.original_variable_types
    if is_xport:
        _refuse_letters(files, [(about.variable_storage_width[name], types[name] != "string") for name in names])
    labels: dict[str, dict[object, str]] = about.variable_value_labels if options.labels else {}
    cells = _Cells(files, _null_cells(options.null_values), labels, about.missing_ranges)
    columns = []
    for name in names:
        if types[name] == "string" or labels.get(name):
            columns.append(_Column(name, "string"))
        else:
            date_format = _DATES[files.format].fullmatch((formats[name] or "").strip())
            means = (date_format and date_format.lastgroup) or "number"
            unit = _UNITS[files.format].get(means, 1)
            kind = "float" if types[name] == "float" else "double"
            columns.append(_Column(name, kind, means, unit, _ORIGINS[files.format]))

    def batches() -> Iterator[Batch]:
        """Yield the rows in batches; raise InputError if there are fewer than the file states."""
        size, position, count = max(_CELLS // len(names), 1), 0, -1
        while count in (-1, size):
            columns_of_cells, meta = read(row_offset=position, row_limit=size)
            values = list(columns_of_cells.values())
            count = len(values[0])
            position += count
            lettered = set(meta.missing_user_values or ())
            yield [
                cells.clean(raw, column, column.name in lettered) for raw, column in zip(values, columns, strict=True)
            ]
        if position != about.number_rows and (about.number_rows or -1) >= 0:
            raise InputError(f"{files.label!r} is cut off, so rows may be missing.")

    return columns, batches(), (), cells.codes


def _refuse_letters(files: Files, widths: Sequence[tuple[int, bool]]) -> None:
    """Refuse a SAS transport file with a number that is a letter and zeros: a code that its reader takes for `.`.

    Args:
        widths: bytes of each column in a row, and True where it has numbers.

    Raises:
        InputError: there is one.
    """
    import numpy as np

    data = np.memmap(files.paths[0], mode="r")
    below = re.search(rb"HEADER RECORD\*{7}OBS(V8)? +HEADER RECORD!{7}", data.data)
    if below is None:
        raise InputError(f"{files.label!r} is not a SAS file, or is damaged or encrypted.")
    width, at = sum(width for width, _ in widths), below.start() + _CARD
    rows = data[at : len(data) - (len(data) - at) % width].reshape(-1, width)
    offset = 0
    for length, is_number in widths:
        cells = rows[:, offset : offset + length]
        offset += length
        letters = np.isin(cells[:, 0], _LETTER_BYTES) & ~cells[:, 1:].any(axis=1)
        if is_number and letters.any():
            raise InputError(
                f"{files.label!r} has codes for missing values (.A to .Z), which its reader takes for one. Save it as "
                ".sas7bdat."
            )


class _Cells:
    """Converter of cells of a statistics file to values, which notes their codes for missing values.

    Args:
        files: the file. nulls: texts and numbers that mean NULL. labels: value labels, by column.
        ranges: the values that an SPSS file declares missing, by column.
    """

    def __init__(
        self,
        files: Files,
        nulls: set[object],
        labels: dict[str, dict[object, str]],
        ranges: dict[str, list[dict[str, object]]],
    ) -> None:
        self._files, self._null_cells, self._labels, self._ranges = files, nulls, labels, ranges
        self._labelled: dict[str, dict[str, object]] = {name: {} for name in labels}
        self.codes: _Codes = {}

    def clean(self, values: list[Any], column: _Column, has_letters: bool) -> list[object]:
        """Return the values of a column as cells: NULL, a label, or the value; note in `codes` what means missing.

        Args:
            values: as the reader gives them.
            column: the column.
            has_letters: True if it may hold the letters of missing numbers in Stata and SAS (.a to .z).
        """
        name, labels = column.name, self._labels.get(column.name)
        if not (labels or has_letters or self._null_cells - {""} or name in self._ranges):
            return [None if cell == "" else cell for cell in values]
        cells: dict[object, object] = {}
        # Each different value is converted once
        for value in set(values) - {None, ""}:
            is_letter = has_letters and isinstance(value, str)
            code = f".{value}" if is_letter else value
            if code in self._null_cells:
                continue
            cell = (labels.get(value) or _as_text(code)) if labels else value
            if labels and self._labelled[name].setdefault(cell, value) != value:
                raise InputError(
                    f"Two values of {name!r} in {self._files.label!r} have one label; read it without labels."
                )
            if is_letter or any(_is_between(value, **part) for part in self._ranges.get(name, ())):
                self.codes.setdefault(name, set()).add(_LETTER if is_letter and not labels else cell)
            if is_letter and not labels:
                # A column of numbers cannot hold a letter, so a number that Stata cannot have stands for it
                lowest, spacing = _LETTERS[column.kind]
                cell = -lowest - spacing * ord(value)
            cells[value] = cell
        return [cells.get(value) for value in values]


def _is_between(value: object, lo: Any, hi: Any) -> bool:
    """Return True if a value is in a range that a file declares missing; texts and numbers never mix."""
    return isinstance(value, str) == isinstance(lo, str) and bool(lo <= value <= hi)


# Sheets of Excel: values come from python-calamine, and what it ignores from the XML of the sheet.

_OLE = bytes.fromhex("D0CF11E0A1B11AE1")
"""The first bytes of an encrypted workbook, and of one of Excel 97."""
_PIECE = 1 << 22
_ROWS = 20_000
_AREA, _SPARSE = 20_000_000, 100
"""Largest area of a sheet in cells, or area per cell in the file, for which the reader may take memory."""
_P = rb"(?:\w+:)?"
_HIDDEN = re.compile(rb"<" + _P + rb"row\b[^>]*\shidden=[\"'](?:1|true)[\"'][^>]*(?<!/)>")
_COLUMN = re.compile(rb"\sr=[\"']([A-Za-z]+)\d")
_ROW = re.compile(rb"\sr=[\"'](\d+)")
_NEGATIVE = re.compile(
    rb"<%bc\b[^>]*\sr=[\"']([A-Za-z]+)\d[^>]*>\s*(?:<%bf\b(?:[^>]*/>|[^>]*>[^<]*</%bf\s*>)\s*)?<%bv[^>]*>-"
    % ((_P,) * 4)
)
_SPECIAL = (b"<f", b":f", b't="e', b"t='e")
"""Signs of a formula, or of an error."""
_CELL = re.compile(
    rb"<%bc\b([^>]*)>\s*(<%bf\b(?:[^>]*/>|[^>]*>[^<]*</%bf\s*>)\s*)?(?:<%bv\s*/>|<%bv[^>]*>([^<]*)</%bv\s*>)?\s*</%bc\s*>"
    % ((_P,) * 7)
)
_KINDS = {
    float: ("numbers", "double"),
    int: ("numbers", "double"),
    bool: ("TRUE or FALSE", "bool"),
    str: ("text", "string"),
    date: ("dates", "date32[day]"),
    datetime: ("dates", "timestamp[us]"),
    time: ("times", "time64[us]"),
    timedelta: ("durations", "duration[us]"),
}


class _Sheet:
    """Facts from the XML of a sheet that its reader does not report.

    Args:
        text: the XML. missing: texts that mean NULL, and so may be errors.
    """

    def __init__(self, text: IO[bytes], missing: Sequence[str]) -> None:
        self.hidden = self.unstored = self.errors = self.cells = self.height = self.width = 0
        self.negative: set[int] = set()
        """Numbers of the columns with negative numbers."""
        self._missing = [code.encode() for code in missing]
        rest = b""
        while piece := text.read(_PIECE):
            rest += piece
            start, end, rest = rest.rpartition(b"row>")
            self._count_cells(start + end)
        self._count_cells(rest)

    def _count_cells(self, rows: bytes) -> None:
        """Count what a piece of the XML with complete rows has."""
        columns = _COLUMN.findall(rows)
        self.cells += len(columns)
        self.width = max(self.width, *(_column_number(letters) for letters in {b"A", *columns}))
        self.height = max(self.height, *(int(number) for number in {b"1", *_ROW.findall(rows)}))
        self.hidden += len(_HIDDEN.findall(rows)) if b"hidden" in rows else 0
        self.negative |= {_column_number(column) for column in _NEGATIVE.findall(rows)} if b">-" in rows else set()
        for attributes, formula, value in _CELL.findall(rows) if any(sign in rows for sign in _SPECIAL) else ():
            kind = re.search(rb"\bt=[\"'](\w+)", attributes)
            self.unstored += bool(formula and not value and not (kind and kind[1] == b"str"))
            self.errors += bool(kind and kind[1] == b"e" and value not in self._missing)


def _column_number(letters: bytes) -> int:
    """Return the number of a column of Excel: A is 1, AA is 27."""
    return functools.reduce(lambda sum, letter: 26 * sum + letter - 64, letters.upper(), 0)


def _read_excel(files: Files, options: ReadOptions) -> _Contents:
    """Return the contents of a sheet of Excel; raise InputError if its reader would lose cells."""
    calamine = _import_package(files.format, "python-calamine")
    path, label = files.paths[0], files.label
    with path.open("rb") as file:
        if file.read(len(_OLE)) == _OLE:
            raise InputError(f"{label!r} has a password, or is an old Excel file; save it as .xlsx without a password.")
    with _translating(files, calamine.CalamineError, zipfile.BadZipFile, ElementTree.ParseError, NotImplementedError):
        book = calamine.CalamineWorkbook.from_path(str(path))
        sheets = {meta.name: str(meta.visible).endswith("Visible") for meta in book.sheets_metadata if _is_sheet(meta)}
        name = _choose_sheet(sheets, options.sheet, label)
        with zipfile.ZipFile(path) as parts, parts.open(_sheet_part(parts, name)) as text:
            facts = _Sheet(text, options.null_values)
        _refuse_lost(facts, label)
        sheet = book.get_sheet_by_name(name)
        if merged := len(sheet.merged_cell_ranges or ()):
            raise InputError(
                f"{label!r} has merged cells ({merged:,}). Unmerge them: row 1 must have a name for each column, and "
                "each cell below its own value."
            )
        names = _read_header(sheet, label)

    blank: set[int] = set()
    below: dict[int, list[object]] = {}
    """Numbers of the rows without any value, and the rows below them by their numbers."""

    def filled() -> Iterator[list[object]]:
        """Yield the rows with a value, and note the empty ones and those below them."""
        empty = [""] * len(names)
        for number, row in enumerate(islice(sheet.iter_rows(), 1, None), 2):
            if row == empty and len(names) == 1:
                raise InputError(f"Row {number} of {label!r} is empty; delete empty rows.")
            if row == empty:
                blank.add(number)
                continue
            if number - 1 in blank:
                below[number] = row
            yield row

    def batches() -> Iterator[Batch]:
        with _translating(files, calamine.CalamineError):
            rows = filled()
            while batch := list(islice(rows, _ROWS)):
                yield [
                    [None if cell in nulls and type(cell) is not bool else cell for cell in column]
                    for column in zip(*batch, strict=True)
                ]

    nulls = _null_cells(options.null_values)
    kinds: list[set[type]] = [set() for _ in names]
    for batch in batches():
        for column, types, values in zip(names, kinds, batch, strict=True):
            types.update(map(type, values))
            if float in types and any(type(value) is float and abs(value) > _WHOLE for value in values):
                raise InputError(
                    f"Column {column!r} of {label!r} has numbers beyond 2^53, which Excel rounds; write them as text."
                )
    for number, (column, types) in enumerate(zip(names, kinds, strict=True), sheet.start[1] + 1):
        if time in types and number in facts.negative:
            raise InputError(
                f"Column {column!r} of {label!r} has dates or times below zero, which Excel cannot show. Write them "
                "as text."
            )
    _refuse_second_table(below, batches, label)
    columns = [_typed_column(name, types, label, options) for name, types in zip(names, kinds, strict=True)]

    def typed() -> Iterator[Batch]:
        yield [[] for _ in names]
        for batch in batches():
            yield [_as_arrow_values(column.kind, values) for column, values in zip(columns, batch, strict=True)]

    remarks = _sheet_remarks(facts, sheets, name, label)
    return columns, typed(), (*remarks, blank_rows(len(blank), label)) if blank else remarks, {}


def _refuse_second_table(below: dict[int, list[object]], batches: Callable[[], Iterator[Batch]], label: str) -> None:
    """Refuse a row below an empty one that looks like a header: all cells are texts, each only once in its column.

    Raises:
        InputError: there is such a row.
    """
    if not below:
        return
    cells = [set(column) for column in zip(*below.values(), strict=True)]
    counts: list[Counter[object]] = [Counter() for _ in cells]
    for batch in batches():
        for count, values, of_interest in zip(counts, batch, cells, strict=True):
            count.update(value for value in values if value in of_interest)
    for number, row in below.items():
        named = [(count, cell) for count, cell in zip(counts, row, strict=True) if cell != ""]
        if all(type(cell) is str and count[cell] < 2 for count, cell in named):
            raise InputError(
                f"Row {number} of {label!r} stands below an empty row and looks like the header of a second table. "
                "Delete the empty row if it is one table; else move the second one to a sheet of its own."
            )


def _is_sheet(metadata: Any) -> bool:
    return str(metadata.typ).endswith("WorkSheet")


def _choose_sheet(sheets: dict[str, bool], named_sheet: str, label: str) -> str:
    """Return the sheet that is named, or the only one that is not hidden."""
    if named_sheet:
        if named_sheet not in sheets:
            raise UsageError(f"There is no sheet {named_sheet!r} in {label!r}.{closest(named_sheet, sheets)}")
        return named_sheet
    visible = [name for name, is_visible in sheets.items() if is_visible] or list(sheets)
    if len(visible) != 1:
        names = ", ".join(map(repr, visible))
        raise UsageError(f"{label!r} has {len(visible)} sheets ({names}); name one with {spelled('sheet')}.")
    return visible[0]


def _sheet_part(parts: zipfile.ZipFile, name: str) -> str:
    """Return the part of a workbook that has the XML of a sheet."""
    sheets = ElementTree.fromstring(parts.read("xl/workbook.xml")).iterfind(".//{*}sheet")
    key = next(
        id_
        for sheet in sheets
        if sheet.get("name") == name
        for attribute, id_ in sheet.items()
        if attribute.endswith("}id")
    )
    links = ElementTree.fromstring(parts.read("xl/_rels/workbook.xml.rels"))
    target = next(str(link.get("Target")) for link in links if link.get("Id") == key)
    return target[1:] if target.startswith("/") else "xl/" + target


def _refuse_lost(facts: _Sheet, label: str) -> None:
    """Refuse a sheet with cells that the reader would leave empty, or with too large an area.

    Raises:
        InputError: it has errors, formulas without a value, or a cell far from the others.
    """
    if facts.width * facts.height > max(_AREA, _SPARSE * facts.cells):
        raise InputError(f"{label!r} has cells far from the table (row {facts.height:,}); delete them.")
    if facts.unstored:
        raise InputError(
            f"{label!r} has formulas without a stored result ({facts.unstored:,}). Open it in Excel or LibreOffice, "
            "and save it there."
        )
    if facts.errors:
        raise InputError(
            f"{label!r} has cells with an error such as #N/A ({facts.errors:,}). Correct them, or name the errors that "
            f"mean missing with {spelled('null_values')}."
        )


def _read_header(sheet: Any, label: str) -> list[str]:
    """Return the names in row 1; raise InputError if a column has none."""
    names: list[object] = next(iter(sheet.iter_rows()), []) if sheet.start else []
    if not names:
        raise InputError(f"The sheet {sheet.name!r} of {label!r} is empty.")
    for position, name in enumerate(names):
        if not isinstance(name, str) or not name.strip():
            number, letters = position + 1 + sheet.start[1], ""
            while number:
                number, letter = divmod(number - 1, 26)
                letters = chr(65 + letter) + letters
            raise InputError(
                f"Row 1 of {label!r} must have the name of each column as text, and cell {letters}1 has none. Delete "
                "titles above the table and columns without a name, or name them."
            )
    return [str(name) for name in names]


def _null_cells(texts: Sequence[str]) -> set[object]:
    """Return the cells that mean NULL: empty ones, the texts, and the numbers that they spell."""
    nulls: set[object] = {"", *texts}
    for text in texts:
        if re.fullmatch(r"-?\d+(\.\d+)?", text, re.ASCII):
            nulls.add(float(text))
    return nulls


def _typed_column(name: str, types: set[type], label: str, options: ReadOptions) -> _Column:
    """Return a column for values of these types; raise InputError if they have no type in common."""
    kinds = {_KINDS[cell_type][0] for cell_type in types if cell_type in _KINDS}
    if options.all_text or not kinds:
        return _Column(name, "string")
    if len(kinds) > 1:
        raise InputError(
            f"Column {name!r} of {label!r} has both {' and '.join(sorted(kinds))}. Make them of one kind, name texts "
            f"that mean missing with {spelled('null_values')}, or read all as text with {spelled('all_text', True)}."
        )
    kind = "timestamp[us]" if datetime in types else next(_KINDS[t][1] for t in types if t in _KINDS)
    return _Column(name, kind, "number" if kind == "double" else "")


def _as_arrow_values(kind: str, values: list[object]) -> list[object]:
    """Return the values of a column as its Arrow type takes them."""
    if kind == "string":
        return [value if value is None or type(value) is str else _as_text(value) for value in values]
    if kind == "timestamp[us]":
        return [datetime(value.year, value.month, value.day) if type(value) is date else value for value in values]
    return values


def _as_text(value: object) -> str:
    """Return a value as text: a whole number without a point."""
    if type(value) is bool:
        return "TRUE" if value else "FALSE"
    return str(int(value)) if type(value) is float and value.is_integer() else str(value)


def _sheet_remarks(facts: _Sheet, sheets: dict[str, bool], name: str, label: str) -> tuple[Remark, ...]:
    """Return remarks about hidden rows and sheets."""
    remarks = []
    if facts.hidden:
        remarks.append(Remark("hidden_rows", f"Rows of {label!r} hidden in Excel were read, too ({facts.hidden:,})."))
    unread = sum(not is_visible for other_name, is_visible in sheets.items() if other_name != name)
    if unread:
        remarks.append(Remark("hidden_sheets", f"Hidden sheets of {label!r} were not read ({unread})."))
    return tuple(remarks)
