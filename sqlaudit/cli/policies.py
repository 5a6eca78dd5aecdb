"""`sqlaudit test`, `baseline`: run a policy, and accept the state of its tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sqlaudit.base.errors import ExitCode
from sqlaudit.base.spec import Limits
from sqlaudit.cli.exits import say, worst
from sqlaudit.cli.options import limit_options, output_options
from sqlaudit.cli.output import Output, print_data
from sqlaudit.cli.policy_options import (
    GateOutput,
    Opener,
    WhichPolicy,
    gate_output_options,
    policy_options,
    select_option,
)
from sqlaudit.cli.requests import Sectioned, WholeRange, in_section

if TYPE_CHECKING:
    from sqlaudit.gates.result import Policy, TestSpec


# `sqlaudit test`: run a policy; the gate before publication.

_what = in_section("What to test")
_hold = in_section("What must hold")
_class = in_section("Classes that fall short")
_show = in_section("Showing the work")


@click.command(cls=Sectioned)
@policy_options
@select_option
@_what("--fail-fast", is_flag=True, help="Stop after the first table with a failing test.")
@_what("--list", "list_only", is_flag=True, help="Read the policy and list its tests; connect to nothing.")
@_what(
    "--results",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Connect to nothing; judge what a warehouse answered to the statements of 'compile -f' (.json, .jsonl, .csv; "
    "dbt's run_results.json).",
)
@_what(
    "--db",
    metavar="DATABASE",
    help="Ask one database behind an ADBC driver by compiled SELECTs, in the place of the policy's connections: "
    "adbc:sqlite:///clinic.db, adbc:postgresql://host/db, adbc:flightsql:grpc://host:port.",
)
@_what("--dialect", metavar="NAME", help="With --db: the SQL that it speaks, where its driver does not say that.")
@_what("--run", metavar="NAME", help="With --results: only answers to statements that were compiled for this --run.")
@_hold("--baseline", type=click.Path(path_type=Path), metavar="FILE", help="Fail only on what got worse since then.")
@_class(
    "--store-failures",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Keep the classes that fall short in a .duckdb file, without their values.",
)
@_class("--show-values", is_flag=True, help="With their values, which may name persons.")
@gate_output_options
@_show("--show-sql", is_flag=True, help="Print every statement that runs, on stderr.")
@limit_options
def test(
    which: WhichPolicy,
    select: tuple[str, ...],
    fail_fast: bool,
    list_only: bool,
    results: tuple[Path, ...],
    run: str | None,
    db: str | None,
    dialect: str | None,
    baseline: Path | None,
    store_failures: Path | None,
    show_values: bool,
    output: GateOutput,
    show_sql: bool,
    limits: Limits,
) -> int:
    """Test whether the tables of a policy may be published.

    The policy (sqlaudit.yml) names tables, the roles of their columns, and what must hold.
    No report holds a value of a table; --store-failures does when --show-values asks for it.

    \b
      sqlaudit init --db clinic.duckdb
      sqlaudit test
      sqlaudit test --select tag:release --format github
    Exit code 0: publish, 1: a test fails, 2: a mistake in the policy, 3: database trouble.
    """
    from sqlaudit.gates.api import GateRequest, run_gate

    if show_values and store_failures is None:
        raise click.UsageError("--show-values belongs to --store-failures; no report of a policy shows values.")
    if results and (store_failures is not None or show_sql or limits != Limits()):
        raise click.UsageError(
            "--results connects to nothing: leave out --store-failures, --show-sql, and limits of time or memory."
        )
    if run is not None and not results:
        raise click.UsageError("--run belongs to --results.")
    if db is not None and (show_sql or limits != Limits(timeout=limits.timeout)):
        raise click.UsageError("--db runs what 'compile -f' writes: leave out --show-sql, and limits but --timeout.")
    request = GateRequest(
        which.file,
        which.dbt_project,
        which.dbt_target,
        select,
        fail_fast,
        baseline,
        store_failures=store_failures,
        show_values=show_values,
        limits=limits,
        results=results,
        run=run or "",
        db=db or "",
        dialect=dialect or "",
    )
    if list_only:
        return _list(request.read(), select)
    from sqlaudit.cli.signals import LastResort

    with LastResort(limits.timeout if db else None):
        result = run_gate(request, Opener(show_sql), output.files, say)
    output.emit(result)
    return worst(*result.exit_codes)


def _list(policy: Policy, select: tuple[str, ...]) -> ExitCode:
    """The tests on stdout and the mistakes on stderr."""
    from sqlaudit.gates.run import mistakes_of
    from sqlaudit.gates.run import select as selected
    from sqlaudit.reports.document import visible

    mistakes = mistakes_of(policy)
    for mistake in mistakes:
        say(f"{mistake.place}: {mistake.message}")
    lines = [_line(table.name, test) for table in selected(policy.tables, select) for test in table.tests]
    print_data("".join(f"{visible(line)}\n" for line in lines))
    return ExitCode.USAGE if mistakes else ExitCode.OK


def _line(table: str, test: TestSpec) -> str:
    about = f" for {', '.join(test.sensitive)}" if test.sensitive else ""
    gentle = " (warns)" if test.severity == "warn" else ""
    return f"{test.place}: {table}: {test.requirement}{about}{gentle}"


# `sqlaudit baseline`: accept today's state, or look at how it drifted.

DEFAULT = Path("sqlaudit-baseline.duckdb")
_accepted_hold = in_section("What is kept")


@click.command(cls=Sectioned)
@policy_options
@select_option
@_accepted_hold(
    "--baseline",
    "kept",
    type=click.Path(path_type=Path),
    default=DEFAULT,
    show_default=True,
    metavar="FILE",
    help="The DuckDB file with the accepted state and the runs since.",
)
@_accepted_hold("--history", is_flag=True, help="Show how the tests drifted; run and accept nothing.")
@_accepted_hold(
    "--runs", type=WholeRange(1, 1000), default=10, show_default=True, metavar="N", help="Runs in the history."
)
@output_options
@limit_options
def baseline(
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
    from sqlaudit.gates.report import accepted_document, history_data, history_document, not_accepted
    from sqlaudit.gates.stored import History

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
