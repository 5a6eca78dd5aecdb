"""Who knows one row of a person, and who knows all of them: the worse of both is the verdict."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.errors import UsageError
from sqlaudit.engines.contract import Engine
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.text import render_text
from tests.audit_values import values_query
from tests.audits.unwarned import unwarned  # noqa: F401
from tests.cli.runner import run as command
from tests.few import LEAST
from tests.reports.schemas import validator
from tests.strategies import run

KINDS = {"person": "int", 'the "month"': "text", "clinic": "int", "ill": "text"}
QI = ['"the ""month"""', "clinic"]
rows = st.lists(
    st.tuples(
        st.integers(1, 5),
        st.sampled_from(["may", "May", None]),
        st.sampled_from([1, 2]),
        st.sampled_from(["a", "b", None]),
    ),
    min_size=LEAST,
    max_size=12,
)
REQUIRE = ["k=2", "l=2", "t=0.25", "alpha=0.6", "recursive_l=c:2,l:2", "entropy_l=1.5", "prosecutor_risk=0.4"]
VISITS = pd.DataFrame({"who": [1, 1, 2, 2, 3, 3], "clinic": list("abacbc"), "ill": list("xyxyxy")})


def table_of(rows: list[dict[str, Any]], kinds: dict[str, str]) -> str:
    return values_query(rows, kinds)


def with_profiles(table: list[tuple[Any, ...]], nulls: str) -> list[dict[str, Any]]:
    """The rows with a number for the set of all that is known of their person."""
    known: dict[int, set[Any]] = {}
    for number, (person, month, clinic, _) in enumerate(table):
        alone = number if nulls == "distinct" and None in (month, clinic) else None
        known.setdefault(person, set()).add((month, clinic, alone))
    numbers: dict[frozenset[Any], int] = {}
    for events in known.values():
        numbers.setdefault(frozenset(events), len(numbers))
    return [{"person": person, "profile": numbers[frozenset(known[person])], "ill": ill} for person, _, _, ill in table]


def figures(result: AuditResult) -> list[tuple[Any, ...]]:
    return [
        (check.text, check.level, check.status, check.failing_classes, check.failing_rows, check.failing_share)
        for check in result.checks
    ]


def test_persons_with_the_same_combinations_are_alike_however_often_they_have_each(engine: Engine) -> None:
    """Of each set of up to five combinations of six there are persons who have each once, and some once more."""
    sets = [chosen for size in range(1, 6) for chosen in combinations([*range(1, 6), None], size)]
    persons = [part + part[:more] for part in sets for more in (0, 1, 3)]
    table = [{"person": number, "clinic": clinic} for number, one in enumerate(persons) for clinic in one]
    query = values_query(table, {"person": "int", "clinic": "int"})
    found = sqlaudit.audit(query=query, qi=["clinic"], entity="person", known_rows="all", require=["k=4"], db=engine)
    assert (len(sets), len(persons), found.classes.sizes) == (62, 186, ((3, 62),))
    assert (found.checks[0].level, found.checks[0].failing_classes) == (3, 62)


@pytest.mark.parametrize("nulls", ["equal", "distinct"])
def test_all_rows_of_a_person_are_one_class(engine: Engine, nulls: str) -> None:
    """As if each row told the set of everything that its person's rows tell."""

    @run(*((25, 2) if engine.dialect == "duckdb" else (4, 2)))
    @given(rows)
    def compare(table: list[tuple[Any, ...]]) -> None:
        query = values_query([dict(zip(KINDS, one, strict=True)) for one in table], KINDS)
        more: dict[str, Any] = {"sensitive": "ill", "entity": "person", "require": REQUIRE, "db": engine}
        one = sqlaudit.audit(query=query, qi=QI, known_rows="one", nulls=nulls, **more)
        every = sqlaudit.audit(query=query, qi=QI, known_rows="all", nulls=nulls, **more)
        both = sqlaudit.audit(query=query, qi=QI, nulls=nulls, **more)
        told = values_query(with_profiles(table, nulls), {"person": "int", "profile": "int", "ill": "text"})
        profiles = sqlaudit.audit(query=told, qi=["profile"], known_rows="one", **more)
        assert figures(every) == figures(profiles)
        for first, second, worse in zip(one.checks, every.checks, both.checks, strict=True):
            assert {worse.status} <= {first.status, second.status}
            assert (worse.status == "pass") == (first.status == second.status == "pass")
            if worse.known_rows is None:
                assert (worse.level, worse.status) == (first.level, first.status) == (second.level, second.status)
            else:
                assert (worse.known_rows.one.level, worse.known_rows.one.failing_rows) == (
                    first.level,
                    first.failing_rows,
                )
                assert (worse.known_rows.all.level, worse.known_rows.all.failing_rows) == (
                    second.level,
                    second.failing_rows,
                )

    compare()


