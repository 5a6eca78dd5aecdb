"""The command line: one module a command, loaded when it is called.

This module imports nothing large: signals must be heard before the first slow import begins.
"""

from __future__ import annotations

from typing import Any


def main() -> None:
    """The entry point of the installed command."""
    import gc

    from sqlaudit.cli.signals import ENDING

    ENDING.take()
    gc.set_threshold(20_000)  # by default it looks through all that is imported again and again: a tenth of a start
    from sqlaudit.cli.group import cli

    cli.main(prog_name="sqlaudit")


def __getattr__(name: str) -> Any:
    """The group of all commands is imported when it is first used."""
    if name != "cli":
        raise AttributeError(f"module 'sqlaudit.cli' has no attribute {name!r}")
    from sqlaudit.cli.group import cli

    return cli
