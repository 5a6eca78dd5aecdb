"""Hierarchies from a YAML section, a Python mapping, or a folder of CSV files; `docs/hierarchies.md` has every form."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from sqlaudit.base.errors import InputError, UnknownFile, UsageError, unreadable_file
from sqlaudit.base.files import as_written, is_folder, no_name
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import closest, closest_column, untyped
from sqlaudit.base.nodes import Name, Node, exact_number, load_nodes, nodes_of
from sqlaudit.base.parameter_names import spelled
from sqlaudit.hierarchies.levels import (
    TOP,
    UNCHANGED,
    Hierarchy,
    Level,
    SqlLevel,
    TopLevel,
    ValueTable,
    date_levels,
    dropped_hierarchy,
    from_table,
    kept_hierarchy,
    mask_levels,
    plain,
    width_levels,
)


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
    def from_paths(cls, paths: Sequence[tuple[str, tuple[str, ...], str | None]], location: str) -> Tree:
        """Return a tree from (location, inner nodes, leaf).

        Raises:
            UsageError: no leaf, or a leaf that is in the tree twice.
        """
        leaves: dict[str | None, tuple[str, ...]] = {}
        for leaf_location, above, leaf in paths:
            if leaf in leaves:
                raise UsageError(f"{leaf_location}: this leaf is in the tree twice.")
            leaves[leaf] = above
        if not leaves:
            raise UsageError(f"{location}: the tree has no leaves.")
        return cls(leaves, 1 + max(map(len, leaves.values())), location)

    def groups(self, lanes: Sequence[str | None], depth: int) -> list[list[int]]:
        """Return the groups of `lanes` (names of leaves) that share a node at a depth (1 = children of the root)."""
        lanes_by_node: dict[tuple[str | None, ...], list[int]] = {}
        for lane, leaf in enumerate(lanes):
            above = self.leaves[leaf]
            # the mark in front distinguishes a leaf from an inner node of the same name
            node = ("node", *above[:depth]) if depth <= len(above) else ("leaf", leaf)
            lanes_by_node.setdefault(node, []).append(lane)
        return list(lanes_by_node.values())


def read_tree_csv(path: Path) -> Tree:
    """Return the tree in a CSV hierarchy: one line a value, `value;level1;…;*`, without a header.

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
        location = f"{path}, line {line}"
        for level in range(1, depth - 1):
            if parents.setdefault((level, row[level]), row[level + 1]) != row[level + 1]:
                raise UsageError(f"{location}: the group at level {level} is under another group in an earlier line.")
        # labels may repeat at different levels
        above = tuple(f"{level}\0{row[level]}" for level in range(depth - 1, 0, -1))
        paths.append((location, above, row[0] or None))
    return Tree.from_paths(paths, str(path))


