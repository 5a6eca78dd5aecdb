"""Failing classes as rows of a file."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlaudit.base.files import Batches
from sqlaudit.classes.found import FailingClass


def failing_batches(
    failing: Iterable[FailingClass], keys: Sequence[str] = (), figures: Sequence[str] = (), batch: int = 10_000
) -> tuple[list[str], Batches]:
    """(column names, batches of rows) of failing classes, for `write_rows`; reads one batch at a time.

    Args:
        failing: the classes. keys: the columns of their keys, if they hold any. figures: what is told of them.

    The columns: those of the keys, then size, rows, classes, sensitive, falls_short_of, and the figures. What a class
    does not have is missing.
    """
    own = ["size", "rows", "classes", "sensitive", "falls_short_of", *figures]
    names = [*keys, *(name + "_" if name in keys else name for name in own)]
    return names, _batched(failing, keys, figures, batch)


def _batched(
    failing: Iterable[FailingClass], keys: Sequence[str], figures: Sequence[str], size: int
) -> Iterator[list[list[Any]]]:
    rest = iter(failing)
    while part := [_failing_row(item, keys, figures) for item in itertools.islice(rest, size)]:
        yield part


def _failing_row(item: FailingClass, keys: Sequence[str], figures: Sequence[str]) -> list[Any]:
    own = [item.size, item.rows, item.classes, item.sensitive, ", ".join(item.fails)]
    key = item.key or {}
    return [*map(key.get, keys), *own, *map(item.figures.get, figures)]
