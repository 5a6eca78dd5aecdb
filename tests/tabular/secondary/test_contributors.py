"""What somebody deduces who knows a hidden cell, because they are alone in it; and what rounding leaves open."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from sqlaudit.tabular.secondary.intervals import deduce, deduce_for_contributors, judge
from sqlaudit.tabular.secondary.system import (
    PublishedTable,
    RoundingBase,
    build_equations,
    find_rounding_base,
    round_together,
    undo_rounding,
)
from tests.tabular.secondary import oracle
from tests.tabular.secondary.published import as_equations, drawn, exact, grid, of_threshold, peer
from tests.tabular.secondary.test_intervals import table


def test_a_contributor_alone_in_a_cell_undoes_the_square_that_hides_it() -> None:
    known = table([[None, None, 5, 8], [None, None, 5, 9], [5, 5, 5, 15], [8, 9, 15, 32]])
    truth = known.values.copy()
    truth[[0, 1, 4, 5]] = 1, 2, 2, 2
    outsider = deduce(known)
    alone = np.zeros(16, dtype=np.bool_)
    alone[0] = True
    found = deduce_for_contributors(known, outsider, alone, truth)
    # the own cell stays as everybody sees it: its contributor learns nothing of it
    assert (found.low.tolist(), found.high.tolist()) == ([0, 2, 2, 2], [3, 2, 2, 2])
    assert found.by.tolist() == [-1, 0, 0, 0]
    assert found.unfinished == ""
    verdict = judge(found.replace_limits(outsider), of_threshold(16, 4))
    assert verdict.unsafe.tolist() == [False, True, True, True]
    assert deduce_for_contributors(known, outsider, alone, truth, seconds=0).unfinished == "time"


@pytest.mark.parametrize("seed", range(3))
def test_insiders_know_what_outsiders_know_with_one_cell_more(seed: int) -> None:
    chance, more = random.Random(seed), 0
    for _ in range(12):
        known = drawn(chance, chance.choice([(3, 3), (2, 2, 2), (4, 3)]), share=0.7)
        if not known.hidden.any() or known.hidden.sum() > 9:
            continue
        outsider, truth = deduce(known), known.values
        alone = known.hidden & (np.array([chance.random() for _ in truth]) < 0.4)
        found = deduce_for_contributors(known, outsider, alone, truth)
        expected = list(zip(outsider.low.tolist(), outsider.high.tolist(), strict=True))
        for cell in np.flatnonzero(alone).tolist():
            seen = replace(known, hidden=known.hidden & (np.arange(len(truth)) != cell))
            theirs = dict(zip(np.flatnonzero(seen.hidden).tolist(), peer(seen), strict=True))
            for place, other in enumerate(outsider.cells.tolist()):
                low, high = theirs.get(other, (0, 1000))
                if high - low < expected[place][1] - expected[place][0]:
                    expected[place], more = (low, high), more + 1
        widths = [high - low for low, high in expected]
        assert (found.high - found.low).tolist() == widths
    assert more > 3


def test_a_base_is_recognised_where_chance_would_not_do() -> None:
    assert find_rounding_base(np.array([3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39])) == RoundingBase(3, 13)
    assert find_rounding_base(np.array([3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 40])) is None
    assert find_rounding_base(np.array([10, 10, 10, 10, 10, 10, 10, 20])) is None  # two different values say little
    assert find_rounding_base(np.array([0, 0])) is None
    assert find_rounding_base(np.array([], dtype=np.int64)) is None
    assert find_rounding_base(np.array([-1000, 2000, 7000])) == RoundingBase(1000, 3)


def test_totals_unpick_rounding_as_far_as_all_tables_say() -> None:
    codes, dimensions = grid((2, 2), [True, True])
    sums = build_equations(codes, dimensions)
    # 2 2 4 / 1 1 2 / 3 3 6, each rounded to a neighbour among the multiples of three
    rounded = np.array([3, 3, 3, 0, 0, 3, 3, 3, 6])
    known = undo_rounding(sums, rounded, 3)
    limits = [(max(0, value - 2), value + 2) for value in rounded.tolist()]
    expected = oracle.intervals(9, as_equations(known), [None] * 9, limits)
    found = deduce(known)
    assert list(zip(found.low.tolist(), found.high.tolist(), strict=True)) == expected
    assert exact(found).all()


def test_rounding_that_totals_undo_leaves_a_cell_no_doubt() -> None:
    """Parts that are rounded down, and a total that is larger than they can add up to otherwise."""
    codes, dimensions = grid((3,), [True])
    rounded = np.array([0, 5, 5, 20])
    everything = np.ones(4, dtype=np.bool_)
    found = deduce(PublishedTable(build_equations(codes, dimensions), rounded, everything, rounded, rounded + 4))
    assert found.low.tolist() == [2, 7, 7, 20]
    assert found.high.tolist() == [4, 9, 9, 22]


@pytest.mark.parametrize("seed", range(5))
def test_controlled_rounding_adds_up_and_moves_least(seed: int) -> None:
    chance = random.Random(seed)
    one = drawn(chance, (2, 2), share=0, largest=9)
    found = round_together(one.equations, one.values, 3)
    assert found is not None
    assert not (found.values % 3).any()
    assert not one.equations.residuals(found.values).any()
    assert found.moved == np.abs(found.values - one.values).sum() == found.bound
    near = [(value // 3 * 3, -(-value // 3) * 3) for value in one.values.tolist()]
    all_tables = oracle.tables(9, as_equations(one), [None] * 9, near)
    fitting = [table for table in all_tables if not any(value % 3 for value in table)]
    assert found.moved == min(np.abs(np.array(table) - one.values).sum() for table in fitting)


def test_a_multiple_stays_where_that_is_possible() -> None:
    codes, dimensions = grid((2,), [True])
    found = round_together(build_equations(codes, dimensions), np.array([5, 10, 15]), 5)
    assert found is not None
    assert (found.values.tolist(), found.moved, found.farthest) == ([5, 10, 15], 0, 0)


def test_parts_are_rounded_apart_so_that_they_add_up() -> None:
    codes, dimensions = grid((4,), [True])
    apart = round_together(build_equations(codes, dimensions), np.array([1, 1, 1, 1, 4]), 3)
    assert apart is not None
    assert sum(apart.values[:4]) == apart.values[4] == 3
