"""Folders named `column=value`: nothing of a path is read as a column, unless somebody asks for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import sqlaudit
from sqlaudit.base.errors import InputError, UsageError
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import ReadOptions, Target
from sqlaudit.engines.duckdb.engine import DuckDBEngine
from tests.cli.runner import run as command
from tests.engines.duckdb_helpers import error_of, read, rows_of, written

FORMATS = ("parquet", "csv", "json", "arrow")


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    """The rows in the format of the path's ending."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pylist(rows)
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path)
    elif path.suffix == ".arrow":
        pyarrow.feather.write_feather(table, path)
    elif path.suffix == ".csv":
        lines = [",".join(rows[0]), *(",".join(str(value) for value in row.values()) for row in rows)]
        path.write_text("\n".join(lines) + "\n")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("levels", ["zip=0", "zip=0/year=2020", "a/zip=0/b", "ZIP=0"])
def test_a_folder_never_hides_a_column_of_the_file(tmp_path: Path, ending: str, levels: str) -> None:
    file = tmp_path / "hive" / levels / f"p.{ending}"
    write(file, [{"zip": number % 6, "n": 1} for number in range(6)])
    glob = str(tmp_path / "hive" / "**" / f"*.{ending}")
    named = [Target(relation=path) for path in (str(file), glob)]
    asked = [Target(query=f"SELECT * FROM '{target.relation}'") for target in named]
    with DuckDBEngine(targets=[*named, *asked]) as engine:
        relations = [engine.open(target) for target in named]
        relations += [engine.open(target) for target in asked]
        assert [{column.name for column in relation.columns} for relation in relations] == [{"zip", "n"}] * 4
        for relation in relations:
            assert engine.run(Statement("zips", "SELECT count(DISTINCT zip) FROM " + relation.sql)) == [(6,)]
        found = sqlaudit.audit(str(file), db=engine, qi=["zip"], require=["k=6"])
        assert (found.status.value, found.classes.count, found.checks[0].level) == ("fail", 6, 1)
    said = error_of(InputError, Target(relation=str(file), read=ReadOptions(hive_partitioning=True)))
    assert said.startswith("'zip' is a column of")
    assert said.endswith("Read it without hive partitioning, or rename one of them.")


@pytest.mark.parametrize("ending", FORMATS)
def test_with_the_option_folders_are_columns_of_text(tmp_path: Path, ending: str) -> None:
    for number in (1, 2):
        write(tmp_path / f"year=202{number}" / "zip=01234" / f"p.{ending}", [{"n": number}])
    glob = str(tmp_path / "*" / "*" / f"*.{ending}")
    assert sorted(rows_of(glob)) == [(1,), (2,)]
    relation, _ = read(Target(relation=glob, read=ReadOptions(hive_partitioning=True)))
    assert {column.name: column.type for column in relation.columns} == {
        "n": "BIGINT",
        "year": "VARCHAR",
        "zip": "VARCHAR",
    }
    found = sqlaudit.audit(glob, qi=["zip", "year"], where="zip = '01234'", read=ReadOptions(hive_partitioning=True))
    assert (found.rows, found.classes.count) == (2, 2)


def test_folders_of_arrow_streams_are_refused_and_not_left_out(tmp_path: Path) -> None:
    file, table = tmp_path / "year=2020" / "a.arrow", pa.table({"age": [31, 34]})
    file.parent.mkdir()
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(InputError, match=r"a\.arrow' is an Arrow stream"):
        sqlaudit.audit(str(tmp_path / "*" / "a.arrow"), qi=["age"], read={"hive_partitioning": True})
    assert sqlaudit.audit(str(file), qi=["age"]).rows == 2


