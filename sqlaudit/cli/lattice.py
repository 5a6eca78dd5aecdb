"""`sqlaudit lattice`: how little a table must be coarsened to be safe, and the view that publishes it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

import click

from sqlaudit.audits.emit import statements_before
from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.publication import Suppressed
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Limits, Roles, Target
from sqlaudit.cli.exits import say
from sqlaudit.cli.last_resort import LastResort
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
from sqlaudit.cli.parsing import duration, share, split_lists
from sqlaudit.cli.parsing import weights as column_weights
from sqlaudit.cli.plan import show_statements
from sqlaudit.cli.sections import Sectioned, in_section, shared
from sqlaudit.cli.session import session
from sqlaudit.engines.contract import Engine
from sqlaudit.lattices.api import check_publication, make, search_and_publish, targets_of
from sqlaudit.lattices.report import lattice_document
from sqlaudit.lattices.request import Find, LatticePublication, LatticeRequest, parse_chain
from sqlaudit.lattices.result import LatticeResult
from sqlaudit.lattices.run import open_table, plan_lattice
from sqlaudit.lattices.search.choice import AUTO, FITS
from sqlaudit.lattices.search.inquiry import Progress, Tell
from sqlaudit.models.measures import OF_NODES
from sqlaudit.reports.figures import figure

_PATH = click.Path(path_type=Path)
_ALGORITHMS = (AUTO, *dict.fromkeys(name for names in FITS.values() for name in names))
_coarser = in_section("How columns become coarser")
_what = in_section("Which nodes")
_publish = in_section("The release")


def _choice(kind: type[StrEnum]) -> click.Choice[str]:
    return click.Choice([one.value for one in kind])


def _search(
    *,
    hierarchies: Path | None,
    suppress: str,
    find: str,
    measure: str,
    weights: tuple[str, ...],
    algorithm: str,
    chain: str | None,
    time_budget: float | None,
    show_walk: bool,
) -> dict[str, Any]:
    return {
        "search": {
            "hierarchies": hierarchies,
            "suppression": share(suppress, "--suppress"),
            "find": Find(find),
            "measure": measure,
            "algorithm": algorithm,
            "weights": column_weights(weights, "--weights"),
            "chain": parse_chain(chain) if chain else (),
            "time_budget": time_budget,
            "walk": show_walk,
        }
    }


def _publication(
    *,
    publish_view: str | None,
    execute: bool,
    replace_view: bool,
    to: Path | None,
    suppressed: str,
    keep_column: tuple[str, ...],
) -> dict[str, LatticePublication]:
    if publish_view == "":
        raise UsageError("--publish-view takes the name of a view.")
    keep = split_lists(keep_column, "--keep-column")
    return {
        "publication": LatticePublication(
            to, False, keep, publish_view or "", execute, replace_view, Suppressed(suppressed)
        )
    }


_search_options = shared(
    _search,
    _coarser("--hierarchies", type=_PATH, metavar="FILE|DIR", help="A YAML file, or a folder with …COLUMN.csv files."),
    _what("--suppress", default="0", metavar="SHARE", help="Rows that may be left out, in failing classes: 5%."),
    _what("--find", type=_choice(Find), default="best", show_default=True, help="Which safe nodes are wanted."),
    _what(
        "--measure",
        type=click.Choice(list(OF_NODES)),
        default="loss",
        show_default=True,
        help="The loss that the best node minimizes.",
    ),
    _what("--weights", multiple=True, metavar="COLUMN=NUMBER", help="How much columns weigh in the loss: age=2,sex=1."),
    _what(
        "--algorithm",
        type=click.Choice(_ALGORITHMS),
        default=AUTO,
        show_default=True,
        help="How they are searched; auto takes what fits.",
    ),
    _what("--chain", metavar="NODES", help='The nodes of a chain, from fine to coarse: "0,0 1,0 2,1".'),
    _what("--time-budget", callback=duration, metavar="TIME", help="Stop after this time with the best node so far."),
    _what("--show-walk", is_flag=True, help="Show the nodes that were counted, and what they fall short of."),
)
_publish_options = shared(
    _publication,
    _publish("--publish-view", metavar="NAME", help="Print the CREATE VIEW of the best node."),
    _publish("--execute", is_flag=True, help="Make that view in the database; the one thing that writes there."),
    _publish("--replace", "replace_view", is_flag=True, help="A view of that name may be replaced."),
    _publish(
        "--to",
        type=_PATH,
        metavar="FILE",
        help="Write the release to a .parquet or .csv file, or its SELECT to a .sql file.",
    ),
    _publish(
        "--suppressed",
        type=_choice(Suppressed),
        default="drop",
        show_default=True,
        help="Rows in classes that fall short are left out, or their quasi-identifiers become *.",
    ),
    keep_option,
)


@click.command(cls=Sectioned)
@target_options
@role_options
@require_options
@_search_options
@_publish_options
@output_options
@work_options
@limit_options
def command(
    target: Target,
    db: str | None,
    roles: Roles,
    asked: Asked,
    search: Mapping[str, Any],
    publication: LatticePublication,
    output: Output,
    work: Work,
    limits: Limits,
) -> int:
    """Find how little TARGET must be coarsened to be safe, and publish that.

    A node of the lattice chooses one level of coarseness for every quasi-identifier. The
    table is counted once, in its database; nothing is changed there without --execute.

    \b
      sqlaudit lattice patients.csv --qi age,sex,zip --sensitive diagnosis \\
          --hierarchies hierarchies.yml --require k=5 --require l=3 --suppress 2%
    Exit code 0: a safe node was found, 1: there is none (or an audit of the release
    says FAIL), 4: out of time.
    """
    request = LatticeRequest(target, roles, asked.requirements, inputs=asked.inputs, **search)
    check_publication(publication, db)
    with session(db, limits, work, *targets_of(request)) as engine:
        if work.dry_run or work.explain:
            tables = engine.open(target).tables or (target.name,)
            statements = [*_before(engine, request, publication), *plan_lattice(engine, request)]
            show_statements(engine, tables, statements, work, output)
            return ExitCode.OK
        result = search_and_publish(engine, request, publication, _teller(engine))
        if result.stopped == "interrupted":  # what is known is worth telling before the way out
            _emit(output, result)
            return ExitCode.INTERRUPTED
    with LastResort(limits.timeout):
        result = make(db, request, publication, result, limits)
    _emit(output, result)
    _tell(result, publication)
    return code_of(result)


def _before(engine: Engine, request: LatticeRequest, publication: LatticePublication) -> list[Statement]:
    """What is looked at before a search whose release is to be written."""
    return statements_before(engine, publication, open_table(engine, request).written(engine, publication.keep))


def code_of(result: LatticeResult) -> ExitCode:
    """The exit code that a result asks for."""
    if not result.complete:
        return ExitCode.INCOMPLETE
    audit = result.published.audit if result.published else None
    failed = not result.passed or (audit is not None and audit.status == "fail")
    return ExitCode.REQUIREMENT_FAILED if failed else ExitCode.OK


def _emit(output: Output, result: LatticeResult) -> None:
    sql = result.published.sql if result.published and result.published.view else ""
    output.emit(lambda: lattice_document(result), result.to_dict, sql)


def _tell(result: LatticeResult, publication: LatticePublication) -> None:
    made = result.published
    if publication.wanted and made is None:
        say("nothing was published: there is no safe node.")
    elif made is not None and made.executed:
        say(f"made the view {made.view!r}.")
    elif made is not None and made.audit is not None:
        say_written(publication, made.audit.rows)


def _teller(engine: Engine) -> Tell:
    """Progress of a search: nodes decided of all, and the best loss so far."""

    def tell(progress: Progress) -> None:
        if engine.progress is None:
            return
        best = "" if progress.best is None else f", best so far {figure(progress.best)}"
        share = progress.decided / progress.total if progress.total else None
        engine.progress(f"{progress.decided:,} of {progress.total:,} nodes decided{best}", share)

    return tell
