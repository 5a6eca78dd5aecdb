"""What `adbc:driver:uri` means, and what is said where it means nothing."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path

import duckdb
import pytest

import sqlaudit
from sqlaudit.base.errors import MissingDriver, UsageError
from sqlaudit.base.spec import Limits
from sqlaudit.engines.adbc import DRIVERS, AdbcReader, adbc_place, missing_name
from sqlaudit.gates.standalone.names import DIALECTS
from tests.cli.runner import patients, run


def test_places(tmp_path: Path) -> None:
    file = tmp_path / "a ?#.db"
    sqlite3.connect(file).execute("CREATE TABLE t (a)").connection.close()
    assert adbc_place(f"adbc:sqlite:///{file}").options == {"uri": f"file:{tmp_path}/a%20%3F%23.db?mode=ro"}
    assert adbc_place(f"adbc:duckdb:{file}").options == {
        "path": str(file),
        "access_mode": "READ_ONLY",
        "enable_external_access": "false",
        "lock_configuration": "true",
    }
    assert adbc_place("adbc:postgres://u@host/db").options == {"uri": "postgresql://u@host/db"}
    assert adbc_place("adbc:snowflake://u@account/db").options == {"uri": "snowflake://u@account/db"}
    found = adbc_place("adbc:flightsql:grpc+tls://me:a%40b@host:31337")
    assert found.options == {"uri": "grpc+tls://host:31337", "username": "me", "password": "a@b"}
    assert "a@b" not in repr(found)
    assert {driver.dialect for driver in DRIVERS.values()} - {""} <= set(DIALECTS)


@pytest.mark.parametrize(
    ("db", "sentence"),
    [
        ("adbc:oracle://u:hush@h", "name a driver after 'adbc:', one of sqlite, duckdb, postgresql, flightsql"),
        ("adbc:", "name a driver after 'adbc:'"),
        ("adbc:sqlite:", "no address is given. Write adbc:sqlite:// with the address"),
        ("adbc:sqlite:///nowhere/hush.db", "there is no such file for the ADBC driver sqlite"),
        ("adbc:flightsql:grpc://[hush", "this is not the address of a Flight SQL server"),
    ],
)
def test_what_is_no_place_gets_a_sentence(db: str, sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        adbc_place(db)
    assert sentence in str(error.value)
    assert "hush" not in str(error.value)


def a_policy(folder: Path) -> Path:
    patients(folder)
    path = folder / "sqlaudit.yml"
    table = {"file": "patients.csv", "quasi_identifiers": ["age"], "requirements": ["k=1"]}
    path.write_text(json.dumps({"version": "1", "tables": [table]}), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--db", "clinic.duckdb"), "--db of a policy is a database behind an ADBC driver, adbc:driver:uri"),
        (("--dialect", "duckdb"), "--dialect needs --db."),
        (("--db", "adbc:postgresql://h/d", "--results", "x.json"), "--db asks for verdicts and figures alone"),
        (("--db", "adbc:postgresql://h/d", "--store-failures", "x.duckdb"), "--db asks for verdicts and figures"),
        (("--db", "adbc:postgresql://h/d", "--memory-limit", "1GB"), "--db runs what 'compile -f' writes: leave out"),
        (("--db", "adbc:flightsql:grpc://h:1"), "The SQL dialect of the database behind flightsql is unknown. Name it"),
        (("--db", "adbc:postgresql://h/d", "--dialect", "klingon"), "klingon"),
    ],
)
def test_what_the_command_refuses(arguments: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    ran = run("test", "-f", a_policy(tmp_path), *arguments)
    assert ran.code == 2
    assert sentence in ran.err


def test_a_database_that_is_asked_is_not_written_over(tmp_path: Path) -> None:
    file = tmp_path / "clinic.duckdb"
    duckdb.connect(str(file)).close()
    before = file.read_bytes()
    ran = run("test", "-f", a_policy(tmp_path), "--db", f"adbc:duckdb:{file}", "--baseline", file)
    assert (ran.code, "is an input" in ran.err) == (2, True)
    assert file.read_bytes() == before


def test_other_commands_say_what_answers_over_adbc() -> None:
    ran = run("audit", "--db", "adbc:postgresql://u:hush@h/db", "people", "--qi", "age")
    assert ran.code == 2
    assert "is an ADBC database, which supports only the tests of a policy" in ran.err
    assert "hush" not in ran.err


def test_without_the_packages_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "adbc_driver_manager.dbapi", None)
    with pytest.raises(MissingDriver, match=r"pip install 'sqlaudit\[adbc\]'\.$"):
        AdbcReader(adbc_place("adbc:postgresql://h/db"), Limits())
    with pytest.raises(MissingDriver, match="sqlaudit"):
        sqlaudit.gate(a_policy(tmp_path), db="adbc:postgresql://h/db")


SELECT = "SELECT t.\"Age in Years\" AS q1, zap FROM nowhere AS t WHERE city = 'Bob'"


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("INTERNAL: [SQLite] Failed to prepare query: no such column: t.Age in Years\nquery: SELECT", "Age in Years"),
        ("no such table: nowhere", "nowhere"),
        ('Binder Error: Referenced column "zap" not found in FROM clause!\nCandidate bindings: "zip"', "zap"),
        ("Catalog Error: Table with name nowhere does not exist!\nDid you mean", "nowhere"),
        ('ERROR: column "Age in Years" does not exist\nHINT: Perhaps "age"', "Age in Years"),
        ("ERROR: column t.zap does not exist", "zap"),
        ('relation "nowhere" does not exist', "nowhere"),
        ("SQL compilation error: invalid identifier 'ZAP'", "zap"),
        ("Unrecognized name: zap at [1:8]", "zap"),
        ('column "Alice" does not exist', ""),
        ('invalid input syntax for type integer: "Alice"', ""),
        ("Could not convert string 'zap' to INT32", ""),
    ],
)
def test_a_missing_column_is_named_and_nothing_else(message: str, name: str) -> None:
    assert missing_name(message, SELECT) == name
