"""The schemas and their page in the docs say the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sqlaudit
from tests.places import REPOSITORY
from tests.reports.schemas import schema, validator

PAGE = REPOSITORY / "docs" / "schema.md"


def properties(part: Any) -> set[str]:
    """Every property name in a schema."""
    if isinstance(part, list):
        return set().union(*(properties(item) for item in part))
    if not isinstance(part, dict):
        return set()
    own = set(part["properties"]) if isinstance(part.get("properties"), dict) else set()
    return own.union(*(properties(value) for value in part.values()))


@pytest.mark.parametrize(
    "name",
    [
        "audit",
        "plan",
        "models",
        "profile",
        "disclosure",
        "what-if",
        "columns",
        "records",
        "releases",
        "persons",
        "aggregates",
        "hierarchy",
        "lattice",
        "cloak",
        "suppress",
        "certificate",
        "verify",
        "criteria",
    ],
)
def test_every_property_is_explained(name: str) -> None:
    text = PAGE.read_text("utf-8")
    missing = {key for key in properties(schema(name)) if f"`{key}`" not in text and f'"{key}"' not in text}
    assert missing == set()


def test_a_result_with_an_unknown_key_is_noticed() -> None:
    wrong = {"schema": "sqlaudit-plan/1", "engine": "DuckDB", "tables": [], "statements": [], "surprise": 1}
    assert [error.validator for error in validator("plan").iter_errors(wrong)] == ["additionalProperties"]


def test_generating_them_again_changes_nothing(tmp_path: Path) -> None:
    subprocess.run([sys.executable, REPOSITORY / "docs" / "make_schemas.py", tmp_path], check=True)
    written = list(tmp_path.rglob("*.json"))
    assert len(written) >= 20
    for made in written:
        kept = Path(sqlaudit.__file__).parent / made.relative_to(tmp_path)
        assert made.read_text("utf-8") == kept.read_text("utf-8"), "run python docs/make_schemas.py"
