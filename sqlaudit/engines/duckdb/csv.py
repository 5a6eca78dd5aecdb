"""How a CSV file is read: the dialect is found once, pinned, nothing is skipped, and times stay as they are written."""

from __future__ import annotations

import codecs
import mmap
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import InputError, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import literal, quote
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Remark, Row
from sqlaudit.base.spec import ReadOptions
from sqlaudit.base.sql import Raw, expression
from sqlaudit.engines.duckdb.driver import DUCKDB_1
from sqlaudit.engines.duckdb.paths import PACKED, Files
from sqlaudit.engines.duckdb.session import DIALECT, DuckDBSession

# Calls of DuckDB's table functions, written out, and what its types are.


def write_call(function: str, source: str | list[str], arguments: Mapping[str, Any]) -> str:
    """The call of a function over one or several files.

    Example:
        >>> write_call("read_parquet", ["p.parquet"], {"hive_partitioning": False})
        "read_parquet(['p.parquet'], hive_partitioning = FALSE)"
    """
    given = [literal(source, DIALECT), *(name + " = " + literal(value, DIALECT) for name, value in arguments.items())]
    return function + "(" + ", ".join(given) + ")"


def hive_options(folders: Sequence[str]) -> dict[str, Any]:
    """The arguments that read folders named `column=value`, or keep DuckDB from doing so by itself."""
    return {"hive_partitioning": True, "hive_types_autocast": False} if folders else {"hive_partitioning": False}


def is_time(type_name: str) -> bool:
    """Whether a type is one of dates or times."""
    return type_name.startswith(("DATE", "TIME")) and "[" not in type_name


# How a CSV file is read: the dialect is found once, pinned, and nothing is ever skipped.
#
# DuckDB's own detection is made for loading what it can: it takes a leading `#` for a comment, drops lines before the
# widest block of a ragged file, and reads a column of T and F as BOOLEAN. For an audit, a row that is not read is a
# person who is not counted. So detection is limited here (no comments, no skipped lines, RFC 4180 quotes where they
# fit), the shape that was found is pinned for every later statement, and a line that does not fit is an error.

_DELIMITERS = ",;\t|"
_FORMATS = {"DATE": "dateformat", "TIMESTAMP": "timestampformat", "TIMESTAMP WITH TIME ZONE": "timestampformat"}
_NEVER = "\x1f\x1e\x1d\x1c"
_WIDE = [] if DUCKDB_1 else ["HUGEINT"]
"""DuckDB 1.x takes whole numbers beyond 64 bits for DOUBLE; `changed` reads those that DOUBLE rounds as text."""
_TYPES = ["BIGINT", *_WIDE, "DOUBLE", "TIME", "DATE", "TIMESTAMP", "TIMESTAMPTZ", "VARCHAR"]
_ENCODINGS = {
    "utf-8": "utf-8",
    "utf-16": "utf-16",
    "utf-16-le": "utf-16",
    "iso8859-1": "latin-1",
    "cp1252": "latin-1",
    "ascii": "utf-8",
}
_NUMBERS = ("BIGINT", "HUGEINT", "DOUBLE")
_WHOLE = 32_000_000
_SAMPLE = 200_000
_TWICE = 4_000_000
"""Bytes that are read sooner than a long statement is planned."""
_AT_FIRST = 20
"""Lines that are looked at for a title above the header."""
_BESIDE = 2_048
"""Lines that show how the columns are written that nobody named."""
_IN_ORDER: dict[str, Any] = {"parallel": False}
"""Read by one thread, so that the first lines are those of the file: several threads return any lines first."""
_STRICT: dict[str, Any] = {"comment": "", "strict_mode": True, "null_padding": False, "ignore_errors": False}


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

    @property
    def texts(self) -> dict[str, str]:
        """The columns, all of them as text."""
        return {name: "VARCHAR" for name, _ in self.columns}

    def as_text(self, names: set[str]) -> Shape:
        """The shape with some columns as text."""
        columns = tuple((name, "VARCHAR" if name in names else type_name) for name, type_name in self.columns)
        dated = any(is_time(type_name) for _, type_name in columns)
        return replace(self, columns=columns, formats=self.formats if dated else ())

    def is_too_narrow(self, first: str) -> bool:
        """True when one column was found although the first line has something that separates."""
        return len(self.columns) == 1 and not first.startswith(('"', "'")) and any(c in first for c in _DELIMITERS)


