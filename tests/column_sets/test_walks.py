"""The walkers and the hitting sets against brute force over all sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlaudit.base.errors import BudgetSpent, Interrupted
from sqlaudit.column_sets import masks
from sqlaudit.column_sets.identify import (
    FoundSets,
    find_minimal_set,
    search_border,
    search_greedily,
    search_levels,
    search_minimum,
)
from sqlaudit.column_sets.masks import (
    bits,
    count_subsets,
    keep_minimal,
    mask_of,
    minimal_hitting_sets,
    minimum_hitting_set,
)
from tests.column_sets import oracle
from tests.strategies import run

WIDTH = 7
sets = st.lists(st.integers(0, 2**WIDTH - 1), max_size=12)
sizes = st.one_of(st.none(), st.integers(0, WIDTH))


def quick(cases: int) -> settings:
    return run(cases)


def as_columns(masks: Sequence[int]) -> set[oracle.Columns]:
    return {tuple(bits(mask)) for mask in masks}


class Lacking:
    """A property that exactly the subsets of the given sets lack, and a count of the questions."""

    def __init__(self, safe: Sequence[int]) -> None:
        self.safe = safe
        self.asked: list[int] = []

    def __call__(self, masks: Sequence[int]) -> list[bool]:
        self.asked.extend(masks)
        return [not any(mask & large == mask for large in self.safe) for mask in masks]

    def of(self, chosen: oracle.Columns) -> bool:
        return self([mask_of(chosen)])[0]


@quick(400)
@given(sets, sizes)
def test_minimal_hitting_sets_are_all_of_them_and_each_once(edges: list[int], limit: int | None) -> None:
    found = list(minimal_hitting_sets(edges, limit))
    expected = oracle.minimal_sets(WIDTH, lambda chosen: all(mask_of(chosen) & edge for edge in edges), limit)
    assert as_columns(found) == expected
    assert len(found) == len(expected)


@quick(300)
@given(sets)
def test_a_minimum_hitting_set_is_a_smallest_one(edges: list[int]) -> None:
    found = minimum_hitting_set(edges)
    expected = oracle.minimal_sets(WIDTH, lambda chosen: all(mask_of(chosen) & edge for edge in edges))
    if not expected:
        assert found is None
    else:
        assert found is not None
        assert tuple(bits(found)) in expected
        assert found.bit_count() == min(map(len, expected))


@quick(300)
@given(sets, st.integers(0, WIDTH))
def test_level_walk_finds_the_whole_border(safe: list[int], limit: int) -> None:
    ask = Lacking(safe)
    found = search_levels(WIDTH, limit, ask)
    assert found.complete
    assert as_columns(found.minimal) == oracle.minimal_sets(WIDTH, ask.of, limit)
    assert as_columns(found.maximal_safe) == oracle.maximal_lacking(WIDTH, ask.of, limit)


@quick(300)
@given(sets, sizes)
def test_border_walk_finds_the_whole_border(safe: list[int], limit: int | None) -> None:
    ask = Lacking(safe)
    found = search_border(WIDTH, limit, ask)
    assert found.complete
    assert as_columns(found.minimal) == oracle.minimal_sets(WIDTH, ask.of, limit)
    if limit is None:
        assert as_columns(found.maximal_safe) == oracle.maximal_lacking(WIDTH, ask.of)
    assert all(not ask.of(tuple(bits(mask))) for mask in found.maximal_safe)
    # the proof: every set within the limit lies under a minimal set or inside a safe one
    for chosen in oracle.all_sets(WIDTH, limit):
        mask = mask_of(chosen)
        above = any(small & mask == small for small in found.minimal)
        inside = any(mask & large == mask for large in found.maximal_safe)
        assert above != inside


@quick(300)
@given(sets, sizes)
def test_minimum_is_proven(safe: list[int], limit: int | None) -> None:
    ask = Lacking(safe)
    found = search_minimum(WIDTH, limit, ask)
    expected = oracle.minimal_sets(WIDTH, ask.of, limit)
    assert found.complete
    if expected:
        assert tuple(bits(found.minimal[0])) in expected
        assert found.minimal[0].bit_count() == min(map(len, expected))
    else:
        assert found.minimal == ()


@quick(200)
@given(sets, st.permutations(range(WIDTH)), st.integers(0, 5))
def test_greedy_ends_in_a_minimal_set(safe: list[int], order: list[int], restarts: int) -> None:
    ask = Lacking(safe)
    expected = oracle.minimal_sets(WIDTH, ask.of)
    one = find_minimal_set(order, ask)
    assert (one is None) == (not expected)
    assert one is None or tuple(bits(one)) in expected
    found = search_greedily(order, restarts, 3, ask)
    assert as_columns(found.minimal) <= expected
    assert one is None or one in found.minimal
    assert found == search_greedily(order, restarts, 3, ask)


def test_level_walk_asks_only_border_sets() -> None:
    ask = Lacking([0b0011, 0b1110])
    search_levels(4, 4, ask)
    assert sorted(ask.asked) == [0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 14]


class Budget:
    """A budget that allows so many questions."""

    def __init__(self, left: int) -> None:
        self.left = left

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


def test_a_stopped_walk_says_what_is_proven() -> None:
    ask = Lacking([0b0011, 0b1110])
    found = search_levels(4, 4, ask, Budget(3))
    assert found == FoundSets((0b0101, 0b1001), (0b0011, 0b0110, 0b1010, 0b1100), False, 11, 2, 1)
    found = search_border(4, None, ask, Budget(1))
    assert not found.complete
    assert found.open_sets > 0
    found = search_minimum(4, None, ask, Budget(6))
    assert found.minimal == ()
    assert found.decided_size == 1
    found = search_greedily(range(4), 0, 0, ask, Budget(2))
    assert (found.minimal, found.complete, found.open_sets) == ((), False, 1)
    found = search_levels(4, 4, ask, Budget(0))
    assert found == FoundSets((), (), False, 0, -1, 1)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), Interrupted("Stopped.")], ids=repr)
def test_a_walk_that_somebody_stops_says_what_is_proven(error: BaseException) -> None:
    def walk(of: Callable[..., FoundSets], *arguments: Any, questions: int) -> FoundSets:
        asked = Lacking([0b0011, 0b1110])
        left = iter(range(questions))

        def decide(masks: Sequence[int]) -> list[bool]:
            if next(left, None) is None:
                raise error
            return asked(masks)

        return of(*arguments, decide)

    found = walk(search_levels, 4, 4, questions=3)
    assert found == FoundSets((0b0101, 0b1001), (0b0011, 0b0110, 0b1010, 0b1100), False, 11, 2, 1, True)
    assert walk(search_levels, 4, 4, questions=0) == FoundSets((), (), False, 0, -1, 1, True)
    found = walk(search_border, 4, None, questions=3)
    assert (found.complete, found.by_hand, found.open_sets) == (False, True, 1)
    found = walk(search_minimum, 4, None, questions=3)
    assert (found.minimal, found.complete, found.by_hand) == ((), False, True)
    found = walk(lambda decide: search_greedily(range(4), 1, 0, decide), questions=2)
    assert (found.minimal, found.by_hand, found.open_sets) == ((), True, 1)


@quick(60)
@given(sets, st.integers(0, 60), st.sampled_from([None, 3]))
def test_however_soon_a_walk_stops_what_it_says_is_right(safe: list[int], budget: int, limit: int | None) -> None:
    ask = Lacking(safe)
    expected, of_any_size = oracle.minimal_sets(WIDTH, ask.of, limit), oracle.minimal_sets(WIDTH, ask.of)
    levels = search_levels(WIDTH, limit or WIDTH, ask, Budget(budget))
    smallest = search_minimum(WIDTH, limit, ask, Budget(budget))
    for found in (levels, smallest, search_border(WIDTH, limit, ask, Budget(budget))):
        assert as_columns(found.minimal) <= expected
        assert not any(ask.of(tuple(bits(mask))) for mask in found.maximal_safe)
        assert found.complete is not bool(found.open_sets)
    some = search_greedily(range(WIDTH), 2, 1, ask, Budget(budget))
    assert as_columns(some.minimal) <= of_any_size
    assert some.minimal or some.open_sets or not of_any_size
    if not levels.complete:
        assert levels.decided_size is not None
        decided = {chosen for chosen in expected if len(chosen) <= levels.decided_size}
        assert decided <= as_columns(levels.minimal)
    if not smallest.complete:
        assert smallest.decided_size is not None
        assert all(len(chosen) > smallest.decided_size for chosen in expected)


def test_enumerations_look_at_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masks, "NODES", 3)
    edges = [0b000111, 0b111000, 0b010101]
    every = list(minimal_hitting_sets(edges))
    some: list[int] = []
    with pytest.raises(BudgetSpent):
        some.extend(minimal_hitting_sets(edges, stop=Budget(1)))
    assert 0 < len(some) < len(every)
    assert set(some) < set(every)
    monkeypatch.setattr(masks, "NODES", 1)
    with pytest.raises(BudgetSpent):
        minimum_hitting_set([0b0011, 0b0110, 0b1100, 0b1001], Budget(0))


def test_small_helpers() -> None:
    assert count_subsets(200, 4) == 1 + 200 + 19_900 + 1_313_400 + 64_684_950
    assert count_subsets(100, None) == 2**100
    assert keep_minimal([7, 3, 4, 3]) == [4, 3]
    assert oracle.maximal_only([7, 3, 8]) == [7, 8]
    wide = 1 << 150 | 1
    assert bits(wide) == [0, 150]
    assert sorted(minimal_hitting_sets([wide, 1 << 150])) == [1 << 150]
