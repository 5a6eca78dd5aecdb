"""DuckDB's types: their kinds, and the conversion of values to Python and numpy without loss.

DuckDB's own numpy conversion turns 128-bit integers and decimals into floats, and its Python conversion of
TIMESTAMP WITH TIME ZONE needs a package (pytz) that nothing else needs. Both are avoided by asking the database for
other columns: a statement is wrapped, and the pieces are put together here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """Return the kind of a DuckDB type as DESCRIBE spells it.

    Example:
        >>> kind_of("DECIMAL(18,3)").value, kind_of("VARCHAR[]").value
        ('decimal', 'other')
    """
    if type_name.endswith("]"):
        return Kind.OTHER
    return _KINDS.get(type_name.split("(", 1)[0], Kind.OTHER)


def columns_of(described: Sequence[Row], labels: Mapping[str, str] | None = None) -> tuple[ColumnInfo, ...]:
    """Return the columns that the rows of a DESCRIBE describe, with their variable labels."""
    # the name of an ENUM lists all its values, which must not be shown
    types = [row[1].split("(", 1)[0] if "ENUM(" in row[1] else row[1] for row in described]
    labels = labels or {}
    return tuple(
        ColumnInfo(row[0], name, kind_of(row[1]), labels.get(row[0], ""))
        for row, name in zip(described, types, strict=True)
    )


def has_zoned(types: Sequence[str]) -> bool:
    """Return True if a row of these types cannot be fetched as it is."""
    return _ZONED in types


def without_zones(sql: str, types: Sequence[str]) -> str:
    """Return the statement with times with a zone as plain UTC times; the session's zone is UTC."""
    items = [
        "CAST(" + _nth(i) + " AS TIMESTAMP)" if type_name == _ZONED else _nth(i) for i, type_name in enumerate(types)
    ]
    return _wrap(sql, items, len(types))


def with_zones(rows: list[Row], types: Sequence[str]) -> list[Row]:
    """Return the rows of a statement with columns of these types; times of `without_zones` get their zone back."""
    if not has_zoned(types):
        return rows
    zoned = [type_name == _ZONED for type_name in types]
    return [tuple(in_utc(v) if z else v for v, z in zip(row, zoned, strict=True)) for row in rows]


def for_arrays(sql: str, types: Sequence[str]) -> str:
    """Return the statement with wide integers in two halves, and decimals as text, for `as_arrays`."""
    items = [item for i, type_name in enumerate(types) for item in _split_column(_nth(i), type_name)]
    return _wrap(sql, items, len(types))


def is_plain(types: Sequence[str]) -> bool:
    """Return True if numpy gets all these types exactly."""
    return not any(type_name in (*_WIDE, _ZONED) or type_name.startswith("DECIMAL") for type_name in types)


def as_arrays(arrays: Sequence[object], names: Sequence[str], types: Sequence[str]) -> dict[str, object]:
    """Return one array per column from the arrays of a statement made by `for_arrays`."""
    pieces = iter(arrays)
    arrays_by_name: dict[str, object] = {}
    for name, type_name in zip(names, types, strict=True):
        if type_name in _WIDE:
            arrays_by_name[name] = _join_halves(next(pieces), next(pieces))
        elif type_name.startswith("DECIMAL"):
            arrays_by_name[name] = _parse_decimals(next(pieces))
        else:
            arrays_by_name[name] = next(pieces)
    return arrays_by_name


def _wrap(sql: str, items: Sequence[str], width: int) -> str:
    inner = ", ".join(_nth(i) for i in range(width))
    named = ", ".join(item + " AS " + quote(f"p{i}", "duckdb") for i, item in enumerate(items))
    return "SELECT " + named + " FROM (\n" + sql + "\n) AS wrapped(" + inner + ")"


def _nth(i: int) -> str:
    return quote(f"c{i}", "duckdb")


def _split_column(column: str, type_name: str) -> list[str]:
    """Return the expressions into which `for_arrays` splits a column."""
    if type_name in _WIDE:
        low = "CAST(" + column + " & CAST(" + _LOW_BITS + " AS " + type_name + ") AS UBIGINT)"
        high = "CAST(" + column + " >> 64 AS " + ("BIGINT" if type_name == "HUGEINT" else "UBIGINT") + ")"
        return [high, low]
    if type_name.startswith("DECIMAL"):
        return ["CAST(" + column + " AS VARCHAR)"]
    return ["CAST(" + column + " AS TIMESTAMP)"] if type_name == _ZONED else [column]


def _join_halves(high: Any, low: Any) -> object:
    """Return integers from their upper and lower 64 bits: an int64 array if they fit, else one of Python integers."""
    import numpy as np

    mask = np.ma.getmaskarray(high)
    upper, lower = np.ma.getdata(high), np.ma.getdata(low).astype(np.uint64)
    signed = lower.view(np.int64)
    fits = ((signed >= 0) & (upper == 0)) | ((signed < 0) & (upper == -1))
    integers = signed if bool(np.all(fits | mask)) else upper.astype(object) * (1 << 64) + lower.astype(object)
    return np.ma.array(integers, mask=mask) if mask.any() else integers


def _parse_decimals(texts: Any) -> Any:
    import numpy as np

    mask = np.ma.getmaskarray(texts)
    values = [None if hidden else Decimal(text) for text, hidden in zip(np.ma.getdata(texts), mask, strict=True)]
    decimals = np.array(values, dtype=object)
    return np.ma.array(decimals, mask=mask) if mask.any() else decimals