def csv_source(
    session: DuckDBSession,
    files: Files,
    options: ReadOptions,
    folders: Sequence[str] = (),
    named: frozenset[str] | None = None,
    expected: frozenset[str] | None = None,
) -> tuple[str, list[str], tuple[Remark, ...], str]:
    """A call of read_csv that reads the files as they are, the names that their header has, what to say of it, and a
    call that reads all columns as texts. Of large files the columns that are named (None = all) are checked in every
    line, and the others in a sample. A first line that has all `expected` columns is the header.

    Raises:
        InputError: a line that does not fit, a wrong encoding, files with different columns, a header like data.
        UsageError: an encoding or a delimiter that can't be used.
    """
    encoding = _encoding(options.encoding) if options.encoding else _encoding_by_mark(files.paths[0])
    common = {"encoding": encoding, "hive_partitioning": False, "skip": options.skip}
    if options.decimal != ".":
        common["decimal_separator"] = options.decimal
    reader = _CsvReader(session, files, options, common)
    shape = reader.find_shape()
    has_names = options.header
    is_clear = shape.header and any(type_name != "VARCHAR" for _, type_name in shape.columns)
    if has_names is None and not is_clear and reader.is_header(shape, expected or ()):
        has_names, shape = True, reader.with_header(shape)
    names = reader.header(shape)
    remarks = reader.header_remarks(shape, names) if has_names is None else ()
    if len(files.paths) > 1:
        shape = replace(shape, columns=reader.common_types(shape))
    if options.all_text:
        shape = shape.as_text({name for name, _ in shape.columns})
    shape = shape.as_text(reader.changed(shape, named))
    remarks += tuple(_date_remarks(shape))
    pinned = {"auto_detect": False, **shape.arguments(), "columns": dict(shape.columns), **dict(shape.formats)}
    pinned |= {**reader.common, **reader.nulls, **hive_options(folders)}
    texts = write_call("read_csv", files.texts, {**pinned, "columns": shape.texts})
    source = write_call("read_csv", files.texts, pinned)
    if blank := reader.count_blank_rows(shape):
        columns = [quote(name, DIALECT) for name, _ in shape.columns]
        source, texts = (
            expression("engines/duckdb/read_filled.sql", DIALECT, source=Raw(call), columns=columns)
            for call in (source, texts)
        )
        remarks += (blank_rows(blank, files.label),)
    return source, names, remarks, texts


def blank_rows(count: int, label: str) -> Remark:
    """Return what to say of rows without any value."""
    return Remark("blank_rows", f"Rows of {label!r} without any value were skipped ({count:,}).")


_PARTS = {"d": "day", "m": "month", "Y": "year", "y": "year of two digits"}


def _date_remarks(shape: Shape) -> Iterator[Remark]:
    """Say how dates were read that are not written as ISO does: 03/04/1965 is a day in March or in April."""
    for option, written in shape.formats:
        columns = [name for name, type_name in shape.columns if _FORMATS.get(type_name) == option]
        parts = [_PARTS[part] for part in re.findall("%-?([a-zA-Z])", written) if part in _PARTS]
        if columns and len(parts) == 3 and parts[0] != "year":
            century = " Years of two digits are 1969 to 2068." if "%y" in written else ""
            text = f"Dates of {', '.join(columns)} were read as {', '.join(parts)}.{century}"
            yield Remark("dates_guessed", f"{text} {spelled('all_text', True)} reads them as they are written.")


def is_sampled(files: Files, columns: Collection[str], named: frozenset[str] | None) -> bool:
    """Whether only a sample says how the columns are written that nobody named: not where these may be expressions,
    which may read any column."""
    return files.bytes > _TWICE and named is not None and named <= set(columns)


def _delimiter(text: str) -> str:
    """The delimiter itself; a tab may be written as a shell passes it on."""
    delimiter = {"\\t": "\t", "tab": "\t"}.get(text, text)
    if len(delimiter.encode()) > 4 or any(c in delimiter for c in '\r\n"'):
        raise UsageError(f"{text!r} is not a delimiter. Use one character, such as ; or a tab.")
    return delimiter


