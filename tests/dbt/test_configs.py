"""dbt's configurations do to these tests what they do to its own: severity, thresholds, where, limit, storing."""

from __future__ import annotations

import csv
from collections import Counter
from typing import Any

import pytest

from tests.dbt.conftest import Project, Ran

ROWS = " union all ".join(
    f"select {age} as age, '{zip_code}' as zip, {value} as severity"
    for age, zip_code, value in [
        (30, "10", 1),
        (30, "10", 2),
        (30, "10", 3),
        (40, "10", 1),
        (40, "10", 1),
        (50, "20", 2),
        (60, "20", 3),
    ]
)
"""Classes of 3, 2, 1 and 1 rows."""
K3: dict[str, Any] = {"arguments": {"quasi_identifiers": ["age", "zip"], "k": 3}}


def k3(name: str, **config: Any) -> dict[str, Any]:
    """A test that three classes with four rows fail."""
    arguments = {**K3["arguments"], **config.pop("arguments", {})}
    return {"sqlaudit.k_anonymity": {"name": name, "arguments": arguments, "config": config}}


TESTS = [
    k3("plain"),
    k3("as_warning", severity="warn"),
    k3("tolerated", warn_if=">= 3", error_if="> 3"),
    k3("too_many", warn_if="> 1", error_if="> 2"),
    k3("few_are_fine", error_if="> 3", warn_if="> 3"),
    k3("by_rows", fail_calc="coalesce(sum(n_records), 0)"),
    k3("by_rows_tolerated", fail_calc="coalesce(sum(n_records), 0)", error_if="> 4", warn_if="> 4"),
    k3("part_of_the_table", where="age < 50"),
    k3("where_nothing_is_wrong", where="age = 30"),
    k3("at_most_two", limit=2),
    k3("kept", store_failures=True),
    k3("kept_with_values", store_failures=True, arguments={"show_values": True}),
    k3("by_rows_with_nothing_found", where="age = 30", fail_calc="coalesce(sum(n_records), 0)"),
]
SEVERITY = [
    {"sqlaudit.t_closeness": {"name": "under_a_column", "arguments": {"quasi_identifiers": ["zip"], "t": 0.1}}},
    {
        "sqlaudit.t_closeness_ordered": {
            "name": "filtered_shares",
            "arguments": {"quasi_identifiers": ["zip"], "t": 0},
            "config": {"where": "zip = '20'"},
        }
    },
]


@pytest.fixture(scope="module")
def tested(project: Project) -> Ran:
    """One build with every configuration."""
    model = {"name": "release", "data_tests": TESTS, "columns": [{"name": "severity", "data_tests": SEVERITY}]}
    project.models({"models": [model]}, release=ROWS)
    return project.dbt("build", "--select", "release")


@pytest.mark.parametrize(
    ("name", "status", "failures"),  # dbt tells no failures of a test that passes
    [
        ("plain", "fail", 3),
        ("as_warning", "warn", 3),
        ("tolerated", "warn", 3),
        ("too_many", "fail", 3),
        ("few_are_fine", "pass", 0),
        ("by_rows", "fail", 4),
        ("by_rows_tolerated", "pass", 0),
        ("part_of_the_table", "fail", 1),
        ("where_nothing_is_wrong", "pass", 0),
        ("at_most_two", "fail", 2),
        ("kept", "fail", 3),
        ("kept_with_values", "fail", 3),
        ("by_rows_with_nothing_found", "pass", 0),
        ("under_a_column", "fail", 2),
        ("filtered_shares", "pass", 0),
    ],
)
def test_results(tested: Ran, name: str, status: str, failures: int) -> None:
    result = next(one for unique, one in tested.results.items() if f".{name}." in f"{unique}.")
    assert (result["status"], result["failures"]) == (status, failures), result["message"]


def test_the_build_fails(tested: Ran) -> None:
    assert tested.code == 1
    assert "Got 3 results, configured to fail if != 0" in tested.said


