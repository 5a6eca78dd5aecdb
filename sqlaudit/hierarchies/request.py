"""The request for the hierarchy of one column, the command, and the file that is written."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from sqlaudit.base.columns_of import resolve
from sqlaudit.base.errors import ExitCode, UsageError, verdict
from sqlaudit.base.files import UnixLines, check_destination, is_folder, label_cell, replacing
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import closest_column, untyped
from sqlaudit.base.nodes import Node, load_nodes, nodes_of
from sqlaudit.base.options import (
    COLUMN,
    FILE,
    FLAG,
    ORDERED,
    TABLE,
    TEXT,
    Given,
    Option,
    OptionKind,
    option,
    options_of,
    part,
    request_from,
)
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Kind, Statement
from sqlaudit.base.spec import LOOK, Target, target_from
from sqlaudit.base.sql import render
from sqlaudit.engines.command import command
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.engines.workbench import workbench_of
from sqlaudit.engines.writing import refuse_overwriting
from sqlaudit.hierarchies.dictionary import Dictionary, column_type, dictionary, values_statement
from sqlaudit.hierarchies.levels import Hierarchy, MappedLevel, MaskLevel, Use, level_sql, refuse_kind
from sqlaudit.hierarchies.read import read_hierarchies, read_hierarchy
from sqlaudit.hierarchies.result import CheckedLevel, HierarchyResult

_DATES = "month,quarter,year,decade"
_HOW, _WHAT = "Levels", "Output"
_WAYS = ("widths", "mask", "dates", "tree", "from_", "propose")


@dataclass(frozen=True)
class LevelsForm:
    """The form of a hierarchy as the command line states it, one option for each.

    Args:
        widths: of intervals.
        origin: where an interval begins.
        low, high: where open intervals begin.
        mask: how many characters are replaced from the right.
        dates: what they are cut to.
        tree: a file with a tree of categories.
        from_: a file or folder with hierarchies.
        propose: whether to print default levels instead.

    Raises:
        UsageError: no form is given, or several, or bounds without widths.
    """

    widths: tuple[str, ...] = option(
        (), ORDERED, "Intervals of these widths, each a multiple of the one before: 5,10,20.", _HOW, metavar="NUMBERS"
    )
    origin: str | None = option(None, TEXT, "Start of an interval. [default: 0]", _HOW, metavar="NUMBER")
    low: str | None = option(
        None, TEXT, "Start of the lowest closed interval; one open interval below it.", _HOW, metavar="NUMBER"
    )
    high: str | None = option(None, TEXT, "Start of one open interval at the top.", _HOW, metavar="NUMBER")
    mask: tuple[str, ...] = option(
        (), ORDERED, "Replace so many characters by * from the right: 1,2,3.", _HOW, metavar="NUMBERS"
    )
    dates: tuple[str, ...] = option(
        (),
        ORDERED,
        f"Cut dates to day, month, quarter, year, 5 years, decade, 20 years, century. [without a value: {_DATES}]",
        _HOW,
        metavar="PARTS",
        alone=_DATES,
    )
    tree: Path | None = option(
        None, FILE, "A YAML file with a tree of categories over the values.", _HOW, metavar="FILE"
    )
    from_: Path | None = option(
        None, FILE, "A CSV hierarchy, a folder of these, or hierarchies.yml.", _HOW, metavar="FILE", flags=("--from",)
    )
    propose: bool = option(
        False, FLAG, "Print default levels of one or more COLUMNs as YAML, to edit for --hierarchies.", _HOW
    )

    def __post_init__(self) -> None:
        if sum(getattr(self, way) not in (None, (), False) for way in _WAYS) != 1:
            raise UsageError(f"No levels are given. Use one of {', '.join(map(spelled, _WAYS))}.")
        if not self.widths and (bound := next(iter(self._bounds), "")):
            raise UsageError(f"{spelled(bound)} needs {spelled('widths')}.")

    @property
    def _bounds(self) -> dict[str, str]:
        return {name: bound for name in ("origin", "low", "high") if (bound := getattr(self, name)) is not None}

    def hierarchy(self, column: str, default: str | None) -> Hierarchy:
        """Return the hierarchy of a column, with a label of values that are not covered.

        Raises:
            UsageError: the form is wrong, or the file has nothing for the column.
        """
        if self.from_ is not None:
            return named_hierarchy(column, self.from_, default)
        if self.tree is not None:
            return _read_tree_file(column, self.tree, default)
        form = next(way for way in _WAYS if getattr(self, way))
        levels = {form: list(getattr(self, form)), **self._bounds}
        return named_hierarchy(column, levels, default, spelled(form))


_TARGET_HELP = "A table, view, file path or glob, or a pandas, polars or Arrow table; None with `query`."
_LEVELS = OptionKind("levels", lambda _, value: value, python="Mapping[str, Any] | str | Path")
"""Levels as Python states them."""


def _target_options() -> Iterator[Option]:
    yield Option("target", TABLE, _TARGET_HELP, LOOK, needed=True, positional=True, only_python=True)


def _hierarchy(given: Given, _: str) -> Hierarchy:
    """Return the hierarchy, from its levels as Python states them, or from the form of the command line.

    Raises:
        UsageError: the form is wrong, a file has nothing for the column, or this file would be overwritten.
    """
    column, default = given["column"], given.get("default")
    if "levels" not in given:
        return request_from(LevelsForm, given).hierarchy(column, default)
    levels = given["levels"]
    named = named_hierarchy(column, levels, default)
    if not isinstance(levels, Mapping):
        refuse_overwriting([given.get("to")], [Path(levels)])
    return named


def _hierarchy_options() -> Iterator[Option]:
    yield Option("column", COLUMN, "A column or expression.", _HOW, needed=True, positional=True, only_python=True)
    yield Option("levels", _LEVELS, "One form, or a file.", _HOW, needed=True, positional=True, only_python=True)
    yield from (replace(form, only_command_line=True) for _, form in options_of(LevelsForm))
    yield Option(
        "default", TEXT, "Label of values that the hierarchy does not cover, for example '*'.", _HOW, metavar="LABEL"
    )


@dataclass(frozen=True)
class HierarchyRequest:
    """A request to check the hierarchy of one column, and to write it.

    Args:
        target: the table.
        hierarchy: the hierarchy of the column.
        to: the file for the hierarchy.
        show_values: whether the first values are shown.

    Raises:
        UsageError: the file cannot be written.
    """

    target: Target = part(
        lambda given, _: target_from(given, "target"), _target_options, parameters=("name", "query", "where", "read")
    )
    hierarchy: Hierarchy = part(_hierarchy, _hierarchy_options)
    to: Path | None = option(
        None,
        FILE,
        "Write the hierarchy of the values that occur (value;level1;…;*).",
        _WHAT,
        metavar="FILE.csv",
        writes=True,
    )
    show_values: bool = option(False, FLAG, "Show the first values with their labels.", _WHAT)

    def __post_init__(self) -> None:
        if self.to is not None:
            check_destination(self.to, (".csv",))

    @property
    def targets(self) -> tuple[Target, ...]:
        """Everything that is read."""
        return (self.target,)


@dataclass(frozen=True)
class ProposalRequest:
    """A request for default levels, as a file to be edited.

    Args:
        target: the table.
        columns: the columns or expressions.
    """

    target: Target
    columns: tuple[str, ...]


def _read_tree_file(column: str, path: Path, default: str | None) -> Hierarchy:
    """Return the hierarchy of a file that contains only a tree."""
    root = load_nodes(path)
    if root is None:
        raise UsageError(f"{path}: has no tree.")
    named = read_hierarchy(column, Node([(Node("tree", root.place), root)], root.place, is_mapping=True), path.parent)
    return named if default is None else replace(named, default=default)


BATCH = 20_000


def write_csv(column_dictionary: Dictionary, workbench: Engine, path: Path) -> int:
    """Write `value;level1;…;*`, one line for each value in the table, in the values' order. Return the number of lines.

    NULL has a line, with an empty first field, only when it has labels of its own below the top: without one it stays
    NULL there. The empty text is spelled the same way, so when both have labels the empty text's line is left out.

    Formulas of spreadsheets get an apostrophe in front, which is removed when the file is read.

    Raises:
        UsageError: the file cannot be written.
    """
    check_destination(path, (".csv",))
    statement = render(
        "hierarchies/hierarchy_lines.sql",
        workbench.dialect,
        source=column_dictionary.relation,
        height=column_dictionary.hierarchy.height,
    )
    written = 0
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(UnixLines(file), delimiter=";", lineterminator="\r\n")
        for batch in workbench.stream(statement, BATCH):
            writer.writerows([label_cell(text) for text in row] for row in batch)
            written += len(batch)
    return written


SHOWN = 50
"""Largest number of values that are shown."""
_YAML = (".yml", ".yaml")


def named_hierarchy(
    column: str, levels: Mapping[str, Any] | str | Path, default: str | None = None, location: str = "the hierarchy"
) -> Hierarchy:
    """Return the hierarchy of a column from a form or a file.

    Args:
        location: the beginning of errors about a form.

    Raises:
        UsageError: the form is wrong, or the file has nothing for the column.
    """
    if isinstance(levels, Mapping):
        named = read_hierarchy(column, nodes_of(levels, location))
    else:
        named = _read_file(column, Path(levels))
    if named.use is not Use.GENERALIZE:
        raise UsageError(f"{named.place}: {column} is kept or dropped, so there are no levels to check.")
    return named if default is None else replace(named, default=default)


def _read_file(column: str, path: Path) -> Hierarchy:
    """Return the hierarchy of a column in a CSV file, a folder or a YAML file."""
    if not is_folder(path) and path.suffix.lower() not in _YAML:
        return read_hierarchy(column, nodes_of({"csv": str(path)}, str(path)))
    read = read_hierarchies(path)
    if read.folder is not None:
        return read.for_columns([column])[0]
    folded = {untyped(name).casefold(): name for name in read.given}
    name = column if column in read.given else folded.get(untyped(column).casefold())
    if name is None:
        raise UsageError(f"{read.place}: has no hierarchy of {column!r}.{closest_column(column, read.given)}")
    return replace(read.given[name], column=column)


def check_hierarchy(engine: Engine, request: HierarchyRequest) -> HierarchyResult:
    """Check a hierarchy against the values of its column over an open engine; see `hierarchy`."""
    hierarchy, to = request.hierarchy, request.to
    executed_before = len(engine.executed)
    relation = engine.open(request.target)
    column = resolve(hierarchy.column, relation, engine.dialect, "COLUMN")
    with workbench_of(engine) as workbench:
        column_dictionary = dictionary(engine, workbench, relation, column, hierarchy, check=False)
        try:
            written = (
                write_csv(column_dictionary, workbench, to)
                if to is not None and not column_dictionary.problems
                else None
            )
            values = _read_first_values(column_dictionary, workbench) if request.show_values else ()
        finally:
            workbench.drop(column_dictionary.relation.label)
        made_by = provenance(engine, executed_before, workbench)
    return HierarchyResult(
        target=request.target.name,
        column=hierarchy.column,
        value_kind=column_dictionary.holds.kind.value,
        form=hierarchy.form or "none",
        rows=column_dictionary.rows,
        missing_rows=column_dictionary.missing_rows,
        levels=_checked_levels(column_dictionary, column.sql, engine.dialect),
        problems=column_dictionary.problems,
        notes=tuple(_notes(column_dictionary, to)),
        written=written,
        values=values,
        access=made_by["access"],
        remarks=made_by["remarks"],
        statements=made_by["statements"],
        versions=made_by["versions"],
        time=made_by["time"],
    )


def plan_hierarchy(engine: Engine, request: HierarchyRequest) -> list[Statement]:
    """Return the statement that would count the values."""
    hierarchy = request.hierarchy
    relation = engine.open(request.target)
    column = resolve(hierarchy.column, relation, engine.dialect, "COLUMN")
    holds = column_type(engine, relation, column)
    refuse_kind(hierarchy, holds.kind)
    return [values_statement(relation, column, hierarchy, holds, engine.dialect, with_value=engine.own_workbench)]


def _checked_levels(column_dictionary: Dictionary, value: str, dialect: str) -> tuple[CheckedLevel, ...]:
    """Return the figures of each level, with its SQL."""
    levels, below = [], 0
    for facts in column_dictionary.levels:
        is_listed = isinstance(column_dictionary.hierarchy.level(facts.level), MappedLevel)
        sql = (
            None
            if is_listed
            else level_sql(column_dictionary.hierarchy, facts.level, value, dialect, column_dictionary.holds)
        )
        levels.append(CheckedLevel(**(vars(facts) | {"nested": not below, "split_groups": below, "sql": sql})))
        below = facts.split_groups
    return tuple(levels)


def _notes(column_dictionary: Dictionary, to: Path | None) -> Iterator[str]:
    """Yield notes about a hierarchy that can be used."""
    hierarchy = column_dictionary.hierarchy
    if column_dictionary.holds.kind is Kind.INTEGER and any(isinstance(level, MaskLevel) for level in hierarchy.levels):
        yield (
            f"{hierarchy.column} has whole numbers: any leading zeros are lost, and masks count the remaining digits."
        )
    if column_dictionary.missing_rows and hierarchy.levels:
        yield "Missing values stay missing below the highest level, unless a value table names them."
    if hierarchy.table is not None and hierarchy.table.top != "*":
        yield "The file names the highest level; a release has * there."
    pairs = pairwise(column_dictionary.levels)
    unchanged = [str(above.level) for below, above in pairs if below.groups == above.groups and not below.split_groups]
    if unchanged:
        yield f"Level {', '.join(unchanged)}: not coarser than the level below, for these values."
    if to is not None and column_dictionary.problems:
        yield "No file was written, because the hierarchy cannot be used."


def _read_first_values(column_dictionary: Dictionary, workbench: Engine) -> tuple[tuple[str | None, ...], ...]:
    """Return the first values with their labels."""
    statement = render(
        "hierarchies/hierarchy_shown.sql",
        workbench.dialect,
        source=column_dictionary.relation,
        height=column_dictionary.hierarchy.height,
        most=SHOWN,
    )
    return tuple(tuple(row) for row in workbench.run(statement))


def code_of(result: HierarchyResult) -> ExitCode:
    """Return the exit code of a result: whether the hierarchy can be used."""
    return verdict(result.usable)


@command(HierarchyRequest, plan_hierarchy, code=code_of)
def hierarchy(engine: Engine, request: HierarchyRequest) -> HierarchyResult:
    """Check a hierarchy against the values of a column, and write it to a file.

    Args:
        column: a column or expression.
        levels: one form with its options, such as `{"widths": [5, 10], "low": 15}`, `{"mask": [1, 2]}`, `{"dates":
            ["month", "year"]}`, `{"tree": …}`, `{"values": …}`, `{"sql": […]}`; or a CSV hierarchy, a folder of these,
            or a YAML file with a section `hierarchies` that has the column.
        to: a .csv file for the hierarchy of the values that occur; written only when the hierarchy can be used.
        show_values: whether the first values may be read and shown.

    Raises:
        UsageError: an unknown column or form, or levels that do not fit the column's type.
        EngineError: the database refused a statement, failed or disconnected.

    Example:
        >>> import pandas as pd, sqlaudit
        >>> people = pd.DataFrame({"age": [34, 38, 51, 52]})
        >>> found = sqlaudit.hierarchy(people, "age", {"widths": [5, 10, 20]})
        >>> [(level.name, level.groups, level.smallest) for level in found.levels]
        [('unchanged', 4, 1), ('width 5', 3, 1), ('width 10', 2, 2), ('width 20', 2, 2), ('*', 1, 4)]
    """
    return check_hierarchy(engine, request)
