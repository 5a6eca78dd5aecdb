"""Excel sheets and the files of SPSS, Stata and SAS: written by the libraries' own writers, and read as CSV is."""

from __future__ import annotations

import datetime as dt
import json
import random
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyreadstat
import pytest
import xlsxwriter

import sqlaudit
from sqlaudit.base.errors import InputError, MissingDriver, SqlauditError, UsageError
from sqlaudit.base.relation import Remark
from sqlaudit.base.spec import ReadOptions, Target
from sqlaudit.engines.duckdb import excel, statistics_files
from tests.cli.runner import run
from tests.engines.duckdb_helpers import SECRET, error_of, read, rows_of, types_of, written
from tests.engines.sas7bdat import write_sas7bdat

DAY = dt.date(2024, 2, 29)


def sheet(path: Path, rows: Sequence[Sequence[Any]], **options: Any) -> str:
    """The path of a workbook with these rows in its sheet."""
    book = xlsxwriter.Workbook(str(path), {"default_date_format": "yyyy-mm-dd", **options})
    fill(book.add_worksheet("People"), rows)
    book.close()
    return str(path)


def fill(one: Any, rows: Sequence[Sequence[Any]]) -> None:
    for at, row in enumerate(rows):
        one.write_row(at, 0, row)


def edited(path: str, change: Callable[[str], str], part: str = "xl/worksheets/sheet1.xml") -> str:
    """The same workbook with another text in one of its parts."""
    with zipfile.ZipFile(path) as parts:
        texts = {name: parts.read(name) for name in parts.namelist()}
    before = texts[part].decode()
    texts[part] = change(before).encode()
    assert texts[part] != before.encode()
    with zipfile.ZipFile(path, "w") as parts:
        for name, text in texts.items():
            parts.writestr(name, text)
    return path


def said_of(target: Target) -> str:
    """The sentence of an error, if reading a target raises one."""
    try:
        read(target)
    except SqlauditError as error:
        return f"{error} {error.__cause__ or ''}"
    return ""


def frame(rows: Sequence[Sequence[Any]]) -> pd.DataFrame:
    return pd.DataFrame([list(row) for row in rows[1:]], columns=list(rows[0]))


# Excel.


def test_a_sheet_has_numbers_texts_dates_and_missing_values(tmp_path: Path) -> None:
    rows = [["n", "x", "s", "d", "b", "m", "e"], [1, 0.1, " a ", DAY, True, dt.datetime(2024, 2, 29, 6, 30), None]]
    rows += [[-(2**53), 2, "007", None, False, DAY, None], [None, 2.5, None, dt.date(1900, 3, 1), None, None, None]]
    path = sheet(tmp_path / "p.xlsx", rows)
    kinds = {"n": "BIGINT", "x": "DOUBLE", "s": "VARCHAR", "d": "DATE", "b": "BOOLEAN", "m": "TIMESTAMP"}
    assert types_of(path) == {**kinds, "e": "VARCHAR"}
    midnight = dt.datetime(2024, 2, 29)
    assert sorted(rows_of(path), key=str) == [
        (-(2**53), 2.0, "007", None, False, midnight, None),
        (1, 0.1, " a ", DAY, True, dt.datetime(2024, 2, 29, 6, 30), None),
        (None, 2.5, None, dt.date(1900, 3, 1), None, None, None),
    ]
    assert rows_of(sheet(tmp_path / "q.xlsx", [["d"], [DAY]], date_1904=True)) == [(DAY,)]


def test_times_and_durations(tmp_path: Path) -> None:
    book = xlsxwriter.Workbook(str(tmp_path / "p.xlsx"))
    one = book.add_worksheet()
    fill(one, [["t", "d"]])
    one.write(1, 0, 0.75, book.add_format({"num_format": "hh:mm"}))
    one.write(1, 1, 1.5, book.add_format({"num_format": "[h]:mm"}))
    book.close()
    assert rows_of(str(tmp_path / "p.xlsx")) == [(dt.time(18), dt.timedelta(hours=36))]


@pytest.mark.parametrize("options", [{}, {"date_1904": True}])
def test_dates_below_zero_are_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    book = xlsxwriter.Workbook(str(tmp_path / "p.xlsx"), options)
    page, day = book.add_worksheet(), book.add_format({"num_format": "yyyy-mm-dd"})
    for row, number in enumerate([-1, -2, -3]):
        page.write(row + 1, 1, -row)
        page.write(row + 1, 2, number, day)
    page.write_row(0, 1, ["n", "born"])
    book.close()
    assert "Column 'born' of" in error_of(InputError, Target(relation=str(tmp_path / "p.xlsx")))


def test_the_sheet_is_named_or_the_only_visible_one(tmp_path: Path) -> None:
    path = str(tmp_path / "p.xlsx")
    book = xlsxwriter.Workbook(path)
    for name, value in (("First", 1), ("Täler & <Höhen>", 2), ("Hidden", 3)):
        fill(book.add_worksheet(name), [["a"], [value]])
    book.add_chartsheet("Chart")
    book.worksheets()[2].hide()
    book.close()
    sentence = error_of(UsageError, Target(relation=path))
    assert sentence == (f"{path!r} has 2 sheets ('First', 'Täler & <Höhen>'); name one with read=ReadOptions(sheet=…).")
    assert [rows_of(path, sheet=name)[0][0] for name in ("First", "Täler & <Höhen>", "Hidden")] == [1, 2, 3]
    sentence = error_of(UsageError, Target(relation=path, read=ReadOptions(sheet="Frist")))
    assert sentence == f"There is no sheet 'Frist' in {path!r}. Did you mean 'First'?"
    assert "There is no sheet" in error_of(UsageError, Target(relation=path, read=ReadOptions(sheet="Chart")))


