"""One sensitive attribute of an audit (or none): its classes, what the models find of them, and what falls short."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sqlaudit.audits.asking import asked_models, defined
from sqlaudit.audits.distribution import WorstClasses
from sqlaudit.audits.persons import Combinations, differs, of_all_rows, without_population
from sqlaudit.audits.result import SensitiveSummary
from sqlaudit.audits.worst_classes import worst_classes, worst_statement
from sqlaudit.base.columns_of import NUMBERS, Resolved, as_parameter, find_column, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import quote
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.result import Status
from sqlaudit.base.spec import KnownRows, NullPolicy, Requirement, Roles
from sqlaudit.base.words import about
from sqlaudit.classes.attribute_inputs import inputs_of
from sqlaudit.classes.facts import ClassHistogram, Fact, Frame, SensitiveTable
from sqlaudit.classes.failing import FailingClasses
from sqlaudit.classes.found import FailingClass
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.classes.inputs import Stated
from sqlaudit.classes.listing import Short
from sqlaudit.classes.opening import MAX_VALUES_READ, ResolvedRoles, frame_of, key_labels, sensitive_table
from sqlaudit.engines.contract import Engine
from sqlaudit.models.base import Context, Model, Population, StatedPerson
from sqlaudit.models.diversity import DISTINCT, LARGEST
from sqlaudit.models.judge import Asked, Judged, facts_of, foreseen, judge, merged_facts, of_values, statements_of
from sqlaudit.models.persons import persons_wanted

if TYPE_CHECKING:
    from sqlaudit.audits.disclosure.attribute import Disclosure
    from sqlaudit.events.facts import CountedPersons
    from sqlaudit.events.result import PersonsFound


@dataclass(frozen=True)
class ClassesWanted:
    """What is told of classes: of how many that fall short (None = all), of how many of the worst ones how their
    sensitive values are spread, and whether the values of keys may be read."""

    failing: int | None
    worst: int
    values: bool


@dataclass(frozen=True)
class Opened:
    """What all parts of one audit share: the table, its roles as they were found and as they were given, and what is
    required of it. What is kept of its parts is numbered from `aside` on, which is 0 but for a second look."""

    engine: Engine
    relation: Relation
    roles: ResolvedRoles
    given: Roles
    requirements: Sequence[Requirement]
    inputs: Mapping[str, Any]
    population: Relation | None
    combinations: Combinations
    aside: int = 0


@dataclass(frozen=True)
class Part:
    """What was found for one sensitive attribute (or for none).

    `asked` are the models that were evaluated. `every` are the classes that fall short, to go through one by one;
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


def audit_part(opened: Opened, attribute: Resolved | None, position: int, wanted: ClassesWanted) -> Part:
    """The models over the classes of one sensitive attribute, which is the one at this position.

    Raises:
        UsageError: a requirement does not fit the attribute or the roles.
    """
    frame = frame_of(opened.relation, opened.roles, attribute, opened.given)
    known_rows, nulls = opened.given.known_rows, opened.given.nulls
    several = differs(frame, known_rows, nulls, opened.combinations, judged=bool(opened.requirements))
    if several and known_rows is KnownRows.ALL:
        from sqlaudit.classes.alike import alike_frame

        known = alike_frame(opened.engine, frame, opened.aside + position)
        return _part(opened, attribute, position, replace(wanted, values=False), frame, known)
    part = _part(opened, attribute, position, wanted, frame, frame)
    return _with_all_rows(part, opened, position, frame) if several else part


