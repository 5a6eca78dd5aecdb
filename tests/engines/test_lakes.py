"""Files of Delta Lake, Hudi and Iceberg: their folders keep deleted rows, so files in them are no table."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Target
from tests.engines.duckdb_helpers import error_of

LOGS = {
    "Delta Lake": "_delta_log/00000000000000000000.json",
    "Hudi": ".hoodie/hoodie.properties",
    "Iceberg": "metadata/00000-3f1c.metadata.json",
}


def lake(folder: Path, log: str) -> Path:
    """A table in which three files were compacted into one: rows of 60 people, three times."""
    root = folder / "people"
    (root / log).parent.mkdir(parents=True)
    (root / log).write_text("{}")
    for name in ("old-1", "old-2", "live"):
        file = root / "data" / f"year={name}" / f"{name}.parquet"
        file.parent.mkdir(parents=True)
        pq.write_table(pa.table({"age": [n // 3 for n in range(60)]}), file)
        pq.write_table(pa.table({"age": [n // 3 for n in range(60)]}), root / f"{name}.parquet")
    return root


def ways(root: Path) -> list[str]:
    """How somebody names files of the table."""
    inside = root / "data" / "year=live"
    named = (root, root / "*.parquet", root / "data", root / "**" / "*.parquet", root / "live.parquet", inside)
    return [str(path) for path in (*named, inside / "live.parquet")]


def sentence(label: str, name: str, folder: str) -> str:
    way = f'from Python as the frame spark.read.format("{name.lower()}").load("{folder}")'
    if name == "Delta Lake":
        way = f'with query= "SELECT * FROM delta.`{folder}`"'
    return (
        f"{label!r} is part of the {name} table in {folder!r}, whose files also hold deleted rows. Audit the table on "
        f"Spark, by its name or {way}, or write its current rows to a file elsewhere."
    )


@pytest.mark.parametrize("name", LOGS)
def test_files_of_a_lake_are_refused(name: str, tmp_path: Path) -> None:
    root = lake(tmp_path, LOGS[name])
    for label in ways(root):
        expected = sentence(label, name, str(root))
        assert error_of(UsageError, Target(relation=label)) == expected
        assert error_of(UsageError, Target(query=f"SELECT age FROM '{label}'")) == expected
    link = tmp_path / "link.parquet"
    link.symlink_to(root / "live.parquet")
    assert error_of(UsageError, Target(relation=str(link))) == sentence(str(link), name, str(root))


def test_files_beside_the_folder_of_a_lake_are_read(tmp_path: Path) -> None:
    root = lake(tmp_path, LOGS["Delta Lake"])
    export = tmp_path / "export.parquet"
    pq.write_table(pq.read_table(root / "live.parquet"), export)
    (tmp_path / "metadata").mkdir()
    (tmp_path / "metadata" / "codebook.json").write_text("{}")
    result = sqlaudit.audit(str(export), qi=["age"], require={"k": 3})
    assert (result.rows, result.checks[0].level) == (60, 3)
