"""The document of the window, which is a policy, and its versions, which undo and redo walk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import expanded, is_folder
from sqlaudit.base.names import in_quotes, untyped
from sqlaudit.base.nodes import Node, load_nodes
from sqlaudit.base.options import options_of
from sqlaudit.base.spec import SAMPLED_BY, ReadOptions
from sqlaudit.gates.nodes import children
from sqlaudit.gates.reading import load_policy
from sqlaudit.gates.release_section import RELEASE
from sqlaudit.gates.result import Connection
from sqlaudit.gates.saved_policy import plain_nodes, policy_text

HISTORY = 100
"""Number of steps that can be undone."""
PROJECTS = (".yml", ".yaml")
"""Endings of the file of a project."""
LEFT_OUT = "2%"
"""The share of the rows that may be left out, until a person says another."""


class ColumnRole(StrEnum):
    """What somebody may know of a column; the value is the key of a policy that lists columns of the role."""

    IDENTIFIER = "identifiers"
    KNOWN = "quasi_identifiers"
    SECRET = "sensitive"
    NEITHER = "insensitive"
    WEIGHTS = "weights"
    ENTITY = "entity"


SINGLE = (ColumnRole.WEIGHTS, ColumnRole.ENTITY)
"""Roles that one column has at most; a policy has its name without a list."""
ROLE_WORDS = {
    ColumnRole.IDENTIFIER: "Names a person",
    ColumnRole.KNOWN: "Others may know",
    ColumnRole.SECRET: "Keep secret",
    ColumnRole.NEITHER: "Neither",
    ColumnRole.WEIGHTS: "Weight",
    ColumnRole.ENTITY: "Person id",
}
_HEAD = """\
# A project of `sqlaudit app`, which is a policy: reopen it there, or check it with `sqlaudit test -f`.
# Keep this file as private as the names of columns and groups in it.
"""
_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Project:
    """All decisions of a project, as one version of it has them.

    Args:
        file: the absolute path of the table's file; empty for a table of a database.
        table: the name of that table. connection: its database, without a password; None for a file.
        read: how the file is read. is_read: True when a person has seen it; of Excel, more is proposed before.
        roles: of columns by their names. A column that is not among them is undecided.
        decided: True when the roles are those of a person, proposals that were accepted included.
        sampling: the share of a population that the table is, as the name of an option and its text; empty = it is all.
        requirements: as the command line has them (`k=5`).
        release: the section `release` of the policy: its hierarchies, levels, the share of rows that may be left out.
            Paths in it are absolute; without `to` only the policy is wanted.
    """

    file: str = ""
    table: str = ""
    read: ReadOptions = field(default_factory=ReadOptions)
    is_read: bool = False
    roles: Mapping[str, ColumnRole] = field(default_factory=lambda: _NOTHING)
    decided: bool = False
    sampling: tuple[str, str] = ("", "")
    requirements: tuple[str, ...] = ("k=5",)
    release: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    connection: Connection | None = None

    @property
    def has_table(self) -> bool:
        """Return True if a table was chosen."""
        return bool(self.file or self.table)

    @property
    def stem(self) -> str:
        """The name of the table, as names of files begin with it."""
        return Path(self.file).stem if self.file else self.table.replace('"', "").rpartition(".")[2]

    def search(self, connection: Connection | None) -> dict[str, object]:
        """Return the policy whose combinations of levels are compared: this one without chosen levels."""
        kept = {"hierarchies": self.release["hierarchies"]} if "hierarchies" in self.release else {}
        return replace(self, release={**kept, "suppress": self.left_out}).policy(Path(), connection)

    @property
    def left_out(self) -> str:
        """The share of the rows that may be left out: none where people have several, of which some would stay."""
        return "0%" if self.with_role(ColumnRole.ENTITY) else str(self.release.get("suppress", LEFT_OUT))

    def with_role(self, role: ColumnRole) -> tuple[str, ...]:
        """Return the names of the columns of a role."""
        return tuple(column for column, of_column in self.roles.items() if of_column is role)

    def limit(self, model: str) -> int | None:
        """Return the whole number that a requirement such as `k=5` sets for a model; None without such."""
        limits = [text.partition("=")[2] for text in self.requirements if text.partition("=")[0] == model]
        return int(limits[0]) if limits and limits[0].isdecimal() else None

    def with_limit(self, model: str, limit: int | None) -> Project:
        """Return the project with another limit of a model; None = it is not required."""
        others = tuple(text for text in self.requirements if text.partition("=")[0] != model)
        return replace(self, requirements=(*others, f"{model}={limit}") if limit else others)

    def policy(self, folder: Path, connection: Connection | None) -> dict[str, object]:
        """Return the policy that a file in a folder has.

        Args:
            folder: what paths are relative to. connection: the database of the table; None for a file.
        """
        usual = ReadOptions()
        read = {name: getattr(self.read, name) for name, _ in options_of(ReadOptions)}
        stated = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in read.items()
            if value != getattr(usual, name)
        }
        roles: dict[str, object] = {}
        for role in ColumnRole:
            names = [exact_name(column) for column in self.with_role(role)]
            roles[role] = (names or [""])[0] if role in SINGLE else names
        roles[ColumnRole.KNOWN] = roles[ColumnRole.KNOWN] or []
        table: dict[str, Any] = {
            **({"file": _relative(Path(self.file), folder)} if self.file else {"table": self.table}),
            "read": stated,
            **{str(role): names for role, names in roles.items() if names},
            **({self.sampling[0]: self.sampling[1]} if self.sampling[0] else {}),
            "requirements": list(self.requirements),
            RELEASE: _typed(with_paths(self.release, partial(_relative, folder=folder)), exact_name),
        }
        if self.release.get("levels"):
            table[RELEASE].setdefault("to", f"{self.stem}_release.parquet")
        connections = {"connections": {"main": _connection_keys(connection, folder)}} if connection else {}
        return {"version": 1, **connections, "tables": [{key: value for key, value in table.items() if value}]}

    def text(self, folder: Path, connection: Connection | None = None) -> str:
        """Return the policy as the text of a file."""
        return policy_text(_HEAD, self.policy(folder, connection))


def exact_name(column: str) -> str:
    """Return the name of a column as roles take it: in quotes where it might be read as something else."""
    is_plain = column == column.strip() and column.isprintable() and column[:1] not in ('"', "(")
    return column if is_plain else in_quotes(column)


def _connection_keys(connection: Connection, folder: Path) -> dict[str, str]:
    """Return a connection as a policy in a folder writes it; a password is never part of it."""
    value = connection.value
    if connection.kind == "duckdb":
        value = _relative((connection.folder / expanded(value)).absolute(), folder)
    others = ("password_env", "target", "profiles_dir", "namespace")
    stated = {name: getattr(connection, name) for name in others}
    return {connection.kind: value, **{name: text for name, text in stated.items() if text}}


def _relative(path: Path, folder: Path) -> str:
    try:
        return path.relative_to(folder).as_posix()
    except ValueError:
        return path.as_posix()


def with_paths(release: Mapping[str, Any], change: Callable[[Path], str]) -> dict[str, Any]:
    """Return the section of a release with other paths: of its file, and of the CSV files of hierarchies."""
    changed = dict(release)
    if "to" in changed:
        changed["to"] = change(Path(changed["to"]))
    if "hierarchies" in changed:
        changed["hierarchies"] = {
            column: {**levels, "csv": change(Path(levels["csv"]))}
            if isinstance(levels, Mapping) and "csv" in levels
            else levels
            for column, levels in changed["hierarchies"].items()
        }
    return changed


def _typed(release: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    """Return the section of a release with other spellings of the columns that have levels or are kept."""
    changed = dict(release)
    if "levels" in changed:
        changed["levels"] = {change(column): level for column, level in changed["levels"].items()}
    if "keep_column" in changed:
        kept = changed["keep_column"]
        changed["keep_column"] = [change(column) for column in ([kept] if isinstance(kept, str) else kept)]
    return changed


# A project is reopened from its file, which `sqlaudit test` reads as well.

_SHOWN = {"file", "table", "connection", "name", "read", "requirements", RELEASE, *ColumnRole, *SAMPLED_BY}


def is_ours(path: Path) -> bool:
    """Return True if a file begins as a project does, and so has no comments of a person that would get lost."""
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(len(_HEAD)) == _HEAD
    except (OSError, ValueError):
        return False


def read_project(path: Path) -> tuple[Project, Connection | None]:
    """Return the project in the file of a policy, and its connection; None for a file.

    Raises:
        UsageError: it is no policy, has mistakes, or says more than the window shows.
    """
    policy = load_policy(path)
    found = [*policy.mistakes, *(mistake for table in policy.tables for mistake in table.mistakes)]
    tests = [test for table in policy.tables for test in table.tests if test.mistake]
    if found or tests:
        place, sentence = (found[0].place, found[0].message) if found else (tests[0].place, tests[0].mistake)
        raise UsageError(f"{place}: {sentence}")
    if len(policy.tables) != 1:
        raise UsageError(
            f"{path.name} is a policy of {len(policy.tables)} tables, and a project has one. Run it with `sqlaudit "
            f"test -f {path.name}`, or open the file of a table."
        )
    entry, target = policy.tables[0], policy.tables[0].target
    root = load_nodes(path)
    section = children(children(root)["tables"].items("'tables'")[0])
    unknown = [key for key in section if key not in _SHOWN]
    if unknown or "defaults" in children(root) or target is None or target.query or target.where:
        name = unknown[0] if unknown else "defaults"
        raise UsageError(
            f"{path.name} has '{name}', which this window does not show. Run it with `sqlaudit test -f {path.name}`, "
            "or open the file of its table."
        )
    listed = {
        ColumnRole.IDENTIFIER: entry.roles.identifiers,
        ColumnRole.KNOWN: entry.roles.quasi_identifiers,
        ColumnRole.SECRET: entry.roles.sensitive,
        ColumnRole.NEITHER: entry.insensitive,
        ColumnRole.WEIGHTS: filter(None, [entry.roles.sampling.weights]),
        ColumnRole.ENTITY: filter(None, [entry.roles.entity]),
    }
    sampled = [key for key in SAMPLED_BY[:2] if key in section]
    required = plain_nodes(section["requirements"])
    connection = policy.connections.get(entry.connection)
    project = Project(
        file="" if entry.connection else str(Path(target.relation).absolute()),
        table=target.relation if entry.connection else "",
        read=target.read,
        is_read=not entry.connection,
        roles={untyped(name): role for role, names in listed.items() for name in names},
        decided=True,
        sampling=(sampled[0], section[sampled[0]].text(sampled[0])) if sampled else ("", ""),
        requirements=tuple(map(_requirement, required if isinstance(required, list) else [required])),
        release=_read_release(section[RELEASE], path) if RELEASE in section else {},
        connection=connection,
    )
    return project, connection


def _read_release(node: Node, path: Path) -> dict[str, Any]:
    """Return the release of a policy with absolute paths, and with the content of a file of hierarchies.

    Raises:
        UsageError: it says more than the window shows.
    """
    release, folder = plain_nodes(node) or {}, path.absolute().parent
    source = release.get("hierarchies", {})
    shown = ("hierarchies", "levels", "suppress", "keep_column", "to")
    unknown = [key for key in release if key not in shown]
    if unknown or (isinstance(source, str) and is_folder(folder / source)):
        raise UsageError(
            f"{path.name} has a release with '{(*unknown, 'hierarchies')[0]}' as this window does not show it. Run it "
            f"with `sqlaudit lattice -f {path.name}`, or open the file of its table."
        )
    of_levels = folder
    if isinstance(source, str):
        of_levels = (folder / source).parent
        release["hierarchies"] = plain_nodes(children(load_nodes(folder / source))["hierarchies"])
    to = {"to": release.pop("to")} if "to" in release else {}
    absolute = with_paths(release, lambda file: (of_levels / file).as_posix())
    return _typed(absolute | with_paths(to, lambda file: (folder / file).as_posix()), untyped)


def _requirement(written: object) -> str:
    """Return a requirement of a policy as the command line has it: the text itself, or a mapping of one pair."""
    if isinstance(written, Mapping) and len(written) == 1:
        ((model, limit),) = written.items()
        if isinstance(limit, str):
            return f"{model}={limit}"
    if isinstance(written, str):
        return written
    raise UsageError("This policy has a requirement with options of its own. Run it with `sqlaudit test`.")


@dataclass
class Versions:
    """The versions of a project. The last change of the list is not always the version that is shown.

    Args:
        versions: (project, what changed), the oldest first. at: the place of the version that is shown.
        number: counts all steps, undo and redo included, so that a form of an older page is known as such.
    """

    versions: list[tuple[Project, str]]
    at: int = 0
    number: int = 0

    @property
    def project(self) -> Project:
        """The version that is shown."""
        return self.versions[self.at][0]

    @property
    def undoes(self) -> str:
        """What the button Undo takes back; empty = nothing."""
        return self.versions[self.at][1] if self.at else ""

    @property
    def redoes(self) -> str:
        """What the button Redo does again; empty = nothing."""
        return self.versions[self.at + 1][1] if self.at + 1 < len(self.versions) else ""

    def add(self, project: Project, label: str) -> None:
        """Add a version after the one that is shown. What was undone is forgotten, and the oldest of too many."""
        if project == self.project:
            return
        self.versions = [*self.versions[: self.at + 1], (project, label)][-HISTORY - 1 :]
        self.at, self.number = len(self.versions) - 1, self.number + 1

    def move(self, steps: int) -> None:
        """Show an earlier version (-1) or a later one (1), if there is one."""
        at = min(max(self.at + steps, 0), len(self.versions) - 1)
        self.number += at != self.at
        self.at = at


def roles_by_key(roles: Mapping[str, ColumnRole]) -> dict[str, Sequence[str]]:
    """Return the columns of each role by its key, as an audit takes them."""
    return {role: [exact_name(column) for column, of in roles.items() if of is role] for role in ColumnRole}
