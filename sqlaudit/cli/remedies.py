"""`sqlaudit recode`, `suppress`: make a table safe, and publish it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlaudit.base.errors import ExitCode
from sqlaudit.cli.exits import say
from sqlaudit.cli.options import whole_request
from sqlaudit.cli.output import say_written
from sqlaudit.cli.runner import Job, job_command, progress_callback
from sqlaudit.remedies.recode.request import Method, RecodeRequest
from sqlaudit.remedies.suppress.request import SuppressRequest

if TYPE_CHECKING:
    from sqlaudit.remedies.recode.result import RecodeResult
    from sqlaudit.remedies.suppress.result import SuppressResult


# `sqlaudit recode`: make a table safe by local recoding, and publish it.


@job_command(whole_request(RecodeRequest, last=("keep_column",), publish_sql="Print the SELECT of the release."))
def recode(job: Job, request: RecodeRequest) -> int:
    """Make a table safe by local recoding: generalize each class only as far as needed.

    Classes are counted in the database and grouped by their counts. The rows are rewritten by
    SQL in the database, and the release is audited before it is written. Nothing is changed in
    the database without --execute.

    \b
      sqlaudit recode patients.csv --qi age,sex,zip --sensitive diagnosis \\
          --hierarchies hierarchies.yml --require k=5 --require l=3 --to release.csv
    Exit code 0: a recoding was found, 1: none was found, 4: time limit reached.
    """
    from sqlaudit.remedies.recode.run import code_of, recode_and_publish
    from sqlaudit.remedies.recode.run import recode as recode_command

    def code(result: RecodeResult) -> ExitCode:
        if result.release is not None:
            say_written(request.publication, result.release.rows)
        elif request.publication.file is not None:
            say("nothing was published: no recoding was found.")
        return code_of(result)

    def progress(done: int, groups: int) -> str:
        steps, count_name = ("merges", "classes left") if request.method is Method.KACA else ("rounds", "groups tried")
        return f"{done:,} {steps}, {groups:,} {count_name}"

    return job.run(
        recode_command,
        request,
        lambda engine: recode_and_publish(engine, request, progress_callback(engine, progress)),
        code=code,
    )


# `sqlaudit suppress`: the fewest cells to make `*` so that a release is safe, and that release.


@job_command(SuppressRequest)
def suppress(job: Job, request: SuppressRequest) -> int:
    """Find the fewest cells to suppress so that a table is safe to publish.

    Cells become *, and rows that differ in nothing else become a class. Patterns of rows are
    counted in the database; no value leaves it. The release is audited before it is written.

    \b
      sqlaudit suppress patients.csv --qi age,sex,zip --sensitive diagnosis \\
          --require k=5 --require l=2 --weights zip=2 --to release.parquet
    Exit code 0: a safe release was found, 4: --exact was given but is not proven.
    """
    from sqlaudit.remedies.suppress.run import code_of, suppress_table
    from sqlaudit.remedies.suppress.run import suppress as suppress_command

    def code(result: SuppressResult) -> ExitCode:
        if result.release is not None:
            say_written(request.publication, result.release.rows)
        return code_of(result)

    return job.run(
        suppress_command, request, lambda engine: suppress_table(engine, request, engine.progress), code=code
    )
