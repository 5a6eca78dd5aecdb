"""The statements AUDIT and AGGREGATES: their clauses are options of the requests that they make."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlaudit.audits.request import AuditRequest
from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import Option, all_options_of, request_from
from sqlaudit.base.parameter_names import speaking
from sqlaudit.base.spec import Requirement, Target
from sqlaudit.cli.console.statements import Reader, split_columns
from sqlaudit.models.registry import CELL_RULES, REGISTRY, Among, contradiction, parse_requirement
from sqlaudit.tabular.request import CELLS, ROWS, TOTALS, AggregatesRequest

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


# A statement: a table, the columns of BY, and clauses. Each clause is an option of the request.
#
# AUDIT { table | 'file' | ( SELECT … ) }
#     BY ( column or expression [, …] )
#     [ SENSITIVE column [, …] ]
#     [ ENTITY column ]
#     [ REQUIRE model { = | >= | <= | < | > } limit [, …] ]
#
# AGGREGATES [ FROM ] { table | 'file' | ( SELECT … ) }
#     [ BY ( column or expression [, …] ) ]           -- needed but for a SELECT that is one answer
#     [ COUNT column ] [ VALUE column ] [ CONTRIBUTORS column ] [ HOLDINGS column ] [ LARGEST column [, …] ]
#     [ HIDDEN 'mark' [, …] ] [ ZEROS { shown | hidden } ] [ RATE 'rate=n/d' [, …] ] [ INSENSITIVE column [, …] ]
#     [ TOTAL column = { 'value' | NULL } [, …] ] [ HIERARCHIES { 'file' | 'column=codes' } ]
#     [ STRUCTURAL condition ]
#     [ PERSON column ] [ WEIGHT column ] [ NEGATIVE { refuse | absolute } ] [ GROUPING ( … ) [, …] ]
#     [ BEFORE { table | 'file' } [, …] ] [ LINKED { table | 'file' } [, …] ]
#     [ REQUIRE rule { = | >= | <= } limit [, …] ]

ClauseReader = Callable[[Reader, str], Any]
"""Reads what stands behind the word of a clause."""


@dataclass(frozen=True)
class Grammar:
    """How a statement says the options of a request.

    Args:
        word: the first word.
        by: the option of BY.
        in_brackets: what BY has in its brackets, with an example.
        requirement: what REQUIRE has, with an example.
        among: the models that may be required.
        clauses: the reader of each clause but REQUIRE, by its word, which is the name of the option.
        in_order: whether clauses stand in this order.
        answers: whether a SELECT without BY is one answer, whose dimensions are its own.
    """

    word: str
    by: str
    in_brackets: tuple[str, str]
    requirement: str
    among: Among
    clauses: Mapping[str, ClauseReader]
    in_order: bool
    answers: bool = False

    def is_begun(self, text: str, dialect: str) -> bool:
        """Return True if a text begins with the word of the statement."""
        return Reader(text, dialect, "the statement").is_next(self.word)

    def read(self, reader: Reader, given: dict[str, object]) -> dict[str, object]:
        """Read the statement behind its first word, and return what it gives for the options of its request.

        Args:
            reader: at the table.
            given: what the first words gave.

        Raises:
            StatementError: it is no such statement.
        """
        what, example = self.in_brackets
        relation, query = read_relation(reader)
        given["target"] = Target(relation, query)
        if not (self.answers and query and not given.get("microdata")) or reader.is_next("BY"):
            reader.expect("BY", f"BY is expected here, with the {what} in parentheses: {example}")
            if not reader.is_next("("):
                raise reader.fail(f"the {what} must be in parentheses: {example}")
            given[self.by] = split_columns(reader, reader.brackets())
        self._read_clauses(reader, given)
        if reader.skip("REQUIRE"):
            if reader.token is None:
                raise reader.fail(f"{self.requirement}")
            given["require"] = read_requirements(reader, self.among)
        return given

    def _read_clauses(self, reader: Reader, given: dict[str, object]) -> None:
        """Read the clauses up to REQUIRE, each once."""
        left = list(self.clauses)
        while reader.token is not None and not reader.is_next("REQUIRE"):
            word = reader.token.text.upper()
            if not reader.is_next(*left):
                words = ", ".join(self.clauses if self.in_order else left)
                order = ", in this order" if self.in_order else ""
                raise reader.fail(f"{words}, REQUIRE or the end is expected here{order}")
            reader.take()
            given[word.lower()] = self.clauses[word](reader, word)
            left = left[left.index(word) + 1 :] if self.in_order else [name for name in left if name != word]


def clauses_of(
    options: Iterable[Option], by_kind: Mapping[str, ClauseReader], by_name: Mapping[str, ClauseReader]
) -> dict[str, ClauseReader]:
    """Return the reader of each option, by the word of its clause: the option's own, or that of its kind."""
    return {option.name.upper(): by_name.get(option.name) or by_kind[option.kind.name] for option in options}


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
    tokens = reader.until(lambda: reader.is_next("BY", *_ROLES))
    if not tokens:
        raise reader.fail("a table, a file in single quotes or a (SELECT …) is expected here")
    for before, after in itertools.pairwise(tokens):
        if after.start != before.end + 1:
            raise reader.error("BY is expected here", after.start)
    return reader.source(tokens), ""


def _read_columns(reader: Reader, clause: str) -> tuple[str, ...]:
    """Read the columns of a clause of AUDIT."""
    tokens = reader.until(lambda: reader.is_next(*_ROLES, "REQUIRE", "BY"))
    if not tokens:
        raise reader.fail(f"a column is expected after {clause}")
    columns = split_columns(reader, tokens)
    if len(columns) > 1 and "," not in reader.source(tokens):
        raise reader.error("a comma, REQUIRE or the end is expected here", tokens[1].start)
    return columns


