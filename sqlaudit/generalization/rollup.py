"""The classes of many nodes of the lattice, each rolled up from a finer node that is grouped already.

A node's classes follow from those of any finer node by clearing bits of the key. So nothing is grouped from the bottom
twice: a batch of nodes starts from the coarsest grouped node that is finer than all of them. A dense batch (a whole
lattice, say) walks column by column, each level from the one below; memory stays bounded because the walk goes in depth
once a stage has as many groups as `_BUDGET`. Source of the idea of rolling up: LeFevre et al., Incognito, section 3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlaudit.engines.base import Engine, Relation, Statement
from sqlaudit.generalization.coding import KeyLayout
from sqlaudit.generalization.verdicts import Node
from sqlaudit.sql import Raw, render

_BUDGET = 400_000
"""Groups that a stage of a walk handles at a time: few enough to stay in a processor's cache."""
_SCAN = 4_000_000
"""Groups that one statement over scattered nodes reads."""
_WORTHWHILE = 50_000
"""From so many groups on it pays to keep a coarser node for later questions."""
_DENSE = 0.4
"""From this share of asked nodes on, all nodes between the lowest and highest levels are walked."""


@dataclass(frozen=True)
class Chunk:
    """The classes of some nodes: a FROM item with id, key words, n and words of lanes, and the nodes by id.

    `sql` may hold classes of further ids.
    """

    sql: str
    nodes: dict[int, Node]


