"""The changes between two releases of a table, which reveal those who came, left or changed."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np

from sqlaudit.base.errors import UnknownFile, UsageError
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Relation
from sqlaudit.base.result import Status
from sqlaudit.base.spec import Target
from sqlaudit.base.whole_arrays import minus
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.writing import files_named
from sqlaudit.tabular.cells import Bools, Breakdown, CellMeasure, TableCells, align_decimals
from sqlaudit.tabular.hidden import ANY_WIDTH, find_narrow_cells, with_deduced_numbers
from sqlaudit.tabular.listing import CellQuery, find_text_axes, list_cells, union_tables
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.result import ReleaseDifference, RuleFound
from sqlaudit.tabular.secondary.system import Integers
from sqlaudit.tabular.structure import read_cells, read_stated_totals, with_structure
from sqlaudit.tabular.totals import find_broken_totals, is_noisy

_COMPARED = ("count", "contributors", "value")
MOST_PAIRS = 1_000_000
"""Largest number of pairs of cells that are compared; with more, nothing passes."""


@dataclass(frozen=True, eq=False)
class RenamedCells:
    """Changes of cells if values had only been renamed: each cell of a gone value with each cell of a new one.

    Args:
        cells: the absolute differences of their numbers.
        older, newer: the cell of each in its release.
    """

    cells: TableCells
    older: Integers
    newer: Integers

    def count_cells(self, which: Integers) -> int:
        """Return the number of cells of both releases in some of the pairs."""
        return len(np.unique(self.older[which])) + len(np.unique(self.newer[which]))


def find_renamed(older: TableCells, newer: TableCells, axes: Sequence[int]) -> RenamedCells | None:
    """Return the changes if values of some dimensions had another name in the newer release; None of too many pairs.

    Args:
        older, newer: with the same codes.
        axes: the dimensions whose values are names.
    """
    pairs = []
    pairs_left = MOST_PAIRS
    for axis in axes:
        matched = _pair_renamed_cells(older, newer, axis, pairs_left)
        if matched is None:
            return None
        pairs.append(matched)
        pairs_left -= len(matched[0])
    nothing = np.zeros(0, dtype=np.int64)
    old, new = (np.concatenate([nothing, *(pair[side] for pair in pairs)]) for side in (0, 1))
    cells = _subtract_cells(older.select(old), newer.select(new))
    compared = [measure for measure in (cells.count, cells.contributors, cells.value) if measure is not None]
    changed = np.logical_or.reduce([(measure.units != 0) & measure.known for measure in compared]).astype(np.bool_)
    return RenamedCells(cells.select(changed), old[changed], new[changed])


def _subtract_cells(older: TableCells, newer: TableCells) -> TableCells:
    """Return the absolute differences between two tables: row i of both is the same cell."""
    count, contributors, value = (_subtract_measures(getattr(older, name), getattr(newer, name)) for name in _COMPARED)
    # absolute differences do not add up: there are no totals
    dimensions = tuple(Breakdown.plain(dimension.name, dimension.size) for dimension in newer.dimensions)
    return TableCells(dimensions, newer.keys, count, _mask_unknown_changes(contributors, value), value)


def _pair_renamed_cells(
    older: TableCells, newer: TableCells, axis: int, limit: int
) -> tuple[Integers, Integers] | None:
    """Return the cells of values that only the older table has, each with cells of the newer one that may be the same.

    Args:
        axis: the dimension whose values may have other names.
        limit: largest number of pairs; None is returned for more.
    """
    before, after = (np.unique(cells.keys[:, axis]) for cells in (older, newer))
    gone, come = np.setdiff1d(before, after), np.setdiff1d(after, before)
    old, new = (np.flatnonzero(np.isin(cells.keys[:, axis], codes)) for cells, codes in ((older, gone), (newer, come)))
    others = [other_axis for other_axis in range(len(older.dimensions)) if other_axis != axis]
    group, other = older.pack_keys(older.keys[old], others), older.pack_keys(newer.keys[new], others)
    order = np.argsort(other, kind="stable")
    first, last = (np.searchsorted(other[order], group, side=side) for side in ("left", "right"))
    times = last - first
    if int(times.sum()) > limit:
        return None
    steps = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
    return np.repeat(old, times), new[order[np.repeat(first, times) + steps]]


def _subtract_measures(older: CellMeasure | None, newer: CellMeasure | None) -> CellMeasure | None:
    """Return the absolute differences of two measures of the same cells."""
    if older is None or newer is None:
        return None
    before, after = align_decimals((older, newer))
    units = np.abs(minus(after.units, before.units))
    return CellMeasure(units, (before.known & after.known).astype(np.bool_), before.places)


def _mask_unknown_changes(contributors: CellMeasure | None, value: CellMeasure | None) -> CellMeasure | None:
    """Return how many came or left. It is not known where as many came as left, and the value has changed."""
    if contributors is None or value is None:
        return contributors
    is_known = contributors.known & ((contributors.units != 0) | (value.units == 0))
    return replace(contributors, known=is_known.astype(np.bool_))


def with_common_codes(*tables: tuple[TableCells, Mapping[tuple[int, int], str]]) -> Iterator[TableCells]:
    """Yield tables whose codes were made separately, with the same codes for the same texts.

    Args:
        *tables: each with the texts of its codes, by (axis, code).
    """
    width = range(len(tables[0][0].dimensions))
    codes: list[dict[str | int, int]] = [{} for _ in width]
    keys = [cells.keys.copy() for cells, _ in tables]
    for table_keys, (cells, labels) in zip(keys, tables, strict=True):
        for axis in width:
            used, at = np.unique(cells.keys[:, axis], return_inverse=True)
            texts = [labels.get((axis, code), code) for code in used.tolist()]  # a code without a text is its own name
            numbers = [codes[axis].setdefault(text, len(codes[axis])) for text in texts]
            table_keys[:, axis] = np.array(numbers, dtype=np.int32)[at.reshape(-1)]
    dimensions = tuple(map(Breakdown.plain, tables[0][0].names, map(len, codes)))
    for table_keys, (cells, _) in zip(keys, tables, strict=True):
        yield TableCells(dimensions, table_keys, cells.count, cells.contributors, cells.value)


_UNLIKE = "Fewer than half of the cells are in both tables. Compare tables that spell their values the same way."
_TWICE = "A cell has several rows in one of the tables, so its change is unknown. Give every cell one row."
_UNCLEAR = "Cells of one of the tables may be totals that reveal hidden cells. Name totals with {}."
_OPEN = "Hidden cells of one of the tables could not be checked: published cells may reveal them."
_WRONG = "Totals of one of the tables are not the sums of its cells. Rows may be missing from it."
_NOISY = "One of the tables has noise in its numbers, so its changes are unknown."
_OTHER_NAMES = (
    "Values that only one of the tables has may be other spellings of the same values. Too few people would then have "
    "changed. Spell them the same way, or compare tables with the same values."
)


@dataclass(frozen=True, eq=False)
class TableChange:
    """The changes between two releases.

    Args:
        before, after: the numbers of the releases.
        query: the query of the cells.
        cells: the changes.
        doubt: why nothing passes, or empty.
        renamed: the changes if values had other names before; None where there are too many pairs.
    """

    before: int
    after: int
    query: CellQuery
    cells: TableCells
    doubt: str
    renamed: RenamedCells | None


def find_differences(
    engine: Engine, releases: Sequence[Relation], request: AggregatesRequest, top: int
) -> Iterator[TableChange]:
    """Yield the changes between every two releases, an older and a newer one.

    The contributors of such a cell are those who came, left or contribute something else; its value is the change. Of
    published tables only the differences of their numbers are known; rows identify the people.

    Raises:
        UsageError: unknown columns, or rows without a column of persons.
    """
    if request.microdata:
        yield from _compare_rows(engine, releases, request, top)
    else:
        yield from _compare_tables(engine, releases, request)


def _compare_rows(
    engine: Engine, releases: Sequence[Relation], request: AggregatesRequest, top: int
) -> Iterator[TableChange]:
    """Yield the changes between every two releases of rows.

    Raises:
        UsageError: no column of persons.
    """
    if not request.person:
        raise UsageError(f"Rows of two releases are compared by person. Name the column with {spelled('person')}.")
    labelled_cells = []
    for release in releases:
        query = list_cells(engine, release, request)
        cells = read_cells(engine, query, request)
        labels = query.labels(engine, [np.unique(column).tolist() for column in cells.keys.T])
        labelled_cells.append((cells, labels))
    for older, newer in combinations(range(len(releases)), 2):
        query = list_cells(engine, releases[newer], request, top, before=releases[older])
        cells = read_cells(engine, query, request)
        before, after = with_common_codes(labelled_cells[older], labelled_cells[newer])
        yield TableChange(older, newer, query, cells, "", find_renamed(before, after, find_text_axes(query)))


def _compare_tables(engine: Engine, releases: Sequence[Relation], request: AggregatesRequest) -> Iterator[TableChange]:
    """Yield the changes between every two published tables."""
    comparable = replace(request, largest=(), structural="", rate=())
    queries = [list_cells(engine, release, comparable) for release in releases]
    query = union_tables(engine, queries)
    cells = read_cells(engine, query, comparable)
    assert cells.release is not None
    stated = read_stated_totals(engine, query, cells, comparable)
    parts = [cells.select(cells.release == number) for number in range(len(queries))]
    tables = [with_structure(part, stated.restricted_to(part)) for part in parts]
    doubts = [_find_doubt(table) for table in tables]
    names = sorted({axis for source in queries for axis in find_text_axes(source)})
    for older, newer in combinations(range(len(queries)), 2):
        doubt = doubts[older] or doubts[newer]
        before, after = (tables[number] if doubt else with_deduced_numbers(tables[number]) for number in (older, newer))
        # with less than half of the smaller table in both, values are more likely spelled in another way
        shared = len(np.intersect1d(before.packed_keys, after.packed_keys))
        if 2 * shared < min(len(np.unique(release.packed_keys)) for release in (before, after)):
            doubt = doubt or _UNLIKE
        yield TableChange(
            older, newer, query, subtract_tables(before, after), doubt, find_renamed(before, after, names)
        )


def _find_doubt(cells: TableCells) -> str:
    """Return why readers may know changes of this table's cells that are not found here, or an empty text."""
    if len(np.unique(cells.packed_keys)) < len(cells):
        return _TWICE
    if is_noisy(cells):
        return _NOISY
    if bool(find_broken_totals(cells, noisy=False).any()):
        return _WRONG
    hides = bool(cells.hidden.any())
    unclear = cells.unclear if hides else cells.rolled_up
    if any(mask is not None and bool(mask.any()) for mask in (unclear, cells.nested)):
        return _UNCLEAR.format(spelled("total", "column=value"))
    if not hides:
        return ""
    narrow = find_narrow_cells(cells, ANY_WIDTH)
    return _OPEN if bool((cells.hidden & ~narrow.judged & ~narrow.unsafe).any()) else ""


