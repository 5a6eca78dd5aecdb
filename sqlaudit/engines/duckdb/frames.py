"""Frames of pandas, polars and Arrow, and Arrow files: made readable for DuckDB so that no two values become equal.

What DuckDB reads exactly is scanned in place. A column of any other type is converted by Arrow, spelled as text if the
texts are as different as the values, or refused by its name.
"""

from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlaudit.base.errors import InputError, MissingDriver, UsageError
from sqlaudit.base.names import shown
from sqlaudit.engines import contract, is_instance_of, is_relation
from sqlaudit.engines.contract import refuse_same
from sqlaudit.engines.duckdb.driver import DUCKDB_1
from sqlaudit.engines.duckdb.paths import Files

FRAME = "the frame"
"""How messages call a frame."""
_ENDS = (4, 8)
"""Bytes of the mark behind the last batch of an Arrow stream, in its older form and today's."""
_DIGITS = contract.DIGITS


def make_scannable(frame: Any) -> tuple[Any, list[str]]:
    """Return something that DuckDB scans exactly, and the names of its columns as the frame has them.

    Args:
        frame: a pandas DataFrame, a polars DataFrame or LazyFrame, an Arrow table, batch, dataset or reader, a
            relation of another DuckDB, or anything with an Arrow stream (`__arrow_c_stream__`).

    Raises:
        UsageError: something else.
        InputError: a frame without columns, two columns of one name, or a column that cannot be read exactly.
        MissingDriver: pyarrow is needed and not installed.
    """
    if is_instance_of(frame, "pandas", "Series") or is_instance_of(frame, "polars", "Series"):
        raise UsageError("The target is a Series, which is one column. Use its .to_frame().")
    if is_instance_of(frame, "pandas", "DataFrame"):
        return _readable_pandas(frame)
    if is_relation(frame):
        return _check_columns(Rescanned(frame), list(frame.columns))
    if is_instance_of(frame, "polars", "DataFrame", "LazyFrame"):
        _need_pyarrow("polars frames")
        return _check_columns(_readable_polars(frame), list(frame.collect_schema().names()))
    if is_instance_of(frame, "pyarrow", "RecordBatchReader"):
        frame = frame.read_all()  # a reader gives its rows once, and an audit reads them several times
    elif is_instance_of(frame, "pyarrow", "RecordBatch"):
        frame = sys.modules["pyarrow"].Table.from_batches([frame])
    elif hasattr(frame, "__arrow_c_stream__") and not (
        is_instance_of(frame, "pyarrow", "Table") or is_instance_of(frame, "pyarrow.dataset", "Dataset")
    ):
        _need_pyarrow("frames of this kind")
        import pyarrow as pa

        frame = pa.RecordBatchReader.from_stream(frame).read_all()
    if is_instance_of(frame, "pyarrow", "Table") or is_instance_of(frame, "pyarrow.dataset", "Dataset"):
        return _check_columns(exact_table(frame, FRAME), list(frame.schema.names))
    raise UsageError(f"A frame must be a pandas, polars or Arrow table, not a {type(frame).__name__}.")


def arrow_files(files: Files, folders: Sequence[str] = ()) -> tuple[object, list[str]]:
    """Return Arrow IPC files (also called Feather) as something that DuckDB scans exactly, and their columns.

    Raises:
        InputError: a file that is not Arrow, or is damaged, or a column that cannot be read exactly.
        MissingDriver: pyarrow is not installed.
    """
    _need_pyarrow("Arrow files")
    import pyarrow as pa
    import pyarrow.dataset as ds

    try:
        paths = [str(path) for path in files.paths]
        refuse_same(pa.ipc.open_file(pa.memory_map(paths[0])).schema.names, folders, files.label)
        dataset = ds.dataset(paths, format="ipc")
        if any(not file.physical_schema.equals(dataset.schema) for file in dataset.get_fragments()):
            raise InputError(
                f"The files of {files.label!r} do not have the same columns in the same order. Write them with one "
                "schema, or audit them one by one."
            )
        names = list(dataset.schema.names)
        if folders:
            texts = pa.schema([(name, pa.string()) for name in folders])
            dataset = ds.dataset(paths, format="ipc", partitioning=ds.partitioning(texts, flavor="hive"))
        return _check_columns(exact_table(dataset, repr(files.label)), names)
    except (pa.ArrowInvalid, OSError):
        pass
    try:
        table = pa.concat_tables([_read_stream(path, files.label) for path in files.paths])
    except (pa.ArrowInvalid, OSError):
        raise InputError(f"{files.label!r} is not an Arrow file, or is damaged.") from None
    if folders:
        raise InputError(
            f"{files.label!r} is an Arrow stream, but only Arrow files (Feather) can be in folders that are columns. "
            "Write it as such a file, or as Parquet."
        )
    names = list(table.schema.names)
    refuse_same(names, (), files.label)
    return _check_columns(exact_table(table, repr(files.label)), names)


