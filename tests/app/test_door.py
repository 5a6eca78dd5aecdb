"""Against the door: other hosts, other origins, used tokens, long forms, other users, and what pages may load."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from sqlaudit.app.door import LARGEST_BODY, Door, _is_ours
from sqlaudit.app.server import _listen
from sqlaudit.base.errors import UsageError
from tests.app.conftest import Person, at_the_window
from tests.app.process import started


def test_no_page_without_the_cookie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with at_the_window(tmp_path, monkeypatch) as stranger:
        paths = ("/", "/open", "/columns", "/help", "/static/app.js", "/alive", "/nothing", "/enter/../open")
        assert {stranger.client.get(path).status_code for path in paths} == {401}
        assert stranger.client.get("/enter").status_code == 200
        assert stranger.client.get("/static/enter.js").status_code == 200
        stranger.client.cookies.set(f"sqlaudit-{stranger.door.port}", "guess")
        assert stranger.client.get("/open").status_code == 401


@pytest.mark.parametrize("host", ["evil.example:4711", "localhost:4711", "127.0.0.1:80", "127.0.0.1", "", "[::1]:4711"])
def test_another_host_is_not_this_window(person: Person, host: str) -> None:
    """A name that another page lets point to this computer (rebinding) brings no page, cookie or not."""
    answer = person.client.get("/open", headers={"host": host})
    assert answer.status_code == 421
    assert "sqlaudit" not in answer.text


def test_two_hosts_are_none(person: Person) -> None:
    headers = [("host", person.door.hosts[0]), ("host", "evil.example")]
    assert person.client.get("/open", headers=headers).status_code == 421


def test_the_address_that_was_not_entered_by_is_closed(person: Person) -> None:
    assert person.client.get("/open", headers={"host": f"127.0.0.1:{person.door.port}"}).status_code == 421


@pytest.mark.parametrize(
    "origin", [None, "null", "http://evil.example", "http://127.0.0.1:4711", "https://{host}", "file://"]
)
def test_a_form_of_another_page_changes_nothing(person: Person, origin: str | None) -> None:
    headers = {} if origin is None else {"origin": origin.format(host=person.door.hosts[0])}
    answer = person.client.post("/folder", data={"version": "0", "path": ".."}, headers=headers)
    assert answer.status_code == 403
    assert person.window.history.number == 0


def test_two_origins_are_none(person: Person) -> None:
    headers = [("origin", person.origin), ("origin", "null"), ("content-type", "application/x-www-form-urlencoded")]
    assert person.client.post("/undo", content="version=0", headers=headers).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_requests_of_other_sites_are_refused(person: Person, site: str) -> None:
    assert person.client.get("/open", headers={"sec-fetch-site": site}).status_code == 403
    headers = {"sec-fetch-site": site, "origin": person.origin}
    assert person.client.post("/undo", data={"version": "0"}, headers=headers).status_code == 403


def test_a_cookie_of_the_same_name_from_another_port_keeps_nobody_out(person: Person) -> None:
    """Cookies are not told apart by port, and one with a longer path comes first."""
    name = f"sqlaudit-{person.door.port}"
    own = person.client.cookies[name]
    person.client.cookies.clear()
    for cookie, status in (
        (f"{name}=x; {name}={own}", 200),
        (f"{name}={own}; {name}=", 200),
        (f"{name}=x; x={own}", 401),
    ):
        assert person.client.get("/open", headers={"cookie": cookie}).status_code == status, cookie


def test_a_token_enters_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with at_the_window(tmp_path, monkeypatch) as person:
        token, headers = person.door.token, {"origin": person.origin}
        for wrong in ("", "x", token[:-1]):
            assert person.client.post("/enter", data={"token": wrong}, headers=headers).status_code == 403
        first = person.client.post("/enter", data={"token": token}, headers=headers, follow_redirects=False)
        assert first.status_code == 303
        assert re.search("; HttpOnly; Path=/; SameSite=strict$", first.headers["set-cookie"])
        for replayed in (token, ""):
            person.client.cookies.clear()
            answer = person.client.post("/enter", data={"token": replayed}, headers=headers, follow_redirects=False)
            assert answer.status_code == 403
            assert "set-cookie" not in answer.headers


def test_every_answer_is_stored_nowhere_and_loads_nothing_from_elsewhere(person: Person) -> None:
    paths = ("/open", "/columns", "/help", "/nothing", "/static/app.css", "/enter", "/static/../door.py")
    for answer in [*map(person.client.get, paths), person.client.get("/open", headers={"host": "x"})]:
        if answer.status_code != 421:
            assert answer.headers["cache-control"] == "no-store"
            policy = answer.headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; ")
            assert "unsafe" not in policy
            assert not re.search(r"https?:|\*", policy)
        for address in re.findall(r"https?://[^\s\"'<>]+", answer.text):
            assert address.startswith(person.origin)
        assert not re.search(r"<script>|<style|\son\w+=|\sstyle=|javascript:", answer.text)


def test_no_file_is_sent_and_no_form_is_long(person: Person) -> None:
    headers = {"origin": person.origin}
    answer = person.client.post("/file", files={"path": ("a.csv", "a,b")}, headers=headers)
    assert answer.status_code == 415
    long = person.client.post("/file", data={"path": "x" * LARGEST_BODY}, headers=headers)
    assert long.status_code == 413
    for other in ("PUT", "DELETE", "OPTIONS", "TRACE"):
        assert person.client.request(other, "/open", headers=headers).status_code == 405


def test_static_files_are_only_those_of_the_window(person: Person) -> None:
    for path in ("/static/../door.py", "/static/%2e%2e/door.py", "/static//etc/passwd", "/static/..%2fdoor.py"):
        assert person.client.get(path).status_code in (401, 404), path


# With sockets, in a process of its own.


@contextmanager
def _entered(entry: Path) -> Iterator[httpx.Client]:
    """Yield a client that has entered by the file, at the address that needs no name."""
    found = re.search(r"http://(127[^\"#]+)/enter#([\w-]+)", entry.read_text(encoding="utf-8"))
    assert found
    origin = f"http://{found[1]}"
    with httpx.Client(base_url=origin, headers={"origin": origin}, timeout=30) as client:
        assert client.post("/enter", data={"token": found[2]}).status_code == 303
        yield client


def _exchange(port: int, request: bytes) -> bytes:
    """Return what comes back when these bytes are sent, until the connection ends."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(1 << 16), b""))