def _part(
    opened: Opened, attribute: Resolved | None, position: int, wanted: ClassesWanted, rows: Frame, frame: Frame
) -> Part:
    """The models over the classes of a frame: that of the rows, or one in which all rows of a person are known."""
    attribute = _in(frame, attribute)
    builder = HistogramBuilder(opened.engine, frame, opened.given.nulls, opened.aside + position)
    if attribute is not None:
        builder = builder.with_lanes(attribute.collated, MAX_VALUES_READ + 1)
    table, nulls = sensitive_table(builder, attribute)
    histogram = builder.build(attribute.sql if attribute else None, table)
    context = Context(
        table,
        0,
        inputs_of(opened.inputs, attribute.label if attribute else None, table),
        frozenset(requirement.model for requirement in opened.requirements),
    )
    asked = asked_models(opened.requirements, context, opened.given, attribute, position)
    asked = defined(builder, attribute, asked if frame is rows else without_population(asked))
    population = _population(opened, attribute, frame, [item.model for item in asked], wanted.values)
    persons = _persons(opened.engine, rows, asked)
    histogram = builder.keep_facts(histogram, _facts(histogram, asked, wanted))
    shown = _Keyed(builder, histogram, attribute, opened.roles, wanted.values, opened.given.joint)
    if opened.engine.answers_together:
        about = [] if shown.keys else _foreseen(shown, asked, wanted)
        histogram.ask_ahead([*statements_of(histogram, asked), *about])
    judged = judge(histogram, asked, frame, population, persons)
    every = tuple(_failing(shown, asked, judged.watched))
    if opened.engine.answers_together and shown.keys and judged.rows:
        shown.histogram.ask_ahead(_telling(shown, asked, every, [judged.blamed], wanted))
    failing, total = _told(every, wanted.failing)
    disclosure = _disclosure(asked, judged)
    told = persons.found() if persons else None
    if table is None or attribute is None:
        return Part(asked, judged, failing, total, every, disclosure, persons=told)
    summary = SensitiveSummary(attribute.label, table.distinct, nulls, histogram.form, table.ordered)
    worst = _worst(shown, asked, judged, wanted.worst)
    return Part(asked, judged, failing, total, every, disclosure, summary, worst, told, table)


def _in(frame: Frame, attribute: Resolved | None) -> Resolved | None:
    """The attribute as the frame has it."""
    return None if attribute is None or frame.sensitive is None else replace(attribute, sql=frame.sensitive)


def _with_all_rows(part: Part, opened: Opened, position: int, frame: Frame) -> Part:
    """What was found for somebody who knows one row of a person, beside what somebody finds who knows all of them."""
    asked = of_all_rows(part.asked)
    if not asked:
        return part
    from sqlaudit.classes.alike import BESIDE, alike_frame
    from sqlaudit.models.known_rows import worse_checks

    known = alike_frame(opened.engine, frame, opened.aside + position)
    builder = HistogramBuilder(opened.engine, known, NullPolicy.EQUAL, opened.aside + BESIDE + position)
    histogram = builder.build(known.sensitive, part.table)
    every = judge(histogram, asked, known)
    judged = replace(part.judged, checks=worse_checks(part.judged.checks, every.checks))
    texts = dict.fromkeys(check.text for check in every.checks if check.status not in (None, Status.PASS))
    whom = "for somebody who knows all rows of a person is about classes of persons, and not of rows."
    unnamed = tuple(f"{text!r} {whom}" for text in texts)
    persons = part.persons or _alike(every, part.judged)
    return replace(part, judged=replace(judged, unnamed=(*judged.unnamed, *unnamed)), persons=persons)


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
        frame, apart = self.builder.frame, any(short.has_keys for short in shorts)
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


def _alike(every: Judged, one: Judged) -> PersonsFound:
    """What is told of persons where no model asks for more: who knows all of their rows."""
    from sqlaudit.events.result import PersonsFound, Profile

    profile = Profile.of(dict(every.sizes.sizes), 2)
    return PersonsFound(every.sizes.members, one.rows, one.sizes.count, None, profile)


def _persons(engine: Engine, frame: Frame, asked: Sequence[Asked]) -> CountedPersons | None:
    """What models ask of persons and their events, if one does."""
    wanted = persons_wanted([item.model for item in asked])
    if wanted is None:
        return None
    from sqlaudit.events.facts import count_persons

    return count_persons(engine, frame, wanted)


def _facts(histogram: ClassHistogram, asked: Sequence[Asked], wanted: ClassesWanted) -> list[Fact]:
    """The facts of classes that more than one statement reads, if one does."""
    of_worst = (DISTINCT, LARGEST) if wanted.worst else ()
    return list({fact.name: fact for fact in (*facts_of(histogram, asked), *of_worst)}.values())


def _foreseen(shown: _Keyed, asked: Sequence[Asked], wanted: ClassesWanted) -> list[Statement]:
    """What may be asked of classes that fall short and of the worst ones, said before it is known which do."""
    watched = foreseen(asked)
    blamed = of_values(watched)
    return _telling(shown, asked, _grouped(shown, asked, watched), [(), blamed] if blamed else [()], wanted)


