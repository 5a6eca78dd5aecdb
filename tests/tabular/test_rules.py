"""Every rule over every cell, against the definitions written out, on all engines."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
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
from sqlaudit.models.registry import CELL_RULES, parse_requirement, requirements
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.result import AggregatesResult
from sqlaudit.tabular.run import find_unsafe_cells
from tests.audit_values import values_query
from tests.strategies import run
from tests.tabular import oracle

LIMITS = [Fraction(n, 2) for n in (0, 1, 5, 20, 100, 150, 180, 200)]
contributions = st.sampled_from(["0", "1", "2", "2.5", "10", "0.01", "100"])
rows = st.lists(
    st.tuples(st.tuples(st.sampled_from(["a", "b'", None]), st.sampled_from([1, 2])), st.integers(1, 6), contributions),
    min_size=1,
    max_size=14,
)
COLUMNS = {
    "region": "text",
    'the "sector"': "text",
    "n": "int",
    "x": "decimal",
    "x1": "decimal",
    "x2": "decimal",
    "x3": "decimal",
}
SECTOR = '"the ""sector"""'


def published(cells: dict[oracle.Key, oracle.Cell]) -> list[dict[str, Any]]:
    """The table: a row for each cell."""
    return [
        {
            "region": key[0],
            'the "sector"': str(key[1]),
            "n": cell.contributors,
            "x": _decimal(cell.value),
            "x1": _decimal(cell.top(1)),
            "x2": _decimal(cell.top(2) - cell.top(1)),
            "x3": _decimal(cell.top(3) - cell.top(2)),
        }
        for key, cell in cells.items()
    ]


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def request_of(query: str, require: list[str], **more: Any) -> AggregatesRequest:
    roles = {"by": ("region", SECTOR), "count": "n", "value": "x", "largest": ("x1", "x2", "x3")}
    rules = requirements(require, among=CELL_RULES)
    return AggregatesRequest(Target(query=query), **{**roles, "requirements": rules, **more})


def unsafe(found: AggregatesResult) -> list[int]:
    return [one.cells for one in found.rules]


@pytest.mark.parametrize("totals", [(False, False), (True, False), (True, True)])
def test_every_rule_is_what_its_definition_says(engine: Engine, totals: tuple[bool, bool]) -> None:
    @run(12 if engine.name == "duckdb" else 4)
    @given(rows, st.integers(1, 4), st.integers(1, 3), st.sampled_from(LIMITS), st.sampled_from(LIMITS))
    def compare(table: list[Any], least: int, n: int, k: Fraction, p: Fraction) -> None:
        cells = oracle.cells_of([((key[0], str(key[1])), person, x) for key, person, x in table], totals)
        rules = [f"threshold={least}", f"dominance=n:{n},k:{k}", f"p_percent={p}", f"pq=p:{p / 4},q:80"]
        query = values_query(published(cells), COLUMNS)
        found = find_unsafe_cells(engine, request_of(query, [*rules, "full_cell=region"]))
        assert found.totals == tuple(name for name, has in zip(("region", SECTOR), totals, strict=True) if has)
        assert unsafe(found) == [
            sum(oracle.threshold(cell, least) for cell in cells.values()),
            sum(oracle.dominance(cell, n, k) for cell in cells.values()),
            sum(oracle.pq(cell, p) for cell in cells.values()),
            sum(oracle.pq(cell, p / 4, Fraction(80)) for cell in cells.values()),
            sum(oracle.full(cells, key, 0) for key in cells),
        ]
        assert [one.judged for one in found.rules] == [len(cells)] * 5

    compare()


def judged(table: dict[str, list[Any]], require: str, **roles: Any) -> Any:
    asked = {"by": ["region"], "count": "n", **roles}
    return sqlaudit.aggregates(pd.DataFrame(table), require=[require], **asked).rules[0]


@pytest.mark.parametrize(
    ("require", "cells"),
    [
        # X = 100, x1 = 75, x2 = 15: at the limit a cell is safe
        ("dominance=n:1,k:75", 0),
        ("dominance=n:1,k:74.999999999", 1),
        ("dominance@2=90", 0),
        ("dominance@2=89.9", 1),
        ("p_percent=13.333333333", 0),
        ("p_percent=40/3", 0),
        ("p_percent=13.4", 1),
        ("pq=p:10,q:75", 0),
        ("pq=p:10.1,q:75", 1),
        ("threshold=7", 0),
        ("min_contributors=8", 1),
    ],
)
def test_limits_are_exact(require: str, cells: int) -> None:
    table = {"region": ["a"], "n": [7], "x": [100], "x1": [75], "x2": [15]}
    assert judged(table, require, value="x", largest=["x1", "x2"]).cells == cells


def test_large_and_small_numbers_are_exact() -> None:
    big = 10**17
    table = {"region": ["a", "b"], "n": [9, 9], "x": [f"{4 * big}", f"{4 * big}"]}
    table["x1"] = [f"{3 * big}", f"{3 * big}.000000000000000001"]
    assert judged(table, "dominance=n:1,k:75", value="x", largest=["x1"]).cells == 1


def test_without_contributions_few_contributors_leave_no_doubt() -> None:
    table = {"region": list("abcd"), "n": [1, 2, 3, 2], "x": [5, 5, 5, 0]}
    found = judged(table, "p_percent=10", value="x")
    assert (found.cells, found.judged, found.undecided, found.status) == (2, 3, 1, "fail")
    assert "'p_percent=10'" not in found.note
    assert found.note.startswith("p_percent=10 needs the two largest contributions of a cell, which the table does not")
    found = judged({"region": ["a"], "n": [9], "x": [5]}, "dominance=n:1,k:80", value="x")
    assert (found.cells, found.undecided, found.status) == (0, 1, "undetermined")


