"""What looks like a direct identifier is not written by any remedy unless somebody says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Limits
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from tests.audit_values import values_query
from tests.cli.runner import run
from tests.remedies.unmeasured import unmeasured  # noqa: F401

pytestmark = pytest.mark.usefixtures("unmeasured")

COLUMNS = {
    "age": "int",
    "sex": "text",
    "s": "text",
    "who": "text",
    "mail": "text",
    "contact": "text",
    "id": "int",
    "x": "int",
    "y": "int",
    "at": "int",
}
ROWS = [
    {
        "age": 20 + number % 2,
        "sex": "fm"[number % 2],
        "s": "ab"[number % 2],
        "who": f"u{number}",
        "mail": f"ann{number}@example.org" if number else None,
        "contact": f"ben{number}@example.org",
        "id": number,
        "x": number // 2,
        "y": number // 2,
        "at": number // 2,
    }
    for number in range(6)
]
SUSPECTED = ["mail", "contact", "id"]
Remedy = Callable[..., Any]


def lattice(query: str, engine: Engine, **asked: Any) -> Any:
    asked["publish_view"] = "released" if asked.pop("publish_sql", False) else ""
    found = sqlaudit.lattice(query=query, db=engine, qi=["age", "sex"], require={"k": 2}, **asked)
    return found.published and found.published.columns


def suppress(query: str, engine: Engine, **asked: Any) -> Any:
    found = sqlaudit.suppress(query=query, db=engine, qi=["age", "sex"], require={"k": 2}, **asked)
    return found.release and found.release.columns


def recode(query: str, engine: Engine, **asked: Any) -> Any:
    found = sqlaudit.recode(query=query, db=engine, qi=["age", "sex"], require={"k": 2}, lattice=False, **asked)
    return found.release and found.release.columns


def cloak(query: str, engine: Engine, **asked: Any) -> Any:
    given: dict[str, Any] = {"user": "who", "x": "x", "y": "y", "time": "at", "k": 2, "box": 100, "interval": 100}
    return sqlaudit.cloak(query=query, db=engine, **given, **asked).columns


REMEDIES = pytest.mark.parametrize("remedy", [lattice, suppress, recode, cloak])


def written(remedy: Remedy, engine: Engine, **asked: Any) -> list[str]:
    return list(remedy(values_query(ROWS, COLUMNS), engine, **asked))


@REMEDIES
def test_suspected_identifiers_are_not_written_unless_told(engine: Engine, remedy: Remedy) -> None:
    with pytest.raises(UsageError) as refused:
        written(remedy, engine, publish_sql=True, identifier=["who"] if remedy is not cloak else [])
    assert "The release contains mail, contact and id, which" in str(refused.value)
    assert "identifier=['mail', 'contact', 'id']" in str(refused.value)
    assert "keep_column=['mail', 'contact', 'id']" in str(refused.value)
    assert "@" not in str(refused.value)


@REMEDIES
def test_of_suspected_columns_some_are_left_out_and_some_are_kept(engine: Engine, remedy: Remedy) -> None:
    others = [] if remedy is cloak else ["who"]
    with pytest.raises(UsageError, match="The release contains id, which looks like a direct identifier"):
        written(remedy, engine, publish_sql=True, identifier=["mail", *others], keep_column="contact")
    found = written(remedy, engine, publish_sql=True, identifier=["mail", *others], keep_column=["CONTACT", "id"])
    assert {"contact", "id"} <= set(found)
    assert not {"mail", "who"} & set(found)


@REMEDIES
def test_what_is_kept_must_be_there_and_have_no_other_role(engine: Engine, remedy: Remedy) -> None:
    with pytest.raises(UsageError, match="has no column 'mial'"):
        written(remedy, engine, keep_column=["mial"])
    with pytest.raises(UsageError, match="keep_column: mail has a role, so it is not published"):
        written(remedy, engine, keep_column=["mail"], identifier=["mail"])


@pytest.mark.parametrize("remedy", [lattice, suppress, recode])
def test_sensitive_columns_are_looked_at_and_rewritten_ones_are_not(engine: Engine, remedy: Remedy) -> None:
    rows = [{"phone": 5, "email": f"a{n}@example.org", "b": n % 2} for n in range(4)]
    query = values_query(rows, {"phone": "int", "email": "text", "b": "int"})
    calls = {lattice: sqlaudit.lattice, suppress: sqlaudit.suppress, recode: sqlaudit.recode}
    asked = {"query": query, "db": engine, "qi": ["phone"], "sensitive": "email", "require": {"k": 2}}
    told: dict[str, Any] = {"publish_view": "v"} if remedy is lattice else {"publish_sql": True}
    told |= {"lattice": False} if remedy is recode else {}
    with pytest.raises(UsageError, match="The release contains email"):
        calls[remedy](**asked, **told)  # type: ignore[operator]
    calls[remedy](**asked, **told, keep_column=["email"])  # type: ignore[operator]


@REMEDIES
def test_of_many_texts_every_one_is_looked_at(remedy: Remedy) -> None:
    with connect(None, Limits(threads=1)) as engine:
        refuses_the_last_of_many(engine, remedy)


def test_of_many_texts_every_one_is_looked_at_on_every_engine(engine: Engine) -> None:
    refuses_the_last_of_many(engine, suppress)


def refuses_the_last_of_many(engine: Engine, remedy: Remedy) -> None:
    columns = {f"c{n}": "text" for n in range(45)} | COLUMNS
    rows = [{f"c{n}": "a" for n in range(45)} | row | {"c44": f"x{at}@example.org"} for at, row in enumerate(ROWS)]
    dropped = [*SUSPECTED, *([] if remedy is cloak else ["who"])]
    with pytest.raises(UsageError, match="The release contains c44"):
        remedy(values_query(rows, columns), engine, publish_sql=True, identifier=dropped)


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the table as a file."""
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(ROWS).to_csv("p.csv", index=False)
    return tmp_path


