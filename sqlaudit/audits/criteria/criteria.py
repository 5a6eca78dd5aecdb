"""The criteria: what each asks, which figures of an audit answer it, and what none does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlaudit.audits.criteria.result import CriteriaResult, Criterion, ToldFigure
from sqlaudit.audits.criteria.telling import BASE, Telling
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.result import Number
from sqlaudit.base.spec import NullPolicy, Requirement, Roles
from sqlaudit.models.coverage import IDENTIFIER
from sqlaudit.models.phrases import VERDICTS
from sqlaudit.reports.blocks import text_of
from sqlaudit.reports.figures import listing

INFERENCE = ("distinct_l_diversity", "alpha_k_anonymity", "t_closeness")
"""The models that say what a class tells of the sensitive value."""
WP29 = "Article 29 Working Party, Opinion 05/2014 on Anonymisation Techniques (WP216)"
HIPAA = "HIPAA Privacy Rule, 45 CFR 164.514(b)(1)"
EMA = "European Medicines Agency, Policy 0070, external guidance on anonymisation"
EMA_SIZE = 11
"""The guidance's threshold of 0.09 is the risk in a class of 11, rounded."""


def wanted_besides(roles: Roles, requirements: tuple[Requirement, ...]) -> tuple[Requirement, ...]:
    """What has to be computed besides the requirements of an audit, without being required.

    Nothing where no requirement narrows what is computed, where no column is sensitive, and where classes overlap.
    """
    if not requirements or not roles.sensitive or roles.nulls is NullPolicy.WILDCARD:
        return ()
    already = {one.model for one in requirements}
    return tuple(Requirement(name) for name in INFERENCE if name not in already)


def criteria_of(result: AuditResult, *, public: bool = False) -> CriteriaResult:
    """What an audit says to the criteria.

    Args:
        result: what the audit found. public: round small counts, for readers who may not know them.
    """
    telling = Telling(BASE if public else 1)
    figures = _Figures(result, telling)
    required = [ToldFigure(one.text, text_of(VERDICTS[one.status]).lower()) for one in result.required]
    return CriteriaResult(
        version="public" if public else "internal",
        rounded_to=telling.base,
        target=result.target,
        rows=telling.amount(result.rows),
        engine=result.engine,
        roles=result.roles,
        required=tuple(one for one in required if one.name),
        criteria=tuple(_criteria(figures)),
        status=result.status,
        versions=result.versions,
        time=result.time,
    )


def _criteria(found: _Figures) -> Iterator[Criterion]:
    yield Criterion(
        "singling_out",
        "Singling out",
        WP29,
        "Can records be isolated that identify one individual?",
        (*found.alone(), *found.small(5)),
        (
            "Whether others know the quasi-identifiers that were named, or know further columns.",
            "Whether a value in a column without a role singles somebody out.",
        ),
    )
    yield Criterion(
        "linkability",
        "Linkability",
        WP29,
        "Can two records of one individual, or of a group, be linked, here or with another table?",
        (*found.linked(), *found.population()),
        (
            "Which other tables there are, now or later, and who has them. With one at hand, `sqlaudit attack` tries.",
            "Whether an older or later release of the same people is around.",
        ),
    )
    yield Criterion(
        "inference",
        "Inference",
        WP29,
        "Can a value be deduced with significant probability from other values?",
        tuple(found.inference()),
        (
            "Which probability is significant: that depends on the value and on the harm.",
            "What follows from columns that were not named as sensitive, or from free text.",
        ),
    )
    yield Criterion(
        "hipaa_expert",
        "HIPAA, expert determination",
        HIPAA,
        "Is the risk very small that an anticipated recipient could identify an individual?",
        (*found.risks(), *found.small(EMA_SIZE), *found.identifiers()),
        (
            "What is very small: the rule names no number.",
            "Who the anticipated recipients are, and which other information is reasonably available to them.",
            "Whether the expert has the knowledge that the rule asks for. Methods and results have to be written down; "
            "this page can be part of that.",
        ),
    )
    yield Criterion(
        "ema_0070",
        "EMA Policy 0070",
        EMA,
        "Is the highest risk of re-identification at most 0.09, or is there another analysis of the risk?",
        (*found.ema(), *found.risks()),
        (
            "What the text of the reports says of patients: only the columns of this table were counted.",
            "How rare the disease and how small the trial is beside all patients who could be meant.",
            "What anonymisation took from the use of the data. `sqlaudit compare` counts that.",
        ),
    )


