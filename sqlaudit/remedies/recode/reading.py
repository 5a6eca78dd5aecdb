"""From a table to its classes in whole numbers: one statement for the row patterns, one more for each sensitive
attribute.

Values are numbered as the dictionaries of the hierarchies number them; that both count alike is checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import EngineError, UsageError
from sqlaudit.base.relation import Kind, Relation
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import spelled
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.dictionary import Dictionary, dictionary, held
from sqlaudit.hierarchies.hierarchy import Hierarchy
from sqlaudit.lattices.coding import KeyColumn, code_values
from sqlaudit.remedies.patterns import Patterns, RemedyTable, read_patterns
from sqlaudit.remedies.recode.classes import Classes
from sqlaudit.remedies.recode.judging import Counted
from sqlaudit.remedies.recode.mondrian import Axis, Floats
from sqlaudit.remedies.recode.trees import Integers, tree_of, whole_heights

NAME = "sqlaudit_recode_values"
_ORDERED = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.DATE, Kind.TIMESTAMP)
_BY_ORDER = ("widths", "dates", "")
"""Forms of hierarchies that say nothing but the order of values; without one there is nothing but the order."""


@dataclass(frozen=True)
class ReadTable:
    """A table as it was read.

    Args:
        table: the table, as its rows are rewritten. patterns: its row patterns. dictionaries: of its columns.
        classes: one a pattern; where NULLs are equal to nothing some may have equal nodes. values: (classes × columns)
            the number of each class's value. lanes: for each counted attribute (class, lane, rows) of what occurs.
    """

    table: RemedyTable
    patterns: Patterns
    dictionaries: tuple[Dictionary, ...]
    classes: Classes
    values: Integers
    lanes: Mapping[int, tuple[Integers, Integers, Integers]]

    @property
    def hierarchies(self) -> tuple[Hierarchy, ...]:
        """Of the columns."""
        return tuple(made.hierarchy for made in self.dictionaries)


@contextmanager
def dictionaries_of(
    engine: Engine, workbench: Engine, relation: Relation, columns: Sequence[Resolved], hierarchies: Sequence[Hierarchy]
) -> Iterator[list[Dictionary]]:
    """The dictionary of every column; dropped afterwards.

    Raises:
        UsageError: a hierarchy that does not fit the values, or a table without rows.
    """
    made: list[Dictionary] = []
    try:
        for place, (column, hierarchy) in enumerate(zip(columns, hierarchies, strict=True)):
            made.append(_dictionary(engine, workbench, relation, column, hierarchy, f"{NAME}_{place}"))
        yield made
    finally:
        for one in made:
            workbench.drop(one.relation.label)


def _dictionary(
    engine: Engine, workbench: Engine, relation: Relation, column: Resolved, hierarchy: Hierarchy, name: str
) -> Dictionary:
    holds = held(engine, relation, column)
    if holds.kind is Kind.OTHER:
        raise UsageError(
            f"{column.label} holds values of another kind than numbers, texts and dates; name it as an expression, for "
            f"instance CAST({column.sql} AS TEXT)."
        )
    try:
        return dictionary(engine, workbench, relation, column, hierarchy, name)
    except UsageError:
        if engine.run(render("base/row_count.sql", engine.dialect, source=Raw(relation.sql)))[0][0]:
            raise
        raise UsageError(f"{relation.label} has no rows, so there is nothing to recode.") from None


def typed(engine: Engine, relation: Relation, roles: ResolvedRoles) -> ResolvedRoles:
    """The roles with what expressions among the quasi-identifiers hold, so that texts are ordered by code point."""

    def known(role: Resolved) -> Resolved:
        holds = held(engine, relation, role)
        return replace(role, kind=holds.kind, type=holds.type)

    return replace(roles, quasi_identifiers=tuple(known(role) for role in roles.quasi_identifiers))


def read_classes(
    workbench: Engine,
    table: RemedyTable,
    loaded: RemedyTable,
    dictionaries: Sequence[Dictionary],
    attributes: Sequence[Counted],
    beta: Fraction,
    *,
    apart: bool,
) -> ReadTable:
    """The classes of a table.

    Args:
        workbench: where the dictionaries lie. table: the table as it is rewritten. loaded: the same as it is read.
        dictionaries: of its quasi-identifiers. attributes: the sensitive ones. beta: of the weights of levels.
        apart: whether NULLs are equal to nothing.

    Raises:
        UsageError: missing values that are equal to nothing in a column that is kept.
        EngineError: the table changed while it was read.
    """
    patterns = read_patterns(loaded)
    values = _values(patterns, dictionaries)
    labels = [
        _labels(workbench, made, column, place)
        for place, (made, column) in enumerate(zip(dictionaries, loaded.roles.quasi_identifiers, strict=True))
    ]
    heights = whole_heights([made.hierarchy.height for made in dictionaries], beta, patterns.rows)
    trees = tuple(
        tree_of(rows, height, kept=not made.hierarchy.height)
        for (rows, _), height, made in zip(labels, heights, dictionaries, strict=True)
    )
    nodes = values.copy()
    for place, (made, (_, named)) in enumerate(zip(dictionaries, labels, strict=True)):
        if apart and made.missing_rows:
            nodes[values[:, place] == made.values - 1, place] = _named(made, trees[place].ancestors, named)
    lanes = {one.position: _lanes(loaded, one, values, dictionaries) for one in attributes if one.counted}
    words = _words(attributes, lanes, len(values))
    classes = Classes(trees, nodes, patterns.sizes, words)
    return ReadTable(table, patterns, tuple(dictionaries), classes, values, lanes)


def _named(made: Dictionary, ancestors: Integers, named: int) -> int:
    """Where rows without a value begin when they are equal to nothing: at the lowest level that names NULL."""
    if not made.hierarchy.height:
        raise UsageError(
            f"{made.hierarchy.column} is kept as it is and has missing values, which are equal to nothing with "
            f"{spelled('nulls', 'distinct')}; give it a hierarchy, or use {spelled('nulls', 'equal')}."
        )
    return int(ancestors[named, made.values - 1])


def _values(patterns: Patterns, dictionaries: Sequence[Dictionary]) -> Integers:
    """The numbers of the patterns' values in the dictionaries."""
    found = patterns.codes[:, : len(dictionaries)] - 1
    for place, made in enumerate(dictionaries):
        found[found[:, place] < 0, place] = made.values - 1
        if len(found) and int(found[:, place].max()) >= made.values:
            raise EngineError(f"{made.hierarchy.column} has other values than a moment ago; ask again.")
    return found


