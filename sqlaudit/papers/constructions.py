"""Tables whose best answer is that of a problem on graphs or sets: hard cases with known optima, of any size."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def set_cover_rows(elements: int, family: Sequence[Collection[int]]) -> list[tuple[str, ...]]:
    """A table whose smallest identifying column set is the smallest cover (Yuan, 4.1).

    Args:
        elements: how many, numbered from 1. family: the sets that may cover them, a column each.

    Returns a row for each element, with its number in the columns whose set holds it, and one row of ⊥ alone.

    >>> set_cover_rows(2, [{1}, {1, 2}])
    [('1', '1'), ('⊥', '2'), ('⊥', '⊥')]
    """
    rows = [tuple(str(one) if one in chosen else "⊥" for chosen in family) for one in range(1, elements + 1)]
    return [*rows, ("⊥",) * len(family)]


def hard_rows(vertices: int, edges: Sequence[tuple[int, int]]) -> list[tuple[str, str, str]]:
    """A table of three columns that costs 27 vertices + 2 edges + 14 + the smallest vertex cover to make 7-anonymous by
    suppression (Chakaravarthy, Pandit, Sabharwal, 3.1).

    Args:
        vertices: how many, numbered from 0. edges: three at each vertex.

    >>> len(hard_rows(4, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]))
    106
    """
    specials = iter(range(1_000_000))

    def special() -> str:
        return f"?{next(specials)}"

    rows = []
    for vertex in map(str, range(vertices)):
        rows += [("0", vertex, vertex)] * 6
        rows += [(special(), vertex, vertex)]
        rows += [(special(), vertex, special()) for _ in range(7)]
        rows += [("0", vertex, "Z")] * 3 + [("0", "Z", vertex)] * 3
    for x, y in edges:
        rows += [("0", str(x), str(y)), ("0", str(y), str(x))]
    rows += [("0", special(), "Z") for _ in range(7)]
    return rows + [("0", "Z", special()) for _ in range(7)]


def clique_rows(vertices: int, edges: Sequence[tuple[int, int]], first: int, size: int) -> list[tuple[list[int], str]]:
    """A table whose cheapest 2-diverse suppression tells how many edges `size` vertices with `first` among them have
    (Hsu, construction 5.2.3): |E|K² − mK + 4K|E|(|V|−K), with m the most edges.

    Args:
        vertices: how many, numbered from 1. edges: of the graph. first, size: v1 and K.

    Returns the cells of each row with its sensitive value, `black` or `white`.

    >>> rows = clique_rows(3, [(1, 2), (2, 3)], 1, 2)
    >>> len(rows), len(rows[0][0]), [value for _, value in rows]
    (4, 10, ['black', 'white', 'white', 'black'])
    """
    order = [first, *(vertex for vertex in range(1, vertices + 1) if vertex != first)]
    block, lower = len(edges) * (2 * size - 1), vertices - size
    rows = [
        (_edge_cells(vertices, edges, vertex) + [0] * block * lower, "white" if number else "black")
        for number, vertex in enumerate(order)
    ]
    for number in range(lower):
        marks = [0] * block * number + [1] * block + [0] * block * (lower - number - 1)
        rows.append(([0] * len(edges) * (vertices - 1) + marks, "black"))
    return rows


def _edge_cells(vertices: int, edges: Sequence[tuple[int, int]], vertex: int) -> list[int]:
    """A group of columns for each edge: 1 and 2 in the first for its ends, 1 in one of its own for anybody else."""
    cells = []
    for p, q in edges:
        group = [0] * (vertices - 1)
        if vertex in (p, q):
            group[0] = 1 if vertex == p else 2
        else:
            group[1 + [other for other in range(1, vertices + 1) if other not in (p, q)].index(vertex)] = 1
        cells += group
    return cells
