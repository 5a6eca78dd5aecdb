"""Which limit a test takes: the bounds of the model in the registry, and what is missing is called missing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dbt.conftest import Project
from tests.dbt.test_configs import ROWS

SENSITIVE = {"quasi_identifiers": ["zip"], "sensitive": "severity"}
ORIGINAL = {"quasi_identifiers": ["zip"], "original": "ref('release')"}
BEYOND: list[tuple[str, dict[str, Any], str]] = [
    ("alpha_k_anonymity", {**SENSITIVE, "alpha": 50}, "alpha is at most 1, not 50"),
    ("t_closeness", {**SENSITIVE, "t": 2}, "t is at most 1, not 2"),
    ("t_closeness_ordered", {**SENSITIVE, "t": "150%"}, "t is at most 1, not 150%"),
    ("entropy_l_diversity", {**SENSITIVE, "l": 0.5}, "l is at least 1, not 0.5"),
    ("distinct_l_diversity", {**SENSITIVE, "l": 0.5}, "l is a whole number"),
    ("distinct_l_diversity", {**SENSITIVE, "l": 0}, "l is at least 1, not 0"),
    ("k_anonymity", {"quasi_identifiers": ["zip"], "k": 0}, "k is at least 1, not 0"),
    ("k_anonymity", {"quasi_identifiers": ["zip"], "k": True}, "k is a whole number"),
    ("k_anonymity", {"quasi_identifiers": ["zip"]}, "k is missing"),
    ("k_anonymity", {"quasi_identifiers": ["zip"], "k": None}, "k is missing"),
    ("t_closeness", {**SENSITIVE, "t": ""}, "t is missing"),
    ("c_k_safety", {**SENSITIVE, "c": 1.5}, "c is at most 1, not 1.5"),
    ("c_k_safety", {**SENSITIVE, "k": 2}, "c is missing"),
    ("recursive_c_l_diversity", {**SENSITIVE, "c": 2, "l": 0}, "l is at least 1, not 0"),
    ("column_sets", {"quasi_identifiers": ["zip"], "tolerance": "150%"}, "tolerance is at most 1, not 150%"),
    ("column_sets", {"quasi_identifiers": ["zip"], "max_size": 0}, "max_size is at least 1, not 0"),
    ("rep_u", {**ORIGINAL, "share": 5}, "share is at most 1, not 5"),
    ("rep_u", ORIGINAL, "share is missing"),
    ("disco", {**ORIGINAL, "sensitive": "severity", "share": 5}, "share is at most 1, not 5"),
    ("exact_copies", {"columns": ["zip"], "original": "ref('release')", "rows": "few"}, "rows is a whole number"),
    ("linkage", {"quasi_identifiers": ["zip"], "reference": "ref('release')", "k": 1}, "k is at least 2, not 1"),
    ("k_map", {"quasi_identifiers": ["zip"], "population": "ref('release')"}, "k is missing"),
    ("km_anonymity", {"quasi_identifiers": ["zip"], "entity": "severity", "k": 0}, "k is at least 1, not 0"),
    ("min_contributors", {"contributors": "severity", "n": 0}, "n is at least 1, not 0"),
    ("dominance", {"largest": ["severity"], "value": "age", "k": 800}, "k is at most 100, not 800"),
    ("no_differencing", {"by": ["zip"], "count": "age", "before": "ref('release')", "n": 1}, "n is at least 2, not 1"),
]


@pytest.mark.parametrize("project", ["duckdb"], indirect=True)
@pytest.mark.parametrize(("check", "arguments", "said"), BEYOND)
def test_a_limit_has_bounds(check: str, arguments: dict[str, Any], said: str, project: Project) -> None:
    test = {f"sqlaudit.{check}": {"name": "beyond", "arguments": arguments}}
    project.models({"models": [{"name": "release", "data_tests": [test]}]}, release=ROWS)
    ran = project.dbt("parse")
    assert ran.code != 0, ran.said
    assert said in " ".join(ran.said.split())
