"""Conversion of PostgreSQL's values to Python: the same as on the other engines, and never an error.

psycopg's own loaders refuse values that Python lacks ('infinity' as a date, the year 20000, 24:00) with a message that
quotes the value, and turn months into days. Here such values stay text.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

import psycopg
from psycopg.adapt import Loader
from psycopg.types import datetime as datetimes
from psycopg.types.string import TextLoader

Buffer = bytes | bytearray | memoryview

_RANGES = ("int4", "int8", "num", "date", "ts", "tstz")
_AS_TEXT = (
    *("json", "jsonb", "interval", "inet", "cidr"),
    *(f"{kind}{form}" for kind in _RANGES for form in ("range", "multirange")),
)
_TIMES = {
    "date": datetimes.DateLoader,
    "time": datetimes.TimeLoader,
    "timetz": datetimes.TimetzLoader,
    "timestamp": datetimes.TimestampLoader,
    "timestamptz": datetimes.TimestamptzLoader,
}
_INTEGERS = {psycopg.adapters.types[name].oid for name in ("int2", "int4", "int8", "oid")}
_FLOATS = {psycopg.adapters.types[name].oid for name in ("float4", "float8")}


class NumberLoader(Loader):
    """Loader of `numeric`: an int if there is no fraction (a SUM of bigint is numeric), else a Decimal."""

    def load(self, data: Buffer) -> int | Decimal:
        text = bytes(data).decode()
        return int(text) if text.removeprefix("-").isdigit() else Decimal(text)


def with_text_fallback(usual: Any) -> type[Loader]:
    """Return a loader of psycopg that gives the text of a value that Python's type lacks ('infinity', 24:00)."""

    class OrText(usual):  # type: ignore[misc]
        def load(self, data: Buffer) -> object:
            try:
                return super().load(data)
            except psycopg.DataError:
                return bytes(data).decode()

    return OrText


def register_loaders(connection: psycopg.Connection[object]) -> None:
    """Make one connection load values as described above."""
    adapters = connection.adapters
    adapters.register_loader("numeric", NumberLoader)
    for name, usual in _TIMES.items():
        adapters.register_loader(name, with_text_fallback(usual))
    for name in _AS_TEXT:
        adapters.register_loader(name, TextLoader)


def as_array(oid: int, values: Sequence[object]) -> object:
    """Return a column as a numpy array: int64 for integers that fit, float64, bool, and objects for all else.

    Integers that do not fit stay Python's exact ones, in an array of objects; NULLs are masked.
    """
    import numpy as np

    kinds = set(map(type, values))
    if type(None) not in kinds:
        return _filled(oid, kinds, values)
    mask = [value is None for value in values]
    kinds.discard(type(None))
    blank = None if _dtype(oid, kinds) is object else 0
    return np.ma.MaskedArray(_filled(oid, kinds, [blank if value is None else value for value in values]), mask=mask)


def _filled(oid: int, kinds: set[type], values: Sequence[object]) -> object:
    """Return values as an array of the type that all of them have, else of objects."""
    import numpy as np

    kind = _dtype(oid, kinds)
    if kind is not object:
        with suppress(OverflowError):
            return np.array(values, dtype=kind)
    array: Any = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _dtype(oid: int, kinds: set[type]) -> type:
    """Return the type that all values have; the type of the column if there are none."""
    if not kinds:
        return int if oid in _INTEGERS else float if oid in _FLOATS else object
    (kind,) = kinds if len(kinds) == 1 else (object,)
    return kind if kind in (int, float, bool) else object
