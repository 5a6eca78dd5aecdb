"""From a path, glob or frame to what DuckDB reads: files that exist, their format, and frames that are not copied."""

from __future__ import annotations

import glob
import importlib.util
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlaudit.base.connection_texts import looks_like_connection
from sqlaudit.base.errors import InputError, MissingDriver, PermissionDenied, UsageError
from sqlaudit.base.files import exists as lies_there
from sqlaudit.base.files import expanded, is_file, is_folder, is_sqlite
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import closest
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import FILE_FORMATS
from sqlaudit.engines import contract, is_one, is_relation
from sqlaudit.engines.contract import refuse_same

# From a path or glob, as a user writes it, to files that exist and the format they have.

_SUFFIXES = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt", ".data", ".dat"), "csv"),
    **dict.fromkeys((".json", ".ndjson", ".jsonl"), "json"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".arrow", ".feather", ".ipc", ".arrows"), "arrow"),
    **dict.fromkeys((".xlsx", ".xlsm"), "excel"),
    **dict.fromkeys((".sav", ".zsav"), "spss"),
    ".dta": "stata",
    **dict.fromkeys((".sas7bdat", ".xpt"), "sas"),
}
PACKED = (".gz", ".zst")
_FRAME, _SKIPPED, _SKIPPABLE = 0xFD2FB528, 0x184D2A50, 0xFFFFFFF0
"""How frames of zstd begin, and those that hold no data: sixteen numbers from `_SKIPPED` on."""
_RUN = 1
"""The kind of a block that is one byte, said how often."""
_FOREIGN = {
    **dict.fromkeys((".xls", ".xlsb", ".ods"), "a spreadsheet of another format: save it as .xlsx or CSV"),
    **dict.fromkeys((".por", ".rds", ".rdata"), "a statistics file of another format: export CSV or Parquet"),
    **dict.fromkeys((".sqlite", ".sqlite3"), "named like an SQLite database, but is not one"),
    **dict.fromkeys((".zip", ".bz2", ".xz", ".7z", ".tar", ".tgz"), "an archive: unpack it, or use gzip or zstd"),
}
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow"}


@dataclass(frozen=True)
class Files:
    """Files that form one table.

    Args:
        paths: absolute paths, none of them empty, in a fixed order.
        format: one of `FILE_FORMATS`.
        label: the path or glob as the user wrote it.
    """

    paths: tuple[Path, ...]
    format: str
    label: str

    @property
    def texts(self) -> list[str]:
        """The paths as DuckDB takes them: it reads every one as a pattern, so signs of patterns are escaped."""
        return [glob.escape(str(path)) for path in self.paths]

    @property
    def bytes(self) -> int:
        """The size of all files on disk."""
        return sum(path.stat().st_size for path in self.paths)


def looks_like_path(text: str) -> bool:
    """True for a text that can only be meant as a file: it has a known suffix, a slash, or a wildcard."""
    name = Path(text).name
    return any(c in text for c in "/\\*?") or _suffix(name) in _SUFFIXES or Path(name).suffix in _FOREIGN


def exists(text: str) -> bool:
    """True when a text names a file, or a glob that fits one."""
    return any(is_file(path) for path in matching(text))


def find_files(text: str, format: str = "") -> Files:
    """The files that a path or glob names.

    Args:
        text: a path or glob as the user wrote it.
        format: one of `FILE_FORMATS`; empty = by the files' names and first bytes.

    Raises:
        UsageError: no such file, a folder without tables, a web address, or a format that is not read.
        InputError: files without any content.
        PermissionDenied: a file that this user may not read.
    """
    if looks_like_connection(text):
        raise UsageError(
            f"The name of a file or table looks like a database connection. Give that with {spelled('db')}."
        )
    if "://" in text:
        raise UsageError(f"{text!r} is a web address. Only local files are read: download it first.")
    paths = matching(text)
    if not paths:
        raise missing(text)
    starts = {path: _read_start(path, text) for path in paths}
    filled = tuple(path for path in paths if path.stat().st_size)
    if not filled:
        raise InputError(f"{text!r} is empty (0 bytes).")
    kinds = {_format(path, starts[path], format): path.name for path in reversed(filled)}
    if len(kinds) > 1:
        said = ", ".join(f"{name!r} is {kind}" for kind, name in sorted(kinds.items()))
        raise UsageError(f"{text!r} names files of several formats: {said}. Name one format, for example with *.csv.")
    return Files(filled, next(iter(kinds)), text)


