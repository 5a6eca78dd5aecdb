"""Ctrl-C, progress, closed pipes and poor terminals, with the real process where it matters."""

from __future__ import annotations

import io
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from rich.console import Console

from sqlaudit.base.errors import EngineError, Interrupted
from sqlaudit.cli import session, signals
from sqlaudit.cli.session import Interruptible, ProgressBar
from sqlaudit.engines.contract import Executed
from tests.cli.runner import patients

COMMAND = (sys.executable, "-c", "from sqlaudit.cli import main; main()")
ENDLESS = "SELECT hash(a.range * b.range) % 7919 AS a, b.range % 7 AS s FROM range(10000000) a, range(10000000) b"


def started(*arguments: object, **environment: str) -> subprocess.Popen[str]:
    """The real command as a process of its own."""
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def test_ctrl_c_cancels_the_query_and_leaves_nothing(tmp_path: Path) -> None:
    process = started(
        "audit", "--query", ENDLESS, "--qi", "a", "--threads", "1", "--output", tmp_path / "report.txt", "--show-sql"
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("-- ")  # the first step is done, the endless one begins
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    told = err.splitlines()[-1]
    assert told.startswith("sqlaudit: stopped by Ctrl-C; the running statement was cancelled and nothing was changed. ")
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_the_first_ctrl_c_cancels_and_says_what_was_finished() -> None:
    cancelled = []
    executed = [Executed(name, "SELECT 1", 0.1) for name in ("equivalence_classes", "figures", "figures")]
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(Interrupted) as caught, Interruptible(lambda: cancelled.append(1), executed):
        signal.raise_signal(signal.SIGINT)
    assert cancelled == [1]
    assert signal.getsignal(signal.SIGINT) is before
    assert str(caught.value) == (
        "stopped by Ctrl-C; the running statement was cancelled and nothing was changed. "
        "Finished by then: equivalence classes and figures."
    )


def test_a_cancel_that_fails_still_interrupts() -> None:
    def fails() -> None:
        raise EngineError("The server went away.")

    with pytest.raises(Interrupted, match=r"Nothing was finished by then\.$"), Interruptible(fails, []):
        signal.raise_signal(signal.SIGINT)


def test_an_engine_that_reports_the_cancel_as_an_error_is_still_interrupted() -> None:
    def work() -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise EngineError("cancelled") from None

    with pytest.raises(Interrupted), Interruptible(lambda: None, []):
        work()


def test_a_second_ctrl_c_leaves_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Left(BaseException):
        pass

    def leave(code: int) -> None:
        raise Left(code)

    codes = []

    def work() -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            with pytest.raises(Left) as left:
                signal.raise_signal(signal.SIGINT)
            codes.append(left.value.args[0])

    monkeypatch.setattr(signals.os, "_exit", leave)
    with pytest.raises(Interrupted), Interruptible(lambda: None, []):
        work()
    assert codes == [130]


def test_outside_the_main_thread_signals_are_left_alone() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def work() -> None:
        with Interruptible(lambda: None, []):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


def drawn(terminal: bool, patience: float, monkeypatch: pytest.MonkeyPatch, *shares: float | None) -> str:
    """What a bar writes while a step runs for a moment."""
    monkeypatch.setattr(session, "PATIENCE", patience)
    target = io.StringIO()
    console = Console(file=target, force_terminal=terminal, width=80, _environ={"TERM": "xterm"})
    with ProgressBar(console) as bar:
        for share in shares or (0.25, 0.5):
            bar.update("equivalence_classes\x1b[2J", share)
            time.sleep(0.15)
    return target.getvalue()


def test_a_bar_appears_on_a_terminal_when_work_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = drawn(True, 0.01, monkeypatch)
    assert "equivalence classes\\x1b[2J" in shown
    assert shown.rstrip().endswith("\x1b[2K")  # gone again afterwards


def test_time_that_is_left_is_told_where_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "left: " in drawn(True, 0.01, monkeypatch, 0.25, 0.5)
    assert "left" not in drawn(True, 0.01, monkeypatch, None, None)
    assert "left" not in drawn(True, 0.01, monkeypatch, 0.995, 1.0)  # the step still runs, and its bar is full


def test_no_bar_for_short_work_or_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(True, 60, monkeypatch) == ""
    assert drawn(False, 0.01, monkeypatch) == ""


def test_a_closed_pipe_keeps_the_verdict(tmp_path: Path) -> None:
    process = started("audit", patients(tmp_path), "--qi", "age", "--require", "k=9")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    with process.stderr as talk:
        assert talk.read() == ""
    assert process.wait(60) == 1


def test_an_ascii_terminal_gets_ascii(tmp_path: Path) -> None:
    process = started("audit", patients(tmp_path), "--qi", "age", "--require", "k=9", PYTHONIOENCODING="ascii")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (1, "")
    assert ">= 9" in out
    assert "  FAILS     k-anonymity        6   at least 9" in out


@pytest.mark.parametrize(("declined", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colour_only_on_a_terminal_that_wants_it(tmp_path: Path, declined: dict[str, str], coloured: bool) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "60"} | declined
    arguments = [*COMMAND, "audit", str(patients(tmp_path)), "--qi", "age", "--require", "k=9"]
    with subprocess.Popen(arguments, stdout=theirs, stderr=subprocess.PIPE, env=environment) as process:
        os.close(theirs)
        shown = b""
        while chunk := _read(ours):
            shown += chunk
    os.close(ours)
    assert process.returncode == 1
    assert (b"\x1b[1;31mFAIL" in shown) is coloured
    assert (b"\x1b" in shown) is coloured


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # the other side has closed
        return b""


def test_a_full_disk_under_stdout_is_told(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*COMMAND, "models"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "sqlaudit: The report could not be written: No space left on device.\n"
