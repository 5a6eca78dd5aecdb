"""Minimality: every possible world of small tables, then the attack on tables in both engines."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Target
from sqlaudit.engines.contract import Engine
from sqlaudit.models.registry import parse_requirement
from sqlaudit.release.attacks import minimality
from sqlaudit.release.attacks.minimality import Budget, Rule, Split, TooLarge, posteriors, rule_of
from tests.audit_values import values_query
from tests.release import attack_oracle as oracle
from tests.strategies import run


def asked(*requirements: str) -> Rule:
    return rule_of([parse_requirement(text) for text in requirements])


@st.composite
def split_class(draw: st.DrawFn) -> tuple[list[str], list[list[int]]]:
    """The values of a class, and a partition of its people."""
    values = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=4))
    blocks: dict[int, list[int]] = {}
    for person in range(len(values)):
        blocks.setdefault(draw(st.integers(0, 2)), []).append(person)
    return values, list(blocks.values())


SINGLE = ["l=2", "l=3", "alpha=0.5", "alpha=2/3", "entropy_l=3/2", "recursive_l=c:1,l:2"]


@run(150)
@given(
    st.lists(split_class(), min_size=1, max_size=2),
    st.sampled_from([(text,) for text in SINGLE] + [("k=2", "l=2"), ("k=3",)]),
    st.booleans(),
)
def test_posteriors_are_those_over_all_worlds(
    classes: list[tuple[list[str], list[list[int]]]], required: tuple[str, ...], look_at_sizes: bool
) -> None:
    rule = asked(*required)
    if not look_at_sizes:
        rule = Rule(rule.holds)

    def is_safe(counts: Any) -> bool:
        return rule.holds(tuple(sorted(counts.values(), reverse=True)))

    expected = oracle.minimality([values for values, _ in classes], [[blocks for _, blocks in classes]], is_safe)
    splits = [
        Split([len(block) for block in blocks], list(Counter(values).values()), rule) for values, blocks in classes
    ]
    chance, found = posteriors([(split, 1) for split in splits])
    assert (chance > 0) == (expected is not None)
    if expected is None:
        return
    for (values, blocks), people, (split, learned) in zip(classes, expected, found, strict=True):
        sizes = sorted({len(block) for block in blocks})
        ordered = [(size, count) for size in dict.fromkeys(split.blocks) for count in sorted(set(split.counts))]
        by_place = dict(zip(ordered, learned, strict=True))
        assert sizes == sorted({size for size, _ in by_place})
        for block in blocks:
            for person in block:
                for value, count in Counter(values).items():
                    true = people[person].get(value, Fraction(0))
                    one = by_place[len(block), count]
                    assert abs(one.posterior - float(true)) < 1e-9
                    assert one.certain == (true == 1 and count < len(values))


def test_the_textbook_case() -> None:
    """Two people share a block, two others another one; the class holds HIV twice, and flu and cold once. With l = 2
    the finer node would have been safe unless one block holds HIV twice: so it does, in one of them."""
    split = Split([2, 2], [2, 1, 1], asked("l=2"))
    assert split.all_safe == Fraction(2, 3)
    chance, ((_, learned),) = posteriors([(split, 1)])
    assert abs(chance - 1 / 3) < 1e-15
    assert [(one.prior, one.posterior, one.certain) for one in learned] == [
        (Fraction(1, 4), 0.25, False),
        (Fraction(1, 2), 0.5, False),
    ]
    chance, ((_, learned),) = posteriors([(Split([2, 3], [2, 1, 1, 1], asked("l=2")), 1)])
    assert [(one.people, one.posterior, one.certain) for one in learned] == [
        (2, 0.0, False),
        (2, 1.0, True),
        (3, pytest.approx(1 / 3), False),
        (3, 0.0, False),
    ]


def test_what_cannot_be_counted_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TooLarge):
        Split([5, 5], [4, 3, 3], asked("l=3"), Budget(10))
    monkeypatch.setattr(minimality, "MAX_SIZE", 9)
    with pytest.raises(TooLarge):
        Split([5, 5], [4, 3, 3], asked("l=3"))
    assert Split([5, 5], [4, 3, 3], asked("l=2")).all_safe == 1
    assert Split([1, 9], [4, 3, 3], asked("l=2")).all_safe == 0


@run(200)
@given(split_class(), st.sampled_from([*SINGLE, "k=2", "k=3"]), st.integers(1, 4))
def test_what_a_size_decides_holds_for_every_draw(
    split: tuple[list[str], list[list[int]]], required: str, size: int
) -> None:
    values = split[0] + split[0][:2]
    rule, size = asked(required), min(size, len(values))
    counts = tuple(sorted(Counter(values).values(), reverse=True))
    found = {
        rule.holds(tuple(sorted(Counter(draw).values(), reverse=True))) for draw in itertools.combinations(values, size)
    }
    decided = rule.decided(size, counts)
    assert decided is None or found == {decided}


def test_rare_events_keep_their_digits() -> None:
    """Fifty classes that are nearly always safe: what is left of 1 - A R is far below the last digit of A R."""
    split = Split([2, 98], [50, 1, 49], asked("l=2"))
    many = Split([30, 70], [40, 30, 30], asked("l=2"))
    assert float(1 - many.all_safe) < 1e-8
    chance, (_, (_, learned)) = posteriors([(many, 3), (many, 1)])
    exact = 1 - many.all_safe**4
    assert chance == pytest.approx(float(exact), rel=1e-12)
    assert [one.posterior for one in learned] == pytest.approx(
        [
            float((one.prior - many.joint(one.block, count) * many.all_safe**3) / exact)
            for one, count in zip(learned, [30, 40, 30, 40], strict=True)
        ],
        rel=1e-12,
    )
    assert 0 < split.all_safe < 1


PEOPLE = [(34, "m"), (36, "m"), (31, "f"), (38, "f"), (37, "f"), (44, "m"), (46, "f"), (47, "f"), (48, "m")]
VALUES = ["HIV", "HIV", "flu", "cold", "ulcer", "flu", "cold", "ulcer", "burn"]
HIERARCHIES = {"age": {"widths": [10, 20]}, "sex": {"mask": [1]}}


def release(age: int, sex: int) -> list[dict[str, Any]]:
    """The people at a node: age in tens (1), twenties (2) or `*` (3); sex as it is (0) or masked (1, 2)."""

    def interval(years: int) -> str:
        width = 10 * age
        return "*" if age == 3 else f"[{years // width * width}, {years // width * width + width})"

    return [
        {"age": interval(years), "sex": "*" if sex else s, "d": d} for (years, s), d in zip(PEOPLE, VALUES, strict=True)
    ]


def attacked(
    engine: Engine, rows: list[dict[str, Any]], people: list[tuple[Any, ...]], *require: str, **more: Any
) -> Any:
    columns = {"age": "text", "sex": "text", "d": "text"}
    persons = [dict(zip(("age", "sex"), person, strict=True)) for person in people]
    return sqlaudit.attack(
        Target(query=values_query(rows, columns)),
        qi=["age", "sex"],
        sensitive="d",
        db=engine,
        only=["minimality"],
        identified=Target(query=values_query(persons, {"age": "int", "sex": "text"})),
        hierarchies=HIERARCHIES,
        require=list(require),
        **more,
    )


def test_the_attack_finds_who_made_the_finer_node_unsafe(engine: Engine) -> None:
    """Ages in tens, sex masked, l = 2: with sex as it was the two men in their thirties are the only block that can
    hold one value only, so both have HIV."""
    found = attacked(engine, release(1, 1), PEOPLE, "l=2").exposure("minimality")
    steps = {step["column"]: step for step in found.steps}
    assert (found.exposed, found.of, steps["sex"]["newly_certain"], steps["sex"]["level"]) == (2, 9, 2, 1)
    assert steps["sex"]["prior"] == Fraction(2, 5)
    assert steps["sex"]["posterior"] == 1
    assert "raises the chance of a value of d from 40.0% to 100% for at least one person" in found.sentence
    assert found.sentence.endswith("and makes 2 of 9 people (22.2%) certain.")
    assert "HIV" not in str(found.to_dict())


def test_the_attack_is_what_all_worlds_say(engine: Engine) -> None:
    """The step of sex by brute force over all worlds of both classes (5! times 4!)."""
    values = [VALUES[:5], VALUES[5:]]
    finer = [[[[0, 1], [2, 3, 4]], [[0, 3], [1, 2]]]]
    expected = oracle.minimality(values, finer, lambda counts: len(counts) >= 2)
    assert expected is not None
    best = max(share for people in expected for person in people for share in person.values())
    found = attacked(engine, release(1, 1), PEOPLE, "l=2").exposure("minimality")
    sex = next(step for step in found.steps if step["column"] == "sex")
    assert abs(float(sex["posterior"]) - float(best)) < 1e-12


def test_a_size_that_fails_anyway_tells_nothing(engine: Engine) -> None:
    """With k = 3 the two men are too few in every world: the finer node says nothing about values."""
    found = attacked(engine, release(1, 1), PEOPLE, "k=3", "l=2").exposure("minimality")
    sex = next(step for step in found.steps if step["column"] == "sex")
    assert (sex["chance_unsafe"], sex["newly_certain"]) == (1, 0)
    assert (sex["prior"], sex["posterior"], sex["highest"]) == (None, None, Fraction(2, 5))
    assert found.sentence == "The rejected finer nodes reveal nothing about d."


def test_what_minimality_refuses(engine: Engine) -> None:
    def reason(result: Any) -> str:
        return str({one.attack: one.reason for one in result.not_tried}["minimality"])

    assert "not t=0.2" in reason(attacked(engine, release(1, 1), PEOPLE, "t=0.2"))
    assert "finest node" in reason(attacked(engine, [{"age": "34", "sex": "m", "d": "flu"}], [(34, "m")], "l=1"))
    assert "1 group has a different size" in reason(attacked(engine, release(1, 1), PEOPLE[1:], "l=2"))
    with pytest.raises(UsageError, match="age: some cells of the release are not labels"):
        attacked(engine, release(1, 1), PEOPLE, "l=2", node=[2, 1])
    with pytest.raises(UsageError, match="node= has 1 levels"):
        attacked(engine, release(1, 1), PEOPLE, "l=2", node=[1])
    impossible = attacked(engine, release(3, 1), PEOPLE, "l=1").exposure("minimality")
    assert "not a minimal node for it" in impossible.note
    assert impossible.exposed == 0
