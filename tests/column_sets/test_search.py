"""Whole searches against brute force: every property, mode and NULL policy, rows and persons, on both engines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import desbordante
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base import errors
from sqlaudit.base.errors import Interrupted, UsageError
from sqlaudit.base.relation import ColumnInfo, Kind, Relation
from sqlaudit.base.spec import NullPolicy, Target
from sqlaudit.column_sets import counting, identify, masks, search
from sqlaudit.column_sets.counting import choose_column
from sqlaudit.column_sets.request import ColumnRequest, FindSets, RankBy, Ratio
from sqlaudit.column_sets.result import ColumnSets
from sqlaudit.column_sets.search import find_columns
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.duckdb.engine import DuckDBEngine
from tests.column_sets import oracle
from tests.column_sets.test_counting import NAMES, query_of, quick
from tests.few import ALL, LEAST
from tests.places import REPOSITORY
from tests.postgres_load import Loader

ADULT = REPOSITORY.parent / "shared" / "data" / "adult.csv"
value = st.one_of(st.none(), st.integers(0, 3))
word = st.one_of(st.none(), st.sampled_from(["", "a", "B"]))
number = st.one_of(st.none(), st.sampled_from([0.5, -1.0]))
tables = st.lists(
    st.tuples(value, word, number, st.integers(0, 1), st.integers(0, 4)), min_size=min(LEAST, 3), max_size=10
)
searches = {
    "find": st.sampled_from([FindSets.ALL, FindSets.MINIMUM, FindSets.GREEDY]),
    "max_size": st.one_of(st.none(), st.integers(1, 4)),
    "k": st.integers(1, 4),
    "tolerance": st.sampled_from([Fraction(0), Fraction(1, 5)]),
}


def sets_of(found: ColumnSets) -> set[oracle.Columns]:
    return {tuple(NAMES.index(name) for name in one.columns) for one in found.sets}


def compare(found: ColumnSets, expected: set[oracle.Columns], find: FindSets) -> None:
    got = sets_of(found)
    if find is FindSets.ALL:
        assert found.complete
        assert got == expected
    elif find is FindSets.MINIMUM:
        assert found.complete
        assert len(got) == bool(expected)
        assert got <= expected
        assert not got or len(next(iter(got))) == min(map(len, expected))
    else:
        assert got <= expected
        assert bool(got) == bool(expected)


def violating(engine: Engine, request: ColumnRequest, rows: list[tuple[Any, ...]], *, entity: bool) -> None:
    asked = replace(request, exclude=("person",), entity="person" if entity else None)
    found = find_columns(engine, asked)
    nulls, person = request.nulls.value, 4 if entity else None

    def has(chosen: oracle.Columns) -> bool:
        return oracle.violates(rows, chosen, request.k, request.tolerance, nulls, entity=person)

    limit = request.max_size if request.find is not FindSets.GREEDY else None
    compare(found, oracle.minimal_sets(4, has, limit), request.find)
    if request.find is FindSets.ALL:
        border = {tuple(NAMES.index(name) for name in names) for names in found.border}
        assert border == oracle.maximal_lacking(4, has, limit or 4)
    for one in found.sets:
        chosen = tuple(NAMES.index(name) for name in one.columns)
        expected = oracle.figures(rows, chosen, request.k, nulls, person)
        assert (one.classes, one.min_size, one.rows_at_risk, one.unique_rows) == (
            expected["classes"],
            expected["min_size"],
            expected["at_risk"],
            expected["unique"],
        )
        assert one.share_at_risk == Fraction(expected["at_risk"], expected["total"])
    for effect in found.effects:
        rest = tuple(i for i in range(4) if NAMES[i] != effect.column)
        figures = oracle.figures(rows, rest, request.k, nulls, person)
        assert effect.without == Fraction(figures["at_risk"], figures["total"])
        assert effect.in_sets == sum(effect.column in one.columns for one in found.sets)


@pytest.mark.few_on_postgres(0)
@pytest.mark.parametrize("nulls", list(NullPolicy))
@pytest.mark.parametrize("entity", [False, True])
def test_violating_sets_on_duckdb(engine: Engine, nulls: NullPolicy, entity: bool) -> None:
    @quick(4, 18 if nulls is not NullPolicy.WILDCARD else 8)
    @given(tables, st.fixed_dictionaries(searches))
    def run(rows: list[tuple[Any, ...]], options: dict[str, Any]) -> None:
        violating(engine, ColumnRequest(query_of(rows), nulls=nulls, **options), rows, entity=entity)

    run()


@pytest.mark.few_on_postgres(0)
@pytest.mark.parametrize("nulls", [NullPolicy.EQUAL, NullPolicy.DISTINCT])
@pytest.mark.parametrize("entity", [False, True])
def test_identifying_sets_on_duckdb(engine: Engine, nulls: NullPolicy, entity: bool) -> None:
    @quick(5, 25)
    @given(tables, searches["find"], searches["max_size"])
    def run(rows: list[tuple[Any, ...]], find: FindSets, max_size: int | None) -> None:
        identifying(engine, query_of(rows), rows, find, max_size, nulls.value, entity=entity)

    run()


def identifying(
    engine: Engine,
    target: Target,
    rows: list[tuple[Any, ...]],
    find: FindSets,
    max_size: int | None,
    nulls: str,
    *,
    entity: bool,
) -> None:
    request = ColumnRequest(
        target,
        exclude=("person",),
        entity="person" if entity else None,
        identifying=True,
        find=find,
        max_size=max_size,
        nulls=NullPolicy(nulls),
        effects=False,
    )
    found = find_columns(engine, request)

    def has(chosen: oracle.Columns) -> bool:
        return oracle.identifies(rows, 4, chosen, nulls, 4 if entity else None)

    compare(found, oracle.minimal_sets(4, has, None if find is FindSets.GREEDY else max_size), find)
    if find is FindSets.ALL and not entity:
        if max_size is None:
            border = {tuple(NAMES.index(name) for name in names) for names in found.border}
            assert border == oracle.maximal_lacking(4, has)
        for one in found.sets:
            chosen = tuple(NAMES.index(name) for name in one.columns)
            assert one.distinction == 1
            assert one.classes == oracle.figures(rows, chosen, 2, nulls)["classes"]


@pytest.mark.few_on_postgres(0)
@quick(5, 25)
@given(tables, st.sampled_from(list(Ratio)), st.sampled_from([Fraction(1, 10), Fraction(1, 3), Fraction(3, 4)]))
def test_approximate_identifying_sets(
    engine: Engine, rows: list[tuple[Any, ...]], ratio: Ratio, epsilon: Fraction
) -> None:
    def has(chosen: oracle.Columns) -> bool:
        figures = oracle.figures(rows, chosen, 2)
        if ratio is Ratio.DISTINCT:
            whole = oracle.figures(rows, (0, 1, 2, 3), 2)["classes"]
            return Fraction(figures["classes"], whole) >= 1 - epsilon
        every = len(rows) * (len(rows) - 1)
        return every == 0 or 1 - Fraction(figures["pairs"], every) >= 1 - epsilon

    request = ColumnRequest(
        query_of(rows), exclude=("person",), identifying=True, epsilon=epsilon, ratio=ratio, effects=False
    )
    found = find_columns(engine, request)
    assert found.complete
    assert sets_of(found) == oracle.minimal_sets(4, has)


@pytest.mark.postgres
def test_searches_on_postgres(load: Loader, postgres_url: str) -> None:
    @quick(4, 8)
    @given(tables, st.fixed_dictionaries(searches), st.booleans(), st.booleans(), st.sampled_from(list(NullPolicy)))
    def run(rows: list[tuple[Any, ...]], options: dict[str, Any], entity: bool, keys: bool, nulls: NullPolicy) -> None:
        types = dict(zip(NAMES, ["int", "text", "float8", "int", "int"], strict=True))
        target = Target(relation=load("searched", rows, NAMES, types))
        with connect(postgres_url) as engine:
            if keys and nulls is not NullPolicy.WILDCARD:
                find, size = options["find"], options["max_size"]
                identifying(engine, target, rows, find, size, nulls.value, entity=entity)
            else:
                violating(engine, ColumnRequest(target, nulls=nulls, **options), rows, entity=entity)

    run()


@pytest.mark.spark
@pytest.mark.parametrize("most", [counting.MOST_CODES, 0], ids=["codes", "in place"])
def test_searches_on_spark(engine: Engine, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As codes on the workbench, and on the target itself, which is what happens to large tables."""
    monkeypatch.setattr(counting, "MOST_CODES", most)

    @quick(12, 12 if most else 5)
    @given(tables, st.fixed_dictionaries(searches), st.booleans(), st.booleans(), st.sampled_from(list(NullPolicy)))
    def run(rows: list[tuple[Any, ...]], options: dict[str, Any], entity: bool, keys: bool, nulls: NullPolicy) -> None:
        if keys and nulls is not NullPolicy.WILDCARD:
            find, size = options["find"], options["max_size"]
            identifying(engine, query_of(rows), rows, find, size, nulls.value, entity=entity)
        else:
            violating(engine, ColumnRequest(query_of(rows), nulls=nulls, **options), rows, entity=entity)

    run()


