"""DuckDB's errors, and faults of inputs, in sqlaudit's own sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field

from sqlaudit.base.errors import (
    EngineError,
    Incomplete,
    InputError,
    Interrupted,
    PermissionDenied,
    SqlauditError,
    UnknownColumn,
    UsageError,
)
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import closest_column, quote
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.engines.duckdb.driver import duckdb

# Faults of inputs in our own sentences: lines of CSV, JSON and Parquet files, database files, the disk.

_LINE = re.compile(r"^[\w ]+Error: CSV Error on Line: (\d+)\b")
_FIELDS = re.compile(r"^Expected Number of Columns: (\d+) Found: (\d+)", re.MULTILINE)
_CONVERTED = re.compile(r'^Error when converting column "(.*)"\. Could', re.MULTILINE)
_NO_CATALOG = re.compile(r'^(?:Binder|Catalog) Error: (?:Catalog|Schema with name) "?([^"]*?)"? does not exist')
_JSON = re.compile(
    r"^Invalid Input Error: (Malformed JSON|JSON transform error) in file .* in (line|record)\S* (\d+): "
)


@dataclass(frozen=True)
class ErrorContext:
    """The context of an error: the step that ran, and the tables and files that are open.

    Args:
        step: the name of the step that ran.
        columns: the columns of each open table and their types, by the user's name for the table.
        files: absolute path to the name that the user gave, for all opened files.
        timeout: the time limit in seconds if it has passed, else None.
        catalog: the name that the audited database has there, empty without one.
        memory: the memory that DuckDB may use, empty = four fifths of the machine's.
    """

    step: str
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    timeout: float | None = None
    catalog: str = ""
    memory: str = ""

    def file(self, text: str) -> str:
        """Return the user's name for the file that a message is about, empty if that is not certain."""
        labels_in_text = [label for path, label in self.files.items() if path in text]
        labels = labels_in_text or sorted(set(self.files.values()))
        return labels[0] if labels_in_text or len(labels) == 1 else ""

    def called(self, text: str) -> str:
        """Return the name of that file in quotes, or "the input"."""
        name = self.file(text)
        return repr(name) if name else "the input"

    @property
    def names(self) -> list[str]:
        """The names of all columns."""
        return [name for columns in self.columns.values() for name in columns]


Explain = Callable[[str, ErrorContext], SqlauditError | None]
"""Takes a message of DuckDB and its context, and returns the error to raise instead; None for other messages."""


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def explain_csv(text: str, context: ErrorContext) -> SqlauditError | None:
    """Return the error for a line of a CSV file, with the numbers of the line and the column; else None."""
    line = _LINE.match(text)
    if line is None:
        return None
    start = f"Line {line[1]} of {context.called(text)} "
    if fields := _FIELDS.search(text):
        expected_count, field_count = fields.groups()
        verb, plural = "is" if expected_count == "1" else "are", "" if field_count == "1" else "s"
        return InputError(f"{start}has {field_count} field{plural}, but {expected_count} {verb} expected.")
    if converted := _CONVERTED.search(text):
        return InputError(start + _describe_conversion(converted[1], context.columns.get(context.file(text), {})))
    encoding = spelled("encoding", "cp1252")
    descriptions = (sentence.format(encoding=encoding) for sign, sentence in _CSV_SIGNS.items() if sign in text)
    return InputError(start + next(descriptions, "cannot be read as CSV."))


def _describe_conversion(column: str, columns: Mapping[str, str]) -> str:
    """Return the sentence on a value that does not fit its column."""
    if column not in columns:
        return "has a value that does not fit its column. Read the file as text, or name the texts that mean NULL."
    number, kind = list(columns).index(column) + 1, columns[column]
    article = "an" if kind[:1] in "AEIOU" else "a"
    return (
        f"has a value in column {number} ({column!r}) that is not {article} {kind}. Read the file as text, or name the "
        "texts that mean NULL."
    )


_CSV_SIGNS = {
    "unterminated quote": "has an unclosed quote.",
    "not utf-8 encoded": "is not UTF-8. Name its encoding: {encoding} if it is from Western Europe, else for example "
    "cp1251, gbk or shift_jis.",
    "Invalid unicode": "is not in the encoding that was named.",
    "Maximum line size": "is longer than a line may be (2 MB).",
    "max_line_size": "is longer than a line may be (2 MB).",
}


def explain_file(text: str, context: ErrorContext) -> SqlauditError | None:
    """Return the error for a file as a whole; None for other messages."""
    if not context.files:
        return None
    if json := _JSON.match(text):
        if json[1] == "Malformed JSON":  # DuckDB counts one too many here
            return InputError(_capitalize(f"{context.called(text)} is not valid JSON near {json[2]} {json[3]}."))
        if "duplicate key" not in text:
            fits = "has a value that does not fit the earlier records. Read the file as text."
            return InputError(f"{json[2].capitalize()} {json[3]} of {context.called(text)} {fits}")
    description = next((sentence for sign, sentence in _FILE_SIGNS.items() if sign in text), "")
    description = description.format(encoding=spelled("encoding", "cp1252"))
    return InputError(_capitalize(f"{context.called(text)} {description}")) if description else None


