"""`sqlaudit recode`, `suppress`: make a table safe, and publish it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlaudit.base.errors import ExitCode, UsageError, verdict
from sqlaudit.base.publication import BucketPublication, Publication
from sqlaudit.cli.exits import say
from sqlaudit.cli.options import population_options, require_options, role_options, target_options
from sqlaudit.cli.output import say_written
from sqlaudit.cli.requests import given_options, group_options, in_section, request_options
from sqlaudit.cli.runner import Job, job_command, progress_callback
from sqlaudit.remedies.recode.request import Method, RecodeRequest
from sqlaudit.remedies.suppress.request import How, SuppressRequest

if TYPE_CHECKING:
    from sqlaudit.remedies.recode.result import RecodeResult
    from sqlaudit.remedies.suppress.result import SuppressResult


# `sqlaudit recode`: make a table safe by local recoding, and publish it.


@job_command(
    target_options,
    role_options,
    population_options,
    require_options,
    given_options(RecodeRequest, "recoding"),
    request_options(
        BucketPublication, "publication", last=("keep_column",), publish_sql="Print the SELECT of the release."
    ),
)
def recode(job: Job, recoding: Mapping[str, Any], publication: BucketPublication) -> int:
    """Make a table safe by local recoding: generalize each class only as far as needed.

    Classes are counted in the database and grouped by their counts. The rows are rewritten by
    SQL in the database, and the release is audited before it is written. Nothing is changed in
    the database.

    \b
      sqlaudit recode patients.csv --qi age,sex,zip --sensitive diagnosis \\
          --hierarchies hierarchies.yml --require k=5 --require l=3 --to release.csv
    Exit code 0: a recoding was found, 1: none was found, 4: time limit reached.
    """
    from sqlaudit.lattices.run import targets_of
    from sqlaudit.remedies.recode.run import plan_recoding, recode_and_publish

    def code(result: RecodeResult) -> ExitCode:
        if result.release is not None:
            say_written(publication, result.release.rows)
        elif publication.file is not None:
            say("nothing was published: no recoding was found.")
        return verdict(result.passed)

    def progress(done: int, groups: int) -> str:
        steps, count_name = ("merges", "classes left") if request.method is Method.KACA else ("rounds", "groups tried")
        return f"{done:,} {steps}, {groups:,} {count_name}"

    request = job.request(RecodeRequest, recoding, publication=publication)
    publication.check()
    return job.run_old(
        lambda engine, _: plan_recoding(engine, request),
        lambda engine: recode_and_publish(engine, request, progress_callback(engine, progress)),
        code,
        targets=targets_of(request.of_lattice()),
        sql=lambda result: result.release.sql if result.release and publication.with_sql else "",
    )


# `sqlaudit suppress`: the fewest cells to make `*` so that a release is safe, and that release.

_search_option = in_section("Search")


def _how_chosen(*, exact: bool, fast: bool) -> How:
    if exact and fast:
        raise UsageError("--exact and --fast exclude each other: give one of them.")
    return How.EXACT if exact else How.FAST if fast else How.AUTO


_how_options = group_options(
    "how",
    _how_chosen,
    _search_option("--exact", is_flag=True, help="Prove the minimum, or report a lower bound; needs HiGHS."),
    _search_option(
        "--fast", is_flag=True, help="Take a good answer at once, with a bound. Default: exact for small problems."
    ),
)


@job_command(
    target_options,
    role_options,
    require_options,
    _how_options,
    given_options(SuppressRequest, "chosen"),
    request_options(Publication, "published"),
)
def suppress(job: Job, how: How, chosen: Mapping[str, Any], published: Publication) -> int:
    """Find the fewest cells to suppress so that a table is safe to publish.

    Cells become *, and rows that differ in nothing else become a class. Patterns of rows are
    counted in the database; no value leaves it. The release is audited before it is written.

    \b
      sqlaudit suppress patients.csv --qi age,sex,zip --sensitive diagnosis \\
          --require k=5 --require l=2 --weights zip=2 --to release.parquet
    Exit code 0: a safe release was found, 4: --exact was given but is not proven.
    """
    from sqlaudit.remedies.suppress.run import plan_suppression, suppress_table, targets_of

    def code(result: SuppressResult) -> ExitCode:
        if result.release is not None:
            say_written(published, result.release.rows)
        return verdict(True, result.complete)

    request = job.request(SuppressRequest, {**chosen, "how": how})
    published.check()
    return job.run_old(
        lambda engine, _: plan_suppression(engine, request, published),
        lambda engine: suppress_table(engine, request, published, engine.progress),
        code,
        targets=targets_of(request),
        sql=lambda result: result.release.sql if result.release and published.with_sql else "",
        stopped=lambda result: result.effort.stopped == "interrupted",
    )
