"""Which further cells are hidden: enough, and no cheaper choice is."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest

from sqlaudit.base.errors import UsageError
from sqlaudit.tabular.secondary.intervals import Protection, deduce, deduce_for_contributors, judge
from sqlaudit.tabular.secondary.protecting import HidingProblem, hide
from sqlaudit.tabular.secondary.system import FREE, build_equations
from tests.tabular.secondary.published import drawn, grid


def hiding(
    sizes: tuple[int, ...], values: np.ndarray, sensitive: np.ndarray, need: int, costs: np.ndarray | None = None
) -> HidingProblem:
    codes, dimensions = grid(sizes, [True] * len(sizes))
    zero = np.zeros(len(values), dtype=np.int64)
    return HidingProblem(
        build_equations(codes, dimensions),
        values,
        sensitive,
        Protection(np.where(sensitive, need, 0)),
        np.ones_like(values) if costs is None else costs,
        zero,
        np.full_like(values, FREE),
    )


def random_hiding(chance: random.Random, sizes: tuple[int, ...], costs: bool) -> HidingProblem:
    values = drawn(chance, sizes, share=0, largest=9).values
    inner = (grid(sizes, [True] * len(sizes))[0] < np.array(sizes)).all(axis=1)
    sensitive = inner & (values > 0) & (values < 3)
    return hiding(sizes, values, sensitive, chance.choice([1, 2, 4]), values + 1 if costs else None)


def protects(asked: HidingProblem, hidden: np.ndarray) -> bool:
    verdicts = judge(
        deduce(asked.published(hidden)), Protection(np.where(asked.sensitive, asked.protection.sliding, 0))
    )
    return not (verdicts.unsafe | verdicts.undecided).any()


def cheaper(asked: HidingProblem, cost: int) -> bool:
    """Whether a choice of cells that costs less protects: all of them, one after the other."""
    further = np.flatnonzero(~asked.sensitive)
    for number in range(cost):
        for chosen in itertools.combinations(further.tolist(), number):
            hidden = asked.sensitive.copy()
            hidden[list(chosen)] = True
            if asked.costs[list(chosen)].sum() < cost and protects(asked, hidden):
                return True
    return False


def test_one_sensitive_cell_takes_a_square_with_it() -> None:
    values = np.array([1, 9, 9, 19, 9, 9, 9, 27, 9, 9, 9, 27, 19, 27, 27, 73])
    sensitive = np.arange(16) == 0
    found = hide(hiding((3, 3), values, sensitive, 4))
    assert (found.cost, found.bound, found.safe, found.open.tolist()) == (3, 3, True, [])
    assert found.hidden.sum() == 4
    assert found.deduced.low[0] <= 1 <= found.deduced.high[0]
    assert found.deduced.high[0] - found.deduced.low[0] >= 4


def test_cheap_cells_are_hidden_rather_than_dear_ones() -> None:
    values = np.array([1, 9, 9, 19, 9, 9, 9, 27, 9, 9, 9, 27, 19, 27, 27, 73])
    costs = np.full(16, 50)
    costs[[2, 8, 10]] = 1
    found = hide(hiding((3, 3), values, np.arange(16) == 0, 4, costs))
    assert np.flatnonzero(found.hidden).tolist() == [0, 2, 8, 10]
    assert (found.cost, found.bound) == (3, 3)


@pytest.mark.parametrize("seed", range(6))
def test_the_exact_answer_protects_and_none_is_cheaper(seed: int) -> None:
    chance = random.Random(seed)
    for sizes in [(2, 3), (3, 3)]:
        asked = random_hiding(chance, sizes, costs=False)
        found = hide(asked)
        assert found.cost == found.bound
        assert (found.hidden >= asked.sensitive).all()
        if not len(found.open):
            assert found.safe
            assert protects(asked, found.hidden)
        if found.cost <= 4:
            assert not cheaper(asked, found.cost)


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize("sizes", [(4, 5), (3, 3, 2), (6,)])
def test_fast_answers_protect_and_exact_ones_cost_no_more(seed: int, sizes: tuple[int, ...]) -> None:
    asked = random_hiding(random.Random(seed), sizes, costs=True)
    fast, exact = hide(asked, exact=False), hide(asked, seconds=20)
    assert fast.bound <= exact.bound <= exact.cost <= fast.cost
    assert fast.bound > 0 or fast.cost == 0
    assert fast.open.tolist() == exact.open.tolist()
    for found in (fast, exact):
        open_cells = np.isin(found.deduced.cells, found.open)
        assert not (found.verdicts.unsafe & ~open_cells).any()
        assert not (found.verdicts.undecided & ~open_cells).any()


def test_what_nothing_protects_is_said() -> None:
    """A table of one cell and its total: hiding both leaves no limit; but known limits leave nothing open."""
    values = np.array([2, 2])
    asked = hiding((1,), values, np.array([True, False]), 4)
    assert hide(asked).safe
    fixed = HidingProblem(
        asked.equations, values, asked.sensitive, asked.protection, asked.costs, asked.lower, np.array([FREE, 2])
    )
    found = hide(fixed)
    assert found.open.tolist() == [0]
    assert not found.safe


def test_nothing_sensitive_hides_nothing() -> None:
    values = np.array([5, 6, 11])
    found = hide(hiding((2,), values, np.zeros(3, dtype=np.bool_), 4))
    assert (found.cost, found.bound, found.safe, found.hidden.any()) == (0, 0, True, False)


def test_cells_that_do_not_add_up_are_an_error() -> None:
    with pytest.raises(UsageError, match="its cells do not add up"):
        hide(hiding((2,), np.array([5, 6, 12]), np.array([True, False, False]), 4))


def test_no_time_gives_an_answer_that_is_called_early() -> None:
    chance = random.Random(3)
    found = hide(random_hiding(chance, (4, 4), costs=True), seconds=0)
    assert found.stopped == "time"
    assert found.bound <= found.cost


@pytest.mark.parametrize("seed", [1, 2, 5])
def test_who_is_alone_in_a_hidden_cell_does_not_undo_it_for_the_others(seed: int) -> None:
    chance = random.Random(seed)
    one = random_hiding(chance, (4, 4), costs=False)
    alone = one.sensitive & (one.values == 1)
    asked = replace(one, alone=alone)
    assert alone.any()
    without, found = hide(one, exact=False), hide(asked, seconds=20)
    assert found.bound <= found.cost
    seen = deduce_for_contributors(
        asked.published(found.hidden), deduce(asked.published(found.hidden)), alone, asked.values
    )
    verdicts = judge(
        seen.replace_limits(found.deduced), Protection(np.where(asked.sensitive, asked.protection.sliding, 0))
    )
    open_cells = np.isin(found.deduced.cells, found.open)
    assert not (verdicts.unsafe & ~open_cells).any()
    assert found.safe or len(found.open)
    assert found.cost >= hide(one, seconds=20).bound
    assert without.cost >= 0


def test_a_square_around_somebody_alone_is_not_enough() -> None:
    """Two sensitive cells in one row, one of one firm: with it published, the other needs a square of its own."""
    values = np.array([1, 2, 9, 9, 21, 9, 9, 9, 9, 36, 9, 9, 9, 9, 36, 19, 20, 27, 27, 93])
    asked = hiding((3, 4), values, np.isin(np.arange(20), [0, 1]), 2)
    alone = np.arange(20) == 0
    outside, inside = hide(asked), hide(replace(asked, alone=alone))
    assert outside.cost == 2  # the square of both columns and another row
    assert (inside.cost, inside.bound, inside.safe) == (inside.cost, inside.cost, True)
    assert inside.cost > outside.cost


@pytest.mark.parametrize("unit", [1, 10**12, 10**15])
def test_the_unit_of_values_changes_nothing(unit: int) -> None:
    values = np.array([1, 9, 9, 19, 9, 9, 9, 27, 9, 9, 9, 27, 19, 27, 27, 73]) * unit
    found = hide(hiding((3, 3), values, np.arange(16) == 0, 4 * unit))
    assert (found.cost, found.bound, found.safe) == (3, 3, True)
