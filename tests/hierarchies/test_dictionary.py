"""Dictionaries of columns: values, rows, labels and checks, the same wherever the table lies."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.columns_of import resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Kind, Statement
from sqlaudit.base.spec import ReadOptions, Target
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.workbench import workbench_of
from sqlaudit.hierarchies.dictionary import Dictionary, dictionary
from sqlaudit.hierarchies.levels import Hierarchy
from sqlaudit.hierarchies.read import read_hierarchies
from tests.audit_values import values_query
from tests.hierarchies import oracle
from tests.places import REPOSITORY
from tests.strategies import run

Lines = list[tuple[Any, ...]]


def made(
    engine: Engine, values: Sequence[Any], kind: str, asked: Any, column: str = "v", *, check: bool = True
) -> tuple[Dictionary, Lines]:
    """The dictionary of a column of these values, and its rows: id, v, key, row_count, covered, l1, …"""
    with workbench_of(engine) as workbench:
        return made_on(engine, workbench, values, kind, asked, column, check=check)


def made_on(
    engine: Engine,
    workbench: Engine,
    values: Sequence[Any],
    kind: str,
    asked: Any,
    column: str = "v",
    *,
    check: bool = True,
) -> tuple[Dictionary, Lines]:
    """The same on a workbench that stays open."""
    query = values_query([{"v": value} for value in values], {"v": kind})
    (hierarchy,) = read_hierarchies({column: asked}).for_columns([column])
    relation = engine.open(Target(query=query))
    resolved = resolve(column, relation, engine.dialect, "--qi")
    found = dictionary(engine, workbench, relation, resolved, hierarchy, check=check)
    rows = workbench.run(Statement("dictionary", f"SELECT * FROM {found.relation.sql} ORDER BY id"))
    workbench.drop("sqlaudit_dictionary")
    return found, rows


def test_a_dictionary_by_hand(engine: Engine) -> None:
    found, rows = made(engine, [34, 38, 38, None, 51], "int", {"widths": [5, 10]})
    assert [(row[0], row[2], row[3], row[4:]) for row in rows] == [
        (0, "34", 1, (True, "[30, 35)", "[30, 40)", "*")),
        (1, "38", 2, (True, "[35, 40)", "[30, 40)", "*")),
        (2, "51", 1, (True, "[50, 55)", "[50, 60)", "*")),
        (3, None, 1, (True, None, None, "*")),
    ]
    assert [row[1] for row in rows] == [34, 38, 51, None]
    assert [(level.groups, level.smallest, level.largest) for level in found.levels] == [
        (4, 1, 2),
        (4, 1, 2),
        (3, 1, 3),
        (1, 5, 5),
    ]
    assert (found.rows, found.missing_rows, found.nested, found.problems) == (5, 1, True, ())
    assert found.holds.kind is Kind.INTEGER
    assert [column.name for column in found.relation.columns] == [
        "id",
        "v",
        "key",
        "row_count",
        "covered",
        "l1",
        "l2",
        "l3",
    ]


@pytest.mark.parametrize(
    ("kind", "values", "keys", "ordered"),
    [
        ("int", [10**15, -3, 2], ["-3", "2", "1000000000000000"], [-3, 2, 10**15]),
        (
            "decimal",
            [Decimal("2.5"), Decimal(-1), Decimal("10")],
            ["-1", "2.5", "10"],
            [Decimal(-1), Decimal("2.5"), Decimal(10)],
        ),
        ("float", [1.0, 0.1, 1e20, -1e-7], ["-1e-07", "0.1", "1.0", "1e+20"], [-1e-7, 0.1, 1.0, 1e20]),
        ("text", ["b", "B", "", "é"], ["", "B", "b", "é"], ["", "B", "b", "é"]),
        ("bool", [True, False], ["false", "true"], [False, True]),
        (
            "date",
            [datetime.date(2024, 2, 29), datetime.date(1999, 1, 1)],
            ["1999-01-01", "2024-02-29"],
            [datetime.date(1999, 1, 1), datetime.date(2024, 2, 29)],
        ),
    ],
)
def test_values_are_numbered_in_their_order_and_have_one_key(
    engine: Engine, kind: str, values: list[Any], keys: list[str], ordered: list[Any]
) -> None:
    _, rows = made(engine, [*values, None], kind, {"sql": "value", "default": "x"})
    assert [row[0] for row in rows] == list(range(len(values) + 1))
    assert [row[2] for row in rows] == [*keys, None]
    assert [row[1] for row in rows] == [*ordered, None]


def test_expressions_have_dictionaries_too(engine: Engine) -> None:
    found, rows = made(engine, [34, 38, 51], "int", {"mask": 1}, "v + 1")
    assert found.holds.kind is Kind.INTEGER
    assert [row[5] for row in rows] == ["3*", "3*", "5*"]


LABELS = st.sampled_from(["a", "b", "c"])
VALUES = ["", "x", "y", "z", None]


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[Any, list[str]], str | None, list[Any]]:
    """A value table that need be neither complete nor nested, a default, and values."""
    named = draw(st.lists(st.sampled_from(VALUES), min_size=1, unique=True))
    depth = draw(st.integers(1, 3))
    rows = {value: draw(st.lists(LABELS, min_size=depth, max_size=depth)) for value in named}
    return rows, draw(st.sampled_from([None, "a", "rest"])), draw(st.lists(st.sampled_from(VALUES), max_size=12))


def label(rows: Mapping[Any, list[str]], default: str | None, number: int, value: Any) -> str | None:
    """By looking it up; a mapping's last level is the top only when `*` says so."""
    if value in rows:
        return rows[value][number - 1]
    return None if value is None else default


