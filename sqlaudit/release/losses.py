"""What a release lost: by cells, by classes, and as noise of range queries."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Relation
from sqlaudit.base.result import Number
from sqlaudit.lattices.losses import risen
from sqlaudit.models.measures import Measure, random_ranges
from sqlaudit.release.compare.coding import CodedPair, Covered, Distance, PairedAttribute, domains_of
from sqlaudit.release.compare.pairing import Bench
from sqlaudit.release.compare.result import Loss

# Losses of cells: column by column from the different cells and what lies under them, then added up.


@dataclass(frozen=True)
class CellCosts:
    """What the cells of one column add up to, original rows that were not released as cells at the top.

    Args:
        name: the column. rows: rows of the original.
        value, most: by what a measure adds up (`Measure.cell`), the sum over the cells and the same for complete
            suppression.
    """

    name: str
    rows: int
    value: Mapping[str, Number]
    most: Mapping[str, Number]


def column_costs(bench: Bench, coded: CodedPair, covered: Covered, beta: Fraction, changed_values: int) -> CellCosts:
    """What the cells of one column cost.

    Args:
        beta: the exponent of height weights. changed_values: pairs of a value and another value, which no level shows.
    """
    column, rows, height = covered.column, coded.rows, covered.column.height
    names = ("level", "rows", "kept", "whole", "entropy", "weighted", "bits", "further", "shared", "width")
    step = f"losses of {column.label}"
    parts = [
        dict(zip(names, row, strict=True))
        for row in bench.ask("release/losses/release_column_losses.sql", step, cells=covered.cells)
    ]
    value_bits, width = bench.ask(
        "release/losses/release_column_whole.sql", step, values=column.words.relation, numeric=column.numeric
    )[0]
    values, value_bits = column.words.values, float(value_bits)
    bits = math.log2(rows) if rows else 0.0
    entropy = max(0.0, bits - value_bits / rows) if rows else 0.0
    if coded.missing:  # cells that may be anything
        whole = {"entropy": entropy, "weighted": entropy * rows, "bits": bits, "further": values - 1, "width": width}
        whole["shared"] = values if values > 1 else 0
        top = {name: (count or 0) * coded.missing for name, count in whole.items()}
        parts.append({"level": height, "rows": coded.missing, "kept": 0, "whole": coded.missing, **top})

    def total(part: str) -> float:
        return math.fsum(float(one[part] or 0) for one in parts)

    levels: Counter[int] = Counter()
    for one in parts:
        levels[int(one["level"])] += int(one["rows"])
    tree = sum((Fraction(level * count, height) for level, count in levels.items()), Fraction(0))
    by_weight = risen(height, beta)
    spread: Number = Fraction(sum(int(one["shared"]) for one in parts), max(1, values))
    if width is not None:
        spread = total("width") / width if width else 0.0
    varies = rows if values > 1 else 0
    whole_entropy = entropy * rows
    costs: dict[str, tuple[Number, Number]] = {
        "changed": (sum(part["rows"] - part["kept"] for part in parts) + changed_values, rows),
        "risen": (tree, rows),
        "level": (tree, rows),
        "redacted": (sum(int(one["whole"]) for one in parts), rows),
        "risen_by_weight": (math.fsum(count * by_weight[level] for level, count in levels.items()), rows),
        "entropy": (total("entropy"), whole_entropy),
        "monotone_entropy": (total("weighted") / rows if rows else 0.0, whole_entropy),
        "size_bits": (max(0.0, total("bits") - value_bits), whole_entropy),
        "leaves": (Fraction(sum(int(one["further"]) for one in parts), values - 1) if values > 1 else 0, varies),
        "spread": (spread, varies if width is None else rows if width else 0),
    }
    value, most = ({cell: cost[place] for cell, cost in costs.items()} for place in (0, 1))
    return CellCosts(column.label, rows, value, most)


def column_losses(costs: Sequence[CellCosts], measures: Iterable[Measure]) -> Iterator[Loss]:
    """The losses of cells: of all columns together, then of each."""
    for measure in measures:
        if measure.by != "cells":
            continue
        yield _loss(measure, None, costs)
        for one in costs:
            yield _loss(measure, one.name, [one])


def in_order(
    losses: Iterable[Loss], measures: Iterable[Measure], attributes: Sequence[str], columns: Sequence[str]
) -> list[Loss]:
    """The losses in the order of the measures: attribute by attribute, of all columns, then of each."""
    names = [measure.name for measure in measures]
    places = {label: place for place, label in enumerate(attributes)}
    order = {label: place for place, label in enumerate([None, *columns])}
    return sorted(
        losses, key=lambda one: (names.index(one.measure), places.get(one.sensitive or "", 0), order[one.column])
    )


def _loss(measure: Measure, column: str | None, costs: Sequence[CellCosts]) -> Loss:
    value = _sum([one.value[measure.cell] for one in costs])
    most = _sum([one.most[measure.cell] for one in costs])
    cells = sum(one.rows for one in costs)
    share = ratio(value, most)
    if measure.cell == "changed":
        return Loss(measure.name, column, ratio(value, cells), None, share)
    if not measure.unit:
        return Loss(measure.name, column, measure.told(ratio(value, cells)), None, None)
    mean = ratio(value, cells if measure.unit == "cell" else costs[0].rows)
    return Loss(measure.name, column, value, mean, share)


def _sum(values: Sequence[Number]) -> Number:
    if any(isinstance(value, float) for value in values):
        return math.fsum(float(value) for value in values)
    return sum((Fraction(value) for value in values), Fraction(0))


def ratio(value: Number, whole: Number) -> Number | None:
    """A quotient, exact where both are; None when there is nothing to divide by."""
    if not whole:
        return None
    if isinstance(value, float) or isinstance(whole, float):
        return float(value) / float(whole)
    return Fraction(value) / Fraction(whole)


# Losses of classes: for all quasi-identifiers together and for each of them as the only one.

NO_REGIONS = "too many original tuples lie in the overlapping regions of too many classes to count them"


def no_pairs() -> str:
    """Why there is no figure where it is not known which rows belong together."""
    return (
        "it takes to know which released row belongs to which original row, and counts leave a choice; give "
        f"{spelled('key')} or {spelled('by_position', True)}"
    )


def no_sensitive() -> str:
    """Why there is no figure without a sensitive attribute."""
    return f"it needs a sensitive attribute ({spelled('sensitive')})"


@dataclass(frozen=True)
class LossView:
    """Original and release seen through some of the quasi-identifiers: one column (named), or all of them.

    Args:
        value_key, cell_key: columns of the coded rows that name a tuple of the original and a class.
        regions: key, n, region: original rows in the region of each class; None when they are not known.
        covered: the columns of the view.
    """

    name: str | None
    value_key: str
    cell_key: str
    covered: tuple[Covered, ...]
    regions: Relation | None

    @property
    def suffix(self) -> str:
        """What relations of the view are called by."""
        return "all" if self.name is None else str(self.covered[0].column.place)


def views_of(bench: Bench, covered: Sequence[Covered], regions: Relation | None) -> Iterator[LossView]:
    """All columns together, then each column."""
    yield LossView(None, "q", "c", tuple(covered), regions)
    for one in covered:
        place = one.column.place
        cells = bench.make(
            f"regions_{place}", "release/losses/release_cell_regions.sql", "regions of cells", cells=one.cells
        )
        yield LossView(one.column.label, f"v{place}", f"g{place}", (one,), cells)


@dataclass(frozen=True)
class LossScene:
    """What the losses of classes are computed from; `pairs` = original rows beside their classes, None if not known."""

    bench: Bench
    coded: CodedPair
    pairs: Relation | None


@dataclass(frozen=True)
class Blocks:
    """The tuples and classes of a view for one sensitive attribute: key, n, deviation (and region, of classes)."""

    view: LossView
    attribute: PairedAttribute | None
    distance: Distance | None
    tuples: Relation
    classes: Relation


def blocks_of(scene: LossScene, view: LossView, attribute: PairedAttribute | None, distance: Distance | None) -> Blocks:
    """The blocks of a view, with their distance from the original's mixture of sensitive values."""
    bench, coded, end = scene.bench, scene.coded, view.suffix
    lane = "" if attribute is None else str(attribute.place)
    sides = [
        ("tuples", view.value_key, f"s{lane}" if lane else "", coded.original),
        ("classes", view.cell_key, f"z{lane}" if lane else "", coded.release),
    ]
    raw = [
        bench.make(
            f"raw_{name}", "release/losses/release_blocks.sql", "blocks of rows", key=key, lane=column, source=source
        )
        for name, key, column, source in sides
    ]
    measured = None
    if distance is not None:
        measured = bench.make(
            "distances",
            "release/losses/release_distances.sql",
            "distances of blocks",
            all_blocks=raw,
            members=distance.members,
            total=coded.rows,
        )
    made = [
        bench.make(
            f"{name}_{end}_{lane or 0}",
            "release/losses/release_measured.sql",
            "blocks of rows",
            blocks=blocks,
            distances=measured,
            regions=view.regions if name == "classes" else None,
        )
        for (name, *_), blocks in zip(sides, raw, strict=True)
    ]
    bench.forget("raw_tuples", "raw_classes", "distances")
    return Blocks(view, attribute, distance, *made)


