"""What-if on the roles: quasi-identifiers taken out, put in, and made coarser."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from sqlaudit.base.columns_of import find_column, resolve, unknown_column
from sqlaudit.base.errors import UsageError
from sqlaudit.base.guard import guard_expression
from sqlaudit.base.names import closest, quote
from sqlaudit.base.numbers import exact_number
from sqlaudit.base.relation import ColumnInfo, Kind, Relation
from sqlaudit.base.spec import Roles

_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
_MOMENTS = (Kind.DATE, Kind.TIMESTAMP)
PARTS = ("year", "quarter", "month", "week", "day")


def dropped(roles: Roles, name: str, relation: Relation, dialect: str) -> Roles:
    """The roles without a quasi-identifier, named as it stands there or by its column.

    Raises:
        UsageError: it is none.
    """
    at = _place(roles, name, relation, dialect, "drop")
    kept = roles.quasi_identifiers[:at] + roles.quasi_identifiers[at + 1 :]
    if not kept:
        raise UsageError(f"{name} is the only quasi-identifier; without any there is nothing to audit.")
    return replace(roles, quasi_identifiers=kept)


def added(roles: Roles, names: tuple[str, ...], relation: Relation, dialect: str) -> Roles:
    """The roles with further quasi-identifiers.

    Raises:
        UsageError: no such column, or one that has a role already.
    """
    for name in names:
        resolve(name, relation, dialect, "\\add")
    return replace(roles, quasi_identifiers=(*roles.quasi_identifiers, *names))


def generalized(roles: Roles, name: str, how: str, relation: Relation, dialect: str) -> Roles:
    """The roles with a quasi-identifier made coarser.

    Args:
        roles: the roles so far. name: the quasi-identifier's column. relation: where it is. dialect: of the database.
        how: a width for numbers, a number of characters for texts, a part of the calendar for dates, or SQL.

    Raises:
        UsageError: no such quasi-identifier, or a way that has no meaning for what the column holds.
    """
    at = _place(roles, name, relation, dialect, "generalize")
    column = find_column(name, relation)
    if column is None:
        raise unknown_column(name, relation, "\\generalize")
    expression = coarser(column, how.strip(), relation, dialect)
    items = list(roles.quasi_identifiers)
    items[at] = expression
    return replace(roles, quasi_identifiers=tuple(items))


def coarser(column: ColumnInfo, how: str, relation: Relation, dialect: str) -> str:
    """A coarser form of a column as an expression in the dialect, which a release can hold in its place.

    Example:
        >>> coarser(ColumnInfo("age", "INTEGER", Kind.INTEGER), "10", Relation("t", (), "t"), "duckdb")
        'floor(age / 10.0) * 10'
    """
    number = _number(how)
    name = column.name if column.name.isidentifier() and column.name.islower() else quote(column.name, dialect)
    if number is not None and number > 0:
        return _by_number(column, name, number)
    if how.casefold() in PARTS and column.kind in _MOMENTS:
        zoned = "with time zone" in column.type.lower() or column.type.lower() == "timestamptz"
        moment = f"({name} AT TIME ZONE 'UTC')" if zoned else name
        return f"date_trunc('{how.casefold()}', {moment})"
    if number is not None or how.casefold() in PARTS or not how:
        raise UsageError(_ways(column))
    guard_expression(how, dialect, "\\generalize")
    found = resolve(how, relation, dialect, "\\generalize")
    if _columns(found.sql, dialect) != {column.name}:
        raise UsageError(f"{how!r} is not made of {column.name} alone; name an expression over this column.")
    return how


def _by_number(column: ColumnInfo, name: str, number: Fraction) -> str:
    if column.kind in _NUMBERS:
        return _interval(name, number)
    if column.kind is Kind.TEXT and number.denominator == 1:
        return f"substr({name}, 1, {number.numerator})"
    raise UsageError(_ways(column))


def _interval(name: str, width: Fraction) -> str:
    """The lower end of the interval. Only whole numbers divide, so that no decimal is rounded across a bound."""
    above, below = width.numerator, width.denominator
    scaled = name if below == 1 else f"{name} * {below}"
    if above == 1:
        return f"floor({scaled}) / {below}.0" if below > 1 else f"floor({scaled})"
    lower = f"floor({scaled} / {above}.0) * {above}"
    return lower if below == 1 else f"{lower} / {below}.0"


def _ways(column: ColumnInfo) -> str:
    said = f"\\generalize {column.name}"
    if column.kind in _NUMBERS:
        return f"{column.name} holds numbers: give the width of the intervals, for instance {said} 10."
    if column.kind is Kind.TEXT:
        return f"{column.name} holds texts: say how many characters are kept, for instance {said} 3."
    if column.kind in _MOMENTS:
        return f"{column.name} holds dates: give one of {', '.join(PARTS)}, for instance {said} year."
    return f"{column.name} holds {column.type}: give a SQL expression over it."


def _number(text: str) -> Fraction | None:
    try:
        return exact_number(text)
    except UsageError:
        return None


def _place(roles: Roles, name: str, relation: Relation, dialect: str, command: str) -> int:
    """Which quasi-identifier is meant."""
    items = roles.quasi_identifiers
    if name in items:
        return items.index(name)
    column = find_column(name, relation)
    for at, item in enumerate(items):
        if column is not None and _columns(resolve(item, relation, dialect, "\\qi").sql, dialect) == {column.name}:
            return at
    hint = closest(name, items) or (f" \\add {name} makes it one." if column is not None else "")
    raise UsageError(f"\\{command}: {name} is no quasi-identifier now.{hint}")


def _columns(sql: str, dialect: str) -> set[str]:
    tree = guard_expression(sql, dialect, "\\qi")
    return {column.name for column in tree.find_all(exp.Column)}
