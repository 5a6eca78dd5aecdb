"""`sqlaudit test`, `baseline`: run a policy, report that, and accept the state of its tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.files import TABLE_SUFFIXES, check_destination, is_file, write_rows, write_text
from sqlaudit.base.spec import Limits
from sqlaudit.cli.exits import say, tell, worst
from sqlaudit.cli.options import Work, limit_options, output_options
from sqlaudit.cli.output import OR_SAY_FORMAT, Output, print_data
from sqlaudit.cli.requests import PATH, WholeRange, command_of, group_options, in_section
from sqlaudit.reports.formats import format_by_ending, laid_out, render_json

if TYPE_CHECKING:
    from sqlaudit.gates.result import GateResult, Policy
    from sqlaudit.gates.run import OpenEngine

# How a run is reported.

FORMATS = ("text", "json", "junit", "sarif", "markdown", "html", "github", "openlineage", "jsonl")
_BY_ENDING = {
    ".json": "json",
    ".xml": "junit",
    ".sarif": "sarif",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".txt": "text",
    ".jsonl": "jsonl",
}
_OPENLINEAGE = ".openlineage.json"


@dataclass(frozen=True)
class GateOutput:
    """The output of a run: a report on stdout or in a file, and further ones in files."""

    output: Output
    reports: tuple[Path, ...] = ()

    @property
    def files(self) -> tuple[Path | None, ...]:
        """Return the files that are written."""
        return (self.output.file, *self.reports)

    def emit(self, result: GateResult) -> None:
        """Write all reports.

        Raises:
            UsageError: a file cannot be written.
        """
        from sqlaudit.gates.outputs import COLUMNS, result_rows

        for path in self.reports:
            if path.suffix.lower() in TABLE_SUFFIXES:
                write_rows(path, COLUMNS, [result_rows(result)])
            else:
                write_text(path, render_run(result, format_of(path)))
        self.output.write(render_run(result, self.output.format, self.output.width, self.output.colour))


def render_run(result: GateResult, chosen: str, width: int = 80, colour: bool = False) -> str:
    """Return a run in one of the formats."""
    from sqlaudit.gates.outputs import openlineage_event, render_github, render_junit, result_lines, sarif_data
    from sqlaudit.reports.notebook import document_of
    from sqlaudit.reports.stored import to_json as stored_document

    root = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd()).absolute()
    namespace = os.environ.get("OPENLINEAGE_NAMESPACE") or "sqlaudit"
    for_programs: Mapping[str, Callable[[], str]] = {
        "junit": lambda: render_junit(result),
        "sarif": lambda: render_json(sarif_data(result, root)),
        "github": lambda: render_github(result, root),
        "openlineage": lambda: render_json(openlineage_event(result, namespace)),
        "jsonl": lambda: result_lines(result),
    }
    if chosen in for_programs:
        return for_programs[chosen]()
    document = document_of(result)
    if chosen == "json":
        return render_json({**result.to_dict(), "report": stored_document(document)})
    return laid_out(document, chosen, width, colour)


def format_of(path: Path) -> str:
    """Return the format of a file by its ending.

    Raises:
        UsageError: the ending stands for no format.
    """
    if path.name.lower().endswith(_OPENLINEAGE):
        return "openlineage"
    chosen = _BY_ENDING.get(path.suffix.lower())
    if chosen is None:
        endings = ", ".join([*_BY_ENDING, _OPENLINEAGE, ".csv, .parquet"])
        raise UsageError(f"--report {str(path)!r} should end in {endings}.")
    return chosen


def _gate_output(*, output_format: str | None, output_file: Path | None, report: tuple[Path, ...]) -> GateOutput:
    """Return how a run is reported, after checking that every file can be written and has a known format."""
    for path in report:
        check_destination(path)
        if path.suffix.lower() not in TABLE_SUFFIXES:
            format_of(path)
    if output_file is None or str(output_file) == "-":
        return GateOutput(Output(output_format or "text"), report)
    check_destination(output_file)
    if output_format is None:
        lineage = output_file.name.lower().endswith(_OPENLINEAGE)
        output_format = "openlineage" if lineage else format_by_ending(output_file, _BY_ENDING, OR_SAY_FORMAT)
    return GateOutput(Output(output_format, output_file), report)


_output_option = in_section("Output")
gate_output_options = group_options(
    "output",
    _gate_output,
    _output_option(
        "--format", "output_format", type=click.Choice(FORMATS), help="Default: text, or by the ending of --output."
    ),
    _output_option(
        "-o", "--output", "output_file", type=PATH, metavar="FILE", writes=True, help="Write the report to a file."
    ),
    _output_option(
        "--report",
        multiple=True,
        writes=True,
        type=PATH,
        metavar="FILE",
        help="Write one more report; .json, .xml (JUnit), .sarif, .md, .html, .txt, .openlineage.json; or a row a "
        "test: .csv, .jsonl, .parquet.",
    ),
)
"""How a run is reported; the command gets `output: GateOutput`."""


# The policy, and the selection of its tests.

NAME = Path("sqlaudit.yml")


def which_policy(file: Path | None, dbt_project: Path | None, dbt_target: str | None) -> dict[str, Any]:
    """Return the named policy, or the nearest one, as a `GateRequest` takes it.

    Raises:
        UsageError: two are named, or a target without its project.
    """
    if file is not None and dbt_project is not None:
        raise UsageError("-f and --dbt-project exclude each other: give one of them.")
    if dbt_target and dbt_project is None:
        raise UsageError("--dbt-target needs --dbt-project: a policy has the 'target' in its connection.")
    policy = file or (NAME if dbt_project else nearest_policy())
    return {"policy": policy, "dbt_project": dbt_project, "dbt_target": dbt_target or ""}


def nearest_policy() -> Path:
    """Return the policy of this folder, or of the closest folder above that has one. Without any, return its name."""
    here = Path.cwd()
    for levels_up, folder in enumerate((here, *here.parents)):
        if is_file(folder / NAME):
            return Path(*[".."] * levels_up, NAME)
    return NAME


_policy_option = in_section("Policy")
policy_options = group_options(
    "which",
    which_policy,
    _policy_option(
        "-f",
        "--file",
        type=PATH,
        metavar="POLICY",
        help="Policy file. Default: sqlaudit.yml, here or in a folder above.",
    ),
    _policy_option(
        "--dbt-project", type=PATH, metavar="FOLDER", help="Read roles and requirements from the meta of dbt models."
    ),
    _policy_option(
        "--dbt-target", metavar="NAME", help="Target of the dbt profile. Default: the target of the profile."
    ),
)
"""The policy; the command gets `which`, that part of a `GateRequest`."""

select_option = _policy_option(
    "--select",
    "select",
    multiple=True,
    metavar="TESTS",
    help="Tests to run, as in dbt: tag:release,patients+ (comma: both; space or second --select: either).",
)


def session_opener(show_sql: bool = False) -> OpenEngine:
    """Return a function that opens engines with progress, Ctrl-C and `--show-sql`."""
    from sqlaudit.cli.session import session

    return lambda db, limits, targets: session(db, limits, Work(show_sql=show_sql), *targets)


# `sqlaudit test`: run a policy; the gate before publication.

_require_option = in_section("Requirements")
_failing_groups_option = in_section("Failing groups")
_sql_option = in_section("SQL")


@command_of(
    policy_options,
    select_option,
    _policy_option("--fail-fast", is_flag=True, help="Stop after the first table with a failing test."),
    _policy_option("--list", "list_only", is_flag=True, help="Read the policy and list its tests without connecting."),
    _policy_option(
        "--results",
        multiple=True,
        type=PATH,
        metavar="FILE",
        help="Judge a warehouse's results of the statements of 'compile -f', without connecting (.json, .jsonl, .csv; "
        "dbt's run_results.json).",
    ),
    _policy_option(
        "--db",
        metavar="DATABASE",
        help="Run compiled SELECTs in one database over ADBC, instead of the policy's connections: "
        "adbc:sqlite:///clinic.db, adbc:postgresql://host/db, adbc:flightsql:grpc://host:port.",
    ),
    _policy_option("--dialect", metavar="NAME", help="With --db: SQL dialect, if the driver does not determine it."),
    _policy_option(
        "--run", metavar="NAME", help="With --results: use only answers to statements compiled for this --run."
    ),
    _require_option(
        "--baseline",
        type=PATH,
        metavar="FILE",
        writes=True,
        help="Fail only on tests that got worse than this baseline.",
    ),
    _require_option("--history", type=PATH, metavar="FILE", writes=True, help="Add the run to this .jsonl file."),
    _failing_groups_option(
        "--store-failures",
        writes=True,
        type=PATH,
        metavar="FILE",
        help="Write failing classes to a .duckdb file, without their values.",
    ),
    _failing_groups_option("--show-values", is_flag=True, help="Include values, which may identify people."),
    gate_output_options,
    _sql_option("--show-sql", is_flag=True, help="Print every statement that runs, on stderr."),
    limit_options,
)
def test(
    which: Mapping[str, Any], list_only: bool, show_sql: bool, output: GateOutput, limits: Limits, **options: Any
) -> int:
    """Test whether the tables of a policy may be published.

    The policy (sqlaudit.yml) has tables, the roles of their columns, and requirements. Reports
    have no values of a table; --store-failures writes them only with --show-values.

    \b
      sqlaudit init --db clinic.duckdb
      sqlaudit test
      sqlaudit test --select tag:release --format github
    Exit code 0: publish, 1: a test fails, 2: mistake in the policy, 3: database error.
    """
    from sqlaudit.gates.api import GateRequest, run_gate

    given_options = {name: value for name, value in options.items() if value is not None}
    if given_options["show_values"] and "store_failures" not in given_options:
        raise click.UsageError("--show-values needs --store-failures: reports of a policy never show values.")
    if given_options["results"] and ("store_failures" in given_options or show_sql or limits != Limits()):
        raise click.UsageError(
            "--results does not connect: leave out --store-failures, --show-sql, and limits of time or memory."
        )
    if "run" in given_options and not given_options["results"]:
        raise click.UsageError("--run needs --results.")
    if "db" in given_options and (show_sql or limits != Limits(timeout=limits.timeout)):
        raise click.UsageError(
            "--db runs what 'compile -f' writes: leave out --show-sql, and all limits except --timeout."
        )
    request = GateRequest(**which, **given_options, limits=limits)
    if list_only:
        return _list_tests(request.read(), given_options["select"])
    from sqlaudit.cli.signals import LastResort

    with LastResort(limits.timeout if request.db else None):
        result = run_gate(request, session_opener(show_sql), output.files, say)
    output.emit(result)
    return worst(*result.exit_codes)


def _list_tests(policy: Policy, select: tuple[str, ...]) -> ExitCode:
    """Print the tests on stdout and the mistakes of the policy on stderr. Return the exit code."""
    from sqlaudit.gates.run import mistakes_of
    from sqlaudit.gates.run import select as selected
    from sqlaudit.reports.document import visible

    mistakes = mistakes_of(policy)
    for mistake in mistakes:
        say(f"{mistake.place}: {mistake.message}")
    lines = []
    for table in selected(policy.tables, select):
        for test in table.tests:
            about = f" for {', '.join(test.sensitive)}" if test.sensitive else ""
            severity = " (warns)" if test.severity == "warn" else ""
            lines.append(f"{test.place}: {table.name}: {test.requirement}{about}{severity}")
    print_data("".join(f"{visible(line)}\n" for line in lines))
    return ExitCode.USAGE if mistakes else ExitCode.OK


# `sqlaudit baseline`: accept today's state, or look at how it drifted.

DEFAULT = Path("sqlaudit-baseline.yml")
_baseline_option = in_section("Baseline")


@command_of(
    policy_options,
    select_option,
    _baseline_option(
        "--baseline",
        "accepted",
        writes=True,
        type=PATH,
        default=DEFAULT,
        show_default=True,
        metavar="FILE",
        help="File with the accepted state. A .duckdb file of an older version is converted.",
    ),
    _baseline_option(
        "--history", type=PATH, metavar="FILE", writes=True, help="Show the runs in this file; run and accept nothing."
    ),
    _baseline_option(
        "--runs", type=WholeRange(1, 1000), default=10, show_default=True, metavar="N", help="Number of runs to show."
    ),
    output_options,
    limit_options,
)
def baseline(
    which: Mapping[str, Any],
    select: tuple[str, ...],
    accepted: Path,
    history: Path | None,
    runs: int,
    output: Output,
    limits: Limits,
) -> int:
    """Accept today's results of a policy, so that tests fail only if they get worse.

    Run the tests of the policy and store their levels and counts in a text file, one line per
    test, without values of a table. `sqlaudit test --baseline FILE` compares with it. Commit it.

    \b
      sqlaudit baseline
      sqlaudit test --baseline sqlaudit-baseline.yml --history runs.jsonl
      sqlaudit baseline --history runs.jsonl
    """
    from sqlaudit.gates.api import GateRequest, run_gate
    from sqlaudit.gates.report import accepted_document, history_data, history_document, not_accepted
    from sqlaudit.gates.stored import Baseline, History

    if history is not None:
        moments = History(history).moments(runs)
        output.emit(lambda: history_document(str(history), moments), lambda: history_data(str(history), moments))
        return ExitCode.OK
    if is_file(accepted) and Baseline(accepted).is_old:
        tell(f"converted {str(accepted)!r} to {str(Baseline(accepted).converted())!r}. Nothing was run.")
        return ExitCode.OK
    request = GateRequest(**which, select=select, baseline=accepted, accept=True, limits=limits)
    result = run_gate(request, session_opener(), [output.file])
    output.emit(lambda: accepted_document(result), result.to_dict)
    mistakes = [ExitCode.USAGE for _ in result.mistakes]
    return worst(*(test.exit_code for test in not_accepted(result)), *mistakes)
