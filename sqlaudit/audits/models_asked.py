"""One sensitive attribute of an audit: which models are asked for it, what they find, and for whom it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from sqlaudit.audits.classes import WorstClasses, worst_classes, worst_statement
from sqlaudit.audits.request import AuditRequest
from sqlaudit.audits.result import SensitiveSummary
from sqlaudit.base.columns_of import Resolved, as_parameter, resolve, resolve_like
from sqlaudit.base.errors import Undecidable, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import NUMBERS, Statement
from sqlaudit.base.result import Status, Warned
from sqlaudit.base.spec import KnownRows, NullPolicy, Requirement, Roles
from sqlaudit.classes.attribute_inputs import inputs_of
from sqlaudit.classes.facts import ClassHistogram, Frame, SensitiveTable
from sqlaudit.classes.failing import ClassRequirement, FailingClass, FailingClasses
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.classes.inputs import PersonDescription
from sqlaudit.classes.opening import (
    MAX_VALUES_READ,
    OpenedTable,
    apply_spelling_policy,
    find_entity_column,
    key_labels,
    sensitive_table,
)
from sqlaudit.classes.people import KNOWN_ROWS_OFFSET, known_rows_frame, known_rows_statement, make_known_rows_frame
from sqlaudit.engines.contract import Engine
from sqlaudit.models.base import Context, Model, Population, StatedPerson
from sqlaudit.models.diversity import DISTINCT, LARGEST
from sqlaudit.models.judge import (
    Asked,
    Judged,
    facts_of,
    foreseen,
    judge,
    merged_facts,
    of_values,
    statements_of,
    undecided,
    worse_checks,
)
from sqlaudit.models.persons import persons_wanted, refuse_without_entity
from sqlaudit.models.registry import REGISTRY
from sqlaudit.profiles.warnings import warn_about_several_rows
from sqlaudit.reports.document import plural

if TYPE_CHECKING:
    from sqlaudit.audits.disclosure.attribute import Disclosure
    from sqlaudit.events.result import PersonsFound
    from sqlaudit.events.unicity import CountedPersons


# Which models are evaluated for a sensitive attribute: what is required, or everything that needs no input.


def asked_models(
    requirements: Sequence[Requirement], context: Context, roles: Roles, attribute: Resolved | None, position: int
) -> list[Asked]:
    """Return the models to evaluate for one sensitive attribute: the required ones, or all that need no input.

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
    evaluations = []
    for model, requirement in models:
        refuse_without_entity(model, requirement.text or model.name, roles.entity)
        if model.needs_sensitive and context.table is None:
            if requirements:
                raise UsageError(
                    f"{requirement.text!r} needs a sensitive column. Name one with {spelled('sensitive')}."
                )
            continue
        if nulls is NullPolicy.WILDCARD and not model.wildcard:
            raise Undecidable(
                f"{requirement.text or model.name!r} is not defined with {spelled('nulls', 'wildcard')}, where "
                f"groups overlap. Use {spelled('nulls', 'equal')} or distinct."
            )
        named = attribute is not None and (model.needs_sensitive or (roles.joint and len(roles.sensitive) > 1))
        if position and not named:
            continue
        _check_inputs(model, requirement, context, attribute)
        label = attribute.label if attribute is not None and named else None
        evaluations.append(Asked(model(requirement.parameters, context), requirement, label))
    return evaluations


def _by_default(model: type[Model], context: Context, nulls: NullPolicy) -> bool:
    """Return True if the model is evaluated where nothing is required: it has a meaning, and its inputs."""
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


def _check_inputs(model: type[Model], requirement: Requirement, context: Context, attribute: Resolved | None) -> None:
    """Raise UsageError if the model lacks an input, or an order of the sensitive values."""
    missing = [need for need in model.needs if need not in context.inputs]
    if missing:
        raise UsageError(f"{requirement.text!r} {model.how_to_give(missing)}.")
    if model.needs_order and context.table and not context.table.ordered and "order" not in context.inputs:
        label = attribute.label if attribute else "the attribute"
        raise UsageError(
            f"{requirement.text!r}: the values of {label} are text and have no natural order. Declare one under "
            f"'order' in a file with {spelled('inputs')}."
        )


