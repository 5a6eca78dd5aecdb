"""Ctrl-C while an engine is closed: what was held is given back all the same."""

from __future__ import annotations

import tempfile
from pathlib import Path

import psycopg
import pytest

from sqlaudit.base.spec import Target
from sqlaudit.engines import connect
from sqlaudit.engines.duckdb.engine import DuckDBEngine
from sqlaudit.engines.postgres.engine import PostgresEngine
from tests.security.soaking import sessions_of


def ctrl_c(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.postgres
def test_a_session_on_the_server_ends(
    postgres_url: str, postgres_admin_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PostgresEngine, "_end_transaction", ctrl_c)
    engine = connect(postgres_url + "&application_name=closing")
    with psycopg.connect(postgres_admin_url, autocommit=True) as admin:
        with pytest.raises(KeyboardInterrupt):
            engine.close()
        assert sessions_of(admin, "closing")() == ()


def test_spilled_files_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "t.csv").write_text("age\n30\n")
    engine = connect(None, None, Target(str(tmp_path / "t.csv")))
    assert isinstance(engine, DuckDBEngine)
    assert [one.name.startswith("sqlaudit-spill") for one in tmp_path.iterdir() if one.is_dir()] == [True]
    stop = engine._session._worker.stop
    monkeypatch.setattr(engine._session._worker, "stop", ctrl_c)
    with pytest.raises(KeyboardInterrupt):
        engine.close()
    stop()
    assert [one for one in tmp_path.iterdir() if one.is_dir()] == []
