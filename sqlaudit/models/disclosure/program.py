"""Maximum disclosure against k basic implications, for all k at once, exactly.

By Theorem 9 the worst knowledge is k simple implications with one common consequent. Their k antecedents and the
consequent are k + 1 atoms; with M_b(j) for a class b (see `products`),

    ratio = min over j_b >= 0 with sum k + 1, and one class a with j_a >= 1, of (n_a / r1_a) * product of M_b(j_b)
    maximum disclosure = 1 / (1 + ratio).

Source: Martin et al., Worst-Case Background Knowledge, section 3.3. Minimize2 as printed starts with the consequent
already placed and has no way to end; here it starts with nothing placed, and ends when the consequent is placed and no
atom is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from itertools import accumulate
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sqlaudit.base.errors import OutOfRange, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.classes.facts import Signatures
from sqlaudit.models.disclosure.exact import (
    Allocation,
    DisclosureCurve,
    DisclosurePoint,
    Product,
    exact_products,
    exact_threshold,
)

if TYPE_CHECKING:
    from sqlaudit.classes.facts import IntArray


# M(j): the least probability that none of j atoms about the people of one class holds.
#
# M(j) is the minimum, over the ways to write j as a sum of parts k0 >= k1 >= ... (part i = number of atoms about
# person i), of the product of (n - i - R(k_i)) / (n - i), where R(k) is the sum of the k largest counts. (Martin et
# al., Lemma 12 and Minimize1.) It is computed twice: for all signatures in floats with a proven bound, and for the few
# that matter in integers.
#
# Both run the same dynamic program. Parts are placed from the largest size to the smallest, so descending order comes
# for free: least[i][t] is the least product over i people and t atoms with parts of the sizes seen so far, and a part
# of size v leads from least[i][t] to least[i + 1][t + v].
#
# Two facts keep it simple. M(j) is 0 exactly if j is at least the number m of distinct values (all atoms go to one
# person). And a partition with more parts than the class has people has j > n >= m, so M(j) is 0 anyway: its factors
# may be anything that is not negative, and no division by zero is needed to rule it out.
#
# How exact the floats are: n and R are integers below 2**53, so a factor has one rounding. A product of l <= j factors
# has at most 2l - 1 <= 2j - 1. A product of M's of several classes with J atoms together then has at most 2J - 1, and
# multiplied by n / r1 at most 2J + 1. With u = 2**-53 such a value is exact up to a factor 1 + d with
# |d| <= g = (2J + 1)u / (1 - (2J + 1)u); the minimum of many such values has the same bound. If x < y(1 - 2g) in floats
# then x < y in truth. `tolerance` is more than twice 2g, which also covers the rounding of the comparison itself.

FloatArray = NDArray[np.float64]

# A positive M below this may have lost digits to underflow. It is raised to the limit, and whatever is then below
# UNCERTAIN (the limit times the largest possible n / r1, and more) is compared in exact arithmetic only.
SMALLEST = 1e-250
UNCERTAIN = 1e-230

_WORKSPACE_BYTES = 4 * 2**20


def tolerance(atoms: int) -> float:
    """Return the relative distance from which on two floats are in the right order, for up to `atoms` atoms."""
    return (16 * atoms + 16) * 2.0**-53


@dataclass(frozen=True)
class SignatureBlock:
    """M(0 … J) of some consecutive signatures.

    start: position of the first. n, weight (n / r1): shape (rows,). cumulative: R(1 … J), shape (J, rows).
    products: M(0 … J), shape (J + 1, rows).
    """

    start: int
    n: FloatArray
    weight: FloatArray
    cumulative: FloatArray
    products: FloatArray


class ProductKernel:
    """M(0 … `atoms`) of many signatures at once, in memory that is used again for every block."""

    def __init__(self, atoms: int) -> None:
        self._atoms = atoms
        self.block = max(16, min(8192, _WORKSPACE_BYTES // (4 * (atoms + 1) ** 2)))
        # Row t - i of part i: with i people there are at least i atoms.
        self._least = [np.empty((atoms + 1 - people, self.block)) for people in range(atoms + 1)]
        self._product = np.empty((atoms + 1, self.block))
        self._factor = np.empty((2, self.block))

    def __call__(self, n: FloatArray, cumulative: FloatArray) -> FloatArray:
        """Return M(0 … atoms), shape (atoms + 1, rows), of at most `block` signatures with their R(1 … atoms)."""
        rows, atoms = len(n), self._atoms
        least = [table[:, :rows] for table in self._least]
        for table in least[2:]:
            table.fill(np.inf)
        for size in range(atoms, 0, -1):
            free = n - cumulative[size - 1]
            for person in range(atoms // size):
                factor = self._factors(n, free, person)
                if person == 0:
                    least[1][size - 1] = factor
                    continue
                first, last = person * size, atoms - size  # atoms already placed on `person` people
                source = least[person][first - person : last - person + 1]
                target = least[person + 1][first + size - person - 1 : last + size - person]
                product = np.multiply(source, factor, out=self._product[: len(source), :rows])
                np.minimum(target, product, out=target)
        return self._smallest(least, n, cumulative)

    def _factors(self, n: FloatArray, free: FloatArray, person: int) -> FloatArray:
        factor, people = self._factor[0, : len(n)], self._factor[1, : len(n)]
        np.maximum(np.subtract(free, person, out=factor), 0.0, out=factor)
        np.maximum(np.subtract(n, person, out=people), 1.0, out=people)
        return np.divide(factor, people, out=factor)

    def _smallest(self, least: list[FloatArray], n: FloatArray, cumulative: FloatArray) -> FloatArray:
        """Return the smallest product for each number of atoms, over all numbers of people; kept above zero."""
        products = np.empty((self._atoms + 1, len(n)))
        products[0] = 1.0
        if self._atoms:
            products[1:] = least[1]
        for people in range(2, self._atoms + 1):
            rows = products[people:]
            np.minimum(rows, least[people], out=rows)
        if products.min(initial=1.0) < SMALLEST:
            np.maximum(products[1:], np.where(cumulative < n, SMALLEST, 0.0), out=products[1:])
        return products


def blocks(signatures: Signatures, atoms: int) -> Iterator[SignatureBlock]:
    """Yield M(0 … atoms) of all signatures by block, so that memory does not grow with their number; atoms >= 1."""
    kernel = ProductKernel(atoms)
    for start in range(0, len(signatures), kernel.block):
        stop = start + kernel.block
        n = signatures.n[start:stop].astype(np.float64)
        cumulative = signatures.counts[start:stop, :atoms].T.astype(np.float64, order="C")
        for rank in range(1, atoms):  # several times faster than cumsum along the first axis
            cumulative[rank] += cumulative[rank - 1]
        yield SignatureBlock(start, n, n / cumulative[0], cumulative, kernel(n, cumulative))


# The few classes with the lowest values, out of millions, chosen without a float deciding between two of them.

Positions = NDArray[np.int64]

_PENDING = 4096
_PIVOTS = 128

_QUOTIENTS_DIFFER = 2**20


class Purpose(Enum):
    """What a class with j atoms is wanted for, and so by which value it is chosen.

    OTHERS: antecedents; M(j). OWN: the consequent and j - 1 antecedents; (n / r1) * M(j). NEGATED: a person with
    j - 1 negated atoms; (n - r2 - … - rj) / r1, the reciprocal of the disclosure.
    """

    OTHERS = "others"
    OWN = "own"
    NEGATED = "negated"


@dataclass(frozen=True)
class Wanted:
    """The `classes` classes with the lowest value for a role and a number of atoms."""

    role: Purpose
    atoms: int
    classes: int

    def values(self, block: SignatureBlock) -> FloatArray:
        """Return the values of the signatures in a block, in floats."""
        if self.role is Purpose.NEGATED:
            quotient: FloatArray = 1 + (block.n - block.cumulative[self.atoms - 1]) / block.cumulative[0]
            return quotient
        products: FloatArray = block.products[self.atoms]
        return products * block.weight if self.role is Purpose.OWN else products

    def exact(self, n: int, counts: tuple[int, ...]) -> Fraction:
        """Return the value of one signature, exactly."""
        if self.role is Purpose.NEGATED:
            return Fraction(n - sum(counts[1 : self.atoms]), counts[0])
        value = exact_products(n, counts[: self.atoms], self.atoms)[self.atoms].value
        return value * Fraction(n, counts[0]) if self.role is Purpose.OWN else value


class LowestClasses:
    """Collects, from a stream of values, signatures that hold the lowest classes for one want.

    A signature counts as often as its multiplicity. The positions in the stream are those in `signatures`.
    """

    def __init__(self, signatures: Signatures, wanted: Wanted) -> None:
        self.wanted = wanted
        self._signatures = signatures
        self._tolerance = tolerance(wanted.atoms)
        self._positions: list[Positions] = []
        self._values: list[FloatArray] = []
        self._pending = 0
        self._limit = np.inf
        simple = wanted.role is Purpose.NEGATED or wanted.atoms == 1
        self._near_is_equal = simple and signatures.n.max(initial=0) <= _QUOTIENTS_DIFFER

    def offer(self, start: int, values: FloatArray) -> None:
        """Add the values of the signatures from position `start` on."""
        chosen = np.flatnonzero(values <= self._limit)
        if len(chosen):
            self._positions.append(chosen + start)
            self._values.append(values[chosen])
            self._pending += len(chosen)
        if self._pending > max(_PENDING, 4 * self.wanted.classes):
            self._shrink(spare=2 * self.wanted.classes + 16)

    def result(self, spare: int | None = None) -> Positions:
        """Return the positions of the lowest signatures, the lowest first (float ties in any order).

        Every other signature is, exactly, at least as high as the wanted number of classes among these. Where floats
        cannot decide, up to `spare` signatures are returned. With spare = 0 only the wanted ones are, the highest last.
        """
        self._shrink(2 * self.wanted.classes + 16 if spare is None else spare)
        return self._positions[0]

    def _shrink(self, spare: int) -> None:
        """Remove signatures that cannot be among the lowest; exact arithmetic decides if float ties are too many."""
        positions = np.concatenate([np.empty(0, np.int64), *self._positions])
        values = np.concatenate([np.empty(0), *self._values])
        if len(values) > 4 * self.wanted.classes:  # a signature is at least one class, so most need not be sorted
            highest = np.partition(values, self.wanted.classes - 1)[self.wanted.classes - 1]
            is_low = values <= max(highest * (1 + self._tolerance), UNCERTAIN)
            positions, values = positions[is_low], values[is_low]
        order = np.lexsort((positions, values))
        positions, values = positions[order], values[order]
        reached = np.flatnonzero(np.cumsum(self._signatures.multiplicity[positions]) >= self.wanted.classes)
        if len(reached):
            boundary = float(values[reached[0]])
            if boundary == 0 or self._near_is_equal:  # what is not lower is equal, and equals are not needed
                keep = int(reached[0]) + 1
                self._limit = boundary * (1 - self._tolerance) if boundary else -1.0
            else:
                self._limit = max(boundary * (1 + self._tolerance), UNCERTAIN)
                keep = int(np.searchsorted(values, self._limit, side="right"))
            positions, values = positions[:keep], values[:keep]
            if keep > spare and boundary and not self._near_is_equal:
                positions, values = self._settle(positions, values, boundary)
        self._positions, self._values, self._pending = [positions], [values], len(positions)

    def _settle(self, positions: Positions, values: FloatArray, boundary: float) -> tuple[Positions, FloatArray]:
        """Return exactly the wanted lowest classes, where floats cannot order those at the boundary."""
        certain = (values < boundary * (1 - self._tolerance)) & (values >= UNCERTAIN)
        missing = self.wanted.classes - int(self._signatures.multiplicity[positions[certain]].sum())
        tied = self._undominated(positions[~certain], missing)
        tied = tied[np.argsort(self._exact_ranks(tied), kind="stable")]
        covered = np.cumsum(self._signatures.multiplicity[tied])
        tied = tied[: int(np.searchsorted(covered, missing)) + 1]
        value_of = dict(zip(positions.tolist(), values.tolist(), strict=True))
        lowest = np.concatenate([positions[certain], tied])
        return lowest, np.array([value_of[position] for position in lowest.tolist()])

    def _undominated(self, positions: Positions, missing: int) -> Positions:
        """Return the positions without those that integers alone prove to be no lower than `missing` other classes.

        A class with no more rows and no smaller R(1) … R(j) has no higher value, in any role.
        """
        n = self._signatures.n[positions].astype(np.int64)
        cumulative = np.cumsum(self._signatures.counts[positions, : self.wanted.atoms], axis=1, dtype=np.int64)
        order = np.lexsort((positions, *(-cumulative.T[::-1]), n))
        n, cumulative, positions = n[order], cumulative[order], positions[order]
        times = np.zeros(len(positions), np.int64)
        for pivot in range(min(_PIVOTS, len(positions))):
            below = (n[pivot] <= n) & (cumulative[pivot] >= cumulative).all(axis=1)
            times[below] += int(self._signatures.multiplicity[positions[pivot]])
        times[:_PIVOTS] = 0  # the pivots stay
        return np.sort(positions[times < missing])

    def _exact_ranks(self, positions: Positions) -> Positions:
        """Return the rank of each signature's value among these, by exact comparison."""
        columns = self._signatures.counts[positions, : self.wanted.atoms].astype(np.int64)
        table = np.column_stack([self._signatures.n[positions].astype(np.int64), columns])
        different, which = np.unique(table, axis=0, return_inverse=True)
        exact = [self.wanted.exact(row[0], tuple(row[1:])) for row in different.tolist()]
        rank = {value: index for index, value in enumerate(sorted(set(exact)))}
        return np.array([rank[value] for value in exact], dtype=np.int64)[which.reshape(-1)]