def judge_change(verdicts: ReleaseDifference, change: TableChange, if_renamed: Sequence[Bools]) -> ReleaseDifference:
    """Return the verdicts on a change; no rule passes where there is a doubt.

    Args:
        verdicts: on the changes.
        change: what they are of.
        if_renamed: for each rule, the pairs of cells that would be unsafe if their values had been renamed.
    """
    rules, note = verdicts.unsafe, change.doubt or _OTHER_NAMES
    if change.doubt == _NOISY:
        verdicts = replace(verdicts, unsafe_cells=0)
        rules = tuple(replace(rule, status=Status.PASS, cells=0, keys=()) for rule in rules)
    if change.doubt or change.renamed is None:
        return replace(verdicts, unsafe=tuple(_with_doubt(rule, verdicts.changed, note) for rule in rules))
    concerned = [change.renamed.count_cells(np.flatnonzero(is_unsafe)) for is_unsafe in if_renamed]
    both = zip(rules, concerned, strict=True)
    return replace(verdicts, unsafe=tuple(_with_doubt(rule, number, note) if number else rule for rule, number in both))


def _with_doubt(rule: RuleFound, cells: int, note: str) -> RuleFound:
    """Return a rule with this number of undecided cells; it passes no longer."""
    if rule.status is not Status.PASS:
        return rule
    undecided = min(cells, rule.judged)
    return replace(rule, status=Status.UNDETERMINED, undecided=undecided, judged=rule.judged - undecided, note=note)


