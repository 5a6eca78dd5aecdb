"""Releases as files of Excel, SPSS and Stata, read by packages that had no part in writing them; CSV for Excel."""

from __future__ import annotations

import csv
import datetime as dt
import math
import sys
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pandas as pd
import pyreadstat
import pytest
import xlsxwriter.worksheet
from openpyxl.utils.escape import unescape

import sqlaudit
from sqlaudit.audits.written import names_in_file
from sqlaudit.base import files as base_files
from sqlaudit.base.errors import MissingDriver, UsageError
from tests.audits.unwarned import unwarned  # noqa: F401
from tests.cli.runner import run

ENDINGS = ("xlsx", "sav", "dta")
TEXTS = [
    *(
        "=1+1",
        "+1",
        "-5",
        "@x",
        "http://example.org",
        "mailto:a@b.c",
        "007",
        "😀 ü",
        '"q"',
        "a\nb",
        "a\r\nb",
        "'x",
        "  lead",
    ),
    *("TRUE", "1e5", "{=1}", "#N/A", "_x0041_", "tab\there", "NULL", ".a", "<b>&amp;", "internal:A1", "x" * 3000),
]
SECRET = "Mallory"


def released(folder: Path, select: str, to: str | Path, **more: Any) -> Any:
    """The whole of a SELECT as a release; its column q is the only quasi-identifier."""
    source = folder / "original.parquet"
    rows = duckdb.sql(select)
    rows.write_parquet(str(source))
    others = [name for name in rows.columns if name != "q"]
    given: dict[str, Any] = {"qi": ["q"], "require": {"k": 1}, "keep_column": others, **more}
    return sqlaudit.suppress(source, to=folder / to, **given)


def cells(path: Path) -> list[list[Any]]:
    """The cells of a file, its names first, by a reader that sqlaudit does not use."""
    if path.suffix == ".xlsx":
        return [[cell.value for cell in row] for row in openpyxl.load_workbook(path).active.iter_rows()]  # type: ignore[union-attr]
    if path.suffix == ".dta":
        with pd.read_stata(path, iterator=True, convert_categoricals=False, preserve_dtypes=False) as reader:
            frame = reader.read()
    else:
        frame = pyreadstat.read_sav(str(path))[0]
    return [list(frame.columns), *(list(row) for row in frame.itertuples(index=False))]


def plain(value: Any) -> Any:
    """A value as plain Python, with nothing missing but None."""
    if value is None or value is pd.NaT or (isinstance(value, float) and math.isnan(value)) or value == "":
        return None
    return value.to_pydatetime() if isinstance(value, pd.Timestamp) else value


KINDS = """
    SELECT 1 AS q, * FROM (VALUES
        (1, 2147483647, 9007199254740992, 1.10::DECIMAL(9, 2), 0.1::DOUBLE + 0.2::DOUBLE, DATE '1900-03-01',
            TIMESTAMP '2024-02-29 01:02:03.125', TRUE, 'a'),
        (-1, -2147483648, -5, 99999.99, 1e-300, DATE '9999-12-31', TIMESTAMP '1999-12-31 23:59:59', FALSE, 'ä'),
        (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
    ) AS t(small, whole, big, money, share, day, moment, yes, word)
"""
EXPECTED: list[list[Any]] = [
    [1, 1, 2**31 - 1, 2**53, 1.1, 0.1 + 0.2, dt.date(1900, 3, 1), dt.datetime(2024, 2, 29, 1, 2, 3, 125000), True, "a"],
    [1, -1, -(2**31), -5, 99999.99, 1e-300, dt.date(9999, 12, 31), dt.datetime(1999, 12, 31, 23, 59, 59), False, "ä"],
    [1, *[None] * 9],
]


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_kind_of_cell(tmp_path: Path, ending: str) -> None:
    released(tmp_path, KINDS, f"r.{ending}")
    names, *rows = cells(tmp_path / f"r.{ending}")
    assert names == ["q", "small", "whole", "big", "money", "share", "day", "moment", "yes", "word"]
    assert len(rows) == 3
    for expected in EXPECTED:
        as_read = [list(map(plain, row)) for row in rows]
        for row in as_read:
            if isinstance(row[6], dt.datetime):
                row[6] = row[6].date()
            if isinstance(row[7], dt.datetime):  # a number of seconds has half a microsecond
                row[7] = row[7].replace(microsecond=round(row[7].microsecond, -3))
        assert expected in as_read


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_temporary_folder_with_brackets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    """The name of a folder is no pattern of other names."""
    (tmp_path / "t[1]").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "t[1]"))
    monkeypatch.setattr("tempfile.tempdir", None)
    released(tmp_path, "SELECT 1 AS q, 7 AS n", f"r.{ending}")
    assert cells(tmp_path / f"r.{ending}")[1:] == [[1, 7]]


