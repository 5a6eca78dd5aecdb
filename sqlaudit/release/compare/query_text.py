"""Aggregate queries as users write them, taken apart: what is counted, by what it is grouped, on which conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlaudit.base.errors import UsageError
from sqlaudit.base.guard import refuse_deep, too_deep
from sqlaudit.base.words import about, spelled
from sqlaudit.base.written import read_statements, refuse_alias

AGGREGATES: dict[Any, str] = {exp.Count: "COUNT", exp.Sum: "SUM", exp.Avg: "AVG"}
_PARTS = {"expressions", "from_", "from", "where", "group", "kind"}


@dataclass(frozen=True)
class AggregateQuery:
    """One query.

    Args:
        number: 1, 2, … in the order of the file. aggregate: COUNT, SUM or AVG.
        summed: the text of what is added up, empty for COUNT(*).
        groups: names of the columns that it groups by. conditions: texts that must all hold.
        columns: for each condition the names of its columns.
    """

    number: int
    aggregate: str
    summed: str
    summed_columns: tuple[str, ...]
    groups: tuple[str, ...]
    conditions: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]

    @property
    def option(self) -> str:
        """What errors call it."""
        return f"{spelled('queries')}, query {self.number}"


def read_queries(texts: Sequence[str], dialect: str) -> list[AggregateQuery]:
    """The queries in some texts; each text may hold several, separated by semicolons.

    The table that a query names does not matter: it is asked of the original and of the release.

    Args:
        texts: SQL. dialect: the sqlglot name of the engine's dialect.

    Raises:
        UsageError: something that is not one SELECT of one aggregate over one table; the query's number is named.

    Example:
        >>> found = read_queries(["SELECT COUNT(*) FROM t WHERE age > 30 AND sex = 'f'"], "duckdb")
        >>> found[0].aggregate, found[0].columns
        ('COUNT', (('age',), ('sex',)))
    """
    trees: list[exp.Expression] = []
    for text in texts:
        try:
            trees += read_statements(text, dialect, f"{about('queries')}: after query {len(trees)} a text")
        except SqlglotError:
            raise UsageError(f"{about('queries')}: after query {len(trees)} a text could not be read as SQL.") from None
        except RecursionError:
            raise too_deep(f"{about('queries')}: after query {len(trees)} a text") from None
    trees = [tree for tree in trees if not isinstance(tree, exp.Semicolon)]
    for number, tree in enumerate(trees, 1):
        refuse_deep(tree, f"{spelled('queries')}, query {number}")
    return [_query(tree, number, dialect) for number, tree in enumerate(trees, 1)]


def _query(tree: exp.Expression, number: int, dialect: str) -> AggregateQuery:
    option = f"{spelled('queries')}, query {number}"
    if not isinstance(tree, exp.Select):
        raise UsageError(f"{option} is no SELECT.")
    present = {key for key, value in tree.args.items() if value}
    if present - _PARTS or list(tree.find_all(exp.Subquery, exp.Window)):
        raise UsageError(f"{option}: a query is SELECT … FROM one table WHERE … GROUP BY …, nothing more.")
    aggregates = [node for node in tree.expressions if isinstance(node.unalias(), exp.AggFunc)]
    groups = _groups(tree, option)
    plain = [node.unalias() for node in tree.expressions if node not in aggregates]
    if len(aggregates) != 1 or any(not isinstance(node, exp.Column) or node.name not in groups for node in plain):
        raise UsageError(f"{option}: select one COUNT(*), SUM or AVG, and columns that the query groups by.")
    name, summed = _aggregate(aggregates[0].unalias(), option)
    where = tree.args.get("where")
    for part in (summed, where, tree.args.get("group")):
        if part is not None:
            refuse_alias(part, option)
    conditions = _conjuncts(where.this) if where else []
    return AggregateQuery(
        number,
        name,
        "" if summed is None else summed.sql(dialect=dialect),
        () if summed is None else _columns(summed),
        groups,
        tuple(one.sql(dialect=dialect) for one in conditions),
        tuple(_columns(one) for one in conditions),
    )


def _conjuncts(condition: Any) -> list[Any]:
    return list(condition.flatten()) if isinstance(condition, exp.And) else [condition]


def _aggregate(node: Any, option: str) -> tuple[str, Any]:
    name = AGGREGATES.get(type(node))
    inner = node.this
    if name is None or isinstance(inner, exp.Distinct):
        raise UsageError(f"{option}: the aggregate is COUNT(*), SUM(column) or AVG(column).")
    if name == "COUNT":
        if not isinstance(inner, exp.Star):
            raise UsageError(f"{option}: count rows with COUNT(*); for rows that have a value add IS NOT NULL.")
        return name, None
    return name, inner


def _groups(tree: exp.Select, option: str) -> tuple[str, ...]:
    group = tree.args.get("group")
    if group is None:
        return ()
    if {key for key, value in group.args.items() if value} != {"expressions"}:
        raise UsageError(f"{option}: GROUP BY takes columns.")
    if not all(isinstance(node, exp.Column) for node in group.expressions):
        raise UsageError(f"{option}: GROUP BY takes columns.")
    return tuple(node.name for node in group.expressions)


def _columns(node: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(column.name for column in node.find_all(exp.Column)))
