"""Cubes against the same blocks in Python, and against every table that has the same cube."""

from __future__ import annotations

import csv
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import SqlauditError, UsageError
from sqlaudit.base.files import PrivateFolder
from sqlaudit.base.options import request_from
from sqlaudit.base.relation import Statement
from sqlaudit.cubes.blocks import open_cube
from sqlaudit.cubes.request import CubeRequest
from sqlaudit.cubes.result import CubeResult
from sqlaudit.engines.contract import Engine
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.text import render_text
from tests.audit_values import values_query
from tests.cli.runner import run
from tests.strategies import run as cases

COLUMNS = {"region": "text", "year": "int", "who": "int", "home": "int", "cost": "decimal", "flag": "int"}
Row = tuple[str | None, int, int, str | None, int | None]
rows = st.lists(
    st.tuples(
        st.sampled_from(["a", "b'", None]),
        st.sampled_from([1, 2]),
        st.integers(1, 7),
        st.sampled_from([None, "1", "2.5", "10", "0.01", "100"]),
        st.sampled_from([None, 0, 1, 1]),
    ),
    min_size=1,
    max_size=24,
)


def query_of(table: Sequence[Row]) -> str:
    names = ("region", "year", "who", "cost", "flag")
    return values_query([dict(zip(names, row, strict=True)) | {"home": row[2] // 2} for row in table], COLUMNS)


def report_of(found: CubeResult) -> str:
    return " ".join(render_text(document_of(found)).split())


def cube_of(engine: Engine, query: str, **more: Any) -> tuple[CubeResult, list[tuple[Any, ...]]]:
    """The result of a cube, and its rows as its SELECT gives them."""
    asked: dict[str, Any] = {"target": None, "query": query, "dimensions": ["region", "year"], **more}
    found = sqlaudit.cube(db=engine, **asked)
    select = open_cube(engine, request_from(CubeRequest, {"values": None, **asked})).select(None)
    return found, [tuple(row) for batch in engine.stream(select) for row in batch]


class Block:
    """A block with what its people have."""

    def __init__(self, table: Sequence[Row], entity: bool) -> None:
        self.rows = table
        self.people = [[row for row in table if row[2] == who] for who in sorted({row[2] for row in table})]
        if not entity:
            self.people = [[row] for row in table]

    def contributions(self, place: int) -> list[Fraction]:
        """What each person has who has anything, largest first."""
        values = [[Fraction(str(row[place])) for row in person if row[place] is not None] for person in self.people]
        return sorted((sum(one, Fraction(0)) for one in values if one), reverse=True)

    def homes(self, place: int | None) -> int:
        who = {row[2] // 2 for row in self.rows if place is None or row[place] is not None}
        return len(who)

    def uniform(self, place: int, spared: int) -> bool:
        """All people but the spared have one contribution, or one value in all their rows."""
        has = [[Fraction(str(row[place])) for row in person if row[place] is not None] for person in self.people]
        has = [values for values in has if values]
        alike = [*Counter(map(sum, has)).values(), *Counter(v[0] for v in has if len({*v}) == 1).values()]
        return bool(has) and len(has) - max(alike) <= spared


def blocks_of(table: Sequence[Row], entity: bool) -> dict[tuple[Any, Any], Block]:
    keys = dict.fromkeys((row[0], row[1]) for row in table)
    return {key: Block([row for row in table if row[:2] == key], entity) for key in keys}


def fails(block: Block, least: int, spared: int) -> dict[str, bool]:
    """Which rules a block fails, written out."""
    measures = (3, 4)
    parts = {place: block.contributions(place) for place in measures}
    return {
        f"threshold={least}": any(
            0 < number < least + spared for number in (len(block.people), *map(len, parts.values()))
        ),
        "holdings=2": any(0 < block.homes(place) < 2 for place in (None, *measures)),
        "dominance=n:1,k:60": any(sum(part[:1]) * 100 > 60 * sum(part) for part in parts.values()),
        "dominance=n:2,k:90": any(sum(part[:2]) * 100 > 90 * sum(part) for part in parts.values()),
        "p_percent=15": any(part and sum(part[2:]) * 100 < 15 * part[0] for part in parts.values()),
        "pq=p:10,q:50": any(part and sum(part[2:]) * 50 < 10 * part[0] for part in parts.values()),
        "full_cell=flag": block.uniform(4, spared),
        "full_cell=any": any(block.uniform(place, spared) for place in measures),
    }


def is_of_people(table: Sequence[Row], place: int, k: int) -> bool:
    """k people or more have several values, and fewer different ones: the measure is theirs, not of their rows.

    One value of the whole table is of no person.
    """
    if len({row[place] for row in table if row[place] is not None}) == 1:
        return False
    values = [[row[place] for row in table if row[2] == who and row[place] is not None] for who in range(1, 8)]
    return sum(len(has) > 1 for has in values) >= k > sum(len({*has}) > 1 for has in values)


@cases(60)
@given(rows, st.booleans(), st.integers(2, 3), st.integers(0, 1))
def test_every_block_is_what_python_adds_up(
    engine: Engine, table: list[Row], entity: bool, least: int, spared: int
) -> None:
    blocks = blocks_of(table, entity)
    rules = list(fails(next(iter(blocks.values())), least, spared))
    failing = {key: fails(block, least, spared) for key, block in blocks.items()}
    asked: dict[str, Any] = {"measures": ["cost", "flag"], "entity": "who" if entity else "", "holdings": "home"}
    asked["known_contributors"] = spared
    if entity and any(is_of_people(table, place, least + spared) for place in (3, 4)):
        with pytest.raises(UsageError, match="is the same in all rows of a person"):
            cube_of(engine, query_of(table), require=rules[:1], **asked)
        return
    for required in ([rules[0]], [rules[0], rules[1]], [rules[0], rules[2], rules[6]], rules):
        keep = rules[7] not in required
        asked["uniform"] = "keep" if keep else "leave-out"
        found, cube = cube_of(engine, query_of(table), require=required, **asked)
        implied = cube_of(engine, query_of(table), require=required, **{**asked, "uniform": "leave-out"})[0]
        assert [rule.text for rule in implied.rules] == [*required, *([rules[7]] if keep else [])]
        every = [rule for rule in rules if rule in required or rule == rules[7]]
        assert implied.blocks == sum(not any(failing[key][rule] for rule in every) for key in blocks)
        kept = {key: block for key, block in blocks.items() if not any(failing[key][rule] for rule in required)}
        assert found.blocks == len(kept) == len(cube)
        assert found.uniform_blocks == sum(failing[key][rules[7]] for key in kept)
        met = [key for key in blocks if not any(failing[key][rule] for rule in required)]
        assert implied.uniform_blocks == sum(failing[key][rules[7]] for key in met)
        assert [rule.blocks for rule in found.rules] == [sum(f[rule] for f in failing.values()) for rule in required]
        for region, year, people, number, cost, costs, flags, flagged in cube:
            block = kept[region, year]
            assert (people, number) == (len(block.people), len(block.rows))
            parts = block.contributions(3), block.contributions(4)
            assert [None if one is None else Fraction(one) for one in (cost, flags)] == [
                sum(part) if part else None for part in parts
            ]
            assert [costs, flagged] == [sum(row[place] is not None for row in block.rows) for place in (3, 4)]
        left = sum(len(block.people) for key, block in blocks.items() if key not in kept)
        assert (found.left_out_share is None) == (0 < left < least + spared)
        assert found.left_out_people in (None, left)


def sums_by(table: Sequence[Row], places: Sequence[int], entity: bool) -> dict[tuple[Any, ...], Block]:
    keys = dict.fromkeys(tuple(row[place] for place in places) for row in table)
    return {key: Block([r for r in table if tuple(r[place] for place in places) == key], entity) for key in keys}


@cases(40)
@given(rows, st.booleans(), st.integers(2, 4), st.sets(st.sampled_from([0, 1])), st.booleans())
def test_totals_published_elsewhere_are_a_cube_of_those_left_out(
    engine: Engine, table: list[Row], entity: bool, least: int, by: set[int], wrong: bool
) -> None:
    """Less the cube, totals are the groups of left-out rows by the totals' dimensions: judged as Python does."""
    places, blocks = sorted(by), blocks_of(table, entity)
    rules = [f"threshold={least}", "dominance=n:1,k:60", "full_cell=flag"]
    left = [r for r in table if any(fails(blocks[r[0], r[1]], least, 0)[rule] for rule in rules)]
    groups = sums_by(left, places, entity)
    with PrivateFolder("totals") as folder:
        with (folder.path / "totals.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["cost_sum", *(("REGION", "year")[place] for place in places), "people", "flag_count"])
            for size in range(len(places) + 1):
                for some in combinations(places, size):
                    for key, block in sums_by(table, some, entity).items():
                        own = dict(zip(some, key, strict=True))
                        parts = block.contributions(3)
                        number = len(block.people) + (wrong and not some)
                        flagged = sum(row[4] is not None for row in block.rows)
                        cost = float(sum(parts)) if parts else None
                        writer.writerow([cost, *(own.get(place) for place in places), number, flagged])
        asked: dict[str, Any] = {"measures": ["cost", "flag"], "entity": "who" if entity else "", "require": rules}
        asked |= {"margins": [folder.path / "totals.csv"], "uniform": "keep"}
        if entity and any(is_of_people(table, place, least) for place in (3, 4)):
            with pytest.raises(UsageError, match="is the same in all rows of a person"):
                cube_of(engine, query_of(table), **asked)
        elif len(left) == len(table):
            assert cube_of(engine, query_of(table), **asked)[0].margins is None
        elif wrong:
            with pytest.raises(UsageError, match="1 total is not among those of this table"):
                cube_of(engine, query_of(table), **asked)
        else:
            found = cube_of(engine, query_of(table), **asked)[0]
            unsafe = sum(any(fails(block, least, 0)[rule] for rule in rules) for block in groups.values())
            assert found.margins is not None
            assert (found.margins.groups, found.margins.unsafe, found.passed) == (len(groups), unsafe, not unsafe)


# The promise, by brute force: in all tables with the same cube, no few people have one sum.

DOMAIN = (None, *range(-2, 6))
"""What an attacker takes for possible, beyond what the tables have."""
people = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([None, 0, 1, 2, 3])), min_size=2, max_size=9)
flags = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([0, 1, 1, None])), min_size=2, max_size=12)
scores = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([1, 3, 3, 6])), min_size=2, max_size=10)


