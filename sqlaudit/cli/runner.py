"""The one way of a command: what was asked becomes a job, which is planned or done, reported, and ends in a code."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sqlaudit.base.errors import ExitCode
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.options import request_from
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Limits, Roles, Sampling, Target
from sqlaudit.cli.options import Demands, Work, limit_options, output_options, work_options
from sqlaudit.cli.output import Output
from sqlaudit.cli.requests import OptionGroup, command_of
from sqlaudit.engines.contract import Engine
from sqlaudit.reports.document import Document, markdown, visible
from sqlaudit.reports.formats import render_json

if TYPE_CHECKING:
    from sqlaudit.reports.notebook import Shown


T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Job:
    """What commands are asked besides their own requests; of what a command does not take, nothing is said."""

    output: Output
    work: Work
    limits: Limits
    db: str | None = None
    target: Target = None  # type: ignore[assignment]  # commands without a TARGET name their targets
    roles: Roles = field(default_factory=Roles)
    sampling: Sampling = field(default_factory=Sampling)
    asked: Demands = field(default_factory=Demands)

    def request(self, kind: type[T], given: Mapping[str, Any], **more: Any) -> T:
        """A request with those of target, roles, requirements and inputs that it has.

        Raises:
            UsageError: whatever the request refuses.
        """
        known = {"target": self.target, "roles": replace(self.roles, sampling=self.sampling), **vars(self.asked)}
        own = {one.name: known[one.name] for one in fields(kind) if one.name in known}  # type: ignore[arg-type]
        return request_from(kind, given, **own, **more)

    def beside(self, given: Mapping[str, Any], *names: str) -> dict[str, Any]:
        """What was given, with the other tables that these options name: they are read as the target is."""
        tables = {name: Target(relation=given[name], read=self.target.read) for name in names if name in given}
        return {**given, **tables}

    def run(
        self,
        plan: Callable[[Engine, Any], Sequence[Statement]],
        find: Callable[[Engine], R],
        code: Callable[[R], int] = lambda _: ExitCode.OK,
        *,
        targets: Sequence[Target] = (),
        reads: Sequence[Target] = (),
        sql: Callable[[R], str] = lambda _: "",
        stopped: Callable[[R], bool] = lambda _: False,
        finish: Callable[[R], R] = lambda result: result,
        told: Callable[[R], Shown] | None = None,
        document: Callable[[R], Document] | None = None,
        opening: bool = True,
    ) -> int:
        """Do it over an open engine, or show what would be done; the exit code.

        Args:
            plan: the statements that would run; it gets the opened target, or the first of the targets. find: does it.
            code: what follows from what was found, after the report.
            targets: everything that is read; nothing = the target. reads: the tables that a plan names; nothing = the
                target, or the targets. sql: stands after the report.
            stopped: whether somebody stopped it. finish: what is done after the engine is closed, before the report.
            told: what the report is of; nothing = what was found. document: reports that; nothing = as it says itself.
            opening: whether a plan gets the opened target; else it opens that itself, under the name that it shows.

        Raises:
            SqlauditError: what keeps it from being done.
        """
        from sqlaudit.cli.session import session
        from sqlaudit.reports.notebook import document_of

        def emit(result: R) -> None:
            found: Any = result if told is None else told(result)
            self.output.emit(lambda: (document or document_of)(found), found.to_dict, sql(result))

        with session(self.db, self.limits, self.work, *(targets or [self.target])) as engine:
            if self.work.dry_run or self.work.explain:
                named = reads or ([self.target] if self.target else targets)
                statements = None if opening else plan(engine, None)
                opened = [(engine.open(one), one) for one in named]
                names = dict.fromkeys(name for relation, one in opened for name in relation.tables or (one.name,))
                if statements is None:
                    statements = plan(engine, opened[0][0])
                show_statements(engine, tuple(names), statements, self.work, self.output)
                return ExitCode.OK
            result = find(engine)
            if stopped(result):  # what is known is worth telling before the way out
                emit(result)
                return ExitCode.INTERRUPTED
        result = finish(result)
        emit(result)
        return code(result)


def verdict(passed: bool, complete: bool = True) -> ExitCode:
    """The exit code of what holds or does not, or is not known in the end."""
    if not complete:
        return ExitCode.INCOMPLETE
    return ExitCode.OK if passed else ExitCode.REQUIREMENT_FAILED


def telling(
    engine: Engine, words: Callable[..., str], share: Callable[..., float | None] = lambda *_: None
) -> Callable[..., None]:
    """Shows progress in these words of what is told, and the share that is done, where somebody sees it."""

    def tell(*found: Any) -> None:
        if engine.progress is not None:
            engine.progress(words(*found), share(*found))

    return tell


EVERY = (output_options, work_options, limit_options)


def declared(*groups: OptionGroup | click.Parameter) -> Callable[[Callable[..., int]], click.Command]:
    """A command with the options of these groups, and with those of every command behind them.

    It gets a `Job`, and what groups make besides by name.
    """

    def decorate(command: Callable[..., int]) -> click.Command:
        @functools.wraps(command)
        def with_job(**values: Any) -> int:
            names = {one.name for one in fields(Job)} & values.keys()
            return command(Job(**{name: values.pop(name) for name in names}), **values)

        return command_of(*groups, *(one for one in EVERY if one not in groups))(with_job)

    return decorate


# `--dry-run` and `--explain`: what would run, as data on stdout.

SCHEMA = "sqlaudit-plan/1"
_NOTE = "Nothing was measured. Statements that depend on what these find are not listed."


def show_statements(
    engine: Engine, tables: Sequence[str], statements: Sequence[Statement], work: Work, output: Output
) -> None:
    """Print statements and the tables that they read; with `--explain` the database's plans.

    Plans have no constants unless the command was told to show values.
    """
    shown = bool(click.get_current_context().params.get("show_values"))
    plans = [engine.explain(statement, shown) for statement in statements] if work.explain else []
    if output.format == "json":
        listed = [{"name": statement.name, "sql": statement.sql} for statement in statements]
        for entry, plan in zip(listed, plans, strict=False):
            entry["plan"] = plan
        data = {"schema": SCHEMA, "engine": engine.version(), "tables": list(tables), "statements": listed}
        output.write(render_json(data))
    elif output.format == "markdown":
        output.write(_markdown(tables, statements, plans))
    else:
        output.write(_script(tables, statements, plans))


def _script(tables: Sequence[str], statements: Sequence[Statement], plans: Sequence[str]) -> str:
    """A SQL script: the statements run as they stand, everything else is a comment."""
    parts = [f"-- Reads: {', '.join(visible(table) for table in tables)}\n-- {_NOTE}\n"]
    for position, statement in enumerate(statements):
        parts.append(f"\n{_lines(statement.sql)};\n")
        if plans:
            parts.append(_lines(plans[position], "-- ") + "\n")
    return "".join(parts)


def _markdown(tables: Sequence[str], statements: Sequence[Statement], plans: Sequence[str]) -> str:
    parts = [f"Reads: {', '.join(markdown(table) for table in tables)}", _NOTE]
    for position, statement in enumerate(statements):
        parts += [f"## {markdown(statement.name)}", f"~~~~~~sql\n{_lines(statement.sql)}\n~~~~~~"]
        if plans:
            parts.append(f"~~~~~~text\n{_lines(plans[position])}\n~~~~~~")
    return "\n\n".join(parts) + "\n"


def _lines(text: str, prefix: str = "") -> str:
    return "\n".join(f"{prefix}{visible(line)}".rstrip() for line in text.rstrip().splitlines())
