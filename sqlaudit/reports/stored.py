"""A document as JSON and back, and what computed the result in it."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, Protocol

from sqlaudit.base.errors import InputError
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.result import Timing, plain
from sqlaudit.reports.document import (
    About,
    Block,
    Bullets,
    Code,
    Column,
    Document,
    Facts,
    Paragraph,
    Picture,
    ProposedCommand,
    Section,
    Table,
    Toned,
    Words,
    count,
    figure,
    plural,
    section,
)

# A document as JSON and back, so that a stored result can be laid out again without the table.

_TONES = ("plain", "good", "bad", "warn", "quiet")


def to_json(document: Document) -> dict[str, Any]:
    """The document as plain data: texts stay texts, toned ones are {text, tone}."""
    return {
        "headline": _said(document.headline),
        "lead": [_stored(block) for block in document.lead],
        "worst": [_said(words) for words in document.worst],
        "sections": [
            {
                "title": section.title,
                "blocks": [_stored(block) for block in section.blocks],
                **({"repeating": True} if section.repeating else {}),
            }
            for section in document.sections
        ],
        "about": {name: plain(value) for name, value in vars(document.about).items() if value},
    }


def from_json(data: Any) -> Document:
    """The document that `to_json` gave.

    Raises:
        InputError: it is something else.
    """
    try:
        return Document(
            _words(data["headline"]),
            tuple(_block(item) for item in data["lead"]),
            tuple(
                Section(
                    _text(item["title"]),
                    tuple(_block(block) for block in item["blocks"]),
                    item.get("repeating") is True,
                )
                for item in data["sections"]
            ),
            tuple(_words(item) for item in data["worst"]),
            _about(data.get("about", {})),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(
            f"The report in this file is damaged: make it again with {spelled('format', 'json')}."
        ) from None


def _said(words: Words) -> Any:
    if isinstance(words, str):
        return words
    return {"text": words.text, "tone": words.tone, **({"hint": words.hint} if words.hint else {})}


def _stored(block: Block) -> dict[str, Any]:
    if isinstance(block, Paragraph):
        return {"kind": "paragraph", "words": _said(block.words)}
    if isinstance(block, Bullets):
        return {"kind": "bullets", "items": [_said(item) for item in block.items]}
    if isinstance(block, Facts):
        return {"kind": "facts", "pairs": [[name, _said(words)] for name, words in block.pairs]}
    if isinstance(block, Picture):
        return {"kind": "picture", "drawing": block.kind, "title": block.title, "data": plain(block.data)}
    return _stored_table(block) if isinstance(block, Table) else _stored_letters(block)


def _stored_letters(block: Code | ProposedCommand) -> dict[str, Any]:
    if isinstance(block, ProposedCommand):
        return {"kind": "command", "what": block.what, "words": list(block.words)}
    return {"kind": "code", "summary": block.summary, "text": block.text}


def _stored_table(block: Table) -> dict[str, Any]:
    return {
        "kind": "table",
        "caption": block.caption,
        "columns": [[column.title, column.numeric] for column in block.columns],
        "rows": [[_said(cell) for cell in row] for row in block.rows],
    }


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _words(value: Any) -> Words:
    if isinstance(value, Mapping):
        if value["tone"] not in _TONES:
            raise ValueError(value["tone"])
        return Toned(_text(value["text"]), value["tone"], _text(value.get("hint", "")))
    return _text(value)


def _about(item: Mapping[str, Any]) -> About:
    names = {one.name for one in fields(About)} - {"sign_off"}
    signing = tuple(_text(line) for line in item.get("sign_off", ()))
    return About(**{name: _text(item[name]) for name in names & {*item}}, sign_off=signing)


def _table(item: Mapping[str, Any]) -> Table:
    columns = tuple(Column(_text(title), bool(numeric)) for title, numeric in item["columns"])
    rows = tuple(tuple(_words(cell) for cell in row) for row in item["rows"])
    if any(len(row) != len(columns) for row in rows):
        raise ValueError(len(columns))
    return Table(columns, rows, _text(item["caption"]))


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Block]] = {
    "paragraph": lambda item: Paragraph(_words(item["words"])),
    "bullets": lambda item: Bullets(tuple(_words(words) for words in item["items"])),
    "facts": lambda item: Facts(tuple((_text(name), _words(words)) for name, words in item["pairs"])),
    "picture": lambda item: Picture(_text(item["drawing"]), _text(item["title"]), dict(item["data"])),
    "code": lambda item: Code(_text(item["summary"]), _text(item["text"])),
    "command": lambda item: ProposedCommand(_text(item["what"]), tuple(_text(word) for word in item["words"])),
    "table": _table,
}


def _block(item: Mapping[str, Any]) -> Block:
    return _READERS[item["kind"]](item)


# What computed a result, when it was finished, how long it took, and the SQL that ran.

_MOST_STATEMENTS = 60


class Measured(Protocol):
    """A result that statements over one connection found."""

    @property
    def engine(self) -> str:
        """What computed it."""

    @property
    def time(self) -> str:
        """When it was finished, ISO 8601."""

    @property
    def access(self) -> str:
        """As whom the database was read."""

    @property
    def versions(self) -> Mapping[str, str]:
        """Of what computed it."""

    @property
    def statements(self) -> tuple[Timing, ...]:
        """What ran."""


def finished(time: str, statements: Sequence[Timing]) -> str:
    """`2026-05-04 10:15 UTC; 5 statements took 0.3 s in the database`.

    Args:
        time: an ISO 8601 time; any other text is taken as it stands. statements: what ran.
    """
    seconds = [timing.seconds for timing in statements if timing.seconds is not None]
    took = f"; {plural(len(seconds), 'statement')} took {figure(round(sum(seconds), 2))} s in the database"
    return moment(time) + (took if seconds else "")


def made(result: Measured) -> tuple[tuple[str, str], ...]:
    """What computed a result, as whom and when, as facts at the end of a report."""
    return (
        ("computed by", f"sqlaudit {result.versions.get('sqlaudit', '')}".rstrip() + f" on {result.engine}"),
        *([("access", result.access)] if result.access else []),
        ("finished", finished(result.time, result.statements)),
    )


def sql_section(result: Measured) -> tuple[Section, ...]:
    """The SQL that ran, a folded block a statement; it holds no cell value. A long search shows its first ones."""
    return section("The SQL that ran", *_codes(result.statements))


def _codes(statements: tuple[Timing, ...]) -> Iterator[Code]:
    for position, timing in enumerate(statements[:_MOST_STATEMENTS], 1):
        took = "" if timing.seconds is None else f", {figure(round(timing.seconds, 3))} s"
        yield Code(f"{position}. {timing.name}{took}", timing.sql.strip())
    if len(statements) > _MOST_STATEMENTS:
        left = statements[_MOST_STATEMENTS:]
        yield Code(f"{count(len(left))} more", "\n".join(timing.name for timing in left))


def moment(time: str) -> str:
    """A time as people write it, in UTC."""
    try:
        return f"{datetime.datetime.fromisoformat(time).astimezone(datetime.UTC):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return time
