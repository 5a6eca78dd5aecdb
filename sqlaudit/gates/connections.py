"""The connections of a policy, and what an engine connects with. A password is never read from the policy's file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from sqlaudit.base.errors import UsageError
from sqlaudit.base.nodes import Node
from sqlaudit.base.paths import exists, expanded
from sqlaudit.base.whereabouts import Whereabouts
from sqlaudit.gates.dbt_profiles import load_profile
from sqlaudit.gates.keys import TEXT, Keys, described
from sqlaudit.gates.nodes import NO_PAIRS, Mistakes, place_of, text
from sqlaudit.gates.result import Mistake
from sqlaudit.gates.spec import Connection

_SECRET = re.compile(r"(?i)pass(word|wd)?\s*=|\bpwd\s*=|token\s*=|secret\s*=")
KINDS: Keys = {
    "duckdb": described("A DuckDB file, from the folder of the policy."),
    "env": described("The environment variable that holds a PostgreSQL URL or the name of a DuckDB file."),
    "url": described("A PostgreSQL URL without a password; or a Spark: spark:local, spark:yarn, sc://host:15002."),
    "service": described("A service of PostgreSQL's pg_service.conf."),
    "dbt_profile": described("A profile of dbt's profiles.yml."),
}
KEYS: Keys = {
    **KINDS,
    "password_env": described("The environment variable with the password for url or service."),
    "target": described("The target of the dbt profile."),
    "profiles_dir": described("The folder of profiles.yml."),
    "description": TEXT,
    "namespace": described("What catalogues call the database: postgres://db.example.org:5432."),
}
_DBT_ONLY = ("target", "profiles_dir")
_NEVER = (
    "a password has no place in a policy: put the whole URL into an environment variable and name it under 'env', "
    "or the password alone and name it under 'password_env'."
)


def read_connections(node: Node, mistakes: Mistakes) -> dict[str, Connection | None]:
    """The connections by name, None for one with a mistake."""
    found = {}
    for key, value in mistakes.attempt(lambda one: tuple(one.pairs("'connections'")), node, NO_PAIRS):
        name = mistakes.attempt(text("a connection's name"), key, "")
        if name:
            found[name] = _connection(name, value, mistakes)
    return found


def _connection(name: str, node: Node, mistakes: Mistakes) -> Connection | None:
    own = Mistakes()
    written = [key.value for key, _ in own.attempt(lambda one: tuple(one.pairs("a connection")), node, NO_PAIRS)]
    if "password" in written or "pass" in written:
        mistakes.append(Mistake(place_of(node), f"connection {name!r}: {_NEVER}"))
        return None
    found = own.section(node, "a connection", KEYS)
    kinds = [kind for kind in KINDS if kind in found]
    if len(kinds) != 1:
        own.append(Mistake(place_of(node), f"connection {name!r} is said by one of {', '.join(KINDS)}."))
        mistakes += own
        return None
    kind = kinds[0]
    given = {key: own.attempt(text(key), value, "") for key, value in found.items()}
    for key in _DBT_ONLY:
        if key in found and kind != "dbt_profile":
            own.append(Mistake(place_of(found[key]), f"{key!r} belongs to a dbt_profile."))
    if "password_env" in found and kind not in ("url", "service"):
        own.append(Mistake(place_of(found["password_env"]), "'password_env' belongs to a url or service."))
    for key in ("url", "service", "namespace"):
        if holds_password(given.get(key, "")):
            own.append(Mistake(place_of(found[key]), f"connection {name!r}: {_NEVER}"))
    mistakes += own
    if own:
        return None
    folder = Path(place_of(node).file).parent
    return Connection(
        name,
        kind,
        given[kind],
        place_of(node),
        folder,
        given.get("password_env", ""),
        given.get("target", ""),
        given.get("profiles_dir", ""),
        given.get("namespace", ""),
    )


def holds_password(written: str) -> bool:
    """Whether a URL or conninfo string holds a password, or is written so oddly that it might."""
    user, at, _ = written.partition("://")[2].rpartition("@") if "://" in written else written.rpartition("@")
    return bool(_SECRET.search(written)) or bool(at and ":" in user)


def database_of(connection: Connection) -> Whereabouts:
    """What `engines.connect` takes; nothing that came from the environment is ever told of it.

    Raises:
        UsageError: an environment variable is not set, or there is no such file or profile.
    """
    source = f"connection {connection.name!r} ({connection.place})"
    if connection.kind == "duckdb":
        return Whereabouts(str(_file(connection)), source)
    if connection.kind == "env":
        given = _variable(connection.value, connection)
        path = connection.folder / given
        found = str(path) if "://" not in given and "=" not in given and exists(path) else given
        return Whereabouts(found, source, secret=True)
    if connection.kind == "dbt_profile":
        text, secret = load_profile(
            connection.value, connection.folder, target=connection.target, profiles_dir=connection.profiles_dir
        )
        return Whereabouts(text, source, secret)
    if connection.kind == "server":
        raise UsageError(
            f"{connection.place}: server {connection.name!r} is {connection.value}, which sqlaudit does not connect "
            "to; `sqlaudit compile -f` writes statements for it, and `sqlaudit test --results` judges what it answers."
        )
    database = connection.value if connection.kind == "url" else f"service={connection.value}"
    if connection.password_env:
        database = _with_password(database, _variable(connection.password_env, connection))
    return Whereabouts(database, source)


def _variable(name: str, connection: Connection) -> str:
    value = os.environ.get(name, "")
    if not value:
        raise UsageError(
            f"Connection {connection.name!r} ({connection.place}): the environment variable {name} is not set."
        )
    return value


def _file(connection: Connection) -> Path:
    """The file, which is told as the policy has it: what `~` means comes from the environment."""
    path = connection.folder / expanded(connection.value)
    if not exists(path):
        shown = connection.value if connection.value.startswith("~") else str(path)
        raise UsageError(f"Connection {connection.name!r} ({connection.place}): there is no file {shown!r}.")
    return path


def _with_password(database: str, password: str) -> str:
    """The URL or conninfo string with its password, which stands last, where it wins over none."""
    if "://" not in database:
        return f"{database} password={quoted(password)}"
    # libpq reads the URL itself, so that several hosts, sockets and odd ports mean what they mean there
    return f"{database}{'&' if '?' in database else '?'}password={quote(password, safe='')}"


def conninfo(given: Mapping[str, object]) -> str:
    """A libpq conninfo string of the values that are given.

    Example:
        >>> conninfo({"host": "db", "port": None, "user": "o'hara"})
        "host='db' user='o\\\\'hara'"
    """
    return " ".join(f"{key}={quoted(str(value))}" for key, value in given.items() if value not in (None, ""))


def quoted(value: str) -> str:
    """A value as conninfo strings hold it."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