def scan(signatures: Signatures, wanted: Sequence[Wanted], spare: int | None = None) -> list[Positions]:
    """Return for every want the positions of the signatures with the lowest values, in one pass over all of them.

    Args:
        signatures: the signatures.
        wanted: what is needed.
        spare: how many more are kept where floats cannot tell; None = as many as usual, 0 = none.
    """
    lists = [LowestClasses(signatures, want) for want in wanted]
    for block in blocks(signatures, max(want.atoms for want in wanted)):
        for lowest in lists:
            lowest.offer(block.start, lowest.wanted.values(block))
    return [lowest.result(spare) for lowest in lists]


# The classes that can take part in a worst case: few, however many there are.
#
# A worst case with t atoms uses at most t classes. If a class takes part with j atoms, at most t - j others take part.
# So of any t + 1 - j classes with the lowest M(j) at least one is unused, and can stand in for it without loss; class
# after class, all that take part come from these lists. The same holds, with (n / r1) * M(j), for the class of the
# consequent. The lists stay sufficient when that class is fixed to be any other one: it has an atom, so it is among
# the t - j.


@dataclass(frozen=True)
class Candidates:
    """The signatures that can take part in a worst case.

    positions: where they stand among the signatures they were chosen from, shape (C,).
    signatures: these alone. copies: how many classes of each may be needed to hold antecedents; 0 if none.
    own: whether one may hold the consequent.
    """

    positions: Positions
    signatures: Signatures
    copies: Positions
    own: NDArray[np.bool_]


