"""The installed command ends at once, and nothing is lost by that."""

from __future__ import annotations

import subprocess
import sys

import pytest


def ran(before: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command as the installed one runs it, after a few statements of Python."""
    program = f"import atexit, sys, threading, time\n{before}\nfrom sqlaudit.cli import run\nrun()"
    return subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("atexit.register(print, 'asked at the end')", "asked at the end"),
        (
            "threading.Thread(target=lambda: (threading.main_thread().join(), print('still at work'))).start()",
            "still at work",
        ),
        ("threading.Thread(target=time.sleep, args=(60,), daemon=True).start()", ""),
    ],
)
def test_who_waits_for_the_end_is_told_and_what_works_is_waited_for(before: str, said: str) -> None:
    done = ran(before, "--version")
    assert done.returncode == 0
    assert done.stdout.startswith("sqlaudit ")
    assert done.stdout.splitlines()[1:] == said.splitlines()


def test_the_exit_code_is_that_of_the_command() -> None:
    done = ran("", "audit", "--nothing")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--nothing" in done.stderr
