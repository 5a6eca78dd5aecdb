"""Optimal suppression against every partition of the rows, and against constructions whose optimum is known."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given

from sqlaudit.base import solver
from sqlaudit.base.errors import EngineError, MissingDriver
from sqlaudit.papers.tables import clique_rows, hard_rows
from sqlaudit.remedies.suppress import exact as programs
from sqlaudit.remedies.suppress.exact import decide, group_program, lower_bound, pattern_program
from sqlaudit.remedies.suppress.fast import column_choices, ensure_guarantee, improve, solve_fast
from sqlaudit.remedies.suppress.problem import Problem, find_candidates, make_solution, merge_equal_columns
from sqlaudit.remedies.suppress.request import How
from tests.remedies.oracle_suppress import cheapest
from tests.remedies.suppression_problems import check, problem_of
from tests.strategies import run as cases

run = cases(150)
FIGURE_1 = [("x", "a", "b"), ("z", "c", "d"), ("y", "a", "b"), ("z", "c", "e")]
COMPLETE = list(combinations(range(4), 2))
PRISM = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (0, 3), (1, 4), (2, 5)]
FIGURE_5_2_2 = [(1, 2), (2, 3), (3, 4), (2, 4), (2, 5)]


def exact(problem: Problem) -> int:
    """The cost of both exact programs, which must agree."""
    found = find_candidates(problem, 10**6, 10**8)
    assert found is not None
    start = solve_fast(problem)
    answers = [pattern_program(problem, found).solve(problem, 1, start, None)]
    groups = group_program(problem, 10**5)
    assert groups is not None
    answers.append(groups.solve(problem, 1, None, None))
    costs = set()
    for answer in answers:
        assert answer.best is not None
        check(problem, answer.best)
        assert answer.bound <= answer.best.cost + 1e-6
        costs.add(answer.best.cost)
    assert len(costs) == 1
    return costs.pop()


TABLE = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[st.sampled_from([1, 2, 3, None])] * width), min_size=1, max_size=7)
)


@run
@given(TABLE, st.integers(1, 4), st.integers(1, 3), st.booleans(), st.booleans(), st.data())
def test_the_programs_find_what_every_partition_finds(
    rows: list[tuple[Any, ...]], k: int, l: int, missing_alone: bool, whole: bool, data: st.DataObject
) -> None:
    sensitive = data.draw(st.lists(st.sampled_from("abc"), min_size=len(rows), max_size=len(rows)))
    weights = data.draw(st.lists(st.integers(1, 3), min_size=len(rows[0]), max_size=len(rows[0])))
    wanted = cheapest(rows, k, l, sensitive, weights, missing_alone=missing_alone, whole=whole)
    assume(wanted is not None)
    assert wanted is not None
    problem = problem_of(rows, k, l, sensitive, weights, missing_alone=missing_alone, whole=whole)
    quick = solve_fast(problem)
    check(problem, quick)
    assert lower_bound(problem) <= wanted <= quick.cost
    rough = decide(problem, How.FAST, None)
    assert rough.bound <= wanted <= rough.solution.cost
    if not problem.trivial:
        assert exact(problem) == wanted
    best = decide(problem, How.EXACT, None)
    assert (best.solution.cost, best.bound, best.optimal, best.stopped) == (wanted, wanted, True, "")
    check(problem, best.solution)


def test_the_papers_first_figure_costs_four() -> None:
    assert exact(problem_of(FIGURE_1, 2)) == 4
    assert solve_fast(problem_of(FIGURE_1, 2)).cost == 4


def test_copies_may_part() -> None:
    rows = [(0, 0)] * 4 + [(0, 1), (1, 0)]
    problem = problem_of(rows, 3)
    assert exact(problem) == 6
    together = min(  # every partition of the three patterns, copies kept together
        sum(
            sum(problem.sizes[list(part)]) * int((np.ptp(problem.codes[list(part)], axis=0) > 0).sum())
            for part in parted
        )
        for parted in ([(0, 1, 2)], [(0,), (1, 2)], [(1,), (0, 2)], [(2,), (0, 1)])
        if all(sum(problem.sizes[list(part)]) >= 3 for part in parted)
    )
    assert together == 12


@pytest.mark.parametrize(("vertices", "edges", "rows", "cost"), [(4, COMPLETE, 106, 137), (6, PRISM, 152, 198)])
def test_the_hardness_construction_costs_what_its_vertex_cover_says(
    vertices: int, edges: list[tuple[int, int]], rows: int, cost: int
) -> None:
    table = hard_rows(vertices, edges)
    cover = next(
        size
        for size in range(vertices + 1)
        if any(all(x in chosen or y in chosen for x, y in edges) for chosen in combinations(range(vertices), size))
    )
    assert (len(table), 27 * vertices + 2 * len(edges) + 14 + cover) == (rows, cost)
    found = decide(problem_of(table, 7), How.EXACT, None)
    assert (found.solution.cost, found.bound, found.method) == (cost, cost, "patterns")
    check(problem_of(table, 7), found.solution)


@pytest.mark.parametrize(("first", "cost"), [(1, 159), (2, 156), (3, 156), (4, 156), (5, 159)])
def test_the_two_diversity_construction_finds_the_clique(first: int, cost: int) -> None:
    table = clique_rows(5, FIGURE_5_2_2, first, 3)
    problem = problem_of([cells for cells, _ in table], 1, 2, [value for _, value in table])
    found = decide(problem, How.EXACT, None)
    assert (len(table), len(table[0][0])) == (7, 70)
    assert (found.solution.cost, found.bound, found.method) == (cost, cost, "groups")


def test_equal_columns_become_one_with_the_sum_of_their_weights() -> None:
    problem = problem_of([(1, 5, 2, 0), (2, 5, 1, 0), (2, 5, 1, None)], 2, weights=[1, 7, 2, 4])
    less = merge_equal_columns(problem)
    assert (less.width, sorted(less.weights)) == (2, [3, 4])
    alone = problem_of([(1, 5, 2, 0), (2, 5, 1, 0), (2, 5, 1, None)], 2, weights=[1, 7, 2, 4], missing_alone=True)
    assert sorted(merge_equal_columns(alone).weights) == [3, 4]
    assert decide(problem, How.EXACT, None).solution.cost == decide(alone, How.EXACT, None).solution.cost == 21


def test_choices_come_cheapest_first_and_end_with_everything_suppressed() -> None:
    problem = problem_of([tuple(range(6)), tuple(range(1, 7))], 2, weights=[3, 1, 4, 1, 5, 2])
    every = list(column_choices(problem))
    assert len({kept for _, kept in every}) == len(every) == 64
    assert [cost for cost, _ in every] == sorted(16 - sum(problem.weights[c] for c in kept) for _, kept in every)
    few = list(column_choices(problem, 10))
    assert few[:10] == every[:10]
    assert few[-1] == (16, ())
    assert [cost for cost, _ in few] == sorted(cost for cost, _ in few)


def test_wide_tables_are_suppressed_fast_and_bounded() -> None:
    generator = np.random.default_rng(3)
    rows = generator.integers(1, 4, size=(150, 14)).tolist()
    problem = problem_of(rows, 3)
    found = decide(problem, How.FAST, None)
    check(problem, found.solution)
    assert 0 < found.bound <= found.solution.cost <= 150 * 14


def test_moves_make_a_fast_answer_better() -> None:
    generator = np.random.default_rng(1)
    costs = []
    for diverse in (1, 2):
        rows = np.minimum(generator.geometric(0.3, size=(200, 3)), 5).tolist()
        problem = problem_of(rows, 5, diverse, [n % 3 for n in range(200)])
        start, found = solve_fast(problem), find_candidates(problem, 10**6, 10**8)
        assert found is not None
        better = improve(problem, found, start)
        check(problem, better)
        assert lower_bound(problem) <= better.cost <= start.cost
        costs.append((start.cost, better.cost))
    assert any(before > after for before, after in costs)


def test_a_fast_answer_with_few_rare_values() -> None:
    rows = [(n % 7, n % 5) for n in range(200)]
    sensitive = ["rare" if n in (3, 90, 144) else "common" for n in range(200)]
    problem = problem_of(rows, 3, 2, sensitive)
    found = solve_fast(problem)
    check(problem, found)
    assert lower_bound(problem) <= found.cost <= 400


def test_too_large_programs_are_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(4)
    problem = problem_of(generator.integers(1, 6, size=(80, 3)).tolist(), 4)
    monkeypatch.setattr(programs, "MOST_PAIRS", 5)
    monkeypatch.setattr(programs, "MOST_GROUPS", 5)
    found = decide(problem, How.EXACT, None)
    assert (found.stopped, found.variables, found.optimal) == ("size", 0, False)
    assert found.method == "counting"
    check(problem, found.solution)


@pytest.mark.parametrize("diverse", [1, 2])
def test_large_programs_are_bounded_without_whole_numbers_and_solved_over_what_these_open(
    monkeypatch: pytest.MonkeyPatch, diverse: int
) -> None:
    for seed in range(6):
        generator = np.random.default_rng(seed)
        rows = np.minimum(generator.geometric(0.3, size=(200, 3)), 6).tolist()
        problem = problem_of(rows, 5, diverse, [n % 3 for n in range(200)])
        with monkeypatch.context() as patched:
            patched.setattr(programs, "MOST_GROUPS", 5)
            best = decide(problem, How.EXACT, None)
            patched.setattr(programs, "SMALL_PAIRS", 5)
            near, quick = decide(problem, How.AUTO, None), decide(problem, How.FAST, None)
            again = decide(problem, How.EXACT, None)
        check(problem, near.solution)
        assert (best.optimal, again.optimal) == (True, True)
        assert again.solution.cost == best.solution.cost
        assert near.bound <= best.solution.cost <= near.solution.cost <= quick.solution.cost
        assert near.solution.cost - near.bound <= 0.02 * near.solution.cost
        assert (near.method, near.stopped) == ("relaxed", "" if near.optimal else "size")


def test_when_time_is_over_the_best_so_far_and_its_bound_are_told() -> None:
    generator = np.random.default_rng(5)
    problem = problem_of(generator.geometric(0.3, size=(150, 4)).tolist(), 4)
    found = decide(problem, How.EXACT, 0.0)
    assert (found.stopped, found.optimal) == ("time", False)
    assert found.solution.cost == found.fast_cost
    assert lower_bound(problem) <= found.bound < found.solution.cost


def test_a_keyboard_interrupt_leaves_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(6)
    problem = problem_of(generator.geometric(0.3, size=(60, 3)).tolist(), 4)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(programs, "find_candidates", interrupted)
    found = decide(problem, How.EXACT, None)
    assert (found.stopped, found.solution.cost) == ("interrupted", found.fast_cost)


def test_without_a_solver_the_fast_way_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of([(n % 4, n % 3, n) for n in range(12)], 3)
    monkeypatch.setattr(solver, "available", lambda: False)
    found = decide(problem, How.AUTO, None)
    assert (found.method, found.variables) == ("counting", 0)
    with pytest.raises(MissingDriver, match=r"pip install 'sqlaudit\[remedies\]'"):
        solver.require()


def test_programs_have_bounds_and_say_when_nothing_fits() -> None:
    program = solver.Program()
    x, y = program.variable(-3.0, 10.0, whole=True), program.variable(-2.0, 10.0, whole=True)
    program.row([(x, 2.0), (y, 1.0)], 0.0, 7.5)
    found = solver.solve(program, step=1)
    assert found.values is not None
    assert (found.bound, found.values.tolist(), found.stopped) == (-14.0, [0.0, 7.0], "")
    relaxed = solver.solve(program, step=1, relaxed=True)
    assert relaxed.bound == -15.0
    program.row([(x, 1.0)], 11.0, 12.0)
    assert solver.solve(program, step=1) == solver.ProgramSolution(None, float("inf"))
    unbounded = solver.Program()
    unbounded.variable(-1.0, float("inf"), whole=False)
    with pytest.raises(EngineError, match="ended without an answer"):
        solver.solve(unbounded, step=1, relaxed=True)


def test_a_partition_that_is_none_is_refused() -> None:
    problem = problem_of([(1,), (2,), (2,)], 2)
    units, one = np.array([0, 1]), np.array([1, 1])
    with pytest.raises(ValueError, match="every row once"):
        make_solution(problem, units, one, np.array([0, 0]))
    with pytest.raises(ValueError, match="too small"):
        make_solution(problem, units, np.array([1, 2]), np.array([0, 1]))


@cases(30)
@given(
    st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=2), min_size=4, max_size=7),
    st.integers(2, 4),
    st.sampled_from([(1, 1), (1, 3)]),
    st.booleans(),
)
def test_a_fast_answer_for_k_alone_is_within_its_factor(
    rows: list[list[int]], k: int, weights: tuple[int, int], whole: bool
) -> None:
    """Less than 2 W / w times the best, also from the worst start: everybody in one group."""
    best = cheapest([tuple(row) for row in rows], k, 1, [""] * len(rows), weights, whole=whole)
    problem = problem_of(rows, k, weights=weights, whole=whole)
    nobody_apart = np.zeros(problem.units, dtype=np.int64)
    worst = make_solution(problem, np.arange(problem.units), problem.sizes, nobody_apart)
    for found in (solve_fast(problem), ensure_guarantee(problem, worst)):
        check(problem, found)
        assert best is not None
        assert found.cost * min(weights) < 2 * sum(weights) * best or found.cost == best == 0
    assert lower_bound(problem) <= best


def test_a_fast_answer_suppresses_no_more_than_the_rows_that_cannot_stay() -> None:
    """Three rows of three cells: the walk over the choices of columns took a fourth row in, and ten cells."""
    rows = [(3, 2, 1), (1, 3, 3), (3, 2, 1), (3, 2, 1), (0, 1, 1), (1, 2, 1), (3, 2, 1)]
    assert solve_fast(problem_of(rows, 2)).cost <= 9


def test_where_one_row_pays_its_whole_group_does() -> None:
    assert lower_bound(problem_of([(1,)] * 9 + [(2,)], 5)) == 5