def tables_with(block: Mapping[str, int | None], domain: Sequence[int | None]) -> Iterator[tuple[int | None, ...]]:
    """Every assignment of values to the people of a block with its sum and count."""
    for values in product(domain, repeat=int(block["people"] or 0)):
        known = [value for value in values if value is not None]
        if len(known) == block["count"] and (sum(known) if known else None) == block["sum"]:
            yield values


def determined(tables: list[tuple[int | None, ...]], size: int) -> bool:
    """Whether some set of so many people has the same sum in all tables."""
    members = range(len(tables[0]))
    return any(
        len({sum(table[one] or 0 for one in chosen) for table in tables}) == 1 for chosen in combinations(members, size)
    )


def check_sets(own: Sequence[int | None], tables: Sequence[tuple[int | None, ...]], k: int, spared: int) -> None:
    """No fewer than k people have one sum in all tables that agree on the values of the spared people."""
    for known in combinations(range(len(own)), spared):
        fitting = [one for one in tables if all(one[person] == own[person] for person in known)]
        others = [tuple(v for at, v in enumerate(one) if at not in known) for one in fitting]
        assert not any(determined(others, size) for size in range(1, k))


def check_promise(engine: Engine, table: list[tuple[str, int | None]], k: int, spared: int, domain: Any) -> None:
    """No fewer than k people of a block have a known sum, for somebody who knows everyone's block and some values."""
    named = [{"g": group, "x": value} for group, value in table]
    query = values_query(named, {"g": "text", "x": "int"})
    rules = [f"threshold={k}"]
    asked = {"dimensions": ["g"], "measures": ["x"], "require": rules, "known_contributors": spared}
    _, cube = cube_of(engine, query, **asked)
    for group, number, _, total, count in cube:
        if not count:
            continue  # no one has a value: there is no sum
        assert number >= k + spared
        own = [value for name, value in table if name == group]
        every = list(tables_with({"people": number, "sum": total, "count": count}, domain))
        assert tuple(own) in every
        has_value = [value is not None for value in own]
        contributors = [person for person in range(number) if has_value[person]]
        # An attacker may also know who has a value: then sets of those who have one have no known sum either
        of_contributors = {
            tuple(one[person] for person in contributors)
            for one in every
            if [value is not None for value in one] == has_value
        }
        given_values = tuple(own[person] for person in contributors)
        check_sets(own, every, k, spared)
        check_sets(given_values, list(of_contributors), k, spared)


