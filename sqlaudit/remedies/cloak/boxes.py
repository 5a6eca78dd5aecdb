"""The audit of boxes that somebody else made."""

from __future__ import annotations

from sqlaudit.base.columns_of import Resolved, find_column, resolve
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import about
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.provenance import provenance
from sqlaudit.hierarchies.dictionary import held
from sqlaudit.remedies.cloak.attacks import BoxTable, attacks_on, check_kinds, users_seen
from sqlaudit.remedies.cloak.messages import TIMES
from sqlaudit.remedies.cloak.request import BoxRequest
from sqlaudit.remedies.cloak.result import BoxAudit, Holding
from sqlaudit.remedies.cloak.run import audit_of_boxes, holding


def audit_boxes(engine: Engine, request: BoxRequest) -> BoxAudit:
    """Count the users of boxes, by both definitions as far as the tables go, and attack them.

    Args:
        engine: an open engine. request: which boxes, and what they are compared with.

    Raises:
        UsageError: a column that is not there or does not fit.
        EngineError: the database refused or failed.
    """
    already = len(engine.executed)
    relation, bounds = _opened(engine, request)
    user = find_column(request.places.user, relation)
    boxes = BoxTable(
        engine,
        relation.sql,
        tuple(one.sql for one in bounds),
        None if user is None else resolve(user.name, relation, engine.dialect, about("user")).sql,
        held(engine, relation, bounds[4]).kind in TIMES,
    )
    ((rows, unboxed),) = engine.run(_unboxed_statement(engine, relation, bounds))
    classes = None
    if user is not None and rows:
        names = tuple(one.label for one in bounds)
        classes = holding(audit_of_boxes(engine, relation, names, user.name, request.k))
    presence, skipped = _presence(boxes, request)
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
        engine, relation, bounds[4:], about("bounds"), timestamps=held(engine, relation, bounds[4]).kind in TIMES
    )
    return relation, bounds


def _unboxed_statement(engine: Engine, relation: Relation, bounds: list[Resolved]) -> Statement:
    return render(
        "remedies/cloak/cloak_unboxed.sql",
        engine.dialect,
        step="messages without a box",
        boxes=Raw(relation.sql),
        bounds=[Raw(one.sql) for one in bounds],
    )


def _presence(boxes: BoxTable, request: BoxRequest) -> tuple[Holding | None, int]:
    """Users whose true position lies in a box, and how many positions could not be used."""
    if request.positions is None:
        return None, 0
    seen = users_seen(boxes, request.positions, request.places, request.k, "users in boxes", by_user=False)
    return seen.held, seen.skipped
