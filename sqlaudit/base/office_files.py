"""Files of Excel, SPSS and Stata that a release is written to: names, labels and cells, each of which can be read back.

Rows lie in a Parquet file before, since types, widths and the values that are left are known only after the last row.
"""

from __future__ import annotations

import datetime as dt
import importlib
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import MissingDriver, UsageError
from sqlaudit.base.frozen import dataclass

TITLES = {"excel": "an Excel", "spss": "an SPSS", "stata": "a Stata", "sas": "a SAS"}
FORMATS = {".xlsx": "excel", ".sav": "spss", ".dta": "stata"}
"""The formats that are written, by the ending of a file."""
_PACKAGES = {
    "excel": ("xlsxwriter", "python-calamine", "pyarrow"),
    "spss": ("pyreadstat", "polars", "pyarrow"),
    "stata": ("pyreadstat", "polars", "pyarrow"),
}
"""The packages that write a file and read it back."""
_ROWS, _COLUMNS, _TEXT = 1_048_576, 16_384, 32_767
"""Rows and columns of a sheet of Excel, and characters of a cell as UTF-16."""
_WHOLE = 2**53
"""The largest number up to which a double holds every whole number; a sheet with larger ones is not read."""
_LONG = 2_147_483_620
"""The largest whole number of Stata's type long."""
_FIRST_YEAR = 1900
_BATCH = 10_000
_NO_VALUES = "Rows without any value cannot be in a sheet of Excel, so {!r} was not written. Write a .parquet file."
_CREATED = dt.datetime(1980, 1, 1)
"""The date of each file, so that the same release gives the same bytes."""
_NUMBERS = "numbers up to 2^53 of up to 15 digits, no NaN and no infinity"
_SPSS_START = dt.date(1582, 10, 15)
_NO_ZONES = "times without a time zone"
_KEEPS = {
    **dict.fromkeys([(format, "zone") for format in _PACKAGES], _NO_ZONES),
    ("excel", "text"): "texts of up to 32,767 characters, which XML must allow",
    ("excel", "date"): "dates from 1900 on",
    ("excel", "time"): "times to the millisecond, from 1900 on",
    ("spss", "text"): "texts of up to 32,767 bytes, without NUL and without blanks at the end",
    ("spss", "date"): "dates from 15 October 1582 on",
    ("spss", "time"): "times to the millisecond, from 15 October 1582 on",
    ("stata", "text"): "texts without the character NUL",
    ("stata", "date"): "dates of the years 1 to 9999",
    ("stata", "time"): "times to the microsecond",
}
"""What the cells of a format hold, by the kind of their column."""


@dataclass(frozen=True)
class Variable:
    """What a file of SPSS, Stata or SAS says about a column beside its cells.

    Args:
        label: the variable's label. values: the labels of its values. missing: the ranges of values that mean missing.
        measure: nominal, ordinal, scale or unknown. display: how numbers and dates are shown, as `family` writes it.
        family: the format of the file. is_key: True if a release may have other values in this column.
    """

    label: str = ""
    values: Mapping[Any, str] = field(default_factory=dict)
    missing: Sequence[Mapping[str, Any]] = ()
    measure: str = "unknown"
    display: str = ""
    family: str = ""
    is_key: bool = False


def import_package(format: str, name: str, purpose: str = "Reading") -> Any:
    """Return a package that reads or writes files of a format; raise MissingDriver if it is not installed."""
    try:
        return importlib.import_module(name.replace("-", "_"))
    except ImportError:
        hint = "pip install 'sqlaudit[files]'"
        raise MissingDriver(f"{purpose} {TITLES[format]} file needs the package {name}: {hint}.") from None


def check_packages(path: Path) -> None:
    """Raise MissingDriver if a package is missing that writes this file, or reads it back."""
    format = FORMATS.get(path.suffix.lower(), "")
    for name in _PACKAGES.get(format, ()):
        import_package(format, name, "Writing")


