"""Somebody who knows about when and about how much: events match when they are near.

Then matches are no classes, and nothing is transitive: for each known event it is counted whom it fits, and a set of
known events fits a person who has, for each of them, an event that it fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.column_sets.selection import Chosen
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.workbench import keep
from sqlaudit.events.occurrences import Occurrences, occurrences_from
from sqlaudit.events.tolerance import Tolerance


def kept_spans(
    engine: Engine, bench: Engine, relation: Relation, chosen: Sequence[Chosen], within: dict[int, Tolerance]
) -> Iterator[tuple[int, Raw]]:
    """For each of these columns, by its place: which values are within the tolerance, as places in their order."""
    for place, tolerance in within.items():
        statement = span_statement(engine, relation, chosen[place], tolerance)
        columns = [("place", "BIGINT"), ("low", "BIGINT"), ("high", "BIGINT")]
        yield place, Raw(keep(engine, bench, span_name(place), statement, columns).sql)


def span_statement(engine: Engine, relation: Relation, column: Chosen, tolerance: Tolerance) -> Statement:
    """Which values of a column are within the tolerance of which."""
    span = tolerance.span(column)
    given = {"source": Raw(relation.sql), "column": Raw(column.sql), **span}
    return render("events/events_spans.sql", engine.dialect, **given)


def span_name(place: int) -> str:
    """The relation of a column's spans."""
    return f"sqlaudit_events_span_{place}"


def near_occurrences(
    plain: Occurrences, columns: Sequence[int], spans: dict[int, Raw], wild: int, k: int
) -> Occurrences:
    """Events that match when they are near.

    Args:
        plain: the same events, equal or not, with each column apart. columns: their places. spans: of `kept_spans`.
        wild: the columns whose missing values match anything, as a mask.
    """
    described = [
        {"name": f"k{at}", "spans": spans.get(place), "wild": bool(wild >> place & 1)}
        for at, place in enumerate(columns)
    ]
    covers = plain.keep("covers", "events_covers", columns=described)
    fitting = plain.keep("fitting", "events_fitting", covers=covers)
    dictionary = plain.keep("near_dictionary", "events_near_dictionary", fitting=fitting)
    fits = plain.keep("fits", "events_fits", fitting=fitting, dictionary=dictionary)
    own = plain.keep("near_own", "events_near_own", fits=fits)
    for name in ("covers", "fitting"):
        plain.drop(name)
    near = occurrences_from(plain.bench, own, dictionary, k, repeats=False, fits=fits)
    return replace(near, pairs=plain.pairs, plain=plain.dictionary)
