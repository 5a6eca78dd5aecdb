"""Tables drawn at random, written as files or loaded into databases, and what their raw bytes say of their classes.

The oracle never asks a database: it knows the texts that were written, and says how many rows share each combination
when numbers are compared by value, without rounding, and everything else letter by letter.
"""

from __future__ import annotations

import csv
import gzip
import json
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation, localcontext
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

NAMES = (
    "zip",
    "a b",
    "Zip Code",
    "é😀",
    'sa"y',
    "o'clock",
    "select",
    "n",
    "class",
    "row",
    "value",
    "rows",
    "key",
    "q0",
    "sqlaudit_raw_0",
    "x;y",
    "=1",
    "NULL",
    "1st",
    "a.b",
)
NUMBERS = (
    "1",
    "2",
    "01",
    "1.0",
    "1e3",
    "1000",
    "-0",
    "0",
    "52.1234567890123456",
    "52.1234567890123457",
    "9007199254740992",
    "9007199254740993",
    "18446744073709551616",
    "18446744073709551617",
    "170141183460469231731687303715884105728",
    "170141183460469231731687303715884105729",
    "1234567890123456789012345678901234567890",
    "1234567890123456789012345678901234567891",
    "0.1",
    "0.10",
    "0.1000000000000000000000000001",
    "1e400",
    "1e401",
    "1E-400",
    "3.0000000000000001",
    "3",
)
TEXTS = (
    "a",
    "A",
    "b",
    " a",
    "a ",
    "é",
    "é",
    "ß",
    "ss",
    "x,y",
    'x"y',
    "x;y",
    "2020-01-01",
    "2020-01-01 00:00:00",
    "true",
    "TRUE",
    "yes",
    "inf",
    "NaN",
    "1_000",
    "0x10",
    "10",
    "8",
    "12:00",
    "12:00:00",
    "NULL",
    "null",
    "\\N",
    "😀",
    "a\tb",
    "--",
    "#1",
)
FORMS = (
    "csv",
    "csv;",
    "tsv",
    "csv.gz",
    "ndjson",
    "parquet",
    "hive csv",
    "hive ndjson",
    "hive parquet",
    "duckdb",
    "shadowed duckdb",
)


@dataclass(frozen=True)
class Drawn:
    """A table of texts: `None` is a missing value."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    form: str
    k: int
    shadows: tuple[str, ...]


@st.composite
def tables(draw: st.DrawFn, forms: Sequence[str] = FORMS) -> Drawn:
    """Few rows of one to three quasi-identifiers, in which values that are nearly equal stand beside each other."""
    form = draw(st.sampled_from(forms))
    columns = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique_by=str.casefold))
    pools = []
    for _ in columns:
        pool = draw(st.sampled_from((NUMBERS, TEXTS, NUMBERS + TEXTS)))
        pools.append(draw(st.lists(st.sampled_from(pool), min_size=1, max_size=3, unique=True)))
    several = [tuple(draw(st.sampled_from([*pool, None])) for pool in pools) for _ in range(draw(st.integers(1, 4)))]
    rows = [row for row in several for _ in range(draw(st.integers(1, 4))) if any(cell is not None for cell in row)]
    if not rows:
        rows = [tuple(pool[0] for pool in pools)]
    shadows = draw(st.lists(st.sampled_from(sorted(MACROS)), max_size=3, unique=True))
    return Drawn(tuple(columns), tuple(rows), form, draw(st.integers(1, 4)), tuple(shadows))


PERSONS = ("p1", "zoé", "straße", "anna b", "müller-lüdenscheid")
"""Folded names of people: no two of them are one person."""
SPELLED = (
    str,
    str.upper,
    str.title,
    lambda name: unicodedata.normalize("NFD", name),
    lambda name: name.replace("ß", "ss"),
    lambda name: name.replace(" ", "  ").replace("1", "１"),
    lambda name: f" {name}\t",
    lambda name: f"{name[0]}\u200b{name[1:]}",
    lambda name: f"{name}\ufe0f\U000e0041",
    lambda name: f"\u2066{name}\u2069\x7f",
    lambda name: f"{name}\u2028\x85",
)
"""Ways to write a name that a reader takes for one."""


@st.composite
def spelled_people(draw: st.DrawFn) -> tuple[list[dict[str, str]], int]:
    """Rows (class, who) in which people are named in several ways, and the fewest people of a class."""
    person = st.tuples(st.sampled_from("xy"), st.integers(0, len(PERSONS) - 1), st.sampled_from(SPELLED))
    drawn = draw(st.lists(person, min_size=1, max_size=8))
    rows = [{"class": one, "who": spell(PERSONS[place])} for one, place, spell in drawn]
    return rows, min(len({place for one, place, _ in drawn if one == name}) for name in {one for one, *_ in drawn})


MACROS = {
    "abs": "(x) AS 0",
    "floor": "(x) AS 0",
    "min": "(x) AS 1000",
    "max": "(x) AS 0",
    "count": "(x) AS 1000",
    "sum": "(x) AS 1000",
    "coalesce": "(x, y) AS 1000",
    "hash": "(x) AS 0",
    "greatest": "(x, y) AS 1000",
    "least": "(x, y) AS 1000",
    "any_value": "(x) AS 1000",
    "list": "(x) AS [1000]",
    "nullif": "(x, y) AS NULL",
    "round": "(x) AS 0",
    "ln": "(x) AS 0",
    "bool_or": "(x) AS FALSE",
}


def write(table: Drawn, folder: Path) -> tuple[str, str | None]:
    """The table in the form that was drawn.

    Returns:
        What to audit, and the database it lies in (None: it is a file).
    """
    if table.form.endswith("duckdb"):
        return "people", _database(table, folder)
    hive, _, kind = table.form.rpartition(" ")
    if hive:
        folder = folder / f"{table.columns[0].replace('/', '_')}=1"
        folder.mkdir()
    file = folder / f"people.{kind.rstrip(';')}"
    _WRITERS[kind](table, file)
    return str(file), None


def _csv(table: Drawn, file: Path, separator: str = ",") -> None:
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, delimiter=separator)
        writer.writerow(table.columns)
        writer.writerows([["" if cell is None else cell for cell in row] for row in table.rows])


def _gz(table: Drawn, file: Path) -> None:
    _csv(table, file.with_suffix(""))
    file.write_bytes(gzip.compress(file.with_suffix("").read_bytes()))


def _ndjson(table: Drawn, file: Path) -> None:
    """Numbers stand as JSON's numbers, where JSON spells them so."""
    lines = []
    for row in table.rows:
        cells = (f"{json.dumps(name)}: {_json_cell(cell)}" for name, cell in zip(table.columns, row, strict=True))
        lines.append("{" + ", ".join(cells) + "}\n")
    file.write_text("".join(lines), encoding="utf-8")


