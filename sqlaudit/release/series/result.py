"""What several releases say together. Frozen; reports read it, `to_dict` gives the documented JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sqlaudit.base.documents import AS_TEXT, IF_ANY, Documented, told
from sqlaudit.base.result import MeasuredResult
from sqlaudit.models.check import Check, WithVerdict
from sqlaudit.models.releases import largest_m
from sqlaudit.reports.notebook import Shown


@dataclass(frozen=True)
class ReleaseFigures(Documented):
    """One release by itself.

    Args:
        release: its name. rows: how many. persons: rows that name somebody. counterfeits: rows that stand for nobody.
        classes: how many. smallest: rows of the smallest, None without rows.
        repeating_classes, repeating_rows: classes in which a value occurs more than once, and their rows.
        fewest_values: the fewest different values of a class. without_value: rows whose value is missing, which counts
            as a value of its own.
    """

    release: str
    rows: int
    persons: int
    counterfeits: int
    classes: int
    smallest: int | None
    repeating_classes: int
    repeating_rows: int
    fewest_values: int | None
    without_value: int


@dataclass(frozen=True)
class ValuesLeft(Documented):
    """How many persons have so many values left."""

    values: int
    persons: int


@dataclass(frozen=True)
class SingledOut(Documented):
    """A person of whom one value is left, as somebody may see who may see values.

    Args:
        person: the key. releases: numbers of the releases with them, from 1. value: what is left.
        by_elimination: whether it takes what is known of others.
    """

    person: Any = field(metadata=AS_TEXT)
    releases: tuple[int, ...]
    value: Any = field(metadata=AS_TEXT)
    by_elimination: bool


@dataclass(frozen=True)
class AttributeFigures(Documented):
    """What the releases say of one sensitive attribute.

    Args:
        sensitive: its name. releases: each release by itself.
        unsteady: persons whose classes have other values in another release.
        candidates: persons by how many values are left when the values of all their classes are intersected; with the
            values struck out that others are known to have.
        fewest: the fewest values left, None without persons.
        singled_out: persons of whom one value is left. of_one_release: those whose class in one release has one value.
        by_comparing: those whom no release alone gives away, but several together. by_elimination: those who are left
            one value only since others are known.
        complete: whether elimination was followed to its end; else more may be singled out.
        shown: some of them, when values may be shown.
    """

    sensitive: str
    releases: tuple[ReleaseFigures, ...]
    unsteady: int
    candidates: tuple[ValuesLeft, ...]
    fewest: int | None
    singled_out: int
    of_one_release: int
    by_comparing: int
    by_elimination: int
    complete: bool
    shown: tuple[SingledOut, ...] = field(default=(), metadata=IF_ANY)

    @property
    @told("releases")
    def m(self) -> int | None:
        """The largest m for which the releases are m-invariant, 0 = for none, None without rows."""
        return largest_m(self)

    @property
    def smallest(self) -> int | None:
        """The rows of the smallest class of all releases."""
        return min((one.smallest for one in self.releases if one.smallest is not None), default=None)

    @property
    def repeating(self) -> int:
        """Classes in which a value occurs more than once."""
        return sum(one.repeating_classes for one in self.releases)


@dataclass(frozen=True, kw_only=True, repr=False)
class ReleasesResult(WithVerdict, MeasuredResult, Shown):
    """What several releases of one table say together.

    Args:
        releases: their names, in the order given. quasi_identifiers, sensitive, entity: the roles.
        persons: different persons in all releases. in_several: those in more than one.
        attributes: what they say of each sensitive attribute. checks: of what was required.
    """

    schema: ClassVar = "sqlaudit-releases/1"
    shown_by: ClassVar = "sqlaudit.release.series.report:releases_document"
    frame_of: ClassVar = "attributes"

    engine: str = ""
    releases: tuple[str, ...]
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    entity: str
    persons: int
    in_several: int
    attributes: tuple[AttributeFigures, ...]
    checks: tuple[Check, ...] = field(default=(), metadata=IF_ANY)

    @property
    def target(self) -> str:
        """What it is about, in a few words."""
        return _few(self.releases)

    def attribute(self, name: str) -> AttributeFigures:
        """The figures of a sensitive attribute.

        Raises:
            KeyError: it was not asked for.
        """
        return {one.sensitive: one for one in self.attributes}[name]


def _few(names: Sequence[str]) -> str:
    return " and ".join(names) if len(names) < 3 else f"{names[0]} to {names[-1]}"
