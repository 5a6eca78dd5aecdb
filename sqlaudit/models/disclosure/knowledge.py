"""What follows from a stated list of basic implications: the exact probability of one atom.

Deciding this is #P-hard in general (Martin et al., Theorem 8), so short lists are expanded and long ones refused. An
implication is the formula 1 - A1 A2 … (1 - B1)(1 - B2) …, the knowledge is the product of these, and multiplied out it
is a sum of conjunctions of atoms. Equal conjunctions are merged at every step, impossible ones dropped; the
probability of a conjunction has a closed form in every class. Two things keep the sums short: classes that no
implication connects are independent and are expanded apart; and a person of whom no later implication speaks need not
be told apart from others with that value, it is enough to know how often the value was used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from math import perm, prod

from sqlaudit.base.errors import UsageError

DEFAULT_LIMIT = 100_000


class ContradictoryKnowledge(UsageError):
    """No table with these classes satisfies all the implications."""


@dataclass(frozen=True)
class Atom:
    """The statement that a person has a value."""

    person: Hashable
    value: Hashable


@dataclass(frozen=True)
class BasicImplication:
    """If all of `if_all` hold, then at least one of `then_any` does.

    An empty `if_all` always holds. An empty `then_any` never does, so the implication denies `if_all`: "not A" is
    BasicImplication((A,), ()), which says the same as A -> "the same person has another value".
    """

    if_all: tuple[Atom, ...]
    then_any: tuple[Atom, ...]


@dataclass(frozen=True)
class WhatIf:
    """The answer.

    probability: of the atom, given the knowledge. prior: without it. knowledge: the probability of the knowledge
    itself. terms: the most conjunctions that were held at once.
    """

    probability: Fraction
    prior: Fraction
    knowledge: Fraction
    terms: int


# An atom inside: (number of the person, number of the cell), a cell being a value of a class. (-c, cell) says that c
# people, no matter who, have that value.
_Part = tuple[int, int]
_Conjunction = frozenset[_Part]
_Terms = dict[_Conjunction, int]  # with integer coefficients


def what_if(
    atom: Atom,
    knowledge: Sequence[BasicImplication],
    members: Mapping[Hashable, Hashable],
    classes: Mapping[Hashable, Mapping[Hashable, int]],
    limit: int = DEFAULT_LIMIT,
) -> WhatIf:
    """The exact probability of `atom`, given that every implication in `knowledge` holds.

    Parameters
    ----------
    members:
        The class of every person named; different persons are different rows.
    classes:
        For each of these classes how many of its rows have each value (all values, not only the frequent ones).
    limit:
        Conjunctions that may be held at once.

    Raises
    ------
    ContradictoryKnowledge
        If the knowledge has probability 0.
    UsageError
        If an implication says nothing, a person is not in `members`, a class has fewer rows than persons named, or
        more than `limit` conjunctions would be needed. No sentence contains a person or a value.

    Source: Martin et al., Definitions 2 and 5.

    >>> flu = [Atom("Hannah", "flu"), Atom("Charlie", "flu")]
    >>> found = what_if(flu[1], [BasicImplication((flu[0],), (flu[1],))], {"Hannah": "F", "Charlie": "M"},
    ...     {"M": {"flu": 2, "cancer": 2, "mumps": 1}, "F": {"flu": 2, "breast": 1, "heart": 1, "ovarian": 1}})
    >>> str(found.probability)
    '10/19'
    """
    _check(atom, knowledge, members, classes)
    table = _Table(members, classes)
    asked = table.encode(atom)
    prior = probability = table.probability(frozenset({asked}))
    possible, most = Fraction(1), 1
    for part in _independent(knowledge, members):
        terms, held = _expand(part, asked, table, limit)
        chance = table.sum(terms)
        if chance == 0:
            raise ContradictoryKnowledge(
                "the knowledge contradicts the table: no table with these classes satisfies it"
            )
        if members[atom.person] in _touched(part, members):
            probability = table.sum(_multiply(terms, asked, table)) / chance
        possible *= chance
        most = max(most, held)
    return WhatIf(probability, prior, possible, most)


class _Table:
    """The classes, with numbers for people and cells, and the probability of a conjunction of atoms."""

    def __init__(
        self, members: Mapping[Hashable, Hashable], classes: Mapping[Hashable, Mapping[Hashable, int]]
    ) -> None:
        self._members, self._classes = members, classes
        self._sizes = {name: sum(counts.values()) for name, counts in classes.items()}
        self._people: dict[Hashable, int] = {}
        self._cells: dict[tuple[Hashable, Hashable], int] = {}
        self._capacity: list[int] = []
        self._class_of_cell: list[Hashable] = []

    def encode(self, atom: Atom) -> _Part:
        """The atom in numbers."""
        name = self._members[atom.person]
        if (name, atom.value) not in self._cells:
            self._cells[name, atom.value] = len(self._capacity)
            self._capacity.append(self._classes[name].get(atom.value, 0))
            self._class_of_cell.append(name)
        person = self._people.setdefault(atom.person, len(self._people))
        return person, self._cells[name, atom.value]

    def probability(self, conjunction: _Conjunction) -> Fraction:
        """Of the ways to give out rows, in falling factorials; 0 if a value is used more often than it occurs."""
        used = _used(conjunction)
        people: Counter[Hashable] = Counter()
        for cell, number in used.items():
            people[self._class_of_cell[cell]] += number
        ways = prod(perm(self._capacity[cell], number) for cell, number in used.items())
        return Fraction(ways, prod(perm(self._sizes[name], number) for name, number in people.items()))

    def sum(self, terms: _Terms) -> Fraction:
        """The probability of the formula that the terms add up to."""
        return sum((factor * self.probability(conjunction) for conjunction, factor in terms.items()), Fraction())

    def extend(self, conjunction: _Conjunction, atom: _Part) -> _Conjunction | None:
        """The conjunction with one more atom, or None if that is impossible."""
        if atom in conjunction:
            return conjunction
        person, cell = atom
        taken = 0
        for who, where in conjunction:
            if who == person:
                return None
            if where == cell:
                taken += 1 if who >= 0 else -who
        return conjunction | {atom} if taken < self._capacity[cell] else None


def _used(conjunction: Iterable[_Part]) -> Counter[int]:
    """How many people have the value of each cell."""
    used: Counter[int] = Counter()
    for who, cell in conjunction:
        used[cell] += 1 if who >= 0 else -who
    return used


def _forget(conjunction: _Conjunction, people: Set[int]) -> _Conjunction:
    """The conjunction without saying which of these people it is that have the values."""
    gone = {part for part in conjunction if part[0] < 0 or part[0] in people}
    return (conjunction - gone) | {(-number, cell) for cell, number in _used(gone).items()}


def _check(
    atom: Atom,
    knowledge: Sequence[BasicImplication],
    members: Mapping[Hashable, Hashable],
    classes: Mapping[Hashable, Mapping[Hashable, int]],
) -> None:
    def known(each: Atom) -> bool:
        return each.person in members and members[each.person] in classes

    if not known(atom):
        raise UsageError("the statement asked about names a person who is not in the table")
    for number, implication in enumerate(knowledge, start=1):
        if not implication.if_all and not implication.then_any:
            raise UsageError(f"implication {number} has neither a condition nor a conclusion")
        if not all(map(known, _atoms(implication))):
            raise UsageError(f"implication {number} names a person who is not in the table")
    people = {each.person for each in [atom, *(part for item in knowledge for part in _atoms(item))]}
    for name, number in Counter(members[person] for person in people).items():
        size = sum(classes[name].values())
        if number > size:
            raise UsageError(f"{number} persons are named in a class that has {size} rows")


def _atoms(implication: BasicImplication) -> tuple[Atom, ...]:
    return implication.if_all + implication.then_any


def _touched(implications: Iterable[BasicImplication], members: Mapping[Hashable, Hashable]) -> set[Hashable]:
    return {members[atom.person] for implication in implications for atom in _atoms(implication)}


def _independent(
    knowledge: Sequence[BasicImplication], members: Mapping[Hashable, Hashable]
) -> list[list[BasicImplication]]:
    """The implications in groups that have no class in common."""
    groups: list[tuple[set[Hashable], list[BasicImplication]]] = []
    for implication in knowledge:
        classes, together = _touched([implication], members), [implication]
        apart = []
        for group in groups:
            if group[0] & classes:
                classes, together = classes | group[0], group[1] + together
            else:
                apart.append(group)
        groups = [*apart, (classes, together)]
    return [together for _, together in groups]


def _expand(implications: Sequence[BasicImplication], asked: _Part, table: _Table, limit: int) -> tuple[_Terms, int]:
    """The knowledge as a sum of conjunctions, and the most that were held at once."""
    coded = [
        (list(map(table.encode, implication.if_all)), list(map(table.encode, implication.then_any)))
        for implication in implications
    ]
    last = {who: number for number, (left, right) in enumerate(coded) for who, _ in left + right if who != asked[0]}
    terms: _Terms = {frozenset(): 1}
    most = 1
    for number, (if_all, then_any) in enumerate(coded):
        refuted = terms
        for atom in if_all:
            refuted = _multiply(refuted, atom, table)
        for atom in then_any:
            refuted = _subtract(refuted, _multiply(refuted, atom, table))
            _within(len(refuted), limit, len(implications))
        terms = _subtract(terms, refuted)
        most = max(most, len(terms), len(refuted))
        _within(most, limit, len(implications))
        done = {person for person, position in last.items() if position == number}
        terms = _collect((_forget(conjunction, done), factor) for conjunction, factor in terms.items())
    return terms, most


def _multiply(terms: _Terms, atom: _Part, table: _Table) -> _Terms:
    """Every conjunction with the atom added."""
    longer = ((table.extend(conjunction, atom), factor) for conjunction, factor in terms.items())
    return _collect((conjunction, factor) for conjunction, factor in longer if conjunction is not None)


def _subtract(left: _Terms, right: _Terms) -> _Terms:
    return _collect([*left.items(), *((conjunction, -factor) for conjunction, factor in right.items())])


def _collect(parts: Iterable[tuple[_Conjunction, int]]) -> _Terms:
    """The sum, equal conjunctions merged and those that cancel left out."""
    out: _Terms = {}
    for conjunction, factor in parts:
        out[conjunction] = out.get(conjunction, 0) + factor
    return {conjunction: factor for conjunction, factor in out.items() if factor}


def _within(terms: int, limit: int, implications: int) -> None:
    if terms > limit:
        raise UsageError(
            f"{implications} connected implications need {terms} or more conjunctions, the limit is {limit}: "
            "the exact answer is out of reach, ask with fewer or shorter implications"
        )
