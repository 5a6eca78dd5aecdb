"""What the process of the window computes for the levels of columns, and for a release: the search of its policy."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlaudit.app.tasks import OpenTable, task
from sqlaudit.base.errors import Undecidable, UsageError
from sqlaudit.base.files import only_new_files
from sqlaudit.base.nodes import composed
from sqlaudit.base.result import Status
from sqlaudit.gates.api import find_made
from sqlaudit.gates.reading import policy_of
from sqlaudit.gates.release_section import with_destination
from sqlaudit.gates.result import ReleaseLimit
from sqlaudit.gates.saved_policy import policy_text
from sqlaudit.hierarchies.defaults import default_levels, without_levels
from sqlaudit.lattices.explorer import ExploredNode, Explorer
from sqlaudit.lattices.run import find_nodes, open_searched_table, publish, search_and_publish
from sqlaudit.models.registry import parse_requirement
from sqlaudit.profiles.identifying import find_suspects, refuse_suspected
from sqlaudit.profiles.names import contents_of

Policy = Mapping[str, Any]
_DRAWN = 400
"""Combinations that the picture has at most, besides those that no other beats."""
_NOT_MET = "The release does not meet your requirement, so nothing was written. Choose coarser levels."


@dataclass(frozen=True)
class OpenCombinations:
    """The open combinations of levels, with the hierarchies of all columns, and the columns that look like names."""

    explorer: Explorer
    hierarchies: Mapping[str, Any]
    suspects: tuple[str, ...]

    def close(self) -> None:
        self.explorer.close()


def _release_limit(policy: Policy) -> ReleaseLimit:
    """Return the release of a policy, as the file of the project would be read."""
    root = composed(policy_text("", policy), "the project")
    assert root is not None
    return find_made(policy_of(root, "the project"), [], ReleaseLimit, "release")[1]


def _open_combinations(table: OpenTable, policy: Policy) -> OpenCombinations:
    """Return the combinations of levels of a policy; they stay open for the next question on the same policy."""
    key = json.dumps(policy, sort_keys=True)
    if table.memory.get("keys") and key in table.memory["keys"]:
        found: OpenCombinations = table.memory["explored"]
        return found
    if "explored" in table.memory:
        table.memory.pop("explored").close()
        del table.memory["keys"]
    request = replace(_release_limit(policy).request, target=table.target)
    searched = open_searched_table(table.engine, request, planned=True)
    unstated = without_levels(searched.opened.roles.quasi_identifiers, searched.hierarchies)
    defaults = default_levels(table.engine, searched.opened.relation, unstated, contents_of)
    named = zip((column.label for column in unstated), defaults, strict=True)
    release = policy["tables"][0]["release"]
    hierarchies = json.loads(json.dumps({**release.get("hierarchies", {}), **dict(named)}))
    identifiers, unique = find_suspects(table.engine, searched.written(()))
    try:
        explorer = Explorer.open(table.engine, request)
    except Undecidable:
        raise UsageError(
            "These columns have too many combinations of levels to compare. Give fewer columns the role “Others may "
            "know”, or open a project whose columns have fewer levels."
        ) from None
    table.memory["explored"] = OpenCombinations(explorer, hierarchies, (*identifiers, *unique))
    full = {**policy, "tables": [{**policy["tables"][0], "release": {**release, "hierarchies": hierarchies}}]}
    table.memory["keys"] = {key, json.dumps(full, sort_keys=True)}
    return _open_combinations(table, policy)


def _figures_of(node: ExploredNode) -> dict[str, Any]:
    return {
        "levels": list(node.levels),
        "left_out": node.rows_left_out,
        "meets": node.meets,
        "loss": node.loss,
        "groups": node.classes,
        "smallest": node.smallest,
        "smallest_left": node.smallest_left,
    }


@task
def explore(table: OpenTable, policy: Policy) -> Mapping[str, Any]:
    """Return the levels of each column, and what the combinations of levels lose and leave out.

    Args:
        policy: of the project, without chosen levels.
    """
    found = _open_combinations(table, policy)
    explorer = found.explorer
    nodes = explorer.nodes()
    drawn = [node for node in nodes if node.loss is not None][:: max(1, len(nodes) // _DRAWN)]
    return {
        "rows": explorer.rows,
        "limit_rows": explorer.limit_rows,
        "combinations": len(nodes),
        "columns": [
            {
                "name": column.name,
                "levels": list(column.levels),
                "called": [column.called(level) for level in range(column.height + 1)],
                "examples": [column.example(level) for level in range(column.height + 1)],
                "groups": list(column.groups),
            }
            for column in explorer.columns
        ],
        "finest": _figures_of(explorer.node((0,) * len(explorer.columns))),
        "coarsest": _figures_of(explorer.node(tuple(column.height for column in explorer.columns))),
        "frontier": [_figures_of(node) for node in explorer.frontier()],
        "dots": [[node.loss, node.rows_left_out, node.meets] for node in drawn],
        "proposals": [{"name": named.name, **_figures_of(named.node)} for named in explorer.proposals()],
        "hierarchies": found.hierarchies,
        "suspects": list(found.suspects),
    }


@task
def combination(table: OpenTable, policy: Policy, levels: Mapping[str, str]) -> Mapping[str, Any]:
    """Return what one combination of levels loses and leaves out; `levels` has a name for each column."""
    return _figures_of(_open_combinations(table, policy).explorer.node(levels))


@task
def labels(table: OpenTable, policy: Policy, column: str, level: str) -> Mapping[str, Any]:
    """Return the first labels of a level, which a person has asked for, and their number."""
    found = _open_combinations(table, policy).explorer.labels(column, level)
    return {"labels": list(found.labels), "groups": found.groups}


@task
def release(table: OpenTable, policy: Policy, reveals: bool) -> Mapping[str, Any]:
    """Return the audit of a release that is not written; `reveals` to add how many rows reveal what is kept secret."""
    limit = _release_limit(policy)
    request = replace(with_destination(limit, None), target=table.target)
    if reveals:
        known = replace(parse_requirement("l=2"), severity="warn")
        request = replace(request, requirements=(*request.requirements, known))
    searched = open_searched_table(table.engine, request)
    refuse_suspected(table.engine, searched.written(request.publication.keep))
    result = find_nodes(table.engine, request, searched=searched)
    best = result.best
    if best is None:
        return {"meets": False}
    published = publish(request, searched, result)
    audit = published.audit
    if audit is None or audit.status not in (Status.PASS, Status.WARN):
        return {"meets": False}
    revealing = [check for check in audit.checks if check.text == "l=2" and reveals and check.failing_rows]
    return {
        "meets": True,
        "rows": audit.rows,
        "left_out": audit.suppressed,
        "groups": audit.classes,
        "smallest": best.smallest_left if best.failing_rows else best.smallest,
        "columns": list(published.columns),
        "keys": list(published.keys),
        "revealing": [[check.sensitive, check.failing_rows] for check in revealing],
        "checks": [[check.text, check.sensitive or ""] for check in audit.checks if check.status is Status.PASS],
    }


@task
def write(table: OpenTable, policy: Policy, file: str, report: str) -> Mapping[str, Any]:
    """Write a release, by the road of `sqlaudit lattice -f`, and return its rows.

    Args:
        file: a new file. report: another one for its page, empty = none.

    Raises:
        UsageError: there is such a file, or the release does not meet the requirements.
    """
    if not release(table, policy, False)["meets"]:
        raise UsageError(_NOT_MET)
    path = Path(file)
    request = replace(with_destination(_release_limit(policy), path), target=table.target)
    with only_new_files(), contextlib.ExitStack() as undone:
        result = search_and_publish(table.engine, request)
        undone.callback(path.unlink, missing_ok=True)
        audit = result.published and result.published.audit
        if not audit or audit.status not in (Status.PASS, Status.WARN):
            raise UsageError(_NOT_MET)
        table.check_unchanged()
        if report:
            result.save(report)
        undone.pop_all()
    return {"rows": audit.rows}
