"""The server of the window: on this computer only, for one browser, until it is closed or not used for long."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import webbrowser
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from sqlaudit.base.errors import MissingDriver, UsageError
from sqlaudit.base.files import PrivateFolder
from sqlaudit.base.parameter_names import spelled

if TYPE_CHECKING:
    from uvicorn import Server

    from sqlaudit.app.door import Door
    from sqlaudit.app.window import Window
    from sqlaudit.gates.result import Connection

IDLE = 30 * 60.0
"""Seconds without a request after which the window ends. An open page asks every minute whether it is alive."""
_TRIES = 20
_ENTRY = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>sqlaudit</title></head>
<body><p><a href="{first}">Open the window of sqlaudit</a></p>
<script>
fetch("{probe}", {{ mode: "no-cors", cache: "no-store" }}).then(
  () => location.replace("{first}"), () => location.replace("{second}"));
</script></body></html>
"""
"""The page that enters. A browser that does not know names below localhost goes to the address instead."""


def serve(
    name: str, db: Connection | None, *, port: int = 0, browser: bool = True, tell: Callable[[str], None]
) -> None:
    """Open a window, and return when it has ended.

    Args:
        name: a file or a table of the database; empty = the window asks. db: the database; None for files.
        port: of the server; 0 = a free one. browser: whether to open the browser. tell: prints a line for the terminal.

    Raises:
        MissingDriver: a package of the window is not installed. UsageError: the port or the file cannot be used.
    """
    try:
        import starlette.applications
        import uvicorn
    except ImportError:
        raise MissingDriver(
            "The window needs the packages starlette and uvicorn: pip install 'sqlaudit[app]'."
        ) from None
    del starlette
    from sqlaudit.app.door import Door, DoorConnection
    from sqlaudit.app.folders import Folders
    from sqlaudit.app.window import Window, make_app

    window = Window(Folders(Path.cwd()), db)
    window.open(name)
    sockets = _listen(port)
    door = Door(make_app(window), sockets[0].getsockname()[1])
    config = uvicorn.Config(
        door,
        http=DoorConnection,
        ws="none",
        lifespan="off",
        access_log=False,
        log_level="critical",
        proxy_headers=False,
        server_header=False,
        h11_max_incomplete_event_size=16 * 1024,
        limit_concurrency=64,
        timeout_graceful_shutdown=2,
    )
    server = uvicorn.Server(config)

    async def run() -> None:
        ending = asyncio.create_task(_end_when_unused(server, door, window))
        try:
            await server.serve(sockets=sockets)
        finally:
            ending.cancel()
            await window.jobs.close()

    # Browsers in snaps see the home folder, and no temporary one
    beside = str(Path.home()) if browser and Path("/snap").is_dir() else ""
    with PrivateFolder("app", beside) as folder:
        entry = folder.path / "sqlaudit.html"
        _write_entry(entry, door)
        door.entered = lambda: entry.unlink(missing_ok=True)
        if browser and webbrowser.open(entry.as_uri()):
            tell(f"the window is open in your browser; if not, open {str(entry)!r} there. Ctrl-C ends.")
        else:
            tell(f"open {str(entry)!r} in a browser. It lets one browser in, on this computer. Ctrl-C ends.")
        asyncio.run(run())


def _listen(port: int) -> list[socket.socket]:
    """Return sockets on the addresses of this computer itself, in both families, so that no one else has the other.

    Raises:
        UsageError: the port is in use.
    """
    for _ in range(1 if port else _TRIES):
        sockets: list[socket.socket] = []
        try:
            sockets.append(_bound(socket.AF_INET, "127.0.0.1", port))
            if socket.has_ipv6:
                sockets.append(_bound(socket.AF_INET6, "::1", sockets[0].getsockname()[1]))
        except OSError as error:
            if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT) and sockets:
                return sockets  # no IPv6 here
            for bound in sockets:
                bound.close()
            if error.errno == errno.EACCES:
                raise UsageError(
                    f"Port {port} may not be used here. Name one above 1023 with {spelled('port')}."
                ) from None
        else:
            return sockets
    raise UsageError(
        f"Port {port} is in use. Name another one with {spelled('port')}, or leave it out."
        if port
        else "No port is free."
    )


def _bound(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    """Return a socket that listens on an address; no other process can share its port."""
    bound = socket.socket(family)
    try:
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        bound.bind((address, port))
        bound.listen(128)
        bound.setblocking(False)
    except OSError:
        bound.close()
        raise
    return bound


def _write_entry(path: Path, door: Door) -> None:
    """Write the page with the token, which only this user can read."""
    first, second = (f"http://{host}" for host in door.hosts)
    page = _ENTRY.format(
        probe=escape(f"{first}/enter"),
        first=escape(f"{first}/enter#{door.token}"),
        second=escape(f"{second}/enter#{door.token}"),
    )
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(page)


async def _end_when_unused(server: Server, door: Door, window: Window) -> None:
    """End the server when the window was closed, or when no one has asked for anything for long."""
    loop, requests, since = asyncio.get_running_loop(), -1, 0.0
    while True:
        if door.requests != requests:
            requests, since = door.requests, loop.time()
        if window.is_ended or loop.time() - since > IDLE:
            await asyncio.sleep(0.3)  # the last page is on its way
            server.should_exit = True
            return
        await asyncio.sleep(0.3)