def hierarchy_rows(path: Path) -> list[tuple[int, list[str]]]:
    """Return the lines of a CSV hierarchy with their numbers.

    The separator is ; where the first line has one, else a comma. Apostrophes in front of formulas, as sqlaudit writes
    them, are removed.

    Raises:
        InputError: the file cannot be read.
        UsageError: it is not CSV, the first line has fewer than two fields, or another line a different number.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")  # read_text() changes carriage returns inside values
    except OSError as error:
        raise unreadable_file(path, error) from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not text in UTF-8.") from None
    except ValueError:
        raise no_name(path) from None
    separator = ";" if ";" in "".join(text.splitlines()[:1]) else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        rows = [(reader.line_num, [as_written(field) for field in row]) for row in reader if row]
    except csv.Error:
        raise UsageError(f"{path}, line {reader.line_num}: is not CSV.") from None
    if not rows or len(rows[0][1]) < 2:
        raise UsageError(f"{path}: has no levels. A hierarchy has lines of the form value;level1;…;*.")
    for line, row in rows:
        if len(row) != len(rows[0][1]):
            raise UsageError(f"{path}, line {line}: has {len(row)} fields, but the first line has {len(rows[0][1])}.")
    return rows


def tree_of(node: Node, _: Path) -> Tree:
    """Return a tree: keys of mappings are inner nodes, members of lists are leaves."""
    return Tree.from_paths(list(_tree_paths(node, ())), node.place)


def _tree_paths(node: Node, above: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...], Name]]:
    """Yield (location, inner nodes from the top, leaf): keys of mappings are inner nodes, members of lists leaves."""
    if node.is_mapping:
        for key, value in node.pairs("a tree"):
            if isinstance(value.value, list):
                yield from _tree_paths(value, (*above, key.text("a branch's name")))
            elif value.value is None:
                yield key.place, above, key.name("a leaf")
            else:
                yield value.place, (*above, key.text("a branch's name")), value.name("a leaf")
        return
    for item in node.items("a branch of a tree"):
        if isinstance(item.value, list):
            yield from _tree_paths(item, above)
        else:
            yield item.place, above, item.name("a leaf")


def tree_of_csv(node: Node, folder: Path) -> Tree:
    """Return the tree in a CSV file that a node names, relative to a folder."""
    return read_tree_csv(folder / node.text("'tree_csv'"))


Lines = Sequence[tuple[str, Name, tuple[Name, ...]]]
"""(place, value, labels)."""


def read_csv_table(path: Path) -> ValueTable:
    """Return the value table in a CSV hierarchy, as ARX and Amnesia write it.

    The separator is `;` where the first line has one, else a comma. An empty first field names NULL and the empty
    text. When the last column is the same in all lines it is the highest level, else one is added above it.

    Raises:
        InputError: the file cannot be read.
        UsageError: lines of different length, or a value on two lines with different labels.
    """
    rows = hierarchy_rows(path)
    return value_table([(f"{path}, line {line}", row[0] or None, tuple(row[1:])) for line, row in rows], str(path))


def value_table(lines: Lines, location: str) -> ValueTable:
    """Return a value table from its lines. The last level is the top when it is the same in all of them.

    Raises:
        UsageError: a value on two lines with different labels.
    """
    rows: dict[Name, tuple[Name, ...]] = {}
    for line_location, value, labels in lines:
        earlier_labels = rows.setdefault(value, labels)
        if earlier_labels != labels:
            level = next(i for i, (a, b) in enumerate(zip(earlier_labels, labels, strict=True), 1) if a != b)
            raise UsageError(f"{line_location}: this value has another label at level {level} in an earlier line.")
    tops = {labels[-1] for labels in rows.values()}
    top = tops.pop() if len(tops) == 1 else None
    if top is not None:
        rows = {value: labels[:-1] for value, labels in rows.items()}
    depth = len(next(iter(rows.values())))
    return ValueTable(rows, depth, location, TOP if top is None else top)


FORMS = ("widths", "mask", "dates", "tree", "csv", "values", "sql")
_OPTIONS = {"widths": ("origin", "low", "high", "unit", "default"), "mask": (), "dates": ("default",)}
_MOST_CHARACTERS = 30
"""Of a level's name, or of a unit in it."""
_SEPARATORS = "_-. "


@dataclass(frozen=True)
class Hierarchies:
    """The hierarchies of some columns, by the names of the request; or a folder with one file a column.

    Args:
        given: by column.
        folder: files named `…COLUMN.csv`.
        place: for errors.
    """

    given: Mapping[str, Hierarchy] = field(default_factory=dict, hash=False)
    folder: Path | None = None
    place: str = "the hierarchies"

    def for_columns(self, columns: Sequence[str], called: str = "quasi-identifier") -> tuple[Hierarchy, ...]:
        """Return the hierarchy of each column, in their order. A column without one is kept or suppressed (`plain`).

        Args:
            columns: the quasi-identifiers as `--qi` names them: column names or expressions. called: what they are.

        Raises:
            UsageError: a hierarchy for a column that is none of these, or none for any of them.
            InputError: a file that cannot be read.
        """
        if self.folder is not None:
            return _read_folder(self.folder, columns, called)
        folded = {untyped(column).casefold(): column for column in columns}
        hierarchies: dict[str, Hierarchy] = {}
        for name, hierarchy in self.given.items():
            column = name if name in columns else folded.get(untyped(name).casefold())
            if column is None:
                hint = closest_column(name, columns) or f" Available: {', '.join(columns)}."
                raise UsageError(f"{hierarchy.place}: {name!r} is not a {called}.{hint}")
            if column in hierarchies:
                raise UsageError(f"{hierarchy.place}: {column!r} has two hierarchies.")
            hierarchies[column] = replace(hierarchy, column=column)
        return tuple(hierarchies.get(column) or plain(column) for column in columns)


