"""Column sets as Python ints, the border between those with and without a property, and hitting sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from math import comb

from sqlaudit.base.errors import NODES, BudgetSpent, Stop, never
from sqlaudit.base.frozen import dataclass

# Column sets as Python ints: bit i stands for column i, so a table may have any number of columns.


def bits(mask: int) -> list[int]:
    """Return the positions of the bits that are set, ascending.

    Example:
        >>> bits(0b1011)
        [0, 1, 3]
    """
    positions = []
    while mask:
        low = mask & -mask
        positions.append(low.bit_length() - 1)
        mask ^= low
    return positions


def mask_of(positions: Iterable[int]) -> int:
    """Return the set of columns at these positions.

    Example:
        >>> mask_of([0, 1, 3])
        11
    """
    return sum(1 << position for position in set(positions))


def drop_each_column(mask: int) -> Iterator[int]:
    """Return all subsets with one column less."""
    return (mask ^ 1 << position for position in bits(mask))


def subsets_up_to(columns: int, size: int) -> Iterator[int]:
    """Yield all sets of at most `size` columns, small sets first."""
    for members in range(min(size, columns) + 1):
        for positions in combinations(range(columns), members):
            yield mask_of(positions)


def count_subsets(columns: int, size: int | None) -> int:
    """Return the number of sets of at most `size` columns (None = of any size).

    Example:
        >>> count_subsets(20, 4)
        6196
    """
    if size is None or size >= columns:
        return int(2**columns)
    return sum(comb(columns, members) for members in range(size + 1))


def keep_minimal(masks: Iterable[int]) -> list[int]:
    """Return the sets that contain no other set, small sets first.

    Example:
        >>> keep_minimal([0b110, 0b010, 0b101])
        [2, 5]
    """
    minimal: list[int] = []
    for mask in sorted(set(masks), key=lambda m: (m.bit_count(), m)):
        if not any(small & mask == small for small in minimal):
            minimal.append(mask)
    return minimal


def column_names(mask: int, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names of a set's columns, in the table's order."""
    return tuple(columns[position] for position in bits(mask))


@dataclass(frozen=True)
class FoundSets:
    """The outcome of a walk over column sets.

    Args:
        minimal: the minimal sets, each proven (all its subsets lack the property).
        maximal_safe: maximal sets without the property, the proof that nothing is missing when `complete`.
        complete: whether every minimal set (up to the size limit) is in `minimal`.
        decided_size: the size up to which every set is decided; None when sizes were not walked in order.
        open_sets: sets that have to be decided before more is proven; 0 when complete.
        decided: number of sets that were decided.
        by_hand: whether the user stopped the walk.
    """

    minimal: tuple[int, ...]
    maximal_safe: tuple[int, ...]
    complete: bool
    decided: int
    decided_size: int | None = None
    open_sets: int = 0
    by_hand: bool = False


def sort_masks(masks: Iterable[int]) -> tuple[int, ...]:
    """Return the different sets, small sets first, then by the positions of their columns."""
    return tuple(sorted(set(masks), key=lambda mask: (mask.bit_count(), bits(mask))))


# Minimal and minimum hitting sets.
#
# A column set Q separates two rows unless it lies inside their agree set, so Q has the wanted property exactly when it
# hits the complement of every maximal set that lacks it. `minimal_hitting_sets` is MMCS (Murakami and Uno, *Efficient
# algorithms for dualizing large-scale hypergraphs*, Discrete Applied Mathematics 170, 2014) on bit sets of edges.

_SCANNED_EDGES = 24
"""Unhit edges that are scanned for a narrow one; a full scan costs more than it saves."""


