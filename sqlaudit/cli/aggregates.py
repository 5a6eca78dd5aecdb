"""`sqlaudit aggregates`: which cells of a published table say too much."""

from __future__ import annotations

from dataclasses import replace

import click

from sqlaudit.base.errors import ExitCode
from sqlaudit.base.spec import Limits, Requirement, Target
from sqlaudit.cli.exits import tell
from sqlaudit.cli.options import Work, limit_options, output_options, target_options, work_options
from sqlaudit.cli.output import Output
from sqlaudit.cli.plan import show_statements
from sqlaudit.cli.requests import request_options
from sqlaudit.cli.sections import Sectioned, in_section, shared
from sqlaudit.tabular.report import aggregates_document
from sqlaudit.tabular.request import AggregatesRequest

_hold = in_section("What must hold of each cell")


def _rules(*, require: tuple[str, ...]) -> dict[str, tuple[Requirement, ...]]:
    if not require:
        return {"rules": ()}
    from sqlaudit.models.registry import CELL_RULES
    from sqlaudit.models.requirements import parse_requirements

    return {"rules": tuple(one for text in require for one in parse_requirements(text, among=CELL_RULES))}


@click.command(cls=Sectioned)
@target_options
@request_options(AggregatesRequest, "request")
@shared(
    _rules,
    _hold("--require", multiple=True, metavar="RULE=LIMIT", help="threshold=5, p_percent=10, dominance=n:2,k:85 ..."),
)
@in_section("How cells belong together")(
    "--before",
    multiple=True,
    metavar="TABLE",
    help="An older release, compared with this one (several, or a pattern of files: each two of all).",
)
@in_section("How cells belong together")(
    "--linked",
    multiple=True,
    metavar="TABLE",
    help="A further table of the same people, judged together with this one; --by names the dimensions of all.",
)
@output_options
@work_options
@limit_options
def command(
    target: Target,
    db: str | None,
    request: AggregatesRequest,
    rules: tuple[Requirement, ...],
    before: tuple[str, ...],
    linked: tuple[str, ...],
    output: Output,
    work: Work,
    limits: Limits,
) -> int:
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
    from sqlaudit.cli.session import session
    from sqlaudit.tabular.run import find_unsafe_cells, plan_cells

    request = replace(request, requirements=rules)
    older, beside = (
        [Target(relation=name, where=target.where, read=target.read) for name in names] for names in (before, linked)
    )
    with session(db, limits, work, target, *older, *beside) as engine:
        if work.dry_run or work.explain:
            relation = engine.open(target)
            planned = plan_cells(engine, relation, request, [engine.open(one) for one in beside])
            show_statements(engine, relation.tables or (target.name,), planned, work, output)
            return ExitCode.OK
        result = find_unsafe_cells(engine, target, request, older, beside)
    output.emit(lambda: aggregates_document(result), result.to_dict)
    if result.protection is not None and result.protection.file:
        tell(f"wrote {result.cells:,} cells to {result.protection.file!r}.")
    if result.protection is not None:
        return ExitCode.OK if result.protection.safe else ExitCode.REQUIREMENT_FAILED
    return ExitCode.OK if result.passed else ExitCode.REQUIREMENT_FAILED
