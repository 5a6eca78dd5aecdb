"""Brute force: what a release loses against its original, row by row, straight from the definitions.

Nothing here knows how the package computes. A table is a list of dicts. What a generalized cell stands for is given,
never parsed: `Meaning` says which original values it covers and at which level of the hierarchy it lies.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

Row = Mapping[str, Any]
Values = frozenset[Any]


@dataclass(frozen=True)
class Meaning:
    """What the cells of one column mean: cell to (values it covers, level), and the height of the hierarchy."""

    cells: Mapping[Any, tuple[Values, int]]
    height: int


@dataclass(frozen=True)
class Case:
    """An original, its release, and for each original row its place in the release (None = suppressed)."""

    original: Sequence[Row]
    release: Sequence[Row]
    qi: Sequence[str]
    meanings: Mapping[str, Meaning]
    sensitive: str | None = None
    match: Sequence[int | None] = ()
    distance: str = "equal"
    order: Sequence[Any] = ()
    tree: Mapping[Any, Sequence[str]] = field(default_factory=dict)

    @property
    def n(self) -> int:
        return len(self.original)

    def only(self, column: str) -> Case:
        """The same with one column as the quasi-identifier."""
        return Case(
            self.original,
            self.release,
            [column],
            self.meanings,
            self.sensitive,
            self.match,
            self.distance,
            self.order,
            self.tree,
        )

    def covered(self, column: str, place: int | None) -> Values:
        """The values that the cell of a released row stands for; all of them when the row is suppressed."""
        everything = frozenset(row[column] for row in self.original)
        if place is None:
            return everything
        values = self.meanings[column].cells[self.release[place][column]][0] & everything
        return values or everything

    def may_be(self, column: str, place: int) -> Values:
        """The values that the cell of a released row may stand for, whether an original row has them or not."""
        return self.covered(column, place) | self.meanings[column].cells[self.release[place][column]][0]

    def level(self, column: str, place: int | None) -> int:
        meaning = self.meanings[column]
        return meaning.height if place is None else meaning.cells[self.release[place][column]][1]

    def rows_with(self, column: str, values: Values) -> int:
        return sum(row[column] in values for row in self.original)

    def region(self, place: int | None) -> list[int]:
        """The original rows that the released row may stand for."""
        covered = {column: self.covered(column, place) for column in self.qi}
        return [i for i, row in enumerate(self.original) if all(row[c] in covered[c] for c in self.qi)]


def cells(case: Case) -> list[tuple[int, str, int | None]]:
    """(row, column, place) of every cell of the original."""
    return [(i, column, case.match[i]) for i in range(case.n) for column in case.qi]


def modified(case: Case) -> int:
    return sum(
        place is None or case.level(column, place) > 0 or case.covered(column, place) != {case.original[i][column]}
        for i, column, place in cells(case)
    )


def redactions(case: Case) -> int:
    return sum(_redacted(case, column, place) for _, column, place in cells(case))


def _redacted(case: Case, column: str, place: int | None) -> bool:
    """A generalized cell that may be any value of the original."""
    if place is None:
        return True
    values, level = case.meanings[column].cells[case.release[place][column]]
    return level > 0 and values >= {row[column] for row in case.original}


def tree_measure(case: Case) -> Fraction:
    return sum(
        (Fraction(case.level(column, place), case.meanings[column].height) for _, column, place in cells(case)),
        Fraction(0),
    )


def weighted_distance(levels: int, start: int, end: int, weight: Callable[[int], float]) -> float:
    """WHD(p, q) over `levels` levels, 1 = root."""
    return math.fsum(weight(j) for j in range(end + 1, start + 1)) / math.fsum(weight(j) for j in range(2, levels + 1))


def whd(case: Case, beta: float | None = None) -> float:
    def weight(j: int) -> float:
        return 1.0 if beta is None else 1 / (j - 1) ** beta

    total = []
    for _, column, place in cells(case):
        levels = case.meanings[column].height + 1
        total.append(weighted_distance(levels, levels, levels - case.level(column, place), weight))
    return math.fsum(total)


def conditional_entropy(case: Case, column: str, values: Values) -> float:
    counts = Counter(row[column] for row in case.original if row[column] in values)
    whole = sum(counts.values())
    return -math.fsum(c / whole * math.log2(c / whole) for c in counts.values())


def entropy(case: Case) -> float:
    return math.fsum(conditional_entropy(case, column, case.covered(column, place)) for _, column, place in cells(case))


def monotone_entropy(case: Case) -> float:
    total = []
    for _, column, place in cells(case):
        values = case.covered(column, place)
        share = Fraction(case.rows_with(column, values), case.n)
        total.append(float(share) * conditional_entropy(case, column, values))
    return math.fsum(total)


def non_uniform_entropy(case: Case) -> float:
    total = []
    for i, column, place in cells(case):
        inside = case.rows_with(column, case.covered(column, place))
        total.append(-math.log2(case.rows_with(column, frozenset([case.original[i][column]])) / inside))
    return math.fsum(total)


def loss(case: Case) -> Fraction:
    total = Fraction(0)
    for _, column, place in cells(case):
        values = len({row[column] for row in case.original})
        if values > 1:
            total += Fraction(len(case.covered(column, place)) - 1, values - 1)
    return total


def ncp(case: Case) -> float:
    total = []
    for _, column, place in cells(case):
        values = case.covered(column, place)
        domain = {row[column] for row in case.original}
        if all(isinstance(value, int | float | Fraction) for value in domain):
            width = max(domain) - min(domain)
            total.append((max(values) - min(values)) / width if width else 0.0)
        else:
            total.append(len(values) / len(domain) if len(values) > 1 else 0.0)
    return math.fsum(total)


def precision(case: Case) -> Fraction:
    return 1 - tree_measure(case) / (case.n * len(case.qi))


def classes(case: Case) -> list[list[int]]:
    """The classes of the release, as places of its rows."""
    found: dict[Any, list[int]] = {}
    for place, row in enumerate(case.release):
        found.setdefault(tuple(row[c] for c in case.qi), []).append(place)
    return list(found.values())


def discernibility(case: Case) -> int:
    return sum(len(one) ** 2 for one in classes(case)) + (case.n - len(case.release)) * case.n


def average_class_size(case: Case) -> Fraction | None:
    found = classes(case)
    return Fraction(len(case.release), len(found)) if found else None


# --- distances of the sensitive attribute ---


def emd(case: Case, one: Sequence[Any], other: Sequence[Any]) -> Fraction:
    """The earth mover's distance of two lists of sensitive values."""
    values = set(one) | set(other) | set(case.order)
    p = {v: Fraction(list(one).count(v), len(one)) for v in values}
    q = {v: Fraction(list(other).count(v), len(other)) for v in values}
    if case.distance == "equal":
        return sum((abs(p[v] - q[v]) for v in values), Fraction(0)) / 2
    if case.distance == "ordered":
        work = carried = Fraction(0)
        for value in case.order:
            carried += p[value] - q[value]
            work += abs(carried)
        return work / (len(case.order) - 1) if len(case.order) > 1 else Fraction(0)
    return _tree_distance(case, p, q)