ASKED = {
    "lattice": ("--qi", "age,sex", "--require", "k=2"),
    "suppress": ("--qi", "age,sex", "--require", "k=2"),
    "recode": ("--qi", "age,sex", "--require", "k=2", "--no-lattice"),
    "cloak": ("--user", "who", "--x", "x", "--y", "y", "--time", "at", "--k", 2, "--box", "1km", "--interval", "1min"),
}
SHOWN = {
    "lattice": ("--publish-view", "v"),
    "suppress": ("--publish-sql",),
    "recode": ("--publish-sql",),
    "cloak": ("--publish-sql",),
}


@pytest.mark.parametrize("command", ASKED)
def test_commands_refuse_files_and_printed_statements_alike(people: Path, command: str) -> None:
    out = people / "out.csv"
    others = () if command == "cloak" else ("--identifier", "who")
    for wanted in (("--to", out), ("--to", people / "out.sql"), SHOWN[command]):
        refused = run(command, "p.csv", *ASKED[command], *others, *wanted)
        assert (refused.code, refused.out) == (2, "")
        assert "The release contains mail, contact and id, which" in refused.err
    assert [path.name for path in people.iterdir()] == ["p.csv"]
    kept = run(
        command, "p.csv", *ASKED[command], *others, "--to", out, "--identifier", "mail", "--keep-column", "contact,id"
    )
    assert kept.code == 0, kept.err
    header = out.read_text("utf-8").splitlines()[0].split(",")
    assert {"contact", "id"} <= set(header)
    assert not {"mail", "who"} & set(header)
    assert run(command, "p.csv", *ASKED[command]).code == 0  # nothing is written, so nothing is refused


@pytest.mark.parametrize("command", ASKED)
def test_a_plan_lists_the_look_at_the_columns(people: Path, command: str) -> None:
    def steps(*more: Any) -> list[str]:
        plan = run(command, "p.csv", *ASKED[command], *more, "--dry-run", "--format", "json")
        assert plan.code == 0, plan.err
        return [one["name"] for one in json.loads(plan.out)["statements"]]

    assert steps("--to", people / "out.csv")[0] == "warnings"
    assert "warnings" not in steps()


@pytest.mark.usefixtures("people")
def test_boxes_of_others_have_no_columns_to_keep() -> None:
    refused = run("cloak", "p.csv", "--audit-only", "--keep-column", "mail")
    assert refused.code == 2
    assert "--keep-column and --audit-only exclude each other" in refused.err


def test_no_view_is_made_with_a_suspected_identifier(tmp_path: Path) -> None:
    file = tmp_path / "d.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(
            "CREATE TABLE p AS SELECT i % 2 AS age, 'a' || i || '@example.org' AS contact FROM range(6) t(i)"
        )
    asked = ("lattice", "p", "--db", file, "--qi", "age", "--require", "k=2", "--publish-view", "v", "--execute")
    assert run(*asked).code == 2
    with duckdb.connect(str(file)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM duckdb_views() WHERE NOT internal").fetchone() == (0,)
    assert run(*asked, "--keep-column", "contact").code == 0


@pytest.mark.parametrize("remedy", [lattice, suppress, recode])
def test_a_column_without_a_role_that_singles_out_almost_every_row_is_not_written(
    engine: Engine, remedy: Remedy
) -> None:
    rows = [{"age": 20 + n % 2, "sex": "fm"[n % 2], "serial": 7919 * n, "s": 31 * n, "half": n // 2} for n in range(12)]
    query = values_query(rows, {"age": "int", "sex": "text", "serial": "int", "s": "int", "half": "int"})
    with pytest.raises(UsageError, match="The release contains serial without a role, which singles out") as no:
        remedy(query, engine, publish_sql=True, sensitive="s")
    assert "identifier=['serial']" in str(no.value)
    assert "keep_column=['serial']" in str(no.value)
    assert {"serial", "s", "half"} <= set(remedy(query, engine, publish_sql=True, sensitive="s", keep_column="serial"))
    assert "serial" not in remedy(query, engine, publish_sql=True, sensitive="s", identifier=["serial"])


def test_identifiers_of_a_type_of_their_own_are_looked_at(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute("CREATE TABLE p AS SELECT i % 2 AS age, uuid() AS tag FROM range(12) t(i)")
    asked = ("suppress", "p", "--db", tmp_path / "d.duckdb", "--qi", "age", "--require", "k=2", "--publish-sql")
    refused = run(*asked)
    assert (refused.code, refused.out) == (2, "")
    assert "The release contains tag" in refused.err
    assert run(*asked, "--keep-column", "tag").code == 0
