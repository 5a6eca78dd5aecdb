"""What-if on the roles: quasi-identifiers taken out, put in, and made coarser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from sqlglot import exp

from sqlaudit.audits.result import AuditResult
from sqlaudit.base.columns_of import find_column, resolve, unknown_column
from sqlaudit.base.errors import UsageError
from sqlaudit.base.guard import guard_expression
from sqlaudit.base.names import closest, quote
from sqlaudit.base.numbers import exact_number
from sqlaudit.base.relation import ColumnInfo, Kind, Relation
from sqlaudit.base.result import Documented
from sqlaudit.base.spec import Roles
from sqlaudit.models.base import Check
from sqlaudit.models.phrases import VERDICTS, full_title, level_text, limit_text
from sqlaudit.reports.document import (
    Bullets,
    Column,
    Document,
    Paragraph,
    Table,
    Toned,
    Words,
    count,
    listing,
    notices_block,
    part,
    percent,
    section,
)

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


# Two audits side by side: what a change of the roles changes.

_RISK = 5


@dataclass(frozen=True)
class Changed(Documented):
    """A change with the audits before and after it; `change` says it in a few words."""

    change: str
    before: AuditResult
    after: AuditResult


def changed_document(changed: Changed) -> Document:
    """The figures before and after, side by side."""
    before, after = changed.before, changed.after
    known = listing(after.roles.get("quasi_identifiers", ()))
    return Document(
        _headline(changed),
        (Paragraph(f"Quasi-identifiers now: {known}. \\undo takes the change back."), *notices_block(after.notices)),
        (
            *section("Classes", _table(tuple(_class_rows(before, after)))),
            *section("Models", _table(tuple(_check_rows(before, after)), judged=bool(after.required))),
            *section(
                "Warnings",
                Bullets(
                    tuple(Toned(warned.message, "warn") for warned in after.warnings if warned not in after.notices)
                ),
            ),
        ),
    )


def _headline(changed: Changed) -> Toned:
    if not changed.after.required:
        return Toned(f"What if: {changed.change}")
    when = "still" if changed.before.passed == changed.after.passed else "now"
    if changed.after.passed:
        return Toned(f"{when} PASS: {changed.change}", "good")
    return Toned(f"{when} FAIL: {changed.change}", "bad")


def _table(rows: tuple[tuple[Words, ...], ...], judged: bool = False) -> Table:
    heads = [Column("figure"), Column("before", True), Column("after", True)]
    if judged:
        heads += [Column("limit", True), Column("verdict")]
    return Table(tuple(heads), rows)


def _class_rows(before: AuditResult, after: AuditResult) -> Iterator[tuple[Words, ...]]:
    """How many classes, how small, and how many rows are easily found."""
    for title, figures in zip(_TITLES, zip(_figures(before), _figures(after), strict=True), strict=True):
        yield title, *figures


_TITLES = (
    "equivalence classes",
    "smallest class",
    "alone in their class",
    f"in classes below {_RISK}",
    "risk on average",
)


def _figures(result: AuditResult) -> tuple[str, ...]:
    sizes = result.classes
    _, alone = sizes.below(2)
    _, few = sizes.below(_RISK)
    risk = percent(Fraction(sizes.count, sizes.members)) if sizes.members and not sizes.per_row else "–"
    return (
        count(sizes.count),
        count(sizes.min_size or 0),
        f"{count(alone)} ({part(alone, sizes.members)})",
        f"{count(few)} ({part(few, sizes.members)})",
        risk,
    )


def _check_rows(before: AuditResult, after: AuditResult) -> Iterator[tuple[Words, ...]]:
    """The main figure of every model in both audits."""
    known = {_key(check): check for check in before.checks}
    for check in after.checks:
        was = known.get(_key(check))
        about = f"{full_title(check)} of {check.sensitive}" if check.sensitive is not None else full_title(check)
        figures: tuple[Words, ...] = (about, level_text(was) if was else "–", level_text(check))
        yield (*figures, limit_text(check), VERDICTS[check.status]) if after.required else figures


def _key(check: Check) -> tuple[object, ...]:
    return check.model, check.sensitive, tuple(sorted((name, str(value)) for name, value in check.parameters.items()))
