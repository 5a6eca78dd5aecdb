"""What generalized cells stand for, read by the one parser of such cells, with the column's hierarchy if it has one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Kind
from sqlaudit.hierarchies.cell_reader import CellReader, plain_reader
from sqlaudit.hierarchies.cells import AnyValue, Cell, Exact, Interval
from sqlaudit.hierarchies.hierarchy import Hierarchy, plain

MAX_COMPARED = 5_000_000
"""Up to this many (cell, value) pairs of a column are compared."""
_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
_WITH_POINTS = (*_NUMBERS, Kind.DATE, Kind.TIMESTAMP)


@dataclass(frozen=True)
class ColumnReader:
    """The reader of one column.

    Args:
        hierarchy: the column's; `plain` when none was given.
        listed: whether it was given, so that any text may be a label.
    """

    hierarchy: Hierarchy
    listed: bool

    def reads_all(self, cells: Kind, values: Kind) -> bool:
        """Whether any text of a column may be a generalized cell, not only those that look so."""
        return self.listed or (values in _WITH_POINTS and cells not in _WITH_POINTS)

    def pairs(self, cells: Sequence[str], others: Sequence[str], kind: Kind) -> Iterator[tuple[str, str]]:
        """(cell, other) for all generalized cells and all texts (values, or cells of another release) that they cover.

        Args:
            kind: what the values are, as far as the database knows.

        Raises:
            UsageError: a cell cannot be read, or there is too much to compare; the column is named, not the cell.
        """
        reader = plain_reader(self.hierarchy, self._kind(cells, others, kind))
        read = {text: cell for text, cell in reader.read_all(cells).items() if not isinstance(cell, Exact)}
        if len(read) * len(others) > MAX_COMPARED:
            raise UsageError(
                f"{self.hierarchy.column}: {len(read):,} generalized cells and {len(others):,} different values are "
                "too many to compare one by one; leave the column out, or compare a coarser expression."
            )
        values = _readable(reader, others)
        for text, cell in read.items():
            yield from ((str(text), other) for other, value in values.items() if reader.covers(cell, value))

    def everything(self, cells: Sequence[str]) -> list[str]:
        """The cells that stand for everything, NULL too."""
        reader = plain_reader(self.hierarchy, Kind.TEXT)
        return [cell for cell in cells if isinstance(reader.read(cell), AnyValue)]

    def _kind(self, cells: Sequence[str], others: Sequence[str], kind: Kind) -> Kind:
        """What the values are; texts are numbers when a cell is an interval of numbers and every text fits that."""
        if kind in _WITH_POINTS:
            return kind
        as_numbers = CellReader(self.hierarchy, Kind.DECIMAL)
        read = [as_numbers.read(text) for text in (*cells, *others)]
        if any(cell is None for cell in read) or not any(isinstance(cell, Interval) for cell in read):
            return kind
        whole = all(_is_whole(cell) for cell in read if cell is not None)
        return Kind.INTEGER if whole else Kind.DECIMAL


def _readable(reader: CellReader, texts: Sequence[str]) -> Mapping[str, Cell]:
    """What can be read of the other table; a text that cannot is covered by nothing but `*`."""
    found = {text: reader.read(text) for text in texts}
    return {text: cell for text, cell in found.items() if cell is not None}


def _is_whole(cell: Cell) -> bool:
    if isinstance(cell, Exact):
        return cell.key is None or "." not in cell.key
    if isinstance(cell, Interval):
        return all(getattr(end, "denominator", 1) == 1 for end in (cell.low, cell.high))
    return True


Readers = Callable[[str], ColumnReader]
"""The reader of a column by its label."""


def readers_for(hierarchies: Mapping[str, Hierarchy]) -> Readers:
    """The reader of each column.

    Args:
        hierarchies: those that were given, by column.
    """
    return lambda label: ColumnReader(hierarchies.get(label) or plain(label), label in hierarchies)
