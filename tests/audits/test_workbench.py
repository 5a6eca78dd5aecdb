"""Count vectors on the workbench: the same results as of classes that stay in their database, in few statements."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.errors import EngineError
from sqlaudit.base.result import Status
from sqlaudit.classes import histogram
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from tests.audit_values import values_query
from tests.audits.unwarned import unwarned  # noqa: F401
from tests.engines.test_postgres_equality import make_folded
from tests.postgres_load import Loader
from tests.strategies import run

AuditOn = Callable[..., AuditResult]
COLUMNS = {"q": "int", "r": "text", "s": "text", "t": "int", "p": "text", "w": "int"}
REQUIRED = ["k=2", "l=2", "entropy_l=1.5", "t=0.3", "extended_k=2", "alpha=0.5", "beta=1", "delta_disclosure=0.7"]
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "q": st.sampled_from([1, 2, None]),
            "r": st.sampled_from(["a", "b", None]),
            "s": st.sampled_from(["flu", "HIV", "it's", "", "ä", None]),
            "t": st.sampled_from([1, 2, 3, 40, None]),
            "p": st.sampled_from(["P1", "P2", "P3", "P4"]),
            "w": st.sampled_from([1, 2, 5]),
        }
    ),
    max_size=12,
)


def told(result: AuditResult) -> Any:
    """The figures of a result, without its provenance."""
    parts = ("rows", "classes", "checks", "sensitive", "failing", "failing_total", "failing_unnamed", "worst_classes")
    document = json.loads(json.dumps(result.to_dict()))
    return {part: document[part] for part in parts if part in document}


def assert_alike(one: Any, other: Any) -> None:
    """The same document: integers equal, floats but for rounding."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for name, value in one.items():
            assert_alike(value, other[name])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            assert_alike(left, right)
    elif isinstance(one, float) and isinstance(other, float):
        assert math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    else:
        assert one == other


@given(
    rows=ROWS,
    sensitive=st.sampled_from([[], ["s"], ["t"], ["s", "t"]]),
    roles=st.sampled_from([{}, {"entity": "p"}, {"weights": "w"}, {"joint": True}]),
    nulls=st.sampled_from(["equal", "distinct"]),
    values=st.sampled_from(["exact", "fold"]),
    required=st.booleans(),
)
@run(60, some=4)
def test_what_goes_there_is_what_stays(
    audit_on: AuditOn,
    rows: list[dict[str, Any]],
    sensitive: list[str],
    roles: dict[str, Any],
    nulls: str,
    values: str,
    required: bool,
) -> None:
    asked: dict[str, Any] = {"qi": ["q", "r"], "sensitive": sensitive, "nulls": nulls, "values": values, **roles}
    if required:
        asked["require"] = REQUIRED if sensitive else ["k=2"]
    with connect() as duckdb:
        known = {"known_rows": "one"} if "entity" in roles else {}
        expected = told(sqlaudit.audit(query=values_query(rows, COLUMNS), db=duckdb, **known, **asked))
    assert_alike(told(audit_on(rows, COLUMNS, **asked)), expected)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(histogram, "MAX_NUMBERS_HANDED_OVER", 0)
        assert_alike(told(audit_on(rows, COLUMNS, **asked)), expected)


@pytest.mark.parametrize("number", [0, 47, 48, 49])
def test_with_no_value_and_as_many_as_a_vector_has_and_one_more(audit_on: AuditOn, number: int) -> None:
    rows = [{"q": row % 3, "s": f"v{row % number}"} for row in range(4 * number)]
    asked: dict[str, Any] = {"qi": ["q"], "sensitive": ["s"], "require": ["k=5", "l=3", "t=0.5", "entropy_l=9.5"]}
    with connect() as duckdb:
        expected = told(sqlaudit.audit(query=values_query(rows, {"q": "int", "s": "text"}), db=duckdb, **asked))
    assert_alike(told(audit_on(rows, {"q": "int", "s": "text"}, **asked)), expected)


