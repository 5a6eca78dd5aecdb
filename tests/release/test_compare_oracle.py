"""Everything that `compare` computes against brute force, on both engines."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.spec import Target
from sqlaudit.engines.contract import Engine
from sqlaudit.release.compare.result import CompareResult
from tests.audit_values import values_query
from tests.release import cases, oracle
from tests.release.alone import release_alone  # noqa: F401
from tests.release.cases import Drawn
from tests.strategies import run

CELLS: dict[str, Callable[[oracle.Case], Any]] = {
    "modification-rate": lambda case: oracle.modified(case) / (case.n * len(case.qi)),
    "whd": oracle.whd,
    "whd-height": lambda case: oracle.whd(case, 1.0),
    "redactions": oracle.redactions,
    "tree": oracle.tree_measure,
    "entropy": oracle.entropy,
    "monotone-entropy": oracle.monotone_entropy,
    "non-uniform-entropy": oracle.non_uniform_entropy,
    "loss": oracle.loss,
    "ncp": oracle.ncp,
    "precision": oracle.precision,
    "discernibility": oracle.discernibility,
    "class-size": oracle.average_class_size,
    "variance-loss": oracle.variance_loss,
    "entropy-volume-inflation": oracle.entropy_volume_inflation,
    "independent-entropy-volume-inflation": oracle.entropy_volume_inflation_independent,
}
PAIRS: dict[str, Callable[[oracle.Case], Any]] = {
    "volume-inflation": oracle.volume_inflation,
    "independent-volume-inflation": oracle.volume_inflation_independent,
    "hybrid": oracle.hybrid,
}


def compared(engine: Engine, drawn: Drawn, **options: Any) -> CompareResult:
    """The package on the tables of a case."""
    case = drawn.case
    original = Target(query=values_query(case.original, cases.COLUMNS), label="original")
    release = Target(query=values_query(case.release, cases.RELEASED), label="release")
    given = {"qi": case.qi, "sensitive": case.sensitive, "hierarchies": drawn.hierarchies, "workload": 0, **options}
    return sqlaudit.compare(original, release, db=engine, **given)


def few(engine: Engine, some: int, of: int) -> settings:
    """Most cases on DuckDB; a few on another engine, which only counts what DuckDB then computes with."""
    return run(of, some) if engine.name == "DuckDB" else run(3, some=2)


def views(case: oracle.Case) -> list[tuple[str | None, oracle.Case]]:
    return [(None, case), *((column, case.only(column)) for column in case.qi)]


def check(result: CompareResult, case: oracle.Case, names: dict[str, Callable[[oracle.Case], Any]]) -> None:
    for column, view in views(case):
        for name, expected in names.items():
            wanted = expected(view)
            found = result.loss(name, column).value
            where = f"{name} of {column}"
            if wanted is None:
                assert found is None, where
            else:
                assert found is not None, where
                assert math.isclose(float(found), float(wanted), rel_tol=1e-12, abs_tol=1e-11), (where, found, wanted)


def test_losses_of_paired_rows(engine: Engine) -> None:
    @few(engine, 4, 8)
    @given(cases.cases())
    def agree(drawn: Drawn) -> None:
        result = compared(engine, drawn, key="id", noise_queries=2)
        assert result.pairing == "key"
        check(result, drawn.case, {**CELLS, **PAIRS})
        facts = result.generalization
        assert facts.answer == "yes"
        assert (facts.recoding == "local") is oracle.is_local(drawn.case)
        if not drawn.local and "age" not in drawn.case.qi:  # ages have no hierarchy: their cells lie beside its levels
            assert facts.recoding == oracle.recoding(drawn.case)

    agree()


def test_losses_without_pairs(engine: Engine) -> None:
    @few(engine, 4, 8)
    @given(cases.cases())
    def agree(drawn: Drawn) -> None:
        result = compared(engine, drawn, noise_queries=2)
        check(result, drawn.case, CELLS)
        if result.pairing == "containment":
            check(result, drawn.case, PAIRS)
        else:
            assert result.pairing == "none"
            for name in PAIRS:
                assert result.loss(name).value is None
                assert "key=" in result.loss(name).why

    agree()


@pytest.mark.few_on_postgres(0)
def test_whether_it_is_a_generalization_without_pairs(engine: Engine) -> None:
    @few(engine, 4, 8)
    @given(cases.cases(rows=6), st.data())
    def agree(drawn: Drawn, data: st.DataObject) -> None:
        release = [dict(row) for row in drawn.case.release]
        for row in release:
            if data.draw(st.integers(0, 3)) == 0:
                row["s"] = data.draw(st.sampled_from(cases.DISEASES))
        if release and data.draw(st.integers(0, 2)) == 0:
            release.append(dict(data.draw(st.sampled_from(release))))
        case = replace(drawn.case, release=release)
        facts = compared(engine, Drawn(case, drawn.local), measures=["tree"]).generalization
        possible = len(release) <= case.n and oracle.some_matching(case)
        assert facts.answer == "undecided" or (facts.answer == "yes") is possible, (facts, possible)

    agree()


@pytest.mark.few_on_postgres(0)
def test_rows_that_do_not_fit_are_counted(engine: Engine) -> None:
    @few(engine, 4, 7)
    @given(cases.cases(rows=6), st.data())
    def agree(drawn: Drawn, data: st.DataObject) -> None:
        case = drawn.case
        places = data.draw(st.permutations(range(len(case.release))))
        release = [{**case.release[other], "id": row["id"]} for row, other in zip(case.release, places, strict=True)]
        case = replace(case, release=release)
        facts = compared(engine, Drawn(case, drawn.local), key="id", measures=["tree"]).generalization
        for column in facts.columns:
            assert column.misfits == sum(not oracle.fits(case, i, column.name) for i in range(case.n))
        rows = sum(not all(oracle.fits(case, i, column) for column in case.qi) for i in range(case.n))
        changed = sum(
            place is not None and case.original[i]["s"] != release[place]["s"] for i, place in enumerate(case.match)
        )
        assert (facts.misfit_rows, facts.changed["s"]) == (rows, changed)
        assert (facts.answer == "yes") is (rows == 0 and changed == 0)

    agree()


def test_rows_spread_over_values_as_they_are_counted(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows of the most frequent values and cells, the others together, as long as these are enough."""
    monkeypatch.setattr("sqlaudit.release.compare.coding.LEAST_ROWS", least := 2)
    monkeypatch.setattr("sqlaudit.release.compare.coding.MOST_PARTS", most := 3)

    def spread(cells: list[Any]) -> tuple[int, tuple[int, ...], int]:
        counts = sorted(Counter(map(str, cells)).values(), reverse=True)
        shown = [count for count in counts if count >= least][:most]
        if 0 < sum(counts) - sum(shown) < least:
            shown.pop() if shown else None
        rounded = [(count + 1) // 2 * 2 for count in (*shown, sum(counts) - sum(shown))]
        return len(counts), tuple(rounded[:-1]), rounded[-1]

    @few(engine, 20, 60)
    @given(cases.cases())
    def check_spreads(drawn: Drawn) -> None:
        case, result = drawn.case, compared(engine, drawn)
        assert [one.column for one in result.spreads] == [*case.qi, case.sensitive]
        for one in result.spreads:
            before = one.values, one.original, one.original_others
            assert before == spread([row[one.column] for row in case.original]), one.column
            after = one.cells, one.release, one.release_others
            assert after == spread([row[one.column] for row in case.release]), one.column

    check_spreads()


@pytest.mark.parametrize("third", [6, 5])
def test_a_small_value_does_not_follow_from_both_bars(third: int) -> None:
    """The last value has 3 rows, or 4: the release merges it with the second one, and exact bars give its rows."""
    sizes = {"a": 20, "b": 15, "c": third, "d": 9 - third}
    original = pd.DataFrame({"town": [town for town, rows in sizes.items() for _ in range(rows)]})
    release = original.replace({"town": {"b": "{b, d}", "d": "{b, d}"}})
    (spread,) = sqlaudit.compare(original, release, qi=["town"]).spreads
    assert (spread.original, spread.original_others) == ((20, 15), 10)
    assert (spread.release, spread.release_others) == ((20, 20, 5), 0)
