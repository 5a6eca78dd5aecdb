"""The Python interface to column sets and records: `sqlaudit.columns` and `sqlaudit.records`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlaudit.base.annotated import wrong_types_told
from sqlaudit.base.errors import UsageError
from sqlaudit.base.numbers import Share
from sqlaudit.base.options import request_from
from sqlaudit.base.spec import Limits, NullPolicy, ReadOptions, Roles, roles_from
from sqlaudit.base.targets import make_target
from sqlaudit.base.words import spelled
from sqlaudit.column_sets.records.request import RecordRequest
from sqlaudit.column_sets.records.result import RecordRisk
from sqlaudit.column_sets.records.search import find_records
from sqlaudit.column_sets.request import ColumnRequest, FindSets, RankBy, Ratio
from sqlaudit.column_sets.result import ColumnSets
from sqlaudit.column_sets.search import find_columns
from sqlaudit.engines import opened
from sqlaudit.engines.contract import Database

_LEFT_OUT = ("sensitive", "identifiers")
"""Roles of columns that take no part where only what others know is searched."""


@wrong_types_told
def columns(
    target: Any = None,
    *,
    columns: Sequence[str] = (),
    exclude: Sequence[str] = (),
    entity: str | None = None,
    k: int = 5,
    tolerance: Share = 0,
    identifying: bool = False,
    epsilon: Share = 0,
    delta: Share = 0,
    ratio: Ratio | str = Ratio.DISTINCT,
    max_size: int | None = None,
    find: FindSets | str = FindSets.ALL,
    rank_by: RankBy | str = RankBy.AT_RISK,
    limit: int = 1000,
    start: Sequence[str] = (),
    restarts: int = 0,
    seed: int = 0,
    nulls: NullPolicy | str = NullPolicy.EQUAL,
    time_budget: float | None = None,
    effects: bool = True,
    roles: Roles | Mapping[str, Any] | None = None,
    db: Database = None,
    query: str = "",
    where: str = "",
    read: ReadOptions | Mapping[str, Any] | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
) -> ColumnSets:
    """Find the column sets that re-identify (`sqlaudit columns`).

    Args:
        target: a table, view, file path or glob, or a pandas, polars or Arrow table; None with `query`.
        columns, exclude: which columns take part. entity: the person of a row; sizes then count persons.
        k, tolerance: a set violates when more than `tolerance` times all rows lie in classes below k.
        identifying, epsilon, ratio: search sets whose distinct ratio or separation is at least 1 - epsilon instead.
        delta: search a random sample, so large that with a chance of at least 1 - delta every set that separates all
            its pairs of rows separates at least 1 - epsilon of all pairs; with identifying, and ratio="separation".
        max_size: the largest size; None = 4 for all violating sets and rankings, else any.
        find: all, minimum, greedy or ranking. rank_by: the figure of a ranking. limit: how many sets are reported.
        start, restarts: of the greedy search. seed: of its random orders, and of a sample.
        nulls: how a missing value is read: equal, distinct or wildcard.
        time_budget: seconds; the result then says what is proven. effects: count what changing each column would save.
        roles: columns, entity and nulls at once, instead of these: a mapping of roles, or what `profile(…).roles`
            proposes; the quasi-identifiers take part.
        db, query, where, read, limits: as for `sqlaudit.audit`.

    Raises:
        UsageError: an unknown column, or a combination that has no meaning.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd, sqlaudit
        >>> people = pd.DataFrame({"zip": [1, 1, 2, 2], "sex": list("fmfm"), "age": [30, 30, 30, 30]})
        >>> [one.columns for one in sqlaudit.columns(people, k=2).sets]
        [('zip', 'sex')]
    """
    given = locals()
    if roles is not None:
        if columns:
            raise UsageError(f"{spelled('roles')} and {spelled('columns')} both name columns; give one of them.")
        known = roles_from({"roles": roles, "qi": (), "entity": entity, "nulls": nulls}, passed_over=_LEFT_OUT)
        given |= {"columns": known.quasi_identifiers, "entity": known.entity, "nulls": known.nulls}
    request = request_from(ColumnRequest, given)
    chosen = make_target(target, query=query, where=where, read=read)
    with opened(db, limits, chosen) as engine:
        return find_columns(engine, chosen, request)


@wrong_types_told
def records(
    target: Any = None,
    *,
    qi: Sequence[str] = (),
    key: Sequence[str] = (),
    weights: str | None = None,
    household: str | None = None,
    max_global_risk: Share | None = None,
    max_size: int = 3,
    sampling_fraction: Share | None = None,
    nulls: NullPolicy | str = NullPolicy.EQUAL,
    top: int = 50,
    show_values: bool = False,
    roles: Roles | Mapping[str, Any] | None = None,
    db: Database = None,
    query: str = "",
    where: str = "",
    read: ReadOptions | Mapping[str, Any] | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
) -> RecordRisk:
    """Tell which records are special (`sqlaudit records`).

    Args:
        target: a table, view, file path or glob, or a pandas, polars or Arrow table; None with `query`.
        qi: the quasi-identifiers. key: what the most special records are shown by; empty = the quasi-identifiers.
        weights: sampling weights. household: which rows live together. max_global_risk: the wanted share of records
            expected to be re-identified; the threshold of risk that keeps it is told.
        max_size: the largest size of a minimal sample unique.
        sampling_fraction: the sample's share; None = 0.01 for DIS-SUDA, and else the file is the population.
        nulls: how a missing value is read for unique rows and individual risk.
        top: how many records to show, only with `show_values`.
        roles: qi and nulls at once, instead of these: a mapping of roles, or what `profile(…).roles` proposes.
        db, query, where, read, limits: as for `sqlaudit.audit`.

    Raises:
        UsageError: an unknown column, or weights that make no sense.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd, sqlaudit
        >>> people = pd.DataFrame({"zip": [1, 1, 2], "sex": list("fff"), "job": list("aab")})
        >>> sqlaudit.records(people, qi=["zip", "sex", "job"]).uniques_by_size
        (2, 0, 0)
    """
    given = locals()
    if roles is not None:
        known = roles_from({"roles": roles, "qi": qi, "nulls": nulls}, passed_over=_LEFT_OUT)
        given |= {"qi": known.quasi_identifiers, "nulls": known.nulls}
    request = request_from(RecordRequest, given)
    chosen = make_target(target, query=query, where=where, read=read)
    with opened(db, limits, chosen) as engine:
        return find_records(engine, chosen, request)
