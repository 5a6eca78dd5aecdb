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
from sqlaudit.lattices.sweep import BITS, CountVectors, Integers, RankedColumn, SizeVectors, Sweep, SweptNode
from sqlaudit.lattices.verdicts import Node, Shortfall, Verdict

MOST_WORDS = 8
"""Words of counts beside a key: with more, the vectors take more room than the table."""
_VECTORS = "sqlaudit_lattice_vectors"


@dataclass(frozen=True)
class NodeSweep:
    """Decides and prices all nodes at once.

    Args:
        sweep: has their classes. figures: has the checks of the sweep. losses: price nodes.
        is_priced: True if the sweep has all that the losses need.
    """

    sweep: Sweep
    figures: NodeFigures
    losses: Losses
    is_priced: bool

    def node(self, node: Node) -> tuple[Verdict, float | None]:
        """Return the verdict and the loss of one node."""
        return self._judged(self.sweep.node(node))

    def nodes(self, stop: Stop = never) -> Iterator[tuple[Verdict, float | None]]:
        """Yield the verdicts and losses of all nodes."""
        return map(self._judged, self.sweep.nodes(stop))

    def _judged(self, swept: SweptNode) -> tuple[Verdict, float | None]:
        parts = swept.parts
        checks = [check.item for block in self.figures.blocks for check in block.checks]
        fails = tuple(
            Shortfall(item.requirement.text, item.sensitive, classes, rows)
            for item, (classes, rows) in zip(checks, swept.short, strict=True)
            if classes
        )
        safe = parts.failing_rows <= self.figures.limit_rows
        figures = (swept.classes, parts.failing_rows, swept.smallest, fails, swept.smallest_left)
        priced = self.is_priced and all(a <= b.height for a, b in zip(parts.node, self.losses.columns, strict=True))
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
    spread = any(sum(map(bool, column.masks(0, layout.words))) > 1 for column in layout.columns)
    if figures.by_level or figures.disclosures or len(words) > MOST_WORDS or len(checks) > BITS - 1 or spread:
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
    vectors: SizeVectors | CountVectors
    if figures.by_size:
        vectors, base = SizeVectors([check.model.fewest or 0 for check in checks]), sizes
    else:

        def judge(sizes: Integers, words_of: Sequence[Integers]) -> Integers:
            names = ("id", "n", *(name for name, _ in words))
            frame = dict(zip(names, (np.arange(len(sizes)), sizes, *words_of), strict=True))
            relation = figures.workbench.keep_frame(_VECTORS, frame)
            try:
                return figures.judge_vectors(Chunk(relation.sql, {}))
            finally:
                figures.workbench.drop(_VECTORS)

        vectors = CountVectors(sizes, counts, [aggregate for _, aggregate in words], judge)
        base = vectors.base
    sweep = Sweep(columns, vectors, base, len(checks), losses, weights, figures.rows)
    return NodeSweep(sweep, figures, losses, not losses.wanted and not losses.measure.sensitive)
