"""Where a console shows what it found: reports, rows and plain texts, in one of three formats, or in a file."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import check_destination, check_ending, replacing
from sqlaudit.cli.console.layout import as_csv, as_json, as_table, csv_line
from sqlaudit.cli.console.workspace import Rows
from sqlaudit.reports.document import Document, Table, in_words, text_of, visible
from sqlaudit.reports.formats import render_json
from sqlaudit.reports.stored import to_json as stored_document
from sqlaudit.reports.text import render_text

ENDINGS = (".txt", ".csv", ".json", ".jsonl", ".sql")
_CHUNK = 64_000


@dataclass(frozen=True)
class Reported:
    """A report for people and for programs; both are made when they are wanted."""

    document: Callable[[], Document]
    data: Callable[[], Mapping[str, Any]]


@dataclass(frozen=True)
class Terminal:
    """The outside of a console.

    Args:
        write: puts a whole text on stdout (through a pager where that helps). say: a sentence of talk, on stderr.
        save: writes a report into a file, in the layout that its ending names.
        width: columns for texts. colour: whether escape sequences may be used. seen: whether a terminal shows
            what is written.
        widest: the widest cell of a table, None = any. limit: how many rows of a SELECT are shown, None = all.
    """

    write: Callable[[str], None]
    say: Callable[[str], None]
    save: Callable[[Path, Reported], None]
    width: Callable[[], int] = lambda: 80
    colour: Callable[[], bool] = lambda: False
    seen: Callable[[], bool] = lambda: False
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

    @property
    def file(self) -> str:
        """The file that takes everything, empty when there is none."""
        return self._name

    def report(self, reported: Reported) -> None:
        """A report: as text, its tables as CSV, or one line of JSON."""
        if self.layout == "json":
            document = reported.document()
            self._put([_one_line({**reported.data(), "report": stored_document(document)})])
        elif self.layout == "csv":
            self._put(self._seen(_csv_of(reported.document())))
        else:
            to_file = self._file is not None
            width, colour = (80, False) if to_file else (self.terminal.width(), self.terminal.colour())
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
        held = contextlib.ExitStack()
        temporary = held.enter_context(replacing(path))
        try:
            self._file = temporary.open("w", encoding="utf-8", newline="")
        except OSError as error:
            held.__exit__(_Dropped, _Dropped(), None)
            raise UsageError(f"{str(path)!r} cannot be written: {error.strerror}.") from None
        self._held, self._name, self._filled = held, str(path), False

    def close(self) -> None:
        """Finish the file, if there is one: it takes its place now.

        Raises:
            UsageError: the file cannot be written.
        """
        file, held, name = self._file, self._held, self._name
        if file is None:
            return
        try:
            file.close()
        except OSError as error:
            self.drop()
            raise UsageError(f"{name!r} could not be written: {error.strerror}.") from None
        self._file, self._held, self._name = None, contextlib.ExitStack(), ""
        held.close()

    def close_after_error(self) -> None:
        """Finish a file that holds results of steps that went well; without any it stays as it was before."""
        if self._filled:
            self.close()
        else:
            self.drop()

    def drop(self) -> None:
        """Leave the file as it was before, if there is one."""
        file, held = self._file, self._held
        self._file, self._held, self._name = None, contextlib.ExitStack(), ""
        if file is not None:
            with contextlib.suppress(OSError):
                file.close()
            held.__exit__(_Dropped, _Dropped(), None)

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
                name = self._name
                self.drop()
                raise UsageError(f"{name!r} could not be written: {error.strerror}.") from None


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


def _one_line(data: Mapping[str, Any]) -> str:
    """JSON in one line, so that a program reads one result a line."""
    return " ".join(line.strip() for line in render_json(data).splitlines()) + "\n"


def _csv_of(document: Document) -> Iterator[str]:
    """The tables of a report, each under its header and with an empty line between two."""
    blocks = [*document.lead, *(block for section in document.sections for block in section.blocks)]
    for number, table in enumerate(block for block in in_words(tuple(blocks)) if isinstance(block, Table)):
        yield "\n" if number else ""
        yield csv_line([column.title for column in table.columns]) + "\n"
        yield from (csv_line([text_of(cell) for cell in row]) + "\n" for row in table.rows)
