"""Linkage with an identified table against brute force, on both engines."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import NullPolicy, Roles, Target
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.read import read_hierarchies
from sqlaudit.release.attacks.request import AttackRequest, pair_of
from sqlaudit.release.attacks.run import attack_release
from tests.audit_values import values_query
from tests.release import attack_oracle as oracle
from tests.strategies import run

RELEASE = {"zip": "text", "age": "text", "s": "text", "id": "int"}
PEOPLE = {"plz": "text", "age": "text", "name": "text", "id": "int"}


def link(
    engine: Engine,
    release: list[dict[str, Any]],
    people: list[dict[str, Any]],
    *,
    nulls: str = "equal",
    kinds: dict[str, str] | None = None,
    **request: Any,
) -> Any:
    targets = Target(query=values_query(release, RELEASE)), Target(query=values_query(people, kinds or PEOPLE))
    roles = Roles(("zip", "age"), ("s",), nulls=NullPolicy(nulls))
    match = (("zip", "plz"), ("age", "age"))
    attacks = AttackRequest(targets[0], roles, identified=targets[1], match=match, only=("linkage",), **request)
    return attack_release(engine, attacks)


@st.composite
def two_tables(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A release and people, with NULLs, twins, strangers, and `*` for some cells."""
    zips, ages = st.sampled_from(["1", "2", "*", None]), st.sampled_from(["a", "b", None])
    rows = draw(st.lists(st.tuples(zips, ages, st.sampled_from(["x", "y", None])), max_size=8))
    people = draw(st.lists(st.tuples(st.sampled_from(["1", "2", "3", None]), ages), max_size=6))
    ids = draw(st.permutations([1, 2, 3, 4, 5, 6, 7, 8, None]))
    release = [{"zip": z, "age": a, "s": s, "id": ids[i]} for i, (z, a, s) in enumerate(rows)]
    return release, [{"plz": z, "age": a, "name": "n", "id": i + 1} for i, (z, a) in enumerate(people)]


def fitting(nulls: str) -> oracle.Fits:
    """What fits under a policy for NULLs; `*` fits everything."""

    def fits(cell: Any, value: Any) -> bool:
        if cell == "*":
            return True
        if cell is None or value is None:
            return nulls == "wildcard" or (nulls == "equal" and cell is value)
        return bool(cell == value)

    return fits


def test_linkage_is_what_brute_force_finds(engine: Engine) -> None:
    @run(*((20, 3) if engine.name == "PostgreSQL" else (40, 8)))
    @given(two_tables(), st.sampled_from(["equal", "distinct", "wildcard"]), st.integers(1, 4))
    def check(tables: tuple[list[dict[str, Any]], list[dict[str, Any]]], nulls: str, k: int) -> None:
        release, people = tables
        result = link(engine, release, people, nulls=nulls, k=k, key=("id", "id"))
        match = [("zip", "plz"), ("age", "age")]
        expected = oracle.linkage(release, people, match, fitting(nulls), k, "s", ("id", "id"))
        found = result.exposure("linkage")
        assert (found.exposed, found.of) == (expected["unique"], expected["people"])
        names = {"rows_unique": "rows_of_one_person", "known": "in_release"}
        for name, value in expected.items():
            if name not in ("people", "attribute", "attribute_only", "expected"):
                assert found.figures[names.get(name, name)] == value, name
        without_key = link(engine, release, people, nulls=nulls, k=k).exposure("linkage")
        assert without_key.figures["expected_right"] == expected["expected"]
        learned = result.exposure("linkage_attribute", "s")
        assert (learned.exposed, learned.figures["without_identity"]) == (
            expected["attribute"],
            expected["attribute_only"],
        )

    check()


def test_numbers_match_whatever_their_type(engine: Engine) -> None:
    release = [{"zip": "13053", "age": "30", "s": "flu", "id": 1}, {"zip": "13053", "age": "31.5", "s": "flu", "id": 2}]
    people = [{"plz": 13053, "age": 30.0, "name": "Ann", "id": 1}, {"plz": 13053, "age": 31.5, "name": "Bob", "id": 3}]
    for kind in ("float", "decimal"):
        kinds = {"plz": "int", "age": kind, "name": "text", "id": "int"}
        found = link(engine, release, people, kinds=kinds, key=("id", "id")).exposure("linkage")
        assert (found.exposed, found.figures["confirmed_unique"], found.figures["wrong_unique"]) == (2, 1, 1)
        assert found.figures["expected_right"] == Fraction(1)


