"""A result is told by its fields, in their order; what differs stands at the field."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import ClassVar

from sqlaudit.base.result import (
    AS_FLOAT,
    AS_TEXT,
    HERE,
    IF_ANY,
    LEFT_OUT,
    OR_NULL,
    Documented,
    MeasuredResult,
    Timing,
    after,
    exactly,
    key,
    objects,
    told,
)


class _Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class _Inner(Documented):
    a: int
    b: str = field(default="", metadata=OR_NULL)


@dataclass(frozen=True, kw_only=True)
class _Outer(MeasuredResult):
    schema: ClassVar = "sample/1"

    target: str = field(metadata=key("target.name"))
    rows: int = field(metadata=key("target.rows"))
    moved: int = field(default=3, metadata=after("_sum"))
    colours: Mapping[_Colour, Fraction]
    share: Fraction = field(metadata=AS_FLOAT)
    chance: Fraction = field(metadata=exactly("chance_exact"))
    pairs: tuple[tuple[int, int], ...] = field(metadata=objects("level", "rows"))
    inner: _Inner
    spread: _Inner = field(metadata=HERE)
    cells: tuple[object, ...] = field(metadata=AS_TEXT)
    note: str = field(default="", metadata=IF_ANY)
    secret: str = field(default="x", metadata=LEFT_OUT)

    @told("share", key("sum"))
    def _sum(self) -> int:
        return self.rows + self.moved


def _outer(note: str = "") -> _Outer:
    return _Outer(
        target="t",
        rows=2,
        colours={_Colour.RED: Fraction(2)},
        share=Fraction(1),
        chance=Fraction(2, 5),
        pairs=((0, 7),),
        inner=_Inner(1),
        spread=_Inner(4, "here"),
        cells=(1, None),
        statements=(Timing("step", 0.5, "SELECT 1"),),
        note=note,
    )


def test_a_document_follows_the_fields() -> None:
    assert json.dumps(_outer().to_dict()) == (
        '{"schema": "sample/1", "versions": {}, "time": "", "access": "", "target": {"name": "t", "rows": 2}, '
        '"colours": {"red": 2}, "share": 1.0, "sum": 5, "moved": 3, "chance": 0.4, "chance_exact": "2/5", '
        '"pairs": [{"level": 0, "rows": 7}], "inner": {"a": 1, "b": null}, "a": 4, "b": "here", '
        '"cells": ["1", null], "remarks": [], "selected_rows": false, "statements": [{"name": "step", "seconds": 0.5}]}'
    )


def test_a_key_may_be_there_only_when_there_is_something_to_tell() -> None:
    assert "note" not in _outer().to_dict()
    assert _outer("so").to_dict()["note"] == "so"