@cases(60)
@given(people, st.integers(2, 3))
def test_no_few_people_have_one_sum(engine: Engine, table: list[tuple[str, int | None]], k: int) -> None:
    small = [row for group in "ab" for row in [one for one in table if one[0] == group][:5]]
    check_promise(engine, small, k, 0, DOMAIN)


@cases(60)
@given(flags, st.integers(2, 3), st.integers(0, 2))
def test_no_few_people_have_one_answer(engine: Engine, table: list[tuple[str, int]], k: int, spared: int) -> None:
    check_promise(engine, [*table], k, spared, (0, 1, None))


@cases(60)
@given(scores, st.integers(2, 3), st.integers(0, 1))
def test_no_few_people_have_one_score(engine: Engine, table: list[tuple[str, int]], k: int, spared: int) -> None:
    """For somebody who knows that there are three values: with many of the largest, only these add up to the sum."""
    check_promise(
        engine, [row for group in "ab" for row in [one for one in table if one[0] == group][:6]], k, spared, (1, 3, 6)
    )


@pytest.mark.parametrize("value", [0, 1, 100])
def test_a_block_where_everyone_has_one_value(engine: Engine, value: int) -> None:
    table = [{"g": "a", "x": value} for _ in range(5)] + [{"g": "b", "x": number} for number in range(5)]
    query = values_query(table, {"g": "text", "x": "int"})
    asked: dict[str, Any] = {"dimensions": ["g"], "measures": ["x"], "require": ["threshold=5"]}
    found, cube = cube_of(engine, query, **asked)
    assert [row[0] for row in cube] == ["b"]
    assert [(rule.text, rule.blocks) for rule in found.rules] == [("threshold=5", 0), ("full_cell=any", 1)]
    assert "1 block was left out only because everyone has the same value of a measure" in report_of(found)
    assert "uniform='keep' keeps such blocks" in report_of(found)
    assert "Blocks that are missing" in report_of(found)
    assert "1 block: no query isolates fewer than 5 people" in report_of(found)
    found, cube = cube_of(engine, query, uniform="keep", **asked)
    assert sorted(row[0] for row in cube) == ["a", "b"]
    assert found.uniform_blocks == 1
    assert "2 blocks: in 1, everyone has the same value" in report_of(found)
    assert "no query isolates" not in report_of(found)