def paper_52() -> pd.DataFrame:
    rows = ["x1x6x", "xx27x", "x3x8x", "xx4x9", "5xxx0"]
    return pd.DataFrame([list(row) for row in rows], columns=list("abcde"))


def test_the_papers_example_5_2_with_its_step_corrected() -> None:
    target = Target(frame=paper_52())
    with connect() as engine:
        every = find_columns(engine, ColumnRequest(target, identifying=True))
        assert ["".join(one.columns) for one in every.sets] == ["ad", "bc", "be", "cd", "de"]
        start = ColumnRequest(target, identifying=True, find=FindSets.GREEDY, start=("a", "b", "c"))
        assert [one.columns for one in find_columns(engine, start).sets] == [("b", "c")]
        smallest = find_columns(engine, ColumnRequest(target, identifying=True, find=FindSets.MINIMUM))
        assert [len(one.columns) for one in smallest.sets] == [2]
        many = find_columns(engine, ColumnRequest(target, identifying=True, find=FindSets.GREEDY, restarts=30, seed=1))
        assert {one.columns for one in many.sets} == {one.columns for one in every.sets}


def cover_table(elements: int, family: list[set[int]]) -> pd.DataFrame:
    """The paper's reduction (section 4.1): a column a set, a row an element, and one row without any."""
    columns = {f"c{j}": [i if i in chosen else -1 for i in range(elements)] + [-1] for j, chosen in enumerate(family)}
    return pd.DataFrame(columns)


