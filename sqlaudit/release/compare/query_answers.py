"""A query's answers as they are told: groups, relative errors, and distributions where groups are counted."""

from __future__ import annotations

from collections.abc import Sequence

from sqlaudit.base.relation import Row
from sqlaudit.release.compare.answer_shares import Distributed, as_distribution
from sqlaudit.release.compare.query_text import AggregateQuery
from sqlaudit.release.compare.result import METHODS, AnswerDistance, Errors, Group, QueryAnswer
from sqlaudit.release.losses.views import NO_REGIONS

SHOWN_GROUPS = 1_000


def answer_of(
    query: AggregateQuery, rows: Sequence[Row], distributed: Distributed | None, *, conditional: bool, show_values: bool
) -> QueryAnswer:
    """A query's answer, from a row a group: its key, the truth, and what each method says.

    Args:
        distributed: the column whose values a counting query distributes. conditional: whether the regions of classes
            were looked at. show_values: whether groups keep their keys.
    """
    found = []
    for row in rows:
        *key, truth, plain, by_region, independent = row
        answers = (plain, by_region if conditional else None, independent)
        named = tuple(key) if show_values and key else None
        found.append((tuple(key), Group(truth, dict(zip(METHODS, answers, strict=True)), named)))
    groups = [group for _, group in found]
    distances: list[AnswerDistance] = []
    if distributed is not None:
        groups, distances = as_distribution(found, distributed)
    errors = {name: Errors.of(relative_errors(groups, name)) for name in METHODS if conditional or name != METHODS[1]}
    shown = _in_order(groups, query)[:SHOWN_GROUPS]
    return QueryAnswer(
        query.number,
        query.aggregate,
        tuple(shown),
        len(groups),
        errors,
        "" if conditional else NO_REGIONS,
        "" if distributed is None else distributed.name,
        tuple(distances[:SHOWN_GROUPS]),
    )


def relative_errors(groups: Sequence[Group], method: str) -> list[float]:
    """|answer - truth| / |truth| of the groups that either table has; what only one of them answers is an error of 1.

    Example:
        >>> groups = [Group(2, {"plain": 3}), Group(0, {"plain": 1}), Group(4, {"plain": None}), Group(0, {"plain": 0})]
        >>> relative_errors(groups, "plain")
        [0.5, 1.0, 1.0, 0.0]
    """
    pairs = ((group.truth, group.answers[method]) for group in groups)
    return [relative_error(truth, answer) for truth, answer in pairs if truth is not None or answer is not None]


def relative_error(truth: float | None, answer: float | None) -> float:
    """How far an answer is off, as a share of the truth; 1 where only one of them is there, or other than 0."""
    if truth is None or answer is None:
        return 1.0
    if not truth:
        return 1.0 if answer else 0.0
    return abs(answer - truth) / abs(truth)


def _in_order(groups: Sequence[Group], query: AggregateQuery) -> Sequence[Group]:
    """Groups without their keys come by their answers, so that their place does not give a key away."""
    if not query.groups or any(group.key for group in groups):
        return groups
    return sorted(groups, key=lambda group: tuple(-(value or 0.0) for value in (group.truth, *group.answers.values())))
