"""How many people of the population a class has, going by its rows in a sample: k-map without a population table.

A class with one row in a sample of a tenth has ten people on average over all such classes, and still may have one. So
the number that is told is one to rely on: fewer people would show as many rows in at most 5% of the samples that show
any. El Emam and Dankar (Protecting Privacy Using k-Anonymity, JAMIA 15(5), 2008) test so, with a Poisson
distribution without 0; here the distribution is binomial, so that a whole population says what it has.
"""

from __future__ import annotations

from fractions import Fraction
from math import expm1, log, log1p

import numpy as np

DOUBT = 0.05
"""How often a class of fewer people may look like this one."""


def chance_of_as_many(people: int, size: int, share: float) -> float:
    """How likely so many people show `size` rows or more, in a sample that shows any.

    Args:
        people: of the class in the population. size: its rows, from 1. share: of the population that is drawn.

    Example:
        >>> round(chance_of_as_many(2, 2, 0.1), 4)  # 0.01 of 0.19
        0.0526
    """
    if size <= 1 or people < size:
        return float(people >= size)
    if share >= 1.0:
        return 1.0
    none = people * log1p(-share)
    drawn = np.arange(1, size)
    steps = np.log((people - drawn + 1) / drawn) + log(share) - log1p(-share)
    fewer = float(np.exp(none + np.cumsum(steps)).sum())
    return max(0.0, 1.0 + fewer / expm1(none))


def fewest_people(size: int, share: Fraction | float) -> int:
    """The people that a class has in the population, with 95% confidence; never fewer than its rows.

    Example:
        >>> [fewest_people(size, Fraction(1, 10)) for size in (1, 2, 3, 5, 10)]
        [1, 2, 8, 21, 57]
        >>> fewest_people(7, Fraction(1))
        7
    """
    drawn = float(share)
    if size <= 1 or drawn >= 1.0:
        return size
    below, above = size - 1, size  # so many people are too few, and so many may not be
    while chance_of_as_many(above, size, drawn) <= DOUBT:
        below, above = above, 2 * above
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (middle, above) if chance_of_as_many(middle, size, drawn) <= DOUBT else (below, middle)
    return below + 1


def fewest_rows(k: int, share: Fraction | float) -> int:
    """The rows from which on a class has k people in the population.

    Example:
        >>> fewest_rows(5, Fraction(1, 10)), fewest_rows(5, Fraction(1))
        (3, 5)
    """
    few, enough = 0, k
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if fewest_people(middle, share) >= k else (middle, enough)
    return enough


def least_weight(size: int, k: int) -> float | None:
    """The weights of `size` rows together from which on their class has k people; None where none are enough.

    Example:
        >>> least_weight(5, 5), least_weight(1, 2), round(least_weight(3, 5) or 0, 2)
        (0.0, None, 14.43)
    """
    if size >= k:
        return 0.0
    if size <= 1:
        return None
    light, heavy = float(size), 2.0 * k
    while chance_of_as_many(k - 1, size, size / heavy) > DOUBT:
        light, heavy = heavy, 2.0 * heavy
    while heavy - light > 1e-12 * heavy:
        middle = (light + heavy) / 2
        light, heavy = (light, middle) if chance_of_as_many(k - 1, size, size / middle) <= DOUBT else (middle, heavy)
    return heavy
