"""The information loss of a release: by cells, by classes, and as noise of range queries."""

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
from sqlaudit.classes.attribute_inputs import refuse_ambiguous_inputs
from sqlaudit.classes.inputs import read_inputs
from sqlaudit.lattices.losses import risen
from sqlaudit.models.measures import NOISE, Measure, random_ranges
from sqlaudit.release.compare.coding import CodedPair, Covered, Distance, PairedAttribute, distance_of, domains_of
from sqlaudit.release.compare.pairing import Bench
from sqlaudit.release.compare.regions import OpenedTables
from sqlaudit.release.compare.request import CompareRequest
from sqlaudit.release.compare.result import Loss

# Losses of cells: column by column from the different cells and what lies under them, then added up.


@dataclass(frozen=True)
class CellCosts:
    """The sums over the cells of one column; original rows that were not released count as cells at the top.

    Args:
        name: the column. rows: rows of the original.
        sums: by what a measure adds up (`Measure.cell`): over the cells, and over as many for complete suppression.
    """

    name: str
    rows: int
    sums: Mapping[str, tuple[Number, Number]]


def column_costs(bench: Bench, coded: CodedPair, covered: Covered, beta: Fraction, changed_values: int) -> CellCosts:
    """Return what the cells of one column cost.

    Args:
        beta: the exponent of height weights. changed_values: pairs of a value and another value, which no level shows.
    """
    column, rows, height, values = covered.column, coded.rows, covered.column.height, covered.column.words.values
    names = ("level", "rows", "kept", "whole", "entropy", "weighted", "bits", "further", "shared", "width")
    step = f"losses of {column.label}"
    rows_by_level = bench.ask("losses/release_column_losses", step, cells=covered.cells)
    parts: list[dict[str, Any]] = [dict(zip(names, row, strict=True)) for row in rows_by_level]
    relations = {"values": column.words.relation, "numeric": column.numeric}
    value_bits, width = bench.ask("losses/release_column_whole", step, **relations)[0]
    value_bits, bits = float(value_bits), math.log2(rows) if rows else 0.0
    entropy = max(0.0, bits - value_bits / rows) if rows else 0.0
    if coded.missing:  # cells that may be anything
        top = {"entropy": entropy, "weighted": entropy * rows, "bits": bits, "further": values - 1, "width": width}
        top |= {"shared": values if values > 1 else 0, "rows": 1, "whole": 1, "kept": 0}
        parts.append({"level": height, **{name: (each or 0) * coded.missing for name, each in top.items()}})

    def total(part: str) -> float:
        return math.fsum(float(level_part[part] or 0) for level_part in parts)

    def number(part: str) -> int:
        return sum(int(level_part[part]) for level_part in parts)

    levels: Counter[int] = Counter()
    for level_part in parts:
        levels[int(level_part["level"])] += int(level_part["rows"])
    tree = sum((Fraction(level * count, height) for level, count in levels.items()), Fraction(0))
    by_weight = risen(height, beta)
    spread: Number = Fraction(number("shared"), max(1, values))
    if width is not None:
        spread = total("width") / width if width else 0.0
    varies, whole_entropy = rows if values > 1 else 0, entropy * rows
    return CellCosts(
        column.label,
        rows,
        {
            "changed": (number("rows") - number("kept") + changed_values, rows),
            "risen": (tree, rows),
            "level": (tree, rows),
            "redacted": (number("whole"), rows),
            "risen_by_weight": (math.fsum(count * by_weight[level] for level, count in levels.items()), rows),
            "entropy": (total("entropy"), whole_entropy),
            "monotone_entropy": (total("weighted") / rows if rows else 0.0, whole_entropy),
            "size_bits": (max(0.0, total("bits") - value_bits), whole_entropy),
            "leaves": (Fraction(number("further"), values - 1) if values > 1 else 0, varies),
            "spread": (spread, varies if width is None else rows if width else 0),
        },
    )


def column_losses(costs: Sequence[CellCosts], measures: Iterable[Measure]) -> Iterator[Loss]:
    """The losses of cells: of all columns together, then of each."""
    for measure in measures:
        if measure.by != "cells":
            continue
        yield _loss(measure, None, costs)
        for column_costs in costs:
            yield _loss(measure, column_costs.name, [column_costs])


