"""Minimal sample uniques, SUDA scores and individual risk: published numbers, and brute force on both engines."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import NullPolicy, Target
from sqlaudit.column_sets import counting
from sqlaudit.column_sets.records.request import RecordRequest
from sqlaudit.column_sets.records.search import find_records, suda_weight
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from tests.cli.runner import run
from tests.column_sets import oracle
from tests.column_sets.test_counting import NAMES, query_of, quick
from tests.column_sets.test_search import tables
from tests.population.oracle import individual_risk
from tests.postgres_load import Loader

QI = ["residence", "gender", "education", "labor"]
SHARED = [
    "U F SecInc Emp",
    "U F SecInc Emp",
    "U F PrimInc NonLF",
    "U M SecComp Emp",
    "R F SecComp Unemp",
    "U M SecComp Emp",
    "U F PrimComp NonLF",
    "U M PostSec Unemp",
    "U F SecInc NonLF",
    "U F SecInc NonLF",
]


def worked_example() -> Target:
    data = pd.DataFrame([row.split() for row in SHARED], columns=QI)
    return Target(frame=data.assign(record=range(1, 11)))


def test_the_worked_example_of_the_suda_literature() -> None:
    with connect() as engine:
        found = find_records(engine, RecordRequest(worked_example(), qi=QI, key=["record"], show_values=True))
    scored = {record.key[0]: record.scores for record in found.top}
    assert {key: (int(s.suda), float(s.ihsn)) for key, s in scored.items()} == {
        3: (6, 1.75),
        5: (12, 3.25),
        7: (6, 1.75),
        8: (10, 2.75),
    }
    assert float(found.file_dis) == pytest.approx(0.006688963, abs=5e-10)
    by_ihsn = {3: 0.005120313, 5: 0.010702061, 7: 0.005120313, 8: 0.008775093}
    assert {key: s.dis_ihsn for key, s in scored.items()} == pytest.approx(by_ihsn, abs=5e-10)
    by_suda = {3: 0.004987, 5: 0.011383, 7: 0.004987, 8: 0.009167}
    assert {key: s.dis_suda for key, s in scored.items()} == pytest.approx(by_suda, abs=5e-7)
    assert (found.rows, found.unique_rows, found.paired_rows, found.records) == (10, 4, 6, 4)
    assert [record.key for record in found.top] == [(5,), (8,), (3,), (7,)]


def test_no_value_is_read_unless_asked_for() -> None:
    with connect() as engine:
        found = find_records(engine, RecordRequest(worked_example(), qi=QI, key=["record"]))
        assert found.top == ()
        assert found.key == ()
        assert not any("SecInc" in done.sql for done in engine.executed)


@pytest.mark.parametrize(
    ("sample", "population", "risk"),
    [(2, 360, 0.005424520), (1, 215, 0.025096439), (2, 152, 0.012563425), (1, 186, 0.028247279)],
)
def test_individual_risk_of_published_frequencies(sample: int, population: int, risk: float) -> None:
    data = pd.DataFrame({"zip": [1] * sample, "weight": [population / sample] * sample})
    with connect() as engine:
        found = find_records(engine, RecordRequest(Target(frame=data), qi=["zip"], weights="weight")).risk
    assert (found.highest, found.mean) == pytest.approx((risk, risk), abs=5e-9)
    assert found.expected == pytest.approx(sample * risk, abs=1e-8)


def individual(f: int, population: float) -> float:
    return 1 / f if population <= f else float(individual_risk(f, Fraction(f) / Fraction(population)))


def check(engine: Engine, target: Target, rows: list[tuple[Any, ...]], size: int, nulls: str) -> None:
    request = RecordRequest(target, tuple(NAMES[:4]), weights="person", max_size=size, nulls=NullPolicy(nulls))
    found = find_records(engine, request)
    expected = oracle.minimal_uniques(rows, 4, size)
    signatures = Counter(tuple(sum(len(c) == k for c in sets) for k in range(1, size + 1)) for sets in expected if sets)
    assert {s: n for s, n, _ in found.scores} == dict(signatures)
    assert found.records == sum(map(bool, expected))
    by_set = Counter(chosen for sets in expected for chosen in sets)
    assert {tuple(NAMES.index(name) for name in names): n for names, n in found.by_set} == dict(by_set)
    weight = {chosen: n * suda_weight(len(chosen), 4, size) for chosen, n in by_set.items()}
    total = sum(weight.values())
    for column, (name, share) in enumerate(found.contributions):
        assert name == NAMES[column]
        assert share == (Fraction(sum(w for c, w in weight.items() if column in c), total) if total else 0)
    groups = oracle.matches(rows, (0, 1, 2, 3), nulls)
    risks = [individual(len(group), sum(rows[j][4] for j in group)) for group in groups]
    assert found.risk.expected == pytest.approx(sum(risks), rel=1e-12)
    assert found.risk.highest == pytest.approx(max(risks), rel=1e-12)
    assert found.risk.above["0.2"] == sum(risk > 0.2 for risk in risks)


weighted = tables.map(lambda rows: [(*row[:4], row[4] * 7 + 1) for row in rows])


@pytest.mark.few_on_postgres(0)
@pytest.mark.parametrize("nulls", list(NullPolicy))
def test_records_on_duckdb(engine: Engine, nulls: NullPolicy) -> None:
    @quick(4, 12)
    @given(weighted, st.integers(1, 4))
    def run(rows: list[tuple[Any, ...]], size: int) -> None:
        check(engine, query_of(rows), rows, size, nulls.value)

    run()


@pytest.mark.postgres
def test_records_on_postgres(load: Loader, postgres_url: str) -> None:
    @quick(3, 6)
    @given(weighted, st.integers(1, 4), st.sampled_from(list(NullPolicy)))
    def run(rows: list[tuple[Any, ...]], size: int, nulls: NullPolicy) -> None:
        types = dict(zip(NAMES, ["int", "text", "float8", "int", "int"], strict=True))
        target = Target(relation=load("records", rows, NAMES, types))
        with connect(postgres_url) as engine:
            check(engine, target, rows, size, nulls.value)
            request = RecordRequest(target, tuple(NAMES[:4]), ("person",), max_size=size, show_values=True, top=3)
            top = find_records(engine, request).top
            assert len(top) == min(3, sum(map(bool, oracle.minimal_uniques(rows, 4, size))))

    run()


@pytest.mark.spark
@pytest.mark.parametrize("most", [counting.MOST_CODES, 0], ids=["codes", "in place"])
def test_records_on_spark(engine: Engine, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "MOST_CODES", most)

    @quick(5 if most else 3)
    @given(weighted, st.integers(1, 4), st.sampled_from(list(NullPolicy)))
    def run(rows: list[tuple[Any, ...]], size: int, nulls: NullPolicy) -> None:
        check(engine, query_of(rows), rows, size, nulls.value)
        request = RecordRequest(query_of(rows), tuple(NAMES[:4]), ("person",), max_size=size, show_values=True, top=3)
        top = find_records(engine, request).top
        assert len(top) == min(3, sum(map(bool, oracle.minimal_uniques(rows, 4, size))))

    run()


def test_weights_must_make_sense() -> None:
    light = Target(frame=pd.DataFrame({"zip": [1, 1], "weight": [0.5, 0.25], "name": ["a", "b"]}))
    missing = Target(frame=pd.DataFrame({"zip": [1, 1], "weight": [2, None]}))
    with connect() as engine:
        with pytest.raises(UsageError, match="In 1 class the weights add up to fewer people than rows"):
            find_records(engine, RecordRequest(light, qi=["zip"], weights="weight"))
        with pytest.raises(UsageError, match="missing, 0 or negative in 1 of 2 rows"):
            find_records(engine, RecordRequest(missing, qi=["zip"], weights="weight"))
        with pytest.raises(UsageError, match="are not numbers"):
            find_records(engine, RecordRequest(light, qi=["zip"], weights="name"))


def test_a_table_without_rows_has_no_figures(tmp_path: Path) -> None:
    file = tmp_path / "empty.csv"
    file.write_text("a,b\n")
    ran = run("records", file, "--qi", "a,b", "--header")
    assert ran.out.startswith(f"{file}: the table has no rows\n\nMethod\n")
