"""`sqlaudit console`: statements and commands that explore and audit."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import click

from sqlaudit.audits.result import AuditResult
from sqlaudit.base.errors import ExitCode, InputError, Interrupted, SqlauditError, UsageError
from sqlaudit.base.spec import Limits, ReadOptions, Roles, Target
from sqlaudit.classes.inputs import population_target
from sqlaudit.cli.audit import code_of as audit_code
from sqlaudit.cli.console.screen import FORMATS, Reported, Screen, check_into
from sqlaudit.cli.console.session import Session, State
from sqlaudit.cli.console.splitting import Piece, split
from sqlaudit.cli.console.terminal import Outside, converse, tell_time
from sqlaudit.cli.console.wording import sentence
from sqlaudit.cli.console.words import StatementError
from sqlaudit.cli.console.workspace import Workspace
from sqlaudit.cli.exits import worst
from sqlaudit.cli.options import Demands, limit_options, require_options, role_options, several_options
from sqlaudit.cli.output import output_for
from sqlaudit.cli.sections import Sectioned, in_section, shared
from sqlaudit.cli.session import ProgressBar
from sqlaudit.column_sets.result import ColumnSets
from sqlaudit.lattices.result import LatticeResult
from sqlaudit.release.attacks.result import AttackResult
from sqlaudit.release.compare.result import CompareResult
from sqlaudit.tabular.result import AggregatesResult

_run = in_section("What to run")
_out = in_section("Output")


def _script(*, commands: tuple[str, ...], script: str | None) -> dict[str, tuple[str, ...]]:
    """The texts to run, in order; none = a prompt, or what stands in a pipe."""
    if commands and script is not None:
        raise UsageError("Give -c or -f, not both.")
    if script is not None:
        return {"texts": (_text_of(script),)}
    if not commands and not sys.stdin.isatty():
        return {"texts": (_text_of("-"),)}
    return {"texts": commands}


def _text_of(file: str) -> str:
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return content.decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise InputError(f"{file}: is not UTF-8 text.") from None


_script_options = shared(
    _script,
    _run("-c", "--command", "commands", multiple=True, metavar="TEXT", help="Run this, and leave. May be repeated."),
    _run("-f", "--file", "script", metavar="FILE", help="Run a script, and leave; - is standard input."),
)


@click.command(cls=Sectioned)
@several_options
@_script_options
@role_options
@require_options
@_out("--format", "layout", type=click.Choice(FORMATS), default="table", show_default=True, help="How results look.")
@_out("--output", "file", type=click.Path(path_type=Path), metavar="FILE", help="Write all results to a file.")
@_out("--show-values", is_flag=True, help="Show values of classes, which may name persons.")
@limit_options
def command(
    names: tuple[str, ...],
    db: str | None,
    read: ReadOptions,
    texts: tuple[str, ...],
    roles: Roles,
    asked: Demands,
    layout: str,
    file: Path | None,
    show_values: bool,
    limits: Limits,
) -> int:
    """Explore tables and files with SQL, and audit what you see.

    A prompt for SELECT, AUDIT and AGGREGATES statements and commands; "\\?" lists these. With -c
    or -f it is a script, with the exit codes of `sqlaudit audit`: 1 when a requirement does not
    hold. The first TABLE or FILE is what the commands act on. Nothing is written to a database.

    \b
      sqlaudit console patients.parquet
      sqlaudit console --db clinic.duckdb -f audit.sql --format json
      sqlaudit console patients.csv -c "AUDIT patients BY (age, zip) REQUIRE k >= 5"
    """
    if file is not None:
        check_into(file)
    at_prompt = not texts
    if at_prompt and not sys.stdout.isatty():
        raise UsageError("A prompt needs a terminal; say what to run with -c or -f.")
    outside = Outside(at_prompt)
    with ProgressBar():  # a Spark takes seconds to start
        opened = Workspace(db, replace(limits, timeout=None), read)
    with opened as workspace:
        screen = Screen(outside.terminal(save), layout)
        session = Session(workspace, screen, asked.inputs, show_values, timeout=limits.timeout)
        session.state = _first_state(workspace, names, read, roles, asked)
        if file is not None:
            workspace.keep(file)  # also what the inputs name
        screen.into(file)
        with ExitStack() as unfinished:
            unfinished.callback(screen.drop)  # whatever ends it, Ctrl-C too: half a report is no file
            try:
                code = converse(session, outside) if at_prompt else run_script(session, outside, texts)
            except SqlauditError as error:
                if isinstance(error, Interrupted):
                    unfinished.close()
                unfinished.pop_all()
                screen.close_after_error()
                raise
            if code is not ExitCode.INTERRUPTED:
                unfinished.pop_all()
        screen.close()
        return code


def _first_state(workspace: Workspace, names: Sequence[str], read: ReadOptions, roles: Roles, asked: Demands) -> State:
    targets = [workspace.target(name) for name in names]
    for target in targets:
        workspace.describe(target)
    if "population" in asked.inputs:  # a table that an audit reads besides
        population = population_target(asked.inputs, Target(relation="audited", read=read))
        workspace.query(population.query) if population.query else workspace.target(population.relation)
    return State(targets[0] if targets else None, roles, asked.requirements)


def run_script(session: Session, outside: Outside, texts: Sequence[str]) -> ExitCode:
    """Run scripts up to their end, to `\\q` or to the first error; the exit code of it all.

    Raises:
        SqlauditError: a statement or command that cannot be carried out, with the line of the script.
    """
    codes = [ExitCode.OK]
    for text in texts:
        for piece in split(text, session.workspace.dialect):
            codes.append(_step(session, outside, piece, len(texts) == 1))
            if session.left:
                return worst(*codes)
    return worst(*codes)


def _step(session: Session, outside: Outside, piece: Piece, told: bool) -> ExitCode:
    begun = time.monotonic()
    try:
        with outside.interruptible(session):
            code = code_of(session.run(piece))
    except StatementError:
        raise
    except SqlauditError as error:
        place = f"Line {piece.line}: " if told and piece.line > 1 else ""
        error.args = (place + sentence(str(error)),)
        raise
    tell_time(session, begun)
    return code


def save(path: Path, reported: Reported) -> None:
    """Write a report into a file, in the layout that its ending names."""
    output_for(None, path).emit(reported.document, reported.data)


def code_of(result: object | None) -> ExitCode:
    """The exit code that the result of a step asks for."""
    if isinstance(result, AuditResult):
        return audit_code(result)
    if isinstance(result, LatticeResult):
        from sqlaudit.cli.lattice import code_of as code_of_lattice

        return code_of_lattice(result)
    if isinstance(result, CompareResult):
        from sqlaudit.cli.compare import code_of as code_of_comparison

        return code_of_comparison(result)
    if isinstance(result, AggregatesResult):
        return ExitCode.OK if result.passed else ExitCode.REQUIREMENT_FAILED
    if isinstance(result, ColumnSets) and not result.complete and result.open_sets:
        return ExitCode.INCOMPLETE
    assert result is None or isinstance(result, ColumnSets | AttackResult)
    return ExitCode.OK
