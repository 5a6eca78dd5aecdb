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
from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import NUMBERS, Statement
from sqlaudit.base.result import Status, Warned
from sqlaudit.base.spec import KnownRows, NullPolicy, Requirement, Roles
from sqlaudit.classes.attribute_inputs import inputs_of
from sqlaudit.classes.facts import (
    KNOWN_ROWS_OFFSET,
    ClassHistogram,
    Frame,
    SensitiveTable,
    known_rows_frame,
    known_rows_statement,
    make_known_rows_frame,
)
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
from sqlaudit.profiles.warnings import persons_with_several
from sqlaudit.reports.document import plural

if TYPE_CHECKING:
    from sqlaudit.audits.disclosure.attribute import Disclosure
    from sqlaudit.events.result import PersonsFound
    from sqlaudit.events.unicity import CountedPersons


# Which models are evaluated for a sensitive attribute: what is required, or everything that needs no input.


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
        refuse_without_entity(model, requirement.text or model.name, roles.entity)
        if model.needs_sensitive and context.table is None:
            if requirements:
                raise UsageError(
                    f"{requirement.text!r} needs a sensitive column. Name one with {spelled('sensitive')}."
                )
            continue
        if nulls is NullPolicy.WILDCARD and not model.wildcard:
            raise UsageError(
                f"{requirement.text or model.name!r} is not defined with {spelled('nulls', 'wildcard')}, where "
                f"groups overlap. Use {spelled('nulls', 'equal')} or distinct."
            )
        named = attribute is not None and (model.needs_sensitive or (roles.joint and len(roles.sensitive) > 1))
        if position and not named:
            continue
        _check_inputs(model, requirement, context, attribute)
        label = attribute.label if attribute is not None and named else None
        asked.append(Asked(model(requirement.parameters, context), requirement, label))
    return asked


def _by_default(model: type[Model], context: Context, nulls: NullPolicy) -> bool:
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
    missing = [need for need in model.needs if need not in context.inputs]
    if missing:
        raise UsageError(f"{requirement.text!r} {model.how_to_give(missing)}.")
    if model.needs_order and context.table and not context.table.ordered and "order" not in context.inputs:
        label = attribute.label if attribute else "the attribute"
        raise UsageError(
            f"{requirement.text!r}: the values of {label} are text and have no natural order. Declare one under "
            f"'order' in a file with {spelled('inputs')}."
        )


def defined(builder: HistogramBuilder, attribute: Resolved | None, asked: list[Asked]) -> list[Asked]:
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
            f"{wanting[0].requirement.text!r} needs one group and one value of {attribute.label} for each person, "
            f"but {plural(persons, 'person has', 'people have')} more."
        )
    return [item for item in asked if item not in wanting] if persons else asked


# For whom a verdict holds that counts persons: who knows one row of a person, or all of them.


@dataclass(frozen=True)
class Combinations:
    """How many persons have more than one combination of the quasi-identifiers: asked once of each key."""

    engine: Engine
    _known: dict[tuple[str, tuple[str, ...]], tuple[int, int]] = field(default_factory=dict)

    def of(self, frame: Frame) -> tuple[int, int]:
        """(persons, those of them with more than one combination)."""
        asked = (frame.source, frame.keys)
        if asked not in self._known:
            persons, several = self.engine.run(HistogramBuilder(self.engine, frame).combinations_statement())[0]
            self._known[asked] = int(persons), int(several)
        return self._known[asked]


def differs(
    frame: Frame, known: KnownRows, nulls: NullPolicy, combinations: Combinations, *, judged: bool = True
) -> bool:
    """Whether someone who knows all rows of a person is to be judged, and knows more than from one of them.

    Raises:
        UsageError: that cannot be judged, and a verdict is asked for.
    """
    if frame.entity is None or not frame.keys or known is KnownRows.ONE:
        return False
    persons, several = combinations.of(frame)
    if not several or nulls is not NullPolicy.WILDCARD:
        return bool(several)
    if judged or known is KnownRows.ALL:
        raise UsageError(
            f"{several:,} of {persons:,} people have more than one combination of the quasi-identifiers. Attackers "
            "who know all rows of a person cannot be judged where a missing value matches any value. Use "
            f"{spelled('known_rows', 'one')}, or {spelled('nulls', 'equal')} or distinct."
        )
    return False


