"""From several releases of one table to what they say together: counted inside the database, judged here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import ConflictingRoles, UsageError, verdict
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import Kind, Relation, Statement
from sqlaudit.base.spec import Requirement, Target
from sqlaudit.base.sql import render
from sqlaudit.classes.opening import (
    ColumnValues,
    apply_spelling_policy,
    copy_columns,
    find_columns,
    refuse_spelling_conflicts,
    repeated_columns,
)
from sqlaudit.engines.command import command
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.models.base import Check, Context
from sqlaudit.models.judge import Asked, check_of
from sqlaudit.models.releases import MInvariance
from sqlaudit.release.series.request import SeriesRequest
from sqlaudit.release.series.result import AttributeFigures, ReleaseFigures, ReleasesResult, SingledOut, ValuesLeft
from sqlaudit.reports.document import plural

# The releases of a series as relations: their columns found, of comparable kinds, and copied where needed.

_EXACT = (Kind.INTEGER, Kind.DECIMAL)
_SMALLEST_IS_KNOWN = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.TEXT, Kind.DATE, Kind.TIMESTAMP)
"""Kinds of keys of which every engine can say which is the smallest; others are compared as texts."""


@dataclass(frozen=True)
class SeriesSide:
    """One release: its name, where it lies, and its columns in the order of the request."""

    label: str
    relation: Relation
    entity: Resolved
    qi: tuple[Resolved, ...]
    sensitive: tuple[Resolved, ...]

    def parameters(self, attribute: int) -> dict[str, Any]:
        """Return what templates take of it, for one of the sensitive attributes."""
        return {"source": self.relation, "qi": self.qi, "entity": self.entity, "sensitive": self.sensitive[attribute]}


def open_sides(engine: Engine, request: SeriesRequest) -> list[SeriesSide]:
    """The releases with the columns of the request found in each.

    Raises:
        UsageError: a column that is not there, two names for one, or kinds of values that cannot be compared.
    """
    sides = [_opened(engine, target, request) for target in request.targets]
    for index, name in enumerate(request.sensitive):
        _refuse_unlike([side.sensitive[index] for side in sides], sides, "sensitive", name)
    _refuse_unlike([side.entity for side in sides], sides, "entity", request.entity)
    if sides[0].entity.kind not in _SMALLEST_IS_KNOWN:
        sides = [replace(side, entity=_as_text(side.entity)) for side in sides]
    return sides


def _as_text(role: Resolved) -> Resolved:
    return replace(role, sql="CAST(" + role.sql + " AS VARCHAR)", kind=Kind.TEXT, column=None, type="")


def copied(engine: Engine, side: SeriesSide, position: int) -> SeriesSide:
    """The columns that matter, copied where every reading would parse text again."""
    roles = [side.entity, *side.qi, *side.sensitive]
    relation, copies = copy_columns(engine, side.relation, roles, f"sqlaudit_series_{position}")
    keys = len(side.qi)
    qi, values = tuple(copies[1 : keys + 1]), tuple(copies[keys + 1 :])
    return replace(side, relation=relation, entity=copies[0], qi=qi, sensitive=values)


def _opened(engine: Engine, target: Target, request: SeriesRequest) -> SeriesSide:
    """Open a release and resolve its columns.

    Raises:
        UsageError: a column has two roles, or its values cannot be compared with those of other releases.
    """
    relation = engine.open(target)
    by_role = find_columns(engine, relation, entity=(request.entity,), qi=request.qi, sensitive=request.sensitive)
    if repeated_columns(by_role):
        raise ConflictingRoles(
            f"A column of {relation.label} is named twice among {spelled('entity')}, {spelled('qi')} and "
            f"{spelled('sensitive')}. Give every column one role."
        )
    for column in (*by_role["entity"], *by_role["sensitive"]):
        if column.column in relation.respelled:  # read with one spelling here, and perhaps with another one elsewhere
            raise UsageError(
                f"{column.label} of {relation.label} treats differently written texts as equal (by its collation or "
                "type), so values of other releases cannot be matched. Give all releases a view with one spelling, for "
                "example in lower case."
            )
    columns = [column for columns_of_role in by_role.values() for column in columns_of_role]
    kinds = _kinds(engine, relation, columns)
    entity, *rest = [replace(column, kind=kind) for column, kind in zip(columns, kinds, strict=True)]
    keys = len(request.qi)
    entity = apply_spelling_policy(engine, relation, entity, request.values, missing=False)
    sensitive = [apply_spelling_policy(engine, relation, column, request.values) for column in rest[keys:]]
    return SeriesSide(target.name, relation, entity, tuple(rest[:keys]), tuple(sensitive))


def _kinds(engine: Engine, relation: Relation, roles: Sequence[Resolved]) -> list[Kind]:
    """Return what columns and expressions hold; only the database knows it of expressions."""
    if all(column.column is not None for column in roles):
        return [column.kind for column in roles]
    statement = render(
        "classes/copy_columns.sql", engine.dialect, step="kinds of the columns", source=relation, columns=roles
    )
    return [column.kind for column in engine.result_columns(statement)]


def _refuse_unlike(columns: Sequence[Resolved], sides: Sequence[SeriesSide], role: str, name: str) -> None:
    """A key that is a number here and a text there would find no one again, and that would look safe.

    Raises:
        UsageError: the kinds differ, and not as whole and decimal numbers do.
    """
    first = columns[0].kind
    for column, side in zip(columns, sides, strict=True):
        if column.kind is not first and not (column.kind in _EXACT and first in _EXACT):
            raise UsageError(
                f"{about(role)}: {name} is of type {first.value} in {sides[0].label} but of type {column.kind.value} "
                f"in {side.label}, so values cannot be matched. Give it one type in all releases. For files, "
                f"{spelled('all_text', True)} reads every column as text."
            )


ROUNDS = (0, 2, 5)
"""How many rounds of elimination a statement follows; the next only where the last one still found somebody."""
_TOLD = "sqlaudit_series_told"


def find_in_releases(engine: Engine, request: SeriesRequest) -> ReleasesResult:
    """Return what several releases of one table say together about persons who are in more than one.

    Args:
        engine: an open engine.
        request: the releases, the roles, and what must hold.

    Raises:
        UsageError: an unknown column, rows without a person, people with several rows in a release or with
            different values in different ones, or no one in two releases.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd
        >>> from sqlaudit.engines import connect
        >>> may = pd.DataFrame({"id": [1, 2], "age": "2*", "ill": ["flu", "cold"]})
        >>> june = pd.DataFrame({"id": [1, 3], "age": "2*", "ill": ["flu", "none"]})
        >>> targets = Target(frame=may), Target(frame=june)
        >>> request = SeriesRequest(targets, entity="id", qi=("age",), sensitive=("ill",))
        >>> with connect() as engine:
        ...     found = find_in_releases(engine, request).attribute("ill")
        >>> found.m, found.singled_out, found.by_comparing, found.by_elimination
        (0, 3, 1, 2)
    """
    already = len(engine.executed)
    # Copied first: two tables of one open connection cannot be read in one statement.
    sides = [copied(engine, side, position) for position, side in enumerate(open_sides(engine, request), 1)]
    columns = [
        ColumnValues(name, [(side.relation, side.sensitive[index]) for side in sides])
        for index, name in enumerate(request.sensitive)
    ]
    persons = [(side.relation, side.entity) for side in sides]
    refuse_spelling_conflicts(engine, [*columns, ColumnValues(request.entity, persons, missing=False)], request.values)
    alone = [[_alone(engine, side, index) for side in sides] for index in range(len(request.sensitive))]
    _refuse_rows(sides, alone[0], request)
    everybody, several = _persons(engine, sides, request)
    attributes = tuple(
        _attribute(engine, sides, index, [figures for figures, _ in alone[index]], request)
        for index in range(len(request.sensitive))
    )
    return ReleasesResult(
        releases=tuple(side.label for side in sides),
        quasi_identifiers=request.qi,
        sensitive=request.sensitive,
        entity=request.entity,
        persons=everybody,
        in_several=several,
        attributes=attributes,
        checks=tuple(
            check_of_series(requirement, attribute) for requirement in request.requirements for attribute in attributes
        ),
        **provenance(engine, already),
    )


def plan_releases(engine: Engine, request: SeriesRequest) -> list[Statement]:
    """Return the statements, as far as they are known before any has run, for `--dry-run`.

    Raises:
        UsageError: as `find_in_releases`, for what shows without reading rows.
    """
    sides = open_sides(engine, request)
    places = range(len(request.sensitive))
    return [
        *(_alone_statement(engine, side, index) for index in places for side in sides),
        *(_series(engine, "series_persons", "persons", sides, index) for index in places),
        *(
            _series(engine, "series_candidates", "possible values", sides, index, rounds=0, kept=None)
            for index in places
        ),
    ]


def _alone_statement(engine: Engine, side: SeriesSide, index: int) -> Statement:
    step = f"{side.sensitive[index].label} in {side.label}"
    return render("release/series/series_release.sql", engine.dialect, step=step, **side.parameters(index))


def _series(
    engine: Engine, name: str, step: str, sides: Sequence[SeriesSide], index: int, **parameters: Any
) -> Statement:
    label = f"{step}: {sides[0].sensitive[index].label}"
    releases = [side.parameters(index) for side in sides]
    return render(f"release/series/{name}.sql", engine.dialect, step=label, releases=releases, **parameters)


def _alone(engine: Engine, side: SeriesSide, index: int) -> tuple[ReleaseFigures, int]:
    """A release by itself, and how many different persons its rows name."""
    figures = engine.run(_alone_statement(engine, side, index))[0]
    rows, nameless, different, classes, smallest, repeating, repeating_rows, fewest, without = (
        None if number is None else int(number) for number in figures
    )
    rows, nameless = rows or 0, nameless or 0
    counts = (classes or 0, smallest, repeating or 0, repeating_rows or 0, fewest, without or 0)
    return ReleaseFigures(side.label, rows, rows - nameless, nameless, *counts), different or 0


def _refuse_rows(
    sides: Sequence[SeriesSide], alone: Sequence[tuple[ReleaseFigures, int]], request: SeriesRequest
) -> None:
    """Rows that name no one, unless they are said to be counterfeits, and rows that name somebody again."""
    for side, (figures, different) in zip(sides, alone, strict=True):
        if figures.counterfeits and not request.counterfeits:
            raise UsageError(
                f"{about('entity')}: {side.label} has {plural(figures.counterfeits, 'row')} without a person. If these "
                f"are counterfeits, added to keep the values of a class, use {spelled('counterfeits', True)}."
            )
        if different < figures.persons:
            raise UsageError(
                f"{about('entity')}: {side.label} has {plural(figures.persons, 'row')} about only "
                f"{plural(different, 'person', 'people')}. m-invariance needs one row per person in a release."
            )


def _persons(engine: Engine, sides: Sequence[SeriesSide], request: SeriesRequest) -> tuple[int, int]:
    """Persons in all releases, and in more than one.

    Raises:
        UsageError: no one is in two, or somebody has another value in another one.
    """
    persons, several = 0, 0
    for index, name in enumerate(request.sensitive):
        statement = _series(engine, "series_persons", "persons", sides, index)
        persons, several, changing = (int(number) for number in engine.run(statement)[0])
        if changing:
            raise UsageError(
                f"{plural(changing, 'person has', 'people have')} different values of {name} in different releases. "
                "m-invariance is defined only for values that do not change."
            )
    if persons and not several:
        raise UsageError(
            f"{about('entity')}: no one is in two releases. Give people the same key in every release; otherwise "
            "releases cannot be compared."
        )
    return persons, several


def _attribute(
    engine: Engine, sides: Sequence[SeriesSide], index: int, alone: Sequence[ReleaseFigures], request: SeriesRequest
) -> AttributeFigures:
    """Return the figures of an attribute over all releases."""
    left, after, complete = _left(engine, sides, index)
    by_values = Counter[int]()
    for _, _, _, values, _, persons in left:
        by_values[values] += persons
    singled = [row for row in left if row[4] is not None]
    singled_out: tuple[SingledOut, ...] = ()
    if singled and request.show_values:
        statement = _series(engine, "series_singled", "people singled out", sides, index, limit=request.top, **after)
        singled_out = tuple(
            SingledOut(
                person,
                tuple(number for number, is_inside in enumerate(inside, 1) if is_inside),
                value,
                int(rounds_needed) > 0,
            )
            for person, value, rounds_needed, *inside in engine.run(statement)
        )
    if after["kept"] is not None:
        engine.drop(_TOLD)
    return AttributeFigures(
        sensitive=request.sensitive[index],
        releases=tuple(alone),
        changed_signatures=sum(row[5] for row in left if not row[1]),
        candidates=tuple(ValuesLeft(values, persons) for values, persons in sorted(by_values.items())),
        fewest=min(by_values, default=None),
        singled_out=sum(row[5] for row in singled),
        of_one_release=sum(row[5] for row in singled if row[0] == 1),
        by_comparing=sum(row[5] for row in singled if row[0] > 1 and row[4] == 0),
        by_elimination=sum(row[5] for row in singled if row[4] > 0),
        complete=complete,
        examples=singled_out,
    )


def _left(
    engine: Engine, sides: Sequence[SeriesSide], index: int
) -> tuple[list[tuple[Any, ...]], dict[str, Any], bool]:
    """Persons by the values left, after which rounds that is, and whether a further round would find nothing.

    Where an engine keeps tables, each round goes on from the one before; where not, a statement follows some rounds.
    """
    left: list[tuple[Any, ...]] = []
    after: dict[str, Any] = {"rounds": 0, "kept": None}
    for rounds in range(ROUNDS[-1] + 1) if engine.can_materialize else ROUNDS:
        after["rounds"] = rounds
        if engine.can_materialize:
            round_ = _series(engine, "series_told", "possible values", sides, index, **after)
            after["kept"] = engine.materialize(_TOLD, round_)
        statement = _series(engine, "series_candidates", "people by possible values", sides, index, **after)
        left = [tuple(None if number is None else int(number) for number in row) for row in engine.run(statement)]
        if not any(row[4] == rounds for row in left):
            return left, after, True
    return left, after, False


def check_of_series(requirement: Requirement, figures: AttributeFigures) -> Check:
    """A requirement of m-invariance, judged from what was counted of a sensitive attribute."""
    model = MInvariance(requirement.parameters, Context(None, 0))
    rows = sum(release.rows for release in figures.releases)
    return check_of(Asked(model, requirement, figures.sensitive), model.judge_releases(figures), rows)


@command(
    SeriesRequest, plan_releases, code=lambda result: verdict(result.passed), reads=lambda request: request.targets
)
def releases(engine: Engine, request: SeriesRequest) -> ReleasesResult:
    """Find what several releases of one table disclose in combination (`sqlaudit releases`).

    Args:
        targets: all releases, in the order they were published: tables, views, file paths, frames or `Target`s, all in
            one database or all files or frames.
        require: the requirements: `{"m_invariance": 3}`, or texts such as "m_invariance=3".
        top, show_values: how many people with one possible value to show, and whether to show any.

    Raises:
        UsageError: fewer than two releases, an unknown column, rows without a person, people with several
            rows in a release or with different values in different ones, or no one in two releases.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd, sqlaudit
        >>> may = pd.DataFrame({"id": [1, 2, 3, 4], "age": ["2*", "2*", "4*", "4*"], "ill": list("abcd")})
        >>> june = pd.DataFrame({"id": [1, 3, 4, 5], "age": ["2*", "4*", "4*", "2*"], "ill": list("acde")})
        >>> found = sqlaudit.releases([may, june], entity="id", qi="age", sensitive="ill", require="m_invariance=2")
        >>> found.passed, found.attribute("ill").changed_signatures, found.attribute("ill").singled_out
        (False, 1, 3)
    """
    return find_in_releases(engine, request)
