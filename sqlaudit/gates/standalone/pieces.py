"""Pieces of SQL of standalone statements, by the name of their macro."""

from __future__ import annotations

from typing import Any

from sqlaudit.base.sql import environment


def piece(macro: str, **arguments: Any) -> str:
    """A macro of `_standalone.sql` or `_written_out.sql` with numbers, names of facts, and other pieces.

    Example:
        >>> piece("folded", fold="MIN", expression="size")
        'MIN(size)'
    """
    files = (environment().get_template(f"gates/standalone/{name}.sql") for name in ("_standalone", "_written_out"))
    modules = [file.make_module({"wide": "DECIMAL(38, 0)"}) for file in files]
    found = next(getattr(module, macro) for module in modules if hasattr(module, macro))
    return str(found(**arguments)).strip()


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
