"""Tables that are made from rows of persons, against the same added up in Python, on all engines."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Target
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.models.registry import CELL_RULES, requirements
from sqlaudit.tabular.listing import list_cells
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.result import AggregatesResult
from sqlaudit.tabular.run import find_unsafe_cells
from sqlaudit.tabular.structure import read_cells
from tests.audit_values import values_query
from tests.strategies import run
from tests.tabular import oracle

contributions = st.sampled_from(["0", "1", "2.5", "10", "0.01", "100"])
keys = st.tuples(st.sampled_from(["a", "b'", None]), st.sampled_from([1, 2]))
rows = st.lists(st.tuples(keys, st.integers(1, 5), contributions), min_size=1, max_size=14)
COLUMNS = {"region": "text", 'the "sector"': "int", "who": "int", "cost": "decimal", "home": "int", "w": "decimal"}
SECTOR = '"the ""sector"""'
RULES = ["threshold=2", "dominance=n:1,k:80", "dominance=n:3,k:90", "p_percent=15", "holdings=2", "full_cell=region"]


def request_of(query: str, require: list[str], **more: Any) -> AggregatesRequest:
    roles = {"by": ("region", SECTOR), "microdata": True, "value": "cost", "person": "who"}
    rules = requirements(require, among=CELL_RULES)
    return AggregatesRequest(Target(query=query), **{**roles, "requirements": rules, **more})


