"""The commands `sqlaudit` and `python` for many runs in a row: each is a fork of one process that imported everything.

Importing takes longer than what a command of a page does. A run has its own arguments, environment, folder and streams,
like a process that a shell has started. `python -m tests.pages.warm SOCKET` is the server; it ends with its stdin.
"""

from __future__ import annotations

import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import select
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

if TYPE_CHECKING:
    from sqlaudit.base.spec import Limits

LIBRARIES = (
    "cryptography.hazmat.primitives.asymmetric.ed25519",
    "cryptography.hazmat.primitives.serialization",
    "duckdb",
    "encodings.utf_8_sig",
    "numpy.ma",
    "rich.table",
    "sqlglot.dialects.duckdb",
    "sqlglot.dialects.postgres",
)
"""What commands import when they need it."""
CLIENT = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as asked:
    asked.connect({address!r})
    socket.send_fds(asked, [b"x"], [0, 1, 2])
    asked.sendall(json.dumps([[{name!r}, *sys.argv[1:]], os.getcwd(), dict(os.environ)]).encode())
    asked.shutdown(socket.SHUT_WR)
    code = asked.recv(16)
sys.exit(int(code) if code else "the run of {name} was killed")
"""


@contextmanager
def warm_command(folder: Path) -> Iterator[Path]:
    """A folder for the front of PATH, whose commands are forks of a process that is ready."""
    address = folder / "socket"
    programs = folder / "bin"
    programs.mkdir()
    for name in ("sqlaudit", "python"):
        text = CLIENT.format(python=sys.executable, address=str(address), name=name)
        (programs / name).write_text(text, encoding="utf-8")
        (programs / name).chmod(0o755)
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.pages.warm", str(address)],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # what forks has one thread
    )
    with server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            assert server.stdout.readline() == b"ready\n"
            yield programs
        finally:
            server.stdin.close()


def ask(address: Path, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> str:
    """What a run prints, errors included, without a client of its own."""
    with (
        tempfile.TemporaryFile() as said,
        Path(os.devnull).open("rb") as nothing,
        socket.socket(socket.AF_UNIX) as asked,
    ):
        asked.settimeout(120)
        asked.connect(str(address))
        socket.send_fds(asked, [b"x"], [nothing.fileno(), said.fileno(), said.fileno()])
        asked.sendall(json.dumps([["sqlaudit", *arguments], str(folder), {**environment}]).encode())
        asked.shutdown(socket.SHUT_WR)
        assert asked.recv(16), "the run of sqlaudit was killed"
        said.seek(0)
        return said.read().decode()


def serve(address: str) -> None:
    """Answer one connection after another, each in a child, until stdin ends."""
    _import_all()
    _read_all()
    _in_one_thread()
    gc.freeze()  # else each fork copies what its first collection looks at
    gc.disable()  # a run is short
    children: list[int] = []
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        print("ready", flush=True)
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            asked, _ = listening.accept()
            if (child := os.fork()) == 0:
                listening.close()
                _answer(asked)
            asked.close()
            children.append(child)  # each tells its exit code itself
            children = [child for child in children if os.waitpid(child, os.WNOHANG)[0] == 0]
    for child in children:
        os.waitpid(child, 0)


def _import_all() -> None:
    import sqlaudit

    for module in pkgutil.walk_packages(sqlaudit.__path__, "sqlaudit."):
        if not module.name.startswith("sqlaudit.engines.spark") and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in LIBRARIES:
        importlib.import_module(name)


def _read_all() -> None:
    """What a run would read and keep until it ends: the templates, and the demo's table, whose unpacking takes long."""
    from sqlaudit.base.sql import environment
    from sqlaudit.cli import demo

    templates = environment()
    names = templates.list_templates(filter_func=lambda name: name.endswith(".sql") and not name.startswith("dbt/"))
    templates.cache = {}  # it would forget the first when there are many
    for name in names:
        templates.get_template(name)
    content = demo.table()
    patch.object(demo, "table", lambda: content).start()


def _in_one_thread() -> None:
    """Let DuckDB work in one thread where a command does not say: more wait for each other over a page's few rows."""
    from sqlaudit.engines.duckdb import session

    def in_one(limits: Limits, spill: Path) -> Any:
        return connected(replace(limits, threads=limits.threads or 1), spill)

    connected = session._connect
    patch.object(session, "_connect", in_one).start()


def _answer(asked: socket.socket) -> None:
    """Run the command as the client would have, tell it the exit code, and end."""
    _, streams, _, _ = socket.recv_fds(asked, 1, 3)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    with asked.makefile("rb") as told:
        arguments, folder, environment = json.load(told)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = arguments
    sys.stdin, sys.stdout, sys.stderr = (
        io.TextIOWrapper(io.FileIO(number, mode, closefd=False), "utf-8") for number, mode in enumerate("rww")
    )
    asked.sendall(str(_code()).encode())
    os._exit(0)


def _code() -> int:
    from sqlaudit.cli import main

    code: object = 0
    try:
        if sys.argv[0] == "python":
            _python(sys.argv[1:])
        else:
            main()
    except SystemExit as end:
        code = end.code
    except Exception:  # noqa: BLE001  as Python ends
        traceback.print_exc()
        code = 1
    for stream in (sys.stdout, sys.stderr):
        if not stream.closed:  # a program may have closed it
            stream.flush()
    return code if isinstance(code, int) else int(code is not None)


def _python(arguments: list[str]) -> None:
    """Do what Python does with the text of `-c`, a module of `-m`, a file, or what stdin says."""
    first, *others = arguments or ["-"]
    if first == "-m":
        sys.argv = others
        sys.path.insert(0, "")
        runpy.run_module(others[0], run_name="__main__", alter_sys=True)
    elif first in ("-c", "-"):
        text = others.pop(0) if first == "-c" else sys.stdin.read()
        sys.argv = [first, *others]
        exec(compile(text, "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv = arguments
        runpy.run_path(first, run_name="__main__")


if __name__ == "__main__":
    serve(sys.argv[1])
