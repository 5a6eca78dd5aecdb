"""Cloak a table of messages: find boxes, audit and attack them, and write the messages."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from sqlaudit.audits.release import bare, before, contradiction, statements_before, write
from sqlaudit.audits.request import request_verdicts
from sqlaudit.audits.run import audit_table
from sqlaudit.audits.written import Origin
from sqlaudit.base.columns_of import Resolved, find_column, resolve
from sqlaudit.base.errors import EngineError, ExitCode, UsageError, verdict
from sqlaudit.base.parameter_names import about
from sqlaudit.base.relation import Relation, Row, Statement
from sqlaudit.base.spec import Folding, KnownRows, Roles, Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.opening import ColumnValues, apply_spelling_policy, refuse_spelling_conflicts
from sqlaudit.engines import connect
from sqlaudit.engines.command import command
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.hierarchies.dictionary import column_type
from sqlaudit.models.registry import parse_requirement
from sqlaudit.remedies.cloak.messages import (
    LIMIT,
    TIMES,
    BoxTable,
    Messages,
    attack_boxes,
    check_kinds,
    count_users_in_boxes,
    messages_statement,
    open_messages,
    reach_statement,
    release_statement,
)
from sqlaudit.remedies.cloak.request import BOUNDS, BoxRequest, CloakRequest, Places
from sqlaudit.remedies.cloak.result import Attacks, BoxAudit, CloakLevel, CloakResult, Holding, MessageOutcome
from sqlaudit.remedies.cloak.stream import CloakStream, SentBox

# Nothing is written before the boxes were counted, audited and attacked.

CLOAKED = "sqlaudit_cloaked"
"""The name of the temporary table with messages and their boxes."""


def cloak_messages(engine: Engine, request: CloakRequest) -> CloakResult:
    """Cloak a table of messages, audit the result, and write it.

    Args:
        engine: an open engine.
        request: the request.

    Raises:
        UsageError: a column does not fit, spellings of users are ambiguous, or a file cannot be written.
        EngineError: the database refused or failed, or the audit contradicts the cloaking; then nothing is written.
    """
    executed_before = len(engine.executed)
    messages = _open_messages_to_write(engine, request)
    sql = ""
    if request.publication.is_sql:  # this SELECT must not depend on temporary tables of the session
        source = messages_statement(messages, engine.lasting(messages.relation))
        sql = bare(release_statement(messages, _from_item(source)))
    with _materialized(messages) as item:
        levels = render("remedies/cloak/cloak_levels.sql", engine.dialect, step="sizes of boxes", messages=Raw(item))
        level_rows = engine.run(levels)
        published = sum(row[3] for row in level_rows if row[0] == MessageOutcome.PUBLISHED)
        audit = _audit_published(messages, item, published) if published else None
        attacks = Attacks()
        if published:
            boxed = f"(SELECT * FROM {item} AS cloaked WHERE outcome = 0)"
            boxes = BoxTable(engine, boxed, BOUNDS, "person", messages.timestamps)
            attacks = attack_boxes(boxes, request.background, request.places)
        batches = engine.stream(release_statement(messages, item))
        _write_messages(messages, batches, published, sql)
    return _make_result(
        messages,
        executed_before,
        lonlat=request.lonlat,
        rows=sum(row[3] for row in level_rows),
        dropped={MessageOutcome(row[0]): row[3] for row in level_rows if row[0]},
        levels=_published_levels(messages, level_rows),
        audit=audit,
        attacks=attacks,
        sql=sql,
    )


def _open_messages_to_write(engine: Engine, request: CloakRequest) -> Messages:
    """Open the messages, and check that their users are unambiguous and that they can be written."""
    messages = open_messages(engine, request)
    refuse_merged_users(engine, messages.relation, messages.roles["user"], request.places)
    before(engine, request.publication, messages.written(request.publication.keep))
    return messages


def _write_messages(messages: Messages, batches: Iterable[Sequence[Row]], published: int, sql: str = "") -> None:
    """Write the published messages, and compare their number with the number that was counted."""
    other_count = contradiction_message("the file has a different number of messages")
    names, request = (*BOUNDS, *messages.columns), messages.request
    origin = Origin(request.target, made=BOUNDS)
    write(messages.engine, request.publication, sql, names, batches, published, other_count, origin=origin)


def _make_result(messages: Messages, executed_before: int, **measures: Any) -> CloakResult:
    """Return the result, with the request and the statements that ran since the start."""
    request = messages.request
    return CloakResult(
        target=request.target.name,
        k=request.k,
        own=tuple(f"--{name.replace('_', '-')}" for name in request.tolerances.named()),
        suppress=request.suppress,
        divide=request.divide.value,
        columns=messages.columns,
        file=str(request.publication.file or ""),
        **measures,
        **provenance(messages.engine, executed_before),
    )


def refuse_merged_users(engine: Engine, relation: Relation, user: Resolved, places: Places) -> None:
    """Raise UsageError if names of users may mean the same user, and the request does not decide it.

    Raises:
        UsageError: they may.
    """
    refuse_spelling_conflicts(engine, [ColumnValues(user.label, [(relation, user)], missing=False)], places.values)


def plan_cloaking(engine: Engine, request: CloakRequest) -> list[Statement]:
    """Return the statements known in advance: checks before writing, and the one that finds the boxes, or that reads
    messages in the order of time.
    """
    messages, publication = open_messages(engine, request), request.publication
    statement = messages_statement(messages) if request.delay is None else _arrivals_statement(messages)
    return [*statements_before(engine, publication, messages.written(publication.keep)), statement]


def _from_item(statement: Statement) -> str:
    """Return a statement as a FROM item."""
    return f"({bare(statement)})"


@contextmanager
def _materialized(messages: Messages) -> Iterator[str]:
    """Yield a FROM item of all messages with their boxes: a temporary table if the engine can make one, else the
    statement.
    """
    engine, statement = messages.engine, messages_statement(messages, tried=count_useful_levels(messages))
    if not engine.can_materialize:
        yield _from_item(statement)
        return
    stored = engine.materialize(CLOAKED, statement)
    try:
        yield stored.sql
    finally:
        engine.drop(CLOAKED)


def count_useful_levels(messages: Messages) -> int:
    """Return how many levels, from the largest cells, can have a cell with k users. At least one is tried.

    A part of a cell never has more users than the cell, so the last level is found by halving.
    """
    low, high = 1, len(messages.levels)
    while low < high:
        middle = (low + high + 1) // 2
        ((users,),) = messages.engine.run(reach_statement(messages, middle - 1))
        low, high = (middle, high) if users >= messages.request.k else (low, middle - 1)
    return low


def _published_levels(messages: Messages, level_rows: list[Row]) -> tuple[CloakLevel, ...]:
    """Return the grid with the messages published at each level.

    Raises:
        EngineError: a box has fewer users than one of its messages requires.
    """
    if any(row[5] for row in level_rows if row[0] == MessageOutcome.PUBLISHED):
        raise EngineError(contradiction_message("a box has fewer users than one of its messages requires"))
    counts_of_level = {row[1]: row[2:5] for row in level_rows if row[0] == MessageOutcome.PUBLISHED}
    return tuple(
        CloakLevel(level.side, level.seconds, *counts_of_level.get(number, (0, 0, None)))
        for number, level in enumerate(messages.levels)
    )


def contradiction_message(what: str) -> str:
    """Return the message of an audit that contradicts the cloaking."""
    return contradiction("The audit contradicts the cloaking, and nothing was published", what)


def _audit_published(messages: Messages, item: str, published: int) -> Holding:
    """Audit the published messages, before their users are left out: every box needs k users.

    Raises:
        EngineError: the audit counts another number of messages, or a box has fewer users.
    """
    statement = render(
        "remedies/cloak/cloak_audited.sql", messages.engine.dialect, step="published boxes", messages=Raw(item)
    )
    relation = Relation(
        _from_item(statement), tuple(messages.engine.result_columns(statement)), messages.relation.label
    )
    return _check_box_users(messages.engine, relation, messages.request.k, published)


def _check_box_users(engine: Engine, relation: Relation, k: int, published: int) -> Holding:
    """Audit published boxes with their users.

    Raises:
        EngineError: the audit counts another number of messages, or a box has fewer users.
    """
    audited = count_box_users(engine, relation, BOUNDS, "person", k)
    if audited.messages != published:
        raise EngineError(contradiction_message(f"there are {audited.messages:,} messages, not {published:,}"))
    if not audited.passed:
        raise EngineError(contradiction_message(f"{audited.failing_boxes:,} boxes have fewer than {k:,} users"))
    return audited


def count_box_users(
    engine: Engine,
    relation: Relation,
    bounds: tuple[str, ...],
    user: str,
    k: int,
    values: Folding | None = Folding.EXACT,
) -> Holding:
    """Count the users of boxes by an audit with the bounds as quasi-identifiers and the user as the entity."""
    request = request_verdicts(
        Target(relation=relation.label),
        Roles(quasi_identifiers=bounds, entity=user, known_rows=KnownRows.ONE, values=values),
        (parse_requirement(f"k={k}"),),
    )
    result = audit_table(engine, request, relation=relation)
    (check,) = result.checks
    smallest = min((size for size, _ in result.classes.sizes), default=None)
    return Holding(result.classes.count, result.rows, smallest, check.failing_classes or 0, check.failing_rows or 0)


# The audit of existing boxes.


def audit_given_boxes(engine: Engine, request: BoxRequest) -> BoxAudit:
    """Count the users of boxes, by both definitions as far as there are tables, and attack the boxes.

    Args:
        engine: an open engine.
        request: the boxes, and the tables to compare them with.

    Raises:
        UsageError: a column does not exist or does not fit.
        EngineError: the database refused or failed.
    """
    executed_before = len(engine.executed)
    relation, bounds = _open_boxes(engine, request)
    user_column = find_column(request.places.user, relation)
    user = None
    if user_column is not None:
        user = resolve(user_column.name, relation, engine.dialect, about("user"))
        user = apply_spelling_policy(engine, relation, user, request.places.values, missing=False)
        refuse_merged_users(engine, relation, user, request.places)
    boxes = BoxTable(
        engine,
        relation.sql,
        tuple(bound.sql for bound in bounds),
        None if user is None else user.sql,
        column_type(engine, relation, bounds[4]).kind in TIMES,
    )
    ((rows, unboxed),) = engine.run(_unboxed_statement(engine, relation, bounds))
    classes = None
    if user_column is not None and rows:
        names = tuple(bound.label for bound in bounds)
        classes = count_box_users(engine, relation, names, user_column.name, request.k, request.places.values)
    presence, skipped = None, 0
    if request.positions is not None:  # users whose true position is in a box, and unusable positions
        presence, observed = count_users_in_boxes(
            boxes, request.positions, request.places, request.k, "users in boxes", by_user=False
        )
        skipped = observed.skipped
    return BoxAudit(
        target=request.target.name,
        k=request.k,
        rows=rows,
        unboxed=unboxed,
        classes=classes,
        presence=presence,
        skipped_positions=skipped,
        attacks=attack_boxes(boxes, request.background, request.places),
        **provenance(engine, executed_before),
    )


def plan_boxes(engine: Engine, request: BoxRequest) -> list[Statement]:
    """Return the statement that is known in advance."""
    return [_unboxed_statement(engine, *_open_boxes(engine, request))]


def _open_boxes(engine: Engine, request: BoxRequest) -> tuple[Relation, list[Resolved]]:
    """Open the table, and return it with its columns of bounds, whose kinds are checked."""
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


# Messages of a table cloaked as they arrived: read in the order of their time, held back, boxed, audited, then written.
#
# The table is read twice in the same order. First boxes and their users go to a DuckDB in memory, where an audit counts
# the users of every box; then, if each has enough, the messages are written. Python holds only waiting messages.

_SENT_TABLE = "sqlaudit_sent"
_BATCH = 10_000
_MICRO = 1_000_000
_EPOCH = datetime(1970, 1, 1)


@dataclass
class _Tally:
    """The outcome of the messages so far."""

    dropped: Counter[MessageOutcome] = field(default_factory=Counter)
    sent: dict[Fraction, tuple[int, int, int]] = field(default_factory=dict)
    """Boxes, messages and the fewest users of a box, by the length of its interval."""

    def take(self, box: SentBox) -> None:
        """Count a box under the length of its interval."""
        boxes, messages, fewest = self.sent.get(box.t_max - box.t_min, (0, 0, box.users))
        self.sent[box.t_max - box.t_min] = (boxes + 1, messages + len(box.messages), min(box.users, fewest))

    @property
    def published(self) -> int:
        """Return the number of messages that left."""
        return sum(messages for _, messages, _ in self.sent.values())


def cloak_arrivals(engine: Engine, request: CloakRequest) -> CloakResult:
    """Cloak a table of messages as they arrived, audit the result, and write it.

    Args:
        engine: an open engine.
        request: the request, with a `delay`.

    Raises:
        UsageError: a column does not fit, or a file cannot be written.
        EngineError: the database refused or failed, or the audit contradicts the cloaking; then nothing is written.
    """
    executed_before = len(engine.executed)
    messages = _open_messages_to_write(engine, request)
    tally = _Tally()
    audit = _audit_arrivals(messages, tally)
    # Sort the messages of a box, so that their order does not reveal when each was sent
    rows = (
        [
            (*_published_bounds(messages, box), *carried)
            for carried in sorted((message[1:] for message in box.messages), key=repr)
        ]
        for box in _box_arrivals(messages, _Tally())
    )
    _write_messages(messages, rows, tally.published)
    longest_first = ((seconds, *tally.sent[seconds]) for seconds in sorted(tally.sent, reverse=True))
    return _make_result(
        messages,
        executed_before,
        lonlat=False,
        delay=request.delay,
        rows=tally.published + tally.dropped.total(),
        dropped=dict(tally.dropped),
        levels=tuple(CloakLevel(request.box, *interval_counts) for interval_counts in longest_first),
        audit=audit,
        attacks=Attacks(),
    )


def _arrivals_statement(messages: Messages) -> Statement:
    """Return the statement that reads the messages in the order of their time."""
    side = f"{float(messages.request.box):.3f}"  # exact, because sizes are multiples of an eighth
    step, parameters = "messages in the order of their time", messages.parameters()
    return render("remedies/cloak/cloak_arrivals.sql", messages.engine.dialect, step=step, side=side, **parameters)


def _box_arrivals(messages: Messages, tally: _Tally) -> Iterator[SentBox]:
    """Yield the boxes in the order in which they leave. A message of a box is its user and the published columns."""
    request = messages.request
    broker = CloakStream(k=request.k, box=1, delay=request.delay or 0, step=request.interval)
    for batch in messages.engine.stream(_arrivals_statement(messages), _BATCH):
        for is_missing, column, row, time, own_delay, person, *carried in batch:
            time_in_seconds = _seconds(time, timestamps=messages.timestamps)
            if is_missing:
                tally.dropped[MessageOutcome.MISSING] += 1
            elif column is None or row is None or time_in_seconds is None:
                tally.dropped[MessageOutcome.NO_PLACE] += 1
            else:
                box = broker.send(
                    person, column, row, time_in_seconds, (person, *carried), delay=_allowed_delay(own_delay, request)
                )
                if box is not None:
                    tally.take(box)
                    yield box
    broker.close()
    tally.dropped[MessageOutcome.TOO_FEW] += broker.dropped


def _seconds(time: Any, *, timestamps: bool) -> Fraction | None:
    """Return the time of a message in seconds, None if it has no usable time."""
    if time is None or not math.isfinite(time):
        return None
    seconds = Fraction(time) / (_MICRO if timestamps else 1)
    return seconds if abs(seconds) <= LIMIT else None


def _allowed_delay(own_delay: float | None, request: CloakRequest) -> Fraction:
    """Return the longest delay of a message: its own, at most that of the request."""
    longest = request.delay or Fraction(0)
    return (
        longest
        if own_delay is None or math.isnan(own_delay)
        else min(longest, Fraction(max(0.0, min(own_delay, float(LIMIT)))))
    )


def _published_bounds(messages: Messages, box: SentBox) -> Row:
    """Return the bounds of a box as they are published."""
    side = messages.request.box
    numbers = [float(bound * side) for bound in (box.x_min, box.x_max, box.y_min, box.y_max)]
    return (*numbers, *(_time_bound(messages, time) for time in (box.t_min, box.t_max)))


def _time_bound(messages: Messages, time: Fraction) -> Any:
    """Return a bound in time, as a timestamp if the messages have timestamps.

    Raises:
        UsageError: it is after the year 9999.
    """
    if not messages.timestamps:
        return float(time)
    try:
        return _EPOCH + timedelta(microseconds=int(time * _MICRO))
    except OverflowError:
        raise UsageError(f"{about('interval')}: a box ends after the year 9999. Use a shorter interval.") from None


def _audit_arrivals(messages: Messages, tally: _Tally) -> Holding | None:
    """Audit the boxes with their users. Return None if no message leaves.

    Raises:
        EngineError: the audit counts another number of messages, or a box has fewer users.
    """
    times = "TIMESTAMP" if messages.timestamps else "DOUBLE"
    columns = [(name, "DOUBLE" if name in BOUNDS[:4] else times) for name in BOUNDS]
    users = (
        [(*_published_bounds(messages, box), message[0]) for message in box.messages]
        for box in _box_arrivals(messages, tally)
    )
    with connect(None, messages.engine.limits) as workbench:
        relation = workbench.keep_rows(_SENT_TABLE, [*columns, ("person", "VARCHAR")], users)
        return _check_box_users(workbench, relation, messages.request.k, tally.published) if tally.published else None


def code_of(result: CloakResult) -> ExitCode:
    """Return the exit code of a result: whether any message can be published."""
    return verdict(result.passed)


@command(
    CloakRequest,
    plan_cloaking,
    code=code_of,
    sql=lambda request, result: result.sql if request.publication.with_sql else "",
)
def cloak(engine: Engine, request: CloakRequest) -> CloakResult:
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
    return cloak_messages(engine, request) if request.delay is None else cloak_arrivals(engine, request)


@command(BoxRequest, plan_boxes, code=lambda result: verdict(result.passed))
def audit_boxes(engine: Engine, request: BoxRequest) -> BoxAudit:
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
    return audit_given_boxes(engine, request)
