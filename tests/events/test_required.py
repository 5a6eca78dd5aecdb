"""Requirements on persons with many rows, judged in audits: against every subset of every person's events."""

from __future__ import annotations

import json
from fractions import Fraction
from random import Random
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.errors import UsageError
from sqlaudit.engines.contract import Engine
from sqlaudit.models.base import Check
from sqlaudit.models.registry import REGISTRY
from tests.audit_values import values_query
from tests.cli.runner import run as command
from tests.events import oracle
from tests.events.test_curve import COLUMNS, EVENT, rows
from tests.few import LEAST
from tests.reports.schemas import validator
from tests.strategies import run

CLINICS = pd.DataFrame({"who": [1, 1, 2, 2, 3, 3], "clinic": list("abacbc")})


def audited(
    engine: Engine, table: list[tuple[Any, ...]], require: list[str], nulls: str = "equal", **more: Any
) -> AuditResult:
    query = values_query([dict(zip(COLUMNS, one, strict=True)) for one in table], COLUMNS)
    return sqlaudit.audit(query=query, qi=EVENT, entity="person", require=require, nulls=nulls, db=engine, **more)


def by_text(result: AuditResult) -> dict[str, Check]:
    return {check.text: check for check in result.checks}


@pytest.mark.parametrize("nulls", ["equal", "distinct"])
def test_each_requirement_is_judged_as_all_subsets_say(engine: Engine, nulls: str) -> None:
    @run(*((25, 3) if engine.dialect == "duckdb" else (4, 2)))
    @given(rows, st.integers(1, 5), st.integers(1, 4), st.integers(1, 3), st.sampled_from(["0", "1/3", "1/2", "1"]))
    def compare(table: list[tuple[Any, ...]], k: int, m: int, drawn: int, share: str) -> None:
        persons = oracle.events_of(table, nulls)
        require = [f"km@{m}={k}", "km@1=3", f"profile_k={k}", f"unicity@{drawn}={share}"]
        found = by_text(audited(engine, table, require, nulls))
        for text, known, enough in ((require[0], m, k), ("km@1=3", 1, 3)):
            level = oracle.smallest(persons, known)
            short = oracle.exposed(persons, known, enough)
            assert (found[text].level, found[text].failing_rows) == (level, short)
            assert found[text].status == ("pass" if level >= enough else "fail")
        profile = found[f"profile_k={k}"]
        assert (profile.level, profile.failing_rows) == (oracle.profile(persons)[0], oracle.profile_below(persons, k))
        assert profile.status == ("fail" if profile.failing_rows else "pass")
        singled = oracle.unicity(persons, drawn)
        assert found[require[3]].level == singled
        assert found[require[3]].status == ("pass" if singled <= Fraction(share) else "fail")

    compare()


def test_coherence_is_judged_as_all_subsets_say(engine: Engine) -> None:
    kinds = COLUMNS | {"ill": "text"}
    ill = st.sampled_from(["a", "b", None])

    @run(*((20, 3) if engine.dialect == "duckdb" else (4, 2)))
    @given(
        st.lists(
            st.tuples(st.integers(1, 5), st.sampled_from(["may", None]), st.sampled_from([1, 2, 3]), ill),
            min_size=LEAST,
            max_size=12,
        ),
        st.integers(1, 3),
        st.integers(2, 3),
        st.sampled_from(["0.4", "0.5", "1"]),
    )
    def compare(table: list[tuple[Any, ...]], p: int, k: int, h: str) -> None:
        query = values_query([dict(zip(kinds, one, strict=True)) for one in table], kinds)
        require = [f"coherence@{p}=k:{k},h:{h}", f"coherence@1=k:2,h:{h}"]
        result = sqlaudit.audit(
            query=query, qi=EVENT, sensitive="ill", entity="person", require=require, db=engine, known_rows="one"
        )
        persons, held = oracle.events_of([one[:3] for one in table]), oracle.held_by(table)
        for text, known, enough in ((require[0], p, k), (require[1], 1, 2)):
            check = by_text(result)[text]
            share, told = oracle.learnt(persons, held, known, Fraction(h))
            few = oracle.persons_below(persons, known, enough)
            assert (check.level, check.levels["fewest"]) == (share, oracle.smallest(persons, known))
            assert check.failing_rows == len(told | few)
            assert check.status == ("fail" if told | few else "pass")

    compare()


@pytest.mark.few_on_postgres(0)
def test_one_known_event_is_k_anonymity_of_persons(engine: Engine) -> None:
    @run(15, some=3)
    @given(rows, st.integers(2, 4))
    def compare(table: list[tuple[Any, ...]], k: int) -> None:
        found = by_text(audited(engine, table, [f"km@1={k}", f"k={k}"], known_rows="one"))
        assert found[f"km@1={k}"].level == found[f"k={k}"].level
        assert found[f"km@1={k}"].status == found[f"k={k}"].status

    compare()


def test_no_table_passes_that_nobody_could_judge() -> None:
    empty = CLINICS[:0]
    require = ["km@2=2", "profile_k=2", "unicity@1=100%"]
    result = sqlaudit.audit(empty, qi=["clinic"], entity="who", require=require)
    assert [(check.level, check.status) for check in result.checks] == [(None, "undetermined")] * 3
    nameless = pd.DataFrame({"who": [1, None], "clinic": ["a", "a"]})
    with pytest.raises(UsageError, match="1 row has no value in the entity column"):
        sqlaudit.audit(nameless, qi=["clinic"], entity="who", require=["km@2=2"])
    one = sqlaudit.audit(CLINICS[:2], qi=["clinic"], entity="who", require=require)
    assert [(check.level, check.status) for check in one.checks] == [(1, "fail"), (1, "fail"), (1, "pass")]
    missing = pd.DataFrame({"who": [1, 2, 3], "clinic": [None, None, None]})
    for nulls, level in (("equal", 3), ("distinct", 1)):
        found = sqlaudit.audit(missing, qi=["clinic"], entity="who", require=["km@2=2", "profile_k=2"], nulls=nulls)
        assert [check.level for check in found.checks] == [level, level]


