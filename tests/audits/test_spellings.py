"""Spellings of one value are no diversity: a requirement holds however sensitive values are written, or it fails."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.errors import UsageError
from sqlaudit.base.result import Status
from sqlaudit.base.spec import Target
from sqlaudit.classes import histogram
from sqlaudit.classes.facts import SensitiveTable
from sqlaudit.classes.spellings import folded, merged_lanes
from sqlaudit.engines.contract import Engine
from sqlaudit.models.check import Check
from tests.audit_values import values_query
from tests.audits.unwarned import unwarned  # noqa: F401
from tests.strategies import run

AuditOn = Callable[..., AuditResult]
SPELLINGS = {"flu": ["flu", "Flu", " flu", "f\u200blu"], "HIV": ["HIV", "ＨＩＶ", "hiv\u00a0"], "ü": ["ü", "u\u0308"]}
REQUIRED = ["k=2", "l=2", "entropy_l=1.5", "t=0.3", "extended_k=2", "alpha=0.5", "disclosure@1=0.8"]
OF_PERSONS = ["coherence@1=k:2,h:0.6"]
WORST = (Status.FAIL, Status.UNDETERMINED, Status.WARN, Status.PASS)
COLUMNS = {"q": "text", "s": "text", "p": "int"}
ALIKE = [
    {"q": q, "s": s, "p": place} for place, (q, s) in enumerate([("a", "flu"), ("a", "Flu"), ("b", "HIV"), ("b", "x")])
]


WRITTEN: list[tuple[str | None, str | None]] = [
    *(("a", one) for one in SPELLINGS["flu"]),
    *(("b", one) for one in SPELLINGS["HIV"]),
    *((None, one) for one in (*SPELLINGS["ü"], None)),
]
"""Two classes of one value in every spelling, and one with a missing value: few random rows meet all of these."""


def meant(spelling: str | None) -> str | None:
    return next((value for value, written in SPELLINGS.items() if spelling in written), None)


def same(check: Check) -> tuple[Any, ...]:
    return check.status, check.level, check.failing_classes, check.failing_rows


@example(rows=WRITTEN, nulls="equal", persons=False, packed=True)
@example(rows=WRITTEN, nulls="distinct", persons=True, packed=False)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["a", "b", None]),
            st.sampled_from([*(one for written in SPELLINGS.values() for one in written), None]),
        ),
        min_size=1,
        max_size=10,
    ),
    nulls=st.sampled_from(["equal", "distinct"]),
    persons=st.booleans(),
    packed=st.booleans(),
)
@run(40, some=3)
def test_the_worse_of_written_and_meant_is_the_verdict(
    audit_on: AuditOn, rows: list[tuple[str | None, str | None]], nulls: str, persons: bool, packed: bool
) -> None:
    asked: dict[str, Any] = {"qi": ["q"], "sensitive": ["s"], "nulls": nulls, "require": REQUIRED}
    asked |= {"entity": "p", "require": REQUIRED + OF_PERSONS} if persons else {}
    table = [{"q": q, "s": s, "p": place} for place, (q, s) in enumerate(rows)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(histogram, "PACKED_VALUES", 32 if packed else 0)
        found = audit_on(table, COLUMNS, **asked).checks
    of_meant = audit_on([{**row, "s": meant(row["s"])} for row in table], COLUMNS, **asked).checks
    patched = [{**row, "s": _apart(row["s"])} for row in table]
    as_written = audit_on(patched, COLUMNS, **asked).checks
    for check, one, other in zip(found, as_written, of_meant, strict=True):
        worse = other if WORST.index(other.status) < WORST.index(one.status) else one  # type: ignore[arg-type]
        assert same(check) == same(worse)
        assert ("as_written" in check.details) == (worse is other and worse is not one)


def _apart(spelling: str | None) -> str | None:
    """Another text for each spelling, which nobody takes for another one."""
    return None if spelling is None else spelling.encode("utf-8").hex()


def test_what_failed_says_why_and_what_to_do(audit_on: AuditOn) -> None:
    [check] = audit_on(ALIKE, COLUMNS, qi=["q"], sensitive=["s"], require=["l=2"]).checks
    assert (check.status, check.level, check.failing_classes, check.details["as_written"]) == (Status.FAIL, 1, 1, 2)
    assert check.note == (
        "Some values of s differ only in case, spaces or characters that nobody sees, and a reader takes them for one: "
        "then it is 1, and 2 as they are written. Write them in one way, as sensitive=['lower(trim(s))'] does for case "
        "and spaces; or, if they are different values, say so by an expression that nobody reads: sensitive=['md5(s)']."
    )
    for expression, status in (("lower(trim(s))", Status.FAIL), ("md5(s)", Status.PASS)):
        [check] = audit_on(ALIKE, COLUMNS, qi=["q"], sensitive=[expression], require=["l=2"]).checks
        assert (check.status, check.note) == (status, "")


def test_without_a_requirement_values_count_as_they_are_written(audit_on: AuditOn) -> None:
    checks = audit_on(ALIKE, COLUMNS, qi=["q"], sensitive=["s"]).checks
    assert next(check.level for check in checks if check.model == "distinct_l_diversity") == 2


def csv(folder: Path) -> str:
    lines = "".join(f"{row['q']},{row['s']}\n" for row in ALIKE)
    (folder / "people.csv").write_text("q,s\n" + lines, encoding="utf-8")
    return str(folder / "people.csv")


def test_a_policy_fails_too(tmp_path: Path) -> None:
    csv(tmp_path)
    text = (
        "tables:\n  - file: people.csv\n    quasi_identifiers: [q]\n    sensitive: [s]\n    requirements: [k=2, l=2]\n"
    )
    (tmp_path / "policy.yml").write_text("version: 1\n" + text, encoding="utf-8")
    run = sqlaudit.gate(tmp_path / "policy.yml")
    assert [(test.requirement, test.outcome.value) for test in run.tests] == [("k=2", "pass"), ("l=2", "fail")]


@pytest.mark.parametrize("remedy", ["lattice", "recode", "suppress"])
def test_no_remedy_says_that_spellings_are_values(tmp_path: Path, remedy: str) -> None:
    with pytest.raises(UsageError, match=r"differ only in case, spaces .* sensitive=\['md5\(s\)'\]"):
        getattr(sqlaudit, remedy)(csv(tmp_path), qi=["q"], sensitive=["s"], require=["l=2"])


def test_releases_and_persons_with_spellings_are_not_judged(engine: Engine) -> None:
    rows = [{"who": place, **row} for place, row in enumerate(ALIKE)]
    query = values_query(rows, {"who": "int", **COLUMNS})
    asked: dict[str, Any] = {"db": engine, "entity": "who", "qi": ["q"]}
    for sensitive, refused in ((["s"], True), (["md5(s)"], False)):
        calls = (
            partial(sqlaudit.persons, query=query, require=["coherence@1=k:2,h:0.6"], sensitive=sensitive, **asked),
            partial(
                sqlaudit.releases,
                [Target(query=query, label=one) for one in "ab"],
                require=["m_invariance=1"],
                sensitive=sensitive,
                **asked,
            ),
        )
        for call in calls:
            with pytest.raises(UsageError, match="differ only in case") if refused else nullcontext():
                call()


def test_texts_that_a_reader_takes_for_one() -> None:
    for value, spellings in SPELLINGS.items():
        assert {folded(spelling) for spelling in spellings} == {folded(value)}
    assert len({folded(text) for text in ("peche", "pêche", "HIV-1", "HIV 1", "HIV1", "", "0")}) == 7
    values = ("Flu", "flu", "x", 7, None)
    assert folded("HIV\x07\t") == "hiv"
    table = SensitiveTable("s", (1,) * 5, has_null=True, ordered=False, text=True, values=values)
    assert merged_lanes(table) == ((1, 0),)


@given(st.lists(st.text(st.sampled_from("aAbB \t\x07é\u200b\u0301ß"), max_size=4), unique=True, max_size=6))
@run(60)
def test_nothing_is_missed_by_the_first_look(values: list[str]) -> None:
    table = SensitiveTable("s", (1,) * len(values), has_null=False, ordered=False, text=True, values=tuple(values))
    assert table.may_be_respelled or not merged_lanes(table)
