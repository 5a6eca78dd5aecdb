"""How every command runs: its options become a job, which is planned or run and reported, and ends in an exit code."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sqlaudit.base.addresses import Whereabouts
from sqlaudit.base.errors import ExitCode
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Limits
from sqlaudit.cli.options import Work, limit_options, output_options, whole_request, work_options
from sqlaudit.cli.output import Output
from sqlaudit.cli.requests import OptionGroup, command_of
from sqlaudit.engines.contract import Engine
from sqlaudit.reports.document import Document, markdown, visible
from sqlaudit.reports.formats import render_json

if TYPE_CHECKING:
    from sqlaudit.engines.command import Command, Request
    from sqlaudit.reports.notebook import Shown


T = TypeVar("T")
Q = TypeVar("Q", bound="Request")
R = TypeVar("R")


@dataclass(frozen=True)
class Job:
    """The options that commands share, besides their requests."""

    output: Output
    work: Work
    limits: Limits
    db: str | Whereabouts | None = None

    def run(
        self,
        command: Command[Q, R],
        request: Q,
        run: Callable[[Engine], R] | None = None,
        *,
        code: Callable[[R], int] | None = None,
        finish: Callable[[R], R] | None = None,
        document: Callable[[R], Document] | None = None,
        report_of: Callable[[R], Shown] | None = None,
    ) -> int:
        """Run a command on an engine of its own and report its result, or print its plan. Return the exit code.

        Args:
            command: the command.
            request: what it is asked.
            run: runs it where it takes more than the request: progress, or files that only the command line writes.
            code: returns the exit code of a result, after the report. Default: the command's.
            finish: is called when the engine is closed; returns the result to report. Default: the command's.
            document: returns the report. Default: the result's own.
            report_of: returns what is reported of a result. Default: the result.

        Raises:
            SqlauditError: the command cannot be run.
        """
        from sqlaudit.cli.session import session

        command.check(request, self.db)
        with session(self.db, self.limits, self.work, *request.targets) as engine:
            if self.work.dry_run or self.work.explain:
                statements = command.plan(engine, request)
                relations = [(engine.open(target), target) for target in command.reads(request)]
                names = dict.fromkeys(
                    name for relation, target in relations for name in relation.tables or (target.name,)
                )
                show_statements(engine, tuple(names), statements, self.work, self.output)
                return ExitCode.OK
            result = run(engine) if run is not None else command.run(engine, request)
            is_stopped = command.stopped(result)
            if is_stopped:
                # A search that ran for an hour has found something: report it before exiting
                self._emit(result, command.sql(request, result), document, report_of)
                return ExitCode.INTERRUPTED
        result = finish(result) if finish is not None else command.finish(request, result, self.db, self.limits)
        self._emit(result, command.sql(request, result), document, report_of)
        return (code or command.code)(result)

    def _emit(
        self, result: R, sql: str, document: Callable[[R], Document] | None, report_of: Callable[[R], Shown] | None
    ) -> None:
        """Write the report of a result, and the SELECT behind it."""
        from sqlaudit.reports.notebook import document_of

        reported: Any = result if report_of is None else report_of(result)
        self.output.emit(lambda: (document or document_of)(reported), reported.to_dict, sql)


def progress_callback(
    engine: Engine, describe: Callable[..., str], share: Callable[..., float | None] = lambda *_: None
) -> Callable[..., None]:
    """Return a function that shows progress if the engine has a progress bar.

    Args:
        engine: has the progress bar.
        describe: returns the text of the bar for the arguments of the callback.
        share: returns the share that is done, 0 to 1, None if unknown.
    """

    def report(*counts: Any) -> None:
        if engine.progress is not None:
            engine.progress(describe(*counts), share(*counts))

    return report


def job_command(
    *groups: OptionGroup | click.Parameter | type[object], output: OptionGroup = output_options
) -> Callable[[Callable[..., int]], click.Command]:
    """Return a decorator for a command with these options and the options that every command has.

    The function gets a `Job`, and by name the other objects that the groups make.

    Args:
        groups: the command's options; a class stands for all options of a request.
        output: format, file and cover page of its report.
    """
    every_command_has = (output, work_options, limit_options)

    parts = [whole_request(group) if isinstance(group, type) else group for group in groups]

    def decorate(command: Callable[..., int]) -> click.Command:
        @functools.wraps(command)
        def with_job(**values: Any) -> int:
            names = {job_field.name for job_field in fields(Job)} & values.keys()
            return command(Job(**{name: values.pop(name) for name in names}), **values)

        common = (part for part in every_command_has if part not in parts)
        return command_of(*parts, *common, first=every_command_has)(with_job)

    return decorate


# `--dry-run` and `--explain`: what would run, as data on stdout.

SCHEMA = "sqlaudit-plan/1"
_NOTE = "Nothing was measured. Statements that depend on what these find are not listed."


def show_statements(
    engine: Engine, tables: Sequence[str], statements: Sequence[Statement], work: Work, output: Output
) -> None:
    """Print statements and the tables that they read, with `--explain` the database's plans.

    Plans have no constants unless `--show-values` is given.
    """
    show_values = bool(click.get_current_context().params.get("show_values"))
    plans = [engine.explain(statement, show_values) for statement in statements] if work.explain else []
    if output.format == "json":
        records = [{"name": statement.name, "sql": statement.sql} for statement in statements]
        for record, plan in zip(records, plans, strict=False):
            record["plan"] = plan
        document = {"schema": SCHEMA, "engine": engine.version(), "tables": list(tables), "statements": records}
        output.write(render_json(document))
    elif output.format == "markdown":
        output.write(_markdown(tables, statements, plans))
    else:
        output.write(_script(tables, statements, plans))


def _script(tables: Sequence[str], statements: Sequence[Statement], plans: Sequence[str]) -> str:
    """Return a SQL script that runs as it stands: everything but the statements is a comment."""
    parts = [f"-- Reads: {', '.join(visible(table) for table in tables)}\n-- {_NOTE}\n"]
    for position, statement in enumerate(statements):
        parts.append(f"\n{_lines(statement.sql)};\n")
        if plans:
            parts.append(_lines(plans[position], "-- ") + "\n")
    return "".join(parts)


def _markdown(tables: Sequence[str], statements: Sequence[Statement], plans: Sequence[str]) -> str:
    """Return the statements, and the plans if there are any, as Markdown with a heading each."""
    parts = [f"Reads: {', '.join(markdown(table) for table in tables)}", _NOTE]
    for position, statement in enumerate(statements):
        parts += [f"## {markdown(statement.name)}", f"~~~~~~sql\n{_lines(statement.sql)}\n~~~~~~"]
        if plans:
            parts.append(f"~~~~~~text\n{_lines(plans[position])}\n~~~~~~")
    return "\n\n".join(parts) + "\n"


def _lines(text: str, prefix: str = "") -> str:
    return "\n".join(f"{prefix}{visible(line)}".rstrip() for line in text.rstrip().splitlines())
