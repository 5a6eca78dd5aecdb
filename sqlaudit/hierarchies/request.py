"""What is asked of the hierarchy of one column: how its values become coarser, and what is done with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import FILE, FLAG, ORDERED, TEXT, option
from sqlaudit.base.words import spelled

if TYPE_CHECKING:
    from sqlaudit.hierarchies.hierarchy import Hierarchy

_DATES = "month,quarter,year,decade"
_HOW, _WHAT = "How values become coarser", "What to do"
_WAYS = ("widths", "mask", "dates", "tree", "from_")


@dataclass(frozen=True)
class HierarchyRequest:
    """One way in which values become coarser, and what is done with it.

    Args:
        widths: of intervals. origin: where an interval begins. low, high: where open intervals begin.
        mask: how many characters are replaced from the right. dates: what they are cut to.
        tree: a file with a tree of categories. from_: a file or folder with hierarchies.
        default: the label of values that are not covered. to: where the hierarchy is written.
        show_values: whether the first values are shown.

    Raises:
        UsageError: no way is chosen, or several, or bounds without widths.
    """

    widths: tuple[str, ...] = option(
        (), ORDERED, "Intervals of these widths, each a multiple of the one before: 5,10,20.", _HOW, metavar="NUMBERS"
    )
    origin: str | None = option(None, TEXT, "Where an interval begins. [default: 0]", _HOW, metavar="NUMBER")
    low: str | None = option(None, TEXT, "Below it there is one open interval.", _HOW, metavar="NUMBER")
    high: str | None = option(None, TEXT, "From it on there is one open interval.", _HOW, metavar="NUMBER")
    mask: tuple[str, ...] = option(
        (), ORDERED, "Replace so many characters by * from the right: 1,2,3.", _HOW, metavar="NUMBERS"
    )
    dates: tuple[str, ...] = option(
        (),
        ORDERED,
        f"Cut dates to day, month, quarter, year, decade, century. [alone: {_DATES}]",
        _HOW,
        metavar="PARTS",
        alone=_DATES,
    )
    tree: Path | None = option(
        None, FILE, "A YAML file with a tree of categories over the values.", _HOW, metavar="FILE"
    )
    from_: Path | None = option(
        None, FILE, "A CSV hierarchy, a folder of these, or hierarchies.yml.", _HOW, metavar="FILE", flags=("--from",)
    )
    default: str | None = option(
        None, TEXT, "The label of values that the hierarchy does not cover, for instance '*'.", _HOW, metavar="LABEL"
    )
    to: Path | None = option(
        None, FILE, "Write the hierarchy of the values that occur (value;level1;…;*).", _WHAT, metavar="FILE.csv"
    )
    show_values: bool = option(False, FLAG, "Show the first values with their labels.", _WHAT)

    def __post_init__(self) -> None:
        if sum(getattr(self, way) not in (None, ()) for way in _WAYS) != 1:
            raise UsageError(f"Say how values become coarser, with one of {', '.join(map(spelled, _WAYS))}.")
        bounds = self._bounds()
        if bounds and not self.widths:
            raise UsageError(f"{spelled(next(iter(bounds)))} belongs to {spelled('widths')}.")

    def _bounds(self) -> dict[str, str]:
        given = {"origin": self.origin, "low": self.low, "high": self.high}
        return {name: value for name, value in given.items() if value is not None}

    def hierarchy(self, column: str) -> Hierarchy:
        """The hierarchy of a column.

        Raises:
            UsageError: the form is wrong, or the file has nothing for the column.
        """
        from sqlaudit.hierarchies.api import named_hierarchy

        if self.from_ is not None:
            return named_hierarchy(column, self.from_, self.default)
        if self.tree is not None:
            return _named_tree(column, self.tree, self.default)
        form = next(way for way in _WAYS if getattr(self, way))
        levels = {form: list(getattr(self, form)), **self._bounds()}
        return named_hierarchy(column, levels, self.default, spelled(form))


def _named_tree(column: str, path: Path, default: str | None) -> Hierarchy:
    """The hierarchy of a file that holds nothing but a tree."""
    from sqlaudit.base.nodes import Node, load_nodes
    from sqlaudit.hierarchies.read import read_hierarchy

    root = load_nodes(path)
    if root is None:
        raise UsageError(f"{path}: holds no tree.")
    parts = [(Node("tree", root.place), root)]
    if default is not None:
        parts.append((Node("default", root.place), Node(default, root.place)))
    return read_hierarchy(column, Node(parts, root.place, is_mapping=True), path.parent)