def test_the_same_value_in_all_rows_of_a_person(engine: Engine) -> None:
    """Blocks of the same people, but for one who is in the first only: their difference is the income of that one."""
    table = [{"who": who, "month": month, "x": 7 * who} for month in (1, 2) for who in range(6 if month == 1 else 5)]
    columns = {"who": "int", "month": "int", "x": "int"}
    asked: dict[str, Any] = {"dimensions": ["month"], "measures": ["x"], "require": ["threshold=5"]}
    _, cube = cube_of(engine, values_query(table, columns), **asked)
    (total, *_), (less, *_) = (row[3:] for row in sorted(cube))
    assert total - less == 7 * 5
    asked["entity"] = "who"
    with pytest.raises(UsageError, match="x is the same in all rows of a person"):
        cube_of(engine, values_query(table, columns), **asked)
    one_price = values_query([{**row, "x": 25} for row in table], columns)
    found, cube = cube_of(engine, one_price, **asked)
    assert (found.blocks, found.uniform_blocks) == (0, 2)
    assert "2 blocks were left out only because everyone has the same value" in report_of(found)
    assert [row[-2:] for row in sorted(cube_of(engine, one_price, uniform="keep", **asked)[1])] == [(150, 6), (125, 5)]
    by_row = [{**row, "x": (row["who"] + 1) * row["month"]} for row in table]
    found, cube = cube_of(engine, values_query(by_row, columns), **asked)
    assert (len(cube), found.people_repeat) == (2, True)
    assert "People are in several blocks" in report_of(found)


