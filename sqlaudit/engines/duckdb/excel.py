"""Sheets of Excel: values come from python-calamine, and what it ignores from the XML of the sheet.

The reader silently drops content: a cell with an error, a formula that was never computed and the rest of merged cells
are empty for it. These are looked for in the XML of the sheet, and refused.
"""

from __future__ import annotations

import functools
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from typing import IO, Any
from xml.etree import ElementTree

from sqlaudit.base.errors import InputError, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import closest, shown
from sqlaudit.base.office_files import import_package
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Remark
from sqlaudit.base.spec import ReadOptions
from sqlaudit.engines.duckdb.csv import blank_rows
from sqlaudit.engines.duckdb.file_contents import Batch, Contents, FileColumn, as_text, null_cells, translating
from sqlaudit.engines.duckdb.paths import Files

_WHOLE = 2**53
"""The largest number up to which a DOUBLE holds every whole number."""
_OLE = bytes.fromhex("D0CF11E0A1B11AE1")
"""The first bytes of an encrypted workbook, and of one of Excel 97."""
_UNPACKED, _UNPACKED_MOST, _RATIO = 100_000_000, 4_000_000_000, 200
"""Bytes that a workbook may unpack to: up to the first number any; beyond, at most the second, and so many times those
of its file. Tables of one number or word are 10 to 50 times as large; files made to fill a computer, 1000 times."""
_PIECE = 1 << 22
_ROWS = 20_000
_TITLE_ROWS = 20
"""Number of rows in which a title above the header is looked for."""
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


def read_excel(files: Files, options: ReadOptions) -> Contents:
    """Return the contents of a sheet of Excel; raise InputError if its reader would lose cells."""
    calamine, label = import_package(files.format, "python-calamine"), files.label
    with _open_workbook(files) as (book, parts):
        sheets = {meta.name: str(meta.visible).endswith("Visible") for meta in book.sheets_metadata if _is_sheet(meta)}
        name = _choose_sheet(sheets, options.sheet, label)
        with parts.open(_sheet_part(parts, name)) as text:
            facts = _Sheet(text, options.null_values)
        _refuse_lost(facts, label)
        sheet = book.get_sheet_by_name(name)
        places, names = _read_header(sheet, options, label)
        top = options.skip + (options.header is not False)
        """Number of rows above the data."""

    blank: set[int] = set()
    below: dict[int, list[Any]] = {}
    """Numbers of the rows without any value, and the rows below them by their numbers."""

    def filled() -> Iterator[list[Any]]:
        """Yield the rows with a value, and note the empty ones and those below them."""
        empty = [""] * len(names)
        for number, cells in enumerate(islice(sheet.iter_rows(), top, None), top + 1):
            row = cells if len(places) == len(cells) else [cells[place] for place in places]
            if row == empty and len(names) == 1:
                raise InputError(f"Row {number} of {label!r} is empty; delete empty rows.")
            if row == empty:
                blank.add(number)
                continue
            if number - 1 in blank:
                below[number] = row
            yield row

    def batches() -> Iterator[Batch]:
        with translating(files, calamine.CalamineError):
            rows = filled()
            while batch := list(islice(rows, _ROWS)):
                yield [
                    [None if cell in nulls and type(cell) is not bool else cell for cell in column]
                    for column in zip(*batch, strict=True)
                ]

    nulls = null_cells(options.null_values)
    kinds: list[set[type]] = [set() for _ in names]
    for batch in batches():
        for column, types, values in zip(names, kinds, batch, strict=True):
            types.update(map(type, values))
            if float in types and any(type(value) is float and abs(value) > _WHOLE for value in values):
                raise InputError(
                    f"Column {column!r} of {label!r} has numbers beyond 2^53, which Excel rounds; write them as text."
                )
    for place, column, types in zip(places, names, kinds, strict=True):
        if time in types and sheet.start[1] + 1 + place in facts.negative:
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


