"""From the best node to a release: its SQL, its view or file, and the audit of what came out."""

from __future__ import annotations

from sqlaudit.audits.bucketed import laid_in_buckets, write_buckets
from sqlaudit.audits.emit import write
from sqlaudit.base.publication import Suppressed
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Target
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.view import View
from sqlaudit.lattices.publish import ReleaseSql, release
from sqlaudit.lattices.release_audit import audit_of, audit_release, best_of, disagree, levels_of
from sqlaudit.lattices.release_layout import OpenedForRelease
from sqlaudit.lattices.request import LatticePublication, LatticeRequest
from sqlaudit.lattices.result import Checked, LatticeResult, Published
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
    if publication.buckets is not None:
        _in_buckets(opened, request, result, publication, made, checked)
    else:
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
        str(publication.buckets or ""),
    )


def _in_buckets(
    opened: OpenedForRelease,
    request: LatticeRequest,
    result: LatticeResult,
    publication: LatticePublication,
    made: ReleaseSql,
    checked: Checked,
) -> None:
    """The release as two tables."""
    node, both = best_of(result), made
    if publication.original_qi:
        suppress = node.failing_rows > 0
        both = release(opened, levels_of(result, node), suppress=suppress, star=False, originals=True)
    laid = laid_in_buckets(f"({both.sql})", made.columns, made.keys, both.originals, opened.roles)
    spec = audit_of(request, made.keys, Target(relation=result.target), result.rows, alone=True)
    known = (checked.rows, checked.classes, bool(checked.failing))
    write_buckets(opened.engine, publication, laid, spec, known)