@dataclass(frozen=True)
class _Grouped:
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
        tag: tells several searches of one session apart.
    """

    def __init__(
        self, workbench: Engine, layout: KeyLayout, base: Relation, words: Sequence[tuple[str, str]], tag: str = ""
    ) -> None:
        self._workbench, self._layout, self._words, self._tag = workbench, layout, list(words), tag
        finest = (0,) * len(layout.columns)
        self.base = _Grouped(base.sql, (finest,), self._count(base.sql))
        self._kept: dict[Node, _Grouped] = {finest: self.base}
        self._made = 0
        self._tops = tuple(max(1, height) for height in layout.heights)

    def walk(self, nodes: Sequence[Node]) -> Iterator[Chunk]:
        """The classes of all nodes, chunk by chunk; a chunk may be read until the next one is asked for."""
        wanted = list(dict.fromkeys(nodes))
        if not wanted:
            return
        root = self._root(_meet(wanted), len(wanted))
        levels = [sorted({node[i] for node in wanted}) for i in range(len(wanted[0]))]
        if len(wanted) >= 8 and len(wanted) >= _DENSE * math.prod(len(each) for each in levels):
            yield from self._grid(root, levels, wanted)
        else:
            yield from self._scattered(root, wanted)
        if root.name and root is not self._kept.get(root.nodes[0]):
            self._workbench.drop(root.name)

    def release(self) -> None:
        """Drop everything that was kept."""
        for grouped in self._kept.values():
            if grouped.name:
                self._workbench.drop(grouped.name)
        self._kept = {self.base.nodes[0]: self.base}

    # --- where to start ---

    def _root(self, lowest: Node, wanted: int) -> _Grouped:
        """The grouped node to start from; the meet of all wanted nodes, where it is worth the grouping.

        It is kept for later questions when it has at most half of the groups that it was made of.
        """
        source = min(
            (kept for node, kept in self._kept.items() if _finer(node, lowest)), key=lambda grouped: grouped.rows
        )
        if source.nodes[0] == lowest or source.rows < (_WORTHWHILE if wanted < 8 else 0):
            return source
        made = self._materialize(self._step(source, self._masks(lowest)), (lowest,))
        if made.rows <= source.rows // 2:
            self._keep(made)
        return made

    def _keep(self, grouped: _Grouped) -> None:
        """Keep a node for later, and let go of the ones that have been kept longest when there is too much."""
        self._kept[grouped.nodes[0]] = grouped
        room = 2 * self.base.rows + 1_000_000
        for node in list(self._kept):
            if sum(kept.rows for kept in self._kept.values() if kept.name) <= room:
                return
            if self._kept[node].name and node != grouped.nodes[0]:
                self._workbench.drop(self._kept.pop(node).name)

    # --- scattered nodes ---

    def _scattered(self, root: _Grouped, wanted: Sequence[Node]) -> Iterator[Chunk]:
        """Each node from the root; with many groups there, nodes that leave out the same columns share a start."""
        starts, created = self._starts(root, wanted)
        for source, nodes in starts:
            size = max(1, _SCAN // max(1, source.rows // len(source.nodes)))
            for begin in range(0, len(nodes), size):
                part = nodes[begin : begin + size]
                yield Chunk("(" + self._plan(source, part).sql + ")", dict(enumerate(node for _, node in part)))
        for grouped in created:
            self._workbench.drop(grouped.name)

    def _starts(
        self, root: _Grouped, wanted: Sequence[Node]
    ) -> tuple[list[tuple[_Grouped, list[tuple[int, Node]]]], list[_Grouped]]:
        """(relation, [(id of the start in it, node)]), and what has been made for it."""
        if root.rows < _WORTHWHILE or len(wanted) < 4:
            return [(root, [(0, node) for node in wanted])], []
        patterns: dict[tuple[bool, ...], list[Node]] = {}
        for node in wanted:
            patterns.setdefault(tuple(level >= top for level, top in zip(node, self._tops, strict=True)), []).append(
                node
            )
        shared = [nodes for nodes in patterns.values() if len(nodes) > 1]
        single = [(0, nodes[0]) for nodes in patterns.values() if len(nodes) == 1]
        found = [(root, single)] if single else []
        if not shared:
            return found, []
        meets = tuple(_meet(nodes) for nodes in shared)
        made = self._materialize(self._plan(root, [(0, node) for node in meets]), meets)
        found.append((made, [(place, node) for place, nodes in enumerate(shared) for node in nodes]))
        return found, [made]

    def _plan(self, source: _Grouped, nodes: Sequence[tuple[int, Node]]) -> Statement:
        """The classes of nodes, numbered in their order, from (id in the source, node)."""
        if len(nodes) == 1 and len(source.nodes) == 1:
            return self._step(source, self._masks(nodes[0][1]))
        plan = [(start, place, *self._masks(node)) for place, (start, node) in enumerate(nodes)]
        return render(
            "lattice_nodes.sql", self._workbench.dialect, step="roll up", finer=Raw(source.sql), plan=plan,
            width=self._layout.words, words=self._words,
        )  # fmt: skip

    # --- grids of nodes ---

    def _grid(self, root: _Grouped, levels: list[list[int]], wanted: Sequence[Node]) -> Iterator[Chunk]:
        """All combinations of levels, of which the wanted ones are given out."""
        lowest = tuple(each[0] for each in levels)
        asked = set(wanted)
        start = _Grouped(root.sql, (lowest,), root.rows)
        if root.nodes[0] != lowest:
            start = self._materialize(self._step(root, self._masks(lowest)), (lowest,))
        order = [i for i, each in enumerate(levels) if len(each) > 1]
        order.sort(key=lambda i: -sum(part.width for part in self._layout.columns[i].parts if part.level >= lowest[i]))
        yield from self._stage([start], order, levels, asked)
        if start.name:
            self._workbench.drop(start.name)

    def _stage(
        self, segments: list[_Grouped], order: list[int], levels: list[list[int]], asked: set[Node]
    ) -> Iterator[Chunk]:
        """From nodes with the columns in `order` at their lowest levels to all their levels, column by column."""
        merged = _union(segments)
        if not order:
            yield from _chunk(merged, asked)
            return
        column, *rest = order
        if not rest:
            yield from _chunk(merged, asked)
            for level in levels[column][1:]:
                above = tuple(_at(node, column, level) for node in merged.nodes)
                ids = [place for place, node in enumerate(above) if node in asked]
                if ids:
                    step = self._step(merged, self._clearing(column, level), ids if len(ids) < len(above) else [])
                    yield Chunk("(" + step.sql + ")", {place: above[place] for place in ids})
            return
        created = []
        finer = merged
        for level in levels[column][1:]:
            above = tuple(_at(node, column, level) for node in merged.nodes)
            finer = self._materialize(self._step(finer, self._clearing(column, level)), above)
            created.append(finer)
        for bunch in _bunches([*segments, *created]):
            yield from self._stage(bunch, rest, levels, asked)
        for grouped in created:
            self._workbench.drop(grouped.name)

    # --- statements ---

    def _masks(self, node: Node) -> tuple[int, ...]:
        return self._layout.masks(node)

    def _clearing(self, column: int, level: int) -> tuple[int, ...]:
        """Masks that leave a level of one column, and all of the others."""
        return self._layout.masks(_at((0,) * len(self._layout.columns), column, level))

    def _step(self, source: _Grouped, masks: Sequence[int], ids: Sequence[int] = ()) -> Statement:
        return render(
            "lattice_step.sql", self._workbench.dialect, step="roll up", finer=Raw(source.sql), masks=list(masks),
            words=self._words, ids=list(ids), offset=0,
        )  # fmt: skip

    def _materialize(self, statement: Statement, nodes: tuple[Node, ...]) -> _Grouped:
        self._made += 1
        name = f"sqlaudit_lattice{self._tag}_{self._made}"
        relation = self._workbench.materialize(name, statement)
        return _Grouped(relation.sql, nodes, self._count(relation.sql), name)

    def _count(self, source: str) -> int:
        statement = render("row_count.sql", self._workbench.dialect, step="groups", source=Raw(source))
        return int(self._workbench.run(statement)[0][0])


def _meet(nodes: Sequence[Node]) -> Node:
    return tuple(map(min, zip(*nodes, strict=True)))


def _finer(node: Node, other: Node) -> bool:
    return all(a <= b for a, b in zip(node, other, strict=True))


def _at(node: Node, column: int, level: int) -> Node:
    return (*node[:column], level, *node[column + 1 :])


def _chunk(grouped: _Grouped, asked: set[Node]) -> Iterator[Chunk]:
    """The asked ones of grouped nodes."""
    nodes = {place: node for place, node in enumerate(grouped.nodes) if node in asked}
    if nodes:
        yield Chunk(grouped.sql, nodes)


def _union(segments: Sequence[_Grouped]) -> _Grouped:
    """Several relations as one, the nodes numbered through."""
    if len(segments) == 1:
        return segments[0]
    nodes: list[Node] = []
    parts = []
    for segment in segments:
        parts.append((Raw(segment.sql), len(nodes)))
        nodes += segment.nodes
    statement = render("lattice_union.sql", "duckdb", step="nodes together", segments=parts)
    return _Grouped("(" + statement.sql + ")", tuple(nodes), sum(segment.rows for segment in segments))


def _bunches(segments: Sequence[_Grouped]) -> Iterator[list[_Grouped]]:
    """Segments together as long as they stay within the budget."""
    bunch: list[_Grouped] = []
    for segment in segments:
        if bunch and sum(grouped.rows for grouped in bunch) + segment.rows > _BUDGET:
            yield bunch
            bunch = []
        bunch.append(segment)
    if bunch:
        yield bunch
