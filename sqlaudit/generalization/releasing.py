"""From the best node to a release: its SQL, its view or file, and an audit of what came out.

The audit checks the whole way. When it disagrees with the search, the release is starred instead of thinned out and
audited again: there all rows are left, so that requirements which compare a class with the whole table see the table
that the search saw. Only when classes other than the starred one fall short there, the search and the release disagree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from sqlaudit.auditor import Auditor
from sqlaudit.engines.base import Engine, Relation, Statement
from sqlaudit.engines.writing import View
from sqlaudit.errors import EngineError, UsageError
from sqlaudit.export import write_rows, write_text
from sqlaudit.generalization.publish import Opened, Release, release
from sqlaudit.generalization.request import LatticeRequest, Publication, Suppressed
from sqlaudit.generalization.run import Table, opened_for_release
from sqlaudit.lattice_result import Checked, LatticeNode, LatticeResult, Published
from sqlaudit.result import AuditResult, Check, Status
from sqlaudit.spec import AuditSpec, Roles, Target
from sqlaudit.sql import Raw, render

RELEASED = "sqlaudit_released"
"""The name under which a release is kept while it is audited, where an engine can."""
ITS_OWN = (
    "It is measured against the rows that are left; the search, like ARX, measured against all rows, where the "
    "requirement holds."
)
STARRED = "The starred rows fall short as a class of their own; --suppressed drop leaves them out."


def levels_of(result: LatticeResult, node: LatticeNode) -> dict[str, int]:
    """The level of each column at a node."""
    return {column.name: level for column, level in zip(result.searched, node.levels, strict=True)}


def publish(
    engine: Engine, request: LatticeRequest, table: Table, result: LatticeResult, publication: Publication
) -> Published:
    """The release of the best node: written as SQL, audited, and put into its file if it has one.

    A view is not made here: the session only reads.

    Raises:
        UsageError: there is no safe node, a release that cannot be written, or a file that cannot.
        EngineError: the audit contradicts the search.
    """
    opened, node = opened_for_release(engine, request, table), _best(result)
    made = release(
        opened, levels_of(result, node), suppress=node.failing_rows > 0, star=publication.suppressed is Suppressed.STAR
    )
    checked = audit_release(opened, request, result, publication)
    select, sql = made.sql, made.ordered
    if publication.is_sql:
        select = made.over(engine.lasting(table.relation), not publication.view)
        sql = View(publication.view, select).statement(engine.dialect) if publication.view else select
    if publication.file is not None and publication.is_sql:
        write_text(publication.file, sql + "\n")
    elif publication.file is not None and _write(engine, made, publication.file) != checked.rows:
        raise EngineError(_disagree("the file has another number of rows"))
    return Published(
        node.levels, sql, publication.view, str(publication.file or ""), False, publication.suppressed.value,
        made.columns, made.keys, made.unnamed, checked, select,
    )  # fmt: skip


def _write(engine: Engine, made: Release, file: Path) -> int:
    """Stream the release into a file; returns how many rows were written.

    In the order of what is published: rows in the order of the table could be matched one by one with another release
    of it (unsorted matching, Sweeney 2002).
    """
    return write_rows(file, made.columns, engine.stream(Statement("release", made.ordered)))


def audit_release(opened: Opened, request: LatticeRequest, result: LatticeResult, publication: Publication) -> Checked:
    """What an audit says of the release, computed from the table in this session.

    Raises:
        EngineError: the audit contradicts the search.
    """
    node, star = _best(result), publication.suppressed is Suppressed.STAR
    found = _audit(opened, request, result, star=star)
    kept = result.rows if star else result.rows - node.failing_rows
    if found.rows != kept:
        raise EngineError(_disagree(f"the release has {found.rows:,} rows, not {kept:,}"))
    checked = Checked(
        found.status.value, found.rows, found.classes.count, node.failing_rows, tuple(c.text for c in _failed(found))
    )
    if not checked.failing or not found.rows:
        return checked
    whole = found if star else _audit(opened, request, result, star=True)
    _agree(whole, node)
    return replace(checked, note=STARRED if star else ITS_OWN)


def _agree(starred: AuditResult, node: LatticeNode) -> None:
    """Nothing when only the class of starred rows falls short.

    Raises:
        EngineError: another class does.
    """
    for check in _failed(starred):
        if not node.failing_rows or check.failing_rows != node.failing_rows or check.failing_classes != 1:
            raise EngineError(_disagree(f"{check.text!r} fails in classes that are not suppressed"))


def _disagree(what: str) -> str:
    return (
        f"The release does not agree with the search: {what}. If the table changed meanwhile, search again; else this "
        "is a fault of sqlaudit, please report it."
    )


def _failed(found: AuditResult) -> list[Check]:
    return [check for check in found.checks if check.status not in (None, Status.PASS, Status.WARN)]


def _audit(opened: Opened, request: LatticeRequest, result: LatticeResult, *, star: bool) -> AuditResult:
    """An audit of the release in this session."""
    node = _best(result)
    entity = opened.roles.entity
    made = release(
        opened, levels_of(result, node), suppress=node.failing_rows > 0, star=star, persons=entity is not None
    )
    with _kept(opened.engine, made) as relation:
        auditor = Auditor(opened.engine, failing_classes=0, relation=relation)
        return auditor.audit(audit_of(request, made.keys, Target(relation=result.target)))


def audit_of(request: LatticeRequest, keys: Sequence[str], target: Target) -> AuditSpec:
    """The audit of a release: the same requirements over its labels."""
    asked = request.roles
    roles = Roles(tuple(keys), asked.sensitive, (), asked.entity, asked.joint, asked.nulls)
    return AuditSpec(target, roles, request.requirements, request.inputs)


@contextmanager
def _kept(engine: Engine, made: Release) -> Iterator[Relation]:
    """The release as a relation, kept for a while where the engine can."""
    item = f"({made.sql})"
    if engine.can_materialize:
        kept = engine.materialize(
            RELEASED, render("given.sql", engine.dialect, step="release", statement=Raw(item))
        )  # fmt: skip
        try:
            yield kept
        finally:
            engine.drop(RELEASED)
        return
    probe = Statement("release", made.sql)
    yield Relation(item, tuple(engine.result_columns(probe)), RELEASED)


def _best(result: LatticeResult) -> LatticeNode:
    if result.best is None:
        raise UsageError("There is no safe node to publish.")
    return result.best
