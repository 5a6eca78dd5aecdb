"""`sqlaudit cloak`: messages hidden among k users, in boxes in space and time; or an audit of such boxes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.options import options_of, request_from
from sqlaudit.base.publication import Publication
from sqlaudit.base.spec import Limits, Target
from sqlaudit.cli.options import Work, limit_options, output_options, target_options, work_options
from sqlaudit.cli.output import Output, say_written
from sqlaudit.cli.requests import given_options, request_options
from sqlaudit.cli.sections import Sectioned, in_section
from sqlaudit.remedies.cloak.request import Background, BoxRequest, CloakRequest, Places, Tolerances

if TYPE_CHECKING:
    from sqlaudit.engines.contract import Engine

_WHERE = ("x", "y", "time")


@dataclass(frozen=True)
class CloakOptions:
    """What was given, by the request that it belongs to."""

    places: Mapping[str, Any]
    cloaking: Mapping[str, Any]
    tolerances: Mapping[str, Any]
    boxes: Mapping[str, Any]
    known: Mapping[str, Any]


@click.command(cls=Sectioned)
@target_options
@given_options(Places, "places")
@given_options(CloakRequest, "cloaking")
@given_options(Tolerances, "tolerances")
@request_options(
    Publication,
    "publication",
    last=("publish_sql", "keep_column"),
    to="Write them to .parquet or .csv, or their SELECT to .sql.",
    publish_sql="Print the SELECT of the cloaked messages.",
)
@in_section("Boxes of somebody else")("--audit-only", is_flag=True, help="MESSAGES have boxes already: audit these.")
@given_options(BoxRequest, "boxes")
@given_options(Background, "known")
@output_options
@work_options
@limit_options
def command(
    target: Target,
    db: str | None,
    publication: Publication,
    audit_only: bool,
    output: Output,
    work: Work,
    limits: Limits,
    **given: Mapping[str, Any],
) -> int:
    """Hide each of the messages of TARGET among k users, in a box in space and time.

    Every box holds messages of at least k different users, and no two boxes overlap. Boxes
    are as fine as that allows, within the largest that is tolerated; what fits into none
    is dropped and counted.

    \b
      sqlaudit cloak messages.csv --user user --x x --y y --time sent --k 5 \\
          --box 1km --interval 10min --to cloaked.parquet
      sqlaudit cloak messages.csv --user user --x x --y y --time sent --k 5 \\
          --box 1km --delay 10min --interval 1min --to cloaked.parquet
      sqlaudit cloak theirs.csv --audit-only --k 5 --properties flats.csv
    Exit code 1: no message can be published, or (--audit-only) boxes hold too few users.
    """
    from sqlaudit.cli.session import session
    from sqlaudit.remedies.cloak.arrivals import cloak_arrivals, plan_arrivals
    from sqlaudit.remedies.cloak.report import cloak_document
    from sqlaudit.remedies.cloak.run import cloak_messages, plan_cloaking

    asked = CloakOptions(**given)
    if audit_only:
        return _audited(_box_request(target, asked, publication), db, output, work, limits)
    request = _request(target, asked)
    publication.check()
    with session(db, limits, work, *request.targets()) as engine:
        if work.dry_run or work.explain:
            planned = plan_cloaking if request.delay is None else plan_arrivals
            return _planned(engine, target, planned(engine, request, publication), work, output)
        cloaked = cloak_messages if request.delay is None else cloak_arrivals
        result = cloaked(engine, request, publication)
    output.emit(lambda: cloak_document(result), result.to_dict, result.sql if publication.with_sql else "")
    say_written(publication, result.published, "messages", "the cloaked messages")
    return ExitCode.OK if result.passed else ExitCode.REQUIREMENT_FAILED


def _audited(request: BoxRequest, db: str | None, output: Output, work: Work, limits: Limits) -> int:
    from sqlaudit.cli.session import session
    from sqlaudit.remedies.cloak.boxes import audit_boxes, plan_boxes
    from sqlaudit.remedies.cloak.report import box_audit_document

    with session(db, limits, work, *request.targets()) as engine:
        if work.dry_run or work.explain:
            return _planned(engine, request.target, plan_boxes(engine, request), work, output)
        result = audit_boxes(engine, request)
    output.emit(lambda: box_audit_document(result), result.to_dict)
    return ExitCode.OK if result.passed else ExitCode.REQUIREMENT_FAILED


def _planned(engine: Engine, target: Target, statements: Any, work: Work, output: Output) -> int:
    from sqlaudit.cli.plan import show_statements

    show_statements(engine, engine.open(target).tables or (target.name,), statements, work, output)
    return ExitCode.OK


def _request(target: Target, asked: CloakOptions) -> CloakRequest:
    if asked.boxes:
        raise UsageError(f"--{next(iter(asked.boxes))} belongs to --audit-only.")
    for option in ("box", "interval"):
        if option not in asked.cloaking:
            raise UsageError(f"--{option} says how large a box may become, for instance --box 1km --interval 10min.")
    return request_from(
        CloakRequest,
        asked.cloaking,
        target=target,
        places=request_from(Places, asked.places),
        tolerances=request_from(Tolerances, asked.tolerances),
        background=_background(target, asked.known),
    )


def _box_request(target: Target, asked: CloakOptions, publication: Publication) -> BoxRequest:
    unused = [*_said(CloakRequest, asked.cloaking), *_said(Tolerances, asked.tolerances)]
    unused += [one.name for name, one in options_of(Publication) if getattr(publication, name) != one.default]
    if unused:
        name = unused[0].replace("_", "-")
        raise UsageError(f"--{name} says how boxes are made; --audit-only looks at boxes that are there.")
    placed = [name for name in _WHERE if asked.places.get(name)]
    if placed and "positions" not in asked.boxes and "observations" not in asked.known:
        raise UsageError(f"--{placed[0]} names a column of --positions or --observations; name such a table.")
    names = {name: asked.places.get(name) or name for name in ("user", *_WHERE)}
    return request_from(
        BoxRequest,
        {**_read(target, asked.boxes, "positions"), "k": asked.cloaking["k"]},
        target=target,
        places=request_from(Places, names),
        background=_background(target, asked.known),
    )


def _said(request: type[Any], given: Mapping[str, Any]) -> list[str]:
    """The options, apart from k, that were given something else than they are without it."""
    read = ((one, given[one.name]) for _, one in options_of(request) if one.name in given and one.name != "k")
    return [one.name for one, value in read if one.kind.read(one.name, value) != one.default]


def _background(target: Target, known: Mapping[str, Any]) -> Background:
    if "properties" not in known and known.keys() & {"property_bounds", "owner"}:
        raise UsageError("--property-bounds and --owner name columns of --properties; name that table.")
    return request_from(Background, _read(target, known, "properties", "observations"))


def _read(target: Target, given: Mapping[str, Any], *tables: str) -> dict[str, Any]:
    """What was given, with other tables read as the target is."""
    named = {name: Target(relation=given[name], read=target.read) for name in tables if name in given}
    return {**given, **named}