def refusal(file: Path, column: str, type: str) -> UsageError:
    """Return the error for a column with cells that a file would not keep.

    Args:
        file: the file. column: the column. type: its type in DuckDB, Arrow or polars.
    """
    format = FORMATS[file.suffix.lower()]
    title = TITLES[format].removeprefix("an ").removeprefix("a ")
    return UsageError(
        f"{title} files keep {_KEEPS.get((format, _kind(type)), _NUMBERS)}. Column {column!r} has other values, so "
        f"{str(file)!r} was not written. Write a .parquet file, which keeps all values."
    )


def _kind(type: str) -> str:
    """Return the kind of values of a type in DuckDB, Arrow or polars."""
    if type.startswith("TIMESTAMP WITH") or "tz=" in type:
        return "zone"
    kinds = {"varchar": "text", "string": "text", "datetime": "time", "date": "date", "time": "time", "bool": "bool"}
    return next((kind for start, kind in kinds.items() if type.lower().startswith(start)), "number")


# Names of variables.

_RESERVED = {
    "spss": r"(?i:all|and|by|eq|ge|gt|le|lt|ne|not|or|to|with)",
    "stata": r"_all|_b|_coef|_cons|_n|_N|_pi|_pred|_rc|_skip|byte|double|float|if|in|int|long|str\d+|strL|using|with",
}
_NO_NAME = {"spss": r"[^\w.@#$]+|\.+$", "stata": r"\W+"}
"""What is in no name of a variable."""
_LONGEST = {"spss": 64, "stata": 32}
_LONGEST_LABEL = {"spss": 255, "stata": 80}
"""Bytes of a name and of its label in SPSS, characters in Stata."""


def names_in_file(path: Path, names: Sequence[str]) -> list[str]:
    """Return the names that columns have in a file: in SPSS and Stata those that cannot be a variable's get another.

    Example:
        >>> names_in_file(Path("a.sav"), ["age", "Alter in Jahren", "alter_in_jahren", "1.", "with"])
        ['age', 'Alter_in_Jahren_2', 'alter_in_jahren', 'v1', 'with_']
        >>> names_in_file(Path("a.xlsx"), ["Alter in Jahren"])
        ['Alter in Jahren']
    """
    format = FORMATS.get(path.suffix.lower(), "")
    if format not in _NO_NAME:
        return list(names)
    valid: dict[str, str] = {}
    """The first name that a variable can have, by its lower case: readers ignore case."""
    for name in names:
        if _variable_name(name, format) == name:
            valid.setdefault(name.casefold(), name)
    used, made_names = set(valid), []
    for name in names:
        proposed = made = _variable_name(name, format)
        number = 2
        while valid.get(made.casefold()) != name and made.casefold() in used:
            ending = f"_{number}"
            made = _shortened(proposed, format, _LONGEST[format] - len(ending)) + ending
            number += 1
        used.add(made.casefold())
        made_names.append(made)
    return made_names


def _variable_name(name: str, format: str) -> str:
    """Return the name as a variable can have it; unchanged if it can."""
    made = re.sub(_NO_NAME[format], "_", name)
    made = made if made == name else made.strip("_") or "v"
    first = made[0].isalpha() or (made[0] == "_" and format == "stata")
    made = (made if first else "v" + made) + ("_" if re.fullmatch(_RESERVED[format], made) else "")
    return _shortened(made, format, _LONGEST[format])


def _shortened(text: str, format: str, most: int) -> str:
    """Return the start of a text: so many characters for Stata, bytes for SPSS."""
    return text[:most] if format == "stata" else text.encode()[:most].decode(errors="ignore")


# Labels.


def read_variables(path: Path, format: str, encoding: str = "") -> dict[str, Variable]:
    """Return what a file of SPSS, Stata or SAS says about its columns. Its title, notes and author are left out."""
    pyreadstat = import_package(format, "pyreadstat")
    readers = {"spss": pyreadstat.read_sav, "stata": pyreadstat.read_dta, "sas": pyreadstat.read_sas7bdat}
    more = {} if path.suffix.lower() == ".xpt" else {"user_missing": True}
    reader = readers[format] if more else pyreadstat.read_xport
    _, about = reader(str(path), metadataonly=True, encoding=encoding or None, **more)
    return {
        name: Variable(
            about.column_names_to_labels.get(name) or "",
            about.variable_value_labels.get(name, {}),
            about.missing_ranges.get(name, ()),
            about.variable_measure.get(name, "unknown"),
            (about.original_variable_types.get(name) or "").strip(),
            format,
        )
        for name in about.column_names
    }


