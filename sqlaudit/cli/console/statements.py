"""Read the statements of the console: split scripts, read their tokens, and point at errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import sqlglot
from sqlglot import Token
from sqlglot.errors import SqlglotError

from sqlaudit.base.connection_texts import looks_like_connection
from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import unescaped, untyped
from sqlaudit.cli.console.screen import width_of
from sqlaudit.reports.document import visible

# From a script to its statements and commands. sqlglot's tokenizer reads quotes, comments and dollar quotes.

_BETWEEN_PIECES = re.compile(r"(?:\s+|--[^\n]*|;)*")
_FIRST_WORD = re.compile(r"\s*[A-Za-z_]+")
_COMMAND_LINE = re.compile(r"\n[ \t]*\\(?=[A-Za-z?!])")


@dataclass(frozen=True)
class Piece:
    """A statement without its semicolon, or a command with its backslash. `line` is its first line, from 1."""

    text: str
    line: int = 1

    @property
    def is_command(self) -> bool:
        """Return True if it begins with a backslash."""
        return self.text.startswith("\\")


def split(text: str, dialect: str) -> Iterator[Piece]:
    """Return the statements and commands of a script, in order.

    A statement ends with a semicolon outside of quotes and comments, with a line that begins with a backslash, or with
    the script. A command is the rest of its line.

    Args:
        text: the script.
        dialect: the sqlglot name of the dialect.

    Raises:
        UsageError: a quote or comment is left open.

    Example:
        >>> [piece.text for piece in split("SELECT ';' -- one; ;\\n; \\\\d people\\nSELECT 2", "duckdb")]
        ["SELECT ';' -- one; ;", '\\\\d people', 'SELECT 2']
    """
    line, line_start = 1, 0
    for at, end in _piece_bounds(text, dialect):
        line, line_start = line + text.count("\n", line_start, at), at
        if end is None:
            raise UsageError(f"Line {line}: a quote or comment of this statement is left open.")
        yield Piece(text[at:end].strip(), line)


def is_complete(text: str, dialect: str) -> bool:
    """Return True if a typed text can be run: empty, a command, or statements, the last with its semicolon.

    Example:
        >>> is_complete("SELECT 1", "duckdb"), is_complete("SELECT 1;", "duckdb"), is_complete("\\\\audit", "duckdb")
        (False, True, True)
    """
    return all(text[at] == "\\" or end not in (None, len(text)) for at, end in _piece_bounds(text, dialect))


def pending(text: str, dialect: str) -> str:
    """Return the last piece of a text, which is still being typed, without the finished ones.

    Example:
        >>> pending("SELECT 1; SELECT ag", "duckdb")
        'SELECT ag'
    """
    return next((text[at:] for at, end in _piece_bounds(text, dialect) if end in (None, len(text))), "")


def tokens_of(text: str, dialect: str) -> list[Token] | None:
    """Return the tokens of a text, None if a quote or comment is left open."""
    try:
        return sqlglot.tokenize(text, dialect=dialect)
    except SqlglotError:
        return None


def _piece_bounds(text: str, dialect: str) -> Iterator[tuple[int, int | None]]:
    """Return start and end of each piece. The end is None if a quote or comment is left open.

    Blanks, comments of a line and lone semicolons stand between pieces.
    """
    end: int | None = 0
    while end is not None:
        match = _BETWEEN_PIECES.match(text, end)
        at = match.end() if match else end
        if at == len(text):
            return
        end = _piece_end(text, at, dialect)
        yield at, end


def _piece_end(text: str, at: int, dialect: str) -> int | None:
    """Return the end of the piece that begins at `at`, None if a quote or comment is left open."""
    if text[at] == "\\":
        return _line_end(text, at)
    stop = at
    while stop < len(text):
        stop, is_command = _next_stop(text, stop)
        # Replace the first word: after some words (SHOW, EXPLAIN) sqlglot reads the rest as one token
        tokens = tokens_of(_FIRST_WORD.sub(lambda match: "x" * len(match[0]), text[at:stop], count=1), dialect)
        if tokens is None:
            continue  # inside a quote or comment
        semicolon = next((token.start for token in tokens if token.token_type.name == "SEMICOLON"), None)
        if semicolon is not None:
            return at + semicolon
        if is_command or stop == len(text):
            return stop
    return None


def _next_stop(text: str, at: int) -> tuple[int, bool]:
    """Return where a statement may end next, and True if a command begins there.

    It ends behind a semicolon, before the line of a command, or with the text.
    """
    semicolon = text.find(";", at)
    end = len(text) if semicolon < 0 else semicolon + 1
    command = _COMMAND_LINE.search(text, at + 1, end)
    return (end, False) if command is None else (command.start(), True)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")


# The tokens of a statement or command with their positions: for lists of columns, clauses, and errors.


class StatementError(UsageError):
    """An error in a statement, with the wrong line and a caret below the position."""

    def __init__(self, sentence: str, pointed: str) -> None:
        super().__init__(sentence)
        self.pointed = "" if looks_like_connection(pointed) else pointed


@dataclass
class Reader:
    """A reader of the tokens of a text.

    Args:
        text: the typed text.
        dialect: the sqlglot name of the dialect.
        what: the name of the text in errors.
        first_line: the line of a script in which the text begins.

    Raises:
        StatementError: a quote or comment is left open.
    """

    text: str
    dialect: str
    what: str
    first_line: int = 1
    tokens: list[Token] = field(default_factory=list)
    at: int = 0

    def __post_init__(self) -> None:
        tokens = tokens_of(self.text, self.dialect)
        if tokens is None:
            raise self.error("a quote or comment is left open", len(self.text))
        self.tokens = tokens

    @property
    def token(self) -> Token | None:
        """Return the next token, None at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def is_next(self, *words: str) -> bool:
        """Return True if the next token is one of these words or signs, and no name in quotes."""
        token = self.token
        return token is not None and not is_quoted(token) and token.text.upper() in words

    def skip(self, *words: str) -> bool:
        """Take the next token if it is one of these words or signs. Return True if it was."""
        is_match = self.is_next(*words)
        self.at += is_match
        return is_match

    def expect(self, word: str, otherwise: str) -> None:
        """Take the next token, which must be this word or sign. Otherwise fail with the given message."""
        if not self.skip(word):
            raise self.fail(otherwise)

    def take(self) -> Token:
        """Take and return the next token, which must exist."""
        token = self.token
        if token is None:
            raise self.fail("something is missing at the end")
        self.at += 1
        return token

    def until(self, ends: Callable[[], bool]) -> list[Token]:
        """Take the tokens up to the first, outside of brackets, before which `ends` is true, or to the end."""
        tokens: list[Token] = []
        while self.token is not None and not ends():
            if self.token.text in _OPENING and not is_quoted(self.token):
                tokens += self.brackets()
            else:
                tokens.append(self.take())
        return tokens

    def brackets(self) -> list[Token]:
        """Take an opening bracket, what is inside, and the bracket that closes it."""
        start, depth = self.at, 0
        while True:
            if self.token is None:
                self.at = start
                raise self.fail("this bracket is not closed")
            token = self.take()
            if not is_quoted(token):
                depth += (token.text in _OPENING) - (token.text in _CLOSING)
            if not depth:
                return self.tokens[start : self.at]

    def source(self, tokens: Sequence[Token]) -> str:
        """Return the typed text of some tokens."""
        return self.text[tokens[0].start : tokens[-1].end + 1] if tokens else ""

    def fail(self, problem: str) -> StatementError:
        """Return an error at the next token, or at the end."""
        token = self.token
        return self.error(problem, len(self.text) if token is None else token.start)

    def error(self, problem: str, offset: int) -> StatementError:
        """Return an error at an offset in the text."""
        begin = self.text.rfind("\n", 0, offset) + 1
        end = self.text.find("\n", offset)
        line = self.first_line + self.text.count("\n", 0, offset)
        column = offset - begin
        shown_line = self.text[begin : len(self.text) if end < 0 else end].replace("\t", " ")
        margin = " " * width_of(visible(shown_line[:column]))
        return StatementError(f"{self.what}, line {line}, column {column + 1}: {problem}.", f"{shown_line}\n{margin}^")