def test_hidden_rows_and_sheets_are_said(tmp_path: Path) -> None:
    path = str(tmp_path / "p.xlsx")
    book = xlsxwriter.Workbook(path)
    one, other = book.add_worksheet("A"), book.add_worksheet("B")
    fill(one, [["a"], [1], [2], [3]])
    one.set_row(2, None, None, {"hidden": True})
    one.set_row(9, None, None, {"hidden": True})  # has no cell
    other.very_hidden()
    book.close()
    relation, rows = read(Target(relation=path))
    assert sorted(rows) == [(1,), (2,), (3,)]
    assert [(one.code, one.text) for one in relation.remarks] == [
        ("hidden_rows", f"Rows of {path!r} hidden in Excel were read, too (1)."),
        ("hidden_sheets", f"Hidden sheets of {path!r} were not read (1)."),
    ]
    found = sqlaudit.audit(path, qi=["a"])
    assert {"hidden_rows", "hidden_sheets"} <= {one.code for one in found.warnings}


@pytest.mark.parametrize(
    ("rows", "cell"),
    [
        ([["age", "town", None], ["a", "b", "c"], ["d", "b", "c"]], "C1"),
        ([[None, "age", None, "sex"], [None, 34, None, "f"]], "C1"),
        ([["age", "  "], [34, "f"]], "B1"),
        ([["age", 2024], [34, 1]], "B1"),
        ([["age", DAY], [34, 1]], "B1"),
        ([["age"] * 26 + ["x", None], [*range(27), SECRET]], "AB1"),
    ],
)
def test_the_first_row_has_the_names(tmp_path: Path, rows: list[list[Any]], cell: str) -> None:
    path = sheet(tmp_path / "p.xlsx", rows)
    assert error_of(InputError, Target(relation=path)) == (
        f"Row 1 of {path!r} must have the name of each column as text, and cell {cell} has none. Name columns without "
        "a name or delete them, skip titles above the table with read=ReadOptions(skip=…), or use "
        "read=ReadOptions(header=False) if there are no names."
    )


TITLE = ["Study 12, ward B", None, None, None]
TABLE = [["age", "sex"], [34, "f"], [51, "m"], [34, "m"]]


@pytest.mark.parametrize("above", [[[]], [TITLE], [TITLE, []], [[None, "Ward"], ["as of", DAY, "draft"], []]])
@pytest.mark.parametrize("merged", [False, True])
def test_a_title_is_said_and_skipped(tmp_path: Path, above: list[list[Any]], merged: bool) -> None:
    path, number = str(tmp_path / "p.xlsx"), len(above)
    book = xlsxwriter.Workbook(path)
    one, day = book.add_worksheet(), book.add_format({"num_format": "yyyy-mm-dd"})
    fill(one, [*above, *TABLE])
    if merged:
        one.merge_range(0, 0, 0, 3, "Study 12", day)
    book.close()
    said = f"Row 1 of {path!r} looks like a title, and row {number + 1} like the names of the columns. "
    assert error_of(InputError, Target(relation=path)).startswith(said)
    assert error_of(InputError, Target(relation=path)).endswith(f"with read=ReadOptions(skip={number}).")
    assert types_of(path, skip=number) == {"age": "BIGINT", "sex": "VARCHAR"}
    assert sorted(rows_of(path, skip=number)) == [(34, "f"), (34, "m"), (51, "m")]


def test_rows_without_names(tmp_path: Path) -> None:
    path = sheet(tmp_path / "p.xlsx", [["Ward"], ["f", "Rome"], ["f", "Paris"], ["m", "Rome"]])
    assert types_of(path, skip=1, header=False) == {"column0": "VARCHAR", "column1": "VARCHAR"}
    assert len(rows_of(path, skip=1, header=False)) == 3
    assert sorted(rows_of(path, skip=1, header=True)) == [("f", "Paris"), ("m", "Rome")]
    said = error_of(InputError, Target(relation=path, read=ReadOptions(skip=9)))
    assert said == f"{path!r} has no row 10. Use a smaller number with read=ReadOptions(skip=…)."


def test_what_is_skipped_loses_no_check_below(tmp_path: Path) -> None:
    path = str(tmp_path / "p.xlsx")
    book = xlsxwriter.Workbook(path)
    one = book.add_worksheet()
    fill(one, [["Ward"], *TABLE])
    one.merge_range(3, 0, 4, 0, 7)
    book.close()
    said = error_of(InputError, Target(relation=path, read=ReadOptions(skip=1)))
    assert said == (
        f"{path!r} has merged cells (1). Unmerge them: row 2 must have a name for each column, and each cell below its "
        "own value."
    )
    path = sheet(tmp_path / "q.xlsx", [["Ward"], *TABLE, [], ["name", "town"], ["Ann", "Rome"]])
    assert "Row 7 of" in error_of(InputError, Target(relation=path, read=ReadOptions(skip=1)))


def test_a_row_of_data_is_no_header(tmp_path: Path) -> None:
    path = sheet(tmp_path / "p.xlsx", [["f", "Rome"], ["f", "Paris"], ["m", "Rome"]])
    assert error_of(InputError, Target(relation=path)) == (
        f"Row 1 of {path!r} must have the column names, but 2 of its 2 cells are values of their columns as well, as "
        "in a row of data. Use read=ReadOptions(header=False) for data, or read=ReadOptions(header=True) for names."
    )
    assert len(rows_of(path, header=False)) == 3
    assert len(rows_of(path, header=True)) == 2


