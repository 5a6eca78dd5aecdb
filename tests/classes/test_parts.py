"""Classes counted in parts say what classes counted at once say, and no class is parted."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import duckdb
import pandas as pd
import pytest

import sqlaudit
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.spec import Limits, Target
from sqlaudit.classes import histogram, matching
from sqlaudit.classes.facts import Frame
from sqlaudit.classes.histogram import ClassPart, split_classes
from sqlaudit.engines import connect
from tests.classes.test_forms import FEWER, REQUIRED, assert_same


def draw_rows(values: int, seed: int) -> pd.DataFrame:
    """Return rows with a key of a number, a date and a text, some missing, and people in several rows."""
    draw = random.Random(seed)
    frame = [
        {
            "age": draw.choice([None, 0.0, -0.0, 30, 31, 32]),
            "born": draw.choice([None, pd.Timestamp("1990-01-01"), pd.Timestamp("1991-05-05")]),
            "town": draw.choice(["a", "A", None]),
            "s": draw.randrange(values),
            "who": draw.randrange(90),
        }
        for _ in range(260)
    ]
    return pd.DataFrame(frame)


def audit_rows(frame: pd.DataFrame, require: Sequence[str] = ("k=9", "l=3"), **options: Any) -> AuditResult:
    quasi_identifiers = ["age", "born", "town"]
    return sqlaudit.audit(frame, qi=quasi_identifiers, sensitive="s", require=require, failing_classes=5, **options)


def count_partial_statements(result: AuditResult) -> int:
    return sum("HASH" in statement.sql and "% " in statement.sql for statement in result.statements)


@pytest.mark.parametrize("entity", [None, "who"])
@pytest.mark.parametrize("nulls", ["equal", "distinct"])
@pytest.mark.parametrize("values", [4, 60])
def test_parts_say_what_the_whole_says(
    monkeypatch: pytest.MonkeyPatch, values: int, nulls: str, entity: str | None
) -> None:
    frame, require = draw_rows(values, values), REQUIRED if values < 50 else FEWER
    counted_at_once = audit_rows(frame, require, nulls=nulls, entity=entity)
    assert count_partial_statements(counted_at_once) == 0
    monkeypatch.setattr(histogram, "CLASS_BYTES", 1 << 50)
    monkeypatch.setattr(histogram, "MAX_PARTS", 3)
    counted_in_parts = audit_rows(frame, require, nulls=nulls, entity=entity)
    assert count_partial_statements(counted_in_parts) >= 3
    assert_same(counted_at_once, counted_in_parts)


@pytest.mark.parametrize("entity", [None, "who"])
@pytest.mark.parametrize("values", [4, 60])
def test_missing_values_match_the_same_in_parts(
    monkeypatch: pytest.MonkeyPatch, values: int, entity: str | None
) -> None:
    frame = draw_rows(values, values)

    person_options = {"entity": entity, "known_rows": "one"} if entity else {}

    def audit_and_count() -> tuple[AuditResult, int]:
        result = audit_rows(frame, nulls="wildcard", **person_options)
        return result, sum(statement.name.startswith("matching rows") for statement in result.statements)

    matched_at_once, statements = audit_and_count()
    assert statements == 1
    monkeypatch.setattr(histogram, "MAX_OFFERED_CELLS", 1)
    if entity is None:
        monkeypatch.setattr(matching, "_BLOCK_PAIRS", 64)
        monkeypatch.setattr(matching, "_BATCH_CELLS", 100)
        matched_by_codes, statements = audit_and_count()
        assert statements >= 2
        assert_same(matched_at_once, matched_by_codes)
        monkeypatch.setattr(histogram, "MAX_MATCHED_CODES", 0)
    matched_in_parts, statements = audit_and_count()
    assert statements == len(frame[["age", "born", "town"]].isna().drop_duplicates())
    assert_same(matched_at_once, matched_in_parts)


def test_text_that_a_collation_compares_is_one_pattern(tmp_path: Any) -> None:
    path = tmp_path / "towns.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t (town VARCHAR COLLATE NOCASE, age INTEGER, s VARCHAR)")
        connection.execute(
            "INSERT INTO t VALUES ('Ab', 1, 'x'), ('aB', 1, 'y'), ('AB', NULL, 'z'), ('c', 1, 'x'), (NULL, 2, 'x')"
        )
    result = sqlaudit.audit("t", db=str(path), qi=["town", "age"], sensitive="s", nulls="wildcard", require=["k=1"])
    # (c, 1) matches itself; (NULL, 2) itself and AB; Ab and aB each other and AB; AB these two, itself and (NULL, 2)
    assert result.classes.sizes == ((1, 1), (2, 1), (3, 2), (4, 1))


def test_text_that_a_collation_compares_is_not_hashed(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """'Ab' and 'aB' are one class, and have two hashes."""
    path = tmp_path / "towns.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t (town VARCHAR COLLATE NOCASE, age INTEGER, s VARCHAR)")
        connection.execute("INSERT INTO t SELECT unnest(['Ab', 'aB', 'AB', 'c']), 1, 's'")
    monkeypatch.setattr(histogram, "CLASS_BYTES", 1 << 50)
    for qi in (["town"], ["town", "age"]):
        result = sqlaudit.audit("t", db=str(path), qi=qi, sensitive="s", require=["k=1"])
        assert (result.classes.count, result.classes.max_size) == (2, 3)
        assert count_partial_statements(result) == (0 if qi == ["town"] else 24)


def test_how_many_parts() -> None:
    """Enough that each fits the memory; one where all fit, where no key can be hashed, and on other engines."""
    frame = pd.DataFrame({"a": range(5000), "b": "x", "c": [n % 10 for n in range(5000)]})
    with connect(limits=Limits(memory="1MiB")) as engine:
        source = engine.open(Target(frame=frame)).sql
        by_a = Frame(source, ('"a"', '"b"'), None, False, hashed=(True, False))
        parts = split_classes(engine, by_a, 5000)
        assert len(parts) == 3
        assert parts[2] == ClassPart((1,), 3, 2)
        assert split_classes(engine, by_a, 2000) == ()
        assert split_classes(engine, Frame(source, ('"c"',), None, False, hashed=(True,)), 5000) == ()
        assert split_classes(engine, Frame(source, ('"b"',), None, False, hashed=(False,)), 5000) == ()
        assert len(split_classes(engine, Frame(source, ('"c"',), '"a"', False, hashed=(True,)), 50_000)) == 24
