"""Frames and Arrow files: made readable for DuckDB without copying their rows into Python."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from sqlaudit.base.errors import InputError, MissingDriver, UsageError
from sqlaudit.engines import exact_numbers
from sqlaudit.engines.duckdb.paths import Files
from sqlaudit.engines.hive import refuse_same

_FINE = "Duration(time_unit='ns')"
_ROUNDED = ("timedelta64[ns]", "datetime64[ns, ")
"""Types of pandas whose nanoseconds DuckDB rounds."""
_CLOCKS = ("date", "datetime", "time", "timedelta")
_UNREAD = ("interval", "period", "complex", "Sparse")


def scannable(frame: Any) -> tuple[Any, list[str]]:
    """Something that DuckDB scans in place, and the names of its columns as the frame has them.

    Args:
        frame: a pandas DataFrame, a polars DataFrame or LazyFrame, an Arrow table, batch, dataset or reader, a
            relation of another DuckDB, or anything with an Arrow stream (`__arrow_c_stream__`).

    Raises:
        UsageError: something else.
        InputError: a frame without columns, or a column of a type that DuckDB does not read.
        MissingDriver: pyarrow is needed and not installed.
    """
    if _is(frame, "pandas", "DataFrame"):
        return _pandas(frame)
    if _is(frame, "duckdb", "DuckDBPyRelation"):
        return _with_columns(Rescanned(frame), list(frame.columns))
    if _is(frame, "polars", "DataFrame", "LazyFrame"):
        _need_pyarrow("polars frames")
        return _with_columns(_wide_as_text(frame), list(frame.collect_schema().names()))
    if _is(frame, "pyarrow", "RecordBatchReader"):
        frame = frame.read_all()  # a reader gives its rows once, an audit asks several times
    elif _is(frame, "pyarrow", "RecordBatch"):
        frame = sys.modules["pyarrow"].Table.from_batches([frame])
    elif hasattr(frame, "__arrow_c_stream__") and not _is(frame, "pyarrow", "Table"):
        _need_pyarrow("frames of this kind")
        import pyarrow as pa

        frame = pa.RecordBatchReader.from_stream(frame).read_all()
    if _is(frame, "pyarrow", "Table"):
        return _with_columns(long_as_text(frame), list(frame.schema.names))
    if _is_dataset(frame):
        _refuse_long(frame.schema, "the frame")
        return _with_columns(frame, list(frame.schema.names))
    raise UsageError(f"A frame is a pandas, polars or Arrow table; this is a {type(frame).__name__}.")


def arrow_files(files: Files, folders: Sequence[str] = ()) -> tuple[Any, list[str]]:
    """Arrow IPC files (also called Feather) as something that DuckDB scans in place, and their columns.

    Raises:
        InputError: a file that is not Arrow, or is damaged.
        MissingDriver: pyarrow is not installed.
    """
    _need_pyarrow("Arrow files")
    import pyarrow as pa
    import pyarrow.dataset as ds

    try:
        paths = [str(path) for path in files.paths]
        dataset = ds.dataset(paths, format="ipc")
        _refuse_long(dataset.schema, files.label)
        names = list(dataset.schema.names)
        refuse_same(names, folders, files.label)
        if folders:
            texts = pa.schema([(name, pa.string()) for name in folders])
            dataset = ds.dataset(paths, format="ipc", partitioning=ds.partitioning(texts, flavor="hive"))
        return _with_columns(dataset, names)
    except (pa.ArrowInvalid, OSError):
        pass
    try:
        tables = [pa.ipc.open_stream(pa.memory_map(str(path))).read_all() for path in files.paths]
        table = long_as_text(pa.concat_tables(tables))
    except (pa.ArrowInvalid, OSError):
        raise InputError(f"{files.label!r} is not an Arrow file, or is damaged.") from None
    return _with_columns(table, list(table.schema.names))


class Rescanned:
    """A relation of another DuckDB, run again there whenever it is scanned; its rows pass by in batches.

    Args:
        relation: an open relation.
    """

    def __init__(self, relation: Any) -> None:
        self._relation = relation

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._relation.__arrow_c_stream__(requested_schema)


def _is(frame: Any, package: str, *names: str) -> bool:
    """True for an instance of a class of a package, without importing the package."""
    module = sys.modules.get(package)
    return module is not None and any(isinstance(frame, getattr(module, name, ())) for name in names)


def _is_dataset(frame: Any) -> bool:
    module = sys.modules.get("pyarrow.dataset")
    return module is not None and isinstance(frame, module.Dataset)


def _need_pyarrow(what: str) -> None:
    if "pyarrow" not in sys.modules and importlib.util.find_spec("pyarrow") is None:
        raise MissingDriver(f"Reading {what} needs the package pyarrow: pip install 'sqlaudit[frames]'.")


def _with_columns(frame: Any, names: list[str]) -> tuple[Any, list[str]]:
    if not names:
        raise InputError("The frame has no columns.")
    return frame, names


def _refuse_long(schema: Any, label: str) -> None:
    """Refuse what DuckDB would round where columns can't be made text before they are read."""
    import pyarrow as pa

    for field in schema:
        _refuse_finer(field, label)
        if pa.types.is_decimal256(field.type):
            raise InputError(
                f"Column {field.name!r} of {label!r} is a decimal of 256 bits, which is not read; make it text."
            )


