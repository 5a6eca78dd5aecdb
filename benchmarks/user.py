"""What a user gets: whole commands of an installed wheel, in turn with what they are measured against.

    python -m benchmarks.user                            every line, five runs of each; writes docs/performance.md
    python -m benchmarks.user --small --print            the same over small tables, in a minute or two; writes nothing
    python -m benchmarks.user --lines start,audit        some of the lines; the page keeps its other tables
    python -m benchmarks.user --adult FOLDER             also ARX's table (see `benchmarks/lattice.py`)
    python -m benchmarks.user --keep FOLDER              the environment and tables stay there for the next groups

Builds the wheel, installs it into an environment of its own, and runs each line as the command that a user types, in
turn with its anchor, after one run of each that is not counted; what takes over half a minute runs once. CPU is user
and system time of the process, as the system accounts for it; ratios are taken pair by pair. Anchors are DuckDB alone,
polars by hand, pycanon, PostgreSQL's own GROUP BY and HPIValid (from the package desbordante), each in a Python process
that imports nothing else, and our own command without what an option leaves out. PostgreSQL is the server of the tests,
which works in processes of its own: its lines add what the system accounts for them, and where it cannot say that, they
tell the clock alone.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path

import duckdb

from benchmarks import cliffs, spark
from benchmarks.generate import VISITS, people
from benchmarks.scale.shapes import Shape

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- benchmarks.user: {} -->\n", "<!-- end -->\n"
KEYS = ("age", "sex", "zip", "race")
PEOPLE, REGISTER, TREATED = "people, seed 7", "register, seed 3", "visits, seed 7"
"""The tables of most lines."""
WAITING = """
import os, sys, time
begun = time.perf_counter()
silent = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
process = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=silent)
_, status, usage = os.wait4(process, 0)
clock = time.perf_counter() - begun
print(usage.ru_utime + usage.ru_stime, clock, usage.ru_maxrss / 1000, os.waitstatus_to_exitcode(status))
"""
"""A small process that runs a command: a process begins with the peak memory of the one that it comes from."""
LONG = 30.0
"""Seconds on the clock after which a command is run once: its first run counts."""
ROLES = ("--qi", ",".join(KEYS), "--sensitive")
READ = "import duckdb; duckdb.execute('SELECT * FROM read_csv(?)', ['{table}']).fetchall()"
GROUP = (
    "import duckdb; duckdb.execute('SELECT count(*), sum(c) FROM (SELECT {keys}, {value}, count(*) AS c "
    "FROM read_parquet(?) GROUP BY ALL)', ['{table}']).fetchall()"
)
DIMENSIONS = ("age", "sex", "region", "year")
DISTINCT = (
    "import duckdb; duckdb.execute('SELECT count(*), sum(n), sum(r), sum(s), sum(c) FROM (SELECT {keys}, "
    "count(DISTINCT person) AS n, count(*) AS r, sum(cost) AS s, count(cost) AS c FROM read_parquet(?) GROUP BY ALL)', "
    "['{table}']).fetchall()"
)
HPIVALID = (
    "import desbordante; a = desbordante.ucc.algorithms.HPIValid(); "
    "a.load_data(table=('{table}', ',', True)); a.execute()"
)
POLARS = """
import polars as pl
t = pl.read_csv('{table}')
cells = t.group_by({keys}, 'condition').agg(pl.len().alias('c'))
sizes = cells.group_by({keys}).agg(pl.col('c').sum().alias('n'), pl.len().alias('l'))
all = t.group_by('condition').agg((pl.len() / len(t)).alias('q'))
held = cells.join(sizes, on=[{keys}]).join(all, on='condition')
gap = (pl.col('c') / pl.col('n') - pl.col('q')).clip(lower_bound=0).sum()
print(sizes['n'].min(), sizes['l'].min(), held.group_by({keys}).agg(gap.alias('d'))['d'].max())
"""


PYCANON = """
import pandas as pd
from pycanon import anonymity
t = pd.read_csv('{table}')
print(anonymity.k_anonymity(t, [{keys}]), anonymity.l_diversity(t, [{keys}], ['condition']))
print(anonymity.t_closeness(t, [{keys}], ['condition']))
"""
EXPLORED = ("age", "sex", "zip", "race", "education")
EXPLORE = """
from sqlaudit.base.spec import Roles, Target
from sqlaudit.lattices.explorer import Explorer
from sqlaudit.lattices.request import LatticeRequest
from sqlaudit.models.registry import requirement_from
k5 = requirement_from('k_anonymity', {{'k': 5}})
with Explorer.open(None, LatticeRequest(Target('{table}'), Roles({keys}), (k5,))) as explorer:
    print(len(explorer.nodes()), explorer.proposals())
