"""The Python interface to persons in many rows: `sqlaudit.persons`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sqlaudit.base.annotated import wrong_types_told
from sqlaudit.base.options import request_from
from sqlaudit.base.spec import Limits, NullPolicy, ReadOptions, Roles, roles_from
from sqlaudit.base.targets import make_target
from sqlaudit.engines import opened
from sqlaudit.engines.contract import Database
from sqlaudit.events.request import PersonsRequest
from sqlaudit.events.result import PersonsResult
from sqlaudit.events.run import find_persons
from sqlaudit.models.registry import OF_PERSONS
from sqlaudit.models.requirements import Require, requirements


@wrong_types_told
def persons(
    target: Any = None,
    *,
    entity: str = "",
    qi: Sequence[str] | str = (),
    static: Sequence[str] = (),
    static_from: Any = None,
    sensitive: Sequence[str] = (),
    known: int = 2,
    k: int = 5,
    h: Fraction | float | str = Fraction(4, 5),
    rho: bool = False,
    multiset: bool = False,
    tolerance: Mapping[str, Any] | Sequence[str] = (),
    sequence: str = "",
    random: int = 0,
    draws: int = 10_000,
    seed: int = 0,
    nulls: NullPolicy | str = NullPolicy.EQUAL,
    effects: bool = False,
    records: int = 0,
    show_values: bool = False,
    time_budget: float | None = None,
    require: Require = None,
    roles: Roles | Mapping[str, Any] | None = None,
    db: Database = None,
    query: str = "",
    where: str = "",
    read: ReadOptions | Mapping[str, Any] | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
) -> PersonsResult:
    """Tell what somebody learns who knows some events of a person (`sqlaudit persons`).

    Args:
        target: a table with a row for each event: a table, view, file path or glob, or a pandas, polars or Arrow table;
            None with `query`.
        entity: the column that names the person of a row.
        qi: names or expressions whose values together are an event. static: those that stay the same for a person.
        static_from: the table that has these, joined by `entity`: as `target`; None = the target.
        sensitive: columns of values that known events must not tell.
        known: the largest number of known events. k: persons who must share what is known. h: the share of them who may
            hold one sensitive value. rho: whether sensitive values may be known, too.
        multiset: whether repeats of an event count.
        random: up to how many events drawn at random to tell the share of persons singled out.
        draws, seed: of persons, where there are too many sets to count all.
        tolerance: columns, and how far from the true value a known one may be: {"day": "7d", "amount": 10}.
        sequence: the column of dates, times or numbers in whose order events are known.
        nulls: how a missing value is read: equal, distinct or wildcard.
        effects: count what leaving out or coarsening each column would save, and which values tell most.
        records: list so many persons most at risk. show_values: with who they are, and which values tell.
        time_budget: seconds; the result then says what is proven.
        require: what must hold of persons: `{"km@2": 5, "profile_k": 5}`, or texts such as "unicity@4=5%".
        roles: entity, qi, sensitive and nulls at once, instead of these: a mapping of roles, or a `Roles`.
        db, query, where, read, limits: as for `sqlaudit.audit`.

    Raises:
        UsageError: an unknown column, rows without a person, static values that change, a number out of its range.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd, sqlaudit
        >>> visits = pd.DataFrame({"who": [1, 1, 2, 2, 3, 3], "clinic": list("ababac")})
        >>> found = sqlaudit.persons(visits, entity="who", qi=["clinic"], k=2)
        >>> found.at(1).smallest, found.at(2).unique_persons, found.profile.k
        (1, 1, 1)
    """
    persons_of = None if static_from is None else make_target(static_from, read=read)
    required = requirements(require, OF_PERSONS)
    given = {**locals(), "static_from": persons_of}
    if roles is not None:
        asked = {"roles": roles, "entity": entity, "qi": qi, "sensitive": sensitive, "nulls": nulls}
        whole = roles_from(asked, passed_over=("identifiers",))
        given |= {"entity": whole.entity or "", "qi": whole.quasi_identifiers, "sensitive": whole.sensitive}
        given |= {"nulls": whole.nulls}
    request = request_from(PersonsRequest, given)
    request = replace(request, requirements=required)
    chosen = make_target(target, query=query, where=where, read=read)
    with opened(db, limits, chosen, *request.targets) as engine:
        return find_persons(engine, chosen, request)
