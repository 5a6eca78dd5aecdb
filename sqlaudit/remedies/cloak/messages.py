"""Open a table of messages for cloaking, find a box for each message by SQL, and attack boxes."""

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
from sqlaudit.classes.opening import apply_spelling_policy
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.dictionary import column_type
from sqlaudit.profiles.identifying import ReleaseColumns, find_release_columns
from sqlaudit.remedies.cloak.request import BOUNDS, Background, CloakRequest, GridLevel, Places
from sqlaudit.remedies.cloak.result import Attacks, Holding, Observed, RestrictedSpace

# The table of messages, and the SQL that finds a box for each of them.

LIMIT = 10**12
"""Coordinates and times (in seconds) beyond this are refused: only up to here boundaries are exact in floats."""
METRES_OF_A_DEGREE = 111_694
"""The longest degree of latitude or longitude on the WGS84 ellipsoid, so that no box is larger than its size."""
NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
TIMES = (Kind.DATE, Kind.TIMESTAMP)


@dataclass(frozen=True)
class Messages:
    """An opened table of messages.

    Args:
        engine: an open engine.
        relation: the table.
        request: the request.
        roles: user, x, y, time and the columns of tolerances, by option.
        kinds: the kind of each role's values.
        left_out: columns and expressions that are not published.
        columns: columns that are published as they are.
        levels: the grid.
        timestamps: whether times are dates or timestamps, not numbers.
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

    def written(self, keep: Sequence[str]) -> ReleaseColumns:
        """Return the columns of the release besides the bounds of boxes.

        Raises:
            UsageError: a column to keep does not exist or is not published.
        """
        return find_release_columns(self.engine, self.relation, self.left_out, keep)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that all templates over the messages have."""
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
    """Open the table, resolve its roles and check their kinds.

    Raises:
        UsageError: a column does not exist, has values that cannot be cloaked, or has the name of a box's bound.
    """
    relation = engine.open(request.target)
    named = request.places.named() | request.tolerances.named()
    roles = {field: resolve(text, relation, engine.dialect, about(field)) for field, text in named.items()}
    roles["user"] = apply_spelling_policy(engine, relation, roles["user"], request.places.values, missing=False)
    kinds = {field: column_type(engine, relation, role).kind for field, role in roles.items()}
    for field, role in roles.items():
        _check_kind(field, role.label, kinds[field])
    identifiers = (resolve(text, relation, engine.dialect, about("identifier")) for text in request.identifiers)
    unpublished = (*roles.values(), *identifiers)
    read = {name for role in unpublished for name in columns_read(role, relation, engine.dialect)}
    columns = tuple(column.name for column in relation.columns if column.name not in read)
    reserved = [name for name in columns if name.casefold() in BOUNDS]
    if reserved:
        raise UsageError(
            f"The table has a column {reserved[0]!r}, a name that boxes need. Leave it out with "
            f"{spelled('identifier', reserved[0])}."
        )
    timestamps = kinds["time"] in TIMES
    levels = request.levels(timestamps)
    return Messages(engine, relation, request, roles, kinds, unpublished, columns, levels, timestamps)


def _check_kind(field: str, label: str, kind: Kind) -> None:
    """Check the kind of a role's values.

    Raises:
        UsageError: a place, time or limit has values of another kind.
    """
    if field == "user":
        return
    allowed: tuple[Kind, ...] = (*NUMBERS, *TIMES) if field == "time" else NUMBERS
    allowed = (Kind.INTEGER,) if field == "k_column" else allowed
    if kind not in allowed:
        expected = " or ".join(kind_allowed.value for kind_allowed in allowed)
        raise UsageError(f"{about(field)}: {label} is {kind.value}, not {expected}. Cast it, or name another column.")


def messages_statement(messages: Messages, source: str = "", tried: int | None = None) -> Statement:
    """Return the statement for every message with its box, or the reason why it has none (`cloak_messages.sql`).

    Args:
        messages: the table.
        source: another FROM item with the same rows.
        tried: the number of levels to look at, from the largest cells; None = all.
    """
    overrides: dict[str, object] = {"source": Raw(source)} if source else {}
    return _cells_statement(messages, "boxes of messages", overrides, tried=tried)


def reach_statement(messages: Messages, level: int) -> Statement:
    """Return the statement for the largest number of users in a cell of a level."""
    return _cells_statement(messages, "most users of a cell", {"carried": []}, reach=level)


def _cells_statement(
    messages: Messages, step: str, overrides: dict[str, object], *, tried: int | None = None, reach: int | None = None
) -> Statement:
    """Return a statement over the cells of the grid, with some parameters of the template overridden."""
    levels, suppress = [_level_parameters(level, messages) for level in messages.levels], messages.request.suppress
    # A cell leaves its messages in the finer boxes if enough of them are published there
    stays_finer = f"finer * {suppress.denominator} >= sharing * {suppress.denominator - suppress.numerator}"
    parameters: dict[str, Any] = messages.parameters() | {
        "k": messages.request.k,
        "levels": levels,
        "finest": levels[-1],
        "tried": levels[:tried],
        "reach": None if reach is None else levels[reach],
        "stays": stays_finer if suppress else "finer >= sharing",
        "globe": _latitude_bands(messages),
    }
    return render("remedies/cloak/cloak_messages.sql", messages.engine.dialect, step=step, **parameters | overrides)


