"""The orchestrator: a request and an engine become an `AuditResult`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlaudit.audits.disclosure.attribute import Disclosure
from sqlaudit.audits.distribution import WorstClasses
from sqlaudit.audits.persons import person_statements, persons_told
from sqlaudit.audits.result import AuditResult, SensitiveSummary
from sqlaudit.audits.worst_classes import worst_classes
from sqlaudit.base.columns_of import Resolved, find_column, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.result import Warned
from sqlaudit.base.spec import AuditSpec, NullPolicy, Requirement, Roles
from sqlaudit.classes.attribute_inputs import inputs_of, refuse_unclear
from sqlaudit.classes.facts import ClassHistogram, Fact, Frame
from sqlaudit.classes.failing import AllFailing, FailingClasses
from sqlaudit.classes.found import ClassSizes, FailingClass
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.classes.inputs import population_target, read_inputs
from sqlaudit.classes.listing import Keyed, Short
from sqlaudit.classes.opening import (
    ResolvedRoles,
    frame_of,
    key_labels,
    load_columns,
    resolve_roles,
    sensitive_table,
    shown_roles,
)
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.provenance import provenance
from sqlaudit.models import REGISTRY, Context
from sqlaudit.models.base import Model, Population, QueryModel, SignatureModel
from sqlaudit.models.check import Check
from sqlaudit.models.coverage import columns_check, identifier_checks
from sqlaudit.models.judge import Asked, Judged, judge, merged_facts
from sqlaudit.profiles.called import called_warning
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
    """

    engine: Engine
    failing_classes: int | None = 10
    show_values: bool = False
    export: Callable[[AllFailing], None] | None = None
    relation: Relation | None = None
    population: Relation | None = None
    worst_classes: int = 0

    def audit(self, spec: AuditSpec) -> AuditResult:
        """Everything the request asks for.

        Raises:
            UsageError: roles or requirements that do not fit the table.
            EngineError: the database refused or failed.
        """
        already = len(self.engine.executed)
        relation = self.relation or self.engine.open(spec.target)
        roles = resolve_roles(spec.roles, relation, self.engine.dialect)
        inputs = read_inputs(spec.inputs)
        refuse_unclear(inputs, [attribute.label for attribute in roles.sensitive])
        population = self.population
        if population is None and "population" in inputs:
            population = self.engine.open(population_target(inputs, spec.target))
        published = relation, roles
        relation, roles = load_columns(self.engine, relation, roles)
        opened = _Opened(spec, relation, roles, inputs, population)
        parts = [
            self._part(opened, attribute, position) for position, attribute in enumerate(roles.sensitive or (None,))
        ]
        unnamed = tuple(dict.fromkeys(sentence for part in parts for sentence in part.unnamed))
        if self.export is not None:
            self.export(AllFailing(tuple(every for part in parts for every in part.every), unnamed))
        warnings = self._warnings(opened, published, parts[0])
        checks = [check for part in parts for check in part.checks] + _coverage(spec, warnings, parts[0].rows)
        failing = sorted((f for part in parts for f in part.failing), key=lambda f: f.size)
        return AuditResult(
            target=spec.target.name,
            rows=parts[0].rows,
            roles=shown_roles(spec.roles),
            classes=parts[0].sizes,
            checks=tuple(checks),
            sensitive=tuple(part.summary for part in parts if part.summary),
            warnings=warnings,
            failing=tuple(failing[: self.failing_classes]),
            failing_total=sum(part.failing_total for part in parts),
            failing_unnamed=unnamed,
            columns=tuple(column.name for column in published[0].columns),
            disclosures=tuple(part.disclosure for part in parts if part.disclosure),
            **provenance(self.engine, already),  # last: what comes before runs statements too
            worst_classes=tuple(part.worst for part in parts if part.worst),
        )

    def _warnings(self, opened: _Opened, published: tuple[Relation, ResolvedRoles], part: _Part) -> tuple[Warned, ...]:
        """What a reader should know, and for whom a verdict holds that counts persons."""
        insensitive = opened.spec.coverage.insensitive
        found = audit_warnings(self.engine, *published, part.sizes, part.rows, insensitive)
        told = persons_told(self.engine, opened.relation, opened.roles, opened.spec.roles)
        return (*found, *told, *called_warning(_written(opened.spec), self.engine.dialect))

    def plan(self, spec: AuditSpec) -> list[Statement]:
        """The statements an audit would run, as far as they are known before any of them has run."""
        relation = self.engine.open(spec.target)
        roles = resolve_roles(spec.roles, relation, self.engine.dialect)
        statements = []
        for attribute in roles.sensitive or (None,):
            builder = HistogramBuilder(self.engine, frame_of(relation, roles, attribute, spec.roles), spec.roles.nulls)
            statements += builder.plan(attribute.sql if attribute else None)
        statements += warning_statements(self.engine, relation, roles)
        return statements + person_statements(self.engine, relation, roles, spec.roles)

    def _part(self, opened: _Opened, attribute: Resolved | None, position: int) -> _Part:
        spec, roles = opened.spec, opened.roles
        frame = frame_of(opened.relation, roles, attribute, spec.roles)
        builder = HistogramBuilder(self.engine, frame, spec.roles.nulls, position)
        table, nulls = sensitive_table(builder, attribute)
        histogram = builder.build(attribute.sql if attribute else None, table)
        context = Context(
            table,
            0,
            inputs_of(opened.inputs, attribute.label if attribute else None, table),
            frozenset(requirement.model for requirement in spec.requirements),
        )
        asked = asked_models(spec.requirements, context, spec.roles, attribute, position)
        asked = self._defined(builder, attribute, asked)
        population = _population(opened, attribute, frame, [item.model for item in asked], self.engine.dialect)
        judged = judge(histogram, asked, frame, population)
        shown = _Keyed(builder, histogram, attribute, roles, self.show_values, spec.roles.joint)
        every = _failing(shown, asked, judged)
        failing, failing_total = self._told(every)
        summary, worst = None, None
        if table is not None and attribute is not None:
            summary = SensitiveSummary(attribute.label, table.distinct, nulls, histogram.form, table.ordered)
            worst = self._worst(shown, asked, judged)
        found = _disclosure(asked, judged)
        return _Part(
            judged.rows,
            judged.sizes,
            judged.checks,
            tuple(failing),
            failing_total,
            summary,
            tuple(every),
            found,
            worst,
            judged.unnamed,
        )

    @staticmethod
    def _defined(builder: HistogramBuilder, attribute: Resolved | None, asked: list[Asked]) -> list[Asked]:
        """Without the models that have no meaning when a person has two values or lies in two classes.

        Raises:
            UsageError: such a model is required, and there are such persons.
        """
        wanting = [item for item in asked if item.model.one_value_per_person]
        if builder.frame.entity is None or attribute is None or not wanting:
            return asked
        persons = builder.persons_in_several_places(attribute.sql)
        if persons and wanting[0].model.is_required:
            raise UsageError(
                f"{wanting[0].requirement.text!r} needs one class and one value of {attribute.label} for each person; "
                f"{persons:,} persons have more."
            )
        return [item for item in asked if item not in wanting] if persons else asked

    def _told(self, every: Sequence[FailingClasses]) -> tuple[list[FailingClass], int]:
        """The smallest failing classes (keys only when values may be shown), and how many there are."""
        told: list[FailingClass] = []
        all_of_them = 0
        for failing in every:
            known = failing.shorts[0].classes if len(failing.shorts) == 1 else None
            if self.failing_classes == 0 and known is not None:
                all_of_them += known
                continue
            few, total = failing.smallest(self.failing_classes)
            told, all_of_them = told + few, all_of_them + total
        return told, all_of_them

    def _worst(self, shown: _Keyed, asked: Sequence[Asked], judged: Judged) -> WorstClasses | None:
        """The distributions in the worst classes, if they are wanted."""
        if not self.worst_classes or not judged.rows:
            return None
        collated = shown.builder.frame.collated
        return worst_classes(shown.histogram, asked, judged, self.worst_classes, shown.keys, collated, self.show_values)


