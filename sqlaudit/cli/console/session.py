"""A session of the console: what it works on, and how a statement or command is carried out. It knows no terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import sqlaudit
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.errors import EngineError, Incomplete, Interrupted, UsageError
from sqlaudit.base.names import closest
from sqlaudit.base.parameter_names import speaking
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import KnownRows, Requirement, Roles, Target
from sqlaudit.cli.console.screen import Reported, Screen, report_of
from sqlaudit.cli.console.statements import (
    Piece,
    in_the_statement,
    is_audit,
    is_cells,
    parse_audit,
    parse_cells,
    tokens_of,
)
from sqlaudit.cli.console.workspace import Workspace
from sqlaudit.engines.contract import Engine, Executed
from sqlaudit.engines.watch import Deadline
from sqlaudit.tabular.result import AggregatesResult

# How the console spells the fields of requests: what is an option elsewhere is a command here.

_COMMANDS = {
    "qi": "\\qi",
    "sensitive": "\\sensitive",
    "entity": "\\entity",
    "require": "\\require",
    "values": "\\count",
}
_SAMPLED = ("sampling_fraction", "population_size", "weights")
_SAID = {
    "query": "the statement",
    "show_values": "\\values on",
    "failing_classes_to": "`sqlaudit audit --failing-classes-to FILE.csv`",
    "failing_classes": "`sqlaudit audit --failing-classes all`",
    "db": "`sqlaudit console --db`",
    "buckets": "`sqlaudit audit --buckets`",
}


def in_the_console(field: str, values: tuple[object, ...]) -> str | None:
    r"""The command for a field, with its values behind it; None where the console has none.

    Example:
        >>> in_the_console("qi", ("age", "sex")), in_the_console("show_values", (True,)), in_the_console("to", ())
        ('\\qi age sex', '\\values on', None)
    """
    if field in _COMMANDS:
        return " ".join((_COMMANDS[field], *map(str, values)))
    return "\\sample" if field in _SAMPLED else _SAID.get(field)


def sentence(text: str) -> str:
    """A text that may begin with what the console calls a query, as a sentence."""
    return "T" + text[1:] if text.startswith(_SAID["query"]) else text


SHOWN_CLASSES = 10
T = TypeVar("T")


@dataclass(frozen=True)
class State:
    """What the commands act on: a relation (None: the last SELECT), roles, and what must hold."""

    target: Target | None = None
    roles: Roles = field(default_factory=Roles)
    requirements: tuple[Requirement, ...] = ()


@dataclass
class Session:
    """One console.

    Args:
        workspace: the database and files. screen: where results go. groups: the commands, by what the help calls them.
        inputs: further inputs of models, as an audit takes them.
        show_values: whether values of classes may be read. timing: whether times are told.
        timeout: seconds for each statement and command, None = no limit.
    """

    workspace: Workspace
    screen: Screen
    groups: Mapping[str, tuple[Command, ...]]
    inputs: Mapping[str, Any] = field(default_factory=dict)
    show_values: bool = False
    timing: bool = False
    timeout: float | None = None
    state: State = field(default_factory=State)
    selected: Target | None = None
    """The last SELECT."""
    reported: Reported | None = None
    """The last report, which can be written to a file."""
    steps: list[Executed] = field(default_factory=list)
    """The statements that the last step ran."""
    pieces: int = 8
    """To how many pieces of knowledge disclosure was asked for last."""
    supposed: object = None
    """What the commands that change classes keep of these."""
    left: bool = False
    """Whether the session was asked to end."""
    _past: list[State] = field(default_factory=list)
    _audited: tuple[tuple[Engine, State, bool], AuditResult] | None = None

    @property
    def commands(self) -> dict[str, Command]:
        """Every command by its name, in the order of the help."""
        return {command.name: command for group in self.groups.values() for command in group}

    def find_command(self, name: str) -> Command:
        """The command of a name.

        Raises:
            UsageError: there is none; the sentence names the closest.
        """
        found = self.commands.get(name)
        if found is None:
            near = " \\d lists tables." if name.startswith("d") else closest(name, self.commands)
            raise UsageError(f"There is no command \\{name}.{near} \\? lists them.")
        return found

    @speaking(in_the_console)
    def run(self, piece: Piece) -> object | None:
        """Carry out a statement or command, and return its result where it has a verdict.

        Raises:
            SqlauditError: what keeps it from being carried out.
        """
        if not piece.is_command:
            return self._in_time(lambda: self._statement(piece))
        words = piece.text[1:].rstrip("; \t\r").split(None, 1)
        command = self.find_command(words[0] if words else "")
        return self._in_time(lambda: command.run(self, words[1] if len(words) > 1 else ""))

    # --- what commands use ---

    @property
    def engine(self) -> Engine:
        """The open engine; it may be another one after a further file was named."""
        return self.workspace.engine

    def cancel(self) -> None:
        """Stop the running statement; safe to call from another thread or a signal handler."""
        self.engine.cancel()

    def target(self) -> Target:
        """The current relation.

        Raises:
            UsageError: there is none yet.
        """
        found = self.state.target or self.selected
        if found is None:
            raise UsageError("No relation is selected. Name a table or file with \\use, or run a SELECT.")
        return found

    def called(self) -> str:
        """A short name of the current relation, empty when there is none."""
        target = self.state.target or self.selected
        if target is None or target.query:
            return "query" if target else ""
        short = self.workspace.short_name(target.relation)
        return short or target.relation.rpartition(".")[2].strip('"')

    def relation(self) -> Relation:
        """The current relation with its columns."""
        return self.workspace.describe(self.target())

    def change(self, state: State) -> None:
        """Go on with another state; `undo` comes back."""
        if state != self.state:
            self._past.append(self.state)
            self.state = state

    def undo(self) -> State:
        """The state before the last change.

        Raises:
            UsageError: nothing was changed.
        """
        if not self._past:
            raise UsageError("There is nothing to undo.")
        self.state = self._past.pop()
        return self.state

    def audit(self, *, afresh: bool = False) -> AuditResult:
        """The audit of the current relation with the current roles; the last one if nothing has changed since, unless
        it is wanted `afresh`.

        Raises:
            SqlauditError: as `sqlaudit.audit`.
        """
        state = replace(self.state, target=self.target())
        asked = (self.engine, state, self.show_values)
        if self._audited is not None and self._audited[0] == asked and not afresh:
            return self._audited[1]
        result = sqlaudit.audit(
            state.target,
            roles=self.require_roles(),
            require=self.state.requirements,
            db=self.engine,
            inputs=self.inputs,
            failing_classes=SHOWN_CLASSES,
            show_values=self.show_values,
        )
        self._audited = (asked, result)
        return result

    def require_roles(self) -> Roles:
        """The roles, of which the quasi-identifiers must be named.

        Raises:
            UsageError: they are not; the sentence says which columns a profile would propose.
        """
        roles = self.state.roles
        if roles.quasi_identifiers:
            return roles
        from sqlaudit.profiles.run import likely_quasi_identifiers

        others = {name for names in roles.by_role().values() for name in names}
        proposed = likely_quasi_identifiers(self.engine, self.target(), others)
        hint = f" \\profile proposes: \\qi {', '.join(proposed)}" if proposed else " For example: \\qi age sex"
        raise UsageError(f"No quasi-identifiers are set. Name what others may know about a person.{hint}")

    def show(self, result: T) -> T:
        """Show the report of a result, and keep it for another file."""
        self.reported = report_of(result)
        self.screen.report(self.reported)
        return result

    # --- statements ---

    def _statement(self, piece: Piece) -> object | None:
        dialect = self.workspace.dialect
        if not tokens_of(piece.text, dialect):
            return None
        if is_audit(piece.text, dialect):
            return self._audit_statement(piece)
        if is_cells(piece.text, dialect):
            return self._cells_statement(piece)
        words = piece.text.split(None, 1)
        if words[0].startswith("."):
            raise UsageError("Commands begin with a backslash here: \\d lists tables, \\? all commands.")
        if words[0].upper() == "EXPLAIN" and len(words) > 1:
            self.screen.text(self.workspace.plan(self.workspace.query(words[1]), self.show_values))
            return None
        if words[0].upper() in ("SHOW", "DESCRIBE", "DESC") and (name := _described(piece.text)) is not None:
            return self.find_command("d").run(self, name)
        target = self.workspace.query(piece.text)
        rows = self.workspace.rows(target, self.screen.row_limit)
        self.selected = target
        self.screen.rows(rows)
        return None

    def _audit_statement(self, piece: Piece) -> AuditResult:
        said = parse_audit(piece.text, self.workspace.dialect, piece.line)
        target = self.workspace.query(said.query) if said.query else self.workspace.target(said.relation)
        kept = self.state.roles  # what the statement has no words for
        roles = replace(
            kept,
            quasi_identifiers=said.roles.quasi_identifiers,
            sensitive=said.roles.sensitive,
            entity=said.roles.entity,
            known_rows=kept.known_rows if said.roles.entity else KnownRows.WORSE,
        )
        self.change(State(target, roles, said.requirements))
        return self.show(self.audit(afresh=True))

    def _cells_statement(self, piece: Piece) -> AggregatesResult:
        """Judge published cells; roles and requirements are about rows of persons, and stay as they are."""
        from sqlaudit.tabular.run import find_unsafe_cells

        said = parse_cells(piece.text, self.workspace.dialect, piece.line)
        target = self.workspace.query(said.query) if said.query else self.workspace.target(said.relation)
        before, linked = ([self.workspace.target(name) for name in names] for names in (said.before, said.linked))
        request = replace(said.request, show_values=self.show_values)
        with speaking(in_the_statement):
            return self.show(find_unsafe_cells(self.engine, target, request, before, linked))

    # --- time ---

    def _in_time(self, work: Callable[[], T]) -> T:
        """The work within the timeout, with its statements noted."""
        self.engine.executed.clear()
        deadline = None if self.timeout is None else Deadline(self.timeout, self.cancel)
        try:
            return work()
        except Interrupted:
            if deadline is None or not deadline.over:
                raise
            raise Incomplete(f"The time limit of {self.timeout:g} seconds was reached.") from None
        except EngineError as error:
            if deadline is not None:
                deadline.stop()
            if self.workspace.is_alive():
                raise
            self.workspace.refresh()
            raise EngineError(f"{error} The console has connected again.") from None
        finally:
            if deadline is not None:
                deadline.stop()
            if steps := [done for done in self.engine.executed if done.sql]:
                self.steps = steps


@dataclass(frozen=True)
class Command:
    """A command that begins with a backslash.

    Args:
        name: without the backslash. arguments: how the help writes them. help: one line.
        run: carries it out, with what follows the name. completes: what can follow: columns, qi, tables, files,
            models, dialects, switch, parts, or nothing.
    """

    name: str
    arguments: str
    help: str
    run: Callable[[Session, str], object | None]
    completes: str = ""


_OF_TABLES = re.compile(r"SHOW\s+(?:ALL\s+)?TABLES", re.IGNORECASE)
_OF_COLUMNS = re.compile(
    r"(?:DESC(?:RIBE)?|SHOW\s+COLUMNS\s+(?:FROM|IN))\s+(?:TABLE\s+)?(?!SELECT\b)(.+)", re.IGNORECASE
)


def _described(statement: str) -> str | None:
    """What `\\d` is given for SHOW TABLES and DESCRIBE, as other consoles have them; None for other statements."""
    text = statement.strip().rstrip(";").strip()
    if _OF_TABLES.fullmatch(text):
        return ""
    found = _OF_COLUMNS.fullmatch(text)
    return found[1].strip() if found else None
