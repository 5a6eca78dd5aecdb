"""How a CSV file is read: the dialect is found once, pinned, and nothing is ever skipped.

DuckDB's own detection is made for loading what it can: it takes a leading `#` for a comment, drops lines before the
widest block of a ragged file, and reads a column of T and F as BOOLEAN. For an audit, a row that is not read is a
person who is not counted. So detection is limited here (no comments, no skipped lines, RFC 4180 quotes where they
fit), the shape that was found is pinned for every later statement, and a line that does not fit is an error.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import InputError, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import quote
from sqlaudit.base.relation import Remark, Row
from sqlaudit.base.spec import ReadOptions
from sqlaudit.base.sql import Raw, expression
from sqlaudit.base.words import spelled
from sqlaudit.engines.duckdb.calls import called, hive, is_time
from sqlaudit.engines.duckdb.paths import Files
from sqlaudit.engines.duckdb.session import DIALECT, DuckDBSession

_DELIMITERS = ",;\t|"
_FORMATS = {"DATE": "dateformat", "TIMESTAMP": "timestampformat", "TIMESTAMP WITH TIME ZONE": "timestampformat"}
_NEVER = "\x1f\x1e\x1d\x1c"
_TYPES = ["BIGINT", "HUGEINT", "DOUBLE", "TIME", "DATE", "TIMESTAMP", "TIMESTAMPTZ", "VARCHAR"]
_ENCODINGS = {"utf-8": "utf-8", "utf-16": "utf-16", "utf-16-le": "utf-16", "iso8859-1": "latin-1", "ascii": "utf-8"}
_NUMBERS = ("BIGINT", "HUGEINT", "DOUBLE")
_WHOLE = 32_000_000
_SAMPLE = 200_000
_TWICE = 4_000_000
"""Bytes that are read sooner than a long statement is planned."""
_STRICT: dict[str, Any] = {"skip": 0, "comment": "", "strict_mode": True, "null_padding": False, "ignore_errors": False}


@dataclass(frozen=True)
class Shape:
    """Everything that says how a CSV file is read.

    Args:
        delimiter, quote, escape: one character each; quote and escape may be empty.
        header: whether the first line has names.
        columns: names and DuckDB types, in order.
        formats: `dateformat` and `timestampformat` where the file does not write dates as ISO does.
    """

    delimiter: str
    quote: str
    escape: str
    header: bool
    columns: tuple[tuple[str, str], ...]
    formats: tuple[tuple[str, str], ...] = ()

    def arguments(self) -> dict[str, Any]:
        """The arguments of read_csv for the dialect alone."""
        return {"delim": self.delimiter, "quote": self.quote, "escape": self.escape, "header": self.header, **_STRICT}


def csv_source(
    session: DuckDBSession, files: Files, options: ReadOptions, folders: Sequence[str] = ()
) -> tuple[str, list[str], tuple[Remark, ...]]:
    """A call of read_csv that reads the files as they are, the names that their header has, and what to say of it.

    Raises:
        InputError: a line that does not fit, a wrong encoding, files with different columns, a header like data.
        UsageError: an encoding or a delimiter that can't be used.
    """
    common = _common(files, options)
    shape = _find_shape(session, files, options, common)
    names = _header(session, files, shape, common)
    remarks = _guess_told(session, files, shape, names, common) if options.header is None else ()
    if len(files.paths) > 1:
        shape = replace(shape, columns=_common_types(session, files, shape, common, options))
    if options.all_text:
        shape = _as_text(shape, {name for name, _ in shape.columns})
    nulls = {"nullstr": _null_texts(options)}
    shape = _as_text(shape, _changed(session, files, shape, {**common, **nulls}))
    pinned = {"auto_detect": False, **shape.arguments(), "columns": dict(shape.columns), **dict(shape.formats)}
    return called("read_csv", files.texts, {**pinned, **common, **nulls, **hive(folders)}), names, remarks


def _common(files: Files, options: ReadOptions) -> dict[str, Any]:
    """The arguments that every reading of the file has."""
    encoding = _encoding(options.encoding) if options.encoding else _encoding_by_mark(files.paths[0])
    return {"encoding": encoding, "hive_partitioning": False}


def _delimiter(text: str) -> str:
    """The delimiter itself; a tab may be written as a shell passes it on."""
    delimiter = {"\\t": "\t", "tab": "\t"}.get(text, text)
    if len(delimiter.encode()) > 4 or any(c in delimiter for c in '\r\n"'):
        raise UsageError(f"{text!r} can't be a delimiter; it is one character, such as ; or a tab.")
    return delimiter


def _encoding(name: str) -> str:
    try:
        known = _ENCODINGS.get(codecs.lookup(name).name)
    except LookupError:
        known = None
    if known is None:
        raise UsageError(
            f"The encoding {name!r} is not read here; use utf-8, utf-16 or latin-1 (which also separates the values of "
            "other one-byte encodings), or convert the file."
        )
    return known


def _encoding_by_mark(path: Path) -> str:
    with path.open("rb") as file:
        start = file.read(2)
    if start == codecs.BOM_UTF16_BE:
        raise InputError(f"{path.name!r} is UTF-16 in big-endian order, which is not read here; convert it to UTF-8.")
    return "utf-16" if start == codecs.BOM_UTF16_LE else "utf-8"


def _null_texts(options: ReadOptions) -> list[str]:
    """Empty fields and the texts that mean NULL, these also after the blank that some files put behind a comma."""
    texts = [""]
    for text in options.null_values:
        texts += [text] if text.startswith(" ") else [text, " " + text]
    return list(dict.fromkeys(texts))


def _find_shape(session: DuckDBSession, files: Files, options: ReadOptions, common: dict[str, Any]) -> Shape:
    """The shape of the first file: with RFC 4180 quotes if that works, else with those that DuckDB finds."""
    first = _first_line(session, files, common)
    given = _delimiter(options.delimiter)
    plain = {"quote": '"', "escape": '"'}
    for delimiter, quotes in ((given or _sole(first), plain), (given, plain), (given, {})):
        shape = _sniff(session, files, options, common, delimiter, quotes)
        if shape is not None and (quotes or shape.quote) and not _is_too_narrow(shape, first):
            return shape
    delimiter = given or _guess(first)
    _read_through(session, files, delimiter, first, common)
    shape = _sniff(session, files, options, common, delimiter, plain)
    if shape is None:
        raise InputError(f"{files.label!r} can't be read as CSV; name the delimiter, or look for a stray quote.")
    return shape


def _sniff(
    session: DuckDBSession,
    files: Files,
    options: ReadOptions,
    common: dict[str, Any],
    delimiter: str,
    quotes: dict[str, str],
) -> Shape | None:
    """What DuckDB finds in the first file under these constraints; None when nothing fits."""
    arguments = {
        **common,
        **_STRICT,
        **quotes,
        "nullstr": _null_texts(options),
        "sample_size": -1 if files.bytes <= _WHOLE else _SAMPLE,
        "auto_type_candidates": _TYPES,
    }
    if delimiter:
        arguments["delim"] = delimiter
    if options.header is not None:
        arguments["header"] = options.header
    call = called("sniff_csv", files.texts[0], arguments)
    columns = "list_transform(Columns, lambda c: [c.name, c.type])"
    wanted = ", ".join(("Delimiter", "Quote", "Escape", "HasHeader", columns, "DateFormat", "TimestampFormat"))
    try:
        rows = session.fetch("SELECT " + wanted + " FROM " + call, "open " + files.label)
    except InputError:
        return None
    return _shape(rows[0])


def _shape(row: Row) -> Shape:
    delimiter, quote, escape, header, columns, date, timestamp = row
    formats = tuple((k, v) for k, v in (("dateformat", date), ("timestampformat", timestamp)) if v)
    named = tuple((name, type_name) for name, type_name in columns)
    return Shape(_char(delimiter), _char(quote), _char(escape), bool(header), named, formats)


def _char(text: str | None) -> str:
    """A character as sniff_csv spells it."""
    return {"(empty)": "", "\\t": "\t", None: ""}.get(text, text or "")


def _is_too_narrow(shape: Shape, first: str) -> bool:
    """True when one column was found although the first line has something that separates."""
    return len(shape.columns) == 1 and not first.startswith(('"', "'")) and any(c in first for c in _DELIMITERS)


def _sole(first: str) -> str:
    """The delimiter when the first line leaves no choice; names seldom hold one, values often do."""
    found = [c for c in _DELIMITERS if c in first]
    return found[0] if len(found) == 1 else ""


def _guess(first: str) -> str:
    return max(_DELIMITERS, key=first.count) if any(c in first for c in _DELIMITERS) else ","


def _first_line(session: DuckDBSession, files: Files, common: dict[str, Any]) -> str:
    """The first line as it stands in the file; it is looked at for delimiters and never shown."""
    arguments = {"auto_detect": False, "delim": _NEVER, "quote": "", "escape": "", "header": False, "skip": 0}
    tolerant = {"strict_mode": False, "ignore_errors": True, "null_padding": True}
    call = called("read_csv", files.texts[:1], {**arguments, **tolerant, **common, "columns": {"line": "VARCHAR"}})
    rows = session.fetch("SELECT line FROM " + call + " LIMIT 1", "open " + files.label)
    return str(rows[0][0] or "") if rows else ""


def _read_through(session: DuckDBSession, files: Files, delimiter: str, first: str, common: dict[str, Any]) -> None:
    """Read all lines with the plainest dialect, so that the error names the line that does not fit."""
    width = first.count(delimiter) + 1
    columns = {f"c{i}": "VARCHAR" for i in range(width)}
    shape = Shape(delimiter, '"', '"', False, tuple(columns.items()))
    call = called(
        "read_csv", files.texts[:1], {"auto_detect": False, **shape.arguments(), **common, "columns": columns}
    )
    session.fetch("SELECT count(COLUMNS(*)) FROM " + call, "open " + files.label)


def _header(session: DuckDBSession, files: Files, shape: Shape, common: dict[str, Any]) -> list[str]:
    """The names as the first line writes them; all files must have the same ones in the same order."""
    if not shape.header:
        return [name for name, _ in shape.columns]
    columns = {f"c{i}": "VARCHAR" for i in range(len(shape.columns))}
    arguments = {"auto_detect": False, **shape.arguments(), "header": False, **common, "columns": columns}
    headers = []
    for text in files.texts:
        rows = session.fetch(
            "SELECT * FROM " + called("read_csv", [text], arguments) + " LIMIT 1", "open " + files.label
        )
        headers.append([str(name or "").strip() for name in rows[0]] if rows else [])
    for path, header in zip(files.paths, headers, strict=True):
        if header != headers[0]:
            both = f"{path.name!r} and {files.paths[0].name!r}"
            raise InputError(f"{both} do not have the same columns in the same order.")
    return headers[0]


def _as_text(shape: Shape, names: set[str]) -> Shape:
    """The shape with some columns as text."""
    columns = tuple((name, "VARCHAR" if name in names else type_name) for name, type_name in shape.columns)
    dated = any(type_name.startswith(("DATE", "TIME")) for _, type_name in columns)
    return replace(shape, columns=columns, formats=shape.formats if dated else ())


def _changed(session: DuckDBSession, files: Files, shape: Shape, common: dict[str, Any]) -> set[str]:
    """The columns with a value that their type would change: 1.4 among whole numbers, or digits that a DOUBLE lacks.

    Those in which several texts are one date or time are among them.

    The types come from a sample of a large file, and a DOUBLE takes numbers of any length; so all lines are looked at.
    """
    typed = [(name, type_name) for name, type_name in shape.columns if type_name != "VARCHAR"]
    if not typed:
        return set()
    texts = {name: "VARCHAR" for name, _ in shape.columns}
    call = called("read_csv", files.texts, {"auto_detect": False, **shape.arguments(), **common, "columns": texts})
    step, formats = "open " + files.label, dict(shape.formats)
    if files.bytes <= _TWICE:
        typed = _doubtful(session, call, typed, step)
    columns = [(quote(name, DIALECT), type_name) for name, type_name in typed]
    times = [
        (name, quote(name, DIALECT), type_name, formats.get(_FORMATS.get(type_name, ""), ""))
        for name, type_name in typed
        if is_time(type_name)
    ]
    asked: list[tuple[str, str, str]] = []
    if times:
        from sqlaudit.engines.duckdb.times import described, made_equal

        asked = described(times)
    if not typed:
        return set()
    template = "engines/duckdb/read_changed.sql"
    found = session.fetch(expression(template, DIALECT, source=Raw(call), columns=columns, times=asked), step)[0]
    changed = {name for (name, _), differ in zip(typed, found, strict=False) if differ}
    odd = [column for column, differ in zip(times, found[len(typed) :], strict=True) if differ]
    return changed | made_equal(session, call, odd, step) if odd else changed


def _doubtful(session: DuckDBSession, call: str, typed: list[tuple[str, str]], step: str) -> list[tuple[str, str]]:
    """Columns less those of numbers that are all written as their type writes them: these it does not change."""
    numbers = [(name, type_name) for name, type_name in typed if type_name in _NUMBERS]
    if not numbers:
        return typed
    columns = [(quote(name, DIALECT), type_name) for name, type_name in numbers]
    statement = expression("engines/duckdb/read_plainly.sql", DIALECT, source=Raw(call), columns=columns)
    found = session.fetch(statement, step)[0]
    plain = {name for (name, _), differ in zip(numbers, found, strict=True) if not differ}
    return [(name, type_name) for name, type_name in typed if name not in plain]


def _guess_told(
    session: DuckDBSession, files: Files, shape: Shape, names: list[str], common: dict[str, Any]
) -> tuple[Remark, ...]:
    """What to say of a first line that was taken for the header and may be a person, where all columns are text.

    Among texts nothing tells names from values but that values come again: `f` is seldom the name of a column of `f`.
    One column may have a value that is its name; a line half of which is values is no header.

    Raises:
        InputError: at least half of the fields of the first line are values of their columns as well.
    """
    if not shape.header or any(type_name != "VARCHAR" for _, type_name in shape.columns):
        return ()
    arguments = {"auto_detect": False, **shape.arguments(), **common, "columns": dict(shape.columns)}
    call = Raw(called("read_csv", files.texts, arguments))
    columns = [quote(name, DIALECT) for name, _ in shape.columns]
    statement = expression("engines/duckdb/read_header_values.sql", DIALECT, source=call, columns=columns)
    found = session.fetch(statement, "open " + files.label, names)[0][0]
    if 2 * found >= len(names):
        raise InputError(
            f"Line 1 of {files.label!r} was taken for the header, but {found} of its {len(names)} fields are values of "
            f"their columns as well, as in a line of data; say {spelled('header', False)} if it is one (header: "
            f"false), else {spelled('header', True)}."
        )
    line = f"Line 1 of {Path(files.label).name!r} was taken for the header, since all its columns are text"
    return (Remark("header_guessed", line + f"; say {spelled('header', False)} if it is a line of data."),)


def _common_types(
    session: DuckDBSession, files: Files, shape: Shape, common: dict[str, Any], options: ReadOptions
) -> tuple[tuple[str, str], ...]:
    """Types that fit all files: what DuckDB says when it looks into each of them."""
    arguments = {**shape.arguments(), **common, **dict(shape.formats), "files_to_sniff": -1}
    arguments |= {"sample_size": _SAMPLE, "auto_type_candidates": _TYPES, "nullstr": _null_texts(options)}
    described = session.describe("SELECT * FROM " + called("read_csv", files.texts, arguments), "open " + files.label)
    return tuple((row[0], row[1]) for row in described)
