"""A session of the console: its state, and how statements and commands run. It knows no terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

import sqlaudit
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.errors import EngineError, Incomplete, Interrupted, UsageError
from sqlaudit.base.names import closest
from sqlaudit.base.parameter_names import speaking
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import KnownRows, Requirement, Roles, Target
from sqlaudit.cli.console.grammar import in_the_statement, is_audit, is_cells, parse_audit, parse_cells
from sqlaudit.cli.console.screen import Screen, ScreenReport, report_of
from sqlaudit.cli.console.statements import Piece, tokens_of
from sqlaudit.cli.console.workspace import Workspace
from sqlaudit.engines.contract import Engine, Executed
from sqlaudit.engines.watch import Deadline
from sqlaudit.tabular.result import AggregatesResult

# How the console spells the fields of requests: an option elsewhere is a command here.

_COMMANDS = {
    "qi": "\\qi",
    "sensitive": "\\sensitive",
    "entity": "\\entity",
    "require": "\\require",
    "values": "\\count",
}
_SAMPLE_FIELDS = ("sampling_fraction", "population_size", "weights")
_COMMAND_OF_FIELD = {
    "query": "the statement",
    "show_values": "\\values on",
    "failing_classes_to": "`sqlaudit audit --failing-classes-to FILE.csv`",
    "failing_classes": "`sqlaudit audit --failing-classes all`",
    "db": "`sqlaudit console --db`",
    "buckets": "`sqlaudit audit --buckets`",
}


def in_the_console(field: str, values: tuple[object, ...]) -> str | None:
    r"""Return the command for a field, with its values behind it, None if the console has none.

    Example:
        >>> in_the_console("qi", ("age", "sex")), in_the_console("show_values", (True,)), in_the_console("to", ())
        ('\\qi age sex', '\\values on', None)
    """
    if field in _COMMANDS:
        return " ".join((_COMMANDS[field], *map(str, values)))
    return "\\sample" if field in _SAMPLE_FIELDS else _COMMAND_OF_FIELD.get(field)


def as_sentence(text: str) -> str:
    """Return a text with a capital letter, if it begins with the console's name for a query."""
    return "T" + text[1:] if text.startswith(_COMMAND_OF_FIELD["query"]) else text


SHOWN_CLASSES = 10
T = TypeVar("T")


@dataclass(frozen=True)
class State:
    """The state that commands act on: a relation (None: the last SELECT), roles and requirements."""

    target: Target | None = None
    roles: Roles = field(default_factory=Roles)
    requirements: tuple[Requirement, ...] = ()


