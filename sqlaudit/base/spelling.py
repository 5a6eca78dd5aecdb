"""Templates in another dialect than DuckDB's: sqlglot spells them, raw SQL goes through unchanged."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

import sqlglot
from sqlglot import ErrorLevel, exp
from sqlglot.dialects.dialect import Dialect

from sqlaudit.base.spark_spelling import for_spark
from sqlaudit.base.sql import PLACEHOLDER

_PLACED = re.compile(rf"\b({PLACEHOLDER}\d+)(_table)?\b")


def spell(text: str, dialect: str, raws: dict[str, str], plain_order: bool = False) -> str:
    """The text in another dialect; placeholders become the engine's own SQL, letter by letter."""
    tables = frozenset(name for name, item in raws.items() if item.startswith("("))
    spelled = _spelled(text, dialect, plain_order, tables)
    return _PLACED.sub(lambda found: _put(raws, *found.groups()), spelled) if raws else spelled


@functools.lru_cache(maxsize=512)
def _spelled(text: str, dialect: str, plain_order: bool, subqueries: frozenset[str]) -> str:
    """The text in another dialect with its placeholders still in it, so that the same question is spelled once."""
    tree = sqlglot.parse_one(text, dialect="duckdb")
    if plain_order:
        _order_plainly(tree, dialect)
    if dialect == "spark":
        tree = for_spark(tree)
    for node in list(tree.find_all(exp.Column, exp.Table)):
        if not node.name.startswith(PLACEHOLDER):
            continue
        if isinstance(node, exp.Table):
            node.set("this", exp.Var(this=f"{node.name}_table"))
            if node.this.name.removesuffix("_table") in subqueries and not node.alias:
                # PostgreSQL before 16 wants a name for every subquery
                node.set("alias", exp.TableAlias(this=exp.to_identifier("source")))
        else:
            node.replace(exp.Var(this=node.name))
    return tree.sql(dialect=dialect, pretty=True, unsupported_level=ErrorLevel.RAISE, copy=False)


def _put(raws: Mapping[str, str], name: str, table: str | None) -> str:
    """What stands for a placeholder: a FROM item as it is, an expression so that it can stand beside any operator."""
    return raws[name] if table else _operand(raws[name])


def _order_plainly(tree: exp.Expr, dialect: str) -> None:
    """Put NULLs where the dialect puts them, so that it is not told where they go."""
    ordering = Dialect.get_or_raise(dialect).NULL_ORDERING
    for node in tree.find_all(exp.Ordered):
        falling = bool(node.args.get("desc"))
        node.set("nulls_first", ordering != "nulls_are_last" and falling == (ordering == "nulls_are_large"))


def _operand(sql: str) -> str:
    """An expression that can stand beside any operator."""
    is_name = any(sql.startswith(mark) and sql.endswith(mark) and sql.count(mark) == 2 for mark in '"`')
    return sql if is_name or sql.isidentifier() else "(" + sql + ")"
