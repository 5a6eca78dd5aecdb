"""Cloaking from the table to the file: boxes found, counted, audited, attacked, and only then written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlaudit.audits.auditor import Auditor
from sqlaudit.audits.emit import bare, before, contradiction, statements_before, write
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.errors import EngineError
from sqlaudit.base.publication import NOTHING, Publication
from sqlaudit.base.relation import Relation, Row, Statement
from sqlaudit.base.spec import AuditSpec, KnownRows, Roles, Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.persons_spelled import refuse_respelled
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.provenance import provenance
from sqlaudit.models.requirements import parse_requirement
from sqlaudit.remedies.cloak.attacks import BoxTable, attacks_on
from sqlaudit.remedies.cloak.messages import (
    Messages,
    messages_statement,
    open_messages,
    reach_statement,
    release_statement,
)
from sqlaudit.remedies.cloak.request import BOUNDS, CloakRequest
from sqlaudit.remedies.cloak.result import Attacks, CloakLevel, CloakResult, Holding, MessageOutcome

CLOAKED = "sqlaudit_cloaked"
"""The name under which messages with their boxes are kept for a while, where an engine can."""


def cloak_messages(engine: Engine, request: CloakRequest, publication: Publication = NOTHING) -> CloakResult:
    """Cloak a table of messages, audit what comes out, and write it.

    Args:
        engine: an open engine. request: what is asked. publication: where the messages go.

    Raises:
        UsageError: a column that does not fit, users who are named in several ways, or a file that cannot be written.
        EngineError: the database refused or failed, or the audit contradicts the cloaking; then nothing is written.
    """
    already = len(engine.executed)
    messages = open_messages(engine, request)
    user = messages.roles["user"]
    refuse_respelled(engine, user.label, [(messages.relation, user)], f"k={request.k}", role="")
    before(engine, publication, messages.written(publication.keep))
    sql = _standalone(messages) if publication.is_sql else ""
    with _kept(messages) as item:
        counted = engine.run(_levels_statement(messages, item))
        published = sum(row[3] for row in counted if row[0] == MessageOutcome.PUBLISHED)
        audit = _audited(messages, item, published) if published else None
        attacks = _attacked(messages, item) if published else Attacks()
        batches = engine.stream(release_statement(messages, item, ordered=True))
        another = disagree("the file has another number of messages")
        write(publication, sql, (*BOUNDS, *messages.columns), batches, published, another)
    return CloakResult(
        target=request.target.name,
        k=request.k,
        lonlat=request.lonlat,
        own=tuple(f"--{name.replace('_', '-')}" for name in request.tolerances.named()),
        suppress=request.suppress,
        divide=request.divide.value,
        rows=sum(row[3] for row in counted),
        dropped={MessageOutcome(row[0]): row[3] for row in counted if row[0]},
        levels=_levels(messages, counted),
        columns=messages.columns,
        audit=audit,
        attacks=attacks,
        file=str(publication.file or ""),
        sql=sql,
        **provenance(engine, already),
    )


def plan_cloaking(engine: Engine, request: CloakRequest, publication: Publication = NOTHING) -> list[Statement]:
    """The statement that finds the boxes, after what is looked at when they are to be written; all others read what it
    finds."""
    messages = open_messages(engine, request)
    return [*statements_before(engine, publication, messages.written(publication.keep)), messages_statement(messages)]


def _standalone(messages: Messages) -> str:
    """The SELECT of the cloaked messages, which needs nothing of this session."""
    source = messages.engine.lasting(messages.relation)
    item = _item(messages_statement(messages, source))
    return bare(release_statement(messages, item, ordered=True))


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


def _levels_statement(messages: Messages, item: str) -> Statement:
    return render("remedies/cloak/cloak_levels.sql", messages.engine.dialect, step="sizes of boxes", messages=Raw(item))


def _levels(messages: Messages, counted: list[Row]) -> tuple[CloakLevel, ...]:
    """The grid with what was published at each level.

    Raises:
        EngineError: a box has fewer users than one of its messages asks for.
    """
    if any(row[5] for row in counted if row[0] == MessageOutcome.PUBLISHED):
        raise EngineError(disagree("a box has fewer users than one of its messages asks for"))
    found = {row[1]: row for row in counted if row[0] == MessageOutcome.PUBLISHED}
    return tuple(
        CloakLevel(level.side, level.seconds, found[place][2], found[place][3], found[place][4])
        if place in found
        else CloakLevel(level.side, level.seconds, 0, 0, None)
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
    found = audit_of_boxes(messages.engine, relation, BOUNDS, "person", messages.request.k)
    held = holding(found)
    if held.messages != published:
        raise EngineError(disagree(f"there are {held.messages:,} messages, not {published:,}"))
    if not held.passed:
        raise EngineError(disagree(f"{held.failing_boxes:,} boxes have fewer than {messages.request.k:,} users"))
    return held


def audit_of_boxes(engine: Engine, relation: Relation, bounds: tuple[str, ...], user: str, k: int) -> AuditResult:
    """An audit with the bounds of boxes as quasi-identifiers, and the user as the entity."""
    spec = AuditSpec(
        Target(relation=relation.label),
        Roles(quasi_identifiers=bounds, entity=user, known_rows=KnownRows.ONE),
        (parse_requirement(f"k={k}"),),
    )
    return Auditor(engine, failing_classes=0, relation=relation).audit(spec)


def holding(found: AuditResult) -> Holding:
    """How many users the boxes of an audit have."""
    (check,) = found.checks
    fewest = min((size for size, _ in found.classes.sizes), default=None)
    return Holding(found.classes.count, found.rows, fewest, check.failing_classes or 0, check.failing_rows or 0)


def _attacked(messages: Messages, item: str) -> Attacks:
    request = messages.request
    boxes = BoxTable(
        messages.engine, f"(SELECT * FROM {item} AS cloaked WHERE outcome = 0)", BOUNDS, "person", messages.timestamps
    )
    return attacks_on(boxes, request.background, request.places)
