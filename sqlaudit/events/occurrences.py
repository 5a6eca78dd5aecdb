"""From a table of events to numbers: who has which event, on an engine where searching is cheap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.spec import NullPolicy
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import spelled
from sqlaudit.column_sets.coding import Coded, code_columns, drop_codes
from sqlaudit.column_sets.masks import bits
from sqlaudit.column_sets.selection import Chosen
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.workbench import keep, workbench_of

_CODES = "sqlaudit_events_codes"
_LOOKED_UP = ("names", "at_risk")


@dataclass(frozen=True)
class Occurrences:
    """Who has which event.

    Args:
        bench: the engine that has the relations, always one that keeps some.
        own: (person, event), each pair once. dictionary: events by number, with the persons who have them.
        events: different events. pairs: pairs of a person and an event.
        first_shared: the first event, from the rarest on, that two persons have. first_safe: that k have.
        repeats: whether repeats of an event are events of their own.
        sequence: whether `own` has the moment of each event, and what is known keeps their order.
        fits: (person, event, has) where events match when they are near: whom a known event fits, and whether they have
            it. None where events are equal or not. plain: the dictionary that these are numbered by.
    """

    bench: Engine
    own: Raw
    dictionary: Raw
    events: int
    pairs: int
    first_shared: int
    first_safe: int
    repeats: bool
    fits: Raw | None = None
    plain: Raw | None = None
    sequence: bool = False

    @property
    def near(self) -> bool:
        """Whether events match when they are near."""
        return self.fits is not None

    def ask(self, template: str, **parameters: Any) -> list[tuple[Any, ...]]:
        """The rows of a question about the events."""
        return self.bench.run(self._statement(template, parameters))

    def keep(self, name: str, template: str, **parameters: Any) -> Raw:
        """Keep the rows of a question as a relation of this name."""
        statement = self._statement(template, parameters)
        return Raw(self.bench.materialize(f"sqlaudit_events_{name}", statement).sql)

    def _statement(self, template: str, parameters: Mapping[str, Any]) -> Statement:
        given = {
            "own": self.own,
            "fits": self.fits or self.own,
            "near": self.near,
            "dictionary": self.dictionary,
            "repeats": self.repeats,
            "sequence": self.sequence,
            **parameters,
        }
        return render(f"events/{template}.sql", self.bench.dialect, **given)

    def alike(self) -> dict[int, int]:
        """Classes of persons with the same events, by their size."""
        return {int(members): int(classes) for members, classes in self.ask("events_profiles")}

    def names(self) -> Raw:
        """Events by number, each with its column codes where the dictionary keeps these apart."""
        return self.keep("names", "events_names", plain=self.plain or self.dictionary)

    def with_limit(self, k: int) -> Occurrences:
        """The same, cut where k persons are enough."""
        return replace(self, first_safe=int(self.ask("events_totals", k=k)[0][3] or 0))

    def drop(self, name: str) -> None:
        """Release what `keep` kept."""
        self.bench.drop(f"sqlaudit_events_{name}")


@contextmanager
def coded_rows(
    engine: Engine, relation: Relation, chosen: Sequence[Chosen], entity: Chosen
) -> Iterator[tuple[Engine, Coded]]:
    """The rows as codes on a workbench, for as long as they are needed.

    Raises:
        UsageError: rows without a person.
    """
    coded = code_columns(engine, relation, chosen, entity, ordered=True)
    try:
        if coded.coded:
            yield coded.engine or engine, coded
            return
        with workbench_of(engine) as bench:
            yield bench, _carried(engine, bench, coded)
    finally:
        drop_codes(engine)


def _carried(engine: Engine, bench: Engine, coded: Coded) -> Coded:
    """The codes of a database that keeps nothing, batch by batch into the workbench: numbers, never a cell."""
    columns = coded.columns or ()
    names = [f"c{position}" for position in range(len(columns))]
    kept = keep(
        engine,
        bench,
        _CODES,
        _codes(engine, coded.source, columns, coded.entity),
        [(name, "INTEGER") for name in (*names, "e")],
    )
    largest = bench.run(render("column_sets/columns_domains.sql", bench.dialect, source=Raw(kept.sql), names=names))[0]
    domains = tuple(int(value or 0) + 1 for value in largest)
    return Coded(Raw(kept.sql), None, Raw("e"), coded.rows, coded.persons, coded.missing, domains)


def _codes(engine: Engine, source: Raw, columns: Sequence[Raw], entity: Raw | None) -> Statement:
    return render("events/events_codes.sql", engine.dialect, source=source, columns=list(columns), entity=entity)


def reading(engine: Engine, relation: Relation, chosen: Sequence[Chosen], entity: Chosen) -> Statement:
    """The one statement that reads the table, as a question that stands alone."""
    return _codes(engine, Raw(relation.sql), [Raw(one.sql) for one in chosen], Raw(entity.sql))


def check_static(bench: Engine, coded: Coded, chosen: Sequence[Chosen], static: Sequence[int]) -> None:
    """The columns at these places say one thing of each person.

    Raises:
        UsageError: some persons have several values.
    """
    names = [f"c{position}" for position in static]
    if not names:
        return
    row = bench.run(render("events/events_unsteady.sql", bench.dialect, source=coded.source, names=names))[0]
    for place, persons in zip(static, row, strict=True):
        if persons:
            raise UsageError(
                f"{persons} persons have several values in {chosen[place].name!r}, which was said to stay the same for "
                "each person; name it with the quasi-identifiers of events instead."
            )


def check_moments(coded: Coded, chosen: Sequence[Chosen], moment: int | None) -> None:
    """The column at this place says of each row when it was.

    Raises:
        UsageError: it is missing somewhere: nobody could say what such an event comes before.
    """
    if moment is not None and coded.missing[moment]:
        raise UsageError(
            f"{chosen[moment].name!r} is missing in {coded.missing[moment]} of {coded.rows} rows, so that their place "
            f"in the order is not known; leave these rows out with {spelled('where')}, or ask without "
            f"{spelled('sequence')}."
        )


def occurrences_of(
    bench: Engine,
    coded: Coded,
    columns: Sequence[int],
    k: int,
    nulls: NullPolicy,
    *,
    repeats: bool,
    events: int,
    apart: bool = False,
    more: int = 0,
    moment: int | None = None,
) -> Occurrences:
    """The events that some of the columns make.

    Args:
        columns: places of the columns that take part. events: the first so many of all columns are of events, and only
            these make an event unequal to all others where they are missing and `nulls` says distinct.
        apart: whether the dictionary keeps each column by itself, as k0, k1, …
        more: further columns of events, as a mask. moment: the place of the column that orders the events of a person.
    """
    mask = sum(1 << position for position in columns)
    packed = [[(f"c{position}", 1)] for position in columns] if apart else coded.keys(mask)
    keys = Raw(", ".join(f"k{place}" for place in range(len(packed))))
    missing = mask & coded.nullable & ((1 << events) - 1 | more) if nulls is NullPolicy.DISTINCT else 0
    when = None if moment is None else Raw(f"c{moment}")
    made = _kept(
        bench, "occurrences", source=coded.source, packed=packed, alone=_names(missing), repeats=repeats, moment=when
    )
    asked = {"occurrences": made, "keys": keys, "repeats": repeats, "sequence": when is not None}
    dictionary = _kept(bench, "dictionary", **asked)
    own = _kept(bench, "own", dictionary=dictionary, **asked)
    bench.drop("sqlaudit_events_occurrences")
    return occurrences_from(bench, own, dictionary, k, repeats=repeats, sequence=when is not None)


def occurrences_from(
    bench: Engine, own: Raw, dictionary: Raw, k: int, *, repeats: bool, fits: Raw | None = None, sequence: bool = False
) -> Occurrences:
    """Who has which event, when the relations are made."""
    asked: dict[str, Any] = {"own": own, "dictionary": dictionary, "sequence": sequence, "k": k}
    totals = bench.run(render("events/events_totals.sql", bench.dialect, **asked))[0]
    count, pairs, first_shared, first_safe = (int(value or 0) for value in totals)
    return Occurrences(bench, own, dictionary, count, pairs, first_shared, first_safe, repeats, fits, sequence=sequence)


def drop_occurrences(bench: Engine) -> None:
    """Release what `occurrences_of` keeps."""
    for name in (
        "own",
        "dictionary",
        "occurrences",
        "covers",
        "fitting",
        "near_dictionary",
        "fits",
        "near_own",
        *_LOOKED_UP,
    ):
        bench.drop(f"sqlaudit_events_{name}")


def _names(mask: int) -> list[str]:
    return [f"c{position}" for position in bits(mask)]


def _kept(bench: Engine, name: str, **parameters: Any) -> Raw:
    statement = render(f"events/events_{name}.sql", bench.dialect, **parameters)
    return Raw(bench.materialize(f"sqlaudit_events_{name}", statement).sql)
