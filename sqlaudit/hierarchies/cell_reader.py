"""Reads the cells of one released column, knowing the hierarchy of its original."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import cached_property

from sqlaudit.base.errors import UsageError
from sqlaudit.base.nodes import Name
from sqlaudit.base.relation import Kind
from sqlaudit.base.sql import render
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.cells import (
    AnyValue,
    Bound,
    Cell,
    Exact,
    Interval,
    LabelNode,
    Mask,
    Values,
    point_of,
    read_cell,
    whole,
)
from sqlaudit.hierarchies.dictionary import Dictionary
from sqlaudit.hierarchies.levels import (
    LIMITS,
    DateLevel,
    Hierarchy,
    Level,
    MappedLevel,
    MaskLevel,
    SqlLevel,
    TopLevel,
    WidthLevel,
    matched_rows,
)

# Which levels that are computed, not listed, have a given cell.

_NOWHERE = Interval(Fraction(0), Fraction(0), True, True)


def as_interval(cell: Cell, kind: Kind) -> Interval | None:
    """The cell as an interval, None when it is none; a mask of the last digits of whole numbers is one, too."""
    if isinstance(cell, Mask):
        digits = cell.pattern.rstrip("*")
        if kind is not Kind.INTEGER or not (digits.isascii() and digits.isdecimal()) or digits.startswith("0"):
            return None
        unit = 10 ** (len(cell.pattern) - len(digits))
        return Interval(Fraction(int(digits) * unit), Fraction((int(digits) + 1) * unit), False, True)
    if not isinstance(cell, Interval):
        return None
    return whole(cell) if kind is Kind.INTEGER else cell


def is_of_level(cell: Cell, level: Level, kind: Kind) -> bool:
    """Whether a computed level gives some value this cell."""
    if isinstance(level, MaskLevel) and isinstance(cell, Mask):
        text = cell.pattern
        kept = min(level.count, len(text)) if level.keeps else max(0, len(text) - level.count)
        return "*" not in text[:kept] and set(text[kept:]) <= {"*"}
    if isinstance(level, WidthLevel) and isinstance(cell, Interval):
        return as_interval(cell, kind) == as_interval(_of_width(level, cell), kind)
    if isinstance(level, DateLevel) and isinstance(cell, Interval):
        return read_cell(_of_part(level, cell.low), kind) == cell
    return False


def has_label(level: Level, key: str, kind: Kind) -> bool:
    """Whether a computed level covers the value with a key; what it does not cover gets the default."""
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


def _of_width(level: WidthLevel, cell: Interval) -> Interval:
    """The interval of a level in which a cell begins (or ends, when it has no beginning)."""
    if cell.low is None:
        return Interval(None, level.low, False, True) if level.low is not None else _NOWHERE
    if not isinstance(cell.low, Fraction):
        return _NOWHERE
    if level.high is not None and cell.low >= level.high:
        return Interval(level.high, None)
    start = level.origin + level.width * ((cell.low - level.origin) // level.width)
    end = start + level.width
    low = start if level.low is None else max(start, level.low)
    return Interval(low, end if level.high is None else min(end, level.high), False, True)


def _of_part(level: DateLevel, low: Bound | None) -> str:
    """The label of a date level in whose time a moment lies, empty without one."""
    if low is None or isinstance(low, Fraction):
        return ""
    year = low.year
    span = {"decade": 10, "century": 100}.get(level.part.value)
    if span:
        return f"{year // span * span:04}-{year // span * span + span - 1:04}"
    return {
        "day": f"{year:04}-{low.month:02}-{low.day:02}",
        "month": f"{year:04}-{low.month:02}",
        "quarter": f"{year:04}-Q{(low.month + 2) // 3}",
        "year": f"{year:04}",
    }[level.part.value]


_FORMS = "a value, *, [20, 30), 20-30, <30, 13***, {a, b}, or a label of its hierarchy"


class CellOrder(StrEnum):
    """How two cells of a column lie to each other."""

    EQUAL = "equal"
    COARSER = "coarser"
    FINER = "finer"
    NEITHER = "neither"


@dataclass(frozen=True)
class CellReader:
    """The reader of a released column.

    Args:
        hierarchy: the column's. kind: what the original column holds.
        labels: value (by its key, None = NULL) to its labels at the levels that are listed in a file or computed by a
            user's SQL, in the order of `numbered`; use `reader_of` to fill it.
        numbered: the numbers of these levels.
    """

    hierarchy: Hierarchy
    kind: Kind
    labels: Mapping[Name, tuple[Name, ...]] = field(default_factory=dict, repr=False, hash=False)
    numbered: tuple[int, ...] = ()

    def read_all(self, texts: Iterable[Name]) -> dict[Name, Cell]:
        """The cells of a column by their texts; only different texts need be given. None is NULL.

        Where a text is the label of several levels, or a value besides, the lowest level that fits all cells decides
        (without `*`), so that a column that was generalized as a whole is read as such; else each cell is read at the
        lowest level that it fits.

        Raises:
            UsageError: some cannot be read; the sentence names the column and how many, never one of them.
        """
        given = list(dict.fromkeys(texts))
        level = self._common_level([text for text in given if text is not None])
        found = {text: self.read(text, level) for text in given}
        broken = sum(cell is None for cell in found.values())
        if broken:
            raise UsageError(
                f"{self.hierarchy.column}: {broken:,} of {len(given):,} different cells of the release cannot be read; "
                f"a cell is {_FORMS}."
            )
        return {text: cell for text, cell in found.items() if cell is not None}

    def read(self, text: Name, level: int | None = None) -> Cell | None:
        """What one text stands for, None when it cannot be read; a label of `level` wins, then the lowest level.

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
        found = read_cell(text, self.kind)
        listed = isinstance(found, Exact) and found.key in self.labels
        if level == 0 and listed:
            return found
        if levels and not listed:
            return LabelNode(text, levels[0])
        if text == self._top_label:
            return AnyValue()
        return found

    # --- what cells stand for ---

    def contains(self, cell: Cell, key: Name) -> bool:
        """Whether a cell stands for a value, given by its key (None = NULL)."""
        if isinstance(cell, AnyValue | Exact):
            return isinstance(cell, AnyValue) or cell.key == key
        if isinstance(cell, LabelNode):
            return self._label(key, cell.level) == cell.label
        if key is None:
            return False
        if isinstance(cell, Values):
            return key in cell.keys
        if isinstance(cell, Mask):
            return cell.holds(key)
        point = point_of(key, self.kind)
        return point is not None and cell.holds(point)

    def covers(self, cell: Cell, other: Cell) -> bool:
        """Whether everything that the other cell stands for lies in this one.

        Labels of a hierarchy are compared by the values that it lists; what it does not list does not count.
        """
        if isinstance(cell, AnyValue) or cell == other:
            return True
        if isinstance(other, AnyValue):
            return False
        if isinstance(other, Exact | Values):
            keys = other.keys if isinstance(other, Values) else (other.key,)
            return all(self.contains(cell, key) for key in keys)
        if isinstance(cell, LabelNode) or isinstance(other, LabelNode):
            mine, theirs = self._leaves(cell), self._leaves(other)
            return theirs <= mine and (bool(theirs) or self._rest(cell, other))
        if isinstance(cell, Mask) and isinstance(other, Mask):
            return cell.contains(other)
        first, second = as_interval(cell, self.kind), as_interval(other, self.kind)
        return first is not None and second is not None and first.contains(second)

    def compare(self, cell: Cell, other: Cell) -> CellOrder:
        """How two cells lie to each other: `COARSER` when the first one covers the second and more."""
        up, down = self.covers(cell, other), self.covers(other, cell)
        if up and down:
            return CellOrder.EQUAL
        return CellOrder.COARSER if up else CellOrder.FINER if down else CellOrder.NEITHER

    def covered(self, text: str, others: Sequence[str]) -> list[str]:
        """The texts among `others` (values, or cells of another release) that a cell stands for.

        Raises:
            UsageError: one cannot be read.
        """
        cells = self.read_all([text, *others])
        return [other for other in others if self.covers(cells[text], cells[other])]

    # --- how coarse cells are ---

    def levels(self, cell: Cell) -> tuple[int, ...]:
        """The levels of the hierarchy that have this cell; empty when none has."""
        top = self.hierarchy.height
        if isinstance(cell, AnyValue):
            return (top,) if top else ()
        if isinstance(cell, Exact):
            return (0, *(n for n in range(1, top) if self._label(None, n) is None)) if cell.key is None else (0,)
        if isinstance(cell, LabelNode):
            group = self._groups.get((cell.label, cell.level))
            return tuple(n for n in self._levels_of_label[cell.label] if self._groups.get((cell.label, n)) == group)
        return tuple(n for n, level in enumerate(self.hierarchy.levels, 1) if is_of_level(cell, level, self.kind))

    def leaves(self, cell: Cell) -> int | None:
        """How many of the values that the hierarchy lists a cell stands for; None when it lists none."""
        return len(self._leaves(cell)) if self.labels else None

    def share(self, cell: Cell) -> Fraction | None:
        """The same as a share of all listed values."""
        listed = len([key for key in self.labels if key is not None])
        return Fraction(len(self._leaves(cell)), listed) if listed else None

    def width(self, cell: Cell, smallest: Fraction, largest: Fraction) -> Fraction | None:
        """The share of the range of a column of numbers that a cell spans; None for cells that have no range.

        Args:
            smallest, largest: the range of the original. Open ends stop there; a single value spans nothing.
        """
        if isinstance(cell, AnyValue):
            return Fraction(1)
        if isinstance(cell, Exact):
            return Fraction(0)
        found = as_interval(cell, self.kind)
        if found is None or largest <= smallest:
            return None if found is None else Fraction(0)
        low = found.low if isinstance(found.low, Fraction) else smallest
        high = found.high if isinstance(found.high, Fraction) else largest
        return max(Fraction(0), (min(high, largest) - max(low, smallest)) / (largest - smallest))

    # --- the hierarchy's own labels ---

    @cached_property
    def _levels_of_label(self) -> dict[str, tuple[int, ...]]:
        found: dict[str, dict[int, None]] = {}
        for labels in self.labels.values():
            for number, label in zip(self.numbered, labels, strict=True):
                if label is not None:
                    found.setdefault(label, {})[number] = None
        if self.hierarchy.default is not None:
            for number, level in enumerate(self.hierarchy.levels, 1):
                if not isinstance(level, TopLevel):
                    found.setdefault(self.hierarchy.default, {})[number] = None
        return {label: tuple(sorted(levels)) for label, levels in found.items() if label != "*"}

    @cached_property
    def _groups(self) -> dict[tuple[str, int], frozenset[str]]:
        """The keys of the values with a label at a level."""
        found: dict[tuple[str, int], set[str]] = {}
        for key, labels in self.labels.items():
            for number, label in zip(self.numbered, labels, strict=True):
                if label is not None and key is not None:
                    found.setdefault((label, number), set()).add(key)
        return {group: frozenset(keys) for group, keys in found.items()}

    @cached_property
    def _leaves_of(self) -> dict[Cell, frozenset[str]]:
        """Leaves of cells that are no labels, each looked up once."""
        return {}

    @property
    def _top_label(self) -> str:
        return self.hierarchy.table.top if self.hierarchy.table is not None else "*"

    def _label(self, key: Name, level: int) -> Name:
        """The label of a value at a level whose labels are known one by one; the default for what has none."""
        if level in self.numbered and key in self.labels:
            return self.labels[key][self.numbered.index(level)]
        if key is None:
            return None
        made = self.hierarchy.level(level)
        covered = made is not None and level not in self.numbered and has_label(made, key, self.kind)
        return None if covered else self.hierarchy.default

    def _common_level(self, texts: Sequence[str]) -> int | None:
        """The lowest level that has every text, `*` apart; None when there is none."""
        rest = [text for text in texts if text not in ("*", self._top_label)]
        if not rest or not self.labels:
            return None
        keys = [found.key for found in (read_cell(text, self.kind) for text in rest) if isinstance(found, Exact)]
        if len(keys) == len(rest) and all(key in self.labels for key in keys):
            return 0
        fitting = [set(self._levels_of_label.get(text, ())) for text in rest]
        return min(set.intersection(*fitting), default=None)

    def _leaves(self, cell: Cell) -> frozenset[str]:
        if isinstance(cell, LabelNode):
            return self._groups.get((cell.label, cell.level), frozenset())
        if cell not in self._leaves_of:
            found = frozenset(key for key in self.labels if key is not None and self.contains(cell, key))
            self._leaves_of[cell] = found
        return self._leaves_of[cell]

    def _rest(self, cell: Cell, other: Cell) -> bool:
        """For cells without listed values: the default's group at one level lies in itself at any other."""
        default = self.hierarchy.default
        return isinstance(cell, LabelNode) and isinstance(other, LabelNode) and cell.label == other.label == default


def reader_of(dictionary: Dictionary, workbench: Engine) -> CellReader:
    """The reader for releases of a column whose values are in a dictionary.

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
    """The reader that needs no table: every form of hierarchy but a user's SQL."""
    if hierarchy.table is None:
        return CellReader(hierarchy, kind)
    numbers = tuple(n for n, level in enumerate(hierarchy.levels, 1) if isinstance(level, MappedLevel))
    return CellReader(hierarchy, kind, dict(matched_rows(hierarchy.table, kind, hierarchy)), numbers)
