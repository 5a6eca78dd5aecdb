"""Commands about the data, about the console itself, and about replaced classes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.result import Documented
from sqlaudit.base.spec import Target
from sqlaudit.cli.console.screen import ScreenReport
from sqlaudit.cli.console.session import ConsoleCommand, Session
from sqlaudit.cli.console.statements import tokens_of
from sqlaudit.models.disclosure.exact import DisclosurePoint
from sqlaudit.reports.document import Column, Document, Paragraph, Section, Table, Toned, Words, figure, plural, section
from sqlaudit.reports.glossary import PAGE

if TYPE_CHECKING:
    from sqlaudit.models.disclosure.index import DisclosureIndex

# `\d`, `\use`, `\profile`, `\refresh`: list tables, and select the relation that other commands act on.


def describe(session: Session, rest: str) -> None:
    """List tables and files; with a name, its columns."""
    if rest:
        _show_columns(session, rest)
        return
    tables = session.workspace.tables()
    lead = Paragraph(
        "A file can be named by its path in single quotes."
        if session.workspace.engine.reads_files
        else "Names of other schemas also work."
    )
    names = Table((Column("name"),), tuple((name,) for name in tables))
    document = Document(plural(len(tables), "table or file", "tables and files"), (names,) if tables else (lead,))
    session.screen.report(ScreenReport(lambda: document, lambda: {"tables": tables}))


def _show_columns(session: Session, name: str) -> None:
    relation = session.workspace.describe(session.workspace.target(name))
    rows = tuple((column.name, column.type) for column in relation.columns)
    document = Document(
        f"{relation.label}: {plural(len(rows), 'column')}", (Table((Column("column"), Column("type")), rows),)
    )
    record = {"table": relation.label, "columns": [{"name": name, "type": column_type} for name, column_type in rows]}
    session.screen.report(ScreenReport(lambda: document, lambda: record))


def use(session: Session, rest: str) -> None:
    """Select the relation that commands act on: a table or file, a SELECT, or without a name the last SELECT."""
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
    """Return True if a text is a query, not a name."""
    words = [token.text.upper() for token in tokens_of(text, dialect) or ()]
    return words[:1] in (["SELECT"], ["WITH"], ["("]) or (words[:1] == ["FROM"] and len(words) > 1)


def propose_roles(session: Session, rest: str) -> None:
    """Describe the columns and propose roles."""
    _refuse_arguments(rest, "\\profile")
    session.show(sqlaudit.profile(session.target(), db=session.engine, show_values=session.show_values))


def refresh(session: Session, rest: str) -> None:
    """Connect again, to see the current data."""
    _refuse_arguments(rest, "\\refresh")
    session.workspace.refresh()
    session.supposed = None
    session.screen.note("reconnected: tables show their current data.")


def _refuse_arguments(rest: str, command: str) -> None:
    """Raise UsageError if anything follows a command that takes no arguments."""
    if rest:
        raise UsageError(f"{command} takes no further arguments.")


DATA = (
    ConsoleCommand("d", "[NAME]", "list tables and files; with a name, its columns", describe, "tables"),
    ConsoleCommand(
        "use", "[NAME|SELECT]", "select a table, file or SELECT; without a name, the last SELECT", use, "tables"
    ),
    ConsoleCommand("profile", "", "describe the columns and propose roles", propose_roles),
    ConsoleCommand("refresh", "", "reconnect to see the current data", refresh),
)


# `\values`, `\limit`, `\timing`, `\?`, `\q`: the console itself.


def switch_values(session: Session, rest: str) -> None:
    """Set whether values of classes are shown, which may identify people."""
    session.show_values = _switch(rest, session.show_values, "\\values")
    session.screen.note(f"values of classes are {'shown' if session.show_values else 'hidden'}.")


def switch_timing(session: Session, rest: str) -> None:
    """Set whether the time of each step is printed."""
    session.timing = _switch(rest, session.timing, "\\timing")
    session.screen.note(f"timing is {'on' if session.timing else 'off'}.")


def set_row_limit(session: Session, rest: str) -> None:
    """Set how many rows of a SELECT are shown."""
    if rest.casefold() == "all":
        session.screen.limit = None
    elif rest.isascii() and rest.isdecimal() and int(rest) > 0:
        session.screen.limit = int(rest)
    elif rest:
        raise UsageError("\\limit takes a number of rows, or all.")
    row_count = "all rows" if session.screen.limit is None else f"the first {plural(session.screen.limit, 'row')}"
    session.screen.note(f"a SELECT shows {row_count}.")


def show_help(session: Session, _rest: str) -> None:
    """List all commands."""
    introduction = Paragraph(
        "SELECT … ; shows rows.  AUDIT relation BY (columns) SENSITIVE columns REQUIRE k >= 5 ; audits.  AGGREGATES "
        "relation BY (columns) COUNT column REQUIRE threshold >= 5 ; checks the cells of a published table.  No "
        "statement can change data."
    )
    glossary = Paragraph(f"`{PAGE}` explains the terms of reports.")
    heads = (Column("ConsoleCommand"), Column("Effect"))
    sections = []
    for title, group in session.groups.items():
        rows = tuple((f"\\{command.name} {command.arguments}".strip(), command.help) for command in group)
        sections.append(Section(title, (Table(heads, rows),)))
    commands = {
        "commands": [
            {"name": command.name, "arguments": command.arguments, "help": command.help}
            for command in session.commands.values()
        ]
    }
    session.screen.report(
        ScreenReport(lambda: Document("Console", (introduction, glossary), tuple(sections)), lambda: commands)
    )


def leave(session: Session, _rest: str) -> None:
    """Leave the console."""
    session.left = True


def _switch(rest: str, is_on: bool, command: str) -> bool:
    """Return the new state of a switch: on or off, without a word the opposite."""
    if rest.casefold() not in ("", "on", "off"):
        raise UsageError(f"{command} takes on or off.")
    return not is_on if not rest else rest.casefold() == "on"


SESSION = (
    ConsoleCommand("values", "[on|off]", "show values of classes, which may identify people", switch_values, "switch"),
    ConsoleCommand("limit", "[N|all]", "set how many rows of a SELECT are shown", set_row_limit),
    ConsoleCommand("timing", "[on|off]", "print how long each step took", switch_timing, "switch"),
    ConsoleCommand("?", "", "print this list", show_help),
    ConsoleCommand("q", "", "exit, also with Ctrl-D", leave),
)


# `\replace`, `\grow`: worst-case disclosure with other classes, or with further rows.
#
# The data are not read again: an index holds the classes that matter, from which classes are removed and to which
# classes are added (Martin et al., Worst-Case Background Knowledge, ICDE 2007, end of 3.3.3).

Counts = tuple[tuple[int, ...], ...]
_LONGEST_FRACTION = 13
"""Longer fractions, in characters, are shown as decimals only."""


@dataclass(frozen=True)
class ChangedClasses(Documented):
    """The curve before and after a change of classes; `change` says it in a few words."""

    change: str
    sensitive: str
    before: tuple[DisclosurePoint, ...]
    after: tuple[DisclosurePoint, ...]


@dataclass
class SupposedClasses:
    """The classes of a relation after `\\replace` and `\\grow`.

    Args:
        of: relation, roles and pieces of knowledge for which they were read.
        sensitive: the attribute.
        index: the classes.
        tables: the relation, and the tables whose rows were added.
    """

    of: object
    sensitive: str
    index: DisclosureIndex
    tables: list[Target]

    def changed(self, change: str, gone: Counts, come: Counts) -> ChangedClasses:
        """Remove and add classes, and return the curve before and after.

        Raises:
            UsageError: a class to remove does not exist, or none is left. Then nothing has changed.
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


