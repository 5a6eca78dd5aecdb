"""A sqlglot whose parser can't be changed: SQL of users is refused, never read in another way."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from sqlaudit import audit
from sqlaudit.base import guard
from sqlaudit.base.errors import MissingDriver


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A table, while sqlglot's parser looks as if it were compiled."""
    (tmp_path / "t.csv").write_text("age\n30\n31\n")
    compiled = SimpleNamespace(parser_class=type("Parser", (), {"parse": len}))
    monkeypatch.setattr(guard, "Dialect", SimpleNamespace(get_or_raise=lambda _: compiled))
    guard._plain_dialect.cache_clear()
    monkeypatch.setattr(guard, "type", lambda one: one, raising=False)
    return str(tmp_path / "t.csv")


def test_an_expression_is_refused(table: str) -> None:
    with pytest.raises(MissingDriver, match="pip uninstall sqlglotc"):
        audit(table, qi=["age / 10"])


def test_plain_names_need_no_parser(table: str) -> None:
    assert audit(table, qi=["age"]).rows == 2
