"""What somebody deduces who knows a hidden cell, because they are alone in it; and what rounding leaves open."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sqlaudit.tabular.secondary.contributors import ask_contributors
from sqlaudit.tabular.secondary.intervals import Protection, deduce, judge
from sqlaudit.tabular.secondary.rounding import DOWN, NEAREST, RANDOM, RoundedTo, rounding_base, unrounded
from sqlaudit.tabular.secondary.structure import equations_of
from tests.tabular.secondary import oracle
from tests.tabular.secondary.published import as_equations, drawn, grid, peer
from tests.tabular.secondary.test_intervals import table


def test_a_contributor_alone_in_a_cell_undoes_the_square_that_hides_it() -> None:
    known = table([[None, None, 5, 8], [None, None, 5, 9], [5, 5, 5, 15], [8, 9, 15, 32]])
    truth = known.values.copy()
    truth[[0, 1, 4, 5]] = 1, 2, 2, 2
    outsider = deduce(known)
    alone = np.zeros(16, dtype=np.bool_)
    alone[0] = True
    found = ask_contributors(known, outsider, alone, truth)
    # the own cell stays as everybody sees it: its contributor learns nothing of it
    assert (found.low.tolist(), found.high.tolist()) == ([0, 2, 2, 2], [3, 2, 2, 2])
    assert found.by.tolist() == [-1, 0, 0, 0]
    assert (found.asked, found.unfinished) == (1, "")
    verdict = judge(found.instead(outsider), Protection.of_threshold(16, 4))
    assert verdict.unsafe.tolist() == [False, True, True, True]
    assert ask_contributors(known, outsider, alone, truth, seconds=0).unfinished == "time"


@pytest.mark.parametrize("seed", range(3))
def test_insiders_know_what_outsiders_know_with_one_cell_more(seed: int) -> None:
    chance, more = random.Random(seed), 0
    for _ in range(12):
        known = drawn(chance, chance.choice([(3, 3), (2, 2, 2), (4, 3)]), share=0.7)
        if not known.hidden.any() or known.hidden.sum() > 9:
            continue
        outsider, truth = deduce(known), known.values
        alone = known.hidden & (np.array([chance.random() for _ in truth]) < 0.4)
        found = ask_contributors(known, outsider, alone, truth)
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
    assert rounding_base(np.array([3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39])) == RoundedTo(
        3, 13, Fraction(1, 3**13)
    )
    assert rounding_base(np.array([3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 40])) is None
    assert rounding_base(np.array([10, 10, 10, 10, 10, 10, 10, 20])) is None  # two different values say little
    assert rounding_base(np.array([0, 0])) is None
    assert rounding_base(np.array([], dtype=np.int64)) is None
    assert rounding_base(np.array([-1000, 2000, 7000])) == RoundedTo(1000, 3, Fraction(1, 10**9))


@pytest.mark.parametrize(("how", "reach"), [(RANDOM, (2, 2)), (NEAREST, (1, 1)), (DOWN, (0, 2))])
def test_totals_unpick_rounding_as_far_as_all_tables_say(how: str, reach: tuple[int, int]) -> None:
    codes, dimensions = grid((2, 2), [True, True])
    sums = equations_of(codes, dimensions)
    # 2 2 4 / 1 1 2 / 3 3 6, each rounded to a neighbour among the multiples of three
    rounded = np.array([3, 3, 3, 0, 0, 3, 3, 3, 6]) if how != DOWN else np.array([0, 0, 3, 0, 0, 0, 3, 3, 6])
    known = unrounded(sums, rounded, 3, how)
    limits = [(max(0, value - reach[0]), value + reach[1]) for value in rounded.tolist()]
    expected = oracle.intervals(9, as_equations(known), [None] * 9, limits)
    found = deduce(known)
    assert list(zip(found.low.tolist(), found.high.tolist(), strict=True)) == expected
    assert found.exact.all()


def test_rounding_that_totals_undo_leaves_a_cell_no_doubt() -> None:
    """Parts that are rounded down, and a total that is larger than they can add up to otherwise."""
    codes, dimensions = grid((3,), [True])
    found = deduce(unrounded(equations_of(codes, dimensions), np.array([0, 5, 5, 20]), 5, DOWN))
    assert found.low.tolist() == [2, 7, 7, 20]
    assert found.high.tolist() == [4, 9, 9, 22]
