"""Times in nanoseconds stay apart, or the column is refused by its name where somebody uses it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlaudit
from sqlaudit.base.errors import InputError

FINE = [1_600_000_000_000_000_001, 1_600_000_000_000_000_002, -1]
"""Three moments that are two in microseconds."""
TYPES: dict[str, tuple[pa.DataType, dict[str, Any]]] = {
    "timestamp": (pa.timestamp("ns"), {}),
    "timestamp in UTC": (pa.timestamp("ns", "UTC"), {}),
    "clock time": (pa.time64("ns"), {}),
    "INT96": (pa.timestamp("ns"), {"use_deprecated_int96_timestamps": True}),
}


def written(folder: Path, kind: str, values: list[int], *, nested: bool = False) -> str:
    data_type, options = TYPES[kind]
    column = pa.array([value % 86_400_000_000_000 for value in values] if "clock" in kind else values, data_type)
    if nested:
        column = pa.ListArray.from_arrays(list(range(len(values) + 1)), column)
    table = pa.table({"x": column, "sex": ["f"] * len(values)})
    pq.write_table(table, folder / "t.parquet", **options)
    return str(folder / "t.parquet")


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("kind", TYPES)
def test_parquet_times_stay_apart_or_are_refused(tmp_path: Path, kind: str, nested: bool) -> None:
    path = written(tmp_path, kind, FINE, nested=nested)
    try:
        assert sqlaudit.audit(path, qi=["x"]).classes.count == len(FINE)
    except InputError:
        for options in ({"qi": ["x"]}, {"qi": ["x IS NULL"]}, {"qi": ["sex"], "sensitive": "x"}):
            with pytest.raises(InputError, match=r"^Column 'x' .* has times in nanoseconds"):
                sqlaudit.audit(path, **options)
    assert sqlaudit.audit(path, qi=["sex"]).rows == len(FINE)


@pytest.mark.parametrize("kind", TYPES)
def test_whole_microseconds_are_read(tmp_path: Path, kind: str) -> None:
    before_1970 = [] if kind == "INT96" and pa.__version__.startswith("16.") else [-1000]  # 16 coerces these wrongly
    path = written(tmp_path, kind, [1_600_000_000_000_001_000, 1_600_000_000_000_002_000, *before_1970])
    assert sqlaudit.audit(path, qi=["x"]).classes.count == 2 + len(before_1970)


def test_a_query_or_condition_may_read_any_column(tmp_path: Path) -> None:
    path = written(tmp_path, "INT96", FINE)
    with pytest.raises(InputError, match="nanoseconds"):
        sqlaudit.audit(path, qi=["sex"], where="x IS NOT NULL")
    with pytest.raises(InputError, match="nanoseconds"):
        sqlaudit.audit(query=f"SELECT x FROM '{path}'", qi=["x"])