def of_all_rows(asked: Sequence[Asked]) -> list[Asked]:
    """The models whose classes may be those of persons, too: no others are matched with them, as a population is."""
    return [item for item in asked if not item.model.of_persons and "population" not in item.model.needs]


def without_population(asked: Sequence[Asked]) -> list[Asked]:
    """The models that have a meaning where only all rows of a person together are known.

    Raises:
        UsageError: another one is required.
    """
    for item in asked:
        if item.model.is_required and "population" in item.model.needs:
            raise UsageError(
                f"{item.requirement.text!r} compares single rows with a population, not all rows of a person. Use "
                f"{spelled('known_rows', 'one')}."
            )
    return [item for item in asked if "population" not in item.model.needs]


def combination_statements(table: OpenedTable) -> list[Statement]:
    """Return the statement that `person_warnings` runs; none without an entity."""
    return [table.histogram_builder().combinations_statement()] if table.roles.entity else []


def plan_person_statements(
    frame: Frame, engine: Engine, given: Roles, requirements: Sequence[Requirement]
) -> list[Statement]:
    """What is asked where persons have several combinations: what all rows of each say, and the classes that makes; and
    what is read to count known events. None without an entity."""
    if frame.entity is None:
        return []
    statements: list[Statement] = []
    if frame.keys and given.known_rows is not KnownRows.ONE and given.nulls is not NullPolicy.WILDCARD:
        made = known_rows_statement(engine, frame)
        known = known_rows_frame(frame, f"({made.sql})")
        statements += [made, *HistogramBuilder(engine, known).plan(known.sensitive)]
    if any(REGISTRY[one.model].of_persons for one in requirements):
        from sqlaudit.events.unicity import reading_of

        statements.append(reading_of(engine, frame))
    return statements


def person_warnings(table: OpenedTable, combinations: Combinations) -> tuple[Warned, ...]:
    """Return the warning that says for whom a verdict holds that counts persons; none without an entity."""
    if table.roles.entity is None:
        return ()
    persons, several = combinations.of(table.frame())
    known_rows = KnownRows.ONE if table.given.nulls is NullPolicy.WILDCARD else table.given.known_rows
    warning = persons_with_several(table.roles.entity.label, persons, several, known_rows)
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
    """

    table: OpenedTable
    request: AuditRequest
    combinations: Combinations
    spelling_conflicts: Mapping[str | None, str]


@dataclass(frozen=True)
class Part:
    """What was found for one sensitive attribute (or for none).

    `asked` are the models that were evaluated. `every` are the failing classes, to go through one by one;
    `failing` the smallest of them. `persons` is what was counted of these, `table` the attribute over the whole table.
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
    """The models over the classes of one sensitive attribute, which is the one at this position.

    Raises:
        UsageError: a requirement does not fit the attribute or the roles.
    """
    table, request = opened.table, opened.request
    frame, known_rows = table.frame(attribute), table.given.known_rows
    several = differs(frame, known_rows, table.given.nulls, opened.combinations, judged=bool(request.requirements))
    if several and known_rows is KnownRows.ALL:
        of_persons = make_known_rows_frame(table.engine, frame, position)
        without_values = replace(opened, request=replace(request, show_values=False))
        return _part(without_values, attribute, position, frame, of_persons)
    part = _part(opened, attribute, position, frame, frame)
    return _with_all_rows(part, opened, position, frame) if several else part


