"""The group `cliffs` of `python -m benchmarks.user`: commands that once took minutes, gigabytes, or more than a rival.

Each table is drawn by DuckDB from hashes of the row number and a seed, so the same rows come on every machine. Beside
an easy table stands the hard one of the same size.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import duckdb

from benchmarks import lattice, lattice_wide, persons, release, remedies, synthetic
from benchmarks.generate import people

Line = tuple[str, str, tuple[str, ...], "str | tuple[str, ...]", str]
"""The table with its seed, what is done, the command, what stands beside it (a program in Python or a command; empty =
nothing), its name."""

BARE = "import duckdb; duckdb.execute('''{} ''').fetchall()"
FLIGHTS = """
    SELECT 'N' || CAST(4043 * pow(hash(i, 1) % 1000000 / 1e6, 2) AS INTEGER) AS tailnum, hash(i, 2) % 3 AS origin,
        CAST(105 * pow(hash(i, 3) % 1000000 / 1e6, 2) AS INTEGER) AS dest, 1 + hash(i, 4) % 12 AS month
    FROM range({rows}) AS t(i)
"""
DAYS = """
    SELECT i // 10 AS who, CAST(floor(1000 * pow(hash(i, 1) % 1000003 / 1000003.0, 2)) AS INTEGER) AS place,
        DATE '2026-01-01' + CAST(hash(i, 2) % 365 AS INTEGER) AS day,
        CASE WHEN hash(i, 3) % 10 > 0 THEN CAST(hash(i, 4) % 12 AS INTEGER) END AS unit, 's' || hash(i, 5) % 14 AS ill
    FROM range({rows}) AS t(i)
