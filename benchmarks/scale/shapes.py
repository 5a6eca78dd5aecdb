"""What a generated table looks like, what it takes on disk, and how it is made."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import duckdb

from benchmarks.scale.texts import text

SEED = 7
ROWS_A_GROUP = 1_000_000
"""Rows in a row group: few enough to be read in parallel from 10^7 rows on, as Spark's splits want it."""


@dataclass(frozen=True)
class Shape:
    """A table: rows, how many classes they form, quasi-identifiers, sensitive values, and one class with half the rows.

    Args:
        rows: rows.
        classes: equivalence classes, exactly; at most `rows`.
        qis: quasi-identifiers q1, q2, …
        values: sensitive values at most; all of them occur from some thousands of rows on.
        skew: whether half of the rows beyond the first `classes` lie in one class.

    Example:
        >>> Shape(1_000_000, 1_000).radix
        6
    """

    rows: int
    classes: int
    qis: int = 4
    values: int = 14
    skew: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.classes <= self.rows:
            raise ValueError(f"{self.classes:,} classes cannot be filled by {self.rows:,} rows.")

    @property
    def radix(self) -> int:
        """How many values a quasi-identifier needs at most, so that all together tell the classes apart."""
        radix = 1
        while radix**self.qis < self.classes:
            radix += 1
        return radix

    @property
    def columns(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return tuple(f"q{place}" for place in range(1, self.qis + 1))

    @property
    def name(self) -> str:
        """What its file is called."""
        skew = "_skew" if self.skew else ""
        return f"people_{self.rows}_{self.classes}c_{self.qis}q_{self.values}v{skew}.parquet"

    @property
    def bytes(self) -> int:
        """About what the file takes: the bits of a code in each column's dictionary, of which zstd saves little."""
        bits = self.qis * (self.radix - 1).bit_length() + (self.values - 1).bit_length()
        return self.rows * bits // 8 + 20_000


def select(shape: Shape, first: int = 0, rows: int | None = None, seed: int = SEED) -> str:
    """The SELECT that draws the rows `first` … `rows` - 1 of a table."""
    return text(
        "people.sql",
        classes=shape.classes,
        skew=shape.skew,
        qis=shape.qis,
        radix=shape.radix,
        values=shape.values,
        first=first,
        rows=shape.rows if rows is None else rows,
        seed=seed,
    )


def generate(shape: Shape, folder: Path) -> Path:
    """The table's Parquet file in a folder, made when it is not there.

    Raises:
        OSError: the disk has less than twice the room that the file will take.
    """
    path = folder / shape.name
    if not path.exists():
        free = shutil.disk_usage(folder).free
        if free < 2 * shape.bytes:
            raise OSError(f"{path.name} will take about {shape.bytes / 1e9:.1f} GB; {free / 1e9:.1f} GB are free.")
        write(select(shape), path)
    return path


def write(sql: str, path: Path) -> None:
    """The rows of a SELECT as a Parquet file, which has its name only when it is complete."""
    unfinished = path.with_suffix(f".{os.getpid()}.part")
    with duckdb.connect() as connection:
        connection.execute("SET preserve_insertion_order = false")
        connection.execute("SET enable_progress_bar = false")
        relation = connection.sql(sql)
        relation.write_parquet(str(unfinished), compression="zstd", row_group_size=ROWS_A_GROUP)
    unfinished.rename(path)
