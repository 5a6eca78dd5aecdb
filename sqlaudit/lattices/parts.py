"""What the losses of nodes need besides counts by column: which rows are suppressed, and what their cells would cost.

One statement a chunk counts classes; a second adds up the weights of the cells in failing classes, for all columns at
once; a third, only for losses that look at the original values, goes back to the finest classes. Without a suppression
limit no row is suppressed, whatever fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from sqlaudit.base.relation import Relation
from sqlaudit.base.sql import render
from sqlaudit.engines.contract import Engine
from sqlaudit.lattices.coding import Attribute, KeyLayout
from sqlaudit.lattices.figures import over
from sqlaudit.lattices.rollup import Chunk
from sqlaudit.lattices.verdicts import CellWeight, LossParts
from sqlaudit.models.measures import Measure, RangeQuery, random_ranges

_GIVEN = "sqlaudit_lattice_given"
_WEIGHTS = "sqlaudit_lattice_weights"
_BITS = "sqlaudit_lattice_bits"
_LEVELS = "sqlaudit_lattice_levels"
_NODES = "sqlaudit_lattice_masks"
_BATCH = 50_000
_READ = 8_000_000
"""Finest classes that one statement reads, nodes times classes."""
_COUNTS = "sqlaudit_lattice_lane_counts"
_TUPLES = "sqlaudit_lattice_tuple_distances"
_RANKED = "sqlaudit_lattice_ranked"
_INFLATIONS = ("volume-inflation", "independent-volume-inflation")
QUERIES, SEED = 100, 0
_AT_ONCE = 50
"""Queries of one statement."""


@dataclass(eq=False)
class NodeLosses:
    """Parts of losses of the nodes of chunks.

    Args:
        workbench: where the chunks lie. layout: the columns' places in the key. base: the finest classes.
        rows: rows of the table. finest: how many the finest classes are.
        sensitive: the attribute whose counts the finest classes have, where the `measure` looks at it.
    """

    workbench: Engine
    layout: KeyLayout
    base: Relation
    rows: int
    finest: int
    sensitive: Attribute | None = None
    measure: Measure | None = None

    def __post_init__(self) -> None:
        self._kept_weights = lru_cache(maxsize=1)(self._by_key)  # the same ones at every call
        self._of_sensitive: NodeNoise | NodeVariance | None = None
        if self.sensitive is not None and self.measure is not None:
            count = NodeNoise if self.measure.by == "noise" else NodeVariance
            self._of_sensitive = count(self.workbench, self.layout, self.base, self.sensitive, self.rows)

    def parts(
        self, chunk: Chunk, verdicts: dict[str, object], weights: Iterable[CellWeight], wanted: Collection[str]
    ) -> list[LossParts]:
        """The parts of a chunk's nodes; see `LossParts`.

        Args:
            chunk: the nodes. verdicts: which of their classes are left out; see `NodeFigures.failing`.
            weights: of labels, the same ones at every call. wanted: what has to be counted besides classes.
        """
        counts = {
            int(number): figures_of_node
            for number, *figures_of_node in self._run(
                chunk, "lattices/lattice_parts.sql", "classes that are kept", verdicts
            )
        }
        tuple_bits = self._tuple_bits if "tuples" in wanted else 0.0
        nothing = [0.0] * len(self.layout.columns)
        failing = chunk.select(number for number in chunk.nodes if number in counts and int(counts[number][2]))
        weighted = self._weigh(failing, tuple(weights), verdicts)
        bits = self._bits_of(failing, verdicts) if "bits" in wanted else {}
        figures = self.inflation(chunk, verdicts) if "inflation" in wanted else {}
        if self._of_sensitive is not None:
            for number, figures_of_node in self._of_sensitive.of(
                self._in_batches(chunk), self._masks, verdicts
            ).items():
                figures[number] = figures.get(number, {}) | figures_of_node
        parts = []
        for number, node in chunk.nodes.items():
            classes, kept_classes, failing_rows, squares, kept_bits = counts.get(number, (0, 0, 0, 0, 0.0))
            here, top = bits.get(number, (nothing, nothing)) if "bits" in wanted else ([], [])
            parts.append(
                LossParts(
                    node=node,
                    classes=int(classes),
                    kept_classes=int(kept_classes),
                    rows=self.rows,
                    failing_rows=int(failing_rows),
                    kept_squares=int(squares),
                    failing_weights=tuple(weighted.get(number, nothing)),
                    failing_bits=tuple(here),
                    failing_bits_at_top=tuple(top),
                    kept_bits=float(kept_bits),
                    tuple_bits=tuple_bits,
                    figures=figures.get(number, {}),
                )
            )
        return parts

    @cached_property
    def _tuple_bits(self) -> float:
        statement = render("lattices/lattice_tuple_bits.sql", self.workbench.dialect, base=self.base)
        return float(self.workbench.run(statement)[0][0])

    def _run(
        self, chunk: Chunk, template: str, step: str, verdicts: dict[str, object], **parameters: object
    ) -> list[tuple[Any, ...]]:
        return self.workbench.run(over(chunk, template, step, **verdicts, **parameters))

    def _weigh(
        self, chunk: Chunk, weights: tuple[CellWeight, ...], verdicts: dict[str, object]
    ) -> dict[int, list[float]]:
        """Return the weights of the cells in failing classes, by node and column."""
        if not weights or not chunk.nodes:
            return {}
        weighted, levels = self._kept_weights(weights), self._levels(chunk, values=False)
        rows = self._run(
            chunk,
            "lattices/lattice_part_weights.sql",
            "cells of suppressed rows",
            verdicts,
            key=self.layout.key,
            levels=levels,
            weights=weighted,
        )
        by_node = {number: [0.0] * len(self.layout.columns) for number in chunk.nodes}
        for number, position, weight in rows:
            if int(number) in by_node:
                by_node[int(number)][int(position)] = float(weight)
        return by_node

    def inflation(self, chunk: Chunk, given: dict[str, object]) -> dict[int, dict[str, float]]:
        """By how much the regions of all rows are larger than their tuples, of all columns together and column by
        column, by the names of the measures; `given` says which classes of the chunk are left out."""
        by_node = dict.fromkeys(chunk.nodes, dict.fromkeys(_INFLATIONS, 0.0))
        for part in self._in_batches(chunk):
            rows = self._of_finest(
                part, "lattices/lattice_part_inflation.sql", "regions of rows", given, rows=self.rows
            )
            by_node |= {int(number): dict(zip(_INFLATIONS, map(float, sums), strict=True)) for number, *sums in rows}
        return by_node

    def _bits_of(self, chunk: Chunk, verdicts: dict[str, object]) -> dict[int, tuple[list[float], list[float]]]:
        """Return what the cells of suppressed rows leave open about their values, and what * would."""
        width = len(self.layout.columns)
        by_node = {number: ([0.0] * width, [0.0] * width) for number in chunk.nodes}
        for part in self._in_batches(chunk):
            rows = self._of_finest(part, "lattices/lattice_part_bits.sql", "values of suppressed rows", verdicts)
            for number, position, here, top in rows:
                if int(number) in part.nodes:
                    by_node[int(number)][0][int(position)] = float(here)
                    by_node[int(number)][1][int(position)] = float(top)
        return by_node

    def _in_batches(self, chunk: Chunk) -> Iterator[Chunk]:
        """Some nodes at a time: the finest classes are read once for each."""
        numbers = list(chunk.nodes)
        size = max(1, _READ // max(1, self.finest))
        for start in range(0, len(numbers), size):
            yield chunk.select(numbers[start : start + size])

    def _of_finest(
        self, chunk: Chunk, template: str, step: str, verdicts: dict[str, object], **parameters: object
    ) -> list[tuple[Any, ...]]:
        """A statement over the finest classes of every node, and the bits that labels leave open about values."""
        levels = self._levels(chunk, values=True)
        nodes = self._masks(chunk)
        return self._run(
            chunk,
            template,
            step,
            verdicts,
            key=self.layout.key,
            base=self.base,
            nodes=nodes,
            levels=levels,
            bits=self._value_bits,
            **parameters,
        )

    def _masks(self, chunk: Chunk) -> Relation:
        """The masks of the nodes: id, m0, …"""
        columns = [("id", "BIGINT"), *((f"m{word}", "BIGINT") for word in range(self.layout.words))]
        masks = [(number, *self.layout.masks(node)) for number, node in chunk.nodes.items()]
        return self.workbench.keep_rows(_NODES, columns, _batches(masks))

    def _levels(self, chunk: Chunk, *, values: bool) -> Relation:
        """At which level each node has each column, and the bits of the key that say its label (or its `values`)."""
        columns = [(name, "BIGINT") for name in ("id", "position", "level")]
        columns += [(f"m{word}", "BIGINT") for word in range(self.layout.words)]
        coded = self.layout.columns
        rows = [
            (number, position, level, *coded[position].masks(0 if values else level, self.layout.words))
            for number, node in chunk.nodes.items()
            for position, level in enumerate(node)
            if values or 0 < level < coded[position].height
        ]
        return self.workbench.keep_rows(_LEVELS, columns, _batches(rows))

    def weights_by_key(self, weights: Iterable[CellWeight]) -> dict[tuple[int, int], tuple[Any, ...]]:
        """Return the weights of labels by column and level, as arrays: the words of the keys' bits, and the weights."""
        given = tuple(weights)
        if not given:
            return {}
        statement = render(
            "lattices/lattice_weights.sql",
            self.workbench.dialect,
            step="weights of labels",
            key=self.layout.key,
            weights=self._kept_weights(given),
        )
        positions, levels, *arrays = self.workbench.columns_as_arrays(statement).values()
        labelled = {(weight.position, weight.level) for weight in given}
        places = {one: (positions == one[0]) & (levels == one[1]) for one in labelled}
        return {one: tuple(array[place] for array in arrays) for one, place in places.items()}

    def _by_key(self, weights: Sequence[CellWeight]) -> Relation:
        """The weights of labels by the bits of the key that say them."""
        columns = [("position", "BIGINT"), ("level", "BIGINT"), ("label", "VARCHAR"), ("weight", "DOUBLE")]
        rows = [(weight.position, weight.level, weight.label, weight.weight) for weight in weights]
        listed_weights = self.workbench.keep_rows(_GIVEN, columns, _batches(rows))
        labelled = sorted({(weight.position, weight.level) for weight in weights})
        labels = [self._label(position, level) for position, level in labelled]
        statement = render(
            "lattices/lattice_label_weights.sql",
            self.workbench.dialect,
            step="weights of labels",
            labels=labels,
            given=listed_weights,
        )
        weights_by_key = self.workbench.materialize(_WEIGHTS, statement)
        self.workbench.drop(_GIVEN)
        return weights_by_key

    @cached_property
    def _value_bits(self) -> Relation:
        """Return how many bits each label leaves open about each value."""
        labels = [
            self._label(position, level)
            for position, column in enumerate(self.layout.columns)
            for level in range(max(1, column.height) + 1)
        ]
        statement = render(
            "lattices/lattice_value_bits.sql", self.workbench.dialect, step="bits of values", labels=labels
        )
        return self.workbench.materialize(_BITS, statement)

    def _label(self, position: int, level: int) -> dict[str, Any]:
        column, words = self.layout.columns[position], self.layout.words
        return {
            "position": position,
            "level": level,
            "codes": column.codes,
            "masks": column.masks(level, words),
            "whole": column.masks(0, words),
        }


