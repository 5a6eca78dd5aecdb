"""The shipped JSON Schemas, checked and ready."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from jsonschema import Draft202012Validator


def schema(name: str) -> dict[str, Any]:
    """The schema as it is shipped."""
    loaded: dict[str, Any] = json.loads(
        resources.files("sqlaudit").joinpath("schema", f"{name}.json").read_text("utf-8")
    )
    return loaded


def validator(name: str) -> Draft202012Validator:
    """A validator for the schema of that name, itself checked to be a schema."""
    loaded = schema(name)
    Draft202012Validator.check_schema(loaded)
    return Draft202012Validator(loaded, format_checker=Draft202012Validator.FORMAT_CHECKER)
