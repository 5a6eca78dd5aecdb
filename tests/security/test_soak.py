"""A short soak: a few audits, calm and disturbed, and nothing is left. `python -m benchmarks.soak` goes on."""

from __future__ import annotations

import signal
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Limits, Target
from sqlaudit.engines import connect
from tests.postgres_load import Loader
from tests.security import soaking
from tests.security.soaking import CALM, Left, Place, Soak, growth, left, make_files, sessions_of
from tests.strategies import fewer

AUDITS = fewer(25, 13)
# Ctrl-C in the middle of an import leaves Python's own open file to the garbage collector
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for the tables; temporary files and the current folder are empty ones beside it."""
    for name in ("tables", "tmp", "home"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "home")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setattr(soaking, "SHARED", frozenset(threading.enumerate()))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield tmp_path / "tables"
    signal.signal(signal.SIGINT, before)


def settled(soak: Soak) -> None:
    """Nothing was left, neither at the end nor between.

    Raises:
        AssertionError: something was.
    """
    assert len(soak.curve) == AUDITS
    assert soak.unfinished == []
    assert {(now.folders, now.elsewhere) for now in soak.curve} == {((), ())}
    assert not [name for now in soak.curve for name in now.threads if name.startswith("sqlaudit")]
    assert soak.curve[-1].files <= soak.curve[AUDITS // 4].files + 1
    early, late = growth(soak.curve)
    assert late - early < 60
    calm = sum(times for what, times in soak.outcomes.items() if what.startswith(CALM))
    assert AUDITS // 5 <= calm < AUDITS


def test_files_and_databases(tables: Path) -> None:
    soak = Soak(make_files(tables, 300), tables, seed=5).run(AUDITS)
    settled(soak)
    assert sum(soak.outcomes.values()) == AUDITS


@pytest.mark.postgres
def test_postgres(tables: Path, load: Loader, postgres_url: str, postgres_admin_url: str) -> None:
    make_files(tables, 300)
    load("people", tables / "people.csv", types={"age": "integer", "person": "integer"}, schema="soak")
    load("released", tables / "released.csv", types={"person": "integer"}, schema="soak")
    places = [Place("postgres", "soak.people", "soak.released", postgres_url + "&application_name=soak")]
    with psycopg.connect(postgres_admin_url, autocommit=True) as admin:
        settled(Soak(places, tables, seed=3, elsewhere=sessions_of(admin, "soak")).run(AUDITS))


def test_what_is_left_is_seen(tables: Path) -> None:
    (place, *_) = make_files(tables, 10)
    engine = connect(None, Limits(timeout=600), Target(place.people))
    held: Left = left(tuple)
    engine.close()
    assert len(held.folders) == 1
    assert held.folders[0].startswith("sqlaudit-spill-")
    assert any(name.startswith("sqlaudit-deadline") for name in held.threads)
    assert left(tuple).folders == ()
    assert left(tuple).threads == ()


def test_an_engine_that_cannot_open_leaves_nothing(tables: Path) -> None:
    for _ in range(5):
        with pytest.raises(UsageError):
            connect(str(tables / "nowhere.duckdb"))
        with pytest.raises(UsageError):
            connect(None, Limits(memory="much"))
    assert (left(tuple).folders, left(tuple).threads) == ((), ())
