"""`sqlaudit cloak`: messages hidden among k users, in boxes in space and time; or an audit of such boxes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.options import all_options_of
from sqlaudit.cli.options import output_options_with, whole_request
from sqlaudit.cli.output import say_written
from sqlaudit.cli.requests import OptionGroup, in_section, option_values
from sqlaudit.cli.runner import Job, job_command
from sqlaudit.remedies.cloak.request import AUDIT, KNOWLEDGE, PLACE_COLUMNS, BoxRequest, CloakRequest

if TYPE_CHECKING:
    from sqlaudit.remedies.cloak.result import CloakResult

_CLOAKING = whole_request(
    CloakRequest,
    last=("publish_sql", "keep_column"),
    to="Write the messages to .parquet, .csv, .xlsx, .sav or .dta, or their SELECT to .sql.",
    publish_sql="Print the SELECT of the cloaked messages.",
)
_AUDITING = whole_request(BoxRequest)
_AUDIT_ONLY = in_section(AUDIT)("--audit-only", is_flag=True, help="Audit the boxes that MESSAGES already have.")
_OF_BOXES = {option.name for option in all_options_of(BoxRequest)}
_ONLY_CLOAKING = [option for option in all_options_of(CloakRequest) if option.name not in _OF_BOXES]


def _parameters() -> list[click.Parameter]:
    """Return the parameters of both requests, each once, in the order of the sections."""
    parameters = [*_CLOAKING.parameters, _AUDIT_ONLY, *_AUDITING.parameters]
    by_name = {str(parameter.name): parameter for parameter in parameters}
    return sorted(by_name.values(), key=lambda parameter: getattr(parameter, "section", "") == KNOWLEDGE)


def _request(*, audit_only: bool, **values: object) -> Mapping[str, object]:
    """Return the request to cloak messages, or with `--audit-only` to audit their boxes, and the database.

    Raises:
        UsageError: an option of the other request, or one without the option that it needs.
    """
    if audit_only:
        _check_audit(values)
        group = _AUDITING
        values |= {name: values[name] or None for name in PLACE_COLUMNS}
    else:
        for name in ("bounds", "positions"):
            if values[name] is not None:
                raise UsageError(f"--{name} needs --audit-only.")
        for name in ("box", "interval"):
            if values[name] is None:
                raise UsageError(f"--{name} limits the size of a box, for example --box 1km --interval 10min.")
        group = _CLOAKING
    if values["properties"] is None and (values["property_bounds"], values["owner"]) != (None, None):
        raise UsageError("--property-bounds and --owner need --properties: name that table.")
    return group.extract(values)


def _check_audit(values: Mapping[str, object]) -> None:
    """Raise UsageError if an option has no use for boxes that exist."""
    options = option_values(_ONLY_CLOAKING, values)
    for option in _ONLY_CLOAKING:
        if option.name in options and option.kind.read(option.name, options[option.name]) != option.default:
            name = option.name.replace("_", "-")
            raise UsageError(f"--{name} and --audit-only exclude each other: existing boxes are only audited.")
    column = next((name for name in PLACE_COLUMNS[1:] if values[name]), None)
    if column is not None and values["positions"] is None and values["observations"] is None:
        raise UsageError(f"--{column} needs --positions or --observations: name such a table.")


# Its --owner is the column of who owns a property
@job_command(OptionGroup(_request, *_parameters()), output=output_options_with(owner="--report-owner"))
def command(job: Job, request: CloakRequest | BoxRequest) -> int:
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
    from sqlaudit.remedies.cloak.run import audit_boxes, cloak, code_of

    if isinstance(request, BoxRequest):
        return job.run(audit_boxes, request)
    publication = request.publication

    def code(result: CloakResult) -> ExitCode:
        say_written(publication, result.published, "messages", "the cloaked messages")
        return code_of(result)

    return job.run(cloak, request, code=code)