def class_losses(scene: LossScene, blocks: Blocks, measures: Sequence[Measure]) -> Iterator[Loss]:
    """The losses that follow from the classes of both tables, and those that take pairs of rows."""
    coded, view, distance = scene.coded, blocks.view, blocks.distance
    ways = {measure.by for measure in measures}
    found = _class_figures(scene, blocks) if "classes" in ways else {}
    joint = _joint_figures(scene, blocks) if "pairs" in ways else {}
    for measure in measures:
        if measure.by not in ("classes", "pairs"):
            continue
        about = blocks.attribute.label if measure.sensitive and blocks.attribute else None
        figures, why = None, ""
        if measure.sensitive and (distance is None or (measure.by == "classes" and not coded.rows)):
            why = no_sensitive()
        elif measure.by == "pairs" and not joint:
            why = NO_REGIONS if view.regions is None else no_pairs()
        else:
            figures = _FIGURES[measure.name](coded, {**found, **joint}, distance.weight if distance else Fraction(1))
            why = NO_REGIONS
        if figures is None:
            yield Loss(measure.name, view.name, None, sensitive=about, why=why)
        else:
            value, most = figures
            mean = ratio(value, coded.rows) if measure.unit else None
            yield Loss(measure.name, view.name, value, mean, None if most is None else ratio(value, most), about)


