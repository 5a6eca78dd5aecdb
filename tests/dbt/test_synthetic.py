"""A synthetic table beside its original: the tests of dbt fail where a comparison does."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import sqlaudit
from sqlaudit.base.result import Status
from tests.dbt.conftest import Project

QI = ["a", "b"]


def table(rows: Sequence[tuple[Any, ...]]) -> str:
    """The rows as a model."""
    kinds = ("int", "varchar(5)", "varchar(5)")

    def cell(value: Any, kind: str, name: str) -> str:
        return f"cast({'null' if value is None else repr(value)} as {kind}) as {name}"

    lines = ("select " + ", ".join(map(cell, row, kinds, "abs")) for row in rows)
    return "\nunion all\n".join(lines) if rows else "select 1 as a, 'x' as b, 'x' as s where 1 = 0"


def people(seed: int, size: int) -> list[tuple[Any, ...]]:
    chosen = random.Random(seed)
    return [
        (chosen.choice([*range(8), None]), chosen.choice(["x", "y", None]), chosen.choice("uuv")) for _ in range(size)
    ]


def wanted(name: str, limit: float) -> dict[str, Any]:
    """A test that warns."""
    given: dict[str, Any] = {"original": "ref('raw')"}
    given |= {"rep_u": {"share": limit}, "disco": {"share": limit, "sensitive": "s", "values": "exact"}}.get(
        name, {"rows": limit}
    )
    given |= {"columns": [*QI, "s"]} if name == "exact_copies" else {"quasi_identifiers": QI}
    called = f"{name}_{str(limit).replace('.', '_')}"
    return {f"sqlaudit.{name}": {"name": called, "arguments": given, "config": {"severity": "warn"}}}


LIMITS = {"rep_u": (0, 0.02, 0.2), "disco": (0, 0.05, 0.1, 0.5), "exact_copies": (0, 20, 60)}


@pytest.mark.parametrize("seed", range(3))
def test_a_comparison_fails_the_same(seed: int, project: Project) -> None:
    made = [] if seed == 2 else [*people(seed + 10, 40), *people(seed, 45)[:10]]
    tests = [wanted(name, limit) for name, limits in LIMITS.items() for limit in limits]
    project.models({"models": [{"name": "made", "data_tests": tests}]}, raw=table(people(seed, 45)), made=table(made))
    ran = project.dbt("build")
    failures = {unique.split(".")[2]: one["failures"] for unique, one in ran.results.items()}
    compared = sqlaudit.compare(
        project.table("raw"),
        project.table("made"),
        db=project.database,
        qi=QI,
        sensitive="s",
        synthetic=True,
        values="exact",
        require=[f"{name}={limit}" for name, limits in LIMITS.items() for limit in limits],
    )
    expected = {
        f"{one.model}_{one.text.partition('=')[2].replace('.', '_')}": int(one.status is not Status.PASS)
        for one in compared.checks
    }
    assert {name: failures[name] for name in expected} == expected
    assert set(expected.values()) == ({0, 1} if made else {1})


def test_another_spelling_passes_nothing(project: Project) -> None:
    raw = [(1, "x", "u"), (2, "x", "v")]
    project.models(
        {"models": [{"name": "made", "data_tests": [wanted("rep_u", 1), wanted("disco", 1)]}]},
        raw=table(raw),
        made=table([(a, "x ", s + "!") for a, _, s in raw]),
    )
    ran = project.dbt("build")
    failures = {unique.split(".")[2]: one["failures"] for unique, one in ran.results.items()}
    assert (failures["rep_u_1"], failures["disco_1"]) == (1, 1)


@pytest.mark.parametrize("column", [0, 1, 2])
def test_a_column_without_values_passes_nothing(column: int, project: Project) -> None:
    raw = people(1, 45)
    made = [tuple(None if place == column else cell for place, cell in enumerate(row)) for row in raw]
    limits = {"rep_u": 1, "disco": 1, "exact_copies": 45}
    if column == 2:
        del limits["rep_u"]  # which does not read the sensitive column
    tests = [wanted(name, limit) for name, limit in limits.items()]
    project.models({"models": [{"name": "made", "data_tests": tests}]}, raw=table(raw), made=table(made))
    ran = project.dbt("build")
    failures = {unique.split(".")[2]: one["failures"] for unique, one in ran.results.items()}
    assert {failures[f"{name}_{limit}"] for name, limit in limits.items()} == {1}


@pytest.mark.parametrize("number", [lambda n: n + 100, lambda n: n * 7 % 45, lambda n: n], ids=["on", "mixed", "same"])
def test_a_number_of_the_row_hides_no_copies(number: Callable[[int], int], project: Project) -> None:
    raw = [(n, b, s) for n, (_, b, s) in enumerate(people(1, 45))]
    made = [(number(n), b, s) for n, b, s in raw]
    project.models(
        {"models": [{"name": "made", "data_tests": [wanted("exact_copies", 1)]}]}, raw=table(raw), made=table(made)
    )
    ran = project.dbt("build")
    assert [one["failures"] for unique, one in ran.results.items() if "exact_copies" in unique] == [1]
