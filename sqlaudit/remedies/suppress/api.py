"""The Python interface to cell suppression: `sqlaudit.suppress`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlaudit.base.annotated import wrong_types_told
from sqlaudit.base.numbers import Share
from sqlaudit.base.options import request_from
from sqlaudit.base.publication import Publication, Suppressed
from sqlaudit.base.spec import AuditSpec, Limits, NullPolicy, ReadOptions, Roles, Target, roles_from
from sqlaudit.base.targets import make_target
from sqlaudit.classes.inputs import further_targets
from sqlaudit.engines import opened
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.overwriting import files_read, refuse_overwriting
from sqlaudit.models.requirements import Require, requirements
from sqlaudit.remedies.suppress.request import How, SuppressRequest
from sqlaudit.remedies.suppress.result import SuppressResult
from sqlaudit.remedies.suppress.run import suppress_table


@wrong_types_told
def suppress(
    target: Any = None,
    *,
    qi: Sequence[str] | str = (),
    require: Require = None,
    sensitive: Sequence[str] | str = (),
    how: How | str = How.AUTO,
    rows: Suppressed | str | None = None,
    weights: Mapping[str, Share] | None = None,
    time_limit: float | None = 60.0,
    seed: int | None = None,
    publish_sql: bool = False,
    to: str | Path | None = None,
    keep_column: Sequence[str] | str = (),
    identifier: Sequence[str] | str = (),
    entity: str | None = None,
    nulls: NullPolicy | str = NullPolicy.EQUAL,
    db: str | Engine | None = None,
    query: str = "",
    where: str = "",
    inputs: Mapping[str, Any] | None = None,
    read: ReadOptions | Mapping[str, Any] | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
    roles: Roles | Mapping[str, Any] | None = None,
) -> SuppressResult:
    """Find the fewest cells to suppress so that a release is safe (`sqlaudit suppress`).

    Args:
        target: a table, view, file path or glob, or a pandas, polars or Arrow table; None with `query`.
        qi: the quasi-identifiers. require: k-anonymity, distinct l-diversity, or both.
        sensitive: with l-diversity the sensitive attribute.
        how: `exact`, `fast`, or `auto`: exact where the program is small enough.
        rows: suppress whole rows instead of cells: `drop` leaves them out, `star` makes all their columns `*`.
        weights: what a cell weighs, by its column. time_limit: seconds for the exact program, None = any.
        seed: decides which copies of a row part when they do; a secret number when None.
        publish_sql: put the SELECT of the release into the result. to: write the release to a .parquet or .csv file,
            or its SELECT to a .sql file.
        keep_column: columns that are written though they look like direct identifiers.
        identifier, entity, nulls, db, query, where, inputs, read, limits: as for `audit`.
        roles: the roles at once, instead of their parameters: a mapping of these, or what `profile(…).roles` proposes.

    Raises:
        UsageError: a request that does not fit the table, or that it cannot satisfy.
        MissingDriver: an exact answer was asked for, and HiGHS is not installed.
        EngineError: the database refused or failed, or the audit of the release contradicts the suppression.

    Example:
        >>> import pandas as pd, sqlaudit
        >>> figure_1 = pd.DataFrame({"x": list("xzyz"), "y": list("acac"), "z": list("bdbe")})
        >>> found = sqlaudit.suppress(figure_1, qi=["x", "y", "z"], require={"k": 2})
        >>> int(found.cost), found.optimal, [column.cells for column in found.columns]
        (4, True, [2, 0, 2])
    """
    request = request_from(
        SuppressRequest,
        locals(),
        target=make_target(target, query=query, where=where, read=read),
        roles=roles_from(locals()),
        requirements=requirements(require),
        inputs=inputs or {},
    )
    published = request_from(Publication, locals())
    published.check()
    refuse_overwriting([published.file], files_read(db, targets_of(request)))
    with opened(db, limits, *targets_of(request)) as engine:
        return suppress_table(engine, request, published)


def targets_of(request: SuppressRequest) -> tuple[Target, ...]:
    """Everything that a suppression reads."""
    spec = AuditSpec(request.target, request.roles, request.requirements, request.inputs)
    return (request.target, *further_targets(spec))
