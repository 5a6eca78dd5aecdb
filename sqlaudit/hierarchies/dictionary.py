"""The dictionary of a column: its values with their labels at every level, and the values in each cell of a release.

The values are counted in the database, with one statement that also computes the labels which follow from a value.
Labels that a file lists are joined on the workbench, so that no statement contains a value or label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import DATES, Kind, Relation, Row, Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.cells import AnyValue, Bound, Cell, Exact, LabelNode, Mask, Values
from sqlaudit.hierarchies.levels import (
    ColumnType,
    Hierarchy,
    MappedLevel,
    TopLevel,
    level_sql,
    matched_rows,
    refuse_kind,
)

NAME = "sqlaudit_dictionary"
_BATCH = 20_000
_ON_WORKBENCH = {
    Kind.BOOLEAN: "BOOLEAN",
    Kind.INTEGER: "HUGEINT",
    Kind.DECIMAL: "DOUBLE",
    Kind.FLOAT: "DOUBLE",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
}


@dataclass(frozen=True)
class LevelFacts:
    """The figures of a level for the values that occur.

    Args:
        level: its number.
        name: its name in reports.
        groups: different labels; NULL counts as one. At level 0 different values.
        smallest, largest: rows of the smallest and largest group.
        uncovered_values, uncovered_rows: values that have no label here.
        split_groups: groups that lie in several groups of the next level; 0 when the levels are nested.
    """

    level: int
    name: str
    groups: int
    smallest: int
    largest: int
    uncovered_values: int = 0
    uncovered_rows: int = 0
    split_groups: int = 0


@dataclass(frozen=True)
class Dictionary:
    """The values of one column with their labels, as a relation of the workbench.

    Args:
        hierarchy: the hierarchy of the column.
        holds: the type of the column in its database.
        relation: one row a value, NULL too. Its columns: `id` (0, 1, … in the values' order, texts by code point, NULL
            last), `v` (the value in its own type; beside a database in DuckDB's nearest type, NULL where that has no
            such value), `key` (its text in one spelling, NULL for NULL), `row_count`, `covered` (True if a listed
            hierarchy names it), and the labels `l1`, `l2`, … as texts.
        levels: figures of levels 0, 1, …
        rows: rows of the table.
        missing_rows: rows in which the column is NULL.
        unlisted_values, unlisted_rows: values that a value table does not name.
    """

    hierarchy: Hierarchy
    holds: ColumnType
    relation: Relation
    levels: tuple[LevelFacts, ...]
    rows: int
    missing_rows: int
    unlisted_values: int
    unlisted_rows: int

    @property
    def values(self) -> int:
        """Number of different values; NULL counts as one."""
        return self.levels[0].groups

    @property
    def nested(self) -> bool:
        """True if every level is a function of the one below."""
        return not any(level.split_groups for level in self.levels)

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence for each problem of the hierarchy, with column and level but no value."""
        split = (
            f"{self.hierarchy.column}, level {above.level} ({above.name}): does not nest with level {below.level}; "
            f"{below.split_groups:,} of its {below.groups:,} groups are in several groups of level {above.level}."
            for below, above in pairwise(self.levels)
            if below.split_groups
        )
        return (*_describe_uncovered(self), *split)


