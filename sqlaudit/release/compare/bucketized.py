"""A bucketized release beside its original: are its persons those of the original, and each bucket's values theirs?

Nothing is generalized there, so that no cell loses anything: what is lost is who of a bucket has which of its values.
Rows have to be paired. Without pairs the question is whether there is a table of three dimensions (quasi-identifiers,
buckets, values) with three given margins, and no count decides that in reasonable time.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, ClassVar

from sqlaudit.audits.auditor import Auditor
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.columns_of import Resolved, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.spec import AuditSpec, Roles
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import about, spelled
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.provenance import provenance
from sqlaudit.engines.workbench import workbench_of
from sqlaudit.release.attacks.request import AttackRequest
from sqlaudit.release.attacks.run import attack_release
from sqlaudit.release.compare.bench import Bench
from sqlaudit.release.compare.pairing import Side, alike, find_pairing, open_side
from sqlaudit.release.compare.request import CompareRequest
from sqlaudit.release.compare.result import Answer, CompareResult, Generalization, Recoding
from sqlaudit.release.compare.run import ON_RELEASE
from sqlaudit.reports.figures import plural


class BucketizedResult(CompareResult):
    """What a comparison of a bucketized release found: the same document, without losses and answers to queries."""

    shown_by: ClassVar = "sqlaudit.release.compare.bucketized_report:bucketized_document"


def compare_buckets(engine: Engine, request: CompareRequest) -> BucketizedResult:
    """Everything that can be said of a bucketized release beside its original.

    Raises:
        UsageError: columns or keys that do not fit, tables that are not of one release, or something asked for that
            such a release does not answer.
        EngineError: the database refused, failed or went away.
    """
    already = len(engine.executed)
    _refuse_others(request)
    with workbench_of(engine) as workbench:
        original, persons, values = _sides(engine, request)
        pairing = find_pairing(Bench(engine, workbench), request, original, persons)
        found = engine.run(_statement(engine, request, original, persons, values))[0]
        missing, foreign, moved, *surplus = (int(number) for number in found)
        changed = dict(zip((one.label for one in values.sensitive), surplus, strict=True))
        audit = Auditor(engine, failing_classes=0).audit(audit_of_buckets(request))
        judged = _judged(missing, foreign, moved, changed)
        result = _result(engine, request, pairing.by, judged, audit)
        return replace(result, **provenance(engine, already, workbench))


def plan_buckets(engine: Engine, request: CompareRequest) -> list[Statement]:
    """The statements known before any has run: the comparison and the audit of the buckets.

    Raises:
        UsageError: as `compare_buckets`.
    """
    _refuse_others(request)
    return [_statement(engine, request, *_sides(engine, request)), *Auditor(engine).plan(audit_of_buckets(request))]


def audit_of_buckets(request: CompareRequest) -> AuditSpec:
    """The audit of the release: its class is the bucket."""
    return AuditSpec(request.release, _roles(request), request.requirements, request.inputs)


def _roles(request: CompareRequest) -> Roles:
    assert request.release.buckets is not None
    return Roles((request.release.buckets.column,), request.sensitive)


def _refuse_others(request: CompareRequest) -> None:
    if not request.sensitive:
        raise UsageError(f"Name the columns whose values lie in buckets with {spelled('sensitive')}.")
    if not request.key and not request.by_position:
        raise UsageError(
            f"Which rows of the original are in a bucket follows from no count; pair them by {spelled('key')} or "
            f"{spelled('by_position', True)}."
        )
    defaults = {one.name: one.default for one in fields(request)}
    for name in ("hierarchies", "queries", "measures", "other", "beta", "distance", "noise_queries", "workload"):
        value: Any = getattr(request, name)
        if value and value != defaults[name]:
            raise UsageError(
                f"{about(name)} is for releases whose cells are coarser; one in buckets keeps them. Leave it out."
            )


def _sides(engine: Engine, request: CompareRequest) -> tuple[Side, Side, Side]:
    """The original, the persons, and the values of buckets; whatever is compared has one type."""
    buckets = request.release.buckets
    assert buckets is not None
    original = open_side(engine, request.original, request)
    alone = replace(request, sensitive=())
    persons = open_side(engine, replace(request.release, buckets=None), alone)
    relation = engine.open(request.release)
    sensitive = tuple(resolve(name, relation, engine.dialect, about("sensitive")) for name in request.sensitive)
    keyed, persons_keyed = alike(
        replace(original, sensitive=original.columns), replace(persons, sensitive=persons.columns)
    )
    own, values = alike(
        replace(original, keys=()),
        Side(relation, relation, (_bucket(engine, relation, buckets.column),), sensitive, ()),
    )
    original = replace(original, columns=keyed.sensitive, keys=keyed.keys, sensitive=own.sensitive)
    persons = replace(persons, columns=persons_keyed.sensitive, keys=persons_keyed.keys)
    return original, persons, values


def _bucket(engine: Engine, relation: Relation, name: str) -> Resolved:
    return resolve(name, relation, engine.dialect, about("bucket_column"))


def _statement(engine: Engine, request: CompareRequest, original: Side, persons: Side, values: Side) -> Statement:
    def raw(columns: tuple[Resolved, ...]) -> list[Any]:
        return [Raw(column.sql) for column in columns]

    assert request.release.buckets is not None
    return render(
        "release/compare/bucketized.sql",
        engine.dialect,
        step="persons and buckets beside the original",
        original=Raw(original.relation.sql),
        persons=Raw(persons.relation.sql),
        values=Raw(values.relation.sql),
        original_keys=raw(original.keys),
        original_columns=raw(original.columns),
        original_sensitive=raw(original.sensitive),
        release_keys=raw(persons.keys),
        release_columns=raw(persons.columns),
        release_sensitive=raw(values.sensitive),
        bucket=Raw(values.columns[0].sql),
        bucket_of_persons=Raw(_bucket(engine, persons.relation, request.release.buckets.column).sql),
    )


def _judged(missing: int, foreign: int, moved: int, changed: dict[str, int]) -> Generalization:
    """Whether it is a release of that table."""
    wrong = [
        (foreign, f"{plural(foreign, 'person has', 'persons have')} no original row"),
        (moved, f"{plural(moved, 'person has', 'persons have')} another quasi-identifier than the original"),
        *((n, f"{plural(n, 'value')} of {name} in a bucket whose persons lack it") for name, n in changed.items()),
    ]
    said = "; ".join(sentence for number, sentence in wrong if number)
    answer = Answer.NO if said else Answer.YES
    reason = f"{said}." if said else "every bucket holds the values of its persons, and theirs alone."
    return Generalization(answer, reason, (), moved, 0, changed, foreign, missing, 0, Recoding.NONE)


def _result(
    engine: Engine, request: CompareRequest, pairing: str, judged: Generalization, audit: AuditResult
) -> BucketizedResult:
    attacks = None
    if judged.answer is Answer.YES:
        asked = AttackRequest(inputs=request.inputs, seed=request.seed, only=ON_RELEASE)
        attacks = attack_release(engine, request.release, _roles(request), asked)
    return BucketizedResult(
        original=request.original.name,
        release=request.release.name,
        rows=audit.rows - judged.foreign + judged.missing,
        released=audit.rows,
        qi=request.qi,
        sensitive=request.sensitive,
        pairing=pairing,
        distance=request.distance,
        generalization=judged,
        losses=(),
        audit=audit,
        attacks=attacks,
    )
