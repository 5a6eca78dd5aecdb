"""What names the classes that fall short: a condition over facts, or a relation where no fact tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Keyed:
    """A row for every class with its key q1, q2, …: `short` (1 or 0) and the class's own figures.

    `relation` makes the FROM item, in the engine's dialect, when it is wanted. `labels` are what the columns `figures`
    are called where they are told.
    """

    relation: Callable[[], str]
    figures: tuple[str, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Listed:
    """The signatures of the classes that fall short, each with a figure.

    `relation` makes VALUES of `rows:largest:next…` and the figure, `depth` counts in each.
    """

    relation: Callable[[], str]
    depth: int
    label: str


@dataclass(frozen=True)
class Estimated:
    """Security estimates of every class, from the parameters of `_estimates.sql`; `condition` is over psi_lowest and
    psi_highest, `columns` are those that are told."""

    parameters: Mapping[str, Any]
    condition: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Every:
    """All classes fall short."""


Listing = Keyed | Listed | Estimated | Every


@dataclass(frozen=True)
class Short:
    """A requirement that classes fall short of.

    Args:
        text: as the user wrote it. sensitive: the attribute that its check names, None = none.
        predicate: SQL over facts that names the classes, empty where `listing` does.
        of_values: whether it is about sensitive values, and not sizes alone. classes: how many fall short.
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
