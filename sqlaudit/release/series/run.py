"""From several releases of one table to what they say together: counted inside the database, judged here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Row, Statement
from sqlaudit.base.spec import Requirement, Target
from sqlaudit.base.sql import render
from sqlaudit.base.words import about, spelled
from sqlaudit.classes.persons_spelled import refuse_respelled
from sqlaudit.classes.spellings import TEXTS, refuse_spellings
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.provenance import provenance
from sqlaudit.models.base import Context
from sqlaudit.models.check import Check
from sqlaudit.models.judge import Asked, check_of
from sqlaudit.models.releases import MInvariance
from sqlaudit.release.series.request import SeriesRequest
from sqlaudit.release.series.result import AttributeFigures, ReleaseFigures, ReleasesResult, SingledOut, ValuesLeft
from sqlaudit.release.series.sides import SeriesSide, copied, open_sides
from sqlaudit.reports.figures import plural

ROUNDS = (0, 2, 5)
"""How many rounds of elimination a statement follows; the next only where the last one still found somebody."""


def find_in_releases(engine: Engine, targets: Sequence[Target], request: SeriesRequest) -> ReleasesResult:
    """What several releases of one table say together about persons who are in more than one.

    Args:
        engine: an open engine. targets: all releases, in the order they were published.
        request: the roles, and what must hold.

    Raises:
        UsageError: fewer than two releases, a column that is not there, rows that name nobody, persons with several
            rows in a release or with another value in another one, or nobody who is in two releases.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd
        >>> from sqlaudit.engines import connect
        >>> may = pd.DataFrame({"id": [1, 2], "age": "2*", "ill": ["flu", "cold"]})
        >>> june = pd.DataFrame({"id": [1, 3], "age": "2*", "ill": ["flu", "none"]})
        >>> request = SeriesRequest(entity="id", qi=("age",), sensitive=("ill",))
        >>> with connect() as engine:
        ...     found = find_in_releases(engine, [Target(frame=may), Target(frame=june)], request).attribute("ill")
        >>> found.m, found.singled_out, found.by_comparing, found.by_elimination
        (0, 3, 1, 2)
    """
    already = len(engine.executed)
    sides = _sides(engine, targets, request)
    for place, name in enumerate(request.sensitive if request.requirements else ()):
        if sides[0].sensitive[place].kind in TEXTS:
            texts = [(side.relation.sql, side.sensitive[place].sql) for side in sides]
            refuse_spellings(engine, name, texts, request.requirements[0].text)
    if request.requirements:
        named = [(side.relation, side.entity) for side in sides]
        refuse_respelled(engine, request.entity, named, request.requirements[0].text)
    sides = [copied(engine, side, place) for place, side in enumerate(sides, 1)]
    alone = [[_alone(engine, side, place) for side in sides] for place in range(len(request.sensitive))]
    _refuse_rows(sides, alone[0], request)
    persons, several = _persons(engine, sides, request)
    attributes = tuple(
        _attribute(engine, sides, place, [figures for figures, _ in alone[place]], request)
        for place in range(len(request.sensitive))
    )
    return ReleasesResult(
        releases=tuple(side.label for side in sides),
        quasi_identifiers=request.qi,
        sensitive=request.sensitive,
        entity=request.entity,
        persons=persons,
        in_several=several,
        attributes=attributes,
        checks=tuple(check_of_series(requirement, one) for requirement in request.requirements for one in attributes),
        **provenance(engine, already),
    )


def plan_releases(engine: Engine, targets: Sequence[Target], request: SeriesRequest) -> list[Statement]:
    """The statements, as far as they are known before any has run, for `--dry-run`.

    Raises:
        UsageError: as `find_in_releases`, for what shows without reading rows.
    """
    sides = _sides(engine, targets, request)
    places = range(len(request.sensitive))
    return [
        *(_alone_statement(engine, side, place) for place in places for side in sides),
        *(_series(engine, "series_persons", "persons", sides, place) for place in places),
        *(_series(engine, "series_candidates", "values left", sides, place, rounds=0) for place in places),
    ]


def _sides(engine: Engine, targets: Sequence[Target], request: SeriesRequest) -> list[SeriesSide]:
    if len(targets) < 2:
        raise UsageError("Name all releases of the table, at least two: one alone is what an audit is for.")
    return open_sides(engine, targets, request)


def _alone_statement(engine: Engine, side: SeriesSide, place: int) -> Statement:
    step = f"{side.sensitive[place].label} in {side.label}"
    return render("release/series/series_release.sql", engine.dialect, step=step, **side.parameters(place))


def _series(engine: Engine, name: str, step: str, sides: Sequence[SeriesSide], place: int, **more: Any) -> Statement:
    label = f"{step} of {sides[0].sensitive[place].label}"
    releases = [side.parameters(place) for side in sides]
    return render(f"release/series/{name}.sql", engine.dialect, step=label, releases=releases, **more)


def _alone(engine: Engine, side: SeriesSide, place: int) -> tuple[ReleaseFigures, int]:
    """A release by itself, and how many different persons its rows name."""
    found = engine.run(_alone_statement(engine, side, place))[0]
    rows, nameless, different, classes, smallest, repeating, repeating_rows, fewest, without = (
        None if number is None else int(number) for number in found
    )
    rows, nameless = rows or 0, nameless or 0
    figures = ReleaseFigures(
        release=side.label,
        rows=rows,
        persons=rows - nameless,
        counterfeits=nameless,
        classes=classes or 0,
        smallest=smallest,
        repeating_classes=repeating or 0,
        repeating_rows=repeating_rows or 0,
        fewest_values=fewest,
        without_value=without or 0,
    )
    return figures, different or 0


def _refuse_rows(
    sides: Sequence[SeriesSide], alone: Sequence[tuple[ReleaseFigures, int]], request: SeriesRequest
) -> None:
    """Rows that name nobody, unless they are said to be counterfeits, and rows that name somebody again."""
    for side, (figures, different) in zip(sides, alone, strict=True):
        if figures.counterfeits and not request.counterfeits:
            raise UsageError(
                f"{about('entity')}: {side.label} has {plural(figures.counterfeits, 'row')} that "
                f"{'names' if figures.counterfeits == 1 else 'name'} nobody, so it is not known whose data that is. "
                f"Where they are counterfeits, added to keep the values of a class, say so with "
                f"{spelled('counterfeits', True)}."
            )
        if different < figures.persons:
            raise UsageError(
                f"{about('entity')}: {side.label} has {plural(figures.persons, 'row')} about only "
                f"{plural(different, 'person')}; m-invariance is defined where a person has one row in a release."
            )


def _persons(engine: Engine, sides: Sequence[SeriesSide], request: SeriesRequest) -> tuple[int, int]:
    """Persons in all releases, and in more than one.

    Raises:
        UsageError: nobody is in two, or somebody has another value in another one.
    """
    persons, several = 0, 0
    for place, name in enumerate(request.sensitive):
        statement = _series(engine, "series_persons", "persons", sides, place)
        persons, several, changing = (int(number) for number in engine.run(statement)[0])
        if changing:
            raise UsageError(
                f"{plural(changing, 'person has', 'persons have')} another value of {name} in another release. "
                "m-invariance is defined for values that stay; where they may change, nothing follows from it."
            )
    if persons and not several:
        raise UsageError(
            f"{about('entity')}: nobody of one release is in another one. Persons need the same key in every release; "
            "with a new one in each, it is not known what the releases say together."
        )
    return persons, several


def _attribute(
    engine: Engine, sides: Sequence[SeriesSide], place: int, alone: Sequence[ReleaseFigures], request: SeriesRequest
) -> AttributeFigures:
    left, rounds, complete = _left(engine, sides, place)
    by_values: dict[int, int] = {}
    for _, _, _, values, _, persons in left:
        by_values[values] = by_values.get(values, 0) + persons
    singled = [row for row in left if row[4] is not None]
    return AttributeFigures(
        sensitive=request.sensitive[place],
        releases=tuple(alone),
        unsteady=sum(row[5] for row in left if not row[1]),
        candidates=tuple(ValuesLeft(values, persons) for values, persons in sorted(by_values.items())),
        fewest=min(by_values, default=None),
        singled_out=sum(row[5] for row in singled),
        of_one_release=sum(row[5] for row in singled if row[0] == 1),
        by_comparing=sum(row[5] for row in singled if row[0] > 1 and row[4] == 0),
        by_elimination=sum(row[5] for row in singled if row[4] > 0),
        complete=complete,
        shown=_shown(engine, sides, place, rounds, request) if singled and request.show_values else (),
    )


def _left(engine: Engine, sides: Sequence[SeriesSide], place: int) -> tuple[list[tuple[Any, ...]], int, bool]:
    """Persons by the values left, after how many rounds that is, and whether a further round would find nothing."""
    left: list[tuple[Any, ...]] = []
    for rounds in ROUNDS:
        statement = _series(engine, "series_candidates", "values left", sides, place, rounds=rounds)
        left = [_numbers(row) for row in engine.run(statement)]
        if not any(row[4] == rounds for row in left):
            return left, rounds, True
    return left, ROUNDS[-1], False


def _numbers(row: Row) -> tuple[int | None, ...]:
    return tuple(None if one is None else int(one) for one in row)


def _shown(
    engine: Engine, sides: Sequence[SeriesSide], place: int, rounds: int, request: SeriesRequest
) -> tuple[SingledOut, ...]:
    statement = _series(engine, "series_singled", "who is singled out", sides, place, rounds=rounds, limit=request.top)
    return tuple(
        SingledOut(person, tuple(number for number, there in enumerate(inside, 1) if there), value, int(known) > 0)
        for person, value, known, *inside in engine.run(statement)
    )


def check_of_series(requirement: Requirement, found: AttributeFigures) -> Check:
    """A requirement of m-invariance, judged from what was counted of a sensitive attribute."""
    model = MInvariance(requirement.parameters, Context(None, 0))
    rows = sum(one.rows for one in found.releases)
    return check_of(Asked(model, requirement, found.sensitive), model.judge_releases(found), rows)
