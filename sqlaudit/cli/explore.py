"""`sqlaudit profile`, `columns`, `records`, `persons`, `disclosure`: what is in a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from sqlaudit.audits.disclosure.request import ASK, DisclosureRequest, check_roles
from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.files import check_destination
from sqlaudit.base.options import FILE, option, request_from
from sqlaudit.base.parameter_names import spelled
from sqlaudit.cli.exits import is_quiet, say
from sqlaudit.cli.options import bucketized_options, require_of, role_options, target_options
from sqlaudit.cli.output import write_pictures
from sqlaudit.cli.requests import PATH, given_options, request_options
from sqlaudit.cli.runner import Job, declared, telling, verdict
from sqlaudit.column_sets.records.request import RecordRequest
from sqlaudit.column_sets.request import ColumnRequest
from sqlaudit.events.request import PersonsRequest
from sqlaudit.profiles.request import ProfileRequest

if TYPE_CHECKING:
    from sqlaudit.audits.disclosure.results import DisclosureResult
    from sqlaudit.events.result import PersonsResult


# `sqlaudit profile`: column facts and proposed roles.


@declared(target_options, request_options(ProfileRequest, "request"))
def profile(job: Job, request: ProfileRequest) -> int:
    """Look at the columns of TARGET and propose their roles.

    TARGET is a file (CSV, Parquet, JSON, Arrow; globs work), or with --db a table or view.
    Only counts are read, unless --show-values is given. Nothing is written there.

    \b
      sqlaudit profile patients.csv
      sqlaudit profile --db postgresql://auditor@host/db public.patients
    """
    from sqlaudit.profiles.columns import planned_statements
    from sqlaudit.profiles.run import profile_target

    return job.run(planned_statements, lambda engine: profile_target(engine, job.target, request))


# `sqlaudit columns`: which sets of columns re-identify.


@declared(target_options, request_options(ColumnRequest, "request"))
def columns(job: Job, request: ColumnRequest) -> int:
    """Find the sets of columns of TARGET that re-identify people.

    By default all minimal sets of at most four columns that put somebody into a class of
    fewer than k rows, with the proof that none is missing. Only counts leave the database.

    \b
      sqlaudit columns patients.csv --exclude record_id --k 5 --tolerance 1%
      sqlaudit columns patients.csv --identifying
    """
    from sqlaudit.column_sets.search import find_columns, plan_columns

    return job.run(
        lambda engine, relation: plan_columns(engine, relation, request),
        lambda engine: find_columns(engine, job.target, request, announce=_announce, tell=telling(engine, _progress)),
        lambda result: verdict(True, result.complete or not result.open_sets),
        stopped=lambda result: result.by_hand,
    )


def _announce(columns: int, candidates: int, limit: int | None) -> None:
    size = "any number of" if limit is None else f"at most {limit}"
    number = f"{candidates:,}" if candidates < 10**12 else f"about {candidates:.0e}"
    if not is_quiet():
        click.echo(f"{columns} columns have {number} sets of {size} columns; most follow from others.", err=True)


def _progress(decided: int, border: int) -> str:
    return f"{decided:,} sets decided, border {border:,}; Ctrl-C keeps what is proven"


# `sqlaudit records`: how special single records are.


@declared(target_options, request_options(RecordRequest, "request"))
def records(job: Job, request: RecordRequest) -> int:
    """Tell which records of TARGET are special: unique on few columns, so easily found elsewhere.

    Minimal sample uniques and individual risk, with sampling weights; with --suda also SUDA and DIS-SUDA
    scores and the contribution of each column. Records themselves are shown only with --show-values.

    \b
      sqlaudit records survey.csv --qi age,sex,region,job --weights weight --suda
    """
    from sqlaudit.column_sets.records.result import records_document
    from sqlaudit.column_sets.records.search import find_records, plan_records

    if request.key and not request.show_values:
        raise UsageError(
            f"{spelled('key')} names what records are shown by; add {spelled('show_values', True)} to show them."
        )
    return job.run(
        lambda engine, relation: plan_records(engine, relation, request),
        lambda engine: find_records(engine, job.target, request),
        document=lambda result: records_document(result, suda=request.suda),
    )


# `sqlaudit persons`: what somebody learns who knows some events of a person.


@declared(
    target_options,
    given_options(PersonsRequest, "given"),
    require_of(
        "OF_PERSONS",
        "What must hold of persons",
        "MODEL=LIMIT",
        "km@2=5, profile_k=5, unicity@4=5%, coherence@2=k:5,h:0.8",
    ),
    click.Option(["--plot"], type=PATH, metavar="FILE", help="Draw the curve into a .svg file."),
)
def persons(job: Job, given: Mapping[str, Any], plot: Path | None) -> int:
    """Tell what somebody learns who knows some events of a person in TARGET.

    For tables with many rows a person: visits, claims, purchases, positions. An event is one
    combination of the --qi; with how few known events are persons found? Only counts leave the
    database. Exit code with --require 0: all hold, 1: one fails or cannot be decided.

    \b
      sqlaudit persons visits.csv --entity patient_id --qi "clinic,date_trunc('month', day)"
      sqlaudit persons visits.csv --entity patient_id --qi clinic --known 1..3 --random 4
      sqlaudit persons visits.csv --entity patient_id --qi clinic --require km@2=5 \\
          --require unicity@4=5%
    """
    from sqlaudit.events.result import curve_picture
    from sqlaudit.events.run import find_persons, plan_persons

    def code(result: PersonsResult) -> ExitCode:
        if plot is not None:
            picture = curve_picture(result)
            if picture is None:
                raise UsageError(
                    "There is no curve to draw: ask for more known events with --known, of a table with persons."
                )
            write_pictures(plot, [picture])
        return verdict(result.passed, result.complete)

    if plot is not None:
        check_destination(plot, (".svg",))
    read = request_from(PersonsRequest, job.beside(given, "static_from"))
    request = replace(read, requirements=job.asked.requirements)
    return job.run(
        lambda engine, relation: plan_persons(engine, relation, request)[1],
        lambda engine: find_persons(engine, job.target, request),
        code,
        targets=[job.target, *request.targets],
        reads=[job.target, *request.targets],
        stopped=lambda result: result.by_hand,
    )


# `sqlaudit disclosure`: what an attacker with k pieces of knowledge can learn, in the worst case.

_CURVE = ("knowledge", "threshold", "witness", "weakest", "plot")
"""The options that say how a curve is told."""


@dataclass(frozen=True)
class _Asked(DisclosureRequest):
    """What the command line may ask besides.

    Args:
        given: what exactly is known, instead of a worst case. plot: where the curve is drawn.
    """

    given: Path | None = option(
        None,
        FILE,
        "What if exactly this is known? A YAML file with people, knowledge, and what to ask.",
        ASK,
        metavar="FILE",
    )
    plot: Path | None = option(None, FILE, "Draw the curve into a .svg file.", ASK, metavar="FILE")


@declared(bucketized_options, role_options, given_options(_Asked, "question", last=("show_values",)))
def disclosure(job: Job, question: Mapping[str, Any]) -> int:
    """Tell what an attacker with k pieces of knowledge can learn about somebody in TARGET.

    A piece of knowledge is a basic implication: if these persons have these values, then one of
    those has one of those. The curve is the worst case over all such knowledge.

    \b
    How fast does disclosure grow, and when does it reach 0.7?
      sqlaudit disclosure patients.csv --qi age,sex --sensitive disease \\
          --knowledge 0..12 --threshold 0.7 --plot curve.svg
    Which three pieces of knowledge are the worst?
      sqlaudit disclosure patients.csv --qi age,sex --sensitive disease --witness 3
    What if somebody knows exactly this?
      sqlaudit disclosure patients.csv --qi age,sex --sensitive disease --given knowledge.yml
    """
    from sqlaudit.audits.disclosure.run import find_disclosure, planned_statements
    from sqlaudit.audits.report import disclosure_pictures

    if "given" in question:
        context = click.get_current_context()
        for name in _CURVE:
            if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                raise UsageError(f"--given asks its own question; leave --{name} out.")
        check_roles(job.roles)
        return _answer(question["given"], question["show_values"], job)
    plot = question.get("plot")
    if plot is not None:
        check_destination(plot, (".svg",))
    request = job.request(DisclosureRequest, question)

    def draw(result: DisclosureResult) -> DisclosureResult:
        if plot is not None:
            curves = list(disclosure_pictures(result.disclosures, result.threshold))
            if curves:
                write_pictures(plot, curves)
            else:
                say(f"There is no curve to draw: nothing was written to {str(plot)!r}.")
        return result

    return job.run(
        lambda engine, relation: planned_statements(engine, relation, job.roles),
        lambda engine: find_disclosure(engine, request),
        finish=draw,
    )


def _answer(file: Path, show_values: bool, job: Job) -> int:
    """The answers to what a file asks."""
    from sqlaudit.audits.disclosure.what_if import answer, load_knowledge, planned_questions

    if job.work.explain:
        raise UsageError("A database has no plan for a statement with open parameters; --dry-run shows the statements.")
    knowledge = load_knowledge(file)
    return job.run(
        lambda engine, relation: planned_questions(engine, relation, job.roles, knowledge),
        lambda engine: answer(engine, job.target, job.roles, knowledge, show_values),
    )
