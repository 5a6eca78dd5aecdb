"""Show reports, rows and texts of a console as a table, CSV or JSON, at a terminal or in a file.

Values are data: control characters are shown, never sent to the terminal.
"""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import check_destination, check_ending, csv_cell, replacing
from sqlaudit.base.relation import Kind, Row
from sqlaudit.base.result import plain
from sqlaudit.cli.console.workspace import Rows
from sqlaudit.cli.output import PLAIN_WIDTH, Output, with_given_options
from sqlaudit.reports.document import Document, Table, in_words, plural, text_of, visible
from sqlaudit.reports.formats import json_text, render_json
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.stored import to_json as stored_document
from sqlaudit.reports.text import render_text

ENDINGS = (".txt", ".csv", ".json", ".jsonl", ".sql")
_CHUNK = 64_000


@dataclass(frozen=True)
class ScreenReport:
    """A report for people and for programs. Each is made when it is needed."""

    document: Callable[[], Document]
    data: Callable[[], Mapping[str, object]]


def report_of(result: Any) -> ScreenReport:
    """Return the report of a result of a public function."""
    return ScreenReport(lambda: document_of(result), result.to_dict)


@dataclass(frozen=True)
class Terminal:
    """The stdout and stderr of a console.

    Args:
        write: writes a whole text on stdout (through a pager where that helps).
        say: writes a sentence on stderr.
        seen: returns True if a terminal shows the text.
        widest: the width of the widest cell of a table, None = any.
        limit: the number of rows of a SELECT that are shown, None = all.
    """

    write: Callable[[str], None]
    say: Callable[[str], None]
    seen: Callable[[], bool] = lambda: Output().at_terminal
    widest: int | None = None
    limit: int | None = None


