"""Words that a reader never meets: in the texts of the program, in its docs, in its help and in its SQL."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.places import REPOSITORY

REFUSED = re.compile(
    r"\b(?:(?:falls?|fell) short|whoever|somebody who|should others|pick(?:s|ed|ing)? out|of equal|made anew"
    r"|for people to decide|with these figures in hand|ratio of likelihoods)\b"
    r"|Publish \S+ (?:generalized|suppressed) in|More than … times|\d+ signs each|\(red: below",
    re.IGNORECASE,
)
"""What no one says who explains a table to a colleague; write "fails", "people who", "single out", "the same"."""


def files() -> Iterator[Path]:
    """Everything that people read."""
    yield from (REPOSITORY / "sqlaudit").rglob("*.py")
    yield from (REPOSITORY / "sqlaudit").rglob("*.pyi")
    yield from (REPOSITORY / "sqlaudit").rglob("*.txt")
    yield from (REPOSITORY / "sqlaudit").rglob("*.json")
    yield from (REPOSITORY / "sql_templates").rglob("*.sql")
    yield from (REPOSITORY / "docs").rglob("*.md")
    yield from (REPOSITORY / name for name in ("README.md", "CHANGELOG.md"))


def read(file: Path) -> str:
    """What of a file is read: of Python its texts, docstrings included, of the changelog what is not released."""
    text = file.read_text(encoding="utf-8")
    if file.name == "CHANGELOG.md":
        return text.split("\n## ")[1]
    if file.suffix != ".py":
        return text
    texts = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant))
    return "\n\n".join(one for one in texts if isinstance(one, str))


def found_in(file: Path) -> list[str]:
    """The refused words of a file, whatever their line breaks."""
    return REFUSED.findall(re.sub(r"\s+", " ", read(file)))


@pytest.mark.parametrize(
    "word", ["falls short", "Whoever", "somebody\nwho", "picked out", "made anew", "for people\nto decide"]
)
def test_words_are_found_across_lines(word: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(f'"""A class that {word} x."""\n', encoding="utf-8")
    assert len(found_in(tmp_path / "a.py")) == 1


def test_nothing_that_people_read_has_refused_words() -> None:
    assert {str(file.relative_to(REPOSITORY)): words for file in files() if (words := found_in(file))} == {}
