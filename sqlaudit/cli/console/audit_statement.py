"""`AUDIT relation BY (age, sex) SENSITIVE disease REQUIRE k >= 5`: an audit as a statement.

AUDIT { table | 'file' | ( SELECT … ) }
    BY ( column or expression [, …] )
    [ SENSITIVE column [, …] ]
    [ ENTITY column ]
    [ REQUIRE model { = | >= | <= | < | > } limit [, …] ]
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Requirement, Roles
from sqlaudit.cli.console.requirement_clause import read_requirements
from sqlaudit.cli.console.words import Reader, items_of

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
    reader = Reader(text, dialect, "the statement")
    return reader.is_word("AUDIT")


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
    if not reader.is_word("BY"):
        raise reader.fail("BY is expected here, with the quasi-identifiers in parentheses: BY (age, sex)")
    reader.take()
    if not reader.is_sign("("):
        raise reader.fail("the quasi-identifiers stand in parentheses: BY (age, sex)")
    known = items_of(reader, reader.brackets())
    sensitive, entity, requirements = _clauses(reader)
    try:
        roles = Roles(known, sensitive, entity=entity)
    except UsageError as error:
        raise reader.error(str(error).rstrip("."), 0) from None
    return AuditStatement(relation, query, roles, requirements)


def read_relation(reader: Reader) -> tuple[str, str]:
    """A table or file by its name, or the text of a SELECT."""
    if reader.is_sign("("):
        inside = reader.brackets()[1:-1]
        if not inside:
            raise reader.error("a SELECT is expected in these parentheses", reader.tokens[1].start)
        return "", reader.source(inside)
    token = reader.token
    if token is not None and token.token_type.name == "STRING":
        return reader.take().text, ""
    tokens = reader.until(lambda: reader.is_word("BY", *_CLAUSES))
    if not tokens:
        raise reader.fail("a table, a file in single quotes or a (SELECT …) is expected here")
    for before, after in itertools.pairwise(tokens):
        if after.start != before.end + 1:
            raise reader.error("BY is expected here", after.start)
    return reader.source(tokens), ""


def _clauses(reader: Reader) -> tuple[tuple[str, ...], str | None, tuple[Requirement, ...]]:
    sensitive: tuple[str, ...] = ()
    entity: str | None = None
    if reader.is_word("SENSITIVE"):
        sensitive = _columns(reader, "SENSITIVE")
    if reader.is_word("ENTITY"):
        start = reader.at
        named = _columns(reader, "ENTITY")
        if len(named) != 1:
            raise reader.error(
                "ENTITY takes one column: the one that says which person a row is about", reader.tokens[start].start
            )
        entity = named[0]
    requirements: tuple[Requirement, ...] = ()
    if reader.is_word("REQUIRE"):
        reader.take()
        if reader.token is None:
            raise reader.fail("a requirement is expected here, for instance k >= 5")
        requirements = read_requirements(reader)
    if reader.token is not None:
        raise reader.fail("SENSITIVE, ENTITY, REQUIRE or the end is expected here, in this order")
    return sensitive, entity, requirements


def _columns(reader: Reader, clause: str) -> tuple[str, ...]:
    reader.take()
    tokens = reader.until(lambda: reader.is_word(*_CLAUSES, "BY"))
    if not tokens:
        raise reader.fail(f"a column is expected after {clause}")
    found = items_of(reader, tokens)
    if len(found) > 1 and "," not in reader.source(tokens):
        raise reader.error("a comma, REQUIRE or the end is expected here", tokens[1].start)
    return found