def test_one_row_may_be_worse_than_all() -> None:
    """In each clinic there is one illness, and whoever knows both clinics of somebody learns less of each row."""
    visits = pd.DataFrame({"who": [1, 1, 2, 2], "clinic": list("abab"), "ill": list("xyxy")})
    (check,) = sqlaudit.audit(visits, qi=["clinic"], sensitive="ill", entity="who", require=["l=2"]).checks
    assert (check.level, check.status) == (1, "fail")
    assert check.known_rows is not None
    assert (check.known_rows.worse, check.known_rows.one.level, check.known_rows.all.level) == ("one", 1, 2)
    every = sqlaudit.audit(visits, qi=["clinic"], sensitive="ill", entity="who", require=["l=2"], known_rows="all")
    assert every.passed


@pytest.mark.parametrize(
    ("known", "passed", "headline"),
    [
        ("worse", False, "FAIL: the requirement is not met"),
        ("one", True, "PASS: the requirement is met (attackers who know one row of a person)"),
        ("all", False, "FAIL: the requirement is not met (attackers who know all rows of a person)"),
    ],
)
def test_the_verdict_is_the_worse_unless_it_is_narrowed(known: str, passed: bool, headline: str) -> None:
    result = sqlaudit.audit(VISITS, qi=["clinic"], entity="who", require=["k=2"], known_rows=known)
    assert result.passed is passed
    said = " ".join(render_text(document_of(result)).split())
    assert said.startswith(headline + " frame: ")
    data = json.loads(json.dumps(result.to_dict()))
    validator("audit").validate(data)
    assert data["roles"].get("known_rows", "worse") == known
    if known == "worse":
        assert "(k is 2 for an attacker who knows one row of a person, 1 for one who knows all)" in said
        assert data["checks"][0]["known_rows"] == {
            "worse": "all",
            "one": {"level": 2, "status": "pass", "failing_classes": 0, "failing_rows": 0, "failing_share": 0},
            "all": {"level": 1, "status": "fail", "failing_classes": 3, "failing_rows": 6, "failing_share": 1},
        }
        assert data["persons"]["profile"] == {"k": 1, "unique_persons": 3, "exposed_persons": 3, "classes": 3}
        assert data["failing_unnamed"] == [
            "'k=2' against attackers who know all rows of a person is about groups of people, not of rows."
        ]


@pytest.mark.parametrize("known", ["worse", "one", "all"])
def test_persons_with_one_combination_are_judged_once(known: str) -> None:
    people = pd.DataFrame({"who": [1, 1, 2, 3], "clinic": list("aaaa")})
    result = sqlaudit.audit(people, qi=["clinic"], entity="who", require=["k=3"], known_rows=known)
    assert [(check.level, check.known_rows) for check in result.checks] == [(3, None)]
    assert render_text(document_of(result)).startswith("PASS: the requirement is met\n")
    assert result.persons is None


def test_events_are_counted_whoever_is_asked_about() -> None:
    """`km` names what is known; it is not counted among sets of sets."""
    for known in ("worse", "one", "all"):
        result = sqlaudit.audit(VISITS, qi=["clinic"], entity="who", require=["km@1=2", "km@2=2"], known_rows=known)
        assert [(check.level, check.status) for check in result.checks] == [(2, "pass"), (1, "fail")]


def test_nobody_without_a_row_is_safe() -> None:
    result = sqlaudit.audit(VISITS[:0], qi=["clinic"], entity="who", require=["k=2"])
    assert [check.status for check in result.checks] == ["undetermined"]
    alone = sqlaudit.audit(VISITS[:2], qi=["clinic"], entity="who", require=["k=2"])
    assert [(check.level, check.status) for check in alone.checks] == [(1, "fail")]
    nameless = pd.DataFrame({"who": [1, 1, None], "clinic": list("aba")})
    with pytest.raises(UsageError, match="1 row has no value in the entity column"):
        sqlaudit.audit(nameless, qi=["clinic"], entity="who", require=["k=2"])


def test_what_cannot_be_judged_for_all_rows_is_refused() -> None:
    with pytest.raises(UsageError, match=r"3 of 3 people have more than one combination .* Use known_rows='one'"):
        sqlaudit.audit(VISITS, qi=["clinic"], entity="who", require=["k=2"], nulls="wildcard")
    assert sqlaudit.audit(
        VISITS, qi=["clinic"], entity="who", require=["k=2"], nulls="wildcard", known_rows="one"
    ).passed
    with pytest.raises(UsageError, match=r"known_rows='one' is about people with many rows\. Name the column"):
        sqlaudit.audit(VISITS, qi=["clinic"], require=["k=2"], known_rows="one")
    people = {"population": pd.concat([VISITS, VISITS.assign(who=VISITS.who + 3)])}
    more: dict[str, Any] = {"qi": ["clinic"], "entity": "who", "require": ["k_map=4"], "inputs": people}
    with pytest.raises(UsageError, match="'k_map=4' compares single rows with a population"):
        sqlaudit.audit(VISITS, known_rows="all", **more)
    (check,) = sqlaudit.audit(VISITS, **more).checks
    assert (check.level, check.status, check.known_rows) == (4, "pass", None)


