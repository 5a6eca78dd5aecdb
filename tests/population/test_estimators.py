"""Population uniques from the sizes of classes: ARX's figures, a slow second computation, samples of known models."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import comb, exp, isclose, lgamma

import pytest

from sqlaudit.base.errors import UsageError
from sqlaudit.population.bounds import bootstrap
from sqlaudit.population.estimators import (
    DANKAR,
    ESTIMATORS,
    dankar,
    digamma_difference,
    estimate,
    estimate_classes,
    fit_pitman,
    log_gamma_difference,
    pitman,
    slide_negative_binomial,
    trigamma_difference,
    zayatz,
)
from sqlaudit.population.sample import Sample
from tests.population import oracle
from tests.population.oracle import ALL_NINE, FOUR

SMALL = ((1, 12), (2, 4), (3, 2), (5, 1))


def sample(sizes: oracle.Sizes, fraction: str) -> Sample:
    return Sample.of_fraction(sizes, Fraction(fraction))


@pytest.mark.parametrize(
    ("sizes", "fraction", "by_pitman", "by_zayatz"),
    [
        (ALL_NINE, "0.1", 0.27684993883653597, 0.3207402393466189),
        (ALL_NINE, "0.01", 0.1446083531167384, 0.2717127199363312),
        (FOUR, "0.1", 0.0036666626785633026, 0.0030105662858439766),
    ],
)
def test_arx_on_adult(sizes: oracle.Sizes, fraction: str, by_pitman: float, by_zayatz: float) -> None:
    taken = sample(sizes, fraction)
    assert taken.members == 30162
    # ARX stops where its equations are off by 1e-6
    assert isclose(pitman(taken).share or 0, by_pitman, rel_tol=1e-10)
    assert isclose(zayatz(taken).share or 0, by_zayatz, rel_tol=1e-14)
    assert dankar(taken) == pitman(taken)


def test_a_population_has_whole_people() -> None:
    assert sample(((1, 10),), "0.3").population == 33
    assert sample(((1, 10),), "4/7").population == 18  # 17.5, as Java rounds
    with pytest.raises(UsageError, match="is 9, but the sample has 10 people"):
        Sample(((1, 10),), 9)


@pytest.mark.parametrize("fraction", ["0.02", "0.25", "0.9"])
def test_zayatz_as_fractions(fraction: str) -> None:
    taken = sample(SMALL, fraction)
    assert isclose(zayatz(taken).share or 0, float(oracle.zayatz_share(SMALL, taken.population)), rel_tol=1e-13)


def test_a_whole_population_is_its_own_estimate() -> None:
    for name in ("zayatz", "snb", "dankar"):
        assert estimate(sample(SMALL, "1"), name).uniques == 12


@pytest.mark.parametrize("sizes", [((1, 12), (2, 3), (3, 1), (20, 1)), ((1, 30), (2, 9), (3, 4), (4, 2), (9, 2))])
def test_pitman_in_forty_digits(sizes: oracle.Sizes) -> None:
    theta, alpha = oracle.pitman_fit(sizes)
    taken = sample(sizes, "0.05")
    fitted = fit_pitman(taken)
    assert fitted is not None
    assert isclose(fitted.theta, float(theta), rel_tol=1e-9)
    assert isclose(fitted.alpha, float(alpha), rel_tol=1e-9)
    uniques = oracle.gamma_ratio(theta + 1, theta + alpha) * (Decimal(taken.population).ln() * alpha).exp()
    assert isclose(pitman(taken).uniques or 0, float(uniques), rel_tol=1e-9)


@pytest.mark.parametrize("sizes", [FOUR, SMALL])
def test_pitman_makes_its_sums_vanish(sizes: oracle.Sizes) -> None:
    fitted = fit_pitman(sample(sizes, "0.1"))
    assert fitted is not None
    scores = oracle.pitman_scores(sizes, Decimal(fitted.theta), Decimal(fitted.alpha))
    assert max(map(abs, scores)) < Decimal("1e-7")


def test_pitman_where_classes_are_finitely_many() -> None:
    """ARX's steps wander from here to where nothing is, or to a maximum by luck; it is where α is below 0."""
    fitted = fit_pitman(sample(SMALL, "0.1"))
    assert fitted is not None
    assert (round(fitted.theta, 8), round(fitted.alpha, 9)) == (37.34638694, -0.646731677)


@pytest.mark.parametrize("sizes", [((1, 40),), ((1, 1),), ((1, 5), (2, 5), (3, 5), (4, 5), (5, 4))])
def test_no_estimate_without_a_maximum(sizes: oracle.Sizes) -> None:
    found = pitman(sample(sizes, "0.1"))
    assert (found.uniques, found.share) == (None, None)
    assert found.why_not == "its likelihood has no maximum for valid parameters"
    assert dankar(sample(sizes, "0.1")).estimator == "zayatz"  # and not 0


def test_no_uniques_and_no_rows() -> None:
    for name in ESTIMATORS:
        assert estimate(sample(((2, 7),), "0.1"), name).uniques == 0
        assert estimate(sample((), "0.1"), name).uniques is None


