"""The probability that none of some atoms holds, by inclusion and exclusion: no minimum, no product formula.

The witness is checked with this. It shares nothing with `products`: P(no atom holds) is the sum over s of
(-1)^s h(s) / (n (n - 1) … (n - s + 1)), where h(s) counts the ways to make s of the atoms true at once, each for
another person. Values are taken one after the other; people about whom the same values are in question are alike,
so only how many of each kind already have a value need be remembered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import product
from math import comb, perm, prod


def probability_of_none(n: int, counts: Mapping[int, int], denied: Iterable[frozenset[int]]) -> Fraction:
    """The probability that no person of a class has any of the values denied to him.

    Parameters
    ----------
    n:
        Rows of the class.
    counts:
        How often each value occurs in the class, for all values that are denied to somebody.
    denied:
        For each of some different people, at most n, the values in question.

    >>> probability_of_none(5, {1: 2, 2: 2}, [frozenset({1, 2}), frozenset({1})])
    Fraction(1, 10)
    """
    kinds = Counter(denied)
    sets, sizes = list(kinds), list(kinds.values())
    ways: Counter[tuple[int, ...]] = Counter({(0,) * len(sets): 1})
    for value in sorted(set().union(*sets)):
        more: Counter[tuple[int, ...]] = Counter()
        for given, number in ways.items():
            ranges = [
                range(size - done + 1) if value in kind else range(1)
                for kind, size, done in zip(sets, sizes, given, strict=True)
            ]
            for extra in product(*ranges):
                choices = prod(comb(size - done, new) for size, done, new in zip(sizes, given, extra, strict=True))
                state = tuple(done + new for done, new in zip(given, extra, strict=True))
                more[state] += number * choices * perm(counts[value], sum(extra))
        ways = more
    return sum(
        (Fraction((-1) ** sum(given) * number, perm(n, sum(given))) for given, number in ways.items()), Fraction()
    )
