"""Answers of queries, noise and random workloads against brute force, on both engines."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.errors import UsageError
from sqlaudit.engines.contract import Engine
from sqlaudit.release.compare.queries import random_lanes, random_ranges
from sqlaudit.release.compare.query_text import read_queries
from sqlaudit.release.compare.result import METHODS, Errors
from tests.release import cases, oracle
from tests.release.alone import release_alone  # noqa: F401
from tests.release.cases import Drawn
from tests.release.test_compare_oracle import compared, few

POOLS: dict[str, list[Any]] = {"age": cases.AGES, "town": list(cases.TOWNS), "zip": cases.ZIPS}


@st.composite
def queries(draw: st.DrawFn, qi: list[str]) -> dict[str, frozenset[Any]]:
    columns = draw(st.lists(st.sampled_from(qi), unique=True))
    return {c: frozenset(draw(st.lists(st.sampled_from(POOLS[c]), min_size=1, max_size=3))) for c in columns}


def text_of(query: dict[str, frozenset[Any]]) -> str:
    listed = {c: ", ".join(str(v) if isinstance(v, int) else f"'{v}'" for v in sorted(vs)) for c, vs in query.items()}
    return " AND ".join(f"{column} IN ({values})" for column, values in listed.items())


def answers(case: oracle.Case, query: dict[str, frozenset[Any]], value: str) -> tuple[list[Fraction], list[Fraction]]:
    """(sum of weights, sum of weights times a column): of the original, then of the release by method."""
    truth = [row for row in case.original if row["s"] == value and all(row[c] in vs for c, vs in query.items())]
    kept = [(place, row) for place, row in enumerate(case.release) if row["s"] == value]
    found = [(oracle.weights(case, query, place), row["w"]) for place, row in kept]
    counts = [Fraction(len(truth)), *(sum((w[i] for w, _ in found), Fraction(0)) for i in range(3))]
    sums = [Fraction(sum(r["w"] for r in truth)), *(sum((w[i] * x for w, x in found), Fraction(0)) for i in range(3))]
    return counts, sums


def test_answers_of_queries(engine: Engine) -> None:
    @few(engine, 4, 7)
    @given(cases.cases(rows=8), st.data())
    def agree(drawn: Drawn, data: st.DataObject) -> None:
        case = drawn.case
        query = data.draw(queries(list(case.qi)))
        value = data.draw(st.sampled_from(cases.DISEASES))
        where = " AND ".join(part for part in (text_of(query), f"s = '{value}'") if part)
        heads = ("COUNT(*)", "SUM(w)", "AVG(w)")
        texts = [f"SELECT {head} FROM whatever WHERE {where}" for head in heads]
        result = compared(engine, drawn, measures=["tree"], queries=texts)
        counts, sums = answers(case, query, value)
        averages = [total / count if count else None for total, count in zip(sums, counts, strict=True)]
        expected_all: list[Any] = [counts, [s or None for s in sums], averages]
        for one, expected in zip(result.queries, expected_all, strict=True):
            (group,) = one.groups
            given = [group.truth, *(group.answers[name] for name in METHODS)]
            for found, wanted in zip(given, expected, strict=True):
                assert math.isclose(found or 0.0, float(wanted or 0), rel_tol=1e-9, abs_tol=1e-12), (one, expected)

    agree()


def test_groups_of_a_quasi_identifier_are_queries_for_each_of_its_values(engine: Engine) -> None:
    @few(engine, 4, 7)
    @given(cases.cases(rows=8))
    def agree(drawn: Drawn) -> None:
        case = drawn.case
        column = case.qi[0]
        text = f"SELECT {column}, s, COUNT(*) FROM t GROUP BY {column}, s"
        (answer,) = compared(engine, drawn, measures=["tree"], queries=text, show_values=True).queries
        assert answer.total == len(answer.groups) > 0
        for group in answer.groups:
            assert group.key is not None
            (value,) = [row[column] for row in case.original if _spelled(row[column]) == group.key[0]][:1]
            wanted = oracle.count_query(case, {column: frozenset([value])}, _keeps(group.key[1]))
            found = (group.truth, *(group.answers[name] for name in METHODS))
            assert found == pytest.approx([float(one) for one in wanted])

    agree()


def _spelled(value: Any) -> str | None:
    return None if value is None else str(value)


def _keeps(value: str) -> Any:
    return lambda row: row["s"] == value


DISTANCES: list[dict[str, Any]] = [
    {"distance": "equal"},
    {"distance": "ordered", "inputs": {"order": cases.DISEASES}},
    {"distance": "hierarchical", "inputs": cases.TREE},
]
OF_THE_ORACLE: dict[str, dict[str, Any]] = {
    "equal": {},
    "ordered": {"order": cases.DISEASES},
    "hierarchical": {"tree": {"flu": ["lung"], "cold": ["lung"], "HIV": ["blood"]}},
}


@pytest.mark.few_on_postgres(0)
@pytest.mark.parametrize("options", DISTANCES, ids=lambda options: options["distance"])
def test_distances_of_sensitive_values(engine: Engine, options: dict[str, Any]) -> None:
    @few(engine, 3, 8)
    @given(cases.cases())
    def agree(drawn: Drawn) -> None:
        wanted = _with_distance(drawn.case, options["distance"])
        found = compared(engine, drawn, key="id", measures=["variance-loss", "hybrid"], **options)
        assert found.loss("variance-loss").value == oracle.variance_loss(wanted)
        assert float(found.loss("hybrid").value or 0) == pytest.approx(float(oracle.hybrid(wanted)), abs=1e-12)

    agree()


def _with_distance(case: oracle.Case, distance: str) -> oracle.Case:
    fields = {**vars(case), "distance": distance, **OF_THE_ORACLE[distance]}
    return oracle.Case(**fields)


@pytest.mark.few_on_postgres(0)
def test_distance_of_numbers_is_that_of_their_ranks(engine: Engine) -> None:
    @few(engine, 3, 8)
    @given(cases.cases(sensitive="w"))
    def agree(drawn: Drawn) -> None:
        case = drawn.case
        ranked = oracle.Case(**{**vars(case), "distance": "ordered", "order": sorted({r["w"] for r in case.original})})
        found = compared(engine, drawn, key="id", measures=["variance-loss"], distance="ordered")
        assert found.loss("variance-loss").value == oracle.variance_loss(ranked)

    agree()


def _meant(case: oracle.Case, ranges: Any) -> dict[str, frozenset[Any]]:
    """What a range of numbers of values means: values in their order, a missing one apart."""
    found = {}
    for place, low, high in ranges:
        column = case.qi[place - 1]
        values = sorted({row[column] for row in case.original if row[column] is not None})
        found[column] = frozenset(values[low : high + 1])
    return found


def _domains(case: oracle.Case) -> list[tuple[int, int]]:
    return [
        (place, len({row[column] for row in case.original if row[column] is not None}))
        for place, column in enumerate(case.qi, 1)
    ]


@pytest.mark.few_on_postgres(0)
@pytest.mark.parametrize("distance", ["equal", "hierarchical"])
def test_noise_is_the_mean_over_the_queries_drawn(engine: Engine, distance: str) -> None:
    inputs = cases.TREE if distance == "hierarchical" else {}

    @few(engine, 3, 8)
    @given(cases.cases(), st.integers(0, 5))
    def agree(drawn: Drawn, seed: int) -> None:
        case = _with_distance(drawn.case, distance)
        found = compared(
            engine,
            drawn,
            key="id",
            measures=["range-query-noise"],
            noise_queries=6,
            seed=seed,
            distance=distance,
            inputs=inputs,
        ).loss("range-query-noise")
        wanted = [oracle.noise(case, _meant(case, one.ranges)) for one in random_ranges(6, seed, _domains(case))]
        mean = sum(wanted) / 6
        assert found.value == pytest.approx(mean, abs=1e-12)
        spread = math.sqrt(sum((one - mean) ** 2 for one in wanted) / 5 / 6)
        assert found.standard_error == pytest.approx(spread, abs=1e-12)

    agree()


@pytest.mark.few_on_postgres(0)
def test_a_random_workload_asks_the_queries_drawn(engine: Engine) -> None:
    @few(engine, 4, 7)
    @given(cases.cases(), st.integers(0, 5))
    def agree(drawn: Drawn, seed: int) -> None:
        case = drawn.case
        found = compared(engine, drawn, measures=["tree"], workload=7, seed=seed).workload
        values = sorted({row["s"] for row in case.original})
        counts = [sum(row["s"] == value for row in case.original) for value in values]
        lanes = random_lanes(_Lanes(counts), 7, seed)  # type: ignore[arg-type]
        errors: list[list[float]] = [[], [], []]
        empty = 0
        for one, lane in zip(random_ranges(7, seed, _domains(case)), lanes, strict=True):
            assert lane is not None
            truth, *answers = oracle.count_query(case, _meant(case, one.ranges), _keeps(values[lane]))
            empty += not truth
            for of_method, answer in zip(errors, answers, strict=True):
                of_method.extend([float(abs(answer - truth) / truth)] if truth else [])
        assert found is not None
        assert found.empty == empty
        for name, kept in zip(METHODS, errors, strict=True):
            expected = Errors.of(kept)
            assert found.errors[name].answers == expected.answers
            if kept:
                assert found.errors[name].median == pytest.approx(expected.median, abs=1e-12)
                assert found.errors[name].largest == pytest.approx(expected.largest, abs=1e-12)

    agree()


class _Lanes:
    """Looks like a sensitive attribute whose values have these counts."""

    def __init__(self, totals: list[int]) -> None:
        self.table = self
        self.totals, self.total, self.distinct = totals, sum(totals), len(totals)


def test_quantiles_are_errors_that_so_many_do_not_exceed() -> None:
    found = Errors.of([0.5, 0.1, 0.2, 0.4, 0.3, 0.6, 0.7, 0.8, 0.9, 1.0])
    assert (found.answers, found.median, found.q90, found.q95, found.largest) == (10, 0.55, 0.9, 1.0, 1.0)
    assert Errors.of([0.25]).median == 0.25
    assert Errors.of([]).median is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("DELETE FROM t", ("query 1", "is not a SELECT")),
        ("SELECT COUNT(*) FROM t; SELECT COUNT(a) FROM t", ("query 2", "COUNT(*)")),
        ("SELECT MAX(a) FROM t", ("query 1", "COUNT(*), SUM(column) or AVG(column)")),
        ("SELECT COUNT(*) FROM t HAVING COUNT(*) > 1", ("query 1", "is supported")),
        ("SELECT COUNT(*) FROM t JOIN u ON t.a = u.a", ("query 1", "is supported")),
        ("SELECT COUNT(*) FROM (SELECT 1) AS t", ("query 1", "is supported")),
        ("SELECT a, COUNT(*) FROM t", ("query 1", "groups by")),
        ("SELECT COUNT(DISTINCT a) FROM t", ("query 1", "COUNT(*)")),
        ("SELECT a + 1, COUNT(*) FROM t GROUP BY a + 1", ("query 1", "GROUP BY takes columns")),
        ("SELECT COUNT(*) FRM t WHERE secret = 'HIV", ("could not be read",)),
    ],
)
def test_what_is_no_aggregate_query_is_refused(text: str, words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as raised:
        read_queries([text], "duckdb")
    assert all(word in str(raised.value) for word in words)
    assert "HIV" not in str(raised.value)


@pytest.mark.parametrize("text", ["", " \n", "-- to be written", ";", " ;\n;"])
def test_a_text_without_a_query_has_none(text: str) -> None:
    assert read_queries([text], "duckdb") == []
    (found,) = read_queries([text, "SELECT COUNT(*) FROM t WHERE age > 30"], "duckdb")
    assert (found.number, found.columns) == (1, (("age",),))


def _emd(case: oracle.Case, distance: str, one: dict[Any, Fraction], other: dict[Any, Fraction]) -> Fraction:
    """The earth mover's distance of two distributions of diseases, from the definition of each."""
    moved = {value: one.get(value, Fraction(0)) - other.get(value, Fraction(0)) for value in cases.DISEASES}
    if distance == "equal":
        return sum((abs(part) for part in moved.values()), Fraction(0)) / 2
    ends = [sum((moved[value] for value in cases.DISEASES[: end + 1]), Fraction(0)) for end in range(2)]
    return sum((abs(end) for end in ends), Fraction(0)) / 2


