"""What a run of a policy found: one result a test, in frozen dataclasses that reports read. No value of a row."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar
from uuid import NAMESPACE_URL, uuid5

from sqlaudit.base.connection_texts import without_connections
from sqlaudit.base.documents import HERE, LEFT_OUT, OR_NULL, Documented, after, key, shown, told
from sqlaudit.base.errors import ExitCode
from sqlaudit.base.result import UNDER_VERDICT, Result, Warned
from sqlaudit.base.version import __version__
from sqlaudit.models.check import Check
from sqlaudit.reports.notebook import Shown


class Outcome(StrEnum):
    """How a test ended.

    `EXCEPTED`: it falls short, and an exception that has not expired allows it. `ACCEPTED`: it falls short, but no
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


class Drift(StrEnum):
    """How a test compares with the accepted baseline."""

    NEW = "new"
    SAME = "same"
    BETTER = "better"
    WORSE = "worse"


@dataclass(frozen=True)
class Place(Documented):
    """Where a test is written: the file as the user named it, and its line (None = the whole file)."""

    file: str
    line: int | None = None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}, line {self.line}"


@dataclass(frozen=True)
class Excepted(Documented):
    """An exception that the policy makes: until when (ISO date), why, and whether that day is over."""

    until: str
    reason: str
    expired: bool
    place: Place = field(metadata=key("line") | shown(lambda place: place.line))


@dataclass(frozen=True)
class Change(Documented):
    """A test against its accepted state: how it moved, and the sentence that says what moved."""

    drift: Drift
    sentence: str = ""


@dataclass(frozen=True)
class ColumnSetFigures(Documented):
    """A minimal column set beyond its limit: names, and the rows (persons) it puts into classes that are too small."""

    columns: tuple[str, ...]
    at_risk: int


@dataclass(frozen=True)
class GateTest(Documented):
    """One test: a requirement on a table, for one sensitive attribute where the model has one.

    Args:
        table: the name of the table's entry. requirement: as the policy writes it. sensitive: the attribute, or None.
        outcome: how it ended. message: what is to be said besides the figures: why it could not be run, or what a
            tolerance, exception or baseline allowed.
        place: the policy's line. connection: its name, empty for files.
        severity, tags, owner, description: as the policy has them.
        check: the figures; None when there are none. rows, classes: of the table.
        sets: the column sets beyond their limit. unit: what they count, `rows` or `persons`.
        exception: the exception that the policy makes for it. change: how it compares with a baseline.
        exit_code: what it asks the process to end with.
    """

    table: str
    requirement: str
    outcome: Outcome = field(metadata=after("sensitive"))
    place: Place = field(metadata=HERE | after("message"))
    sensitive: str | None = None
    message: str = field(default="", metadata=after("severity"))
    connection: str = field(default="", metadata=after("place"))
    severity: str = field(default="error", metadata=after("outcome"))
    tags: tuple[str, ...] = ()
    owner: str = ""
    description: str = ""
    check: Check | None = field(default=None, metadata=after("rows"))
    rows: int | None = None
    classes: int | None = field(default=None, metadata=LEFT_OUT)
    sets: tuple[ColumnSetFigures, ...] = field(default=(), metadata=key("column_sets"))
    unit: str = field(default="rows", metadata=LEFT_OUT)
    exception: Excepted | None = None
    change: Change | None = None
    exit_code: ExitCode = ExitCode.OK

    @property
    def name(self) -> str:
        """What reports call it: `patients: l=2 for diagnosis`."""
        return f"{self.table}: {self.requirement}" + (f" for {self.sensitive}" if self.sensitive is not None else "")

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from all other tests, also from one run to the next."""
        return self.table, self.requirement, self.sensitive or ""

    @property
    def blocks(self) -> bool:
        """Whether it keeps the table from being published."""
        return self.outcome in (Outcome.FAIL, Outcome.UNDETERMINED, Outcome.ERROR)


@dataclass(frozen=True)
class Mistake(Documented):
    """A mistake in the policy that belongs to no test: where it is, and the sentence that says what was meant."""

    place: Place = field(metadata=HERE)
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


def _by_table(found: tuple[tuple[str, Warned], ...]) -> list[dict[str, Any]]:
    return [{"table": table} | warned.to_dict() for table, warned in found]


@dataclass(frozen=True, kw_only=True, repr=False)
class GateResult(Result, Shown):
    """What one run of a policy found.

    Args:
        policy: the policy's file as the user named it. tests: in the policy's order.
        mistakes: what is wrong with the policy itself. time: when it ran (ISO 8601). seconds: how long it took.
        tables: how many tables were tested. warnings: (table, warning) pairs of the audits.
        baseline: the file with the accepted state, empty without one. gone: tests of the baseline that the policy no
            longer has. notes: further sentences. versions: of sqlaudit and the engines.
        places: (table, place) pairs: where each table's entry stands. datasets: what catalogues call each table.
    """

    schema: ClassVar = "sqlaudit-gate/1"
    shown_by: ClassVar = "sqlaudit.gates.report:gate_document"
    frame_of: ClassVar = "tests"

    seconds: float = 0.0
    policy: str
    tables: int = 0
    tests: tuple[GateTest, ...]
    mistakes: tuple[Mistake, ...] = ()
    warnings: tuple[tuple[str, Warned], ...] = field(default=(), metadata=shown(_by_table))
    baseline: str = field(default="", metadata=OR_NULL)
    gone: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    places: tuple[tuple[str, Place], ...] = field(default=(), metadata=LEFT_OUT)
    datasets: tuple[tuple[str, Dataset], ...] = field(default=(), metadata=LEFT_OUT)

    @told("tables", key("counts"))
    def counted(self) -> dict[Outcome, int]:
        """How many tests ended in each way; outcomes that none has are left out."""
        found = {outcome: sum(test.outcome is outcome for test in self.tests) for outcome in Outcome}
        return {outcome: number for outcome, number in found.items() if number}

    @property
    @told("policy")
    def passed(self) -> bool:
        """True when nothing keeps the tables from being published."""
        return not self.mistakes and not any(test.blocks for test in self.tests)

    @property
    @told("passed", shown(_by_table))
    def notices(self) -> tuple[tuple[str, Warned], ...]:
        """What stands directly under the verdict: table by table what it does not cover, worst first."""
        found = [pair for pair in dict.fromkeys(self.warnings) if pair[1].code in UNDER_VERDICT]
        return tuple(sorted(found, key=lambda pair: UNDER_VERDICT.index(pair[1].code)))

    def place_of(self, table: str) -> Place:
        """Where a table stands in the policy: the place of its entry, or the whole file when it is not known."""
        return dict(self.places).get(table, Place(self.policy))

    def dataset_of(self, table: str) -> Dataset:
        """What catalogues call a table."""
        return dict(self.datasets).get(table, Dataset("sqlaudit", table))

    @property
    def run_id(self) -> str:
        """A UUID of this run, the same in every report of it: made from what it found, when, and how long it took."""
        return str(uuid5(NAMESPACE_URL, json.dumps([__version__, self.to_dict()], sort_keys=True)))

    @property
    def exit_codes(self) -> tuple[ExitCode, ...]:
        """What tests and mistakes ask the process to end with; the command line takes the worst."""
        return (*(test.exit_code for test in self.tests), *(ExitCode.USAGE for _ in self.mistakes))