def _tree_distance(case: Case, p: Mapping[Any, Fraction], q: Mapping[Any, Fraction]) -> Fraction:
    height = 1 + max(len(above) for above in case.tree.values())
    total = Fraction(0)
    for depth in range(1, height + 1):
        moved: dict[Any, Fraction] = {}
        for value in set(p) | set(q):
            above = tuple(case.tree[value])
            node = above[:depth] if depth <= len(above) else ("leaf", value)
            moved[node] = moved.get(node, Fraction(0)) + p.get(value, Fraction(0)) - q.get(value, Fraction(0))
        total += sum((abs(amount) for amount in moved.values()), Fraction(0)) / 2
    return total / height


def table_values(case: Case) -> list[Any]:
    return [row[case.sensitive] for row in case.original]  # type: ignore[index]


def variance_before(case: Case, i: int) -> Fraction:
    key = [case.original[i][c] for c in case.qi]
    same = [row[case.sensitive] for row in case.original if [row[c] for c in case.qi] == key]  # type: ignore[index]
    return emd(case, same, table_values(case))


def variance_after(case: Case, place: int | None) -> Fraction:
    if place is None:
        return Fraction(0)
    key = [case.release[place][c] for c in case.qi]
    same = [row[case.sensitive] for row in case.release if [row[c] for c in case.qi] == key]  # type: ignore[index]
    return emd(case, same, table_values(case))


def variance_loss(case: Case) -> Fraction:
    before = sum((variance_before(case, i) for i in range(case.n)), Fraction(0))
    return before - sum((variance_after(case, place) for place in range(len(case.release))), Fraction(0))


# --- volumes ---


def inflation(case: Case, i: int) -> Fraction:
    key = [case.original[i][c] for c in case.qi]
    before = sum([row[c] for c in case.qi] == key for row in case.original)
    return Fraction(len(case.region(case.match[i])), before)


def independent_inflation(case: Case, i: int) -> Fraction:
    product = Fraction(1)
    for column in case.qi:
        inside = case.rows_with(column, case.covered(column, case.match[i]))
        product *= Fraction(inside, case.rows_with(column, frozenset([case.original[i][column]])))
    return product


def volume_inflation(case: Case) -> Fraction:
    return sum((inflation(case, i) for i in range(case.n)), Fraction(0))


def volume_inflation_independent(case: Case) -> Fraction:
    return sum((independent_inflation(case, i) for i in range(case.n)), Fraction(0))


def entropy_volume_inflation(case: Case) -> float:
    return math.fsum(math.log2(inflation(case, i)) for i in range(case.n))


def entropy_volume_inflation_independent(case: Case) -> float:
    return math.fsum(math.log2(independent_inflation(case, i)) for i in range(case.n))


