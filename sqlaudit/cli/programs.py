"""`sqlaudit mcp`: a server for agents; `completion`: scripts for shells; `help`: pages to read."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import get_completion_class

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.files import expanded, resolved
from sqlaudit.base.names import closest
from sqlaudit.base.spec import Limits, Reading, ReadOptions, Target
from sqlaudit.cli.exits import tell
from sqlaudit.cli.options import Work, limit_options, read_options
from sqlaudit.cli.output import print_data
from sqlaudit.cli.requests import command_of, in_section, split_lists

if TYPE_CHECKING:
    from sqlaudit.cli.agents.tools import OfferedTables

# `sqlaudit mcp`: a server for agents, over the Model Context Protocol.

TIMEOUT = 60.0
MEMORY = "1GB"
"""Default limits of an agent's call, in seconds and bytes."""
_table_option = in_section("Tables for agents")


@command_of(
    click.Argument(["names"], metavar="[FILE|FOLDER]...", nargs=-1),
    _table_option(
        "--db", metavar="DATABASE", help="A DuckDB or SQLite file, a PostgreSQL URL or conninfo, or a Spark."
    ),
    _table_option("--tables", multiple=True, metavar="TABLES", help="With --db: tables to offer. [default: all]"),
    _table_option(
        "--cube", metavar="FILE", help="A .parquet or .duckdb file of sqlaudit cube, on which any query may run."
    ),
    read_options,
    limit_options,
)
def mcp(
    names: tuple[str, ...], db: str | None, tables: tuple[str, ...], cube: str | None, read: Reading, limits: Limits
) -> int:
    """Let an agent ask about tables, over the Model Context Protocol on stdin and stdout.

    The tools are profile, audit, columns, disclosure and persons. They read only the tables named
    here, and return counts and never values. With --cube, the tool query runs any SELECT on this
    file alone, which may be known. Default limits of a call: 60 seconds (--timeout) and 1 GB of
    memory (--memory-limit).

    \b
      sqlaudit mcp data/
      sqlaudit mcp --db postgresql://auditor@host/db --tables public.patients,public.visits
      sqlaudit mcp --cube cube.parquet
    """
    from sqlaudit.cli.agents.server import serve

    bounded = replace(
        limits, timeout=TIMEOUT if limits.timeout is None else limits.timeout, memory=limits.memory or MEMORY
    )
    offered = offered_tables(names, db, tables, read, bounded, cube)
    if sys.stdin.isatty():
        what = [f"{len(offered.tables)} tables"] if offered.tables else []
        what += ["a cube"] if offered.cube else []
        tell(f"offering {' and '.join(what)}, waiting for an agent on stdin. Ctrl-C ends.")
    serve(offered)
    return ExitCode.OK


def offered_tables(
    names: tuple[str, ...],
    db: str | None,
    tables: tuple[str, ...],
    read: Reading,
    limits: Limits,
    cube: str | None = None,
) -> OfferedTables:
    """Return the tables that agents may ask about, and the cube that they may query, with the limits of a call.

    Raises:
        UsageError: nothing is named, or a named table does not exist. InputError: a file that is no cube.
    """
    from sqlaudit.cli.agents.tools import OfferedTables, check_table_count, database, files_of

    if cube is not None:
        from sqlaudit.engines.duckdb.cube import describe_cube

        path = resolved(expanded(cube))
        described = describe_cube(path, repr(cube))
        if not described.is_known:
            tell(f"warning: {cube!r} is offered. {described.origin}")
        has_tables = names or db is not None or tables
        offered = offered_tables(names, db, tables, read, limits) if has_tables else OfferedTables({}, limits=limits)
        return replace(offered, cube=str(path), columns=described.columns, origin=described.origin)
    if bool(names) == (db is not None):
        raise UsageError("Name either files and folders, or a database with --db, or a cube with --cube.")
    if db is None:
        if tables:
            raise UsageError("--tables needs --db: name files as arguments.")
        files = check_table_count(files_of(names))
        return OfferedTables(files, None, _reads(files, None, read, limits), limits)
    connection = database(db)
    named = check_table_count(_find_tables(connection, tables, limits))
    return OfferedTables(named, connection, _reads(named, connection, read, limits), limits)


def _reads(tables: Mapping[str, str], db: str | None, read: Reading, limits: Limits) -> Mapping[str, ReadOptions]:
    """Return how each table is read; none if nothing was said. Raise UsageError if no table has what was said."""
    from sqlaudit.cli.session import session

    if read == Reading():
        return {}
    targets = [read.table(Target(relation=relation, label=name)) for name, relation in tables.items()]
    with session(db, limits, Work(), *targets) as engine:
        return {target.label: target.read_as(engine.reading_options(target)) for target in targets}


def _find_tables(db: str, named: tuple[str, ...], limits: Limits) -> dict[str, str]:
    """Return the named tables, each opened once to check it, or all of a database."""
    from sqlaudit.cli.session import session
    from sqlaudit.gates.proposal import tables_of

    with session(db, limits, Work()) as engine:
        if not named:
            return {name: name for name in tables_of(engine)}
        names = split_lists(named, "--tables")
        for name in names:
            engine.open(Target(relation=name))
    return {name: name for name in names}


# `sqlaudit completion`: the lines that make a shell complete commands, options and files.


@command_of(click.Argument(["shell"], type=click.Choice(["bash", "zsh", "fish"])))
def completion(shell: str) -> int:
    """Print what makes SHELL complete commands and options: to be read when the shell starts.

    \b
      sqlaudit completion bash >> ~/.bashrc
      sqlaudit completion zsh >> ~/.zshrc
      sqlaudit completion fish > ~/.config/fish/completions/sqlaudit.fish
    """
    script_class = get_completion_class(shell)
    assert script_class is not None
    script = script_class(click.get_current_context().find_root().command, {}, "sqlaudit", "_SQLAUDIT_COMPLETE")
    print_data(script.source_template % script.source_vars())
    return ExitCode.OK


# `sqlaudit help`: the pages that reports name, which come with the package.

_PAGES = ("equality", "gate", "glossary", "verdicts")


@command_of(click.Argument(["topic"], metavar="[TOPIC]", required=False))
def show_page(topic: str | None) -> int:
    """Print a page: equality, gate, glossary or verdicts; or the help of a command.

    \b
      sqlaudit help glossary
      sqlaudit help audit
    """
    context = click.get_current_context()
    group = context.parent
    assert group is not None
    assert isinstance(group.command, click.Group)
    if topic is None:
        print_data(f"{group.get_help()}\n\nPages (sqlaudit help PAGE): {', '.join(_PAGES)}\n")
    elif topic in _PAGES:
        installed = Path(__file__).parents[1] / "pages"
        folder = installed if installed.is_dir() else Path(__file__).parents[2] / "docs"
        print_data((folder / f"{topic}.md").read_text(encoding="utf-8"))
    elif (command := group.command.get_command(group, topic)) is not None:
        with command.make_context(topic, [], parent=group, resilient_parsing=True) as command_context:
            print_data(command.get_help(command_context) + "\n")
    else:
        topics = [*_PAGES, *group.command.list_commands(group)]
        hint = closest(topic, topics) or f" Available: {', '.join(_PAGES)}, and the names of commands."
        raise UsageError(f"There is no page {topic!r}.{hint}")
    return ExitCode.OK
