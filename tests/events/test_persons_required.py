"""What `sqlaudit persons` requires: against every subset of every person's events, and beside `audit`."""

from __future__ import annotations

import datetime
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import NullPolicy, Target
from sqlaudit.engines.contract import Engine
from sqlaudit.events.request import PersonsRequest, read_tolerances
from sqlaudit.events.result import PersonsResult
from sqlaudit.events.run import find_persons
from sqlaudit.models.base import Check
from sqlaudit.models.registry import OF_PERSONS, requirements
from tests.audit_values import values_query
from tests.cli.runner import run as command
from tests.events import oracle
from tests.events.test_curve import COLUMNS, rows
from tests.few import LEAST
from tests.reports.schemas import validator
from tests.strategies import run

CLINICS = pd.DataFrame({"who": [1, 1, 2, 2, 3, 3], "clinic": list("abacbc"), "ill": list("xyxyzy")})
KINDS = COLUMNS | {"ill": "text"}
EVENT = ('the "month"', "clinic")  # as names: in Spark's SQL double quotes are around texts
ILL = st.sampled_from(["x", "y", None])


def found_in(engine: Engine, table: list[tuple[Any, ...]], require: list[str], **more: Any) -> PersonsResult:
    kinds = dict(list(KINDS.items())[: len(table[0])])
    query = values_query([dict(zip(kinds, one, strict=True)) for one in table], kinds)
    given = {"entity": "person", "qi": EVENT, "requirements": requirements(require, OF_PERSONS)} | more
    return find_persons(engine, PersonsRequest(target=Target(query=query), **given))


def by_text(checks: tuple[Check, ...]) -> dict[str, Check]:
    return {check.text: check for check in checks}


@pytest.mark.few_on_postgres(0)
@pytest.mark.parametrize("nulls", ["equal", "distinct"])
@pytest.mark.parametrize("repeats", [False, True])
def test_each_requirement_is_judged_as_all_subsets_say(engine: Engine, nulls: str, repeats: bool) -> None:
    @run(20, some=3)
    @given(rows, st.integers(1, 5), st.integers(1, 3), st.sampled_from(["0", "1/3", "1"]), st.integers(2, 4))
    def compare(table: list[tuple[Any, ...]], k: int, m: int, share: str, asked: int) -> None:
        persons = oracle.events_of(table, nulls, repeats)
        drawn = [] if repeats else [f"unicity@{m}={share}"]
        require = [f"km@{m}={k}", f"profile_k={k}", *drawn]
        more = {"nulls": NullPolicy(nulls), "multiset": repeats, "k": asked, "known": 2}
        found = by_text(found_in(engine, table, require, **more).checks)
        level, short = oracle.smallest(persons, m, repeats), oracle.exposed(persons, m, k, repeats)
        km, profile = found[f"km@{m}={k}"], found[f"profile_k={k}"]
        assert (km.level, km.failing_rows, km.status) == (level, short, "pass" if level >= k else "fail")
        below = oracle.profile_below(persons, k)
        assert (profile.level, profile.failing_rows) == (oracle.profile(persons)[0], below)
        assert profile.status == ("fail" if below else "pass")
        for text in drawn:
            singled = oracle.unicity(persons, m)
            assert (found[text].level, found[text].status) == (
                singled,
                "pass" if singled <= Fraction(share) else "fail",
            )

    compare()