def wanted_classes(atoms: int, slack: int = 0) -> list[Wanted]:
    """Return what is needed for up to `atoms` atoms, the consequent included: so other classes have at most atoms - 1.

    With `slack`, so many classes more in every list.
    """
    return [
        *(Wanted(Purpose.OTHERS, j, atoms + 1 - j + slack) for j in range(1, atoms)),
        *(Wanted(Purpose.OWN, j, atoms + 1 - j + slack) for j in range(1, atoms + 1)),
        *(Wanted(Purpose.NEGATED, j, 1 + slack) for j in range(1, atoms + 1)),
    ]


def gather(signatures: Signatures, found: Iterable[tuple[Wanted, Positions]]) -> Candidates:
    """Return the candidates: the classes in the lists for antecedents and for the consequent.

    Args:
        signatures: those that were scanned. found: the positions of the lowest classes, by what they are needed for.
    """
    copies: dict[int, int] = {}
    own: set[int] = set()
    for want, positions in found:
        for position in positions.tolist() if want.role is not Purpose.NEGATED else []:
            times = min(want.classes, int(signatures.multiplicity[position])) if want.role is Purpose.OTHERS else 0
            copies[position] = max(copies.get(position, 0), times)
            if want.role is Purpose.OWN:
                own.add(position)
    chosen = np.array(sorted(copies), dtype=np.int64)
    return Candidates(
        chosen,
        signatures.take(chosen),
        np.array([copies[position] for position in chosen.tolist()], dtype=np.int64),
        np.array([position in own for position in chosen.tolist()], dtype=np.bool_),
    )


