"""A table of messages opened for cloaking, and the SQL that finds a box for each of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlaudit.base.columns_of import Resolved, columns_read, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.relation import Kind, Relation, Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import about, spelled
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.dictionary import held
from sqlaudit.profiles.suspects import Written, written_as_they_are
from sqlaudit.remedies.cloak.grid import GridLevel
from sqlaudit.remedies.cloak.request import BOUNDS, CloakRequest

LIMIT = 10**12
"""Coordinates and times (in seconds) beyond this are no places: only up to here boundaries are exact in floats."""
METRES_OF_A_DEGREE = 111_694
"""No degree of latitude or longitude on the WGS84 ellipsoid is longer, so no box is larger than it is called."""
NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
TIMES = (Kind.DATE, Kind.TIMESTAMP)


@dataclass(frozen=True)
class Messages:
    """Messages as they were opened.

    Args:
        engine: an open engine. relation: the table. request: what is asked.
        roles: user, x, y, time and the columns of tolerances, by option. kinds: what each of them holds.
        columns: those that are published as they are.
        levels: the grid. timestamps: whether times are dates or timestamps, not numbers.
    """

    engine: Engine
    relation: Relation
    request: CloakRequest
    roles: dict[str, Resolved]
    kinds: dict[str, Kind]
    columns: tuple[str, ...]
    levels: tuple[GridLevel, ...]
    timestamps: bool

    def written(self, keep: Sequence[str]) -> Written:
        """What the release holds besides boxes.

        Raises:
            UsageError: a column to keep that is not there or is not published.
        """
        left_out = _left_out(self.engine, self.relation, self.request, self.roles)
        return written_as_they_are(self.engine, self.relation, left_out, keep)


def open_messages(engine: Engine, request: CloakRequest) -> Messages:
    """The table with its roles found and their kinds checked.

    Raises:
        UsageError: a column that is not there, holds what cannot be cloaked, or would collide with a box's bound.
    """
    relation = engine.open(request.target)
    named = vars(request.places) | request.tolerances.named()
    roles = {field: resolve(text, relation, engine.dialect, about(field)) for field, text in named.items()}
    kinds = {field: held(engine, relation, role).kind for field, role in roles.items()}
    for field, role in roles.items():
        _check_kind(field, role.label, kinds[field])
    timestamps = kinds["time"] in TIMES
    columns = _published(engine, relation, request, roles)
    return Messages(engine, relation, request, roles, kinds, columns, request.levels(timestamps), timestamps)


def _check_kind(field: str, label: str, kind: Kind) -> None:
    if field == "user":
        return
    allowed: tuple[Kind, ...] = (*NUMBERS, *TIMES) if field == "time" else NUMBERS
    allowed = (Kind.INTEGER,) if field == "k_column" else allowed
    if kind not in allowed:
        listed = " or ".join(one.value for one in allowed)
        raise UsageError(f"{about(field)}: {label} holds {kind.value}, not {listed}; cast it, or name another column.")


def _published(
    engine: Engine, relation: Relation, request: CloakRequest, roles: dict[str, Resolved]
) -> tuple[str, ...]:
    """The columns that no role reads, and that are not said to identify."""
    left_out = _left_out(engine, relation, request, roles)
    read = {name for role in left_out for name in columns_read(role, relation, engine.dialect)}
    columns = tuple(column.name for column in relation.columns if column.name not in read)
    taken = [name for name in columns if name.casefold() in BOUNDS]
    if taken:
        raise UsageError(
            f"The table has a column {taken[0]!r}, as the boxes will; leave it out with "
            f"{spelled('identifier', taken[0])}."
        )
    return columns


def _left_out(engine: Engine, relation: Relation, request: CloakRequest, roles: dict[str, Resolved]) -> list[Resolved]:
    identifiers = [resolve(text, relation, engine.dialect, about("identifier")) for text in request.identifiers]
    return [*roles.values(), *identifiers]


def messages_statement(messages: Messages, source: str = "", tried: int | None = None) -> Statement:
    """Every message with its box or the reason why it has none (`cloak_messages.sql`).

    Args:
        messages: the table. source: another FROM item that has the same rows.
        tried: how many levels are looked at, from the largest cells; None = all.
    """
    return _over_cells(messages, source, "boxes of messages", tried=tried, reach=None)


def reach_statement(messages: Messages, level: int) -> Statement:
    """The most users of a cell of a level."""
    return _over_cells(messages, "", "most users of a cell", tried=None, reach=level)


def _over_cells(messages: Messages, source: str, step: str, *, tried: int | None, reach: int | None) -> Statement:
    sql = {field: Raw(role.sql) for field, role in messages.roles.items()}
    dialect, levels = messages.engine.dialect, [_level(level, messages) for level in messages.levels]
    return render(
        "remedies/cloak/cloak_messages.sql",
        dialect,
        step=step,
        source=Raw(source or messages.relation.sql),
        person=sql["user"],
        x=sql["x"],
        y=sql["y"],
        t=sql["time"],
        own_k=sql.get("k_column"),
        own_box=sql.get("box_column"),
        own_interval=sql.get("interval_column"),
        x_kind=messages.kinds["x"].value,
        y_kind=messages.kinds["y"].value,
        t_kind=messages.kinds["time"].value,
        timestamps=messages.timestamps,
        k=messages.request.k,
        limit=LIMIT,
        levels=levels,
        finest=levels[-1],
        tried=levels[:tried],
        reach=None if reach is None else levels[reach],
        stays=_stays(messages.request.suppress),
        globe=_globe(messages),
        carried=[] if reach is not None else [Raw(quote(name, dialect)) for name in messages.columns],
    )


def release_statement(messages: Messages, item: str, *, ordered: bool) -> Statement:
    """The published messages: boxes and the columns that stay.

    Args:
        messages: the table. item: a FROM item of what `messages_statement` returns. ordered: in the order of what is
            published.
    """
    return render(
        "remedies/cloak/cloak_release.sql",
        messages.engine.dialect,
        step="cloaked messages",
        messages=Raw(item),
        ordered=ordered,
        bounds=[{"name": name, "published": name} for name in BOUNDS],
        columns=[quote(name, "duckdb") for name in messages.columns],
    )


def _level(level: GridLevel, messages: Messages) -> dict[str, Any]:
    """A level as the template needs it: numbers that are exact as they are written."""
    length = str(int(level.seconds * 1_000_000)) if messages.timestamps else _written(level.seconds)
    return {
        "space": level.space,
        "time": level.time,
        "side": _written(level.side),
        "seconds": _written(level.seconds),
        "length": length,
        "divisions": level.divisions,
    }


def _written(number: Fraction) -> str:
    """A binary fraction with all its decimals."""
    places = number.denominator.bit_length() - 1
    digits = str(number.numerator * 5**places)
    return digits if not places else f"{digits[:-places] or '0'}.{digits[-places:].rjust(places, '0')}"


def _stays(suppress: Fraction) -> str:
    """When a cell leaves its messages in the finer boxes: when enough are published there."""
    if not suppress:
        return "finer >= sharing"
    return f"finer * {suppress.denominator} >= sharing * {suppress.denominator - suppress.numerator}"


def _globe(messages: Messages) -> dict[str, Any] | None:
    """The sizes of bands of latitude; None on a plane."""
    if not messages.request.lonlat:
        return None
    widest, finest = messages.levels[0].side, messages.levels[-1]
    return {
        "metres": METRES_OF_A_DEGREE,
        "angle": repr(math.radians(float(widest / METRES_OF_A_DEGREE))),
        "around": repr(float(360 * METRES_OF_A_DEGREE / widest)),
        "finest_parts": 2 ** messages.levels[0].space,
        "finest": finest,
    }
