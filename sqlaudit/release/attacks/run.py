"""All attacks on one release, in order: the scene is set once, then every attack is tried or says what it lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlaudit.audits.joined import refuse_joined
from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import closest
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.spec import Roles, Target
from sqlaudit.base.words import about
from sqlaudit.classes.attribute_inputs import inputs_of, refuse_unclear
from sqlaudit.classes.found import ClassSizes
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.classes.inputs import read_inputs
from sqlaudit.classes.opening import ResolvedRoles, frame_of, key_labels, load_columns, resolve_roles, sensitive_table
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.provenance import provenance
from sqlaudit.release.attacks.background import BackgroundKnowledge
from sqlaudit.release.attacks.base import Attack, AttackedAttribute, CannotTry, Scene
from sqlaudit.release.attacks.complementary import ComplementaryReleases
from sqlaudit.release.attacks.homogeneity import Homogeneity
from sqlaudit.release.attacks.linkage import AttributeLinkage, Linkage
from sqlaudit.release.attacks.minimality import Minimality
from sqlaudit.release.attacks.request import AttackRequest
from sqlaudit.release.attacks.result import AttackResult, Exposure, NotTried
from sqlaudit.release.attacks.similarity import Similarity
from sqlaudit.release.attacks.skewness import Skewness
from sqlaudit.release.attacks.unsorted import UnsortedMatching

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
    bench = workbench or (engine if engine.own_workbench else None)
    scene, sizes = _scene(engine, target, roles, request, bench, rows_meant)
    exposures: list[Exposure] = []
    not_tried: list[NotTried] = []
    for kind in chosen(request.only):
        attack = kind()
        reason = attack.lacks(scene)
        if reason:
            not_tried.append(NotTried(attack.name, attack.title, reason))
            continue
        try:
            exposures += attack.run(scene)
        except CannotTry as why:
            not_tried.append(NotTried(attack.name, attack.title, str(why)))
    return AttackResult(
        target=target.name,
        rows=scene.rows,
        classes=None if scene.overlapping else sum(n for _, n in sizes),
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
    known: dict[str, type[Attack]] = {}
    for kind in ATTACKS:
        known |= {one.name: one for one in (kind, _PARTS.get(kind, kind))}
    wanted = [name.strip().replace("-", "_") for name in names]
    for name in wanted:
        if name not in known:
            raise UsageError(f"There is no attack {name!r}.{closest(name, known)} There are: {', '.join(known)}.")
    contained = {part.name for whole, part in _PARTS.items() if not wanted or whole.name in wanted}
    return tuple(kind for name, kind in known.items() if (name in wanted or not wanted) and name not in contained)


def plan_attacks(engine: Engine, target: Target, roles: Roles) -> list[Statement]:
    """The first statements, as far as they are known before any has run, for `--dry-run`: the classes of the release.

    Raises:
        UsageError: a column that is not there.
    """
    relation = engine.open(target)
    resolved = resolve_roles(roles, relation, engine.dialect)
    statements = []
    for attribute in resolved.sensitive or (None,):
        builder = HistogramBuilder(engine, frame_of(relation, resolved, attribute, roles), roles.nulls)
        statements += builder.plan(attribute.sql if attribute else None)
    return statements


def _scene(
    engine: Engine, target: Target, roles: Roles, request: AttackRequest, workbench: Engine | None, rows_meant: bool
) -> tuple[Scene, Sequence[tuple[int, int]]]:
    """The scene, and (size, classes) of the release."""
    if not roles.quasi_identifiers:
        raise UsageError(
            f"Name the quasi-identifiers of the release with {about('qi')}: what others may know about a person."
        )
    relation = engine.open(target)
    resolved = resolve_roles(roles, relation, engine.dialect)
    inputs = read_inputs(request.inputs)
    refuse_unclear(inputs, [attribute.label for attribute in resolved.sensitive])
    identified = engine.open(request.identified) if request.identified else None
    other = engine.open(request.other) if request.other else None
    copied, where = load_columns(engine, relation, resolved)
    sizes = _sizes(engine, copied, where, roles)
    found = tuple(sorted((int(row["size"]), int(row["classes"])) for row in sizes))
    if not rows_meant:
        refuse_joined(engine, target, relation, resolved, roles, ClassSizes(found))
    attributes = [
        _attribute(engine, copied, where, roles, one, position, inputs)
        for position, one in enumerate(where.sensitive, 1)
    ]
    rows = sum(int(row["table_rows"]) for row in sizes)
    scene = Scene(engine, relation, resolved, roles, request, attributes, rows, identified, other, workbench)
    return scene, found


def _sizes(engine: Engine, relation: Relation, where: ResolvedRoles, roles: Roles) -> list[dict[str, Any]]:
    builder = HistogramBuilder(engine, frame_of(relation, where, None, roles), roles.nulls)
    sensitive_table(builder, None)  # refuses rows without an entity
    return builder.build(None, None).figures((), (), ())


def _attribute(
    engine: Engine,
    relation: Relation,
    where: ResolvedRoles,
    roles: Roles,
    attribute: Resolved,
    part: int,
    inputs: Mapping[str, Any],
) -> AttackedAttribute:
    frame = frame_of(relation, where, attribute, roles)
    builder = HistogramBuilder(engine, frame, roles.nulls, part)
    table, _ = sensitive_table(builder, attribute)
    if table is None:
        raise AssertionError("a sensitive attribute has a table")
    return AttackedAttribute(
        attribute,
        table,
        builder.build(attribute.sql, table),
        builder,
        inputs_of(inputs, attribute.label, table),
        key_labels(where, attribute, frame),
    )