_FILE_SIGNS = {
    "not latin-1 encoded": "has characters of cp1252 that latin-1 lacks. Use {encoding}.",
    "CSV Parser state machine": "is not well-formed CSV: look for mixed line ends or stray quotes.",
    "Error when sniffing file": "cannot be read as CSV. Name the delimiter, or look for lines of different length.",
    "Schema mismatch between globbed files": "and the other files do not have the same columns.",
    "No magic bytes": "is not a Parquet file, or was cut off.",
    "too small to be a Parquet file": "is not a Parquet file, or was cut off.",
    "Snappy decompression": "is a damaged Parquet file.",
    "ZSTD Decompression": "is a damaged compressed file.",
    "GZIP stream": "is not a complete gzip file, or was changed.",
    "Unsupported GZIP": "has a gzip header that DuckDB does not read. Compress it again.",
    "has duplicate key": "has a JSON record with the same key twice.",
    "has already been consumed": "can be read only once. Read it into a table first.",
    "TProtocolException": "is a damaged Parquet file.",
    "Failed to read file": "is damaged.",
    "Malformed JSON": "is not valid JSON.",
}


# DuckDB's errors in our own sentences.
#
# DuckDB's messages quote lines of the file and values that could not be converted, so no message is passed on. Only a
# line number, a count, a name that is known to be a column or a file, or an identifier in the SQL itself is taken over.

_NO_COLUMN = re.compile(r'^Binder Error: Referenced column "(.*)" not found')
_NO_FIELD = re.compile(r'^Binder Error: .* does not have a column named "(.*)"')
_NO_FUNCTION = re.compile(r"^Catalog Error: \w+ Function with name (\S+) does not exist")
_WRAPPER = "Attempting to execute an unsuccessful or closed pending query result\nError: "
_NO_TABLE = re.compile(r'^Catalog Error: Table with name "?(.*?)"? does not exist')
_WRONG_TYPES = re.compile(
    r"^Binder Error: No function matches the given name and argument types '(\w+)\(([\w, ()]*)\)'"
)


def translate(error: duckdb.Error, context: ErrorContext) -> SqlauditError:
    """Return the error to raise instead, without cause, for an error of DuckDB.

    Example:
        >>> translate(duckdb.IOException("IO Error: No space left on device"), ErrorContext("classes")).exit_code.name
        'INCOMPLETE'
    """
    error = _unwrap(error)
    text = str(error)
    if isinstance(error, duckdb.InterruptException):
        if context.timeout is not None:
            return Incomplete(
                f"The time limit of {context.timeout:g} seconds was reached in the step {context.step!r}."
            )
        return Interrupted(f"Stopped in the step {context.step!r}.")
    for kinds, explain in _EXPLANATIONS:
        if isinstance(error, kinds) and (explained := explain(text, context)) is not None:
            return explained
    return EngineError(f"DuckDB could not run the step {context.step!r} ({type(error).__name__}).")


def _unwrap(error: duckdb.Error) -> duckdb.Error:
    """Return the inner error. DuckDB 1.x wraps it in one of another kind when it ends a statement that has begun."""
    inner = str(error).partition(_WRAPPER)[2]
    kind = inner.partition(" Error: ")[0].replace(" ", "").lower() + "exception"
    kinds = {name.lower(): error_class for name, error_class in vars(duckdb).items() if name.endswith("Exception")}
    return kinds.get(kind, duckdb.Error)(inner) if inner else error


def _explain_binder(text: str, context: ErrorContext) -> SqlauditError | None:
    """Return the error for a name or a type in the SQL that does not fit the relation; None for other messages."""
    if missing := _NO_COLUMN.match(text) or _NO_FIELD.match(text):
        near = closest_column(missing[1], context.names) or " Is it a value? Texts need single quotes."
        return UnknownColumn(f"There is no column {missing[1]!r}.{near}")
    if missing := _NO_FUNCTION.match(text):
        return UsageError(f"DuckDB has no function {missing[1]!r}{_macro_hint(missing[1], context)}.")
    if missing := _NO_TABLE.match(text):
        return UsageError(f"There is no table or view {missing[1]!r}, which the step {context.step!r} reads.")
    if wrong := _WRONG_TYPES.match(text):
        return UsageError(f"The function {wrong[1]!r} does not take ({wrong[2]}). Cast its arguments.")
    if "cannot contain aggregates" in text:
        return UsageError("An expression over the columns of one row must not have an aggregate.")
    return None


