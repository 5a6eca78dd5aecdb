"""From an unsafe node up to a maximal one, asking little; several climbs side by side.

A climb is a generator that yields the node it wants to know and is sent whether the inherited requirements hold there,
so that one question carries the next node of every climb.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence

from sqlaudit.lattices.verdicts import Node

Climb = Generator[Node, bool, Node]
Known = Callable[[Node], bool | None]
Settle = Callable[[Sequence[Node]], list[bool]]


def climb_to_border(start: Node, heights: Sequence[int], order: Sequence[int]) -> Climb:
    """Go from a node where the inherited requirements fail to a coarsest such node.

    Columns are raised to their top in blocks that double while the node keeps failing and halve when it does not; a
    column that cannot be raised to its top is raised as far as it can be, by binary search. What was too high for a
    column stays so when others rise, so one pass is enough.

    Args:
        start: a node that fails. order: the columns, those to be raised first first.

    Returns:
        A node that fails while every node strictly above it passes.
    """
    node, at, block = list(start), 0, 1
    left = [column for column in order if node[column] < heights[column]]
    while at < len(left):
        columns = left[at : at + block]
        raised = [heights[column] if column in columns else level for column, level in enumerate(node)]
        if not (yield tuple(raised)):
            node, at, block = raised, at + len(columns), 2 * block
        elif len(columns) > 1:
            block = len(columns) // 2
        else:
            node[columns[0]] = yield from _highest(node, columns[0], heights[columns[0]])
            at += 1
    return tuple(node)


def _highest(node: Sequence[int], column: int, passing: int) -> Generator[Node, bool, int]:
    """The highest level of the column at which the node fails; `passing` is known to be too high."""
    failing = node[column]
    while passing - failing > 1:
        middle = (passing + failing) // 2
        if (yield (*node[:column], middle, *node[column + 1 :])):
            passing = middle
        else:
            failing = middle
    return failing


def side_by_side(climbs: Iterable[Climb], known: Known, settle: Settle) -> list[Node]:
    """Where the climbs end, in their order; they are answered from what is known, else together."""
    running = list(climbs)
    ends: list[Node | None] = [None] * len(running)
    wanted: dict[int, Node] = {}

    def advance(number: int, answer: bool | None) -> None:
        try:
            node = next(running[number]) if answer is None else running[number].send(answer)
            while (seen := known(node)) is not None:
                node = running[number].send(seen)
            wanted[number] = node
        except StopIteration as end:
            ends[number] = end.value

    for number in range(len(running)):
        advance(number, None)
    while wanted:
        asked, wanted = wanted, {}
        nodes = list(dict.fromkeys(asked.values()))
        answers = dict(zip(nodes, settle(nodes), strict=True))
        for number, node in asked.items():
            advance(number, answers[node])
    return [end for end in ends if end is not None]