def test_estimators_have_names() -> None:
    with pytest.raises(UsageError, match=r"There is no estimator 'pitmann'. Did you mean 'pitman'\?"):
        estimate(sample(SMALL, "0.1"), "pitmann")
    with pytest.raises(UsageError, match="'loglinear' is fitted to the cells of a table, not to sizes of classes"):
        estimate(sample(SMALL, "0.1"), "loglinear")


@pytest.mark.parametrize("fraction", ["1/20", "1/2"])
def test_classes_of_the_population_as_fractions(fraction: str) -> None:
    taken = sample(SMALL, fraction)
    expected = oracle.shlosser(SMALL, Fraction(taken.members, taken.population))
    assert isclose(estimate_classes(taken), float(expected), rel_tol=1e-12)


@pytest.mark.parametrize(("sizes", "fraction"), [(ALL_NINE, "0.3"), (FOUR, "0.1"), (SMALL, "0.5")])
def test_snb_explains_the_uniques_and_pairs(sizes: oracle.Sizes, fraction: str) -> None:
    taken = sample(sizes, fraction)
    found = slide_negative_binomial(taken)
    alpha, beta, classes = (found.parameters[name] for name in ("alpha", "beta", "classes"))
    for size in (1, 2):
        expected = classes * oracle.snb_chance(size, alpha, beta, taken.fraction)
        assert isclose(expected, dict(sizes)[size], rel_tol=1e-6)
    assert isclose(found.uniques or 0, classes * beta**alpha, rel_tol=1e-12)


def test_snb_without_a_solution() -> None:
    found = slide_negative_binomial(sample(((1, 100), (50, 3)), "0.5"))
    assert found.uniques is None
    assert found.why_not == "no α > 0 and β from 0 to 1 explain the numbers of uniques and pairs"


def test_the_rule_of_dankar() -> None:
    small, large = sample(ALL_NINE, "0.1"), sample(ALL_NINE, "0.11")
    assert dankar(small).estimator == "pitman"
    both = [slide_negative_binomial(large), zayatz(large)]
    assert dankar(large) == min(both, key=lambda one: one.uniques or 0)
    assert dankar(sample(((1, 100), (50, 3)), "0.5")).estimator == "zayatz"
    assert dankar(sample(((2, 7),), "0.1")).estimator == DANKAR


def test_sums_of_reciprocals() -> None:
    for start, steps in ((0.3, 5), (7.5, 100), (1e6 + 0.25, 3), (40.0, 1), (0.001, 0)):
        assert isclose(digamma_difference(start, steps), sum(1 / (start + i) for i in range(steps)), rel_tol=1e-13)
        squares = sum(1 / (start + i) ** 2 for i in range(steps))
        assert isclose(trigamma_difference(start, steps), squares, rel_tol=1e-13)
    for upper, lower in ((3.5, 1.25), (0.4, 0.9), (1000.5, 1000.25)):
        exact = float(oracle.gamma_ratio(Decimal(upper), Decimal(lower)))
        assert isclose(exp(log_gamma_difference(upper, lower)), exact, rel_tol=1e-13)
        assert isclose(log_gamma_difference(upper, lower), lgamma(upper) - lgamma(lower), rel_tol=1e-9)


def test_the_same_draws_for_the_same_seed() -> None:
    taken = sample(FOUR, "0.3")
    for name in ("pitman", "zayatz", "snb"):
        found = estimate(taken, name)
        first = bootstrap(taken, found, 8, 5)
        assert first is not None
        assert first == bootstrap(taken, found, 8, 5)
        assert first != bootstrap(taken, found, 8, 6)
        assert first.low <= (found.uniques or 0) <= first.high
    assert bootstrap(taken, estimate(sample(((1, 40),), "0.1"), "pitman"), 8, 5) is None


def test_draws_follow_the_sampling_formula() -> None:
    """The mean numbers of uniques and pairs of 2,000 samples of 60 are those of Pitman's formula."""
    import numpy as np

    from sqlaudit.population.bounds import _count_sizes, _draw_class_sizes, _draw_class_starts
    from sqlaudit.population.estimators import PitmanModel

    model, random = PitmanModel(5.0, 0.5), np.random.default_rng(3)
    drawn = [
        dict(_count_sizes(_draw_class_sizes(new, 0.5, random))) for new in _draw_class_starts(60, model, 2000, random)
    ]
    for size in (1, 2, 3):
        mean = sum(one.get(size, 0) for one in drawn) / 2000
        assert mean == pytest.approx(_expected(size, 60, 5.0, 0.5), rel=0.03)


def _expected(size: int, members: int, theta: float, alpha: float) -> float:
    """E[classes of a size] by the sampling formula."""

    def rising(start: float, steps: int) -> float:
        product = 1.0
        for step in range(steps):
            product *= start + step
        return product

    ways = comb(members, size) * rising(1 - alpha, size - 1) * rising(theta + alpha, members - size)
    return ways / rising(theta + 1, members - 1)


def test_extreme_parameters_end_in_no_estimate_and_no_error() -> None:
    """Pitman's formula exceeded the largest float, and a drawn class of 10^14 people asked for as many counters."""
    import numpy as np

    from sqlaudit.population.bounds import _count_sizes
    from sqlaudit.population.estimators import PitmanModel

    assert PitmanModel(1e9, -1e4).uniques(50_000) == float("inf")
    assert _count_sizes(np.array([1, 10**14, 0, 1])) == ((1, 2), (10**14, 1))
