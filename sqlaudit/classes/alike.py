"""The table for somebody who knows all rows of a person: persons with the same combinations form the classes."""

from __future__ import annotations

from sqlaudit.base.relation import Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.facts import Frame
from sqlaudit.engines.contract import Engine

BESIDE = 500
"""Histograms of persons with all their rows stand so many places behind those of rows."""


def alike_statement(engine: Engine, frame: Frame) -> Statement:
    """The rows (known, e, s): a number for the set of all combinations of a row's person, the person, the value."""
    return render(
        "classes/persons_alike.sql",
        engine.dialect,
        step="persons with the same rows",
        source=Raw(frame.source),
        keys=[Raw(key) for key in frame.keys],
        sensitive=None if frame.sensitive is None else Raw(frame.sensitive),
        entity=None if frame.entity is None else Raw(frame.entity),
        solo=frame.solo and bool(frame.keys),
    )


def alike_frame(engine: Engine, frame: Frame, part: int = 0) -> Frame:
    """The frame in which all rows of a person are known: the key of a row is what its person's rows say together.

    Args:
        engine: keeps the rows for the session where it can. frame: with keys and an entity.
        part: which of several such frames of a session this is.
    """
    statement = alike_statement(engine, frame)
    source = f"({statement.sql})"
    if engine.can_materialize:
        source = engine.materialize(f"sqlaudit_alike_{part}", statement).sql
    return frame_of_alike(frame, source)


def frame_of_alike(frame: Frame, source: str) -> Frame:
    """The frame over rows of `alike_statement`, when these are made."""
    return Frame(source, ("known",), "e", False, (False,), None if frame.sensitive is None else "s")
