"""Cloaking from the table to the file: boxes are found, audited, attacked, and then written."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from sqlaudit.audits.auditor import Auditor
from sqlaudit.audits.release import bare, before, contradiction, statements_before, write
from sqlaudit.audits.request import request_verdicts
from sqlaudit.base.columns_of import Resolved, find_column, resolve
from sqlaudit.base.errors import EngineError, UsageError
from sqlaudit.base.options import REQUIRED, Given, request_from, takes
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.publication import NOTHING, Publication
from sqlaudit.base.relation import Relation, Row, Statement
from sqlaudit.base.spec import Folding, KnownRows, Roles, Target, make_target, target_of
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.opening import ColumnValues, refuse_merged, settled
from sqlaudit.engines import connect, opened
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.engines.writing import files_read, refuse_overwriting
from sqlaudit.hierarchies.dictionary import column_type
from sqlaudit.models.registry import parse_requirement
from sqlaudit.remedies.cloak.messages import (
    LIMIT,
    TIMES,
    BoxTable,
    Messages,
    attacks_on,
    check_kinds,
    messages_statement,
    open_messages,
    reach_statement,
    release_statement,
    users_seen,
)
from sqlaudit.remedies.cloak.request import BOUNDS, Background, BoxRequest, CloakRequest, Places, Tolerances
from sqlaudit.remedies.cloak.result import Attacks, BoxAudit, CloakLevel, CloakResult, Holding, MessageOutcome
from sqlaudit.remedies.cloak.stream import CloakStream, SentBox

# Cloaking from the table to the file: boxes found, counted, audited, attacked, and only then written.

CLOAKED = "sqlaudit_cloaked"
"""The name under which messages with their boxes are kept for a while, where an engine can."""


def cloak_messages(engine: Engine, request: CloakRequest, publication: Publication = NOTHING) -> CloakResult:
    """Cloak a table of messages, audit the result, and write it.

    Args:
        engine: an open engine. request: the request. publication: the destination of the messages.

    Raises:
        UsageError: a column that does not fit, ambiguous spellings of users, or a file that cannot be written.
        EngineError: the database refused or failed, or the audit contradicts the cloaking; then nothing is written.
    """
    already = len(engine.executed)
    messages = _messages(engine, request, publication)
    sql = ""
    if publication.is_sql:  # the SELECT of the cloaked messages, which needs nothing of this session
        source = messages_statement(messages, engine.lasting(messages.relation))
        sql = bare(release_statement(messages, _item(source)))
    with _kept(messages) as item:
        levels = render("remedies/cloak/cloak_levels.sql", engine.dialect, step="sizes of boxes", messages=Raw(item))
        counted = engine.run(levels)
        published = sum(row[3] for row in counted if row[0] == MessageOutcome.PUBLISHED)
        audit = _audited(messages, item, published) if published else None
        attacks = Attacks()
        if published:
            boxed = f"(SELECT * FROM {item} AS cloaked WHERE outcome = 0)"
            boxes = BoxTable(engine, boxed, BOUNDS, "person", messages.timestamps)
            attacks = attacks_on(boxes, request.background, request.places)
        batches = engine.stream(release_statement(messages, item))
        _write(messages, publication, batches, published, sql)
    return _result(
        messages,
        publication,
        already,
        lonlat=request.lonlat,
        rows=sum(row[3] for row in counted),
        dropped={MessageOutcome(row[0]): row[3] for row in counted if row[0]},
        levels=_levels(messages, counted),
        audit=audit,
        attacks=attacks,
        sql=sql,
    )


def _messages(engine: Engine, request: CloakRequest, publication: Publication) -> Messages:
    """The messages, when it is known who is one user and that they can be written."""
    messages = open_messages(engine, request)
    refuse_merged_users(engine, messages.relation, messages.roles["user"], request.places)
    before(engine, publication, messages.written(publication.keep))
    return messages


def _write(
    messages: Messages, publication: Publication, batches: Iterable[Sequence[Row]], published: int, sql: str = ""
) -> None:
    another = disagree("the file has a different number of messages")
    write(publication, sql, (*BOUNDS, *messages.columns), batches, published, another)


def _result(messages: Messages, publication: Publication, already: int, **found: Any) -> CloakResult:
    """The result, with what was asked and what ran since so many statements."""
    request = messages.request
    return CloakResult(
        target=request.target.name,
        k=request.k,
        own=tuple(f"--{name.replace('_', '-')}" for name in request.tolerances.named()),
        suppress=request.suppress,
        divide=request.divide.value,
        columns=messages.columns,
        file=str(publication.file or ""),
        **found,
        **provenance(messages.engine, already),
    )


def refuse_merged_users(engine: Engine, relation: Relation, user: Resolved, places: Places) -> None:
    """Nothing where it is known who is one user.

    Raises:
        UsageError: names of users may mean one, and nobody said whether they do.
    """
    refuse_merged(engine, [ColumnValues(user.label, [(relation, user)], missing=False)], places.values)


def plan_cloaking(engine: Engine, request: CloakRequest, publication: Publication = NOTHING) -> list[Statement]:
    """The statement that finds the boxes, after what is looked at when they are to be written; all others read what it
    finds."""
    messages = open_messages(engine, request)
    return [*statements_before(engine, publication, messages.written(publication.keep)), messages_statement(messages)]


def _item(statement: Statement) -> str:
    return f"({bare(statement)})"


@contextmanager
def _kept(messages: Messages) -> Iterator[str]:
    """A FROM item of all messages with their boxes: kept for a while where the engine can, else the statement."""
    engine, statement = messages.engine, messages_statement(messages, tried=levels_tried(messages))
    if not engine.can_materialize:
        yield _item(statement)
        return
    kept = engine.materialize(CLOAKED, statement)
    try:
        yield kept.sql
    finally:
        engine.drop(CLOAKED)


def levels_tried(messages: Messages) -> int:
    """How many levels, from the largest cells, are worth looking at: at the others no cell has k users.

    A part of a cell never has more users than the cell, so the last level is found by halving. At least one is tried.
    """
    low, high = 1, len(messages.levels)
    while low < high:
        middle = (low + high + 1) // 2
        ((most,),) = messages.engine.run(reach_statement(messages, middle - 1))
        low, high = (middle, high) if most >= messages.request.k else (low, middle - 1)
    return low


def _levels(messages: Messages, counted: list[Row]) -> tuple[CloakLevel, ...]:
    """The grid with what was published at each level.

    Raises:
        EngineError: a box has fewer users than one of its messages asks for.
    """
    if any(row[5] for row in counted if row[0] == MessageOutcome.PUBLISHED):
        raise EngineError(disagree("a box has fewer users than one of its messages requires"))
    found = {row[1]: row[2:5] for row in counted if row[0] == MessageOutcome.PUBLISHED}
    return tuple(
        CloakLevel(level.side, level.seconds, *found.get(place, (0, 0, None)))
        for place, level in enumerate(messages.levels)
    )


def disagree(what: str) -> str:
    """The sentence of the error that a contradiction is."""
    return contradiction("The audit contradicts the cloaking, and nothing was published", what)


def _audited(messages: Messages, item: str, published: int) -> Holding:
    """What an audit says of the published messages, before their users are left out: k users in every box.

    Raises:
        EngineError: it finds another number of messages, or a box of fewer users.
    """
    statement = render(
        "remedies/cloak/cloak_audited.sql", messages.engine.dialect, step="published boxes", messages=Raw(item)
    )
    relation = Relation(_item(statement), tuple(messages.engine.result_columns(statement)), messages.relation.label)
    return _held(messages.engine, relation, messages.request.k, published)


def _held(engine: Engine, relation: Relation, k: int, published: int) -> Holding:
    """What an audit says of published boxes with their users.

    Raises:
        EngineError: it finds another number of messages, or a box of fewer users.
    """
    held = holding(engine, relation, BOUNDS, "person", k)
    if held.messages != published:
        raise EngineError(disagree(f"there are {held.messages:,} messages, not {published:,}"))
    if not held.passed:
        raise EngineError(disagree(f"{held.failing_boxes:,} boxes have fewer than {k:,} users"))
    return held


def holding(
    engine: Engine,
    relation: Relation,
    bounds: tuple[str, ...],
    user: str,
    k: int,
    values: Folding | None = Folding.EXACT,
) -> Holding:
    """How many users boxes have: an audit with their bounds as quasi-identifiers, and the user as the entity."""
    audit = request_verdicts(
        Target(relation=relation.label),
        Roles(quasi_identifiers=bounds, entity=user, known_rows=KnownRows.ONE, values=values),
        (parse_requirement(f"k={k}"),),
    )
    found = Auditor(engine, relation=relation).audit(audit)
    (check,) = found.checks
    fewest = min((size for size, _ in found.classes.sizes), default=None)
    return Holding(found.classes.count, found.rows, fewest, check.failing_classes or 0, check.failing_rows or 0)


# The audit of existing boxes.


def audit_given_boxes(engine: Engine, request: BoxRequest) -> BoxAudit:
    """Count the users of boxes, by both definitions as far as the tables go, and attack them.

    Args:
        engine: an open engine. request: which boxes, and what they are compared with.

    Raises:
        UsageError: a column that is not there or does not fit.
        EngineError: the database refused or failed.
    """
    already = len(engine.executed)
    relation, bounds = _opened(engine, request)
    named = find_column(request.places.user, relation)
    user = None
    if named is not None:
        user = resolve(named.name, relation, engine.dialect, about("user"))
        user = settled(engine, relation, user, request.places.values, missing=False)
        refuse_merged_users(engine, relation, user, request.places)
    boxes = BoxTable(
        engine,
        relation.sql,
        tuple(one.sql for one in bounds),
        None if user is None else user.sql,
        column_type(engine, relation, bounds[4]).kind in TIMES,
    )
    ((rows, unboxed),) = engine.run(_unboxed_statement(engine, relation, bounds))
    classes = None
    if named is not None and rows:
        names = tuple(one.label for one in bounds)
        classes = holding(engine, relation, names, named.name, request.k, request.places.values)
    presence, skipped = None, 0
    if request.positions is not None:  # users whose true position lies in a box, and positions that could not be used
        presence, seen = users_seen(
            boxes, request.positions, request.places, request.k, "users in boxes", by_user=False
        )
        skipped = seen.skipped
    return BoxAudit(
        target=request.target.name,
        k=request.k,
        rows=rows,
        unboxed=unboxed,
        classes=classes,
        presence=presence,
        skipped_positions=skipped,
        attacks=attacks_on(boxes, request.background, request.places),
        **provenance(engine, already),
    )


def plan_boxes(engine: Engine, request: BoxRequest) -> list[Statement]:
    """The statement that is known before anything has run."""
    return [_unboxed_statement(engine, *_opened(engine, request))]


def _opened(engine: Engine, request: BoxRequest) -> tuple[Relation, list[Resolved]]:
    """The table, and its columns of bounds, their kinds checked."""
    relation = engine.open(request.target)
    bounds = [resolve(name, relation, engine.dialect, about("bounds")) for name in request.bounds]
    check_kinds(engine, relation, bounds[:4], about("bounds"), timestamps=None)
    check_kinds(
        engine, relation, bounds[4:], about("bounds"), timestamps=column_type(engine, relation, bounds[4]).kind in TIMES
    )
    return relation, bounds


def _unboxed_statement(engine: Engine, relation: Relation, bounds: list[Resolved]) -> Statement:
    return render(
        "remedies/cloak/cloak_unboxed.sql", engine.dialect, step="messages without a box", boxes=relation, bounds=bounds
    )


# Messages of a table cloaked as they came: read in the order of their time, held back, boxed, audited, then written.
#
# The table is read twice in the same order. First boxes and their users go to a DuckDB in memory, where an audit counts
# the users of every box; then, if each has enough, the messages are written with their boxes. Python holds what waits.

_SENT = "sqlaudit_sent"
_BATCH = 10_000
_MICRO = 1_000_000
_FIRST = datetime(1970, 1, 1)


@dataclass
class _Told:
    """What became of the messages so far."""

    dropped: Counter[MessageOutcome] = field(default_factory=Counter)
    sent: dict[Fraction, tuple[int, int, int]] = field(default_factory=dict)
    """Boxes, messages and the fewest users of a box, by the length of its interval."""

    def take(self, box: SentBox) -> None:
        """Count a box under the length of its interval."""
        boxes, messages, fewest = self.sent.get(box.t_max - box.t_min, (0, 0, box.users))
        self.sent[box.t_max - box.t_min] = (boxes + 1, messages + len(box.messages), min(box.users, fewest))

    @property
    def published(self) -> int:
        """Messages that left."""
        return sum(messages for _, messages, _ in self.sent.values())


def cloak_arrivals(engine: Engine, request: CloakRequest, publication: Publication = NOTHING) -> CloakResult:
    """Cloak a table of messages as they arrived, audit the result, and write it.

    Args:
        engine: an open engine. request: the request, with a `delay`. publication: the destination of the messages.

    Raises:
        UsageError: a column that does not fit, a file that cannot be written, or a request for SQL.
        EngineError: the database refused or failed, or the audit contradicts the cloaking; then nothing is written.
    """
    _refuse_sql(publication)
    already = len(engine.executed)
    messages = _messages(engine, request, publication)
    told = _Told()
    audit = _arrivals_audited(messages, told)
    # the messages of a box in an order that says nothing of when each was sent
    rows = (
        [(*_bounds(messages, box), *carried) for carried in sorted((message[1:] for message in box.messages), key=repr)]
        for box in _boxes(messages, _Told())
    )
    _write(messages, publication, rows, told.published)
    longest_first = ((seconds, *told.sent[seconds]) for seconds in sorted(told.sent, reverse=True))
    return _result(
        messages,
        publication,
        already,
        lonlat=False,
        delay=request.delay,
        rows=told.published + told.dropped.total(),
        dropped=dict(told.dropped),
        levels=tuple(CloakLevel(request.box, *one) for one in longest_first),
        audit=audit,
        attacks=Attacks(),
    )


def plan_arrivals(engine: Engine, request: CloakRequest, publication: Publication = NOTHING) -> list[Statement]:
    """The statement that reads the messages in the order of their time, after what is looked at before writing."""
    _refuse_sql(publication)
    messages = open_messages(engine, request)
    return [*statements_before(engine, publication, messages.written(publication.keep)), _arrivals(messages)]


def _refuse_sql(publication: Publication) -> None:
    if publication.is_sql:
        raise UsageError(
            f"{spelled('delay')}: a SELECT cannot cloak messages as they arrive. Write them to a .csv or .parquet file "
            f"with {about('to')}."
        )


def _arrivals(messages: Messages) -> Statement:
    side = f"{float(messages.request.box):.3f}"  # as it is written; sizes are multiples of an eighth
    step, parameters = "messages in the order of their time", messages.parameters()
    return render("remedies/cloak/cloak_arrivals.sql", messages.engine.dialect, step=step, side=side, **parameters)


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
        raise UsageError(f"{about('interval')}: a box ends after the year 9999. Use a shorter interval.") from None


def _arrivals_audited(messages: Messages, told: _Told) -> Holding | None:
    """What an audit says of the boxes with their users; None when nothing leaves.

    Raises:
        EngineError: it finds another number of messages, or a box of fewer users.
    """
    times = "TIMESTAMP" if messages.timestamps else "DOUBLE"
    columns = [(name, "DOUBLE" if name in BOUNDS[:4] else times) for name in BOUNDS]
    users = ([(*_bounds(messages, box), message[0]) for message in box.messages] for box in _boxes(messages, told))
    with connect(None, messages.engine.limits) as workbench:
        relation = workbench.keep_rows(_SENT, [*columns, ("person", "VARCHAR")], users)
        return _held(workbench, relation, messages.request.k, told.published) if told.published else None


@takes(
    "messages * user x y time values k box interval smallest_box smallest_interval divide k_column box_column "
    "interval_column delay delay_column suppress lonlat identifier properties property_bounds owner observations to "
    "publish_sql keep_column db query where read limits",
    *(Places, CloakRequest, Tolerances, Background, Publication),
    messages=("Any", None),
    **dict.fromkeys(("user", "x", "y", "time"), ("str", REQUIRED)),
    k=("int", REQUIRED),
    **dict.fromkeys(("box", "interval"), ("Share", REQUIRED)),
)
def cloak(given: Given) -> CloakResult:
    """Hide each message among k users, in a box in space and an interval in time (`sqlaudit cloak`).

    Every published box has messages of at least k different users that are published with exactly this box. No two
    boxes overlap (docs/remedies.md explains why), except with `delay`: boxes of one cell follow each other, and one may
    start in the time step in which the last one ends.

    Args:
        messages: a table, view, file path or glob, or a pandas, polars or Arrow table; None with `query`.
        user, x, y, time: columns or expressions of the user, the place (metres on a plane), and the time (a timestamp,
            or a number of seconds).
        box: the side of the largest box, in metres or as `1km`.
        interval: the largest interval, in seconds or as `10min`.
        divide: order of divisions: `alternately`, `space-first` or `time-first`.
        k_column, box_column, interval_column: columns with limits of single messages: minimum number of users, maximum
            side (metres), maximum interval (seconds). A missing value sets no limit.
        delay: cloak messages as they arrive, with at most this delay (seconds, or `30s`): all boxes have the side
            `box`, and their times are whole multiples of `interval`.
        delay_column: column with shorter delays of single messages.
        suppress: maximum share of the publishable messages to drop for finer boxes.
        publish_sql: put the SELECT of the release into the result.

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
    tables = _tables(given, "properties", "observations")
    request = request_from(
        CloakRequest,
        vars(given),
        target=target_of(given, "messages"),
        places=request_from(Places, vars(given)),
        tolerances=request_from(Tolerances, vars(given)),
        background=request_from(Background, vars(given) | tables),
    )
    publication = request_from(Publication, vars(given))
    publication.check()
    refuse_overwriting([publication.file], files_read(given.db, request.targets()))
    with opened(given.db, given.limits, *request.targets()) as engine:
        if request.delay is not None:
            return cloak_arrivals(engine, request, publication)
        return cloak_messages(engine, request, publication)