def test_stored_failures_hold_counts_and_no_values_unless_asked(tested: Ran, project: Project) -> None:
    schema = "clinic_dbt_test__audit" if project.target == "postgres" else "main_dbt_test__audit"
    kept = project.rows(f"select * from {schema}.kept order by 1, 2")
    assert kept == [(1, 1), (1, 1), (2, 2)]
    with_values = project.rows(f"select age, zip, class_size, n_records from {schema}.kept_with_values order by age")
    assert with_values == [(40, "10", 2, 2), (50, "20", 1, 1), (60, "20", 1, 1)]
    tables = project.rows(
        f"select table_name from information_schema.tables where table_schema = '{schema}' order by 1"
    )
    assert tables == [("kept",), ("kept_with_values",)], "nothing is stored unless it is asked for"


@pytest.mark.parametrize(
    ("test", "said"),
    [
        (
            {"sqlaudit.c_k_safety": {"arguments": {"quasi_identifiers": ["zip"], "c": 0.5, "k": 4}}},
            "k of 0 to 3, not 4",
        ),
        ({"sqlaudit.t_closeness": {"arguments": {"quasi_identifiers": ["zip"], "t": "a lot"}}}, "a limit is a number"),
    ],
)
def test_mistakes_are_told(test: dict[str, Any], said: str, project: Project) -> None:
    column = {"name": "severity", "data_tests": [test]}
    project.models({"models": [{"name": "release", "columns": [column]}]}, release=ROWS)
    ran = project.dbt("parse")
    assert ran.code != 0
    assert said in " ".join(ran.said.split())


SHORT = {"quasi_identifiers": ["age"], "k": 3}
ORDERED = {"quasi_identifiers": ["age"], "t": 0.9, "sensitive": "severity"}
COLUMNS = {"quasi_identifiers": ["age", "zip"]}
EVERYWHERE = {
    "sources": [
        {
            "name": "warehouse",
            "schema": "{{ target.schema }}",
            "tables": [
                {
                    "name": "patients",
                    "data_tests": [
                        {"sqlaudit.k_anonymity": {"name": "of_a_source", "arguments": SHORT}},
                        {
                            "sqlaudit.t_closeness_ordered": {
                                "name": "text_of_a_source",
                                "arguments": {"quasi_identifiers": ["sex"], "t": 0.9, "sensitive": "zip"},
                                "config": {"where": "age > 0"},
                            }
                        },
                    ],
                }
            ],
        }
    ],
    "models": [
        {
            "name": "passing",
            "config": {"materialized": "ephemeral"},
            "data_tests": [
                {"sqlaudit.k_anonymity": {"name": "of_an_ephemeral_model", "arguments": SHORT}},
                {"sqlaudit.t_closeness_ordered": {"name": "ordered_of_an_ephemeral_model", "arguments": ORDERED}},
            ],
        },
        {
            "name": "nobody",
            "data_tests": [
                {"sqlaudit.k_anonymity": {"name": "of_an_empty_table", "arguments": SHORT}},
                {"sqlaudit.t_closeness": {"name": "shares_of_an_empty_table", "arguments": ORDERED}},
                {"sqlaudit.column_sets": {"name": "sets_of_an_empty_table", "arguments": COLUMNS}},
            ],
        },
    ],
}


def test_sources_ephemeral_models_and_empty_tables(project: Project) -> None:
    """What dbt's own tests run on; as with these, a table without rows has no rows that fail."""
    project.models(EVERYWHERE, passing=ROWS, nobody=f"select * from ({ROWS}) as everybody where age > 99")
    assert project.dbt("seed").code == 0
    ran = project.dbt("build", "--exclude-resource-type", "seed")
    with (project.folder / "seeds" / "patients.csv").open(encoding="utf-8") as file:
        ages = Counter(row["age"] for row in csv.DictReader(file))
    found = {unique.split(".")[2]: (one["status"], one["failures"]) for unique, one in ran.results.items()}
    assert found["of_a_source"] == ("fail", sum(size < 3 for size in ages.values()))
    assert found["text_of_a_source"][0] == "error"
    assert "zip is text and has no order of its own" in " ".join(ran.said.split())
    assert found["of_an_ephemeral_model"] == ("fail", 3)
    assert found["ordered_of_an_ephemeral_model"] == ("pass", 0)
    assert {found[f"{test}of_an_empty_table"] for test in ("", "shares_", "sets_")} == {("pass", 0)}