@pytest.mark.parametrize(
    ("names", "said"), [(("a", "a"), "have the same name"), (("a", "A"), "differ only in upper and lower case")]
)
def test_names_differ(tmp_path: Path, names: tuple[str, str], said: str) -> None:
    path = sheet(tmp_path / "p.xlsx", [names, [1, 2]])
    expected = f"The columns {names[0]!r} and {names[1]!r} of {path!r} {said}; rename one."
    assert error_of(InputError, Target(relation=path)) == expected


def test_what_the_reader_would_lose_is_refused(tmp_path: Path) -> None:
    path = sheet(tmp_path / "p.xlsx", [["a", "b"], [1, 2], [3, 4]])

    def said(change: Callable[[str], str]) -> str:
        sheet(tmp_path / "p.xlsx", [["a", "b"], [1, 2], [3, 4]])
        return error_of(InputError, Target(relation=edited(path, change))).removeprefix(repr(path))

    for formula in ("<f>A2</f>", "<f>A2</f><v></v>", "<f>A2</f><v/>", '<f t="shared" si="0"/>', "<f/> <v />"):
        assert said(lambda text, new=formula: text.replace("<v>4</v>", new)) == (  # type: ignore[misc]
            " has formulas without a stored result (1). Open it in Excel or LibreOffice, and save it there."
        )
    error = ' t="e"><v>#N/A</v>'
    assert said(lambda text: text.replace("><v>4</v>", error)) == (
        " has cells with an error such as #N/A (1). Correct them, or name the errors that mean missing with "
        "read=ReadOptions(null_values=…)."
    )
    assert sorted(rows_of(path, null_values=("#N/A",))) == [(1, 2), (3, None)]
    merged = '</sheetData><mergeCells count="1"><mergeCell ref="A2:A3"/></mergeCells>'
    assert said(lambda text: text.replace("</sheetData>", merged)) == (
        " has merged cells (1). Unmerge them: row 1 must have a name for each column, and each cell below its own "
        "value."
    )
    far = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    assert said(lambda text: text.replace("</sheetData>", far)) == (
        " has cells far from the table (row 1,048,576); delete them."
    )


def test_an_empty_text_of_a_formula_is_missing(tmp_path: Path) -> None:
    path = sheet(tmp_path / "p.xlsx", [["a", "b"], [1, 2], [3, 4]])
    edited(path, lambda text: text.replace("><v>4</v>", ' t="str"><f>A2</f><v></v>'))
    assert sorted(rows_of(path)) == [(1, 2), (3, None)]


def test_empty_rows_inside_are_skipped_and_said(tmp_path: Path) -> None:
    people = [["f", 30, "x"], ["f", 30, "y"]]
    rows = [["sex", "age", "s"], *people, [None] * 3, *people, [None] * 3, [None] * 3, ["f", None, None]]
    path = sheet(tmp_path / "p.xlsx", rows)
    relation, read_rows = read(Target(relation=path))
    assert sorted(read_rows, key=str) == sorted([(*one,) for one in people * 2 + [["f", None, None]]], key=str)
    assert relation.remarks == (Remark("blank_rows", f"Rows of {path!r} without any value were skipped (3)."),)
    empty = sheet(tmp_path / "one.xlsx", [["a"], [1], [None], [2]])
    assert error_of(InputError, Target(relation=empty)) == f"Row 3 of {empty!r} is empty; delete empty rows."


@pytest.mark.parametrize("second", [["ward", "head", "beds"], ["ward", "head", None]])
def test_a_second_table_below_an_empty_row_is_refused(tmp_path: Path, second: list[Any]) -> None:
    rows = [["sex", "band", "s"], ["f", "20-29", "x"], ["f", "20-29", "x"], [None] * 3, second, [SECRET, "b", "c"]]
    path = sheet(tmp_path / "p.xlsx", rows)
    assert error_of(InputError, Target(relation=path)).startswith(f"Row 5 of {path!r} stands below an empty row")


def test_a_column_has_one_kind_of_values(tmp_path: Path) -> None:
    path = sheet(tmp_path / "p.xlsx", [["a", "b"], [1, "x"], [SECRET, 2.5], [0.5, True], [3, DAY]])
    assert error_of(InputError, Target(relation=path)) == (
        f"Column 'a' of {path!r} has both numbers and text. Make them of one kind, name texts that mean missing with "
        "read=ReadOptions(null_values=…), or read all as text with read=ReadOptions(all_text=True)."
    )
    assert sorted(rows_of(path, all_text=True)) == [
        ("0.5", "TRUE"), ("1", "x"), ("3", "2024-02-29"), (SECRET, "2.5")
    ]  # fmt: skip
    path = sheet(tmp_path / "q.xlsx", [["a", "b"], [1, True], ["n/a", False], [99, None]])
    assert sorted(rows_of(path, null_values=("n/a", "99")), key=str) == [(1, True), (None, False), (None, None)]


def test_numbers_that_excel_rounds_are_refused(tmp_path: Path) -> None:
    path = sheet(tmp_path / "p.xlsx", [["id"], [2**53]])
    assert rows_of(path) == [(2**53,)]
    path = sheet(tmp_path / "q.xlsx", [["id"], [1], [2**53 + 2]])
    expected = f"Column 'id' of {path!r} has numbers beyond 2^53, which Excel rounds; write them as text."
    assert error_of(InputError, Target(relation=path)) == expected
    assert error_of(InputError, Target(relation=path, read=ReadOptions(all_text=True))) == expected


