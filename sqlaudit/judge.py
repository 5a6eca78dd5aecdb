"""From the figures that came back to checks with verdicts. Pure, apart from asking for the few classes at a limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlaudit.facts import ClassHistogram, Fact, Frame
from sqlaudit.models.base import HistogramModel, Judgement, Model, QueryModel, SizeModel
from sqlaudit.result import Check, ClassSizes, Number, Status
from sqlaudit.spec import Requirement

MAX_VECTORS = 200_000
"""At most so many different count vectors are decided one by one; beyond, the check stays undetermined."""


@dataclass(frozen=True)
class Asked:
    """A model to evaluate, and the requirement it stands for."""

    model: Model
    requirement: Requirement
    sensitive: str | None


@dataclass(frozen=True)
class Judged:
    """The checks of one sensitive attribute; `failing` holds (requirement text, predicate) of what failed."""

    rows: int
    sizes: ClassSizes
    checks: tuple[Check, ...]
    failing: tuple[tuple[str, str], ...]
    failing_total: int


def judge(histogram: ClassHistogram, asked: Sequence[Asked], frame: Frame) -> Judged:
    """All models over the classes of one sensitive attribute: one statement for all that facts carry."""
    carried = [a for a in asked if not isinstance(a.model, HistogramModel | QueryModel)]
    rows = _figures(histogram, carried)
    per_row = histogram.form == "wildcard"
    sizes = ClassSizes(tuple((int(row["size"]), int(row["classes"])) for row in rows), per_row)
    table_rows = sum(int(row["table_rows"]) for row in rows)
    checks, failing = [], []
    for index, item in enumerate(asked):
        judgement = _judgement(histogram, item, frame, sizes, rows, carried, index)
        check = _check(item, judgement, table_rows)
        checks.append(check)
        predicate = item.model.failing() if item.model.is_required else ""
        if check.status in (Status.FAIL, Status.WARN) and predicate:
            failing.append((item.requirement.text, predicate))
    total = sum(int(row.get("any_classes", 0)) for row in rows)
    return Judged(table_rows, sizes, tuple(checks), tuple(failing), total)


def _figures(histogram: ClassHistogram, carried: Sequence[Asked]) -> list[dict[str, Any]]:
    levels, verdicts, predicates = [], [], []
    for position, item in enumerate(carried):
        model = item.model
        for name, level in model.levels().items():
            levels.append((f"m{position}_{name}", level.fold, level.expression))
        if model.is_required and model.failing():
            predicates.append(model.failing())
            if not isinstance(model, SizeModel):
                verdicts.append((f"m{position}", model.failing(), model.doubtful()))
    if predicates:
        verdicts.append(("any", " OR ".join(f"({predicate})" for predicate in predicates), ""))
    return histogram.figures(merged_facts([item.model for item in carried]), levels, verdicts)


def merged_facts(models: Sequence[Model]) -> list[Fact]:
    """The facts of all models, each once."""
    return list({fact.name: fact for model in models for fact in model.facts()}.values())


def _judgement(
    histogram: ClassHistogram,
    item: Asked,
    frame: Frame,
    sizes: ClassSizes,
    rows: Sequence[dict[str, Any]],
    carried: Sequence[Asked],
    index: int,
) -> Judgement:
    model = item.model
    if isinstance(model, SizeModel):
        return model.judge_sizes(sizes)
    if isinstance(model, HistogramModel):
        return model.judge_histogram(histogram.histogram(model.facts()))
    if isinstance(model, QueryModel):
        engine = histogram.engine
        return model.judge_rows(engine.run(model.statement(frame, engine.dialect)))
    return _carried(histogram, model, rows, carried.index(item))


def _carried(histogram: ClassHistogram, model: Model, rows: Sequence[dict[str, Any]], position: int) -> Judgement:
    """A model that the common statement answered: fold its figures over the class sizes."""
    prefix = f"m{position}"
    folded: dict[str, Any] = {}
    for name, level in model.levels().items():
        values = [row[f"{prefix}_{name}"] for row in rows if row[f"{prefix}_{name}"] is not None]
        fold = min if level.fold == "MIN" else max
        folded[name] = fold(values) if values else None
    levels = model.conclude(folded)
    if not model.is_required or not model.failing():
        return Judgement(levels)
    classes = sum(int(row[f"{prefix}_classes"]) for row in rows)
    failing_rows = sum(int(row[f"{prefix}_rows"]) for row in rows)
    doubtful = sum(int(row.get(f"{prefix}_doubtful", 0)) for row in rows)
    if not doubtful:
        return Judgement(levels, classes, failing_rows)
    vectors = histogram.vectors(model.facts(), model.doubtful(), MAX_VECTORS)
    if len(vectors) == MAX_VECTORS:
        return Judgement(levels, None, None, note="too many classes lie within float error of the limit to decide")
    for counts, merged, merged_rows in vectors:
        if not model.holds(counts):
            classes, failing_rows = classes + merged, failing_rows + merged_rows
    return Judgement(levels, classes, failing_rows)


def _check(item: Asked, judgement: Judgement, table_rows: int) -> Check:
    model = item.model
    level = next(iter(judgement.levels.values()), None)
    required = model.is_required
    return Check(
        model=model.name,
        sensitive=item.sensitive if model.needs_sensitive else None,
        parameters=model.shown_parameters(),
        level=level,
        levels=judgement.levels,
        operator=model.operator,
        required=model.required,
        status=_status(item, judgement, table_rows) if required else None,
        failing_classes=judgement.failing_classes if required else None,
        failing_rows=judgement.failing_rows if required else None,
        failing_share=_share(judgement.failing_rows, table_rows) if required else None,
        severity=item.requirement.severity,
        text=item.requirement.text,
        note=judgement.note or model.note,
        details=judgement.details,
    )


def _share(rows: int | None, table_rows: int) -> float | None:
    return None if rows is None or not table_rows else rows / table_rows


def _status(item: Asked, judgement: Judgement, table_rows: int) -> Status:
    level = next(iter(judgement.levels.values()), None)
    if not table_rows:
        return Status.UNDETERMINED
    if item.model.verdict_by_level:
        if level is None:
            return Status.UNDETERMINED
        failed = not compares(level, item.model.operator, item.model.required)
    elif judgement.failing_classes is None:
        return Status.UNDETERMINED
    else:
        failed = judgement.failing_classes > 0
    if not failed:
        return Status.PASS
    return Status.WARN if item.requirement.severity == "warn" else Status.FAIL


def compares(level: Number, operator: str, limit: Number | None) -> bool:
    """Whether `level operator limit` holds."""
    if limit is None:
        return False
    exact = level if isinstance(level, float) else Fraction(level)
    return {
        ">=": exact >= limit,
        "<=": exact <= limit,
        "<": exact < limit,
        ">": exact > limit,
    }[operator]
