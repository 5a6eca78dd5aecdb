"""A release is audited as it is published: missing values, populations, beliefs, on both engines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Roles, Target
from sqlaudit.engines.contract import Engine
from sqlaudit.lattices.release import checkable
from sqlaudit.lattices.request import LatticeRequest
from sqlaudit.models.registry import parse_requirement
from tests.audit_values import values_query
from tests.strategies import run

COLUMNS = {"age": "int", "sex": "text", "s": "text"}
LEVELS: Mapping[str, Any] = {"age": {"widths": [10, 20]}, "sex": {"values": {"f": ["x"], "m": ["x"]}}}
ROW = st.fixed_dictionaries(
    {
        "age": st.sampled_from([None, 3, 12, 15, 24]),
        "sex": st.sampled_from(["f", "m", None]),
        "s": st.sampled_from(["flu", "cold", None]),
    }
)


def label(value: Any, level: int, width: int) -> Any:
    """The label of an age (width 10 and 20) or of a sex (width 0)."""
    if value is None or level == 0:
        return value
    step = width * level
    return f"[{value // step * step}, {value // step * step + step})" if width else "x"


@run(8, some=3)
@given(st.data())
def test_rows_that_lack_a_label_are_alone_where_missing_values_are_distinct(
    engine: Engine, data: st.DataObject
) -> None:
    rows: Sequence[dict[str, Any]] = data.draw(st.lists(ROW, min_size=2, max_size=10))
    required = data.draw(st.sampled_from([["k=2"], ["k=2", "l=2"], ["entropy_l=1.5"]]))
    found = sqlaudit.lattice(
        query=values_query(rows, COLUMNS),
        qi=["age", "sex"],
        sensitive="s",
        hierarchies=LEVELS,
        db=engine,
        require=required,
        suppress="60%",
        nulls="distinct",
        publish_view="v",
        measure="height",
    )
    assert found.best is not None or all("l=" in text for text in required[-1:])
    if found.best is None or found.published is None:
        return
    age, sex = found.best.levels
    tops = {"age": age == 3, "sex": sex == 2}
    keys = [
        ("*" if tops["age"] else label(row["age"], age, 10), "*" if tops["sex"] else label(row["sex"], sex, 0))
        for row in rows
    ]
    assert found.published.audit is not None
    assert found.published.audit.rows == len(rows) - found.best.failing_rows
    released = Counter(tuple(row) for row in engine.run(Statement("release", found.published.select)))
    assert sum(released.values()) == found.published.audit.rows
    if found.best.failing_rows == 0:
        assert released == Counter((*key, row["s"]) for key, row in zip(keys, rows, strict=True))
    if "k=2" in required:
        assert not any(None in row[:2] for row in released)


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database with a table of four and the population that it is a sample of."""
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("clinic.duckdb") as made:
        made.execute(
            "CREATE TABLE people AS SELECT * FROM (VALUES (31, 'f', 'flu'), (34, 'f', 'cold'), (38, 'm', 'flu'),"
            " (39, 'm', 'cold'), (52, 'f', 'flu'), (57, 'f', 'cold'), (58, 'f', 'cold')) AS t(age, sex, dx)"
        )
        made.execute("CREATE TABLE sample AS FROM people WHERE age IN (31, 38, 52, 57)")
    return "clinic.duckdb"


OPTIONS: dict[str, Any] = {"qi": ["age", "sex"], "sensitive": "dx", "hierarchies": {"age": {"widths": [10]}}}


def test_a_population_gets_the_labels_of_the_release(clinic: str) -> None:
    found = sqlaudit.lattice(
        "sample",
        db=clinic,
        require=["k_map=2"],
        inputs={"population": "people"},
        publish_view="v",
        execute=True,
        **OPTIONS,
    )
    assert (found.best and found.best.levels, found.published and found.published.executed) == ((1, 0), True)
    assert found.published is not None
    assert found.published.audit is not None
    audit = found.published.audit
    assert (audit.status, audit.rows, audit.classes, audit.note) == ("pass", 4, 3, "")
    with duckdb.connect(clinic, read_only=True) as made:
        assert made.execute("FROM v ORDER BY ALL").fetchall() == [
            ("[30, 40)", "f", "flu"),
            ("[30, 40)", "m", "flu"),
            ("[50, 60)", "f", "cold"),
            ("[50, 60)", "f", "flu"),
        ]


def test_beliefs_are_left_to_the_search(clinic: str) -> None:
    inputs = {"population": "people", "original_qi": ["age", "sex"]}
    found = sqlaudit.lattice(
        "sample", db=clinic, require=["k=1", "belief=1"], inputs=inputs, publish_view="v", execute=True, **OPTIONS
    )
    assert found.published is not None
    assert found.published.audit is not None
    assert (found.published.audit.status, found.published.audit.failing) == ("pass", ())
    assert found.published.audit.note == (
        "Decided by the search alone, because the release no longer has these values: belief=1."
    )
    only = LatticeRequest(Target("sample"), Roles(("age",), ("dx",)), (parse_requirement("belief=1"),))
    assert (checkable(only), checkable(only, alone=True)) == ((), ())


def test_missing_values_that_match_anything_are_published_as_they_are(clinic: str) -> None:
    with duckdb.connect(clinic) as made:
        made.execute("INSERT INTO sample VALUES (NULL, 'm', 'flu')")
    found = sqlaudit.lattice(
        "sample",
        db=clinic,
        require=["k=2"],
        nulls="wildcard",
        publish_view="v",
        execute=True,
        measure="height",
        **OPTIONS,
    )
    assert found.best is not None
    assert found.best.levels == (0, 1)  # everybody meets the one whose age is missing
    assert found.published is not None
    assert found.published.audit is not None
    assert (found.published.audit.status, found.published.audit.rows) == ("pass", 5)
