"""TARGET `-`: a table that comes through a pipe, kept until the command ends, as audits read it more than once."""

from __future__ import annotations

import shutil
import sys

import click

from sqlaudit.base.errors import UsageError
from sqlaudit.base.leftovers import PrivateFolder

_ENDINGS = {"csv": ".csv", "json": ".json", "parquet": ".parquet", "arrow": ".arrow"}
_BY_START = ((b"PAR1", ".parquet"), (b"ARROW1", ".arrow"), (b"{", ".json"), (b"[", ".json"))

_ENOUGH = 64


def spooled(format: str) -> str:
    """The path of a file with what comes through stdin, in a folder that only this user may enter.

    Args:
        format: what it is; empty = by its first bytes, else CSV. The file goes away with the command, and what a killed
            one left behind when the next one starts.

    Raises:
        UsageError: stdin is a terminal.
    """
    if sys.stdin.isatty():
        raise UsageError(
            "TARGET - reads a table from a pipe, for instance: gzip -cd people.csv.gz | sqlaudit audit - …"
        )
    folder = PrivateFolder("stdin")
    click.get_current_context().call_on_close(folder.close)
    start = sys.stdin.buffer.read(_ENOUGH)
    by_start = next((ending for begins, ending in _BY_START if start.lstrip().startswith(begins)), ".csv")
    path = folder.path / ("stdin" + _ENDINGS.get(format, by_start))
    with path.open("xb") as file:
        file.write(start)
        shutil.copyfileobj(sys.stdin.buffer, file)
    return str(path)