def test_the_papers_example_4_2() -> None:
    family = [{0, 1, 2}, {1, 3}, {2, 3}, {3, 4}]
    with connect() as engine:
        found = find_columns(engine, ColumnRequest(Target(frame=cover_table(5, family)), identifying=True))
    assert [one.columns for one in found.sets] == [("c0", "c3")]


families = st.integers(2, 7).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.sets(st.integers(0, n - 1), min_size=1), min_size=2, max_size=6))
)


@quick(5, 25)
@given(families)
def test_the_minimum_is_a_smallest_set_cover(case: tuple[int, list[set[int]]]) -> None:
    elements, family = case
    family = [*family, set(range(elements)) - family[0]] if family[0] != set(range(elements)) else family
    covers = [
        chosen
        for chosen in oracle.all_sets(len(family))
        if set().union(*(family[j] for j in chosen)) == set(range(elements))
    ]
    with connect() as engine:
        request = ColumnRequest(
            Target(frame=cover_table(elements, family)), identifying=True, find=FindSets.MINIMUM, effects=False
        )
        found = find_columns(engine, request)
    assert found.complete
    assert len(found.sets[0].columns) == min(map(len, covers))


def test_ranking_counts_every_set_up_to_a_size() -> None:
    data = pd.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2], "c": [1, 2, 3, 4], "d": [0, 0, 0, 0]})
    with connect() as engine:
        request = ColumnRequest(
            Target(frame=data), find=FindSets.RANKING, k=2, max_size=2, rank_by=RankBy.UNIQUE, limit=3
        )
        found = find_columns(engine, request)
        assert (found.sets_found, found.counts.candidates, found.complete) == (10, 11, True)
        assert [one.columns for one in found.sets] == [("c",), ("a", "b"), ("a", "c")]
        by_pairs = ColumnRequest(Target(frame=data), find=FindSets.RANKING, max_size=1, rank_by=RankBy.SEPARATION)
        ranked = find_columns(engine, by_pairs)
        assert [(one.columns[0], one.separation) for one in ranked.sets] == [
            ("c", 1),
            ("a", Fraction(2, 3)),
            ("b", Fraction(2, 3)),
            ("d", 0),
        ]


