"""A document as JSON and back, so that a stored result can be laid out again without the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from sqlaudit.base.documents import plain
from sqlaudit.base.errors import InputError
from sqlaudit.base.words import spelled
from sqlaudit.reports.blocks import (
    Block,
    Bullets,
    Code,
    Column,
    Facts,
    Paragraph,
    Picture,
    ProposedCommand,
    Table,
    Toned,
    Words,
)
from sqlaudit.reports.document import About, Document, Section

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
