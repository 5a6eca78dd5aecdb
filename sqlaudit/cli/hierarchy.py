"""`sqlaudit hierarchy`: make, check and write the hierarchy of one column."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.files import check_destination
from sqlaudit.base.nodes import Node, load_nodes
from sqlaudit.base.spec import Limits, Target
from sqlaudit.cli.options import Work, limit_options, output_options, target_options, work_options
from sqlaudit.cli.output import Output
from sqlaudit.cli.parsing import split_list
from sqlaudit.cli.plan import show_statements
from sqlaudit.cli.sections import Sectioned, in_section, shared
from sqlaudit.cli.session import session
from sqlaudit.hierarchies.api import check_hierarchy, named_hierarchy, plan_hierarchy
from sqlaudit.hierarchies.hierarchy import Hierarchy
from sqlaudit.hierarchies.read import read_hierarchy
from sqlaudit.hierarchies.report import hierarchy_document

_how = in_section("How values become coarser")
_what = in_section("What to do")
_PATH = click.Path(path_type=Path)
_DATES = "month,quarter,year,decade"


def column_behind_query(command: Callable[..., Any]) -> Callable[..., Any]:
    """With `--query` there is no TARGET, so the first argument is the COLUMN."""

    @functools.wraps(command)
    def shifted(*args: Any, **values: Any) -> Any:
        if values["query"] and values["column"] is None:
            values["name"], values["column"] = None, values["name"]
        if values["column"] is None:
            raise UsageError("Name the COLUMN whose hierarchy it is, after the TARGET.")
        return command(*args, **values)

    return shifted


def _hierarchy(
    *,
    column: str,
    widths: str | None,
    origin: str | None,
    low: str | None,
    high: str | None,
    mask: str | None,
    dates: str | None,
    tree: Path | None,
    from_: Path | None,
    default: str | None,
) -> dict[str, Hierarchy]:
    ways = {"--widths": widths, "--mask": mask, "--dates": dates, "--tree": tree, "--from": from_}
    chosen = [option for option, value in ways.items() if value is not None]
    if len(chosen) != 1:
        raise UsageError(f"Say how values become coarser, with one of {', '.join(ways)}.")
    bounds = {name: value for name, value in (("origin", origin), ("low", low), ("high", high)) if value is not None}
    if bounds and widths is None:
        raise UsageError(f"--{next(iter(bounds))} belongs to --widths.")
    if from_ is not None:
        return {"made": named_hierarchy(column, from_, default)}
    if tree is not None:
        return {"made": named_tree(column, tree, default)}
    form, text = next((form, text) for form, text in (("widths", widths), ("mask", mask), ("dates", dates)) if text)
    levels = {form: list(split_list(text, f"--{form}")), **bounds}
    return {"made": named_hierarchy(column, levels, default, f"--{form}")}


def named_tree(column: str, path: Path, default: str | None) -> Hierarchy:
    """The hierarchy of a file that holds nothing but a tree."""
    root = load_nodes(path)
    if root is None:
        raise UsageError(f"{path}: holds no tree.")
    parts = [(Node("tree", root.place), root)]
    if default is not None:
        parts.append((Node("default", root.place), Node(default, root.place)))
    return read_hierarchy(column, Node(parts, root.place, is_mapping=True), path.parent)


_form_options = shared(
    _hierarchy,
    click.argument("column", metavar="COLUMN", required=False),
    _how("--widths", metavar="NUMBERS", help="Intervals of these widths, each a multiple of the one before: 5,10,20."),
    _how("--origin", metavar="NUMBER", help="Where an interval begins. [default: 0]"),
    _how("--low", metavar="NUMBER", help="Below it there is one open interval."),
    _how("--high", metavar="NUMBER", help="From it on there is one open interval."),
    _how("--mask", metavar="NUMBERS", help="Replace so many characters by * from the right: 1,2,3."),
    _how(
        "--dates",
        is_flag=False,
        flag_value=_DATES,
        metavar="PARTS",
        help=f"Cut dates to day, month, quarter, year, decade, century. [alone: {_DATES}]",
    ),
    _how("--tree", type=_PATH, metavar="FILE", help="A YAML file with a tree of categories over the values."),
    _how("--from", "from_", type=_PATH, metavar="FILE", help="A CSV hierarchy, a folder of these, or hierarchies.yml."),
    _how("--default", metavar="LABEL", help="The label of values that the hierarchy does not cover, for instance '*'."),
)


@click.command(cls=Sectioned)
@column_behind_query
@target_options
@_form_options
@_what("--to", type=_PATH, metavar="FILE.csv", help="Write the hierarchy of the values that occur (value;level1;…;*).")
@_what("--show-values", is_flag=True, help="Show the first values with their labels.")
@output_options
@work_options
@limit_options
def command(
    target: Target,
    db: str | None,
    made: Hierarchy,
    to: Path | None,
    show_values: bool,
    output: Output,
    work: Work,
    limits: Limits,
) -> int:
    """Make the hierarchy of a COLUMN of TARGET, check it against the values that occur, and write it.

    Tells for every level how many groups there are, how small the smallest is, and whether
    the levels are nested. Values are neither shown nor written unless you say so.

    \b
      sqlaudit hierarchy patients.csv age --widths 5,10,20 --low 15 --high 90
      sqlaudit hierarchy patients.csv zip --mask 1,2,3 --to zip.csv
      sqlaudit hierarchy patients.csv job --from jobs.csv --default other
    """
    if to is not None:
        check_destination(to, (".csv",))
    with session(db, limits, work, target) as engine:
        if work.dry_run or work.explain:
            tables = engine.open(target).tables or (target.name,)
            show_statements(engine, tables, plan_hierarchy(engine, target, made), work, output)
            return ExitCode.OK
        result = check_hierarchy(engine, target, made, to, show_values)
    output.emit(lambda: hierarchy_document(result), result.to_dict)
    return ExitCode.OK if result.usable else ExitCode.REQUIREMENT_FAILED
