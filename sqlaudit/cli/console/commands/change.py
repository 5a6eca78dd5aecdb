"""`\\drop`, `\\add`, `\\generalize`, `\\undo`: what if the roles were different? The figures before and after."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

from sqlaudit.audits.report import audit_document
from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Roles
from sqlaudit.cli.console.changes import added, dropped, generalized
from sqlaudit.cli.console.commands.roles import show
from sqlaudit.cli.console.screen import Reported
from sqlaudit.cli.console.session import Command, Session
from sqlaudit.cli.console.what_if import Changed, changed_document
from sqlaudit.cli.console.words import arguments


def drop(session: Session, rest: str) -> None:
    """Leave a quasi-identifier out."""
    name = _one(session, rest, "\\drop")
    roles = dropped(session.require_roles(), name, session.relation(), session.workspace.dialect)
    _compared(session, roles, f"without {name}")


def add(session: Session, rest: str) -> None:
    """Let others know further columns."""
    names = arguments(rest, session.workspace.dialect, "\\add")
    if not names:
        raise UsageError("Name the columns: \\add zip.")
    roles = added(session.require_roles(), names, session.relation(), session.workspace.dialect)
    _compared(session, roles, f"with {', '.join(names)}")


def generalize(session: Session, rest: str) -> None:
    """Make a quasi-identifier coarser."""
    words = rest.split(None, 1)
    if len(words) < 2:
        raise UsageError("Name a quasi-identifier and how coarse it becomes: \\generalize age 10.")
    name = arguments(words[0], session.workspace.dialect, "\\generalize")[0]
    relation, dialect = session.relation(), session.workspace.dialect
    before = session.require_roles()
    roles = generalized(before, name, words[1], relation, dialect)
    new = next((item for item in roles.quasi_identifiers if item not in before.quasi_identifiers), name)
    _compared(session, roles, f"{name} as {new}")


def undo(session: Session, rest: str) -> None:
    """Take the last change of roles, requirements or relation back."""
    if rest:
        raise UsageError("\\undo takes nothing more.")
    session.undo()
    show(session)


def _compared(session: Session, roles: Roles, change: str) -> None:
    """Both audits side by side; the change stays when both could be made."""
    before = session.audit()
    session.change(replace(session.state, roles=roles))
    with ExitStack() as left:  # also a Ctrl-C takes the change back
        left.callback(session.undo)
        after = session.audit()
        left.pop_all()
    changed = Changed(change, before, after)
    session.screen.report(Reported(lambda: changed_document(changed), changed.to_dict))
    session.reported = Reported(lambda: audit_document(after), after.to_dict)


def _one(session: Session, rest: str, command: str) -> str:
    names = arguments(rest, session.workspace.dialect, command)
    if len(names) != 1:
        raise UsageError(f"{command} takes one quasi-identifier, for instance {command} age.")
    return names[0]


COMMANDS = (
    Command("drop", "COLUMN", "without this quasi-identifier", drop, "qi"),
    Command("generalize", "COLUMN HOW", "coarser: age 10, zip 3, birth year, or SQL", generalize, "generalize"),
    Command("add", "COLUMNS", "others know these columns, too", add, "columns"),
    Command("undo", "", "take the last change back", undo),
)
