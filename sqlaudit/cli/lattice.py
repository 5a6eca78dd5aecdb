"""`sqlaudit lattice`: how little a table must be coarsened to be safe, and the view that publishes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from sqlaudit.base.errors import ExitCode
from sqlaudit.base.options import request_from
from sqlaudit.base.spec import Limits, Roles, Sampling, Target
from sqlaudit.cli.exits import say, tell
from sqlaudit.cli.options import (
    Demands,
    Work,
    limit_options,
    output_options,
    population_options,
    require_options,
    role_options,
    target_options,
    work_options,
)
from sqlaudit.cli.output import Output, say_written
from sqlaudit.cli.requests import given_options, request_options
from sqlaudit.cli.sections import Sectioned
from sqlaudit.lattices.request import LatticePublication, LatticeRequest

if TYPE_CHECKING:
    from sqlaudit.base.relation import Statement
    from sqlaudit.engines.contract import Engine
    from sqlaudit.lattices.result import LatticeResult
    from sqlaudit.lattices.search.inquiry import Progress, Tell


@click.command(cls=Sectioned)
@target_options
@role_options
@population_options
@require_options
@given_options(LatticeRequest, "search")
@request_options(
    LatticePublication, "publication", last=("to", "buckets_to", "original_qi", "suppressed", "keep_column")
)
@output_options
@work_options
@limit_options
def command(
    target: Target,
    db: str | None,
    roles: Roles,
    sampling: Sampling,
    asked: Demands,
    search: Mapping[str, Any],
    publication: LatticePublication,
    output: Output,
    work: Work,
    limits: Limits,
) -> int:
    """Find how little TARGET must be coarsened to be safe, and publish that.

    A node of the lattice chooses one level of coarseness for every quasi-identifier. The
    table is counted once, in its database; nothing is changed there without --execute.

    \b
      sqlaudit lattice patients.csv --qi age,sex,zip --sensitive diagnosis \\
          --hierarchies hierarchies.yml --require k=5 --require l=3 --suppress 2%
    Exit code 0: a safe node was found, 1: there is none (or an audit of the release
    says FAIL), 4: out of time.
    """
    from sqlaudit.cli.last_resort import LastResort
    from sqlaudit.cli.plan import show_statements
    from sqlaudit.cli.session import session
    from sqlaudit.lattices.api import check_publication, make, search_and_publish, targets_of
    from sqlaudit.lattices.run import plan_lattice

    roles = replace(roles, sampling=sampling)
    request = request_from(
        LatticeRequest, search, target=target, roles=roles, requirements=asked.requirements, inputs=asked.inputs
    )
    check_publication(publication, db)
    with session(db, limits, work, *targets_of(request)) as engine:
        if work.dry_run or work.explain:
            tables = engine.open(target).tables or (target.name,)
            statements = [*_before(engine, request, publication), *plan_lattice(engine, request)]
            show_statements(engine, tables, statements, work, output)
            return ExitCode.OK
        result = search_and_publish(engine, request, publication, _teller(engine))
        if result.stopped == "interrupted":  # what is known is worth telling before the way out
            _emit(output, result)
            return ExitCode.INTERRUPTED
    with LastResort(limits.timeout):
        result = make(db, request, publication, result, limits)
    _emit(output, result)
    _tell(result, publication)
    return code_of(result)


def _before(engine: Engine, request: LatticeRequest, publication: LatticePublication) -> list[Statement]:
    """What is looked at before a search whose release is to be written."""
    from sqlaudit.audits.emit import statements_before
    from sqlaudit.lattices.run import open_table

    return statements_before(engine, publication, open_table(engine, request).written(engine, publication.keep))


def code_of(result: LatticeResult) -> ExitCode:
    """The exit code that a result asks for."""
    if not result.complete:
        return ExitCode.INCOMPLETE
    audit = result.published.audit if result.published else None
    failed = not result.passed or (audit is not None and audit.status == "fail")
    return ExitCode.REQUIREMENT_FAILED if failed else ExitCode.OK


def _emit(output: Output, result: LatticeResult) -> None:
    from sqlaudit.lattices.report import lattice_document

    sql = result.published.sql if result.published and result.published.view else ""
    output.emit(lambda: lattice_document(result), result.to_dict, sql)


def _tell(result: LatticeResult, publication: LatticePublication) -> None:
    made = result.published
    if publication.wanted and made is None:
        say("nothing was published: there is no safe node.")
    elif made is not None and made.executed:
        tell(f"made the view {made.view!r}.")
    elif made is not None and made.audit is not None:
        say_written(publication, made.audit.rows)


def _teller(engine: Engine) -> Tell:
    """Progress of a search: nodes decided of all, and the best loss so far."""
    from sqlaudit.reports.figures import figure

    def tell(progress: Progress) -> None:
        if engine.progress is None:
            return
        best = "" if progress.best is None else f", best so far {figure(progress.best)}"
        share = progress.decided / progress.total if progress.total else None
        engine.progress(f"{progress.decided:,} of {progress.total:,} nodes decided{best}", share)

    return tell
