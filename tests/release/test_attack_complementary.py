"""Two releases joined, against brute force on both engines, and against the truth that brute force bounds."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.spec import NullPolicy, Roles, Target
from sqlaudit.engines.contract import Engine
from sqlaudit.release.attacks.request import AttackRequest
from sqlaudit.release.attacks.result import Exposure
from sqlaudit.release.attacks.run import attack_release
from tests.audit_values import values_query
from tests.release import attack_oracle as oracle
from tests.strategies import run

COLUMNS = {"zip": "text", "age": "text", "job": "text", "s": "text"}
Rows = list[dict[str, Any]]


def join(engine: Engine, first: Rows, second: Rows, qi: tuple[str, ...], other_qi: tuple[str, ...], k: int) -> Exposure:
    targets = Target(query=values_query(first, COLUMNS)), Target(query=values_query(second, COLUMNS))
    request = AttackRequest(
        targets[0], Roles(qi, ("s",)), k=k, other=targets[1], other_qi=other_qi, only=("complementary_releases",)
    )
    return attack_release(engine, request).exposure("complementary_releases")


def fits(one: Any, other: Any) -> bool:
    return "*" in (one, other) or one == other


person = st.tuples(
    st.sampled_from(["1", "2"]),
    st.sampled_from(["a", "b", None]),
    st.sampled_from(["x", "y"]),
    st.sampled_from(["flu", "HIV", None]),
    st.sampled_from(["", "zip", "age"]),
    st.sampled_from(["", "zip", "age"]),
)


@st.composite
def releases(draw: st.DrawFn) -> tuple[Rows, Rows]:
    """One table released twice, with different cells as `*`."""
    both: tuple[Rows, Rows] = ([], [])
    for zip_code, age, job, s, *hidden in draw(st.lists(person, max_size=8)):
        for rows, column in zip(both, hidden, strict=True):
            row = {"zip": zip_code, "age": age, "job": job, "s": s}
            rows.append({**row, column: "*"} if column else row)
    return both


def test_joined_classes_are_those_of_brute_force(engine: Engine) -> None:
    @run(*((20, 3) if engine.name == "PostgreSQL" else (50, 8)))
    @given(
        releases(), st.sampled_from([(("zip", "age"), ("zip", "age")), (("zip",), ("age", "job"))]), st.integers(1, 4)
    )
    def check(both: tuple[Rows, Rows], columns: tuple[tuple[str, ...], tuple[str, ...]], k: int) -> None:
        first, second = both
        found = join(engine, first, second, *columns, k)
        expected = oracle.joined(first, second, *columns, ["s"], fits, k)
        assert {
            "classes": found.figures["joined_classes"],
            "below_k": found.figures["below_k"],
            "at_most": found.figures["at_most"],
            "revealed": found.figures["revealed"],
        } == expected
        places = [
            tuple(tuple(row[name] for name in qi) for row, qi in zip(pair, columns, strict=True))
            for pair in zip(first, second, strict=True)
        ]
        true = Counter(places)
        in_small = sum(n for n in true.values() if n < k)
        assert found.figures["at_least"] <= len(places)
        assert found.figures["at_least"] <= found.figures["at_most"]
        assert found.figures["at_least"] <= in_small

    check()


def test_two_safe_releases_are_unsafe_together(engine: Engine) -> None:
    """2-anonymous by zip and 2-anonymous by job, but zip and job and disease together leave one person each."""
    table = [("1", "x", "flu"), ("1", "y", "HIV"), ("2", "x", "cold"), ("2", "y", "ulcer")]
    rows = [{"zip": z, "age": None, "job": j, "s": s} for z, j, s in table]
    found = join(engine, rows, rows, ("zip",), ("job",), 2)
    assert (found.exposed, found.of) == (4, 4)
    assert (found.figures["newly_below_k"], found.figures["newly_revealed"]) == (4, 4)
    assert "4 of them are newly smaller than 2 (4 to 4 people)" in found.sentence


def test_what_complementary_releases_need(engine: Engine) -> None:
    rows = [{"zip": "1", "age": None, "job": "x", "s": "flu"}]
    targets = Target(query=values_query(rows, COLUMNS)), Target(query=values_query(rows, {"job": "text"}))

    def reason(roles: Roles, other: Target | None) -> str:
        result = attack_release(engine, AttackRequest(targets[0], roles, other=other))
        return {one.attack: one.reason for one in result.not_tried}["complementary_releases"]

    assert reason(Roles(("zip",), ("s",)), None).startswith("It needs another release")
    assert reason(Roles(("zip",), ("s",)), targets[1]) == "The other release has none of the columns."
    assert "use nulls='equal'" in reason(Roles(("job",), ("s",), nulls=NullPolicy.DISTINCT), targets[1])
    assert "leave out entity=" in reason(Roles(("job",), ("s",), entity="zip"), targets[1])
    empty = join(engine, [], [], ("zip",), ("zip",), 2)
    assert (empty.exposed, empty.of, empty.sentence) == (0, 0, "No group of one release matches a group of the other.")
