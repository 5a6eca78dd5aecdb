"""A console from its start to its exit code: at a prompt, or a script."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from sqlaudit.audits.result import AuditResult
from sqlaudit.base.errors import ExitCode, Interrupted, SqlauditError, UsageError
from sqlaudit.base.spec import Target
from sqlaudit.classes.inputs import population_target
from sqlaudit.cli.audit import code_of as audit_code
from sqlaudit.cli.console.command import ConsoleRequest
from sqlaudit.cli.console.commands import GROUPS
from sqlaudit.cli.console.screen import Reported, Screen, check_into
from sqlaudit.cli.console.session import Session, State, sentence
from sqlaudit.cli.console.statements import Piece, StatementError, split
from sqlaudit.cli.console.terminal import Outside, converse, tell_time
from sqlaudit.cli.console.workspace import Workspace
from sqlaudit.cli.exits import worst
from sqlaudit.cli.output import output_for
from sqlaudit.cli.session import ProgressBar
from sqlaudit.column_sets.result import ColumnSets
from sqlaudit.lattices.result import LatticeResult
from sqlaudit.release.attacks.result import AttackResult
from sqlaudit.release.compare.result import CompareResult
from sqlaudit.tabular.result import AggregatesResult


def run_console(asked: ConsoleRequest) -> ExitCode:
    """Run the texts, or a prompt until it is left; the exit code of it all.

    Raises:
        SqlauditError: a statement or command of a script that cannot be carried out.
    """
    if asked.file is not None:
        check_into(asked.file)
    at_prompt = not asked.texts
    if at_prompt and not sys.stdout.isatty():
        raise UsageError("A prompt needs a terminal; say what to run with -c or -f.")
    outside = Outside(at_prompt)
    with ProgressBar():  # a Spark takes seconds to start
        opened = Workspace(asked.db, replace(asked.limits, timeout=None), asked.read)
    with opened as workspace:
        screen = Screen(outside.terminal(save), asked.layout)
        session = Session(
            workspace, screen, GROUPS, asked.asked.inputs, asked.show_values, timeout=asked.limits.timeout
        )
        session.state = _first_state(workspace, asked)
        if asked.file is not None:
            workspace.keep(asked.file)  # also what the inputs name
        screen.into(asked.file)
        with ExitStack() as unfinished:
            unfinished.callback(screen.drop)  # whatever ends it, Ctrl-C too: half a report is no file
            try:
                code = converse(session, outside) if at_prompt else run_script(session, outside, asked.texts)
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


def _first_state(workspace: Workspace, given: ConsoleRequest) -> State:
    targets = [workspace.target(name) for name in given.names]
    asked = given.asked
    for target in targets:
        workspace.describe(target)
    if "population" in asked.inputs:  # a table that an audit reads besides
        population = population_target(asked.inputs, Target(relation="audited", read=given.read))
        workspace.query(population.query) if population.query else workspace.target(population.relation)
    return State(targets[0] if targets else None, given.roles, asked.requirements)


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
        from sqlaudit.cli.releases import code_of as code_of_comparison

        return code_of_comparison(result)
    if isinstance(result, AggregatesResult):
        return ExitCode.OK if result.passed else ExitCode.REQUIREMENT_FAILED
    if isinstance(result, ColumnSets) and not result.complete and result.open_sets:
        return ExitCode.INCOMPLETE
    assert result is None or isinstance(result, ColumnSets | AttackResult)
    return ExitCode.OK
