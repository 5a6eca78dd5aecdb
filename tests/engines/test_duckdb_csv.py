"""CSV files as people have them: every row is read, no value is changed, and what does not fit is said by its line."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import math
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import DivisionWarning, InputError, UsageError
from sqlaudit.base.files import write_rows
from sqlaudit.base.relation import Kind, Remark, Statement
from sqlaudit.base.result import Warned
from sqlaudit.base.spec import ReadOptions, Target
from sqlaudit.engines.duckdb import csv as csv_files
from sqlaudit.engines.duckdb.engine import DuckDBEngine
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.text import render_text
from tests.engines.duckdb_helpers import SECRET, error_of, read, rows_of, since_2, types_of, written
from tests.strategies import run


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        pytest.param("a,b\n1,x\n2,y\n", [(1, "x"), (2, "y")], id="plain"),
        pytest.param("a,b\n1,x\n2,y", [(1, "x"), (2, "y")], id="no last line end"),
        pytest.param("a,b\r\n1,x\r\n2,y\r\n", [(1, "x"), (2, "y")], id="CRLF"),
        pytest.param("a,b\r1,x\r2,y\r", [(1, "x"), (2, "y")], id="CR"),
        pytest.param(b"\xef\xbb\xbfa,b\r\n1,x\r\n", [(1, "x")], id="BOM"),
        pytest.param("a,b\n1,é\n".encode("utf-16"), [(1, "é")], id="UTF-16 with BOM"),
        pytest.param('a,b\n1,"x\ny"\n2,"he said ""hi"""\n', [(1, "x\ny"), (2, 'he said "hi"')], id="quoted line end"),
        pytest.param('a,b\n1,5" pipe\n', [(1, '5" pipe')], id="quote inside"),
        pytest.param("a,b\n1,'x,y'\n2,'z'\n", [(1, "x,y"), (2, "z")], id="single quotes"),
        pytest.param('a,b\n1,"x \\"y\\", z"\n2,"z"\n', [(1, 'x "y", z'), (2, "z")], id="backslash escapes"),
        pytest.param("a;b\n1;2,5\n2;3,5\n", [(1, "2,5"), (2, "3,5")], id="semicolons"),
        pytest.param("a\tb\n1\tx,y\n", [(1, "x,y")], id="tabs"),
        pytest.param("a|b\n1|x\n", [(1, "x")], id="bars"),
        pytest.param("a,b\n1;2;3,4;5;6\n7;8;9,1;2;3\n", [("1;2;3", "4;5;6"), ("7;8;9", "1;2;3")], id="two candidates"),
        pytest.param("a,b\n#1,x\n2,y\n#3,z\n", [("#1", "x"), ("2", "y"), ("#3", "z")], id="a hash is no comment"),
        pytest.param("a\n1\n\n2\n", [(1,), (None,), (2,)], id="an empty line of one column is a NULL"),
        pytest.param("a,b\n1,x\n\n2,y\n\n", [(1, "x"), (2, "y")], id="empty lines"),
        pytest.param("a,b\n01234,x\n1234,y\n", [("01234", "x"), ("1234", "y")], id="leading zeros stay"),
        pytest.param("a,b\n9" + "0" * 29 + ",x\n", [(9 * 10**29, "x")], id="thirty digits stay exact", marks=since_2),
        pytest.param("sex,b\nT,1\nF,2\n", [("T", 1), ("F", 2)], id="T and F are no booleans"),
        pytest.param('a,b\n1,""\n2,\n', [(1, None), (2, None)], id="empty fields are NULL"),
        pytest.param("a,b,\n1,x,\n", [(1, "x", None)], id="a delimiter at the end"),
        pytest.param("a,b\n1,x\x00y\n", [(1, "x\x00y")], id="a NUL character"),
        pytest.param("a,b\n1,😀;'\"\n", [(1, "😀;'\"")], id="emoji"),
        pytest.param("a,b\n" + "q" * 10_000 + ",x\n", [("q" * 10_000, "x")], id="ten thousand characters"),
        pytest.param("a\n1.5\ninf\n-Infinity\n", [(1.5,), (math.inf,), (-math.inf,)], id="infinities"),
        pytest.param("a,b\n,x\n,y\n", [(None, "x"), (None, "y")], id="a column without any value"),
        pytest.param("a,b,c\n", [], id="only a header"),
        pytest.param("a,b,c", [], id="only a header, no line end"),
    ],
)
def test_rows_are_read_as_they_are(tmp_path: Path, content: str | bytes, rows: list[tuple[object, ...]]) -> None:
    assert rows_of(written(tmp_path / "people.csv", content)) == rows