def matching(text: str) -> list[Path]:
    """The absolute paths that a text names, those in a folder; a file of just this name goes before a pattern."""
    plain = expanded(text)
    if is_folder(plain):
        return in_folder(plain.absolute())
    if lies_there(plain):
        return [plain.absolute()]
    if not glob.has_magic(text):
        return []
    found = sorted(glob.glob(str(plain), recursive=True))  # noqa: PTH207 (Path.glob takes no absolute pattern)
    return [path.absolute() for path in map(Path, found) if is_file(path)]


def in_folder(folder: Path) -> list[Path]:
    """The files of a folder and those below it whose names say that they are tables, hidden ones left out."""
    found = (path for path in sorted(folder.rglob("*")) if _suffix(path.name) in _SUFFIXES and is_file(path))
    return [path for path in found if not any(part[0] in "._" for part in path.relative_to(folder).parts)]


def missing(text: str) -> UsageError:
    if is_folder(expanded(text)):
        endings = ", ".join(dict.fromkeys(_SUFFIXES))
        return UsageError(f"The folder {text!r} has no file that ends in {endings}.")
    if glob.has_magic(text):
        return UsageError(f"No file matches the pattern {text!r}.")
    names: list[str] = []
    with suppress(OSError, ValueError):
        names = [entry.name for entry in expanded(text).parent.iterdir()]
    return UsageError(f"There is no file {text!r}.{closest(Path(text).name, names)}")


def _read_start(path: Path, text: str) -> bytes:
    """The first bytes of a file that is no database and can be read."""
    name = text if expanded(text).absolute() == path else path.name
    if not is_file(path):
        raise UsageError(
            f"{name!r} is not a regular file, but an audit reads its input more than once. Save it as a file."
        )
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except PermissionError:
        raise PermissionDenied(f"{name!r} is not readable by this user.") from None
    except OSError:
        raise InputError(f"{name!r} can't be read from the disk.") from None
    if path.suffix.lower() == ".zst" and _is_cut(path):
        raise InputError(f"{name!r} is not a complete zstd file, so rows may be missing.")
    kind = "a DuckDB" if start[8:12] == b"DUCK" else "an SQLite" if is_sqlite(path) else ""
    if kind:
        raise UsageError(
            f"{name!r} is {kind} database. Give it with {spelled('db')}, and name one of its tables or views."
        )
    return start


def _is_cut(path: Path) -> bool:
    """Whether a zstd file is none, or ends before its last block: DuckDB takes the rows up to there for all of them.

    Blocks say how long they are, so nothing is decompressed (RFC 8878, section 3.1).
    """
    size = path.stat().st_size
    with path.open("rb") as file:

        def number(length: int) -> int:
            return int.from_bytes(file.read(length), "little")

        while file.tell() < size:
            start = number(4)
            if start & _SKIPPABLE == _SKIPPED:
                file.seek(number(4), 1)
                continue
            if start != _FRAME:
                return True
            told = number(1)
            one_segment = told >> 5 & 1
            file.seek((1 - one_segment) + (0, 1, 2, 4)[told & 3] + (one_segment, 2, 4, 8)[told >> 6], 1)
            last = 0
            while not last:
                if file.tell() + 3 > size:
                    return True
                block = number(3)
                last, kind, length = block & 1, block >> 1 & 3, block >> 3
                file.seek(1 if kind == _RUN else length, 1)
            file.seek(4 * (told >> 2 & 1), 1)
        return file.tell() > size