def in_order(
    losses: Iterable[Loss], measures: Iterable[Measure], attributes: Sequence[str], columns: Sequence[str]
) -> list[Loss]:
    """The losses in the order of the measures: attribute by attribute, of all columns, then of each."""
    names = [measure.name for measure in measures]
    places = {label: index for index, label in enumerate(attributes)}
    order = {label: index for index, label in enumerate([None, *columns])}
    return sorted(
        losses, key=lambda loss: (names.index(loss.measure), places.get(loss.sensitive or "", 0), order[loss.column])
    )


def _loss(measure: Measure, column: str | None, costs: Sequence[CellCosts]) -> Loss:
    """Return the loss of a column, or of all of them, by one measure."""
    value, most = (
        _sum(numbers) for numbers in zip(*(column_costs.sums[measure.cell] for column_costs in costs), strict=True)
    )
    cells = sum(column_costs.rows for column_costs in costs)
    share = ratio(value, most)
    if measure.cell == "changed":
        return Loss(measure.name, column, ratio(value, cells), None, share)
    if not measure.unit:
        return Loss(measure.name, column, measure.reported(ratio(value, cells)), None, None)
    mean = ratio(value, cells if measure.unit == "cell" else costs[0].rows)
    return Loss(measure.name, column, value, mean, share)


def _sum(values: Sequence[Number]) -> Number:
    if any(isinstance(value, float) for value in values):
        return math.fsum(float(value) for value in values)
    return sum((Fraction(value) for value in values), Fraction(0))


def ratio(value: Number, divisor: Number) -> Number | None:
    """A quotient, exact where both are; None when there is nothing to divide by."""
    if not divisor:
        return None
    if isinstance(value, float) or isinstance(divisor, float):
        return float(value) / float(divisor)
    return Fraction(value) / Fraction(divisor)


# Losses of classes: for all quasi-identifiers together and for each of them as the only one.

NO_REGIONS = "too many original tuples are in overlapping regions of classes to count them"


def no_sensitive() -> str:
    """The reason without a sensitive attribute."""
    return f"it needs a sensitive attribute ({spelled('sensitive')})"


def no_pairs() -> str:
    """The reason without pairs of rows."""
    return (
        "it needs pairs of released and original rows, which counts alone do not decide; give "
        f"{spelled('key')} or {spelled('by_position', True)}"
    )


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


def views_of(bench: Bench, covered: Sequence[Covered], regions: Relation | None) -> Iterator[LossView]:
    """All columns together, then each column."""
    yield LossView(None, "q", "c", tuple(covered), regions)
    for covered_column in covered:
        position = covered_column.column.place
        cells = bench.make(
            f"regions_{position}", "losses/release_cell_regions", "regions of cells", cells=covered_column.cells
        )
        yield LossView(covered_column.column.label, f"v{position}", f"g{position}", (covered_column,), cells)


@dataclass(frozen=True)
class LossScene:
    """The input of losses of classes; `pairs` = original rows with their classes, None if not known."""

    bench: Bench
    coded: CodedPair
    pairs: Relation | None


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
    coded, ways = scene.coded, {measure.by for measure in measures}
    tuples, classes = _blocks(scene, view, attribute, distance)
    blocks, class_figures, joint = {"tuples": tuples, "classes": classes}, dict[str, Any](), dict[str, Any]()
    if "classes" in ways:
        with_region = view.regions is not None
        step = "losses of classes"
        class_figures = scene.bench.tell("losses/release_class_losses", step, with_region=with_region, **blocks)
    if "pairs" in ways and scene.pairs is not None and view.regions is not None and coded.rows:
        joint = _joint_figures(scene.bench, view, {"source": scene.pairs, "rows": coded.rows}, blocks)
    for measure in measures:
        if measure.by not in ("classes", "pairs"):
            continue
        about = attribute.label if measure.sensitive and attribute else None
        figures, why = None, NO_REGIONS
        if measure.sensitive and (distance is None or (measure.by == "classes" and not coded.rows)):
            why = no_sensitive()
        elif measure.by == "pairs" and not joint:
            why = NO_REGIONS if view.regions is None else no_pairs()
        else:
            weight = distance.weight if distance else Fraction(1)
            figures = _FIGURES[measure.name](coded, {**class_figures, **joint}, weight)
        if figures is None:
            yield Loss(measure.name, view.name, None, sensitive=about, why=why)
        else:
            value, most = figures
            mean = ratio(value, coded.rows) if measure.unit else None
            yield Loss(measure.name, view.name, value, mean, None if most is None else ratio(value, most), about)
    if "noise" in ways:
        yield _noise_loss(scene, view, attribute, distance, queries, seed)


