"""From a table to its classes in whole numbers, and which groups of classes satisfy what is required."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import EngineError, UsageError
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Kind, Relation
from sqlaudit.base.sql import render
from sqlaudit.classes.histogram import Packing
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.dictionary import Dictionary, column_type, dictionary
from sqlaudit.hierarchies.levels import Hierarchy
from sqlaudit.lattices.coding import LANES, Attribute, KeyColumn, code_values, decides
from sqlaudit.lattices.evaluate import all_inherited
from sqlaudit.lattices.figures import NodeFigures
from sqlaudit.lattices.rollup import Chunk
from sqlaudit.models.judge import Asked
from sqlaudit.remedies.recode.classes import Classes, Flags, tree_of, whole_heights
from sqlaudit.remedies.recode.kaca import Axis, Floats
from sqlaudit.remedies.rewriting import Integers, Patterns, RemedyTable, read_patterns

# Which groups of classes satisfy what is required: many at a time, by the predicates of the models over their counts.
#
# The same SQL decides nodes of the lattice. Groups with the same rows and counts are asked about once.

GROUPS = "sqlaudit_recode_groups"
_AT_ONCE = 200_000
"""Groups of one statement: the models' combinations are read for so many at most."""


@dataclass(frozen=True)
class Counted(Attribute):
    """A sensitive attribute whose counts are kept whatever is required: losses speak of them, too."""

    @property
    def counted(self) -> bool:
        """Whether there are values, and few enough for a word of counts each."""
        return self.table is not None and self.table.distinct <= LANES

    @property
    def presence_only(self) -> bool:
        """Always the whole counts."""
        return False

    @property
    def lanes(self) -> list[tuple[int, int, int]]:
        """(lane, number of its word, shift)."""
        packing: Packing = self.packing
        return [(lane, place, shift) for place, word in enumerate(packing.words) for lane, shift in word]


def counted(attributes: Sequence[Attribute]) -> list[Counted]:
    """The attributes with their counts kept.

    Raises:
        UsageError: what is required cannot be decided class by class, or has too many values.
    """
    for attribute in attributes:
        for item in attribute.asked:
            if decides(item):
                _refuse(item)
        if attribute.counted and attribute.table is not None and attribute.table.distinct > LANES:
            raise UsageError(
                f"{attribute.table.name} has {attribute.table.distinct:,} different values, more than the {LANES} that "
                "recode supports. Round or group it first."
            )
    return [Counted(one.position, one.resolved, one.table, one.asked) for one in attributes]


def _refuse(item: Asked) -> None:
    model, text = item.model, item.requirement.text
    if model.of_persons:
        raise UsageError(f"{text!r} is about people with many rows, but recode needs one row per person. Use lattice.")
    if model.own_statements:
        raise UsageError(
            f"{text!r} compares classes with another table, where locally recoded classes have no counterpart. Use "
            "lattice."
        )
    if model.of_table:
        raise UsageError(
            f"{text!r} is about the whole table, not about single classes. Use lattice, or a requirement on classes."
        )


def of_sizes(attributes: Sequence[Counted]) -> list[Counted]:
    """The same, with only those requirements that sizes of classes decide."""

    def by_size(item: Asked) -> bool:
        return decides(item) and not item.model.needs_sensitive and not item.model.facts()

    return [replace(one, asked=tuple(filter(by_size, one.asked))) for one in attributes]


