"""`sqlaudit recode`: make a table safe by local recoding, and publish that."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.numbers import exact_number
from sqlaudit.base.publication import Publication
from sqlaudit.base.spec import Limits, Roles, Target
from sqlaudit.cli.exits import say
from sqlaudit.cli.options import (
    Asked,
    Work,
    keep_option,
    limit_options,
    output_options,
    require_options,
    role_options,
    target_options,
    work_options,
)
from sqlaudit.cli.output import Output, say_written
from sqlaudit.cli.parsing import duration, split_lists
from sqlaudit.cli.plan import show_statements
from sqlaudit.cli.sections import Sectioned, in_section, shared
from sqlaudit.cli.session import session
from sqlaudit.engines.contract import Engine
from sqlaudit.lattices.api import targets_of
from sqlaudit.models.measures import OF_RELEASES
from sqlaudit.remedies.recode.api import recode_and_publish
from sqlaudit.remedies.recode.kaca import Order, Tell
from sqlaudit.remedies.recode.report import recode_document
from sqlaudit.remedies.recode.request import BY_DEFAULT, Method, RecodeRequest
from sqlaudit.remedies.recode.result import RecodeResult
from sqlaudit.remedies.recode.run import plan_recoding

_PATH = click.Path(path_type=Path)
_coarser = in_section("How columns become coarser")
_what = in_section("How groups are made")
_lost = in_section("What is lost")
_publish = in_section("The release")


def _recoding(
    *,
    hierarchies: Path | None,
    method: str,
    order: str,
    seed: int | None,
    beta: str,
    measure: str,
    lattice: bool,
    time_budget: float | None,
    publish_sql: bool,
    to: Path | None,
    keep_column: tuple[str, ...],
) -> dict[str, Any]:
    return {
        "recoding": {
            "hierarchies": hierarchies,
            "method": Method(method),
            "order": Order(order),
            "seed": seed,
            "beta": _beta(beta),
            "measure": measure,
            "beside": lattice,
            "time_budget": time_budget,
            "publication": Publication(to, publish_sql, split_lists(keep_column, "--keep-column")),
        }
    }


def _beta(text: str) -> Fraction:
    try:
        return exact_number(text)
    except UsageError:
        raise UsageError(f"--beta is a number of 0 or more, for instance 0.5; {text!r} is none.") from None


_recode_options = shared(
    _recoding,
    _coarser("--hierarchies", type=_PATH, metavar="FILE|DIR", help="A YAML file, or a folder with …COLUMN.csv files."),
    _what(
        "--method",
        type=click.Choice([one.value for one in Method]),
        default="kaca",
        show_default=True,
        help="Merge classes that fall short with the nearest one, or split the table as far as it may be.",
    ),
    _what(
        "--order",
        type=click.Choice([one.value for one in Order]),
        default="smallest",
        show_default=True,
        help="Which class KACA merges next.",
    ),
    _what("--seed", type=int, metavar="N", help="The seed of the random order. [default: 0]"),
    _what("--beta", default="0", show_default=True, metavar="NUMBER", help="KACA weighs levels by 1/(j-1)^beta."),
    _what("--time-budget", callback=duration, metavar="TIME", help="Give up after this time, publishing nothing."),
    _lost(
        "--measure",
        type=click.Choice(list(OF_RELEASES)),
        default=BY_DEFAULT,
        show_default=True,
        help="The loss that is named first.",
    ),
    _lost("--lattice/--no-lattice", default=True, show_default=True, help="Set it beside the best full-domain node."),
    _publish("--publish-sql", is_flag=True, help="Print the SELECT of the release."),
    _publish(
        "--to",
        type=_PATH,
        metavar="FILE",
        help="Write the release to a .parquet or .csv file, or its SELECT to a .sql file.",
    ),
    keep_option,
)


@click.command(cls=Sectioned)
@target_options
@role_options
@require_options
@_recode_options
@output_options
@work_options
@limit_options
def command(
    target: Target,
    db: str | None,
    roles: Roles,
    asked: Asked,
    recoding: Mapping[str, Any],
    output: Output,
    work: Work,
    limits: Limits,
) -> int:
    """Make TARGET safe by local recoding: each class as coarse as it must be, and no coarser.

    Classes are counted in the database and grouped by their counts; the rows are rewritten
    by SQL where they lie, and the release is audited before it is written. Nothing is
    changed in the database.

    \b
      sqlaudit recode patients.csv --qi age,sex,zip --sensitive diagnosis \\
          --hierarchies hierarchies.yml --require k=5 --require l=3 --to release.csv
    Exit code 0: a recoding was found, 1: there is none, 4: out of time.
    """
    request = RecodeRequest(target, roles, asked.requirements, inputs=asked.inputs, **recoding)
    request.publication.check()
    with session(db, limits, work, *targets_of(request.of_lattice())) as engine:
        if work.dry_run or work.explain:
            tables = engine.open(target).tables or (target.name,)
            show_statements(engine, tables, plan_recoding(engine, request), work, output)
            return ExitCode.OK
        result = recode_and_publish(engine, request, _teller(engine, request))
    _emit(output, result, request.publication)
    return code_of(result)


def code_of(result: RecodeResult) -> ExitCode:
    """The exit code that a result asks for."""
    return ExitCode.OK if result.passed else ExitCode.REQUIREMENT_FAILED


def _emit(output: Output, result: RecodeResult, publication: Publication) -> None:
    sql = result.release.sql if result.release and publication.with_sql else ""
    output.emit(lambda: recode_document(result), result.to_dict, sql)
    if result.release is not None:
        say_written(publication, result.release.rows)
    elif publication.file is not None:
        say("nothing was published: there is no recoding.")


def _teller(engine: Engine, request: RecodeRequest) -> Tell:
    """Progress: merges and classes that are left, or rounds of splits and groups so far."""
    steps, left = ("merges", "classes left") if request.method is Method.KACA else ("rounds", "groups tried")

    def tell(done: int, groups: int) -> None:
        if engine.progress is not None:
            engine.progress(f"{done:,} {steps}, {groups:,} {left}", None)

    return tell
