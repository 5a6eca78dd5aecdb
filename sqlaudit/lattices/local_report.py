"""What a report tells of the strategies of generalization: the safe node of smallest loss on each (OLA, step 2)."""

from __future__ import annotations

from collections.abc import Iterator

from sqlaudit.lattices.result import LatticeResult
from sqlaudit.reports.blocks import Block, Column, Paragraph, Table
from sqlaudit.reports.figures import count, figure, plural


def local_blocks(result: LatticeResult, measured: str, most: int) -> Iterator[Block]:
    """Sentences, and a table of the local optima with their `measured` loss, `most` of them."""
    local = result.local
    if local is None or not result.safe_nodes:
        return
    ways = plural(local.strategies, "strategy", "strategies")
    without = f"; {count(local.without)} without a safe node" if local.without else ""
    yield Paragraph(
        f"There {'is' if local.strategies == 1 else 'are'} {ways}{without}. A strategy is a way from the finest node "
        "to the coarsest, one level of one column at a step. Its local optimum is its safe node of smallest loss."
    )
    if local.falls:
        steps = plural(local.falls, "step")
        yield Paragraph(f"At {steps} from a safe node to the next, a coarser node loses less than a finer one.")
    if local.optima is None:
        yield Paragraph(
            "There are too many of these steps to count strategies by their local optimum: they are not counted."
        )
        return
    heads = (Column("levels"), Column(measured, True), Column("strategies", True))
    rows = tuple((",".join(map(str, one.levels)), figure(one.loss), count(one.strategies)) for one in local.optima)
    more = (
        f"The first {count(most)} of {plural(len(rows), 'local optimum', 'local optima')}" if len(rows) > most else ""
    )
    yield Table(heads, rows[:most], more)
