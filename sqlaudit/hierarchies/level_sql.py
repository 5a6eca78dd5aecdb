"""Levels as SQL: one expression over a value, the same labels on every engine; listed levels as joined tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from sqlaudit.base.dialects import spoken
from sqlaudit.base.division import remark_on, warn
from sqlaudit.base.errors import UsageError
from sqlaudit.base.guard import guard_expression
from sqlaudit.base.names import closest, literal, quote
from sqlaudit.base.relation import Kind
from sqlaudit.base.sql import Raw, environment, expression
from sqlaudit.hierarchies.hierarchy import Hierarchy
from sqlaudit.hierarchies.levels import (
    TOP,
    DateLevel,
    MappedLevel,
    MaskLevel,
    SqlLevel,
    TopLevel,
    WidthLevel,
    decimal_text,
)
from sqlaudit.hierarchies.matching import matched_rows

VALUE = "value"
"""What a user's expression may call the column, whatever its name."""
_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
_DATES = (Kind.DATE, Kind.TIMESTAMP)
_MASKED = (Kind.TEXT, Kind.INTEGER, Kind.OTHER)
LIMITS = {Kind.FLOAT: 10**15, Kind.INTEGER: 10**20, Kind.DECIMAL: 10**20}
"""Numbers beyond have no interval: exact decimals of every engine hold what lies within."""
_NOTHING = ("NULL", "NULL")
"""What a table of labels holds when a hierarchy names no value of the column: it is joined to nothing."""
_FLOAT_DECIMALS = 20


@dataclass(frozen=True)
class Holds:
    """What a column holds: its kind, and the engine's spelling of its type."""

    kind: Kind
    type: str = ""


@dataclass(frozen=True)
class ReleasedColumn:
    """A column of a release as SQL: an expression for the SELECT list, and what is joined for it (empty = nothing)."""

    expression: str
    join: str = ""


def refuse_kind(hierarchy: Hierarchy, kind: Kind) -> None:
    """Nothing when every level has a meaning for the values of a column.

    Raises:
        UsageError: intervals of texts, masks of fractions, parts of numbers.
    """
    for number, level in enumerate(hierarchy.levels, 1):
        where = f"{hierarchy.column}, level {number} ({level.name})"
        if isinstance(level, WidthLevel) and kind not in _NUMBERS:
            hint = "use 'dates'" if kind in _DATES else "name it as an expression that gives a number"
            raise UsageError(f"{where}: intervals are for numbers, and the column holds {_KINDS[kind]}; {hint}.")
        if isinstance(level, MaskLevel) and kind not in _MASKED:
            hint = "use 'widths'" if kind in _NUMBERS else "use 'dates'" if kind in _DATES else "list its values"
            raise UsageError(
                f"{where}: masks are for texts and whole numbers, and the column holds {_KINDS[kind]}; {hint}."
            )
        if isinstance(level, DateLevel) and kind not in _DATES:
            raise UsageError(
                f"{where}: is for dates, and the column holds {_KINDS[kind]}; name it as an expression, for instance "
                f"CAST({_written(hierarchy.column)} AS DATE)."
            )


_KINDS = {
    Kind.BOOLEAN: "true and false",
    Kind.INTEGER: "whole numbers",
    Kind.DECIMAL: "decimals",
    Kind.FLOAT: "floats",
    Kind.TEXT: "texts",
    Kind.DATE: "dates",
    Kind.TIMESTAMP: "points in time",
    Kind.TIME: "times of day",
    Kind.OTHER: "values of another kind",
}


def _written(name: str) -> str:
    """A column as an expression names it: in quotes where its name is not a plain one."""
    return name if name.isidentifier() else quote(name, "duckdb")


def level_sql(hierarchy: Hierarchy, number: int, value_sql: str, dialect: str, holds: Holds) -> str:
    """The label of a value at a level, as a SQL expression in the engine's dialect.

    NULL has the label NULL below the top, and so has a value that the level does not cover; the default is not applied.

    Args:
        hierarchy: the column's. number: the level; 0 gives the value itself.
        value_sql: the column or expression, in the dialect. holds: what it holds.

    Raises:
        UsageError: a user's expression that is none, or over another column.
        ValueError: a level that lists its values has no expression; see `published`.

    Example:
        >>> from sqlaudit.hierarchies.read import read_hierarchy
        >>> from sqlaudit.base.nodes import nodes_of
        >>> zips = read_hierarchy("zip", nodes_of({"mask": {"keep": [3]}}))
        >>> level_sql(zips, 1, '"zip"', "duckdb", Holds(Kind.TEXT)).split(" || ")[0]
        'LEFT(CAST("zip" AS VARCHAR), 3)'
    """
    level = hierarchy.level(number)
    value = Raw(_operand(value_sql))
    if level is None:
        return value_sql
    if isinstance(level, WidthLevel):
        return _interval(level, value, dialect, holds)
    if isinstance(level, MaskLevel):
        return expression("hierarchies/hierarchy_mask.sql", dialect, value=value, count=level.count, keeps=level.keeps)
    if isinstance(level, DateLevel):
        zoned = "with time zone" in holds.type.lower()
        return expression("hierarchies/hierarchy_date.sql", dialect, value=value, cut=level.part.value, zoned=zoned)
    if isinstance(level, SqlLevel):
        return _own(hierarchy, number, level, value.sql, dialect, holds.kind)
    if isinstance(level, MappedLevel):
        raise ValueError(f"level {number} of {hierarchy.column} lists its values and has no expression")
    return literal(TOP, dialect)


