"""What an attacker deduces of hidden cells: every table that fits, counted one by one, says the same."""

from __future__ import annotations

import random
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

from sqlaudit.base.errors import UsageError
from sqlaudit.tabular.secondary import intervals, programs
from sqlaudit.tabular.secondary.intervals import Protection, deduce, judge
from sqlaudit.tabular.secondary.system import (
    FREE,
    Contradiction,
    Equations,
    PublishedTable,
    build_equations,
    build_system,
)
from tests.tabular.secondary.published import drawn, exact, filled, grid, of_threshold, peer, published

SIZES = [(3, 3), (4, 3), (4, 4), (2, 2, 2), (3, 2, 2), (5,), (2, 2, 2, 2)]


def added(totals: list[int], parts: list[list[int]], cells: int) -> Equations:
    starts = np.cumsum([0, *map(len, parts)])
    return Equations(cells, np.array(totals), starts, np.array([part for some in parts for part in some]))


def table(values: list[list[int | None]]) -> PublishedTable:
    """A table of two dimensions whose last row and column are totals; None = hidden."""
    sizes = len(values) - 1, len(values[0]) - 1
    codes, dimensions = grid(sizes, [True, True])
    cells = [cell for row in values for cell in row]
    hidden = np.array([cell is None for cell in cells])
    return published(build_equations(codes, dimensions), np.array([cell or 0 for cell in cells]), hidden)


@pytest.mark.parametrize("seed", range(8))
def test_intervals_are_those_of_all_tables_that_fit(seed: int) -> None:
    chance, with_programs = random.Random(seed), 0
    for _ in range(25):
        share, totals = chance.choice([0.5, 0.7, 1.0]), chance.choice([0, 0.1])
        one = drawn(chance, chance.choice(SIZES), share=share, totals=totals, largest=chance.choice([1, 2, 3]))
        if one.hidden.sum() > 10:
            continue
        found = deduce(one)
        assert list(zip(found.low.tolist(), found.high.tolist(), strict=True)) == peer(one)
        assert exact(found).all()
        with_programs += not build_system(one).blocks.tree.all()
    assert with_programs >= 3


def test_sums_of_any_cells_have_the_intervals_of_whole_numbers_too() -> None:
    """Not tables: sums in which the corners of programs are fractions, so that branches are searched."""
    chance, branched = random.Random(2), 0
    for _ in range(120):
        cells = chance.randint(4, 6)
        leaves = [chance.randint(0, 3) for _ in range(cells)]
        parts = [sorted(chance.sample(range(cells), chance.randint(2, 3))) for _ in range(chance.randint(3, 5))]
        values = np.array([*leaves, *(sum(leaves[part] for part in some) for some in parts)])
        hidden = np.array([True] * cells + [chance.random() < 0.1 for _ in parts])
        sums = added(list(range(cells, cells + len(parts))), parts, len(values))
        known = published(sums, values, hidden)
        known = replace(known, upper=np.full(len(values), 12))
        with mock.patch.object(programs.Prober, "_branch", autospec=True, side_effect=programs.Prober._branch) as spy:
            found = deduce(known)
        assert list(zip(found.low.tolist(), found.high.tolist(), strict=True)) == peer(known)
        assert exact(found).all()
        branched += spy.called
    assert branched >= 4


def test_a_cell_alone_in_its_row_is_determined_and_then_others_are() -> None:
    known = table([[None, 7, 10], [None, None, 9], [6, 13, 19]])
    found = deduce(known)
    assert (found.low.tolist(), found.high.tolist()) == ([3, 3, 6], [3, 3, 6])
    assert build_system(known).determined.known.all()
    assert build_system(known).blocks.number == 0
    assert found.known.all()


def test_a_square_of_hidden_cells_leaves_what_its_smallest_total_leaves() -> None:
    found = deduce(table([[None, None, 5, 8], [None, None, 5, 9], [5, 5, 5, 15], [8, 9, 15, 32]]))
    # the square has the rows 3 and 4, the columns 3 and 4
    assert found.low.tolist() == [0, 0, 0, 1]
    assert found.high.tolist() == [3, 3, 3, 4]
    assert exact(found).all()


def test_what_several_equations_tell_together_is_found() -> None:
    """Rows 1 and 2 hide columns 1 and 2; less these two columns, the two rows are one cell more: that of column 3."""
    known = table(
        [
            [None, None, 4, 1, 10],
            [None, None, None, 2, 12],
            [2, 3, None, None, 20],
            [1, 1, None, None, 9],
            [8, 11, 17, 15, 51],
        ]
    )
    found = deduce(known)
    assert not build_system(known).determined.known.any()
    # rows 1 and 2 without their published cells are 5 and 10, columns 1 and 2 are 5 and 7
    assert found.low[found.cells == 7] == found.high[found.cells == 7] == 3


def test_hidden_totals_without_published_ones_have_no_upper_limit() -> None:
    found = deduce(table([[1, None, None], [2, 3, 5], [3, None, None]]))
    assert found.low.tolist() == [0, 1, 3, 6]
    assert found.high.tolist() == [FREE] * 4
    assert judge(found, of_threshold(9, 5)).unsafe.tolist() == [False] * 4


def test_a_block_with_cycles_may_have_no_upper_limit() -> None:
    known = table([[None, None, None], [None, None, None], [None, None, None]])
    found = deduce(known)
    assert found.low.tolist() == [0] * 9
    assert found.high.tolist() == found.most.tolist() == [FREE] * 9
    assert exact(found).all()


