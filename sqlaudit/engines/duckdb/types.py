"""DuckDB's types: what kind of values they hold, and how values reach Python and numpy without losing anything.

DuckDB's own numpy conversion turns 128-bit integers and decimals into floats, and its Python conversion of
TIMESTAMP WITH TIME ZONE needs a package (pytz) that nothing else needs. Both are avoided by asking the database for
other columns: a statement is wrapped, and the pieces are put together here.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from sqlaudit.base.names import quote
from sqlaudit.base.relation import ColumnInfo, Kind, Row
from sqlaudit.engines.contract import in_utc

_INTEGERS = (
    "TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT BIGNUM"  # BIGNUM: any length
)
_TIMESTAMPS = "TIMESTAMP,TIMESTAMP_S,TIMESTAMP_MS,TIMESTAMP_NS,TIMESTAMP WITH TIME ZONE"
_KINDS = {
    "BOOLEAN": Kind.BOOLEAN,
    **dict.fromkeys(_INTEGERS.split(), Kind.INTEGER),
    **dict.fromkeys(("FLOAT", "DOUBLE"), Kind.FLOAT),
    "DECIMAL": Kind.DECIMAL,
    **dict.fromkeys(("VARCHAR", "ENUM", "UUID"), Kind.TEXT),
    "DATE": Kind.DATE,
    **dict.fromkeys(_TIMESTAMPS.split(","), Kind.TIMESTAMP),
    **dict.fromkeys(("TIME", "TIME_NS", "TIME WITH TIME ZONE"), Kind.TIME),
}
_ZONED = "TIMESTAMP WITH TIME ZONE"
_WIDE = ("HUGEINT", "UHUGEINT")
_LOW_BITS = str((1 << 64) - 1)


def kind_of(type_name: str) -> Kind:
    """The kind of a DuckDB type as DESCRIBE spells it.

    Example:
        >>> kind_of("DECIMAL(18,3)").value, kind_of("VARCHAR[]").value
        ('decimal', 'other')
    """
    if type_name.endswith("]"):
        return Kind.OTHER
    return _KINDS.get(type_name.split("(", 1)[0], Kind.OTHER)


def columns_of(described: Sequence[Row]) -> tuple[ColumnInfo, ...]:
    """The columns that the rows of a DESCRIBE stand for."""
    # the type's name of an ENUM lists every value there is, which is nobody's business
    types = [row[1].split("(", 1)[0] if "ENUM(" in row[1] else row[1] for row in described]
    return tuple(ColumnInfo(row[0], name, kind_of(row[1])) for row, name in zip(described, types, strict=True))


def has_zoned(types: Sequence[str]) -> bool:
    """True when a row of these types can't be fetched as it is."""
    return _ZONED in types


def without_zones(sql: str, types: Sequence[str]) -> str:
    """The statement with every time with a zone as plain UTC time; the session's zone is UTC."""
    items = [
        "CAST(" + _nth(i) + " AS TIMESTAMP)" if type_name == _ZONED else _nth(i) for i, type_name in enumerate(types)
    ]
    return _wrapped(sql, items, len(types))


def with_zones(rows: list[Row], types: Sequence[str]) -> list[Row]:
    """The rows of a statement that has these types; those of `without_zones` get their zone again."""
    if not has_zoned(types):
        return rows
    zoned = [type_name == _ZONED for type_name in types]
    return [tuple(in_utc(v) if z else v for v, z in zip(row, zoned, strict=True)) for row in rows]


def for_arrays(sql: str, types: Sequence[str]) -> str:
    """The statement with wide integers in two halves, and decimals as text; the inverse is `as_arrays`."""
    items = [item for i, type_name in enumerate(types) for item in _pieces(_nth(i), type_name)]
    return _wrapped(sql, items, len(types))


def is_plain(types: Sequence[str]) -> bool:
    """True when numpy gets every one of these types exactly."""
    return not any(type_name in (*_WIDE, _ZONED) or type_name.startswith("DECIMAL") for type_name in types)


def as_arrays(arrays: Sequence[Any], names: Sequence[str], types: Sequence[str]) -> dict[str, Any]:
    """One array a column, from the arrays of a statement made by `for_arrays`."""
    pieces = iter(arrays)
    result: dict[str, Any] = {}
    for name, type_name in zip(names, types, strict=True):
        if type_name in _WIDE:
            result[name] = _joined(next(pieces), next(pieces))
        elif type_name.startswith("DECIMAL"):
            result[name] = _decimals(next(pieces))
        else:
            result[name] = next(pieces)
    return result


def _wrapped(sql: str, items: Sequence[str], width: int) -> str:
    inner = ", ".join(_nth(i) for i in range(width))
    named = ", ".join(item + " AS " + quote(f"p{i}", "duckdb") for i, item in enumerate(items))
    return "SELECT " + named + " FROM (\n" + sql + "\n) AS wrapped(" + inner + ")"


def _nth(i: int) -> str:
    return quote(f"c{i}", "duckdb")


def _pieces(column: str, type_name: str) -> list[str]:
    if type_name in _WIDE:
        low = "CAST(" + column + " & CAST(" + _LOW_BITS + " AS " + type_name + ") AS UBIGINT)"
        high = "CAST(" + column + " >> 64 AS " + ("BIGINT" if type_name == "HUGEINT" else "UBIGINT") + ")"
        return [high, low]
    if type_name.startswith("DECIMAL"):
        return ["CAST(" + column + " AS VARCHAR)"]
    return ["CAST(" + column + " AS TIMESTAMP)"] if type_name == _ZONED else [column]


def _joined(high: Any, low: Any) -> Any:
    """Integers from their upper and lower 64 bits: an int64 array where they fit, else one of Python integers."""
    import numpy as np

    mask = np.ma.getmaskarray(high)
    upper, lower = np.ma.getdata(high), np.ma.getdata(low).astype(np.uint64)
    signed = lower.view(np.int64)
    fits = ((signed >= 0) & (upper == 0)) | ((signed < 0) & (upper == -1))
    whole = signed if bool(np.all(fits | mask)) else upper.astype(object) * (1 << 64) + lower.astype(object)
    return np.ma.array(whole, mask=mask) if mask.any() else whole


def _decimals(texts: Any) -> Any:
    import numpy as np

    mask = np.ma.getmaskarray(texts)
    values = [None if hidden else Decimal(text) for text, hidden in zip(np.ma.getdata(texts), mask, strict=True)]
    whole = np.array(values, dtype=object)
    return np.ma.array(whole, mask=mask) if mask.any() else whole
