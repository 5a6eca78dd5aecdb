"""The policy of a release that a search has made (`sqlaudit lattice --save`), by which `-f` makes the same again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import yaml

from sqlaudit.base.files import is_folder
from sqlaudit.base.names import in_quotes, untyped
from sqlaudit.base.nodes import Node, load_nodes
from sqlaudit.base.options import options_of
from sqlaudit.engines.contract import Engine
from sqlaudit.gates.nodes import children
from sqlaudit.gates.release_section import OF_FILES, RELEASE
from sqlaudit.hierarchies.defaults import default_levels, without_levels
from sqlaudit.lattices.request import LatticeRequest
from sqlaudit.lattices.run import open_searched_table
from sqlaudit.profiles.names import contents_of
from sqlaudit.reports.document import limit as exact

_HEAD = """\
# A release, and what it must meet: `sqlaudit lattice -f` makes it; `sqlaudit test -f` makes it again, and compares.
# Hierarchies stand here as they were typed, with the names of groups and values. Keep this file as private as those.
"""


def saved_policy(
    place: Mapping[str, object],
    connection: tuple[str, str] | None,
    files: Mapping[str, str],
    request: LatticeRequest,
    hierarchies: Mapping[str, object],
    levels: Mapping[str, str],
) -> str:
    """Return the text of a policy that makes the release of a search again, at the same levels.

    Args:
        place: the keys that say where the table is. connection: of the policy, as (kind, value); None for files.
        files: `inputs` of the table and `to` of the release, as a policy in its folder names them; empty = none.
        request: the search. hierarchies: of every column. levels: of each column that takes part, by its name.
    """
    publication = request.publication
    release = {
        "hierarchies": hierarchies,
        "levels": levels,
        "suppress": f"{exact(100 * request.suppression)}%" if request.suppression else "",
        **{name: value for name, value in _stated(publication).items() if name in OF_FILES},
        "keep_column": plain_nodes(publication.keep, as_column=True),
        "to": files["to"],
    }
    table = {
        **place,
        "where": request.target.where,
        "read": _stated(request.target.read),
        **_stated(request.roles, columns=True),
        **_stated(request.roles.sampling, columns=True),
        "inputs": files["inputs"],
        "requirements": [requirement.text for requirement in request.requirements],
        RELEASE: {key: value for key, value in release.items() if value},
    }
    tables = {"tables": [{key: value for key, value in table.items() if value}]}
    connections = {"connections": {"main": {connection[0]: connection[1]}}} if connection else {}
    return policy_text(_HEAD, {"version": 1, **connections, **tables})


def policy_text(head: str, policy: Mapping[str, object]) -> str:
    """Return the text of a policy's file, with a comment at its head."""
    return head + yaml.dump(
        policy, Dumper=_Writer, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100
    )


class _Writer(yaml.SafeDumper):
    """The writer of policies: a name with a line break stands on one line, with an escape."""

    def represent_str(self, data: str) -> yaml.ScalarNode:
        """Return the node of a text."""
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=None if data.isprintable() else '"')


_Writer.add_representer(str, _Writer.represent_str)


def _stated(options: Any, *, columns: bool = False) -> dict[str, object]:
    """Return the options that are not as they are by default, as a policy writes them; `columns` if they name these."""
    values = {name: (getattr(options, name), option.default) for name, option in options_of(type(options))}
    return {name: plain_nodes(value, as_column=columns) for name, (value, usual) in values.items() if value != usual}


def plain_nodes(value: object, *, as_column: bool = False) -> Any:
    """Return a value of an option, or a node of a file, as YAML writes it."""
    if isinstance(value, Node):
        pairs: Any = value.value or ()
        return (
            {plain_nodes(key): plain_nodes(child) for key, child in pairs}
            if value.is_mapping
            else plain_nodes(value.value)
        )
    if isinstance(value, list | tuple):
        return [plain_nodes(item, as_column=as_column) for item in value]
    if as_column and isinstance(value, str) and value != value.strip():
        return in_quotes(value)  # a policy takes the blanks around a name away
    return str(value) if isinstance(value, str | Fraction) else value


def hierarchies_in_full(engine: Engine, request: LatticeRequest, folder: Path) -> dict[str, object]:
    """Return the hierarchy of every quasi-identifier as a file of hierarchies has it, default ones too.

    Args:
        engine: has the table. request: the search; its hierarchies are a file, a folder, or nothing.
        folder: what paths in the answer are relative to.

    Raises:
        UsageError: as `open_searched_table`.
    """
    searched = open_searched_table(engine, request, planned=True)
    columns = searched.opened.roles.quasi_identifiers
    unstated = without_levels(columns, searched.hierarchies)
    defaults = default_levels(engine, searched.opened.relation, unstated, contents_of)
    hierarchies = dict(zip((column.label for column in unstated), defaults, strict=True))
    source = request.hierarchies
    nodes = {} if not source or is_folder(source) else children(children(load_nodes(source))["hierarchies"])
    for hierarchy in searched.hierarchies:
        if hierarchy.column not in hierarchies:
            names = (name for name in nodes if untyped(name).casefold() == untyped(hierarchy.column).casefold())
            name = hierarchy.column if hierarchy.column in nodes else next(names, "")
            written = plain_nodes(nodes[name]) if name else {"csv": hierarchy.place}
            if isinstance(written, dict) and "csv" in written:
                path = Path(source).parent / written["csv"] if name else Path(hierarchy.place)
                written["csv"] = Path(os.path.relpath(path, folder)).as_posix()
            hierarchies[hierarchy.column] = written
    return hierarchies