def published(
    hierarchy: Hierarchy, number: int, value_sql: str, dialect: str, holds: Holds, alias: str = "labels"
) -> ReleasedColumn:
    """A column at a level as a release has it: default applied, listed levels as a joined table of the file's values.

    Args:
        hierarchy, number, value_sql, dialect, holds: as for `level_sql`.
        alias: what the joined table is called; one of its own for each column.

    Raises:
        UsageError: as `level_sql`.
    """
    level = hierarchy.level(number)
    if not isinstance(level, MappedLevel) or hierarchy.table is None:
        label = level_sql(hierarchy, number, value_sql, dialect, holds)
        whole = level is None or isinstance(level, TopLevel)
        return ReleasedColumn(label if whole else _or_default(hierarchy, label, value_sql, dialect))
    rows = matched_rows(hierarchy.table, holds.kind, hierarchy)
    name = quote(alias, dialect)
    # what stands here is common to all dialects, and a table of many values would take sqlglot long
    condition = expression(
        "hierarchies/hierarchy_has_key.sql",
        dialect,
        value=Raw(_operand(value_sql)),
        listed=Raw(name + ".sqlaudit_value"),
        kind=holds.kind.value,
        null=any(value is None for value, _ in rows),
    )
    join = (
        environment()
        .get_template("hierarchies/hierarchy_published_labels.sql")
        .render(
            rows=[(_text(value, dialect), _text(labels[level.place], dialect)) for value, labels in rows] or [_NOTHING],
            alias=name,
            condition=condition,
        )
    )
    return ReleasedColumn(_or_default(hierarchy, name + ".sqlaudit_label", value_sql, dialect), join.strip())


def _or_default(hierarchy: Hierarchy, label: str, value_sql: str, dialect: str) -> str:
    if hierarchy.default is None:
        return label
    return expression(
        "hierarchies/hierarchy_default.sql",
        dialect,
        label=Raw(label),
        value=Raw(_operand(value_sql)),
        default=Raw(literal(hierarchy.default, dialect)),
    )


def _text(value: str | None, dialect: str) -> str:
    return "NULL" if value is None else literal(value, dialect)


def _operand(sql: str) -> str:
    """SQL that can stand beside any operator."""
    simple = re.fullmatch(r'"(?:[^"]|"")*"|[A-Za-z_][A-Za-z_0-9.]*', sql)
    return sql if simple else "(" + sql + ")"


def _interval(level: WidthLevel, value: Raw, dialect: str, holds: Holds) -> str:
    def cuts(bound: Fraction | None) -> bool:
        return bound is not None and (bound - level.origin) % level.width != 0

    bounded = level.low is not None and level.high is not None
    return expression(
        "hierarchies/hierarchy_interval.sql",
        dialect,
        value=value,
        kind=holds.kind.value,
        scale=_scale(level, holds),
        plain=holds.kind is Kind.INTEGER and level.decimals == 0 and bounded,
        nan=holds.kind is Kind.FLOAT or (holds.kind is Kind.DECIMAL and spoken(dialect).loose_decimals),
        width=decimal_text(level.width),
        origin=decimal_text(level.origin),
        decimals=level.decimals,
        low=None if level.low is None else decimal_text(level.low),
        high=None if level.high is None else decimal_text(level.high),
        cut_low=cuts(level.low),
        cut_high=cuts(level.high),
        limit=str(LIMITS[holds.kind]),
        upward=level.low is not None and level.low >= level.origin,
    )


def _scale(level: WidthLevel, holds: Holds) -> int:
    """Decimals with which the intervals of a column are computed without rounding."""
    if holds.kind is Kind.FLOAT:
        return _FLOAT_DECIMALS
    found = re.search(r"\(\s*\d+\s*,\s*(\d+)\s*\)", holds.type) if holds.kind is Kind.DECIMAL else None
    return max(level.decimals, int(found[1]) if found else 0)


def _own(hierarchy: Hierarchy, number: int, level: SqlLevel, value: str, dialect: str, kind: Kind) -> str:
    """A user's expression with the column put in; no other column may stand in it."""
    option = f"{hierarchy.place or hierarchy.column}, level {number} of {hierarchy.column!r}"
    tree = guard_expression(level.expression, dialect, option)
    names = {hierarchy.column.casefold(), VALUE}
    warn(remark_on(tree, dict.fromkeys((hierarchy.column.lower(), VALUE), kind), dialect, option))
    for column in list(tree.find_all(exp.Column)):
        if column.name.casefold() not in names:
            known = [hierarchy.column, VALUE]
            raise UsageError(
                f"{option}: an expression is over this column alone, and {column.name!r} is another."
                f"{closest(column.name, known)}"
            )
        replaced = exp.Var(this=value)
        if column is tree:
            tree = replaced
        else:
            column.replace(replaced)
    return expression("hierarchies/hierarchy_own.sql", dialect, value=Raw(tree.sql(dialect=dialect, comments=False)))
