"""Parquet, JSON and Arrow files, and paths that are no files."""

from __future__ import annotations

import builtins
import functools
import gzip
import importlib.util
import os
import random
import zlib
from contextlib import nullcontext, suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from sqlaudit.base.errors import InputError, MissingDriver, PermissionDenied, UsageError
from sqlaudit.base.spec import ReadOptions, Target
from sqlaudit.engines import connect
from sqlaudit.engines.duckdb.driver import DUCKDB_1
from sqlaudit.engines.duckdb.open import refuse_packed
from sqlaudit.engines.duckdb.paths import Files
from tests.engines.duckdb_helpers import SECRET, error_of, read, rows_of, since_2, types_of, written

TABLE = pa.table({"a": [1, 2, None], "select": ["x", "😀;'\"", None]})
ROWS = [(1, "x"), (2, "😀;'\""), (None, None)]


def parquet(path: Path, table: pa.Table) -> str:
    pyarrow.parquet.write_table(table, path)
    return str(path)


def test_parquet_json_and_arrow_hold_the_same(tmp_path: Path) -> None:
    assert rows_of(parquet(tmp_path / "p.parquet", TABLE)) == ROWS
    pyarrow.feather.write_feather(TABLE, tmp_path / "p.feather")
    assert rows_of(str(tmp_path / "p.feather")) == ROWS
    with pa.ipc.new_stream(tmp_path / "p.arrows", TABLE.schema) as stream:
        stream.write_table(TABLE)
    assert rows_of(str(tmp_path / "p.arrows")) == ROWS
    lines = '{"a": 1, "select": "x"}\n{"a": 2, "select": "😀;\'\\""}\n{"a": null, "select": null}\n'
    assert rows_of(written(tmp_path / "p.ndjson", lines)) == ROWS
    assert rows_of(written(tmp_path / "p.json.gz", gzip.compress(lines.encode()))) == ROWS
    array = "[" + ",".join(lines.splitlines()) + "]"
    assert rows_of(written(tmp_path / "p.json", array)) == ROWS


def test_what_a_file_is_shows_in_its_first_bytes_and_its_name(tmp_path: Path) -> None:
    assert rows_of(parquet(tmp_path / "people.dat", TABLE)) == ROWS
    pyarrow.feather.write_feather(TABLE, tmp_path / "people.bin")
    assert rows_of(str(tmp_path / "people.bin")) == ROWS
    assert rows_of(written(tmp_path / "people.txt", '{"a": 1}\n'), format="json") == [(1,)]


def test_globs_of_parquet_and_arrow(tmp_path: Path) -> None:
    for i in (1, 2):
        parquet(tmp_path / f"p{i}.parquet", pa.table({"a": [i]}))
        pyarrow.feather.write_feather(pa.table({"a": [i]}), tmp_path / f"p{i}.arrow")
    assert sorted(rows_of(str(tmp_path / "*.parquet"))) == [(1,), (2,)]
    assert sorted(rows_of(str(tmp_path / "*.arrow"))) == [(1,), (2,)]
    assert sorted(rows_of(str(tmp_path / "**" / "*.parquet"))) == [(1,), (2,)]
    expected = f"{str(tmp_path / 'p*')!r} names files of several formats: 'p1.arrow' is arrow, 'p1.parquet' is "
    expected += "parquet. Name one format, for example with *.csv."
    assert error_of(UsageError, Target(relation=str(tmp_path / "p*"))) == expected


def test_only_text_formats_are_parsed_at_every_reading(tmp_path: Path) -> None:
    parsed = {
        "a.csv": read(Target(relation=written(tmp_path / "a.csv", "a\n1\n")))[0].parsed,
        "a.json": read(Target(relation=written(tmp_path / "a.json", '{"a": 1}')))[0].parsed,
        "a.parquet": read(Target(relation=parquet(tmp_path / "a.parquet", TABLE)))[0].parsed,
    }
    assert parsed == {"a.csv": True, "a.json": True, "a.parquet": False}


