"""`sqlaudit compile`: checks as SQL for any warehouse; nothing is connected."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.files import check_destination, check_ending, write_text
from sqlaudit.base.options import options_of
from sqlaudit.base.spec import Roles, Target
from sqlaudit.base.version import __version__
from sqlaudit.cli.exits import tell
from sqlaudit.cli.options import role_options
from sqlaudit.cli.output import print_data
from sqlaudit.cli.requests import made_option, typed
from sqlaudit.cli.sections import Sectioned, in_section, shared
from sqlaudit.tabular.request import AggregatesRequest

_what = in_section("What to write")
_table = in_section("The table")
_out = in_section("Output")
_CELLS = ("count", "contributors", "value", "holdings", "largest")
_OF_CELLS = tuple(one for name, one in options_of(AggregatesRequest) if name in _CELLS)


def _cells(given: dict[str, Any]) -> dict[str, Any]:
    """Which column says what of a cell, as far as it was said."""
    every = {one.name: None for _, one in options_of(AggregatesRequest)}
    found = typed(AggregatesRequest, every | given)
    return {name: found[name] for name in _CELLS if found.get(name)}


@click.command(cls=Sectioned)
@click.argument("checks", metavar="[CHECK]...", nargs=-1)
@_what(
    "--dialect", default="duckdb", show_default=True, metavar="NAME", help="snowflake, bigquery, redshift, trino ..."
)
@_what("--inputs", type=click.Path(path_type=Path), metavar="FILE", help="A population, or 'class_function: identity'.")
@_table("--table", metavar="NAME", help="The table or view, as the warehouse calls it.")
@_table("--query", metavar="SQL", help="One SELECT in the dialect, instead of a table.")
@_table("--exact-names", is_flag=True, help="Columns are named in their exact case; quote them.")
@_table("--where", metavar="CONDITION", help="Only the rows for which this SQL condition holds.")
@role_options
@shared(
    lambda **cells: {"cells": _cells(cells)},
    *(made_option(replace(one, section="Cells of a published table")) for one in _OF_CELLS),
)
@_out(
    "-o", "--output", "output_file", type=click.Path(path_type=Path), metavar="FILE", help="Write the script to a file."
)
def command(
    checks: tuple[str, ...],
    dialect: str,
    inputs: Path | None,
    table: str | None,
    query: str | None,
    where: str | None,
    exact_names: bool,
    roles: Roles,
    cells: dict[str, Any],
    output_file: Path | None,
) -> int:
    """Write each CHECK as one standalone SELECT, to be run where sqlaudit may not connect.

    With a --count or --value, CHECKs are rules for the cells of a published table (threshold=5).
    Else a CHECK is a requirement (k=5, t=0.2, disclosure@1=0.8), or the name of a model for its
    figures alone. Without one, all models are written that a SELECT can carry. Each statement
    returns one row with the figures and the verdict; none holds a value of the table.

    \b
      sqlaudit compile --dialect snowflake --table release.patients \\
          --qi age,sex,zip --sensitive diagnosis k=5 t=0.2
      sqlaudit compile --dialect snowflake --table release.counts --count n threshold=5
    """
    from sqlaudit.classes.inputs import load_inputs
    from sqlaudit.gates.standalone.cells import compile_cells
    from sqlaudit.gates.standalone.checks import compile_checks, script

    target = _target(table, query, where)
    if output_file is not None:
        check_destination(output_file)
        check_ending(output_file, (".sql", ".txt"))
    if any(cells.values()):
        compiled = compile_cells(target, checks, dialect=dialect, exact_names=exact_names, **cells)
    else:
        given = load_inputs(inputs) if inputs is not None else {}
        compiled = compile_checks(target, roles, checks, dialect=dialect, inputs=given, exact_names=exact_names)
    text = script(compiled, target, __version__)
    if output_file is None:
        print_data(text)
    else:
        write_text(output_file, text)
        tell(f"wrote {sum(1 for one in compiled if one.sql)} statements to {str(output_file)!r}.")
    return ExitCode.OK


def _target(table: str | None, query: str | None, where: str | None) -> Target:
    if bool(table) == bool(query):
        raise UsageError("Name the table with --table, or give a SELECT with --query.")
    if query and where:
        raise UsageError("--where restricts a table; put the condition into the --query itself.")
    return Target(relation=table or "", query=query or "", where=where or "")