def _read_stream(path: Path, label: str) -> object:
    """Return the rows of a file with one Arrow stream. Its end mark is checked, since the reader accepts a file without
    one.
    """
    import pyarrow as pa

    source = pa.memory_map(str(path))
    reader = pa.ipc.open_stream(source)
    batches, behind = [], source.tell()
    for batch in reader:
        batches.append(batch)
        behind = source.tell()
    if source.tell() - behind not in _ENDS or source.tell() < source.size():
        raise InputError(f"{label!r} is an incomplete Arrow stream: rows may be missing.")
    return pa.Table.from_batches(batches, reader.schema)


class Rescanned:
    """A relation of another DuckDB, run again there whenever it is scanned; its rows pass by in batches.

    Args:
        relation: an open relation.
    """

    def __init__(self, relation: Any) -> None:
        self._relation = relation

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._relation.__arrow_c_stream__(requested_schema)


def _need_pyarrow(subject: str) -> None:
    """Raise MissingDriver if pyarrow is not installed."""
    if "pyarrow" not in sys.modules and importlib.util.find_spec("pyarrow") is None:
        raise MissingDriver(f"Reading {subject} needs the package pyarrow: pip install 'sqlaudit[frames]'.")


def _check_columns(frame: object, names: list[str]) -> tuple[object, list[str]]:
    """Return the frame and its names; raise InputError if it has no columns, or two of one name."""
    if not names:
        raise InputError("The frame has no columns.")
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        raise InputError(f"The frame has two columns named {twice!r}. Rename one of them.")
    return frame, names


def _unread_error(name: str, label: str, kind: object) -> InputError:
    """Return the error for a column of a type that cannot be read without changing values."""
    return InputError(
        f"Column {shown(name)} of {label} has the type {kind}, which cannot be read without changing values. Make it "
        "text, or drop it."
    )


# Types of Arrow, and which of them DuckDB reads so that different values stay different.

_EXTENSIONS = ("arrow.uuid", "arrow.json", "arrow.bool8")
"""Extension types that DuckDB knows. Of others their storage is read."""
_PLAIN = (
    "null boolean integer float32 float64 string large_string string_view binary large_binary binary_view "
    "fixed_size_binary date32 time32 time64"
)


def exact_table(table: Any, label: str) -> object:
    """Return an Arrow table or dataset in which DuckDB reads every column exactly; a dataset stays one if it can.

    Raises:
        InputError: a column that DuckDB would round, or does not read.
    """
    changed = [i for i, field in enumerate(table.schema) if readable_type(field.type) != field.type]
    if changed and hasattr(table, "to_table"):
        table = table.to_table()
    for i in changed:
        name = table.schema.names[i]
        table = table.set_column(i, name, exact_column(table.column(i), name, label))
    return table


