"""A comparison without audit and attacks of the release: these have tests of their own and take half the time."""

from __future__ import annotations

from functools import cache

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.audits.result import AuditResult
from sqlaudit.release.compare import run


@cache
def _audit() -> AuditResult:
    return sqlaudit.audit(pd.DataFrame({"a": [1]}), qi=["a"])


@pytest.fixture(autouse=True)
def release_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """For modules that import it."""
    without_audit(monkeypatch)


def without_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on comparisons do not audit and attack the release."""
    audit = _audit()
    monkeypatch.setattr(run, "audit_alone", lambda *_: audit)
    monkeypatch.setattr(run, "attack_alone", lambda *_: None)
