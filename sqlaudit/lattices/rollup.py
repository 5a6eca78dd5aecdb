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
"""Groups that a stage of a walk handles at a time: few enough to stay in a processor's cache."""
_SCAN = 4_000_000
"""Groups that one statement over scattered nodes reads."""
_WORTHWHILE = 50_000
"""From so many groups on it pays to group a coarser node first, and to keep it for later questions."""
_FEWER = 8
"""How many times fewer groups than the finest node one must have to be a start for several others."""
_DENSE = 0.4
"""From this share of asked nodes on, all nodes between the lowest and highest levels are walked."""


@dataclass(frozen=True)
class Chunk:
    """The classes of some nodes: a FROM item with id, key words, n and words of lanes, and the nodes by id.

    `sql` may hold classes of further ids.
    """

    sql: str
    nodes: dict[int, Node]

    def only(self, places: Iterable[int]) -> Chunk:
        """Some of the nodes, by their ids."""
        return Chunk(self.sql, {place: self.nodes[place] for place in places})


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
    """

    def __init__(self, workbench: Engine, layout: KeyLayout, base: Relation, words: Sequence[tuple[str, str]]) -> None:
        self._workbench, self._layout, self._words = workbench, layout, list(words)
        finest = (0,) * len(layout.columns)
        self.base = _Grouped(base.sql, (finest,), self._count(base.sql))
        self._kept: dict[Node, _Grouped] = {finest: self.base}
        self._labels: list[list[int]] = []
        self._made = 0

    def walk(self, nodes: Sequence[Node]) -> Iterator[Chunk]:
        """The classes of all nodes, chunk by chunk; a chunk may be read until the next one is asked for."""
        wanted = list(dict.fromkeys(nodes))
        if not wanted:
            return
        levels = [sorted({node[i] for node in wanted}) for i in range(len(wanted[0]))]
        created: list[_Grouped] = []
        if len(wanted) >= 8 and len(wanted) >= _DENSE * math.prod(len(each) for each in levels):
            root = self._start(_meet(wanted), created)
            yield from self._grid(root, levels, wanted)
        else:
            yield from self._scattered(wanted, self._starts(wanted, created))
        for grouped in created:
            self._workbench.drop(grouped.name)

    def release(self) -> None:
        """Drop everything that was kept."""
        for grouped in self._kept.values():
            if grouped.name:
                self._workbench.drop(grouped.name)
        self._kept = {self.base.nodes[0]: self.base}

    # --- where to start ---

    def smallest(self, node: Node) -> _Grouped:
        """The kept node with the fewest groups that is finer than a node, or the same."""
        return _smallest(self._kept.values(), node)

    def read(self, grouped: _Grouped) -> tuple[tuple[Any, ...], Any]:
        """The words of the keys of a node's classes, and their rows, as arrays."""
        statement = render(
            "lattices/lattice_keys.sql", self._workbench.dialect, step="keys", key=self._layout.key, grouped=grouped
        )
        *words, sizes = self._workbench.columns_as_arrays(statement).values()
        return tuple(words), sizes

    def read_some(self, node: Node, most: int) -> tuple[tuple[Any, ...], Any] | None:
        """Like `read`, of some classes of a node, whole ones drawn by their keys; None when all are at most `most`."""
        source = self.smallest(node)
        if min(source.rows, self._most(node)) <= most:
            return None
        drawn = 2 ** (source.rows // most).bit_length() - 1
        some = self._step(source, self._layout.masks(node), drawn=drawn)
        return self.read(_Grouped("(" + some.sql + ")", (node,), most))

    def _start(self, node: Node, created: list[_Grouped]) -> _Grouped:
        """A node, grouped. It is kept for later questions when it has at most half of the groups that it was made of;
        otherwise it is one of the `created`, to be dropped."""
        source = self.smallest(node)
        if source.nodes[0] == node:
            return source
        made = self._materialize(self._step(source, self._layout.masks(node)), (node,))
        if made.rows <= source.rows // 2:
            self._keep(made)
        else:
            created.append(made)
        return made

    def _starts(self, wanted: Sequence[Node], created: list[_Grouped]) -> list[_Grouped]:
        """What wanted nodes may start from. With many groups nodes are grouped that are finer than several of them, and
        each has its choice; with few, a statement costs more than its groups, and all start from one."""
        dear = [node for node in wanted if self.smallest(node).rows >= _WORTHWHILE]
        if not dear:
            meet = _meet(wanted)
            return [self._start(meet, created) if len(wanted) >= 8 else self.smallest(meet)]
        for nodes in self._bundles(dear):
            self._start(_meet(nodes), created)
        return [*self._kept.values(), *created]

    def _bundles(self, nodes: Sequence[Node]) -> list[list[Node]]:
        """Nodes together as long as the node finer than all of them surely has far fewer groups than the finest."""
        most = {node: self._most(node) for node in nodes}
        bundles: list[tuple[Node, list[Node]]] = []
        for node in sorted(nodes, key=lambda one: -most[one]):
            for place, (meet, members) in enumerate(bundles):
                joined = _meet([meet, node])
                if joined == meet or self._most(joined) <= self.base.rows // _FEWER:
                    bundles[place] = (joined, [*members, node])
                    break
            else:
                bundles.append((node, [node]))
        return [members for _, members in bundles]

    def _most(self, node: Node) -> int:
        """As many groups as a node can have at most: the product of its columns' labels."""
        if not self._labels:
            self._labels = [self._counted(column) for column in self._layout.columns]
        return math.prod(labels[level] for labels, level in zip(self._labels, node, strict=True))

    def _counted(self, column: CodedColumn) -> list[int]:
        """How many labels a column has at each level."""
        masks = [column.masks(level, self._layout.words) for level in range(max(1, column.height) + 1)]
        statement = render(
            "lattices/lattice_label_counts.sql",
            self._workbench.dialect,
            step="labels of " + column.label,
            codes=column.codes,
            levels=masks,
        )
        return [int(count) for count in self._workbench.run(statement)[0]]

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

    def _scattered(self, wanted: Sequence[Node], starts: Sequence[_Grouped]) -> Iterator[Chunk]:
        """Each node from the start with the fewest groups, those with the same one together."""
        together: dict[Node, tuple[_Grouped, list[Node]]] = {}
        for node in wanted:
            source = _smallest(starts, node)
            together.setdefault(source.nodes[0], (source, []))[1].append(node)
        for source, nodes in together.values():
            if nodes == [source.nodes[0]]:
                yield Chunk(source.sql, {0: nodes[0]})
                continue
            size = max(1, _SCAN // max(1, source.rows))
            for begin in range(0, len(nodes), size):
                part = nodes[begin : begin + size]
                yield Chunk("(" + self._plan(source, part).sql + ")", dict(enumerate(part)))

    def _plan(self, source: _Grouped, nodes: Sequence[Node]) -> Statement:
        """The classes of nodes, numbered in their order, from one finer node."""
        if len(nodes) == 1:
            return self._step(source, self._layout.masks(nodes[0]))
        plan = [(0, place, *self._layout.masks(node)) for place, node in enumerate(nodes)]
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

    def _grid(self, root: _Grouped, levels: list[list[int]], wanted: Sequence[Node]) -> Iterator[Chunk]:
        """All combinations of levels, of which the wanted ones are given out."""
        lowest = tuple(each[0] for each in levels)
        asked = set(wanted)
        start = _Grouped(root.sql, (lowest,), root.rows)
        if root.nodes[0] != lowest:
            start = self._materialize(self._step(root, self._layout.masks(lowest)), (lowest,))
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
                above = tuple(at_level(node, column, level) for node in merged.nodes)
                ids = [place for place, node in enumerate(above) if node in asked]
                if ids:
                    step = self._step(merged, self._clearing(column, level), ids if len(ids) < len(above) else [])
                    yield Chunk("(" + step.sql + ")", {place: above[place] for place in ids})
            return
        created = []
        finer = merged
        for level in levels[column][1:]:
            above = tuple(at_level(node, column, level) for node in merged.nodes)
            finer = self._materialize(self._step(finer, self._clearing(column, level)), above)
            created.append(finer)
        for bunch in _bunches([*segments, *created]):
            yield from self._stage(bunch, rest, levels, asked)
        for grouped in created:
            self._workbench.drop(grouped.name)

    # --- statements ---

    def _clearing(self, column: int, level: int) -> tuple[int, ...]:
        """Masks that leave a level of one column, and all of the others."""
        return self._layout.masks(at_level((0,) * len(self._layout.columns), column, level))

    def _step(self, source: _Grouped, masks: Sequence[int], ids: Sequence[int] = (), drawn: int = 0) -> Statement:
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

    def _materialize(self, statement: Statement, nodes: tuple[Node, ...]) -> _Grouped:
        self._made += 1
        name = f"sqlaudit_lattice_{self._made}"
        relation = self._workbench.materialize(name, statement)
        return _Grouped(relation.sql, nodes, self._count(relation.sql), name)

    def _count(self, source: str) -> int:
        statement = render("base/row_count.sql", self._workbench.dialect, step="groups", source=Raw(source))
        return int(self._workbench.run(statement)[0][0])


def _smallest(grouped: Iterable[_Grouped], node: Node) -> _Grouped:
    """The one with the fewest groups that is finer than a node."""
    return min((one for one in grouped if is_finer(one.nodes[0], node)), key=lambda one: one.rows)


def _meet(nodes: Sequence[Node]) -> Node:
    return tuple(map(min, zip(*nodes, strict=True)))


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
        parts.append((segment, len(nodes)))
        nodes += segment.nodes
    statement = render("lattices/lattice_union.sql", "duckdb", step="nodes together", segments=parts)
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
