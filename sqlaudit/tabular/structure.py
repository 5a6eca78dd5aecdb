"""A published table read as cells: which values of a dimension are totals of others, and keys as codes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain, pairwise
from math import ceil, floor
from typing import Any

import numpy as np

from sqlaudit.base.errors import InputError, UsageError
from sqlaudit.base.names import shown
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.whole_arrays import minus, plus
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.read import read_hierarchies
from sqlaudit.models.registry import cell_rule
from sqlaudit.reports.document import plural
from sqlaudit.tabular.cells import (
    NO_PARENT,
    Bools,
    Breakdown,
    CellLimits,
    CellMeasure,
    Codes,
    TableCells,
    Wholes,
    align_decimals,
    published_measures,
    read_measure,
    with_mark_limits,
)
from sqlaudit.tabular.labels import code_parents, never_totals
from sqlaudit.tabular.listing import CellQuery, check_contributions
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.secondary.system import FREE, Integers, find_rounding_base
from sqlaudit.tabular.totals import add_left_out_cells

_MOST_GROUPS, _MOST_STEPS = 100, 5_000
"""Limits of the search per value: groups of cells, and placements within a group."""
_MOST_ALONE = 100
"""Largest number of values, alone in their groups, that are tried as the total of the table."""
_NOISE = 50
"""A total may differ from its parts by one part in this many, as where noise was added to each."""
_ADDABLE = 2**40
"""Numbers below this, a million of them, add up within 64 bits."""


def find_likely_totals(cells: TableCells, axis: int, known_total: int | None = None) -> list[int]:
    """Return the values that may be the sum of all others in some group of cells, and in no group are something else.

    The others may be sums themselves, of further ones: a country beside its regions and their towns. Then each of these
    must fit below it, and what is left of a sum is that of hidden cells.

    Args:
        cells: the table.
        axis: the dimension.
        known_total: the code that stands for all in any case. Groups that publish it are skipped: their values have to
            add up to it.
    """
    codes, parents = cells.keys[:, axis], cells.dimensions[axis].parents
    group, groups = cells.group_along(axis)
    is_looked_at = (parents[codes] == NO_PARENT) & (codes != known_total)
    is_possible, is_impossible = np.zeros(len(parents), dtype=np.bool_), np.zeros(len(parents), dtype=np.bool_)
    by_measure: list[_SumCandidates] = []
    for measure in cells.published:
        lacks_total = np.bincount(group[(codes == known_total) & ~measure.known], minlength=groups) > 0
        which = is_looked_at if known_total is None else is_looked_at & lacks_total[group]
        candidates = _SumCandidates(codes[which], group[which], groups, measure.select(which))
        is_possible[candidates.codes[candidates.possible]] = True
        is_impossible[candidates.codes[candidates.impossible]] = True
        by_measure.append(candidates)
    return [
        code
        for code in np.flatnonzero(is_possible & ~is_impossible).tolist()
        if all(candidates.can_contain_others(code) for candidates in by_measure)
    ]


def can_be_total(cells: TableCells, axis: int, code: int) -> bool:
    """Return True if a value may be the sum of all others, some of which may have no row.

    That is so if none of its numbers is too small.
    """
    which = cells.dimensions[axis].parents[cells.keys[:, axis]] == NO_PARENT
    group, groups = cells.group_along(axis)
    for measure in cells.published:
        if bool((measure.units < 0).any()):
            continue
        candidates = _SumCandidates(cells.keys[which, axis], group[which], groups, measure.select(which), left_out=True)
        if bool(candidates.impossible[candidates.codes == code].any()) or not candidates.can_contain_others(code):
            return False
    return True


def find_lone_totals(cells: TableCells, axis: int, totals: Mapping[int, int]) -> list[int]:
    """Return the values that are alone in their groups and at least as much as all others: totals of the whole table.

    Args:
        cells: the table.
        axis: the dimension.
        totals: by dimension, the code that is known to stand for all.
    """
    codes = cells.keys[:, axis]
    group, groups = cells.group_along(axis)
    has_others = np.bincount(group, minlength=groups)[group] > 1
    lone_codes = np.setdiff1d(codes, codes[has_others])
    is_detail = np.ones(len(cells), dtype=np.bool_)
    for other_axis, code in totals.items():
        is_detail &= (cells.keys[:, other_axis] != code) | (other_axis == axis)
    lone_totals = set()
    for measure in cells.published:
        for code in lone_codes[:_MOST_ALONE].tolist():
            is_code, others = (codes == code) & measure.known, (codes != code) & is_detail
            amount = (
                sum(measure.units[is_code & is_detail].tolist())
                if bool((is_code & is_detail).any())
                else max(measure.units[is_code], default=-1)
            )
            if bool((others & ~measure.known).any()) and amount >= sum(measure.units[others & measure.known].tolist()):
                lone_totals.add(code)
    return sorted(lone_totals)


@dataclass
class _SumCandidates:
    """Cells in groups that differ in one dimension alone, with those that may be the sum of the others in their group.

    Args:
        codes: the code of each cell in that dimension.
        group: the number of each cell's group.
        groups: how many groups there are.
        measure: the published number of each cell.
        left_out: True if cells of any group may have no row.
    """

    codes: Wholes
    group: Wholes
    groups: int
    measure: CellMeasure
    left_out: bool = False
    steps: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        """Decide which cells may be the sum of the others: at once (flat), or of nested sums (deep)."""
        units, is_known, group = self.measure.units, self.measure.known, self.group
        self.hidden = np.bincount(group[~is_known], minlength=self.groups)
        self.others = np.bincount(group, minlength=self.groups)[group] - 1
        sums = np.zeros(self.groups, dtype=units.dtype if int(np.abs(units).max(initial=0)) < _ADDABLE else object)
        np.add.at(sums, group, units)  # unknown numbers are 0
        base = None if units.dtype == object else find_rounding_base(units[is_known].astype(np.int64))
        rounding = 2 * (base.base - 1) if base is not None else 0
        noise = np.where(self.others > 1, np.abs(units) // _NOISE, 0)
        self.slack = np.maximum(np.where(self.others > 0, (self.others + 1) * rounding, 0), noise)
        others, is_complete = sums[group] - units, (self.hidden[group] == 0) & (not self.left_out)
        if bool((units < 0).any()):  # hidden cells may then be negative, too
            self.flat = np.where(is_complete, np.abs(units - others) <= self.slack, True).astype(np.bool_)
            self.deep = np.zeros_like(is_known)
        else:
            largest = np.zeros(self.groups, dtype=units.dtype)
            np.maximum.at(largest, group, units)
            enough = units + self.slack >= others
            within = units - self.slack <= others + bound_hidden_sums(self.measure, group, self.groups)[group]
            within |= self.left_out
            self.flat = np.where(is_complete, enough & (units - self.slack <= others), enough & within).astype(np.bool_)
            top = units + self.slack >= largest[group]
            deep = top & (2 * (units + self.slack) >= others) & ~self.flat
            self.deep = (deep & within).astype(np.bool_)
        seen = is_known & (self.others > 0)
        self.possible = seen & (self.flat | self.deep) & ((units != 0).astype(np.bool_) | ~is_complete)
        self.impossible = seen & ~(self.flat | self.deep)

    def can_contain_others(self, code: int) -> bool:
        """Return True if all others fit below a value, in every group where they are more than the value together."""
        deep = np.flatnonzero((self.codes == code) & self.deep & self.measure.known)
        for cell in deep[np.argsort(self.others[deep], kind="stable")][:_MOST_GROUPS].tolist():
            is_other = (self.group == self.group[cell]) & self.measure.known
            is_other[cell] = False
            values = sorted(self.measure.units[is_other].tolist(), reverse=True)
            self.steps = 0
            top, slack = int(self.measure.units[cell]), int(self.slack[cell])
            if not self._can_place(values, [top], [0], int(self.hidden[self.group[cell]]), slack):
                return False
        return True

    def _can_place(self, values: Sequence[int], left: list[int], parts: list[int], hidden: int, slack: int) -> bool:
        """Return True if the values fit under the total, or under each other. Search by placing the largest one first.

        Args:
            values: the values to be placed, in falling order.
            left: what is left of the total, then of each value that was placed.
            parts: how many parts each of these has.
            hidden: number of sums that hidden cells may be the rest of.
            slack: the difference that a sum may have.
        """
        self.steps += 1
        if self.steps > _MOST_STEPS:
            return True  # not decided: a value stays a candidate
        if not values:
            return sum(rest > slack for rest, count in zip(left, parts, strict=True) if count) <= hidden
        tried = set()
        for index, rest in enumerate(left):
            if rest + slack < values[0] or (rest, parts[index] > 0, index == 0) in tried:
                continue
            tried.add((rest, parts[index] > 0, index == 0))
            new_sum = [values[0]] if index == 0 else []
            amounts = [rest - values[0] if at == index else amount for at, amount in enumerate(left)] + new_sum
            counts = [count + (at == index) for at, count in enumerate(parts)] + [0] * len(new_sum)
            if self._can_place(values[1:], amounts, counts, hidden, slack):
                return True
        return False


def bound_hidden_sums(measure: CellMeasure, group: Wholes, groups: int) -> Integers:
    """Return for each group of cells the upper limit of the sum of its hidden ones, FREE where one has no limit."""
    upper = np.where(measure.known, 0, FREE if measure.limits is None else measure.limits.upper)
    is_unlimited = np.bincount(group[upper >= FREE], minlength=groups) > 0
    sums = np.zeros(groups, dtype=np.int64)
    np.add.at(sums, group, np.where(upper >= FREE, 0, upper))
    return np.where(is_unlimited, FREE, sums)


_FEWEST_VALUES, _MOST_VALUES, _MOST_PARTS, _MOST_SUBTOTAL_GROUPS = 3, 200, 40, 12
_MOST_SUBTOTAL_STEPS, _MOST_NUMBERS = 50_000, 5_000_000
_SURE = 16.0
"""Bits of evidence, beyond chance, that a sum needs."""


def find_subtotals(cells: TableCells, axis: int, left_out: Sequence[int]) -> dict[int, int]:
    """Return the parent of each value that is part of a sum in every group of cells.

    A group is of cells that differ in this dimension alone. A sum counts where it is the only one that fits, and where
    many groups agree in numbers so large that it is not chance.

    Args:
        cells: the table.
        axis: the dimension.
        left_out: codes that are neither parts nor sums: totals of everything.
    """
    matrix = _tabulate_groups(cells, axis, left_out)
    if matrix is None or bool((matrix < 0).any()):
        return {}
    search = _SumSearch(matrix[np.argsort(-np.count_nonzero(matrix, axis=1), kind="stable")[:_MOST_SUBTOTAL_GROUPS]])
    parents: dict[int, int] = {}
    others = [code for code in range(matrix.shape[1]) if bool(matrix[:, code].any())]
    for code in sorted(others, key=lambda part: (int(matrix[:, part].sum()), part)):
        candidates = [part for part in others if part != code and part not in parents]
        parts = search.find_unique_parts(
            code, [part for part in candidates if bool((matrix[:, part] <= matrix[:, code]).all())]
        )
        if parts and np.array_equal(matrix[:, list(parts)].sum(axis=1), matrix[:, code]):
            parents |= dict.fromkeys(parts, code)
    return parents


def _tabulate_groups(cells: TableCells, axis: int, left_out: Sequence[int]) -> Integers | None:
    """Return the numbers of fully published groups as groups × values, each row once; None if there are none."""
    if not cells.published or len(np.unique(cells.packed_keys)) < len(cells):
        return None
    measure, size = cells.published[0], cells.dimensions[axis].size
    if measure.units.dtype == object or not _FEWEST_VALUES <= size <= _MOST_VALUES:
        return None
    group, groups = cells.group_along(axis)
    code = cells.keys[:, axis]
    is_complete = np.ones(groups, dtype=np.bool_)
    is_complete[group[~measure.known & ~np.isin(code, list(left_out))]] = False
    row = np.cumsum(is_complete) - 1
    is_used = is_complete[group]
    if not int(is_complete.sum()) or int(is_complete.sum()) * size > _MOST_NUMBERS:
        return None
    table = np.zeros((int(is_complete.sum()), size), dtype=np.int64)
    table[row[group[is_used]], code[is_used]] = measure.units[is_used]
    table[:, list(left_out)] = 0
    return np.asarray(np.unique(table, axis=0), dtype=np.int64)


@dataclass
class _SumSearch:
    """A search for columns whose sum is another column, in all rows.

    Args:
        rows: groups × values.
        steps: number of steps so far.
    """

    rows: Integers
    steps: int = 0
    _solutions: list[tuple[int, ...]] = field(default_factory=list)

    def find_unique_parts(self, code: int, parts: Sequence[int]) -> tuple[int, ...]:
        """Return the parts of a value; none where there are several ways, no way, or too little evidence."""
        target = self.rows[:, code]
        sure = float(np.log2(target + 1.0).sum()) - len(parts)
        if not 2 <= len(parts) <= _MOST_PARTS or sure < _SURE:
            return ()
        order = sorted(parts, key=lambda part: -int(self.rows[:, part].sum()))
        columns = [self.rows[:, part].tolist() for part in order]
        left = np.cumsum(self.rows[:, order[::-1]], axis=1)[:, ::-1].T.tolist()
        self._solutions = []
        self._search(columns, [*left, [0] * len(target)], target.tolist(), 0, ())
        solutions = self._solutions
        return tuple(order[index] for index in solutions[0]) if len(solutions) == 1 and len(solutions[0]) > 1 else ()

    def _search(
        self, columns: list[list[int]], left: list[list[int]], target: list[int], at: int, chosen: tuple[int, ...]
    ) -> None:
        """Take the next value, or leave it, as long as what is left can still be reached."""
        self.steps += 1
        if not any(target):
            self._solutions.append(chosen)
            return
        if at == len(columns) or len(self._solutions) > 1 or self.steps > _MOST_SUBTOTAL_STEPS:
            # two empty solutions end the search: none is unique then
            self._solutions += [()] * (self.steps > _MOST_SUBTOTAL_STEPS) * 2
            return
        if any(rest < amount for rest, amount in zip(left[at], target, strict=True)):
            return
        smaller = [amount - number for amount, number in zip(target, columns[at], strict=True)]
        if min(smaller) >= 0:
            self._search(columns, left, smaller, at + 1, (*chosen, at))
        self._search(columns, left, target, at + 1, chosen)


def find_parents(rows: Mapping[str | None, Sequence[str | None]], top: str, codes: Mapping[str, int]) -> dict[int, int]:
    """Return the parent of each value by a hierarchy: the next of its labels that the dimension has.

    Args:
        rows: each value with its labels, finest first.
        top: the label of the highest level.
        codes: the code of each label that the dimension has.

    Example:
        >>> rows = {"10115": ("Berlin", "East"), "04103": ("Leipzig", "East")}
        >>> find_parents(rows, "*", {"10115": 1, "04103": 2, "East": 3, "*": 4})
        {1: 3, 3: 4, 2: 3}
    """
    parents: dict[int, int] = {}
    for value, labels in rows.items():
        chain = [codes[name] for name in (value, *labels, top) if name is not None and name in codes]
        for part, parent in pairwise(chain):
            add_parent(parents, part, parent)
    return parents


def add_parent(parents: dict[int, int], part: int, parent: int) -> None:
    """Make a value part of another one, unless it has a parent already, or the other one is part of it."""
    above = parent
    while above != part and above in parents:
        above = parents[above]
    if part not in parents and above != part:
        parents[part] = parent


MISSING, ALL = 0, 0
"""Codes of a missing value and, with grouping sets, of all values together (a missing one is then 1)."""


def with_totals(engine: Engine, query: CellQuery, cells: TableCells, request: AggregatesRequest) -> TableCells:
    """Return the cells with the parents of all codes in each dimension.

    Raises:
        UsageError: a total that no cell has, or a hierarchy that lists no values.
    """
    if query.flags:
        return _with_grand_totals(cells, {axis: ALL for axis in range(len(query.names)) if _has_code(cells, axis, ALL)})
    if not query.finished:
        return cells
    return with_structure(cells, read_stated_totals(engine, query, cells, request))


@dataclass(frozen=True)
class StatedTotals:
    """The totals that names and hierarchies state, before any number is read; all by dimension.

    Args:
        words: the codes that read like a total. Several are unclear; an empty list means that there is none to find.
        links: the parent of each code, by a hierarchy.
        unlisted: the codes that a hierarchy leaves out.
        named: the dimensions whose total is named in the request; no other value is tried there.
        siblings: the codes whose labels show that they are no total.
        nested: the code that each code extends.
        orphans: the dimensions in which longer codes extend none.
        fewest: a smaller difference between a code and those that extend it reveals people.
    """

    words: Mapping[int, list[int]]
    links: Mapping[int, dict[int, int]]
    unlisted: Mapping[int, list[int]]
    named: frozenset[int]
    siblings: Mapping[int, set[int]] = field(default_factory=dict)
    nested: Mapping[int, dict[int, int]] = field(default_factory=dict)
    orphans: Mapping[int, bool] = field(default_factory=dict)
    fewest: int = 1

    def restricted_to(self, cells: TableCells) -> StatedTotals:
        """Return the stated totals of one of several tables that were read together: only codes that it has."""
        words = {axis: [code for code in codes if _has_code(cells, axis, code)] for axis, codes in self.words.items()}
        return replace(self, words={axis: codes for axis, codes in words.items() if codes or not self.words[axis]})


def read_stated_totals(engine: Engine, query: CellQuery, cells: TableCells, request: AggregatesRequest) -> StatedTotals:
    """Return the totals that the request and the names of values state.

    Raises:
        UsageError: a named total that no cell has, or a hierarchy that lists no values.
    """
    named = request.totals()
    words = _find_total_words(engine, query, cells, named)
    links, unlisted = _read_hierarchy_links(engine, query, cells, None if request.nested() else request.hierarchies)
    all_labels = query.labels(engine, [np.unique(column).tolist() for column in cells.keys.T])
    siblings, nested, orphans = {}, {}, {}
    for axis, name in enumerate(request.by):
        labels = {
            code: text for (at, code), text in all_labels.items() if at == axis and code not in words.get(axis, [])
        }
        siblings[axis] = never_totals(labels)
        nested[axis], orphans[axis] = code_parents(labels)
        if name == request.nested():
            links[axis] = nested.pop(axis)
    fewest = FREE if request.protect else max((cell_rule(rule).fewest or 1 for rule in request.requirements), default=1)
    named_axes = frozenset(map(request.by.index, named))
    return StatedTotals(words, links, unlisted, named_axes, siblings, nested, orphans, fewest)


def with_structure(cells: TableCells, stated: StatedTotals) -> TableCells:
    """Return the cells of a table without totals with the parents of all codes.

    A total or a hierarchy that is stated comes first. Otherwise numbers decide which values add up to others; where
    they do not, the cells that may be totals are marked as unclear.
    """
    words, links, unlisted = stated.words, stated.links, stated.unlisted
    labelled = {axis: codes[0] for axis, codes in words.items() if len(codes) == 1}
    unclear = {axis: codes for axis, codes in words.items() if len(codes) > 1}
    rolled_up: dict[int, list[int]] = {}
    nested: dict[int, set[int]] = {}
    totals = dict(labelled)
    for axis in range(len(cells.dimensions)):
        total = labelled.get(axis)
        if axis in links:
            cells = _with_parents(cells, axis, links[axis], total)
        elif not (_is_missing_total(cells, axis) if total is None else adds_up(cells, axis, total)):
            subtotals, unclear_codes = ({}, set()) if words.get(axis) == [] else _find_nested_codes(cells, axis, stated)
            subtotals = subtotals or find_subtotals(cells, axis, [] if total is None else [total])
            cells = _with_parents(cells, axis, subtotals, total)
            if unclear_codes := unclear_codes - set(subtotals.values()):
                nested[axis] = unclear_codes
                cells = cells.with_dimension(axis, replace(cells.dimensions[axis], nested=True))
        if words.get(axis) == []:
            continue
        if axis not in totals and _is_missing_total(cells, axis):
            totals[axis] = MISSING
        has_missing_root = axis not in totals and axis not in words and _is_missing_root(cells, axis)
        if has_missing_root and can_be_total(cells, axis, MISSING):  # some of the others may have no row
            unclear[axis] = [MISSING]
            rolled_up[axis] = [MISSING]
        elif axis not in stated.named and axis not in links and not bool(cells.dimensions[axis].is_grand.any()):
            likely = find_likely_totals(cells, axis, totals.get(axis))
            likely += [] if axis in totals else find_lone_totals(cells, axis, totals)
            unclear[axis] = [*unclear.get(axis, []), *(set(likely) - stated.siblings.get(axis, set()))]
        if axis in unlisted and not (axis in totals and adds_up(cells, axis, totals[axis])):
            unclear[axis] = [*unclear.get(axis, []), *(set(unlisted[axis]) - {totals.get(axis)})]
    cells = replace(
        _with_grand_totals(cells, totals),
        unclear=mark_cells(cells, unclear),
        nested=mark_cells(cells, nested),
        rolled_up=mark_cells(cells, rolled_up),
    )
    return add_left_out_cells(cells)


def _find_nested_codes(cells: TableCells, axis: int, stated: StatedTotals) -> tuple[dict[int, int], set[int]]:
    """Return the tree that codes form and numbers prove, or else the codes that may be totals of what extends them.

    A tree is proven where every code but the shortest extends another one, and where each code whose parts are all
    published is their sum. A code may be a total where it is never less than its parts, and one of them is hidden or
    few people are missing.
    """
    parents = {part: parent for part, parent in stated.nested.get(axis, {}).items() if _has_code(cells, axis, part)}
    parents = {part: parent for part, parent in parents.items() if _has_code(cells, axis, parent)}
    if not parents:
        return {}, set()
    refuted, inexact, exact, unclear = set[int](), set[int](), set[int](), set[int]()
    size = cells.dimensions[axis].size
    above = np.full(size, NO_PARENT, dtype=np.int64)
    above[list(parents)] = list(parents.values())
    codes, (group, _) = cells.keys[:, axis].astype(np.int64), cells.group_along(axis)
    part, cell_ids = np.flatnonzero(above[codes] != NO_PARENT), group * size + codes
    families, at = np.unique(group[part] * size + above[codes[part]], return_inverse=True)
    order = np.argsort(cell_ids, kind="stable")
    parent_cell = order[np.minimum(np.searchsorted(cell_ids[order], families), len(cell_ids) - 1)]
    has_parent_cell, parent_codes = cell_ids[parent_cell] == families, families % size
    parts = np.bincount(above[list(parents)], minlength=size)[parent_codes]
    for name, measure in published_measures(cells):
        sums = np.zeros(len(families), dtype=measure.units.dtype)
        np.add.at(sums, at, np.where(measure.known[part], measure.units[part], 0))
        known_parts, all_parts = (
            np.bincount(members, minlength=len(families)) for members in (at[measure.known[part]], at)
        )
        left, read = measure.units[parent_cell] - sums, has_parent_cell & measure.known[parent_cell]
        fewest = stated.fewest if name == "count" else min(stated.fewest, 1)
        near = (known_parts < all_parts) & (
            left < bound_hidden_sums(measure.select(part), at, len(families)) + stated.fewest
        )
        refuted |= set(parent_codes[read & (left < 0)].tolist())
        inexact |= set(parent_codes[read & (known_parts == parts) & (left != 0)].tolist())
        exact |= set(parent_codes[read & (known_parts == parts) & (parts > 1) & (left == 0) & (sums > 0)].tolist())
        unclear |= set(
            parent_codes[(has_parent_cell & ~read) | (read & (near | ((left > 0) & (left < fewest))))].tolist()
        )
    if exact and not refuted and not inexact and not stated.orphans.get(axis):
        return parents, set()
    for code in list(unclear):
        while (code := parents.get(code, NO_PARENT)) != NO_PARENT:
            unclear.add(code)
    return {}, unclear - refuted


def mark_cells(cells: TableCells, codes: Mapping[int, Collection[int]]) -> Bools | None:
    """Return the cells that have one of the codes in a dimension; None where no dimension is given.

    Args:
        codes: by dimension.
    """
    if not codes:
        return None
    is_marked = np.zeros(len(cells), dtype=np.bool_)
    for axis, axis_codes in codes.items():
        is_marked |= np.isin(cells.keys[:, axis], list(axis_codes))
    return is_marked


def _has_code(cells: TableCells, axis: int, code: int) -> bool:
    return bool(np.any(cells.keys[:, axis] == code))


def _is_missing_total(cells: TableCells, axis: int) -> bool:
    return _is_missing_root(cells, axis) and adds_up(cells, axis, MISSING)


def _is_missing_root(cells: TableCells, axis: int) -> bool:
    """Return True if some cell has a missing value, and a missing value has no parent."""
    return bool(cells.dimensions[axis].parents[MISSING] == NO_PARENT) and _has_code(cells, axis, MISSING)


def _with_parents(cells: TableCells, axis: int, links: Mapping[int, int], total: int | None) -> TableCells:
    """Return the cells with the parents of codes in a dimension. A total of everything is added later."""
    parents = cells.dimensions[axis].parents.copy()
    for part, parent in links.items():
        if total not in (part, parent):
            parents[part] = parent
    cells = cells.with_dimension(axis, replace(cells.dimensions[axis], parents=parents))
    used = np.unique(cells.keys[:, axis])
    tops = used[parents[used] == NO_PARENT]
    return _with_grand_totals(cells, {axis: int(tops[0])}) if total is None and links and len(tops) == 1 else cells


def _with_grand_totals(cells: TableCells, totals: Mapping[int, int]) -> TableCells:
    for axis, code in totals.items():
        cells = cells.with_dimension(axis, with_grand_total(cells.dimensions[axis], code))
    return cells


def _find_total_words(
    engine: Engine, query: CellQuery, cells: TableCells, named: dict[str, str]
) -> dict[int, list[int]]:
    """Return the codes of each dimension's total, as it is named or by usual words; all codes, if several.

    A total named by an empty text, which no cell has, is none: the list is empty.

    Raises:
        UsageError: a named total that no cell has.
    """
    by_label = {name: label for name, label in named.items() if label != "NULL"}
    placeholders = {name: f"${number}" for number, name in enumerate(by_label, 1)}
    statement = render(
        "tabular/tabular_totals.sql",
        engine.dialect,
        source=query.source,
        dimensions=list(query.dimensions),
        named=[Raw(placeholders[name]) if name in placeholders else None for name in query.names],
    )
    labelled: dict[int, list[int]] = {}
    for axis, code in engine.run(statement, list(by_label.values())):
        labelled.setdefault(int(axis), []).append(int(code))
    totals = {}
    for axis, name in enumerate(query.names):
        codes = [MISSING] if named.get(name) == "NULL" else labelled.get(axis, [])
        if named.get(name) == "" and not codes:
            totals[axis] = codes
            continue
        if name in named and not (codes and _has_code(cells, axis, codes[0])):
            raise UsageError(f"{spelled('total')}: no cell has the value given for {shown(name)}.")
        if codes:
            totals[axis] = codes[:1] if name in named else codes
    return totals


def _read_hierarchy_links(
    engine: Engine, query: CellQuery, cells: TableCells, hierarchies: Any
) -> tuple[dict[int, dict[int, int]], dict[int, list[int]]]:
    """Return the parents of codes in the dimensions of a file of hierarchies, and the codes that the file leaves out.

    Raises:
        UsageError: a hierarchy that lists no values.
    """
    if not hierarchies:
        return {}, {}
    by_axis = read_hierarchies(hierarchies).for_columns(query.names)
    axes = [axis for axis, hierarchy in enumerate(by_axis) if hierarchy.form]
    for axis in axes:
        if by_axis[axis].table is None:
            raise UsageError(
                f"{by_axis[axis].place}: subtotals need a list of the values of {shown(query.names[axis])}: a tree, "
                "values, or a CSV file."
            )
    codes = [np.unique(cells.keys[:, axis]).tolist() if axis in axes else [] for axis in range(len(by_axis))]
    labels = query.labels(engine, codes)
    links, unlisted = {}, {}
    for axis in axes:
        table = by_axis[axis].table
        assert table is not None
        named = {label: code for (labelled_axis, code), label in labels.items() if labelled_axis == axis}
        links[axis] = find_parents(table.rows, table.top, named)
        listed_labels = {table.top, *table.rows, *chain.from_iterable(table.rows.values())}
        unlisted[axis] = [code for label, code in named.items() if label not in listed_labels and code != MISSING]
    return links, unlisted


def with_grand_total(dimension: Breakdown, total: int) -> Breakdown:
    """Return the dimension with one code as the parent of all that have none."""
    parents = np.where(dimension.parents == NO_PARENT, total, dimension.parents).astype(np.int32)
    parents[total] = NO_PARENT
    return replace(dimension, parents=parents)


def adds_up(cells: TableCells, axis: int, code: int) -> bool:
    """Return True if the cells of one value are the sum of all others in a dimension, as far as these are published.

    Values that are part of others count with these. No group may contradict, and one must confirm it: all of its
    numbers are known and add up.

    Args:
        code: the value that may be the total.
    """
    codes = cells.keys[:, axis]
    roots = (cells.dimensions[axis].parents[codes] == NO_PARENT) | (codes == code)
    group, groups = cells.group_along(axis)
    total = codes[roots] == code
    is_confirmed = False
    for measure in cells.published:
        agrees = _totals_agree(CellMeasure(measure.units[roots], measure.known[roots]), group[roots], groups, total)
        if agrees is False:
            return False
        is_confirmed |= bool(agrees)
    return is_confirmed


def _totals_agree(measure: CellMeasure, group: Wholes, groups: int, total: Bools) -> bool | None:
    """Return True if totals of a measure are the sums of their groups; None when no group shows it."""
    units = measure.units
    sums = np.zeros(groups, dtype=units.dtype)
    np.add.at(sums, group[~total], units[~total])
    is_complete = np.bincount(group[~total & ~measure.known], minlength=groups) == 0
    parts = np.bincount(group[~total], minlength=groups)
    at = np.flatnonzero(total & measure.known)
    at = at[parts[group[at]] > 0]
    complete = is_complete[group[at]]
    published, expected = units[at], sums[group[at]]
    if bool(np.any(complete & (published != expected))) or bool(np.any(~complete & (published < expected))):
        return False
    return True if bool(np.any(complete & (parts[group[at]] > 1))) else None


def mark_misnamed(engine: Engine, query: CellQuery, cells: TableCells) -> TableCells:
    """Return the cells with those marked whose values differ from others in capital letters or blanks only.

    Such a cell may be part of another total than its label shows, and the limits of hidden cells depend on that.
    Nothing is marked where no cell is hidden, or where totals come from grouping sets (`flags`), which add up the
    listed cells.
    """
    if not bool(cells.hidden.any()) or query.flags:
        return cells
    statement = render(
        "tabular/tabular_spellings.sql", engine.dialect, source=query.source, dimensions=list(query.dimensions)
    )
    is_misnamed = np.zeros(len(cells), dtype=np.bool_)
    for axis, code in engine.run(statement):
        is_misnamed |= cells.keys[:, int(axis)] == int(code)
    return replace(cells, misnamed=is_misnamed) if bool(is_misnamed.any()) else cells


def find_unmatched_codes(used: Sequence[Sequence[set[int]]]) -> list[list[set[int]]]:
    """Return for each table and dimension the values that another table lacks, if that one has others instead.

    Args:
        used: for each table the codes of each dimension, empty where it does not have it.

    Example:
        >>> find_unmatched_codes([[{1, 2}, {5}], [{1, 3}, set()], [{1}, {5}]])
        [[{2}, set()], [{3}, set()], [set(), set()]]
    """
    unmatched: list[list[set[int]]] = []
    for table_codes in used:
        differences = [
            [(mine - theirs, theirs - mine) for mine, theirs in zip(table_codes, other, strict=True)] for other in used
        ]
        unmatched.append([set().union(*(a for a, b in pairs if a and b)) for pairs in zip(*differences, strict=True)])
    return unmatched


def read_cells(engine: Engine, query: CellQuery, request: AggregatesRequest) -> TableCells:
    """Return the cells with their numbers, and which of them are totals.

    Raises:
        InputError: cells that are neither a number nor marked as hidden.
    """
    arrays = engine.columns_as_arrays(query.statement(engine.dialect))
    columns = list(arrays.values())
    width = len(query.names)
    keys = np.stack([np.ma.getdata(column).astype(np.int32) for column in columns[:width]], axis=1)
    numbers = dict(zip(query.measures, columns[width:], strict=True))
    flags, release = numbers.pop("structural", None), numbers.pop("release", None)
    structural = None if flags is None else np.ma.filled(flags, False).astype(np.bool_)
    marks = request.marks()
    measures = {
        name: read_measure(
            query.columns.get(name, name), column, [mark.text for mark in marks if mark.text], request.decimal
        )
        for name, column in numbers.items()
    }
    measures |= {name: replace(measures[name], places=places) for name, places in query.places.items()}
    check_contributions(measures)
    if query.rows is None:
        count_name = "count" if "count" in measures else "contributors"
        for name in {count_name, "value"} & set(measures):
            least = _find_least_hidden(measures[name], structural, request) if name == count_name else None
            limited = with_mark_limits(measures[name], numbers[name], marks, least)
            limits = limited.limits and replace(limited.limits, least=least or 0, stated=request.zeros == "shown")
            measures[name] = replace(limited, limits=limits)
    for index in range(len(request.rates())):
        rate, denominator = measures.pop(f"rate_{index}"), measures.pop(f"denominator_{index}")
        measures["count"] = with_rate_limits(measures["count"], rate, denominator)
    cells = replace(_build_cells(query, keys, measures, structural), release=release)
    if query.finished:
        cells = _with_absolute_sizes(cells, request)
        _check_order(query, cells)
        cells = mark_misnamed(engine, query, cells)
    return with_totals(engine, query, cells, request)


def _find_least_hidden(count: CellMeasure, structural: Bools | None, request: AggregatesRequest) -> int:
    """Return the least number that a hidden count can be: 1 where zeros are published, or the request says so."""
    zeros = count.known & (count.units == 0) & (True if structural is None else ~structural)
    return int(request.zeros == "shown" or (not request.zeros and bool(zeros.any())))


def with_rate_limits(count: CellMeasure, rate: CellMeasure, denominator: CellMeasure) -> CellMeasure:
    """Return the counts with the limits that published rates set for hidden ones.

    A rate is count / denominator, or a hundred, thousand … times that, rounded to its last decimal place. Where no
    published count exceeds its denominator, no hidden one does, even where its rate is hidden, too.

    Raises:
        InputError: published counts do not fit the rates, or a rate has neither a count nor a denominator beside it.
    """
    if lone_rates := int((rate.known & ~count.known & ~denominator.known).sum()):
        raise InputError(
            f"{plural(lone_rates, 'rate')} without a count and a denominator cannot be judged. Hide the rate there, "
            f"too, or leave out {spelled('rate')}."
        )
    half = Fraction(1, 2 * 10**rate.places)
    published = np.flatnonzero(denominator.known & count.known).tolist()
    is_part = all(_exact_number(count, cell) <= _exact_number(denominator, cell) for cell in published)
    published = [cell for cell in published if rate.known[cell]]

    def bounds(cell: int, scale: int) -> tuple[int, int]:
        of = _exact_number(denominator, cell)
        if not rate.known[cell]:
            return 0, floor(of)
        value = _exact_number(rate, cell)
        return ceil(of * (value - half) / scale), floor(of * (value + half) / scale)

    scales = []
    for scale in (1, 100, 1000, 10_000, 100_000):
        limits_shown = (bounds(cell, scale) for cell in published)
        if all(
            low <= _exact_number(count, cell) <= high for cell, (low, high) in zip(published, limits_shown, strict=True)
        ):
            scales.append(scale)
    if not scales:
        raise InputError(
            f"Rates are not the count divided by the denominator in {plural(len(published), 'published cell')}. "
            f"Correct {spelled('rate')}, or give the rates with more decimal places."
        )
    both = rate.known & denominator.known
    scale = next(
        (factor for factor in scales if not bool((rate.units[both] > factor * 10**rate.places).any())), scales[-1]
    )
    limits = count.limits or CellLimits.unlimited(len(count.units))
    for cell in np.flatnonzero(denominator.known & (rate.known | is_part) & ~count.known).tolist():
        low, high = bounds(cell, scale)
        limits.lower[cell] = max(int(limits.lower[cell]), low)
        limits.upper[cell] = min(int(limits.upper[cell]), high)
    return replace(count, limits=limits)


def _exact_number(measure: CellMeasure, cell: int) -> Fraction:
    return Fraction(int(measure.units[cell]), 10**measure.places)


def _with_absolute_sizes(cells: TableCells, request: AggregatesRequest) -> TableCells:
    """Return the cells with the absolute values of their largest contributions, where some are negative.

    The absolute sum of the other contributions is a lower limit of the sum of their absolute values.

    Raises:
        InputError: a contribution is negative, and the request does not take absolute values.
    """
    negative = sum(int((contribution.known & (contribution.units < 0)).sum()) for contribution in cells.largest)
    if negative and request.negative != "absolute":
        raise InputError(
            f"{plural(negative, 'contribution')} of {spelled('largest')} {'is' if negative == 1 else 'are'} negative. "
            f"Compare sizes with {spelled('negative', 'absolute')}."
        )
    together = cells.top(len(cells.largest)) if cells.largest else None
    if request.negative != "absolute" or together is None or cells.value is None:
        return cells
    largest = tuple(replace(contribution, units=np.abs(contribution.units)) for contribution in cells.largest)
    sizes = replace(cells, largest=largest).top(len(largest))
    assert sizes is not None
    rest = np.abs(minus(cells.value.units, together.units))
    volume = CellMeasure(plus(sizes.units, rest), cells.value.known & sizes.known, cells.value.places)
    return replace(cells, largest=largest, volume=volume)


def _check_order(query: CellQuery, cells: TableCells) -> None:
    """Check that contributions are in falling order, as rules take them.

    Raises:
        InputError: a cell has a larger one after a smaller one.
    """
    for rank, (first, second) in enumerate(pairwise(cells.largest), 1):
        if wrong := int((first.known & second.known & (first.units < second.units)).sum()):
            names = [query.columns[f"largest_{at}"] for at in (rank, rank + 1)]
            raise InputError(
                f"{shown(names[0])} is less than {shown(names[1])} in {plural(wrong, 'cell')}. {spelled('largest')} "
                "needs the contributions of every row in falling order."
            )


def _build_cells(
    query: CellQuery, keys: Codes, measures: dict[str, CellMeasure], structural: Bools | None
) -> TableCells:
    """Return the cells without totals. Sums and contributions get the same decimal places; counts become integers."""
    weights = [name for name in measures if name.startswith("weight_")]
    largest = [name for name in measures if name.startswith("largest_")]
    money = [name for name in ("value", *largest) if name in measures]
    for names in (money, weights):
        measures |= dict(zip(names, align_decimals([measures[name] for name in names]), strict=True))
    if (contributors := measures.get("contributors", measures.get("count"))) is not None:
        for rank, name in enumerate(largest, 1):  # a contribution is known to be 0 where there are fewer contributors
            contribution, fewer = (
                measures[name],
                (contributors.known & (contributors.units < rank * 10**contributors.places)).astype(np.bool_),
            )
            units = np.where(fewer & ~contribution.known, 0, contribution.units)
            measures[name] = replace(contribution, units=units, known=contribution.known | fewer)
    counts = {name: measures[name] for name in ("count", "contributors", "holdings") if name in measures}
    fractional = [measure.units % 10**measure.places != 0 for measure in counts.values() if measure.places]
    measures |= {
        name: CellMeasure(
            measure.units // 10**measure.places, measure.known, limits=None if measure.places else measure.limits
        )
        for name, measure in counts.items()
    }
    if fractional and bool(np.logical_or.reduce(fractional).any()):  # 1.204 may be 1,204: no count is small for certain
        contributors = measures.get("contributors", measures["count"])
        measures["contributors"] = replace(contributors, known=contributors.known & False)
    keys += bool(query.flags)
    sizes = (keys.max(axis=0, initial=0) + 1).tolist()
    return TableCells(
        tuple(map(Breakdown.plain, query.names, sizes)),
        keys,
        measures.get("count", None if money or query.rows else measures.get("contributors")),
        measures.get("contributors", measures.get("count")),
        measures.get("value"),
        tuple(measures[name] for name in largest),
        tuple(measures[name] for name in weights),
        measures.get("holdings"),
        structural,
        np.logical_or.reduce(fractional) if fractional else None,
    )