def hybrid(case: Case) -> Fraction:
    total = Fraction(0)
    for i in range(case.n):
        total += (variance_before(case, i) - variance_after(case, case.match[i])) * inflation(case, i)
    return total


Query = Mapping[str, Values]
"""For each column that a query restricts, the values it asks for."""


def noise(case: Case, query: Query) -> float:
    """The mean over rows of how far the values a query really means are from those of the whole block."""
    blocks: dict[Any, list[int]] = {}
    for i, place in enumerate(case.match):
        key = None if place is None else tuple(case.release[place][c] for c in case.qi)
        blocks.setdefault(key, []).append(i)
    total = Fraction(0)
    for key, block in blocks.items():
        inside = [i for i in block if all(case.original[i][c] in values for c, values in query.items())]
        if inside:
            means = [case.original[i][case.sensitive] for i in inside]  # type: ignore[index]
            shown_rows = range(case.n) if key is None else block  # of a row left out the table is all that is known
            shown = [case.original[i][case.sensitive] for i in shown_rows]  # type: ignore[index]
            total += len(block) * emd(case, means, shown)
    return float(total / case.n)


# --- queries ---


def weights(case: Case, query: Query, place: int) -> tuple[Fraction, Fraction, Fraction]:
    """What a released row counts: non-corrected, by conditional probability, and independently corrected."""
    covered = {column: case.covered(column, place) for column in query}
    plain = Fraction(int(all(case.may_be(column, place) & values for column, values in query.items())))
    region = case.region(place)
    inside = [i for i in region if all(case.original[i][c] in values for c, values in query.items())]
    conditional = Fraction(len(inside), len(region)) if region else Fraction(0)
    independent = Fraction(1)
    for column, values in query.items():
        within = case.rows_with(column, covered[column] & values)
        independent *= Fraction(within, case.rows_with(column, covered[column]))
    return plain, conditional, independent


def count_query(case: Case, query: Query, keep: Callable[[Row], bool] = lambda row: True) -> tuple[Fraction, ...]:
    """COUNT(*) on the original and the three answers on the release."""
    truth = sum(all(row[c] in values for c, values in query.items()) and keep(row) for row in case.original)
    found = [weights(case, query, place) for place, row in enumerate(case.release) if keep(row)]
    return (Fraction(truth), *(sum((w[kind] for w in found), Fraction(0)) for kind in range(3)))


# --- is it a generalization at all ---


def fits(case: Case, i: int, column: str) -> bool:
    """Whether the original value lies in the cell of the released row."""
    place = case.match[i]
    return place is None or case.original[i][column] in case.meanings[column].cells[case.release[place][column]][0]


def some_matching(case: Case) -> bool:
    """Whether any assignment of released rows to different original rows fits (rows may be missing): by augmenting."""
    regions = []
    for row in case.release:
        values = {c: case.meanings[c].cells[row[c]][0] for c in case.qi}
        regions.append(
            [
                i
                for i, old in enumerate(case.original)
                if all(old[c] in values[c] for c in case.qi)
                and (case.sensitive is None or old[case.sensitive] == row[case.sensitive])
            ]
        )
    taken: dict[int, int] = {}

    def place(row: int, seen: set[int]) -> bool:
        for i in regions[row]:
            if i in seen:
                continue
            seen.add(i)
            if i not in taken or place(taken[i], seen):
                taken[i] = row
                return True
        return False

    return all(place(row, set()) for row in range(len(case.release)))


def is_local(case: Case) -> bool:
    """Whether some value is recoded in two ways (rows that are suppressed as a whole do not count)."""
    for column in case.qi:
        seen: dict[Any, set[Any]] = {}
        for i, at in enumerate(case.match):
            if at is not None and not whole(case, at):
                seen.setdefault(case.original[i][column], set()).add(case.release[at][column])
        if any(len(found) > 1 for found in seen.values()):
            return True
    return False


def recoding(case: Case) -> str | None:
    """How values were recoded, as far as levels alone tell it: None when cells lie at several levels of a column."""
    if is_local(case):
        return "local"
    seen: dict[str, set[int]] = {column: set() for column in case.qi}
    places = [place for place in range(len(case.release)) if not whole(case, place)]
    for place in places or range(len(case.release)):
        for column in case.qi:
            if case.release[place][column] is not None:  # a missing value says nothing of the level
                seen[column].add(case.level(column, place))
    if all(levels <= {0} for levels in seen.values()):
        return "none"
    return "full-domain" if all(len(levels) <= 1 for levels in seen.values()) else None


def whole(case: Case, place: int) -> bool:
    """Whether every cell of a released row may be any value."""
    return all(_redacted(case, column, place) for column in case.qi)


def combinations_of(values: Sequence[Any]) -> list[Values]:
    """All subsets but the empty one."""
    sizes = range(1, len(values) + 1)
    return [frozenset(one) for size in sizes for one in itertools.combinations(values, size)]