def test_a_sum_that_is_not_there_is_named() -> None:
    found = judged({"region": ["a"], "n": [9]}, "dominance=n:1,k:80")
    assert (found.status, found.undecided) == ("undetermined", 1)
    assert "name their column with value=" in found.note


def test_zeros_fail_when_asked() -> None:
    table = {"region": list("abc"), "n": [0, 4, 9]}
    assert judged(table, "threshold=5").cells == 1
    assert judged(table, "threshold=n:5,zeros:yes").cells == 2


def test_holdings_are_second_contributors() -> None:
    table = {"region": list("abc"), "n": [9, 9, 0], "h": [1, 2, 0]}
    assert judged(table, "holdings=2", holdings="h").cells == 1
    assert judged(table, "holdings=2").status == "undetermined"


def test_zeros_that_could_have_been_somebody() -> None:
    table = {"region": ["a", "a", "b", "b", "c"], "sector": list("stsss"), "n": [0, 4, 3, 0, 0]}
    table["sector"] = ["s", "t", "s", "t", "s"]
    asked = {"by": ["region", "sector"]}
    assert judged(table, "zero_structural=sector", **asked).cells == 2
    assert judged(table, "zero_structural=any", **asked).cells == 3
    assert judged(table, "zero_structural=sector", **asked, structural="region = 'a' and sector = 's'").cells == 1


def test_a_margin_with_hidden_cells_needs_its_total() -> None:
    table = {"region": ["a", "b", "a", "b"], "sector": list("sstt"), "n": [4, None, 2, 3]}
    found = judged(table, "full_cell=region", by=["region", "sector"])
    assert (found.cells, found.judged, found.undecided) == (0, 2, 1)
    table = {"region": ["a", "b", "Total"], "n": [4, None, 4]}
    found = judged(table, "full_cell=region")
    assert (found.cells, found.undecided) == (1, 0)


@pytest.mark.parametrize(
    ("labels", "more", "totals"),
    [
        (["a", "b", "TOTAL"], {}, ("region",)),
        (["a", "b", "everywhere"], {}, ()),
        (["a", "b", "everywhere"], {"total": {"region": "everywhere"}}, ("region",)),
        (["a", "b", None], {}, ("region",)),
        (["a", "b", None], {"total": {"region": None}}, ("region",)),
    ],
)
def test_totals_are_found_or_named(labels: list[Any], more: dict[str, Any], totals: tuple[str, ...]) -> None:
    table = pd.DataFrame({"region": labels, "n": [7, 2, 9]})
    found = sqlaudit.aggregates(table, by=["region"], count="n", require=["threshold=5"], **more)
    assert (found.totals, found.contributors, found.unsafe_cells) == (totals, 9 if totals else 18, 1)


def test_missing_values_that_do_not_add_up_are_no_total() -> None:
    table = pd.DataFrame({"region": ["a", "b", None], "n": [7, 2, 8]})
    assert sqlaudit.aggregates(table, by=["region"], count="n").totals == ()


def test_marks_of_hidden_cells() -> None:
    table = pd.DataFrame({"region": list("abcd"), "n": ["12", "*", None, "3"]})
    found = sqlaudit.aggregates(table, by=["region"], count="n", hidden=["*"], require=["threshold=5"])
    assert (found.hidden, found.unsafe_cells, found.rules[0].judged) == (2, 1, 2)
    with pytest.raises(UsageError, match=r"1 cell of 'n' is not a number. Name the mark"):
        sqlaudit.aggregates(table, by=["region"], count="n", require=["threshold=5"])


def test_mistakes_of_the_table_are_told_by_cell() -> None:
    table = pd.DataFrame({"region": ["a", "a", "b", "c"], "n": [5.0, 6.0, -1.0, 2.5]})
    found = sqlaudit.aggregates(table, by=["region"], count="n", require=["threshold=1"], show_values=True)
    assert [(one.code, one.cells) for one in found.problems] == [
        ("duplicate_cells", 2),
        ("negative_counts", 1),
        ("fractional_counts", 1),
    ]
    assert found.problems[2].keys == ({"region": "c"},)


def test_an_empty_table_is_undetermined(engine: Engine) -> None:
    query = values_query([], COLUMNS) if engine.name == "duckdb" else "SELECT 'a' AS region, 1 AS n LIMIT 0"
    found = find_unsafe_cells(engine, request_of(query, ["threshold=5"], by=("region",), value="", largest=()))
    assert (found.cells, found.contributors, found.status) == (0, 0, "undetermined")
    assert [rule.status for rule in found.rules] == ["undetermined"]


def test_rules_and_models_are_not_confused() -> None:
    with pytest.raises(UsageError, match="'threshold' is about the cells of a published table"):
        parse_requirement("threshold=5")
    with pytest.raises(UsageError, match="'k' is about rows of people, not cells"):
        parse_requirement("k=5", among=CELL_RULES)
    with pytest.raises(UsageError, match="Did you mean 'threshold'"):
        parse_requirement("treshold=5", among=CELL_RULES)
    with pytest.raises(UsageError, match="p is below q; they are 90 and 80"):
        judged({"region": ["a"], "n": [9], "x": [5]}, "pq=p:90,q:80", value="x")


def test_no_value_is_in_the_statements() -> None:
    table = pd.DataFrame({"region": ["Lummerland", "everywhere"], "n": [5, 5]})
    with connect() as engine:
        sqlaudit.aggregates(
            table,
            by=["region"],
            count="n",
            total={"region": "everywhere"},
            require=["threshold=6"],
            show_values=True,
            db=engine,
        )
        assert not [done for done in engine.executed if "Lummer" in done.sql or "everywhere" in done.sql]
