"""Many audits in one process, most of them disturbed: what is left afterwards, of memory, files, threads, connections?

The engine is a parameter: `Place` says where the tables are, and everything else is the same for all of them.
"""

from __future__ import annotations

import gc
import os
import random
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
from click.testing import CliRunner

import sqlaudit
from sqlaudit.base.errors import SqlauditError
from sqlaudit.base.spec import Limits, Target
from sqlaudit.cli import cli
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine

PEOPLE = """
SELECT CAST(18 + hash(i, 1) % 60 AS INTEGER) AS age, ['f', 'm'][1 + CAST(hash(i, 2) % 2 AS INTEGER)] AS sex,
       'z' || CAST(100 + hash(i, 3) % 40 AS VARCHAR) AS zip, 'd' || CAST(hash(i, 4) % 9 AS VARCHAR) AS disease,
       CAST(i AS INTEGER) AS person
FROM range({rows}) AS numbers (i)
"""
RELEASED = """
SELECT '[' || CAST(age // 10 * 10 AS VARCHAR) || ', ' || CAST(age // 10 * 10 + 10 AS VARCHAR) || ')' AS age, sex,
       left(zip, 2) || '**' AS zip, disease, person
FROM people
"""
HIERARCHIES = {"age": {"widths": [10, 20, 40]}, "zip": {"mask": [1, 2, 3]}}
QI = ("age", "sex", "zip")
CALM, CANCEL, TIMEOUT, ERROR, CTRL_C = "calm", "cancel", "timeout", "error", "Ctrl-C"


@dataclass(frozen=True)
class Place:
    """Where the two tables are.

    Args:
        name: what reports call it. people, released: how the tables are named there. db: what `--db` takes.
    """

    name: str
    people: str
    released: str
    db: str | None = None

    @property
    def is_spark(self) -> bool:
        """Whether Spark reads them."""
        return (self.db or "").startswith(("spark", "sc:"))

    def open(self, limits: Limits) -> Engine:
        """An engine that may read both tables."""
        targets = [] if self.db else [Target(self.people), Target(self.released)]
        return connect(self.db, limits, *targets)

    def options(self) -> list[str]:
        """The options of the command line that name the database."""
        return ["--db", self.db] if self.db else []


def make_files(folder: Path, rows: int) -> list[Place]:
    """The tables as CSV and Parquet files and in a DuckDB database, with a policy; the places of them."""
    database = folder / "soak.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE TABLE people AS " + PEOPLE.format(rows=rows))
        connection.execute("CREATE TABLE released AS " + RELEASED)
        for table in ("people", "released"):
            for ending in ("csv", "parquet"):
                connection.execute(f"COPY {table} TO '{folder / table}.{ending}'")
    (folder / "policy.yml").write_text(
        "connections: {main: {duckdb: soak.duckdb}}\ntables:\n- table: people\n  quasi_identifiers: [age, sex]\n"
        "  sensitive: [disease]\n  requirements: [k=2, l=2, {column_sets: {max_size: 2, k: 2, share: 1%}}]\n"
    )
    files = [Place(kind, f"{folder}/people.{kind}", f"{folder}/released.{kind}") for kind in ("csv", "parquet")]
    return [*files, Place("duckdb", "people", "released", str(database))]


# --- what is asked ---

