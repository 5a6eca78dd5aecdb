"""`sqlaudit aggregates`: which cells of a published table say too much."""

from __future__ import annotations

from dataclasses import replace

from sqlaudit.base.errors import ExitCode
from sqlaudit.base.spec import Target
from sqlaudit.cli.exits import tell
from sqlaudit.cli.options import require_of, target_options
from sqlaudit.cli.requests import in_section, request_options
from sqlaudit.cli.runner import Job, declared, verdict
from sqlaudit.tabular.request import AggregatesRequest
from sqlaudit.tabular.result import AggregatesResult

_together = in_section("How cells belong together")


@declared(
    target_options,
    request_options(AggregatesRequest, "request"),
    require_of(
        "CELL_RULES", "What must hold of each cell", "RULE=LIMIT", "threshold=5, p_percent=10, dominance=n:2,k:85 ..."
    ),
    _together(
        "--before",
        multiple=True,
        metavar="TABLE",
        help="An older release, compared with this one (several, or a pattern of files: each two of all).",
    ),
    _together(
        "--linked",
        multiple=True,
        metavar="TABLE",
        help="A further table of the same people, judged together with this one; --by names the dimensions of all.",
    ),
)
def command(job: Job, request: AggregatesRequest, before: tuple[str, ...], linked: tuple[str, ...]) -> int:
    """Tell which cells of a published table say too much of the few behind them.

    TARGET has a row for each cell: counts by region and month, turnover by branch. Its totals are
    rows, too. With --from it has rows of persons instead, and the table is made from them. Exit
    code 0: every rule holds, 1: one fails or cannot be decided. With --protect 0: the protected
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
      sqlaudit aggregates --from visits.csv --by region,month --person patient_id --value cost \\
          --grouping "region;region,month;()" --require threshold=5 --require p_percent=10
    """
    from sqlaudit.tabular.run import find_unsafe_cells, plan_cells

    def code(result: AggregatesResult) -> ExitCode:
        made = result.protection
        if made is not None and made.file:
            tell(f"wrote {result.cells:,} cells to {made.file!r}.")
        return verdict(result.passed if made is None else made.safe)

    target = job.target
    request = replace(request, requirements=job.asked.requirements)
    older, beside = (
        [Target(relation=name, where=target.where, read=target.read) for name in names] for names in (before, linked)
    )
    return job.run(
        lambda engine, relation: plan_cells(engine, relation, request, [engine.open(one) for one in beside]),
        lambda engine: find_unsafe_cells(engine, target, request, older, beside),
        code,
        targets=[target, *older, *beside],
    )
