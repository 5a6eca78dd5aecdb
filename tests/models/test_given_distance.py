"""Distances of t-closeness that are given: against the dual of the transport problem, and against cases of it."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.errors import UsageError
from sqlaudit.models.given_distance import moved
from tests.conftest import AuditOn
from tests.strategies import run

VALUES = ["a", "b", "c", "d"]
ROWS = [{"q": q, "s": s} for q, held in (("1", "aab"), ("2", "bcd"), ("3", "dd"), ("4", "abcd")) for s in held]


def dual(surplus: list[int], distances: list[list[int]]) -> int:
    """Kantorovich's dual: the best potential that rises by no more than the distance; a whole one is among the best."""
    highest = max(map(max, distances))
    places = range(len(surplus))
    return max(
        sum(u * s for u, s in zip(potential, surplus, strict=True))
        for potential in itertools.product(range(highest + 1), repeat=len(surplus))
        if all(potential[i] - potential[j] <= distances[i][j] for i in places for j in places)
    )


@st.composite
def metrics(draw: st.DrawFn, size: int) -> list[list[int]]:
    """Shortest ways of a random graph."""
    found = [[0] * size for _ in range(size)]
    for i, j in itertools.combinations(range(size), 2):
        found[i][j] = found[j][i] = draw(st.integers(1, 5))
    for k, i, j in itertools.product(range(size), repeat=3):
        found[i][j] = min(found[i][j], found[i][k] + found[k][j])
    return found


@run(40)
@given(metrics(5), st.lists(st.integers(-6, 6), min_size=4, max_size=4))
def test_the_least_work(distances: list[list[int]], some: list[int]) -> None:
    surplus = [*some, -sum(some)]
    assert moved(surplus, distances) == dual(surplus, distances)


def matrix(distance: Any) -> dict[str, Any]:
    pairs = itertools.combinations(range(4), 2)
    lines: dict[str, dict[str, Any]] = {}
    for i, j in pairs:
        lines.setdefault(VALUES[i], {})[VALUES[j]] = str(distance(i, j))
    return lines


NUMBERS = [0, 1, 4, 10]
TREE = {"one": ["a", "b"], "other": ["c", "d"]}


@pytest.mark.parametrize(
    ("like", "inputs"),
    [
        ("t", {"distances": matrix(lambda i, j: 1)}),
        ("t_ordered", {"distances": matrix(lambda i, j: (j - i) * 0.25), "order": VALUES}),
        ("t_hierarchical", {"distances": matrix(lambda i, j: 0.5 if i // 2 == j // 2 else 1), "tree": TREE}),
        (
            "t_numeric",
            {
                "distances": matrix(lambda i, j: NUMBERS[j] - NUMBERS[i]),
                "class_function": dict(zip(VALUES, NUMBERS, strict=True)),
            },
        ),
    ],
    ids=["equal", "ordered", "hierarchical", "numeric"],
)
def test_what_is_a_case_of_a_matrix(audit_on: AuditOn, like: str, inputs: dict[str, Any]) -> None:
    times = Fraction(3, 4) if like == "t_ordered" else 1  # a quarter, where ranks are a third apart
    asked = {"qi": ["q"], "sensitive": "s", "inputs": inputs}
    kinds = {"q": "text", "s": "text"}
    one, other = audit_on(ROWS, kinds, require=[f"{like}=0", "t_matrix=0"], **asked).checks
    assert other.level == pytest.approx(float(one.level) * float(times)) != 0
    limit = round(float(one.level) / 2, 4)
    require = [f"{like}={limit}", f"t_matrix={round(limit * float(times), 6)}"]
    one, other = audit_on(ROWS, kinds, require=require, **asked).checks
    assert (one.failing_classes, one.failing_rows) == (other.failing_classes, other.failing_rows)


def test_gaps_of_numbers(audit_on: AuditOn) -> None:
    """The distance of a class from the table in the unit of the numbers, equality included, and its class named."""
    pay = {1: [1000, 1000], 2: [1000, 3000, 9000], 3: [3000, 9000]}
    rows = [{"q": q, "pay": p} for q, held in pay.items() for p in held]
    totals = {1000: 3, 3000: 2, 9000: 2}

    def emd(held: list[int]) -> Fraction:
        below = [
            sum(Fraction(held.count(v), len(held)) - Fraction(totals[v], 7) for v in totals if v <= x)
            for x in (1000, 3000)
        ]
        return abs(below[0]) * 2000 + abs(below[1]) * 6000

    wanted = {q: emd(held) for q, held in pay.items()}
    inputs = {"class_function": "identity"}
    require = ["t_numeric=2700"]
    result = audit_on(rows, {"q": "int", "pay": "int"}, qi=["q"], sensitive="pay", require=require, inputs=inputs)
    assert result.checks[0].level == max(wanted.values())
    short = [q for q, distance in wanted.items() if distance > 2700]
    assert result.checks[0].failing_classes == len(short) > 0
    assert sorted(item.rows for item in result.failing) == sorted(len(pay[q]) for q in short)


@pytest.mark.parametrize(
    ("distances", "words"),
    [
        ({"a": {"b": 1}}, "missing from 'distances'"),
        ({"a": {"b": 1, "c": 1}, "d": {"a": 1}}, "3 pairs of values of s have no distance"),
        (matrix(lambda i, j: (j - i) ** 2), "a distance is longer than the sum"),
        ({"a": {"b": 1}, "b": {"a": 2}}, "must be symmetric"),
        ({"a": {"a": 1}}, "0 from a value to itself"),
        ({"a": {"b": -1}}, "at least 0"),
    ],
)
def test_what_is_no_distance(audit_on: AuditOn, distances: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as raised:
        audit_on(
            ROWS,
            {"q": "text", "s": "text"},
            qi=["q"],
            sensitive="s",
            require=["t_matrix=1"],
            inputs={"distances": distances},
        )
    assert words in str(raised.value)
