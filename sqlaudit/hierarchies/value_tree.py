"""Trees over the values of a sensitive attribute: nested in a file, or a CSV hierarchy as ARX and Amnesia write it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from sqlaudit.base.csv_cells import as_written
from sqlaudit.base.errors import InputError, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.nodes import Name, Node
from sqlaudit.base.paths import no_name


@dataclass(frozen=True)
class Tree:
    """A tree whose leaves are values.

    `leaves` maps a value (None = NULL) to the inner nodes above it, from below the root down. `height` is the number
    of edges of the longest path; shorter paths count as padded below their leaf.
    """

    leaves: dict[str | None, tuple[str, ...]]
    height: int
    place: str

    @classmethod
    def from_paths(cls, paths: Sequence[tuple[str, tuple[str, ...], str | None]], place: str) -> Tree:
        """A tree from (place, inner nodes, leaf).

        Raises:
            UsageError: no leaf, or a leaf that stands in two places.
        """
        leaves: dict[str | None, tuple[str, ...]] = {}
        for where, above, leaf in paths:
            if leaf in leaves:
                raise UsageError(f"{where}: this leaf of the tree also stands elsewhere in it.")
            leaves[leaf] = above
        if not leaves:
            raise UsageError(f"{place}: the tree has no leaves.")
        return cls(leaves, 1 + max(map(len, leaves.values())), place)

    def groups(self, lanes: Sequence[str | None], depth: int) -> list[list[int]]:
        """The positions in `lanes` (names of leaves) that share their node at a depth (1 = children of the root)."""
        found: dict[tuple[str | None, ...], list[int]] = {}
        for lane, leaf in enumerate(lanes):
            above = self.leaves[leaf]
            # a leaf is told from an inner node of the same name by the mark in front
            node = ("node", *above[:depth]) if depth <= len(above) else ("leaf", leaf)
            found.setdefault(node, []).append(lane)
        return list(found.values())


def read_tree_csv(path: Path) -> Tree:
    """The tree in a CSV hierarchy: one line a value, `value;level1;…;*`, without a header.

    The separator is ; where the first line has one, else a comma. An empty first field names NULL. When the last
    level is the same everywhere it is the root, else a root is added above it.

    Raises:
        InputError: the file cannot be read.
        UsageError: lines of different length, a value on two lines, or a group that lies under two different ones.
    """
    rows = hierarchy_rows(path)
    top = {row[-1] for _, row in rows}
    depth = len(rows[0][1]) - 1 if len(top) == 1 else len(rows[0][1])
    parents: dict[tuple[int, str], str] = {}
    paths = []
    for line, row in rows:
        place = f"{path}, line {line}"
        if len(row) != len(rows[0][1]):
            raise UsageError(f"{place}: has {len(row)} fields, the first line has {len(rows[0][1])}.")
        for level in range(1, depth - 1):
            if parents.setdefault((level, row[level]), row[level + 1]) != row[level + 1]:
                raise UsageError(f"{place}: the group at level {level} lies under another group in an earlier line.")
        # labels may repeat at different levels
        above = tuple(f"{level}\0{row[level]}" for level in range(depth - 1, 0, -1))
        paths.append((place, above, row[0] or None))
    return Tree.from_paths(paths, str(path))


def hierarchy_rows(path: Path) -> list[tuple[int, list[str]]]:
    """The lines of a CSV hierarchy with their numbers; the separator is ; where the first line has one, else a comma.

    Apostrophes in front of formulas, as sqlaudit writes them, are taken away.

    Raises:
        InputError: the file cannot be read.
        UsageError: it is not CSV, or the first line has fewer than two fields.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not text in UTF-8.") from None
    except ValueError:
        raise no_name(path) from None
    separator = ";" if ";" in text.split("\n", 1)[0] else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        rows = [(reader.line_num, [as_written(field) for field in row]) for row in reader if row]
    except csv.Error:
        raise UsageError(f"{path}, line {reader.line_num}: is not a line of CSV.") from None
    if not rows or len(rows[0][1]) < 2:
        raise UsageError(f"{path}: a hierarchy has lines of a value and its levels, value;level1;…;*.")
    return rows


def tree_of(node: Node, _: Path) -> Tree:
    """A tree: keys of mappings are inner nodes, what lists hold are leaves."""
    return Tree.from_paths(list(_paths(node, ())), node.place)


def _paths(node: Node, above: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...], Name]]:
    """(place, inner nodes from the top, leaf): keys of mappings are inner nodes, what lists hold are leaves."""
    if node.is_mapping:
        for key, value in node.pairs("a tree"):
            if isinstance(value.value, list):
                yield from _paths(value, (*above, key.text("a branch's name")))
            elif value.value is None:
                yield key.place, above, key.name("a leaf")
            else:
                yield value.place, (*above, key.text("a branch's name")), value.name("a leaf")
        return
    for item in node.items("a branch of a tree"):
        if isinstance(item.value, list):
            yield from _paths(item, above)
        else:
            yield item.place, above, item.name("a leaf")


def _tree_csv(node: Node, folder: Path) -> Tree:
    return read_tree_csv(folder / node.text("'tree_csv'"))
