"""The shipped JSON Schemas, checked and ready."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

import sqlaudit


def schema(name: str) -> dict[str, Any]:
    """The schema as it is shipped."""
    return _shipped()[f"urn:sqlaudit:schema:{name}:1"]


@functools.cache
def _shipped() -> dict[str, dict[str, Any]]:
    """Every schema of the package by its identifier; each lies in the room of what it describes.

    That of policies has none, for editors.
    """
    found = [json.loads(file.read_text("utf-8")) for file in Path(sqlaudit.__file__).parent.rglob("*schema.json")]
    return {schema.get("$id", "urn:sqlaudit:schema:policy:1"): schema for schema in found}


def validator(name: str) -> Draft202012Validator:
    """A validator for the schema of that name, itself checked to be a schema."""
    loaded = schema(name)
    Draft202012Validator.check_schema(loaded)
    return Draft202012Validator(loaded, format_checker=Draft202012Validator.FORMAT_CHECKER)
