"""A seeded random workload of counting queries: ranges of quasi-identifiers, and a sensitive value if there is one.

Seeded random range queries over the quasi-identifiers: in the order of values, never by value.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from sqlaudit.base.relation import Relation
from sqlaudit.models.ranges import RangeQuery, random_ranges
from sqlaudit.release.compare.bench import Bench
from sqlaudit.release.compare.coding import CodedPair, PairedAttribute
from sqlaudit.release.compare.covers import Covered
from sqlaudit.release.compare.regions import Regions
from sqlaudit.release.compare.result import METHODS, Errors, Workload
from sqlaudit.release.losses.views import NO_REGIONS

_AT_ONCE = 50


def random_workload(
    bench: Bench, coded: CodedPair, covered: Sequence[Covered], regions: Regions | None, queries: int, seed: int
) -> Workload:
    """Relative errors of random queries: COUNT(*) over ranges of a random number of quasi-identifiers.

    With a sensitive attribute (the first one) each query also asks for one of its values, drawn by its frequency.
    """
    attribute = coded.sensitive[0] if coded.sensitive else None
    asked = random_ranges(queries, seed, domains_of(covered))
    lanes = random_lanes(attribute, queries, seed)
    answers = answers_of(bench, coded, covered, regions, asked, attribute, lanes)
    errors: dict[str, list[float]] = {name: [] for name in METHODS if regions is not None or name != METHODS[1]}
    for truth, *found in answers:
        for name, answer in zip(METHODS, found, strict=True):
            if truth and name in errors:
                errors[name].append(abs(answer - truth) / truth)
    nothing = [found for truth, *found in answers if not truth]
    answered = {
        name: sum(bool(found[place]) for found in nothing) for place, name in enumerate(METHODS) if name in errors
    }
    return Workload(
        queries,
        len(nothing),
        seed,
        {name: Errors.of(found) for name, found in errors.items()},
        "" if regions is not None else NO_REGIONS,
        answered,
    )


def domains_of(covered: Sequence[Covered]) -> list[tuple[int, int]]:
    """(place, different values without NULL) of the columns."""
    return [(one.column.place, one.column.words.values - bool(one.column.words.missing_rows)) for one in covered]


def random_lanes(attribute: PairedAttribute | None, queries: int, seed: int) -> list[int | None]:
    """For each query a sensitive value, drawn by its frequency in the original."""
    if attribute is None or not attribute.table.total:
        return [None] * queries
    generator = random.Random(f"{seed} values")
    return list(generator.choices(range(attribute.table.distinct), attribute.table.totals, k=queries))


def answers_of(
    bench: Bench,
    coded: CodedPair,
    covered: Sequence[Covered],
    regions: Regions | None,
    queries: Sequence[RangeQuery],
    attribute: PairedAttribute | None,
    lanes: Sequence[int | None],
) -> list[tuple[float, ...]]:
    """(truth, non-corrected, by conditional probability, independently corrected) of each query.

    Without regions the answer by conditional probability is 0 everywhere.
    """
    places = [one.column.place for one in covered]
    own, other = (f"s{attribute.place}", f"z{attribute.place}") if attribute else ("", "")
    source = bench.make(
        "asked_rows",
        "release/compare/release_asked_rows.sql",
        "rows for queries",
        source=coded.original,
        lane=own,
        places=places,
    )
    held = bench.make(
        "asked_classes",
        "release/compare/release_asked_classes.sql",
        "classes for queries",
        source=coded.release,
        lane=other,
        places=places,
    )
    homes = None if regions is None else _homes(bench, regions, places)
    found: list[tuple[float, ...]] = []
    for start in range(0, len(queries), _AT_ONCE):
        some = [
            {"parts": query.parts(), "lane": lane}
            for query, lane in zip(queries[start : start + _AT_ONCE], lanes[start : start + _AT_ONCE], strict=True)
        ]
        shares = bench.make(
            "asked_shares",
            "release/compare/release_asked_shares.sql",
            "shares of cells",
            queries=some,
            columns=[{"cover": one.cover, "cells": one.cells, "words": one.column.words.relation} for one in covered],
        )
        found += _answers(bench, (source, held, shares, homes), regions, some)
    bench.forget("asked_rows", "asked_classes", "asked_shares", "asked_homes")
    return found


def _homes(bench: Bench, regions: Regions, places: Sequence[int]) -> Relation:
    return bench.make(
        "asked_homes",
        "release/compare/release_asked_homes.sql",
        "rows for queries",
        tuples=regions.tuples,
        placed=regions.places,
        inside=regions.inside,
        places=places,
        disjoint=regions.disjoint,
    )


def _answers(
    bench: Bench,
    made: tuple[Relation, Relation, Relation, Relation | None],
    regions: Regions | None,
    queries: list[dict[str, Any]],
) -> list[tuple[float, ...]]:
    source, held, shares, homes = made
    rows = bench.ask(
        "release/compare/release_asked.sql",
        "random queries",
        queries=queries,
        source=source,
        classes=held,
        shares=shares,
        homes=homes,
        inside=None if regions is None else regions.inside,
        regions=None if regions is None else regions.table,
        disjoint=regions is not None and regions.disjoint,
    )
    return [tuple(float(value or 0) for value in row[1:]) for row in rows]
