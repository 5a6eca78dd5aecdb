"""Every estimator by its name, and Dankar's rule, which takes the one that is trusted most at a sampling fraction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import closest
from sqlaudit.population.estimate import Estimate
from sqlaudit.population.negative_binomial import SNB, slide_negative_binomial
from sqlaudit.population.pitman import PITMAN, pitman
from sqlaudit.population.sample import Sample
from sqlaudit.population.zayatz import ZAYATZ, zayatz

DANKAR, LOGLINEAR = "dankar", "loglinear"
SMALL_FRACTION = 0.1
"""Up to this fraction the rule takes Pitman's model."""


def dankar(sample: Sample) -> Estimate:
    """Pitman's estimate up to a fraction of 0.1, above it the smaller one of Zayatz's and the slide negative binomial.

    Where the model that the rule wants has no estimate, Zayatz's is taken, as ARX does.

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


def estimator(name: str) -> Callable[[Sample], Estimate]:
    """The estimator of that name.

    Raises:
        UsageError: there is none; the sentence names the closest.
    """
    check_estimator(name)
    return ESTIMATORS[name]


def check_estimator(name: str) -> None:
    """Nothing when there is an estimator of that name, by the sizes of classes or by cells.

    Raises:
        UsageError: there is none; the sentence names the closest.
    """
    names = (*ESTIMATORS, LOGLINEAR)
    if name not in names:
        raise UsageError(f"There is no estimator {name!r}.{closest(name, names)} There are: {', '.join(names)}.")


def estimate(sample: Sample, name: str) -> Estimate:
    """What an estimator says of a sample; nothing where the sample is empty.

    Raises:
        UsageError: there is no such estimator.
    """
    asked = estimator(name)
    return asked(sample) if sample.members else Estimate(name, sample.population, None, "the sample is empty")
