"""The worst-case disclosure of one sensitive attribute: its curve, its weakest classes, and its witnesses.

Everything here follows from the distinct signatures of the classes, so it is computed when needed, without the
database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.relation import Row
from sqlaudit.base.result import FROM_0_TO_1, FROM_1, Documented, exactly, key, shown, told
from sqlaudit.classes.facts import ClassHistogram, Fact, Signatures
from sqlaudit.models.disclosure.exact import DisclosureCurve, DisclosurePoint, exact_threshold
from sqlaudit.models.disclosure.few import disclosure_points

if TYPE_CHECKING:
    from sqlaudit.models.disclosure.index import DisclosureIndex
    from sqlaudit.models.disclosure.program import ClassDisclosure
    from sqlaudit.models.disclosure.witness import Witness


Threshold = Fraction | Decimal | int


@dataclass(frozen=True)
class WeakClasses(Documented):
    """Classes with one signature, by how much can be disclosed about somebody in them.

    Args:
        size: rows of each class. largest: its largest counts of one sensitive value, descending.
        classes: how many there are.
        disclosure: the highest probability that any k basic implications give to a statement about one of them.
        keys: their quasi-identifier values, of a few of them and only when values were asked for.
        values: the values with the largest counts, class by class as `keys`.
    """

    size: Annotated[int, FROM_1]
    largest: tuple[Annotated[int, FROM_1], ...]
    classes: Annotated[int, FROM_1]
    disclosure: Annotated[Fraction, FROM_0_TO_1] = field(metadata=exactly("exact"))
    keys: tuple[Mapping[str, object], ...] = ()
    values: tuple[tuple[object, ...], ...] = ()


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
        sensitive: the sensitive attribute. knowledge: the largest k of the curve.
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
        """The number of equivalence classes."""
        return self.signatures.classes

    @cached_property
    @told("smallest_certain_k", key("curve"))
    def points(self) -> tuple[DisclosurePoint, ...]:
        """The disclosure at k = 0 … K: exact maximum, and against negated atoms only. Empty for an empty table."""
        if not len(self.signatures):
            return ()
        has_few_classes = self.signatures.as_rows is not None
        points = disclosure_points(self.signatures, self._depth) if has_few_classes else self._computed_curve.points
        further = range(len(points), self.knowledge + 1)
        return points + tuple(DisclosurePoint(k, Fraction(1), Fraction(1)) for k in further)

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
        """Return the smallest k whose maximum disclosure is at least `threshold`; None if no k of the curve is enough.

        Raises:
            UsageError: the threshold is a float, or not from 0 to 1.
        """
        limit = exact_threshold(threshold)
        return next((point.k for point in self.points if point.maximum >= limit), None)

    def witness(self, k: int) -> Witness:
        """Return knowledge of at most k implications that reaches the maximum disclosure, checked in a second way.

        Raises:
            UsageError: the table is empty, or the curve does not reach to k.
        """
        from sqlaudit.models.disclosure.witness import find_witness

        self._check_k(k)
        return replace(find_witness(self.signatures, self._computed_curve, self._level(k)), k=k)

    def index(self) -> DisclosureIndex:
        """Return an index of the curve that can follow changes of the table: replaced and new classes.

        The cost of a change depends on the changed classes, not on the size of the table. It needs no rows, only the
        counts of the values in the classes before and after.

        Example:
            >>> found = Disclosure("disease", 2, Signatures.from_classes([[2, 2, 1], [2, 1, 1, 1]], k=2)).index()
            >>> found.replace(removed=[[2, 2, 1]], added=[[2, 2, 2]])  # a person with mumps was added
            >>> [str(point.maximum) for point in found.curve.points]
            ['2/5', '4/7', '1']

        Source: Martin et al., Worst-Case Background Knowledge, ICDE 2007, end of 3.3.3.
        """
        from sqlaudit.models.disclosure.index import DisclosureIndex

        return DisclosureIndex(self.signatures.padded(self.knowledge), self.knowledge)

    def by_class(self, k: int) -> ClassDisclosure:
        """Return the disclosure of each class.

        Raises:
            UsageError: the table is empty, or the curve does not reach to k.
        """
        from sqlaudit.models.disclosure.program import class_disclosure

        self._check_k(k)
        return class_disclosure(self.signatures, self._level(k))

    def failing(self, threshold: Threshold, k: int) -> Failing:
        """Count the classes, and their rows, in which k pieces of knowledge reach the threshold.

        Raises:
            UsageError: as `by_class` and `smallest_k_reaching`.
        """
        limit = exact_threshold(threshold)
        self._check_k(k)
        if self.curve[k] < limit:
            return Failing(k, 0, 0)
        by_class = self.by_class(k)
        return Failing(k, by_class.failing_classes(limit), by_class.failing_rows(limit))

    def weakest(self, k: int, number: int) -> list[tuple[int, WeakClasses]]:
        """Return the `number` signatures with the highest disclosure, highest first, each with its position."""
        by_class = self.by_class(k)
        return [(position, self._describe_weak(by_class, position)) for position in by_class.weakest(number).tolist()]

    @property
    def _depth(self) -> int:
        return min(self.knowledge, self.signatures.k)

    @cached_property
    def _computed_curve(self) -> DisclosureCurve:
        from sqlaudit.models.disclosure.program import maximum_disclosure

        return maximum_disclosure(self.signatures, self._depth)

    def _level(self, k: int) -> int:
        return min(k, self.signatures.k)

    def _check_k(self, k: int) -> None:
        if not self.points:
            raise UsageError("The table has no rows.")
        if not 0 <= k <= self.knowledge:
            raise UsageError(f"k = {k} is outside the curve, which covers k = 0 to {self.knowledge}.")

    def _describe_weak(self, by_class: ClassDisclosure, position: int) -> WeakClasses:
        size, counts = self.signatures.signature(position)
        largest = tuple(count for count in counts if count)
        return WeakClasses(size, largest, int(self.signatures.multiplicity[position]), by_class.exact(position))


# The classes with a signature: their keys and the values with their largest counts, read only on request.


@dataclass(frozen=True)
class WorstPlace:
    """A class of the table: its quasi-identifier values, and its sensitive values, most frequent first."""

    key: Mapping[str, object]
    values: tuple[object, ...]


def find_classes(
    histogram: ClassHistogram,
    signatures: Signatures,
    numbers: Mapping[int, int],
    labels: Sequence[str],
    collated: Sequence[bool],
) -> dict[int, list[WorstPlace]]:
    """Return classes with certain signatures, by the signature's position.

    Args:
        histogram: the classes with their keys.
        signatures: the signatures that positions refer to.
        numbers: the most classes to return, by the signature's position.
        labels: the labels of the columns of the key.
        collated: for each column of the key, whether it is text, to be ordered by code point.
    """
    if not numbers:
        return {}
    positions = list(numbers)
    depth = min(signatures.k + 1, histogram.lane_count)
    keys = [f"q{number}" for number, _ in enumerate(labels, 1)]
    cells = [f"c{lane}" for lane in range(histogram.lane_count)] if histogram.form == "packed" else ["cell_list"]
    statement = histogram.statement(
        "audits/disclosure/classes_of_signatures.sql",
        [Fact("top_counts", "top", {"count": depth})],
        "classes of signatures",
        signatures=[(size, list(counts[:depth])) for size, counts in map(signatures.signature, positions)],
        key_names=keys,
        collated=list(collated),
        keep=", ".join(keys + cells),
        most=max(numbers.values()),
    )
    by_position: dict[int, list[WorstPlace]] = {position: [] for position in positions}
    for number, _, *row in histogram.engine.run(statement):
        key = dict(zip(labels, row, strict=False))
        by_position[positions[number]].append(WorstPlace(key, _rank_values(histogram, tuple(row[len(keys) :]))))
    return {position: places[: numbers[position]] for position, places in by_position.items()}


def _rank_values(histogram: ClassHistogram, cells: Row) -> tuple[object, ...]:
    """Return the sensitive values that occur in a class, most frequent first, ties by rank."""
    assert histogram.table is not None
    ranked = sorted((-count, lane) for lane, count in enumerate(histogram.counts_of(cells)) if count)
    return tuple(histogram.table.values[lane] for _, lane in ranked)
