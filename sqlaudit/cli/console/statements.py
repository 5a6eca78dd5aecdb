"""Read the statements of the console: split scripts, parse AUDIT and AGGREGATES, and point at errors."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlglot
from sqlglot import Token
from sqlglot.errors import SqlglotError

from sqlaudit.base.connection_texts import looks_like_connection
from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import request_from
from sqlaudit.base.parameter_names import speaking
from sqlaudit.base.spec import Requirement, Roles, Target
from sqlaudit.cli.console.screen import width_of
from sqlaudit.models.registry import CELL_RULES, REGISTRY, Among, contradiction, parse_requirement
from sqlaudit.reports.document import visible
from sqlaudit.tabular.request import AggregatesRequest

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
        return token is not None and not _is_quoted(token) and token.text.upper() in words

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
            if self.token.text in _OPENING and not _is_quoted(self.token):
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
            if not _is_quoted(token):
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


def parse_arguments(text: str, dialect: str, command: str) -> tuple[str, ...]:
    """Return the columns or expressions that follow a command, empty if none do."""
    reader = Reader(text, dialect, command)
    return split_columns(reader, reader.tokens) if reader.tokens else ()


def _depths(tokens: Sequence[Token]) -> list[tuple[Token, int]]:
    """Return every token with the number of brackets around it. Brackets count as inside themselves."""
    depths, depth = [], 0
    for token in tokens:
        opens = token.text in _OPENING and not _is_quoted(token)
        closes = token.text in _CLOSING and not _is_quoted(token)
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


def _is_quoted(token: Token) -> bool:
    return token.token_type.name in ("IDENTIFIER", "STRING", "BYTE_STRING", "HEREDOC_STRING", "RAW_STRING")


# Requirements as SQL users write them: `k >= 5, t <= 0.2, recursive_l = c:3,l:2, disclosure@3 < 0.8`.

_SIGNS = ("=", ">=", "<=", "<", ">")


def read_requirements(reader: Reader, among: Among = REGISTRY) -> tuple[Requirement, ...]:
    """Read the requirements from here to the end. Commas between them may be left out.

    Args:
        reader: at the first requirement.
        among: the models that may be required.

    Raises:
        StatementError: the text is no requirement, or one in the wrong direction (`k <= 5`).

    Example:
        >>> [limit.text for limit in read_requirements(Reader("k >= 5, recursive_l=c:3,l:2 t<=.2", "duckdb", "x"))]
        ['k=5', 'recursive_l=c:3,l:2', 't=.2']
    """
    requirements = []
    while reader.token is not None:
        requirements.append(_read_requirement(reader, among))
        if reader.skip(",") and reader.token is None:
            raise reader.fail("a requirement is missing after the comma")
    return tuple(requirements)


def _read_requirement(reader: Reader, among: Among) -> Requirement:
    """Read one requirement: a model, its parameter after @, a sign and the limit."""
    start = reader.at
    example = "the name of a model, for example k" if among is REGISTRY else "a rule, for example threshold"
    name = _read_word(reader, example)
    if reader.skip("@"):
        name += "@" + _read_number(reader)
    if not reader.is_next(*_SIGNS):
        raise reader.fail(f"{name} needs a limit, for example {name} = 5")
    at_sign = reader.at
    sign = reader.take().text
    is_pair = [token.text for token in reader.tokens[reader.at + 1 : reader.at + 2]] == [":"]
    value = _read_pairs(reader) if is_pair else _read_number(reader)
    try:
        requirement = parse_requirement(f"{name}={value}", among=among)
    except UsageError as error:
        raise reader.error(str(error).rstrip("."), reader.tokens[start].start) from None
    operator = among[requirement.model].operator
    if sign not in ("=", operator):
        raise reader.error(contradiction(name, operator), reader.tokens[at_sign].start)
    return requirement


def _read_word(reader: Reader, what: str) -> str:
    token = reader.token
    if token is None or not token.text.replace("_", "").isalnum() or token.text[0].isdigit():
        raise reader.fail(f"{what} is expected here")
    return reader.take().text


def _read_pairs(reader: Reader) -> str:
    """Read the parameters of a requirement, such as `c:3,l:2`."""
    pairs = []
    while True:
        name = _read_word(reader, "the name of a parameter")
        reader.expect(":", "a colon is expected here")
        pairs.append(f"{name}:{_read_number(reader)}")
        after = reader.tokens[reader.at : reader.at + 3]
        if len(after) < 3 or after[0].text != "," or after[2].text != ":":
            return ",".join(pairs)
        reader.take()


def _read_number(reader: Reader) -> str:
    """Read a number, share or fraction as it was typed: `5`, `.2`, `80%`, `1/20`; or a word."""
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
    """A parsed AUDIT statement, with either `relation` or `query`."""

    relation: str
    query: str
    roles: Roles
    requirements: tuple[Requirement, ...] = ()


def is_audit(text: str, dialect: str) -> bool:
    """Return True if a statement begins with the word AUDIT.

    Example:
        >>> is_audit("audit people BY (age)", "duckdb"), is_audit("SELECT audit FROM t", "duckdb")
        (True, False)
    """
    return Reader(text, dialect, "the statement").is_next("AUDIT")


def parse_audit(text: str, dialect: str, first_line: int = 1) -> AuditStatement:
    """Parse an AUDIT statement.

    Args:
        text: the statement.
        dialect: of names and expressions.
        first_line: its first line in a script.

    Raises:
        StatementError: it is no such statement. The message has line and column, `pointed` shows the position.

    Example:
        >>> audit = parse_audit("AUDIT people BY (age, year(birth)) SENSITIVE disease REQUIRE k >= 5, l >= 2", "duckdb")
        >>> audit.relation, audit.roles.quasi_identifiers, [limit.text for limit in audit.requirements]
        ('people', ('age', 'year(birth)'), ['k=5', 'l=2'])
    """
    reader = Reader(text, dialect, "AUDIT", first_line)
    reader.take()
    relation, query = read_relation(reader)
    reader.expect("BY", "BY is expected here, with the quasi-identifiers in parentheses: BY (age, sex)")
    if not reader.is_next("("):
        raise reader.fail("the quasi-identifiers must be in parentheses: BY (age, sex)")
    quasi_identifiers = split_columns(reader, reader.brackets())
    sensitive, entity, requirements = _read_audit_clauses(reader)
    try:
        roles = Roles(quasi_identifiers, sensitive, entity=entity)
    except UsageError as error:
        raise reader.error(str(error).rstrip("."), 0) from None
    return AuditStatement(relation, query, roles, requirements)


def read_relation(reader: Reader) -> tuple[str, str]:
    """Read a table or file by its name, or the text of a SELECT. Return both, one of them empty."""
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


def _read_audit_clauses(reader: Reader) -> tuple[tuple[str, ...], str | None, tuple[Requirement, ...]]:
    """Read SENSITIVE, ENTITY and REQUIRE, in this order, each of which may be missing."""
    sensitive: tuple[str, ...] = ()
    entity: str | None = None
    if reader.is_next("SENSITIVE"):
        sensitive = _read_columns(reader, "SENSITIVE")
    if reader.is_next("ENTITY"):
        start = reader.at
        columns = _read_columns(reader, "ENTITY")
        if len(columns) != 1:
            raise reader.error(
                "ENTITY takes one column: the one that identifies the person", reader.tokens[start].start
            )
        entity = columns[0]
    requirements: tuple[Requirement, ...] = ()
    if reader.skip("REQUIRE"):
        if reader.token is None:
            raise reader.fail("a requirement is expected here, for example k >= 5")
        requirements = read_requirements(reader)
    if reader.token is not None:
        raise reader.fail("SENSITIVE, ENTITY, REQUIRE or the end is expected here, in this order")
    return sensitive, entity, requirements


def _read_columns(reader: Reader, clause: str) -> tuple[str, ...]:
    """Read the columns of a clause of AUDIT."""
    reader.take()
    tokens = reader.until(lambda: reader.is_next(*_CLAUSES, "BY"))
    if not tokens:
        raise reader.fail(f"a column is expected after {clause}")
    columns = split_columns(reader, tokens)
    if len(columns) > 1 and "," not in reader.source(tokens):
        raise reader.error("a comma, REQUIRE or the end is expected here", tokens[1].start)
    return columns


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
    """A parsed AGGREGATES statement, with either `relation` or `query`."""

    relation: str
    query: str
    request: AggregatesRequest
    before: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()


def is_cells(text: str, dialect: str) -> bool:
    """Return True if a statement begins with the word AGGREGATES.

    Example:
        >>> is_cells("aggregates counts BY (region)", "duckdb"), is_cells("SELECT aggregates FROM t", "duckdb")
        (True, False)
    """
    return Reader(text, dialect, "the statement").is_next("AGGREGATES")


def parse_cells(text: str, dialect: str, first_line: int = 1) -> CellsStatement:
    """Parse an AGGREGATES statement.

    Args:
        text: the statement.
        dialect: of names and expressions.
        first_line: its first line in a script.

    Raises:
        StatementError: it is no such statement. The message has line and column, `pointed` shows the position.

    Example:
        >>> cells = parse_cells("AGGREGATES counts BY (region, sector) COUNT n REQUIRE threshold >= 5", "duckdb")
        >>> cells.relation, cells.request.by, cells.request.count, cells.request.requirements[0].text
        ('counts', ('region', 'sector'), 'n', 'threshold=5')
    """
    reader = Reader(text, dialect, "AGGREGATES", first_line)
    reader.take()
    clauses: dict[str, Any] = {"microdata": reader.skip("FROM")}
    relation, query = read_relation(reader)
    reader.expect("BY", "BY is expected here, with the dimensions in parentheses: BY (region, sector)")
    if not reader.is_next("("):
        raise reader.fail("the dimensions must be in parentheses: BY (region, sector)")
    clauses["by"] = split_columns(reader, reader.brackets())
    _read_cell_clauses(reader, clauses)
    before, linked, rules = (clauses.pop(name, ()) for name in ("before", "linked", "require"))
    target = Target(relation=relation, query=query)  # the session knows what the names stand for
    try:
        with speaking(in_the_statement):
            request = request_from(AggregatesRequest, clauses, target=target, requirements=rules)
    except UsageError as error:
        raise reader.error(str(error).rstrip("."), 0) from None
    return CellsStatement(relation, query, request, before, linked)


def in_the_statement(field: str, values: tuple[object, ...]) -> str | None:
    r"""Return how the statement spells a field of a request, None if it has no clause for it.

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


