"""What the command line calls an option, the console calls a command: sentences and reports said in its words."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from sqlaudit.reports.document import Document

T = TypeVar("T")

_SAID = (
    (
        re.compile(r"^--query takes one SELECT; this is (an? \w+) statement\.$"),
        r"The console only reads; this is \1 statement.",
    ),
    (re.compile(r"--query takes one SELECT"), "A statement is one SELECT"),
    (re.compile(r"--query may only read"), "The console only reads"),
    (re.compile(r"^--query"), "The statement"),
    (re.compile(r"--query"), "the statement"),
    (re.compile(r"the --qi\b"), r"the quasi-identifiers"),
    (
        re.compile(r'--qi takes expressions, for instance --qi "floor\(age / 10\)"'),
        r"\\generalize does it, for instance \\generalize age 10",
    ),
    (re.compile(r"--failing-classes-to FILE\.csv"), r"`sqlaudit audit --failing-classes-to FILE.csv`"),
    (re.compile(r"--failing-classes all"), r"`sqlaudit audit --failing-classes all`"),
    (re.compile(r"--show-values"), r"\\values on"),
    (re.compile(r"--qi age,sex"), r"\\qi age sex"),
    (re.compile(r"--qi\b"), r"\\qi"),
    (re.compile(r"--sensitive\b"), r"\\sensitive"),
    (re.compile(r"--entity\b"), r"\\entity"),
    (re.compile(r"--require k=5"), r"\\require k=5"),
    (re.compile(r"--require\b"), r"\\require"),
    (re.compile(r"for a table, name its database with --db"), "for a table of a database, start the console with --db"),
)


def in_console_words(sentence: str) -> str:
    r"""The sentence with commands of the console where the command line has options.

    Example:
        >>> in_console_words("Name one with --sensitive; --show-values shows them.")
        'Name one with \\sensitive; \\values on shows them.'
    """
    for pattern, said in _SAID:
        sentence = pattern.sub(said, sentence)
    return sentence


def reworded(document: Document) -> Document:
    """A report with all its texts in the words of the console."""
    return _reworded(document)


def _reworded(part: T) -> T:
    found: Any = part
    if isinstance(part, str):
        found = in_console_words(part)
    elif isinstance(part, tuple):
        found = tuple(_reworded(item) for item in part)
    elif is_dataclass(part) and not isinstance(part, type):
        kept = {field.name: getattr(part, field.name) for field in fields(part)}
        found = replace(part, **{name: _reworded(value) for name, value in kept.items()})
    return found  # type: ignore[no-any-return]
