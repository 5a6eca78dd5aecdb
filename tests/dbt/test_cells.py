"""Tests of published tables: what each finds is what `sqlaudit aggregates` finds in the same table."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dbt.conftest import Project, Ran

CELLS = [
    ("north", "s", 12, 100, 75, 15),
    ("north", "t", 3, 20, 10, 5),
    ("north", "Total", 15, 120, 75, 15),
    ("south", "s", None, None, None, None),
    ("south", "t", 7, 70, 60, 5),
    ("south", "Total", 11, 110, 60, 30),
    ("Total", "s", None, None, None, None),
    ("Total", "t", 10, 90, 60, 10),
    ("Total", "Total", 26, 230, 75, 60),
]
CELLS = [(*row, "*" if row[2] is None else str(row[2])) for row in CELLS]
BEFORE = [("north", "s", 11), ("north", "t", 3), ("south", "t", None), ("west", "t", 2), ("Total", "t", 15)]
ZEROS = [("north", "s", 5), ("north", "t", None), ("north", "u", None), ("north", "Total", 5)]
ZEROS += [("south", "s", 4), ("south", "t", None), ("south", "u", None), ("south", "Total", 5)]
BY = ["region", "sector"]


def select(rows: list[tuple[Any, ...]], names: str) -> str:
    """Rows as a SELECT."""

    def written(value: Any, name: str) -> str:
        kind = "varchar(9)" if name in (*BY, "m") else "integer"
        return f"cast({'null' if value is None else repr(value)} as {kind}) as {name}"

    lines = [", ".join(written(v, n) for v, n in zip(row, names.split(), strict=True)) for row in rows]
    return " union all ".join(f"select {line}" for line in lines)


def test(kind: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {f"sqlaudit.{kind}": {"name": name, "arguments": arguments}}


test.__test__ = False  # type: ignore[attr-defined]
LARGEST = {"value": "x", "largest": ["x1", "x2"]}
IGNORED = {"hidden_cells": "ignore"}
APRIL = {"before": "{{ ref('april') }}", "by": BY, "count": "n"}
TESTS = [
    test("min_contributors", "few", contributors="n", n=5, **IGNORED),
    test("min_contributors", "enough", contributors="n", n=3, **IGNORED),
    test("min_contributors", "hidden", contributors="n", n=5),
    test("min_contributors", "marked", contributors="m", n=5, hidden=["x", "*"]),
    test("dominance", "at_the_limit", n=1, k=75, **LARGEST, by=BY, **IGNORED),
    test("dominance", "beyond_it", n=1, k="74.9", **LARGEST, **IGNORED),
    test("dominance", "of_two", k=90, **LARGEST, by=BY, show_values=True, **IGNORED),
    test("dominance", "refused", k=90, **LARGEST),
    test("no_unpickable_cell", "mark_unpicked", by=BY, count="m", hidden=["*"]),
    test("no_unpickable_cell", "unpicked", by=BY, count="n"),
    test("no_differencing", "changed", **APRIL, n=3, **IGNORED, other_cells="ignore"),
    test("no_differencing", "changed_more", **APRIL, n=6, **IGNORED, other_cells="ignore"),
    test("no_differencing", "not_known", **APRIL, n=3, other_cells="ignore"),
    test("no_differencing", "other_names", **APRIL, n=3, **IGNORED),
]


@pytest.fixture(scope="module")
def tested(project: Project) -> Ran:
    """One build with every test."""
    model = {"name": "may", "data_tests": TESTS}
    april = select(BEFORE, "region sector n")
    asked: dict[str, Any] = {"by": BY, "count": "n"}
    zeros = [
        test("no_unpickable_cell", "zeros", **asked, total={"region": ""}),
        test("no_unpickable_cell", "no_total", **asked),
        test("no_unpickable_cell", "other_case", **asked, total={"region": "", "sector": "TOTAL"}),
        test("no_unpickable_cell", "said_to_have_none", **asked, total=""),
    ]
    june = select(ZEROS, "region sector n")
    project.models(
        {"models": [model, {"name": "june", "data_tests": zeros}]},
        may=select(CELLS, "region sector n x x1 x2 m"),
        april=april,
        june=june,
    )
    return project.dbt("build")


@pytest.mark.parametrize(
    ("name", "failures"),
    [
        ("few", 1),
        ("enough", 0),
        # south t has 60 of 70
        ("at_the_limit", 1),
        # north s has 75 of 100
        ("beyond_it", 2),
        # 65 of 70; north s has 90 of 100
        ("of_two", 1),
        # south s, of south and its total; Total s, of the total of all
        ("unpicked", 2),
        # north t and u, which the published cells leave nothing
        ("zeros", 2),
        # no region is called Total, and one may be it
        ("no_total", 4),
        ("other_case", 4),
        ("said_to_have_none", 0),
        # north s by 1, west t by 2
        ("changed", 2),
        ("changed_more", 3),
        # the two hidden cells besides
        ("hidden", 3),
        ("marked", 3),
        ("refused", 3),
        ("mark_unpicked", 2),
        # south s and Total s are hidden in may, south t in april
        ("not_known", 5),
        # west t is gone, five cells have come: each may be it
        ("other_names", 7),
    ],
)
def test_cells_are_found(tested: Ran, name: str, failures: int) -> None:
    result = tested.result(f".{name}.")
    assert (result["status"], result["failures"] or 0) == ("fail" if failures else "pass", failures), result["message"]
