"""The Python interface to cloaking: `sqlaudit.cloak` and `sqlaudit.audit_boxes`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlaudit.base.annotated import wrong_types_told
from sqlaudit.base.numbers import Share
from sqlaudit.base.options import request_from
from sqlaudit.base.publication import Publication
from sqlaudit.base.spec import Limits, ReadOptions, Target
from sqlaudit.base.targets import make_target
from sqlaudit.engines import opened
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.overwriting import files_read, refuse_overwriting
from sqlaudit.remedies.cloak.arrivals import cloak_arrivals
from sqlaudit.remedies.cloak.boxes import audit_boxes as audit_box_table
from sqlaudit.remedies.cloak.grid import Divide
from sqlaudit.remedies.cloak.request import BOUNDS, Background, BoxRequest, CloakRequest, Places, Tolerances
from sqlaudit.remedies.cloak.result import BoxAudit, CloakResult
from sqlaudit.remedies.cloak.run import cloak_messages


@wrong_types_told
def cloak(
    messages: Any = None,
    *,
    user: str,
    x: str,
    y: str,
    time: str,
    k: int,
    box: Share,
    interval: Share,
    smallest_box: Share | None = None,
    smallest_interval: Share | None = None,
    divide: Divide | str = Divide.ALTERNATELY,
    k_column: str = "",
    box_column: str = "",
    interval_column: str = "",
    delay: Share | None = None,
    delay_column: str = "",
    suppress: Share = 0,
    lonlat: bool = False,
    identifier: Sequence[str] = (),
    properties: Any = None,
    property_bounds: Sequence[str] = BOUNDS[:4],
    owner: str = "owner",
    observations: Any = None,
    to: str | Path | None = None,
    publish_sql: bool = False,
    keep_column: Sequence[str] | str = (),
    db: str | Engine | None = None,
    query: str = "",
    where: str = "",
    read: ReadOptions | Mapping[str, Any] | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
) -> CloakResult:
    """Hide each message among k users, in a box in space and an interval in time (`sqlaudit cloak`).

    Every published box holds messages of at least k different users that are published with this very box, and no two
    boxes overlap (docs/remedies.md says why that matters).

    Args:
        messages: a table, view, file path or glob, or a pandas, polars or Arrow table; None with `query`.
        user, x, y, time: columns or expressions: who sent a message, where (metres on a plane), and when (a timestamp,
            or a number of seconds).
        k: as many different users at least.
        box, interval: the largest box (its side in metres, or `1km`) and interval (seconds, or `10min`).
        smallest_box, smallest_interval: no box is smaller; a sixteenth of the largest unless said.
        divide: what is divided first: `alternately`, `space-first` or `time-first`.
        k_column, box_column, interval_column: columns with what a single message asks for: more users, no larger box
            (metres), no longer interval (seconds). A missing value asks for nothing of its own.
        delay: cloak messages as they come, and hold none back longer (seconds, or `30s`): all boxes have the side
            `box`, and their times are whole multiples of `interval`. delay_column: less than that for single messages.
        suppress: the share of the messages that may be dropped, besides those that no box can hide, for finer boxes.
        lonlat: x and y are longitude and latitude in degrees.
        identifier: further columns that are not published.
        properties, property_bounds, owner: rectangles and whom they belong to, for restricted space identification.
        observations: who was seen where and when, in columns of the same names, for observation identification.
        to: write the messages to a .parquet or .csv file, or their SELECT to a .sql file. publish_sql: tell it, too.
        keep_column: columns that are written though they look like direct identifiers.
        db, query, where, read, limits: as for `sqlaudit.audit`.

    Raises:
        UsageError: a column, size or file that does not fit.
        EngineError: the database refused or failed, or the audit contradicts the cloaking.

    Example:
        >>> import pandas as pd, sqlaudit
        >>> sent = pd.DataFrame({"who": list("abcda"), "x": [10, 30, 700, 720, 5], "y": 0.0, "t": [0, 9, 5, 8, 7]})
        >>> found = sqlaudit.cloak(sent, user="who", x="x", y="y", time="t", k=2, box="1km", interval="1min")
        >>> found.published, found.boxes, [float(level.side) for level in found.levels if level.boxes]
        (5, 2, [125.0])
    """
    tables = {"properties": _table(properties, read), "observations": _table(observations, read)}
    request = request_from(
        CloakRequest,
        locals(),
        target=make_target(messages, query=query, where=where, read=read),
        places=request_from(Places, locals()),
        tolerances=request_from(Tolerances, locals()),
        background=request_from(Background, {**locals(), **tables}),
    )
    publication = request_from(Publication, locals())
    publication.check()
    refuse_overwriting([publication.file], files_read(db, request.targets()))
    with opened(db, limits, *request.targets()) as engine:
        if request.delay is not None:
            return cloak_arrivals(engine, request, publication)
        return cloak_messages(engine, request, publication)


@wrong_types_told
def audit_boxes(
    messages: Any = None,
    *,
    k: int,
    bounds: Sequence[str] = BOUNDS,
    user: str = "user",
    x: str = "x",
    y: str = "y",
    time: str = "time",
    positions: Any = None,
    properties: Any = None,
    property_bounds: Sequence[str] = BOUNDS[:4],
    owner: str = "owner",
    observations: Any = None,
    db: str | Engine | None = None,
    query: str = "",
    where: str = "",
    read: ReadOptions | Mapping[str, Any] | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
) -> BoxAudit:
    """Audit the boxes of messages that somebody else cloaked (`sqlaudit cloak --audit-only`).

    Args:
        messages: the messages with their boxes, as for `cloak`. k: as many different users at least.
        bounds: its columns x_min, x_max, y_min, y_max, t_min, t_max.
        user: the column of users, in the messages (if they have it), the positions and the observations.
        x, y, time: columns of the positions and observations. positions: where users truly were.
        properties, property_bounds, owner, observations: as for `cloak`.
        db, query, where, read, limits: as for `sqlaudit.audit`.

    Raises:
        UsageError: a column that is not there or does not fit.
        EngineError: the database refused or failed.

    Example:
        >>> import pandas as pd, sqlaudit
        >>> boxes = pd.DataFrame({"user": list("abc"), "x_min": [0, 0, 9], "x_max": [9, 9, 18], "y_min": 0, "y_max": 9,
        ...                       "t_min": 0, "t_max": 60})
        >>> found = sqlaudit.audit_boxes(boxes, k=2)
        >>> found.passed, found.classes.fewest, found.classes.failing_messages
        (False, 1, 1)
    """
    tables = {"properties": _table(properties, read), "observations": _table(observations, read)}
    request = request_from(
        BoxRequest,
        {**locals(), "positions": _table(positions, read)},
        target=make_target(messages, query=query, where=where, read=read),
        places=request_from(Places, locals()),
        background=request_from(Background, {**locals(), **tables}),
    )
    with opened(db, limits, *request.targets()) as engine:
        return audit_box_table(engine, request)


def _table(table: Any, read: ReadOptions | Mapping[str, Any] | None) -> Target | None:
    return None if table is None else make_target(table, read=read)
