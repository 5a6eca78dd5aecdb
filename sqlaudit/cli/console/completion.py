"""What the tab key offers: commands and what can follow them, keywords, tables, columns, files."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from sqlaudit.base.errors import SqlauditError
from sqlaudit.base.names import quote
from sqlaudit.cli.console.commands.roles import PARTS
from sqlaudit.cli.console.session import Session
from sqlaudit.cli.console.statements import CLAUSES, pending
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
_BEFORE = re.compile(r"(\w+)\s+$")
_PATH = re.compile(r"'([^']*)$")
_NAMES_A_TABLE = ("FROM", "JOIN", "AUDIT", "AGGREGATES")


class ConsoleCompleter(Completer):
    """Completes what is typed at the prompt of a session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._paths = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """What can stand at the cursor, as far as the catalog says."""
        for _ in range(2):  # a cancelled statement's cancellation can reach the question to the catalog instead
            with contextlib.suppress(SqlauditError):
                return list(self._found(document, complete_event))
        return []

    def _found(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        piece = pending(document.text_before_cursor, self._session.workspace.dialect)
        if piece.startswith("\\"):
            yield from self._after_command(piece, complete_event)
            return
        path = _PATH.search(piece)
        if path is not None and piece.count("'") % 2:
            yield from self._paths.get_completions(Document(path[1]), complete_event)
            return
        word = _last(_WORD, piece)
        before = _BEFORE.search(piece[: len(piece) - len(word)])
        if before is not None and before[1].upper() in _NAMES_A_TABLE:
            yield from _fitting(word, self._tables())
        elif "." in word:
            yield from self._of_table(word)
        else:
            models = _required(piece)
            yield from _fitting(word, [*models, *self._columns(piece), *self._tables()])
            yield from _keywords(word, _clauses(piece))

    def _after_command(self, piece: str, event: CompleteEvent) -> Iterator[Completion]:
        name, blank, rest = piece[1:].partition(" ")
        if not blank:
            for command in self._session.commands.values():
                if command.name.startswith(name):
                    yield Completion("\\" + command.name, -len(piece), display_meta=command.help)
            return
        completes = self._session.commands[name].completes if name in self._session.commands else ""
        word = _last(re.compile(r"\S*$"), rest)
        if completes in ("files", "tables") and word.startswith("'"):
            yield from self._paths.get_completions(Document(word[1:]), event)
            return
        yield from _fitting(word, self._arguments(completes, rest))
        if completes == "files" or (completes == "tables" and self._session.workspace.engine.reads_files):
            yield from self._paths.get_completions(Document(word), event)

    def _arguments(self, completes: str, rest: str) -> list[str]:
        """What can follow a command."""
        first = not rest.strip() or (len(rest.split()) == 1 and not rest.endswith(" "))
        known: dict[str, Callable[[], list[str]]] = {
            "columns": lambda: [*self._columns(""), "none"],
            "qi": self._quasi_identifiers,
            "generalize": lambda: self._quasi_identifiers() if first else list(PARTS),
            "tables": self._tables,
            "models": lambda: [*_models(), "none"],
            "dialects": lambda: list(DIALECTS) if first else self._tables(),
            "switch": lambda: ["on", "off"],
            "below": lambda: ["below"],
        }
        return known[completes]() if completes in known else []

    def _quasi_identifiers(self) -> list[str]:
        return [self._written(name) for name in self._session.state.roles.quasi_identifiers]

    def _tables(self) -> list[str]:
        tables = self._session.workspace.tables()
        mark = quote("", self._session.workspace.dialect)[0]
        return [name.replace('"', mark) for name in tables]

    def _columns(self, piece: str) -> list[str]:
        """The columns of the current relation, or of the tables that the statement names."""
        known = self._session.workspace.columns()
        named = [table for table in known if _is_read(table, piece)]
        found = named or [table for table in known if table == self._session.called()] or list(known)
        return list(dict.fromkeys(self._written(column) for table in found for column in known[table]))

    def _of_table(self, word: str) -> Iterator[Completion]:
        table, _, begun = word.rpartition(".")
        known = self._session.workspace.columns()
        columns = known.get(table.rpartition(".")[2].strip('"`'), [])
        yield from _fitting(begun, [self._written(column) for column in columns])
        yield from _fitting(word, self._tables())

    def _written(self, name: str) -> str:
        """A name as SQL has it, in quotes where it needs them."""
        engine = self._session.workspace.engine
        plain = re.fullmatch(engine.plain_name, name) is not None
        return name if plain and name.upper() not in KEYWORDS else quote(name, engine.dialect)


def _is_read(table: str, piece: str) -> bool:
    """Whether a statement reads a table: its name elsewhere can be an alias or a function."""
    before = r"(?:[\w.\"`]+(?:\s+\w+)?\s*,\s*)*"  # FROM others with their aliases, and
    named = rf"\b(?:FROM|JOIN|AUDIT|AGGREGATES)\s+{before}(?:[\w\"`]+\.)?[\"`]?{re.escape(table)}\b"
    return re.search(named, piece, re.IGNORECASE) is not None


def _fitting(word: str, names: Iterable[str]) -> Iterator[Completion]:
    """The names that begin like the word; a table is also found without its schema."""
    begun = word.strip('"').casefold()
    for name in dict.fromkeys(names):
        folded = name.casefold()
        if any(part.strip('"').startswith(begun) for part in (folded, folded.rpartition(".")[2])):
            yield Completion(name, -len(word))


def _keywords(word: str, more: Iterable[str]) -> Iterator[Completion]:
    if not word:
        return
    for keyword in dict.fromkeys((*KEYWORDS, *more)):
        if keyword.startswith(word.upper()):
            yield Completion(keyword.lower() if word.islower() else keyword, -len(word))


def _is_about_cells(piece: str) -> bool:
    return piece.upper().split()[:1] == ["AGGREGATES"]


def _clauses(piece: str) -> tuple[str, ...]:
    """The words of AGGREGATES alone, which nobody wants in a SELECT."""
    if len(piece.split()) < 2:
        return ("AGGREGATES",)
    return CLAUSES if _is_about_cells(piece) else ()


def _required(piece: str) -> list[str]:
    """What may follow REQUIRE: models of classes, or rules for cells."""
    if "REQUIRE" not in piece.upper().split():
        return []
    return list(CELL_RULES) if _is_about_cells(piece) else _models()


def _models() -> list[str]:
    return [short for model in REGISTRY.values() for short in (model.short_forms or (model.name,))[:1]]


def _last(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[0] if found else ""
