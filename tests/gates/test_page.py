"""docs/gate.md names every key of a policy, and only inputs and hooks that there are; its commands run in test_docs."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

import pytest
import yaml

from sqlaudit.gates import connections, cube_section, reading, release_section, requirements, tables
from sqlaudit.gates.reading import load_policy
from sqlaudit.gates.run import METHODS, mistakes_of
from tests.gates.databases import write
from tests.places import REPOSITORY

ROOT = REPOSITORY
PAGE = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `([^|]+)` \|", PAGE, re.MULTILINE)


@pytest.mark.parametrize(
    "keys",
    [
        reading.TOP,
        reading.DEFAULTS,
        reading.TABLE,
        tables.READ_KEYS,
        requirements.OPTIONS,
        requirements.LOSS_KEYS,
        release_section.RELEASE_KEYS,
        cube_section.CUBE_KEYS,
        connections.KINDS,
        connections.KEYS,
        requirements.COLUMN_KEYS,
        tables.EXCEPTION_KEYS,
        METHODS,
    ],
    ids=lambda keys: next(iter(keys)),
)
def test_every_key_is_on_the_page(keys: Collection[str]) -> None:
    assert set(keys) - set(re.findall(r"[a-z_]+", PAGE)) == set()


def test_the_connections_of_the_page_can_be_read(tmp_path: Path) -> None:
    written = [one for row in ROWS if row.startswith("{") for one in row.split("`, `")]
    assert len(written) == 7
    for row in written:
        policy = load_policy(write(tmp_path, f"connections: {{main: {row}}}\ntables: []\n"))
        assert (list(policy.connections), mistakes_of(policy)) == (["main"], [])


def test_the_requirements_of_the_page_can_be_read(tmp_path: Path) -> None:
    written = ["k: 5", "recursive_c_l_diversity: {c: 2, l: 3}"]
    written += [row for row in ROWS if row.startswith(("disclosure", "preset", "safe_harbor", "column_sets", "loss"))]
    assert len(written) == 7
    listed = "".join(f"      - {one}\n" for one in written)
    head = "connections: {main: {duckdb: c}}\ntables:\n  - table: t\n    quasi_identifiers: [a]\n    sensitive: [s]\n"
    policy = load_policy(write(tmp_path, f"{head}    requirements:\n{listed}"))
    assert mistakes_of(policy) == []
    assert len(policy.tables[0].tests) == 7


def test_the_action_and_the_hooks_of_the_page_are_there() -> None:
    blocks = [yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]
    action, gitlab, hooks = blocks[:3]
    inputs = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    assert action["steps"][-1]["with"].keys() <= inputs.keys()
    assert gitlab["privacy"]["artifacts"]["reports"] == {"junit": "gate.xml"}
    offered = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    assert {hook["id"] for hook in hooks["repos"][0]["hooks"]} == offered
