"""What the losses of nodes need besides counts by column: which rows are suppressed, and what their cells would cost.

One statement a chunk counts classes; a second adds up the weights of the cells in failing classes, for all columns at
once; a third, only for losses that look at the original values, goes back to the finest classes. Without a suppression
limit no row is suppressed, whatever fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

from sqlaudit.base.relation import Relation
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.lattices.attributes import Attribute
from sqlaudit.lattices.checks import placed, prepared
from sqlaudit.lattices.coding import KeyLayout
from sqlaudit.lattices.noise import NodeNoise
from sqlaudit.lattices.rollup import Chunk
from sqlaudit.lattices.variance import NodeVariance
from sqlaudit.lattices.verdicts import CellWeight, LossParts, Node

_GIVEN = "sqlaudit_lattice_given"
_WEIGHTS = "sqlaudit_lattice_weights"
_BITS = "sqlaudit_lattice_bits"
_LEVELS = "sqlaudit_lattice_levels"
_NODES = "sqlaudit_lattice_masks"
_BATCH = 50_000
_READ = 8_000_000
"""Finest classes that one statement reads, nodes times classes."""


class SaysWhatFails(Protocol):
    """Knows which of the classes of a chunk fail."""

    def failing(self, chunk: Chunk) -> dict[str, Any]:
        """`blocks` as the templates read them, and `any`: the names of the verdicts that make a class fail."""


class NodeLosses:
    """Parts of losses of the nodes of chunks.

    Args:
        workbench: where the chunks lie. layout: the columns' places in the key. base: the finest classes.
        figures: what makes a class fail. rows: rows of the table. finest: how many the finest classes are.
        sensitive: the attribute whose counts the finest classes have, where losses look at it. noise: whether they ask
            for the noise of range queries, and not for how far values are from those of the table.
    """

    def __init__(
        self,
        workbench: Engine,
        layout: KeyLayout,
        base: Relation,
        figures: SaysWhatFails,
        rows: int,
        finest: int,
        sensitive: Attribute | None = None,
        *,
        noise: bool = False,
    ) -> None:
        self._workbench, self._layout, self._base, self._figures = workbench, layout, base, figures
        self._rows, self._finest = rows, finest
        self._weights: tuple[CellWeight, ...] | None = None
        self._weighted: Relation | None = None
        self._bits: Relation | None = None
        self._tuple_bits: float | None = None
        self._of_sensitive: NodeNoise | NodeVariance | None = None
        if sensitive is not None:
            self._of_sensitive = (
                NodeNoise(workbench, layout, base, sensitive, rows)
                if noise
                else NodeVariance(workbench, layout.key, base, sensitive, rows)
            )

    def parts(
        self, chunk: Chunk, weights: Iterable[CellWeight], bits: bool, tuples: bool = False, inflation: bool = False
    ) -> list[LossParts]:
        """The parts of a chunk's nodes; see `LossParts`."""
        given = self._figures.failing(chunk)
        counts = self._run(chunk, "lattices/lattice_parts.sql", "classes that are kept", given)
        if tuples and self._tuple_bits is None:
            statement = render("lattices/lattice_tuple_bits.sql", self._workbench.dialect, base=Raw(self._base.sql))
            self._tuple_bits = float(self._workbench.run(statement)[0][0])
        counted = {int(place): tuple(map(int, found)) for place, *found, _ in counts}
        kept_bits = {int(row[0]): float(row[-1]) for row in counts}
        failing = Chunk(chunk.sql, {p: node for p, node in chunk.nodes.items() if counted.get(p, (0, 0, 0))[2]})
        weighted = self._weigh(failing, tuple(weights), given)
        open_bits = self._open_bits(failing, given) if bits else {}
        inflated = self.inflation(chunk, given) if inflation else {}
        asked = self._of_sensitive
        of_values = asked.of(self._in_batches(chunk), self._masks, given) if asked else {}
        return [
            replace(
                self._of(node, counted.get(place, (0, 0, 0, 0)), weighted.get(place), open_bits.get(place), bits),
                kept_bits=kept_bits.get(place, 0.0),
                tuple_bits=self._tuple_bits or 0.0,
                inflation=inflated.get(place, (0.0, 0.0))[0],
                inflation_apart=inflated.get(place, (0.0, 0.0))[1],
                of_values=of_values.get(place, {}),
            )
            for place, node in chunk.nodes.items()
        ]

    def _of(
        self,
        node: Node,
        counted: tuple[int, ...],
        weighted: list[float] | None,
        open_bits: tuple[list[float], list[float]] | None,
        bits: bool,
    ) -> LossParts:
        classes, kept, failing, squares = counted
        none = [0.0] * len(node)
        here, top = open_bits or (none, none) if bits else ([], [])
        return LossParts(
            node, classes, kept, self._rows, failing, squares, tuple(weighted or none), tuple(here), tuple(top)
        )

    def _run(self, chunk: Chunk, template: str, step: str, given: dict[str, Any], **more: Any) -> list[tuple[Any, ...]]:
        return self._workbench.run(placed(prepared(template, step, **given, **more), chunk.sql))

    def _weigh(self, chunk: Chunk, weights: tuple[CellWeight, ...], given: dict[str, Any]) -> dict[int, list[float]]:
        if not weights or not chunk.nodes:
            return {}
        if self._weighted is None or self._weights != weights:
            self._weighted, self._weights = self._by_key(weights), weights
        levels = self._levels(chunk, values=False)
        rows = self._run(
            chunk,
            "lattices/lattice_part_weights.sql",
            "cells of suppressed rows",
            given,
            key=self._layout.key,
            levels=Raw(levels.sql),
            weights=Raw(self._weighted.sql),
        )
        found = {place: [0.0] * len(self._layout.columns) for place in chunk.nodes}
        for place, position, weight in rows:
            if int(place) in found:
                found[int(place)][int(position)] = float(weight)
        return found

    def inflation(self, chunk: Chunk, given: dict[str, Any]) -> dict[int, tuple[float, float]]:
        """By how much the regions of all rows are larger than their tuples, of all columns together and column by
        column; `given` says which classes of the chunk are left out."""
        found: dict[int, tuple[float, float]] = {}
        for part in self._in_batches(chunk):
            template, step = "lattices/lattice_part_inflation.sql", "regions of rows"
            for place, joint, apart in self._of_finest(part, template, step, given, rows=self._rows):
                found[int(place)] = (float(joint), float(apart))
        return found

    def _open_bits(self, chunk: Chunk, given: dict[str, Any]) -> dict[int, tuple[list[float], list[float]]]:
        found: dict[int, tuple[list[float], list[float]]] = {}
        for part in self._in_batches(chunk):
            found |= self._bits_of(part, given)
        return found

    def _in_batches(self, chunk: Chunk) -> Iterator[Chunk]:
        """Some nodes at a time: the finest classes are read once for each."""
        places = list(chunk.nodes)
        size = max(1, _READ // max(1, self._finest))
        for start in range(0, len(places), size):
            yield Chunk(chunk.sql, {place: chunk.nodes[place] for place in places[start : start + size]})

    def _of_finest(
        self, chunk: Chunk, template: str, step: str, given: dict[str, Any], **more: Any
    ) -> list[tuple[Any, ...]]:
        """A statement over the finest classes of every node, and the bits that labels leave open about values."""
        if self._bits is None:
            self._bits = self._of_values()
        levels = self._levels(chunk, values=True)
        nodes = self._masks(chunk)
        return self._run(
            chunk,
            template,
            step,
            given,
            key=self._layout.key,
            base=Raw(self._base.sql),
            nodes=Raw(nodes.sql),
            levels=Raw(levels.sql),
            bits=Raw(self._bits.sql),
            **more,
        )

    def _masks(self, chunk: Chunk) -> Relation:
        """The masks of the nodes: id, m0, …"""
        columns = [("id", "BIGINT"), *((f"m{word}", "BIGINT") for word in range(self._layout.words))]
        masks = [(place, *self._layout.masks(node)) for place, node in chunk.nodes.items()]
        return self._workbench.keep_rows(_NODES, columns, _batches(masks))

    def _bits_of(self, chunk: Chunk, given: dict[str, Any]) -> dict[int, tuple[list[float], list[float]]]:
        rows = self._of_finest(chunk, "lattices/lattice_part_bits.sql", "values of suppressed rows", given)
        width = len(self._layout.columns)
        found = {place: ([0.0] * width, [0.0] * width) for place in chunk.nodes}
        for place, position, here, top in rows:
            if int(place) in found:
                found[int(place)][0][int(position)] = float(here)
                found[int(place)][1][int(position)] = float(top)
        return found

    def _levels(self, chunk: Chunk, *, values: bool) -> Relation:
        """At which level each node has each column, and the bits of the key that say its label (or its `values`)."""
        columns = [(name, "BIGINT") for name in ("id", "position", "level")]
        columns += [(f"m{word}", "BIGINT") for word in range(self._layout.words)]
        coded = self._layout.columns
        rows = [
            (place, position, level, *coded[position].masks(0 if values else level, self._layout.words))
            for place, node in chunk.nodes.items()
            for position, level in enumerate(node)
            if values or 0 < level < coded[position].height
        ]
        return self._workbench.keep_rows(_LEVELS, columns, _batches(rows))

    def _by_key(self, weights: Sequence[CellWeight]) -> Relation:
        """The weights of labels by the bits of the key that say them."""
        columns = [("position", "BIGINT"), ("level", "BIGINT"), ("label", "VARCHAR"), ("weight", "DOUBLE")]
        rows = [(one.position, one.level, one.label, one.weight) for one in weights]
        given = self._workbench.keep_rows(_GIVEN, columns, _batches(rows))
        places = sorted({(one.position, one.level) for one in weights})
        labels = [self._label(position, level) for position, level in places]
        statement = render(
            "lattices/lattice_label_weights.sql",
            self._workbench.dialect,
            step="weights of labels",
            labels=labels,
            given=Raw(given.sql),
        )
        kept = self._workbench.materialize(_WEIGHTS, statement)
        self._workbench.drop(_GIVEN)
        return kept

    def _of_values(self) -> Relation:
        """How many bits each label leaves open about each value."""
        labels = [
            self._label(position, level)
            for position, column in enumerate(self._layout.columns)
            for level in range(max(1, column.height) + 1)
        ]
        statement = render(
            "lattices/lattice_value_bits.sql", self._workbench.dialect, step="bits of values", labels=labels
        )
        return self._workbench.materialize(_BITS, statement)

    def _label(self, position: int, level: int) -> dict[str, Any]:
        column, words = self._layout.columns[position], self._layout.words
        return {
            "position": position,
            "level": level,
            "codes": Raw(column.codes.sql),
            "masks": column.masks(level, words),
            "whole": column.masks(0, words),
        }


def _batches(rows: Sequence[tuple[Any, ...]]) -> Iterable[Sequence[tuple[Any, ...]]]:
    return (rows[start : start + _BATCH] for start in range(0, len(rows), _BATCH))
