"""Which values of a dimension stand for others: named ones, usual words, those of a hierarchy, or what adds up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from sqlaudit.base.errors import UsageError
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import spelled
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.read import read_hierarchies
from sqlaudit.tabular.cells import NO_PARENT, Bools, Breakdown, CellMeasure, TableCells, Wholes
from sqlaudit.tabular.listing import ListedCells
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.subtotals import levels_of, subtotals_of
from sqlaudit.tabular.unnamed import likely_totals, lone_totals

MISSING, ALL = 0, 0
"""The codes of a missing value, and, where grouping sets say it, of all values together (a missing one is then 1)."""


def with_totals(engine: Engine, listed: ListedCells, cells: TableCells, request: AggregatesRequest) -> TableCells:
    """The cells with what is part of what in each dimension.

    Raises:
        UsageError: a total that no cell has, or a hierarchy that lists no values.
    """
    if listed.flags:
        return _with(cells, {place: ALL for place in range(len(listed.names)) if _has(cells, place, ALL)})
    if not listed.finished:
        return cells
    words = total_words(engine, listed, cells, request.totals())
    links, unlisted = listed_levels(engine, listed, cells, request.hierarchies)
    return structured(cells, words, links, unlisted, request.stated())


def structured(
    cells: TableCells,
    words: Mapping[int, list[int]],
    links: Mapping[int, dict[int, int]],
    unlisted: Mapping[int, list[int]],
    stated: frozenset[int],
) -> TableCells:
    """The cells of one table with what is part of what.

    Args:
        cells: without totals yet. words: by dimension, the codes that read like a total; several are not clear, and
            an empty list says that none is looked for.
        links: by dimension, what a hierarchy says is part of what. unlisted: the codes that it says nothing of.
        stated: the dimensions whose total somebody named; no other value is looked for there.
    """
    labelled = {place: codes[0] for place, codes in words.items() if len(codes) == 1}
    unclear = {place: codes for place, codes in words.items() if len(codes) > 1}
    found = dict(labelled)
    for place in range(len(cells.dimensions)):
        if place in links:
            cells = _linked(cells, place, links[place], labelled.get(place))
        elif not _is_flat(cells, place, labelled.get(place)):
            left_out = [labelled[place]] if place in labelled else []
            cells = _linked(cells, place, subtotals_of(cells, place, left_out), labelled.get(place))
        if words.get(place) == []:
            continue
        if place not in found and _is_missing_total(cells, place):
            found[place] = MISSING
        if place not in found and place not in words and _may_be_missing_total(cells, place):
            unclear[place] = [MISSING]
        elif place not in stated and place not in links and not bool(cells.dimensions[place].is_grand.any()):
            likely = likely_totals(cells, place, found.get(place))
            likely += [] if place in found else lone_totals(cells, place, found)
            unclear[place] = [*unclear.get(place, []), *likely]
        if place in unlisted and not (place in found and adds_up(cells, place, found[place])):
            unclear[place] = [*unclear.get(place, []), *(set(unlisted[place]) - {found.get(place)})]
    return replace(_with(cells, found), unclear=_unclear(cells, unclear))


def _unclear(cells: TableCells, codes: Mapping[int, list[int]]) -> Bools | None:
    """Cells that may be totals."""
    if not codes:
        return None
    found = np.zeros(len(cells), dtype=np.bool_)
    for place, some in codes.items():
        found |= np.isin(cells.keys[:, place], some)
    return found


def _has(cells: TableCells, place: int, code: int) -> bool:
    return bool(np.any(cells.keys[:, place] == code))


def _is_missing_total(cells: TableCells, place: int) -> bool:
    is_root = cells.dimensions[place].parents[MISSING] == NO_PARENT
    return bool(is_root) and _has(cells, place, MISSING) and adds_up(cells, place, MISSING)


def _may_be_missing_total(cells: TableCells, place: int) -> bool:
    """Whether a missing value may stand for all others: nothing says so, and nothing else."""
    is_root = cells.dimensions[place].parents[MISSING] == NO_PARENT
    return bool(is_root) and _has(cells, place, MISSING) and _tells(cells, place, MISSING) is None


def _is_flat(cells: TableCells, place: int, total: int | None) -> bool:
    """Whether a total is the sum of all other values, so that none of these is one of others."""
    if total is None:
        return _is_missing_total(cells, place)
    return adds_up(cells, place, total)


def _linked(cells: TableCells, place: int, links: Mapping[int, int], total: int | None) -> TableCells:
    """The cells whose values in a dimension are part of others; a total of everything is added later."""
    parents = cells.dimensions[place].parents.copy()
    for part, whole in links.items():
        if total not in (part, whole):
            parents[part] = whole
    dimensions = list(cells.dimensions)
    dimensions[place] = replace(dimensions[place], parents=parents)
    cells = replace(cells, dimensions=tuple(dimensions))
    used = np.unique(cells.keys[:, place])
    tops = used[parents[used] == NO_PARENT]
    return _with(cells, {place: int(tops[0])}) if total is None and links and len(tops) == 1 else cells


def _with(cells: TableCells, totals: Mapping[int, int]) -> TableCells:
    dimensions = list(cells.dimensions)
    for place, code in totals.items():
        dimensions[place] = with_total(dimensions[place], code)
    return replace(cells, dimensions=tuple(dimensions))


def total_words(engine: Engine, listed: ListedCells, cells: TableCells, named: dict[str, str]) -> dict[int, list[int]]:
    """The code of the total of each dimension that has one as it is named, or by a usual word; several of these.

    A total named by an empty text, which no cell has, is none: the list is empty.

    Raises:
        UsageError: a named total that no cell has.
    """
    by_label = {name: label for name, label in named.items() if label != "NULL"}
    places = {name: f"${number}" for number, name in enumerate(by_label, 1)}
    statement = render(
        "tabular/tabular_totals.sql",
        engine.dialect,
        source=listed.source,
        dimensions=list(listed.dimensions),
        named=[Raw(places[name]) if name in places else None for name in listed.names],
    )
    labelled: dict[int, list[int]] = {}
    for place, code in engine.run(statement, list(by_label.values())):
        labelled.setdefault(int(place), []).append(int(code))
    found = {}
    for place, name in enumerate(listed.names):
        codes = [MISSING] if named.get(name) == "NULL" else labelled.get(place, [])
        if named.get(name) == "" and not codes:
            found[place] = codes
            continue
        if name in named and not (codes and _has(cells, place, codes[0])):
            raise UsageError(f"{spelled('total')}: no cell has the value that stands for all of {name!r}.")
        if codes:
            found[place] = codes[:1] if name in named else codes
    return found


def words_within(cells: TableCells, words: Mapping[int, list[int]]) -> dict[int, list[int]]:
    """The codes that read like a total, of one of several tables that were read together: those that it has."""
    own = {place: [code for code in codes if _has(cells, place, code)] for place, codes in words.items()}
    return {place: codes for place, codes in own.items() if codes or not words[place]}


def listed_levels(
    engine: Engine, listed: ListedCells, cells: TableCells, hierarchies: Any
) -> tuple[dict[int, dict[int, int]], dict[int, list[int]]]:
    """What is part of what in the dimensions that a file of hierarchies has, and the values that these leave out.

    Raises:
        UsageError: a hierarchy that lists no values.
    """
    if not hierarchies:
        return {}, {}
    made = read_hierarchies(hierarchies).for_columns(listed.names)
    wanted = [place for place, one in enumerate(made) if one.form]
    for place in wanted:
        if made[place].table is None:
            raise UsageError(
                f"{made[place].place}: subtotals need the values of {listed.names[place]!r} one by one: a tree, "
                "values, or a CSV file."
            )
    codes = [np.unique(cells.keys[:, place]).tolist() if place in wanted else [] for place in range(len(made))]
    labels = listed.labels(engine, codes)
    found, unlisted = {}, {}
    for place in wanted:
        table = made[place].table
        assert table is not None
        named = {label: code for (where, code), label in labels.items() if where == place}
        found[place] = levels_of(table.rows, table.top, named)
        known = {table.top, *table.rows, *chain.from_iterable(table.rows.values())}
        unlisted[place] = [code for label, code in named.items() if label not in known and code != MISSING]
    return found, unlisted


def with_total(dimension: Breakdown, total: int) -> Breakdown:
    """The dimension, all of whose values without a parent are now part of one."""
    parents = np.where(dimension.parents == NO_PARENT, total, dimension.parents).astype(np.int32)
    parents[total] = NO_PARENT
    return replace(dimension, parents=parents)


def adds_up(cells: TableCells, dimension: int, code: int) -> bool:
    """Whether the cells of one value are the sum of all others in a dimension, as far as these are published.

    Values that are part of others count with these. Nothing may contradict, and something must say so: a group of which
    everything is known and adds up.
    """
    return _tells(cells, dimension, code) is True


def _tells(cells: TableCells, dimension: int, code: int) -> bool | None:
    """Whether it adds up; None where nothing tells."""
    codes = cells.keys[:, dimension]
    roots = (cells.dimensions[dimension].parents[codes] == NO_PARENT) | (codes == code)
    group, groups = cells.groups(dimension)
    total = codes[roots] == code
    said = False
    for one in cells.published:
        agrees = _agrees(CellMeasure(one.units[roots], one.known[roots]), group[roots], groups, total)
        if agrees is False:
            return False
        said |= bool(agrees)
    return True if said else None


def _agrees(one: CellMeasure, group: Wholes, groups: int, total: Bools) -> bool | None:
    """Whether totals of a measure are the sums of their groups; None when nothing tells."""
    units = one.units
    sums = np.zeros(groups, dtype=units.dtype)
    np.add.at(sums, group[~total], units[~total])
    whole = np.bincount(group[~total & ~one.known], minlength=groups) == 0
    parts = np.bincount(group[~total], minlength=groups)
    at = np.flatnonzero(total & one.known)
    at = at[parts[group[at]] > 0]
    complete = whole[group[at]]
    found, expected = units[at], sums[group[at]]
    if bool(np.any(complete & (found != expected))) or bool(np.any(~complete & (found < expected))):
        return False
    return True if bool(np.any(complete & (parts[group[at]] > 1))) else None