def test_empty_and_unusual_columns(tmp_path: Path) -> None:
    columns = {
        "none": pa.nulls(2),
        "empty": pa.array([None, None], pa.string()),
        "wide": pa.array([Decimal("1" * 38), Decimal(-1)], pa.decimal128(38, 0)),
        "inf": pa.array([float("inf"), float("-inf")]),
        "list": [[1], []],
        "bytes": [b"\x00", b"x"],
        "kind": pa.array(["x", "y"]).dictionary_encode(),
    }
    path = parquet(tmp_path / "p.parquet", pa.table(columns))
    assert rows_of(path)[0] == (None, None, Decimal("1" * 38), float("inf"), [1], b"\x00", "x")
    assert rows_of(parquet(tmp_path / "e.parquet", pa.table({"a": pa.array([], pa.int64())}))) == []
    assert types_of(path) == {
        "none": "INTEGER" if DUCKDB_1 else '"NULL"',
        "empty": "VARCHAR",
        "wide": "DECIMAL(38,0)",
        "inf": "DOUBLE",
        "list": "BIGINT[]",
        "bytes": "BLOB",
        "kind": "VARCHAR",
    }


def test_json_as_text_keeps_every_digit(tmp_path: Path) -> None:
    path = written(tmp_path / "p.json", '{"id": 123456789012345678901234567890, "x": "01"}')
    assert rows_of(path, all_text=True) == [("123456789012345678901234567890", "01")]