def test_no_rows_or_no_sheet_content(tmp_path: Path) -> None:
    assert rows_of(sheet(tmp_path / "p.xlsx", [["a", "b"]])) == []
    path = sheet(tmp_path / "q.xlsx", [])
    assert error_of(InputError, Target(relation=path)) == f"The sheet 'People' of {path!r} is empty."


def test_a_workbook_that_unpacks_to_far_more_than_a_table_is_refused_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its directory has the sizes, so neither the sheet nor the reader is opened."""
    path = sheet(tmp_path / "people.xlsx", [["age"], *([row % 90] for row in range(2000))])

    def state(unpacked: int) -> None:
        """Let the directory say what the largest part, besides the small ones, unpacks to."""
        with zipfile.ZipFile(path, "a") as parts:
            others = sum(part.file_size for part in parts.infolist()[1:])
            parts.writestr(str(unpacked), b"")  # so that the directory is written again
            parts.infolist()[0].file_size = unpacked - others

    state(420_000_000)
    said = f"unpacks to 420 MB, {420_000_000 // Path(path).stat().st_size:,} times its size: too much for a table."
    monkeypatch.setattr(excel, "_Sheet", None)
    for command in ("profile", "audit", "columns"):
        ran = run(command, path, *(["--qi", "age"] if command == "audit" else []))
        assert ran.code == 2
        assert ran.err == f"sqlaudit: {path!r} {said} Copy its cells to a new workbook, or save it as CSV.\n"
    with pytest.raises(InputError, match=f"^'people.xlsx' {said}"):
        excel.describe_sheets(Path(path))
    monkeypatch.undo()
    state(100_000_000)
    assert "unpacks" not in said_of(Target(relation=path))


def test_a_password_and_damage(tmp_path: Path) -> None:
    path = written(tmp_path / "p.xlsx", bytes.fromhex("D0CF11E0A1B11AE1") + b"\0" * 600)
    expected = f"{path!r} has a password, or is an old Excel file; save it as .xlsx without a password."
    with pytest.raises(InputError, match="has a password"):
        excel.describe_sheets(Path(path))
    assert error_of(InputError, Target(relation=path)) == expected
    whole = Path(sheet(tmp_path / "q.xlsx", [["a"], *([SECRET + str(i)] for i in range(50))])).read_bytes()
    path = str(tmp_path / "q.xlsx")
    expected = f"{path!r} is not an Excel file, or is damaged or encrypted."
    for at in range(1, len(whole), 97):
        assert error_of(InputError, Target(relation=written(Path(path), whole[:at]))) == expected
    draw = random.Random(3)
    sheet(Path(path), [["a"], *([f"{SECRET} {i}"] for i in range(50))])
    for part in ("xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/sharedStrings.xml", "xl/_rels/workbook.xml.rels"):
        for _ in range(20):
            sheet(Path(path), [["a"], *([f"{SECRET} {i}"] for i in range(50))])
            at, sign = draw.randrange(60, 400), draw.choice("<>\"'x=/&")
            with zipfile.ZipFile(path) as parts:
                same = parts.read(part).decode()[at : at + 1] in (sign, "")
            if not same:
                edited(path, lambda text, at=at, sign=sign: text[:at] + sign + text[at + 1 :], part)  # type: ignore[misc]
                assert SECRET not in said_of(Target(relation=path))


# Statistics programs.

PEOPLE = pd.DataFrame(
    {
        "sex": [1.0, 2.0, 9.0, None],
        "town": ["Ulm", "", "Bonn", "?"],
        "born": [DAY, dt.date(1582, 10, 15), None, dt.date(1960, 1, 1)],
        "seen": [dt.datetime(2024, 2, 29, 23, 59, 59), None, dt.datetime(1960, 1, 1), dt.datetime(1959, 12, 31, 12)],
        "pay": [0.1, 2.0**60, None, -1.5],
    }
)
ROWS = [
    (1, "Ulm", DAY, dt.datetime(2024, 2, 29, 23, 59, 59), 0.1),
    (2, None, dt.date(1582, 10, 15), None, 2.0**60),
    (9, "Bonn", None, dt.datetime(1960, 1, 1), None),
    (None, "?", dt.date(1960, 1, 1), dt.datetime(1959, 12, 31, 12), -1.5),
]
WRITERS: dict[str, Callable[[pd.DataFrame, str], None]] = {
    "sav": pyreadstat.write_sav,
    "zsav": lambda one, path: pyreadstat.write_sav(one, path, compress=True),
    "dta": pyreadstat.write_dta,
    "xpt": pyreadstat.write_xport,
    "sas7bdat": write_sas7bdat,
}


@pytest.mark.parametrize("ending", WRITERS)
def test_statistics_files_have_codes_dates_and_numbers(tmp_path: Path, ending: str) -> None:
    path = str(tmp_path / f"p.{ending}")
    WRITERS[ending](PEOPLE, path)
    kinds = {"sex": "BIGINT", "town": "VARCHAR", "born": "DATE", "seen": "TIMESTAMP", "pay": "DOUBLE"}
    assert types_of(path) == kinds
    assert sorted(rows_of(path), key=str) == ROWS
    moved = Path(path).rename(tmp_path / "p.bin")
    assert (
        sorted(
            rows_of(str(moved), format={"dta": "stata", "xpt": "sas", "sas7bdat": "sas"}.get(ending, "spss")), key=str
        )
        == ROWS
    )


def codes_of(path: str, qi: str, sensitive: str | None = None, **more: Any) -> tuple[int, int | None]:
    """The classes of a quasi-identifier, and l of a sensitive column over all rows."""
    read = ReadOptions(**more)
    result = sqlaudit.audit(path, qi=[qi], require={"k": 1}, read=read)
    if sensitive is None:
        return result.classes.count, None
    found = sqlaudit.audit(path, qi=["one"], sensitive=sensitive, require={"l": 1}, read=read)
    (check,) = [check for check in found.checks if check.model == "distinct_l_diversity"]
    return result.classes.count, int(check.level)


def test_codes_for_missing_values_of_spss(tmp_path: Path) -> None:
    """Each is a value of a quasi-identifier, and all are one missing value of a sensitive column."""
    path = str(tmp_path / "p.sav")
    rows = {
        "age": [34.0, -98.0, -99.0, None, 35.5],
        "town": ["Ulm", "?", "-", "", "Bonn"],
        "born": [DAY, dt.date(1582, 10, 15), None, dt.date(1960, 1, 1), DAY],
        "pay": [-5.0, -3.0, 1.0, 2.0, None],
        "one": [1.0] * 5,
    }
    missing = {"age": [-98, -99], "town": ["?", "-"], "born": [86400], "pay": [{"lo": -10, "hi": -2}]}
    pyreadstat.write_sav(pd.DataFrame(rows), path, missing_ranges=missing, variable_format={"born": "DATE11"})
    kinds = {"age": "DOUBLE", "town": "VARCHAR", "born": "DATE", "pay": "BIGINT", "one": "BIGINT"}
    assert types_of(path) == kinds
    assert {row[0] for row in rows_of(path)} == {34.0, -98.0, -99.0, None, 35.5}
    assert codes_of(path, "age", "age") == (5, 3)  # 34, 35.5 and missing
    assert codes_of(path, "town", "town") == (5, 3)
    assert codes_of(path, "born", "born") == (4, 3)  # two days and missing
    assert codes_of(path, "pay", "pay") == (5, 3)
    assert codes_of(path, "age", "age", null_values=("-98", "-99")) == (3, 3)
    assert codes_of(path, "town", "town", null_values=("?",)) == (4, 3)
    (said,) = [one.text for one in read(Target(relation=path))[0].remarks]
    assert said == (
        f"Columns of {path!r} have codes for missing values: age, town, born, pay. In quasi-identifiers each code is a "
        "value; elsewhere all are one missing value. read=ReadOptions(null_values=…) names codes to read as missing "
        "everywhere."
    )
    assert "missing_codes" in {one.code for one in sqlaudit.audit(path, qi=["age"]).warnings}


def test_codes_for_missing_values_of_stata(tmp_path: Path) -> None:
    path = str(tmp_path / "p.dta")
    rows = {
        "age": [34, "a", "b", None, 35],
        "pay": [0.1, "a", "z", 0.2, 0.1],
        "born": [100.0, "c", "c", 200.0, 100.0],
        "one": [1.0] * 5,
    }
    missing = {"age": ["a", "b"], "pay": ["a", "z"], "born": ["c"]}
    pyreadstat.write_dta(pd.DataFrame(rows), path, missing_user_values=missing, variable_format={"born": "%td"})
    assert types_of(path) == {"age": "VARCHAR", "pay": "VARCHAR", "born": "VARCHAR", "one": "BIGINT"}
    found = sorted(rows_of(path), key=str)
    assert {row[0] for row in found} == {"34", ".a", ".b", None, "35"}
    assert {row[1] for row in found} == {"0.1", ".a", ".z", "0.2"}
    assert {row[2] for row in found} == {"1960-04-10", ".c", "1960-07-19"}
    assert codes_of(path, "age", "age") == (5, 3)
    assert codes_of(path, "pay", "pay") == (4, 3)
    assert codes_of(path, "born", "born") == (3, 3)
    assert codes_of(path, "age", "age", null_values=(".a", ".b")) == (3, 3)
    assert types_of(path, null_values=(".a", ".b"))["age"] == "BIGINT"
    close = sqlaudit.audit(path, qi=["one"], sensitive="pay", require={"t_ordered": 1}, where="pay > 0")
    assert (close.passed, close.rows) == (True, 3)  # numbers again, without the codes
    with pytest.raises(UsageError, match=r"^age // 10 reads 'age', which has codes for missing values\."):
        sqlaudit.audit(path, qi=["age // 10"], require={"k": 1})
    assert sqlaudit.audit(path, qi=["age // 10"], require={"k": 2}, read=ReadOptions(null_values=(".a", ".b"))).passed


def test_codes_for_missing_values_of_sas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader gives capital letters for the special missing values of SAS."""
    path = str(tmp_path / "p.sas7bdat")
    write_sas7bdat(pd.DataFrame({"age": [34.0, 1.0, 2.0, None], "one": [1.0] * 4}), path)
    reader = pyreadstat.read_sas7bdat

    def with_letters(*given: Any, **more: Any) -> Any:
        found, about = reader(*given, **more)
        if more.get("user_missing") and found["age"]:
            found["age"] = [{1.0: "A", 2.0: "_"}.get(one, one) for one in found["age"]]
            about.missing_user_values = {"age": ["A", "_"]}
        return found, about

    monkeypatch.setattr(pyreadstat, "read_sas7bdat", with_letters)
    assert codes_of(path, "age", "age") == (4, 2)
    assert {row[0] for row in rows_of(path)} == {"34", ".A", "._", None}


