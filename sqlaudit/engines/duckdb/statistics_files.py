"""The files of SPSS, Stata and SAS: numbers, which a format makes dates or times, and texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from sqlaudit.base.errors import InputError
from sqlaudit.base.office_files import import_package
from sqlaudit.base.spec import ReadOptions
from sqlaudit.engines.duckdb.file_contents import (
    LETTER,
    LETTERS,
    Batch,
    Codes,
    Contents,
    FileColumn,
    as_text,
    null_cells,
    translating,
)
from sqlaudit.engines.duckdb.paths import Files

_CELLS = 2_000_000
"""Cells of a batch, all of which are objects of Python at one time."""
_LONGEST_LABEL = 250
"""Characters of a variable label that are kept: SPSS and SAS have at most 256, and Stata 80."""
_DAY, _SECOND, _MILLISECOND = 86_400_000_000, 1_000_000, 1_000
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


def read_statistics(files: Files, options: ReadOptions) -> Contents:
    """Return the contents of a file of SPSS, Stata or SAS."""
    pyreadstat = import_package(files.format, "pyreadstat")
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

    def read(**arguments: Any) -> tuple[dict[str, list[Any]], Any]:
        with translating(files, pyreadstat.ReadstatError, pyreadstat.PyreadstatError):
            arguments |= {"encoding": options.encoding or None, "disable_datetime_conversion": True}
            if not is_xport:  # there the reader has no codes, only missing values
                arguments["user_missing"] = True
            contents: tuple[dict[str, list[Any]], Any] = reader(str(path), output_format="dict", **arguments)
            return contents

    about = read(metadataonly=True)[1]
    names: list[str] = about.column_names
    if not names:
        raise InputError(f"{files.label!r} has no columns.")
    types, formats = about.readstat_variable_types, about.original_variable_types
    if is_xport:
        _refuse_letters(files, [(about.variable_storage_width[name], types[name] != "string") for name in names])
    labels: dict[str, dict[Any, str]] = about.variable_value_labels if options.labels else {}
    cells = _Cells(files, null_cells(options.null_values), labels, about.missing_ranges)
    columns = []
    for name in names:
        label = " ".join((about.column_names_to_labels.get(name) or "").split())[:_LONGEST_LABEL]
        if types[name] == "string" or labels.get(name):
            columns.append(FileColumn(name, "string", label=label))
        else:
            date_format = _DATES[files.format].fullmatch((formats[name] or "").strip())
            means = (date_format and date_format.lastgroup) or "number"
            unit = _UNITS[files.format].get(means, 1)
            kind = "float" if types[name] == "float" else "double"
            columns.append(FileColumn(name, kind, means, unit, _ORIGINS[files.format], label))

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
                f"{files.label!r} has codes for missing values (.A to .Z), which its reader cannot distinguish. "
                "Save it as .sas7bdat."
            )


class _Cells:
    """Converter of cells of a statistics file to values, which notes their codes for missing values.

    Args:
        files: the file. nulls: texts and numbers that mean NULL. labels: value labels, by column.
        ranges: the values that an SPSS file declares missing, by column.
    """

    def __init__(
        self, files: Files, nulls: set[Any], labels: dict[str, dict[Any, str]], ranges: dict[str, list[dict[str, Any]]]
    ) -> None:
        self._files, self._null_cells, self._labels, self._ranges = files, nulls, labels, ranges
        self._labelled: dict[str, dict[str, Any]] = {name: {} for name in labels}
        self.codes: Codes = {}

    def clean(self, values: list[Any], column: FileColumn, has_letters: bool) -> list[Any]:
        """Return the values of a column as cells: NULL, a label, or the value; note in `codes` what means missing.

        Args:
            values: as the reader gives them.
            column: the column.
            has_letters: True if it may hold the letters of missing numbers in Stata and SAS (.a to .z).
        """
        name, labels = column.name, self._labels.get(column.name)
        if not (labels or has_letters or self._null_cells - {""} or name in self._ranges):
            return [None if cell == "" else cell for cell in values]
        cells: dict[Any, Any] = {}
        # Each different value is converted once
        for value in set(values) - {None, ""}:
            is_letter = has_letters and isinstance(value, str)
            code = f".{value}" if is_letter else value
            if code in self._null_cells:
                continue
            cell = (labels.get(value) or as_text(code)) if labels else value
            if labels and self._labelled[name].setdefault(cell, value) != value:
                raise InputError(
                    f"Two values of {name!r} in {self._files.label!r} have one label; read it without labels."
                )
            if is_letter or any(_is_between(value, **part) for part in self._ranges.get(name, ())):
                self.codes.setdefault(name, set()).add(LETTER if is_letter and not labels else cell)
            if is_letter and not labels:
                # A column of numbers cannot hold a letter, so a number that Stata cannot have stands for it
                lowest, spacing = LETTERS[column.kind]
                cell = -lowest - spacing * ord(value)
            cells[value] = cell
        return [cells.get(value) for value in values]


def _is_between(value: Any, lo: Any, hi: Any) -> bool:
    """Return True if a value is in a range that a file declares missing; texts and numbers never mix."""
    return isinstance(value, str) == isinstance(lo, str) and bool(lo <= value <= hi)