def _json_cell(cell: str | None) -> str:
    if cell is None:
        return "null"
    if is_number(cell) and not (cell.lstrip("-").startswith("0") and cell.lstrip("-")[1:2].isdigit()):
        return cell
    return json.dumps(cell)


def _parquet(table: Drawn, file: Path) -> None:
    columns = {name: pa.array([row[i] for row in table.rows], pa.string()) for i, name in enumerate(table.columns)}
    pq.write_table(pa.table(columns), file)


_WRITERS = {
    "csv": _csv,
    "csv;": lambda table, file: _csv(table, file, ";"),
    "tsv": lambda table, file: _csv(table, file, "\t"),
    "csv.gz": _gz,
    "ndjson": _ndjson,
    "parquet": _parquet,
}


def _database(table: Drawn, folder: Path) -> str:
    file = folder / "clinic.duckdb"
    with duckdb.connect(str(file)) as connection:
        names = ", ".join('"' + name.replace('"', '""') + '" VARCHAR' for name in table.columns)
        connection.execute(f"CREATE TABLE people ({names})")
        marks = ", ".join("?" for _ in table.columns)
        connection.executemany(f"INSERT INTO people VALUES ({marks})", [list(row) for row in table.rows])
        if table.form.startswith("shadowed"):
            for name in table.shadows:
                connection.execute(f"CREATE MACRO {name}{MACROS[name]}")
    return str(file)


def is_number(text: str) -> bool:
    """Whether the text is a number as CSV and JSON write them."""
    try:
        return text.isascii() and "_" not in text and text == text.strip() and Decimal(text).is_finite()
    except InvalidOperation:
        return False


def smallest_class(table: Drawn, as_texts: bool = False) -> int:
    """How many rows share the rarest combination, when nothing is rounded: NULLs are a value, as for GROUP BY.

    Args:
        as_texts: whether numbers are compared letter by letter, too.
    """
    numeric = [
        not as_texts
        and table.form not in ("parquet", "hive parquet", "duckdb", "shadowed duckdb", "postgres")
        and all(row[i] is None or is_number(str(row[i])) for row in table.rows)
        for i in range(len(table.columns))
    ]
    keys = Counter(
        tuple(_exact(cell) if number else cell for cell, number in zip(row, numeric, strict=True)) for row in table.rows
    )
    return min(keys.values())


def _exact(cell: str | None) -> Decimal | None:
    with localcontext(prec=2000):
        return None if cell is None else Decimal(cell).normalize()


LIES = (
    "CREATE OPERATOR {s}.= (LEFTARG = text, RIGHTARG = text, FUNCTION = {s}.same)",
    "CREATE OPERATOR {s}.= (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = {s}.alike)",
    "CREATE OPERATOR {s}.< (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = {s}.less)",
    "CREATE OPERATOR {s}.+ (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = {s}.more)",
    "CREATE FUNCTION {s}.lower(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT ''a''::text'",
    "CREATE FUNCTION {s}.floor(numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT 0::numeric'",
    "CREATE FUNCTION {s}.abs(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 0::bigint'",
    "CREATE AGGREGATE {s}.count(*) (SFUNC = {s}.counted, STYPE = bigint, INITCOND = '1000')",
    "CREATE AGGREGATE {s}.min(bigint) (SFUNC = {s}.kept, STYPE = bigint, INITCOND = '1000')",
    "CREATE AGGREGATE {s}.sum(bigint) (SFUNC = {s}.kept, STYPE = bigint, INITCOND = '1000')",
    "CREATE AGGREGATE {s}.max(bigint) (SFUNC = {s}.kept, STYPE = bigint, INITCOND = '0')",
)
"""What somebody with a schema of their own may put before the built-in functions of PostgreSQL."""
NEEDED = (
    "CREATE FUNCTION {s}.same(text, text) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true'",
    "CREATE FUNCTION {s}.alike(varchar, varchar) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true'",
    "CREATE FUNCTION {s}.less(bigint, bigint) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT false'",
    "CREATE FUNCTION {s}.more(bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 1000::bigint'",
    "CREATE FUNCTION {s}.counted(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 1000::bigint'",
    "CREATE FUNCTION {s}.kept(bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT $1'",
)


def lies(schema: str, chosen: Sequence[str]) -> str:
    """SQL that makes a schema anew that holds these lies."""
    made = [
        f"DROP SCHEMA IF EXISTS {schema} CASCADE",
        f"CREATE SCHEMA {schema}",
        f"GRANT USAGE ON SCHEMA {schema} TO auditor",
    ]
    return ";\n".join([*made, *(text.format(s=schema) for text in (*NEEDED, *chosen))])
