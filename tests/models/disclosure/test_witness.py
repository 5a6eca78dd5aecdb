"""The worst knowledge itself, confirmed by three routes: counting, expansion, and every world."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.errors import SqlauditError, UsageError
from sqlaudit.classes.facts import Signatures
from sqlaudit.models.disclosure.program import maximum_disclosure
from sqlaudit.models.disclosure.witness import (
    Atom,
    BasicImplication,
    Person,
    RankedAtom,
    Witness,
    conditional_probability,
    find_witness,
    probability_of_none,
    what_if,
)

from . import oracle
from .strategies import bucketizations, cases


def witness(classes: list[list[int]], k: int) -> tuple[Signatures, Witness]:
    signatures = Signatures.from_classes(classes, k)
    return signatures, find_witness(signatures, maximum_disclosure(signatures, k), k)


@cases(200)
@given(bucketizations(), st.integers(0, 8))
def test_a_witness_is_k_implications_that_fit_the_table_and_reach_the_maximum(classes: list[list[int]], k: int) -> None:
    signatures, found = witness(classes, k)
    assert found.probability == found.confirmed == oracle.maximum(classes, k)
    fewest = min(map(len, classes))
    assert len(found.implications) == min(k, fewest - 1)
    assert len(set(found.implications)) == len(found.implications)
    assert all(implication.consequent == found.consequent for implication in found.implications)
    atoms = [found.consequent, *(implication.antecedent for implication in found.implications)]
    assert len(set(atoms)) == len(atoms)
    for atom in atoms:
        n, _ = signatures.signature(atom.person.signature)
        assert 0 <= atom.person.copy < signatures.multiplicity[atom.person.signature]
        assert 0 <= atom.person.number < n
        assert atom.rank >= 1
    assert found.classes[0] == (found.consequent.person.signature, found.consequent.person.copy)


@cases(120)
@given(bucketizations(values=4), st.integers(0, 6))
def test_expanding_the_implications_gives_the_same_probability(classes: list[list[int]], k: int) -> None:
    """The what-if route takes any implications and the full counts; it knows nothing of witnesses."""
    signatures, found = witness(classes, k)
    alone = {Signatures.from_classes([counts], k).signature(0): counts for counts in classes}
    tables = {
        name: dict(enumerate(sorted(alone[signatures.signature(name[0])], reverse=True), start=1))
        for name in found.classes
    }

    def atom(ranked: RankedAtom) -> Atom:
        return Atom(ranked.person, ranked.rank)

    implications = [BasicImplication((atom(each.antecedent),), (atom(each.consequent),)) for each in found.implications]
    people = {found.consequent.person, *(each.antecedent.person for each in found.implications)}
    members = {person: (person.signature, person.copy) for person in people}
    assert what_if(atom(found.consequent), implications, members, tables).probability == found.probability


def test_fifty_implications_are_confirmed() -> None:
    signatures, found = witness([[3] * 55, [4, 4, *[2] * 60], [20, *[1] * 70]], 50)
    assert len(found.implications) == 50
    assert found.confirmed == found.probability < 1
    assert len(signatures) == 3


def test_sentences_name_people_and_values_as_the_caller_says() -> None:
    _, found = witness([[2, 2, 1], [2, 1, 1, 1]], 1)
    assert found.sentences() == [
        "Person 1 of group 1 does not have its value of rank 2.",
        "Then person 1 of group 1 has its most frequent value with probability 2/3.",
    ]
    named = found.sentences(lambda person: "somebody aged 40", lambda atom: ["flu", "mumps"][atom.rank - 1])
    assert named == ["Somebody aged 40 does not have mumps.", "Then somebody aged 40 has flu with probability 2/3."]
    _, across = witness([[3, 3, 2, 2, 1, 1], [4, 2, 2, 1, 1]], 3)
    assert across.sentences()[-1] == "Then person 1 of group 1 has its most frequent value with probability 28/33."
    _, certain = witness([[2, 1, 1], [1, 1, 1, 1]], 5)
    assert certain.sentences() == [
        "Person 1 of group 1 does not have its value of rank 2.",
        "Person 1 of group 1 does not have its value of rank 3.",
        "Then person 1 of group 1 has its most frequent value with certainty.",
    ]


def test_a_witness_can_take_people_of_another_class() -> None:
    """Half of the large class share a value; three atoms about one person of the small class cover most of it."""
    _, found = witness([[500, *[1] * 500], [5, 5, 5, 1, 1]], 3)
    assert found.sentences() == [
        "If person 1 of group 2 has its most frequent value, then person 1 of group 1 has its most frequent value.",
        "If person 1 of group 2 has its value of rank 2, then person 1 of group 1 has its most frequent value.",
        "If person 1 of group 2 has its value of rank 3, then person 1 of group 1 has its most frequent value.",
        "Then person 1 of group 1 has its most frequent value with probability 17/19.",
    ]


def test_a_curve_of_other_classes_is_noticed() -> None:
    curve = maximum_disclosure(Signatures.from_classes([[2, 1, 1]], k=1), 1)
    with pytest.raises(SqlauditError, match="the witness for k = 1 gives 3/5, the curve says 3/4"):
        find_witness(Signatures.from_classes([[3, 2, 2]], k=1), curve, 1)
    with pytest.raises(UsageError, match="the curve was computed for k = 0 to 1, k = 2 was asked for"):
        find_witness(Signatures.from_classes([[2, 1, 1]], k=1), curve, 2)


def test_only_implications_with_a_common_consequent_are_counted() -> None:
    signatures, found = witness([[2, 2, 1], [2, 1, 1, 1]], 1)
    other = RankedAtom(Person(1, 0, 0), 1)
    with pytest.raises(SqlauditError, match="one common consequent"):
        conditional_probability(signatures, other, found.implications)
    turned = replace(found.implications[0], antecedent=other, consequent=found.consequent)
    assert conditional_probability(signatures, found.consequent, (turned,)) == Fraction(10, 19)


@cases(200)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=4).filter(lambda c: 0 < sum(c) <= 6), st.data())
def test_counting_equals_every_world(counts: list[int], data: st.DataObject) -> None:
    """Any values may be denied to any people, not only the most frequent ones as in a witness."""
    values = range(len(counts))
    denied = data.draw(st.lists(st.frozensets(st.sampled_from(values)), max_size=sum(counts)))
    worlds = oracle.arrangements(tuple(counts))
    free = sum(all(value not in kind for value, kind in zip(world, denied, strict=False)) for world in worlds)
    assert probability_of_none(sum(counts), dict(enumerate(counts)), denied) == Fraction(free, len(worlds))