@cases(60)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([0, 1])), min_size=3, max_size=6))
def test_no_few_people_have_one_count(engine: Engine, table: list[tuple[str, int]]) -> None:
    """For somebody who knows no one's block: in all tables with the cube, sets of one have no known block or value."""
    k, groups = 2, "abc"
    query = values_query([{"g": group, "x": value} for group, value in table], {"g": "text", "x": "int"})
    _, cube = cube_of(engine, query, dimensions=["g"], measures=["x"], require=[f"threshold={k}"])
    published = {group: (number, total) for group, number, _, total, _ in cube}
    own = {group: (sum(g == group for g, _ in table), sum(x for g, x in table if g == group)) for group in groups}
    assert all(own[group] == published[group] for group in published)

    def fits(candidate: tuple[tuple[str, int], ...]) -> bool:
        return all(
            (sum(g == group for g, _ in candidate), sum(x for g, x in candidate if g == group)) == published[group]
            for group in published
        )

    every = [c for c in product(list(product(groups, (0, 1))), repeat=len(table)) if fits(c)] if published else []
    for person in range(len(table)) if every else ():
        assert len({one[person][1] for one in every}) == 2
        if len(published) > 1 or sum(number for number, _ in published.values()) < len(table):
            assert all(len({one[person][0] == group for one in every}) == 2 for group in published)


# What a stranger types.

