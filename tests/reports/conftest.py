"""The JSON Schemas as validators."""

from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator

from tests.reports.schemas import validator


@pytest.fixture(scope="session")
def audit_schema() -> Draft202012Validator:
    """The schema of audit results."""
    return validator("audit")
