"""The benchmarks of scale: the tables they draw, the bounds of sketches, merged histograms, the arithmetic of costs."""

from __future__ import annotations

import doctest
import importlib
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.scale import bounds, cost_model, fitting, forecast, increments, measure, records, tables
from benchmarks.scale.shapes import Shape, generate, select
from benchmarks.scale.texts import text
from tests.strategies import run

PURE = ("bounds", "cost_model", "fitting", "shapes", "tables", "texts", "watch")


@pytest.mark.parametrize("name", PURE)
def test_examples_of_the_docstrings_hold(name: str) -> None:
    module = importlib.import_module(f"benchmarks.scale.{name}")
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0


def rows_of(shape: Shape, first: int = 0, rows: int | None = None) -> list[tuple[object, ...]]:
    with duckdb.connect() as connection:
        return connection.execute(select(shape, first, rows)).fetchall()


@pytest.mark.parametrize("skew", [False, True])
@pytest.mark.parametrize(("rows", "classes", "qis", "values"), [(5000, 400, 3, 14), (300, 300, 1, 2), (2000, 1, 4, 5)])
def test_a_table_has_exactly_the_classes_it_should_have(
    rows: int, classes: int, qis: int, values: int, skew: bool
) -> None:
    drawn = rows_of(Shape(rows, classes, qis, values, skew))
    assert len(drawn) == rows
    assert {len(row) for row in drawn} == {qis + 1}
    assert len({row[:-1] for row in drawn}) == classes
    assert len({row[-1] for row in drawn}) == (values if rows >= 2000 else 2)


def test_with_skew_one_class_has_half_of_the_rows_and_no_other_is_left_out() -> None:
    sizes = Counter(row[:-1] for row in rows_of(Shape(20_000, 500, skew=True)))
    (_, largest), (_, second) = sizes.most_common(2)
    assert abs(largest / 20_000 - 0.49) < 0.02  # the first 500 rows are spread evenly
    assert second < 100
    # half of the other 19,500 rows over 500 classes: a draw that depends on the coin would miss some
    assert min(sizes.values()) >= 5


def test_the_values_do_not_depend_on_the_class() -> None:
    drawn = rows_of(Shape(20_000, 2, 1, 2))
    shares = [
        sum(row[1] == "condition 0" for row in drawn if row[0] == key) / sum(row[0] == key for row in drawn)
        for key in (0, 1)
    ]
    # value 0 has the share sqrt(1/2)
    assert all(abs(share - math.sqrt(0.5)) < 0.02 for share in shares)


def test_the_same_arguments_give_the_same_rows_and_parts_make_the_whole() -> None:
    shape = Shape(3000, 100)
    assert sorted(rows_of(shape)) == sorted(rows_of(shape))
    assert sorted(rows_of(shape, 0, 1200) + rows_of(shape, 1200, 3000)) == sorted(rows_of(shape))


def test_more_classes_than_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="11 classes cannot be filled by 10 rows"):
        Shape(10, 11)


def test_a_grid_has_its_tables() -> None:
    full = {(shape, task) for shape, tasks in measure.grid(10**7, 10**6) for task in tasks}
    thin = {(shape, task) for shape, tasks in measure.thin_grid(10**7) for task in tasks}
    assert (len(full), len(thin)) == (42, 17)
    assert thin < full
    assert max(shape.rows for shape, _ in full) == 10**7
    assert {shape.rows for shape, _ in measure.thin_grid(10**5)} == {10**5}


def tail(successes: int, trials: int, share: Fraction) -> Fraction:
    """The probability of that many successes or more, in fractions."""
    return sum(
        (math.comb(trials, n) * share**n * (1 - share) ** (trials - n) for n in range(successes, trials + 1)),
        start=Fraction(0),
    )


@run(100)
@given(st.integers(0, 30), st.integers(1, 30), st.integers(1, 19))
def test_binomial_tails_are_those_of_fractions(successes: int, trials: int, twentieths: int) -> None:
    expected = float(tail(successes, trials, Fraction(twentieths, 20)))
    assert bounds.binomial_at_least(successes, trials, twentieths / 20) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("minimum", "k", "error"), [(0.3, 4, 0.05), (0.5, 3, 0.01), (0.05, 2, 0.2), (0.9, 1, 0.5)])
