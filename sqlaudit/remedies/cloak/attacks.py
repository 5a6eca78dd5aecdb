"""Attacks on boxes (Barriers, section 4.3), and the count of users who were in them.

Restricted space identification: a box that lies in one known property says whose messages these are. Observation
identification: who was seen in a box, alone among those who were seen, has sent its messages, as far as an attacker can
tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlaudit.base.columns_of import Resolved, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import about
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.dictionary import held
from sqlaudit.remedies.cloak.messages import NUMBERS, TIMES
from sqlaudit.remedies.cloak.request import Background, Places
from sqlaudit.remedies.cloak.result import Attacks, Holding, Observed, RestrictedSpace


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


@dataclass(frozen=True)
class Seen:
    """How many different users of a table of places the boxes hold.

    Args:
        held: against k. observed, linkable: boxes with some user, and with exactly one. messages: of the linkable ones.
        right: those that this user sent. skipped: rows without user, place or time.
    """

    held: Holding
    observed: int
    linkable: int
    messages: int
    right: int
    skipped: int


def attacks_on(boxes: BoxTable, background: Background, places: Places) -> Attacks:
    """The attacks for which there is a table.

    Raises:
        UsageError: such a table lacks a column, or its column holds something else.
    """
    return Attacks(_restricted(boxes, background), _observed(boxes, background, places))


def _restricted(boxes: BoxTable, background: Background) -> RestrictedSpace | None:
    if background.properties is None:
        return None
    engine, relation = boxes.engine, boxes.engine.open(background.properties)
    bounds = [resolve(name, relation, engine.dialect, about("property_bounds")) for name in background.property_bounds]
    check_kinds(engine, relation, bounds, about("property_bounds"), timestamps=None)
    statement = render(
        "remedies/cloak/cloak_restricted.sql",
        engine.dialect,
        step="restricted space identification",
        boxes=Raw(boxes.sql),
        bounds=_raw(boxes.bounds[:4]),
        every_bound=_raw(boxes.bounds),
        property_bounds=_raw([one.sql for one in bounds]),
        owner=Raw(resolve(background.owner, relation, engine.dialect, about("owner")).sql),
        properties=Raw(relation.sql),
    )
    ((known, inside, exposed, messages, skipped),) = engine.run(statement)
    return RestrictedSpace(known, inside, exposed, messages, skipped)


def _observed(boxes: BoxTable, background: Background, places: Places) -> Observed | None:
    if background.observations is None:
        return None
    seen = users_seen(boxes, background.observations, places, 1, "observation identification")
    right = seen.right if boxes.user is not None else None
    return Observed(seen.held.boxes, seen.observed, seen.linkable, seen.messages, right, seen.skipped)


def users_seen(boxes: BoxTable, where: Target, places: Places, k: int, step: str, *, by_user: bool = True) -> Seen:
    """How many users of a table of places each box holds.

    Args:
        boxes: the boxes. where: the table of places, places: its columns. k: as many should be in a box.
        step: how the statement is called. by_user: whether it matters who sent the messages.

    Raises:
        UsageError: the table lacks a column, or a column holds something else than the boxes do.
    """
    engine, relation = boxes.engine, boxes.engine.open(where)
    found = {name: resolve(text, relation, engine.dialect, about(name)) for name, text in vars(places).items()}
    check_kinds(engine, relation, [found["x"], found["y"]], where.name, timestamps=None)
    check_kinds(engine, relation, [found["time"]], where.name, timestamps=boxes.timestamps)
    statement = render(
        "remedies/cloak/cloak_seen.sql",
        engine.dialect,
        step=step,
        boxes=Raw(boxes.sql),
        bounds=_raw(boxes.bounds),
        k=k,
        person=Raw(boxes.user) if boxes.user is not None and by_user else None,
        points=Raw(relation.sql),
        who=Raw(found["user"].sql),
        x=Raw(found["x"].sql),
        y=Raw(found["y"].sql),
        t=Raw(found["time"].sql),
    )
    ((all_boxes, messages, fewest, failing, in_failing, observed, linkable, linked, right, skipped),) = engine.run(
        statement
    )
    return Seen(Holding(all_boxes, messages, fewest, failing, in_failing), observed, linkable, linked, right, skipped)


def check_kinds(
    engine: Engine, relation: Relation, columns: Sequence[Resolved], option: str, *, timestamps: bool | None
) -> None:
    """Nothing when columns hold numbers (`timestamps` None or False) or times (True).

    Raises:
        UsageError: one does not.
    """
    allowed = TIMES if timestamps else NUMBERS
    for column in columns:
        kind = held(engine, relation, column).kind
        if kind not in allowed:
            listed = " or ".join(one.value for one in allowed)
            as_boxes = "" if timestamps is None else ", as the boxes do"
            raise UsageError(f"{option}: {column.label} holds {kind.value}; it must hold {listed}{as_boxes}.")


def _raw(texts: Sequence[str]) -> list[Raw]:
    return [Raw(text) for text in texts]
