"""The worst knowledge itself, its check by counting, and what follows from stated knowledge."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from fractions import Fraction
from itertools import product
from math import comb, perm, prod

from sqlaudit.base.errors import SqlauditError, Undecidable, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.classes.facts import Signatures
from sqlaudit.models.disclosure.exact import MOST_TERMS, DisclosureCurve, exact_products

# The probability that none of some atoms holds, by inclusion and exclusion: no minimum, no product formula.
#
# The witness is checked with this. It shares nothing with `program.py`: P(no atom holds) is the sum over s of
# (-1)^s h(s) / (n (n - 1) … (n - s + 1)), where h(s) counts the ways to make s of the atoms true at once, each for
# another person. Values are taken one after the other; people about whom the same values are in question are alike,
# so only how many of each kind already have a value need be remembered.


def probability_of_none(n: int, counts: Mapping[int, int], denied: Iterable[frozenset[int]]) -> Fraction:
    """The probability that no person of a class has any of the values denied to him.

    Parameters
    ----------
    n:
        Rows of the class.
    counts:
        How often each value occurs in the class, for all values that are denied to somebody.
    denied:
        For each of some different people, at most n, the values in question.

    >>> probability_of_none(5, {1: 2, 2: 2}, [frozenset({1, 2}), frozenset({1})])
    Fraction(1, 10)
    """
    kinds = Counter(denied)
    sets, sizes = list(kinds), list(kinds.values())
    ways: Counter[tuple[int, ...]] = Counter({(0,) * len(sets): 1})
    for value in sorted(set().union(*sets)):
        more: Counter[tuple[int, ...]] = Counter()
        for given, number in ways.items():
            ranges = [
                range(size - done + 1) if value in kind else range(1)
                for kind, size, done in zip(sets, sizes, given, strict=True)
            ]
            for extra in product(*ranges):
                choices = prod(comb(size - done, new) for size, done, new in zip(sizes, given, extra, strict=True))
                state = tuple(done + new for done, new in zip(given, extra, strict=True))
                more[state] += number * choices * perm(counts[value], sum(extra))
        ways = more
    return sum(
        (Fraction((-1) ** sum(given) * number, perm(n, sum(given))) for given, number in ways.items()), Fraction()
    )


# The worst knowledge itself: about whom, and which k implications. A bound that can be checked by hand.
#
# The program says how the k + 1 atoms are spread over classes, and how over the people of each class; by Lemma 12 the
# atoms about a person name the most frequent values. One of them, about the first person of the class that holds it, is
# the consequent; the others imply it.


@dataclass(frozen=True, order=True)
class Person:
    """Somebody in a class: the signature's position, which of the classes with that signature, and which person of it.

    Which class or person it is does not matter, as long as different numbers stand for different ones.
    """

    signature: int
    copy: int
    number: int


@dataclass(frozen=True, order=True)
class RankedAtom:
    """A person has the `rank`-th most frequent value of his class (1 = most frequent; ties in any fixed order)."""

    person: Person
    rank: int


@dataclass(frozen=True)
class SimpleImplication:
    """If the antecedent holds, so does the consequent."""

    antecedent: RankedAtom
    consequent: RankedAtom


@dataclass(frozen=True)
class Witness:
    """Knowledge that reaches the maximum disclosure.

    k: the level that was asked for. consequent: what is disclosed. implications: at most k; fewer only if they already
    make the consequent certain. probability: of the consequent, given them, as the program found it. confirmed: the
    same, counted from the implications by another route; it is equal, or no witness is returned.
    """

    k: int
    consequent: RankedAtom
    implications: tuple[SimpleImplication, ...]
    probability: Fraction
    confirmed: Fraction

    @property
    def classes(self) -> tuple[tuple[int, int], ...]:
        """(signature, copy) of every class that takes part, that of the consequent first."""
        people = [self.consequent.person, *(implication.antecedent.person for implication in self.implications)]
        return tuple(dict.fromkeys((person.signature, person.copy) for person in people))

    def sentences(
        self, person: Callable[[Person], str] | None = None, value: Callable[[RankedAtom], str] | None = None
    ) -> list[str]:
        """The knowledge in words, one sentence an implication, and last what follows from it.

        `person` and `value` say how to call a person, and the value of an atom; without them people are numbered and
        values called by their rank, so that nothing of the table is shown.
        """
        name, called = person or self._number, value or _rank
        target = self.consequent
        out = []
        for implication in self.implications:
            atom = implication.antecedent
            if atom.person == target.person:
                who = name(atom.person)
                out.append(f"{who[:1].upper()}{who[1:]} does not have {called(atom)}.")
            else:
                condition = f"If {name(atom.person)} has {called(atom)}"
                out.append(f"{condition}, then {name(target.person)} has {called(target)}.")
        chance = "with certainty" if self.probability == 1 else f"with probability {self.probability}"
        return [*out, f"Then {name(target.person)} has {called(target)} {chance}."]

    def _number(self, person: Person) -> str:
        return f"person {person.number + 1} of group {self.classes.index((person.signature, person.copy)) + 1}"


def find_witness(signatures: Signatures, curve: DisclosureCurve, k: int) -> Witness:
    """Knowledge of at most `k` simple implications that reaches the maximum disclosure at `k`, checked.

    `curve` must have been computed from `signatures`. Raises UsageError if it does not reach `k`, and SqlauditError if
    the check does not confirm the probability (the curve belongs to other signatures).

    >>> from sqlaudit.models.disclosure.program import maximum_disclosure
    >>> signatures = Signatures.from_classes([[2, 1, 1]], k=1)
    >>> for sentence in find_witness(signatures, maximum_disclosure(signatures, 1), 1).sentences():
    ...     print(sentence)
    If person 2 of group 1 has its most frequent value, then person 1 of group 1 has its most frequent value.
    Then person 1 of group 1 has its most frequent value with probability 3/4.
    """
    probability = curve[k].maximum
    allocation = curve.allocations[k]
    copies: Counter[int] = Counter()
    atoms: list[RankedAtom] = []
    for signature, number in (allocation.own, *allocation.others):
        n, counts = signatures.signature(signature)
        parts = exact_products(n, counts, number)[number].parts
        for person, part in enumerate(parts):
            who = Person(signature, copies[signature], person)
            atoms += [RankedAtom(who, rank) for rank in range(1, part + 1)]
        copies[signature] += 1
    consequent, *antecedents = atoms
    implications = tuple(SimpleImplication(antecedent, consequent) for antecedent in antecedents)
    confirmed = conditional_probability(signatures, consequent, implications)
    if confirmed != probability:
        raise SqlauditError(f"the witness for k = {k} gives {confirmed}, the curve says {probability}")
    return Witness(k, consequent, implications, probability, confirmed)


def conditional_probability(
    signatures: Signatures, consequent: RankedAtom, implications: tuple[SimpleImplication, ...]
) -> Fraction:
    """P(consequent, given the implications), which must all have that consequent, by counting.

    Either the consequent holds, and with it every implication; or neither it nor any antecedent does. Classes are
    independent.
    """
    if any(implication.consequent != consequent for implication in implications):
        raise SqlauditError("the implications of a witness have one common consequent")
    denied: dict[tuple[int, int], dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for atom in (consequent, *(implication.antecedent for implication in implications)):
        denied[atom.person.signature, atom.person.copy][atom.person.number].add(atom.rank)
    none = Fraction(1)
    for (signature, _), people in denied.items():
        n, counts = signatures.signature(signature)
        none *= probability_of_none(n, dict(enumerate(counts, start=1)), map(frozenset, people.values()))
    n, counts = signatures.signature(consequent.person.signature)
    chance = Fraction(counts[consequent.rank - 1], n)
    return chance / (chance + none)


def _rank(atom: RankedAtom) -> str:
    return "its most frequent value" if atom.rank == 1 else f"its value of rank {atom.rank}"


# What follows from a stated list of basic implications: the exact probability of one atom.
#
# Deciding this is #P-hard in general (Martin et al., Theorem 8), so short lists are expanded and long ones refused. An
# implication is the formula 1 - A1 A2 … (1 - B1)(1 - B2) …, the knowledge is the product of these, and multiplied out
# it is a sum of conjunctions of atoms. Equal conjunctions are merged at every step, impossible ones dropped; the
# probability of a conjunction has a closed form in every class. Two things keep the sums short: classes that no
# implication connects are independent and are expanded apart; and a person of whom no later implication speaks need
# not be told apart from others with that value, it is enough to know how often the value was used.


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
    limit: int = MOST_TERMS,
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
        """Return the probability of the atoms among all ways to assign rows, in falling factorials; 0 if a value is
        used more often than it occurs."""
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
    """Return how many people have the value of each cell."""
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
    """Refuse statements about persons who are not in the table.

    Raises:
        UsageError: a person is unknown, an implication is empty, or a class names more persons than rows.
    """

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
        raise Undecidable(
            f"{implications} connected implications need {terms} or more conjunctions, the limit is {limit}: "
            "ask with fewer or shorter implications"
        )
