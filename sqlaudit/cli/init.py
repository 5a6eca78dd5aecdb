"""`sqlaudit init`: write a policy to begin with."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sqlaudit.base.errors import ConnectionFailed, EngineError, ExitCode, UsageError
from sqlaudit.base.files import check_destination, check_ending, exists, write_text
from sqlaudit.base.spec import Limits, Reading, Target
from sqlaudit.cli.exits import say, tell
from sqlaudit.cli.options import Work, limit_options, read_options
from sqlaudit.cli.output import print_data
from sqlaudit.cli.requests import PATH, command_of, in_section

if TYPE_CHECKING:
    from sqlaudit.base.addresses import Whereabouts
    from sqlaudit.engines.contract import Engine
    from sqlaudit.gates.proposal import ProposedTable

MOST_TABLES = 50
_NO_REQUIREMENTS = (
    "no column is one that others are likely to know. If persons are in it, name the roles and take the # away; no "
    "test looks until then."
)
_table_option = in_section("Tables")
_output_option = in_section("Output")


@command_of(
    click.Argument(["names"], nargs=-1, metavar="[TABLE|FILE]..."),
    _table_option(
        "--db", metavar="DATABASE", help="A DuckDB or SQLite file, a PostgreSQL URL without a password, or a Spark."
    ),
    _table_option("--db-env", metavar="NAME", help="Environment variable with the database's URL."),
    _table_option("--dbt-profile", metavar="NAME", help="A profile of dbt's profiles.yml."),
    _output_option(
        "-o",
        "--output",
        type=PATH,
        default=Path("sqlaudit.yml"),
        show_default=True,
        metavar="FILE",
        writes=True,
        help="- for stdout.",
    ),
    _output_option("--force", is_flag=True, help="Replace an existing file."),
    _output_option(
        "--schema",
        type=PATH,
        metavar="FILE",
        writes=True,
        help="Also write the JSON Schema for editors, and refer to it.",
    ),
    read_options,
    limit_options,
)
def command(
    names: tuple[str, ...],
    db: str | None,
    db_env: str | None,
    dbt_profile: str | None,
    output: Path,
    force: bool,
    schema: Path | None,
    read: Reading,
    limits: Limits,
) -> int:
    """Write a commented policy for the tables of a database, or for files.

    Its roles are the proposals of `sqlaudit profile`. Only counts are read; nothing is written to
    the database. Default: all tables and views, at most 50.

    \b
      sqlaudit init --db clinic.duckdb
      sqlaudit init --db-env CLINIC_URL public.patients
      sqlaudit init patients.csv
      sqlaudit init visits.xlsx --sheet Visits --skip 1
    """
    from sqlaudit.cli.session import session
    from sqlaudit.engines import check_reading
    from sqlaudit.gates.proposal import is_judged, proposed_policy, tables_of
    from sqlaudit.gates.schema import policy_schema
    from sqlaudit.reports.document import plural
    from sqlaudit.reports.formats import render_json

    if schema is not None:
        check_destination(schema, (".json",))
    if str(output) != "-":
        check_destination(output)
        check_ending(output, (".yml", ".yaml"))
        if exists(output) and not force:
            raise UsageError(f"{str(output)!r} exists. Replace it with --force, or name another file with --output.")
    folder = Path() if str(output) == "-" else output.absolute().parent
    connection = _policy_connection(db, db_env, dbt_profile)
    if connection is None and not names:
        raise UsageError("No tables are given. Name a database with --db, --db-env or --dbt-profile, or files.")
    database = None if connection is None else _database(connection)
    targets = [read.table(Target(relation=name), Path(name).name if names[1:] else "") for name in names]
    with session(database, limits, Work(), *targets) as engine:
        if not names:
            targets = [read.table(Target(relation=name)) for name in tables_of(engine)]
            check_reading(engine, targets, read)
        tables = _propose_tables(engine, targets, "file" if connection is None else "table", folder, bool(names))
    if connection is not None and connection[0] == "duckdb":
        connection = "duckdb", relative_to_folder(connection[1], folder)
    text = proposed_policy(connection, tables, relative_to_folder(schema, folder) if schema else "")
    if schema is not None:
        write_text(schema, render_json(policy_schema()))
    if str(output) == "-":
        print_data(text)
    else:
        write_text(output, text)
        commented = [table.written for table in tables if table.things and table.profile.cells is None]
        message = f"wrote {str(output)!r} with {plural(len(tables), 'table')}"
        if commented:
            message += f", {len(commented)} of them as comments, because they seem not to be about people "
            message += f"({', '.join(commented)})"
        open_ones = [proposed.written for proposed in tables if not proposed.things and not is_judged(proposed)]
        if open_ones:
            tell(f"no requirements yet for {', '.join(open_ones)}: {_NO_REQUIREMENTS}")
        named = "" if str(output) == "sqlaudit.yml" else f" --file {shlex.quote(str(output))}"
        tell(f"{message}. Check the roles, then run: sqlaudit test{named}")
    return ExitCode.OK


def _propose_tables(
    engine: Engine, targets: Sequence[Target], kind: str, folder: Path, named: bool
) -> list[ProposedTable]:
    """Return the tables with their profiles. A table that cannot be read is left out, unless it was named.

    Raises:
        UsageError: a named table cannot be read, or no table can.
    """
    from sqlaudit.gates.proposal import ProposedTable, with_entities, with_group_sizes
    from sqlaudit.profiles.names import reason_for_things
    from sqlaudit.profiles.request import ProfileRequest
    from sqlaudit.profiles.run import profile_target

    if named:
        _check_readable(engine, targets)
    if len(targets) > MOST_TABLES:
        tell(f"of {len(targets)} tables, the policy has the first {MOST_TABLES}. Name others as arguments.")
    tables = []
    for target in targets[:MOST_TABLES]:
        name = target.relation
        try:
            profile = profile_target(engine, ProfileRequest(target))
            relation = engine.open(target)
        except (UsageError, EngineError) as error:
            if named or isinstance(error, ConnectionFailed):
                raise
            say(f"{name} is left out: {error}")
            continue
        written = str(Path(name).absolute()) if engine.finds_files and exists(name) else name
        things = reason_for_things(Path(name).stem if kind == "file" else name.rpartition(".")[2], profile.columns)
        if kind == "file":
            written = relative_to_folder(written, folder)
        read = target.read_as(engine.reading_options(target))
        tables.append((ProposedTable(kind, written, profile, things=things, read=read), relation))
    if not tables:
        raise UsageError("This database has no readable table or view.")
    return with_entities(engine, with_group_sizes(engine, tables))


def _check_readable(engine: Engine, targets: Sequence[Target]) -> None:
    """Raise one error for all named tables that cannot be opened, before anything runs.

    Raises:
        UsageError: a table cannot be opened.
    """
    messages = []
    for target in targets:
        try:
            engine.open(target)
        except UsageError as error:
            messages.append(str(error))
    if messages:
        raise UsageError(" ".join(messages))


def _policy_connection(db: str | None, db_env: str | None, dbt_profile: str | None) -> tuple[str, str] | None:
    """Return the connection of the policy as (kind, value), None without a database."""
    connections = [
        (kind, value) for kind, value in (("db", db), ("env", db_env), ("dbt_profile", dbt_profile)) if value
    ]
    if len(connections) > 1:
        raise UsageError("--db, --db-env and --dbt-profile exclude each other: give one of them.")
    if not connections:
        return None
    kind, value = connections[0]
    return connection_of(value, " and name it with --db-env.") if kind == "db" else (kind, value)


def connection_of(db: str, instead: str) -> tuple[str, str]:
    """Return how a policy writes a database, as (kind, value).

    Args:
        db: as `--db` takes it.
        instead: the end of the sentence about a password: how to name a variable.

    Raises:
        UsageError: it has a password.
    """
    from sqlaudit.gates.connections import holds_password

    if exists(db):
        return "duckdb", db
    if holds_password(db):
        raise UsageError(f"A policy must not contain a password: put the URL into an environment variable{instead}")
    service = db.removeprefix("service=")
    return ("service", service) if db.startswith("service=") and " " not in service else ("url", db)


def _database(connection: tuple[str, str]) -> Whereabouts:
    from sqlaudit.gates.connections import database_of
    from sqlaudit.gates.result import Connection, Place

    return database_of(Connection("main", *connection, Place("the command line"), Path()))


def relative_to_folder(path: str | Path, folder: Path) -> str:
    """Return a path as a policy in this folder names it."""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # another drive
        return Path(path).absolute().as_posix()
