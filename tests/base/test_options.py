"""Options are fields: what Python's functions take, and what the command line offers, is what requests have."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import options_of, request_from
from sqlaudit.column_sets.records.request import RecordRequest
from sqlaudit.column_sets.request import ColumnRequest, Find

CALLS: list[tuple[Callable[..., Any], tuple[type[Any], ...], set[str]]] = [
    (sqlaudit.columns, (ColumnRequest,), set()),
    (sqlaudit.records, (RecordRequest,), {"suda"}),
]
"""A function, its requests, and the options that belong to what the command line prints."""


def plain(kind: Any, default: Any) -> Any:
    """A default as the function may write it: read as what is given is."""
    return None if default is None else kind.read("default", default)


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
            assert plain(one.kind, taken[one.name].default) == one.default, one.name


def test_a_request_reads_what_its_options_say() -> None:
    made = request_from(ColumnRequest, {"tolerance": "1%", "find": "minimum", "columns": ["age"], "query": "passed"})
    assert (made.tolerance, made.find, made.columns) == (Fraction(1, 100), Find.MINIMUM, ("age",))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tolerance": "x"}, "tolerance= takes a share such as 0.01 or 1%; 'x' is none."),
        ({"tolerance": 1}, "tolerance= is a share of at least 0 and below 1; it is 1."),
        ({"find": "most"}, "find= is one of all, minimum, greedy, ranking, not 'most'."),
        ({"k": 0}, "k= is at least 1; it is 0."),
        ({"max_size": 0}, "max_size= is at least 1; it is 0."),
    ],
)
def test_a_value_that_an_option_does_not_take_is_refused_in_the_words_of_python(
    given: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError) as caught:
        request_from(ColumnRequest, given)
    assert str(caught.value) == said