def _supposed_classes(session: Session) -> SupposedClasses:
    """Return the changed classes, or those of the relation if roles or relation have changed since.

    Raises:
        UsageError: no roles, or not one sensitive attribute.
        EngineError: the database refused or failed.
    """
    from sqlaudit.audits.disclosure.request import DisclosureRequest, Pieces
    from sqlaudit.audits.disclosure.run import find_disclosure

    roles, target = session.require_roles(), session.target()
    if len(roles.sensitive) != 1:
        raise UsageError("Exactly one sensitive column is needed. Name it: \\sensitive disease.")
    read_for = (target, roles, session.pieces)
    supposed = session.supposed
    if not isinstance(supposed, SupposedClasses) or supposed.of != read_for:
        request = DisclosureRequest(target, roles, Pieces(0, session.pieces), weakest=0)
        curve = find_disclosure(session.engine, request).attributes[0].disclosure
        supposed = session.supposed = SupposedClasses(read_for, curve.sensitive, curve.index(), [target])
    return supposed


def changed_classes_document(changed: ChangedClasses) -> Document:
    """Show the curve before and after a change."""
    heads = (Column("k", True), Column("before", True), Column("after", True), Column("exactly"))
    rows: list[tuple[Words, ...]] = []
    for before, after in zip(changed.before, changed.after, strict=True):
        after_words: Words = figure(after.maximum)
        if before.maximum != after.maximum:
            after_words = Toned(figure(after.maximum), "bad" if after.maximum > before.maximum else "good")
        fraction = str(after.maximum) if len(str(after.maximum)) <= _LONGEST_FRACTION else ""
        rows.append((str(before.k), figure(before.maximum), after_words, fraction))
    return Document(
        Toned(f"What if: {changed.change}"),
        (Paragraph("\\replace without arguments goes back to the classes of the relation."),),
        section(f"Maximum disclosure of {changed.sensitive}", Table(heads, tuple(rows))),
    )