def negated_maxima(signatures: Signatures, found: Iterable[tuple[Wanted, Positions]]) -> list[Fraction]:
    """Return the disclosure by 0, 1, 2, … negated atoms, "this person does not have that value", from their lists.

    The best use is to rule out the most frequent other values for one person, which leaves
    r1 / (n - r2 - … - r(k+1)). This is the attacker of l-diversity (Martin et al., section 4).
    """
    return [
        1 / min(want.exact(*signatures.signature(position)) for position in positions.tolist())
        for want, positions in found
        if want.role is Purpose.NEGATED
    ]


# How atoms are best spread over classes: minima of products, steered by floats and decided by fractions.
#
# A `Best` holds, for every number of atoms t, the least product that t atoms can reach and the way they are spread.
# Two of them that speak of different classes combine into one by trying every split of t. That single operation,
# applied class after class, is the paper's Minimize2; run from both ends, it also gives the minimum without any one
# class.

# (candidate, atoms, holds the consequent) for every class that takes part, sorted, so that equal ways are equal tuples.
Way = tuple[tuple[int, int, bool], ...]


@dataclass(frozen=True)
class Best:
    """For t = 0 … J atoms: the least product in floats (infinite if they cannot be placed), and the way to reach it."""

    approximate: FloatArray
    ways: tuple[Way | None, ...]


