"""Proven bounds of a population, intervals of estimates by a bootstrap, and the measured errors of estimators."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, floor, inf, lgamma, log, log1p
from typing import TYPE_CHECKING, Any

from sqlaudit.population.estimators import (
    PITMAN,
    SNB,
    Estimate,
    NegativeBinomial,
    PitmanModel,
    fit_pitman,
    slide_negative_binomial,
    zayatz,
)
from sqlaudit.population.sample import Sample

if TYPE_CHECKING:
    import numpy as np


# Bounds that a sample proves of any population, with 95% confidence.
#
# Estimators rest on a model of the population, and are wrong where it is (docs/population.md has by how much). These
# bounds assume only a random draw: all sets of this many people are equally likely to be the sample.

DOUBT = 0.05
"""Probability that a bound is wrong, for all classes of a table together."""


def most_uniques(uniques: int, share: Fraction | float) -> float:
    """Return an upper bound of the unique people in a population, by the unique rows of its sample.

    A person who is unique in the population is unique in every sample that has them. Samples have U·share of them in
    the mean, and as few as `uniques` with a probability of at most e^(-U·KL(uniques/U, share)) (Chernoff; Hoeffding
    1963 for draws without replacement).

    Args:
        uniques: unique rows of the sample.
        share: the sampling fraction.

    Example:
        >>> round(most_uniques(0, 0.01)), round(most_uniques(100, 0.01)), most_uniques(7, 1)
        (298, 12638, 7.0)
    """
    drawn = float(share)
    if drawn >= 1.0:
        return float(uniques)

    def surprise(people: float) -> float:
        rest = people - uniques
        by_uniques = uniques * log(uniques / (people * drawn)) if uniques else 0.0
        return by_uniques + (rest * (log(rest / people) - log1p(-drawn)) if rest > 0 else 0.0)

    low = uniques / drawn
    high = 2 * low + 4 / drawn
    while surprise(high) < -log(DOUBT):
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if surprise(middle) < -log(DOUBT) else (low, middle)
    return high


def false_classes(k: int, size: int, share: float, rows: int) -> float:
    """Return an upper bound of the expected number of classes of fewer than k people with `size` rows or more.

    The population has rows/share people, so at most rows/share/F classes of F; each of the C(F, size) sets of people of
    such a class is in the sample with a probability of at most share^size. That grows with F, which is below k.

    Args:
        k: above `size`.
        size: rows of a class, from 1.
        share: the sampling fraction.
        rows: rows of the sample.

    Example:
        >>> round(false_classes(3, 2, 0.01, 1000), 4)  # 50,000 classes of two, each drawn whole with 0.01²
        5.0
    """
    ways = lgamma(k) - lgamma(size + 1) - lgamma(k - size)
    log_mean = log(rows) - log(k - 1) + ways + (size - 1) * log(share)
    return exp(log_mean) if log_mean < 700 else inf


def fewest_people(size: int, share: Fraction | float, rows: int) -> int:
    """Return a lower bound of the people that a class has in the population; never fewer than its rows.

    It holds for all classes together with 95% confidence, also for those that are left when others are left out.

    Args:
        size: rows of the class.
        share: the sampling fraction.
        rows: rows of the whole sample.

    Example:
        >>> [fewest_people(size, Fraction(1, 100), 1000) for size in (1, 2, 3, 5, 10)]
        [1, 2, 4, 31, 184]
        >>> fewest_people(7, Fraction(1), 1000)
        7
    """
    drawn = float(share)
    if size <= 1 or drawn >= 1.0:
        return size
    above = size + 1  # an upper end that is not proven, once the loop ends
    while false_classes(above, size, drawn, rows) <= DOUBT:
        above *= 2
    return bisect_right(range(above), DOUBT, size + 1, key=lambda k: false_classes(k, size, drawn, rows)) - 1


def fewest_rows(k: int, share: Fraction | float, rows: int) -> int:
    """Return the number of rows from which on a class has k people in the population.

    Example:
        >>> fewest_rows(11, Fraction(1, 100), 1000), fewest_rows(5, Fraction(1), 1000)
        (4, 5)
    """
    return bisect_left(range(k), k, 1, key=lambda size: fewest_people(size, share, rows))


# How far an estimate would move with another sample: a seeded parametric bootstrap.

CONFIDENCE = 0.95
_AT_ONCE = 20_000_000
"""Largest number of marks of new classes in memory at a time."""


@dataclass(frozen=True)
class DrawnInterval:
    """The interval of the middle 95% of the estimates from drawn samples, in people, and the number of estimates.

    The middle of the drawn estimates is put on the estimate itself: the interval shows chance alone, and not whether
    the model is true.
    """

    low: float
    high: float
    draws: int


def bootstrap(sample: Sample, fit: Estimate, draws: int, seed: int) -> DrawnInterval | None:
    """Draw samples from the fitted model, and estimate each again.

    Pitman's model is drawn member by member, by its sampling formula; the slide negative binomial's classes with
    binomial numbers of their people; Zayatz's classes from the sizes that the sample has, which are the population's by
    its assumption.

    Args:
        sample: the sample.
        fit: its estimate.
        draws: number of samples that are drawn.
        seed: of the random numbers.

    Returns:
        The interval; None without an estimate, or where fewer than half of the drawn samples have one.
    """
    if fit.uniques is None or not fit.parameters or draws < 1:
        return None
    import numpy as np

    random = np.random.default_rng(seed)
    if fit.estimator == PITMAN:
        values = _draw_by_pitman(sample, PitmanModel(**fit.parameters), draws, random)
    elif fit.estimator == SNB:
        values = _draw_by_snb(sample, NegativeBinomial(**fit.parameters), draws, random)
    else:
        values = [zayatz(_as_sample(sizes, sample)).uniques for sizes in _draw_by_sizes(sample, draws, random)]
    drawn_estimates = sorted(value for value in values if value is not None)
    if 2 * len(drawn_estimates) < draws or not drawn_estimates:
        return None
    cut = (1 - CONFIDENCE) / 2
    last = len(drawn_estimates) - 1
    shift = fit.uniques - drawn_estimates[last // 2]
    low, high = drawn_estimates[floor(cut * last)] + shift, drawn_estimates[ceil((1 - cut) * last)] + shift
    return DrawnInterval(max(0.0, low), min(high, float(sample.population)), len(drawn_estimates))


def _as_sample(sizes: tuple[tuple[int, int], ...], sample: Sample) -> Sample:
    """Return drawn classes as a sample of a population of the same size."""
    return Sample(sizes, max(sample.population, sum(size * classes for size, classes in sizes)))


def _draw_by_sizes(sample: Sample, draws: int, random: np.random.Generator) -> list[tuple[tuple[int, int], ...]]:
    """Return the class sizes of drawn samples: classes drawn from the sizes in the sample."""
    shares = [classes / sample.classes for _, classes in sample.sizes]
    counts = random.multinomial(sample.classes, shares, draws).tolist()
    sizes = [size for size, _ in sample.sizes]
    return [tuple((size, n) for size, n in zip(sizes, drawn, strict=True) if n) for drawn in counts]


def _draw_by_snb(
    sample: Sample, model: NegativeBinomial, draws: int, random: np.random.Generator
) -> list[float | None]:
    """Return the estimates of samples that are drawn from a slide negative binomial model."""
    values = []
    for _ in range(draws):
        people = 1 + random.negative_binomial(model.alpha, model.beta, round(model.classes))
        members = random.binomial(people, sample.fraction)
        drawn = Sample(_count_sizes(members), int(people.sum()))
        values.append(slide_negative_binomial(drawn).uniques if drawn.members else None)
    return values


def _draw_by_pitman(sample: Sample, model: PitmanModel, draws: int, random: np.random.Generator) -> list[float | None]:
    """Return the estimates of samples that are drawn from Pitman's model."""
    values: list[float | None] = []
    at_once = max(1, min(draws, _AT_ONCE // sample.members))
    while len(values) < draws:
        for new in _draw_class_starts(sample.members, model, min(at_once, draws - len(values)), random):
            drawn = _as_sample(_count_sizes(_draw_class_sizes(new, model.alpha, random)), sample)
            fitted = fit_pitman(drawn, model) if drawn.of_size(1) else None
            values.append(fitted.uniques(sample.population) if fitted else None)
    return values


def _draw_class_starts(members: int, model: PitmanModel, draws: int, random: np.random.Generator) -> Any:
    """Return which members begin a class, for several samples at a time: with the probability (θ + uα)/(θ + i)."""
    import numpy as np

    new = np.zeros((draws, members), dtype=bool)
    classes = np.zeros(draws)
    for member in range(members):
        begins = random.random(draws) * (model.theta + member) < model.theta + classes * model.alpha
        if not member:
            begins[:] = True
        new[:, member] = begins
        classes += begins
    return new


def _draw_class_sizes(new: Any, alpha: float, random: np.random.Generator) -> object:
    """Return the sizes of the classes of one sample.

    A member that begins no class goes to one of size s with a probability in proportion to s - α: it follows an earlier
    member that began none either, or goes to any class, in the proportion of (i - u) to u (1 - α).

    Args:
        new: the members that begin a class.
        alpha: of Pitman's model.
    """
    import numpy as np

    classes = np.cumsum(new)
    positions = np.arange(len(new))
    home = np.where(new, classes - 1, -1)
    followers = np.flatnonzero(~new)
    plain_before, classes_before = positions[followers] - classes[followers], classes[followers]
    follows = random.random(len(followers)) * (plain_before + classes_before * (1 - alpha)) < plain_before
    chosen = np.floor(random.random(len(followers)) * np.where(follows, plain_before, classes_before)).astype(np.int64)
    leader = np.where(follows, chosen, np.arange(len(followers)))
    while True:
        further = leader[leader]
        if np.array_equal(further, leader):
            break
        leader = further
    home[followers] = chosen[leader]
    return np.bincount(home)


def _count_sizes(members: Any) -> tuple[tuple[int, int], ...]:
    """Return how many classes have each size, without empty classes."""
    import numpy as np

    sizes, classes = np.unique(members, return_counts=True)
    return tuple((size, n) for size, n in zip(sizes.tolist(), classes.tolist(), strict=True) if size)


# How far estimates of a population were off, where the population was known: `python -m benchmarks.population`.

FRACTIONS: tuple[float, ...] = (0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5)

MEASURED: Mapping[str, tuple[tuple[float, float], ...]] = {
    "dankar": ((0.0, 170.0), (0.0, 170.0), (0.0, 170.0), (0.0, 110.0), (0.048, 67.0), (0.78, 5.1), (0.48, 1.5)),
    "pitman": ((0.0, 27.0), (0.0, 130.0), (0.0, 120.0), (0.0, 70.0), (0.048, 2.9), (0.42, 2.1), (0.73, 1.8)),
    "zayatz": ((0.066, 170.0), (0.093, 170.0), (0.14, 170.0), (0.28, 110.0), (0.21, 67.0), (0.78, 19.0), (0.91, 3.6)),
    "snb": ((0.012, 92.0), (0.46, 170.0), (0.3, 170.0), (0.12, 100.0), (0.69, 53.0), (0.95, 4.9), (0.48, 1.6)),
    "loglinear": ((0.0, 2.5), (0.0, 2.9), (0.047, 2.5), (0.62, 1.8), (0.71, 1.3), (0.94, 0.97), (0.89, 1.2)),
    "journalist": ((0.007, 0.88), (0.027, 0.85), (0.047, 0.87), (0.15, 0.93), (0.25, 1.0), (0.46, 1.2), (0.69, 1.2)),
    "marketer": ((0.001, 0.16), (0.0052, 0.22), (0.01, 0.29), (0.051, 0.44), (0.1, 0.57), (0.25, 0.75), (0.5, 0.94)),
}
"""The lowest and the highest estimate at each of the fractions, as multiples of the truth, by estimator or attacker.
None is at least the truth everywhere, so no estimate passes a limit."""


def bias(name: str, fraction: float) -> dict[str, Any]:
    """Return the lowest and highest multiple of the truth at measured fractions around this one, with a sentence."""
    beyond = next((index for index, measured in enumerate(FRACTIONS) if measured >= fraction), len(FRACTIONS) - 1)
    around = slice(max(0, beyond - 1), beyond + 1)
    ranges = MEASURED[name][around]
    low, high = min(bounds[0] for bounds in ranges), max(bounds[1] for bounds in ranges)
    samples = " and ".join(f"{100 * measured:g}%" for measured in FRACTIONS[around])
    sentence = (
        f"In samples of {samples} from known populations, such estimates were {low:g} to {high:g} times the truth"
    )
    return {"lowest": low, "highest": high, "sentence": sentence}