def dictionary(
    engine: Engine,
    workbench: Engine,
    relation: Relation,
    column: Resolved,
    hierarchy: Hierarchy,
    name: str = NAME,
    *,
    check: bool = True,
) -> Dictionary:
    """Return the values of a column with their labels at every level.

    Args:
        engine: the engine of the table.
        workbench: where the dictionary is stored; the engine itself when it can store one.
        relation, column: the table and its column or expression.
        hierarchy: the hierarchy of the column.
        name: name of the relation on the workbench; one for each column. Drop it there when done.
        check: True to raise an error for a hierarchy that cannot be used.

    Raises:
        UsageError: values without a label, levels that are not nested, or a level that does not fit the column's type;
            the message has column and level, never a value.

    Example:
        >>> import pyarrow as pa
        >>> from sqlaudit.base.columns_of import resolve
        >>> from sqlaudit.engines import connect
        >>> from sqlaudit.hierarchies.read import read_hierarchies
        >>> from sqlaudit.base.spec import Target
        >>> people = pa.table({"age": [34, 38, 51]})
        >>> (ages,) = read_hierarchies({"age": {"widths": [5, 10]}}).for_columns(["age"])
        >>> with connect() as engine:
        ...     table = engine.open(Target(frame=people))
        ...     values = dictionary(engine, engine, table, resolve("age", table, "duckdb", "--qi"), ages)
        ...     [(level.name, level.groups, level.smallest) for level in values.levels]
        [('unchanged', 3, 1), ('width 5', 3, 1), ('width 10', 2, 1), ('*', 1, 3)]
    """
    holds = column_type(engine, relation, column)
    refuse_kind(hierarchy, holds.kind)
    is_local = engine is workbench
    statement = values_statement(relation, column, hierarchy, holds, engine.dialect, with_value=is_local)
    if is_local:
        values = engine.materialize(name + "_values", statement)
    else:
        types = [("id", "BIGINT"), ("key", "VARCHAR"), ("row_count", "BIGINT")]
        types += [(f"l{number}", "VARCHAR") for number in _computed_levels(hierarchy)]
        values = workbench.keep_rows(name + "_values", types, engine.stream(statement, _BATCH))
    labelled = _with_labels(workbench, is_local, values, hierarchy, holds, name)
    column_dictionary = _measure_levels(workbench, labelled, hierarchy, holds)
    if check and column_dictionary.problems:
        workbench.drop(name)
        raise UsageError(column_dictionary.problems[0])
    return column_dictionary


def column_type(engine: Engine, relation: Relation, column: Resolved) -> ColumnType:
    """Return the type of a column or expression. Expressions are described by the engine."""
    if column.column is not None:
        return ColumnType(column.kind, column.type)
    probe = render("hierarchies/hierarchy_probe.sql", engine.dialect, value=column, source=relation)
    (described,) = engine.result_columns(probe)
    return ColumnType(described.kind, described.type)


def values_statement(
    relation: Relation, column: Resolved, hierarchy: Hierarchy, holds: ColumnType, dialect: str, *, with_value: bool
) -> Statement:
    """Return the statement for the table's engine: values with numbers, keys, rows and computed labels."""
    labels = [
        (number, Raw(level_sql(hierarchy, number, "v", dialect, holds))) for number in _computed_levels(hierarchy)
    ]
    return render(
        "hierarchies/hierarchy_values.sql",
        dialect,
        step="values of " + column.label,
        source=relation,
        value=column,
        kind=holds.kind.value,
        labels=labels,
        with_value=with_value,
    )


def _computed_levels(hierarchy: Hierarchy) -> list[int]:
    return [number for number, level in enumerate(hierarchy.levels, 1) if not isinstance(level, MappedLevel | TopLevel)]


def _with_labels(
    workbench: Engine, is_local: bool, values: Relation, hierarchy: Hierarchy, holds: ColumnType, name: str
) -> Relation:
    """Return the dictionary's relation. The relations that it is made from are dropped."""
    listed_labels, fallback = _keep_listed_labels(workbench, hierarchy, holds, name), None
    if hierarchy.default is not None:
        fallback = workbench.keep_rows(name + "_default", [("label", "VARCHAR")], [[(hierarchy.default,)]])
    levels = [
        {"number": number, "top": isinstance(level, TopLevel), "listed": isinstance(level, MappedLevel)}
        for number, level in enumerate(hierarchy.levels, 1)
    ]
    statement = render(
        "hierarchies/hierarchy_dictionary.sql",
        workbench.dialect,
        step="labels of " + hierarchy.column,
        source=values,
        listed=listed_labels,
        fallback=fallback,
        levels=levels,
        float=holds.kind is Kind.FLOAT,
        with_value=is_local,
        type=_type_on_workbench(holds),
    )
    labelled = workbench.materialize(name, statement)
    for part in (values, listed_labels, fallback):
        if part is not None:
            workbench.drop(part.label)
    return labelled


def _keep_listed_labels(workbench: Engine, hierarchy: Hierarchy, holds: ColumnType, name: str) -> Relation | None:
    """Return the value table as a relation: key, listed (always true), and the labels of its levels."""
    if hierarchy.table is None:
        return None
    rows = matched_rows(hierarchy.table, holds.kind, hierarchy)
    numbers = [number for number, level in enumerate(hierarchy.levels, 1) if isinstance(level, MappedLevel)]
    columns = [("key", "VARCHAR"), ("listed", "BOOLEAN"), *((f"l{number}", "VARCHAR") for number in numbers)]
    lines = [(key, True, *labels) for key, labels in rows]
    batches = (lines[start : start + _BATCH] for start in range(0, len(lines), _BATCH))
    return workbench.keep_rows(name + "_listed", columns, batches)