_PARTS = re.compile(
    r"\[Content_Types\]\.xml|_rels/\.rels|docProps/(app|core)\.xml|docMetadata/LabelInfo\.xml|xl/_rels/workbook\.xml\.rels|"
    r"xl/(workbook|styles|sharedStrings|theme/theme1|worksheets/sheet1)\.xml"
)
"""The parts of a workbook with one sheet, as this module and Excel write them: no comment, picture or second sheet."""
_SHEET, _BOOK = "xl/worksheets/sheet1.xml", "xl/workbook.xml"
_WITH_TEXTS = re.compile(rb"<(?:definedName|dataValidation|headerFooter|conditionalFormatting|hyperlink|scenario)\b")
"""Elements of a sheet or workbook beside the cells that have texts of their own."""


def contents_beside_cells(file: Path, again: Path) -> str:
    """Return what a release has beside its cells and another file with the same release has not; empty = nothing.

    Args:
        file: the release; of a format without such contents nothing is said. again: the other file.
    """
    format = FORMATS.get(file.suffix.lower(), "")
    if format == "excel":
        with zipfile.ZipFile(file) as book:
            more = [name for name in book.namelist() if not _PARTS.fullmatch(name)]
            sheet = book.read(_SHEET)
            around = sheet[: sheet.find(b"<sheetData")] + sheet[sheet.rfind(b"</sheetData>") :] + book.read(_BOOK)
            more += map(str, _WITH_TEXTS.findall(around))
        return "contents beside the cells of one sheet, such as comments, names or hidden sheets" if more else ""
    if format:
        labels, expected = (read_variables(path, format) for path in (file, again))
        for name, variable in labels.items():
            other = expected.get(name, Variable())
            if variable.label not in ("", other.label) or not variable.values.items() <= other.values.items():
                return f"labels of {name} that the policy's release has not"
        notes, expected_notes = (_notes(path, format) for path in (file, again))
        return "a title or notes" if notes - expected_notes else ""
    return ""


def _notes(path: Path, format: str) -> set[str]:
    pyreadstat = import_package(format, "pyreadstat")
    about = {"spss": pyreadstat.read_sav, "stata": pyreadstat.read_dta}[format](str(path), metadataonly=True)[1]
    return {text.strip() for text in (about.file_label or "", *(about.notes or ())) if text.strip()}


# Cells.


def write_office(
    path: Path, rows: Path, *, file: Path, names: Sequence[str], variables: Mapping[str, Variable], report: Report
) -> None:
    """Write rows to a file of Excel, SPSS or Stata.

    Args:
        path: gets the file; temporary files lie beside it. rows: a Parquet file with its cells.
        file: its name later, for messages. names: the columns.
        variables: labels and formats of columns, which SPSS and Stata keep.
        report: is called with the share done; None = no one waits.

    Raises:
        UsageError: a column, or the number of rows, does not fit into the format.
    """
    from pyarrow import parquet

    with parquet.ParquetFile(rows) as source:
        for name, type in zip(names, source.schema_arrow.types, strict=True):
            if _kind(str(type)) == "zone":
                raise refusal(file, name, str(type))
        if path.suffix == ".xlsx":
            _write_excel(path, file, names, source, report)
            return
    _write_variables(path, file, names, rows, variables)


Report = Callable[[float], None] | None


class _Precise(float):
    """A number that xlsxwriter writes with all its digits; it formats others with 16."""

    def __format__(self, _: str) -> str:
        return repr(float(self))


