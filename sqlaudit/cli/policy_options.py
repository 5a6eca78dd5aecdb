"""The options of commands that run a policy, and how a run is reported."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import TABLE_SUFFIXES, check_destination, is_file, write_rows, write_text
from sqlaudit.base.spec import Limits, Target
from sqlaudit.cli.options import Work
from sqlaudit.cli.output import OR_SAID, Output
from sqlaudit.cli.requests import handing, in_section
from sqlaudit.reports.formats import format_by_ending, laid_out, render_json

if TYPE_CHECKING:
    from sqlaudit.base.addresses import Whereabouts
    from sqlaudit.engines.contract import Engine
    from sqlaudit.gates.result import GateResult

FORMATS = ("text", "json", "junit", "sarif", "markdown", "html", "github", "openlineage", "jsonl")
NAME = Path("sqlaudit.yml")
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
_PATH = click.Path(path_type=Path)


@dataclass(frozen=True)
class WhichPolicy:
    """Where the policy is: a file, or a dbt project with the target of its profile."""

    file: Path
    dbt_project: Path | None = None
    dbt_target: str = ""


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
    from sqlaudit.gates.outputs import render_github, render_junit, sarif_data
    from sqlaudit.gates.report import gate_document
    from sqlaudit.reports.stored import to_json as stored_document

    root = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd()).absolute()
    if chosen == "junit":
        return render_junit(result)
    if chosen == "sarif":
        return render_json(sarif_data(result, root))
    if chosen == "github":
        return render_github(result, root)
    if chosen in ("openlineage", "jsonl"):
        return _for_catalogues(result, chosen)
    document = gate_document(result)
    if chosen == "json":
        return render_json({**result.to_dict(), "report": stored_document(document)})
    return laid_out(document, chosen, width, colour)


def _for_catalogues(result: GateResult, chosen: str) -> str:
    from sqlaudit.gates.outputs import openlineage_event, result_lines

    if chosen == "jsonl":
        return result_lines(result)
    return render_json(openlineage_event(result, os.environ.get("OPENLINEAGE_NAMESPACE") or "sqlaudit"))


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


def which_policy(file: Path | None, dbt_project: Path | None, dbt_target: str | None) -> WhichPolicy:
    """The policy that was named, or the nearest one.

    Raises:
        UsageError: two are named, or a target without its project.
    """
    if file is not None and dbt_project is not None:
        raise UsageError("Give a policy with -f, or a dbt project with --dbt-project, not both.")
    if dbt_target and dbt_project is None:
        raise UsageError("--dbt-target belongs to --dbt-project; a policy's connection has a 'target' of its own.")
    return WhichPolicy(file or (NAME if dbt_project else nearest_policy()), dbt_project, dbt_target or "")


def nearest_policy() -> Path:
    """The policy of this folder, or of the closest one above it; the name alone where there is none."""
    here = Path.cwd()
    for up, folder in enumerate((here, *here.parents)):
        if is_file(folder / NAME):
            return Path(*[".."] * up, NAME)
    return NAME


_what = in_section("What to test")
policy_options = handing(
    "which",
    which_policy,
    _what("-f", "--file", type=_PATH, metavar="POLICY", help="The policy. Default: sqlaudit.yml, here or above."),
    _what(
        "--dbt-project", type=_PATH, metavar="FOLDER", help="Read roles and requirements from the meta of dbt models."
    ),
    _what("--dbt-target", metavar="NAME", help="The target of the dbt profile. Default: dbt's own."),
)
"""Adds which policy is meant; the command gets `which: WhichPolicy`."""

select_option = _what(
    "--select",
    "select",
    multiple=True,
    metavar="TESTS",
    help="As in dbt: tag:release,patients+ (a comma: both must fit; a space, or a second --select: either).",
)


def _by_ending(file: Path) -> str:
    lineage = file.name.lower().endswith(_OPENLINEAGE)
    return "openlineage" if lineage else format_by_ending(file, _BY_ENDING, OR_SAID)


def _output(*, output_format: str | None, output_file: Path | None, report: tuple[Path, ...]) -> GateOutput:
    for path in report:
        check_destination(path)
        if path.suffix.lower() not in TABLE_SUFFIXES:
            format_of(path)
    if output_file is not None and str(output_file) != "-":
        check_destination(output_file)
        return GateOutput(Output(output_format or _by_ending(output_file), output_file), report)
    return GateOutput(Output(output_format or "text"), report)


_out = in_section("Output")
gate_output_options = handing(
    "output",
    _output,
    _out("--format", "output_format", type=click.Choice(FORMATS), help="Default: text, or by the ending of --output."),
    _out("-o", "--output", "output_file", type=_PATH, metavar="FILE", help="Write the report to a file."),
    _out(
        "--report",
        multiple=True,
        type=_PATH,
        metavar="FILE",
        help="Write one more report; .json, .xml (JUnit), .sarif, .md, .html, .txt, .openlineage.json; or a row a "
        "test: .csv, .jsonl, .parquet.",
    ),
)
"""Adds how a run is reported; the command gets `output: GateOutput`."""


@dataclass(frozen=True)
class Opener:
    """Opens engines with progress, Ctrl-C and `--show-sql`."""

    show_sql: bool = False

    @contextmanager
    def __call__(self, db: str | Whereabouts | None, limits: Limits, targets: Sequence[Target]) -> Iterator[Engine]:
        """An open engine."""
        from sqlaudit.cli.session import session

        with session(db, limits, Work(show_sql=self.show_sql), *targets) as engine:
            yield engine
