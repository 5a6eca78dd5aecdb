"""What follows from stated knowledge: named persons and values are looked up, the pure program answers.

Only the classes of the named persons are read. What the user wrote reaches the database as bound parameters, never as
SQL.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from sqlaudit.audits.disclosure.given import Knowledge, NamedAtom, NamedPerson
from sqlaudit.audits.disclosure.request import check_roles
from sqlaudit.audits.disclosure.run import OpenedAttribute, open_attribute
from sqlaudit.base.columns_of import NUMBERS, Resolved, as_parameter
from sqlaudit.base.documents import Documented, after, exactly, key
from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.result import MeasuredResult
from sqlaudit.base.spec import Roles, Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import spelled
from sqlaudit.classes.attribute_inputs import AttributeInputs
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.classes.inputs import ValueList
from sqlaudit.classes.opening import ResolvedRoles, frame_of, load_columns, resolve_roles, shown_roles
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.provenance import provenance
from sqlaudit.models.disclosure.knowledge import DEFAULT_LIMIT, Atom, BasicImplication, WhatIf, what_if
from sqlaudit.reports.notebook import Shown


@dataclass(frozen=True)
class WhatIfAnswer(Documented):
    """How probable one statement is.

    Args:
        place: where it is asked. probability: given the knowledge. prior: without it.
        person, value: the statement as the user wrote it; None unless values may be shown.
    """

    place: str
    probability: Fraction = field(metadata=exactly("exact") | after("value"))
    prior: Fraction = field(metadata=exactly("prior_exact") | after("probability"))
    person: str | None = None
    value: str | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class WhatIfResult(MeasuredResult, Shown):
    """The answers to what was asked, given what is known.

    Args:
        people, pieces, classes: how many persons and pieces of knowledge were named, and in how many classes they are.
        knowledge: the probability of all the knowledge together; small when it would surprise.
        answers: one a statement. The rest is as in an audit.
    """

    schema: ClassVar = "sqlaudit-what-if/1"
    shown_by: ClassVar = "sqlaudit.audits.disclosure.what_if_report:what_if_document"
    frame_of: ClassVar = "answers"

    target: str = field(metadata=key("target.name"))
    engine: str = field(metadata=key("target.engine"))
    roles: Mapping[str, Any]
    sensitive: str
    people: int
    pieces: int
    classes: int
    knowledge: Fraction = field(metadata=key("knowledge.probability") | exactly("knowledge.exact"))
    answers: tuple[WhatIfAnswer, ...]


def answer(
    engine: Engine,
    target: Target,
    roles: Roles,
    knowledge: Knowledge,
    show_values: bool = False,
    limit: int = DEFAULT_LIMIT,
) -> WhatIfResult:
    """The exact probability of everything that is asked.

    Args:
        show_values: whether persons and values are repeated in the result as they were written.
        limit: conjunctions that may be held at once; more are refused.

    Raises:
        ContradictoryKnowledge: the knowledge can not be true of this table.
        UsageError: a person or value that the table does not have, or knowledge that is too long to answer exactly.
        EngineError: the database refused or failed.
    """
    check_roles(roles)
    already = len(engine.executed)
    relation, resolved = load_columns(engine, *_opened(engine, engine.open(target), roles))
    attribute = _attribute(resolved, knowledge)
    opened = open_attribute(engine, relation, resolved, attribute, roles)
    persons = _Persons(opened, resolved, knowledge)
    rules = [
        BasicImplication(tuple(map(persons.atom, rule.if_all)), tuple(map(persons.atom, rule.then_any)))
        for rule in knowledge.rules
    ]
    found = [
        (asked, what_if(persons.atom(asked), rules, persons.members, persons.classes, limit)) for asked in knowledge.ask
    ]
    return WhatIfResult(
        target=target.name,
        **provenance(engine, already),
        roles=shown_roles(roles),
        sensitive=attribute.label,
        people=len(persons.members),
        pieces=len(rules),
        classes=len(persons.classes),
        knowledge=found[0][1].knowledge,
        answers=tuple(_answer(asked, result, show_values) for asked, result in found),
    )


def planned_questions(engine: Engine, relation: Relation, roles: Roles, knowledge: Knowledge) -> list[Statement]:
    """The statements that `answer` runs, as far as they are known before; what was written stands as $1, $2, …"""
    _, resolved = _opened(engine, relation, roles)
    attribute = _attribute(resolved, knowledge)
    frame = frame_of(relation, resolved, attribute, roles)
    builder = HistogramBuilder(engine, frame, roles.nulls)
    statements = builder.plan(attribute.sql)[:1]
    lookup = _Lookup(builder, attribute, resolved, 0, attribute.collated)
    return statements + [lookup.statement(lookup.named(person)[0]) for person in knowledge.people.values()]


def _opened(engine: Engine, relation: Relation, roles: Roles) -> tuple[Relation, ResolvedRoles]:
    return relation, resolve_roles(roles, relation, engine.dialect)


def _attribute(roles: ResolvedRoles, knowledge: Knowledge) -> Resolved:
    """The sensitive attribute that the knowledge is about."""
    if not knowledge.sensitive and len(roles.sensitive) == 1:
        return roles.sensitive[0]
    for attribute in roles.sensitive:
        if attribute.label.casefold() == knowledge.sensitive.casefold():
            return attribute
    raise UsageError(
        f"There are {len(roles.sensitive)} sensitive attributes; write 'sensitive: NAME' into the knowledge, with the "
        "name of the one that it is about."
        if not knowledge.sensitive
        else f"The knowledge is about a sensitive attribute that {spelled('sensitive')} does not name."
    )


def _answer(asked: NamedAtom, result: WhatIf, show_values: bool) -> WhatIfAnswer:
    if not show_values:
        return WhatIfAnswer(asked.place, result.probability, result.prior)
    value = "no value" if asked.value is None else asked.value
    return WhatIfAnswer(asked.place, result.probability, result.prior, asked.person, value)


@dataclass(frozen=True)
class _Lookup:
    """Finds the class of a person who is named by the entity or by quasi-identifiers."""

    builder: HistogramBuilder
    attribute: Resolved
    roles: ResolvedRoles
    null_lane: int
    text: bool

    def named(self, person: NamedPerson) -> tuple[list[tuple[str, bool]], list[Any]]:
        """(column, whether it holds numbers) for what names the person, and what it is compared with."""
        if person.key is None:
            if self.roles.entity is None:
                raise UsageError(f"{person.place}: name the person by quasi-identifiers, or give {spelled('entity')}.")
            columns, values = [("e", self.roles.entity)], [person.entity]
        else:
            labels = {q.label: (f"q{number}", q) for number, q in enumerate(self.roles.quasi_identifiers, 1)}
            if set(person.key) != set(labels):
                raise UsageError(f"{person.place}: a person needs exactly the quasi-identifiers: {', '.join(labels)}.")
            columns, values = list(labels.values()), [person.key[label] for label in labels]
        kinds = [(column, role.kind in NUMBERS) for column, role in columns]
        bound = [as_parameter(value, role, person.place) for value, (_, role) in zip(values, columns, strict=True)]
        return kinds, bound

    def statement(self, named: list[tuple[str, bool]]) -> Statement:
        """The class of a person, with its key and how often each value occurs."""
        frame = self.builder.frame
        return render(
            "audits/disclosure/class_of_person.sql",
            self.builder.engine.dialect,
            step="class of a person",
            source=Raw(frame.source),
            keys=[Raw(key) for key in frame.keys],
            sensitive=Raw(self.attribute.sql),
            entity=None if frame.entity is None else Raw(frame.entity),
            text=self.text,
            named=[(column, number, Raw(f"${place}")) for place, (column, number) in enumerate(named, 1)],
            null_lane=self.null_lane,
        )

    def find(self, person: NamedPerson) -> tuple[Hashable, dict[Hashable, int]]:
        """The key of the person's class, and its counts by lane.

        Raises:
            UsageError: nobody, or somebody in more than one class, fits.
        """
        named, values = self.named(person)
        rows = self.builder.engine.run(self.statement(named), values)
        keys = {tuple(map(repr, row[:-2])) for row in rows}
        if not rows:
            raise UsageError(f"{person.place}: nobody in the table fits this person.")
        if len(keys) > 1:
            raise UsageError(
                f"{person.place}: {len(keys)} classes fit this person; with {spelled('joint', True)}, name "
                f"persons by {spelled('entity')}."
            )
        if self.builder.frame.solo and any(value is None for value in rows[0][:-2]):
            raise UsageError(
                f"{person.place}: with {spelled('nulls', 'distinct')} a row with a missing quasi-identifier is "
                "a class of its own, "
                "in which its value is certain; there is nothing to ask about it."
            )
        return keys.pop(), {int(row[-2]): int(row[-1]) for row in rows}


class _Persons:
    """The named persons in their classes: what the pure program is asked with."""

    def __init__(self, opened: OpenedAttribute, roles: ResolvedRoles, knowledge: Knowledge) -> None:
        table = opened.table
        self._opened = opened
        self.members: dict[Hashable, Hashable] = {}
        self.classes: dict[Hashable, Mapping[Hashable, int]] = {}
        null_lane = table.distinct - 1 if table.has_null else 0
        lookup = _Lookup(opened.builder, opened.attribute, roles, null_lane, table.text)
        self._refuse_twins(knowledge.people.values())
        known: dict[Hashable, tuple[Hashable, dict[Hashable, int]]] = {}
        for person in knowledge.people.values():
            written = person.entity if person.key is None else frozenset(person.key.items())
            if written not in known:
                known[written] = lookup.find(person)
            key, counts = known[written]
            self.members[person.label] = key
            self.classes[key] = counts

    def atom(self, named: NamedAtom) -> Atom:
        """The statement with the value's lane.

        Raises:
            UsageError: no row has the value.
        """
        inputs = AttributeInputs({"must_occur": ValueList((named.value,), named.place)}, self._opened.table)
        lanes = inputs["must_occur"].lanes
        if not lanes:
            raise UsageError(f"{named.place}: no row of the table has this value of {self._opened.attribute.label}.")
        return Atom(named.person, lanes[0])

    @staticmethod
    def _refuse_twins(people: Iterable[NamedPerson]) -> None:
        seen: set[str | None] = set()
        for person in people:
            if person.key is None and person.entity in seen:
                raise UsageError(f"{person.place}: this person already stands under another name.")
            seen |= {person.entity} if person.key is None else set()
