"""Minimal and minimum hitting sets.

A column set Q separates two rows unless it lies inside their agree set, so Q has the wanted property exactly when
it hits the complement of every maximal set that lacks it. `minimal_hitting_sets` is MMCS (Murakami and Uno, *Efficient
algorithms for dualizing large-scale hypergraphs*, Discrete Applied Mathematics 170, 2014) on bit sets of edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlaudit.column_sets.budget import NODES, BudgetSpent, Stop, never
from sqlaudit.column_sets.masks import bits, minimal_only

_SCANNED_EDGES = 24
"""How many unhit edges are looked at to find a narrow one; a full scan costs more than it saves."""


def minimal_hitting_sets(
    edges: Iterable[int], max_size: int | None = None, *, are_minimal: bool = False, stop: Stop = never
) -> Iterator[int]:
    """All inclusion-minimal sets that meet every edge, each once, as far as they have at most `max_size` elements.

    Args:
        edges: sets as masks. No edge at all: the empty set is the answer. An empty edge: there is none.
        max_size: the largest size wanted; None = any.
        are_minimal: the caller promises that no edge contains another one.
        stop: asked every `NODES` nodes.

    Raises:
        BudgetSpent: `stop` said so; what was yielded before is right.

    Example:
        >>> sorted(minimal_hitting_sets([0b011, 0b110]))
        [2, 5]
    """
    minimal = sorted(edges, key=int.bit_count) if are_minimal else minimal_only(edges)
    if minimal and minimal[0] == 0:
        return
    limit = len(minimal) if max_size is None else max_size
    everything = 0
    for edge in minimal:
        everything |= edge
    yield from _mmcs(minimal, _membership(minimal), everything, limit, stop)


def _membership(edges: Sequence[int]) -> dict[int, int]:
    """For every vertex the set of edges that contain it."""
    member: dict[int, int] = {}
    for number, edge in enumerate(edges):
        for vertex in bits(edge):
            member[vertex] = member.get(vertex, 0) | 1 << number
    return member


def _mmcs(edges: Sequence[int], member: dict[int, int], everything: int, limit: int, stop: Stop) -> Iterator[int]:
    # a frame: chosen vertices, for each the edges that only it hits, edges not hit yet, vertices still allowed
    stack: list[tuple[int, tuple[int, ...], int, int]] = [(0, (), (1 << len(edges)) - 1, everything)]
    nodes = 0
    while stack:
        nodes += 1
        _look(nodes, stop)
        chosen, critical, open_edges, allowed = stack.pop()
        if not open_edges:
            yield chosen
            continue
        room = limit - len(critical)
        if room <= 0:
            continue
        branch = _narrow_edge(edges, open_edges, allowed)
        allowed &= ~branch
        for vertex in bits(branch):
            hit = member[vertex]
            if room == 1 and open_edges & ~hit:
                # no size left for what this vertex leaves open; later siblings may still use it as a member
                if _still_critical(critical, hit):
                    allowed |= 1 << vertex
                continue
            narrowed = tuple(edge & ~hit for edge in critical)
            if all(narrowed):
                stack.append((chosen | 1 << vertex, (*narrowed, open_edges & hit), open_edges & ~hit, allowed))
                allowed |= 1 << vertex


def _look(nodes: int, stop: Stop) -> None:
    if nodes % NODES == 0 and stop():
        raise BudgetSpent


def _still_critical(critical: tuple[int, ...], hit: int) -> bool:
    return all(edge & ~hit for edge in critical)


def _narrow_edge(edges: Sequence[int], open_edges: int, allowed: int) -> int:
    """The allowed part of an open edge, as small as a short look finds it."""
    best, size = 0, -1
    for _ in range(_SCANNED_EDGES):
        if not open_edges:
            break
        low = open_edges & -open_edges
        open_edges ^= low
        part = edges[low.bit_length() - 1] & allowed
        count = part.bit_count()
        if size < 0 or count < size:
            best, size = part, count
            if count <= 1:
                break
    return best


def minimum_hitting_set(edges: Iterable[int], stop: Stop = never) -> int | None:
    """A smallest set that meets every edge, by branch and bound; None when an edge is empty.

    The bound: edges without a common element each need an element of their own. `stop` is asked every `NODES` nodes.

    Raises:
        BudgetSpent: `stop` said so.

    Example:
        >>> minimum_hitting_set([0b011, 0b110])
        2
    """
    minimal = minimal_only(edges)
    if minimal and minimal[0] == 0:
        return None
    best = _greedy(minimal)
    stack = [(0, minimal, 0)]
    nodes = 0
    while stack:
        nodes += 1
        _look(nodes, stop)
        chosen, left, excluded = stack.pop()
        if not left:
            if chosen.bit_count() < best.bit_count():
                best = chosen
            continue
        if chosen.bit_count() + _disjoint(left, excluded) >= best.bit_count():
            continue
        edge = min((e & ~excluded for e in left), key=int.bit_count)
        for vertex in _by_degree(edge, left):
            bit = 1 << vertex
            stack.append((chosen | bit, [e for e in left if not e & bit], excluded))
            excluded |= bit
    return best


def _by_degree(edge: int, left: Sequence[int]) -> list[int]:
    return sorted(bits(edge), key=lambda vertex: (-sum(e >> vertex & 1 for e in left), vertex))


def _greedy(edges: Sequence[int]) -> int:
    chosen, left = 0, list(edges)
    while left:
        degree: dict[int, int] = {}
        for edge in left:
            for vertex in bits(edge):
                degree[vertex] = degree.get(vertex, 0) + 1
        bit = 1 << max(degree, key=lambda vertex: (degree[vertex], -vertex))
        chosen |= bit
        left = [edge for edge in left if not edge & bit]
    return chosen


def _disjoint(edges: Sequence[int], excluded: int) -> int:
    """A lower bound: how many pairwise disjoint edges a greedy pass finds (an edge without a vertex: no solution)."""
    used = count = 0
    for edge in sorted((e & ~excluded for e in edges), key=int.bit_count):
        if not edge:
            return 1 << 30
        if not edge & used:
            used |= edge
            count += 1
    return count