def _batches(rows: Sequence[tuple[object, ...]]) -> Iterable[Sequence[tuple[object, ...]]]:
    return (rows[start : start + _BATCH] for start in range(0, len(rows), _BATCH))


@dataclass
class _ValueLosses:
    """Losses of nodes that look at a sensitive attribute.

    Args:
        workbench: where the chunks lie. layout: the columns' places in the key. base: the finest classes, with the
            lanes of the attribute. attribute: the sensitive one. rows: rows of the table.
    """

    workbench: Engine
    layout: KeyLayout
    base: Relation
    attribute: Attribute
    rows: int

    @cached_property
    def counts(self) -> Relation:
        """The counts of sensitive values in the finest classes: key, lane, c, and part of the table."""
        packing = self.attribute.packing
        words = zip(self.attribute.words, packing.words, strict=True)
        unpacked = render(
            "lattices/lattice_lane_counts.sql",
            self.workbench.dialect,
            step="sensitive values of the finest classes",
            key=self.layout.key,
            base=self.base,
            lanes=[(lane, name, shift) for (name, _), word in words for lane, shift in word],
            mask=2**packing.bits - 1,
        )
        return self.workbench.materialize(_COUNTS, unpacked)


class NodeVariance(_ValueLosses):
    """The measures `variance-loss`, `hybrid` and `hybrid-log`: how far classes are from the table, before and after
    (Hsu, 4.4).

    Distances are the earth mover's with equal ones between values. The sums of distances are whole numbers, so that
    what must not fall from one node to a coarser one does not.
    """

    def of(
        self, chunks: Iterable[Chunk], masked: Callable[[Chunk], Relation], given: dict[str, object]
    ) -> dict[int, dict[str, float]]:
        """The measures of the nodes of some chunks, by place and name.

        Args:
            chunks: of nodes. masked: makes the relation of their masks. given: which of their classes are left out.
        """
        tuples, before = self._finest
        scale = Fraction(1, 2 * self.rows)  # a difference of shares weighs a half where values are equally far apart
        by_node: dict[int, dict[str, float]] = {}
        for chunk in chunks:
            statement = over(
                chunk,
                "lattices/lattice_part_distances.sql",
                "distances of classes",
                key=self.layout.key,
                counts=self.counts,
                tuples=tuples,
                nodes=masked(chunk),
                rows=self.rows,
                **given,
            )
            for number, after, hybrid, hybrid_log in self.workbench.run(statement):
                by_node[int(number)] = {
                    "variance-loss": float((before - int(after)) * scale),
                    "hybrid": float(hybrid) * float(scale),
                    "hybrid-log": float(hybrid_log) * float(scale),
                }
        return by_node

    @cached_property
    def _finest(self) -> tuple[Relation, int]:
        """The distances of the finest classes, and their sum."""
        dialect = self.workbench.dialect
        measured = render(
            "lattices/lattice_tuple_distances.sql",
            dialect,
            step="distances of the finest classes",
            key=self.layout.key,
            counts=self.counts,
            rows=self.rows,
        )
        tuples = self.workbench.materialize(_TUPLES, measured)
        whole = render("lattices/lattice_distance.sql", dialect, step="distance", tuples=tuples)
        return tuples, int(self.workbench.run(whole)[0][0])


