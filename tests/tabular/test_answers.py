"""One answer, read as the rows that its cells are made from: the same verdicts as the rows, on all engines."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Target
from sqlaudit.engines.contract import Engine
from sqlaudit.models.registry import CELL_RULES, requirements
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.result import AggregatesResult
from sqlaudit.tabular.run import find_unsafe_cells
from tests.audit_values import values_query
from tests.strategies import run

COLUMNS = {"region": "text", "kind": "int", "who": "int", "cost": "decimal"}
RULES = ["threshold=2", "dominance=n:1,k:80", "p_percent=15"]
rows = st.lists(
    st.tuples(
        st.sampled_from(["a", "b'", None]),
        st.sampled_from([1, 2]),
        st.integers(1, 4),
        st.sampled_from(["0", "3", "2.5", "10", None]),
    ),
    min_size=1,
    max_size=14,
)


def table_of(some: list[Any]) -> str:
    return values_query([dict(zip(COLUMNS, row, strict=True)) for row in some], COLUMNS)


def judged(engine: Engine, query: str, require: list[str] = RULES, **more: Any) -> AggregatesResult:
    rules = requirements(require, among=CELL_RULES)
    if engine.dialect != "spark":
        return find_unsafe_cells(engine, AggregatesRequest(Target(query=query), requirements=rules, **more))
    from tests.spark_session import SparkEngine, TranslatingEngine, in_spark

    request = AggregatesRequest(Target(query=in_spark(query)), requirements=rules, **more)
    with patch.object(TranslatingEngine, "open", SparkEngine.open):  # the query is translated as a whole
        return find_unsafe_cells(engine, request)


def verdicts(found: AggregatesResult) -> list[Any]:
    return [(rule.text, rule.cells, rule.judged, rule.undecided, rule.status, rule.keys) for rule in found.rules]


SAME = [  # GROUP BY of the answer, and the same as the grouping of rows
    ("region", "region", ""),
    ("region, kind", "region,kind", ""),
    ("ROLLUP(region, kind)", "region,kind", "region,kind;region;()"),
    ("CUBE(region, kind)", "region,kind", "region,kind;region;kind;()"),
    ("GROUPING SETS ((kind), (region, kind))", "kind,region", "kind;kind,region"),
    ("region, ROLLUP(kind)", "region,kind", "region,kind;region"),
]


@pytest.mark.parametrize("person", ["who", ""])
@pytest.mark.parametrize(("group", "by", "grouping"), SAME)
def test_an_answer_is_judged_as_its_rows(engine: Engine, group: str, by: str, grouping: str, person: str) -> None:
    @run(4 if engine.name == "duckdb" else 1)
    @given(rows)
    def compare(some: list[Any]) -> None:
        table, shared = table_of(some), {"person": person, "show_values": True}
        as_rows = {"by": tuple(by.split(",")), "grouping": grouping, "microdata": True, **shared}
        mean = judged(engine, f"SELECT {by}, avg(cost) FROM ({table}) AS t GROUP BY {group}", **shared)
        filled = f"SELECT * FROM ({table}) AS t WHERE cost IS NOT NULL"
        same = judged(engine, filled, value="cost", **as_rows)
        assert verdicts(mean) == verdicts(same)
        assert (mean.cells, mean.unsafe_cells, mean.status) == (same.cells, same.unsafe_cells, same.status)
        assert (mean.by, mean.totals, mean.contributors) == (same.by, same.totals, same.contributors)
        count = judged(
            engine, f"SELECT count(*) AS n, {by} FROM ({table}) AS t GROUP BY {group}", ["threshold=3"], **shared
        )
        same = judged(engine, table, ["threshold=3"], **as_rows)
        assert (verdicts(count), count.status) == (verdicts(same), same.status)

    compare()


@given(rows, st.sampled_from(["cost > 1", "kind = 1", "cost IS NULL OR kind = 2"]))
@run(15)
def test_a_filter_and_its_complement_are_judged(some: list[Any], condition: str) -> None:
    """The total minus the filtered count is a count as well; if no one meets the condition, it is the total itself."""
    from sqlaudit.engines import connect

    table = table_of(some)
    query = f"SELECT region, count(*), count(*) FILTER (WHERE {condition}) FROM ({table}) GROUP BY region"
    with connect() as engine:
        found = judged(engine, query, ["threshold=2"])
        meets = f"CASE WHEN {condition} THEN 1 ELSE 0 END"
        parts = [
            judged(engine, f"SELECT * FROM ({table}) WHERE {only}", ["threshold=2"], by=("region",), microdata=True)
            for only in ("1 = 1", f"{meets} = 1", f"{meets} = 0")
        ]
        judged_parts = parts if parts[1].cells else parts[:1]
        assert found.unsafe_cells == sum(part.unsafe_cells for part in judged_parts)
        assert found.passed == (not found.unsafe_cells)


TABLE = values_query(
    [{"region": r, "kind": k, "who": w, "cost": c} for r, k, w, c in [
        ("a", 1, 1, "10"), ("a", 1, 2, "11"), ("a", 2, 3, "12"), ("b", 1, 4, "10"), ("b", 2, 5, "12"),
        ("b", 2, 6, None), ("c", 1, 7, "10"),
    ]],
    COLUMNS,
)  # fmt: skip
FROM = f"FROM ({TABLE}) AS t"


@pytest.mark.parametrize(
    ("query", "cells", "unsafe"),
    [
        (f"SELECT region, count(*) {FROM} GROUP BY region", 3, 1),
        (f"SELECT region AS r, count(*) {FROM} GROUP BY r", 3, 1),
        (f"SELECT upper(region) AS region, count(*) {FROM} GROUP BY 1", 3, 1),
        (f"SELECT t.region, count(*) AS n {FROM} GROUP BY region HAVING count(*) > 1", 2, 0),
        (f"SELECT region, count(*) AS n {FROM} GROUP BY region ORDER BY n DESC LIMIT 2", 2, 0),
        (f"SELECT region, count(*) AS n {FROM} GROUP BY region ORDER BY 2 LIMIT 1", 1, 1),
        (f"SELECT region, count(*) AS n {FROM} GROUP BY region LIMIT 1", 3, 1),  # which one is not known
        (f"SELECT avg(cost) {FROM}", 1, 0),
        (f"SELECT avg(cost) {FROM} WHERE who = 1", 1, 1),
        (f"WITH w AS (SELECT * {FROM}) SELECT round(sum(cost) / count(cost)) FROM w", 2, 0),
        (f"SELECT region, count(cost) {FROM} WHERE region <> 'c' GROUP BY region", 2, 0),
        (f"SELECT region, count(*), count(cost) {FROM} WHERE region <> 'c' GROUP BY region", 5, 1),  # one has no cost
        (f"SELECT count(*) FILTER (WHERE who = 1) {FROM}", 1, 1),
        (f"SELECT count(*), sum(CASE WHEN who = 1 THEN 1 ELSE 0 END) {FROM}", 3, 1),
        (f"SELECT sum(COALESCE(cost, 0)) FILTER (WHERE region = 'b') {FROM}", 1, 0),
        (f"SELECT count(*), count(*) FILTER (WHERE kind = 1), count(*) FILTER (WHERE kind = 2) {FROM}", 3, 0),
        (f"SELECT count(*), count(*) FILTER (WHERE who < 4), count(*) FILTER (WHERE who > 4) {FROM}", 4, 1),  # who = 4
        (f"SELECT sum(cost) FILTER (WHERE who < 4), sum(cost) FILTER (WHERE who < 5) {FROM}", 3, 1),
    ],
)
def test_cells_of_an_answer(engine: Engine, query: str, cells: int, unsafe: int) -> None:
    found = judged(engine, query, ["threshold=2"])
    assert (found.cells, found.unsafe_cells) == (cells, unsafe)
    assert found.passed == (not unsafe)
    assert any(p.code == "hidden_by_query" for p in found.problems) == ("HAVING" in query or "LIMIT" in query)


@pytest.mark.parametrize("column", ["min(cost)", "max(cost)", "round(max(cost))", "string_agg(region, ',')"])
def test_values_of_one_person_are_unsafe(engine: Engine, column: str) -> None:
    if engine.dialect == "spark" and "string_agg" in column:
        pytest.skip("older versions have no string_agg")
    found = judged(engine, f"SELECT kind, count(*), {column} AS x {FROM} GROUP BY kind", ["threshold=2"])
    assert found.status.value == "fail"
    assert [rule.text for rule in found.rules if rule.status.value == "fail"] == ["one person's value: x"]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (f"SELECT kind, stddev(cost) {FROM} GROUP BY kind", "the function stddev"),
        (f"SELECT kind, sum(DISTINCT cost) {FROM} GROUP BY kind", "this form of sum"),
        (f"SELECT kind, count(DISTINCT who) {FROM} GROUP BY kind", "person"),
        (f"SELECT kind, sum(count(*)) OVER () {FROM} GROUP BY kind", "a window"),
        (f"SELECT kind, count(*) {FROM} GROUP BY kind UNION ALL SELECT 1, 2", "UNION"),
        (f"SELECT t.kind, count(*) {FROM} JOIN ({TABLE}) AS u ON u.kind = t.kind GROUP BY t.kind", "join"),
        (f"SELECT kind, count(*) {FROM} GROUP BY ROLLUP(kind) HAVING count(*) > 3", "totals are shown"),
        (f"SELECT n, count(*) FROM (SELECT kind AS n, region {FROM} GROUP BY kind, region) AS g GROUP BY n", "grouped"),
        (f"SELECT DISTINCT count(*) {FROM} GROUP BY kind", "DISTINCT"),
    ],
)
def test_what_is_not_read_does_not_pass(engine: Engine, query: str, reason: str) -> None:
    found = judged(engine, query, ["threshold=2"])
    assert found.status.value == "undetermined"
    assert reason in " ".join(problem.message for problem in found.problems)


def test_people_of_a_join_are_counted_once(engine: Engine) -> None:
    query = f"SELECT t.region, count(*) {FROM} JOIN ({TABLE}) AS u ON u.kind = t.kind GROUP BY t.region"
    found = judged(engine, query, ["threshold=2"], person="t.who")
    assert (found.cells, found.unsafe_cells) == (3, 1)  # region c has one person, in three rows
    counted = query.replace("count(*)", "count(DISTINCT t.who)")
    assert judged(engine, counted, ["threshold=2"], person="t.who").unsafe_cells == 1


def test_a_query_of_rows_still_needs_its_dimensions() -> None:
    with pytest.raises(UsageError, match="The query returns rows: its columns are values of single people"):
        sqlaudit.aggregates(query="SELECT * FROM (VALUES (1)) AS t(a)", require=["threshold=2"])
    for more in ({"where": "a = 1"}, {"protect": True}, {"hidden": "*"}, {"grouping": "a"}):
        with pytest.raises(UsageError, match="one answer"):
            sqlaudit.aggregates(query="SELECT count(*) FROM (VALUES (1)) AS t(a)", require=["threshold=2"], **more)


def test_odd_names_are_names() -> None:
    names = '"a, ""b""; (😀)"'
    import duckdb

    with duckdb.connect() as connection:
        connection.sql(f"CREATE TABLE people AS SELECT * FROM (VALUES ('x', 1), ('x', 2), ('y', 3)) AS t({names}, who)")
        query = f'SELECT {names}, who AS "a  b 😀", count(*) FROM people GROUP BY ROLLUP({names}, who)'
        found = sqlaudit.aggregates(query=query, require=["threshold=2"], person="who", db=connection)
    assert (found.cells, found.unsafe_cells) == (6, 4)


def test_full_cell_needs_cells_that_a_filter_leaves_empty(engine: Engine) -> None:
    query = f"SELECT region, count(*) FILTER (WHERE kind = 1) {FROM} GROUP BY region"
    assert not judged(engine, query, ["full_cell=any"]).passed


@pytest.mark.parametrize("call", ["sum(ill)", "avg(ill)", "sum(ill + 0)", "sum(CAST(ill AS DOUBLE PRECISION))"])
def test_a_sum_of_0_and_1_is_a_count(engine: Engine, call: str) -> None:
    """Of 12 people, 3 have 1: a threshold of 10 is met by the number of people, and not by those who are counted."""
    table = values_query(
        [{"zip": "a", "ill": int(n < 3)} for n in range(12)] + [{"zip": "b", "ill": int(n < 11)} for n in range(30)],
        {"zip": "text", "ill": "int"},
    )
    found = judged(engine, f"SELECT zip, {call} AS n FROM ({table}) AS t GROUP BY zip", ["threshold=10"])
    assert [(rule.cells, found.passed) for rule in found.rules] == [(1, False)]
    counted = judged(
        engine, f"SELECT zip, count(*) FILTER (WHERE ill = 1) AS n FROM ({table}) AS t GROUP BY zip", ["threshold=10"]
    )
    assert [rule.cells for rule in counted.rules] == [1]
    # Less the whole, those with 0: 9 people of the first cell
    with_whole = f"SELECT zip, count(*) AS all_rows, sum(ill) AS n FROM ({table}) AS t GROUP BY zip"
    assert [rule.cells for rule in judged(engine, with_whole, ["threshold=10"]).rules] == [2]


def test_a_sum_of_other_numbers_is_none(engine: Engine) -> None:
    table = values_query([{"n": n % 3} for n in range(12)], {"n": "int"})
    assert judged(engine, f"SELECT sum(n) AS s FROM ({table}) AS t", ["threshold=10"]).passed
    zeros = values_query([{"n": 0} for _ in range(12)], {"n": "int"})
    assert judged(engine, f"SELECT sum(n) AS s FROM ({zeros}) AS t", ["threshold=10"]).passed
