"""Connections from dbt's profiles.yml: the file where dbt looks for it, env_var() filled in, one target chosen."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from jinja2 import StrictUndefined, TemplateError, nodes
from jinja2.sandbox import SandboxedEnvironment

from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import closest
from sqlaudit.base.nodes import Node, load_nodes
from sqlaudit.base.paths import expanded, is_file

_POSTGRES = {
    "host": ("host",),
    "port": ("port",),
    "user": ("user",),
    "password": ("password", "pass"),
    "dbname": ("dbname", "database"),
    "sslmode": ("sslmode",),
    "sslrootcert": ("sslrootcert",),
    "sslcert": ("sslcert",),
    "sslkey": ("sslkey",),
    "connect_timeout": ("connect_timeout",),
}
_ALLOWED = (
    nodes.Output,
    nodes.TemplateData,
    nodes.Call,
    nodes.Name,
    nodes.Const,
    nodes.Filter,
    nodes.Concat,
    nodes.Keyword,
    nodes.CondExpr,
    nodes.Compare,
    nodes.Operand,
    nodes.And,
    nodes.Or,
    nodes.Not,
    nodes.If,
)
"""The pieces of a template that is no more than env_var() with choices, filters and `~`; without loops it soon ends."""
_DBT_FILTERS = ("as_number", "as_bool", "as_native", "as_text")
_FILTERS = {*_DBT_FILTERS, "int", "float", "string", "lower", "upper", "trim", "default", "d"}


@dataclass(frozen=True)
class _File:
    """A profiles.yml, and what errors call it: what the environment says of its place is not told."""

    path: Path
    called: str


@dataclass(frozen=True)
class _Value:
    """A text with its variables filled in, and whether there were any."""

    text: str
    secret: bool = False

    @property
    def shown(self) -> str:
        """The value in a sentence."""
        return "what an environment variable says" if self.secret else repr(self.text)


def profiles_file(folder: Path, profiles_dir: str = "") -> _File:
    """The profiles.yml that dbt would read: the given folder, DBT_PROFILES_DIR, the project's folder, ~/.dbt.

    Raises:
        UsageError: there is none.
    """
    if profiles_dir:
        places = [_File(folder / expanded(profiles_dir), str(folder / profiles_dir))]
    elif os.environ.get("DBT_PROFILES_DIR"):
        places = [_File(expanded(os.environ["DBT_PROFILES_DIR"]), "$DBT_PROFILES_DIR")]
    else:
        places = [_File(folder, str(folder)), _File(expanded("~/.dbt"), "~/.dbt")]
    for place in places:
        if is_file(place.path / "profiles.yml"):
            return _File(place.path / "profiles.yml", str(Path(place.called, "profiles.yml")))
    listed = " or ".join(place.called for place in places)
    raise UsageError(f"There is no profiles.yml in {listed}; DBT_PROFILES_DIR names its folder.")


def load_profile(name: str, folder: Path, *, target: str = "", profiles_dir: str = "") -> tuple[str, bool]:
    """What `engines.connect` takes for a dbt profile, and whether any of it but the password came from the environment.

    Args:
        name: the profile. folder: the project's folder, which relative paths of DuckDB files start from.
        target: one of its outputs; empty = DBT_TARGET, or the profile's own target, or `default`.
        profiles_dir: where profiles.yml is; empty = where dbt looks for it.

    Raises:
        UsageError: no such file, profile or target, a variable that is not set, or a database of another kind.
    """
    file = profiles_file(folder, profiles_dir)
    profiles = _mapping(load_nodes(file.path, file.called), file.called, "profiles.yml")
    if name not in profiles:
        raise UsageError(f"{file.called}: there is no profile {name!r}.{closest(name, profiles)}")
    profile = _mapping(profiles[name], file.called, f"profile {name!r}")
    outputs = _mapping(profile.get("outputs"), file.called, f"'outputs' of profile {name!r}")
    chosen = _target(target, profile)
    if chosen.text not in outputs:
        hint = "" if chosen.secret else closest(chosen.text, outputs)
        raise UsageError(f"{file.called}: profile {name!r} has no target {chosen.shown}.{hint}")
    output = _mapping(outputs[chosen.text], file.called, f"target {chosen.shown}")
    return _database(output, file.called, folder)


def _target(given: str, profile: Mapping[str, Node]) -> _Value:
    own = _rendered(profile["target"], "target") if "target" in profile else _Value("default")
    if given:
        return _Value(given)
    return _Value(os.environ["DBT_TARGET"], True) if os.environ.get("DBT_TARGET") else own


def _mapping(node: Node | None, file: str, what: str) -> Mapping[str, Node]:
    if node is None:
        raise UsageError(f"{file}: {what} is empty.")
    return {str(key.value): value for key, value in node.pairs(what)}


def _database(output: Mapping[str, Node], file: str, folder: Path) -> tuple[str, bool]:
    from sqlaudit.gates.connections import conninfo

    kind = _rendered(output["type"], "type") if "type" in output else _Value("")
    if kind.text == "duckdb":
        path = _rendered(output["path"], "path") if "path" in output else _Value(":memory:")
        if path.text == ":memory:" or path.text.startswith("md:"):
            raise UsageError(f"{file}: this target keeps its tables in {path.shown}, where nobody else can read them.")
        return str(folder / expanded(path.text)), path.secret or path.text.startswith("~")
    if kind.text != "postgres":
        raise UsageError(
            f"{file}: this target is of type {kind.shown}; sqlaudit connects to duckdb and postgres. For another "
            "warehouse its dbt tests run inside dbt."
        )
    given: dict[str, _Value] = {}
    for parameter, keys in _POSTGRES.items():
        node = next((output[key] for key in keys if key in output), None)
        if node is not None and node.value is not None:
            given[parameter] = _rendered(node, parameter)
    secret = any(value.secret for parameter, value in given.items() if parameter != "password")
    return conninfo({parameter: value.text for parameter, value in given.items()}), secret


def _rendered(node: Node, what: str) -> _Value:
    """A value with its env_var() filled in; messages name the variable, never a value.

    Nothing but env_var() of names that stand there is taken: a name that is computed could be the value of another
    variable, and the sentence about a missing one would show it.
    """
    written = node.text(what)
    if "{{" not in written and "{%" not in written:
        return _Value(written)
    environment = _environment()
    try:
        names = _variables(environment.parse(written))
        missing = [name for name, has_default in names if not has_default and name not in os.environ]
        if missing:
            raise node.fail(f"{what}: the environment variable {missing[0]} is not set.")
        return _Value(environment.from_string(written).render(), bool(names))
    except (TemplateError, RecursionError, _More):
        raise node.fail(f"{what} holds an expression that is more than env_var(); it can't be read here.") from None


class _More(Exception):
    """A template holds more than env_var()."""


def _variables(template: nodes.Template) -> list[tuple[str, bool]]:
    """The variables of a template, and whether each has a default.

    Raises:
        _More: it does something else.
    """
    if any(not isinstance(node, _ALLOWED) for node in _all_of(template)):
        raise _More
    if any(used.name not in _FILTERS for used in template.find_all(nodes.Filter)):
        raise _More
    found = []
    for call in template.find_all(nodes.Call):
        plain = isinstance(call.node, nodes.Name) and call.node.name == "env_var"
        arguments = [argument.value for argument in call.args if isinstance(argument, nodes.Const)]
        fits = len(arguments) == len(call.args) in (1, 2) and all(isinstance(value, str) for value in arguments)
        if not (plain and fits) or call.kwargs or call.dyn_args or call.dyn_kwargs:
            raise _More
        found.append((arguments[0], len(arguments) == 2))
    return found


def _all_of(node: nodes.Node) -> Iterator[nodes.Node]:
    for child in node.iter_child_nodes():
        yield child
        yield from _all_of(child)


def _environment() -> SandboxedEnvironment:
    made = SandboxedEnvironment(undefined=StrictUndefined)
    made.globals = {"env_var": lambda name, default="": os.environ.get(name, default)}
    made.filters |= dict.fromkeys(_DBT_FILTERS, str)
    return made
