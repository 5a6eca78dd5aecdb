"""How the values that a file names are found in a column: by their text, whatever the spelling of numbers.

Text must agree letter by letter. For numbers `1` also names 1.0 and 1.00, `true` names True, dates and times are
written as ISO does. Every kind has one *key*: the text of a value in one spelling, the same on every engine.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation

from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Kind
from sqlaudit.hierarchies.hierarchy import Hierarchy, Name, ValueTable

_MOST_DIGITS = 400
Rows = list[tuple[Name, tuple[Name, ...]]]


def key_of(text: str, kind: Kind) -> str | None:
    """The key of a value that a file or a released cell spells as `text`, None when no value of the kind is spelled so.

    Example:
        >>> key_of("1.0", Kind.INTEGER), key_of("1.5", Kind.INTEGER), key_of("2.50", Kind.DECIMAL)
        ('1', None, '2.5')
    """
    if kind in (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT):
        return _number_key(text.strip(), kind)
    if kind is Kind.BOOLEAN:
        folded = text.strip().lower()
        return folded if folded in ("true", "false") else None
    if kind in (Kind.DATE, Kind.TIMESTAMP):
        return _date_key(text.strip(), kind)
    return text


def matched_rows(table: ValueTable, kind: Kind, hierarchy: Hierarchy) -> Rows:
    """The rows of a value table with keys instead of spellings; what no value of the kind is spelled as is left out.

    In a CSV file an empty field names NULL, and the empty text with it.

    Raises:
        UsageError: one value in two spellings with different labels.
    """
    rows: dict[Name, tuple[Name, ...]] = {}
    for value, labels in _with_empty_text(table, kind, hierarchy):
        key = None if value is None else key_of(value, kind)
        if value is not None and key is None:
            continue
        known = rows.setdefault(key, labels)
        if known != labels:
            level = next(i for i, (a, b) in enumerate(zip(known, labels, strict=True), 1) if a != b)
            raise UsageError(
                f"{table.place}: a value of {hierarchy.column} stands here twice, written in two ways, with different "
                f"labels at level {level}."
            )
    return list(rows.items())


def _with_empty_text(table: ValueTable, kind: Kind, hierarchy: Hierarchy) -> Iterable[tuple[Name, tuple[Name, ...]]]:
    yield from table.rows.items()
    if hierarchy.form == "csv" and None in table.rows and "" not in table.rows and kind in (Kind.TEXT, Kind.OTHER):
        yield "", table.rows[None]


def _number_key(text: str, kind: Kind) -> str | None:
    if kind is Kind.FLOAT:
        try:
            return repr(float(text)) if "_" not in text else None
        except ValueError:
            return None
    try:
        number = Decimal(text) if "_" not in text else Decimal("NaN")
    except InvalidOperation:
        return None
    if not number.is_finite() or abs(number.adjusted()) > _MOST_DIGITS:
        return None
    if kind is Kind.INTEGER:
        return str(int(number)) if number == int(number) else None
    plain = f"{number:f}"
    trimmed = plain.rstrip("0").rstrip(".") if "." in plain else plain
    return "0" if trimmed == "-0" else trimmed


def _date_key(text: str, kind: Kind) -> str | None:
    try:
        if kind is Kind.DATE:
            return datetime.date.fromisoformat(text).isoformat()
        found = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    zone = ""
    if found.tzinfo is not None:
        found, zone = found.astimezone(datetime.UTC).replace(tzinfo=None), "+00"
    whole = found.isoformat(" ", "seconds")
    return whole + (f".{found.microsecond:06d}".rstrip("0") if found.microsecond else "") + zone
