"""From the figures that came back to checks with verdicts. Pure, apart from asking for the few classes at a limit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from sqlaudit.base.errors import EngineError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.relation import Statement
from sqlaudit.base.result import Number, Status
from sqlaudit.base.spec import KnownRows, Requirement
from sqlaudit.classes.facts import ClassHistogram, Fact, Frame, Levels, Signatures, Verdicts
from sqlaudit.classes.failing import ClassRequirement, ClassSizes
from sqlaudit.models.base import (
    WORST_FIRST,
    Answers,
    ByKnownRows,
    Check,
    Judgement,
    Model,
    OfKnownRows,
    Population,
    Question,
    expression,
)
from sqlaudit.models.persons import PersonsModel

if TYPE_CHECKING:  # few audits count people
    from sqlaudit.models.people import PeopleFigures


@dataclass(frozen=True)
class Asked:
    """A model to evaluate, the requirement it stands for, and the sensitive attribute that its check names."""

    model: Model
    requirement: Requirement
    sensitive: str | None

    @property
    def text(self) -> str:
        """The requirement as the user wrote it, else the name of the model."""
        return self.requirement.text or self.model.name


@dataclass(frozen=True)
class Judged:
    """The checks of one sensitive attribute.

    Args:
        rows: the rows of the table.
        sizes: the sizes of the classes.
        checks: one per model.
        failing_requirements: the failed requirements with the classes that fail.
        unnamed: a sentence for each failed requirement whose classes cannot be listed.
        signatures: the signatures of the classes, if a model needs them.
        class_requirements: the requirements on classes in their order, those that every class meets included.
    """

    rows: int
    sizes: ClassSizes
    checks: tuple[Check, ...]
    failing_requirements: tuple[ClassRequirement, ...] = ()
    unnamed: tuple[str, ...] = ()
    signatures: Signatures | None = None
    class_requirements: tuple[ClassRequirement, ...] = ()

    @property
    def failing(self) -> tuple[tuple[str, str], ...]:
        """(requirement text, predicate) of what failed, where a predicate over facts tells the classes."""
        return tuple(
            (requirement.text, requirement.predicate)
            for requirement in self.failing_requirements
            if requirement.predicate
        )

    @property
    def blamed(self) -> tuple[str, ...]:
        """Predicates that tell the failing classes on sensitive values, not on sizes alone, if any does."""
        if not any(requirement.predicate and requirement.of_values for requirement in self.failing_requirements):
            return ()
        return of_values(self.class_requirements)


def of_values(watched: Sequence[ClassRequirement]) -> tuple[str, ...]:
    """The predicates of requirements on sensitive values."""
    return tuple(short.predicate for short in watched if short.predicate and short.of_values)


def foreseen(evaluations: Sequence[Asked]) -> tuple[ClassRequirement, ...]:
    """Return what `Judged.watched` has, as far as it is known before anything is."""
    return tuple(
        ClassRequirement(
            item.text,
            item.sensitive,
            predicate,
            None,
            model.needs_sensitive,
            0,
            is_met=True,
            figures=model.class_figures(),
        )
        for item in evaluations
        if (model := item.model).is_required and model.by_figures and (predicate := model.failing())
    )


def statements_of(histogram: ClassHistogram, evaluations: Sequence[Asked]) -> list[Statement]:
    """Return what `judge` is certain to ask of the classes."""
    carried = [item.model for item in evaluations if item.model.by_figures]
    statements = [histogram.figures_statement(*_common(carried))]
    if (knowledge := _knowledge(evaluations)) is not None and histogram.lane_count:
        statements.append(histogram.signatures_statement(knowledge))
    return statements


def facts_of(histogram: ClassHistogram, evaluations: Sequence[Asked]) -> list[Fact]:
    """The facts that `judge` is certain to read, each once."""
    facts, knowledge = merged_facts([item.model for item in evaluations]), _knowledge(evaluations)
    return facts if knowledge is None or not histogram.lane_count else [*facts, histogram.top_counts(knowledge)]


def judge(
    histogram: ClassHistogram,
    evaluations: Sequence[Asked],
    frame: Frame,
    population: Population | None = None,
    persons: PeopleFigures | None = None,
) -> Judged:
    """All models over the classes of one sensitive attribute: one statement for all that facts carry. `persons` are
    what was counted of these, where a model asks for it."""
    carried = [item.model for item in evaluations if item.model.by_figures]
    rows = histogram.figures(*_common(carried))
    per_row = histogram.form == "wildcard"
    sizes = ClassSizes(tuple((int(row["size"]), int(row["classes"])) for row in rows), per_row)
    table_rows = sum(int(row["table_rows"]) for row in rows)
    question = Question(histogram, frame, population)
    # The signatures for the most pieces of knowledge that any model asks about, read once
    knowledge = _knowledge(evaluations)
    signatures = None if knowledge is None else histogram.signatures(knowledge)
    answers = Answers(question, sizes, rows, carried, signatures, persons)
    checks, unnamed = [], []
    watched: list[ClassRequirement] = []
    for item in evaluations:
        judgement = item.model.judge(answers)
        check = check_of(item, judgement, table_rows)
        checks.append(check)
        if not table_rows or check.status is None:
            continue
        if check.status is Status.PASS:
            watched += foreseen([item]) if check.failing_classes == 0 else ()
        elif short := _short(item, judgement, check):
            watched.append(short)
        else:
            unnamed.append(_why_unnamed(item, judgement))
    named = tuple(short for short in watched if not short.is_met)
    return Judged(table_rows, sizes, tuple(checks), named, tuple(unnamed), signatures, tuple(watched))


def undecided(verdicts: Judged, merged: Mapping[str | None, str]) -> Judged:
    """Return the check as undetermined, because spellings of the values may mean one value or several.

    Args:
        merged: why, for a sensitive attribute, or under None for every check.
    """

    def why(sensitive: str | None) -> str:
        return merged.get(None, "") or merged.get(sensitive, "")

    checks = [
        replace(
            check,
            status=Status.UNDETERMINED,
            note=why(check.sensitive),
            failing_classes=None,
            failing_rows=None,
            failing_share=None,
        )
        if check.status is not None and why(check.sensitive)
        else check
        for check in verdicts.checks
    ]
    failing, required = (
        tuple(check for check in requirements if not why(check.sensitive))
        for requirements in (verdicts.failing_requirements, verdicts.class_requirements)
    )
    return replace(verdicts, checks=tuple(checks), failing_requirements=failing, class_requirements=required)


def _short(item: Asked, judgement: Judgement, check: Check) -> ClassRequirement | None:
    """Return what names the failing classes; None when nothing does."""
    model, listing, predicate = item.model, judgement.listing, ""
    if not judgement.unnamed and listing is None:
        predicate = model.failing() or judgement.at_limit
        if judgement.at_limit and model.failing():
            predicate = expression("either", first=predicate, second=judgement.at_limit)
    if check.status is Status.UNDETERMINED or not (predicate or listing):
        return None
    of_values, classes = model.needs_sensitive, check.failing_classes
    return ClassRequirement(
        item.text, item.sensitive, predicate, listing, of_values, classes, figures=model.class_figures()
    )


def _why_unnamed(item: Asked, judgement: Judgement) -> str:
    """A sentence on why no classes are told of a requirement that does not hold."""
    about = f"{item.text!r} for {item.sensitive}" if item.sensitive is not None else repr(item.text)
    if judgement.unnamed:
        return f"{about} {judgement.unnamed}."
    if item.model.verdict_by_level:
        return f"{about} is a figure of the whole table, not of single groups."
    if item.model.counts_people:
        return f"{about} is about people and what is known of their events, not about groups of rows."
    return f"{about} cannot be decided, so its failing groups are unknown."


def _knowledge(evaluations: Sequence[Asked]) -> int | None:
    return max((item.model.knowledge() for item in evaluations if item.model.pieces() is not None), default=None)


def _common(models: Sequence[Model]) -> tuple[list[Fact], Levels, Verdicts]:
    """Return what the statement that models share asks for: facts, levels and verdicts."""
    levels, verdicts = [], []
    for position, model in enumerate(models):
        for name, level in model.levels().items():
            levels.append((f"m{position}_{name}", level.fold, level.expression))
        if model.is_required and model.failing():
            verdicts.append((f"m{position}", model.failing(), model.doubtful()))
    return merged_facts(models), levels, verdicts


def merged_facts(models: Sequence[Model]) -> list[Fact]:
    """The facts of all models, each once."""
    return list({fact.name: fact for model in models for fact in model.facts()}.values())


def check_of(item: Asked, judgement: Judgement, table_rows: int) -> Check:
    """The check that a judgement over a table of so many rows makes."""
    model = item.model
    level = next(iter(judgement.levels.values()), None)
    required = model.is_required
    short, of = judgement.failing_rows, judgement.details.get("persons", table_rows)
    return Check(
        model=model.name,
        sensitive=item.sensitive,
        parameters=model.shown_parameters(),
        level=level,
        levels=judgement.levels,
        operator=model.operator,
        required=model.required,
        status=_status(item, judgement, table_rows) if required else None,
        failing_classes=judgement.failing_classes if required else None,
        failing_rows=short if required else None,
        failing_share=short / of if required and short is not None and of else None,
        severity=item.requirement.severity,
        text=item.requirement.text,
        note=judgement.note or model.note,
        details=judgement.details,
        title=model.title,
        preset=item.requirement.preset,
    )


def check_of_people(item: Asked, people: PeopleFigures, table_rows: int) -> Check:
    """Return the check of a model of people, judged from what was counted of them."""
    assert isinstance(item.model, PersonsModel)
    return check_of(item, item.model.judge_persons(people), table_rows)


def _status(item: Asked, judgement: Judgement, table_rows: int) -> Status:
    """Return the status of a requirement: by its level, or by the classes that fail."""
    level = next(iter(judgement.levels.values()), None)
    if not table_rows:
        return Status.UNDETERMINED
    if item.model.verdict_by_level:
        failed = None if level is None else not compares(level, item.model.operator, item.model.required)
    else:
        failed = None if judgement.failing_classes is None else judgement.failing_classes > 0
    if failed is None or judgement.undecided:
        return Status.UNDETERMINED
    if not (failed or item.model.verdict_by_level or level is None):
        _refuse_contradiction(item, level)
    if not failed:
        return Status.PASS
    return Status.WARN if item.requirement.severity == "warn" else Status.FAIL


def _refuse_contradiction(item: Asked, level: Number) -> None:
    """No class fails, but the level is beyond the limit: what counted one of them did not compute what was asked."""
    limit = item.model.required
    if limit is None or level == limit or compares(level, item.model.operator, limit):
        return
    if not isinstance(level, float) or not math.isclose(level, limit, rel_tol=1e-9, abs_tol=1e-9):
        raise EngineError(
            f"The database counts no class that fails {item.text!r}, but its level "
            f"is {level}. One of the two is wrong, so there is no verdict. Look for functions in the session that have "
            "the name of a built-in one."
        )


def compares(level: Number, operator: str, limit: Number | None) -> bool:
    """Return True if `level operator limit` holds."""
    if limit is None:
        return False
    exact = level if isinstance(level, float) else Fraction(level)
    return {">=": exact >= limit, "<=": exact <= limit, "<": exact < limit, ">": exact > limit}[operator]


# Two checks of one requirement, of which the worse is the verdict: for who knows one row of a person and for who knows
# all of them.


def worse_checks(row_checks: Sequence[Check], person_checks: Sequence[Check]) -> tuple[Check, ...]:
    """The checks of `row_checks`, each beside its counterpart in `person_checks`; the worse of both stands.

    Args:
        row_checks: for someone who knows one row of a person. person_checks: for someone who knows all of them.
    """
    others = {_of(check): check for check in person_checks}
    return tuple(_worse(check, others[_of(check)]) if _of(check) in others else check for check in row_checks)


def _of(check: Check) -> tuple[str, str | None, str, tuple[tuple[str, object], ...]]:
    return check.model, check.sensitive, check.text, tuple(sorted(check.parameters.items()))


def _worse(row_check: Check, person_check: Check) -> Check:
    worse, stands = (KnownRows.ALL, person_check) if _is_worse(person_check, row_check) else (KnownRows.ONE, row_check)
    return replace(stands, known_rows=ByKnownRows(worse, _told(row_check), _told(person_check)))


def _is_worse(this: Check, other: Check) -> bool:
    """Return True if a check is worse than another one of the same requirement: by verdict, then by level."""
    if this.status is not other.status:
        return WORST_FIRST.index(this.status) < WORST_FIRST.index(other.status)
    if this.level is None or other.level is None or this.level == other.level:
        return this.level is None and other.level is not None
    return not compares(this.level, ">=" if this.operator in (">=", ">") else "<=", other.level)


def _told(check: Check) -> OfKnownRows:
    return OfKnownRows(check.level, check.status, check.failing_classes, check.failing_rows, check.failing_share)
