"""The classes of many nodes of the lattice, each rolled up from a finer node that is grouped already.

A node's classes follow from those of any finer node by clearing bits of the key. So nothing is grouped from the bottom
twice: a batch of nodes starts from the coarsest grouped node that is finer than all of them. A dense batch (a whole
lattice, say) walks column by column, each level from the one below; memory stays bounded because the walk goes in depth
once a stage has as many groups as `_BUDGET`. Source of the idea of rolling up: LeFevre et al., Incognito, section 3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.lattices.coding import CodedColumn, KeyLayout
from sqlaudit.lattices.verdicts import Node, at_level, is_finer

_BUDGET = 400_000
"""Largest number of groups that a stage of a walk handles at a time: few enough to stay in a processor's cache."""
_SCAN = 4_000_000
"""Largest number of groups that one statement over scattered nodes reads."""
_WORTHWHILE = 50_000
"""Number of groups from which it pays to group a coarser node first, and to keep it for later questions."""
_FEWER = 8
"""Factor by which a node must have fewer groups than the finest one to be a start for several others."""
_DENSE = 0.4
"""Share of nodes asked for from which all nodes between the lowest and highest levels are walked."""


@dataclass(frozen=True)
class Chunk:
    """The classes of some nodes: a FROM item with id, key words, n and words of lanes, and the nodes by id.

    `sql` may hold classes of further ids.
    """

    sql: str
    nodes: dict[int, Node]

    def select(self, ids: Iterable[int]) -> Chunk:
        """Return the chunk with the nodes of these ids alone."""
        return Chunk(self.sql, {number: self.nodes[number] for number in ids})


@dataclass(frozen=True)
class _GroupedNodes:
    """Nodes that are grouped in one relation, node i under the id i."""

    sql: str
    nodes: tuple[Node, ...]
    rows: int
    name: str = ""


