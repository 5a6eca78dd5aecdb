"""`sqlaudit demo --paper`: the example tables of the papers, listed, printed or written to a file."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.paths import exists
from sqlaudit.cli.demo_table import write_table
from sqlaudit.cli.exits import tell
from sqlaudit.cli.output import print_data
from sqlaudit.papers.tables import PaperTable, find_table, paper_tables

_OURS = ("paper", "save")


def show_paper(name: str, save: Path | None) -> ExitCode:
    """List the tables when `name` is empty, else write that table to a file, or to stdout as CSV.

    Raises:
        UsageError: no table has this name, the file is there already or cannot be written, or an option is given that
            speaks of audits.
    """
    _refuse_other_options()
    if not name:
        if save is not None:
            raise UsageError(
                "Name the table to save: --paper 004:figure-1 --save t.csv. sqlaudit demo --paper lists them."
            )
        print_data(_listing())
        return ExitCode.OK
    table = find_table(name)
    if save is None:
        print_data(table.csv.decode())
        return ExitCode.OK
    if exists(save):
        raise UsageError(f"{str(save)!r} is there already; name another file.")
    write_table(save, table.csv)
    tell(f"wrote {name} to {str(save)!r}. Try: sqlaudit audit {save}{_roles(table)}")
    return ExitCode.OK


def _refuse_other_options() -> None:
    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if given and parameter.name not in _OURS:
            raise UsageError(f"--paper gives a table and audits nothing; leave {parameter.opts[0]} out.")


def _listing() -> str:
    lines = [
        (table.name, f"{len(table.rows)} × {len(table.columns)}", table.about) for table in paper_tables().values()
    ]
    names, sizes = (max(len(line[column]) for line in lines) for column in (0, 1))
    return "".join(f"{name:<{names}}  {size:>{sizes}}  {about}\n" for name, size, about in lines)


def _roles(table: PaperTable) -> str:
    qi = f" --qi {','.join(table.quasi_identifiers)}" if table.quasi_identifiers else ""
    return qi + (f" --sensitive {','.join(table.sensitive)}" if table.sensitive else "")
