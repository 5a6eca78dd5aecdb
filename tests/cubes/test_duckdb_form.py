"""A cube as a DuckDB database: one table in a new file, which is there as a whole or not at all."""

from __future__ import annotations

import stat
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import sqlaudit
from sqlaudit.audits import written
from sqlaudit.base.errors import EngineError, UsageError
from sqlaudit.base.files import write_database
from sqlaudit.engines.contract import Engine
from tests.audit_values import values_query
from tests.cli.runner import run

PEOPLE = pd.DataFrame(
    {"who": [f"p{n}" for n in range(60)], "sex": ["f", "m"] * 30, "income": [100 + n for n in range(60)]}
)
ASKED = ("cube", "people.csv", "--dimensions", "sex", "--measures", "income", "--entity", "who")
ASKED = (*ASKED, "--require", "threshold=5", "--to", "cube.duckdb")
BLOCKS = [("f", 30, 30, sum(range(100, 160, 2)), 30), ("m", 30, 30, sum(range(101, 160, 2)), 30)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    PEOPLE.to_csv("people.csv", index=False)
    return tmp_path


def table_of(file: Path | str) -> list[tuple[Any, ...]]:
    with duckdb.connect(file, read_only=True) as connection:
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("cube",)]
        return connection.execute("FROM cube ORDER BY ALL").fetchall()


def test_it_has_one_table_of_all_blocks(folder: Path) -> None:
    ran = run(*ASKED)
    assert ran.code == 0, ran.err
    assert "wrote 2 blocks to 'cube.duckdb'" in ran.err
    assert table_of("cube.duckdb") == BLOCKS
    assert {path.name for path in folder.iterdir()} == {"people.csv", "cube.duckdb"}
    assert run(*ASKED[:-1], "cube.parquet").code == 0
    modes = [stat.S_IMODE(Path(f"cube.{form}").stat().st_mode) for form in ("duckdb", "parquet")]
    assert modes[0] == modes[1]
    described = [duckdb.sql("DESCRIBE FROM 'cube.parquet'").fetchall()]
    with duckdb.connect("cube.duckdb", read_only=True) as connection:
        described.append(connection.execute("DESCRIBE cube").fetchall())
    assert described[0] == described[1]


def test_engines_write_the_same_database(engine: Engine, folder: Path) -> None:
    rows = [{"g": "ab'"[n % 3], "d": f"2020-0{n % 2 + 1}-03", "x": f"{n}.25"} for n in range(24)]
    query = values_query(rows, {"g": "text", "d": "text", "x": "decimal"})
    found = sqlaudit.cube(
        None,
        query=query,
        db=engine,
        dimensions=["g", "CAST(d AS DATE)"],
        measures=["x"],
        require={"threshold": 3},
        to="cube.duckdb",
    )
    assert (found.blocks, found.file) == (6, "cube.duckdb")
    made = table_of("cube.duckdb")
    assert [(row[0], str(row[1]), *row[2:]) for row in made] == [
        (g, f"2020-0{d + 1}-03", 4, 4, sum(Decimal(f"{n}.25") for n in range(24) if (n % 3, n % 2) == (place, d)), 4)
        for place, g in sorted(enumerate("ab'"), key=lambda pair: pair[1])
        for d in (0, 1)
    ]


@pytest.mark.parametrize("there", ["duckdb", "text", "link", "folder"])
def test_no_file_is_replaced(folder: Path, there: str) -> None:
    file = Path("cube.duckdb")
    if there == "duckdb":
        duckdb.connect(file).close()
    elif there == "text":
        file.write_text("mine")
    elif there == "link":
        file.symlink_to("nowhere.duckdb")
    else:
        file.mkdir()
    before = None if there in ("link", "folder") else file.read_bytes()
    ran = run(*ASKED)
    assert (ran.code, ran.out) == (2, "")
    assert "is a folder" in ran.err if there == "folder" else "'cube.duckdb' exists already" in ran.err
    assert before is None or file.read_bytes() == before
    assert not Path("nowhere.duckdb").exists()
    with pytest.raises(UsageError):
        sqlaudit.cube("people.csv", dimensions=["sex"], require={"threshold": 5}, to="cube.duckdb")


def comes_meanwhile(draft: Path, rows: Path) -> None:
    write_database(draft, rows)
    Path("cube.duckdb").write_text("theirs")


