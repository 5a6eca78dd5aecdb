"""The connections of a policy, and what an engine connects with. A password is never read from the policy's file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from jinja2 import StrictUndefined, TemplateError, nodes
from jinja2.sandbox import SandboxedEnvironment

from sqlaudit.base.addresses import Whereabouts
from sqlaudit.base.errors import UnknownFile, UsageError
from sqlaudit.base.files import exists, expanded, is_file
from sqlaudit.base.names import closest
from sqlaudit.base.nodes import Node, load_nodes
from sqlaudit.gates.keys import TEXT, Keys, described
from sqlaudit.gates.nodes import Mistakes, place_of, text
from sqlaudit.gates.result import Connection

# Connections from dbt's profiles.yml: the file where dbt looks for it, env_var() filled in, one target chosen.

_POSTGRES = (
    *("host", "port", "user", "password", "dbname", "sslmode"),
    *("sslrootcert", "sslcert", "sslkey", "connect_timeout"),
)
_ALSO = {"password": "pass", "dbname": "database"}
"""Further keys of dbt, by the parameters that they stand for."""
_ALLOWED = (
    *(nodes.Output, nodes.TemplateData, nodes.Call, nodes.Name, nodes.Const, nodes.Filter, nodes.Concat),
    *(nodes.Keyword, nodes.CondExpr, nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not, nodes.If),
)
"""The pieces of a template that is no more than env_var() with choices, filters and `~`; without loops it soon ends."""
_DBT_FILTERS = ("as_number", "as_bool", "as_native", "as_text")
_FILTERS = {*_DBT_FILTERS, "int", "float", "string", "lower", "upper", "trim", "default", "d"}


@dataclass(frozen=True)
class _Value:
    """A text with its variables filled in, and whether there were any."""

    text: str
    secret: bool = False

    @property
    def shown(self) -> str:
        """The value in a sentence."""
        return "what an environment variable says" if self.secret else repr(self.text)


def _profiles_file(folder: Path, profiles_dir: str = "") -> tuple[Path, str]:
    """Return the profiles.yml of dbt: in `profiles_dir`, DBT_PROFILES_DIR, the project's folder, or ~/.dbt.

    Args:
        folder: the folder of the project.
        profiles_dir: a folder that the policy names, relative to it; empty = none.

    Returns:
        The file, and its name in errors, which has `$DBT_PROFILES_DIR` instead of that variable's value.

    Raises:
        UsageError: there is none.
    """
    if profiles_dir:
        places = [(folder / expanded(profiles_dir), str(folder / profiles_dir))]
    elif os.environ.get("DBT_PROFILES_DIR"):
        places = [(expanded(os.environ["DBT_PROFILES_DIR"]), "$DBT_PROFILES_DIR")]
    else:
        places = [(folder, str(folder)), (expanded("~/.dbt"), "~/.dbt")]
    for path, called in places:
        if is_file(path / "profiles.yml"):
            return path / "profiles.yml", str(Path(called, "profiles.yml"))
    places_listed = " or ".join(called for _, called in places)
    raise UsageError(f"There is no profiles.yml in {places_listed}; DBT_PROFILES_DIR names its folder.")


@dataclass(frozen=True)
class ProfileTarget:
    """A target of a dbt profile.

    Args:
        name: the target as errors show it. file: what errors call profiles.yml. output: its keys.
    """

    name: str
    file: str
    output: Mapping[str, Node] = field(repr=False)

    @property
    def default_database(self) -> str:
        """The database of tables without one of their own, empty if the target does not name it."""
        named = next((_value(self.output, key, "").text for key in _DATABASE if key in self.output), "")
        path = _value(self.output, "path", "").text
        return named or Path(path).name.lstrip(".").partition(".")[0]  # the name that DuckDB and dbt give to a file

    @property
    def default_schema(self) -> str:
        """The schema of tables without one of their own, empty if the target does not name it."""
        usual = "main" if _value(self.output, "type", "").text == "duckdb" else ""
        return next((_value(self.output, key, "").text for key in _SCHEMA if key in self.output), usual)


_DATABASE = ("database", "dbname", "project", "catalog")
_SCHEMA = ("schema", "dataset")
"""The keys that adapters of dbt use."""


def load_profile(name: str, folder: Path, *, target: str = "", profiles_dir: str = "") -> tuple[str, bool]:
    """Return the database of a dbt profile, as `engines.connect` takes it, and True if any part except the password
    came from the environment.

    Args and errors as `profile_targets`; also a database of another kind is a `UsageError`.
    """
    return _database(profile_targets(name, folder, target=target, profiles_dir=profiles_dir)[0], folder)


def profile_targets(name: str, folder: Path, *, target: str = "", profiles_dir: str = "") -> list[ProfileTarget]:
    """Return the targets of a dbt profile, first the one that is used.

    Args:
        name: the profile, perhaps with env_var(). folder: the project's folder, which relative paths of DuckDB files
            start from.
        target: one of its outputs; empty = DBT_TARGET, or the profile's own target, or `default`.
        profiles_dir: where profiles.yml is; empty = where dbt looks for it.

    Raises:
        UsageError: no such file, profile or target, or a variable that is not set.
    """
    used = _rendered(Node(name, "the project"), "profile")
    file, called = _profiles_file(folder, profiles_dir)
    profiles = _mapping(load_nodes(file, called), called, "profiles.yml")
    if used.text not in profiles:
        hint = "" if used.secret else closest(used.text, profiles)
        raise UsageError(f"{called}: there is no profile {used.shown}.{hint}")
    profile = _mapping(profiles[used.text], called, f"profile {used.shown}")
    outputs = _mapping(profile.get("outputs"), called, f"'outputs' of profile {used.shown}")
    chosen = _value(profile, "target", "default")
    if target or os.environ.get("DBT_TARGET"):
        chosen = _Value(target) if target else _Value(os.environ["DBT_TARGET"], True)
    if chosen.text not in outputs:
        hint = "" if chosen.secret else closest(chosen.text, outputs)
        raise UsageError(f"{called}: profile {used.shown} has no target {chosen.shown}.{hint}")
    names = {chosen.text: chosen.shown} | {other: repr(other) for other in outputs if other != chosen.text}
    return [
        ProfileTarget(label, called, _mapping(outputs[other], called, f"target {label}"))
        for other, label in names.items()
    ]


def _mapping(node: Node | None, file: str, what: str) -> Mapping[str, Node]:
    if node is None:
        raise UsageError(f"{file}: {what} is empty.")
    return {str(key.value): value for key, value in node.pairs(what)}


def _database(target: ProfileTarget, folder: Path) -> tuple[str, bool]:
    """Return the address of a dbt target's database, and whether it holds a secret.

    Raises:
        UsageError: another process cannot connect to it.
    """
    output, file = target.output, target.file
    kind = _value(output, "type", "")
    if kind.text == "duckdb":
        path = _value(output, "path", ":memory:")
        if path.text == ":memory:" or path.text.startswith("md:"):
            raise UsageError(f"{file}: this target keeps its tables in {path.shown}, which no other process can read.")
        return str(folder / expanded(path.text)), path.secret or path.text.startswith("~")
    if kind.text != "postgres":
        raise UsageError(
            f"{file}: this target is of type {kind.shown}; sqlaudit connects to duckdb and postgres. For another "
            "warehouse its dbt tests run inside dbt."
        )
    parameters: dict[str, _Value] = {}
    for parameter in _POSTGRES:
        node = output.get(parameter, output.get(_ALSO.get(parameter, parameter)))
        if node is not None and node.value is not None:
            parameters[parameter] = _rendered(node, parameter)
    secret = any(value.secret for parameter, value in parameters.items() if parameter != "password")
    return conninfo({parameter: value.text for parameter, value in parameters.items()}), secret


def _value(section: Mapping[str, Node], key: str, usual: str) -> _Value:
    return _rendered(section[key], key) if key in section else _Value(usual)


def rendered(node: Node, what: str) -> str:
    """Return a value of a project with its env_var() filled in, as dbt reads it."""
    return _rendered(node, what).text


def _rendered(node: Node, what: str) -> _Value:
    """A value with its env_var() filled in; messages name the variable, never a value.

    Nothing but env_var() of names that stand there is taken: a name that is computed could be the value of another
    variable, and the sentence about a missing one would show it.
    """
    written = node.text(what)
    if "{{" not in written and "{%" not in written:
        return _Value(written)
    environment = SandboxedEnvironment(undefined=StrictUndefined)
    environment.globals = {"env_var": lambda name, default="": os.environ.get(name, default)}
    environment.filters |= dict.fromkeys(_DBT_FILTERS, str)
    try:
        names = _variables(environment.parse(written))
        missing = [name for name, has_default in names if not has_default and name not in os.environ]
        if missing:
            raise node.fail(f"{what}: the environment variable {missing[0]} is not set.")
        return _Value(environment.from_string(written).render(), bool(names))
    except (TemplateError, RecursionError):
        raise node.fail(f"{what} has an expression other than env_var(), which is not supported.") from None


def _variables(template: nodes.Template) -> list[tuple[str, bool]]:
    """The variables of a template, and whether each has a default.

    Raises:
        TemplateError: it does something else.
    """
    is_allowed = all(isinstance(node, _ALLOWED) for node in template.find_all(nodes.Node))
    is_allowed &= all(used.name in _FILTERS for used in template.find_all(nodes.Filter))
    variables = []
    for call in template.find_all(nodes.Call):
        is_allowed &= isinstance(call.node, nodes.Name) and call.node.name == "env_var"
        arguments = [argument.value for argument in call.args if isinstance(argument, nodes.Const)]
        fits = len(arguments) == len(call.args) in (1, 2) and all(isinstance(value, str) for value in arguments)
        if not (is_allowed and fits) or call.kwargs or call.dyn_args or call.dyn_kwargs:
            raise TemplateError
        variables.append((arguments[0], len(arguments) == 2))
    if not is_allowed:
        raise TemplateError
    return variables


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


_SECRET = re.compile(r"(?i)pass(word|wd)?\s*=|\bpwd\s*=|token\s*=|secret\s*=")
_NO_SECRET = re.compile(r"(?i)password\s*=\s*(''(?=\s|$)|$)")
"""An empty password; what follows another blank is its value."""
KINDS: Keys = {
    "duckdb": described("A DuckDB file, relative to the policy."),
    "env": described("Environment variable with a PostgreSQL URL or the name of a DuckDB file."),
    "url": described("A PostgreSQL URL without a password, or Spark: spark:local, spark:yarn, sc://host:15002."),
    "service": described("A service of PostgreSQL's pg_service.conf."),
    "dbt_profile": described("A profile of dbt's profiles.yml."),
}
KEYS: Keys = {
    **KINDS,
    "password_env": described("The environment variable with the password for url or service."),
    "target": described("The target of the dbt profile."),
    "profiles_dir": described("The folder of profiles.yml."),
    "description": TEXT,
    "namespace": described("Name of the database in catalogues: postgres://db.example.org:5432."),
}
_NEVER = (
    "a password has no place in a policy: put the whole URL into an environment variable and name it under 'env', "
    "or the password alone and name it under 'password_env'."
)


def read_connections(node: Node, mistakes: Mistakes) -> dict[str, Connection | None]:
    """The connections by name, None for one with a mistake."""
    connections = {}
    for key, value in mistakes.pairs(node, "'connections'"):
        name = mistakes.attempt(text, key, "", "a connection's name")
        if name:
            connections[name] = _connection(name, value, mistakes)
    return connections


def _connection(name: str, node: Node, mistakes: Mistakes) -> Connection | None:
    """Read a connection of a policy; None if it has mistakes, which are noted."""
    problems = Mistakes()
    if any(key.value in ("password", "pass") for key, _ in problems.pairs(node, "a connection")):
        mistakes.add(node, f"connection {name!r}: {_NEVER}")
        return None
    section = problems.section(node, "a connection", KEYS)
    kinds = [kind for kind in KINDS if kind in section]
    if len(kinds) != 1:
        problems.add(node, f"connection {name!r} needs one of {', '.join(KINDS)}.")
        mistakes += problems
        return None
    kind = kinds[0]
    values = {key: section.take(key, text, "") for key in section}
    for key in ("target", "profiles_dir"):
        if key in section and kind != "dbt_profile":
            problems.add(section[key], f"{key!r} needs a dbt_profile.")
    if "password_env" in section and kind not in ("url", "service"):
        problems.add(section["password_env"], "'password_env' needs a url or service.")
    for key in ("url", "service", "namespace"):
        if holds_password(values.get(key, "")):
            problems.add(section[key], f"connection {name!r}: {_NEVER}")
    mistakes += problems
    if problems:
        return None
    location = place_of(node)
    fields = {key: values.get(key, "") for key in ("password_env", "target", "profiles_dir", "namespace")}
    return Connection(name, kind, values[kind], location, Path(location.file).parent, **fields)


def holds_password(written: str) -> bool:
    """Return True if a URL or conninfo string holds a password, or is written so oddly that it might.

    An empty one is none, for libpq as well: `postgresql://auditor:@host`.
    """
    written = _NO_SECRET.sub("", written)
    user, at, _ = written.partition("://")[2].rpartition("@") if "://" in written else written.rpartition("@")
    return bool(_SECRET.search(written)) or bool(at and ":" in user.removesuffix(":"))


def database_of(connection: Connection) -> Whereabouts:
    """Return what `engines.connect` takes; nothing that came from the environment is ever told of it.

    Raises:
        UsageError: an environment variable is not set, or there is no such file or profile.
    """
    source = f"connection {connection.name!r} ({connection.place})"
    if connection.kind == "duckdb":
        return Whereabouts(str(_file(connection)), source)
    if connection.kind == "env":
        value = _variable(connection.value, connection)
        path = connection.folder / value
        database = str(path) if "://" not in value and "=" not in value and exists(path) else value
        return Whereabouts(database, source, secret=True)
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
        label = connection.value if connection.value.startswith("~") else str(path)
        raise UnknownFile(f"Connection {connection.name!r} ({connection.place}): there is no file {label!r}.")
    return path


def _with_password(database: str, password: str) -> str:
    """The URL or conninfo string with its password, which stands last, where it wins over none."""
    if "://" not in database:
        return f"{database} password={quoted(password)}"
    # libpq reads the URL itself, so that several hosts, sockets and odd ports mean what they mean there
    return f"{database}{'&' if '?' in database else '?'}password={quote(password, safe='')}"
