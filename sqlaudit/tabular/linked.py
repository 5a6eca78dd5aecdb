"""Published tables that share cells, judged as one: what one of them hides, the others may reveal.

Each table is broken down by some of the dimensions; its cells are about all values of the others. Totals are found in
each table by itself, as these may name them differently. Then they become one value, and a cell that several tables
have becomes one cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sqlaudit.base.errors import UnknownColumn, UsageError
from sqlaudit.base.names import closest_column, shown
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
from sqlaudit.tabular.listing import CellQuery, find_text_axes, list_published_cells, union_tables
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.secondary.system import Integers
from sqlaudit.tabular.structure import (
    StatedTotals,
    add_parent,
    adds_up,
    find_subtotals,
    find_unmatched_codes,
    mark_cells,
    mark_misnamed,
    read_cells,
    read_stated_totals,
    with_grand_total,
    with_structure,
)


@dataclass(frozen=True, eq=False)
class _SingleTable:
    """One of the linked tables, with its own totals.

    Args:
        cells: its cells.
        absent: axes of the dimensions that it does not have.
    """

    cells: TableCells
    absent: frozenset[int]

    def total_code(self, axis: int) -> int | None:
        """Return the code that stands for all values of a dimension."""
        codes = np.flatnonzero(self.cells.dimensions[axis].is_grand)
        return int(codes[0]) if len(codes) and axis not in self.absent else None

    def used_codes(self, axis: int) -> set[int]:
        """Return the codes of its cells without that of the total."""
        if axis in self.absent:
            return set()
        return set(np.unique(self.cells.keys[:, axis]).tolist()) - {self.total_code(axis)}


def list_linked_tables(
    engine: Engine, relations: Sequence[Relation], request: AggregatesRequest
) -> tuple[CellQuery, list[CellQuery]]:
    """Return linked tables as one query, and the query of each.

    Raises:
        UsageError: an unknown column, or a dimension that no table has.
    """
    queries = [list_published_cells(engine, relation, request, in_part=True) for relation in relations]
    for axis, name in enumerate(request.by):
        if all(axis in query.absent for query in queries):
            columns = [column.name for relation in relations for column in relation.columns]
            raise UnknownColumn(f"{about('by')}: no linked table has a column {name!r}.{closest_column(name, columns)}")
    return union_tables(engine, queries), queries


def read_linked_cells(
    engine: Engine, relations: Sequence[Relation], request: AggregatesRequest
) -> tuple[CellQuery, TableCells, tuple[tuple[str, ...], ...]]:
    """Return the query and the cells of linked tables, each cell once, and the dimensions of each table.

    Raises:
        UsageError: an unknown column, a dimension that no table has, or one whose values add up in two ways.
    """
    query, queries = list_linked_tables(engine, relations, request)
    cells = read_cells(engine, query, request)
    assert cells.release is not None
    stated = read_stated_totals(engine, query, cells, request)
    tables = [
        _structure_table(cells.select(cells.release == number), source.absent, stated)
        for number, source in enumerate(queries)
    ]
    tables = _mark_other_names(
        tables, sorted({axis for source in queries for axis in find_text_axes(source)} - set(stated.links))
    )
    names_by_table = tuple(
        tuple(name for axis, name in enumerate(source.names) if axis not in source.absent) for source in queries
    )
    return query, mark_misnamed(engine, query, _merge_tables(tables, stated.links)), names_by_table


def _structure_table(cells: TableCells, absent: frozenset[int], stated: StatedTotals) -> _SingleTable:
    """Return one of the tables with its totals. Hierarchies are applied later, to all tables together."""
    table_totals = stated.restricted_to(cells)
    words = {**table_totals.words, **{axis: [] for axis in absent}}
    links: dict[int, dict[int, int]] = {axis: {} for axis in (*absent, *table_totals.unlisted)}
    return _SingleTable(with_structure(cells, replace(table_totals, words=words, links=links)), absent)


def _mark_other_names(tables: Sequence[_SingleTable], axes: Sequence[int]) -> list[_SingleTable]:
    """Return the tables with those cells marked whose value another table lacks, if that one has others instead.

    Args:
        axes: the dimensions whose values are names.
    """
    used = [[table.used_codes(axis) for axis in axes] for table in tables]
    marked = []
    for table, codes in zip(tables, find_unmatched_codes(used), strict=True):
        by_axis = dict(zip(axes, codes, strict=True))
        marked.append(replace(table, cells=replace(table.cells, misnamed=mark_cells(table.cells, by_axis))))
    return marked


def _merge_tables(tables: Sequence[_SingleTable], levels: Mapping[int, dict[int, int]]) -> TableCells:
    """Return the cells of all tables with common totals, each cell once.

    Args:
        levels: by dimension, the parent of each code by a hierarchy.
    """
    keys = [table.cells.keys.copy() for table in tables]
    dimensions, totals = [], {}
    for axis, first in enumerate(tables[0].cells.dimensions):
        parents = _merge_parents(tables, axis, levels.get(axis, {}))
        total = _merge_total(tables, axis, parents)
        if total is not None:
            totals[axis] = total
            parents = np.append(parents, [NO_PARENT] * (total + 1 - len(parents))).astype(np.int32)
        for table, table_keys in zip(tables, keys, strict=True):
            table_total = table.total_code(axis)
            which = (
                slice(None)
                if axis in table.absent
                else table_keys[:, axis] == (NO_PARENT if table_total is None else table_total)
            )
            if total is not None:
                table_keys[which, axis] = total
        dimensions.append(Breakdown(first.name, parents, any(table.cells.dimensions[axis].nested for table in tables)))
    cells = _merge_cells(tables, tuple(dimensions), np.concatenate(keys))
    return _with_totals(cells, totals, levels)


def _merge_parents(tables: Sequence[_SingleTable], axis: int, hierarchy: Mapping[int, int]) -> Codes:
    """Return the parents of codes below the totals, by all tables or by a hierarchy.

    Raises:
        UsageError: two tables add up the same value in different ways.
    """
    parents = np.full(tables[0].cells.dimensions[axis].size, NO_PARENT, dtype=np.int32)
    for part, parent in hierarchy.items():
        parents[part] = parent
    for table in tables:
        total, table_parents = table.total_code(axis), table.cells.dimensions[axis].parents
        for code in table.used_codes(axis) if not hierarchy else ():
            parent = int(table_parents[code])
            if parent in (NO_PARENT, total):
                continue
            if parents[code] not in (NO_PARENT, parent):
                raise UsageError(
                    f"The linked tables add up values of {shown(table.cells.dimensions[axis].name)} in different ways. "
                    f"Define the subtotals with {spelled('hierarchies')}."
                )
            parents[code] = parent
    return parents


def _merge_total(tables: Sequence[_SingleTable], axis: int, parents: Codes) -> int | None:
    """Return the code of all values of a dimension together; None where no table has such cells."""
    totals = {total for table in tables if (total := table.total_code(axis)) is not None}
    if not totals and not any(axis in table.absent for table in tables):
        return None
    used = {code for table in tables for code in table.used_codes(axis)}
    if not totals:  # the top of a hierarchy
        totals = {code for code in used if parents[code] == NO_PARENT and bool((parents == code).any())}
        used = {code for code in used if parents[code] == NO_PARENT} - totals
        return totals.pop() if len(totals) == 1 and not used else len(parents)
    return totals.pop() if len(totals) == 1 and not totals & used else len(parents)


def _merge_cells(tables: Sequence[_SingleTable], dimensions: tuple[Breakdown, ...], keys: Codes) -> TableCells:
    """Return each cell once. One that is twice in the same table stays there twice."""
    table_numbers = np.repeat(np.arange(len(tables)), [len(table.cells) for table in tables])
    numbers = TableCells(dimensions, keys).packed_keys
    cell_ids = np.unique(numbers, return_inverse=True)[1].reshape(-1)
    twice = np.stack([cell_ids, _count_earlier(cell_ids, table_numbers)], axis=1)
    _, first, cell = np.unique(twice, axis=0, return_index=True, return_inverse=True)
    cell = cell.reshape(-1)
    all_cells = [table.cells for table in tables]
    is_disagreeing = np.zeros(len(first), dtype=np.bool_)

    def merge_measure(measures: Sequence[CellMeasure | None]) -> CellMeasure | None:
        if any(measure is None for measure in measures):
            return None
        joined, differs = _merge_measures([measure for measure in measures if measure is not None], first, cell)
        is_disagreeing[differs] = True
        return joined

    def merge_mark(masks: Sequence[Bools | None]) -> Bools | None:
        if all(mask is None for mask in masks):
            return None
        filled = [
            np.zeros(len(cells), np.bool_) if mask is None else mask
            for mask, cells in zip(masks, all_cells, strict=True)
        ]
        return np.bincount(cell[np.concatenate(filled)], minlength=len(first)) > 0

    count = merge_measure([cells.count for cells in all_cells])
    counts_contributors = all_cells[0].contributors is all_cells[0].count
    largest = [merge_measure(measures) for measures in zip(*(cells.largest for cells in all_cells), strict=True)]
    marks: dict[str, Any] = {name: merge_mark([getattr(cells, name) for cells in all_cells]) for name in MARKS}
    return TableCells(
        dimensions,
        keys[first],
        count,
        count if counts_contributors else merge_measure([cells.contributors for cells in all_cells]),
        merge_measure([cells.value for cells in all_cells]),
        tuple(contribution for contribution in largest if contribution is not None),
        holdings=merge_measure([cells.holdings for cells in all_cells]),
        **(marks | {"disagreeing": is_disagreeing}),
    )


def _count_earlier(numbers: Integers, table: Integers) -> Integers:
    """Return the number of rows before each row that have its key in the same table."""
    order = np.lexsort((np.arange(len(table)), table, numbers))
    same = np.append(False, (np.diff(numbers[order]) == 0) & (np.diff(table[order]) == 0))
    starts = np.maximum.accumulate(np.where(same, 0, np.arange(len(order))))
    earlier = np.empty(len(order), dtype=np.int64)
    earlier[order] = np.arange(len(order)) - starts
    return earlier


def _merge_measures(measures: Sequence[CellMeasure], first: Integers, cell: Integers) -> tuple[CellMeasure, Integers]:
    """Return one number for each cell, from any table that publishes it, and the cells with different numbers.

    Args:
        measures: of each table.
        first: for each merged cell its first row.
        cell: for each row its merged cell.
    """
    units: Wholes = np.concatenate([measure.units for measure in measures])
    is_known = np.concatenate([measure.known for measure in measures])
    rows = np.flatnonzero(is_known)
    number = len(first)
    source = first.copy()
    source[cell[rows[::-1]]] = rows[::-1]  # the first table that publishes it
    is_published = np.bincount(cell[rows], minlength=number) > 0
    hides = np.bincount(cell[~is_known], minlength=number) > 0
    differs = np.unique(cell[rows][(units[rows] != units[source[cell[rows]]]).astype(np.bool_)])
    limits_by_table = [measure.limits or CellLimits.unlimited(len(measure.units)) for measure in measures]
    limits = replace(CellLimits.unlimited(number), least=limits_by_table[0].least, stated=limits_by_table[0].stated)
    rows = np.flatnonzero(~is_known)
    limits.promised[cell[rows]] = 0
    np.maximum.at(
        limits.lower, cell[rows], np.concatenate([table_limits.lower for table_limits in limits_by_table])[rows]
    )
    np.minimum.at(
        limits.upper, cell[rows], np.concatenate([table_limits.upper for table_limits in limits_by_table])[rows]
    )
    np.maximum.at(
        limits.promised, cell[rows], np.concatenate([table_limits.promised for table_limits in limits_by_table])[rows]
    )
    joined = CellMeasure(
        np.where(is_published, units[source], 0), is_published, measures[0].places, is_published & hides, limits
    )
    return joined, differs


def _with_totals(cells: TableCells, totals: Mapping[int, int], levels: Mapping[int, dict[int, int]]) -> TableCells:
    """Return the cells with their totals, and with values that are sums of others only over all tables."""
    for axis in range(len(cells.dimensions)):
        total = totals.get(axis)
        if axis not in levels and total is not None and not adds_up(cells, axis, total):
            links = find_subtotals(cells, axis, [total])
            cells = cells.with_dimension(axis, _with_links(cells.dimensions[axis], links))
        if total is not None:
            cells = cells.with_dimension(axis, with_grand_total(cells.dimensions[axis], total))
    return cells


def _with_links(dimension: Breakdown, links: Mapping[int, int]) -> Breakdown:
    """Return the dimension with further parents, for codes that have none."""
    parents = dimension.parents.copy()
    parent_by_code = {part: parent for part, parent in enumerate(parents.tolist()) if parent != NO_PARENT}
    for part, parent in links.items():
        add_parent(parent_by_code, part, parent)
    parents[list(parent_by_code)] = list(parent_by_code.values())
    return replace(dimension, parents=parents)
