"""Cells that are neither values nor labels of the original, read with the parser that hierarchies and releases share.

Values and labels are found in SQL, since there may be many of them; what is left is few different texts.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Relation
from sqlaudit.hierarchies.cell_reader import reader_of
from sqlaudit.hierarchies.cells import Exact
from sqlaudit.hierarchies.membership import membership
from sqlaudit.release.compare.bench import Bench
from sqlaudit.release.compare.coding import Column

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


def parsed(bench: Bench, column: Column, readings: Relation) -> Parsed:
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
