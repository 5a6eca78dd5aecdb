"""A pass is compared with its level again: what a database counts must not contradict what it measures."""

from __future__ import annotations

from typing import Any

import pytest

import sqlaudit
from sqlaudit.base.errors import EngineError
from sqlaudit.classes.facts import ClassHistogram

ROWS = "SELECT a % 3 AS a, CASE WHEN a = 1 THEN 'x' ELSE 'y' END AS s FROM range(7) AS t(a)"
"""Classes of 3 (yyy), 2 (xy) and 2 rows (yy)."""


@pytest.mark.parametrize(
    ("requirement", "level"),
    [("k=3", "2"), ("l=2", "1"), ("alpha=0.9", "1"), ("t=0.3", "0.35"), ("recursive_l=c:2,l:2", "")],
)
def test_a_database_that_counts_otherwise_than_it_measures_is_not_believed(
    monkeypatch: pytest.MonkeyPatch, requirement: str, level: str
) -> None:
    """As on a Spark whose functions others replaced: every count of classes that fail comes back as 0."""
    figures = ClassHistogram.figures

    def counted(*asked: Any) -> list[dict[str, Any]]:
        zeros = ("m0_classes", "m0_rows", "m0_doubtful")
        return [{name: 0 if name in zeros else value for name, value in row.items()} for row in figures(*asked)]

    asked: dict[str, Any] = {"query": ROWS, "qi": ["a"], "sensitive": "s", "require": [requirement]}
    assert not sqlaudit.audit(**asked).passed
    monkeypatch.setattr(ClassHistogram, "figures", counted)
    with pytest.raises(EngineError, match=f"counts no class that fails '{requirement}', but its level is {level}"):
        sqlaudit.audit(**asked)
