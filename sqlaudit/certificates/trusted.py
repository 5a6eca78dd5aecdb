"""Expressions in the place of columns, where somebody else wrote them: only those that can do nothing but compute."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from sqlaudit.base.columns_of import find_column
from sqlaudit.base.errors import UsageError
from sqlaudit.base.guard import guard_expression
from sqlaudit.base.relation import Relation
from sqlaudit.base.words import spelled

_FUNCTIONS = frozenset(
    {
        "abs",
        "ceil",
        "ceiling",
        "coalesce",
        "date_part",
        "date_trunc",
        "day",
        "dayofmonth",
        "extract",
        "floor",
        "greatest",
        "least",
        "left",
        "length",
        "lower",
        "ltrim",
        "month",
        "nullif",
        "quarter",
        "right",
        "round",
        "rtrim",
        "substr",
        "substring",
        "trim",
        "upper",
        "year",
    }
)
"""Functions of one row's values, cheap and without side effects, on every engine."""
_PLAIN = frozenset(
    {
        "Column",
        "Identifier",
        "Literal",
        "Null",
        "Boolean",
        "Paren",
        "Neg",
        "Not",
        "Case",
        "If",
        "In",
        "Tuple",
        "Between",
        "Is",
        "Cast",
        "TryCast",
        "DataType",
        "DataTypeParam",
        "Interval",
        "Var",
        "Add",
        "Sub",
        "Mul",
        "Div",
        "IntDiv",
        "Mod",
        "EQ",
        "NEQ",
        "GT",
        "GTE",
        "LT",
        "LTE",
        "And",
        "Or",
        "TsOrDsToDate",
    }
)
"""What an expression of arithmetic, comparisons and CASE is made of."""


def refuse_untrusted(names: Iterable[str], relation: Relation, dialect: str) -> None:
    """Nothing when each is the name of a column, or an expression of arithmetic, CASE and common functions.

    Raises:
        UsageError: one is more than that.
    """
    for name in names:
        if find_column(name, relation) is None and not _computes_only(guard_expression(name, dialect, "certificate")):
            raise UsageError(
                "The certificate has SQL in the place of a column that is more than arithmetic, CASE and common "
                "functions. It was not run. Read it in the certificate, under asked.roles; if you trust it, say "
                f"{spelled('trust_expressions', True)}."
            )


def _computes_only(tree: exp.Expression) -> bool:
    return all(_is_plain(node) for node in tree.walk())


def _is_plain(node: exp.Expr) -> bool:
    if isinstance(node, exp.Anonymous):
        return node.name.lower() in _FUNCTIONS
    if type(node).__name__ in _PLAIN:
        return True
    return isinstance(node, exp.Func) and node.sql_name().lower() in _FUNCTIONS
