"""The roles and requirements of a session as the text of a policy."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from sqlaudit.base.errors import UsageError
from sqlaudit.base.paths import exists
from sqlaudit.base.spec import KnownRows, NullPolicy, ReadOptions, Roles, Target
from sqlaudit.cli.console.session import State
from sqlaudit.cli.console.workspace import Workspace
from sqlaudit.gates.connections import holds_password
from sqlaudit.gates.proposal import scalar
from sqlaudit.reports.figures import limit


def policy_text(state: State, target: Target, workspace: Workspace, path: Path, variable: str = "") -> str:
    """A policy with one table.

    Args:
        state: roles and requirements. target: the relation. workspace: where it is. path: where the policy will be.
        variable: the environment variable that holds the database's URL; empty = the URL or file itself is written.

    Raises:
        UsageError: nothing is required, or the URL has a password, which has no place in a policy.
    """
    if not state.requirements:
        raise UsageError("Say with \\require what must hold, for instance \\require k=5; a policy without is no gate.")
    folder = path.absolute().parent
    return "\n".join([*_head(workspace.db, variable, folder), *_table(state, target, workspace, folder)]) + "\n"


def _head(db: str | None, variable: str, folder: Path) -> Iterator[str]:
    yield "# What must hold before this table is published. `sqlaudit test` checks it."
    yield "version: 1"
    yield ""
    if db is None:
        return
    yield "connections:"
    if variable:
        yield f"  main: {{env: {scalar(variable)}}}"
    elif exists(db):
        yield f"  main: {{duckdb: {scalar(_beside(db, folder))}}}"
    elif holds_password(db):
        raise UsageError(
            "A password has no place in a policy: put the whole URL into an environment variable, and name it: "
            "\\save policy.yml CLINIC_URL."
        )
    elif db.startswith("service=") and " " not in db:
        yield f"  main: {{service: {scalar(db.removeprefix('service='))}}}"
    else:
        yield f"  main: {{url: {scalar(db)}}}"
    yield ""


def _table(state: State, target: Target, workspace: Workspace, folder: Path) -> Iterator[str]:
    roles, in_database = state.roles, bool(workspace.db)
    yield "tables:"
    if target.query and not in_database:
        raise UsageError(
            "A policy can name a file and a condition, but no query over files; say \\use SELECT * FROM the file, with "
            "a WHERE if need be, and name expressions in \\qi."
        )
    if target.query:
        yield f"  - query: {scalar(target.query)}"
        yield "    name: console query"
    elif workspace.engine.finds_files and exists(target.relation):
        yield f"  - table: {scalar(str(Path(target.relation).absolute()))}"
    elif in_database and not exists(target.relation):
        yield f"  - table: {scalar(target.relation)}"
    else:
        yield f"  - file: {scalar(_beside(target.relation, folder))}"
    if target.where:
        yield f"    where: {scalar(target.where)}"
    yield from _read(target.read)
    yield from _list("quasi_identifiers", roles.quasi_identifiers)
    yield from _list("sensitive", roles.sensitive)
    yield from _list("identifiers", roles.identifiers)
    if roles.entity:
        yield f"    entity: {scalar(roles.entity)}"
    yield from _judged(roles)
    yield from _list("requirements", [one.text for one in state.requirements])


def _judged(roles: Roles) -> Iterator[str]:
    """How the roles are read, where that was said."""
    if roles.joint:
        yield "    joint: true"
    if roles.nulls is not NullPolicy.EQUAL:
        yield f"    nulls: {roles.nulls.value}"
    if roles.sampling.sampling_fraction is not None:
        yield f"    sampling_fraction: {limit(roles.sampling.sampling_fraction)}"
    if roles.sampling.population_size is not None:
        yield f"    population_size: {roles.sampling.population_size}"
    if roles.sampling.weights is not None:
        yield f"    weights: {scalar(roles.sampling.weights)}"
    if roles.known_rows is not KnownRows.WORSE:
        yield f"    known_rows: {roles.known_rows.value}"


def _read(options: ReadOptions) -> Iterator[str]:
    given = [field.name for field in fields(options) if getattr(options, field.name) != field.default]
    if given:
        yield "    read:"
    for name in given:
        value = getattr(options, name)
        yield f"      {name}: {_option(value)}"


def _option(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(scalar(item) for item in value) + "]"
    return scalar(str(value))


def _list(key: str, items: tuple[str, ...] | list[str]) -> Iterator[str]:
    if items:
        yield f"    {key}:"
        yield from (f"      - {scalar(item)}" for item in items)


def _beside(path: str, folder: Path) -> str:
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # another drive
        return Path(path).absolute().as_posix()
