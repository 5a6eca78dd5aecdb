"""Commands about the data, about the console itself, and about classes that were others."""

from __future__ import annotations

import re
from dataclasses import replace

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.cli.console.screen import Reported
from sqlaudit.cli.console.session import (
    ChangedClasses,
    Command,
    Session,
    Supposed,
    changed_classes_document,
    counts_of,
    supposed_of,
)
from sqlaudit.cli.console.statements import tokens_of
from sqlaudit.profiles.result import profile_document
from sqlaudit.reports.document import Column, Document, Paragraph, Section, Table, plural
from sqlaudit.reports.glossary import PAGE

# `\d`, `\use`, `\profile`, `\refresh`: what there is, and what the other commands act on.


def describe(session: Session, rest: str) -> None:
    """The tables and files; with a name its columns."""
    if rest:
        _columns(session, rest)
        return
    tables = session.workspace.tables()
    lead = Paragraph(
        "A file can be named by its path in single quotes."
        if session.workspace.engine.reads_files
        else "Names of other schemas work as well."
    )
    found = Table((Column("name"),), tuple((name,) for name in tables))
    shown = Document(plural(len(tables), "table or file", "tables and files"), (found,) if tables else (lead,))
    session.screen.report(Reported(lambda: shown, lambda: {"tables": tables}))


def _columns(session: Session, name: str) -> None:
    relation = session.workspace.describe(session.workspace.target(name))
    rows = tuple((column.name, column.type) for column in relation.columns)
    shown = Document(
        f"{relation.label}: {plural(len(rows), 'column')}", (Table((Column("column"), Column("type")), rows),)
    )
    data = {"table": relation.label, "columns": [{"name": name, "type": kind} for name, kind in rows]}
    session.screen.report(Reported(lambda: shown, lambda: data))


def use(session: Session, rest: str) -> None:
    """What the commands act on: a table or file, the rows of a SELECT, or without a name the last SELECT."""
    if is_select(rest, session.workspace.dialect):
        target = session.workspace.query(rest)
    elif rest:
        target = session.workspace.target(rest)
    elif session.selected is None:
        raise UsageError("Name a table or file: \\use patients. Without a name it is the last SELECT; there is none.")
    else:
        target = session.selected
    relation = session.workspace.describe(target)
    session.change(replace(session.state, target=target))
    session.screen.note(f"the commands act on {relation.label} now ({plural(len(relation.columns), 'column')}).")


def is_select(text: str, dialect: str) -> bool:
    """Whether a text is meant as a query, and not as a name."""
    words = [token.text.upper() for token in tokens_of(text, dialect) or ()]
    return words[:1] in (["SELECT"], ["WITH"], ["("]) or (words[:1] == ["FROM"] and len(words) > 1)


def look(session: Session, rest: str) -> None:
    """Look at the columns and propose roles."""
    _no_more(rest, "\\profile")
    result = sqlaudit.profile(session.target(), db=session.engine, show_values=session.show_values)
    session.show(Reported(lambda: profile_document(result), result.to_dict))


def refresh(session: Session, rest: str) -> None:
    """Connect again, to see the data as they are now."""
    _no_more(rest, "\\refresh")
    session.workspace.refresh()
    session.supposed = None
    session.screen.note("connected again; tables are as they are now.")


def _no_more(rest: str, command: str) -> None:
    if rest:
        raise UsageError(f"{command} takes nothing more.")


DATA = (
    Command("d", "[NAME]", "tables and files; with a name its columns", describe, "tables"),
    Command("use", "[NAME|SELECT]", "act on this table, file or SELECT; alone: on the last SELECT", use, "tables"),
    Command("profile", "", "look at the columns, and propose roles", look),
    Command("refresh", "", "connect again, and see the data as they are now", refresh),
)