def subtract_tables(older: TableCells, newer: TableCells) -> TableCells:
    """Return the cells that differ between two tables, with the absolute differences of their numbers.

    A cell that one of them does not have counts as 0 there. The change of a number that either of them hides is not
    known.
    """
    numbers = np.unique(np.concatenate([older.packed_keys, newer.packed_keys]))
    keys = np.zeros((len(numbers), older.keys.shape[1]), dtype=np.int32)
    sides = []
    for table in (older, newer):
        rows = np.searchsorted(numbers, table.packed_keys)
        keys[rows] = table.keys
        count, contributors, value = (_spread_measure(getattr(table, name), rows, len(numbers)) for name in _COMPARED)
        sides.append(TableCells(table.dimensions, keys, count, contributors, value))
    both = _subtract_cells(*sides)
    return both.select(both.hidden | np.logical_or.reduce([measure.units != 0 for measure in both.published]))


def _spread_measure(measure: CellMeasure | None, rows: Integers, cells: int) -> CellMeasure | None:
    """Return the measure over all cells: 0 and known where the table has no such cell."""
    if measure is None:
        return None
    units = np.zeros(cells, dtype=measure.units.dtype)
    is_known: Bools = np.ones(cells, dtype=np.bool_)
    units[rows], is_known[rows] = measure.units, measure.known
    return CellMeasure(units, is_known, measure.places)


def expand_releases(engine: Engine, before: Sequence[Target], newest: Target) -> list[Target]:
    """Return the older releases one by one: the files of a pattern in the order of their names, without the newest.

    Args:
        before: the releases as they were named.
        newest: the release that they are compared with, which may be a file of the pattern.

    Raises:
        UsageError: a pattern names no release but the newest.
    """
    newest_files = set(files_named(newest.relation))
    releases: list[Target] = []
    for target in before:
        paths = _match_files(engine, target)
        if paths is None:
            releases.append(target)
            continue
        older = [path for path in paths if path not in newest_files]
        if not older:
            raise UnknownFile(
                f"{spelled('before')}: the pattern {target.name!r} matches no file except the newest release."
            )
        releases += (replace(target, relation=str(path), label=path.name) for path in older)
    return releases


def _match_files(engine: Engine, target: Target) -> list[Path] | None:
    """Return the files of a pattern; None of anything else, and of a pattern without files.

    Opening such a pattern raises the error.
    """
    text = target.relation
    if not text or not glob.has_magic(text):
        return None
    if any(text in (name, f"{schema}.{name}") for schema, name in engine.catalog_tables() or ()):
        return None
    paths = files_named(text)
    return paths if paths and not any(path.name == Path(text).name for path in paths) else None
