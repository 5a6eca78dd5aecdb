"""`\\values`, `\\limit`, `\\timing`, `\\?`, `\\q`: the console itself."""

from __future__ import annotations

from sqlaudit.base.errors import UsageError
from sqlaudit.cli.console.screen import Reported
from sqlaudit.cli.console.session import Command, Session
from sqlaudit.reports.blocks import Column, Paragraph, Table
from sqlaudit.reports.document import Document, Section
from sqlaudit.reports.figures import plural
from sqlaudit.reports.glossary import PAGE


def values(session: Session, rest: str) -> None:
    """Whether values of classes may be shown, which may name persons."""
    session.show_values = _switch(rest, session.show_values, "\\values")
    session.screen.note(f"values of classes are {'shown' if session.show_values else 'hidden'}.")


def timing(session: Session, rest: str) -> None:
    """Whether each step says how long it took."""
    session.timing = _switch(rest, session.timing, "\\timing")
    session.screen.note(f"timing is {'on' if session.timing else 'off'}.")


def limit(session: Session, rest: str) -> None:
    """How many rows of a SELECT are shown."""
    if rest.casefold() == "all":
        session.screen.limit = None
    elif rest.isascii() and rest.isdecimal() and int(rest) > 0:
        session.screen.limit = int(rest)
    elif rest:
        raise UsageError("\\limit takes a number of rows, or all.")
    shown = "all rows" if session.screen.limit is None else f"the first {plural(session.screen.limit, 'row')}"
    session.screen.note(f"a SELECT shows {shown}.")


def show_help(session: Session, _rest: str) -> None:
    """All commands."""
    from sqlaudit.cli.console.commands import COMMANDS as ALL
    from sqlaudit.cli.console.commands import GROUPS

    lead = Paragraph(
        "SELECT … ; shows rows.  AUDIT relation BY (columns) SENSITIVE columns REQUIRE k >= 5 ; audits.  AGGREGATES "
        "relation BY (columns) COUNT column REQUIRE threshold >= 5 ; judges the cells of a published table.  Nothing "
        "that is typed here can change data."
    )
    words = Paragraph(f"The words of reports are explained in {PAGE}.")
    heads = (Column("command"), Column("what it does"))
    parts = tuple(
        Section(title, (Table(heads, tuple((f"\\{one.name} {one.arguments}".strip(), one.help) for one in group)),))
        for title, group in GROUPS.items()
    )
    data = {"commands": [{"name": one.name, "arguments": one.arguments, "help": one.help} for one in ALL.values()]}
    session.screen.report(Reported(lambda: Document("The console", (lead, words), parts), lambda: data))


def leave(session: Session, _rest: str) -> None:
    """Leave the console."""
    session.left = True


def _switch(rest: str, now: bool, command: str) -> bool:
    """On or off; without a word the other one."""
    if rest.casefold() not in ("", "on", "off"):
        raise UsageError(f"{command} takes on or off.")
    return not now if not rest else rest.casefold() == "on"


COMMANDS = (
    Command("values", "[on|off]", "show values of classes, which may name persons", values, "switch"),
    Command("limit", "[N|all]", "how many rows of a SELECT are shown", limit),
    Command("timing", "[on|off]", "say how long each step took", timing, "switch"),
    Command("?", "", "this list", show_help),
    Command("q", "", "leave; so does Ctrl-D", leave),
)