def exact_column(column: Any, name: str, label: str, readable: Callable[[object], object] | None = None) -> object:
    """Return an Arrow column of a type that holds its values exactly, or of texts that are as different.

    Args:
        readable: gives the type as which an engine reads another; None = DuckDB's.

    Raises:
        InputError: there is no such type.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_run_end_encoded(column.type):
        chunks = column.chunks if hasattr(column, "chunks") else [column]
        column = pa.chunked_array([pc.run_end_decode(chunk) for chunk in chunks], column.type.value_type)
    kind = column.type
    target = (readable or readable_type)(kind)
    if target == kind:
        return column
    try:
        if target is not None:
            return column.cast(target)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # a value would change
        pass
    while hasattr(kind, "storage_type") or pa.types.is_dictionary(kind):
        kind = kind.storage_type if hasattr(kind, "storage_type") else kind.value_type
        column = column.cast(kind)
    if pa.types.is_timestamp(kind):
        return column.cast(pa.timestamp(kind.unit, kind.tz and "UTC")).cast(pa.string())
    if pa.types.is_duration(kind):
        return column.cast(pa.int64()).cast(pa.string())
    if pa.types.is_decimal(kind) or pa.types.is_time(kind):
        return column.cast(pa.string())
    raise _unread_error(name, label, kind)


def readable_type(kind: Any) -> object:
    """Return the Arrow type as which DuckDB reads one exactly, if a cast to it keeps the values; None = there is none.

    The types are listed that DuckDB reads, in all its versions, and not those that it rounds.
    """
    import pyarrow as pa

    types = pa.types
    read = None
    if any(getattr(types, "is_" + name)(kind) for name in _PLAIN.split()):
        read = kind
    elif hasattr(kind, "storage_type"):
        read = kind if kind.extension_name in _EXTENSIONS else readable_type(kind.storage_type)
    elif types.is_dictionary(kind):
        value = readable_type(kind.value_type)
        read = kind if value == kind.value_type else value
    elif types.is_float16(kind):
        read = pa.float32()
    elif types.is_date64(kind):
        read = pa.date32()
    elif types.is_timestamp(kind):
        read = pa.timestamp("us", kind.tz) if kind.tz else kind
    elif types.is_duration(kind):
        read = pa.duration("us")
    elif types.is_decimal(kind):
        read = kind if 0 <= kind.scale <= kind.precision <= _DIGITS and not types.is_decimal256(kind) else None
    else:
        read = with_inner_types(kind, readable_type)
    return read


def with_inner_types(kind: Any, readable: Callable[[object], object]) -> object:
    """Return a list, map or struct of the types as which its own are read; None for others, or where one is not."""
    import pyarrow as pa

    types = pa.types
    fields = [kind.field(i) for i in range(kind.num_fields)]
    read = [readable(field.type) for field in fields]
    if not fields or None in read:
        return None
    if types.is_struct(kind):
        names = {field.name.casefold() for field in fields}
        inner = [field.with_type(target) for field, target in zip(fields, read, strict=True)]
        return pa.struct(inner) if len(names) == len(fields) else None
    is_same = read == [field.type for field in fields]
    if types.is_fixed_size_list(kind):
        return kind if is_same else pa.list_(read[0], kind.list_size)
    if types.is_list_view(kind) or types.is_large_list_view(kind):  # which Arrow does not cast rightly
        return kind if is_same else None
    makers = ((types.is_map, pa.map_), (types.is_list, pa.list_), (types.is_large_list, pa.large_list))
    make = next((make for is_kind, make in makers if is_kind(kind)), None)
    return kind if make and is_same else make and make(*read)


# polars: as Arrow, which has no integers of 128 bits and no objects of Python.


def _readable_polars(frame: Any) -> object:
    """Return a frame of polars that DuckDB reads exactly: as it is, or as an Arrow table.

    Raises:
        InputError: a column of a type that is not read.
    """
    pl = sys.modules["polars"]
    schema = frame.collect_schema()
    wide = [name for name, kind in schema.items() if str(kind) in ("Int128", "UInt128")]
    for name, kind in schema.items():
        if "Object" in str(kind) or ("Int128" in str(kind) and name not in wide):
            raise _unread_error(name, FRAME, kind)
    if wide:
        frame = frame.with_columns(pl.col(name).cast(pl.String) for name in wide)
    types = pl.DataFrame(schema=frame.collect_schema()).to_arrow().schema.types
    if any(readable_type(kind) != kind for kind in types):
        frame = exact_table(frame.lazy().collect().to_arrow(), FRAME)
    return frame


# pandas: types of its own, and objects of Python, which are of any kind.

_MASKED = ("boolean", *(sign + f"int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)), "float32", "float64")
"""Types of pandas for numbers with missing values."""
_ROUNDED = ("timedelta64[ns]", "datetime64[ns, ")
"""Types whose nanoseconds DuckDB rounds."""
_CLOCKS = ("date", "datetime", "time", "timedelta")
_SCALARS = (str, bytes, bool, int, float, complex, Decimal, Fraction, UUID, date, time, timedelta)
_WHOLE = 2**53
"""The largest number up to which a float holds every whole number."""
_BATCH = 100_000
"""Texts that are looked at in one piece."""


def _readable_pandas(frame: Any) -> tuple[object, list[str]]:
    """Return the frame, with its index if that holds values; the user's own frame stays as it is."""
    frame = _with_index(frame)
    names = [str(name) for name in frame.columns]
    _check_columns(frame, names)
    is_arrow, copied = False, False
    for i, name in enumerate(names):
        column = frame.iloc[:, i]
        exact = _exact_pandas(column, name)
        is_arrow = is_arrow or hasattr(exact.dtype, "pyarrow_dtype")
        if exact is not column:
            frame = frame if copied else frame.copy(deep=False)
            frame.isetitem(i, exact)
            copied = True
    if DUCKDB_1 and any(_is_reversed(frame.iloc[:, i].array) for i in range(len(names))):
        frame = frame.copy()
    return (pandas_as_arrow(frame, names) if is_arrow else frame), names


