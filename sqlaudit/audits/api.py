"""The Python interface: one call opens the engine, audits, and closes it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlaudit.audits.auditor import Auditor
from sqlaudit.audits.distribution import WORST_CLASSES
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.annotated import wrong_types_told
from sqlaudit.base.numbers import Share
from sqlaudit.base.options import request_from, several
from sqlaudit.base.spec import (
    AuditSpec,
    Buckets,
    Coverage,
    KnownRows,
    Limits,
    NullPolicy,
    ReadOptions,
    Roles,
    Sampling,
    roles_from,
)
from sqlaudit.base.targets import make_target
from sqlaudit.classes.inputs import further_targets
from sqlaudit.engines import opened
from sqlaudit.engines.contract import Database
from sqlaudit.models.coverage import with_accepted
from sqlaudit.models.requirements import Require, requirements


@wrong_types_told
def audit(
    target: Any = None,
    *,
    qi: Sequence[str] = (),
    sensitive: Sequence[str] | str = (),
    require: Require = None,
    identifier: Sequence[str] = (),
    entity: str | None = None,
    joint: bool = False,
    nulls: NullPolicy | str = NullPolicy.EQUAL,
    sampling_fraction: Share | None = None,
    population_size: int | None = None,
    weights: str | None = None,
    known_rows: KnownRows | str = KnownRows.WORSE,
    db: Database = None,
    query: str = "",
    where: str = "",
    inputs: Mapping[str, Any] | None = None,
    read: ReadOptions | Mapping[str, Any] | None = None,
    buckets: Buckets | Mapping[str, Any] | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
    roles: Roles | Mapping[str, Any] | None = None,
    failing_classes: int | None = 10,
    worst_classes: int = WORST_CLASSES,
    show_values: bool = False,
    accept_identifier: Sequence[str] | str = (),
    insensitive: Sequence[str] | str = (),
    all_columns_named: bool = False,
) -> AuditResult:
    """Audit a table and return what was found.

    Args:
        target: a table, view, file path or glob, or a pandas, polars or Arrow table; None with `query`.
        qi: quasi-identifiers: column names or SQL expressions.
        sensitive: sensitive attributes, each audited on its own.
        require: what must hold: `{"k": 5, "recursive_l": {"c": 3, "l": 2}}` or `["k=5", "t=0.2"]`.
        identifier: direct identifiers; one that is in the table fails.
        entity: the column that says which person a row belongs to.
        joint: add the other sensitive attributes to the quasi-identifiers while one is audited.
        nulls: how a NULL in a quasi-identifier is read: equal, distinct or wildcard.
        sampling_fraction, population_size, weights: where the table is a sample, its share of the population, or how
            many people that has, or the column that says how many a row stands for; one of them.
        known_rows: with an entity, for whom is judged who knows one row of a person, all rows, or the worse of both.
        db: a database URL or DuckDB file, or an engine or SparkSession that is already open (it is left open).
        query: one SELECT instead of a target.
        where: a SQL condition on the rows.
        inputs: further inputs of models (categories, orders, a population table or frame, …): what
            `sqlaudit.classes.inputs.load_inputs` reads from a file, or the same as a mapping.
        read: how files are read.
        buckets: of a bucketized release the second table: a mapping with `table`, `column` and perhaps `count`.
        limits: time, memory and threads.
        roles: the roles at once, instead of their parameters: a mapping of these, or what `profile(…).roles` proposes.
        failing_classes: how many failing classes to read, None = all.
        worst_classes: of how many of the worst classes to read how each sensitive attribute is spread, 0 = of none,
            which saves a statement.
        show_values: whether the quasi-identifier values of these classes, and the sensitive values of the worst and of
            a stated person, may be read.
        accept_identifier: direct identifiers that may be in the table; they need not be named as `identifier` too.
        insensitive: columns that need no role, because somebody looked at them.
        all_columns_named: whether a column without a role (that is not insensitive either) fails.

    Raises:
        UsageError: a column, model or value that does not fit.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd
        >>> people = pd.DataFrame({"zip": ["13053"] * 3 + ["14850"] * 2, "disease": list("aabcc")})
        >>> result = audit(people, qi=["zip"], sensitive="disease", require={"k": 2, "l": 2})
        >>> result.passed, [(check.model, check.level) for check in result.checks]
        (False, [('k_anonymity', 2), ('distinct_l_diversity', 1)])
    """
    accepted = several(accept_identifier)
    asked = roles_from(locals(), sampling=request_from(Sampling, locals()))
    spec = AuditSpec(
        make_target(target, query=query, where=where, read=read, buckets=buckets),
        replace(asked, identifiers=with_accepted(asked.identifiers, accepted)),
        requirements(require),
        inputs or {},
        request_from(Coverage, locals()),
    )
    with opened(db, limits, spec.target, *further_targets(spec)) as engine:
        return Auditor(engine, failing_classes, show_values, worst_classes=worst_classes).audit(spec)
