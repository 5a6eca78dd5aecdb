"""A policy from a dbt project: roles and requirements under the key `sqlaudit` in the `meta` of its manifest.json."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import InputError, SqlauditError, UsageError
from sqlaudit.base.names import closest
from sqlaudit.base.nodes import Node, load_nodes, nodes_of
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import Roles, Target
from sqlaudit.gates.connections import ProfileTarget, profile_targets, rendered
from sqlaudit.gates.nodes import children, items_of, place_of, text_or_empty
from sqlaudit.gates.reading import linked, table_of
from sqlaudit.gates.result import Connection, Mistake, Place, Policy, TableEntry
from sqlaudit.reports.document import count

KEY = "sqlaudit"
CONNECTION = "dbt"
_KINDS = {"model": "models", "seed": "seeds", "snapshot": "snapshots", "source": "sources"}
_BUILT = ("model", "seed", "snapshot")
_SOURCES = {"model-paths": "models", "seed-paths": "seeds", "snapshot-paths": "snapshots", "macro-paths": "macros"}
"""Folders that dbt makes a manifest of, by the key that names others than these."""
_READ = (".sql", ".yml", ".yaml")
_ROLES = {
    "quasi_identifier": "quasi_identifiers",
    "sensitive": "sensitive",
    "identifier": "identifiers",
    "direct_identifier": "identifiers",
    "entity": "entity",
}


def load_dbt_policy(project: str | Path, target: str = "", *, connects: bool = True) -> Policy:
    """The policy that a dbt project's manifest holds.

    Args:
        project: the project's folder; `dbt parse`, `dbt build` and others write its target/manifest.json.
        target: of the profile; empty = as dbt chooses.
        connects: whether the tables will be read over the profile. Otherwise a profile that cannot be read, and that
            no target was named of, does not matter.

    Raises:
        InputError: no dbt_project.yml or manifest, or one that cannot be read.
        UsageError: no table of the project has requirements, or the manifest was made for another target.
    """
    folder = Path(project)
    profile, target_path, sources = _project(folder)
    file = folder / target_path / "manifest.json"
    manifest = _manifest(file)
    nodes = {**manifest.get("nodes", {}), **manifest.get("sources", {})}
    _refuse_without_table(manifest, file)
    tested = {name: node for name, node in nodes.items() if node.get("resource_type") in _KINDS and _marked(node)}
    if not tested:
        raise UsageError(f"{file}: no model, seed, snapshot or source has {KEY!r} in its meta.")
    mistakes, notes = list[Mistake](), list(_stale(folder, file, sources))
    tables = [_table(name, node, tested, nodes, folder, mistakes) for name, node in tested.items()]
    try:
        targets = profile_targets(profile, folder, target=target)
        notes += _notes_on_target(file, manifest, tested.values(), targets)
        mistakes += [
            _unreached(node, folder, targets[0]) for node in tested.values() if not _is_reached(node, targets[0])
        ]
    except UsageError:
        if connects or target:
            raise
    project_place = Place(str(folder / "dbt_project.yml"))
    connection = Connection(CONNECTION, "dbt_profile", profile, project_place, folder, target=target)
    return Policy(str(file), {CONNECTION: connection}, linked(tables), tuple(mistakes), tuple(notes))


def _project(folder: Path) -> tuple[str, str, list[str]]:
    """The project's profile, the folder that dbt writes into, and those that it reads."""
    file = folder / "dbt_project.yml"
    root = load_nodes(file)
    if root is None:
        raise InputError(f"{file}: is empty.")
    values = {key.value: value for key, value in root.pairs("dbt_project.yml")}
    if "profile" not in values:
        raise UsageError(f"{file}: names no profile.")
    written = rendered(values["target-path"], "target-path") if "target-path" in values else "target"
    read = [
        rendered(named, key)
        for key, usual in _SOURCES.items()
        for named in (values[key].items(key) if key in values else [nodes_of(usual)])
    ]
    return values["profile"].text("profile"), os.environ.get("DBT_TARGET_PATH") or written, read


def _manifest(file: Path) -> Mapping[str, Any]:
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"), parse_float=str)
    except OSError:
        raise InputError(f"{file}: cannot be read. Run `dbt parse` to write it.") from None
    except (ValueError, RecursionError):  # no JSON or UTF-8; nested too deeply
        raise InputError(f"{file}: is not a manifest of dbt. Run `dbt parse` to write it again.") from None
    if not isinstance(manifest, dict) or not isinstance(manifest.get("nodes"), dict):
        raise InputError(f"{file}: is not a manifest of dbt. Run `dbt parse` to write it again.")
    return manifest


def _refuse_without_table(manifest: Mapping[str, Any], file: Path) -> None:
    """Refuse requirements of what has no table: an exposure, a metric, a test.

    Raises:
        UsageError: there are some, which nothing would test.
    """
    kinds = ("nodes", "exposures", "metrics", "semantic_models", "saved_queries")
    for node in (node for kind in kinds for node in (manifest.get(kind) or {}).values()):
        if node.get("resource_type") not in _KINDS and KEY in _meta(node):
            parents = ", ".join(parent.rpartition(".")[2] for parent in _depends_on(node)) or "of its own"
            raise UsageError(
                f"{file}: {node.get('name')} is of type {node.get('resource_type')} and has no table, so the {KEY!r} "
                f"in its meta tests nothing. Put it under the models that are published: {parents}."
            )


