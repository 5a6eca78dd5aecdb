"""`sqlaudit columns`: which sets of columns re-identify."""

from __future__ import annotations

from enum import StrEnum

import click

from sqlaudit.base.errors import ExitCode
from sqlaudit.base.spec import Limits, NullPolicy, Target
from sqlaudit.cli.options import Work, limit_options, output_options, target_options, work_options
from sqlaudit.cli.output import Output
from sqlaudit.cli.parsing import count_or_all, duration, share, split_list, split_lists
from sqlaudit.cli.plan import show_statements
from sqlaudit.cli.sections import Sectioned, in_section, shared
from sqlaudit.cli.session import session
from sqlaudit.column_sets import ColumnRequest, Find, RankBy, Ratio, find_columns
from sqlaudit.column_sets.report import columns_document
from sqlaudit.column_sets.search import plan_columns
from sqlaudit.column_sets.walks import Tell
from sqlaudit.engines.contract import Engine

_who = in_section("Which columns")
_what = in_section("Which sets")
_far = in_section("How far")
_ANY_SIZE = 1 << 30


def _choice(kind: type[StrEnum]) -> click.Choice[str]:
    return click.Choice([one.value for one in kind])


def _request(
    *,
    identifying: bool,
    k: int,
    tolerance: str,
    epsilon: str,
    ratio: str,
    max_size: str | None,
    find: str,
    rank_by: str,
    limit: int,
    start: str | None,
    restarts: int,
    seed: int,
    nulls: str,
    time_budget: float | None,
) -> dict[str, ColumnRequest]:
    return {
        "request": ColumnRequest(
            identifying=identifying,
            k=k,
            tolerance=share(tolerance, "--tolerance"),
            epsilon=share(epsilon, "--epsilon"),
            ratio=Ratio(ratio),
            max_size=_size(max_size),
            find=Find(find),
            rank_by=RankBy(rank_by),
            limit=limit,
            start=split_list(start, "--start") if start else (),
            restarts=restarts,
            seed=seed,
            nulls=NullPolicy(nulls),
            time_budget=time_budget,
        )
    }


def _size(text: str | None) -> int | None:
    if text is None:
        return None
    number = count_or_all(click.get_current_context(), click.Option(["--max-size"]), text)
    return _ANY_SIZE if number is None else number


_request_options = shared(
    _request,
    _what("--identifying", is_flag=True, help="Sets that tell all rows apart, instead of sets that break k-anonymity."),
    _what("--k", type=int, default=5, show_default=True, help="Rows that a class must have at least."),
    _what("--tolerance", default="0", metavar="SHARE", help="Rows that may lie in smaller classes: 1% or 0.01."),
    _what("--epsilon", default="0", metavar="SHARE", help="How far below 1 the ratio of an identifying set may lie."),
    _what("--ratio", type=_choice(Ratio), default="distinct", help="Of different values, or of row pairs."),
    _what("--find", type=_choice(Find), default="all", show_default=True, help="Which sets are wanted."),
    _what("--rank-by", type=_choice(RankBy), default="at-risk", help="The figure that a ranking sorts by."),
    _what("--start", metavar="COLUMNS", help="The columns that the greedy search starts from, in order."),
    _what("--restarts", type=int, default=0, metavar="N", help="Further greedy searches from random orders."),
    _what("--seed", type=int, default=0, metavar="N", help="The seed of random orders."),
    _what(
        "--nulls",
        type=_choice(NullPolicy),
        default="equal",
        show_default=True,
        help="Missing values are equal to each other, equal to nothing, or match anything.",
    ),
    _far("--max-size", metavar="N|all", help="Columns that an attacker knows at most. [default: 4 for violating sets]"),
    _far("--limit", type=int, default=1000, show_default=True, metavar="N", help="Sets in the report."),
    _far("--time-budget", callback=duration, metavar="TIME", help="Stop after this time and say what is proven."),
)


@click.command(cls=Sectioned)
@target_options
@_who("--columns", multiple=True, metavar="COLUMNS", help='Columns or expressions to search: age,zip,"year(birth)".')
@_who("--exclude", multiple=True, metavar="COLUMNS", help="Columns to leave out, for instance record numbers.")
@_who("--entity", metavar="COLUMN", help="Which person a row is about; sizes then count persons.")
@_request_options
@_far("--effects/--no-effects", default=True, help="Count what leaving out or coarsening each column would save.")
@output_options
@work_options
@limit_options
def command(
    target: Target,
    db: str | None,
    columns: tuple[str, ...],
    exclude: tuple[str, ...],
    entity: str | None,
    request: ColumnRequest,
    effects: bool,
    output: Output,
    work: Work,
    limits: Limits,
) -> int:
    """Find the sets of columns of TARGET that re-identify people.

    By default all minimal sets of at most four columns that put somebody into a class of
    fewer than k rows, with the proof that none is missing. Only counts leave the database.

    \b
      sqlaudit columns patients.csv --exclude record_id --k 5 --tolerance 1%
      sqlaudit columns patients.csv --identifying
    """
    chosen, left_out = split_lists(columns, "--columns"), split_lists(exclude, "--exclude")
    with session(db, limits, work, target) as engine:
        if work.dry_run or work.explain:
            relation = engine.open(target)
            planned = plan_columns(engine, relation, request, columns=chosen, exclude=left_out, entity=entity)
            show_statements(engine, relation.tables or (target.name,), planned, work, output)
            return ExitCode.OK
        result = find_columns(
            engine,
            target,
            request,
            columns=chosen,
            exclude=left_out,
            entity=entity,
            effects=effects,
            announce=_announce,
            tell=_teller(engine),
        )
    output.emit(lambda: columns_document(result), result.to_dict)
    return ExitCode.OK if result.complete or not result.open_sets else ExitCode.INCOMPLETE


def _announce(columns: int, candidates: int, limit: int | None) -> None:
    size = "of any size" if limit is None else f"of at most {limit}"
    number = f"{candidates:,}" if candidates < 10**12 else f"about {candidates:.0e}"
    click.echo(f"{columns} columns have {number} sets {size} columns; most follow from others.", err=True)


def _teller(engine: Engine) -> Tell:
    """Progress of a walk: sets decided and the border so far."""

    def tell(decided: int, border: int) -> None:
        if engine.progress is not None:
            engine.progress(f"{decided:,} sets decided, border {border:,}", None)

    return tell
