"""Options are fields: what Python's functions take, and what the command line offers, is what requests have."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import sqlaudit
from sqlaudit.audits.disclosure.request import DisclosureRequest, WhatIfRequest
from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import Option, options_of, request_from
from sqlaudit.base.publication import Publication
from sqlaudit.base.spec import Requirement, Roles, Target
from sqlaudit.column_sets.records.request import RecordRequest
from sqlaudit.column_sets.request import ColumnRequest, FindSets
from sqlaudit.events.request import PersonsRequest
from sqlaudit.lattices.request import LatticePublication, LatticeRequest
from sqlaudit.profiles.request import ProfileRequest
from sqlaudit.release.attacks.request import AttackRequest
from sqlaudit.release.compare.request import CompareRequest
from sqlaudit.remedies.cloak.request import Background, BoxRequest, CloakRequest, Places, Tolerances
from sqlaudit.remedies.recode.request import RecodeRequest
from sqlaudit.remedies.suppress.request import SuppressRequest

CALLS: list[tuple[Callable[..., Any], tuple[type[Any], ...], set[str]]] = [
    (sqlaudit.columns, (ColumnRequest,), set()),
    (sqlaudit.records, (RecordRequest,), {"suda"}),
    (sqlaudit.profile, (ProfileRequest,), set()),
    (sqlaudit.suppress, (SuppressRequest, Publication), set()),
    (sqlaudit.recode, (RecodeRequest, Publication), set()),
    (sqlaudit.cloak, (Places, CloakRequest, Tolerances, Background, Publication), set()),
    (sqlaudit.audit_boxes, (BoxRequest, Background), set()),
    (sqlaudit.attack, (AttackRequest,), set()),
    (sqlaudit.compare, (CompareRequest,), set()),
    (sqlaudit.lattice, (LatticeRequest, LatticePublication), set()),
    (sqlaudit.disclosure_curve, (DisclosureRequest,), set()),
    (sqlaudit.what_if, (WhatIfRequest,), set()),
    (sqlaudit.persons, (PersonsRequest,), set()),
]
"""A function, its requests, and the options that belong to what the command line prints."""


def plain(one: Option, default: Any) -> Any:
    """A default as the function may write it: read as what is given is; None is no names and no weights."""
    if default is inspect.Parameter.empty:  # the function cannot do without, as the request says
        return one.default
    if default is None:
        return one.default if isinstance(one.default, tuple | dict) else None
    return one.kind.read(one.name, default)


@pytest.mark.parametrize(("call", "requests", "printed"), CALLS, ids=[call.__name__ for call, _, _ in CALLS])
def test_a_function_takes_every_option_of_its_requests_with_the_same_default(
    call: Callable[..., Any], requests: tuple[type[Any], ...], printed: set[str]
) -> None:
    taken = inspect.signature(call).parameters
    for request in requests:
        for _, one in options_of(request):
            if one.name in printed:
                assert one.name not in taken
                continue
            assert plain(one, taken[one.name].default) == one.default, one.name


def test_a_request_reads_what_its_options_say() -> None:
    given = {"tolerance": "1%", "find": "minimum", "columns": ["age"], "query": "passed"}
    made = request_from(ColumnRequest, given, target=Target("t"))
    assert (made.tolerance, made.find, made.columns) == (Fraction(1, 100), FindSets.MINIMUM, ("age",))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tolerance": "x"}, "tolerance= takes a share such as 0.01 or 1%, not 'x'."),
        ({"tolerance": 1}, "tolerance= must be a share of at least 0 and below 1, not 1."),
        ({"find": "most"}, "find= is one of all, minimum, greedy, ranking, not 'most'."),
        ({"k": 0}, "k= must be at least 1, not 0."),
        ({"max_size": 0}, "max_size= must be at least 1, not 0."),
    ],
)
def test_a_value_that_an_option_does_not_take_is_refused_in_the_words_of_python(
    given: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError) as caught:
        request_from(ColumnRequest, given, target=Target("t"))
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"suppress": "x"}, "suppress= takes a share such as 0.01 or 1%, not 'x'."),
        ({"suppress": 2}, "suppress= must be a share from 0 to 1 (100%), not 2."),
        ({"time_budget": -1}, "time_budget= must be a time of 0 seconds or more, not -1."),
        (
            {"weights": {"age": "heavy"}},
            "weights= takes a number for a column. 'heavy' is not a share. Write for example 0.05, 5% or 1/20.",
        ),
        ({"measure": "los"}, "There is no measure 'los'. Did you mean 'loss'? Available: "),
        ({"chain": "0,0 x"}, "chain= takes nodes such as 0,0 0,1 1,1, not 'x'."),
    ],
)
def test_a_search_in_the_lattice_refuses_what_its_options_do_not_take(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        request_from(
            LatticeRequest, given, target=Target("t"), roles=Roles(("age",)), requirements=(Requirement("k_anonymity"),)
        )
    assert str(caught.value).startswith(said)


def test_none_is_nothing_where_names_or_weights_are_taken_and_stays_elsewhere() -> None:
    given = {"weights": None, "chain": None, "time_budget": None, "hierarchies": None}
    made = request_from(
        LatticeRequest, given, target=Target("t"), roles=Roles(("age",)), requirements=(Requirement("k_anonymity"),)
    )
    assert (made.weights, made.chain, made.time_budget) == ({}, (), None)


def test_a_request_does_not_print_a_source_that_may_hold_values() -> None:
    made = request_from(
        LatticeRequest,
        {"hierarchies": {"age": {"groups": {"old": ["ninety"]}}}},
        target=Target("t"),
        roles=Roles(("age",)),
        requirements=(Requirement("k_anonymity"),),
    )
    assert "ninety" not in repr(made)


def test_a_request_does_not_print_what_somebody_knows() -> None:
    knowledge = {"people": {"Ed": {"age": "ninety"}}, "ask": {"Ed": "flu"}}
    made = request_from(WhatIfRequest, {"given": knowledge}, target=Target("t"), roles=Roles(("age",), ("illness",)))
    assert made.knowledge.ask[0].person == "Ed"
    assert not {"Ed", "ninety", "flu"} & {*repr(made).replace("'", " ").split()}
