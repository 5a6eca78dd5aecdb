"""Small random tables with NULLs, dates, texts and odd names, policies over them, and the same tables in warehouses."""

from __future__ import annotations

import datetime
import json
import re
import sqlite3
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import duckdb

from sqlaudit.base.names import quote
from tests.gates.standalone.answering import Execute

Cells = list[tuple[Any, ...]]
ODD = 'it\'s "b"'
KINDS = {"a": "INTEGER", ODD: "VARCHAR", "day": "DATE", "s": "INTEGER", "said": "VARCHAR", "person": "VARCHAR"}
POOLS: Sequence[list[Any]] = (
    [1, 2, None],
    ["x", "X", "it's; --", 'a "b"', None],
    [datetime.date(2020, 2, 29), datetime.date(1999, 12, 31), None],
    [1, 2, 3, 7],
    ["flu", "cold", "it''s", "hip", None],
    ["P1", "P2", "P3", "P4", "P5", "P6", "P7"],
)
SAID: Sequence[list[Any]] = (
    ["flu", "naïve", "Ärzte", "hip", None],
    ["flu", "FLU\t", "e\u0301", "é", None],
    ["straße", "STRASSE", "hip", "", None],
    ["ｆｌｕ", "flu", "hip  op", "hip op", "cold"],
    ["f\u200blu", "flu", "cold", "hip", "\u00a0hip"],
    ["flu", "cold", "\u0418\u0306ogi", "йogi", None],
)
PERSONS: Sequence[list[Any]] = (
    ["Zoë", "Ana", "P3", "P4", "P5", "P6", "P7"],
    ["P1", "p1 ", "P3", "P4", "P5", "P6", "P7"],
    ["José", "Jose\u0301", "P3", "P4", "P5", "P6", "P7"],
    ["P\ufe0f1", "P1", "P\x012", "P2", "P5", "P6", "P7"],
    ["Ｐ1", "P2", "P3", "P\n4", "P\r4", "P6", "P7"],
)
"""What may be one person, or one value, to a reader: as many as in the pools of names that no one mistakes."""
LIMITS = (
    "k=2",
    "k=4",
    "l=2",
    "alpha=alpha:0.55,k:2",
    "entropy_l=1.7",
    "recursive_l=c:1.5,l:2",
    "t=0.35",
    "beta=1.1",
    "enhanced_beta=0.9",
    "delta=1.03",
    "disclosure@0=0.7",
    "disclosure@1=0.9",
    "prosecutor_risk=0.4",
    "average_risk=0.35",
    "rows_at_risk=0.2",
    "sample_uniqueness=0.1",
)


@dataclass(frozen=True)
class RandomPolicy:
    """A table, and a policy of three entries over it in a DuckDB file beside it.

    Args:
        plain: the same policy over the same table, in which who or what is one has one name that no one mistakes.
    """

    rows: Cells
    path: Path
    plain: Path


