"""Columns with odd names: dbt, an audit and the compiled statement give one verdict, without quotes of SQL."""

from __future__ import annotations

import random
from typing import Any

import pytest

import sqlaudit
from sqlaudit.gates.standalone.checks import compile_checks
from tests.dbt.conftest import Project

NAMES = (
    *("Age in Years", "age-band", "it's", 'say "so"', "größe", "Straße 1", "1st_visit", "2020", "%fat", "a.b", "a,b"),
    *("select", "order", "user", "group", "Table", "current_date", "date", "zip (5)", "'sex'", "x;y", "a + b", "null"),
    *(
        "naïve café",
        "年齢",
        "UPPER",
        "true",
        "-- note",
        "{curly}",
        "$cost",
        "a\\b",
        "[list]",
        "#1",
        "limit",
        "s p a c e",
    ),
)
"""Spaces, hyphens, quotes, umlauts, digits first, reserved words, and what reads like SQL."""


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def table(chosen: random.Random, names: list[str]) -> str:
    """A model with a column of small numbers or texts for each name."""
    kinds = [chosen.choice(["int", "varchar"]) for _ in names]
    lines = []
    for _ in range(30):
        cells = (
            f"cast({chosen.choice(['1', '2', '3', 'null'])} as {kind}) as {quoted(name)}"
            for name, kind in zip(names, kinds, strict=True)
        )
        lines.append("select " + ", ".join(cells))
    return "{% raw %}" + "\nunion all\n".join(lines) + "{% endraw %}"


CHECKS: list[tuple[str, dict[str, Any], str]] = [
    ("k_anonymity", {"k": 3}, "k=3"),
    ("k_anonymity", {"k": 1}, "k=1"),
    ("distinct_l_diversity", {"l": 2}, "l=2"),
    ("t_closeness", {"t": 0.4}, "t=0.4"),
    ("t_closeness", {"t": 1}, "t=1"),
]


@pytest.mark.parametrize("seed", range(3))
def test_one_verdict(seed: int, project: Project) -> None:
    chosen = random.Random(seed)
    names = chosen.sample(NAMES, 12)
    asked = []
    for number in range(8):
        *qi, sensitive = chosen.sample(names, chosen.randint(2, 4))
        check, limits, text = chosen.choice(CHECKS)
        by_value = {} if check == "k_anonymity" else {"sensitive": sensitive, "values": "exact"}
        given = {"quasi_identifiers": qi, **limits, **by_value, "show_values": number % 2 == 0}
        config = {"severity": "warn", "store_failures": number % 2 == 0}
        asked.append((f"odd_{number}_end", check, given, config, qi, sensitive if by_value else None, text))
    tests = [
        {f"sqlaudit.{check}": {"name": name, "arguments": given, "config": config}}
        for name, check, given, config, *_ in asked
    ]
    project.models({"models": [{"name": "odd", "data_tests": tests}]}, odd=table(chosen, names))
    ran = project.dbt("build")
    for name, _, _, _, qi, sensitive, text in asked:
        more: dict[str, Any] = {"values": "exact"} if sensitive else {}
        sensitives = [sensitive] if sensitive else []
        (check_result,) = sqlaudit.audit(
            project.table("odd"), db=project.database, require=text, qi=qi, sensitive=sensitives, **more
        ).checks
        result = ran.result(name)
        assert result["failures"] == check_result.failing_classes, (qi, sensitive, text, result["message"])
        assert (result["status"] == "pass") == (check_result.status == "pass")
        (compiled,) = compile_checks(
            project.table("odd"),
            checks=text,
            dialect=project.target,
            qi=[*map(quoted, qi)],
            sensitive=[*map(quoted, sensitives)],
            **more,
        )
        (row,) = project.rows(f"SELECT failing_classes, verdict FROM ({compiled.sql}) AS found")
        assert row == (check_result.failing_classes, check_result.status.value), (qi, sensitive, text)
