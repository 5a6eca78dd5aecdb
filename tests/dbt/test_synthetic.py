"""A synthetic table beside its original: the tests of dbt fail where a comparison does."""

from __future__ import annotations

import random
from collections.abc import Sequence
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
