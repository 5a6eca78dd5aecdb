"""`sqlaudit aggregates`: find cells of a published table that disclose too much."""

from __future__ import annotations

from dataclasses import replace

from sqlaudit.base.errors import ExitCode, verdict
from sqlaudit.base.spec import Target
from sqlaudit.cli.exits import tell
from sqlaudit.cli.options import cell_options, target_options
from sqlaudit.cli.requests import in_section, request_options
from sqlaudit.cli.runner import Job, job_command
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.result import AggregatesResult

_related_option = in_section("Totals and related tables")


@job_command(
    target_options,
    request_options(AggregatesRequest, "request"),
    cell_options,
    _related_option(
        "--before",
        multiple=True,
        metavar="TABLE",
        help="An earlier release to compare with (repeatable, or a pattern of files; all pairs are compared).",
    ),
    _related_option(
        "--linked",
        multiple=True,
        metavar="TABLE",
        help="A further table of the same people, judged together with this one; --by names the dimensions of all.",
    ),
)
def command(job: Job, request: AggregatesRequest, before: tuple[str, ...], linked: tuple[str, ...]) -> int:
    """Find cells of a published table that disclose too much about their contributors.

    TARGET has one row per cell: counts by region and month, or turnover by branch. Totals are
    rows, too. With --from, TARGET has rows of people, and the table is made from them. Exit code
    0: every rule is met, 1: a rule fails or could not be checked. With --protect, 0: the protected
    table is safe, 1: nothing was written.

    \b
      sqlaudit aggregates counts.csv --by region,month --count n --require threshold=5
      sqlaudit aggregates turnover.csv --by branch --value turnover --count firms \\
          --largest first,second --require p_percent=10 --require dominance=n:2,k:85
      sqlaudit aggregates counts.csv --by region,month --count n --require threshold=5 \\
          --protect --to safe.parquet
      sqlaudit aggregates may.csv --before april.csv --by region --count n --require threshold=5
      sqlaudit aggregates by_sector.csv --linked by_age.csv --by region,sector,age --count n \\
          --require threshold=5 --require no_unpickable_cell=4
      sqlaudit aggregates turnover.csv --by branch --value turnover --count firms \\
          --largest first,second --preset acro
      sqlaudit aggregates --from visits.csv --by region,month --person patient_id --value cost \\
          --grouping "region;region,month;()" --require threshold=5 --require p_percent=10
    """
    from sqlaudit.tabular.run import find_unsafe_cells, plan_cells

    def code(result: AggregatesResult) -> ExitCode:
        protection = result.protection
        if protection is not None and protection.file:
            tell(f"wrote {result.cells:,} cells to {protection.file!r}.")
        return verdict(result.passed if protection is None else protection.safe)

    target = job.target
    request = replace(request, requirements=job.demands.requirements)
    earlier_tables, linked_tables = (
        [Target(relation=name, where=target.where, read=target.read) for name in names] for names in (before, linked)
    )
    return job.run_old(
        lambda engine, relation: plan_cells(engine, relation, request, [engine.open(table) for table in linked_tables]),
        lambda engine: find_unsafe_cells(engine, target, request, earlier_tables, linked_tables),
        code,
        targets=[target, *earlier_tables, *linked_tables],
    )
