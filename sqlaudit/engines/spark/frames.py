"""Frames of Python as Arrow tables, which is how they reach Spark."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sqlaudit.base.errors import InputError
from sqlaudit.engines.duckdb.frames import is_finer, long_as_text, scannable


def arrow_table(frame: Any) -> Any:
    """A pandas, polars or Arrow frame as an Arrow table of types that Spark has.

    Raises:
        UsageError: something else.
        InputError: a frame without columns, or a column whose values do not fit together.
    """
    import pyarrow as pa

    found, names = scannable(frame)
    if hasattr(found, "collect"):  # a lazy frame of polars
        found = found.collect()
    if type(found).__module__.partition(".")[0] == "pandas":
        try:
            found = long_as_text(pa.Table.from_pandas(_with_wide_integers(found), preserve_index=False))
        except (pa.ArrowException, OverflowError):
            raise InputError("A column of the frame holds values that do not fit together.") from None
    elif hasattr(found, "to_arrow"):
        found = found.to_arrow()
    elif hasattr(found, "to_table"):
        found = found.to_table()
    columns = [_in_microseconds(_decoded(column)) for column in found.columns]
    return pa.Table.from_arrays(columns, names=names)


def _with_wide_integers(frame: Any) -> Any:
    """The frame with integers beyond 64 bits as decimals, for Arrow has no wider integers."""
    for i, kind in enumerate(frame.dtypes):
        column = frame.iloc[:, i]
        if str(kind) == "object" and any(isinstance(value, int) and not -(2**63) <= value < 2**63 for value in column):
            frame = frame.copy(deep=False)
            frame.isetitem(i, column.where(column.notna(), None).map(Decimal, na_action="ignore"))
    return frame


def _in_microseconds(column: Any) -> Any:
    """A column whose times Spark holds, as texts where it would round one."""
    import pyarrow as pa

    kind = column.type
    fine = (pa.types.is_timestamp(kind) or pa.types.is_time64(kind)) and kind.unit == "ns"
    return column.cast(pa.string()) if fine and is_finer(column) else column


def _decoded(column: Any) -> Any:
    """A column without its dictionary (categories), and small unsigned integers as signed ones."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        return _decoded(column.cast(kind.value_type))
    if pa.types.is_unsigned_integer(kind):
        return column.cast(pa.int64() if kind.bit_width < 64 else pa.decimal128(20, 0))
    return column