@contextmanager
def _open_workbook(files: Files) -> Iterator[tuple[Any, zipfile.ZipFile]]:
    """Yield a workbook in its reader, and its parts. What it unpacks to is known from its directory, before.

    Raises:
        InputError: it cannot be read, has a password, or unpacks to far more than a table.
    """
    calamine = import_package("excel", "python-calamine")
    path, label = files.paths[0], files.label
    with path.open("rb") as file:
        if file.read(len(_OLE)) == _OLE:
            raise InputError(f"{label!r} has a password, or is an old Excel file; save it as .xlsx without a password.")
    with (
        translating(files, calamine.CalamineError, zipfile.BadZipFile, ElementTree.ParseError, NotImplementedError),
        zipfile.ZipFile(path) as parts,
    ):
        size, unpacked = path.stat().st_size, sum(part.file_size for part in parts.infolist())
        if unpacked > max(_UNPACKED, min(_UNPACKED_MOST, _RATIO * size)):
            raise InputError(
                f"{label!r} unpacks to {unpacked / 1e6:,.0f} MB, {unpacked // size:,} times its size: too much for a "
                "table. Copy its cells to a new workbook, or save it as CSV."
            )
        yield calamine.CalamineWorkbook.from_path(str(path)), parts


@dataclass(frozen=True)
class SheetFacts:
    """A sheet in numbers.

    Args:
        name: of the sheet. rows, columns: of the area with cells.
        title: rows above the one with the column names; 0 if no row below the first looks like that one.
    """

    name: str
    rows: int
    columns: int
    title: int


def describe_sheets(path: Path) -> list[SheetFacts]:
    """Return the visible sheets of a workbook, in its order.

    Raises:
        InputError: it is no workbook that can be read.
    """
    described = []
    with _open_workbook(Files((path,), "excel", path.name)) as (book, parts):
        sheets = [meta for meta in book.sheets_metadata if _is_sheet(meta)]
        for meta in [meta for meta in sheets if str(meta.visible).endswith("Visible")] or sheets:
            with parts.open(_sheet_part(parts, meta.name)) as text:
                facts = _Sheet(text, ())
            title = 0
            if facts.width * facts.height <= _AREA:
                sheet = book.get_sheet_by_name(meta.name)
                top: list[Any] = next(iter(sheet.iter_rows()), []) if sheet.start else []
                merged = any(end >= 0 for _, (end, _) in sheet.merged_cell_ranges or ())
                if merged or 2 * sum(not _is_name(cell) for cell in top) >= len(top) > 1:
                    title = _title_rows(sheet)
            described.append(SheetFacts(meta.name, facts.height if facts.cells else 0, facts.width, title))
    return described


def _refuse_second_table(below: dict[int, list[Any]], batches: Callable[[], Iterator[Batch]], label: str) -> None:
    """Refuse a row below an empty one that looks like a header: all cells are texts, each only once in its column.

    Raises:
        InputError: there is such a row.
    """
    if not below:
        return
    cells = [set(column) for column in zip(*below.values(), strict=True)]
    counts: list[Counter[Any]] = [Counter() for _ in cells]
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