@dataclass
class Session:
    """One console.

    Args:
        workspace: the database and files.
        screen: shows results.
        groups: the commands, by their heading in the help.
        inputs: further inputs of models, as an audit takes them.
        show_values: whether values of classes may be read.
        timing: whether the time of each step is printed.
        timeout: seconds for each statement and command, None = no limit.
    """

    workspace: Workspace
    screen: Screen
    groups: Mapping[str, tuple[ConsoleCommand, ...]]
    inputs: Mapping[str, object] = field(default_factory=dict)
    show_values: bool = False
    timing: bool = False
    timeout: float | None = None
    state: State = field(default_factory=State)
    selected: Target | None = None
    """The last SELECT."""
    reported: ScreenReport | None = None
    """The last report, which can be written to a file."""
    steps: list[Executed] = field(default_factory=list)
    """The statements that the last step ran."""
    pieces: int = 8
    """The largest number of pieces of knowledge in the last question about disclosure."""
    supposed: object = None
    """The classes that `\\replace` and `\\grow` have changed."""
    left: bool = False
    """True if the session is to end."""
    _past: list[State] = field(default_factory=list)
    _audited: tuple[tuple[Engine, State, bool], AuditResult] | None = None

    @property
    def commands(self) -> dict[str, ConsoleCommand]:
        """Return every command by its name, in the order of the help."""
        return {command.name: command for group in self.groups.values() for command in group}

    def find_command(self, name: str) -> ConsoleCommand:
        """Return the command of a name.

        Raises:
            UsageError: there is none; the message suggests the closest.
        """
        command = self.commands.get(name)
        if command is None:
            near = " \\d lists tables." if name.startswith("d") else closest(name, self.commands)
            raise UsageError(f"There is no command \\{name}.{near} \\? lists them.")
        return command

    @speaking(in_the_console)
    def run(self, piece: Piece) -> object | None:
        """Run a statement or command, and return its result if it has a verdict.

        Raises:
            SqlauditError: it cannot be run.
        """
        if not piece.is_command:
            return self._in_time(lambda: self._statement(piece))
        words = piece.text[1:].rstrip("; \t\r").split(None, 1)
        command = self.find_command(words[0] if words else "")
        return self._in_time(lambda: command.run(self, words[1] if len(words) > 1 else ""))

    # --- for commands ---

    @property
    def engine(self) -> Engine:
        """Return the open engine. It can be another one after a further file was named."""
        return self.workspace.engine

    def cancel(self) -> None:
        """Stop the running statement; safe to call from another thread or a signal handler."""
        self.engine.cancel()

    def target(self) -> Target:
        """Return the current relation.

        Raises:
            UsageError: there is none yet.
        """
        target = self.state.target or self.selected
        if target is None:
            raise UsageError("No relation is selected. Name a table or file with \\use, or run a SELECT.")
        return target

    def called(self) -> str:
        """Return a short name of the current relation, empty if there is none."""
        target = self.state.target or self.selected
        if target is None or target.query:
            return "query" if target else ""
        short = self.workspace.short_name(target.relation)
        return short or target.relation.rpartition(".")[2].strip('"')

    def relation(self) -> Relation:
        """Return the current relation with its columns."""
        return self.workspace.describe(self.target())

    def change(self, state: State) -> None:
        """Set another state. `undo` returns to the one before."""
        if state != self.state:
            self._past.append(self.state)
            self.state = state

    def undo(self) -> State:
        """Return to the state before the last change.

        Raises:
            UsageError: nothing was changed.
        """
        if not self._past:
            raise UsageError("There is nothing to undo.")
        self.state = self._past.pop()
        return self.state

    def audit(self, *, afresh: bool = False) -> AuditResult:
        """Return the audit of the current relation with the current roles.

        Returns the last audit if nothing has changed since, unless `afresh`.

        Raises:
            SqlauditError: as `sqlaudit.audit`.
        """
        state = replace(self.state, target=self.target())
        key = (self.engine, state, self.show_values)
        if self._audited is not None and self._audited[0] == key and not afresh:
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
        self._audited = (key, result)
        return result

    def require_roles(self) -> Roles:
        """Return the roles. Their quasi-identifiers must be set.

        Raises:
            UsageError: they are not; the message has the columns that a profile proposes.
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
        """Show the report of a result. It is kept for `\\report`, too."""
        self.reported = report_of(result)
        self.screen.report(self.reported)
        return result

    # --- statements ---

    def _statement(self, piece: Piece) -> object | None:
        """Run a statement: AUDIT, AGGREGATES, EXPLAIN, DESCRIBE, or a SELECT whose rows are shown."""
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
        if words[0].upper() in ("SHOW", "DESCRIBE", "DESC") and (name := _describe_argument(piece.text)) is not None:
            return self.find_command("d").run(self, name)
        target = self.workspace.query(piece.text)
        rows = self.workspace.rows(target, self.screen.row_limit)
        self.selected = target
        self.screen.rows(rows)
        return None

    def _audit_statement(self, piece: Piece) -> AuditResult:
        """Run an AUDIT statement. Its roles and requirements become the current ones."""
        statement = parse_audit(piece.text, self.workspace.dialect, piece.line)
        current_roles = self.state.roles  # for the roles that the statement has no words for
        roles = replace(
            current_roles,
            quasi_identifiers=statement.roles.quasi_identifiers,
            sensitive=statement.roles.sensitive,
            entity=statement.roles.entity,
            known_rows=current_roles.known_rows if statement.roles.entity else KnownRows.WORSE,
        )
        self.change(State(self._found(statement.target), roles, statement.requirements))
        return self.show(self.audit(afresh=True))

    def _cells_statement(self, piece: Piece) -> AggregatesResult:
        """Judge the cells of a published table. The current roles and requirements are about rows of people and stay as
        they are.
        """
        from sqlaudit.tabular.run import find_unsafe_cells

        statement = parse_cells(piece.text, self.workspace.dialect, piece.line)
        with speaking(in_the_statement):
            request = replace(
                statement,
                target=self._found(statement.target),
                before=tuple(map(self._found, statement.before)),
                linked=tuple(map(self._found, statement.linked)),
                show_values=self.show_values,
            )
            return self.show(find_unsafe_cells(self.engine, request))

    def _found(self, target: Target) -> Target:
        """Return the table, file or SELECT that a statement names."""
        return self.workspace.query(target.query) if target.query else self.workspace.target(target.relation)

    # --- time ---

    def _in_time(self, work: Callable[[], T]) -> T:
        """Run the work within the timeout, and keep its statements for `\\sql`.

        Raises:
            Incomplete: the time limit was reached.
            EngineError: the database failed. If its connection was lost, the console has connected again.
        """
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
            if steps := [statement for statement in self.engine.executed if statement.sql]:
                self.steps = steps


@dataclass(frozen=True)
class ConsoleCommand:
    """A command that begins with a backslash.

    Args:
        name: without the backslash.
        arguments: how the help writes them.
        help: one line.
        run: runs it, with the text behind the name.
        completes: what the tab key offers: columns, qi, tables, files, models, dialects, switch, parts, or nothing.
    """

    name: str
    arguments: str
    help: str
    run: Callable[[Session, str], object | None]
    completes: str = ""


_SHOW_TABLES = re.compile(r"SHOW\s+(?:ALL\s+)?TABLES", re.IGNORECASE)
_DESCRIBE_TABLE = re.compile(
    r"(?:DESC(?:RIBE)?|SHOW\s+COLUMNS\s+(?:FROM|IN))\s+(?:TABLE\s+)?(?!SELECT\b)(.+)", re.IGNORECASE
)


def _describe_argument(statement: str) -> str | None:
    """Return the argument of `\\d` for SHOW TABLES and DESCRIBE, as other consoles have them. None for other
    statements.
    """
    text = statement.strip().rstrip(";").strip()
    if _SHOW_TABLES.fullmatch(text):
        return ""
    match = _DESCRIBE_TABLE.fullmatch(text)
    return match[1].strip() if match else None
