"""The physical forms (count vectors, lists of cells) give one answer for any number of values and any counts."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.names import spoken
from sqlaudit.classes import histogram
from sqlaudit.classes.facts import ClassHistogram, Fact, SensitiveTable
from sqlaudit.classes.histogram import HistogramBuilder, Packing
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from tests import oracle
from tests.strategies import fewer, run

AuditOn = Callable[..., AuditResult]
REQUIRED = [
    "k=4",
    "alpha=0.5",
    "l=2",
    "entropy_l=2",
    "recursive_l=c:3,l:2",
    "recursive_l=c:2,l:4",
    "t=0.4",
    "t_ordered=0.3",
    "beta=2",
    "enhanced_beta=2",
    "delta=1",
    "prosecutor_risk=0.2",
    "average_risk=0.3",
    "rows_at_risk=0.5",
    "sample_uniqueness=0.1",
]
# over a count vector, the largest counts and the ordered distance are quadratic in the values: no form for hundreds
FEWER = ["k=4", "l=2", "entropy_l=2", "beta=2", "t=0.4"]


def table(values: int) -> list[dict[str, Any]]:
    """Classes of very different sizes over exactly so many values, each at least once."""
    draw = random.Random(values)
    rows = [{"a": draw.choice([0, 0, 0, 1, 1, 2, 3, 4]), "s": s} for s in range(values)]
    rows += [{"a": draw.choice([0, 1, 2]), "s": min(int(draw.expovariate(0.3)), values - 1)} for _ in range(150)]
    return rows


def assert_same(left: AuditResult, right: AuditResult) -> None:
    """Assert that two results are equal. Sums of floats may be added in another order."""
    assert left.classes == right.classes
    assert left.failing_total == right.failing_total
    for first, second in zip(left.checks, right.checks, strict=True):
        assert first.levels.keys() == second.levels.keys()
        for name, level in first.levels.items():
            assert float(level or 0) == pytest.approx(float(second.levels[name] or 0), rel=1e-12, abs=1e-12)
        assert replace(first, level=0, levels={}) == replace(second, level=0, levels={})


@pytest.mark.parametrize(
    "values", [1, 7, 8, 20, 60, *(pytest.param(number, marks=pytest.mark.all_cases) for number in (48, 49, 200))]
)
def test_count_vectors_and_cells_agree(audit_on: AuditOn, monkeypatch: pytest.MonkeyPatch, values: int) -> None:
    rows = table(values)
    results = {}
    required = REQUIRED if values < 50 else FEWER
    for form, limit in [("packed", 10**6), ("cells", 0)]:
        monkeypatch.setattr(histogram, "PACKED_VALUES", limit)
        results[form] = audit_on(
            rows, {"a": "int", "s": "int"}, qi=["a"], sensitive="s", require=required, failing_classes=None
        )
        assert results[form].sensitive[0].form == form
        assert results[form].sensitive[0].distinct == values
    assert_same(results["packed"], results["cells"])
    assert_right(results["cells"], rows, required)


@pytest.mark.parametrize("values", [7, 60])
def test_products_in_plain_integers_and_in_wide_ones_agree(
    audit_on: AuditOn, monkeypatch: pytest.MonkeyPatch, values: int
) -> None:
    results = []
    for narrow in (ClassHistogram.product_types, lambda *_: {"wider": ""}):
        monkeypatch.setattr(ClassHistogram, "product_types", narrow)
        results.append(
            audit_on(table(values), {"a": "int", "s": "int"}, qi=["a"], sensitive="s", require=REQUIRED[:1] + FEWER[3:])
        )
    assert_same(*results)


def test_products_are_plain_integers_only_where_they_fit(engine: Engine) -> None:
    """Four products of two numbers up to the rows, for each value, and what a limit multiplies them by."""
    fits = SensitiveTable("s", (2**28, 2**28), has_null=False, ordered=True, text=False)
    wide = replace(fits, totals=(2**29, 2**29))
    histograms = [ClassHistogram(engine, values, "classes", "totals", "packed") for values in (fits, wide)]
    small = ClassHistogram(engine, replace(fits, totals=(10, 10)), "classes", "totals", "packed")
    gain = Fact("gain", "gains_above", {"numerator": 10**18, "denominator": 1})
    assert [
        bool(classes.product_types([Fact("d", "equal_distance")])["wider"]) for classes in (*histograms, small)
    ] == [True, False, True]
    assert not small.product_types([gain])["wider"]


def test_sensitive_values_are_counted_in_one_scan() -> None:
    query = "SELECT i % 7 AS a, i % 3 AS s FROM range(60) AS t(i)"
    result = sqlaudit.audit(query=query, qi=["a"], sensitive="s", require=["l=3", "t=0.2"])
    scans = [statement for statement in result.statements if "GROUP BY s\n" in statement.sql]
    assert [statement.name for statement in scans] == ["sensitive values"]


@pytest.mark.parametrize("limit", [10**6, 0], ids=["packed", "cells"])
def test_counts_that_lie_at_a_limit(audit_on: AuditOn, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    """The largest count of each class is c times those from some l-th one on, which is not enough for that l."""
    monkeypatch.setattr(histogram, "PACKED_VALUES", limit)
    for counts, c in (((6, 2), 3), ((4, 2, 1, 1), 2), ((4, 2, 1, 1), 4), ((3, 2, 1), 1)):
        rows = [{"a": 0, "s": s} for s, count in enumerate(counts) for _ in range(count)]
        required = [f"recursive_l=c:{c},l:{l}" for l in (2, 3)]
        result = audit_on(rows, {"a": "int", "s": "int"}, qi=["a"], sensitive="s", require=required)
        assert_right(result, rows, required)
        enough = [l for l in range(1, len(counts) + 1) if counts[0] < c * sum(counts[l - 1 :])]
        assert counts[0] == c * sum(counts[max(enough) :])
        assert [check.levels["largest_l"] for check in result.checks] == [max(enough)] * 2


def test_the_ordered_distance_over_many_values(audit_on: AuditOn) -> None:
    rows = table(200)
    required = ["t_ordered=0.3", "t_ordered=0.1"]
    assert_right(audit_on(rows, {"a": "int", "s": "int"}, qi=["a"], sensitive="s", require=required), rows, required)


def assert_right(result: AuditResult, rows: list[dict[str, Any]], required: list[str]) -> None:
    expected = oracle.table_of(rows, ["a"], "s")
    for check, request in zip(result.checks, required, strict=True):
        parameters = sqlaudit.models.registry.parse_requirement(request).parameters
        answer = oracle.MODELS[check.model](expected, **parameters)
        assert float(check.level or 0) == pytest.approx(float(answer.level), rel=1e-12, abs=1e-12)
        assert check.failing_rows == answer.failing_rows
        assert (check.status == "pass") == answer.holds


def test_a_form_is_chosen_by_the_number_of_values(audit_on: AuditOn) -> None:
    for values, form in [(histogram.PACKED_VALUES, "packed"), (histogram.PACKED_VALUES + 1, "cells")]:
        result = audit_on(table(values), {"a": "int", "s": "int"}, qi=["a"], sensitive="s", require=["l=1"])
        assert result.sensitive[0].form == form


def test_relations_are_named_by_what_they_hold(engine: Engine) -> None:
    facts = [
        Fact("near", "grouped_distance", {"groups": [[0, 1], [2, 3]]}),
        Fact("far", "grouped_distance", {"groups": [[0, 3], [1], [2]]}),
        Fact("of_all", "largest_l", {"numerator": 3, "denominator": 1, "lanes": None}),
        Fact("of_some", "largest_l", {"numerator": 3, "denominator": 1, "lanes": [1, 2]}),
    ]
    table = SensitiveTable("s", (4, 3, 2, 1), has_null=False, ordered=True, text=False)
    sql = (
        ClassHistogram(engine, table, "classes", "totals", "cells")
        .statement("classes/figures.sql", facts, "x", levels=[], verdicts=[])
        .sql
    )
    names = re.findall(r"(\w+) AS (?:NOT )?(?:MATERIALIZED )?\(\s", sql)
    assert names == ["class", "long", "all_lanes", "cells", "positioned", "level_1", "level_2", "facts"]
    assert set(re.findall(r"greatest_\w+", sql)) == {"greatest_count", "greatest_of_set_1"}


def test_lanes_are_as_wide_as_the_largest_count_and_words_are_filled() -> None:
    packing = Packing.plan(40, 255, "duckdb")
    assert packing.bits == 8
    assert [len(word) for word in packing.words] == [15, 15, 10]
    assert packing.words[1][0] == (15, 0)
    assert packing.words[1][14] == (29, 112)
    assert packing.weights_of(29) == [0, 2**112, 0]
    assert [len(word) for word in Packing.plan(5, 10**6, "postgres").words] == [2, 2, 1]
    assert Packing.plan(3, 2**31, "postgres").words == (((0, 0),), ((1, 0),), ((2, 0),))


def test_a_word_keeps_room_for_counts_above_the_guess() -> None:
    packing = Packing.plan(126, 1, "duckdb", largest_possible=2**33)
    top = max(shift for word in packing.words for _, shift in word)
    assert top + (2**33).bit_length() <= 126


@pytest.mark.parametrize("lanes", [1, 2, 7, 8, 14, 33, 48])
@pytest.mark.parametrize("largest", [1, 3, 100, 511, 2**20])
def test_words_are_filled_where_the_width_is_a_guess(lanes: int, largest: int) -> None:
    most = 2**23
    packing = Packing.plan(lanes, largest, "duckdb", most)
    as_narrow = 1 + (126 - most.bit_length()) // max(1, largest.bit_length())
    assert len(packing.words) == -(-lanes // as_narrow)
    assert packing.capacity >= largest
    assert max(shift for word in packing.words for _, shift in word) + most.bit_length() <= 126
    assert [lane for word in packing.words for lane, _ in word] == list(range(lanes))


def test_fourteen_lanes_in_two_words_hold_seventeen_bits() -> None:
    packing = Packing.plan(14, 511, "duckdb", 10**6)
    assert ([len(word) for word in packing.words], packing.capacity) == ([7, 7], 2**17 - 1)


@pytest.mark.parametrize("size", [254, 255, 256])
def test_neighbouring_lanes_at_their_capacity_do_not_spill(engine: Engine, size: int) -> None:
    """33 values, each `size` times in each of two classes: every lane of every word holds its largest count."""
    series = f"(SELECT CAST(g AS BIGINT) AS i FROM generate_series(0, {66 * size - 1}) AS t(g)) AS x"
    query = "SELECT i % 2 AS a, (i / 2) % 33 AS s FROM " + series
    if engine.dialect != "postgres":
        query = query.replace("(i / 2)", "(i // 2)")
    result = sqlaudit.audit(
        query=query, db=engine, qi=["a"], sensitive="s", require=["k=1", "l=33", "entropy_l=33", "t=0", "alpha=1/33"]
    )
    assert result.classes.sizes == ((33 * size, 2),)
    assert [check.status for check in result.checks] == ["pass"] * 5


def test_only_classes_that_overflow_are_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """One class of 90 rows among 300 small ones; where most rows lie in such classes, all are counted again."""
    monkeypatch.setattr(histogram, "spoken", lambda dialect: replace(spoken(dialect), word_bits=40))
    monkeypatch.setattr(HistogramBuilder, "_guess_largest_count", lambda *_: 3)
    rows = [(number // 3, number % 14) for number in range(900)] + [(1000, number % 14) for number in range(90)]
    statements = []
    for table in (rows, rows[-90:]):
        frame = pd.DataFrame(table, columns=["a", "s"])
        with connect() as engine:
            result = sqlaudit.audit(frame, db=engine, qi=["a"], sensitive="s", require=["k=4", "l=14"])
            statements.append([done.sql for done in engine.executed if done.name == "equivalence classes"])
        assert result.checks[1].failing_rows == len(table) - 90
    assert [["SEMI JOIN" in sql for sql in texts] for texts in statements] == [[False, True], [False, False]]


@pytest.mark.parametrize("engine_name", ["duckdb"], indirect=True)
def test_a_wrong_guess_of_the_lanes_width_changes_nothing(audit_on: AuditOn, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"a": n % 3 and 1, "s": (n * n) % 41} for n in range(1200)]
    request = {"qi": ["a"], "sensitive": "s", "require": [*FEWER, "recursive_l=c:3,l:2", "delta=1"]}
    right = audit_on(rows, {"a": "int", "s": "int"}, **request)
    for guess in (1, 3, 255, 1000):
        monkeypatch.setattr(HistogramBuilder, "_guess_largest_count", lambda *_, width=guess: width)
        assert_same(audit_on(rows, {"a": "int", "s": "int"}, **request), right)


def shaped(values: int, shape: str, seed: int) -> pd.DataFrame:
    """Return a table of few or many classes: even, or with nearly all rows in one class, or sorted by class."""
    draw = random.Random(seed)
    share_of_largest = 0.999 if shape == "skewed" else 0.3

    def draw_row(number: int) -> tuple[int | None, str | None, int | None, int]:
        if number >= values and draw.random() < share_of_largest:
            return 0, "x", 0, draw.randrange(700)
        key = draw.choice([None, 0, 1, 2, 3, 4])
        return key, draw.choice([None, "x", "y"]), number if number < values else draw.randrange(values), number

    rows = [draw_row(number) for number in range(values + 600)]
    if shape == "sorted":
        rows.sort(key=lambda row: (row[0] or 0, row[1] or ""))
    if draw.random() < 0.3:
        rows += [(0, "x", None, 1), (2, "y", None, 2)]
    table = pd.DataFrame(rows, columns=["a", "b", "s", "e"])
    return table.astype({"a": "Int64", "b": "string", "s": "Int64", "e": "Int64"})


ANY_ORDER = [text for text in REQUIRED if "ordered" not in text]  # NULL has no rank


@pytest.mark.parametrize("shape", ["even", "skewed", "sorted"])
def test_the_forms_agree_whatever_overflows(shape: str) -> None:
    @run(8, some=3)
    @given(
        st.sampled_from([1, 2, 7, 14, 48, 49, 300]),
        st.integers(0, 10**6),
        st.sampled_from([1, 3, 15, 200]),
        st.sampled_from(["equal", "distinct"]),
        st.booleans(),
    )
    def compare(values: int, seed: int, guess: int, nulls: str, persons: bool) -> None:
        table = shaped(values, shape, seed)
        results = []
        for most, width, coded in [(10**6, None, 10**6), (10**6, guess, 10**6), (0, None, 10**6), (0, None, 0)]:
            with pytest.MonkeyPatch.context() as patch, connect() as engine:
                patch.setattr(histogram, "PACKED_VALUES", most)
                patch.setattr(histogram, "CODED_ROWS", coded)
                if width:
                    patch.setattr(histogram, "spoken", lambda dialect: replace(spoken(dialect), word_bits=40))
                    patch.setattr(HistogramBuilder, "_guess_largest_count", lambda *_, width=width: width)
                results.append(
                    sqlaudit.audit(
                        table,
                        db=engine,
                        qi=["a", "b"],
                        sensitive="s",
                        entity="e" if persons else None,
                        nulls=nulls,
                        require=ANY_ORDER if values < 40 else FEWER,
                        failing_classes=None,
                    )
                )
        assert_same(results[0], results[2])
        assert_same(results[1], results[2])
        assert_same(results[3], results[2])

    compare()


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(number, marks=pytest.mark.all_cases) for number in (2, 3))])
@pytest.mark.parametrize(
    "request_of",
    [
        {},
        {"require": ["k=2", "l=2", "t=0.3", "disclosure=c:0.5,k:1"]},
        {"require": ["k=3", "entropy_l=1.5"], "show_values": True, "failing_classes": None},
        {"require": ["k=2", "l=2"], "nulls": "distinct", "worst_classes": 0},
    ],
    ids=["everything", "required", "shown", "apart"],
)
def test_facts_that_are_kept_change_nothing(
    monkeypatch: pytest.MonkeyPatch, seed: int, request_of: dict[str, Any]
) -> None:
    draw = random.Random(seed)
    data = pd.DataFrame(
        [
            {"a": draw.choice([None, 0, 0, 1, 2]), "b": draw.choice("xyz"), "s": f"v{int(draw.expovariate(0.4)) % 9}"}
            for _ in range(90)
        ]
    )
    monkeypatch.setattr(histogram, "PACKED_VALUES", 0)

    def audit_data() -> tuple[dict[str, Any], set[str]]:
        document = sqlaudit.audit(data, qi=["a", "b"], sensitive="s", **request_of).to_dict()
        steps = {statement["name"] for statement in document.pop("statements")}
        return {name: value for name, value in document.items() if name != "time"}, steps

    with_facts, steps = audit_data()
    monkeypatch.setattr(HistogramBuilder, "keep_facts", lambda builder, classes, facts: classes)
    without_facts, other_steps = audit_data()
    assert with_facts == without_facts
    assert steps - other_steps == {"facts of classes"}


@pytest.fixture
def coded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histogram, "PACKED_VALUES", 0)
    monkeypatch.setattr(histogram, "CODED_ROWS", 0)


def document_of(result: AuditResult) -> dict[str, Any]:
    document = result.to_dict()
    return {name: value for name, value in document.items() if name not in ("time", "statements")}


def is_nearly_equal(left: Any, right: Any) -> bool:
    """Return True if two documents are equal but for the last digits of floats."""
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(is_nearly_equal(left[name], right[name]) for name in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(is_nearly_equal, left, right))
    return bool(left == (pytest.approx(right, rel=1e-12) if isinstance(left, float) else right))


def steps_of(result: AuditResult) -> set[str]:
    return {statement["name"] for statement in result.to_dict()["statements"]}


KEYS_OF_A_KIND = {
    "whole": [-(2**31), None, 0, 2**31 - 1],
    "wide": [-(2**60), 2**60, None, 5],
    "text": ["a", "A", "", None, "ä"],
    "float": [0.0, -0.0, float("nan"), float("inf"), None, 1e-300],
    "flag": [True, None, False],
    "day": [pd.Timestamp("2020-02-29"), pd.Timestamp("1900-01-01"), None],
    "one": [7],
}


@pytest.mark.parametrize("kind", sorted(KEYS_OF_A_KIND))
def test_one_number_a_cell_changes_nothing_for_any_kind_of_key(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Every figure, the classes that fall short and the worst ones, with NULLs in the key and in the values."""
    draw = random.Random(kind)
    values = KEYS_OF_A_KIND[kind]
    rows = [
        (draw.choice(values), draw.choice([1, 2, None]), draw.choice([None, *range(60)]) if draw.random() < 0.7 else 3)
        for _ in range(500)
    ]
    columns = {"a": pd.Series([row[0] for row in rows], dtype={"whole": "Int64", "wide": "Int64"}.get(kind))}
    columns |= {name: pd.Series([row[i] for row in rows], dtype="Int64") for i, name in [(1, "b"), (2, "s")]}
    request = {"qi": ["a", "b"], "sensitive": "s", "worst_classes": 3, "failing_classes": None}
    requirements = [ANY_ORDER, []] if kind in ("whole", "text") or fewer(2, 1) == 2 else [ANY_ORDER]
    results: list[list[AuditResult]] = []
    for rows_at_least in (10**6, 0):
        monkeypatch.setattr(histogram, "CODED_ROWS", rows_at_least)
        frame = pd.DataFrame(columns)
        results.append([sqlaudit.audit(frame, **request, require=required) for required in requirements])
    assert is_nearly_equal(*([document_of(result) for result in pair] for pair in results))
    is_coded = [["cells found" in steps_of(result) for result in pair] for pair in results]
    assert is_coded == [[False] * len(requirements), [kind != "wide"] * len(requirements)]