PEOPLE = pd.DataFrame(
    {
        "who": [f"p{n}" for n in range(60)],
        "age": [20 + n % 40 for n in range(60)],
        "sex": ["f", "m"] * 30,
        "income": [100 + n for n in range(60)],
    }
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    PEOPLE.to_csv("people.csv", index=False)
    Path("levels.yml").write_text("hierarchies: {age: {widths: [10]}}")
    return tmp_path


ASKED = ("cube", "people.csv", "--dimensions", "sex", "--measures", "income", "--entity", "who")


def test_the_forms_hold_the_same_blocks(folder: Path) -> None:
    for form in ("parquet", "csv"):
        ran = run(*ASKED, "--require", "threshold=5", "--to", f"cube.{form}")
        assert (ran.code, "2 blocks" in ran.said) == (0, True), ran.err
    sums = {"f": (30, 30, sum(range(100, 160, 2)), 30), "m": (30, 30, sum(range(101, 160, 2)), 30)}
    for form in ("cube.parquet", "cube.csv"):
        assert {row[0]: row[1:] for row in duckdb.sql(f"SELECT * FROM '{form}'").fetchall()} == sums


def test_a_cube_becomes_a_view_and_a_table(folder: Path) -> None:
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("CREATE TABLE people AS SELECT * FROM 'people.csv'")
    asked = ("cube", "people", "--db", "clinic.duckdb", *ASKED[2:], "--require", "threshold=5", "--execute")
    for named in (("--publish-view", "cube"), ("--to", "table:cube_now")):
        assert run(*asked, *named).code == 0
    assert run(*asked, "--to", "table:cube_now").code == 2
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("DELETE FROM people WHERE who < 'p5' AND sex = 'f'")
        counts = [connection.execute(f"SELECT sum(people) FROM {name}").fetchall() for name in ("cube", "cube_now")]
        left = connection.execute("SELECT count(*) FROM people").fetchall()
    assert counts == [left, [(60,)]]


def test_levels_by_name(folder: Path) -> None:
    ran = run(*ASKED[:2], "--dimensions", "age=20 years,sex", "--require", "threshold=5", "--to", "cube.csv")
    assert ran.code == 0, ran.err
    ages = duckdb.sql("SELECT age, sum(people) FROM 'cube.csv' GROUP BY age ORDER BY age").fetchall()
    assert ages == [("[20, 40)", 40), ("[40, 60)", 20)]


def test_few_left_out_people_are_not_counted() -> None:
    table = pd.concat([PEOPLE, PEOPLE.assign(sex="x").head(3)])
    found = sqlaudit.cube(table, dimensions=["sex"], require={"threshold": 5})
    assert (found.blocks, found.left_out_blocks, found.left_out_people, found.left_out_share) == (2, 1, None, None)
    document = found.to_dict()
    assert "63" not in str({name: value for name, value in document.items() if name != "statements"})


def test_the_finest_levels_that_leave_few_out() -> None:
    asked: dict[str, Any] = {"dimensions": ["age", "sex"], "require": ["threshold=5"], "entity": "who"}
    found = sqlaudit.cube(PEOPLE, suppress="5%", **asked)
    assert found.choice is not None
    assert found.choice.fits
    assert (found.choice.blocks_before, found.choice.left_out_before) == (0, 1)
    shares = {}
    for age in ("unchanged", "5 years", "10 years", "20 years", "*"):
        one = sqlaudit.cube(PEOPLE, **asked | {"dimensions": [f"age={age}", "sex"]})
        shares[age] = 60 - one.people
    best = next(age for age, left in shares.items() if left <= 3)
    assert {one.name: one.level for one in found.dimensions} == {"age": best, "sex": ""}
    rows_are_people = sqlaudit.cube(PEOPLE, suppress="5%", **asked | {"entity": ""})
    assert rows_are_people.dimensions == found.dimensions
    nothing = sqlaudit.cube(PEOPLE, **asked | {"require": ["threshold=61"]}, suppress="5%")
    assert (nothing.passed, nothing.blocks) == (False, 0)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ((), "No threshold is given"),
        (("--require", "p_percent=10"), "No threshold is given"),
        (("--require", "threshold=1"), "at least 2"),
        (("--require", "threshold=5", "--require", "no_unpickable_cell=2"), "looks at more than one cell"),
        (("--require", "threshold=5", "--require", "full_cell=age"), "names a measure of the cube"),
        (("--require", "threshold=5", "--require", "holdings=2"), "--holdings"),
        (("--require", "threshold=5", "--measures", "incme"), "Did you mean 'income'"),
        (("--require", "threshold=5", "--measures", "who"), "not numeric"),
        (("--require", "threshold=5", "--dimensions", "sex,SEX"), "called 'sex'"),
        (("--require", "threshold=5", "--dimensions", "age=7 years"), "has no level"),
        (
            ("--require", "threshold=5", "--dimensions", "age", "--hierarchies", "levels.yml"),
            "No dimension has a level",
        ),
        (
            ("--require", "threshold=5", "--hierarchies", "levels.yml", "--suppress", "1%"),
            "'age' is not a dimension. Available: sex.",
        ),
        (("--require", "threshold=5", "--to", "people.csv"), "is an input"),
        (("--require", "threshold=61", "--to", "cube.csv"), ""),
    ],
)
def test_what_is_refused_leaves_nothing_behind(folder: Path, more: tuple[str, ...], said: str) -> None:
    before = (folder / "people.csv").read_text()
    ran = run(*ASKED, *more)
    assert ran.code == (2 if said else 1), ran.said
    assert said in ran.err
    assert "p17" not in ran.err
    assert sorted(file.name for file in folder.iterdir()) == ["levels.yml", "people.csv"]
    assert (folder / "people.csv").read_text() == before


def test_rows_without_a_person_and_negative_contributions() -> None:
    asked: dict[str, Any] = {"dimensions": ["sex"], "measures": ["income"], "entity": "who"}
    with pytest.raises(UsageError, match="rows without a person"):
        sqlaudit.cube(PEOPLE.assign(who=[None, *PEOPLE.who[1:]]), require=["threshold=5"], **asked)
    losses = PEOPLE.assign(income=PEOPLE.income - 101)
    with pytest.raises(UsageError, match="negative contributions"):
        sqlaudit.cube(losses, require=["threshold=5", "dominance=n:1,k:85"], **asked)
    found = sqlaudit.cube(losses, require=["threshold=5", "dominance=n:1,k:85"], negative="absolute", **asked)
    assert found.blocks == 2


