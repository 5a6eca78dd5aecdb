"""CSV files: the dialect is detected once and pinned, no line is skipped, and times keep their written form."""

from __future__ import annotations

import codecs
import gzip
import itertools
import mmap
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from sqlaudit.base.errors import InputError, UsageError
from sqlaudit.base.files import as_written, harmless
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import literal, quote
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Remark, Row
from sqlaudit.base.spec import DATE_ORDERS, ReadOptions
from sqlaudit.base.sql import Raw, expression
from sqlaudit.engines.duckdb.driver import DUCKDB_1
from sqlaudit.engines.duckdb.paths import PACKED, Files
from sqlaudit.engines.duckdb.session import DIALECT, DuckDBSession

# Calls of DuckDB's table functions, and the types that hold times.


def write_call(function: str, source: str | list[str], arguments: Mapping[str, object]) -> str:
    """Return the call of a table function over one or several files.

    Example:
        >>> write_call("read_parquet", ["p.parquet"], {"hive_partitioning": False})
        "read_parquet(['p.parquet'], hive_partitioning = FALSE)"
    """
    sql_arguments = [
        literal(source, DIALECT),
        *(name + " = " + literal(value, DIALECT) for name, value in arguments.items()),
    ]
    return function + "(" + ", ".join(sql_arguments) + ")"


def hive_options(folders: Sequence[str]) -> dict[str, object]:
    """Return the arguments that read folders named `column=value`, or keep DuckDB from doing so by itself."""
    return {"hive_partitioning": True, "hive_types_autocast": False} if folders else {"hive_partitioning": False}


def is_time(type_name: str) -> bool:
    """Return True if a type is one of dates or times."""
    return type_name.startswith(("DATE", "TIME")) and "[" not in type_name


# Reading a CSV file: the dialect is detected once and pinned, and no line is ever skipped.
#
# DuckDB's own detection loads as much as it can: it takes a leading `#` for a comment, drops lines before the
# widest block of a ragged file, and reads a column of T and F as BOOLEAN. For an audit, a row that is not read is a
# person who is not counted. So detection is limited here (no comments, no skipped lines, RFC 4180 quotes where they
# fit), the shape that was found is pinned for every later statement, and a line that does not fit is an error.

_DELIMITERS = ",;\t|"
_FORMATS = {"DATE": "dateformat", "TIMESTAMP": "timestampformat", "TIMESTAMP WITH TIME ZONE": "timestampformat"}
_ABSENT = "\x1f\x1e\x1d\x1c"
_WIDE = [] if DUCKDB_1 else ["HUGEINT"]
"""DuckDB 1.x takes whole numbers beyond 64 bits for DOUBLE; `find_changed` reads those that DOUBLE rounds as text."""
_TYPES = ["BIGINT", *_WIDE, "DOUBLE", "TIME", "DATE", "TIMESTAMP", "TIMESTAMPTZ", "VARCHAR"]
_ENCODINGS = {"utf-8": "utf-8", "utf-16": "utf-16", "utf-16-le": "utf-16", "iso8859-1": "latin-1", "ascii": "utf-8"}
_CONVERTED = re.compile(
    r"cp\d+|iso8859-\d+|koi8-\w+|mac-\w+|gbk|gb2312|gb18030|hz|big5(hkscs)?|shift_jis(x0213|_2004)?|euc_\w+|iso2022_\w+"
    r"|johab|ptcp154|kz1048|tis-620|utf-16-be|utf-32(-[bl]e)?"
)
"""Encodings that Python reads and DuckDB does not, by Python's names for them."""
_PIECE = 1 << 22
_NOTHING: Mapping[str, object] = MappingProxyType({})
_NUMBERS = ("BIGINT", "HUGEINT", "DOUBLE")
_FULL_SCAN_BYTES = 32_000_000
_SAMPLE = 200_000
_SMALL_BYTES = 4_000_000
"""Bytes that are read sooner than a long statement is planned."""
_TITLE_LINES = 20
"""Number of lines in which a title above the header is looked for."""
_SAMPLE_LINES = 2_048
"""Number of lines from which the types of columns without a role are checked."""
_IN_ORDER: dict[str, object] = {"parallel": False}
"""Read by one thread, so that the first lines are those of the file: several threads return any lines first."""
_STRICT: dict[str, object] = {"comment": "", "strict_mode": True, "null_padding": False, "ignore_errors": False}


