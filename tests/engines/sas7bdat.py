"""Writes .sas7bdat files with the C library in pyreadstat, which has a writer that pyreadstat does not offer."""

from __future__ import annotations

import ctypes
import datetime as dt
from pathlib import Path
from typing import Any

import pandas as pd
from pyreadstat import _readstat_writer

_STRING, _DOUBLE = 0, 5
_ORIGIN = dt.datetime(1960, 1, 1)


def write_sas7bdat(table: pd.DataFrame, path: str) -> None:
    """Write numbers, texts, dates and moments; a column has the kind of its first value that is not missing."""
    library = ctypes.CDLL(_readstat_writer.__file__)
    library.readstat_writer_init.restype = library.readstat_add_variable.restype = ctypes.c_void_p
    with Path(path).open("wb") as file:

        @ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
        def take(data: int, size: int, _: object) -> int:
            return file.write(ctypes.string_at(data, size))

        def do(name: str, *values: Any) -> None:
            assert getattr(library, f"readstat_{name}")(writer, *values) == 0

        writer = ctypes.c_void_p(library.readstat_writer_init())
        do("set_data_writer", take)
        columns = []
        for name in table.columns:
            values = [None if pd.isna(value) else value for value in table[name]]
            kind = type(next((value for value in values if value is not None), 0.0))
            size = max((len(str(value).encode()) for value in values), default=1) if kind is str else 0
            sort = _STRING if kind is str else _DOUBLE
            variable = library.readstat_add_variable(writer, name.encode(), sort, ctypes.c_size_t(size))
            variable = ctypes.c_void_p(variable)
            form = b"DATE9" if kind is dt.date else b"DATETIME19" if issubclass(kind, dt.datetime) else b""
            if form:
                library.readstat_variable_set_format(variable, form)
            columns.append((variable, values))
        do("begin_writing_sas7bdat", None, ctypes.c_long(len(table)))
        for at in range(len(table)):
            do("begin_row")
            for variable, values in columns:
                value = values[at]
                if value is None:
                    do("insert_missing_value", variable)
                elif isinstance(value, str):
                    do("insert_string_value", variable, value.encode())
                else:
                    do("insert_double_value", variable, ctypes.c_double(_number(value)))
            do("end_row")
        do("end_writing")
        library.readstat_writer_free(writer)


def _number(value: Any) -> float:
    if isinstance(value, dt.datetime):
        return (value - _ORIGIN).total_seconds()
    return float((value - _ORIGIN.date()).days if isinstance(value, dt.date) else value)
