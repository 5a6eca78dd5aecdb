"""Column sets as Python ints, the border between those with and without a property, and hitting sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from math import comb

from sqlaudit.base.errors import NODES, BudgetSpent, Stop, never
from sqlaudit.base.frozen import dataclass

# Column sets as Python ints: bit i stands for column i, so a table may have any number of columns.


def bits(mask: int) -> list[int]:
    """The positions of the bits that are set, ascending.

    Example:
        >>> bits(0b1011)
        [0, 1, 3]
    """
    out = []
    while mask:
        low = mask & -mask
        out.append(low.bit_length() - 1)
        mask ^= low
    return out


def mask_of(positions: Iterable[int]) -> int:
    """The set of the given columns.

    Example:
        >>> mask_of([0, 1, 3])
        11
    """
    return sum(1 << position for position in set(positions))


def without_one(mask: int) -> Iterator[int]:
    """All subsets with one column less."""
    return (mask ^ 1 << position for position in bits(mask))


def subsets_up_to(columns: int, size: int) -> Iterator[int]:
    """All sets of at most `size` columns, small sets first."""
    for members in range(min(size, columns) + 1):
        for chosen in combinations(range(columns), members):
            yield mask_of(chosen)


def count_subsets(columns: int, size: int | None) -> int:
    """How many sets of at most `size` columns there are (None = of any size).

    Example:
        >>> count_subsets(20, 4)
        6196
    """
    if size is None or size >= columns:
        return int(2**columns)
    return sum(comb(columns, members) for members in range(size + 1))


def minimal_only(masks: Iterable[int]) -> list[int]:
    """The sets that contain no other one, small sets first.

    Example:
        >>> minimal_only([0b110, 0b010, 0b101])
        [2, 5]
    """
    kept: list[int] = []
    for mask in sorted(set(masks), key=lambda m: (m.bit_count(), m)):
        if not any(small & mask == small for small in kept):
            kept.append(mask)
    return kept


def names(mask: int, columns: Sequence[str]) -> tuple[str, ...]:
    """The names of a set's columns, in the table's order."""
    return tuple(columns[position] for position in bits(mask))


@dataclass(frozen=True)
class FoundSets:
    """What a walker found.

    Args:
        minimal: the minimal sets, each proven (all its subsets lack the property).
        maximal_safe: maximal sets without the property, the proof that nothing is missing when `complete`.
        complete: whether every minimal set (up to the size limit) is in `minimal`.
        decided_size: every set of at most so many columns is decided; None when sizes were not walked in order.
        open_sets: sets that still have to be decided before anything more can be said; 0 when complete.
        decided: how many sets were asked about.
        by_hand: whether somebody stopped the walk.
    """

    minimal: tuple[int, ...]
    maximal_safe: tuple[int, ...]
    complete: bool
    decided: int
    decided_size: int | None = None
    open_sets: int = 0
    by_hand: bool = False


def ordered(masks: Iterable[int]) -> tuple[int, ...]:
    """Small sets first, then by their columns' positions."""
    return tuple(sorted(set(masks), key=lambda mask: (mask.bit_count(), bits(mask))))


# Minimal and minimum hitting sets.
#
# A column set Q separates two rows unless it lies inside their agree set, so Q has the wanted property exactly when it
# hits the complement of every maximal set that lacks it. `minimal_hitting_sets` is MMCS (Murakami and Uno, *Efficient
# algorithms for dualizing large-scale hypergraphs*, Discrete Applied Mathematics 170, 2014) on bit sets of edges.

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
    member: dict[int, int] = {}  # for every vertex the set of edges that contain it
    for number, edge in enumerate(minimal):
        for vertex in bits(edge):
            member[vertex] = member.get(vertex, 0) | 1 << number
    # a frame: chosen vertices, for each the edges that only it hits, edges not hit yet, vertices still allowed
    stack: list[tuple[int, tuple[int, ...], int, int]] = [(0, (), (1 << len(minimal)) - 1, mask_of(member))]
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
        branch = _narrow_edge(minimal, open_edges, allowed)
        allowed &= ~branch
        for vertex in bits(branch):
            hit = member[vertex]
            if room == 1 and open_edges & ~hit:
                # no size left for what this vertex leaves open; later siblings may still use it as a member
                if all(edge & ~hit for edge in critical):
                    allowed |= 1 << vertex
                continue
            narrowed = tuple(edge & ~hit for edge in critical)
            if all(narrowed):
                stack.append((chosen | 1 << vertex, (*narrowed, open_edges & hit), open_edges & ~hit, allowed))
                allowed |= 1 << vertex


def _look(nodes: int, stop: Stop) -> None:
    if nodes % NODES == 0 and stop():
        raise BudgetSpent


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
        for vertex in sorted(bits(edge), key=lambda vertex: (-sum(e >> vertex & 1 for e in left), vertex)):
            bit = 1 << vertex
            stack.append((chosen | bit, [e for e in left if not e & bit], excluded))
            excluded |= bit
    return best


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