def test_codes_for_missing_values_in_a_transport_file(tmp_path: Path) -> None:
    """The reader merges them; a number, a text that ends in a letter before a zero, and `.` are none."""
    path = tmp_path / "p.xpt"
    table = pd.DataFrame({"sex": ["A", "B", "AA"], "age": [0.0, None, 1.0], "one": [1.0] * 3})
    one = bytes.fromhex("4110000000000000")
    for version, code in ((5, b"A"), (8, b"_"), (8, b"Z")):
        pyreadstat.write_xport(table, str(path), file_format_version=version)
        assert codes_of(str(path), "age") == (3, None)
        whole = path.read_bytes()
        path.write_bytes(whole[: whole.rindex(one)] + code + bytes(7) + whole[whole.rindex(one) + 8 :])
        assert error_of(InputError, Target(relation=str(path))) == (
            f"{str(path)!r} has codes for missing values (.A to .Z), which its reader cannot distinguish. Save it as "
            ".sas7bdat."
        )


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_codes_for_missing_values_with_labels(tmp_path: Path, ending: str) -> None:
    path = str(tmp_path / f"p.{ending}")
    if ending == "sav":
        table, missing = pd.DataFrame({"age": [1.0, -98, -99, 2, None]}), {"missing_ranges": {"age": [-98, -99]}}
        labels: dict[Any, str] = {1: "young", -98: "refused"}
    else:
        table, missing = pd.DataFrame({"age": [1, "a", "b", 2, None]}), {"missing_user_values": {"age": ["a", "b"]}}
        labels = {1: "young", "a": "refused"}
    write = {"sav": pyreadstat.write_sav, "dta": pyreadstat.write_dta}[ending]
    write(table.assign(one=1.0), path, variable_value_labels={"age": labels}, **missing)
    unlabelled = {"sav": "-99", "dta": ".b"}[ending]
    assert {row[0] for row in rows_of(path, labels=True)} == {"young", "refused", unlabelled, "2", None}
    assert codes_of(path, "age", "age", labels=True) == (5, 3)


