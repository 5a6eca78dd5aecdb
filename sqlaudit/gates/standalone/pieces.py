"""Pieces of SQL of standalone statements, by the name of their macro."""

from __future__ import annotations

from typing import Any

from sqlaudit.base.sql import environment


def piece(macro: str, **arguments: Any) -> str:
    """A macro of `_standalone.sql` with numbers, names of facts, and other pieces.

    Example:
        >>> piece("folded", fold="MIN", expression="size")
        'MIN(size)'
    """
    module = environment().get_template("gates/standalone/_standalone.sql").make_module({"wide": "DECIMAL(38, 0)"})
    return str(getattr(module, macro)(**arguments)).strip()


def partitions(atoms: int, largest: int | None = None) -> list[list[int]]:
    """All ways to write a number as a sum of parts, largest part first.

    Example:
        >>> partitions(4)
        [[4], [3, 1], [2, 2], [2, 1, 1], [1, 1, 1, 1]]
    """
    if atoms == 0:
        return [[]]
    most = atoms if largest is None else min(largest, atoms)
    return [[part, *rest] for part in range(most, 0, -1) for rest in partitions(atoms - part, part)]