def test_explanations_say_what_each_column_adds() -> None:
    data = pd.DataFrame({"zip": [1, 1, 2, 2], "sex": list("fmfm"), "age": [30, 31, 30, 31]})
    with connect() as engine:
        found = find_columns(engine, ColumnRequest(Target(frame=data), k=2))
        assert [one.columns for one in found.sets] == [("zip", "sex"), ("zip", "age")]
        assert found.repair == ("zip",)
        assert found.explain(["zip", "sex"]).sentences() == (
            "zip, sex: 4 rows unique, 100% at risk.",
            "Without sex, rows at risk fall from 100% to 0%.",
            "Without zip, rows at risk fall from 100% to 0%.",
        )
        assert found.explain(["sex", "age"]).found.classes == 2
        assert next(effect.sentence() for effect in found.effects) == (
            "Without zip, rows at risk fall from 100% to 0%. Generalizing zip to ten bands changes nothing."
        )
        with pytest.raises(UsageError, match="'salary' was not searched"):
            found.explain(["salary"])


def test_a_spent_budget_is_said() -> None:
    with connect() as engine:
        request = ColumnRequest(Target(frame=paper_52()), k=2, time_budget=0, effects=False)
        found = find_columns(engine, request)
        assert (found.complete, found.sets, found.decided_size, found.open_sets) == (False, (), -1, 1)


class Clock:
    """A clock on which every look takes a second."""

    def __init__(self) -> None:
        self.now = 0

    def monotonic(self) -> int:
        self.now += 1
        return self.now


HURRIED: list[dict[str, Any]] = [
    {"k": 2},
    {"k": 2, "max_size": 1 << 30},
    {"k": 2, "nulls": NullPolicy.WILDCARD},
    {"k": 2, "find": FindSets.MINIMUM},
    {"k": 2, "find": FindSets.GREEDY, "restarts": 2},
    {"identifying": True},
    {"identifying": True, "epsilon": Fraction(1, 4)},
]


