"""Rows that come to a table: the classes that change, on every engine, beside the disclosure of all rows at once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.audits.disclosure.what_if import grown_classes
from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Roles, Target
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from tests.audit_values import values_query
from tests.strategies import run

COLUMNS = {"age": "int", "sex": "text", "s": "text"}
ROLES = Roles(("age", "sex"), ("s",))
_ROW = st.tuples(st.sampled_from([30, 40, None]), st.sampled_from(["f", None]), st.sampled_from(["flu", "cold", None]))
_ROWS = st.lists(_ROW, min_size=1, max_size=6)


def _table(rows: list[tuple[Any, ...]], columns: dict[str, str] = COLUMNS) -> Target:
    return Target(query=values_query([dict(zip(columns, row, strict=True)) for row in rows], columns))


@run(10)
@given(_ROWS, _ROWS, _ROWS)
def test_classes_grow_as_if_all_rows_were_read_again(
    engine: Engine, first: list[Any], then: list[Any], last: list[Any]
) -> None:
    asked: dict[str, Any] = {"qi": ["age", "sex"], "sensitive": "s", "knowledge": 2, "db": engine}
    index = sqlaudit.disclosure_curve(_table(first), **asked).disclosure.index()
    tables = [_table(first)]
    for rows in (then, last):
        tables.append(_table(rows))
        found = grown_classes(engine, tables, ROLES)
        assert found.rows == len(rows)
        assert len(found.come) == len({row[:2] for row in rows})
        index.replace(found.gone, found.come)
    whole = sqlaudit.disclosure_curve(_table(first + then + last), **asked).disclosure
    assert index.curve.points == whole.points


def test_counts_before_and_after(engine: Engine) -> None:
    first = [(30, "f", "flu"), (30, "f", "flu"), (30, "f", "cold"), (40, "f", "flu")]
    found = grown_classes(
        engine, [_table(first), _table([(30, "f", "cold"), (50, "f", "flu"), (50, "f", None)])], ROLES
    )
    assert sorted(map(sorted, found.gone)) == [[1, 2]]
    assert (sorted(map(sorted, found.come)), found.rows) == ([[1, 1], [2, 2]], 3)


@pytest.mark.parametrize(
    ("roles", "columns", "said"),
    [
        (Roles(("age", "sex"), ("s",), entity="sex2"), COLUMNS, "Added rows are counted as rows, and missing"),
        (
            ROLES,
            {"age": "text", "sex": "text", "s": "text"},
            "query: age is text there and integer in the audited table",
        ),
        (ROLES, {"age": "int", "sex": "text", "ill": "text"}, "query has no column 's'"),
    ],
)
def test_rows_of_another_kind_are_refused(roles: Roles, columns: dict[str, str], said: str) -> None:
    row = ("30" if columns["age"] == "text" else 30, "f", "flu")
    with connect() as engine, pytest.raises(UsageError) as caught:
        grown_classes(engine, [_table([(30, "f", "flu")]), _table([row], columns)], roles)
    assert said in str(caught.value)
