"""Every estimator of a population by its name, and Dankar's rule, which chooses the most reliable one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import exp, inf, log, log1p

from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import closest
from sqlaudit.population.sample import Sample


@dataclass(frozen=True)
class Estimate:
    """The estimated number of people who are alone in their class in the population.

    Args:
        estimator: name of the estimator.
        population: people in the population.
        uniques: how many of them are unique; None = the equations have no solution.
        why_not: a sentence on why there is none.
        parameters: the fitted parameters of the model.
    """

    estimator: str
    population: int
    uniques: float | None = None
    why_not: str = ""
    parameters: Mapping[str, float] = field(default_factory=dict)

    @property
    def share(self) -> float | None:
        """The share of unique people in the population."""
        return None if self.uniques is None else self.uniques / self.population


# Zayatz's estimator: the population's classes have the sizes that the sample's classes have.
#
# Zayatz: Estimation of the Number of Unique Population Elements Using a Sample, US Census Bureau, SRD Research Report
# 91/08, 1991.

ZAYATZ = "zayatz"


def zayatz(sample: Sample) -> Estimate:
    """Estimate population uniques by Bayes' rule over the sizes of the classes.

    A class of k people has one in the sample with the hypergeometric probability P(1 | k). With the sample's shares of
    classes c_k/u as the population's, a sample unique is a population unique with the probability
    (c_1/u) P(1 | 1) / Σ (c_k/u) P(1 | k), and N/n times as many are in the population. Every sample has an estimate;
    it is too high where the fraction is small, because large classes of a population become small ones in its sample.

    Returns:
        The estimate; 0 where no row of the sample is unique.
    """
    uniques, people = sample.of_size(1), sample.population
    if not uniques:
        return Estimate(ZAYATZ, people, 0.0)
    weighted = sum(classes * _chance_of_one(size, sample) for size, classes in sample.sizes)
    stay = uniques / weighted  # P(1 | 1) is the sampling fraction, a factor of both parts
    return Estimate(ZAYATZ, people, min(uniques * stay / sample.fraction, people), "", {"unique_if_unique": stay})


def _chance_of_one(size: int, sample: Sample) -> float:
    """Return P(1 | size) over the sampling fraction: size · Π (N - n - j)/(N - 1 - j) for j below size - 1."""
    people, out = sample.population, sample.population - sample.members
    chance = float(size)
    for draw in range(size - 1):
        if out <= draw or chance < 1e-300:
            return 0.0
        chance *= (out - draw) / (people - 1 - draw)
    return chance


# Differences of the logarithm of the gamma function and of its derivatives, which stay exact where values cancel.
#
# Every function takes positive arguments.

_LARGE = 24.0
"""From here on the asymptotic series are exact to the last digit of a float."""
_LOG_GAMMA = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
_DIGAMMA = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760)
_TRIGAMMA = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730)


def log_gamma_difference(upper: float, lower: float) -> float:
    """Return ln Γ(upper) - ln Γ(lower).

    Example:
        >>> round(log_gamma_difference(6.0, 4.0), 12)  # 5!/3! = 20
        2.995732273554
    """
    low, shifted = min(upper, lower), 0.0
    while low < _LARGE:
        shifted -= log1p((upper - lower) / lower)
        upper, lower, low = upper + 1, lower + 1, low + 1
    gap = upper - lower
    stirling = (lower - 0.5) * log1p(gap / lower) + gap * log(upper) - gap
    return shifted + stirling + _asymptotic_tail(_LOG_GAMMA, upper, 1) - _asymptotic_tail(_LOG_GAMMA, lower, 1)


def digamma_difference(start: float, steps: float) -> float:
    """Return ψ(start + steps) - ψ(start): the sum of 1/(start + i) for i below `steps`.

    Example:
        >>> digamma_difference(1.0, 3) == 1 + 1 / 2 + 1 / 3
        True
    """
    total, start, end = _sum_small_terms(start, steps, 1)
    if start == end:
        return total
    gap = end - start
    smooth = log1p(gap / start) + gap / (2 * start * end)
    return total + smooth + _asymptotic_tail(_DIGAMMA, end, 2) - _asymptotic_tail(_DIGAMMA, start, 2)


def trigamma_difference(start: float, steps: float) -> float:
    """Return ψ'(start) - ψ'(start + steps): the sum of 1/(start + i)² for i below `steps`.

    Example:
        >>> trigamma_difference(1.0, 3) == 1 + 1 / 4 + 1 / 9
        True
    """
    total, start, end = _sum_small_terms(start, steps, 2)
    if start == end:
        return total
    gap = end - start
    smooth = gap / (start * end) + gap * (start + end) / (2 * (start * end) ** 2)
    return total + smooth + _asymptotic_tail(_TRIGAMMA, start, 3) - _asymptotic_tail(_TRIGAMMA, end, 3)


def _sum_small_terms(start: float, steps: float, power: int) -> tuple[float, float, float]:
    """Return the sum of terms below `_LARGE` of Σ 1/(start + i)^power for i below `steps`, and the ends of the rest."""
    total, end = 0.0, start + steps
    while start < _LARGE and start + 1 <= end:
        total += 1 / start**power
        start += 1
    while start < _LARGE and start != end:
        total += 1 / start**power - 1 / end**power
        start, end = start + 1, end + 1
    return total, start, end


def _asymptotic_tail(coefficients: tuple[float, ...], at: float, power: int) -> float:
    """Return Σ c_i at^-(power + 2i)."""
    square, total = 1 / at**2, 0.0
    for coefficient in reversed(coefficients):
        total = total * square + coefficient
    return float(total / at**power)


# Pitman's model: classes as Pitman's sampling formula makes them, fitted by maximum likelihood.
#
# Hoshino: Applying Pitman's Sampling Formula to Microdata Disclosure Risk Assessment, JOS 17(4), 2001.

PITMAN = "pitman"
_STEPS = 40
_FEW_CUTS, _CUTS = 10, 200
_SMALL = 1e-6
_LOWEST = -1e6


@dataclass(frozen=True)
class PitmanModel:
    """The parameters θ and α of Pitman's sampling formula."""

    theta: float
    alpha: float

    def uniques(self, people: int) -> float:
        """Return the expected uniques among this many people: Γ(θ+1)/Γ(θ+α) N^α."""
        scale = log_gamma_difference(self.theta + 1, self.theta + self.alpha)
        log_uniques = scale + self.alpha * log(people)
        return exp(log_uniques) if log_uniques < 700 else inf