def _type_on_workbench(holds: ColumnType) -> str:
    """Return DuckDB's type for values of another database, which are transferred as text."""
    match = re.search(r"\(\s*(\d+)\s*,\s*(\d+)\s*\)", holds.type) if holds.kind is Kind.DECIMAL else None
    if match and int(match[1]) <= 38:
        return f"DECIMAL({match[1]}, {match[2]})"
    return _ON_WORKBENCH.get(holds.kind, "VARCHAR")


def _measure_levels(workbench: Engine, relation: Relation, hierarchy: Hierarchy, holds: ColumnType) -> Dictionary:
    """Return the dictionary of a relation, with the figures of its levels."""
    dialect, step = workbench.dialect, "levels of " + hierarchy.column
    facts = workbench.run(
        render("hierarchies/hierarchy_facts.sql", dialect, step=step, source=relation, height=hierarchy.height)
    )
    levels = tuple(
        LevelFacts(int(level), name, *map(int, (groups, smallest, largest, values, rows, split)))
        for name, (level, groups, smallest, largest, _, values, rows, split) in zip(
            hierarchy.level_names(), facts, strict=True
        )
    )
    (unlisted,) = workbench.run(render("hierarchies/hierarchy_uncovered.sql", dialect, source=relation))
    values, rows, missing = map(int, unlisted)
    if hierarchy.default is not None:
        values = rows = 0
    return Dictionary(hierarchy, holds, relation, levels, int(facts[0][4]), missing, values, rows)


def _describe_uncovered(column_dictionary: Dictionary) -> list[str]:
    """Return a sentence for each level that leaves values without a label."""
    hierarchy = column_dictionary.hierarchy
    where = hierarchy.place or "the hierarchy"
    if column_dictionary.unlisted_values:
        subject = _count_phrase(column_dictionary.unlisted_values, column_dictionary.unlisted_rows)
        advice = "Add them, or give a default label."
        if column_dictionary.holds.kind in DATES:  # a CSV file may spell them otherwise
            advice = f"Dates are listed as YYYY-MM-DD; {spelled('all_text', True)} reads them as they are written."
        return [f"{hierarchy.column}, level 1: {subject} not listed in {where}. {advice}"]
    reason = "not a finite number, or too large" if hierarchy.form == "widths" else "the level gives none"
    return [
        f"{hierarchy.column}, level {level.level} ({level.name}): "
        f"{_count_phrase(level.uncovered_values, level.uncovered_rows)} without a label ({reason}). Give a "
        "default label."
        for level in column_dictionary.levels
        if level.uncovered_values
    ]


def _count_phrase(values: int, rows: int) -> str:
    verb = "is" if values == 1 else "are"
    return f"{values:,} value{'s'[: values != 1]} in {rows:,} row{'s'[: rows != 1]} {verb}"


MEMBERS = "sqlaudit_membership"
_COLUMNS = (
    ("code", "BIGINT"),
    *((name, "VARCHAR") for name in ("form", "text", "pattern")),
    ("level", "INTEGER"),
    *((name, "VARCHAR") for name in ("low", "high")),
    *((name, "BOOLEAN") for name in ("low_open", "high_open")),
)
_POINTS = {
    Kind.INTEGER: "DECIMAL(38, 12)",
    Kind.DECIMAL: "DECIMAL(38, 12)",
    Kind.FLOAT: "DOUBLE",
    Kind.DATE: "TIMESTAMP",
    Kind.TIMESTAMP: "TIMESTAMP",
}
_ENDS = {
    "DECIMAL(38, 12)": ("-" + "9" * 26, "9" * 26),
    "DOUBLE": ("-inf", "inf"),
    "TIMESTAMP": ("-infinity", "infinity"),
}
_DECIMALS = 12
_FARTHEST = Fraction(10**26 - 1)
_CELLS_AT_ONCE = 20_000


