"""The group of all commands; every way out of it is an exit code."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import sys
from collections.abc import Sequence
from typing import Any

import click

from sqlaudit.base.errors import ExitCode
from sqlaudit.base.files import remove_leftovers
from sqlaudit.base.parameter_names import speaking
from sqlaudit.base.version import __version__
from sqlaudit.cli.exits import Boundary, division_warnings_on_stderr
from sqlaudit.cli.signals import ENDING

# How the command line spells the fields of requests.

_FLAG_OF_FIELD = {
    "replace_view": "--replace",
    "walk": "--show-walk",
    "microdata": "--from",
    "other": "--other-release",
    "from_": "--from",
}
"""Flags that differ from the name of their field."""
_OF_COLUMNS = ("qi", "sensitive", "identifier", "insensitive", "keep_column", "accept_identifier", "reviewed")
_NEEDS_NO_QUOTES = re.compile(r"[\w,.:=%/*+@…-]+")


def on_the_command_line(field: str, values: tuple[object, ...]) -> str:
    """Return how the command line spells a field of a request: its option, with the values behind it.

    Example:
        >>> on_the_command_line("qi", ("age", "sex")), on_the_command_line("show_values", (True,))
        ('--qi age,sex', '--show-values')
        >>> print(on_the_command_line("qi", ("zip", "last, first")), on_the_command_line("sheet", ("May 2024",)))
        --qi 'zip,"last, first"' --sheet "May 2024"
    """
    if field == "values" and values:
        return f"--{values[0]}-values"
    flag = _FLAG_OF_FIELD.get(field, f"--{field.replace('_', '-')}")
    if not values or values[0] is True:
        return flag
    if values[0] is False:
        return f"--no-{flag.removeprefix('--')}"
    texts = list(map(str, values))
    if field in _OF_COLUMNS:
        from sqlaudit.base.options import written  # which --help does not need

        texts = list(map(written, texts))
    text = ",".join(texts)
    if _NEEDS_NO_QUOTES.fullmatch(text) and not text.endswith("."):
        return f"{flag} {text}"
    return f'{flag} "{text}"' if set('"$`\\!').isdisjoint(text) else f"{flag} {shlex.quote(text)}"


COMMANDS = {
    "aggregates": "Find cells of a published table that disclose too much about their contributors.",
    "app": "Open a window in the browser: from a file to a safe release.",
    "attack": "Try attacks on a release and count the people that each one exposes.",
    "audit": "Measure how easily people in a table can be re-identified.",
    "baseline": "Accept the current state of a policy's tables; later runs fail on what got worse.",
    "cloak": "Cloak location data: each message hides among k users.",
    "columns": "Find the column sets that re-identify people, with proof.",
    "compare": "Compare a release with its original: is it derived from it, safe, what was lost?",
    "completion": "Print the completion script for your shell.",
    "compile": "Write checks as standalone SQL for any warehouse.",
    "console": "Explore tables and files with SQL, and audit them.",
    "cube": "Make groups of a table that anyone may query, and publish them.",
    "demo": "See two audits of a real table; nothing to prepare.",
    "disclosure": "Measure what an attacker with k pieces of knowledge can learn, with proof.",
    "help": "Print the glossary and other pages, or the help of a command.",
    "hierarchy": "Make the hierarchy of a column, check it, and write it to a file.",
    "init": "Write a first policy, with proposed roles.",
    "lattice": "Find the least generalization that makes a table safe, and publish it.",
    "mcp": "Let agents ask about tables, or query a cube (Model Context Protocol).",
    "models": "List the privacy models, what they mean and what they need.",
    "persons": "Measure what someone who knows a few events of a person can learn.",
    "profile": "Describe the columns of a table and propose their roles.",
    "recode": "Make a table safe by local recoding (KACA, Mondrian), and publish it.",
    "releases": "Find what several releases of one table disclose in combination.",
    "report": "Render a stored result as a page, Markdown or text.",
    "records": "Find special records, with SUDA scores and individual risk.",
    "suppress": "Find the fewest cells to suppress so that a release is safe, and write it.",
    "test": "Test the tables of a policy: the gate before publication.",
    "verify": "Run the certificate of an audit again, and show what differs.",
}
"""The commands with their line in the overview."""
_HEADINGS = {
    "Begin with": ("demo", "app", "profile", "audit", "test", "compare"),
    "Make a table safe": ("lattice", "recode", "suppress", "cube", "hierarchy", "cloak"),
    "Look closer": ("columns", "records", "persons", "disclosure", "attack", "releases", "aggregates"),
    "Policies and proofs": ("init", "baseline", "compile", "verify", "report"),
    "Tools": ("console", "models", "mcp", "completion", "help"),
}
"""The commands by heading of the overview, beginning with those to try first."""
_COMMANDS_OF_MODULE = {
    "explore": ("columns", "disclosure", "persons", "profile", "records"),
    "policies": ("baseline", "test"),
    "programs": ("completion", "mcp"),
    "releases": ("attack", "compare", "releases"),
    "remedies": ("recode", "suppress"),
    "stored": ("report", "verify"),
}
_LOCATION = {name: (module, name) for module, names in _COMMANDS_OF_MODULE.items() for name in names}
_LOCATION["help"] = ("programs", "show_page")
"""Module and name of a command that shares its module. Any other is `command` in the module of its name."""


class Commands(click.Group):
    """The group of all commands; every way out of it is an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command and return it, None if there is none of this name."""
        if cmd_name not in COMMANDS:
            return None
        module, attribute = _LOCATION.get(cmd_name, (cmd_name, "command"))
        command = getattr(importlib.import_module(f"sqlaudit.cli.{module}"), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names. The error for another name suggests the closest."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Available: {', '.join(COMMANDS)}."
            raise click.UsageError(f"There is no command {args[0]!r}. {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the overview without importing a single command."""
        for title, names in _HEADINGS.items():
            with formatter.section(title):
                formatter.write_dl([(name, COMMANDS[name]) for name in names])

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> Any:  # type: ignore[override]
        """Run a command and exit with its exit code."""
        if os.environ.get("_SQLAUDIT_COMPLETE"):  # a shell asks for completions, which click writes itself
            return super().main(args, prog_name, **extra)
        arguments = list(sys.argv[1:] if args is None else args)
        extra.pop("standalone_mode", None)  # click's own handling of errors, which `Boundary` replaces
        name = prog_name or "sqlaudit"
        with (
            ENDING.raising(),
            speaking(on_the_command_line),
            Boundary() as boundary,
            division_warnings_on_stderr(),
            self.make_context(name, arguments, **extra) as context,
        ):
            boundary.code = int(self.invoke(context) or 0)
        sys.exit(ENDING.code(boundary.code))


def _show_version(context: click.Context, _: click.Parameter, show: bool) -> None:
    if show:
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
    """Measure how easily the people in a table can be re-identified, before you share the table.

    \b
    See it work on a real table:
      sqlaudit demo
    Audit a file (CSV, Excel, Parquet, SPSS, Stata …). Quasi-identifiers are what
    others may know about a person, sensitive columns what they must not learn:
      sqlaudit audit patients.csv --qi age,sex,zip --sensitive diagnosis
    Get a verdict (exit code 0: requirements met, 1: not met):
      sqlaudit audit patients.csv --qi age,sex,zip --require k=5
    Audit a table in its database, without changing it:
      sqlaudit audit --db postgresql://auditor@host/db public.patients --qi ...

    `sqlaudit COMMAND --help` explains a command.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        return ExitCode.USAGE
    remove_leftovers()
    return ExitCode.OK