def models_with_a_meaning(
    builder: HistogramBuilder, attribute: Resolved | None, evaluations: list[Asked]
) -> list[Asked]:
    """Leave out the models that have no meaning when a person has two values or lies in two classes.

    Raises:
        UsageError: such a model is required, and there are such persons.
    """
    wanting = [item for item in evaluations if item.model.one_value_per_person]
    if builder.frame.entity is None or attribute is None or not wanting:
        return evaluations
    persons = builder.persons_in_several_places(attribute.sql)
    if persons and wanting[0].model.is_required:
        raise Undecidable(
            f"{wanting[0].requirement.text!r} needs one group and one value of {attribute.label} for each person, "
            f"but {plural(persons, 'person has', 'people have')} more."
        )
    return [item for item in evaluations if item not in wanting] if persons else evaluations


# For whom a verdict holds that counts persons: who knows one row of a person, or all of them.


@dataclass(frozen=True)
class Combinations:
    """Counts of persons with more than one combination of the quasi-identifiers, asked once for each key."""

    engine: Engine
    _counts: dict[tuple[str, tuple[str, ...]], tuple[int, int]] = field(default_factory=dict)

    def of(self, frame: Frame) -> tuple[int, int]:
        """Return the number of persons, and of those with more than one combination."""
        key = (frame.source, frame.keys)
        if frame.people:
            self._counts[key] = frame.people.persons, frame.people.in_several_classes
        elif key not in self._counts:
            persons, several = self.engine.run(HistogramBuilder(self.engine, frame).combinations_statement())[0]
            self._counts[key] = int(persons), int(several)
        return self._counts[key]


def differ_from_one_row(
    frame: Frame, known_rows: KnownRows, nulls: NullPolicy, combinations: Combinations, *, is_judged: bool = True
) -> bool:
    """Return True if someone who knows all rows of a person is judged, and knows more than from one of them.

    Raises:
        UsageError: that cannot be judged, and a verdict is asked for.
    """
    if frame.entity is None or not frame.keys or known_rows is KnownRows.ONE:
        return False
    persons, several = combinations.of(frame)
    if not several or nulls is not NullPolicy.WILDCARD:
        return bool(several)
    if is_judged or known_rows is KnownRows.ALL:
        raise Undecidable(
            f"{several:,} of {persons:,} people have more than one combination of the quasi-identifiers. Attackers "
            "who know all rows of a person cannot be judged where a missing value matches any value. Use "
            f"{spelled('known_rows', 'one')}, or {spelled('nulls', 'equal')} or distinct."
        )
    return False


def models_of_all_rows(evaluations: Sequence[Asked]) -> list[Asked]:
    """Return the models whose classes may be those of persons, too: none that matches rows with a population."""
    return [item for item in evaluations if KnownRows.ALL in item.model.known_rows]


def without_population(evaluations: Sequence[Asked]) -> list[Asked]:
    """Return the models that have a meaning where only all rows of a person together are known.

    Raises:
        UsageError: another one is required.
    """
    for item in evaluations:
        if item.model.is_required and "population" in item.model.needs:
            raise Undecidable(
                f"{item.requirement.text!r} compares single rows with a population, not all rows of a person. Use "
                f"{spelled('known_rows', 'one')}."
            )
    return [item for item in evaluations if "population" not in item.model.needs]


def combination_statements(table: OpenedTable) -> list[Statement]:
    """Return the statement that `person_warnings` runs; none without an entity."""
    return [table.histogram_builder().combinations_statement()] if table.roles.entity else []