@pytest.mark.parametrize(
    ("content", "names"),
    [
        pytest.param("age, sex, zip\n39, M, 1\n", ["age", "sex", "zip"], id="blanks behind the delimiter"),
        pytest.param("a,,c,\n1,x,q,1\n", ["a", "column1", "c", "column3"], id="empty names"),
        pytest.param(
            '"we""ird; \'q\'",😀,select,"new\nline",a b\n1,2,3,4,5\n',
            ["we\"ird; 'q'", "😀", "select", "new\nline", "a b"],
            id="hostile names",
        ),
        pytest.param("1,2\n3,4\n", ["column0", "column1"], id="no header"),
        pytest.param('"last, first"\n"Doe, Jane"\n', ["last, first"], id="one column with a comma in its name"),
    ],
)
def test_names_come_from_the_header(tmp_path: Path, content: str, names: list[str]) -> None:
    assert list(types_of(written(tmp_path / "people.csv", content))) == names


def test_kinds_are_found_in_the_whole_of_a_small_file(tmp_path: Path) -> None:
    lines = "".join(f"{i},{i}.5,2020-01-0{1 + i % 9},10:0{i % 10}:00,2020-01-01 10:00:00,t{i}\n" for i in range(30_000))
    path = written(tmp_path / "people.csv", "i,f,d,t,s,x\n" + lines + "none,1,2020-01-01,10:00:00,2020-01-01,x\n")
    relation, rows = read(Target(relation=path))
    kinds = [column.kind for column in relation.columns]
    assert kinds == [Kind.TEXT, Kind.FLOAT, Kind.DATE, Kind.TIME, Kind.TIMESTAMP, Kind.TEXT]
    assert len(rows) == 30_001


def test_dates_that_are_not_iso_are_read_in_every_statement(tmp_path: Path) -> None:
    path = written(tmp_path / "people.csv", "d,b\n13/02/2020,1\n01/03/2020,2\n")
    relation, rows = read(Target(relation=path))
    assert relation.columns[0].type == "DATE"
    assert [row[0].isoformat() for row in rows] == ["2020-02-13", "2020-03-01"]


def test_read_options(tmp_path: Path) -> None:
    path = written(tmp_path / "people.csv", "age, sex\n39, ?\nNA, M\n")
    assert rows_of(path, null_values=("?", "NA")) == [(39, None), (None, " M")]
    assert rows_of(path, all_text=True) == [("39", " ?"), ("NA", " M")]
    assert types_of(path, header=False) == {"column0": "VARCHAR", "column1": "VARCHAR"}
    assert len(rows_of(path, header=False)) == 3
    assert rows_of(written(tmp_path / "a.csv", "a;b,c\n1;2,3\n"), delimiter=",") == [("1;2", 3)]
    assert rows_of(written(tmp_path / "t.csv", "a\tb\n1\t2\n"), delimiter="\\t") == [(1, 2)]
    assert rows_of(written(tmp_path / "l.csv", "a,b\n1,é\n".encode("latin-1")), encoding="ISO-8859-1") == [(1, "é")]
    assert rows_of(written(tmp_path / "u.csv", "a,b\n1,é\n".encode("utf-16-le")), encoding="UTF-16") == [(1, "é")]
    assert rows_of(written(tmp_path / "noname", "a,b\n1,2\n"), format="csv") == [(1, 2)]
    assert rows_of(written(tmp_path / "adult.data", "a,b\n1,2\n")) == [(1, 2)]


