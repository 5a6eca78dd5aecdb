"""How values of PostgreSQL become values of Python: the same ones as on the other engines, and never an error.

psycopg's own loaders refuse what Python cannot hold ('infinity' as a date, the year 20000, 24:00) with a message that
quotes the value, and turn months into days. Here such values stay text.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.adapt import Loader
from psycopg.types import datetime as datetimes
from psycopg.types.string import TextLoader

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")

Buffer = bytes | bytearray | memoryview

AS_TEXT = (
    "json", "jsonb", "interval", "inet", "cidr", "int4range", "int8range", "numrange", "daterange", "tsrange",
    "tstzrange", "int4multirange", "int8multirange", "nummultirange", "datemultirange", "tsmultirange",
    "tstzmultirange",
)  # fmt: skip
_INTEGERS = {psycopg.adapters.types[name].oid for name in ("int2", "int4", "int8", "oid")}
_FLOATS = {psycopg.adapters.types[name].oid for name in ("float4", "float8")}
_NUMERIC = psycopg.adapters.types["numeric"].oid


class NumberLoader(Loader):
    """`numeric` without a fraction is an int (a SUM of bigint is numeric), with one a Decimal."""

    def load(self, data: Buffer) -> int | Decimal:
        text = bytes(data).decode()
        return int(text) if text.removeprefix("-").isdigit() else Decimal(text)


class DateLoader(datetimes.DateLoader):
    """A date, or its text where Python has no such date."""

    def load(self, data: Buffer) -> date | str:  # type: ignore[override]
        return _or_text(super().load, data)


class TimeLoader(datetimes.TimeLoader):
    """A time, or its text (24:00:00)."""

    def load(self, data: Buffer) -> time | str:  # type: ignore[override]
        return _or_text(super().load, data)


class TimetzLoader(datetimes.TimetzLoader):
    """A time with its offset, or its text."""

    def load(self, data: Buffer) -> time | str:  # type: ignore[override]
        return _or_text(super().load, data)


class TimestampLoader(datetimes.TimestampLoader):
    """A timestamp, or its text where Python has no such timestamp."""

    def load(self, data: Buffer) -> datetime | str:  # type: ignore[override]
        return _or_text(super().load, data)


class TimestamptzLoader(datetimes.TimestamptzLoader):
    """A timestamp in UTC, or its text where Python has no such timestamp."""

    def load(self, data: Buffer) -> datetime | str:  # type: ignore[override]
        return _or_text(super().load, data)


def _or_text(load: Callable[[Buffer], T], data: Buffer) -> T | str:
    try:
        return load(data)
    except psycopg.DataError:
        return bytes(data).decode()


def register_loaders(connection: psycopg.Connection[Any]) -> None:
    """Make one connection load values as described above."""
    adapters = connection.adapters
    adapters.register_loader("numeric", NumberLoader)
    adapters.register_loader("date", DateLoader)
    adapters.register_loader("time", TimeLoader)
    adapters.register_loader("timetz", TimetzLoader)
    adapters.register_loader("timestamp", TimestampLoader)
    adapters.register_loader("timestamptz", TimestamptzLoader)
    for name in AS_TEXT:
        adapters.register_loader(name, TextLoader)


def as_array(oid: int, values: Sequence[Any]) -> Any:
    """One column as a numpy array: int64 for integers that fit, float64 for floats, objects for all else.

    Integers that do not fit stay Python's exact ones, in an array of objects; NULLs are masked.
    """
    import numpy as np

    mask = [value is None for value in values]
    kind = _dtype(oid, values)
    if not any(mask):
        return _filled(values, kind)
    blank: Any = None if kind is object else 0
    return np.ma.MaskedArray(_filled([blank if m else v for v, m in zip(values, mask, strict=True)], kind), mask=mask)


def _filled(values: Sequence[Any], kind: type) -> Any:
    import numpy as np

    array: Any = np.empty(len(values), dtype=kind)
    array[:] = values
    return array


def _dtype(oid: int, values: Sequence[Any]) -> type:
    if oid in _FLOATS:
        return float
    whole = oid in _INTEGERS or (oid == _NUMERIC and all(isinstance(v, int) for v in values if v is not None))
    fits = whole and all(-(2**63) <= v < 2**63 for v in values if v is not None)
    return int if fits else object