def test_odd_names_and_what_is_refused(engine: Engine) -> None:
    columns = {'a "b"; --': "text", "😀": "int", "s": "text"}
    rows = [{'a "b"; --': "1", "😀": 2, "s": "it's"}]
    targets = Target(query=values_query(rows, columns)), Target(query=values_query(rows, columns))
    roles = Roles(('a "b"; --', "😀"), ("s",))
    found = attack_release(engine, AttackRequest(targets[0], roles, identified=targets[1]))
    assert found.exposure("linkage").exposed == 1
    with pytest.raises(UsageError, match=r"match: .* has no column 'agee'"):
        attack_release(engine, AttackRequest(targets[0], roles, identified=targets[1], match=(("agee", "agee"),)))
    twice = Target(query=values_query(rows * 2, columns))
    with pytest.raises(UsageError, match="1 row of the identified table repeat"):
        attack_release(engine, AttackRequest(targets[0], roles, identified=twice, key=("😀", "😀")))
    with pytest.raises(UsageError, match="needs a table to link with"):
        AttackRequest(targets[0], roles, match=(("a", "a"),))
    with pytest.raises(UsageError, match="is not a pair"):
        pair_of("=b")


def test_persons_are_not_rows(engine: Engine) -> None:
    rows = [{"zip": "1", "age": "a", "s": "x", "id": 1}]
    target = Target(query=values_query(rows, RELEASE))
    roles = Roles(("zip",), ("s",), entity="id")
    result = attack_release(engine, AttackRequest(target, roles, identified=target))
    assert next(one for one in result.not_tried if one.attack == "linkage").reason.startswith("It counts rows")


AGES = list(range(18, 44))
SPELLED: dict[str, list[int]] = {
    "*": AGES,
    "3*": list(range(30, 40)),
    "[20-30)": list(range(20, 30)),
    "20-29": list(range(20, 30)),
    "[25, 35]": list(range(25, 36)),
    "<30": list(range(18, 30)),
    "≥40": [40, 41, 42, 43],
    ">=40": [40, 41, 42, 43],
    "{31, 33}": [31, 33],
    "34": [34],
    "grown up": [age for age in AGES if age >= 21],
}
ZIPS = ["13053", "13068", "14850", "14853"]
MASKED = {"130**": ZIPS[:2], "148**": ZIPS[2:], "1305*": ZIPS[:1], "*": ZIPS, "14850": ["14850"]}
TREE = {"age": {"values": {str(age): ["minor" if age < 21 else "grown up"] for age in AGES}}}


@st.composite
def generalized(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A locally recoded release in every spelling of cells, and people."""
    cells = st.tuples(st.sampled_from(list(MASKED)), st.sampled_from(list(SPELLED)), st.sampled_from(["x", "y"]))
    rows = draw(st.lists(cells, max_size=7))
    people = draw(st.lists(st.tuples(st.sampled_from(ZIPS), st.sampled_from(AGES)), max_size=6))
    return (
        [{"zip": z, "age": a, "s": s, "id": i} for i, (z, a, s) in enumerate(rows)],
        [{"plz": z, "age": a, "name": "n", "id": i} for i, (z, a) in enumerate(people)],
    )


def test_generalized_cells_in_every_spelling(engine: Engine) -> None:
    def fits(cell: Any, value: Any) -> bool:
        return value in (SPELLED[cell] if isinstance(value, int) else MASKED[cell])

    known = {hierarchy.column: hierarchy for hierarchy in read_hierarchies(TREE).for_columns(("zip", "age"))}

    @run(*((15, 3) if engine.name == "PostgreSQL" else (40, 8)))
    @given(generalized(), st.integers(1, 3))
    def check(tables: tuple[list[dict[str, Any]], list[dict[str, Any]]], k: int) -> None:
        release, people = tables
        kinds = {**PEOPLE, "age": "int"}
        found = link(engine, release, people, kinds=kinds, k=k, hierarchies=known).exposure("linkage")
        expected = oracle.linkage(release, people, [("zip", "plz"), ("age", "age")], fits, k)
        assert (found.exposed, found.of) == (expected["unique"], len(people))
        assert (found.figures["matched"], found.figures["below_k"], found.figures["expected_right"]) == (
            expected["matched"],
            expected["below_k"],
            expected["expected"],
        )
        assert found.figures["rows_of_one_person"] == expected["rows_unique"]

    check()
