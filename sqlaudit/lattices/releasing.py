"""From the best node to a release: its SQL, its view or file, and the audit of what came out."""

from __future__ import annotations

from sqlaudit.audits.emit import write
from sqlaudit.base.publication import Suppressed
from sqlaudit.base.relation import Statement
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.view import View
from sqlaudit.lattices.publish import release
from sqlaudit.lattices.release_audit import audit_release, best_of, disagree, levels_of
from sqlaudit.lattices.request import LatticePublication, LatticeRequest
from sqlaudit.lattices.result import LatticeResult, Published
from sqlaudit.lattices.run import SearchedTable, opened_for_release


def publish(
    engine: Engine,
    request: LatticeRequest,
    table: SearchedTable,
    result: LatticeResult,
    publication: LatticePublication,
) -> Published:
    """The release of the best node: written as SQL, audited, and put into its file if it has one.

    A view is not made here: the session only reads.

    Raises:
        UsageError: there is no safe node, a release that cannot be written, or a file that cannot.
        EngineError: the audit contradicts the search.
    """
    opened, node = opened_for_release(engine, request, table), best_of(result)
    star = publication.suppressed is Suppressed.STAR
    made = release(opened, levels_of(result, node), suppress=node.failing_rows > 0, star=star)
    checked = audit_release(opened, request, result, star=star)
    select, sql = made.sql, made.ordered
    if publication.is_sql:
        select = made.over(engine.lasting(table.relation), not publication.view)
        sql = View(publication.view, select).statement(engine.dialect) if publication.view else select
    batches = engine.stream(Statement("release", made.ordered))
    write(publication, sql, made.columns, batches, checked.rows, disagree("the file has another number of rows"))
    return Published(
        node.levels,
        sql,
        publication.view,
        str(publication.file or ""),
        False,
        publication.suppressed.value,
        made.columns,
        made.keys,
        made.unnamed,
        checked,
        select,
    )
