"""Attacks on classes against brute force, on both engines, and the tables of the literature."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import NullPolicy, Roles, Target
from sqlaudit.engines.contract import Engine
from sqlaudit.release.attacks.request import AttackRequest
from sqlaudit.release.attacks.result import AttackResult
from sqlaudit.release.attacks.run import attack_release
from sqlaudit.release.attacks.values import TIMES, worst_choices
from tests.audit_values import values_query
from tests.release import attack_oracle as oracle
from tests.strategies import run

COLUMNS = {"a": "int", "b": "text", "s": "text", "n": "int", "person": "int"}
VALUES = ["flu", "cold", "HIV", "a 'quoted'; --", "😀"]
CATEGORIES = {"breath": ["flu", "cold"], "other": ["HIV", "a 'quoted'; --", "cold"], "face": ["😀", None]}


def attack(engine: Engine, rows: list[dict[str, Any]], *, sensitive: str = "s", **request: Any) -> AttackResult:
    target = Target(query=values_query(rows, COLUMNS), label="release")
    given_roles = request.pop("roles", Roles(("a", "b"), (sensitive,)))
    return attack_release(engine, AttackRequest(target, given_roles, **request))


@st.composite
def tables(draw: st.DrawFn, rows: int = 12) -> list[dict[str, Any]]:
    """A release: few classes, ties, NULLs in every role, now and then empty."""
    row = st.fixed_dictionaries(
        {
            "a": st.sampled_from([1, 2, None]),
            "b": st.sampled_from(["x", None]),
            "s": st.sampled_from([*VALUES, None]),
            "n": st.sampled_from([10, 12, 15, -3, None]),
            "person": st.integers(1, 5),
        }
    )
    return draw(st.lists(row, max_size=rows))


def close(one: Any, other: Fraction | None) -> bool:
    return (one is None) == (other is None) and (
        other is None or abs(float(one) - float(other)) <= 1e-12 * float(other)
    )


def test_attacks_on_classes_are_what_brute_force_finds(engine: Engine) -> None:
    @run(*((40, 4) if engine.name == "PostgreSQL" else (100, 14)))
    @given(tables(), st.integers(0, 3), st.sampled_from([Fraction(1, 2), Fraction(2, 3), Fraction(1)]))
    def check(rows: list[dict[str, Any]], pieces: int, sure: Fraction) -> None:
        result = attack(engine, rows, pieces=pieces, sure=sure, inputs={"categories": CATEGORIES})
        qi = ["a", "b"]
        alike = oracle.homogeneity(rows, qi, "s")
        found = result.exposure("homogeneity")
        assert (found.exposed, found.of, found.figures["classes"]) == (alike["exposed"], len(rows), alike["classes"])
        right = found.figures["right_guesses"]
        assert right == (Fraction(alike["right_guesses"], len(rows)) if rows else None)
        assert found.figures["nearly_sure"] == oracle.nearly_sure(rows, qi, "s", 0, sure)
        for m, step in enumerate(result.exposure("background_knowledge").steps):
            assert step["nearly_sure"] == oracle.nearly_sure(rows, qi, "s", m, sure)
            certain, highest = oracle.background(rows, qi, "s", m)
            assert (step["certain"], step["certain_if_ruled_out_for_all"]) == (
                certain,
                oracle.demographic(rows, qi, "s", m),
            )
            assert close(step["highest"], highest)
            assert step["proven"]
        lift, above = oracle.skewness(rows, qi, "s", TIMES)
        found = result.exposure("skewness")
        assert close(found.figures["largest_posterior_over_prior"], lift)
        assert [step["exposed"] for step in found.steps] == above
        assert result.exposure("similarity").exposed == oracle.in_one_category(rows, qi, "s", CATEGORIES)

    check()


def test_ranges_of_numbers(engine: Engine) -> None:
    @run(*((20, 3) if engine.name == "PostgreSQL" else (60, 8)))
    @given(tables(), st.sampled_from([Fraction(0), Fraction(2), Fraction(5, 2), Fraction(18)]))
    def check(rows: list[dict[str, Any]], width: Fraction) -> None:
        found = attack(engine, rows, sensitive="n", width=width).exposure("similarity")
        assert found.exposed == oracle.in_one_range(rows, ["a", "b"], "n", width)

    check()


def test_more_values_than_lanes_give_the_same(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second physical form of classes."""
    rows = [{"a": i % 3, "b": "x", "s": VALUES[i * i % 5] if i % 3 else "flu", "n": i, "person": i} for i in range(30)]
    packed = attack(engine, rows, inputs={"categories": CATEGORIES})
    monkeypatch.setattr("sqlaudit.classes.histogram.PACKED_VALUES", 1)
    again = attack(engine, rows, inputs={"categories": CATEGORIES})
    assert (again.exposures, again.not_tried) == (packed.exposures, packed.not_tried)
    assert [done.name for done in packed.statements if "homogeneity" in done.name] == ["attack homogeneity on s"]
    assert packed.exposure("homogeneity").exposed == 10


def test_persons_are_counted_with_an_entity(engine: Engine) -> None:
    rows = [
        {"a": 1, "b": "x", "s": "flu", "n": 1, "person": 1},
        {"a": 1, "b": "x", "s": "flu", "n": 1, "person": 1},
        {"a": 1, "b": "x", "s": "flu", "n": 1, "person": 2},
        {"a": 2, "b": "x", "s": "flu", "n": 1, "person": 3},
        {"a": 2, "b": "x", "s": "HIV", "n": 1, "person": 3},
    ]
    result = attack(engine, rows, roles=Roles(("a", "b"), ("s",), entity="person"))
    found = result.exposure("homogeneity")
    assert (found.exposed, found.of, found.unit, result.smallest) == (2, 3, "persons", 1)