def _encoding(name: str) -> str:
    with suppress(LookupError):
        return _ENCODINGS[codecs.lookup(name).name]
    raise UsageError(
        f"The encoding {name!r} is not supported. Use utf-8, utf-16 or latin-1 (which also keeps the values of other "
        "one-byte encodings distinct), or convert the file."
    )


def _encoding_by_mark(path: Path) -> str:
    with path.open("rb") as file:
        start = file.read(2)
    if start == codecs.BOM_UTF16_BE:
        raise InputError(f"{path.name!r} is UTF-16 in big-endian order, which is not supported. Convert it to UTF-8.")
    return "utf-16" if start == codecs.BOM_UTF16_LE else "utf-8"


def _unquoted(line: str) -> str:
    """A line without what stands in quotes."""
    return re.sub('"[^"]*("|$)', "", line)


def _records(lines: Sequence[str]) -> list[tuple[int, str]]:
    """The lines of a file by their numbers from 0, with those in one that are one text in quotes."""
    records: list[tuple[int, str]] = []
    for number, line in enumerate(lines):
        if records and records[-1][1].count('"') % 2:
            records[-1] = (records[-1][0], f"{records[-1][1]}\n{line}")
        else:
            records.append((number, line))
    return records


def _char(text: str | None) -> str:
    """A character as sniff_csv spells it."""
    return {"(empty)": "", "\\t": "\t", None: ""}.get(text, text or "")


