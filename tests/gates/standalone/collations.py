"""Compiled checks of texts that a collation takes for equal: as many classes as there are spellings, or no verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sqlaudit

ROWS = [("Anna", "flu"), ("anna", "HIV"), ("Bert", "flu"), ("bert", "HIV"), ("Bert", "flu"), ("bert", "HIV")]
"""Two of each spelling of Bert, one of each of Anna; who folds case finds a class of two and one of four."""
FOLDED = [("Anna", "flu"), ("Anna", "Flu"), ("Bert", "flu"), ("Bert", "Flu"), ("Cora", "flu")]
"""Where `flu` is `Flu`, every class has the share of them that the table has."""


def refuses_what_is_folded(fill: Callable[[Sequence[tuple[str, str]]], Callable[[str], Any]], dialect: str) -> None:
    """No check that is compiled passes because a collation takes spellings for one.

    Args:
        fill: makes the table `people` of `name` and `ill`, whose collation folds case, and gives what runs a SELECT
            and returns its only row.
    """
    run = fill(ROWS)
    assert _asked(run, dialect, "k=2") == (4, 6, 2, 2, 0, 0, 1, "fail")
    assert _asked(run, dialect, "k=1")[-1] == "pass"
    assert _asked(run, dialect, "l=2")[-1] == "fail"
    persons = _asked(run, dialect, "k=2", entity="ill", known_rows="one")
    assert (persons[0], persons[-1]) == (4, "fail")
    run = fill(FOLDED)
    assert _asked(run, dialect, "t=0.3")[-2:] == (0, "undecided")
    assert _asked(run, dialect, "t=0.3")[5] in (1, 2)  # once by the collation, and by lower case where a cast leaves it


def _asked(run: Callable[[str], Any], dialect: str, check: str, **roles: Any) -> tuple[Any, ...]:
    sensitive = () if "entity" in roles else ("ill",)
    (compiled,) = sqlaudit.compile_checks(
        "people", qi=["name"], sensitive=sensitive, checks=[check], dialect=dialect, **roles
    )
    return tuple(int(one) if isinstance(one, bool) else one for one in run(compiled.sql))
