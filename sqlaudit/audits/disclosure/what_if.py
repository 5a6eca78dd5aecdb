"""What follows from stated knowledge: named persons and values are looked up, the pure program answers.

Only the classes of the named persons are read. What the user wrote reaches the database as bound parameters, never as
SQL.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, ClassVar

from sqlaudit.audits.disclosure.request import check_roles
from sqlaudit.audits.disclosure.run import OpenedAttribute, open_attribute
from sqlaudit.base.columns_of import Resolved, as_parameter
from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import closest
from sqlaudit.base.nodes import Name, Node, load_nodes, nodes_of
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import NUMBERS, Relation, Statement
from sqlaudit.base.result import FROM_0_TO_1, NOT_EMPTY, Documented, MeasuredResult, ShownRoles, after, exactly, key
from sqlaudit.base.spec import NullPolicy, Roles, Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.attribute_inputs import AttributeInputs
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.classes.inputs import ValueList
from sqlaudit.classes.opening import ResolvedRoles, describe_roles, open_table, refuse_spelling_conflicts, value_columns
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.models.disclosure.witness import DEFAULT_LIMIT, Atom, BasicImplication, WhatIf, what_if
from sqlaudit.reports.notebook import Shown

# What somebody knows, from a YAML file: people, basic implications about them, and what to ask.
#
#     people:
#       Charlie: {age: 24, sex: M}      # by quasi-identifiers; or by the entity column: Charlie: 4711
#       Hannah: {age: 23, sex: F}
#     knowledge:
#       - if: {Hannah: flu}             # everything under `if` holds ...
#         then: {Charlie: flu}          # ... so at least one thing under `then` does
#       - never: {Charlie: mumps}       # Charlie does not have mumps; several things: not all of them
#     ask: {Charlie: flu}
#
# Different names are different persons. Values are taken as they are written; a plain null is NULL. Under `then` a
# person may have a list of values: one of them. Errors name the line, never a value.

_KEYS = ("people", "knowledge", "ask", "sensitive")
_RULES = ("if", "then", "never")


@dataclass(frozen=True)
class NamedPerson:
    """A person, by the value of the entity column or by quasi-identifiers, and where that is written."""

    label: str
    entity: Name
    key: Mapping[str, Name] | None
    place: str


@dataclass(frozen=True)
class NamedAtom:
    """A person has a value."""

    person: str
    value: Name
    place: str


@dataclass(frozen=True)
class KnownRule:
    """If everything in `if_all` holds, something in `then_any` does; nothing in it means: it never all holds."""

    if_all: tuple[NamedAtom, ...]
    then_any: tuple[NamedAtom, ...]
    place: str


@dataclass(frozen=True)
class Knowledge:
    """What is known and asked; `sensitive` names the attribute, empty when there is only one."""

    people: Mapping[str, NamedPerson]
    rules: tuple[KnownRule, ...]
    ask: tuple[NamedAtom, ...]
    sensitive: str = ""


def load_knowledge(path: str | Path) -> Knowledge:
    """The knowledge in a YAML file.

    Raises:
        InputError: the file cannot be read, or is not YAML.
        UsageError: it is not of the shape above; the sentence names file and line, never a value.
    """
    root = load_nodes(path)
    if root is None:
        raise UsageError(f"{path} is empty. It needs 'people' and what to ask.")
    return _read(root)


def read_knowledge(given: Mapping[str, Any]) -> Knowledge:
    """The same from a Python mapping.

    Raises:
        UsageError: as `load_knowledge`.

    Example:
        >>> known = read_knowledge({"people": {"Ed": {"age": 24}}, "ask": {"Ed": "flu"}})
        >>> known.people["Ed"].key, known.ask[0].value
        ({'age': '24'}, 'flu')
    """
    return _read(nodes_of(given, "the knowledge"))


def _read(root: Node) -> Knowledge:
    sections = _sections(root, _KEYS, "the file")
    for needed in ("people", "ask"):
        if needed not in sections:
            raise root.fail(f"{needed!r} is missing.")
    people = {key.text("a person's name"): _person(key, value) for key, value in sections["people"].pairs("'people'")}
    known = sections.get("knowledge")
    listed = [] if known is None or known.value is None else known.items("'knowledge'")
    rules = tuple(_rule(item, people) for item in listed)
    ask = tuple(_atoms(sections["ask"], people, "'ask'"))
    if not ask:
        raise sections["ask"].fail("there is nothing to ask.")
    sensitive = sections["sensitive"].text("'sensitive'") if "sensitive" in sections else ""
    return Knowledge(people, rules, ask, sensitive)


def _sections(node: Node, known: tuple[str, ...], what: str) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for word, value in node.pairs(what):
        name = word.text("a key")
        if name not in known:
            raise word.fail(f"unknown key {name!r}.{closest(name, known)} Known keys: {', '.join(known)}.")
        found[name] = value
    return found


def _person(key: Node, value: Node) -> NamedPerson:
    label = key.text("a person's name")
    if not value.is_mapping:
        return NamedPerson(label, value.name("a person"), None, value.place)
    named = {column.text("a column"): cell.name("a value") for column, cell in value.pairs("a person")}
    return NamedPerson(label, None, named, value.place)


def _rule(node: Node, people: Mapping[str, NamedPerson]) -> KnownRule:
    sections = _sections(node, _RULES, "a piece of knowledge")
    if "never" in sections and len(sections) > 1:
        raise node.fail("'never' cannot be combined with 'if' and 'then'.")
    condition = "never" if "never" in sections else "if"
    if_all = tuple(_atoms(sections[condition], people, f"'{condition}'")) if condition in sections else ()
    if len({atom.person for atom in if_all}) < len(if_all):
        raise node.fail(f"'{condition}' gives one person two values.")
    then_any = tuple(_atoms(sections["then"], people, "'then'")) if "then" in sections else ()
    if condition == "if" and not then_any:
        raise node.fail("'then' is missing. Statements that cannot all be true belong under 'never'.")
    if condition == "never" and not if_all:
        raise node.fail("'never' is empty.")
    return KnownRule(if_all, then_any, node.place)


def _atoms(node: Node, people: Mapping[str, NamedPerson], what: str) -> Iterator[NamedAtom]:
    """Atoms from {person: value}, {person: [values]}, or a list of such mappings."""
    if not node.is_mapping and isinstance(node.value, list):
        for item in node.items(what):
            yield from _atoms(item, people, what)
        return
    for word, value in node.pairs(what):
        label = word.text("a person's name")
        if label not in people:
            raise word.fail("this person is not listed under 'people'.")
        listed = value.items("values") if isinstance(value.value, list) and not value.is_mapping else [value]
        for item in listed:
            yield NamedAtom(label, item.name("a value"), item.place)


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
    shown_by: ClassVar = "sqlaudit.audits.disclosure.report:what_if_document"
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
    table = open_table(engine, target, roles).copied()
    table.refuse_spelling_conflicts()
    attribute = _attribute(table.roles, knowledge)
    persons = _Persons(open_attribute(table, attribute), table.roles, knowledge)
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
        roles=describe_roles(roles),
        sensitive=attribute.label,
        people=len(persons.members),
        pieces=len(rules),
        classes=len(persons.classes),
        knowledge=found[0][1].knowledge,
        answers=tuple(_answer(asked, result, show_values) for asked, result in found),
    )


def planned_questions(engine: Engine, relation: Relation, roles: Roles, knowledge: Knowledge) -> list[Statement]:
    """The statements that `answer` runs, as far as they are known before; what was written stands as $1, $2, …"""
    table = open_table(engine, relation, roles)
    attribute = _attribute(table.roles, knowledge)
    builder = table.histogram_builder(attribute)
    statements = builder.plan(attribute.sql)[:1]
    lookup = _Lookup(builder, table.roles, 0, attribute.collated)
    return statements + [lookup.statement(lookup.named(person)[0]) for person in knowledge.people.values()]


def _attribute(roles: ResolvedRoles, knowledge: Knowledge) -> Resolved:
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


def _answer(asked: NamedAtom, result: WhatIf, show_values: bool) -> WhatIfAnswer:
    if not show_values:
        return WhatIfAnswer(asked.place, result.probability, result.prior)
    value = "no value" if asked.value is None else asked.value
    return WhatIfAnswer(asked.place, result.probability, result.prior, asked.person, value)


@dataclass(frozen=True)
class _Lookup:
    """Finds the class of a person who is named by the entity or by quasi-identifiers."""

    builder: HistogramBuilder
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
        return render(
            "audits/disclosure/class_of_person.sql",
            self.builder.engine.dialect,
            step="class of a person",
            **self.builder.frame.parameters(),
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
            raise UsageError(f"{person.place}: no one in the table matches this person.")
        if len(keys) > 1:
            raise UsageError(
                f"{person.place}: {len(keys)} groups match this person. With {spelled('joint', True)}, name people "
                f"by {spelled('entity')}."
            )
        if self.builder.frame.solo and any(value is None for value in rows[0][:-2]):
            raise UsageError(
                f"{person.place}: with {spelled('nulls', 'distinct')} a row with a missing quasi-identifier is a "
                "group of its own, so its value is certain."
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
        lookup = _Lookup(opened.builder, roles, null_lane, table.text)
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
            raise UsageError(f"{named.place}: no row has this value of {self._opened.attribute.label}.")
        return Atom(named.person, lanes[0])

    @staticmethod
    def _refuse_twins(people: Iterable[NamedPerson]) -> None:
        seen: set[str | None] = set()
        for person in people:
            if person.key is None and person.entity in seen:
                raise UsageError(f"{person.place}: this person is listed under another name, too.")
            seen |= {person.entity} if person.key is None else set()


# Which classes further rows get into: the counts of their values before and after, for an index of disclosure.

MOST_CELLS = 100_000
"""So many counts of values are read, as numbers in Python must not grow with the rows."""


@dataclass(frozen=True)
class GrownClasses:
    """Classes by the counts of their values: `gone` as they were, `come` as they are with the further rows."""

    gone: tuple[tuple[int, ...], ...]
    come: tuple[tuple[int, ...], ...]
    rows: int


def grown_classes(engine: Engine, tables: Sequence[Target], roles: Roles) -> GrownClasses:
    """What rows of one more table do to the classes of those before it.

    Args:
        engine: where all of them lie. tables: the table, those that came to it already, and last the one that comes
            now. roles: of all of them, with one sensitive attribute.

    Raises:
        UsageError: columns that are not there or hold something else, classes that rows do not add up to, or more
            classes with new rows than are read.
    """
    if roles.entity is not None or roles.nulls is not NullPolicy.EQUAL:
        raise UsageError(
            f"Added rows are counted as rows, and missing values as values. Leave out {spelled('entity')} and other "
            "ways to read missing values, or combine both tables into one."
        )
    first, *others = (open_table(engine, target, roles) for target in tables)
    for other in others:
        _check_alike(first.roles, other.roles, other.relation.label)
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
    return _grown(cells)


def _check_alike(first: ResolvedRoles, other: ResolvedRoles, label: str) -> None:
    def columns(roles: ResolvedRoles) -> tuple[Resolved, ...]:
        return (*roles.quasi_identifiers, *roles.sensitive)

    for one, two in zip(columns(first), columns(other), strict=True):
        if one.kind is not two.kind:
            raise UsageError(f"{label}: {two.label} is {two.kind} there and {one.kind} in the audited table.")


def _grown(cells: Sequence[tuple[int, int, int]]) -> GrownClasses:
    gone, come = [], []
    for _, found in groupby(cells, key=lambda cell: cell[0]):
        counts = list(found)
        before = tuple(n for _, n, _ in counts if n)
        gone += [before] if before else []
        come.append(tuple(n for _, _, n in counts))
    return GrownClasses(tuple(gone), tuple(come), sum(map(sum, come)) - sum(map(sum, gone)))