@pytest.mark.few_on_postgres(0)
@pytest.mark.parametrize("options", DISTANCES[:2], ids=lambda options: options["distance"])
def test_answers_of_counting_queries_are_distributions_with_a_distance(engine: Engine, options: dict[str, Any]) -> None:
    @few(engine, 4, 7)
    @given(cases.cases(rows=8), st.data())
    def agree(drawn: Drawn, data: st.DataObject) -> None:
        case = drawn.case
        query = data.draw(queries(list(case.qi)))
        where = f" WHERE {text_of(query)}" if query else ""
        text = f"SELECT s, COUNT(*) FROM t{where} GROUP BY s"
        (answer,) = compared(engine, drawn, measures=["tree"], queries=text, show_values=True, **options).queries
        assert answer.distribution_of == "s"
        wanted = {value: oracle.count_query(case, query, _keeps(value)) for value in cases.DISEASES}
        totals = [sum((counts[i] for counts in wanted.values()), Fraction(0)) for i in range(4)]
        shares = [{v: counts[i] / totals[i] for v, counts in wanted.items()} if totals[i] else {} for i in range(4)]
        for group in answer.groups:
            assert group.key is not None
            assert group.shares is not None
            expected = [float(one[group.key[0]]) if one else None for one in shares]
            assert list(group.shares.values()) == [w if w is None else pytest.approx(w, abs=1e-12) for w in expected]
        for found in answer.distances:
            for name, other in zip(METHODS, shares[1:], strict=True):
                apart = float(_emd(case, options["distance"], shares[0], other)) if shares[0] and other else None
                assert found.answers[name] == (apart if apart is None else pytest.approx(apart, abs=1e-12))

    agree()


