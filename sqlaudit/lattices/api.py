"""The Python interface to the generalization lattice: `sqlaudit.lattice`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from sqlaudit.audits.auditor import Auditor
from sqlaudit.audits.bucketed import refuse_without_buckets
from sqlaudit.audits.emit import before
from sqlaudit.base.annotated import wrong_types_told
from sqlaudit.base.errors import EngineError, UsageError
from sqlaudit.base.numbers import Share
from sqlaudit.base.options import made, request_from
from sqlaudit.base.publication import Suppressed
from sqlaudit.base.spec import (
    AuditSpec,
    KnownRows,
    Limits,
    NullPolicy,
    ReadOptions,
    Roles,
    Sampling,
    Target,
    roles_from,
)
from sqlaudit.base.targets import make_target
from sqlaudit.base.words import spelled
from sqlaudit.classes.inputs import further_targets
from sqlaudit.engines import connect, opened
from sqlaudit.engines.contract import Database, Engine
from sqlaudit.engines.overwriting import files_read, refuse_overwriting
from sqlaudit.engines.view import View
from sqlaudit.engines.writing import check_view, create_view
from sqlaudit.lattices.release_audit import audit_of, checkable
from sqlaudit.lattices.releasing import publish
from sqlaudit.lattices.request import Find, LatticePublication, LatticeRequest
from sqlaudit.lattices.result import Checked, LatticeResult
from sqlaudit.lattices.run import find_nodes, open_table
from sqlaudit.lattices.search.inquiry import Tell, silent
from sqlaudit.models.requirements import Require, requirements

NO_VIEW = LatticePublication()


@wrong_types_told
def lattice(
    target: Any = None,
    *,
    qi: Sequence[str] = (),
    require: Require = None,
    sensitive: Sequence[str] | str = (),
    hierarchies: Any = None,
    suppress: Share = 0,
    find: Find | str = Find.BEST,
    measure: str = "loss",
    weights: Mapping[str, Share] | None = None,
    beta: int | float | str | Fraction = 1,
    algorithm: str = "auto",
    chain: Sequence[Sequence[int]] = (),
    knowledge: Sequence[int] | int | str = (),
    time_budget: float | None = None,
    walk: bool = True,
    identifier: Sequence[str] = (),
    entity: str | None = None,
    joint: bool = False,
    nulls: NullPolicy | str = NullPolicy.EQUAL,
    sampling_fraction: Share | None = None,
    population_size: int | None = None,
    known_rows: KnownRows | str = KnownRows.WORSE,
    publish_view: str = "",
    execute: bool = False,
    replace_view: bool = False,
    to: str | Path | None = None,
    buckets_to: str | Path | None = None,
    original_qi: bool = False,
    suppressed: Suppressed | str = Suppressed.DROP,
    keep_column: Sequence[str] | str = (),
    db: Database = None,
    query: str = "",
    where: str = "",
    inputs: Mapping[str, Any] | None = None,
    read: ReadOptions | Mapping[str, Any] | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
    roles: Roles | Mapping[str, Any] | None = None,
) -> LatticeResult:
    """Find out how little a table must be coarsened to be safe (`sqlaudit lattice`).

    Args:
        target: a table, view, file path or glob, or a pandas, polars or Arrow table; None with `query`.
        qi: the quasi-identifiers, in the order of a node's levels. require: what a release must satisfy.
        sensitive, identifier, entity, joint, nulls, known_rows, inputs: as for `audit`, and so is `require`.
        sampling_fraction, population_size: as for `audit`; for weights of rows, give their sum as the population.
        hierarchies: how each quasi-identifier becomes coarser: a YAML file, a folder of CSV files, or a mapping such as
            `{"age": {"widths": [5, 10]}, "sex": "keep"}`; a column without one is kept or suppressed.
        suppress: the share of the rows that may be left out, in classes that fall short.
        find: `best`, `minimal`, `all` or `chain`. measure: the loss that is minimized. weights: of columns in it.
        beta: the exponent of the height weights of the measure `whd-height`.
        algorithm: `auto`, `bounds`, `best-first`, `ola`, `incognito`, `exhaustive` or `chain`.
        chain: with `chain`: nodes from fine to coarse. knowledge: with `all`: for how many pieces of knowledge the
            maximum disclosure of every node is told, as numbers or as "0..12".
        time_budget: seconds. walk: keep every node that was counted.
        publish_view: write the view of the best node; with `execute` make it in the database, over a connection of its
            own, replacing a view only with `replace_view`. to: write the release to a .parquet or .csv file instead, or
            its SELECT to a .sql file.
        buckets_to: publish in buckets: `to` gets the persons, this file the values of their buckets.
        original_qi: whether persons keep their quasi-identifiers as they were there.
        suppressed: `drop` or `star`: what a release does with rows in classes that fall short.
        keep_column: columns that are written though they look like direct identifiers.
        db, query, where, read, limits: as for `audit`.
        roles: the roles at once, instead of their parameters: a mapping of these, or what `profile(…).roles` proposes.

    Raises:
        UsageError: a column, hierarchy, requirement or option that does not fit.
        EngineError: the database refused, failed or went away, or a release contradicts the search.

    Example:
        >>> import pandas as pd, sqlaudit
        >>> people = pd.DataFrame({"age": [31, 34, 38, 52, 57], "sex": list("fmfmf")})
        >>> found = sqlaudit.lattice(people, qi=["age", "sex"], require={"k": 2}, hierarchies={"age": {"widths": [10]}})
        >>> found.best.levels, found.named(found.best.levels)
        ((2, 0), {'age': '*', 'sex': 'values'})
    """
    request = request_from(
        LatticeRequest,
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
    )
    publication = request_from(LatticePublication, locals())
    check_publication(publication, db if isinstance(db, str) else None)
    refuse_overwriting([publication.file, publication.buckets], files_read(db, targets_of(request)))
    with opened(db, limits, *targets_of(request)) as engine:
        result = search_and_publish(engine, request, publication)
    return (
        make(db if isinstance(db, str) else None, request, publication, result, made(Limits, limits, "limits"))
        if execute
        else result
    )


def check_publication(publication: LatticePublication, db: str | None) -> None:
    """Nothing when the release can be put where it is wanted, as far as that can be said before any work.

    Raises:
        UsageError: a file that cannot be written, or a view without the name of its database.
    """
    publication.check()
    if publication.execute and not db:
        raise UsageError(
            f"{spelled('execute', True)} makes a view in a database, over a connection of its own; name it with "
            f"{spelled('db')}."
        )
    if publication.view:
        view = View(publication.view, "")
        view.parts()
        if publication.execute and db:
            check_view(db, view)


def targets_of(request: LatticeRequest) -> tuple[Target, ...]:
    """Everything that a search reads."""
    spec = AuditSpec(request.target, request.roles, request.requirements, request.inputs)
    return (request.target, *further_targets(spec))


def search_and_publish(
    engine: Engine, request: LatticeRequest, publication: LatticePublication = NO_VIEW, tell: Tell = silent
) -> LatticeResult:
    """Search, and write the release of the best node; a view is not made yet.

    Args:
        engine: an open engine. request, publication: what is asked. tell: told of progress.

    Raises:
        UsageError, EngineError: as `lattice`.
    """
    table = open_table(engine, request)
    refuse_without_buckets(publication, request.roles, table.roles)
    before(engine, publication, table.written(engine, publication.keep))
    result = find_nodes(engine, request, tell=tell, table=table)
    if not publication.wanted or result.best is None or result.stopped == "interrupted":
        return result
    return replace(result, published=publish(engine, request, table, result, publication))


def make(
    db: str | None, request: LatticeRequest, publication: LatticePublication, result: LatticeResult, limits: Limits
) -> LatticeResult:
    """Make the view of a result over a connection of its own, and audit the view.

    Raises:
        UsageError: no database, or a relation of that name is there already.
        EngineError: the database refused, or the audit of the view contradicts that of its SQL.
    """
    written = result.published
    if written is None or not publication.execute:
        return result
    view = View(publication.view, written.select)
    create_view(db, view, replace=publication.replace)
    checked = _audited(db, request, written.keys, publication.view, limits, written.audit, result.rows)
    return replace(result, published=replace(written, executed=True, audit=checked))


def _audited(
    db: str | None,
    request: LatticeRequest,
    keys: Sequence[str],
    view: str,
    limits: Limits,
    before: Checked | None,
    rows: int,
) -> Checked | None:
    """The audit of the view as others will read it; it must find what was found before the view was made."""
    if before is None or request.roles.entity is not None:  # persons are not in the view
        return before
    target = Target(relation=view)
    spec = audit_of(request, keys, target, rows, alone=True)
    with connect(db, limits, target, *further_targets(spec)) as engine:
        found = Auditor(engine, failing_classes=0, rows_meant=True).audit(spec)
    agrees = found.status.value == before.status or checkable(request, alone=True) != request.requirements
    if (found.rows, found.classes.count) != (before.rows, before.classes) or not agrees:
        raise EngineError(f"The view {view!r} does not hold what was searched; the table changed meanwhile. Drop it.")
    return before
