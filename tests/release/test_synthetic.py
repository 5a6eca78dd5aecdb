"""A synthetic table beside its original and people outside, against brute force, on every engine."""

from __future__ import annotations

import datetime
import math
import random
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.result import Status
from sqlaudit.base.spec import Folding, NullPolicy, Target
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.models.registry import OF_SYNTHETIC, requirements
from sqlaudit.release.compare.request import CompareRequest
from sqlaudit.release.synthetic.counting import BINS, LEAST, MOST_VALUES, open_counting, pooled
from sqlaudit.release.synthetic.result import SpreadRows, SyntheticResult
from sqlaudit.release.synthetic.run import find_disclosure
from tests.audit_values import values_query
from tests.release import synthetic_oracle as oracle
from tests.strategies import run

COLUMNS = {"a": "int", "b": "text", "c": "bool", "s": "text", "n": "float"}
KEYS = ("a", "b", "c")
Rows = list[dict[str, Any]]


def target_of(rows: Rows, name: str, columns: dict[str, str] | None = None) -> Target:
    return Target(query=values_query(rows, columns or COLUMNS), label=name)


def found_by(
    engine: Engine, original: Rows, synthetic: Rows, holdout: Rows | None = None, **more: Any
) -> SyntheticResult:
    asked = {"qi": KEYS, "sensitive": ("s", "n"), "values": Folding.EXACT} | more
    if "require" in asked:
        asked["requirements"] = requirements(asked.pop("require"), OF_SYNTHETIC)
    request = CompareRequest(
        target_of(original, "original"),
        target_of(synthetic, "synthetic"),
        synthetic=True,
        holdout=None if holdout is None else target_of(holdout, "holdout"),
        **asked,
    )
    return find_disclosure(engine, request)


def row(a: int | None, b: str | None, c: bool | None, s: str | None, n: float | None = 1.5) -> dict[str, Any]:
    return {"a": a, "b": b, "c": c, "s": s, "n": n}


def without_key() -> dict[str, Any]:
    return row(None, "x", True, "flu")


CELLS = st.builds(
    row,
    st.sampled_from([1, 2, 3, None]),
    st.sampled_from(["x", "y;'\"", None]),
    st.sampled_from([True, None]),
    st.sampled_from(["flu", "HIV", None]),
    st.sampled_from([1.5, -2.0, None]),
)
TABLES = st.lists(CELLS, max_size=9)


def about(expected: dict[str, Any]) -> Any:
    return {name: value if value is None else pytest.approx(value, rel=1e-12) for name, value in expected.items()}


def of(found: Any, *names: str) -> dict[str, Any]:
    told = found.to_dict()
    return {name: told[name] for name in names} if names else told


def test_figures_are_those_of_brute_force(engine: Engine) -> None:
    @run(*((240, 40) if engine.name == "DuckDB" else (60, 8)))
    @given(TABLES, TABLES, st.one_of(st.none(), TABLES), st.booleans())
    @example([], [], [], False)
    @example([row(1, "x", True, None)], [row(1, "x", True, None)], [], True)
    @example([without_key(), without_key()], [without_key()], [without_key()], True)
    def check(original: Rows, synthetic: Rows, holdout: Rows | None, apart: bool) -> None:
        nulls = NullPolicy.DISTINCT if apart else NullPolicy.EQUAL
        result = found_by(engine, original, synthetic, holdout, nulls=nulls)
        found = result.synthetic
        rows = (len(original), len(synthetic), None if holdout is None else len(holdout))
        assert (found.rows.original, found.rows.synthetic, found.rows.holdout) == rows
        sides = [(original, found)] + ([] if holdout is None else [(holdout, found.holdout)])
        for table, side in sides:
            assert of(side.identity) == about(oracle.identity(table, synthetic, KEYS, apart))
            for one in side.attributes:
                expected = oracle.attribute(table, synthetic, KEYS, one.sensitive, apart)
                assert of(one, *expected) == about(expected)
            expected_copies = oracle.copies(table, synthetic, [*COLUMNS])
            assert of(side.copies, *expected_copies) == expected_copies
        if not apart:
            for one in found.attributes:
                assert one.to_dict()["by_size"] == oracle.by_size(original, synthetic, KEYS, one.sensitive)
        if found.holdout is not None and holdout is not None:
            assert found.holdout.shared == oracle.shared(original, holdout, [*COLUMNS])

    check()


