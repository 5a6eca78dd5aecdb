"""The tables of a comparison with synthetic data, and the statements that count over them.

The original, the synthetic table and the holdout are opened with the roles of the request in each, of one type and in
one spelling, so that their values compare. Everything that is told of them is counted in the database: `Counting` has
the statements, of which `run` makes shares and verdicts, and `doubts` the reasons not to trust them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from math import sqrt
from operator import itemgetter
from typing import Any

from sqlaudit.base.columns_of import Resolved, resolve
from sqlaudit.base.errors import ConflictingRoles, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import NUMBERS, Kind, Relation, Statement
from sqlaudit.base.spec import NullPolicy
from sqlaudit.base.sql import render
from sqlaudit.classes.opening import (
    ColumnValues,
    apply_spelling_policy,
    copy_columns,
    find_columns,
    refuse_spelling_conflicts,
    repeated_columns,
)
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.dictionary import column_type
from sqlaudit.hierarchies.levels import MappedLevel, TopLevel, level_sql
from sqlaudit.hierarchies.read import read_hierarchies
from sqlaudit.release.compare.pairing import cast_as
from sqlaudit.release.compare.request import CompareRequest
from sqlaudit.release.synthetic.chance import ColumnOverlap, UniqueRows
from sqlaudit.release.synthetic.result import ColumnShape, DisclosiveGroups, PairShape, SpreadRows
from sqlaudit.reports.document import listed

ORIGINAL, HOLDOUT = "d", "h"
"""What the columns of counts of these tables begin with."""
_SINGLE = ("float", "float4", "real")
"""Types of single precision: rounded so, a number equals what it was rounded from."""
_ROWS, _UNLIKE = "sqlaudit_synthetic_rows", {x: f"sqlaudit_synthetic_unlike_{x}" for x in (ORIGINAL, HOLDOUT)}
BINS, MOST_VALUES = 10, 11
"""Bins of numbers and dates, and the most frequent values of other columns that have a bin each."""
MOST_SHAPES = 12
"""So many columns are compared bin by bin, and pair by pair."""
LEAST = 5
"""A bin of fewer rows of the original is shown in one with its neighbour."""
_CODES = 1 << 63
"""So many codes fit in one number of 64 bits."""
Counts = Counter[str]


@dataclass(frozen=True)
class ComparedTable:
    """One of the tables: where it lies, its keys and targets in the order of the request, and the columns of rows."""

    relation: Relation
    keys: tuple[Resolved, ...]
    targets: tuple[Resolved, ...]
    columns: tuple[Resolved, ...] = ()

    @property
    def roles(self) -> list[Resolved]:
        """Keys and targets."""
        return [*self.keys, *self.targets]

    @property
    def all(self) -> list[Resolved]:
        """Keys, targets and columns."""
        return [*self.roles, *self.columns]

    def without(self, names: Container[str]) -> ComparedTable:
        """Return a copy of the table without some of the columns of rows."""
        return replace(self, columns=tuple(column for column in self.columns if column.label not in names))

    def with_columns(self, columns: Sequence[Resolved]) -> ComparedTable:
        """Return a copy of the table with these keys, targets and columns, in the order of `all`."""
        keys, roles = len(self.keys), len(self.roles)
        return replace(
            self, keys=tuple(columns[:keys]), targets=tuple(columns[keys:roles]), columns=tuple(columns[roles:])
        )


# The tables as they are opened: of one type in all of them, and with one spelling.


def open_counting(engine: Engine, request: CompareRequest) -> Counting:
    """Open the tables, with one spelling, and copied where every reading would parse text again.

    They are copied first: two tables of one open connection cannot be read in one statement.
    """
    tables = []
    for index, table in enumerate(open_tables(engine, request)):
        relation, copied_columns = copy_columns(engine, table.relation, table.all, f"sqlaudit_synthetic_{index}")
        tables.append(replace(table, relation=relation).with_columns(copied_columns))
    return Counting(engine, fold_spellings(engine, tables, request), request)


def open_tables(engine: Engine, request: CompareRequest) -> list[ComparedTable]:
    """Open the original, the synthetic table, and the holdout if there is one.

    Raises:
        UsageError: a column that is not there or has two roles, or values that cannot be equal in two tables.
    """
    targets = [target for target in (request.original, request.release, request.holdout) if target is not None]
    tables = [_opened(engine, engine.open(target), request) for target in targets]
    column_names = [{column.name.casefold() for column in table.relation.columns} for table in tables]
    odd = {name for table in tables for name in table.relation.respelled}
    names = [
        column.name
        for column in tables[0].relation.columns
        if all(column.name.casefold() in names for names in column_names)
    ]
    names = [name for name in names if name not in odd]
    tables = [
        replace(table, columns=tuple(resolve(name, table.relation, engine.dialect, "columns") for name in names))
        for table in tables
    ]
    roles = len(tables[0].roles)
    lists: list[list[Resolved]] = [[] for _ in tables]
    for index, same_column in enumerate(zip(*(table.all for table in tables), strict=True)):
        cast = cast_to_common_type(same_column, engine.dialect)
        if cast is None and index < roles:
            kinds = ", ".join(
                f"{column.kind} in {table.relation.label}" for column, table in zip(same_column, tables, strict=True)
            )
            raise UsageError(
                f"{same_column[0].label} is of type {kinds}, so its values cannot be compared. Give it one type in all "
                f"tables. For files, {spelled('all_text', True)} reads every column as text."
            )
        for columns, column in zip(lists, cast or (), strict=False):
            columns.append(column)
    return [table.with_columns(columns) for table, columns in zip(tables, lists, strict=True)]


def _opened(engine: Engine, relation: Relation, request: CompareRequest) -> ComparedTable:
    """Find the roles in a table; the database is asked for the types of expressions."""
    columns = find_columns(engine, relation, qi=request.qi, sensitive=request.sensitive)
    keys, targets = (
        tuple(_with_column_type(engine, relation, column) for column in columns[role]) for role in ("qi", "sensitive")
    )
    if repeated_columns(columns):
        raise ConflictingRoles(
            f"A column is named twice in {spelled('qi')} and {spelled('sensitive')}. Give every column one role."
        )
    if odd := next((column.label for column in (*keys, *targets) if column.column in relation.respelled), None):
        raise UsageError(
            f"{odd} of {relation.label} treats differently written texts as equal (by its collation or type), so its "
            "values cannot be compared with another table's. Give both tables a view with one spelling."
        )
    if request.hierarchies:
        keys_and_hierarchies = zip(keys, read_hierarchies(request.hierarchies).for_columns(request.qi), strict=True)
        keys = tuple(_coarsened(engine, relation, column, hierarchy) for column, hierarchy in keys_and_hierarchies)
    return ComparedTable(relation, keys, targets)


def _with_column_type(engine: Engine, relation: Relation, column: Resolved) -> Resolved:
    holds = column_type(engine, relation, column)
    return replace(column, kind=holds.kind, type=holds.type)


def _coarsened(engine: Engine, relation: Relation, column: Resolved, hierarchy: Any) -> Resolved:
    """Return a quasi-identifier at the first level of its hierarchy; as it is without one."""
    level = hierarchy.levels[0] if hierarchy.levels else None
    if level is None or isinstance(level, TopLevel):
        return column
    if isinstance(level, MappedLevel):
        raise UsageError(
            f"{about('hierarchies')}: the hierarchy of {column.label} lists its values, which other tables may not "
            "have. Use one with widths, masks, dates or SQL."
        )
    sql = level_sql(hierarchy, 1, column.sql, engine.dialect, column_type(engine, relation, column))
    return _with_column_type(engine, relation, Resolved(column.label, sql))


def cast_to_common_type(columns: Sequence[Resolved], dialect: str) -> list[Resolved] | None:
    """Cast the columns of all tables to a type in which their values compare; None if there is none."""
    kinds = {column.kind for column in columns}
    if kinds <= {Kind.INTEGER, Kind.DECIMAL} or (len(kinds) == 1 and not kinds & {Kind.OTHER, Kind.FLOAT}):
        return list(columns)
    if kinds <= set(NUMBERS):
        precision = "FLOAT" if any(column.type.lower() in _SINGLE for column in columns) else "DOUBLE"
        return [cast_as(column, precision, Kind.FLOAT, dialect) for column in columns]
    if kinds <= {Kind.OTHER, Kind.TEXT}:
        return [cast_as(column, "VARCHAR", Kind.TEXT, dialect) for column in columns]
    return None


def _columns_of(tables: Sequence[ComparedTable], count: int) -> Iterator[tuple[str, list[tuple[Relation, Resolved]]]]:
    """Yield the first columns by name, each as it is in every table."""
    for same_column in list(zip(*(table.all for table in tables), strict=True))[:count]:
        yield (
            same_column[0].label,
            [(table.relation, column) for table, column in zip(tables, same_column, strict=True)],
        )


def fold_spellings(engine: Engine, tables: Sequence[ComparedTable], request: CompareRequest) -> list[ComparedTable]:
    """Fold the texts of all tables as the request says.

    Raises:
        UsageError: texts of a role differ only in what folding merges, and no one said whether they are one.
    """
    refuse_spelling_conflicts(engine, spellings_of(tables), request.values)
    keys = len(tables[0].keys)
    return [
        table.with_columns(
            [
                apply_spelling_policy(engine, table.relation, column, request.values, missing=index >= keys)
                for index, column in enumerate(table.all)
            ]
        )
        for table in tables
    ]


def spellings_of(tables: Sequence[ComparedTable]) -> list[ColumnValues]:
    """Return the keys and targets as columns whose spellings are compared over all tables."""
    keys = len(tables[0].keys)
    columns = _columns_of(tables, len(tables[0].roles))
    return [ColumnValues(name, places, missing=index >= keys) for index, (name, places) in enumerate(columns)]


# The statements: one a sensitive attribute, one of whole rows, one of which values occur in both tables.


def pack_digits(domains: Sequence[int]) -> list[dict[str, Any]]:
    """Return where each column's codes lie in a few numbers of 64 bits: in which number, with which weight.

    Example:
        >>> [(digit["word"], digit["weight"]) for digit in pack_digits([10, 7, 2**62, 3])]
        [('k1', 1), ('k1', 10), ('k2', 1), ('k3', 1)]
    """
    digits, word, weight = [], 1, 1
    for domain in domains:
        if weight * domain > _CODES:
            word, weight = word + 1, 1
        digits.append({"word": f"k{word}", "weight": weight, "domain": domain})
        weight *= domain
    return digits


def _is_ordered(column: Resolved) -> bool:
    return column.kind.has_natural_order and column.kind is not Kind.BOOLEAN


def _distance(apart: float | None, most: int) -> float | None:
    """Return a sum of differences as a share of its largest possible value; None where a table has no rows."""
    return float(apart or 0) / most if most else None


def _cramers_v(squares: float | None, bins: int) -> float | None:
    """Return Cramér's V, from 0 for independent columns to 1; None for a column with a single bin.

    Args:
        squares: φ² + 1. bins: the smaller number of bins of both columns.
    """
    return min(1.0, sqrt(max(0.0, float(squares or 0) - 1) / (bins - 1))) if bins > 1 else None


def pooled(bins: Iterable[SpreadRows]) -> tuple[SpreadRows, ...]:
    """Return the bins with those of few rows of the original in one with their neighbours.

    Example:
        >>> [tuple(vars(spread).values()) for spread in pooled(map(SpreadRows, [9, 0, 0, 3, 2, 1], [8, 0, 1, 4, 0, 2]))]
        [(9, 8), (0, 1), (6, 6)]
    """
    large: list[SpreadRows] = []
    for spread in bins:
        if large and 0 < large[-1].original < LEAST:
            large[-1] += spread
        elif spread.original or spread.synthetic:
            large.append(spread)
    while len(large) > 1 and 0 < large[-1].original < LEAST:  # a neighbour may have no row of the original
        large[-2:] = [large[-2] + large[-1]]
    return tuple(large)


@dataclass
class Counting:
    """The statements that are asked of the tables.

    Args:
        engine: where they lie. tables: original, synthetic table and holdout. request: the roles.
        cells: a joint histogram of keys and targets that is kept for many questions, None = the tables are read.
    """

    engine: Engine
    tables: Sequence[ComparedTable]
    request: CompareRequest
    cells: Relation | None = None

    def figures(self, keys: Sequence[int], target: int | None) -> Statement:
        """Return the statement that counts what groups by these keys disclose of a target."""
        first = self.tables[0]
        parameters: dict[str, Any] = {"counts": self.cells, "sides": [], "totals": [], "apart": False}
        if self.cells is None:
            columns = [*keys, *([] if target is None else [len(first.keys) + target])]
            parameters["sides"] = self._sides([[table.all[position] for position in columns] for table in self.tables])
            if target is not None:
                parameters["totals"] = self._sides([[table.targets[target]] for table in self.tables])
            parameters["apart"] = self.request.nulls is NullPolicy.DISTINCT
            names = [f"c{position}" for position in range(1, len(columns) + 1)]
            named, of_target = names[: len(keys)], names[len(keys) :]
        else:
            named = [f"c{position + 1}" for position in keys]
            of_target = [] if target is None else [f"c{len(first.keys) + target + 1}"]
        label = f"groups of {listed([first.keys[position].label for position in keys])}"
        step = label if target is None else f"{label}: {first.targets[target].label}"
        show_values = self.request.show_values
        holdout = len(self.tables) > 2
        return self._render(
            "figures", step, keys=named, target="".join(of_target), shown=show_values, holdout=holdout, **parameters
        )

    def kept(self) -> Statement:
        """Return the statement of the joint histogram of all keys and targets."""
        return self._render("cells", "joint histogram", sides=self._sides([table.roles for table in self.tables]))

    def copies(self, alike: Relation | None = None, unlike: Mapping[str, Relation] | None = None) -> Statement:
        """Return the statement that counts whole rows in both tables.

        Args:
            alike, unlike: the kept rows of `_keep_unlike_rows`; None = windows over the tables find near copies.
        """
        columns = [table.columns for table in self.tables]
        near, kept = alike is None and len(columns[0]) > 1, {"alike": alike, "unlike": unlike or {}}
        return self._render("copies", "copies", sides=self._sides(columns), near=near, **kept)

    def whole_rows(self) -> Mapping[str, int]:
        """Return how many rows are copies, by the name of the count."""
        among_codes = self.engine.own_workbench and len(self.tables[0].columns) > 1
        try:
            statement = self.copies(*self._keep_unlike_rows()) if among_codes else self.copies()
            return dict(zip(self.engine.result_names(statement), self.engine.run(statement)[0], strict=True))
        finally:
            for name in (_ROWS, *_UNLIKE.values()) if among_codes else ():
                self.engine.drop(name)

    def _keep_unlike_rows(self) -> tuple[Relation, dict[str, Relation]]:
        """Keep distinct rows as a few whole numbers, and the synthetic ones unlike others in more than one column.

        One column after the other is left out, and only rows that are still unlike all others are looked for without
        the next: one join of small numbers at a time.
        """
        sides = self._sides([table.columns for table in self.tables])
        digits = pack_digits(self.engine.run(self._render("domains", "values of whole rows", sides=sides))[0])
        words = list(dict.fromkeys(digit["word"] for digit in digits))
        alike = self.engine.materialize(
            _ROWS, self._render("coded", "whole rows", sides=sides, digits=digits, words=words)
        )
        unlike = dict.fromkeys((ORIGINAL, HOLDOUT)[: len(self.tables) - 1], alike)
        for x, (column, digit) in product(unlike, [*zip(self.tables[0].columns, digits, strict=True)]):
            parameters = {"left": unlike[x], "alike": alike, "x": x, "digit": digit, "words": words}
            statement = self._render("unlike", f"rows without {column.label}", **parameters)
            unlike[x] = self.engine.materialize(_UNLIKE[x], statement)
        return alike, unlike

    def shared(self) -> Statement:
        """Return the statement that counts, for each column, the values that occur in both tables."""
        first, columns = self.tables[0], []
        for position in self._looked_at():
            sides = self._sides([[table.all[position]] for table in self.tables[:2]])
            column = first.all[position]
            columns.append({"sides": sides, "number": column.kind in NUMBERS, "ordered": _is_ordered(column)})
        return self._render("shared", "values in both tables", columns=columns)

    def overlaps(self, rows: int, synthetic_rows: int) -> list[ColumnOverlap]:
        """Return the overlap of each column, first the roles."""
        columns = [self.tables[0].all[position] for position in self._looked_at()]
        overlaps = []
        for column, row in zip(columns, sorted(self.engine.run(self.shared())), strict=True):
            original_values, synthetic_values, both, own_rows, made_rows, once, shared_rows, overlap = (
                int(count) for count in row[1:9]
            )
            overlaps.append(
                ColumnOverlap(
                    name=column.label,
                    kind=column.kind,
                    rows=rows,
                    synthetic_rows=synthetic_rows,
                    own=original_values,
                    made=synthetic_values,
                    both=both,
                    own_rows=own_rows,
                    made_rows=made_rows,
                    once=once,
                    shared_rows=shared_rows,
                    overlap=bool(overlap),
                    own_span=row[9],
                    made_span=row[10],
                    distance=_distance(row[11], own_rows * made_rows * (1 if _is_ordered(column) else 2)),
                )
            )
        return overlaps

    def shapes(self) -> Statement:
        """Return the statement that counts the rows of both tables by bins of each column, and of pairs of columns."""
        columns = [self.tables[0].all[position] for position in self._drawn()]
        kinds = [
            "number" if column.kind in NUMBERS else "ordered" if _is_ordered(column) else "value" for column in columns
        ]
        sides = self._sides([[table.all[position] for position in self._drawn()] for table in self.tables[:2]])
        parameters = {"kinds": kinds, "bins": BINS, "values": MOST_VALUES}
        pairs = [*combinations(range(1, len(kinds) + 1), 2)]
        return self._render("shapes", "bins of columns and of pairs", sides=sides, pairs=pairs, **parameters)

    def compare_shapes(
        self, overlaps: Sequence[ColumnOverlap]
    ) -> tuple[tuple[ColumnShape, ...], tuple[PairShape, ...]]:
        """Compare the shapes of columns in both tables, and how strongly each two of them are associated.

        Args:
            overlaps: of all columns, as `overlaps` returns them.
        """
        statement = self.shapes()
        names = [self.tables[0].all[position].label for position in self._drawn()]
        figures = self.engine.result_names(statement)
        rows = [dict(zip(figures, row, strict=True)) for row in self.engine.run(statement)]
        bins: dict[int, list[tuple[tuple[bool, int], SpreadRows]]] = {}
        pairs = []
        for row in sorted(rows, key=lambda row: (row["one"], row["other"], row["bin"] or 0)):
            column, paired = int(row["one"]), int(row["other"])
            if column == paired:  # missing values come last
                number = int(row["bin"])
                bins.setdefault(column, []).append(((number < 0, number), SpreadRows(int(row["d"]), int(row["s"]))))
                continue
            pair = (names[column - 1], names[paired - 1])
            original, synthetic = (_cramers_v(row[side], int(row[f"{side}_degrees"])) for side in ("own", "made"))
            distance = _distance(row["apart"], 2 * overlaps[0].rows * overlaps[0].synthetic_rows)
            pairs.append(PairShape(pair, original, synthetic, distance))
        shapes = tuple(
            ColumnShape(
                overlap.name,
                "kolmogorov-smirnov" if _is_ordered(column) else "total-variation",
                overlap.distance,
                pooled(spread for _, spread in sorted(bins.get(number, ()), key=itemgetter(0))),
            )
            for number, (column, overlap) in enumerate(
                zip((self.tables[0].all[position] for position in self._looked_at()), overlaps, strict=True), 1
            )
        )
        return shapes, tuple(pairs)

    def _drawn(self) -> list[int]:
        """Return the positions of the columns that are compared bin by bin: the first ones, roles before others."""
        return self._looked_at()[:MOST_SHAPES]

    def unique_rows(self, other: int, columns: Sequence[Sequence[Resolved]], step: str) -> UniqueRows:
        """Count the unique rows of the original, and how many of them another table has.

        Args:
            other: position of the other table. columns: those that are compared, of the original and of the other.
            step: name of the statement in reports.
        """
        sides = [
            {"source": self.tables[index].relation, "columns": compared_columns}
            for index, compared_columns in zip((0, other), columns, strict=True)
        ]
        counts = self.engine.run(self._render("unique", step, sides=sides))[0]
        return UniqueRows(*(int(count) for count in counts[:7]), *(float(count or 0) for count in counts[7:]))

    def _looked_at(self) -> list[int]:
        """Return the positions of the roles, and of the columns of the table that are not a role unchanged."""
        first = self.tables[0]
        roles = {column.label.casefold(): column for column in first.roles}

        def has_role(column: Resolved) -> bool:
            role = roles.get(column.label.casefold())
            return role is not None and (role.column is not None or role.sql == column.sql)

        return [n for n, column in enumerate(first.all) if n < len(first.roles) or not has_role(column)]

    def ask(self, keys: Sequence[int], target: int | None) -> tuple[Counts, list[DisclosiveGroups], str | None]:
        """Count what groups by these keys disclose of a target.

        Returns:
            The sums over all groups, the disclosive groups by size, and the most common value if it is shown.
        """
        statement = self.figures(keys, target)
        names, rows = self.engine.result_names(statement), self.engine.run(statement)
        sums, disclosive, common_value = Counts(), [], None
        for row in rows:
            counts = dict(zip(names, row, strict=True))  # of all groups of one size
            common_value = counts.pop("common_value", None)
            size = int(counts.pop("size"))
            table_counts = {name: counts.pop(name) for name in [*counts] if name.endswith(("_squares", "_common"))}
            sums.update({name: count or 0 for name, count in counts.items()})
            # Every row repeats the counts of the whole table: |= keeps the larger count, where update() adds
            sums |= {name: count or 0 for name, count in table_counts.items()}
            if counts.get("disclosive"):
                disclosive.append(DisclosiveGroups(size, int(counts["disclosive"]), int(counts["d_disclosed"])))
        return sums, sorted(disclosive, key=lambda groups: groups.size), common_value

    def _sides(self, columns: Sequence[Sequence[Resolved]]) -> list[dict[str, object]]:
        return [
            {"source": table.relation, "columns": side_columns}
            for table, side_columns in zip(self.tables, columns, strict=False)
        ]

    def _render(self, name: str, step: str, **parameters: Any) -> Statement:
        return render(f"release/synthetic/synthetic_{name}.sql", self.engine.dialect, step=step, **parameters)
