"""Where a console shows what it found: reports, rows and plain texts, as a table, as CSV or as JSON, or in a file.

Values are data: what would steer a terminal is shown, never obeyed.
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
from sqlaudit.cli.output import PLAIN_WIDTH, Output
from sqlaudit.reports.document import Document, Table, in_words, plural, text_of, visible
from sqlaudit.reports.formats import json_text, render_json
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.stored import to_json as stored_document
from sqlaudit.reports.text import render_text

ENDINGS = (".txt", ".csv", ".json", ".jsonl", ".sql")
_CHUNK = 64_000


@dataclass(frozen=True)
class Reported:
    """A report for people and for programs; both are made when they are wanted."""

    document: Callable[[], Document]
    data: Callable[[], Mapping[str, Any]]


def report_of(result: Any) -> Reported:
    """The report of any result that a public function returns."""
    return Reported(lambda: document_of(result), result.to_dict)


@dataclass(frozen=True)
class Terminal:
    """The outside of a console.

    Args:
        write: puts a whole text on stdout (through a pager where that helps). say: a sentence of talk, on stderr.
        seen: whether a terminal shows what is written.
        widest: the widest cell of a table, None = any. limit: how many rows of a SELECT are shown, None = all.
    """

    write: Callable[[str], None]
    say: Callable[[str], None]
    seen: Callable[[], bool] = lambda: Output().at_terminal
    widest: int | None = None
    limit: int | None = None


class Screen:
    """Shows what a console found.

    Args:
        terminal: the outside. layout: table, csv or json.
    """

    def __init__(self, terminal: Terminal, layout: str = "table") -> None:
        self.terminal, self.layout = terminal, layout
        self.limit = terminal.limit
        self._file: IO[str] | None = None
        self._held = contextlib.ExitStack()
        self._filled = False
        self._name = ""

    def report(self, reported: Reported) -> None:
        """A report: as text, its tables as CSV, or one line of JSON."""
        if self.layout == "json":
            document = reported.document()
            lines = render_json({**reported.data(), "report": stored_document(document)}).splitlines()
            self._put([" ".join(map(str.strip, lines)) + "\n"])  # so that a program reads one result a line
        elif self.layout == "csv":
            self._put(self._seen(_csv_of(reported.document())))
        else:
            terminal = Output()
            width, colour = (terminal.width, terminal.colour) if self._file is None else (PLAIN_WIDTH, False)
            self._put([render_text(reported.document(), width, colour, glossary=False)])

    def rows(self, rows: Rows) -> None:
        """The rows of a SELECT."""
        if self.layout == "json":
            self._put(as_json(rows))
        elif self.layout == "csv":
            self._put(self._seen(line + "\n" for line in as_csv(rows)))
        else:
            at_terminal = self._file is None
            widest, limit = (self.terminal.widest, self.limit) if at_terminal else (None, None)
            self._put(line + "\n" for line in as_table(rows, widest, limit))

    @property
    def row_limit(self) -> int | None:
        """How many rows of a SELECT are fetched: one more than is shown, which says whether there are more."""
        shown = self.limit if self._file is None and self.layout == "table" else None
        return None if shown is None else shown + 1

    def text(self, text: str) -> None:
        """A text that is finished: SQL, or a list."""
        self._put(self._seen([text if text.endswith("\n") else text + "\n"]))

    def note(self, sentence: str) -> None:
        """A sentence of talk, which never mixes with data."""
        self.terminal.say(sentence)

    def into(self, path: Path | None) -> None:
        """Everything goes into a file from now on, or to the terminal again.

        The file takes its place when it is finished: until then an older one stays as it is.

        Raises:
            UsageError: the file cannot be written.
        """
        if path is not None:
            check_into(path)
        self.close()
        if path is None:
            return
        with contextlib.ExitStack() as held:  # which leaves an older file as it is when something fails
            temporary = held.enter_context(replacing(path))
            try:
                self._file = temporary.open("w", encoding="utf-8", newline="")
            except OSError as error:
                raise UsageError(f"{str(path)!r} cannot be written: {error.strerror}.") from None
            self._held, self._name, self._filled = held.pop_all(), str(path), False

    def close(self) -> None:
        """Finish the file, if there is one: it takes its place now.

        Raises:
            UsageError: the file cannot be written.
        """
        file, held = self._file, self._held
        if file is None:
            return
        try:
            file.close()
        except OSError as error:
            self.drop()
            raise UsageError(f"{self._name!r} could not be written: {error.strerror}.") from None
        self._file = None
        held.close()

    def close_after_error(self) -> None:
        """Finish a file that holds results of steps that went well; without any it stays as it was before."""
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
            self._held.__exit__(_Dropped, _Dropped(), None)

    def _seen(self, pieces: Iterable[str]) -> Iterable[str]:
        """Texts as they are for files and pipes; at a terminal, what would steer it is shown instead."""
        if self._file is not None or not self.terminal.seen():
            return pieces
        return ("\n".join(map(visible, piece.split("\n"))) for piece in pieces)

    def _put(self, pieces: Iterable[str]) -> None:
        """Pieces of text to where they belong, in chunks; at a prompt in one piece, so that it can be paged."""
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


class _Dropped(Exception):
    """What was written will not be kept."""


def check_into(path: Path) -> None:
    """Nothing when a file can take results, and its ending promises nothing else.

    Raises:
        UsageError: it cannot.
    """
    check_destination(path)
    check_ending(path, ENDINGS)


def _chunks(pieces: Iterable[str]) -> Iterator[str]:
    held: list[str] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= _CHUNK:
            yield "".join(held)
            held, size = [], 0
    if held:
        yield "".join(held)


def _csv_of(document: Document) -> Iterator[str]:
    """The tables of a report, each under its header and with an empty line between two."""
    blocks = [*document.lead, *(block for section in document.sections for block in section.blocks)]
    for number, table in enumerate(block for block in in_words(tuple(blocks)) if isinstance(block, Table)):
        yield "\n" if number else ""
        yield csv_line([column.title for column in table.columns]) + "\n"
        yield from (csv_line([text_of(cell) for cell in row]) + "\n" for row in table.rows)


# Rows as a table, as CSV or as JSON.

MEASURED = 1_000
"""So many rows are looked at for the widths of columns; what comes later may stand out of its column."""
_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
NULL = "NULL"


def width_of(text: str) -> int:
    """The columns that a text takes at a terminal.

    Example:
        >>> width_of("ab"), width_of("日本")
        (2, 4)
    """
    if text.isascii():
        return len(text)
    from prompt_toolkit.utils import get_cwidth  # which loads a whole line editor, and most texts are ASCII

    return get_cwidth(text)


def cell_text(value: Any) -> str:
    r"""A value as a table shows it: NULL for a missing one, control characters as escapes.

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
    """The lines of a table, with the number of rows below.

    Args:
        rows: what to show. widest: the cells of a column at a terminal, cut with `…` beyond; None = whole.
        limit: how many rows are shown; when there is one more, the last line says so.
    """
    every = itertools.chain.from_iterable(rows.batches)
    shown = every if limit is None else itertools.islice(every, limit)
    first = [_texts(row, widest) for row in itertools.islice(shown, MEASURED)]
    heads = [_cut(visible(column.name), widest) for column in rows.columns]
    widths = [max(map(width_of, cells)) for cells in zip(heads, *first, strict=True)]
    right = [column.kind in _NUMBERS for column in rows.columns]
    yield _line(heads, widths, [False] * len(heads))
    yield "-+-".join("-" * width for width in widths)
    number = 0
    for cells in itertools.chain(first, (_texts(row, widest) for row in shown)):
        yield _line(cells, widths, right)
        number += 1
    more = limit is not None and next(every, None) is not None
    yield f"(the first {plural(number, 'row')}; there are more)" if more else f"({plural(number, 'row')})"


