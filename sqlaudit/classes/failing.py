"""The classes that fail what was required: named, counted, read from the database, and written to files."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from math import gcd, isqrt
from typing import Annotated, Any

from sqlaudit.base.files import Batches
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.relation import Row, Statement
from sqlaudit.base.result import FROM_1, Documented, Number, after, told
from sqlaudit.base.sql import Raw, environment
from sqlaudit.classes.facts import ClassHistogram, Fact

# What names the failing classes: a condition over facts, or a relation where no fact tells.


@dataclass(frozen=True)
class Listing:
    """What names classes besides a condition over facts, each kind in its own way; `name` is what it is called."""

    def told(self, name: str) -> list[tuple[str, str]]:
        """(label, column) of what it tells of a class."""
        return []

    def named(self, name: str) -> list[tuple[str, str]]:
        """The same where values may be shown."""
        return self.told(name)

    def condition(self, name: str) -> str:
        """What holds for a class that fails."""
        return level_macro("always")

    def keyed(self, name: str) -> list[tuple[str, Raw, list[str]]]:
        """(name, FROM item, figures), when it is a relation of keys."""
        return []

    def listed(self, name: str) -> list[tuple[str, Raw, int]]:
        """(name, FROM item, counts in a signature), when it is one of signatures."""
        return []

    def estimates(self) -> Mapping[str, Any] | None:
        """The parameters of estimates that it needs of every class."""
        return None


@dataclass(frozen=True)
class ToldOfClass:
    """What a model tells of a class that fails.

    Args:
        label: what it is called. expression: SQL over facts. facts: these.
        named: what it is called where values may be shown: somebody's words may hold some.
    """

    label: str
    expression: str
    facts: tuple[Fact, ...]
    named: str = ""


class Every(Listing):
    """All classes fail."""


@dataclass(frozen=True)
class Keyed(Listing):
    """A row for every class with its key q1, q2, …, also for those that the table does not have: `short` (1 or 0) and
    the class's own figures.

    `relation` makes the FROM item, in the engine's dialect, when it is wanted. `labels` are what the columns `figures`
    are called where they are told.
    """

    relation: Callable[[], str]
    figures: tuple[str, ...]
    labels: tuple[str, ...]

    def told(self, name: str) -> list[tuple[str, str]]:
        """Its figures."""
        return [(label, f"{name}_{figure}") for label, figure in zip(self.labels, self.figures, strict=True)]

    def condition(self, name: str) -> str:
        """The class is marked."""
        return level_macro("marked", name=name)

    def keyed(self, name: str) -> list[tuple[str, Raw, list[str]]]:
        """Its relation."""
        return [(name, Raw(self.relation()), list(self.figures))]


@dataclass(frozen=True)
class Listed(Listing):
    """The signatures of the failing classes, each with a figure.

    `relation` makes VALUES of `rows:largest:next…` and the figure, `depth` counts in each.
    """

    relation: Callable[[], str]
    depth: int
    label: str

    def told(self, name: str) -> list[tuple[str, str]]:
        """Its figure."""
        return [(self.label, name)]

    def condition(self, name: str) -> str:
        """The signature of the class is there."""
        return level_macro("known", name=name)

    def listed(self, name: str) -> list[tuple[str, Raw, int]]:
        """Its relation."""
        return [(name, Raw(self.relation()), self.depth)]


@dataclass(frozen=True)
class Estimated(Listing):
    """Security estimates of every class, from the parameters of `_estimates.sql`; `over` is a condition on psi_lowest
    and psi_highest, `columns` are those that are told, `values` what the values are called whose own estimates are."""

    parameters: Mapping[str, Any]
    over: str
    columns: tuple[str, ...]
    values: tuple[str, ...] = ()

    def told(self, name: str) -> list[tuple[str, str]]:
        """Its columns by their names, and the estimate of each value by its rank."""
        ranks = range(1, len(self.values) + 1)
        return [(column, column) for column in self.columns] + [(f"ψ of value {n}", f"psi_of_{n - 1}") for n in ranks]

    def named(self, name: str) -> list[tuple[str, str]]:
        """The estimates by the values."""
        values = [(f"ψ of {value}", f"psi_of_{lane}") for lane, value in enumerate(self.values)]
        return [(column, column) for column in self.columns] + values

    def condition(self, name: str) -> str:
        """What it is made with."""
        return self.over

    def estimates(self) -> Mapping[str, Any] | None:
        """Its parameters."""
        return self.parameters


@dataclass(frozen=True)
class Short:
    """A requirement that classes fail.

    Args:
        text: as the user wrote it. sensitive: the attribute that its check names, None = none.
        predicate: SQL over facts that names the classes, empty where `listing` does.
        of_values: whether it is about sensitive values, and not sizes alone. classes: how many fail.
        told: what its model tells of a class besides shown facts.
        held: whether none does: the predicate stands beside others, so that what is asked of the classes can be said
            before anything is known of them.
    """

    text: str
    sensitive: str | None
    predicate: str = ""
    listing: Listing | None = None
    of_values: bool = False
    classes: int | None = None
    held: bool = False
    told: tuple[ToldOfClass, ...] = ()

    @property
    def has_keys(self) -> bool:
        """Whether its classes are known by their keys."""
        return isinstance(self.listing, Keyed)

    def condition(self, name: str) -> str:
        """SQL that holds for a class that fails, where `name` is what its listing brings."""
        return self.predicate if self.listing is None else self.listing.condition(name)


def level_macro(macro: str, **arguments: Any) -> str:
    """A level, predicate or condition over facts: a macro of `_levels.sql` with whole numbers and names of facts."""
    return str(getattr(environment().get_template("models/_levels.sql").module, macro)(**arguments))


# What is said of equivalence classes: how large they are, and which fail.


@dataclass(frozen=True)
class ClassSizes(Documented):
    """The equivalence classes by size. Sizes are persons when there is an entity column, rows otherwise.

    Args:
        sizes: pairs (size, number of classes of that size), ascending.
        per_row: whether classes overlap (a missing value matches any): then each row counts as one class, of the rows
            that match it.
    """

    sizes: tuple[tuple[Annotated[int, FROM_1], Annotated[int, FROM_1]], ...]
    per_row: bool = field(default=False, metadata=after("max_size"))

    @property
    @told("")
    def count(self) -> int:
        """The number of classes."""
        return sum(classes for _, classes in self.sizes)

    @property
    def members(self) -> int:
        """Rows (or persons) in all classes together."""
        return self.count if self.per_row else sum(size * classes for size, classes in self.sizes)

    @property
    def all_squares(self) -> bool:
        """Whether every class has a square number of rows, and one of them 9 or more."""
        return bool(self.sizes) and self.sizes[-1][0] >= 9 and all(isqrt(size) ** 2 == size for size, _ in self.sizes)

    @property
    def all_multiples(self) -> bool:
        """Whether some number from 3 on divides the sizes of all classes."""
        return gcd(*(size for size, _ in self.sizes)) >= 3

    @property
    @told("count")
    def min_size(self) -> Annotated[int, FROM_1] | None:
        """The smallest class, None for an empty table."""
        return self.sizes[0][0] if self.sizes else None

    @property
    @told("min_size")
    def max_size(self) -> Annotated[int, FROM_1] | None:
        """The largest class, None for an empty table."""
        return self.sizes[-1][0] if self.sizes else None

    def below(self, k: int) -> tuple[int, int]:
        """(classes, rows) in classes smaller than k."""
        small = [(size, classes) for size, classes in self.sizes if size < k]
        rows = sum(classes if self.per_row else size * classes for size, classes in small)
        return sum(classes for _, classes in small), rows


@dataclass(frozen=True)
class FailingClass(Documented):
    """A class that fails at least one requirement.

    Args:
        size: rows, or persons when there is an entity column.
        rows: rows of one such class; a class that only a population has has none. figures: the class's own figures.
        fails: the requirements it fails, as they were written.
        sensitive: the attribute that one of these is about, None when none is.
        key: its quasi-identifier values, None unless values were asked for; what JSON has no type for is text.
        classes: classes that this entry stands for: without keys, classes with the same counts are one entry.
    """

    size: Annotated[int, FROM_1]
    rows: int
    figures: Mapping[str, Number | None]
    fails: tuple[str, ...] = field(metadata=after("sensitive"))
    sensitive: str | None = field(default=None, metadata=after("classes"))
    key: Mapping[str, Any] | None = None
    classes: Annotated[int, FROM_1] = field(default=1, metadata=after("rows"))


# The classes that fail what was required, read from the database: the few smallest, or all in batches.


@dataclass(frozen=True)
class FailingClasses:
    """The classes that fail any of some requirements.

    Args:
        histogram: the classes; apart and with their keys where `keys` are given or a requirement needs them.
        shorts: what was required, and what names the classes that fail it.
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

    def __iter__(self) -> Iterator[FailingClass]:
        """All of them, read in batches, for an export."""
        for batch in self.histogram.engine.stream(self.statement(None)):
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
            label: columns[0] if len(columns) == 1 else level_macro("first_known", names=columns)
            for label, columns in told.items()
        }

    def statement(self, limit: int | None) -> Statement:
        """What asks for the smallest ones, None = all."""
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
            limit=None if limit is None else max(1, limit),
        )

    def _predicates(self, stacked: bool) -> list[tuple[str, str]]:
        """(name, condition) of every requirement; where classes without members stand beside them, of the others."""
        found = []
        for place, (short, name) in enumerate(self._named):
            condition = short.condition(name)
            if stacked and not short.has_keys:
                condition = level_macro("both", first=level_macro("known", name="size"), second=condition)
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
    """All failing classes, of every sensitive attribute, one after the other: what an export is handed.

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


# Failing classes as rows of a file.


def failing_batches(
    failing: Iterable[FailingClass], keys: Sequence[str] = (), figures: Sequence[str] = (), batch: int = 10_000
) -> tuple[list[str], Batches]:
    """(column names, batches of rows) of failing classes, for `write_rows`; reads one batch at a time.

    Args:
        failing: the classes. keys: the columns of their keys, if they hold any. figures: what is told of them.

    The columns: those of the keys, then size, rows, classes, sensitive, falls_short_of, and the figures. What a class
    does not have is missing.
    """
    own = ["size", "rows", "classes", "sensitive", "falls_short_of", *figures]
    names = [*keys, *(name + "_" if name in keys else name for name in own)]

    def row(item: FailingClass) -> list[Any]:
        own = [item.size, item.rows, item.classes, item.sensitive, ", ".join(item.fails)]
        return [*map((item.key or {}).get, keys), *own, *map(item.figures.get, figures)]

    rows = map(row, failing)
    return names, iter(lambda: list(itertools.islice(rows, batch)), [])