def pitman(sample: Sample) -> Estimate:
    """Estimate population uniques by the maximum likelihood fit of Pitman's sampling formula.

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
        return Estimate(PITMAN, people, None, "its likelihood has no maximum for valid parameters")
    parameters = {"theta": fitted.theta, "alpha": fitted.alpha}
    uniques = fitted.uniques(people)
    if not uniques <= people:
        return Estimate(PITMAN, people, None, "the estimate exceeds the number of people", parameters)
    return Estimate(PITMAN, people, uniques, "", parameters)


def fit_pitman(sample: Sample, start: PitmanModel | None = None) -> PitmanModel | None:
    """Return the model of maximum likelihood; None where there is none with θ ≥ 0 and α < 1.

    Args:
        start: where the search starts; None = by moments.
    """
    if not 1 < sample.classes < sample.members:
        return None

    fitted = _maximize_by_newton(sample, start or _start_by_moments(sample)) or _maximize_by_search(sample)
    return fitted if fitted and fitted.theta >= 0 and fitted.theta + fitted.alpha > 0 else None


def _start_by_moments(sample: Sample) -> PitmanModel:
    """Return Hoshino's start: the model whose members, classes, uniques and pairs are those of the sample.

    With n members, u classes, s₁ uniques, s₂ pairs and c = s₁(s₁ - 1) / s₂:
    θ = (n u c - s₁(n - 1)(2u + c)) / (2 s₁ u + s₁ c - n c) and α = (θ(s₁ - n) + (n - 1) s₁) / (n u).
    No pairs count as one, and θ is 1 where the denominator is 0: this is only a start.
    """
    members, classes, uniques = sample.members, sample.classes, sample.of_size(1)
    ratio = uniques * (uniques - 1) / max(sample.of_size(2), 1)
    numerator = members * classes * ratio - uniques * (members - 1) * (2 * classes + ratio)
    denominator = 2 * uniques * classes + uniques * ratio - members * ratio
    theta = numerator / denominator if denominator else 1.0
    alpha = (theta * (uniques - members) + (members - 1) * uniques) / (members * classes)
    return PitmanModel(theta, alpha)


def _maximize_by_newton(sample: Sample, start: PitmanModel) -> PitmanModel | None:
    """Return the maximum by Newton's steps; None where they do not lead to one."""
    theta, alpha = start.theta, start.alpha
    for _ in range(_STEPS):
        step = theta - _least_theta(sample, alpha)
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
    """Return the first derivatives of the log-likelihood by θ and α, and the second by θθ, θα and αα."""
    theta, first, size = _least_theta(sample, alpha) + step, step / abs(alpha), sample.classes - 1
    plain = _sum_inverses(sample, step, alpha)
    weighted = (size - theta * plain) / alpha
    squares = trigamma_difference(first, size) / alpha**2
    mixed = (plain - theta * squares) / alpha
    inner, bent = _sum_within_classes(sample, alpha)
    slopes = plain - digamma_difference(theta + 1, sample.members - 1), weighted - inner
    all_squares = trigamma_difference(theta + 1, sample.members - 1)
    return slopes, (all_squares - squares, -mixed, -(weighted - theta * mixed) / alpha - bent)