def _part(opened: OpenedAudit, attribute: Resolved | None, position: int, rows: Frame, frame: Frame) -> Part:
    """The models over the classes of a frame: that of the rows, or one in which all rows of a person are known."""
    # The attribute as the frame has it
    attribute = None if attribute is None or frame.sensitive is None else replace(attribute, sql=frame.sensitive)
    engine, roles, request = opened.table.engine, opened.table.given, opened.request
    builder = HistogramBuilder(engine, frame, roles.nulls, position)
    if attribute is not None:
        builder = builder.with_lanes(attribute.collated, MAX_VALUES_READ + 1)
    table, nulls = sensitive_table(builder, attribute)
    histogram = builder.build(frame.sensitive, table)
    inputs = inputs_of(opened.table.inputs, attribute.label if attribute else None, table, roles.values)
    context = Context(table, 0, inputs, frozenset(requirement.model for requirement in request.requirements))
    asked = asked_models(request.requirements, context, roles, attribute, position)
    asked = defined(builder, attribute, asked if frame is rows else without_population(asked))
    models = [item.model for item in asked]
    population = _population(opened.table, attribute, frame, models, request.show_values)
    persons = _persons(engine, rows, models)
    facts = (*facts_of(histogram, asked), *((DISTINCT, LARGEST) if request.worst_classes_read else ()))
    histogram = builder.keep_facts(histogram, list({fact.name: fact for fact in facts}.values()))
    classes = _Classes(opened, attribute, asked, builder, histogram)
    keys, together = classes.keys, engine.answers_together
    if together:
        histogram.ask_ahead([*statements_of(histogram, asked), *([] if keys else classes.foreseen())])
    judged = undecided(judge(histogram, asked, frame, population, persons), opened.spelling_conflicts)
    every = [one for one in classes.failing(judged.watched) if not all(short.is_met for short in one.requirements)]
    if together and keys and judged.rows:
        classes.histogram.ask_ahead(classes.statements(every, [judged.blamed]))
    failing, total = _smallest(every, request.failing_classes)
    disclosure = _disclosure(asked, judged)
    counted = persons.found() if persons else None
    if table is None or attribute is None:
        return Part(asked, judged, failing, total, tuple(every), disclosure, persons=counted)
    summary = SensitiveSummary(attribute.label, table.distinct, nulls, histogram.form, table.ordered)
    worst = None
    if request.worst_classes_read and judged.rows:
        shown = (keys, frame.collated, request.show_values)
        worst = worst_classes(classes.histogram, asked, judged, request.worst_classes_read, *shown)
    return Part(asked, judged, failing, total, tuple(every), disclosure, summary, worst, counted, table)


def _with_all_rows(part: Part, opened: OpenedAudit, position: int, frame: Frame) -> Part:
    """What was found for someone who knows one row of a person, beside what somebody finds who knows all of them."""
    asked = of_all_rows(part.asked)
    if not asked:
        return part
    known = make_known_rows_frame(opened.table.engine, frame, position)
    builder = HistogramBuilder(opened.table.engine, known, NullPolicy.EQUAL, KNOWN_ROWS_OFFSET + position)
    histogram = builder.build(known.sensitive, part.table)
    every = undecided(judge(histogram, asked, known), opened.spelling_conflicts)
    judged = replace(part.judged, checks=worse_checks(part.judged.checks, every.checks))
    texts = dict.fromkeys(check.text for check in every.checks if check.status not in (None, Status.PASS))
    whom = "against attackers who know all rows of a person is about groups of people, not of rows."
    unnamed = tuple(f"{text!r} {whom}" for text in texts)
    persons = part.persons or _alike(every, part.judged)
    return replace(part, judged=replace(judged, unnamed=(*judged.unnamed, *unnamed)), persons=persons)


@dataclass(frozen=True)
class _Classes:
    """The classes as they may be shown: apart and with their keys where values may be, read when first asked for."""

    opened: OpenedAudit
    attribute: Resolved | None
    asked: Sequence[Asked]
    builder: HistogramBuilder
    merged: ClassHistogram

    @property
    def keys(self) -> list[str]:
        """What the user calls the columns of the key; empty when values may not be shown."""
        shown = self.opened.request.show_values
        return key_labels(self.opened.table.roles, self.attribute, self.builder.frame) if shown else []

    @property
    def histogram(self) -> ClassHistogram:
        """The classes, apart and with their keys if these may be shown."""
        return self.apart if self.keys else self.merged

    @cached_property
    def apart(self) -> ClassHistogram:
        """The classes, apart and with their keys."""
        if self.merged.form == "wildcard":  # which has its keys already
            return self.merged
        return self.builder.build(self.builder.frame.sensitive, self.merged.table, keep_keys=True)

    def failing(self, watched: Sequence[ClassRequirement]) -> list[FailingClasses]:
        """The classes that fail what is watched, by what it is about: beside several sensitive attributes, the
        record and each of them."""
        several = len(self.opened.table.roles.sensitive) > 1
        joint = several and self.opened.table.given.joint  # classes differ from one attribute to the next
        groups = [watched]
        if several and not joint:
            of_record = [short for short in watched if short.sensitive is None]
            groups = [of_record, [short for short in watched if short.sensitive is not None]]
        facts, frame = tuple(merged_facts([item.model for item in self.asked])), self.builder.frame
        return [
            FailingClasses(
                self.apart if any(short.has_keys for short in group) else self.histogram,
                tuple(group),
                facts if place == len(groups) - 1 else (),
                tuple(self.keys),
                frame.collated,
                len(frame.keys),
                self.attribute.label if self.attribute and joint else None,
            )
            for place, group in enumerate(groups)
            if group
        ]

    def statements(self, every: Sequence[FailingClasses], blamed: Sequence[Sequence[str]]) -> list[Statement]:
        """What asks for the failing classes, and for the worst ones if these predicates are to blame."""
        request, histogram = self.opened.request, self.histogram
        limit, number = request.failing_classes, request.worst_classes_read
        statements = [failing.statement(limit) for failing in every if limit != 0 and failing.histogram is histogram]
        if number and histogram.lane_count:
            shown = (self.keys, self.builder.frame.collated)
            statements += [worst_statement(histogram, self.asked, some, number, *shown) for some in blamed]
        return statements

    def foreseen(self) -> list[Statement]:
        """The same, said before it is known which classes fail."""
        watched = foreseen(self.asked)
        blamed = of_values(watched)
        return self.statements(self.failing(watched), [(), blamed] if blamed else [()])


