"""What a policy says after reading, and what a run of it found. Frozen; no value of a row."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, ClassVar
from uuid import NAMESPACE_URL, uuid5

from sqlaudit.base import result as base
from sqlaudit.base.connection_texts import without_connections
from sqlaudit.base.errors import ExitCode
from sqlaudit.base.spec import Requirement, Roles, SafeHarbor, Target
from sqlaudit.base.version import __version__
from sqlaudit.cubes.request import CubeRequest
from sqlaudit.lattices.request import LatticeRequest
from sqlaudit.models.base import Check
from sqlaudit.reports.notebook import Shown
from sqlaudit.tabular.request import AggregatesRequest


class Outcome(StrEnum):
    """How a test ended.

    `EXCEPTED`: it fails, and an exception that has not expired allows it. `ACCEPTED`: it fails, but no
    more than in the accepted baseline. `SKIPPED`: it was not run, because an earlier test failed (`--fail-fast`).
    """

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    UNDETERMINED = "undetermined"
    ERROR = "error"
    EXCEPTED = "excepted"
    ACCEPTED = "accepted"
    SKIPPED = "skipped"


UNDECIDED = (Outcome.ERROR, Outcome.UNDETERMINED, Outcome.SKIPPED)
"""What says nothing that could be accepted."""
ALLOWED = (Outcome.WARN, Outcome.EXCEPTED, Outcome.ACCEPTED)
"""What fails, and keeps no table back."""


class Drift(StrEnum):
    """How a test compares with the accepted baseline."""

    NEW = "new"
    SAME = "same"
    BETTER = "better"
    WORSE = "worse"


@dataclass(frozen=True)
class Place(base.Documented):
    """Where a test is written.

    Args:
        file: as the user named it. line: in the file, None = the whole file.
    """

    file: str
    line: Annotated[int, base.FROM_1] | None = None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}, line {self.line}"

    def relative(self, root: Path) -> str:
        """The file with forward slashes, relative to the root of the repository where it lies below it."""
        file = Path(os.path.normpath(Path(self.file).absolute()))
        return (file.relative_to(root) if file.is_relative_to(root) else file).as_posix()


@dataclass(frozen=True)
class Excepted(base.Documented):
    """An exception that the policy makes: until when (ISO date), why, and whether that day is over."""

    until: Annotated[str, base.json_schema(format="date")]
    reason: str
    expired: bool
    place: Place = field(metadata=base.LEFT_OUT)

    @base.told("expired", base.key("line"))
    def _line(self) -> Annotated[int, base.FROM_1] | None:
        """The line in the file, None = the whole file."""
        return self.place.line


@dataclass(frozen=True)
class Change(base.Documented):
    """A test against its accepted state: how it moved, and the sentence that says what moved."""

    drift: Drift
    sentence: str = ""


@dataclass(frozen=True)
class ColumnSetFigures(base.Documented):
    """A minimal column set beyond its limit: names, and the rows (persons) it puts into classes that are too small."""

    columns: tuple[str, ...]
    at_risk: int


@dataclass(frozen=True)
class GateTest(base.Documented):
    """One test: a requirement on a table, for one sensitive attribute where the model has one.

    Args:
        table: the name of the table's entry. requirement: as the policy writes it.
        sensitive: the sensitive column, where the model has one. outcome: how it ended.
        message: what is to be said besides the figures: why it could not be run, or what a tolerance, exception or
            baseline allowed. place: the policy's line. connection: its name, empty for files.
        relation: what was tested, as database.schema.name; a file or query by its name.
        severity, tags, owner, description: as the policy has them.
        check: the figures, as in an audit; None when there are none.
        rows: rows of the table (persons, in a limit on column sets with an entity). classes: of the table.
        sets: the minimal column sets beyond their limit. unit: what they count, `rows` or `persons`.
        exception: the exception that the policy makes for it. change: how it compares with a baseline.
        exit_code: what the test asks the process to end with. asked: a digest of all that decides its figures.
        columns: the quasi-identifiers of the table, and where each is named.
    """

    table: str
    requirement: str
    outcome: Outcome = field(metadata=base.after("sensitive"))
    place: Place = field(metadata=base.HERE | base.after("message"))
    sensitive: str | None = None
    message: str = field(default="", metadata=base.after("severity"))
    connection: str = field(default="", metadata=base.after("place"))
    relation: str = field(default="", metadata=base.after("connection"))
    severity: base.Severity = field(default="error", metadata=base.after("outcome"))
    tags: tuple[str, ...] = ()
    owner: str = ""
    description: str = ""
    check: Check | None = field(default=None, metadata=base.after("rows"))
    rows: int | None = None
    classes: int | None = field(default=None, metadata=base.LEFT_OUT)
    sets: tuple[ColumnSetFigures, ...] = field(default=(), metadata=base.key("column_sets"))
    unit: str = field(default="rows", metadata=base.LEFT_OUT)
    exception: Excepted | None = None
    change: Change | None = None
    exit_code: ExitCode = ExitCode.OK
    asked: str = field(default="", metadata=base.LEFT_OUT)
    columns: Mapping[str, Place] = field(default_factory=dict, metadata=base.LEFT_OUT)

    @property
    def name(self) -> str:
        """The name in reports: `patients: l=2 for diagnosis`."""
        return f"{self.table}: {self.wanted}"

    @property
    def wanted(self) -> str:
        """The requirement, and the attribute that it is for."""
        return for_attribute(self.requirement, self.sensitive)

    @property
    def key(self) -> tuple[str, str, str]:
        """The parts that distinguish it from all other tests, also from one run to the next."""
        return self.table, self.requirement, self.sensitive or ""

    @property
    def model(self) -> str:
        """The name of what was tested: of its model, or what stands before the limit."""
        return self.check.model if self.check is not None else self.requirement.partition("=")[0]

    @property
    def tolerated(self) -> bool:
        """True if it passes only because a threshold of the policy lets some rows fail."""
        return self.outcome is Outcome.PASS and self.check is not None and self.check.status is not base.Status.PASS

    @property
    def blocks(self) -> bool:
        """True if it keeps the table from being published."""
        return self.outcome in (Outcome.FAIL, Outcome.UNDETERMINED, Outcome.ERROR)


@dataclass(frozen=True)
class Mistake(base.Documented):
    """A mistake in the policy that belongs to no test: where it is, and the sentence that says what was meant."""

    place: Place = field(metadata=base.HERE)
    message: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", without_connections(self.message))


@dataclass(frozen=True)
class Dataset:
    """A table as catalogues know it: in which namespace, and by which name there."""

    namespace: str
    name: str


@dataclass(frozen=True)
class Moment:
    """A test in one run, for the history: levels are exact texts."""

    run: int
    finished: str
    accepted: bool
    outcome: str
    level: str | None
    failing_rows: int | None
    rows: int | None


@dataclass(frozen=True)
class TableWarned(base.Documented):
    """What an audit of a table warns of."""

    table: str
    warned: base.Warned = field(metadata=base.HERE)


def for_attribute(requirement: str, sensitive: str | None) -> str:
    """A requirement, with the attribute that it is tested for where it has one."""
    return f"{requirement} for {sensitive}" if sensitive else requirement


def _by_table(found: tuple[tuple[str, base.Warned], ...]) -> list[TableWarned]:
    return [TableWarned(*pair) for pair in found]


def _loosened(test: GateTest) -> base.Warned:
    """Return the note on a requirement that a threshold loosens."""
    assert test.check is not None
    number, unit = test.check.failing_rows or 0, "person" if "persons" in test.check.details else "row"
    meet = f"{number:,} {unit} does" if number == 1 else f"{number:,} {unit}s do"
    return base.Warned("loosened_requirement", (), f"{meet} not meet {test.wanted}. {test.message}")


@dataclass(frozen=True, kw_only=True, repr=False)
class GateResult(base.Result, Shown):
    """What one run of a policy found.

    Args:
        policy: the policy's file as the user named it. seconds: how long it took.
        tests: one entry a requirement and sensitive column, in the policy's order.
        mistakes: what is wrong with the policy itself.
        tables: how many tables were tested. warnings: (table, warning) pairs of the audits.
        baseline: the file with the accepted state, empty without one. removed_tests: tests of the baseline that the
            policy no longer has. notes: further sentences.
        places: (table, place) pairs: where each table's entry stands. datasets: what catalogues call each table.
    """

    schema: ClassVar = "sqlaudit-gate/1"
    shown_by: ClassVar = "sqlaudit.gates.report:GateReport"
    frame_of: ClassVar = "tests"

    seconds: Annotated[float, base.FROM_0] = 0.0
    policy: str
    tables: int = 0
    tests: tuple[GateTest, ...]
    mistakes: tuple[Mistake, ...] = ()
    warnings: tuple[tuple[str, base.Warned], ...] = field(default=(), metadata=base.shown(_by_table))
    baseline: str = field(default="", metadata=base.OR_NULL)
    removed_tests: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    places: tuple[tuple[str, Place], ...] = field(default=(), metadata=base.LEFT_OUT)
    datasets: tuple[tuple[str, Dataset], ...] = field(default=(), metadata=base.LEFT_OUT)

    @base.told("tables", base.key("counts"))
    def counted(self) -> dict[Outcome, int]:
        """The number of tests by outcome, without outcomes that no test has."""
        found = {outcome: sum(test.outcome is outcome for test in self.tests) for outcome in Outcome}
        return {outcome: number for outcome, number in found.items() if number}

    @property
    @base.told("policy")
    def passed(self) -> bool:
        """True when nothing keeps the tables from being published."""
        return not self.mistakes and not any(test.blocks for test in self.tests)

    @property
    @base.told("passed", base.shown(_by_table))
    def notices(self) -> tuple[tuple[str, base.Warned], ...]:
        """The warnings directly under the verdict: what it does not cover, table by table, worst first."""
        found = [pair for pair in dict.fromkeys(self.warnings) if pair[1].code in base.UNDER_VERDICT]
        found += [(test.table, _loosened(test)) for test in self.tests if test.tolerated]
        return tuple(sorted(found, key=lambda pair: base.UNDER_VERDICT.index(pair[1].code)))

    @property
    def broken(self) -> bool:
        """True if a test could not be run, or the policy has a mistake."""
        return bool(self.mistakes) or any(test.outcome is Outcome.ERROR for test in self.tests)

    @property
    def relations(self) -> dict[str, str]:
        """The relation that each table's tests read."""
        return {test.table: test.relation for test in self.tests}

    def place_of(self, table: str) -> Place:
        """Where a table stands in the policy: the place of its entry, or the whole file when it is not known."""
        return dict(self.places).get(table, Place(self.policy))

    def dataset_of(self, table: str) -> Dataset:
        """Return the name of a table in catalogues."""
        return dict(self.datasets).get(table, Dataset("sqlaudit", table))

    @property
    def run_id(self) -> str:
        """A UUID of this run, the same in every report of it: made from what it found, when, and how long it took."""
        return str(uuid5(NAMESPACE_URL, json.dumps([__version__, self.to_dict()], sort_keys=True)))

    @property
    def exit_codes(self) -> tuple[ExitCode, ...]:
        """The exit codes of the tests and mistakes; the command line takes the worst."""
        return (*(test.exit_code for test in self.tests), *(ExitCode.USAGE for _ in self.mistakes))