def is_interrupted(draft: Path, rows: Path) -> None:
    write_database(draft, rows)
    raise KeyboardInterrupt


def fails(draft: Path, rows: Path) -> None:
    draft.write_bytes(b"half")
    raise EngineError("The database failed.")


@pytest.mark.parametrize(
    ("way", "code", "content"), [(comes_meanwhile, 2, "theirs"), (is_interrupted, 130, None), (fails, 3, None)]
)
def test_it_is_there_as_a_whole_or_not_at_all(
    folder: Path, monkeypatch: pytest.MonkeyPatch, way: Callable[[Path, Path], None], code: int, content: str | None
) -> None:
    monkeypatch.setattr(written, "write_database", way)
    assert run(*ASKED).code == code
    left = {path.name for path in folder.iterdir()} - {"people.csv"}
    assert left == ({"cube.duckdb"} if content else set())
    assert content is None or Path("cube.duckdb").read_text() == content


def test_a_cube_that_is_not_made_leaves_no_file(folder: Path) -> None:
    asked = [text.replace("threshold=5", "threshold=31") for text in ASKED]
    assert run(*asked).code == 1
    assert {path.name for path in folder.iterdir()} == {"people.csv"}


def test_it_is_an_older_cube_and_has_totals(folder: Path) -> None:
    assert run(*ASKED).code == 0
    later = (*ASKED[:-1], "later.duckdb", "--before", "cube.duckdb")
    PEOPLE[1:].to_csv("people.csv", index=False)
    ran = run(*later)
    assert (ran.code, "with an older cube" in ran.out, Path("later.duckdb").exists()) == (1, True, False), ran.said
    PEOPLE.to_csv("people.csv", index=False)
    assert run(*later).code == 0
    table = pd.concat([PEOPLE, PEOPLE[:4].assign(who=list("abcd"), sex="x")])
    table.to_csv("people.csv", index=False)
    totals = "SELECT count(*) AS people FROM 'people.csv'"
    with duckdb.connect("totals.duckdb") as connection:
        connection.execute(f"CREATE TABLE cube AS {totals}")
    ran = run(*ASKED[:-1], "third.duckdb", "--margins", "totals.duckdb")
    assert (ran.code, "1 group fails a rule" in " ".join(ran.out.split())) == (1, True), ran.said
    assert run(*ASKED[:-1], "third.duckdb", "--before", "totals.duckdb").code == 2


POLICY = """
version: 1
tables:
  - file: people.csv
    entity: who
    cube:
      dimensions: sex
      measures: income
      require: [threshold=5]
      to: cube.duckdb
"""


def outcomes() -> list[str]:
    return [test.outcome.value for test in sqlaudit.gate("p.yml").tests]


def test_a_policy_makes_and_tests_it(folder: Path) -> None:
    Path("p.yml").write_text(POLICY, encoding="utf-8")
    assert run("cube", "-f", "p.yml").code == 0
    assert (outcomes(), table_of("cube.duckdb")) == (["pass", "pass", "pass"], BLOCKS)
    with duckdb.connect("cube.duckdb") as connection:
        connection.execute("UPDATE cube SET people = 1 WHERE sex = 'f'")
    assert outcomes() == ["fail", "undetermined", "undetermined"]
    assert "Replace it with --force" in run("cube", "-f", "p.yml").err
    with duckdb.connect("cube.duckdb") as connection:
        connection.execute("UPDATE cube SET people = 29 WHERE sex = 'f'")
    assert run("cube", "-f", "p.yml", "--force").code == 0
    assert (outcomes(), table_of("cube.duckdb")) == (["pass", "pass", "pass"], BLOCKS)
    with duckdb.connect("cube.duckdb") as connection:
        connection.execute("CREATE TABLE patients AS FROM 'people.csv'")
    before = Path("cube.duckdb").read_bytes()
    ran = run("cube", "-f", "p.yml", "--force")
    assert (ran.code, "is no cube: it must have the table cube and nothing else" in ran.err) == (2, True)
    assert Path("cube.duckdb").read_bytes() == before
    assert outcomes() == ["error", "error", "error"]
    Path("cube.duckdb").unlink()
    assert outcomes() == ["error", "error", "error"]
