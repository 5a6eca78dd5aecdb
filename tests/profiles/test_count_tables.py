"""Tables that are published counts already are recognised, and others are not taken for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.spec import Target
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.names import find_count_table, find_group_sizes
from tests.audit_values import values_query
from tests.cli.runner import run
from tests.reports.schemas import validator

CELLS = [
    {"region": region, "year": year, "n_patients": n, "cost": 100 * n}
    for region, year, n in [("a", 2020, 3), ("a", 2021, 12), ("b", 2020, 7), ("b", 2021, 0), ("Total", 2020, 10)]
]
KINDS = {"region": "text", "year": "int", "n_patients": "int", "cost": "decimal"}


def looked_at(engine: Engine, rows: list[dict[str, Any]], kinds: dict[str, str]) -> tuple[Any, ...] | None:
    found = find_count_table(engine, engine.open(Target(query=values_query(rows, kinds))))
    return None if found is None else (found.by, found.count)


def test_cells_with_counts_are_recognised(engine: Engine) -> None:
    assert looked_at(engine, CELLS, KINDS) == (("region", "year"), "n_patients")
    hidden = [*CELLS[:3], {**CELLS[3], "n_patients": None}]
    assert looked_at(engine, hidden, KINDS) == (("region", "year"), "n_patients")


@pytest.mark.parametrize(
    ("rows", "kinds"),
    [
        ([*CELLS, CELLS[0]], {}),
        ([*CELLS[1:], {**CELLS[0], "n_patients": -1}], {}),
        ([{**one, "n_patients": one["n_patients"] + 0.5} for one in CELLS], {"n_patients": "decimal"}),
    ],
    ids=["a cell twice", "a negative count", "fractions"],
)
def test_what_is_no_table_of_counts(engine: Engine, rows: list[dict[str, Any]], kinds: dict[str, str]) -> None:
    assert looked_at(engine, rows, KINDS | kinds) is None


PERSONS = {
    "patient_id": ["p1", "p2", "p3", "p4"],
    "name": ["Ann", "Ben", "Cem", "Dea"],
    "city": ["a", "b", "c", "d"],
    "sex": ["f", "m", "m", "f"],
    "n_visits": [3, 4, 2, 9],
}


@pytest.mark.parametrize("left_out", [[], ["patient_id"], ["patient_id", "name"], ["patient_id", "name", "n_visits"]])
def test_persons_with_a_number_of_visits_are_no_cells(left_out: list[str]) -> None:
    table = pd.DataFrame({name: values for name, values in PERSONS.items() if name not in left_out})
    assert sqlaudit.profile(table).cells is None


def test_profile_proposes_to_judge_cells(tmp_path: Path) -> None:
    file = tmp_path / "counts.csv"
    pd.DataFrame(CELLS).to_csv(file, index=False)
    said = " ".join(run("profile", str(file)).out.replace("\\\n", "").split())
    assert "Rows look like cells of a published table with counts in n_patients" in said
    assert "--by region,year --count n_patients --require threshold=5" in said
    told = json.loads(run("profile", str(file), "--format", "json").out)
    validator("profile").validate(told)
    assert told["cells"] == {"by": ["region", "year"], "count": "n_patients"}


def test_an_audit_says_so_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "counts.csv"
    pd.DataFrame(CELLS).to_csv(file, index=False)
    ran = run("audit", str(file), "--qi", "region,year", "--require", "k=5")
    assert ran.code == 1
    assert "Use `sqlaudit aggregates` for cells (--by region,year --count n_patients --require threshold=5)" in ran.said


def test_a_policy_to_begin_with_tests_its_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(CELLS).to_csv("counts.csv", index=False)
    assert run("init", "counts.csv").code == 0
    found = sqlaudit.gate("sqlaudit.yml")
    assert [(one.requirement, one.outcome.value) for one in found.tests] == [
        ("aggregates=threshold=5,by:region+year,count:n_patients", "fail")
    ]


SIZES = [("a", 1, 3, 9), ("a", 2, 2, 9), (None, 1, 1, 1)]
VISITS = [{"region": region, "year": year} for region, year, n, _ in SIZES for _ in range(n)]
VISIT_KINDS = {"region": "text", "year": "int"}


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda rows: rows, "treated"),
        (lambda rows: [*rows, ("Total", 1, 4, 1)], "treated"),  # a total is no group
        (lambda rows: [*rows[:2], (None, 1, None, 1)], "treated"),  # it is hidden
        (lambda rows: [*rows[:2], (None, 1, 2, 1)], None),
        (lambda rows: [*rows, rows[0]], None),  # a cell twice
        (lambda rows: [*rows, *(("c", place, 1, 1) for place in range(4))], None),  # too few are groups
        (lambda rows: [(a, b, n, n) for a, b, n, _ in rows], "cost"),
        (lambda rows: [rows[2], ("b", 1, 1, 1)], None),
    ],
)
def test_the_sizes_of_groups_of_another_table_are_counts(engine: Engine, change: Any, found: str | None) -> None:
    kinds = {**VISIT_KINDS, "cost": "int", "treated": "int"}
    rows = [{"region": region, "year": year, "cost": other, "treated": n} for region, year, n, other in change(SIZES)]
    table, visits = (engine.open(Target(query=values_query(*one))) for one in ((rows, kinds), (VISITS, VISIT_KINDS)))
    cells = find_group_sizes(engine, table, visits)
    assert (cells and (cells.by, cells.count)) == (found and (("region", "year"), found))


def test_other_dimensions_are_no_groups_of_a_table(engine: Engine) -> None:
    rows = [{"region": a, "sex": "f", "treated": n} for a, _, n, _ in SIZES]
    table = engine.open(Target(query=values_query(rows, {"region": "text", "sex": "text", "treated": "int"})))
    visits = engine.open(Target(query=values_query(VISITS, VISIT_KINDS)))
    assert find_group_sizes(engine, table, visits) is None


def test_init_judges_the_sizes_of_groups_of_a_table_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(VISITS).to_csv("visits.csv", index=False)
    pd.DataFrame(SIZES, columns=["region", "year", "treated", "other"]).to_csv("published.csv", index=False)
    assert run("init", "visits.csv", "published.csv").code == 0
    found = sqlaudit.gate("sqlaudit.yml").tests
    assert "aggregates=threshold=5,by:region+year,count:treated" in [one.requirement for one in found]
    assert run("init", "published.csv", "--force").code == 0
    assert "aggregates" not in Path("sqlaudit.yml").read_text(encoding="utf-8")