@pytest.mark.parametrize("options", [*HURRIED, {"k": 2, "find": FindSets.RANKING}], ids=str)
def test_whenever_somebody_stops_what_is_said_is_right(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in any statement of the search, after the columns were coded."""
    monkeypatch.setattr(search, "_LEVELS", 4)
    monkeypatch.setattr(counting, "_BATCH", 2)
    ended = []
    with connect() as engine:
        target = Target(frame=paper_52())
        relation = engine.open(target)
        request = ColumnRequest(target, **{**options, "restarts": 0}, effects=False)
        every = find_columns(engine, request, relation=relation)
        right = {one.columns: one for one in every.sets}
        for number in range(1, 30, 2 if ALL else 4):
            with monkeypatch.context() as patched:
                patched.setattr(DuckDBEngine, "run", stopped_at(number, DuckDBEngine.run))
                try:
                    found = find_columns(engine, ColumnRequest(target, **options), relation=relation)
                except Interrupted:
                    assert number < 6, "something was known by then"
                    continue
            ended.append(found.by_hand)
            assert found.complete or (found.by_hand and found.open_sets) or found.find == "greedy"
            if options.get("find") not in (FindSets.GREEDY, FindSets.MINIMUM):
                assert all(one == right[one.columns] for one in found.sets)
            assert all(not set(name) <= set(safe) for name in right for safe in found.border)
    assert True in ended


def stopped_at(number: int, run: Callable[..., Any]) -> Callable[..., Any]:
    """The method that runs statements, which ends as by Ctrl-C in one of them."""
    left = iter(range(number))

    def runs(*arguments: Any, **more: Any) -> Any:
        if next(left, None) == number - 1:
            raise Interrupted("Stopped.")
        return run(*arguments, **more)

    return runs


@pytest.mark.parametrize("options", HURRIED, ids=str)
def test_whenever_the_budget_ends_what_is_said_is_right(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_LEVELS", 4)
    monkeypatch.setattr(identify, "_ROUND", 2)
    monkeypatch.setattr(masks, "NODES", 2)
    data = paper_52()
    ended = []
    with connect() as engine:
        target = Target(frame=data)
        relation = engine.open(target)
        request = ColumnRequest(target, **{**options, "find": FindSets.ALL, "restarts": 0}, effects=False)
        every = find_columns(engine, request, relation=relation)
        right, whole = (
            {one.columns: one for one in every.sets},
            find_columns(engine, ColumnRequest(target, **options), relation=relation),
        )
        for seconds in range(0, 40, 3) if ALL else (0, 3, 9, 15, 21, 39):
            clock = Clock()
            monkeypatch.setattr(search, "time", clock)
            monkeypatch.setattr(errors, "time", clock)
            found = find_columns(engine, ColumnRequest(target, **options, time_budget=seconds), relation=relation)
            ended.append(found.complete)
            assert {one.columns for one in found.sets} <= set(right)
            assert all(one == right[one.columns] for one in found.sets)
            assert all(not set(name) <= set(safe) for name in right for safe in found.border)
            assert found.complete or found.open_sets or found.find == "greedy"
            if found.complete:
                assert (found.sets, found.border_found) == (whole.sets, whole.border_found)
    assert ended[0] is False
    assert ended == sorted(ended)
    assert ended[-1] is (options.get("find") is not FindSets.GREEDY)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k= must be at least 1, not 0"),
        ({"tolerance": Fraction(1)}, "tolerance= must be a share of at least 0 and below 1, not 1"),
        ({"identifying": True, "nulls": NullPolicy.WILDCARD}, "Identifying sets cannot be searched with wildcards"),
        ({"start": ("a",)}, "start= applies to the greedy"),
        ({"restarts": 2}, "restarts= applies to the greedy"),
    ],
)
def test_requests_without_a_meaning_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ColumnRequest(Target("people"), **options)


@pytest.mark.shared_data
def test_adult_has_the_counts_measured_before() -> None:
    if not ADULT.exists():
        pytest.skip("the shared data are not beside the checkout")
    target = Target(relation=str(ADULT))
    with connect(None, None, target) as engine:
        found = find_columns(engine, ColumnRequest(target, k=5, effects=False))
        assert (found.sets_found, found.complete) == (32, True)
        found = find_columns(engine, ColumnRequest(target, k=5, tolerance=Fraction(1, 100), effects=False))
        assert (found.sets_found, found.complete) == (136, True)


@pytest.mark.shared_data
def test_identifying_sets_of_adult_are_those_of_hpivalid() -> None:
    if not ADULT.exists():
        pytest.skip("the shared data are not beside the checkout")
    table = pd.read_csv(ADULT).drop_duplicates()
    algorithm = desbordante.ucc.algorithms.HPIValid()
    algorithm.load_data(table=table)
    algorithm.execute()
    expected = {tuple(table.columns[i] for i in found.indices) for found in algorithm.get_uccs()}
    with connect() as engine:
        found = find_columns(engine, ColumnRequest(Target(frame=table), identifying=True, effects=False))
    assert {one.columns for one in found.sets} == expected
    assert found.complete


@pytest.mark.parametrize("text", ["'zip'", "1", "current_date"])
def test_what_is_the_same_for_every_row_is_no_column(text: str) -> None:
    relation = Relation("t", (ColumnInfo("zip", "INTEGER", Kind.INTEGER),), "t")
    with pytest.raises(UsageError, match="t has no column"):
        choose_column(relation, "duckdb", text, "columns")


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
def test_a_name_in_double_quotes_is_that_column_on_every_engine(dialect: str) -> None:
    relation = Relation("t", (ColumnInfo('a "zip"', "INTEGER", Kind.INTEGER),), "t")
    found = choose_column(relation, dialect, '"a ""zip"""', "columns")
    assert found == choose_column(relation, dialect, 'a "zip"', "columns")
