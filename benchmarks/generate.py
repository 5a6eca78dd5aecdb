"""A person-like table for the benchmarks: five quasi-identifiers, sensitive attributes of 14 and of 200 values.

    python benchmarks/generate.py 10000000 people.parquet

The columns are drawn by DuckDB from hashes of the row number and a seed, so the same arguments give the same table on
every machine. The quasi-identifiers below give about 2.1 million, 5.9 million and 9,500 classes at 10 million rows.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import duckdb

QUASI_IDENTIFIERS = {
    "few classes": ("age", "sex", "race", "education"),
    "many classes": ("age", "sex", "zip", "race"),
    "very many classes": ("age", "sex", "zip", "race", "education"),
}
SENSITIVE = ("condition", "code")

SELECT = """
SELECT
    CAST(15 + hash(i, $seed, 1) % 85 AS INTEGER) AS age,
    CASE WHEN hash(i, $seed, 2) % 2 = 0 THEN 'female' ELSE 'male' END AS sex,
    CAST(10000 + 2000 * pow((hash(i, $seed, 3) % 1000000) / 1e6, 3) AS INTEGER) AS zip,
    CAST(hash(i, $seed, 4) % 7 AS INTEGER) AS race,
    CAST(hash(i, $seed, 5) % 16 AS INTEGER) AS education,
    'condition ' || CAST(14 * pow((hash(i, $seed, 6) % 1000000) / 1e6, 2) AS INTEGER) % 14 AS condition,
    'code ' || CAST(200 * pow((hash(i, $seed, 7) % 1000000) / 1e6, 2) AS INTEGER) % 200 AS code
FROM range($rows) AS numbers(i)
"""


VISITS = """
SELECT
    CAST(hash(i, $seed, 1) % ($rows // 2) AS INTEGER) AS person,
    CAST(15 + hash(i, $seed, 2) % 85 AS INTEGER) AS age,
    CASE WHEN hash(i, $seed, 3) % 2 = 0 THEN 'female' ELSE 'male' END AS sex,
    'region ' || CAST(20 * pow((hash(i, $seed, 4) % 1000000) / 1e6, 3) AS INTEGER) AS region,
    CAST(2019 + hash(i, $seed, 5) % 5 AS INTEGER) AS year,
    CAST(20 * exp(4 * (hash(i, $seed, 6) % 1000000) / 1e6) AS INTEGER) AS cost
FROM range($rows) AS numbers(i)
"""
"""Visits of people: 43 people for each 100 rows, so 4.3 million at 10 million rows."""


def people(rows: int, path: Path, seed: int = 7, select: str = SELECT) -> None:
    """Write a table of so many rows to a Parquet file."""
    with duckdb.connect() as connection:
        connection.execute("SET preserve_insertion_order = false")
        connection.execute("SET enable_progress_bar = false")
        relation = connection.sql(select, params={"rows": rows, "seed": seed})
        relation.write_parquet(str(path), compression="zstd")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=int)
    parser.add_argument("path", type=Path)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    people(given.rows, given.path, given.seed)
