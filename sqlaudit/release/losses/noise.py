"""The noise of range queries: how far the rows that a query means are from the class that it gets (Thesis 4.5).

The source sums over all subsets of a class, each with the probability that a query selects it, which is out of reach.
Random range queries draw such subsets; the mean over the queries estimates the sum, with a standard error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sqlaudit.models.ranges import RangeQuery, random_ranges
from sqlaudit.release.compare.coding import PairedAttribute
from sqlaudit.release.compare.distances import Distance
from sqlaudit.release.compare.result import Loss
from sqlaudit.release.losses.views import LossScene, LossView, no_pairs, no_sensitive

MEASURE = "range-query-noise"
_AT_ONCE = 50
"""Queries of one statement."""


def noise_loss(
    scene: LossScene,
    view: LossView,
    attribute: PairedAttribute | None,
    distance: Distance | None,
    queries: int,
    seed: int,
) -> Loss:
    """The noise of a view for one sensitive attribute."""
    if attribute is None or distance is None:
        return Loss(MEASURE, view.name, None, why=no_sensitive())
    if scene.pairs is None or not scene.coded.rows:
        return Loss(MEASURE, view.name, None, sensitive=attribute.label, why=no_pairs())
    found = noises(scene, view, attribute, distance, drawn(view, queries, seed))
    mean = math.fsum(found) / len(found)
    variance = math.fsum((one - mean) ** 2 for one in found) / (len(found) - 1)
    error = math.sqrt(variance / len(found))
    return Loss(MEASURE, view.name, mean, sensitive=attribute.label, standard_error=error)


def drawn(view: LossView, queries: int, seed: int) -> list[RangeQuery]:
    """The queries of a view: over all of its columns."""
    domains = [
        (one.column.place, one.column.words.values - bool(one.column.words.missing_rows)) for one in view.covered
    ]
    return random_ranges(queries, seed, domains)


def noises(
    scene: LossScene, view: LossView, attribute: PairedAttribute, distance: Distance, queries: Sequence[RangeQuery]
) -> list[float]:
    """The noise of each query."""
    bench = scene.bench
    places = [one.column.place for one in view.covered]
    source = bench.make(
        "noise_rows",
        "release/losses/release_noise_rows.sql",
        "rows for range queries",
        source=scene.pairs,
        cell_key=view.cell_key,
        lane=f"s{attribute.place}",
        places=places,
    )
    found: list[float] = []
    for start in range(0, len(queries), _AT_ONCE):
        some = queries[start : start + _AT_ONCE]
        rows = bench.ask(
            "release/losses/release_noise.sql",
            "noise of range queries",
            source=source,
            members=distance.members,
            queries=[query.parts() for query in some],
            rows=scene.coded.rows,
        )
        by_query = {int(query): float(noise) * float(distance.weight) for query, noise in rows}
        found += [by_query.get(position, 0.0) for position in range(len(some))]
    bench.forget("noise_rows")
    return found