BARRIERS_TABLE_5 = [
    ("936**", "≤30", "Liver Disease"),
    ("936**", "≤30", "Liver Disease"),
    ("9390*", "≥40", "Cancer"),
    ("9390*", "≥40", "Flu"),
    ("936**", "3*", "Heart Disease"),
    ("936**", "3*", "Cancer"),
]
BARRIERS_TABLE_4 = [
    ("≥40", "021**", "Viral Infection"),
    ("≥40", "021**", "Heart Disease"),
    ("3*", "0223*", "Cancer"),
    ("≤30", "021**", "Fever"),
    ("3*", "0223*", "Cancer"),
    ("3*", "0223*", "Cancer"),
    ("≥40", "021**", "Viral Infection"),
    ("≤30", "021**", "Cancer"),
    ("≤30", "021**", "Short of breath"),
    ("≥40", "021**", "Viral Infection"),
    ("3*", "0223*", "Cancer"),
    ("≤30", "021**", "Viral Infection"),
]


def paper(engine: Engine, rows: list[tuple[str, ...]], qi: tuple[str, str], s: str, **request: Any) -> AttackResult:
    names = (*qi, s)
    query = values_query([dict(zip(names, row, strict=True)) for row in rows], dict.fromkeys(names, "text"))
    return attack_release(engine, AttackRequest(Target(query=query), Roles(qi, (s,)), **request))


def test_table_4_of_barriers_as_released(engine: Engine) -> None:
    """The release of Table 4 is homogeneous for the class 3*, 0223*, as the paper says. It changes values of the
    original (rows 3, 5 and 11 become cancer), so it is no pair with the table beside it; the attack needs none."""
    result = paper(engine, BARRIERS_TABLE_4, ("age", "zip"), "problem", show_values=True)
    found = result.exposure("homogeneity")
    assert (result.smallest, found.exposed, found.of, found.figures["classes"]) == (4, 4, 12, 1)
    assert [(one.key, one.size, one.value) for one in found.examples] == [
        ({"age": "3*", "zip": "0223*"}, 4, ("Cancer",))
    ]
    assert "4 of 12 rows (33.3%) are in 1 group" in found.sentence


def test_table_5_of_barriers(engine: Engine) -> None:
    """Who knows that heart disease is out knows that the college has cancer: one value is enough for everybody."""
    result = paper(engine, BARRIERS_TABLE_5, ("zip", "age"), "disease", pieces=1)
    steps = result.exposure("background_knowledge").steps
    assert [(step["certain"], step["certain_if_ruled_out_for_all"]) for step in steps] == [(2, 2), (6, 4)]
    assert steps[0]["highest_of_the_rest"] == 0.5


def test_the_example_of_skewness_in_the_thesis(engine: Engine) -> None:
    """One positive and one negative test in a class: 50%, where 1 of 100 is positive in the table."""
    rows = [("q", "2*", "pos")] + [("q", "2*", "neg")] + [("q", "3*", "neg")] * 98
    found = paper(engine, rows, ("zip", "age"), "test").exposure("skewness")
    assert found.figures["largest_posterior_over_prior"] == 50
    assert found.exposed == 1


def test_values_stay_hidden_unless_asked_for(engine: Engine) -> None:
    result = paper(engine, BARRIERS_TABLE_5, ("zip", "age"), "disease")
    text = str(result.to_dict())
    assert not [value for row in BARRIERS_TABLE_5 for value in row if value in text]
    shown = str(paper(engine, BARRIERS_TABLE_5, ("zip", "age"), "disease", show_values=True).to_dict())
    assert "Liver Disease" in shown


def test_what_is_not_tried_says_why(engine: Engine) -> None:
    rows = [{"a": 1, "b": "x", "s": "flu", "n": 1, "person": 1}]
    result = attack(engine, rows)
    assert [one.attack for one in result.not_tried] == [
        "linkage",
        "similarity",
        "unsorted_matching",
        "complementary_releases",
        "minimality",
    ]
    wild = attack(engine, rows, roles=Roles(("a", "b"), ("s",), nulls=NullPolicy.WILDCARD))
    assert {one.attack for one in wild.not_tried} >= {"homogeneity", "background_knowledge", "skewness", "similarity"}
    assert wild.classes is None
    bare = attack(engine, rows, roles=Roles(("a", "b")))
    assert {one.attack: one.reason for one in bare.not_tried}["homogeneity"] == (
        "It needs a sensitive attribute (sensitive=)."
    )
    with pytest.raises(UsageError, match="are neither"):
        attack(engine, rows, width=Fraction(1))


def test_values_ruled_out_for_all_are_greedy_where_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    classes = [({0: 1, 1: 1}, 3), ({0: 2, 2: 1, 3: 1}, 1), ({4: 5}, 1)]
    exact = worst_choices(classes, 2)
    assert [(one.lanes, one.certain, one.proven) for one in exact] == [
        ((), 5, True),
        ((0,), 8, True),
        ((0, 2), 9, True),
    ]
    monkeypatch.setattr("sqlaudit.release.attacks.values.MAX_CHOICES", 1)
    greedy = worst_choices(classes, 2)
    assert [one.proven for one in greedy] == [True, False, False]
    assert [one.certain for one in greedy] == [5, 8, 9]
