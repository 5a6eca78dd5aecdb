"""Honest frames, statistics files and files beside tables of a lake: what analysts have in memory and on disk."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
from pyarrow import feather

import sqlaudit
from sqlaudit.base.errors import SqlauditError
from tests.cli.runner import Ran
from tests.honest.honest_table import HonestTable


@dataclass(frozen=True)
class HonestFrame(HonestTable):
    """A frame in Python, and the call of an honest user. The exit code is what the command line would give.

    Args:
        make: returns the frame. asked: the arguments of `sqlaudit.audit`.
    """

    command: str = ""
    make: Callable[[], Any] = pd.DataFrame
    asked: Mapping[str, Any] = field(default_factory=dict)

    def answer(self, folder: Path, more: str = "") -> Ran:
        """Call the function, and return its verdict as an exit code."""
        try:
            result = sqlaudit.audit(self.make(), **self.asked)
        except SqlauditError as error:
            return Ran(int(error.exit_code), "", str(error))
        return Ran(0 if result.passed else 1, str(result), "")


AGES = [24, 27, 31, 38] * 10
SEX = [sex for sex in "fm" for _ in range(20)]
DIAGNOSIS = ["flu", "cold"] * 20
QI = {"qi": ["band", "sex"], "require": {"k": 5}}
BANDS = {"band": ["20-29", "20-29", "30-39", "30-39"] * 10, "sex": SEX}


def people(**more: Any) -> pd.DataFrame:
    """Forty people in four classes of ten, with further columns."""
    return pd.DataFrame({**BANDS, **more})


def cut(**more: Any) -> pd.DataFrame:
    return pd.DataFrame({"band": pd.cut(pd.Series(AGES), [20, 30, 40]), "sex": SEX, **more})


FRAMES = [
    ("pandas: ages banded with pd.cut", cut, QI),
    ("pandas: ages banded with pd.cut and labels", lambda: people(age=AGES).assign(
        band=lambda t: pd.cut(t["age"], [20, 30, 40], labels=["twenties", "thirties"])), QI),
    ("pandas: incomes in quartiles with pd.qcut", lambda: people(
        income=pd.qcut(pd.Series([10.5, 20, 30, 40] * 10), 4)), QI),
    ("pandas: a pd.cut column that has no role", lambda: people(age_band=cut()["band"]), QI),
    ("pandas: visit dates as months", lambda: people(
        month=pd.PeriodIndex(["2024-01", "2024-02"] * 20, freq="M")), {**QI, "qi": ["month", "sex"]}),
    ("pandas: a filtered frame keeps the numbers of its rows", lambda: people(n=range(40)).query("n % 2 == 0"), {
        "qi": ["band", "sex"], "require": {"k": 5}, "all_columns_named": False}),
    ("pandas: quasi-identifiers in a named index", lambda: people().set_index("sex"), QI),
    ("pandas: quasi-identifiers in an index of two levels", lambda: people(n=1).set_index(["sex", "band"]), QI),
    ("pandas: the index is a column as well", lambda: people(n=range(40)).set_index("n", drop=False), QI),
    ("pandas: sorted and reversed", lambda: people(n=range(40), x=0.5)[::-1], QI),
    ("pandas: reversed, with missing whole numbers", lambda: people(n=pd.array([1, None] * 20, dtype="Int64"))[::-1],
     QI),
    ("pandas: dummies of sparse columns", lambda: pd.get_dummies(people(), columns=["sex"], sparse=True), {
        "qi": ["band", "sex_f"], "require": {"k": 5}}),
    ("pandas: whole numbers and texts, as Excel gives them", lambda: people(
        ward=pd.Series([1, "2b"] * 20, dtype=object)), {**QI, "qi": ["ward", "sex"]}),
    ("pandas: whole and other numbers as objects", lambda: people(dose=pd.Series([1, 2.5] * 20, dtype=object)), {
        **QI, "qi": ["dose", "sex"]}),
    ("pandas: categories of whole numbers, some missing", lambda: people(ward=pd.Categorical([1, None] * 20)), {
        **QI, "qi": ["ward", "sex"]}),
    ("pandas: categories of dates", lambda: people(
        day=pd.Categorical([dt.date(2024, 1, 1), dt.date(2024, 1, 2)] * 20)), {**QI, "qi": ["day", "sex"]}),
    ("pandas: codes of diagnoses as lists", lambda: people(codes=[["J10"], ["J10", "I10"]] * 20), {
        **QI, "qi": ["codes", "sex"]}),
    ("pandas: an embedding of half floats that has no role", lambda: people(
        vector=[np.array([0.5, n], dtype="float16") for n in range(40)]), QI),
    ("pandas: dictionaries of one shape that have no role", lambda: people(meta=[{"site": 1, "arm": "a"}] * 40), QI),
    ("pandas: Arrow durations in nanoseconds", lambda: people(
        wait=pd.Series([1000] * 40, dtype=pd.ArrowDtype(pa.duration("ns")))), QI),
    ("pandas: too few people in a cut band", lambda: cut().iloc[:22], {**QI}),
    ("Arrow: half floats", lambda: pa.table({**BANDS, "x": pa.array(np.zeros(40, dtype="float16"))}), QI),
    ("Arrow: decimals of negative scale", lambda: pa.table({**BANDS, "pay": pa.array(
        [Decimal("1E3")] * 40, pa.decimal128(5, -3))}), QI),
    ("Arrow: run-end encoded", lambda: pa.table({**BANDS, "site": pa.RunEndEncodedArray.from_arrays([40], [7])}), QI),
    ("polars: half floats and reversed", lambda: pl.DataFrame({**BANDS, "x": pl.Series([0.5] * 40).cast(
        getattr(pl, "Float16", pl.Float32))})[::-1], QI),
    ("polars: lazy, with integers of 128 bits", lambda: pl.LazyFrame({**BANDS, "n": pl.Series([1] * 40).cast(
        pl.Int128)}), QI),
]  # fmt: skip
"""Name, frame, call."""
FAILING = {"pandas: too few people in a cut band"}


def statistics(
    write: Callable[..., None], ending: str, columns: Mapping[str, Sequence[Any]], **more: Any
) -> Callable[[Path], Mapping[str, Path]]:
    """Return what writes a file of SPSS or Stata."""

    def make(folder: Path) -> Mapping[str, Path]:
        write(pd.DataFrame(columns), str(folder / f"t.{ending}"), **more)
        return {"t": folder / f"t.{ending}"}

    return make


def spss(columns: Mapping[str, Sequence[Any]], **more: Any) -> Callable[[Path], Mapping[str, Path]]:
    return statistics(pyreadstat.write_sav, "sav", columns, **more)


def stata(columns: Mapping[str, Sequence[Any]], *missing: str) -> Callable[[Path], Mapping[str, Path]]:
    letters = {name: ["a", "b"] for name in missing}
    return statistics(pyreadstat.write_dta, "dta", columns, missing_user_values=letters)


def few(code: Any) -> list[Any]:
    """Twenty ages, of which two are a code and eight another."""
    return [code] * 2 + [-99 if code == -98 else "b"] * 8 + [30.0] * 10


CODES = {"age": [30.0] * 10 + [-98.0] * 10 + [-99.0] * 10}
LETTERS = {"age": [30.0] * 10 + ["a"] * 10 + ["b"] * 10}
ILL = {"sex": [1.0] * 20, "ill": [1.0, -98.0] * 10}
ALL_MISSING = {"sex": [1.0] * 20, "ill": [-98.0, -99.0] * 10}
DECLARED = {"missing_ranges": {"age": [-98, -99]}}
ILL_DECLARED = {"missing_ranges": {"ill": [-98, -99]}}
STATISTICS = [
    ("SPSS: each code for a missing age has ten people", "--qi age --require k=5", spss(CODES, **DECLARED), 0),
    ("SPSS: one code for a missing age has two people", "--qi age --require k=5", spss({"age": few(-98)}, **DECLARED),
     1),
    ("SPSS: labels of codes for missing ages", "--labels --qi age --require k=5", spss(
        CODES, **DECLARED, variable_value_labels={"age": {-98: "refused", -99: "unknown"}}), 0),
    ("SPSS: labels, and one code has two people", "--labels --qi age --require k=5", spss(
        {"age": few(-98)}, **DECLARED, variable_value_labels={"age": {-98: "refused", -99: "unknown"}}), 1),
    ("SPSS: a diagnosis or missing", "--qi sex --sensitive ill --require l=2", spss(ILL, **ILL_DECLARED), 0),
    ("SPSS: nothing but missing diagnoses", "--qi sex --sensitive ill --require l=2", spss(
        ALL_MISSING, **ILL_DECLARED), 1),
    ("SPSS: declared codes that no one has", "--qi age --require k=5", spss({"age": [30.0] * 10}, **DECLARED), 0),
    ("SPSS: ages in bands of SQL", '--qi "age // 10" --require k=5', spss(
        {"age": [31.0] * 5 + [35.0] * 5 + [-98.0] * 5}, **DECLARED), 0),
    ("SPSS: a condition leaves the codes out", '--where "age > 0" --qi age --require k=5', spss(
        {"age": [30.0] * 10 + [-98.0] * 2}, **DECLARED), 0),
    ("Stata: .a and .b of ten people each", "--qi age --require k=5", stata(LETTERS, "age"), 0),
    ("Stata: .a of two people", "--qi age --require k=5", stata({"age": few("a")}, "age"), 1),
    ("Stata: a diagnosis or missing", "--qi sex --sensitive ill --require l=2", stata(
        {"sex": [1.0] * 20, "ill": [1.0, "a"] * 10}, "ill"), 0),
    ("Stata: .a and .b are one missing diagnosis", "--qi sex --sensitive ill --require l=2", stata(
        {"sex": [1.0] * 20, "ill": ["a", "b"] * 10}, "ill"), 1),
    ("Stata: codes in a column that has no role", "--qi sex --require k=5", stata(
        {"sex": [1.0] * 20, "ill": [1.0, "a"] * 10}, "ill"), 0),
]  # fmt: skip
"""Name, command, what writes the file, exit code."""


def feather_file(folder: Path) -> Mapping[str, Path]:
    """Forty people, with half floats and categories."""
    table = pa.table({**BANDS, "x": pa.array(np.zeros(40, dtype="float16"))})
    table = table.set_column(1, "sex", table.column("sex").dictionary_encode())
    feather.write_feather(table, folder / "t.feather")
    return {"t": folder / "t.feather"}


def beside_a_lake(folder: Path) -> Mapping[str, Path]:
    """An export beside the folder of a Delta table."""
    log = folder / "patients" / "_delta_log"
    log.mkdir(parents=True)
    (log / "00000000000000000000.json").write_text("{}")
    pq.write_table(pa.table(BANDS), folder / "export.parquet")
    return {"t": folder / "export.parquet"}


def with_plain_metadata(folder: Path) -> Mapping[str, Path]:
    """Files of a project whose folder `metadata` describes them."""
    (folder / "metadata").mkdir()
    (folder / "metadata" / "codebook.json").write_text(json.dumps({"band": "age in bands"}))
    (folder / "data").mkdir()
    pq.write_table(pa.table(BANDS), folder / "data" / "t.parquet")
    return {"t": folder / "data" / "t.parquet"}


def in_folders_of_spark(folder: Path) -> Mapping[str, Path]:
    """What Spark writes: parts, and a mark that it has ended."""
    for part in range(2):
        pq.write_table(pa.table(BANDS), folder / f"part-{part}.parquet")
    (folder / "_SUCCESS").touch()
    return {"t": folder}


FILES = [
    ("Feather: half floats and categories", feather_file),
    ("Parquet: an export beside the folder of a Delta table", beside_a_lake),
    ("Parquet: a folder named metadata beside it", with_plain_metadata),
    ("Parquet: parts that Spark wrote", in_folders_of_spark),
]
TABLES: list[HonestTable] = [
    *(
        HonestFrame(
            name=name,
            defence="Every combination has at least five rows, which is what is required; or one has fewer, and fails.",
            make=make,
            asked=asked,
            code=int(name in FAILING),
        )
        for name, make, asked in FRAMES
    ),
    *(
        HonestTable(
            name=name,
            defence="A code for missing is a value that the file shows; as a sensitive value it says nothing.",
            command=f"audit {{t}} {command}",
            write=write,
            code=code,
        )
        for name, command, write, code in STATISTICS
    ),
    *(
        HonestTable(
            name=name,
            defence="Every combination of band and sex has ten rows, and no log says that rows were deleted.",
            command="audit {t} --qi band,sex --require k=5",
            write=write,
        )
        for name, write in FILES
    ),
]
