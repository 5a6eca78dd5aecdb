"""Classes counted in parts that fit the memory, where all of them together would be spilled to disk.

What DuckDB spills here is encrypted, by a cipher in software that costs several times what counting does. To read the
rows once more for each part is cheaper.
"""

from __future__ import annotations

from sqlaudit.base.frozen import dataclass
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.facts import Frame
from sqlaudit.engines.contract import Engine

A_CLASS = 500
"""Bytes of a class while it is counted: keys of numbers spilled at 160 and no longer at 330, on two threads."""
MOST_PARTS = 24
"""Beyond so many parts, reading the rows again costs as much as spilling."""


@dataclass(frozen=True)
class Share:
    """One part of the classes: those whose key has a hash with this remainder.

    Args:
        places: those of the columns that are hashed, from 1 on. parts: how many parts. part: which, from 0 on.
        lanes: a FROM item of (lane, s, total), which all parts read.
    """

    places: tuple[int, ...]
    parts: int
    part: int
    lanes: str = ""


def shares_of(engine: Engine, frame: Frame, rows: int) -> tuple[Share, ...]:
    """The parts that classes are counted in; none where all fit the memory at once, or cannot be parted.

    Args:
        rows: how many rows the table has, or persons with their values.
    """
    memory, hashed = engine.memory(), tuple(place for place, safe in enumerate(frame.hashed, 1) if safe)
    if memory is None or not hashed or rows * A_CLASS <= memory:
        return ()
    groups = rows if frame.entity is not None else _about(engine, frame)
    parts = min(MOST_PARTS, -(-groups * A_CLASS // memory))
    return tuple(Share(hashed, parts, part) for part in range(parts)) if parts > 1 else ()


def _about(engine: Engine, frame: Frame) -> int:
    keys = [Raw(key) for key in frame.keys]
    statement = render(
        "classes/classes_about.sql", engine.dialect, step="how many classes", source=Raw(frame.source), keys=keys
    )
    return int(engine.run(statement)[0][0])
