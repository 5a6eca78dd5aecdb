"""`AGGREGATES counts BY (region, sector) COUNT n REQUIRE threshold >= 5`: published cells judged as a statement.

AGGREGATES [ FROM ] { table | 'file' | ( SELECT … ) }
    BY ( column or expression [, …] )
    [ COUNT column ] [ VALUE column ] [ CONTRIBUTORS column ] [ HOLDINGS column ] [ LARGEST column [, …] ]
    [ HIDDEN 'mark' [, …] ] [ TOTAL column = { 'value' | NULL } [, …] ] [ HIERARCHIES 'file' ] [ STRUCTURAL condition ]
    [ PERSON column ] [ WEIGHT column ] [ NEGATIVE { refuse | absolute } ] [ GROUPING ( … ) [, …] ]
    [ BEFORE { table | 'file' } [, …] ] [ LINKED { table | 'file' } [, …] ]
    [ REQUIRE rule { = | >= | <= } limit [, …] ]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import request_from
from sqlaudit.base.words import speaking
from sqlaudit.cli.console.audit_statement import read_relation
from sqlaudit.cli.console.requirement_clause import read_requirements
from sqlaudit.cli.console.words import Reader, items_of
from sqlaudit.models.registry import CELL_RULES
from sqlaudit.tabular.request import AggregatesRequest


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
    return Reader(text, dialect, "the statement").is_word("AGGREGATES")


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
    given: dict[str, Any] = {"microdata": reader.is_word("FROM")}
    if given["microdata"]:
        reader.take()
    relation, query = read_relation(reader)
    if not reader.is_word("BY"):
        raise reader.fail("BY is expected here, with what the table is broken down by: BY (region, sector)")
    reader.take()
    if not reader.is_sign("("):
        raise reader.fail("what the table is broken down by stands in parentheses: BY (region, sector)")
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
    if field != "require" and field.upper() not in _CLAUSES:
        return None
    return " ".join((field.upper(), *map(str, values)))


def _read_clauses(reader: Reader, given: dict[str, Any]) -> None:
    """Every clause once, in any order, REQUIRE as the last."""
    while reader.token is not None and not reader.is_word("REQUIRE"):
        word = reader.token.text.upper()
        if not reader.is_word(*_CLAUSES) or word.lower() in given:
            listed = ", ".join([name for name in _CLAUSES if name.lower() not in given])
            raise reader.fail(f"{listed}, REQUIRE or the end is expected here")
        reader.take()
        given[word.lower()] = _CLAUSES[word](reader, word)
    if reader.token is None:
        return
    reader.take()
    if reader.token is None:
        raise reader.fail("a rule is expected here, for instance threshold >= 5")
    given["require"] = read_requirements(reader, CELL_RULES)


def _several(reader: Reader, clause: str) -> tuple[str, ...]:
    """What stands behind a clause up to the next one; the first word is no clause, whatever it is."""
    if reader.token is None:
        raise reader.fail(f"something is expected after {clause}")
    tokens = reader.brackets() if reader.is_sign("(") else [reader.take()]
    while reader.token is not None and not reader.is_word(*_CLAUSES, "REQUIRE"):
        comma = reader.is_sign(",")
        tokens += reader.brackets() if reader.is_sign("(") else [reader.take()]
        if comma and reader.token is not None and not reader.is_sign("("):
            tokens.append(reader.take())
    return items_of(reader, tokens)


def _one(reader: Reader, clause: str) -> str:
    start = reader.tokens[reader.at].start if reader.token is not None else len(reader.text)
    found = _several(reader, clause)
    if len(found) != 1:
        raise reader.error(f"{clause} takes one column", start)
    return found[0]


def _condition(reader: Reader, clause: str) -> str:
    """A condition as it was typed: its words are no list."""
    tokens = reader.until(lambda: reader.is_word(*_CLAUSES, "REQUIRE"))
    if not tokens:
        raise reader.fail(f"something is expected after {clause}")
    return reader.source(tokens)


def _texts(reader: Reader, clause: str) -> tuple[str, ...]:
    """Texts in single quotes."""
    found = [_text(reader, f"a text in single quotes is expected after {clause}")]
    while reader.is_sign(","):
        reader.take()
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
        tokens = reader.until(lambda: reader.is_sign("="))
        if not tokens or reader.token is None:
            raise reader.fail(f"{clause} takes column = 'value', for instance region = 'Total'")
        reader.take()
        is_null = reader.is_word("NULL")
        label = "NULL" if is_null else _text(reader, "the value in single quotes, or NULL, is expected here")
        reader.at += is_null
        found.append(f"{items_of(reader, tokens)[0]}={label}")
        if not reader.is_sign(","):
            return tuple(found)
        reader.take()


def _sets(reader: Reader, clause: str) -> str:
    """`(region), (region, sector), ()` as the sets of a grouping."""
    found = []
    while True:
        if not reader.is_sign("("):
            raise reader.fail(f"{clause} takes sets in parentheses, for instance (region), ()")
        tokens = reader.brackets()
        found.append("(" + ",".join(items_of(reader, tokens) if len(tokens) > 2 else ()) + ")")
        if not reader.is_sign(","):
            return ";".join(found)
        reader.take()


_CLAUSES: Mapping[str, Callable[[Reader, str], Any]] = {
    "COUNT": _one,
    "VALUE": _one,
    "CONTRIBUTORS": _one,
    "HOLDINGS": _one,
    "LARGEST": _several,
    "HIDDEN": _texts,
    "TOTAL": _totals,
    "HIERARCHIES": _file,
    "STRUCTURAL": _condition,
    "PERSON": _one,
    "WEIGHT": _one,
    "NEGATIVE": _one,
    "GROUPING": _sets,
    "BEFORE": _several,
    "LINKED": _several,
}
CLAUSES = tuple(_CLAUSES)
"""The words that begin a clause."""
