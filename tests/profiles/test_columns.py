"""Column facts against the oracle, shapes of text, sampling, and twins, on every engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Target
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.columns import SHAPES, estimated_distinct, list_sources, spread_rows
from sqlaudit.profiles.result import ColumnFacts, ProfileResult
from tests.audit_values import values_query
from tests.profiles import oracle
from tests.strategies import run

KINDS = {"n": ("int", "integer"), "t": ("text", "text"), "d": ("decimal", "decimal"), "f": ("float", "float")}
POOLS: dict[str, list[Any]] = {
    "n": [1, 2, 3, -7, 10**12],
    "t": ["flu", "Flu", " flu ", "cold  sore", "Cold sore", "", "it's; --", "😀", "é"],
    "d": [Decimal("1.5"), Decimal("2"), Decimal("-3.25"), Decimal("7")],
    "f": [0.5, 2.0, -1e300, 3.0],
}
TWICE = [name + number for number in ("1", "2") for name in POOLS]
ROW = st.tuples(*(st.none() | st.sampled_from(POOLS[name[0]]) for name in TWICE))


def profiled(engine: Engine, rows: Sequence[Sequence[Any]], kinds: dict[str, str], **options: Any) -> ProfileResult:
    """The profile of rows on an engine."""
    query = values_query([dict(zip(kinds, row, strict=True)) for row in rows], kinds)
    return sqlaudit.profile(query=query, db=engine, **options)


def facts_of(engine: Engine, values: Sequence[Any], kind: str = "text", name: str = "x") -> ColumnFacts:
    """The facts of a single column."""
    return profiled(engine, [(value,) for value in values], {name: kind}).columns[0].facts


@run(40)
@given(st.lists(ROW, max_size=9))
def test_facts_are_those_of_the_oracle(engine: Engine, rows: list[tuple[Any, ...]]) -> None:
    result = profiled(engine, rows, {name: KINDS[name[0]][0] for name in TWICE})
    assert result.rows == len(rows)
    for position, name in enumerate(TWICE):
        kind = KINDS[name[0]][1]
        expected = oracle.facts([row[position] for row in rows], kind)
        found = result.column(name).facts
        assert found.kind == kind
        for key, value in expected.items():
            near = pytest.approx(value, rel=1e-12, abs=1e-12) if isinstance(value, float) else value
            assert (name, key, getattr(found, key)) == (name, key, near)
        assert sum(found.shapes.values()) == (found.filled if kind == "text" else 0)


@run(40)
@given(st.lists(st.tuples(*(st.sampled_from([None, "a", "b", "c"]) for _ in range(3))), min_size=2, max_size=7))
def test_twins_are_those_of_the_oracle(engine: Engine, rows: list[tuple[Any, ...]]) -> None:
    result = profiled(engine, rows, {"x": "text", "y": "text", "z": "text"})
    columns = {name: [row[i] for row in rows] for i, name in enumerate("xyz")}
    for twins in result.equivalent_columns:
        first, second = columns[twins.first], columns[twins.second]
        assert oracle.says_the_same(first, second)
        assert twins.equal is (first == second)
    found = {name for twins in result.equivalent_columns for name in (twins.first, twins.second)}
    for name, other in (("x", "y"), ("x", "z")):
        constant = len(set(columns[name])) < 2
        trivial = len(set(columns[name])) == len(rows) and columns[name] != columns[other]
        if not constant and not trivial and oracle.says_the_same(columns[name], columns[other]):
            assert {name, other} <= found


@run(40)
@given(st.lists(st.tuples(*(st.sampled_from([None, *"abcdefgh"]) for _ in range(2))), max_size=60), st.integers(1, 5))
def test_bars_have_the_rows_of_as_many_values(engine: Engine, rows: list[tuple[Any, ...]], bars: int) -> None:
    relation = engine.open(Target(query=values_query([{"x": x, "y": y} for x, y in rows], {"x": "text", "y": "text"})))
    found = spread_rows(engine, relation, list_sources(relation, engine.dialect), 3, bars)
    for place, (common, rare) in enumerate(found):
        sizes = sorted(Counter(row[place] for row in rows).values(), reverse=True)
        shown = [size for size in sizes if size >= 3]
        parts = np.array_split(shown, bars)  # the first parts have one more
        assert common == [np.mean(part) for part in parts if len(part)]
        assert rare == sum(sizes) - sum(shown)
    assert len(found) == 2


SHAPED = {
    "coordinates": ["42.3601, -71.0589", "(42.36011;-71.05891)", "POINT(-71.05 42.36)", "N 42.3601° W 71.0589°"],
    "email": ["ann＠example.org", "ann@example.org", "a.b+c@mail.example.co.uk"],
    "url": ["https://example.org/a?b=c", "www.example.org"],
    "uuid": ["123e4567-e89b-12d3-a456-426614174000"],
    "ip_address": ["192.168.1.10", "2001:db8:0:0:0:0:2:1", "fe80::1:2:3", "2001:db8::1"],
    "mac_address": ["01:23:45:67:89:ab", "01-23-45-67-89-AB", "001A.2B3C.4D10"],
    "date": ["1975-02-28", "28.02.1975", "2/28/75", "1975-02-28T10:00:00Z"],
    "national_id": ["123-45-6789", "123 45 1000"],
    "iban": ["DE89370400440532013000", "GB29 NWBK 6016 1331 9268 19"],
    "card_number": ["4111 1111 1111 1111", "4111111111111111", "3782-822463-10005"],
    "codice_fiscale": ["RSSMRA85T10A562S", "rssmra85t10a562s"],
    "curp": ["GODE561231HDFRRL07"],
    "nino": ["AA 12 34 56 C"],
    "dni": ["12345678Z", "12.345.678-Z"],
    "vin": ["1HGCM82633A004352", "1M8GDM9AXKP042788"],
    "ahv": ["756.9217.0769.85", "7569217076985"],
    "nhs_number": ["943 476 5919", "9434765919"],
    "bsn": ["111222333", "123456782"],
    "pesel": ["44051401359"],
    "number": ["12", "-3.5", "1,5", "053", "12345678", "9434765918", "4111111111111112", "44051401358"],
    "phone": [
        "+49 30 123456",
        "tel:+49 30 123456",
        "tel:+4930123456",
        "(030) 1234567",
        "030/1234567",
        "0301234567",
        "+15551234567",
        "212-555-1234",
        "(212) 555-1234",
    ],
    "free_text": ["Patient was seen on Monday and complained of a headache"],
    "capitalised_words": ["Ann Miller", "Müller, Jürgen", "Mary-Jane O'Neill", "ANN MILLER"],
    "missing": ["?", "N/A", " null ", "Unknown", "", "-"],
    "other": [
        *("flu", "Berlin", "A12", "de", "M", "100-200", "a@b", "New york", "978-3-16-148410-0", "2024-123456"),
        *("DE88 3704 0044 0532 0130 00", "4111 1111 1111 1112", "12345678A", "1HGCM82634A004352", "300.1.2.3"),
        *("10:20:30:40", "12-345-6789", '{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6}'),
    ],
}


def test_texts_are_told_by_their_shape(engine: Engine) -> None:
    assert set(SHAPED) == set(SHAPES)
    for shape, texts in SHAPED.items():
        for text in texts:
            found = facts_of(engine, [text, text, None]).shapes
            assert (text, {name: rows for name, rows in found.items() if rows}) == (text, {shape: 2})


def test_a_constant_column_and_an_empty_one() -> None:
    with connect() as engine:
        constant, empty = facts_of(engine, ["a", "a"]), facts_of(engine, [None, None])
        mixed, none = facts_of(engine, ["a", None]), facts_of(engine, [])
    assert [f.constant for f in (constant, empty, mixed, none)] == [True, True, False, True]
    assert (empty.distinct_share, mixed.distinct_share, none.distinct_share) == (None, 1.0, None)


def test_large_tables_are_looked_at_in_a_sample(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlaudit.profiles.columns.SAMPLE_ROWS", 200)
    monkeypatch.setattr("sqlaudit.profiles.columns.FEW_VALUES", 10)
    half = "CASE WHEN n % 2 = 0 THEN NULL ELSE 'a' END AS half"
    query = f"SELECT n AS id, n % 4 AS few, {half} FROM generate_series(1, 4000) AS g(n)"
    result = sqlaudit.profile(query=query, db=engine, exact_rows=1000)
    identifier, few, halves = (result.column(name).facts for name in ("id", "few", "half"))
    assert (result.rows, identifier.rows, identifier.nulls, halves.nulls) == (4000, 4000, 0, 2000)
    assert not identifier.exact
    assert (identifier.smallest_group, identifier.rows_below_5, identifier.unique_rows) == (None, None, None)
    assert (identifier.entropy, identifier.separation) == (None, None)
    assert 100 < identifier.examined_rows < 320  # 200 are expected; the standard deviation is 14
    assert 3500 <= identifier.distinct <= 4000
    assert identifier.nearly_unique
    # DuckDB guesses that there are few values, and then counts them
    assert few.exact is (engine.name == "DuckDB")
    assert few.distinct == 4
    assert halves.distinct == 1


def test_long_texts_are_sampled_from_a_tenth_of_the_rows(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlaudit.profiles.columns.SAMPLE_ROWS", 200)
    monkeypatch.setattr("sqlaudit.profiles.columns.FEW_VALUES", 10)
    texts = ", ".join(
        f"REPEAT(CAST(n AS VARCHAR) || ' ', {times}) AS {name}" for name, times in (("long", 30), ("short", 1))
    )
    query = f"SELECT n AS id, {texts} FROM generate_series(1000, 2999) AS g(n)"
    result = sqlaudit.profile(query=query, db=engine, exact_rows=10_000, sets=False)
    assert [result.column(name).facts.exact for name in ("id", "long", "short")] == [True, False, True]
    assert result.column("long").proposal.concept == "free_text"


def test_the_estimate_of_different_values_has_its_known_ends() -> None:
    assert estimated_distinct(0, 0, 0, 1000) == 0
    assert estimated_distinct(100, 100, 100, 100) == 100
    assert estimated_distinct(100, 100, 100, 5000) == 5000
    assert estimated_distinct(7, 0, 100, 5000) == 7
    # 100,000 of 10 million rows over a million values: 95,163 different ones expected, 90,484 of them once
    assert estimated_distinct(95_163, 90_484, 100_000, 10_000_000) == pytest.approx(913_199, rel=1e-5)


def test_values_are_read_only_when_asked_for(engine: Engine) -> None:
    rows = [("b", 10), ("a", 9), ("b", 10), (None, 100), ("c", 9)]
    kinds = {"letter": "text", "number": "int"}
    hidden = profiled(engine, rows, kinds)
    assert all(column.values is None for column in hidden.columns)
    assert "values" not in hidden.to_dict()["columns"][0]
    assert "profile_shown" not in [statement.name for statement in hidden.statements]
    shown = profiled(engine, rows, kinds, show_values=True)
    letter, number = shown.column("letter").values, shown.column("number").values
    assert letter is not None
    assert number is not None
    assert (letter.smallest, letter.largest, letter.most_frequent) == ("a", "c", (("b", 2), ("a", 1), ("c", 1)))
    assert (number.smallest, number.largest, number.most_frequent) == ("9", "100", (("9", 2), ("10", 2), ("100", 1)))


def test_wide_tables_take_several_statements(engine: Engine) -> None:
    kinds = {f"column {number}": "int" for number in range(20)}
    result = profiled(engine, [tuple(range(20)), tuple(range(1, 21))], kinds)
    names = [statement.name for statement in result.statements if statement.name.startswith("profile")]
    assert names == ["profile_scan", *["profile_values"] * 3, "profile_pairs"]
    assert {column.facts.distinct for column in result.columns} == {2}


def test_names_need_no_care(engine: Engine) -> None:
    kinds = dict.fromkeys(["select", 'say "hi"', "semi;colon", "Ünïcode", "c0"], "text")
    result = profiled(engine, [("a", "b", "c", "d", "e")], kinds)
    assert [column.name for column in result.columns] == list(kinds)


def test_files_of_text_are_read_once_and_the_copy_goes(tmp_path: Path) -> None:
    file = tmp_path / "many.csv"
    file.write_text("a,b\n" + "".join(f"{number % 3},x{number % 2}\n" for number in range(30)), encoding="utf-8")
    target = Target(relation=str(file))
    with connect(None, None, target) as engine:
        result = sqlaudit.profile(target, db=engine)
        kept = engine.run(Statement("tables", "SELECT COUNT(*) FROM duckdb_tables() WHERE NOT internal"))
    assert [statement.name for statement in result.statements].count("read the columns") == 1
    facts = {column.name: (column.facts.distinct, column.facts.smallest_group) for column in result.columns}
    assert facts == {"a": (3, 10), "b": (2, 15)}
    assert kept == [(0,)]
