"""The orchestrator: a request and an engine become an `AuditResult`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlaudit.audits.part import ClassesWanted, Opened, Part, audit_part
from sqlaudit.audits.persons import Combinations, person_statements, persons_told, planned_of_persons
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.result import Warned
from sqlaudit.base.spec import AuditSpec, Roles
from sqlaudit.classes.attribute_inputs import refuse_unclear
from sqlaudit.classes.failing import AllFailing
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.classes.inputs import population_target, read_inputs
from sqlaudit.classes.opening import ResolvedRoles, frame_of, load_columns, resolve_roles, shown_roles
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.provenance import provenance
from sqlaudit.models.check import Check
from sqlaudit.models.coverage import columns_check, identifier_checks
from sqlaudit.models.judge import Judged
from sqlaudit.profiles.called import called_warning
from sqlaudit.profiles.count_tables import counts_beside
from sqlaudit.profiles.warnings import audit_warnings, warning_statements


@dataclass
class Auditor:
    """Runs audits over one engine.

    Args:
        engine: an open engine.
        failing_classes: how many failing classes to read, None = all.
        show_values: whether their keys may be read.
        export: takes all failing classes, to go through one by one, when the rest is done.
        relation: what is audited instead of opening the target; the target then only names it.
        population: the population table, likewise.
        worst_classes: of how many of the worst classes to read how the sensitive values are spread, 0 = of none.
        rows_meant: whether each row is known to be a person's, so that no join of two tables is looked for.
    """

    engine: Engine
    failing_classes: int | None = 10
    show_values: bool = False
    export: Callable[[AllFailing], None] | None = None
    relation: Relation | None = None
    population: Relation | None = None
    worst_classes: int = 0
    rows_meant: bool = False

    def audit(self, spec: AuditSpec) -> AuditResult:
        """Everything the request asks for.

        Raises:
            UsageError: roles or requirements that do not fit the table.
            EngineError: the database refused or failed.
        """
        already = len(self.engine.executed)
        opened, published = self._opened(spec)
        wanted = ClassesWanted(self.failing_classes, self.worst_classes, self.show_values)
        attributes: Sequence[Resolved | None] = opened.roles.sensitive or (None,)
        parts = [self._part(spec, opened, one, position, wanted) for position, one in enumerate(attributes)]
        if spec.requirements and opened.roles.entity is not None:
            from sqlaudit.audits.persons_spelled import with_persons_spelled

            parts = with_persons_spelled(parts, opened, partial(self._part, spec))
        judged = parts[0].judged
        odd_sizes = judged.sizes.all_squares or judged.sizes.all_multiples
        if self.relation is None and not self.rows_meant and (odd_sizes or counts_beside(*published)):
            from sqlaudit.audits.joined import refuse_joined

            refuse_joined(self.engine, spec.target, *published, spec.roles, judged.sizes)
        unnamed = tuple(dict.fromkeys(sentence for part in parts for sentence in part.judged.unnamed))
        if self.export is not None:
            self.export(AllFailing(tuple(every for part in parts for every in part.every), unnamed))
        warnings = self._warnings(spec, opened, published, judged)
        checks = [check for part in parts for check in part.judged.checks] + _coverage(spec, warnings, judged.rows)
        failing = sorted((f for part in parts for f in part.failing), key=lambda f: f.size)
        return AuditResult(
            target=spec.target.name,
            rows=judged.rows,
            roles=shown_roles(spec.roles),
            classes=judged.sizes,
            checks=tuple(checks),
            sensitive=tuple(part.summary for part in parts if part.summary),
            warnings=warnings,
            failing=tuple(failing[: self.failing_classes]),
            failing_total=sum(part.failing_total for part in parts),
            failing_unnamed=unnamed,
            columns=tuple(column.name for column in published[0].columns),
            persons=next((part.persons for part in parts if part.persons), None),
            disclosures=tuple(part.disclosure for part in parts if part.disclosure),
            **provenance(self.engine, already),  # last: what comes before runs statements too
            worst_classes=tuple(part.worst for part in parts if part.worst),
        )

    def _opened(self, spec: AuditSpec) -> tuple[Opened, tuple[Relation, ResolvedRoles]]:
        """The table and what is required of it; and relation and roles as they were before any columns were kept."""
        relation = self.relation or self.engine.open(spec.target)
        roles = resolve_roles(spec.roles, relation, self.engine.dialect)
        inputs = read_inputs(spec.inputs)
        refuse_unclear(inputs, [attribute.label for attribute in roles.sensitive])
        population = self.population
        if population is None and "population" in inputs:
            population = self.engine.open(population_target(inputs, spec.target))
        kept = load_columns(self.engine, relation, roles)
        known = self._with_sampling(spec.roles, inputs, *kept)
        combinations = Combinations(self.engine)
        opened = Opened(self.engine, *kept, spec.roles, spec.requirements, known, population, combinations)
        return opened, (relation, roles)

    def _part(
        self, spec: AuditSpec, opened: Opened, attribute: Resolved | None, position: int, wanted: ClassesWanted
    ) -> Part:
        """One sensitive attribute, as its values are written and however they are spelled."""
        part = audit_part(opened, attribute, position, wanted)
        if attribute is None or part.table is None or not spec.requirements or not part.table.may_be_respelled:
            return part
        from sqlaudit.audits.spellings import with_spellings

        return with_spellings(part, opened, attribute, position)

    def _with_sampling(
        self, given: Roles, inputs: Mapping[str, Any], relation: Relation, roles: ResolvedRoles
    ) -> Mapping[str, Any]:
        """The inputs, with what is known of the population where the table is a sample."""
        if not given.sampling.given:
            return inputs
        from sqlaudit.population.sampling import inputs_with_sampling

        return inputs_with_sampling(inputs, self.engine, relation, roles, given)

    def _plan_sampling(self, given: Roles, relation: Relation, roles: ResolvedRoles) -> list[Statement]:
        """What is asked of the table to know its share of the population."""
        if not given.sampling.given:
            return []
        from sqlaudit.population.sampling import sampling_statements

        return [*sampling_statements(self.engine.dialect, relation, roles, given)]

    def _warnings(
        self, spec: AuditSpec, opened: Opened, published: tuple[Relation, ResolvedRoles], judged: Judged
    ) -> tuple[Warned, ...]:
        """What a reader should know, and for whom a verdict holds that counts persons."""
        named = (*spec.coverage.insensitive, *((published[1].weights.label,) if published[1].weights else ()))
        found = audit_warnings(self.engine, *published, judged.sizes, judged.rows, named)
        told = persons_told(opened.relation, opened.roles, opened.given, opened.combinations)
        return (*found, *told, *called_warning(_written(spec), self.engine.dialect))

    def plan(self, spec: AuditSpec) -> list[Statement]:
        """The statements an audit would run, as far as they are known before any of them has run."""
        relation = self.engine.open(spec.target)
        roles = resolve_roles(spec.roles, relation, self.engine.dialect)
        statements = self._plan_sampling(spec.roles, relation, roles)
        for attribute in roles.sensitive or (None,):
            builder = HistogramBuilder(self.engine, frame_of(relation, roles, attribute, spec.roles), spec.roles.nulls)
            statements += builder.plan(attribute.sql if attribute else None)
            statements += planned_of_persons(builder.frame, self.engine, spec.roles, spec.requirements)
        statements += warning_statements(self.engine, relation, roles)
        statements = list({statement.sql: statement for statement in statements}.values())
        statements += person_statements(self.engine, relation, roles, spec.roles)
        return statements + (_respelled(self.engine, relation, roles.entity) if spec.requirements else [])


def _respelled(engine: Engine, relation: Relation, entity: Resolved | None) -> list[Statement]:
    from sqlaudit.classes.persons_spelled import planned

    return planned(engine, relation, entity)


def _written(spec: AuditSpec) -> list[str]:
    """The SQL that the user wrote."""
    return [spec.target.query, spec.target.where, *(name for names in spec.roles.by_role().values() for name in names)]


def _coverage(spec: AuditSpec, warnings: Sequence[Warned], rows: int) -> list[Check]:
    """The checks of direct identifiers, and of columns without a role where each needs one."""
    checks = [*identifier_checks(spec.roles.identifiers, spec.coverage.accepted_identifiers, rows)]
    if spec.coverage.all_columns_named:
        bare = [name for one in warnings if one.code == "columns_without_role" for name in one.columns]
        checks.append(columns_check(bare, rows))
    return checks