@pytest.mark.parametrize(
    ("encoding", "value"),
    [
        ("cp1252", "Köln – 5 €"), ("cp1250", "Łódź"), ("windows-1251", "Тюмень"), ("KOI8-R", "Тюмень"),
        ("GBK", "北京"), ("gb18030", "北京😀"), ("Shift-JIS", "東京"), ("cp932", "①東京"), ("euc-kr", "서울"),
        ("big5", "臺北"),
        ("utf-16-be", "😀"), ("utf-32", "😀"), ("iso-8859-15", "5 €"), ("mac-roman", "Zürich"),
    ],
)  # fmt: skip
def test_files_in_other_encodings_are_read_as_in_utf_8(tmp_path: Path, encoding: str, value: str) -> None:
    text = "age;" + value + "\r\n" + "".join(f'{n};"{value}\n{n % 3}"\r\n' for n in range(30))
    path = written(tmp_path / "p.csv", text.encode(encoding))
    other = written(tmp_path / "other.csv", text)
    assert types_of(path, encoding=encoding) == types_of(other) == {"age": "BIGINT", value: "VARCHAR"}
    assert rows_of(path, encoding=encoding) == rows_of(other)


def test_characters_on_the_edge_of_a_piece_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "_PIECE", 3)
    text = "a;北京\n" + "1;東京😀\n" * 50
    path = written(tmp_path / "p.csv.gz", gzip.compress(text.encode("gb18030")))
    assert rows_of(path, encoding="gb18030") == rows_of(written(tmp_path / "q.csv", text))


def test_a_mark_of_big_endian_order_is_heard(tmp_path: Path) -> None:
    content = codecs.BOM_UTF16_BE + "a,b\n1,é\n".encode("utf-16-be")
    assert rows_of(written(tmp_path / "p.csv", content)) == [(1, "é")]


def test_bytes_that_are_not_in_the_named_encoding_are_said_by_their_line(tmp_path: Path) -> None:
    lines = "a;b\n" + "1;ж\n" * 700_000
    path = written(tmp_path / "p.csv", lines.encode("cp1251") + b"1;\x98\n")
    assert error_of(InputError, Target(relation=path, read=ReadOptions(encoding="cp1251"))) == (
        f"Line 700,002 of {path!r} is not in the encoding cp1251. Name another one with read=ReadOptions(encoding=…)."
    )
    path = written(tmp_path / "q.csv", "a;b\n1;京\n".encode("gbk")[:-2])
    said = error_of(InputError, Target(relation=path, read=ReadOptions(encoding="gbk")))
    assert said.startswith(f"Line 2 of {path!r} is not in the encoding gbk.")


def test_compressed_files(tmp_path: Path) -> None:
    content = b"a,b\n1,x\n"
    packed = pa.Codec("zstd").compress(content, asbytes=True)
    assert rows_of(written(tmp_path / "p.csv.gz", gzip.compress(content))) == [(1, "x")]
    assert rows_of(written(tmp_path / "p.csv.zst", packed)) == [(1, "x")]


def test_a_glob_is_one_table(tmp_path: Path) -> None:
    for name, content in {"1": "a,b\n1,x\n", "2": "a,b\nq,y\n", "3": "a,b\n", "4": ""}.items():
        written(tmp_path / f"p{name}.csv", content)
    relation, rows = read(Target(relation=str(tmp_path / "p*.csv")))
    assert sorted(rows) == [("1", "x"), ("q", "y")]
    assert relation.tables == (str(tmp_path / "p*.csv"),)
    assert relation.parsed


