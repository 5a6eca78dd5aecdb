"""A table of messages opened for cloaking, the SQL that finds a box for each of them, and attacks on boxes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sqlaudit.base.columns_of import Resolved, columns_read, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import Kind, Relation, Statement
from sqlaudit.base.spec import Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.opening import settled
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.dictionary import column_type
from sqlaudit.profiles.identifying import Written, written_as_they_are
from sqlaudit.remedies.cloak.request import BOUNDS, Background, CloakRequest, GridLevel, Places
from sqlaudit.remedies.cloak.result import Attacks, Holding, Observed, RestrictedSpace

# A table of messages opened for cloaking, and the SQL that finds a box for each of them.

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
        left_out: what is not published. columns: those that are published as they are.
        levels: the grid. timestamps: whether times are dates or timestamps, not numbers.
    """

    engine: Engine
    relation: Relation
    request: CloakRequest
    roles: dict[str, Resolved]
    kinds: dict[str, Kind]
    left_out: tuple[Resolved, ...]
    columns: tuple[str, ...]
    levels: tuple[GridLevel, ...]
    timestamps: bool

    def written(self, keep: Sequence[str]) -> Written:
        """What the release holds besides boxes.

        Raises:
            UsageError: a column to keep that is not there or is not published.
        """
        return written_as_they_are(self.engine, self.relation, self.left_out, keep)

    def parameters(self) -> dict[str, Any]:
        """What every template over the messages needs."""
        columns = {"person": "user", "x": "x", "y": "y", "t": "time"}
        return {
            "source": self.relation,
            **{name: self.roles[field] for name, field in columns.items()},
            **{f"{name}_kind": self.kinds[columns[name]].value for name in ("x", "y", "t")},
            **{f"own_{name}": self.roles.get(f"{name}_column") for name in ("k", "box", "interval", "delay")},
            "timestamps": self.timestamps,
            "limit": LIMIT,
            "carried": [Raw(quote(name, self.engine.dialect)) for name in self.columns],
        }


def open_messages(engine: Engine, request: CloakRequest) -> Messages:
    """The table with its roles found and their kinds checked.

    Raises:
        UsageError: a column that is not there, holds what cannot be cloaked, or would collide with a box's bound.
    """
    relation = engine.open(request.target)
    named = request.places.named() | request.tolerances.named()
    roles = {field: resolve(text, relation, engine.dialect, about(field)) for field, text in named.items()}
    roles["user"] = settled(engine, relation, roles["user"], request.places.values, missing=False)
    kinds = {field: column_type(engine, relation, role).kind for field, role in roles.items()}
    for field, role in roles.items():
        _check_kind(field, role.label, kinds[field])
    identifiers = (resolve(text, relation, engine.dialect, about("identifier")) for text in request.identifiers)
    left_out = (*roles.values(), *identifiers)
    read = {name for role in left_out for name in columns_read(role, relation, engine.dialect)}
    columns = tuple(column.name for column in relation.columns if column.name not in read)
    taken = [name for name in columns if name.casefold() in BOUNDS]
    if taken:
        raise UsageError(
            f"The table has a column {taken[0]!r}, a name that boxes need. Leave it out with "
            f"{spelled('identifier', taken[0])}."
        )
    timestamps = kinds["time"] in TIMES
    levels = request.levels(timestamps)
    return Messages(engine, relation, request, roles, kinds, left_out, columns, levels, timestamps)


def _check_kind(field: str, label: str, kind: Kind) -> None:
    if field == "user":
        return
    allowed: tuple[Kind, ...] = (*NUMBERS, *TIMES) if field == "time" else NUMBERS
    allowed = (Kind.INTEGER,) if field == "k_column" else allowed
    if kind not in allowed:
        listed = " or ".join(one.value for one in allowed)
        raise UsageError(f"{about(field)}: {label} is {kind.value}, not {listed}. Cast it, or name another column.")


def messages_statement(messages: Messages, source: str = "", tried: int | None = None) -> Statement:
    """Every message with its box or the reason why it has none (`cloak_messages.sql`).

    Args:
        messages: the table. source: another FROM item that has the same rows.
        tried: how many levels are looked at, from the largest cells; None = all.
    """
    more: dict[str, Any] = {"source": Raw(source)} if source else {}
    return _over_cells(messages, "boxes of messages", more, tried=tried)


def reach_statement(messages: Messages, level: int) -> Statement:
    """The most users of a cell of a level."""
    return _over_cells(messages, "most users of a cell", {"carried": []}, reach=level)


def _over_cells(
    messages: Messages, step: str, more: dict[str, Any], *, tried: int | None = None, reach: int | None = None
) -> Statement:
    levels, suppress = [_level(level, messages) for level in messages.levels], messages.request.suppress
    # when a cell leaves its messages in the finer boxes: when enough are published there
    enough = f"finer * {suppress.denominator} >= sharing * {suppress.denominator - suppress.numerator}"
    parameters: dict[str, Any] = messages.parameters() | {
        "k": messages.request.k,
        "levels": levels,
        "finest": levels[-1],
        "tried": levels[:tried],
        "reach": None if reach is None else levels[reach],
        "stays": enough if suppress else "finer >= sharing",
        "globe": _globe(messages),
    }
    return render("remedies/cloak/cloak_messages.sql", messages.engine.dialect, step=step, **parameters | more)


