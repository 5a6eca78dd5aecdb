"""Figures on people with many rows and their events: what models judge, and what results show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import Annotated, ClassVar

from sqlaudit.base import result as base
from sqlaudit.base.frozen import dataclass


@dataclass(frozen=True)
class KnownEvents(base.Documented):
    """What someone who knows up to so many events of a person learns.

    Args:
        known: the largest number of known events, m.
        smallest: the fewest people who share a set of at most m events of a person: the level of k^m-anonymity.
        exposed_persons: people with a set that fewer than k share.
        unique_persons: people with a set that no one else has.
        minimal_sets: sets of exactly m events that fewer than k share, while at least k share every smaller part.
        exact: whether all sets were counted; if not, people and sets are lower bounds.
    """

    schema_name: ClassVar = "known"

    known: Annotated[int, base.FROM_1]
    smallest: int
    exposed_persons: int
    unique_persons: int
    minimal_sets: int
    exact: bool = True


@dataclass(frozen=True)
class RandomEvents(base.Documented):
    """The expected share of people singled out by some of their events, drawn at random.

    Args:
        known: the number of known events. unique_share: the share.
        low, high: its 95% interval; the share itself when counted.
        sampled: whether people were drawn at random, instead of counting all sets of all people.
        share: `unique_share` as models compare it with limits.
    """

    schema_name: ClassVar = "drawn"

    known: Annotated[int, base.FROM_1]
    unique_share: Annotated[float, base.FROM_0_TO_1]
    low: Annotated[float, base.FROM_0_TO_1]
    high: Annotated[float, base.FROM_0_TO_1]
    sampled: bool
    share: Fraction = field(repr=False, compare=False, metadata=base.LEFT_OUT)


@dataclass(frozen=True)
class ValueDisclosure(base.Documented):
    """What someone who knows up to so many events of a person learns about a sensitive value.

    Args:
        known: the largest number of known events. smallest: the fewest people who share such a set.
        share: the largest share of the people with such a set who have the same value.
        exposed_persons: people with a set that fewer than k share, or that reveals a value.
        disclosed_persons: people with a set that reveals a value: more than h of those who share it have the same one.
        exact: whether all sets were counted; if not, shares and numbers of people are lower bounds.
    """

    schema_name: ClassVar = "learnt"

    known: Annotated[int, base.FROM_1]
    smallest: int
    share: Annotated[Fraction, base.FROM_0_TO_1] = field(metadata=base.exactly("share_exact"))
    exposed_persons: int
    disclosed_persons: int
    exact: bool = True


@dataclass(frozen=True)
class Profile(base.Documented):
    """Groups of people with the same events.

    Args:
        k: the smallest group; 0 without people. unique_persons: people alone in their group.
        exposed_persons: people in groups smaller than k, or smaller than 2 where no k is required.
        classes: the number of groups; with a tolerance, groups overlap, one for each person.
        sizes: groups by size.
    """

    k: int
    unique_persons: int
    exposed_persons: int
    classes: int
    sizes: Mapping[int, int] = field(metadata=base.LEFT_OUT)

    @classmethod
    def of(cls, sizes: Mapping[int, int], k: int, *, near: bool = False) -> Profile:
        """From groups by size, where groups below k are too small; `near`: from people by how many others fit all of
        their events."""
        exposed = sum(classes if near else members * classes for members, classes in sizes.items() if members < k)
        return cls(min(sizes, default=0), sizes.get(1, 0), exposed, sum(sizes.values()), sizes)


@dataclass(frozen=True)
class PeopleFigures:
    """The figures that models of people are judged from.

    Args:
        rows: of the table. persons: different people. events: different events.
        group_sizes: groups of people with the same events, by size; when `near`, people by how many fit all of their
            events.
        curves: for each k the figures for 1, 2, … known events; ends early when time ran out.
        learnt: for each k and h what known events reveal about a sensitive attribute, likewise.
        draws: the figures on events drawn at random, by their number.
        contributed: people by their number of `rows`, and of `groups`.
    """

    rows: int
    persons: int
    events: int
    group_sizes: Mapping[int, int]
    curves: dict[int, Sequence[KnownEvents]] = field(default_factory=dict)
    learnt: dict[tuple[int, Fraction], Sequence[ValueDisclosure]] = field(default_factory=dict)
    draws: dict[int, RandomEvents] = field(default_factory=dict)
    near: bool = False
    contributed: Mapping[str, Mapping[int, int]] = field(default_factory=dict)

    def profile(self, k: int) -> Profile:
        """Return the groups of people with the same events, where groups smaller than k are too small."""
        return Profile.of(self.group_sizes, k, near=self.near)
