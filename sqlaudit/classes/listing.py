"""What names the classes that fall short: a condition over facts, or a relation where no fact tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlaudit.base.frozen import dataclass
from sqlaudit.base.sql import Raw, environment
from sqlaudit.classes.facts import Fact


@dataclass(frozen=True)
class Listing:
    """What names classes besides a condition over facts, each kind in its own way; `name` is what it is called."""

    @property
    def has_keys(self) -> bool:
        """Whether it knows classes by their keys, also those that the table does not have."""
        return False

    def told(self, name: str) -> list[tuple[str, str]]:
        """(label, column) of what it tells of a class."""
        return []

    def named(self, name: str) -> list[tuple[str, str]]:
        """The same where values may be shown."""
        return self.told(name)

    def condition(self, name: str) -> str:
        """What holds for a class that falls short."""
        return piece("always")

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
    """What a model tells of a class that falls short.

    Args:
        label: what it is called. expression: SQL over facts. facts: these.
        named: what it is called where values may be shown: somebody's words may hold some.
    """

    label: str
    expression: str
    facts: tuple[Fact, ...]
    named: str = ""


class Every(Listing):
    """All classes fall short."""


@dataclass(frozen=True)
class Keyed(Listing):
    """A row for every class with its key q1, q2, …: `short` (1 or 0) and the class's own figures.

    `relation` makes the FROM item, in the engine's dialect, when it is wanted. `labels` are what the columns `figures`
    are called where they are told.
    """

    relation: Callable[[], str]
    figures: tuple[str, ...]
    labels: tuple[str, ...]

    @property
    def has_keys(self) -> bool:
        """It does."""
        return True

    def told(self, name: str) -> list[tuple[str, str]]:
        """Its figures."""
        return [(label, f"{name}_{figure}") for label, figure in zip(self.labels, self.figures, strict=True)]

    def condition(self, name: str) -> str:
        """The class is marked."""
        return piece("marked", name=name)

    def keyed(self, name: str) -> list[tuple[str, Raw, list[str]]]:
        """Its relation."""
        return [(name, Raw(self.relation()), list(self.figures))]


@dataclass(frozen=True)
class Listed(Listing):
    """The signatures of the classes that fall short, each with a figure.

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
        return piece("known", name=name)

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
    """A requirement that classes fall short of.

    Args:
        text: as the user wrote it. sensitive: the attribute that its check names, None = none.
        predicate: SQL over facts that names the classes, empty where `listing` does.
        of_values: whether it is about sensitive values, and not sizes alone. classes: how many fall short.
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
        return self.listing is not None and self.listing.has_keys

    def condition(self, name: str) -> str:
        """SQL that holds for a class that falls short, where `name` is what its listing brings."""
        return self.predicate if self.listing is None else self.listing.condition(name)


def piece(macro: str, **arguments: Any) -> str:
    """A condition from the macros of levels."""
    return str(getattr(environment().get_template("models/_levels.sql").module, macro)(**arguments))