def _alike(every: Judged, one: Judged) -> PersonsFound:
    """What is told of persons where no model asks for more: who knows all of their rows."""
    from sqlaudit.events.result import PersonsFound, Profile

    profile = Profile.of(dict(every.sizes.sizes), 2)
    return PersonsFound(every.sizes.members, one.rows, one.sizes.count, None, profile)


def _persons(engine: Engine, frame: Frame, models: Sequence[Model]) -> CountedPersons | None:
    """What models ask of persons and their events, if one does."""
    wanted = persons_wanted(models)
    if wanted is None:
        return None
    from sqlaudit.events.unicity import count_persons

    return count_persons(engine, frame, wanted)


def _smallest(every: Sequence[FailingClasses], limit: int | None) -> tuple[tuple[FailingClass, ...], int]:
    """The smallest failing classes (keys only when values may be shown), and how many there are."""
    found: list[FailingClass] = []
    total = 0
    for failing in every:
        short = [short for short in failing.requirements if not short.is_met]
        if limit == 0 and len(short) == 1 and short[0].classes is not None:
            total += short[0].classes
            continue
        few, more = failing.smallest(limit)
        found, total = found + few, total + more
    return tuple(found), total


def _disclosure(asked: Sequence[Asked], judged: Judged) -> Disclosure | None:
    """The curve up to the most pieces of knowledge that any model asks about, if one does."""
    pieces = {item.model.pieces(): item.sensitive for item in asked if item.model.by_signatures}
    if judged.signatures is None:
        return None
    from sqlaudit.audits.disclosure.attribute import Disclosure

    return Disclosure(pieces[max(pieces)] or "", max(pieces), judged.signatures)


def _population(
    table: OpenedTable, attribute: Resolved | None, frame: Frame, models: Sequence[Model], shown: bool
) -> Population | None:
    """The roles' expressions over the population table, if a model asks for it.

    Raises:
        UsageError: the population table lacks a column, or the stated person a value.
    """
    needs = {need for model in models for need in model.needs}
    relation, entity, dialect = table.population, table.roles.entity, table.engine.dialect
    if relation is None or "population" not in needs:
        return None
    own = {role.label: role for role in (*table.roles.quasi_identifiers, *table.roles.sensitive)}
    labels = key_labels(table.roles, attribute, frame)
    keys = [resolve_like(own[label], relation, dialect, about("qi")).sql for label in labels]
    values = table.given.values
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
        person=_stated(stated, original, shown) if stated else None,
    )


def _stated(stated: PersonDescription, original: Sequence[Resolved], shown: bool) -> StatedPerson:
    """The person whose beliefs are told."""
    labels = [column.label for column in original]
    if set(stated.values) != set(labels):
        raise UsageError(f"{stated.place}: the person needs exactly the columns of 'original_qi': {', '.join(labels)}.")
    values = tuple(as_parameter(stated.values[column.label], column, stated.place) for column in original)
    return StatedPerson(tuple(column.kind in NUMBERS for column in original), values, stated.place, shown)