def test_codes_for_missing_values_are_no_people_and_no_expression(tmp_path: Path) -> None:
    path = str(tmp_path / "p.sav")
    table = pd.DataFrame({"who": [1.0, 2.0, -98.0, -99.0], "one": [1.0] * 4})
    pyreadstat.write_sav(table, path, missing_ranges={"who": [-98, -99]})
    with pytest.raises(UsageError, match="2 rows have no value in the entity column who"):
        sqlaudit.audit(path, qi=["one"], entity="who", require={"k": 2})
    known = sqlaudit.audit(path, qi=["one"], entity="who", require={"k": 2}, where="who IS NOT NULL")
    assert (known.passed, known.rows) == (True, 2)
    with pytest.raises(UsageError, match="missing in 2 of 4 rows"):
        sqlaudit.columns(path, columns=["one"], entity="who")
    with pytest.raises(UsageError) as caught:
        sqlaudit.audit(path, qi=["one"], sensitive="who + 1", require={"l": 3})
    assert str(caught.value) == (
        "who + 1 reads 'who', which has codes for missing values. Name the column itself, or the codes with "
        "read=ReadOptions(null_values=…)."
    )
    for query in (f"SELECT * FROM '{path}'", f"SELECT who AS x FROM '{path}'", f"SELECT count(WHO) AS n FROM '{path}'"):
        assert error_of(UsageError, Target(query=query)) == (
            f"Column 'who' of {path!r} has codes for missing values, which a query cannot distinguish from values. "
            "Name the file as the table, with where=, or the codes with read=ReadOptions(null_values=…)."
        )
    assert read(Target(query=f"SELECT one FROM '{path}'"))[1] == [(1,)] * 4
    named = ReadOptions(null_values=("-98", "-99"))
    assert len(read(Target(query=f"SELECT * FROM '{path}'", read=named))[1]) == 4
    for where in ("who IS NOT NULL", "who > -1000", "NOT who IS NULL AND who IN (1, 2)", "one = 1 AND who > 0"):
        assert len(read(Target(relation=path, where=where))[1]) == 2
    assert len(read(Target(relation=path, where="who IS NULL"))[1]) == 2


def test_a_release_has_codes_for_missing_values_in_quasi_identifiers_only(tmp_path: Path) -> None:
    path, release = str(tmp_path / "p.sav"), tmp_path / "release.parquet"
    table = pd.DataFrame({"age": [30.0, -98.0] * 6, "ill": [1.0, -7.0, -9.0, 2.0] * 3})
    pyreadstat.write_sav(table, path, missing_ranges={"age": [-98], "ill": [-7, -9]})
    asked: dict[str, Any] = {"qi": ["age"], "sensitive": "ill", "require": {"k": 3, "l": 2}}
    for rewrite in (sqlaudit.suppress, sqlaudit.lattice):
        more = {"to": release} if rewrite is sqlaudit.suppress else {}
        with pytest.raises(UsageError) as caught:
            rewrite(path, **asked, **more)
        assert str(caught.value) == (
            f"Column 'ill' of {path!r} has codes for missing values, which a release does not declare. Name the codes "
            "to read as missing with read=ReadOptions(null_values=…)."
        )
    sqlaudit.suppress(path, **asked, read=ReadOptions(null_values=("-7", "-9")), to=release)
    written = duckdb.sql(f"SELECT DISTINCT age, ill FROM '{release}'").fetchall()
    assert sorted(written, key=str) == [(-98, 2), (-98, None), (30, 1), (30, None)]


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_labels_on_request(tmp_path: Path, ending: str) -> None:
    path = str(tmp_path / f"p.{ending}")
    write = {"sav": pyreadstat.write_sav, "dta": pyreadstat.write_dta}[ending]
    people = PEOPLE[["sex", "pay"]].fillna(3)

    def labelled(labels: dict[int, str]) -> str:
        write(people, path, variable_value_labels={"sex": labels})
        return path

    every = {1: "female", 2: "male", 9: "refused"}
    assert [row[0] for row in sorted(rows_of(labelled(every)))] == [1, 2, 3, 9]
    assert sorted(row[0] for row in rows_of(path, labels=True)) == ["3", "female", "male", "refused"]
    assert types_of(path, labels=True) == {"sex": "VARCHAR", "pay": "DOUBLE"}
    asked = ReadOptions(labels=True)
    for labels in ({1: SECRET, 2: SECRET}, {1: "3"}):
        target = Target(relation=labelled(labels), read=asked)
        assert (
            error_of(InputError, target) == f"Two values of 'sex' in {path!r} have one label; read it without labels."
        )
    unused = rows_of(labelled({1: "woman", 7: "other", 8: "other"}), labels=True)
    assert sorted(row[0] for row in unused) == ["2", "3", "9", "woman"]