def test_the_bound_on_classes_is_the_first_that_is_likely_enough(minimum: float, k: int, error: float) -> None:
    share = Fraction(minimum)
    slow = next(n for n in range(k, 10_000) if float(tail(k, n, share)) > error)
    assert bounds.kmv_classes_at_least(minimum, k, error) == slow


@pytest.mark.parametrize("small", [0, 1, 7, 40])
def test_the_bounds_on_small_classes_fail_no_more_often_than_they_say(small: int) -> None:
    share, error = Fraction(1, 4), 0.05
    missed_low = missed_high = Fraction(0)
    for found in range(small + 1):
        chance = math.comb(small, found) * share**found * (1 - share) ** (small - found)
        low, high = bounds.small_classes_between(found, float(share), error)
        missed_low += chance if low > small else 0
        missed_high += chance if high is not None and high < small else 0
    assert missed_low <= error
    assert missed_high <= error


def test_a_sample_of_everything_leaves_nothing_to_guess() -> None:
    assert bounds.small_classes_between(7, 1.0, 0.05) == (7, None)


@run(200)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=30), st.integers(2, 8))
def test_too_many_classes_for_the_rows_prove_small_ones(sizes: list[int], k: int) -> None:
    assert bounds.too_small_at_least(len(sizes), sum(sizes), k) <= sum(size < k for size in sizes)


def test_some_table_has_no_more_small_classes_than_proved() -> None:
    sizes = [1] * 250 + [5] * 750
    assert bounds.too_small_at_least(len(sizes), sum(sizes), 5) == 250


@pytest.fixture
def people(tmp_path: Path) -> tuple[Shape, str]:
    shape = Shape(4000, 900, 3)
    return shape, f"'{generate(shape, tmp_path)}'"


def test_a_sampled_class_has_its_exact_figures(people: tuple[Shape, str]) -> None:
    shape, source = people
    threshold = bounds.HASHES // 4
    with duckdb.connect() as connection:
        sql = text("sampled.sql", columns=shape.columns, source=source, seed=3, threshold=threshold, k=5, l=3)
        sampled, small, uniform, smallest, largest = connection.execute(sql).fetchall()[0]
        hashed = connection.execute(f"SELECT hash(hash(q1, q2, q3, 3)), q1, q2, q3, s FROM {source}").fetchall()
    sizes = Counter(row[1:4] for row in hashed if row[0] < threshold)
    values = Counter(row[:3] for row in {row[1:] for row in hashed if row[0] < threshold})
    assert 150 < sampled == len(sizes) < 300
    assert small == sum(size < 5 for size in sizes.values()) > 0
    assert uniform == sum(count < 3 for count in values.values()) > 0
    assert smallest == min(sizes.values())
    assert largest == max(row[0] for row in hashed if row[0] < threshold)


def test_a_sample_of_all_classes_is_the_exact_answer(people: tuple[Shape, str]) -> None:
    shape, source = people
    with duckdb.connect() as connection:
        counted = connection.execute(text("counted.sql", columns=shape.columns, source=source, k=5, l=3)).fetchall()
        everything = text(
            "sampled.sql", columns=shape.columns, source=source, seed=1, threshold=bounds.HASHES - 1, k=5, l=3
        )
        assert connection.execute(everything).fetchall()[0][:4] == counted[0]
    assert counted[0][0] == 900


def test_merged_histograms_audit_as_all_rows(tmp_path: Path) -> None:
    spent = increments.increment(Shape(5000, 200), tmp_path)  # which compares k, l, α and t with both ways of counting
    assert (spent.rows, spent.classes) == (5050, 200)
    assert 200 < spent.cells <= 200 * 14
    assert [path.name for path in tmp_path.iterdir()] == ["people_5000_200c_4q_14v.parquet"]