def test_folders_of_different_columns_are_no_table(tmp_path: Path) -> None:
    write(tmp_path / "year=2020" / "p.parquet", [{"n": 1}])
    write(tmp_path / "month=1" / "p.parquet", [{"n": 1}])
    on = ReadOptions(hive_partitioning=True)
    glob = str(tmp_path / "*" / "*.parquet")
    said = f"The files of {glob!r} are in folders for different columns. Name those of one table."
    assert error_of(InputError, Target(relation=glob, read=on)) == said
    write(tmp_path / "a=1" / "A=2" / "p.csv", [{"n": 1}])
    twice = str(tmp_path / "a=1" / "A=2" / "p.csv")
    said = f"Two folders on the way to {twice!r} are named for the column 'A'."
    assert error_of(InputError, Target(relation=twice, read=on)) == said
    plain = rows_of(written(tmp_path / "plain.csv", "n\n1\n"), hive_partitioning=True)
    assert plain == [(1,)]


def test_the_option_of_the_command_line_and_of_policies(tmp_path: Path) -> None:
    for number in (1, 2):
        write(tmp_path / f"zip=0{number}" / "p.parquet", [{"sex": "f"}, {"sex": "m"}])
    glob = str(tmp_path / "*" / "*.parquet")
    without = command("audit", glob, "--qi", "zip", "--require", "k=2")
    assert without.code == 2
    assert "zip" in without.err
    with_option = command("audit", glob, "--qi", "zip", "--require", "k=3", "--hive-partitioning", "--format", "json")
    assert with_option.code == 1
    assert json.loads(with_option.out)["checks"][0]["level"] == 2
    policy = f"{{version: 1, tables: [{{file: '{glob}', read: {{hive_partitioning: true}}, "
    policy += "quasi_identifiers: [zip], requirements: [k=2, k=3]}]}"
    file = written(tmp_path / "policy.yml", policy)
    result = sqlaudit.gate(file)
    assert [(test.requirement, test.outcome.value) for test in result.tests] == [("k=2", "pass"), ("k=3", "fail")]


def test_files_of_one_table_have_one_schema(tmp_path: Path) -> None:
    glob = str(tmp_path / "*.parquet")
    pyarrow.parquet.write_table(pa.table({"age": pa.array([1, 2], pa.int32())}), tmp_path / "a.parquet")
    pyarrow.parquet.write_table(pa.table({"age": pa.array([3, 4], pa.int64())}), tmp_path / "b.parquet")
    assert sorted(rows_of(glob)) == [(1,), (2,), (3,), (4,)]
    for other, name in (({"age": [1.5, 2.4]}, "age"), ({"age": [1], "zip": [2]}, "zip")):
        pyarrow.parquet.write_table(pa.table(other), tmp_path / "c.parquet")
        assert error_of(InputError, Target(relation=glob)) == (
            f"'c.parquet' of {glob!r} does not have the columns of the first file in the same order: {name!r} is "
            "missing in one of them, or has another type there. Write them with one schema, or audit them one by one."
        )


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """An engine with the settings for small tables."""
    from tests.spark_session import small_engine

    with small_engine() as engine:
        yield engine


@pytest.mark.spark
def test_spark_reads_folders_only_when_asked(tmp_path: Path, spark: Any) -> None:
    for number in (1, 2):
        file = tmp_path / "inside" / f"zip=0{number}" / "p.parquet"
        write(file, [{"zip": value, "n": 1} for value in range(3)])
        write(tmp_path / "above" / f"zip=0{number}" / "p.parquet", [{"n": 1}])
    on, off = ReadOptions(format="parquet", hive_partitioning=True), ReadOptions(format="parquet")
    for place in (tmp_path / "inside", tmp_path / "inside" / "*", file):
        found = sqlaudit.audit(Target(relation=str(place), read=off), qi=["zip"], db=spark)
        assert found.classes.count == 3
        with pytest.raises(InputError, match="'zip' is a column of"):
            sqlaudit.audit(Target(relation=str(place), read=on), qi=["zip"], db=spark)
    for place in (tmp_path / "above", tmp_path / "above" / "*" / "*"):
        found = sqlaudit.audit(Target(relation=str(place), read=on, where="zip >= '01'"), qi=["zip"], db=spark)
        assert (found.rows, found.classes.count) == (2, 2)
        with pytest.raises(UsageError, match="zip"):
            sqlaudit.audit(Target(relation=str(place), read=off), qi=["zip"], db=spark)