def _maximize_by_search(sample: Sample) -> PitmanModel | None:
    """Return the maximum between bounds: by a few cuts and then Newton's steps, or else by many cuts."""

    def slope(alpha: float) -> float:
        step = _best_step(sample, alpha)
        theta = _least_theta(sample, alpha) + step
        weighted = (sample.classes - 1 - theta * _sum_inverses(sample, step, alpha)) / alpha  # Σ i/(θ + iα)
        return weighted - _sum_within_classes(sample, alpha)[0]

    low = _find_rising_alpha(slope)
    if low is None:
        return None
    for cuts in (_FEW_CUTS, _CUTS):
        alpha = _find_root(slope, low, 1 - 1e-12, cuts)
        near = PitmanModel(_least_theta(sample, alpha) + _best_step(sample, alpha), alpha)
        if model := _maximize_by_newton(sample, near):
            return model
    return near


def _find_rising_alpha(slope: Callable[[float], float]) -> float | None:
    """Return an α where the likelihood still rises; None where there is none."""
    low = _SMALL
    while slope(low) <= 0:
        low = -0.01 if low > 0 else 4 * low
        if low < _LOWEST:
            return None
    return low


def _least_theta(sample: Sample, alpha: float) -> float:
    """Return the lower bound of θ above which every factor of the likelihood is positive."""
    return -alpha if alpha > 0 else -(sample.classes - 1) * alpha


def _best_step(sample: Sample, alpha: float) -> float:
    """Return the θ of highest likelihood for an α, as the distance from the lower bound of θ."""
    least = _least_theta(sample, alpha)

    def slope(step: float) -> float:
        return _sum_inverses(sample, step, alpha) - digamma_difference(least + step + 1, sample.members - 1)

    high = 1.0
    while slope(high) > 0:
        high *= 4
    low = high / 4
    while slope(low) <= 0:
        low /= 16
    return _find_root(slope, low, high)


def _sum_inverses(sample: Sample, step: float, alpha: float) -> float:
    """Return Σ 1/(θ + iα) for i from 1 and below the number of classes."""
    return digamma_difference(step / abs(alpha), sample.classes - 1) / abs(alpha)


def _sum_within_classes(sample: Sample, alpha: float) -> tuple[float, float]:
    """Return Σ c_k Σ 1/(j - α) for j from 1 and below the size of a class, and the same sum of 1/(j - α)²."""
    total = squares = inner = bent = 0.0
    before = 1
    for size, classes in sample.sizes:
        inner += digamma_difference(before - alpha, size - before)
        bent += trigamma_difference(before - alpha, size - before)
        before = size
        total += classes * inner
        squares += classes * bent
    return total, squares


def _find_root(slope: Callable[[float], float], low: float, high: float, cuts: int = _CUTS) -> float:
    """Return the root of a function above 0 at the lower end: regula falsi with halved weights, then bisection."""
    at_low, at_high = slope(low), slope(high)
    for step in range(cuts):
        middle = (low * at_high - high * at_low) / (at_high - at_low) if step % 3 else (low + high) / 2
        if not low < middle < high:
            middle = (low + high) / 2
        if middle in (low, high):
            break
        value = slope(middle)
        if value > 0:
            low, at_low, at_high = middle, value, at_high / 2
        elif value < 0:
            high, at_high, at_low = middle, value, at_low / 2
        else:
            return middle
    return (low + high) / 2


def _bisect(low: float, high: float, is_below: Callable[[float], bool | None]) -> float:
    """Return the last value from `low` to `high` that is below the target, or the last one for which that is known."""
    for _ in range(_CUTS):
        middle = (low + high) / 2
        below = is_below(middle)
        if below is None or middle in (low, high):
            break
        low, high = (middle, high) if below else (low, middle)
    return low