def test_moments_that_no_date_holds_stay_numbers(tmp_path: Path) -> None:
    path = str(tmp_path / "p.sav")
    numbers = pd.DataFrame({"d": [86400.0, 90000.0], "t": [3600.0, 90000.0], "c": [1.5, 59.0], "m": [1.0, 1.5e300]})
    pyreadstat.write_sav(numbers, path, variable_format={"d": "DATE11", "t": "TIME8", "c": "TIME8", "m": "DATETIME20"})
    assert types_of(path) == {"d": "TIMESTAMP", "t": "BIGINT", "c": "TIME", "m": "DOUBLE"}
    assert sorted(rows_of(path)) == [
        (dt.datetime(1582, 10, 15), 3600, dt.time(0, 0, 1, 500_000), 1.0),
        (dt.datetime(1582, 10, 15, 1), 90000, dt.time(0, 0, 59), 1.5e300),
    ]


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_the_last_day_of_a_date_is_one(tmp_path: Path, ending: str) -> None:
    """31 December 9999 stands for "until further notice"; the day after is no date of Python."""
    write, path = {"sav": pyreadstat.write_sav, "dta": pyreadstat.write_dta}[ending], str(tmp_path / f"p.{ending}")
    last = dt.date(9999, 12, 31)
    write(pd.DataFrame({"d": [dt.date(1900, 1, 1), last]}), path)
    assert types_of(path) == {"d": "DATE"}
    assert sorted(rows_of(path)) == [(dt.date(1900, 1, 1),), (last,)]
    days = (last - (dt.date(1582, 10, 14) if ending == "sav" else dt.date(1960, 1, 1))).days + 1
    number = days * (86400.0 if ending == "sav" else 1.0)
    write(pd.DataFrame({"d": [number]}), path, variable_format={"d": {"sav": "DATE11", "dta": "%td"}[ending]})
    assert types_of(path) == {"d": "BIGINT"}
    assert rows_of(path) == [(number,)]


def test_formats_of_stata_and_sas(tmp_path: Path) -> None:
    numbers = pd.DataFrame({name: [0.0, 1.0] for name in "abcd"})
    formats = {"a": "%tdDD/NN/CCYY", "b": "%tcHH:MM", "c": "%tm", "d": "%tC"}
    pyreadstat.write_dta(numbers, str(tmp_path / "p.dta"), variable_format=formats)
    assert list(types_of(str(tmp_path / "p.dta")).values()) == ["DATE", "TIMESTAMP", "BIGINT", "BIGINT"]
    formats = {"a": "MMDDYY10.", "b": "E8601DT19.", "c": "HHMM5.", "d": "MONYY7."}
    pyreadstat.write_xport(numbers, str(tmp_path / "p.xpt"), variable_format=formats)
    assert list(types_of(str(tmp_path / "p.xpt")).values()) == ["DATE", "TIMESTAMP", "TIME", "BIGINT"]


def test_many_rows_come_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics_files, "_CELLS", 20)
    monkeypatch.setattr(excel, "_ROWS", 7)
    for count in (0, 1, 19, 20, 21, 40):
        rows = [["a", "b"], *([i, f"v{i}" if i % 3 else None] for i in range(count))]
        expected = [tuple(row) for row in rows[1:]]
        assert sorted(rows_of(sheet(tmp_path / "p.xlsx", rows))) == expected
        table = frame(rows).astype({"a": "float64", "b": "object"})
        for ending, write in WRITERS.items():
            write(table, str(tmp_path / f"p.{ending}"))
            assert sorted(rows_of(str(tmp_path / f"p.{ending}"))) == expected


@pytest.mark.parametrize("ending", WRITERS)
def test_a_cut_or_damaged_statistics_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"p.{ending}"
    table = pd.DataFrame({"a": range(60), "s": [f"{SECRET}{i % 7}" for i in range(60)]})
    WRITERS[ending](table, str(path))
    whole = path.read_bytes()
    step = 80 if ending == "xpt" else 1  # SAS writes records of 80 bytes, and nowhere how many
    for at in {*range(11, len(whole), 53), len(whole) - 1}:
        if at % step or step == 1:
            said = error_of(InputError, Target(relation=written(path, whole[:at])))
            assert "damaged" in said or "is cut off" in said
    draw = random.Random(4)
    for _ in range(40):
        damaged = bytearray(whole)
        for at in draw.sample(range(len(damaged)), 3):
            damaged[at] = draw.randrange(256)
        assert SECRET not in said_of(Target(relation=written(path, bytes(damaged))))


