"""Cells of CSV files that no spreadsheet takes for formulas, and how sqlaudit reads them back.

A spreadsheet may split a line at another separator than ours, and it looks past blanks and signs that nobody sees. So a
formula gets an apostrophe in front wherever a cell could begin: at the start of a text, and behind each `;`, `,`, `|`,
tab or line break in it. Apostrophes that stand there already are doubled, so that nothing is lost.
"""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

_SEPARATORS = re.compile(r"([;,|\t\r\n])")
_FORMULA = "=+\\-@＝＋－＠﹦﹢﹣﹫"
_SUSPECT = re.compile(rf"[{_FORMULA}]|^'*[\t\r]")
_BREAK = re.compile(r"'*[\t\r]")
_UNSEEN = r"\s\x00-\x1f\x7f-\x9f\xad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff"
_RUNS = re.compile(rf"['{_UNSEEN}]*([{_FORMULA}])")
_COMPUTES_NOTHING = re.compile(rf"['{_UNSEEN}]*[+\-＋－][0-9][0-9. ]*(?:[eE][+-]?[0-9]+)?\s*[\])}}]*\s*")
"""A signed number behind a separator: `[-10, -5)`."""
_NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)?(?:[eE][+-]?[0-9]+)?")
_AS_THEY_ARE = (int, float, Decimal, dt.date, dt.time)


def csv_cell(value: Any) -> Any:
    """The value as a CSV file has it: what a spreadsheet would run as a formula has an apostrophe in front.

    Example:
        >>> csv_cell("=1+1"), csv_cell("x;=1+1"), csv_cell("a = b"), csv_cell(-5), csv_cell(None)
        ("'=1+1", "x;'=1+1", 'a = b', -5, None)
    """
    value = flat(value)
    return value if value is None or isinstance(value, _AS_THEY_ARE) else harmless(str(value))


def flat(value: Any) -> Any:
    """The value as files know it: fractions as floats, bytes as hexadecimal text."""
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    return value.hex() if isinstance(value, bytes) else value


def harmless(text: str) -> str:
    """A text in which no cell of a spreadsheet begins with a formula; `as_written` is the way back."""
    if not _SUSPECT.search(text):
        return text
    first, *rest = _SEPARATORS.split(text)
    pieces = [_marked(first, _RUNS.match(first)), *(_marked(piece, _runs(piece)) for piece in rest)]
    return _marked("".join(pieces), _BREAK.match(text))


def label_cell(text: str | None) -> str | None:
    """A value or label of a hierarchy as its file has it: like `csv_cell`, but a number stays one, as others read it.

    Example:
        >>> label_cell("-5"), label_cell("=1"), label_cell("[-10, -5)")
        ('-5', "'=1", '[-10, -5)')
    """
    return text if text is None or _NUMBER.fullmatch(text) else harmless(text)


def as_written(text: str) -> str:
    """The text that `harmless` was given.

    Example:
        >>> as_written("'=1+1"), as_written("x;'=1+1"), as_written("'tis"), as_written(harmless("'=1"))
        ('=1+1', 'x;=1+1', "'tis", "'=1")
    """
    if "'" not in text:
        return text
    whole = _unmarked(text, _BREAK.match(text))
    first, *rest = _SEPARATORS.split(whole)
    return "".join([_unmarked(first, _RUNS.match(first)), *(_unmarked(piece, _runs(piece)) for piece in rest)])


def _runs(piece: str) -> bool:
    """Whether what stands behind a separator would be computed as a cell."""
    return bool(_RUNS.match(piece)) and not _COMPUTES_NOTHING.fullmatch(piece)


def _marked(piece: str, runs: object) -> str:
    return "'" + piece if runs else piece


def _unmarked(piece: str, runs: object) -> str:
    return piece[1:] if runs and piece.startswith("'") else piece