class Allocator:
    """Computes with `Best` values over one set of candidates, for up to `atoms` atoms, all with positive M(j)."""

    def __init__(self, candidates: Candidates, atoms: int) -> None:
        self.atoms = atoms
        self._candidates = candidates
        self._values: dict[Way, Fraction] = {}
        self._singles: dict[tuple[int, bool], Best] = {}
        split = np.arange(atoms + 1)
        self._split = split[:, None] - split[None, :]
        self.nothing = Best(np.where(split == 0, 1.0, np.inf), ((), *[None] * atoms))

    def products(self, candidate: int) -> tuple[Product, ...]:
        """Return M(0 … atoms) of a candidate, exactly."""
        n, counts = self._candidates.signatures.signature(candidate)
        return exact_products(n, counts[: self.atoms], self.atoms)

    def weight(self, candidate: int) -> Fraction:
        """Return n / r1 of a candidate, the factor of the class that holds the consequent."""
        n, counts = self._candidates.signatures.signature(candidate)
        return Fraction(n, counts[0])

    def value(self, way: Way) -> Fraction:
        """Return the product that a way reaches, exactly."""
        if way not in self._values:
            factors = [self.products(candidate)[atoms].value for candidate, atoms, _ in way]
            weights = [self.weight(candidate) for candidate, _, own in way if own]
            self._values[way] = prod(factors + weights, start=Fraction(1))
        return self._values[way]

    def single(self, candidate: int, approximate: FloatArray, own: bool) -> Best:
        """Return what one class alone can do; with `own` it holds the consequent, so it has at least one atom."""
        key = (candidate, own)
        if key not in self._singles:
            ways: list[Way | None] = [((candidate, atoms, own),) for atoms in range(self.atoms + 1)]
            # No atoms: impossible with the consequent; without it the empty way, whose product is 1
            ways[0] = None if own else ()
            values = approximate * float(self.weight(candidate)) if own else approximate.copy()
            values[0] = np.inf if own else 1.0
            self._singles[key] = Best(values, tuple(ways))
        return self._singles[key]

    def combine(self, left: Best, right: Best) -> Best:
        """Return the best split of t atoms between two groups of classes, for every t.

        Floats narrow the splits down to those near the minimum; fractions choose among these.
        """
        usable = self._split >= 0
        table = left.approximate[None, :] * right.approximate[np.where(usable, self._split, 0)]
        table = np.where(usable, np.maximum(table, SMALLEST), np.inf)
        near = self._near(table)
        ways: list[Way | None] = list(left.ways)
        for t in np.flatnonzero(near.sum(axis=1) - near.diagonal()).tolist():  # elsewhere all t atoms stay left
            splits = np.flatnonzero(near[t]).tolist()
            ways[t] = self._decide(_join(left.ways[s], right.ways[t - s]) for s in splits)
        return Best(table.min(axis=1), tuple(ways))

    def lower(self, alternatives: Sequence[Best]) -> Best:
        """Return the least product that one of the alternatives reaches with t atoms, and its way, for every t.

        Floats narrow the alternatives down to those near the minimum; fractions choose among these.
        """
        table = np.array([best.approximate for best in alternatives]).T  # rows: t, columns: alternatives
        ways = [
            self._decide(alternatives[position].ways[t] for position in np.flatnonzero(is_near).tolist())
            for t, is_near in enumerate(self._near(table))
        ]
        return Best(table.min(axis=1), tuple(ways))

    def _near(self, table: FloatArray) -> NDArray[np.bool_]:
        """Return True for the entries that may be the minimum of their row: floats are too inexact to exclude them."""
        least = table.min(axis=1)
        limit = np.maximum(least * (1 + tolerance(self.atoms)), UNCERTAIN)
        return np.asarray((table <= limit[:, None]) & np.isfinite(table))

    def _decide(self, ways: Iterable[Way | None]) -> Way | None:
        """Return the way with the least exact product, by length and order in a tie; None if there is no way."""
        different = {way for way in ways if way is not None}
        if len(different) < 2:
            return next(iter(different), None)
        return min(different, key=lambda way: (self.value(way), len(way), way))


