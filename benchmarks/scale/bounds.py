"""What sketches prove about a table, with the probability that they are wrong. Nothing here is an approximation.

A hash that behaves as a random function gives every class a number in [0, 1) that is independent of its size. What is
said holds under this assumption, over the choice of the hash's seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

HASHES = 2**64


def kmv_estimate(minimum: float, k: int) -> float:
    """How many different classes there are, from the k-th smallest of their hashes, as a share of all hashes.

    (k - 1) / U(k) is without bias (Beyer et al. 2007); keeping minima of hashes is from Bar-Yossef et al. (2002).

    Example:
        >>> kmv_estimate(0.001, 1001)
        1000000.0
    """
    return (k - 1) / minimum


def kmv_standard_error(k: int) -> float:
    """The relative standard error of `kmv_estimate`, whatever the number of classes: 1 / sqrt(k - 2).

    U(k) of D uniform hashes has the distribution Beta(k, D - k + 1), so that the variance of the estimate is
    D (D - k + 1) / (k - 2), less than D² / (k - 2).

    Example:
        >>> round(kmv_standard_error(1026), 5)
        0.03125
    """
    return 1 / math.sqrt(k - 2)


def hll_standard_error(registers: int) -> float:
    """About the relative standard error of HyperLogLog: 1.04 / sqrt(m) (Flajolet et al. 2007).

    Example:
        >>> hll_standard_error(1024)
        0.0325
    """
    return 1.04 / math.sqrt(registers)


def too_small_at_least(classes: int, rows: int, k: int) -> int:
    """How many classes have fewer than k rows, at the least.

    With B classes of k or more rows and at least one row in each of the others, k B + (classes - B) ≤ rows, so that
    B ≤ (rows - classes) / (k - 1). That is sharper than B ≤ rows / k, and some table reaches it. The answer grows with
    `classes`, so a lower bound on these gives a lower bound.

    Args:
        k: 2 or more.

    Example:
        >>> too_small_at_least(classes=1_000, rows=4_000, k=5)
        250
    """
    return max(0, classes - (rows - classes) // (k - 1))


def kmv_classes_at_least(minimum: float, k: int, error: float) -> int:
    """A number of classes that is exceeded, or reached, with probability 1 - `error`: Clopper and Pearson's bound.

    With D classes, U(k) ≤ u happens when at least k of D independent hashes are ≤ u. The answer is the smallest D for
    which that is not less likely than `error`.

    Args:
        minimum: the k-th smallest hash as a share of all hashes.
        k: how many hashes were kept.
        error: how often the answer may be too large.

    Example:
        >>> kmv_classes_at_least(0.001, 1001, 0.001)
        906119
    """
    return _smallest(lambda classes: binomial_at_least(k, classes, minimum) > error, k)


def small_classes_between(found: int, share: float, error: float) -> tuple[int, int | None]:
    """How many small classes the table has, from those in a sample that took every class with probability `share`.

    The number found is binomial over the small classes themselves, so both bounds are Clopper and Pearson's, exact,
    and need no estimate of all classes. Each is wrong with probability `error` at most.

    Returns:
        The bounds; the upper one is None when everything was taken and nothing is left to guess.

    Example:
        >>> small_classes_between(10, 0.01, 0.025), small_classes_between(0, 0.01, 0.025)
        ((482, 1834), (0, 367))
    """
    if share >= 1:
        return found, None
    low = 0 if found == 0 else _smallest(lambda n: binomial_at_least(found, n, share) > error, found)
    high = _smallest(lambda n: binomial_at_least(found + 1, n, share) >= 1 - error, found) - 1
    return low, high


@dataclass(frozen=True)
class Share:
    """A share with its bounds."""

    estimate: float
    low: float
    high: float


def share_of_small(found: int, sampled: int, error: float) -> Share:
    """The share of small classes among all, from a sample without replacement, by Hoeffding's inequality.

    It holds for such samples as for those with replacement (Hoeffding 1963, section 6); each bound is wrong with
    probability `error` at most.

    Example:
        >>> share_of_small(50, 1000, 0.025)
        Share(estimate=0.05, low=0.007053..., high=0.092946...)
    """
    estimate = found / sampled
    within = math.sqrt(math.log(1 / error) / (2 * sampled))
    return Share(estimate, max(0.0, estimate - within), min(1.0, estimate + within))


def binomial_at_least(successes: int, trials: int, share: float) -> float:
    """The probability of that many successes or more in independent trials.

    Example:
        >>> binomial_at_least(2, 2, 0.5), binomial_at_least(1, 2, 0.5), binomial_at_least(0, 9, 0.1)
        (0.25, 0.75, 1.0)
    """
    if successes <= 0:
        return 1.0
    if successes > trials:
        return 0.0
    if successes > trials * share:
        return _upwards(successes, trials, share)
    return 1.0 - _downwards(successes - 1, trials, share)


def _upwards(first: int, trials: int, share: float) -> float:
    """The sum of the probabilities of `first` successes and more, which fall from there."""
    term = _probability(first, trials, share)
    total, place, odds = 0.0, first, share / (1 - share)
    while place <= trials and term > total * 1e-17:
        total += term
        term *= (trials - place) / (place + 1) * odds
        place += 1
    return min(1.0, total)


def _downwards(last: int, trials: int, share: float) -> float:
    """The sum of the probabilities of `last` successes and fewer, which fall from there."""
    term = _probability(last, trials, share)
    total, place, odds = 0.0, last, share / (1 - share)
    while place >= 0 and term > total * 1e-17:
        total += term
        term *= place / (trials - place + 1) / odds
        place -= 1
    return min(1.0, total)


def _probability(successes: int, trials: int, share: float) -> float:
    chosen = math.lgamma(trials + 1) - math.lgamma(successes + 1) - math.lgamma(trials - successes + 1)
    return math.exp(chosen + successes * math.log(share) + (trials - successes) * math.log1p(-share))


def _smallest(holds: Callable[[int], bool], least: int) -> int:
    """The smallest number from `least` on for which something holds, that holds for all larger ones."""
    if holds(least):
        return least
    step = 1
    while not holds(least + step):
        step *= 2
    low, high = least + step // 2, least + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
