"""What was found. Frozen dataclasses that reports read; `to_dict` gives the documented JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from sqlaudit.shown import Shown

if TYPE_CHECKING:
    from sqlaudit.distribution_result import WorstClasses
    from sqlaudit.worst_case.attribute import Disclosure

SCHEMA = "sqlaudit/1"
Number = int | float | Fraction


class Status(StrEnum):
    """The verdict on one check, or on the whole audit."""

    PASS = "pass"
    FAIL = "fail"
    WARN = "warn"
    UNDETERMINED = "undetermined"


@dataclass(frozen=True)
class Check:
    """One model on one sensitive attribute: the level achieved and, when required, the verdict.

    Args:
        model: the model's name. sensitive: the attribute, None for models that need none.
        parameters: the model's parameters. level: the main number; `math.inf` for infinity, None when undefined.
        levels: every number the model reports, by name. operator: how level and limit compare when it holds.
        required: the limit, None when nothing was required.
        status: the verdict, None when nothing was required.
        failing_classes, failing_rows, failing_share: what falls short; None when nothing was required.
        details: further figures of the model. note: which definition was used, or why nothing can be said.
        text: the requirement as the user wrote it. title: the model's name for people, empty = made from `model`.
    """

    model: str
    sensitive: str | None
    parameters: Mapping[str, Any]
    level: Number | None
    levels: Mapping[str, Number | None]
    operator: str
    required: Number | None = None
    status: Status | None = None
    failing_classes: int | None = None
    failing_rows: int | None = None
    failing_share: float | None = None
    severity: str = "error"
    text: str = ""
    note: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The check as the JSON schema has it."""
        out: dict[str, Any] = {
            "model": self.model,
            "sensitive": self.sensitive,
            "parameters": {k: plain(v) for k, v in self.parameters.items()},
            "level": plain(self.level),
            "levels": {k: plain(v) for k, v in self.levels.items()},
            "operator": self.operator,
            "required": plain(self.required),
            "status": self.status.value if self.status else None,
            "failing_classes": self.failing_classes,
            "failing_rows": self.failing_rows,
            "failing_share": self.failing_share,
            "severity": self.severity,
        }
        if isinstance(self.level, float) and math.isinf(self.level):
            out["infinite"] = True
        if self.title:
            out["title"] = self.title
        if self.note:
            out["note"] = self.note
        if self.details:
            out["details"] = {k: plain(v) for k, v in self.details.items()}
        return out


def plain(value: Any) -> Any:
    """A value as JSON knows it: fractions become floats (integers when whole), infinity and NaN become null.

    Values that JSON has no type for (decimals, dates, identifiers, bytes) become text.
    """
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(v) for v in value]
    if value is None or isinstance(value, bool | str):
        return value
    return _plain_number(value) if isinstance(value, Real) else _plain_text(value)


def _plain_number(value: Real) -> int | float | None:
    if isinstance(value, Integral) or (isinstance(value, Fraction) and value.denominator == 1):
        return int(value)
    return float(value) if math.isfinite(value) else None


