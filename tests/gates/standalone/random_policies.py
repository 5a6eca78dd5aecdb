"""Small random tables with NULLs, dates, texts and odd names, policies over them, and the same tables in warehouses."""

from __future__ import annotations

import datetime
import json
import sqlite3
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
KINDS = {"a": "INTEGER", ODD: "VARCHAR", "day": "DATE", "s": "INTEGER", "said": "VARCHAR", "person": "INTEGER"}
POOLS: Sequence[list[Any]] = (
    [1, 2, None],
    ["x", "X", "it's; --", 'a "b"', None],
    [datetime.date(2020, 2, 29), datetime.date(1999, 12, 31), None],
    [1, 2, 3, 7],
    ["flu", "cold", "it''s", "é", None],
    [1, 2, 3, 4, 5, 6, 7],
)
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
    """A table, and a policy of three entries over it in a DuckDB file beside it."""

    rows: Cells
    path: Path


def random_policy(seed: int, folder: Path) -> RandomPolicy:
    """The table and policy of a seed, written into a folder."""
    random = Random(seed)
    rows = [tuple(random.choice(pool) for pool in POOLS) for _ in range(random.choice((1, 5, 12, 30)))]
    path = folder / "sqlaudit.yml"
    policy = {"version": "1", "connections": {"main": {"duckdb": "odd.duckdb"}}, "tables": _entries(random)}
    path.write_text(json.dumps(policy), encoding="utf-8")  # which is YAML, too
    with duckdb.connect(str(folder / "odd.duckdb")) as connection:
        connection.execute(_created("duckdb", KINDS))
        connection.executemany(f"INSERT INTO visits VALUES ({', '.join('?' for _ in KINDS)})", rows)
    return RandomPolicy(rows, path)


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
