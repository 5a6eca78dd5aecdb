"""The worst-case disclosure of one sensitive attribute: its curve, its weakest classes, and its witnesses.

Everything here follows from the distinct signatures of the classes, so it is computed when it is asked for, without
the database.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sqlaudit.base.documents import Documented, exactly, key, shown, told
from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.classes.signatures import Signatures
from sqlaudit.models.disclosure.curve import DisclosureCurve, DisclosurePoint, exact_threshold
from sqlaudit.models.disclosure.few import disclosure_points

if TYPE_CHECKING:
    from sqlaudit.models.disclosure.by_class import ClassDisclosure
    from sqlaudit.models.disclosure.index import DisclosureIndex
    from sqlaudit.models.disclosure.witness import Witness

Threshold = Fraction | Decimal | int


@dataclass(frozen=True)
class WeakClasses(Documented):
    """Classes with one signature, by how much can be disclosed about somebody in them.

    Args:
        size: rows of each. largest: its largest counts of one sensitive value, descending. classes: how many there are.
        disclosure: the highest probability that any k basic implications give to a statement about one of them.
        keys: their quasi-identifier values, of a few of them and only when values were asked for.
        values: the values with the largest counts, class by class as `keys`.
    """

    size: int
    largest: tuple[int, ...]
    classes: int
    disclosure: Fraction = field(metadata=exactly("exact"))
    keys: tuple[Mapping[str, Any], ...] = ()
    values: tuple[tuple[Any, ...], ...] = ()


@dataclass(frozen=True)
class Failing(Documented):
    """How many classes and rows are not (c,k)-safe by themselves."""

    k: int
    classes: int
    rows: int


@dataclass(frozen=True, eq=False)
class Disclosure(Documented):
    """What an attacker with 0 … `knowledge` pieces of knowledge can learn about one sensitive attribute.

    Args:
        sensitive: the attribute. knowledge: the largest k, K.
        signatures: the distinct signatures of the classes. They may answer for less than `knowledge`, if everybody is
            certain at and after what they answer for.

    Source: Martin et al., Worst-Case Background Knowledge, ICDE 2007, Definitions 5, 6 and 13.

    Example:
        >>> figure_3 = Signatures.from_classes([[2, 2, 1], [2, 1, 1, 1]], k=2)
        >>> found = Disclosure("disease", 2, figure_3)
        >>> [str(value) for value in found.curve]
        ['2/5', '2/3', '1']
        >>> found.smallest_k_reaching(Decimal("0.6")), found.smallest_certain_k
        (1, 2)
    """

    sensitive: str
    knowledge: int
    signatures: Signatures = field(repr=False, metadata=shown(len))

    @told("knowledge", key("classes"))
    def _classes(self) -> int:
        return self.signatures.classes

    @cached_property
    @told("smallest_certain_k", key("curve"))
    def points(self) -> tuple[DisclosurePoint, ...]:
        """The disclosure at k = 0 … K: exact maximum, and against negated atoms only. Empty for an empty table."""
        if not len(self.signatures):
            return ()
        few = self.signatures.as_rows is not None
        found = disclosure_points(self.signatures, self._depth) if few else self._found.points
        further = range(len(found), self.knowledge + 1)
        return found + tuple(DisclosurePoint(k, Fraction(1), Fraction(1)) for k in further)

    @property
    def curve(self) -> tuple[Fraction, ...]:
        """The maximum disclosure against any k basic implications, by k."""
        return tuple(point.maximum for point in self.points)

    @property
    def negation_curve(self) -> tuple[Fraction, ...]:
        """The maximum disclosure against any k negated atoms ("this person does not have that value"), by k."""
        return tuple(point.negated for point in self.points)

    @property
    @told("signatures", key("certain_k"))
    def smallest_certain_k(self) -> int | None:
        """The smallest k with which an attacker can be certain about somebody; None if no k of the curve is enough."""
        return self.smallest_k_reaching(1)

    def smallest_k_reaching(self, threshold: Threshold) -> int | None:
        """The smallest k whose maximum disclosure is at least `threshold`; None if no k of the curve is enough.

        Raises:
            UsageError: the threshold is a float, or not from 0 to 1.
        """
        limit = exact_threshold(threshold)
        return next((point.k for point in self.points if point.maximum >= limit), None)

    def witness(self, k: int) -> Witness:
        """Knowledge of at most k implications that reaches the maximum disclosure, checked by another route.

        Raises:
            UsageError: the table is empty, or the curve does not reach to k.
        """
        from sqlaudit.models.disclosure.witness import find_witness

        self._check(k)
        return replace(find_witness(self.signatures, self._found, self._level(k)), k=k)

    def index(self) -> DisclosureIndex:
        """The same curve in a form that follows changes of the table: classes replaced by others, or new ones.

        A change costs what changed, not the size of the table. No row is needed for it, only the counts of the values
        in the classes before and after.

        Example:
            >>> found = Disclosure("disease", 2, Signatures.from_classes([[2, 2, 1], [2, 1, 1, 1]], k=2)).index()
            >>> found.replace(removed=[[2, 2, 1]], added=[[2, 2, 2]])  # somebody with mumps has come
            >>> [str(point.maximum) for point in found.curve.points]
            ['2/5', '4/7', '1']

        Source: Martin et al., Worst-Case Background Knowledge, ICDE 2007, end of 3.3.3.
        """
        from sqlaudit.models.disclosure.index import DisclosureIndex

        return DisclosureIndex(self.signatures.padded(self.knowledge), self.knowledge)

    def by_class(self, k: int) -> ClassDisclosure:
        """The disclosure of every class by itself.

        Raises:
            UsageError: the table is empty, or the curve does not reach to k.
        """
        from sqlaudit.models.disclosure.by_class import class_disclosure

        self._check(k)
        return class_disclosure(self.signatures, self._level(k))

    def failing(self, threshold: Threshold, k: int) -> Failing:
        """How many classes have somebody about whom k pieces of knowledge reach the threshold, and their rows.

        Raises:
            UsageError: as `by_class` and `smallest_k_reaching`.
        """
        limit = exact_threshold(threshold)
        self._check(k)
        if self.curve[k] < limit:
            return Failing(k, 0, 0)
        found = self.by_class(k)
        return Failing(k, found.failing_classes(limit), found.failing_rows(limit))

    def weakest(self, k: int, number: int) -> list[tuple[int, WeakClasses]]:
        """The `number` signatures with the highest disclosure, highest first, each with its position."""
        found = self.by_class(k)
        return [(position, self._weak(found, position)) for position in found.weakest(number).tolist()]

    @property
    def _depth(self) -> int:
        return min(self.knowledge, self.signatures.k)

    @cached_property
    def _found(self) -> DisclosureCurve:
        from sqlaudit.models.disclosure.program import maximum_disclosure

        return maximum_disclosure(self.signatures, self._depth)

    def _level(self, k: int) -> int:
        return min(k, self.signatures.k)

    def _check(self, k: int) -> None:
        if not self.points:
            raise UsageError("The table has no rows, so there is nothing that could be disclosed.")
        if not 0 <= k <= self.knowledge:
            raise UsageError(f"The curve was computed for k = 0 to {self.knowledge}; k = {k} was asked for.")

    def _weak(self, found: ClassDisclosure, position: int) -> WeakClasses:
        size, counts = self.signatures.signature(position)
        largest = tuple(count for count in counts if count)
        return WeakClasses(size, largest, int(self.signatures.multiplicity[position]), found.exact(position))


def depth_for(knowledge: int, distinct: int) -> int:
    """How many pieces of knowledge signatures must answer for: with as many as there are values, all is certain."""
    return min(knowledge, distinct)