def membership(workbench: Engine, dictionary: Dictionary, cells: Mapping[int, Cell], name: str = MEMBERS) -> Relation:
    """Return the values of a column in each cell: a relation with the columns `code` and `id`, one row a pair.

    No statement contains a cell: they are passed as parameters. A cell without values has no row. Numbers are compared
    with twelve decimals, floats as the doubles nearest to the bounds.

    Args:
        workbench: where the dictionary is stored.
        dictionary: the values of the original column.
        cells: cells by a code of the caller's, as a `CellReader` reads them.
        name: name of the relation on the workbench; drop it there when done.

    Example:
        >>> import pyarrow as pa
        >>> from sqlaudit.base.columns_of import resolve
        >>> from sqlaudit.engines import connect
        >>> from sqlaudit.hierarchies.levels import plain
        >>> from sqlaudit.hierarchies.cell_reader import reader_of
        >>> from sqlaudit.hierarchies.dictionary import dictionary
        >>> from sqlaudit.base.spec import Target
        >>> with connect() as engine:
        ...     table = engine.open(Target(frame=pa.table({"age": [34, 38, 51]})))
        ...     ages = dictionary(engine, engine, table, resolve("age", table, "duckdb", "--qi"), plain("age"))
        ...     read = reader_of(ages, engine).read_all(["30-39", "*"])
        ...     pairs = membership(engine, ages, dict(enumerate(read.values())))
        ...     sorted(engine.run(render("hierarchies/hierarchy_pairs.sql", "duckdb", source=Raw(pairs.sql))))
        [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)]
    """
    kind = dictionary.holds.kind
    point = _POINTS.get(kind, "")
    rows = [row for code, cell in cells.items() for row in _cell_rows(code, cell, point)]
    batches = (rows[start : start + _CELLS_AT_ONCE] for start in range(0, len(rows), _CELLS_AT_ONCE))
    cell_rows = workbench.keep_rows(name + "_cells", _COLUMNS, batches)
    levels = sorted({cell.level for cell in cells.values() if isinstance(cell, LabelNode)})
    statement = render(
        "hierarchies/hierarchy_membership.sql",
        workbench.dialect,
        step="values in cells",
        cells=cell_rows,
        dictionary=dictionary.relation,
        levels=levels,
        type=point,
        float=kind is Kind.FLOAT,
    )
    pairs = workbench.materialize(name, statement)
    workbench.drop(cell_rows.label)
    return pairs


def _cell_rows(code: int, cell: Cell, point: str) -> Iterator[Row]:
    """Yield (code, form, text, pattern, level, low, high, low_open, high_open), one for each value of a set."""
    if isinstance(cell, AnyValue):
        yield _cell_row(code, "any")
    elif isinstance(cell, Exact):
        yield _cell_row(code, "null") if cell.key is None else _cell_row(code, "value", cell.key)
    elif isinstance(cell, Values):
        yield from (_cell_row(code, "value", key) for key in sorted(cell.keys))
    elif isinstance(cell, Mask):
        # for LIKE, with ! as the sign that protects LIKE's own signs
        pattern = cell.pattern.replace("!", "!!").replace("%", "!%").replace("_", "!_").replace("*", "_")
        for form in ("mask", "dates") if cell.of_dates else ("mask",):
            yield _cell_row(code, form, cell.pattern, pattern)
    elif isinstance(cell, LabelNode):
        yield _cell_row(code, "node", cell.label, level=cell.level)
    elif point:
        smallest, largest = _ENDS[point]
        low = smallest if cell.low is None else _bound_text(cell.low, point)
        high = largest if cell.high is None else _bound_text(cell.high, point)
        yield code, "interval", "", "", 0, low, high, cell.low_open, cell.high_open


def _cell_row(code: int, form: str, text: str = "", pattern: str = "", level: int = 0) -> Row:
    return code, form, text, pattern, level, None, None, False, False


def _bound_text(bound: Bound, point: str) -> str:
    """Return a bound as text for the workbench; no value is beyond the range of its decimals."""
    if not isinstance(bound, Fraction):
        return bound.isoformat(" ")
    if point == "DOUBLE":
        return repr(float(bound))
    units = round(max(-_FARTHEST, min(_FARTHEST, bound)) * 10**_DECIMALS)
    digits = str(abs(units)).rjust(_DECIMALS + 1, "0")
    return ("-" if units < 0 else "") + digits[:-_DECIMALS] + "." + digits[-_DECIMALS:]
