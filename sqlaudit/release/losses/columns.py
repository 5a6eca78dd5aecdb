"""Losses of cells: column by column from the different cells and what lies under them, then added up."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlaudit.base.result import Number
from sqlaudit.models.measures import Measure
from sqlaudit.release.compare.bench import Bench
from sqlaudit.release.compare.coding import CodedPair
from sqlaudit.release.compare.covers import Covered
from sqlaudit.release.compare.result import Loss


@dataclass(frozen=True)
class CellCosts:
    """What the cells of one column add up to, original rows that were not released as cells at the top.

    Args:
        name: the column. rows: rows of the original. height: of its hierarchy.
        levels: original rows by the level of their cell. modified: cells that are not the original value.
        value, most: by the names of measures, the sum over the cells and the same for complete suppression.
    """

    name: str
    rows: int
    height: int
    levels: tuple[tuple[int, int], ...]
    value: dict[str, Number]
    most: dict[str, Number]


def column_costs(bench: Bench, coded: CodedPair, covered: Covered, beta: Fraction, changed_values: int) -> CellCosts:
    """What the cells of one column cost.

    Args:
        beta: the exponent of height weights. changed_values: pairs of a value and another value, which no level shows.
    """
    column, rows = covered.column, coded.rows
    names = ("level", "rows", "kept", "whole", "entropy", "weighted", "bits", "further", "shared", "width")
    parts = [
        dict(zip(names, row, strict=True))
        for row in bench.ask(
            "release/losses/release_column_losses.sql", f"losses of {column.label}", cells=covered.cells
        )
    ]
    value_bits, width = bench.ask(
        "release/losses/release_column_whole.sql",
        f"losses of {column.label}",
        values=column.words.relation,
        numeric=column.numeric,
    )[0]
    whole = _whole(coded, column.words.values, float(value_bits), width)
    if coded.missing:
        top = {name: (count or 0) * coded.missing for name, count in whole.items()}
        parts.append({"level": column.height, "rows": coded.missing, "kept": 0, "whole": coded.missing, **top})
    modified = sum(part["rows"] - part["kept"] for part in parts) + changed_values
    return _costs(column.label, rows, column.height, parts, whole, modified, float(value_bits), beta)


def _whole(coded: CodedPair, values: int, value_bits: float, width: float | None) -> dict[str, Any]:
    """What one cell costs that may be anything."""
    bits = math.log2(coded.rows) if coded.rows else 0.0
    entropy = bits - value_bits / coded.rows if coded.rows else 0.0
    return {
        "entropy": max(0.0, entropy),
        "weighted": max(0.0, entropy) * coded.rows,
        "bits": bits,
        "further": values - 1,
        "shared": values if values > 1 else 0,
        "width": width,
    }


def _costs(
    name: str,
    rows: int,
    height: int,
    parts: Sequence[dict[str, Any]],
    whole: dict[str, Any],
    modified: int,
    value_bits: float,
    beta: Fraction,
) -> CellCosts:
    def total(part: str) -> float:
        return math.fsum(float(one[part] or 0) for one in parts)

    at: dict[int, int] = {}
    for one in parts:
        at[int(one["level"])] = at.get(int(one["level"]), 0) + int(one["rows"])
    tree = sum((Fraction(level * count, height) for level, count in at.items()), Fraction(0))
    further, spread = whole["further"], whole["width"]
    numeric = spread is not None
    non_uniform = max(0.0, total("bits") - value_bits)
    value: dict[str, Number] = {
        "modification-rate": modified,
        "whd": tree,
        "tree": tree,
        "precision": tree,
        "redactions": sum(int(one["whole"]) for one in parts),
        "whd-height": math.fsum(count * _risen(level, height, beta) for level, count in at.items()),
        "entropy": total("entropy"),
        "monotone-entropy": total("weighted") / rows if rows else 0.0,
        "non-uniform-entropy": non_uniform,
        "independent-entropy-volume-inflation": non_uniform,
        "loss": Fraction(sum(int(one["further"]) for one in parts), further) if further > 0 else 0,
    }
    if numeric:
        value["ncp"] = total("width") / spread if spread else 0.0
    else:
        value["ncp"] = Fraction(sum(int(one["shared"]) for one in parts), max(1, further + 1))
    entropy = whole["entropy"] * rows
    varies = rows if further > 0 else 0
    most: dict[str, Number] = {
        "modification-rate": rows,
        "whd": rows,
        "tree": rows,
        "redactions": rows,
        "precision": rows,
        "whd-height": rows,
        "entropy": entropy,
        "monotone-entropy": entropy,
        "non-uniform-entropy": entropy,
        "independent-entropy-volume-inflation": entropy,
        "loss": varies,
        "ncp": (rows if spread else 0) if numeric else varies,
    }
    return CellCosts(name, rows, height, tuple(sorted(at.items())), value, most)


def _risen(level: int, height: int, beta: Fraction) -> float:
    """WHD from the leaf (level h = height + 1 of the source) to `level` above it, with weights 1/(j−1)^β."""

    def weight(j: int) -> float:
        return math.pow(j - 1, -float(beta))

    top = height + 1
    return math.fsum(weight(j) for j in range(top - level + 1, top + 1)) / math.fsum(
        weight(j) for j in range(2, top + 1)
    )


def column_losses(costs: Sequence[CellCosts], measures: Iterable[Measure]) -> Iterator[Loss]:
    """The losses of cells: of all columns together, then of each."""
    for measure in measures:
        if measure.by != "cells":
            continue
        yield _loss(measure, None, costs)
        for one in costs:
            yield _loss(measure, one.name, [one])


def _loss(measure: Measure, column: str | None, costs: Sequence[CellCosts]) -> Loss:
    value = _sum([one.value[measure.name] for one in costs])
    most = _sum([one.most[measure.name] for one in costs])
    cells = sum(one.rows for one in costs)
    share = ratio(value, most)
    if measure.name == "modification-rate":
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