def _write_excel(path: Path, file: Path, names: Sequence[str], source: Any, report: Report) -> None:
    """Write the rows of a Parquet file as the only sheet of a workbook, row by row. Texts stay texts."""
    import xlsxwriter

    count = source.metadata.num_rows
    if count >= _ROWS or len(names) > _COLUMNS:
        raise UsageError(
            f"A sheet of Excel has {_ROWS - 1:,} rows below the names and {_COLUMNS:,} columns at most, and "
            f"{str(file)!r} needs {count:,} and {len(names):,}. Write a .csv or .parquet file."
        )
    quiet = dict.fromkeys(("strings_to_formulas", "strings_to_urls", "strings_to_numbers"), False)
    book = xlsxwriter.Workbook(str(path), {"constant_memory": True, "tmpdir": str(path.parent), **quiet})
    book.set_properties({"created": _CREATED})
    sheet = book.add_worksheet("Release")
    sheet.freeze_panes(1, 0)
    sheet.ignore_errors({"number_stored_as_text": f"A1:XFD{_ROWS}"})
    for place, name in enumerate(names):
        sheet.write_string(0, place, name)
    types = [str(type) for type in source.schema_arrow.types]
    writers = [_cell_writer(book, sheet, _kind(type), type.startswith("date")) for type in types]
    empty: list[set[object]] = [set() for _ in names]
    """The empty cells of each column: texts or NULL."""
    number = 0
    try:
        for batch in source.iter_batches(_BATCH):
            if report is not None:
                report(number / count)
            for row in zip(*(column.to_pylist() for column in batch), strict=True):
                number += 1
                filled = False
                for place, value in enumerate(row):
                    if value is None or value == "":
                        empty[place].add(value)
                    elif not writers[place](number, place, value):
                        raise refusal(file, names[place], types[place])
                    else:
                        filled = True
                if not filled:
                    raise UsageError(_NO_VALUES.format(str(file)))
        _refuse_empty_texts(file, [name for name, values in zip(names, empty, strict=True) if len(values) > 1])
        book.close()
    finally:
        sheet.row_data_fh.close()


def _cell_writer(book: Any, sheet: Any, kind: str, is_date: bool) -> Callable[[int, int, Any], bool]:
    """Return the function that writes a cell of a column, and returns False if Excel would not keep its value."""
    shown = "yyyy-mm-dd" if is_date else "yyyy-mm-dd hh:mm:ss.000"
    moment, time = (book.add_format({"num_format": form}) for form in (shown, "hh:mm:ss.000"))

    def write_text(row: int, place: int, value: str) -> bool:
        fits = len(value) <= _TEXT // 2 or len(value.encode("utf-16-le")) <= 2 * _TEXT
        return fits and not sheet.write_string(row, place, value)

    def write_moment(row: int, place: int, value: Any) -> bool:
        if isinstance(value, dt.time):
            return not sheet.write_datetime(row, place, value, time)
        return value.year >= _FIRST_YEAR and not sheet.write_datetime(row, place, value, moment)

    def write_number(row: int, place: int, value: Any) -> bool:
        number = value if isinstance(value, int) else _Precise(value)
        return abs(number) <= _WHOLE and not sheet.write_number(row, place, number)

    def write_boolean(row: int, place: int, value: bool) -> bool:
        return not sheet.write_boolean(row, place, value)

    return {"text": write_text, "date": write_moment, "time": write_moment, "bool": write_boolean}.get(
        kind, write_number
    )


def _refuse_empty_texts(file: Path, columns: Iterable[str]) -> None:
    """Refuse columns that have both empty texts and missing values, of which the file would make one."""
    for name in columns:
        raise UsageError(
            f"Column {name!r} has both empty texts and missing values, which "
            f"{TITLES[FORMATS[file.suffix.lower()]]} file cannot distinguish. Write a .parquet file."
        )