@dataclass(frozen=True)
class Shape:
    """The dialect and columns of a CSV file.

    Args:
        delimiter, quote, escape: one character each; quote and escape may be empty.
        header: True if the first line has names.
        columns: names and DuckDB types, in order.
        formats: `dateformat` and `timestampformat` where the file does not write dates as ISO does.
    """

    delimiter: str
    quote: str
    escape: str
    header: bool
    columns: tuple[tuple[str, str], ...]
    formats: tuple[tuple[str, str], ...] = ()

    def arguments(self) -> dict[str, object]:
        """Return the arguments of read_csv for the dialect alone."""
        return {"delim": self.delimiter, "quote": self.quote, "escape": self.escape, "header": self.header, **_STRICT}

    @property
    def texts(self) -> dict[str, str]:
        """The names of the columns, each with the type VARCHAR."""
        return {name: "VARCHAR" for name, _ in self.columns}

    def as_text(self, names: set[str]) -> Shape:
        """Return the shape with these columns as text."""
        columns = tuple((name, "VARCHAR" if name in names else type_name) for name, type_name in self.columns)
        dated = any(is_time(type_name) for _, type_name in columns)
        return replace(self, columns=columns, formats=self.formats if dated else ())

    def is_too_narrow(self, first: str) -> bool:
        """Return True if one column was detected although the first line has a delimiter."""
        return len(self.columns) == 1 and not first.startswith(('"', "'")) and any(c in first for c in _DELIMITERS)


def csv_source(
    session: DuckDBSession,
    files: Files,
    options: ReadOptions,
    folders: Sequence[str] = (),
    named: frozenset[str] | None = None,
    expected: frozenset[str] | None = None,
) -> tuple[str, list[str], tuple[Remark, ...], str]:
    """Return a call of read_csv for the files, the names in their header, remarks, and a call that reads only texts.

    In large files the columns in `named` (None = all) are checked in every line, and the others in a sample. A first
    line that has all `expected` columns is the header.

    Raises:
        InputError: a line that does not fit, a wrong encoding, files with different columns, a header like data.
        UsageError: a delimiter that can't be used.
    """
    common = {"encoding": options.encoding, "hive_partitioning": False, "skip": options.skip}
    if options.decimal != ".":
        common["decimal_separator"] = options.decimal
    reader = _CsvReader(session, files, options, common)
    shape = reader.find_shape()
    has_names = options.header
    is_clear = shape.header and any(type_name != "VARCHAR" for _, type_name in shape.columns)
    if has_names is None and not is_clear and reader.is_header(shape, expected or ()):
        has_names, shape = True, reader.with_header(shape)
    names = reader.read_header(shape)
    remarks = reader.header_remarks(shape, names) if has_names is None else ()
    if len(files.paths) > 1:
        shape = replace(shape, columns=reader.find_common_types(shape))
    if shape.header:
        shape = reader.with_exact_names(shape)
    if options.all_text:
        shape = shape.as_text({name for name, _ in shape.columns})
    shape = shape.as_text(reader.find_changed(shape, named))
    remarks += tuple(_date_remarks(shape, options.date_order))
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
    """Return the remark about rows without any value."""
    return Remark("blank_rows", f"Rows of {label!r} without any value were skipped ({count:,}).")


_PARTS = {"d": "day", "m": "month", "Y": "year", "y": "year of two digits"}


def _date_remarks(shape: Shape, named: str) -> Iterator[Remark]:
    """Yield remarks on dates that are not written as in ISO 8601: 03/04/1965 is a day in March or in April.

    Args:
        named: the order of day, month and year if the user names it.
    """
    for option, written in shape.formats:
        columns = [name for name, type_name in shape.columns if _FORMATS.get(type_name) == option]
        parts = [_PARTS[part] for part in re.findall("%-?([a-zA-Z])", written) if part in _PARTS]
        if not columns or len(parts) != 3 or (named and "%y" not in written) or (not named and parts[0] == "year"):
            continue
        century = " Years of two digits are 1969 to 2068." if "%y" in written else ""
        text = f"Dates of {', '.join(columns)} were read as {', '.join(parts)}.{century}"
        other = next(order for order in DATE_ORDERS if order[0] != parts[0][0])
        decide = "" if named else f"{spelled('date_order', other)} decides otherwise, and "
        as_written = f"{spelled('all_text', True)} reads them as they are written."
        yield Remark("dates_guessed", f"{text} {decide}{as_written}")


