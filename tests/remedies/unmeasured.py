"""Recodings whose losses are not measured: these have tests of their own and take half the time."""

from __future__ import annotations

import pytest


@pytest.fixture
def unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that read no losses."""
    monkeypatch.setattr("sqlaudit.remedies.recode.run.measure_losses", lambda *asked, **more: ())