class Rollup:
    """Groups nodes on the workbench, and keeps those that further questions can start from.

    Args:
        workbench: where the groups are made and kept.
        layout: the columns' places in the key.
        base: the classes of the finest node: id = 0, key words, n, words.
        words: (name, aggregate) of the words of sensitive values.
    """

    def __init__(self, workbench: Engine, layout: KeyLayout, base: Relation, words: Sequence[tuple[str, str]]) -> None:
        self._workbench, self._layout, self._words = workbench, layout, list(words)
        finest = (0,) * len(layout.columns)
        self.base = _GroupedNodes(base.sql, (finest,), self._count(base.sql))
        self._kept: dict[Node, _GroupedNodes] = {finest: self.base}
        self._labels: list[list[int]] = []
        self._materialized = 0

    def walk(self, nodes: Sequence[Node]) -> Iterator[Chunk]:
        """Yield the classes of all nodes, chunk by chunk; a chunk may be read until the next one is asked for."""
        nodes = list(dict.fromkeys(nodes))
        if not nodes:
            return
        levels = [sorted({node[column] for node in nodes}) for column in range(len(nodes[0]))]
        created: list[_GroupedNodes] = []
        if len(nodes) >= 8 and len(nodes) >= _DENSE * math.prod(map(len, levels)):
            root = self._start(_meet(nodes), created)
            yield from self._walk_grid(root, levels, nodes)
        else:
            yield from self._walk_scattered(nodes, self._starts(nodes, created))
        for grouped in created:
            self._workbench.drop(grouped.name)

    def release(self) -> None:
        """Drop everything that was kept."""
        for grouped in self._kept.values():
            if grouped.name:
                self._workbench.drop(grouped.name)
        self._kept = {self.base.nodes[0]: self.base}

    # --- where to start ---

    def smallest(self, node: Node) -> _GroupedNodes:
        """Return the kept node with the fewest groups that is finer than a node, or the same."""
        return _smallest(self._kept.values(), node)

    def read(self, grouped: _GroupedNodes) -> tuple[tuple[Any, ...], Any]:
        """Return the words of the keys of a node's classes, and their rows, as arrays."""
        *words, sizes = self._read(grouped, [])
        return tuple(words), sizes

    def read_base(self) -> tuple[list[Any], Any, list[Any]]:
        """Return the finest classes as arrays: the words of their keys, their rows, and the words of their counts."""
        arrays = self._read(self.base, [name for name, _ in self._words])
        width = len(self._layout.key)
        return arrays[:width], arrays[width], arrays[width + 1 :]

    def _read(self, grouped: _GroupedNodes, counts: Sequence[str]) -> list[Any]:
        names = [*self._layout.key, "n", *counts]
        statement = render(
            "lattices/lattice_keys.sql", self._workbench.dialect, step="keys", names=names, grouped=grouped
        )
        return list(self._workbench.columns_as_arrays(statement).values())

    def read_some(self, node: Node, most: int) -> tuple[tuple[object, ...], Any] | None:
        """Return keys and rows, as `read` does, of some whole classes of a node, drawn by their keys.

        Args:
            node: the node.
            most: approximate number of classes; None is returned when all are no more.
        """
        source = self.smallest(node)
        if min(source.rows, self._most_groups(node)) <= most:
            return None
        drawn = 2 ** (source.rows // most).bit_length() - 1
        step = self._step(source, self._layout.masks(node), drawn=drawn)
        return self.read(_GroupedNodes("(" + step.sql + ")", (node,), most))

    def _start(self, node: Node, created: list[_GroupedNodes]) -> _GroupedNodes:
        """Group a node.

        It is kept for later questions when it has at most half of the groups that it was made of; otherwise it is one
        of the `created`, to be dropped.
        """
        source = self.smallest(node)
        if source.nodes[0] == node:
            return source
        grouped = self._materialize(self._step(source, self._layout.masks(node)), (node,))
        if grouped.rows <= source.rows // 2:
            self._keep(grouped)
        else:
            created.append(grouped)
        return grouped

    def _starts(self, targets: Sequence[Node], created: list[_GroupedNodes]) -> list[_GroupedNodes]:
        """Return the grouped nodes that others may start from.

        With many groups nodes are grouped that are finer than several of the targets, and each has its choice; with
        few, a statement costs more than its groups, and all start from one.
        """
        dear = [node for node in targets if self.smallest(node).rows >= _WORTHWHILE]
        if not dear:
            meet = _meet(targets)
            return [self._start(meet, created) if len(targets) >= 8 else self.smallest(meet)]
        for nodes in self._bundles(dear):
            self._start(_meet(nodes), created)
        return [*self._kept.values(), *created]

    def _bundles(self, nodes: Sequence[Node]) -> list[list[Node]]:
        """Bundle nodes as long as the node finer than all of them surely has far fewer groups than the finest."""
        most = {node: self._most_groups(node) for node in nodes}
        bundles: list[tuple[Node, list[Node]]] = []
        for node in sorted(nodes, key=lambda node: -most[node]):
            for at, (meet, members) in enumerate(bundles):
                joined = _meet([meet, node])
                if joined == meet or self._most_groups(joined) <= self.base.rows // _FEWER:
                    bundles[at] = (joined, [*members, node])
                    break
            else:
                bundles.append((node, [node]))
        return [members for _, members in bundles]

    def _most_groups(self, node: Node) -> int:
        """Return how many groups a node can have at most: the product of its columns' labels."""
        if not self._labels:
            self._labels = [self._count_labels(column) for column in self._layout.columns]
        return math.prod(labels[level] for labels, level in zip(self._labels, node, strict=True))

    def _count_labels(self, column: CodedColumn) -> list[int]:
        """Return how many labels a column has at each level."""
        masks = [column.masks(level, self._layout.words) for level in range(max(1, column.height) + 1)]
        statement = render(
            "lattices/lattice_label_counts.sql",
            self._workbench.dialect,
            step="labels of " + column.label,
            codes=column.codes,
            levels=masks,
        )
        return [int(count) for count in self._workbench.run(statement)[0]]

    def _keep(self, grouped: _GroupedNodes) -> None:
        """Keep a node for later, and drop the ones that have been kept longest when there are too many groups."""
        self._kept[grouped.nodes[0]] = grouped
        room = 2 * self.base.rows + 1_000_000
        for node in list(self._kept):
            if sum(kept.rows for kept in self._kept.values() if kept.name) <= room:
                return
            if self._kept[node].name and node != grouped.nodes[0]:
                self._workbench.drop(self._kept.pop(node).name)

    # --- scattered nodes ---

    def _walk_scattered(self, targets: Sequence[Node], starts: Sequence[_GroupedNodes]) -> Iterator[Chunk]:
        """Roll up each node from the start with the fewest groups, those with the same one together."""
        by_source: dict[Node, tuple[_GroupedNodes, list[Node]]] = {}
        for node in targets:
            source = _smallest(starts, node)
            by_source.setdefault(source.nodes[0], (source, []))[1].append(node)
        for source, nodes in by_source.values():
            if nodes == [source.nodes[0]]:
                yield Chunk(source.sql, {0: nodes[0]})
                continue
            size = max(1, _SCAN // max(1, source.rows))
            for begin in range(0, len(nodes), size):
                part = nodes[begin : begin + size]
                yield Chunk("(" + self._plan(source, part).sql + ")", dict(enumerate(part)))

    def _plan(self, source: _GroupedNodes, nodes: Sequence[Node]) -> Statement:
        """Return the statement of the classes of nodes, numbered in their order, from one finer node."""
        if len(nodes) == 1:
            return self._step(source, self._layout.masks(nodes[0]))
        plan = [(0, number, *self._layout.masks(node)) for number, node in enumerate(nodes)]
        return render(
            "lattices/lattice_nodes.sql",
            self._workbench.dialect,
            step="roll up",
            finer=source,
            plan=plan,
            width=self._layout.words,
            words=self._words,
        )

    # --- grids of nodes ---

    def _walk_grid(self, root: _GroupedNodes, levels: list[list[int]], targets: Sequence[Node]) -> Iterator[Chunk]:
        """Group all combinations of levels, and yield the targets among them."""
        lowest = tuple(column[0] for column in levels)
        start = _GroupedNodes(root.sql, (lowest,), root.rows)
        if root.nodes[0] != lowest:
            start = self._materialize(self._step(root, self._layout.masks(lowest)), (lowest,))
        # the columns with most bits first: raising them leaves the fewest groups for the stages that follow
        order = [column for column, each in enumerate(levels) if len(each) > 1]
        order.sort(key=lambda i: -sum(part.width for part in self._layout.columns[i].parts if part.level >= lowest[i]))
        yield from self._walk_stage([start], order, levels, set(targets))
        if start.name:
            self._workbench.drop(start.name)

    def _walk_stage(
        self, segments: list[_GroupedNodes], order: list[int], levels: list[list[int]], targets: set[Node]
    ) -> Iterator[Chunk]:
        """Go from nodes with the columns in `order` at their lowest levels to all their levels, column by column."""
        merged = _unite(segments)
        if not order:
            yield from _select_targets(merged, targets)
            return
        column, *rest = order
        if not rest:
            yield from _select_targets(merged, targets)
            for level in levels[column][1:]:
                above = tuple(at_level(node, column, level) for node in merged.nodes)
                ids = [number for number, node in enumerate(above) if node in targets]
                if ids:
                    step = self._step(merged, self._clearing(column, level), ids if len(ids) < len(above) else [])
                    yield Chunk("(" + step.sql + ")", {number: above[number] for number in ids})
            return
        created = []
        finer = merged
        for level in levels[column][1:]:
            above = tuple(at_level(node, column, level) for node in merged.nodes)
            finer = self._materialize(self._step(finer, self._clearing(column, level)), above)
            created.append(finer)
        for bunch in _bunches([*segments, *created]):
            yield from self._walk_stage(bunch, rest, levels, targets)
        for grouped in created:
            self._workbench.drop(grouped.name)

    # --- statements ---

    def _clearing(self, column: int, level: int) -> tuple[int, ...]:
        """Return the masks that leave a level of one column, and all of the others."""
        return self._layout.masks(at_level((0,) * len(self._layout.columns), column, level))

    def _step(self, source: _GroupedNodes, masks: Sequence[int], ids: Sequence[int] = (), drawn: int = 0) -> Statement:
        """Return the statement that groups the classes of finer nodes by the masks of coarser ones."""
        return render(
            "lattices/lattice_step.sql",
            self._workbench.dialect,
            step="roll up",
            finer=source,
            masks=list(masks),
            words=self._words,
            ids=list(ids),
            offset=0,
            drawn=drawn,
        )

    def _materialize(self, statement: Statement, nodes: tuple[Node, ...]) -> _GroupedNodes:
        self._materialized += 1
        name = f"sqlaudit_lattice_{self._materialized}"
        relation = self._workbench.materialize(name, statement)
        return _GroupedNodes(relation.sql, nodes, self._count(relation.sql), name)

    def _count(self, source: str) -> int:
        statement = render("base/row_count.sql", self._workbench.dialect, step="groups", source=Raw(source))
        return int(self._workbench.run(statement)[0][0])


def _smallest(grouped: Iterable[_GroupedNodes], node: Node) -> _GroupedNodes:
    """Return the grouped node with the fewest groups that is finer than a node."""
    return min((source for source in grouped if is_finer(source.nodes[0], node)), key=lambda source: source.rows)


def _meet(nodes: Sequence[Node]) -> Node:
    """Return the coarsest node that is finer than all of these."""
    return tuple(map(min, zip(*nodes, strict=True)))


def _select_targets(grouped: _GroupedNodes, targets: set[Node]) -> Iterator[Chunk]:
    """Yield the grouped nodes that are targets, as one chunk, if there are any."""
    nodes = {number: node for number, node in enumerate(grouped.nodes) if node in targets}
    if nodes:
        yield Chunk(grouped.sql, nodes)


def _unite(segments: Sequence[_GroupedNodes]) -> _GroupedNodes:
    """Return several relations as one, the nodes numbered through."""
    if len(segments) == 1:
        return segments[0]
    nodes: list[Node] = []
    parts = []
    for segment in segments:
        parts.append((segment, len(nodes)))
        nodes += segment.nodes
    statement = render("lattices/lattice_union.sql", "duckdb", step="nodes together", segments=parts)
    return _GroupedNodes("(" + statement.sql + ")", tuple(nodes), sum(segment.rows for segment in segments))


def _bunches(segments: Sequence[_GroupedNodes]) -> Iterator[list[_GroupedNodes]]:
    """Yield segments together as long as they stay within the budget."""
    bunch: list[_GroupedNodes] = []
    for segment in segments:
        if bunch and sum(grouped.rows for grouped in bunch) + segment.rows > _BUDGET:
            yield bunch
            bunch = []
        bunch.append(segment)
    if bunch:
        yield bunch