def _with_index(frame: Any) -> object:
    """Return the frame with its index as columns, except numbers without a name: those count the rows.

    Raises:
        InputError: a column has the name of the index, and other values.
    """
    import pandas as pd

    index = frame.index
    if index.nlevels == 1 and index.name is None and (pd.api.types.is_integer_dtype(index.dtype) or index.empty):
        return frame
    for level, name in enumerate(index.names):
        if name in frame.columns:
            if list(frame.columns).count(name) > 1 or list(frame[name]) != list(index.get_level_values(level)):
                raise InputError(f"The frame has a column and an index named {str(name)!r}. Rename one of them.")
            index = index.droplevel(level) if index.nlevels > 1 else None
            return _with_index(frame.set_axis(index if index is not None else range(len(frame))))
    try:
        return frame.reset_index()
    except ValueError:  # it has columns named index and level_0
        raise InputError(
            "The frame has an index without a name. Name it, or drop it with .reset_index(drop=True)."
        ) from None


def _is_reversed(array: object) -> bool:
    """Return True for an array that is read backwards, which DuckDB 1.x does not do."""
    parts = (getattr(array, name, None) for name in ("_ndarray", "_data"))
    return any(getattr(part, "strides", (0,))[0] < 0 for part in parts)


def pandas_as_arrow(frame: Any, names: Sequence[str]) -> object:
    """Return an Arrow table of a frame of pandas that `make_scannable` returned; integers beyond 64 bits are decimals.

    Raises:
        InputError: a column whose values have no common type.
    """
    import pyarrow as pa

    arrays = []
    for i, name in enumerate(names):
        column = frame.iloc[:, i]
        if str(column.dtype) == "object" and any(isinstance(v, int) and not -(2**63) <= v < 2**63 for v in column):
            column = column.where(column.notna(), None).map(Decimal, na_action="ignore")
        try:
            array = pa.array(column, from_pandas=True)
        except (pa.ArrowException, OverflowError):
            raise _unread_error(name, FRAME, column.dtype) from None
        arrays.append(exact_column(array, name, FRAME))
    return pa.Table.from_arrays(arrays, names=list(names))


def _exact_pandas(column: Any, name: str) -> Any:
    """Return a column of pandas that DuckDB reads exactly: the same one, or one of other values.

    Raises:
        InputError: it has a type that is not read, or values that would become equal.
    """
    import numpy as np
    import pandas as pd

    kind = column.dtype
    is_plain = isinstance(kind, np.dtype) and kind.kind in "biufMm" and kind.itemsize <= 8
    exact = column
    if isinstance(kind, pd.CategoricalDtype):
        exact = _exact_categories(column, name)
    elif isinstance(kind, pd.SparseDtype):
        exact = _exact_pandas(column.sparse.to_dense(), name)
    elif isinstance(kind, pd.IntervalDtype | pd.PeriodDtype):
        exact = _spell_values(column.astype(object), name)
    elif isinstance(kind, pd.DatetimeTZDtype) or is_plain:
        if str(kind).startswith(_ROUNDED) and (column.dropna().astype("int64") % 1000).any():
            exact = _spell_values(column.astype(object), name)
        elif is_plain and not kind.isnative:
            exact = column.astype(kind.newbyteorder("="))
    elif isinstance(kind, pd.StringDtype):
        if kind.storage == "python":
            _refuse_surrogates(column.dropna(), name)
    elif isinstance(kind, np.dtype) and kind.kind == "O":
        exact = _exact_objects(column, name)
    elif str(kind).lower() not in _MASKED and not hasattr(kind, "pyarrow_dtype"):
        raise _unread_error(name, FRAME, kind)
    return exact


def _exact_categories(column: Any, name: str) -> object:
    """Return a column of categories whose values are texts, or else a column of these values.

    Of other values DuckDB makes floating-point numbers where one is missing.
    """
    import pandas as pd

    labels = pd.Series(column.cat.categories)
    exact = _exact_pandas(labels, name)
    if pd.api.types.infer_dtype(exact) in ("string", "empty"):
        return column if exact is labels else column.cat.rename_categories(list(exact))
    return _exact_objects(column.astype(object), name)