def plan_person_statements(
    frame: Frame, engine: Engine, roles: Roles, requirements: Sequence[Requirement]
) -> list[Statement]:
    """Return the statements about persons with several rows; none without an entity.

    They count classes of persons by all of their rows, and read what counts known events.
    """
    if frame.entity is None:
        return []
    statements: list[Statement] = []
    if frame.keys and roles.known_rows is not KnownRows.ONE and roles.nulls is not NullPolicy.WILDCARD:
        rows_of_persons = known_rows_statement(engine, frame)
        persons_frame = known_rows_frame(frame, f"({rows_of_persons.sql})")
        statements += [rows_of_persons, *HistogramBuilder(engine, persons_frame).plan(persons_frame.sensitive)]
    if any(REGISTRY[requirement.model].counts_people for requirement in requirements):
        from sqlaudit.events.unicity import reading_of

        statements.append(reading_of(engine, frame))
    return statements


def person_warnings(table: OpenedTable, combinations: Combinations) -> tuple[Warned, ...]:
    """Return the warning that says for whom a verdict holds that counts persons; none without an entity."""
    if table.roles.entity is None:
        return ()
    persons, several = combinations.of(table.frame())
    known_rows = KnownRows.ONE if table.named_roles.nulls is NullPolicy.WILDCARD else table.named_roles.known_rows
    warning = warn_about_several_rows(table.roles.entity.label, persons, several, known_rows)
    return (warning,) if warning else ()


# One sensitive attribute of an audit (or none): its classes, what the models find of them, and what fails.