class Screen:
    """Shows the results of a console, at a terminal or in a file.

    Args:
        terminal: the stdout and stderr of the console.
        layout: table, csv or json.
    """

    def __init__(self, terminal: Terminal, layout: str = "table") -> None:
        self.terminal, self.layout = terminal, layout
        self.limit = terminal.limit
        self._file: IO[str] | None = None
        self._replacement = contextlib.ExitStack()
        self._filled = False
        self._name = ""

    def report(self, reported: ScreenReport) -> None:
        """Show a report: as text, its tables as CSV, or as one line of JSON."""
        document = with_given_options(reported.document())
        if self.layout == "json":
            lines = render_json({**reported.data(), "report": stored_document(document)}).splitlines()
            self._put([" ".join(map(str.strip, lines)) + "\n"])  # so that a program reads one result a line
        elif self.layout == "csv":
            self._put(self._escaped(_csv_of(document)))
        else:
            terminal = Output()
            width, colour = (terminal.width, terminal.colour) if self._file is None else (PLAIN_WIDTH, False)
            self._put([render_text(document, width, colour, glossary=False)])

    def rows(self, rows: Rows) -> None:
        """Show the rows of a SELECT."""
        if self.layout == "json":
            self._put(as_json(rows))
        elif self.layout == "csv":
            self._put(self._escaped(line + "\n" for line in as_csv(rows)))
        else:
            at_terminal = self._file is None
            widest, limit = (self.terminal.widest, self.limit) if at_terminal else (None, None)
            self._put(line + "\n" for line in as_table(rows, widest, limit))

    @property
    def row_limit(self) -> int | None:
        """Return the number of rows of a SELECT to fetch: one more than is shown, to see if there are more."""
        limit = self.limit if self._file is None and self.layout == "table" else None
        return None if limit is None else limit + 1

    def text(self, text: str) -> None:
        """Show a finished text: SQL, or a list."""
        self._put(self._escaped([text if text.endswith("\n") else text + "\n"]))

    def note(self, sentence: str) -> None:
        """Print a sentence on stderr, where it never mixes with data."""
        self.terminal.say(sentence)

    def into(self, path: Path | None) -> None:
        """Write everything into a file from now on, or to the terminal again if there is no path.

        The file appears when it is finished. Until then an older one stays as it is.

        Raises:
            UsageError: the file cannot be written.
        """
        if path is not None:
            check_into(path)
        self.close()
        if path is None:
            return
        with contextlib.ExitStack() as replacement:  # leaves an older file as it is when something fails
            temporary = replacement.enter_context(replacing(path))
            try:
                self._file = temporary.open("w", encoding="utf-8", newline="")
            except OSError as error:
                raise UsageError(f"{str(path)!r} cannot be written: {error.strerror}.") from None
            self._replacement, self._name, self._filled = replacement.pop_all(), str(path), False

    def close(self) -> None:
        """Finish the file, if there is one, and replace an older file with it.

        Raises:
            UsageError: the file cannot be written.
        """
        file, replacement = self._file, self._replacement
        if file is None:
            return
        try:
            file.close()
        except OSError as error:
            self.drop()
            raise UsageError(f"{self._name!r} could not be written: {error.strerror}.") from None
        self._file = None
        replacement.close()

    def close_after_error(self) -> None:
        """Finish a file that holds results of successful steps. Without any, an older file stays as it was."""
        if self._filled:
            self.close()
        else:
            self.drop()

    def drop(self) -> None:
        """Leave the file as it was before, if there is one."""
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):
                file.close()
            self._replacement.__exit__(_DiscardFile, _DiscardFile(), None)

    def _escaped(self, pieces: Iterable[str]) -> Iterable[str]:
        """Return texts as they are for files and pipes; for a terminal, with its control characters escaped."""
        if self._file is not None or not self.terminal.seen():
            return pieces
        return ("\n".join(map(visible, piece.split("\n"))) for piece in pieces)

    def _put(self, pieces: Iterable[str]) -> None:
        """Write pieces of text in chunks; at a prompt as one text, so that it can be paged."""
        at_prompt = self._file is None and self.terminal.limit is not None
        for chunk in ["".join(pieces)] if at_prompt else _chunks(pieces):
            if self._file is None:
                self.terminal.write(chunk)
                continue
            try:
                self._filled = True
                self._file.write(chunk)
                self._file.flush()
            except OSError as error:
                self.drop()
                raise UsageError(f"{self._name!r} could not be written: {error.strerror}.") from None


class _DiscardFile(Exception):
    """Signals to `replacing` that the new file is not to replace the older one."""


def check_into(path: Path) -> None:
    """Raise UsageError if a file cannot take results, or its ending stands for another format.

    Raises:
        UsageError: the file or its ending is refused.
    """
    check_destination(path)
    check_ending(path, ENDINGS)


def _chunks(pieces: Iterable[str]) -> Iterator[str]:
    """Join pieces of text into chunks of at least `_CHUNK` characters."""
    chunk: list[str] = []
    size = 0
    for piece in pieces:
        chunk.append(piece)
        size += len(piece)
        if size >= _CHUNK:
            yield "".join(chunk)
            chunk, size = [], 0
    if chunk:
        yield "".join(chunk)


def _csv_of(document: Document) -> Iterator[str]:
    """Return the tables of a report as CSV, each under its header and with an empty line between two."""
    blocks = [*document.lead, *(block for section in document.sections for block in section.blocks)]
    for number, table in enumerate(block for block in in_words(tuple(blocks)) if isinstance(block, Table)):
        yield "\n" if number else ""
        yield csv_line([column.title for column in table.columns]) + "\n"
        yield from (csv_line([text_of(cell) for cell in row]) + "\n" for row in table.rows)


# Rows as a table, as CSV or as JSON.

MEASURED = 1_000
"""Number of rows from which the widths of columns are computed. Later cells may be wider than their column."""
_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
NULL = "NULL"


def width_of(text: str) -> int:
    """Return the columns that a text takes at a terminal.

    Example:
        >>> width_of("ab"), width_of("日本")
        (2, 4)
    """
    if text.isascii():
        return len(text)
    from prompt_toolkit.utils import get_cwidth  # which loads a whole line editor, and most texts are ASCII

    return get_cwidth(text)