def _read_cell_clauses(reader: Reader, clauses: dict[str, Any]) -> None:
    """Read the clauses of AGGREGATES, each once and in any order, REQUIRE as the last."""
    while reader.token is not None and not reader.is_next("REQUIRE"):
        word = reader.token.text.upper()
        if not reader.is_next(*_CELL_CLAUSES) or word.lower() in clauses:
            missing = ", ".join([name for name in _CELL_CLAUSES if name.lower() not in clauses])
            raise reader.fail(f"{missing}, REQUIRE or the end is expected here")
        reader.take()
        clauses[word.lower()] = _CELL_CLAUSES[word](reader, word)
    if reader.token is None:
        return
    reader.take()
    if reader.token is None:
        raise reader.fail("a rule is expected here, for example threshold >= 5")
    clauses["require"] = read_requirements(reader, CELL_RULES)


def _read_list(reader: Reader, clause: str) -> tuple[str, ...]:
    """Read the list of a clause up to the next clause. The first word is part of the list, whatever it is."""
    if reader.token is None:
        raise reader.fail(f"something is expected after {clause}")
    tokens = reader.brackets() if reader.is_next("(") else [reader.take()]
    while reader.token is not None and not reader.is_next(*_CELL_CLAUSES, "REQUIRE"):
        comma = reader.is_next(",")
        tokens += reader.brackets() if reader.is_next("(") else [reader.take()]
        if comma and reader.token is not None and not reader.is_next("("):
            tokens.append(reader.take())
    return split_columns(reader, tokens)