class _Figures:
    """The figures of an audit as they are told."""

    def __init__(self, result: AuditResult, telling: Telling) -> None:
        self._result, self._tell, self._sizes = result, telling, result.classes
        self._unit = "persons" if result.roles.get("entity") else "rows"

    def alone(self) -> Iterator[ToldFigure]:
        """Who is alone with the values of the quasi-identifiers."""
        yield ToldFigure(f"{self._unit} that nobody is like", self._below(2))
        if self._sizes.min_size is not None:
            yield ToldFigure("smallest class (k)", self._tell.smallest(self._sizes.min_size))

    def small(self, size: int) -> Iterator[ToldFigure]:
        """Who is in a small class."""
        yield ToldFigure(f"{self._unit} in classes below {size}", self._below(size))

    def linked(self) -> Iterator[ToldFigure]:
        """How surely somebody with another table finds the right record."""
        yield ToldFigure("different combinations of the quasi-identifiers", self._tell.amount(self._sizes.count))
        yield from self.risks()

    def risks(self) -> Iterator[ToldFigure]:
        """The chance to pick the right record, for somebody who knows that a person is in the table."""
        if self._sizes.min_size is None:
            return
        yield ToldFigure("highest chance to pick the right record", self._tell.risk(self._sizes.min_size))
        if not self._sizes.per_row:
            average = self._tell.average(self._sizes.count, self._sizes.members)
            yield ToldFigure(f"the same on average over all {self._unit}", average)

    def population(self) -> Iterator[ToldFigure]:
        """What was estimated of the population that the table is a sample of."""
        for check in self._checks("population_uniqueness"):
            people = check.levels.get("unique_people")
            text = "no estimate" if people is None else self._tell.amount(round(people))
            yield ToldFigure("unique people in the population, estimated", text)
        for check in self._checks("expected_reidentifications"):
            number = check.levels.get("marketer")
            if number is not None:
                yield ToldFigure("right links when all rows are linked, estimated", self._tell.amount(round(number)))

    def inference(self) -> Iterator[ToldFigure]:
        """What a class tells of the sensitive value."""
        columns = self._result.roles.get("sensitive", ())
        if not columns:
            yield ToldFigure("figures", "none: no column was named as sensitive")
        for check in (one for name in INFERENCE for one in self._checks(name)):
            name, text = self._inferred(check.model, check.level)
            yield ToldFigure(f"{check.sensitive}: {name}", text)

    def identifiers(self) -> Iterator[ToldFigure]:
        """Direct identifiers that are in the table, and columns that look like some."""
        named = [str(one.parameters.get("column")) for one in self._checks(IDENTIFIER)]
        yield ToldFigure("direct identifiers in the table", listing(named) if named else "none was named")
        alike = [
            name for one in self._result.warnings if one.code == "possible_direct_identifier" for name in one.columns
        ]
        if alike:
            yield ToldFigure("columns that look like direct identifiers", listing(alike))

    def ema(self) -> Iterator[ToldFigure]:
        """The threshold of the guidance."""
        least = self._sizes.min_size
        held = "no class" if least is None else "yes" if least >= EMA_SIZE else "no"
        yield ToldFigure(f"every class has {EMA_SIZE} or more (a risk of 0.09)", held)
        yield ToldFigure(f"{self._unit} above that risk", self._below(EMA_SIZE))

    def _inferred(self, model: str, level: Number | None) -> tuple[str, str]:
        if model == "distinct_l_diversity":
            return "fewest different values in a class (l)", "undefined" if level is None else str(level)
        if model == "alpha_k_anonymity":
            return "largest share of one value in a class (α)", self._tell.ratio(level)
        return "largest distance of a class from the table (t)", self._tell.ratio(level)

    def _below(self, size: int) -> str:
        members = self._sizes.members
        return self._tell.part(self._sizes.below(size)[1], members) if members else "no rows"

    def _checks(self, model: str) -> Iterator[Any]:
        return (check for check in self._result.checks if check.model == model)