def test_a_count_of_one_value_fits_its_lane_however_large_it_is(engine: Engine) -> None:
    series = "SELECT CASE WHEN i < 70000 THEN 1 ELSE i % 50 END AS q, i % 2 AS s FROM RANGE(0, 70100) AS t(i)"
    postgres = series.replace("RANGE(0, 70100)", "GENERATE_SERIES(0, 70099)")
    query = postgres if engine.dialect == "postgres" else series
    result = sqlaudit.audit(query=query, db=engine, qi="q", sensitive="s", require=["k=2", "l=2"], failing_classes=0)
    assert (result.classes.count, result.classes.max_size) == (50, 70002)
    assert [(check.level, check.failing_classes) for check in result.checks] == [(2, 0), (1, 50 - 1)]


@pytest.mark.postgres
def test_the_table_is_read_twice(load: Loader, postgres_url: str) -> None:
    rows = [{"q": row % 7, "s": "flu" if row % 3 else "HIV"} for row in range(40)]
    load("read_twice", rows, {"q": "int", "s": "text"})
    with connect(postgres_url) as engine:
        result = sqlaudit.audit("read_twice", db=engine, qi="q", sensitive="s", require=["k=2", "l=2", "t=0.5"])
    reading = [done.name for done in result.statements if "read_twice" in done.sql]
    assert reading == ["sensitive values", "equivalence classes"]


@pytest.mark.spark
def test_spark_reads_the_table_twice_and_keeps_no_checkpoint(spark_url: str) -> None:
    from tests.spark_session import make_views

    with connect(spark_url) as engine:
        people = [{"q": row % 7, "s": "flu" if row % 3 else "HIV"} for row in range(40)]
        make_views(engine, "workbench", "read_twice", people, {"q": "int", "s": "text"})
        table = "workbench.read_twice"
        result = sqlaudit.audit(table, db=engine, qi="q", sensitive="s", require=["k=2", "l=2", "t=0.5"])
    reading = [done.name for done in result.statements if "read_twice" in done.sql]
    assert reading == ["sensitive values", "equivalence classes"]
    assert not any("kept_sqlaudit_classes" in done.sql for done in result.statements)


@pytest.mark.postgres
def test_spellings_are_folded_from_the_values_unless_a_type_hides_some(load: Loader, postgres_url: str) -> None:
    make_folded(load)
    load.execute(
        "CREATE TABLE hidden_spellings (q int, text text, varying varchar(9), padded char(9), hidden folded); "
        "GRANT SELECT ON hidden_spellings TO auditor; INSERT INTO hidden_spellings "
        "SELECT 1, s, s, s, s FROM (VALUES ('flu'), ('Flu'), ('HIV')) AS t(s)"
    )
    found = {}
    for column in ("text", "varying", "padded", "hidden"):
        result = sqlaudit.audit("hidden_spellings", db=postgres_url, qi="q", sensitive=column, require="l=2")
        asked = [done.sql for done in result.statements if done.name == "spellings of " + column]
        found[column] = result.status, any("hidden_spellings" in sql for sql in asked)
    assert found == {
        "text": (Status.UNDETERMINED, False),
        "varying": (Status.UNDETERMINED, False),
        "padded": (Status.UNDETERMINED, True),
        "hidden": (Status.PASS, True),  # the database takes the two for one, and so does the audit
    }


@pytest.mark.parametrize("further", ["", ", (2, NULL)"])
@pytest.mark.spark
def test_a_value_that_came_meanwhile_is_refused(spark_url: str, further: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlaudit.engines.spark.engine import SparkEngine

    whole = SparkEngine.look_up
    monkeypatch.setattr(SparkEngine, "look_up", lambda *asked: whole(*asked[:-1], asked[-1][1:]))
    query = f"SELECT * FROM VALUES (1, 'flu'), (1, 'HIV'), (2, 'HIV'){further} AS t(q, s)"
    with pytest.raises(EngineError, match=r"^2 rows have a sensitive value that was not there when .* Run it again"):
        sqlaudit.audit(query=query, db=spark_url, qi="q", sensitive="s", require="l=2")
