"""Everything that reads a text which somebody wrote, called without a table: one text, all readers.

Fast enough for millions of texts, and what `benchmarks/fuzz_coverage.py` steers by coverage.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sqlglot import exp

from sqlaudit.base.errors import SqlauditError
from sqlaudit.base.guard import guard_expression, guard_query
from sqlaudit.base.names import quote, split_name
from sqlaudit.base.numbers import exact_share
from sqlaudit.base.options import DELIMITER
from sqlaudit.base.relation import Kind
from sqlaudit.cli.console.grammar import parse_audit, parse_cells
from sqlaudit.cli.console.statements import is_complete, pending, split
from sqlaudit.cli.requests import null_values, split_list
from sqlaudit.gates.standalone.names import find_dialect
from sqlaudit.hierarchies.cells import read_cell
from sqlaudit.models.registry import parse_requirement
from sqlaudit.release.compare.query_text import read_queries
from sqlaudit.reports.document import markdown, visible

DIALECTS = ("duckdb", "postgres", "spark")
WRITES = (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create, exp.Drop, exp.Alter, exp.Command, exp.Into)


def read_everywhere(text: str) -> int:
    """How many of the readers took the text; the others refused it with a sentence.

    Raises:
        AssertionError: a reader let something pass that it should not. Any other exception: a reader's fault.
    """
    taken = 0
    for reader in READERS:
        try:
            reader(text)
        except SqlauditError:
            continue
        taken += 1
    return taken


def _query(text: str) -> None:
    """What passes is one statement that only reads, and stays so when it is spelled and read again."""
    for dialect in DIALECTS:
        tree = guard_query(text, dialect)
        assert isinstance(tree, exp.Query)
        again = guard_query(tree.sql(dialect=dialect), dialect)
        assert not list(again.find_all(*WRITES))


def _expression(text: str) -> None:
    """What passes is one expression, also between other words."""
    for dialect in DIALECTS:
        spelled = guard_expression(text, dialect, "--where").sql(dialect=dialect)
        around = guard_query("SELECT 1 FROM t WHERE (" + spelled + ") AND marker", dialect)
        assert isinstance(around, exp.Select)
        assert around.args["where"].this.right.name == "marker"
        assert not list(around.find_all(exp.Union, *WRITES))


def _names(text: str) -> None:
    """A quoted name is one token, which means the text."""
    for dialect in DIALECTS:
        parts = split_name(quote(text, "duckdb")) if text else (text,)
        assert parts == (text,)
        quoted = quote(text, dialect)
        if "\x00" not in text and text:
            (found,) = guard_query("SELECT " + quoted + " FROM t", dialect).expressions
            assert (found.name, found.this.quoted) == (text, True)
    split_name(text)


def _cells(text: str) -> None:
    for kind in Kind:
        read_cell(text, kind)


def _console(text: str) -> None:
    for piece in split(text, "duckdb"):
        is_complete(piece.text, "duckdb")
    pending(text, "duckdb")


def _shown(text: str) -> None:
    """What a report shows steers nothing, and a table of Markdown stays one."""
    assert not [c for c in visible(text) if ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or 0xD800 <= ord(c) < 0xE000]
    cell = markdown(text)
    assert "\n" not in cell
    assert "<" not in cell


READERS: tuple[Callable[[str], object], ...] = (
    _query,
    _expression,
    _names,
    _cells,
    _console,
    _shown,
    split_list,
    partial(DELIMITER.read, "delimiter"),
    null_values,
    parse_requirement,
    find_dialect,
    exact_share,
    lambda text: parse_audit(text, "duckdb"),
    lambda text: parse_cells(text, "duckdb"),
    lambda text: read_queries([text], "duckdb"),
)
