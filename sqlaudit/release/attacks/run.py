"""All attacks on one release, in order: it is opened once, then every attack is tried or says what it lacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlaudit.audits.joined_tables import refuse_joined
from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import closest
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.spec import Target
from sqlaudit.base.sql import render
from sqlaudit.classes.attribute_inputs import inputs_of
from sqlaudit.classes.failing import ClassSizes
from sqlaudit.classes.opening import key_labels, open_table, sensitive_table
from sqlaudit.engines.command import command
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.engines.workbench import workbench_of
from sqlaudit.release.attacks.base import Attack, AttackedAttribute, AttackedRelease, CannotTry
from sqlaudit.release.attacks.linkage import AttributeLinkage, Linkage
from sqlaudit.release.attacks.minimality import Minimality
from sqlaudit.release.attacks.releases import ComplementaryReleases, UnsortedMatching
from sqlaudit.release.attacks.request import AttackRequest, Pair
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
    engine: Engine, request: AttackRequest, workbench: Engine | None = None, rows_meant: bool = False
) -> AttackResult:
    """Try every attack that has what it needs.

    Args:
        engine: an open engine that knows the release and the attacker's tables.
        request: the release, its roles, and what the attacker has.
        workbench: where labels of hierarchies are kept; None = the engine itself, if it can keep relations.
        rows_meant: whether each row is known to be a person's, so that no join of two tables is looked for.

    Raises:
        UsageError: a column that is not there, or an input that does not fit.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd
        >>> from sqlaudit.base.spec import Roles
        >>> from sqlaudit.engines import connect
        >>> release = pd.DataFrame({"zip": ["130**"] * 2 + ["148**"] * 2, "disease": ["flu", "flu", "flu", "cold"]})
        >>> request = AttackRequest(Target(frame=release), Roles(("zip",), ("disease",)))
        >>> with connect() as engine:
        ...     found = attack_release(engine, request)
        >>> found.exposure("homogeneity").exposed
        2
    """
    already, roles = len(engine.executed), request.roles
    release, sizes = _open_release(engine, request, workbench or (engine if engine.own_workbench else None), rows_meant)
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
        target=request.target.name,
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
                f"There is no attack {name!r}.{closest(name, attacks_by_name)} Available: {', '.join(attacks_by_name)}."
            )
    contained = {part.name for attack, part in _PARTS.items() if not wanted_names or attack.name in wanted_names}
    return tuple(
        kind
        for name, kind in attacks_by_name.items()
        if (name in wanted_names or not wanted_names) and name not in contained
    )


def plan_attacks(engine: Engine, request: AttackRequest) -> list[Statement]:
    """Return the statements that are known before any has run, for `--dry-run`: those of the classes of the release.

    Raises:
        UsageError: a column that is not there.
    """
    table = open_table(engine, request.target, request.roles)
    statements = []
    for attribute in table.roles.sensitive or (None,):
        statements += table.histogram_builder(attribute).plan(attribute.sql if attribute else None)
    return statements


def _open_release(
    engine: Engine, request: AttackRequest, workbench: Engine | None, rows_meant: bool
) -> tuple[AttackedRelease, Sequence[tuple[int, int]]]:
    """Return the opened release, and (size, classes) of it."""
    target, roles = request.target, request.roles
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
    release = AttackedRelease(engine, *published, request, attributes, rows, identified, other, workbench)
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


@command(AttackRequest, plan_attacks, check=lambda request, _: chosen(request.only))
def attack(engine: Engine, request: AttackRequest) -> AttackResult:
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
    if request.published is None:
        return attack_release(engine, request)
    with workbench_of(engine) as workbench:
        return attack_release(engine, request, workbench)