def read_hierarchies(source: Hierarchies | Mapping[str, object] | str | Path) -> Hierarchies:
    """Read hierarchies from a YAML file with a section `hierarchies`, a folder of CSV files, or a mapping by column.

    Args:
        source: a path, or a mapping such as `{"age": {"widths": [5, 10]}, "sex": "keep"}`; what this function gave
            comes back unchanged.

    Raises:
        InputError: a file that cannot be read, or is not YAML.
        UsageError: an unknown form or option, or levels that cannot be nested; file, line, column and level are named.

    Example:
        >>> read = read_hierarchies({"age": {"widths": [5, 10]}, "sex": "keep"})
        >>> [(one.column, one.level_names()) for one in read.for_columns(["sex", "age"])]
        [('sex', ('unchanged',)), ('age', ('unchanged', 'width 5', 'width 10', '*'))]
    """
    if isinstance(source, Hierarchies):
        return source
    if isinstance(source, Mapping):
        return read_section(nodes_of(source, "the hierarchies"), Path())
    if not isinstance(source, str | Path):
        expected = "a mapping by column, or a file or folder"
        raise UsageError(f"{spelled('hierarchies')} takes {expected}, not a value of type {type(source).__name__}.")
    path = Path(source)
    if is_folder(path):
        return Hierarchies(folder=path, place=str(path))
    root = load_nodes(path)
    section = None
    for key, value in root.pairs("the file") if root is not None else ():
        section = value if key.value == "hierarchies" else section
    if section is None:
        raise UsageError(f"{path}: has no section 'hierarchies'. Put the columns under that key.")
    return read_section(section, path.parent)


def read_section(node: Node, folder: Path) -> Hierarchies:
    """Return the hierarchies of the section `hierarchies` of a file; paths in it are relative to `folder`."""
    by_column: dict[str, Hierarchy] = {}
    for key, value in node.pairs("'hierarchies'"):
        column = key.text("a column's name")
        by_column[column] = read_hierarchy(column, value, folder)
    return Hierarchies(by_column, place=node.place)


def read_hierarchy(column: str, node: Node, folder: Path = Path()) -> Hierarchy:
    """Return the hierarchy of one column: `keep`, `drop`, `*`, or a mapping with one form and its options.

    Raises:
        UsageError: as `read_hierarchies`.
    """
    if node.value in ("keep", "drop"):
        return kept_hierarchy(column, node.place) if node.value == "keep" else dropped_hierarchy(column, node.place)
    if node.value == TOP:
        return replace(plain(column), place=node.place)
    if not node.is_mapping:
        raise node.fail(f"{column!r} must be keep, drop, '*', or a mapping with one of {', '.join(FORMS)}.")
    parts = {key.text("a key"): value for key, value in node.pairs(repr(column))}
    forms = [name for name in parts if name in FORMS]
    if len(forms) != 1:
        hint = closest(next(iter(parts), ""), FORMS)
        raise node.fail(f"{column!r} needs exactly one of {', '.join(FORMS)}.{hint if not forms else ''}")
    (form,) = forms
    location = parts[form].place
    options = _OPTIONS.get(form, ("names", "default"))
    for name, value in parts.items():
        if name != form and name not in options:
            choices = f" Available: {', '.join(options)}." if options else ""
            raise value.fail(f"{form!r} has no option {name!r}.{closest(name, options)}{choices}")
    content = _READERS[form](parts, f"{location}, {column}", folder)
    default = parts["default"].text("'default'") if "default" in parts else None
    if isinstance(content, ValueTable):
        hierarchy = from_table(column, content, form, default)
    else:
        hierarchy = Hierarchy(column, tuple(content), default=default, form=form, place=location)
    return (
        replace(hierarchy, names=_read_names(parts["names"], hierarchy.height - 1)) if "names" in parts else hierarchy
    )


