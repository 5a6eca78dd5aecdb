"""`sqlaudit cube`: make the finest groups of a table that may be queried freely."""

from __future__ import annotations

from sqlaudit.base.errors import ExitCode
from sqlaudit.cli.exits import say, tell
from sqlaudit.cli.options import whole_request
from sqlaudit.cli.runner import Job, job_command
from sqlaudit.cubes.request import CubeRequest
from sqlaudit.cubes.result import CubeResult


@job_command(whole_request(CubeRequest, publish_sql="Print the SELECT of the cube."))
def command(job: Job, request: CubeRequest) -> int:
    """Make the finest groups of a table that may be published, so that any query on them is safe.

    A block is a group of people with the same dimensions. Blocks with fewer people than the
    threshold, or whose sums fail a rule, are left out of everything. The others have their people,
    rows, and the sum and count of each measure. Exit code 0: a cube was made, 1: no block is left.

    \b
      sqlaudit cube patients.csv --dimensions "age=5 years,sex,region" --measures income \\
          --entity person --require threshold=10 --require dominance=n:1,k:85 --to cube.parquet
    """
    from sqlaudit.cubes.run import code_of
    from sqlaudit.cubes.run import cube as cube_command

    def code(result: CubeResult) -> ExitCode:
        if result.file and request.publication.file is not None and not request.publication.table:
            tell(f"wrote {result.blocks:,} blocks to {result.file!r}.")
        elif request.publication.wanted and not result.passed:
            say("nothing was published: no cube was made.")
        return code_of(result)

    return job.run(cube_command, request, code=code)
