"""Roles given at once, as a mapping or as what a profile proposes: the same as one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Sampling

PEOPLE = pd.DataFrame({"age": [31, 34, 38, 52, 57, 52], "sex": list("fmfmfm"), "s": list("abcabc")})
ROLES: Mapping[str, Any] = {"qi": "age,sex", "sensitive": ["s"]}


def test_a_mapping_is_what_its_parameters_are() -> None:
    apart = sqlaudit.audit(PEOPLE, qi=["age", "sex"], sensitive="s", require={"k": 2})
    for roles in (
        ROLES,
        {"quasi_identifiers": ["age", "sex"], "sensitive": "s"},
        sqlaudit.Roles(("age", "sex"), ("s",)),
    ):
        found = sqlaudit.audit(PEOPLE, roles=roles, require={"k": 2})
        assert (found.roles, found.checks) == (apart.roles, apart.checks)


def test_what_a_profile_proposes_is_audited() -> None:
    profile = sqlaudit.profile(PEOPLE)
    found = sqlaudit.audit(PEOPLE, roles=profile.roles)
    assert tuple(found.roles["quasi_identifiers"]) == profile.roles.quasi_identifiers != ()


def test_an_accepted_identifier_is_one_of_the_roles() -> None:
    found = sqlaudit.audit(
        PEOPLE, roles={"qi": ["age"], "identifier": ["sex"]}, accept_identifier="s", require={"k": 1}
    )
    assert found.roles["identifiers"] == ["sex", "s"]


def without_seconds(value: Any) -> Any:
    """A document without what depends on the clock."""
    if isinstance(value, dict):
        return {name: without_seconds(one) for name, one in value.items() if "seconds" not in name and name != "time"}
    return [without_seconds(one) for one in value] if isinstance(value, list) else value


CALLS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (sqlaudit.lattice, {"require": {"k": 2}}),
    (sqlaudit.recode, {"require": {"k": 2}}),
    (sqlaudit.suppress, {"require": {"k": 2}, "seed": 1, "how": "fast"}),
    (sqlaudit.attack, {}),
    (sqlaudit.disclosure_curve, {"knowledge": 2}),
    (sqlaudit.what_if, {"given": {"people": {"Ann": {"age": 31, "sex": "f"}}, "knowledge": [], "ask": {"Ann": "a"}}}),
]


@pytest.mark.parametrize(("call", "more"), CALLS, ids=lambda one: getattr(one, "__name__", ""))
def test_every_function_with_roles_takes_them_at_once(call: Callable[..., Any], more: dict[str, Any]) -> None:
    apart, found = call(PEOPLE, qi=["age", "sex"], sensitive="s", **more), call(PEOPLE, roles=ROLES, **more)
    changing = ("statements", "time", "versions")
    told = [{name: value for name, value in one.to_dict().items() if name not in changing} for one in (apart, found)]
    assert without_seconds(told[0]) == without_seconds(told[1])
    with pytest.raises(UsageError, match="roles= and qi= both name columns"):
        call(PEOPLE, qi=["age"], roles=ROLES, **more)


def test_columns_and_records_take_the_quasi_identifiers_of_roles() -> None:
    roles = {**ROLES, "identifiers": ["name"]}
    named = PEOPLE.assign(name=list("uvwxyz"))
    assert sqlaudit.columns(named, k=2, roles=roles).columns == ("age", "sex")
    assert sqlaudit.columns(named, k=2, roles=roles).sets == sqlaudit.columns(named, k=2, columns="age,sex").sets
    assert sqlaudit.records(named, roles=roles).uniques_by_size == sqlaudit.records(named, qi="age,sex").uniques_by_size
    for call, parameter in ((sqlaudit.columns, "columns"), (sqlaudit.records, "qi")):
        with pytest.raises(UsageError, match=f"roles= and {parameter}= both name columns"):
            call(named, roles=roles, **{parameter: ["age"]})
    with pytest.raises(UsageError, match="roles= has joint, which this function does not use"):
        sqlaudit.records(named, roles={**roles, "joint": True})
    with pytest.raises(UsageError, match="roles= has sampling, which this function does not use"):
        sqlaudit.records(named, roles=sqlaudit.Roles(("age",), sampling=Sampling(population_size=90)))


def test_persons_take_roles_at_once() -> None:
    visits = pd.DataFrame({"who": [1, 1, 2, 2, 3, 3], "clinic": list("ababac"), "name": list("uuvvww")})
    apart = sqlaudit.persons(visits, entity="who", qi=["clinic"], k=2)
    found = sqlaudit.persons(visits, roles={"entity": "who", "qi": "clinic", "identifiers": "name"}, k=2)
    assert [found.at(m).smallest for m in (1, 2)] == [apart.at(m).smallest for m in (1, 2)] == [1, 1]
    with pytest.raises(UsageError, match="roles= and entity= both name columns"):
        sqlaudit.persons(visits, entity="who", roles={"qi": "clinic"})
    with pytest.raises(UsageError, match="Name it with entity="):
        sqlaudit.persons(visits, roles={"qi": "clinic"})


def test_checks_are_compiled_from_roles() -> None:
    (apart,) = sqlaudit.compile_checks("people", qi=["age", "sex"], checks={"k": 2})
    (found,) = sqlaudit.compile_checks("people", roles={"qi": "age,sex"}, checks={"k": 2})
    assert found.sql == apart.sql
    with pytest.raises(UsageError, match="roles= has identifiers, which this function does not use"):
        sqlaudit.compile_checks("people", roles={"qi": "age", "identifiers": "sex"}, checks={"k": 2})


def test_roles_that_are_missing_are_told_by_their_parameter() -> None:
    with pytest.raises(UsageError, match=r"No quasi-identifiers are named. .* qi=\['age', 'sex'\]"):
        sqlaudit.disclosure_curve(PEOPLE, sensitive="s")
    with pytest.raises(UsageError, match=r"No sensitive column is named\. Name one with sensitive"):
        sqlaudit.what_if(PEOPLE, qi="age", given=dict(CALLS[-1][1]["given"]))


@pytest.mark.parametrize(
    ("roles", "said"),
    [
        ({"qid": ["age"]}, "roles= has no 'qid'"),
        ("age", "roles= takes Roles or a mapping"),
        ({"qi": 5}, "qi= "),
        ({"nulls": "never"}, "nulls= is one of"),
    ],
)
def test_what_is_no_role_is_said(roles: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        sqlaudit.audit(PEOPLE, roles=roles)


def test_a_role_that_a_function_does_not_take_is_refused() -> None:
    with pytest.raises(UsageError, match="roles= has joint, which this function does not use"):
        sqlaudit.suppress(PEOPLE, roles={**ROLES, "joint": True}, require={"k": 2})


@pytest.mark.parametrize("given", [{}, {"qi": []}, {"roles": {}}, {"roles": sqlaudit.Roles()}, {"sensitive": "s"}])
@pytest.mark.parametrize("require", [None, {"k": 5}])
def test_an_audit_without_quasi_identifiers_is_refused(given: dict[str, Any], require: Any) -> None:
    with pytest.raises(UsageError, match=r"No quasi-identifiers are named. .* qi=\['age', 'sex'\]"):
        sqlaudit.audit(PEOPLE, **given, require=require)


def test_roles_of_a_profile_that_proposes_none_are_refused() -> None:
    measured = pd.DataFrame({"reading": [0.5, 0.25, 0.75]})
    roles = sqlaudit.profile(measured).roles
    assert roles.quasi_identifiers == ()
    with pytest.raises(UsageError, match="No quasi-identifiers are named"):
        sqlaudit.audit(measured, roles=roles, require={"k": 3})
