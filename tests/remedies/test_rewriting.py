"""Rows rewritten by SQL: what comes out, what stays secret, and that nothing comes out when the table has changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pandas as pd
import pytest
from hypothesis import given

import sqlaudit
from sqlaudit.base.errors import EngineError, UsageError
from sqlaudit.base.publication import Publication
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Roles, Target
from sqlaudit.classes.opening import resolve_roles
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.dictionary import column_type
from sqlaudit.hierarchies.read import read_hierarchies
from sqlaudit.models.registry import parse_requirement
from sqlaudit.remedies import rewriting
from sqlaudit.remedies.rewriting import (
    KEEP,
    RANGE,
    STAR,
    Patterns,
    Piece,
    RemedyTable,
    Rewritten,
    at,
    read_patterns,
    release,
    rewrite,
    values,
)
from tests.audit_values import spelled, values_query
from tests.strategies import run

ODD = 'o"d d%'
COLUMNS = {"age": "int", ODD: "text", "s": "text", "name": "text"}
ROLES = Roles((ODD, "age"), ("s",), ("name",))
Rows = Sequence[Mapping[str, Any]]


def opened(engine: Engine, rows: Rows, roles: Roles = ROLES, columns: Mapping[str, str] = COLUMNS) -> RemedyTable:
    relation = engine.open(Target(query=values_query(rows, columns)))
    return RemedyTable(engine, relation, resolve_roles(roles, relation, engine), roles)


def rows_of(table: RemedyTable, made: Rewritten) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in table.engine.run(made.select("", "", "", True))]


def code_point_order(value: Any) -> tuple[bool, Any]:
    return (value is None, 0 if value is None else value)


ROW = st.fixed_dictionaries(
    {
        "age": st.sampled_from([None, 3, 12, -15]),
        ODD: st.sampled_from(["b", "B", "a'b", "", None, "*"]),
        "s": st.sampled_from(["flu", "'HIV'", None]),
        "name": st.sampled_from(["Ann", "Bob", None]),
    }
)


@run(35)
@given(st.lists(ROW, min_size=1, max_size=9))
def test_patterns_are_numbered_in_their_own_order(engine: Engine, rows: Rows) -> None:
    found = read_patterns(opened(engine, rows))
    seen = Counter((row[ODD], row["age"]) for row in rows)
    ordered = sorted(seen, key=lambda key: tuple(map(code_point_order, key)))
    ranks = [sorted({key[place] for key in seen} - {None}) for place in range(2)]
    assert found.sizes.tolist() == [seen[key] for key in ordered]
    codes = [[0 if v is None else ranks[place].index(v) + 1 for place, v in enumerate(key)] for key in ordered]
    assert found.codes.tolist() == codes
    assert found.rows == len(rows)


def parted(patterns: Patterns, draw: st.DrawFn, groups: int, levels: int) -> list[Piece]:
    """Every pattern in one or two pieces; each group has one level in each column."""
    chosen = [draw(st.tuples(*[st.integers(0, levels - 1)] * 2)) for _ in range(groups)]
    pieces: list[Piece] = []
    for number, size in enumerate(patterns.sizes.tolist(), 1):
        cut = draw(st.integers(1, size))
        for first, last in ((1, cut), (cut + 1, size)):
            if first <= last:
                group = draw(st.integers(0, groups))
                pieces.append((number, first, last, group, *(chosen[group - 1] if group else (0, 0))))
    return pieces


@pytest.mark.spark
@run(20, some=4)
@given(st.lists(ROW, min_size=1, max_size=9), st.data())
def test_many_patterns_get_the_numbers_of_few(engine: Engine, rows: Rows, data: st.DataObject) -> None:
    table, levels = opened(engine, rows), [(KEEP, STAR)] * 2
    few = read_patterns(table)
    pieces = parted(few, data.draw, 2, 2)
    released = rows_of(table, rewrite(table, few, levels, pieces, salt=5))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rewriting, "ONE_TASK_ROWS", 0)
        many = read_patterns(table)
        assert many.listed() == few.listed()
        assert rows_of(table, rewrite(table, many, levels, pieces, salt=5)) == released


@run(35)
@given(st.lists(ROW, min_size=1, max_size=9), st.data())
def test_rows_come_out_as_their_pieces_say(engine: Engine, rows: Rows, data: st.DataObject) -> None:
    table = opened(engine, rows)
    patterns = read_patterns(table)
    pieces = parted(patterns, data.draw, 2, 2)
    made = rewrite(table, patterns, [(KEEP, STAR)] * 2, pieces, salt=data.draw(st.integers(0, 2**63 - 1)))
    assert (made.columns, made.keys, made.unnamed) == (("age", ODD, "s"), ("age", ODD), ())
    stars = [any(piece[4 + place] for piece in pieces if piece[3]) for place in range(2)]
    seen = Counter((row[ODD], row["age"]) for row in rows)
    ordered = sorted(seen, key=lambda key: tuple(map(code_point_order, key)))
    wanted: Counter[tuple[Any, Any]] = Counter()
    for number, first, last, group, *levels in pieces:
        odd, age = ordered[number - 1]
        if group:
            age = age if age is None or not stars[1] else str(age)
            wanted["*" if levels[1] else age, "*" if levels[0] else odd] += last - first + 1
    found = rows_of(table, made)
    assert Counter(row[:2] for row in found) == wanted
    assert found == sorted(found, key=lambda row: [(value is None, str(value)) for value in row])
    assert (made.rows, made.left_out) == (len(found), len(rows) - len(found))
    assert not Counter(row[2] for row in found) - Counter(row["s"] for row in rows)
    alone = table.engine.run(Statement("alone", made.standalone(ordered=False)))
    assert Counter(map(tuple, alone)) == Counter(found)


def test_which_copies_part_depends_on_the_secret_number_alone(engine: Engine) -> None:
    rows = [{"age": 1, ODD: "x", "s": f"s{i:02}", "name": f"{i}"} for i in range(20)]
    draws = {}
    for salt in (1, 2, 3):
        table = opened(engine, rows)
        pieces = [(1, 1, 10, 1, 0, 0), (1, 11, 20, 2, 1, 1)]
        made = rewrite(table, read_patterns(table), [(KEEP, STAR)] * 2, pieces, salt=salt)
        draws[salt] = {row[2] for row in rows_of(table, made) if row[0] == "*"}
        again = opened(engine, rows[::-1])
        same = rewrite(again, read_patterns(again), [(KEEP, STAR)] * 2, pieces, salt=salt)
        assert {row[2] for row in rows_of(again, same) if row[0] == "*"} == draws[salt]
    assert len({frozenset(draw) for draw in draws.values()}) == 3
    assert all(len(draw) == 10 for draw in draws.values())


def changed(rows: Rows) -> list[list[Mapping[str, Any]]]:
    """The table after something happened to it: a row more, less, twice as large, another value in the same order."""
    other = {**rows[0], ODD: "c"}
    return [[*rows, other], rows[1:], [*rows, rows[0]], [*rows[1:], {**rows[0], "age": 2}]]  # type: ignore[list-item]


def test_nothing_comes_out_when_the_table_has_changed(engine: Engine) -> None:
    rows = [{"age": age, ODD: odd, "s": "flu", "name": "Ann"} for age, odd in [(1, "a"), (1, "b"), (2, "a"), (2, "b")]]
    table = opened(engine, rows)
    pieces = [(1, 1, 1, 1, 0, 1), (2, 1, 1, 1, 0, 1), (3, 1, 1, 2, 0, 1), (4, 1, 1, 2, 0, 1)]
    made = rewrite(table, read_patterns(table), [(KEEP, STAR)] * 2, pieces, salt=5)
    assert len(rows_of(table, made)) == 4
    # the same numbers of patterns and rows, but patterns 1 and 2 no longer share a value of the first column
    twisted = [{**rows[0], ODD: "a"}, {**rows[1], ODD: "b"}, {**rows[2], ODD: "c"}, {**rows[3], ODD: "d"}]
    for after in [*changed(rows), twisted]:
        source = "(" + spelled(values_query(after, COLUMNS), engine.dialect) + ")"
        assert engine.run(Statement("later", made.standalone(source))) == []
    renamed = [{**row, ODD: {"a": "v", "b": "w"}[row[ODD]]} for row in rows]  # as safe as it was
    source = "(" + spelled(values_query(renamed, COLUMNS), engine.dialect) + ")"
    assert {row[1] for row in engine.run(Statement("later", made.standalone(source)))} == {"v", "w"}


def test_labels_and_ranges(engine: Engine) -> None:
    cells = [(3, "b"), (12, "a"), (14, "B"), (None, "b"), (None, "b"), (None, "z"), (5, "z")]
    table = opened(engine, [{"age": age, ODD: odd, "s": "flu", "name": "Ann"} for age, odd in cells])
    hierarchies = read_hierarchies({"age": {"widths": [10]}}).for_columns(["age"])
    holds = column_type(engine, table.relation, table.roles.quasi_identifiers[1])
    levels = [(KEEP, STAR, RANGE), (KEEP, at(hierarchies[0], 1, holds), RANGE)]
    patterns = read_patterns(table)
    assert patterns.codes.tolist() == [[1, 4], [2, 3], [3, 1], [3, 0], [4, 2], [4, 0]]
    pieces = [
        (1, 1, 1, 1, 2, 1),
        (2, 1, 1, 1, 2, 1),
        (3, 1, 1, 2, 0, 2),
        (4, 1, 2, 3, 0, 2),
        (5, 1, 1, 4, 0, 2),
        (6, 1, 1, 4, 0, 2),
    ]
    assert patterns.sizes.tolist() == [1, 1, 1, 2, 1, 1]
    made = rewrite(table, patterns, levels, pieces, salt=1)
    assert sorted(row[:2] for row in rows_of(table, made) if row[0] is not None) == [
        ("*", "z"),
        ("*", "z"),
        ("3", "b"),
        ("[10, 20)", "[B, a]"),
        ("[10, 20)", "[B, a]"),
    ]
    assert [row[:2] for row in rows_of(table, made) if row[0] is None] == [(None, "b"), (None, "b")]


def test_a_group_that_would_not_be_alike_is_not_published(engine: Engine) -> None:
    rows = [{"age": age, ODD: "a", "s": "flu", "name": "Ann"} for age in (12, 13)]
    table = opened(engine, rows)
    (hierarchy,) = read_hierarchies({"age": {"widths": [10]}}).for_columns(["age"])
    level = at(hierarchy, 1, column_type(engine, table.relation, table.roles.quasi_identifiers[1]))
    pieces = [(1, 1, 1, 1, 0, 1), (2, 1, 1, 1, 0, 1)]
    made = rewrite(table, read_patterns(table), [(KEEP,), (KEEP, level)], pieces, salt=1)
    assert [row[0] for row in rows_of(table, made)] == ["[10, 20)"] * 2
    for ages, published in (((14, 15), 2), ((9, 10), 0)):  # the same ranks, but other intervals
        later = [{**row, "age": age} for row, age in zip(rows, ages, strict=True)]
        source = "(" + spelled(values_query(later, COLUMNS), engine.dialect) + ")"
        assert len(engine.run(Statement("later", made.standalone(source)))) == published


def test_levels_that_nothing_uses_are_not_looked_up(engine: Engine) -> None:
    rows = [{"age": age, ODD: "a", "s": "flu", "name": "Ann"} for age in (12, 13)]
    table = opened(engine, rows)
    listed = {"a": ["letters"], "b": ["letters"]}
    (hierarchy,) = read_hierarchies({ODD: {"values": listed}}).for_columns([ODD])
    label = at(hierarchy, 1, column_type(engine, table.relation, table.roles.quasi_identifiers[0]))
    pieces = [(1, 1, 1, 1, 0, 1), (2, 1, 1, 1, 0, 1)]
    made = rewrite(table, read_patterns(table), [(KEEP, label, RANGE), (KEEP, STAR, RANGE)], pieces, salt=1)
    assert [row[:2] for row in rows_of(table, made)] == [("*", "a")] * 2


def test_expressions_persons_and_names(engine: Engine) -> None:
    rows = [{"age": age, ODD: "a", "s": "flu", "name": name} for age, name in [(12, "Ann"), (22, "Bob")]]
    table = opened(engine, rows, Roles(("age % 10",), ("s",), (), "name"))
    patterns = read_patterns(table)
    assert patterns.sizes.tolist() == [2]
    made = rewrite(table, patterns, [(KEEP, STAR)], [(1, 1, 2, 1, 0)], salt=1)
    assert (made.columns, made.keys, made.unnamed) == (("age % 10", ODD, "s"), ("age % 10",), (ODD,))
    assert rows_of(table, made) == [(2, "a", "flu")] * 2
    persons = rewrite(table, patterns, [(KEEP, STAR)], [(1, 1, 2, 1, 1)], salt=1, persons=True)
    assert rows_of(table, persons) == [("*", "a", "flu", "Ann"), ("*", "a", "flu", "Bob")]
    both = opened(engine, rows, Roles(("age",), ("age + 1",)))
    with pytest.raises(UsageError, match="in the release reveal it"):
        rewrite(both, read_patterns(both), [(KEEP,)], [(1, 1, 1, 1, 0), (2, 1, 1, 1, 0)], salt=1)
    with pytest.raises(UsageError, match="No quasi-identifiers are named"):
        read_patterns(opened(engine, rows, Roles()))


@pytest.mark.parametrize(
    "pieces",
    [
        [(1, 1, 1, 1, 0)],
        [(1, 2, 2, 1, 0)],
        [(1, 1, 3, 1, 0)],
        [(1, 1, 2, 1, 5)],
        [(1, 1, 2, -1, 0)],
        [(1, 1, 1, 1, 0), (1, 1, 2, 1, 0)],
    ],
)
def test_pieces_take_every_copy_once(pieces: list[Piece]) -> None:
    with connect() as engine:
        table = opened(engine, [{"age": 1, ODD: "a", "s": "", "name": ""}] * 2, Roles(("age",)))
        with pytest.raises(ValueError, match="pattern"):
            rewrite(table, read_patterns(table), [(KEEP, STAR)], pieces, salt=1)


def test_a_release_is_audited_before_it_is_written(engine: Engine, tmp_path: Path) -> None:
    rows = [
        {"age": age, ODD: odd, "s": s, "name": "Ann"}
        for age, odd, s in [(1, "a", "flu"), (1, "b", "cold"), (2, "a", "flu"), (2, None, "cold")]
    ]
    table = opened(engine, rows)
    patterns = read_patterns(table)
    pieces = [(1, 1, 1, 1, 1, 0), (2, 1, 1, 2, 1, 0), (3, 1, 1, 1, 1, 0), (4, 1, 1, 2, 1, 0)]
    made = rewrite(table, patterns, [(KEEP, STAR)] * 2, pieces, salt=1)
    required = [parse_requirement("k=2"), parse_requirement("l=2")]
    file = tmp_path / "out.csv"
    found = release(table, made, made, required, publication=Publication(file=file))
    assert (found.audit.status, found.rows, found.groups, found.audit.classes) == ("pass", 4, 2, 2)
    assert file.read_text() == 'age,"o""d d%",s\n1,*,cold\n1,*,flu\n2,*,cold\n2,*,flu\n'
    wrong = rewrite(table, patterns, [(KEEP, STAR)] * 2, [(n, 1, 1, n, 0, 0) for n in range(1, 5)], salt=1)
    again = tmp_path / "again.csv"
    with pytest.raises(EngineError, match="'k=2' fails"):
        release(table, wrong, wrong, required, publication=Publication(file=again))
    assert not again.exists()
    script = tmp_path / "release.sql"
    told = release(table, made, made, required, publication=Publication(file=script))
    assert script.read_text() == told.sql + "\n"
    assert told.sql.startswith("-- A release by sqlaudit.")
    assert "flu" not in told.sql.replace(spelled(values_query(rows, COLUMNS), engine.dialect), "")


def test_whole_numbers_are_the_same_in_every_dialect() -> None:
    assert values([(1, 2), (3, 4)]) == "(VALUES (1, 2), (3, 4))"


@pytest.mark.parametrize("call", [sqlaudit.recode, sqlaudit.suppress, sqlaudit.lattice])
def test_empty_texts_that_csv_cannot_keep_are_said(call: Any, tmp_path: Path) -> None:
    """No bug, and no wrong file: CSV has one spelling for an empty text and a missing value."""
    people = pd.DataFrame({"id": range(24), "sex": ["f", "m", ""] * 8, "s": ["", None] * 12})
    csv, parquet = tmp_path / "release.csv", tmp_path / "release.parquet"
    for asked, way in (
        ({"require": "k=2", "nulls": "distinct"}, "nulls='equal'"),
        ({"require": "l=2", "sensitive": "s", "values": "exact"}, "values='fold'"),
    ):
        more: dict[str, Any] = {"qi": "sex", "keep_column": "id", **asked}
        with pytest.raises(
            UsageError, match=rf"an empty text from a missing value.*Write a \.parquet file, or use {way}"
        ):
            call(people, **more, to=csv)
        assert not csv.exists()
        call(people, **more, to=parquet)
        assert len(pd.read_parquet(parquet)) == 24
