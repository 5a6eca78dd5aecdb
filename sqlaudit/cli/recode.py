"""`sqlaudit recode`: make a table safe by local recoding, and publish that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from sqlaudit.base.errors import ExitCode
from sqlaudit.base.options import request_from
from sqlaudit.base.publication import BucketPublication
from sqlaudit.base.spec import Limits, Roles, Sampling, Target
from sqlaudit.cli.exits import say
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
from sqlaudit.remedies.recode.request import Method, RecodeRequest

if TYPE_CHECKING:
    from sqlaudit.engines.contract import Engine
    from sqlaudit.remedies.recode.kaca import Tell
    from sqlaudit.remedies.recode.result import RecodeResult


@click.command(cls=Sectioned)
@target_options
@role_options
@population_options
@require_options
@given_options(RecodeRequest, "recoding")
@request_options(
    BucketPublication, "publication", last=("keep_column",), publish_sql="Print the SELECT of the release."
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
    recoding: Mapping[str, Any],
    publication: BucketPublication,
    output: Output,
    work: Work,
    limits: Limits,
) -> int:
    """Make TARGET safe by local recoding: each class as coarse as it must be, and no coarser.

    Classes are counted in the database and grouped by their counts; the rows are rewritten
    by SQL where they lie, and the release is audited before it is written. Nothing is
    changed in the database.

    \b
      sqlaudit recode patients.csv --qi age,sex,zip --sensitive diagnosis \\
          --hierarchies hierarchies.yml --require k=5 --require l=3 --to release.csv
    Exit code 0: a recoding was found, 1: there is none, 4: out of time.
    """
    from sqlaudit.cli.plan import show_statements
    from sqlaudit.cli.session import session
    from sqlaudit.lattices.api import targets_of
    from sqlaudit.remedies.recode.api import recode_and_publish
    from sqlaudit.remedies.recode.run import plan_recoding

    request = request_from(
        RecodeRequest,
        recoding,
        target=target,
        roles=replace(roles, sampling=sampling),
        requirements=asked.requirements,
        inputs=asked.inputs,
        publication=publication,
    )
    publication.check()
    with session(db, limits, work, *targets_of(request.of_lattice())) as engine:
        if work.dry_run or work.explain:
            tables = engine.open(target).tables or (target.name,)
            show_statements(engine, tables, plan_recoding(engine, request), work, output)
            return ExitCode.OK
        result = recode_and_publish(engine, request, _teller(engine, request))
    _emit(output, result, publication)
    return code_of(result)


def code_of(result: RecodeResult) -> ExitCode:
    """The exit code that a result asks for."""
    return ExitCode.OK if result.passed else ExitCode.REQUIREMENT_FAILED


def _emit(output: Output, result: RecodeResult, publication: BucketPublication) -> None:
    from sqlaudit.remedies.recode.report import recode_document

    sql = result.release.sql if result.release and publication.with_sql else ""
    output.emit(lambda: recode_document(result), result.to_dict, sql)
    if result.release is not None:
        say_written(publication, result.release.rows)
    elif publication.file is not None:
        say("nothing was published: there is no recoding.")


def _teller(engine: Engine, request: RecodeRequest) -> Tell:
    """Progress: merges and classes that are left, or rounds of splits and groups so far."""
    steps, left = ("merges", "classes left") if request.method is Method.KACA else ("rounds", "groups tried")

    def tell(done: int, groups: int) -> None:
        if engine.progress is not None:
            engine.progress(f"{done:,} {steps}, {groups:,} {left}", None)

    return tell