def _written(spec: AuditSpec) -> list[str]:
    """The SQL that the user wrote."""
    return [spec.target.query, spec.target.where, *(name for names in spec.roles.by_role().values() for name in names)]


@dataclass(frozen=True)
class _Keyed:
    """The classes as they may be shown: apart and with their keys where values may be, read when first asked for."""

    builder: HistogramBuilder
    merged: ClassHistogram
    attribute: Resolved | None
    roles: ResolvedRoles
    show_values: bool
    asked_joint: bool

    @property
    def joint(self) -> bool:
        """Whether classes differ from one attribute to the next."""
        return self.asked_joint and len(self.roles.sensitive) > 1

    @property
    def keys(self) -> list[str]:
        """What the user calls the columns of the key; empty when values may not be shown."""
        return key_labels(self.roles, self.attribute, self.builder.frame) if self.show_values else []

    @property
    def histogram(self) -> ClassHistogram:
        """The classes, apart and with their keys if these may be shown."""
        return self.apart if self.keys else self.merged

    def failing(self, shorts: tuple[Short, ...], facts: tuple[Fact, ...]) -> FailingClasses:
        """The classes that fall short of some requirements."""
        frame, apart = self.builder.frame, any(isinstance(short.listing, Keyed) for short in shorts)
        return FailingClasses(
            self.apart if apart else self.histogram,
            shorts,
            facts,
            tuple(self.keys),
            frame.collated,
            len(frame.keys),
            self.attribute.label if self.attribute and self.joint else None,
        )

    @cached_property
    def apart(self) -> ClassHistogram:
        """The classes, apart and with their keys."""
        if self.merged.form == "wildcard":  # which has its keys already
            return self.merged
        sensitive = self.attribute.sql if self.attribute else None
        return self.builder.build(sensitive, self.merged.table, keep_keys=True)


