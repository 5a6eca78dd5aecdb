"""`sqlaudit aggregates`: find cells of a published table that disclose too much."""

from __future__ import annotations

from sqlaudit.base.errors import ExitCode
from sqlaudit.cli.exits import tell
from sqlaudit.cli.runner import Job, job_command
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.result import AggregatesResult


@job_command(AggregatesRequest)
def command(job: Job, request: AggregatesRequest) -> int:
    """Find cells of a published table that disclose too much about their contributors.

    TARGET has one row per cell: counts by region and month, or turnover by branch. Totals are
    rows, too. With --from, TARGET has rows of people, and the table is made from them. A --query
    with GROUP BY, without --by, is judged as one answer, on the rows behind it. Exit code
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
      sqlaudit aggregates --query "SELECT region, avg(cost) FROM 'visits.csv' GROUP BY region" \\
          --person patient_id --require threshold=5
    """
    from sqlaudit.tabular.run import aggregates, code_of

    def code(result: AggregatesResult) -> ExitCode:
        if result.protection is not None and result.protection.file:
            tell(f"wrote {result.cells:,} cells to {result.protection.file!r}.")
        return code_of(result)

    return job.run(aggregates, request, code=code)
