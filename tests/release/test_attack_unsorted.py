"""Unsorted matching: counts, moments and probabilities against every permutation, and Table 6 of the paper."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Roles, Target
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.release.attacks import releases
from sqlaudit.release.attacks.releases import Paired, shuffled
from sqlaudit.release.attacks.request import AttackRequest
from sqlaudit.release.attacks.result import AttackResult
from sqlaudit.release.attacks.run import attack_release
from tests.audit_values import values_query
from tests.release import attack_oracle as oracle
from tests.strategies import run

COLUMNS = {"row": "int", "zip": "text", "age": "text"}
cells = st.lists(st.tuples(st.sampled_from("ab*"), st.sampled_from("abc")), min_size=2, max_size=6)


def match(engine: Engine, left: list[tuple[Any, ...]], right: list[tuple[Any, ...]], **request: Any) -> AttackResult:
    tables = [
        values_query([dict(zip(COLUMNS, (i, *row), strict=True)) for i, row in enumerate(rows)], COLUMNS)
        for rows in (left, right)
    ]
    release, other = (Target(query=query) for query in tables)
    attacks = AttackRequest(
        release, Roles(("zip", "age")), other=other, position=("row", "row"), only=("unsorted_matching",), **request
    )
    return attack_release(engine, attacks)


def fits(mine: str, theirs: str) -> bool:
    return "*" in (mine, theirs) or mine == theirs


def counts(left: list[str], right: list[str]) -> Paired:
    """The counts of a column, by brute force."""

    def pairs(column: list[str]) -> int:
        return sum(column[i] == column[j] for i in range(len(column)) for j in range(i))

    def paths(column: list[str]) -> int:
        return sum(column.count(x) * (column.count(x) - 1) * (column.count(x) - 2) for x in set(column)) // 2

    return Paired(
        len(left),
        len(set(left)),
        len(set(right)),
        oracle.agreeing(left, right, fits),
        sum(mine == "*" != theirs for mine, theirs in zip(left, right, strict=True)),
        sum(fits(mine, theirs) for mine in left for theirs in right),
        oracle.alike_in_both(left, right),
        pairs(left),
        pairs(right),
        paths(left),
        paths(right),
    )


@run(150, some=25)
@given(cells)
def test_moments_are_those_of_every_permutation_and_bounds_hold(rows: list[tuple[str, str]]) -> None:
    left, right = [row[0] for row in rows], [row[1] for row in rows]
    found = counts(left, right)
    assert (found.expected_alike, found.variance_alike) == oracle.moments_of_alike(left, right)
    assert found.bound_alike() >= float(oracle.chance_of_alike(left, right)) - 1e-12
    assert found.bound_agree() >= float(oracle.chance_of_agreeing(left, right, fits)) - 1e-12


@run(12, some=4)
@given(cells)
def test_shuffles_come_near_the_exact_probability(rows: list[tuple[str, str]]) -> None:
    left, right = [row[0] for row in rows], [row[1] for row in rows]
    codes = [("paired", "ab*".index(one), "abc".index(other), 1) for one, other in rows]
    codes += [("fits", "ab*".index(x), "abc".index(y), 0) for x in set(left) for y in set(right) if fits(x, y)]
    agree, alike = shuffled(codes, 7)
    assert abs(agree - float(oracle.chance_of_agreeing(left, right, fits))) < 0.03
    assert abs(alike - float(oracle.chance_of_alike(left, right))) < 0.03


def test_counts_in_the_database_are_those_of_brute_force(engine: Engine) -> None:
    @run(*((10, 3) if engine.name == "PostgreSQL" else (20, 5)))
    @given(cells, cells)
    def check(zips: list[tuple[str, str]], ages: list[tuple[str, str]]) -> None:
        size = min(len(zips), len(ages))
        left = [(zips[i][0], ages[i][0]) for i in range(size)]
        right = [(zips[i][1], ages[i][1]) for i in range(size)]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(releases, "MAX_SHUFFLED", 0)
            found = match(engine, left, right, k=2).exposure("unsorted_matching")
        for step, column in zip(found.steps, (0, 1), strict=True):
            expected = counts([row[column] for row in left], [row[column] for row in right])
            assert (step["agree"], step["finer_in_other"]) == (expected.agree, expected.finer)
            assert step["agree_by_chance"] == expected.expected_agree
            assert (step["alike_pairs"], step["alike_pairs_by_chance"]) == (expected.alike, expected.expected_alike)
            if expected.telling:
                assert (step["chance_of_agreeing"], step["chance_of_alike"]) == (
                    expected.bound_agree(),
                    expected.bound_alike(),
                )
        readable = [
            column for column in (0, 1) if any(fits(one[column], other[column]) for one in left for other in right)
        ]
        both = [
            (one, other)
            for one, other in zip(left, right, strict=True)
            if all(fits(one[column], other[column]) for column in readable)
        ]
        restored = [sum(x == "*" != y for x, y in zip(one, other, strict=True)) for one, other in both]
        assert found.figures["rows_fitting"] == len(both)
        assert found.figures["below_k_before"] == sum(left.count(one) < 2 for one, _ in both)
        assert found.figures["below_k_after"] == sum(both.count(pair) < 2 for pair in both)
        assert found.figures["rows_finer_in_other"] == sum(1 for cells in restored if cells)
        assert found.figures["cells_finer_in_other"] == sum(restored)

    check()


ZIPS = ["91058", "91058", "27785", "27785", "32105", "32105", "67676", "67676"]
AGES = ["42", "44", "50", "52", "20", "21", "31", "32"]
TABLE_6 = (
    [(zip_code, "*") for zip_code in ZIPS],
    [(zip_code[:4] + "0", age) for zip_code, age in zip(ZIPS, AGES, strict=True)],
)


def test_table_6_of_barriers(engine: Engine) -> None:
    """Tables b and c of the paper. Zip codes end in 0 there, which no cell says to mean 9105*; the pairs of rows that
    are alike in both tables give the order away all the same. All eight ages come back, and every row stands alone."""
    found = match(engine, *TABLE_6, k=2).exposure("unsorted_matching")
    assert found.figures["better_than_chance"]
    assert (found.exposed, found.of, found.figures["cells_finer_in_other"]) == (8, 8, 8)
    assert (found.figures["below_k_before"], found.figures["below_k_after"]) == (0, 8)
    zip_step = found.steps[0]
    assert (zip_step["alike_pairs"], zip_step["alike_pairs_by_chance"]) == (4, Fraction(4 * 4, 28))
    assert abs(float(zip_step["chance_of_alike"] or 1) - 1 / 105) < 0.004


def test_rows_left_out_of_one_release_shift_the_rest(engine: Engine) -> None:
    """Six of forty rows are missing at the end of one release and within the other: only what still fits counts."""
    people = [(f"{i * 7 % 10}", f"a{i * 3 % 4}") for i in range(40)]
    left = [(zip_code, "*") for zip_code, _ in people[:34]]
    right = people[:20] + people[26:]
    found = match(engine, left, right, k=2).exposure("unsorted_matching")
    fitting = sum(one[0] == other[0] for one, other in zip(left, right, strict=True))
    assert (found.exposed, found.figures["rows_fitting"], found.figures["positions"]) == (fitting, fitting, 34)
    ahead = Fraction(sum(left[i][0] == right[i + 1][0] for i in range(33)), 33)
    behind = Fraction(sum(left[i][0] == right[i - 1][0] for i in range(1, 34)), 33)
    assert found.figures["rows_fitting_beside"] == max(ahead, behind) < Fraction(fitting, 34)
    assert f"{fitting} of 34 rows (58.8%) match, compared with" in found.sentence


def test_releases_that_are_only_sorted_alike_restore_nothing(engine: Engine) -> None:
    """Both are sorted by zip as far as anybody can see, but the other one lacks its first rows."""
    left = [(f"{i // 10}", "*") for i in range(40)]
    right = [(f"{(i + 3) // 10}", f"a{i * i * 7 % 11}") for i in range(40)]
    found = match(engine, left, right, k=2).exposure("unsorted_matching")
    assert found.figures["better_than_chance"]
    assert (found.figures["rows_fitting"], found.figures["rows_fitting_beside"]) == (28, Fraction(31, 39))
    assert (found.exposed, found.at_most) == (0, 28)
    assert found.sentence.endswith("The releases may only have been sorted the same way.")


@pytest.mark.few_on_postgres(0)
def test_classes_are_made_of_quasi_identifiers_only(engine: Engine) -> None:
    """A sensitive column pairs rows, but no one knows it: classes are those of zip, of age where the other release has
    it, and of the columns that one release alone has."""
    columns = {"row": "int", "zip": "text", "s": "text", "job": "text", "age": "text"}
    rows = [dict(zip(columns, (i, "1", f"s{i}", f"j{i // 4}", f"a{i // 2}"), strict=True)) for i in range(8)]
    mine = Target(query=values_query(rows, {name: columns[name] for name in ("row", "zip", "s", "job")}))
    theirs = Target(query=values_query(rows, {name: columns[name] for name in ("row", "zip", "s", "age")}))

    def below(k: int, qi: tuple[str, ...], other_qi: tuple[str, ...] = ()) -> tuple[Any, Any]:
        request = AttackRequest(mine, Roles(qi, ("s",)), k=k, other=theirs, other_qi=other_qi, position=("row", "row"))
        found = attack_release(engine, request).exposure("unsorted_matching").figures
        return found["below_k_before"], found["below_k_after"]

    assert below(8, ("zip",)) == (0, 0)
    assert below(9, ("zip",)) == (8, 8)
    assert [below(k, ("zip", "job")) for k in (4, 5)] == [(0, 0), (8, 8)]
    assert [below(k, ("zip", "job"), ("zip", "age")) for k in (2, 3, 5)] == [(0, 0), (0, 8), (8, 8)]
    assert [below(k, ("job",), ("age",)) for k in (2, 3, 5)] == [(0, 0), (0, 8), (8, 8)]


def test_a_random_order_is_not_better_than_chance(engine: Engine) -> None:
    left, right = TABLE_6
    order = [3, 6, 1, 4, 7, 2, 5, 0]
    found = match(engine, left, [right[i] for i in order], k=2).exposure("unsorted_matching")
    assert (found.figures["better_than_chance"], found.exposed) == (False, 0)
    assert "no better than chance" in found.sentence


def test_the_order_of_a_file_is_kept(tmp_path: Path) -> None:
    """More rows than DuckDB reads at once; bounds instead of shuffles."""
    rows = 300_000
    left, right = tmp_path / "left.csv", tmp_path / "right.csv"
    left.write_text("zip,age\n" + "".join(f"z{i * 7919 % 5000},*\n" for i in range(rows)))
    right.write_text("zip,age\n" + "".join(f"y{i * 7919 % 5000},{i % 90}\n" for i in range(rows)))
    targets = Target(relation=str(left)), Target(relation=str(right))
    with connect(None, None, *targets) as engine:
        found = attack_release(engine, AttackRequest(targets[0], Roles(("zip", "age")), other=targets[1]))
    step = found.exposure("unsorted_matching").steps[0]
    assert step["alike_pairs"] == 5000 * (60 * 59 // 2)
    assert found.exposure("unsorted_matching").figures["better_than_chance"]


def test_what_unsorted_matching_needs(engine: Engine) -> None:
    left, right = TABLE_6
    query = values_query([{"row": 1, "zip": "1", "age": "2"}] * 2, COLUMNS)
    with pytest.raises(UsageError, match="position= must number the rows, but 2 rows repeat"):
        attack_release(
            engine,
            AttackRequest(Target(query=query), Roles(("zip",)), other=Target(query=query), position=("row", "row")),
        )
    result = attack_release(engine, AttackRequest(Target(query=query), Roles(("zip",)), other=Target(query=query)))
    reasons = {one.attack: one.reason for one in result.not_tried}
    assert ("unsorted_matching" in reasons) == (engine.name != "DuckDB")
    empty = match(engine, [], []).exposure("unsorted_matching")
    assert (empty.exposed, empty.of, empty.sentence) == (0, 0, "The releases have no rows in common positions.")
    assert len(left) == len(right) == 8