def _blocks(
    scene: LossScene, view: LossView, attribute: PairedAttribute | None, distance: Distance | None
) -> list[Relation]:
    """The tuples and classes of a view for one sensitive attribute: key, n, deviation from the original's mixture of
    sensitive values (and region, of classes)."""
    bench, coded, step = scene.bench, scene.coded, "blocks of rows"
    lane, end = str(attribute.place) if attribute else "", str(view.covered[0].column.place) if view.name else "all"
    raw = [
        bench.make(
            f"raw_{name}", "losses/release_blocks", step, key=key, lane=f"{part}{lane}" if lane else "", source=source
        )
        for name, key, part, source in (
            ("tuples", view.value_key, "s", coded.original),
            ("classes", view.cell_key, "z", coded.release),
        )
    ]
    measured = None
    if distance is not None:
        relations = {"all_blocks": raw, "members": distance.members, "total": coded.rows}
        measured = bench.make("distances", "losses/release_distances", "distances of blocks", **relations)
    measured_blocks = [
        bench.make(
            f"{name}_{end}_{lane or 0}",
            "losses/release_measured",
            step,
            blocks=blocks,
            distances=measured,
            regions=view.regions if name == "classes" else None,
        )
        for name, blocks in zip(("tuples", "classes"), raw, strict=True)
    ]
    bench.forget("raw_tuples", "raw_classes", "distances")
    return measured_blocks


def _joint_figures(
    bench: Bench, view: LossView, pairs: Mapping[str, object], blocks: Mapping[str, Relation]
) -> dict[str, object]:
    """Return the figures of the losses that look at pairs of values and cells."""
    keys, step = {"value_key": view.value_key, "cell_key": view.cell_key}, "losses of pairs"
    columns = [
        {"words": covered_column.column.words.relation, "cells": covered_column.cells}
        for covered_column in view.covered
    ]
    places = [covered_column.column.place for covered_column in view.covered]
    joint = bench.tell("losses/release_joint_losses", step, **pairs, **keys, **blocks)
    return joint | bench.tell("losses/release_independent", step, **pairs, columns=columns, places=places)


Figures = tuple[Any, Number | None] | None


def _variance(coded: CodedPair, figures: Mapping[str, Any], weight: Fraction) -> Figures:
    before, after = (int(figures[when]) * weight / coded.rows for when in ("before", "after"))
    return before - after, before


def _entropy_inflation(coded: CodedPair, figures: Mapping[str, Any], _: Fraction) -> Figures:
    if figures["region_bits"] is None:
        return None
    bits = math.log2(coded.rows) if coded.rows else 0.0
    before = float(figures["tuple_bits"])
    value = max(0.0, float(figures["region_bits"]) + coded.missing * bits - before)
    return value, max(0.0, coded.rows * bits - before)


_FIGURES: Mapping[str, Callable[[CodedPair, Mapping[str, Any], Fraction], Figures]] = {
    "discernibility": lambda coded, figures, _: (int(figures["squares"]) + coded.missing * coded.rows, coded.rows**2),
    "class-size": lambda coded, figures, _: (ratio(coded.matched, int(figures["classes"])), None),
    "variance-loss": _variance,
    "entropy-volume-inflation": _entropy_inflation,
    "volume-inflation": lambda _, figures, __: (float(figures["inflation"]), float(figures["inflation_most"])),
    "independent-volume-inflation": lambda _, figures, __: (
        float(figures["independent"]),
        float(figures["independent_most"]),
    ),
    "hybrid": lambda _, figures, weight: (float(figures["hybrid"]) * float(weight), None),
    "hybrid-log": lambda _, figures, weight: (float(figures["hybrid_log"]) * float(weight), None),
}
"""Each measure's value, and that of complete suppression where there is one; None where regions are not known."""


