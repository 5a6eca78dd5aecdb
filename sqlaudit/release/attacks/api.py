"""The Python interface to attacks on a release: `sqlaudit.attack`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from sqlaudit.base.annotated import wrong_types_told
from sqlaudit.base.options import made, request_from
from sqlaudit.base.spec import Buckets, Limits, NullPolicy, ReadOptions, Roles, Target, roles_from
from sqlaudit.base.targets import make_target
from sqlaudit.engines import opened
from sqlaudit.engines.contract import Database, Engine
from sqlaudit.engines.workbench import workbench_of
from sqlaudit.hierarchies.read import Hierarchies, read_hierarchies
from sqlaudit.models.requirements import Require, requirements
from sqlaudit.release.attacks.request import AttackRequest, KnownSearch, Pair
from sqlaudit.release.attacks.result import AttackResult
from sqlaudit.release.attacks.run import attack_release

Name = str | Pair
"""A column, as `zip`, as `zip=plz` where the other table calls it otherwise, or as a pair of both names."""


@wrong_types_told
def attack(
    target: Any = None,
    *,
    qi: Sequence[str] = (),
    sensitive: Sequence[str] | str = (),
    identified: Any = None,
    match: Sequence[Name] = (),
    key: Name | None = None,
    other_release: Any = None,
    other_qi: Sequence[str] = (),
    position: Name | None = None,
    categories: Mapping[str, Any] | str | Path | None = None,
    hierarchies: Hierarchies | Mapping[str, Any] | str | Path | None = None,
    require: Require = None,
    node: Sequence[int] | None = None,
    k: int = 5,
    pieces: int = 3,
    sure: int | str | float | Fraction = "0.9",
    width: int | str | float | Fraction | None = None,
    only: Sequence[str] = (),
    entity: str | None = None,
    joint: bool = False,
    nulls: NullPolicy | str = NullPolicy.EQUAL,
    show_values: bool = False,
    top: int = 10,
    seed: int = 0,
    db: Database = None,
    query: str = "",
    where: str = "",
    read: ReadOptions | Mapping[str, Any] | None = None,
    buckets: Buckets | Mapping[str, Any] | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
    roles: Roles | Mapping[str, Any] | None = None,
) -> AttackResult:
    """Try attacks on a release and tell how many persons each exposes, and how surely (`sqlaudit attack`).

    Args:
        target: the release: a table, view, file path or glob, or a pandas, polars or Arrow table; None with `query`.
        qi: its quasi-identifiers. sensitive: its sensitive attributes.
        identified: a table with names; match: the columns to link by (all quasi-identifiers when empty); key: a column
            in both that says who is who in truth.
        other_release: another release of the same table; other_qi: its quasi-identifiers (those of this one that it
            has when empty); position: a column that numbers the rows in both, where rows have no order of their own.
        categories: categories of sensitive values: a file, or a mapping as `sqlaudit.classes.inputs.read_inputs` takes
            it.
        hierarchies: hierarchies of the quasi-identifiers, to read their labels in cells: a file, folder or mapping.
        require, node: the release is a minimal node of a search for these requirements, at these levels (found from
            the cells when None): what follows from that alone.
        k: who hides among fewer counts as found. pieces: the most values that an attacker rules out.
        sure: from which probability on a guess counts as nearly sure. width: values this near count as similar.
        only: the attacks to try, by name; empty = all.
        entity, joint, nulls, db, query, where, read, buckets, limits: as for `sqlaudit.audit`.
        show_values, top: whether classes and values may be shown, and how many for each attack. seed: of shuffles.
        roles: the roles at once, instead of their parameters: a mapping of these, or what `profile(…).roles` proposes.

    Raises:
        UsageError: a column that is not there, or an input that does not fit.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd, sqlaudit
        >>> release = pd.DataFrame({"age": ["3*", "3*", "4*"], "disease": ["flu", "flu", "cold"]})
        >>> voters = pd.DataFrame({"name": ["Ann", "Bob"], "age": [34, 47]})
        >>> found = sqlaudit.attack(release, qi=["age"], sensitive="disease", identified=voters)
        >>> [(one.attack, one.exposed) for one in found.exposures][:3]
        [('linkage', 1), ('linkage_attribute', 2), ('homogeneity', 3)]
    """
    options = made(ReadOptions, read, "read")
    roles = roles_from(locals())
    asked = requirements(require)
    given = {
        **locals(),
        "identified": _table(identified, options, "the identified table"),
        "other_release": _table(other_release, options, "the other release"),
        "categories": inputs_from(categories),
        "hierarchies": hierarchies_from(hierarchies, roles),
    }
    published = KnownSearch(asked, None if node is None else tuple(node)) if asked else None
    request = request_from(AttackRequest, given, published=published)
    chosen = make_target(target, query=query, where=where, read=read, buckets=buckets)
    with opened(db, limits, chosen, *request.targets) as engine:
        return attacked(engine, chosen, roles, request)


def attacked(engine: Engine, target: Target, roles: Roles, request: AttackRequest) -> AttackResult:
    """`attack_release` with a workbench beside the engine where one is needed."""
    if request.published is None:
        return attack_release(engine, target, roles, request)
    with workbench_of(engine) as workbench:
        return attack_release(engine, target, roles, request, workbench)


def inputs_from(categories: Mapping[str, Any] | str | Path | None) -> Mapping[str, Any]:
    """Categories as inputs of sensitive attributes."""
    from sqlaudit.classes.inputs import load_inputs, read_inputs

    if categories is None:
        return {}
    return read_inputs(categories) if isinstance(categories, Mapping) else load_inputs(categories)


def hierarchies_from(given: Hierarchies | Mapping[str, Any] | str | Path | None, roles: Roles) -> Mapping[str, Any]:
    """The hierarchies of the quasi-identifiers, by column; without those that say nothing."""
    if given is None:
        return {}
    found = read_hierarchies(given).for_columns(roles.quasi_identifiers)
    return {one.column: one for one in found}


def _table(given: Any, read: ReadOptions, label: str) -> Target | None:
    if given is None or isinstance(given, Target):
        return given
    if isinstance(given, str) or hasattr(given, "__fspath__"):
        return Target(relation=str(given), read=read)
    return Target(frame=given, read=read, label=label)
