"""Frames and Arrow files: made readable for DuckDB without copying their rows into Python."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

from sqlaudit.engines.duckdb_paths import Files
from sqlaudit.errors import InputError, MissingDriver, UsageError

_UNREAD = ("interval", "period", "complex", "Sparse")


def scannable(frame: Any) -> tuple[Any, list[str]]:
    """Something that DuckDB scans in place, and the names of its columns as the frame has them.

    Args:
        frame: a pandas DataFrame, a polars DataFrame or LazyFrame, an Arrow table, batch, dataset or reader, or
            anything with an Arrow stream (`__arrow_c_stream__`).

    Raises:
        UsageError: something else.
        InputError: a frame without columns, or a column of a type that DuckDB does not read.
        MissingDriver: pyarrow is needed and not installed.
    """
    if _is(frame, "pandas", "DataFrame"):
        return _pandas(frame)
    if _is(frame, "polars", "DataFrame", "LazyFrame"):
        _need_pyarrow("polars frames")
        return _with_columns(frame, list(frame.collect_schema().names()))
    if _is(frame, "pyarrow", "RecordBatchReader"):
        frame = frame.read_all()  # a reader gives its rows once, an audit asks several times
    elif _is(frame, "pyarrow", "RecordBatch"):
        frame = sys.modules["pyarrow"].Table.from_batches([frame])
    elif hasattr(frame, "__arrow_c_stream__") and not _is(frame, "pyarrow", "Table"):
        _need_pyarrow("frames of this kind")
        import pyarrow as pa

        frame = pa.RecordBatchReader.from_stream(frame).read_all()
    if _is(frame, "pyarrow", "Table") or _is_dataset(frame):
        return _with_columns(frame, list(frame.schema.names))
    raise UsageError(f"A frame is a pandas, polars or Arrow table; this is a {type(frame).__name__}.")


def arrow_files(files: Files) -> tuple[Any, list[str]]:
    """Arrow IPC files (also called Feather) as something that DuckDB scans in place, and their columns.

    Raises:
        InputError: a file that is not Arrow, or is damaged.
        MissingDriver: pyarrow is not installed.
    """
    _need_pyarrow("Arrow files")
    import pyarrow as pa
    import pyarrow.dataset as ds

    try:
        dataset = ds.dataset([str(path) for path in files.paths], format="ipc")
        return _with_columns(dataset, list(dataset.schema.names))
    except (pa.ArrowInvalid, OSError):
        pass
    try:
        tables = [pa.ipc.open_stream(pa.memory_map(str(path))).read_all() for path in files.paths]
        table = pa.concat_tables(tables)
    except (pa.ArrowInvalid, OSError):
        raise InputError(f"{files.label!r} is not an Arrow file, or is damaged.") from None
    return _with_columns(table, list(table.schema.names))


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


def _pandas(frame: Any) -> tuple[Any, list[str]]:
    """The frame with mixed columns as text; the user's own frame stays as it is."""
    names = [str(name) for name in frame.columns]
    for name, dtype in zip(names, frame.dtypes, strict=True):
        if str(dtype).startswith(_UNREAD):
            raise InputError(f"Column {name!r} of the frame has the type {dtype}, which DuckDB does not read.")
    mixed = [i for i in range(len(names)) if _is_mixed(frame.iloc[:, i])]
    if mixed:
        frame = frame.copy(deep=False)
        for i in mixed:
            frame.isetitem(i, frame.iloc[:, i].map(str, na_action="ignore"))
    return _with_columns(frame, names)


def _is_mixed(column: Any) -> bool:
    """True for a column of objects of several kinds: DuckDB would judge it by a sample and fail on the rest."""
    if str(column.dtype) != "object":
        return False
    import pandas as pd

    return bool(pd.api.types.infer_dtype(column, skipna=True).startswith("mixed"))
