"""The papers' own example tables, by name: `004:figure-1` is Figure 1 of paper 004 (docs/errata.md lists the papers).

Values are as printed; typing errors in them are corrected, and mistakes of substance stay: the errata say which.
"""

from __future__ import annotations

import csv
import difflib
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlaudit.base.errors import UsageError
from sqlaudit.papers.constructions import clique_rows, hard_rows, set_cover_rows

_HERE = Path(__file__).parent
COMPLETE_GRAPH = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
FIGURE_5_2_2 = ((1, 2), (2, 3), (3, 4), (2, 4), (2, 5))
Content = tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]


@dataclass(frozen=True)
class PaperTable:
    """A table of a paper.

    Args:
        name: the paper's number and the place in it. about: what it shows.
        quasi_identifiers, sensitive: its columns by role, as the paper uses them.
    """

    name: str
    about: str
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Its columns in their order."""
        return self._content()[0]

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Its rows in their order, as texts; what the paper's text does not show is empty."""
        return self._content()[1]

    @property
    def csv(self) -> bytes:
        """The table as a CSV file with a header, in UTF-8.

        >>> find_table("004:figure-3").csv.splitlines()[:2]
        [b'name,zip,age,sex,disease', b'Bob,14850,23,M,Flu']
        """
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.columns, *self.rows])
        return text.getvalue().encode()

    def _content(self) -> Content:
        made = _MADE.get(self.name)
        if made is not None:
            return made()
        with Path(_HERE, "tables", self.name.replace(":", "-", 1) + ".csv").open(encoding="utf-8", newline="") as file:
            first, *rest = csv.reader(file)
        return tuple(first), tuple(map(tuple, rest))


def paper_tables() -> Mapping[str, PaperTable]:
    """All tables by name, in the order of the papers.

    >>> len(paper_tables()) > 25
    True
    """
    with Path(_HERE, "index.csv").open(encoding="utf-8", newline="") as file:
        listed = list(csv.DictReader(file))
    return {
        line["name"]: PaperTable(line["name"], line["about"], _names(line["qi"]), _names(line["sensitive"]))
        for line in listed
    }


def find_table(name: str) -> PaperTable:
    """The table of this name.

    Raises:
        UsageError: there is none; the closest name is told.

    >>> find_table("004:figure-1").rows[0]
    ('Bob', '14850', '23', 'M', 'Flu')
    """
    every = paper_tables()
    if name not in every:
        close = difflib.get_close_matches(name, every, n=1, cutoff=0.4)
        hint = f" Did you mean {close[0]}?" if close else ""
        raise UsageError(f"No table of the papers is called {name!r}.{hint} `sqlaudit demo --paper` lists them.")
    return every[name]


def _names(written: str) -> tuple[str, ...]:
    return tuple(written.split())


def _cover() -> Content:
    rows = set_cover_rows(5, [{1, 2, 3}, {2, 4}, {3, 4}, {4, 5}])
    return ("c1", "c2", "c3", "c4"), tuple(rows)


def _vertex_cover() -> Content:
    return ("c1", "c2", "c3"), tuple(hard_rows(4, COMPLETE_GRAPH))


def _clique() -> Content:
    rows = clique_rows(5, FIGURE_5_2_2, 1, 3)
    columns = (*(f"c{place}" for place in range(1, len(rows[0][0]) + 1)), "s")
    return columns, tuple((*map(str, cells), value) for cells, value in rows)


_MADE: Mapping[str, Callable[[], Content]] = {
    "000:example-4.2": _cover,
    "002:theorem-3.1": _vertex_cover,
    "003:figure-5.2-4": _clique,
}
