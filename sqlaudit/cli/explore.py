"""`sqlaudit profile`, `columns`, `records`, `persons`, `disclosure`: explore a table."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from sqlaudit.audits.disclosure.request import ASK, DisclosureRequest, WhatIfRequest
from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.files import check_destination
from sqlaudit.base.options import FILE, option
from sqlaudit.base.parameter_names import spelled
from sqlaudit.cli.exits import is_quiet, say, tell
from sqlaudit.cli.options import whole_request
from sqlaudit.cli.output import write_pictures
from sqlaudit.cli.requests import PATH, in_section
from sqlaudit.cli.runner import Job, job_command, progress_callback
from sqlaudit.column_sets.records.request import RecordRequest
from sqlaudit.column_sets.request import ColumnRequest
from sqlaudit.events.request import PersonsRequest
from sqlaudit.profiles.request import ProfileRequest

if TYPE_CHECKING:
    from sqlaudit.audits.disclosure.results import DisclosureResult
    from sqlaudit.events.result import PersonsResult


# `sqlaudit profile`: column facts and proposed roles.


@job_command(ProfileRequest)
def profile(job: Job, request: ProfileRequest) -> int:
    """Describe the columns of a table and propose their roles.

    TARGET is a file (CSV, Excel, Parquet, JSON, Arrow, SPSS, Stata, SAS; globs work), or with --db a table or view.
    Only
    counts are read, unless --show-values is given. Nothing is written to the database.

    \b
      sqlaudit profile patients.csv
      sqlaudit profile --db postgresql://auditor@host/db public.patients
    """
    from sqlaudit.profiles.run import profile

    return job.run(profile, request)


# `sqlaudit columns`: which sets of columns re-identify.


@job_command(ColumnRequest)
def columns(job: Job, request: ColumnRequest) -> int:
    """Find sets of columns that identify people.

    By default, find all minimal sets of at most four columns with rows in classes smaller than
    k, and prove that none is missing. Only counts leave the database.

    \b
      sqlaudit columns patients.csv --exclude record_id --k 5 --tolerance 1%
      sqlaudit columns patients.csv --identifying
    """
    from sqlaudit.column_sets.search import columns, find_columns

    candidates, started = 0, time.monotonic()

    def announce(columns: int, sets: int, limit: int | None) -> None:
        nonlocal candidates
        candidates = sets if limit is not None else 0
        _announce(columns, sets, limit)

    def describe(decided: int, border: int) -> str:
        return _progress(decided, border, candidates, time.monotonic() - started)

    return job.run(
        columns,
        request,
        lambda engine: find_columns(engine, request, announce=announce, report=progress_callback(engine, describe)),
    )


def _announce(columns: int, candidates: int, limit: int | None) -> None:
    """Print on stderr how many sets of columns the search looks at."""
    size = "any number of" if limit is None else f"at most {limit}"
    number = f"{candidates:,}" if candidates < 10**12 else f"about {candidates:.0e}"
    if not is_quiet():
        click.echo(
            f"{columns} columns have {number} sets of {size} columns; sets that follow from others are not counted.",
            err=True,
        )


def _progress(decided: int, border: int, candidates: int, seconds: float) -> str:
    """Return the state of the search, and an estimate of the time left if the number of candidates is known."""
    of, left = "", ""
    if candidates and decided:
        of, left = f" of at most {candidates:,}", f", about {seconds * (candidates / decided - 1):,.0f} s left"
    return f"{decided:,}{of} sets decided{left}, border {border:,}; Ctrl-C keeps proven sets"


# `sqlaudit records`: records that are unique on few columns.


@job_command(RecordRequest)
def records(job: Job, request: RecordRequest) -> int:
    """Find records that are unique on few columns, and their risk of re-identification.

    Report minimal sample uniques and individual risk, with sampling weights. --suda adds SUDA and
    DIS-SUDA scores and the contribution of each column. --show-values shows the records themselves.

    \b
      sqlaudit records survey.csv --qi age,sex,region,job --weights weight --suda
    """
    from sqlaudit.column_sets.records.result import RecordsReport
    from sqlaudit.column_sets.records.search import records

    if request.key and not request.show_values:
        raise UsageError(f"{spelled('key')} applies to shown records only: add {spelled('show_values', True)}.")
    return job.run(records, request, document=RecordsReport(request.suda).document)


# `sqlaudit persons`: what someone who knows some events of a person can learn.


@job_command(
    PersonsRequest,
    in_section("Help")("--plot", type=PATH, metavar="FILE", writes=True, help="Draw the curve into a .svg file."),
)
def persons(job: Job, request: PersonsRequest, plot: Path | None) -> int:
    """Measure what someone who knows a few events of a person can learn.

    For tables with many rows per person: visits, claims, purchases, positions. An event is one
    combination of the --qi. Only counts leave the database. Exit code with --require, 0: all
    requirements are met, 1: one fails or could not be decided.

    \b
      sqlaudit persons visits.csv --entity patient_id --qi "clinic,date_trunc('month', day)"
      sqlaudit persons visits.csv --entity patient_id --qi clinic --known 1..3 --random 4
      sqlaudit persons visits.csv --entity patient_id --qi clinic --require km@2=5 \\
          --require unicity@4=5%
    """
    from sqlaudit.events.result import curve_picture
    from sqlaudit.events.run import find_persons, persons

    def code(result: PersonsResult) -> ExitCode:
        if plot is not None:
            picture = curve_picture(result)
            if picture is None:
                raise UsageError("There is no curve to draw. Name several numbers of known events with --known.")
            write_pictures(plot, [picture])
        return persons.code(result)

    if plot is not None:
        check_destination(plot, (".svg",))
    return job.run(persons, request, lambda engine: find_persons(engine, request, _announce_sets), code=code)


_SETS_PER_MINUTE = 240_000_000
"""Measured on two cores: three known events of people of whom most have hundreds."""


def _announce_sets(known: int, sets: int) -> None:
    """Print on stderr how many sets of known events are counted next, and how to count fewer."""
    tell(
        f"People have {sets:,} sets of {known} events in all. Counting them can take about "
        f"{sets // _SETS_PER_MINUTE:,} minutes. Use a smaller {spelled('known')}, or {spelled('time_budget')} to stop "
        "and report what is proven."
    )


# `sqlaudit disclosure`: what an attacker with k pieces of knowledge can learn in the worst case.

_CURVE = ("knowledge", "threshold", "witness", "weakest", "plot")
"""The options that belong to a curve, which --given has none of."""


@dataclass(frozen=True)
class _DisclosureCommand(DisclosureRequest):
    """The request of the command line, which asks for a curve or for answers.

    Args:
        knowledge_file: the file with exact knowledge, for answers instead of a curve.
        plot: the file for the curve.

    Raises:
        UsageError: options of a curve and a file with knowledge, or what a request for a curve refuses.
    """

    knowledge_file: Path | None = option(
        None,
        FILE,
        "Use exactly this knowledge: a YAML file with people, knowledge and questions.",
        ASK,
        name="given",
        metavar="FILE",
    )
    plot: Path | None = option(None, FILE, "Draw the curve into a .svg file.", ASK, metavar="FILE", writes=True)

    def __post_init__(self) -> None:
        if self.knowledge_file is not None:
            context = click.get_current_context()
            for name in _CURVE:  # whether an option is given does not follow from its value, which may be the default
                if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                    raise UsageError(f"--given and --{name} exclude each other: leave out --{name}.")
        super().__post_init__()


@job_command(whole_request(_DisclosureCommand, last=("show_values",)))
def disclosure(job: Job, request: _DisclosureCommand) -> int:
    """Measure what an attacker with k pieces of knowledge can learn in the worst case.

    A piece of knowledge is a basic implication: if these people have these values, then one of
    those people has one of those values. The curve is the worst case over all such knowledge.

    \b
    How fast does disclosure grow, and when does it reach 0.7?
      sqlaudit disclosure patients.csv --qi age,sex --sensitive disease \\
          --knowledge 0..12 --threshold 0.7 --plot curve.svg
    Which three pieces of knowledge are the worst?
      sqlaudit disclosure patients.csv --qi age,sex --sensitive disease --witness 3
    What does an attacker with exactly this knowledge learn?
      sqlaudit disclosure patients.csv --qi age,sex --sensitive disease --given knowledge.yml
    """
    from sqlaudit.audits.disclosure.api import disclosure_curve
    from sqlaudit.audits.report import disclosure_pictures

    if request.knowledge_file is not None:
        return _answer_questions(job, request, request.knowledge_file)
    plot = request.plot
    if plot is not None:
        check_destination(plot, (".svg",))

    def draw(result: DisclosureResult) -> DisclosureResult:
        if plot is not None:
            curves = list(disclosure_pictures(result.disclosures, result.threshold))
            if curves:
                write_pictures(plot, curves)
            else:
                say(f"There is no curve to draw. Nothing was written to {str(plot)!r}.")
        return result

    return job.run(disclosure_curve, request, finish=draw)


def _answer_questions(job: Job, request: DisclosureRequest, file: Path) -> int:
    """Answer the questions of a file of knowledge about the table of a request. Return the exit code."""
    from sqlaudit.audits.disclosure.api import what_if
    from sqlaudit.audits.disclosure.knowledge import load_knowledge

    if job.work.explain:
        raise UsageError("--explain does not work with --given. Use --dry-run to see the statements.")
    questions = WhatIfRequest(request.target, request.roles, load_knowledge(file), request.show_values)
    return job.run(what_if, questions)
