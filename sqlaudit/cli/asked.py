"""The command that was given, as a report may repeat it: without conditions, queries and databases, and without where
it wrote."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from sqlaudit.base.connection_texts import without_connections

_SHOWN = (
    *("--qi", "--sensitive", "--identifier", "--insensitive", "--accept-identifier", "--entity", "--known-rows"),
    *("--require", "--preset", "--nulls", "--knowledge", "--hierarchies", "--inputs", "--find", "--suppress", "--k"),
    *("--columns", "--max-size", "--tolerance", "--threshold", "--failing-classes", "--worst-classes", "--measure"),
    *("--population-size", "--sampling-fraction", "--weights", "--by", "--count", "--keep-column", "--original"),
)
"""Options whose values a report says anyway."""
_DROPPED = ("-o", "--output", "--format", "--title", "--owner", "--purpose", "--sign-off")


def repeated(path: str, arguments: Sequence[str], flags: Sequence[str]) -> str:
    """The command in one line.

    Args:
        path: its name, with `sqlaudit` in front. arguments: as they were given. flags: options that take no value.
    """
    return " ".join([path, *map(_quoted, _said(arguments, flags))])


def _said(arguments: Sequence[str], flags: Sequence[str]) -> Iterator[str]:
    left = list(arguments)
    while left:
        word = left.pop(0)
        name, equals, value = word.partition("=")
        if not word.startswith("-") or len(word) == 1:
            yield without_connections(word)
        elif word in flags:
            yield word
        else:
            value = value if equals else left.pop(0) if left else ""
            if name not in _DROPPED:
                yield from (name, value if name in _SHOWN else "…")


def _quoted(word: str) -> str:
    return word if word == "…" else shlex.quote(word)
