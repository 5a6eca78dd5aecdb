"""From a script to its statements and commands: quotes, comments and dollar quotes are sqlglot's to understand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import sqlglot
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token

from sqlaudit.base.errors import UsageError

_NOTHING = re.compile(r"(?:\s+|--[^\n]*|;)*")
_FIRST_WORD = re.compile(r"\s*[A-Za-z_]+")
_COMMAND_LINE = re.compile(r"\n[ \t]*\\(?=[A-Za-z?!])")


@dataclass(frozen=True)
class Piece:
    """A statement without its semicolon, or a command with its backslash; `line` is where it begins, from 1."""

    text: str
    line: int = 1

    @property
    def is_command(self) -> bool:
        """Whether it begins with a backslash."""
        return self.text.startswith("\\")


def split(text: str, dialect: str) -> Iterator[Piece]:
    """The statements and commands of a script, in order.

    A statement ends with a semicolon outside of quotes and comments, with a line that begins with a backslash, or with
    the script. A command is the rest of its line.

    Args:
        text: the script. dialect: the sqlglot name of the dialect.

    Raises:
        UsageError: a quote or comment is left open.

    Example:
        >>> [piece.text for piece in split("SELECT ';' -- one; ;\\n; \\\\d people\\nSELECT 2", "duckdb")]
        ["SELECT ';' -- one; ;", '\\\\d people', 'SELECT 2']
    """
    at = _start(text, 0)
    line = 1 + text.count("\n", 0, at)
    while at < len(text):
        end = _end(text, at, dialect)
        if end is None:
            raise UsageError(f"Line {line}: a quote or comment of this statement is left open.")
        yield Piece(text[at:end].strip(), line)
        begun, at = at, _start(text, end)
        line += text.count("\n", begun, at)


def is_complete(text: str, dialect: str) -> bool:
    """Whether a typed text can be run: nothing, a command, or statements of which the last has its semicolon.

    Example:
        >>> is_complete("SELECT 1", "duckdb"), is_complete("SELECT 1;", "duckdb"), is_complete("\\\\audit", "duckdb")
        (False, True, True)
    """
    at = _start(text, 0)
    while at < len(text):
        if text[at] == "\\":
            at = _start(text, _line_end(text, at))
            continue
        end = _end(text, at, dialect)
        if end is None or end == len(text):
            return False
        at = _start(text, end)
    return True


def pending(text: str, dialect: str) -> str:
    """What is being typed: the last piece of a text, without those that are finished.

    Example:
        >>> pending("SELECT 1; SELECT ag", "duckdb")
        'SELECT ag'
    """
    at = _start(text, 0)
    while at < len(text):
        end = _end(text, at, dialect)
        if end is None or end == len(text):
            return text[at:]
        at = _start(text, end)
    return ""


def tokens_of(text: str, dialect: str) -> list[Token] | None:
    """The tokens of a text, None when a quote or comment is left open."""
    try:
        return sqlglot.tokenize(text, dialect=dialect)
    except SqlglotError:
        return None


def _start(text: str, at: int) -> int:
    """Where the next piece begins: behind blanks, comments of a line, and lone semicolons."""
    found = _NOTHING.match(text, at)
    return found.end() if found else at


def _end(text: str, at: int, dialect: str) -> int | None:
    """Where the piece that begins at `at` ends, None when something in it is left open."""
    if text[at] == "\\":
        return _line_end(text, at)
    stop = at
    while stop < len(text):
        stop, is_command = _next_stop(text, stop)
        tokens = tokens_of(_masked(text[at:stop]), dialect)
        if tokens is None:
            continue  # inside a quote or comment
        semicolon = next((token.start for token in tokens if token.token_type.name == "SEMICOLON"), None)
        if semicolon is not None:
            return at + semicolon
        if is_command or stop == len(text):
            return stop
    return None


def _next_stop(text: str, at: int) -> tuple[int, bool]:
    """Where a statement may end next: behind a semicolon, before the line of a command (true), or with the text."""
    semicolon = text.find(";", at)
    end = len(text) if semicolon < 0 else semicolon + 1
    command = _COMMAND_LINE.search(text, at + 1, end)
    return (end, False) if command is None else (command.start(), True)


def _masked(statement: str) -> str:
    """The statement with another first word: after some words (SHOW, EXPLAIN) sqlglot takes all as one text."""
    return _FIRST_WORD.sub(lambda found: "x" * len(found[0]), statement, count=1)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
