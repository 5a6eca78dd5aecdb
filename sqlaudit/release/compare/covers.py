"""What each cell of the release stands for: the values of the original under it, its level, and what that costs.

Cells that are neither values nor labels of the original, read with the parser that hierarchies and releases share.

Values and labels are found in SQL, since there may be many of them; what is left is few different texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Relation
from sqlaudit.hierarchies.cell_reader import reader_of
from sqlaudit.hierarchies.cells import Exact
from sqlaudit.hierarchies.membership import membership
from sqlaudit.release.compare.bench import Bench
from sqlaudit.release.compare.coding import CodedPair, PairedColumn


@dataclass(frozen=True)
class Covered:
    """The cells of one column.

    Args:
        cover: cell, word (a value's number), fits (false: the cell stands for no value, and so counts as any).
        cells: one row a cell: code, m (rows), fits, is_value, is_odd (neither value nor label), level, covered_rows,
            covered_values, entropy, width, is_whole.
    """

    column: PairedColumn
    cover: Relation
    cells: Relation


def read_cover(bench: Bench, column: PairedColumn) -> Relation:
    """Which values each cell of a column stands for.

    Raises:
        UsageError: a cell that cannot be read; the sentence names the column, not the cell.
    """
    place, levels = column.place, levels_of(column)
    values = column.words.relation
    readings = bench.make(
        f"readings_{place}",
        "release/compare/release_readings.sql",
        f"cells of {column.label}",
        cells=column.cells,
        values=values,
        levels=levels,
    )
    parts = parsed(bench, column, readings)
    return bench.make(
        f"cover_{place}",
        "release/compare/release_cover.sql",
        f"values under cells of {column.label}",
        readings=readings,
        values=values,
        levels=levels,
        members=parts.members,
        exact=parts.exact,
    )


def measured_cells(bench: Bench, coded: CodedPair, covers: Sequence[Relation]) -> tuple[Covered, ...]:
    """The facts of all cells, column by column."""
    return tuple(_measured(bench, coded, column, cover) for column, cover in zip(coded.columns, covers, strict=True))


def _measured(bench: Bench, coded: CodedPair, column: PairedColumn, cover: Relation) -> Covered:
    levels = levels_of(column)
    cells = bench.make(
        f"facts_{column.place}",
        "release/compare/release_cells.sql",
        f"cells of {column.label}",
        place=column.place,
        release=coded.release,
        cover=cover,
        values=column.words.relation,
        readings=bench.kept[f"readings_{column.place}"],
        levels=levels[:-1],
        height=column.height,
        numeric=column.numeric,
        all_values=column.words.values,
    )
    return Covered(column, cover, cells)


def levels_of(column: PairedColumn) -> list[int]:
    """The numbers of a column's levels above its values."""
    return list(range(1, column.words.hierarchy.height + 1))


MOST_CELLS = 200_000
"""Different cells of one column that are parsed at most; values and labels of the hierarchy do not count."""


@dataclass(frozen=True)
class Parsed:
    """What was parsed, as relations of the workbench; None when nothing was.

    Args:
        members: code, id: the values (by their numbers) in each cell.
        exact: code: cells that are a single value in another spelling.
    """

    members: Relation | None = None
    exact: Relation | None = None


def parsed(bench: Bench, column: PairedColumn, readings: Relation) -> Parsed:
    """What the cells of a column say that are neither values nor labels.

    Raises:
        UsageError: a cell that cannot be read, or too many different ones; the column is named, not the cell.
    """
    rows = bench.ask(
        "release/compare/release_unread.sql", f"cells of {column.label}", readings=readings, limit=MOST_CELLS + 1
    )
    if not rows:
        return Parsed()
    if len(rows) > MOST_CELLS:
        raise UsageError(
            f"{column.label}: the release has more than {MOST_CELLS:,} different cells that are no values of the "
            "original and no labels of its hierarchy; give the hierarchy that they were made with."
        )
    read = reader_of(column.words, bench.workbench).read_all(text for _, text in rows)
    cells = {int(code): read[text] for code, text in rows}
    name = f"members_of_cells_{column.place}"
    members = membership(bench.workbench, column.words, cells, bench.prefix + name)
    bench.kept[name] = members
    exact = [(code,) for code, cell in cells.items() if isinstance(cell, Exact)]
    return Parsed(members, bench.rows(f"exact_{column.place}", [("code", "INTEGER")], exact) if exact else None)
