"""Numbers of values on a cluster: no window over what grows with a table brings all of it into one task."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from sqlaudit.base.spec import Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from tests.spark_choice import windows_in_one_task

COLUMN = {"name": "v", "offset": False, "wide": False}
VALUES: dict[str, Sequence[str]] = {
    "INTEGER": ["NULL", "-3", "0", "7", "2147483647"],
    "DOUBLE": ["NULL", "-0.0", "0.0", "1.5", "CAST('nan' AS DOUBLE)", "CAST('infinity' AS DOUBLE)", "-1e300"],
    "VARCHAR": ["NULL", "''", "'a'", "'A'", "'é'", "'z '", "'z'", "'10'", "'9'"],
    "DATE": ["NULL", "CAST('1999-12-31' AS DATE)", "CAST('2000-01-01' AS DATE)"],
    "BOOLEAN": ["NULL", "TRUE", "FALSE"],
}


def coded(engine: Engine, source: str, *, many: bool) -> list[object]:
    """The codes of the column v of a source, in the order of its column i."""
    statement = render(
        "column_sets/columns_codes.sql",
        engine.dialect,
        source=Raw(source),
        columns=[COLUMN],
        kept=[Raw("i")],
        ordered=True,
        many=many,
    )
    return [code for _, code in sorted(engine.run(statement))]


@pytest.mark.spark
@pytest.mark.parametrize("kind", list(VALUES))
def test_ranges_give_the_numbers_of_one_window(engine: Engine, kind: str) -> None:
    random.seed(kind)
    rows = [random.choice(VALUES[kind]) for _ in range(40)]
    listed = ", ".join(f"({i}, {value})" for i, value in enumerate(rows))
    source = engine.open(Target(query=f"SELECT i, CAST(v AS {kind}) AS v FROM (VALUES {listed}) AS t(i, v)")).sql
    assert coded(engine, source, many=True) == coded(engine, source, many=False)


@pytest.mark.spark
def test_many_values_are_numbered_in_their_order(engine: Engine) -> None:
    source = engine.open(Target(query="SELECT i, (i * 7919) % 20011 AS v FROM generate_series(0, 29999) AS t(i)")).sql
    assert coded(engine, source, many=True) == [i * 7919 % 20011 + 1 for i in range(30000)]


@pytest.mark.spark
def test_no_value_at_all(engine: Engine) -> None:
    source = engine.open(Target(query="SELECT 1 AS i, CAST(NULL AS INTEGER) AS v")).sql
    assert coded(engine, source, many=True) == [0]


@pytest.mark.parametrize(
    ("template", "parameters"),
    [
        ("column_sets/columns_codes.sql", {"columns": [COLUMN], "kept": [], "ordered": True}),
        ("remedies/remedy_patterns.sql", {"keys": [Raw("a"), Raw("b")], "collated": [False, False], "others": []}),
    ],
)
def test_many_values_are_numbered_by_many_tasks(template: str, parameters: dict[str, object]) -> None:
    statement = render(template, "spark", source=Raw("t"), many=True, **parameters)
    assert windows_in_one_task(statement.sql) == []
    statement = render(template, "spark", source=Raw("t"), many=False, **parameters)
    assert windows_in_one_task(statement.sql)
