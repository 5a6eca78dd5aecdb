"""`sqlaudit lattice`: the least generalization that makes a table safe, and the view that publishes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlaudit.base.errors import ExitCode
from sqlaudit.cli.exits import say, tell
from sqlaudit.cli.options import whole_request
from sqlaudit.cli.output import say_written
from sqlaudit.cli.runner import Job, job_command, progress_callback
from sqlaudit.lattices.request import LatticeRequest

if TYPE_CHECKING:
    from sqlaudit.lattices.result import LatticeResult
    from sqlaudit.lattices.search.inquiry import Progress


_LAST = ("to", "bom", "buckets_to", "original_qi", "suppressed", "keep_column")


@job_command(whole_request(LatticeRequest, last=_LAST))
def command(job: Job, request: LatticeRequest) -> int:
    """Find the least generalization that makes a table safe, and publish it.

    A node of the lattice is one level of generalization for every quasi-identifier. The table is
    counted once, in its database; nothing is changed there without --execute.

    \b
      sqlaudit lattice patients.csv --qi age,sex,zip --sensitive diagnosis \\
          --hierarchies hierarchies.yml --require k=5 --require l=3 --suppress 2%
    Exit code 0: a safe node was found, 1: no node is safe (or the audit of the release
    fails), 4: time limit reached.
    """
    from sqlaudit.cli.signals import LastResort
    from sqlaudit.lattices.run import code_of, lattice, make_view, search_and_publish

    publication = request.publication

    def finish(result: LatticeResult) -> LatticeResult:
        with LastResort(job.limits.timeout):
            return make_view(request, result, job.db, job.limits)

    def code(result: LatticeResult) -> ExitCode:
        published = result.published
        if publication.wanted and published is None:
            say("nothing was published: no node is safe.")
        elif published is not None and published.executed:
            kind = "view" if publication.view else "table"
            tell(f"created the {kind} {publication.created!r}.")
        elif published is not None and published.audit is not None:
            say_written(publication, published.audit.rows)
        return code_of(result)

    return job.run(
        lattice,
        request,
        lambda engine: search_and_publish(engine, request, progress_callback(engine, _progress_text, _progress_share)),
        code=code,
        finish=finish,
    )


def _progress_share(progress: Progress) -> float | None:
    """Return the share of nodes that are decided, None if their number is unknown."""
    return progress.decided / progress.total if progress.total else None


def _progress_text(progress: Progress) -> str:
    """Return the text of the progress bar: nodes decided of all, and the best loss so far."""
    from sqlaudit.reports.document import figure

    best = "" if progress.best is None else f", best so far {figure(progress.best)}"
    return f"{progress.decided:,} of {progress.total:,} nodes decided{best}"