# The slide negative binomial model: a class has one person and a negative binomial number of others.
#
# Chen, Keller-McNulty: Estimation of Identification Disclosure Risk in Microdata, JOS 14(1), 1998; classes of the
# population by Haas, Stokes: Estimating the Number of Classes in a Finite Population, JASA 93, 1998.

SNB = "snb"
_PLACES = 400
_WIDEST = 40.0


@dataclass(frozen=True)
class NegativeBinomial:
    """The number of classes of the population, and α and β of their sizes: 1 and a negative binomial number."""

    classes: float
    alpha: float
    beta: float

    @property
    def uniques(self) -> float:
        """Expected classes of one person: K β^α."""
        return self.classes * exp(self.alpha * log(self.beta))

    @property
    def people(self) -> float:
        """Expected people in all classes."""
        return self.classes * (1 + self.alpha * (1 - self.beta) / self.beta)


def slide_negative_binomial(sample: Sample) -> Estimate:
    """Estimate population uniques as K β^α, where K classes have sizes 1 + NB(α, β).

    K is the modified Shlosser estimate of the classes of the population. With γ = (1 - π)(1 - β) at the fraction π, α
    and β make the sample's uniques and pairs the expected ones:
    S1 = K π (β/(1-γ))^α (1 + αγ/(1-γ)) and S2 = K α β^α π² (1-β) (2 - (1-α)γ) / (2 (1-γ)^(α+2)).
    Of several solutions, the one with the number of people nearest to the population is taken. ARX multiplies by
    (1-γ)^(α+2) where the paper divides, and takes the 1 of Shlosser's sum once a size instead of once a class, so that
    its figures differ.

    Returns:
        The estimate; 0 where no row of the sample is unique; none where no α > 0 and 0 < β < 1 solve the equations.
    """
    people, uniques = sample.population, sample.of_size(1)
    if not uniques:
        return Estimate(SNB, people, 0.0)
    if sample.members == people:
        return Estimate(SNB, people, float(uniques))
    solved = solve_snb(sample)
    if solved is None:
        return Estimate(SNB, people, None, "no α > 0 and β from 0 to 1 explain the numbers of uniques and pairs")
    parameters = {"alpha": solved.alpha, "beta": solved.beta, "classes": solved.classes}
    if not solved.uniques <= people:
        return Estimate(SNB, people, None, "the estimate exceeds the number of people", parameters)
    return Estimate(SNB, people, solved.uniques, "", parameters)


def estimate_classes(sample: Sample) -> float:
    """Return the modified Shlosser estimate of the classes in the population.

    It is u + c1 (Σ i π² (1-π²)^(i-1) c_i / Σ (1-π)^i ((1+π)^i - 1) c_i) · (Σ (1-π)^i c_i / Σ i π (1-π)^(i-1) c_i)².
    """
    share, uniques = sample.fraction, sample.of_size(1)
    seen = unseen = missed = once = 0.0
    for size, classes in sample.sizes:
        out = exp(size * log1p(-share))
        seen += size * share**2 * exp((size - 1) * log1p(-(share**2))) * classes
        unseen += (exp(size * log1p(-(share**2))) - out) * classes
        missed += out * classes
        once += size * share * exp((size - 1) * log1p(-share)) * classes
    return sample.classes + uniques * (seen / unseen) * (missed / once) ** 2


def solve_snb(sample: Sample) -> NegativeBinomial | None:
    """Return the parameters that explain the uniques and pairs of the sample; None where there are none."""
    equations = _SnbEquations(sample)
    solved = [NegativeBinomial(equations.classes, alpha, beta) for alpha, beta in equations.solutions()]
    return min(solved, key=lambda model: abs(model.people - sample.population), default=None)


