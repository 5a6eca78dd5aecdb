"""The JSON of column sets and records follows its schema, in every mode, and says which schema that is."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import sqlaudit
from tests.reports.schemas import schema, validator

DATA = pd.DataFrame(
    {
        "zip": [1, 1, 2, 2, None],
        "sex": list("fmfmf"),
        "age": [30.5, 31.0, 30.5, 31.0, 31.0],
        "person": [1, 2, 3, 4, 4],
        "weight": [10, 20, 30, 40, 50],
    }
)
TAKEN = ["zip", "sex", "age"]
SEARCHES: list[dict[str, Any]] = [
    {"k": 2},
    {"k": 2, "tolerance": 0.25, "find": "minimum"},
    {"k": 2, "find": "greedy", "restarts": 2, "seed": 1},
    {"find": "ranking", "limit": 2},
    {"identifying": True},
    {"identifying": True, "epsilon": "0.2", "ratio": "separation"},
    {"identifying": True, "epsilon": "0.2", "ratio": "separation", "delta": "0.1"},
    {"nulls": "wildcard", "k": 2},
    {"nulls": "distinct", "max_size": 1},
    {"time_budget": 0},
    {"effects": False},
]


@pytest.mark.parametrize("options", SEARCHES, ids=str)
def test_column_sets_follow_their_schema(options: dict[str, Any]) -> None:
    data = sqlaudit.columns(DATA, columns=TAKEN, **options).to_dict()
    assert data["schema"] == "sqlaudit-columns/1" == schema("columns")["title"]
    validator("columns").validate(data)
    assert (data["total"], data["columns"], data["complete"]) == (
        5,
        TAKEN,
        "time_budget" not in options and (options.get("find") != "greedy"),
    )


def test_persons_follow_it_too() -> None:
    data = sqlaudit.columns(DATA, columns=TAKEN, entity="person", k=2).to_dict()
    validator("columns").validate(data)
    assert (data["unit"], data["total"]) == ("persons", 4)
    assert {tuple(one["columns"]): one["rows_at_risk"] for one in data["sets"]}[("zip",)] == 1


def test_records_follow_their_schema() -> None:
    many: list[dict[str, Any]] = [{}, {"weights": "weight", "show_values": True}, {"nulls": "wildcard", "max_size": 1}]
    many += [{"household": "person", "max_global_risk": most} for most in (1, 0.001)]
    for options in many:
        data = sqlaudit.records(DATA, qi=TAKEN, **options).to_dict()
        assert data["schema"] == "sqlaudit-records/1" == schema("records")["title"]
        validator("records").validate(data)
        assert (data["rows"], bool(data["top"])) == (5, "show_values" in options)
        assert data["individual_risk"]["rows_above"].keys() == {"0.5", "0.2", "0.1", "0.05", "0.01"}