# What a policy says, after reading: connections, tables with their roles, and the tests on them.


@dataclass(frozen=True)
class Threshold:
    """A condition on the failing rows: `> 10`, `> 1%`, `!= 0`.

    Args:
        text: as it was written. operator: one of >, >=, <= and !=.
        number: rows, or a share of all rows when `share`.
    """

    text: str
    operator: str
    number: Fraction
    share: bool

    def met(self, failing: int, rows: int) -> bool:
        """Return True if the share of these rows meets the condition, exactly."""
        value = Fraction(failing, rows) if self.share and rows else Fraction(failing)
        return {
            ">": value > self.number,
            ">=": value >= self.number,
            "<=": value <= self.number,
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
    others: ClassVar[tuple[Target, ...]] = ()


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

    @property
    def others(self) -> tuple[Target, ...]:
        """The further tables that it is about."""
        return (self.original,)


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

    @property
    def others(self) -> tuple[Target, ...]:
        """The further tables that it is about."""
        return (*self.before, *self.linked)


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

    @property
    def others(self) -> tuple[Target, ...]:
        """The further tables that it is about."""
        return self.before


@dataclass(frozen=True)
class SyntheticLimit:
    """What a synthetic table may disclose of the people that it was made from.

    Args:
        original: the table that it was made from. requirement: one of those of synthetic data. holdout: people who
            were not used. known: sets of up to so many known quasi-identifiers are tried, too.
        hierarchies: a file or folder with the widths of numbers; empty = values as they are.
    """

    original: Target
    requirement: Requirement | None
    holdout: Target | None = None
    known: int = 0
    hierarchies: str = ""

    @property
    def others(self) -> tuple[Target, ...]:
        """The further tables that it is about."""
        return (self.original, *((self.holdout,) if self.holdout is not None else ()))


@dataclass(frozen=True)
class SafeHarborLimit:
    """No column is an identifier of HIPAA's Safe Harbor.

    Args:
        request: the small ZIP areas, and the columns that people reviewed.
    """

    request: SafeHarbor = field(default_factory=SafeHarbor)
    others: ClassVar[tuple[Target, ...]] = ()


@dataclass(frozen=True)
class ReleaseLimit:
    """A release that a table becomes by `sqlaudit lattice -f`, and that the file there must be.

    Args:
        request: the search at the levels that the policy names, without a destination.
        file: the release; None = the policy names none.
        written: what its file has, as fields of a publication.
    """

    request: LatticeRequest
    file: Path | None
    written: Mapping[str, Any]
    others: ClassVar[tuple[Target, ...]] = ()


@dataclass(frozen=True)
class CubeLimit:
    """A cube that a table becomes by `sqlaudit cube -f`, and that the file there must be.

    Args:
        request: the cube, without a destination. file: of the cube; None = the policy names none.
        rule: one rule for its blocks; None = the file itself.
    """

    request: CubeRequest
    file: Path | None
    rule: Requirement | None = None
    others: ClassVar[tuple[Target, ...]] = ()


Limit = ColumnLimit | LossLimit | CellLimit | SeriesLimit | SafeHarborLimit | SyntheticLimit | ReleaseLimit | CubeLimit
"""What a requirement may be besides a privacy model."""


@dataclass(frozen=True)
class PolicyException:
    """What a table may fail for a while.

    Args:
        requirement: the requirement as written, or a model's name. sensitive: the one attribute it is for, or empty.
        until: the last day on which it holds. reason: why. up_to: how many rows may fail, None = any.
    """

    requirement: str
    sensitive: str
    until: datetime.date
    reason: str
    up_to: Threshold | None
    place: Place


@dataclass(frozen=True)
class TestSpec:
    """One requirement of a table. Exactly one of `model`, `limit`, `identifier`, `all_named` and `mistake` is
    given.

    Args:
        requirement: its text, the same in every run. place: where it is written.
        model: a privacy model with its limit. limit: one on something else. mistake: why it could not be read.
        sensitive: the attributes it is for, empty = all. warn_if, error_if: on the failing rows; None = any.
    """

    __test__ = False  # not a test of pytest

    requirement: str
    place: Place
    model: Requirement | None = None
    limit: Limit | None = None
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

    def is_about(self, sensitive: str | None) -> bool:
        """Return True if it is for a sensitive attribute; None stands for requirements without one."""
        return not self.sensitive or sensitive is None or sensitive in self.sensitive


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
        persons: those of its connection. database: that of the table, empty = the one that is connected to.
        release: what it is released as; its tests are then about that file. cube: what is made of it besides.
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
    database: str = ""
    release: ReleaseLimit | None = None
    cube: CubeLimit | None = None

    @property
    def made(self) -> ReleaseLimit | CubeLimit | None:
        """The file that is made of it."""
        return self.release or self.cube


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
