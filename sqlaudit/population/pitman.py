"""Pitman's model: classes as Pitman's sampling formula makes them, fitted by maximum likelihood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log

from sqlaudit.population.estimate import Estimate
from sqlaudit.population.gamma import digamma_difference, log_gamma_difference, trigamma_difference
from sqlaudit.population.sample import Sample

PITMAN = "pitman"
SOURCE = "Hoshino: Applying Pitman's Sampling Formula to Microdata Disclosure Risk Assessment, JOS 17(4), 2001"
_STEPS = 40
_FEW_CUTS, _CUTS = 10, 200
_SMALL = 1e-6
_LOWEST = -1e6


@dataclass(frozen=True)
class PitmanModel:
    """θ and α of Pitman's sampling formula."""

    theta: float
    alpha: float

    def uniques(self, people: int) -> float:
        """Expected uniques among so many people: Γ(θ+1)/Γ(θ+α) N^α."""
        scale = log_gamma_difference(self.theta + 1, self.theta + self.alpha)
        return exp(scale + self.alpha * log(people))


def pitman(sample: Sample) -> Estimate:
    """Population uniques by the maximum likelihood fit of Pitman's sampling formula.

    The likelihood of a sample of n members in u classes is
    Π(θ + iα, i < u) / Π(θ + i, i < n) · Π Π(j - α, j < size of a class); θ and α solve
    Σ 1/(θ + iα) = Σ 1/(θ + i) and Σ i/(θ + iα) = Σ c_k Σ 1/(j - α) over i, j from 1. The population then has
    Γ(θ+1)/Γ(θ+α) N^α uniques. It is meant for small fractions, and for tables with many classes.

    Returns:
        The estimate; 0 where no row of the sample is unique; none where the likelihood has no maximum with θ ≥ 0 and
        α < 1, or where the uniques would be more than the people.
    """
    people = sample.population
    if not sample.of_size(1):
        return Estimate(PITMAN, people, 0.0)
    fitted = fit_pitman(sample)
    if fitted is None:
        return Estimate(PITMAN, people, None, "its likelihood has no maximum where its parameters have a meaning")
    parameters = {"theta": fitted.theta, "alpha": fitted.alpha}
    uniques = fitted.uniques(people)
    if not uniques <= people:
        return Estimate(PITMAN, people, None, "it would find more unique people than there are people", parameters)
    return Estimate(PITMAN, people, uniques, "", parameters)


def fit_pitman(sample: Sample, start: PitmanModel | None = None) -> PitmanModel | None:
    """The maximum of the likelihood, looked for from a start; None where it has none with θ ≥ 0 and α < 1."""
    if not 1 < sample.classes < sample.members:
        return None

    fitted = _by_steps(sample, start or _moments(sample)) or _by_search(sample)
    return fitted if fitted and fitted.theta >= 0 and fitted.theta + fitted.alpha > 0 else None


def _moments(sample: Sample) -> PitmanModel:
    """Where Hoshino starts: what the members, classes, uniques and pairs would be."""
    members, classes, uniques = sample.members, sample.classes, sample.of_size(1)
    ratio = uniques * (uniques - 1) / max(sample.of_size(2), 1)
    below = 2 * uniques * classes + uniques * ratio - members * ratio
    above = members * classes * ratio - uniques * (members - 1) * (2 * classes + ratio)
    theta = above / below if below else 1.0
    return PitmanModel(theta, (theta * (uniques - members) + (members - 1) * uniques) / (members * classes))


def _by_steps(sample: Sample, start: PitmanModel) -> PitmanModel | None:
    """The maximum by Newton's steps; None where they do not lead to one."""
    theta, alpha = start.theta, start.alpha
    for _ in range(_STEPS):
        step = theta - _least(sample, alpha)
        if not (step > 0 and _SMALL < abs(alpha) < 1):
            return None
        slopes, bends = _derivatives(sample, step, alpha)
        by_theta, both, by_alpha = bends
        volume = by_theta * by_alpha - both**2
        if not volume > 0 or by_theta >= 0:
            return None
        to_theta = (by_alpha * slopes[0] - both * slopes[1]) / volume
        to_alpha = (by_theta * slopes[1] - both * slopes[0]) / volume
        theta, alpha = theta - to_theta, alpha - to_alpha
        if abs(to_theta) <= 1e-12 * abs(theta) and abs(to_alpha) <= 1e-13:
            return PitmanModel(theta, alpha)
    return None


