"""The orchestrator: a request and an engine become an `AuditResult`."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlaudit
from sqlaudit.columns_of import Resolved, resolve
from sqlaudit.engines.base import Engine, Relation, Statement
from sqlaudit.errors import UsageError
from sqlaudit.facts import ClassHistogram, Frame, HistogramBuilder, SensitiveTable
from sqlaudit.judge import Asked, judge, merged_facts
from sqlaudit.models import REGISTRY, Context
from sqlaudit.models.base import HistogramModel, QueryModel
from sqlaudit.result import AuditResult, Check, ClassSizes, FailingClass, SensitiveSummary, Timing, Warned
from sqlaudit.spec import AuditSpec, NullPolicy, Requirement, Roles

MAX_VALUES_READ = 10_000
"""Up to this many sensitive values the table's totals are read into Python."""


@dataclass(frozen=True)
class ResolvedRoles:
    """The roles with their SQL."""

    quasi_identifiers: tuple[Resolved, ...]
    sensitive: tuple[Resolved, ...]
    identifiers: tuple[Resolved, ...]
    entity: Resolved | None


def resolve_roles(roles: Roles, relation: Relation, dialect: str) -> ResolvedRoles:
    """Every role's columns found in the relation.

    Raises:
        UsageError: a column that is not there, or two names for one column.
    """
    options = {
        "quasi-identifier": "--qi",
        "sensitive attribute": "--sensitive",
        "direct identifier": "--identifier",
        "entity": "--entity",
    }
    found = {
        role: tuple(resolve(name, relation, dialect, options[role]) for name in names)
        for role, names in roles.by_role().items()
    }
    repeated = [sql for sql, times in Counter(r.sql for group in found.values() for r in group).items() if times > 1]
    if repeated:
        raise UsageError(f"Column {repeated[0]} is named more than once; give every column one role.")
    entity = found["entity"][0] if found["entity"] else None
    return ResolvedRoles(found["quasi-identifier"], found["sensitive attribute"], found["direct identifier"], entity)


@dataclass
class Auditor:
    """Runs audits over one engine.

    Args:
        engine: an open engine.
        failing_classes: how many failing classes to read, None = all.
        show_values: whether their keys may be read.
    """

    engine: Engine
    failing_classes: int | None = 10
    show_values: bool = False

    def audit(self, spec: AuditSpec) -> AuditResult:
        """Everything the request asks for.

        Raises:
            UsageError: roles or requirements that do not fit the table.
            EngineError: the database refused or failed.
        """
        already = len(self.engine.executed)
        relation = self.engine.open(spec.target)
        roles = resolve_roles(spec.roles, relation, self.engine.dialect)
        relation, roles = self._loaded(relation, roles)
        parts = [self._part(spec, relation, roles, attribute) for attribute in roles.sensitive or (None,)]
        if roles.sensitive:
            parts[1:] = [replace(part, checks=tuple(c for c in part.checks if c.sensitive)) for part in parts[1:]]
        checks = [check for part in parts for check in part.checks]
        failing = sorted((f for part in parts for f in part.failing), key=lambda f: f.size)
        return AuditResult(
            target=spec.target.name,
            rows=parts[0].rows,
            engine=self.engine.version(),
            time=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            roles=_shown_roles(spec.roles),
            classes=parts[0].sizes,
            checks=tuple(checks),
            sensitive=tuple(part.summary for part in parts if part.summary),
            warnings=tuple(_warnings(roles, relation)),
            failing=tuple(failing[: self.failing_classes]),
            failing_total=max((part.failing_total for part in parts), default=0),
            statements=tuple(Timing(done.name, done.seconds, done.sql) for done in self.engine.executed[already:]),
            versions={"sqlaudit": sqlaudit.__version__, "engine": self.engine.version()},
            columns=tuple(column.name for column in relation.columns),
        )

    def plan(self, spec: AuditSpec) -> list[Statement]:
        """The statements an audit would run, as far as they are known before any of them has run."""
        relation = self.engine.open(spec.target)
        roles = resolve_roles(spec.roles, relation, self.engine.dialect)
        statements = []
        for attribute in roles.sensitive or (None,):
            builder = HistogramBuilder(self.engine, _frame(relation, roles, attribute, spec.roles))
            statements += builder.plan(attribute.sql if attribute else None)
        return statements

    def _loaded(self, relation: Relation, roles: ResolvedRoles) -> tuple[Relation, ResolvedRoles]:
        """The relation's columns kept for the session when reading them again would parse them again."""
        return relation, roles

    def _part(self, spec: AuditSpec, relation: Relation, roles: ResolvedRoles, attribute: Resolved | None) -> _Part:
        frame = _frame(relation, roles, attribute, spec.roles)
        builder = HistogramBuilder(self.engine, frame, spec.roles.nulls)
        table, nulls = self._sensitive_table(builder, attribute)
        histogram = builder.build(attribute.sql if attribute else None, table)
        context = Context(table, 0, spec.inputs)
        asked = _asked(spec.requirements, context, spec.roles.nulls, attribute)
        judged = judge(histogram, asked, frame)
        failing = self._failing(builder, histogram, attribute, asked, judged.failing, roles)
        summary = None
        if table is not None and attribute is not None:
            summary = SensitiveSummary(attribute.label, table.distinct, nulls, histogram.form, table.ordered)
        return _Part(judged.rows, judged.sizes, tuple(judged.checks), tuple(failing), judged.failing_total, summary)

    def _sensitive_table(
        self, builder: HistogramBuilder, attribute: Resolved | None
    ) -> tuple[SensitiveTable | None, int]:
        if attribute is None:
            if builder.frame.entity is not None:
                _refuse_missing_entities(builder.shape(None)[3])
            return None, 0
        text = not attribute.kind.has_natural_order
        distinct, nulls, _, without_entity = builder.shape(attribute.sql)
        _refuse_missing_entities(without_entity)
        if distinct > MAX_VALUES_READ:
            raise UsageError(
                f"{attribute.label} has {distinct:,} different values; a sensitive attribute may have at most "
                f"{MAX_VALUES_READ:,}. Round or group it first."
            )
        values, totals = builder.totals(attribute.sql, text)
        table = SensitiveTable(attribute.label, totals, nulls > 0, attribute.kind.has_natural_order, text, values)
        return table, nulls

    def _failing(
        self,
        builder: HistogramBuilder,
        histogram: ClassHistogram,
        attribute: Resolved | None,
        asked: Sequence[Asked],
        predicates: Sequence[tuple[str, str]],
        roles: ResolvedRoles,
    ) -> Iterable[FailingClass]:
        """The smallest failing classes; with keys only when values may be shown."""
        if not predicates or self.failing_classes == 0:
            return []
        facts = merged_facts([item.model for item in asked if not isinstance(item.model, HistogramModel | QueryModel)])
        keys = [q.label for q in roles.quasi_identifiers] if self.show_values else []
        if keys:
            histogram = builder.build(attribute.sql if attribute else None, histogram.table, keep_keys=True)
        return histogram.failing(predicates, facts, keys, self.failing_classes)