def query_of(table: list[Any], weights: dict[int, str] | None = None) -> str:
    named = [
        {"region": a, 'the "sector"': b, "who": who, "cost": x, "home": who // 2, "w": (weights or {}).get(who, "1")}
        for (a, b), who, x in table
    ]
    return values_query(named, COLUMNS)


def unsafe(found: AggregatesResult) -> list[int]:
    return [one.cells for one in found.rules]


def expected(cells: dict[oracle.Key, oracle.Cell], homes: dict[oracle.Key, oracle.Cell]) -> list[int]:
    return [
        sum(oracle.threshold(cell, 2) for cell in cells.values()),
        sum(oracle.dominance(cell, 1, Fraction(80)) for cell in cells.values()),
        sum(oracle.dominance(cell, 3, Fraction(90)) for cell in cells.values()),
        sum(oracle.pq(cell, Fraction(15)) for cell in cells.values()),
        sum(oracle.threshold(cell, 2) for cell in homes.values()),
    ]


@pytest.mark.parametrize("persons", [True, False])
@pytest.mark.parametrize("grouping", ["", f"{SECTOR};region", f"region;region,{SECTOR};()"])
def test_every_cell_is_added_up_by_person(engine: Engine, grouping: str, persons: bool) -> None:
    sets = {"": [(0, 1)], f"{SECTOR};region": [(1,), (0,)]}.get(grouping, [(0,), (0, 1), ()])

    @run(6 if engine.name == "duckdb" else 3)
    @given(rows)
    def compare(table: list[Any]) -> None:
        whose = table if persons else [(key, number, x) for number, (key, _, x) in enumerate(table)]
        every = oracle.cells_of(whose, (True, True))
        homes = oracle.cells_of([(key, who // 2, x) for key, who, x in table], (True, True))

        def asked(cells: dict[oracle.Key, oracle.Cell]) -> dict[oracle.Key, oracle.Cell]:
            kept = [tuple(place in one for place in (0, 1)) for one in sets]
            return {key: cell for key, cell in cells.items() if tuple(x != oracle.TOTAL for x in key) in kept}

        person = "who" if persons else ""
        request = request_of(query_of(table), RULES[:-1], grouping=grouping, holdings="home", person=person)
        found = find_unsafe_cells(engine, request)
        assert unsafe(found) == expected(asked(every), asked(homes))
        assert found.cells == len(asked(every))
        assert not sum(one.undecided for one in found.rules)

    compare()


def test_a_weight_stands_for_so_many_alike(engine: Engine) -> None:
    weights = {1: "1", 2: "2", 3: "3", 4: "1", 5: "4"}

    @run(6 if engine.name == "duckdb" else 3)
    @given(rows)
    def compare(table: list[Any]) -> None:
        cells: dict[oracle.Key, list[Fraction]] = {}
        for (key, who), x in _sums(table).items():
            cells.setdefault(key, []).extend([x] * int(weights[who]))
        alike = {key: oracle.Cell(tuple(sorted(found, reverse=True))) for key, found in cells.items()}
        request = request_of(query_of(table, weights), RULES[1:4], weight="w")
        found = find_unsafe_cells(engine, request)
        assert unsafe(found) == expected(alike, {})[1:4]

    compare()


def _sums(table: list[Any]) -> dict[tuple[oracle.Key, int], Fraction]:
    out: dict[tuple[oracle.Key, int], Fraction] = {}
    for key, who, x in table:
        out[key, who] = out.get((key, who), Fraction(0)) + Fraction(x)
    return out


def test_fractions_of_weights_count_in_part() -> None:
    table = pd.DataFrame({"r": ["a"] * 3, "who": [1, 2, 3], "x": [10, 4, 6], "w": [1.5, 1.0, 2.0]})
    asked = {"by": ["r"], "microdata": True, "person": "who", "value": "x", "weight": "w"}
    # X = 15 + 4 + 12 = 31; the two largest are 10 and half 10, half 6: 18; the rest is 13
    at = sqlaudit.aggregates(
        table, require=["p_percent=130", "p_percent=130.1", "dominance=n:2,k:58.064516129"], **asked
    )
    assert unsafe(at) == [0, 1, 1]


def test_keys_of_cells_are_the_values_of_rows() -> None:
    table = pd.DataFrame({"r": ["a", "a", None, "b"], "s": ["x", "y", "x", "x"]})
    found = sqlaudit.aggregates(
        table, by=["r", "s"], microdata=True, grouping="r;r,s", require=["threshold=2"], show_values=True
    )
    told = {(key["r"], key["s"]) for key in found.rules[0].keys}
    assert told == {("a", "x"), ("a", "y"), (None, "x"), ("b", "x"), (None, None), ("b", None)}
    assert found.totals == ("s",)


def test_the_cells_of_a_missing_value_and_of_all_are_apart() -> None:
    table = pd.DataFrame({"r": ["a", None, None]})
    request = AggregatesRequest(Target(frame=table), by=("r",), microdata=True, grouping="r;()")
    with connect() as engine:
        cells = read_cells(engine, list_cells(engine, engine.open(request.target), request), request)
    assert cells.count is not None
    assert sorted(zip(cells.keys[:, 0].tolist(), cells.count.units.tolist(), strict=True)) == [(0, 3), (1, 2), (2, 1)]
    assert cells.totals.tolist() == [code == 0 for code in cells.keys[:, 0]]


@pytest.mark.parametrize(("kind", "negative"), list(product(["int", "float"], ["refuse", "absolute"])))
def test_negative_contributions_are_refused_or_absolute(kind: str, negative: str) -> None:
    table = pd.DataFrame({"r": ["a"] * 4, "who": [1, 1, 2, 3], "x": pd.array([-90, -5, 10, 20]).astype(kind)})
    asked = {"by": ["r"], "microdata": True, "person": "who", "value": "x", "negative": negative}
    if negative == "refuse":
        with pytest.raises(UsageError, match="1 cell has negative contributions"):
            sqlaudit.aggregates(table, require=["dominance=n:1,k:75"], **asked)
        return
    # 95 of 125 is 76%
    assert unsafe(sqlaudit.aggregates(table, require=["dominance=n:1,k:76", "dominance=n:1,k:75"], **asked)) == [0, 1]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"count": "x"}, "count= applies to a finished table"),
        ({"weight": "x"}, "name it with person="),
        ({"grouping": "r;t"}, "names 't', which is not in by="),
        ({"grouping": "r;(r)"}, "names a set twice"),
        ({"grouping": "()"}, "'r' is in no set of grouping="),
        ({"negative": "ignore"}, "negative= is one of refuse, absolute"),
        ({"value": "r"}, "is not numeric"),
        ({"weight": "w", "person": "who", "value": "x"}, "have several weights"),
        ({"weight": "x", "person": "who", "value": "x"}, "1 cell has weights below 1"),
        ({"microdata": False, "count": "x", "person": "who"}, "person= applies to rows of people"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(more: dict[str, Any], said: str) -> None:
    table = pd.DataFrame({"r": ["a", "a"], "who": [1, 1], "x": [0.5, 0.5], "w": [1, 2]})
    with pytest.raises(UsageError, match=said):
        sqlaudit.aggregates(table, **{"by": ["r"], "microdata": True, "require": ["dominance=n:1,k:75"], **more})


@pytest.mark.parametrize("value", ["cost", ""])
def test_rows_without_a_person_are_refused(engine: Engine, value: str) -> None:
    """No one knows whether they are of somebody who is there already: three contributors may be two."""
    table: list[Any] = [(("a", 1), 1, "1"), (("a", 1), 2, "1"), (("a", 1), None, "1"), (("b'", 1), 4, "1")]
    named = [{"region": a, 'the "sector"': b, "who": who, "cost": x, "home": 1, "w": "1"} for (a, b), who, x in table]
    request = request_of(values_query(named, COLUMNS), ["threshold=3"], value=value)
    with pytest.raises(UsageError, match=r"^1 cell has rows without a person, .* where="):
        find_unsafe_cells(engine, request)
    whole = request_of(values_query([one for one in named if one["who"]], COLUMNS), ["threshold=3"], value=value)
    assert find_unsafe_cells(engine, whole).unsafe_cells == 2
    with pytest.raises(UsageError, match="rows without a person"):
        find_unsafe_cells(engine, replace(whole, before=(request.target,)))


@pytest.mark.parametrize("grouping", ["", "region;region,sector", "region,sector;sector"])
def test_everybody_of_a_group_is_counted_once(engine: Engine, grouping: str) -> None:
    """All ten of a are in x, and all in y; in b there are three, of whom two are in x, two in y, and no region."""
    rows = [{"region": "a", "sector": sector, "who": who} for who in range(10) for sector in "xy"]
    rows += [{"region": "b", "sector": "xxyy"[place], "who": (20, 21, 21, 22)[place]} for place in range(4)]
    rows += [{"region": None, "sector": "y", "who": 30}, {"region": None, "sector": None, "who": 31}]
    query = values_query(rows, {"region": "text", "sector": "text", "who": "int"})
    rules = requirements(["full_cell=sector"], among=CELL_RULES)
    request = AggregatesRequest(
        Target(query=query),
        by=("region", "sector"),
        microdata=True,
        person="who",
        grouping=grouping,
        show_values=True,
        requirements=rules,
    )
    (found,) = find_unsafe_cells(engine, request).rules
    assert {tuple(key.values()) for key in found.keys} == {("a", "x"), ("a", "y")}
