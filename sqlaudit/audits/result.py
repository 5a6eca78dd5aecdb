"""What was found. Frozen dataclasses that reports read; `to_dict` gives the documented JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

from sqlaudit.base.documents import HERE, IF_ANY, LEFT_OUT, Documented, key, told
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.result import MEANING, MeasuredResult, Status, Warned, under_verdict
from sqlaudit.classes.found import ClassSizes, FailingClass
from sqlaudit.models.check import Check
from sqlaudit.reports.notebook import Shown

if TYPE_CHECKING:
    from sqlaudit.audits.criteria.result import CriteriaResult
    from sqlaudit.audits.disclosure.attribute import Disclosure
    from sqlaudit.audits.distribution import WorstClasses
    from sqlaudit.events.result import PersonsFound


@dataclass(frozen=True)
class SensitiveSummary(Documented):
    """What is said of one sensitive attribute: distinct values (NULL counts as one), NULL rows, the physical form
    that computed its class facts (`packed`, `cells` or `wildcard`), and whether its values have a natural order."""

    name: str
    distinct: int
    null_rows: int
    form: str
    ordered: bool


NOT_SAID = (
    "Whether the people are in the table at all, or what else is known about them elsewhere: a figure holds for the "
    "quasi-identifiers that were named, not for columns that an attacker may know besides.",
    "What happens when this table is joined with another release, an older version of itself, or a register.",
    "Whether values inside free text, images or codes name a person.",
    "Whether publication is lawful: that is for people to decide, with these figures in hand.",
    MEANING,
)


@dataclass(frozen=True, kw_only=True, repr=False)
class AuditResult(MeasuredResult, Shown):
    """What one audit found.

    `failing` holds the few failing classes that were asked for, smallest first; `failing_total` how many there are: a
    class that falls short for several sensitive attributes counts for each. `failing_unnamed` has a sentence on every
    requirement that does not hold and has no classes there. `persons` is what requirements on persons with many rows
    asked for, None when none did.
    `disclosures` holds one curve a sensitive attribute, when (c,k)-safety was asked for; `worst_classes` how its values
    are spread in the worst classes.
    """

    schema: ClassVar = "sqlaudit/1"
    shown_by: ClassVar = "sqlaudit.audits.report:audit_document"
    frame_of: ClassVar = "checks"

    target: str = field(metadata=key("target.name"))
    rows: int = field(metadata=key("target.rows"))
    columns: tuple[str, ...] = field(default=(), metadata=key("target.columns"))
    engine: str = field(metadata=key("target.engine"))
    roles: Mapping[str, Any]
    classes: ClassSizes
    sensitive: tuple[SensitiveSummary, ...] = ()
    checks: tuple[Check, ...]
    warnings: tuple[Warned, ...] = ()
    failing: tuple[FailingClass, ...] = ()
    failing_total: int | None = None
    failing_unnamed: tuple[str, ...] = ()
    persons: PersonsFound | None = field(default=None, metadata=IF_ANY)
    worst_classes: tuple[WorstClasses, ...] = field(default=(), repr=False)
    complete: bool = True
    disclosures: tuple[Disclosure, ...] = field(default=(), compare=False, repr=False, metadata=LEFT_OUT)

    @property
    def disclosure(self) -> Disclosure | None:
        """Worst-case disclosure of the first sensitive attribute, None unless (c,k)-safety was asked for."""
        return self.disclosures[0] if self.disclosures else None

    @property
    @told("worst_classes")
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
    @told("status")
    def notices(self) -> tuple[Warned, ...]:
        """What stands directly under the verdict: the warnings of what it does not cover, worst first."""
        return under_verdict(self.warnings)

    @told("statements", key("not_said"))
    def _not_said(self) -> tuple[str, ...]:
        return NOT_SAID

    @told("_not_said", HERE)
    def _curves(self) -> dict[str, Any]:
        return {"disclosure": self.disclosure, "disclosures": self.disclosures} if self.disclosures else {}

    def by_criteria(self, *, public: bool = False) -> CriteriaResult:
        """What these figures say to criteria of data protection, as a report of its own.

        Args:
            public: round small counts, for readers who may not know them.
        """
        from sqlaudit.audits.criteria.criteria import criteria_of

        return criteria_of(self, public=public)

    def failing_classes(self) -> list[FailingClass]:
        """The failing classes that were read, smallest first (keys only when values were asked for)."""
        return list(self.failing)