def cell_text(value: object) -> str:
    r"""Return a value as a table shows it: NULL for a missing one, control characters as escapes.

    Example:
        >>> cell_text(None), cell_text("red\x1b[31m"), cell_text(True), cell_text(b"\x01")
        ('NULL', 'red\\x1b[31m', 'true', '\\x01')
    """
    if value is None:
        return NULL
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes | bytearray | memoryview):
        return "\\x" + bytes(value).hex()
    return visible(value)


def as_table(rows: Rows, widest: int | None = None, limit: int | None = None) -> Iterator[str]:
    """Return the lines of a table, with the number of rows below.

    Args:
        rows: the rows to show.
        widest: the width at which cells are cut with `…`; None = never.
        limit: the number of rows to show. If there are more, the last line says so. None = all.
    """
    all_rows = itertools.chain.from_iterable(rows.batches)
    first_rows = all_rows if limit is None else itertools.islice(all_rows, limit)
    first = [_cell_texts(row, widest) for row in itertools.islice(first_rows, MEASURED)]
    heads = [_cut_to_width(visible(column.name), widest) for column in rows.columns]
    widths = [max(map(width_of, cells)) for cells in zip(heads, *first, strict=True)]
    right = [column.kind in _NUMBERS for column in rows.columns]
    yield _aligned_line(heads, widths, [False] * len(heads))
    yield "-+-".join("-" * width for width in widths)
    number = 0
    for cells in itertools.chain(first, (_cell_texts(row, widest) for row in first_rows)):
        yield _aligned_line(cells, widths, right)
        number += 1
    has_more = limit is not None and next(all_rows, None) is not None
    yield f"(the first {plural(number, 'row')}; there are more)" if has_more else f"({plural(number, 'row')})"


def as_csv(rows: Rows) -> Iterator[str]:
    """Return the lines of a CSV with a header. NULL is an empty field; a formula gets a leading apostrophe."""
    yield csv_line([column.name for column in rows.columns])
    yield from map(csv_line, itertools.chain.from_iterable(rows.batches))


def csv_line(cells: Iterable[object]) -> str:
    """Return one line of CSV, without its end.

    Example:
        >>> csv_line([1, None, "a,b", "=1+1"])
        '1,,"a,b",\\'=1+1'
    """
    target = io.StringIO()
    csv.writer(target, lineterminator="\r\n").writerow([csv_cell(cell) for cell in cells])  # quotes what has either
    return target.getvalue().removesuffix("\r\n")


def as_json(rows: Rows) -> Iterator[str]:
    """Return one JSON object as pieces of one line: `{"columns": [{"name", "type"}], "rows": [[…], …]}`."""
    yield (
        '{"columns": '
        + json_text([{"name": column.name, "type": column.type} for column in rows.columns])
        + ', "rows": ['
    )
    for number, row in enumerate(itertools.chain.from_iterable(rows.batches)):
        yield (", " if number else "") + json_text([plain(value) for value in row])
    yield "]}\n"


def _cell_texts(row: Row, widest: int | None) -> list[str]:
    return [_cut_to_width(cell_text(value), widest) for value in row]


def _cut_to_width(text: str, widest: int | None) -> str:
    """Return a text, cut with `…` if it is wider than allowed."""
    if widest is None or len(text) * 2 <= widest or width_of(text) <= widest:
        return text
    prefix, width = "", 0
    for character in text:
        width += width_of(character)
        if width > widest - 1:
            break
        prefix += character
    return prefix + "…"


def _aligned_line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    """Return the cells of a row, padded to the widths of their columns."""
    padded = [
        " " * (width - width_of(cell)) + cell if to_right else cell + " " * (width - width_of(cell))
        for cell, width, to_right in zip(cells, widths, right, strict=True)
    ]
    return " | ".join(padded).rstrip()
