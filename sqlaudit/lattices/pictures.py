"""What a page draws of a lattice: its nodes with their verdicts, where safety begins, and what nodes lose.

A small lattice is drawn node by node (Hasse diagram: a line joins a node to one that is a single level coarser). Of a
larger one a grid shows, for the two columns that decide most, how many of the nodes with these levels are safe.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sqlaudit.lattices.result import LatticeNode, LatticeResult, Levels
from sqlaudit.reports.blocks import Column, Picture, Table
from sqlaudit.reports.figures import count, part

DRAWN = 120
"""Nodes that can be told apart in one picture."""
MOST_BARS = 20
_OPEN, _SAFE, _UNSAFE = "open", "safe", "unsafe"

Shares = tuple[int, int]
"""Safe nodes, and nodes in all."""


def nodes_picture(result: LatticeResult) -> Picture | None:
    """The lattice node by node; None when it is too large, has one node, or nothing is known of it."""
    if not _known(result) or not 1 < len(result.verdicts) <= DRAWN:
        return None
    kinds = _kinds(result)
    rows: dict[int, list[Levels]] = defaultdict(list)
    for node in kinds:
        rows[sum(node)].append(node)
    return Picture(
        "graph",
        f"Every node of the lattice: levels of {', '.join(_names(result))}; a line leads to a node one level coarser",
        {
            "nodes": [
                {"name": _said(node), "x": place - (len(row) - 1) / 2, "y": height, "kind": kinds[node]}
                for height, row in sorted(rows.items())
                for place, node in enumerate(row)
            ],
            "edges": [
                [_said(node), _said(above)]
                for node in kinds
                for above in (_one_up(node, place) for place in range(len(node)))
                if above in kinds
            ],
            "y": "sum of levels",
        },
    )


def grid_picture(result: LatticeResult) -> Picture | None:
    """Safe nodes by the levels of the two columns that decide most; None for lattices that are drawn node by node."""
    found = _grid(result)
    if found is None:
        return None
    (low, high), shares = found
    rows, columns = _levels_of(result, low), _levels_of(result, high)
    cells = [[shares[y, x] for x in range(len(columns))] for y in range(len(rows))]
    names = _names(result)
    return Picture(
        "heat",
        f"Of the nodes with these levels of {names[low]} and {names[high]}, how many are safe"
        f"{' (as far as is known)' if None in result.verdicts else ''}: a full square is all of them"
        f"{', a frame is around those of the chosen node' if result.best else ''}",
        {
            "rows": rows,
            "columns": columns,
            "values": [[safe / nodes for safe, nodes in row] for row in cells],
            "texts": [[part(safe, nodes) if safe else "" for safe, nodes in row] for row in cells],
            "x": names[high],
            "y": names[low],
            **({"marked": [result.best.levels[low], result.best.levels[high]]} if result.best else {}),
        },
    )


def grid_table(result: LatticeResult) -> Table | None:
    """The same in numbers."""
    found = _grid(result)
    if found is None:
        return None
    (low, high), shares = found
    names = _names(result)
    rows = tuple(
        (
            level,
            *(
                f"{count(safe)} of {count(nodes)}"
                for safe, nodes in (shares[y, x] for x in range(_width(result, high)))
            ),
        )
        for y, level in enumerate(_levels_of(result, low))
    )
    heads = (Column(names[low]), *(Column(level, True) for level in _levels_of(result, high)))
    return Table(heads, rows, f"Safe nodes by the levels of {names[low]} (lines) and {names[high]}")


def heights_table(result: LatticeResult) -> Table | None:
    """How many nodes are safe at which height of the lattice; None when nothing is known."""
    if not _known(result):
        return None
    tally: Counter[tuple[int, bool | None]] = Counter(
        (sum(node), verdict) for node, verdict in zip(result.every_node(), result.verdicts, strict=True)
    )
    undecided = any(verdict is None for verdict in result.verdicts)
    rows = tuple(
        (
            count(height),
            count(sum(tally[height, verdict] for verdict in (True, False, None))),
            count(tally[height, True]),
            count(tally[height, False]),
            *((count(tally[height, None]),) if undecided else ()),
        )
        for height in range(1 + sum(column.height for column in result.searched))
    )
    titles = ("sum of levels", "nodes", "safe", "not safe", *(("not decided",) if undecided else ()))
    return Table(tuple(Column(title, True) for title in titles), rows, "How many nodes are safe at which height")


def losses_picture(nodes: Sequence[LatticeNode], title: str) -> Picture | None:
    """What nodes lose, the least first; None with fewer than two losses."""
    priced = [node for node in nodes if node.loss is not None][:MOST_BARS]
    if len(priced) < 2:
        return None
    return Picture(
        "bars",
        f"{title} of safe nodes, the least first",
        {
            "names": [_said(node.levels) for node in priced],
            "series": {title: [float(node.loss or 0) for node in priced]},
            "x": title,
        },
    )


def _known(result: LatticeResult) -> bool:
    return any(verdict is not None for verdict in result.verdicts)


def _kinds(result: LatticeResult) -> Mapping[Levels, str]:
    """How each node is drawn."""
    signs = {True: _SAFE, False: _UNSAFE, None: _OPEN}
    kinds = {node: signs[verdict] for node, verdict in zip(result.every_node(), result.verdicts, strict=True)}
    kinds |= {node.levels: "minimal" for node in result.minimal or ()}
    return kinds | ({result.best.levels: "best"} if result.best else {})


def _grid(result: LatticeResult) -> tuple[tuple[int, int], Mapping[tuple[int, int], Shares]] | None:
    """Two columns, that of fewer levels first, and the safe nodes of all by their levels.

    Of all pairs it is the one whose shares are the farthest apart.
    """
    able = [place for place, column in enumerate(result.searched) if column.height]
    if len(result.verdicts) <= DRAWN or len(able) < 2 or not any(result.verdicts):
        return None
    widths = [_width(result, place) for place in range(len(result.searched))]
    safe = np.array([verdict is True for verdict in result.verdicts]).reshape(widths)
    tallies = {pair: _tally(safe, pair) for pair in combinations(able, 2)}
    chosen = max(tallies, key=lambda pair: (_spread(tallies[pair]), -pair[0], -pair[1]))
    low, high = sorted(chosen, key=lambda place: (_width(result, place), place))
    return (low, high), _tally(safe, (low, high))


def _tally(safe: NDArray[np.bool_], pair: tuple[int, int]) -> dict[tuple[int, int], Shares]:
    """The safe nodes by the levels of two columns; every pair of levels has as many nodes."""
    table = safe.sum(axis=tuple(place for place in range(safe.ndim) if place not in pair))
    table = table if pair[0] < pair[1] else table.T
    nodes = safe.size // table.size
    return {(y, x): (number, nodes) for y, row in enumerate(table.tolist()) for x, number in enumerate(row)}


def _spread(shares: Mapping[tuple[int, int], Shares]) -> float:
    """The variance of the shares: columns whose levels make no difference have none."""
    values = [safe / nodes for safe, nodes in shares.values()]
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / len(values)


def _levels_of(result: LatticeResult, place: int) -> list[str]:
    column = result.searched[place]
    return [f"{level} {column.called(level)}" for level in range(len(column.levels))]


def _width(result: LatticeResult, place: int) -> int:
    return result.searched[place].height + 1


def _names(result: LatticeResult) -> list[str]:
    return [column.name for column in result.searched]


def _one_up(node: Levels, place: int) -> Levels:
    return (*node[:place], node[place] + 1, *node[place + 1 :])


def _said(node: Levels) -> str:
    return ",".join(map(str, node))