Ask = Callable[[Engine, Place], object]
ASKS: dict[str, Ask] = {
    "audit": lambda e, p: sqlaudit.audit(
        p.people, qi=QI, sensitive="disease", require=["k=2", "l=2", "t=0.4", "entropy_l=1.5", "disclosure@2=0.9"], db=e
    ),
    "audit nulls": lambda e, p: sqlaudit.audit(
        p.people, qi=["age"], sensitive="disease", require=["k=2"], nulls="wildcard", db=e
    ),
    "disclosure": lambda e, p: sqlaudit.disclosure_curve(
        p.people, qi=QI, sensitive="disease", knowledge=4, witness=2, db=e
    ),
    "columns": lambda e, p: sqlaudit.columns(p.people, columns=[*QI, "disease"], max_size=2, db=e),
    "records": lambda e, p: sqlaudit.records(p.people, qi=["age", "zip"], max_size=2, db=e),
    "persons": lambda e, p: sqlaudit.persons(p.people, entity="person", qi=["age", "zip"], random=2, db=e),
    "aggregates": lambda e, p: sqlaudit.aggregates(
        p.people, by=["zip", "sex"], count="age", require=["threshold=5", "full_cell=any"], db=e
    ),
    "lattice": lambda e, p: sqlaudit.lattice(p.people, qi=QI, require=["k=5"], hierarchies=HIERARCHIES, db=e),
    "hierarchy": lambda e, p: sqlaudit.hierarchy(p.people, "age", {"widths": [5, 10]}, db=e),
    "compare": lambda e, p: sqlaudit.compare(
        p.people,
        p.released,
        qi=QI,
        sensitive="disease",
        key="person",
        hierarchies=HIERARCHIES,
        workload=5,
        noise_queries=5,
        db=e,
    ),
    "attack": lambda e, p: sqlaudit.attack(
        p.released, qi=QI, sensitive="disease", identified=Target(p.people), key="person", db=e
    ),
    "profile": lambda e, p: sqlaudit.profile(p.people, db=e),
}
WRONG: dict[str, Ask] = {
    "no column": lambda e, p: sqlaudit.audit(p.people, qi=["nowhere"], db=e),
    "no table": lambda e, p: sqlaudit.audit("nowhere", qi=["age"], db=e),
    "no number": lambda e, p: sqlaudit.audit(p.people, qi=["CAST(zip AS INTEGER)"], sensitive="disease", db=e),
    "division": lambda e, p: sqlaudit.audit(p.people, qi=["age"], where="CAST(disease AS INTEGER) > 0", db=e),
    "a write": lambda e, p: sqlaudit.audit(qi=["age"], query="DELETE FROM people RETURNING *", db=e),
    "no limit": lambda e, p: sqlaudit.audit(p.people, qi=QI, require=["k=many"], db=e),
    "no hierarchy": lambda e, p: sqlaudit.lattice(
        p.people, qi=QI, require=["k=5"], hierarchies={"age": {"widths": [5, 7]}}, db=e
    ),
}


def command_lines(place: Place, folder: Path) -> list[list[str]]:
    """The same questions, as they are typed."""
    role = ["--qi", "age,sex,zip", "--sensitive", "disease"]
    return [
        ["audit", *place.options(), place.people, *role, "--require", "k=5", "--format", "html"],
        ["disclosure", *place.options(), place.people, *role, "--knowledge", "0..3"],
        ["columns", *place.options(), place.people, "--max-size", "2"],
        ["profile", *place.options(), place.people, "--format", "json"],
        ["attack", *place.options(), place.released, *role],
        ["console", *place.options(), place.people, "-c", f"AUDIT {_in_sql(place)} BY (age, sex) REQUIRE k >= 2;"],
        ["test", "--file", str(folder / "policy.yml"), "--format", "junit"],
    ]


def _in_sql(place: Place) -> str:
    return place.people if place.db and not place.is_spark else f"'{place.people}'"


# --- what is left ---


@dataclass(frozen=True)
class Left:
    """What a process holds.

    Args:
        resident: megabytes in memory. files: open file descriptors. threads: by name. folders: entries of the
            temporary folder and of the current one. elsewhere: what the places' own check found, sessions for instance.
    """

    resident: float
    files: int
    threads: tuple[str, ...]
    folders: tuple[str, ...]
    elsewhere: tuple[str, ...] = ()


Elsewhere = Callable[[], tuple[str, ...]]


