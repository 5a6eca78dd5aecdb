"""The classes that fall short of what was required, read from the database: the few smallest, or all in batches."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from sqlaudit.base.frozen import dataclass
from sqlaudit.base.relation import Row, Statement
from sqlaudit.classes.facts import ClassHistogram, Fact
from sqlaudit.classes.found import FailingClass
from sqlaudit.classes.listing import Listing, Short, ToldOfClass, piece


@dataclass(frozen=True)
class FailingClasses:
    """The classes that fall short of any of some requirements.

    Args:
        histogram: the classes; apart and with their keys where `keys` are given or a requirement needs them.
        shorts: what was required, and what names the classes that fall short of it.
        facts: those that conditions speak of, and those that are told of a class.
        keys: labels of q1, q2, … where they may be shown, else empty. collated: which of these are text.
        width: how many columns the key of a class has, shown or not. sensitive: the attribute that is named even where
            a requirement is not about it (classes differ between attributes), None = none.
    """

    histogram: ClassHistogram
    shorts: tuple[Short, ...]
    facts: tuple[Fact, ...]
    keys: tuple[str, ...] = ()
    collated: tuple[bool, ...] = ()
    width: int = 0
    sensitive: str | None = None

    def smallest(self, limit: int | None) -> tuple[list[FailingClass], int]:
        """The smallest ones, None = all, and how many there are. Without keys those that look alike are one entry."""
        rows = self.histogram.ask(self.statement(limit))
        total = int(rows[0][-1]) if rows else 0
        return [self._class(row) for row in rows[:limit]], total

    def statement(self, limit: int | None) -> Statement:
        """What asks for the smallest ones."""
        return self._statement(None if limit is None else max(1, limit))

    def __iter__(self) -> Iterator[FailingClass]:
        """All of them, read in batches, for an export."""
        for batch in self.histogram.engine.stream(self._statement(None)):
            for row in batch:
                yield self._class(row)

    @property
    def figures(self) -> tuple[str, ...]:
        """What is told of a class, by name."""
        return tuple(self._figures)

    @cached_property
    def _named(self) -> list[tuple[Short, str]]:
        """The requirements with names for what a listing brings."""
        return [(short, f"listing_{place}") for place, short in enumerate(self.shorts)]

    @property
    def _listings(self) -> list[tuple[Listing, str]]:
        return [(short.listing, name) for short, name in self._named if short.listing is not None]

    @cached_property
    def _told(self) -> tuple[ToldOfClass, ...]:
        return tuple(one for short in self.shorts for one in short.told)

    @cached_property
    def _figures(self) -> dict[str, str]:
        """Label to expression over the columns of a class."""
        told: dict[str, list[str]] = {fact.name: [fact.name] for fact in self.facts if fact.shown}
        for listing, name in self._listings:
            for label, column in listing.named(name) if self.keys else listing.told(name):
                told.setdefault(label, []).append(column)
        for one in self._told:
            told.setdefault(one.named if self.keys and one.named else one.label, [one.expression])
        return {
            label: columns[0] if len(columns) == 1 else piece("first_known", names=columns)
            for label, columns in told.items()
        }

    def _statement(self, limit: int | None) -> Statement:
        keyed = [one for listing, name in self._listings for one in listing.keyed(name)]
        listed = [one for listing, name in self._listings for one in listing.listed(name)]
        estimates = next((one for listing, _ in self._listings if (one := listing.estimates()) is not None), None)
        tops = {depth: Fact(f"top_counts_{depth}", "top", {"count": depth}) for _, _, depth in listed}
        further = {fact.name: fact for one in self._told for fact in one.facts}
        facts = list({fact.name: fact for fact in (*self.facts, *further.values(), *tops.values())}.values())
        names = [f"q{place}" for place in range(1, self.width + 1)]
        return self.histogram.statement(
            "classes/failing_classes.sql",
            facts,
            "failing classes",
            key_names=names if self.keys else [],
            key_columns=names if self.keys or keyed else [],
            collated=list(self.collated),
            columns=[
                *(fact.name for fact in facts),
                *(() if estimates is None else ("psi_lowest", "psi_highest")),
                *(f"psi_of_{lane}" for lane in range(0 if estimates is None else estimates["each"])),
                *(name for name, _, _ in listed),
            ],
            keyed=keyed,
            listed=listed,
            estimates=None if estimates is None else dict(estimates),
            figures=list(self._figures.items()),
            predicates=self._predicates(bool(keyed)),
            limit=limit,
        )

    def _predicates(self, stacked: bool) -> list[tuple[str, str]]:
        """(name, condition) of every requirement; where classes without members stand beside them, of the others."""
        found = []
        for place, (short, name) in enumerate(self._named):
            condition = short.condition(name)
            if stacked and not short.has_keys:
                condition = piece("both", first=piece("known", name="size"), second=condition)
            found.append((f"fails_{place}", condition))
        return found

    def _class(self, row: Row) -> FailingClass:
        at = len(self.keys)
        size, classes, table_rows = (int(value) for value in row[at : at + 3])
        told = row[at + 3 : at + 3 + len(self._figures)]
        flags = row[at + 3 + len(self._figures) : -1]
        broken = [short for short, fails in zip(self.shorts, flags, strict=True) if fails]
        return FailingClass(
            size=size,
            rows=table_rows // classes,
            figures={name: _plain_number(value) for name, value in zip(self._figures, told, strict=True)},
            fails=tuple(short.text for short in broken),
            sensitive=self.sensitive or next((short.sensitive for short in broken if short.sensitive), None),
            key=dict(zip(self.keys, row, strict=False)) if self.keys else None,
            classes=classes,
        )


@dataclass(frozen=True)
class AllFailing:
    """All classes that fall short, of every sensitive attribute, one after the other: what an export is handed.

    Args:
        parts: the classes of each attribute. unnamed: sentences on requirements whose classes nothing tells.
    """

    parts: tuple[FailingClasses, ...]
    unnamed: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[FailingClass]:
        for part in self.parts:
            yield from part

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns of all keys, each once; with joined attributes not all classes have all of them."""
        return tuple(dict.fromkeys(key for part in self.parts for key in part.keys))

    @property
    def figures(self) -> tuple[str, ...]:
        """What is told of the classes, by name, each once."""
        return tuple(dict.fromkeys(figure for part in self.parts for figure in part.figures))


def _plain_number(value: Any) -> int | float | None:
    if value is None or isinstance(value, int | float):
        return value
    return int(value) if value == int(value) else float(value)
