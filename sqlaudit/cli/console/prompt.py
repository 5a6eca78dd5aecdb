"""The prompt: a line editor with history, completion and highlighting. What was found never gets into the history."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.styles import Style
from pygments.lexers.sql import PostgresLexer
from pygments.token import Keyword, _TokenType

from sqlaudit.cli.console.completion import ConsoleCompleter
from sqlaudit.cli.console.session import Session
from sqlaudit.cli.console.splitting import is_complete
from sqlaudit.reports.escape import visible

HISTORY = "SQLAUDIT_HISTORY"
"""Names another file for the history; empty = none is kept."""
SPOKEN = {"exit": "\\q", "quit": "\\q", "help": "\\?"}
"""What people type who do not know the commands yet."""
_OWN_WORDS = ("AUDIT", "AGGREGATES", "SENSITIVE", "REQUIRE", "ENTITY")
_COLOURS = Style.from_dict(
    {
        "pygments.keyword": "ansiblue",
        "pygments.literal.string": "ansigreen",
        "pygments.literal.number": "ansimagenta",
        "pygments.comment": "ansibrightblack",
    }
)


class ConsoleLexer(PostgresLexer):  # type: ignore[misc]  # pygments has no types
    """SQL with the words of AUDIT, and commands."""

    def get_tokens_unprocessed(self, text: str, *args: object) -> Iterator[tuple[int, _TokenType, str]]:
        """Positions, kinds and texts."""
        if text.lstrip().startswith("\\"):
            end = len(text) - len(text.lstrip()) + len(text.split(None, 1)[0])
            yield 0, Keyword, text[:end]
            for at, kind, value in super().get_tokens_unprocessed(text[end:], *args):
                yield at + end, kind, value
            return
        for at, kind, value in super().get_tokens_unprocessed(text, *args):
            yield at, Keyword if value.upper() in _OWN_WORDS else kind, value


class Prompt:
    """Reads what somebody types.

    Args:
        session: what completion knows about. colour: whether colours may be used.
    """

    def __init__(self, session: Session, colour: bool = True) -> None:
        self._session = session
        self._editor: PromptSession[str] = PromptSession(
            history=history(),
            completer=ConsoleCompleter(session),
            complete_while_typing=False,
            multiline=True,
            key_bindings=self._keys(),
            lexer=PygmentsLexer(ConsoleLexer) if colour else None,
            style=_COLOURS,
            prompt_continuation=lambda width, line, wrapped: " " * max(0, width - 3) + "-> ",
            include_default_pygments_style=False,
        )

    def read(self) -> str:
        """The next statements or command.

        Raises:
            EOFError: Ctrl-D. KeyboardInterrupt: Ctrl-C, which drops the line.
        """
        typed = self._editor.prompt(f"{visible(self._session.called()) or 'sqlaudit'}=> ")
        return SPOKEN.get(typed.strip().casefold(), typed)

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("enter")
        def _(event: KeyPressEvent) -> None:
            """Run what is complete; else begin another line."""
            buffer = event.current_buffer
            if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
                buffer.complete_state = None
            elif buffer.text.strip().casefold() in SPOKEN or is_complete(buffer.text, self._session.workspace.dialect):
                buffer.validate_and_handle()
            else:
                buffer.insert_text("\n")

        return keys


def history() -> History:
    """The history of earlier sessions, in a file that nobody else can read; in memory where no file can be."""
    named = os.environ.get(HISTORY)
    if named == "":
        return InMemoryHistory()
    state = os.environ.get("XDG_STATE_HOME") or str(Path("~/.local/state").expanduser())
    path = Path(named) if named else Path(state, "sqlaudit", "console_history")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        path.chmod(0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))