@pytest.mark.few_on_postgres(0)
@pytest.mark.parametrize(("nulls", "repeats"), [("equal", False), ("distinct", True), ("wildcard", False)])
def test_nobody_contributes_more_than_was_promised(engine: Engine, nulls: str, repeats: bool) -> None:
    """A group is one of GROUP BY, whatever missing values and repeats are to who knows events."""

    @run(20, some=3)
    @given(rows, st.integers(1, 5), st.integers(1, 5))
    def compare(table: list[tuple[Any, ...]], most: int, many: int) -> None:
        require = [f"rows_per_person={most}", f"groups_per_person={many}"]
        found = found_in(engine, table, require, nulls=NullPolicy(nulls), multiset=repeats, known=1)
        expected = oracle.contributions(table)
        assert (found.contribution.rows, found.contribution.groups) == tuple(
            max(expected[one].values(), default=0) for one in ("rows", "groups")
        )
        query = values_query([dict(zip(KINDS, one, strict=False)) for one in table], COLUMNS)
        checks = [found.checks]
        if nulls != "wildcard":
            audited = sqlaudit.audit(query=query, db=engine, qi=EVENT, entity="person", nulls=nulls, require=require)
            checks.append(audited.checks)
        for judged in checks:
            for check, counted, limit in zip(judged, ("rows", "groups"), (most, many), strict=True):
                numbers = expected[counted].values()
                over = sum(number > limit for number in numbers)
                assert (check.level, check.failing_rows) == (max(numbers, default=None), over)
                assert check.status == ("undetermined" if not table else "fail" if over else "pass")

    compare()


@pytest.mark.few_on_postgres(0)
def test_every_sensitive_column_is_judged_by_itself_as_an_audit_does(engine: Engine) -> None:
    @run(10, some=2)
    @given(
        st.lists(
            st.tuples(st.integers(1, 5), st.sampled_from(["may", None]), st.integers(1, 3), ILL),
            min_size=LEAST,
            max_size=12,
        ),
        st.sampled_from(["0.4", "0.5", "1"]),
    )
    def compare(table: list[tuple[Any, ...]], h: str) -> None:
        require = [f"coherence@2=k:2,h:{h}", "km@2=2", "unicity@2=1/2", "profile_k=2", "coherence@1=k:3,h:0.5"]
        sensitive = ("ill", "clinic")
        qi = EVENT[:1]
        found = found_in(engine, table, require, sensitive=sensitive, qi=tuple(qi), k=3)
        query = values_query([dict(zip(KINDS, one, strict=True)) for one in table], KINDS)
        audited = sqlaudit.audit(
            query=query, qi=qi, sensitive=sensitive, entity="person", require=require, db=engine, known_rows="one"
        )
        assert len(found.checks) == 7
        as_told = [(one.text, one.sensitive, one.levels, one.failing_rows, one.status) for one in audited.checks]
        assert sorted(as_told, key=repr) == sorted(
            ((one.text, one.sensitive, one.levels, one.failing_rows, one.status) for one in found.checks), key=repr
        )

    compare()


def test_static_columns_are_known_besides_from_whichever_table(engine: Engine) -> None:
    """Who is m or f, from a table of persons: pairs of visits that three share, two of each sex do not."""
    visits = [(who, at) for who in (1, 2, 3, 4) for at in (1, 2)]
    query = values_query([{"who": who, "at": at} for who, at in visits], {"who": "int", "at": "int"})
    people = [{"who": who, "sex": "f" if who < 4 else "m"} for who in (1, 2, 3, 4)]
    elsewhere = Target(query=values_query(people, {"who": "int", "sex": "text"}), label="people")
    require = requirements(["km@2=3", "profile_k=3"], OF_PERSONS)
    request = PersonsRequest(
        target=Target(query=query),
        entity="who",
        qi=("at",),
        static=("sex",),
        static_from=elsewhere,
        requirements=require,
    )
    found = find_persons(engine, request)
    assert [(one.level, one.failing_rows, one.status) for one in found.checks] == [(1, 1, "fail"), (1, 1, "fail")]
    alone = find_persons(
        engine, PersonsRequest(target=Target(query=query), entity="who", qi=("at",), requirements=require)
    )
    assert [(one.level, one.status) for one in alone.checks] == [(4, "pass"), (4, "pass")]


