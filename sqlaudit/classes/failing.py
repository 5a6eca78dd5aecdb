"""The classes that fall short of what was required, read from the database: the few smallest, or all in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlaudit.base.relation import Row, Statement
from sqlaudit.base.sql import Raw, environment
from sqlaudit.classes.facts import ClassHistogram, Fact
from sqlaudit.classes.found import FailingClass
from sqlaudit.classes.listing import Estimated, Every, Keyed, Listed, Short


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

    @cached_property
    def _figures(self) -> dict[str, str]:
        """Label to expression over the columns of a class."""
        told: dict[str, list[str]] = {fact.name: [fact.name] for fact in self.facts if fact.shown}
        for short, name in self._named:
            for label, column in _told(short, name):
                told.setdefault(label, []).append(column)
        return {
            label: columns[0] if len(columns) == 1 else _piece("first_known", names=columns)
            for label, columns in told.items()
        }

    def _statement(self, limit: int | None) -> Statement:
        of_keys = [(short.listing, name) for short, name in self._named if isinstance(short.listing, Keyed)]
        listed = [(short.listing, name) for short, name in self._named if isinstance(short.listing, Listed)]
        estimated = [short.listing for short in self.shorts if isinstance(short.listing, Estimated)]
        tops = {
            listing.depth: Fact(f"top_counts_{listing.depth}", "top", {"count": listing.depth}) for listing, _ in listed
        }
        facts = [*self.facts, *tops.values()]
        names = [f"q{place}" for place in range(1, self.width + 1)]
        return self.histogram.statement(
            "classes/failing_classes.sql",
            facts,
            "failing classes",
            key_names=names if self.keys else [],
            key_columns=names if self.keys or of_keys else [],
            collated=list(self.collated),
            columns=self._columns(facts, listed, estimated),
            keyed=[(name, Raw(listing.relation()), list(listing.figures)) for listing, name in of_keys],
            listed=[(name, Raw(listing.relation()), listing.depth) for listing, name in listed],
            estimates=dict(estimated[0].parameters) if estimated else None,
            figures=list(self._figures.items()),
            predicates=self._predicates(bool(of_keys)),
            limit=limit,
        )

    @staticmethod
    def _columns(
        facts: Sequence[Fact], listed: Sequence[tuple[Listed, str]], estimated: Sequence[Estimated]
    ) -> list[str]:
        """Everything that is known of a class of the table besides its sizes."""
        estimates = ["psi_lowest", "psi_highest"] if estimated else []
        return [*(fact.name for fact in facts), *estimates, *(name for _, name in listed)]

    def _predicates(self, stacked: bool) -> list[tuple[str, str]]:
        """(name, condition) of every requirement; where classes without members stand beside them, of the others."""
        found = []
        for place, (short, name) in enumerate(self._named):
            condition = _condition(short, name)
            if stacked and not isinstance(short.listing, Keyed):
                condition = _piece("both", first=_piece("known", name="size"), second=condition)
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


def _told(short: Short, name: str) -> list[tuple[str, str]]:
    """(label, column) of what a listing tells of a class."""
    listing = short.listing
    if isinstance(listing, Keyed):
        return [(label, f"{name}_{figure}") for label, figure in zip(listing.labels, listing.figures, strict=True)]
    if isinstance(listing, Listed):
        return [(listing.label, name)]
    return [(column, column) for column in listing.columns] if isinstance(listing, Estimated) else []


def _condition(short: Short, name: str) -> str:
    listing = short.listing
    if isinstance(listing, Keyed):
        return _piece("marked", name=name)
    if isinstance(listing, Listed):
        return _piece("known", name=name)
    if isinstance(listing, Every):
        return _piece("always")
    return short.predicate if listing is None else listing.condition


def _piece(macro: str, **arguments: Any) -> str:
    return str(getattr(environment().get_template("models/_levels.sql").module, macro)(**arguments))


def _plain_number(value: Any) -> int | float | None:
    if value is None or isinstance(value, int | float):
        return value
    return int(value) if value == int(value) else float(value)
