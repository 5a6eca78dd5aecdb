"""Messages of a table cloaked as they came: read in the order of their time, held back, boxed, audited, then written.

The table is read twice in the same order. First boxes and their users go to a DuckDB in memory, where an audit counts
the users of every box; then, if each has enough, the messages are written with their boxes. Python holds what waits.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from sqlaudit.audits.emit import before, statements_before, write
from sqlaudit.base.errors import EngineError, UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.publication import NOTHING, Publication
from sqlaudit.base.relation import Row, Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import about, spelled
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.provenance import provenance
from sqlaudit.remedies.cloak.messages import LIMIT, Messages, open_messages
from sqlaudit.remedies.cloak.request import BOUNDS, CloakRequest
from sqlaudit.remedies.cloak.result import Attacks, CloakLevel, CloakResult, Holding, MessageOutcome
from sqlaudit.remedies.cloak.run import audit_of_boxes, disagree, holding
from sqlaudit.remedies.cloak.stream import CloakStream, SentBox

_SENT = "sqlaudit_sent"
_BATCH = 10_000
_MICRO = 1_000_000
_FIRST = datetime(1970, 1, 1)


@dataclass
class _Told:
    """What became of the messages so far."""

    dropped: Counter[MessageOutcome] = field(default_factory=Counter)
    boxes: Counter[Fraction] = field(default_factory=Counter)
    messages: Counter[Fraction] = field(default_factory=Counter)
    fewest: dict[Fraction, int] = field(default_factory=dict)

    def take(self, box: SentBox) -> None:
        """Count a box under the length of its interval."""
        seconds = box.t_max - box.t_min
        self.boxes[seconds] += 1
        self.messages[seconds] += len(box.messages)
        self.fewest[seconds] = min(box.users, self.fewest.get(seconds, box.users))

    def levels(self, side: Fraction) -> tuple[CloakLevel, ...]:
        """The boxes by the length of their interval, the longest first."""
        return tuple(
            CloakLevel(side, seconds, self.boxes[seconds], self.messages[seconds], self.fewest[seconds])
            for seconds in sorted(self.boxes, reverse=True)
        )


def cloak_arrivals(engine: Engine, request: CloakRequest, publication: Publication = NOTHING) -> CloakResult:
    """Cloak a table of messages as they came, audit what comes out, and write it.

    Args:
        engine: an open engine. request: what is asked, with a `delay`. publication: where the messages go.

    Raises:
        UsageError: a column that does not fit, a file that cannot be written, or SQL asked for: no SELECT says it.
        EngineError: the database refused or failed, or the audit contradicts the cloaking; then nothing is written.
    """
    _refuse_sql(publication)
    already = len(engine.executed)
    messages = open_messages(engine, request)
    before(engine, publication, messages.written(publication.keep))
    told = _Told()
    audit = _audited(messages, told)
    published = sum(told.messages.values())
    rows = (_rows(messages, box) for box in _boxes(messages, _Told()))
    another = disagree("the file has another number of messages")
    write(publication, "", (*BOUNDS, *messages.columns), rows, published, another)
    return CloakResult(
        target=request.target.name,
        k=request.k,
        lonlat=False,
        own=tuple(f"--{name.replace('_', '-')}" for name in request.tolerances.named()),
        suppress=request.suppress,
        divide=request.divide.value,
        delay=request.delay,
        rows=published + sum(told.dropped.values()),
        dropped=dict(told.dropped),
        levels=told.levels(request.box),
        columns=messages.columns,
        audit=audit,
        attacks=Attacks(),
        file=str(publication.file or ""),
        **provenance(engine, already),
    )


def plan_arrivals(engine: Engine, request: CloakRequest, publication: Publication = NOTHING) -> list[Statement]:
    """The statement that reads the messages in the order of their time, after what is looked at before writing."""
    _refuse_sql(publication)
    messages = open_messages(engine, request)
    return [*statements_before(engine, publication, messages.written(publication.keep)), _arrivals(messages)]


def _refuse_sql(publication: Publication) -> None:
    if publication.is_sql:
        raise UsageError(
            f"{spelled('delay')}: which messages still wait depends on all boxes before, which no SELECT can say. "
            f"Write the messages to a .csv or .parquet file with {about('to')}."
        )


def _arrivals(messages: Messages) -> Statement:
    sql = {name: Raw(role.sql) for name, role in messages.roles.items()}
    dialect = messages.engine.dialect
    return render(
        "remedies/cloak/cloak_arrivals.sql",
        dialect,
        step="messages in the order of their time",
        source=Raw(messages.relation.sql),
        person=sql["user"],
        x=sql["x"],
        y=sql["y"],
        t=sql["time"],
        own_delay=sql.get("delay_column"),
        x_kind=messages.kinds["x"].value,
        y_kind=messages.kinds["y"].value,
        t_kind=messages.kinds["time"].value,
        timestamps=messages.timestamps,
        side=_decimal(messages.request.box),
        limit=LIMIT,
        carried=[Raw(quote(name, dialect)) for name in messages.columns],
    )


def _decimal(size: Fraction) -> str:
    """A size as it is written; sizes are multiples of an eighth."""
    return f"{float(size):.3f}"


def _boxes(messages: Messages, told: _Told) -> Iterator[SentBox]:
    """The boxes in the order in which they leave. A message of a box is its user and the columns that are published."""
    request = messages.request
    broker = CloakStream(k=request.k, box=1, delay=request.delay or 0, step=request.interval)
    for batch in messages.engine.stream(_arrivals(messages), _BATCH):
        for is_missing, column, row, time, own, person, *carried in batch:
            when = _seconds(time, timestamps=messages.timestamps)
            if is_missing:
                told.dropped[MessageOutcome.MISSING] += 1
            elif column is None or row is None or when is None:
                told.dropped[MessageOutcome.NO_PLACE] += 1
            else:
                box = broker.send(person, column, row, when, (person, *carried), delay=_delay(own, request))
                if box is not None:
                    told.take(box)
                    yield box
    broker.close()
    told.dropped[MessageOutcome.TOO_FEW] += broker.dropped


def _seconds(time: Any, *, timestamps: bool) -> Fraction | None:
    """The time of a message, None where it is no time."""
    if time is None or not math.isfinite(time):
        return None
    found = Fraction(time) / (_MICRO if timestamps else 1)
    return found if abs(found) <= LIMIT else None


def _delay(own: float | None, request: CloakRequest) -> Fraction:
    """How long a message may be held back: what it asks for, and no longer than all others."""
    longest = request.delay or Fraction(0)
    return longest if own is None or math.isnan(own) else min(longest, Fraction(max(0.0, min(own, float(LIMIT)))))


def _bounds(messages: Messages, box: SentBox) -> Row:
    """The bounds of a box as they are published."""
    side = messages.request.box
    places = [float(bound * side) for bound in (box.x_min, box.x_max, box.y_min, box.y_max)]
    return (*places, *(_moment(messages, time) for time in (box.t_min, box.t_max)))


def _moment(messages: Messages, time: Fraction) -> Any:
    """A bound in time: a timestamp where the messages have some.

    Raises:
        UsageError: it lies beyond all years.
    """
    if not messages.timestamps:
        return float(time)
    try:
        return _FIRST + timedelta(microseconds=int(time * _MICRO))
    except OverflowError:
        raise UsageError(f"{about('interval')}: a box would end after the year 9999; take a shorter one.") from None


def _rows(messages: Messages, box: SentBox) -> Sequence[Row]:
    """The published messages of a box, in an order that says nothing of when each was sent."""
    bounds = _bounds(messages, box)
    return [(*bounds, *carried) for carried in sorted((message[1:] for message in box.messages), key=repr)]


def _audited(messages: Messages, told: _Told) -> Holding | None:
    """What an audit says of the boxes with their users; None when nothing leaves.

    Raises:
        EngineError: it finds another number of messages, or a box of fewer users.
    """
    columns = [*((name, "DOUBLE") for name in BOUNDS[:4])]
    columns += [(name, "TIMESTAMP" if messages.timestamps else "DOUBLE") for name in BOUNDS[4:]]
    users = ([(*_bounds(messages, box), message[0]) for message in box.messages] for box in _boxes(messages, told))
    with connect(None, messages.engine.limits) as workbench:
        relation = workbench.keep_rows(_SENT, [*columns, ("person", "VARCHAR")], users)
        published = sum(told.messages.values())
        if not published:
            return None
        held = holding(audit_of_boxes(workbench, relation, BOUNDS, "person", messages.request.k))
    if held.messages != published:
        raise EngineError(disagree(f"there are {held.messages:,} messages, not {published:,}"))
    if not held.passed:
        raise EngineError(disagree(f"{held.failing_boxes:,} boxes have fewer than {messages.request.k:,} users"))
    return held
