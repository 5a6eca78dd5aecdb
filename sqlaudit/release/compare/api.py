"""The Python interface to comparisons: `sqlaudit.compare`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from sqlaudit.base.annotated import wrong_types_told
from sqlaudit.base.options import request_from
from sqlaudit.base.spec import Buckets, Limits, ReadOptions
from sqlaudit.base.targets import make_target
from sqlaudit.engines import opened
from sqlaudit.engines.contract import Database
from sqlaudit.models.requirements import Require, requirements
from sqlaudit.release.compare.request import CompareRequest
from sqlaudit.release.compare.result import CompareResult
from sqlaudit.release.compare.run import compare_tables


@wrong_types_told
def compare(
    original: Any,
    release: Any,
    *,
    qi: Sequence[str],
    sensitive: Sequence[str] | str = (),
    key: Sequence[str] | str = (),
    by_position: bool = False,
    hierarchies: Any = None,
    other: Any = None,
    measures: Sequence[str] = (),
    beta: int | float | str | Fraction = 1,
    distance: str = "equal",
    queries: Sequence[str] | str = (),
    workload: int = 100,
    noise_queries: int = 100,
    seed: int = 0,
    require: Require = None,
    inputs: Mapping[str, Any] | None = None,
    show_values: bool = False,
    db: Database = None,
    read: ReadOptions | Mapping[str, Any] | None = None,
    buckets: Buckets | Mapping[str, Any] | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
) -> CompareResult:
    """Compare a release with its original (`sqlaudit compare`).

    Args:
        original, release: tables, views, file paths, frames or `Target`s, both in one database or both files or frames.
        qi: the quasi-identifiers, which both have. sensitive: sensitive attributes, which the release leaves unchanged.
        key: columns that name a row in both. by_position: rows correspond by their order. Without either, counts alone
            say which rows belong together, where they leave no choice.
        hierarchies: a file, a folder or a mapping, as `sqlaudit.hierarchies.read.read_hierarchies` takes it.
        other: another release of the same original; the result says which of the two is coarser.
        measures: names of loss measures, all by default. beta: the exponent of height weights.
        distance: of sensitive values: equal, ordered or hierarchical.
        queries: aggregate queries (one text may hold several) that are asked of both tables.
        workload: how many random counting queries. noise_queries: how many for the range-query noise. seed: of both.
        require, inputs: as for `sqlaudit.audit`, for the audit of the release.
        show_values: whether answers of grouped queries name their groups.
        db, read, limits: as for `sqlaudit.audit`.
        buckets: the second table of a bucketized release, as for `sqlaudit.audit`; `release` has the persons.

    Raises:
        UsageError: columns, cells, keys, hierarchies or queries that do not fit.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd, sqlaudit
        >>> people = pd.DataFrame({"age": [31, 38, 52, 57], "disease": list("aabb")})
        >>> public = pd.DataFrame({"age": ["30-39", "30-39", "50-59", "50-59"], "disease": list("aabb")})
        >>> found = sqlaudit.compare(people, public, qi=["age"], sensitive="disease")
        >>> found.generalization.answer.value, found.loss("modification-rate").value, found.loss("entropy").value
        ('yes', Fraction(1, 1), 4.0)
    """
    request = request_from(
        CompareRequest,
        locals(),
        original=make_target(original, read=read),
        release=make_target(release, read=read, buckets=buckets),
        other=None if other is None else make_target(other, read=read),
        requirements=requirements(require),
        inputs=inputs or {},
    )
    with opened(db, limits, *request.targets) as engine:
        return compare_tables(engine, request)
