"""Rows as a table, as CSV or as JSON. Values are data: what would steer a terminal is shown, never obeyed."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlaudit.base.files import csv_cell
from sqlaudit.base.relation import Kind, Row
from sqlaudit.base.result import plain
from sqlaudit.cli.console.workspace import Rows
from sqlaudit.reports.document import plural, visible
from sqlaudit.reports.formats import json_text

MEASURED = 1_000
"""So many rows are looked at for the widths of columns; what comes later may stand out of its column."""
_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
NULL = "NULL"


def width_of(text: str) -> int:
    """The columns that a text takes at a terminal.

    Example:
        >>> width_of("ab"), width_of("日本")
        (2, 4)
    """
    if text.isascii():
        return len(text)
    from prompt_toolkit.utils import get_cwidth  # which loads a whole line editor, and most texts are ASCII

    return get_cwidth(text)


def cell_text(value: Any) -> str:
    r"""A value as a table shows it: NULL for a missing one, control characters as escapes.

    Example:
        >>> cell_text(None), cell_text("red\x1b[31m"), cell_text(True), cell_text(b"\x01")
        ('NULL', 'red\\x1b[31m', 'true', '\\x01')
    """
    if value is None:
        return NULL
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes | bytearray | memoryview):
        return "\\x" + bytes(value).hex()
    return visible(value)


def as_table(rows: Rows, widest: int | None = None, limit: int | None = None) -> Iterator[str]:
    """The lines of a table, with the number of rows below.

    Args:
        rows: what to show. widest: the cells of a column at a terminal, cut with `…` beyond; None = whole.
        limit: how many rows are shown; when there is one more, the last line says so.
    """
    every = itertools.chain.from_iterable(rows.batches)
    shown = every if limit is None else itertools.islice(every, limit)
    first = [_texts(row, widest) for row in itertools.islice(shown, MEASURED)]
    heads = [_cut(visible(column.name), widest) for column in rows.columns]
    widths = [max(map(width_of, cells)) for cells in zip(heads, *first, strict=True)]
    right = [column.kind in _NUMBERS for column in rows.columns]
    yield _line(heads, widths, [False] * len(heads))
    yield "-+-".join("-" * width for width in widths)
    number = 0
    for cells in itertools.chain(first, (_texts(row, widest) for row in shown)):
        yield _line(cells, widths, right)
        number += 1
    more = limit is not None and next(every, None) is not None
    yield f"(the first {plural(number, 'row')}; there are more)" if more else f"({plural(number, 'row')})"


def as_csv(rows: Rows) -> Iterator[str]:
    """The lines of a CSV with a header; NULL is an empty field, a formula gets a leading apostrophe as in exports."""
    yield csv_line([column.name for column in rows.columns])
    for batch in rows.batches:
        for row in batch:
            yield csv_line(row)


def csv_line(cells: Iterable[Any]) -> str:
    """One line of CSV, without its end.

    Example:
        >>> csv_line([1, None, "a,b", "=1+1"])
        '1,,"a,b",\\'=1+1'
    """
    target = io.StringIO()
    csv.writer(target, lineterminator="\r\n").writerow([csv_cell(cell) for cell in cells])  # quotes what has either
    return target.getvalue().removesuffix("\r\n")


def as_json(rows: Rows) -> Iterator[str]:
    """One JSON object in pieces that together are one line: `{"columns": [{"name", "type"}], "rows": [[…], …]}`."""
    yield '{"columns": ' + json_text([{"name": one.name, "type": one.type} for one in rows.columns]) + ', "rows": ['
    begun = False
    for batch in rows.batches:
        for row in batch:
            yield (", " if begun else "") + json_text([plain(value) for value in row])
            begun = True
    yield "]}\n"


def _texts(row: Row, widest: int | None) -> list[str]:
    return [_cut(cell_text(value), widest) for value in row]


def _cut(text: str, widest: int | None) -> str:
    if widest is None or len(text) * 2 <= widest or width_of(text) <= widest:
        return text
    kept, width = "", 0
    for character in text:
        width += width_of(character)
        if width > widest - 1:
            break
        kept += character
    return kept + "…"


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = [
        " " * (width - width_of(cell)) + cell if to_right else cell + " " * (width - width_of(cell))
        for cell, width, to_right in zip(cells, widths, right, strict=True)
    ]
    return " | ".join(padded).rstrip()