def _read_single(reader: Reader, clause: str) -> str:
    """Read the one column of a clause."""
    start = reader.tokens[reader.at].start if reader.token is not None else len(reader.text)
    columns = _read_list(reader, clause)
    if len(columns) != 1:
        raise reader.error(f"{clause} takes one column", start)
    return columns[0]


def _read_condition(reader: Reader, clause: str) -> str:
    """Read a condition as it was typed, not as a list."""
    tokens = reader.until(lambda: reader.is_next(*_CELL_CLAUSES, "REQUIRE"))
    if not tokens:
        raise reader.fail(f"something is expected after {clause}")
    return reader.source(tokens)


def _read_texts(reader: Reader, clause: str) -> tuple[str, ...]:
    """Read texts in single quotes, with commas between them."""
    texts = [_read_text(reader, f"a text in single quotes is expected after {clause}")]
    while reader.skip(","):
        texts.append(_read_text(reader, "a text in single quotes is expected after the comma"))
    return tuple(texts)


def _read_file(reader: Reader, clause: str) -> str:
    return _read_text(reader, f"a file in single quotes is expected after {clause}")


def _read_text(reader: Reader, missing: str) -> str:
    if reader.token is None or reader.token.token_type.name != "STRING":
        raise reader.fail(missing)
    return reader.take().text


