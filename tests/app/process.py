"""A window in a process of its own, with sockets."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def started(
    folder: Path, *arguments: str, program: str = "", **environment: str
) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Start `sqlaudit app --no-browser`, or a program of Python that opens a window; yield it with its entry file."""
    command = ["-c", program] if program else ["-m", "sqlaudit", "app", "--no-browser"]
    process = subprocess.Popen(
        [sys.executable, *command, *arguments],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"'([^']+)'", line)
        assert found, line + process.stderr.read()
        yield process, Path(found[1])
    finally:
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()