def _write_variables(
    path: Path, file: Path, names: Sequence[str], rows: Path, variables: Mapping[str, Variable]
) -> None:
    """Write the rows of a Parquet file as variables of SPSS or Stata, with the labels of values that are left."""
    import polars
    import pyreadstat

    format = FORMATS[path.suffix]
    frame = polars.read_parquet(rows, glob=False)
    frame.columns = names_in_file(path, names)
    texts = [(name, column) for name, column in zip(names, frame, strict=True) if column.dtype == polars.String]
    _refuse_empty_texts(file, (name for name, column in texts if column.null_count() and (column == "").any()))
    about: dict[str, dict[str, Any]] = {}
    for original, column in zip(names, frame.get_columns(), strict=True):
        if not _fits(column, format):
            raise refusal(file, original, str(column.dtype))
        variable = variables.get(original, Variable())
        if column.name != original and not variable.label:
            variable = replace(variable, label=original)
        for argument, value in _arguments_of(column, variable, format).items():
            if value and value != "unknown":
                about.setdefault(argument, {})[column.name] = value
        if column.dtype.is_decimal() or column.dtype.is_integer():
            is_long = column.dtype.is_integer() and _largest(column) <= _LONG
            frame = frame.with_columns(column.cast(polars.Int32 if is_long else polars.Float64))
    # What the package calls version 15 of Stata is for Stata/MP only; 14 is read by all since
    more: dict[str, Any] = {"row_compress": True} if format == "spss" else {"version": 14}
    arguments: dict[str, Any] = about | more
    try:
        (pyreadstat.write_sav if format == "spss" else pyreadstat.write_dta)(frame, str(path), **arguments)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError):  # whose messages may quote values
        raise UsageError(f"{str(file)!r} cannot hold these columns. Write a .parquet file.") from None
    _set_date(path, format)


def _fits(column: Any, format: str) -> bool:
    """Return False for cells that a file could hold, but not the program that opens it."""
    import polars

    if column.dtype.is_float():
        return bool(column.drop_nulls().is_finite().all())
    if format == "spss" and column.dtype in (polars.Date, polars.Datetime):
        return bool((column.cast(polars.Date).min() or _SPSS_START) >= _SPSS_START)
    return format != "spss" or column.dtype != polars.String or (column.str.len_bytes().max() or 0) <= _TEXT


def _largest(column: Any) -> int:
    """Return the largest absolute value of a column of whole numbers."""
    return max(abs(int(column.min() or 0)), abs(int(column.max() or 0)))


def _arguments_of(column: Any, variable: Variable, format: str) -> dict[str, Any]:
    """Return what a file says about a column beside its cells, by the name of the writer's argument.

    Values, missing values and formats are those of the original only if the column can have no others: a text of a key
    may be generalized. Of values, only those that are left have labels.
    """
    import polars

    is_text, is_whole = column.dtype == polars.String, column.dtype.is_integer()
    arguments: dict[str, Any] = {}
    if variable.label:
        arguments["column_labels"] = _shortened(variable.label, format, _LONGEST_LABEL[format])
    if format == "spss" and is_whole:
        arguments["variable_format"] = f"F{max(8, len(str(_largest(column))) + 1)}.0"
    if variable.is_key and is_text:
        return arguments
    shows = {polars.Date: r"%-?t?d.*", polars.Datetime: r"%-?tc.*"} if format == "stata" else {}
    if (
        variable.family == format
        and not is_text
        and re.fullmatch(shows.get(column.dtype.base_type(), ".+"), variable.display)
    ):
        arguments["variable_format"] = variable.display
    if variable.values or variable.missing:
        present = {value for value in column.unique().to_list() if isinstance(value, str | int | float)}
        if format == "spss":
            left = present & {value for value in variable.values if isinstance(value, str) == is_text}
        else:  # Stata has labels of whole numbers only
            left = {
                v for v in present & {*variable.values} if not isinstance(v, str) and v % 1 == 0 and abs(v) <= _LONG
            }
        make = str if is_text else int if is_whole and _largest(column) <= _LONG else float
        arguments["variable_value_labels"] = {make(value): variable.values[value] for value in sorted(left)}
        missing = [part for part in variable.missing if isinstance(part["lo"], str) == is_text]
    if format == "spss":
        arguments["variable_measure"] = variable.measure
        if variable.missing:
            some = [part for part in missing if any(part["lo"] <= value <= part["hi"] for value in present)]
            arguments["missing_ranges"] = list(map(dict, some))
    return arguments


def _set_date(path: Path, format: str) -> None:
    """Replace the time in the header of a file, at which its writer ran."""
    with path.open("r+b") as file:
        start = file.read(1024)
        if format == "spss":  # after the type, the product and six numbers
            file.seek(92)
            file.write(b"01 Jan 8000:00:00")
        else:
            file.seek(start.index(b"<timestamp>") + len("<timestamp>") + 1)
            file.write(b"01 Jan 1980 00:00")
