"""The people of a table, grouped once: by class and person, and by all rows of a person."""

from __future__ import annotations

from dataclasses import replace

from sqlaudit.base.relation import Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.facts import Frame, GroupedPeople, SensitiveTable
from sqlaudit.engines.contract import Engine

KNOWN_ROWS_OFFSET = 500
"""Number of the first histogram of people by all their rows; those of single rows have smaller numbers."""
_SAME_ROWS = "people with the same rows"


def group_people(engine: Engine, frame: Frame, table: SensitiveTable | None = None, lanes: str = "") -> Frame:
    """Return the frame with its rows grouped by class and person, from which counts of people follow.

    The relations replace those of the frame before. The frame is unchanged if it has no entity or no keys, if a row
    with a missing value is a class of its own, or if the engine does not number materialized rows.

    Args:
        engine: the engine that groups.
        frame: the table.
        table: the sensitive attribute over the whole table.
        lanes: a FROM item of (lane, s, total), to keep the sensitive values too; empty = they are not kept.
    """
    if frame.entity is None or not frame.keys or frame.solo or not engine.numbers_rows:
        return frame
    null_bit = 1 << (table.distinct - 1) if table and table.has_null else 0
    grouped = render(
        "classes/people_grouped.sql",
        engine.dialect,
        step="people by group",
        **frame.parameters(),
        kept_lanes=Raw(lanes) if lanes else None,
        null_bit=null_bit,
    )
    by_class = Raw(engine.materialize("sqlaudit_people", grouped).sql)
    has_values = bool(lanes)
    alike = render("classes/people_alike.sql", engine.dialect, step=_SAME_ROWS, grouped=by_class, values=has_values)
    by_rows = engine.materialize("sqlaudit_alike", alike).sql
    keys: tuple[str, ...] = ("least", "most", "middle", "many")
    several = "BIT_COUNT(present) > 1" if has_values else "1 = 0"
    spread = render(
        "classes/people_spread.sql",
        engine.dialect,
        step="people with several combinations",
        alike=Raw(by_rows),
        several_values=several,
    )
    persons, in_classes, in_places, with_values, ambiguous = (int(number) for number in engine.run(spread)[0])
    if ambiguous:
        compared = render(
            "classes/people_compared.sql", engine.dialect, step=_SAME_ROWS, grouped=by_class, alike=Raw(by_rows)
        )
        by_rows = engine.materialize("sqlaudit_compared", compared).sql
        keys += ("list",)
        engine.drop("sqlaudit_alike")
    by_all_rows = GroupedPeople(by_rows, keys, persons, 0, with_values, has_values)
    people = GroupedPeople(by_class.sql, ("combination",), persons, in_classes, in_places, has_values, by_all_rows)
    return replace(frame, people=people)


# The table for an attacker who knows all rows of a person: people with the same set of rows form the classes.


def known_rows_statement(engine: Engine, frame: Frame) -> Statement:
    """Return the statement of rows (key, e, s): the person's set of rows, the person, the value."""
    alike = frame.people.by_all_rows if frame.people else None
    return render(
        "classes/persons_alike.sql",
        engine.dialect,
        step=_SAME_ROWS,
        **frame.parameters(),
        alike=Raw(alike.relation) if alike else None,
        known=alike.keys if alike else ("known",),
    )


def make_known_rows_frame(engine: Engine, frame: Frame, part: int = 0) -> Frame:
    """Return the frame for an attacker who knows all rows of a person: the key of a row is its person's set of rows.

    Args:
        engine: the engine. It materializes the rows if it can, unless classes are counted from grouped people.
        frame: a frame with keys and an entity.
        part: the number of this frame among those of the session.
    """
    frame = frame if frame.people else group_people(engine, frame)
    statement = known_rows_statement(engine, frame)
    are_grouped = frame.people is not None and frame.people.has_values == (frame.sensitive is not None)
    if are_grouped or not engine.can_materialize:
        return known_rows_frame(frame, f"({statement.sql})")
    return known_rows_frame(frame, engine.materialize(f"sqlaudit_known_{part}", statement).sql)


def known_rows_frame(frame: Frame, source: str) -> Frame:
    """Return the frame over the rows of `known_rows_statement`, which are in the FROM item `source`."""
    people = frame.people.by_all_rows if frame.people else None
    keys = people.keys if people else ("known",)
    sensitive = None if frame.sensitive is None else "s"
    return Frame(source, keys, "e", False, (False,) * len(keys), sensitive, people=people)
