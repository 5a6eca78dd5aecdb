"""The advice to leave columns out stands only where it is true of all sets, and then it is true: by brute force."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.spec import Target
from sqlaudit.column_sets.records.request import RecordRequest
from sqlaudit.column_sets.records.search import find_records
from sqlaudit.column_sets.request import ColumnRequest, FindSets
from sqlaudit.column_sets.result import ColumnSets
from sqlaudit.column_sets.search import find_columns
from sqlaudit.engines import connect
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.text import render_text
from tests.strategies import run

NAMES = "abcde"
Table = list[tuple[int, ...]]
TABLES = st.integers(2, 5).flatmap(
    lambda width: st.lists(st.tuples(*[st.integers(0, 2)] * width), min_size=1, max_size=9)
)


def violates(rows: Table, places: tuple[int, ...], k: int) -> bool:
    """Whether some row has fewer than k rows that equal it in these columns."""
    sizes = Counter(tuple(row[place] for place in places) for row in rows)
    return min(sizes.values()) < k


def searched(rows: Table, **request: Any) -> ColumnSets:
    frame = pd.DataFrame(rows, columns=list(NAMES[: len(rows[0])]))
    with connect() as engine:
        return find_columns(engine, ColumnRequest(Target(frame=frame), **request, effects=False))


def advised(found: ColumnSets) -> bool:
    return "no such set is left" in " ".join(render_text(document_of(found)).split())


@run(40)
@given(TABLES, st.integers(2, 3), st.one_of(st.none(), st.integers(1, 3)))
def test_without_the_named_columns_no_set_violates(rows: Table, k: int, size: int | None) -> None:
    found = searched(rows, k=k, max_size=size)
    width = len(rows[0])
    kept = [place for place in range(width) if NAMES[place] not in (found.repair or ())]
    most = width if size is None else min(size, width)
    left = [
        places
        for number in range(most + 1)
        for places in itertools.combinations(kept, number)
        if violates(rows, places, k)
    ]
    assert advised(found) == bool(found.repair)
    if found.repair:
        assert not left
        fewer = itertools.combinations(range(width), len(found.repair) - 1)
        for out in fewer:  # it is a smallest such group
            rest = [place for place in range(width) if place not in out]
            sets = (c for n in range(most + 1) for c in itertools.combinations(rest, n))
            assert any(violates(rows, places, k) for places in sets)


ROWS = [(1, 1, 1), (1, 2, 2), (2, 1, 2), (2, 2, 1)]
"""Each pair of columns tells all four rows apart, no single one any of them."""


@pytest.mark.parametrize(
    "request_",
    [
        {"find": FindSets.MINIMUM},
        {"find": FindSets.GREEDY},
        {"find": FindSets.RANKING, "max_size": 2},
        {"time_budget": 0},
        {"identifying": True},
        {"identifying": True, "find": FindSets.MINIMUM},
    ],
    ids=str,
)
def test_nothing_is_advised_that_does_not_follow(request_: dict[str, Any]) -> None:
    found = searched(ROWS, k=2, **request_)
    assert found.repair is None
    assert not advised(found)


def test_all_minimal_sets_are_broken() -> None:
    found = searched(ROWS, k=2)
    assert [one.columns for one in found.sets] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert found.repair is not None
    assert len(found.repair) == 2
    assert advised(found)


def test_individual_risk_says_for_which_population() -> None:
    people = pd.DataFrame({"zip": [1, 1, 2, 3], "weight": [10, 10, 10, 10]})
    said = []
    for weights in (None, "weight"):
        with connect() as engine:
            found = find_records(engine, RecordRequest(Target(frame=people), qi=["zip"], weights=weights))
        assert found.to_dict()["weights"] == weights
        said.append(" ".join(render_text(document_of(found), width=500).split()))
    assert "If the file is the whole population, about 3 records are expected to be re-identified" in said[0]
    assert "If it is a sample, name its weights" in said[0]
    assert "with the sampling weights weight" in said[1]
    assert "whole population" not in said[1]