def test_several_sensitive_columns_that_count_as_quasi_identifiers() -> None:
    """With `joint` the other column makes combinations of its own."""
    stays = pd.DataFrame({"who": [1, 1, 2, 2], "at": list("aaaa"), "ill": list("xyxx"), "paid": [1, 1, 1, 1]})
    result = sqlaudit.audit(stays, qi=["at"], sensitive=["ill", "paid"], entity="who", joint=True, require=["k=2"])
    told = {check.sensitive: (check.level, check.known_rows is not None) for check in result.checks}
    assert told == {"ill": (2, False), "paid": (1, True)}


def test_a_node_of_the_lattice_is_judged_for_both() -> None:
    """Of the four clinics each pair has two visitors; who knows both of somebody's finds one, or all by town."""
    visits = pd.DataFrame({"who": [1, 1, 2, 2, 3, 3, 4, 4], "clinic": [0, 2, 1, 3, 0, 3, 1, 2]})
    more: dict[str, Any] = {"qi": ["clinic"], "entity": "who", "hierarchies": {"clinic": {"widths": [2]}}}
    safe = {}
    for known in ("worse", "one", "all"):
        found = sqlaudit.lattice(visits, require=["k=2"], find="all", algorithm="exhaustive", known_rows=known, **more)
        safe[known] = [node.levels for node in found.safe_nodes]
    assert safe == {"worse": [(1,), (2,)], "one": [(0,), (1,), (2,)], "all": [(1,), (2,)]}
    with pytest.raises(UsageError, match=r"Search without suppress=, or use known_rows='one'"):
        sqlaudit.lattice(visits, require=["k=2"], suppress="50%", **more)
    left = sqlaudit.lattice(visits, require=["k=2"], suppress="50%", known_rows="one", **more)
    assert left.best is not None
    assert left.best.levels == (0,)


def test_every_node_is_judged_as_an_audit_of_its_labels(engine: Engine) -> None:
    @run(*((12, 3) if engine.dialect == "duckdb" else (3, 2)))
    @given(
        st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3), st.sampled_from("ab")), min_size=LEAST, max_size=8),
        st.sampled_from(["worse", "one", "all"]),
        st.sampled_from([["k=2"], ["k=2", "l=2"], ["l=2", "km@2=2"], ["t=0.3"]]),
    )
    def compare(table: list[tuple[Any, ...]], known: str, require: list[str]) -> None:
        kinds = {"who": "int", "clinic": "int", "ill": "text"}
        query = values_query([dict(zip(kinds, one, strict=True)) for one in table], kinds)
        more: dict[str, Any] = {"sensitive": "ill", "entity": "who", "known_rows": known, "require": require}
        more |= {"query": query, "db": engine}
        widths = {"clinic": {"widths": [2]}}
        found = sqlaudit.lattice(qi=["clinic"], hierarchies=widths, find="all", algorithm="exhaustive", **more)
        safe = {node.levels[0] for node in found.safe_nodes}
        for level, label in enumerate(("clinic", "clinic - clinic % 2", "clinic * 0")):
            assert (level in safe) == sqlaudit.audit(qi=[label], **more).passed, level

    compare()


def test_a_release_is_audited_for_whom_it_was_searched(tmp_path: Path) -> None:
    visits = pd.DataFrame({"who": [1, 1, 2, 2, 3, 3, 4, 4], "clinic": [0, 2, 1, 3, 0, 3, 1, 2]})
    for known in ("worse", "one", "all"):
        to = tmp_path / f"{known}.csv"
        found = sqlaudit.lattice(visits, qi=["clinic"], entity="who", require=["k=2"], known_rows=known, to=to)
        assert found.best is not None
        assert to.exists()


def test_the_console_says_for_whom(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    VISITS.to_csv(path, index=False)
    asked = ["-c", "\\qi clinic", "-c", "\\entity who", "-c", "\\require k=2"]
    assert "FAIL: the requirement is not met" in command("console", path, *asked, "-c", "\\audit").out
    ran = command("console", path, *asked, "-c", "\\known_rows one", "-c", "\\audit")
    assert "PASS: the requirement is met (attackers who know one row of a person)" in " ".join(ran.out.split())


def test_the_command_and_a_policy_say_for_whom(tmp_path: Path) -> None:
    VISITS.to_csv(tmp_path / "visits.csv", index=False)
    ran = command("audit", tmp_path / "visits.csv", "--qi", "clinic", "--entity", "who", "--require", "k=2")
    assert ran.code == 1
    one = command(
        "audit", tmp_path / "visits.csv", "--qi", "clinic", "--entity", "who", "--require", "k=2", "--known-rows", "one"
    )
    assert one.code == 0
    policy = tmp_path / "policy.yml"
    text = "version: 1\ntables:\n  - file: visits.csv\n    quasi_identifiers: [clinic]\n    entity: who\n"
    policy.write_text(text + "    requirements: [k=2]\n", encoding="utf-8")
    failed = sqlaudit.gate(policy)
    assert [test.outcome.value for test in failed.tests] == ["fail"]
    policy.write_text(text + "    known_rows: one\n    requirements: [k=2]\n", encoding="utf-8")
    assert [test.outcome.value for test in sqlaudit.gate(policy).tests] == ["pass"]