def minimal_hitting_sets(
    edges: Iterable[int], max_size: int | None = None, *, are_minimal: bool = False, stop: Stop = never
) -> Iterator[int]:
    """Yield each inclusion-minimal set that meets every edge and has at most `max_size` elements.

    Args:
        edges: sets as masks. Without edges, the empty set is the answer. With an empty edge, there is none.
        max_size: the largest size of a set; None = any.
        are_minimal: whether the caller knows that no edge contains another one.
        stop: called every `NODES` nodes.

    Raises:
        BudgetSpent: `stop` returned True; the sets yielded before are right.

    Example:
        >>> sorted(minimal_hitting_sets([0b011, 0b110]))
        [2, 5]
    """
    minimal = sorted(edges, key=int.bit_count) if are_minimal else keep_minimal(edges)
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
        _check_budget(nodes, stop)
        chosen, critical, open_edges, allowed = stack.pop()
        if not open_edges:
            yield chosen
            continue
        size_left = limit - len(critical)
        if size_left <= 0:
            continue
        branch = _pick_narrow_edge(minimal, open_edges, allowed)
        allowed &= ~branch
        for vertex in bits(branch):
            hit = member[vertex]
            if size_left == 1 and open_edges & ~hit:
                # no size left for what this vertex leaves open; later siblings may still use it as a member
                if all(edge & ~hit for edge in critical):
                    allowed |= 1 << vertex
                continue
            still_critical = tuple(edge & ~hit for edge in critical)
            if all(still_critical):
                stack.append((chosen | 1 << vertex, (*still_critical, open_edges & hit), open_edges & ~hit, allowed))
                allowed |= 1 << vertex


def _check_budget(nodes: int, stop: Stop) -> None:
    if nodes % NODES == 0 and stop():
        raise BudgetSpent


def _pick_narrow_edge(edges: Sequence[int], open_edges: int, allowed: int) -> int:
    """Return the allowed part of an open edge, the smallest among the first `_SCANNED_EDGES`."""
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
    """Return a smallest set that meets every edge, by branch and bound; None if an edge is empty.

    The bound: of pairwise disjoint edges, each needs another element. `stop` is called every `NODES` nodes.

    Raises:
        BudgetSpent: `stop` returned True.

    Example:
        >>> minimum_hitting_set([0b011, 0b110])
        2
    """
    minimal = keep_minimal(edges)
    if minimal and minimal[0] == 0:
        return None
    best = _hit_greedily(minimal)
    stack = [(0, minimal, 0)]
    nodes = 0
    while stack:
        nodes += 1
        _check_budget(nodes, stop)
        chosen, remaining, excluded = stack.pop()
        if not remaining:
            if chosen.bit_count() < best.bit_count():
                best = chosen
            continue
        if chosen.bit_count() + _count_disjoint(remaining, excluded) >= best.bit_count():
            continue
        edge = min((e & ~excluded for e in remaining), key=int.bit_count)
        for vertex in sorted(bits(edge), key=lambda vertex: (-sum(e >> vertex & 1 for e in remaining), vertex)):
            bit = 1 << vertex
            stack.append((chosen | bit, [e for e in remaining if not e & bit], excluded))
            excluded |= bit
    return best


def _hit_greedily(edges: Sequence[int]) -> int:
    """Return a set that meets every edge, by always adding the vertex of most unhit edges."""
    chosen, remaining = 0, list(edges)
    while remaining:
        degree: dict[int, int] = {}
        for edge in remaining:
            for vertex in bits(edge):
                degree[vertex] = degree.get(vertex, 0) + 1
        bit = 1 << max(degree, key=lambda vertex: (degree[vertex], -vertex))
        chosen |= bit
        remaining = [edge for edge in remaining if not edge & bit]
    return chosen


def _count_disjoint(edges: Sequence[int], excluded: int) -> int:
    """Return the number of pairwise disjoint edges that a greedy pass finds, a lower bound on a hitting set.

    With an edge without an allowed vertex, there is no solution, and the bound is larger than any set.
    """
    used = count = 0
    for edge in sorted((e & ~excluded for e in edges), key=int.bit_count):
        if not edge:
            return 1 << 30
        if not edge & used:
            used |= edge
            count += 1
    return count