def test_requests_that_no_browser_sends(tmp_path: Path) -> None:
    """Bytes over a socket, in the place of the head and host of a request, each with the status of its answer."""
    form = "Origin: http://{own}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    secrets = ("GET /open HTTP/1.1", "Host: {own}")
    requests = [
        (*secrets, "", 200),
        ("GET /open HTTP/1.1", "Host: 127.0.0.1.:{port}", "", 421),
        ("GET /open HTTP/1.0", "X: y", "", 421),
        ("GET /open HTTP/1.1", "X: y", "", 400),
        (*secrets, "Host: {own}\r\n", 400),
        ("GET http://{own}/open HTTP/1.1", "Host: evil.example", "", 421),
        ("GET http://evil.example/open HTTP/1.1", "Host: {own}", "", 404),
        ("GET /open HTTP/1.1", "Host : {own}", "", 400),
        ("POST /file HTTP/1.1", "Host: {own}", f"{form}Transfer-Encoding: chunked\r\n", 411),
        ("POST /stop HTTP/1.1", "Host: {own}", f"{form}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", 411),
        ("POST /stop HTTP/1.1", "Host: {own}", f"{form}Content-Length: 5\r\nContent-Length: 6\r\n", 400),
        ("POST /undo HTTP/1.1", "Host: {own}", form.replace("{own}", "127.0.0.1:1"), 403),
        ("POST /undo HTTP/1.1", "Host: {own}", form.replace("{own}", "127.0.0.1.:{port}"), 403),
        ("OPTIONS * HTTP/1.1", "Host: {own}", "", 405),
        ("PUT /open HTTP/1.1", "Host: {own}", "", 405),
        ("HEAD /open HTTP/1.1", "Host: {own}", "", 200),
        (*secrets, "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n", 200),
        ("GET /static/%2e%2e/door.py HTTP/1.1", "Host: {own}", "", 404),
        ("GET /static/..%2f..%2fdoor.py HTTP/1.1", "Host: {own}", "", 404),
        ("GET /static/..\\door.py HTTP/1.1", "Host: {own}", "", 404),
        ("GET /static/app.css%00.txt HTTP/1.1", "Host: {own}", "", 404),
        ("GET /open?%0d%0aX: y HTTP/1.1", "Host: {own}", "", 400),
        ("\x16\x03\x01", "", "", 400),
    ]
    with started(tmp_path) as (process, entry), _entered(entry) as client:
        port, cookie = client.base_url.port, "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        assert port is not None
        for head, host, more, status in requests:
            lines = (head, host, f"Cookie: {cookie}\r\nConnection: close", more)
            text = "\r\n".join(lines).replace("{own}", f"127.0.0.1:{port}").replace("{port}", str(port))
            answer = _exchange(port, text.encode("latin-1") + b"\r\n")
            assert answer.startswith(f"HTTP/1.1 {status} ".encode()), (head, host, more[:60], answer[:60])
            assert b"LARGEST_BODY" not in answer
        both = f"GET /alive HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        answers = _exchange(port, f"{both}Cookie: {cookie}\r\n\r\n{both}Connection: close\r\n\r\n".encode())
        assert re.findall(rb"HTTP/1.1 (\d+)", answers) == [b"204", b"401"]
        for endless in (f"GET /{'a' * 2_000_000}", f"GET /open HTTP/1.1\r\nX: {'a' * 2_000_000}"):
            with contextlib.suppress(ConnectionError):
                assert _exchange(port, endless.encode()).startswith(b"HTTP/1.1 400 ")
        assert client.get("/open").status_code == 200
        assert process.poll() is None