def test_constants_are_found_again_and_never_negative() -> None:
    terms = [[1, rows, classes] for rows in (10, 100, 1000) for classes in (1, 5, 20)]
    measured = [0.5 + 0.25 * rows + 2 * classes for _, rows, classes in terms]
    model = fitting.fit(terms, measured)
    assert model.constants == pytest.approx((0.5, 0.25, 2))
    assert model.worst == pytest.approx(0, abs=1e-9)
    falling = fitting.fit([[1, 1], [1, 2], [1, 4]], [4, 2, 2])
    assert falling.constants[1] == 0
    # the share of 1/4, 1/2 and 1/2 that is least in squares: (1/4 + 1/2 + 1/2) / (1/16 + 1/4 + 1/4)
    assert falling.constants[0] == pytest.approx(1.25 / 0.5625)
    assert falling.typical == pytest.approx(1 - 2 * 0.5625 / 1.25)


def test_groups_sent_are_expected_classes_of_a_part() -> None:
    # 2 tasks of 2 rows over 2 classes: a task sees both with probability 1/2
    assert cost_model.groups_sent(4, 2, 2) == pytest.approx(2 * 1.5)
    assert cost_model.groups_sent(10**10, 10**9, 2048) == pytest.approx(9.9758e9, rel=1e-4)


def test_a_prediction_adds_up() -> None:
    table = cost_model.Table(rows=1e9, classes=1e6, qis=4, cells=1e7)
    cluster = cost_model.Cluster(machines=10, cores=8, memory=1e9, network=1e9, disk=1e8, efficiency=0.5, start=20.0)
    told = cost_model.predict((5, 1e-6, 1e-7, 1e-6, 1e-7), table, cluster, group_bytes=100, read=4e9, tasks=320)
    assert told.processor == pytest.approx(5 + 1000 + 400 + 1 + 1)
    assert told.shuffled == pytest.approx(100 * 320 * 1e6 * (1 - (1 - 1e-6) ** (1e9 / 320)))
    assert told.clock == pytest.approx(20 + 1407 / 40 + told.shuffled / 1e10 + 4)
    assert told.state == 2e8
    assert told.state_share == pytest.approx(0.02)


@run(200)
@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3).filter(any), min_size=1, max_size=25))
def test_there_are_no_more_signatures_than_partitions_allow(classes: list[list[int]]) -> None:
    different = {tuple(sorted(counts)) for counts in classes}
    assert len(different) <= cost_model.signatures_at_most(sum(map(sum, classes)), len(classes), 3)


def test_expected_cells_are_those_of_a_drawn_table() -> None:
    drawn = rows_of(Shape(50_000, 5_000))
    assert cost_model.expected_cells(50_000, 5_000, 14) == pytest.approx(
        len(set(drawn)), rel=0.03
    )  # classes differ in size, which makes fewer


def test_the_engines_agree_on_every_table_of_the_page() -> None:
    answers: dict[object, set[str]] = {}
    for record in records.read():
        answers.setdefault((record.task, record.shape), set()).add(record.levels)
    assert [key for key, levels in answers.items() if len(levels) > 1] == []


def test_the_page_shows_what_the_raw_figures_say() -> None:
    page = set((records.DOCS / "scale.md").read_text(encoding="utf-8").splitlines())
    shown = [*tables.lines(), *(line for line in forecast.lines(10**10, 10**9) if line.startswith("|"))]
    assert [line for line in shown if line not in page] == []
    assert len(shown) > 50


def test_records_come_back_from_their_file(tmp_path: Path) -> None:
    shape = (1000, 10, 4, 14, 1)
    wanted = [
        records.Record("duckdb", "audit", *shape, 0.1, 0.2, 0.3, 0.4, 100.0, 0.0, 1.5, 0.0, 2.5, "1 1 0.5"),
        records.Record("duckdb", "audit", *shape[:4], 0, 0.1, 0.2, 0.25, 0.4, 90.0, 12.0, 1.5, 0.0, 2.5, "3 1 0.5"),
    ]
    records.write(wanted, tmp_path / "figures.csv")
    assert records.read(tmp_path / "figures.csv") == wanted[::-1]
    assert wanted[0].shape == Shape(1000, 10, 4, 14, True)
    assert records.read(tmp_path / "none.csv") == []
