"""All attacks on one release, in order: it is opened once, then every attack is tried or says what it lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlaudit.audits.joined_tables import refuse_joined
from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import closest
from sqlaudit.base.options import WHOLE, Given, made, request_from, takes
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.spec import ReadOptions, Roles, Target, roles_from, target_of
from sqlaudit.base.sql import render
from sqlaudit.classes.attribute_inputs import inputs_of
from sqlaudit.classes.failing import ClassSizes
from sqlaudit.classes.inputs import load_inputs, read_inputs
from sqlaudit.classes.opening import key_labels, open_table, sensitive_table
from sqlaudit.engines import opened
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.engines.workbench import workbench_of
from sqlaudit.hierarchies.read import Hierarchies, read_hierarchies
from sqlaudit.models.registry import requirements
from sqlaudit.release.attacks.base import Attack, AttackedAttribute, AttackedRelease, CannotTry
from sqlaudit.release.attacks.linkage import AttributeLinkage, Linkage
from sqlaudit.release.attacks.minimality import Minimality
from sqlaudit.release.attacks.releases import ComplementaryReleases, UnsortedMatching
from sqlaudit.release.attacks.request import AttackRequest, KnownSearch, Pair
from sqlaudit.release.attacks.result import AttackResult, Exposure, NotTried
from sqlaudit.release.attacks.values import BackgroundKnowledge, Homogeneity, Similarity, Skewness

ATTACKS: tuple[type[Attack], ...] = (
    Linkage,
    Homogeneity,
    BackgroundKnowledge,
    Skewness,
    Similarity,
    UnsortedMatching,
    ComplementaryReleases,
    Minimality,
)
"""Every attack, in the order of reports."""
_PARTS: dict[type[Attack], type[Attack]] = {Linkage: AttributeLinkage}
"""What an attack finds besides, under a name of its own, so that it can be asked for alone."""


def attack_release(
    engine: Engine,
    target: Target,
    roles: Roles,
    request: AttackRequest,
    workbench: Engine | None = None,
    rows_meant: bool = False,
) -> AttackResult:
    """Try every attack that has what it needs.

    Args:
        engine: an open engine that knows the release and the attacker's tables.
        target: the release. roles: its quasi-identifiers and sensitive attributes. request: what the attacker holds.
        workbench: where labels of hierarchies are kept; None = the engine itself, if it can keep relations.
        rows_meant: whether each row is known to be a person's, so that no join of two tables is looked for.

    Raises:
        UsageError: a column that is not there, or an input that does not fit.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd
        >>> from sqlaudit.engines import connect
        >>> release = pd.DataFrame({"zip": ["130**"] * 2 + ["148**"] * 2, "disease": ["flu", "flu", "flu", "cold"]})
        >>> with connect() as engine:
        ...     found = attack_release(engine, Target(frame=release), Roles(("zip",), ("disease",)), AttackRequest())
        >>> found.exposure("homogeneity").exposed
        2
    """
    already = len(engine.executed)
    release, sizes = _open_release(
        engine, target, roles, request, workbench or (engine if engine.own_workbench else None), rows_meant
    )
    exposures: list[Exposure] = []
    not_tried: list[NotTried] = []
    for kind in chosen(request.only):
        attack = kind()
        reason = attack.lacks(release)
        if reason:
            not_tried.append(NotTried(attack.name, attack.title, reason))
            continue
        try:
            exposures += attack.run(release)
        except CannotTry as why:
            not_tried.append(NotTried(attack.name, attack.title, str(why)))
    return AttackResult(
        target=target.name,
        rows=release.rows,
        classes=None if release.overlapping else sum(n for _, n in sizes),
        smallest=min((size for size, _ in sizes), default=None),
        quasi_identifiers=roles.quasi_identifiers,
        sensitive=roles.sensitive,
        entity=roles.entity,
        nulls=roles.nulls.value,
        k=request.k,
        exposures=tuple(exposures),
        not_tried=tuple(not_tried),
        **provenance(engine, already),
    )


def chosen(names: Sequence[str]) -> tuple[type[Attack], ...]:
    """The attacks of these names, in the order of reports; all when there are none.

    Raises:
        UsageError: there is no such attack; the sentence names the closest.
    """
    attacks_by_name: dict[str, type[Attack]] = {}
    for kind in ATTACKS:
        attacks_by_name |= {attack.name: attack for attack in (kind, _PARTS.get(kind, kind))}
    wanted_names = [name.strip().replace("-", "_") for name in names]
    for name in wanted_names:
        if name not in attacks_by_name:
            raise UsageError(
                f"There is no attack {name!r}.{closest(name, attacks_by_name)} There are: {', '.join(attacks_by_name)}."
            )
    contained = {part.name for attack, part in _PARTS.items() if not wanted_names or attack.name in wanted_names}
    return tuple(
        kind
        for name, kind in attacks_by_name.items()
        if (name in wanted_names or not wanted_names) and name not in contained
    )


def plan_attacks(engine: Engine, target: Target, roles: Roles) -> list[Statement]:
    """The first statements, as far as they are known before any has run, for `--dry-run`: the classes of the release.

    Raises:
        UsageError: a column that is not there.
    """
    table = open_table(engine, target, roles)
    statements = []
    for attribute in table.roles.sensitive or (None,):
        statements += table.histogram_builder(attribute).plan(attribute.sql if attribute else None)
    return statements


def _open_release(
    engine: Engine, target: Target, roles: Roles, request: AttackRequest, workbench: Engine | None, rows_meant: bool
) -> tuple[AttackedRelease, Sequence[tuple[int, int]]]:
    """The release, and (size, classes) of the release."""
    roles.require_quasi_identifiers()
    table = open_table(engine, target, roles, request.inputs)
    identified = _copied(engine, request.identified, "sqlaudit_identified")
    other = _copied(engine, request.other, "sqlaudit_other")
    table = table.copied()
    table.refuse_spelling_conflicts()
    builder = table.histogram_builder()
    sensitive_table(builder, None)  # refuses rows without an entity
    sizes = builder.build(None, None).figures((), (), ())
    sizes_and_classes = tuple(sorted((int(row["size"]), int(row["classes"])) for row in sizes))
    if not rows_meant:
        refuse_joined(engine, target, table.published, table.published_roles, roles, ClassSizes(sizes_and_classes))
    attributes = []
    for position, attribute in enumerate(table.roles.sensitive, 1):
        builder = table.histogram_builder(attribute, position)
        values, _ = sensitive_table(builder, attribute)
        if values is None:
            raise AssertionError("a sensitive attribute has a table")
        histogram = builder.build(attribute.sql, values)
        inputs = inputs_of(table.inputs, attribute.label, values, roles.values)
        labels = key_labels(table.roles, attribute, builder.frame)
        attributes.append(AttackedAttribute(attribute, values, histogram, builder, inputs, labels))
    rows = sum(int(row["table_rows"]) for row in sizes)
    published = (table.published, table.published_roles)
    release = AttackedRelease(engine, *published, roles, request, attributes, rows, identified, other, workbench)
    return release, sizes_and_classes


def _copied(engine: Engine, target: Target | None, name: str) -> Relation | None:
    """Open another table, copied where every reading would parse it again.

    Two tables of one open connection cannot be read in one statement, and are joined here.
    """
    relation = None if target is None else engine.open(target)
    if relation is None or not relation.parsed or not engine.can_materialize:
        return relation
    statement = render("classes/copy_table.sql", engine.dialect, step="read the columns", source=relation)
    return replace(relation, sql=engine.materialize(name, statement).sql, parsed=False)


Name = str | Pair
"""A column, as `zip`, as `zip=plz` where the other table calls it otherwise, or as a pair of both names."""


@takes(
    "target * qi sensitive identified match key other_release other_qi position categories hierarchies require node k "
    "pieces sure width only entity joint nulls values show_values top seed db query where read buckets limits roles",
    *(AttackRequest, Roles),
    categories=("Mapping[str, Any] | str | Path | None", None),
    hierarchies=("Hierarchies | Mapping[str, Any] | str | Path | None", None),
    node=("Sequence[int] | None", None),
    sure=("int | str | float | Fraction", "0.9"),
)
def attack(given: Given) -> AttackResult:
    """Try attacks on a release and tell how many persons each exposes, and how surely (`sqlaudit attack`).

    Args:
        target: the release: a table, view, file path or glob, or a pandas, polars or Arrow table; None with `query`.
        match: the columns to link by, as `zip`, `zip=plz` or a pair; empty = all quasi-identifiers.
        other_qi: quasi-identifiers of the other release; empty = those of this one that it has.
        position: a column that numbers the rows in both releases, where rows have no order.
        categories: categories of sensitive values: a file, or a mapping as `sqlaudit.classes.inputs.read_inputs` takes
            it.
        hierarchies: hierarchies of the quasi-identifiers, to read their labels in cells: a file, folder or mapping.
        require, node: the requirements and levels of the search that made the release, for the minimality attack (None
            = levels found from the cells).
        pieces: the largest number of values that an attacker rules out.
        only: the attacks to try, by name; empty = all.
        show_values, top: whether to show classes and values, and how many per attack.

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
    options = made(ReadOptions, given.read, "read")
    roles = roles_from(vars(given))
    required = requirements(given.require)
    values = {
        **vars(given),
        "identified": _table(given.identified, options, "the identified table"),
        "other_release": _table(given.other_release, options, "the other release"),
        "categories": inputs_from(given.categories),
        "hierarchies": hierarchies_from(given.hierarchies, roles),
    }
    if given.node is not None and not required:
        raise UsageError(f"{spelled('node')} needs the requirement of the search: name it with {spelled('require')}.")
    node = None if given.node is None else tuple(WHOLE.read("node", level) for level in given.node)
    published = KnownSearch(required, node) if required else None
    request = request_from(AttackRequest, values, published=published)
    chosen = target_of(given)
    with opened(given.db, given.limits, chosen, *request.targets) as engine:
        return attacked(engine, chosen, roles, request)