def test_figures_are_those_of_brute_force(engine: Engine) -> None:
    @run(80)
    @given(tables())
    def check(case: tuple[dict[Any, list[str]], str | None, list[Any]]) -> None:
        rows, default, values = case
        asked = {"values": rows} | ({"default": default} if default else {})
        found, lines = made_on(engine, workbench, values, "text", asked, check=False)
        depth = len(next(iter(rows.values())))
        assert [line[5:] for line in lines] == [
            (*(label(rows, default, n, line[2]) for n in range(1, depth + 1)), "*") for line in lines
        ]
        by_level = [lambda v, n=n: label(rows, default, n, v) for n in range(1, depth + 1)]
        functions: list[Any] = [lambda v: v, *by_level, lambda v: "*"]
        for level, function in zip(found.levels, functions, strict=True):
            sizes = [sum(function(w) == g for w in values) for g in {function(v) for v in values}]
            assert (level.groups, level.smallest, level.largest) == (
                len(sizes),
                min(sizes, default=0),
                max(sizes, default=0),
            )
            missing = [v for v in values if v is not None and function(v) is None]
            assert (level.uncovered_values, level.uncovered_rows) == (len(set(missing)), len(missing))
        for level, below, above in zip(found.levels, functions, functions[1:], strict=False):
            groups = {below(v) for v in values}
            split = [g for g in groups if len({above(v) for v in values if below(v) == g}) > 1]
            assert level.split_groups == len(split)
        unlisted = [v for v in values if v is not None and v not in rows and default is None]
        assert (found.unlisted_values, found.unlisted_rows) == (len(set(unlisted)), len(unlisted))
        assert bool(found.problems) == bool(unlisted or not found.nested)

    with workbench_of(engine) as workbench:
        check()


REFUSED = [
    (
        ["a", "b", "b"],
        "text",
        {"values": {"a": "x"}},
        "v, level 1: 1 value in 2 rows is not listed in the hierarchies. Add them, or give a default label.",
    ),
    (
        ["a", "b", "c"],
        "text",
        {"values": {"a": ["x", "y"], "b": ["x", "z"], "c": ["w", "z"]}},
        "v, level 2 (listed 2 of 2): does not nest with level 1; 1 of its 2 groups are in several groups of level 2.",
    ),
    (
        [1, 2],
        "int",
        {"sql": ["'A'", "CAST(value AS VARCHAR)"]},
        "v, level 2 (SQL 2 of 2): does not nest with level 1; 1 of its 1 groups are in several groups of level 2.",
    ),
    (
        [1.5, float("nan")],
        "float",
        {"widths": 1},
        "v, level 1 (width 1): 1 value in 1 row is without a label (not a finite "
        "number, or too large). Give a default label.",
    ),
    (
        ["a"],
        "text",
        {"widths": 1},
        "v, level 1 (width 1): intervals need numbers, but the column has texts; "
        "convert it to a number with an expression.",
    ),
    (
        [1.5],
        "float",
        {"mask": 1},
        "v, level 1 (last 1 masked): masks need texts or whole numbers, but the column has floats; use 'widths'.",
    ),
    (
        ["a"],
        "text",
        {"dates": "year"},
        "v, level 1 (year): needs dates, but the column has texts; convert it with an "
        "expression, for example CAST(v AS DATE).",
    ),
    (
        [1],
        "int",
        {"values": {"1": "x", "1.0": "y"}},
        "the hierarchies: a value of v is listed twice, in two spellings, with different labels at level 1.",
    ),
]


@pytest.mark.parametrize(("values", "kind", "asked", "said"), REFUSED, ids=lambda case: str(case)[:30])
def test_what_cannot_be_used_is_refused_by_column_and_level(
    engine: Engine, values: list[Any], kind: str, asked: Any, said: str
) -> None:
    with pytest.raises(UsageError) as refusal:
        made(engine, values, kind, asked)
    assert str(refusal.value) == said