def _read_names(node: Node, levels: int) -> tuple[str, ...]:
    """Return the names of the levels between the values and `*`, finest first."""
    names = tuple(_short_text(item, "the name of a level") for item in node.items("'names'"))
    if len(names) != levels:
        raise node.fail(f"'names' has {len(names)} of the {levels} levels between the values and *.")
    if len({*names, UNCHANGED, TOP}) != levels + 2 or any(name.isdecimal() for name in names):
        raise node.fail(f"'names' of levels must differ from each other, from {UNCHANGED}, * and numbers.")
    return names


def _short_text(node: Node, what: str) -> str:
    """Return a text that can stand in a level's name."""
    text = node.text(what).strip()
    if not text.isprintable() or "," in text or not 0 < len(text) <= _MOST_CHARACTERS:
        raise node.fail(f"{what} has 1 to {_MOST_CHARACTERS} characters, and no comma.")
    return text


def tree_table(tree: Tree, location: str = "") -> ValueTable:
    """Return a category tree as a value table. Leaves that are higher than others keep their own name at lower levels.

    Raises:
        UsageError: two groups of one level have the same name, so that released cells would be ambiguous.
    """
    depth = tree.height - 1
    seen: dict[tuple[int, Name], tuple[Name, ...]] = {}
    rows: dict[Name, tuple[Name, ...]] = {}
    for leaf, above in tree.leaves.items():
        labels: list[Name] = []
        for level in range(1, depth + 1):
            down = depth + 1 - level
            path: tuple[Name, ...] = above[:down] if down <= len(above) else (*above, leaf)
            label = path[-1]
            if seen.setdefault((level, label), path) != path:
                raise UsageError(
                    f"{location or tree.place}: two groups at level {level} have the same name. Give them different "
                    "names, so that cells of a release are unique."
                )
            labels.append(label)
        rows[leaf] = tuple(labels)
    return ValueTable(rows, depth, tree.place)


Parts = Mapping[str, Node]


def _read_widths(parts: Parts, location: str, _: Path) -> Iterable[Level]:
    bounds = {name: exact_number(parts[name], f"{name!r}") for name in ("origin", "low", "high") if name in parts}
    widths = [exact_number(item, "a width") for item in _list_items(parts["widths"], "'widths'")]
    unit = _short_text(parts["unit"], "'unit'") if "unit" in parts else ""
    return width_levels(widths, location, unit=unit, **bounds)


def _read_mask(parts: Parts, location: str, _: Path) -> Iterable[Level]:
    """Return the levels of a list of numbers of characters to mask, or of `{keep: [numbers]}` or `{digits: …}`."""
    node = parts["mask"]
    keeps, unit = node.is_mapping, "characters"
    if keeps:
        options = node.pairs("'mask'")
        if [key.value for key, _ in options] not in (["keep"], ["digits"]):
            raise node.fail(
                "'mask' must be a list of numbers of characters to mask, or {keep: [numbers to keep]}, or {digits: …}."
            )
        ((key, node),) = options
        unit = "digits" if key.value == "digits" else unit
    counts = []
    for item in _list_items(node, "'mask'"):
        number = exact_number(item, "a number of characters")
        if number.denominator != 1:
            raise item.fail("a number of characters must be whole.")
        counts.append(number.numerator)
    return mask_levels(counts, location, keeps=keeps, unit=unit)


