"""A comparison from the request to the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from sqlaudit.audits.auditor import Auditor
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.spec import AuditSpec, Roles, Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.attribute_inputs import refuse_unclear
from sqlaudit.classes.inputs import read_inputs
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.provenance import provenance
from sqlaudit.engines.workbench import workbench_of
from sqlaudit.hierarchies.dictionary import held, values_statement
from sqlaudit.hierarchies.read import read_hierarchies
from sqlaudit.models.measures import Measure, chosen
from sqlaudit.release.attacks.request import AttackRequest
from sqlaudit.release.attacks.result import AttackResult
from sqlaudit.release.attacks.run import attack_release
from sqlaudit.release.compare.bench import Bench
from sqlaudit.release.compare.coarser import ReadRelease, coarser
from sqlaudit.release.compare.coding import CodedPair, PairedAttribute, code_rows, read_columns, read_sensitive
from sqlaudit.release.compare.covers import Covered, measured_cells, read_cover
from sqlaudit.release.compare.distances import Distance, distance_of
from sqlaudit.release.compare.generalization_check import GeneralizationCheck, GeneralizationFound
from sqlaudit.release.compare.pairing import Pairing, Side, alike, copied, find_pairing, open_side
from sqlaudit.release.compare.queries import QueriedTables
from sqlaudit.release.compare.query_text import read_queries
from sqlaudit.release.compare.regions import Regions, assigned, find_classes, find_regions
from sqlaudit.release.compare.request import CompareRequest
from sqlaudit.release.compare.result import Answer, Coarser, CompareResult, Loss, Workload
from sqlaudit.release.compare.workload import random_workload
from sqlaudit.release.losses.columns import column_costs, column_losses
from sqlaudit.release.losses.noise import MEASURE as NOISE
from sqlaudit.release.losses.noise import noise_loss
from sqlaudit.release.losses.views import LossScene, LossView, blocks_of, class_losses, views_of

ON_RELEASE = ("homogeneity", "background_knowledge", "skewness", "similarity")
"""Attacks that need nothing but the release."""


def compare_tables(engine: Engine, request: CompareRequest) -> CompareResult:
    """Everything that the request asks for.

    Raises:
        UsageError: columns, cells, keys or inputs that do not fit.
        EngineError: the database refused, failed or went away.
    """
    if request.release.buckets is not None:
        from sqlaudit.release.compare.bucketized import compare_buckets

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
        from sqlaudit.release.compare.bucketized import plan_buckets

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
    roles = Roles(request.qi, request.sensitive)
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
        roles = Roles(request.qi, request.sensitive)
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

    def _losses(self, opened: _OpenedTables) -> Iterator[Loss]:
        """The losses in the order of the measures: of all columns, then of each, attribute by attribute."""
        found = [*self._of_cells(opened), *self._of_classes(opened)]
        names = [measure.name for measure in self.measures]
        labels = [one.column.label for one in opened.covered]
        order = {label: place for place, label in enumerate([None, *labels])}
        attributes = {a.label: place for place, a in enumerate(opened.coded.sensitive)}
        yield from sorted(
            found,
            key=lambda loss: (names.index(loss.measure), attributes.get(loss.sensitive or "", 0), order[loss.column]),
        )

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
                yield from self._of_view(scene, view, attribute, distance, asked)

    def _of_view(
        self,
        scene: LossScene,
        view: LossView,
        attribute: PairedAttribute | None,
        distance: Distance | None,
        measures: Sequence[Measure],
    ) -> Iterator[Loss]:
        blocks = blocks_of(scene, view, attribute, distance)
        yield from class_losses(scene, blocks, measures)
        if any(measure.name == NOISE for measure in measures):
            yield noise_loss(scene, view, attribute, distance, self.request.noise_queries, self.request.seed)
