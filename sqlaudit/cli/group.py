"""The group of all commands; every way out of it is an exit code."""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Sequence
from typing import Any

import click

from sqlaudit.base.errors import ExitCode
from sqlaudit.base.files import remove_leftovers
from sqlaudit.base.parameter_names import speaking
from sqlaudit.base.version import __version__
from sqlaudit.cli.exits import Boundary, remarks_told
from sqlaudit.cli.signals import ENDING

# How the command line spells the fields of requests.

_FLAGS = {
    "replace_view": "--replace",
    "walk": "--show-walk",
    "microdata": "--from",
    "other": "--other-release",
    "from_": "--from",
}
"""The options that are not called like their field."""
_PLAIN = re.compile(r"[\w,.:=%/*+@-]+")


def on_the_command_line(field: str, values: tuple[object, ...]) -> str:
    """An option, with its values behind it.

    Example:
        >>> on_the_command_line("qi", ("age", "sex")), on_the_command_line("show_values", (True,))
        ('--qi age,sex', '--show-values')
    """
    if field == "values" and values:
        return f"--{values[0]}-values"
    flag = _FLAGS.get(field, f"--{field.replace('_', '-')}")
    if not values or values[0] is True:
        return flag
    if values[0] is False:
        return f"--no-{flag.removeprefix('--')}"
    given = ",".join(map(str, values))
    return f"{flag} {given}" if _PLAIN.fullmatch(given) else f'{flag} "{given}"'


COMMANDS = {
    "aggregates": "Tell which cells of a published table of counts or sums say too much.",
    "attack": "Try attacks on a release: how many persons does each expose, and how surely?",
    "audit": "Tell how easily people in a table can be re-identified.",
    "baseline": "Accept today's state of a policy's tables; fail later on what got worse.",
    "cloak": "Hide messages with places and times among k users, in boxes that do not overlap.",
    "columns": "Find the sets of columns that re-identify, with proof.",
    "compare": "Compare a release with its original: what was lost, what is of use, what can be done.",
    "completion": "Print what makes your shell complete commands and options.",
    "compile": "Write checks as standalone SQL for any warehouse.",
    "console": "Explore tables and files with SQL, and audit what you see.",
    "demo": "See two audits of a real table; nothing to prepare.",
    "disclosure": "Tell what an attacker with k pieces of knowledge can learn, with proof.",
    "hierarchy": "Make, check and write the hierarchy of a column, for a coarser release.",
    "init": "Write a policy to begin with, with proposed roles.",
    "lattice": "Find how little a table must be coarsened to be safe, and publish that.",
    "mcp": "Let agents ask about tables: counts and no values (Model Context Protocol).",
    "models": "List the privacy models, what they mean and what they need.",
    "persons": "Tell what somebody learns who knows a few events of a person (many rows a person).",
    "profile": "Look at the columns of a table and propose their roles.",
    "recode": "Make a table safe by local recoding (KACA, Mondrian), and publish that.",
    "releases": "Tell what several releases of one table, published over time, say together.",
    "report": "Lay out a stored result as a page, as Markdown or as text.",
    "records": "Tell which records are special, with SUDA scores and individual risk.",
    "suppress": "Find the fewest cells to suppress so that a release is safe, and write it.",
    "test": "Test a policy's tables: the gate before publication.",
    "verify": "Run the certificate of an audit again, and say what differs.",
}
"""The commands with their line in the overview."""
_TOGETHER = {
    "explore": ("columns", "disclosure", "persons", "profile", "records"),
    "policies": ("baseline", "test"),
    "programs": ("completion", "mcp"),
    "releases": ("attack", "compare", "releases"),
    "remedies": ("cloak", "recode", "suppress"),
    "stored": ("report", "verify"),
}
_PLACES = {name: (module, name) for module, names in _TOGETHER.items() for name in names}
"""Where a command is that shares its module; another one is in the module of its name, as `command`."""


class Commands(click.Group):
    """The group of all commands; every way out of it is an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module, place = _PLACES.get(cmd_name, (cmd_name, "command"))
        command = getattr(importlib.import_module(f"sqlaudit.cli.{module}"), place)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names; the error for another name says which is closest."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(COMMANDS)}."
            raise click.UsageError(f"There is no command {args[0]!r}. {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The overview, without importing a single command."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> Any:  # type: ignore[override]
        """Run a command and leave with its exit code."""
        if os.environ.get("_SQLAUDIT_COMPLETE"):
            return super().main(args, prog_name, **extra)
        given = list(sys.argv[1:] if args is None else args)
        extra.pop("standalone_mode", None)
        name = prog_name or "sqlaudit"
        with (
            ENDING.raising(),
            speaking(on_the_command_line),
            Boundary() as boundary,
            remarks_told(),
            self.make_context(name, given, **extra) as context,
        ):
            boundary.code = int(self.invoke(context) or 0)
        sys.exit(ENDING.code(boundary.code))


def _show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        import platform
        from importlib.metadata import version

        duckdb = version("duckdb")
        click.echo(f"sqlaudit {__version__} (Python {platform.python_version()}, DuckDB {duckdb})")
        context.exit()


@click.group(
    "sqlaudit",
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.pass_context
@click.option(
    "-V",
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,
    help="Show versions and exit.",
)
def cli(context: click.Context) -> int:
    """Tell how easily the people in a table can be re-identified, before the table is shared.

    \b
    See it work on a real table:
      sqlaudit demo
    Audit a file. Quasi-identifiers are what others may know about a person,
    sensitive columns are what they should not learn:
      sqlaudit audit patients.csv --qi age,sex,zip --sensitive diagnosis
    Ask for a verdict (exit code 0: it holds, 1: it does not):
      sqlaudit audit patients.csv --qi age,sex,zip --require k=5
    Audit a table where it is; nothing is changed there:
      sqlaudit audit --db postgresql://auditor@host/db public.patients --qi ...

    `sqlaudit COMMAND --help` tells more.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        return ExitCode.USAGE
    remove_leftovers()
    return ExitCode.OK
