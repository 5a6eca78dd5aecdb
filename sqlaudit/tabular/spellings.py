"""Values of a dimension that may be the same by another name: then cells below both belong together, and tell more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sqlaudit.base.sql import render
from sqlaudit.engines.contract import Engine
from sqlaudit.tabular.cells import Bools, TableCells
from sqlaudit.tabular.listing import ListedCells


def with_spellings(engine: Engine, listed: ListedCells, cells: TableCells) -> TableCells:
    """The cells, with those marked whose values differ from others in large letters or blanks only.

    Nothing is looked at where no cell is hidden.
    """
    if not bool(cells.hidden.any()) or listed.flags:
        return cells
    statement = render(
        "tabular/tabular_spellings.sql", engine.dialect, source=listed.source, dimensions=list(listed.dimensions)
    )
    found = np.zeros(len(cells), dtype=np.bool_)
    for place, code in engine.run(statement):
        found |= cells.keys[:, int(place)] == int(code)
    return replace(cells, misnamed=found) if bool(found.any()) else cells


def unmatched(used: Sequence[Sequence[set[int]]]) -> list[list[set[int]]]:
    """For each table and dimension the values that another table lacks, which has others that this one lacks.

    Args:
        used: for each table the codes of each dimension, empty where it does not have it.

    Example:
        >>> unmatched([[{1, 2}, {5}], [{1, 3}, set()], [{1}, {5}]])
        [[{2}, set()], [{3}, set()], [set(), set()]]
    """
    found: list[list[set[int]]] = []
    for own in used:
        beside = [[(mine - theirs, theirs - mine) for mine, theirs in zip(own, other, strict=True)] for other in used]
        found.append([set().union(*(a for a, b in pairs if a and b)) for pairs in zip(*beside, strict=True)])
    return found


def with_values(cells: TableCells, codes: Sequence[set[int]]) -> Bools:
    """Which cells have one of some codes in a dimension."""
    found = np.zeros(len(cells), dtype=np.bool_)
    for place, some in enumerate(codes):
        found |= np.isin(cells.keys[:, place], list(some))
    return found