def test_a_default_covers_what_is_not_listed(engine: Engine) -> None:
    found, rows = made(engine, ["a", "b", None], "text", {"values": {"a": ["x", "y"]}, "default": "*"})
    assert [row[5:] for row in rows] == [("x", "y", "*"), ("*", "*", "*"), (None, None, "*")]
    assert (found.unlisted_values, found.problems) == (0, ())


def test_kept_dropped_and_plain_columns(engine: Engine) -> None:
    assert [row[5:] for row in made(engine, ["a", None], "text", "keep")[1]] == [(), ()]
    assert [row[5:] for row in made(engine, ["a", None], "text", "drop")[1]] == [("*",), ("*",)]
    found, rows = made(engine, [], "text", "keep")
    assert (rows, found.rows, found.values) == ([], 0, 0)


def test_an_empty_field_of_a_csv_names_null_and_the_empty_text(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text(";none;*\na;one;*\na;one;*\n", encoding="utf-8")
    _, rows = made(engine, ["a", "", None], "text", {"csv": str(tmp_path / "h.csv")})
    assert [(row[2], row[5]) for row in rows] == [("", "none"), ("a", "one"), (None, "none")]


def test_a_tree_keeps_leaves_that_lie_higher(engine: Engine) -> None:
    tree = {"chest": {"acute": ["flu", "cold"], "long": ["asthma"]}, "skin": ["rash"], "healthy": None, "none": [None]}
    _, rows = made(engine, ["flu", "cold", "asthma", "rash", "healthy", None], "text", {"tree": tree})
    assert [row[2:3] + row[5:] for row in rows] == [
        ("asthma", "long", "chest", "*"),
        ("cold", "acute", "chest", "*"),
        ("flu", "acute", "chest", "*"),
        ("healthy", "healthy", "healthy", "*"),
        ("rash", "rash", "skin", "*"),
        (None, None, "none", "*"),
    ]


SECRET = "Zaphod Beeblebrox"


def test_no_statement_holds_a_value_or_label(engine: Engine) -> None:
    before = len(engine.executed)
    asked = {"values": {SECRET: ["his label", "a group"]}, "default": "the rest"}
    query = values_query([{"v": SECRET}, {"v": "x"}], {"v": "text"})
    (hierarchy,) = read_hierarchies({"v": asked}).for_columns(["v"])
    with workbench_of(engine) as workbench:
        relation = engine.open(Target(query=f"SELECT MIN(v) AS v FROM ({query}) AS t"))
        found = dictionary(engine, workbench, relation, resolve("v", relation, engine.dialect, "--qi"), hierarchy)
        texts = [done.sql.replace(relation.sql, "") for done in (*engine.executed[before:], *workbench.executed)]
        workbench.drop("sqlaudit_dictionary")
    assert sum("SELECT" in text for text in texts) >= 4
    for secret in (SECRET, "his label", "a group", "the rest"):
        assert not [text for text in texts if secret in text and "CREATE VIEW" not in text]
        assert secret not in str(found.levels) + str(found.problems)


ADULT = REPOSITORY.parent / "shared" / "data" / "adult_arx"
WIDTHS = {"age": {"widths": [5, 10, 20, 40]}, "sex": "keep"}


@pytest.mark.shared_data
@pytest.mark.skipif(not ADULT.exists(), reason="the Adult table is not beside the checkout")
def test_the_hierarchies_of_adult() -> None:
    names = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
    names.append("salary-class")
    with connect() as engine:
        table = engine.open(Target(str(ADULT / "adult.csv"), read=ReadOptions(delimiter=";")))

        def opened(hierarchy: Hierarchy) -> Dictionary:
            return dictionary(engine, engine, table, resolve(hierarchy.column, table, "duckdb", "--qi"), hierarchy)

        found = [opened(hierarchy) for hierarchy in read_hierarchies(ADULT).for_columns(names)]
        assert [len(one.levels) - 1 for one in found] == [1, 4, 1, 2, 3, 2, 2, 2, 1]
        assert [one.problems for one in found] == [()] * 9
        assert {one.rows for one in found} == {30162}
        assert [[level.groups for level in one.levels] for one in found] == [
            [2, 1],
            [72, 15, 8, 5, 1],
            [5, 1],
            [7, 2, 1],
            [16, 5, 3, 1],
            [41, 5, 1],
            [7, 3, 1],
            [14, 3, 1],
            [2, 1],
        ]
        ages = opened(read_hierarchies(WIDTHS).for_columns(["age", "sex"])[0])
        assert [level.groups for level in ages.levels] == [72, 16, 9, 5, 3, 1]
    for below, above in pairwise(ages.levels):
        assert below.groups > above.groups


def test_the_oracle_walks_intervals_as_people_do() -> None:
    (hierarchy,) = read_hierarchies({"age": {"widths": [5, 10]}}).for_columns(["age"])
    assert [oracle.label(hierarchy, n, -1) for n in (0, 1, 2, 3)] == [-1, "[-5, 0)", "[-10, 0)", "*"]
