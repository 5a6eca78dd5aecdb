"""The Python interface to local recoding: `sqlaudit.recode`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from sqlaudit.base.annotated import wrong_types_told
from sqlaudit.base.numbers import Share
from sqlaudit.base.options import request_from
from sqlaudit.base.publication import BucketPublication
from sqlaudit.base.spec import Limits, NullPolicy, ReadOptions, Roles, Sampling, roles_from
from sqlaudit.base.targets import make_target
from sqlaudit.engines import opened
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.overwriting import files_read, refuse_overwriting
from sqlaudit.lattices.api import targets_of
from sqlaudit.models.requirements import Require, requirements
from sqlaudit.remedies.recode.kaca import Tell, silent
from sqlaudit.remedies.recode.request import BY_DEFAULT, Method, Order, RecodeRequest
from sqlaudit.remedies.recode.result import RecodeResult
from sqlaudit.remedies.recode.run import recode_table


@wrong_types_told
def recode(
    target: Any = None,
    *,
    qi: Sequence[str] | str = (),
    require: Require = None,
    sensitive: Sequence[str] | str = (),
    hierarchies: Any = None,
    method: Method | str = Method.KACA,
    order: Order | str = Order.SMALLEST,
    seed: int | None = None,
    beta: int | float | str | Fraction = 0,
    measure: str = BY_DEFAULT,
    lattice: bool = True,
    time_budget: float | None = None,
    identifier: Sequence[str] | str = (),
    entity: str | None = None,
    joint: bool = False,
    nulls: NullPolicy | str = NullPolicy.EQUAL,
    sampling_fraction: Share | None = None,
    population_size: int | None = None,
    publish_sql: bool = False,
    to: str | Path | None = None,
    buckets_to: str | Path | None = None,
    original_qi: bool = False,
    keep_column: Sequence[str] | str = (),
    db: str | Engine | None = None,
    query: str = "",
    where: str = "",
    inputs: Mapping[str, Any] | None = None,
    read: ReadOptions | Mapping[str, Any] | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
    roles: Roles | Mapping[str, Any] | None = None,
) -> RecodeResult:
    """Make a table safe by local recoding: each class as coarse as it must be, and no coarser (`sqlaudit recode`).

    Args:
        target: a table, view, file path or glob, or a pandas, polars or Arrow table; None with `query`.
        qi, sensitive, identifier, entity, joint, nulls, sampling_fraction, population_size, inputs, require: as for
            `audit`. Requirements are those that a class satisfies by itself.
        hierarchies: how each quasi-identifier becomes coarser, as for `lattice`.
        method: `kaca` merges each class that falls short with its nearest class; `mondrian` splits the table as long as
            every part satisfies the requirements, ordered columns at medians into ranges.
        order: which class KACA merges next: `smallest` or `random`. seed: of the random order.
        beta: the exponent of KACA's weights of levels, 1/(j-1)^beta; 0 = every level weighs the same.
        measure: the loss of `compare` that is named first.
        lattice: whether the best node of the lattice is found for comparison. time_budget: seconds.
        publish_sql: make the SELECT of the release (`release.sql` of the result).
        to: write the release to a .parquet or .csv file, or its SELECT to a .sql file.
        buckets_to: publish in buckets: `to` gets the persons, this file the values of their buckets.
        original_qi: whether persons keep their quasi-identifiers as they were there.
        keep_column: columns that are written though they look like direct identifiers.
        db, query, where, read, limits: as for `audit`.
        roles: the roles at once, instead of their parameters: a mapping of these, or what `profile(…).roles` proposes.

    Raises:
        UsageError: a column, hierarchy, requirement or option that does not fit.
        Incomplete: the time budget was used up; nothing was published.
        EngineError: the database refused, failed or went away, or an audit of the release contradicts it.

    Example:
        >>> import pandas as pd, sqlaudit
        >>> people = pd.DataFrame({"age": [31, 34, 38, 52, 57], "sex": list("fmfmf")})
        >>> made = sqlaudit.recode(people, qi=["age", "sex"], require={"k": 2}, hierarchies={"age": {"widths": [10]}})
        >>> made.groups, made.columns[0].rows_at, made.columns[1].rows_at
        (2, (('values', 0), ('width 10', 0), ('*', 5)), (('values', 5), ('*', 0)))
    """
    request = request_from(
        RecodeRequest,
        locals(),
        target=make_target(target, query=query, where=where, read=read),
        roles=roles_from(
            locals(),
            sampling=request_from(
                Sampling, {"sampling_fraction": sampling_fraction, "population_size": population_size}
            ),
        ),
        requirements=requirements(require),
        inputs=inputs or {},
        publication=request_from(BucketPublication, locals()),
    )
    refuse_overwriting(
        [request.publication.file, request.publication.buckets], files_read(db, targets_of(request.of_lattice()))
    )
    with opened(db, limits, *targets_of(request.of_lattice())) as engine:
        return recode_and_publish(engine, request)


def recode_and_publish(engine: Engine, request: RecodeRequest, tell: Tell = silent) -> RecodeResult:
    """Recode over an open engine; the file is checked before any work.

    Raises:
        UsageError, Incomplete, EngineError: as `recode`.
    """
    request.publication.check()
    return recode_table(engine, request, tell=tell)