def _wide_as_text(frame: Any) -> Any:
    """A frame of polars without integers of 128 bits, which Arrow does not have, and without nanoseconds of durations.

    Raises:
        InputError: a list or object with such durations, which DuckDB would round.
    """
    pl = sys.modules["polars"]
    schema = frame.collect_schema()
    wide = [name for name, kind in schema.items() if str(kind) in ("Int128", "UInt128")]
    for name, kind in schema.items():
        if kind == pl.Duration("ns"):
            finer = (pl.col(name).cast(pl.Int64) % 1000 != 0).any()
            wide += [name] if frame.lazy().select(finer).collect().item() else []
        elif _FINE in str(kind):
            raise _finer(name, "the frame")
    whole = (pl.col(name).cast(pl.Int64) if schema[name] == pl.Duration("ns") else pl.col(name) for name in wide)
    return frame.with_columns(one.cast(pl.String) for one in whole) if wide else frame


def long_as_text(table: Any) -> Any:
    """An Arrow table without what DuckDB would round: decimals of 256 bits and nanoseconds of durations as texts.

    Raises:
        InputError: a list or object with such durations.
    """
    import pyarrow as pa

    for i, field in enumerate(table.schema):
        column = table.column(i)
        if pa.types.is_decimal256(field.type):
            table = table.set_column(i, field.name, column.cast(pa.string()))
        elif field.type == pa.duration("ns"):
            if is_finer(column):
                table = table.set_column(i, field.name, column.cast(pa.int64()).cast(pa.string()))
        else:
            _refuse_finer(field, "the frame")
    return table


def is_finer(column: Any) -> bool:
    """Whether a column of nanoseconds has a value that is no whole number of microseconds."""
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = column.cast(pa.int64())
    whole = pc.multiply(pc.divide(numbers, 1000), 1000)
    return bool(pc.any(pc.not_equal(numbers, whole)).as_py())


def _refuse_finer(field: Any, label: str) -> None:
    if "duration[ns]" in str(field.type):
        raise _finer(field.name, label)


def _finer(name: str, label: str) -> InputError:
    return InputError(
        f"Column {name!r} of {label!r} has durations in nanoseconds, which DuckDB would round; make them microseconds, "
        "or text."
    )


def _pandas(frame: Any) -> tuple[Any, list[str]]:
    """The frame with mixed columns as text; the user's own frame stays as it is."""
    names = [str(name) for name in frame.columns]
    for name, dtype in zip(names, frame.dtypes, strict=True):
        if str(dtype).startswith(_UNREAD):
            raise InputError(f"Column {name!r} of the frame has the type {dtype}, which DuckDB does not read.")
    spelled = {i: how for i in range(len(names)) if (how := _as_text(frame.iloc[:, i])) is not None}
    if spelled:
        frame = frame.copy(deep=False)
        for i, how in spelled.items():
            column = frame.iloc[:, i]
            frame.isetitem(i, column.where(column.notna(), None).map(how, na_action="ignore"))
    return _with_columns(frame, names)


def _as_text(column: Any) -> Callable[[Any], str] | None:
    """How the values of a column become texts; None when DuckDB reads them as they are.

    Objects of several kinds it would judge by a sample, and fail on the rest, or make midnights of days. Decimals of
    more digits than it keeps, and nanoseconds, it would round.
    """
    if str(column.dtype).startswith(_ROUNDED):
        return str if (column.dropna().astype("int64") % 1000).any() else None
    if str(column.dtype) != "object":
        return None
    import pandas as pd

    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind.startswith("mixed") or (kind in _CLOCKS and _is_uneven(column.dropna())):
        return str
    if kind == "decimal" and not exact_numbers.fit(column.dropna()):
        return exact_numbers.plain
    if kind == "integer" and not all(-(2**127) < value < 2**127 for value in column.dropna()):
        return str
    return None


def _is_uneven(values: Any) -> bool:
    """Whether objects are days and moments, have zones and none, or are finer than microseconds."""
    kinds = {(isinstance(one, datetime), getattr(one, "tzinfo", None) is None) for one in values}
    return len(kinds) > 1 or any(getattr(one, "nanosecond", 0) or getattr(one, "nanoseconds", 0) for one in values)
