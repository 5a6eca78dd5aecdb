"""Persons who are named in several ways are no crowd: a requirement holds however they are named, or it fails."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.errors import UsageError
from sqlaudit.base.result import Status
from sqlaudit.base.spec import Target
from sqlaudit.engines.contract import Engine
from sqlaudit.models.check import Check
from tests.audit_values import values_query
from tests.engines.test_postgres_equality import make_folded
from tests.postgres_load import Loader
from tests.strategies import run

AuditOn = Callable[..., AuditResult]
NAMES = {"P1": ["P1", "p1 ", "P\u200b1", "P1\u00a0"], "Ann Lee": ["Ann Lee", "ann  lee"], "P2": ["P2"], "P-1": ["P-1"]}
REQUIRED = ["k=2", "l=2", "entropy_l=1.5", "t=0.4", "alpha=0.6", "average_risk=0.6"]
WORST = (Status.FAIL, Status.UNDETERMINED, Status.WARN, Status.PASS)
COLUMNS = {"q": "text", "s": "text", "p": "text"}
ALIKE = [
    {"q": q, "s": s, "p": p}
    for q, s, p in [("a", "flu", "P1"), ("a", "cold", "p1 "), ("b", "flu", "P2"), ("b", "cold", "P-1")]
]
ASKED: dict[str, Any] = {"qi": ["q"], "entity": "p"}
SAID = r"named in several ways by p, which differ only in case, .* entity='md5\(p\)'"


def same(check: Check) -> tuple[Any, ...]:
    return check.status, check.level, check.failing_classes, check.failing_rows


def meant(name: str) -> str:
    return next(person for person, written in NAMES.items() if name in written)


def apart(name: str) -> str:
    """Another text for each way to write a name, which nobody takes for another one."""
    return name.encode("utf-8").hex()


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["a", "b", None]),
            st.sampled_from(["flu", "cold", None]),
            st.sampled_from([one for written in NAMES.values() for one in written]),
        ),
        min_size=2,
        max_size=10,
    ),
    nulls=st.sampled_from(["equal", "distinct"]),
    known=st.sampled_from(["one", "worse"]),
    sensitive=st.booleans(),
)
@run(40)
def test_the_worse_of_written_and_meant_is_the_verdict(
    audit_on: AuditOn, rows: list[tuple[str | None, str | None, str]], nulls: str, known: str, sensitive: bool
) -> None:
    asked = ASKED | {"nulls": nulls, "known_rows": known}
    asked |= {"sensitive": ["s"], "require": REQUIRED} if sensitive else {"require": ["k=2", "average_risk=0.6"]}

    def checks(named: Callable[[str], str]) -> tuple[Check, ...]:
        table = [{"q": q, "s": s, "p": named(p)} for q, s, p in rows]
        return audit_on(table, COLUMNS, **asked).checks

    for check, one, other in zip(checks(str), checks(apart), checks(meant), strict=True):
        worse = other if WORST.index(other.status) < WORST.index(one.status) else one  # type: ignore[arg-type]
        assert same(check) == same(worse)
        assert ("as_written" in check.details) == (worse is other and worse is not one)


def test_what_failed_says_why_and_what_to_do(audit_on: AuditOn) -> None:
    [check] = audit_on(ALIKE, COLUMNS, **ASKED, require=["k=2"]).checks
    assert (check.status, check.level, check.failing_classes, check.details["as_written"]) == (Status.FAIL, 1, 1, 2)
    assert check.note == (
        "1 person is named in several ways by p, which differ only in case, spaces or characters that nobody sees: "
        "where each is one, it is 1, and 2 where each counts as a person of its own. Name each in one way, as "
        "entity='lower(trim(p))' does for case and spaces; or, if they are different persons, say so by an expression "
        "that nobody reads: entity='md5(p)'."
    )
    for expression, status in (("lower(trim(p))", Status.FAIL), ("md5(p)", Status.PASS)):
        [check] = audit_on(ALIKE, COLUMNS, qi=["q"], entity=expression, require=["k=2"]).checks
        assert (check.status, check.note) == (status, "")


def test_what_has_no_meaning_then_is_refused(audit_on: AuditOn) -> None:
    with pytest.raises(UsageError, match=r"^1 person is named .*: 'disclosure@0=0.6' needs one class .*md5\(p\)"):
        audit_on(ALIKE, COLUMNS, **ASKED, sensitive=["s"], require=["disclosure@0=0.6"])


def csv(folder: Path) -> str:
    lines = "".join(f"{row['q']},{row['s']},{row['p']}\n" for row in ALIKE)
    (folder / "people.csv").write_text("q,s,p\n" + lines, encoding="utf-8")
    return str(folder / "people.csv")


def test_cells_and_column_sets_count_no_names(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"named in several ways by p, .* person='md5\(p\)'"):
        sqlaudit.aggregates(csv(tmp_path), microdata=True, by=["q"], person="p", require=["threshold=2"])
    table = "{file: people.csv, quasi_identifiers: [q], entity: p, requirements: [column_sets: {max_size: 1}]}"
    text = f"tables:\n  - {table}\n"
    (tmp_path / "policy.yml").write_text("version: 1\n" + text, encoding="utf-8")
    [test] = sqlaudit.gate(tmp_path / "policy.yml").tests
    assert (test.outcome.value, "named in several ways" in test.message) == ("error", True), test


def test_boxes_hold_no_names(tmp_path: Path) -> None:
    (tmp_path / "sent.csv").write_text("who,x,y,t\nP1,1,1,0\np1 ,1,1,0\n", encoding="utf-8")
    asked: dict[str, Any] = {"x": "x", "y": "y", "time": "t", "k": 2, "box": 1000, "interval": 600}
    with pytest.raises(UsageError, match=r"named in several ways by who, .* reads: md5\(who\)"):
        sqlaudit.cloak(str(tmp_path / "sent.csv"), user="who", **asked)
    assert sqlaudit.cloak(str(tmp_path / "sent.csv"), user="md5(who)", **asked).audit is not None


def test_a_policy_fails_too(tmp_path: Path) -> None:
    csv(tmp_path)
    text = "tables:\n  - file: people.csv\n    quasi_identifiers: [q]\n    entity: p\n    requirements: [k=2, k=1]\n"
    (tmp_path / "policy.yml").write_text("version: 1\n" + text, encoding="utf-8")
    run = sqlaudit.gate(tmp_path / "policy.yml")
    assert [(test.requirement, test.outcome.value) for test in run.tests] == [("k=2", "fail"), ("k=1", "pass")]


@pytest.mark.parametrize("remedy", ["lattice", "recode", "suppress"])
def test_no_remedy_counts_names(tmp_path: Path, remedy: str) -> None:
    with pytest.raises(UsageError, match=SAID):
        getattr(sqlaudit, remedy)(csv(tmp_path), **ASKED, require=["k=2"])


@pytest.mark.postgres
def test_names_that_the_database_takes_for_one_are_one(load: Loader, postgres_url: str) -> None:
    make_folded(load)
    load.execute("CREATE TABLE named (q text, p folded); GRANT SELECT ON named TO auditor")
    load.execute("INSERT INTO named VALUES ('a', 'P1'), ('a', 'p1'), ('a', 'P2')")
    found = sqlaudit.lattice("named", db=postgres_url, **ASKED, require=["k=2"], hierarchies={"q": {"mask": 1}})
    assert found.best is not None


def test_releases_and_persons_who_are_named_in_several_ways_are_not_judged(engine: Engine) -> None:
    query = values_query(ALIKE, COLUMNS)
    for entity, refused in (("p", True), ("md5(p)", False)):
        asked: dict[str, Any] = {"db": engine, "entity": entity, "qi": ["q"]}
        calls = (
            partial(sqlaudit.persons, query=query, require=["km@1=2"], **asked),
            partial(
                sqlaudit.releases,
                [Target(query=query, label=one) for one in "ab"],
                require=["m_invariance=1"],
                sensitive=["s"],
                **asked,
            ),
        )
        for call in calls:
            with pytest.raises(UsageError, match="differ only in case") if refused else nullcontext():
                call()