def test_with_tolerance_it_is_counted_who_fits(engine: Engine) -> None:
    """Days 1, 3, 5: the middle one fits all three persons within two days, the others fit two."""
    start = datetime.date(2024, 5, 1)
    table = [{"who": who, "day": start + datetime.timedelta(2 * who)} for who in range(3)]
    query = values_query(table, {"who": "int", "day": "date"})
    require = requirements(["km@1=3", "profile_k=2", "profile_k=3", "unicity@1=0"], OF_PERSONS)
    near = read_tolerances("tolerance", {"day": "2d"})
    request = PersonsRequest(
        target=Target(query=query), entity="who", qi=("day",), tolerance=near, requirements=require
    )
    found = find_persons(engine, request).checks
    assert [(one.level, one.failing_rows, one.status) for one in found] == [
        (2, 2, "fail"),
        (2, 0, "pass"),
        (2, 2, "fail"),
        (0, None, "pass"),
    ]
    exactly = PersonsRequest(target=Target(query=query), entity="who", qi=("day",), requirements=require)
    assert [one.status for one in find_persons(engine, exactly).checks] == ["fail"] * 4


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--require", "k=5"], "'k' is about classes of rows. Use `sqlaudit audit`"),
        (["--require", "k=5"], "km with m:1 is k-anonymity against one known event, profile_k against all events."),
        (
            ["--require", "l=2"],
            "Allowed here: km, km_anonymity, profile_k, profile_k_anonymity, unicity, coherence, rows_per_person, gr",
        ),
        (["--require", "threshold=5"], "'threshold' is about the cells"),
        (["--require", "kk=5"], "There is no privacy model 'kk'"),
        (["--require", "coherence@2=k:2,h:0.5"], "needs a sensitive column. Name one with --sensitive."),
        (["--require", "unicity@2=5%", "--multiset"], "cannot be combined with --multiset."),
        (["--require", "km@9=5"], "m is at most 6"),
    ],
)
def test_what_cannot_be_required_is_one_sentence(tmp_path: Path, more: list[str], said: str) -> None:
    path = tmp_path / "visits.csv"
    CLINICS.to_csv(path, index=False)
    for rest in ([], ["--dry-run"]):
        ran = command("persons", str(path), "--entity", "who", "--qi", "clinic", *more, *rest)
        assert (ran.code, ran.out) == (2, "")
        assert said in " ".join(ran.err.split())


@pytest.mark.parametrize(
    ("require", "code", "headline"),
    [
        ("km@2=1", 0, "PASS: the requirement is met"),
        ("km@2=2", 1, "FAIL: the requirement is not met"),
        ("km@1=2,profile_k=2", 1, "FAIL: 1 of 2 requirements is not met"),
    ],
)
def test_the_command_gives_a_verdict_an_exit_code_and_checks(
    tmp_path: Path, require: str, code: int, headline: str
) -> None:
    path = tmp_path / "visits.csv"
    CLINICS.to_csv(path, index=False)
    asked = ("persons", str(path), "--entity", "who", "--qi", "clinic", "--require", require)
    ran = command(*asked)
    assert ran.code == code
    assert ran.out.startswith(headline)
    told = json.loads(command(*asked, "--format", "json").out)
    validator("persons").validate(told)
    assert told["status"] == ("fail" if code else "pass")
    assert told["checks"][0]["model"] == "km_anonymity"
    page = command(*asked, "--format", "html")
    assert headline in page.out


def test_the_sentence_counts_persons_and_nothing_required_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    CLINICS.to_csv(path, index=False)
    ran = command(
        "persons", str(path), "--entity", "who", "--qi", "clinic", "--require", "km@2=2", "--where", "who < 3"
    )
    said = " ".join(ran.out.split())
    assert "FAILS kᵐ-anonymity (m = 2) 1 at least 2 2 of 2 people (100%)" in said
    bare = sqlaudit.persons(CLINICS, entity="who", qi=["clinic"])
    assert not {"checks", "status"} & bare.to_dict().keys()
    assert (bare.status, bare.passed) == (None, True)


