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
from sqlaudit.cli.output import OR_SAID, Output, print_data
from sqlaudit.cli.requests import PATH, WholeRange, command_of, handing, in_section
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
    """How a run is reported: one report on stdout or in a file, and further ones in files."""

    output: Output
    reports: tuple[Path, ...] = ()

    @property
    def files(self) -> tuple[Path | None, ...]:
        """Everything that is written."""
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
                write_text(path, rendered(result, format_of(path)))
        self.output.write(rendered(result, self.output.format, self.output.width, self.output.colour))


def rendered(result: GateResult, chosen: str, width: int = 80, colour: bool = False) -> str:
    """A run in one of the formats."""
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
    """The format that a file's ending says.

    Raises:
        UsageError: it says none.
    """
    if path.name.lower().endswith(_OPENLINEAGE):
        return "openlineage"
    found = _BY_ENDING.get(path.suffix.lower())
    if found is None:
        known = ", ".join([*_BY_ENDING, _OPENLINEAGE, ".csv, .parquet"])
        raise UsageError(f"--report {str(path)!r} should end in {known}.")
    return found


def _output(*, output_format: str | None, output_file: Path | None, report: tuple[Path, ...]) -> GateOutput:
    for path in report:
        check_destination(path)
        if path.suffix.lower() not in TABLE_SUFFIXES:
            format_of(path)
    if output_file is None or str(output_file) == "-":
        return GateOutput(Output(output_format or "text"), report)
    check_destination(output_file)
    if output_format is None:
        lineage = output_file.name.lower().endswith(_OPENLINEAGE)
        output_format = "openlineage" if lineage else format_by_ending(output_file, _BY_ENDING, OR_SAID)
    return GateOutput(Output(output_format, output_file), report)


_out = in_section("Output")
gate_output_options = handing(
    "output",
    _output,
    _out("--format", "output_format", type=click.Choice(FORMATS), help="Default: text, or by the ending of --output."),
    _out("-o", "--output", "output_file", type=PATH, metavar="FILE", help="Write the report to a file."),
    _out(
        "--report",
        multiple=True,
        type=PATH,
        metavar="FILE",
        help="Write one more report; .json, .xml (JUnit), .sarif, .md, .html, .txt, .openlineage.json; or a row a "
        "test: .csv, .jsonl, .parquet.",
    ),
)
"""How a run is reported; the command gets `output: GateOutput`."""


# Which policy is meant, and which of its tests.

NAME = Path("sqlaudit.yml")


