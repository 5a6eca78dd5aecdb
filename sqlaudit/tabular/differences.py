"""Two releases of a table beside each other: what their difference says of those who came, left or changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Relation
from sqlaudit.base.whole_arrays import Wholes, minus
from sqlaudit.base.words import spelled
from sqlaudit.engines.contract import Engine
from sqlaudit.tabular.cells import Bools, CellMeasure, TableCells
from sqlaudit.tabular.listing import ListedCells, listed_cells
from sqlaudit.tabular.reading import read_cells
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.together import read_together

Places = npt.NDArray[np.int64]


def differences(
    engine: Engine, releases: Sequence[Relation], request: AggregatesRequest, top: int
) -> Iterator[tuple[int, int, ListedCells, TableCells, bool]]:
    """For every two releases, an older and a newer one: their places, what changed, and whether they are comparable.

    The contributors of such a cell are those who came, left or contribute something else; its value is the change. Of
    finished tables only the differences of their numbers are known; rows tell the persons.

    Raises:
        UsageError: unknown columns, or rows without a column of persons.
    """
    if request.microdata:
        yield from _of_rows(engine, releases, request, top)
    else:
        yield from _of_tables(engine, releases, request)


def _of_rows(
    engine: Engine, releases: Sequence[Relation], request: AggregatesRequest, top: int
) -> Iterator[tuple[int, int, ListedCells, TableCells, bool]]:
    if not request.person:
        raise UsageError(f"Rows of two releases are compared by person: name their column with {spelled('person')}.")
    for older, newer in combinations(range(len(releases)), 2):
        listed = listed_cells(engine, releases[newer], request, top, before=releases[older])
        yield older, newer, listed, read_cells(engine, listed, request), True


def _of_tables(
    engine: Engine, releases: Sequence[Relation], request: AggregatesRequest
) -> Iterator[tuple[int, int, ListedCells, TableCells, bool]]:
    asked = replace(request, largest=(), structural="", total=())
    tables = [listed_cells(engine, one, asked) for one in releases]
    listed = read_together(engine, tables)
    cells = read_cells(engine, listed, asked)
    assert cells.release is not None
    found = [cells.some(cells.release == number) for number in range(len(tables))]
    for older, newer in combinations(range(len(tables)), 2):
        pair = found[older], found[newer]
        yield older, newer, listed, difference(*pair), _are_alike(*pair)


def _are_alike(older: TableCells, newer: TableCells) -> bool:
    """Whether half the cells of the smaller table are in the other: else values are rather spelled in another way."""
    shared = len(np.intersect1d(older.numbers, newer.numbers))
    return 2 * shared >= min(len(np.unique(one.numbers)) for one in (older, newer))


def difference(older: TableCells, newer: TableCells) -> TableCells:
    """What changed from one table to another: cells with the absolute differences of their numbers.

    A cell that one of them does not have counts as 0 there. What is hidden in either is not known.
    """
    numbers = np.unique(np.concatenate([older.numbers, newer.numbers]))
    places = [_places(numbers, one.numbers) for one in (older, newer)]
    keys = np.zeros((len(numbers), older.keys.shape[1]), dtype=np.int32)
    for one, place in zip((older, newer), places, strict=True):
        keys[place] = one.keys
    count, contributors, value = (
        _changed(getattr(older, name), getattr(newer, name), places, len(numbers))
        for name in ("count", "contributors", "value")
    )
    both = TableCells(older.dimensions, keys, count, _who(contributors, value), value)
    return both.some(both.hidden | np.logical_or.reduce([one.units != 0 for one in both.published]))


def _who(contributors: CellMeasure | None, value: CellMeasure | None) -> CellMeasure | None:
    """How many came or left; nobody knows it where as many came as left, and the value is another one."""
    if contributors is None or value is None:
        return contributors
    known = contributors.known & ((contributors.units != 0) | (value.units == 0))
    return replace(contributors, known=known.astype(np.bool_))


def _places(numbers: Wholes, own: Wholes) -> Places:
    return np.asarray(np.searchsorted(numbers, own), dtype=np.int64)


def _changed(
    older: CellMeasure | None, newer: CellMeasure | None, places: Sequence[Places], cells: int
) -> CellMeasure | None:
    if older is None or newer is None:
        return None
    before, after = (_spread(one, place, cells) for one, place in zip((older, newer), places, strict=True))
    units = np.abs(minus(after.units, before.units))
    return CellMeasure(units, before.known & after.known, older.places)


def _spread(one: CellMeasure, place: Places, cells: int) -> CellMeasure:
    """The measure over all cells: 0 and known where the table has no such cell."""
    units = np.zeros(cells, dtype=one.units.dtype)
    known: Bools = np.ones(cells, dtype=np.bool_)
    units[place], known[place] = one.units, one.known
    return CellMeasure(units, known, one.places)
