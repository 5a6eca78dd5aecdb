"""Conversion of Spark's types and values to those of the other engines: through Arrow, and exactly."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from sqlaudit.base.relation import ColumnInfo, Kind, Row
from sqlaudit.engines.contract import in_utc

_KINDS = {
    "boolean": Kind.BOOLEAN,
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), Kind.INTEGER),
    **dict.fromkeys(("float", "double"), Kind.FLOAT),
    "decimal": Kind.DECIMAL,
    **dict.fromkeys(("string", "varchar", "char"), Kind.TEXT),
    "date": Kind.DATE,
    **dict.fromkeys(("timestamp", "timestamp_ntz", "timestamp_ltz"), Kind.TIMESTAMP),
    "time": Kind.TIME,
}


def kind_of(type_name: str) -> Kind:
    """Return the kind of a type as Spark spells it.

    Example:
        >>> kind_of("decimal(10,2)").value, kind_of("string collate UNICODE_CI").value, kind_of("array<int>").value
        ('decimal', 'text', 'other')
    """
    bare = type_name.split("(", 1)[0].split(" ", 1)[0]
    return _KINDS.get(bare, Kind.OTHER)


def columns_of(schema: Any) -> tuple[ColumnInfo, ...]:
    """Return the columns of a schema of Spark."""
    described = [(field.name, field.dataType.simpleString()) for field in schema.fields]
    return tuple(ColumnInfo(name, spelled, kind_of(spelled)) for name, spelled in described)


def rows_of(table: Any) -> list[Row]:
    """Return the rows of an Arrow table; a table without columns has no rows."""
    return list(zip(*(_values(column) for column in table.columns), strict=True))


def arrays_of(table: Any) -> dict[str, object]:
    """Return one numpy array per column: int64 for integers that fit, float64, bool, else objects; NULLs masked."""
    return {name: _array(column) for name, column in zip(table.column_names, table.columns, strict=True)}


def parameter(value: object) -> object:
    """Return a value as Spark takes it for a parameter: an integer beyond 64 bits becomes a decimal, a list JSON."""
    if isinstance(value, list):
        return json.dumps(value)
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        return Decimal(value)
    return value


def _values(column: Any) -> list[object]:
    """Return the values of a column in Python; as text if Python cannot hold one of them (the year 20000)."""
    import pyarrow as pa

    try:
        values = column.to_pylist()
    except (pa.ArrowException, ValueError, OverflowError):
        return list(column.cast(pa.string()).to_pylist())
    kind = column.type
    if pa.types.is_decimal(kind) and kind.scale == 0:
        return [None if value is None else int(value) for value in values]
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return [in_utc(value) for value in values]
    return list(values)


def _array(column: Any) -> object:
    """Return the values of an Arrow column as a numpy array."""
    import numpy as np

    chunk = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    blank, target = _filling(chunk)
    if target is None:
        array: Any = np.empty(len(chunk), dtype=object)
        array[:] = _values(column)
    else:
        array = (chunk.fill_null(blank) if chunk.null_count else chunk).cast(target).to_numpy(zero_copy_only=False)
    if not chunk.null_count:
        return array
    return np.ma.MaskedArray(array, mask=chunk.is_null().to_numpy(zero_copy_only=False))


def _filling(array: Any) -> tuple[object, object]:
    """Return the value that stands for NULL, and the Arrow type of the array; None twice if only objects are exact."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    if pa.types.is_boolean(kind):
        return False, pa.bool_()
    if pa.types.is_integer(kind):
        return 0, pa.int64()
    if pa.types.is_floating(kind):
        return 0.0, pa.float64()
    if pa.types.is_decimal(kind) and kind.scale == 0:
        ends = pc.min_max(array).as_py().values()
        if all(end is None or -(2**63) <= int(end) < 2**63 for end in ends):
            return Decimal(0), pa.int64()
    return None, None


def batches_of(rows: Any, schema: Sequence[ColumnInfo], size: int) -> Any:
    """Yield rows of Spark in lists of up to `size`, with integers and times as `rows_of` returns them."""
    are_whole = [column.kind is Kind.DECIMAL and column.type.endswith(",0)") for column in schema]
    are_zoned = [column.type in ("timestamp", "timestamp_ltz") for column in schema]
    batch: list[Row] = []
    for row in rows:
        cells = zip(row, are_whole, are_zoned, strict=True)
        batch.append(tuple(int(v) if w and v is not None else in_utc(v) if z else v for v, w, z in cells))
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