SHORT = """\
import sys
import sqlaudit.app.door as door, sqlaudit.app.server as server
door.PATIENCE, server.IDLE = 1.0, float(sys.argv[1])
server.serve("", None, browser=False, tell=lambda line: print(line, file=sys.stderr, flush=True))
"""


def test_connections_without_a_request_keep_nobody_out(tmp_path: Path) -> None:
    with (
        started(tmp_path, "60", program=SHORT) as (_, entry),
        _entered(entry) as client,
        contextlib.ExitStack() as opened,
    ):
        address = ("127.0.0.1", client.base_url.port or 0)
        connections = [opened.enter_context(socket.create_connection(address, timeout=30)) for _ in range(100)]
        for connection in connections:
            connection.sendall(b"GET /open HTTP/1.1\r\nX")
        assert {connection.recv(1) for connection in connections} == {b""}
        assert client.get("/open").status_code == 200


def test_connections_without_a_request_do_not_keep_the_window_open(tmp_path: Path) -> None:
    with started(tmp_path, "2", program=SHORT) as (process, entry), _entered(entry) as client:
        waiting = socket.create_connection(("127.0.0.1", client.base_url.port or 0))
        waiting.sendall(b"GET /open HTTP/1.1\r\nX")
        assert process.wait(30) == 0
        waiting.close()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
def test_connections_of_another_user_keep_nobody_out(tmp_path: Path) -> None:
    with started(tmp_path) as (_, entry), _entered(entry) as client:
        program = f"""\
import encodings.idna, os, socket, time
os.setuid(65534)
kept = [socket.create_connection(("127.0.0.1", {client.base_url.port})) for _ in range(100)]
print(kept[0].recv(1), flush=True)
time.sleep(60)
"""
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout is not None
            assert other.stdout.readline() == "b''\n"  # it was ended without an answer
            time.sleep(0.5)
            assert client.get("/open").status_code == 200
            other.kill()


def test_the_entry_is_private_and_gone_once_it_was_used(tmp_path: Path) -> None:
    with started(tmp_path) as (process, entry):
        assert entry.stat().st_mode & 0o777 == 0o600
        assert entry.parent.stat().st_mode & 0o777 == 0o700
        assert " --no-browser" in Path(f"/proc/{process.pid}/cmdline").read_text().replace("\0", " ")
        with _entered(entry) as client:
            assert not entry.exists()
            assert client.get("/open").status_code == 200
            assert "server" not in client.get("/open").headers
        process.send_signal(signal.SIGINT)
        assert process.wait(15) == 130
        assert not entry.parent.exists()
        assert process.stderr is not None
        assert process.stderr.read() == "\nsqlaudit: stopped by Ctrl-C.\n"[1:]