def test_drawn_persons_decide_only_when_the_limit_lies_outside_of_their_interval(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sqlaudit.events.unicity.COUNTED", 0)
    chance = Random(5)
    visits = pd.DataFrame([(who, chance.randrange(99)) for who in range(300) for _ in range(4)], columns=["who", "at"])
    exact = oracle.unicity(oracle.events_of(list(visits.itertuples(index=False))), 2)
    near = f"{float(exact):.3f}"
    found = [
        sqlaudit.audit(visits, qi=["at"], entity="who", require=[f"unicity@2={limit}"]).checks[0]
        for limit in ("0", near, "1")
    ]
    assert [check.status for check in found] == ["fail", "undetermined", "pass"]
    low, high = found[1].levels["low"], found[1].levels["high"]
    assert low is not None
    assert high is not None
    assert low < exact < high


def test_what_was_counted_of_persons_stands_in_the_result() -> None:
    result = sqlaudit.audit(CLINICS, qi=["clinic"], entity="who", require=["km@2=2", "unicity@1=0.5", "k=2"])
    data = result.to_dict()
    validator("audit").validate(json.loads(json.dumps(data)))
    assert data["persons"] == {
        "persons": 3,
        "rows": 6,
        "events": 3,
        "k": 2,
        "profile": {"k": 1, "unique_persons": 3, "exposed_persons": 3, "classes": 3},
        "curve": [
            {"known": 1, "smallest": 2, "exposed_persons": 0, "unique_persons": 0, "minimal_sets": 0, "exact": True},
            {"known": 2, "smallest": 1, "exposed_persons": 3, "unique_persons": 3, "minimal_sets": 3, "exact": True},
        ],
        "random": [{"known": 1, "unique_share": 0, "low": 0, "high": 0, "sampled": False}],
    }
    assert by_text(result)["km@2=2"].details == {"persons": 3, "minimal_sets": 3}
    one = sqlaudit.audit(CLINICS, qi=["clinic"], entity="who", require=["k=2"], known_rows="one")
    assert "persons" not in one.to_dict()


@pytest.mark.parametrize("require", ["km@2=5", "profile_k=5", "unicity@4=5%"])
def test_persons_must_be_named(require: str) -> None:
    with pytest.raises(UsageError, match=f"'{require}' is about people with many rows. Name the column"):
        sqlaudit.audit(CLINICS, qi=["clinic"], require=[require])


def test_the_command_says_how_many_persons_fall_short(tmp_path: Any) -> None:
    path = tmp_path / "visits.csv"
    CLINICS.to_csv(path, index=False)
    ran = command("audit", str(path), "--qi", "clinic", "--entity", "who", "--require", "km@2=2")
    assert ran.code == 1
    said = " ".join(ran.out.split())
    assert "FAILS kᵐ-anonymity (m = 2) 1 at least 2 3 of 3 people (100%)" in said


def test_a_node_of_the_lattice_is_judged_by_its_generalized_events(engine: Engine) -> None:
    """Levels of the clinic: itself, its town, everywhere. No two clinics of somebody are shared, but the towns are."""
    places = {"clinic": {"widths": [2]}}
    visits = zip([1, 1, 2, 2, 3, 3, 4, 4], [0, 2, 1, 3, 0, 3, 1, 2], strict=True)
    query = values_query([{"who": who, "clinic": at} for who, at in visits], {"who": "int", "clinic": "int"})
    safe = {}
    for require in ("km@1=2", "km@2=2", "km@2=4", "profile_k=4", "unicity@2=0"):
        found = sqlaudit.lattice(
            query=query,
            db=engine,
            qi=["clinic"],
            entity="who",
            require=[require],
            hierarchies=places,
            find="all",
            algorithm="exhaustive",
        )
        safe[require] = [node.levels for node in found.safe_nodes]
    assert safe == {
        "km@1=2": [(0,), (1,), (2,)],
        "km@2=2": [(1,), (2,)],
        "km@2=4": [(1,), (2,)],
        "profile_k=4": [(1,), (2,)],
        "unicity@2=0": [(1,), (2,)],
    }


def test_unicity_is_not_taken_to_stay_when_events_become_coarser() -> None:
    """Somebody has one rare event and two common ones: as one, these leave the rare one more likely to be drawn."""
    visits = [(who, at) for who in range(8) for at in "ab"] + [(0, "c")]
    fine = oracle.unicity(oracle.events_of(visits), 1)
    coarse = oracle.unicity(oracle.events_of([(who, "a" if at == "b" else at) for who, at in visits]), 1)
    assert fine < coarse
    assert not REGISTRY["unicity"].inherited
    assert REGISTRY["km_anonymity"].inherited
    assert REGISTRY["profile_k_anonymity"].inherited


@pytest.mark.parametrize("require", ["km@2=2", "profile_k=2", "unicity@1=0.5"])
def test_rows_that_may_be_left_out_are_refused(require: str) -> None:
    """Who is left out is missing among those who share the events of others."""
    with pytest.raises(UsageError, match=f"'{require}' is about the whole table and names no rows to leave out"):
        sqlaudit.lattice(CLINICS, qi=["clinic"], entity="who", require=[require], suppress="50%")
