"""Cloaking from the table to the file: boxes found, counted, audited, attacked, and only then written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlaudit.audits.auditor import Auditor
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.errors import EngineError
from sqlaudit.base.files import write_rows, write_text
from sqlaudit.base.relation import Relation, Row, Statement
from sqlaudit.base.spec import AuditSpec, Roles, Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.provenance import provenance
from sqlaudit.models.requirements import parse_requirement
from sqlaudit.profiles.suspects import refuse_suspected, suspect_statements
from sqlaudit.remedies.cloak.attacks import BoxTable, attacks_on
from sqlaudit.remedies.cloak.messages import (
    Messages,
    messages_statement,
    open_messages,
    reach_statement,
    release_statement,
)
from sqlaudit.remedies.cloak.request import BOUNDS, CloakRequest, Publication
from sqlaudit.remedies.cloak.result import Attacks, CloakLevel, CloakResult, Holding, Outcome

CLOAKED = "sqlaudit_cloaked"
"""The name under which messages with their boxes are kept for a while, where an engine can."""


def cloak_messages(engine: Engine, request: CloakRequest, publication: Publication | None = None) -> CloakResult:
    """Cloak a table of messages, audit what comes out, and write it.

    Args:
        engine: an open engine. request: what is asked. publication: where the messages go; None = nowhere.

    Raises:
        UsageError: a column that does not fit, or a file that cannot be written.
        EngineError: the database refused or failed, or the audit contradicts the cloaking; then nothing is written.
    """
    already, wanted = len(engine.executed), publication or Publication()
    messages = open_messages(engine, request)
    written = messages.written(wanted.keep)
    if wanted.wanted:
        refuse_suspected(engine, written)
    sql = _standalone(messages) if wanted.is_sql else ""
    with _kept(messages) as item:
        counted = engine.run(_levels_statement(messages, item))
        published = sum(row[3] for row in counted if row[0] == Outcome.PUBLISHED)
        audit = _audited(messages, item, published) if published else None
        attacks = _attacked(messages, item) if published else Attacks()
        _write(messages, item, wanted, sql, published)
    return CloakResult(
        target=request.target.name,
        k=request.k,
        lonlat=request.lonlat,
        own=tuple(request.tolerances.named()),
        suppress=request.suppress,
        divide=request.divide.value,
        rows=sum(row[3] for row in counted),
        dropped={Outcome(row[0]): row[3] for row in counted if row[0]},
        levels=_levels(messages, counted),
        columns=messages.columns,
        audit=audit,
        attacks=attacks,
        file=str(wanted.file or ""),
        sql=sql,
        **provenance(engine, already),
    )


def plan_cloaking(engine: Engine, request: CloakRequest, publication: Publication | None = None) -> list[Statement]:
    """The statement that finds the boxes, after what is looked at when they are to be written; all others read what it
    finds."""
    messages, wanted = open_messages(engine, request), publication or Publication()
    written = messages.written(wanted.keep)
    return [*(suspect_statements(engine, written) if wanted.wanted else ()), messages_statement(messages)]


def _standalone(messages: Messages) -> str:
    """The SELECT of the cloaked messages, which needs nothing of this session."""
    source = messages.engine.lasting(messages.relation)
    item = _item(messages_statement(messages, source))
    return release_statement(messages, item, ordered=True).sql.partition("\n")[2]


def _item(statement: Statement) -> str:
    return "(" + statement.sql.partition("\n")[2] + ")"


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
    if any(row[5] for row in counted if row[0] == Outcome.PUBLISHED):
        raise EngineError(disagree("a box has fewer users than one of its messages asks for"))
    found = {row[1]: row for row in counted if row[0] == Outcome.PUBLISHED}
    return tuple(
        CloakLevel(level.side, level.seconds, found[place][2], found[place][3], found[place][4])
        if place in found
        else CloakLevel(level.side, level.seconds, 0, 0, None)
        for place, level in enumerate(messages.levels)
    )


def disagree(what: str) -> str:
    """The sentence of the error that a contradiction is."""
    return (
        f"The audit contradicts the cloaking, and nothing was published: {what}. If the table changed meanwhile, ask "
        "again; else this is a fault of sqlaudit, please report it."
    )


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
        Target(relation=relation.label), Roles(quasi_identifiers=bounds, entity=user), (parse_requirement(f"k={k}"),)
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


def _write(messages: Messages, item: str, publication: Publication, sql: str, published: int) -> None:
    """Write what is to be written.

    Raises:
        EngineError: another number of messages came than was counted.
    """
    file: Path | None = publication.file
    if file is None:
        return
    if publication.only_sql:
        write_text(file, sql + "\n")
        return
    statement = release_statement(messages, item, ordered=True)
    names = (*BOUNDS, *messages.columns)
    if write_rows(file, names, messages.engine.stream(statement)) != published:
        raise EngineError(disagree("the file has another number of messages"))
