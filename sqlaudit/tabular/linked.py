"""Published tables that share cells, judged as one: what one of them hides, the others may reveal.

Each table is broken down by some of the dimensions; its cells are about all values of the others. Totals are found in
each table by itself, as these may call them differently; then they are one value, and a cell that several tables have
is one cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import closest
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import Relation
from sqlaudit.engines.contract import Engine
from sqlaudit.tabular.cells import (
    MARKS,
    NO_PARENT,
    Bools,
    Breakdown,
    CellLimits,
    CellMeasure,
    Codes,
    TableCells,
    Wholes,
)
from sqlaudit.tabular.listing import ListedCells, finished_cells, named_places, read_together
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.secondary.system import Integers
from sqlaudit.tabular.structure import (
    StatedTotals,
    adds_up,
    cells_with,
    put_under,
    read_cells,
    stated_totals,
    structured,
    subtotals_of,
    unmatched,
    with_spellings,
    with_total,
)


@dataclass(frozen=True, eq=False)
class _OneTable:
    """The cells of one of the tables, with its own totals. absent: dimensions that it does not have."""

    cells: TableCells
    absent: frozenset[int]

    def total(self, place: int) -> int | None:
        """The code that stands for all values of a dimension."""
        found = np.flatnonzero(self.cells.dimensions[place].is_grand)
        return int(found[0]) if len(found) and place not in self.absent else None

    def used(self, place: int) -> set[int]:
        """The codes of its cells but that of the total."""
        if place in self.absent:
            return set()
        return set(np.unique(self.cells.keys[:, place]).tolist()) - {self.total(place)}


def linked_tables(
    engine: Engine, relations: Sequence[Relation], request: AggregatesRequest
) -> tuple[ListedCells, list[ListedCells]]:
    """Some tables as one, and each of them.

    Raises:
        UsageError: an unknown column, or a dimension that no table has.
    """
    listed = [finished_cells(engine, relation, request, in_part=True) for relation in relations]
    for place, name in enumerate(request.by):
        if all(place in one.absent for one in listed):
            columns = [column.name for relation in relations for column in relation.columns]
            raise UsageError(f"{about('by')}: no linked table has a column {name!r}.{closest(name, columns)}")
    return read_together(engine, listed), listed


def linked_cells(
    engine: Engine, relations: Sequence[Relation], request: AggregatesRequest
) -> tuple[ListedCells, TableCells, tuple[tuple[str, ...], ...]]:
    """All cells of some tables, each once, and by what each table is broken down.

    Raises:
        UsageError: an unknown column, a dimension that no table has, or one whose values add up in two ways.
    """
    every, listed = linked_tables(engine, relations, request)
    cells = read_cells(engine, every, request)
    assert cells.release is not None
    stated = stated_totals(engine, every, cells, request)
    tables = [_table(cells.some(cells.release == number), one.absent, stated) for number, one in enumerate(listed)]
    tables = _with_names(tables, sorted({place for one in listed for place in named_places(one)} - set(stated.links)))
    split = tuple(tuple(name for at, name in enumerate(one.names) if at not in one.absent) for one in listed)
    return every, with_spellings(engine, every, _as_one(tables, stated.links)), split


def _table(cells: TableCells, absent: frozenset[int], stated: StatedTotals) -> _OneTable:
    """One of the tables with its totals; what a hierarchy says is for all tables together."""
    own = stated.within(cells)
    words = {**own.words, **{place: [] for place in absent}}
    links: dict[int, dict[int, int]] = {place: {} for place in (*absent, *own.unlisted)}
    return _OneTable(structured(cells, replace(own, words=words, links=links)), absent)


def _with_names(tables: Sequence[_OneTable], places: Sequence[int]) -> list[_OneTable]:
    """The tables, with cells marked whose value in some dimensions another table lacks, which has others instead."""
    used = [[one.used(place) for place in places] for one in tables]
    found = []
    for one, codes in zip(tables, unmatched(used), strict=True):
        every = dict(zip(places, codes, strict=True))
        found.append(replace(one, cells=replace(one.cells, misnamed=cells_with(one.cells, every))))
    return found


def _as_one(tables: Sequence[_OneTable], levels: Mapping[int, dict[int, int]]) -> TableCells:
    keys = [one.cells.keys.copy() for one in tables]
    dimensions, totals = [], {}
    for place, first in enumerate(tables[0].cells.dimensions):
        parents = _parents(tables, place, levels.get(place, {}))
        total = _total(tables, place, parents)
        if total is not None:
            totals[place] = total
            parents = np.append(parents, [NO_PARENT] * (total + 1 - len(parents))).astype(np.int32)
        for table, own in zip(tables, keys, strict=True):
            old = table.total(place)
            which = slice(None) if place in table.absent else own[:, place] == (NO_PARENT if old is None else old)
            if total is not None:
                own[which, place] = total
        dimensions.append(Breakdown(first.name, parents, any(one.cells.dimensions[place].nested for one in tables)))
    cells = _merged(tables, tuple(dimensions), np.concatenate(keys))
    return _with_all(cells, totals, levels)


def _parents(tables: Sequence[_OneTable], place: int, listed: Mapping[int, int]) -> Codes:
    """What is part of what below the totals, by all tables."""
    parents = np.full(tables[0].cells.dimensions[place].size, NO_PARENT, dtype=np.int32)
    for part, whole in listed.items():
        parents[part] = whole
    for table in tables:
        total, own = table.total(place), table.cells.dimensions[place].parents
        for code in table.used(place) if not listed else ():
            whole = int(own[code])
            if whole in (NO_PARENT, total):
                continue
            if parents[code] not in (NO_PARENT, whole):
                raise UsageError(
                    f"The linked tables add up values of {table.cells.dimensions[place].name!r} in different ways. "
                    f"Define the subtotals with {spelled('hierarchies')}."
                )
            parents[code] = whole
    return parents


def _total(tables: Sequence[_OneTable], place: int, parents: Codes) -> int | None:
    """The code of all values of a dimension together; None where no table has such cells."""
    named = {total for one in tables if (total := one.total(place)) is not None}
    if not named and not any(place in one.absent for one in tables):
        return None
    used = {code for one in tables for code in one.used(place)}
    if not named:  # the top of a hierarchy
        named = {code for code in used if parents[code] == NO_PARENT and bool((parents == code).any())}
        used = {code for code in used if parents[code] == NO_PARENT} - named
        return named.pop() if len(named) == 1 and not used else len(parents)
    return named.pop() if len(named) == 1 and not named & used else len(parents)


def _merged(tables: Sequence[_OneTable], dimensions: tuple[Breakdown, ...], keys: Codes) -> TableCells:
    """Each cell once; one that is twice in the same table stays there twice."""
    table = np.repeat(np.arange(len(tables)), [len(one.cells) for one in tables])
    numbers = TableCells(dimensions, keys).numbers
    alike = np.unique(numbers, return_inverse=True)[1].reshape(-1)
    twice = np.stack([alike, _earlier(alike, table)], axis=1)
    _, first, cell = np.unique(twice, axis=0, return_index=True, return_inverse=True)
    cell = cell.reshape(-1)
    given = [one.cells for one in tables]
    apart = np.zeros(len(first), dtype=np.bool_)

    def measure(found: Sequence[CellMeasure | None]) -> CellMeasure | None:
        if any(one is None for one in found):
            return None
        joined, differs = _joined([one for one in found if one is not None], first, cell)
        apart[differs] = True
        return joined

    def said(found: Sequence[Bools | None]) -> Bools | None:
        if all(one is None for one in found):
            return None
        some = [np.zeros(len(own), np.bool_) if one is None else one for one, own in zip(found, given, strict=True)]
        return np.bincount(cell[np.concatenate(some)], minlength=len(first)) > 0

    count = measure([one.count for one in given])
    counted = given[0].contributors is given[0].count
    largest = [measure(some) for some in zip(*(one.largest for one in given), strict=True)]
    marks: dict[str, Any] = {name: said([getattr(one, name) for one in given]) for name in MARKS}
    return TableCells(
        dimensions,
        keys[first],
        count,
        count if counted else measure([one.contributors for one in given]),
        measure([one.value for one in given]),
        tuple(one for one in largest if one is not None),
        holdings=measure([one.holdings for one in given]),
        **(marks | {"disagreeing": apart}),
    )


def _earlier(numbers: Integers, table: Integers) -> Integers:
    """How many rows before each have its key in the same table."""
    order = np.lexsort((np.arange(len(table)), table, numbers))
    same = np.append(False, (np.diff(numbers[order]) == 0) & (np.diff(table[order]) == 0))
    starts = np.maximum.accumulate(np.where(same, 0, np.arange(len(order))))
    found = np.empty(len(order), dtype=np.int64)
    found[order] = np.arange(len(order)) - starts
    return found


def _joined(measures: Sequence[CellMeasure], first: Integers, cell: Integers) -> tuple[CellMeasure, Integers]:
    """One number for each cell: what any table says of it; and the cells of which two say different ones."""
    units: Wholes = np.concatenate([one.units for one in measures])
    known = np.concatenate([one.known for one in measures])
    rows = np.flatnonzero(known)
    number = len(first)
    source = first.copy()
    source[cell[rows[::-1]]] = rows[::-1]  # the first table that says it
    told = np.bincount(cell[rows], minlength=number) > 0
    hides = np.bincount(cell[~known], minlength=number) > 0
    differs = np.unique(cell[rows][(units[rows] != units[source[cell[rows]]]).astype(np.bool_)])
    given = [one.limits or CellLimits.none(len(one.units)) for one in measures]
    limits = replace(CellLimits.none(number), least=given[0].least, stated=given[0].stated)
    rows = np.flatnonzero(~known)
    limits.promised[cell[rows]] = 0
    np.maximum.at(limits.lower, cell[rows], np.concatenate([one.lower for one in given])[rows])
    np.minimum.at(limits.upper, cell[rows], np.concatenate([one.upper for one in given])[rows])
    np.maximum.at(limits.promised, cell[rows], np.concatenate([one.promised for one in given])[rows])
    joined = CellMeasure(np.where(told, units[source], 0), told, measures[0].places, told & hides, limits)
    return joined, differs


def _with_all(cells: TableCells, totals: Mapping[int, int], levels: Mapping[int, dict[int, int]]) -> TableCells:
    """The cells with their totals, and with values that are sums of others only over all tables."""
    for place in range(len(cells.dimensions)):
        total = totals.get(place)
        if place not in levels and total is not None and not adds_up(cells, place, total):
            links = subtotals_of(cells, place, [total])
            cells = cells.with_dimension(place, _free(cells.dimensions[place], links))
        if total is not None:
            cells = cells.with_dimension(place, with_total(cells.dimensions[place], total))
    return cells


def _free(dimension: Breakdown, links: Mapping[int, int]) -> Breakdown:
    """The dimension with what else is part of something, where nothing said it before."""
    parents = dimension.parents.copy()
    known = {part: whole for part, whole in enumerate(parents.tolist()) if whole != NO_PARENT}
    for part, whole in links.items():
        put_under(known, part, whole)
    parents[list(known)] = list(known.values())
    return replace(dimension, parents=parents)
