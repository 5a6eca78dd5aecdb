"""The papers' own example tables, by name, and hard cases with known best answers."""

from __future__ import annotations

import csv
import difflib
import io
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlaudit.base.errors import UsageError

# Tables whose best answer is that of a problem on graphs or sets: hard cases with known optima, of any size.


def set_cover_rows(elements: int, family: Sequence[Collection[int]]) -> list[tuple[str, ...]]:
    """Return a table whose smallest identifying column set is the smallest cover (Yuan, 4.1).

    Args:
        elements: how many, numbered from 1.
        family: the sets that may cover them, a column each.

    Returns:
        A row for each element, with its number in the columns whose set contains it, and one row of ⊥.

    Example:
        >>> set_cover_rows(2, [{1}, {1, 2}])
        [('1', '1'), ('⊥', '2'), ('⊥', '⊥')]
    """
    rows = [
        tuple(str(element) if element in chosen else "⊥" for chosen in family) for element in range(1, elements + 1)
    ]
    return [*rows, ("⊥",) * len(family)]


def hard_rows(vertices: int, edges: Sequence[tuple[int, int]]) -> list[tuple[str, str, str]]:
    """Return a table of three columns whose cheapest 7-anonymous suppression depends on the smallest vertex cover.

    It costs 27 vertices + 2 edges + 14 + the smallest vertex cover (Chakaravarthy, Pandit, Sabharwal, 3.1).

    Args:
        vertices: how many, numbered from 0.
        edges: three at each vertex.

    Example:
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
    """Return a table whose cheapest 2-diverse suppression depends on the edges among `size` vertices.

    With m the most edges among `size` vertices, one of which is `first`, it costs |E|K² − mK + 4K|E|(|V|−K) (Hsu,
    construction 5.2.3).

    Args:
        vertices: how many, numbered from 1.
        edges: of the graph.
        first, size: v1 and K.

    Returns:
        The cells of each row with its sensitive value, `black` or `white`.

    Example:
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
    """Return the cells of a vertex, a group for each edge: ends have 1 and 2 in the first, others 1 later on."""
    cells = []
    for p, q in edges:
        group = [0] * (vertices - 1)
        if vertex in (p, q):
            group[0] = 1 if vertex == p else 2
        else:
            group[1 + [other for other in range(1, vertices + 1) if other not in (p, q)].index(vertex)] = 1
        cells += group
    return cells


# The papers' own example tables, by name: `004:figure-1` is Figure 1 of paper 004 (docs/errata.md lists the papers).
#
# Values are as printed; typing errors in them are corrected, and mistakes of substance stay: the errata say which.

_HERE = Path(__file__).parent
COMPLETE_GRAPH = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
FIGURE_5_2_2 = ((1, 2), (2, 3), (3, 4), (2, 4), (2, 5))
Content = tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]


@dataclass(frozen=True)
class PaperTable:
    """A table of a paper.

    Args:
        name: the paper's number and the place in it.
        about: what it shows.
        quasi_identifiers, sensitive: its columns by role, as the paper uses them.
    """

    name: str
    about: str
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Its columns in their order."""
        return self._read_content()[0]

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Its rows in their order, as texts; what the paper's text does not show is empty."""
        return self._read_content()[1]

    @property
    def csv(self) -> bytes:
        """The table as a CSV file with a header, in UTF-8.

        >>> find_table("004:figure-3").csv.splitlines()[:2]
        [b'name,zip,age,sex,disease', b'Bob,14850,23,M,Flu']
        """
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.columns, *self.rows])
        return text.getvalue().encode()

    def _read_content(self) -> Content:
        """Return the columns and the rows, from a file or by construction."""
        make_content = _MAKERS.get(self.name)
        if make_content is not None:
            return make_content()
        with Path(_HERE, "tables", self.name.replace(":", "-", 1) + ".csv").open(encoding="utf-8", newline="") as file:
            first, *rest = csv.reader(file)
        return tuple(first), tuple(map(tuple, rest))


def paper_tables() -> Mapping[str, PaperTable]:
    """Return all tables by name, in the order of the papers.

    Example:
        >>> len(paper_tables()) > 25
        True
    """
    with Path(_HERE, "index.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    return {
        line["name"]: PaperTable(line["name"], line["about"], _split_names(line["qi"]), _split_names(line["sensitive"]))
        for line in lines
    }


def find_table(name: str) -> PaperTable:
    """Return the table of this name.

    Raises:
        UsageError: there is none; the message names the closest.

    Example:
        >>> find_table("004:figure-1").rows[0]
        ('Bob', '14850', '23', 'M', 'Flu')
    """
    tables = paper_tables()
    if name not in tables:
        close = difflib.get_close_matches(name, tables, n=1, cutoff=0.4)
        hint = f" Did you mean {close[0]}?" if close else ""
        raise UsageError(f"No table of the papers is called {name!r}.{hint} `sqlaudit demo --paper` lists them.")
    return tables[name]


def _split_names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _make_cover() -> Content:
    rows = set_cover_rows(5, [{1, 2, 3}, {2, 4}, {3, 4}, {4, 5}])
    return ("c1", "c2", "c3", "c4"), tuple(rows)


def _make_vertex_cover() -> Content:
    return ("c1", "c2", "c3"), tuple(hard_rows(4, COMPLETE_GRAPH))


def _make_clique() -> Content:
    rows = clique_rows(5, FIGURE_5_2_2, 1, 3)
    columns = (*(f"c{number}" for number in range(1, len(rows[0][0]) + 1)), "s")
    return columns, tuple((*map(str, cells), value) for cells, value in rows)


_MAKERS: Mapping[str, Callable[[], Content]] = {
    "000:example-4.2": _make_cover,
    "002:theorem-3.1": _make_vertex_cover,
    "003:figure-5.2-4": _make_clique,
}