@dataclass(frozen=True)
class _Opened:
    """What all parts of one audit share."""

    spec: AuditSpec
    relation: Relation
    roles: ResolvedRoles
    inputs: Mapping[str, Any]
    population: Relation | None


@dataclass(frozen=True)
class _Part:
    """What was found for one sensitive attribute (or for none)."""

    rows: int
    sizes: ClassSizes
    checks: tuple[Check, ...]
    failing: tuple[FailingClass, ...]
    failing_total: int
    summary: SensitiveSummary | None
    every: tuple[FailingClasses, ...]
    disclosure: Disclosure | None
    worst: WorstClasses | None = None
    unnamed: tuple[str, ...] = ()


def _failing(shown: _Keyed, asked: Sequence[Asked], judged: Judged) -> list[FailingClasses]:
    """What falls short, by what it is about: beside several sensitive attributes, the record and each of them."""
    facts = tuple(merged_facts([item.model for item in asked if not isinstance(item.model, QueryModel)]))
    apart = len(shown.roles.sensitive) > 1 and not shown.joint
    groups = (
        [judged.short]
        if not apart
        else [
            tuple(short for short in judged.short if short.sensitive is None),
            tuple(short for short in judged.short if short.sensitive is not None),
        ]
    )
    return [shown.failing(group, facts if place or not apart else ()) for place, group in enumerate(groups) if group]


def _coverage(spec: AuditSpec, warnings: Sequence[Warned], rows: int) -> list[Check]:
    """The checks of direct identifiers, and of columns without a role where each needs one."""
    checks = [*identifier_checks(spec.roles.identifiers, spec.coverage.accepted_identifiers, rows)]
    if spec.coverage.all_columns_named:
        bare = [name for one in warnings if one.code == "columns_without_role" for name in one.columns]
        checks.append(columns_check(bare, rows))
    return checks


def _disclosure(asked: Sequence[Asked], judged: Judged) -> Disclosure | None:
    """The curve up to the most pieces of knowledge that any model asks about, if one does."""
    pieces = {item.model.pieces(): item.sensitive for item in asked if isinstance(item.model, SignatureModel)}
    if judged.signatures is None:
        return None
    return Disclosure(pieces[max(pieces)] or "", max(pieces), judged.signatures)


def _population(
    opened: _Opened, attribute: Resolved | None, frame: Frame, models: Sequence[Model], dialect: str
) -> Population | None:
    """The roles' expressions over the population table, if a model asks for it.

    Raises:
        UsageError: the population table lacks a column.
    """
    needs = {need for model in models for need in model.needs}
    relation, entity = opened.population, opened.roles.entity
    if relation is None or "population" not in needs:
        return None
    keys = [resolve(label, relation, dialect, "--qi").sql for label in key_labels(opened.roles, attribute, frame)]
    person = find_column(entity.label, relation) if entity else None
    believed = attribute if "original_qi" in needs else None
    original = opened.inputs["original_qi"] if believed else ()
    return Population(
        relation.sql,
        tuple(keys),
        quote(person.name, dialect) if person else None,
        resolve(believed.label, relation, dialect, "--sensitive").sql if believed else None,
        tuple(resolve(label, relation, dialect, "original_qi").sql for label in original),
    )


def asked_models(
    requirements: Sequence[Requirement], context: Context, roles: Roles, attribute: Resolved | None, position: int
) -> list[Asked]:
    """The models to evaluate for one sensitive attribute: what is required, or everything that needs no input.

    Models of class sizes alone are evaluated once, for the first attribute (`position` 0); with `joint` the classes
    differ from one attribute to the next, and so these models too.

    Raises:
        UsageError: a requirement lacks its sensitive attribute or an input, or has no meaning with these roles.
    """
    nulls = roles.nulls
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
        named = attribute is not None and (model.needs_sensitive or (roles.joint and len(roles.sensitive) > 1))
        if position and not named:
            continue
        _check_inputs(model, requirement, context, attribute)
        label = attribute.label if attribute is not None and named else None
        asked.append(Asked(model(requirement.parameters, context), requirement, label))
    return asked


def _by_default(model: Any, context: Context, nulls: NullPolicy) -> bool:
    if not model.by_default or (nulls is NullPolicy.WILDCARD and not model.wildcard):
        return False
    if any(need not in context.inputs for need in model.needs):
        return False
    if "population" in model.needs and nulls is NullPolicy.DISTINCT:
        return False
    if model.needs_order and "order" not in context.inputs:
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