def _plain_text(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


@dataclass(frozen=True)
class Warned:
    """Something a reader should know: a stable code, the columns concerned, one sentence without cell values."""

    code: str
    columns: tuple[str, ...]
    message: str

    def to_dict(self) -> dict[str, Any]:
        """The warning as the JSON schema has it."""
        return {"code": self.code, "columns": list(self.columns), "message": self.message}


UNDER_VERDICT = (
    "possible_direct_identifier",
    "possible_quasi_identifier",
    "unreadable_columns",
    "empty_quasi_identifier",
    "several_combinations",
    "one_combination",
    "read_by_expressions",
    "columns_without_role",
)
"""The codes of what stands directly under a verdict: what it does not cover, worst first."""
_ONLY_SAID = ("one_combination", "read_by_expressions", "columns_without_role")


def under_verdict(warnings: Sequence[Warned]) -> tuple[Warned, ...]:
    """The warnings that stand directly under a verdict, worst first. A declared identifier is a check of its own."""
    found = [warned for warned in warnings if warned.code in UNDER_VERDICT]
    return tuple(sorted(found, key=lambda warned: UNDER_VERDICT.index(warned.code)))


def is_note(warned: Warned) -> bool:
    """Whether it only says what a verdict is about, and warns of nothing."""
    return warned.code in _ONLY_SAID


@dataclass(frozen=True)
class ClassSizes:
    """The equivalence classes by size: `sizes` holds (size, number of classes of that size), ascending.

    Sizes are persons when there is an entity column, rows otherwise. `per_row` says that classes overlap
    (NULL as wildcard), so that each row counts as one neighbourhood.
    """

    sizes: tuple[tuple[int, int], ...]
    per_row: bool = False

    @property
    def count(self) -> int:
        """The number of classes."""
        return sum(classes for _, classes in self.sizes)

    @property
    def members(self) -> int:
        """Rows (or persons) in all classes together."""
        return self.count if self.per_row else sum(size * classes for size, classes in self.sizes)

    @property
    def min_size(self) -> int | None:
        """The smallest class, None for an empty table."""
        return self.sizes[0][0] if self.sizes else None

    @property
    def max_size(self) -> int | None:
        """The largest class, None for an empty table."""
        return self.sizes[-1][0] if self.sizes else None

    def below(self, k: int) -> tuple[int, int]:
        """(classes, rows) in classes smaller than k."""
        small = [(size, classes) for size, classes in self.sizes if size < k]
        rows = sum(classes if self.per_row else size * classes for size, classes in small)
        return sum(classes for _, classes in small), rows

    def to_dict(self) -> dict[str, Any]:
        """The sizes as the JSON schema has them."""
        return {
            "count": self.count,
            "min_size": self.min_size,
            "max_size": self.max_size,
            "per_row": self.per_row,
            "sizes": [list(pair) for pair in self.sizes],
        }


@dataclass(frozen=True)
class FailingClass:
    """A class that falls short of at least one requirement.

    `key` holds the quasi-identifier values, and is None unless values were asked for. `figures` holds the
    class's own figures by name, `fails` the requirements it breaks, as the user wrote them; `sensitive` the attribute
    that one of these is about, None when none is. Without keys, classes that look alike are one entry: `classes` is how
    many there are, each of `rows` rows. A class that only a population has has no rows.
    """

    size: int
    rows: int
    figures: Mapping[str, Number | None]
    fails: tuple[str, ...]
    sensitive: str | None = None
    key: Mapping[str, Any] | None = None
    classes: int = 1

    def to_dict(self) -> dict[str, Any]:
        """The class as the JSON schema has it."""
        return {
            "size": self.size,
            "rows": self.rows,
            "classes": self.classes,
            "sensitive": self.sensitive,
            "fails": list(self.fails),
            "figures": {k: plain(v) for k, v in self.figures.items()},
            "key": None if self.key is None else {k: plain(v) for k, v in self.key.items()},
        }


@dataclass(frozen=True)
class SensitiveSummary:
    """What is said of one sensitive attribute: distinct values (NULL counts as one), NULL rows, the physical form
    that computed its class facts (`packed`, `cells` or `wildcard`), and whether its values have a natural order."""

    name: str
    distinct: int
    null_rows: int
    form: str
    ordered: bool

    def to_dict(self) -> dict[str, Any]:
        """The summary as the JSON schema has it."""
        return {
            "name": self.name,
            "distinct": self.distinct,
            "null_rows": self.null_rows,
            "form": self.form,
            "ordered": self.ordered,
        }


@dataclass(frozen=True)
class Timing:
    """A statement that ran: its step, its seconds, and its SQL (which holds no cell value)."""

    name: str
    seconds: float | None
    sql: str = field(default="", repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The statement as the JSON schema has it (without its SQL)."""
        return {"name": self.name, "seconds": self.seconds}


MEANING = "What a verdict means, for whom it holds and what it leaves open: docs/verdicts.md"
"""The last sentence of every report with a verdict."""
NOT_SAID = (
    "Whether the people are in the table at all, or what else is known about them elsewhere: a figure holds for the "
    "quasi-identifiers that were named, not for columns that an attacker may know besides.",
    "What happens when this table is joined with another release, an older version of itself, or a register.",
    "Whether values inside free text, images or codes name a person.",
    "Whether publication is lawful: that is for people to decide, with these figures in hand.",
    MEANING,
)


def disclosures_dict(disclosures: Sequence[Disclosure]) -> dict[str, Any]:
    """Curves as the JSON schema has them: the first one, and the list of all; nothing when none was asked for."""
    listed = [disclosure.to_dict() for disclosure in disclosures]
    return {"disclosure": listed[0], "disclosures": listed} if listed else {}


@dataclass(frozen=True)
class AuditResult(Shown):
    """What one audit found.

    `failing` holds the few failing classes that were asked for, smallest first; `failing_total` how many there are: a
    class that falls short for several sensitive attributes counts for each. `failing_unnamed` has a sentence on every
    requirement that does not hold and has no classes there.
    `disclosures` holds one curve a sensitive attribute, when (c,k)-safety was asked for; `worst_classes` how its values
    are spread in the worst classes.
    """

    target: str
    rows: int
    engine: str
    time: str
    roles: Mapping[str, Any]
    classes: ClassSizes
    checks: tuple[Check, ...]
    sensitive: tuple[SensitiveSummary, ...] = ()
    warnings: tuple[Warned, ...] = ()
    failing: tuple[FailingClass, ...] = ()
    failing_total: int | None = None
    failing_unnamed: tuple[str, ...] = ()
    statements: tuple[Timing, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    access: str = ""
    columns: tuple[str, ...] = ()
    complete: bool = True
    disclosures: tuple[Disclosure, ...] = field(default=(), compare=False, repr=False)
    worst_classes: tuple[WorstClasses, ...] = field(default=(), repr=False)

    @property
    def disclosure(self) -> Disclosure | None:
        """Worst-case disclosure of the first sensitive attribute, None unless (c,k)-safety was asked for."""
        return self.disclosures[0] if self.disclosures else None

    @property
    def status(self) -> Status:
        """The verdict on the whole table: the worst verdict among the requirements."""
        verdicts = {check.status for check in self.checks if check.status is not None}
        for status in (Status.FAIL, Status.UNDETERMINED, Status.WARN):
            if status in verdicts:
                return status
        return Status.UNDETERMINED if self.rows == 0 else Status.PASS

    @property
    def passed(self) -> bool:
        """True when no requirement failed or stayed undetermined."""
        return self.status in (Status.PASS, Status.WARN)

    @property
    def required(self) -> tuple[Check, ...]:
        """The checks that carry a requirement."""
        return tuple(check for check in self.checks if check.required is not None or check.status is not None)

    @property
    def notices(self) -> tuple[Warned, ...]:
        """What stands directly under the verdict: the warnings of what it does not cover, worst first."""
        return under_verdict(self.warnings)

    def failing_classes(self) -> list[FailingClass]:
        """The failing classes that were read, smallest first (keys only when values were asked for)."""
        return list(self.failing)

    def to_dict(self) -> dict[str, Any]:
        """The result as the documented JSON (`docs/schema.md`)."""
        return {
            "schema": SCHEMA,
            "versions": dict(self.versions),
            "time": self.time,
            "access": self.access,
            "target": {"name": self.target, "rows": self.rows, "columns": list(self.columns), "engine": self.engine},
            "roles": dict(self.roles),
            "classes": self.classes.to_dict(),
            "sensitive": [summary.to_dict() for summary in self.sensitive],
            "checks": [check.to_dict() for check in self.checks],
            "warnings": [warning.to_dict() for warning in self.warnings],
            "failing": [failing.to_dict() for failing in self.failing],
            "failing_total": self.failing_total,
            "failing_unnamed": list(self.failing_unnamed),
            "worst_classes": [worst.to_dict() for worst in self.worst_classes],
            "status": self.status.value,
            "notices": [notice.to_dict() for notice in self.notices],
            "complete": self.complete,
            "statements": [timing.to_dict() for timing in self.statements],
            "not_said": list(NOT_SAID),
        } | disclosures_dict(self.disclosures)

    def to_frame(self) -> Any:
        """The checks as a pandas DataFrame, one row a check.

        Raises:
            MissingDriver: when pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            from sqlaudit.errors import MissingDriver

            raise MissingDriver("to_frame needs pandas: pip install 'sqlaudit[frames]'.") from None
        return pd.DataFrame([check.to_dict() for check in self.checks])