def is_sampled(files: Files, columns: Collection[str], named: frozenset[str] | None) -> bool:
    """Return True if the types of columns without a role come from a sample only. That is not so where the named ones
    may be expressions, which may read any column.
    """
    return files.bytes > _SMALL_BYTES and named is not None and named <= set(columns)


def _parse_delimiter(text: str) -> str:
    """Return the delimiter that a user named; a tab may be written as a shell passes it on."""
    delimiter = {"\\t": "\t", "tab": "\t"}.get(text, text)
    if len(delimiter.encode()) > 4 or any(c in delimiter for c in '\r\n"'):
        raise UsageError(f"{text!r} is not a delimiter. Use one character, such as ; or a tab.")
    return delimiter


def converted_from(files: Files, options: ReadOptions) -> str:
    """Return the encoding of files that DuckDB can read only after they are converted; empty if it reads them itself.

    Raises:
        UsageError: an encoding that is not read.
    """
    named = options.encoding or _detect_encoding(files.paths[0])
    with suppress(LookupError):
        codec = codecs.lookup(named).name
        if codec in _ENCODINGS or _CONVERTED.fullmatch(codec):
            return "" if codec in _ENCODINGS else named
    raise UsageError(
        f"The encoding {named!r} is not supported. Use for example utf-8, utf-16, cp1252 (Western Europe), cp1251 "
        "(Cyrillic), gbk (Chinese) or shift_jis (Japanese), or convert the file."
    )


def decoded_files(session: DuckDBSession, files: Files, options: ReadOptions) -> tuple[Files, ReadOptions]:
    """Return files that DuckDB can read, and options for them: other encodings become UTF-8 in the private folder.

    Raises:
        UsageError: an encoding that is not read, or of files compressed with zstd.
        InputError: bytes that are not in the encoding.
    """
    if encoding := converted_from(files, options):
        return _converted(session, files, encoding), replace(options, encoding="utf-8")
    named = options.encoding or _detect_encoding(files.paths[0])
    return files, replace(options, encoding=_ENCODINGS[codecs.lookup(named).name])


def _converted(session: DuckDBSession, files: Files, encoding: str) -> Files:
    """Return copies of the files in UTF-8, which only this user can read and which end with the session."""
    copies = []
    for path in files.paths:
        suffix = path.suffix.lower()
        if suffix == ".zst":
            raise UsageError(f"{files.label!r} is compressed and in {encoding}. Decompress it, or convert it to UTF-8.")
        copies.append(copy := session.copy_of(path))
        lines = 1
        decoder = codecs.getincrementaldecoder(encoding)()
        with gzip.open(path) if suffix == ".gz" else path.open("rb") as source, copy.open("wb") as target:
            while True:
                piece = source.read(_PIECE)
                try:
                    text = decoder.decode(piece, final=not piece)
                except UnicodeDecodeError as error:
                    lines += error.object[: error.start].decode(encoding, "ignore").count("\n")
                    said = f"Line {lines:,} of {files.label!r} is not in the encoding {encoding}. "
                    raise InputError(said + f"Name another one with {spelled('encoding')}.") from None
                target.write((text.removeprefix("\ufeff") if lines == 1 else text).encode())
                lines += text.count("\n")
                if not piece:
                    break
    return replace(files, paths=tuple(copies))


def _detect_encoding(path: Path) -> str:
    """Return the encoding that the first bytes of a file mark."""
    with path.open("rb") as file:
        start = file.read(4)
    marks = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32", codecs.BOM_UTF16_LE: "utf-16"}
    marks |= {codecs.BOM_UTF16_BE: "utf-16-be"}
    return next((encoding for mark, encoding in marks.items() if start.startswith(mark)), "utf-8")


def _strip_quoted(line: str) -> str:
    """Return a line without the parts in quotes."""
    return re.sub('"[^"]*("|$)', "", line)


