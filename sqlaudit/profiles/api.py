"""The Python interface to profiles: `sqlaudit.profile`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlaudit.base.annotated import wrong_types_told
from sqlaudit.base.options import request_from
from sqlaudit.base.spec import Limits, ReadOptions
from sqlaudit.base.targets import make_target
from sqlaudit.engines import opened
from sqlaudit.engines.contract import Database
from sqlaudit.profiles.request import EXACT_ROWS, ProfileRequest
from sqlaudit.profiles.result import ProfileResult


@wrong_types_told
def profile(
    target: Any = None,
    *,
    db: Database = None,
    query: str = "",
    where: str = "",
    read: ReadOptions | Mapping[str, Any] | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
    exact_rows: int = EXACT_ROWS,
    show_values: bool = False,
    sets: bool = True,
) -> ProfileResult:
    """Look at the columns of a table and propose their roles.

    Args:
        target: a table, view, file path or glob, or a pandas, polars or Arrow table; None with `query`.
        db: a database URL or DuckDB file, or an engine or SparkSession that is already open (it is left open).
        query: one SELECT instead of a target.
        where: a SQL condition on the rows.
        read: how files are read.
        limits: time, memory and threads.
        exact_rows: tables with more rows are looked at in a sample of 500,000 rows.
        show_values: whether smallest, largest and frequent values may be read; without it only counts are.
        sets: whether to look for columns that together pick people out.

    Raises:
        UsageError: no such target, or one without columns.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd
        >>> people = pd.DataFrame({"mail": ["a@b.org", "c@d.org", "e@f.org"], "sex": list("mff"), "income": [1, 2, 2]})
        >>> [(column.name, column.role.value) for column in profile(people).columns]
        [('mail', 'direct_identifier'), ('sex', 'quasi_identifier'), ('income', 'sensitive')]
    """
    from sqlaudit.profiles.run import profile_target

    request = request_from(ProfileRequest, locals())
    chosen = make_target(target, query=query, where=where, read=read)
    with opened(db, limits, chosen) as engine:
        return profile_target(engine, chosen, request)