class NodeNoise(_ValueLosses):
    """The measure `range-query-noise`, with equal distances between values: how far the rows that a query means are
    from the class that it gets (Hsu, 4.5).

    The source sums over all subsets of a class, which is out of reach. Random range queries draw such subsets: a
    hundred, the same ones for every node, so that nodes differ by what they are and not by what was drawn. They are
    those that a comparison of the release with its original draws unless it is told otherwise.
    """

    def of(
        self, chunks: Iterable[Chunk], masked: Callable[[Chunk], Relation], given: dict[str, object]
    ) -> dict[int, dict[str, float]]:
        """The measure of the nodes of some chunks, by place and name; as of `NodeVariance`."""
        ranked, queries = self._finest
        found: dict[int, list[float]] = {}
        for chunk in chunks:
            nodes = masked(chunk)
            found |= {place: [] for place in chunk.nodes}
            for start in range(0, len(queries), _AT_ONCE):
                statement = over(
                    chunk,
                    "lattices/lattice_part_noise.sql",
                    "noise of range queries",
                    key=self.layout.key,
                    ranked=ranked,
                    nodes=nodes,
                    places=list(range(1, len(self.layout.columns) + 1)),
                    queries=[query.parts() for query in queries[start : start + _AT_ONCE]],
                    rows=self.rows,
                    **given,
                )
                for place, noise in self.workbench.run(statement):
                    found[int(place)].append(float(noise))
        scale = 2 * len(queries) * max(1, self.rows)
        return {place: {"range-query-noise": math.fsum(noises) / scale} for place, noises in found.items()}

    @cached_property
    def _finest(self) -> tuple[Relation, list[RangeQuery]]:
        """The counts of values in the finest classes with the numbers of their values, and the queries."""
        columns, domains = [], []
        for place, column in enumerate(self.layout.columns, 1):
            codes, masks = column.codes, column.masks(0, self.layout.words)
            columns.append({"codes": codes, "words": [(word, mask) for word, mask in enumerate(masks) if mask]})
            step = "values of " + column.label
            known = render("lattices/lattice_values_known.sql", self.workbench.dialect, step=step, codes=codes)
            domains.append((place, known))
        statement = render(
            "lattices/lattice_ranked.sql",
            self.workbench.dialect,
            step="numbers of the values of the finest classes",
            counts=self.counts,
            columns=columns,
        )
        ranked = self.workbench.materialize(_RANKED, statement)
        sizes = [(place, int(self.workbench.run(known)[0][0])) for place, known in domains]
        return ranked, random_ranges(QUERIES, SEED, sizes)
