"""Divisions that engines read in two ways: of whole numbers PostgreSQL drops the fraction, DuckDB and Spark keep it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping

from sqlglot import exp

from sqlaudit.base.dialects import spoken
from sqlaudit.base.errors import DivisionWarning
from sqlaudit.base.relation import ColumnInfo, Kind, Remark
from sqlaudit.base.words import about
from sqlaudit.base.written import written_tree

DIVISION = "division_of_whole_numbers"
"""The code of these remarks in results."""
_CUTTING = ("floor", "trunc")
"""Functions of a quotient that give the same on every engine, of numbers that are not negative."""
_COUNTING = ("length", "char_length", "character_length", "octet_length", "ascii", "strpos", "position", "strposition")
_KEEPING = ("abs", "mod", "greatest", "least", "coalesce", "nullif")
_JOINING = (exp.Add, exp.Sub, exp.Mul, exp.Mod, exp.Div, exp.IntDiv, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor)


def remark_on(tree: exp.Expr, kinds: Mapping[str, Kind], dialect: str, what: str, *, shown: bool = True) -> str:
    """What to say of an expression that divides whole numbers; empty when it does not.

    Args:
        tree: the expression. kinds: what the columns hold, by their name in lower case. dialect: of the engine.
        what: how the sentence calls the expression. shown: whether numbers of it may stand in the sentence.

    Example:
        >>> (age,) = written_tree("SELECT age / 20", "postgres")
        >>> print(remark_on(age, {"age": Kind.INTEGER}, "postgres", "age / 20"))
        age / 20 divides whole numbers: PostgreSQL gives whole numbers, where DuckDB and Spark would give fractions. \
Write floor(age / 20.0) for whole numbers, age / 20.0 for fractions.
    """
    for division in tree.find_all(exp.Div):
        if _is_whole(division.this, kinds) and _is_whole(division.expression, kinds) and not _is_cut(division):
            return f"{what} divides whole numbers: {spoken(dialect).division}. {_advice(division, dialect, shown)}"
    return ""


def remark_on_text(sql: str, columns: Iterable[ColumnInfo], dialect: str, what: str) -> str:
    """The same for SQL over a relation's columns."""
    (select,) = written_tree("SELECT " + sql, dialect)
    return "" if select is None else remark_on(select, kinds_of(columns), dialect, what)


def condition_remarks(tree: exp.Expr | None, columns: Iterable[ColumnInfo], dialect: str) -> tuple[Remark, ...]:
    """What to say of a --where, also as a warning; its numbers are told nobody."""
    if tree is None:
        return ()
    remark = remark_on(tree, kinds_of(columns), dialect, about("where"), shown=False)
    warn(remark)
    return (Remark(DIVISION, remark),) if remark else ()


def kinds_of(columns: Iterable[ColumnInfo]) -> dict[str, Kind]:
    """What columns hold, by their name in lower case."""
    return {column.name.lower(): column.kind for column in columns}


def warn(remark: str) -> None:
    """Issue a remark as a `DivisionWarning`; nothing when it is empty."""
    if remark:
        warnings.warn(remark, DivisionWarning, stacklevel=2)


def _advice(division: exp.Div, dialect: str, shown: bool) -> str:
    if not shown:
        return "Write the divisor with a decimal point for fractions (2.0), and floor() around that for whole numbers."
    left, right = (_readable(side, dialect) for side in (division.this, division.expression))
    exact = right + ".0" if isinstance(division.expression, exp.Literal) else f"({right} * 1.0)"
    whole = spoken(dialect).whole_division.format(left=left, right=right, exact=exact)
    return f"Write {whole} for whole numbers, {left} / {exact} for fractions."


def _readable(node: exp.Expr, dialect: str) -> str:
    """SQL without the quotes that plain names do not need."""
    shown = node.copy()
    for name in shown.find_all(exp.Identifier):
        if name.name.isidentifier() and name.name.islower():
            name.set("quoted", False)
    return str(shown.sql(dialect=dialect))


def _is_cut(division: exp.Div) -> bool:
    parent = division.parent
    while isinstance(parent, exp.Paren):
        parent = parent.parent
    return parent is not None and _name(parent) in _CUTTING


def _name(node: exp.Expr) -> str:
    return node.name.lower() if isinstance(node, exp.Anonymous) else str(node.key)


def _is_whole(node: exp.Expr, kinds: Mapping[str, Kind]) -> bool:
    """Whether a node gives whole numbers on every engine."""
    if isinstance(node, exp.Literal):
        return not node.is_string and node.name.isdecimal()
    if isinstance(node, exp.Column):
        return kinds.get(node.name.lower()) is Kind.INTEGER
    if isinstance(node, exp.Cast):
        return node.to.this in exp.DataType.INTEGER_TYPES
    if isinstance(node, exp.Sub) and all(_is_date(side, kinds) for side in (node.this, node.expression)):
        return True
    parts = _parts(node)
    return _name(node) in _COUNTING or (bool(parts) and all(_is_whole(part, kinds) for part in parts))


def _parts(node: exp.Expr) -> list[exp.Expr]:
    """The parts of a node that gives whole numbers when all of them do; none for another node."""
    if isinstance(node, exp.Case):
        results = [branch.args["true"] for branch in node.args["ifs"]] + [node.args.get("default") or exp.null()]
        return [one for one in results if not isinstance(one, exp.Null)]
    if isinstance(node, (exp.Paren, exp.Neg, *_JOINING)) or _name(node) in _KEEPING:
        return list(node.iter_expressions())
    return []


def _is_date(node: exp.Expr, kinds: Mapping[str, Kind]) -> bool:
    return isinstance(node, exp.Column) and kinds.get(node.name.lower()) is Kind.DATE
