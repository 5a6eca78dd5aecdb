"""What a policy says, after reading: connections, tables with their roles, and the tests on them."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from sqlaudit.base.spec import Requirement, Roles, Target
from sqlaudit.gates.result import Mistake, Place
from sqlaudit.tabular.request import AggregatesRequest


@dataclass(frozen=True)
class Threshold:
    """A condition on the rows that fall short: `> 10`, `> 1%`, `!= 0`.

    Args:
        text: as it was written. operator: one of >, >=, <, <=, =, !=.
        number: rows, or a share of all rows when `share`.
    """

    text: str
    operator: str
    number: Fraction
    share: bool

    def met(self, failing: int, rows: int) -> bool:
        """Whether so many of so many rows meet the condition, exactly."""
        value = Fraction(failing, rows) if self.share and rows else Fraction(failing)
        return {
            ">": value > self.number,
            ">=": value >= self.number,
            "<": value < self.number,
            "<=": value <= self.number,
            "=": value == self.number,
            "!=": value != self.number,
        }[self.operator]


@dataclass(frozen=True)
class Connection:
    """Where tables are. No password is ever part of it: `env`, `password_env` and profiles are read when connecting.

    Args:
        name: as tables refer to it. kind: `duckdb`, `env`, `url`, `service` or `dbt_profile`; `server` for
            one of a data contract that sqlaudit does not connect to.
        value: a path, the name of an environment variable, a URL, a service, or a profile.
        password_env: the environment variable with the password for `url` and `service`, empty = none.
        target, profiles_dir: of a dbt profile; empty = as dbt chooses.
        folder: what relative paths start from. place: where it is written.
        namespace: what catalogues call the database, empty = its name here.
    """

    name: str
    kind: str
    value: str = field(repr=False)
    place: Place
    folder: Path
    password_env: str = ""
    target: str = ""
    profiles_dir: str = ""
    namespace: str = ""


@dataclass(frozen=True)
class ColumnLimit:
    """No set of at most `max_size` columns puts more than `share` of the rows (or persons) into classes below `k`.

    Args:
        among: `quasi_identifiers`, `all`, or the columns by name. exclude: columns that are left out.
    """

    max_size: int
    k: int = 5
    share: Fraction = Fraction(0)
    among: str | tuple[str, ...] = "quasi_identifiers"
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True)
class LossLimit:
    """What a release may lose against its original, by a measure of `sqlaudit compare`.

    Args:
        original: the table before it was made safe. measure: the measure's name.
        limit: the bound; from below when `at_least`. figure: `value`, `mean` (of a cell or row) or `share` (of what
            complete suppression loses). column: of one column, None = of all together.
        key, by_position: which rows belong together. hierarchies: a file or folder, empty = those of the inputs.
        distance: of sensitive values: equal, ordered or hierarchical.
    """

    original: Target
    measure: str
    limit: Fraction
    at_least: bool = False
    figure: str = "value"
    column: str | None = None
    key: tuple[str, ...] = ()
    by_position: bool = False
    hierarchies: str = ""
    distance: str = "equal"


@dataclass(frozen=True)
class CellLimit:
    """A rule for the cells of a published table.

    Args:
        request: which column says what of a cell, and one rule. before: older releases that it is compared with.
        linked: further tables of the same people, judged together with this one.
    """

    request: AggregatesRequest
    before: tuple[Target, ...] = ()
    linked: tuple[Target, ...] = ()


@dataclass(frozen=True)
class SeriesLimit:
    """The m for which a table and its older releases must be m-invariant.

    Args:
        m: the limit. before: the older releases, first the oldest. entity: the column of persons, empty = the table's.
        counterfeits: whether rows without an entity are counterfeits.
    """

    m: int
    before: tuple[Target, ...]
    entity: str = ""
    counterfeits: bool = False


@dataclass(frozen=True)
class PolicyException:
    """What a table may fall short of for a while.

    Args:
        requirement: the requirement as written, or a model's name. sensitive: the one attribute it is for, or empty.
        until: the last day on which it holds. reason: why. up_to: how many rows may fall short, None = any.
    """

    requirement: str
    sensitive: str
    until: datetime.date
    reason: str
    up_to: Threshold | None
    place: Place


@dataclass(frozen=True)
class TestSpec:
    """One requirement of a table. Exactly one of `model`, `columns`, `loss`, `cells`, `series`, `identifier`,
    `all_named` and `mistake` is given.

    Args:
        requirement: its text, the same in every run. place: where it is written.
        model: a privacy model with its limit. columns: a limit on column sets. loss: a limit on a loss.
        cells: a rule for the cells of a published table.
        series: a limit on the table and its older releases. mistake: why it could not be read.
        sensitive: the attributes it is for, empty = all. warn_if, error_if: on the rows that fall short; None = any.
    """

    __test__ = False  # not a test of pytest

    requirement: str
    place: Place
    model: Requirement | None = None
    columns: ColumnLimit | None = None
    loss: LossLimit | None = None
    cells: CellLimit | None = None
    series: SeriesLimit | None = None
    identifier: str = ""
    all_named: bool = False
    mistake: str = ""
    severity: str = "error"
    warn_if: Threshold | None = None
    error_if: Threshold | None = None
    sensitive: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    owner: str = ""
    description: str = ""


@dataclass(frozen=True)
class PersonsEntry:
    """A table with a row for each person, for all tables of its connection that have the column of persons.

    Args:
        target, connection: where it is. entity: the column, by the same name in all tables.
        static: columns that are known of a person beside what other tables say. place: where it is written.
    """

    target: Target
    connection: str
    entity: str
    static: tuple[str, ...]
    place: Place


@dataclass(frozen=True)
class TableEntry:
    """One table of a policy.

    Args:
        name: unique in the policy. target, roles, inputs: as an audit takes them; None when they could not be read.
        connection: its name, empty for files. derived_from: the names of entries that it is made of.
        tests: what must hold. exceptions: what may not hold for a while.
        mistakes: what keeps the whole table from being tested. role_places: where each column is named.
        insensitive: columns that need no role. about_persons: whether tables of persons may be its own.
        persons: those of its connection.
    """

    name: str
    place: Place
    target: Target | None
    roles: Roles = field(default_factory=Roles)
    connection: str = ""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    tests: tuple[TestSpec, ...] = ()
    exceptions: tuple[PolicyException, ...] = ()
    tags: tuple[str, ...] = ()
    owner: str = ""
    description: str = ""
    derived_from: tuple[str, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    role_places: Mapping[str, Place] = field(default_factory=dict)
    insensitive: tuple[str, ...] = ()
    about_persons: bool = True
    persons: tuple[PersonsEntry, ...] = ()


@dataclass(frozen=True)
class Policy:
    """A policy that was read.

    Args:
        file: as the user named it. mistakes: those that belong to no table.
        notes: what a reader of its results should know of the file.
    """

    file: str
    connections: Mapping[str, Connection]
    tables: tuple[TableEntry, ...]
    mistakes: tuple[Mistake, ...] = ()
    notes: tuple[str, ...] = ()
