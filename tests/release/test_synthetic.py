"""A synthetic table beside its original and people outside, against brute force, on every engine."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sqlaudit.base.spec import Folding, NullPolicy, Target
from sqlaudit.engines.contract import Engine
from sqlaudit.models.registry import OF_SYNTHETIC, requirements
from sqlaudit.release.compare.request import CompareRequest
from sqlaudit.release.synthetic.result import SyntheticResult
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