@dataclass(frozen=True)
class _Part:
    """What was found for one sensitive attribute (or for none)."""

    rows: int
    sizes: ClassSizes
    checks: tuple[Check, ...]
    failing: tuple[FailingClass, ...]
    failing_total: int
    summary: SensitiveSummary | None


def _frame(relation: Relation, roles: ResolvedRoles, attribute: Resolved | None, given: Roles) -> Frame:
    keys = [q.sql for q in roles.quasi_identifiers]
    if given.joint and attribute is not None:
        keys += [other.sql for other in roles.sensitive if other != attribute]
    entity = roles.entity.sql if roles.entity else None
    return Frame(relation.sql, tuple(keys), entity, given.nulls is NullPolicy.DISTINCT)


def _asked(
    requirements: Sequence[Requirement], context: Context, nulls: NullPolicy, attribute: Resolved | None
) -> list[Asked]:
    """The models to evaluate for one sensitive attribute: what is required, or everything that needs no input."""
    if requirements:
        models = [(REGISTRY[r.model], r) for r in requirements]
    else:
        models = [(model, Requirement(model.name)) for model in REGISTRY.values() if _by_default(model, context, nulls)]
    asked = []
    for model, requirement in models:
        if model.needs_sensitive and context.table is None:
            if requirements:
                raise UsageError(f"{requirement.text!r} needs a sensitive attribute; name one with --sensitive.")
            continue
        if nulls is NullPolicy.WILDCARD and not model.wildcard:
            raise UsageError(
                f"{requirement.text or model.name!r} has no meaning with --nulls wildcard: classes overlap there. "
                "Use --nulls equal or distinct."
            )
        _check_inputs(model, requirement, context, attribute)
        asked.append(Asked(model(requirement.parameters, context), requirement, attribute.label if attribute else None))
    return asked


def _by_default(model: Any, context: Context, nulls: NullPolicy) -> bool:
    if not model.by_default or model.needs or (nulls is NullPolicy.WILDCARD and not model.wildcard):
        return False
    if model.needs_order:
        table = context.table
        return table is not None and table.ordered and not table.has_null
    return True


def _check_inputs(model: Any, requirement: Requirement, context: Context, attribute: Resolved | None) -> None:
    missing = [need for need in model.needs if need not in context.inputs]
    if missing:
        raise UsageError(f"{requirement.text!r} needs {' and '.join(missing)}; give them in a file with --inputs.")
    if model.needs_order and context.table and not context.table.ordered and "order" not in context.inputs:
        label = attribute.label if attribute else "the attribute"
        raise UsageError(
            f"{requirement.text!r}: the values of {label} are text and have no order of their own; declare one under "
            "'order' in a file with --inputs."
        )


def _refuse_missing_entities(rows: int) -> None:
    if rows:
        raise UsageError(
            f"{rows:,} rows have no entity, so it is not known which person they belong to; leave them out with "
            "--where (the entity column IS NOT NULL), or fill it."
        )


def _shown_roles(roles: Roles) -> dict[str, Any]:
    return {
        "quasi_identifiers": list(roles.quasi_identifiers),
        "sensitive": list(roles.sensitive),
        "identifiers": list(roles.identifiers),
        "entity": roles.entity,
        "joint": roles.joint,
        "nulls": roles.nulls.value,
    }


def _warnings(roles: ResolvedRoles, relation: Relation) -> list[Warned]:
    return []
