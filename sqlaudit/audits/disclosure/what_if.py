"""Probabilities given stated knowledge: looks up the named people and values, and computes the answers in Python.

Only the classes of the named people are read. The user's texts reach the database as bound parameters, never as SQL.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from typing import Annotated, Any, ClassVar

from sqlaudit.audits.disclosure.knowledge import Knowledge, NamedAtom, NamedPerson
from sqlaudit.audits.disclosure.request import WhatIfRequest
from sqlaudit.audits.disclosure.run import OpenedAttribute, open_attribute
from sqlaudit.base.columns_of import Resolved, as_parameter
from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import NUMBERS, Statement
from sqlaudit.base.result import FROM_0_TO_1, NOT_EMPTY, Documented, MeasuredResult, ShownRoles, after, exactly, key
from sqlaudit.base.spec import NullPolicy, Roles, Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.attribute_inputs import AttributeInputs
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.classes.inputs import ValueList
from sqlaudit.classes.opening import ResolvedRoles, describe_roles, open_table, refuse_spelling_conflicts, value_columns
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.models.disclosure.witness import Atom, BasicImplication, WhatIf, what_if
from sqlaudit.reports.notebook import Shown


@dataclass(frozen=True)
class WhatIfAnswer(Documented):
    """How probable one statement is.

    Args:
        place: where it is asked, file and line. probability: given the knowledge. prior: without the knowledge.
        person, value: the statement as it was written; None unless values may be shown.
    """

    place: str
    probability: Annotated[Fraction, FROM_0_TO_1] = field(metadata=exactly("exact") | after("value"))
    prior: Annotated[Fraction, FROM_0_TO_1] = field(metadata=exactly("prior_exact") | after("probability"))
    person: str | None = None
    value: str | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class WhatIfResult(MeasuredResult, Shown):
    """The answers to what was asked, given what is known.

    Args:
        target: the table; a query is named 'query', its text is not kept. engine: the engine and its version.
        roles: the roles of columns as they were given. sensitive: the sensitive attribute that the knowledge is about.
        people: persons named. pieces: pieces of knowledge. classes: equivalence classes in which the persons are.
        knowledge: the probability of all the knowledge together; small when it would surprise.
        answers: one entry a statement that is asked about.
    """

    schema: ClassVar = "sqlaudit-what-if/1"
    shown_by: ClassVar = "sqlaudit.audits.disclosure.report:WhatIfReport"
    frame_of: ClassVar = "answers"

    target: str = field(metadata=key("target.name"))
    engine: str = field(metadata=key("target.engine"))
    roles: ShownRoles
    sensitive: str
    people: int
    pieces: int
    classes: int
    knowledge: Annotated[Fraction, FROM_0_TO_1] = field(
        metadata=key("knowledge.probability") | exactly("knowledge.exact")
    )
    answers: Annotated[tuple[WhatIfAnswer, ...], NOT_EMPTY]


def answer(engine: Engine, request: WhatIfRequest) -> WhatIfResult:
    """Compute the exact probability of each statement that is asked.

    Raises:
        ContradictoryKnowledge: the knowledge cannot be true of this table.
        UsageError: a person or value is not in the table, or the knowledge is too long to answer exactly.
        EngineError: the database refused or failed.
    """
    executed_before, knowledge = len(engine.executed), request.knowledge
    table = open_table(engine, request.target, request.roles).copied()
    table.refuse_spelling_conflicts()
    attribute = _find_attribute(table.roles, knowledge)
    persons = _PersonClasses(open_attribute(table, attribute), table.roles, knowledge)
    rules = [
        BasicImplication(tuple(map(persons.atom, rule.if_all)), tuple(map(persons.atom, rule.then_any)))
        for rule in knowledge.rules
    ]
    results = [
        (atom, what_if(persons.atom(atom), rules, persons.members, persons.classes, request.terms))
        for atom in knowledge.ask
    ]
    return WhatIfResult(
        target=request.target.name,
        **provenance(engine, executed_before),
        roles=describe_roles(request.roles),
        sensitive=attribute.label,
        people=len(persons.members),
        pieces=len(rules),
        classes=len(persons.classes),
        knowledge=results[0][1].knowledge,
        answers=tuple(_make_answer(atom, result, request.show_values) for atom, result in results),
    )


def plan_answers(engine: Engine, request: WhatIfRequest) -> list[Statement]:
    """Return the statements that `answer` runs, as far as they are known before; what was written stands as $1, …"""
    table = open_table(engine, request.target, request.roles)
    attribute = _find_attribute(table.roles, request.knowledge)
    builder = table.histogram_builder(attribute)
    statements = builder.plan(attribute.sql)[:1]
    lookup = _ClassLookup(builder, table.roles, 0, attribute.collated)
    people = request.knowledge.people.values()
    return statements + [lookup.statement(lookup.name_columns(person)[0]) for person in people]


def _find_attribute(roles: ResolvedRoles, knowledge: Knowledge) -> Resolved:
    """The sensitive attribute that the knowledge is about."""
    if not knowledge.sensitive and len(roles.sensitive) == 1:
        return roles.sensitive[0]
    for attribute in roles.sensitive:
        if attribute.label.casefold() == knowledge.sensitive.casefold():
            return attribute
    raise UsageError(
        f"There are {len(roles.sensitive)} sensitive columns. Add 'sensitive: NAME' to the knowledge, with the "
        "column that it is about."
        if not knowledge.sensitive
        else f"The sensitive column of the knowledge is not named with {spelled('sensitive')}."
    )


def _make_answer(atom: NamedAtom, result: WhatIf, show_values: bool) -> WhatIfAnswer:
    if not show_values:
        return WhatIfAnswer(atom.location, result.probability, result.prior)
    value = "no value" if atom.value is None else atom.value
    return WhatIfAnswer(atom.location, result.probability, result.prior, atom.person, value)


@dataclass(frozen=True)
class _ClassLookup:
    """Finds the class of a person who is named by the entity or by quasi-identifiers."""

    builder: HistogramBuilder
    roles: ResolvedRoles
    null_lane: int
    text: bool

    def name_columns(self, person: NamedPerson) -> tuple[list[tuple[str, bool]], list[Any]]:
        """Return the columns that name the person, each with whether it has numbers, and the values to compare."""
        if person.key is None:
            if self.roles.entity is None:
                raise UsageError(
                    f"{person.location}: name the person by quasi-identifiers, or give {spelled('entity')}."
                )
            columns, values = [("e", self.roles.entity)], [person.entity]
        else:
            labels = {q.label: (f"q{number}", q) for number, q in enumerate(self.roles.quasi_identifiers, 1)}
            if set(person.key) != set(labels):
                raise UsageError(
                    f"{person.location}: a person needs exactly the quasi-identifiers: {', '.join(labels)}."
                )
            columns, values = list(labels.values()), [person.key[label] for label in labels]
        kinds = [(column, role.kind in NUMBERS) for column, role in columns]
        parameters = [
            as_parameter(value, role, person.location) for value, (_, role) in zip(values, columns, strict=True)
        ]
        return kinds, parameters

    def statement(self, columns: list[tuple[str, bool]]) -> Statement:
        """Return the statement that reads the class of a person: its key, and the rows with each value."""
        return render(
            "audits/disclosure/class_of_person.sql",
            self.builder.engine.dialect,
            step="class of a person",
            **self.builder.frame.parameters(),
            text=self.text,
            named=[(column, number, Raw(f"${position}")) for position, (column, number) in enumerate(columns, 1)],
            null_lane=self.null_lane,
        )

    def find(self, person: NamedPerson) -> tuple[Hashable, dict[Hashable, int]]:
        """Return the key of the person's class, and its counts by lane.

        Raises:
            UsageError: no class, or more than one, matches the person.
        """
        columns, values = self.name_columns(person)
        rows = self.builder.engine.run(self.statement(columns), values)
        keys = {tuple(map(repr, row[:-2])) for row in rows}
        if not rows:
            raise UsageError(f"{person.location}: no one in the table matches this person.")
        if len(keys) > 1:
            raise UsageError(
                f"{person.location}: {len(keys)} groups match this person. With {spelled('joint', True)}, name people "
                f"by {spelled('entity')}."
            )
        if self.builder.frame.solo and any(value is None for value in rows[0][:-2]):
            raise UsageError(
                f"{person.location}: with {spelled('nulls', 'distinct')} a row with a missing quasi-identifier is a "
                "group of its own, so its value is certain."
            )
        return keys.pop(), {int(row[-2]): int(row[-1]) for row in rows}


class _PersonClasses:
    """The named people with their classes, as the computation needs them."""

    def __init__(self, opened: OpenedAttribute, roles: ResolvedRoles, knowledge: Knowledge) -> None:
        table = opened.table
        self._opened = opened
        self.members: dict[Hashable, Hashable] = {}
        self.classes: dict[Hashable, Mapping[Hashable, int]] = {}
        null_lane = table.distinct - 1 if table.has_null else 0
        lookup = _ClassLookup(opened.builder, roles, null_lane, table.text)
        self._refuse_duplicates(knowledge.people.values())
        by_identity: dict[Hashable, tuple[Hashable, dict[Hashable, int]]] = {}
        for person in knowledge.people.values():
            identity = person.entity if person.key is None else frozenset(person.key.items())
            if identity not in by_identity:
                by_identity[identity] = lookup.find(person)
            key, counts = by_identity[identity]
            self.members[person.label] = key
            self.classes[key] = counts

    def atom(self, named_atom: NamedAtom) -> Atom:
        """Return the statement with the value's lane.

        Raises:
            UsageError: no row has the value.
        """
        inputs = AttributeInputs(
            {"must_occur": ValueList((named_atom.value,), named_atom.location)}, self._opened.table
        )
        lanes = inputs["must_occur"].lanes
        if not lanes:
            raise UsageError(f"{named_atom.location}: no row has this value of {self._opened.attribute.label}.")
        return Atom(named_atom.person, lanes[0])

    @staticmethod
    def _refuse_duplicates(people: Iterable[NamedPerson]) -> None:
        seen: set[str | None] = set()
        for person in people:
            if person.key is None and person.entity in seen:
                raise UsageError(f"{person.location}: this person is listed under another name, too.")
            seen |= {person.entity} if person.key is None else set()


# The classes that further rows join: the counts of their values before and after, for an index of disclosure.

MOST_CELLS = 100_000
"""Most counts of values that are read, because memory must not grow with the rows."""


@dataclass(frozen=True)
class GrownClasses:
    """Classes as counts of their values: `gone` without the further rows, `come` with them."""

    gone: tuple[tuple[int, ...], ...]
    come: tuple[tuple[int, ...], ...]
    rows: int


def grown_classes(engine: Engine, tables: Sequence[Target], roles: Roles) -> GrownClasses:
    """Return the classes that the rows of one more table change, before and after.

    Args:
        engine: the engine with all tables.
        tables: the table, those added before, and last the one to add.
        roles: the roles of all tables, with one sensitive attribute.

    Raises:
        UsageError: a column does not exist or is of another kind, rows are not what is counted, or more counts change
            than are read.
    """
    if roles.entity is not None or roles.nulls is not NullPolicy.EQUAL:
        raise UsageError(
            f"Added rows are counted as rows, and missing values as values. Leave out {spelled('entity')} and other "
            "ways to read missing values, or combine both tables into one."
        )
    first, *others = (open_table(engine, target, roles) for target in tables)
    for other in others:
        _check_same_kinds(first.roles, other.roles, other.relation.label)
    columns = value_columns(first.relation, first.roles, engine.dialect, [other.relation for other in others])
    refuse_spelling_conflicts(engine, columns, roles.values)
    statement = render(
        "audits/disclosure/grown.sql",
        engine.dialect,
        step="classes that grow",
        sources=[
            {
                "rows": Raw(table.relation.sql),
                "columns": [Raw(sql) for sql in table.frame(table.roles.sensitive[0]).keys],
                "value": Raw(table.roles.sensitive[0].sql),
            }
            for table in (first, *others)
        ],
        keys=list(first.frame(first.roles.sensitive[0]).keys),
        limit=MOST_CELLS + 1,
    )
    cells = [(int(row[0]), int(row[1]), int(row[2])) for row in engine.run(statement)]
    if len(cells) > MOST_CELLS:
        raise UsageError(
            f"The added rows change more than {MOST_CELLS:,} counts of values. Combine both tables into one."
        )
    return _collect_grown_classes(cells)


def _check_same_kinds(first: ResolvedRoles, other: ResolvedRoles, label: str) -> None:
    """Refuse a table whose columns are of other kinds than those of the first."""

    def columns(roles: ResolvedRoles) -> tuple[Resolved, ...]:
        return (*roles.quasi_identifiers, *roles.sensitive)

    for expected, actual in zip(columns(first), columns(other), strict=True):
        if expected.kind is not actual.kind:
            raise UsageError(
                f"{label}: {actual.label} is {actual.kind} there and {expected.kind} in the audited table."
            )


def _collect_grown_classes(cells: Sequence[tuple[int, int, int]]) -> GrownClasses:
    """Group cells of (class, count before, count after) into classes."""
    before, after = [], []
    for _, class_cells in groupby(cells, key=lambda cell: cell[0]):
        counts = list(class_cells)
        counts_before = tuple(n for _, n, _ in counts if n)
        before += [counts_before] if counts_before else []
        after.append(tuple(n for _, _, n in counts))
    return GrownClasses(tuple(before), tuple(after), sum(map(sum, after)) - sum(map(sum, before)))
