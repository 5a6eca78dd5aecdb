"""`sqlaudit test`, `baseline`: run a policy, report that, and accept the state of its tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.files import TABLE_SUFFIXES, check_destination, is_file, write_rows
from sqlaudit.base.options import FILE, listed, option
from sqlaudit.base.spec import Limits
from sqlaudit.cli.exits import say, tell, worst
from sqlaudit.cli.options import (
    Trace,
    cover_of,
    cover_parameters,
    limit_options,
    output_options,
    trace_options,
    whole_request,
)
from sqlaudit.cli.output import OR_SAY_FORMAT, Output, print_data
from sqlaudit.cli.requests import OptionGroup, command_of, group_options, parameters_of, read_request
from sqlaudit.gates.request import DEFAULT_POLICY, FILES, BaselineRequest, GateRequest
from sqlaudit.reports.document import About, Document
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
                output = replace(self.output, format=format_of(path), file=path)
                output.write(render_run(result, output.format, covered=output.covered))
        output = self.output
        output.write(render_run(result, output.format, output.width, output.colour, output.covered))


def render_run(
    result: GateResult,
    chosen: str,
    width: int = 80,
    colour: bool = False,
    covered: Callable[[Document], Document] = lambda document: document,
) -> str:
    """Return a run in one of the formats. For people its document is `covered`: it gets its cover page."""
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
    document = covered(document_of(result))
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


@dataclass(frozen=True)
class RunReports:
    """The reports of a run.

    Args:
        output_format: the format of the first report, None = text, or by the ending of its file.
        output_file: the file of the first report, None = stdout.
        report: the files of further reports.
    """

    output_format: str | None = option(
        None, listed(FORMATS), "Default: text, or by the ending of --output.", "Output", flags=("--format",)
    )
    output_file: Path | None = option(
        None, FILE, "Write the report to a file.", "Output", flags=("-o", "--output"), metavar="FILE", writes=True
    )
    report: tuple[Path, ...] = option(
        (),
        FILES,
        "Write one more report; .json, .xml (JUnit), .sarif, .md, .html, .txt, .openlineage.json; or a row a "
        "test: .csv, .jsonl, .parquet.",
        "Output",
        metavar="FILE",
        writes=True,
    )


_FOR_PEOPLE = {"text", "json", "markdown", "html"}


def _gate_output(**values: Any) -> GateOutput:
    """Return how a run is reported, after checking that every file can be written and has a known format.

    Raises:
        UsageError: it cannot, or no report has a place for the cover page.
    """
    cover = cover_of(**{str(option.name): values.pop(str(option.name)) for option in cover_parameters()})
    reports = read_request(RunReports, **values)
    for path in reports.report:
        check_destination(path)
        if path.suffix.lower() not in TABLE_SUFFIXES:
            format_of(path)
    output_format, output_file = reports.output_format, reports.output_file
    if output_file is None or str(output_file) == "-":
        output_format, output_file = output_format or "text", None
    else:
        check_destination(output_file)
        if output_format is None:
            lineage = output_file.name.lower().endswith(_OPENLINEAGE)
            output_format = "openlineage" if lineage else format_by_ending(output_file, _BY_ENDING, OR_SAY_FORMAT)
    tables = [path for path in reports.report if path.suffix.lower() in TABLE_SUFFIXES]
    formats = {output_format, *(format_of(path) for path in reports.report if path not in tables)}
    if cover != About() and not formats & _FOR_PEOPLE:
        raise UsageError(
            f"--title, --owner, --purpose and --sign-off are for reports to people, and {output_format} has no place "
            "for them. Add --report FILE.html."
        )
    return GateOutput(Output(output_format, output_file, cover), reports.report)


gate_output_options = group_options("output", _gate_output, *parameters_of(RunReports), *cover_parameters())
"""How a run is reported; the command gets `output: GateOutput`."""


# The policy, and the selection of its tests.

NAME = Path(DEFAULT_POLICY)


def with_policy(values: Mapping[str, object]) -> dict[str, object]:
    """Return click's values of the options of a policy with the policy that they mean: the named or the nearest one.

    Raises:
        UsageError: two are named, or a target without its project.
    """
    policy, dbt_project = values["policy"], values["dbt_project"]
    if policy is not None and dbt_project is not None:
        raise UsageError("-f and --dbt-project exclude each other: give one of them.")
    if values["dbt_target"] and dbt_project is None:
        raise UsageError("--dbt-target needs --dbt-project: a policy has the 'target' in its connection.")
    return {**values, "policy": policy or (NAME if dbt_project else nearest_policy())}


def nearest_policy() -> Path:
    """Return the policy of this folder, or of the closest folder above that has one. Without any, return its name."""
    here = Path.cwd()
    for levels_up, folder in enumerate((here, *here.parents)):
        if is_file(folder / NAME):
            return Path(*[".."] * levels_up, NAME)
    return NAME


def policy_request(request: type[object]) -> OptionGroup:
    """Return the group of all options of a request about a policy; the command gets `request`."""
    group = whole_request(request)
    return OptionGroup(lambda **values: {"request": group.make(**with_policy(values))["request"]}, *group.parameters)


def session_opener(trace: Trace) -> OpenEngine:
    """Return a function that opens engines with progress, Ctrl-C, and a trace of what runs."""
    from sqlaudit.cli.session import session

    return lambda db, limits, targets: session(db, limits, trace, *targets)


# `sqlaudit test`: run a policy; the gate before publication.


@command_of(policy_request(GateRequest), gate_output_options, trace_options, limit_options)
def test(request: GateRequest, output: GateOutput, trace: Trace, limits: Limits) -> int:
    """Test whether the tables of a policy may be published.

    The policy (sqlaudit.yml) has tables, the roles of their columns, and requirements. Reports
    have no values of a table; --store-failures writes them only with --show-values.

    \b
      sqlaudit init --db clinic.duckdb
      sqlaudit test
      sqlaudit test --select tag:release --format github
    Exit code 0: publish, 1: a test fails, 2: mistake in the policy, 3: database error.
    """
    from sqlaudit.gates.api import read_policy, run_gate

    if request.show_values and request.store_failures is None:
        raise click.UsageError("--show-values needs --store-failures: reports of a policy never show values.")
    if request.results and (request.store_failures is not None or trace != Trace() or limits != Limits()):
        raise click.UsageError(
            "--results does not connect: leave out --store-failures, --show-sql, --timings, and limits of time or "
            "memory."
        )
    if request.run and not request.results:
        raise click.UsageError("--run needs --results.")
    if request.db and (trace != Trace() or limits != Limits(timeout=limits.timeout)):
        raise click.UsageError(
            "--db runs what 'compile -f' writes: leave out --show-sql, --timings, and all limits except --timeout."
        )
    request = replace(request, limits=limits)
    if request.list_only:
        return _list_tests(read_policy(request.source), request.source.select)
    from sqlaudit.cli.signals import LastResort

    with LastResort(limits.timeout if request.db else None):
        result = run_gate(request, session_opener(trace), output.files, say)
    output.emit(result)
    return worst(*result.exit_codes)


def _list_tests(policy: Policy, select: Sequence[str]) -> ExitCode:
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


@command_of(policy_request(BaselineRequest), output_options, limit_options)
def baseline(request: BaselineRequest, output: Output, limits: Limits) -> int:
    """Accept today's results of a policy, so that tests fail only if they get worse.

    Run the tests of the policy and store their levels and counts in a text file, one line per
    test, without values of a table. `sqlaudit test --baseline FILE` compares with it. Commit it.

    \b
      sqlaudit baseline
      sqlaudit test --baseline sqlaudit-baseline.yml --history runs.jsonl
      sqlaudit baseline --history runs.jsonl
    """
    from sqlaudit.gates.api import run_gate
    from sqlaudit.gates.report import accepted_document, history_data, history_document, not_accepted
    from sqlaudit.gates.stored import Baseline, History

    file, history = request.baseline, request.history
    if history is not None:
        moments = History(history).moments(request.runs)
        output.emit(lambda: history_document(str(history), moments), lambda: history_data(str(history), moments))
        return ExitCode.OK
    if is_file(file) and Baseline(file).is_old:
        tell(f"converted {str(file)!r} to {str(Baseline(file).converted())!r}. Nothing was run.")
        return ExitCode.OK
    accepting = GateRequest(request.source, baseline=file, accept=True, limits=limits)
    result = run_gate(accepting, session_opener(Trace()), [output.file])
    output.emit(lambda: accepted_document(result), result.to_dict)
    mistakes = [ExitCode.USAGE for _ in result.mistakes]
    return worst(*(test.exit_code for test in not_accepted(result)), *mistakes)
