"""The reader of the cells of a released column, by the hierarchy of its original."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from sqlaudit.base.errors import UsageError
from sqlaudit.base.nodes import Name
from sqlaudit.base.relation import Kind
from sqlaudit.base.sql import render
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.cells import (
    AnyValue,
    Cell,
    Exact,
    Interval,
    LabelNode,
    Mask,
    Values,
    point_of,
    read_cell,
    to_half_open,
)
from sqlaudit.hierarchies.dictionary import Dictionary
from sqlaudit.hierarchies.levels import (
    LIMITS,
    DateLevel,
    Hierarchy,
    Level,
    MappedLevel,
    SqlLevel,
    TopLevel,
    WidthLevel,
    matched_rows,
)


def as_interval(cell: Cell, kind: Kind) -> Interval | None:
    """Return the cell as an interval; None of a cell that is none. A mask of last digits of integers is one, too."""
    if isinstance(cell, Mask):
        digits = cell.pattern.rstrip("*")
        if kind is not Kind.INTEGER or not (digits.isascii() and digits.isdecimal()) or digits.startswith("0"):
            return None
        unit = 10 ** (len(cell.pattern) - len(digits))
        return Interval(Fraction(int(digits) * unit), Fraction((int(digits) + 1) * unit), False, True)
    if not isinstance(cell, Interval):
        return None
    return to_half_open(cell) if kind is Kind.INTEGER else cell


def has_label(level: Level, key: str, kind: Kind) -> bool:
    """Return True if a computed level has a label for the value with a key; other values get the default."""
    if isinstance(level, DateLevel):
        return isinstance(point_of(key, kind), datetime.datetime)
    if not isinstance(level, WidthLevel):
        return True
    number = point_of(key, kind)
    if not isinstance(number, Fraction | float) or math.isnan(number):
        return False
    below = level.low is not None and number < level.low
    above = level.high is not None and number >= level.high
    return below or above or -LIMITS[kind] < number < LIMITS[kind]


_FORMS = "a value, *, [20, 30), 20-30, <30, 13***, {a, b}, or a label of its hierarchy"


@dataclass(frozen=True)
class CellReader:
    """The reader of a released column.

    Args:
        hierarchy: the hierarchy of the column.
        kind: the type of the original column.
        labels: value (by its key, None = NULL) to its labels at the levels that are listed in a file or computed by a
            user's SQL, in the order of `numbered`; `reader_of` fills it.
        numbered: the numbers of these levels.
    """

    hierarchy: Hierarchy
    kind: Kind
    labels: Mapping[Name, tuple[Name, ...]] = field(default_factory=dict, repr=False, hash=False)
    numbered: tuple[int, ...] = ()

    def read_all(self, texts: Iterable[Name]) -> dict[Name, Cell]:
        """Return the cells of a column by their texts. Each different text is needed once. None is NULL.

        If a text is the label of several levels, or also a value, the lowest level that fits all cells (without `*`)
        decides, so that a column that was generalized as a whole is read as such. Otherwise each cell is read at the
        lowest level that it fits.

        Raises:
            UsageError: some cells cannot be read; the message has the column and their number, never a cell.
        """
        distinct_texts = list(dict.fromkeys(texts))
        level = self._common_level([text for text in distinct_texts if text is not None])
        cells = {text: self.read(text, level) for text in distinct_texts}
        broken = sum(cell is None for cell in cells.values())
        if broken:
            raise UsageError(
                f"{self.hierarchy.column}: {broken:,} of {len(distinct_texts):,} different cells of the release cannot "
                f"be read; a cell is {_FORMS}."
            )
        return {text: cell for text, cell in cells.items() if cell is not None}

    def read(self, text: Name, level: int | None = None) -> Cell | None:
        """Return the cell of one text, None if it cannot be read. Labels of `level` come first, then the lowest level.

        Example:
            >>> from sqlaudit.hierarchies.levels import plain
            >>> CellReader(plain("age"), Kind.INTEGER).read("20-29").high
            Fraction(29, 1)
        """
        if text is None:
            return Exact(None)
        levels = self._levels_of_label.get(text, ())
        if level and level in levels:
            return LabelNode(text, level)
        cell = read_cell(text, self.kind)
        is_listed = isinstance(cell, Exact) and cell.key in self.labels
        if level == 0 and is_listed:
            return cell
        if levels and not is_listed:
            return LabelNode(text, levels[0])
        if text == self._top_label:
            return AnyValue()
        return cell

    # --- what cells stand for ---

    def contains(self, cell: Cell, key: Name) -> bool:
        """Return True if a cell contains a value, given by its key (None = NULL)."""
        if isinstance(cell, AnyValue | Exact):
            return isinstance(cell, AnyValue) or cell.key == key
        if isinstance(cell, LabelNode):
            return self._label_of(key, cell.level) == cell.label
        if key is None:
            return False
        if isinstance(cell, Values):
            return key in cell.keys
        if isinstance(cell, Mask):
            return cell.holds(key)
        point = point_of(key, self.kind)
        return point is not None and cell.holds(point)

    def covers(self, cell: Cell, other: Cell) -> bool:
        """Return True if a cell contains everything that another cell contains.

        Labels of a hierarchy are compared by the values that it lists; values that it does not list do not count.
        """
        if isinstance(cell, AnyValue) or cell == other:
            return True
        if isinstance(other, AnyValue):
            return False
        if isinstance(other, Exact | Values):
            keys = other.keys if isinstance(other, Values) else (other.key,)
            return all(self.contains(cell, key) for key in keys)
        if isinstance(cell, LabelNode) or isinstance(other, LabelNode):
            mine, theirs = self._listed_keys(cell), self._listed_keys(other)
            return theirs <= mine and (bool(theirs) or self._are_same_default(cell, other))
        if isinstance(cell, Mask) and isinstance(other, Mask):
            return cell.contains(other)
        first, second = as_interval(cell, self.kind), as_interval(other, self.kind)
        return first is not None and second is not None and first.contains(second)

    # --- the hierarchy's own labels ---

    @cached_property
    def _levels_of_label(self) -> dict[str, tuple[int, ...]]:
        """The levels of each label, lowest first, without `*`."""
        levels_by_label: dict[str, dict[int, None]] = {}
        for labels in self.labels.values():
            for number, label in zip(self.numbered, labels, strict=True):
                if label is not None:
                    levels_by_label.setdefault(label, {})[number] = None
        if self.hierarchy.default is not None:
            for number, level in enumerate(self.hierarchy.levels, 1):
                if not isinstance(level, TopLevel):
                    levels_by_label.setdefault(self.hierarchy.default, {})[number] = None
        return {label: tuple(sorted(levels)) for label, levels in levels_by_label.items() if label != "*"}

    @cached_property
    def _keys_by_label(self) -> dict[tuple[str, int], frozenset[str]]:
        """The keys of the values with a label at a level."""
        keys_by_group: dict[tuple[str, int], set[str]] = {}
        for key, labels in self.labels.items():
            for number, label in zip(self.numbered, labels, strict=True):
                if label is not None and key is not None:
                    keys_by_group.setdefault((label, number), set()).add(key)
        return {group: frozenset(keys) for group, keys in keys_by_group.items()}

    @cached_property
    def _leaves_cache(self) -> dict[Cell, frozenset[str]]:
        """Leaves of cells that are no labels, each computed once."""
        return {}

    @property
    def _top_label(self) -> str:
        return self.hierarchy.table.top if self.hierarchy.table is not None else "*"

    def _label_of(self, key: Name, level: int) -> Name:
        """Return the label of a value at a level; the default for a value that has none."""
        if level in self.numbered and key in self.labels:
            return self.labels[key][self.numbered.index(level)]
        if key is None:
            return None
        hierarchy_level = self.hierarchy.level(level)
        is_covered = (
            hierarchy_level is not None and level not in self.numbered and has_label(hierarchy_level, key, self.kind)
        )
        return None if is_covered else self.hierarchy.default

    def _common_level(self, texts: Sequence[str]) -> int | None:
        """Return the lowest level that has every text, without `*`; None when there is none."""
        rest = [text for text in texts if text not in ("*", self._top_label)]
        if not rest or not self.labels:
            return None
        keys = [cell.key for cell in (read_cell(text, self.kind) for text in rest) if isinstance(cell, Exact)]
        if len(keys) == len(rest) and all(key in self.labels for key in keys):
            return 0
        fitting = [set(self._levels_of_label.get(text, ())) for text in rest]
        return min(set.intersection(*fitting), default=None)

    def _listed_keys(self, cell: Cell) -> frozenset[str]:
        if isinstance(cell, LabelNode):
            return self._keys_by_label.get((cell.label, cell.level), frozenset())
        if cell not in self._leaves_cache:
            leaves = frozenset(key for key in self.labels if key is not None and self.contains(cell, key))
            self._leaves_cache[cell] = leaves
        return self._leaves_cache[cell]

    def _are_same_default(self, cell: Cell, other: Cell) -> bool:
        """Return True if both cells are the default label: its groups of unlisted values are equal at every level."""
        default = self.hierarchy.default
        return isinstance(cell, LabelNode) and isinstance(other, LabelNode) and cell.label == other.label == default


def reader_of(dictionary: Dictionary, workbench: Engine) -> CellReader:
    """Return the reader for releases of a column whose values are in a dictionary.

    Labels that a file lists are taken from the file, those of a user's SQL from the dictionary.
    """
    hierarchy, kind = dictionary.hierarchy, dictionary.holds.kind
    if any(isinstance(level, SqlLevel) for level in hierarchy.levels):
        numbers = tuple(n for n, level in enumerate(hierarchy.levels, 1) if isinstance(level, SqlLevel))
        statement = render(
            "hierarchies/hierarchy_labels.sql", workbench.dialect, source=dictionary.relation, levels=list(numbers)
        )
        return CellReader(hierarchy, kind, {key: tuple(labels) for key, *labels in workbench.run(statement)}, numbers)
    return plain_reader(hierarchy, kind)


def plain_reader(hierarchy: Hierarchy, kind: Kind) -> CellReader:
    """Return the reader that needs no table: for every form of hierarchy except a user's SQL."""
    if hierarchy.table is None:
        return CellReader(hierarchy, kind)
    numbers = tuple(n for n, level in enumerate(hierarchy.levels, 1) if isinstance(level, MappedLevel))
    return CellReader(hierarchy, kind, dict(matched_rows(hierarchy.table, kind, hierarchy)), numbers)