"""
SERVED = (
    "import psycopg; psycopg.connect('{url}').execute('SELECT count(*), sum(c) FROM (SELECT {keys}, condition, "
    "count(*) AS c FROM people GROUP BY {keys}, condition) AS cells').fetchall()"
)


@dataclass(frozen=True)
class Line:
    """A line of the tables: the table that is read, with its seed, what is done, the command, and what stands beside it
    (a program in Python, or a command of ours; empty = none), with its name and the module that it needs. `served`:
    whether a server does the work."""

    group: str
    table: str
    what: str
    command: tuple[str, ...]
    anchor: str | tuple[str, ...] = ""
    called: str = ""
    needs: str = ""
    served: bool = False


@dataclass(frozen=True)
class Sizes:
    """How large the tables are."""

    rows: int = 10_000_000
    register: int = 100_000
    large_register: int = 1_000_000
    wide: int = 50_000
    small: int = 20_000
    served: int = 1_000_000


@dataclass(frozen=True)
class Spent:
    """What one run of a process took."""

    cpu: float
    clock: float
    peak: float
    """MB of memory, of the process alone."""


def register(rows: int, columns: int, path: Path) -> Path:
    """A person-like register as CSV, drawn from hashes: name, date of birth, zip, city (of the zip), age (of the date),
    amount, then rare flags, codes that follow from an earlier column, and skewed codes; full-row duplicates removed."""
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE drawn AS SELECT i FROM range({rows}) AS t(i)")
        for number in range(columns):
            drawn = f"CREATE OR REPLACE TABLE drawn AS SELECT *, CAST({_drawn(number)} AS INT) AS c{number} FROM drawn"
            connection.execute(drawn)
        connection.execute(f"COPY (SELECT DISTINCT * EXCLUDE (i) FROM drawn) TO '{path}' (HEADER)")
    return path


def _drawn(number: int) -> str:
    """A column of the register, as SQL over its row number and the columns before it."""
    share = f"(hash(i, 3, {number}) % 1000000 / 1e6)"
    chosen = _looks_drawn(number)
    first = {
        0: f"5000 * pow({share}, 4)",
        1: f"25000 * {share}",
        2: f"3000 * pow({share}, 3)",
        3: "hash(c2, 5) % 200",
        4: "hash(c1, 6) % 80",
        5: f"20 * exp(4 * {share})",
    }
    if number in first:
        return first[number]
    if number % 4 == 0:
        return f"{share} < {0.001 * (1 + chosen % 50)}"
    if number % 4 == 2:
        return f"{3 + chosen % 27} * pow({share}, 6)"
    source, values = chosen % (6 if number % 4 == 1 else number), 2 + chosen % 9
    follows = f"hash(c{source}, {number}) % {values}"
    return (
        follows if number % 4 == 3 else f"CASE WHEN {share} < 0.01 THEN hash(i, {number}) ELSE {follows} END % {values}"
    )


def _looks_drawn(number: int) -> int:
    """A number that looks drawn, the same in every run."""
    return number * 2654435761 % 2**32 >> 8


def tables(folder: Path, sizes: Sizes, groups: Sequence[str]) -> dict[str, Path]:
    """The tables of all lines; those that no line of these groups reads, or that are there already, are not made."""
    makers: dict[str, tuple[set[str], Callable[[Path], object]]] = {
        "people.parquet": ({"start", "audit", "postgres"}, lambda path: people(sizes.rows, path)),
        "released.parquet": ({"files"}, lambda path: people(sizes.served, path)),
        "visits.parquet": ({"cube"}, lambda path: people(sizes.rows, path, select=VISITS)),
        "forty.csv": ({"start"}, lambda path: _first(folder, 40, path)),
        "people.csv": ({"audit"}, lambda path: _first(folder, sizes.small, path)),
        "register.csv": ({"columns"}, lambda path: register(sizes.register, 20, path)),
        "large.csv": ({"columns"}, lambda path: register(sizes.large_register, 20, path)),
        "wide.csv": ({"columns"}, lambda path: register(sizes.wide, 120, path)),
        "explored.parquet": ({"explorer"}, lambda path: people(sizes.register, path)),
        "more.parquet": ({"explorer"}, lambda path: people(sizes.large_register, path)),
    }
    for name, (readers, make) in makers.items():
        if readers & set(groups) and not (folder / name).exists():
            make(folder / f"part_{name}")  # a run that is stopped leaves no half table for the next one
            (folder / f"part_{name}").rename(folder / name)
    return {name: folder / name for name in makers}


def _first(folder: Path, rows: int, path: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT * FROM '{folder / 'people.parquet'}' LIMIT {rows}) TO '{path}' (HEADER)")


@contextmanager
def server(table: Path, rows: int) -> Iterator[tuple[str, int]]:
    """The URL of a PostgreSQL server, the one of the tests, with the first rows of a table of people; and its process,
    whose children serve."""
    import psycopg

    from tests.postgres_server import new_server

    started = new_server()
    started.start()
    try:
        url = started.admin_url("postgres")
        with psycopg.connect(url, autocommit=True) as connection, duckdb.connect() as source:
            connection.execute("CREATE TABLE people (age int, sex text, zip int, race int, condition text)")
            with connection.cursor().copy("COPY people FROM STDIN") as copy:
                reader = source.execute(f"SELECT {', '.join(KEYS)}, condition FROM '{table}' LIMIT {rows}")
                while batch := reader.fetchmany(10_000):
                    for row in batch:
                        copy.write_row(row)
            connection.execute("ANALYZE people")
        yield url, int((started.data / "postmaster.pid").read_text().split()[0])
    finally:
        started.delete()


def lines(made: dict[str, Path], sizes: Sizes, adult: Path | None, url: str) -> list[Line]:
    """Every line that can be measured here."""
    found = [*_start(made), *_audits(made, sizes), *_columns(made, sizes), *(_lattice(adult) if adult else [])]
    found += [*_cubes(made, sizes), *_files(made, sizes), *_explorer(made, sizes)]
    return [*found, *(_postgres(url, sizes) if url else [])]


def _postgres(url: str, sizes: Sizes) -> list[Line]:
    rows = f"`audit` of {sizes.served:,} rows, 14 values"
    audit = ("audit", "people", "--db", url, *ROLES, "condition")
    beside = (SERVED.format(url=url, keys=", ".join(KEYS)), "bare GROUP BY qi, s", "psycopg", True)
    asked = tuple(word for limit in ("k=2", "l=2", "t=0.5") for word in ("--require", limit))
    return [
        Line("postgres", PEOPLE, rows, audit, *beside),
        Line("postgres", PEOPLE, "the same with `--require` of k, l and t", (*audit, *asked), *beside),
    ]


def _start(made: dict[str, Path]) -> list[Line]:
    table = str(made["forty.csv"])
    audit, reading = ("audit", table, *ROLES, "condition"), (READ.format(table=table), "DuckDB reading the file")
    starting = ("import duckdb; duckdb.connect()", "DuckDB starting")
    return [
        Line("start", PEOPLE, "`audit` of 40 rows, CSV", audit, *reading),
        Line("start", PEOPLE, "the same with `--require k=2`", (*audit, "--require", "k=2"), *reading),
        Line("start", "", "`models`", ("models",), *starting),
        Line("start", "", "`--help`", ("--help",), *starting),
        Line("start", "", "a usage error", ("audit", "--nothing"), *starting),
    ]


def _audits(made: dict[str, Path], sizes: Sizes) -> list[Line]:
    table, small, keys = made["people.parquet"], made["people.csv"], ", ".join(KEYS)
    asked = tuple(word for limit in ("k=2", "l=2", "t=0.5") for word in ("--require", limit))
    hand = POLARS.format(table=small, keys=", ".join(map(repr, KEYS)))
    canon = PYCANON.format(table=small, keys=", ".join(map(repr, KEYS)))
    audit, bare, rows = ("audit", str(table), *ROLES), "bare GROUP BY qi, s", f"`audit` of {sizes.rows:,} rows, Parquet"
    grouped = [GROUP.format(keys=keys, value=value, table=table) for value in ("condition", "code")]
    return [
        Line(
            "audit",
            PEOPLE,
            f"k, l, t of {sizes.small:,} rows, CSV",
            ("audit", str(small), *ROLES, "condition", *asked),
            hand,
            "polars by hand",
            "polars",
        ),
        Line(
            "audit",
            PEOPLE,
            "the same, with pycanon",
            ("audit", str(small), *ROLES, "condition", *asked),
            canon,
            "pycanon",
            "pycanon",
        ),
        Line("audit", PEOPLE, f"{rows}, 14 values", (*audit, "condition"), grouped[0], bare),
        Line("audit", PEOPLE, "the same, 200 values", (*audit, "code"), grouped[1], bare),
    ]


def _columns(made: dict[str, Path], sizes: Sizes) -> list[Line]:
    small, large, wide = (str(made[name]) for name in ("register.csv", "large.csv", "wide.csv"))
    pairs = ("columns", wide, "--max-size", "2", "--tolerance", "1%", "--time-budget", "60s")
    found = []
    for table, rows in ((small, sizes.register), (large, sizes.large_register)):
        named = f"`columns --identifying`, {rows:,} × 20"
        anchor = (HPIVALID.format(table=table), "HPIValid", "desbordante")
        found.append(Line("columns", REGISTER, named, ("columns", table, "--identifying"), *anchor))
    for share in ("0%", "1%"):
        named = f"`columns`, {sizes.large_register:,} × 20, k = 5, tolerance {share}"
        command = ("columns", large, "--tolerance", share)
        beside = ((*command, "--no-effects"), "the same with `--no-effects`")
        found.append(Line("columns", REGISTER, named, command, *beside))
    named = f"`columns`, {sizes.wide:,} × 120, pairs, tolerance 1%, at most a minute"
    return [*found, Line("columns", REGISTER, named, pairs)]


def _cubes(made: dict[str, Path], sizes: Sizes) -> list[Line]:
    """Cubes of visits beside the statement that each of them needs."""
    table = made["visits.parquet"]
    cube = ("cube", str(table), "--dimensions", ",".join(DIMENSIONS), "--measures", "cost", "--entity", "person")
    cube = (*cube, "--require", "threshold=10", "--to", str(table.with_name("cube.parquet")))
    beside = (DISTINCT.format(keys=", ".join(DIMENSIONS), table=table), "bare GROUP BY, count(DISTINCT person)")
    return [
        Line("cube", TREATED, f"`cube` of {sizes.rows:,} rows, threshold", cube, *beside),
        Line("cube", TREATED, "the same with dominance", (*cube, "--require", "dominance=n:1,k:85"), *beside),
    ]


def _files(made: dict[str, Path], sizes: Sizes) -> list[Line]:
    """Releases of one search as files of each kind, which are read back and audited, beside the Parquet file."""
    table = made["released.parquet"]
    release = ("lattice", str(table), "--qi", "age,sex", "--require", "k=5", "--level", "age=5 years", "--to")
    parquet = ((*release, str(table.with_name("release.parquet"))), "the same as .parquet")
    return [
        Line(
            "files",
            PEOPLE,
            f"release of {sizes.served:,} rows × 7 as .{ending}",
            (*release, str(table.with_name(f"release.{ending}"))),
            *parquet,
        )
        for ending in ("csv", "sav", "dta", "xlsx")
    ]


def _lattice(adult: Path) -> list[Line]:
    qi = "sex,age,race,marital-status,education,native-country,workclass,occupation,salary-class"
    search = ("lattice", str(adult / "adult.csv"), "--hierarchies", str(adult), "--qi", qi, "--require", "k=5")
    best = [
        Line("lattice", "Adult of ARX", f"best node for k = 5, {limit} suppressed", (*search, "--suppress", limit))
        for limit in ("0%", "5%")
    ]
    every = Line("lattice", "Adult of ARX", "the same, 0%, with `--find all`: every node", (*search, "--find", "all"))
    return [*best, every]


def _explorer(made: dict[str, Path], sizes: Sizes) -> list[Line]:
    """A search with its proposals, beside all nodes, which the window decides and prices."""
    tables = ((made["explored.parquet"], sizes.register), (made["more.parquet"], sizes.large_register))
    search = ("--qi", ",".join(EXPLORED), "--require", "k=5")
    return [
        Line(
            "explorer",
            PEOPLE,
            f"`lattice` of {rows:,} rows × {len(EXPLORED)} columns, k = 5, with proposals",
            ("lattice", str(table), *search),
            EXPLORE.format(table=table, keys=EXPLORED),
            "every node, decided and priced",
        )
        for table, rows in tables
    ]


def installed(folder: Path) -> Path:
    """The programs of an environment that has the wheel of this checkout, made anew, and the anchors."""
    wheels = folder / "wheels"
    for old in wheels.glob("*.whl"):
        old.unlink()
    subprocess.run([sys.executable, "-m", "pip", "-q", "wheel", "--no-deps", "-w", wheels, ROOT], check=True)
    programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    there = programs.exists()
    if not there:
        venv.create(folder / "venv", with_pip=True)
    pip = [programs / "python", "-m", "pip", "-q", "install"]
    wheel = next(wheels.glob("*.whl"))
    subprocess.run([*pip, f"{wheel}[postgres,files]"], check=True)
    if there:
        subprocess.run([*pip, "--force-reinstall", "--no-deps", wheel], check=True)
        return programs
    for anchor in ("polars", "desbordante", "pycanon"):
        subprocess.run([*pip, anchor], check=False)
    return programs


def run(command: Sequence[str], folder: Path) -> tuple[Spent, int]:
    """One run of a process, as the system accounts for it, and its exit code."""
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # else a checkout is measured
    waiting = [sys.executable, "-S", "-E", "-c", WAITING, *map(str, command)]
    told = subprocess.run(waiting, cwd=folder, env=own, stdout=subprocess.PIPE, check=True).stdout.split()
    return Spent(*map(float, told[:3])), int(told[3])


def served(command: Sequence[str], folder: Path, serving: int | None) -> tuple[Spent, int]:
    """The same with what the ended children of a server's process took meanwhile; no CPU where that is not known."""
    if serving is None:
        return run(command, folder)
    before = _of_children(serving)
    spent, code = run(command, folder)
    time.sleep(0.5)  # until the server has seen that its session ended
    after = _of_children(serving)
    cpu = float("nan") if before is None or after is None else spent.cpu + after - before
    return Spent(cpu, spent.clock, spent.peak), code


