"""SIGTERM, SIGHUP and SIGKILL: what was begun is gone afterwards, and the exit code says what happened."""

from __future__ import annotations

import io
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from sqlaudit.base.files import remove_files, remove_leftovers, temporary_beside
from sqlaudit.cli import signals
from sqlaudit.cli.session import ProgressBar
from sqlaudit.cli.signals import ENDING, LastResort, handled_signals

COMMAND = (sys.executable, "-c", "from sqlaudit.cli import main; main()")
MANY = "SELECT range AS a, 'secret' AS s FROM range(3000000)"


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """A temporary directory of this test alone."""
    made = tmp_path / "temporary"
    made.mkdir()
    return made


def exporting(folder: Path, temporary: Path, name: str) -> subprocess.Popen[str]:
    """The real command in the middle of an export of rows with their values."""
    folder.mkdir()
    arguments = ["audit", "--query", MANY, "--qi", "a", "--require", "k=2", "--show-values"]
    process = subprocess.Popen(
        [*COMMAND, *arguments, "--failing-classes-to", str(folder / name)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    while not any(file.stat().st_size > 100_000 for file in folder.glob(".*.part")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    return process


@pytest.mark.parametrize(
    ("number", "code", "word"), [(signal.SIGTERM, 143, "terminated"), (signal.SIGHUP, 129, "hung up")]
)
def test_an_export_that_is_ended_leaves_nothing(
    tmp_path: Path, temporary: Path, number: int, code: int, word: str
) -> None:
    process = exporting(tmp_path / "out", temporary, "classes.csv")
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (code, "")
    assert err.startswith(f"sqlaudit: {word}; the running statement was cancelled and nothing was changed. ")
    assert len(err.splitlines()) == 1
    assert list((tmp_path / "out").iterdir()) == []
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("name", ["classes.csv", pytest.param("classes.parquet", marks=pytest.mark.all_cases)])
def test_what_a_killed_export_left_goes_with_the_next_start(tmp_path: Path, temporary: Path, name: str) -> None:
    process = exporting(tmp_path / "out", temporary, name)
    process.kill()
    process.communicate(timeout=60)
    left = list((tmp_path / "out").iterdir())
    assert left
    assert {stat.S_IMODE(file.stat().st_mode) for file in left} == {0o600}
    environment = {**os.environ, "TMPDIR": str(temporary)}
    subprocess.run([*COMMAND, "models"], cwd=temporary, env=environment, check=True, capture_output=True)
    assert list((tmp_path / "out").iterdir()) == []
    assert list(temporary.iterdir()) == []


def dead_pid() -> str:
    """The number of a process that has ended."""
    done = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    return done.stdout.decode().strip()


def test_only_our_own_files_of_dead_processes_are_removed(tmp_path: Path, temporary: Path) -> None:
    living = temporary_beside(tmp_path / "a.csv")
    gone, mine = dead_pid(), str(os.getpid())
    dead = tmp_path / living.name.replace(f"-{mine}-", f"-{gone}-")
    elsewhere = tmp_path / living.name.replace("a.csv.", "a.csv.other", 1).replace(f"-{mine}-", f"-{gone}-")
    foreign = tmp_path / ".a.csv.abc.part"
    link = tmp_path / dead.name.replace(".part", "x.part")
    for file in (dead, elsewhere, foreign):
        file.write_text("rows")
    link.symlink_to(foreign)
    try:
        assert remove_files(tmp_path) == [dead]
        assert all(file.exists() for file in (living, elsewhere, foreign, link))
    finally:
        living.unlink()
    assert temporary_beside(tmp_path / "a.csv").name != living.name


def test_a_note_removes_nothing_but_an_unfinished_file(tmp_path: Path, temporary: Path) -> None:
    part = temporary_beside(tmp_path / "a.csv")
    host = part.name.split(".")[-2].split("-")[0]
    gone = dead_pid()
    precious = tmp_path / "precious.csv"
    dead = tmp_path / part.name.replace(f"-{os.getpid()}-", f"-{gone}-")
    for file in (precious, dead):
        file.write_text("rows")
    for place, named in enumerate((precious, part, dead)):
        (temporary / f"sqlaudit-unfinished-{host}-{gone}-{place}").write_text(str(named))
    (temporary / f"sqlaudit-unfinished-{host}-{gone}-link").symlink_to(precious)
    assert remove_leftovers(temporary) == [dead]
    assert precious.exists()
    assert part.exists()
    assert [file.name for file in temporary.iterdir()] == [f"sqlaudit-unfinished-{host}-{gone}-link"]


@pytest.mark.parametrize("module", ["click", "sqlaudit.cli.audit", "_duckdb", "jinja2"])
@pytest.mark.parametrize(
    ("number", "code", "word"), [("SIGINT", 130, "stopped by Ctrl-C"), ("SIGTERM", 143, "terminated")]
)
def test_a_signal_during_imports_is_no_traceback(
    tmp_path: Path, module: str, number: str, code: int, word: str
) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    program = (
        "import os, signal, sys\n"
        "class Hook:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), signal.{number})\n"
        "sys.meta_path.insert(0, Hook())\n"
        "from sqlaudit.cli import main; main()\n"
    )
    arguments = [sys.executable, "-c", program, "audit", str(tmp_path / "a.csv"), "--qi", "a"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    more = "; the running statement was cancelled and nothing was changed. Nothing was finished by then"
    said = f"sqlaudit: {word}{more if module == 'jinja2' else ''}.\n"  # templates are read when the database is open
    assert (done.returncode, done.stdout, done.stderr) == (code, "", said)


def test_the_entry_point_loads_nothing_before_it_listens() -> None:
    program = "import sys, sqlaudit.cli; print(sorted({name.split('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert not [
        name for name in ("click", "rich", "duckdb", "_duckdb", "numpy", "jinja2", "yaml") if f"'{name}'" in loaded
    ]


@pytest.fixture
def codes(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The exit codes that the process would have ended with."""
    found: list[int] = []
    monkeypatch.setattr(signals.os, "_exit", found.append)
    yield found
    ENDING.forgive()


def test_signals_that_are_ignored_stay_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert signal.SIGHUP not in handled_signals()
        assert signal.SIGTERM in handled_signals()
    finally:
        signal.signal(signal.SIGHUP, before)


def test_what_does_not_end_is_ended(
    codes: list[int], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sqlaudit.cli.signals.GRACE", 0.0)
    monkeypatch.setattr("sqlaudit.cli.signals.PATIENCE", 0.0)
    with LastResort(0.01) as last:
        while not codes:
            time.sleep(0.01)
        ENDING.signal = signal.SIGTERM
        last.signalled()
        while len(codes) < 2:
            time.sleep(0.01)
    assert codes == [4, 143]
    assert capfd.readouterr().err == (
        "sqlaudit: The time limit of 0.01 seconds was reached, and the database does not respond. Its "
        "statement may continue for a while.\n"
        "sqlaudit: terminated; the running statement did not stop within 0 s and may continue in the "
        "database for a while. Nothing was changed.\n"
    )


def test_a_signal_while_the_last_resort_starts_leaves_no_timer(
    codes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sqlaudit.cli.session.PATIENCE", 60)
    started = []

    def interrupted(thread: threading.Thread) -> bool:
        started.append(thread)
        thread.start()
        raise KeyboardInterrupt

    monkeypatch.setattr("sqlaudit.base.threads.start_thread", interrupted)
    with pytest.raises(KeyboardInterrupt), LastResort(60):
        pass
    with pytest.raises(KeyboardInterrupt), ProgressBar(Console(file=io.StringIO(), force_terminal=True)):
        pass
    assert len(started) == 2
    for thread in started:
        thread.join(5)
        assert not thread.is_alive()
    assert codes == []


def test_what_ends_in_time_is_left_alone(codes: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlaudit.cli.signals.GRACE", 0.05)
    with LastResort(0.05) as last:
        timers = list(last._timers)
    for timer in timers:
        timer.join()
    assert codes == []
