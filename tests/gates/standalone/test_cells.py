"""Rules for cells as one SELECT say what `sqlaudit aggregates` says, on every engine."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
import sqlglot

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Target
from sqlaudit.engines.contract import Engine
from sqlaudit.models.registry import CELL_RULES
from sqlaudit.models.requirements import requirements
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.run import find_unsafe_cells
from tests.audit_values import values_query
from tests.cli.runner import run

KINDS = {"region": "text", "n": "int", "h": "int", "x": "decimal", "x1": "decimal", "x2": "decimal"}
ROWS: list[tuple[Any, ...]] = [
    ("a", 12, 3, "100", "75", "15"),
    ("b", 3, 1, "20", "10", "5"),
    ("c", 0, 0, "0", None, None),
    ("d", 1, 1, "7.5", "7.5", None),
    ("e", None, None, None, None, None),
    ("f", 9, 9, "90", "10", "9.99"),
]
RULES = [
    "threshold=5",
    "threshold=n:1,zeros:yes",
    "holdings=2",
    "dominance=n:1,k:75",
    "dominance=n:2,k:89.9",
    "p_percent=40/3",
    "p_percent=13.4",
    "pq=p:10.1,q:75",
]
COLUMNS: dict[str, Any] = {"count": "n", "value": "x", "holdings": "h", "largest": ["x1", "x2"]}


@pytest.mark.parametrize("rule", RULES)
def test_a_statement_says_what_aggregates_says(engine: Engine, rule: str) -> None:
    rows = [dict(zip(KINDS, (*row[:3], *(x and Decimal(x) for x in row[3:])), strict=True)) for row in ROWS]
    query = values_query(rows, KINDS)
    asked = AggregatesRequest(
        by=("region",), requirements=requirements([rule], among=CELL_RULES), **{**COLUMNS, "largest": ("x1", "x2")}
    )
    expected = find_unsafe_cells(engine, Target(query=query), asked).rules[0]
    dialect = engine.dialect
    shown = sqlglot.transpile(query, read="duckdb", write=dialect)[0] if dialect == "spark" else query
    (made,) = sqlaudit.compile_checks(query=shown, checks=[rule], dialect=dialect, **COLUMNS)
    cells, hidden, undecided, unsafe, verdict = engine.run(Statement("cells", made.sql))[0]
    assert (int(cells), int(hidden), int(undecided)) == (6, 1, 0)
    assert int(unsafe) == expected.cells
    assert verdict == ("fail" if expected.cells else "undecided")  # e is hidden, and one SELECT knows no totals


def test_the_command_writes_a_script_for_a_warehouse() -> None:
    ran = run("compile", "--table", "release.counts", "--count", "n", "--dialect", "snowflake", "threshold=5")
    assert ran.code == 0
    assert "-- threshold rule: Every cell has at least n contributors" in ran.out
    assert "n < 5" in ran.out
    assert "FROM release.counts" in ran.out


@pytest.mark.parametrize(
    ("rule", "more", "said"),
    [
        ("full_cell=any", {}, "looks at margins of cells"),
        ("p_percent=10", {}, "needs a column; name it with value="),
        ("p_percent=10", {"value": "x", "largest": ["x1"]}, "needs a column; name it with largest="),
        ("k=5", {}, "is about rows of persons"),
    ],
)
def test_what_one_select_cannot_say_is_refused(rule: str, more: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        sqlaudit.compile_checks("counts", checks=[rule], count="n", **more)


def test_a_hidden_cell_is_never_passed_over(engine: Engine) -> None:
    """The total gives the hidden 2 back."""
    for hidden, said in ((None, "undecided"), (6, "pass")):
        rows = [{"region": region, "n": n} for region, n in (("a", 7), ("b", hidden), ("Total", 9))]
        query = values_query(rows, {"region": "text", "n": "int"})
        shown = sqlglot.transpile(query, read="duckdb", write="spark")[0] if engine.dialect == "spark" else query
        (made,) = sqlaudit.compile_checks(query=shown, checks=["threshold=5"], dialect=engine.dialect, count="n")
        assert engine.run(Statement("cells", made.sql))[0][-1] == said
