"""What was found. Frozen dataclasses that reports read; `to_dict` gives the documented JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from sqlaudit.base import result as base
from sqlaudit.base.frozen import dataclass
from sqlaudit.classes.failing import ClassSizes, FailingClass
from sqlaudit.models.base import Check
from sqlaudit.reports.notebook import Shown

if TYPE_CHECKING:
    from sqlaudit.audits.classes import WorstClasses
    from sqlaudit.audits.criteria.criteria import CriteriaResult
    from sqlaudit.audits.disclosure.attribute import Disclosure
    from sqlaudit.events.result import PersonsFound


@dataclass(frozen=True)
class SensitiveSummary(base.Documented):
    """What is said of one sensitive attribute.

    Args:
        distinct: different values; missing counts as one. null_rows: rows without a value.
        form: the physical form that computed the class facts. ordered: whether its values have a natural order.
    """

    name: str
    distinct: int
    null_rows: int
    form: Annotated[str, Literal["packed", "cells", "wildcard"]]
    ordered: bool


NOT_SAID = (
    "The figures hold for the quasi-identifiers named above, not for other columns that an attacker may know.",
    "Whether a person is in the table at all was not checked.",
    "Joins with other releases, older versions of this table or registers were not checked.",
    "Free text, images and codes were not searched for names.",
    "Whether publication is lawful is not decided here.",
    base.MEANING,
)


@dataclass(frozen=True, kw_only=True, repr=False)
class AuditResult(base.MeasuredResult, Shown):
    """What one audit found.

    Args:
        target: what was audited; a query is named 'query', its text is not kept. columns: columns of the table.
        rows: rows of the table. engine: the engine and its version. roles: the roles of columns as they were given.
        classes: the equivalence classes by size. Sizes count persons when there is an entity column, rows otherwise.
        checks: one entry a model and sensitive attribute.
        failing: the failing classes that were asked for, smallest first.
        failing_total: how many classes fail at least one requirement, None when no one counted; one that fails for
            several sensitive attributes counts for each.
        failing_unnamed: a sentence on every requirement that is not met and has no failing classes: a figure of the
            whole table, or one that cannot be decided.
        persons: what requirements on persons with many rows asked for, None when none did.
        worst_classes: how the sensitive values of the worst classes are spread, beside the whole table: one entry a
            sensitive attribute that has such classes.
        complete: whether no budget ended the audit before every figure was known.
        disclosures: worst-case disclosure of every sensitive attribute, when (c,k)-safety was asked for.
    """

    schema: ClassVar = "sqlaudit/1"
    shown_by: ClassVar = "sqlaudit.audits.report:AuditReport"
    frame_of: ClassVar = "checks"

    target: str = field(metadata=base.key("target.name"))
    rows: int = field(metadata=base.key("target.rows"))
    columns: tuple[str, ...] = field(default=(), metadata=base.key("target.columns"))
    engine: str = field(metadata=base.key("target.engine"))
    roles: base.ShownRoles
    classes: ClassSizes
    sensitive: tuple[SensitiveSummary, ...] = ()
    checks: tuple[Check, ...]
    warnings: tuple[base.Warned, ...] = ()
    failing: tuple[FailingClass, ...] = ()
    failing_total: int | None = None
    failing_unnamed: tuple[str, ...] = ()
    persons: PersonsFound | None = field(default=None, metadata=base.IF_ANY)
    worst_classes: tuple[WorstClasses, ...] = field(default=(), repr=False)
    complete: bool = True
    disclosures: tuple[Disclosure, ...] = field(
        default=(), compare=False, repr=False, metadata=base.IF_ANY | base.after("disclosure")
    )

    @property
    @base.told("_limitations", base.IF_ANY)
    def disclosure(self) -> Disclosure | None:
        """Worst-case disclosure of the first sensitive attribute, None unless (c,k)-safety was asked for."""
        return self.disclosures[0] if self.disclosures else None

    @property
    @base.told("worst_classes")
    def status(self) -> base.Status:
        """The verdict on the whole table: the worst verdict among the requirements."""
        verdicts = {check.status for check in self.checks}
        otherwise = base.Status.UNDETERMINED if self.rows == 0 else base.Status.PASS
        return next(
            (one for one in (base.Status.FAIL, base.Status.UNDETERMINED, base.Status.WARN) if one in verdicts),
            otherwise,
        )

    @property
    def passed(self) -> bool:
        """True when no requirement failed or stayed undetermined."""
        return self.status in (base.Status.PASS, base.Status.WARN)

    @property
    def required(self) -> tuple[Check, ...]:
        """The checks that carry a requirement."""
        return tuple(check for check in self.checks if check.required is not None or check.status is not None)

    @property
    @base.told("status")
    def notices(self) -> tuple[base.Warned, ...]:
        """The warnings directly under the verdict: what it does not cover, worst first."""
        return base.under_verdict(self.warnings)

    @base.told("statements", base.key("limitations"))
    def _limitations(self) -> Annotated[tuple[str, ...], base.NOT_EMPTY]:
        """Limits of this audit, as sentences."""
        return NOT_SAID

    def by_criteria(self, *, public: bool = False, presets: Iterable[str] = ()) -> CriteriaResult:
        """Return these figures by criteria of data protection, as a report of its own.

        Args:
            public: round small counts, for readers who may not know them.
            presets: published rules whose clauses are sections, too.
        """
        from sqlaudit.audits.criteria.criteria import criteria_of

        return criteria_of(self, public=public, presets=presets)

    def failing_classes(self) -> list[FailingClass]:
        """The failing classes that were read, smallest first (keys only when values were asked for)."""
        return list(self.failing)
