"""Commands about the data, about the console itself, and about classes that were others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.result import Documented
from sqlaudit.base.spec import Target
from sqlaudit.cli.console.screen import Reported
from sqlaudit.cli.console.session import Command, Session
from sqlaudit.cli.console.statements import tokens_of
from sqlaudit.models.disclosure.exact import DisclosurePoint
from sqlaudit.reports.document import Column, Document, Paragraph, Section, Table, Toned, Words, figure, plural, section
from sqlaudit.reports.glossary import PAGE

if TYPE_CHECKING:
    from sqlaudit.models.disclosure.index import DisclosureIndex

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
        else "Names of other schemas also work."
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
        raise UsageError("There is no last SELECT to use. Name a table or file: \\use patients.")
    else:
        target = session.selected
    relation = session.workspace.describe(target)
    session.change(replace(session.state, target=target))
    session.screen.note(f"the current relation is {relation.label} ({plural(len(relation.columns), 'column')}).")


def is_select(text: str, dialect: str) -> bool:
    """Whether a text is meant as a query, and not as a name."""
    words = [token.text.upper() for token in tokens_of(text, dialect) or ()]
    return words[:1] in (["SELECT"], ["WITH"], ["("]) or (words[:1] == ["FROM"] and len(words) > 1)


def look(session: Session, rest: str) -> None:
    """Look at the columns and propose roles."""
    _no_more(rest, "\\profile")
    session.show(sqlaudit.profile(session.target(), db=session.engine, show_values=session.show_values))


def refresh(session: Session, rest: str) -> None:
    """Connect again, to see the data as they are now."""
    _no_more(rest, "\\refresh")
    session.workspace.refresh()
    session.supposed = None
    session.screen.note("reconnected: tables show their current data.")


def _no_more(rest: str, command: str) -> None:
    if rest:
        raise UsageError(f"{command} takes no further arguments.")


DATA = (
    Command("d", "[NAME]", "list tables and files; with a name, its columns", describe, "tables"),
    Command("use", "[NAME|SELECT]", "select a table, file or SELECT; without a name, the last SELECT", use, "tables"),
    Command("profile", "", "describe the columns and propose roles", look),
    Command("refresh", "", "reconnect to see the current data", refresh),
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
        "relation BY (columns) COUNT column REQUIRE threshold >= 5 ; checks the cells of a published table.  No "
        "statement can change data."
    )
    words = Paragraph(f"`{PAGE}` explains the terms of reports.")
    heads = (Column("Command"), Column("Effect"))
    parts = tuple(
        Section(title, (Table(heads, tuple((f"\\{one.name} {one.arguments}".strip(), one.help) for one in group)),))
        for title, group in session.groups.items()
    )
    data = {
        "commands": [
            {"name": one.name, "arguments": one.arguments, "help": one.help} for one in session.commands.values()
        ]
    }
    session.screen.report(Reported(lambda: Document("Console", (lead, words), parts), lambda: data))


def leave(session: Session, _rest: str) -> None:
    """Leave the console."""
    session.left = True


def _switch(rest: str, now: bool, command: str) -> bool:
    """On or off; without a word the other one."""
    if rest.casefold() not in ("", "on", "off"):
        raise UsageError(f"{command} takes on or off.")
    return not now if not rest else rest.casefold() == "on"


SESSION = (
    Command("values", "[on|off]", "show values of classes, which may identify people", values, "switch"),
    Command("limit", "[N|all]", "set how many rows of a SELECT are shown", limit),
    Command("timing", "[on|off]", "print how long each step took", timing, "switch"),
    Command("?", "", "print this list", show_help),
    Command("q", "", "exit, also with Ctrl-D", leave),
)


# `\replace`, `\grow`: what worst-case disclosure would be if classes of the relation were others, or rows came.
#
# Nothing is read again for it: the classes that matter are kept in an index, which takes out what is gone and puts in
# what has come (Martin et al., Worst-Case Background Knowledge, ICDE 2007, end of 3.3.3).

Counts = tuple[tuple[int, ...], ...]
_LONGEST = 13
"""Longer fractions are not told beside their decimals."""


@dataclass(frozen=True)
class ChangedClasses(Documented):
    """The curve before and after a change of classes; `change` says it in a few words."""

    change: str
    sensitive: str
    before: tuple[DisclosurePoint, ...]
    after: tuple[DisclosurePoint, ...]


@dataclass
class Supposed:
    """The classes of a relation as they are supposed to be by now.

    Args:
        of: what they were read for: relation, roles and pieces of knowledge. sensitive: the attribute.
        index: the classes. tables: the relation, and those whose rows have come.
    """

    of: object
    sensitive: str
    index: DisclosureIndex
    tables: list[Target]

    def changed(self, change: str, gone: Counts, come: Counts) -> ChangedClasses:
        """The curve before and after some classes are gone and others have come.

        Raises:
            UsageError: a class is to go that is not there; then nothing has changed.
        """
        before = self.index.curve.points
        try:
            self.index.replace(gone, come)
        except UsageError:
            raise UsageError(
                "Some of these classes do not exist. Nothing was changed. Write a class as the counts of its values, "
                "for example 2 2 1: two values twice and one once."
            ) from None
        try:
            after = self.index.curve.points
        except UsageError:  # no class is left
            self.index.replace(come, gone)
            raise UsageError("No class is left. Nothing was changed.") from None
        return ChangedClasses(change, self.sensitive, before, after)


def _supposed(session: Session) -> Supposed:
    """The classes as they are supposed by now; those of the relation after anything else of it was changed.

    Raises:
        UsageError: no roles, or not one sensitive attribute.
        EngineError: the database refused or failed.
    """
    from sqlaudit.audits.disclosure.request import DisclosureRequest, Pieces
    from sqlaudit.audits.disclosure.run import find_disclosure

    roles, target = session.require_roles(), session.target()
    if len(roles.sensitive) != 1:
        raise UsageError("Exactly one sensitive column is needed. Name it: \\sensitive disease.")
    of = (target, roles, session.pieces)
    supposed = session.supposed
    if not isinstance(supposed, Supposed) or supposed.of != of:
        request = DisclosureRequest(target, roles, Pieces(0, session.pieces), weakest=0)
        found = find_disclosure(session.engine, request).attributes[0].disclosure
        supposed = session.supposed = Supposed(of, found.sensitive, found.index(), [target])
    return supposed


def changed_classes_document(changed: ChangedClasses) -> Document:
    """The curve before and after, side by side."""
    heads = (Column("k", True), Column("before", True), Column("after", True), Column("exactly"))
    rows: list[tuple[Words, ...]] = []
    for one, two in zip(changed.before, changed.after, strict=True):
        after: Words = figure(two.maximum)
        if one.maximum != two.maximum:
            after = Toned(figure(two.maximum), "bad" if two.maximum > one.maximum else "good")
        exactly = str(two.maximum) if len(str(two.maximum)) <= _LONGEST else ""
        rows.append((str(one.k), figure(one.maximum), after, exactly))
    return Document(
        Toned(f"What if: {changed.change}"),
        (Paragraph("\\replace without arguments goes back to the classes of the relation."),),
        section(f"Maximum disclosure of {changed.sensitive}", Table(heads, tuple(rows))),
    )


def _counts(text: str, command: str) -> Counts:
    """Classes as they are typed: `2 2 1, 2 1 1 1`.

    Raises:
        UsageError: something else than whole numbers from 1.
    """
    found = []
    for written in filter(None, (part.strip() for part in text.split(","))):
        words: Sequence[str] = written.split()
        if not all(word.isascii() and word.isdecimal() and len(word) < 13 and int(word) for word in words):
            raise UsageError(
                f"{command} takes classes by the counts of their values: {command} 2 2 1, 2 1 1 with 4 3 2."
            )
        found.append(tuple(map(int, words)))
    return tuple(found)


_WITH = re.compile(r"(?P<gone>.*?)\s*(?:\bwith\b(?P<come>.*))?", re.IGNORECASE | re.DOTALL)


def replace_classes(session: Session, rest: str) -> None:
    """Classes gone, and others there instead."""
    if not rest.strip():
        session.supposed = None
        session.screen.note("reset to the classes of the relation.")
        return
    found = _WITH.fullmatch(rest.strip())
    assert found is not None
    gone, come = (_counts(found[side] or "", "\\replace") for side in ("gone", "come"))
    if not gone and not come:
        raise UsageError("Name the classes to remove and to add: \\replace 2 2 1, 2 1 1 with 4 3 2.")
    said = [f"without {plural(len(gone), 'class', 'classes')}"] if gone else []
    if come:
        said.append(f"with {plural(len(come), 'class', 'classes')} {'instead' if gone else 'more'}")
    _show(session, _supposed(session).changed(", ".join(said), gone, come))


def grow(session: Session, rest: str) -> None:
    """The rows of another table come to the relation."""
    from sqlaudit.audits.disclosure.what_if import grown_classes

    if not rest.strip():
        raise UsageError("Name the table with the new rows: \\grow march.csv.")
    further = session.workspace.target(rest.strip())
    supposed = _supposed(session)
    found = grown_classes(session.engine, [*supposed.tables, further], session.state.roles)
    said = f"with {plural(found.rows, 'more row')}, in {plural(len(found.come), 'class', 'classes')}"
    changed = supposed.changed(said, found.gone, found.come)
    supposed.tables.append(further)
    _show(session, changed)


def _show(session: Session, changed: ChangedClasses) -> None:
    session.screen.report(Reported(lambda: changed_classes_document(changed), changed.to_dict))


CLASSES = (
    Command(
        "replace", "[CLASSES] [with CLASSES]", "measure disclosure with other classes: 2 2 1 with 4 2", replace_classes
    ),
    Command("grow", "TABLE", "measure disclosure with the rows of a further table", grow, "tables"),
)
