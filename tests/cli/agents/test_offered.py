"""Which tables agents may ask about is fixed when the server starts, whatever is put in their place later."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sqlaudit.base.errors import MissingDriver, UsageError
from sqlaudit.base.spec import Limits, Reading
from sqlaudit.cli.agents import server
from sqlaudit.cli.agents.tools import MOST_TABLES, OfferedTables, check_table_count, database, files_of
from sqlaudit.cli.programs import offered_tables
from tests.cli.runner import patients, run


def folder_of(path: Path) -> Path:
    """A folder with two tables, a hidden file, links to a file and a folder elsewhere, and a name like a pattern."""
    outside = path / "outside"
    outside.mkdir()
    secret = patients(outside)
    data = path / "data"
    (data / "deeper").mkdir(parents=True)
    patients(data)
    patients(data / "deeper")
    (data / ".hidden.csv").write_text("a\n1\n", encoding="utf-8")
    (data / "*.csv").write_text("a\n1\n", encoding="utf-8")
    (data / "link.csv").symlink_to(secret)
    (data / "linked").symlink_to(outside)
    return data


def test_a_folder_offers_its_own_files(tmp_path: Path) -> None:
    data = folder_of(tmp_path)
    assert files_of([str(data)]) == {
        "deeper/patients.csv": str(data / "deeper" / "patients.csv"),
        "patients.csv": str(data / "patients.csv"),
    }


def test_a_file_that_is_replaced_by_a_link_is_not_read(tmp_path: Path) -> None:
    data = folder_of(tmp_path)
    offered = OfferedTables(files_of([str(data)]))
    assert offered.target("patients.csv").relation == str(data / "patients.csv")
    (data / "patients.csv").unlink()
    with pytest.raises(UsageError, match="is missing or was replaced by a link"):
        offered.target("patients.csv")
    (data / "patients.csv").symlink_to(tmp_path / "outside" / "patients.csv")
    with pytest.raises(UsageError, match="is missing or was replaced by a link"):
        offered.target("patients.csv")
    (data / "deeper").rename(data / "moved")
    (data / "deeper").symlink_to(tmp_path / "outside")
    with pytest.raises(UsageError, match="is missing or was replaced by a link"):
        offered.target("deeper/patients.csv")
    (data / "patients.csv").unlink()
    (data / "patients.csv").mkdir()
    with pytest.raises(UsageError, match="is missing or was replaced by a link"):
        offered.target("patients.csv")


def test_a_database_that_is_replaced_by_a_link_is_not_opened(tmp_path: Path) -> None:
    file = tmp_path / "clinic.duckdb"
    duckdb.connect(str(file)).close()
    offered = OfferedTables({"people": "people"}, database(str(file)))
    assert offered.target("people").relation == "people"
    file.rename(tmp_path / "other.duckdb")
    file.symlink_to(tmp_path / "other.duckdb")
    with pytest.raises(UsageError, match="The file of the database is missing or was replaced by a link"):
        offered.target("people")


@pytest.mark.parametrize(
    "name",
    [
        "../outside/patients.csv",
        "/etc/passwd",
        "data/../patients.csv",
        "./patients.csv",
        "patients.csv\0",
        "*.csv",
        "link.csv",
        "linked/patients.csv",
        "https://example.org/a.csv",
        "s3://bucket/a.csv",
        "file:///etc/passwd",
        "read_csv('/etc/passwd')",
        "patients.csv; ATTACH 'x.db'",
        "",
    ],
)
def test_no_other_name_leads_anywhere(name: str, tmp_path: Path) -> None:
    offered = OfferedTables(files_of([str(folder_of(tmp_path))]))
    with pytest.raises(UsageError, match=r"^There is no table .* here. The server offers a fixed list"):
        offered.target(name)


def test_two_files_of_one_name_and_too_many_tables_are_refused(tmp_path: Path) -> None:
    for one in ("a", "b"):
        (tmp_path / one).mkdir()
        patients(tmp_path / one)
    with pytest.raises(UsageError, match=r"^Two files are called 'patients.csv'"):
        files_of([str(tmp_path / "a"), str(tmp_path / "b")])
    with pytest.raises(UsageError, match="at most 200 can be offered to agents"):
        check_table_count({str(i): "" for i in range(MOST_TABLES + 1)})


def test_a_database_offers_all_tables_or_those_that_are_named(tmp_path: Path) -> None:
    file = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE people AS SELECT 1 AS a; CREATE TABLE visits AS SELECT 1 AS b")
    every = offered_tables((), str(file), (), Reading(), Limits())
    assert (every.db, list(every.tables)) == (str(file), ["people", "visits"])
    assert list(offered_tables((), str(file), ("visits",), Reading(), Limits()).tables) == ["visits"]
    with pytest.raises(UsageError, match="visit"):
        offered_tables((), str(file), ("visit",), Reading(), Limits())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "Name either files and folders, or a database with --db, or a cube with --cube."),
        (("x.csv", "--db", "y.duckdb"), "Name either files and folders, or a database with --db"),
        (("--tables", "a", "patients.csv"), "--tables needs --db: name files as arguments."),
        (("nowhere.csv",), "nowhere.csv"),
    ],
)
def test_the_command_says_what_is_missing(arguments: tuple[str, ...], sentence: str) -> None:
    ran = run("mcp", *arguments)
    assert ran.code == 2
    assert sentence in ran.err


def test_without_the_extra_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp_types", None)
    with pytest.raises(MissingDriver, match=r"pip install 'sqlaudit\[mcp\]'\.$"):
        server.make_server(server.Desk(OfferedTables(files_of([str(patients(tmp_path))]))))


def desk_of(file: Path, **limits: Any) -> server.Desk:
    return server.Desk(
        OfferedTables(files_of([str(file)]), limits=Limits(**{"timeout": 60.0, "memory": "1GB", **limits}))
    )


def test_calls_are_processes_of_their_own(tmp_path: Path) -> None:
    """Two calls of one process each: a result, and a sentence that names the table and not its path."""
    file = patients(tmp_path)
    desk = desk_of(file)
    (tmp_path / "duckdb.py").write_text("raise SystemExit('code of an agent')", encoding="utf-8")
    table = {"table": str(file)}

    async def both() -> list[tuple[str, bool]]:
        asked = [desk.answer("audit", {**table, "qi": ["age"], "require": ["k=2"]})]
        asked.append(desk.answer("audit", {**table, "qi": ["disease = 'flu'"]}))
        return await asyncio.gather(*asked)

    (found, failed), (said, refused) = asyncio.run(both())
    assert (failed, refused) == (False, True)
    assert '"status": "pass"' in found
    assert "flu" not in found
    assert said.startswith(f"qi: {file} has no column")
    assert asyncio.run(desk.answer("shell", table)) == (
        "There is no tool 'shell'; there are profile, audit, columns, disclosure, persons.",
        True,
    )


def test_a_call_over_its_time_and_one_too_many_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The calls of this desk sleep: the first is ended at its limit, those that wait are ended when it closes."""
    sleeping = tmp_path / "sleeping"
    sleeping.write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
    sleeping.chmod(0o755)
    monkeypatch.setattr(server.sys, "executable", str(sleeping))
    monkeypatch.setattr(server, "LEAVING", 0.2)
    file = patients(tmp_path)

    async def many() -> tuple[tuple[str, bool], list[object]]:
        desk = desk_of(file, timeout=0.1)
        first = await desk.answer("profile", {"table": str(file)})
        waiting = [asyncio.ensure_future(desk.answer("profile", {"table": str(file)})) for _ in range(6)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        waiting[0].cancel()
        told = [one.result() for one in waiting if one.done() and not one.cancelled()]
        await desk.close()
        await asyncio.gather(*waiting, return_exceptions=True)
        return first, list(told)

    first, told = asyncio.run(many())
    assert first == ("The time limit of 0.1 seconds was reached.", True)
    assert told == [("4 calls are waiting already. Try again when one was answered.", True)]


def test_memory_beyond_the_limit_is_one_sentence() -> None:
    program = (
        "from sqlaudit.cli.agents.worker import _bound_memory\nfrom sqlaudit.cli.exits import Boundary\n"
        "import sys\nwith Boundary() as b:\n    _bound_memory(None, '10MB')\n    bytearray(3 << 30)\nsys.exit(b.code)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (4, "")
    assert ran.stderr.startswith("sqlaudit: out of memory")