def attacked(engine: Engine, target: Target, roles: Roles, request: AttackRequest) -> AttackResult:
    """`attack_release` with a workbench beside the engine where one is needed."""
    if request.published is None:
        return attack_release(engine, target, roles, request)
    with workbench_of(engine) as workbench:
        return attack_release(engine, target, roles, request, workbench)


def inputs_from(categories: Mapping[str, Any] | str | Path | None) -> Mapping[str, Any]:
    """Categories as inputs of sensitive attributes."""
    if categories is None:
        return {}
    return read_inputs(categories) if isinstance(categories, Mapping) else load_inputs(categories)


def hierarchies_from(
    hierarchies: Hierarchies | Mapping[str, Any] | str | Path | None, roles: Roles
) -> Mapping[str, Any]:
    """The hierarchies of the quasi-identifiers, by column; without those that say nothing."""
    if hierarchies is None:
        return {}
    found_hierarchies = read_hierarchies(hierarchies).for_columns(roles.quasi_identifiers)
    return {hierarchy.column: hierarchy for hierarchy in found_hierarchies}


def _table(table: Any, read: ReadOptions, label: str) -> Target | None:
    if table is None or isinstance(table, Target):
        return table
    if isinstance(table, str) or hasattr(table, "__fspath__"):
        return Target(relation=str(table), read=read)
    return Target(frame=table, read=read, label=label)
