"""Losses of classes: for all quasi-identifiers together and for each of them as the only one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlaudit.base.relation import Relation
from sqlaudit.base.result import Number
from sqlaudit.base.words import spelled
from sqlaudit.models.measures import Measure
from sqlaudit.release.compare.bench import Bench
from sqlaudit.release.compare.coding import CodedPair, PairedAttribute
from sqlaudit.release.compare.covers import Covered
from sqlaudit.release.compare.distances import Distance
from sqlaudit.release.compare.result import Loss
from sqlaudit.release.losses.columns import ratio

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
    wanted = {measure.name for measure in measures}
    found = _class_figures(scene, blocks) if wanted & _BY_CLASSES else {}
    joint = _joint_figures(scene, blocks) if wanted & _BY_PAIRS else {}
    for measure in measures:
        if measure.name in _MAKERS:
            yield _MAKERS[measure.name](scene.coded, blocks, measure, {**found, **joint})


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


def _discernibility(coded: CodedPair, blocks: Blocks, measure: Measure, found: dict[str, Any]) -> Loss:
    value = int(found["squares"]) + coded.missing * coded.rows
    return _loss(coded, blocks, measure, value, coded.rows**2)


def _class_size(coded: CodedPair, blocks: Blocks, measure: Measure, found: dict[str, Any]) -> Loss:
    value = ratio(coded.matched, int(found["classes"]))
    return Loss(measure.name, blocks.view.name, value)


def _variance(coded: CodedPair, blocks: Blocks, measure: Measure, found: dict[str, Any]) -> Loss:
    if blocks.distance is None or not coded.rows:
        return _without(blocks, measure, no_sensitive())
    scale = blocks.distance.weight / coded.rows
    before, after = int(found["before"]) * scale, int(found["after"]) * scale
    return _loss(coded, blocks, measure, before - after, before)


def _entropy_inflation(coded: CodedPair, blocks: Blocks, measure: Measure, found: dict[str, Any]) -> Loss:
    if found["region_bits"] is None:
        return _without(blocks, measure, NO_REGIONS)
    whole = coded.rows * math.log2(coded.rows) if coded.rows else 0.0
    missing = coded.missing * math.log2(coded.rows) if coded.rows else 0.0
    before = float(found["tuple_bits"])
    value = max(0.0, float(found["region_bits"]) + missing - before)
    return _loss(coded, blocks, measure, value, max(0.0, whole - before))


def _joint(name: str, most: str = "", *, about: bool = False) -> Any:
    def make(coded: CodedPair, blocks: Blocks, measure: Measure, found: dict[str, Any]) -> Loss:
        if about and blocks.distance is None:
            return _without(blocks, measure, no_sensitive())
        if name not in found:
            return _without(blocks, measure, NO_REGIONS if blocks.view.regions is None else no_pairs())
        scale = float(blocks.distance.weight) if about and blocks.distance is not None else 1.0
        return _loss(coded, blocks, measure, float(found[name]) * scale, float(found[most]) if most else None)

    return make


def _loss(coded: CodedPair, blocks: Blocks, measure: Measure, value: Number, most: Number | None) -> Loss:
    share = None if most is None else ratio(value, most)
    return Loss(
        measure.name,
        blocks.view.name,
        value,
        ratio(value, coded.rows) if measure.unit else None,
        share,
        blocks.attribute.label if measure.sensitive and blocks.attribute else None,
    )


def _without(blocks: Blocks, measure: Measure, why: str) -> Loss:
    about = blocks.attribute.label if measure.sensitive and blocks.attribute else None
    return Loss(measure.name, blocks.view.name, None, sensitive=about, why=why)


_MAKERS: dict[str, Any] = {
    "discernibility": _discernibility,
    "class-size": _class_size,
    "variance-loss": _variance,
    "entropy-volume-inflation": _entropy_inflation,
    "volume-inflation": _joint("inflation", "inflation_most"),
    "independent-volume-inflation": _joint("independent", "independent_most"),
    "hybrid": _joint("hybrid", about=True),
    "hybrid-log": _joint("hybrid_log", about=True),
}
_BY_CLASSES = {"discernibility", "class-size", "variance-loss", "entropy-volume-inflation"}
_BY_PAIRS = {"volume-inflation", "independent-volume-inflation", "hybrid", "hybrid-log"}
