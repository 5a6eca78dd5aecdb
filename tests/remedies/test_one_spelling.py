"""Releases write values that are equal to the database in one way, and are audited as the file that was written."""

from __future__ import annotations

import csv
import math
import struct
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

import sqlaudit
from sqlaudit.audits import release
from sqlaudit.base.errors import EngineError, UsageError
from sqlaudit.base.relation import Statement
from sqlaudit.engines.contract import Engine

ZEROS = ("0.0", "-0.0", "0", "-0")
EQUAL = {
    "duckdb": {"FLOAT": ZEROS, "DOUBLE": ZEROS},
    "spark": {"FLOAT": ZEROS, "DOUBLE": ZEROS},
    "postgres": {
        "NUMERIC": ("1", "1.0", "1.00", "1.000"),
        "REAL": ZEROS,
        "DOUBLE PRECISION": ZEROS,
        "BPCHAR": ("a", "a ", "a  ", "a   "),
    },
}
NO_SPELLING = {
    "duckdb": {"DOUBLE[]": ("[0.0]", "[-0.0]"), "INTERVAL": ("1 month", "30 days")},
    "spark": {"ARRAY<DOUBLE>": ("0.0", "-0.0")},
    "postgres": {
        "INTERVAL": ("1 month", "30 days"),
        "JSONB": ('{"a": 1}', '{"a": 1.0}'),
        "NUMERIC[]": ("{1}", "{1.0}"),
        "NUMRANGE": ("[1,2]", "[1.0,2.0]"),
    },
}


def suppress(query: str, db: Engine, **where: Any) -> Any:
    return sqlaudit.suppress(query=query, db=db, qi=["x", "age"], require="k=4", **where)


def recode(query: str, db: Engine, **where: Any) -> Any:
    return sqlaudit.recode(query=query, db=db, qi=["x", "age"], require=["k=4"], **where)


def lattice(query: str, db: Engine, **where: Any) -> Any:
    hierarchies = {"x": "keep", "age": {"widths": [10]}}
    return sqlaudit.lattice(query=query, db=db, qi=["x", "age"], require=["k=4"], hierarchies=hierarchies, **where)


REMEDIES = pytest.mark.parametrize("remedy", [suppress, recode, lattice])


def rows(kind: str, texts: tuple[str, ...]) -> str:
    """Four rows and as many texts of one value, in two ages, and four that stay as they are."""
    if kind.startswith("ARRAY"):
        made = [f"(array(CAST('{texts[i % len(texts)]}' AS DOUBLE)), {1 + i // 2 % 2})" for i in range(8)]
        return f"SELECT * FROM (VALUES {', '.join(made)}) AS t(x, age)"
    one = [f"(CAST('{texts[i % len(texts)]}' AS {kind}), {1 + i // 2 % 2})" for i in range(8)]
    return f"SELECT * FROM (VALUES {', '.join(one)}) AS t(x, age)"


def sizes(path: Path) -> list[int]:
    """How many rows a stranger finds for each combination of texts."""
    if path.suffix == ".parquet":
        found = pyarrow.parquet.read_table(path).to_pylist()
        return list(Counter(tuple(map(str, row.values())) for row in found).values())
    with path.open(newline="") as file:
        return list(Counter(tuple(row) for row in list(csv.reader(file))[1:]).values())


@REMEDIES
@pytest.mark.parametrize("suffix", ["csv", "parquet", "sql"])
def test_equal_values_are_written_in_one_way(
    engine: Engine, tmp_path: Path, remedy: Callable[..., Any], suffix: str
) -> None:
    for kind, texts in EQUAL[engine.dialect].items():
        file = tmp_path / f"release.{suffix}"
        remedy(rows(kind, texts), engine, to=file)
        if suffix == "sql":
            found = engine.run(Statement("released", file.read_text()))
            assert min(Counter(tuple(map(str, row)) for row in found).values()) >= 4, kind
        else:
            assert min(sizes(file)) >= 4, kind


@REMEDIES
def test_values_without_one_spelling_are_refused(engine: Engine, tmp_path: Path, remedy: Callable[..., Any]) -> None:
    for kind, texts in NO_SPELLING[engine.dialect].items():
        with pytest.raises(UsageError, match=r"equal values with several spellings|another kind than"):
            remedy(rows(kind, texts), engine, to=tmp_path / "release.csv")
        assert not (tmp_path / "release.csv").exists()
        if remedy is not recode:  # it wants numbers, texts and dates
            remedy(rows(kind, texts[:1]), engine, to=tmp_path / "one.csv")


@REMEDIES
def test_what_is_audited_is_the_file(
    engine: Engine, tmp_path: Path, remedy: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release, "expression", lambda _, dialect, *, value, kind: value.sql)  # as they are written
    (tmp_path / "release.csv").write_text("of yesterday")
    for kind, texts in EQUAL[engine.dialect].items():
        with pytest.raises(EngineError, match=r"'.*release.csv' has 8 rows in \d groups, not 8 in \d\.|fails"):
            remedy(rows(kind, texts), engine, to=tmp_path / "release.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["release.csv"]
    assert (tmp_path / "release.csv").read_text() == "of yesterday"


def test_names_and_values_that_a_spreadsheet_would_run_are_no_contradiction(tmp_path: Path) -> None:
    """They are written with an apostrophe, which the audit of the file has to look past."""
    people = [("=1+1", " b", "=x"), ("=1+1", " b", None), ("-2", "", "y"), ("-2", "", "y")]
    frame = pyarrow.table({"=a": [p[0] for p in people], " b ": [p[1] for p in people], "s;": [p[2] for p in people]})
    for file in (tmp_path / "release.csv", tmp_path / "release.parquet"):
        sqlaudit.suppress(frame, qi=["=a", " b "], sensitive=["s;"], require=["k=2"], to=file)
        assert sorted(sizes(file)) == [1, 1, 2]


def test_a_release_of_nothing_but_its_quasi_identifiers_and_nulls(tmp_path: Path) -> None:
    frame = pyarrow.table({"a": [None, None, "", ""], "n": [1, 1, 1, 1]})
    for file in (tmp_path / "release.csv", tmp_path / "release.parquet"):
        found = sqlaudit.suppress(frame, qi=["a", "n"], require=["k=2"], to=file)
        assert found.release is not None
        assert found.release.audit.rows == 4


@pytest.mark.parametrize("width", ["<d", "<f"])
@pytest.mark.parametrize("command", [sqlaudit.suppress, sqlaudit.recode])
def test_nan_of_any_bits_is_one_value(tmp_path: Path, command: Callable[..., Any], width: str) -> None:
    bits = {"<d": ("<Q", 0xFFF8_0000_0000_0001), "<f": ("<I", 0xFFC0_0001)}[width]
    other = struct.unpack(width, struct.pack(*bits))[0]
    numbers = pyarrow.array([1.0, 1.0, 2.0, 2.0, math.nan, other, math.nan, other], pyarrow.float64())
    table = pyarrow.table(
        {"x": numbers.cast(pyarrow.float64() if width == "<d" else pyarrow.float32()), "s": [*"abababab"]}
    )
    pyarrow.parquet.write_table(table, tmp_path / "p.parquet")
    command(str(tmp_path / "p.parquet"), qi=["x"], require=["k=3"], to=tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        written = Counter(row["x"] for row in csv.DictReader(file))
    assert written["nan"] == 4 or written["*"] == 8
    assert min(written.values()) >= 3
