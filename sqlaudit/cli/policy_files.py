"""What a policy makes of a table: the file of `lattice -f` and `cube -f`, and what it may replace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
from click.core import ParameterSource

from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import exists
from sqlaudit.cli.requests import YAML, OptionGroup, files_in_yaml

if TYPE_CHECKING:
    from sqlaudit.base.addresses import Whereabouts
    from sqlaudit.gates.result import CubeLimit, ReleaseLimit

    M = TypeVar("M", bound=ReleaseLimit | CubeLimit)


def refuse_options(group: OptionGroup, what: str) -> None:
    """Raise UsageError if the command line has options of a group beside a policy, which says all of them."""
    context = click.get_current_context()
    given = [
        parameter.opts[-1] if isinstance(parameter, click.Option) else "TARGET"
        for parameter in group.parameters
        if context.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
    ]
    if given:
        raise UsageError(f"-f makes the {what} as the policy describes it. Leave out {', '.join(given)}.")


def made_by_policy(file: Path, select: str, kind: type[M], what: str, *, force: bool) -> tuple[M, Whereabouts | None]:
    """Return what a policy makes of a table, and the database.

    Args:
        file: the policy. select: the table; empty = the only one. kind, what: of the file, and its section.
        force: whether an existing file is replaced.

    Raises:
        UsageError: a mistake in the policy, no such section, or a file that may not be written.
    """
    from sqlaudit.engines.writing import files_read, refuse_overwriting
    from sqlaudit.gates.api import find_made
    from sqlaudit.gates.connections import database_of
    from sqlaudit.gates.reading import load_policy

    policy = load_policy(file)
    table, made = find_made(policy, [select], kind, what)
    db = database_of(policy.connections[table.connection]) if table.connection else None
    if made.file is not None:
        # An entry that tests this file as a table may name it, and --force replaces it
        keys, originals = ("to", "file"), [entry.target for entry in policy.tables if entry.target and entry.made]
        yaml_files = [path for path in (file, *files_in_yaml(file, but=keys)) if path.suffix.lower() in YAML]
        named = [path for yaml_file in yaml_files for path in (yaml_file, *files_in_yaml(yaml_file, but=keys))]
        folder = made.request.hierarchies and made.request.hierarchies.folder
        named += folder.glob("*.csv") if folder is not None else ()
        refuse_overwriting([made.file], [*named, *files_read(db, made.request.targets), *files_read(None, originals)])
        only_shown = any(click.get_current_context().params.get(name) for name in ("dry_run", "explain"))
        if exists(made.file) and not force and not only_shown:
            raise UsageError(f"{str(made.file)!r} exists. Replace it with --force, or name another file as 'to'.")
    return made, db
