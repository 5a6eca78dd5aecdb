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
from sqlaudit.classes import histogram
from sqlaudit.classes.facts import Frame
from sqlaudit.classes.histogram import Share, shares_of
from sqlaudit.engines import connect
from tests.classes.test_forms import FEWER, REQUIRED, assert_same


def rows(values: int, seed: int) -> pd.DataFrame:
    """A key of a number, a date and a text, with missing ones; so many sensitive values; persons in several rows."""
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


def audited(frame: pd.DataFrame, require: Sequence[str] = ("k=9", "l=3"), **more: Any) -> AuditResult:
    return sqlaudit.audit(frame, qi=["age", "born", "town"], sensitive="s", require=require, failing_classes=5, **more)


def in_parts(result: AuditResult) -> int:
    return sum("HASH" in one.sql and "% " in one.sql for one in result.statements)


@pytest.mark.parametrize("entity", [None, "who"])
@pytest.mark.parametrize("nulls", ["equal", "distinct"])
@pytest.mark.parametrize("values", [4, 60])
def test_parts_say_what_the_whole_says(
    monkeypatch: pytest.MonkeyPatch, values: int, nulls: str, entity: str | None
) -> None:
    frame, require = rows(values, values), REQUIRED if values < 50 else FEWER
    whole = audited(frame, require, nulls=nulls, entity=entity)
    assert in_parts(whole) == 0
    monkeypatch.setattr(histogram, "A_CLASS", 1 << 50)
    monkeypatch.setattr(histogram, "MOST_PARTS", 3)
    parted = audited(frame, require, nulls=nulls, entity=entity)
    assert in_parts(parted) >= 3
    assert_same(whole, parted)


@pytest.mark.parametrize("entity", [None, "who"])
@pytest.mark.parametrize("values", [4, 60])
def test_missing_values_match_the_same_in_parts(
    monkeypatch: pytest.MonkeyPatch, values: int, entity: str | None
) -> None:
    frame = rows(values, values)

    known = {"entity": entity, "known_rows": "one"} if entity else {}

    def found() -> tuple[AuditResult, int]:
        result = audited(frame, nulls="wildcard", **known)
        return result, sum(one.name.startswith("matching rows") for one in result.statements)

    whole, statements = found()
    assert statements == 1
    monkeypatch.setattr(histogram, "OFFERED", 1)
    parted, statements = found()
    assert statements == len(frame[["age", "born", "town"]].isna().drop_duplicates())
    assert_same(whole, parted)


def test_text_that_a_collation_compares_is_one_pattern(tmp_path: Any) -> None:
    path = tmp_path / "towns.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute("CREATE TABLE t (town VARCHAR COLLATE NOCASE, age INTEGER, s VARCHAR)")
        made.execute(
            "INSERT INTO t VALUES ('Ab', 1, 'x'), ('aB', 1, 'y'), ('AB', NULL, 'z'), ('c', 1, 'x'), (NULL, 2, 'x')"
        )
    found = sqlaudit.audit("t", db=str(path), qi=["town", "age"], sensitive="s", nulls="wildcard", require=["k=1"])
    # (c, 1) matches itself; (NULL, 2) itself and AB; Ab and aB each other and AB; AB these two, itself and (NULL, 2)
    assert found.classes.sizes == ((1, 1), (2, 1), (3, 2), (4, 1))


def test_text_that_a_collation_compares_is_not_hashed(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """'Ab' and 'aB' are one class, and have two hashes."""
    path = tmp_path / "towns.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute("CREATE TABLE t (town VARCHAR COLLATE NOCASE, age INTEGER, s VARCHAR)")
        made.execute("INSERT INTO t SELECT unnest(['Ab', 'aB', 'AB', 'c']), 1, 's'")
    monkeypatch.setattr(histogram, "A_CLASS", 1 << 50)
    for qi in (["town"], ["town", "age"]):
        found = sqlaudit.audit("t", db=str(path), qi=qi, sensitive="s", require=["k=1"])
        assert (found.classes.count, found.classes.max_size) == (2, 3)
        assert in_parts(found) == (0 if qi == ["town"] else 24)


def test_how_many_parts() -> None:
    """Enough that each fits the memory; one where all fit, where no key can be hashed, and on other engines."""
    frame = pd.DataFrame({"a": range(5000), "b": "x", "c": [n % 10 for n in range(5000)]})
    with connect(limits=Limits(memory="1MiB")) as engine:
        source = engine.open(Target(frame=frame)).sql
        by_a = Frame(source, ('"a"', '"b"'), None, False, hashed=(True, False))
        shares = shares_of(engine, by_a, 5000)
        assert len(shares) == 3
        assert shares[2] == Share((1,), 3, 2)
        assert shares_of(engine, by_a, 2000) == ()
        assert shares_of(engine, Frame(source, ('"c"',), None, False, hashed=(True,)), 5000) == ()
        assert shares_of(engine, Frame(source, ('"b"',), None, False, hashed=(False,)), 5000) == ()
        assert len(shares_of(engine, Frame(source, ('"c"',), '"a"', False, hashed=(True,)), 50_000)) == 24