def test_totals_that_are_not_those_of_the_cube(folder: Path) -> None:
    table = pd.concat([PEOPLE, PEOPLE[:4].assign(who=list("abcd"), sex="x")])
    table.to_csv("people.csv", index=False)
    asked = (*ASKED, "--require", "threshold=5", "--margins", "totals.csv", "--to", "cube.csv")
    cases = {
        "sex,n\nf,30\n": (2, "has the column 'n', which the cube does not have"),
        "sex\nf\n": (2, "has no figure of the cube: people"),
        "sex,people\nall,64\n": (2, "1 total is not among those of this table"),
        "sex,people\nf,30\n,64\n": (1, "1 group by sex fails a rule"),
        "income_sum\n8176\n": (1, "1 group fails a rule"),
        "income_sum\n8177\n": (2, "1 total is not among"),
    }
    assert table.income.sum() == 8176
    for text, (code, said) in cases.items():
        Path("totals.csv").write_text(text)
        ran = run(*asked)
        assert (ran.code, Path("cube.csv").exists()) == (code, False), (text, ran.said)
        assert said in " ".join((ran.out + ran.err).split()), ran.err
        assert "any query may run" not in ran.out
    pd.concat([table, PEOPLE[:3].assign(who=list("efg"), sex="y")]).to_csv("people.csv", index=False)
    Path("totals.csv").write_text("people\n67\n")
    assert run(*asked).code == 0
    table.assign(age=20.0 + table.age % 2).to_csv("people.csv", index=False)
    Path("totals.csv").write_text("age,people\n20,32\n021,32\n")
    ran = run(*asked[:2], "--dimensions", "age", *asked[4:-1], "ages.csv")
    assert (ran.code, "no one is left out" in " ".join(ran.out.split())) == (0, True), ran.err


def test_a_second_cube_of_changed_data(folder: Path) -> None:
    asked = (*ASKED, "--require", "threshold=5", "--before", "old.parquet", "--to", "new.parquet")
    assert run(*asked[:-4], "--to", "old.parquet").code == 0
    changes = {
        "nothing": (PEOPLE, 0),
        "one person less": (PEOPLE[1:], 1),
        "few people more": (pd.concat([PEOPLE, PEOPLE[:8].assign(who=[f"q{n}" for n in range(8)])]), 1),
        "many people more": (pd.concat([PEOPLE, PEOPLE[:20].assign(who=[f"q{n}" for n in range(20)])]), 0),
        "one for another": (PEOPLE.assign(income=[7, *PEOPLE.income[1:]]), 1),
        "one row more": (pd.concat([PEOPLE, PEOPLE[:1]]), 1),
    }
    for what, (table, code) in changes.items():
        table.to_csv("people.csv", index=False)
        ran = run(*asked)
        assert (ran.code, Path("new.parquet").exists()) == (code, code == 0), (what, ran.out)
        Path("new.parquet").unlink(missing_ok=True)
    assert run(*asked[:-1], "old.parquet").code == 2
    assert "the same dimensions and measures" in run(*asked, "--measures", "age").err


def test_blocks_that_changed_little_are_not_kept_at_their_old_figures(folder: Path) -> None:
    """Two move from a to b, where j is new, and k is new in c. With c as it was, a and b would show the value of j."""
    before = {"a": "1234", "b": "567", "c": "890"}
    after = {"a": "34", "b": "56712j", "c": "890k"}
    values = dict(zip("1234567890jk", (0, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0), strict=True))

    def save(blocks: Mapping[str, str]) -> None:
        lines = [f"{who},{block},{values[who]}" for block, people in blocks.items() for who in people]
        Path("people.csv").write_text("who,block,x\n" + "\n".join(lines) + "\n")

    asked = ("cube", "people.csv", "--dimensions", "block", "--measures", "x", "--require", "threshold=2")
    save(before)
    assert run(*asked, "--to", "old.csv").code == 0
    save(after)
    ran = run(*asked, "--before", "old.csv", "--to", "new.csv")
    assert (ran.code, Path("new.csv").exists()) == (1, False), ran.out
    changes = [abs(len(after[block]) - len(before[block])) for block in "abc"]
    assert changes == [2, 3, 1]
    published = [*before.values(), after["a"], after["b"]]
    sums = [sum(values[who] for who in people) for people in published]
    fitting = [
        known
        for known in (dict(zip(values, given, strict=True)) for given in product((0, 1), repeat=len(values)))
        if [sum(known[who] for who in people) for people in published] == sums
    ]
    assert {known["j"] for known in fitting} == {values["j"]}
    assert all(len({known[who] for known in fitting}) == 2 for who in values if who != "j")


