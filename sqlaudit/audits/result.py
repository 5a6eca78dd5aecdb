"""What was found. Frozen dataclasses that reports read; `to_dict` gives the documented JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from sqlaudit.base.result import MEANING, Status, Timing, Warned, under_verdict
from sqlaudit.classes.found import ClassSizes, FailingClass
from sqlaudit.models.check import Check
from sqlaudit.reports.notebook import Shown

if TYPE_CHECKING:
    from sqlaudit.audits.disclosure.attribute import Disclosure
    from sqlaudit.audits.distribution import WorstClasses

SCHEMA = "sqlaudit/1"


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

    shown_by: ClassVar = "sqlaudit.audits.report:audit_document"

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
            from sqlaudit.base.errors import MissingDriver

            raise MissingDriver("to_frame needs pandas: pip install 'sqlaudit[frames]'.") from None
        return pd.DataFrame([check.to_dict() for check in self.checks])
