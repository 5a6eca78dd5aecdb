"""Answers of a counting query as distributions, and how far those of the release are from the original's.

A query that counts by groups has a query result distribution (Thesis, Definitions 2.5.2 to 2.5.6): the share of each
value of one column among what the query selects. N_tau of section 4.5 is the earth mover's distance between that of the
original and that of the release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlaudit.release.compare.result import METHODS, AnswerDistance, Group

ORIGINAL = "original"
Shares = Mapping[str | None, float]
Between = Callable[[Shares, Shares], float]


@dataclass(frozen=True)
class Distributed:
    """The column that a query distributes: its name, its place among the groups, and how far shares of it are apart."""

    name: str
    place: int
    between: Between


def equally_far(one: Shares, other: Shares) -> float:
    """The distance when all values are equally far apart: half the sum of differences.

    Example:
        >>> equally_far({"a": 0.5, "b": 0.5}, {"a": 1.0})
        0.5
    """
    return sum(abs(one.get(value, 0.0) - other.get(value, 0.0)) for value in sorted({*one, *other}, key=str)) / 2


def in_lanes(lanes: Mapping[str | None, int], groups: Sequence[Sequence[int]], weights: Sequence[float]) -> Between:
    """A distance that is a weighted sum over groups of lanes of differences.

    Args:
        lanes: the lane of each value by its text. groups: lanes. weights: one for each group.
    """

    def between(one: Shares, other: Shares) -> float:
        moved = {lane: one.get(text, 0.0) - other.get(text, 0.0) for text, lane in lanes.items()}
        return sum(
            weight * abs(sum(moved.get(lane, 0.0) for lane in group))
            for group, weight in zip(groups, weights, strict=True)
        )

    return between


def as_distribution(
    found: Sequence[tuple[tuple[str | None, ...], Group]], of: Distributed
) -> tuple[list[Group], list[AnswerDistance]]:
    """The groups with their shares, and a distance for each combination of the other columns.

    Args:
        found: the key and the counts of each group, in the order of their keys.
    """
    together: dict[tuple[str | None, ...], list[int]] = {}
    for number, (key, _) in enumerate(found):
        together.setdefault(_rest(key, of.place), []).append(number)
    groups = [group for _, group in found]
    distances: list[AnswerDistance] = []
    for rest, numbers in together.items():
        counts = _columns([groups[number] for number in numbers])
        shares = {name: _shares(column) for name, column in counts.items()}
        for place, number in enumerate(numbers):
            groups[number] = replace(groups[number], shares={name: column[place] for name, column in shares.items()})
        values = [found[number][0][of.place] for number in numbers]
        named = groups[numbers[0]].key is not None
        distances.append(AnswerDistance(_distances(values, shares, of), rest if named else None))
    return groups, distances


def _rest(key: tuple[str | None, ...], place: int) -> tuple[str | None, ...]:
    return key[:place] + key[place + 1 :]


def _columns(groups: Sequence[Group]) -> dict[str, list[float | None]]:
    """Counts of the original and of every method."""
    found = {ORIGINAL: [group.truth for group in groups]}
    return found | {name: [group.answers[name] for group in groups] for name in METHODS}


def _shares(counts: Sequence[float | None]) -> list[float | None]:
    """Of their sum; None where nothing is counted, or nothing could be."""
    whole = sum(count or 0.0 for count in counts)
    return [None if count is None or not whole else count / whole for count in counts]


def _distances(
    values: Sequence[str | None], shares: Mapping[str, Sequence[float | None]], of: Distributed
) -> dict[str, float | None]:
    """From the original's distribution to that of each method; None where one of them selects nothing."""
    found = {
        name: {value: share for value, share in zip(values, column, strict=True) if share is not None}
        for name, column in shares.items()
    }
    own = found[ORIGINAL]
    return {name: of.between(own, found[name]) if own and found[name] else None for name in METHODS}
