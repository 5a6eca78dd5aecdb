"""What is wrong with an input, as sentences of ours: lines of CSV, JSON and Parquet files, database files, the disk."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field

from sqlaudit.base.errors import EngineError, Incomplete, InputError, PermissionDenied, SqlauditError, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.words import about

_LINE = re.compile(r"^[\w ]+Error: CSV Error on Line: (\d+)\b")
_FIELDS = re.compile(r"^Expected Number of Columns: (\d+) Found: (\d+)", re.MULTILINE)
_CONVERTED = re.compile(r'^Error when converting column "(.*)"\. Could', re.MULTILINE)
_NO_CATALOG = re.compile(r'^(?:Binder|Catalog) Error: (?:Catalog|Schema with name) "?([^"]*?)"? does not exist')
_JSON = re.compile(
    r"^Invalid Input Error: (Malformed JSON|JSON transform error) in file .* in (line|record)\S* (\d+): "
)


@dataclass(frozen=True)
class ErrorPlace:
    """What is known where an error happens.

    Args:
        step: the name of the step that ran.
        columns: what was opened, by the user's name for it: its columns and their types.
        files: absolute path to the name that the user gave, for all opened files.
        timeout: the seconds that were allowed, when that time is over; None otherwise.
        catalog: the name that the audited database has there, empty without one.
    """

    step: str
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    timeout: float | None = None
    catalog: str = ""

    def file(self, text: str) -> str:
        """The user's name for the file that a message is about, empty when that is not sure."""
        named = [label for path, label in self.files.items() if path in text]
        known = named or sorted(set(self.files.values()))
        return known[0] if named or len(known) == 1 else ""

    def called(self, text: str) -> str:
        """The same in quotes, or words that fit instead."""
        name = self.file(text)
        return repr(name) if name else "the input"

    @property
    def names(self) -> list[str]:
        """The names of all columns."""
        return [name for columns in self.columns.values() for name in columns]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def of_csv(text: str, place: ErrorPlace) -> SqlauditError | None:
    """Whatever is wrong with a line of a CSV file, with the line's number and the column's."""
    line = _LINE.match(text)
    if line is None:
        return None
    start = f"Line {line[1]} of {place.called(text)} "
    if fields := _FIELDS.search(text):
        return InputError(f"{start}has {_fields(fields[2])} where {_expected(fields[1])}.")
    if converted := _CONVERTED.search(text):
        return InputError(start + _conversion(converted[1], place.columns.get(place.file(text), {})))
    for sign, sentence in _CSV_SIGNS.items():
        if sign in text:
            return InputError(start + sentence)
    return InputError(start + "can't be read as CSV.")


def _fields(count: str) -> str:
    return "1 field" if count == "1" else f"{count} fields"


def _expected(count: str) -> str:
    return "1 is expected" if count == "1" else f"{count} are expected"


def _conversion(column: str, columns: Mapping[str, str]) -> str:
    if column not in columns:
        return "holds a value that does not fit its column; read the file as text, or name the texts that mean NULL."
    number = list(columns).index(column) + 1
    return (
        f"holds a value in column {number} ({column!r}) that is not {_article(columns[column])}; read the file "
        "as text, or name the texts that mean NULL."
    )


def _article(type_name: str) -> str:
    return f"an {type_name}" if type_name[:1] in "AEIOU" else f"a {type_name}"


_CSV_SIGNS = {
    "unterminated quote": "opens a quote that is never closed.",
    "not utf-8 encoded": "is not UTF-8; name the encoding, for instance latin-1 or utf-16.",
    "Invalid unicode": "is not in the encoding that was named.",
    "Maximum line size": "is longer than a line may be (2 MB).",
    "max_line_size": "is longer than a line may be (2 MB).",
}


def of_file(text: str, place: ErrorPlace) -> SqlauditError | None:
    """What DuckDB says about files as a whole."""
    if not place.files:
        return None
    if json := _JSON.match(text):
        if json[1] == "Malformed JSON":  # DuckDB counts one too many here
            return InputError(_capital(f"{place.called(text)} is not valid JSON near {json[2]} {json[3]}."))
        if "duplicate key" not in text:
            fits = "holds a value that does not fit those of the records before; read the file as text."
            return InputError(f"{json[2].capitalize()} {json[3]} of {place.called(text)} {fits}")
    for sign, sentence in _FILE_SIGNS.items():
        if sign in text:
            return InputError(_capital(f"{place.called(text)} {sentence}"))
    return None


_FILE_SIGNS = {
    "CSV Parser state machine": "is not well-formed CSV: look for mixed line ends or stray quotes.",
    "Error when sniffing file": "can't be read as CSV; name the delimiter, or look for lines of different length.",
    "Schema mismatch between globbed files": "and the other files do not have the same columns.",
    "No magic bytes": "is not a Parquet file, or was cut off.",
    "too small to be a Parquet file": "is not a Parquet file, or was cut off.",
    "Snappy decompression": "is a damaged Parquet file.",
    "ZSTD Decompression": "is a damaged compressed file.",
    "GZIP stream": "is not a complete gzip file.",
    "has duplicate key": "holds a JSON record with the same key twice.",
    "has already been consumed": "can be read only once; read it into a table first.",
    "TProtocolException": "is a damaged Parquet file.",
    "Failed to read file": "is damaged.",
    "Malformed JSON": "is not valid JSON.",
}


def of_io(text: str, place: ErrorPlace) -> SqlauditError | None:
    """What the system says about files and databases."""
    if missing := _NO_CATALOG.match(text):
        return UsageError(f"There is no database or schema {missing[1]!r}, which the step {place.step!r} names.")
    for signs, raised, sentence in _IO_SIGNS:
        if any(sign in text for sign in signs):
            return raised(
                _capital(
                    sentence.format(file=place.called(text), step=place.step, temp_directory=about("temp_directory"))
                )
            )
    return None


_IO_SIGNS: tuple[tuple[tuple[str, ...], type[SqlauditError], str], ...] = (
    (
        ("No space left", "ot enough disk space"),
        Incomplete,
        "There is no room left on disk for what the step {step!r} spills; name a larger {temp_directory}.",
    ),
    (
        ("Could not set lock", "already attached by", "Unique file handle conflict"),
        EngineError,
        "{file} is open for writing elsewhere; close it there, or audit a copy.",
    ),
    (("not a valid DuckDB database",), InputError, "{file} is not a DuckDB database."),
    (
        ("with version number", "newer version of DuckDB", "storage version"),
        EngineError,
        "{file} was written by a newer DuckDB; upgrade the duckdb package.",
    ),
    (("encrypt", "Encrypt"), EngineError, "{file} is encrypted; audit a decrypted copy."),
    (("Permission denied",), PermissionDenied, "{file} may not be read by this user."),
    (("Is a directory",), UsageError, "{file} is a folder, not a file."),
    (("does not exist", "No files found", "No such file"), InputError, "{file} is not there any more."),
    (("Could not read", "Could not seek"), InputError, "{file} is damaged or was cut off."),
)


def of_database(text: str, place: ErrorPlace) -> SqlauditError | None:
    """A database file that is damaged."""
    if "Corrupt database file" in text:
        return InputError(_capital(f"{place.called(text)} is a damaged DuckDB database."))
    return None


def of_log(text: str, place: ErrorPlace) -> SqlauditError | None:
    """A write-ahead log that DuckDB itself refuses."""
    if "WAL" not in text:
        return None
    return InputError(
        f"The write-ahead log beside {place.called(text)} is damaged, or belongs to another database or to another "
        "state of it: put back the right one, or audit a complete copy."
    )