def _of_children(process: int) -> float | None:
    """CPU seconds of the children of a process that have ended, where the system tells that in /proc."""
    place = Path(f"/proc/{process}/stat")
    if not place.exists():
        return None
    fields = place.read_text().rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def measured(line: Line, programs: Path, folder: Path, runs: int, serving: int | None = None) -> str:
    """A row of a table: medians of both, and of the ratios pair by pair. `serving`: the server's process."""
    ours = [str(programs / "sqlaudit"), *line.command]
    anchor = [str(programs / "python"), "-c", line.anchor] if isinstance(line.anchor, str) else [ours[0], *line.anchor]
    anchor = anchor if line.anchor else []
    if line.needs and run([str(programs / "python"), "-c", "import " + line.needs], folder)[1]:
        anchor = []
    pairs = []
    for number in range(runs + 1):
        here, code = served(ours, folder, serving if line.served else None)
        if code not in (0, 1, 2, 4) or (code == 2 and "--nothing" not in ours):
            raise SystemExit(f"{' '.join(ours)} ended with {code}")
        there, failed = served(anchor, folder, serving if line.served else None) if anchor else (here, 0)
        if failed not in ((0, 1, 4) if isinstance(line.anchor, tuple) else (0,)):
            raise SystemExit(f"{line.called} ended with {failed}")
        if number or here.clock > LONG:
            pairs.append((here, there))
        if here.clock > LONG:
            break
    cpu, clock, peak = (statistics.median(getattr(a, what) for a, _ in pairs) for what in ("cpu", "clock", "peak"))
    cells = [line.table, line.what, f"{cpu:.2f} s", f"{clock:.2f} s", f"{peak:,.0f} MB"]
    if not anchor:
        return f"| {' | '.join([*cells, 'none', '', '', ''])} |"
    beside = statistics.median(b.cpu for _, b in pairs)
    ratios = [statistics.median(getattr(a, what) / getattr(b, what) for a, b in pairs) for what in ("cpu", "clock")]
    if math.isnan(cpu):
        return f"| {line.table} | {line.what} | | {' | '.join(cells[3:])} | {line.called} | | | {ratios[1]:.1f} |"
    return f"| {' | '.join([*cells, line.called, f'{beside:.2f} s', *(f'{ratio:.1f}' for ratio in ratios)])} |"