def release_statement(messages: Messages, item: str) -> Statement:
    """The published messages: boxes and the columns that stay.

    Args:
        messages: the table. item: a FROM item of what `messages_statement` returns.
    """
    return render(
        "remedies/cloak/cloak_release.sql",
        messages.engine.dialect,
        step="cloaked messages",
        messages=Raw(item),
        ordered=True,
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


# Attacks on boxes (Barriers, section 4.3), and the count of users who were in them.
#
# Restricted space identification: a box that lies in one known property says whose messages these are. Observation
# identification: who was seen in a box, alone among those who were seen, has sent its messages, as far as an attacker
# can tell.


@dataclass(frozen=True)
class BoxTable:
    """Messages with their boxes.

    Args:
        engine: an open engine. sql: a FROM item, one row a message. bounds: SQL of x_min, x_max, y_min, y_max, t_min,
            t_max. user: SQL of the user, None when the boxes come without. timestamps: whether times are no numbers.
    """

    engine: Engine
    sql: str
    bounds: tuple[str, ...]
    user: str | None
    timestamps: bool


def attacks_on(boxes: BoxTable, background: Background, places: Places) -> Attacks:
    """The attacks for which there is a table.

    Raises:
        UsageError: such a table lacks a column, or its column holds something else.
    """
    restricted = None if background.properties is None else _restricted(boxes, background, background.properties)
    observed = None
    if background.observations is not None:
        _, observed = users_seen(boxes, background.observations, places, 1, "observation identification")
    return Attacks(restricted, observed)


def _restricted(boxes: BoxTable, background: Background, properties: Target) -> RestrictedSpace:
    engine, relation = boxes.engine, boxes.engine.open(properties)
    bounds = [resolve(name, relation, engine.dialect, about("property_bounds")) for name in background.property_bounds]
    check_kinds(engine, relation, bounds, about("property_bounds"), timestamps=None)
    statement = render(
        "remedies/cloak/cloak_restricted.sql",
        engine.dialect,
        step="restricted space identification",
        boxes=boxes,
        bounds=_raw(boxes.bounds[:4]),
        every_bound=_raw(boxes.bounds),
        property_bounds=_raw([one.sql for one in bounds]),
        owner=resolve(background.owner, relation, engine.dialect, about("owner")),
        properties=relation,
    )
    (found,) = engine.run(statement)
    return RestrictedSpace(*found)


def users_seen(
    boxes: BoxTable, where: Target, places: Places, k: int, step: str, *, by_user: bool = True
) -> tuple[Holding, Observed]:
    """How many different users of a table of places each box holds, against k, and what that tells who saw them.

    Args:
        boxes: the boxes. where: the table of places, places: its columns. k: as many should be in a box.
        step: how the statement is called. by_user: whether it matters who sent the messages.

    Raises:
        UsageError: the table lacks a column, or a column holds something else than the boxes do.
    """
    engine, relation = boxes.engine, boxes.engine.open(where)
    found = {name: resolve(text, relation, engine.dialect, about(name)) for name, text in places.named().items()}
    found["user"] = settled(engine, relation, found["user"], places.values, missing=False)
    check_kinds(engine, relation, [found["x"], found["y"]], where.name, timestamps=None)
    check_kinds(engine, relation, [found["time"]], where.name, timestamps=boxes.timestamps)
    person = Raw(boxes.user) if boxes.user is not None and by_user else None
    statement = render(
        "remedies/cloak/cloak_seen.sql",
        engine.dialect,
        step=step,
        boxes=boxes,
        bounds=_raw(boxes.bounds),
        k=k,
        person=person,
        points=relation,
        who=found["user"],
        x=found["x"],
        y=found["y"],
        t=found["time"],
    )
    (counts,) = engine.run(statement)
    observed = Observed(counts[0], *counts[5:])
    return Holding(*counts[:5]), observed if person is not None else replace(observed, right=None)


def check_kinds(
    engine: Engine, relation: Relation, columns: Sequence[Resolved], option: str, *, timestamps: bool | None
) -> None:
    """Nothing when columns hold numbers (`timestamps` None or False) or times (True).

    Raises:
        UsageError: one does not.
    """
    allowed = TIMES if timestamps else NUMBERS
    for column in columns:
        kind = column_type(engine, relation, column).kind
        if kind not in allowed:
            listed = " or ".join(one.value for one in allowed)
            as_boxes = "" if timestamps is None else ", as the boxes do"
            raise UsageError(f"{option}: {column.label} is {kind.value}, but must be {listed}{as_boxes}.")


def _raw(texts: Sequence[str]) -> list[Raw]:
    return [Raw(text) for text in texts]