def test_windows_over_a_file_count_what_they_name(tmp_path: Path) -> None:
    path = written(tmp_path / "p.csv", "a,b\n,x\n2,x\n3,y\n")
    with DuckDBEngine() as engine:
        rows = engine.open(Target(relation=str(path))).sql
        counted = "SELECT b, COUNT(*) OVER (PARTITION BY b) FROM " + rows
        assert sorted(engine.run(Statement("counted", counted))) == [("x", 2), ("x", 2), ("y", 1)]
        held = engine.materialize("held", Statement("held", "SELECT * FROM " + rows)).sql
        twice = "SELECT b, MAX(a) OVER (PARTITION BY a, b), MIN(a) OVER (PARTITION BY b, b) FROM " + held
        found = sorted(engine.run(Statement("twice", twice)), key=str)
        assert found == [("x", 2, 2), ("x", None, 2), ("y", 3, 3)]


def test_a_file_may_have_a_name_that_looks_like_a_pattern(tmp_path: Path) -> None:
    path = written(tmp_path / "a'[1]*; drop.csv", "a\n1\n")
    written(tmp_path / "a'1; drop.csv", "a\n2\n")
    assert rows_of(path) == [(1,)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param("a,b\n1,x\n2,y,SECRET\n", "Line 3 of {f} has 3 fields, but 2 are expected.", id="one too many"),
        pytest.param("a,b,c\n1,x,1\n2,SECRET\n", "Line 3 of {f} has 2 fields, but 3 are expected.", id="one too few"),
        pytest.param(
            "a,b\n1,x\n" + "2,SECRET,z\n" * 100,
            "Line 3 of {f} has 3 fields, but 2 are expected.",
            id="most lines wider",
        ),
        pytest.param(
            "a,b\n" + "1,x\n" * 30_000 + "1,SECRET,z\n",
            "Line 30002 of {f} has 3 fields, but 2 are expected.",
            id="ragged behind the sample",
        ),
        pytest.param('a,b\n1,"SECRET\n2,y\n', "Line 2 of {f} has an unclosed quote.", id="open quote"),
        pytest.param(
            "a,b\n1,SECRET\u00e9\n".encode("latin-1"),
            "Line 2 of {f} is not UTF-8. Name its encoding: read=ReadOptions(encoding='cp1252') if it is from Western "
            "Europe, else for example cp1251, gbk or shift_jis.",
            id="latin-1",
        ),
        pytest.param(
            b"a,b\n" + b"1,x\n" * 30_000 + b"1,SECRET\xe9\n",
            "Line 30002 of {f} is not UTF-8. Name its encoding: read=ReadOptions(encoding='cp1252') if it is from "
            "Western Europe, else for example cp1251, gbk or shift_jis.",
            id="latin-1 behind the sample",
        ),
        pytest.param(
            "a,b\n" + "q" * 3_000_000 + ",x\n", "Line 2 of {f} is longer than a line may be (2 MB).", id="long"
        ),
        pytest.param(
            "a,b\r\n1,x\n2,y\r\n",
            "{f} is not well-formed CSV: look for mixed line ends or stray quotes.",
            id="mixed line ends",
        ),
        pytest.param("", "{f} is empty (0 bytes).", id="nothing"),
        pytest.param(
            "a,A\n1,2\n",
            "The columns 'a' and 'A' of {f} differ only in upper and lower case, which DuckDB ignores. Rename one.",
            id="names that differ by case",
        ),
    ],
)
def test_what_does_not_fit_is_said_by_its_line(tmp_path: Path, content: str | bytes, expected: str) -> None:
    path = written(tmp_path / "people.csv", content)
    assert (
        error_of(InputError, Target(relation=path)).replace(repr(path), "{f}").replace("'people.csv'", "{f}")
        == expected
    )


