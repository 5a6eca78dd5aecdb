"""The worst knowledge itself: about whom, and which k implications. A bound that can be checked by hand.

The program says how the k + 1 atoms are spread over classes, and how over the people of each class; by Lemma 12 the
atoms about a person name the most frequent values. One of them, about the first person of the class that holds it, is
the consequent; the others imply it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from fractions import Fraction

from sqlaudit.base.errors import SqlauditError
from sqlaudit.base.frozen import dataclass
from sqlaudit.classes.signatures import Signatures
from sqlaudit.models.disclosure.counting import probability_of_none
from sqlaudit.models.disclosure.curve import DisclosureCurve
from sqlaudit.models.disclosure.exact import exact_products


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
                out.append(f"{_capital(name(atom.person))} does not have {called(atom)}.")
            else:
                condition = f"If {name(atom.person)} has {called(atom)}"
                out.append(f"{condition}, then {name(target.person)} has {called(target)}.")
        chance = "certainly" if self.probability == 1 else f"with probability {self.probability}"
        return [*out, f"Then {name(target.person)} has {called(target)} {chance}."]

    def _number(self, person: Person) -> str:
        return f"person {person.number + 1} of class {self.classes.index((person.signature, person.copy)) + 1}"


def find_witness(signatures: Signatures, curve: DisclosureCurve, k: int) -> Witness:
    """Knowledge of at most `k` simple implications that reaches the maximum disclosure at `k`, checked.

    `curve` must have been computed from `signatures`. Raises UsageError if it does not reach `k`, and SqlauditError if
    the check does not confirm the probability (the curve belongs to other signatures).

    >>> from sqlaudit.models.disclosure.program import maximum_disclosure
    >>> signatures = Signatures.from_classes([[2, 1, 1]], k=1)
    >>> for sentence in find_witness(signatures, maximum_disclosure(signatures, 1), 1).sentences():
    ...     print(sentence)
    If person 2 of class 1 has its most frequent value, then person 1 of class 1 has its most frequent value.
    Then person 1 of class 1 has its most frequent value with probability 3/4.
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


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