def _labels(workbench: Engine, made: Dictionary, column: Resolved, place: int) -> tuple[Integers, int]:
    """(height + 1, values) the numbers of the labels at each level, and the lowest level at which NULL has one."""
    layout = code_values(workbench, [KeyColumn(column, made)], f"_recode_{place}")
    coded = layout.columns[0]
    statement = render(
        "lattices/lattice_numbers.sql",
        workbench.dialect,
        step="codes of " + coded.label,
        codes=Raw(coded.codes.sql),
        key=layout.key,
    )
    rows = np.array(workbench.run(statement), dtype=np.int64)
    workbench.drop(coded.codes.label)
    if not len(rows):
        return np.zeros((made.hierarchy.height + 1, 0), dtype=np.int64), 0
    keys, named = rows[:, 1:-1], int(rows[-1, -1])
    levels = [np.arange(len(rows))]
    for level in range(1, made.hierarchy.height + 1):
        masked = keys & np.array(coded.masks(level, layout.words), dtype=np.int64)
        levels.append(np.unique(masked, axis=0, return_inverse=True)[1].ravel())
    return np.vstack(levels).astype(np.int64), named


def _lanes(
    loaded: RemedyTable, attribute: Counted, values: Integers, dictionaries: Sequence[Dictionary]
) -> tuple[Integers, Integers, Integers]:
    """(class, lane, rows) for each sensitive value of each class."""
    if attribute.resolved is None or attribute.table is None:
        raise ValueError("an attribute without a table has no lanes")
    found = read_patterns(replace(loaded, apart=(attribute.resolved,)))
    keys = _values(found, dictionaries)
    begins = np.concatenate([[1], (keys[1:] != keys[:-1]).any(axis=1)]) if len(keys) else np.zeros(0)
    places = np.cumsum(begins.astype(np.int64)) - 1
    if not np.array_equal(keys[begins.astype(bool)], values):
        raise EngineError("The table has other rows than a moment ago; ask again.")
    lanes = found.codes[:, -1] - 1
    lanes[lanes < 0] = attribute.table.distinct - 1
    return places, lanes, found.sizes


def _words(
    attributes: Sequence[Counted], lanes: Mapping[int, tuple[Integers, Integers, Integers]], count: int
) -> Integers:
    """The counts of all attributes in words, as `Attribute.packing` lays them out."""
    columns: list[Integers] = []
    for attribute in attributes:
        if not attribute.counted:
            continue
        places, found, rows = lanes[attribute.position]
        made = np.zeros((len(attribute.words), count), dtype=np.int64)
        word = np.zeros(len(attribute.lanes), dtype=np.int64)
        shift = np.zeros(len(attribute.lanes), dtype=np.int64)
        for lane, number, bits in attribute.lanes:
            word[lane], shift[lane] = number, bits
        np.add.at(made, (word[found], places), rows << shift[found])
        columns += list(made)
    return np.column_stack(columns) if columns else np.zeros((count, 0), dtype=np.int64)


def axes_of(workbench: Engine, read: ReadTable) -> list[Axis]:
    """How Mondrian splits each column: at medians where its hierarchy says nothing but the order of its values."""
    return [
        Axis(tree, _points(workbench, made) if by_order(made) else None)
        for tree, made in zip(read.classes.trees, read.dictionaries, strict=True)
    ]


def by_order(made: Dictionary) -> bool:
    """Whether a column is cut into ranges."""
    return made.hierarchy.height > 0 and made.holds.kind in _ORDERED and made.hierarchy.form in _BY_ORDER


def _points(workbench: Engine, made: Dictionary) -> Floats:
    """Where the values of an ordered column lie: numbers as they are, times in seconds; NaN for NULL."""
    statement = render(
        "remedies/recode/recode_points.sql",
        workbench.dialect,
        step="places of " + made.hierarchy.column,
        values=Raw(made.relation.sql),
        times=made.holds.kind in (Kind.DATE, Kind.TIMESTAMP),
    )
    return np.array([np.nan if row[0] is None else float(row[0]) for row in workbench.run(statement)])
