"""A console without a terminal: what it shows and says is kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlaudit.cli.console.commands import GROUPS
from sqlaudit.cli.console.screen import Screen, Terminal
from sqlaudit.cli.console.session import Session
from sqlaudit.cli.console.statements import split
from sqlaudit.cli.console.workspace import Workspace

PEOPLE = [
    (34, "f", "130-53", "flu"),
    (36, "f", "130-53", "flu"),
    (37, "m", "130-68", "cold"),
    (38, "m", "130-68", "flu"),
    (51, "f", "148-50", "ulcer"),
    (52, "f", "148-50", "ulcer"),
    (58, "m", "148-53", "cold"),
    (59, "m", None, "ulcer"),
]
COLUMNS = ["age", "sex", "zip", "disease"]


@dataclass
class Console:
    """A session with all that it showed and said so far."""

    session: Session
    shown: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def run(self, text: str) -> str:
        """Run a script, and return what it showed."""
        self.shown.clear()
        for piece in split(text, self.session.workspace.dialect):
            self.session.run(piece)
        return "".join(self.shown)

    def words(self, text: str) -> str:
        """The same as one line of words."""
        return " ".join(self.run(text).split())


def console(workspace: Workspace, layout: str = "table", **options: Any) -> Console:
    """A console over a workspace."""
    shown: list[str] = []
    said: list[str] = []
    screen = Screen(Terminal(shown.append, said.append), layout)
    return Console(Session(workspace, screen, GROUPS, **options), shown, said)


def people_csv(folder: Path) -> Path:
    """The people as a file."""
    lines = [",".join("" if value is None else str(value) for value in row) for row in PEOPLE]
    path = folder / "people.csv"
    path.write_text("\n".join([",".join(COLUMNS), *lines]) + "\n", encoding="utf-8")
    return path
