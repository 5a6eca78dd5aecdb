"""KACA and Mondrian on classes in numbers, against plain ones over rows: every group, in both orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.errors import BudgetSpent
from sqlaudit.remedies.recode import kaca
from sqlaudit.remedies.recode.classes import (
    Classes,
    ColumnTree,
    Flags,
    common_of,
    level_distances,
    scale_heights,
    sorted_groups,
    tree_of,
    unique_classes,
)
from sqlaudit.remedies.recode.kaca import Axis, Grouping, merge_classes, split_classes
from sqlaudit.remedies.recode.request import Order
from sqlaudit.remedies.rewriting import Integers
from tests.remedies import oracle_recode
from tests.remedies.oracle_recode import Row
from tests.strategies import run

Hierarchy = list[dict[Any, Any]]


def common_nodes(classes: Classes, groups: Integers) -> Integers:
    """(groups × columns) the closest common generalization of each group of classes."""
    order, starts = sorted_groups(groups)
    columns = [common_of(tree, classes.nodes[order, place], starts) for place, tree in enumerate(classes.trees)]
    return np.column_stack(columns) if columns else np.zeros((len(starts), 0), dtype=np.int64)


class AtLeast:
    """Classes below k fall short; what SQL says elsewhere."""

    def __init__(self, k: int) -> None:
        self.k = k

    def short(self, sizes: Integers, words: Integers) -> Flags:
        return sizes < self.k


@dataclass(frozen=True)
class Table:
    """Rows with the hierarchies of their columns."""

    rows: list[Row]
    hierarchies: dict[str, Hierarchy]
    ordered: tuple[str, ...]
    apart: bool


@st.composite
def hierarchies(draw: st.DrawFn, missing: bool) -> Any:
    """Levels of five values, each coarser than the one below; NULL has a label from some level on."""
    if not missing and draw(st.integers(0, 9)) == 0:
        return []
    height, named = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    now: dict[Any, Any] = {value: value for value in range(5)}
    levels: Hierarchy = []
    for level in range(1, height):
        coarser = {label: draw(st.integers(0, 2)) for label in sorted(set(now.values()))}
        now = {value: coarser[label] for value, label in now.items()}
        levels.append({**now, None: "none" if level >= named else None})
    return [*levels, dict.fromkeys([*range(5), None], "*")]


@st.composite
def tables(draw: st.DrawFn) -> Table:
    names = [f"c{place}" for place in range(draw(st.integers(1, 3)))]
    missing = {name: draw(st.booleans()) for name in names}
    made = {name: draw(hierarchies(missing[name])) for name in names}
    values = {name: [0, 1, 2, 3, 4] + [None] * missing[name] if made[name] else [0, 1] for name in names}
    row = st.fixed_dictionaries({name: st.sampled_from(values[name]) for name in names})
    rows = draw(st.lists(row, min_size=1, max_size=12))
    ordered = tuple(name for name in names if made[name] and draw(st.booleans()))
    return Table(rows, made, ordered, draw(st.booleans()))


@dataclass(frozen=True)
class Numbered:
    """A table as classes, and the number of each row's class."""

    classes: Classes
    axes: list[Axis]
    of_row: list[int]


def numbered(table: Table, beta: int) -> Numbered:
    names = list(table.hierarchies)
    values = {name: _values(table.rows, name) for name in names}
    heights = scale_heights([len(table.hierarchies[name]) for name in names], Fraction(beta), len(table.rows))
    trees = [_tree(values[name], table.hierarchies[name], height) for name, height in zip(names, heights, strict=True)]
    keys = [tuple(values[name].index(row[name]) for name in names) for row in table.rows]
    listed = sorted(set(keys))
    nodes = np.array(listed)
    for place, name in enumerate(names):
        if table.apart and values[name][-1] is None:
            level = next(n for n, labels in enumerate(table.hierarchies[name], 1) if labels[None] is not None)
            last = len(values[name]) - 1
            nodes[nodes[:, place] == last, place] = trees[place].ancestors[level, last]
    sizes = np.array([keys.count(key) for key in listed])
    axes = [
        Axis(tree, np.array([np.nan if v is None else v for v in values[name]]) if name in table.ordered else None)
        for name, tree in zip(names, trees, strict=True)
    ]
    classes, where = unique_classes(Classes(tuple(trees), nodes, sizes, np.zeros((len(listed), 0), dtype=np.int64)))
    return Numbered(classes, axes, [int(where[listed.index(key)]) for key in keys])


def _values(rows: Sequence[Row], name: str) -> list[Any]:
    known = {row[name] for row in rows}
    return sorted(known - {None}) + [None] * (None in known)


def _tree(values: list[Any], hierarchy: Hierarchy, heights: Integers) -> ColumnTree:
    labels = [list(range(len(values)))]
    labels += [[list(level.values()).index(level[value]) for value in values] for level in hierarchy]
    return tree_of(np.array(labels), heights, is_fixed=not hierarchy)


