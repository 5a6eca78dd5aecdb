"""A column that is added to a model has no role, and fails a test until it has one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dbt.conftest import Project
from tests.dbt.test_columns import build

PEOPLE = """select 30 as age, '10' as zip, 'f' as "Sex", 'flu' as "Main Disease", 1 as person"""
ROLES: dict[str, Any] = {
    "quasi_identifiers": ["age", "substr(zip, 1, 1)"],
    "sensitive": ["Main Disease"],
    "entity": "person",
    "insensitive": ["sex"],
}


def test_a_column_without_a_role_fails(project: Project) -> None:
    asked: dict[str, dict[str, Any]] = {
        "all_have_one": ROLES,
        "sex_has_none": {**ROLES, "insensitive": []},
        "two_have_none": {**ROLES, "insensitive": [], "sensitive": []},
        "misspelt": {**ROLES, "insensitive": ["sexx"]},
        "nothing": {},
    }
    tests = [
        {"sqlaudit.all_columns_have_roles": {"name": name, "arguments": arguments}} for name, arguments in asked.items()
    ]
    ran = build(project, tests, people=PEOPLE)
    found = {unique.split(".")[2]: (one["status"], one["failures"]) for unique, one in ran.results.items()}
    assert {name: found[name] for name in asked} == {
        "all_have_one": ("pass", 0),
        "sex_has_none": ("fail", 1),
        "two_have_none": ("fail", 2),
        "misspelt": ("error", None),
        "nothing": ("fail", 5),
    }, ran.said


@pytest.mark.parametrize("added", ["", ", 1 as height"])
def test_roles_may_stand_in_meta(added: str, project: Project) -> None:
    columns = [
        {"name": "age", "config": {"meta": {"sqlaudit": "quasi_identifier"}}},
        {"name": "Sex", "quote": True, "config": {"meta": {"sqlaudit": {"role": "quasi_identifier"}}}},
        {"name": "zip", "config": {"meta": {"owner": "office"}}},
    ]
    model = {
        "name": "people",
        "config": {"meta": {"sqlaudit": {"sensitive": ["Main Disease"], "entity": "person", "insensitive": ["zip"]}}},
        "columns": columns,
        "data_tests": ["sqlaudit.all_columns_have_roles"],
    }
    project.models({"models": [model]}, people=PEOPLE + added)
    ran = project.dbt("build")
    (result,) = (one for unique, one in ran.results.items() if "all_columns_have_roles" in unique)
    assert (result["status"], result["failures"]) == (("fail", 1) if added else ("pass", 0)), ran.said
