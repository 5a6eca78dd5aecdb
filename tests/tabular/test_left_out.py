"""Rows that `HAVING` leaves out of a table with its totals: whoever subtracts has them, so that nothing may pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import InputError, UsageError
from tests.strategies import run

Key = tuple[str | None, ...]
LIMIT, BY = 5, ["region", "illness", "sex"]
RULES = ["threshold=5", "no_unpickable_cell=1"]


def published(people: list[tuple[str, ...]], sets: list[tuple[int, ...]], hides: str) -> dict[Key, int | None]:
    """Counts by grouping sets, as SQL writes them; small ones are left out, or have no number."""
    counts = Counter(
        tuple(value if at in one else None for at, value in enumerate(person)) for one in sets for person in people
    )
    every: dict[Key, int | None] = dict(counts)
    if hides == "rows":
        return {key: n for key, n in every.items() if n and n >= LIMIT}
    return {key: n if n and n >= LIMIT else None for key, n in every.items()}


def revealed(table: Mapping[Key, int | None]) -> bool:
    """Whether a number below the limit follows: by one subtraction, or as every table that could be meant has it."""
    known = {key: n for key, n in table.items() if n is not None}
    for key, n in known.items():
        for at in (at for at, value in enumerate(key) if value is None):
            parts = [one for one in table if one[at] is not None and (*one[:at], None, *one[at + 1 :]) == key]
            rest = n - sum(known.get(one, 0) for one in parts)
            if sum(one not in known for one in parts) < 2 and 0 < rest < LIMIT and parts:
                return True
    tables = list(_tables(known, table))
    cells = list(product(*([*sorted(_values(table, at)), None] for at in range(_width(table)))))
    for cell in cells if tables else ():
        if cell not in known:
            values = {sum(n for key, n in one.items() if _is_in(key, cell)) for one in tables}
            if len(values) == 1 and 0 < values.pop() < LIMIT:
                return True
    return False


def _tables(known: Mapping[Key, int], table: Mapping[Key, int | None]) -> Iterator[dict[Key, int]]:
    """All tables of counts that have the known ones as sums, of the values that are published."""
    cells = list(product(*(sorted(_values(table, at)) for at in range(_width(table)))))

    def step(at: int, left: dict[Key, int], found: dict[Key, int]) -> Iterator[dict[Key, int]]:
        if at == len(cells):
            if not any(left.values()):
                yield dict(found)
            return
        above = [key for key in left if _is_in(cells[at], key)]
        most = min((left[key] for key in above), default=1)  # no one knows: 0 and 1 are two
        last = [key for key in above if not any(_is_in(cell, key) for cell in cells[at + 1 :])]
        least = max((left[key] for key in last), default=0)
        for n in range(least, most + 1):
            rest = {key: value - n if key in above else value for key, value in left.items()}
            yield from step(at + 1, rest, {**found, cells[at]: n})

    yield from step(0, dict(known), {})


def _values(table: Mapping[Key, int | None], at: int) -> set[str]:
    return {value for key in table if (value := key[at]) is not None}


def _width(table: Mapping[Key, int | None]) -> int:
    return len(next(iter(table)))


def _is_in(cell: Key, total: Key) -> bool:
    return all(value is None or value == own for own, value in zip(cell, total, strict=True))


def frame(table: Mapping[Key, int | None], name: str | None) -> pd.DataFrame:
    """The table, with a name for totals instead of a missing value."""
    by = BY[: _width(table)]
    rows = [(*(name if value is None else value for value in key), n) for key, n in table.items()]
    return pd.DataFrame(rows, columns=[*by, "n"]).astype({**dict.fromkeys(by, object), "n": "Int64"})


@st.composite
def tables(draw: Any) -> dict[Key, int | None]:
    width = draw(st.integers(1, 3))
    sizes = [draw(st.integers(2, 3 if width < 3 else 2)) for _ in range(width)]
    keys = list(product(*(["abc"[code] for code in range(size)] for size in sizes)))
    counts = draw(st.lists(st.sampled_from([0, 1, 2, 3, 4, 5, 7, 9, 12]), min_size=len(keys), max_size=len(keys)))
    people = [key for key, n in zip(keys, counts, strict=True) for _ in range(n)]
    places = range(width)
    cube = [one for size in range(width + 1) for one in combinations(places, size)]
    rollup = [tuple(places)[:size] for size in range(width + 1)]
    some = draw(st.lists(st.sampled_from(cube), min_size=1, unique=True))
    return published(people, draw(st.sampled_from([cube, rollup, some])), draw(st.sampled_from(["rows", "numbers"])))


@run(150)
@drawn(tables(), st.sampled_from(["nothing is said", "NULL is the total", "Total"]))
def test_no_rule_passes_where_a_small_cell_follows(table: dict[Key, int | None], said: str) -> None:
    if not table or not any(table.values()) or not revealed(table):
        return
    by = BY[: _width(table)]
    has_total = [name for at, name in enumerate(by) if any(key[at] is None for key in table)]
    total = {name: None if name in has_total else "" for name in by} if said == "NULL is the total" else {}
    given = frame(table, "Total" if said == "Total" else None)
    for rules in (RULES[:1], RULES[1:]):
        found = sqlaudit.aggregates(given, by=by, count="n", require=rules, total=total)
        assert not found.passed
        assert "pass" not in [one.status.value for one in found.rules]


CELLS = {("a", "x"): 8, ("a", "y"): 3, ("b", "x"): 9, ("b", "y"): 12}
PEOPLE = [key for key, n in CELLS.items() for _ in range(n)]
CUBE = [(0, 1), (0,), (1,), ()]
NULLS = {"region": None, "illness": None}
ASKED: dict[str, Any] = {"by": BY[:2], "count": "n", "require": RULES}


def test_what_is_said_of_a_missing_value_is_used() -> None:
    """`a y` has 3: 11 - 8 of the row, 15 - 12 of the column."""
    cube = frame(published(PEOPLE, CUBE, "rows"), None)
    unsaid = sqlaudit.aggregates(cube, **ASKED)
    assert ([one.code for one in unsaid.mistakes], unsaid.status.value) == (["unclear_totals"], "undetermined")
    assert "total='column=value' (NULL for a missing value)" in unsaid.mistakes[0].message
    found = sqlaudit.aggregates(cube, total=NULLS, show_values=True, **ASKED)
    assert [(one.cells, one.keys) for one in found.rules] == [(1, ({"region": "a", "illness": "y"},))] * 2
    assert [(one.code, one.cells, one.is_mistake) for one in found.problems] == [("left_out_cells", 1, False)]
    assert sqlaudit.aggregates(cube, total=dict.fromkeys(NULLS, ""), **ASKED).passed


def test_a_missing_value_that_is_less_than_others_is_no_total() -> None:
    table = pd.DataFrame({"region": ["a", "b", None], "n": [7, 8, 9]})
    assert sqlaudit.aggregates(table, by=["region"], count="n", require=RULES).passed


def test_two_that_were_left_out_of_every_sum_hide_each_other() -> None:
    """Both rows and both columns lack two cells, and what is left is between 0 and 7."""
    people = [key for key in product("abc", "xyz") for _ in range(3 if key[0] != "c" and key[1] != "z" else 9)]
    table = frame(published(people, CUBE, "rows"), None)
    found = sqlaudit.aggregates(table, total=NULLS, show_values=True, **ASKED)
    assert (found.hidden, found.deducible, found.passed) == (4, 0, True)
    assert {(one.lower, one.upper) for one in found.intervals} == {(0, 6)}


def test_a_table_that_may_have_totals_is_not_protected(tmp_path: Path) -> None:
    cube, file = frame(published(PEOPLE, CUBE, "rows"), None), tmp_path / "safe.csv"
    for total, said in (({}, "may be a total"), (NULLS, "before any cell was hidden")):
        with pytest.raises(UsageError, match=said):
            sqlaudit.aggregates(cube, total=total, protect=True, to=file, **ASKED)
    assert not file.exists()


def test_a_policy_passes_nothing_before_totals_are_named(tmp_path: Path) -> None:
    frame(published(PEOPLE, CUBE, "rows"), None).to_csv(tmp_path / "cube.csv", index=False)
    file = tmp_path / "sqlaudit.yml"
    for total, outcomes in (("", ["undetermined"] * 2), (", total: [region=NULL, illness=NULL]", ["fail"] * 2)):
        asked = f"{{by: [region, illness], count: n{total}, require: [threshold=5, no_unpickable_cell=1]}}"
        file.write_text(f"tables:\n  - file: cube.csv\n    requirements:\n      - aggregates: {asked}\n")
        assert [one.outcome.value for one in sqlaudit.gate(file).tests] == outcomes


def test_a_row_that_a_release_leaves_out_is_compared_as_readers_have_it() -> None:
    """3 were in `a`, which had no row, and 6 are: its change is of 3, while all that is published changes by more."""
    older = pd.DataFrame({"region": ["b", "c", None], "n": [20, 5, 28]})
    newer = pd.DataFrame({"region": ["a", "b", "c", None], "n": [6, 30, 5, 41]})
    asked: dict[str, Any] = {"by": ["region"], "count": "n", "require": ["threshold=5"], "show_values": True}
    (unsaid,) = sqlaudit.aggregates(newer, before=[older], **asked).differences
    assert unsaid.unsafe[0].status.value == "undetermined"
    (two,) = sqlaudit.aggregates(newer, before=[older], total={"region": None}, **asked).differences
    assert [one.keys for one in two.unsafe] == [({"region": "a"},)]
    (two,) = sqlaudit.aggregates(newer[1:], before=[older], total={"region": None}, **asked).differences
    assert (two.unsafe[0].status.value, "missing from" in two.unsafe[0].note) == ("undetermined", True)


def test_contributions_in_the_wrong_order_are_refused() -> None:
    table = pd.DataFrame({"region": ["a", "b"], "x": [100, 90], "l1": [50, 10], "l2": [9, 45]})
    with pytest.raises(InputError, match=r"'l1' is less than 'l2' in 1 cell. largest="):
        sqlaudit.aggregates(table, by=["region"], value="x", largest=["l1", "l2"], require=["p_percent=10"])