@takes(
    "messages * k bounds user x y time values positions properties property_bounds owner observations db query where "
    "read limits",
    *(Places, BoxRequest, Background),
    messages=("Any", None),
    k=("int", REQUIRED),
    **{name: ("str", name) for name in ("user", "x", "y", "time")},
)
def audit_boxes(given: Given) -> BoxAudit:
    """Audit existing boxes of messages (`sqlaudit cloak --audit-only`).

    Args:
        messages: the messages with their boxes, as for `cloak`.
        bounds: the columns x_min, x_max, y_min, y_max, t_min, t_max of the boxes.
        user: the column of users, in the messages (if they have it), the positions and the observations.
        x, y, time: columns of the positions and observations.

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
    request = request_from(
        BoxRequest,
        vars(given) | _tables(given, "positions"),
        target=target_of(given, "messages"),
        places=request_from(Places, vars(given)),
        background=request_from(Background, vars(given) | _tables(given, "properties", "observations")),
    )
    with opened(given.db, given.limits, *request.targets()) as engine:
        return audit_given_boxes(engine, request)


def _tables(given: Given, *names: str) -> dict[str, Target | None]:
    """Further tables that a function was given, which are read as the messages are."""
    tables = {name: vars(given)[name] for name in names}
    return {name: None if one is None else make_target(one, read=given.read) for name, one in tables.items()}