def test_what_time_left_open_is_undecided_and_what_is_proven_fails() -> None:
    visits = pd.DataFrame({"who": [who for who in range(5) for _ in "ab"], "at": list("ab") * 5})
    found = sqlaudit.persons(
        visits, entity="who", qi=["at"], time_budget=0.0, require=["km@1=5", "km@2=5", "km@2=6", "profile_k=5"]
    )
    assert [(check.text, check.status) for check in found.checks] == [
        ("km@1=5", "pass"),
        ("km@2=5", "undetermined"),
        ("km@2=6", "fail"),
        ("profile_k=5", "pass"),
    ]
    assert (found.passed, found.complete) == (False, False)


def test_no_person_passes_nothing() -> None:
    found = sqlaudit.persons(
        CLINICS[:0],
        entity="who",
        qi=["clinic"],
        sensitive=["ill"],
        require=["km@2=1", "profile_k=1", "unicity@1=1", "coherence@1=k:2,h:1"],
    )
    assert [check.status for check in found.checks] == ["undetermined"] * 4
    nameless = pd.DataFrame({"who": [1, None], "clinic": ["a", "a"]})
    with pytest.raises(UsageError, match="missing in 1 of 2 rows"):
        sqlaudit.persons(nameless, entity="who", qi=["clinic"], require={"km@2": 1})


ODD = 'wh"o 😀'


@pytest.mark.parametrize(
    ("rows_", "more", "levels"),
    [
        ([(1, at) for at in "abcde"], {}, [1, 1]),  # one person with all rows, however many
        ([(1, "a"), (1, "b"), (2, "a"), (2, "b")], {"where": f'"{ODD.replace(chr(34), chr(34) * 2)}" = 1'}, [1, 1]),
        ([(1, "a")] * 9 + [(2, "b")] * 9, {}, [1, 1]),  # rows that are there again and again
        ([(1, None), (2, None)], {"nulls": "distinct"}, [1, 1]),  # a missing event that equals nothing
        ([(1, None), (2, "a")], {}, [1, 1]),
        ([("", "a"), ("", "b")], {}, [1, 1]),  # an empty name is a name
        ([(1, "a"), (2, "a ")], {}, [1, 1]),  # a blank tells persons apart
        ([(1, "a"), (2, "A")], {}, [1, 1]),
        ([(1, "a"), (1, "a"), (2, "a")], {"multiset": True}, [1, 1]),
        ([(1, "a"), (1, "a"), (2, "a")], {}, [2, 2]),
    ],
)
def test_no_table_passes_by_what_is_odd_about_it(rows_: list[tuple[Any, Any]], more: Any, levels: list[int]) -> None:
    table = pd.DataFrame(rows_, columns=[ODD, "a,t"])
    require = ["km@2=2", "profile_k=2"]
    found = sqlaudit.persons(table, entity=ODD, qi=["a,t"], require=require, **more)
    assert [check.level for check in found.checks] == levels
    assert found.passed is (levels == [2, 2])
    if not more:
        audit = sqlaudit.audit(table, entity=ODD, qi=["a,t"], require=["k=2", *require])
        assert [check.level for check in audit.checks] == [levels[0], *levels]
        assert audit.passed is found.passed


def test_events_in_their_order_are_judged_as_they_are_counted() -> None:
    """Everybody was at both places, one person the other way round."""
    table = pd.DataFrame(
        [(who, at, at * (1 if who else -1)) for who in range(4) for at in (1, 2)], columns=["who", "at", "t"]
    )
    plain = sqlaudit.persons(table, entity="who", qi=["at"], require=["km@2=3", "profile_k=3"])
    ordered = sqlaudit.persons(
        table, entity="who", qi=["at"], sequence="t", require=["km@2=3", "km@1=4", "profile_k=3"]
    )
    assert [(check.level, check.status) for check in plain.checks] == [(4, "pass"), (4, "pass")]
    assert [(check.level, check.failing_rows, check.status) for check in ordered.checks] == [
        (1, 1, "fail"),
        (4, 0, "pass"),
        (1, 1, "fail"),
    ]