def test_text_that_is_no_statistics_file(tmp_path: Path) -> None:
    for ending, title in {"sav": "an SPSS", "dta": "a Stata", "sas7bdat": "a SAS", "xpt": "a SAS"}.items():
        path = written(tmp_path / f"p.{ending}", f"a\n{SECRET}\n")
        expected = f"{path!r} is not {title} file, or is damaged or encrypted."
        assert error_of(InputError, Target(relation=path)) == expected


# Both.


def random_rows(draw: random.Random) -> list[list[Any]]:
    count = draw.randrange(1, 60)
    rows: list[list[Any]] = [["age", "zip", "seen", "ill"]]
    for _ in range(count):
        rows.append(
            [
                draw.choice([None, 34.0, 35.0, 36.5]),
                draw.choice(["01", "1", "x", None]),
                draw.choice([None, DAY, dt.date(2024, 3, 1)]),
                draw.choice(["flu", "cold"]),
            ]
        )
    return rows


@pytest.mark.parametrize("seed", range(8))
def test_the_audit_is_that_of_the_same_table_as_parquet(tmp_path: Path, seed: int) -> None:
    rows = random_rows(random.Random(seed))
    table = frame(rows).astype(object)
    table = table.where(table.notna(), None)
    paths = [sheet(tmp_path / "p.xlsx", rows)]
    for ending, write in WRITERS.items():
        paths.append(str(tmp_path / f"p.{ending}"))
        write(table, paths[-1])
    paths.append(str(tmp_path / "p.parquet"))
    database = duckdb.connect()
    database.execute("CREATE TABLE p (age DOUBLE, zip VARCHAR, seen DATE, ill VARCHAR)")
    database.executemany("INSERT INTO p VALUES (?, ?, ?, ?)", rows[1:])
    database.execute("COPY p TO '" + paths[-1] + "'")

    def figures(path: str) -> Any:
        asked = ["k=3", "l=2", "t=0.3"]
        found = sqlaudit.audit(path, qi=["age", "zip", "seen"], sensitive="ill", require=asked).to_dict()
        return {name: found[name] for name in ("status", "checks", "classes", "failing", "worst_classes")}

    oracle = figures(paths.pop())
    for path in paths:
        assert figures(path) == oracle


def test_one_file_at_a_time(tmp_path: Path) -> None:
    for name in ("1.xlsx", "2.xlsx"):
        sheet(tmp_path / name, [["a"], [1]])
    for named in (str(tmp_path), str(tmp_path / "*.xlsx")):
        assert error_of(UsageError, Target(relation=named)) == f"{named!r} names 2 Excel files; name one at a time."
    written(tmp_path / "1.csv", "a\n1\n")
    assert "several formats: '1.csv' is csv, '1.xlsx' is excel" in error_of(UsageError, Target(relation=str(tmp_path)))


def test_options_of_other_formats(tmp_path: Path) -> None:
    table = sheet(tmp_path / "p.xlsx", [["a"], [1]])
    text = written(tmp_path / "p.csv", "a\n1\n")
    for path, options, said in (
        (table, {"delimiter": ";"}, "The option 'delimiter' applies to CSV files, but {!r} is excel."),
        (table, {"labels": True}, "The option 'labels' applies to SPSS or Stata files, but {!r} is excel."),
        (text, {"sheet": "x"}, "The option 'sheet' applies to Excel files, but {!r} is csv."),
        (text, {"labels": True}, "The option 'labels' applies to SPSS or Stata files, but {!r} is csv."),
    ):
        found = error_of(UsageError, Target(relation=path, read=ReadOptions(**options)))  # type: ignore[arg-type]
        assert found == said.format(path)


@pytest.mark.parametrize(
    ("ending", "package", "said"),
    [
        ("xlsx", "python_calamine", "Reading an Excel file needs the package python-calamine"),
        ("sav", "pyreadstat", "Reading an SPSS file needs the package pyreadstat"),
        ("dta", "pyarrow", "Reading a Stata file needs the package pyarrow"),
    ],
)
def test_a_package_that_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, package: str, said: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    path = written(tmp_path / f"p.{ending}", "x")
    expected = f"{said}: pip install 'sqlaudit[files]'."
    assert error_of(MissingDriver, Target(relation=path)) == expected


def test_queries_conditions_and_a_certificate(tmp_path: Path) -> None:
    path = sheet(tmp_path / "p.xlsx", [["age", "ill"], [30, "flu"], [30, "cold"], [40, "flu"]])
    assert read(Target(query=f"SELECT count(*) AS n FROM '{path}'"))[1] == [(3,)]
    assert read(Target(relation=path, where="age < 35"))[0].columns[0].type == "BIGINT"
    both = f"SELECT a.age FROM '{path}' AS a JOIN '{path}' AS b ON a.age = b.age WHERE a.ill <> b.ill"
    assert read(Target(query=both))[1] == [(30,), (30,)]
    certificate = tmp_path / "p.json"
    run("audit", path, "--sheet", "People", "--qi", "age", "--require", "k=1", "--certificate", certificate)
    assert json.loads(certificate.read_text())["request"]["read"] == {"sheet": "People"}
    assert run("verify", certificate).code == 0
    sheet(tmp_path / "p.xlsx", [["age", "ill"], [30, "flu"], [31, "cold"], [40, "flu"]])
    assert run("verify", certificate).code == 1


def test_names_of_columns_are_any_text(tmp_path: Path) -> None:
    names = ['a"b', "select", "ä 😀", "c;--"]
    path = sheet(tmp_path / "p.xlsx", [names, [1, 2, "x", DAY]])
    assert list(types_of(path)) == names
