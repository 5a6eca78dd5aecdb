"""Read the classes of a table as arrays of numbers, and judge groups of classes by the requirements."""

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
from sqlaudit.remedies.recode.classes import Classes, Flags, scale_heights, tree_of
from sqlaudit.remedies.recode.kaca import Axis, Floats
from sqlaudit.remedies.rewriting import Integers, Patterns, RemedyTable, read_patterns

# Groups of classes are judged many at a time, by the predicates of the models over their counts.
#
# The same SQL decides nodes of the lattice. Groups with the same rows and counts are judged once.

GROUPS = "sqlaudit_recode_groups"
_AT_ONCE = 200_000
"""Largest number of groups in one statement."""


@dataclass(frozen=True)
class CountedAttribute(Attribute):
    """A sensitive attribute with all its counts, whatever the requirements: losses need them, too."""

    @property
    def counted(self) -> bool:
        """Return True if there are values, and few enough for a word of counts each."""
        return self.table is not None and self.table.distinct <= LANES

    @property
    def presence_only(self) -> bool:
        """Return False: the counts are always complete."""
        return False

    @property
    def lanes(self) -> list[tuple[int, int, int]]:
        """Return (lane, number of its word, shift) for each lane."""
        packing: Packing = self.packing
        return [(lane, number, shift) for number, word in enumerate(packing.words) for lane, shift in word]


def with_all_counts(attributes: Sequence[Attribute]) -> list[CountedAttribute]:
    """Return the attributes with all their counts.

    Raises:
        UsageError: a requirement cannot be decided class by class, or an attribute has too many values.
    """
    for attribute in attributes:
        for check in attribute.asked:
            if decides(check):
                _check_requirement(check)
        if attribute.counted and attribute.table is not None and attribute.table.distinct > LANES:
            raise UsageError(
                f"{attribute.table.name} has {attribute.table.distinct:,} different values, more than the {LANES} that "
                "recode supports. Round or group it first."
            )
    return [
        CountedAttribute(attribute.position, attribute.resolved, attribute.table, attribute.asked)
        for attribute in attributes
    ]


def _check_requirement(check: Asked) -> None:
    """Raise UsageError if a requirement cannot be decided class by class."""
    if reason := check.model.why_not_by_class():
        raise UsageError(f"{check.requirement.text!r} {reason}")


def size_requirements_of(attributes: Sequence[CountedAttribute]) -> list[CountedAttribute]:
    """Return the attributes with only the requirements that the sizes of classes decide."""

    def is_about_sizes(check: Asked) -> bool:
        return decides(check) and not check.model.needs_sensitive and not check.model.facts()

    return [replace(attribute, asked=tuple(filter(is_about_sizes, attribute.asked))) for attribute in attributes]


