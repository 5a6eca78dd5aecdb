"""dbt commands in processes of their own that need not import dbt first, which takes longer than many a command.

They are forked from a process that has imported it and does nothing else: no command sees what another one left.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["dbt.cli.main", "dbt.adapters.duckdb", "dbt.adapters.postgres"])


def run(folder: Path, arguments: tuple[str, ...], environment: Mapping[str, str]) -> tuple[int, str]:
    """The exit code of a dbt command in a folder, and all that it says."""
    with tempfile.NamedTemporaryFile(prefix="sqlaudit-dbt-") as said:
        command = _FORKS.Process(target=_command, args=(str(folder), arguments, dict(environment), said.name))
        command.start()
        command.join()
        return command.exitcode or 0, Path(said.name).read_text(encoding="utf-8")


def _command(folder: str, arguments: tuple[str, ...], environment: Mapping[str, str], said: str) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    with open(said, "wb") as output, open(os.devnull, "rb") as nothing:  # noqa: PTH123
        for file, number in ((nothing, 0), (output, 1), (output, 2)):
            os.dup2(file.fileno(), number)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.argv = ["dbt", *arguments]
    from dbt.cli.main import cli

    cli()
