"""Two releases beside each other: what changed is judged like cells, from numbers or from rows of persons."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
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
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.run import find_unsafe_cells
from tests.audit_values import values_query
from tests.cli.runner import run as typed
from tests.reports.schemas import validator
from tests.strategies import run
from tests.tabular import oracle

keys = st.tuples(st.sampled_from(["a", "b'", None]), st.sampled_from([1, 2]))
counts = st.dictionaries(keys, st.one_of(st.none(), st.integers(0, 6)), min_size=1)
rows = st.lists(st.tuples(keys, st.integers(1, 5), st.sampled_from(["0", "1", "2.5", "100"])), min_size=1, max_size=10)
COLUMNS = {"region": "text", "sector": "int", "n": "int"}
ROWS = {"region": "text", "sector": "int", "who": "int", "cost": "decimal"}


def test_differences_of_counts_are_those_of_every_cell(engine: Engine) -> None:
    @run(12 if engine.name == "duckdb" else 3)
    @given(counts, counts, st.integers(1, 4))
    def compare(before: dict[Any, int | None], after: dict[Any, int | None], least: int) -> None:
        every = [*before, *(key for key in after if key not in before)]
        pairs = [(before.get(key, 0), after.get(key, 0)) for key in every]
        changes = [abs(old - new) for old, new in pairs if old is not None and new is not None and old != new]
        hidden = sum(old is None or new is None for old, new in pairs)
        old, new = (
            Target(query=values_query([{"region": a, "sector": b, "n": n} for (a, b), n in one.items()], COLUMNS))
            for one in (before, after)
        )
        request = AggregatesRequest(
            new,
            before=(old,),
            by=("region", "sector"),
            count="n",
            total=("region=", "sector="),
            requirements=requirements([f"threshold={least}"], among=CELL_RULES),
        )
        found = find_unsafe_cells(engine, request).differences
        assert [(one.changed, one.unsafe_cells) for one in found] == [
            (len(changes) + hidden, sum(change < least for change in changes))
        ]

    compare()


def test_rows_of_two_releases_tell_the_persons(engine: Engine) -> None:
    @run(10 if engine.name == "duckdb" else 3)
    @given(rows, rows)
    def compare(before: list[Any], after: list[Any]) -> None:
        old, new = (_by_person(one) for one in (before, after))
        cells: dict[Any, list[Fraction]] = {}
        for key, who in {**old, **new}:
            change = abs(new.get((key, who), Fraction(0)) - old.get((key, who), Fraction(0)))
            if change or ((key, who) in old) != ((key, who) in new):
                cells.setdefault(key, []).append(change)
        changed = {key: oracle.Cell(tuple(sorted(found, reverse=True))) for key, found in cells.items()}
        targets = [Target(query=_query(one)) for one in (before, after)]
        request = AggregatesRequest(
            targets[1],
            before=(targets[0],),
            by=("region", "sector"),
            microdata=True,
            person="who",
            value="cost",
            show_values=True,
            requirements=requirements(["threshold=2", "p_percent=50", "full_cell=any"], among=CELL_RULES),
        )
        (found,) = find_unsafe_cells(engine, request).differences
        assert found.changed == len(changed)
        for one, falls_short in zip(found.unsafe, (oracle.threshold, oracle.pq), strict=True):
            limit = {"threshold": 2, "p_percent": Fraction(50)}[one.rule]
            unsafe = {(a, str(b)) for (a, b), cell in changed.items() if falls_short(cell, limit)}
            assert (one.cells, {tuple(key.values()) for key in one.keys}) == (len(unsafe), unsafe)

    compare()


@pytest.mark.parametrize(
    ("grouping", "names"), [("", [("b", "5")]), ("region;sector;()", [("b", None), (None, "5"), (None, None)])]
)
def test_the_cells_that_changed_are_named_beside_others_that_did_not(
    engine: Engine, grouping: str, names: list[tuple[str | None, str | None]]
) -> None:
    cells = [("a", 3), ("b", 5), ("c", 9)]
    table = [{"region": a, "sector": b, "who": at, "cost": 1} for at, (a, b) in enumerate(cells)]
    more = [*table, {"region": "b", "sector": 5, "who": 7, "cost": 1}]
    old, new = (Target(query=values_query(one, ROWS)) for one in (table, more))
    asked = AggregatesRequest(
        new,
        by=("region", "sector"),
        microdata=True,
        person="who",
        grouping=grouping,
        show_values=True,
        requirements=requirements(["threshold=2"], among=CELL_RULES),
    )
    for older, newer in ((old, new), (new, old)):
        (found,) = find_unsafe_cells(engine, replace(asked, target=newer, before=(older,))).differences
        assert sorted(map(str, (tuple(key.values()) for key in found.unsafe[0].keys))) == sorted(map(str, names))


def _by_person(table: list[Any]) -> dict[tuple[Any, int], Fraction]:
    out: dict[tuple[Any, int], Fraction] = {}
    for key, who, x in table:
        out[key, who] = out.get((key, who), Fraction(0)) + Fraction(x)
    return out


def _query(table: list[Any]) -> str:
    return values_query([{"region": a, "sector": b, "who": who, "cost": x} for (a, b), who, x in table], ROWS)


MONTHS = [
    pd.DataFrame({"region": ["a", "b", "c"], "n": [10, 7, 5], "x": [100, 70, 50]}),
    pd.DataFrame({"region": ["a", "b", "c"], "n": [11, 7, 9], "x": [130, 75, 90]}),
    pd.DataFrame({"region": ["a", "b", "c"], "n": [10, 7, 9], "x": [120, 75, 90]}),
]


def test_each_two_of_several_releases_are_compared() -> None:
    found = sqlaudit.aggregates(MONTHS[2], by=["region"], count="n", before=MONTHS[:2], require=["threshold=3"])
    assert (found.unsafe_cells, found.status) == (0, "fail")
    assert [(one.before, one.after, one.changed, one.unsafe_cells) for one in found.differences] == [
        ("frame (1)", "frame (2)", 2, 1),
        ("frame (1)", "frame (3)", 1, 0),
        ("frame (2)", "frame (3)", 1, 1),
    ]


def test_a_change_of_few_is_theirs_and_of_many_needs_rows() -> None:
    found = sqlaudit.aggregates(
        MONTHS[1], by=["region"], count="n", value="x", before=MONTHS[:1], require=["p_percent=10"], show_values=True
    )
    (rule,) = found.differences[0].unsafe
    # a: one came with 30; b: as many, and another sum; c: four came with 40 together
    assert (rule.cells, rule.keys, rule.undecided) == (1, ({"region": "a"},), 2)
    assert "only in the rows" in rule.note


def test_the_command_compares_files(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.csv" for number in (1, 2)]
    for file, month in zip(files, MONTHS, strict=False):
        month.to_csv(file, index=False)
    asked = ("aggregates", str(files[1]), "--before", str(files[0]), "--by", "region", "--count", "n")
    ran = typed(*asked, "--require", "threshold=3")
    assert ran.code == 1
    assert "1 of 2 changed cells discloses too much about people who joined, left or changed" in " ".join(
        ran.out.split()
    )
    told = json.loads(typed(*asked, "--require", "threshold=3", "--show-values", "--format", "json").out)
    validator("aggregates").validate(told)
    assert told["aggregates"]["differences"][0]["unsafe"][0]["keys"] == [{"region": "a"}]
    assert "No rule for changes between releases is given. Name one with --require threshold=5" in typed(*asked).err


def test_rows_need_their_persons() -> None:
    with pytest.raises(UsageError, match=r"ame .*with person="):
        sqlaudit.aggregates(MONTHS[1], by=["region"], microdata=True, before=MONTHS[:1], require=["threshold=3"])


def test_tables_whose_values_are_spelled_in_different_ways_are_not_compared() -> None:
    older = pd.DataFrame({"region": ["north", "south", "Total"], "n": [10, 20, 30]})
    newer = pd.DataFrame({"region": ["North", "South", "Total"], "n": [11, 20, 31]})
    asked: dict[str, Any] = {"by": ["region"], "count": "n", "before": [older]}
    found = sqlaudit.aggregates(newer, require={"threshold": 1}, **asked)
    ((rule,),) = (two.unsafe for two in found.differences)
    assert (found.status.value, rule.undecided) == ("undetermined", 5)
    assert "spell their values the same way" in rule.note
    assert sqlaudit.aggregates(newer, require={"threshold": 5}, **asked).status.value == "fail"


def test_numbers_and_texts_of_two_releases_are_compared(engine: Engine) -> None:
    older = Target(query=values_query([{"m": 1, "n": 10}, {"m": 2, "n": 9}], {"m": "int", "n": "int"}))
    newer = Target(query=values_query([{"m": "1", "n": "11"}, {"m": "2", "n": "*"}], {"m": "text", "n": "text"}))
    rules = requirements(["threshold=5"], among=CELL_RULES)
    request = AggregatesRequest(newer, by=("m",), count="n", hidden=("*",), requirements=rules, before=(older,))
    (two,) = find_unsafe_cells(engine, request).differences
    assert (two.changed, two.unsafe_cells) == (2, 1)


@pytest.mark.parametrize(
    ("name", "number", "status", "undecided"),
    [("B", 23, "undetermined", 2), ("B", 22, "pass", 0), ("B", 27, "pass", 0), ("b", 27, "pass", 0)],
)
@pytest.mark.parametrize("rows", [False, True])
def test_a_value_may_be_the_same_by_another_name(
    engine: Engine, name: str, number: int, status: str, undecided: int, rows: bool
) -> None:
    tables = [{"a": 20, "b": 22, "c": 33, "d": 34}, {"a": 20, name: number, "c": 33, "d": 34}]
    persons = [[{"region": one, "n": who} for one in table for who in range(table[one])] for table in tables]
    counts = [[{"region": one, "n": n} for one, n in table.items()] for table in tables]
    older, newer = (
        Target(query=values_query(one, {"region": "text", "n": "int"})) for one in (persons if rows else counts)
    )
    rules = requirements(["threshold=5"], among=CELL_RULES)
    asked: dict[str, Any] = {"microdata": True, "person": "n"} if rows else {"count": "n"}
    request = AggregatesRequest(newer, by=("region",), requirements=rules, before=(older,), **asked)
    (two,) = find_unsafe_cells(engine, request).differences
    (rule,) = two.unsafe
    assert (rule.status.value, rule.undecided) == (status, undecided)
    assert ("other spellings" in rule.note) is bool(undecided)


def test_values_that_are_numbers_have_no_other_names() -> None:
    older, newer = (pd.DataFrame({"month": months, "n": [20, 22, 30]}) for months in ([1, 2, 3], [2, 3, 4]))
    newer["n"] = [22, 30, 21]
    asked: dict[str, Any] = {"by": ["month"], "count": "n", "require": {"threshold": 5}}
    assert sqlaudit.aggregates(newer, before=[older], **asked).passed
    names = [table.assign(month=table.month.map({1: "i", 2: "ii", 3: "iii", 4: "iv"})) for table in (older, newer)]
    assert sqlaudit.aggregates(names[1], before=[names[0]], **asked).status.value == "undetermined"


@pytest.mark.parametrize("hides", ["older", "newer"])
def test_what_totals_give_back_is_compared_like_what_is_published(hides: str) -> None:
    tables = {"older": [3, 20, 23], "newer": [4, 25, 29]}
    older, newer = (
        pd.DataFrame({"region": ["a", "b", "Total"], "n": [None if one == hides else n[0], *n[1:]]})
        for one, n in tables.items()
    )
    asked: dict[str, Any] = {"by": ["region"], "count": "n", "require": {"threshold": 3}, "before": [older]}
    (two,) = sqlaudit.aggregates(newer, show_values=True, **asked).differences
    assert [rule.keys for rule in two.unsafe] == [({"region": "a"},)]


def test_a_release_that_is_not_clear_lets_nothing_pass() -> None:
    newer = pd.DataFrame({"region": ["whole", "a", "b", "c"], "n": [55, 20, 25, 10]})
    asked: dict[str, Any] = {"by": ["region"], "count": "n", "require": {"threshold": 3}}
    for numbers, note in (([45, 20, None, None], "may be totals"), ([45, 20, 15, None], "may be totals")):
        (two,) = sqlaudit.aggregates(newer, before=[newer.assign(n=numbers)], **asked).differences
        assert (two.unsafe[0].status.value, note in two.unsafe[0].note) == ("undetermined", True)
    twice = pd.DataFrame({"region": ["whole", "a", "b", "c", "c"], "n": [65, 30, 35, 9, 20]})
    (two,) = sqlaudit.aggregates(newer, before=[twice], **asked).differences
    assert (two.unsafe[0].status.value, "several rows" in two.unsafe[0].note) == ("undetermined", True)


def test_a_pattern_names_one_release_in_each_file(tmp_path: Path) -> None:
    """Each two of all are compared, and the newest, which lies among them, is no older one."""
    for name, table in zip(("1", "2", "3"), MONTHS, strict=False):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    releases = "--before", str(tmp_path / "*.csv")
    asked = ("aggregates", str(tmp_path / "3.csv"), *releases, "--by", "region", "--count", "n")
    ran = typed(*asked, "--require", "threshold=3", "--format", "json")
    told = json.loads(ran.out)["aggregates"]["differences"]
    one_by_one = sqlaudit.aggregates(MONTHS[2], by=["region"], count="n", before=MONTHS[:2], require=["threshold=3"])
    assert [(one["before"], one["after"][-5:]) for one in told] == [
        (f"{a}.csv", f"{b}.csv") for a, b in ("12", "13", "23")
    ]
    assert [one["unsafe_cells"] for one in told] == [one.unsafe_cells for one in one_by_one.differences]
    for name in ("1", "2"):
        (tmp_path / f"{name}.csv").unlink()
    ran = typed(*asked, "--require", "threshold=3")
    assert (ran.code, ran.out) == (2, "")
    assert "--before: the pattern" in ran.err


@pytest.mark.parametrize("require", [[], ["no_unpickable_cell=3"], ["full_cell=any", "no_unpickable_cell=3"]])
def test_releases_are_compared_by_a_rule_on_changes_or_refused(require: list[str]) -> None:
    with pytest.raises(UsageError, match="No rule for changes between releases is given"):
        sqlaudit.aggregates(MONTHS[1], by=["region"], count="n", before=MONTHS[:1], require=require)
