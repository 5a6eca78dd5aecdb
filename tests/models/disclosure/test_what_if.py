"""The probability of an atom given stated implications: against every world."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.errors import UsageError
from sqlaudit.models.disclosure.witness import Atom, BasicImplication, ContradictoryKnowledge, what_if

from . import oracle
from .strategies import Classes, cases, small

MEN = {"flu": 2, "lung cancer": 2, "mumps": 1}
WOMEN = {"flu": 2, "breast cancer": 1, "ovarian cancer": 1, "heart disease": 1}
TABLE = {"men": MEN, "women": WOMEN}
PEOPLE = {"Charlie": "men", "Ed": "men", "Bob": "men", "Hannah": "women"}


def implies(left: str, right: str) -> BasicImplication:
    """ "Ed flu, Bob flu" -> "Hannah flu"; an empty text is no atom."""

    def atoms(text: str) -> tuple[Atom, ...]:
        return tuple(Atom(*part.strip().split(" ", 1)) for part in text.split(",") if part.strip())

    return BasicImplication(atoms(left), atoms(right))


def ask(who: str, what: str, *knowledge: BasicImplication) -> Fraction:
    return what_if(Atom(who, what), knowledge, PEOPLE, TABLE).probability


def test_the_examples_of_the_paper() -> None:
    assert ask("Ed", "lung cancer") == Fraction(2, 5)
    assert ask("Ed", "lung cancer", implies("Ed mumps", "")) == Fraction(1, 2)
    assert ask("Ed", "lung cancer", implies("Ed mumps", ""), implies("Ed flu", "")) == 1
    assert ask("Charlie", "flu", implies("Hannah flu", "Charlie flu")) == Fraction(10, 19)


def test_a_negation_in_the_papers_form_is_the_same() -> None:
    assert ask("Ed", "lung cancer", implies("Ed mumps", "Ed ovarian cancer")) == Fraction(1, 2)
    assert ask("Ed", "lung cancer", implies("Ed mumps", "Ed flu")) == Fraction(1, 2)


def test_facts_conjunctions_and_disjunctions() -> None:
    assert ask("Ed", "flu", implies("", "Charlie flu")) == Fraction(1, 4)
    assert ask("Ed", "flu", implies("", "Ed flu, Ed mumps")) == Fraction(2, 3)
    # Of the 30 arrangements of the men, the one with Charlie and Ed both having the flu goes with Bob's mumps only.
    assert ask("Bob", "mumps", implies("Charlie flu, Ed flu", "Bob mumps")) == Fraction(6, 28)


def test_the_answer_says_how_likely_the_knowledge_was() -> None:
    found = what_if(Atom("Ed", "lung cancer"), [implies("Ed mumps", "")], PEOPLE, TABLE)
    assert (found.probability, found.prior, found.knowledge) == (Fraction(1, 2), Fraction(2, 5), Fraction(4, 5))
    assert found.terms == 2


@st.composite
def questions(draw: st.DrawFn) -> tuple[Classes, list[BasicImplication], Atom]:
    classes = draw(small(worlds=36, classes=3))
    values = max(map(len, classes))
    atom = st.builds(Atom, st.sampled_from(range(len(oracle.people(classes)))), st.sampled_from(range(values)))
    side = st.lists(atom, max_size=3).map(tuple)
    one = st.builds(BasicImplication, side, side).filter(lambda made: made.if_all or made.then_any)
    return classes, draw(st.lists(one, max_size=4)), draw(atom)


@cases(300)
@given(questions())
def test_every_world_agrees(question: tuple[Classes, list[BasicImplication], Atom]) -> None:
    classes, knowledge, asked = question
    table = np.array(oracle.worlds(classes))

    def true(atom: Atom) -> np.ndarray:  # type: ignore[type-arg]
        return table[:, atom.person] == atom.value

    possible = np.ones(len(table), dtype=bool)
    for item in knowledge:
        refuted = np.all([true(atom) for atom in item.if_all] + [possible | True], axis=0)
        possible &= ~refuted | np.any([true(atom) for atom in item.then_any] + [possible & False], axis=0)
    members = dict(enumerate(oracle.people(classes)))
    counts = {number: dict(enumerate(each)) for number, each in enumerate(classes)}
    if not possible.any():
        with pytest.raises(ContradictoryKnowledge):
            what_if(asked, knowledge, members, counts)
        return
    found = what_if(asked, knowledge, members, counts)
    assert found.knowledge == Fraction(int(possible.sum()), len(table))
    assert found.probability == Fraction(int((possible & true(asked)).sum()), int(possible.sum()))
    assert found.prior == Fraction(int(true(asked).sum()), len(table))


def test_people_who_are_not_mentioned_again_need_not_be_told_apart() -> None:
    """Fifty people who all point at one: 2**50 conjunctions, or fifty numbers of people with the flu."""
    members = dict.fromkeys(range(51), "all")
    knowledge = [BasicImplication((Atom(number, "flu"),), (Atom(0, "cold"),)) for number in range(1, 51)]
    found = what_if(Atom(0, "cold"), knowledge, members, {"all": {"flu": 30, "cold": 70}})
    assert found.terms < 300
    none = Fraction(1)  # the first has the flu, then fifty others do not: only 29 are left and 99 people
    for number in range(50):
        none *= Fraction(70 - number, 99 - number)
    assert found.probability == Fraction(7, 10) / (Fraction(7, 10) + Fraction(3, 10) * none)


def test_classes_that_nothing_connects_are_expanded_apart() -> None:
    names = range(12)
    members = {(name, person): name for name in names for person in (0, 1)}
    knowledge = [BasicImplication((Atom((name, 0), "a"),), (Atom((name, 1), "a"),)) for name in names]
    found = what_if(Atom((3, 1), "a"), knowledge, members, {name: {"a": 1, "b": 2} for name in names}, limit=10)
    assert (found.terms, found.probability) == (2, Fraction(1, 2))
    assert found.knowledge == Fraction(2, 3) ** 12


def test_past_the_bound_it_refuses_with_the_number() -> None:
    members = {number: number % 2 for number in range(16)}
    values = dict.fromkeys(range(16), 3)
    knowledge = [BasicImplication((Atom(number, number),), (Atom((number + 1) % 16, number),)) for number in range(16)]
    with pytest.raises(
        UsageError, match=r"^16 connected implications need \d+ or more conjunctions, the limit is 1000"
    ):
        what_if(Atom(0, 0), knowledge, members, {0: values, 1: values}, limit=1000)


def test_contradictions_are_told_from_other_errors() -> None:
    with pytest.raises(ContradictoryKnowledge, match=r"^the knowledge contradicts the table"):
        ask("Ed", "flu", implies("", "Ed heart disease"))
    with pytest.raises(ContradictoryKnowledge):
        ask("Hannah", "flu", implies("Ed flu", ""), implies("Ed lung cancer", ""), implies("", "Bob mumps"))


def test_what_cannot_be_asked_is_refused_without_naming_anybody() -> None:
    with pytest.raises(UsageError, match=r"^implication 2 names a person who is not in the table$"):
        ask("Ed", "flu", implies("Ed flu", ""), implies("Karen flu", "Ed flu"))
    with pytest.raises(UsageError, match=r"^the statement asked about names a person who is not in the table$"):
        ask("Karen", "flu")
    with pytest.raises(UsageError, match=r"^implication 1 has neither a condition nor a conclusion$"):
        ask("Ed", "flu", implies("", ""))
    with pytest.raises(UsageError, match=r"^2 persons are named in a class that has 1 rows$"):
        what_if(Atom(0, "a"), [BasicImplication((Atom(1, "a"),), ())], {0: 0, 1: 0}, {0: {"a": 1}})