# The noise of range queries: how far the rows that a query means are from the class that it gets (Thesis 4.5).
#
# The source sums over all subsets of a class, each with the probability that a query selects it, which is out of reach.
# Random range queries draw such subsets; the mean over the queries estimates the sum, with a standard error.

AT_ONCE = 50
"""Queries of one statement."""


def _noise_loss(
    scene: LossScene,
    view: LossView,
    attribute: PairedAttribute | None,
    distance: Distance | None,
    queries: int,
    seed: int,
) -> Loss:
    """Return the noise of random range queries for one attribute."""
    if attribute is None or distance is None:
        return Loss(NOISE, view.name, None, why=no_sensitive())
    if scene.pairs is None or not scene.coded.rows:
        return Loss(NOISE, view.name, None, sensitive=attribute.label, why=no_pairs())
    bench, weight = scene.bench, float(distance.weight)
    source = bench.make(
        "noise_rows",
        "losses/release_noise_rows",
        "rows for range queries",
        source=scene.pairs,
        cell_key=view.cell_key,
        lane=f"s{attribute.place}",
        places=[covered_column.column.place for covered_column in view.covered],
    )
    relations = {"source": source, "members": distance.members, "rows": scene.coded.rows}
    noises: list[float] = []
    queries_as_parts = [query.parts() for query in random_ranges(queries, seed, domains_of(view.covered))]
    for start in range(0, len(queries_as_parts), AT_ONCE):
        batch = queries_as_parts[start : start + AT_ONCE]
        rows = bench.ask("losses/release_noise", "noise of range queries", queries=batch, **relations)
        by_query = {int(query): float(noise) * weight for query, noise in rows}
        noises += [by_query.get(position, 0.0) for position in range(len(batch))]
    bench.forget("noise_rows")
    mean = math.fsum(noises) / len(noises)
    variance = math.fsum((noise - mean) ** 2 for noise in noises) / (len(noises) - 1)
    error = math.sqrt(variance / len(noises))
    return Loss(NOISE, view.name, mean, sensitive=attribute.label, standard_error=error)


# All losses of a comparison.


def losses_of(tables: OpenedTables, request: CompareRequest, measures: Sequence[Measure]) -> list[Loss]:
    """Return what was lost, by each of the measures."""
    losses: list[Loss] = []
    if any(measure.by == "cells" for measure in measures):
        both = zip(tables.covered, tables.changed_values, strict=True)
        costs = [
            column_costs(tables.bench, tables.coded, covered_column, request.beta, other)
            for covered_column, other in both
        ]
        losses += column_losses(costs, measures)
    if class_measures := [measure for measure in measures if measure.by != "cells"]:
        losses += _losses_of_classes(tables, request, class_measures)
    attributes = [attribute.label for attribute in tables.coded.sensitive]
    return in_order(losses, measures, attributes, [covered_column.column.label for covered_column in tables.covered])


def _losses_of_classes(
    tables: OpenedTables, request: CompareRequest, class_measures: Sequence[Measure]
) -> Iterator[Loss]:
    """Yield the losses of classes, for each view and each sensitive attribute."""
    bench, sensitive = tables.bench, tables.coded.sensitive
    scene, inputs = LossScene(bench, tables.coded, tables.pairs), read_inputs(request.inputs)
    refuse_ambiguous_inputs(inputs, [attribute.label for attribute in sensitive])
    attributes: list[tuple[PairedAttribute | None, Distance | None]] = []
    if any(measure.sensitive for measure in class_measures):
        attributes += [(attribute, distance_of(bench, attribute, request.distance, inputs)) for attribute in sensitive]
    for view in views_of(bench, tables.covered, None if tables.regions is None else tables.regions.table):
        for index, (attribute, distance) in enumerate(attributes or [(None, None)]):
            measures = [measure for measure in class_measures if not index or measure.sensitive]
            yield from view_losses(scene, view, attribute, distance, measures, request.noise_queries, request.seed)