def random_policy(seed: int, folder: Path, values: str | None = "") -> RandomPolicy:
    """The table and policy of a seed, written into a folder.

    Args:
        values: where names of several spellings are drawn, what the policy says that their values are, None = nothing.
    """
    random = Random(seed)
    spelled = values != ""
    pools = (*POOLS[:4], SAID[seed % len(SAID)], PERSONS[seed // 2 % len(PERSONS)]) if spelled else POOLS
    rows = [tuple(random.choice(pool) for pool in pools) for _ in range(random.choice((1, 5, 12, 30)))]
    entries = _entries(random)
    plain = _written(folder / "plain.yml", "plain.duckdb", entries, _plain(rows, values == "fold"))
    said = [{**one, **({"values": values} if values else {})} for one in entries]
    return RandomPolicy(rows, _written(folder / "sqlaudit.yml", "odd.duckdb", said, rows), plain)


def _written(path: Path, database: str, entries: list[dict[str, Any]], rows: Cells) -> Path:
    policy = {"version": "1", "connections": {"main": {"duckdb": database}}, "tables": entries}
    path.write_text(json.dumps(policy), encoding="utf-8")  # which is YAML, too
    with duckdb.connect(str(path.parent / database)) as connection:
        connection.execute(_created("duckdb", KINDS))
        connection.executemany(f"INSERT INTO visits VALUES ({', '.join('?' for _ in KINDS)})", rows)
    return path


def _plain(rows: Cells, fold: bool) -> Cells:
    """Rows whose persons and values are numbered as they are told apart; an empty value is missing where all fold."""
    read = [(*row[:4], (row[4] and folded(row[4])) or None, folded(row[5])) if fold else row for row in rows]
    numbers = {value: f"v{place}" for place, value in enumerate(dict.fromkeys(v for row in read for v in row[4:]))}
    return [(*row[:4], *(None if value is None else numbers[value] for value in row[4:])) for row in read]


def folded(text: str) -> str:
    """A text as a reader takes it."""
    seen = [one for one in text if one.isspace() or (not unicodedata.category(one).startswith("C") and one != "\ufe0f")]
    return " ".join(unicodedata.normalize("NFKC", "".join(seen)).casefold().split())


def unclear(rows: Cells, dialect: str, values: str | None) -> set[str]:
    """The columns of which a statement in a dialect cannot say what is one value."""
    found = set()
    for place, name in ((4, "said"), (5, "person")):
        texts = {row[place] for row in rows}
        read = {(text and folded(text)) or None for text in texts}
        known = "".join(one for one in read if one)
        beyond = {"duckdb": r"[\uff01-\uffef]", "spark": r"[\u0300-\u036f\uff01-\uffef]", "clickhouse": "(?!)"}
        pattern = beyond.get(dialect, "(?!)" if dialect == "postgres" else r"[^ -~\t\n\r]")
        if values != "exact" and (re.search(pattern, "".join(one for one in texts if one)) or not known.isprintable()):
            found.add(name)
        if values is None and len(read) < len(texts):
            found.add(name)
    return found


def _entries(random: Random) -> list[dict[str, Any]]:
    odd = quote(ODD, "duckdb")
    roles = {"table": "visits", "quasi_identifiers": random.sample(["a", odd, "day"], random.choice((1, 2, 3)))}
    limits = random.sample(LIMITS, 5)
    ordered = {"t_ordered": "0.3", "sensitive": ["s"]}
    persons = [one for one in limits if one.partition("=")[0] in ("k", "l", "t", "entropy_l")]
    return [
        {**roles, "name": "rows", "sensitive": ["s", "said"], "requirements": [*limits, ordered]},
        {**roles, "name": "persons", "entity": "person", "sensitive": ["said"], "requirements": ["k=2", *persons]},
        {**roles, "name": "apart", "nulls": "distinct", "where": "a > 1 OR s < 3", "requirements": ["k=2", "k=3"]},
    ]


def _created(dialect: str, kinds: Mapping[str, str], more: str = "") -> str:
    listed = ", ".join(f"{quote(name, dialect)} {kind}" for name, kind in kinds.items())
    return f"CREATE TABLE visits ({listed}){more}"


def in_sqlite(rows: Cells) -> Execute:
    """The table in SQLite; dates are texts there."""
    connection = sqlite3.connect(":memory:")
    connection.execute(_created("sqlite", KINDS))
    marks = ", ".join("?" for _ in KINDS)
    texts = [[one.isoformat() if isinstance(one, datetime.date) else one for one in row] for row in rows]
    connection.executemany(f"INSERT INTO visits VALUES ({marks})", texts)

    def execute(sql: str) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        found = connection.execute(sql)
        return [column[0] for column in found.description], found.fetchall()

    return execute


def in_postgres(rows: Cells, connection: Any) -> Execute:
    """The table in PostgreSQL, over a connection of psycopg that writes at once."""
    connection.execute("DROP TABLE IF EXISTS visits")
    connection.execute(_created("postgres", KINDS).replace("CREATE", "CREATE TEMPORARY", 1))
    marks = ", ".join("%s" for _ in KINDS)
    connection.cursor().executemany(f"INSERT INTO visits VALUES ({marks})", rows)

    def execute(sql: str) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        found = connection.execute(sql)
        return [column.name for column in found.description], found.fetchall()

    return execute


def in_mariadb(rows: Cells, connection: Any) -> Execute:
    """The table in MariaDB, over a connection of PyMySQL; texts are compared by their bytes, as elsewhere."""
    cursor = connection.cursor()
    types = {"INTEGER": "INTEGER", "DATE": "DATE", "VARCHAR": "VARCHAR(40)"}
    cursor.execute("DROP TABLE IF EXISTS visits")
    kinds = {name: types[kind] for name, kind in KINDS.items()}
    cursor.execute(_created("mysql", kinds, " CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin"))
    cursor.executemany(f"INSERT INTO visits VALUES ({', '.join('%s' for _ in KINDS)})", rows)

    def execute(sql: str) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        cursor.execute(sql)
        return [column[0] for column in cursor.description], cursor.fetchall()

    return execute


def in_spark(rows: Cells, session: Any) -> Execute:
    """The table as a view of a Spark session."""
    types = {"INTEGER": "INT", "VARCHAR": "STRING", "DATE": "DATE"}
    described = ", ".join(f"{quote(name, 'spark')} {types[kind]}" for name, kind in KINDS.items())
    session.createDataFrame(rows, described).createOrReplaceTempView("visits")

    def execute(sql: str) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        found = session.sql(sql)
        return found.columns, [tuple(row) for row in found.collect()]

    return execute


def in_clickhouse(rows: Cells, session: Any) -> Execute:
    """The table in a session of chdb, which is ClickHouse in this process."""
    types = {"INTEGER": "Nullable(Int32)", "VARCHAR": "Nullable(String)", "DATE": "Nullable(Date32)"}
    session.query("DROP TABLE IF EXISTS visits")
    session.query(_created("clickhouse", {name: types[kind] for name, kind in KINDS.items()}, " ENGINE = Memory"))
    lines = [json.dumps(dict(zip(KINDS, row, strict=True)), default=str) for row in rows]
    session.query("INSERT INTO visits FORMAT JSONEachRow\n" + "\n".join(lines))

    def execute(sql: str) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        found = json.loads(session.query(sql, "JSON").bytes())
        names = [column["name"] for column in found["meta"]]
        return names, [[row[name] for name in names] for row in found["data"]]

    return execute


def in_snowflake(rows: Cells, connection: Any) -> Execute:
    """The table in Snowflake, or what stands for it, over a connection of its connector."""
    cursor = connection.cursor()
    types = {"INTEGER": "INT", "VARCHAR": "VARCHAR", "DATE": "DATE"}
    described = ", ".join(f"{quote(name, 'snowflake')} {types[kind]}" for name, kind in KINDS.items())
    cursor.execute(f"CREATE OR REPLACE TABLE visits ({described})")
    for row in rows:
        cursor.execute(f"INSERT INTO visits VALUES ({', '.join('%s' for _ in KINDS)})", row)

    def execute(sql: str) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        cursor.execute(sql)
        return [column[0] for column in cursor.description], cursor.fetchall()

    return execute
