"""Which classes have a signature: their keys and the values behind their largest counts, read only when asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlaudit.base.relation import Row
from sqlaudit.classes.facts import ClassHistogram, Fact
from sqlaudit.classes.signatures import Signatures

_COUNT_BITS = 40
"""A cell of a class is one number: its lane in the bits from here on, its count below."""


@dataclass(frozen=True)
class WorstPlace:
    """A class of the table: its quasi-identifier values, and its sensitive values, most frequent first."""

    key: Mapping[str, Any]
    values: tuple[Any, ...]


def places_of(
    histogram: ClassHistogram,
    signatures: Signatures,
    wanted: Mapping[int, int],
    labels: Sequence[str],
    collated: Sequence[bool],
) -> dict[int, list[WorstPlace]]:
    """Classes with certain signatures, as many of each as are wanted or there are.

    Args:
        histogram: the classes with their keys. signatures: where positions refer to.
        wanted: how many classes by the signature's position.
        labels: what the columns of the key are called. collated: which of them are text, ordered by code point.
    """
    if not wanted:
        return {}
    positions = list(wanted)
    depth = min(signatures.k + 1, histogram.lane_count)
    keys = [f"q{number}" for number, _ in enumerate(labels, 1)]
    cells = [f"c{lane}" for lane in range(histogram.lane_count)] if histogram.form == "packed" else ["cell_list"]
    statement = histogram.statement(
        "audits/disclosure/classes_of_signatures.sql",
        [Fact("top_counts", "top", {"count": depth})],
        "classes of signatures",
        signatures=[_shortened(signatures, position, depth) for position in positions],
        key_names=keys,
        collated=list(collated),
        keep=", ".join(keys + cells),
        most=max(wanted.values()),
    )
    found: dict[int, list[WorstPlace]] = {position: [] for position in positions}
    for number, _, *row in histogram.engine.run(statement):
        key = dict(zip(labels, row, strict=False))
        found[positions[number]].append(WorstPlace(key, _values(histogram, tuple(row[len(keys) :]))))
    return {position: places[: wanted[position]] for position, places in found.items()}


def _shortened(signatures: Signatures, position: int, depth: int) -> tuple[int, list[int]]:
    size, counts = signatures.signature(position)
    return size, list(counts[:depth])


def _values(histogram: ClassHistogram, cells: Row) -> tuple[Any, ...]:
    """The sensitive values that occur, most frequent first, ties by rank."""
    assert histogram.table is not None
    counted = enumerate(cells) if histogram.form == "packed" else map(_cell, cells[0])
    ranked = sorted((-int(count), lane) for lane, count in counted if count)
    return tuple(histogram.table.values[lane] for _, lane in ranked)


def _cell(cell: int) -> tuple[int, int]:
    return int(cell) >> _COUNT_BITS, int(cell) & (2**_COUNT_BITS - 1)
