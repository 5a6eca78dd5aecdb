"""The tables and columns to read: events, and static columns of their people, perhaps from another table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlaudit.base.errors import ConflictingRoles, UsageError
from sqlaudit.base.names import quote, shown
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import NUMBERS, Kind, Relation, Remark
from sqlaudit.base.sql import Raw, environment, render
from sqlaudit.classes.opening import apply_spelling_policy
from sqlaudit.column_sets.counting import Chosen, choose_column, choose_columns, refuse_duplicates, require_column
from sqlaudit.engines.contract import Engine
from sqlaudit.events.request import PersonsRequest
from sqlaudit.reports.document import listed, plural

_EXACT = (Kind.INTEGER, Kind.DECIMAL)
_ORDERED = (Kind.DATE, Kind.TIMESTAMP, Kind.TIME, *NUMBERS)
_BANDS = ("column_sets/_columns_coarser.sql", "bands", "ten bands")
_QUARTERS = ("events/_events_coarser.sql", "quarter", "quarters of years")
_COARSER = {
    **dict.fromkeys((*NUMBERS, Kind.TIME), _BANDS),
    **dict.fromkeys((Kind.DATE, Kind.TIMESTAMP), _QUARTERS),
    Kind.TEXT: ("column_sets/_columns_coarser.sql", "prefix", "its first two characters"),
}
"""The coarser form of a column of each kind: the template, its macro, and words for it."""


@dataclass(frozen=True)
class EventSource:
    """The tables and columns to read.

    Args:
        relation: the rows of events, with all further columns. label: the name of the table of events in reports.
        chosen: columns of events, then static ones, then sensitive ones, then the time of events and coarser columns.
            person: the person of a row.
        events, quasi: the number of columns of events, and of events and static ones.
        static_from: the name of the table of people in reports; empty without one.
        moment: the position of the column that orders the events of a person; None where their order is not known.
        coarser: the coarser forms of columns of events, by position: the words for each, and its own position.
    """

    relation: Relation
    label: str
    chosen: tuple[Chosen, ...]
    person: Chosen
    events: int
    quasi: int
    static_from: str = ""
    moment: int | None = None
    coarser: Mapping[int, tuple[str, int]] = field(default_factory=dict)

    @property
    def static(self) -> range:
        """The positions of static columns."""
        return range(self.events, self.quasi)

    @property
    def sensitive(self) -> range:
        """The positions of sensitive columns."""
        return range(self.quasi, len(self.chosen) - len(self.coarser) - (self.moment is not None))


def source_of(engine: Engine, request: PersonsRequest, *, check: bool = True) -> EventSource:
    """Open the tables and find the columns.

    Args:
        check: whether to check that the table of people has one row for each person with events.

    Raises:
        UsageError: an unknown column; a person who is missing in the table of people, or has several rows there.
    """
    source = _source(engine, request, check=check)
    return _with_coarser(engine, source) if request.effects else source


def _source(engine: Engine, request: PersonsRequest, *, check: bool) -> EventSource:
    """Open the table of events, joined with the table of static columns if the request names one."""
    relation = engine.open(request.target)
    person, label, static_from = _person(engine, relation, request), relation.label, ""
    events, quasi = len(request.qi), len(request.qi) + len(request.static)
    here = ("qi", "static", "sensitive") if request.static_from is None else ("qi", "sensitive")
    chosen = _columns_of(engine, relation, request, here) + _moment(engine, relation, request)
    _not_the_person(person, chosen)
    if request.static_from is not None:
        persons = engine.open(request.static_from)
        static = choose_columns(persons, engine.dialect, request.static, field="static")
        key = _person(engine, persons, request)
        joined = _JoinedSources(engine, relation, chosen, person, persons, static, key)
        if check:
            joined.check()
        chosen = tuple(replace(column, sql=f"c{position}") for position, column in enumerate(chosen))
        placed = (replace(column, sql=f"s{position}") for position, column in enumerate(static))
        chosen = (*chosen[:events], *placed, *chosen[events:])
        relation, person, static_from = joined.relation(), replace(person, sql="e"), persons.label
    moment = len(chosen) - 1 if request.sequence else None
    return EventSource(relation, label, chosen, person, events, quasi, static_from, moment)


def with_static(
    engine: Engine, events: Relation, persons: Relation, person: str, key: str, static: Sequence[str]
) -> Relation:
    """The rows of a table, followed by columns of the table of their people.

    Args:
        person: the column of `events` that identifies the person. key: that of `persons`. static: columns of `persons`.

    Raises:
        UsageError: an unknown column; a person who is missing in the table of people, or has several rows there.
    """
    static_columns = choose_columns(persons, engine.dialect, static, field="static")
    key_column = choose_column(persons, engine.dialect, key, "entity")
    event_columns, whom = (
        choose_columns(events, engine.dialect),
        choose_column(events, engine.dialect, person, "entity"),
    )
    joined = _JoinedSources(engine, events, event_columns, whom, persons, static_columns, key_column)
    joined.check()
    relation = joined.relation()
    places = [
        *((column, f"c{position}") for position, column in enumerate(event_columns)),
        *((column, f"s{at}") for at, column in enumerate(static_columns)),
    ]
    columns = [(Raw(quote(column.name, engine.dialect)), Raw(position)) for column, position in places]
    statement = render("events/events_named.sql", engine.dialect, columns=columns, joined=relation)
    infos = (*events.columns, *(require_column(persons, column.name, "static") for column in static_columns))
    return replace(relation, sql="(" + statement.sql + ")", columns=infos, written="")


def _columns_of(
    engine: Engine, relation: Relation, request: PersonsRequest, fields: Sequence[str]
) -> tuple[Chosen, ...]:
    """The columns that these fields of the request name, none of them twice."""
    named = [
        (field, choose_columns(relation, engine.dialect, names, field=field))
        for field in fields
        if (names := getattr(request, field))
    ]
    refuse_duplicates([column for _, chosen in named for column in chosen])
    return tuple(
        apply_spelling_policy(engine, relation, column, request.values if field == "sensitive" else None)
        for field, chosen in named
        for column in chosen
    )


def _person(engine: Engine, relation: Relation, request: PersonsRequest) -> Chosen:
    """The column that identifies the person, with folded spellings."""
    person = choose_column(relation, engine.dialect, request.entity, "entity")
    return apply_spelling_policy(engine, relation, person, request.values, missing=False)


def _moment(engine: Engine, relation: Relation, request: PersonsRequest) -> tuple[Chosen, ...]:
    """The column that orders the events of a person, when there is one."""
    if not request.sequence:
        return ()
    column = choose_column(relation, engine.dialect, request.sequence, "sequence")
    if column.kind not in _ORDERED:
        name = shown(column.name) if column.type else repr(column.name)
        raise UsageError(
            f"{spelled('sequence')} needs a column of dates, times or numbers; {name} is "
            f"{'an expression' if not column.type else column.kind.value}. Convert it in a view or a query."
        )
    return (column,)


def _with_coarser(engine: Engine, source: EventSource) -> EventSource:
    """Return the columns, followed by coarser forms of the columns of events where there is a natural one."""
    coarser: dict[int, tuple[str, int]] = {}
    unbanded: list[str] = []
    chosen = list(source.chosen)
    for position, column in enumerate(source.chosen[: source.events]):
        module, macro, words = _COARSER.get(column.kind, ("", "", ""))
        if macro == "bands" and engine.is_cluster:
            unbanded.append(column.name)
            continue
        if not macro:
            continue
        macros = environment().get_template(module).module
        expression = str(getattr(macros, macro)(column.sql, engine.dialect)).strip()
        coarser[position] = (words, len(chosen))
        chosen.append(Chosen(column.name, expression, Kind.OTHER))
    if unbanded:
        text = (
            f"The effect of ten bands is left out for {listed(unbanded)}: bands need all rows sorted on one "
            f"machine, and {engine.name} has them on many. For a coarser form, name an expression, such as floor(age "
            "/ 10)."
        )
        engine.note_remarks(Relation("", (), source.relation.label, remarks=(Remark("no_bands", text),)))
    if not coarser:
        return source
    rows = _side(engine, source.relation, "c", chosen, source.person)
    placed = tuple(replace(column, sql=f"c{position}") for position, column in enumerate(chosen))
    relation = replace(source.relation, sql=rows.sql, columns=())
    return replace(source, relation=relation, chosen=placed, person=replace(source.person, sql="e"), coarser=coarser)


def _not_the_person(person: Chosen, chosen: Sequence[Chosen]) -> None:
    if person.name in {column.name for column in chosen}:
        raise ConflictingRoles(
            f"Column {shown(person.name)} identifies the person. It cannot be a column of events as well."
        )


@dataclass(frozen=True)
class _JoinedSources:
    """A table of events and one of people, to join.

    Raises:
        UsageError: their columns of people cannot be compared, or a static column is the person.
    """

    engine: Engine
    events: Relation
    chosen: tuple[Chosen, ...]
    person: Chosen
    persons: Relation
    static: tuple[Chosen, ...]
    key: Chosen

    def __post_init__(self) -> None:
        _not_the_person(self.key, self.static)
        person, key = self.person, self.key
        kinds = {person.kind, key.kind}
        if Kind.OTHER not in kinds and len(kinds) > 1 and not kinds <= set(_EXACT):
            raise UsageError(
                f"{shown(person.name)} is {person.kind.value} in {self.events.label} and {key.kind.value} in "
                f"{self.persons.label}, so that the tables cannot be joined by {spelled('entity')}. Give both the same "
                "type, in a view or a query."
            )

    def relation(self) -> Relation:
        """Events with the static columns of their people."""
        names = [Raw(f"c{position}") for position in range(len(self.chosen))]
        static = [Raw(f"s{position}") for position in range(len(self.static))]
        statement = render("events/events_joined.sql", self.engine.dialect, names=names, static=static, **self._sides())
        tables = tuple(dict.fromkeys(self.events.tables + self.persons.tables))
        return replace(self.events, sql="(" + statement.sql + ")", columns=(), tables=tables)

    def check(self) -> None:
        """Check that every person with events has one row.

        Raises:
            UsageError: some have none, or several that differ.
        """
        statement = render("events/events_persons_elsewhere.sql", self.engine.dialect, **self._sides())
        missing, several = self.engine.run(statement)[0]
        label, whom = self.persons.label, self.person.name
        if missing:
            raise UsageError(
                f"{label} has no row for {plural(missing, 'person', 'people')} with events in {self.events.label}, by "
                f"{whom!r}. Add the missing rows, or leave out these events with a condition."
            )
        if several:
            names = ", ".join(repr(column.name) for column in self.static)
            raise UsageError(
                f"{label} has several rows for {plural(several, 'person', 'people')}, which differ in {names}. Name a "
                "table or query with one row for each person."
            )

    def _sides(self) -> dict[str, Any]:
        return {
            "events": _side(self.engine, self.events, "c", self.chosen, self.person),
            "persons": _side(self.engine, self.persons, "s", self.static, self.key, distinct=True),
        }


def _side(
    engine: Engine, source: Relation, letter: str, chosen: Sequence[Chosen], entity: Chosen, *, distinct: bool = False
) -> Raw:
    """Columns of a relation, called `c0`, `c1`, … by a letter, and the person of a row; each different row once when
    `distinct`."""
    statement = render(
        "events/events_side.sql",
        engine.dialect,
        source=source,
        columns=[(Raw(f"{letter}{position}"), column) for position, column in enumerate(chosen)],
        entity=entity,
        distinct=distinct,
    )
    return Raw("(" + statement.sql + ")")