def test_a_port_of_ones_own_is_part_of_the_host(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with started(tmp_path, "--port", str(port)) as (_, entry):
        text = entry.read_text(encoding="utf-8")
        assert set(re.findall(r"localhost:(\d+)|127\.0\.0\.1:(\d+)", text)) == {(str(port), ""), ("", str(port))}
        with _entered(entry) as client:
            assert client.get("/open", headers={"host": f"127.0.0.1:{port + 1}"}).status_code == 421
        command = [sys.executable, "-m", "sqlaudit", "app", "--no-browser", "--port", str(port)]
        second = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert second.returncode == 2
        assert second.stderr == f"sqlaudit: Port {port} is in use. Name another one with --port, or leave it out.\n"


def test_nobody_else_gets_the_other_address_of_the_port(tmp_path: Path) -> None:
    """Browsers try ::1 first for names below localhost: another user's server there would be given the token."""
    with started(tmp_path) as (_, entry):
        port = int(re.search(r"127\.0\.0\.1:(\d+)", entry.read_text(encoding="utf-8"))[1])  # type: ignore[index]
        for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
            with socket.socket(family) as other:
                other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                with pytest.raises(OSError, match="in use"):
                    other.bind((address, port))
        with socket.create_connection(("127.0.0.1", port)):
            pass
        others = [address[4][0] for address in socket.getaddrinfo(socket.gethostname(), port, type=socket.SOCK_STREAM)]
        for address in others:
            if not address.startswith(("127.", "::1")):
                with pytest.raises(OSError, match=r"refused|unreachable|timed out"):
                    socket.create_connection((address, port), timeout=2)


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="only Linux tells whose a connection is")
def test_a_process_of_another_user_does_not_come_in() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as mine:
            assert _is_ours(mine.getsockname(), port)
        assert not _is_ours(("127.0.0.1", 1), port)
        if os.getuid() == 0:
            program = "import encodings.idna,os,socket,time; os.setuid(65534); "
            program += f"s=socket.create_connection(('127.0.0.1',{port})); "
            program += "print(s.getsockname()[1], flush=True); time.sleep(30)"
            with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as other:
                assert other.stdout is not None
                client = ("127.0.0.1", int(other.stdout.readline()))
                assert not _is_ours(client, port)
                other.kill()
    assert _is_ours(("127.0.0.1", 1), port), "what the system does not tell keeps no one out"


def test_a_kill_leaves_no_process_and_no_file(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (tmp_path / "people.csv").write_text("age,zip\n" + "1,2\n" * 50, encoding="utf-8")
    with started(tmp_path, "people.csv", TMPDIR=str(scratch)) as (process, entry):
        with _entered(entry) as client:
            assert client.get("/open").status_code == 200
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert children
        process.send_signal(signal.SIGKILL)
        process.wait()
        ended = time.monotonic() + 10
        while any(Path("/proc", child).exists() for child in children) and time.monotonic() < ended:
            time.sleep(0.1)
        assert not any(Path("/proc", child).exists() for child in children)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "scratch"]
    assert [path for path in scratch.rglob("*") if path.is_file()] == []


def test_a_window_that_is_closed_ends(tmp_path: Path) -> None:
    with started(tmp_path) as (process, entry), _entered(entry) as client:
        assert "has ended" in client.post("/end", data={"version": "0"}).text
        assert process.wait(15) == 0


def test_a_window_that_nobody_uses_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import sqlaudit.app.server as s; s.IDLE = 1.0; s.serve('', None, browser=False, tell=print)"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, timeout=60, check=False)
    assert done.returncode == 0


def test_a_missing_package_is_named_with_the_command_that_installs_it(tmp_path: Path) -> None:
    program = "import sys; sys.modules['uvicorn'] = None; sys.argv = ['sqlaudit', 'app']; "
    program += "from sqlaudit.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        "sqlaudit: The window needs the packages starlette and uvicorn: pip install 'sqlaudit[app]'.\n"
    )


def test_wrong_calls_are_one_sentence(tmp_path: Path) -> None:
    def said(*arguments: str) -> str:
        command = [sys.executable, "-m", "sqlaudit", "app", "--no-browser", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 2, done.stderr
        assert done.stderr.count("\n") == 1
        return done.stderr

    assert "There is no file 'peple.csv'." in said("peple.csv")
    assert "A database needs a table" in said("--db", "postgresql://u@h/d")
    assert "hush" not in said("--db", "postgresql://u:hush@h/d", "t")
    assert "--db and --db-env exclude each other" in said("--db", "x", "--db-env", "Y", "t")


def test_the_shortcut_starts_the_window(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sqlaudit", "app", "--install-shortcut"]
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path / "data")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    file = tmp_path / "data/applications/sqlaudit.desktop"
    assert done.stderr == f"sqlaudit: wrote {str(file)!r}.\n"
    lines = dict(line.partition("=")[::2] for line in file.read_text(encoding="utf-8").splitlines()[1:])
    assert lines["Type"] == "Application"
    words = re.findall(r'"([^"]*)"', lines["Exec"].removesuffix(" %f"))
    ran = subprocess.run([*words, "--help"], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "Open a window" in ran.stdout


def test_a_form_that_is_no_text_is_refused(person: Person) -> None:
    headers = {"origin": person.origin, "content-type": "application/x-www-form-urlencoded"}
    for body in (b"\xff\xfe", b"a=%ff"):
        assert person.client.post("/file", content=body, headers=headers).status_code == 413


def test_doors_differ() -> None:
    doors = [Door(lambda *_: None, 1) for _ in range(2)]  # type: ignore[arg-type, return-value]
    assert len({door.token for door in doors} | {door.name for door in doors}) == 4
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(UsageError, match=r"in use\. Name another one"):
            _listen(taken.getsockname()[1])
