"""The contents of a file of Excel, SPSS, Stata or SAS, as its reader returns them, and what all readers need."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlaudit.base.errors import InputError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.office_files import TITLES
from sqlaudit.base.relation import Remark
from sqlaudit.engines.duckdb.paths import Files

LETTER = "a letter"
LETTERS = {"double": (1.7e308, 1e304), "float": (3e38, 1e35)}
"""Numbers that stand for letters in a column of numbers: minus the first, less the letter's code times the second.
Stata has no numbers there."""

Batch = list[list[Any]]
"""Values by column."""


@dataclass(frozen=True)
class FileColumn:
    """A column, and the meaning of its numbers.

    Args:
        name: the name in the file. kind: the name of its Arrow type. means: number, date, timestamp or time if the
            numbers are to be typed; empty = as they are. unit: microseconds of 1. origin: the moment of 0.
        label: its variable label on one line; empty = none.
    """

    name: str
    kind: str
    means: str = ""
    unit: int = 1
    origin: str = "1970-01-01"
    label: str = ""


Codes = dict[str, set[Any]]
"""The codes for missing values that the cells of each column have. All letters in a column of numbers are `LETTER`."""
Contents = tuple[Sequence[FileColumn], Iterator[Batch], tuple[Remark, ...], Codes]
"""The columns of a file, its rows in batches (at least one, which may be empty), its remarks, and its codes for missing
values, which are complete after the last batch."""


@contextmanager
def translating(files: Files, *reader_errors: type[Exception]) -> Iterator[None]:
    """Raise errors of a reader as ours. Its messages may quote values, so none of them is passed on."""
    errors: tuple[type[Exception], ...] = (
        *reader_errors,
        ValueError,
        ArithmeticError,
        OSError,
        LookupError,
        TypeError,
        StopIteration,
    )
    try:
        yield
    except errors:
        raise InputError(f"{files.label!r} is not {TITLES[files.format]} file, or is damaged or encrypted.") from None


def null_cells(texts: Sequence[str]) -> set[Any]:
    """Return the cells that mean NULL: empty ones, the texts, and the numbers that they spell."""
    nulls: set[Any] = {"", *texts}
    for text in texts:
        if re.fullmatch(r"-?\d+(\.\d+)?", text, re.ASCII):
            nulls.add(float(text))
    return nulls


def as_text(value: Any) -> str:
    """Return a value as text: a whole number without a point."""
    if type(value) is bool:
        return "TRUE" if value else "FALSE"
    return str(int(value)) if type(value) is float and value.is_integer() else str(value)
