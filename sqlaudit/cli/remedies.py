"""`sqlaudit recode`, `suppress`, `cloak`: make a table safe, and publish it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlaudit.base.errors import ExitCode, UsageError, verdict
from sqlaudit.base.options import options_of, request_from
from sqlaudit.base.publication import Publication
from sqlaudit.cli.exits import say
from sqlaudit.cli.options import target_options, whole_request
from sqlaudit.cli.output import say_written
from sqlaudit.cli.requests import given_options, in_section, request_options
from sqlaudit.cli.runner import Job, job_command, progress_callback
from sqlaudit.remedies.cloak.request import Background, BoxRequest, CloakRequest, Places, Tolerances
from sqlaudit.remedies.recode.request import Method, RecodeRequest
from sqlaudit.remedies.suppress.request import SuppressRequest

if TYPE_CHECKING:
    from sqlaudit.remedies.cloak.result import CloakResult
    from sqlaudit.remedies.recode.result import RecodeResult
    from sqlaudit.remedies.suppress.result import SuppressResult


# `sqlaudit recode`: make a table safe by local recoding, and publish it.


@job_command(whole_request(RecodeRequest, last=("keep_column",), publish_sql="Print the SELECT of the release."))
def recode(job: Job, request: RecodeRequest) -> int:
    """Make a table safe by local recoding: generalize each class only as far as needed.

    Classes are counted in the database and grouped by their counts. The rows are rewritten by
    SQL in the database, and the release is audited before it is written. Nothing is changed in
    the database.

    \b
      sqlaudit recode patients.csv --qi age,sex,zip --sensitive diagnosis \\
          --hierarchies hierarchies.yml --require k=5 --require l=3 --to release.csv
    Exit code 0: a recoding was found, 1: none was found, 4: time limit reached.
    """
    from sqlaudit.remedies.recode.run import code_of, recode_and_publish
    from sqlaudit.remedies.recode.run import recode as recode_command

    def code(result: RecodeResult) -> ExitCode:
        if result.release is not None:
            say_written(request.publication, result.release.rows)
        elif request.publication.file is not None:
            say("nothing was published: no recoding was found.")
        return code_of(result)

    def progress(done: int, groups: int) -> str:
        steps, count_name = ("merges", "classes left") if request.method is Method.KACA else ("rounds", "groups tried")
        return f"{done:,} {steps}, {groups:,} {count_name}"

    return job.run(
        recode_command,
        request,
        lambda engine: recode_and_publish(engine, request, progress_callback(engine, progress)),
        code=code,
    )


# `sqlaudit suppress`: the fewest cells to make `*` so that a release is safe, and that release.


@job_command(SuppressRequest)
def suppress(job: Job, request: SuppressRequest) -> int:
    """Find the fewest cells to suppress so that a table is safe to publish.

    Cells become *, and rows that differ in nothing else become a class. Patterns of rows are
    counted in the database; no value leaves it. The release is audited before it is written.

    \b
      sqlaudit suppress patients.csv --qi age,sex,zip --sensitive diagnosis \\
          --require k=5 --require l=2 --weights zip=2 --to release.parquet
    Exit code 0: a safe release was found, 4: --exact was given but is not proven.
    """
    from sqlaudit.remedies.suppress.run import code_of, suppress_table
    from sqlaudit.remedies.suppress.run import suppress as suppress_command

    def code(result: SuppressResult) -> ExitCode:
        if result.release is not None:
            say_written(request.publication, result.release.rows)
        return code_of(result)

    return job.run(
        suppress_command, request, lambda engine: suppress_table(engine, request, engine.progress), code=code
    )


# `sqlaudit cloak`: messages hidden among k users, in boxes in space and time; or an audit of such boxes.

OptionsByRequest = Mapping[str, Mapping[str, Any]]
"""The given options, by the request that they belong to."""
_POSITION_FIELDS = ("x", "y", "time")


@job_command(
    target_options,
    given_options(Places, "places"),
    given_options(CloakRequest, "cloaking"),
    given_options(Tolerances, "tolerances"),
    request_options(
        Publication,
        "publication",
        last=("publish_sql", "keep_column"),
        to="Write the messages to .parquet or .csv, or their SELECT to .sql.",
        publish_sql="Print the SELECT of the cloaked messages.",
    ),
    in_section("Audit of existing boxes")(
        "--audit-only", is_flag=True, help="Audit the boxes that MESSAGES already have."
    ),
    given_options(BoxRequest, "boxes"),
    given_options(Background, "background"),
)
def cloak(job: Job, publication: Publication, audit_only: bool, **options: Mapping[str, Any]) -> int:
    """Hide each message among k users, in a box in space and time.

    Every box has messages of at least k different users, and no two boxes overlap. Boxes are as
    small as possible, up to the largest allowed size. Messages that fit into no box are dropped
    and counted.

    \b
      sqlaudit cloak messages.csv --user user --x x --y y --time sent --k 5 \\
          --box 1km --interval 10min --to cloaked.parquet
      sqlaudit cloak messages.csv --user user --x x --y y --time sent --k 5 \\
          --box 1km --delay 10min --interval 1min --to cloaked.parquet
      sqlaudit cloak theirs.csv --audit-only --k 5 --properties flats.csv
    Exit code 1: no message can be published, or (--audit-only) boxes have too few users.
    """
    from sqlaudit.remedies.cloak.run import cloak_arrivals, cloak_messages, plan_arrivals, plan_cloaking

    def code(result: CloakResult) -> ExitCode:
        say_written(publication, result.published, "messages", "the cloaked messages")
        return verdict(result.passed)

    if audit_only:
        return _audit_boxes(job, options, publication)
    if options["boxes"]:
        raise UsageError(f"--{next(iter(options['boxes']))} needs --audit-only.")
    for option in ("box", "interval"):
        if option not in options["cloaking"]:
            raise UsageError(f"--{option} limits the size of a box, for example --box 1km --interval 10min.")
    request = job.request(
        CloakRequest,
        options["cloaking"],
        places=request_from(Places, options["places"]),
        tolerances=request_from(Tolerances, options["tolerances"]),
        background=_background(job, options["background"]),
    )
    publication.check()
    plan, cloak = (plan_cloaking, cloak_messages) if request.delay is None else (plan_arrivals, cloak_arrivals)
    return job.run_old(
        lambda engine, _: plan(engine, request, publication),
        lambda engine: cloak(engine, request, publication),
        code,
        targets=request.targets(),
        sql=lambda result: result.sql if publication.with_sql else "",
    )


def _audit_boxes(job: Job, options: OptionsByRequest, publication: Publication) -> int:
    """Audit the boxes that messages already have. Return the exit code."""
    from sqlaudit.remedies.cloak.run import audit_given_boxes as audit_boxes
    from sqlaudit.remedies.cloak.run import plan_boxes

    unused = [
        *_changed_options(CloakRequest, options["cloaking"]),
        *_changed_options(Tolerances, options["tolerances"]),
    ]
    unused += [
        field_option.name
        for name, field_option in options_of(Publication)
        if getattr(publication, name) != field_option.default
    ]
    if unused:
        name = unused[0].replace("_", "-")
        raise UsageError(f"--{name} and --audit-only exclude each other: existing boxes are only audited.")
    places = options["places"]
    named_fields = [name for name in _POSITION_FIELDS if places.get(name)]
    if named_fields and "positions" not in options["boxes"] and "observations" not in options["background"]:
        raise UsageError(f"--{named_fields[0]} needs --positions or --observations: name such a table.")
    request = job.request(
        BoxRequest,
        {**job.with_tables(options["boxes"], "positions"), "k": options["cloaking"]["k"]},
        places=request_from(Places, {name: places.get(name) or name for name in ("user", *_POSITION_FIELDS)}),
        background=_background(job, options["background"]),
    )
    return job.run_old(
        lambda engine, _: plan_boxes(engine, request),
        lambda engine: audit_boxes(engine, request),
        lambda result: verdict(result.passed),
        targets=request.targets(),
    )


def _changed_options(request: type[Any], options: Mapping[str, Any]) -> list[str]:
    """Return the names of the options, except k, whose value differs from the default."""
    values = (
        (field_option, options[field_option.name])
        for _, field_option in options_of(request)
        if field_option.name in options and field_option.name != "k"
    )
    return [
        field_option.name
        for field_option, value in values
        if field_option.kind.read(field_option.name, value) != field_option.default
    ]


def _background(job: Job, options: Mapping[str, Any]) -> Background:
    """Return the attacker's background knowledge, with the tables that it names.

    Raises:
        UsageError: options of a table of properties, without that table.
    """
    if "properties" not in options and options.keys() & {"property_bounds", "owner"}:
        raise UsageError("--property-bounds and --owner need --properties: name that table.")
    return request_from(Background, job.with_tables(options, "properties", "observations"))
