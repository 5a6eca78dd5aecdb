"""The group `cliffs` of `python -m benchmarks.user`: commands that once took minutes, gigabytes, or more than a rival.

Each table is drawn by DuckDB from hashes of the row number, so the same rows come on every machine.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import duckdb

from benchmarks import lattice_wide, persons, release
from benchmarks.generate import people

Line = tuple[str, tuple[str, ...], "str | tuple[str, ...]", str]
"""What is done, the command, what stands beside it (a program in Python or a command; empty = nothing), its name."""

BARE = "import duckdb; duckdb.execute('''{}''').fetchall()"
FLIGHTS = """
    SELECT 'N' || CAST(4043 * pow(hash(i, 1) % 1000000 / 1e6, 2) AS INTEGER) AS tailnum, hash(i, 2) % 3 AS origin,
        CAST(105 * pow(hash(i, 3) % 1000000 / 1e6, 2) AS INTEGER) AS dest, 1 + hash(i, 4) % 12 AS month
    FROM range({rows}) AS t(i)
"""
PERSONS = """
    SELECT hash(i) % ({rows} // 2) AS person, CAST(hash(i, 1) % 100 AS INTEGER) AS age,
        CAST(hash(i, 2) % 200 AS INTEGER) AS zip, CAST(hash(i, 3) % 2 AS INTEGER) AS sex, 'v' || hash(i, 4) % 14 AS s
    FROM range({rows}) AS t(i)
"""
MISSING = (2, 3, 5, 8, 12, 20, 4, 6, 10, 50)
"""How many values the columns have of which 15% are missing."""


@dataclass(frozen=True)
class Sizes:
    """Rows of the tables."""

    audited: int = 10_000_000
    persons: int = 1_000_000
    flights: int = 330_000
    missing: int = 100_000
    released: int = 1_000_000
    suppressed: int = 10_000
    lattice: int = 100_000
    wide: int = 300_000
    packed: int = 5_000_000


SMALL = Sizes(50_000, 2_000, 5_000, 1_000, 3_000, 300, 1_000, 2_000, 5_000)


def lines(folder: Path, sizes: Sizes) -> list[Line]:
    """Every line; tables that are not there yet are made in this folder."""
    folder.mkdir(exist_ok=True)
    return [
        *_events(folder, sizes),
        *_classes(folder, sizes),
        *_files(folder, sizes),
        *_lattices(folder, sizes),
        *_releases(folder, sizes),
    ]


def _made(path: Path, make: Callable[[Path], object]) -> str:
    """The path of a table, made where it is not there; a run that is stopped leaves no half of it."""
    if not path.exists():
        part = path.with_name(f"part_{path.name}")
        make(part)
        part.rename(path)
    return str(path)


def _drawn(select: str, path: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({select}) TO '{path}'")


def _grouped(table: str, keys: Sequence[str], counts: str = "count(*)") -> str:
    """A program that groups a file and reads how many groups there are."""
    names = ", ".join(keys)
    return BARE.format(f"SELECT count(*) FROM (SELECT {names}, {counts} FROM '{table}' GROUP BY {names})")


def _events(folder: Path, sizes: Sizes) -> list[Line]:
    flights = _made(folder / "flights.parquet", partial(_drawn, FLIGHTS.format(rows=sizes.flights)))
    many, some = (
        _made(folder / f"visits_{persons_}.parquet", partial(_visits, persons_))
        for persons_ in (sizes.persons, sizes.persons // 10)
    )
    asked = ("persons", flights, "--entity", "tailnum", "--qi", "origin,dest,month", "--known", "1..2", "--random", "4")
    visits = ("--entity", "who", "--qi", "place,month")
    return [
        (
            f"`persons` of {sizes.flights:,} flights, `--known 1..2 --random 4`",
            asked,
            _grouped(flights, ("tailnum", "origin", "dest", "month")),
            "distinct events",
        ),
        (
            f"`persons`, {sizes.persons:,} × 10 events, `--random 4`",
            ("persons", many, *visits, "--random", "4"),
            _grouped(many, ("who", "place", "month")),
            "distinct events",
        ),
        (
            f"`persons`, {sizes.persons // 10:,} × 10 events, `--known 1..3`",
            ("persons", some, *visits, "--known", "1..3"),
            _grouped(some, ("who", "place", "month")),
            "distinct events",
        ),
    ]


def _visits(number: int, path: Path) -> None:
    persons.make(path, number, 10, 1_000)


def _classes(folder: Path, sizes: Sizes) -> list[Line]:
    columns = ", ".join(
        f"CASE WHEN hash(i, {place}, 1) % 100 >= 15 THEN CAST(hash(i, {place}) % {values} AS INTEGER) END AS c{place}"
        for place, values in enumerate(MISSING)
    )
    holes = f"SELECT {columns}, 's' || hash(i, 99) % 14 AS s FROM range({sizes.missing}) AS t(i)"
    missing = _made(folder / "missing.parquet", partial(_drawn, holes))
    drawn = _made(folder / "people.parquet", partial(people, sizes.audited))
    numbers = _made(
        folder / "numbers.parquet",
        partial(_drawn, f"SELECT * EXCLUDE (condition), CAST(substr(code, 6) AS INTEGER) AS number FROM '{drawn}'"),
    )
    of_persons = _made(folder / "persons.parquet", partial(_drawn, PERSONS.format(rows=sizes.audited)))
    wildcard = ("audit", missing, "--qi", ",".join(f"c{place}" for place in range(len(MISSING))), "--sensitive", "s")
    audit = ("audit", numbers, "--qi", "age,sex,zip,race", "--sensitive")
    return [
        (
            f"`audit` of {sizes.missing:,} rows × {len(MISSING)} columns, 15% missing, `--nulls wildcard`",
            (*wildcard, "--nulls", "wildcard"),
            wildcard,
            "the same with `--nulls equal`",
        ),
        (
            f"`audit` of {sizes.audited:,} rows, 200 whole numbers",
            (*audit, "number"),
            (*audit, "code"),
            "the same of 200 texts",
        ),
        (
            f"`audit` of {sizes.audited:,} rows of {sizes.audited // 2:,} people, `--entity`",
            ("audit", of_persons, "--qi", "age,zip,sex", "--entity", "person"),
            _grouped(of_persons, ("age", "zip", "sex"), "count(DISTINCT person)"),
            "`COUNT(DISTINCT person)` by qi",
        ),
    ]


def _files(folder: Path, sizes: Sizes) -> list[Line]:
    found = []
    for name, rows, columns in (("wide.csv", sizes.wide, 100), ("packed.csv.gz", sizes.packed, 16)):
        drawn = ", ".join(f"hash(i, {place}) % {5 + place} AS c{place}" for place in range(columns))
        select = f"SELECT {drawn} FROM range({rows}) AS t(i)"
        table = _made(folder / name, partial(_drawn, select))
        found.append(
            (
                f"`audit` of 3 of {columns} columns of {rows:,} rows, {name.partition('.')[2]}",
                ("audit", table, "--qi", "c1,c2,c3"),
                _grouped(table, ("c1", "c2", "c3")),
                "bare GROUP BY qi",
            )
        )
    return found


def _lattices(folder: Path, sizes: Sizes) -> list[Line]:
    found = []
    for rows, columns in ((sizes.lattice, 9), (sizes.lattice, 12), (sizes.lattice, 15), (sizes.audited, 9)):
        drawn = partial(lattice_wide.table, columns=columns, shape="skewed", rows=rows)
        table = _made(folder / f"lattice_{rows}_{columns}.parquet", drawn)
        names = list(lattice_wide.COLUMNS)[:columns]
        levels = {
            name: {"widths": widths} if widths else {"values": {str(value): ["*"] for value in range(values)}}
            for name, (values, widths) in list(lattice_wide.COLUMNS.items())[:columns]
        }
        hierarchies = folder / f"lattice_{columns}.json"
        hierarchies.write_text(json.dumps({"hierarchies": levels}))
        command = ("lattice", table, "--hierarchies", str(hierarchies), "--qi", ",".join(names), "--require", "k=5")
        what = f"`lattice` of {rows:,} rows × {columns} columns"
        found.append((what, command, _grouped(table, names), "bare GROUP BY qi"))
    return found


def _releases(folder: Path, sizes: Sizes) -> list[Line]:
    if not (folder / "release.parquet").exists():
        release.write(folder, sizes.released)
    hierarchies = folder / "release.json"
    hierarchies.write_text(json.dumps({"hierarchies": release.HIERARCHIES}))
    few = _made(folder / "few.parquet", partial(people, sizes.suppressed))
    roles = ("--qi", ",".join(release.QI), "--sensitive", "disease", "--hierarchies", str(hierarchies), "--key", "id")
    compare = ("compare", str(folder / "original.parquet"), str(folder / "release.parquet"), *roles)
    suppress = ("suppress", few, "--qi", "age,sex,race,education", "--require", "k=5")
    return [
        (
            f"`compare` of {sizes.released:,} rows",
            compare,
            (*compare, "--workload", "100"),
            "the same with `--workload 100`",
        ),
        (f"`suppress` of {sizes.suppressed:,} rows", suppress, (*suppress, "--fast"), "the same with `--fast`"),
    ]
