"""The published table as it is read: rows, columns, and marks at unsafe and deducible cells."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sqlaudit.tabular.cells import Bools, TableCells
from sqlaudit.tabular.result import DrawnTable

MOST_ROWS, MOST_COLUMNS = 40, 12
"""Larger tables are not drawn."""


def drawn(cells: TableCells, unsafe: Bools, labels: Mapping[tuple[int, int], str], shift: int) -> DrawnTable | None:
    """A table of one or two dimensions with marks; None of a larger one.

    Args:
        cells: the table. unsafe: cells that a rule finds. labels: of codes, less the shift, by (dimension, code).
    """
    if len(cells.dimensions) > 2 or cells.added_up is None or not cells.published:
        return None
    codes = [_last_totals(cells, place) for place in range(len(cells.dimensions))]
    if len(codes[0]) > MOST_ROWS or (len(codes) > 1 and len(codes[1]) > MOST_COLUMNS):
        return None
    names = [tuple(labels.get((place, code - shift), "all") for code in some) for place, some in enumerate(codes)]
    marks = _marks(cells, unsafe)
    at = {tuple(key): mark for key, mark in zip(cells.keys.tolist(), marks, strict=True)}
    columns = codes[1] if len(codes) > 1 else [None]
    grid = tuple(
        tuple(at.get((row,) if column is None else (row, column), "") for column in columns) for row in codes[0]
    )
    return DrawnTable(names[0], names[1] if len(names) > 1 else (), grid)


def _last_totals(cells: TableCells, place: int) -> list[int]:
    """The codes of a dimension, those of totals last."""
    found = np.unique(cells.keys[:, place]).tolist()
    return sorted(found, key=lambda code: (bool(cells.dimensions[place].is_total[code]), code))


def _marks(cells: TableCells, unsafe: Bools) -> list[str]:
    """What is written into each cell: its first published number, or `*`, with a mark."""
    one = cells.published[0]
    known = np.zeros(len(cells), dtype=np.bool_)
    for hidden in cells.unpicked:
        known[hidden.known_cells[0]] = True
    return [
        ("* ?" if known[cell] else "*")
        if not one.known[cell]
        else f"{_written(units, one.places)}{_bang(unsafe[cell])}"
        for cell, units in enumerate(one.units.tolist())
    ]


def _written(units: int, places: int) -> str:
    return f"{units:,}" if not places else f"{units / 10**places:,.{places}f}"


def _bang(unsafe: np.bool_) -> str:
    return " !" if unsafe else ""
