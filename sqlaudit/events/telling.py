"""Which events tell most: values of columns in many minimal sets, and the persons whom the fewest events single out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlaudit.base.relation import Relation
from sqlaudit.base.sql import Raw, render
from sqlaudit.column_sets.coding import Coded
from sqlaudit.column_sets.selection import Chosen
from sqlaudit.engines.contract import Engine
from sqlaudit.events.occurrences import Occurrences
from sqlaudit.events.result import PersonAtRisk, TellingColumn, TellingValue

MOST_VALUES = 10
"""So many values of a column are told."""


@dataclass(frozen=True)
class CellsBehind:
    """The cells behind codes, for whoever may see them.

    Args:
        engine: where the relation lies. bench: where its codes are. relation: what was coded. coded: its codes.
    """

    engine: Engine
    bench: Engine
    relation: Relation
    coded: Coded

    def of(self, column: Chosen, code: str, codes: Sequence[int]) -> dict[int, str | None]:
        """The values of a column by some of its codes; codes keep the order of values, so that places tell them.

        Args:
            code: what the column is called among the codes.
        """
        wanted = sorted({one for one in codes if one})
        if not wanted:
            return {0: None}
        asked: dict[str, Any] = {"source": self.coded.source, "column": Raw(code), "codes": wanted}
        places: dict[int, int] = dict(
            self.bench.run(render("events/events_code_places.sql", self.bench.dialect, **asked))
        )
        given: dict[str, Any] = {
            "source": Raw(self.relation.sql),
            "column": Raw(column.sql),
            "places": sorted(places.values()),
        }
        cells: dict[int, Any] = dict(
            self.engine.run(render("events/events_values_at.sql", self.engine.dialect, **given))
        )
        return {0: None} | {number: str(cells[place]) for number, place in places.items()}


@dataclass
class Tally:
    """In how many minimal sets below k each event is; `look` is shown every set.

    Args:
        occurrences: who has which event, with columns apart. k: what is too few.
    """

    occurrences: Occurrences
    k: int
    _tally: Raw = field(default_factory=lambda: Raw(""))

    def __post_init__(self) -> None:
        self._tally = self.occurrences.keep("tally", "events_tally_nothing")

    def look(self, size: int, sets: Raw) -> None:
        """Take some sets of this size into account."""
        self._tally = self.occurrences.keep("tally", "events_tally", tally=self._tally, size=size, sets=sets, k=self.k)

    def columns(self, chosen: Sequence[Chosen], values: CellsBehind | None) -> Iterator[TellingColumn]:
        """The columns with what their values do; with the values themselves where these may be seen."""
        names = self.occurrences.names()
        for place, column in enumerate(chosen):
            asked = {"tally": self._tally, "names": names, "key": Raw(f"k{place}"), "top": MOST_VALUES}
            rows = self.occurrences.ask("events_tally_column", **asked)
            telling, half = (int(rows[0][0]), int(rows[0][1])) if rows else (0, 0)
            cells = {} if values is None else values.of(column, f"c{place}", [int(row[2]) for row in rows])
            top = tuple(TellingValue(cells.get(int(code)), int(sets)) for _, _, code, sets in rows) if values else ()
            yield TellingColumn(column.name, telling, half, top)

    def close(self) -> None:
        """Release what was kept."""
        self.occurrences.drop("tally")


def most_at_risk(
    occurrences: Occurrences, state: Raw, top: int, chosen: Sequence[Chosen], person: Chosen, values: CellsBehind | None
) -> Iterator[PersonAtRisk]:
    """The persons whom the fewest events single out, then those whom the fewest expose.

    Args:
        occurrences: who has which event, with columns apart. state: persons with how many events do.
        top: how many persons. chosen: the columns of events. values: for who may see them.
    """
    at_risk = occurrences.keep("at_risk", "events_at_risk", state=state, top=top)
    people = occurrences.ask("events_at_risk_rows", at_risk=at_risk)
    sets = dict(_telling_sets(occurrences, at_risk, {int(row[3]) for row in people if row[3] is not None}))
    keys: dict[int, str | None] = {}
    told: dict[int, tuple[str | None, ...]] = {}
    if values is not None:
        keys = values.of(person, "e", [int(row[0]) for row in people])
        told = _told(occurrences, chosen, values, sorted({event for _, events in sets.values() for event in events}))
    for who, events, exposed, alone in people:
        number, telling = sets.get(int(who), (0, ()))
        yield PersonAtRisk(
            None if alone is None else int(alone),
            int(exposed),
            int(events),
            number,
            keys.get(int(who)),
            tuple(told[event] for event in telling) if values is not None else (),
        )


def _telling_sets(
    occurrences: Occurrences, at_risk: Raw, sizes: set[int]
) -> Iterator[tuple[int, tuple[int, tuple[int, ...]]]]:
    for size in sorted(sizes):
        for person, sets, *events in occurrences.ask("events_telling_sets", at_risk=at_risk, size=size):
            yield int(person), (int(sets), tuple(abs(int(event)) for event in events))


def _told(
    occurrences: Occurrences, chosen: Sequence[Chosen], values: CellsBehind, events: Sequence[int]
) -> dict[int, tuple[str | None, ...]]:
    if not events:
        return {}
    keys = Raw(", ".join(f"k{place}" for place in range(len(chosen))))
    rows = occurrences.ask("events_event_codes", names=occurrences.names(), keys=keys, events=events)
    cells = [values.of(one, f"c{place}", [int(row[1 + place]) for row in rows]) for place, one in enumerate(chosen)]
    return {int(event): tuple(cells[at][int(code)] for at, code in enumerate(codes)) for event, *codes in rows}