def release_statement(messages: Messages, item: str) -> Statement:
    """Return the statement for the published messages: boxes and the columns that stay.

    Args:
        messages: the table.
        item: a FROM item with the result of `messages_statement`.
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


def _level_parameters(level: GridLevel, messages: Messages) -> dict[str, object]:
    """Return a level as the template takes it, with numbers whose decimals are exact."""
    length = str(int(level.seconds * 1_000_000)) if messages.timestamps else _decimal_text(level.seconds)
    return {
        "space": level.space,
        "time": level.time,
        "side": _decimal_text(level.side),
        "seconds": _decimal_text(level.seconds),
        "length": length,
        "divisions": level.divisions,
    }


def _decimal_text(number: Fraction) -> str:
    """Return a binary fraction with all its decimals."""
    decimals = number.denominator.bit_length() - 1
    digits = str(number.numerator * 5**decimals)
    return digits if not decimals else f"{digits[:-decimals] or '0'}.{digits[-decimals:].rjust(decimals, '0')}"


def _latitude_bands(messages: Messages) -> dict[str, object] | None:
    """Return the parameters for bands of latitude, None on a plane."""
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


# Attacks on boxes (Barriers, section 4.3), and the count of users in them.
#
# Restricted space identification: a box inside one known property reveals whose messages these are.
# Observation identification: if only one of the observed users was in a box, that user seems to have sent its messages.


@dataclass(frozen=True)
class BoxTable:
    """Messages with their boxes.

    Args:
        engine: an open engine.
        sql: a FROM item, one row a message.
        bounds: SQL of x_min, x_max, y_min, y_max, t_min, t_max.
        user: SQL of the user, None if the boxes have no users.
        timestamps: whether times are dates or timestamps, not numbers.
    """

    engine: Engine
    sql: str
    bounds: tuple[str, ...]
    user: str | None
    timestamps: bool


def attack_boxes(boxes: BoxTable, background: Background, places: Places) -> Attacks:
    """Run the attacks for which there is a table.

    Raises:
        UsageError: such a table lacks a column, or the column has values of another kind.
    """
    restricted = None if background.properties is None else _restricted_space(boxes, background, background.properties)
    observed = None
    if background.observations is not None:
        _, observed = count_users_in_boxes(boxes, background.observations, places, 1, "observation identification")
    return Attacks(restricted, observed)


def _restricted_space(boxes: BoxTable, background: Background, properties: Target) -> RestrictedSpace:
    """Count the messages in boxes that lie in one property."""
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
        property_bounds=_raw([bound.sql for bound in bounds]),
        owner=resolve(background.owner, relation, engine.dialect, about("owner")),
        properties=relation,
    )
    (counts,) = engine.run(statement)
    return RestrictedSpace(*counts)


def count_users_in_boxes(
    boxes: BoxTable, where: Target, places: Places, k: int, step: str, *, by_user: bool = True
) -> tuple[Holding, Observed]:
    """Count the different users of a table of places in each box, and what an attacker who saw them concludes.

    Args:
        boxes: the boxes.
        where: the table of users with place and time.
        places: its columns.
        k: the number of users that a box should have.
        step: the name of the statement.
        by_user: whether it counts who sent the messages.

    Raises:
        UsageError: the table lacks a column, or a column has values of another kind than the boxes.
    """
    engine, relation = boxes.engine, boxes.engine.open(where)
    columns = {name: resolve(text, relation, engine.dialect, about(name)) for name, text in places.named().items()}
    columns["user"] = apply_spelling_policy(engine, relation, columns["user"], places.values, missing=False)
    check_kinds(engine, relation, [columns["x"], columns["y"]], where.name, timestamps=None)
    check_kinds(engine, relation, [columns["time"]], where.name, timestamps=boxes.timestamps)
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
        who=columns["user"],
        x=columns["x"],
        y=columns["y"],
        t=columns["time"],
    )
    (counts,) = engine.run(statement)
    observed = Observed(counts[0], *counts[5:])
    return Holding(*counts[:5]), observed if person is not None else replace(observed, right=None)


def check_kinds(
    engine: Engine, relation: Relation, columns: Sequence[Resolved], option: str, *, timestamps: bool | None
) -> None:
    """Check that columns hold numbers (`timestamps` None or False) or times (True).

    Raises:
        UsageError: a column does not.
    """
    allowed = TIMES if timestamps else NUMBERS
    for column in columns:
        kind = column_type(engine, relation, column).kind
        if kind not in allowed:
            expected = " or ".join(kind_allowed.value for kind_allowed in allowed)
            as_boxes = "" if timestamps is None else ", as the boxes do"
            raise UsageError(f"{option}: {column.label} is {kind.value}, but must be {expected}{as_boxes}.")


def _raw(texts: Sequence[str]) -> list[Raw]:
    return [Raw(text) for text in texts]
