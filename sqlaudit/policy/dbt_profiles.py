"""Connections from dbt's profiles.yml: the file where dbt looks for it, env_var() filled in, one target chosen."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, TemplateError, nodes
from jinja2.sandbox import SandboxedEnvironment

from sqlaudit.errors import UsageError
from sqlaudit.guard import closest
from sqlaudit.nodes import Node, load_nodes
from sqlaudit.paths import expanded, is_file

_POSTGRES = {
    "host": ("host",), "port": ("port",), "user": ("user",), "password": ("password", "pass"),
    "dbname": ("dbname", "database"), "sslmode": ("sslmode",), "sslrootcert": ("sslrootcert",), "sslcert": ("sslcert",),
    "sslkey": ("sslkey",), "connect_timeout": ("connect_timeout",),
}  # fmt: skip


_DBT_FILTERS = ("as_number", "as_bool", "as_native", "as_text")
_FILTERS = (*_DBT_FILTERS, "int", "float", "string", "lower", "upper", "trim", "default", "d")
_PLAIN = (
    nodes.Output, nodes.TemplateData, nodes.Const, nodes.Name, nodes.Concat, nodes.CondExpr, nodes.Compare,
    nodes.Operand, nodes.And, nodes.Or, nodes.Not, nodes.If, nodes.Keyword,
)  # fmt: skip


class _NotSet(Exception):
    """An environment variable that a profile names is not set."""


def profiles_file(folder: Path, profiles_dir: str = "") -> Path:
    """The profiles.yml that dbt would read: the given folder, DBT_PROFILES_DIR, the project's folder, ~/.dbt.

    Raises:
        UsageError: there is none.
    """
    if profiles_dir:
        places = [folder / expanded(profiles_dir)]
    elif os.environ.get("DBT_PROFILES_DIR"):
        places = [expanded(os.environ["DBT_PROFILES_DIR"])]
    else:
        places = [folder, Path.home() / ".dbt"]
    for place in places:
        if is_file(place / "profiles.yml"):
            return place / "profiles.yml"
    listed = " or ".join(str(place) for place in places)
    raise UsageError(f"There is no profiles.yml in {listed}; DBT_PROFILES_DIR names its folder.")


def load_profile(name: str, folder: Path, *, target: str = "", profiles_dir: str = "") -> str:
    """What `engines.connect` takes for a dbt profile; it may hold a password, so it is never printed or kept.

    Args:
        name: the profile. folder: the project's folder, which relative paths of DuckDB files start from.
        target: one of its outputs; empty = DBT_TARGET, or the profile's own target, or `default`.
        profiles_dir: where profiles.yml is; empty = where dbt looks for it.

    Raises:
        UsageError: no such file, profile or target, a variable that is not set, or a database of another kind.
    """
    file = profiles_file(folder, profiles_dir)
    root = load_nodes(file)
    profiles = _mapping(root, file, "profiles.yml")
    if name not in profiles:
        raise UsageError(f"{file}: there is no profile {name!r}.{closest(name, profiles)}")
    profile = _mapping(profiles[name], file, f"profile {name!r}")
    outputs = _mapping(profile.get("outputs"), file, f"'outputs' of profile {name!r}")
    own = _rendered(profile["target"], "target") if "target" in profile else "default"
    chosen = target or os.environ.get("DBT_TARGET", "") or own
    if chosen not in outputs:
        raise UsageError(f"{file}: profile {name!r} has no target {chosen!r}.{closest(chosen, outputs)}")
    return _database(_mapping(outputs[chosen], file, f"target {chosen!r}"), file, folder)


def _mapping(node: Node | None, file: Path, what: str) -> Mapping[str, Node]:
    if node is None:
        raise UsageError(f"{file}: {what} is empty.")
    return {str(key.value): value for key, value in node.pairs(what)}


def _database(output: Mapping[str, Node], file: Path, folder: Path) -> str:
    from sqlaudit.policy.connections import conninfo

    kind = _rendered(output["type"], "type") if "type" in output else ""
    if kind == "duckdb":
        path = _rendered(output["path"], "path") if "path" in output else ":memory:"
        if path == ":memory:" or path.startswith("md:"):
            raise UsageError(f"{file}: this target keeps its tables in {path!r}, where nobody else can read them.")
        return str(folder / expanded(path))
    if kind != "postgres":
        raise UsageError(
            f"{file}: this target is of type {kind!r}; sqlaudit connects to duckdb and postgres. For another warehouse "
            "its dbt tests run inside dbt."
        )
    given: dict[str, Any] = {}
    for parameter, keys in _POSTGRES.items():
        node = next((output[key] for key in keys if key in output), None)
        if node is not None and node.value is not None:
            given[parameter] = _rendered(node, parameter)
    return conninfo(given)


def _rendered(node: Node, what: str) -> str:
    """A value with its env_var() filled in; messages name the variable, never a value."""
    written = node.text(what)
    if "{{" not in written and "{%" not in written:
        return written
    try:
        made = _environment()
        _check(made.parse(written))
        return made.from_string(written).render()
    except _NotSet as missing:
        raise node.fail(f"{what}: the environment variable {missing} is not set.") from None
    except (TemplateError, TypeError, ValueError, RecursionError):  # no message: it may hold a value
        raise node.fail(f"{what} holds an expression that is more than env_var(); it can't be read here.") from None


def _check(tree: nodes.Template) -> None:
    """Nothing when an expression ends soon: no loop, no macro, no arithmetic that makes a text without end.

    Raises:
        TemplateError: it holds more than variables, texts, choices and filters that change a text.
    """
    for node in tree.find_all(nodes.Node):
        known = isinstance(node, _PLAIN)
        if isinstance(node, nodes.Filter):
            known = node.name in _FILTERS
        if isinstance(node, nodes.Call):
            known = isinstance(node.node, nodes.Name) and node.node.name == "env_var"
        if not known:
            raise TemplateError


def _environment() -> SandboxedEnvironment:
    made = SandboxedEnvironment(undefined=StrictUndefined)
    made.globals = {"env_var": _env_var}
    made.filters |= dict.fromkeys(_DBT_FILTERS, str)
    return made


def _env_var(name: str, default: str | None = None) -> str:
    value = os.environ.get(name, default)
    if value is None:
        raise _NotSet(name)
    return value
