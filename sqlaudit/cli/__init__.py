"""The command line: one module a command, loaded when it is called.

This module imports nothing large: signals must be heard before the first slow import begins.
"""

from __future__ import annotations

from typing import Any


def run() -> None:
    """What the installed command starts: `main`, then the end of the process.

    What was registered for the end runs, and what was written is out; then the process is gone. Python
    would first take everything apart that was imported, which is a tenth of what a small audit costs.
    """
    try:
        main()
    except SystemExit as ended:
        if not _leaves_nothing(ended.code):
            raise
        import os

        os._exit(int(ended.code or 0))


def main() -> None:
    """Run the command that the process was started with; ends with SystemExit."""
    from sqlaudit.cli.signals import ENDING

    ENDING.take()
    from sqlaudit.cli.group import cli

    cli.main(prog_name="sqlaudit")


def _leaves_nothing(code: object) -> bool:
    """Whether a process that ends with this code can end at once: no thread is at work, and all that wanted to know of
    the end was told and has written what it had."""
    import atexit
    import sys
    import threading

    others = [one for one in threading.enumerate() if one is not threading.current_thread() and not one.daemon]
    if others or not isinstance(code, int | None):
        return False
    atexit._run_exitfuncs()
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return False
    return True


def __getattr__(name: str) -> Any:
    """The group of all commands is imported when it is first used."""
    if name != "cli":
        raise AttributeError(f"module 'sqlaudit.cli' has no attribute {name!r}")
    from sqlaudit.cli.group import cli

    return cli