def _telling(
    shown: _Keyed,
    asked: Sequence[Asked],
    every: Sequence[FailingClasses],
    blamed: Sequence[Sequence[str]],
    wanted: ClassesWanted,
) -> list[Statement]:
    """What asks for the classes that fall short, and for the worst ones if these predicates are to blame."""
    limit, histogram = wanted.failing, shown.histogram
    statements = [failing.statement(limit) for failing in every if limit != 0 and failing.histogram is histogram]
    if wanted.worst and histogram.lane_count:
        collated = shown.builder.frame.collated
        statements += [worst_statement(histogram, asked, some, wanted.worst, shown.keys, collated) for some in blamed]
    return statements


def _failing(shown: _Keyed, asked: Sequence[Asked], watched: Sequence[Short]) -> list[FailingClasses]:
    """What falls short, as far as anything does."""
    groups = _grouped(shown, asked, watched)
    return [failing for failing in groups if not all(short.held for short in failing.shorts)]


def _grouped(shown: _Keyed, asked: Sequence[Asked], watched: Sequence[Short]) -> list[FailingClasses]:
    """What is watched, by what it is about: beside several sensitive attributes, the record and each of them."""
    facts = tuple(merged_facts([item.model for item in asked]))
    apart = len(shown.roles.sensitive) > 1 and not shown.joint
    groups = (
        [tuple(watched)]
        if not apart
        else [
            tuple(short for short in watched if short.sensitive is None),
            tuple(short for short in watched if short.sensitive is not None),
        ]
    )
    return [shown.failing(group, facts if place or not apart else ()) for place, group in enumerate(groups) if group]


def _told(every: Sequence[FailingClasses], limit: int | None) -> tuple[tuple[FailingClass, ...], int]:
    """The smallest failing classes (keys only when values may be shown), and how many there are."""
    told: list[FailingClass] = []
    all_of_them = 0
    for failing in every:
        short = [short for short in failing.shorts if not short.held]
        known = short[0].classes if len(short) == 1 else None
        if limit == 0 and known is not None:
            all_of_them += known
            continue
        few, total = failing.smallest(limit)
        told, all_of_them = told + few, all_of_them + total
    return tuple(told), all_of_them


def _worst(shown: _Keyed, asked: Sequence[Asked], judged: Judged, number: int) -> WorstClasses | None:
    """The distributions in the worst classes, if they are wanted."""
    if not number or not judged.rows:
        return None
    collated = shown.builder.frame.collated
    return worst_classes(shown.histogram, asked, judged, number, shown.keys, collated, shown.show_values)


def _disclosure(asked: Sequence[Asked], judged: Judged) -> Disclosure | None:
    """The curve up to the most pieces of knowledge that any model asks about, if one does."""
    pieces = {item.model.pieces(): item.sensitive for item in asked if item.model.by_signatures}
    if judged.signatures is None:
        return None
    from sqlaudit.audits.disclosure.attribute import Disclosure

    return Disclosure(pieces[max(pieces)] or "", max(pieces), judged.signatures)


def _population(
    opened: Opened, attribute: Resolved | None, frame: Frame, models: Sequence[Model], shown: bool
) -> Population | None:
    """The roles' expressions over the population table, if a model asks for it.

    Raises:
        UsageError: the population table lacks a column, or the stated person a value.
    """
    needs = {need for model in models for need in model.needs}
    relation, entity, dialect = opened.population, opened.roles.entity, opened.engine.dialect
    if relation is None or "population" not in needs:
        return None
    keys = [resolve(label, relation, dialect, about("qi")).sql for label in key_labels(opened.roles, attribute, frame)]
    person = find_column(entity.label, relation) if entity else None
    believed = attribute if "original_qi" in needs else None
    labels = opened.inputs["original_qi"] if believed else ()
    original = [resolve(label, relation, dialect, "original_qi") for label in labels]
    stated = opened.inputs.get("person") if believed else None
    return Population(
        relation.sql,
        tuple(keys),
        quote(person.name, dialect) if person else None,
        resolve(believed.label, relation, dialect, about("sensitive")).sql if believed else None,
        tuple(column.sql for column in original),
        _stated(stated, original, shown) if stated else None,
    )


def _stated(stated: Stated, original: Sequence[Resolved], shown: bool) -> StatedPerson:
    """The person whose beliefs are told."""
    labels = [column.label for column in original]
    if set(stated.values) != set(labels):
        raise UsageError(f"{stated.place}: the person needs exactly the columns of 'original_qi': {', '.join(labels)}.")
    values = tuple(as_parameter(stated.values[column.label], column, stated.place) for column in original)
    return StatedPerson(tuple(column.kind in NUMBERS for column in original), values, stated.place, shown)