def test_damaged_files(tmp_path: Path) -> None:
    whole = Path(parquet(tmp_path / "p.parquet", pa.table({"s": [f"{SECRET}{i}" for i in range(50_000)]}))).read_bytes()
    cut = written(tmp_path / "cut.parquet", whole[: len(whole) // 2])
    assert error_of(InputError, Target(relation=cut)) == f"{cut!r} is not a Parquet file, or was cut off."
    bent = written(
        tmp_path / "bent.parquet", whole[:1000] + bytes(b ^ 255 for b in whole[1000:60_000]) + whole[60_000:]
    )
    assert error_of(InputError, Target(relation=bent)) == f"{bent!r} is a damaged Parquet file."
    text = written(tmp_path / "text.parquet", "SECRET" * 20)
    assert error_of(InputError, Target(relation=text)) == f"{text!r} is not a Parquet file, or was cut off."
    arrow = written(tmp_path / "text.feather", "SECRET" * 20)
    assert error_of(InputError, Target(relation=arrow)) == f"{arrow!r} is not an Arrow file, or is damaged."
    json = written(tmp_path / "text.json", '{"a": 1}\n{"a": SECRET}\n')
    assert error_of(InputError, Target(relation=json)) == f"{json!r} is not valid JSON near line 3."
    twice = written(tmp_path / "twice.json", '{"a": 1, "a": 2}')
    assert error_of(InputError, Target(relation=twice)) == f"{twice!r} has a JSON record with the same key twice."


def test_a_json_record_behind_the_sample_that_does_not_fit(tmp_path: Path) -> None:
    filler = "x" * 1000
    lines = [f'{{"id": {i}, "note": "{filler}"}}' for i in range(33_000)]
    path = written(tmp_path / "p.json", "\n".join([*lines, '{"id": "SECRET", "note": ""}']))
    expected = f"Line 33001 of {path!r} has a value that does not fit the earlier records. Read the file as text."
    assert error_of(InputError, Target(relation=path)) == expected


def test_an_arrow_file_that_is_cut_behind_its_start(tmp_path: Path) -> None:
    pyarrow.feather.write_feather(pa.table({"s": [SECRET] * 50_000}), tmp_path / "p.arrow", compression="uncompressed")
    whole = (tmp_path / "p.arrow").read_bytes()
    cut = written(tmp_path / "cut.arrow", whole[: len(whole) // 2])
    assert error_of(InputError, Target(relation=cut)) == f"{cut!r} is not an Arrow file, or is damaged."


@pytest.mark.parametrize("other", [{"a": [1], "b": [2]}, {"a": [1.5]}, {"b": [1]}])
def test_arrow_files_with_other_columns_are_refused(tmp_path: Path, other: dict[str, list[float]]) -> None:
    for first, second in ((other, {"a": [1]}), ({"a": [1]}, other)):
        pyarrow.feather.write_feather(pa.table(first), tmp_path / "1.arrow")
        pyarrow.feather.write_feather(pa.table(second), tmp_path / "2.arrow")
        pattern = str(tmp_path / "*.arrow")
        assert error_of(InputError, Target(relation=pattern)) == (
            f"The files of {pattern!r} do not have the same columns in the same order. Write them with one schema, or "
            "audit them one by one."
        )


@pytest.mark.parametrize("indexed", [False, True])
def test_an_arrow_stream_that_is_cut(tmp_path: Path, indexed: bool) -> None:
    column = pa.array(["x", "y"] * 500)
    table = pa.table({"a": range(1000), "s": column.dictionary_encode() if indexed else column})
    with pa.ipc.new_stream(tmp_path / "p.arrows", table.schema) as stream:
        stream.write_table(table, max_chunksize=100)
    whole = (tmp_path / "p.arrows").read_bytes()
    source = pa.memory_map(str(tmp_path / "p.arrows"))
    starts = [source.tell() for _ in pa.ipc.open_stream(source)]  # where each batch ends
    assert len(rows_of(str(tmp_path / "p.arrows"))) == 1000
    for content in (*(whole[:at] for at in starts), whole + whole):
        path = written(tmp_path / "cut.arrows", content)
        assert error_of(InputError, Target(relation=path)) == (
            f"{path!r} is an incomplete Arrow stream: rows may be missing."
        )
    for at in range(0, len(whole), 97):
        if at:
            error_of(InputError, Target(relation=written(tmp_path / "cut.arrows", whole[:at])))


ZSTD_SKIPPED = b"\x53\x2a\x4d\x18" + (10).to_bytes(4, "little") + b"0123456789"


@pytest.mark.parametrize("name", ["p.csv.zst", pytest.param("p.ndjson.ZST", marks=since_2), "p.csv.gz"])
def test_a_cut_packed_text_is_refused_wherever_it_is_cut(tmp_path: Path, name: str) -> None:
    pack = gzip.compress if name.endswith(".gz") else functools.partial(pa.Codec("zstd").compress, asbytes=True)
    draw = random.Random(3)
    line = '{"a": %d}\n' if "json" in name else "%d\n"
    lines = [line % draw.randrange(10**6) for _ in range(60_000)]
    halves = [pack("".join(part).encode()) for part in (lines[:30_000], lines[30_000:])]
    between = b"" if name.endswith(".gz") else ZSTD_SKIPPED
    whole = between + halves[0] + between + halves[1] + between
    read = ReadOptions(header=False) if "csv" in name else ReadOptions()
    assert len(rows_of(written(tmp_path / name, whole), header=read.header)) == 60_000
    frame = len(between + halves[0])  # cut here, the first half is whole
    for at in {*(draw.randrange(1, len(whole)) for _ in range(60)), len(whole) - 1, frame + 3} - {frame}:
        cut = Target(relation=written(tmp_path / name, whole[:at]), read=read)
        assert "is not a complete" in error_of(InputError, cut), at


@pytest.mark.parametrize("name", ["p.csv.GZ", "p.ndjson.ZST"])
def test_a_packed_file_that_duckdb_1_reads_as_it_is(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlaudit.engines.duckdb.open.DUCKDB_1", True)
    path = written(tmp_path / name, gzip.compress(b"a\n1\n"))
    with pytest.raises(
        UsageError, match=r"^DuckDB 1.x does not decompress .*\. Rename it so that it ends in \.(gz|zst)\.$"
    ):
        refuse_packed(Files((Path(path),), "csv", path))


def test_a_cut_gzip_file_that_duckdb_1_reads_in_part(tmp_path: Path) -> None:
    whole = gzip.compress(b"1\n2\n") + gzip.compress(b"3\n")
    for end in range(1, len(whole) + 1):
        path = written(tmp_path / "p.csv.gz", whole[:end])
        with nullcontext() if end in (len(whole), len(gzip.compress(b"1\n2\n"))) else pytest.raises(InputError):
            refuse_packed(Files((Path(path),), "csv", path))


@pytest.mark.parametrize("name", ["p.csv.gz", "p.ndjson.gz", pytest.param("p.csv.GZ", marks=since_2)])
def test_a_gzip_file_whose_bytes_were_changed(tmp_path: Path, name: str) -> None:
    """Its checksum and length say so, of each of its members; DuckDB compares neither."""
    content = "a,b\n" + "f,20\n" * 20 if "csv" in name else '{"a": "f", "b": 20}\n' * 20
    stored = zlib.compressobj(0, zlib.DEFLATED, 31)
    whole = stored.compress(content.encode()) + stored.flush()
    more = gzip.compress(content.partition("\n")[2].encode())
    at = whole.index(b"f")
    assert rows_of(written(tmp_path / name, whole + more))
    for changed in (
        whole[:at] + b"m" + whole[at + 1 :],
        whole[:-8] + b"0000" + whole[-4:],
        whole[:-4] + b"0000",
        whole[:-8] + b"0000" + whole[-4:] + more,
        whole + more[:-4] + b"0000",
    ):
        target = Target(relation=written(tmp_path / name, changed))
        assert error_of(InputError, target).endswith("is not a complete gzip file, or was changed.")


def test_a_gzip_file_with_a_comment_that_duckdb_does_not_read(tmp_path: Path) -> None:
    plain = gzip.compress(b"a,b\n1,2\n")
    commented = plain[:3] + bytes([16]) + plain[4:10] + b"by hand\0" + plain[10:]
    with suppress(InputError):
        assert rows_of(written(tmp_path / "p.csv.gz", commented)) == [(1, 2)]


def test_blocks_of_zstd_of_every_kind_are_walked(tmp_path: Path) -> None:
    magic = b"\x28\xb5\x2f\xfd"

    def block(kind: int, size: int, content: bytes, *, last: int = 0) -> bytes:
        return (last | kind << 1 | size << 3).to_bytes(3, "little") + content

    raw, run = block(0, 4, b"a\n1\n"), block(1, 1, b"2", last=1)
    for frame in (
        magic + b"\x00\x58" + raw + run,  # a window, no size
        magic + b"\x20\x05" + raw + run,  # one segment, its size in one byte
        magic + b"\xa0" + (5).to_bytes(4, "little") + raw + run,
        magic + b"\xe0" + (5).to_bytes(8, "little") + raw + run,
    ):
        assert rows_of(written(tmp_path / "p.csv.zst", frame)) == [(1,), (2,)]
        for at in range(1, len(frame)):
            cut = Target(relation=written(tmp_path / "p.csv.zst", frame[:at]))
            assert "is not a complete zstd file" in error_of(InputError, cut)


@pytest.mark.parametrize("suffix", ["parquet", "json", "feather"])
def test_names_that_differ_by_case_alone(tmp_path: Path, suffix: str) -> None:
    table = pa.table({"a": [1], "A": [2]})
    path = tmp_path / f"p.{suffix}"
    if suffix == "parquet":
        parquet(path, table)
    elif suffix == "json":
        written(path, '{"a": 1, "A": 2}')
    else:
        pyarrow.feather.write_feather(table, path)
    assert error_of(InputError, Target(relation=str(path))) == (
        f"The columns 'a' and 'A' of {str(path)!r} differ only in upper and lower "
        "case, which DuckDB ignores. Rename one."
    )


def test_decimals_that_duckdb_would_round(tmp_path: Path) -> None:
    nested = pa.array([{"x": 1, "y": {"z": 2}}])
    wide = pa.array([Decimal("1" * 60)], pa.decimal256(76, 0))
    path = parquet(tmp_path / "p.parquet", pa.table({"n": nested, "d": wide}))
    expected = f"Column 'd' of {path!r} has 76 digits, more than DuckDB keeps (38)."
    assert error_of(InputError, Target(relation=path)) == expected


def test_options_for_csv_alone(tmp_path: Path) -> None:
    path = parquet(tmp_path / "p.parquet", TABLE)
    for name, value in (("delimiter", ";"), ("null values", ("?",)), ("header", False), ("all text", True)):
        options = ReadOptions(**{name.replace(" ", "_"): value})  # type: ignore[arg-type]
        expected = f"The option {name!r} applies to CSV files, but {path!r} is parquet."
        assert error_of(UsageError, Target(relation=path, read=options)) == expected


def test_paths_that_are_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "people.csv", "a\n1\n")
    written(tmp_path / "sheet.ods", "PK")
    written(tmp_path / "p.csv.bz2", "BZ")
    monkeypatch.chdir(tmp_path)
    expected = {
        "peple.csv": "There is no file 'peple.csv'. Did you mean 'people.csv'?",
        "nowhere/people.csv": "There is no file 'nowhere/people.csv'.",
        "*.parquet": "No file matches the pattern '*.parquet'.",
        "people": "There is no file 'people'. For a table, name its database with db=.",
        "https://example.org/p.csv": "'https://example.org/p.csv' is a web address. Only local files are read: "
        "download it first.",
        "/dev/null": "'/dev/null' is not a regular file, but an audit reads its input more than once. "
        "Save it as a file.",
        "sheet.ods": "'sheet.ods' is a spreadsheet of another format: save it as .xlsx or CSV.",
        "p.csv.bz2": "'p.csv.bz2' is an archive: unpack it, or use gzip or zstd.",
    }
    assert {path: error_of(UsageError, Target(relation=path)) for path in expected} == expected


def test_a_relative_path_is_read_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "people.csv", "a\n1\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "link.csv").symlink_to(tmp_path / "people.csv")
    monkeypatch.chdir(tmp_path / "sub")
    assert rows_of("../people.csv") == [(1,)]
    assert rows_of("link.csv") == [(1,)]


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "people.csv", "a\n1\n")
    Path(path).chmod(0)
    if os.geteuid() == 0:  # root may read everything, so the refusal is made up
        real = builtins.open
        refused = PermissionError(13, "Permission denied")

        def refuse(self: Path, *args: str, **named: Any) -> object:
            if str(self) == path:
                raise refused
            return real(self, *args, **named)

        monkeypatch.setattr(Path, "open", refuse)
    expected = f"{path!r} is not readable by this user."
    assert error_of(PermissionDenied, Target(relation=path)) == expected


def test_arrow_files_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "people.arrow", "ARROW1")
    monkeypatch.delitem(__import__("sys").modules, "pyarrow")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    expected = "Reading Arrow files needs the package pyarrow: pip install 'sqlaudit[frames]'."
    assert error_of(MissingDriver, Target(relation=path)) == expected


def test_files_are_opened_before_the_first_query_or_announced(tmp_path: Path) -> None:
    first, second = written(tmp_path / "1.csv", "a\n1\n"), written(tmp_path / "2.csv", "a\n2\n")
    restricted, other = Target(relation=first, where="a = 1"), Target(relation=second)
    with connect(None, None, restricted, other) as engine:
        assert [engine.open(target).columns[0].name for target in (restricted, other)] == ["a", "a"]
    with connect() as engine:
        engine.open(restricted)
        with pytest.raises(UsageError) as caught:
            engine.open(other)
    expected = f"{second!r} must be opened before the first statement runs."
    assert str(caught.value) == expected