@pytest.mark.parametrize("ending", ENDINGS)
def test_texts_stay_texts(tmp_path: Path, ending: str) -> None:
    pd.DataFrame({"q": 1, "t": TEXTS}).to_parquet(tmp_path / "t.parquet")
    released(tmp_path, f"SELECT * FROM '{tmp_path / 't.parquet'}'", f"r.{ending}")
    rows = cells(tmp_path / f"r.{ending}")[1:]
    assert {unescape(row[1]) if ending == "xlsx" else row[1] for row in rows} == set(TEXTS)
    if ending == "xlsx":
        sheet = openpyxl.load_workbook(tmp_path / "r.xlsx").active
        assert sheet is not None
        assert {cell.data_type for cell in sheet["B"]} == {"s"}
        assert not any(cell.hyperlink for cell in sheet["B"])


def test_names_of_a_sheet_are_those_of_the_release(tmp_path: Path) -> None:
    select = """SELECT 1 AS q, 2 AS "=1+1", 3 AS "Alter in
Jahren", 4 AS " ""x"" ", 5 AS "http://a.b" """
    released(tmp_path, select, "r.xlsx")
    assert cells(tmp_path / "r.xlsx") == [["q", "=1+1", "Alter in\nJahren", ' "x" ', "http://a.b"], [1, 2, 3, 4, 5]]


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_names_that_no_variable_has_become_labels(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"r.{ending}"
    select = """SELECT 1 AS q, 2 AS "Alter in Jahren", 3 AS alter_in_jahren, 4 AS "with", 5 AS "1x", 6 AS "=1+1" """
    made = released(tmp_path, select, path)
    _, about = {"sav": pyreadstat.read_sav, "dta": pyreadstat.read_dta}[ending](str(path))
    assert about.column_names == ["q", "Alter_in_Jahren_2", "alter_in_jahren", "with_", "v1x", "v1_1"]
    assert about.column_labels == [None, "Alter in Jahren", None, "with", "1x", "=1+1"]
    (warned,) = [remark.message for remark in made.remarks if remark.code == "renamed_columns"]
    assert warned == (
        f"Columns of {path.name!r} have other names, because its format does not allow theirs: 'Alter in Jahren' "
        "is Alter_in_Jahren_2, 'with' is with_, '1x' is v1x, '=1+1' is v1_1."
    )


def test_long_and_reserved_names() -> None:
    longest = ["a" * 33, "a" * 34, "ä" * 33, "byte", "ALL", "all", "x.y", "x.", "_a", "😀", "日本"]
    spss, stata = (names_in_file(Path(name), longest) for name in ("a.sav", "a.dta"))
    for names, most in ((spss, 64), (stata, 32)):
        assert len({name.casefold() for name in names}) == len(names)
        assert all(len(name.encode() if most == 64 else name) <= most for name in names)
    assert spss[3:] == ["byte", "ALL_", "all__2", "x.y", "x", "v_a", "v", "日本"]
    assert stata[3:] == ["byte_", "ALL", "all_2", "x_y", "x", "_a", "v", "日本"]


@pytest.fixture
def original(tmp_path: Path) -> Path:
    """A file of SPSS with labels of values that a release does not have, and a title, a note and an author."""
    people = pd.DataFrame(
        {
            "age": [30.0, 31.0, 32.0, 33.0] * 3 + [88.0],
            "sex": [1.0, 2.0, 1.0, 2.0] * 3 + [3.0],
            "born": [dt.date(1960, 5, 1)] * 13,
            "dx": ["A", "B", "A", "C"] * 3 + ["Z"],
            "answer": [1.0, 2.0, 8.0, 1.0] * 3 + [9.0],
            "income": [1000.5, 2000.25, 500.0, 700.0] * 3 + [1e6],
        }
    )
    labels: dict[str, dict[Any, str]] = {
        "sex": {1: "female", 2: "male", 3: SECRET},
        "dx": {"A": "Asthma", "Z": SECRET},
        "age": {30: "thirty", 88: SECRET},
    }
    about: dict[str, Any] = {
        "file_label": SECRET,
        "column_labels": {"age": "Age in years", "dx": "Diagnosis", "sex": "Sex"},
        "variable_value_labels": labels,
    }
    pyreadstat.write_sav(
        people,
        str(tmp_path / "o.sav"),
        note=f"by {SECRET}",
        variable_measure={"age": "scale", "sex": "nominal"},
        variable_format={"born": "EDATE10", "income": "F12.2"},
        missing_ranges={"sex": [3], "answer": [9, 8]},
        **about,
    )
    about["variable_value_labels"] = {name: labels[name] for name in ("sex", "age")}
    stata = people.assign(sex=people["sex"].astype("int32"), age=people["age"].astype("int32"))
    pyreadstat.write_dta(stata, str(tmp_path / "o.dta"), version=14, variable_format={"born": "%tdDD/NN/CCYY"}, **about)
    return tmp_path


def suppressed(folder: Path, original: str, release: str, **more: Any) -> Any:
    """A release without the person of 88."""
    given: dict[str, Any] = {"qi": ["sex"], "require": {"k": 3}, "suppress": "10%", "identifier": ["age"], **more}
    given.setdefault("keep_column", [])
    return sqlaudit.lattice(folder / original, to=folder / release, **given)


def test_spss_keeps_labels_of_values_that_are_left(original: Path) -> None:
    suppressed(original, "o.sav", "r.sav", read=sqlaudit.ReadOptions(null_values=("8", "9")))
    assert SECRET.encode() not in (original / "r.sav").read_bytes()
    frame, about = pyreadstat.read_sav(str(original / "r.sav"), user_missing=True)
    assert about.column_names == ["sex", "born", "dx", "answer", "income"]
    assert about.column_labels == ["Sex", None, "Diagnosis", None, None]
    assert about.variable_value_labels == {"sex": {1: "female", 2: "male"}, "dx": {"A": "Asthma"}}
    assert about.missing_ranges == {}
    assert (about.variable_measure["sex"], about.variable_measure["dx"]) == ("nominal", "unknown")
    assert (about.original_variable_types["born"], about.original_variable_types["income"]) == ("EDATE10", "F12.2")
    assert (about.file_label, about.notes, about.creation_time) == (None, [], dt.datetime(1980, 1, 1))
    assert sorted(frame["income"]) == sorted([1000.5, 2000.25, 500.0, 700.0] * 3)
    assert set(frame["born"]) == {dt.date(1960, 5, 1)}


def test_spss_keeps_codes_for_missing_values_of_quasi_identifiers(original: Path) -> None:
    asked: dict[str, Any] = {"identifier": ["age"], "require": {"k": 1}, "keep_column": []}
    sqlaudit.suppress(original / "o.sav", qi=["sex", "answer", "born", "income", "dx"], to=original / "r.sav", **asked)
    frame, about = pyreadstat.read_sav(str(original / "r.sav"), user_missing=True)
    assert about.missing_ranges == {
        "sex": [{"lo": 3.0, "hi": 3.0}],
        "answer": [{"lo": 9.0, "hi": 9.0}, {"lo": 8.0, "hi": 8.0}],
    }
    assert sorted(frame["answer"]) == sorted([1.0, 2.0, 8.0, 1.0] * 3 + [9.0])
    assert sqlaudit.audit(original / "r.sav", qi=["answer"], require={"k": 1}).classes.count == 4


@pytest.mark.parametrize("source", ["o.sav", "o.dta"])
def test_stata_keeps_labels_of_values_that_are_left(original: Path, source: str) -> None:
    suppressed(original, source, "r.dta", read=sqlaudit.ReadOptions(null_values=("8", "9")))
    assert SECRET.encode() not in (original / "r.dta").read_bytes()
    with pd.read_stata(original / "r.dta", iterator=True) as reader:
        assert reader.variable_labels() == {"sex": "Sex", "born": "", "dx": "Diagnosis", "answer": "", "income": ""}
        assert list(reader.value_labels().values()) == [{1: "female", 2: "male"}]
        assert reader.data_label == ""
        assert reader._format_version == 118
    _, about = pyreadstat.read_dta(str(original / "r.dta"))
    assert about.original_variable_types["born"] == ("%tdDD/NN/CCYY" if source == "o.dta" else "%td")
    assert about.creation_time == dt.datetime(1980, 1, 1)


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_a_generalized_column_keeps_the_label_of_the_variable_only(original: Path, ending: str) -> None:
    """A label of the code 30 does not stand at an interval, nor that of the text A at a coarser A."""
    hierarchies = {
        "age": {"values": {v: ["30"] for v in (30, 31, 32, 33, 88)}},
        "dx": {"values": {v: ["A"] for v in "ABCZ"}},
    }
    path = original / f"r.{ending}"
    made = sqlaudit.recode(
        original / "o.sav",
        qi=["age", "dx"],
        require={"k": 13},
        hierarchies=hierarchies,
        identifier=["sex", "answer", "income"],
        read=sqlaudit.ReadOptions(null_values=("3", "8", "9")),
        to=path,
    )
    assert made.release is not None
    frame, about = {"sav": pyreadstat.read_sav, "dta": pyreadstat.read_dta}[ending](str(path))
    assert (about.column_names, about.column_labels) == (["age", "born", "dx"], ["Age in years", None, "Diagnosis"])
    assert about.variable_value_labels == {}
    assert about.readstat_variable_types["age"] == "string"
    assert sorted(map(tuple, frame[["age", "dx"]].values)) == [("30", "A")] * 13


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_labels_that_a_format_does_not_have(tmp_path: Path, ending: str) -> None:
    """Stata has labels of whole numbers only; what does not fit is cut."""
    table = pd.DataFrame({"g": [1.5, 2.0], "h h": [3.0, 3e9], "t": ["A", "B"]})
    labels: dict[str, dict[Any, str]] = {"g": {1.5: "half", 2: "ü" * 200}, "t": {"A": "Alpha"}}
    table = table.rename(columns={"h h": "h" * 40})
    about: dict[str, Any] = {"variable_value_labels": labels, "column_labels": {"g": "ä" * 100}}
    pyreadstat.write_sav(table, str(tmp_path / "o.sav"), **about)
    path = tmp_path / f"r.{ending}"
    sqlaudit.suppress(tmp_path / "o.sav", qi=["g"], require={"k": 1}, to=path, keep_column=["h" * 40, "t"])
    read = {"sav": pyreadstat.read_sav, "dta": pyreadstat.read_dta}[ending](str(path))[1]
    if ending == "sav":
        assert read.variable_value_labels == {"g": {1.5: "half", 2.0: "ü" * 60}, "t": {"A": "Alpha"}}
        assert (read.column_names[1], read.column_labels) == ("h" * 40, ["ä" * 100, None, None])
    else:
        assert read.variable_value_labels == {"g": {2: "ü" * 60}}  # as in the original, which has 120 bytes
        assert (read.column_names[1], read.column_labels) == ("h" * 32, ["ä" * 80, "h" * 40, None])


def test_labels_that_were_read_instead_of_codes_are_no_codes(tmp_path: Path) -> None:
    people = pd.DataFrame({"g": ["A", "B"] * 3})
    pyreadstat.write_sav(people, str(tmp_path / "o.sav"), variable_value_labels={"g": {"A": "B", "B": "A"}})
    asked: dict[str, Any] = {"qi": ["g"], "require": {"k": 3}, "read": sqlaudit.ReadOptions(labels=True)}
    sqlaudit.suppress(tmp_path / "o.sav", to=tmp_path / "r.sav", **asked)
    frame, about = pyreadstat.read_sav(str(tmp_path / "r.sav"))
    assert (sorted(frame["g"]), about.variable_value_labels) == (["A"] * 3 + ["B"] * 3, {})


def test_a_column_of_counts_has_no_label_of_the_original(tmp_path: Path) -> None:
    people = pd.DataFrame({"age": [30.0, 31.0] * 6, "ill": ["a", "b", "c"] * 4, "persons": [2.0, 4.0] * 6})
    about: dict[str, Any] = {"column_labels": {"persons": SECRET}, "variable_value_labels": {"persons": {2: SECRET}}}
    pyreadstat.write_sav(people, str(tmp_path / "o.sav"), **about)
    values = tmp_path / "v.sav"
    asked: dict[str, Any] = {"qi": ["age"], "sensitive": "ill", "require": {"k": 6, "l": 2}, "identifier": ["persons"]}
    sqlaudit.lattice(tmp_path / "o.sav", to=tmp_path / "p.sav", buckets_to=values, **asked)
    assert pyreadstat.read_sav(str(values))[1].column_names == ["bucket", "ill", "persons"]
    assert SECRET.encode() not in values.read_bytes()


def test_a_query_has_no_labels(original: Path) -> None:
    """A column of a query may be another one of the file."""
    query = f"SELECT CAST(age AS BIGINT) % 3 AS sex FROM '{original / 'o.sav'}'"
    sqlaudit.suppress(query=query, qi=["sex"], require={"k": 1}, to=original / "r.sav")
    _, about = pyreadstat.read_sav(str(original / "r.sav"))
    assert (about.column_labels, about.variable_value_labels) == ([None], {})


def test_a_workbook_has_no_author_and_dates_are_dates(tmp_path: Path) -> None:
    released(tmp_path, "SELECT 1 AS q, DATE '2024-02-29' AS d, TIMESTAMP '2024-02-29 10:00:00' AS t", "r.xlsx")
    book = openpyxl.load_workbook(tmp_path / "r.xlsx")
    about = book.properties
    assert (about.creator, about.lastModifiedBy, about.title) == (None, None, None)
    assert about.created == about.modified == dt.datetime(1980, 1, 1)
    assert [(cell.is_date, cell.number_format) for cell in book.active[2]] == [  # type: ignore[index]
        (False, "General"),
        (True, "yyyy-mm-dd"),
        (True, "yyyy-mm-dd hh:mm:ss.000"),
    ]


@pytest.mark.parametrize("ending", [*ENDINGS, "csv"])
def test_the_same_release_has_the_same_bytes(tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        released(tmp_path, KINDS, f"{name}.{ending}", bom=ending == "csv")
    assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()


BYTES = "texts of up to 32,767 bytes, without NUL and without blanks at the end"
MILLISECONDS = "TIMESTAMP '2024-01-01 00:00:00.000001'"
NUMBERS = "numbers up to 2^53 of up to 15 digits, no NaN and no infinity"
LOST = [
    ("xlsx", "repeat('x', 32768)", "Excel files keep texts of up to 32,767 characters, which XML must allow."),
    ("xlsx", "repeat('😀', 16384)", "Excel files keep texts of up to 32,767 characters, which XML must allow."),
    ("xlsx", "chr(65534)", "Excel files keep texts of up to 32,767 characters, which XML must allow."),
    ("xlsx", "9007199254740993", f"Excel files keep {NUMBERS}."),
    ("xlsx", "'nan'::DOUBLE", f"Excel files keep {NUMBERS}."),
    ("xlsx", "12345678901234567.89::DECIMAL(30, 2)", f"Excel files keep {NUMBERS}."),
    ("xlsx", "DATE '1899-12-31'", "Excel files keep dates from 1900 on."),
    ("xlsx", MILLISECONDS, "Excel files keep times to the millisecond, from 1900 on."),
    ("sav", "'blank '", f"SPSS files keep {BYTES}."),
    ("sav", "repeat('ä', 16384)", f"SPSS files keep {BYTES}."),
    ("sav", "9007199254740993", f"SPSS files keep {NUMBERS}."),
    ("sav", "'inf'::DOUBLE", f"SPSS files keep {NUMBERS}."),
    ("sav", "DATE '1582-10-14'", "SPSS files keep dates from 15 October 1582 on."),
    (
        "sav",
        "TIMESTAMP '2024-01-01 00:00:00.000001'",
        "SPSS files keep times to the millisecond, from 15 October 1582 on.",
    ),
    ("dta", "'a' || chr(0)", "Stata files keep texts without the character NUL."),
    ("dta", "9007199254740993", f"Stata files keep {NUMBERS}."),
    ("dta", "'nan'::DOUBLE", f"Stata files keep {NUMBERS}."),
    ("dta", "TIMESTAMPTZ '2024-01-01 00:00:00+00'", "Stata files keep times without a time zone."),
]


@pytest.mark.parametrize(("ending", "value", "said"), LOST)
def test_what_a_file_would_not_keep_is_refused(tmp_path: Path, ending: str, value: str, said: str) -> None:
    path = tmp_path / f"r.{ending}"
    with pytest.raises(UsageError) as caught:
        released(tmp_path, f"SELECT 1 AS q, {value} AS t", path)
    assert str(caught.value) == (
        f"{said} Column 't' has other values, so {str(path)!r} was not written. Write a .parquet file, which keeps all "
        "values."
    )
    assert [entry.name for entry in tmp_path.iterdir()] == ["original.parquet"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_empty_texts_beside_missing_ones_are_refused(tmp_path: Path, ending: str) -> None:
    with pytest.raises(UsageError, match="Column 't' has both empty texts and missing values"):
        released(tmp_path, "SELECT 1 AS q, unnest(['', NULL, 'a']) AS t", f"r.{ending}")
    released(tmp_path, "SELECT 1 AS q, unnest(['', 'a']) AS t", f"r.{ending}")
    assert sorted(str(plain(row[1])) for row in cells(tmp_path / f"r.{ending}")[1:]) == ["None", "a"]


def test_rows_without_a_value_and_too_many_of_them(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"Rows without any value cannot be in a sheet of Excel"):
        released(tmp_path, "SELECT unnest([NULL, 1]) AS q", "r.xlsx")
    with pytest.raises(UsageError) as caught:
        released(tmp_path, "SELECT 1 AS q FROM range(1048576)", "r.xlsx")
    assert str(caught.value) == (
        "A sheet of Excel has 1,048,575 rows below the names and 16,384 columns at most, and "
        f"{str(tmp_path / 'r.xlsx')!r} needs 1,048,576 and 1. Write a .csv or .parquet file."
    )
    assert not (tmp_path / "r.xlsx").exists()


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_with_another_cell_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    """Whatever a writer does wrong, the file does not get its name, and an older file stays."""
    path = tmp_path / f"r.{ending}"
    path.write_text("older")
    if ending == "xlsx":
        write = xlsxwriter.worksheet.Worksheet.write_number

        def write_number(self: Any, row: int, place: int, value: Any) -> Any:
            return write(self, row, place, 7 if value == 5 else value)

        monkeypatch.setattr(xlsxwriter.worksheet.Worksheet, "write_number", write_number)
    else:
        name = f"write_{ending}"
        writer = getattr(pyreadstat, name)
        monkeypatch.setattr(
            pyreadstat,
            name,
            lambda frame, *rest, **more: writer(
                frame.replace_column(1, (frame["t"] * 0 + 7).alias("t")), *rest, **more
            ),
        )
    with pytest.raises(UsageError, match="Column 't' has other values"):
        released(tmp_path, "SELECT 1 AS q, 5 AS t", path)
    assert path.read_text() == "older"


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, MemoryError])
def test_nothing_is_left_of_a_file_that_was_not_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, error: type[BaseException]
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))

    def copyfile(*_: object) -> None:
        (folder,) = [path for path in temporary.iterdir() if "-release-" in path.name]
        assert folder.stat().st_mode & 0o777 == 0o700
        assert {path.suffix for path in folder.iterdir()} == {".parquet", f".{ending}"}
        raise error

    monkeypatch.setattr(base_files.shutil, "copyfile", copyfile)
    with pytest.raises((UsageError, error)):
        released(tmp_path, "SELECT 1 AS q, 'a' AS t", f"r.{ending}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["original.parquet", "tmp"]
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(("ending", "package"), [("xlsx", "xlsxwriter"), ("sav", "pyreadstat"), ("dta", "polars")])
def test_a_package_that_is_missing_is_told_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    title = {"xlsx": "an Excel", "sav": "an SPSS", "dta": "a Stata"}[ending]
    with pytest.raises(MissingDriver) as caught:
        sqlaudit.suppress("no such file.csv", qi=["q"], require={"k": 1}, to=tmp_path / f"r.{ending}")
    assert str(caught.value) == f"Writing {title} file needs the package {package}: pip install 'sqlaudit[files]'."


# CSV for Excel.


def test_csv_with_a_byte_order_mark(tmp_path: Path) -> None:
    released(tmp_path, "SELECT 1 AS q, unnest(['ä', '=1']) AS \"Größe\"", "r.csv", bom=True)
    assert (tmp_path / "r.csv").read_bytes()[:6] == "\ufeffq,G".encode()
    with (tmp_path / "r.csv").open(encoding="utf-8-sig", newline="") as file:
        assert sorted(csv.reader(file)) == [["1", "'=1"], ["1", "ä"], ["q", "Größe"]]
    found = sqlaudit.audit(tmp_path / "r.csv", qi=["q", "Größe"], require={"k": 1})
    assert (found.passed, found.rows, found.classes.count) == (True, 2, 2)


def test_a_mark_is_for_csv_only(tmp_path: Path) -> None:
    path = tmp_path / "r.xlsx"
    with pytest.raises(UsageError) as caught:
        released(tmp_path, "SELECT 1 AS q", path, bom=True)
    assert str(caught.value) == f"bom=True applies to .csv files only, and {str(path)!r} is not one."
    with pytest.raises(UsageError, match=r"bom=True needs a \.csv file: to='release.csv'"):
        sqlaudit.suppress(pd.DataFrame({"q": [1]}), qi=["q"], require={"k": 1}, bom=True)


# Other commands.


PEOPLE = pd.DataFrame({"age": [30, 31, 32, 33] * 3, "ill (ICD)": ["a", "b", "c", "a"] * 3})


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("make", [sqlaudit.lattice, sqlaudit.recode])
def test_a_release_in_buckets(tmp_path: Path, ending: str, make: Any) -> None:
    persons, values = tmp_path / f"p.{ending}", tmp_path / f"v.{ending}"
    make(PEOPLE, qi=["age"], sensitive="ill (ICD)", require={"k": 6, "l": 2}, to=persons, buckets_to=values)
    (header, *rows), (_, *counts) = cells(persons), cells(values)
    assert (header, len(rows), sum(row[2] for row in counts)) == (["bucket", "age"], 12, 12)
    assert cells(values)[0] == ["bucket", "ill (ICD)" if ending == "xlsx" else "ill_ICD", "persons"]


@pytest.mark.parametrize("ending", [*ENDINGS, "csv"])
def test_a_protected_table(tmp_path: Path, ending: str) -> None:
    cells_in = pd.DataFrame({"region": ["n", "n", "s", "s"], "sex": ["f", "m", "f", "m"], "n": [2, 20, 30, 40]})
    path = tmp_path / f"t.{ending}"
    asked: dict[str, Any] = {"by": ["region", "sex"], "count": "n", "require": {"threshold": 5}, "protect": True}
    found = sqlaudit.aggregates(cells_in, to=path, bom=ending == "csv", **asked)
    assert found.protection is not None
    assert found.protection.safe
    if ending == "csv":
        assert path.read_bytes().startswith("\ufeffregion".encode())
    else:
        hidden = [row for row in cells(path)[1:] if plain(row[2]) is None]
        assert ["n", "f"] in [row[:2] for row in hidden]


@pytest.mark.parametrize("ending", ENDINGS)
def test_cloaked_messages(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"m.{ending}"
    rows = [(user, user * 10.0, user * 5.0, dt.datetime(2024, 1, 1, 8, user), f"text {user}") for user in range(8)]
    table = pd.DataFrame(rows, columns=["user", "x", "y", "sent", "text"])
    table["sent"] = table["sent"].astype("datetime64[us]")  # pandas 2 has nanoseconds
    asked: dict[str, Any] = {"user": "user", "x": "x", "y": "y", "time": "sent", "k": 2, "box": 1000, "interval": "1h"}
    sqlaudit.cloak(table, to=path, keep_column=["text"], **asked)
    header, *read = cells(path)
    assert len(read) == 8
    assert {row[header.index("text")] for row in read} == {f"text {user}" for user in range(8)}


def test_decimals_of_a_sheet_are_numbers(tmp_path: Path) -> None:
    released(tmp_path, "SELECT 1 AS q, 1.10::DECIMAL(5, 2) AS d", "r.xlsx")
    assert cells(tmp_path / "r.xlsx")[1] == [1, float(Decimal("1.10"))]


def test_the_command(original: Path) -> None:
    for ending in (*ENDINGS, "csv"):
        path = original / f"r.{ending}"
        more = ("--bom",) if ending == "csv" else ()
        asked = ("--qi", "sex", "--require", "k=3", "--suppress", "10%", "--identifier", "age", "--null-values", "8,9")
        ran = run("lattice", original / "o.sav", *asked, "--to", path, *more)
        assert ran.code == 0, ran.err
        assert ran.err == f"sqlaudit: wrote 12 rows to {str(path)!r}.\n"
        assert run("audit", path, "--qi", "sex", "--require", "k=3").code == 0
