"""A document as JSON and back, so that a stored result can be laid out again without the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, get_args

from sqlaudit.base.result import plain
from sqlaudit.reports import document as doc

_PLACES = ("repeating", "folded")
"""The fields of a section that say where a page has it."""


def to_json(document: doc.Document) -> dict[str, object]:
    """The document as plain data: texts stay texts, toned ones are {text, tone}; `worst` holds the large figures."""
    return {
        "headline": _stored(document.headline),
        "lead": _stored(document.lead),
        "worst": [{"text": one.name, "tone": one.tone, "value": one.value} for one in document.figures],
        "sections": [
            {"title": one.title, "blocks": _stored(one.blocks)} | {name: True for name in _PLACES if getattr(one, name)}
            for one in document.sections
        ],
        "about": {name: plain(value) for name, value in vars(document.about).items() if value},
    }


def from_json(data: Any) -> doc.Document:
    """The document that `to_json` gave.

    Raises:
        InputError: it is something else.
    """
    try:
        sections = (
            doc.Section(_text(one["title"]), _blocks(one["blocks"]), *(one.get(name) is True for name in _PLACES))
            for one in data["sections"]
        )
        about = data.get("about", {})
        names = {one.name for one in fields(doc.About)} - {"sign_off"}
        told = {name: _text(about[name]) for name in names & {*about}}
        return doc.Document(
            _words(data["headline"]),
            _blocks(data["lead"]),
            tuple(sections),
            _several(_key_figure)(data["worst"]),
            doc.About(**told, sign_off=_several(_text)(about.get("sign_off", ()))),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise doc.damaged("The report") from None


Reader = Callable[[Any], Any]


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _words(value: object) -> doc.Words:
    if isinstance(value, Mapping):
        if value["tone"] not in get_args(doc.Tone):
            raise ValueError(value["tone"])
        return doc.Toned(_text(value["text"]), value["tone"], _text(value.get("hint", "")))
    return _text(value)


def _key_figure(value: Mapping[str, object]) -> doc.KeyFigure:
    words = _words(value)
    return doc.KeyFigure(_text(value["value"]), doc.without_hint(words), doc.tone_of(words))


def _several(read: Reader) -> Callable[[Any], tuple[Any, ...]]:
    return lambda values: tuple(map(read, values))


def _pair(first: Reader, second: Reader) -> Reader:
    def read(pair: Any) -> tuple[object, object]:
        one, other = pair
        return first(one), second(other)

    return read


_BLOCKS: Mapping[str, tuple[type[doc.Block], Mapping[str, Reader]]] = {
    "paragraph": (doc.Paragraph, {"words": _words}),
    "bullets": (doc.Bullets, {"items": _several(_words)}),
    "facts": (doc.Facts, {"pairs": _several(_pair(_text, _words))}),
    "picture": (doc.Picture, {"drawing": _text, "title": _text, "data": dict}),
    "code": (doc.Code, {"summary": _text, "text": _text}),
    "command": (doc.ProposedCommand, {"what": _text, "words": _several(_text)}),
    "table": (
        doc.Table,
        {
            "caption": _text,
            "columns": _several(lambda pair: doc.Column(*_pair(_text, bool)(pair))),
            "rows": _several(_several(_words)),
        },
    ),
}
"""By its kind what a block is, and how each of its fields is read."""
_CALLED = {"drawing": "kind"}
"""Fields that are called otherwise in the JSON, where `kind` is that of the block."""


def _stored(value: object) -> object:
    """Words, a block, or several of these as plain data."""
    if isinstance(value, doc.Toned):
        return {"text": value.text, "tone": value.tone, **({"hint": value.hint} if value.hint else {})}
    if isinstance(value, doc.Column):
        return [value.title, value.numeric]
    for kind, (block, names) in _BLOCKS.items():
        if isinstance(value, block):
            return {"kind": kind, **{name: _stored(getattr(value, _CALLED.get(name, name))) for name in names}}
    return [_stored(one) for one in value] if isinstance(value, tuple) else plain(value)


def _blocks(items: Any) -> tuple[doc.Block, ...]:
    return tuple(map(_block, items))


def _block(item: Mapping[str, Any]) -> doc.Block:
    block, readers = _BLOCKS[item["kind"]]
    found = block(**{_CALLED.get(name, name): read(item[name]) for name, read in readers.items()})
    if isinstance(found, doc.Table) and any(len(row) != len(found.columns) for row in found.rows):
        raise ValueError(len(found.columns))
    return found