"""
PERSONS = """
    SELECT hash(i) % ({rows} // 2) AS person, CAST(hash(i, 1) % 100 AS INTEGER) AS age,
        CAST(hash(i, 2) % 200 AS INTEGER) AS zip, CAST(hash(i, 3) % 2 AS INTEGER) AS sex, 'v' || hash(i, 4) % 14 AS s
    FROM range({rows}) AS t(i)
"""
MISSING = (2, 3, 5, 8, 12, 20, 4, 6, 10, 50, 3, 7, 15, 30)
"""How many values the columns have of which 15% are missing."""
WORDS = "patient was seen again for a cough and fever no change since last visit blood pressure stable will return"
NOTES = """
    SELECT CAST(15 + hash(i, 1) % 85 AS INTEGER) AS age, CASE WHEN hash(i, 2) % 2 = 0 THEN 'f' ELSE 'm' END AS sex,
        'd' || hash(i, 3) % 14 AS disease,
        left(array_to_string([words[CAST(1 + hash(i, turn) % 19 AS INTEGER)] FOR turn IN range(4, 60)], ' '), 205)
            AS note
    FROM range({rows}) AS t(i), (SELECT string_split('{words}', ' ') AS words)
"""
RELEASED = """
    SELECT i AS id, CAST(hash(i, 1) % 80 AS INTEGER) // {age} AS age, CAST(hash(i, 2) % 100 AS INTEGER) // {zip} AS zip,
        CAST(hash(i, 3) % 2 AS INTEGER) AS sex, 'd' || hash(i, 4) % 14 AS disease
    FROM range({rows}) AS t(i)
"""
BY_ROW = "hashes of row numbers"
"""The seed of tables whose values depend on the row number alone."""


@dataclass(frozen=True)
class Sizes:
    """Rows of the tables, and persons of events."""

    audited: int = 10_000_000
    persons: int = 1_000_000
    flights: int = 330_000
    missing: int = 100_000
    missing_of_eight: int = 1_000_000
    missing_of_sets: int = 100_000
    notes: int = 5_000_000
    synthetic: tuple[int, ...] = (1_000_000, 10_000_000)
    released: int = 1_000_000
    suppressed: int = 10_000
    recoded: tuple[int, ...] = (100_000, 1_000_000)
    lattice: int = 100_000
    larger_lattice: int = 1_000_000
    wide: int = 300_000
    packed: int = 5_000_000
    flat: int = 1_000_000


SMALL = Sizes(
    50_000, 2_000, 5_000, 1_000, 2_000, 500, 2_000, (2_000,), 3_000, 300, (1_000,), 1_000, 2_000, 2_000, 5_000, 1_000
)


def lines(folder: Path, sizes: Sizes) -> list[Line]:
    """Every line; tables that are not there yet are made in this folder."""
    folder.mkdir(exist_ok=True)
    return [
        *_missing(folder, sizes),
        *_texts(folder, sizes),
        *_classes(folder, sizes),
        *_events(folder, sizes),
        *_files(folder, sizes),
        *_column_sets(folder, sizes),
        *_lattices(folder, sizes),
        *_releases(folder, sizes),
        *_remedies(folder, sizes),
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
    """A program that groups a file and reads all counts: DuckDB does not compute what no one reads."""
    names = ", ".join(keys)
    return BARE.format(f"SELECT count(*), sum(c) FROM (SELECT {names}, {counts} AS c FROM '{table}' GROUP BY {names})")


def _missing(folder: Path, sizes: Sizes) -> list[Line]:
    found = []
    for rows, columns in ((sizes.missing, 10), (sizes.missing, 14), (sizes.missing_of_eight, 8)):
        table, names = _with_holes(folder, rows, columns)
        audit = ("audit", table, "--qi", ",".join(names), "--sensitive", "s")
        what = f"`audit` of {rows:,} rows × {columns} columns, 15% missing, `--nulls wildcard`"
        found.append(
            (f"holes, {BY_ROW}", what, (*audit, "--nulls", "wildcard"), audit, "the same with `--nulls equal`")
        )
    table, names = _with_holes(folder, sizes.missing_of_sets, 11)
    sets = ("columns", table, "--columns", ",".join(names))
    what = f"`columns` of {sizes.missing_of_sets:,} rows × 11 columns, 15% missing, `--nulls wildcard`"
    found.append((f"holes, {BY_ROW}", what, (*sets, "--nulls", "wildcard"), sets, "the same with `--nulls equal`"))
    return found


def _with_holes(folder: Path, rows: int, columns: int) -> tuple[str, list[str]]:
    """A table of columns of which 15% are missing, and their names."""
    values = list(enumerate(MISSING[:columns]))
    drawn = ", ".join(
        f"CASE WHEN hash(i, {place}, 1) % 100 >= 15 THEN CAST(hash(i, {place}) % {number} AS INTEGER) END AS c{place}"
        for place, number in values
    )
    holes = f"SELECT {drawn}, 's' || hash(i, 99) % 14 AS s FROM range({rows}) AS t(i)"
    path = folder / f"missing_{rows}_{columns}.parquet"
    return _made(path, partial(_drawn, holes)), [f"c{place}" for place, _ in values]


def _texts(folder: Path, sizes: Sizes) -> list[Line]:
    notes = _made(folder / "notes.parquet", partial(_drawn, NOTES.format(rows=sizes.notes, words=WORDS)))
    lengths = "sum(age), sum(length(sex)), sum(length(disease)), sum(length(note))"  # the file knows its largest values
    reading = BARE.format(f"SELECT {lengths} FROM '{notes}'"), "reading its columns"
    rows = f"{sizes.notes:,} rows with a text of 205 characters"
    safe_harbor = ("--preset", "hipaa-safe-harbor", "--qi", "age,sex")
    return [
        (f"notes, {BY_ROW}", f"`profile` of {rows}", ("profile", notes), *reading),
        (f"notes, {BY_ROW}", f"`--preset hipaa-safe-harbor` of {rows}", ("audit", notes, *safe_harbor), *reading),
    ]


def _classes(folder: Path, sizes: Sizes) -> list[Line]:
    drawn = _made(folder / "people.parquet", partial(people, sizes.audited))
    numbers = _made(
        folder / "numbers.parquet",
        partial(_drawn, f"SELECT * EXCLUDE (condition), CAST(substr(code, 6) AS INTEGER) AS number FROM '{drawn}'"),
    )
    ten = ", ".join(f"'v' || hash(age, zip, i, {place}) % {5 + place} AS s{place}" for place in range(10))
    several = _made(
        folder / "ten_sensitive.parquet",
        partial(_drawn, f"SELECT age, sex, zip, race, {ten} FROM (SELECT *, row_number() OVER () AS i FROM '{drawn}')"),
    )
    of_persons = _made(folder / "persons.parquet", partial(_drawn, PERSONS.format(rows=sizes.audited)))
    rows, keys = f"`audit` of {sizes.audited:,} rows", ("age", "sex", "zip", "race")
    bare, seven = "bare GROUP BY qi, s", "people, seed 7"
    audit, entity = ("audit", drawn, "--qi", ",".join(keys)), ("--qi", "age,zip,sex", "--entity", "person")
    many = (*keys, "education")
    sensitive = [f"s{place}" for place in range(10)]
    ten_groups = BARE.format(
        "SELECT "
        + ", ".join(
            f"(SELECT sum(c) FROM (SELECT {', '.join(keys)}, {name}, count(*) AS c FROM '{several}' GROUP BY ALL))"
            for name in sensitive
        )
    )
    return [
        (
            seven,
            f"{rows}, 200 whole numbers",
            ("audit", numbers, "--qi", ",".join(keys), "--sensitive", "number"),
            (*audit, "--sensitive", "code"),
            "the same of 200 texts",
        ),
        (
            seven,
            f"{rows} by five columns, 200 values",
            ("audit", drawn, "--qi", ",".join(many), "--sensitive", "code"),
            _grouped(drawn, (*many, "code")),
            bare,
        ),
        (
            f"ten attributes, {seven}",
            f"{rows}, ten sensitive columns",
            ("audit", several, "--qi", ",".join(keys), "--sensitive", ",".join(sensitive)),
            ten_groups,
            "the ten bare GROUP BY qi, s",
        ),
        (
            seven,
            f"{rows}, `--preset hipaa-safe-harbor`",
            (*audit, "--preset", "hipaa-safe-harbor"),
            _grouped(drawn, keys),
            "bare GROUP BY qi",
        ),
        (
            f"persons, {BY_ROW}",
            f"{rows} of people with two rows and more, `--entity`",
            ("audit", of_persons, *entity),
            _grouped(of_persons, ("age", "zip", "sex"), "count(DISTINCT person)"),
            "`COUNT(DISTINCT person)` by qi",
        ),
        (
            f"persons, {BY_ROW}",
            "the same with a sensitive column of 14 values",
            ("audit", of_persons, *entity, "--sensitive", "s"),
            _grouped(of_persons, ("age", "zip", "sex", "s"), "count(DISTINCT person)"),
            "`COUNT(DISTINCT person)` by qi, s",
        ),
    ]


def _events(folder: Path, sizes: Sizes) -> list[Line]:
    flights = _made(folder / "flights.parquet", partial(_drawn, FLIGHTS.format(rows=sizes.flights)))
    many, some = (
        _made(folder / f"visits_{number}.parquet", partial(_visits, number))
        for number in (sizes.persons, sizes.persons // 10)
    )
    days = _made(folder / "days.parquet", partial(_drawn, DAYS.format(rows=sizes.persons)))
    asked = ("persons", flights, "--entity", "tailnum", "--qi", "origin,dest,month", "--known", "1..2", "--random", "4")
    visits, events = ("--entity", "who", "--qi", "place,month"), ("who", "place", "month")
    further = (
        ("`--tolerance day=3d`", "place,day", ("--tolerance", "day=3d")),
        ("`--rho`", "place,day", ("--sensitive", "ill", "--rho")),
        ("10% missing, `--nulls wildcard`", "place,unit", ("--nulls", "wildcard")),
    )
    return [
        (
            f"flights, {BY_ROW}",
            f"`persons` of {sizes.flights:,} flights, `--known 1..2 --random 4`",
            asked,
            _grouped(flights, ("tailnum", "origin", "dest", "month")),
            "distinct events",
        ),
        *(
            (
                f"visits, {BY_ROW}",
                f"`persons`, {number:,} × 10 events, `{' '.join(known)}`",
                ("persons", table, *visits, *known),
                _grouped(table, events),
                "distinct events",
            )
            for number, table, known in (
                (sizes.persons, many, ("--random", "4")),
                (sizes.persons, many, ("--known", "1..3")),
                (sizes.persons // 10, some, ("--known", "1..3")),
            )
        ),
        *(
            (
                f"days, {BY_ROW}",
                f"`persons`, {sizes.persons // 10:,} × 10 events, {what}",
                ("persons", days, "--entity", "who", "--qi", keys, *options),
                _grouped(days, ("who", *keys.split(","))),
                "distinct events",
            )
            for what, keys, options in further
        ),
    ]


def _visits(number: int, path: Path) -> None:
    persons.make(path, number, 10, 1_000)


def _files(folder: Path, sizes: Sizes) -> list[Line]:
    found = []
    for name, rows, columns in (("wide.csv", sizes.wide, 100), ("packed.csv.gz", sizes.packed, 16)):
        drawn = ", ".join(f"hash(i, {place}) % {5 + place} AS c{place}" for place in range(columns))
        select = f"SELECT {drawn} FROM range({rows}) AS t(i)"
        table = _made(folder / name, partial(_drawn, select))
        found.append(
            (
                f"wide, {BY_ROW}",
                f"`audit` of 3 of {columns} columns of {rows:,} rows, {name.partition('.')[2]}",
                ("audit", table, "--qi", "c1,c2,c3"),
                _grouped(table, ("c1", "c2", "c3")),
                "bare GROUP BY qi",
            )
        )
    return found


def _column_sets(folder: Path, sizes: Sizes) -> list[Line]:
    drawn = ", ".join(f"CAST(hash(i, {place}) % {2 + place % 9} AS INTEGER) AS c{place}" for place in range(30))
    table = _made(folder / "flat.parquet", partial(_drawn, f"SELECT {drawn} FROM range({sizes.flat}) AS t(i)"))
    return [
        (f"flat, {BY_ROW}", f"`columns` of {sizes.flat:,} rows × 30 columns of few values", ("columns", table), "", "")
    ]


def _lattices(folder: Path, sizes: Sizes) -> list[Line]:
    k, percent = ("--require", "k=5"), ("--suppress", "1%")
    minute = ("--time-budget", "60s")
    diverse = (*k, "--require", "l=3", "--sensitive", "diagnosis")
    searches = (
        (sizes.lattice, 9, "", k),
        (sizes.lattice, 9, ", 1% suppressed", (*k, *percent)),
        (sizes.lattice, 12, "", k),
        (sizes.lattice, 15, "", k),
        (sizes.larger_lattice, 9, "", k),
        (sizes.larger_lattice, 9, ", 1% suppressed, at most a minute", (*k, *percent, *minute)),
        (sizes.larger_lattice, 9, ", k and l", diverse),
        (sizes.audited, 7, "", k),
        (sizes.audited, 9, "", k),
    )
    found = []
    for rows, columns, what, asked in searches:
        table, names, hierarchies = _skewed(folder, rows, columns)
        search = ("lattice", table, "--hierarchies", hierarchies, "--qi", ",".join(names), *asked)
        named = f"`lattice` of {rows:,} rows × {columns} columns{what}"
        found.append((f"skewed, {BY_ROW}", named, search, _grouped(table, names), "bare GROUP BY qi"))
        if rows == sizes.audited:
            found.append(_easy(folder, rows, columns, named))
    return found


def _skewed(folder: Path, rows: int, columns: int) -> tuple[str, list[str], str]:
    """The hard table: independent columns of which few values are frequent; its columns, and their hierarchies."""
    drawn = partial(lattice_wide.table, columns=columns, shape="skewed", rows=rows)
    names = list(lattice_wide.COLUMNS)[:columns]
    levels = {
        name: {"widths": widths} if widths else {"values": {str(value): ["*"] for value in range(values)}}
        for name, (values, widths) in list(lattice_wide.COLUMNS.items())[:columns]
    }
    hierarchies = folder / f"lattice_{columns}.json"
    hierarchies.write_text(json.dumps({"hierarchies": levels}))
    return _made(folder / f"lattice_{rows}_{columns}.parquet", drawn), names, str(hierarchies)


def _easy(folder: Path, rows: int, columns: int, what: str) -> Line:
    """The same search of the easy table: columns of few values, and high hierarchies."""
    with_rows = lattice.PEOPLE.replace("$rows", str(rows))
    table = _made(folder / f"easy_{rows}.parquet", partial(_drawn, with_rows))
    widths = dict(list(lattice.WIDTHS.items())[:columns])
    hierarchies = folder / f"easy_{columns}.json"
    hierarchies.write_text(
        json.dumps({"hierarchies": {name: {"widths": wide} for name, wide in widths.items() if wide}})
    )
    search = ("lattice", table, "--hierarchies", str(hierarchies), "--qi", ",".join(widths), "--require", "k=5")
    return (f"easy, {BY_ROW}", what, search, _grouped(table, list(widths)), "bare GROUP BY qi")


def _releases(folder: Path, sizes: Sizes) -> list[Line]:
    if not (folder / "release.parquet").exists():
        release.write(folder, sizes.released)
    hierarchies = folder / "release.json"
    hierarchies.write_text(json.dumps({"hierarchies": release.HIERARCHIES}))
    roles = ("--qi", ",".join(release.QI), "--sensitive", "disease", "--hierarchies", str(hierarchies), "--key", "id")
    compare = ("compare", str(folder / "original.parquet"), str(folder / "release.parquet"), *roles)
    first, second = (
        _made(folder / f"may_{age}.parquet", partial(_drawn, RELEASED.format(rows=sizes.released, age=age, zip=zip_)))
        for age, zip_ in ((10, 5), (5, 20))
    )
    of_people = ("releases", first, second, "--entity", "id", "--qi", "age,zip,sex", "--sensitive", "disease")
    return [
        *(_synthetic(folder, rows) for rows in sizes.synthetic),
        (
            "people of `benchmarks.release`, seed 0.5",
            f"`compare` of {sizes.released:,} rows",
            compare,
            (*compare, "--workload", "100"),
            "the same with `--workload 100`",
        ),
        (
            f"two releases, {BY_ROW}",
            f"`releases` of two of {sizes.released:,} rows",
            of_people,
            BARE.format(
                "SELECT count(*), sum(c) FROM (SELECT a.age, a.zip, a.sex, b.age, b.zip, count(*) AS c "
                f"FROM '{first}' AS a JOIN '{second}' AS b USING (id) GROUP BY ALL)"
            ),
            "joining them and one GROUP BY",
        ),
    ]


def _synthetic(folder: Path, rows: int) -> Line:
    database = _made(folder / f"synthetic_{rows}.duckdb", partial(synthetic.make, rows=rows))
    roles = ("--qi", ",".join(synthetic.KEYS), "--sensitive", ",".join(synthetic.TARGETS))
    grouped = " UNION ALL ".join(
        f"SELECT sum(c) FROM (SELECT {', '.join((*synthetic.KEYS, target))}, count(*) AS c FROM {table} GROUP BY ALL)"
        for table in ("original", "synthetic")
        for target in synthetic.TARGETS
    )
    program = f"import duckdb; duckdb.connect('{database}', read_only=True).execute('''{grouped}''').fetchall()"
    return (
        "people of `benchmarks.synthetic`, seeds 1 and 3",
        f"`compare --synthetic` of {rows:,} rows, nine columns",
        ("compare", "original", "synthetic", "--db", database, "--synthetic", *roles),
        program,
        "bare GROUP BY of both by qi, s",
    )


def _remedies(folder: Path, sizes: Sizes) -> list[Line]:
    few = _made(folder / "few.parquet", partial(people, sizes.suppressed))
    suppress = ("suppress", few, "--qi", "age,sex,race,education", "--require", "k=5")
    hierarchies = folder / "recode.json"
    hierarchies.write_text(json.dumps({"hierarchies": dict(remedies.HIERARCHIES)}))
    roles = ("--qi", ",".join(remedies.DOMAINS), "--sensitive", "disease", "--hierarchies", str(hierarchies))
    found: list[Line] = []
    for rows in sizes.recoded:
        table = _made(folder / f"recoded_{rows}.parquet", partial(_recoded, rows))
        recode = ("recode", table, *roles, "--require", "k=5")
        named = f"`recode` of {rows:,} rows in half as many classes"
        found.append(("people of `benchmarks.remedies`, seed 0", named, recode, "", ""))
    what, beside = f"`suppress` of {sizes.suppressed:,} rows", "the same with `--fast`"
    return [*found, ("people, seed 7", what, suppress, (*suppress, "--fast"), beside)]


def _recoded(rows: int, path: Path) -> None:
    with duckdb.connect() as connection:
        connection.register("drawn", remedies.people(rows // 2))
        connection.execute(f"COPY (SELECT * FROM drawn LIMIT {rows}) TO '{path}'")