class Judge:
    """A judge that decides by SQL which groups fail.

    Args:
        workbench: the engine that judges groups.
        attributes: the sensitive attributes with their requirements.
        rows: the number of rows of the table.
    """

    def __init__(self, workbench: Engine, attributes: Sequence[CountedAttribute], rows: int) -> None:
        self._workbench = workbench
        self._names = [name for attribute in attributes for name, _ in attribute.words]
        self._figures = NodeFigures(workbench, attributes, rows, max(1, rows))
        self._verdicts: dict[bytes, bool] = {}
        self.decides = bool(self._figures.names())
        self.inherited = all_inherited(attributes, 0)
        self._reads = [bool(block.facts) for block in self._figures.blocks for _ in block.attribute.words]

    def short(self, sizes: Integers, words: Integers) -> Flags:
        """Return which groups fail, in their order.

        Args:
            sizes: the number of rows of each group.
            words: (groups × words) their counts.

        Raises:
            UsageError: there are more different groups than can be decided.
        """
        if not self.decides or not len(sizes):
            return np.zeros(len(sizes), dtype=bool)
        table = np.ascontiguousarray(np.column_stack([sizes, words * np.array(self._reads, dtype=np.int64)]))
        rows = table.view([("", table.dtype)] * table.shape[1]).ravel()
        _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
        keys = [row.tobytes() for row in table[first]]
        undecided = [position for position, key in enumerate(keys) if key not in self._verdicts]
        for start in range(0, len(undecided), _AT_ONCE):
            batch = undecided[start : start + _AT_ONCE]
            for position, verdict in zip(batch, self._ask(table[first[batch]]), strict=True):
                self._verdicts[keys[position]] = verdict
        verdicts = np.array([self._verdicts[key] for key in keys], dtype=bool)
        return verdicts[inverse.ravel()]

    def _ask(self, groups: Integers) -> list[bool]:
        """Judge different groups by one statement."""
        numbers = np.arange(len(groups))
        arrays = [np.zeros_like(numbers), numbers, *np.ascontiguousarray(groups.T)]
        stored = self._workbench.keep_frame(GROUPS, dict(zip(["id", "g", "n", *self._names], arrays, strict=True)))
        predicates = self._figures.failing(Chunk(stored.sql, {0: ()}))
        statement = render(
            "remedies/recode/recode_short.sql",
            self._workbench.dialect,
            step="failing groups",
            grouped=stored,
            **predicates,
        )
        failing = {int(number) for (number,) in self._workbench.run(statement)}
        self._workbench.drop(GROUPS)
        return [number in failing for number in range(len(groups))]


# The classes of a table: one statement for the row patterns, one more for each sensitive attribute.
#
# Values have the numbers of the dictionaries of the hierarchies. A difference means that the table has changed.

NAME = "sqlaudit_recode_values"
_ORDERED_KINDS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.DATE, Kind.TIMESTAMP)
_FORMS_OF_ORDER = ("widths", "dates", "")
"""Forms of hierarchies that only follow the order of values. Without a form, only the order is known."""


