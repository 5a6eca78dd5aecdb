"""What a stranger gives to a cube: odd names, huge and infinite numbers, missing values, and a key to stop it."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import SqlauditError
from sqlaudit.engines.contract import Engine
from tests.audit_values import values_query
from tests.cli.runner import run

LARGE = 2**62


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_sums_that_no_whole_number_of_eight_bytes_holds_are_exact(engine: Engine) -> None:
    query = values_query([{"g": "ab"[n % 2], "x": LARGE - n} for n in range(12)], {"g": "text", "x": "int"})
    expected = {group: sum(LARGE - n for n in range(12) if n % 2 == place) for place, group in enumerate("ab")}
    asked: dict[str, Any] = {"query": query, "db": engine, "dimensions": ["g"], "measures": ["x"]}
    for file in ("cube.csv", "cube.parquet", "cube.duckdb"):
        assert sqlaudit.cube(None, require=["threshold=5"], to=file, show_blocks=True, **asked).blocks == 2
    with Path("cube.csv").open(encoding="utf-8", newline="") as text:
        assert {row["g"]: int(row["x_sum"]) for row in csv.DictReader(text)} == expected
    with duckdb.connect("cube.duckdb", read_only=True) as connection:
        assert dict(connection.execute("SELECT g, CAST(x_sum AS HUGEINT) FROM cube").fetchall()) == expected
    found = duckdb.sql("SELECT g, CAST(x_sum AS HUGEINT) FROM 'cube.parquet'").fetchall()
    assert dict(found) == expected


@pytest.mark.parametrize("value", ["inf", "-inf", "nan", "1e30"])
def test_a_number_without_a_sum_is_said_with_its_measure(value: str) -> None:
    query = f"SELECT 'a' AS g, unnest([CAST('{value}' AS DOUBLE), 1.5, 2.5, 3.5, 4.5, 5.5]) AS x"
    with pytest.raises(SqlauditError) as refused:
        sqlaudit.cube(query=query, dimensions=["g"], measures=["x"], require={"threshold": 5}, to="cube.csv")
    assert "step 'blocks'" in str(refused.value)
    assert "Values of x must be finite, with at most 16 digits before the point." in str(refused.value)
    assert value not in str(refused.value).replace("finite", "")
    assert not Path("cube.csv").exists()


def test_odd_names_and_missing_values_come_through() -> None:
    odd = 'a "b" 😀, c'
    table = pd.DataFrame({odd: ["x'", None, "=1+1"] * 10, "day": ["2020-01-02", None] * 15, "x": range(30)})
    table.to_parquet("people.parquet")
    typed = '"a ""b"" 😀, c"'
    asked = ("cube", "people.parquet", "--dimensions", f"{typed},CAST(day AS DATE)", "--measures", "x")
    for form in ("csv", "parquet", "duckdb"):
        ran = run(*asked, "--require", "threshold=5", "--to", f"cube.{form}")
        assert ran.code == 0, ran.err
    with duckdb.connect("cube.duckdb", read_only=True) as connection:
        cells = connection.execute("SELECT * FROM cube ORDER BY ALL").fetchall()
    assert duckdb.sql("FROM 'cube.parquet' ORDER BY ALL").fetchall() == cells
    assert {(row[0], None if row[1] is None else str(row[1])): row[2:] for row in cells} == {
        (name, day): (5, 5, sum(n for n in range(30) if (n % 3, n % 2) == (place, odd_row)), 5)
        for place, name in enumerate(("x'", None, "=1+1"))
        for odd_row, day in enumerate(("2020-01-02", None))
    }
    select = 'SELECT "a ""b"" 😀, c" FROM cube WHERE x_sum = 60'
    assert run("console", "cube.duckdb", "-c", select, "--format", "csv").code == 0


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--dimensions", "sexx"), "Did you mean 'sex'?"),
        (("--dimensions", "sex", "--measures", "incom"), "Did you mean 'income'?"),
        (("--dimensions", "sex", "--measures", "who"), "'who' is not numeric"),
        (("--dimensions", "sex,sex"), "Two columns of the cube are called 'sex'"),
        (("--dimensions", "sex", "--entity", "part"), "has rows without a person"),
        (("--dimensions", "sex", "--to", "no/cube.duckdb"), "does not exist"),
        (("--dimensions", "sex", "--to", "cube.db"), "must end in"),
        (("--dimensions", "sex", "--to", "cube.duckdb", "--bom"), "--bom applies to .csv files only"),
        (("--dimensions", "sex", "--to", "people.csv"), "is an input"),
        (("--dimensions", "sex", "--before", "damaged.duckdb"), "cannot be read as Parquet or DuckDB"),
        (("--dimensions", "sex", "--margins", "damaged.duckdb"), "cannot be read as Parquet or DuckDB"),
        (("--dimensions", "sex", "--to", "cube.csv", "--certificate", "cube.csv"), "is named twice"),
    ],
)
def test_a_mistake_is_one_sentence_and_leaves_nothing(folder: Path, more: tuple[str, ...], said: str) -> None:
    lines = [f"p{n},{'fm'[n % 2]},{n},{'' if n == 7 else n}" for n in range(20)]
    Path("people.csv").write_text("\n".join(["who,sex,income,part", *lines]) + "\n", encoding="utf-8")
    Path("damaged.duckdb").write_bytes(b"01234567DUCK" + b"\0" * 90)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    ran = run("cube", "people.csv", "--require", "threshold=5", *more)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran.said
    assert said in ran.err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
