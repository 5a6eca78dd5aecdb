"""Two audits at once on one database: the same figures as alone, and neither hears of the other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest

import sqlaudit
from sqlaudit.base.errors import Interrupted
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Limits
from sqlaudit.engines import connect
from tests.postgres_load import Loader
from tests.security.soaking import HIERARCHIES, QI, Place, make_files

AT_ONCE = 2


@pytest.fixture(
    params=[
        pytest.param("csv", marks=pytest.mark.all_cases),
        "duckdb",
        pytest.param("postgres", marks=pytest.mark.postgres),
    ]
)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """The tables, in every kind of place."""
    places = {one.name: one for one in make_files(tmp_path, 200)}
    if request.param != "postgres":
        return places[request.param]
    load: Loader = request.getfixturevalue("load")
    load("people", tmp_path / "people.csv", types={"age": "integer", "person": "integer"}, schema="together")
    load("released", tmp_path / "released.csv", types={"person": "integer"}, schema="together")
    return Place("postgres", "together.people", "together.released", request.getfixturevalue("postgres_url"))


def figures(result: Any) -> str:
    """What was found: without times, and numbers that are sums of floats to ten digits."""
    return json.dumps(_comparable(result.to_dict()), default=str, sort_keys=True)


def _comparable(found: Any) -> Any:
    if isinstance(found, dict):
        varying = ("time", "seconds", "statements", "versions", "finished")
        return {key: _comparable(value) for key, value in found.items() if key not in varying}
    if isinstance(found, list | tuple):
        return [_comparable(value) for value in found]
    return f"{found:.10g}" if isinstance(found, float) else found


def questions(place: Place) -> list[Callable[[], str]]:
    """An audit, a search with a workbench, and a comparison, each with an engine of its own."""
    return [
        lambda: figures(
            sqlaudit.audit(place.people, qi=QI, sensitive="disease", require=["k=2", "t=0.4"], db=place.db)
        ),
        lambda: figures(sqlaudit.lattice(place.people, qi=QI, require=["k=3"], hierarchies=HIERARCHIES, db=place.db)),
        lambda: figures(
            sqlaudit.compare(
                place.people,
                place.released,
                qi=QI,
                sensitive="disease",
                key="person",
                workload=5,
                noise_queries=5,
                hierarchies=HIERARCHIES,
                db=place.db,
            )
        ),
    ]


def test_threads_with_engines_of_their_own_find_what_one_finds_alone(place: Place) -> None:
    asked = questions(place)
    alone = [ask() for ask in asked]
    begin = threading.Barrier(AT_ONCE)

    def ask_all(turn: int) -> list[str]:
        begin.wait(60)
        order = [(turn + number) % len(asked) for number in range(len(asked))]
        found = {number: asked[number]() for number in order}
        return [found[number] for number in range(len(asked))]

    with ThreadPoolExecutor(AT_ONCE) as pool:
        together = list(pool.map(ask_all, range(AT_ONCE)))
    assert together == [alone] * AT_ONCE


def test_processes_find_what_one_finds_alone(place: Place) -> None:
    if place.name == "csv":  # nothing that processes could share
        return
    program = [sys.executable, "-c", "from sqlaudit.cli import main; main()"]
    line = ["audit", *place.options(), place.people, "--qi", ",".join(QI), "--sensitive", "disease", "--require", "k=2"]
    command = [*program, *line, "--format", "json"]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
        for _ in range(AT_ONCE)
    ]
    said = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [1] * AT_ONCE, said
    found = [json.loads(out) for out, _ in said]
    alone = sqlaudit.audit(place.people, qi=QI, sensitive="disease", require=["k=2"], db=place.db).to_dict()
    for part in ("classes", "checks", "sensitive", "target"):
        assert [json.dumps(one[part], sort_keys=True) for one in found] == [
            json.dumps(alone[part], sort_keys=True, default=str)
        ] * AT_ONCE


_RUNS = """
SELECT 1 FROM pg_stat_activity WHERE query LIKE '%1000000000)' AND state = 'active' AND pid <> pg_backend_pid()
"""


@pytest.mark.postgres
def test_cancelling_one_does_not_stop_the_other(load: Loader, postgres_url: str) -> None:
    slow = Statement("wait", "SELECT count(*) FROM generate_series(1, 1000000000)")
    with (
        connect(postgres_url, Limits()) as stopped,
        connect(postgres_url, Limits()) as other,
        ThreadPoolExecutor(1) as pool,
    ):
        running = pool.submit(stopped.run, slow)
        with psycopg.connect(postgres_url, autocommit=True) as looking:
            while not looking.execute(_RUNS).fetchall():
                assert not running.done()
        stopped.cancel()
        with pytest.raises(Interrupted):
            running.result(60)
        assert other.run(Statement("one", "SELECT 1")) == [(1,)]
        assert stopped.run(Statement("one", "SELECT 1")) == [(1,)]