def _macro_hint(name: str, context: ErrorContext) -> str:
    """Return how to call a macro of the database, since none of them replaces a function of DuckDB."""
    if not context.catalog:
        return ""
    full = ".".join(quote(part, "duckdb") for part in (context.catalog, "main"))
    return f"; a macro of the database is called by its full name, {full}.{name}(…)"


def _explain_catalog(text: str, context: ErrorContext) -> SqlauditError | None:
    if missing := _NO_CATALOG.match(text):
        return UsageError(f"There is no database or schema {missing[1]!r}, which the step {context.step!r} names.")
    return None


def _explain(kind: type[SqlauditError], sentence: str, *words: str) -> Explain:
    """Return an explanation that gives this error for messages with one of the words, or for all messages."""

    def explain(text: str, context: ErrorContext) -> SqlauditError | None:
        if words and not any(word in text for word in words):
            return None
        names = {name: spelled(name) for name in ("memory_limit", "threads", "where")}
        names |= {"file": context.called(text), "step": context.step, "temp_directory": about("temp_directory")}
        names["memory"] = context.memory or "80% of this machine's memory"
        return kind(_capitalize(sentence.format(**names)))

    return explain


_NO_ROOM = "The disk is full in the step {step!r}. Name a larger {temp_directory}."
_NO_MEMORY = (
    "The step {step!r} ran out of memory. Its limit is {memory}. Raise it with {memory_limit}, or lower {threads}."
)
_CLOSED = "The step {step!r} reads a file that is not an input. Only the named files can be read."
_WRONG_LOG = (
    "The write-ahead log beside {file} is damaged, or belongs to another database or to another state of it: put back "
    "the right one, or audit a complete copy."
)
_ELSEWHERE = "{file} is open for writing elsewhere. Close it there, or audit a copy."
_NEWER = "{file} was written by a newer DuckDB. Upgrade the duckdb package."
_WOULD_CHANGE = "The step {step!r} is a change, but an audit only reads."
_NO_VALUE = (
    "An expression in the step {step!r} meets a value that it can't convert or compute; use TRY_CAST, or leave such "
    "rows out with {where}."
)
_IN_USE = getattr(duckdb, "ResourceInUseException", duckdb.IOException)  # since DuckDB 2.0
_FILES = (duckdb.IOException, _IN_USE, duckdb.ConnectionException, duckdb.BinderException)
_NAMES = (duckdb.BinderException, duckdb.CatalogException)
_SYNTAX = (*_NAMES, duckdb.ParserException, duckdb.SyntaxException)
_VALUES = (duckdb.ConversionException, duckdb.OutOfRangeException, duckdb.InvalidInputException)
_INSIDE = (duckdb.FatalException, duckdb.InternalException)
_EXPLANATIONS: tuple[tuple[type[Exception] | tuple[type[Exception], ...], Explain], ...] = (
    (duckdb.OutOfMemoryException, _explain(Incomplete, _NO_ROOM, "temp_directory")),
    (duckdb.OutOfMemoryException, _explain(Incomplete, _NO_MEMORY)),
    (duckdb.PermissionException, _explain(PermissionDenied, _CLOSED)),
    (duckdb.Error, explain_csv),
    (duckdb.Error, _explain(InputError, _WRONG_LOG, "WAL")),
    (_FILES, _explain_catalog),
    (_FILES, _explain(Incomplete, _NO_ROOM, "No space left", "ot enough disk space")),
    (
        _FILES,
        _explain(EngineError, _ELSEWHERE, "Could not set lock", "already attached by", "Unique file handle conflict"),
    ),
    (_FILES, _explain(InputError, "{file} is not a DuckDB database.", "not a valid DuckDB database")),
    (_FILES, _explain(EngineError, _NEWER, "with version number", "newer version of DuckDB", "storage version")),
    (_FILES, _explain(EngineError, "{file} is encrypted. Audit a decrypted copy.", "encrypt", "Encrypt")),
    (_FILES, _explain(PermissionDenied, "{file} is not readable by this user.", "Permission denied")),
    (_FILES, _explain(UsageError, "{file} is a folder, not a file.", "Is a directory")),
    (_FILES, _explain(InputError, "{file} no longer exists.", "does not exist", "No files found", "No such file")),
    (_FILES, _explain(InputError, "{file} is damaged or was cut off.", "Could not read", "Could not seek")),
    (duckdb.Error, _explain(InputError, "{file} is a damaged DuckDB database.", "Corrupt database file")),
    ((duckdb.InvalidInputException, duckdb.IOException, duckdb.SerializationException), explain_file),
    (_NAMES, _explain_binder),
    (_SYNTAX, _explain(UsageError, "DuckDB could not read the SQL of the step {step!r}.")),
    (_VALUES, _explain(EngineError, _WOULD_CHANGE, "read-only mode", "configuration has been locked")),
    (_VALUES, _explain(UsageError, _NO_VALUE)),
    (_INSIDE, _explain(EngineError, "DuckDB failed with an internal error in the step {step!r}. Nothing was changed.")),
)
