"""`sqlaudit baseline`: accept today's state, or look at how it drifted."""

from __future__ import annotations

from pathlib import Path

import click

from sqlaudit.base.errors import ExitCode
from sqlaudit.base.spec import Limits
from sqlaudit.cli.exits import worst
from sqlaudit.cli.options import limit_options, output_options
from sqlaudit.cli.output import Output
from sqlaudit.cli.policy_options import Opener, WhichPolicy, policy_options, select_option
from sqlaudit.cli.sections import Sectioned, in_section

DEFAULT = Path("sqlaudit-baseline.duckdb")
_hold = in_section("What is kept")


@click.command(cls=Sectioned)
@policy_options
@select_option
@_hold(
    "--baseline",
    "kept",
    type=click.Path(path_type=Path),
    default=DEFAULT,
    show_default=True,
    metavar="FILE",
    help="The DuckDB file with the accepted state and the runs since.",
)
@_hold("--history", is_flag=True, help="Show how the tests drifted; run and accept nothing.")
@_hold("--runs", type=click.IntRange(1, 1000), default=10, show_default=True, metavar="N", help="Runs in the history.")
@output_options
@limit_options
def command(
    which: WhichPolicy, select: tuple[str, ...], kept: Path, history: bool, runs: int, output: Output, limits: Limits
) -> int:
    """Accept today's state of the tables, so that only what gets worse fails.

    Runs the tests of the policy and keeps their figures in a file: levels and counts, no value of
    a table. `sqlaudit test --baseline FILE` compares with it, and adds each run to the file.

    \b
      sqlaudit baseline
      sqlaudit test --baseline sqlaudit-baseline.duckdb
      sqlaudit baseline --history
    """
    from sqlaudit.gates.api import GateRequest, run_gate
    from sqlaudit.gates.baseline_report import accepted_document, history_data, history_document, not_accepted
    from sqlaudit.gates.history import History

    if history:
        moments = History(kept).moments(runs)
        output.emit(lambda: history_document(str(kept), moments), lambda: history_data(str(kept), moments))
        return ExitCode.OK
    request = GateRequest(
        which.file, which.dbt_project, which.dbt_target, select, baseline=kept, accept=True, limits=limits
    )
    result = run_gate(request, Opener(), [output.file])
    output.emit(lambda: accepted_document(result), result.to_dict)
    mistakes = [ExitCode.USAGE for _ in result.mistakes]
    return worst(*(test.exit_code for test in not_accepted(result)), *mistakes)
