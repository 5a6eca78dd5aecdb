"""Generalized cells: how they are written, what they stand for, and that labels stand for the values that have them."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.columns_of import resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Kind, Statement
from sqlaudit.base.spec import Target
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.workbench import workbench_of
from sqlaudit.hierarchies.cell_reader import CellReader, plain_reader, reader_of
from sqlaudit.hierarchies.cells import AnyValue, Cell, Exact, Interval, LabelNode, Mask, Values, read_cell
from sqlaudit.hierarchies.dictionary import dictionary, membership
from sqlaudit.hierarchies.read import read_hierarchies
from tests.audit_values import values_query
from tests.strategies import run

F = Fraction
CLOSED, RIGHT_OPEN = Interval(F(20), F(30)), Interval(F(20), F(30), False, True)


@pytest.mark.parametrize(
    ("texts", "cell"),
    [
        (["20-30", "20 - 30", "20–30", "20—30", "20−30", "20..30", "20 to 30", "[20, 30]", "[20-30]"], CLOSED),
        (["[20;30]"], CLOSED),
        (["[20-30)", "[20, 30)", "[20,30[", "[20;30)", "[ 20 .. 30 )", "[20 to 30)"], RIGHT_OPEN),
        (["]20,30]", "(20, 30]"], Interval(F(20), F(30), True, False)),
        (["(20, 30)", "]20,30["], Interval(F(20), F(30), True, True)),
        (["<30", "< 30", "(-inf, 30)", "(, 30)", "[-∞,30)"], Interval(None, F(30), False, True)),
        (["≤30", "<=30", "=<30", "⩽ 30", "(,30]"], Interval(None, F(30))),
        ([">40"], Interval(F(40), None, True)),
        (["≥40", ">=40", "=>40", "40+", "[40,)", "[40, ∞)", "[40, inf]"], Interval(F(40), None)),
        (["-5", "−5", "–5", " -5 ", "-5.0"], Exact("-5")),
        (["-10--5", "-10 - -5", "−10–−5", "[-10,-5]"], Interval(F(-10), F(-5))),
        (["-10-5"], Interval(F(-10), F(5))),
        (["1,000", "1 000", "1'000", "1000", "1e3", "+1000"], Exact("1000")),
        (["[1,000,2,000)", "[1,000, 2,000)", "[1000,2,000)", "[1000,2000)"], Interval(F(1000), F(2000), False, True)),
        (["[20,300)"], Interval(F(20), F(300), False, True)),
        (["1,000-2,000"], Interval(F(1000), F(2000))),
        (["3*"], Mask("3*")),
        (["130**"], Mask("130**")),
        (["*", " * "], AnyValue()),
        (["{1, 2.0}", "{1,2}", "{2,1,1}"], Values(frozenset({"1", "2"}))),
        (["{-1}", "{−1}"], Values(frozenset({"-1"}))),
        (["20-20", "[20,20]"], Interval(F(20), F(20))),
        (["", "abc", "30-20", "(20,20]", "1,5", "[20]", "{", "{}", "{a}", "[1,000,000)", "[,]", "<", "20-"], None),
        (["NaN"], None),
    ],
)
def test_cells_of_whole_numbers(texts: list[str], cell: Cell | None) -> None:
    assert [read_cell(text, Kind.INTEGER) for text in texts] == [cell] * len(texts)


def time(*numbers: int) -> datetime.datetime:
    return datetime.datetime(*numbers)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("texts", "low", "high"),
    [
        (
            ["2024", "2024-01..2024-12", "[2024, 2025)", "2024-01-01 - 2024-12-31", "[2024-01-01, 2024-12-31]"],
            time(2024, 1, 1),
            time(2025, 1, 1),
        ),
        (
            ["2024-02", "[2024-02, 2024-02]", "2024-02-01/2024-02-29", "2024-02-01-2024-02-29"],
            time(2024, 2, 1),
            time(2024, 3, 1),
        ),
        (["2024-Q4", "2024Q4", "2024-10 to 2024-12"], time(2024, 10, 1), time(2025, 1, 1)),
        (["1980-1989", "1980–1989", "[1980, 1990)"], time(1980, 1, 1), time(1990, 1, 1)),
        (["2010-12"], time(2010, 12, 1), time(2011, 1, 1)),
        (["(2020-01, 2020-03)"], time(2020, 2, 1), time(2020, 3, 1)),
        (["<1980"], None, time(1980, 1, 1)),
        (["<=1980", "≤1980"], None, time(1981, 1, 1)),
        ([">1980"], time(1981, 1, 1), None),
        ([">=1980", "1980+"], time(1980, 1, 1), None),
        (["9999", "9999-12"][:1], time(9999, 1, 1), None),
        (["[2020-01-01 10:30, 2020-01-02)"], time(2020, 1, 1, 10, 30), time(2020, 1, 2)),
    ],
)
def test_cells_of_dates(texts: list[str], low: Any, high: Any) -> None:
    assert [read_cell(text, Kind.DATE) for text in texts] == [Interval(low, high, False, high is not None)] * len(texts)


def test_days_are_values_of_dates_and_spans_of_times() -> None:
    assert read_cell("2024-02-29", Kind.DATE) == Exact("2024-02-29")
    assert read_cell("2024-02-29", Kind.TIMESTAMP) == Interval(time(2024, 2, 29), time(2024, 3, 1), False, True)
    assert read_cell("2024-02-29T10:00", Kind.TIMESTAMP) == Exact("2024-02-29 10:00:00")
    assert [read_cell(text, Kind.DATE) for text in ("1979-13", "2021-02-29", "29.02.2024", "2024-2", "20-30")] == [
        None
    ] * 5
    assert read_cell("202*-**-**", Kind.DATE) == Mask("202*-**-**")


def test_texts_are_values_unless_they_say_otherwise() -> None:
    for text in ("20-30", "<30", "[a,b)", "-5", " padded ", "", "1,000", "a{b}"):
        assert read_cell(text, Kind.TEXT) == Exact(text)
    assert read_cell("13***", Kind.TEXT) == Mask("13***")
    assert read_cell('{flu, "cold, common"}', Kind.TEXT) == Values(frozenset({"flu", "cold, common"}))
    assert read_cell("True", Kind.BOOLEAN) == Exact("true")
    assert read_cell("yes", Kind.BOOLEAN) is None


DISEASES = {
    "tree": {"chest": {"acute": ["flu", "cold"], "long": ["asthma"]}, "skin": ["rash", "Other"], "Other kinds": ["x"]}
}


def reader(asked: Any, kind: Kind) -> CellReader:
    return plain_reader(read_hierarchies({"c": asked}).for_columns(["c"])[0], kind)


def test_labels_win_over_spellings_and_the_level_that_fits_all_cells_wins() -> None:
    table = {"values": {"1": ["0-4", "0-9"], "7": ["5-9", "0-9"], "12": ["10+", "10+"]}}
    ages = reader(table, Kind.INTEGER)
    assert ages.read_all(["0-4", "*", None]) == {"0-4": LabelNode("0-4", 1), "*": AnyValue(), None: Exact(None)}
    assert ages.read_all(["0-9", "10+"]) == {"0-9": LabelNode("0-9", 2), "10+": LabelNode("10+", 2)}
    assert ages.read("10+") == LabelNode("10+", 1)
    assert ages.read("0-3") == Interval(F(0), F(3))
    assert ages.contains(LabelNode("0-4", 1), "1")
    assert not ages.contains(LabelNode("0-4", 1), "3")
    race = reader({"values": {"White": ["White"], "Other": ["Other"], "Black": ["Other"]}}, Kind.TEXT)
    assert race.read_all(["White", "Other", "Black"])["Other"] == Exact("Other")
    clear = reader({"values": {"W": ["White"], "Other": ["Other"], "Black": ["Other"]}}, Kind.TEXT)
    assert clear.read_all(["White", "Other"])["Other"] == LabelNode("Other", 1)
    assert clear.read_all(["W", "White", "Other"])["Other"] == Exact("Other")


def test_a_named_top_and_a_default_are_labels_too(tmp_path: Any) -> None:
    (tmp_path / "h.csv").write_text("a;x;Any\nb;y;Any\n", encoding="utf-8")
    named = reader({"csv": str(tmp_path / "h.csv"), "default": "rest"}, Kind.TEXT)
    assert named.read("Any") == named.read("*") == AnyValue()
    assert named.read("rest") == LabelNode("rest", 1)
    assert [named.contains(LabelNode("rest", 1), key) for key in ("a", "zz", None)] == [False, True, False]


def test_what_cannot_be_read_is_counted_by_column_and_not_told() -> None:
    with pytest.raises(UsageError) as refusal:
        reader({"widths": [5]}, Kind.INTEGER).read_all(["20-30", "secret", "[5,", "7"])
    assert str(refusal.value) == (
        "c: 2 of 4 different cells of the release cannot be read; a cell is a value, *, [20, 30), 20-30, <30, 13***, "
        "{a, b}, or a label of its hierarchy."
    )


@pytest.mark.parametrize(
    ("asked", "kind", "cell", "other", "covered"),
    [
        ({"widths": [5]}, Kind.INTEGER, "20-29", "[20, 30)", (True, True)),
        ({"widths": [5]}, Kind.INTEGER, "2*", "[20, 30)", (True, True)),
        ({"widths": [5]}, Kind.FLOAT, "20-29", "[20, 30)", (False, True)),
        ({"widths": [5]}, Kind.INTEGER, "<30", "20-29", (True, False)),
        ({"widths": [5]}, Kind.INTEGER, "<30", "20-30", (False, False)),
        ({"widths": [5]}, Kind.INTEGER, "*", ">=0", (True, False)),
        ({"widths": [5]}, Kind.INTEGER, "{1, 2}", "2", (True, False)),
        ({"widths": [5]}, Kind.INTEGER, "1-3", "{1, 2}", (True, False)),
        ({"mask": [1]}, Kind.TEXT, "13***", "1305*", (True, False)),
        ({"mask": [1]}, Kind.TEXT, "13**", "1305*", (False, False)),
        ({"mask": [1]}, Kind.TEXT, "1305*", "13053", (True, False)),
        (DISEASES, Kind.TEXT, "chest", "acute", (True, False)),
        (DISEASES, Kind.TEXT, "acute", "long", (False, False)),
        (DISEASES, Kind.TEXT, "acute", "{flu, cold}", (True, True)),
        (DISEASES, Kind.TEXT, "skin", "rash", (True, False)),
        ({"dates": ["month", "year"]}, Kind.DATE, "2024", "2024-02", (True, False)),
        ({"dates": ["month", "year"]}, Kind.DATE, "2024-02", "2024-02-29", (True, False)),
    ],
)
def test_cells_are_compared_by_what_they_stand_for(
    asked: Any, kind: Kind, cell: str, other: str, covered: tuple[bool, bool]
) -> None:
    column = reader(asked, kind)
    first, second = column.read(cell), column.read(other)
    assert first is not None
    assert second is not None
    assert (column.covers(first, second), column.covers(second, first)) == covered


def test_cells_of_both_releases_are_covered() -> None:
    ages = reader({"widths": [5, 10]}, Kind.INTEGER)
    others = ["[20, 25)", "23", "30", "2*", "*"]
    cells = ages.read_all(["20-29", *others])
    assert [one for one in others if ages.covers(cells["20-29"], cells[one])] == ["[20, 25)", "23", "2*"]


# --- membership: the same in SQL ---


def members(engine: Engine, workbench: Engine, values: Sequence[Any], kind: str, asked: Any, texts: Any) -> Any:
    """(the reader, the cells by code, the values' keys by id, pairs of code and id as SQL finds them, labels by id)."""
    (hierarchy,) = read_hierarchies({"v": asked}).for_columns(["v"])
    relation = engine.open(Target(query=values_query([{"v": value} for value in values], {"v": kind})))
    made = dictionary(
        engine, workbench, relation, resolve("v", relation, engine.dialect, "--qi"), hierarchy, check=False
    )
    rows = workbench.run(Statement("rows", f"SELECT * FROM {made.relation.sql} ORDER BY id"))
    column = reader_of(made, workbench)
    cells = dict(enumerate(column.read_all(texts(rows)).values()))
    pairs = workbench.run(Statement("pairs", "SELECT code, id FROM " + membership(workbench, made, cells).sql))
    for name in ("sqlaudit_dictionary", "sqlaudit_membership"):
        workbench.drop(name)
    assert len(set(pairs)) == len(pairs)
    return column, cells, {row[0]: row[2] for row in rows}, set(pairs), {row[0]: row[5:] for row in rows}


NUMBERS = st.integers(-40, 120)
POOLS: dict[str, tuple[Any, list[Any], list[str]]] = {
    "int": (
        NUMBERS,
        [{"widths": [5, 10], "low": 0, "high": 90}, {"mask": [1]}, {"widths": [3]}, {"sql": ["value % 7"]}],
        ["20-30", "[20,30)", "<30", ">=40", "3*", "{1,2,40}", "*", "-5", "**", "-*", "(0, 10)", "1e2"],
    ),
    "decimal": (st.decimals(-50, 100, places=4), [{"widths": ["0.5", 2]}], ["0-1", "[0,1)", "<0.5", "{1.50, 2}", "7"]),
    "float": (
        st.one_of(st.integers(-100, 100).map(lambda n: n / 10), st.sampled_from([math.nan, math.inf, -math.inf])),
        [{"widths": ["0.1", "0.5"], "low": -5, "high": 5, "default": "?"}],
        ["0.1-0.3", "[0.3, 0.7)", ">0.7", "<=0.3", "0.3", "{0.1,0.2}", "*", "< -3"],
    ),
    "date": (
        st.dates(datetime.date(1950, 1, 1), datetime.date(2030, 1, 1)),
        [{"dates": ["day", "month", "quarter", "year", "decade", "century"]}],
        ["1980-1989", "<1999-05", ">=2000", "2004-02-29", "2004-02", "200*-**-**", "*"],
    ),
    "text": (
        st.sampled_from(["flu", "cold", "asthma", "rash", "x", "Other", "a_b", "a%b", "axb", "", "zz", "!*"]),
        [{**DISEASES, "default": "rest"}, {"mask": [1, 2]}, {"values": {"flu": ["a", "b"], None: ["n", "b"]}}],
        ["flu", "a_*", "***", "{flu, cold, Other}", "*", "!*", "a%*"],
    ),
}


@pytest.mark.parametrize("kind", list(POOLS))
def test_sql_and_python_agree_on_what_lies_in_a_cell(engine: Engine, kind: str) -> None:
    values, hierarchies, spelled = POOLS[kind]

    @run(12)
    @given(st.lists(st.one_of(st.none(), values), max_size=25), st.sampled_from(hierarchies), st.booleans())
    def check(column_values: list[Any], asked: Any, with_labels: bool) -> None:
        def texts(rows: Any) -> list[Any]:
            labels = [label for row in rows for label in row[5:]] if with_labels else []
            return [*spelled, None, *labels]

        column, cells, keys, pairs, _ = members(engine, workbench, column_values, kind, asked, texts)
        for code, cell in cells.items():
            assert {id for at, id in pairs if at == code} == {
                i for i, key in keys.items() if column.contains(cell, key)
            }
        for code, cell in cells.items():
            for other_code, other in cells.items():
                if column.covers(cell, other) and not isinstance(cell, LabelNode) and not isinstance(other, LabelNode):
                    inside = {id for at, id in pairs if at == other_code}
                    assert inside <= {id for at, id in pairs if at == code}

    with workbench_of(engine) as workbench:
        check()


@pytest.mark.parametrize("kind", list(POOLS))
def test_a_label_stands_for_the_values_that_have_it(engine: Engine, kind: str) -> None:
    values, hierarchies, _ = POOLS[kind]

    @run(10)
    @given(st.lists(st.one_of(st.none(), values), max_size=25), st.sampled_from(hierarchies), st.integers(0, 5))
    def check(column_values: list[Any], asked: Any, level: int) -> None:
        chosen = list[Any]()

        def texts(rows: Any) -> list[Any]:
            at = 5 + min(level, len(rows[0]) - 6) if rows else 0
            chosen[:] = list(dict.fromkeys(row[at] for row in rows))
            return chosen

        _, cells, _, pairs, labels = members(engine, workbench, column_values, kind, asked, texts)
        number = min(level, len(next(iter(labels.values()), ())) - 1)
        for code, text in enumerate(chosen):
            found = {id for at, id in pairs if at == code}
            expected = {id for id, own in labels.items() if own[number] == text}
            if text == "*":  # of a single masked character, too
                assert found == set(labels)
            elif text is not None:
                assert found == expected
        assert set(cells) == set(range(len(chosen)))

    with workbench_of(engine) as workbench:
        check()


def test_membership_of_far_and_fine_numbers(engine: Engine) -> None:
    with workbench_of(engine) as workbench:
        values = [Decimal("0.0001"), Decimal("-0.0001"), Decimal("1234567890123.5")]
        texts = ["[0, 0.0001]", "(0, 0.0001)", "<0", ">=1e30", "<1e30", "[-0.0001, 0)"]
        _, _, keys, pairs, _ = members(engine, workbench, values, "decimal", {"widths": [1]}, lambda rows: texts)
    assert keys == {0: "-0.0001", 1: "0.0001", 2: "1234567890123.5"}
    assert pairs == {(0, 1), (2, 0), (4, 0), (4, 1), (4, 2), (5, 0)}
