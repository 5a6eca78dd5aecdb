"""An audit: a request and an engine become an `AuditResult`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from sqlaudit.audits.models_asked import (
    Combinations,
    OpenedAudit,
    audit_part,
    combination_statements,
    person_warnings,
    plan_person_statements,
)
from sqlaudit.audits.request import AuditRequest
from sqlaudit.audits.result import AuditResult, SensitiveSummary
from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import ExitCode, verdict
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.result import MISSING_VALUES, Warned
from sqlaudit.classes.facts import SensitiveTable
from sqlaudit.classes.failing import AllFailing, ClassSizes
from sqlaudit.classes.opening import OpenedTable, describe_roles, open_table, sensitive_table
from sqlaudit.engines.command import command
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.models.base import Check
from sqlaudit.models.judge import Judged
from sqlaudit.models.phrases import columns_check, identifier_checks
from sqlaudit.profiles.names import roleless_counts
from sqlaudit.profiles.warnings import audit_warnings, warn_about_functions, warning_statements
from sqlaudit.reports.document import plural


def audit_table(
    engine: Engine,
    request: AuditRequest,
    *,
    relation: Relation | None = None,
    population: Relation | None = None,
    export: Callable[[AllFailing], None] | None = None,
    rows_are_people: bool = False,
) -> AuditResult:
    """Audit a table.

    Args:
        engine: an open engine.
        request: the request.
        relation: what is audited instead of opening the target, which then only names it.
        population: the population table instead of the one that the inputs name.
        export: takes all failing classes, to go through one by one, when the rest is done.
        rows_are_people: True if each row is known to be a person's, so that no join of two tables is looked for.

    Raises:
        UsageError: roles or requirements that do not fit the table, or no quasi-identifier.
        EngineError: the database refused or failed.
    """
    request.roles.require_quasi_identifiers()
    already = len(engine.executed)
    if relation is not None:
        engine.note_remarks(relation)
    opened = _open_audit(engine, request, relation, population)
    table = opened.table
    attributes: Sequence[Resolved | None] = table.roles.sensitive or (None,)
    parts = [audit_part(opened, attribute, position) for position, attribute in enumerate(attributes)]
    judged = parts[0].judged
    if relation is None and not rows_are_people:
        _refuse_joined_tables(opened, judged.sizes)
    unnamed = tuple(dict.fromkeys(sentence for part in parts for sentence in part.judged.unnamed))
    if export is not None:
        export(AllFailing(tuple(classes for part in parts for classes in part.every), unnamed))
    summaries = tuple(part.summary for part in parts if part.summary)
    warnings = (*_warnings(opened, judged), *missing_values(summaries))
    checks = [check for part in parts for check in part.judged.checks] + _coverage(request, warnings, judged.rows)
    if request.safe_harbor is not None:
        from sqlaudit.audits.safe_harbor import safe_harbor_check

        whole = engine.open(request.target) if table.published.sampled else table.published
        checks.append(safe_harbor_check(engine, whole, request.safe_harbor))
    failing = sorted((failing for part in parts for failing in part.failing), key=lambda failing: failing.size)
    return AuditResult(
        target=request.target.name,
        rows=judged.rows,
        roles=describe_roles(request.roles),
        classes=judged.sizes,
        checks=tuple(checks),
        sensitive=summaries,
        warnings=warnings,
        failing=tuple(failing[: request.failing_classes]),
        failing_total=sum(part.failing_total for part in parts),
        failing_unnamed=unnamed,
        columns=tuple(column.name for column in table.published.columns),
        persons=next((part.persons for part in parts if part.persons), None),
        disclosures=tuple(part.disclosure for part in parts if part.disclosure),
        **provenance(engine, already),  # last: what comes before runs statements too
        worst_classes=tuple(part.worst for part in parts if part.worst),
    )


def plan_audit(engine: Engine, request: AuditRequest) -> list[Statement]:
    """Return the statements that an audit would run, as far as they are known before any of them has run.

    Raises:
        UsageError, EngineError: as `audit_table`.
    """
    request.roles.require_quasi_identifiers()
    table = open_table(engine, _open_exactly(engine, request), request.roles)
    relation, roles = table.relation, table.roles
    statements: list[Statement] = []
    if request.roles.sampling.given:
        from sqlaudit.population.sample import sampling_statements

        statements += sampling_statements(engine.dialect, relation, roles)
    for attribute in roles.sensitive or (None,):
        builder = table.histogram_builder(attribute)
        statements += builder.plan(attribute.sql if attribute else None)
        statements += plan_person_statements(builder.frame, engine, request.roles, request.requirements)
    statements += warning_statements(engine, relation, roles)
    if request.safe_harbor is not None:
        from sqlaudit.audits.safe_harbor import safe_harbor_statements

        statements += safe_harbor_statements(engine, relation, request.safe_harbor)
    statements = list({statement.sql: statement for statement in statements}.values())
    return [*statements, *combination_statements(table), *table.spelling_statements()]


def _open_audit(
    engine: Engine, request: AuditRequest, relation: Relation | None, population: Relation | None
) -> OpenedAudit:
    """Open the table and the population, copy the columns that are read, and look for spellings of one value."""
    table = open_table(
        engine,
        relation or _open_exactly(engine, request),
        request.roles,
        request.inputs,
        population=population or request.target,
    ).copied()
    if table.named_roles.sampling.given:
        from sqlaudit.population.sample import inputs_with_sampling

        table = replace(
            table, inputs=inputs_with_sampling(table.inputs, engine, table.relation, table.roles, table.named_roles)
        )
    read = {
        attribute.label: sensitive_table(table.histogram_builder(attribute), attribute)
        for attribute in table.roles.sensitive
        if attribute.label in table.attributes_read_as_texts
    }
    conflicts = _spelling_conflicts(table, {label: values for label, (values, _) in read.items() if values})
    return OpenedAudit(table, request, Combinations(engine), conflicts, read)


def _open_exactly(engine: Engine, request: AuditRequest) -> Relation:
    """Open the table so that what has a role is read exactly; of other columns a sample is enough."""
    named = (column for columns in request.roles.by_role().values() for column in columns)
    return engine.open(replace(request.target, named=frozenset(named)))


def _refuse_joined_tables(opened: OpenedAudit, sizes: ClassSizes) -> None:
    """Raise UsageError if rows are pairs of a join rather than people; looked for where sizes or names suggest it."""
    table, target = opened.table, opened.request.target
    relation, roles = table.published, table.published_roles
    if not (sizes.all_squares or sizes.all_multiples or roleless_counts(relation, roles)):
        return
    from sqlaudit.audits.joined_tables import refuse_joined

    if relation.sampled:  # every column's values have to be exact here
        relation = table.engine.open(target)
    refuse_joined(table.engine, target, relation, roles, table.named_roles, sizes)


def _warnings(opened: OpenedAudit, judged: Judged) -> tuple[Warned, ...]:
    """Return the warnings: on columns and tables, on spellings, on counts of people, and on functions in SQL."""
    table, request = opened.table, opened.request
    published, roles = table.published, table.published_roles
    assigned = (*request.coverage.insensitive, *((roles.weights.label,) if roles.weights else ()))
    column_warnings = audit_warnings(table.engine, published, roles, judged.sizes, judged.rows, assigned)
    entity = (roles.entity.label,) if roles.entity else ()
    spelling_warnings = [
        # Without a name the conflict concerns all attributes: the people are spelled in several ways
        Warned("spelling_variants", (name,) if name else entity, reason)
        for name, reason in opened.spelling_conflicts.items()
    ]
    columns = (column for names in request.roles.by_role().values() for column in names)
    sql = (request.target.query, request.target.where, *columns)
    return (
        *column_warnings,
        *spelling_warnings,
        *person_warnings(table, opened.combinations),
        *warn_about_functions(sql, table.engine.dialect),
    )


def _spelling_conflicts(table: OpenedTable, read: Mapping[str, SensitiveTable]) -> dict[str | None, str]:
    """Return why attributes cannot be judged, by name: two of their values may be spellings of one value.

    The key None stands for all attributes: people are spelled in several ways, or attributes are judged jointly.

    Args:
        table: the table.
        read: the values of attributes that were read, by name.
    """
    conflicts: dict[str | None, str] = dict(table.spelling_conflicts(read).items())
    entity = table.roles.entity.label if table.roles.entity else ""
    of_all = " ".join(conflicts.values()) if table.named_roles.joint else conflicts.pop(entity, "")
    return conflicts | ({None: of_all} if of_all else {})


def missing_values(summaries: Iterable[SensitiveSummary]) -> Iterator[Warned]:
    """Yield a warning for each attribute with missing values, which count as one value in every model of diversity."""
    for summary in summaries:
        if summary.null_rows:
            text = f"{summary.name} is missing in {plural(summary.null_rows, 'row')}, which count as one value of it."
            hint = f"To judge the others alone, use {spelled('where', f'{summary.name} IS NOT NULL')}."
            yield Warned(MISSING_VALUES, (summary.name,), f"{text} {hint}", hint)


def _coverage(request: AuditRequest, warnings: Sequence[Warned], rows: int) -> list[Check]:
    """Return the checks of direct identifiers, and of columns without a role where each column needs a role."""
    checks = [*identifier_checks(request.roles.identifiers, request.coverage.accepted_identifiers, rows)]
    if request.coverage.all_columns_named:
        checks.append(columns_check(warnings, rows))
    return checks


def code_of(result: AuditResult) -> ExitCode:
    """Return the exit code of an audit's result."""
    return verdict(not result.required or result.passed, result.complete)


@command(AuditRequest, plan_audit, code=code_of)
def audit(engine: Engine, request: AuditRequest) -> AuditResult:
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
    return audit_table(engine, request)
