"""Which cell of a table is the sum of which others: against every pair of cells, and by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.errors import UsageError
from sqlaudit.tabular.secondary.system import Dimension, Equations, build_equations, find_repeated_keys, find_wrong_sums
from tests.tabular.secondary import oracle
from tests.tabular.secondary.published import with_total


def as_set(found: Equations) -> set[oracle.Equation]:
    return {(int(found.totals[one]), tuple(sorted(found.parts_of(one).tolist()))) for one in range(len(found))}


def cross(*dimensions: list[int]) -> np.ndarray:
    return np.array(list(itertools.product(*dimensions)), dtype=np.int64)


def test_a_table_of_two_dimensions_has_one_equation_for_each_row_and_column() -> None:
    codes = cross([0, 1, 2], [0, 1])
    found = build_equations(codes, [with_total(3, 2), with_total(2, 1)])
    assert as_set(found) == {(4, (0, 2)), (5, (1, 3)), (1, (0,)), (3, (2,)), (5, (4,))}


def test_a_hierarchy_gives_an_equation_for_each_of_its_nodes() -> None:
    parents = np.array([2, 2, 4, 4, -1])  # 0 + 1 = 2, 2 + 3 = 4
    assert as_set(build_equations(cross([0, 1, 2, 3, 4]), [Dimension(5, (parents,))])) == {(2, (0, 1)), (4, (2, 3))}


def test_one_dimension_may_add_up_in_several_ways() -> None:
    ways = np.array([4, 4, 5, -1, -1, -1]), np.array([-1, 3, 3, -1, -1, -1])
    found = build_equations(cross([0, 1, 2, 3, 4]), [Dimension(6, ways)])
    assert as_set(found) == {(4, (0, 1)), (3, (1, 2))}


def test_cells_that_are_not_there_are_in_no_equation() -> None:
    """What GROUPING SETS (region, sector), (region) gives: no total of sectors, none of everything."""
    codes = np.array([[0, 0], [0, 1], [1, 1], [0, 2], [1, 2]])
    found = build_equations(codes, [with_total(3, 2), with_total(3, 2)])
    assert as_set(found) == {(3, (0, 1)), (4, (2,))}


@given(st.data())
def test_equations_are_those_of_every_pair_of_cells(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    rollups = [
        data.draw(
            st.lists(st.tuples(*[st.integers(-1, code - 1) for code in range(size)]), min_size=0, max_size=2),
            label="parents are codes before",
        )
        for size in sizes
    ]
    cells = cross(*[list(range(size)) for size in sizes])
    kept = data.draw(st.lists(st.booleans(), min_size=len(cells), max_size=len(cells)))
    order = data.draw(st.permutations(range(len(cells))))
    codes = cells[[cell for cell in order if kept[cell]]]
    dimensions = [
        Dimension(size, tuple(np.array(way, dtype=np.int64) for way in ways))
        for size, ways in zip(sizes, rollups, strict=True)
    ]
    found = build_equations(codes, dimensions)
    assert as_set(found) == oracle.equations(codes.tolist(), rollups)
    assert found.cells == len(codes)


def test_keys_too_many_for_one_number_are_still_told_apart() -> None:
    size = 1 << 30
    codes = np.array([[0, 0, 0], [size - 1, 5, 0], [size - 1, 5, 1], [size - 1, 5, 2], [0, 0, 2]])
    dimensions = [Dimension(size), Dimension(size), Dimension(size, ())]
    assert find_repeated_keys(codes, dimensions).tolist() == []
    total = Dimension(3, (np.array([2, 2, -1]),))
    assert as_set(build_equations(codes, [*dimensions[:2], total])) == {(3, (1, 2)), (4, (0,))}


def test_a_cell_that_is_there_twice_is_an_error() -> None:
    codes = np.array([[0, 1], [1, 1], [0, 1], [1, 1]])
    dimensions = [with_total(2, 1)] * 2
    assert find_repeated_keys(codes, dimensions).tolist() == [2, 3]
    with pytest.raises(UsageError, match=r"2 cells are in the table more than once. The first is row 3"):
        build_equations(codes, dimensions)


def test_sums_that_are_wrong_are_found_where_all_cells_are_known() -> None:
    codes = cross([0, 1, 2], [0, 1, 2])
    equations = build_equations(codes, [with_total(3, 2)] * 2)
    values = np.array([1, 2, 3, 4, 5, 9, 5, 8, 13])  # 2 + 5 = 7, not 8
    known = np.ones(9, dtype=np.bool_)
    assert {int(equations.totals[one]) for one in find_wrong_sums(equations, values, known)} == {7, 8}
    known[4] = False
    assert [int(equations.totals[one]) for one in find_wrong_sums(equations, values, known)] == [8]


def test_no_cells_have_no_equations() -> None:
    found = build_equations(np.zeros((0, 2), dtype=np.int64), [with_total(2, 1)] * 2)
    assert len(found) == 0
    assert found.residuals(np.zeros(0, dtype=np.int64)).tolist() == []
    assert found.touching(np.zeros(0, dtype=np.bool_)).tolist() == []
