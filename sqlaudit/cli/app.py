"""`sqlaudit app`: a window in the browser, from a file to a safe release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.cli.exits import tell
from sqlaudit.cli.requests import command_of, in_section

if TYPE_CHECKING:
    from sqlaudit.gates.result import Connection

_input_option = in_section("Input")
_window_option = in_section("Window")


@command_of(
    click.Argument(["name"], metavar="[FILE|TABLE]", required=False),
    _input_option(
        "--db", metavar="DATABASE", help="A DuckDB or SQLite file, or a PostgreSQL URL without a password, with TABLE."
    ),
    _input_option("--db-env", metavar="NAME", help="Environment variable with the database's URL."),
    _window_option(
        "--port",
        type=click.IntRange(1, 65535),
        metavar="N",
        help="Port of the window, for ssh -L N:127.0.0.1:N. [default: a free one]",
    ),
    _window_option("--no-browser", is_flag=True, help="Print the file that opens the window, and wait."),
    _window_option("--install-shortcut", is_flag=True, help="Add an icon that opens the window, and do nothing else."),
)
def command(
    name: str | None, db: str | None, db_env: str | None, port: int | None, no_browser: bool, install_shortcut: bool
) -> int:
    """Open a window: from a file to a safe release, without further commands.

    The window is a page in your browser, served by this computer for this computer. The file stays
    where it is and is only read; nothing leaves the computer.

    \b
      sqlaudit app
      sqlaudit app survey.xlsx
      sqlaudit app --db postgresql://auditor@host/db public.patients
      sqlaudit app --no-browser --port 8765
    """
    if install_shortcut:
        from sqlaudit.app.shortcut import install

        tell(f"wrote {str(install())!r}.")
        return ExitCode.OK
    from sqlaudit.app.server import serve

    connection = _connection(db, db_env)
    if connection is not None and not name:
        raise UsageError("A database needs a table: name it, too, for example public.patients.")
    serve(name or "", connection, port=port or 0, browser=not no_browser, tell=tell)
    return ExitCode.OK


def _connection(db: str | None, db_env: str | None) -> Connection | None:
    """Return the database of the window as the connection of a policy, which has no password; None for files.

    Raises:
        UsageError: both are given, or a password.
    """
    from sqlaudit.cli.init import connection_of
    from sqlaudit.gates.result import Connection, Place

    if db and db_env:
        raise UsageError("--db and --db-env exclude each other: give one of them.")
    if not db and not db_env:
        return None
    kind, value = connection_of(db, " and name it with --db-env.") if db else ("env", db_env or "")
    return Connection("main", kind, value, Place("--db" if db else "--db-env"), Path.cwd())
