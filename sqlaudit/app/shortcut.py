"""An icon that opens the window: an entry of the desktop on Linux, and its like on Windows and macOS (untested)."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import write_text

_DESKTOP = """\
[Desktop Entry]
Type=Application
Name=sqlaudit
Comment=Make a table safe before you release it
Exec={command} %f
Terminal=false
Categories=Office;
MimeType=text/csv;application/vnd.openxmlformats-officedocument.spreadsheetml.sheet;
"""
_COMMAND = (sys.executable, "-P", "-c", "from sqlaudit.cli import run; run()", "app")


def install() -> Path:
    """Write the icon, and return its file.

    Raises:
        UsageError: it cannot be written.
    """
    if sys.platform == "win32":  # untested
        command = " ".join(f'"{argument}"' for argument in _COMMAND)
        return _written(Path.home() / "Desktop/sqlaudit.cmd", f'@echo off\r\nstart "" /min {command} %1\r\n')
    if sys.platform == "darwin":  # untested
        file = _written(Path.home() / "Desktop/sqlaudit.command", f"#!/bin/sh\nexec {shlex.join(_COMMAND)}\n")
        file.chmod(0o755)
        return file
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share")
    return _written(data / "applications/sqlaudit.desktop", _DESKTOP.format(command=" ".join(map(_quoted, _COMMAND))))


def _quoted(argument: str) -> str:
    """Return an argument as a desktop entry has it: in double quotes, with what is special in these escaped twice."""
    for sign in ("\\", '"', "`", "$"):
        argument = argument.replace(sign, "\\" + sign)
    return '"' + argument.replace("\\", "\\\\").replace("%", "%%") + '"'


def _written(file: Path, text: str) -> Path:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{str(file)!r} cannot be written ({error.strerror}).") from None
    write_text(file, text)
    return file
