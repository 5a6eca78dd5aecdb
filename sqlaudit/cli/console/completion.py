"""Completion at the prompt: commands and their arguments, keywords, tables, columns and files."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from sqlaudit.base.errors import SqlauditError
from sqlaudit.base.names import quote
from sqlaudit.cli.console.commands.roles import PARTS
from sqlaudit.cli.console.grammar import CLAUSES
from sqlaudit.cli.console.session import Session
from sqlaudit.cli.console.statements import pending
from sqlaudit.gates.standalone.names import DIALECTS
from sqlaudit.models.registry import CELL_RULES, REGISTRY

_KEYWORDS = """
    ALL AND AS ASC AUDIT AVG BETWEEN BY CASE CAST COALESCE COUNT CROSS DESC DISTINCT ELSE END
    ENTITY EXCEPT EXISTS EXPLAIN FALSE FROM FULL GROUP HAVING IN INNER INTERSECT IS JOIN LEFT
    LIKE LIMIT MAX MIN NOT NULL OFFSET ON OR ORDER OVER PARTITION REQUIRE RIGHT SELECT SENSITIVE
    SUM THEN TRUE UNION USING VALUES WHEN WHERE WITH
"""
KEYWORDS = tuple(_KEYWORDS.split())
_WORD = re.compile(r'[\w."]*$')
_WORD_BEFORE = re.compile(r"(\w+)\s+$")
_PATH = re.compile(r"'([^']*)$")
_BEFORE_A_TABLE = ("FROM", "JOIN", "AUDIT", "AGGREGATES")


class ConsoleCompleter(Completer):
    """A completer for the prompt of a session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._paths = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Return what can stand at the cursor, as far as the catalog shows."""
        for _ in range(2):  # the cancellation of an earlier statement can hit the catalog's query instead
            with contextlib.suppress(SqlauditError):
                return list(self._completions(document, complete_event))
        return []

    def _completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        """Return the completions of what is typed: a command, a path in quotes, a table, or a word of a statement."""
        piece = pending(document.text_before_cursor, self._session.workspace.dialect)
        if piece.startswith("\\"):
            yield from self._after_command(piece, complete_event)
            return
        path = _PATH.search(piece)
        if path is not None and piece.count("'") % 2:
            yield from self._paths.get_completions(Document(path[1]), complete_event)
            return
        word = _match_text(_WORD, piece)
        before = _WORD_BEFORE.search(piece[: len(piece) - len(word)])
        if before is not None and before[1].upper() in _BEFORE_A_TABLE:
            yield from _matching_names(word, self._tables())
        elif "." in word:
            yield from self._columns_of_table(word)
        else:
            models = _requirable_models(piece)
            yield from _matching_names(word, [*models, *self._columns(piece), *self._tables()])
            yield from _matching_keywords(word, _aggregates_words(piece))

    def _after_command(self, piece: str, event: CompleteEvent) -> Iterator[Completion]:
        """Return the completions of a command's name, or of its arguments."""
        name, blank, rest = piece[1:].partition(" ")
        if not blank:
            for command in self._session.commands.values():
                if command.name.startswith(name):
                    yield Completion("\\" + command.name, -len(piece), display_meta=command.help)
            return
        completes = self._session.commands[name].completes if name in self._session.commands else ""
        word = _match_text(re.compile(r"\S*$"), rest)
        if completes in ("files", "tables") and word.startswith("'"):
            yield from self._paths.get_completions(Document(word[1:]), event)
            return
        yield from _matching_names(word, self._arguments(completes, rest))
        if completes == "files" or (completes == "tables" and self._session.workspace.engine.reads_files):
            yield from self._paths.get_completions(Document(word), event)

    def _arguments(self, completes: str, rest: str) -> list[str]:
        """Return the words that can follow a command."""
        first = not rest.strip() or (len(rest.split()) == 1 and not rest.endswith(" "))
        choices: dict[str, Callable[[], list[str]]] = {
            "columns": lambda: [*self._columns(""), "none"],
            "qi": self._quasi_identifiers,
            "generalize": lambda: self._quasi_identifiers() if first else list(PARTS),
            "tables": self._tables,
            "models": lambda: [*_model_names(), "none"],
            "dialects": lambda: list(DIALECTS) if first else self._tables(),
            "switch": lambda: ["on", "off"],
            "below": lambda: ["below"],
        }
        return choices[completes]() if completes in choices else []

    def _quasi_identifiers(self) -> list[str]:
        return [self._quoted(name) for name in self._session.state.roles.quasi_identifiers]

    def _tables(self) -> list[str]:
        tables = self._session.workspace.tables()
        mark = quote("", self._session.workspace.dialect)[0]
        return [name.replace('"', mark) for name in tables]

    def _columns(self, piece: str) -> list[str]:
        """Return the columns of the tables that the statement names, else of the current relation, else of all."""
        columns_of_table = self._session.workspace.columns()
        named = [table for table in columns_of_table if _reads_table(table, piece)]
        tables = (
            named or [table for table in columns_of_table if table == self._session.called()] or list(columns_of_table)
        )
        return list(dict.fromkeys(self._quoted(column) for table in tables for column in columns_of_table[table]))

    def _columns_of_table(self, word: str) -> Iterator[Completion]:
        table, _, prefix = word.rpartition(".")
        columns_of_table = self._session.workspace.columns()
        columns = columns_of_table.get(table.rpartition(".")[2].strip('"`'), [])
        yield from _matching_names(prefix, [self._quoted(column) for column in columns])
        yield from _matching_names(word, self._tables())

    def _quoted(self, name: str) -> str:
        """Return a name as SQL has it, in quotes if it needs them."""
        engine = self._session.workspace.engine
        plain = re.fullmatch(engine.plain_name, name) is not None
        return name if plain and name.upper() not in KEYWORDS else quote(name, engine.dialect)