def resident() -> float:
    """Megabytes of this process that lie in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


SHARED: frozenset[threading.Thread] = frozenset()
"""Threads of engines that other tests of this process hold."""


def left(elsewhere: Elsewhere) -> Left:
    """What is held now; threads that are ending have a second for it."""
    known = {threading.main_thread(), *SHARED}
    waited = time.monotonic() + 2
    while (
        any(t not in known and t.name.startswith("sqlaudit") for t in threading.enumerate())
        and time.monotonic() < waited
    ):
        time.sleep(0.005)
    folders = sorted({one.name for folder in (Path(tempfile.gettempdir()), Path()) for one in folder.iterdir()})
    names = tuple(sorted(t.name for t in threading.enumerate() if t not in known))
    return Left(resident(), len(list(Path("/proc/self/fd").iterdir())), names, tuple(folders), elsewhere())


# --- the soak ---


@dataclass
class Soak:
    """Many audits, chosen and disturbed at random, always the same for one seed.

    Args:
        places: where the tables are. folder: with the policy. seed: of what is chosen.
        elsewhere: names what is left on servers; empty = nothing.
    """

    places: Sequence[Place]
    folder: Path
    seed: int = 0
    elsewhere: Elsewhere = tuple
    outcomes: Counter[str] = field(default_factory=Counter)
    curve: list[Left] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)

    def run(self, audits: int, tell: Callable[[int, Left], None] = lambda number, now: None) -> Soak:
        """So many audits, and what was left after each."""
        chosen = random.Random(self.seed)
        for number in range(audits):
            self._one(chosen)
            self.curve.append(left(self.elsewhere))
            tell(number, self.curve[-1])
        return self

    def _one(self, chosen: random.Random) -> None:
        place = chosen.choice(self.places)
        how = chosen.choices([CALM, CANCEL, TIMEOUT, ERROR, CTRL_C], [45, 15, 15, 15, 10])[0]
        delay = chosen.uniform(0.0, 0.15)
        if how == CTRL_C or (how == CALM and chosen.random() < 0.3):
            line = chosen.choice(command_lines(place, self.folder))
            self._told(f"{how} {line[0]}", lambda: self._typed(line, delay if how == CTRL_C else None))
            return
        name = chosen.choice(list(WRONG if how == ERROR else ASKS))
        ask = (WRONG if how == ERROR else ASKS)[name]
        # the threads of a Spark that runs already are settled
        threads = None if place.is_spark else 2
        limits = Limits(timeout=delay if how == TIMEOUT else None, threads=threads)
        self._told(f"{how} {name}", lambda: self._asked(ask, place, limits, delay if how == CANCEL else None))

    def _told(self, what: str, act: Callable[[], str]) -> None:
        how = what.split(maxsplit=1)[0]
        outcome = act()
        if how == CALM and outcome not in ("answer", "exit 0", "exit 1"):
            self.unfinished.append(f"{what}: {outcome}")
        self.outcomes[f"{how}: {outcome}"] += 1

    @staticmethod
    def _asked(ask: Ask, place: Place, limits: Limits, delay: float | None) -> str:
        try:
            with place.open(limits) as engine, _later(engine.cancel, delay):
                ask(engine, place)
        except SqlauditError as error:
            return type(error).__name__
        return "answer"

    @staticmethod
    def _typed(line: list[str], delay: float | None) -> str:
        with suppress(KeyboardInterrupt), _later(_press_ctrl_c, delay):
            done = CliRunner().invoke(cli, line, catch_exceptions=False)
            assert "internal error" not in done.stderr, (line, done.stderr)
            return f"exit {int(done.exit_code)}"
        return "interrupted outside"


def _press_ctrl_c() -> None:
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


@contextmanager
def _later(act: Callable[[], None], delay: float | None) -> Iterator[None]:
    """While it lasts, do something once after a delay; None = never."""
    if delay is None:
        yield
        return
    timer = threading.Timer(delay, act)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def growth(curve: Sequence[Left]) -> tuple[float, float]:
    """Megabytes in the second quarter and in the last one, on average: memory that is lost shows as a difference."""
    gc.collect()
    quarter = max(1, len(curve) // 4)
    return _mean(curve[quarter : 2 * quarter]), _mean(curve[-quarter:])


def _mean(part: Sequence[Left]) -> float:
    return sum(one.resident for one in part) / max(1, len(part))


def sessions_of(admin: Any, name: str = "sqlaudit") -> Elsewhere:
    """What is left on a PostgreSQL server: sessions of that name, and temporary relations; asked over a connection."""

    def look() -> tuple[str, ...]:
        waited = time.monotonic() + 2
        while (found := _sessions(admin, name)) and time.monotonic() < waited:
            time.sleep(0.005)
        return found

    return look


def _sessions(admin: Any, name: str) -> tuple[str, ...]:
    rows = admin.execute(
        "SELECT 'session ' || state FROM pg_stat_activity WHERE application_name = %s "
        "UNION ALL SELECT 'temporary ' || relname FROM pg_class WHERE relpersistence = 't'",
        [name],
    ).fetchall()
    return tuple(sorted(row[0] for row in rows))


def spark_holds() -> Elsewhere:
    """What is left in the JVM of a Spark that runs in this process: persisted results, and jobs that run on."""

    def look() -> tuple[str, ...]:
        from pyspark import SparkContext

        context = SparkContext._active_spark_context
        if context is None:
            return ()
        jobs = [f"job {number}" for number in context.statusTracker().getActiveJobsIds()]
        kept = context._jsc.getPersistentRDDs()
        return (*jobs, *(f"RDD {number}" for number in kept))

    return look


def heap_of_spark() -> float:
    """Megabytes that live in Spark's JVM after its garbage was collected; 0 without one."""
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    if context is None or context._jvm is None:
        return 0.0
    context._jvm.System.gc()
    runtime = context._jvm.Runtime.getRuntime()
    return float(runtime.totalMemory() - runtime.freeMemory()) / 1e6
