"""Rules for cells as one SELECT say what `sqlaudit aggregates` says, on every engine."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
import sqlglot

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Target
from sqlaudit.engines.contract import Engine
from sqlaudit.gates.reading import load_policy
from sqlaudit.gates.standalone.checks import compile_cells
from sqlaudit.gates.standalone.policies import Wording, policy_statements
from sqlaudit.models.registry import CELL_RULES, requirements
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.run import find_unsafe_cells
from tests.audit_values import values_query
from tests.cli.runner import run
from tests.gates.standalone.dbt_stub import Refused, package

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
    rules = requirements([rule], among=CELL_RULES)
    columns: dict[str, Any] = {**COLUMNS, "largest": ("x1", "x2")}
    asked = AggregatesRequest(Target(query=query), by=("region",), requirements=rules, **columns)
    expected = find_unsafe_cells(engine, asked).rules[0]
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
        ("k=5", {}, "is about rows of people"),
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


@pytest.mark.parametrize(
    ("test", "rule", "arguments"),
    [
        ("min_contributors", "threshold=5", {"contributors": "n"}),
        ("min_contributors", "threshold=n:5,zeros:yes", {"contributors": "n", "zeros": True}),
        ("dominance", "dominance=n:1,k:75", {"value": "x", "largest": ["x1"], "k": 75}),
        ("dominance", "dominance=n:2,k:89.9", {"value": "x", "largest": ["x1", "x2"], "k": "89.9"}),
    ],
)
@pytest.mark.parametrize("mark", ["", "*"])
def test_the_tests_of_dbt_find_the_same_cells(test: str, rule: str, arguments: dict[str, Any], mark: str) -> None:
    """Cells without a number, and those that hold a mark, fail besides: totals may give them back."""
    rows = [dict(zip(KINDS, (*row[:3], *(x and Decimal(x) for x in row[3:])), strict=True)) for row in ROWS]
    found = sqlaudit.aggregates(query=values_query(rows, KINDS), by=["region"], require=[rule], **COLUMNS).rules[0]
    if mark:
        kinds = KINDS | dict.fromkeys(("n", "x", "x1", "x2"), "text")
        rows = [{name: mark if x is None else str(x) for name, x in row.items()} for row in rows]
        source, more = values_query([row | {"h": 1} for row in rows], kinds), {"hidden": ["x", mark]}
    else:
        source, more = values_query(rows, KINDS), {}
    with duckdb.connect() as connection:
        for hidden_cells, hidden in (("refuse", 1), ("ignore", 0)):
            given = {**arguments, **more, "by": ["region"], "hidden_cells": hidden_cells}
            sql = str(package("duckdb")[f"test_{test}"](f"({source}) AS cells", **given))
            assert len(connection.execute(sql).fetchall()) == found.cells + hidden, sql
    with pytest.raises(Refused, match="hidden_cells is refuse or ignore"):
        package("duckdb")[f"test_{test}"]("cells", **arguments, hidden_cells="pass")


def test_a_change_of_a_hidden_cell_is_not_passed_over_in_dbt() -> None:
    """North is 3, and then 4: totals and the south tell it, which one SELECT over cells does not find."""
    months = [[("north", "*"), ("south", "20"), ("Total", "23")], [("north", "4"), ("south", "25"), ("Total", "29")]]
    older, newer = (pd.DataFrame(month, columns=["region", "n"]) for month in months)
    assert not sqlaudit.aggregates(
        newer, by=["region"], count="n", hidden=["*"], before=[older], require={"threshold": 3}
    ).passed
    asked = {"before": "older", "by": ["region"], "count": "n", "n": 3, "hidden": ["*"], "show_values": True}
    with duckdb.connect() as connection:
        for name, table in (("older", older), ("newer", newer)):
            connection.register(name, table)
        refused = connection.execute(str(package("duckdb")["test_no_differencing"]("newer", **asked))).fetchall()
        ignored = str(package("duckdb")["test_no_differencing"]("newer", **asked, hidden_cells="ignore"))
        assert (refused, connection.execute(ignored).fetchall()) == ([("north", 4)], [])


@pytest.mark.parametrize("total", [None, "total"])
def test_a_compiled_policy_passes_no_table_whose_totals_may_tell_of_rows_that_were_left_out(
    engine: Engine, total: str | None
) -> None:
    """b, whose 2 are too few, has no row."""
    query = values_query(
        [{"region": region, "n": n} for region, n in (("a", 7), (total, 9))], {"region": "text", "n": "int"}
    )
    shown = sqlglot.transpile(query, read="duckdb", write="spark")[0] if engine.dialect == "spark" else query
    for by, said in ((["region"], "undecided"), ([], "pass")):
        (made,) = compile_cells(Target(query=shown), ["threshold=5"], by=by, dialect=engine.dialect, count="n")
        assert engine.run(Statement("cells", made.sql))[0][-1] == said


@pytest.mark.parametrize(("total", "said"), [("", "undecided"), (", total: [region=]", "pass")])
def test_a_policy_says_that_there_are_no_totals(tmp_path: Path, total: str, said: str) -> None:
    file = tmp_path / "policy.yml"
    asked = f"{{by: [region], count: n{total}, require: threshold=5}}"
    file.write_text(
        "connections: {main: {duckdb: counts.duckdb}}\ntables:\n  - table: counts\n    requirements:\n"
        f"      - aggregates: {asked}\n"
    )
    (made,) = policy_statements(load_policy(file).tables, Wording("duckdb"))
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE counts AS SELECT * FROM (VALUES ('a', 7), (NULL, 9)) AS cells(region, n)")
        assert connection.execute(made.compiled.sql).fetchall()[0][-1] == said


def test_contributions_in_the_wrong_order_are_no_pass() -> None:
    table = pd.DataFrame({"x": [100, 90], "x1": [50, 10], "x2": [9, 45]})
    (made,) = sqlaudit.compile_checks("counts", checks=["p_percent=10"], value="x", largest=["x1", "x2"])
    with duckdb.connect() as connection:
        connection.register("counts", table)
        assert connection.execute(made.sql).fetchall() == [(2, 0, 1, 0, "undecided")]
        asked = {"value": "x", "largest": ["x1", "x2"], "k": 60, "n": 1}
        assert len(connection.execute(str(package("duckdb")["test_dominance"]("counts", **asked))).fetchall()) == 1


@pytest.mark.parametrize("total", ["Total", None])
def test_rows_that_were_left_out_below_a_total_fail_in_dbt(total: str | None) -> None:
    rows = [("a", "x", 8), ("b", "x", 9), ("b", "y", 12), ("a", total, 11), ("b", total, 21), (total, "x", 17)]
    table = pd.DataFrame([*rows, (total, "y", 15), (total, total, 32)], columns=["region", "sector", "n"])
    asked = {"by": ["region", "sector"], "count": "n", "total": total, "show_values": True}
    with duckdb.connect() as connection:
        connection.register("counts", table)
        found = connection.execute(str(package("duckdb")["test_no_unpickable_cell"]("counts", **asked))).fetchall()
    assert {one[:2] for one in found} == {("a", total), (total, "y")}