def test_a_distance_that_every_value_of_a_class_adds_to_is_exact(coded: None) -> None:
    """Classes of one to 40 rows: in some every value is over-represented, in some one is exactly as frequent."""
    rows = [(size, number % 10) for size in range(1, 41) for number in range(size)] + [(50, s) for s in range(60)]
    table = oracle.table_of([{"a": a, "s": s} for a, s in rows], ["a"], "s")
    result = sqlaudit.audit(
        pd.DataFrame(rows, columns=["a", "s"]), qi=["a"], sensitive="s", require=["t=0.5", "enhanced_beta=3"]
    )
    assert {"facts of classes", "facts of separate classes"} <= steps_of(result)
    for check, (model, parameters) in zip(
        result.checks, [("t_closeness", {"t": Fraction(1, 2)}), ("enhanced_beta_likeness", {"beta": 3})], strict=True
    ):
        expected = oracle.MODELS[model](table, **parameters)
        assert check.failing_rows == expected.failing_rows
        assert float(check.level or 0) == pytest.approx(float(expected.level), rel=1e-12)


def test_rows_without_a_code_are_counted_the_other_way(coded: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a dictionary or a range turns out too small, no one is merged with somebody else."""
    table = pd.DataFrame([(n % 7, f"x{n % 40}", n % 55) for n in range(900)], columns=["a", "b", "s"])
    request = {"qi": ["a", "b"], "sensitive": "s", "require": ["k=2", "l=3"]}
    right = document_of(sqlaudit.audit(table, **request))
    for narrow in (lambda position, *_: (position, 2, 0, False), lambda position, *_: (position, 2, None, False)):
        with monkeypatch.context() as patch:
            plan_code = histogram._plan_code
            patch.setattr(
                histogram,
                "_plan_code",
                lambda position, is_integer, *rest, narrow=narrow, plan=plan_code: (
                    narrow(position) if is_integer == (narrow(1)[2] is not None) else plan(position, is_integer, *rest)
                ),
            )
            result = sqlaudit.audit(table, **request)
        assert document_of(result) == right
        steps = [statement["name"] for statement in result.to_dict()["statements"]]
        assert steps.count("equivalence classes") == 2


def test_a_column_of_many_texts_is_not_coded(coded: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histogram, "MAX_DICTIONARY_VALUES", 5)
    table = pd.DataFrame([(f"x{n % 40}", n % 55) for n in range(900)], columns=["b", "s"])
    assert "cells found" not in steps_of(sqlaudit.audit(table, qi=["b"], sensitive="s", require=["k=2"]))
