"""`sqlaudit lattice` as strangers use it: what it prints, its exit codes, and what it writes."""

from __future__ import annotations

import functools
import json
import re
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sqlaudit.base.names import typed
from sqlaudit.cli.exits import Boundary
from sqlaudit.lattices.evaluate import Evaluator
from tests.audits.unwarned import unwarned  # noqa: F401
from tests.cli.runner import run, write_csv
from tests.postgres_load import Loader
from tests.reports.schemas import validator

ROWS = [
    "30,f,13053,flu",
    "31,m,13068,flu",
    "35,f,13053,cold",
    "38,m,13068,HIV",
    "52,f,14850,flu",
    "57,,14853,cold",
    "99,f,99999,flu",
]
HIERARCHIES = """
hierarchies:
  age: {widths: [5, 10, 20], low: 20, high: 60}
  zip: {mask: [1, 2, 3]}
"""
ODD = 'se"x 😀'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table, its hierarchies, and the same table in a database."""
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "p.csv", 'age,"se""x 😀",zip,dx', *ROWS)
    (tmp_path / "h.yml").write_text(HIERARCHIES, encoding="utf-8")
    (tmp_path / "p.duckdb").write_bytes(database((tmp_path / "p.csv").read_text(encoding="utf-8")))
    return tmp_path


@functools.cache
def database(csv: str) -> bytes:
    """A DuckDB file with a CSV file as its table `p`, made once for all tests."""
    with tempfile.TemporaryDirectory(prefix="sqlaudit-") as folder:
        (Path(folder) / "p.csv").write_text(csv, encoding="utf-8")
        with duckdb.connect(f"{folder}/p.duckdb") as made:
            made.execute(f"CREATE TABLE p AS FROM read_csv('{folder}/p.csv', types = {{'zip': 'VARCHAR'}})")
        return (Path(folder) / "p.duckdb").read_bytes()


COMMON = ("--qi", "age,zip", "--sensitive", "dx", "--hierarchies", "h.yml", "--require", "k=2")


@pytest.mark.usefixtures("folder")
def test_the_best_node_is_told() -> None:
    ran = run("lattice", "p.csv", *COMMON, "--suppress", "15%")
    assert (ran.code, ran.err) == (0, "")
    assert "required: k=2; at most 1 suppressed row." in ran.said
    assert "age in steps of 10, zip without the last character" in ran.said
    assert "Smallest class left 2 rows Loss (ARX) 0.3388 Suppressed rows 1 (14.3%)" in ran.said
    assert "k=2: 1 class with 1 row (14.3%)" in ran.said
    assert "25 nodes" in ran.said
    assert not re.search("1305|HIV|flu", ran.out)


@pytest.mark.usefixtures("folder")
def test_json_is_documented_and_complete() -> None:
    ran = run("lattice", "p.csv", *COMMON, "--suppress", "15%", "--find", "all", "--format", "json", "--show-walk")
    found: dict[str, Any] = json.loads(ran.out)
    validator("lattice").validate(found)
    lattice = found["lattice"]
    assert (lattice["columns"], lattice["heights"], lattice["nodes"]) == (["age", "zip"], [4, 4], 25)
    assert (lattice["checked"], len(lattice["walk"]), lattice["safe"]) == (25, 25, len(lattice["safe_nodes"]))
    assert lattice["best"]["levels"] == [2, 1]
    assert lattice["best"]["suppressed_rows"] == 1
    assert [2, 1] in lattice["minimal"]
    assert found["suppression"] == {"share": 0.15, "rows": 1}
    assert not re.search("1305|HIV|flu", json.dumps({**found, "statements": [], "time": ""}))  # seconds are any digits


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("find", "layout"),
    [
        *((find, "text") for find in ("best", "minimal", "all", "chain")),
        *[("minimal", "markdown"), ("best", "html"), ("chain", "html")],
        *(pytest.param(find, "markdown", marks=pytest.mark.all_cases) for find in ("best", "all", "chain")),
        *(pytest.param(find, "html", marks=pytest.mark.all_cases) for find in ("minimal", "all")),
    ],
)
def test_every_question_has_every_layout(find: str, layout: str) -> None:
    ran = run("lattice", "p.csv", *COMMON, "--find", find, "--format", layout, "--show-walk", "--suppress", "15%")
    assert ran.code == 0
    assert "2,1" in ran.out or find == "chain"
    wanted = {
        "best": "Publish age in steps of 10 and zip without the last character; 14.3% of rows",
        "minimal": "minimal safe generalization",
        "all": " of 25 ways to generalize are safe",
        "chain": "Publish age in steps of 10 and zip without the last 3 characters; 14.3% of rows",
    }
    assert wanted[find] in ran.out


@pytest.mark.usefixtures("folder")
def test_no_safe_node_is_a_verdict() -> None:
    ran = run("lattice", "p.csv", *COMMON, "--require", "l=4", "--publish-view", "v")
    assert ran.code == 1
    assert "NO SAFE GENERALIZATION: none in this lattice meets the requirements" in ran.out
    assert "dx has 3 different values" in ran.said
    assert "nothing was published" in ran.err


@pytest.mark.usefixtures("folder")
def test_a_time_budget_ends_with_what_is_known() -> None:
    ran = run("lattice", "p.csv", *COMMON, "--time-budget", "0.00001")
    assert ran.code == 4
    assert "INCOMPLETE: the search was stopped; no safe generalization found yet" in ran.out
    assert "Time limit reached; a better generalization may exist" in ran.said


@pytest.mark.usefixtures("folder")
def test_ctrl_c_ends_with_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    decide = Evaluator.decide
    calls: list[Any] = []

    def interrupted(self: Evaluator, nodes: Any) -> Any:
        calls.append(nodes)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return decide(self, nodes)

    monkeypatch.setattr(Evaluator, "decide", interrupted)
    ran = run("lattice", "p.csv", *COMMON, "--find", "minimal", "--to", "never.csv")
    assert ran.code == 130
    assert "INCOMPLETE" in ran.out
    assert "Interrupted; a better generalization may exist" in ran.said
    assert not Path("never.csv").exists()
    with Boundary() as boundary:
        pass
    assert boundary.code == 0


WRONG: list[tuple[tuple[str, ...], str]] = [
    (("--qi", "agee", "--require", "k=2"), "Did you mean 'age'"),
    (("--qi", "age", "--require", "k=2", "--hierarchies", "none.yml"), "cannot be read"),
    (("--qi", "age", "--require", "k=2", "--hierarchies", "h.yml"), "'zip' is not a quasi-identifier"),
    (("--qi", "age", "--require", "k=2", "--suppress", "200%"), "100%"),
    (("--qi", "age", "--require", "k=2", "--suppress", "few"), "not 'few'"),
    (("--qi", "age", "--require", "k=2", "--weights", "age"), "column=number"),
    (("--qi", "age", "--require", "k=2", "--weights", "age=x"), "column=number"),
    (("--qi", "age", "--require", "k=2", "--weights", "age=1,age=2"), "twice"),
    (("--qi", "age", "--require", "k=2", "--execute"), "--publish-view"),
    (("--qi", "age", "--require", "k=2", "--publish-view", "v", "--execute"), "--db"),
    (("--qi", "age", "--require", "k=2", "--publish-view", ""), "name of a view"),
    (("--qi", "age", "--require", "k=2", "--to", "release.xls"), ".dta or .sql"),
    (("--qi", "age", "--require", "k=2", "--find", "chain", "--chain", "1;0"), "not coarser"),
    (("--qi", "age"), "--require k=5"),
    (("--require", "k=2"), "No quasi-identifiers are named"),
]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("arguments", "sentence"), WRONG)
def test_mistakes_are_one_sentence(arguments: tuple[str, ...], sentence: str) -> None:
    ran = run("lattice", "p.csv", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert sentence in ran.err
    assert ran.err.count("\n") == 1


def test_a_hierarchy_that_misses_a_value_names_no_value(folder: Path) -> None:
    (folder / "m.yml").write_text("hierarchies: {dx: {values: {flu: [chest], cold: [chest]}}}", encoding="utf-8")
    ran = run("lattice", "p.csv", "--qi", "dx", "--hierarchies", "m.yml", "--require", "k=2")
    assert ran.code == 2
    assert "dx, level 1: 1 value in 1 row is not listed in m.yml" in ran.err
    assert "HIV" not in ran.err


def test_a_table_without_rows(folder: Path) -> None:
    write_csv(folder / "e.csv", "age,zip,dx")
    ran = run("lattice", "e.csv", *COMMON)
    assert (ran.code, "e.csv has no rows" in ran.err) == (2, True)
    with duckdb.connect("p.duckdb") as made:
        made.execute("CREATE TABLE e AS FROM p LIMIT 0")
    ran = run("lattice", "--db", "p.duckdb", "e", *COMMON)
    assert (ran.code, "UNDETERMINED: the table has no rows" in ran.out) == (1, True)


@pytest.mark.usefixtures("folder")
def test_a_view_is_printed_made_and_kept() -> None:
    asked = ("lattice", "--db", "p.duckdb", "p", *COMMON, "--suppress", "15%", "--publish-view", "release")
    printed = run(*asked)
    assert printed.code == 0
    assert "The view release was not created" in printed.said
    sql = printed.out[printed.out.index("CREATE VIEW") :]
    with duckdb.connect("p.duckdb") as made:
        made.execute(sql)
        rows = made.execute("FROM release ORDER BY ALL").fetchall()
        made.execute("DROP VIEW release")
    assert len(rows) == 6
    assert rows[0] == ("[30, 40)", "f", "1305*", "cold")
    ran = run(*asked, "--execute")
    assert (ran.code, "created the view 'release'" in ran.err) == (0, True)
    assert "Audit of the release: PASS; 6 rows in 3 classes, 1 row left out." in ran.said
    assert "Published unchanged, without a role: " + typed(ODD) in ran.said
    with duckdb.connect("p.duckdb", read_only=True) as made:
        assert made.execute("FROM release ORDER BY ALL").fetchall() == rows
    again = run(*asked, "--execute")
    assert (again.code, "Replace it with --replace" in again.err) == (2, True)
    assert run(*asked, "--execute", "--replace").code == 0
    table = run(*asked[:-1], "p", "--execute", "--replace")
    assert (table.code, "There is a table 'p', which is never replaced" in table.err) == (2, True)
    ran = run("audit", "--db", "p.duckdb", "release", "--qi", "age,zip", "--require", "k=2")
    assert ran.code == 0


@pytest.mark.usefixtures("folder")
def test_a_release_is_written_to_files() -> None:
    asked = ("lattice", "p.csv", *COMMON, "--suppress", "15%", "--identifier", '"se""x 😀"')
    ran = run(*asked, "--to", "release.parquet")
    assert (ran.code, "wrote 6 rows to 'release.parquet'" in ran.err) == (0, True)
    starred = run(*asked, "--to", "release.csv", "--suppressed", "star", "--format", "json")
    published = json.loads(starred.out)["published"]
    assert (published["columns"], published["unnamed"], published["suppressed"]) == (["age", "zip", "dx"], [], "star")
    # the starred row is a class of its own, below k
    assert (published["audit"]["status"], published["audit"]["failing"]) == ("fail", ["k=2"])
    assert "are a failing class" in published["audit"]["note"]
    assert starred.code == 1
    assert "*,*,flu" in Path("release.csv").read_text(encoding="utf-8")
    rows = duckdb.sql("FROM 'release.parquet'").fetchall()
    assert rows == sorted(rows)  # whatever the order of the table was
    assert rows[0] == ("[30, 40)", "1305*", "cold")
    ran = run(*asked, "--to", "release.sql")
    assert (ran.code, "wrote the SELECT of the release to 'release.sql'" in ran.err) == (0, True)
    assert duckdb.sql(Path("release.sql").read_text(encoding="utf-8")).fetchall() == rows
    assert run("lattice", "p.csv", *COMMON, "--to", "nowhere/release.csv").code == 2


@pytest.mark.usefixtures("folder")
def test_the_plan_is_what_counts_values() -> None:
    ran = run("lattice", "p.csv", *COMMON, "--dry-run")
    assert ran.code == 0
    assert [line for line in ran.out.splitlines() if "sqlaudit:" in line] == [
        "/* sqlaudit: values of age */",
        "/* sqlaudit: values of zip */",
        "/* sqlaudit: sensitive values */",
    ]


@pytest.mark.postgres
def test_a_view_in_postgresql(folder: Path, load: Loader, postgres_url: str, postgres_admin_url: str) -> None:
    rows = [tuple(part or None for part in line.split(",")) for line in ROWS]
    load("lattice_p", [(int(age or 0), *rest) for age, *rest in rows], ["age", ODD, "zip", "dx"])
    load.execute("DROP VIEW IF EXISTS lattice_release")
    asked = ("lattice", "lattice_p", *COMMON, "--require", "l=2", "--suppress", "15%")
    refused = run(*asked, "--db", postgres_url, "--publish-view", "lattice_release", "--execute")
    assert (refused.code, "it needs CREATE on the schema" in refused.err) == (3, True)
    made = run(*asked, "--db", postgres_admin_url, "--publish-view", "lattice_release", "--execute")
    assert (made.code, "created the view" in made.err) == (0, True), made.err
    assert "WITH (security_barrier) AS" in made.out
    assert load.execute("SELECT DISTINCT age, zip FROM lattice_release ORDER BY 1, 2") == [
        ("[30, 40)", "1305*"),
        ("[30, 40)", "1306*"),
        ("[50, 60)", "1485*"),
    ]
    again = run(*asked, "--db", postgres_admin_url, "--publish-view", "lattice_release", "--execute")
    assert (again.code, "Replace it with --replace" in again.err) == (2, True)
    replaced = run(
        *asked, "--db", postgres_admin_url, "--publish-view", "public.lattice_release", "--execute", "--replace"
    )
    assert replaced.code == 0
    table = run(*asked, "--db", postgres_admin_url, "--publish-view", "lattice_p", "--execute", "--replace")
    assert (table.code, "which is never replaced" in table.err) == (2, True)
    nowhere = run(*asked, "--db", postgres_admin_url, "--publish-view", "nowhere.v", "--execute")
    assert (nowhere.code, "There is no schema" in nowhere.err) == (2, True)
    load.execute("DROP VIEW lattice_release")