@dataclass(frozen=True)
class ReadTable:
    """The classes that were read of a table.

    Args:
        table: the table whose rows are rewritten.
        patterns: its row patterns.
        dictionaries: the dictionaries of its columns.
        classes: one class a pattern. If NULLs are equal to nothing, some may have equal nodes.
        values: (classes × columns) the number of each class's value.
        lanes: (class, lane, rows) of the sensitive values that occur, by the position of the attribute.
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
    """Yield the dictionary of every column, and drop them afterwards.

    Raises:
        UsageError: a hierarchy does not fit the values, or the table has no rows.
    """
    dictionaries: list[Dictionary] = []
    try:
        for number, (column, hierarchy) in enumerate(zip(columns, hierarchies, strict=True)):
            dictionaries.append(_checked_dictionary(engine, workbench, relation, column, hierarchy, f"{NAME}_{number}"))
        yield dictionaries
    finally:
        for column_dictionary in dictionaries:
            workbench.drop(column_dictionary.relation.label)


def _checked_dictionary(
    engine: Engine, workbench: Engine, relation: Relation, column: Resolved, hierarchy: Hierarchy, name: str
) -> Dictionary:
    """Return the dictionary of a column.

    Raises:
        UsageError: its values are neither numbers, texts nor dates, its hierarchy does not fit, or there are no rows.
    """
    found_type = column_type(engine, relation, column)
    if found_type.kind is Kind.OTHER:
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


def with_column_types(engine: Engine, relation: Relation, roles: ResolvedRoles) -> ResolvedRoles:
    """Return the roles with the types of expressions among the quasi-identifiers, so that texts sort by code point."""

    def with_type(role: Resolved) -> Resolved:
        found_type = column_type(engine, relation, role)
        return replace(role, kind=found_type.kind, type=found_type.type)

    return replace(roles, quasi_identifiers=tuple(with_type(role) for role in roles.quasi_identifiers))


def read_classes(
    workbench: Engine,
    table: RemedyTable,
    loaded: RemedyTable,
    dictionaries: Sequence[Dictionary],
    attributes: Sequence[CountedAttribute],
    beta: Fraction,
    *,
    nulls_differ: bool,
) -> ReadTable:
    """Read the classes of a table.

    Args:
        workbench: the engine with the dictionaries.
        table: the table whose rows are rewritten.
        loaded: the same table as it is read.
        dictionaries: the dictionaries of its quasi-identifiers.
        attributes: the sensitive attributes.
        beta: the exponent of the weights of levels.
        nulls_differ: whether NULLs are equal to nothing.

    Raises:
        UsageError: a column that is published as it is has missing values that are equal to nothing.
        EngineError: the table changed while it was read.
    """
    patterns = read_patterns(loaded)
    values = _value_numbers(patterns, dictionaries)
    labels = [
        _label_numbers(workbench, column_dictionary, column, number)
        for number, (column_dictionary, column) in enumerate(
            zip(dictionaries, loaded.roles.quasi_identifiers, strict=True)
        )
    ]
    heights = scale_heights(
        [column_dictionary.hierarchy.height for column_dictionary in dictionaries], beta, patterns.rows
    )
    trees = tuple(
        tree_of(rows, height, is_fixed=not column_dictionary.hierarchy.height)
        for (rows, _), height, column_dictionary in zip(labels, heights, dictionaries, strict=True)
    )
    nodes = values.copy()
    for number, (column_dictionary, (_, null_level)) in enumerate(zip(dictionaries, labels, strict=True)):
        if nulls_differ and column_dictionary.missing_rows:
            nodes[values[:, number] == column_dictionary.values - 1, number] = _missing_value_node(
                column_dictionary, trees[number].ancestors, null_level
            )
    lanes = {
        attribute.position: _sensitive_counts(loaded, attribute, values, dictionaries)
        for attribute in attributes
        if attribute.counted
    }
    words = _packed_counts(attributes, lanes, len(values))
    classes = Classes(trees, nodes, patterns.sizes, words)
    return ReadTable(table, patterns, tuple(dictionaries), classes, values, lanes)


def _missing_value_node(column_dictionary: Dictionary, ancestors: Integers, null_level: int) -> int:
    """Return the node at which rows without a value begin if NULLs are equal to nothing: the lowest label of NULL.

    Raises:
        UsageError: the column has no hierarchy.
    """
    if not column_dictionary.hierarchy.height:
        raise UsageError(
            f"{column_dictionary.hierarchy.column} is kept and has missing values, which are equal to nothing with "
            f"{spelled('nulls', 'distinct')}. Give it a hierarchy, or use {spelled('nulls', 'equal')}."
        )
    return int(ancestors[null_level, column_dictionary.values - 1])


def _value_numbers(patterns: Patterns, dictionaries: Sequence[Dictionary]) -> Integers:
    """Return the numbers of the patterns' values in the dictionaries."""
    numbers = patterns.codes[:, : len(dictionaries)] - 1
    for column, column_dictionary in enumerate(dictionaries):
        numbers[numbers[:, column] < 0, column] = column_dictionary.values - 1
        if len(numbers) and int(numbers[:, column].max()) >= column_dictionary.values:
            raise EngineError(
                f"{column_dictionary.hierarchy.column} has changed during the run. Run the command again."
            )
    return numbers


