"""`sqlaudit console`: statements and commands that explore and audit."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from sqlaudit.base.errors import InputError, UsageError, unreadable_file
from sqlaudit.base.files import is_duckdb
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.spec import Requirement, Roles, roles_part
from sqlaudit.cli.options import limit_options, read_options, whole_request
from sqlaudit.cli.requests import PATH, command_of, group_options, in_section
from sqlaudit.models.required import inputs_option, requirements_part

FORMATS = ("table", "csv", "json")
"""Format of results."""

_input_option = in_section("Input")
_script_option = in_section("Script")
_output_option = in_section("Output")


@dataclass(frozen=True)
class StartingRoles:
    """The roles and requirements of a console until they are changed, and further inputs of models."""

    roles: Roles = roles_part(default_factory=Roles)
    requirements: tuple[Requirement, ...] = requirements_part(default=())
    inputs: Mapping[str, object] = inputs_option()


def _script_texts(*, commands: tuple[str, ...], script: str | None) -> tuple[str, ...]:
    """Return the texts to run, in order. None of them: a prompt, or what stands in a pipe."""
    if commands and script is not None:
        raise UsageError("-c and -f exclude each other: give one of them.")
    if script is not None:
        return (_read_text(script),)
    if not commands and not sys.stdin.isatty():
        return (_read_text("-"),)
    return commands


def _read_text(file: str) -> str:
    """Return the text of a script, or of standard input for `-`.

    Raises:
        InputError: it cannot be read, or is not UTF-8.
    """
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return content.decode("utf-8-sig")
    except OSError as error:
        raise unreadable_file(file, error) from None
    except UnicodeDecodeError:
        raise InputError(f"{file}: is not UTF-8 text.") from None


@command_of(
    click.Argument(["names"], metavar="[TABLE|FILE]...", nargs=-1),
    _input_option(
        "--db",
        metavar="DATABASE",
        help="A DuckDB file, or a PostgreSQL URL or conninfo. Default: the names are files, or one DuckDB file.",
    ),
    read_options,
    group_options(
        "texts",
        _script_texts,
        _script_option(
            "-c", "--command", "commands", multiple=True, metavar="TEXT", help="Run this and exit. Repeatable."
        ),
        _script_option("-f", "--file", "script", metavar="FILE", help="Run a script and exit; - is standard input."),
    ),
    whole_request(StartingRoles),
    _output_option(
        "--format", "layout", type=click.Choice(FORMATS), default="table", show_default=True, help="Format of results."
    ),
    _output_option(
        "-o", "--output", "file", type=PATH, metavar="FILE", writes=True, help="Write all results to a file."
    ),
    _output_option("--show-values", is_flag=True, help="Show values of classes, which may identify people."),
    limit_options,
)
def command(**options: Any) -> int:
    """Explore tables and files with SQL, and audit them.

    A prompt for SELECT, AUDIT and AGGREGATES statements and for commands; "\\?" lists them. -c and
    -f run scripts, with the exit codes of `sqlaudit audit`. Commands act on the first TABLE or
    FILE. Nothing is written to a database.

    \b
      sqlaudit console patients.parquet
      sqlaudit console --db clinic.duckdb -f audit.sql --format json
      sqlaudit console patients.csv -c "AUDIT patients BY (age, zip) REQUIRE k >= 5"
    """
    from sqlaudit.cli.console.run import ConsoleRequest, run_console

    start: StartingRoles = options.pop("request")
    if options["db"] is None and len(options["names"]) == 1 and is_duckdb(options["names"][0]):
        (options["db"],), options["names"] = options["names"], ()
    return run_console(
        ConsoleRequest(roles=start.roles, requirements=start.requirements, inputs=start.inputs, **options)
    )
