"""`sqlaudit cloak`: messages hidden among k users, in boxes in space and time; or an audit of such boxes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.publication import Publication
from sqlaudit.base.spec import Limits, Target
from sqlaudit.cli.options import Work, keep_option, limit_options, output_options, target_options, work_options
from sqlaudit.cli.output import Output, say_written
from sqlaudit.cli.parsing import share, split_list, split_lists
from sqlaudit.cli.plan import show_statements
from sqlaudit.cli.sections import Sectioned, in_section, shared
from sqlaudit.cli.session import session
from sqlaudit.engines.contract import Engine
from sqlaudit.remedies.cloak.boxes import audit_boxes, plan_boxes
from sqlaudit.remedies.cloak.grid import Divide, metres, seconds
from sqlaudit.remedies.cloak.report import box_audit_document, cloak_document
from sqlaudit.remedies.cloak.request import BOUNDS, Background, BoxRequest, CloakRequest, Places, Tolerances
from sqlaudit.remedies.cloak.run import cloak_messages, plan_cloaking

_PATH = click.Path(path_type=Path)
_roles = in_section("Roles of the columns")
_coarse = in_section("How coarse boxes may become")
_own = in_section("What single messages ask for")
_out = in_section("The release")
_audit = in_section("Boxes of somebody else")
_attack = in_section("What attackers know")
_MADE = ("box", "interval", "smallest_box", "smallest_interval", "k_column", "box_column", "interval_column", "to")
_FLAGS = ("lonlat", "publish_sql")
_USUAL = {"identifier": (), "keep_column": (), "suppress": "0", "divide": "alternately"}


def _given(
    *,
    user: str | None,
    x: str | None,
    y: str | None,
    time: str | None,
    identifier: tuple[str, ...],
    k: int,
    box: str | None,
    interval: str | None,
    smallest_box: str | None,
    smallest_interval: str | None,
    divide: str,
    suppress: str,
    lonlat: bool,
    k_column: str | None,
    box_column: str | None,
    interval_column: str | None,
    to: Path | None,
    publish_sql: bool,
    keep_column: tuple[str, ...],
    audit_only: bool,
    bounds: str | None,
    positions: str | None,
    properties: str | None,
    property_bounds: str | None,
    owner: str | None,
    observations: str | None,
) -> dict[str, dict[str, Any]]:
    return {"given": dict(locals())}


_options = shared(
    _given,
    _roles("--user", metavar="COLUMN", help="Who sent a message; never published."),
    _roles("--x", metavar="COLUMN", help="Where: metres to the east (with --lonlat: longitude)."),
    _roles("--y", metavar="COLUMN", help="Where: metres to the north (with --lonlat: latitude)."),
    _roles("--time", metavar="COLUMN", help="When: a timestamp, a date, or a number of seconds."),
    _roles("--identifier", multiple=True, metavar="COLUMNS", help="Further columns that are not published."),
    _coarse("--k", type=int, default=5, show_default=True, help="Different users in every box, at least."),
    _coarse("--box", metavar="LENGTH", help="The side of the largest box: 1km, 500m."),
    _coarse("--interval", metavar="TIME", help="The interval of the largest box: 10min, 30s, 1h."),
    _coarse("--smallest-box", metavar="LENGTH", help="No box is smaller. [default: a sixteenth of --box]"),
    _coarse("--smallest-interval", metavar="TIME", help="No box is shorter. [default: a sixteenth of --interval]"),
    _coarse(
        "--divide",
        type=click.Choice([one.value for one in Divide]),
        default="alternately",
        show_default=True,
        help="Whether boxes become finer in space or in time first.",
    ),
    _coarse("--suppress", default="0", metavar="SHARE", help="Messages that may be dropped for finer boxes: 2%."),
    _coarse("--lonlat", is_flag=True, help="x and y are longitude and latitude in degrees."),
    _own("--k-column", metavar="COLUMN", help="More users than --k, for single messages."),
    _own("--box-column", metavar="COLUMN", help="No larger side than this, in metres."),
    _own("--interval-column", metavar="COLUMN", help="No longer interval than this, in seconds."),
    _out("--to", type=_PATH, metavar="FILE", help="Write them to .parquet or .csv, or their SELECT to .sql."),
    _out("--publish-sql", is_flag=True, help="Print the SELECT of the cloaked messages."),
    keep_option,
    _audit("--audit-only", is_flag=True, help="MESSAGES have boxes already: audit these."),
    _audit("--bounds", metavar="COLUMNS", help=f"Their columns. [default: {','.join(BOUNDS)}]"),
    _audit("--positions", metavar="TABLE", help="Where users truly were, to count them in boxes."),
    _attack("--properties", metavar="TABLE", help="Rectangles and whom they belong to: does a box lie in one?"),
    _attack("--property-bounds", metavar="COLUMNS", help=f"Its columns. [default: {','.join(BOUNDS[:4])}]"),
    _attack("--owner", metavar="COLUMN", help="Its column of owners. [default: owner]"),
    _attack("--observations", metavar="TABLE", help="Who was seen where and when, in columns of the same names."),
)


@click.command(cls=Sectioned)
@target_options
@_options
@output_options
@work_options
@limit_options
def command(target: Target, db: str | None, given: dict[str, Any], output: Output, work: Work, limits: Limits) -> int:
    """Hide each of the messages of TARGET among k users, in a box in space and time.

    Every box holds messages of at least k different users, and no two boxes overlap. Boxes
    are as fine as that allows, within the largest that is tolerated; what fits into none
    is dropped and counted.

    \b
      sqlaudit cloak messages.csv --user user --x x --y y --time sent --k 5 \\
          --box 1km --interval 10min --to cloaked.parquet
      sqlaudit cloak theirs.csv --audit-only --k 5 --properties flats.csv
    Exit code 1: no message can be published, or (--audit-only) boxes hold too few users.
    """
    if given["audit_only"]:
        return _audited(target, db, given, output, work, limits)
    keep = split_lists(given["keep_column"], "--keep-column")
    request, publication = _request(target, given), Publication(given["publish_sql"], given["to"], keep)
    publication.check()
    with session(db, limits, work, *request.targets()) as engine:
        if work.dry_run or work.explain:
            return _planned(engine, target, plan_cloaking(engine, request, publication), work, output)
        result = cloak_messages(engine, request, publication)
    output.emit(lambda: cloak_document(result), result.to_dict, result.sql if publication.with_sql else "")
    say_written(publication, result.published, "messages", "the cloaked messages")
    return ExitCode.OK if result.passed else ExitCode.REQUIREMENT_FAILED


def _audited(target: Target, db: str | None, given: dict[str, Any], output: Output, work: Work, limits: Limits) -> int:
    request = _box_request(target, given)
    with session(db, limits, work, *request.targets()) as engine:
        if work.dry_run or work.explain:
            return _planned(engine, target, plan_boxes(engine, request), work, output)
        result = audit_boxes(engine, request)
    output.emit(lambda: box_audit_document(result), result.to_dict)
    return ExitCode.OK if result.passed else ExitCode.REQUIREMENT_FAILED


def _planned(engine: Engine, target: Target, statements: Any, work: Work, output: Output) -> int:
    show_statements(engine, engine.open(target).tables or (target.name,), statements, work, output)
    return ExitCode.OK


def _request(target: Target, given: dict[str, Any]) -> CloakRequest:
    for option in ("bounds", "positions"):
        if given[option] is not None:
            raise UsageError(f"--{option} belongs to --audit-only.")
    for option in ("box", "interval"):
        if given[option] is None:
            raise UsageError(f"--{option} says how large a box may become, for instance --box 1km --interval 10min.")
    smallest_box, smallest_interval = given["smallest_box"], given["smallest_interval"]
    return CloakRequest(
        target,
        Places(*(given[name] or "" for name in ("user", "x", "y", "time"))),
        given["k"],
        metres(given["box"], "box"),
        seconds(given["interval"], "interval"),
        None if smallest_box is None else metres(smallest_box, "smallest_box"),
        None if smallest_interval is None else seconds(smallest_interval, "smallest_interval"),
        Divide(given["divide"]),
        Tolerances(*(given[f"{name}_column"] or "" for name in ("k", "box", "interval"))),
        share(given["suppress"], "--suppress"),
        given["lonlat"],
        split_lists(given["identifier"], "--identifier"),
        _background(target, given),
    )


def _box_request(target: Target, given: dict[str, Any]) -> BoxRequest:
    unused = [name for name in (*_MADE, *_FLAGS) if given[name]]
    unused += [name for name, usual in _USUAL.items() if given[name] != usual]
    if unused:
        name = unused[0].replace("_", "-")
        raise UsageError(f"--{name} says how boxes are made; --audit-only looks at boxes that are there.")
    names = {"user": "user", "x": "x", "y": "y", "time": "time"}
    placed = [name for name in ("x", "y", "time") if given[name]]
    if placed and given["positions"] is None and given["observations"] is None:
        raise UsageError(f"--{placed[0]} names a column of --positions or --observations; name such a table.")
    return BoxRequest(
        target,
        given["k"],
        split_list(given["bounds"], "--bounds") if given["bounds"] else BOUNDS,
        Places(*(given[name] or default for name, default in names.items())),
        _table(target, given["positions"]),
        _background(target, given),
    )


def _background(target: Target, given: dict[str, Any]) -> Background:
    if given["properties"] is None and (given["property_bounds"] or given["owner"]):
        raise UsageError("--property-bounds and --owner name columns of --properties; name that table.")
    bounds = given["property_bounds"]
    return Background(
        _table(target, given["properties"]),
        split_list(bounds, "--property-bounds") if bounds else BOUNDS[:4],
        given["owner"] or "owner",
        _table(target, given["observations"]),
    )


def _table(target: Target, name: str | None) -> Target | None:
    """Another table, read as the target is."""
    return None if name is None else Target(relation=name, read=target.read)