def test_a_value_behind_the_sample_that_does_not_fit_its_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_files, "_FULL_SCAN_BYTES", 1000)  # a file of 32 MB is looked through, and takes its time
    body = "".join(f"{i},x{i}\n" for i in range(210_000))
    path = written(tmp_path / "people.csv", "id,note\n" + body + SECRET + ",y\n")
    expected = (
        f"Line 210002 of {path!r} has a value in column 1 ('id') that is not a BIGINT. Read the file as text, or "
        "name the texts that mean NULL."
    )
    assert error_of(InputError, Target(relation=path, label="people")) == expected
    assert len(rows_of(path, all_text=True)) == 210_001


def test_compressed_files_that_are_damaged(tmp_path: Path) -> None:
    whole = gzip.compress(bytes(range(256)) * 50)
    for content in (b"SECRET", whole[: len(whole) // 2]):
        path = written(tmp_path / "p.csv.gz", content)
        assert error_of(InputError, Target(relation=path)) == f"{path!r} is not a complete gzip file, or was changed."


def test_files_of_a_glob_with_different_columns(tmp_path: Path) -> None:
    written(tmp_path / "1.csv", "a,b\n1,x\n")
    written(tmp_path / "2.csv", "b,a\n1,x\n")
    expected = "'2.csv' does not have the columns of '1.csv' in the same order."
    assert error_of(InputError, Target(relation=str(tmp_path / "*.csv"))) == expected


def test_options_that_can_not_be_used(tmp_path: Path) -> None:
    path = written(tmp_path / "p.csv", "a,b\n1,2\n")
    with pytest.raises(UsageError, match="takes one character, or tab"):
        ReadOptions(delimiter="abcdefg")
    assert error_of(UsageError, Target(relation=path, read=ReadOptions(encoding="punycode"))) == (
        "The encoding 'punycode' is not supported. Use for example utf-8, utf-16, cp1252 (Western Europe), cp1251 "
        "(Cyrillic), gbk (Chinese) or shift_jis (Japanese), or convert the file."
    )
    with pytest.raises(UsageError, match="is one of csv, json, parquet, arrow, excel, spss, stata, sas, not 'xml'"):
        ReadOptions(format="xml")
    assert error_of(
        InputError, Target(relation=written(tmp_path / "s.csv", "a;b\n1;2,5\n"), read=ReadOptions(delimiter=","))
    ) == (f"Line 2 of {str(tmp_path / 's.csv')!r} has 2 fields, but 1 is expected.")


_CELLS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00\r"), max_size=8)
_TABLES = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(_CELLS, min_size=n, max_size=n), min_size=1, max_size=8)
)


@example(tables=[[['say "hi"', "a,b;c\td|e"], ["a line\nand another", '\\"'], ['"', " '\\ "]]], delimiter=",")
@given(tables=st.lists(_TABLES, min_size=1, max_size=6), delimiter=st.sampled_from(",;\t|"))
@run(60, some=5)
def test_any_text_is_read_as_python_reads_it(
    tmp_path_factory: pytest.TempPathFactory, tables: list[list[list[str]]], delimiter: str
) -> None:
    folder = tmp_path_factory.getbasetemp()
    targets = [_random_file(folder / f"random{i}.csv", table, delimiter) for i, table in enumerate(tables)]
    with DuckDBEngine(targets=targets) as engine:
        relations = [engine.open(target) for target in targets]
        for table, relation in zip(tables, relations, strict=True):
            rows = engine.run(Statement("rows", "SELECT * FROM " + relation.sql))
            filled = [row for row in table if len(row) == 1 or any(row)]  # wider rows without any value are skipped
            assert rows == [tuple(cell or None for cell in row) for row in filled]


def _random_file(path: Path, table: list[list[str]], delimiter: str) -> Target:
    """A file that Python's csv module writes; the delimiter is named only where the header can't tell it."""
    names = [f"c{i}" for i in range(len(table[0]))]
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows([names, *table])
    named = delimiter if len(names) == 1 else ""
    options = ReadOptions(all_text=True, header=True, delimiter=named)
    return Target(relation=written(path, text.getvalue()), read=options)


