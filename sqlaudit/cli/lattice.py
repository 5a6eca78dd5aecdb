"""`sqlaudit lattice`: the least generalization that makes a table safe, and the view that publishes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlaudit.base.errors import ExitCode, verdict
from sqlaudit.cli.exits import say, tell
from sqlaudit.cli.options import population_options, require_options, role_options, target_options
from sqlaudit.cli.output import say_written
from sqlaudit.cli.requests import given_options, request_options
from sqlaudit.cli.runner import Job, job_command, progress_callback
from sqlaudit.lattices.request import LatticePublication, LatticeRequest

if TYPE_CHECKING:
    from sqlaudit.base.relation import Relation, Statement
    from sqlaudit.engines.contract import Engine
    from sqlaudit.lattices.result import LatticeResult
    from sqlaudit.lattices.search.inquiry import Progress


@job_command(
    target_options,
    role_options,
    population_options,
    require_options,
    given_options(LatticeRequest, "search"),
    request_options(
        LatticePublication, "publication", last=("to", "buckets_to", "original_qi", "suppressed", "keep_column")
    ),
)
def command(job: Job, search: Mapping[str, Any], publication: LatticePublication) -> int:
    """Find the least generalization that makes a table safe, and publish it.

    A node of the lattice is one level of generalization for every quasi-identifier. The table is
    counted once, in its database; nothing is changed there without --execute.

    \b
      sqlaudit lattice patients.csv --qi age,sex,zip --sensitive diagnosis \\
          --hierarchies hierarchies.yml --require k=5 --require l=3 --suppress 2%
    Exit code 0: a safe node was found, 1: no node is safe (or the audit of the release
    fails), 4: time limit reached.
    """
    from sqlaudit.audits.release import statements_before
    from sqlaudit.cli.signals import LastResort
    from sqlaudit.lattices.run import check_publication, make, open_table, plan_lattice, search_and_publish, targets_of

    def plan(engine: Engine, _: Relation) -> list[Statement]:
        written = open_table(engine, request, planned=True).written(engine, publication.keep)
        return [*statements_before(engine, publication, written), *plan_lattice(engine, request)]

    def finish(result: LatticeResult) -> LatticeResult:
        with LastResort(job.limits.timeout):
            return make(job.db, request, publication, result, job.limits)

    def code(result: LatticeResult) -> ExitCode:
        published = result.published
        if publication.wanted and published is None:
            say("nothing was published: no node is safe.")
        elif published is not None and published.executed:
            tell(f"created the view {published.view!r}.")
        elif published is not None and published.audit is not None:
            say_written(publication, published.audit.rows)
        return code_of(result)

    def share(progress: Progress) -> float | None:
        return progress.decided / progress.total if progress.total else None

    request = job.request(LatticeRequest, search)
    check_publication(publication, job.db)
    return job.run_old(
        plan,
        lambda engine: search_and_publish(
            engine, request, publication, progress_callback(engine, _progress_text, share)
        ),
        code,
        targets=targets_of(request),
        sql=lambda result: result.published.sql if result.published and result.published.view else "",
        stopped=lambda result: result.stopped == "interrupted",
        finish=finish,
    )


def code_of(result: LatticeResult) -> ExitCode:
    """Return the exit code of a search's result."""
    audit = result.published.audit if result.published else None
    return verdict(result.passed and (audit is None or audit.status != "fail"), result.complete)


def _progress_text(progress: Progress) -> str:
    """Return the text of the progress bar: nodes decided of all, and the best loss so far."""
    from sqlaudit.reports.document import figure

    best = "" if progress.best is None else f", best so far {figure(progress.best)}"
    return f"{progress.decided:,} of {progress.total:,} nodes decided{best}"