def _reads_table(table: str, piece: str) -> bool:
    """Return True if a statement reads a table. Its name elsewhere can be an alias or a function."""
    before = r"(?:[\w.\"`]+(?:\s+\w+)?\s*,\s*)*"  # other tables of FROM, with their aliases
    named = rf"\b(?:FROM|JOIN|AUDIT|AGGREGATES)\s+{before}(?:[\w\"`]+\.)?[\"`]?{re.escape(table)}\b"
    return re.search(named, piece, re.IGNORECASE) is not None


def _matching_names(word: str, names: Iterable[str]) -> Iterator[Completion]:
    """Return the names that begin like the word. A table also matches without its schema."""
    prefix = word.strip('"').casefold()
    for name in dict.fromkeys(names):
        folded = name.casefold()
        if any(part.strip('"').startswith(prefix) for part in (folded, folded.rpartition(".")[2])):
            yield Completion(name, -len(word))


def _matching_keywords(word: str, further: Iterable[str]) -> Iterator[Completion]:
    if not word:
        return
    for keyword in dict.fromkeys((*KEYWORDS, *further)):
        if keyword.startswith(word.upper()):
            yield Completion(keyword.lower() if word.islower() else keyword, -len(word))


def _is_about_cells(piece: str) -> bool:
    return piece.upper().split()[:1] == ["AGGREGATES"]


def _aggregates_words(piece: str) -> tuple[str, ...]:
    """Return the words of AGGREGATES statements, which would be in the way in a SELECT."""
    if len(piece.split()) < 2:
        return ("AGGREGATES",)
    return CLAUSES if _is_about_cells(piece) else ()


def _requirable_models(piece: str) -> list[str]:
    """Return the names that can follow REQUIRE: models of classes, or rules for cells."""
    if "REQUIRE" not in piece.upper().split():
        return []
    return list(CELL_RULES) if _is_about_cells(piece) else _model_names()


def _model_names() -> list[str]:
    return [short for model in REGISTRY.values() for short in (model.short_forms or (model.name,))[:1]]


def _match_text(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[0] if match else ""
