"""The statements of the console: how a script is cut into them, AUDIT, AGGREGATES, and where an error points."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlglot
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token

from sqlaudit.base.connection_texts import looks_like_connection
from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import request_from
from sqlaudit.base.parameter_names import speaking
from sqlaudit.base.spec import Requirement, Roles
from sqlaudit.cli.console.screen import width_of
from sqlaudit.models.registry import CELL_RULES, REGISTRY, Among, contradiction, parse_requirement
from sqlaudit.reports.document import visible
from sqlaudit.tabular.request import AggregatesRequest

# From a script to its statements and commands: quotes, comments and dollar quotes are sqlglot's to understand.

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
    line, counted = 1, 0
    for at, end in _places(text, dialect):
        line, counted = line + text.count("\n", counted, at), at
        if end is None:
            raise UsageError(f"Line {line}: a quote or comment of this statement is left open.")
        yield Piece(text[at:end].strip(), line)


def is_complete(text: str, dialect: str) -> bool:
    """Whether a typed text can be run: nothing, a command, or statements of which the last has its semicolon.

    Example:
        >>> is_complete("SELECT 1", "duckdb"), is_complete("SELECT 1;", "duckdb"), is_complete("\\\\audit", "duckdb")
        (False, True, True)
    """
    return all(text[at] == "\\" or end not in (None, len(text)) for at, end in _places(text, dialect))


def pending(text: str, dialect: str) -> str:
    """What is being typed: the last piece of a text, without those that are finished.

    Example:
        >>> pending("SELECT 1; SELECT ag", "duckdb")
        'SELECT ag'
    """
    return next((text[at:] for at, end in _places(text, dialect) if end in (None, len(text))), "")


def tokens_of(text: str, dialect: str) -> list[Token] | None:
    """The tokens of a text, None when a quote or comment is left open."""
    try:
        return sqlglot.tokenize(text, dialect=dialect)
    except SqlglotError:
        return None


def _places(text: str, dialect: str) -> Iterator[tuple[int, int | None]]:
    """Where each piece begins and ends; None where something in it is left open.

    Blanks, comments of a line and lone semicolons stand between pieces.
    """
    end: int | None = 0
    while end is not None:
        found = _NOTHING.match(text, end)
        at = found.end() if found else end
        if at == len(text):
            return
        end = _end(text, at, dialect)
        yield at, end


def _end(text: str, at: int, dialect: str) -> int | None:
    """Where the piece that begins at `at` ends, None when something in it is left open."""
    if text[at] == "\\":
        return _line_end(text, at)
    stop = at
    while stop < len(text):
        stop, is_command = _next_stop(text, stop)
        # The statement with another first word: after some words (SHOW, EXPLAIN) sqlglot takes all as one text
        tokens = tokens_of(_FIRST_WORD.sub(lambda found: "x" * len(found[0]), text[at:stop], count=1), dialect)
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


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")


# Tokens of a statement or command with their places: lists of columns, clauses, and errors that point.


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

    def is_next(self, *words: str) -> bool:
        """Whether the next token is one of these words or signs, and no name in quotes."""
        token = self.token
        return token is not None and not _is_quoted(token) and token.text.upper() in words

    def skip(self, *words: str) -> bool:
        """Take the next token if it is one of these words or signs; whether it was."""
        found = self.is_next(*words)
        self.at += found
        return found

    def expect(self, word: str, otherwise: str) -> None:
        """Take the next token, which must be this word or sign."""
        if not self.skip(word):
            raise self.fail(otherwise)

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
        if not by_comma and not depth and groups[-1] and token.start != groups[-1][-1].end + 1:
            groups.append([])
        groups[-1].append(token)
    if not all(groups):
        offset = inner[0].start if inner else (tokens[0].start if tokens else len(reader.text))
        raise reader.error("a column is missing in this list", offset)
    return tuple(
        group[0].text if len(group) == 1 and group[0].token_type.name == "IDENTIFIER" else reader.source(group)
        for group in groups
    )


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


def _is_quoted(token: Token) -> bool:
    return token.token_type.name in ("IDENTIFIER", "STRING", "BYTE_STRING", "HEREDOC_STRING", "RAW_STRING")


# What must hold, as SQL users write it: `k >= 5, t <= 0.2, recursive_l = c:3,l:2, disclosure@3 < 0.8`.

_SIGNS = ("=", ">=", "<=", "<", ">")


def read_requirements(reader: Reader, among: Among = REGISTRY) -> tuple[Requirement, ...]:
    """The requirements from here to the end; commas between them may be left out.

    Args:
        reader: at the first of them. among: the models that may be required.

    Raises:
        StatementError: something that is no requirement, or one in the wrong direction (`k <= 5`).

    Example:
        >>> [one.text for one in read_requirements(Reader("k >= 5, recursive_l=c:3,l:2 t<=.2", "duckdb", "x"))]
        ['k=5', 'recursive_l=c:3,l:2', 't=.2']
    """
    found = []
    while reader.token is not None:
        found.append(_one(reader, among))
        if reader.skip(",") and reader.token is None:
            raise reader.fail("a requirement is missing after the comma")
    return tuple(found)


def _one(reader: Reader, among: Among) -> Requirement:
    start = reader.at
    example = "the name of a model, for example k" if among is REGISTRY else "a rule, for example threshold"
    name = _word(reader, example)
    if reader.skip("@"):
        name += "@" + _number(reader)
    if not reader.is_next(*_SIGNS):
        raise reader.fail(f"{name} needs a limit, for example {name} = 5")
    at_sign = reader.at
    sign = reader.take().text
    is_pair = [one.text for one in reader.tokens[reader.at + 1 : reader.at + 2]] == [":"]
    value = _pairs(reader) if is_pair else _number(reader)
    try:
        requirement = parse_requirement(f"{name}={value}", among=among)
    except UsageError as error:
        raise reader.error(str(error).rstrip("."), reader.tokens[start].start) from None
    operator = among[requirement.model].operator
    if sign not in ("=", operator):
        raise reader.error(contradiction(name, operator), reader.tokens[at_sign].start)
    return requirement


def _word(reader: Reader, what: str) -> str:
    token = reader.token
    if token is None or not token.text.replace("_", "").isalnum() or token.text[0].isdigit():
        raise reader.fail(f"{what} is expected here")
    return reader.take().text


def _pairs(reader: Reader) -> str:
    pairs = []
    while True:
        name = _word(reader, "the name of a parameter")
        reader.expect(":", "a colon is expected here")
        pairs.append(f"{name}:{_number(reader)}")
        after = reader.tokens[reader.at : reader.at + 3]
        if len(after) < 3 or after[0].text != "," or after[2].text != ":":
            return ",".join(pairs)
        reader.take()


def _number(reader: Reader) -> str:
    """A number, share or fraction as it was typed: `5`, `.2`, `80%`, `1/20`; or a word."""
    start = reader.at
    reader.skip(".")
    if reader.token is None or not (reader.token.text[0].isdigit() or reader.token.text.isidentifier()):
        raise reader.fail("a number is expected here")
    reader.take()
    if reader.skip("/"):
        if reader.token is None or not reader.token.text.isdigit():
            raise reader.fail("a number is expected here")
        reader.take()
    else:
        reader.skip("%")
    return reader.source(reader.tokens[start : reader.at])


# `AUDIT relation BY (age, sex) SENSITIVE disease REQUIRE k >= 5`: an audit as a statement.
#
# AUDIT { table | 'file' | ( SELECT … ) }
#     BY ( column or expression [, …] )
#     [ SENSITIVE column [, …] ]
#     [ ENTITY column ]
#     [ REQUIRE model { = | >= | <= | < | > } limit [, …] ]

_CLAUSES = ("SENSITIVE", "ENTITY", "REQUIRE")


@dataclass(frozen=True)
class AuditStatement:
    """What an AUDIT statement says; either `relation` or `query` is given."""

    relation: str
    query: str
    roles: Roles
    requirements: tuple[Requirement, ...] = ()


def is_audit(text: str, dialect: str) -> bool:
    """Whether a statement begins with the word AUDIT.

    Example:
        >>> is_audit("audit people BY (age)", "duckdb"), is_audit("SELECT audit FROM t", "duckdb")
        (True, False)
    """
    return Reader(text, dialect, "the statement").is_next("AUDIT")


def parse_audit(text: str, dialect: str, first_line: int = 1) -> AuditStatement:
    """The statement, read completely.

    Args:
        text: the statement. dialect: of names and expressions. first_line: where it begins in a script.

    Raises:
        StatementError: it says something else; the sentence has line and column, `pointed` shows the place.

    Example:
        >>> found = parse_audit("AUDIT people BY (age, year(birth)) SENSITIVE disease REQUIRE k >= 5, l >= 2", "duckdb")
        >>> found.relation, found.roles.quasi_identifiers, [one.text for one in found.requirements]
        ('people', ('age', 'year(birth)'), ['k=5', 'l=2'])
    """
    reader = Reader(text, dialect, "AUDIT", first_line)
    reader.take()
    relation, query = read_relation(reader)
    reader.expect("BY", "BY is expected here, with the quasi-identifiers in parentheses: BY (age, sex)")
    if not reader.is_next("("):
        raise reader.fail("the quasi-identifiers must be in parentheses: BY (age, sex)")
    known = items_of(reader, reader.brackets())
    sensitive, entity, requirements = _clauses(reader)
    try:
        roles = Roles(known, sensitive, entity=entity)
    except UsageError as error:
        raise reader.error(str(error).rstrip("."), 0) from None
    return AuditStatement(relation, query, roles, requirements)


def read_relation(reader: Reader) -> tuple[str, str]:
    """A table or file by its name, or the text of a SELECT."""
    if reader.is_next("("):
        inside = reader.brackets()[1:-1]
        if not inside:
            raise reader.error("a SELECT is expected in these parentheses", reader.tokens[1].start)
        return "", reader.source(inside)
    token = reader.token
    if token is not None and token.token_type.name == "STRING":
        return reader.take().text, ""
    tokens = reader.until(lambda: reader.is_next("BY", *_CLAUSES))
    if not tokens:
        raise reader.fail("a table, a file in single quotes or a (SELECT …) is expected here")
    for before, after in itertools.pairwise(tokens):
        if after.start != before.end + 1:
            raise reader.error("BY is expected here", after.start)
    return reader.source(tokens), ""


def _clauses(reader: Reader) -> tuple[tuple[str, ...], str | None, tuple[Requirement, ...]]:
    sensitive: tuple[str, ...] = ()
    entity: str | None = None
    if reader.is_next("SENSITIVE"):
        sensitive = _columns(reader, "SENSITIVE")
    if reader.is_next("ENTITY"):
        start = reader.at
        named = _columns(reader, "ENTITY")
        if len(named) != 1:
            raise reader.error(
                "ENTITY takes one column: the one that identifies the person", reader.tokens[start].start
            )
        entity = named[0]
    requirements: tuple[Requirement, ...] = ()
    if reader.skip("REQUIRE"):
        if reader.token is None:
            raise reader.fail("a requirement is expected here, for example k >= 5")
        requirements = read_requirements(reader)
    if reader.token is not None:
        raise reader.fail("SENSITIVE, ENTITY, REQUIRE or the end is expected here, in this order")
    return sensitive, entity, requirements


def _columns(reader: Reader, clause: str) -> tuple[str, ...]:
    reader.take()
    tokens = reader.until(lambda: reader.is_next(*_CLAUSES, "BY"))
    if not tokens:
        raise reader.fail(f"a column is expected after {clause}")
    found = items_of(reader, tokens)
    if len(found) > 1 and "," not in reader.source(tokens):
        raise reader.error("a comma, REQUIRE or the end is expected here", tokens[1].start)
    return found


# `AGGREGATES counts BY (region, sector) COUNT n REQUIRE threshold >= 5`: published cells judged as a statement.
#
# AGGREGATES [ FROM ] { table | 'file' | ( SELECT … ) }
#     BY ( column or expression [, …] )
#     [ COUNT column ] [ VALUE column ] [ CONTRIBUTORS column ] [ HOLDINGS column ] [ LARGEST column [, …] ]
#     [ HIDDEN 'mark' [, …] ] [ ZEROS { shown | hidden } ] [ RATE 'rate=n/d' [, …] ] [ INSENSITIVE column [, …] ]
#     [ TOTAL column = { 'value' | NULL } [, …] ] [ HIERARCHIES { 'file' | 'column=codes' } ]
#     [ STRUCTURAL condition ]
#     [ PERSON column ] [ WEIGHT column ] [ NEGATIVE { refuse | absolute } ] [ GROUPING ( … ) [, …] ]
#     [ BEFORE { table | 'file' } [, …] ] [ LINKED { table | 'file' } [, …] ]
#     [ REQUIRE rule { = | >= | <= } limit [, …] ]


@dataclass(frozen=True)
class CellsStatement:
    """What an AGGREGATES statement says; either `relation` or `query` is given."""

    relation: str
    query: str
    request: AggregatesRequest
    before: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()


def is_cells(text: str, dialect: str) -> bool:
    """Whether a statement begins with the word AGGREGATES.

    Example:
        >>> is_cells("aggregates counts BY (region)", "duckdb"), is_cells("SELECT aggregates FROM t", "duckdb")
        (True, False)
    """
    return Reader(text, dialect, "the statement").is_next("AGGREGATES")


def parse_cells(text: str, dialect: str, first_line: int = 1) -> CellsStatement:
    """The statement, read completely.

    Args:
        text: the statement. dialect: of names and expressions. first_line: where it begins in a script.

    Raises:
        StatementError: it says something else; the sentence has line and column, `pointed` shows the place.

    Example:
        >>> found = parse_cells("AGGREGATES counts BY (region, sector) COUNT n REQUIRE threshold >= 5", "duckdb")
        >>> found.relation, found.request.by, found.request.count, found.request.requirements[0].text
        ('counts', ('region', 'sector'), 'n', 'threshold=5')
    """
    reader = Reader(text, dialect, "AGGREGATES", first_line)
    reader.take()
    given: dict[str, Any] = {"microdata": reader.skip("FROM")}
    relation, query = read_relation(reader)
    reader.expect("BY", "BY is expected here, with the dimensions in parentheses: BY (region, sector)")
    if not reader.is_next("("):
        raise reader.fail("the dimensions must be in parentheses: BY (region, sector)")
    given["by"] = items_of(reader, reader.brackets())
    _read_clauses(reader, given)
    before, linked, rules = (given.pop(name, ()) for name in ("before", "linked", "require"))
    try:
        with speaking(in_the_statement):
            request = request_from(AggregatesRequest, given, requirements=rules)
    except UsageError as error:
        raise reader.error(str(error).rstrip("."), 0) from None
    return CellsStatement(relation, query, request, before, linked)


def in_the_statement(field: str, values: tuple[object, ...]) -> str | None:
    r"""How the statement spells the fields of a request; None for those that have no clause.

    Example:
        >>> in_the_statement("count", ()), in_the_statement("require", ("threshold=5",)), in_the_statement("to", ())
        ('COUNT', 'REQUIRE threshold=5', None)
    """
    if field == "by":
        return f"BY ({', '.join(map(str, values))})" if values else "BY"
    if field == "microdata":
        return "AGGREGATES FROM"
    if field != "require" and field.upper() not in _CELL_CLAUSES:
        return None
    return " ".join((field.upper(), *map(str, values)))


def _read_clauses(reader: Reader, given: dict[str, Any]) -> None:
    """Every clause once, in any order, REQUIRE as the last."""
    while reader.token is not None and not reader.is_next("REQUIRE"):
        word = reader.token.text.upper()
        if not reader.is_next(*_CELL_CLAUSES) or word.lower() in given:
            listed = ", ".join([name for name in _CELL_CLAUSES if name.lower() not in given])
            raise reader.fail(f"{listed}, REQUIRE or the end is expected here")
        reader.take()
        given[word.lower()] = _CELL_CLAUSES[word](reader, word)
    if reader.token is None:
        return
    reader.take()
    if reader.token is None:
        raise reader.fail("a rule is expected here, for example threshold >= 5")
    given["require"] = read_requirements(reader, CELL_RULES)


def _several(reader: Reader, clause: str) -> tuple[str, ...]:
    """What stands behind a clause up to the next one; the first word is no clause, whatever it is."""
    if reader.token is None:
        raise reader.fail(f"something is expected after {clause}")
    tokens = reader.brackets() if reader.is_next("(") else [reader.take()]
    while reader.token is not None and not reader.is_next(*_CELL_CLAUSES, "REQUIRE"):
        comma = reader.is_next(",")
        tokens += reader.brackets() if reader.is_next("(") else [reader.take()]
        if comma and reader.token is not None and not reader.is_next("("):
            tokens.append(reader.take())
    return items_of(reader, tokens)


def _single(reader: Reader, clause: str) -> str:
    start = reader.tokens[reader.at].start if reader.token is not None else len(reader.text)
    found = _several(reader, clause)
    if len(found) != 1:
        raise reader.error(f"{clause} takes one column", start)
    return found[0]


def _condition(reader: Reader, clause: str) -> str:
    """A condition as it was typed: its words are no list."""
    tokens = reader.until(lambda: reader.is_next(*_CELL_CLAUSES, "REQUIRE"))
    if not tokens:
        raise reader.fail(f"something is expected after {clause}")
    return reader.source(tokens)


def _texts(reader: Reader, clause: str) -> tuple[str, ...]:
    """Texts in single quotes."""
    found = [_text(reader, f"a text in single quotes is expected after {clause}")]
    while reader.skip(","):
        found.append(_text(reader, "a text in single quotes is expected after the comma"))
    return tuple(found)


def _file(reader: Reader, clause: str) -> str:
    return _text(reader, f"a file in single quotes is expected after {clause}")


def _text(reader: Reader, missing: str) -> str:
    if reader.token is None or reader.token.token_type.name != "STRING":
        raise reader.fail(missing)
    return reader.take().text


def _totals(reader: Reader, clause: str) -> tuple[str, ...]:
    """`region = 'Total', sector = NULL`."""
    found = []
    while True:
        tokens = reader.until(lambda: reader.is_next("="))
        if not tokens or reader.token is None:
            raise reader.fail(f"{clause} takes column = 'value', for example region = 'Total'")
        reader.take()
        is_null = reader.skip("NULL")
        label = "NULL" if is_null else _text(reader, "the value in single quotes, or NULL, is expected here")
        found.append(f"{items_of(reader, tokens)[0]}={label}")
        if not reader.skip(","):
            return tuple(found)


def _sets(reader: Reader, clause: str) -> str:
    """`(region), (region, sector), ()` as the sets of a grouping."""
    found = []
    while True:
        if not reader.is_next("("):
            raise reader.fail(f"{clause} takes sets in parentheses, for example (region), ()")
        tokens = reader.brackets()
        found.append("(" + ",".join(items_of(reader, tokens) if len(tokens) > 2 else ()) + ")")
        if not reader.skip(","):
            return ";".join(found)


_CELL_CLAUSES: Mapping[str, Callable[[Reader, str], Any]] = {
    "COUNT": _single,
    "VALUE": _single,
    "CONTRIBUTORS": _single,
    "HOLDINGS": _single,
    "LARGEST": _several,
    "HIDDEN": _texts,
    "ZEROS": _single,
    "RATE": _texts,
    "INSENSITIVE": _several,
    "TOTAL": _totals,
    "HIERARCHIES": _file,
    "STRUCTURAL": _condition,
    "PERSON": _single,
    "WEIGHT": _single,
    "NEGATIVE": _single,
    "GROUPING": _sets,
    "BEFORE": _several,
    "LINKED": _several,
}
CLAUSES = tuple(_CELL_CLAUSES)
"""The words that begin a clause."""
