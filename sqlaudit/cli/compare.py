"""`sqlaudit compare`: a release beside its original."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.numbers import exact_number
from sqlaudit.base.spec import Limits, Target
from sqlaudit.cli.options import (
    Asked,
    Work,
    limit_options,
    output_options,
    read_from,
    read_parameters,
    require_options,
    work_options,
)
from sqlaudit.cli.output import Output
from sqlaudit.cli.parsing import split_list, split_lists
from sqlaudit.cli.plan import show_statements
from sqlaudit.cli.sections import Sectioned, in_section, shared
from sqlaudit.cli.session import session
from sqlaudit.models.measures import chosen
from sqlaudit.release.compare.report import compare_document
from sqlaudit.release.compare.request import DISTANCES, CompareRequest
from sqlaudit.release.compare.result import Answer, CompareResult
from sqlaudit.release.compare.run import compare_tables, plan_comparison

_PATH = click.Path(path_type=Path)
_tables_of = in_section("What to look at")
_roles_of = in_section("Roles of the columns")
_pairs_of = in_section("Which rows belong together")
_lost = in_section("What was lost")
_useful = in_section("What is still of use")


def _tables(*, original: str, release: str, other_release: str | None, db: str | None, **values: Any) -> dict[str, Any]:
    read = read_from(values)
    names = {"original": original, "release": release, "other": other_release}
    given = {role: name for role, name in names.items() if name is not None}
    if not all(given.values()):
        raise UsageError("Name the original and the release: a name is empty.")
    return {"db": db, "tables": {role: Target(relation=name, read=read) for role, name in given.items()}}


def _comparison(
    *,
    qi: tuple[str, ...],
    sensitive: tuple[str, ...],
    hierarchies: Path | None,
    key: str | None,
    by_position: bool,
    measures: tuple[str, ...],
    beta: str,
    distance: str,
    noise_queries: int,
    queries: tuple[Path, ...],
    workload: int,
    seed: int,
    show_values: bool,
) -> dict[str, Any]:
    names = split_lists(measures, "--measures")
    chosen(names)
    return {
        "comparison": {
            "qi": split_lists(qi, "--qi"),
            "sensitive": split_lists(sensitive, "--sensitive"),
            "hierarchies": hierarchies,
            "key": split_list(key, "--key") if key else (),
            "by_position": by_position,
            "measures": names,
            "beta": _beta(beta),
            "distance": distance,
            "noise_queries": noise_queries,
            "queries": tuple(map(_read, queries)),
            "workload": workload,
            "seed": seed,
            "show_values": show_values,
        }
    }


def _beta(text: str) -> Fraction:
    try:
        return exact_number(text)
    except UsageError:
        raise UsageError(f"--beta is a number of 0 or more, for instance 0.5; {text!r} is none.") from None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--queries {str(path)!r} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"--queries {str(path)!r} is not UTF-8 text.") from None


_table_options = shared(
    _tables,
    click.argument("original"),
    click.argument("release"),
    _tables_of("--db", metavar="DATABASE", help="A DuckDB file, or a PostgreSQL URL. Without it both are files."),
    _tables_of("--other-release", metavar="TABLE", help="Another release: which of the two is coarser?"),
    *read_parameters,
)
_comparison_options = shared(
    _comparison,
    _roles_of("--qi", multiple=True, metavar="COLUMNS", help="Quasi-identifiers, which both tables have."),
    _roles_of("--sensitive", multiple=True, metavar="COLUMNS", help="Sensitive columns, unchanged in the release."),
    _roles_of("--hierarchies", type=_PATH, metavar="FILE|DIR", help="How the columns became coarser."),
    _pairs_of("--key", metavar="COLUMNS", help="What names a row in both tables."),
    _pairs_of("--by-position", is_flag=True, help="The first row belongs to the first, the second to the second …"),
    _lost("--measures", multiple=True, metavar="NAMES", help="Only these: loss,entropy … [default: all]"),
    _lost("--beta", default="1", show_default=True, metavar="NUMBER", help="Of height weights, 1/(j-1)^beta."),
    _lost(
        "--distance",
        type=click.Choice(DISTANCES),
        default="equal",
        show_default=True,
        help="How far apart sensitive values are, for the losses that need it.",
    ),
    _lost("--noise-queries", type=int, default=100, show_default=True, metavar="N", help="For range-query-noise."),
    _useful("--queries", type=_PATH, multiple=True, metavar="FILE", help="Aggregate queries (SQL) to ask of both."),
    _useful("--workload", type=int, default=100, show_default=True, metavar="N", help="Random counting queries."),
    _useful("--seed", type=int, default=0, metavar="N", help="The seed of everything random."),
    _useful("--show-values", is_flag=True, help="Name the groups of queries by their values."),
)


@click.command(cls=Sectioned)
@_table_options
@_comparison_options
@require_options
@output_options
@work_options
@limit_options
def command(
    tables: dict[str, Any],
    db: str | None,
    comparison: dict[str, Any],
    asked: Asked,
    output: Output,
    work: Work,
    limits: Limits,
) -> int:
    """Compare RELEASE with its ORIGINAL: is it one, is it safe, what was lost, what is still of use?

    The release is audited by itself as well, and attacked as far as that takes no other
    table. `sqlaudit attack` knows more attackers.

    \b
      sqlaudit compare patients.csv release.csv --qi age,sex,zip --sensitive diagnosis \\
          --hierarchies hierarchies.yml --require k=5
    Exit code 1: the release fails a requirement, or is no generalization of the original.
    """
    request = CompareRequest(**tables, **comparison, requirements=asked.requirements, inputs=asked.inputs)
    with session(db, limits, work, *request.targets) as engine:
        if work.dry_run or work.explain:
            names = tuple(dict.fromkeys(name for t in request.targets for name in engine.open(t).tables or (t.name,)))
            show_statements(engine, names, plan_comparison(engine, request), work, output)
            return ExitCode.OK
        result = compare_tables(engine, request)
    output.emit(lambda: compare_document(result), result.to_dict)
    return code_of(result)


def code_of(result: CompareResult) -> ExitCode:
    """The exit code that a result asks for."""
    unsafe = bool(result.audit.required) and not result.audit.passed
    return ExitCode.REQUIREMENT_FAILED if unsafe or result.generalization.answer is Answer.NO else ExitCode.OK