def split_columns(reader: Reader, tokens: Sequence[Token]) -> tuple[str, ...]:
    """Split a list into its columns and expressions, at commas, or at blanks if it has no comma.

    A name in double quotes is returned without them, because it may hold anything.

    Raises:
        StatementError: a column is missing.
    """
    inner = _without_brackets(tokens)
    by_comma = any(token.text == "," and not is_quoted(token) and not depth for token, depth in _depths(inner))
    groups: list[list[Token]] = [[]]
    for token, depth in _depths(inner):
        is_comma = token.text == "," and not is_quoted(token)
        if by_comma and is_comma and not depth:
            groups.append([])
            continue
        if not by_comma and not depth and groups[-1] and token.start != groups[-1][-1].end + 1:
            groups.append([])
        groups[-1].append(token)
    if not all(groups):
        offset = inner[0].start if inner else (tokens[0].start if tokens else len(reader.text))
        raise reader.error("a column is missing in this list", offset)
    return tuple(_named(reader, group) for group in groups)


def _named(reader: Reader, tokens: Sequence[Token]) -> str:
    """Return a column or expression as typed; without its quotes if it is a name, also one between apostrophes as
    messages print it.
    """
    if len(tokens) > 1 or tokens[0].token_type.name not in ("IDENTIFIER", "STRING"):
        return reader.source(tokens)
    text = tokens[0].text
    name = unescaped(text) if tokens[0].token_type.name == "IDENTIFIER" else untyped(text)
    return reader.source(tokens) if tokens[0].token_type.name == "STRING" and name == text else name


def parse_arguments(text: str, dialect: str, command: str) -> tuple[str, ...]:
    """Return the columns or expressions that follow a command, empty if none do."""
    reader = Reader(text, dialect, command)
    return split_columns(reader, reader.tokens) if reader.tokens else ()


def _depths(tokens: Sequence[Token]) -> list[tuple[Token, int]]:
    """Return every token with the number of brackets around it. Brackets count as inside themselves."""
    depths, depth = [], 0
    for token in tokens:
        opens = token.text in _OPENING and not is_quoted(token)
        closes = token.text in _CLOSING and not is_quoted(token)
        depth += opens
        depths.append((token, depth))
        depth -= closes
    return depths


def _without_brackets(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return the tokens inside, if one pair of brackets encloses all."""
    depths = [depth for _, depth in _depths(tokens)]
    around = len(tokens) > 1 and tokens[0].text == "(" and min(depths) > 0
    closes_last = around and all(depth > 1 or token.text != ")" for token, depth in _depths(tokens)[1:-1])
    return tokens[1:-1] if closes_last else tokens


def is_quoted(token: Token) -> bool:
    """Return True if a token is a name or text in quotes."""
    return token.token_type.name in ("IDENTIFIER", "STRING", "BYTE_STRING", "HEREDOC_STRING", "RAW_STRING")