@dataclass(frozen=True)
class OpenedAudit:
    """What all parts of one audit share.

    Args:
        table: the table, opened.
        request: what is asked of it.
        combinations: counts persons with several combinations of the quasi-identifiers.
        spelling_conflicts: why nothing can be said of a sensitive attribute, by name; under None of any.
        values: the values of sensitive attributes that were read to compare their spellings, with the number of NULL
            rows, by name.
    """

    table: OpenedTable
    request: AuditRequest
    combinations: Combinations
    spelling_conflicts: Mapping[str | None, str]
    values: Mapping[str, tuple[SensitiveTable | None, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Part:
    """The result of an audit for one sensitive attribute, or for none.

    Args:
        asked: the models that were evaluated.
        judged: their verdicts.
        failing: the smallest failing classes.
        failing_total: the number of failing classes.
        every: all failing classes, to go through one by one.
        disclosure: the curve of worst-case disclosure, if a model asks for it.
        summary: the attribute over the whole table, for reports.
        worst: the worst classes.
        persons: what was counted of persons.
        table: the values of the attribute over the whole table.
    """

    asked: Sequence[Asked]
    judged: Judged
    failing: tuple[FailingClass, ...]
    failing_total: int
    every: tuple[FailingClasses, ...]
    disclosure: Disclosure | None
    summary: SensitiveSummary | None = None
    worst: WorstClasses | None = None
    persons: PersonsFound | None = None
    table: SensitiveTable | None = None


def audit_part(opened: OpenedAudit, attribute: Resolved | None, position: int) -> Part:
    """Evaluate the models over the classes of one sensitive attribute, which is the one at this position.

    Raises:
        UsageError: a requirement does not fit the attribute or the roles.
    """
    table, request, known_rows = opened.table, opened.request, opened.table.named_roles.known_rows
    builder = table.histogram_builder(attribute, position)
    if attribute is not None:
        builder = builder.with_lanes(attribute.collated, MAX_VALUES_READ + 1)
    label = attribute.label if attribute else ""
    values, nulls = opened.values[label] if label in opened.values else sensitive_table(builder, attribute)
    if attribute is not None:
        builder = builder.with_values(values, attribute.type)
    if known_rows is not KnownRows.ONE:
        builder = builder.with_people(values)
    frame = builder.frame
    several = differ_from_one_row(
        frame, known_rows, table.named_roles.nulls, opened.combinations, is_judged=bool(request.requirements)
    )
    if several and known_rows is KnownRows.ALL:
        of_persons = replace(builder, frame=make_known_rows_frame(table.engine, frame, position))
        without_values = replace(opened, request=replace(request, show_values=False))
        return _part(without_values, attribute, frame, of_persons, values, nulls)
    part = _part(opened, attribute, frame, builder, values, nulls)
    return _with_all_rows(part, opened, builder) if several else part


def _part(
    opened: OpenedAudit,
    attribute: Resolved | None,
    rows: Frame,
    builder: HistogramBuilder,
    table: SensitiveTable | None,
    nulls: int,
) -> Part:
    """Evaluate the models over the classes of a frame.

    Args:
        opened: the audit.
        attribute: the sensitive attribute.
        rows: the frame of the rows.
        builder: the builder over the same frame, or over one in which all rows of a person are known. Its number is the
            position of the attribute.
        table: the attribute over the whole table.
        nulls: its NULL rows.
    """
    frame, position = builder.frame, builder.number
    # The attribute as the frame has it
    attribute = None if attribute is None or frame.sensitive is None else replace(attribute, sql=frame.sensitive)
    engine, roles, request = opened.table.engine, opened.table.named_roles, opened.request
    inputs = inputs_of(opened.table.inputs, attribute.label if attribute else None, table, roles.values)
    context = Context(table, 0, inputs, frozenset(requirement.model for requirement in request.requirements))
    evaluations = asked_models(request.requirements, context, roles, attribute, position)
    evaluations = models_with_a_meaning(
        builder, attribute, evaluations if frame is rows else without_population(evaluations)
    )
    models = [item.model for item in evaluations]
    histogram = _build(builder, table, models)
    population = _population(opened.table, attribute, frame, models, request.show_values)
    persons = _persons(engine, rows, models)
    facts = (*facts_of(histogram, evaluations), *((DISTINCT, LARGEST) if request.worst_classes_read else ()))
    histogram = builder.keep_facts(histogram, list({fact.name: fact for fact in facts}.values()))
    classes = _Classes(opened, attribute, evaluations, builder, histogram)
    keys, together = classes.keys, engine.answers_together
    if together and histogram.engine is engine:
        histogram.ask_ahead([*statements_of(histogram, evaluations), *([] if keys else classes.foreseen())])
    verdicts = undecided(judge(histogram, evaluations, frame, population, persons), opened.spelling_conflicts)
    failing_classes = [
        classes_of_requirement
        for classes_of_requirement in classes.failing(verdicts.class_requirements)
        if not all(short.is_met for short in classes_of_requirement.requirements)
    ]
    if together and keys and verdicts.rows:
        classes.histogram.ask_ahead(classes.statements(failing_classes, [verdicts.blamed]))
    failing, total = _smallest(failing_classes, request.failing_classes)
    disclosure = _disclosure(evaluations, verdicts)
    persons_found = persons.found() if persons else None
    if table is None or attribute is None:
        return Part(evaluations, verdicts, failing, total, tuple(failing_classes), disclosure, persons=persons_found)
    summary = SensitiveSummary(attribute.label, table.distinct, nulls, histogram.form, table.ordered)
    worst = None
    if request.worst_classes_read and verdicts.rows:
        parameters = (keys, frame.collated, request.show_values)
        worst = worst_classes(classes.histogram, evaluations, verdicts, request.worst_classes_read, *parameters)
    return Part(
        evaluations, verdicts, failing, total, tuple(failing_classes), disclosure, summary, worst, persons_found, table
    )


def _with_all_rows(part: Part, opened: OpenedAudit, builder: HistogramBuilder) -> Part:
    """Judge for someone who knows all rows of a person, too, and return the worse verdict of both."""
    evaluations = models_of_all_rows(part.asked)
    if not evaluations:
        return part
    persons_frame = make_known_rows_frame(builder.engine, builder.frame, builder.number)
    number = KNOWN_ROWS_OFFSET + builder.number
    builder = replace(builder, frame=persons_frame, nulls=NullPolicy.EQUAL, number=number)
    histogram = _build(builder, part.table, [item.model for item in evaluations])
    persons_verdicts = undecided(judge(histogram, evaluations, persons_frame), opened.spelling_conflicts)
    verdicts = replace(part.judged, checks=worse_checks(part.judged.checks, persons_verdicts.checks))
    texts = dict.fromkeys(check.text for check in persons_verdicts.checks if check.status not in (None, Status.PASS))
    whom = "against attackers who know all rows of a person is about groups of people, not of rows."
    unnamed = tuple(f"{text!r} {whom}" for text in texts)
    persons = part.persons or _alike(persons_verdicts, part.judged)
    return replace(part, judged=replace(verdicts, unnamed=(*verdicts.unnamed, *unnamed)), persons=persons)


def _build(builder: HistogramBuilder, table: SensitiveTable | None, models: Sequence[Model]) -> ClassHistogram:
    """Count the classes, on the workbench if they fit it and no model reads them together with the rows."""
    sensitive = builder.frame.sensitive
    joins_rows = any(model.joins_rows for model in models)
    return (None if joins_rows else builder.hand_over(sensitive, table)) or builder.build(sensitive, table)


@dataclass(frozen=True)
class _Classes:
    """The classes as they may be shown: one by one with their keys if values may be shown, read when first needed."""

    opened: OpenedAudit
    attribute: Resolved | None
    asked: Sequence[Asked]
    builder: HistogramBuilder
    merged: ClassHistogram

    @property
    def keys(self) -> list[str]:
        """The user's names of the key's columns; empty if values may not be shown."""
        is_shown = self.opened.request.show_values
        return key_labels(self.opened.table.roles, self.attribute, self.builder.frame) if is_shown else []

    @property
    def histogram(self) -> ClassHistogram:
        """The classes, with their keys if these may be shown."""
        return self.keyed_histogram if self.keys else self.merged

    @cached_property
    def keyed_histogram(self) -> ClassHistogram:
        """The classes one by one, with their keys."""
        if self.merged.form == "wildcard":  # which has its keys already
            return self.merged
        return self.builder.build(self.builder.frame.sensitive, self.merged.table, keep_keys=True)

    def failing(self, watched: Sequence[ClassRequirement]) -> list[FailingClasses]:
        """Return the failing classes by what they fail: with several attributes, of the record and of each of them."""
        several = len(self.opened.table.roles.sensitive) > 1
        joint = several and self.opened.table.named_roles.joint  # classes differ from one attribute to the next
        groups = [watched]
        if several and not joint:
            of_record = [short for short in watched if short.sensitive is None]
            groups = [of_record, [short for short in watched if short.sensitive is not None]]
        facts, frame = tuple(merged_facts([item.model for item in self.asked])), self.builder.frame
        return [
            FailingClasses(
                self.keyed_histogram if any(short.has_keys for short in group) else self.histogram,
                tuple(group),
                facts if position == len(groups) - 1 else (),
                tuple(self.keys),
                frame.collated,
                len(frame.keys),
                self.attribute.label if self.attribute and joint else None,
            )
            for position, group in enumerate(groups)
            if group
        ]

    def statements(self, failing_classes: Sequence[FailingClasses], blamed: Sequence[Sequence[str]]) -> list[Statement]:
        """Return the statements for the failing classes, and for the worst ones by the predicates that are to blame."""
        request, histogram = self.opened.request, self.histogram
        limit, number = request.failing_classes, request.worst_classes_read
        statements = [
            failing.statement(limit) for failing in failing_classes if limit != 0 and failing.histogram is histogram
        ]
        if number and histogram.lane_count:
            parameters = (self.keys, self.builder.frame.collated)
            statements += [
                worst_statement(histogram, self.asked, predicates, number, *parameters) for predicates in blamed
            ]
        return statements

    def foreseen(self) -> list[Statement]:
        """Return these statements before it is known which classes fail."""
        watched = foreseen(self.asked)
        blamed = of_values(watched)
        return self.statements(self.failing(watched), [(), blamed] if blamed else [()])


def _alike(persons_verdicts: Judged, row_verdicts: Judged) -> PersonsFound:
    """Return the figures of persons where no model asks for more: for someone who knows all of their rows."""
    from sqlaudit.events.result import PersonsFound
    from sqlaudit.models.people import Profile

    profile = Profile.of(dict(persons_verdicts.sizes.sizes), 2)
    return PersonsFound(persons_verdicts.sizes.members, row_verdicts.rows, row_verdicts.sizes.count, None, profile)


def _persons(engine: Engine, frame: Frame, models: Sequence[Model]) -> CountedPersons | None:
    """Count persons and their events as models need it; None if no model does."""
    asked_of_persons = persons_wanted(models)
    if asked_of_persons is None:
        return None
    from sqlaudit.events.unicity import count_persons

    return count_persons(engine, frame, asked_of_persons)


def _smallest(failing_classes: Sequence[FailingClasses], limit: int | None) -> tuple[tuple[FailingClass, ...], int]:
    """Return the smallest failing classes, with keys only if values may be shown, and the number of all of them."""
    classes: list[FailingClass] = []
    total = 0
    for failing in failing_classes:
        short = [short for short in failing.requirements if not short.is_met]
        if limit == 0 and len(short) == 1 and short[0].classes is not None:
            total += short[0].classes
            continue
        smallest, number = failing.smallest(limit)
        classes, total = classes + smallest, total + number
    return tuple(classes), total


def _disclosure(evaluations: Sequence[Asked], verdicts: Judged) -> Disclosure | None:
    """Return the disclosure curve up to the most pieces of knowledge that any model asks about, if one does."""
    pieces = {number: item.sensitive for item in evaluations if (number := item.model.pieces()) is not None}
    if verdicts.signatures is None:
        return None
    from sqlaudit.audits.disclosure.attribute import Disclosure

    return Disclosure(pieces[max(pieces)] or "", max(pieces), verdicts.signatures)


def _population(
    table: OpenedTable, attribute: Resolved | None, frame: Frame, models: Sequence[Model], show_values: bool
) -> Population | None:
    """Return the roles' expressions over the population table; None if no model asks for it.

    Raises:
        UsageError: the population table lacks a column, or the stated person a value.
    """
    needs = {need for model in models for need in model.needs}
    relation, entity, dialect = table.population, table.roles.entity, table.engine.dialect
    if relation is None or "population" not in needs:
        return None
    roles_by_label = {role.label: role for role in (*table.roles.quasi_identifiers, *table.roles.sensitive)}
    labels = key_labels(table.roles, attribute, frame)
    keys = [resolve_like(roles_by_label[label], relation, dialect, about("qi")).sql for label in labels]
    values = table.named_roles.values
    person = find_entity_column(table.engine, relation, entity, values) if entity else None
    population = Population(relation.sql, tuple(keys), person.sql if person else None)
    if attribute is None or "original_qi" not in needs:
        return population
    original = [resolve(label, relation, dialect, "original_qi") for label in table.inputs["original_qi"]]
    stated = table.inputs.get("person")
    believed = resolve(attribute.label, relation, dialect, about("sensitive"))
    return replace(
        population,
        sensitive=apply_spelling_policy(table.engine, relation, believed, values).sql,
        original=tuple(column.sql for column in original),
        person=_stated(stated, original, show_values) if stated else None,
    )


def _stated(stated: PersonDescription, original: Sequence[Resolved], show_values: bool) -> StatedPerson:
    """Return the person about whom an attacker's beliefs are reported."""
    labels = [column.label for column in original]
    if set(stated.values) != set(labels):
        raise UsageError(f"{stated.place}: the person needs exactly the columns of 'original_qi': {', '.join(labels)}.")
    values = tuple(as_parameter(stated.values[column.label], column, stated.place) for column in original)
    return StatedPerson(tuple(column.kind in NUMBERS for column in original), values, stated.place, show_values)