@dataclass(frozen=True)
class _CsvReader:
    """Text files that are looked at to find out how they are read.

    Args:
        common: the arguments that every reading of the files has.
    """

    session: DuckDBSession
    files: Files
    options: ReadOptions
    common: Mapping[str, Any]

    @property
    def nulls(self) -> dict[str, list[str]]:
        """Empty fields and the texts that mean NULL, these also after the blank that some files put behind a comma."""
        texts = [""]
        for text in self.options.null_values:
            texts += [text] if text.startswith(" ") else [text, " " + text]
        return {"nullstr": list(dict.fromkeys(texts))}

    def fetch(self, sql: str, parameters: Sequence[object] | None = None) -> list[Row]:
        """The rows of a statement."""
        return self.session.fetch(sql, "open " + self.files.label, parameters)

    def call(self, shape: Shape, columns: Mapping[str, str], texts: list[str] | None = None, **more: Any) -> str:
        """A call of read_csv for these columns of all files, or of some."""
        arguments = {"auto_detect": False, **shape.arguments(), **self.common, **more, "columns": dict(columns)}
        return write_call("read_csv", self.files.texts if texts is None else texts, arguments)

    def find_shape(self) -> Shape:
        """The shape of the first file: with RFC 4180 quotes if that works, else with those that DuckDB finds."""
        lines = self._first_lines()
        if self.options.skip and not lines:
            missing = f"{self.files.label!r} has no line {self.options.skip + 1}"
            raise InputError(f"{missing}. Use a smaller number with {spelled('skip')}.")
        self._refuse_title(lines)
        first = next((text for _, text in _records(lines)), "")
        given = _delimiter(self.options.delimiter)
        plain = {"quote": '"', "escape": '"'}
        there = [c for c in _DELIMITERS if c in first]
        sole = there[0] if len(there) == 1 else ""  # names seldom hold a delimiter, values often do
        for delimiter, quotes in ((given or sole, plain), (given, plain), (given, {})):
            shape = self._sniff(delimiter, quotes)
            if shape is not None and (quotes or shape.quote) and not shape.is_too_narrow(first):
                return shape
        delimiter = given or (max(_DELIMITERS, key=first.count) if there else ",")
        self._read_through(delimiter, first)
        shape = self._sniff(delimiter, plain)
        if shape is None:
            raise InputError(
                f"{self.files.label!r} cannot be read as CSV. Name the delimiter, or look for a stray quote."
            )
        return shape

    def is_header(self, shape: Shape, expected: Collection[str]) -> bool:
        """Return True if the first line has the name of every column that somebody named."""
        names = {field.casefold() for field in self._fields(shape, self.files.texts[0])} if expected else set()
        return bool(names) and all(name.strip('"').casefold() in names for name in expected)

    def with_header(self, shape: Shape) -> Shape:
        """Return the shape of a file whose first line is the header."""
        found = self._sniff(shape.delimiter, {"quote": shape.quote, "escape": shape.escape}, header=True)
        return found or replace(shape, header=True)

    def count_blank_rows(self, shape: Shape) -> int:
        """Return how many rows have no value in any of several columns, not even a text that means NULL.

        Such a row is looked for as bytes first: that takes a tenth of the time of reading all columns.
        """
        separators = (len(shape.columns) - 1) * shape.delimiter
        if not separators or not any(self._may_be_blank(path, separators) for path in self.files.paths):
            return 0
        columns = [quote(name, DIALECT) for name, _ in shape.columns]
        template = "engines/duckdb/read_blank.sql"
        nulls = {} if self.options.null_values else self.nulls
        call, typed = (self.call(shape, shape.texts, **given) for given in (nulls, self.nulls))
        counts = [
            self.fetch(expression(template, DIALECT, source=Raw(source), columns=columns))[0][0]
            for source in dict.fromkeys((call, typed))
        ]
        return int(counts[0]) if len(set(counts)) == 1 else 0

    def _may_be_blank(self, path: Path, separators: str) -> bool:
        """Return False if no line of a file begins with as many separators, and no text in quotes is empty."""
        if path.suffix.lower() in PACKED or self.common["encoding"] != "utf-8":
            return True
        signs = [end + begin for end in ("\n", "\r") for begin in (separators, '""')] + [separators[0] + '""']
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return any(content.find(sign.encode()) >= 0 for sign in signs)

    def _fields(self, shape: Shape, text: str) -> list[str]:
        """Return the fields of the first line of a file."""
        bare = replace(shape, header=False)
        columns = {f"c{i}": "VARCHAR" for i in range(len(bare.columns))}
        rows = self.fetch("SELECT * FROM " + self.call(bare, columns, [text], **_IN_ORDER) + " LIMIT 1")
        return [str(name or "").strip() for name in rows[0]] if rows else []

    def _sniff(self, delimiter: str, quotes: dict[str, str], header: bool | None = None) -> Shape | None:
        """What DuckDB finds in the first file under these constraints; None when nothing fits."""
        arguments = {
            **_STRICT,
            **self.common,
            **quotes,
            **self.nulls,
            "sample_size": -1 if self.files.bytes <= _WHOLE else _SAMPLE,
            "auto_type_candidates": _TYPES,
        }
        if delimiter:
            arguments["delim"] = delimiter
        if header is not None or self.options.header is not None:
            arguments["header"] = self.options.header if header is None else header
        call = write_call("sniff_csv", self.files.texts[0], arguments)
        columns = "list_transform(Columns, lambda c: [c.name, c.type])"
        wanted = ", ".join(("Delimiter", "Quote", "Escape", "HasHeader", columns, "DateFormat", "TimestampFormat"))
        try:
            found = self.fetch("SELECT " + wanted + " FROM " + call)
        except InputError:
            return None
        separator, quote, escape, header, listed, date, timestamp = found[0]
        formats = tuple((k, v) for k, v in (("dateformat", date), ("timestampformat", timestamp)) if v)
        named = tuple((name, type_name) for name, type_name in listed)
        return Shape(_char(separator), _char(quote), _char(escape), bool(header), named, formats)

    def _first_lines(self) -> list[str]:
        """The first lines as they stand in the file; they are looked at for delimiters and never shown."""
        arguments = {"auto_detect": False, "delim": _NEVER, "quote": "", "escape": "", "header": False, **_IN_ORDER}
        tolerant = {"strict_mode": False, "ignore_errors": True, "null_padding": True}
        arguments |= {**tolerant, **self.common, "columns": {"line": "VARCHAR"}}
        rows = self.fetch(
            "SELECT line FROM " + write_call("read_csv", self.files.texts[:1], arguments) + f" LIMIT {_AT_FIRST}"
        )
        return [str(row[0] or "") for row in rows]

    def _refuse_title(self, lines: Sequence[str]) -> None:
        """Refuse a first line that Excel wrote for itself, or that is a title above the header.

        Raises:
            InputError: it is one; the sentence says how to skip it.
        """
        label, first = self.files.label, next(iter(lines), "")
        if re.fullmatch("sep=.", first):
            raise InputError(f"Line 1 of {label!r} is Excel's 'sep=' line. Skip it with {spelled('skip', 1)}.")
        bare = [(number, _unquoted(text)) for number, text in _records(lines)]
        if self.options.delimiter or not bare or any(sign in bare[0][1] for sign in _DELIMITERS):
            return
        begins = []
        for sign in _DELIMITERS:
            begin = next((number for number, line in bare if sign in line), 0)
            counts = [line.count(sign) for number, line in bare if number >= begin and line]
            if begin and len(counts) > 1 and len(set(counts)) == 1:
                begins.append(begin)
        if begins:
            raise InputError(
                f"Line 1 of {label!r} has one field and line {min(begins) + 1} has more, so line 1 looks like a title. "
                f"Skip the lines above the header with {spelled('skip', self.options.skip + min(begins))}, or name the "
                f"separator with {spelled('delimiter')}."
            )

    def _read_through(self, delimiter: str, first: str) -> None:
        """Read all lines with the plainest dialect, so that the error names the line that does not fit."""
        columns = {f"c{i}": "VARCHAR" for i in range(first.count(delimiter) + 1)}
        shape = Shape(delimiter, '"', '"', False, tuple(columns.items()))
        self.fetch("SELECT count(COLUMNS(*)) FROM " + self.call(shape, columns, self.files.texts[:1]))

    def header(self, shape: Shape) -> list[str]:
        """The names as the first line writes them; all files must have the same ones in the same order."""
        if not shape.header:
            return [name for name, _ in shape.columns]
        headers = [self._fields(shape, text) for text in self.files.texts]
        if len(headers[0]) > 1 and headers[0][0] and not any(headers[0][1:]):
            raise InputError(
                f"Line 1 of {self.files.label!r} has only one name for {len(headers[0])} columns, so it looks like a "
                f"title. Skip the lines above the header with {spelled('skip', self.options.skip + 1)}."
            )
        for path, header in zip(self.files.paths, headers, strict=True):
            if header != headers[0]:
                raise InputError(
                    f"{path.name!r} does not have the columns of {self.files.paths[0].name!r} in the same order."
                )
        return headers[0]

    def changed(self, shape: Shape, named: frozenset[str] | None) -> set[str]:
        """The columns with a value that their type would change: 1.4 among whole numbers, or digits beyond a DOUBLE's.

        Those in which several texts are one date or time are among them.

        The types come from a sample of a large file, and a DOUBLE takes numbers of any length; so all lines are looked
        at.
        """
        typed = [(name, type_name) for name, type_name in shape.columns if type_name != "VARCHAR"]
        call = self.call(shape, shape.texts, **self.nulls)
        doubles = [quote(name, DIALECT) for name, type_name in typed if type_name == "DOUBLE"]
        if self.options.decimal != "." and doubles:
            template = "engines/duckdb/read_points.sql"
            call = f"({expression(template, DIALECT, source=Raw(call), columns=doubles)})"
        if self.files.bytes <= _TWICE:
            return self._differing(shape, call, self._doubtful(call, typed))
        if named is None or not is_sampled(self.files, shape.texts, named):
            return self._differing(shape, call, typed)
        sample = f"(SELECT * FROM {call} LIMIT {_BESIDE})"
        exact = self._differing(shape, call, [one for one in typed if one[0] in named])
        return exact | self._differing(shape, sample, [one for one in typed if one[0] not in named])

    def _differing(self, shape: Shape, source: str, typed: Sequence[tuple[str, str]]) -> set[str]:
        """Those of some columns that some row of a FROM item shows to be changed."""
        if not typed:
            return set()
        formats = dict(shape.formats)
        columns = [(quote(name, DIALECT), type_name) for name, type_name in typed]
        times = [
            (name, quote(name, DIALECT), type_name, formats.get(_FORMATS.get(type_name, ""), ""))
            for name, type_name in typed
            if is_time(type_name)
        ]
        given = {"source": Raw(source), "columns": columns, "times": time_arguments(times)}
        found = self.fetch(expression("engines/duckdb/read_changed.sql", DIALECT, **given))[0]
        changed = {name for (name, _), differ in zip(typed, found, strict=False) if differ}
        odd = [column for column, differ in zip(times, found[len(typed) :], strict=True) if differ]
        return changed | made_equal(self.session, source, odd, "open " + self.files.label)

    def _doubtful(self, call: str, typed: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Columns less those of numbers that are all written as their type writes them: these it does not change."""
        numbers = [(name, type_name) for name, type_name in typed if type_name in _NUMBERS]
        if not numbers:
            return typed
        columns = [(quote(name, DIALECT), type_name) for name, type_name in numbers]
        template = "engines/duckdb/read_plainly.sql"
        found = self.fetch(expression(template, DIALECT, source=Raw(call), columns=columns))[0]
        plain = {name for (name, _), differ in zip(numbers, found, strict=True) if not differ}
        return [(name, type_name) for name, type_name in typed if name not in plain]

    def header_remarks(self, shape: Shape, names: list[str]) -> tuple[Remark, ...]:
        """What to say of a first line that was taken for the header and may be a person, where all columns are text.

        Among texts nothing tells names from values but that values come again: `f` is seldom the name of a column of
        `f`. One column may have a value that is its name; a line half of which is values is no header.

        Raises:
            InputError: at least half of the fields of the first line are values of their columns as well.
        """
        if not shape.header or any(type_name != "VARCHAR" for _, type_name in shape.columns):
            return ()
        call = Raw(self.call(shape, dict(shape.columns)))
        columns = [quote(name, DIALECT) for name, _ in shape.columns]
        template, label = "engines/duckdb/read_header_values.sql", self.files.label
        found = self.fetch(expression(template, DIALECT, source=call, columns=columns), names)[0][0]
        if 2 * found >= len(names):
            raise InputError(
                f"Line 1 of {label!r} may be data instead of a header: {found} of its {len(names)} fields are also "
                f"values of their columns. Use {spelled('header', False)} for data (header: false), or "
                f"{spelled('header', True)} for a header."
            )
        line = f"Line 1 of {Path(label).name!r} was read as the header, because all its columns are text"
        return (Remark("header_guessed", line + f". If it is data, use {spelled('header', False)}."),)

    def common_types(self, shape: Shape) -> tuple[tuple[str, str], ...]:
        """Types that fit all files: what DuckDB says when it looks into each of them."""
        arguments = {**shape.arguments(), **self.common, **dict(shape.formats), "files_to_sniff": -1}
        arguments |= {"sample_size": _SAMPLE, "auto_type_candidates": _TYPES, **self.nulls}
        found = self.fetch("DESCRIBE SELECT * FROM " + write_call("read_csv", self.files.texts, arguments))
        return tuple((row[0], row[1]) for row in found)


# Dates and times of text files: texts that differ stay different, as `12:00` and `12:00:00`, or a day in two forms.

Texts = tuple[str, str, str, str]
"""Of a column of texts its name, its SQL, the type that it is read as, and the format of its dates (empty = ISO's)."""


def odd_times(
    session: DuckDBSession, source: str, columns: Sequence[Texts], step: str, *, counted: bool = False
) -> Sequence[Texts]:
    """The columns in which a date or time is not written as DuckDB writes it; in others, texts are as many as values.

    Args:
        source: a FROM item with the texts. columns: those that are read as dates or times. step: what is being done.
        counted: whether all texts are counted; then it is the columns in which several become one date or time.
    """
    if not columns:
        return ()
    template = "engines/duckdb/read_times.sql"
    given = {"source": Raw(source), "columns": time_arguments(columns), "counted": counted}
    found = session.fetch(expression(template, DIALECT, **given), step)[0]
    return [column for column, differ in zip(columns, found, strict=True) if differ]


def made_equal(session: DuckDBSession, source: str, columns: Sequence[Texts], step: str) -> set[str]:
    """The names of columns in which several texts become one date or time."""
    return {name for name, *_ in odd_times(session, source, columns, step, counted=True)}


def time_arguments(columns: Sequence[Texts]) -> list[tuple[str, str, str]]:
    """Columns as the templates take them."""
    return [(text, type_name, literal(form, DIALECT) if form else "") for _, text, type_name, form in columns]