def _exact_objects(column: Any, name: str) -> object:
    """Return a column of objects that DuckDB reads exactly.

    DuckDB judges objects by a sample, fails on the rest, or makes midnights of days. Decimals of more digits than it
    keeps, and nanoseconds, it would round.
    """
    import numpy as np
    import pandas as pd

    values = column.dropna()
    kind = pd.api.types.infer_dtype(values, skipna=True)
    are_numbers = kind in ("integer", "floating", "mixed-integer-float") and all(
        isinstance(value, int | float | np.integer) and not isinstance(value, bool) for value in values
    )
    if kind == "string":
        _refuse_surrogates(values, name)
    if (
        kind in ("string", "empty", "boolean", "bytes")
        or (kind == "floating" and are_numbers)
        or (kind == "integer" and are_numbers and all(-(2**127) < value < 2**127 for value in values))
        or (kind == "decimal" and contract.fits_decimal(values))
        or (kind in _CLOCKS and not _is_uneven(values))
    ):
        return column
    if are_numbers and kind != "integer" and all(isinstance(v, float) or abs(v) <= _WHOLE for v in values):
        return column.astype("float64")
    if any(isinstance(value, list | tuple | dict | np.ndarray) for value in values):
        return _nest_in_arrow(column, name)
    return _spell_values(column, name, contract.plain_decimal if kind == "decimal" else str)


def _is_uneven(values: Any) -> bool:
    """Return True if objects are days and moments, have zones and none, or are finer than microseconds."""
    kinds = {(isinstance(moment, datetime), getattr(moment, "tzinfo", None) is None) for moment in values}
    units = ("nanosecond", "nanoseconds")
    return len(kinds) > 1 or any(getattr(moment, unit, 0) for moment in values for unit in units)


def _spell_values(column: Any, name: str, spell: Callable[[Any], str] = str) -> object:
    """Return the values of a column as texts that are equal exactly where the values are.

    Raises:
        InputError: `1` and `"1"`, `1` and `1.0`, or objects whose text does not show their value.
    """
    import numpy as np
    import pandas as pd

    values = column.dropna()
    texts: dict[object, str] = {}
    spellings: dict[str, object] = {}
    for value in values:
        if not isinstance(value, (*_SCALARS, np.generic, pd.Interval, pd.Period)):
            kinds = ", ".join(sorted({type(cell).__name__ for cell in values})[:3])
            raise _unread_error(name, FRAME, f"object ({kinds})")
        text = spell(value)
        if texts.setdefault(value, text) != text or spellings.setdefault(text, value) != value:
            raise InputError(
                f"Column {shown(name)} of the frame has values of different types, such as a number and the same "
                "number as text. Make them of one type."
            )
    _refuse_surrogates(spellings, name)
    return column.astype(object).where(column.notna(), None).map(spell, na_action="ignore")


def _refuse_surrogates(texts: Iterable[str], name: str) -> None:
    """Refuse texts that have no UTF-8, because half of a character is missing.

    Raises:
        InputError: there is one.
    """
    strings = list(texts)
    try:
        for start in range(0, len(strings), _BATCH):
            "".join(strings[start : start + _BATCH]).encode()
    except UnicodeEncodeError:
        raise _surrogate_error(name) from None


def _surrogate_error(name: str) -> InputError:
    """Return the error for text with half of a surrogate pair."""
    return InputError(
        f"Column {shown(name)} of the frame has text that is not valid Unicode (half of a surrogate pair). Correct it, "
        "or drop the column."
    )


# Lists, arrays and dictionaries in the cells of a column of pandas: nested types of Arrow, if no two become equal.


def _nest_in_arrow(column: Any, name: str) -> object:
    """Return a column of lists, arrays or dictionaries as one of Arrow.

    Raises:
        InputError: Arrow has no type for its cells, or makes two of them equal. MissingDriver: no pyarrow.
    """
    _need_pyarrow("lists and dictionaries in frames")
    import pandas as pd
    import pyarrow as pa

    values = [None if missing else value for value, missing in zip(column, column.isna(), strict=True)]
    try:
        cells = pa.array(values)
        if len(set(map(_equality_key, cells.to_pylist()))) == len(set(map(_equality_key, values))):
            return pd.Series(cells, index=column.index, dtype=pd.ArrowDtype(cells.type))
    except UnicodeError:
        raise _surrogate_error(name) from None
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        pass
    kinds = ", ".join(sorted({type(value).__name__ for value in values if value is not None})[:3])
    raise _unread_error(name, FRAME, f"object ({kinds})")


def _equality_key(value: object) -> object:
    """Return a hashable key that is equal for equal values of one type; numbers of several types are equal.

    Raises:
        TypeError: there is none, or the value has nanoseconds, which Arrow drops.
    """
    import numpy as np

    kind = type(value).__name__
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return kind, tuple(sorted((name, _equality_key(item)) for name, item in value.items()))
    if isinstance(value, list | tuple):
        return kind, tuple(map(_equality_key, value))
    if getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0):
        raise TypeError
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return "NaN" if math.isnan(value) else value  # no NaN equals another
    return type(value).__name__, value