def test_values_that_need_not_be_whole_have_fractions_as_limits() -> None:
    # a + b + c = 3 in pairs: a + b = 1, b + c = 1, a + c = 1
    halves = added([3, 4, 5], [[0, 1], [1, 2], [0, 2]], 6)
    known = published(halves, np.array([0, 0, 0, 1, 1, 1]), np.array([True] * 3 + [False] * 3), whole=False)
    found = deduce(known)
    assert found.scale == 12
    assert found.low.tolist() == found.high.tolist() == [6, 6, 6]
    with pytest.raises(Contradiction):
        deduce(replace(known, whole=True))


def test_what_everybody_knows_beforehand_narrows_intervals() -> None:
    square = [[None, None, 5], [None, None, 5], [5, 5, 10]]
    assert deduce(table(square)).high.tolist() == [5] * 4
    below_four = replace(table(square), upper=np.full(9, 3))
    assert (deduce(below_four).low.tolist(), deduce(below_four).high.tolist()) == ([2] * 4, [3] * 4)


@pytest.mark.parametrize(
    "values",
    [
        [[1, 2, 4], [None, None, 5], [5, 5, 10]],
        [[None, 4, 3], [2, 3, 5], [1, 7, 8]],
        [[None, None, 3], [None, None, 9], [1, 1, 12]],
    ],
)
def test_numbers_that_contradict_each_other_are_an_error(values: list[list[int | None]]) -> None:
    with pytest.raises(Contradiction, match="no values of the hidden cells fit the totals"):
        deduce(table(values))


def test_many_cells_do_not_make_large_values_too_large() -> None:
    """A column of 100,000 cells beside others of 10^12: only their sum has to fit."""
    size = 100_000
    parts = np.ones(size, dtype=np.int64)
    parts[0] = 10**12
    values = np.append(parts, parts.sum())
    hidden = np.arange(size + 1) < 2
    found = deduce(published(added([size], [list(range(size))], size + 1), values, hidden, whole=False))
    assert (found.low.tolist(), found.high.tolist()) == ([0, 0], [12 * (10**12 + 1)] * 2)


def test_values_too_large_for_exact_sums_are_an_error() -> None:
    with pytest.raises(UsageError, match="too large to be added up exactly"):
        deduce(table([[None, None, 1 << 57], [None, None, 1], [1, 1 << 57, 1 << 57]]))


def test_without_time_or_solver_nothing_is_called_safe() -> None:
    known = table([[None, None, 5, 8], [None, None, 5, 9], [5, 5, 5, 15], [8, 9, 15, 32]])
    late = deduce(known, seconds=0)
    assert late.unfinished == "time"
    with mock.patch.object(intervals, "available", return_value=False):
        without = deduce(known)
    assert without.unfinished == "solver"
    for found in (late, without):
        assert (found.low <= [0, 0, 0, 1]).all()
        assert (found.high >= [3, 3, 3, 4]).all()
        verdict = judge(found, of_threshold(16, 3))
        assert verdict.undecided.tolist() == [True] * 4
        assert verdict.unsafe.tolist() == [False] * 4
    assert judge(deduce(known), of_threshold(16, 4)).unsafe.tolist() == [False] * 4
    assert judge(deduce(known), of_threshold(16, 5)).unsafe.tolist() == [True] * 4


def test_limits_below_and_above_the_true_value_are_judged_apart() -> None:
    known = table([[None, None, 5, 8], [None, None, 5, 9], [5, 5, 5, 15], [8, 9, 15, 32]])
    truth, nothing = np.zeros(16, dtype=np.int64), np.zeros(16, dtype=np.int64)
    truth[[0, 1, 4, 5]] = 1, 2, 2, 2
    found, asked = deduce(known), nothing.copy()
    asked[[0, 1, 4, 5]] = 1
    above = Protection(nothing, truth, nothing, asked)
    assert judge(found, above).unsafe.tolist() == [False] * 4
    below = Protection(nothing, truth, asked * 2, nothing)
    assert judge(found, below).unsafe.tolist() == [True, False, False, True]


def test_rows_and_columns_of_a_large_table_are_found_at_once() -> None:
    """A quarter of a million cells, of which most hidden ones follow from single equations."""
    codes, dimensions = grid((500, 500), [True, True])
    sums = build_equations(codes, dimensions)
    chance = np.random.default_rng(1)
    values = np.zeros((501, 501), dtype=np.int64)
    values[:500, :500] = chance.integers(0, 50, (500, 500))
    values[500] = values[:500].sum(axis=0)
    values[:, 500] = values[:, :500].sum(axis=1)
    hidden = np.zeros((501, 501), dtype=np.bool_)
    hidden[:500, :500] = chance.random((500, 500)) < 0.002
    known = published(sums, values.ravel(), hidden.ravel())
    found = deduce(known)
    truth = values.ravel()[found.cells]
    assert (found.low <= truth).all()
    assert (truth <= found.high).all()
    assert exact(found).all()
    by_equations = build_system(known).determined.known
    assert np.array_equal(found.low[by_equations], truth[by_equations])
    assert by_equations.sum() > 200


def test_filled_tables_add_up() -> None:
    codes, dimensions = grid((2, 2), [True, True])
    values = filled(codes, build_equations(codes, dimensions), {(0, 0): 1, (0, 1): 2, (1, 0): 3, (1, 1): 4}, (2, 2))
    assert values.tolist() == [1, 2, 3, 3, 4, 7, 4, 6, 10]