def _format(path: Path, start: bytes, format: str) -> str:
    if format:
        if format not in FILE_FORMATS:
            raise UsageError(f"There is no format {format!r}. Use one of {', '.join(FILE_FORMATS)}.")
        return format
    if path.suffix.lower() in _FOREIGN:
        raise UsageError(f"{path.name!r} is {_FOREIGN[path.suffix.lower()]}.")
    by_bytes = (kind for magic, kind in _MAGIC.items() if start.startswith(magic))
    return next(by_bytes, _SUFFIXES.get(_suffix(path.name), "csv"))


def _suffix(name: str) -> str:
    """The suffix that tells the format: the last one, or the one before .gz and .zst."""
    path = Path(name.lower())
    return Path(path.stem).suffix if path.suffix in PACKED else path.suffix


# Frames and Arrow files: made readable for DuckDB without copying their rows into Python.

_FINE = "Duration(time_unit='ns')"
_ROUNDED = ("timedelta64[ns]", "datetime64[ns, ")
"""Types of pandas whose nanoseconds DuckDB rounds."""
_CLOCKS = ("date", "datetime", "time", "timedelta")
_ENDS = (4, 8)
"""Bytes of the mark behind the last batch of an Arrow stream, in its older form and today's."""
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
    if is_one(frame, "pandas", "Series") or is_one(frame, "polars", "Series"):
        raise UsageError("The target is a Series, which is one column. Use its .to_frame().")
    if is_one(frame, "pandas", "DataFrame"):
        return _pandas(frame)
    if is_relation(frame):
        return _with_columns(Rescanned(frame), list(frame.columns))
    if is_one(frame, "polars", "DataFrame", "LazyFrame"):
        _need_pyarrow("polars frames")
        return _with_columns(_wide_as_text(frame), list(frame.collect_schema().names()))
    if is_one(frame, "pyarrow", "RecordBatchReader"):
        frame = frame.read_all()  # a reader gives its rows once, an audit asks several times
    elif is_one(frame, "pyarrow", "RecordBatch"):
        frame = sys.modules["pyarrow"].Table.from_batches([frame])
    elif hasattr(frame, "__arrow_c_stream__") and not is_one(frame, "pyarrow", "Table"):
        _need_pyarrow("frames of this kind")
        import pyarrow as pa

        frame = pa.RecordBatchReader.from_stream(frame).read_all()
    if is_one(frame, "pyarrow", "Table"):
        return _with_columns(long_as_text(frame), list(frame.schema.names))
    if is_one(frame, "pyarrow.dataset", "Dataset"):
        _refuse_long(frame.schema, "the frame")
        return _with_columns(frame, list(frame.schema.names))
    raise UsageError(f"A frame must be a pandas, polars or Arrow table, not a {type(frame).__name__}.")


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
        if any(not one.physical_schema.equals(dataset.schema) for one in dataset.get_fragments()):
            raise InputError(
                f"The files of {files.label!r} do not have the same columns in the same order. Write them with one "
                "schema, or audit them one by one."
            )
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
        table = long_as_text(pa.concat_tables([_streamed(path, files.label) for path in files.paths]))
    except (pa.ArrowInvalid, OSError):
        raise InputError(f"{files.label!r} is not an Arrow file, or is damaged.") from None
    if folders:
        raise InputError(
            f"{files.label!r} is an Arrow stream, but only Arrow files (Feather) can be in folders that are columns. "
            "Write it as such a file, or as Parquet."
        )
    return _with_columns(table, list(table.schema.names))


def _streamed(path: Path, label: str) -> Any:
    """The rows of a file with one Arrow stream; a reader takes its end for the end of the stream, marked or not."""
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
    if kind == "decimal" and not contract.fit(column.dropna()):
        return contract.plain
    if kind == "integer" and not all(-(2**127) < value < 2**127 for value in column.dropna()):
        return str
    return None


def _is_uneven(values: Any) -> bool:
    """Whether objects are days and moments, have zones and none, or are finer than microseconds."""
    kinds = {(isinstance(one, datetime), getattr(one, "tzinfo", None) is None) for one in values}
    return len(kinds) > 1 or any(getattr(one, "nanosecond", 0) or getattr(one, "nanoseconds", 0) for one in values)
