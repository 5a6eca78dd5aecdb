"""Tokens of a statement or command with their places: lists of columns, clauses, and errors that point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sqlglot.tokenizer_core import Token

from sqlaudit.base.connection_texts import looks_like_connection
from sqlaudit.base.errors import UsageError
from sqlaudit.cli.console.layout import width_of
from sqlaudit.cli.console.splitting import tokens_of
from sqlaudit.reports.escape import visible

_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")


class StatementError(UsageError):
    """A statement that cannot be read, with the line of it that is wrong and a caret below the place."""

    def __init__(self, sentence: str, pointed: str) -> None:
        super().__init__(sentence)
        self.pointed = "" if looks_like_connection(pointed) else pointed


@dataclass
class Reader:
    """The tokens of a text, one after the other.

    Args:
        text: what was typed. dialect: the sqlglot name of the dialect. what: how errors call the text.
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
        found = tokens_of(self.text, self.dialect)
        if found is None:
            raise self.error("a quote or comment is left open", len(self.text))
        self.tokens = found

    @property
    def token(self) -> Token | None:
        """The next token, None at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def is_word(self, *words: str) -> bool:
        """Whether the next token is one of these words, and no name in quotes."""
        token = self.token
        return token is not None and not _is_quoted(token) and token.text.upper() in words

    def is_sign(self, *signs: str) -> bool:
        """Whether the next token is one of these signs."""
        return self.is_word(*signs)

    def take(self) -> Token:
        """The next token, which there must be."""
        token = self.token
        if token is None:
            raise self.fail("something is missing at the end")
        self.at += 1
        return token

    def until(self, ends: Callable[[], bool]) -> list[Token]:
        """The tokens up to one, outside of brackets, before which `ends` is true, or to the end."""
        taken: list[Token] = []
        while self.token is not None and not ends():
            if self.token.text in _OPENING and not _is_quoted(self.token):
                taken += self.brackets()
            else:
                taken.append(self.take())
        return taken

    def brackets(self) -> list[Token]:
        """An opening bracket, what is inside, and the bracket that closes it."""
        start, depth = self.at, 0
        while True:
            if self.token is None:
                self.at = start
                raise self.fail("this bracket is not closed")
            token = self.take()
            if not _is_quoted(token):
                depth += (token.text in _OPENING) - (token.text in _CLOSING)
            if not depth:
                return self.tokens[start : self.at]

    def source(self, tokens: Sequence[Token]) -> str:
        """What was typed for some tokens."""
        return self.text[tokens[0].start : tokens[-1].end + 1] if tokens else ""

    def fail(self, problem: str) -> StatementError:
        """An error at the next token, or at the end."""
        token = self.token
        return self.error(problem, len(self.text) if token is None else token.start)

    def error(self, problem: str, offset: int) -> StatementError:
        """An error at a place of the text."""
        begin = self.text.rfind("\n", 0, offset) + 1
        end = self.text.find("\n", offset)
        line = self.first_line + self.text.count("\n", 0, offset)
        column = offset - begin
        shown = self.text[begin : len(self.text) if end < 0 else end].replace("\t", " ")
        margin = " " * width_of(visible(shown[:column]))
        return StatementError(f"{self.what}, line {line}, column {column + 1}: {problem}.", f"{shown}\n{margin}^")


def items_of(reader: Reader, tokens: Sequence[Token]) -> tuple[str, ...]:
    """The columns and expressions of a list: separated by commas, or by blanks where there is no comma.

    A name in double quotes is given without them, as it may hold anything.

    Raises:
        StatementError: an empty item.
    """
    inner = _without_brackets(tokens)
    by_comma = any(token.text == "," and not _is_quoted(token) and not depth for token, depth in _depths(inner))
    groups: list[list[Token]] = [[]]
    for token, depth in _depths(inner):
        is_comma = token.text == "," and not _is_quoted(token)
        if by_comma and is_comma and not depth:
            groups.append([])
            continue
        if not by_comma and not depth and groups[-1] and not _touch(groups[-1][-1], token):
            groups.append([])
        groups[-1].append(token)
    if not all(groups):
        offset = inner[0].start if inner else (tokens[0].start if tokens else len(reader.text))
        raise reader.error("a column is missing in this list", offset)
    return tuple(_name(reader, group) for group in groups)


def arguments(text: str, dialect: str, command: str) -> tuple[str, ...]:
    """The columns or expressions that follow a command; none when nothing does."""
    reader = Reader(text, dialect, command)
    return items_of(reader, reader.tokens) if reader.tokens else ()


def _depths(tokens: Sequence[Token]) -> list[tuple[Token, int]]:
    """Every token with the number of brackets around it (brackets themselves count as inside)."""
    found, depth = [], 0
    for token in tokens:
        opens = token.text in _OPENING and not _is_quoted(token)
        closes = token.text in _CLOSING and not _is_quoted(token)
        depth += opens
        found.append((token, depth))
        depth -= closes
    return found


def _without_brackets(tokens: Sequence[Token]) -> Sequence[Token]:
    """What is inside, when one pair of brackets is around everything."""
    depths = [depth for _, depth in _depths(tokens)]
    around = len(tokens) > 1 and tokens[0].text == "(" and min(depths) > 0
    closes_last = around and all(depth > 1 or token.text != ")" for token, depth in _depths(tokens)[1:-1])
    return tokens[1:-1] if closes_last else tokens


def _touch(before: Token, after: Token) -> bool:
    return after.start == before.end + 1


def _name(reader: Reader, group: Sequence[Token]) -> str:
    if len(group) == 1 and group[0].token_type.name == "IDENTIFIER":
        return group[0].text
    return reader.source(group)


def _is_quoted(token: Token) -> bool:
    return token.token_type.name in ("IDENTIFIER", "STRING", "BYTE_STRING", "HEREDOC_STRING", "RAW_STRING")