def _stale(folder: Path, manifest: Path, sources: Sequence[str]) -> tuple[str, ...]:
    """Yield notes on project files that changed after the manifest was made: it may lack their requirements."""
    written = manifest.stat().st_mtime_ns
    inside = (path for source in sources for path in sorted((folder / source).rglob("*")))
    files = [folder / "dbt_project.yml", *(path for path in inside if path.suffix in _READ and path.is_file())]
    newer = [path for path in files if path.stat().st_mtime_ns > written]
    if not newer:
        return ()
    others = f" and {count(len(newer) - 1)} more" if len(newer) > 1 else ""
    return (
        f"{manifest} is older than {os.path.relpath(newer[0], folder)}{others}: what was changed since is not "
        "tested. `dbt parse` writes it anew.",
    )


def _notes_on_target(
    file: Path, manifest: Mapping[str, Any], tested: Iterable[Mapping[str, object]], targets: Sequence[ProfileTarget]
) -> list[str]:
    """Compare the schemas of a manifest with that of the target; return what could not be compared.

    dbt names a table's schema after the target's when it parses a project, so a manifest made for another target names
    other tables. Only a project's own generate_schema_name may name schemas in another way.

    Raises:
        UsageError: the manifest was made for another target.
    """
    used, *others = targets
    built = [node for node in manifest["nodes"].values() if node.get("resource_type") in _BUILT]
    own_macro = any(
        str(macro.get("name")).endswith("generate_schema_name")
        and macro.get("package_name") not in ("dbt", f"dbt_{manifest.get('metadata', {}).get('adapter_type')}")
        for macro in (manifest.get("macros") or {}).values()
    )
    checked = built if own_macro else [node for node in tested if node in built]
    fitting = [sum(_has_schema_of(node, target, own_macro) for node in checked) for target in targets]
    if fitting[0] == len(checked) or (own_macro and fitting[0] == max(fitting) > 0):
        return []
    odd = next(node for node in checked if not _has_schema_of(node, used, own_macro))
    finding = f"{_name(odd)} is in the schema {odd.get('schema')!r}"
    if own_macro and max(fitting) == 0:
        return [
            f"{finding}. The project names schemas itself, so whether {file} is of target {used.name} was not checked."
        ]
    other = next((other for other, fits in zip(others, fitting[1:], strict=True) if fits == max(fitting) > 0), None)
    made_for = f", as for the target {other.name}" if other else ""
    parse = f"`dbt parse --target {used.name[1:-1]}`" if used.name.startswith("'") else "`dbt parse`"
    raise UsageError(
        f"{file} was not made for the target {used.name}: {finding}{made_for}. Run {parse}, or name another target "
        f"with {spelled('dbt_target')}."
    )


def _has_schema_of(node: Mapping[str, Any], target: ProfileTarget, own_macro: bool) -> bool:
    """True if a table's schema is what dbt makes of the target's and the table's own; a fixed one of a snapshot is."""
    config, schema = node.get("config") or {}, str(node.get("schema")).casefold()
    own_schema, usual = str(config.get("schema") or "").strip(), target.default_schema.casefold()
    fits = [
        str(config.get("target_schema") or "").casefold(),
        f"{usual}_{own_schema}".casefold() if own_schema else usual,
    ]
    return schema in (*fits, usual if own_macro else "")


def _is_reached(node: Mapping[str, object], target: ProfileTarget) -> bool:
    """True if a table is in the database that the target connects to."""
    return not node.get("database") or str(node["database"]).casefold() == target.default_database.casefold()


def _unreached(node: Mapping[str, object], folder: Path, target: ProfileTarget) -> Mistake:
    """Return the mistake about a table in another database."""
    return Mistake(
        _find(folder, node)[1],
        f"{_name(node)} is in the database {node['database']!r}, which the target {target.name} does not connect to. "
        "Test it by a policy with a connection of its own; if the manifest is of another target, run `dbt parse`.",
    )


def _meta(node: Mapping[str, Any]) -> dict[str, object]:
    """The meta of a node or column: newer releases of dbt keep it under config."""
    config = node.get("config") or {}
    return {**(node.get("meta") or {}), **(config.get("meta") or {})}


def _marked(node: Mapping[str, Any]) -> bool:
    columns = (node.get("columns") or {}).values()
    return KEY in _meta(node) or any(KEY in _meta(column) for column in columns)