def _read_counts(text: str, command: str) -> Counts:
    """Return classes as they are typed: `2 2 1, 2 1 1 1`.

    Raises:
        UsageError: a count is no whole number from 1.
    """
    counts = []
    for class_text in filter(None, (part.strip() for part in text.split(","))):
        words: Sequence[str] = class_text.split()
        if not all(word.isascii() and word.isdecimal() and len(word) < 13 and int(word) for word in words):
            raise UsageError(
                f"{command} takes classes by the counts of their values: {command} 2 2 1, 2 1 1 with 4 3 2."
            )
        counts.append(tuple(map(int, words)))
    return tuple(counts)


_REPLACEMENT = re.compile(r"(?P<gone>.*?)\s*(?:\bwith\b(?P<come>.*))?", re.IGNORECASE | re.DOTALL)


def replace_classes(session: Session, rest: str) -> None:
    """Show the disclosure if some classes were removed and others added."""
    if not rest.strip():
        session.supposed = None
        session.screen.note("reset to the classes of the relation.")
        return
    match = _REPLACEMENT.fullmatch(rest.strip())
    assert match is not None
    gone, come = (_read_counts(match[side] or "", "\\replace") for side in ("gone", "come"))
    if not gone and not come:
        raise UsageError("Name the classes to remove and to add: \\replace 2 2 1, 2 1 1 with 4 3 2.")
    changes = [f"without {plural(len(gone), 'class', 'classes')}"] if gone else []
    if come:
        changes.append(f"with {plural(len(come), 'class', 'classes')} {'instead' if gone else 'more'}")
    _show_change(session, _supposed_classes(session).changed(", ".join(changes), gone, come))


def grow(session: Session, rest: str) -> None:
    """Show the disclosure if the rows of another table were added to the relation."""
    from sqlaudit.audits.disclosure.what_if import grown_classes

    if not rest.strip():
        raise UsageError("Name the table with the new rows: \\grow march.csv.")
    further = session.workspace.target(rest.strip())
    supposed = _supposed_classes(session)
    growth = grown_classes(session.engine, [*supposed.tables, further], session.state.roles)
    change = f"with {plural(growth.rows, 'more row')}, in {plural(len(growth.come), 'class', 'classes')}"
    changed = supposed.changed(change, growth.gone, growth.come)
    supposed.tables.append(further)
    _show_change(session, changed)


def _show_change(session: Session, changed: ChangedClasses) -> None:
    session.screen.report(ScreenReport(lambda: changed_classes_document(changed), changed.to_dict))


CLASSES = (
    ConsoleCommand(
        "replace", "[CLASSES] [with CLASSES]", "measure disclosure with other classes: 2 2 1 with 4 2", replace_classes
    ),
    ConsoleCommand("grow", "TABLE", "measure disclosure with the rows of a further table", grow, "tables"),
)