def _join_quoted_lines(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Return the records of a file by the numbers of their first lines, from 0. A quoted text may span lines."""
    records: list[tuple[int, str]] = []
    for number, line in enumerate(lines):
        if records and records[-1][1].count('"') % 2:
            records[-1] = (records[-1][0], f"{records[-1][1]}\n{line}")
        else:
            records.append((number, line))
    return records


def _read_sign(text: str | None) -> str:
    """Return the character that sniff_csv spells in its own way."""
    return {"(empty)": "", "\\t": "\t", None: ""}.get(text, text or "")


@dataclass(frozen=True)
class _CsvReader:
    """Detector of the shape of text files.

    Args:
        common: arguments that every call over the files has.
    """

    session: DuckDBSession
    files: Files
    options: ReadOptions
    common: Mapping[str, object]

    @property
    def nulls(self) -> dict[str, list[str]]:
        """The texts that mean NULL: empty fields, and the named texts, also after the blank that some files put behind
        a comma.
        """
        texts = [""]
        for text in self.options.null_values:
            texts += [text] if text.startswith(" ") else [text, " " + text]
        return {"nullstr": list(dict.fromkeys(texts))}

    def fetch(self, sql: str, parameters: Sequence[object] | None = None) -> list[Row]:
        """Return the rows of a statement."""
        return self.session.fetch(sql, "open " + self.files.label, parameters)

    def call(
        self, shape: Shape, columns: Mapping[str, str], texts: list[str] | None = None, **overrides: object
    ) -> str:
        """Return a call of read_csv for these columns of all files, or of the files in `texts`."""
        arguments = {"auto_detect": False, **shape.arguments(), **self.common, **overrides, "columns": dict(columns)}
        return write_call("read_csv", self.files.texts if texts is None else texts, arguments)

    def find_shape(self) -> Shape:
        """Return the shape of the first file, with RFC 4180 quotes if that works, else with detected ones."""
        lines = self._read_first_lines()
        if self.options.skip and not lines:
            missing = f"{self.files.label!r} has no line {self.options.skip + 1}"
            raise InputError(f"{missing}. Use a smaller number with {spelled('skip')}.")
        self._refuse_title(lines)
        first = next((text for _, text in _join_quoted_lines(lines)), "")
        named_delimiter = _parse_delimiter(self.options.delimiter)
        plain = {"quote": '"', "escape": '"'}
        delimiters = [c for c in _DELIMITERS if c in first]
        sole = delimiters[0] if len(delimiters) == 1 else ""  # names seldom hold a delimiter, values often do
        for delimiter, quotes in ((named_delimiter or sole, plain), (named_delimiter, plain), (named_delimiter, {})):
            shape = self._sniff(delimiter, quotes)
            if shape is not None and (quotes or shape.quote) and not shape.is_too_narrow(first):
                return self._with_dates(shape) if self.options.date_order else shape
        if "\n" in first and self._ends_lines_as_windows():
            raise InputError(
                f"A name in the header of {self.files.label!r} has a line break, and lines end as on Windows, which "
                "DuckDB does not read together. Read the workbook itself, or write each name in one line."
            )
        delimiter = named_delimiter or (max(_DELIMITERS, key=first.count) if delimiters else ",")
        self._read_through(delimiter, first)
        shape = self._sniff(delimiter, plain)
        if shape is None:
            raise InputError(
                f"{self.files.label!r} cannot be read as CSV. Name the delimiter, or look for a stray quote."
            )
        return shape

    def _ends_lines_as_windows(self) -> bool:
        """Return True if the first file has a line that ends in CR and LF, as far as its first bytes show."""
        with self.files.paths[0].open("rb") as file:
            return b"\r\n" in file.read(_PIECE)

    def _with_dates(self, shape: Shape) -> Shape:
        """Return the shape with dates in the order that is named, where columns have such dates.

        All dates of a file have one format, and so have all timestamps: other ones are then text.

        Raises:
            InputError: no column has them.
        """
        for sign, year in itertools.product("/.-", ("%y", "%Y")):
            written = sign.join({"d": "%d", "m": "%m", "y": year}[part] for part in self.options.date_order)
            formats = {"dateformat": written, "timestampformat": written + " %H:%M:%S"}
            types = dict(shape.columns)
            for type_name, option in (("DATE", "dateformat"), ("TIMESTAMP", "timestampformat")):
                found = self._sniff(
                    shape.delimiter,
                    {"quote": shape.quote, "escape": shape.escape},
                    {option: formats[option], "auto_type_candidates": [type_name, "VARCHAR"], "header": shape.header},
                )
                dated = {name for name, dated_type in found.columns if dated_type == type_name} if found else set()
                if dated:
                    others = {name: "VARCHAR" for name, other in types.items() if _FORMATS.get(other) == option}
                    types |= others | dict.fromkeys(dated, type_name)
                else:
                    del formats[option]
            if formats:
                return replace(
                    shape, columns=tuple(types.items()), formats=tuple((dict(shape.formats) | formats).items())
                )
        parts = ", ".join(_PARTS[part.replace("y", "Y")] for part in self.options.date_order)
        raise InputError(f"No column of {self.files.label!r} has dates as {parts}. Leave out {spelled('date_order')}.")

    def is_header(self, shape: Shape, expected: Collection[str]) -> bool:
        """Return True if the first line has the name of every column in `expected`."""
        fields = self._read_fields(shape, self.files.texts[0]) if expected else []
        names = {field.strip().casefold() for field in fields}
        return bool(names) and all(name.strip('"').strip().casefold() in names for name in expected)

    def with_header(self, shape: Shape) -> Shape:
        """Return the shape of a file whose first line is the header."""
        shape_with_names = self._sniff(
            shape.delimiter, {"quote": shape.quote, "escape": shape.escape}, {"header": True}
        )
        return shape_with_names or replace(shape, header=True)

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
        call, typed = (self.call(shape, shape.texts, **null_texts) for null_texts in (nulls, self.nulls))
        counts = [
            self.fetch(expression(template, DIALECT, source=Raw(source), columns=columns))[0][0]
            for source in dict.fromkeys((call, typed))
        ]
        return int(counts[0]) if len(set(counts)) == 1 else 0

    def _may_be_blank(self, path: Path, separators: str) -> bool:
        """Return True if a line of a file begins with so many separators, or a text in quotes is empty."""
        if path.suffix.lower() in PACKED or self.common["encoding"] != "utf-8":
            return True
        signs = [end + begin for end in ("\n", "\r") for begin in (separators, '""')] + [separators[0] + '""']
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return any(content.find(sign.encode()) >= 0 for sign in signs)

    def _read_fields(self, shape: Shape, text: str) -> list[str]:
        """Return the fields of the first line of a file."""
        bare = replace(shape, header=False)
        columns = {f"c{i}": "VARCHAR" for i in range(len(bare.columns))}
        rows = self.fetch("SELECT * FROM " + self.call(bare, columns, [text], **_IN_ORDER) + " LIMIT 1")
        return [str(name or "") for name in rows[0]] if rows else []

    def _sniff(self, delimiter: str, quotes: dict[str, str], further: Mapping[str, object] = _NOTHING) -> Shape | None:
        """Return the shape that DuckDB detects in the first file under these constraints; None if no dialect fits."""
        arguments = {
            **_STRICT,
            **self.common,
            **quotes,
            **self.nulls,
            "sample_size": -1 if self.files.bytes <= _FULL_SCAN_BYTES else _SAMPLE,
            "auto_type_candidates": _TYPES,
        }
        if delimiter:
            arguments["delim"] = delimiter
        if self.options.header is not None:
            arguments["header"] = self.options.header
        arguments |= further
        call = write_call("sniff_csv", self.files.texts[0], arguments)
        columns = "list_transform(Columns, lambda c: [c.name, c.type])"
        properties = ", ".join(("Delimiter", "Quote", "Escape", "HasHeader", columns, "DateFormat", "TimestampFormat"))
        try:
            sniffed = self.fetch("SELECT " + properties + " FROM " + call)
        except InputError:
            return None
        separator, quote, escape, has_names, described, date, timestamp = sniffed[0]
        written = tuple((k, v) for k, v in (("dateformat", date), ("timestampformat", timestamp)) if v)
        typed_columns = tuple((name, type_name) for name, type_name in described)
        return Shape(
            _read_sign(separator), _read_sign(quote), _read_sign(escape), bool(has_names), typed_columns, written
        )

    def _read_first_lines(self) -> list[str]:
        """Return the first lines as they are in the file. Delimiters are looked for in them; they are never shown."""
        arguments = {"auto_detect": False, "delim": _ABSENT, "quote": "", "escape": "", "header": False, **_IN_ORDER}
        tolerant = {"strict_mode": False, "ignore_errors": True, "null_padding": True}
        arguments |= {**tolerant, **self.common, "columns": {"line": "VARCHAR"}}
        rows = self.fetch(
            "SELECT line FROM " + write_call("read_csv", self.files.texts[:1], arguments) + f" LIMIT {_TITLE_LINES}"
        )
        return [str(row[0] or "") for row in rows]

    def _refuse_title(self, lines: Sequence[str]) -> None:
        """Refuse a first line that Excel wrote for itself, or that is a title above the header.

        Raises:
            InputError: it is one; the message says how to skip it.
        """
        label, first = self.files.label, next(iter(lines), "")
        if re.fullmatch("sep=.", first):
            raise InputError(f"Line 1 of {label!r} is Excel's 'sep=' line. Skip it with {spelled('skip', 1)}.")
        bare = [(number, _strip_quoted(text)) for number, text in _join_quoted_lines(lines)]
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

    def read_header(self, shape: Shape) -> list[str]:
        """Return the names in the first line. All files must have the same ones in the same order."""
        if not shape.header:
            return [name for name, _ in shape.columns]
        headers = [[field.strip() for field in self._read_fields(shape, text)] for text in self.files.texts]
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

    def with_exact_names(self, shape: Shape) -> Shape:
        """Return the shape with names as they were before they were written to a CSV file.

        DuckDB strips blanks at the ends of names. Inside of quotes they belong to the name. An apostrophe that keeps a
        spreadsheet from running the name as a formula does not.
        """
        header = next((text for _, text in _join_quoted_lines(self._read_first_lines())), "")
        names = [name for name, _ in shape.columns]
        for position, field in enumerate(self._read_fields(shape, self.files.texts[0])):
            in_quotes = shape.quote + field.replace(shape.quote, shape.escape + shape.quote) + shape.quote
            if shape.quote and field.strip() == names[position].strip() != "" and in_quotes in header:
                names[position] = field
            original = as_written(names[position])
            if harmless(original) == names[position]:
                names[position] = original
        if len({name.lower() for name in names}) < len(names):
            return shape
        return replace(shape, columns=tuple(zip(names, (kind for _, kind in shape.columns), strict=True)))

    def find_changed(self, shape: Shape, named: frozenset[str] | None) -> set[str]:
        """Return the columns with a value that their type would change: 1.4 among whole numbers, or too many digits.

        Columns in which several texts are one date or time are among them. The types come from a sample of a large
        file, and a DOUBLE takes numbers of any length, so all lines are read.
        """
        typed_columns = [(name, type_name) for name, type_name in shape.columns if type_name != "VARCHAR"]
        call = self.call(shape, shape.texts, **self.nulls)
        doubles = [quote(name, DIALECT) for name, type_name in typed_columns if type_name == "DOUBLE"]
        if self.options.decimal != "." and doubles:
            template = "engines/duckdb/read_points.sql"
            call = f"({expression(template, DIALECT, source=Raw(call), columns=doubles)})"
        if self.files.bytes <= _SMALL_BYTES:
            return self._differing_columns(shape, call, self._without_plain_numbers(call, typed_columns))
        if named is None or not is_sampled(self.files, shape.texts, named):
            return self._differing_columns(shape, call, typed_columns)
        sample = f"(SELECT * FROM {call} LIMIT {_SAMPLE_LINES})"
        exact = self._differing_columns(shape, call, [column for column in typed_columns if column[0] in named])
        return exact | self._differing_columns(
            shape, sample, [column for column in typed_columns if column[0] not in named]
        )

    def _differing_columns(self, shape: Shape, source: str, typed_columns: Sequence[tuple[str, str]]) -> set[str]:
        """Return the columns of a FROM item with a value that their type changes."""
        if not typed_columns:
            return set()
        formats = dict(shape.formats)
        columns = [(quote(name, DIALECT), type_name) for name, type_name in typed_columns]
        times = [
            (name, quote(name, DIALECT), type_name, formats.get(_FORMATS.get(type_name, ""), ""))
            for name, type_name in typed_columns
            if is_time(type_name)
        ]
        arguments = {"source": Raw(source), "columns": columns, "times": time_arguments(times)}
        differs = self.fetch(expression("engines/duckdb/read_changed.sql", DIALECT, **arguments))[0]
        changed = {name for (name, _), differ in zip(typed_columns, differs, strict=False) if differ}
        unusual_times = [column for column, differ in zip(times, differs[len(typed_columns) :], strict=True) if differ]
        return changed | find_times_made_equal(self.session, source, unusual_times, "open " + self.files.label)

    def _without_plain_numbers(self, call: str, typed_columns: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return the columns without those of numbers that are all written as their type writes them."""
        numbers = [(name, type_name) for name, type_name in typed_columns if type_name in _NUMBERS]
        if not numbers:
            return typed_columns
        columns = [(quote(name, DIALECT), type_name) for name, type_name in numbers]
        template = "engines/duckdb/read_plainly.sql"
        differs = self.fetch(expression(template, DIALECT, source=Raw(call), columns=columns))[0]
        plain = {name for (name, _), differ in zip(numbers, differs, strict=True) if not differ}
        return [(name, type_name) for name, type_name in typed_columns if name not in plain]

    def header_remarks(self, shape: Shape, names: list[str]) -> tuple[Remark, ...]:
        """Return the remark on a first line that was read as the header and may be a person, if all columns are text.

        Names and values of text columns differ only in that values repeat: `f` is seldom the name of a column of `f`.
        One column may have a value that is its name, but a line half of which is values is no header.

        Raises:
            InputError: at least half of the fields of the first line are values of their columns as well.
        """
        if not shape.header or any(type_name != "VARCHAR" for _, type_name in shape.columns):
            return ()
        call = Raw(self.call(shape, dict(shape.columns)))
        columns = [quote(name, DIALECT) for name, _ in shape.columns]
        template, label = "engines/duckdb/read_header_values.sql", self.files.label
        matches = self.fetch(expression(template, DIALECT, source=call, columns=columns), names)[0][0]
        if 2 * matches >= len(names):
            raise InputError(
                f"Line 1 of {label!r} may be data instead of a header: {matches} of its {len(names)} fields are also "
                f"values of their columns. Use {spelled('header', False)} for data (header: false), or "
                f"{spelled('header', True)} for a header."
            )
        line = f"Line 1 of {Path(label).name!r} was read as the header, because all its columns are text"
        return (Remark("header_guessed", line + f". If it is data, use {spelled('header', False)}."),)

    def find_common_types(self, shape: Shape) -> tuple[tuple[str, str], ...]:
        """Return column types that fit all files, as DuckDB detects them when it samples each file."""
        arguments = {**shape.arguments(), **self.common, **dict(shape.formats), "files_to_sniff": -1}
        arguments |= {"sample_size": _SAMPLE, "auto_type_candidates": _TYPES, **self.nulls}
        described = self.fetch("DESCRIBE SELECT * FROM " + write_call("read_csv", self.files.texts, arguments))
        return tuple((row[0], row[1]) for row in described)


# Dates and times of text files: texts that differ stay different, as `12:00` and `12:00:00`, or a day in two forms.

Texts = tuple[str, str, str, str]
"""A column of texts: its name, its SQL, the type that it is read as, and the format of its dates (empty = ISO's)."""


def find_unusual_times(
    session: DuckDBSession, source: str, columns: Sequence[Texts], step: str, *, counted: bool = False
) -> Sequence[Texts]:
    """Return the columns in which a date or time is not written as DuckDB writes it. In the other columns no two texts
    are one value.

    Args:
        source: a FROM item with the texts. columns: those that are read as dates or times. step: name of the step.
        counted: True to compare all texts, and return the columns in which several texts become one date or time.
    """
    if not columns:
        return ()
    template = "engines/duckdb/read_times.sql"
    arguments = {"source": Raw(source), "columns": time_arguments(columns), "counted": counted}
    differs = session.fetch(expression(template, DIALECT, **arguments), step)[0]
    return [column for column, differ in zip(columns, differs, strict=True) if differ]


def find_times_made_equal(session: DuckDBSession, source: str, columns: Sequence[Texts], step: str) -> set[str]:
    """Return the names of the columns in which several texts become one date or time."""
    return {name for name, *_ in find_unusual_times(session, source, columns, step, counted=True)}


def time_arguments(columns: Sequence[Texts]) -> list[tuple[str, str, str]]:
    """Return columns as the templates take them: SQL, type and the literal of the date format."""
    return [(text, type_name, literal(form, DIALECT) if form else "") for _, text, type_name, form in columns]
