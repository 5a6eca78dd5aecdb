"""`audit --dry-run` with an entity: the statements for who knows all rows of a person, and those that read events."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sqlaudit.audits.request import AuditRequest
from sqlaudit.audits.run import plan_audit
from sqlaudit.base.spec import KnownRows, Roles, Target
from sqlaudit.engines.contract import Engine
from sqlaudit.models.registry import parse_requirements
from tests.audit_values import values_query
from tests.cli.runner import run

TABLE = [{"who": who, "at": at, "ill": at % 2} for who in range(3) for at in (who, who + 1)]
QUERY = values_query(TABLE, {"who": "int", "at": "int", "ill": "int"})


def planned(engine: Engine, require: str = "k=2", **more: Any) -> list[str]:
    roles = Roles(**{"quasi_identifiers": ("at",), "entity": "who"} | more)
    spec = AuditRequest(Target(query=QUERY), roles, parse_requirements(require))
    statements = plan_audit(engine, spec)
    for statement in statements:
        engine.run(statement)
    return [statement.name for statement in statements]


def test_every_statement_for_who_knows_all_rows_is_planned_and_runs(engine: Engine) -> None:
    both = planned(engine, sensitive=("ill",))
    assert both.count("people with the same rows") == 1
    assert "people with several combinations" in both
    one = planned(engine, sensitive=("ill",), known_rows=KnownRows.ONE)
    assert "people with the same rows" not in one
    assert len(both) > len(one)
    assert "people with the same rows" not in planned(engine, entity=None)


@pytest.mark.parametrize("require", ["km@2=2", "profile_k=2", "unicity@2=0.5"])
def test_the_statement_that_reads_events_is_planned(engine: Engine, require: str) -> None:
    names = planned(engine, require, known_rows=KnownRows.ONE)
    assert names.count("events_codes") == 1
    assert "events_codes" not in planned(engine, "k=2", known_rows=KnownRows.ONE)


def test_the_command_shows_them() -> None:
    asked = ("audit", "--query", QUERY, "--qi", "at", "--entity", "who", "--require", "k=2,km@2=2", "--dry-run")
    ran = run(*asked, "--format", "json")
    assert ran.code == 0
    names = [one["name"] for one in json.loads(ran.out)["statements"]]
    assert {"people with the same rows", "events_codes"} <= set(names)