GROUPS = "start,audit,cube,columns,lattice,explorer,files,postgres,cliffs"
SPARK = "spark"
"""A group that is measured when it is named alone: its figures are those of Spark's executors (`benchmarks.spark`)."""


def table(rows: list[str], runs: int) -> str:
    """A table of the page, with how it was measured."""
    head = (
        "| table | command | CPU | clock | peak | compared with | its CPU | CPU, ratio | clock, ratio |\n"
        "| --- | --- | ---: | ---: | ---: | --- | ---: | ---: | ---: |\n"
    )
    medians = f"Medians of {runs} run{'s' if runs > 1 else ''} of each side"
    return head + "\n".join(rows) + f"\n\n{medians}; what takes over {LONG:g} s ran once.\n"


def write(found: dict[str, list[str]], runs: int) -> None:
    """Put tables into the page, in the places that are kept for them."""
    page = PAGE.read_text(encoding="utf-8")
    for group, rows in found.items():
        before, begin, rest = page.partition(BEGIN.format(group))
        if not begin:
            raise SystemExit(f"{PAGE.name} has no place for the lines {group!r}.")
        text = spark.HEAD + "\n".join(rows) + "\n" if group == SPARK else table(rows, runs)
        page = before + begin + "\n" + text + "\n" + END + rest.partition(END)[2]
    PAGE.write_text(page, encoding="utf-8")


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5, help="counted runs of each side")
    parser.add_argument("--small", action="store_true", help="small tables")
    parser.add_argument("--rows", type=int, default=Sizes.rows, help="rows of the large audits")
    parser.add_argument("--registers", type=int, nargs=2, default=(100_000, 1_000_000), help="rows of the column sets")
    parser.add_argument("--lines", default=GROUPS, help=f"some of {GROUPS}; or {SPARK} alone")
    parser.add_argument("--adult", type=Path, help="the folder with ARX's Adult and its hierarchies")
    parser.add_argument(
        "--keep", type=Path, help="a folder in which the environment and the tables stay for a next run"
    )
    parser.add_argument("--print", dest="only_print", action="store_true", help="leave the page as it is")
    given = parser.parse_args()
    sizes = Sizes(100_000, 5_000, 10_000, 2_000, 2_000, 20_000) if given.small else Sizes(given.rows, *given.registers)
    groups = given.lines.split(",")
    if groups == [SPARK]:
        shape = Shape(20_000, 2_000) if given.small else Shape(1_000_000, 100_000)
        with tempfile.TemporaryDirectory(prefix="sqlaudit_user") as made:
            found = {SPARK: list(spark.rows(shape, given.keep or Path(made), spark.MASTER, 2))}
        print(spark.HEAD + "\n".join(found[SPARK]))
        if not given.only_print:
            write(found, given.runs)
        return
    with ExitStack() as ending:
        folder = given.keep or Path(ending.enter_context(tempfile.TemporaryDirectory(prefix="sqlaudit_user")))
        folder.mkdir(parents=True, exist_ok=True)
        folder = folder.resolve()
        programs = installed(folder)
        drawn = folder / "_".join(map(str, astuple(sizes)))
        drawn.mkdir(exist_ok=True)
        made = tables(drawn, sizes, groups)
        url, serving = "", None
        if "postgres" in groups:
            url, serving = ending.enter_context(server(made["people.parquet"], sizes.served))
        found = {}
        measurable = lines(made, sizes, given.adult and given.adult.resolve(), url)
        if "cliffs" in groups:
            steep = cliffs.lines(drawn / "cliffs", cliffs.SMALL if given.small else cliffs.Sizes())
            measurable += [Line("cliffs", *line) for line in steep]
        for line in measurable:
            if line.group in groups:
                found.setdefault(line.group, []).append(measured(line, programs, folder, given.runs, serving))
                print(found[line.group][-1], flush=True)
    if not given.only_print:
        write(found, given.runs)


if __name__ == "__main__":
    main()
