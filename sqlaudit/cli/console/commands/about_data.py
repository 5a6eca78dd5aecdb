"""`\\d`, `\\use`, `\\profile`, `\\refresh`: what there is, and what the other commands act on."""

from __future__ import annotations

from dataclasses import replace

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.cli.console.screen import Reported
from sqlaudit.cli.console.session import Command, Session
from sqlaudit.cli.console.splitting import tokens_of
from sqlaudit.profiles.report import profile_document
from sqlaudit.reports.blocks import Column, Paragraph, Table
from sqlaudit.reports.document import Document
from sqlaudit.reports.figures import plural


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


COMMANDS = (
    Command("d", "[NAME]", "tables and files; with a name its columns", describe, "tables"),
    Command("use", "[NAME|SELECT]", "act on this table, file or SELECT; alone: on the last SELECT", use, "tables"),
    Command("profile", "", "look at the columns, and propose roles", look),
    Command("refresh", "", "connect again, and see the data as they are now", refresh),
)