def _read_totals(reader: Reader, clause: str) -> tuple[str, ...]:
    """Read `region = 'Total', sector = NULL`."""
    totals = []
    while True:
        tokens = reader.until(lambda: reader.is_next("="))
        if not tokens or reader.token is None:
            raise reader.fail(f"{clause} takes column = 'value', for example region = 'Total'")
        reader.take()
        is_null = reader.skip("NULL")
        label = "NULL" if is_null else _read_text(reader, "the value in single quotes, or NULL, is expected here")
        totals.append(f"{split_columns(reader, tokens)[0]}={label}")
        if not reader.skip(","):
            return tuple(totals)


def _read_sets(reader: Reader, clause: str) -> str:
    """Read `(region), (region, sector), ()` as the sets of a grouping."""
    sets = []
    while True:
        if not reader.is_next("("):
            raise reader.fail(f"{clause} takes sets in parentheses, for example (region), ()")
        tokens = reader.brackets()
        sets.append("(" + ",".join(split_columns(reader, tokens) if len(tokens) > 2 else ()) + ")")
        if not reader.skip(","):
            return ";".join(sets)


_CELL_CLAUSES: Mapping[str, Callable[[Reader, str], Any]] = {
    "COUNT": _read_single,
    "VALUE": _read_single,
    "CONTRIBUTORS": _read_single,
    "HOLDINGS": _read_single,
    "LARGEST": _read_list,
    "HIDDEN": _read_texts,
    "ZEROS": _read_single,
    "RATE": _read_texts,
    "INSENSITIVE": _read_list,
    "TOTAL": _read_totals,
    "HIERARCHIES": _read_file,
    "STRUCTURAL": _read_condition,
    "PERSON": _read_single,
    "WEIGHT": _read_single,
    "NEGATIVE": _read_single,
    "GROUPING": _read_sets,
    "BEFORE": _read_list,
    "LINKED": _read_list,
}
CLAUSES = tuple(_CELL_CLAUSES)
"""The words that begin a clause of AGGREGATES."""