def _read_header(sheet: Any, options: ReadOptions, label: str) -> tuple[list[int], list[str]]:
    """Return the places of the columns in a row of the sheet, and their names from the row below those skipped.

    Raises:
        InputError: the sheet is empty, a column has no name, or cells of the table are merged.
    """
    skip = options.skip
    header: list[Any] = next(islice(sheet.iter_rows(), skip, None), []) if sheet.start else []
    if not header and sheet.start:
        raise InputError(f"{label!r} has no row {skip + 1}. Use a smaller number with {spelled('skip')}.")
    if not header:
        raise InputError(f"The sheet {sheet.name!r} of {label!r} is empty.")
    # A title may be wider than the table below it
    places = [place for place, row in enumerate(_last_rows(sheet)) if row > skip] if skip else [*range(len(header))]
    has_names = options.header is not False
    unnamed = [place for place in places if has_names and not _is_name(header[place])]
    merged = [end for _, (end, _) in sheet.merged_cell_ranges or () if end >= skip]
    title = _title_rows(sheet) if merged or 2 * len(unnamed) >= len(places) > 1 else 0
    if title > skip and all(end < title for end in merged):
        raise InputError(
            f"Row {skip + 1} of {label!r} looks like a title, and row {title + 1} like the names of the columns. Skip "
            f"the rows above the names with {spelled('skip', title)}."
        )
    if merged:
        raise InputError(
            f"{label!r} has merged cells ({len(merged):,}). Unmerge them: row {skip + 1} must have a name for each "
            "column, and each cell below its own value."
        )
    if unnamed:
        raise InputError(
            f"Row {skip + 1} of {label!r} must have the name of each column as text, and cell "
            f"{_column_letters(unnamed[0] + sheet.start[1])}{skip + 1} has none. Name columns without a name or delete "
            f"them, skip titles above the table with {spelled('skip')}, or use {spelled('header', False)} if there are "
            "no names."
        )
    return places, [str(header[place]) if has_names else f"column{place}" for place in places]


def _last_rows(sheet: Any) -> list[int]:
    """Return the number of the last row with a value, of each column of the sheet."""
    last = [0] * sheet.width
    for number, row in enumerate(sheet.iter_rows(), 1):
        for place, cell in enumerate(row):
            if cell != "":
                last[place] = number
    return last


def _title_rows(sheet: Any) -> int:
    """Return the number of rows above the first one that names each column with a value below it; 0 if none does."""
    last = _last_rows(sheet)
    for number, row in enumerate(islice(sheet.iter_rows(), _TITLE_ROWS)):
        names = [cell for cell, end in zip(row, last, strict=True) if end > number]
        if names and number + 1 < max(last) and all(map(_is_name, names)) and len(set(names)) == len(names):
            return number
    return 0


def _is_name(cell: object) -> bool:
    return isinstance(cell, str) and bool(cell.strip())


def _column_letters(place: int) -> str:
    """Return the letters of a column of Excel by its place: 0 is A, 26 is AA."""
    number, letters = place + 1, ""
    while number:
        number, letter = divmod(number - 1, 26)
        letters = chr(65 + letter) + letters
    return letters


def _typed_column(name: str, types: set[type], label: str, options: ReadOptions) -> FileColumn:
    """Return a column for values of these types; raise InputError if they have no type in common."""
    kinds = {_KINDS[cell_type][0] for cell_type in types if cell_type in _KINDS}
    if options.all_text or not kinds:
        return FileColumn(name, "string")
    if len(kinds) > 1:
        raise InputError(
            f"Column {shown(name)} of {label!r} has both {' and '.join(sorted(kinds))}. Make them of one kind, name "
            f"texts that mean missing with {spelled('null_values')}, or read all as text with "
            f"{spelled('all_text', True)}."
        )
    kind = "timestamp[us]" if datetime in types else next(_KINDS[t][1] for t in types if t in _KINDS)
    return FileColumn(name, kind, "number" if kind == "double" else "")


def _as_arrow_values(kind: str, values: list[Any]) -> list[Any]:
    """Return the values of a column as its Arrow type takes them."""
    if kind == "string":
        return [value if value is None or type(value) is str else as_text(value) for value in values]
    if kind == "timestamp[us]":
        return [datetime(value.year, value.month, value.day) if type(value) is date else value for value in values]
    return values


def _sheet_remarks(facts: _Sheet, sheets: dict[str, bool], name: str, label: str) -> tuple[Remark, ...]:
    """Return remarks about hidden rows and sheets."""
    remarks = []
    if facts.hidden:
        remarks.append(Remark("hidden_rows", f"Rows of {label!r} hidden in Excel were read, too ({facts.hidden:,})."))
    unread = sum(not is_visible for other_name, is_visible in sheets.items() if other_name != name)
    if unread:
        remarks.append(Remark("hidden_sheets", f"Hidden sheets of {label!r} were not read ({unread})."))
    return tuple(remarks)