def _join(left: Way | None, right: Way | None) -> Way | None:
    """Return the way over the classes of both, sorted; None if one of them is impossible."""
    if left is None or right is None:
        return None
    return tuple(sorted(left + right))


def maximum_disclosure(signatures: Signatures, k: int) -> DisclosureCurve:
    """Return the disclosure curve for 0 … `k` pieces of knowledge.

    Cost: one pass over the signatures (vectorized, memory for one block), then a program over at most (k + 1)(k + 2)
    candidates; more only where floats cannot tell them apart.

    Raises
    ------
    UsageError
        If there is no class, or the signatures hold fewer than k + 1 counts.

    >>> signatures = Signatures.from_classes([[2, 2, 1], [2, 1, 1, 1]], k=2)
    >>> [str(point.maximum) for point in maximum_disclosure(signatures, 2).points]
    ['2/5', '2/3', '1']
    """
    check_level(signatures, k)
    fewest = signatures.fewest_values()
    atoms = min(k + 1, fewest - 1)
    wanted = wanted_classes(atoms)
    found = list(zip(wanted, scan(signatures, wanted), strict=True)) if atoms else []
    return solve(signatures, found, fewest, k)


def check_level(signatures: Signatures, k: int) -> None:
    """Raise UsageError unless these signatures can answer for `k` pieces of knowledge."""
    if not len(signatures):
        raise UsageError("the table has no rows, so there is nothing that could be disclosed")
    if not 0 <= k <= signatures.k:
        raise OutOfRange(f"k is {k}, these signatures answer for 0 to {signatures.k}")


def solve(signatures: Signatures, found: list[tuple[Wanted, Positions]], fewest: int, k: int) -> DisclosureCurve:
    """Return the curve, from the lists of lowest classes among `signatures` and the fewest distinct values of a class.

    A person is certain from k = fewest - 1 on, when k antecedents leave one person of that class no other value; lists
    for that number of atoms or more are not used.
    """
    atoms = min(k + 1, fewest - 1)
    found = [(want, positions) for want, positions in found if want.atoms <= atoms]
    points, allocations = [], []
    if atoms:
        ratios = WorstCase(gather(signatures, found), atoms).ratios()
        for level, ((ratio, allocation), share) in enumerate(
            zip(ratios, negated_maxima(signatures, found), strict=True)
        ):
            points.append(DisclosurePoint(level, 1 / (1 + ratio), share))
            allocations.append(allocation)
    for level in range(atoms, k + 1):
        points.append(DisclosurePoint(level, Fraction(1), Fraction(1)))
        has_fewest = signatures.counts[:, :fewest].sum(axis=1, dtype=np.int64) == signatures.n
        allocations.append(Allocation((int(has_fewest.argmax()), fewest), ()))
    return DisclosureCurve(tuple(points), tuple(allocations))


