"""`sqlaudit records`: how special single records are."""

from __future__ import annotations

import click

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.spec import Limits, NullPolicy, Target
from sqlaudit.cli.options import Work, limit_options, output_options, target_options, work_options
from sqlaudit.cli.output import Output
from sqlaudit.cli.parsing import share, split_lists
from sqlaudit.cli.plan import show_statements
from sqlaudit.cli.sections import Sectioned, in_section
from sqlaudit.cli.session import session
from sqlaudit.column_sets.records import RecordRequest, find_records
from sqlaudit.column_sets.records.report import records_document
from sqlaudit.column_sets.records.search import plan_records

_who = in_section("Which columns")
_far = in_section("How far")


@click.command(cls=Sectioned)
@target_options
@_who("--qi", multiple=True, metavar="COLUMNS", help='Quasi-identifiers, or expressions: age,sex,"year(birth)".')
@_who("--key", multiple=True, metavar="COLUMNS", help="What the most special records are shown by. [default: the --qi]")
@_who("--weights", metavar="COLUMN", help="Sampling weights: how many people of the population a row stands for.")
@_who(
    "--nulls",
    type=click.Choice([one.value for one in NullPolicy]),
    default="equal",
    show_default=True,
    help="Missing values are equal to each other, equal to nothing, or match anything.",
)
@_far("--max-size", type=int, default=3, show_default=True, help="The largest column sets looked at.")
@_far(
    "--sampling-fraction", default="0.01", show_default=True, metavar="SHARE", help="For DIS-SUDA: the sample's share."
)
@_far("--suda", is_flag=True, help="Also tell SUDA and DIS-SUDA scores and what each column adds (JSON always does).")
@_far("--top", type=int, default=50, show_default=True, help="How many of the most special records are shown.")
@_far("--show-values", is_flag=True, help="Show them, by their key, which may name persons.")
@output_options
@work_options
@limit_options
def command(
    target: Target,
    db: str | None,
    qi: tuple[str, ...],
    key: tuple[str, ...],
    weights: str | None,
    nulls: str,
    max_size: int,
    sampling_fraction: str,
    suda: bool,
    top: int,
    show_values: bool,
    output: Output,
    work: Work,
    limits: Limits,
) -> int:
    """Tell which records of TARGET are special: unique on few columns, so easily found elsewhere.

    Minimal sample uniques and individual risk, with sampling weights; with --suda also SUDA and DIS-SUDA
    scores and the contribution of each column. Records themselves are shown only with --show-values.

    \b
      sqlaudit records survey.csv --qi age,sex,region,job --weights weight --suda
    """
    names, keys = split_lists(qi, "--qi"), split_lists(key, "--key")
    if keys and not show_values:
        raise UsageError("--key names what records are shown by; add --show-values to show them.")
    fraction = share(sampling_fraction, "--sampling-fraction")
    request = RecordRequest(max_size, fraction, NullPolicy(nulls), top, show_values)
    with session(db, limits, work, target) as engine:
        if work.dry_run or work.explain:
            relation = engine.open(target)
            planned = plan_records(engine, relation, request, qi=names)
            show_statements(engine, relation.tables or (target.name,), planned, work, output)
            return ExitCode.OK
        result = find_records(engine, target, request, qi=names, key=keys, weights=weights)
    output.emit(lambda: records_document(result, suda=suda), result.to_dict)
    return ExitCode.OK