def _class_figures(scene: LossScene, blocks: Blocks) -> dict[str, Any]:
    return scene.bench.tell(
        "release/losses/release_class_losses.sql",
        "losses of classes",
        tuples=blocks.tuples,
        classes=blocks.classes,
        with_region=blocks.view.regions is not None,
    )


def _joint_figures(scene: LossScene, blocks: Blocks) -> dict[str, Any]:
    view, bench, rows = blocks.view, scene.bench, scene.coded.rows
    if scene.pairs is None or view.regions is None or not rows:
        return {}
    found = bench.tell(
        "release/losses/release_joint_losses.sql",
        "losses of pairs",
        source=scene.pairs,
        value_key=view.value_key,
        cell_key=view.cell_key,
        rows=rows,
        tuples=blocks.tuples,
        classes=blocks.classes,
    )
    columns = [{"words": one.column.words.relation, "cells": one.cells} for one in view.covered]
    apart = bench.tell(
        "release/losses/release_independent.sql",
        "losses of pairs",
        source=scene.pairs,
        columns=columns,
        rows=rows,
        places=[one.column.place for one in view.covered],
    )
    return {**found, **apart}


Figures = tuple[Any, Number | None] | None


def _variance(coded: CodedPair, found: Mapping[str, Any], weight: Fraction) -> Figures:
    scale = weight / coded.rows
    before, after = int(found["before"]) * scale, int(found["after"]) * scale
    return before - after, before


def _entropy_inflation(coded: CodedPair, found: Mapping[str, Any], _: Fraction) -> Figures:
    if found["region_bits"] is None:
        return None
    bits = math.log2(coded.rows) if coded.rows else 0.0
    before = float(found["tuple_bits"])
    value = max(0.0, float(found["region_bits"]) + coded.missing * bits - before)
    return value, max(0.0, coded.rows * bits - before)


_FIGURES: Mapping[str, Callable[[CodedPair, Mapping[str, Any], Fraction], Figures]] = {
    "discernibility": lambda coded, found, _: (int(found["squares"]) + coded.missing * coded.rows, coded.rows**2),
    "class-size": lambda coded, found, _: (ratio(coded.matched, int(found["classes"])), None),
    "variance-loss": _variance,
    "entropy-volume-inflation": _entropy_inflation,
    "volume-inflation": lambda _, found, __: (float(found["inflation"]), float(found["inflation_most"])),
    "independent-volume-inflation": lambda _, found, __: (
        float(found["independent"]),
        float(found["independent_most"]),
    ),
    "hybrid": lambda _, found, weight: (float(found["hybrid"]) * float(weight), None),
    "hybrid-log": lambda _, found, weight: (float(found["hybrid_log"]) * float(weight), None),
}
"""Each measure's value, and that of complete suppression where there is one; None where regions are not known."""


# The noise of range queries: how far the rows that a query means are from the class that it gets (Thesis 4.5).
#
# The source sums over all subsets of a class, each with the probability that a query selects it, which is out of reach.
# Random range queries draw such subsets; the mean over the queries estimates the sum, with a standard error.

MEASURE = "range-query-noise"
_AT_ONCE = 50
"""Queries of one statement."""


def view_losses(
    scene: LossScene,
    view: LossView,
    attribute: PairedAttribute | None,
    distance: Distance | None,
    measures: Sequence[Measure],
    queries: int,
    seed: int,
) -> Iterator[Loss]:
    """The losses of a view for one sensitive attribute, those of cells apart; `queries` and `seed` of the noise."""
    yield from class_losses(scene, blocks_of(scene, view, attribute, distance), measures)
    if any(measure.by == "noise" for measure in measures):
        yield noise_loss(scene, view, attribute, distance, queries, seed)


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
    asked, found = random_ranges(queries, seed, domains_of(view.covered)), list[float]()
    for start in range(0, len(asked), _AT_ONCE):
        some = asked[start : start + _AT_ONCE]
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
    mean = math.fsum(found) / len(found)
    variance = math.fsum((one - mean) ** 2 for one in found) / (len(found) - 1)
    error = math.sqrt(variance / len(found))
    return Loss(MEASURE, view.name, mean, sensitive=attribute.label, standard_error=error)