def test_a_first_line_that_may_be_a_person_is_not_taken_for_names(tmp_path: Path) -> None:
    path = written(tmp_path / "p.csv", f"ann,f,{SECRET}\nbob,m,xy\neve,f,{SECRET}\n")
    assert error_of(InputError, Target(relation=path)) == (
        f"Line 1 of {path!r} may be data instead of a header: 2 of its 3 fields are also values of their columns. "
        "Use read=ReadOptions(header=False) for data (header: false), or read=ReadOptions(header=True) for a header."
    )
    assert len(rows_of(path, header=False)) == 3
    assert len(rows_of(path, header=True)) == 2
    assert len(rows_of(written(tmp_path / "q.csv", "name,sex\nann,f\nbob,m\n"))) == 2
    half = written(tmp_path / "h.csv", "x,f\nann,f\nbob,m\n")
    assert "1 of its 2 fields are also values" in error_of(InputError, Target(relation=half))


def test_a_header_that_was_guessed_is_told(tmp_path: Path) -> None:
    told = (
        "was read as the header, because all its columns are text. If it is data, use read=ReadOptions(header=False)."
    )
    texts = written(tmp_path / "p.csv", f"name,sex,s\n{SECRET},f,s\nbob,m,t\n")  # s is a value of s
    first = Remark("header_guessed", f"Line 1 of 'p.csv' {told}")
    assert remarks_of(Target(relation=texts)) == (first,)
    assert remarks_of(Target(relation=texts, read=ReadOptions(header=True))) == ()
    assert remarks_of(Target(relation=texts, read=ReadOptions(header=False))) == ()
    assert remarks_of(Target(relation=written(tmp_path / "n.csv", "name,age\nann,1\n"))) == ()
    assert remarks_of(Target(query=f"SELECT * FROM '{texts}' JOIN '{texts}' AS again USING (name)")) == (first,)
    with pytest.warns(DivisionWarning):
        both = remarks_of(Target(relation=texts, where="length(sex) / 2 < 9"))
    assert [one.code for one in both] == ["header_guessed", "selected_rows", "division_of_whole_numbers"]
    named = sqlaudit.audit(texts, qi=["sex"]).warnings  # it has every column that was named
    assert first.code not in {one.code for one in named}
    found = sqlaudit.audit(texts, qi=["upper(sex)"], show_values=True)
    assert [one for one in found.warnings if one.code == first.code] == [Warned(first.code, (), first.text)]
    assert first.text in " ".join(render_text(document_of(found)).split())


def remarks_of(target: Target) -> tuple[Remark, ...]:
    with DuckDBEngine(targets=[target]) as engine:
        return engine.open(target).remarks


def test_the_header_of_a_large_file_is_its_first_line(tmp_path: Path) -> None:
    """Several threads read it, and any of their lines came first: a line of data became the names of the columns."""
    place = tmp_path / "large.csv.gz"
    columns = ", ".join(f"hash(i, {number}) % {5 + number} AS c{number}" for number in range(16))
    duckdb.sql(f"COPY (SELECT {columns} FROM range(1_000_000) AS t(i)) TO '{place}' (HEADER)")
    for _ in range(4):
        with DuckDBEngine() as engine:
            assert engine.open(Target(relation=str(place))).columns[0].name == "c0"


@pytest.mark.parametrize(
    ("content", "qi", "names"),
    [
        (",sex,band\n" + "".join(f"{i},f,20-29\n" for i in range(6)), ["sex", "band"], ["", "sex", "band"]),
        ("sex,2019\nf,5\nm,7\n", ["SEX", '"2019"'], ["sex", "2019"]),
        ("2019,2020\n1,5\n2,7\n", ["2019"], ["2019", "2020"]),
        ("f,m\nf,m\ng,n\n", ["f"], ["f", "m"]),
    ],
)
def test_a_first_line_with_all_columns_that_are_named_is_the_header(
    tmp_path: Path, content: str, qi: list[str], names: list[str]
) -> None:
    path = written(tmp_path / "p.csv", content)
    result = sqlaudit.audit(path, qi=qi)
    assert result.rows == content.count("\n") - 1
    assert [name for name in result.columns if not name.startswith("column")] == [name for name in names if name]


