"""The slide negative binomial model: a class has one person and a negative binomial number of others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import exp, log, log1p

from sqlaudit.population.estimate import Estimate
from sqlaudit.population.sample import Sample

SNB = "snb"
SOURCE = (
    "Chen, Keller-McNulty: Estimation of Identification Disclosure Risk in Microdata, JOS 14(1), 1998; classes of the "
    "population by Haas, Stokes: Estimating the Number of Classes in a Finite Population, JASA 93, 1998"
)
_PLACES = 400
_CUTS = 200
_WIDEST = 40.0


@dataclass(frozen=True)
class NegativeBinomial:
    """Classes of the population, and α and β of their sizes: 1 and a negative binomial number."""

    classes: float
    alpha: float
    beta: float

    @property
    def uniques(self) -> float:
        """Classes of one: K β^α."""
        return self.classes * exp(self.alpha * log(self.beta))

    @property
    def people(self) -> float:
        """The people that such classes have."""
        return self.classes * (1 + self.alpha * (1 - self.beta) / self.beta)


def slide_negative_binomial(sample: Sample) -> Estimate:
    """Population uniques K β^α, where K classes have sizes 1 + NB(α, β).

    K is the modified Shlosser estimate of the classes of the population. With γ = (1 - π)(1 - β) at the fraction π, α
    and β make the sample's uniques and pairs the expected ones:
    S1 = K π (β/(1-γ))^α (1 + αγ/(1-γ)) and S2 = K α β^α π² (1-β) (2 - (1-α)γ) / (2 (1-γ)^(α+2)).
    Of several solutions the one is taken whose people are nearest to those of the population. ARX multiplies by
    (1-γ)^(α+2) where the paper divides, and takes the 1 of Shlosser's sum once a size instead of once a class, so that
    its figures are others.

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
        return Estimate(SNB, people, None, "no α > 0 and β from 0 to 1 explain as many uniques and pairs")
    parameters = {"alpha": solved.alpha, "beta": solved.beta, "classes": solved.classes}
    if not solved.uniques <= people:
        return Estimate(SNB, people, None, "it would find more unique people than there are people", parameters)
    return Estimate(SNB, people, solved.uniques, "", parameters)


def classes_of_population(sample: Sample) -> float:
    """The modified Shlosser estimate: u + c1 (Σ i π² (1-π²)^(i-1) c_i / Σ (1-π)^i ((1+π)^i - 1) c_i) ·
    (Σ (1-π)^i c_i / Σ i π (1-π)^(i-1) c_i)²."""
    share, uniques = sample.fraction, sample.of_size(1)
    seen = unseen = none = one = 0.0
    for size, classes in sample.sizes:
        out = exp(size * log1p(-share))
        seen += size * share**2 * exp((size - 1) * log1p(-(share**2))) * classes
        unseen += (exp(size * log1p(-(share**2))) - out) * classes
        none += out * classes
        one += size * share * exp((size - 1) * log1p(-share)) * classes
    return sample.classes + uniques * (seen / unseen) * (none / one) ** 2


def solve_snb(sample: Sample) -> NegativeBinomial | None:
    """The parameters whose uniques and pairs are those of the sample, None where there are none."""
    equations = _Equations(sample)
    solved = [NegativeBinomial(equations.classes, alpha, beta) for alpha, beta in equations.solutions()]
    return min(solved, key=lambda one: abs(one.people - sample.population), default=None)


@dataclass(frozen=True)
class _Equations:
    """The two equations: the first gives α for a β, in up to two branches, and the second is then searched for β."""

    sample: Sample

    @cached_property
    def classes(self) -> float:
        """Classes of the population."""
        return classes_of_population(self.sample)

    @cached_property
    def _expected(self) -> tuple[float, float]:
        share = self.sample.fraction
        ones = self.sample.of_size(1) / (self.classes * share)
        return ones, 2 * self.sample.of_size(2) / (self.classes * share**2)

    def solutions(self) -> Iterator[tuple[float, float]]:
        """(α, β) of every change of sign of the second equation."""
        for upper in (False, True):
            before: tuple[float, float] | None = None
            for place in range(_PLACES + 1):
                at = _WIDEST * (2 * place / _PLACES - 1)
                value = self._second(at, upper)
                if before is not None and value is not None and before[1] * value <= 0:
                    yield self._between(before[0], at, before[1], upper)
                before = None if value is None else (at, value)

    def _between(self, low: float, high: float, at_low: float, upper: bool) -> tuple[float, float]:
        for _ in range(_CUTS):
            middle = (low + high) / 2
            value = self._second(middle, upper)
            if value is None or middle in (low, high):
                break
            if (value > 0) == (at_low > 0):
                low = middle
            else:
                high = middle
        return self._alpha(low, upper) or 0.0, 1 / (1 + exp(-low))

    def _second(self, at: float, upper: bool) -> float | None:
        """The second equation's excess at a log-odds of β; None where the first has no α."""
        alpha = self._alpha(at, upper)
        if alpha is None:
            return None
        _, rest, gone = self._parts(at)
        kept = 1 - gone
        fall = log1p(self.sample.fraction * exp(-at))
        size = log(alpha) - alpha * fall - 2 * log(kept) + log(rest) + log(2 - (1 - alpha) * gone)
        return exp(size) - self._expected[1] if size < 700 else None

    def _alpha(self, at: float, upper: bool) -> float | None:
        """The α on one branch that explains the uniques: α ln(β/(1-γ)) + ln(1 + αγ/(1-γ)) is the ln of their share."""
        _, _, gone = self._parts(at)
        fall, rise = log1p(self.sample.fraction * exp(-at)), gone / (1 - gone)
        wanted = log(self._expected[0])

        def excess(alpha: float) -> float:
            return log1p(alpha * rise) - alpha * fall - wanted

        top = max(0.0, 1 / fall - 1 / rise)
        if upper:
            low, high = top, max(1.0, 2 * top)
            while excess(high) > 0:
                high *= 2
        else:
            low, high = top, 0.0
        if excess(low) <= 0 or excess(high) > 0:
            return None
        for _ in range(_CUTS):
            middle = (low + high) / 2
            if middle in (low, high):
                break
            low, high = (middle, high) if excess(middle) > 0 else (low, middle)
        return low if low > 0 else None

    def _parts(self, at: float) -> tuple[float, float, float]:
        """β, 1 - β and γ at a log-odds of β."""
        beta, rest = 1 / (1 + exp(-at)), 1 / (1 + exp(at))
        return beta, rest, (1 - self.sample.fraction) * rest