NUMBERS = st.sampled_from(["0.0", "-0.0", "'nan'::DOUBLE", "'-inf'::DOUBLE", "1e300", "NULL"])
TEXTS = st.sampled_from(["''", "'x'", "'X '", "chr(0)", "'NULL'", "NULL"])
OTHER_VALUES = st.sampled_from(["[1, NULL]", "[]", "NULL"])
DAYS = st.sampled_from(["DATE '-infinity'", "DATE '2020-02-29'", "NULL"])
EXACT = st.sampled_from(["170141183460469231731687303715884105727", "-1", "0", "NULL"])
FIELDS = st.tuples(NUMBERS, TEXTS, OTHER_VALUES, DAYS, EXACT)


@pytest.mark.parametrize("codes", [1, 12, 2**63])
def test_rows_as_numbers_are_counted_as_rows(codes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one number of 64 bits or in several, with any values, as windows over the columns themselves count."""
    monkeypatch.setattr("sqlaudit.release.synthetic.counting._CODES", codes)
    names = """CAST(v0 AS DOUBLE) AS n, CAST(v1 AS TEXT) AS "order", CAST(v2 AS INTEGER[]) AS "q""t",
        CAST(v3 AS DATE) AS day, CAST(v4 AS HUGEINT) AS big"""

    def table(rows: list[tuple[str, ...]]) -> Target:
        none = "SELECT NULL, NULL, NULL, NULL, NULL WHERE FALSE"
        values = " UNION ALL ".join([none, *("SELECT " + ", ".join(fields) for fields in rows)])
        source = ", ".join(f"v{place}" for place in range(5))
        return Target(query=f"SELECT {names} FROM ({values}) AS rows({source})")

    with connect() as engine:

        @run(100, 30)
        @given(*[st.lists(FIELDS, max_size=12)] * 2, st.one_of(st.none(), st.lists(FIELDS, max_size=6)))
        def check(original: Any, synthetic: Any, holdout: Any) -> None:
            outside = None if holdout is None else table(holdout)
            request = CompareRequest(
                table(original), table(synthetic), qi=("n",), synthetic=True, holdout=outside, values=Folding.EXACT
            )
            counting = open_counting(engine, request)
            statement = counting.copies()
            names = engine.result_names(statement)
            assert counting.whole_rows() == dict(zip(names, engine.run(statement)[0], strict=True))

        check()


def test_the_excess_is_the_share_inside_minus_the_share_outside(engine: Engine) -> None:
    @run(40, 8)
    @given(TABLES, TABLES, TABLES)
    def check(original: Rows, synthetic: Rows, holdout: Rows) -> None:
        found = found_by(engine, original, synthetic, holdout).synthetic.holdout
        assert found is not None
        inside, outside = (oracle.identity(table, synthetic, KEYS) for table in (original, holdout))
        same = len(original) == len(holdout) and bool(original)
        for name in ("rep_u", "uiois"):
            one = found.of(name)
            assert one.excess == (pytest.approx(inside[name] - outside[name]) if same else None)
            assert one.low is one.high is None
        for sensitive in ("s", "n"):
            inside, outside = (oracle.attribute(table, synthetic, KEYS, sensitive) for table in (original, holdout))
            for name in ("is", "dis", "disco", "dcap"):
                one = found.of(name, sensitive)
                if not original or not holdout:
                    assert one.excess is one.low is one.high is None
                    continue
                assert one.excess == pytest.approx(inside[name] - outside[name])
                assert one.low - 1e-12 <= one.excess <= one.high + 1e-12

    check()


def test_fewer_known_keys_are_sets_of_keys(engine: Engine) -> None:
    @run(30, 6)
    @given(TABLES, TABLES, st.booleans())
    def check(original: Rows, synthetic: Rows, apart: bool) -> None:
        nulls = NullPolicy.DISTINCT if apart else NullPolicy.EQUAL
        known = found_by(engine, original, synthetic, known=2, nulls=nulls).synthetic.known
        assert len(known) == 2 * 6
        for one in known:
            assert one.sensitive is not None
            expected = oracle.attribute(original, synthetic, one.keys, one.sensitive, apart)
            expected = {"dis": expected["dis"], "disco": expected["disco"]}
            expected["rep_u"] = oracle.identity(original, synthetic, one.keys, apart)["rep_u"]
            assert of(one, *expected) == about(expected)
        disclosed = [one.disco or 0 for one in known]
        assert disclosed == sorted(disclosed, reverse=True)

    check()


SHAPED = {"a": "int", "b": "text", "c": "bool", "day": "date", "n": "float"}
KINDS = {"a": "number", "b": "value", "c": "value", "day": "ordered", "n": "number"}


def shaped_rows(generator: random.Random, rows: int) -> Rows:
    def cell(value: Any) -> Any:
        return None if generator.random() < 0.1 else value

    return [
        {
            "a": cell(generator.randint(0, 9) ** 2),
            "b": cell(generator.choice("abcdefghijklmnop"[: generator.randint(2, 16)])),
            "c": cell(generator.random() < 0.3),
            "day": cell(datetime.date(2020, 1, 1) + datetime.timedelta(generator.randint(0, 40))),
            "n": cell(generator.choice([-2.5, 0.0, 1e300, float(generator.randint(0, 500)) / 4])),
        }
        for _ in range(rows)
    ]


@pytest.mark.parametrize(("seed", "rows"), [(0, 40), (1, 7), (2, 150), (3, 1), (4, 0)])
def test_shapes_of_columns_and_pairs_are_those_of_brute_force(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, seed: int, rows: int
) -> None:
    monkeypatch.setattr("sqlaudit.release.synthetic.counting.LEAST", 1)
    generator = random.Random(seed)
    tables = [shaped_rows(generator, rows), shaped_rows(generator, 60)]
    request = CompareRequest(
        *(target_of(table, name, SHAPED) for table, name in zip(tables, ("own", "made"), strict=True)),
        qi=("a", "b"),
        sensitive=("c",),
        synthetic=True,
        values=Folding.EXACT,
    )
    found = find_disclosure(engine, request).synthetic
    assert len(found.columns) == 5 or rows < 2  # columns that share no value are left out, as from copies
    numbers = {}
    for column in found.columns:
        kind = KINDS[column.name]
        expected = oracle.distance(*tables, column.name, kind != "value")
        assert column.distance == (expected if expected is None else pytest.approx(expected, rel=1e-12))
        assert column.measure == ("total-variation" if kind == "value" else "kolmogorov-smirnov")
        bin_of = oracle.bin_of(tables[0], column.name, kind, BINS, MOST_VALUES)
        numbers[column.name] = [[bin_of(row[column.name]) for row in table] for table in tables]
        own, made = numbers[column.name]
        counts = [(own.count(number), made.count(number)) for number in (*range(MOST_VALUES + 1), -1)]
        assert [(spread.original, spread.synthetic) for spread in column.bins] == [pair for pair in counts if any(pair)]
    assert len(found.pairs) == math.comb(len(found.columns), 2)
    for pair in found.pairs:
        own, made = (list(zip(*(numbers[name][side] for name in pair.columns), strict=True)) for side in (0, 1))
        for result, expected in (
            (pair.original, oracle.cramers_v(own)),
            (pair.synthetic, oracle.cramers_v(made)),
            (pair.distance, oracle.pair_distance(own, made)),
        ):
            assert result == (expected if expected is None else pytest.approx(expected, rel=1e-9, abs=1e-9))


def test_no_bin_of_a_column_has_few_rows_of_the_original(engine: Engine) -> None:
    generator = random.Random(9)
    tables = [shaped_rows(generator, 90), shaped_rows(generator, 90)]
    request = CompareRequest(
        *(target_of(table, name, SHAPED) for table, name in zip(tables, ("own", "made"), strict=True)),
        qi=("a",),
        synthetic=True,
    )
    for column in find_disclosure(engine, request).synthetic.columns:
        assert all(spread.original == 0 or spread.original >= LEAST for spread in column.bins)
        assert sum(spread.original for spread in column.bins) == sum(spread.synthetic for spread in column.bins) == 90


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=8))
@example([(9, 8), (0, 1), (3, 2)])
@example([(3, 0), (0, 4)])
def test_bins_of_few_rows_are_never_alone(counts: list[tuple[int, int]]) -> None:
    """Also where the neighbour has no row of the original: 0 and 3 rows are 3 rows together."""
    bins = pooled(SpreadRows(*pair) for pair in counts)
    originals = [spread.original for spread in bins]
    assert sum(originals) == (total := sum(own for own, _ in counts))
    assert sum(spread.synthetic for spread in bins) == sum(made for _, made in counts)
    assert all(own == 0 or own >= LEAST for own in originals) or (total < LEAST and len(bins) == 1)


def test_columns_after_the_twelfth_have_a_distance_and_no_bins() -> None:
    frame = pd.DataFrame({f"c{number}": [1, 1, 5 + number] for number in range(15)})
    found = sqlaudit.compare(frame, frame, synthetic=True, qi=["c0"]).synthetic
    assert [len(column.bins) > 0 for column in found.columns] == [True] * 12 + [False] * 3
    assert {column.distance for column in found.columns} == {0}
    assert len(found.pairs) == 66


# What somebody tries who wants a synthetic table to pass that copies the original.

PEOPLE = [row(age, "x", True, "flu" if age % 2 else "HIV", age / 2) for age in range(20, 32)]
EVERYTHING = ("rep_u=0", "disco=0", "exact_copies=0")


def verdicts(result: SyntheticResult) -> dict[tuple[str, str | None], Status | None]:
    return {(check.model, check.sensitive): check.status for check in result.checks}


def told(result: SyntheticResult) -> dict[str, tuple[str, ...]]:
    return {one.code: one.columns for one in result.warnings}


def test_a_copy_fails_everything(engine: Engine) -> None:
    found = found_by(engine, PEOPLE, list(reversed(PEOPLE)), require=EVERYTHING)
    assert set(verdicts(found).values()) == {Status.FAIL}
    assert (found.synthetic.identity.rep_u, found.synthetic.attributes[0].disco) == (1, 1)
    assert (found.synthetic.copies.rows, found.synthetic.copies.unique_in_original) == (12, 12)
    assert not found.passed


def renamed(rows: Rows, **names: str) -> Rows:
    return [{names.get(name, name): value for name, value in one.items()} for one in rows]


def compared(
    engine: Engine, original: Target, synthetic: Target, holdout: Target | None = None, **more: Any
) -> SyntheticResult:
    asked = {"qi": ("a",), "sensitive": ("s",), "values": Folding.EXACT} | more
    wanted = requirements(asked.pop("require", EVERYTHING), OF_SYNTHETIC)
    request = CompareRequest(original, synthetic, synthetic=True, holdout=holdout, requirements=wanted, **asked)
    return find_disclosure(engine, request)


def test_a_renamed_key_is_refused_and_another_renamed_column_hides_no_copy(engine: Engine) -> None:
    original = target_of(PEOPLE, "original")
    with pytest.raises(UsageError, match="synthetic has no column 'a'"):
        compared(engine, original, target_of(renamed(PEOPLE, a="age"), "synthetic", renamed([COLUMNS], a="age")[0]))
    other = target_of(renamed(PEOPLE, n="number"), "synthetic", renamed([COLUMNS], n="number")[0])
    found = compared(engine, original, other)
    assert found.synthetic.copies.rows == 12
    assert found.compared == ("a", "b", "c", "s")
    assert told(found) == {"all_unique": ("a",), "not_compared": ("number",)}


def test_row_numbers_hide_no_copy(engine: Engine) -> None:
    columns = {"id": "int", **COLUMNS}
    original, synthetic = (
        target_of([{"id": start + n, **one} for n, one in enumerate(PEOPLE)], "numbered", columns) for start in (0, 6)
    )
    found = compared(engine, original, synthetic)
    assert found.synthetic.copies.rows == 12
    assert told(found) == {"all_unique": ("a",), "hides_copies": ("id",)}


def test_a_column_without_a_common_value_hides_no_copy(engine: Engine) -> None:
    columns = {"name": "text", **COLUMNS}
    original, synthetic = (
        target_of([{"name": f"{n % 2} {kind}", **one} for n, one in enumerate(PEOPLE)], "named", columns)
        for kind in ("real", "fake")
    )
    found = compared(engine, original, synthetic)
    assert verdicts(found)["exact_copies", None] is Status.FAIL
    assert found.synthetic.copies.rows == 12
    assert told(found) == {"all_unique": ("a",), "hides_copies": ("name",)}


@pytest.mark.parametrize("kind", ["text", "bool", "date"])
def test_values_of_another_type_are_refused(engine: Engine, kind: str) -> None:
    rows = [one | {"a": {"text": str(one["a"]), "bool": True, "date": "2020-02-29"}[kind]} for one in PEOPLE]
    with pytest.raises(UsageError, match="a is of type integer in original, "):
        compared(engine, target_of(PEOPLE, "original"), target_of(rows, "synthetic", COLUMNS | {"a": kind}))


@pytest.mark.parametrize("kind", ["float", "decimal"])
def test_equal_numbers_of_other_types_are_equal(engine: Engine, kind: str) -> None:
    synthetic = target_of(PEOPLE, "synthetic", COLUMNS | {"a": kind, "n": kind})
    found = compared(engine, target_of(PEOPLE, "original"), synthetic)
    assert (found.synthetic.identity.rep_u, found.synthetic.copies.rows) == (1, 12)


def test_another_spelling_passes_nothing(engine: Engine) -> None:
    spelled = [one | {"s": f"{one['s']} ".upper(), "b": "X"} for one in PEOPLE]
    original, synthetic = target_of(PEOPLE, "original"), target_of(spelled, "synthetic")
    with pytest.raises(UsageError, match="written in several ways"):
        compared(engine, original, synthetic, values=None, qi=("a", "b"))
    folded = compared(engine, original, synthetic, values=Folding.FOLD, qi=("a", "b"))
    assert set(verdicts(folded).values()) == {Status.FAIL}
    assert folded.synthetic.copies.rows == 12
    exact = compared(engine, original, synthetic, qi=("a", "b"))
    assert set(verdicts(exact).values()) == {Status.UNDETERMINED}
    unmatched = [one.columns for one in exact.warnings if one.code == "no_shared_values"]
    assert unmatched == [("b",), ("s",)]


def test_zero_has_one_sign_and_what_is_no_number_equals_itself(engine: Engine) -> None:
    original = [row(1, "x", True, "flu", 0.0), row(2, "x", True, "HIV", float("nan")), row(3, "x", True, "flu", None)]
    synthetic = [row(3, "x", True, "flu", None), row(2, "x", True, "HIV", float("nan")), row(1, "x", True, "flu", -0.0)]
    found = found_by(engine, original, synthetic, qi=("n",), sensitive=("s",)).synthetic
    assert (found.copies.rows, found.identity.rep_u, found.attributes[0].disco) == (3, 1, 1)


def test_an_empty_table_passes_nothing(engine: Engine) -> None:
    for original, synthetic in ((PEOPLE, []), ([], PEOPLE), ([], [])):
        found = found_by(engine, original, synthetic, require=EVERYTHING)
        assert set(verdicts(found).values()) == {Status.UNDETERMINED}
        assert found.synthetic.attributes[0].tcap is None
    found = found_by(engine, PEOPLE, PEOPLE, [], require="excess_disclosure=1")
    assert set(verdicts(found).values()) == {Status.UNDETERMINED}


def test_the_excess_passes_by_its_upper_end_and_fails_by_its_lower_end(engine: Engine) -> None:
    fewer = dict.fromkeys([("excess_disclosure", "s"), ("excess_disclosure", "n")])
    outside = [one | {"a": one["a"] + 100} for one in PEOPLE]
    # 12 of 12 inside: at least 0.0125^(1/12) = 69.4%; 0 of 12 outside: at most 30.6%; so the excess is at least 38.8%
    for limit, status in (("38%", Status.FAIL), ("39%", Status.UNDETERMINED)):
        found = found_by(engine, PEOPLE, PEOPLE, outside, require=f"excess_disclosure={limit}", qi=("a",))
        assert verdicts(found) == dict.fromkeys(fewer, status)
    made = [one | {"a": one["a"] + 200} for one in PEOPLE[1:]] + PEOPLE[:1]
    found = found_by(engine, PEOPLE, made, outside, require="excess_disclosure=10%", qi=("a",))
    assert verdicts(found) == dict.fromkeys(fewer, Status.UNDETERMINED)
    assert "a larger holdout is needed" in found.checks[0].note


CROWD = [row(n % 60, "xyzuvw"[n // 60 % 6], None, ("flu", "HIV", "gout")[n * 7 % 3], n / 2) for n in range(300)]
"""300 people, each with an age and a letter of their own."""


@pytest.mark.parametrize(
    "holdout",
    [
        CROWD,
        CROWD[:297] + [one | {"a": 99} for one in CROWD[:3]],
        [CROWD[n * n % 300] for n in range(300)],
        [*CROWD, CROWD[0] | {"a": 99}],
        CROWD[:60],
    ],
    ids=["the original", "99%", "drawn again", "one stranger", "a part"],
)
def test_a_holdout_that_is_none_passes_nothing(engine: Engine, holdout: Rows) -> None:
    found = found_by(engine, CROWD, CROWD, holdout, qi=("a", "b"), sensitive=("s",), require="excess_disclosure=50%")
    assert set(verdicts(found).values()) == {Status.UNDETERMINED}
    assert all("may not be people outside" in check.note for check in found.checks)
    assert "holdout" in told(found)


def test_an_original_that_was_not_used_passes_nothing(engine: Engine) -> None:
    far = [one | {"a": one["a"] + 100} for one in CROWD]
    found = found_by(engine, far, CROWD, CROWD, qi=("a", "b"), sensitive=("s",), require="excess_disclosure=1%")
    assert set(verdicts(found).values()) == {Status.UNDETERMINED}


def test_an_excess_is_at_most_what_is_disclosed_inside(engine: Engine) -> None:
    """Whoever is in the holdout: 0 of 300 are disclosed, which is at most 1 - 0.0125^(1/300) = 1.45% of people."""
    mixed = [one | {"s": s} for one in CROWD for s in ("flu", "HIV")]  # no group has a single value
    for limit, status in (("1.5%", Status.PASS), ("1.4%", Status.UNDETERMINED)):
        require = f"excess_disclosure={limit}"
        found = found_by(engine, CROWD, mixed, CROWD, qi=("a", "b"), sensitive=("s",), require=require)
        assert set(verdicts(found).values()) == {status}


@pytest.mark.parametrize("name", ["a", "b", "s"])
@pytest.mark.parametrize("left", [0, 1])
def test_a_role_without_values_passes_nothing(engine: Engine, name: str, left: int) -> None:
    """The original with a column that is NULL, or NULL but for one value, in the synthetic table."""
    made = CROWD[:left] + [one | {name: None} for one in CROWD[left:]]
    require = ("rep_u=1%", "disco=1%", "exact_copies=1", "excess_disclosure=1%")
    outside = [one | {"a": 59 - one["a"], "s": "flu"} for one in CROWD]
    found = found_by(engine, CROWD, made, outside, qi=("a", "b"), sensitive=("s",), require=require)
    assert Status.PASS not in verdicts(found).values()
    assert told(found)["no_shared_values"] == (name,)


def test_a_column_without_values_in_the_original_hides_nothing(engine: Engine) -> None:
    original = [one | {"n": None} for one in CROWD]
    found = found_by(engine, original, CROWD, qi=("a", "b"), sensitive=("s",), require="exact_copies=0")
    assert (found.synthetic.copies.rows, found.compared) == (300, ("a", "b", "c", "s"))


def numbered(rows: Rows, number: Callable[[int], float | None]) -> Rows:
    return [{"id": number(place), **one} for place, one in enumerate(rows)]


COUNTED = numbered(CROWD, lambda n: n + 0.0)
WITH_GAPS = [one | ({"n": None, "s": None} if n % 7 else {}) for n, one in enumerate(CROWD)]
GAPS = [one for one in WITH_GAPS if one["n"] is None]
STRANGERS = [one | {"a": 99} for one in WITH_GAPS if one["n"] is not None]
DISGUISED: dict[str, tuple[Rows, Rows]] = {
    "floats from 2": (COUNTED, numbered(CROWD[::-1], lambda n: n + 2.0)),
    "one number missing": (COUNTED, numbered(CROWD, lambda n: None if n == 5 else n + 1.0)),
    "numbers restart": (COUNTED, numbered(CROWD[150:], lambda n: n % 20 + 1.0)),
    "numbers with gaps": (COUNTED, numbered(CROWD, lambda n: 7.0 * n + n * n % 7 + 1)),
    "numbers of others": (COUNTED, numbered(CROWD, lambda n: n * 7 % 300 + 1.0)),
    "capitals": (CROWD, [one | ({"b": one["b"].upper()} if one["a"] % 3 else {"a": 99}) for one in CROWD]),
    "blanks": (CROWD, [one | ({"b": one["b"] + " "} if one["a"] % 3 else {"a": 99}) for one in CROWD]),
    "NaN for NULL": (WITH_GAPS, [*STRANGERS, *(one | {"n": float("nan")} for one in GAPS)]),
    "'' for NULL": (WITH_GAPS, [*STRANGERS, *(one | {"s": ""} for one in GAPS)]),
    "shifted numbers": (CROWD, [one | {"n": one["n"] + 0.125} for one in CROWD]),
    "one value": (CROWD, [one | {"n": 1.5} for one in CROWD if one["n"] != 1.5]),
}


@pytest.mark.parametrize("name", DISGUISED)
def test_copies_in_disguise_pass_nothing(engine: Engine, name: str) -> None:
    original, made = DISGUISED[name]
    columns = {"id": "float", **COLUMNS} if "id" in original[0] else COLUMNS
    tables = (target_of(original, "original", columns), target_of(made, "synthetic", columns))
    found = compared(engine, *tables, qi=("a",), sensitive=(), require="exact_copies=0")
    assert verdicts(found)["exact_copies", None] in (Status.FAIL, Status.UNDETERMINED), found.checks


def test_a_draw_with_fine_numbers_has_no_copies(engine: Engine) -> None:
    """Numbers that two draws of 300 people do not share are no sign of copies: few would be shared by chance."""
    chosen = random.Random(3)

    def draw() -> Rows:
        return [
            row(chosen.randrange(40), chosen.choice("xyz"), None, chosen.choice("uvw"), chosen.gauss(0, 1))
            for _ in range(300)
        ]

    found = found_by(engine, draw(), draw(), qi=("a", "b"), sensitive=("s",), require="exact_copies=0")
    assert verdicts(found) == {("exact_copies", None): Status.PASS}
    assert (found.compared, found.warnings) == (("a", "b", "c", "s", "n"), ())


def test_a_failure_with_few_keys_stands_beside_an_excess_that_is_open(engine: Engine) -> None:
    """b alone discloses s of everyone inside; a and b together match few, so that their excess is open."""
    inside = [row(n, "xy"[n % 2], None, "uv"[n % 2]) for n in range(200)]
    made = [one | {"a": n} if n < 20 else one | {"a": n + 1000} for n, one in enumerate(inside)]
    outside = [one | {"a": 5000 + n, "s": "vu"[n % 2]} for n, one in enumerate(inside)]
    asked = {"qi": ("a", "b"), "sensitive": ("s",), "require": "excess_disclosure=8%"}
    alone, with_few = (found_by(engine, inside, made, outside, known=known, **asked) for known in (0, 1))
    assert (alone.checks[0].status, with_few.checks[0].status) == (Status.UNDETERMINED, Status.FAIL)
    assert with_few.checks[0].details["keys"] == ["b"]


def test_requirements_are_about_the_worst_of_the_known_keys(engine: Engine) -> None:
    original = [row(n, "x" if n < 6 else None, True, "flu" if n < 6 else "HIV") for n in range(12)]
    synthetic = [one | {"a": one["a"] + 6} for one in original]  # b alone tells s, a and b together tell little
    alone, with_few = (
        found_by(engine, original, synthetic, qi=("a", "b"), sensitive=("s",), known=known, require="disco=50%")
        for known in (0, 1)
    )
    assert (alone.checks[0].status, with_few.checks[0].status) == (Status.PASS, Status.FAIL)
    assert (with_few.checks[0].level, with_few.checks[0].details["keys"]) == (1, ["b"])


def test_columns_of_every_row_are_compared_in_widths(engine: Engine) -> None:
    synthetic = [one | {"a": one["a"] * 10} for one in PEOPLE]
    original = [one | {"a": one["a"] * 10 + 1} for one in PEOPLE]
    found = found_by(engine, original, synthetic, qi=("a",), sensitive=("s",))
    assert "all_unique" in told(found)
    assert found.synthetic.identity.rep_u == 0
    widths = {"a": {"widths": [10]}}
    assert found_by(engine, original, synthetic, qi=("a",), hierarchies=widths).synthetic.identity.rep_u == 1
    assert found_by(engine, original, synthetic, qi=("floor(a / 10)",)).synthetic.identity.rep_u == 1
