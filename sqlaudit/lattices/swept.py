"""The figures of all nodes of a lattice from one sweep: the models and losses that judge its classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sqlaudit.base.errors import Stop, never
from sqlaudit.lattices.coding import KeyLayout
from sqlaudit.lattices.figures import NodeFigures
from sqlaudit.lattices.losses import Losses
from sqlaudit.lattices.parts import NodeLosses
from sqlaudit.lattices.rollup import Chunk, Rollup
from sqlaudit.lattices.sweep import BITS, Checks, Integers, RankedColumn, Sweep, SweptNode
from sqlaudit.lattices.verdicts import Node, Shortfall, Verdict

MOST_WORDS = 8
"""Words of counts beside a key: with more, the vectors take more room than the table."""
_VECTORS = "sqlaudit_lattice_vectors"


@dataclass(frozen=True)
class NodeSweep:
    """Decides and prices all nodes at once.

    Args:
        sweep: has their classes. figures: has the checks of the sweep. losses: price nodes.
    """

    sweep: Sweep
    figures: NodeFigures
    losses: Losses

    def node(self, node: Node) -> tuple[Verdict, float | None]:
        """Return the verdict and the loss of one node."""
        return self._judged(self.sweep.node(node), self.figures.rows)

    def nodes(
        self, nodes: Sequence[Node], priced_rows: int, stop: Stop = never
    ) -> Iterator[tuple[Verdict, float | None]]:
        """Yield the verdicts of nodes, and the losses of those with at most so many failing rows."""
        return (self._judged(swept, priced_rows) for swept in self.sweep.nodes(nodes, priced_rows, stop))

    def _judged(self, swept: SweptNode, priced_rows: int) -> tuple[Verdict, float | None]:
        parts = swept.parts
        checks = [check.item for block in self.figures.blocks for check in block.checks]
        fails = tuple(
            Shortfall(item.requirement.text, item.sensitive, classes, rows)
            for item, (classes, rows) in zip(checks, swept.short, strict=False)
            if classes
        )
        safe = parts.failing_rows <= self.figures.limit_rows
        figures = (swept.classes, parts.failing_rows, swept.smallest, fails, swept.smallest_left)
        has_levels = all(a <= b.height for a, b in zip(parts.node, self.losses.columns, strict=True))
        priced = self.losses.of_classes and has_levels and parts.failing_rows <= priced_rows
        return Verdict(parts.node, safe, safe, *figures), self.losses.of(parts) if priced else None


def open_sweep(
    rollup: Rollup, layout: KeyLayout, figures: NodeFigures, node_losses: NodeLosses, losses: Losses
) -> NodeSweep | None:
    """Return what decides all nodes at once; None where single classes do not decide, or keys do not fit.

    Args:
        rollup: has the finest classes. layout: of their keys.
        figures: has the requirements. node_losses: has the weights of labels. losses: price nodes.
    """
    words = [word for block in figures.blocks for word in block.attribute.words]
    checks = [check for block in figures.blocks for check in block.checks]
    # with a column in several words, or with many words, ranks and vectors do not fit into the arrays
    spread = not layout.columns or any(sum(map(bool, column.masks(0, layout.words))) > 1 for column in layout.columns)
    if not figures.classes_decide or len(words) > MOST_WORDS or len(checks) > BITS - 1 or spread:
        return None
    keys, sizes, counts = rollup.read_base()
    columns = []
    homes = [max(range(layout.words), key=column.masks(0, layout.words).__getitem__) for column in layout.columns]
    for column, word in zip(layout.columns, homes, strict=True):
        masks = [column.masks(level, layout.words)[word] for level in range(max(1, column.height) + 1)]
        columns.append(RankedColumn(masks, keys[word]))
    if sum(column.width for column in columns) > BITS:
        return None
    weights = {}
    for (position, level), (*codes, label_weights) in node_losses.weights_by_key(losses.labels).items():
        ranked = columns[position]
        weights[position, level] = np.zeros(len(ranked.labels[level]))
        weights[position, level][ranked.rank(codes[homes[position]], level)] = label_weights
    fewest = [check.model.fewest for check in checks]

    def judge(vectors: Sequence[Integers]) -> Integers:
        if figures.by_size:
            failing = np.zeros(len(vectors[0]), dtype=np.int64)
            for place, least in enumerate(fewest):
                failing |= (vectors[0] < (least or 0)).astype(np.int64) << place
            return failing
        names = ("id", "n", *(name for name, _ in words))
        frame = dict(zip(names, (np.arange(len(vectors[0])), *vectors), strict=True))
        relation = figures.workbench.keep_frame(_VECTORS, frame)
        try:
            return figures.judge_vectors(Chunk(relation.sql, {}))
        finally:
            figures.workbench.drop(_VECTORS)

    least = max((least for least in fewest if least is not None), default=0)
    tests = Checks(len(checks), least, figures.by_size, [aggregate for _, aggregate in words], judge)
    sweep = Sweep(columns, (sizes, *counts), tests, losses, weights, figures.rows)
    return NodeSweep(sweep, figures, losses)