def _derivatives(sample: Sample, step: float, alpha: float) -> tuple[tuple[float, float], tuple[float, float, float]]:
    """The first derivatives of the likelihood's logarithm by θ and α, and the second by θθ, θα and αα."""
    theta, first, size = _least(sample, alpha) + step, step / abs(alpha), sample.classes - 1
    plain = _plain(sample, step, alpha)
    weighted = (size - theta * plain) / alpha
    squares = trigamma_difference(first, size) / alpha**2
    mixed = (plain - theta * squares) / alpha
    inner, bent = _within(sample, alpha)
    slopes = plain - digamma_difference(theta + 1, sample.members - 1), weighted - inner
    all_squares = trigamma_difference(theta + 1, sample.members - 1)
    return slopes, (all_squares - squares, -mixed, -(weighted - theta * mixed) / alpha - bent)


def _by_search(sample: Sample) -> PitmanModel | None:
    """The maximum between bounds: a few cuts, and Newton's steps from there; else as many cuts as it takes."""

    def slope(alpha: float) -> float:
        return _weighted(sample, _step(sample, alpha), alpha) - _within(sample, alpha)[0]

    low = _below(slope)
    if low is None:
        return None
    for cuts in (_FEW_CUTS, _CUTS):
        alpha = _root(slope, low, 1 - 1e-12, cuts)
        near = PitmanModel(_least(sample, alpha) + _step(sample, alpha), alpha)
        if found := _by_steps(sample, near):
            return found
    return near


def _below(slope: Callable[[float], float]) -> float | None:
    """An α where the likelihood still rises."""
    low = _SMALL
    while slope(low) <= 0:
        low = -0.01 if low > 0 else 4 * low
        if low < _LOWEST:
            return None
    return low


def _least(sample: Sample, alpha: float) -> float:
    """What θ is above, so that every factor of the likelihood is positive."""
    return -alpha if alpha > 0 else -(sample.classes - 1) * alpha


def _step(sample: Sample, alpha: float) -> float:
    """The θ of highest likelihood for an α, as how far it is above the least one."""
    least = _least(sample, alpha)

    def slope(step: float) -> float:
        return _plain(sample, step, alpha) - digamma_difference(least + step + 1, sample.members - 1)

    high = 1.0
    while slope(high) > 0:
        high *= 4
    low = high / 4
    while slope(low) <= 0:
        low /= 16
    return _root(slope, low, high)


def _plain(sample: Sample, step: float, alpha: float) -> float:
    """Σ 1/(θ + iα) for i from 1 and below the number of classes."""
    return digamma_difference(step / abs(alpha), sample.classes - 1) / abs(alpha)


def _weighted(sample: Sample, step: float, alpha: float) -> float:
    """Σ i/(θ + iα)."""
    theta = _least(sample, alpha) + step
    return (sample.classes - 1 - theta * _plain(sample, step, alpha)) / alpha


def _within(sample: Sample, alpha: float) -> tuple[float, float]:
    """Σ c_k Σ 1/(j - α) for j from 1 and below the size of a class, and the same of 1/(j - α)²."""
    total = squares = inner = bent = 0.0
    before = 1
    for size, classes in sample.sizes:
        inner += digamma_difference(before - alpha, size - before)
        bent += trigamma_difference(before - alpha, size - before)
        before = size
        total += classes * inner
        squares += classes * bent
    return total, squares


def _root(slope: Callable[[float], float], low: float, high: float, cuts: int = _CUTS) -> float:
    """Where a function that is above 0 at the lower end crosses 0: regula falsi with halved weights, then bisection."""
    at_low, at_high = slope(low), slope(high)
    for step in range(cuts):
        middle = (low * at_high - high * at_low) / (at_high - at_low) if step % 3 else (low + high) / 2
        if not low < middle < high:
            middle = (low + high) / 2
        if middle in (low, high):
            break
        found = slope(middle)
        if found > 0:
            low, at_low, at_high = middle, found, at_high / 2
        elif found < 0:
            high, at_high, at_low = middle, found, at_low / 2
        else:
            return middle
    return (low + high) / 2