def partition(groups: Sequence[Any]) -> list[int]:
    """Groups by the order of their first members."""
    return [list(dict.fromkeys(groups)).index(group) for group in groups]


def levels_of(found: Numbered, merged: Grouping) -> list[tuple[int, ...]]:
    nodes = common_nodes(found.classes, merged.groups)[merged.groups[found.of_row]]
    return [tuple(int(tree.level[node]) for tree, node in zip(found.classes.trees, row, strict=True)) for row in nodes]


@pytest.mark.parametrize("blocks", [False, True])
@run(250)
@given(tables(), st.integers(1, 5), st.sampled_from(Order), st.integers(0, 3), st.sampled_from([0, 1, 2]))
def test_kaca_merges_as_over_rows(blocks: bool, table: Table, k: int, order: Order, seed: int, beta: int) -> None:
    found = numbered(table, beta)
    before = kaca._SINGLE_BLOCK, kaca._REBUILD_MOVES
    kaca._SINGLE_BLOCK, kaca._REBUILD_MOVES = (1, 2) if blocks else before
    try:
        merged = merge_classes(found.classes, (AtLeast(k),), order, seed)
    finally:
        kaca._SINGLE_BLOCK, kaca._REBUILD_MOVES = before
    wanted = oracle_recode.kaca(
        table.rows,
        table.hierarchies,
        [lambda part: len(part) < k],
        order=order.value,
        seed=seed,
        beta=beta,
        apart=table.apart,
    )
    if wanted is None:
        assert merged.stuck
        return
    cells, merges = wanted
    assert (merged.stuck, merged.merges) == (0, merges)
    assert partition(merged.groups[found.of_row].tolist()) == partition(cells)
    assert levels_of(found, merged) == [tuple(level for level, _ in row) for row in cells]


@run(300)
@given(tables(), st.integers(1, 4))
def test_mondrian_splits_as_over_rows(table: Table, k: int) -> None:
    found = numbered(table, 0)
    split = split_classes(found.classes, found.axes, AtLeast(k))
    wanted = oracle_recode.mondrian(
        table.rows, table.hierarchies, table.ordered, lambda part: len(part) < k, apart=table.apart
    )
    if wanted is None:
        assert split.stuck
        return
    of_row = {place: number for number, part in enumerate(wanted) for place in part}
    assert partition(split.groups[found.of_row].tolist()) == partition([of_row[p] for p in range(len(table.rows))])


def test_weights_are_those_of_the_source() -> None:
    """A birth date in six levels, a day to its decade: 3/5 with even weights, 0.3431 with beta 1."""
    assert level_distances(5, Fraction(0))[3] == Fraction(3, 5)
    exact = level_distances(5, Fraction(1))[3]
    assert exact == Fraction(47, 137)
    assert round(float(exact), 4) == 0.3431
    even, odd = scale_heights([5, 3], Fraction(0), 100)
    assert (even.tolist(), odd.tolist()) == ([0, 3, 6, 9, 12, 15], [0, 5, 10, 15])
    (rough,) = scale_heights([5], Fraction(1, 2), 100)
    assert [round(height / rough[-1], 9) for height in rough.tolist()] == [
        round(float(r), 9) for r in level_distances(5, Fraction(1, 2))
    ]


def test_a_wide_column_is_compared_without_a_table_of_all_pairs() -> None:
    """A column of more nodes than are tabulated: 3,000 values in pairs, tens and all."""
    values = np.arange(3000)
    labels = np.vstack([values, values // 2, values // 10, np.zeros_like(values)])
    tree = tree_of(labels, scale_heights([3], Fraction(0), 3000)[0])
    assert len(tree.level) == 3000 + 1500 + 300 + 1
    assert tree.rise_to_meet(0, np.array([0, 1, 2, 9, 10, 2999])).tolist() == [0, 1, 2, 2, 3, 3]
    classes = Classes((tree,), values[:, None], np.ones(3000, dtype=np.int64), np.zeros((3000, 0), dtype=np.int64))
    merged = merge_classes(classes, (AtLeast(2),))
    assert (merged.merges, int(merged.groups.max()) + 1) == (1500, 1500)
    assert merged.groups.tolist() == (values // 2).tolist()


def test_work_stops_when_the_budget_is_spent() -> None:
    found = numbered(Table([{"a": 0}, {"a": 1}], {"a": [{0: "*", 1: "*"}]}, ("a",), False), 0)
    with pytest.raises(BudgetSpent):
        merge_classes(found.classes, (AtLeast(2),), stop=lambda: True)
    with pytest.raises(BudgetSpent):
        split_classes(found.classes, found.axes, AtLeast(1), stop=lambda: True)