def _read_person(reader: Reader, clause: str) -> str:
    """Read the one column of a role."""
    at_clause = reader.tokens[reader.at - 1].start
    columns = _read_columns(reader, clause)
    if len(columns) != 1:
        raise reader.error(f"{clause} takes one column: the one that identifies the person", at_clause)
    return columns[0]


def _read_list(reader: Reader, clause: str) -> tuple[str, ...]:
    """Read the list of a clause up to the next clause. The first word is part of the list, whatever it is."""
    if reader.token is None:
        raise reader.fail(f"something is expected after {clause}")
    tokens = reader.brackets() if reader.is_next("(") else [reader.take()]
    while reader.token is not None and not reader.is_next(*_CELL_WORDS, "REQUIRE"):
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
    tokens = reader.until(lambda: reader.is_next(*_CELL_WORDS, "REQUIRE"))
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


_ROLES = ("SENSITIVE", "ENTITY")
_AUDIT = Grammar(
    "AUDIT",
    "qi",
    ("quasi-identifiers", "BY (age, sex)"),
    "a requirement is expected here, for example k >= 5",
    REGISTRY,
    clauses_of(
        (option for option in all_options_of(AuditRequest) if option.name.upper() in _ROLES),
        {"names": _read_columns, "column": _read_person},
        {},
    ),
    in_order=True,
)
_CELL_OPTIONS = tuple(
    option
    for option in all_options_of(AggregatesRequest)
    if option.section in (CELLS, TOTALS, ROWS) and option.name not in ("by", "values", "microdata")
)
_CELL_WORDS = tuple(option.name.upper() for option in _CELL_OPTIONS)
_AGGREGATES = Grammar(
    "AGGREGATES",
    "by",
    ("dimensions", "BY (region, sector)"),
    "a rule is expected here, for example threshold >= 5",
    CELL_RULES,
    clauses_of(
        _CELL_OPTIONS,
        {
            "column": _read_single,
            "choice": _read_single,
            "names": _read_list,
            "tables": _read_list,
            "texts": _read_texts,
            "source": _read_file,
        },
        {"rate": _read_texts, "total": _read_totals, "structural": _read_condition, "grouping": _read_sets},
    ),
    in_order=False,
    answers=True,
)
CLAUSES = _CELL_WORDS
"""The words that begin a clause of AGGREGATES."""


def is_audit(text: str, dialect: str) -> bool:
    """Return True if a statement begins with the word AUDIT.

    Example:
        >>> is_audit("audit people BY (age)", "duckdb"), is_audit("SELECT audit FROM t", "duckdb")
        (True, False)
    """
    return _AUDIT.is_begun(text, dialect)


def parse_audit(text: str, dialect: str, first_line: int = 1) -> AuditRequest:
    """Parse an AUDIT statement. Its target is named as it is written.

    Args:
        text: the statement.
        dialect: of names and expressions.
        first_line: its first line in a script.

    Raises:
        StatementError: it is no such statement. The message has line and column, `pointed` shows the position.

    Example:
        >>> audit = parse_audit("AUDIT people BY (age, year(birth)) SENSITIVE disease REQUIRE k >= 5, l >= 2", "duckdb")
        >>> audit.target.relation, audit.roles.quasi_identifiers, [limit.text for limit in audit.requirements]
        ('people', ('age', 'year(birth)'), ['k=5', 'l=2'])
    """
    reader = Reader(text, dialect, "AUDIT", first_line)
    reader.take()
    given = _AUDIT.read(reader, {})
    try:
        return request_from(AuditRequest, given)
    except UsageError as error:
        raise reader.error(str(error).rstrip("."), 0) from None


def is_cells(text: str, dialect: str) -> bool:
    """Return True if a statement begins with the word AGGREGATES.

    Example:
        >>> is_cells("aggregates counts BY (region)", "duckdb"), is_cells("SELECT aggregates FROM t", "duckdb")
        (True, False)
    """
    return _AGGREGATES.is_begun(text, dialect)


def parse_cells(text: str, dialect: str, first_line: int = 1) -> AggregatesRequest:
    """Parse an AGGREGATES statement. Its tables are named as they are written.

    Args:
        text: the statement.
        dialect: of names and expressions.
        first_line: its first line in a script.

    Raises:
        StatementError: it is no such statement. The message has line and column, `pointed` shows the position.

    Example:
        >>> cells = parse_cells("AGGREGATES counts BY (region, sector) COUNT n REQUIRE threshold >= 5", "duckdb")
        >>> cells.target.relation, cells.by, cells.count, cells.requirements[0].text
        ('counts', ('region', 'sector'), 'n', 'threshold=5')
    """
    reader = Reader(text, dialect, "AGGREGATES", first_line)
    reader.take()
    given = _AGGREGATES.read(reader, {"microdata": reader.skip("FROM")})
    try:
        with speaking(in_the_statement):
            return request_from(AggregatesRequest, given)
    except UsageError as error:
        raise reader.error(str(error).rstrip("."), 0) from None


def in_the_statement(field: str, values: tuple[object, ...]) -> str | None:
    r"""Return how AGGREGATES spells a field of its request, None if it has no clause for it.

    Example:
        >>> in_the_statement("count", ()), in_the_statement("require", ("threshold=5",)), in_the_statement("to", ())
        ('COUNT', 'REQUIRE threshold=5', None)
    """
    if field == "by":
        return f"BY ({', '.join(map(str, values))})" if values else "BY"
    if field == "microdata":
        return "AGGREGATES FROM"
    if field != "require" and field.upper() not in _CELL_WORDS:
        return None
    return " ".join((field.upper(), *map(str, values)))