def _label_numbers(
    workbench: Engine, column_dictionary: Dictionary, column: Resolved, number: int
) -> tuple[Integers, int]:
    """Return the numbers of the labels, (height + 1, values), and the lowest level with a label of NULL."""
    layout = code_values(workbench, [KeyColumn(column, column_dictionary)], f"_recode_{number}")
    key_column = layout.columns[0]
    statement = render(
        "lattices/lattice_numbers.sql",
        workbench.dialect,
        step="codes of " + key_column.label,
        codes=key_column.codes,
        key=layout.key,
    )
    rows = np.array(workbench.run(statement), dtype=np.int64)
    workbench.drop(key_column.codes.label)
    if not len(rows):
        return np.zeros((column_dictionary.hierarchy.height + 1, 0), dtype=np.int64), 0
    keys, null_level = rows[:, 1:-1], int(rows[-1, -1])
    levels = [np.arange(len(rows))]
    for level in range(1, column_dictionary.hierarchy.height + 1):
        masked = keys & np.array(key_column.masks(level, layout.words), dtype=np.int64)
        levels.append(np.unique(masked, axis=0, return_inverse=True)[1].ravel())
    return np.vstack(levels).astype(np.int64), null_level


def _sensitive_counts(
    loaded: RemedyTable, attribute: CountedAttribute, values: Integers, dictionaries: Sequence[Dictionary]
) -> tuple[Integers, Integers, Integers]:
    """Return (class, lane, rows) for each sensitive value of each class."""
    if attribute.resolved is None or attribute.table is None:
        raise ValueError("an attribute without a table has no lanes")
    patterns = read_patterns(replace(loaded, apart=(attribute.resolved,)))
    keys = _value_numbers(patterns, dictionaries)
    is_first = np.concatenate([[1], (keys[1:] != keys[:-1]).any(axis=1)]) if len(keys) else np.zeros(0)
    classes = np.cumsum(is_first.astype(np.int64)) - 1
    if not np.array_equal(keys[is_first.astype(bool)], values):
        raise EngineError("The table has changed during the run. Run the command again.")
    lanes = patterns.codes[:, -1] - 1
    lanes[lanes < 0] = attribute.table.distinct - 1
    return classes, lanes, patterns.sizes


def _packed_counts(
    attributes: Sequence[CountedAttribute], lanes: Mapping[int, tuple[Integers, Integers, Integers]], count: int
) -> Integers:
    """Return the counts of all attributes in words, as `Attribute.packing` lays them out."""
    columns: list[Integers] = []
    for attribute in attributes:
        if not attribute.counted:
            continue
        classes, lanes_of_rows, rows = lanes[attribute.position]
        words = np.zeros((len(attribute.words), count), dtype=np.int64)
        word = np.zeros(len(attribute.lanes), dtype=np.int64)
        shift = np.zeros(len(attribute.lanes), dtype=np.int64)
        for lane, number, bits in attribute.lanes:
            word[lane], shift[lane] = number, bits
        np.add.at(words, (word[lanes_of_rows], classes), rows << shift[lanes_of_rows])
        columns += list(words)
    return np.column_stack(columns) if columns else np.zeros((count, 0), dtype=np.int64)


def axes_of(workbench: Engine, read: ReadTable) -> list[Axis]:
    """Return how Mondrian splits each column: at medians if its hierarchy only follows the order of values."""
    return [
        Axis(tree, _value_positions(workbench, column_dictionary) if is_cut_into_ranges(column_dictionary) else None)
        for tree, column_dictionary in zip(read.classes.trees, read.dictionaries, strict=True)
    ]


def is_cut_into_ranges(column_dictionary: Dictionary) -> bool:
    """Return True if a column is cut into ranges."""
    return (
        column_dictionary.hierarchy.height > 0
        and column_dictionary.holds.kind in _ORDERED_KINDS
        and column_dictionary.hierarchy.form in _FORMS_OF_ORDER
    )


def _value_positions(workbench: Engine, column_dictionary: Dictionary) -> Floats:
    """Return the positions of values of an ordered column: numbers as they are, times in seconds, NaN for NULL."""
    statement = render(
        "remedies/recode/recode_points.sql",
        workbench.dialect,
        step="places of " + column_dictionary.hierarchy.column,
        values=column_dictionary.relation,
        times=column_dictionary.holds.kind in (Kind.DATE, Kind.TIMESTAMP),
    )
    return np.array([np.nan if row[0] is None else float(row[0]) for row in workbench.run(statement)])
