"""The orchestrator: a request and an engine become an `AuditResult`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlaudit.audits.models_asked import (
    Combinations,
    Opened,
    audit_part,
    person_statements,
    persons_told,
    planned_of_persons,
)
from sqlaudit.audits.request import AuditRequest, requirements_of_presets
from sqlaudit.audits.result import AuditResult, SensitiveSummary
from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.options import Given, request_from, several, takes
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.result import MISSING_VALUES, Warned
from sqlaudit.base.spec import Coverage, Roles, SafeHarbor, Sampling, roles_from, target_of
from sqlaudit.classes.attribute_inputs import refuse_unclear
from sqlaudit.classes.failing import AllFailing
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.classes.inputs import further_targets, population_target, read_inputs
from sqlaudit.classes.opening import (
    ResolvedRoles,
    frame_of,
    load_columns,
    merged,
    merged_statements,
    resolve_roles,
    shown_roles,
    values_of,
)
from sqlaudit.engines import opened
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.models.base import Check
from sqlaudit.models.judge import Judged
from sqlaudit.models.phrases import columns_check, identifier_checks, with_accepted
from sqlaudit.models.registry import requirements
from sqlaudit.profiles.names import roleless_counts
from sqlaudit.profiles.warnings import audit_warnings, warn_about_functions, warning_statements
from sqlaudit.reports.document import plural


@dataclass
class Auditor:
    """Runs audits over one engine.

    Args:
        engine: an open engine.
        export: takes all failing classes, to go through one by one, when the rest is done.
        relation: what is audited instead of opening the target; the target then only names it.
        population: the population table, likewise.
        rows_meant: whether each row is known to be a person's, so that no join of two tables is looked for.
    """

    engine: Engine
    export: Callable[[AllFailing], None] | None = None
    relation: Relation | None = None
    population: Relation | None = None
    rows_meant: bool = False

    def audit(self, request: AuditRequest) -> AuditResult:
        """Everything the request asks for.

        Raises:
            UsageError: roles or requirements that do not fit the table, or no quasi-identifier.
            EngineError: the database refused or failed.
        """
        request.roles.require_quasi_identifiers()
        already = len(self.engine.executed)
        if self.relation is not None:
            self.engine.note_remarks(self.relation)
        opened, published = self._opened(request)
        attributes: Sequence[Resolved | None] = opened.roles.sensitive or (None,)
        parts = [audit_part(opened, attribute, position, request) for position, attribute in enumerate(attributes)]
        judged = parts[0].judged
        odd_sizes = judged.sizes.all_squares or judged.sizes.all_multiples
        if self.relation is None and not self.rows_meant and (odd_sizes or roleless_counts(*published)):
            from sqlaudit.audits.joined_tables import refuse_joined

            relation, roles = published
            if relation.sampled:  # every column's values have to be exact here
                relation = self.engine.open(request.target)
            refuse_joined(self.engine, request.target, relation, roles, request.roles, judged.sizes)
        unnamed = tuple(dict.fromkeys(sentence for part in parts for sentence in part.judged.unnamed))
        if self.export is not None:
            self.export(AllFailing(tuple(every for part in parts for every in part.every), unnamed))
        summaries = tuple(part.summary for part in parts if part.summary)
        warnings = (*self._warnings(request, opened, published, judged), *missing_values(summaries))
        checks = [check for part in parts for check in part.judged.checks] + _coverage(request, warnings, judged.rows)
        if request.safe_harbor is not None:
            from sqlaudit.audits.safe_harbor import safe_harbor_check

            whole = self.engine.open(request.target) if published[0].sampled else published[0]
            checks.append(safe_harbor_check(self.engine, whole, request.safe_harbor))
        failing = sorted((f for part in parts for f in part.failing), key=lambda f: f.size)
        return AuditResult(
            target=request.target.name,
            rows=judged.rows,
            roles=shown_roles(request.roles),
            classes=judged.sizes,
            checks=tuple(checks),
            sensitive=summaries,
            warnings=warnings,
            failing=tuple(failing[: request.failing_classes]),
            failing_total=sum(part.failing_total for part in parts),
            failing_unnamed=unnamed,
            columns=tuple(column.name for column in published[0].columns),
            persons=next((part.persons for part in parts if part.persons), None),
            disclosures=tuple(part.disclosure for part in parts if part.disclosure),
            **provenance(self.engine, already),  # last: what comes before runs statements too
            worst_classes=tuple(part.worst for part in parts if part.worst),
        )

    def _opened(self, request: AuditRequest) -> tuple[Opened, tuple[Relation, ResolvedRoles]]:
        """The table and what is required of it; and relation and roles as they were before any columns were kept."""
        relation = self.relation or self._open(request)
        roles = resolve_roles(request.roles, relation, self.engine)
        inputs = read_inputs(request.inputs)
        refuse_unclear(inputs, [attribute.label for attribute in roles.sensitive])
        population = self.population
        if population is None and "population" in inputs:
            population = self.engine.open(population_target(inputs, request.target))
        kept = load_columns(self.engine, relation, roles)
        known: Mapping[str, Any] = inputs
        if request.roles.sampling.given:
            from sqlaudit.population.sample import inputs_with_sampling

            known = inputs_with_sampling(inputs, self.engine, *kept, request.roles)
        combinations = Combinations(self.engine)
        merged = self._merged(request.roles, *kept, population)
        required = request.requirements
        opened = Opened(self.engine, *kept, request.roles, required, known, population, combinations, merged)
        return opened, (relation, roles)

    def _open(self, request: AuditRequest) -> Relation:
        """The table; what has a role is read exactly."""
        named = (name for some in request.roles.by_role().values() for name in some)
        return self.engine.open(replace(request.target, named=frozenset(named)))

    def _merged(
        self, given: Roles, relation: Relation, roles: ResolvedRoles, population: Relation | None
    ) -> dict[str | None, str]:
        """Of which sensitive attributes nothing can be said yet, and why; of all, under None, where it is persons."""
        columns = values_of(relation, roles, self.engine.dialect, () if population is None else (population,))
        found: dict[str | None, str] = dict(merged(self.engine, columns, given.values).items())
        entity = roles.entity.label if roles.entity else ""
        every = " ".join(found.values()) if given.joint else found.pop(entity, "")
        return found | ({None: every} if every else {})

    def _warnings(
        self, request: AuditRequest, opened: Opened, published: tuple[Relation, ResolvedRoles], judged: Judged
    ) -> tuple[Warned, ...]:
        """What a reader should know, and for whom a verdict holds that counts persons."""
        named = (*request.coverage.insensitive, *((published[1].weights.label,) if published[1].weights else ()))
        found = audit_warnings(self.engine, *published, judged.sizes, judged.rows, named)
        told = persons_told(opened.relation, opened.roles, opened.given, opened.combinations)
        entity = (opened.roles.entity.label,) if opened.roles.entity else ()
        written = [Warned("spelling_variants", (name,) if name else entity, why) for name, why in opened.merged.items()]
        columns = (column for names in request.roles.by_role().values() for column in names)
        sql = (request.target.query, request.target.where, *columns)
        return (*found, *written, *told, *warn_about_functions(sql, self.engine.dialect))

    def plan(self, request: AuditRequest) -> list[Statement]:
        """The statements an audit would run, as far as they are known before any of them has run.

        Raises:
            UsageError, EngineError: as `audit` does.
        """
        request.roles.require_quasi_identifiers()
        relation = self._open(request)
        roles = resolve_roles(request.roles, relation, self.engine)
        statements: list[Statement] = []
        if request.roles.sampling.given:
            from sqlaudit.population.sample import sampling_statements

            statements += sampling_statements(self.engine.dialect, relation, roles)
        for attribute in roles.sensitive or (None,):
            frame = frame_of(relation, roles, attribute, request.roles)
            builder = HistogramBuilder(self.engine, frame, request.roles.nulls)
            statements += builder.plan(attribute.sql if attribute else None)
            statements += planned_of_persons(builder.frame, self.engine, request.roles, request.requirements)
        statements += warning_statements(self.engine, relation, roles)
        if request.safe_harbor is not None:
            from sqlaudit.audits.safe_harbor import safe_harbor_statements

            statements += safe_harbor_statements(self.engine, relation, request.safe_harbor)
        statements = list({statement.sql: statement for statement in statements}.values())
        statements += person_statements(self.engine, relation, roles, request.roles)
        columns = values_of(relation, roles, self.engine.dialect)
        return statements + merged_statements(self.engine, columns, request.roles.values)


def missing_values(summaries: Iterable[SensitiveSummary]) -> Iterator[Warned]:
    """Say which sensitive attributes have missing values, which count as a value in every model of diversity."""
    for summary in summaries:
        if summary.null_rows:
            said = f"{summary.name} is missing in {plural(summary.null_rows, 'row')}, which count as one value of it."
            hint = f"To judge the others alone, use {spelled('where', f'{summary.name} IS NOT NULL')}."
            yield Warned(MISSING_VALUES, (summary.name,), f"{said} {hint}", hint)


def _coverage(request: AuditRequest, warnings: Sequence[Warned], rows: int) -> list[Check]:
    """The checks of direct identifiers, and of columns without a role where each needs one."""
    checks = [*identifier_checks(request.roles.identifiers, request.coverage.accepted_identifiers, rows)]
    if request.coverage.all_columns_named:
        checks.append(columns_check(warnings, rows))
    return checks


@takes(
    "target * qi sensitive require identifier entity joint nulls sampling_fraction population_size weights known_rows "
    "values db query where inputs read buckets limits roles failing_classes worst_classes show_values "
    "accept_identifier insensitive all_columns_named preset zip_areas reviewed",
    *(Roles, Sampling, Coverage, SafeHarbor, AuditRequest),
)
def audit(given: Given) -> AuditResult:
    """Audit a table and return what was found.

    Args:
        failing_classes: how many failing classes to read, None = all.
        worst_classes: of how many of the worst classes to read how each sensitive attribute is spread, 0 = of none,
            which saves a statement; None = 3.
        show_values: whether the quasi-identifier values of these classes, and the sensitive values of the worst and of
            a stated person, may be read.

    Raises:
        UsageError: a column, model or value that does not fit.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd
        >>> people = pd.DataFrame({"zip": ["13053"] * 3 + ["14850"] * 2, "disease": list("aabcc")})
        >>> result = audit(people, qi=["zip"], sensitive="disease", require={"k": 2, "l": 2})
        >>> result.passed, [(check.model, check.level) for check in result.checks]
        (False, [('k_anonymity', 2), ('distinct_l_diversity', 1)])
    """
    roles = roles_from(vars(given), sampling=request_from(Sampling, vars(given)))
    preset_requirements, safe_harbor = requirements_of_presets(
        several(given.preset), request_from(SafeHarbor, vars(given))
    )
    request = request_from(
        AuditRequest,
        vars(given),
        target=target_of(given),
        roles=replace(roles, identifiers=with_accepted(roles.identifiers, several(given.accept_identifier))),
        requirements=(*preset_requirements, *requirements(given.require)),
        inputs=given.inputs or {},
        coverage=request_from(Coverage, vars(given)),
        safe_harbor=safe_harbor,
    )
    with opened(given.db, given.limits, request.target, *further_targets(request.inputs, request.target)) as engine:
        return Auditor(engine).audit(request)
