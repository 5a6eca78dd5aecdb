"""`\\replace`, `\\grow`: what if classes were others, or rows came? Maximum disclosure before and after."""

from __future__ import annotations

import re

from sqlaudit.base.errors import UsageError
from sqlaudit.cli.console.screen import Reported
from sqlaudit.cli.console.session import Command, Session
from sqlaudit.cli.console.supposed import ChangedClasses, Supposed, changed_classes_document, counts_of, supposed_of
from sqlaudit.reports.figures import plural

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
    from sqlaudit.audits.disclosure.grown import grown_classes

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


COMMANDS = (
    Command(
        "replace", "[CLASSES] [with CLASSES]", "disclosure if classes were others: 2 2 1 with 4 2", replace_classes
    ),
    Command("grow", "TABLE", "disclosure if the rows of a table came", grow, "tables"),
)
