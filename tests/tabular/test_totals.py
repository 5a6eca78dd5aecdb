"""Totals that are not published: what is said of hidden cells all the same, against every table that could be meant."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Target
from sqlaudit.engines.contract import Engine
from sqlaudit.models.registry import CELL_RULES, requirements
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.text import render_text
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.run import find_unsafe_cells
from tests.audit_values import values_query
from tests.strategies import run

REGIONS, SECTORS = ("a", "b"), ("s", "t")
LEAVES = list(product(REGIONS, SECTORS))
CELLS = list(product((*REGIONS, "Total"), (*SECTORS, "Total")))
GRAND = ("Total", "Total")


def below(cell: tuple[str, str]) -> list[int]:
    """The leaves that a cell is made of."""
    return [
        place
        for place, leaf in enumerate(LEAVES)
        if all(one in (own, "Total") for own, one in zip(leaf, cell, strict=True))
    ]


def asked(rows: list[tuple[str, str, int | None]], **more: Any) -> sqlaudit.AggregatesResult:
    table = pd.DataFrame(rows, columns=["region", "sector", "n"])
    return sqlaudit.aggregates(table, by=["region", "sector"], count="n", **more)


states = st.fixed_dictionaries({cell: st.sampled_from(["shown", "hidden", "missing"]) for cell in CELLS})


@run(15)
@given(st.lists(st.integers(0, 1), min_size=4, max_size=4), states)
def test_every_table_that_could_be_meant_is_within_the_limits(leaves: list[int], state: dict[Any, str]) -> None:
    state = {**state, GRAND: "shown"}
    state |= {leaf: "hidden" for leaf in LEAVES if state[leaf] == "missing"}
    truth = {cell: sum(leaves[place] for place in below(cell)) for cell in CELLS}
    rows = [(*cell, truth[cell] if said == "shown" else None) for cell, said in state.items() if said != "missing"]
    found = asked(rows, total={"region": "Total", "sector": "Total"}, zeros="hidden", show_values=True)
    fitting = [
        {cell: sum(one[place] for place in below(cell)) for cell in CELLS}
        for one in product(range(sum(leaves) + 1), repeat=4)
    ]
    fitting = [one for one in fitting if all(one[cell] == truth[cell] for cell in CELLS if state[cell] == "shown")]
    expected = {cell: {one[cell] for one in fitting} for cell, said in state.items() if said == "hidden"}
    told = {tuple(one.cell.values()): (one.lower, one.upper) for one in found.intervals}
    assert told == {cell: (min(values), max(values)) for cell, values in expected.items()}
    missing = [problem for problem in found.problems if problem.code == "missing_totals"]
    assert sum(one.cells for one in missing) == sum(said == "missing" for said in state.values())


def test_a_grand_total_alone_gives_a_hidden_cell_back() -> None:
    rows: list[tuple[str, str, int | None]] = [("a", "s", 10), ("a", "t", 8), ("b", "s", None), (*GRAND, 29)]
    found = asked(rows, require=["no_unpickable_cell=4", "threshold=5"], show_values=True)
    assert [(one.rule, one.cells) for one in found.rules] == [("no_unpickable_cell", 1), ("threshold", 0)]
    (one,) = found.intervals
    assert (one.lower, one.upper) == (11, 11)
    assert [tuple(key.values()) for key in one.subtracts] == [("a", "s"), ("a", "t")]


def test_a_hidden_total_is_no_zero_where_another_is_missing() -> None:
    """The total of b is not published; it is still a part of the grand total."""
    rows: list[tuple[str, str, int | None]] = [
        *(("a", "s", 10), ("a", "t", 3), ("a", "Total", None), ("b", "s", 8), ("b", "t", 9)),
        (*GRAND, 30),
    ]
    found = asked(rows, show_values=True)
    assert [(one.lower, one.upper) for one in found.intervals] == [(13, 13)]
    assert [problem.code for problem in found.problems] == ["missing_totals"]


@pytest.mark.parametrize(("grand", "wrong"), [(30, []), (31, ["wrong_totals"])])
def test_totals_are_checked_over_those_that_are_missing(grand: int, wrong: list[str]) -> None:
    found = asked([("a", "s", 10), ("a", "t", 3), ("b", "s", 17), (*GRAND, grand)], require=["threshold=3"])
    assert [problem.code for problem in found.problems] == [*wrong, "missing_totals"]
    assert found.status.value == ("undetermined" if wrong else "pass")


def test_missing_totals_are_told_by_cell_and_cost_no_verdict() -> None:
    rows: list[tuple[str, str, int | None]] = [("a", "s", 10), ("b", "s", 8), ("Total", "s", 18), ("a", "t", 7)]
    found = asked(rows, require=["threshold=5"], show_values=True)
    (missing,) = found.problems
    assert missing.message == "1 total of published cells is not in the table and was not checked."
    assert missing.keys == ({"region": "Total", "sector": "t"},)
    assert found.passed
    assert not asked(rows, require=["threshold=5"]).problems[0].keys


def test_contributors_without_a_grand_total_are_said_to_be_added_up() -> None:
    rows: list[tuple[str, str, int | None]] = [("a", "s", 10), ("a", "t", 8), ("b", "s", 9)]
    found = asked(rows)
    assert (found.contributors, found.to_dict()["contributors_added_up"]) == (27, True)
    whole = asked([*rows, (*GRAND, 20)], total={"region": "Total", "sector": "Total"})  # seven are in two cells
    assert whole.contributors == 20
    assert "contributors_added_up" not in whole.to_dict()
    visits = pd.DataFrame({"who": [1, 1, 2], "region": ["a", "b", "a"]})
    for grouping, behind, added in (("", 3, True), ("region;()", 2, False)):
        made = sqlaudit.aggregates(visits, by=["region"], microdata=True, person="who", grouping=grouping)
        assert (made.contributors, made.contributors_added_up) == (behind, added)


def test_a_table_without_all_totals_is_protected_as_if_they_were_read(tmp_path: Any) -> None:
    rows: list[tuple[str, str, int | None]] = [
        *((region, sector, 9 + place) for place, (region, sector) in enumerate(product("abc", "st"))),
        (*GRAND, 72),
        ("d", "s", 3),
    ]
    found = asked(rows, require=["threshold=5"], protect=True, to=str(tmp_path / "safe.csv"), show_values=True)
    assert found.protection is not None
    assert (found.protection.safe, found.protection.unsafe, found.protection.secondary) == (True, 1, 1)
    again = sqlaudit.aggregates(
        str(tmp_path / "safe.csv"), by=["region", "sector"], count="n", require=["no_unpickable_cell=4", "threshold=5"]
    )
    assert (again.passed, again.hidden) == (True, 2)


@pytest.mark.parametrize(
    ("regions", "counts", "more", "codes"),
    [
        (["a", "b", None], [7, None, 9], {}, ["unclear_totals"]),
        (["a", "b", "Total", "All"], [7, None, 9, 9], {}, ["unclear_totals"]),
        (["a", "b", "c", None], [7, None, 6, 5], {}, []),  # each is less than the others: no total
        (["a", "b", None], [7, 8, 9], {}, []),
        (["a", "b", None], [7, None, 9], {"total": {"region": None}}, []),
    ],
)
def test_what_may_be_a_total_is_no_pass_where_cells_are_hidden(
    regions: list[Any], counts: list[Any], more: dict[str, Any], codes: list[str]
) -> None:
    table = pd.DataFrame({"region": regions, "n": counts})
    found = sqlaudit.aggregates(table, by=["region"], count="n", require=["threshold=3"], **more)
    assert [problem.code for problem in found.problems] == codes
    assert found.status.value == ("undetermined" if codes else "fail" if more else "pass")


def test_a_value_that_is_the_sum_of_all_others_in_a_group_may_be_a_total() -> None:
    rows = [("a", "x", 10), ("a", "y", None), ("a", "whole", 13), ("b", "x", 20), ("b", "y", 30), ("b", "whole", 50)]
    table = pd.DataFrame(rows, columns=["region", "sector", "n"])
    asked: dict[str, Any] = {"by": ["region", "sector"], "count": "n", "require": {"no_unpickable_cell": 2}}
    found = sqlaudit.aggregates(table, **asked)
    assert ([(one.code, one.cells) for one in found.mistakes], found.status.value) == (
        [("unclear_totals", 2)],
        "undetermined",
    )
    assert sqlaudit.aggregates(table, total={"sector": "whole"}, **asked).deducible == 1
    for whole, status in ((51, "undetermined"), (53, "pass")):  # 51 may be 50 with noise
        other = table.assign(n=[10, None, 13, 20, 30, whole])
        assert sqlaudit.aggregates(other, **asked).status.value == status


@pytest.mark.parametrize(
    ("counts", "least", "unclear"),
    [
        ([45, 20, 22, None], 3, 1),
        ([45, 20, None, None], 3, 1),
        ([42, 20, 22, None], 3, 1),  # the hidden one is none
        ([41, 20, 22, None], 3, 0),
        ([45, 20, 22, 3], 3, 0),  # nothing is hidden
        ([45, None], 3, 1),  # the total of one part
        ([45, 20, 45, None], 3, 2),  # one of two totals of another name, or the part of one of them
        ([70, 30, 40, None, 20], 3, 1),  # 30 of 70, and 20 of these
        ([0, 0, None], 3, 2),  # if one of them is a total, the hidden one is 0
        ([50, 45, 48, None, 47], 3, 0),
    ],
)
def test_a_large_value_may_be_the_total_of_hidden_ones(
    engine: Engine, counts: list[Any], least: int, unclear: int
) -> None:
    names = ["Alle Bezirke", "a", "b", "c", "d"]
    rows = [{"region": name, "n": n} for name, n in zip(names, counts, strict=False)]
    table = Target(query=values_query(rows, {"region": "text", "n": "int"}))
    rules = requirements([f"threshold={least}"], among=CELL_RULES)
    asked = AggregatesRequest(table, by=("region",), count="n", requirements=rules)
    found = find_unsafe_cells(engine, asked)
    assert [(one.code, one.cells) for one in found.problems] == [("unclear_totals", unclear)] * bool(unclear)
    assert found.status.value == ("undetermined" if unclear else "pass")
    none = find_unsafe_cells(engine, replace(asked, total=("region=",)))
    assert (none.problems, none.totals, none.status.value) == ((), (), "pass")


def test_a_total_that_is_named_gives_the_hidden_cell_back() -> None:
    table = pd.DataFrame({"region": ["Alle Bezirke", "a", "b", "c"], "n": [45, 20, 22, None]})
    found = sqlaudit.aggregates(
        table, by=["region"], count="n", total={"region": "Alle Bezirke"}, require={"threshold": 5}
    )
    assert (found.status.value, found.deducible, found.rules[0].cells) == ("fail", 1, 1)


def test_a_table_that_may_have_a_total_is_not_protected_before_that_is_said(tmp_path: Path) -> None:
    table = pd.DataFrame({"region": ["Alle Bezirke", "a", "b", "c"], "n": [45, 20, 22, 3]})
    file = tmp_path / "safe.csv"
    asked: dict[str, Any] = {"by": ["region"], "count": "n", "require": {"threshold": 5}, "protect": True, "to": file}
    with pytest.raises(UsageError, match=r"1 cell may be a total, .* use total='column=' if there is no total"):
        sqlaudit.aggregates(table, **asked)
    assert not file.exists()
    found = sqlaudit.aggregates(table, total={"region": "Alle Bezirke"}, **asked).protection
    assert found is not None
    assert (found.safe, found.unsafe, found.secondary) == (True, 1, 1)


def test_linked_tables_may_have_totals_of_other_names_too() -> None:
    first = pd.DataFrame({"region": ["Alle", "a", "b", "c"], "n": [45, 20, 22, None]})
    second = pd.DataFrame({"region": ["a", "a", "b", "b"], "age": ["y", "o", "y", "o"], "n": [9, 11, 10, 12]})
    asked: dict[str, Any] = {"by": ["region", "age"], "count": "n", "linked": [second], "require": {"threshold": 3}}
    assert [one.code for one in sqlaudit.aggregates(first, **asked).mistakes] == ["unclear_totals"]
    assert sqlaudit.aggregates(first, total={"region": "", "age": ""}, **asked).status.value == "pass"


@run(25)
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=4), st.randoms())
def test_no_table_passes_that_may_be_parts_and_their_total(parts: list[tuple[int, bool]], random: Any) -> None:
    """Some hidden, in any order, and the total called like another part."""
    parts = [(parts[0][0], False), *parts[1:]]
    rows = [*((f"p{place}", n if shown else None) for place, (n, shown) in enumerate(parts))]
    rows.append(("p9", sum(n for n, _ in parts)))
    random.shuffle(rows)
    table = pd.DataFrame(rows, columns=["region", "n"]).astype({"n": "Int64"})
    found = sqlaudit.aggregates(table, by=["region"], count="n", require=["no_unpickable_cell=3"])
    assert [one.code for one in found.problems] == ["unclear_totals"]
    assert found.status.value == "undetermined"


@pytest.mark.parametrize(
    "rows",
    [
        [("a", "x", 3), ("b", "x", None), ("a", "y", 4), ("b", "y", 4)],  # a is b, where both are known
        [("x", "a", None), ("x", "all of x", 3), ("y", "b", 4), ("y", "all of x", 4)],
        [("a", "x", 7), ("b", "x", None), ("Total", "x", None), ("everywhere", "x", 9)],
        [("a", "x", 5), ("a", "y", None), ("b", "x", 6), ("b", "y", 7), ("all", "of it", 21)],  # all is a usual word
        [("a", "x", 5), ("a", "y", None), ("b", "x", 6), ("b", "y", 7), ("here", "of it", 21)],
    ],
)
def test_unnamed_totals_in_any_dimension_are_no_pass(rows: list[tuple[str, str, int | None]]) -> None:
    found = asked(rows, require=["no_unpickable_cell=3"])
    assert [one.code for one in found.mistakes] == ["unclear_totals"]
    assert found.status.value == "undetermined"


def test_no_rule_holds_by_itself_where_the_table_is_not_clear() -> None:
    rows = [("a", "s", 12), ("a", "t", None), ("a", "every s", 15), ("b", "s", 9), ("b", "t", 20), ("b", "every s", 29)]
    found = asked(rows, require=["threshold=5", "no_unpickable_cell=5"])
    assert [problem.code for problem in found.problems] == ["unclear_totals"]
    assert [one.status.value for one in (found, *found.rules)] == ["undetermined"] * 3
    said = " ".join(render_text(document_of(found)).split())
    assert "Problems of the table leave the verdict open." in said
    assert "Holds" not in said


def test_a_value_that_is_somewhere_less_than_others_is_no_total() -> None:
    rows: list[tuple[str, str, int | None]] = [("m", "x", 6), ("f", "x", None), ("m", "y", 5), ("f", "y", 7)]
    assert asked(rows, require=["no_unpickable_cell=3"], total={"sector": ""}).passed
