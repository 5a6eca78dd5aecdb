"""Slow and obvious: every world, every set of implications; and the paper's two procedures as plain recursions.

A bucketization is a list of classes, a class is a list of counts (one per sensitive value, any order). Value `v` is
the same value in every class.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

Classes = Sequence[Sequence[int]]
Truth = NDArray[np.float64]  # one row per formula, one column per world: 1 where the formula holds


def arrangements(counts: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Every order in which the values of one class can be handed to its people."""
    if sum(counts) == 0:
        return [()]
    out = []
    for value, count in enumerate(counts):
        if count:
            rest = (*counts[:value], count - 1, *counts[value + 1 :])
            out += [(value, *tail) for tail in arrangements(rest)]
    return out


def worlds(classes: Classes) -> list[tuple[int, ...]]:
    """Every table consistent with the bucketization, all equally likely: the values of all people, class by class."""
    parts = [arrangements(tuple(counts)) for counts in classes]
    return [tuple(value for part in world for value in part) for world in product(*parts)]


def people(classes: Classes) -> list[int]:
    """The class of each person, in the order in which `worlds` lists them."""
    return [number for number, counts in enumerate(classes) for _ in range(sum(counts))]


def atoms(classes: Classes) -> Truth:
    """The truth of every atom "person p has value v" in every world: row p * values + v."""
    table = np.array(worlds(classes))
    values = max(len(counts) for counts in classes)
    rows = [table[:, person] == value for person in range(table.shape[1]) for value in range(values)]
    return np.array(rows, dtype=float)


def distinct(rows: Iterable[NDArray[np.float64]]) -> Truth:
    return np.unique(np.array(list(rows)), axis=0)


def simple_implications(truth: Truth) -> Truth:
    """Every A -> B, whatever the consequent."""
    return distinct(np.maximum(1 - a, b) for a in truth for b in truth)


def basic_implications(truth: Truth) -> Truth:
    """Every (A1 and A2 and ...) -> (B1 or B2 or ...), of any length: the closures under "and" and "or"."""
    left, right = truth, truth
    while True:
        more = distinct([*left, *(a * b for a in left for b in truth)])
        if len(more) == len(left):
            break
        left = more
    while True:
        more = distinct([*right, *(np.maximum(a, b) for a in right for b in truth)])
        if len(more) == len(right):
            break
        right = more
    return distinct(np.maximum(1 - a, b) for a in left for b in right)


def negations(truth: Truth) -> Truth:
    """Every "not A", and one about a value that no one has, which always holds."""
    return distinct([*(1 - truth), np.ones(truth.shape[1])])


def largest(truth: Truth, knowledge: Truth, k: int) -> list[Fraction]:
    """For every atom the highest probability that any k formulas of `knowledge` give to it.

    Fewer than k formulas need no case of their own: one formula may be repeated.
    """
    best = [Fraction(0)] * len(truth)
    if k == 0:
        return [Fraction(int(row.sum()), truth.shape[1]) for row in truth]
    for chosen in combinations(range(len(knowledge)), k - 1):
        given = knowledge * np.prod(knowledge[list(chosen)], axis=0)
        possible = given.sum(axis=1)
        given, possible = given[possible > 0], possible[possible > 0]  # knowledge that no world satisfies says nothing
        if not len(given):
            continue
        share = (given @ truth.T) / possible[:, None]  # distinct fractions of small integers are distinct floats
        where = share.argmax(axis=0)
        for atom, row in enumerate(where):
            found = Fraction(int(given[row] @ truth[atom]), int(possible[row]))
            best[atom] = max(best[atom], found)
    return best


def by_class(classes: Classes, per_atom: list[Fraction]) -> list[Fraction]:
    """The largest figure among the atoms of each class."""
    values = max(len(counts) for counts in classes)
    out = [Fraction(0)] * len(classes)
    for person, number in enumerate(people(classes)):
        out[number] = max(out[number], *per_atom[person * values : (person + 1) * values])
    return out


def minimize1(counts: Sequence[int], atoms_left: int) -> Fraction:
    """The least probability that none of `atoms_left` atoms of one class holds (the paper's first procedure)."""
    n, ranked = sum(counts), sorted(counts, reverse=True)

    @cache
    def least(person: int, most: int, left: int) -> Fraction | None:
        if left == 0:
            return Fraction(1)
        if person == n:
            return None  # no one is left to speak of
        found = []
        for here in range(1, min(most, left) + 1):
            rest = least(person + 1, here, left - here)
            if rest is not None:
                found.append(Fraction(max(0, n - person - sum(ranked[:here])), n - person) * rest)
        return min(found, default=None)

    value = least(0, atoms_left, atoms_left)
    assert value is not None
    return value


def minimize2(classes: Classes, k: int) -> Fraction:
    """The least ratio P(not A, no antecedent) / P(A) over the whole bucketization (the second procedure, corrected)."""
    single = [[minimize1(counts, j) for j in range(k + 2)] for counts in classes]

    @cache
    def least(number: int, left: int, placed: bool) -> Fraction | None:
        if number == len(classes):
            return Fraction(1) if placed and left == 0 else None
        found = []
        for here in range(left + 1):
            rest = least(number + 1, left - here, placed)
            if rest is not None:
                found.append(single[number][here] * rest)
            rest = None if placed or here == 0 else least(number + 1, left - here, True)
            if rest is not None:
                counts = classes[number]
                found.append(Fraction(sum(counts), max(counts)) * single[number][here] * rest)
        return min(found, default=None)

    value = least(0, k + 1, False)
    assert value is not None
    return value


def maximum(classes: Classes, k: int) -> Fraction:
    return 1 / (1 + minimize2(classes, k))


def of_class(classes: Classes, number: int, k: int) -> Fraction:
    """The highest disclosure about a person of one given class, by the plain recursion."""
    counts = classes[number]
    others = [other for position, other in enumerate(classes) if position != number]
    single = [[minimize1(other, j) for j in range(k + 1)] for other in others]

    @cache
    def least(position: int, left: int) -> Fraction | None:
        if position == len(others):
            return Fraction(1) if left == 0 else None
        rests = [(single[position][here], least(position + 1, left - here)) for here in range(left + 1)]
        return min((share * rest for share, rest in rests if rest is not None), default=None)

    ratios = []
    for here in range(1, k + 2):
        rest = least(0, k + 1 - here)
        if rest is not None:
            ratios.append(Fraction(sum(counts), max(counts)) * minimize1(counts, here) * rest)
    return 1 / (1 + min(ratios))


def negated(classes: Classes, k: int) -> Fraction:
    """Negated atoms about one person: rule out the k most frequent other values."""
    best = Fraction(0)
    for counts in classes:
        ranked = sorted(counts, reverse=True)
        best = max(best, Fraction(ranked[0], sum(ranked) - sum(ranked[1 : k + 1])))
    return best


def recursive_diversity(classes: Classes, c: Fraction, l_value: int) -> bool:
    """Recursive (c, l)-diversity: r1 < c (r_l + ... + r_m) in every class; l = 1 always holds, m < l never does."""
    if l_value == 1:
        return True
    for counts in classes:
        ranked = sorted((count for count in counts if count), reverse=True)
        if len(ranked) < l_value or not ranked[0] < c * sum(ranked[l_value - 1 :]):
            return False
    return True
