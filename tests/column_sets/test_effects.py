"""What each column adds: every figure against brute force over all rows, and what the report says of it."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.spec import NullPolicy, Target
from sqlaudit.column_sets.request import ColumnRequest
from sqlaudit.column_sets.result import ColumnSets
from sqlaudit.column_sets.search import find_columns
from sqlaudit.engines import connect
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.text import render_text
from tests.column_sets import oracle
from tests.strategies import run

NAMES = "abcdefgh"
"""The even ones are numbers, the odd ones words."""
numbers = st.one_of(st.none(), st.integers(0, 30))
words = st.one_of(st.none(), st.sampled_from(["", "x", "xy", "xyz", "xya", "b"]))
tables = st.integers(1, 8).flatmap(
    lambda width: st.lists(st.tuples(*([numbers, words] * 4)[:width]), min_size=1, max_size=12)
)
Rows = list[tuple[Any, ...]]


def searched(rows: Rows, **request: Any) -> ColumnSets:
    width = len(rows[0])
    data = {NAMES[i]: pd.array([row[i] for row in rows], dtype="string" if i % 2 else "Int64") for i in range(width)}
    with connect() as engine:
        return find_columns(engine, ColumnRequest(Target(frame=pd.DataFrame(data)), **request))


def coarse(rows: Rows, column: int) -> Rows:
    """The rows with one column in ten bands of the ranks, or cut to two characters."""
    values = [row[column] for row in rows]

    def banded(value: Any) -> int | None:
        smaller = sum(other is not None and other < value for other in values)
        return None if value is None else 10 * smaller // max(1, len(rows) - 1)

    new = (
        [None if v is None else v[:2] for v in values]
        if column % 2
        else [None if v is None else banded(v) for v in values]
    )
    return [(*row[:column], value, *row[column + 1 :]) for row, value in zip(rows, new, strict=True)]


def share(rows: Rows, columns: tuple[int, ...], k: int, nulls: str) -> Fraction:
    counted = oracle.figures(rows, columns, k, nulls)
    return Fraction(counted["at_risk"], counted["total"])


def check(rows: Rows, found: ColumnSets, k: int, nulls: str) -> None:
    everything = tuple(range(len(rows[0])))
    inside = {name for one in found.sets for name in one.columns}
    assert {effect.column for effect in found.effects} == inside
    for effect in found.effects:
        column = NAMES.index(effect.column)
        assert effect.in_sets == sum(effect.column in one.columns for one in found.sets)
        assert effect.at_risk == share(rows, everything, k, nulls)
        assert effect.without == share(rows, tuple(c for c in everything if c != column), k, nulls)
        assert effect.coarsened == share(coarse(rows, column), everything, k, nulls)
        assert effect.coarsening == ("its first two characters" if column % 2 else "ten bands")


def test_effects_are_those_of_brute_force() -> None:
    @run(60)
    @given(tables, st.integers(1, 4), st.sampled_from(list(NullPolicy)), st.booleans(), st.integers(1, 3))
    def compare(rows: Rows, k: int, nulls: NullPolicy, identifying: bool, size: int) -> None:
        identifying = identifying and nulls is not NullPolicy.WILDCARD
        request = {"identifying": True} if identifying else {"max_size": size}
        check(rows, searched(rows, k=k, nulls=nulls, **request), k, nulls.value)

    compare()


def test_columns_that_matter_are_found_among_those_that_do_not() -> None:
    """Wide enough to leave out several columns together: what falls is narrowed down to the column."""
    generator = random.Random(5)
    rows: Rows = []
    for i in range(64):
        word, rare = generator.choice("ab"), i // 16
        rows.append((i % 4, word, i % 2, word, i % 4, word, rare, word))
    found = searched(rows, k=4, max_size=4)
    check(rows, found, 4, "equal")
    moved = {effect.column for effect in found.effects if not effect.stays}
    assert 0 < len(moved) < len(found.effects)


def test_a_set_that_identifies_proves_the_columns_outside_it_superfluous() -> None:
    """Nothing but the search's own statements is asked where every column can be spared."""
    data = pd.DataFrame({"a": range(30), "b": range(30), "c": [str(n) for n in range(30)], "d": [1] * 30})
    request = ColumnRequest(Target(frame=data), identifying=True)
    with connect() as engine:
        plain = find_columns(engine, replace(request, effects=False))
        found = find_columns(engine, request)
    assert len(found.statements) == len(plain.statements)
    assert [(one.column, one.without, one.coarsened) for one in found.effects] == [
        ("a", 1, 1),
        ("b", 1, 1),
        ("c", 1, 1),
    ]


def test_columns_that_can_be_spared_share_a_sentence() -> None:
    data = pd.DataFrame({"a": range(30), "b": range(30), "c": [str(n) for n in range(30)], "d": [1] * 30})
    with connect() as engine:
        text = " ".join(render_text(document_of(find_columns(engine, ColumnRequest(Target(frame=data))))).split())
    assert "Without any one of a, b and c, rows at risk stay at 100%." in text
    assert "Of 3 sets, a is in 1, b in 1 and c in 1." in text
