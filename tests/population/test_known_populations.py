"""Samples of populations whose unique people are known: how far estimates are off, smaller than in the docs."""

from __future__ import annotations

import pytest

from benchmarks.population import errors, populations

PEOPLE = 200_000


@pytest.mark.parametrize(
    ("fraction", "most"),
    [
        (0.05, {"pitman": 5.0, "zayatz": 12.0, "snb": 10.5, "dankar": 5.0}),
        (0.3, {"pitman": 2.7, "zayatz": 2.1, "snb": 1.6, "dankar": 1.6}),
    ],
)
def test_estimates_are_off_by_known_factors(fraction: float, most: dict[str, float]) -> None:
    """Means of three samples, over the truth: never far below it, and above it by no more than the page says."""
    for name, sizes in populations(None, PEOPLE):
        true = float((sizes == 1).sum()) / int(sizes.sum())
        for estimator, found in errors(sizes, fraction, 3).items():
            known = [share for share in found if share is not None]
            if len(known) == 3:
                assert 0.9 < sum(known) / 3 / true < most[estimator], (name, estimator)