def _read_dates(parts: Parts, location: str, _: Path) -> Iterable[Level]:
    return date_levels(
        [item.text("a part of dates").lower() for item in _list_items(parts["dates"], "'dates'")], location
    )


def _read_sql(parts: Parts, _location: str, _: Path) -> Iterable[Level]:
    """Return the levels of a list of expressions; a last one of `*` is the top."""
    levels: list[Level] = [SqlLevel(item.text("a level")) for item in _list_items(parts["sql"], "'sql'")]
    if not levels:
        raise parts["sql"].fail("'sql' must be a list of expressions, one per level.")
    if levels[-1] in (SqlLevel("'*'"), SqlLevel(TOP)):
        levels[-1] = TopLevel()
    return levels


def _read_values(parts: Parts, _location: str, _: Path) -> ValueTable:
    """Return the value table of a mapping from values to their labels."""
    node = parts["values"]
    lines: Lines = [
        (
            key.place,
            key.name("a value"),
            tuple(item.text("a label") for item in _list_items(value, "the labels of a value")),
        )
        for key, value in node.pairs("'values'")
    ]
    if not lines or not lines[0][2]:
        raise node.fail("'values' must be a mapping from values to their labels, {flu: [chest, illness]}.")
    for line_location, _value, labels in lines:
        if len(labels) != len(lines[0][2]):
            raise UsageError(f"{line_location}: has {len(labels)} labels, but the first value has {len(lines[0][2])}.")
    if {labels[-1] for _, _, labels in lines} != {TOP}:  # a mapping need not go up to one value
        lines = [(line_location, value, (*labels, TOP)) for line_location, value, labels in lines]
    return value_table(lines, node.place)


def _list_items(node: Node, what: str) -> list[Node]:
    """Return the node as a list; a single text is a list of one."""
    return [node] if isinstance(node.value, str) else node.items(what)


_READERS: Mapping[str, Callable[[Parts, str, Path], ValueTable | Iterable[Level]]] = {
    "widths": _read_widths,
    "mask": _read_mask,
    "dates": _read_dates,
    "tree": lambda parts, location, folder: tree_table(tree_of(parts["tree"], folder), location),
    "csv": lambda parts, _, folder: read_csv_table(folder / parts["csv"].text("'csv'")),
    "values": _read_values,
    "sql": _read_sql,
}


def _read_folder(folder: Path, columns: Sequence[str], called: str) -> tuple[Hierarchy, ...]:
    """Return the hierarchy of each column from the file whose name ends with the column's name.

    The longest matching column and the shortest file name win.

    Raises:
        UsageError: no file for any column, or two files for one.
    """
    owners: dict[str, list[Path]] = {column: [] for column in columns}
    for path in sorted(path for path in folder.iterdir() if path.suffix.lower() == ".csv"):
        stem = path.stem.casefold()
        names = {column: untyped(column).casefold() for column in columns}
        fitting = [
            column
            for column, name in names.items()
            if stem == name or stem.endswith(tuple(sign + name for sign in _SEPARATORS))
        ]
        if fitting:
            owners[max(fitting, key=len)].append(path)
    if columns and not any(owners.values()):
        raise UnknownFile(f"{folder}: has no file …{columns[0]}.csv, and none for any other {called}.")
    return tuple(_read_column_file(column, owners[column], folder) for column in columns)


def _read_column_file(column: str, files: Sequence[Path], folder: Path) -> Hierarchy:
    """Return the hierarchy of a column in the file with the shortest name."""
    if not files:
        return plain(column)
    shortest = min(len(path.stem) for path in files)
    best = [path for path in files if len(path.stem) == shortest]
    if len(best) > 1:
        raise UsageError(
            f"{folder}: {' and '.join(path.name for path in best)} both match {column!r}. Keep one of them."
        )
    return from_table(column, read_csv_table(best[0]), "csv")
