"""DuckDB's errors as sentences of ours.

DuckDB's messages quote what they stumble over: a line of the file, a value that could not be converted. So no
message passes. What is taken from one is a line number, a count, a name that is known to be a column or a file, or
an identifier that stands in the SQL itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import duckdb

from sqlaudit.base.errors import (
    EngineError,
    Incomplete,
    InputError,
    Interrupted,
    PermissionDenied,
    SqlauditError,
    UsageError,
)
from sqlaudit.base.names import closest, quote
from sqlaudit.base.words import about, spelled

_LINE = re.compile(r"^[\w ]+Error: CSV Error on Line: (\d+)\b")
_FIELDS = re.compile(r"^Expected Number of Columns: (\d+) Found: (\d+)", re.MULTILINE)
_CONVERTED = re.compile(r'^Error when converting column "(.*)"\. Could', re.MULTILINE)
_NO_COLUMN = re.compile(r'^Binder Error: Referenced column "(.*)" not found')
_NO_FIELD = re.compile(r'^Binder Error: .* does not have a column named "(.*)"')
_NO_FUNCTION = re.compile(r"^Catalog Error: \w+ Function with name (\S+) does not exist")
_NO_CATALOG = re.compile(r'^(?:Binder|Catalog) Error: (?:Catalog|Schema with name) "?([^"]*?)"? does not exist')
_NO_TABLE = re.compile(r'^Catalog Error: Table with name "?(.*?)"? does not exist')
_WRONG_TYPES = re.compile(
    r"^Binder Error: No function matches the given name and argument types '(\w+)\(([\w, ()]*)\)'"
)
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


def translate(error: duckdb.Error, place: ErrorPlace) -> SqlauditError:
    """The error to raise instead, without cause, for an error of DuckDB.

    Example:
        >>> translate(duckdb.IOException("IO Error: No space left on device"), ErrorPlace("classes")).exit_code.name
        'INCOMPLETE'
    """
    text = str(error)
    if isinstance(error, duckdb.InterruptException):
        return _interrupted(place)
    for kinds, explain in _EXPLANATIONS:
        if isinstance(error, kinds):
            found = explain(text, place)
            if found is not None:
                return found
    return EngineError(f"DuckDB could not run the step {place.step!r} ({type(error).__name__}).")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _interrupted(place: ErrorPlace) -> SqlauditError:
    if place.timeout is not None:
        return Incomplete(f"The time limit of {place.timeout:g} seconds was reached in the step {place.step!r}.")
    return Interrupted(f"Stopped in the step {place.step!r}.")


def _memory(text: str, place: ErrorPlace) -> SqlauditError:
    if "max_temp_directory_size" in text or "temp_directory" in text.casefold():
        return _disk(place)
    return Incomplete(
        f"The memory limit was reached in the step {place.step!r}; raise {spelled('memory_limit')} or lower "
        f"{spelled('threads')}."
    )


def _disk(place: ErrorPlace) -> SqlauditError:
    return Incomplete(
        f"There is no room left on disk for what the step {place.step!r} spills; name a larger "
        f"{about('temp_directory')}."
    )


def _csv(text: str, place: ErrorPlace) -> SqlauditError | None:
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


def _file(text: str, place: ErrorPlace) -> SqlauditError | None:
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


def _io(text: str, place: ErrorPlace) -> SqlauditError | None:
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


def _binder(text: str, place: ErrorPlace) -> SqlauditError | None:
    """A name or a type in the SQL that does not fit the relation."""
    if missing := _NO_COLUMN.match(text) or _NO_FIELD.match(text):
        return UsageError(f"There is no column {missing[1]!r}.{closest(missing[1], place.names)}")
    if missing := _NO_FUNCTION.match(text):
        return UsageError(f"DuckDB has no function {missing[1]!r}{_own_function(missing[1], place)}.")
    if missing := _NO_TABLE.match(text):
        return UsageError(f"There is no table or view {missing[1]!r}, which the step {place.step!r} reads.")
    if wrong := _WRONG_TYPES.match(text):
        return UsageError(f"The function {wrong[1]!r} does not take ({wrong[2]}); cast its arguments.")
    if "cannot contain aggregates" in text:
        return UsageError("An expression over the columns of one row may hold no aggregate.")
    return None


def _own_function(name: str, place: ErrorPlace) -> str:
    """How a macro of the database is called, since none of them stands for a function of DuckDB's."""
    if not place.catalog:
        return ""
    full = ".".join(quote(part, "duckdb") for part in (place.catalog, "main"))
    return f"; a macro of the database is called by its full name, {full}.{name}(…)"


def _not_planned(_: str, place: ErrorPlace) -> SqlauditError:
    return UsageError(f"DuckDB could not read the SQL of the step {place.step!r}.")


def _value(text: str, place: ErrorPlace) -> SqlauditError:
    if "read-only mode" in text or "configuration has been locked" in text:
        return EngineError(f"The step {place.step!r} would change something; an audit only reads.")
    return UsageError(
        f"An expression in the step {place.step!r} meets a value that it can't convert or compute; "
        f"use TRY_CAST, or leave such rows out with {spelled('where')}."
    )


def _permission(_: str, place: ErrorPlace) -> SqlauditError:
    return PermissionDenied(
        f"The step {place.step!r} reaches for a file that is not an input; access is closed to everything else."
    )


def _damaged(text: str, place: ErrorPlace) -> SqlauditError | None:
    if "Corrupt database file" in text:
        return InputError(_capital(f"{place.called(text)} is a damaged DuckDB database."))
    return None


def _log(text: str, place: ErrorPlace) -> SqlauditError | None:
    """A write-ahead log that DuckDB itself refuses."""
    if "WAL" not in text:
        return None
    return InputError(
        f"The write-ahead log beside {place.called(text)} is damaged, or belongs to another database or to another "
        "state of it: put back the right one, or audit a complete copy."
    )


def _internal(_: str, place: ErrorPlace) -> SqlauditError:
    return EngineError(f"DuckDB failed inside in the step {place.step!r}; nothing was changed.")


_EXPLANATIONS: tuple[
    tuple[type[Exception] | tuple[type[Exception], ...], Callable[[str, ErrorPlace], SqlauditError | None]], ...
] = (
    (duckdb.OutOfMemoryException, _memory),
    (duckdb.PermissionException, _permission),
    (duckdb.Error, _csv),
    (duckdb.Error, _log),
    ((duckdb.IOException, duckdb.ResourceInUseException, duckdb.ConnectionException, duckdb.BinderException), _io),
    (duckdb.Error, _damaged),
    ((duckdb.InvalidInputException, duckdb.IOException, duckdb.SerializationException), _file),
    ((duckdb.BinderException, duckdb.CatalogException), _binder),
    ((duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException, duckdb.SyntaxException), _not_planned),
    ((duckdb.ConversionException, duckdb.OutOfRangeException, duckdb.InvalidInputException), _value),
    ((duckdb.FatalException, duckdb.InternalException), _internal),
)
