"""The JSON Schema of policies is what the registry says, and holds for what the reader takes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlaudit.base.errors import UsageError
from sqlaudit.gates.reading import load_policy
from sqlaudit.gates.requirements import OPTIONS
from sqlaudit.gates.run import mistakes_of
from sqlaudit.gates.schema import policy_schema
from sqlaudit.models.registry import REGISTRY
from tests.gates.databases import write
from tests.gates.test_reading import HEAD, MISTAKES, WHOLE, T
from tests.places import REPOSITORY
from tests.reports.schemas import validator

ROOT = REPOSITORY
SEEN_ONLY_BY_THE_READER = {
    "no privacy model",
    "sensitive",
    "'k=5' needs quasi",
    "has no 'requirements'",
    "this table has no requirements",
    "a name",
    "no connection 'mian'",
    "every column one role",
    "k is at least",
    "other options",
    "severity: error",
    "severity: warn",
    "whole rows",
    "has no failing rows",
    "must be a share of",
    "this table has no requirement",
    "a date such as",
    "no input",
    "a password",
    "needs a dbt_profile",
    "this table has no connection",
    "for reports",
    "warn_if alone",
    "exclude each other",
    "are in one requirement",
    "a requirement is missing",
}
"""Mistakes about names, numbers in texts, and what belongs together: beyond a schema."""


class AsEditors(yaml.SafeLoader):
    """YAML 1.2 knows no dates; they are texts."""


AsEditors.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:timestamp"]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def errors(text: str) -> list[str]:
    """What the schema says about a policy's text, read as editors read it."""
    read: Any = yaml.load(text, AsEditors)
    return [error.message for error in _policy().iter_errors(read)]


@cache
def _policy() -> Any:
    return validator("policy")


def test_generating_it_again_changes_nothing() -> None:
    made = subprocess.run(
        [sys.executable, ROOT / "docs" / "make_policy_schema.py", "--print"],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    kept = (ROOT / "sqlaudit" / "gates" / "policy_schema.json").read_text(encoding="utf-8")
    assert made.stdout == kept, "run python docs/make_policy_schema.py"


def test_a_policy_that_says_everything_follows_it() -> None:
    assert errors(WHOLE) == []


@pytest.mark.parametrize(("text", "said"), [(text, said) for text, _, said in MISTAKES], ids=range(len(MISTAKES)))
def test_it_sees_the_mistakes_that_a_schema_can_see(text: str, said: str) -> None:
    seen = bool(errors(text))
    assert seen or any(part in said for part in SEEN_ONLY_BY_THE_READER), (text, said)


@pytest.mark.parametrize("name", sorted({name for m in REGISTRY.values() for name in (*m.short_forms, m.name)}))
def test_every_model_is_known_to_both(name: str, tmp_path: Path) -> None:
    model = next(m for m in REGISTRY.values() if name in (*m.short_forms, m.name))
    numbers = {p.name: some_value(p) for p in model.parameters}
    given = json.dumps(numbers)
    text = HEAD + T.replace("[k=5]", f"[{{{name}: {given}}}]") + "}\n"
    assert errors(text) == []
    assert mistakes_of(load_policy(write(tmp_path, text))) == []
    assert name not in OPTIONS
    unknown = HEAD + T.replace("[k=5]", f"[{{{name}: {{no_such: 1}}}}]") + "}\n"
    assert errors(unknown)


@pytest.mark.parametrize("name", sorted({name for m in REGISTRY.values() for name in (*m.short_forms, m.name)}))
def test_a_limit_has_the_range_of_its_model_under_every_name(name: str) -> None:
    model = next(m for m in REGISTRY.values() if name in (*m.short_forms, m.name))
    ranged = [one for one in model.parameters if one.kind != "text"]
    right = {one.name: some_value(one) for one in model.parameters}
    for parameter in ranged:
        kind = int if parameter.kind == "integer" else float
        ends = [(kind(end), step) for end, step in ((parameter.minimum, -1), (parameter.maximum, 1)) if end is not None]
        for wrong in (*(end + step for end, step in ends), "many", [1], True):
            assert refused(name, right | {parameter.name: wrong}), (parameter.name, wrong)
        for good in (*(end for end, _ in ends), "1/3", "20%", " .5 "):
            assert not refused(name, right | {parameter.name: good}), (parameter.name, good)


def refused(name: str, given: dict[str, Any]) -> bool:
    return bool(errors(HEAD + T.replace("[k=5]", f"[{{{name}: {json.dumps(given)}}}]") + "}\n"))


def test_what_a_number_is_stands_there_once() -> None:
    kept = (ROOT / "sqlaudit" / "gates" / "policy_schema.json").read_text(encoding="utf-8")
    assert kept.count(json.dumps(policy_schema()["$defs"]["number_text"]["pattern"])) == 1
    found = json.loads(kept)
    for reference in set(re.findall(r'"\$ref": "#/([^"]+)"', kept)):
        place = found
        for part in reference.split("/"):
            place = place[part]
        assert place


def some_value(parameter: Any) -> float | int:
    """A value that every bound allows."""
    low = parameter.minimum if parameter.minimum is not None else 0
    if parameter.kind == "integer":
        return max(int(low), 2)
    high = parameter.maximum if parameter.maximum is not None else low + 2
    return float((low + high) / 2)


def test_no_option_is_a_model() -> None:
    names = {name for model in REGISTRY.values() for name in (*model.short_forms, model.name)}
    assert not names & {*OPTIONS, "column_sets", "preset"}


def test_what_tables_have_in_common_is_merged(tmp_path: Path) -> None:
    text = (
        "x-people: &people {quasi_identifiers: [age], owner: us, requirements: [k=5]}\n"
        "x-ill: &ill {sensitive: [disease], owner: them, requirements: [l=2]}\n"
        "connections: {main: {duckdb: c}}\ntables:\n"
        "  - {<<: *people, table: t}\n  - {table: u, owner: me, <<: [*people, *ill]}\n  - {<<: t, table: v}\n"
    )
    with pytest.raises(UsageError, match=r"line 7: what << merges must be a mapping"):
        load_policy(write(tmp_path, text))
    text = text.replace("  - {<<: t, table: v}\n", "")
    policy = load_policy(write(tmp_path, text))
    assert mistakes_of(policy) == []
    assert errors(text) == []
    assert [(t.name, t.owner, t.roles.quasi_identifiers, t.roles.sensitive) for t in policy.tables] == [
        ("t", "us", ("age",), ()),
        ("u", "me", ("age",), ("disease",)),
    ]
    assert [[test.requirement for test in t.tests] for t in policy.tables] == [["k=5"], ["k=5"]]
    assert policy.tables[0].tests[0].place.line == 1