# `\values`, `\limit`, `\timing`, `\?`, `\q`: the console itself.


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
    lead = Paragraph(
        "SELECT … ; shows rows.  AUDIT relation BY (columns) SENSITIVE columns REQUIRE k >= 5 ; audits.  AGGREGATES "
        "relation BY (columns) COUNT column REQUIRE threshold >= 5 ; judges the cells of a published table.  Nothing "
        "that is typed here can change data."
    )
    words = Paragraph(f"The words of reports are explained in {PAGE}.")
    heads = (Column("command"), Column("what it does"))
    parts = tuple(
        Section(title, (Table(heads, tuple((f"\\{one.name} {one.arguments}".strip(), one.help) for one in group)),))
        for title, group in session.groups.items()
    )
    data = {
        "commands": [
            {"name": one.name, "arguments": one.arguments, "help": one.help} for one in session.commands.values()
        ]
    }
    session.screen.report(Reported(lambda: Document("The console", (lead, words), parts), lambda: data))


def leave(session: Session, _rest: str) -> None:
    """Leave the console."""
    session.left = True


def _switch(rest: str, now: bool, command: str) -> bool:
    """On or off; without a word the other one."""
    if rest.casefold() not in ("", "on", "off"):
        raise UsageError(f"{command} takes on or off.")
    return not now if not rest else rest.casefold() == "on"


SESSION = (
    Command("values", "[on|off]", "show values of classes, which may name persons", values, "switch"),
    Command("limit", "[N|all]", "how many rows of a SELECT are shown", limit),
    Command("timing", "[on|off]", "say how long each step took", timing, "switch"),
    Command("?", "", "this list", show_help),
    Command("q", "", "leave; so does Ctrl-D", leave),
)


# `\replace`, `\grow`: what if classes were others, or rows came? Maximum disclosure before and after.

_WITH = re.compile(r"(?P<gone>.*?)\s*(?:\bwith\b(?P<come>.*))?", re.IGNORECASE | re.DOTALL)


def replace_classes(session: Session, rest: str) -> None:
    """Classes gone, and others there instead."""
    if not rest.strip():
        session.supposed = None
        session.screen.note("the classes are those of the relation again.")
        return
    found = _WITH.fullmatch(rest.strip())
    assert found is not None
    gone, come = (counts_of(found[side] or "", "\\replace") for side in ("gone", "come"))
    if not gone and not come:
        raise UsageError("Name the classes that go and those that come: \\replace 2 2 1, 2 1 1 with 4 3 2.")
    supposed = supposed_of(session)
    _show(session, supposed.changed(_said(len(gone), len(come)), gone, come))


def _said(gone: int, come: int) -> str:
    said = [f"without {_classes(gone)}"] if gone else []
    said += [f"with {_classes(come)} {'instead' if gone else 'more'}"] if come else []
    return ", ".join(said)


def _classes(number: int) -> str:
    return plural(number, "class", "classes")


def grow(session: Session, rest: str) -> None:
    """The rows of another table come to the relation."""
    from sqlaudit.audits.disclosure.what_if import grown_classes

    if not rest.strip():
        raise UsageError("Name the table whose rows come: \\grow march.csv.")
    further = session.workspace.target(rest.strip())
    supposed: Supposed = supposed_of(session)
    found = grown_classes(session.engine, [*supposed.tables, further], session.state.roles)
    said = f"with {plural(found.rows, 'row')} more, in {_classes(len(found.come))}"
    changed = supposed.changed(said, found.gone, found.come)
    supposed.tables.append(further)
    _show(session, changed)


def _show(session: Session, changed: ChangedClasses) -> None:
    session.screen.report(Reported(lambda: changed_classes_document(changed), changed.to_dict))


CLASSES = (
    Command(
        "replace", "[CLASSES] [with CLASSES]", "disclosure if classes were others: 2 2 1 with 4 2", replace_classes
    ),
    Command("grow", "TABLE", "disclosure if the rows of a table came", grow, "tables"),
)
