"""Zayatz's estimator: the population's classes have the sizes that the sample's classes have."""

from __future__ import annotations

from sqlaudit.population.estimate import Estimate
from sqlaudit.population.sample import Sample

ZAYATZ = "zayatz"
SOURCE = (
    "Zayatz: Estimation of the Number of Unique Population Elements Using a Sample, "
    "US Census Bureau, SRD Research Report 91/08, 1991"
)


def zayatz(sample: Sample) -> Estimate:
    """Population uniques by Bayes' rule over the sizes of the classes.

    A class of k people has one in the sample with the hypergeometric probability P(1 | k). With the sample's shares of
    classes c_k/u as the population's, a sample unique is a population unique with the probability
    (c_1/u) P(1 | 1) / Σ (c_k/u) P(1 | k), and N/n times as many are in the population. Every sample has an estimate;
    it is too high where the fraction is small, as large classes of a population come to be small ones in its sample.

    Returns:
        The estimate; 0 where no row of the sample is unique.
    """
    uniques, people = sample.of_size(1), sample.population
    if not uniques:
        return Estimate(ZAYATZ, people, 0.0)
    weighted = sum(classes * _one_of(size, sample) for size, classes in sample.sizes)
    stay = uniques / weighted  # P(1 | 1) is the sampling fraction, which both parts hold
    return Estimate(ZAYATZ, people, min(uniques * stay / sample.fraction, people), "", {"unique_if_unique": stay})


def _one_of(size: int, sample: Sample) -> float:
    """P(1 | size) over the sampling fraction: size · Π (N - n - j)/(N - 1 - j) for j below size - 1."""
    people, out = sample.population, sample.population - sample.members
    chance = float(size)
    for place in range(size - 1):
        if out <= place or chance < 1e-300:
            return 0.0
        chance *= (out - place) / (people - 1 - place)
    return chance