def which_policy(file: Path | None, dbt_project: Path | None, dbt_target: str | None) -> dict[str, Any]:
    """The policy that was named, or the nearest one, as a `GateRequest` takes it.

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
    """The policy of this folder, or of the closest one above it; the name alone where there is none."""
    here = Path.cwd()
    for up, folder in enumerate((here, *here.parents)):
        if is_file(folder / NAME):
            return Path(*[".."] * up, NAME)
    return NAME


_what = in_section("Policy")
policy_options = handing(
    "which",
    which_policy,
    _what(
        "-f",
        "--file",
        type=PATH,
        metavar="POLICY",
        help="Policy file. Default: sqlaudit.yml, here or in a folder above.",
    ),
    _what(
        "--dbt-project", type=PATH, metavar="FOLDER", help="Read roles and requirements from the meta of dbt models."
    ),
    _what("--dbt-target", metavar="NAME", help="Target of the dbt profile. Default: the target of the profile."),
)
"""Which policy is meant; the command gets `which`, that part of a `GateRequest`."""

select_option = _what(
    "--select",
    "select",
    multiple=True,
    metavar="TESTS",
    help="Tests to run, as in dbt: tag:release,patients+ (comma: both; space or second --select: either).",
)


def opener(show_sql: bool = False) -> OpenEngine:
    """Opens engines with progress, Ctrl-C and `--show-sql`."""
    from sqlaudit.cli.session import session

    return lambda db, limits, targets: session(db, limits, Work(show_sql=show_sql), *targets)


# `sqlaudit test`: run a policy; the gate before publication.

_hold = in_section("Requirements")
_class = in_section("Failing groups")
_show = in_section("SQL")


@command_of(
    policy_options,
    select_option,
    _what("--fail-fast", is_flag=True, help="Stop after the first table with a failing test."),
    _what("--list", "list_only", is_flag=True, help="Read the policy and list its tests without connecting."),
    _what(
        "--results",
        multiple=True,
        type=PATH,
        metavar="FILE",
        help="Judge a warehouse's results of the statements of 'compile -f', without connecting (.json, .jsonl, .csv; "
        "dbt's run_results.json).",
    ),
    _what(
        "--db",
        metavar="DATABASE",
        help="Run compiled SELECTs in one database over ADBC, instead of the policy's connections: "
        "adbc:sqlite:///clinic.db, adbc:postgresql://host/db, adbc:flightsql:grpc://host:port.",
    ),
    _what("--dialect", metavar="NAME", help="With --db: SQL dialect, if the driver does not determine it."),
    _what("--run", metavar="NAME", help="With --results: use only answers to statements compiled for this --run."),
    _hold("--baseline", type=PATH, metavar="FILE", help="Fail only on tests that got worse than this baseline."),
    _hold("--history", type=PATH, metavar="FILE", help="Add the run to this .jsonl file."),
    _class(
        "--store-failures",
        type=PATH,
        metavar="FILE",
        help="Write failing classes to a .duckdb file, without their values.",
    ),
    _class("--show-values", is_flag=True, help="Include values, which may identify people."),
    gate_output_options,
    _show("--show-sql", is_flag=True, help="Print every statement that runs, on stderr."),
    limit_options,
)
def test(
    which: Mapping[str, Any], list_only: bool, show_sql: bool, output: GateOutput, limits: Limits, **asked: Any
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

    given = {name: value for name, value in asked.items() if value is not None}
    if given["show_values"] and "store_failures" not in given:
        raise click.UsageError("--show-values needs --store-failures: reports of a policy never show values.")
    if given["results"] and ("store_failures" in given or show_sql or limits != Limits()):
        raise click.UsageError(
            "--results does not connect: leave out --store-failures, --show-sql, and limits of time or memory."
        )
    if "run" in given and not given["results"]:
        raise click.UsageError("--run needs --results.")
    if "db" in given and (show_sql or limits != Limits(timeout=limits.timeout)):
        raise click.UsageError(
            "--db runs what 'compile -f' writes: leave out --show-sql, and all limits except --timeout."
        )
    request = GateRequest(**which, **given, limits=limits)
    if list_only:
        return _list(request.read(), given["select"])
    from sqlaudit.cli.signals import LastResort

    with LastResort(limits.timeout if request.db else None):
        result = run_gate(request, opener(show_sql), output.files, say)
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
    lines = []
    for table in selected(policy.tables, select):
        for one in table.tests:
            about = f" for {', '.join(one.sensitive)}" if one.sensitive else ""
            gentle = " (warns)" if one.severity == "warn" else ""
            lines.append(f"{one.place}: {table.name}: {one.requirement}{about}{gentle}")
    print_data("".join(f"{visible(line)}\n" for line in lines))
    return ExitCode.USAGE if mistakes else ExitCode.OK


# `sqlaudit baseline`: accept today's state, or look at how it drifted.

DEFAULT = Path("sqlaudit-baseline.yml")
_kept = in_section("Baseline")


@command_of(
    policy_options,
    select_option,
    _kept(
        "--baseline",
        "kept",
        type=PATH,
        default=DEFAULT,
        show_default=True,
        metavar="FILE",
        help="File with the accepted state. A .duckdb file of an older version is converted.",
    ),
    _kept("--history", type=PATH, metavar="FILE", help="Show the runs in this file; run and accept nothing."),
    _kept(
        "--runs", type=WholeRange(1, 1000), default=10, show_default=True, metavar="N", help="Number of runs to show."
    ),
    output_options,
    limit_options,
)
def baseline(
    which: Mapping[str, Any],
    select: tuple[str, ...],
    kept: Path,
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
    if is_file(kept) and Baseline(kept).is_old:
        tell(f"converted {str(kept)!r} to {str(Baseline(kept).converted())!r}. Nothing was run.")
        return ExitCode.OK
    request = GateRequest(**which, select=select, baseline=kept, accept=True, limits=limits)
    result = run_gate(request, opener(), [output.file])
    output.emit(lambda: accepted_document(result), result.to_dict)
    mistakes = [ExitCode.USAGE for _ in result.mistakes]
    return worst(*(test.exit_code for test in not_accepted(result)), *mistakes)
