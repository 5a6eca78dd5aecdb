"""The requests for standalone statements: of checks on one table, and of the tests of a policy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.options import FLAG, TEXT, Given, Option, OptionKind, all_options_of, choice, option, part
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import Requirement, Roles, Target, roles_part
from sqlaudit.cubes.request import CubeRequest
from sqlaudit.gates.request import PolicySource, policy_part
from sqlaudit.models.required import INPUTS
from sqlaudit.tabular.request import AggregatesRequest

_STATEMENTS, _TABLE = "Statements", "Table"
_CELLS, _POLICY = "Cells of a published table", "Policy instead of a table"
_CUBE = "Cube"
"""Sections of the help page."""


class Returns(StrEnum):
    """The forms of an answer.

    `FIGURES`: one row with the figures of the check under names of their own. `ROW`: one row with the same columns for
    every check (`ROW_COLUMNS`). `VERDICT`: one row with 1 where it passes, else 0. `FAILING_ROWS`: the row of figures
    where it does not pass, else none. `COUNT`: one number, 0 where it passes, else how much fails, at least 1.
    `METRIC`: the main figure, NULL where nothing is decided.
    """

    FIGURES = "figures"
    ROW = "row"
    VERDICT = "verdict"
    FAILING_ROWS = "failing-rows"
    COUNT = "count"
    METRIC = "metric"


def _dialect_option() -> Any:
    """Return the field of the dialect that statements are written in."""
    return option(
        "duckdb", TEXT, "snowflake, bigquery, redshift, trino ...", _STATEMENTS, metavar="NAME", shown="duckdb"
    )


def _returns_option() -> Any:
    """Return the field of the form of an answer."""
    return option(
        None,
        choice(Returns),
        "Result of a statement. Default: figures; for a policy, row, which 'test --results' reads.",
        _STATEMENTS,
        only_command_line=True,
    )


def _exact_names_option() -> Any:
    """Return the field that says whether columns are named exactly."""
    return option(False, FLAG, "Quote column names, because their case matters.", _TABLE)


@dataclass(frozen=True)
class CellColumns:
    """The columns of a published table, each empty where it is not named.

    Args:
        count, value, contributors, holdings, largest: as for `sqlaudit.aggregates`.
    """

    count: str = ""
    value: str = ""
    contributors: str = ""
    holdings: str = ""
    largest: tuple[str, ...] = ()

    @property
    def is_named(self) -> bool:
        """Return True if a column of cells is named."""
        return any((self.count, self.value, self.contributors, self.holdings, self.largest))


def _cell_options() -> Iterator[Option]:
    """Yield the options of the columns of cells, as an audit of the published table has them."""
    names = CellColumns.__dataclass_fields__
    return (replace(column, section=_CELLS) for column in all_options_of(AggregatesRequest) if column.name in names)


def _cells(given: Given, _: str) -> CellColumns:
    columns = [column for column in _cell_options() if given.get(column.name)]
    return CellColumns(**{column.name: column.kind.read(column.name, given[column.name]) for column in columns})


_CUBE_NAMES = ("dimensions", "measures", "uniform", "known_contributors")


@dataclass(frozen=True)
class CubeColumns:
    """The columns of a cube, empty where none is wanted.

    Args:
        dimensions, measures, uniform, known_contributors: as for `sqlaudit.cube`, without levels of hierarchies.
    """

    dimensions: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    uniform: str = "leave-out"
    known_contributors: int = 0


def _cube_options() -> Iterator[Option]:
    """Yield the options of a cube. The people are those of --entity, and holdings those of a published table."""
    options = (option for option in all_options_of(CubeRequest) if option.name in _CUBE_NAMES)
    return (replace(option, section=_CUBE, needed=False) for option in options)


def _cube(given: Given, _: str) -> CubeColumns:
    options = [option for option in _cube_options() if given.get(option.name)]
    cube = CubeColumns(**{option.name: option.kind.read(option.name, given[option.name]) for option in options})
    if cube != CubeColumns() and not cube.dimensions:
        raise UsageError(f"A cube needs dimensions. Name them with {spelled('dimensions')}.")
    return cube


_CHECKS = OptionKind("checks", lambda _, value: value, python="Checks")


def _checks(given: Given, name: str) -> tuple[str | Requirement, ...]:
    """Return the checks: rules for cells where a column of cells is named, else requirements and names of models.

    Raises:
        UsageError: something else is given, or an unknown rule.
    """
    from sqlaudit.models.registry import CELL_RULES, requirement_from, requirements

    checks = given.get(name, ())
    if _cells(given, name).is_named or _cube(given, name).dimensions:
        return requirements(checks, among=CELL_RULES)
    if isinstance(checks, Mapping):
        return tuple(requirement_from(model, limit) for model, limit in checks.items())
    if not isinstance(checks, Iterable):
        kinds = "a mapping such as {'k': 5}, a text or a list of texts"
        raise UsageError(f"{spelled(name)} takes {kinds}, not a value of type {type(checks).__name__}.")
    return (checks,) if isinstance(checks, str) else tuple(checks)


@dataclass(frozen=True)
class CompileRequest:
    """A request for checks on a table as statements.

    Args:
        dialect: a key of `sqlaudit.gates.standalone.names.DIALECTS`.
        returns: the form of an answer, None = figures.
        inputs: further inputs of models.
        table, query: the table by its name, or one SELECT instead.
        exact_names: whether columns are named in their exact case, and quoted.
        where: a condition on the rows of the table.
        roles: the roles of the columns.
        cells: the columns of a published table; with one of them, checks are rules for its cells.
        cube: the columns of a cube; with them, checks are rules for its blocks, and the statement makes it.
        checks: requirements, or names of models for their figures alone; empty = the figures of every model.
    """

    dialect: str = _dialect_option()
    returns: Returns | None = _returns_option()
    inputs: Mapping[str, object] = option(
        {}, INPUTS, "Population table, or 'class_function: identity'.", _STATEMENTS, metavar="FILE"
    )
    table: str = option(
        "", TEXT, "Table or view, by its name in the warehouse.", _TABLE, metavar="NAME", positional=True
    )
    query: str = option("", TEXT, "One SELECT in the dialect, instead of a table.", _TABLE, metavar="SQL")
    exact_names: bool = _exact_names_option()
    where: str = option("", TEXT, "SQL condition on the rows.", _TABLE, metavar="CONDITION")
    roles: Roles = roles_part(without=("identifier",), default_factory=Roles)
    cells: CellColumns = part(_cells, _cell_options, default=CellColumns())
    cube: CubeColumns = part(_cube, _cube_options, default=CubeColumns())
    checks: Sequence[str | Requirement] = option(
        (), _CHECKS, "Requirements, or names of models.", _STATEMENTS, _checks, only_python=True
    )

    @property
    def target(self) -> Target:
        """The table.

        Raises:
            UsageError: none is named, or a query as well.
        """
        return Target(relation=self.table, query=self.query, where=self.where)

    @property
    def has_table(self) -> bool:
        """Return True if anything is said of a table: what it is, its columns, or what is checked."""
        named = (self.checks, self.table, self.query, self.where, self.inputs)
        return any(named) or self.cells.is_named or self.cube != CubeColumns() or self.roles != Roles()


@dataclass(frozen=True)
class PolicyCompileRequest:
    """A request for the tests of a policy as statements.

    Args:
        dialect, returns, exact_names: as `CompileRequest` has them; without `returns` a statement returns a row.
        source: the policy, and which of its tests are written.
        run: a text that is part of every name, so that the answers of one run are told from those of another.
    """

    dialect: str = _dialect_option()
    returns: Returns | None = _returns_option()
    exact_names: bool = _exact_names_option()
    source: PolicySource = policy_part(
        _POLICY,
        policy="Write the tests of a policy.",
        dbt_project="Write the tests in the meta of dbt models.",
        select="Tests to write, as for 'sqlaudit test'.",
    )
    run: str = option("", TEXT, "Run name to add to every statement: see 'test --run'.", _POLICY, metavar="NAME")
