"""Random bucketizations for the property tests of this folder."""

from __future__ import annotations

from math import factorial, prod

from hypothesis import settings
from hypothesis import strategies as st

from tests.strategies import run

Classes = list[list[int]]


def cases(number: int) -> settings:
    """The same `number` cases on every run, however long one takes."""
    return run(number)


def number_of_worlds(classes: Classes) -> int:
    return prod(factorial(sum(counts)) // prod(factorial(count) for count in counts) for counts in classes)


def bucketizations(classes: int = 6, values: int = 6, count: int = 6, fewest: int = 1) -> st.SearchStrategy[Classes]:
    """Up to `classes` classes with `fewest` to `values` distinct values that occur up to `count` times each.

    Some classes occur several times, so that multiplicities matter.
    """
    one = st.lists(st.integers(1, count), min_size=fewest, max_size=values)
    return st.lists(one, min_size=1, max_size=classes).flatmap(
        lambda drawn: st.lists(st.sampled_from(drawn), max_size=3).map(lambda again: drawn + again)
    )


def small(worlds: int, classes: int = 2, values: int = 4, fewest: int = 1) -> st.SearchStrategy[Classes]:
    """Bucketizations for brute force: zeros allowed, and at most so many worlds."""
    one = st.lists(st.integers(0, 3), min_size=fewest, max_size=values).filter(any)
    return st.lists(one, min_size=1, max_size=classes).filter(lambda drawn: number_of_worlds(drawn) <= worlds)