@dataclass(frozen=True)
class _SnbEquations:
    """The two equations. The first gives α for a β, in up to two branches; the second is then searched for β."""

    sample: Sample

    @cached_property
    def classes(self) -> float:
        """Estimated classes of the population."""
        return estimate_classes(self.sample)

    @cached_property
    def _expected(self) -> tuple[float, float]:
        share = self.sample.fraction
        ones = self.sample.of_size(1) / (self.classes * share)
        return ones, 2 * self.sample.of_size(2) / (self.classes * share**2)

    def solutions(self) -> Iterator[tuple[float, float]]:
        """Yield (α, β) at every change of sign of the second equation, on both branches of α (`upper`: the higher).

        β is searched by its log-odds, in equal steps from -_WIDEST to _WIDEST.
        """
        for upper in (False, True):
            before: tuple[float, float] | None = None
            for step in range(_PLACES + 1):
                log_odds = _WIDEST * (2 * step / _PLACES - 1)
                excess = self._excess_pairs(log_odds, upper)
                if before is not None and excess is not None and before[1] * excess <= 0:
                    yield self._solve_between(before[0], log_odds, before[1], upper)
                before = None if excess is None else (log_odds, excess)

    def _solve_between(self, low: float, high: float, at_low: float, upper: bool) -> tuple[float, float]:
        def is_before(at: float) -> bool | None:
            value = self._excess_pairs(at, upper)
            return None if value is None else (value > 0) == (at_low > 0)

        low = _bisect(low, high, is_before)
        return self._solve_alpha(low, upper) or 0.0, 1 / (1 + exp(-low))

    def _excess_pairs(self, at: float, upper: bool) -> float | None:
        """Return the excess of the second equation at a log-odds of β; None where the first has no α."""
        alpha = self._solve_alpha(at, upper)
        if alpha is None:
            return None
        _, rest, gone = self._probabilities(at)
        rest_of_gamma = 1 - gone
        fall = log1p(self.sample.fraction * exp(-at))
        size = log(alpha) - alpha * fall - 2 * log(rest_of_gamma) + log(rest) + log(2 - (1 - alpha) * gone)
        return exp(size) - self._expected[1] if size < 700 else None

    def _solve_alpha(self, at: float, upper: bool) -> float | None:
        """Return the α on one branch that explains the uniques; None where there is none.

        α ln(β/(1-γ)) + ln(1 + αγ/(1-γ)) is the logarithm of their share.
        """
        _, _, gone = self._probabilities(at)
        fall, rise = log1p(self.sample.fraction * exp(-at)), gone / (1 - gone)
        target = log(self._expected[0])

        def excess(alpha: float) -> float:
            return log1p(alpha * rise) - alpha * fall - target

        top = max(0.0, 1 / fall - 1 / rise)
        if upper:
            low, high = top, max(1.0, 2 * top)
            while excess(high) > 0:
                high *= 2
        else:
            low, high = top, 0.0
        if excess(low) <= 0 or excess(high) > 0:
            return None
        low = _bisect(low, high, lambda alpha: excess(alpha) > 0)
        return low if low > 0 else None

    def _probabilities(self, at: float) -> tuple[float, float, float]:
        """Return β, 1 - β and γ at a log-odds of β."""
        beta, rest = 1 / (1 + exp(-at)), 1 / (1 + exp(at))
        return beta, rest, (1 - self.sample.fraction) * rest


DANKAR, LOGLINEAR = "dankar", "loglinear"
SMALL_FRACTION = 0.1
"""Largest sampling fraction at which the rule takes Pitman's model."""


def dankar(sample: Sample) -> Estimate:
    """Return Pitman's estimate up to a fraction of 0.1, above it the smaller of Zayatz's and the SNB estimate.

    Where the model of the rule has no estimate, Zayatz's is taken, as in ARX.

    Returns:
        The estimate, whose `estimator` is the one taken; 0 where no row of the sample is unique.
    """
    fallback = zayatz(sample)
    if not sample.of_size(1):
        return replace(fallback, estimator=DANKAR)
    if sample.fraction <= SMALL_FRACTION:
        fitted = pitman(sample)
        return fallback if fitted.uniques is None else fitted
    other = slide_negative_binomial(sample)
    return fallback if other.uniques is None or (fallback.uniques or 0) < other.uniques else other


ESTIMATORS: Mapping[str, Callable[[Sample], Estimate]] = {
    DANKAR: dankar,
    PITMAN: pitman,
    ZAYATZ: zayatz,
    SNB: slide_negative_binomial,
}


def check_estimator(name: str) -> None:
    """Check that there is an estimator of this name, by the sizes of classes or by cells.

    Raises:
        UsageError: there is none; the message names the closest.
    """
    names = (*ESTIMATORS, LOGLINEAR)
    if name not in names:
        raise UsageError(f"There is no estimator {name!r}.{closest(name, names)} Available: {', '.join(names)}.")


def estimate(sample: Sample, name: str) -> Estimate:
    """Return the estimate of one estimator; without a number where the sample is empty.

    Raises:
        UsageError: there is no such estimator, or it takes more than the sizes of classes.
    """
    check_estimator(name)
    if not sample.members:
        return Estimate(name, sample.population, None, "the sample is empty")
    if name == LOGLINEAR:
        raise UsageError(f"{name!r} is fitted to the cells of a table, not to sizes of classes.")
    return ESTIMATORS[name](sample)