class Judge:
    """Says which groups fail.

    Args:
        workbench: where groups are judged. attributes: what is required of whom. rows: rows of the table.
        template: what asks; for tests.
    """

    def __init__(self, workbench: Engine, attributes: Sequence[Counted], rows: int) -> None:
        self._workbench = workbench
        self._names = [name for attribute in attributes for name, _ in attribute.words]
        self._figures = NodeFigures(workbench, attributes, rows, max(1, rows))
        self._known: dict[bytes, bool] = {}
        self.decides = bool(self._figures.names())
        self.inherited = all_inherited(attributes, 0)
        self._reads = [bool(block.facts) for block in self._figures.blocks for _ in block.attribute.words]

    def short(self, sizes: Integers, words: Integers) -> Flags:
        """Which groups fail, in their order.

        Args:
            sizes: rows of each. words: (groups × words) their counts.

        Raises:
            UsageError: more different groups than can be decided.
        """
        if not self.decides or not len(sizes):
            return np.zeros(len(sizes), dtype=bool)
        table = np.ascontiguousarray(np.column_stack([sizes, words * np.array(self._reads, dtype=np.int64)]))
        rows = table.view([("", table.dtype)] * table.shape[1]).ravel()
        _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
        keys = [row.tobytes() for row in table[first]]
        new = [place for place, key in enumerate(keys) if key not in self._known]
        for start in range(0, len(new), _AT_ONCE):
            some = new[start : start + _AT_ONCE]
            for place, verdict in zip(some, self._ask(table[first[some]]), strict=True):
                self._known[keys[place]] = verdict
        found = np.array([self._known[key] for key in keys], dtype=bool)
        return found[inverse.ravel()]

    def _ask(self, groups: Integers) -> list[bool]:
        """One statement for different groups."""
        columns = [(name, "BIGINT") for name in ("id", "g", "n", *self._names)]
        places = np.arange(len(groups))
        table = np.column_stack([np.zeros_like(places), places, groups])
        kept = self._workbench.keep_rows(GROUPS, columns, [list(map(tuple, table.tolist()))])
        given = self._figures.failing(Chunk(kept.sql, {0: ()}))
        statement = render(
            "remedies/recode/recode_short.sql", self._workbench.dialect, step="failing groups", grouped=kept, **given
        )
        short = {int(place) for (place,) in self._workbench.run(statement)}
        self._workbench.drop(GROUPS)
        return [place in short for place in range(len(groups))]


# From a table to its classes in whole numbers: one statement for the row patterns, one more for each sensitive
# attribute.
#
# Values are numbered as the dictionaries of the hierarchies number them; that both count alike is checked.

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
    holds = column_type(engine, relation, column)
    if holds.kind is Kind.OTHER:
        raise UsageError(
            f"{column.label} has neither numbers, texts nor dates. Convert it with an expression, for example "
            f"CAST({column.sql} AS TEXT)."
        )
    try:
        return dictionary(engine, workbench, relation, column, hierarchy, name)
    except UsageError:
        if engine.run(render("base/row_count.sql", engine.dialect, source=relation))[0][0]:
            raise
        raise UsageError(f"{relation.label} has no rows.") from None


def typed(engine: Engine, relation: Relation, roles: ResolvedRoles) -> ResolvedRoles:
    """The roles with what expressions among the quasi-identifiers hold, so that texts are ordered by code point."""

    def known(role: Resolved) -> Resolved:
        holds = column_type(engine, relation, role)
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
            f"{made.hierarchy.column} is kept and has missing values, which are equal to nothing with "
            f"{spelled('nulls', 'distinct')}. Give it a hierarchy, or use {spelled('nulls', 'equal')}."
        )
    return int(ancestors[named, made.values - 1])


def _values(patterns: Patterns, dictionaries: Sequence[Dictionary]) -> Integers:
    """The numbers of the patterns' values in the dictionaries."""
    found = patterns.codes[:, : len(dictionaries)] - 1
    for place, made in enumerate(dictionaries):
        found[found[:, place] < 0, place] = made.values - 1
        if len(found) and int(found[:, place].max()) >= made.values:
            raise EngineError(f"{made.hierarchy.column} has changed during the run. Run the command again.")
    return found


def _labels(workbench: Engine, made: Dictionary, column: Resolved, place: int) -> tuple[Integers, int]:
    """(height + 1, values) the numbers of the labels at each level, and the lowest level at which NULL has one."""
    layout = code_values(workbench, [KeyColumn(column, made)], f"_recode_{place}")
    coded = layout.columns[0]
    statement = render(
        "lattices/lattice_numbers.sql",
        workbench.dialect,
        step="codes of " + coded.label,
        codes=coded.codes,
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
        raise EngineError("The table has changed during the run. Run the command again.")
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
        values=made.relation,
        times=made.holds.kind in (Kind.DATE, Kind.TIMESTAMP),
    )
    return np.array([np.nan if row[0] is None else float(row[0]) for row in workbench.run(statement)])
