"""The door of the window. The rest of the server sees only the requests of the one browser that may come in.

Other web pages can send requests to this computer (rebinding of names, forms of other origins), and other users of it
can, too. So a request must name exactly our host and, to change something, exactly our origin; it must have the cookie
that the browser got for the token in the entry file, which only this user can read; and the process that sends it must
be this user's, where the system tells. Nothing is cached or logged, and pages load nothing from elsewhere.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
from asyncio import BaseTransport, Transport
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

LARGEST_BODY = 64 * 1024
"""Bytes of a form. A file is never sent: the browser sends its path."""
PATIENCE = 10.0
"""Seconds in which the head of a request has to come."""
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", POLICY.encode()),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"referrer-policy", b"same-origin"),  # with none, browsers send forms with the origin null
    (b"x-content-type-options", b"nosniff"),
)
ENTRANCE = ("/enter", "/static/enter.js")
"""What a browser may get without the cookie: the page that gives the token in."""
_FORM = "application/x-www-form-urlencoded"
_ROW = re.compile(r"^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:([0-9A-F]{4}) ([0-9A-F]{2})(?:\s+\S+){3}\s+(\d+)", re.M)
_ESTABLISHED, _LISTENING = "01", "0A"


class Door:
    """Lets the requests of one browser through to the app, and answers all others itself.

    Args:
        app: the app behind the door. port: the port of the server.
    """

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app, self.port = app, port
        self.name = f"a{secrets.token_hex(8)}.localhost"
        # Browsers resolve names below localhost themselves; the entry file tries the address if one does not
        self.hosts = [f"{self.name}:{port}", f"127.0.0.1:{port}"]
        self.token = secrets.token_urlsafe(32)
        self._session = secrets.token_urlsafe(32)
        self.entered: Callable[[], object] = lambda: None
        """Is called when the token was used."""
        self.requests = 0
        """Number of requests so far, by which the server knows that the window is used."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        if scope["type"] != "http":
            return
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name, []).append(value)
        refusal = self._refusal(scope, headers)
        answer: ASGIApp = refusal or (self._enter if scope["path"] == "/enter" else self._app)

        # The entry file, which is a page of its own, tries whether the browser knows our name
        readers = b"cross-origin" if scope["path"] == "/enter" else b"same-origin"

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_HEADERS, (b"cross-origin-resource-policy", readers)]
            await send(message)

        if refusal is None:
            self.requests += 1
        await answer(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope, headers: Mapping[bytes, Sequence[bytes]]) -> Response | None:
        """Return the answer to a request that does not come in; None if it does."""
        host, method = _single_value(headers, b"host"), scope["method"]
        site = _single_value(headers, b"sec-fetch-site", "none") in ("none", "same-origin")
        kind = _single_value(headers, b"content-type").partition(";")[0]
        is_change, is_entrance = method == "POST", scope["path"] in ENTRANCE
        refusals = (
            (host not in self.hosts, 421, "This is not the address of this window."),
            (not _is_ours(scope.get("client"), self.port), 403, "This window belongs to another user."),
            (method not in ("GET", "HEAD", "POST"), 405, "This window knows only GET and POST."),
            (
                is_change and (_single_value(headers, b"origin") != f"http://{host}" or not site),
                403,
                "This window takes no forms from other pages.",
            ),
            (not is_entrance and not site, 403, "This window is not part of other pages."),
            (is_change and kind != _FORM, 415, "This window takes no files: it reads them where they are."),
            (b"transfer-encoding" in headers, 411, "This window takes only forms that say how long they are."),
            (
                not is_entrance and not self._has_cookie(headers),
                401,
                "Open this window by its file or icon: sqlaudit app",
            ),
        )
        return next((PlainTextResponse(text, status) for refused, status, text in refusals if refused), None)

    def _has_cookie(self, headers: Mapping[bytes, Sequence[bytes]]) -> bool:
        """Return True if the request has the cookie."""
        cookie = b"; ".join(headers.get(b"cookie", ())).decode("latin-1")
        pairs = [part.strip().partition("=") for part in cookie.split(";")]
        # A server on another port of the same address can set a cookie of this name, too, which may come first
        sessions = [value.encode() for name, _, value in pairs if name == self._cookie]
        return any(hmac.compare_digest(session, self._session.encode()) for session in sessions)

    @property
    def _cookie(self) -> str:
        return f"sqlaudit-{self.port}"

    async def _enter(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Exchange the token, once, for the cookie; or show the page that gives it in."""
        request = Request(scope, receive)
        if scope["method"] != "POST":
            page = Path(__file__).parent / "templates/enter.html"
            await Response(page.read_text("utf-8"), media_type="text/html")(scope, receive, send)
            return
        given = dict(await read_form(request) or ()).get("token", "")
        if not self.token or not hmac.compare_digest(given.encode(), self.token.encode()):
            refusal = PlainTextResponse("This entry was used already. Start the window again: sqlaudit app", 403)
            await refusal(scope, receive, send)
            return
        self.token = ""
        self.hosts = [request.headers["host"]]
        self.entered()
        response = RedirectResponse("/", 303)
        response.set_cookie(self._cookie, self._session, httponly=True, samesite="strict", path="/")
        await response(scope, receive, send)


class DoorConnection(H11Protocol):
    """A connection that ends if no whole request comes, or at once if it is another user's.

    Only so many are served at a time: those that wait for ever would keep out the browser.
    """

    def connection_made(self, transport: BaseTransport) -> None:
        """Begin to wait for a request."""
        assert isinstance(transport, Transport)
        super().connection_made(transport)
        if self.server is None or not _is_ours(self.client, self.server[1] or 0):
            transport.close()
        self._wait()

    def _wait(self) -> None:
        self.loop.call_later(PATIENCE, self._end_if_nothing_came, self.cycle)

    def _end_if_nothing_came(self, last: RequestResponseCycle | None) -> None:
        if self.transport.is_closing():
            return
        if self.cycle is last and (last is None or last.response_complete):
            self.transport.close()
        self._wait()


async def read_form(request: Request) -> list[tuple[str, str]] | None:
    """Return the fields of a form in order; None if its body is too long or no form."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST_BODY:
            return None
    try:
        return parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=20_000)
    except ValueError:
        return None


def _single_value(headers: Mapping[bytes, Sequence[bytes]], name: bytes, without: str = "") -> str:
    """Return the value of a header; of one that is sent twice a text that equals nothing."""
    values = headers.get(name, ())
    return values[0].decode("latin-1") if len(values) == 1 else ", ".join(map(repr, values)) or without


# The user of the process at the other end of a connection, as Linux tells in /proc.


def _is_ours(client: tuple[str, int] | None, port: int) -> bool:
    """Return True if the process that connected is this user's, or if the system does not tell.

    Args:
        client: the address of the other end. port: of the server.
    """
    if client is None:
        return False
    rows = [row for file in ("tcp", "tcp6") for row in _connections(Path("/proc/net", file))]
    if not any(local == port and state == _LISTENING for local, _, state, _ in rows):
        return True  # no such list, or one of another network
    users = [user for local, remote, state, user in rows if (local, remote, state) == (client[1], port, _ESTABLISHED)]
    return bool(users) and all(user == os.getuid() for user in users)


def _connections(table: Path) -> list[tuple[int, int, str, int]]:
    """Return (local port, remote port, state, user) of the connections in a table of Linux; none on other systems."""
    try:
        text = table.read_text("ascii")
    except OSError:
        return []
    return [(int(local, 16), int(remote, 16), state, int(user)) for local, remote, state, user in _ROW.findall(text)]