class WorstCase:
    """The minima over all classes, and over all classes but one, for 0 … `atoms` atoms.

    Every candidate must have more than `atoms` distinct values, so that no product is 0.
    """

    def __init__(self, candidates: Candidates, atoms: int) -> None:
        self._candidates = candidates
        self._allocator = Allocator(candidates, atoms)
        self._approximate = np.concatenate([block.products for block in blocks(candidates.signatures, atoms)], axis=1)
        self._order = np.repeat(np.arange(len(candidates.positions)), candidates.copies).tolist()
        self._before = self._running(self._order)
        self._after = self._running(self._order[::-1])[::-1]

    def _running(self, order: list[int]) -> list[Best]:
        """Return the minimum over the first 0, 1, 2, … classes in `order`."""
        return list(accumulate(map(self._single, order), self._allocator.combine, initial=self._allocator.nothing))

    def _single(self, candidate: int, own: bool = False) -> Best:
        return self._allocator.single(candidate, self._approximate[:, candidate], own)

    @property
    def everyone(self) -> Best:
        """Over all classes, none of which holds the consequent."""
        return self._before[-1]

    def others(self, candidate: int) -> Best:
        """Return the minimum over all classes but one with this candidate's signature."""
        copies = int(self._candidates.copies[candidate])
        if copies == 0 or copies < self._candidates.signatures.multiplicity[candidate]:
            return self.everyone  # the remaining classes of the signature are as many as can be of use
        index = self._order.index(candidate)
        return self._allocator.combine(self._before[index], self._after[index + 1])

    def values(self, best: Best) -> tuple[Fraction | None, ...]:
        """Return the minima for 0 … `atoms` atoms, exactly; None for numbers of atoms that cannot be placed."""
        return tuple(None if way is None else self._allocator.value(way) for way in best.ways)

    def ratios(self) -> list[tuple[Fraction, Allocation]]:
        """Return the least ratio for 1 … `atoms` atoms, each with an allocation that reaches it."""
        owners = np.flatnonzero(self._candidates.own).tolist()
        best = self._allocator.lower(
            [self._allocator.combine(self._single(owner, own=True), self.others(owner)) for owner in owners]
        )
        return [(self._allocator.value(way), self._allocation(way)) for way in best.ways[1:] if way is not None]

    def _allocation(self, way: Way) -> Allocation:
        places = [(int(self._candidates.positions[candidate]), atoms, own) for candidate, atoms, own in way]
        (owner,) = [(place, atoms) for place, atoms, own in places if own]
        return Allocation(owner, tuple((place, atoms) for place, atoms, own in places if not own))


# The disclosure of each class by itself: which classes and rows fail (c, k)-safety.
#
# The disclosure of a class is the highest probability that any k basic implications, about anybody in the table, give
# to "this person of the class has that value". Theorem 9 holds for a fixed consequent too (its two lemmas never change
# it), so with class a fixed
#
#     ratio_a = min over j = 1 … k + 1 of (n_a / r1_a) * M_a(j) * G(k + 1 - j),
#
# where G(t) is the least product that t atoms reach in the other classes. The maximum over all classes is the maximum
# disclosure of the table. G is the same for all classes but the few candidates, which must not be counted twice.

# G(0 … k): the least product that t atoms reach in the other classes, None where they cannot be placed.
Others = tuple[Fraction | None, ...]