def _table(
    unique: str,
    node: Mapping[str, Any],
    tested: Mapping[str, Any],
    nodes: Mapping[str, object],
    folder: Path,
    mistakes: list[Mistake],
) -> TableEntry:
    """Read the entry of a model, source, seed or snapshot from its node in the manifest."""
    entry, location = _find(folder, node)
    roles = _roles(node, location, mistakes)
    settings = _located(entry, _meta(node).get(KEY, {}), location)
    if node.get("config", {}).get("materialized") == "ephemeral":
        gone = f"{_name(node)} is ephemeral, so the database has no table to test."
        mistakes.append(Mistake(location, gone))
    owner = _meta(node).get("owner")
    extra = {
        "name": _name(node),
        "database": str(node.get("database") or ""),
        "roles": roles,
        "tags": tuple(node.get("tags") or ()),
        "owner": owner if isinstance(owner, str) else "",
        "description": str(node.get("description") or "").strip().split("\n")[0],
        "derived_from": tuple(_name(tested[parent]) for parent in _parents(unique, tested, nodes)),
    }
    return table_of(settings, _target(node), CONNECTION, folder, extra)


def _name(node: Mapping[str, object]) -> str:
    name = str(node.get("name"))
    if node.get("version") is not None:
        return f"{name}.v{node['version']}"
    return f"{node['source_name']}.{name}" if node.get("resource_type") == "source" else name


def _target(node: Mapping[str, object]) -> Target:
    table = str(node.get("identifier") or node.get("alias") or node.get("name"))
    parts = [part for part in (node.get("schema"), table) if part]
    relation = ".".join('"' + str(part).replace('"', '""') + '"' for part in parts)
    return Target(relation=relation, label=_name(node))


def _roles(node: Mapping[str, Any], location: Place, mistakes: list[Mistake]) -> Roles:
    """The roles that columns have in their own meta: `sqlaudit: sensitive`, or `sqlaudit: {role: sensitive}`."""
    columns_of_role: dict[str, list[str]] = {}
    for name, column in (node.get("columns") or {}).items():
        marked = _meta(column).get(KEY)
        role = marked.get("role") if isinstance(marked, dict) else marked
        if role is None:
            continue
        if role not in _ROLES:
            hint = closest(str(role), _ROLES)
            mistakes.append(Mistake(location, f"{_name(node)}: column {name!r} has no role {role!r}.{hint}"))
            continue
        columns_of_role.setdefault(_ROLES[role], []).append(str(column.get("name") or name))
    entity = columns_of_role.pop("entity", [])
    if len(entity) > 1:
        mistakes.append(Mistake(location, f"{_name(node)}: {' and '.join(entity)} are both the entity. Keep one."))
    names_of_role: dict[str, Any] = {role: tuple(names) for role, names in columns_of_role.items()}
    return Roles(**names_of_role, entity=entity[0] if entity else None)


def _parents(unique: str, tested: Mapping[str, object], nodes: Mapping[str, Any]) -> Iterator[str]:
    """The nearest tested tables that a table is made of, through any number of others."""
    seen: set[str] = set()
    waiting = list(_depends_on(nodes.get(unique)))
    while waiting:
        parent = waiting.pop()
        if parent in seen:
            continue
        seen.add(parent)
        if parent in tested:
            yield parent
        else:
            waiting += _depends_on(nodes.get(parent))


def _depends_on(node: Mapping[str, Any] | None) -> Sequence[str]:
    return ((node or {}).get("depends_on") or {}).get("nodes") or ()


def _find(folder: Path, node: Mapping[str, Any]) -> tuple[Node | None, Place]:
    """A table's own entry in the project's YAML files, and its place: the manifest names the file, not the line.

    Without an entry it is the file alone.
    """
    path = str(node.get("patch_path") or node.get("original_file_path") or "").rpartition("://")[2]
    try:
        root = load_nodes(folder / path) if path.endswith((".yml", ".yaml")) else None
    except SqlauditError:
        root = None
    entries = items_of(children(root).get(_KINDS[node["resource_type"]]))
    if node["resource_type"] == "source":
        sources = (entry for entry in entries if _name_of(entry) == node.get("source_name"))
        entries = [table for source in sources for table in items_of(children(source).get("tables"))]
    entry = next((entry for entry in entries if _name_of(entry) == node.get("name")), None)
    return entry, Place(str(folder / path)) if entry is None else place_of(entry)


def _name_of(entry: Node) -> str:
    return text_or_empty(children(entry).get("name"))


def _located(entry: Node | None, value: object, location: Place) -> Node:
    """The meta as nodes: those of the YAML file with their lines where it says the same, else the manifest's."""
    about, settings = children(entry), {} if value is None else value
    for holder in (about, children(about.get("config"))):
        written = children(holder.get("meta")).get(KEY)
        if written is not None and _says(written, settings):
            return written
    return nodes_of(settings, str(location))


def _says(node: Node, value: object) -> bool:
    """Return True if a node of YAML says what a value of the manifest is."""
    if isinstance(value, dict):
        inside = children(node)
        same_keys = node.is_mapping and len(inside) == len(value)
        return same_keys and all(key in inside and _says(inside[key], child) for key, child in value.items())
    if isinstance(value, list):
        items = items_of(node)
        same_length = isinstance(node.value, list) and not node.is_mapping and len(items) == len(value)
        return same_length and all(map(_says, items, value))
    if isinstance(value, bool):
        return str(node.value).casefold() == str(value).casefold()
    return node.value == (None if value is None else str(value))
