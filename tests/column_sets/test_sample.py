"""Column sets in a sample: the bound against all ways to draw, the drawing against a plain one, and what is said."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import ColumnInfo, Kind, Relation
from sqlaudit.base.spec import Target
from sqlaudit.column_sets import search
from sqlaudit.column_sets.request import ColumnRequest, Ratio
from sqlaudit.column_sets.search import find_columns, log_chance, rows_needed
from sqlaudit.engines.contract import Engine
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.text import render_text
from tests.column_sets import oracle

ASKED: dict[str, Any] = {"identifying": True, "ratio": "separation", "epsilon": "0.01", "delta": "0.05"}
PEOPLE = pd.DataFrame(
    {
        "ward": [i % 20 for i in range(1000)],
        "day": [i * 7 % 365 for i in range(1000)],
        "bed": [i // 20 for i in range(1000)],
        "sex": ["mf"[i % 2] for i in range(1000)],
    }
)


def partitions(rows: int, most: int) -> Iterator[tuple[int, ...]]:
    """All sizes of classes of so many rows."""
    if not rows:
        yield ()
    for size in range(min(rows, most), 0, -1):
        for rest in partitions(rows - size, size):
            yield size, *rest


def chance(classes: tuple[int, ...], drawn: int) -> Fraction:
    """The share of the samples in which no two rows are of one class."""
    ways = [1]
    for size in classes:
        ways = [a + size * b for a, b in zip([*ways, 0], [0, *ways], strict=True)]
    return Fraction(ways[drawn] if drawn < len(ways) else 0, math.comb(sum(classes), drawn))


def test_the_bound_holds_for_all_classes_of_up_to_ten_rows_and_is_near_the_worst() -> None:
    nearest = math.inf
    for rows in range(2, 11):
        for classes in partitions(rows, rows):
            unseparated = Fraction(sum(size * (size - 1) for size in classes), rows * (rows - 1))
            for drawn in range(2, rows + 1):
                truth, bound = float(chance(classes, drawn)), math.exp(log_chance(rows, drawn, float(unseparated)))
                assert truth <= bound, (classes, drawn)
                nearest = min(nearest, bound / truth) if truth and unseparated else nearest
    assert 1 < nearest < 1.1


@pytest.mark.parametrize(
    ("rows", "candidates", "epsilon", "delta", "needed"),
    [
        (10**9, 2**20, "0.000001", "0.01", 27_854),
        (10**9, 2**20, "0.001", "0.01", 811),
        (10**15, 2**20, "0.000001", "0.01", 27_854),
        (1000, 16, "0.01", "0.05", 104),
        (10, 100, "0.001", "0.01", 10),
        (1, 4, "0.1", "0.1", 1),
        (0, 4, "0.1", "0.1", 0),
    ],
)
def test_rows_needed(rows: int, candidates: int, epsilon: str, delta: str, needed: int) -> None:
    found = rows_needed(rows, candidates, Fraction(epsilon), Fraction(delta))
    assert found == needed
    if 2 < found < rows:  # one row less is not enough
        assert log_chance(rows, found, float(epsilon)) <= math.log(float(delta) / candidates)
        assert log_chance(rows, found - 1, float(epsilon)) > math.log(float(delta) / candidates)


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_a_sample_is_drawn_by_number_and_seed_and_searched_as_all_rows_would_be(seed: int) -> None:
    aimed = 104 + 10 * 10 + 20
    below = f"{aimed * 16**16 // 1000:016x}"
    drawn = [i for i in range(1000) if hashlib.md5(f"{seed}:{i + 1}".encode()).hexdigest() < below]
    rows = [tuple(PEOPLE.iloc[i]) for i in drawn]
    expected = oracle.minimal_sets(4, lambda chosen: len({tuple(r[c] for c in chosen) for r in rows}) == len(rows))
    found = sqlaudit.columns(PEOPLE, seed=seed, **ASKED)
    assert found.sample is not None
    assert (found.sample.rows, found.sample.drawn, found.sample.has_duplicates) == (1000, len(drawn), False)
    assert {tuple(list(PEOPLE).index(name) for name in one.columns) for one in found.sets} == expected
    assert (found.kind, found.epsilon, found.complete, found.effects) == ("separating", Fraction(1, 100), True, ())
    pairs = [figures(one.columns) for one in found.sets]
    assert all(share >= Fraction(99, 100) for share in pairs)


def figures(columns: tuple[str, ...]) -> Fraction:
    sizes = PEOPLE.groupby(list(columns)).size()
    return 1 - Fraction(int((sizes * (sizes - 1)).sum()), 1000 * 999)


def said(**more: Any) -> str:
    found = sqlaudit.columns(PEOPLE, **{**ASKED, **more})
    return " ".join(render_text(document_of(found), width=300).split())


def test_the_report_promises_what_follows_and_calls_nothing_identifying() -> None:
    text = said()
    assert "separate a sample of 205 rows" in text
    assert "separate all pairs of 205 rows sampled from 1,000 (seed 0)." in text
    assert (
        "With a probability of at least 0.95, each set separates at least 0.99 of all pairs of rows. No set is proven "
        "to be identifying, because the other rows were not compared." in text
    )
    assert "Certain: every set that separates all rows contains one of these." in text
    assert "below 5" not in text
    assert "Certain: no set of at most 1 column separates all rows." in said(find="minimum")


def test_rows_alike_and_tables_that_are_too_small_are_said() -> None:
    text = said(columns=["sex"])
    assert "Two sampled rows are equal in all columns, so no set separates all of them." in text
    few = sqlaudit.columns(PEOPLE[:5], **ASKED)
    assert few.sample is not None
    assert (few.sample.drawn, [one.columns for one in few.sets]) == (5, [("ward",), ("day",)])
    assert "The sample contains all rows, because fewer" in render_text(document_of(few), width=300)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"ratio": "distinct"}, "delta= also needs ratio='separation':"),
        ({"identifying": False, "epsilon": 0}, "delta= also needs identifying=True and epsilon=:"),
        ({"find": "ranking"}, "A sample cannot rank sets"),
        ({"entity": "bed"}, "A sample consists of rows: leave out entity= or delta=."),
    ],
)
def test_what_has_no_meaning_in_a_sample_is_refused(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        sqlaudit.columns(PEOPLE, **{**ASKED, **given})
    assert sentence in str(refused.value)


def test_a_sample_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MOST_CODES", 400)
    with pytest.raises(UsageError, match="needs 104 rows of 4 columns, but is limited to 400 cells"):
        sqlaudit.columns(PEOPLE, **ASKED)


def numbers() -> Relation:
    """512 rows of three columns, written so that every engine reads it."""
    digit = "(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL "
    digit += "SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7)"
    sql = f"(SELECT a.d AS a, b.d AS b, c.d AS c FROM {digit} AS a CROSS JOIN {digit} AS b CROSS JOIN {digit} AS c)"
    return Relation(sql, tuple(ColumnInfo(name, "int", Kind.INTEGER) for name in "abc"), "numbers")


def test_every_engine_draws(engine: Engine) -> None:
    request = ColumnRequest(
        Target("numbers"),
        identifying=True,
        epsilon=Fraction(1, 10),
        delta=Fraction(1, 10),
        ratio=Ratio.SEPARATION,
        seed=3,
    )
    found = [find_columns(engine, request, relation=numbers()) for _ in range(2)]
    drawn = found[0].sample
    assert drawn is not None
    assert drawn.rows == 512
    assert rows_needed(512, 8, Fraction(1, 10), Fraction(1, 10)) <= drawn.drawn < 256
    assert [one.columns for one in found[0].sets] == [("a", "b", "c")]
    assert (found[0].sets, found[0].sample) == (found[1].sets, found[1].sample)
    assert "columns_sample" in [statement.name for statement in found[0].statements]
