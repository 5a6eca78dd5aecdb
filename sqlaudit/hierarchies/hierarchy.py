"""A hierarchy: how the values of one column become coarser, level by level, until only `*` is left.

Level 0 is the value itself. At levels 1, 2, … a value has a label, which is a text. At the highest level every value,
NULL too, is `*`. Below it NULL stays NULL, unless a value table names it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from sqlaudit.base.errors import UsageError
from sqlaudit.hierarchies.levels import Level, MappedLevel, TopLevel

Name = str | None
"""How a file names a value: its text, or None for NULL."""


class Use(StrEnum):
    """What a search may do with a column."""

    GENERALIZE = "generalize"
    KEEP = "keep"
    """Only level 0: the column stays as it is."""
    DROP = "drop"
    """Always `*`: the column is left out and takes no part in the search."""


@dataclass(frozen=True)
class ValueTable:
    """Values with their labels, as a CSV hierarchy, a tree or a mapping lists them.

    Args:
        rows: value (None = NULL) to its labels, from level 1 to the level below the top; None where NULL stays NULL.
        depth: how many labels each value has.
        place: where it was read from, for errors.
        top: how the file calls the highest level; cells of a release may be spelled so.
    """

    rows: Mapping[Name, tuple[Name, ...]] = field(hash=False)
    depth: int
    place: str
    top: str = "*"

    def labels(self, place: int) -> Iterator[tuple[Name, Name]]:
        """(value, label) at a place, 0 = level 1."""
        return ((value, labels[place]) for value, labels in self.rows.items())


@dataclass(frozen=True)
class Hierarchy:
    """The hierarchy of one column.

    Args:
        column: the column or expression, as `--qi` names it.
        levels: levels 1, 2, …; the last one is the top. Empty for a column that is kept.
        use: whether a search may generalize the column.
        default: the label of values that no level covers, below the top; None = they are an error.
        table: the values and labels behind `MappedLevel`s.
        form: the word of the file schema it was written with: widths, mask, dates, tree, csv, values, sql, or nothing
            for a column without a hierarchy (kept or suppressed).
        place: where it was read from, for errors and reports.
    """

    column: str
    levels: tuple[Level, ...]
    use: Use = Use.GENERALIZE
    default: str | None = None
    table: ValueTable | None = None
    form: str = ""
    place: str = ""

    def __post_init__(self) -> None:
        if (self.use is Use.KEEP) != (not self.levels):
            raise UsageError(f"{self.column}: only a column that is kept has no levels.")
        if self.levels and not isinstance(self.levels[-1], TopLevel):
            object.__setattr__(self, "levels", (*self.levels, TopLevel()))

    @property
    def height(self) -> int:
        """The number of the highest level, where every value is `*`; 0 for a column that is kept."""
        return len(self.levels)

    @property
    def takes_part(self) -> bool:
        """Whether a search chooses a level for it."""
        return self.use is not Use.DROP

    def level(self, number: int) -> Level | None:
        """The level of a number, None for level 0.

        Raises:
            IndexError: there is no such level.
        """
        if not 0 <= number <= self.height:
            raise IndexError(f"{self.column} has levels 0 to {self.height}, not {number}")
        return self.levels[number - 1] if number else None

    def level_names(self) -> tuple[str, ...]:
        """What reports call levels 0, 1, …"""
        return ("values", *(level.name for level in self.levels))

    def examples(self) -> tuple[str, ...]:
        """What a value may become at levels 0, 1, …; empty where there is nothing to show.

        They are made up, or labels of the hierarchy's own file that are no values there: no value of a table is shown.
        """
        return ("", *(self._listed(one.place) if isinstance(one, MappedLevel) else one.example for one in self.levels))

    def _listed(self, place: int) -> str:
        labels = () if self.table is None else self.table.labels(place)
        values = () if self.table is None else self.table.rows
        return next((label for _, label in labels if label and label not in values), "")


def plain(column: str) -> Hierarchy:
    """What a column without a hierarchy has: it is kept (level 0) or suppressed (level 1, `*`).

    Example:
        >>> plain("sex").height
        1
    """
    return Hierarchy(column, (TopLevel(),))


def kept(column: str, place: str = "") -> Hierarchy:
    """A column that stays as it is: height 0."""
    return Hierarchy(column, (), Use.KEEP, form="keep", place=place)


def dropped(column: str, place: str = "") -> Hierarchy:
    """A column that is always `*`."""
    return Hierarchy(column, (TopLevel(),), Use.DROP, form="drop", place=place)


def from_table(column: str, table: ValueTable, form: str, default: str | None = None) -> Hierarchy:
    """The hierarchy that a value table describes."""
    levels = tuple(MappedLevel(place) for place in range(table.depth))
    return Hierarchy(column, (*levels, TopLevel()), default=default, table=table, form=form, place=table.place)


def heights(hierarchies: Sequence[Hierarchy]) -> tuple[int, ...]:
    """The heights of several hierarchies, in their order."""
    return tuple(hierarchy.height for hierarchy in hierarchies)
