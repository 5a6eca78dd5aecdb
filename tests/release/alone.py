"""A comparison without audit and attacks of the release: these have tests of their own and take half the time."""

from __future__ import annotations

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.release.compare.run import _Comparison


@pytest.fixture(autouse=True)
def release_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """For modules that import it."""
    audit = sqlaudit.audit(pd.DataFrame({"a": [1]}), qi=["a"])
    monkeypatch.setattr(_Comparison, "_audit", lambda *_: audit)
    monkeypatch.setattr(_Comparison, "_attacks", lambda *_: None)
