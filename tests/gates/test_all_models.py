"""Every privacy model with all further inputs: a policy's run finds what an audit finds, on both engines."""

from __future__ import annotations

import json
from typing import Any

import sqlaudit
from sqlaudit.gates.connections import database_of
from sqlaudit.gates.reading import load_policy
from sqlaudit.gates.result import Outcome
from sqlaudit.models.registry import REGISTRY
from tests.gates.conftest import Make
from tests.gates.test_schema import some_value

ROWS = [
    {"age": age, "band": age // 40, "days": days, "who": who}
    for who, (age, days) in enumerate([(30, 1), (30, 2), (30, 2), (40, 1), (40, 3), (40, 4), (50, 4), (50, 4)])
]
INPUTS: dict[str, Any] = {
    "categories": {"low": [1, 2], "high": [3]},
    "dont_care": [4],
    "must_occur": [3, 4],
    "original_qi": ["band"],
    "tree": {"low": [1, 2], "high": [3, 4]},
    "class_function": {1: 1, 2: 1, 3: 2, 4: 2},
    "distances": {1: {2: 1, 3: 2, 4: 2}, 2: {3: 2, 4: 2}, 3: {4: 1}},
    "width": 1,
    "kappa": 1,
    "alpha": {"low": 1, "high": 1},
}
OWN = {"rho1": 0.4, "rho2": 0.6, "min": 0.2, "max": 0.8, "estimator": "zayatz", "attacker": "marketer"}


def test_every_model_is_run_as_in_an_audit(database: Make) -> None:
    made = database({"stays": ROWS, "people": [*ROWS, *(row | {"who": row["who"] + 8} for row in ROWS)]})
    inputs = INPUTS | {"population": {"table": f"{made.schema}.people"}}
    wanted = [
        {model.name: {p.name: OWN.get(p.name, some_value(p)) for p in model.parameters}} for model in REGISTRY.values()
    ]
    roles = {"quasi_identifiers": ["age"], "sensitive": ["days"], "entity": "who", "sampling_fraction": "50%"}
    policy = made.policy(
        "\ntables:\n  - "
        + json.dumps({"table": f"{made.schema}.stays", **roles, "inputs": inputs, "requirements": wanted})
        + "\n"
    )
    result = sqlaudit.gate(policy)
    read = load_policy(policy)
    requirements = [test.model for test in read.tables[0].tests if test.model is not None]
    audit = sqlaudit.audit(
        f"{made.schema}.stays",
        qi=["age"],
        sensitive="days",
        entity="who",
        require=[one.text for one in requirements],
        inputs=inputs,
        sampling_fraction="50%",
        db=database_of(read.connections["main"]),
    )
    assert len(result.tests) == len(REGISTRY) == len(audit.checks)
    assert [test.check for test in result.tests] == list(audit.checks)
    assert {test.outcome for test in result.tests} == {Outcome.PASS, Outcome.FAIL}
    outcomes = {test.check.model: test.outcome.value for test in result.tests if test.check is not None}
    assert {model for model, outcome in outcomes.items() if outcome == "fail"} >= {"distinct_l_diversity", "c_k_safety"}
    assert outcomes["k_anonymity"] == outcomes["k_map"] == "pass"