@dataclass(frozen=True, eq=False)
class ClassDisclosure:
    """The disclosure of the classes of each signature, for one k.

    approximate: shape (S,), as floats, with a relative error far below 1e-12. `exact` and `failing` are exact.
    """

    signatures: Signatures
    k: int
    approximate: FloatArray
    _ratio: FloatArray = field(repr=False)
    _everyone: Others = field(repr=False)
    _without: Mapping[int, Others] = field(repr=False)

    def exact(self, position: int) -> Fraction:
        """Return the disclosure of the classes with the signature at `position`."""
        return 1 / (1 + self._exact_ratio(position))

    def failing(self, c: Fraction | Decimal | int) -> NDArray[np.bool_]:
        """Return which signatures have a disclosure of at least `c`, exactly; shape (S,)."""
        threshold = exact_threshold(c)
        if threshold == 0:
            return np.ones(len(self._ratio), dtype=np.bool_)
        limit = (1 - threshold) / threshold
        width = tolerance(self.k + 1)
        low, high = float(limit) * (1 - width), float(limit) * (1 + width)
        low, high = (low if low > UNCERTAIN else 0.0), max(high, UNCERTAIN)
        fails = self._ratio <= low
        near = np.flatnonzero(~fails & (self._ratio <= high))
        fails[near] = self._decide(near, limit)
        return fails

    def failing_classes(self, c: Fraction | Decimal | int) -> int:
        """Return the number of classes whose disclosure is at least `c`."""
        return int(self.signatures.multiplicity[self.failing(c)].sum(dtype=np.int64))

    def failing_rows(self, c: Fraction | Decimal | int) -> int:
        """Return the number of rows in classes whose disclosure is at least `c`."""
        fails = self.failing(c)
        rows = self.signatures.n[fails].astype(np.int64) * self.signatures.multiplicity[fails]
        return int(rows.sum(dtype=np.int64))

    def weakest(self, number: int) -> IntArray:
        """Return the positions of the `number` signatures with the highest disclosure, highest first.

        Float ties go by size and counts and never by position, as a database returns signatures in any order.
        """
        ratio = self._ratio
        if not 0 < number < len(ratio):
            places = np.arange(len(ratio))
        else:
            places = np.flatnonzero(ratio <= np.partition(ratio, number - 1)[number - 1])
        counts = self.signatures.counts[places]
        ranked = np.lexsort((*counts.T[::-1], self.signatures.n[places], ratio[places]))
        return places[ranked][:number]

    def _decide(self, places: IntArray, limit: Fraction) -> NDArray[np.bool_]:
        """Return True if the exact ratio is at most `limit`, for signatures that floats cannot decide."""
        known: dict[tuple[object, ...], bool] = {}
        out = np.empty(len(places), dtype=np.bool_)
        for number, position in enumerate(places.tolist()):
            n, counts = self.signatures.signature(position)
            key = (n, counts[: self.k + 1], self._others(position))
            if key not in known:
                known[key] = self._exact_ratio(position) <= limit
            out[number] = known[key]
        return out

    def _others(self, position: int) -> Others:
        return self._without.get(position, self._everyone)

    def _exact_ratio(self, position: int) -> Fraction:
        n, counts = self.signatures.signature(position)
        products = exact_products(n, counts[: self.k + 1], self.k + 1)
        products_with_others = [
            product.value * rest
            for product, rest in zip(products[1:], reversed(self._others(position)), strict=True)
            if rest is not None
        ]
        return Fraction(n, counts[0]) * min(products_with_others)


def class_disclosure(signatures: Signatures, k: int) -> ClassDisclosure:
    """Return the disclosure of every class against any `k` basic implications.

    Cost: two passes over the signatures. Raises UsageError as `maximum_disclosure` does.

    >>> result = class_disclosure(Signatures.from_classes([[3, 1, 1, 1], [5, 5, 5, 5]], k=1), 1)
    >>> [str(result.exact(0)), str(result.exact(1))]
    ['5/7', '2/5']
    >>> result.failing_rows(Decimal("0.7"))
    6
    """
    check_level(signatures, k)
    fewest = signatures.fewest_values()
    if fewest <= k:  # k antecedents leave one person of that class no value: everybody else is certain, and so is he
        zero = np.zeros(len(signatures))
        return ClassDisclosure(signatures, k, 1 - zero, zero, (Fraction(0),) * (k + 1), {})
    everyone, without = _others(signatures, k)
    ratio = np.empty(len(signatures))
    for block in blocks(signatures, k + 1):
        ratio[block.start : block.start + len(block.n)] = _least(block, everyone)
    for position, others in without.items():
        (block,) = blocks(signatures.take(np.array([position])), k + 1)
        ratio[position] = _least(block, others)[0]
    return ClassDisclosure(signatures, k, 1 / (1 + ratio), ratio, everyone, without)


def _others(signatures: Signatures, k: int) -> tuple[Others, dict[int, Others]]:
    """Return G(0 … k) over all classes, and by position of a signature G without one of its classes, if it differs."""
    if k == 0:
        return (Fraction(1),), {}
    wanted = [want for want in wanted_classes(k + 1) if want.role is Purpose.OTHERS]
    candidates = gather(signatures, zip(wanted, scan(signatures, wanted), strict=True))
    worst = WorstCase(candidates, k)
    without = {}
    for candidate, position in enumerate(candidates.positions.tolist()):
        best = worst.others(candidate)
        if best is not worst.everyone:
            without[position] = worst.values(best)
    return worst.values(worst.everyone), without


def _least(block: SignatureBlock, others: Others) -> FloatArray:
    """Return the least ratio of each class in a block, with the minima of the other classes."""
    factors = [np.inf if value is None else max(float(value), SMALLEST) for value in reversed(others)]
    return np.asarray((block.products[1:] * np.array(factors)[:, None]).min(axis=0) * block.weight)
