"""The command line: one module a command, loaded when it is called.

This module imports nothing large: signals must be heard before the first slow import begins.
"""

from __future__ import annotations

from typing import Any


def run() -> None:
    """Run `main`, then end the process; the installed command starts here.

    Exit handlers run and output is flushed, then the process exits at once. Otherwise Python would first take apart
    everything that was imported, which is a tenth of the time of a small audit.
    """
    try:
        main()
    except SystemExit as exit_error:
        if not _can_exit_at_once(exit_error.code):
            raise
        import os

        os._exit(int(exit_error.code or 0))


def main() -> None:
    """Run the command that the process was started with, and raise SystemExit with its exit code."""
    from sqlaudit.cli.signals import ENDING

    ENDING.take()
    from sqlaudit.cli.group import cli

    cli.main(prog_name="sqlaudit")


def _can_exit_at_once(code: object) -> bool:
    """Run the exit handlers and flush the output. Return True if the process can then end without Python's cleanup.

    It cannot while another thread works, or if the output cannot be written.
    """
    import atexit
    import sys
    import threading

    running = [
        thread for thread in threading.enumerate() if thread is not threading.current_thread() and not thread.daemon
    ]
    if running or not isinstance(code, int | None):
        return False
    atexit._run_exitfuncs()  # not public; tried with Python 3.11 and 3.13
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return False
    return True


def __getattr__(name: str) -> Any:
    """Import the group of all commands when it is first used."""
    if name != "cli":
        raise AttributeError(f"module 'sqlaudit.cli' has no attribute {name!r}")
    from sqlaudit.cli.group import cli

    return cli