@st.composite
def formulas(draw: st.DrawFn, qi: list[str], depth: int = 2) -> tuple[Any, ...]:
    """Conditions that link columns: what no row of the original has is found for these, see `may_be` of the oracle."""
    kind = draw(st.sampled_from(["in", "and", "or", "not"] if depth else ["in"]))
    if kind in ("and", "or"):
        return (kind, draw(formulas(qi, depth - 1)), draw(formulas(qi, depth - 1)))
    if kind == "not":
        column = draw(st.sampled_from(["s", *(["town"] if "town" in qi else [])]))
        return ("not", ("in", column, _values(draw, column)))
    column = draw(st.sampled_from([*qi, "s"]))
    return ("in", column, _values(draw, column))


def _values(draw: st.DrawFn, column: str) -> frozenset[Any]:
    pool: list[Any] = cases.DISEASES if column == "s" else POOLS[column]
    return frozenset(draw(st.lists(st.sampled_from(pool), min_size=1, max_size=3)))


def sql_of(formula: tuple[Any, ...]) -> str:
    kind, *parts = formula
    if kind == "in":
        return text_of({parts[0]: parts[1]})
    if kind == "not":
        return f"NOT ({sql_of(parts[0])})"
    return f" {kind} ".join(f"({sql_of(part)})" for part in parts)


