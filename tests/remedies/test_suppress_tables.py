"""Suppression of tables: the same on every engine, audited, with what it may not say; and the command."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given

import sqlaudit
from sqlaudit.base.errors import EngineError, UsageError
from sqlaudit.base.relation import Statement
from sqlaudit.engines.contract import Engine
from sqlaudit.remedies import rewriting
from sqlaudit.remedies.suppress import run as running
from sqlaudit.remedies.suppress.result import SuppressResult
from sqlaudit.reports.formats import render_json
from sqlaudit.reports.markdown import render_markdown
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.page import render_html
from sqlaudit.reports.text import render_text
from tests.audit_values import values_query
from tests.cli.runner import run, write_csv
from tests.remedies.oracle_suppress import cheapest
from tests.reports.schemas import validator
from tests.strategies import run as cases

ODD = 'o"d d%'
COLUMNS = {"age": "int", ODD: "text", "s": "text", "name": "text"}
few = cases(12)
ROW = st.fixed_dictionaries(
    {
        "age": st.sampled_from([None, 3, 12]),
        ODD: st.sampled_from(["b", "B", None]),
        "s": st.sampled_from(["flu", "HIV", None]),
        "name": st.sampled_from(["Ann", "Bob"]),
    }
)
Rows = Sequence[Mapping[str, Any]]


def suppress(engine: Engine, people: Rows, /, **asked: Any) -> SuppressResult:
    given: dict[str, Any] = {"qi": [ODD, "age"], "identifier": ["name"]} | asked
    return sqlaudit.suppress(query=values_query(people, COLUMNS), db=engine, **given)


def released(engine: Engine, found: SuppressResult) -> list[tuple[Any, ...]]:
    assert found.release is not None
    return [tuple(row) for row in engine.run(Statement("released", found.release.sql))]


@few
@given(st.lists(ROW, min_size=1, max_size=6), st.integers(1, 3), st.integers(1, 2), st.booleans(), st.booleans())
def test_tables_are_suppressed_at_the_lowest_cost(
    engine: Engine, rows: Rows, k: int, l: int, distinct: bool, whole: bool
) -> None:
    cells, values = [(row[ODD], row["age"]) for row in rows], [row["s"] for row in rows]
    wanted = cheapest(cells, k, l, values, missing_alone=distinct, whole=whole)
    assume(wanted is not None)
    found = suppress(
        engine,
        rows,
        require={"k": k, "l": l},
        sensitive="s",
        how="exact",
        publish_sql=True,
        nulls="distinct" if distinct else "equal",
        rows="star" if whole else None,
    )
    assert (found.cost, found.bound, found.cells, found.rows) == (wanted, wanted, wanted, len(rows))
    assert found.release is not None
    assert (found.release.audit.status, found.release.rows) == ("pass", len(rows))
    out = released(engine, found)
    stars = sum(cell == "*" for row in out for cell in row[:2])
    assert stars == wanted
    assert Counter(row[2] for row in out) == Counter(values)
    classes = Counter(row[:2] for row in out)
    assert min(classes.values()) >= k
    for key in classes:
        assert len({row[2] for row in out if row[:2] == key}) >= l


@few
@given(st.lists(ROW, min_size=1, max_size=7), st.integers(1, 3), st.integers(1, 2), st.booleans())
def test_whole_rows_are_left_out_where_they_fall_short(
    engine: Engine, rows: Rows, k: int, l: int, distinct: bool
) -> None:
    nulls = "distinct" if distinct else "equal"
    found = suppress(engine, rows, require={"k": k, "l": l}, sensitive="s", rows="drop", publish_sql=True, nulls=nulls)
    members: dict[Any, list[Any]] = {}
    for number, row in enumerate(rows):
        alone = distinct and None in (row[ODD], row["age"])
        members.setdefault((row[ODD], row["age"], number if alone else -1), []).append(row["s"])
    kept = {key: values for key, values in members.items() if len(values) >= k and len(set(values)) >= l}
    stay = sum(map(len, kept.values()))
    assert (found.affected_rows, found.cost, found.optimal) == (len(rows) - stay, 2 * (len(rows) - stay), True)
    out = released(engine, found)
    wanted: Counter[Any] = Counter()
    for (odd, age, _), values in kept.items():
        wanted[age, odd] += len(values)
    assert Counter(row[:2] for row in out) == wanted


PEOPLE = [
    {"age": age, ODD: odd, "s": s, "name": f"N{n}"}
    for n, (age, odd, s) in enumerate(
        [(1, "a", "flu"), (1, "a", "flu"), (1, "a", "cold"), (2, "b", "flu"), (2, "c", "cold"), (3, "c", "flu")]
    )
]


def test_weights_turn_the_choice(engine: Engine) -> None:
    cheap = suppress(engine, PEOPLE, require={"k": 2}, weights={"age": "1/2"}, seed=1)
    dear = suppress(engine, PEOPLE, require={"k": 2}, weights={"age": 9}, seed=1)
    assert [column.cells for column in cheap.columns] == [2, 4]
    assert [(column.name, column.weight) for column in cheap.columns] == [(ODD, 1), ("age", Fraction(1, 2))]
    assert (cheap.cost, cheap.optimal) == (4, True)
    assert [column.cells for column in dear.columns] == [4, 2]
    assert (dear.cost, dear.optimal) == (22, True)


def test_the_engines_agree_to_the_last_number(engine: Engine, tmp_path: Path) -> None:
    found = suppress(engine, PEOPLE, require={"k": 3}, how="exact", seed=7, to=tmp_path / "out.csv")
    assert [column.cells for column in found.columns] == [3, 3]
    assert (found.cost, found.affected_rows, found.patterns) == (6, 3, 4)
    assert (tmp_path / "out.csv").read_text().splitlines()[:3] == ['age,"o""d d%",s', "*,*,cold", "*,*,flu"]


def test_persons_need_one_row_each(engine: Engine) -> None:
    found = suppress(engine, PEOPLE, require={"k": 3}, identifier=(), entity="name", publish_sql=True)
    assert found.release is not None
    assert found.release.columns == ("age", ODD, "s")
    twice = [*PEOPLE, PEOPLE[0]]
    with pytest.raises(UsageError, match="7 rows are about 6 people"):
        suppress(engine, twice, require={"k": 3}, identifier=(), entity="name")


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"require": {"k": 7}}, "has 6 rows, so no group of it can have 7"),
        ({"require": {"l": 3}, "sensitive": "s"}, "s has 2 different values, so no group can have 3 of them"),
        ({"require": {"l": 2}}, "needs exactly one sensitive column"),
        ({"require": ["t=0.2"], "sensitive": "s"}, "Use sqlaudit recode"),
        ({"require": ["k=2"], "nulls": "wildcard"}, "is not supported, because classes overlap"),
        ({"require": ()}, "No requirement is given"),
        ({"require": ["k=2"], "qi": ()}, "No quasi-identifiers are named"),
        ({"require": ["k=2"], "time_limit": -1}, "0 seconds or more"),
        ({"require": ["k=2"], "seed": -1}, "seed= must be a whole number"),
        ({"require": ["k=2"], "weights": {"nobody": 1}}, "is not a column of the search"),
    ],
)
def test_what_has_no_answer_is_refused_in_a_sentence(engine: Engine, asked: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        suppress(engine, PEOPLE, **asked)
    with pytest.raises(UsageError, match="has no rows"):
        suppress(engine, [], require={"k": 2})


def test_a_release_that_fails_its_audit_is_not_published(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_pieces", lambda _: [(n, 1, size, n, 0, 0) for n, size in enumerate([3, 1, 1, 1], 1)])
    with pytest.raises(EngineError, match="'k=3' fails"):
        suppress(engine, PEOPLE, require={"k": 3}, to=tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    monkeypatch.setattr(rewriting, "failed", lambda found: found.checks)
    with pytest.raises(EngineError, match="please report it"):
        suppress(engine, PEOPLE, require={"k": 3})


@pytest.mark.usefixtures("folder")
def test_reports_and_json_hold_no_value() -> None:
    found = sqlaudit.suppress("p.csv", qi=["x", "y", "z"], require={"k": 2, "l": 2}, sensitive="s", publish_sql=True)
    document = document_of(found)
    assert list(validator("suppress").iter_errors(json.loads(render_json(found.to_dict())))) == []
    for text in (render_text(document, 80, False), render_markdown(document), render_html(document)):
        assert "flu" not in text
        assert "cold" not in text
    assert "(proven minimum)" in render_text(document, 80, False)
    assert "PASS: all requirements are met" in render_markdown(document)
    assert found._repr_html_().startswith("<iframe")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "p.csv", "x,y,z,s", "x,a,b,flu", "z,c,d,flu", "y,a,b,cold", "z,c,e,cold")
    return tmp_path


COMMON = ("suppress", "p.csv", "--qi", "x,y,z", "--sensitive", "s", "--require", "k=2")


@pytest.mark.usefixtures("folder")
def test_the_command_tells_what_it_suppressed() -> None:
    ran = run(*COMMON, "--exact", "--require", "l=2")
    assert (ran.code, ran.err) == (0, "")
    assert "4 cells suppressed (proven minimum)" in ran.said
    assert "Suppressed cells 4 (33.3%) Rows with suppressed cells 4 (100%)" in ran.said
    weighted = run(*COMMON, "--weights", "x=3,z=0.5", "--format", "json")
    data = json.loads(weighted.out)
    assert list(validator("suppress").iter_errors(data)) == []
    assert (data["cost"], data["optimal"], data["effort"]["how"]) == (7, True, "auto")
    star = run(*COMMON, "--rows", "star")
    assert "4 rows suppressed (proven minimum)" in star.said
    drop = run(*COMMON, "--rows", "drop")
    assert "Rows left out 4 (100%)" in drop.said
    assert (star.code, drop.code) == (0, 0)


@pytest.mark.usefixtures("folder")
def test_the_release_is_printed_or_written() -> None:
    printed = run(*COMMON, "--publish-sql")
    assert printed.code == 0
    assert "-- A release by sqlaudit." in printed.out
    markdown = run(*COMMON, "--publish-sql", "--format", "markdown")
    assert markdown.out.endswith(";\n```\n")
    assert run(*COMMON, "--to", "out.parquet").err == "sqlaudit: wrote 4 rows to 'out.parquet'.\n"
    both = run(*COMMON, "--publish-sql", "--to", "out.parquet")
    assert "-- A release by sqlaudit." in both.out
    assert both.err == "sqlaudit: wrote 4 rows to 'out.parquet'.\n"
    audited = run("audit", "out.parquet", "--qi", "x,y,z", "--require", "k=2")
    assert audited.code == 0
    assert run(*COMMON, "--to", "out.sql").err == "sqlaudit: wrote the SELECT of the release to 'out.sql'.\n"
    query = Path("out.sql").read_text(encoding="utf-8")
    with duckdb.connect() as session:
        assert Counter(row[:3] for row in session.execute(query).fetchall()) == {("*", "a", "b"): 2, ("z", "c", "*"): 2}
        write_csv(Path("p.csv"), "x,y,z,s", "x,a,b,flu", "z,c,d,flu", "y,a,b,cold", "z,q,e,cold")
        assert session.execute(query).fetchall() == []


@pytest.mark.usefixtures("folder")
def test_the_command_refuses_and_plans() -> None:
    for more, sentence in (
        (("--exact", "--fast"), "--exact and --fast exclude each other: give one of them."),
        (("--weights", "x"), "--weights takes column=number"),
        (("--weights", "x=1,x=2"), "--weights names 'x' twice."),
        (("--to", "out.txt"), "must end in .csv, .parquet, .xlsx, .sav, .dta or .sql."),
        (("--joint",), "--joint is not supported"),
    ):
        ran = run(*COMMON, *more)
        assert (ran.code, ran.out) == (2, "")
        assert sentence in ran.err
    plan = run(*COMMON, "--dry-run")
    assert "/* sqlaudit: row patterns */" in plan.out
    assert "DENSE_RANK" in plan.out


def test_ctrl_c_tells_the_best_answer_so_far(folder: Path) -> None:
    generator = np.random.default_rng(1)
    cells = np.minimum(generator.geometric(0.3, size=(500, 4)), 6).tolist()
    write_csv(folder / "mid.csv", "a,b,c,d", *(",".join(map(str, row)) for row in cells))
    program = (
        "import os, signal, threading, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from sqlaudit.base import solver\n"
        "start = solver.run_beside\n"
        "def run(one):\n"
        "    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "    return start(one)\n"
        "solver.run_beside = run\n"
        "from sqlaudit.cli import cli\n"
        "cli.main(sys.argv[1:], prog_name='sqlaudit')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, "suppress", "mid.csv", "--qi", "a,b,c,d", "--require", "k=5", "--exact"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 130, ran.stderr
    assert ran.stdout.startswith("INCOMPLETE: stopped with ")
    assert "Interrupted; nothing was published." in " ".join(ran.stdout.split())
    assert "Traceback" not in ran.stderr
    assert signal.getsignal(signal.SIGINT) is not None


def test_exact_answers_that_are_not_proven_have_their_own_exit_code(folder: Path) -> None:
    generator = np.random.default_rng(1)
    cells = np.minimum(generator.geometric(0.3, size=(150, 4)), 6).tolist()
    write_csv(folder / "mid.csv", "a,b,c,d", *(",".join(map(str, row)) for row in cells))
    asked = ("suppress", "mid.csv", "--qi", "a,b,c,d", "--require", "k=5", "--time-limit", "0.01s", "--format", "json")
    ran = run(*asked, "--exact")
    data = json.loads(ran.out)
    assert (ran.code, data["effort"]["stopped"], data["complete"]) == (4, "time", False)
    assert 0 < data["gap"] < 1
    assert data["release"]["audit"]["status"] == "pass"
    either = run(*asked)
    assert (either.code, json.loads(either.out)["complete"]) == (0, True)


def test_the_first_solver_of_a_process_says_nothing() -> None:
    program = "from sqlaudit.base.solver import silent; silent({}).run()"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("", "")