@pytest.mark.parametrize("entity", ["", "who"])
def test_a_compiled_cube_is_the_same(engine: Engine, entity: str) -> None:
    table: list[Row] = [("a", n % 2, n // 2 if n > 3 else n, str(n), n % 2) for n in range(24)]
    query = query_of(table)
    asked: dict[str, Any] = {"measures": ["cost", "flag"], "entity": entity, "known_contributors": 1}
    rules = ["threshold=3", "dominance=n:2,k:60", "full_cell=flag"]
    _, cube = cube_of(engine, query, require=rules, **asked)
    compiled = sqlaudit.compile_checks(
        query=query, dimensions=["region", "year"], checks=rules, dialect=engine.dialect, **asked
    )
    rows = [tuple(row) for row in engine.run(Statement("cube", compiled[0].sql))]
    assert sorted(rows) == sorted(cube)


def test_a_cube_for_any_warehouse_leaves_out_who_is_nobody() -> None:
    rules = {"dimensions": "g", "measures": "x", "entity": "who", "checks": ["threshold=2", "p_percent=1"]}
    compiled = sqlaudit.compile_checks("people", dialect="sqlite", **rules)
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE people (who, g, x)")
        people = [*((n, "a", n) for n in range(4)), (1, "b", 1), (None, "b", 1), (None, "b", 5), (7, "c", 1)]
        connection.executemany("INSERT INTO people VALUES (?, ?, ?)", people)
        assert connection.execute(compiled[0].sql).fetchall() == [("a", 4, 4, 6, 4)]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("holdings=2", "--holdings", "home"), "No threshold is given"),
        (("threshold=5", "--count", "n"), "is made from rows of people"),
        (("threshold=5", "--qi", "age"), "no --qi"),
        (("threshold=5", "--returns", "count"), "--returns"),
        (("k=5",), "k"),
    ],
)
def test_what_a_compiled_cube_does_not_take(more: tuple[str, ...], said: str) -> None:
    ran = run("compile", "--table", "people", "--dimensions", "sex", *more)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert "needs dimensions" in run("compile", "--table", "people", "--measures", "x", "threshold=5").err


@pytest.mark.postgres
def test_a_view_in_postgres(load: Any, postgres_admin_url: str) -> None:
    load("cube_people", PEOPLE.assign(sex=['f"', "m😀"] * 30))
    asked = ("cube", "cube_people", "--db", postgres_admin_url, *ASKED[2:], "--require", "threshold=5")
    assert run(*asked, "--publish-view", "sum_of_people", "--execute").code == 0
    assert run(*asked, "--publish-view", "sum_of_people", "--execute").code == 2
    assert run(*asked, "--publish-view", "sum_of_people", "--execute", "--replace").code == 0
    with psycopg.connect(postgres_admin_url) as connection:
        rows = connection.execute("SELECT * FROM sum_of_people ORDER BY sex").fetchall()
        connection.execute("DROP VIEW sum_of_people")
    assert rows == [('f"', 30, 30, sum(range(100, 160, 2)), 30), ("m😀", 30, 30, sum(range(101, 160, 2)), 30)]


def test_what_is_no_number_is_not_added_up() -> None:
    for value in (float("nan"), float("inf"), 1e30):
        query = f"SELECT 'a' AS g, unnest([CAST('{value}' AS DOUBLE), 1.5, 2.5, 3.5, 4.5, 5.5]) AS x"
        with pytest.raises(SqlauditError) as refused:
            sqlaudit.cube(query=query, dimensions=["g"], measures=["x"], require={"threshold": 5})
        assert str(value) not in str(refused.value)


def test_a_table_without_rows_is_not_judged(folder: Path) -> None:
    PEOPLE[:0].to_csv("people.csv", index=False)
    ran = run(*ASKED[:4], "--entity", "who", "--require", "threshold=5", "--to", "cube.csv")
    assert ran.code == 1, ran.err
    assert "UNDETERMINED: the table has no rows" in ran.out
    assert "FAIL" not in ran.out
    assert not Path("cube.csv").exists()
