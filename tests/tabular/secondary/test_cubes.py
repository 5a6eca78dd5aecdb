"""Cubes of cells that move together: real moves, the cheapest ones, and enough for large tables."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

from sqlaudit.tabular.secondary import protecting
from sqlaudit.tabular.secondary.protecting import Cubes, hide
from sqlaudit.tabular.secondary.system import Dimension, build_equations
from tests.tabular.secondary.published import drawn, grid
from tests.tabular.secondary.test_protecting import protects, random_hiding


def cheapest_square(values: np.ndarray, costs: np.ndarray, cell: int, amount: int, width: int) -> float:
    """The cost of the cheapest square through a cell of a table of two dimensions, by looking at all."""
    row, column = divmod(cell, width + 1)
    found = [np.inf]
    for other, beside in itertools.product(range(width), repeat=2):
        if other != row and beside != column:
            a, b = row * (width + 1) + beside, other * (width + 1) + column
            if values[a] >= amount and values[b] >= amount:
                found.append(costs[a] + costs[b] + costs[other * (width + 1) + beside])
    return min(found)


@pytest.mark.parametrize("seed", range(5))
def test_the_cheapest_square_is_found(seed: int) -> None:
    chance = random.Random(seed)
    table = drawn(chance, (4, 4), share=0, largest=9)
    costs = np.array([float(chance.randint(1, 30)) for _ in table.values])
    cubes = Cubes(grid((4, 4), [True, True])[0], table.equations, table.values, np.full(25, 100))
    for cell in (0, 7, 18):
        move = cubes.cheapest(cell, 3, costs)
        least = cheapest_square(table.values, costs, cell, 3, 4)
        assert (move is None) == np.isinf(least)
        if move is not None:
            assert not table.equations.residuals(move).any()
            assert move[cell] == 3
            assert (table.values + move >= 0).all()
            assert costs[move != 0].sum() - costs[cell] == least


def test_totals_cells_without_room_and_those_that_must_not_move_have_no_cube() -> None:
    codes, dimensions = grid((3, 3), [True, True])
    room = np.full(16, 9)
    cubes = Cubes(codes, build_equations(codes, dimensions), room, room)
    costs = np.ones(16)
    assert cubes.cheapest(3, 1, costs) is None  # a total
    assert cubes.cheapest(0, 10, costs) is None
    assert cubes.cheapest(0, -10, costs) is None
    costs[[1, 2]] = np.inf
    assert cubes.cheapest(0, 1, costs) is None


def test_cells_beside_are_those_of_the_same_group_of_a_hierarchy() -> None:
    """a and b make x, c and d make y, x and y the total: a and c together would change x."""
    parents = np.array([4, 4, 5, 5, 6, 6, -1])
    codes = np.arange(7).reshape(-1, 1)
    room = np.full(7, 9)
    equations = build_equations(codes, [Dimension(7, (parents,))])
    move = Cubes(codes, equations, room, room).cheapest(0, 2, np.array([1, 9, 1, 1, 1, 1, 1.0]))
    assert move is not None
    assert move.tolist() == [2, -2, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sizes", [(4, 5), (3, 3, 2), (6,)])
def test_tables_protected_by_cubes_are_safe(seed: int, sizes: tuple[int, ...]) -> None:
    one = random_hiding(random.Random(seed), sizes, costs=True)
    asked = replace(one, keys=grid(sizes, [True] * len(sizes))[0])
    exact = hide(one, seconds=20)
    with mock.patch.object(protecting, "_LARGE", 0):
        found = hide(asked, exact=False)
    assert found.bound <= exact.cost <= found.cost
    assert found.open.tolist() == exact.open.tolist()
    if not len(found.open):
        assert found.safe
        assert protects(asked, found.hidden)
