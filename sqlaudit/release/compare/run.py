"""A comparison from the request to the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from sqlaudit.audits.auditor import Auditor
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.columns_of import Resolved, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import REQUIRED, Given, request_from, takes
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.spec import AuditSpec, Roles, Target, make_target
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.attribute_inputs import refuse_unclear
from sqlaudit.classes.inputs import read_inputs
from sqlaudit.engines import opened
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.engines.workbench import workbench_of
from sqlaudit.hierarchies.dictionary import held, values_statement
from sqlaudit.hierarchies.read import read_hierarchies
from sqlaudit.models.measures import Measure, chosen
from sqlaudit.models.registry import requirements
from sqlaudit.release.attacks.request import AttackRequest
from sqlaudit.release.attacks.result import AttackResult
from sqlaudit.release.attacks.run import attack_release
from sqlaudit.release.compare.coding import (
    CodedPair,
    Covered,
    Distance,
    PairedAttribute,
    code_rows,
    distance_of,
    measured_cells,
    read_columns,
    read_cover,
    read_sensitive,
)
from sqlaudit.release.compare.pairing import Bench, Pairing, Side, alike, copied, find_pairing, open_side
from sqlaudit.release.compare.queries import QueriedTables, random_workload
from sqlaudit.release.compare.query_text import read_queries
from sqlaudit.release.compare.regions import (
    GeneralizationCheck,
    GeneralizationFound,
    Regions,
    assigned,
    find_classes,
    find_regions,
)
from sqlaudit.release.compare.request import CompareRequest
from sqlaudit.release.compare.result import Answer, Coarser, CompareResult, Generalization, Loss, Recoding, Workload
from sqlaudit.release.losses import LossScene, column_costs, column_losses, in_order, view_losses, views_of
from sqlaudit.reports.document import plural

# Is the release coarser than another release of the same original? (Thesis, Definition 2.3.4 between two releases)
#
# One is coarser when the cell of every row stands for all values that the other one's cell stands for. Where rows are
# paired, every row that both have is looked at. Without pairs it can be told where both recoded globally: every value
# then has one cell in each, whatever row it is in.

_STEP = "beside the other release"
_LOCAL = "a value has several cells, so that it takes to know which rows belong together; give"


@dataclass(frozen=True)
class ReadRelease:
    """One release as it was read: its cells and classes, how it was recoded and how it pairs with the original."""

    side: Side
    coded: CodedPair
    covered: Sequence[Covered]
    classes: Relation
    recoding: Recoding
    pairing: Pairing


def coarser(bench: Bench, release: ReadRelease, other: ReadRelease, name: str) -> Coarser:
    """Which of two releases is coarser, with counts of what is not.

    Args:
        bench: where both are kept. name: what the other release is called.
    """
    if release.pairing.by != "containment":
        beside = _of_pairs(bench, release, other)
    elif Recoding.LOCAL in (release.recoding, other.recoding):
        return Coarser(name, "undecided", f"{_LOCAL} {spelled('key')} or {spelled('by_position', True)}.")
    else:
        beside = _of_values(bench, release, other)
    orders = [
        bench.make(
            f"order_{place}",
            "release/compare/release_cell_order.sql",
            _STEP,
            beside=beside,
            place=place,
            cover=own.cover,
            other_cover=them.cover,
        )
        for place, (own, them) in enumerate(zip(release.covered, other.covered, strict=True), 1)
    ]
    rows = bench.ask("release/compare/release_coarser.sql", _STEP, beside=beside, orders=orders)[0]
    return _said(name, *(int(count or 0) for count in rows))


def _of_pairs(bench: Bench, release: ReadRelease, other: ReadRelease) -> Relation:
    """Rows that both releases have, by their cells in both."""
    keys = [
        {"own": Raw(own), "other": Raw(them)}
        for own, them in zip(release.pairing.release_keys, other.pairing.release_keys, strict=True)
    ]
    columns = [
        {"own": Raw(own.sql), "other": Raw(them.sql)}
        for own, them in zip(release.side.columns, other.side.columns, strict=True)
    ]
    statement = render(
        "release/compare/release_beside.sql",
        bench.engine.dialect,
        step=_STEP,
        keys=keys,
        columns=columns,
        release=Raw(release.side.relation.sql),
        other=Raw(other.side.relation.sql),
    )
    types = [(f"{part}{place}", "VARCHAR") for place in range(1, len(columns) + 1) for part in "gh"]
    seen = bench.count("beside_seen", statement, [*types, ("n", "BIGINT")])
    cells = [
        {"own": own.column.cells, "other": them.column.cells}
        for own, them in zip(release.covered, other.covered, strict=True)
    ]
    return bench.make("beside", "release/compare/release_beside_coded.sql", _STEP, seen=seen, cells=cells)


def _of_values(bench: Bench, release: ReadRelease, other: ReadRelease) -> Relation:
    """Original rows by the cells that their values have in both releases."""
    places = [one.column.place for one in release.covered]
    covers = [
        {"place": one.column.place, "own": one.cover, "other": them.cover}
        for one, them in zip(release.covered, other.covered, strict=True)
    ]
    return bench.make(
        "beside",
        "release/compare/release_beside_values.sql",
        _STEP,
        source=release.coded.original,
        places=places,
        covers=covers,
        classes=release.classes,
        other_classes=other.classes,
    )


def _said(name: str, compared: int, not_coarser: int, not_finer: int) -> Coarser:
    if not compared:
        return Coarser(name, "undecided", "no row can be compared.")
    counts = (compared, not_coarser, not_finer)
    if not not_coarser and not not_finer:
        same = plural(compared, "row that was compared has", "rows that were compared have")
        return Coarser(name, "equal", f"{same} cells of the same values in both.", *counts)
    if not not_coarser:
        other = plural(not_finer, "row is", "rows are")
        return Coarser(name, "coarser", f"every row is as coarse or coarser, {other} coarser.", *counts)
    if not not_finer:
        other = plural(not_coarser, "row is", "rows are")
        return Coarser(name, "finer", f"every row is as fine or finer, {other} finer.", *counts)
    finer = plural(not_coarser, "row has", "rows have")
    reason = f"{finer} a cell that is not coarser, {plural(not_finer, 'row')} one that is not finer."
    return Coarser(name, "neither", reason, *counts)


ON_RELEASE = ("homogeneity", "background_knowledge", "skewness", "similarity")
"""Attacks that need nothing but the release."""


def compare_tables(engine: Engine, request: CompareRequest) -> CompareResult:
    """Everything that the request asks for.

    Raises:
        UsageError: columns, cells, keys or inputs that do not fit.
        EngineError: the database refused, failed or went away.
    """
    if request.release.buckets is not None:
        return compare_buckets(engine, request)
    already = len(engine.executed)
    measures = chosen(request.measures)
    with workbench_of(engine) as workbench, closing(Bench(engine, workbench)) as bench:
        result = _Comparison(bench, request, measures).result()
        return replace(result, **provenance(engine, already, workbench))


def plan_comparison(engine: Engine, request: CompareRequest) -> list[Statement]:
    """The statements known before any has run: the values of the original, the cells of the release, and its audit.

    Raises:
        UsageError: a column that is not there, or a hierarchy that does not fit.
    """
    if request.release.buckets is not None:
        return plan_buckets(engine, request)
    original, release = (open_side(engine, target, request) for target in (request.original, request.release))
    hierarchies = read_hierarchies(request.hierarchies or {}).for_columns(request.qi)
    dialect, statements = engine.dialect, []
    for own, other, hierarchy in zip(original.columns, release.columns, hierarchies, strict=True):
        holds = held(engine, original.relation, own)
        statements.append(
            values_statement(original.relation, own, hierarchy, holds, dialect, with_value=engine.own_workbench)
        )
        statements.append(
            render(
                "release/compare/release_texts.sql",
                dialect,
                step=f"cells of {own.label}",
                source=Raw(release.relation.sql),
                column=Raw(other.sql),
            )
        )
    return statements + Auditor(engine).plan(_audit_of(request))


def _audit_of(request: CompareRequest) -> AuditSpec:
    roles = Roles(request.qi, request.sensitive, values=request.values)
    return AuditSpec(request.release, roles, request.requirements, request.inputs)


@dataclass(frozen=True)
class _OpenedTables:
    """Both tables on the workbench, with what their cells stand for."""

    side: Side
    by: Pairing
    classes: Relation
    coded: CodedPair
    covered: tuple[Covered, ...]
    regions: Regions | None
    found: GeneralizationFound
    pairs: Relation | None
    pairing: str


def open_tables(
    bench: Bench, request: CompareRequest, original: Side, release: Side, pairing: Pairing
) -> _OpenedTables:
    """Reads both tables: values, cells, rows, regions, and which rows belong together."""
    hierarchies = read_hierarchies(request.hierarchies or {}).for_columns(request.qi)
    columns = read_columns(bench, original, release, hierarchies)
    covers = [read_cover(bench, column) for column in columns]
    coded = code_rows(bench, pairing, original, release, columns, read_sensitive(bench, original, release))
    covered = measured_cells(bench, coded, covers)
    tuples, classes = find_classes(bench, coded, covered)
    regions = find_regions(bench, coded, covered, tuples, classes)
    found = GeneralizationCheck(bench, coded, covered, classes, regions).found()
    read = (release, pairing, classes, coded, covered, regions, found)
    if coded.paired:
        return _OpenedTables(*read, coded.original, pairing.by)
    fits = found.generalization.answer is not Answer.NO
    pairs = assigned(bench, coded, covered, regions) if regions is not None and fits else None
    return _OpenedTables(*read, pairs, "none" if pairs is None else "containment")


def _read(opened: _OpenedTables) -> ReadRelease:
    recoding = opened.found.generalization.recoding
    return ReadRelease(opened.side, opened.coded, opened.covered, opened.classes, recoding, opened.by)


@dataclass(frozen=True)
class _Comparison:
    """One comparison over one pair of engine and workbench."""

    bench: Bench
    request: CompareRequest
    measures: Sequence[Measure]

    def result(self) -> CompareResult:
        """What was found."""
        bench, request = self.bench, self.request
        queries = read_queries(request.queries, bench.engine.dialect)
        original, release = (open_side(bench.engine, target, request) for target in (request.original, request.release))
        original, release = copied(bench, original, "original"), copied(bench, release, "release")
        original, release = alike(original, release)
        pairing = find_pairing(bench, request, original, release)
        opened = open_tables(bench, request, original, release, pairing)
        beside = None if request.other is None else self._beside(request.other, original, opened)
        asked = QueriedTables(
            bench,
            opened.coded,
            opened.covered,
            opened.regions,
            original,
            release,
            request.show_values,
            request.distance,
            read_inputs(request.inputs),
        )
        known = opened.coded.released <= opened.coded.rows  # a join of two tables has more rows than the original
        return CompareResult(
            original=request.original.name,
            release=request.release.name,
            rows=opened.coded.rows,
            released=opened.coded.released,
            qi=tuple(one.column.label for one in opened.covered),
            sensitive=tuple(attribute.label for attribute in opened.coded.sensitive),
            pairing=opened.pairing,
            distance=request.distance,
            generalization=opened.found.generalization,
            losses=tuple(self._losses(opened)),
            audit=self._audit(known),
            attacks=None if opened.found.generalization.answer is Answer.NO else self._attacks(known),
            coarser=beside,
            queries=tuple(asked.answer(query) for query in queries),
            workload=self._workload(opened),
        )

    def _beside(self, target: Target, original: Side, opened: _OpenedTables) -> Coarser:
        """The release beside another one of the same original, which is read in the same way."""
        bench = Bench(self.bench.engine, self.bench.workbench, prefix=self.bench.prefix + "other_")
        with closing(bench):
            other = copied(bench, open_side(bench.engine, target, self.request), "release")
            original, other = alike(original, other)
            pairing = find_pairing(bench, self.request, original, other)
            them = open_tables(bench, self.request, original, other, pairing)
            return coarser(bench, _read(opened), _read(them), target.name)

    def _attacks(self, known: bool) -> AttackResult | None:
        """What can be done with the release alone; `sqlaudit attack` takes further tables."""
        request = self.request
        hierarchies = {one.column: one for one in read_hierarchies(request.hierarchies or {}).for_columns(request.qi)}
        asked = AttackRequest(inputs=request.inputs, hierarchies=hierarchies, seed=request.seed, only=ON_RELEASE)
        roles = Roles(request.qi, request.sensitive, values=request.values)
        return attack_release(self.bench.engine, request.release, roles, asked, rows_meant=known)

    def _audit(self, known: bool) -> AuditResult:
        """The release by itself."""
        auditor = Auditor(self.bench.engine, failing_classes=0, rows_meant=known)
        return auditor.audit(_audit_of(self.request))

    def _workload(self, opened: _OpenedTables) -> Workload | None:
        number, seed = self.request.workload, self.request.seed
        if not number or not opened.coded.rows:
            return None
        return random_workload(self.bench, opened.coded, opened.covered, opened.regions, number, seed)

    def _losses(self, opened: _OpenedTables) -> list[Loss]:
        found = [*self._of_cells(opened), *self._of_classes(opened)]
        attributes = [attribute.label for attribute in opened.coded.sensitive]
        return in_order(found, self.measures, attributes, [one.column.label for one in opened.covered])

    def _of_cells(self, opened: _OpenedTables) -> Iterator[Loss]:
        if not any(measure.by == "cells" for measure in self.measures):
            return
        changed = opened.found.changed_values
        costs = [
            column_costs(self.bench, opened.coded, one, self.request.beta, other)
            for one, other in zip(opened.covered, changed, strict=True)
        ]
        yield from column_losses(costs, self.measures)

    def _of_classes(self, opened: _OpenedTables) -> Iterator[Loss]:
        wanted = [measure for measure in self.measures if measure.by != "cells"]
        if not wanted:
            return
        coded, bench = opened.coded, self.bench
        scene = LossScene(bench, coded, opened.pairs)
        inputs = read_inputs(self.request.inputs)
        refuse_unclear(inputs, [attribute.label for attribute in coded.sensitive])
        attributes: list[tuple[PairedAttribute | None, Distance | None]] = [
            (attribute, distance_of(bench, attribute, self.request.distance, inputs))
            for attribute in coded.sensitive
            if any(measure.sensitive for measure in wanted)
        ]
        regions = None if opened.regions is None else opened.regions.table
        for view in views_of(bench, opened.covered, regions):
            for place, (attribute, distance) in enumerate(attributes or [(None, None)]):
                asked = [measure for measure in wanted if not place or measure.sensitive]
                queries, seed = self.request.noise_queries, self.request.seed
                yield from view_losses(scene, view, attribute, distance, asked, queries, seed)


@takes(
    "original release * qi sensitive key by_position hierarchies other measures beta distance queries workload "
    "noise_queries seed require inputs show_values values db read buckets limits",
    CompareRequest,
    **dict.fromkeys(("original", "release"), ("Any", REQUIRED)),
    other=("Any", None),
    qi=("Sequence[str] | str", REQUIRED),
    key=("Sequence[str] | str", ()),
)
def compare(given: Given) -> CompareResult:
    """Compare a release with its original (`sqlaudit compare`).

    Args:
        original, release: tables, views, file paths, frames or `Target`s, both in one database or both files or frames.
        key: columns that name a row in both. Without these or `by_position`, counts alone say which rows belong
            together, where they leave no choice.
        by_position: rows correspond by their order.
        hierarchies: a file, a folder or a mapping, as `sqlaudit.hierarchies.read.read_hierarchies` takes it.
        other: another release of the same original; the result says which of the two is coarser.
        measures: names of loss measures, all by default.
        queries: aggregate queries (one text may hold several) that are asked of both tables.
        workload: how many random counting queries.
        noise_queries: how many for the range-query noise.
        require, inputs: as for `sqlaudit.audit`, for the audit of the release.
        show_values: whether answers of grouped queries name their groups.
        buckets: the second table of a bucketized release, as for `sqlaudit.audit`; `release` has the persons.

    Raises:
        UsageError: columns, cells, keys, hierarchies or queries that do not fit.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd, sqlaudit
        >>> people = pd.DataFrame({"age": [31, 38, 52, 57], "disease": list("aabb")})
        >>> public = pd.DataFrame({"age": ["30-39", "30-39", "50-59", "50-59"], "disease": list("aabb")})
        >>> found = sqlaudit.compare(people, public, qi=["age"], sensitive="disease")
        >>> found.generalization.answer.value, found.loss("modification-rate").value, found.loss("entropy").value
        ('yes', Fraction(1, 1), 4.0)
    """
    request = request_from(
        CompareRequest,
        vars(given),
        original=make_target(given.original, read=given.read),
        release=make_target(given.release, read=given.read, buckets=given.buckets),
        other=None if given.other is None else make_target(given.other, read=given.read),
        requirements=requirements(given.require),
        inputs=given.inputs or {},
    )
    with opened(given.db, given.limits, *request.targets) as engine:
        return compare_tables(engine, request)


# A bucketized release beside its original: are its persons those of the original, and each bucket's values theirs?
#
# Nothing is generalized there, so that no cell loses anything: what is lost is who of a bucket has which of its values.
# Rows have to be paired. Without pairs the question is whether there is a table of three dimensions (quasi-identifiers,
# buckets, values) with three given margins, and no count decides that in reasonable time.


class BucketizedResult(CompareResult):
    """What a comparison of a bucketized release found: the same document, without losses and answers to queries."""

    shown_by: ClassVar = "sqlaudit.release.compare.report:bucketized_document"


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
    return Roles((request.release.buckets.column,), request.sensitive, values=request.values)


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