def holds(formula: tuple[Any, ...], row: Any) -> bool | None:
    kind, *parts = formula
    if kind == "in":
        return None if row[parts[0]] is None else row[parts[0]] in parts[1]
    found = [holds(part, row) for part in parts]
    if kind == "not":
        return None if found[0] is None else not found[0]
    decisive = kind == "or"
    return decisive if decisive in found else None if None in found else not decisive


def linked_weights(case: oracle.Case, formula: tuple[Any, ...], place: int) -> list[Fraction]:
    """As `weights` of the oracle, over all combinations of values."""
    other = case.release[place]

    def met(values: Any) -> bool:
        return holds(formula, {**other, **dict(zip(case.qi, values, strict=True))}) is True

    plain = any(met(values) for values in itertools.product(*(case.may_be(c, place) for c in case.qi)))
    region = case.region(place)
    inside = [i for i in region if met([case.original[i][c] for c in case.qi])]
    covered = [case.covered(c, place) for c in case.qi]
    independent = sum(
        (
            math.prod(
                (
                    Fraction(case.rows_with(c, frozenset([value])), case.rows_with(c, cover))
                    for c, value, cover in zip(case.qi, values, covered, strict=True)
                ),
                start=Fraction(1),
            )
            for values in itertools.product(*covered)
            if met(values)
        ),
        Fraction(0),
    )
    return [Fraction(int(plain)), Fraction(len(inside), len(region)) if region else Fraction(0), independent]


def test_conditions_that_link_columns(engine: Engine) -> None:
    @few(engine, 5, 14)
    @given(cases.cases(rows=8), st.data())
    def agree(drawn: Drawn, data: st.DataObject) -> None:
        case = drawn.case
        formula = ("or", data.draw(formulas(list(case.qi))), data.draw(formulas(list(case.qi))))
        texts = [f"SELECT {head} FROM t WHERE {sql_of(formula)}" for head in ("COUNT(*)", "SUM(w)")]
        counted, summed = compared(engine, drawn, measures=["tree"], queries=texts).queries
        found = [(linked_weights(case, formula, place), row["w"]) for place, row in enumerate(case.release)]
        truth = [row for row in case.original if holds(formula, row)]
        counts = [Fraction(len(truth)), *(sum((w[i] for w, _ in found), Fraction(0)) for i in range(3))]
        sums = [
            Fraction(sum(r["w"] for r in truth)),
            *(sum((w[i] * x for w, x in found), Fraction(0)) for i in range(3)),
        ]
        for answer, wanted in ((counted, counts), (summed, sums)):
            (group,) = answer.groups
            given = [group.truth or 0.0, *(group.answers[name] or 0.0 for name in METHODS)]
            assert given == [pytest.approx(float(one), abs=1e-12) for one in wanted], sql_of(formula)

    agree()
