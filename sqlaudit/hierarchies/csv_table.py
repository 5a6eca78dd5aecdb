"""Value tables in CSV, as ARX and Amnesia write them: one line a value, `value;level1;…;*`, without a header."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sqlaudit.base.errors import UsageError
from sqlaudit.hierarchies.hierarchy import Name, ValueTable
from sqlaudit.hierarchies.levels import TOP
from sqlaudit.hierarchies.value_tree import hierarchy_rows

Lines = Sequence[tuple[str, Name, tuple[Name, ...]]]
"""(place, value, labels)."""


def read_csv_table(path: Path) -> ValueTable:
    """The value table in a CSV hierarchy.

    The separator is `;` where the first line has one, else a comma. An empty first field names NULL and the empty
    text. When the last column is the same in all lines it is the highest level, else one is added above it.

    Raises:
        InputError: the file cannot be read.
        UsageError: lines of different length, or a value on two lines with different labels.
    """
    rows = hierarchy_rows(path)
    width = len(rows[0][1])
    for line, row in rows:
        if len(row) != width:
            raise UsageError(f"{path}, line {line}: has {len(row)} fields, the first line has {width}.")
    return value_table([(f"{path}, line {line}", row[0] or None, tuple(row[1:])) for line, row in rows], str(path))


def value_table(lines: Lines, place: str) -> ValueTable:
    """A value table from its lines; the last level is taken as the top when it is the same in all of them.

    Raises:
        UsageError: a value on two lines with different labels.
    """
    rows: dict[Name, tuple[Name, ...]] = {}
    for where, value, labels in lines:
        known = rows.setdefault(value, labels)
        if known != labels:
            level = next(i for i, (a, b) in enumerate(zip(known, labels, strict=True), 1) if a != b)
            raise UsageError(f"{where}: this value has another label at level {level} in an earlier line.")
    tops = {labels[-1] for labels in rows.values()}
    top = tops.pop() if len(tops) == 1 else None
    if top is not None:
        rows = {value: labels[:-1] for value, labels in rows.items()}
    depth = len(next(iter(rows.values())))
    return ValueTable(rows, depth, place, TOP if top is None else top)