def test_a_first_line_without_a_column_that_is_named_may_be_data(tmp_path: Path) -> None:
    path = written(tmp_path / "p.csv", "f,2019\nm,2020\nf,2019\n")
    assert sqlaudit.audit(path, qi=["column0"]).rows == 3
    with pytest.raises(UsageError, match=r"has no column 'sex'.* Line 1 was read as data\. .*header=True"):
        sqlaudit.audit(path, qi=["sex", "f"])


@pytest.mark.parametrize("row", [",,", '"","",""', ',"",'])
@pytest.mark.parametrize(("name", "end"), [("p.csv", "\n"), ("p.csv", "\r\n"), ("p.csv.gz", "\n")])
def test_a_row_without_any_value_is_no_person(tmp_path: Path, name: str, end: str, row: str) -> None:
    lines = ["age,sex,n", "30,f,1", row, "30,f,2", "", row]
    content = end.join(lines[:4] + lines[5:]).encode() + end.encode()
    path = written(tmp_path / name, gzip.compress(content) if name.endswith("gz") else content)
    relation, rows = read(Target(relation=path))
    assert rows == [(30, "f", 1), (30, "f", 2)]
    assert relation.remarks == (Remark("blank_rows", f"Rows of {path!r} without any value were skipped (2)."),)
    assert sqlaudit.audit(path, qi=["age", "sex"], require={"k": 2}).passed


def test_a_row_with_one_value_or_a_text_that_means_missing_is_a_person(tmp_path: Path) -> None:
    path = written(tmp_path / "p.csv", "age,sex,n\n30,f,1\n,,2\n, ,\n30,f,2\n")
    assert len(rows_of(path)) == 4
    missing = written(tmp_path / "m.csv", "age,sex\n30,f\nNA,NA\n,\n")
    assert rows_of(missing, null_values=("NA",)) == [(30, "f"), (None, None), (None, None)]
    assert len(rows_of(written(tmp_path / "o.csv", 'age\n30\n""\n'))) == 2


def test_a_line_break_in_a_quoted_header(tmp_path: Path) -> None:
    path = written(tmp_path / "p.csv", '"sex\n(f or m)",band\nf,20\nm,30\n')
    assert types_of(path) == {"sex\n(f or m)": "VARCHAR", "band": "BIGINT"}
    titled = written(tmp_path / "t.csv", 'Report\n"sex\n(f or m)",band\nf,20\nm,30\n')
    assert "skip=1" in error_of(InputError, Target(relation=titled))


def test_a_wide_file_of_texts_and_one_row(tmp_path: Path) -> None:
    path = written(tmp_path / "p.csv", ",".join(f"c{i}" for i in range(1200)) + "\n" + ",".join(["a"] * 1200) + "\n")
    assert len(rows_of(path)) == 1
    blank = written(tmp_path / "b.csv", Path(path).read_text() + "," * 1199 + "\n")
    assert len(rows_of(blank)) == 1


def test_a_value_with_a_lone_carriage_return_is_written_and_read(tmp_path: Path) -> None:
    rows = [("f", "a\rb"), ("f", "c\nd"), ("m", "e\r\nf")]
    write_rows(tmp_path / "r.csv", ["sex", "note"], [rows])
    assert sorted(rows_of(str(tmp_path / "r.csv"))) == rows
    plain = tmp_path / "p.csv"
    write_rows(plain, ["sex"], [[("f",), ("m",)]])
    assert plain.read_bytes() == b"sex\nf\nm\n"