def as_csv(rows: Rows) -> Iterator[str]:
    """The lines of a CSV with a header; NULL is an empty field, a formula gets a leading apostrophe as in exports."""
    yield csv_line([column.name for column in rows.columns])
    yield from map(csv_line, itertools.chain.from_iterable(rows.batches))


def csv_line(cells: Iterable[Any]) -> str:
    """One line of CSV, without its end.

    Example:
        >>> csv_line([1, None, "a,b", "=1+1"])
        '1,,"a,b",\\'=1+1'
    """
    target = io.StringIO()
    csv.writer(target, lineterminator="\r\n").writerow([csv_cell(cell) for cell in cells])  # quotes what has either
    return target.getvalue().removesuffix("\r\n")


def as_json(rows: Rows) -> Iterator[str]:
    """One JSON object in pieces that together are one line: `{"columns": [{"name", "type"}], "rows": [[…], …]}`."""
    yield '{"columns": ' + json_text([{"name": one.name, "type": one.type} for one in rows.columns]) + ', "rows": ['
    for number, row in enumerate(itertools.chain.from_iterable(rows.batches)):
        yield (", " if number else "") + json_text([plain(value) for value in row])
    yield "]}\n"


def _texts(row: Row, widest: int | None) -> list[str]:
    return [_cut(cell_text(value), widest) for value in row]


def _cut(text: str, widest: int | None) -> str:
    if widest is None or len(text) * 2 <= widest or width_of(text) <= widest:
        return text
    kept, width = "", 0
    for character in text:
        width += width_of(character)
        if width > widest - 1:
            break
        kept += character
    return kept + "…"


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = [
        " " * (width - width_of(cell)) + cell if to_right else cell + " " * (width - width_of(cell))
        for cell, width, to_right in zip(cells, widths, right, strict=True)
    ]
    return " | ".join(padded).rstrip()
